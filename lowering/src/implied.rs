//! Conditions on parts of arrays that the accesses to their elements make sure of anyway.

use crate::spans::SpanTable;
use tessella_polyhedral::algorithm::{Algorithm, Requirement, SizeError};
use tessella_polyhedral::bounds;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::{Ctx, Set};
use tessella_polyhedral::known::Known;

/// Leaves out what an access to an element that is outside finds, and says better: `x[1:k]` of which all elements are read.
pub(crate) fn without_implied(ctx: &Ctx, algorithm: &mut Algorithm, spans: &mut SpanTable) -> Result<(), Error> {
    let is_of_places = |requirement: &Requirement| requirement.error == SizeError::Bounds;
    if !algorithm.requirements.iter().any(is_of_places) {
        return Ok(());
    }
    let others: Vec<Requirement> = algorithm.requirements.iter().filter(|it| !is_of_places(it)).cloned().collect();
    let bare = Algorithm { requirements: others.clone(), ..algorithm.clone() };
    let mut known = Known::new(&algorithm.context);
    for requirement in &others {
        known.learn(&requirement.holds)?;
    }
    for check in bounds::entry_checks(ctx, &bare)? {
        // What data decide about is no certain failure.
        if !algorithm.access(check.access).conditional {
            known.learn(&check.holds)?;
        }
    }
    let mut kept = vec![];
    for (at, requirement) in algorithm.requirements.iter().enumerate() {
        let later = &algorithm.requirements[at + 1..];
        let is_implied = is_of_places(requirement)
            && known.implies(&requirement.holds)?
            && fails_first(&algorithm.context, requirement, later)?;
        if !is_implied {
            kept.push(at);
        }
    }
    algorithm.requirements = kept.iter().map(|&at| algorithm.requirements[at].clone()).collect();
    spans.requirements = kept.iter().map(|&at| spans.requirements[at]).collect();
    Ok(())
}

/// Whether no other error would be told instead, of what the source comes to later.
fn fails_first(context: &Set, requirement: &Requirement, later: &[Requirement]) -> Result<bool, Error> {
    let fails = context.subtract(&requirement.holds)?;
    for other in later.iter().filter(|it| !matches!(it.error, SizeError::Bounds | SizeError::Thrown)) {
        if !fails.is_subset(&other.holds)? {
            return Ok(false);
        }
    }
    Ok(true)
}
