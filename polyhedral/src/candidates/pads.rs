//! Tessella's own choice with arrays padded as the model of layouts says, where sizes are known.

use super::{Candidate, Family};
use crate::auto::padded::Padded;
use crate::auto::padding;
use crate::command::Command;
use crate::default_order;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::Scheduled;

/// One padding for each array that the function makes itself and that gains by it, all of them together, and none of Tessella's own;
/// and how many paddings were weighed.
pub(super) fn paddings(
    ctx: &Ctx,
    start: &Scheduled,
    dependences: &[Dependence],
    own: &[Command],
    params: &[i64],
) -> Result<(Vec<Candidate>, usize), Error> {
    let weighed = padding::weighed(&start.algorithm, start.target, &start.machine, Some(params));
    let is_pad = |command: &Command| matches!(command, Command::Pad { .. });
    let plain: Vec<Command> = own.iter().filter(|it| !is_pad(it)).cloned().collect();
    let mut found: Vec<Vec<Command>> = vec![];
    if weighed > 0 {
        let ordered = default_order::schedule(ctx, start, dependences)?;
        let all = padding::arrays(&ordered.algorithm, &ordered.schedule, start.target, &start.machine, Some(params))?;
        let pads: Vec<Command> = all.iter().map(Padded::command).collect();
        found.extend(pads.iter().map(|pad| [plain.as_slice(), std::slice::from_ref(pad)].concat()));
        found.push([plain.clone(), pads].concat());
    }
    if plain.len() < own.len() {
        found.push(plain);
    }
    let mut known: Vec<Vec<Command>> = vec![own.to_vec()];
    found.retain(|it| {
        let is_new = !known.contains(it);
        known.push(it.clone());
        is_new
    });
    let found = found.into_iter().map(|commands| Candidate { family: Family::Padding, commands, predicted: None });
    let found: Vec<Candidate> = found.collect();
    let weighed = weighed.max(found.len());
    Ok((found, weighed))
}
