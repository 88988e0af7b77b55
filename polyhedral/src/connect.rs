//! Layer IV by default: what moves between host and device, and when.

use crate::algorithm::{Algorithm, ArrayId, ArrayKind};
use crate::dependence::{self, Dependence, live_in};
use crate::error::Error;
use crate::isl::{Ctx, Set};
use crate::layers::{Connected, Direction, Lifetime, MemorySpace, Moment, Placed, Transfer};
use crate::relation;
use crate::schedule::Path;

/// Derives the transfers: what is read from the caller once in, what is written once out, nothing in between.
pub fn connect(ctx: &Ctx, placed: Placed, dependences: &[Dependence]) -> Result<Connected, Error> {
    let is_device = |space: MemorySpace| matches!(space, MemorySpace::Global | MemorySpace::Constant { .. });
    if !placed.layout.buffers.iter().any(|buffer| is_device(buffer.space)) {
        return Ok(Connected { placed, transfers: vec![] });
    }
    // Pieces touch together what the whole statements do, unless copies for promotions touch more.
    let whole = placed.scheduled.algorithm.whole.as_ref().filter(|_| placed.source.is_none());
    let renewed = whole.map(|whole| dependence::dependences(ctx, &whole.algorithm)).transpose()?;
    let algorithm = whole.map_or(&placed.scheduled.algorithm, |whole| &whole.algorithm);
    let flows = live_in(ctx, algorithm, renewed.as_deref().unwrap_or(dependences))?;
    let mut transfers = vec![];
    for (array, placement) in &placed.layout.placements {
        let buffer = placed.layout.buffer(placement.buffer);
        if !is_device(buffer.space) || buffer.lifetime != Lifetime::Argument(*array) {
            continue;
        }
        let root = Path::default;
        let reads_entry = flows
            .iter()
            .filter(|flow| algorithm.access(flow.read).array == *array)
            .try_fold(false, |found, flow| Ok::<_, Error>(found || !flow.live_in.is_empty()?))?;
        let is_argument = algorithm.array(*array).kind == ArrayKind::Argument;
        let written = algorithm.is_written(*array);
        if is_argument && (reads_entry || (written && !overwritten(ctx, algorithm, *array)?)) {
            let direction = Direction::HostToDevice;
            transfers.push(Transfer { buffer: placement.buffer, direction, at: root(), moment: Moment::Before });
        }
        if written {
            let direction = Direction::DeviceToHost;
            transfers.push(Transfer { buffer: placement.buffer, direction, at: root(), moment: Moment::After });
        }
    }
    Ok(Connected { placed, transfers })
}

/// Whether unconditional writes cover the whole array.
fn overwritten(ctx: &Ctx, algorithm: &Algorithm, array: ArrayId) -> Result<bool, Error> {
    let whole = relation::index_set(ctx, algorithm, array)?.intersect_params(&algorithm.context)?;
    let mut written: Option<Set> = None;
    for id in algorithm.ids() {
        let computation = algorithm.computation(id);
        if computation.write.array != array || !computation.writes_for_certain() {
            continue;
        }
        let range = relation::access(ctx, algorithm, id, &computation.write)?.range()?;
        written = Some(match written {
            None => range,
            Some(others) => others.union(&range)?,
        });
    }
    match written {
        None => Ok(false),
        Some(written) => Ok(whole.is_subset(&written)?),
    }
}
