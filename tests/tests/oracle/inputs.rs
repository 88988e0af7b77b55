//! Arguments for a run: small sizes, arrays that mostly just fit.

use crate::examine::Fault;
use crate::instances::Instances;
use crate::program::BOUNDS;
use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use tessella_frontend::typed::tree::Type as ArgumentType;
use tessella_interpreter::{Array, Value};
use tessella_polyhedral::affine::{Affine, Atom};
use tessella_polyhedral::algorithm::{Algorithm, Argument, ArrayId, ArrayKind, ParamOrigin, ScalarId};
use tessella_polyhedral::expr::ExprKind;
use tessella_polyhedral::isl::{Ctx, DimType, Set};
use tessella_scalar::{Constant, ScalarType};

/// The elements of the array that bounds of loops are read from.
pub const BOUND_VALUES: [i64; 2] = [1, 5];

/// Programs with more instances do not run.
pub const MOST: usize = 9000;

/// The parameters that loops, conditions and subscripts depend on, by position.
pub fn drivers(algorithm: &Algorithm) -> Vec<usize> {
    let mut found = BTreeSet::new();
    let mut of_set = |set: &Set| {
        for (at, param) in algorithm.params.iter().enumerate() {
            let position =
                set.space().ok().and_then(|space| space.find_dim_by_name(DimType::Param, &param.name).ok()?);
            if position.is_some_and(|position| set.involves_dims(DimType::Param, position, 1).unwrap_or(true)) {
                found.insert(at);
            }
        }
    };
    for computation in &algorithm.computations {
        of_set(&computation.domain);
        computation.reads.iter().filter_map(|read| read.within.as_ref()).for_each(&mut of_set);
    }
    for computation in &algorithm.computations {
        for access in computation.reads.iter().chain([&computation.write]) {
            let affine = access.subscripts.iter().filter_map(|subscript| subscript.as_affine());
            affine.for_each(|subscript| params_of(subscript, &mut found));
        }
        let lets = computation.lets.iter().map(|it| &it.value);
        for expr in computation.predicate.iter().chain(lets).chain([&computation.value]) {
            expr.walk(&mut |expr| {
                if let ExprKind::Index(affine) = &expr.kind {
                    params_of(affine, &mut found);
                }
            });
        }
    }
    found.into_iter().collect()
}

fn params_of(affine: &Affine, found: &mut BTreeSet<usize>) {
    for (atom, _) in affine.terms() {
        match atom {
            Atom::Param(param) => {
                found.insert(param.0 as usize);
            }
            Atom::FloorDiv(inner, _) => params_of(inner, found),
            Atom::Iterator(_) => {}
        }
    }
}

/// Scalar arguments that are no parameters, but give some.
type Scalars = BTreeMap<ScalarId, Constant>;

fn scalars(algorithm: &Algorithm, random: &mut Random) -> Scalars {
    let read = algorithm.params.iter().filter_map(|param| match &param.origin {
        ParamOrigin::Derived(derived) => Some(derived.scalars()),
        ParamOrigin::Extent { .. } | ParamOrigin::First { .. } | ParamOrigin::Argument(_) => None,
    });
    let read: BTreeSet<ScalarId> = read.flatten().collect();
    let open = read.into_iter().filter(|id| algorithm.params.iter().all(|it| it.origin != ParamOrigin::Argument(*id)));
    open.map(|id| (id, number(algorithm.scalar(id).ty, random))).collect()
}

/// Gives parameters that others and scalars give their values.
fn derive(algorithm: &Algorithm, params: &mut [i64], scalars: &Scalars) {
    for (at, param) in algorithm.params.iter().enumerate() {
        if let ParamOrigin::Derived(derived) = &param.origin {
            let of_param = |id| algorithm.params.iter().position(|param| param.origin == ParamOrigin::Argument(id));
            let value = |id| match of_param(id) {
                Some(at) => Some(Constant::i64(params[at])),
                None => scalars.get(&id).copied(),
            };
            params[at] = derived.evaluate(params, &value);
        }
    }
}

/// Parameter values from 0 to 6: all of one, some of several.
pub fn small_parameters(algorithm: &Algorithm, random: &mut Random) -> Vec<Vec<i64>> {
    let drivers = drivers(algorithm);
    let scalars = scalars(algorithm, random);
    let with = |values: &[i64]| {
        let mut params = vec![0; algorithm.params.len()];
        for (&at, &value) in drivers.iter().zip(values) {
            params[at] = value;
        }
        derive(algorithm, &mut params, &scalars);
        params
    };
    match drivers.len() {
        0 => vec![with(&[])],
        1 => (0..=6).map(|value| with(&[value])).collect(),
        count => (0..7).map(|_| with(&(0..count).map(|_| random.between(0, 6)).collect::<Vec<_>>())).collect(),
    }
}

/// Arguments, and the values of the parameters.
pub type Inputs = (Vec<Value>, Vec<i64>);

/// Random arguments and the parameters' values; `None` if they would make too many instances.
pub fn arguments(
    ctx: &Ctx,
    algorithm: &Algorithm,
    types: &[ArgumentType],
    most: i64,
    random: &mut Random,
) -> Result<Option<Inputs>, Fault> {
    let drivers = drivers(algorithm);
    let mut params = vec![0; algorithm.params.len()];
    let scalars = scalars(algorithm, random);
    let most = *random.pick(&[most / 3, most / 2, most / 2, most - 2, most]);
    for &at in &drivers {
        params[at] = random.between(0, most);
    }
    derive(algorithm, &mut params, &scalars);
    let listed = Instances::new(ctx, algorithm, &params, MOST);
    let listed = listed.map_err(|error| Fault { kind: "enumeration", text: format!("{error:?}") })?;
    let Some(instances) = listed else { return Ok(None) };
    let mut largest: BTreeMap<(ArrayId, u32), i64> = BTreeMap::new();
    for touch in instances.touched.iter().flatten() {
        for (axis, &subscript) in touch.element.iter().enumerate() {
            let sofar = largest.entry((touch.array, axis as u32)).or_insert(0);
            *sofar = (*sofar).max(subscript);
        }
    }
    for (at, param) in algorithm.params.iter().enumerate() {
        if let ParamOrigin::Extent { array, axis } = param.origin
            && !drivers.contains(&at)
        {
            let fitting = largest.get(&(array, axis)).copied().unwrap_or(0);
            params[at] = (fitting + [0, 1, 2, -1][random.weighted(&[60, 15, 15, 10])]).clamp(0, 60);
        }
    }
    derive(algorithm, &mut params, &scalars);
    let mut values = vec![];
    for (argument, ty) in algorithm.arguments.iter().zip(types) {
        values.push(match (argument, ty) {
            (Argument::Scalar(id), ArgumentType::Scalar(scalar)) => {
                let param = algorithm.params.iter().position(|param| param.origin == ParamOrigin::Argument(*id));
                Value::Scalar(match param {
                    Some(at) => Constant::i64(params[at]),
                    None => scalars.get(id).copied().unwrap_or_else(|| number(*scalar, random)),
                })
            }
            (Argument::Array(id), ArgumentType::Array { element, .. }) => {
                let array = algorithm.array(*id);
                debug_assert_eq!(array.kind, ArrayKind::Argument);
                let extents = array.extents.iter().map(|it| it.evaluate(&[], &params).unwrap_or(0).max(0) as u64);
                let made = Array::from_fn(*element, extents.collect(), |_| match array.name == BOUNDS {
                    true => Constant::i64(random.between(BOUND_VALUES[0], BOUND_VALUES[1])),
                    false => number(*element, random),
                });
                Value::Array(made.map_err(|error| Fault { kind: "inputs", text: error.to_string() })?)
            }
            _ => return Err(Fault { kind: "inputs", text: "arguments of another kind than the function's".into() }),
        });
    }
    Ok(Some((values, params)))
}

/// Numbers that are often equal to one another and to constants of the programs.
fn number(ty: ScalarType, random: &mut Random) -> Constant {
    let quarters = random.between(-8, 12);
    match ty {
        ScalarType::F64 => Constant::f64(quarters as f64 / 4.0 + if random.percent(50) { 0.1 } else { 0.0 }),
        ScalarType::F32 => Constant::f32(quarters as f32 / 4.0 + if random.percent(50) { 0.1 } else { 0.0 }),
        _ => Constant::integer(ty, i128::from(random.between(-5, 7))),
    }
}
