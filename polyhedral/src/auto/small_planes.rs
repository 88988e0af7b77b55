//! Streams over small matrices: sizes of their own, chosen when the loop begins.
//!
//! ```text
//! stream t { S; R }  ->  if rows + columns > limit { stream t { S; R } } else { stream t { S_piece1; R_piece1 }, of other sizes }
//! ```
//!
//! A stream that suits large matrices gives few warps work where a matrix is small: fewer points a lane make more strips, and fewer steps
//! make shorter parts pay. What is better for which matrices the model of streams says ([`super::stream`]); the areas of matrices are no
//! affine functions of sizes, so what is compared is the sum of their sides. The statements are cut by the condition
//! ([`crate::transform::pieces_by_size`]), so both streams are proved like any other two; for any sizes one of them has no instances.

use super::by_size::Apart;
use super::stream::{Candidate, LARGE_PLANE, SMALL_PLANE, Ways};
use crate::algorithm::{Algorithm, ComputationId};
use crate::condition::{Condition, greater};
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::legality;
use crate::machine::Gpu;
use crate::schedule::{Loop, Node, Path, Schedule, StreamSize, Tag};
use crate::transform::{of_pieces, simplify};
use std::collections::BTreeSet;

/// So much faster a second stream has to be there.
const GAIN: f64 = 1.17;
/// Sides for which the two are compared, each longer than the one before by a sixth.
const CLOSE: i64 = 6;

/// The program with streams of their own for small matrices where these gain by it; `None` if there are none. Streams of `given` computations
/// stay as they are.
///
/// # Errors
/// Where isl fails, or gives up.
pub(crate) fn apart(
    ctx: &Ctx,
    gpu: &Gpu,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    given: &BTreeSet<ComputationId>,
) -> Result<Option<Apart>, Error> {
    let first = |path: &Path| -> Option<ComputationId> {
        let (it, _) = stream_at(&scheduled.schedule, path)?;
        it.at.keys().next().copied().filter(|id| !given.contains(id))
    };
    let streams = scheduled.schedule.parts().into_iter().filter_map(|path| first(&path));
    Apart::each(scheduled, dependences, streams, |now, first| one_apart(ctx, gpu, now, first))
}

fn stream_at<'a>(schedule: &'a Schedule, path: &Path) -> Option<(&'a Loop, StreamSize)> {
    match schedule.node(path) {
        Some(Node::Loop(it)) => match it.tag {
            Tag::Stream(size) => Some((it, size)),
            _ => None,
        },
        Some(Node::Sequence(_) | Node::Computation(_)) | None => None,
    }
}

/// The stream of a computation with another one beside it.
fn one_apart(ctx: &Ctx, gpu: &Gpu, before: &Apart, first: ComputationId) -> Result<Option<Apart>, Error> {
    let parts = before.scheduled.schedule.parts();
    let here = parts.into_iter().find_map(|path| {
        let (it, size) = stream_at(&before.scheduled.schedule, &path).filter(|(it, _)| it.at.contains_key(&first))?;
        Some((path, it.clone(), size))
    });
    let Some((path, it, size)) = here else { return Ok(None) };
    let plain = Loop { tag: Tag::Sequential, ..it.clone() };
    let ways = Ways::of(ctx, &before.scheduled.algorithm, &plain)?;
    let Some((large, small)) = sizes(gpu, &before.scheduled.algorithm, &ways, size)? else { return Ok(None) };
    let Some((mut now, pieces)) = before.cut(ctx, &it.body.computations(), &large)? else { return Ok(None) };
    let whole = Node::Loop(it);
    let second = match of_pieces(&whole, &pieces) {
        Node::Loop(it) => Node::Loop(Loop { tag: Tag::Stream(small), ..it }),
        other => other,
    };
    let schedule = &mut now.scheduled.schedule;
    let Some(node) = schedule.node_mut(&path) else { return Ok(None) };
    *node = Node::Sequence(vec![whole, second]);
    simplify(&mut schedule.root);
    legality::check(ctx, &now.scheduled.algorithm, &now.scheduled.schedule, &now.dependences)?;
    Ok(Some(now))
}

/// For which matrices a stream of this size is the better one, and the size for all others; `None` where one is enough.
fn sizes(
    gpu: &Gpu,
    algorithm: &Algorithm,
    ways: &Ways,
    size: StreamSize,
) -> Result<Option<(Condition, StreamSize)>, Error> {
    let Some(any) = ways.any() else { return Ok(None) };
    let [Some(columns), None, Some(rows)] = any.axes else { return Ok(None) };
    let Some(field) = any.fields.iter().find(|field| field.carried) else { return Ok(None) };
    let extents = &algorithm.array(field.array).extents;
    let all = extents[columns as usize].add(&extents[rows as usize])?;
    let at = |extent: i64| ways.weighed(gpu, algorithm, Some(extent));
    let time = |all: &[Candidate], size: StreamSize| all.iter().find(|it| it.size == Some(size)).map(|it| it.time);
    let of_small = at(SMALL_PLANE);
    let Some(best) = of_small.iter().find(|it| it.size.is_some()) else { return Ok(None) };
    let (Some(small), Some(before)) = (best.size, time(&of_small, size)) else { return Ok(None) };
    if before < GAIN * best.time {
        return Ok(None);
    }
    let (mut longest, mut side) = (SMALL_PLANE, SMALL_PLANE);
    while side < LARGE_PLANE {
        let of_side = at(side);
        if time(&of_side, small) < time(&of_side, size) {
            longest = side;
        }
        side += side / CLOSE;
    }
    Ok(Some((greater(algorithm, &all, 2 * longest), small)))
}
