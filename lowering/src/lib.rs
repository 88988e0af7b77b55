//! From typed trees to algorithms: loops become iteration domains, subscripts become access relations, scalar variables
//! become lets or private arrays. And from `@schedule` blocks to scheduling commands.
//!
//! The crate decides no order: [`Lowered::algorithm`] runs as the source does.
//!
//! ```text
//! for j in 2:n-1, i in 2:m-1          { S[j, i] : 2 <= j <= n - 1 and 2 <= i <= m - 1 }
//!     @comp S B[i,j] = A[i-1,j]       S[j, i] -> B[i, j], reads A[i - 1, j]
//! end
//! ```

mod apart;
mod best;
mod choices;
mod components;
mod computation;
mod counters;
mod derived;
mod emit;
mod error;
mod expr;
mod extremes;
mod fitting;
mod formula;
mod given;
mod implied;
mod inside;
mod late;
mod local_array;
mod looked;
mod names;
mod narrow;
mod nest;
mod params;
mod ranges;
mod scan;
pub mod schedule;
mod spans;
mod stepped;
mod symbolic;
mod typed;
mod values;

#[cfg(test)]
mod tests;

pub use error::{Changes, LowerError, NotAffine, RangeEnd, Reason};
pub use spans::SpanTable;

use derived::Meaning;
use tessella_frontend::typed::tree::{Expr, Function, LocalId};
use tessella_polyhedral::algorithm::Algorithm;
use tessella_polyhedral::isl::Ctx;

/// A function as an algorithm, and where the source has its parts.
#[derive(Debug, Clone)]
pub struct Lowered {
    pub algorithm: Algorithm,
    pub spans: SpanTable,
}

/// When it may be found out whether subscripts and values are what they have to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checks {
    /// At entry, before anything is written.
    AtEntry,
    /// Where that is too early, while the function runs: [`Algorithm::failed`] says at the end whether something was wrong.
    AtEntryOrLater,
}

/// In which order loops that look for the best value do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Searches {
    /// As the source has them: one value after the other.
    InOrder,
    /// As two reductions, which read the values twice and have no order: what many threads are faster at, but not one.
    InAnyOrder,
}

/// Recovers the computations of a function.
///
/// The algorithm's context says what entry checks must ensure: extents between 0 and 2^40, integer arguments between
/// -2^40 and 2^40. Within it no affine expression wraps around.
///
/// # Errors
/// Every subscript and loop bound that is not quasi-affine, every label that is used twice, and a function without any
/// computation.
pub fn lower(ctx: &Ctx, function: &Function, checks: Checks, searches: Searches) -> Result<Lowered, Vec<LowerError>> {
    if let Some(other) = choices::rewrite(function)
        && let Ok(lowered) = lower_chosen(ctx, &other, checks, searches)
    {
        return Ok(lowered);
    }
    lower_chosen(ctx, function, checks, searches)
}

/// [`lower`], for a function whose branches are values where they may be.
fn lower_chosen(
    ctx: &Ctx,
    function: &Function,
    checks: Checks,
    searches: Searches,
) -> Result<Lowered, Vec<LowerError>> {
    let given::Rewritten { function: other, found } = given::rewrite(function);
    let is_other = !found.is_empty();
    lower_given(ctx, &other, found, checks, searches).or_else(|errors| match is_other {
        true => lower_given(ctx, function, vec![], checks, searches).map_err(|_| errors),
        false => Err(errors),
    })
}

/// [`lower`], for a function that has arguments of its own for what entry works out.
fn lower_given(
    ctx: &Ctx,
    function: &Function,
    given: Vec<(LocalId, Expr)>,
    checks: Checks,
    searches: Searches,
) -> Result<Lowered, Vec<LowerError>> {
    let prepared = |function: &Function| fitting::rewrite(&counters::rewrite(&stepped::rewrite(function)));
    let of_scalars = || given.iter().map(|(id, value)| (*id, Meaning::Scalars(value.clone()))).collect();
    if searches == Searches::InAnyOrder
        && let Some(other) = best::rewrite(function)
        && let Ok(lowered) = lower_prepared(ctx, derived::rewrite(&prepared(&other), of_scalars()), checks)
    {
        return Ok(lowered);
    }
    let function = prepared(function);
    let with_derived = derived::rewrite(&function, of_scalars());
    let is_other = with_derived.derived.len() > given.len();
    lower_prepared(ctx, with_derived, checks).or_else(|errors| match is_other {
        // Sizes of their own have limits, which what they stand for need not have.
        true => lower_prepared(ctx, derived::Rewritten { function, derived: of_scalars() }, checks).map_err(|_| errors),
        false => Err(errors),
    })
}

fn lower_prepared(ctx: &Ctx, rewritten: derived::Rewritten, checks: Checks) -> Result<Lowered, Vec<LowerError>> {
    let derived::Rewritten { function, derived } = rewritten;
    let errors = match nest::lower(ctx, &ranges::rewrite(&function), &derived, None) {
        Ok(lowered) => return Ok(lowered),
        Err(errors) => errors,
    };
    match checks {
        Checks::AtEntry => Err(errors),
        Checks::AtEntryOrLater => lower_with_tests(ctx, &function, &derived, &errors).ok_or_else(|| {
            // What only comes too late for entry would be tested on the way if nothing else were wrong.
            let (late, other): (Vec<_>, Vec<_>) = errors.into_iter().partition(|error| error.testable().is_some());
            if other.is_empty() { late } else { other }
        }),
    }
}

/// The function with tests in place of checks at entry that these errors say are too early.
fn lower_with_tests(
    ctx: &Ctx,
    function: &Function,
    derived: &[(LocalId, Meaning)],
    errors: &[LowerError],
) -> Option<Lowered> {
    let places = late::places(errors)?;
    [late::Unchecked::AtEntry, late::Unchecked::OnTheWay]
        .into_iter()
        .find_map(|unchecked| lower_tested(ctx, function, derived, places.clone(), unchecked))
}

/// The same, with tests at these places, and at more where entry turns out to be too early.
fn lower_tested(
    ctx: &Ctx,
    function: &Function,
    derived: &[(LocalId, derived::Meaning)],
    mut places: late::Places,
    unchecked: late::Unchecked,
) -> Option<Lowered> {
    loop {
        let late::Tested { function, failed } = late::rewrite(function, &places, unchecked)?;
        let found = match nest::lower(ctx, &ranges::rewrite(&function), derived, Some(failed)) {
            Ok(lowered) => return Some(lowered),
            Err(found) => found,
        };
        let before = places.len();
        places.extend(late::places(&found)?);
        if places.len() == before {
            return None;
        }
    }
}
