//! Layer IV by default: what moves between host and device, and when.

use crate::algorithm::{Algorithm, ArrayId, ArrayKind};
use crate::dependence::{Dependence, live_in};
use crate::error::Error;
use crate::isl::{Ctx, Set};
use crate::layers::{Connected, Direction, Lifetime, MemorySpace, Moment, Placed, Transfer};
use crate::relation;
use crate::schedule::Path;

/// Derives the transfers: what is read from the caller once in, what is written once out, nothing in between.
pub fn connect(ctx: &Ctx, placed: Placed, dependences: &[Dependence]) -> Result<Connected, Error> {
    let algorithm = &placed.scheduled.algorithm;
    let flows = live_in(ctx, algorithm, dependences)?;
    let mut transfers = vec![];
    for (array, placement) in &placed.layout.placements {
        let buffer = placed.layout.buffer(placement.buffer);
        let on_device = matches!(buffer.space, MemorySpace::Global | MemorySpace::Constant { .. });
        if !on_device || buffer.lifetime != Lifetime::Argument(*array) {
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
