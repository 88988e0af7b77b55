//! The entry function: its signature, and what it checks before anything runs.
//!
//! The C interface, the same for every target and for text as for compiled code: for each Julia argument in order, an
//! array is a pointer followed by its extents, then those strides (in elements) and first indices that are given at run
//! time (`int64_t` each), a scalar is itself (`Bool` as `uint8_t`); then for each scalar and each new array that the
//! function gives back, a pointer to memory for it; and last, if there are such arrays, a pointer for their extents:
//! where it is not null, the extents are written there and nothing else is done. The result is one of the status codes
//! below.

use crate::error::CodegenError;
use crate::from_ast::{Scope, condition, negate};
use crate::input::Input;
use crate::int_expr::{Cond, IntExpr};
use crate::names::{Namer, Names, function_name};
use tessella_polyhedral::affine::ParamId;
use tessella_polyhedral::algorithm::{Argument, ArrayId, ArrayKind, ParamOrigin, ScalarId, Which};
use tessella_polyhedral::derived::Derived;
use tessella_polyhedral::isl::{AstBuild, Set};
use tessella_polyhedral::known::Known;
use tessella_polyhedral::layers::{BufferId, Lifetime, MemorySpace};
use tessella_polyhedral::print;
use tessella_polyhedral::relation::{concerning, involved};
use tessella_scalar::ScalarType;

/// All went well.
pub const STATUS_OK: i32 = 0;
/// Two array arguments overlap in memory and at least one is written; nothing has been written.
pub const STATUS_OVERLAP: i32 = -1;
/// Memory ran out; nothing has been written.
pub const STATUS_OUT_OF_MEMORY: i32 = -2;
/// A parameter is outside of what the program was made for; nothing has been written.
pub const STATUS_OUT_OF_CONTEXT: i32 = -3;
/// The GPU or its driver failed; if it did while arrays were copied back, those before are written.
pub const STATUS_DEVICE_FAILED: i32 = -4;
/// A kernel needs more blocks than a grid can have, or than run at once; nothing has been written to the arguments.
pub const STATUS_GRID_TOO_LARGE: i32 = -5;
/// A test in the run has failed; the arguments hold again what they held before.
pub const STATUS_FAILED_LATER: i32 = -6;
/// A float that an integer is worked out from at entry has none; nothing has been written.
pub const STATUS_NO_INTEGER: i32 = -7;

/// The most blocks of a grid along x, y, z.
pub const MAX_GRID: [i64; 3] = [2_147_483_647, 65_535, 65_535];

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// In the order of the C signature.
    pub parameters: Vec<EntryParameter>,
    /// Parameters of the algorithm that no C parameter is named after, and the extent that each is.
    pub aliases: Vec<(ParamId, ArrayId, u32)>,
    /// Parameters that are scalar arguments of narrower types than `int64_t`.
    pub widened: Vec<(ParamId, ScalarId)>,
    /// Parameters that those before them and scalars give, and how. One that scalars give and that is [`NO_VALUE`] ends the call with
    /// [`STATUS_NO_INTEGER`] before all checks.
    ///
    /// [`NO_VALUE`]: tessella_polyhedral::derived::NO_VALUE
    pub derived: Vec<(ParamId, Derived)>,
    /// What must hold of the algorithm's parameters, else [`STATUS_OUT_OF_CONTEXT`].
    pub context: Cond,
    /// Pairs of array arguments that must not overlap, else [`STATUS_OVERLAP`].
    pub apart: Vec<(ArrayId, ArrayId)>,
    /// Array arguments with strides that are written: no two elements of one may share memory, else
    /// [`STATUS_OVERLAP`].
    pub unfolded: Vec<ArrayId>,
    /// Tested in order after the context; the first that fails gives its number as status.
    pub checks: Vec<Check>,
    /// What the entry writes where it is asked for the extents of the arrays that it gives back: all of them, in the
    /// order of the parameters.
    pub sizes: Vec<IntExpr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryParameter {
    Pointer(ArrayId),
    /// `size(array, axis)`, axis from 0; `param` is the algorithm's parameter that it is, if any.
    Extent {
        array: ArrayId,
        axis: u32,
        param: Option<ParamId>,
    },
    /// The distance in memory between neighbours along an axis, in elements.
    Stride {
        array: ArrayId,
        axis: u32,
    },
    /// `firstindex(array, axis)`.
    First {
        array: ArrayId,
        axis: u32,
        param: ParamId,
    },
    Scalar(ScalarId),
    /// Where a scalar result goes.
    Result(ArrayId),
    /// Memory for an array that the function gives back.
    Made(ArrayId),
    /// Where the extents of those arrays go; null in a call that computes.
    Sizes,
}

/// A condition at entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The position in `Verified::checks`, from 1, or in the algorithm's requirements, which are counted after them;
    /// checks that follow from earlier ones are left out.
    pub number: i32,
    pub holds: Cond,
    /// The access that the check protects, as the user would write it, or what is wrong where it fails.
    pub about: String,
}

impl Entry {
    /// The parameters that scalars give, which may be missing.
    pub fn of_scalars(&self) -> impl Iterator<Item = ParamId> {
        self.derived.iter().filter(|(_, value)| matches!(value, Derived::Scalars(_))).map(|(param, _)| *param)
    }
}

/// Names everything that lives as long as the call; gives the namer with all of those names in use.
pub fn name_globals(input: &Input<'_>) -> (Names, Namer) {
    let algorithm = input.algorithm;
    let mut namer = Namer::default();
    let mut names = Names { function: function_name(&algorithm.name), ..Names::default() };
    namer.reserve(&names.function);
    // What calls the entry by a fixed signature, where the text is compiled in memory.
    namer.reserve(&format!("{}_packed", names.function));
    if let Some(scan) = input.scan {
        namer.reserve(&function_name(&scan.algorithm().name));
    }
    names.arrays = algorithm.arrays.iter().map(|it| namer.fresh(&it.name)).collect();
    names.scalars = algorithm.scalars.iter().map(|it| namer.fresh(&it.name)).collect();
    for param in &algorithm.params {
        let name = match param.origin {
            ParamOrigin::Argument(scalar) if algorithm.scalar(scalar).ty == ScalarType::I64 => {
                names.scalars[scalar.0 as usize].clone()
            }
            // Arithmetic in the argument's own type could wrap around.
            ParamOrigin::Argument(_) => namer.fresh(&format!("{}_int64", param.name)),
            ParamOrigin::Extent { .. } | ParamOrigin::First { .. } | ParamOrigin::Derived(_) => {
                namer.fresh(&param.name)
            }
        };
        names.params.push(name);
    }
    for (at, array) in algorithm.arrays.iter().enumerate() {
        let axes = 1..=array.rank;
        names.extents.push(axes.map(|axis| namer.fresh(&format!("{}_size{axis}", names.arrays[at]))).collect());
    }
    for (at, array) in algorithm.arrays.iter().enumerate() {
        let axes =
            array.strided.clone().map(|axis| (axis, namer.fresh(&format!("{}_stride{}", names.arrays[at], axis + 1))));
        names.strides.push(axes.collect());
    }
    let places = algorithm.result.places();
    let scalars = places.iter().filter(|&&array| algorithm.array(array).kind == ArrayKind::Result);
    let several = scalars.clone().count() > 1;
    for (at, &array) in scalars.enumerate() {
        let name = if several { format!("result{}", at + 1) } else { "result".to_string() };
        names.results.insert(array, namer.fresh(&name));
    }
    names.sizes = namer.fresh("sizes");
    for (at, buffer) in input.layout.buffers.iter().enumerate() {
        let same = algorithm.arrays.iter().position(|array| array.name == buffer.name);
        let placed = same.filter(|&array| {
            input.layout.placements.get(&ArrayId(array as u32)).is_some_and(|it| it.buffer.0 as usize == at)
        });
        if let (MemorySpace::Constant { .. }, Lifetime::Argument(array)) = (buffer.space, &buffer.lifetime) {
            // The host has the argument under its own name.
            names.buffers.push(namer.fresh(&format!("{}_constant", names.arrays[array.0 as usize])));
            continue;
        }
        names.buffers.push(match (&buffer.lifetime, placed) {
            // A result that the caller's memory gets at the end.
            (Lifetime::Argument(array), _) if buffer.space == MemorySpace::Register => {
                names.arrays[array.0 as usize].clone()
            }
            (Lifetime::Argument(array), _) => {
                names.results.get(array).unwrap_or(&names.arrays[array.0 as usize]).clone()
            }
            (Lifetime::Call | Lifetime::Node(_) | Lifetime::Children { .. }, Some(array)) => {
                names.arrays[array].clone()
            }
            (Lifetime::Call | Lifetime::Node(_) | Lifetime::Children { .. }, None) => namer.fresh(&buffer.name),
        });
    }
    for id in (0..input.layout.buffers.len() as u32).map(BufferId).filter(|&id| input.is_of_threads(id)) {
        let name = namer.fresh(&format!("{}_memory", names.buffers[id.0 as usize]));
        names.memories.insert(id, name);
    }
    names.computations = algorithm.computations.iter().map(|it| it.name.clone()).collect();
    (names, namer)
}

/// The signature and the checks.
pub fn entry(input: &Input<'_>) -> Result<Entry, CodegenError> {
    let algorithm = input.algorithm;
    let mut parameters = vec![];
    let mut named = vec![false; algorithm.params.len()];
    for argument in &algorithm.arguments {
        match *argument {
            Argument::Scalar(scalar) => parameters.push(EntryParameter::Scalar(scalar)),
            Argument::Array(array) => {
                parameters.push(EntryParameter::Pointer(array));
                for axis in 0..algorithm.array(array).rank {
                    let origin = ParamOrigin::Extent { array, axis };
                    let param = algorithm.params.iter().position(|param| param.origin == origin);
                    if let Some(param) = param {
                        named[param] = true;
                    }
                    let param = param.map(|param| ParamId(param as u32));
                    parameters.push(EntryParameter::Extent { array, axis, param });
                }
                let strided = algorithm.array(array).strided.clone();
                parameters.extend(strided.map(|axis| EntryParameter::Stride { array, axis }));
                for (at, param) in algorithm.params.iter().enumerate() {
                    match param.origin {
                        ParamOrigin::First { array: of, axis } if of == array => {
                            named[at] = true;
                            parameters.push(EntryParameter::First { array, axis, param: ParamId(at as u32) });
                        }
                        ParamOrigin::First { .. }
                        | ParamOrigin::Extent { .. }
                        | ParamOrigin::Argument(_)
                        | ParamOrigin::Derived(_) => {}
                    }
                }
            }
        }
    }
    let mut sizes = vec![];
    for place in algorithm.result.places() {
        let array = algorithm.array(place);
        if array.kind == ArrayKind::Result {
            parameters.push(EntryParameter::Result(place));
            continue;
        }
        parameters.push(EntryParameter::Made(place));
        let extents = array.extents.iter().map(|extent| IntExpr::from_affine(extent, &[]));
        sizes.extend(extents.map(|extent| match extent {
            IntExpr::Param(param) if is_extent(input, param) => extent,
            extent => IntExpr::max_of([extent, IntExpr::Const(0)]),
        }));
    }
    if !sizes.is_empty() {
        parameters.push(EntryParameter::Sizes);
    }
    let aliases =
        algorithm.params.iter().zip(named).enumerate().filter_map(|(at, (param, named))| match param.origin {
            ParamOrigin::Extent { array, axis } if !named => Some((ParamId(at as u32), array, axis)),
            ParamOrigin::Extent { .. }
            | ParamOrigin::First { .. }
            | ParamOrigin::Argument(_)
            | ParamOrigin::Derived(_) => None,
        });
    let aliases = aliases.collect();
    let widened = algorithm.params.iter().enumerate().filter_map(|(at, param)| match param.origin {
        ParamOrigin::Argument(scalar) if algorithm.scalar(scalar).ty != ScalarType::I64 => {
            Some((ParamId(at as u32), scalar))
        }
        ParamOrigin::Extent { .. } | ParamOrigin::First { .. } | ParamOrigin::Argument(_) | ParamOrigin::Derived(_) => {
            None
        }
    });
    let widened = widened.collect();
    let derived = algorithm.params.iter().enumerate().filter_map(|(at, param)| match &param.origin {
        ParamOrigin::Derived(value) => Some((ParamId(at as u32), value.clone())),
        ParamOrigin::Extent { .. } | ParamOrigin::First { .. } | ParamOrigin::Argument(_) => None,
    });
    let derived = derived.collect();
    let scope = Scope::new(&algorithm.param_names());
    let anything = AstBuild::new(algorithm.context.ctx())?;
    let context = condition(&anything.expr_from_set(&algorithm.limited_context()?)?.view()?, &scope)?;
    let (apart, unfolded) = (apart(input), unfolded(input));
    let checks = checks(input, &scope)?;
    Ok(Entry { parameters, aliases, widened, derived, context, apart, unfolded, checks, sizes })
}

/// Whether the parameter is an extent, and so never negative.
fn is_extent(input: &Input<'_>, param: ParamId) -> bool {
    matches!(input.algorithm.param(param).origin, ParamOrigin::Extent { .. })
}

fn array_arguments<'a>(input: &Input<'a>) -> impl Iterator<Item = ArrayId> + use<'a> {
    input.algorithm.arguments.iter().filter_map(|argument| match argument {
        Argument::Array(array) => Some(*array),
        Argument::Scalar(_) => None,
    })
}

/// Array arguments that are written and whose strides might put two elements at one place.
pub fn unfolded(input: &Input<'_>) -> Vec<ArrayId> {
    let algorithm = input.algorithm;
    let strided = array_arguments(input).filter(|&array| !algorithm.array(array).strided.is_empty());
    strided.filter(|&array| algorithm.is_written(array)).collect()
}

/// Pairs of array arguments of which one is written.
pub fn apart(input: &Input<'_>) -> Vec<(ArrayId, ArrayId)> {
    let arrays: Vec<ArrayId> = array_arguments(input).collect();
    let mut pairs = vec![];
    for (at, &first) in arrays.iter().enumerate() {
        for &second in &arrays[at + 1..] {
            if input.algorithm.is_written(first) || input.algorithm.is_written(second) {
                pairs.push((first, second));
            }
        }
    }
    pairs
}

fn checks(input: &Input<'_>, scope: &Scope) -> Result<Vec<Check>, CodegenError> {
    let algorithm = input.algorithm;
    let mut known = Known::new(&algorithm.context);
    let mut checks = vec![];
    for (at, requirement) in algorithm.requirements.iter().enumerate() {
        if known.implies(&requirement.holds)? {
            continue;
        }
        checks.push(Check {
            number: i32::try_from(input.checks.len() + at + 1).unwrap_or(i32::MAX),
            holds: tested(&requirement.holds, &known, scope)?,
            about: requirement.text.clone(),
        });
        known.learn(&requirement.holds)?;
    }
    for (at, check) in input.checks.iter().enumerate() {
        if known.implies(&check.holds)? {
            continue;
        }
        let access = input.source.access(check.access);
        let computation = input.source.computation(check.access.computation);
        let verb = match check.access.which {
            Which::Write => "writes",
            Which::Read(_) => "reads",
        };
        checks.push(Check {
            number: i32::try_from(at + 1).unwrap_or(i32::MAX),
            holds: tested(&check.holds, &known, scope)?,
            about: format!(
                "{} {verb} {}: axis {}",
                computation.name,
                print::access(algorithm, computation, access),
                check.axis + 1
            ),
        });
        known.learn(&check.holds)?;
    }
    Ok(checks)
}

/// The condition as a test. It is read off its opposite, where something runs and something is outside: that mostly
/// has no alternatives.
fn tested(holds: &Set, known: &Known, scope: &Scope) -> Result<Cond, CodegenError> {
    let context = concerning(known.context(), &involved(holds)?)?;
    let fails = context.subtract(holds)?.gist(&context)?.coalesce()?;
    let build = AstBuild::from_context(&context)?;
    Ok(negate(&condition(&build.expr_from_set(&fails)?.view()?, scope)?))
}
