//! Whether the numbers of a schedule fit the generated code's integers.

use crate::affine::{Affine, AffineOverflow, Atom};
use crate::error::Error;
use crate::isl::{Ctx, Val};
use crate::layers::Scheduled;
use crate::relation;
use crate::schedule::{Loop, Node};

/// Loops run within this, so that bounds a step beyond them fit 64 bits, too.
const LIMIT: i64 = 1 << 62;
/// An estimate below this needs no proof.
const SURELY_SMALL: i128 = 1 << 50;
/// What an iterator or parameter is taken for in the estimate.
const TYPICAL: i128 = 1 << 40;

/// Refuses a schedule that has a loop whose values pass 2^62 for parameters of the context.
///
/// # Errors
/// [`AffineOverflow`].
pub fn check(ctx: &Ctx, scheduled: &Scheduled) -> Result<(), Error> {
    below(ctx, scheduled, &scheduled.schedule.root)
}

fn below(ctx: &Ctx, scheduled: &Scheduled, node: &Node) -> Result<(), Error> {
    match node {
        Node::Computation(_) => Ok(()),
        Node::Sequence(children) => children.iter().try_for_each(|child| below(ctx, scheduled, child)),
        Node::Loop(it) => {
            values(ctx, scheduled, it)?;
            below(ctx, scheduled, &it.body)
        }
    }
}

fn values(ctx: &Ctx, scheduled: &Scheduled, it: &Loop) -> Result<(), Error> {
    for (&id, at) in &it.at {
        // Tiles of tiles divide by the product of their sizes.
        if divisors(at) > i128::from(LIMIT) {
            return Err(AffineOverflow.into());
        }
        if estimate(at) < SURELY_SMALL {
            continue;
        }
        let domain = relation::domain(&scheduled.algorithm, id)?;
        let domain = domain.intersect_params(&scheduled.algorithm.limited_context()?)?;
        let taken = relation::function(ctx, &scheduled.algorithm, id, at)?.intersect_domain(&domain)?.range()?;
        if taken.is_empty()? {
            continue;
        }
        let small = |value: Val| value.to_i64().is_some_and(|value| (-LIMIT..=LIMIT).contains(&value));
        if !small(taken.dim_min_val(0)?) || !small(taken.dim_max_val(0)?) {
            return Err(AffineOverflow.into());
        }
    }
    Ok(())
}

/// The largest product of divisors that stand in one another.
fn divisors(value: &Affine) -> i128 {
    let each = value.terms().iter().map(|(atom, _)| match atom {
        Atom::Iterator(_) | Atom::Param(_) => 1,
        Atom::FloorDiv(inner, divisor) => divisors(inner).saturating_mul(i128::from(*divisor)),
    });
    each.fold(1, i128::max)
}

/// Refuses an expression of sizes that may pass 2^62, as a whole or as the sum of some of its terms.
///
/// # Errors
/// [`AffineOverflow`].
pub fn check_sizes(value: &Affine) -> Result<(), AffineOverflow> {
    if within(value) <= i128::from(LIMIT) { Ok(()) } else { Err(AffineOverflow) }
}

fn estimate(value: &Affine) -> i128 {
    value.terms().iter().fold(i128::from(value.constant_term()).abs(), |sum, (atom, factor)| {
        let size = match atom {
            Atom::Iterator(_) | Atom::Param(_) => TYPICAL,
            Atom::FloorDiv(inner, divisor) => estimate(inner) / i128::from(*divisor) + 1,
        };
        sum.saturating_add(i128::from(*factor).abs().saturating_mul(size))
    })
}

/// The most that an expression comes to, or anything that is worked out on the way to it: what is divided is itself a number of the code,
/// and rounding down may add the divisor to it first.
fn within(value: &Affine) -> i128 {
    let on_the_way = value.terms().iter().map(|(atom, _)| match atom {
        Atom::Iterator(_) | Atom::Param(_) => 0,
        Atom::FloorDiv(inner, divisor) => within(inner).saturating_add(i128::from(*divisor)),
    });
    on_the_way.fold(estimate(value), i128::max)
}
