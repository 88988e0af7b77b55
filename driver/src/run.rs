//! Runs a function on made-up inputs and compares it with the interpreter: `tessella run`.

pub(crate) mod rounding;

use crate::abi::values::{profiled, timed_call};
use crate::file::{FileOptions, Sources};
use crate::pipeline::Refusal;
use crate::profile::{self, Report};
use crate::request::{Backend, Options, Program, Status};
use crate::results;
use crate::session;
use crate::sizes::{self, Defaults, Scalars};
use crate::tuned;
use crate::unit::{Built, Unit};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};
use tessella_frontend::typed::tree::{Function, Type as ArgumentType};
use tessella_interpreter::{Array, Value, run_within};
use tessella_polyhedral::algorithm::{Algorithm, Argument, ArrayId, Computation, Param, ParamOrigin, Scalar, ScalarId};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_scalar::{BinaryOp, Constant, ScalarType};

/// What to run with.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// Values of sizes and integer arguments, by name.
    pub sizes: Vec<(String, i64)>,
    /// Values of other scalar arguments, by name.
    pub values: Vec<(String, f64)>,
    pub seed: u64,
    /// How often the compiled function is timed.
    pub repeat: u32,
    /// Whether the interpreter runs too.
    pub compare: bool,
    /// Whether kernels are measured, on a GPU.
    pub profile: bool,
    /// Whether the program runs in slices where the memory of the GPU does not hold its arrays.
    pub chunked: bool,
}

/// What one function did.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub name: String,
    /// Parameters and their values.
    pub params: Vec<(String, i64)>,
    /// The fastest of the timed calls.
    pub compiled: Duration,
    pub interpreted: Option<Duration>,
    /// Scalars and new arrays that it gave back, in words.
    pub results: Vec<String>,
    /// What differs from the interpreter, by argument; empty if nothing does, or nothing but rounding that the source lets be.
    pub differences: Vec<String>,
    /// What differs by rounding, and what in the source lets it.
    pub rounding: Option<String>,
    pub profile: Option<Report>,
    /// The schedule of a tuner that ran, if one did.
    pub tuned: Option<String>,
}

/// Why nothing was run.
pub enum Failed {
    Refused(String),
    ToolChain(String),
    Usage(String),
}

/// Sizes and counts that nothing determines.
const DEFAULTS: Defaults = Defaults { side: 64, count: 10 };
/// How often statements run at most where no size is given: the interpreter takes a second or so.
const INSTANCES: u64 = 8_000_000;
/// Statements and expressions that the interpreter may execute.
const STEPS: u64 = 20_000_000_000;
/// As many, where nobody knows whether the function ends with numbers that were made up: some seconds.
const STEPS_TO_SEE: u64 = 1_000_000_000;

/// Which schedule runs where the file gives none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedules {
    /// Tessella's own choice.
    Own,
    /// What a tuner found for sizes of this class, if one did.
    Tuned,
}

/// Runs all chosen functions of a file.
pub fn run(
    text: &str,
    options: &FileOptions,
    run_options: &RunOptions,
    backend: Backend,
) -> Result<Vec<Outcome>, Failed> {
    run_by(text, options, run_options, backend, Schedules::Own)
}

/// A file whose functions are to run with these arguments.
///
/// # Errors
/// [`Failed::Refused`], also for values of arguments that no chosen function has.
pub(crate) fn sources(text: &str, options: &FileOptions, run_options: &RunOptions) -> Result<Sources, Failed> {
    let sources = Sources::read(text, options).map_err(Failed::Refused)?;
    sources.has_arguments(run_options.values.iter().map(|(name, _)| name.as_str())).map_err(Failed::Refused)?;
    Ok(sources)
}

/// [`run`], under schedules that are chosen.
pub fn run_by(
    text: &str,
    options: &FileOptions,
    run_options: &RunOptions,
    backend: Backend,
    schedules: Schedules,
) -> Result<Vec<Outcome>, Failed> {
    let sources = sources(text, options, run_options)?;
    let refused = |errors: Refusal| Failed::Refused(sources.show(&errors));
    let mut outcomes = vec![];
    for item in sources.functions() {
        let mut unit = sources.unit(item, &options.types).map_err(refused)?;
        unit.machine = tessella_runtime::machine::native();
        let mut built = unit.build(backend).map_err(refused)?;
        let mut tuned = None;
        if schedules == Schedules::Tuned && unit.commands.is_none() {
            let class = tuned::class_of(&inputs(&unit, &built, run_options)?);
            let known = tuned::known(&unit.function, backend, &unit.machine, None);
            let entry = known.into_iter().find(|entry| entry.class == class && !entry.schedule.is_empty());
            if let Some((schedule, commands)) =
                entry.and_then(|entry| Some((entry.schedule.clone(), tuned::commands(&entry, unit.function.span)?)))
            {
                unit.commands = Some(commands);
                match unit.build(backend) {
                    Ok(better) => (built, tuned) = (better, Some(schedule)),
                    Err(_) => unit.commands = None,
                }
            }
        }
        let program =
            session::load(&unit, &built, backend, &Options { chunked: run_options.chunked, ..Options::default() })
                .map_err(|(status, errors)| match status {
                    Status::ToolChain => Failed::ToolChain(sources.show(&errors)),
                    Status::Done | Status::Refused | Status::Internal => refused(errors),
                })?;
        let outcome = run_one(&unit, &built, &*program, run_options)?;
        let measure = || measure(&unit, &built, &*program, run_options, &refused);
        let profile = run_options.profile.then(measure).transpose()?;
        outcomes.push(Outcome { profile, tuned, ..outcome });
    }
    Ok(outcomes)
}

/// The values of a program's parameters that a call with these arguments has.
pub(crate) fn params_of(algorithm: &Algorithm, values: &[Value]) -> Vec<i64> {
    let array = |id: ArrayId| {
        let at = algorithm.arguments.iter().position(|it| *it == Argument::Array(id));
        match at.and_then(|at| values.get(at)) {
            Some(Value::Array(array)) => Some(array),
            Some(Value::Scalar(_)) | None => None,
        }
    };
    let scalar = |id: ScalarId| {
        let at = algorithm.arguments.iter().position(|it| *it == Argument::Scalar(id));
        match values.get(at?)? {
            Value::Scalar(constant) => Some(*constant),
            Value::Array(_) => None,
        }
    };
    let value = |param: &Param, before: &[i64]| match param.origin {
        ParamOrigin::Extent { array: id, axis } => {
            array(id).and_then(|it| it.extents().get(axis as usize).map(|&extent| extent as i64))
        }
        ParamOrigin::First { array: id, axis } => array(id).and_then(|it| it.firsts().get(axis as usize).copied()),
        ParamOrigin::Argument(id) => scalar(id)?.as_integer().and_then(|it| i64::try_from(it).ok()),
        ParamOrigin::Derived(ref derived) => Some(derived.evaluate(before, &scalar)),
    };
    let mut params = vec![];
    for param in &algorithm.params {
        params.push(value(param, &params).unwrap_or(1));
    }
    params
}

/// How often each kind of measurement of a profile is made.
const PROFILED: u32 = 7;

fn measure(
    unit: &Unit<'_>,
    built: &Built,
    program: &dyn Program,
    options: &RunOptions,
    refused: &dyn Fn(Refusal) -> Failed,
) -> Result<Report, Failed> {
    let params = choose_params(built, options)?;
    let types = argument_types(unit);
    let mut values = make_inputs(built.analysed.verified.algorithm(), &types, &params, options)?;
    match profiled(program, &types, &mut values, &results::types(&unit.function), PROFILED) {
        Ok(measured) => profile::report(unit, built, measured).map_err(refused),
        Err(code) => Err(refused_inputs(unit, program, code)),
    }
}

fn refused_inputs(unit: &Unit<'_>, program: &dyn Program, code: i32) -> Failed {
    let reason = program.failure(code).map_or_else(|| format!("code {code}"), |failure| failure.to_string());
    Failed::Usage(format!("`{}` refused these inputs:\n{reason}", unit.function.name))
}

pub(crate) fn choose_params(built: &Built, options: &RunOptions) -> Result<Vec<i64>, Failed> {
    let scalars = scalars(built.analysed.verified.algorithm(), options);
    let chosen = match options.sizes.as_slice() {
        [] => sizes::choose_within(built, &[], DEFAULTS, &scalars, INSTANCES),
        given => sizes::choose_with(built, given, DEFAULTS, &scalars),
    };
    chosen.map_err(|error| Failed::Usage(format!("{}; {}", error.text, error.help)))
}

/// The values of scalar arguments that parameters are worked out from.
fn scalars(algorithm: &Algorithm, options: &RunOptions) -> Scalars {
    Scalars::choose(algorithm, &|id| given(algorithm.scalar(id), options), DEFAULTS)
}

/// What the user gave for a scalar argument.
fn given(scalar: &Scalar, options: &RunOptions) -> Option<Constant> {
    let size = options.sizes.iter().find(|(name, _)| *name == scalar.name);
    let value = options.values.iter().find(|(name, _)| *name == scalar.name);
    match (size, value) {
        (Some((_, size)), _) => Some(Constant::integer(scalar.ty, (*size).into())),
        (None, Some((_, value))) => Some(number(scalar.ty, *value)),
        (None, None) => None,
    }
}

fn argument_types(unit: &Unit<'_>) -> Vec<ArgumentType> {
    unit.function.arguments.iter().map(|id| unit.function.locals[id.0 as usize].ty).collect()
}

/// The arguments that a function is called with: sizes as asked for, arrays filled by chance.
///
/// # Errors
/// [`Failed::Usage`] for sizes that fit no argument, or arrays that are too large.
pub fn inputs(unit: &Unit<'_>, built: &Built, options: &RunOptions) -> Result<Vec<Value>, Failed> {
    let params = choose_params(built, options)?;
    make_inputs(built.analysed.verified.algorithm(), &argument_types(unit), &params, options)
}

fn run_one(unit: &Unit<'_>, built: &Built, program: &dyn Program, options: &RunOptions) -> Result<Outcome, Failed> {
    let algorithm = built.analysed.verified.algorithm();
    let params = choose_params(built, options)?;
    let types = argument_types(unit);
    let inputs = make_inputs(algorithm, &types, &params, options)?;
    let results = results::types(&unit.function);
    let mut interpreted = None;
    if options.compare && unit.function.may_not_end() {
        let is_made_up =
            |it: &Argument| matches!(it, Argument::Scalar(id) if given(algorithm.scalar(*id), options).is_none());
        let values = match algorithm.arguments.iter().any(is_made_up) {
            true => Origin::MadeUp,
            false => Origin::Given,
        };
        interpreted = Some(interpret(unit, &inputs, values)?);
    }

    let mut fastest = Duration::MAX;
    let mut actual = (inputs.clone(), vec![]);
    for _ in 0..options.repeat.max(1) {
        let mut values = inputs.clone();
        let (code, given, time) = timed_call(program, &types, &mut values, &results);
        fastest = fastest.min(time);
        if code != 0 {
            return Err(refused_inputs(unit, program, code));
        }
        actual = (values, given);
    }

    let mut outcome = Outcome {
        name: algorithm.name.clone(),
        params: algorithm.params.iter().zip(&params).map(|(param, value)| (param.name.clone(), *value)).collect(),
        compiled: fastest,
        interpreted: None,
        results: actual.1.iter().map(shown).collect(),
        differences: vec![],
        rounding: None,
        profile: None,
        tuned: None,
    };
    if options.compare {
        let Interpreted { values: expected, returned, time } = match interpreted {
            Some(it) => it,
            None => interpret(unit, &inputs, Origin::Given)?,
        };
        outcome.interpreted = Some(time);
        outcome.differences = differences(&unit.function, &actual, &expected, &returned);
        if let (false, Some(freedom)) = (outcome.differences.is_empty(), rounding::freedom(algorithm))
            && let Some(text) = by_rounding(&actual, &expected, &returned)
        {
            outcome.rounding = Some(format!("{text}: {freedom} in the source lets results round in another way"));
            outcome.differences.clear();
        }
    }
    Ok(outcome)
}

/// Where the values of scalar arguments come from, as far as it matters to whether the function ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The user gave all of them, or no loop's end depends on values.
    Given,
    /// Some are made up.
    MadeUp,
}

/// What the function leaves in its arguments and returns, as the interpreter finds.
struct Interpreted {
    values: Vec<Value>,
    returned: Vec<Option<Value>>,
    time: Duration,
}

fn interpret(unit: &Unit<'_>, inputs: &[Value], scalars: Origin) -> Result<Interpreted, Failed> {
    let (most, more) = match scalars {
        Origin::Given => (STEPS, ""),
        Origin::MadeUp => (
            STEPS_TO_SEE,
            "; values decide when it ends, and those that are made up may not: give them with `--value` and `--size`",
        ),
    };
    let mut values = inputs.to_vec();
    let start = Instant::now();
    let returned = run_within(most, &unit.function, &mut values)
        .map_err(|error| Failed::Usage(format!("the interpreter stopped: {error}{more}")))?;
    let time = start.elapsed();
    Ok(Interpreted { values, returned: results::values(&unit.function, &returned), time })
}

fn make_inputs(
    algorithm: &Algorithm,
    types: &[ArgumentType],
    params: &[i64],
    options: &RunOptions,
) -> Result<Vec<Value>, Failed> {
    let mut random = Random(options.seed ^ 0x9e37_79b9_7f4a_7c15);
    let scalars = scalars(algorithm, options);
    let integers: BTreeMap<u32, i64> = algorithm
        .params
        .iter()
        .zip(params)
        .filter_map(|(param, value)| match param.origin {
            ParamOrigin::Argument(id) => Some((id.0, *value)),
            ParamOrigin::Extent { .. } | ParamOrigin::First { .. } | ParamOrigin::Derived(_) => None,
        })
        .collect();
    check_memory(algorithm, types, params)?;
    let ranges = subscript_ranges(algorithm, params);
    let mut values = vec![];
    for (argument, ty) in algorithm.arguments.iter().zip(types) {
        values.push(match argument {
            Argument::Scalar(id) => {
                let scalar = algorithm.scalar(*id);
                let of_params = integers.get(&id.0).map(|&value| Constant::integer(scalar.ty, value.into()));
                let known = of_params.or_else(|| given(scalar, options)).or_else(|| scalars.chosen(*id));
                Value::Scalar(known.unwrap_or_else(|| random.constant(scalar.ty)))
            }
            Argument::Array(id) => {
                let array = algorithm.array(*id);
                let ArgumentType::Array { element, .. } = *ty else {
                    unreachable!("arguments of the algorithm and of the function agree")
                };
                let range = ranges.get(id);
                let made = Array::from_fn(element, extents(algorithm, *id, params), |_| match range {
                    Some(range) => random.within(element, range),
                    None => random.constant(element),
                });
                let firsts = array.firsts.iter().map(|first| first.evaluate(&[], params).unwrap_or(1)).collect();
                Value::Array(made.map_err(|error| Failed::Usage(error.to_string()))?.counting_from(firsts))
            }
        });
    }
    Ok(values)
}

fn extents(algorithm: &Algorithm, id: ArrayId, params: &[i64]) -> Vec<u64> {
    let extents = algorithm.array(id).extents.iter();
    extents.map(|extent| extent.evaluate(&[], params).unwrap_or(0).max(0) as u64).collect()
}

/// Arrays that are made up stay below the memory that is free.
fn check_memory(algorithm: &Algorithm, types: &[ArgumentType], params: &[i64]) -> Result<(), Failed> {
    let Some(free) = tessella_runtime::machine::available_memory() else { return Ok(()) };
    let bytes = algorithm.arguments.iter().zip(types).map(|(argument, ty)| match (argument, ty) {
        (Argument::Array(id), ArgumentType::Array { element, .. }) => {
            let extents = extents(algorithm, *id, params);
            extents.iter().fold(u64::from(element.bytes()), |product, &extent| product.saturating_mul(extent))
        }
        _ => 0,
    });
    let bytes = bytes.fold(0, u64::saturating_add);
    if bytes <= free {
        return Ok(());
    }
    let megabytes = |bytes: u64| bytes / 1_000_000;
    Err(Failed::Usage(format!(
        "the arrays of `{}` take {} MB, and {} MB are free; choose smaller sizes with `--size`",
        algorithm.name,
        megabytes(bytes),
        megabytes(free),
    )))
}

/// For arrays of integers whose elements become subscripts, `A[idx[i] + 1]`: the values that stay inside.
fn subscript_ranges(algorithm: &Algorithm, params: &[i64]) -> BTreeMap<ArrayId, RangeInclusive<i64>> {
    let mut ranges: BTreeMap<ArrayId, RangeInclusive<i64>> = BTreeMap::new();
    for at in algorithm.accesses() {
        let access = algorithm.access(at);
        let array = algorithm.array(access.array);
        let computation = algorithm.computation(at.computation);
        let outer = array.kind.outer() as usize;
        for (axis, (subscript, extent)) in (0..).zip(access.subscripts.iter().skip(outer).zip(&array.extents)) {
            let Some((source, added)) = subscript.as_computed().and_then(|value| element_read(computation, value, 8))
            else {
                continue;
            };
            let ones = vec![1; computation.iterators.len()];
            let least = array.first(axis).evaluate(&ones, params).unwrap_or(1);
            let most = (least - 1).saturating_add(extent.evaluate(&ones, params).unwrap_or(0));
            let (low, high) = (least.saturating_sub(added), most.saturating_sub(added));
            let known = ranges.entry(source).or_insert(low..=high);
            *known = (*known.start()).max(low)..=(*known.end()).min(high);
        }
    }
    ranges
}

/// The array whose element the value is, and the constant that is added to it.
fn element_read(computation: &Computation, value: &Expr, depth: u32) -> Option<(ArrayId, i64)> {
    let depth = depth.checked_sub(1)?;
    let constant = |part: &Expr| match part.kind {
        ExprKind::Constant(constant) => constant.as_integer().and_then(|value| i64::try_from(value).ok()),
        _ => None,
    };
    match &value.kind {
        ExprKind::Read(at) => Some((computation.reads[*at as usize].array, 0)),
        ExprKind::Let(at) => element_read(computation, &computation.lets[*at as usize].value, depth),
        ExprKind::Convert(operand) | ExprKind::Wrap(operand) => element_read(computation, operand, depth),
        ExprKind::Binary(BinaryOp::Add, left, right) => {
            let (operand, added) = match (constant(left), constant(right)) {
                (_, Some(added)) => (left, added),
                (Some(added), None) => (right, added),
                (None, None) => return None,
            };
            element_read(computation, operand, depth).map(|(array, sum)| (array, sum.saturating_add(added)))
        }
        ExprKind::Binary(BinaryOp::Sub, left, right) => {
            let taken = constant(right)?;
            element_read(computation, left, depth).map(|(array, sum)| (array, sum.saturating_sub(taken)))
        }
        _ => None,
    }
}

fn number(ty: ScalarType, value: f64) -> Constant {
    match ty {
        ScalarType::F32 => Constant::f32(value as f32),
        ScalarType::F64 => Constant::f64(value),
        ScalarType::Bool
        | ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64 => Constant::integer(ty, value as i128),
    }
}

/// xorshift64*: the same inputs for the same seed, everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// An integer of the range, as far as the type has it.
    fn within(&mut self, ty: ScalarType, range: &RangeInclusive<i64>) -> Constant {
        let most: i64 = match ty {
            ScalarType::I8 => i8::MAX.into(),
            ScalarType::I16 => i16::MAX.into(),
            ScalarType::U8 => u8::MAX.into(),
            ScalarType::U16 => u16::MAX.into(),
            ScalarType::I32 => i32::MAX.into(),
            ScalarType::U32 => u32::MAX.into(),
            ScalarType::I64 | ScalarType::U64 => i64::MAX,
            ScalarType::Bool | ScalarType::F32 | ScalarType::F64 => return self.constant(ty),
        };
        let low = if ty.is_signed_integer() { *range.start() } else { (*range.start()).max(0) };
        let count = (*range.end()).min(most).saturating_sub(low).saturating_add(1).max(1);
        Constant::integer(ty, i128::from(low) + i128::from(self.next() >> 11) % i128::from(count))
    }

    /// Floats in -1..1, small integers.
    fn constant(&mut self, ty: ScalarType) -> Constant {
        let bits = self.next() >> 11;
        match ty {
            ScalarType::F32 | ScalarType::F64 => number(ty, bits as f64 / (1u64 << 52) as f64 - 1.0),
            ScalarType::Bool => Constant::bool(bits & 1 == 1),
            ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64 => Constant::integer(ty, i128::from(bits % 100)),
        }
    }
}

/// A result in a few words.
fn shown(value: &Value) -> String {
    match value {
        Value::Scalar(constant) => format!("{constant} ({})", constant.ty),
        Value::Array(array) => {
            let extents: Vec<String> = array.extents().iter().map(u64::to_string).collect();
            let first: Vec<String> = (0..array.len().min(4)).map(|at| array.get(at).to_string()).collect();
            let more = if array.len() > 4 { ", ..." } else { "" };
            format!("{} Array{{{}}}: {}{more}", extents.join("x"), array.element(), first.join(", "))
        }
    }
}

/// How far arguments after a call, and results, are from those expected, if that may be rounding.
pub(crate) fn by_rounding(
    (values, results): &(Vec<Value>, Vec<Value>),
    expected: &[Value],
    returned: &[Option<Value>],
) -> Option<String> {
    let given = results.iter().zip(returned).filter_map(|(value, expected)| Some((value, expected.as_ref()?)));
    let pairs: Vec<(&Value, &Value)> = values.iter().zip(expected).chain(given).collect();
    rounding::close(&pairs)
}

/// How arguments after a call, and results, differ from those expected; empty if they do not.
pub(crate) fn differences(
    function: &Function,
    (values, results): &(Vec<Value>, Vec<Value>),
    expected: &[Value],
    returned: &[Option<Value>],
) -> Vec<String> {
    let mut found = vec![];
    for ((value, expected), id) in values.iter().zip(expected).zip(&function.arguments) {
        let name = &function.locals[id.0 as usize].name;
        found.extend(difference(&format!("`{name}`"), value, expected));
    }
    for (at, (value, expected)) in results.iter().zip(returned).enumerate() {
        let Some(expected) = expected else { continue };
        let name = if results.len() == 1 { "the result".to_string() } else { format!("result {}", at + 1) };
        found.extend(difference(&name, value, expected));
    }
    found
}

fn difference(name: &str, value: &Value, expected: &Value) -> Option<String> {
    match (value, expected) {
        (Value::Array(value), Value::Array(expected)) if value.extents() != expected.extents() => {
            Some(format!("{name} has the extents {:?} and should have {:?}", value.extents(), expected.extents()))
        }
        (Value::Array(value), Value::Array(expected)) => {
            let differing: Vec<usize> = (0..value.len()).filter(|&at| !same(value.get(at), expected.get(at))).collect();
            let first = *differing.first()?;
            Some(format!(
                "{} of {} elements of {name} differ; the first, number {}, is {} and should be {}",
                differing.len(),
                value.len(),
                first + 1,
                value.get(first),
                expected.get(first)
            ))
        }
        (Value::Scalar(value), Value::Scalar(expected)) => {
            (!same(*value, *expected)).then(|| format!("{name} is {value} and should be {expected}"))
        }
        (Value::Scalar(_), Value::Array(_)) | (Value::Array(_), Value::Scalar(_)) => {
            Some(format!("{name} is of another kind than it should be"))
        }
    }
}

/// Equal bits; NaNs, whose bits Julia leaves open, equal one another.
fn same(a: Constant, b: Constant) -> bool {
    a == b || matches!((a.as_float(), b.as_float()), (Some(a), Some(b)) if a.is_nan() && b.is_nan())
}
