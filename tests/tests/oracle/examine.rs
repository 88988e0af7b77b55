//! One program with one schedule, from its text to its results.

use crate::instances::{Instance, lost_order};
use crate::native::{self, Check, Job};
use crate::refusals::check_documented;
use crate::renewed::check_renewed;
use crate::subject::{Fit, Progress, Setting, Subject, with_unit};
use crate::witness::{check_conflict, check_witness, is_assumed};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Once;
use tessella::results;
use tessella_c_backend as c_backend;
use tessella_codegen::c_family::TextOptions;
use tessella_codegen::{CodegenError, Input, Program, generate};
use tessella_diagnostics::Diagnostic;
use tessella_interpreter::scheduled::{self, Completion};
use tessella_interpreter::{RunError, Value};
use tessella_polyhedral::algorithm::Algorithm;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::default_order::{self, Memory};
use tessella_polyhedral::dependence::{Dependence, dependences};
use tessella_polyhedral::error::{Error, ScheduleError};
use tessella_polyhedral::isl::{Ctx, IslErrorKind};
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::storage::Stored;
use tessella_polyhedral::verify::Verified;
use tessella_polyhedral::{connect, place, storage, transform, verify};
use tessella_runtime::call::entry_parameters;
use tessella_scalar::{Constant, ScalarType};

/// A program text with its schedule, and how to look at it.
#[derive(Debug, Clone)]
pub struct Case {
    pub source: String,
    pub setting: Setting,
    pub seed: u64,
    /// Whether to compile C code, too.
    pub compile: bool,
}

/// What became of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Accepted {
        runs: usize,
        refused_runs: usize,
        /// Whether register tiles are spelled out.
        tiled: bool,
    },
    /// The schedule breaks a dependence, and really does.
    Illegal,
    /// Refused for another cause, by its code or kind.
    Refused(String),
}

/// What must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// In a word or two: what kind of fault.
    pub kind: &'static str,
    pub text: String,
}

pub fn fault<T>(kind: &'static str, text: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { kind, text: text.into() })
}

/// What isl may do in one pass; some schedules take it minutes, and are counted as refused.
pub const OPERATIONS: u64 = 120_000;

/// Looks at everything; a panic is a fault.
pub fn examine(case: &Case) -> Result<Verdict, Fault> {
    guarded(|| look(case))
}

/// Turns panics into faults.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    let outer = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    match done {
        Ok(done) => done,
        Err(_) => fault("panic", LAST_PANIC.with(|last| last.borrow().clone())),
    }
}

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Panics that become faults are remembered, not printed.
pub fn hush_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |what| match GUARDED.get() {
            true => LAST_PANIC.with(|last| *last.borrow_mut() = what.to_string()),
            false => print(what),
        }));
    });
}

pub fn codes(errors: &[Diagnostic]) -> String {
    errors.first().map_or(String::new(), |error| format!("{} {}", error.code, error.message))
}

/// Why the core refused, where it may; anything else is a fault.
pub fn refusal(error: Error) -> Result<String, Fault> {
    match error {
        Error::Isl(error) if error.kind == IslErrorKind::Quota => Ok("isl's limit".into()),
        Error::Isl(error) => fault("isl error", format!("{error:?}")),
        Error::Affine(_) => Ok("overflow".into()),
        Error::Schedule(ScheduleError::Illegal(_)) => fault("illegal", "an illegal order where none was asked for"),
        Error::Schedule(error) => Ok(variant(&error)),
        Error::Layout(error) => Ok(variant(&error)),
        Error::Storage(error) => Ok(variant(&error)),
        Error::Connect(error) => Ok(variant(&error)),
    }
}

fn variant(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    text.split([' ', '{', '(']).next().unwrap_or_default().to_string()
}

fn look(case: &Case) -> Result<Verdict, Fault> {
    let looked = with_unit(&case.source, |unit| {
        let subject = match Subject::new(unit, case.setting, case.seed)? {
            Ok(subject) => subject,
            Err(why) => return Ok((Verdict::Refused(why), None)),
        };
        let mut progress = subject.start();
        match &unit.commands {
            None => match own_order(&subject)? {
                Ok(chosen) => progress = chosen,
                Err(why) => return Ok((Verdict::Refused(why), None)),
            },
            Some(commands) => {
                let is_last = |command: &Command| command.is_storage() || command.is_communication();
                let (last, order): (Vec<_>, Vec<_>) = commands.iter().partition(|it| is_last(&it.value));
                for command in order.into_iter().chain(last) {
                    match step(&subject, &progress, &command.value)? {
                        Step::Next(next) => progress = *next,
                        Step::Illegal => return Ok((Verdict::Illegal, None)),
                        Step::Refused(why) => return Ok((Verdict::Refused(why), None)),
                    }
                }
            }
        }
        judge(&subject, progress, case.compile)
    })?;
    match looked {
        Ok((verdict, job)) => {
            native::run(&job.into_iter().collect::<Vec<_>>()).into_iter().flatten().next().map_or(Ok(verdict), Err)
        }
        Err(why) => Ok(Verdict::Refused(why)),
    }
}

/// What a command did.
pub enum Step {
    Next(Box<Progress>),
    /// It breaks a dependence, and really does.
    Illegal,
    Refused(String),
}

/// What Tessella chooses: an order, for a CPU perhaps of a program cut in pieces, and with storage; or why it finds none.
pub fn own_order(subject: &Subject<'_>) -> Result<Result<Progress, String>, Fault> {
    let progress = subject.start();
    let memory = match progress.scheduled.target {
        Target::Cpu => Memory::Blocks,
        Target::Gpu => Memory::Plain,
    };
    let means = default_order::Means { memory, tilings: default_order::Tilings::Wanted };
    let choose = || default_order::choose(&subject.ctx, &progress.scheduled, &progress.all, means);
    match subject.limited(&progress.scheduled, choose) {
        Ok(chosen) => {
            let mut next = Progress { scheduled: chosen.scheduled, storage: chosen.storage, ..progress };
            if let Some(cuts) = chosen.rewritten {
                next.hexagons = cuts.commands.iter().any(|it| matches!(it, Command::Hexagonal { .. }));
                next.changed = Some(Rc::new(subject.instances(&next.scheduled.algorithm)?));
                next.all = Rc::new(cuts.dependences);
            }
            Ok(Ok(next))
        }
        Err(error) => refusal(error).map(Err),
    }
}

/// Carries out a command, and holds its refusal against brute force.
pub fn step(subject: &Subject<'_>, progress: &Progress, command: &Command) -> Result<Step, Fault> {
    let Progress { scheduled, all, .. } = progress;
    let ctx = &subject.ctx;
    if command.is_storage() || command.is_communication() {
        return step_storage(subject, progress, command);
    }
    let refused = |why: String| check_documented(&why).map(|()| Step::Refused(why));
    match subject.limited(scheduled, || transform::apply_and_renew(ctx, scheduled, all, command)) {
        Ok((next, renewed)) => {
            let changed = transform::changed_accesses(command, scheduled, &next);
            let mut next = Progress { scheduled: next, ..progress.clone() };
            if changed {
                next.all = match renewed {
                    Some(all) => Rc::new(all),
                    None => match subject.limited(&next.scheduled, || dependences(ctx, &next.scheduled.algorithm)) {
                        Ok(all) => Rc::new(all),
                        Err(error) => return refused(refusal(error)?),
                    },
                };
                next.changed = Some(Rc::new(subject.instances(&next.scheduled.algorithm)?));
            }
            Ok(Step::Next(Box::new(next)))
        }
        // The witness is one of the program that this command would have made.
        Err(Error::Schedule(ScheduleError::Illegal(_))) if command.changes_accesses() => Ok(Step::Illegal),
        // Dependences decide by how much these skew, so that the order that was refused cannot be had without them.
        Err(Error::Schedule(ScheduleError::Illegal(violation)))
            if matches!(command, Command::TimeSkew { .. } | Command::Space { .. }) =>
        {
            check_conflict(ctx, &scheduled.algorithm, &violation)?;
            Ok(Step::Illegal)
        }
        Err(Error::Schedule(ScheduleError::Illegal(violation))) => {
            let refused = apply(ctx, scheduled, &[], command).ok().map(|it| it.schedule);
            check_witness(ctx, &scheduled.algorithm, refused.as_ref(), &violation)?;
            Ok(Step::Illegal)
        }
        Err(error) => {
            if let Error::Schedule(
                ScheduleError::NoFactor { violation, .. } | ScheduleError::NoShift { violation, .. },
            ) = &error
            {
                check_conflict(ctx, &scheduled.algorithm, violation)?;
            }
            refused(refusal(error)?)
        }
    }
}

/// What a command that changes no accesses makes.
fn apply(ctx: &Ctx, scheduled: &Scheduled, all: &[Dependence], command: &Command) -> Result<Scheduled, Error> {
    transform::apply_and_renew(ctx, scheduled, all, command).map(|(made, _)| made)
}

/// Whether the order that a refused command asks for is one that brute force finds legal. Where the command's rewrite is not
/// defined, or makes other statements, there is no such order.
pub fn asks_for_a_legal_order(subject: &Subject<'_>, progress: &Progress, command: &Command) -> Result<bool, Fault> {
    if command.is_storage() || command.is_communication() || command.changes_accesses() {
        return Ok(false);
    }
    let asked = subject.limited(&progress.scheduled, || apply(&subject.ctx, &progress.scheduled, &[], command));
    let Ok(scheduled) = asked else { return Ok(false) };
    Ok(check_order(subject, &Progress { scheduled, ..progress.clone() }).is_ok())
}

/// Asks whether a command about storage or communication can be carried out with those before.
fn step_storage(subject: &Subject<'_>, progress: &Progress, command: &Command) -> Result<Step, Fault> {
    let mut next = progress.clone();
    next.storage.push(command.clone());
    let ctx = &subject.ctx;
    let carry_out = || {
        let stored = match (&progress.stored, command.is_communication()) {
            (Some(stored), true) => Stored::clone(stored),
            (None, _) | (Some(_), false) => storage::carry_out(ctx, next.scheduled.clone(), &next.all, &next.storage)?,
        };
        connect::carry_out(ctx, stored.placed.clone(), &stored.dependences, &next.storage)?;
        Ok::<_, storage::Failure>(stored)
    };
    match subject.limited(&next.scheduled, carry_out) {
        Ok(stored) => {
            if progress.stored.is_none() || !command.is_communication() {
                subject.limited(&stored.placed.scheduled, || check_renewed(ctx, &stored))?;
            }
            next.stored = Some(Rc::new(stored));
            Ok(Step::Next(Box::new(next)))
        }
        Err(failure) => {
            let why = match *failure.error {
                // Of copies, which have no place in the source's order that could be enumerated.
                Error::Schedule(ScheduleError::Illegal(_)) => "a promotion that runs into parallel loops".to_string(),
                error => refusal(error)?,
            };
            check_documented(&why).map(|()| Step::Refused(why))
        }
    }
}

/// Looks at an accepted order: against brute force, and by running what becomes of it. The job is for compiled C.
pub fn judge(subject: &Subject<'_>, progress: Progress, compile: bool) -> Result<(Verdict, Option<Job>), Fault> {
    check_order(subject, &progress)?;
    let refused = |why: String| check_documented(&why).map(|()| (Verdict::Refused(why), None));
    let verified = match subject.limited(&progress.scheduled, || finish(&subject.ctx, &progress)) {
        Ok(verified) => verified,
        Err(error) => return refused(refusal(error)?),
    };
    let input = Input::from(&verified);
    // `generate` counts by weight itself.
    let program = match subject.ctx.with_budget(2 * subject.operations(), || generate(&input)) {
        Ok(program) => program,
        Err(CodegenError::Isl(error)) if error.kind == IslErrorKind::Quota => {
            return refused("isl's limit in code generation".into());
        }
        Err(CodegenError::Isl(error)) => return fault("isl error", format!("code generation: {error:?}")),
        Err(error) => return refused(variant(&error)),
    };
    let (verdict, checks) = run(subject, &input, &program)?;
    let job = (compile && input.target == Target::Cpu).then(|| job(subject, &input, &program, checks));
    Ok((verdict, job))
}

fn finish(ctx: &Ctx, progress: &Progress) -> Result<Verified, Error> {
    let Progress { scheduled, all, storage, stored, .. } = progress;
    let stored = match stored {
        Some(stored) => Stored::clone(stored),
        None => storage::carry_out(ctx, scheduled.clone(), all, storage).map_err(|failure| *failure.error)?,
    };
    let connected = connect::carry_out(ctx, stored.placed, &stored.dependences, storage);
    verify::verify(ctx, connected.map_err(|failure| *failure.error)?, &stored.dependences)
}

/// Carries out commands without asking whether they are legal: whether brute force finds a conflict whose order is lost,
/// and whether running the program shows it.
pub fn without_proof(source: &str, target: Target) -> (bool, bool) {
    // Some sizes are too small to show it.
    let seen = (1..=6).map(|seed| without_proof_of(source, target, seed));
    seen.fold((false, false), |sofar, seen| (sofar.0 || seen.0, sofar.1 || seen.1))
}

fn without_proof_of(source: &str, target: Target, seed: u64) -> (bool, bool) {
    let seen = with_unit(source, |unit| {
        let subject = match Subject::new(unit, Setting::small(target), seed)? {
            Ok(subject) => subject,
            Err(why) => return fault("refused", why),
        };
        let ctx = &subject.ctx;
        let mut progress = subject.start();
        let failed = |error: Error| Fault { kind: "refused", text: error.to_string() };
        for command in unit.commands.iter().flatten() {
            progress.scheduled = apply(ctx, &progress.scheduled, &[], &command.value).map_err(failed)?;
        }
        let lost = check_order(&subject, &progress).is_err();
        let placed = place::place(ctx, progress.scheduled).map_err(failed)?;
        let connected = connect::connect(ctx, placed, &subject.all).map_err(failed)?;
        let verified = verify::verify(ctx, connected, &[]).map_err(failed)?;
        let input = Input::from(&verified);
        let program = generate(&input).map_err(|error| Fault { kind: "refused", text: error.to_string() })?;
        Ok((lost, run(&subject, &input, &program).is_err()))
    });
    match seen {
        Ok(Ok(seen)) => seen,
        Ok(Err(text)) => panic!("{text}"),
        Err(fault) => panic!("{fault:?}"),
    }
}

/// No two conflicting instances change their order, for small parameters.
pub fn check_order(subject: &Subject<'_>, progress: &Progress) -> Result<(), Fault> {
    let Progress { scheduled, changed, .. } = progress;
    let algorithm = &scheduled.algorithm;
    let all = match changed {
        Some(changed) => changed.as_slice(),
        None => subject.small()?,
    };
    for instances in all {
        if !is_assumed(&subject.ctx, algorithm, &instances.params)? {
            continue;
        }
        if let Some(conflict) = lost_order(algorithm, &scheduled.schedule, instances) {
            return fault(
                "accepted an illegal order",
                format!(
                    "for {}: {} must run before {}: both access {}{:?}",
                    subject.named(&instances.params),
                    show(algorithm, &conflict.first),
                    show(algorithm, &conflict.second),
                    algorithm.array(conflict.array).name,
                    conflict.element
                ),
            );
        }
    }
    Ok(())
}

fn show(algorithm: &Algorithm, instance: &Instance) -> String {
    format!("{}{:?}", algorithm.computation(instance.computation).name, instance.at)
}

/// Runs a loop program on the subject's arguments and compares; gives what compiled code must do, too.
fn run(subject: &Subject<'_>, input: &Input<'_>, program: &Program) -> Result<(Verdict, Vec<Check>), Fault> {
    let (mut refused_runs, mut checks) = (0, vec![]);
    for (number, run) in subject.runs()?.iter().enumerate() {
        let sizes = subject.named(&run.params);
        let mut actual = run.arguments.clone();
        let done = match scheduled::run(input, program, &mut actual, number as u64 + 17) {
            Ok(done) => done,
            Err(error) => return fault("wrong program", format!("for {sizes}: {error}\n{program}")),
        };
        let assumed = is_assumed(&subject.ctx, input.source, &run.params)?;
        match (&run.outcome, &done) {
            (_, Completion::Done(_)) if !assumed => {
                return fault("ran for sizes that the schedule excludes", format!("for {sizes}"));
            }
            (Ok(_), Completion::Refused { .. }) if !assumed => refused_runs += 1,
            (Err(RunError::OutOfSteps { .. }), _) => {}
            (Err(RunError::Bounds { .. }), Completion::Refused { .. }) => refused_runs += 1,
            (Err(error), Completion::Refused { .. }) => {
                return fault("source error", format!("for {sizes}: the source fails with {error}"));
            }
            (Err(error), Completion::Done(_)) => {
                return fault("ran though the source fails", format!("for {sizes}: {error}"));
            }
            (Ok(_), Completion::Refused { about, .. }) => {
                refused_runs += 1;
                if run.fit == Fit::Inside {
                    return fault("refused sizes that fit", format!("for {sizes}: {about}"));
                }
            }
            (Ok(returned), Completion::Done(results)) => {
                if run.fit == Fit::Outside {
                    return fault("accepted sizes that do not fit", format!("for {sizes}"));
                }
                if let Some(text) = difference(&actual, results, &run.after, returned) {
                    return fault("different result", format!("for {sizes}: {text}\n{program}"));
                }
            }
        }
        let expected = run.outcome.as_ref().ok().map(|returned| (run.after.clone(), returned.clone()));
        checks.push(Check { sizes, arguments: run.arguments.clone(), done, expected });
    }
    let tiled = program.to_string().contains("# full tiles spelled out");
    Ok((Verdict::Accepted { runs: checks.len(), refused_runs, tiled }, checks))
}

/// The C code of a program, with what it must compute.
fn job(subject: &Subject<'_>, input: &Input<'_>, program: &Program, checks: Vec<Check>) -> Job {
    let algorithm = input.algorithm;
    let options = TextOptions { threads: Some(2), ..TextOptions::default() };
    let source = c_backend::print(input, program, &options);
    Job {
        parameters: entry_parameters(&program.entry, algorithm),
        text: source.text,
        entry: source.entry,
        flags: source.flags,
        types: subject.types.clone(),
        results: results::types(&subject.unit.function),
        checks,
    }
}

/// What differs between the arguments, and between what is given back.
pub fn difference(actual: &[Value], results: &[Value], expected: &[Value], returned: &[Value]) -> Option<String> {
    for (position, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        if let Some(text) = unequal(actual, expected) {
            return Some(format!("argument {}: {text}", position + 1));
        }
    }
    if results.len() != returned.len() {
        return Some(format!("{} results, there should be {}", results.len(), returned.len()));
    }
    results.iter().zip(returned).find_map(|(actual, expected)| {
        let text = unequal(actual, expected)?;
        Some(format!("the result: {text}"))
    })
}

fn unequal(actual: &Value, expected: &Value) -> Option<String> {
    match (actual, expected) {
        (Value::Scalar(actual), Value::Scalar(expected)) => {
            (!same(*actual, *expected)).then(|| format!("is {actual} and should be {expected}"))
        }
        (Value::Array(actual), Value::Array(expected)) => {
            if actual.extents() != expected.extents() {
                return Some(format!("extents are {:?} and should be {:?}", actual.extents(), expected.extents()));
            }
            let at = (0..expected.len()).find(|&at| !same(actual.get(at), expected.get(at)))?;
            Some(format!("element {} is {} and should be {}", at + 1, actual.get(at), expected.get(at)))
        }
        (Value::Scalar(_), Value::Array(_)) | (Value::Array(_), Value::Scalar(_)) => {
            Some("a scalar is no array".to_string())
        }
    }
}

/// Equal bits; NaNs equal one another.
fn same(a: Constant, b: Constant) -> bool {
    let is_nan =
        |it: Constant| matches!(it.ty, ScalarType::F32 | ScalarType::F64) && it.as_float().is_some_and(f64::is_nan);
    a == b || (is_nan(a) && is_nan(b))
}
