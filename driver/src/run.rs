//! Runs a function on made-up inputs and compares it with the interpreter: `tessella run`.

use crate::abi::values::call;
use crate::file::{FileOptions, Sources};
use crate::pipeline::Refusal;
use crate::request::{Backend, Program, Status};
use crate::session;
use crate::sizes::{self, Defaults};
use crate::unit::{Built, Gives, Unit};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tessella_frontend::typed::ArgumentType;
use tessella_interpreter::{Array, Value, run_within};
use tessella_polyhedral::algorithm::{Algorithm, Argument, ParamOrigin};
use tessella_scalar::{Constant, ScalarType};

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
    /// What differs from the interpreter, by argument; empty if nothing does.
    pub differences: Vec<String>,
}

/// Why nothing was run.
pub enum Failed {
    Refused(String),
    ToolChain(String),
    Usage(String),
}

/// Sizes and counts that nothing determines.
const DEFAULTS: Defaults = Defaults { side: 64, count: 10 };
/// Statements and expressions that the interpreter may execute.
const STEPS: u64 = 20_000_000_000;

/// Runs all chosen functions of a file.
pub fn run(
    text: &str,
    options: &FileOptions,
    run_options: &RunOptions,
    backend: Backend,
) -> Result<Vec<Outcome>, Failed> {
    let sources = Sources::read(text, options).map_err(Failed::Refused)?;
    let refused = |errors: Refusal| Failed::Refused(sources.show(&errors));
    let mut outcomes = vec![];
    for item in sources.functions() {
        let unit = sources.unit(item, &options.types).map_err(refused)?;
        let built = unit.build(backend).map_err(refused)?;
        let program = session::load(&unit, &built, backend, None).map_err(|(status, errors)| match status {
            Status::ToolChain => Failed::ToolChain(sources.show(&errors)),
            Status::Done | Status::Refused | Status::Internal => refused(errors),
        })?;
        outcomes.push(run_one(&unit, &built, &*program, run_options)?);
    }
    Ok(outcomes)
}

fn run_one(unit: &Unit<'_>, built: &Built, program: &dyn Program, options: &RunOptions) -> Result<Outcome, Failed> {
    let algorithm = built.analysed.verified.algorithm();
    let params = sizes::choose(built, &options.sizes, DEFAULTS)
        .map_err(|error| Failed::Usage(format!("{}; {}", error.text, error.help)))?;
    let types: Vec<ArgumentType> =
        unit.function.arguments.iter().map(|id| unit.function.locals[id.0 as usize].ty).collect();
    let inputs = make_inputs(algorithm, &types, &params, options)?;
    let result = match built.gives() {
        Gives::Scalar(ty) => Some(ty),
        Gives::Nothing | Gives::Argument(_) => None,
    };

    let mut fastest = Duration::MAX;
    let mut actual = (inputs.clone(), None);
    for _ in 0..options.repeat.max(1) {
        let mut values = inputs.clone();
        let start = Instant::now();
        let (code, scalar) = call(program, &types, &mut values, result);
        fastest = fastest.min(start.elapsed());
        if code != 0 {
            let reason = program.failure(code).map_or_else(|| format!("code {code}"), |failure| failure.to_string());
            return Err(Failed::Usage(format!("`{}` refused these inputs:\n{reason}", algorithm.name)));
        }
        actual = (values, scalar);
    }

    let mut outcome = Outcome {
        name: algorithm.name.clone(),
        params: algorithm.params.iter().zip(&params).map(|(param, value)| (param.name.clone(), *value)).collect(),
        compiled: fastest,
        interpreted: None,
        differences: vec![],
    };
    if options.compare {
        let mut expected = inputs;
        let start = Instant::now();
        let returned = run_within(STEPS, &unit.function, &mut expected)
            .map_err(|error| Failed::Usage(format!("the interpreter stopped: {error}")))?;
        outcome.interpreted = Some(start.elapsed());
        outcome.differences = differences(unit, &actual, &expected, &returned);
    }
    Ok(outcome)
}

fn make_inputs(
    algorithm: &Algorithm,
    types: &[ArgumentType],
    params: &[i64],
    options: &RunOptions,
) -> Result<Vec<Value>, Failed> {
    let mut random = Random(options.seed ^ 0x9e37_79b9_7f4a_7c15);
    let scalars: BTreeMap<u32, i64> = algorithm
        .params
        .iter()
        .zip(params)
        .filter_map(|(param, value)| match param.origin {
            ParamOrigin::Argument(id) => Some((id.0, *value)),
            ParamOrigin::Extent { .. } | ParamOrigin::First { .. } => None,
        })
        .collect();
    let mut values = vec![];
    for (argument, ty) in algorithm.arguments.iter().zip(types) {
        values.push(match argument {
            Argument::Scalar(id) => {
                let scalar = algorithm.scalar(*id);
                let asked = options.sizes.iter().find(|(name, _)| *name == scalar.name).map(|(_, value)| *value);
                let given = options.values.iter().find(|(name, _)| *name == scalar.name).map(|(_, value)| *value);
                Value::Scalar(match (scalars.get(&id.0).copied().or(asked), given) {
                    (Some(value), _) => Constant::integer(scalar.ty, value.into()),
                    (None, Some(value)) => number(scalar.ty, value),
                    (None, None) => random.constant(scalar.ty),
                })
            }
            Argument::Array(id) => {
                let array = algorithm.array(*id);
                let ArgumentType::Array { element, .. } = *ty else {
                    unreachable!("arguments of the algorithm and of the function agree")
                };
                let extents = array.extents.iter().map(|extent| extent.evaluate(&[], params).unwrap_or(0).max(0) as u64);
                let made = Array::from_fn(element, extents.collect(), |_| random.constant(element));
                let firsts = array.firsts.iter().map(|first| first.evaluate(&[], params).unwrap_or(1)).collect();
                Value::Array(made.map_err(|error| Failed::Usage(error.to_string()))?.counting_from(firsts))
            }
        });
    }
    Ok(values)
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

fn differences(
    unit: &Unit<'_>,
    (values, scalar): &(Vec<Value>, Option<Constant>),
    expected: &[Value],
    returned: &Option<Value>,
) -> Vec<String> {
    let mut found = vec![];
    for ((value, expected), id) in values.iter().zip(expected).zip(&unit.function.arguments) {
        let name = &unit.function.locals[id.0 as usize].name;
        if let (Value::Array(value), Value::Array(expected)) = (value, expected) {
            let differing = (0..value.len()).filter(|&at| !same(value.get(at), expected.get(at)));
            let differing: Vec<usize> = differing.collect();
            if let Some(&first) = differing.first() {
                found.push(format!(
                    "{} of {} elements of `{name}` differ; the first, number {}, is {} and should be {}",
                    differing.len(),
                    value.len(),
                    first + 1,
                    value.get(first),
                    expected.get(first)
                ));
            }
        }
    }
    if let (Some(scalar), Some(Value::Scalar(expected))) = (scalar, returned)
        && !same(*scalar, *expected)
    {
        found.push(format!("the result is {scalar} and should be {expected}"));
    }
    found
}

/// Equal bits; NaNs, whose bits Julia leaves open, equal one another.
fn same(a: Constant, b: Constant) -> bool {
    a == b || matches!((a.as_float(), b.as_float()), (Some(a), Some(b)) if a.is_nan() && b.is_nan())
}
