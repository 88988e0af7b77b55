//! Commands about sizes: assume, specialize.

use crate::algorithm::{Requirement, SizeError};
use crate::condition::{Condition, resolve};
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{Scheduled, Version};

/// Restricts the program to sizes for which a condition holds.
///
/// Rewrite: `S -> if !condition { fail }; S`. The condition is tested at entry, before anything is written; what follows in
/// the schedule is judged, and its code generated, for these sizes only.
///
/// # Errors
/// As [`resolve`].
pub fn assume(ctx: &Ctx, scheduled: &Scheduled, condition: &Condition) -> Result<Scheduled, Error> {
    let holds = resolve(ctx, &scheduled.algorithm, condition)?;
    let mut scheduled = scheduled.clone();
    let text = format!("the schedule assumes {condition}");
    let requirement = Requirement { holds, error: SizeError::Assumption, text, inside: None };
    // What is told of checks at entry speaks of computations before they were cut into pieces.
    if let Some(whole) = &mut scheduled.algorithm.whole {
        whole.algorithm.requirements.push(requirement.clone());
    }
    scheduled.algorithm.requirements.push(requirement);
    Ok(scheduled)
}

/// Gives sizes for which a condition holds code of their own.
///
/// Rewrite: `S -> if condition { S } else { S }`, the first copy simplified by the condition. Always legal: both run the same
/// order. Of several versions the first whose condition holds runs.
///
/// # Errors
/// As [`resolve`].
pub fn specialize(ctx: &Ctx, scheduled: &Scheduled, condition: &Condition) -> Result<Scheduled, Error> {
    let holds = resolve(ctx, &scheduled.algorithm, condition)?;
    let mut scheduled = scheduled.clone();
    scheduled.versions.push(Version { text: condition.to_string(), holds });
    Ok(scheduled)
}
