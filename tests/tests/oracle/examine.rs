//! One program with one schedule, from its text to its results.

use crate::instances::{Instance, Order, affine, lost_order, order, value};
use crate::native::{self, Check, Job};
use crate::subject::{Subject, with_unit};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tessella::results;
use tessella_c_backend as c_backend;
use tessella_codegen::c_family::TextOptions;
use tessella_codegen::{CodegenError, Input, Program, generate};
use tessella_diagnostics::Diagnostic;
use tessella_interpreter::scheduled::{self, Completion};
use tessella_interpreter::{RunError, Value};
use tessella_polyhedral::algorithm::{AccessRef, Algorithm, ArrayId};
use tessella_polyhedral::command::Command;
use tessella_polyhedral::dependence::Dependence;
use tessella_polyhedral::error::{Error, ScheduleError};
use tessella_polyhedral::isl::{Ctx, DimType, IslErrorKind, Set, Val};
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::legality::Violation;
use tessella_polyhedral::schedule::Schedule;
use tessella_polyhedral::verify::Verified;
use tessella_polyhedral::{connect, default_order, place, transform, verify};
use tessella_runtime::call::entry_parameters;
use tessella_scalar::{Constant, ScalarType};

/// A program text with its schedule, and how to look at it.
#[derive(Debug, Clone)]
pub struct Case {
    pub source: String,
    pub target: Target,
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
pub const OPERATIONS: u64 = 400_000;

/// Causes of refusals that are no violated dependence; "What is refused although legal" in `docs/model.md` explains
/// each. Another cause is a fault.
const DOCUMENTED: &[&str] = &[
    // Names and shapes that the command's rewrite is not defined for.
    "UnknownLoop",
    "NotNested",
    "NotPerfectlyNested",
    "NotAdjacent",
    "TooFewLoops",
    "NothingToDistribute",
    "SameComputation",
    "AlreadyTagged",
    // The GPU's limits.
    "NeedsCpu",
    "GpuMapping",
    "BlockTooLarge",
    "BlockTooDeep",
    "LoopsApart",
    "SharedRegister",
    // Storage.
    "NoBox",
    "AllocationInside",
    // Arithmetic and work.
    "overflow",
    "isl's limit",
    "isl's limit in code generation",
];

/// Whether a refusal is one that the documentation explains.
pub fn check_documented(why: &str) -> Result<(), Fault> {
    // Refusals of the program have a code, a page and a golden case each.
    let is_code = why.starts_with("E0") && why.as_bytes().get(2..5).is_some_and(|it| it.iter().all(u8::is_ascii_digit));
    match is_code || DOCUMENTED.contains(&why) {
        true => Ok(()),
        false => fault("refused for no documented cause", why),
    }
}

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
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |what| match GUARDED.get() {
        true => LAST_PANIC.with(|last| *last.borrow_mut() = what.to_string()),
        false => print(what),
    }));
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
    }
}

fn variant(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    text.split([' ', '{', '(']).next().unwrap_or_default().to_string()
}

fn look(case: &Case) -> Result<Verdict, Fault> {
    let looked = with_unit(&case.source, |unit| {
        let subject = match Subject::new(unit, case.target, case.seed)? {
            Ok(subject) => subject,
            Err(why) => return Ok((Verdict::Refused(why), None)),
        };
        let mut scheduled = subject.source.clone();
        match &unit.commands {
            None => {
                match subject.limited(&scheduled, || default_order::schedule(&subject.ctx, &scheduled, &subject.all)) {
                    Ok(chosen) => scheduled = chosen,
                    Err(error) => return refusal(error).map(|why| (Verdict::Refused(why), None)),
                }
            }
            Some(commands) => {
                for command in commands {
                    match step(&subject, &scheduled, &command.value)? {
                        Step::Next(next) => scheduled = *next,
                        Step::Illegal => return Ok((Verdict::Illegal, None)),
                        Step::Refused(why) => return Ok((Verdict::Refused(why), None)),
                    }
                }
            }
        }
        judge(&subject, scheduled, case.compile)
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
    Next(Box<Scheduled>),
    /// It breaks a dependence, and really does.
    Illegal,
    Refused(String),
}

/// Carries out a command, and holds its refusal against brute force.
pub fn step(subject: &Subject<'_>, scheduled: &Scheduled, command: &Command) -> Result<Step, Fault> {
    let Subject { ctx, all, .. } = subject;
    match subject.limited(scheduled, || transform::apply(ctx, scheduled, all, command)) {
        Ok(next) => Ok(Step::Next(Box::new(next))),
        Err(Error::Schedule(ScheduleError::Illegal(violation))) => {
            let refused = transform::apply(ctx, scheduled, &[], command).ok().map(|it| it.schedule);
            check_witness(ctx, &scheduled.algorithm, refused.as_ref(), &violation)?;
            Ok(Step::Illegal)
        }
        Err(error) => {
            let why = refusal(error)?;
            check_documented(&why)?;
            Ok(Step::Refused(why))
        }
    }
}

/// Looks at an accepted order: against brute force, and by running what becomes of it. The job is for compiled C.
pub fn judge(subject: &Subject<'_>, scheduled: Scheduled, compile: bool) -> Result<(Verdict, Option<Job>), Fault> {
    check_order(subject, &scheduled)?;
    let refused = |why: String| check_documented(&why).map(|()| (Verdict::Refused(why), None));
    let copy = scheduled.clone();
    let verified = match subject.limited(&copy, || finish(&subject.ctx, scheduled, &subject.all)) {
        Ok(verified) => verified,
        Err(error) => return refused(refusal(error)?),
    };
    let input = Input::from(&verified);
    // `generate` counts by weight itself.
    let program = match subject.ctx.with_budget(2 * OPERATIONS, || generate(&input)) {
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

fn finish(ctx: &Ctx, scheduled: Scheduled, all: &[Dependence]) -> Result<Verified, Error> {
    let placed = place::place(ctx, scheduled)?;
    let connected = connect::connect(ctx, placed, all)?;
    verify::verify(ctx, connected, all)
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
        let subject = match Subject::new(unit, target, seed)? {
            Ok(subject) => subject,
            Err(why) => return fault("refused", why),
        };
        let ctx = &subject.ctx;
        let mut scheduled = subject.source.clone();
        let failed = |error: Error| Fault { kind: "refused", text: error.to_string() };
        for command in unit.commands.iter().flatten() {
            scheduled = transform::apply(ctx, &scheduled, &[], &command.value).map_err(failed)?;
        }
        let lost = check_order(&subject, &scheduled).is_err();
        let placed = place::place(ctx, scheduled).map_err(failed)?;
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
fn check_order(subject: &Subject<'_>, scheduled: &Scheduled) -> Result<(), Fault> {
    let algorithm = &scheduled.algorithm;
    for instances in subject.small()? {
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

/// The witness of a refusal is a pair of instances that conflict, and that the refused order does not keep in order.
fn check_witness(
    ctx: &Ctx,
    algorithm: &Algorithm,
    refused: Option<&Schedule>,
    violation: &Violation,
) -> Result<(), Fault> {
    let witness = &violation.witness;
    let value = |name: &String| witness.params.iter().find(|(known, _)| known == name).map_or(0, |(_, value)| *value);
    let params: Vec<i64> = algorithm.param_names().iter().map(value).collect();
    let wrong = |text: String| fault("false witness", format!("{text}: {violation:?}"));
    let first = Instance { computation: violation.source.computation, at: witness.source.clone() };
    let second = Instance { computation: violation.sink.computation, at: witness.sink.clone() };
    let touched =
        |instance, access| element(ctx, algorithm, instance, access, &params).map_err(crate::subject::enumeration);
    match (touched(&first, violation.source)?, touched(&second, violation.sink)?) {
        (Some(a), Some(b)) if a == b => {}
        (Some(_), Some(_)) => return wrong("the instances access different elements".into()),
        _ => return wrong("an instance does not exist".into()),
    }
    if order(&algorithm.source_order, &params, &first, &second) != Order::Before {
        return wrong("the source does not run the first before the second".into());
    }
    match refused {
        Some(refused) if order(refused, &params, &first, &second) == Order::Before => {
            wrong("the refused order keeps the pair".into())
        }
        Some(_) => Ok(()),
        None => wrong("there is no refused order".into()),
    }
}

/// The element that an instance accesses; `None` if there is no such instance, or it does not perform the access.
fn element(
    ctx: &Ctx,
    algorithm: &Algorithm,
    instance: &Instance,
    at: AccessRef,
    params: &[i64],
) -> Result<Option<(ArrayId, Vec<i64>)>, Error> {
    let access = algorithm.access(at);
    let domain = algorithm.computation(at.computation).domain.intersect_params(&algorithm.context)?;
    for set in [Some(&domain), access.within.as_ref()].into_iter().flatten() {
        if !contains(ctx, algorithm, set, &instance.at, params)? {
            return Ok(None);
        }
    }
    let subscripts = access.subscripts.iter().map(|it| value(affine(it), &instance.at, params)).collect();
    Ok(Some((access.array, subscripts)))
}

fn contains(ctx: &Ctx, algorithm: &Algorithm, set: &Set, at: &[i64], params: &[i64]) -> Result<bool, Error> {
    let mut set = set.clone();
    for (param, &value) in algorithm.params.iter().zip(params) {
        if let Some(position) = set.space()?.find_dim_by_name(DimType::Param, &param.name)? {
            set = set.fix(DimType::Param, position, &Val::from_i64(ctx, value)?)?;
        }
    }
    for (position, &value) in at.iter().enumerate() {
        set = set.fix(DimType::Set, position as u32, &Val::from_i64(ctx, value)?)?;
    }
    Ok(!set.is_empty()?)
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
        match (&run.outcome, &done) {
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
                if run.inside {
                    return fault("refused sizes that fit", format!("for {sizes}: {about}"));
                }
            }
            (Ok(returned), Completion::Done(results)) => {
                if !run.inside {
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
    Ok((Verdict::Accepted { runs: checks.len(), refused_runs }, checks))
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
