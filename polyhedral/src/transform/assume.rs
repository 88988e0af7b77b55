//! Commands about sizes: assume.

use crate::algorithm::{Requirement, SizeError};
use crate::condition::{Condition, resolve};
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::Scheduled;

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
    scheduled.algorithm.requirements.push(Requirement { holds, error: SizeError::Assumption, text });
    Ok(scheduled)
}
