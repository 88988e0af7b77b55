//! Executes loop programs: what a schedule made of a function, held against the function itself.
//!
//! Slow and obvious, like the interpreter of typed trees, and sharing nothing with the writers of C and CUDA. Every
//! access is held against its buffer's extents, reading what nothing stored is an error, and so are two iterations of
//! a loop without an order (parallel, vector, blocks and threads between two barriers) that touch one element, one of
//! them writing. Such loops run in an order shuffled by a seed, so that a result must not depend on it.
//!
//! A [`ScheduledError`] is always a fault of what made the program, never of its user.

mod error;
mod expression;
mod hexagons;
mod host;
mod integer;
mod kernel;
mod memory;
mod places;
mod resident;
mod shuffle;
mod streaming;

pub use error::ScheduledError;

use crate::value::{Array, Value};
use host::Host;
use memory::{Block, Memory, Position};
use shuffle::Shuffle;
use std::collections::BTreeMap;
use tessella_codegen::entry::{STATUS_FAILED_LATER, STATUS_NO_INTEGER, STATUS_OUT_OF_CONTEXT};
use tessella_codegen::{Input, Program};
use tessella_polyhedral::algorithm::{Argument, ArrayId, ArrayKind, ParamOrigin, ScalarId};
use tessella_polyhedral::derived::NO_VALUE;
use tessella_polyhedral::layers::{BufferId, Lifetime, MemorySpace};
use tessella_scalar::Constant;

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completion {
    /// With the scalars and new arrays that the function gives back, in the order of the entry.
    Done(Vec<Value>),
    /// A condition at entry does not hold, or a test on the way failed; nothing was written.
    Refused { status: i32, about: String },
}

/// Runs the program on the arguments of the Julia function, which it may change.
///
/// # Errors
/// Where the program does what no program may; the arguments then are as they were.
pub fn run(
    input: &Input<'_>,
    program: &Program,
    arguments: &mut [Value],
    seed: u64,
) -> Result<Completion, ScheduledError> {
    let params = parameters(input, arguments)?;
    if program.entry.of_scalars().any(|param| params.get(param.0 as usize) == Some(&NO_VALUE)) {
        return Ok(Completion::Refused { status: STATUS_NO_INTEGER, about: "a float has no Int64".into() });
    }
    if !integer::holds(&program.entry.context, &params, &[])? {
        return Ok(Completion::Refused { status: STATUS_OUT_OF_CONTEXT, about: "the sizes are out of range".into() });
    }
    for check in &program.entry.checks {
        if !integer::holds(&check.holds, &params, &[])? {
            return Ok(Completion::Refused { status: check.number, about: check.about.clone() });
        }
    }

    if let (Some(verified), Some(scan)) = (input.scan, &program.scan) {
        let found = run(&Input::from(verified), &scan.program, &mut arguments.to_vec(), seed)?;
        let status = match found {
            Completion::Done(results) => match results.as_slice() {
                [Value::Scalar(status)] => status.bits as i32,
                _ => return Err(ScheduledError::Arguments),
            },
            Completion::Refused { .. } => return Err(ScheduledError::Arguments),
        };
        if status != 0 {
            return Ok(Completion::Refused {
                status: scan.base + status,
                about: "a computed subscript is outside".into(),
            });
        }
    }

    let mut memory = Memory::new(input.layout.buffers.len());
    let mut outside = Memory::new(input.layout.buffers.len());
    for (at, buffer) in input.layout.buffers.iter().enumerate() {
        let id = BufferId(at as u32);
        let fresh = || Block::undefined(input, id, &params);
        let block = match buffer.lifetime {
            Lifetime::Argument(array) => {
                let block = match argument_position(input, array).map(|at| &arguments[at]) {
                    Some(Value::Array(array)) => Block::holding(buffer.name.clone(), array),
                    Some(Value::Scalar(_)) => return Err(ScheduledError::Arguments),
                    None => Block::given_back(input, id, array, &params)?,
                };
                if has_copy(buffer.space) {
                    outside.put(id, block);
                    fresh()?
                } else {
                    block
                }
            }
            Lifetime::Call => fresh()?,
            Lifetime::Node(_) | Lifetime::Children { .. } => continue,
        };
        memory.put(id, block);
    }

    let mut host = Host {
        input,
        program,
        params: &params,
        scalars: scalars(input, arguments)?,
        memory,
        outside,
        variables: vec![],
        position: Position::default(),
        shuffle: Shuffle::new(seed),
        executions: 0,
        offers: BTreeMap::new(),
    };
    match host.whole() {
        Err(ScheduledError::FailedLater) => {
            let about = ScheduledError::FailedLater.to_string();
            return Ok(Completion::Refused { status: STATUS_FAILED_LATER, about });
        }
        ran => ran?,
    }
    let Host { memory, outside, .. } = host;

    let mut returned = vec![];
    let mut written = vec![];
    for (at, buffer) in input.layout.buffers.iter().enumerate() {
        let id = BufferId(at as u32);
        let Lifetime::Argument(array) = buffer.lifetime else { continue };
        if input.algorithm.failed == Some(array) {
            continue;
        }
        let seen_by_caller = if has_copy(buffer.space) { &outside } else { &memory };
        let block = seen_by_caller.block(id).ok_or_else(|| ScheduledError::NoBuffer { buffer: buffer.name.clone() })?;
        match argument_position(input, array) {
            Some(at) => written.push((at, block)),
            // A result that no transfer brought back still reaches the caller.
            None if input.algorithm.array(array).kind == ArrayKind::Result => {
                returned.push((array, Value::Scalar(block.first().or_else(|_| memory_first(&memory, id))?)));
            }
            None => returned.push((array, Value::Array(block.array()?))),
        }
    }
    for (at, block) in written {
        if let Value::Array(array) = &mut arguments[at] {
            for (element, value) in block.defined()?.into_iter().enumerate() {
                array.set(element, value);
            }
        }
    }
    let places = input.algorithm.result.places();
    let given = places.iter().filter_map(|place| returned.iter().find(|(array, _)| array == place));
    Ok(Completion::Done(given.map(|(_, value)| value.clone()).collect()))
}

/// Whether an argument there has a copy in the caller's memory.
fn has_copy(space: MemorySpace) -> bool {
    matches!(space, MemorySpace::Global | MemorySpace::Constant { .. })
}

fn memory_first(memory: &Memory, id: BufferId) -> Result<Constant, ScheduledError> {
    memory.block(id).ok_or(ScheduledError::Arguments)?.first()
}

/// The position among the arguments of the array; `None` for the place of a scalar result.
fn argument_position(input: &Input<'_>, array: ArrayId) -> Option<usize> {
    input.algorithm.arguments.iter().position(|argument| *argument == Argument::Array(array))
}

/// The values of the algorithm's parameters.
///
/// # Errors
/// Arguments that are not those of the function.
pub fn parameters(input: &Input<'_>, arguments: &[Value]) -> Result<Vec<i64>, ScheduledError> {
    let algorithm = input.algorithm;
    let position = |wanted: Argument| algorithm.arguments.iter().position(|argument| *argument == wanted);
    let scalars = scalars(input, arguments)?;
    let scalar = |id: ScalarId| scalars.get(id.0 as usize).copied();
    let value = |origin: &ParamOrigin, before: &[i64]| -> Option<i64> {
        match *origin {
            ParamOrigin::Extent { array, axis } => match arguments.get(position(Argument::Array(array))?)? {
                Value::Array(array) => extent(array, axis),
                Value::Scalar(_) => None,
            },
            ParamOrigin::First { array, axis } => match arguments.get(position(Argument::Array(array))?)? {
                Value::Array(array) => Some(array.first(axis as usize)),
                Value::Scalar(_) => None,
            },
            ParamOrigin::Argument(scalar) => match arguments.get(position(Argument::Scalar(scalar))?)? {
                Value::Scalar(constant) => constant.as_integer().and_then(|value| i64::try_from(value).ok()),
                Value::Array(_) => None,
            },
            ParamOrigin::Derived(ref derived) => Some(derived.evaluate(before, &scalar)),
        }
    };
    let mut params = vec![];
    for param in &algorithm.params {
        params.push(value(&param.origin, &params).ok_or(ScheduledError::Arguments)?);
    }
    Ok(params)
}

fn extent(array: &Array, axis: u32) -> Option<i64> {
    array.extents().get(axis as usize).map(|&extent| extent as i64)
}

/// The values of scalar arguments, by `ScalarId`.
fn scalars(input: &Input<'_>, arguments: &[Value]) -> Result<Vec<Constant>, ScheduledError> {
    let mut scalars = vec![None; input.algorithm.scalars.len()];
    for (argument, value) in input.algorithm.arguments.iter().zip(arguments) {
        if let (Argument::Scalar(id), Value::Scalar(constant)) = (argument, value) {
            scalars[id.0 as usize] = Some(*constant);
        }
    }
    scalars.into_iter().map(|it| it.ok_or(ScheduledError::Arguments)).collect()
}
