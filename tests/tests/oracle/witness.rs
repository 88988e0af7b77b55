//! Witnesses of refusals, held against the program's instances.

use crate::examine::{Fault, fault};
use crate::instances::{Instance, Order, order, subscript};
use crate::subject::enumeration;
use tessella_polyhedral::algorithm::{AccessRef, Algorithm, ArrayId, SizeError};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::{Ctx, DimType, Set, Val};
use tessella_polyhedral::legality::Violation;
use tessella_polyhedral::schedule::Schedule;

/// Whether the sizes are among those that the schedule is for.
pub fn is_assumed(ctx: &Ctx, algorithm: &Algorithm, params: &[i64]) -> Result<bool, Fault> {
    let assumed = algorithm.requirements.iter().filter(|it| it.error == SizeError::Assumption);
    for requirement in assumed {
        if !contains(ctx, algorithm, &requirement.holds, &[], params).map_err(enumeration)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The witness of a refusal is a pair of instances that conflict, and that the refused order does not keep in order.
pub fn check_witness(
    ctx: &Ctx,
    algorithm: &Algorithm,
    refused: Option<&Schedule>,
    violation: &Violation,
) -> Result<(), Fault> {
    let (params, first, second) = check_conflict(ctx, algorithm, violation)?;
    match refused {
        Some(refused) if order(refused, &params, &first, &second) == Order::Before => {
            wrong("the refused order keeps the pair", violation)
        }
        Some(_) => Ok(()),
        None => wrong("there is no refused order", violation),
    }
}

fn wrong<T>(text: &str, violation: &Violation) -> Result<T, Fault> {
    fault("false witness", format!("{text}: {violation:?}"))
}

/// The sizes and the pair of a witness, which conflict for these sizes and have an order in the source.
pub fn check_conflict(
    ctx: &Ctx,
    algorithm: &Algorithm,
    violation: &Violation,
) -> Result<(Vec<i64>, Instance, Instance), Fault> {
    let witness = &violation.witness;
    let value = |name: &String| witness.params.iter().find(|(known, _)| known == name).map_or(0, |(_, value)| *value);
    let params: Vec<i64> = algorithm.param_names().iter().map(value).collect();
    let first = Instance { computation: violation.source.computation, at: witness.source.clone() };
    let second = Instance { computation: violation.sink.computation, at: witness.sink.clone() };
    if !is_assumed(ctx, algorithm, &params)? {
        return wrong("the schedule is not for these sizes", violation);
    }
    let touched = |instance, access| element(ctx, algorithm, instance, access, &params).map_err(enumeration);
    match (touched(&first, violation.source)?, touched(&second, violation.sink)?) {
        (Some(a), Some(b)) if may_be_one(&a, &b) => {}
        (Some(_), Some(_)) => return wrong("the instances access different elements", violation),
        _ => return wrong("an instance does not exist", violation),
    }
    if order(&algorithm.source_order, &params, &first, &second) != Order::Before {
        return wrong("the source does not run the first before the second", violation);
    }
    Ok((params, first, second))
}

/// An array, and subscripts, with `None` for those that data say.
type Element = (ArrayId, Vec<Option<i64>>);

/// Whether elements are the same one for some data.
fn may_be_one((array, a): &Element, (other, b): &Element) -> bool {
    array == other && a.iter().zip(b).all(|(a, b)| a.is_none() || b.is_none() || a == b)
}

/// The element that an instance accesses; `None` if there is no such instance, or it does not perform the access.
fn element(
    ctx: &Ctx,
    algorithm: &Algorithm,
    instance: &Instance,
    at: AccessRef,
    params: &[i64],
) -> Result<Option<Element>, Error> {
    let access = algorithm.access(at);
    let domain = algorithm.computation(at.computation).domain.intersect_params(&algorithm.context)?;
    for set in [Some(&domain), access.within.as_ref()].into_iter().flatten() {
        if !contains(ctx, algorithm, set, &instance.at, params)? {
            return Ok(None);
        }
    }
    let subscripts = access.subscripts.iter().map(|it| subscript(it, &instance.at, params)).collect();
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
