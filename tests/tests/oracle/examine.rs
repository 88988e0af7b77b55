//! One program with one schedule, from its text to its results.

use crate::inputs;
use crate::instances::{Instance, Instances, Order, lost_order, order};
use crate::random::Random;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tessella::abi::values::call;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::pipeline;
use tessella::request::Backend;
use tessella::session;
use tessella::unit::{Gives, Unit};
use tessella_codegen::{CodegenError, Input, Program, generate};
use tessella_diagnostics::Diagnostic;
use tessella_interpreter::scheduled::{self, Completion};
use tessella_interpreter::{RunError, Value, run_within};
use tessella_lowering::Lowered;
use tessella_polyhedral::algorithm::{Algorithm, ArrayKind};
use tessella_polyhedral::dependence::{Dependence, dependences};
use tessella_polyhedral::error::{Error, LayoutError, ScheduleError};
use tessella_polyhedral::isl::{Ctx, IslErrorKind};
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::legality::Violation;
use tessella_polyhedral::schedule::Schedule;
use tessella_polyhedral::verify::Verified;
use tessella_polyhedral::{connect, default_order, place, transform, verify};
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
        compiled: bool,
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

fn fault<T>(kind: &'static str, text: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { kind, text: text.into() })
}

/// Statements and expressions that a run of the typed tree may execute.
const STEPS: u64 = 20_000_000;

/// What isl may do in one pass; some schedules take it minutes, and are counted as refused.
pub const OPERATIONS: u64 = 400_000;

/// Looks at everything; a panic is a fault.
pub fn examine(case: &Case) -> Result<Verdict, Fault> {
    guarded(|| look(case))
}

/// Turns panics into faults.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done,
        Err(_) => fault("panic", LAST_PANIC.with(|last| last.borrow().clone())),
    }
}

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Panics are remembered, not printed.
pub fn hush_panics() {
    std::panic::set_hook(Box::new(|what| LAST_PANIC.with(|last| *last.borrow_mut() = what.to_string())));
}

/// A text's function and commands.
pub fn with_unit<T>(
    source: &str,
    work: impl FnOnce(&Unit<'_>) -> Result<T, Fault>,
) -> Result<Result<T, String>, Fault> {
    let options =
        FileOptions { name: "case.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = match Sources::read(source, &options) {
        Ok(sources) => sources,
        Err(text) => return Ok(Err(text)),
    };
    let [item] = sources.functions() else { return Ok(Err("not one function".into())) };
    match sources.unit(item, &[]) {
        Ok(unit) => work(&unit).map(Ok),
        Err(errors) => Ok(Err(codes(&errors))),
    }
}

pub fn codes(errors: &[Diagnostic]) -> String {
    errors.first().map_or(String::new(), |error| format!("{} {}", error.code, error.message))
}

/// The algorithm in the source's order, and what must keep it.
pub fn prepare(
    ctx: &Ctx,
    unit: &Unit<'_>,
    target: Target,
) -> Result<Result<(Scheduled, Vec<Dependence>), String>, Fault> {
    let Lowered { algorithm, .. } = match pipeline::lower(ctx, &unit.function) {
        Ok(lowered) => lowered,
        Err(errors) => return Ok(Err(codes(&errors))),
    };
    let all = match dependences(ctx, &algorithm) {
        Ok(all) => all,
        Err(error) => return refusal(error).map(Err),
    };
    let schedule = algorithm.source_order.clone();
    Ok(Ok((Scheduled { algorithm, schedule, target, versions: vec![] }, all)))
}

/// Why the core refused, where it may; anything else is a fault.
fn refusal(error: Error) -> Result<String, Fault> {
    match error {
        Error::Isl(error) if error.kind == IslErrorKind::Quota => Ok("isl's limit".into()),
        Error::Isl(error) => fault("isl error", format!("{error:?}")),
        Error::Affine(_) => Ok("overflow".into()),
        Error::Schedule(ScheduleError::Illegal(_)) => fault("illegal", "an illegal order where none was asked for"),
        Error::Schedule(error) => Ok(variant(&error)),
        Error::Layout(error @ (LayoutError::NoBox { .. } | LayoutError::NeverInside { .. })) => Ok(variant(&error)),
        #[allow(unreachable_patterns)]
        Error::Layout(error) => Ok(variant(&error)),
    }
}

fn variant(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    text.split([' ', '{', '(']).next().unwrap_or_default().to_string()
}

fn look(case: &Case) -> Result<Verdict, Fault> {
    let looked = with_unit(&case.source, |unit| {
        let ctx = pipeline::context();
        let (mut scheduled, all) = match prepare(&ctx, unit, case.target)? {
            Ok(prepared) => prepared,
            Err(why) => return Ok(Verdict::Refused(why)),
        };
        ctx.set_max_operations(OPERATIONS);
        ctx.reset_operations();
        let mut random = Random::new(case.seed);
        let before = scheduled.clone();
        let applied = match &unit.commands {
            None => default_order::schedule(&ctx, &scheduled, &all).map(|done| scheduled = done),
            Some(commands) => commands.iter().try_for_each(|command| {
                scheduled = transform::apply(&ctx, &scheduled, &all, &command.value)?;
                Ok(())
            }),
        };
        match applied {
            Ok(()) => {}
            Err(Error::Schedule(ScheduleError::Illegal(violation))) => {
                let commands: Vec<_> = unit.commands.iter().flatten().map(|it| &it.value).collect();
                let checked = || {
                    let refused = unproved(&ctx, &before, &all, &commands);
                    check_witness(&ctx, &before.algorithm, refused.as_ref(), &violation)
                };
                return ctx.with_budget(0, checked).map(|()| Verdict::Illegal);
            }
            Err(error) => return refusal(error).map(Verdict::Refused),
        }
        ctx.with_budget(0, || check_order(&ctx, &scheduled, &mut random))?;
        let verified = match finish(&ctx, scheduled, &all) {
            Ok(verified) => verified,
            Err(error) => return refusal(error).map(Verdict::Refused),
        };
        ctx.reset_operations();
        let input = Input::from(&verified);
        let program = match generate(&input) {
            Ok(program) => program,
            Err(CodegenError::Isl(error)) if error.kind == IslErrorKind::Quota => {
                return Ok(Verdict::Refused("isl's limit in code generation".into()));
            }
            Err(CodegenError::Isl(error)) => {
                return fault("isl error", format!("code generation: {error:?}"));
            }
            Err(error) => return Ok(Verdict::Refused(variant(&error))),
        };
        ctx.with_budget(0, || run(case, unit, &ctx, &verified, &program, &mut random))
    })?;
    Ok(looked.unwrap_or_else(Verdict::Refused))
}

fn finish(ctx: &Ctx, scheduled: Scheduled, all: &[Dependence]) -> Result<Verified, Error> {
    let placed = place::place(ctx, scheduled)?;
    let connected = connect::connect(ctx, placed, all)?;
    verify::verify(ctx, connected, all)
}

/// Carries out commands without asking whether they are legal: whether brute force finds a conflict whose order is lost,
/// and whether running the program shows it.
pub fn without_proof(source: &str, target: Target) -> (bool, bool) {
    let seen = with_unit(source, |unit| {
        let ctx = pipeline::context();
        let (mut scheduled, all) = match prepare(&ctx, unit, target)? {
            Ok(prepared) => prepared,
            Err(why) => return fault("refused", why),
        };
        let failed = |error: Error| Fault { kind: "refused", text: error.to_string() };
        for command in unit.commands.iter().flatten() {
            scheduled = transform::apply(&ctx, &scheduled, &[], &command.value).map_err(failed)?;
        }
        let lost = check_order(&ctx, &scheduled, &mut Random::new(1)).is_err();
        let placed = place::place(&ctx, scheduled).map_err(failed)?;
        let connected = connect::connect(&ctx, placed, &all).map_err(failed)?;
        let verified = verify::verify(&ctx, connected, &[]).map_err(failed)?;
        let program =
            generate(&Input::from(&verified)).map_err(|error| Fault { kind: "refused", text: error.to_string() })?;
        let case = Case { source: source.into(), target, seed: 1, compile: false };
        let ran = run(&case, unit, &ctx, &verified, &program, &mut Random::new(2));
        Ok((lost, ran.is_err()))
    });
    match seen {
        Ok(Ok(seen)) => seen,
        Ok(Err(text)) => panic!("{text}"),
        Err(fault) => panic!("{fault:?}"),
    }
}

/// The order that commands lead to when nothing has to be kept: what the last, refused one would have made.
pub fn unproved(
    ctx: &Ctx,
    from: &Scheduled,
    all: &[Dependence],
    commands: &[&tessella_polyhedral::command::Command],
) -> Option<Schedule> {
    let mut scheduled = from.clone();
    for command in commands {
        match transform::apply(ctx, &scheduled, all, command) {
            Ok(next) => scheduled = next,
            Err(_) => return Some(transform::apply(ctx, &scheduled, &[], command).ok()?.schedule),
        }
    }
    None
}

/// No two conflicting instances change their order, for small parameters.
pub fn check_order(ctx: &Ctx, scheduled: &Scheduled, random: &mut Random) -> Result<(), Fault> {
    let algorithm = &scheduled.algorithm;
    for params in inputs::small_parameters(algorithm, random) {
        let listed = Instances::new(ctx, algorithm, &params);
        let Some(instances) = listed.map_err(|error| Fault { kind: "enumeration", text: format!("{error:?}") })? else {
            continue;
        };
        if let Some(conflict) = lost_order(algorithm, &scheduled.schedule, &instances) {
            let named =
                algorithm.param_names().into_iter().zip(params).map(|(name, value)| format!("{name} = {value}"));
            return fault(
                "accepted an illegal order",
                format!(
                    "for {}: {} must run before {}: both access {}{:?}",
                    named.collect::<Vec<_>>().join(", "),
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
pub fn check_witness(
    ctx: &Ctx,
    algorithm: &Algorithm,
    refused: Option<&Schedule>,
    violation: &Violation,
) -> Result<(), Fault> {
    let witness = &violation.witness;
    let value = |name: &String| witness.params.iter().find(|(known, _)| known == name).map_or(0, |(_, value)| *value);
    let params: Vec<i64> = algorithm.param_names().iter().map(value).collect();
    let listed = Instances::new(ctx, algorithm, &params);
    let listed = listed.map_err(|error| Fault { kind: "enumeration", text: format!("{error:?}") })?;
    let wrong = |text: String| fault("false witness", format!("{text}: {violation:?}"));
    // Large sizes, where only these break the order.
    let Some(instances) = listed else { return Ok(()) };
    let first = Instance { computation: violation.source.computation, at: witness.source.clone() };
    let second = Instance { computation: violation.sink.computation, at: witness.sink.clone() };
    let find = |wanted: &Instance| instances.all.iter().position(|it| it == wanted);
    let (Some(from), Some(to)) = (find(&first), find(&second)) else {
        return wrong("an instance does not exist".into());
    };
    let element = |at: usize, access| {
        let touch = instances.touched[at].iter().find(|touch| touch.access == access);
        touch.map(|touch| (touch.array, touch.element.clone()))
    };
    match (element(from, violation.source), element(to, violation.sink)) {
        (Some(a), Some(b)) if a == b => {}
        _ => return wrong("the instances access different elements".into()),
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

fn run(
    case: &Case,
    unit: &Unit<'_>,
    ctx: &Ctx,
    verified: &Verified,
    program: &Program,
    random: &mut Random,
) -> Result<Verdict, Fault> {
    let algorithm = verified.algorithm();
    let input = Input::from(verified);
    let types: Vec<_> = unit.function.arguments.iter().map(|id| unit.function.locals[id.0 as usize].ty).collect();
    let compiled = match case.compile && case.target == Target::Cpu {
        false => None,
        true => {
            let built = match unit.build(Backend::C) {
                Ok(built) => built,
                Err(errors) => return fault("two answers", format!("the driver refused: {}", codes(&errors))),
            };
            match session::load(unit, &built, Backend::C, Some(2)) {
                Ok(program) => {
                    let result = match built.gives() {
                        Gives::Scalar(ty) => Some(ty),
                        Gives::Nothing | Gives::Argument(_) => None,
                    };
                    Some((program, result))
                }
                Err((_, errors)) => return fault("tool chain", format!("{errors:?}")),
            }
        }
    };
    let (mut runs, mut refused_runs) = (0, 0);
    for _ in 0..3 {
        let Some(arguments) = inputs::arguments(ctx, algorithm, &types, random)? else { continue };
        let params = scheduled::parameters(&input, &arguments)
            .map_err(|error| Fault { kind: "fault", text: error.to_string() })?;
        let inside = stays_inside(ctx, algorithm, &params)?;
        let mut expected = arguments.clone();
        let outcome = run_within(STEPS, &unit.function, &mut expected);
        let sizes = || {
            let shown =
                algorithm.param_names().into_iter().zip(&params).map(|(name, value)| format!("{name} = {value}"));
            shown.collect::<Vec<_>>().join(", ")
        };
        let mut actual = arguments.clone();
        let done = match scheduled::run(&input, program, &mut actual, random.next()) {
            Ok(done) => done,
            Err(error) => return fault("wrong program", format!("for {}: {error}\n{program}", sizes())),
        };
        runs += 1;
        match (&outcome, &done) {
            (Err(RunError::OutOfSteps { .. }), _) => {}
            (Err(RunError::Bounds { .. }), Completion::Refused { .. }) => refused_runs += 1,
            (Err(error), Completion::Refused { .. }) => {
                return fault("source error", format!("for {}: the source fails with {error}", sizes()));
            }
            (Err(error), Completion::Done(_)) => {
                return fault("ran though the source fails", format!("for {}: {error}", sizes()));
            }
            (Ok(_), Completion::Refused { about, .. }) => {
                refused_runs += 1;
                if inside {
                    return fault("refused sizes that fit", format!("for {}: {about}", sizes()));
                }
            }
            (Ok(returned), Completion::Done(scalar)) => {
                if !inside {
                    return fault("accepted sizes that do not fit", format!("for {}", sizes()));
                }
                if let Some(text) = difference(&actual, *scalar, &expected, returned) {
                    return fault("different result", format!("for {}: {text}\n{program}", sizes()));
                }
            }
        }
        if let Some((compiled, result)) = &compiled {
            let mut actual = arguments.clone();
            let (code, scalar) = call(&**compiled, &types, &mut actual, *result);
            match (&done, code) {
                (Completion::Done(_), 0) => {
                    if let Ok(returned) = &outcome
                        && let Some(text) = difference(&actual, scalar, &expected, returned)
                    {
                        return fault("different result in C", format!("for {}: {text}\n{program}", sizes()));
                    }
                }
                (Completion::Refused { status, .. }, code) if *status == code => {}
                (done, code) => {
                    return fault("different status in C", format!("for {}: {done:?}, C gives {code}", sizes()));
                }
            }
        }
    }
    Ok(Verdict::Accepted { runs, refused_runs, compiled: compiled.is_some() })
}

/// Whether all accesses to arguments that may happen are inside their arrays.
fn stays_inside(ctx: &Ctx, algorithm: &Algorithm, params: &[i64]) -> Result<bool, Fault> {
    let listed = Instances::new(ctx, algorithm, params);
    let listed = listed.map_err(|error| Fault { kind: "enumeration", text: format!("{error:?}") })?;
    let Some(instances) = listed else { return fault("enumeration", "too many instances of a run") };
    Ok(instances.touched.iter().flatten().all(|touch| {
        let array = algorithm.array(touch.array);
        array.kind != ArrayKind::Argument
            || touch
                .element
                .iter()
                .zip(&array.extents)
                .all(|(&subscript, extent)| subscript >= 1 && subscript <= extent.evaluate(&[], params).unwrap_or(0))
    }))
}

fn difference(
    actual: &[Value],
    scalar: Option<Constant>,
    expected: &[Value],
    returned: &Option<Value>,
) -> Option<String> {
    for (position, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        if let (Value::Array(actual), Value::Array(expected)) = (actual, expected) {
            for at in 0..expected.len() {
                if !same(actual.get(at), expected.get(at)) {
                    return Some(format!(
                        "element {} of argument {} is {} and should be {}",
                        at + 1,
                        position + 1,
                        actual.get(at),
                        expected.get(at)
                    ));
                }
            }
        }
    }
    match (scalar, returned) {
        (Some(scalar), Some(Value::Scalar(expected))) if !same(scalar, *expected) => {
            Some(format!("the result is {scalar} and should be {expected}"))
        }
        (None, Some(Value::Scalar(expected))) => Some(format!("there is no result, it should be {expected}")),
        _ => None,
    }
}

/// Equal bits; NaNs equal one another.
fn same(a: Constant, b: Constant) -> bool {
    let is_nan =
        |it: Constant| matches!(it.ty, ScalarType::F32 | ScalarType::F64) && it.as_float().is_some_and(f64::is_nan);
    a == b || (is_nan(a) && is_nan(b))
}
