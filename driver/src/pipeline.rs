//! The passes in their order, from source text to a verified program.

use tessella_diagnostics::{Code, Diagnostic, FileId, IntoDiagnostic, Role, SourceMap, Span, Spanned};
use tessella_frontend as frontend;
use tessella_frontend::ast;
use tessella_frontend::scan::{FunctionItem, Scan};
use tessella_frontend::typed::{self, ArgumentType, ModuleConstant, Surroundings, tree};
use tessella_lowering::{Checks, Lowered, Searches};
use tessella_polyhedral::algorithm::Algorithm;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::Target;

pub use crate::course::{Analysed, Order, verify};

/// How much work isl may do for one function before it is refused with `E0430`, as [`tessella_polyhedral::effort::weight`] counts it. Every
/// function of PolyBench needs less, also for a machine with wide vectors; 3mm then needs more than six million.
pub const ISL_OPERATIONS: u64 = 9_900_000;

/// The statements that [`ISL_OPERATIONS`] are for, of a function whose order the user gives: proofs look at all that share an array, so more
/// statements may take as much more.
const STATEMENTS: u64 = 16;

/// How much work isl may do for a function whose order the user gives, as [`ISL_OPERATIONS`].
pub fn operations_for(algorithm: &Algorithm) -> u64 {
    ISL_OPERATIONS * (1 + algorithm.computations.len() as u64 / STATEMENTS)
}

/// All errors of a pass; never empty.
pub type Refusal = Vec<Diagnostic>;

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
            known => {
                match tessella_diagnostics::nearest(name, scan.functions.iter().map(|item| item.name.value.as_str())) {
                    Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
                    None => diagnostic.with_help(format!("choose one of {}", known.join(", "))),
                }
            }
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

/// The algorithm of a typed function, all of whose checks are made at entry.
pub fn lower(ctx: &Ctx, function: &tree::Function) -> Result<Lowered, Refusal> {
    lowered(ctx, function, Checks::AtEntry, Searches::InOrder)
}

/// The algorithm of a typed function that runs there, some of whose checks may be made while it runs.
pub fn lower_with_tests(ctx: &Ctx, function: &tree::Function, target: Target) -> Result<Lowered, Refusal> {
    let searches = match target {
        Target::Cpu => Searches::InOrder,
        Target::Gpu => Searches::InAnyOrder,
    };
    lowered(ctx, function, Checks::AtEntryOrLater, searches).map_err(|refusal| {
        let told = refusal.into_iter();
        told.map(|it| if LATE.contains(&it.code.0) { it.with_note(NOT_LATER) } else { it }).collect()
    })
}

/// What may be tested while a function runs.
const LATE: [&str; 3] = ["E0310", "E0311", "E0313"];

const NOT_LATER: &str = "nor can it be tested while the function runs: a bound of a loop or a size depends on it, a bound is read under `@inbounds`, or it is too long";

fn lowered(ctx: &Ctx, function: &tree::Function, checks: Checks, searches: Searches) -> Result<Lowered, Refusal> {
    tessella_lowering::lower(ctx, function, checks, searches).map_err(|errors| {
        let told = words(errors);
        told.into_iter().map(|diagnostic| with_calls(diagnostic, &function.calls)).collect()
    })
}

/// Adds the calls that led to a mistake inside a function whose body was put in place of a call.
fn with_calls(mut diagnostic: Diagnostic, calls: &[tree::InlinedCall]) -> Diagnostic {
    let is_inside =
        |inner: Span, outer: Span| inner.file == outer.file && outer.start <= inner.start && inner.end <= outer.end;
    let primary = diagnostic.labels.iter().find(|label| label.role == Role::Primary);
    let mut places: Vec<Span> = primary.map(|label| label.span).into_iter().collect();
    let mut at = 0;
    while let Some(&place) = places.get(at) {
        at += 1;
        for call in
            calls.iter().filter(|call| is_inside(place, call.definition) && !is_inside(call.call, call.definition))
        {
            if !places.contains(&call.call) {
                places.push(call.call);
                diagnostic = diagnostic.secondary(call.call, format!("`{}` is called here", call.function));
            }
        }
    }
    diagnostic
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
