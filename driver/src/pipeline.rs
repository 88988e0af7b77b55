//! The passes in their order, from source text to a verified program.

use crate::diagnose::{Place, diagnose};
use tessella_diagnostics::{Code, Diagnostic, FileId, IntoDiagnostic, Role, SourceMap, Span, Spanned};
use tessella_frontend as frontend;
use tessella_frontend::ast;
use tessella_frontend::scan::{FunctionItem, Scan};
use tessella_frontend::typed::{self, ArgumentType, ModuleConstant, Surroundings, tree};
use tessella_lowering::{Lowered, SpanTable};
use tessella_polyhedral::algorithm::Algorithm;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::default_order::{Chosen, Memory};
use tessella_polyhedral::dependence::{Dependence, dependences};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::{Ctx, IslErrorKind};
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::machine::Machine;
use tessella_polyhedral::auto::partial_sums::{Parted, partial_sums};
use tessella_polyhedral::verify::Verified;
use tessella_polyhedral::{connect, default_order, effort, magnitude, storage, transform, verify};

/// How much work isl may do for one function before it is refused with `E0430`, as [`effort::weight`] counts it. Every
/// function of PolyBench needs less, also for a machine with wide vectors; 3mm then needs more than six million.
pub const ISL_OPERATIONS: u64 = 9_900_000;

/// How much work may go into storage of Tessella's own choice, which a function can do without.
const STORAGE_OPERATIONS: u64 = 3 * ISL_OPERATIONS;

/// All errors of a pass; never empty.
pub type Refusal = Vec<Diagnostic>;

/// A function that went through all passes.
pub struct Analysed {
    pub spans: SpanTable,
    /// In the source's order.
    pub dependences: Vec<Dependence>,
    pub verified: Verified,
    /// The commands on the order of loops, as far as there are any: those that make partial results by themselves spelled out.
    pub carried: Vec<Command>,
    /// Choosing an order took too much work: the source's order stands.
    pub gave_up: bool,
    /// The order before storage, and the storage commands, where Tessella chose some.
    pub chosen: Option<Chosen>,
}

/// A context for one function, with a bound on its work.
pub fn context() -> Ctx {
    let ctx = Ctx::new();
    ctx.set_max_operations(ISL_OPERATIONS);
    ctx
}

/// The functions, schedules and constants of a file.
pub fn scan(sources: &SourceMap, file: FileId) -> Result<Scan, Refusal> {
    let scan = frontend::scan(sources, file);
    match scan.errors.is_empty() {
        true => Ok(scan),
        false => Err(words(scan.errors)),
    }
}

/// The definition of the function of this name; of several, the last.
///
/// # Errors
/// `E0112` when the file defines no such function.
pub fn find<'a>(scan: &'a Scan, sources: &SourceMap, file: FileId, name: &str) -> Result<&'a FunctionItem, Refusal> {
    scan.functions.iter().rev().find(|item| item.name.value == name).ok_or_else(|| {
        let known: Vec<String> = scan.functions.iter().map(|item| format!("`{}`", item.name.value)).collect();
        let file = &sources.file(file).name;
        let diagnostic = Diagnostic::error(Code("E0112"), format!("`{file}` defines no function `{name}`"));
        vec![match known.as_slice() {
            [] => diagnostic.with_help("give a file that defines functions"),
            known => diagnostic.with_help(format!("choose one of {}", known.join(", "))),
        }]
    })
}

/// The syntax tree of a function.
pub fn parse(sources: &SourceMap, item: &FunctionItem) -> Result<ast::Function, Refusal> {
    frontend::parse_function(sources, item).map_err(words)
}

/// The commands of the file's `@schedule` block for a function; of several blocks, the last.
pub fn schedule_of(scan: &Scan, name: &str) -> Result<Option<Vec<Spanned<Command>>>, Refusal> {
    let Some(item) = scan.schedules.iter().rev().find(|item| item.function.value == name) else { return Ok(None) };
    let block = item.commands.clone().map_err(words)?;
    tessella_lowering::schedule::commands(&block).map(Some).map_err(words)
}

/// A schedule that stands in a file of its own.
#[derive(Debug, Clone)]
pub enum ScheduleFile {
    /// Commands, for every function.
    Commands(Vec<Spanned<Command>>),
    /// `@schedule f begin ... end`, one or several: function and commands.
    Blocks(Vec<(Spanned<String>, Vec<Spanned<Command>>)>),
}

impl ScheduleFile {
    /// The commands for a function; of several blocks, the last. `None`: the file says nothing about it.
    pub fn commands_for(&self, function: &str) -> Option<Vec<Spanned<Command>>> {
        match self {
            ScheduleFile::Commands(commands) => Some(commands.clone()),
            ScheduleFile::Blocks(blocks) => {
                blocks.iter().rev().find(|(name, _)| name.value == function).map(|(_, commands)| commands.clone())
            }
        }
    }
}

/// Reads a file of scheduling commands, or of `@schedule` blocks as `--emit schedule` prints them.
pub fn schedule_file(sources: &SourceMap, file: FileId) -> Result<ScheduleFile, Refusal> {
    let blocks = frontend::scan(sources, file).schedules;
    if blocks.is_empty() {
        return commands_of(sources, file).map(ScheduleFile::Commands);
    }
    let read = blocks.into_iter().map(|item| {
        let block = item.commands.map_err(words)?;
        Ok((item.function, tessella_lowering::schedule::commands(&block).map_err(words)?))
    });
    Ok(ScheduleFile::Blocks(read.collect::<Result<_, Refusal>>()?))
}

/// The commands of a file that holds nothing else.
pub fn commands_of(sources: &SourceMap, file: FileId) -> Result<Vec<Spanned<Command>>, Refusal> {
    let block = frontend::parse_commands(sources, file).map_err(words)?;
    tessella_lowering::schedule::commands(&block).map_err(words)
}

/// The typed tree of a function for concrete argument types.
pub fn check(
    function: &ast::Function,
    types: &[ArgumentType],
    constants: &[ModuleConstant],
    functions: &[ast::Function],
) -> Result<tree::Function, Refusal> {
    typed::check_in(function, types, Surroundings { constants, functions }).map_err(words)
}

/// The functions of a file that one of its functions in `modules` may call. What does not parse is left out: it may be
/// far outside the subset, and a call of it is reported as one of an unknown function.
pub fn functions(scan: &Scan, sources: &SourceMap, modules: &[String]) -> Vec<ast::Function> {
    let visible = scan.functions.iter().filter(|item| item.modules == modules);
    visible.filter_map(|item| frontend::parse_function(sources, item).ok()).collect()
}

/// The constants of a file, for [`check`].
pub fn constants(scan: &Scan) -> Vec<ModuleConstant> {
    let constants = scan.constants.iter();
    constants.map(|item| ModuleConstant { name: item.name.value.clone(), value: item.value.clone() }).collect()
}

/// The algorithm of a typed function.
pub fn lower(ctx: &Ctx, function: &tree::Function) -> Result<Lowered, Refusal> {
    tessella_lowering::lower(ctx, function).map_err(|errors| {
        let told = words(errors);
        told.into_iter().map(|diagnostic| with_calls(diagnostic, &function.calls)).collect()
    })
}

/// Adds the calls that led to a mistake inside a function whose body was put in place of a call.
fn with_calls(mut diagnostic: Diagnostic, calls: &[tree::InlinedCall]) -> Diagnostic {
    let is_inside = |inner: Span, outer: Span| {
        inner.file == outer.file && outer.start <= inner.start && inner.end <= outer.end
    };
    let primary = diagnostic.labels.iter().find(|label| label.role == Role::Primary);
    let mut places: Vec<Span> = primary.map(|label| label.span).into_iter().collect();
    let mut at = 0;
    while let Some(&place) = places.get(at) {
        at += 1;
        for call in calls.iter().filter(|call| is_inside(place, call.definition) && !is_inside(call.call, call.definition)) {
            if !places.contains(&call.call) {
                places.push(call.call);
                diagnostic = diagnostic.secondary(call.call, format!("`{}` is called here", call.function));
            }
        }
    }
    diagnostic
}

/// From an algorithm to a verified program: the user's commands, or Tessella's own order where there are none.
pub fn verify(
    ctx: &Ctx,
    sources: &SourceMap,
    lowered: Lowered,
    commands: Option<&[Spanned<Command>]>,
    target: Target,
    machine: Machine,
) -> Result<Analysed, Refusal> {
    let Lowered { algorithm, mut spans } = lowered;
    let mut at = None;
    let mut about = None;
    let mut gave_up = false;
    let mut carried = vec![];
    let mut current = algorithm.clone();
    let done = (|| -> Result<(Vec<Dependence>, Verified, Option<Chosen>), Error> {
        let schedule = algorithm.source_order.clone();
        let mut scheduled = Scheduled { algorithm: algorithm.clone(), schedule, target, machine, versions: vec![], scratch: Default::default() };
        let weight = |scheduled: &Scheduled| effort::weight(&scheduled.algorithm, &scheduled.schedule);
        let mut all = ctx.weighed(weight(&scheduled), || dependences(ctx, &algorithm))?;
        let half = || ctx.operations_left().map_or(0, |left| (left / 2).max(1));
        // What Tessella's choice started from, and the choice, if it stands last.
        let mut own: Option<(Scheduled, Chosen)> = None;
        // What a choice starts from, on a GPU.
        let part = |scheduled: &Scheduled, all: &[Dependence]| -> Result<Parted, Error> {
            ctx.weighed(weight(scheduled), || partial_sums(ctx, scheduled, all))
        };
        match commands {
            None => {
                match ctx.with_budget(half(), || part(&scheduled, &all)) {
                    Ok(parted) => {
                        carried = parted.commands;
                        current = parted.scheduled.algorithm.clone();
                        (scheduled, all) = (parted.scheduled, parted.dependences);
                    }
                    Err(Error::Isl(error)) if error.kind == IslErrorKind::Quota => {}
                    Err(other) => return Err(other),
                }
                let choose = || default_order::choose(ctx, &scheduled, &all, Memory::Blocks);
                match ctx.with_budget(half(), || ctx.weighed(weight(&scheduled), choose)) {
                    Ok(chosen) => own = Some((std::mem::replace(&mut scheduled, chosen.scheduled.clone()), chosen)),
                    Err(Error::Isl(error)) if error.kind == IslErrorKind::Quota => gave_up = true,
                    Err(other) => return Err(other),
                }
            }
            Some(commands) => {
                for command in commands.iter().filter(|it| !it.value.is_storage() && !it.value.is_communication()) {
                    at = Some(command.span);
                    own = None;
                    if command.value == Command::Auto {
                        let parted = part(&scheduled, &all)?;
                        carried.extend(parted.commands);
                        current = parted.scheduled.algorithm.clone();
                        (scheduled, all) = (parted.scheduled, parted.dependences);
                        let choose = || default_order::choose(ctx, &scheduled, &all, Memory::Blocks);
                        let chosen = ctx.weighed(weight(&scheduled), choose)?;
                        own = Some((std::mem::replace(&mut scheduled, chosen.scheduled.clone()), chosen));
                        magnitude::check(ctx, &scheduled)?;
                        carried.push(command.value.clone());
                        continue;
                    }
                    let apply = || transform::apply_and_renew(ctx, &scheduled, &all, &command.value);
                    let (next, renewed) = ctx.weighed(weight(&scheduled), apply)?;
                    magnitude::check(ctx, &next)?;
                    let changed = transform::changed_accesses(&command.value, &scheduled, &next);
                    carried.extend(match changed {
                        true => transform::spelled_out(ctx, &scheduled, &all, &command.value),
                        false => vec![command.value.clone()],
                    });
                    scheduled = next;
                    if changed {
                        all = match renewed {
                            Some(renewed) => renewed,
                            None => ctx.weighed(weight(&scheduled), || dependences(ctx, &scheduled.algorithm))?,
                        };
                        current = scheduled.algorithm.clone();
                        let pieces = current.whole.iter().flat_map(|whole| current.ids().zip(&whole.piece_of));
                        pieces.filter(|(id, of)| id != *of).for_each(|(id, of)| spans.add_piece(id, *of));
                    }
                }
            }
        }
        at = None;
        let placed: Vec<&Spanned<Command>> =
            commands.into_iter().flatten().filter(|it| it.value.is_storage() || it.value.is_communication()).collect();
        let asked: Vec<Command> = placed.iter().map(|it| it.value.clone()).collect();
        if let Some((start, chosen)) = own.filter(|(_, chosen)| !chosen.storage.is_empty()) {
            let commands: Vec<Command> = asked.iter().chain(&chosen.storage).cloned().collect();
            let trial = || finish(ctx, chosen.scheduled.clone(), &all, &commands);
            match ctx.with_budget(STORAGE_OPERATIONS, trial) {
                Ok(verified) => return Ok((all, verified, Some(chosen))),
                // Not every nest that looks like a product has parts that fit.
                Err(_) => {
                    let plain = || default_order::choose(ctx, &start, &all, Memory::Plain);
                    scheduled = ctx.weighed(weight(&start), plain)?.scheduled;
                }
            }
        }
        // Copies are statements: with some, the program is a larger one, whoever asked for them.
        let copies = |command: &Command| matches!(command, Command::CacheShared { .. } | Command::CacheRegister { .. });
        let done = match asked.iter().any(copies) {
            true => ctx.with_budget(STORAGE_OPERATIONS, || finish(ctx, scheduled, &all, &asked)),
            false => finish(ctx, scheduled, &all, &asked),
        };
        let verified = done.map_err(|failure| {
            at = failure.command.map(|position| placed[position].span);
            about = failure.about;
            failure.error
        })?;
        Ok((all, verified, None))
    })();
    match done {
        Ok((dependences, verified, chosen)) => Ok(Analysed { spans, dependences, verified, carried, gave_up, chosen }),
        Err(error) => {
            let algorithm = about.as_deref().unwrap_or(&current);
            let place = Place { sources, algorithm, spans: &spans, command: at };
            Err(vec![diagnose(&place, error)])
        }
    }
}

/// Why a finished order is refused.
struct Unfinished {
    /// The position of a storage command.
    command: Option<usize>,
    /// What the error's statements belong to, if promotions added some.
    about: Option<Box<Algorithm>>,
    error: Error,
}

/// From a finished order to a verified program, by way of storage commands.
fn finish(
    ctx: &Ctx,
    scheduled: Scheduled,
    dependences: &[Dependence],
    storage: &[Command],
) -> Result<Verified, Unfinished> {
    let weight = |scheduled: &Scheduled| effort::weight(&scheduled.algorithm, &scheduled.schedule);
    let heavy = weight(&scheduled);
    let stored = ctx.weighed(heavy, || storage::carry_out(ctx, scheduled, dependences, storage)).map_err(|failure| {
        Unfinished { command: failure.command, about: Some(failure.algorithm), error: failure.error }
    })?;
    let heavy = weight(&stored.placed.scheduled);
    let connect = || connect::carry_out(ctx, stored.placed, &stored.dependences, storage);
    let connected = ctx.weighed(heavy, connect).map_err(|failure| Unfinished {
        command: failure.command,
        about: Some(failure.algorithm),
        error: failure.error,
    })?;
    let finish = || verify::verify(ctx, connected, &stored.dependences);
    ctx.weighed(heavy, finish).map_err(|error| Unfinished { command: None, about: None, error })
}

/// Errors of a pass as diagnostics, each once: `a[i] += b` reads and writes one subscript.
pub fn words<E: IntoDiagnostic>(errors: Vec<E>) -> Refusal {
    let mut told: Refusal = vec![];
    for diagnostic in errors.into_iter().map(IntoDiagnostic::into_diagnostic) {
        if !told.contains(&diagnostic) {
            told.push(diagnostic);
        }
    }
    told
}
