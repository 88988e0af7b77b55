//! One function with concrete argument types, and everything that can be made of it.

use crate::course::Unread;
use crate::explain::asked::asked;
use crate::explain::header::header;
use crate::explain::{explain, tiles, time};
use crate::pipeline::{self, Analysed, ISL_OPERATIONS, Order, Refusal};
use crate::request::{Backend, DrawOptions, TextKind};
use crate::results;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;
use tessella_c_backend as c_backend;
use tessella_codegen::c_family::TextOptions;
use tessella_codegen::{CodegenError, Input, Program, generate, generate_framed, generate_whole};
use tessella_cuda_backend as cuda_backend;
use tessella_diagnostics::{IntoDiagnostic, SourceMap, Spanned};
use tessella_frontend::typed::{Inferred, tree};
use tessella_lowering::SpanTable;
use tessella_polyhedral::algorithm::{Algorithm, Argument, ComputationId};
use tessella_polyhedral::auto::padded::Padded;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::default_order::{Means, Memory, Tilings};
use tessella_polyhedral::dependence::dependences;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{MemorySpace, Scheduled, Target};
use tessella_polyhedral::machine::Machine;
use tessella_polyhedral::schedule::Schedule;
use tessella_polyhedral::transform::apply_and_renew;
use tessella_polyhedral::verify::Verified;
use tessella_polyhedral::{effort, print, report, spell};

/// A typed function and the user's schedule for it.
pub struct Unit<'a> {
    pub sources: &'a SourceMap,
    pub function: tree::Function,
    /// `None`: Tessella chooses the order.
    pub commands: Option<Vec<Spanned<Command>>>,
    /// Arguments whose types nobody gave, with those that their use suggests.
    pub assumed: Vec<Inferred>,
    /// The machine that Tessella's own order is made for.
    pub machine: Machine,
}

/// A verified program and the context that its sets live in.
pub struct Built {
    pub ctx: Ctx,
    pub analysed: Analysed,
    /// Its loops, where they had to be generated to know that they can be.
    pub program: Option<Program>,
}

/// What became of an order of Tessella's own.
enum Attempt {
    /// There is code for it.
    Done(Box<Built>),
    /// Code for it would take too much; one without tilings may do.
    TooMuch,
    /// The same, and it has no tilings.
    Hopeless,
    /// Choosing one takes too much.
    NoOrder,
    /// Code generation refuses it.
    Refused(Box<Built>),
}

/// What became of code for an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Generated {
    Done,
    TooMuch,
    /// Why is told when a text is asked for.
    Refused,
}

/// What part of the work that a function may cost the code for wavefronts may take, and that for tiles of time.
const WAVES_PART: u64 = 2;
const HEXAGONS_PART: u64 = 5;

/// Exact loops of hexagons of no more statements than this, their pieces counted, may take [`FEW_TIMES`] as much work as all else, and
/// [`FEW_OPERATIONS`] without weights, unless their slopes are fractions: four seconds for those of a wave in space, whose loops in frames take five after they gave up.
const FEW_PIECES: usize = 24;
const FEW_TIMES: u64 = 5;
const FEW_OPERATIONS: u64 = 9_000_000;

/// Tiles that overlap of more statements than this, their copies counted, get no exact loops, which take isl long: those of `fdtd_antenna.jl` are 60,000 lines of
/// CUDA, 5,100 in one piece each; in frames they are 2,000 lines of C.
const MANY_REPEATED: usize = 48;

/// How many operations of isl's Tessella may take to look for an order of its own, and to generate code for it, with tilings and once
/// more without: a bound on what their weights do not foretell, about four seconds. Programs of `tests/` whose orders stand take less.
pub(crate) const LONGEST: u64 = 5_400_000;

impl Unit<'_> {
    /// Runs all passes up to the verified program. Where Tessella's own order is too complicated to generate code for, one
    /// without wavefronts and tiles of time is made, and where that is, too, or is no other, nests keep their loops, and last the source's
    /// order stands. Where code generation refuses what the choice does with fast memory, it does without.
    pub fn build(&self, backend: Backend) -> Result<Built, Refusal> {
        // What is interpreted is the source.
        if self.commands.is_none() && backend == Backend::Interpreter {
            return self.build_by(&pipeline::context(), backend, Order::of(Some(&[])));
        }
        if let Some(commands) = &self.commands {
            let order = Order::of(Some(commands));
            let is_asked = commands.iter().any(|it| it.value == Command::Auto);
            let mut built = match is_asked {
                true => self.build_by(&pipeline::context(), backend, order)?,
                false => self.build_as_given(backend, order)?,
            };
            if is_asked && built.generate_within_limit() == Generated::Refused {
                return Ok(self.with_less_memory(backend, order, Means::ALL).unwrap_or(built));
            }
            return Ok(built);
        }
        let mut means = Means::ALL;
        loop {
            let is_last = means.tilings == Tilings::AndOrders;
            match self.attempt(backend, means)? {
                Attempt::Done(built) => return Ok(*built),
                Attempt::Refused(built) => {
                    return Ok(self.with_less_memory(backend, Order::of(None), means).unwrap_or(*built));
                }
                Attempt::TooMuch if means.tilings == Tilings::Wanted => means.tilings = Tilings::Avoided,
                Attempt::TooMuch | Attempt::Hopeless | Attempt::NoOrder if is_last => break,
                Attempt::TooMuch | Attempt::Hopeless | Attempt::NoOrder => {
                    means = Means { memory: Memory::Plain, tilings: Tilings::AndOrders };
                }
            }
        }
        let mut plain = self.build_by(&pipeline::context(), backend, Order::of(Some(&[])))?;
        plain.analysed.gave_up = true;
        Ok(plain)
    }

    /// What Tessella chooses where it makes less use of fast memory, so far that there is code for it.
    fn with_less_memory(&self, backend: Backend, order: Order<'_>, means: Means) -> Option<Built> {
        let weaker = std::iter::successors(means.memory.weaker(), |memory| memory.weaker());
        for means in weaker.map(|memory| Means { memory, ..means }) {
            let ctx = pipeline::context();
            let (built, _) = ctx.with_ceiling(LONGEST, || self.build_by(&ctx, backend, order.with(means)));
            let Ok(mut built) = built else { continue };
            if built.generate_within_limit() == Generated::Done {
                return Some(built);
            }
        }
        None
    }

    /// As [`Unit::build`] for an order that is given, with its loops; `None` where proofs and code together take more than Tessella's
    /// own order may, or so long.
    pub fn build_within(&self, backend: Backend, longest: Duration) -> Result<Option<Built>, Refusal> {
        let ctx = pipeline::context();
        let order = Order::of(Some(self.commands.as_deref().unwrap_or_default()));
        let build = || {
            let mut built = self.build_by(&ctx, backend, order)?;
            built.program = Some(built.loops(self)?.into_owned());
            Ok(built)
        };
        let ((built, is_too_much), is_over) = ctx.with_deadline(longest, || ctx.with_ceiling(LONGEST, build));
        match built {
            Err(_) if is_too_much || is_over => Ok(None),
            done => done.map(Some),
        }
    }

    fn attempt(&self, backend: Backend, means: Means) -> Result<Attempt, Refusal> {
        let ctx = pipeline::context();
        // What comes after the last one is worse by far.
        let longest = if means.tilings == Tilings::AndOrders { 2 * LONGEST } else { LONGEST };
        let (attempt, is_over) = ctx.with_ceiling(longest, || {
            let mut built = self.build_by(&ctx, backend, Order::of(None).with(means))?;
            let verified = &built.analysed.verified;
            let is_source = means.tilings != Tilings::Wanted && *verified.schedule() == verified.source().source_order;
            if built.analysed.gave_up && means.tilings != Tilings::AndOrders {
                return Ok(Attempt::NoOrder);
            }
            let can_be_simpler = built.has_waves() || !built.hexagons().is_empty() || built.has_kernels_by_size();
            let generated = if is_source { Generated::TooMuch } else { built.generate_within_limit() };
            Ok(match generated {
                Generated::Done => Attempt::Done(Box::new(built)),
                Generated::Refused => Attempt::Refused(Box::new(built)),
                Generated::TooMuch if can_be_simpler => Attempt::TooMuch,
                Generated::TooMuch => Attempt::Hopeless,
            })
        });
        match attempt {
            Ok(done @ (Attempt::Done(_) | Attempt::Refused(_) | Attempt::NoOrder)) => Ok(done),
            _ if is_over => Ok(Attempt::TooMuch),
            // An order that takes too much to be proved, with all that belongs to it: a simpler one may not.
            Err(errors) if has_code(&errors, TOO_MUCH) => Ok(Attempt::TooMuch),
            // Nor may it need an array of its own that has no place.
            Err(errors) if has_code(&errors, NO_BOX) && means.tilings != Tilings::AndOrders => Ok(Attempt::Hopeless),
            other => other,
        }
    }

    fn build_by(&self, ctx: &Ctx, backend: Backend, order: Order<'_>) -> Result<Built, Refusal> {
        let lowered = pipeline::lower_with_tests(ctx, &self.function, target(backend))?;
        let target = target(backend);
        let analysed = pipeline::verify(ctx, self.sources, lowered, order, target, self.machine)?;
        Ok(Built { ctx: ctx.clone(), analysed, program: None })
    }

    /// The same for an order that the user gives alone: with more statements, proofs may take more.
    fn build_as_given(&self, backend: Backend, order: Order<'_>) -> Result<Built, Refusal> {
        let ctx = pipeline::context();
        let lowered = pipeline::lower_with_tests(&ctx, &self.function, target(backend))?;
        let most = pipeline::operations_for(&lowered.algorithm);
        ctx.set_max_operations(most);
        let analysed = pipeline::verify(&ctx, self.sources, lowered, order, target(backend), self.machine)?;
        if most > ISL_OPERATIONS {
            // What follows is code.
            ctx.set_max_operations(ISL_OPERATIONS);
            ctx.reset_operations();
        }
        Ok(Built { ctx, analysed, program: None })
    }

    /// One text of the function for a target.
    pub fn text(&self, backend: Backend, kind: TextKind) -> Result<String, Refusal> {
        self.build(backend)?.text(self, backend, kind)
    }

    /// `kernel.jl:3` for each computation, by the file's own name without folders.
    fn positions(&self, algorithm: &Algorithm, spans: &SpanTable) -> BTreeMap<ComputationId, String> {
        let place = |id: ComputationId| spans.computation(id).map(|span| (id, self.place(span)));
        algorithm.ids().filter_map(place).collect()
    }

    /// `line 3` for each computation, `helper.jl:3` for one that stands in another file than the function.
    fn lines(&self, algorithm: &Algorithm, spans: &SpanTable) -> BTreeMap<ComputationId, String> {
        let line = |id: ComputationId| Some((id, self.line(spans, spans.computation(id)?)));
        algorithm.ids().filter_map(line).collect()
    }

    fn line(&self, spans: &SpanTable, span: tessella_diagnostics::Span) -> String {
        match spans.function {
            Some(home) if home.file == span.file => format!("line {}", self.sources.position(span).0),
            _ => self.place(span),
        }
    }

    /// `kernel.jl:3`.
    pub fn place(&self, span: tessella_diagnostics::Span) -> String {
        let name = &self.sources.file(span.file).name;
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        format!("{name}:{}", self.sources.position(span).0)
    }
}

impl Built {
    /// The loops of the program.
    pub fn loops(&self, unit: &Unit<'_>) -> Result<Cow<'_, Program>, Refusal> {
        match &self.program {
            Some(program) => Ok(Cow::Borrowed(program)),
            None => {
                let budget = self.renewed();
                self.generate(self.exact_part(budget), budget).map(Cow::Owned).map_err(|error| self.word(unit, error))
            }
        }
    }

    /// The work that a step after the proofs may take, 0 for any: proofs of many statements leave little, and code for an order that the
    /// user gave may take as much as code for one of ours.
    pub(crate) fn renewed(&self) -> u64 {
        self.ctx.operations_left().map_or(0, |left| left.max(ISL_OPERATIONS))
    }

    /// What exact loops may take of so much work.
    fn exact_part(&self, budget: u64) -> u64 {
        let (algorithm, schedule) = (self.analysed.verified.algorithm(), self.analysed.verified.schedule());
        let least = budget.min(ISL_OPERATIONS / HEXAGONS_PART);
        let are_few = algorithm.computations.len() <= FEW_PIECES && !self.has_waves();
        if self.repeats() && algorithm.computations.len() > MANY_REPEATED {
            return 1;
        }
        match (self.hexagons().is_empty(), are_few) {
            (true, _) => budget,
            (false, true) => {
                let weighed = FEW_OPERATIONS.saturating_mul(effort::weight(algorithm, schedule));
                weighed.min(budget.saturating_mul(FEW_TIMES)).max(least)
            }
            (false, false) => least,
        }
    }

    /// Whether sizes decide between kernels, or would if they had to.
    fn has_kernels_by_size(&self) -> bool {
        let by_size = |it: &Command| matches!(it, Command::PiecesBySize { .. } | Command::Privatize { .. });
        self.analysed.carried.iter().any(by_size)
    }

    fn hexagons(&self) -> Vec<&Command> {
        self.analysed.carried.iter().filter(|it| matches!(it, Command::Hexagonal { .. })).collect()
    }

    /// Whether tiles overlap, in which statements are repeated.
    fn repeats(&self) -> bool {
        self.analysed.carried.iter().any(|it| matches!(it, Command::Overlapped { .. }))
    }

    /// The loops, for which isl may do so much; where exact ones take more than `exact`, ones that run through more than they need to, which are
    /// better than none.
    fn generate(&self, exact: u64, budget: u64) -> Result<Program, CodegenError> {
        let input = Input::from(&self.analysed.verified);
        match self.ctx.with_budget(exact, || generate(&input)) {
            Err(CodegenError::Isl(error)) if error.is_quota() => self.ctx.with_budget(budget, || {
                // Threads of a GPU ask for each point as it is; a CPU's vectors have no questions in their loops.
                let whole = self.repeats() && self.analysed.verified.target() == Target::Gpu;
                if whole { generate_whole(&input) } else { generate_framed(&input) }
            }),
            done => done,
        }
    }

    /// Whether isl's operations are weighed up while code is generated: wavefronts of many statements, and
    /// hexagons with fractions.
    fn has_waves(&self) -> bool {
        let (algorithm, schedule) = (self.analysed.verified.algorithm(), self.analysed.verified.schedule());
        effort::weight_of_generation(algorithm, schedule) > effort::weight(algorithm, schedule)
    }

    /// Whether code can be generated with as much work as a whole function may take, or for wavefronts and tiles of time, in whose
    /// stead there is a simpler order, a part of that; the result is kept.
    fn generate_within_limit(&mut self) -> Generated {
        let (waves, hexagons) = (self.has_waves(), !self.hexagons().is_empty());
        let most = |left: u64| match (waves, hexagons) {
            (_, true) => ISL_OPERATIONS / HEXAGONS_PART,
            (true, false) => ISL_OPERATIONS / WAVES_PART,
            (false, false) => left.max(ISL_OPERATIONS),
        };
        let budget = self.ctx.operations_left().map_or(0, most);
        let generated = match hexagons {
            true => self.generate(budget, budget),
            false => self.ctx.with_budget(budget, || generate(&Input::from(&self.analysed.verified))),
        };
        match generated {
            Ok(program) => {
                self.program = Some(program);
                Generated::Done
            }
            Err(CodegenError::Isl(error)) if error.is_quota() => Generated::TooMuch,
            Err(_) => Generated::Refused,
        }
    }

    /// A text of the program; `unit` and `backend` are those it was built from.
    pub fn text(&self, unit: &Unit<'_>, backend: Backend, kind: TextKind) -> Result<String, Refusal> {
        let verified = &self.analysed.verified;
        let algorithm = verified.algorithm();
        let core = |error| vec![self.diagnose(unit, error)];
        let weight = effort::weight(verified.source(), &verified.source().source_order);
        type Report = fn(&Ctx, &Algorithm) -> Result<Vec<report::ReportedDependence>, Error>;
        let report = |how: Report| {
            self.ctx.with_budget(self.renewed(), || self.ctx.weighed(weight, || how(&self.ctx, verified.source())))
        };
        let reported = || report(report::report_dependences).map_err(core);
        Ok(match kind {
            TextKind::Diagnostics | TextKind::Codes | TextKind::Tuned => String::new(),
            TextKind::Result => results::text(&unit.function),
            TextKind::Algorithm => print::algorithm(verified.source()),
            TextKind::Dependences => print::dependences(verified.source(), &reported()?),
            TextKind::Schedule => self.schedule_text(unit),
            TextKind::Loops => self.loops(unit)?.to_string(),
            TextKind::C => self.c(unit, None)?.text,
            TextKind::Header => match backend {
                Backend::C | Backend::Interpreter => self.c(unit, None)?.header,
                // The interface is the same for all targets.
                Backend::Cuda => unit.build(Backend::C)?.c(unit, None)?.header,
            },
            TextKind::Cuda => self.cuda(unit)?.text,
            TextKind::Draw => crate::draw::draw(unit, self, &DrawOptions::default())?.svg,
            TextKind::Explain => {
                let lines = unit.lines(algorithm, &self.analysed.spans);
                let mut text = header(unit, target(backend));
                let (dependences, are_direct) = match report(report::report_dependences) {
                    Err(error) if error.is_quota() => (report(report::report_all_dependences).map_err(core)?, false),
                    direct => (direct.map_err(core)?, true),
                };
                text.push_str(
                    &explain(&self.ctx, verified, (&dependences, are_direct), &lines, &self.left_out(unit))
                        .map_err(core)?,
                );
                text.push_str(&constants(
                    self.analysed.chosen.as_ref().map_or(&[], |chosen| &chosen.storage),
                    verified,
                ));
                text.push_str(&padded(self.analysed.chosen.as_ref().map_or(&[], |chosen| &chosen.padded)));
                text.push_str(&asked(algorithm, &self.analysed.asked, &lines));
                let mut told = Default::default();
                if unit.commands.is_none() {
                    let (source, schedule) = (verified.source(), verified.schedule());
                    let machine = (target(backend), &unit.machine);
                    told = time::tilings(&self.ctx, source, schedule, machine, &self.hexagons()).map_err(core)?;
                }
                text.push_str(&told.0);
                text.push_str(&tiles::tiles(&self.before_copies(unit), &told.1, &lines).map_err(core)?);
                if self.analysed.gave_up {
                    text.push_str("\nChoosing another order, or generating code for it, takes more work than one function may cost, so the loops run as the source has them.\n");
                }
                if self.analysed.tilings == Tilings::AndOrders && !self.analysed.gave_up {
                    text.push_str("\nChoosing another order, or generating code for it, takes more work than one function may cost, so nests keep their loops, of which those run in parallel that carry no dependence.\n");
                }
                if self.analysed.tilings == Tilings::Avoided {
                    text.push_str("\nGenerating code for wavefronts over tiles, for tiles of time, or for two kernels of a product takes more work than one function may cost, so this order has none.\n");
                }
                text
            }
        })
    }

    /// A line for each filling of an array that the program does without.
    fn left_out(&self, unit: &Unit<'_>) -> Vec<String> {
        let all = self.analysed.unread.iter().map(|Unread { name, array, span }| {
            let place = span.map(|span| format!(" ({})", unit.line(&self.analysed.spans, span))).unwrap_or_default();
            format!("{name}{place} is left out: each element of `{array}` that is read is written again before")
        });
        all.collect()
    }

    /// The program before arrays were copied into fast memory.
    fn before_copies(&self, unit: &Unit<'_>) -> Cow<'_, Scheduled> {
        if let Some(chosen) = &self.analysed.chosen {
            return Cow::Borrowed(&chosen.scheduled);
        }
        let verified = &self.analysed.verified;
        let has_copies = unit.commands.iter().flatten().any(|command| command.value.is_storage());
        Cow::Owned(Scheduled {
            algorithm: if has_copies { verified.source() } else { verified.algorithm() }.clone(),
            schedule: verified.schedule().clone(),
            target: verified.target(),
            machine: unit.machine,
            versions: vec![],
            scratch: Default::default(),
        })
    }

    /// Commands that lead from the source's order to the program's.
    pub fn own_commands(&self, unit: &Unit<'_>) -> Vec<Command> {
        let verified = &self.analysed.verified;
        let algorithm = verified.algorithm();
        let own = unit.commands.as_ref().filter(|all| all.iter().all(|command| command.value != Command::Auto));
        match own {
            Some(commands) => commands.iter().map(|command| command.value.clone()).collect(),
            None => {
                // Storage adds statements that the order is not spelt with.
                let chosen = self.analysed.chosen.as_ref();
                let ordered = chosen.map_or(algorithm, |it| &it.scheduled.algorithm);
                let aim = chosen.map_or(verified.schedule(), |it| &it.scheduled.schedule);
                let (algorithm, schedule) = (ordered.clone(), ordered.source_order.clone());
                let start = Scheduled {
                    algorithm,
                    schedule,
                    target: verified.target(),
                    machine: unit.machine,
                    versions: vec![],
                    scratch: Default::default(),
                };
                let all = self.analysed.carried.clone();
                // Partial results, values that an iteration computes for itself, and pieces are those of the loops as they stood.
                let is_kept = |command: &Command| {
                    matches!(
                        command,
                        Command::Rfactor { .. }
                            | Command::Atomic { .. }
                            | Command::Owners { .. }
                            | Command::ComputeAt { .. }
                            | Command::Privatize { .. }
                            | Command::Overlapped { .. }
                            | Command::Hexagonal { .. }
                            | Command::Pieces { .. }
                            | Command::PiecesBySize { .. }
                    )
                };
                let kept = all.iter().rposition(is_kept).map_or(0, |it| it + 1);
                // What no order of loops says.
                let is_apart = |command: &Command| {
                    matches!(command, Command::Inline { .. } | Command::Assume(_) | Command::Specialize(_))
                };
                let is_kept = |(at, command): &(usize, Command)| *at < kept || is_apart(command);
                let apart: Vec<Command> =
                    all.into_iter().enumerate().filter(is_kept).map(|(_, command)| command).collect();
                let spelt = match self.is_reached_by(&apart, &start, aim) {
                    true => vec![],
                    false => spell::commands(&self.ctx, &start, &self.analysed.dependences, aim),
                };
                // Promotions have changed the order that is spelt; all else speaks of it.
                let promotes =
                    |command: &Command| matches!(command, Command::CacheShared { .. } | Command::CacheRegister { .. });
                let is_last = |command: &Command| command.is_storage() || command.is_communication();
                let asked = || unit.commands.iter().flatten().map(|command| &command.value);
                let rest: Vec<Command> = match asked().any(promotes) {
                    true => vec![],
                    false => asked().filter(|command| is_last(command)).cloned().collect(),
                };
                let storage = chosen.into_iter().flat_map(|it| it.storage.iter().cloned());
                apart.into_iter().chain(spelt).chain(rest).chain(storage).collect()
            }
        }
    }

    /// Whether tilings of time by themselves lead from the source's order to this one.
    fn is_reached_by(&self, commands: &[Command], like: &Scheduled, aim: &Schedule) -> bool {
        let Some(whole) = &like.algorithm.whole else { return false };
        if !commands.iter().all(|command| matches!(command, Command::Hexagonal { .. })) {
            return false;
        }
        let (algorithm, schedule) = (whole.algorithm.clone(), whole.algorithm.source_order.clone());
        let mut reached = Scheduled { algorithm, schedule, ..like.clone() };
        let tiled = self.ctx.with_budget(ISL_OPERATIONS, || {
            let mut all = dependences(&self.ctx, &reached.algorithm)?;
            for command in commands {
                let (next, renewed) = apply_and_renew(&self.ctx, &reached, &all, command)?;
                (reached, all) = (next, renewed.unwrap_or(all));
            }
            Ok::<(), Error>(())
        });
        tiled.is_ok() && reached.schedule == *aim
    }

    /// The order as a tree, in comments, and as commands that lead to it from the source's order.
    fn schedule_text(&self, unit: &Unit<'_>) -> String {
        let verified = &self.analysed.verified;
        let algorithm = verified.algorithm();
        let commands = self.own_commands(unit);
        let mut text = String::new();
        for line in print::schedule(algorithm, verified.schedule()).lines() {
            text.push_str(&format!("# {line}\n"));
        }
        text.push_str(&format!("@schedule {} begin\n", algorithm.name));
        for line in commands.iter().map(Command::to_string).collect::<Vec<_>>().join("\n").lines() {
            text.push_str(&format!("    {line}\n"));
        }
        text.push_str("end\n");
        text
    }

    /// The C text, for as many threads as OpenMP gives, or for just `threads`.
    pub fn c(&self, unit: &Unit<'_>, threads: Option<u32>) -> Result<c_backend::CSource, Refusal> {
        let options = TextOptions { threads, ..self.options(unit) };
        let verified = &self.analysed.verified;
        Ok(c_backend::print(&Input::from(verified), &*self.loops(unit)?, &options))
    }

    /// The scan as a function of its own: what the host runs before kernels.
    pub fn c_of_scan(
        &self,
        unit: &Unit<'_>,
        scan: &Verified,
        threads: Option<u32>,
    ) -> Result<c_backend::CSource, Refusal> {
        let options = TextOptions { source_name: scan.algorithm().name.clone(), threads, ..TextOptions::default() };
        c_backend::emit_scan(scan, &options).map_err(|error| self.word(unit, error))
    }

    pub fn cuda(&self, unit: &Unit<'_>) -> Result<cuda_backend::CudaSource, Refusal> {
        let (verified, options) = (&self.analysed.verified, self.options(unit));
        let printed = cuda_backend::print(&Input::from(verified), &*self.loops(unit)?, &options);
        printed.map_err(|error| self.word(unit, error))
    }

    fn options(&self, unit: &Unit<'_>) -> TextOptions {
        let verified = &self.analysed.verified;
        TextOptions {
            positions: unit.positions(verified.algorithm(), &self.analysed.spans),
            source_name: verified.algorithm().name.clone(),
            schedule: print::schedule(verified.algorithm(), verified.schedule()),
            threads: None,
        }
    }

    /// The position of an array among the function's arguments.
    pub fn argument_of(&self, array: tessella_polyhedral::algorithm::ArrayId) -> Option<u32> {
        let arguments = &self.analysed.verified.algorithm().arguments;
        arguments.iter().position(|it| *it == Argument::Array(array)).map(|at| at as u32)
    }

    /// A failure of the core, in this function's words.
    pub fn diagnose(
        &self,
        unit: &Unit<'_>,
        error: tessella_polyhedral::error::Error,
    ) -> tessella_diagnostics::Diagnostic {
        let algorithm = self.analysed.verified.algorithm();
        let spans = &self.analysed.spans;
        let place =
            crate::diagnose::Place { sources: unit.sources, algorithm, spans, command: None, legal_above: None };
        crate::diagnose::diagnose(&place, error)
    }

    /// A refusal of code generation, at the last command that maps loops to a GPU or tiles time, or that copies the array in question back,
    /// or at the function.
    pub fn word(&self, unit: &Unit<'_>, error: CodegenError) -> Refusal {
        let early = match &error {
            CodegenError::CopiedBeforeTests { array } => Some(array.clone()),
            _ => None,
        };
        let diagnostic = error.into_diagnostic();
        let mut commands = unit.commands.iter().flatten();
        let is_about = |command: &Command| match (command, &early) {
            (Command::CopyOut { array, .. }, Some(early)) => array == early,
            (_, Some(_)) => false,
            (command, None) => matches!(
                command,
                Command::Gpu { .. }
                    | Command::Hexagonal { .. }
                    | Command::Overlapped { .. }
                    | Command::TimeSkew { .. }
                    | Command::GridSync { .. }
                    | Command::Space { .. }
            ),
        };
        let mapped = commands.rfind(|it| is_about(&it.value)).map(|it| (it.span, "requested here"));
        let place = mapped.or(self.analysed.spans.function.map(|span| (span, "in this function")));
        vec![match place {
            Some((span, label)) => diagnostic.primary(span, label),
            None => diagnostic,
        }]
    }
}

/// The code of what reaches isl's limit.
const TOO_MUCH: &str = "E0430";
/// The code of an array that no box holds.
const NO_BOX: &str = "E0501";

/// Whether this is what a function was refused for.
fn has_code(errors: &Refusal, code: &str) -> bool {
    errors.iter().any(|it| it.code.0 == code)
}

/// Which arrays Tessella's own choice puts into constant memory, and why.
fn constants(storage: &[Command], verified: &Verified) -> String {
    let room = |name: &String| {
        verified.layout().buffers.iter().find_map(|buffer| match buffer.space {
            MemorySpace::Constant { elements } if buffer.name == *name => {
                Some(match buffer.is_box(verified.algorithm()) {
                    true => format!("no more than {elements} elements are read"),
                    false => format!("never has more than {elements} elements"),
                })
            }
            _ => None,
        })
    };
    let lines: Vec<String> = storage
        .iter()
        .filter_map(|command| match command {
            Command::Constant { array } => room(array).map(|room| format!("  {array}: {room}\n")),
            _ => None,
        })
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    let why = "small arrays that are only read, one element at a time by all threads of a block";
    format!("\nConstant memory: {why}\n{}", lines.concat())
}

/// Which arrays Tessella's own choice pads, and what for.
fn padded(arrays: &[Padded]) -> String {
    if arrays.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = arrays.iter().map(|it| format!("  {it}\n")).collect();
    format!("\nPadding: elements left free, where the model of layouts says that it pays\n{}", lines.concat())
}

pub fn target(backend: Backend) -> Target {
    match backend {
        Backend::C | Backend::Interpreter => Target::Cpu,
        Backend::Cuda => Target::Gpu,
    }
}
