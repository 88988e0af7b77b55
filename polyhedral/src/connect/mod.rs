//! Layer IV: what moves between host and device and when, where threads wait, how long memory is there.
//!
//! By default arguments move once, and memory is there for the whole call ([`connect`]). Commands place each of these
//! operations at a loop of the tree ([`carry_out`]), and every placement is proved.

mod barrier;
mod copies;
pub mod error;
mod event;
mod lifetime;
mod parts;
mod place;
mod prefetch;

pub use error::{ConnectError, Freed, Missing};

use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId, ArrayKind};
use crate::command::{Command, Place};
use crate::dependence::{self, Dependence, live_in};
use crate::error::{Error, ScheduleError};
use crate::isl::{Ctx, Set};
use crate::layers::{BufferId, Connected, Direction, Lifetime, MemorySpace, Placed, Target, Transfer};
use crate::relation;
use crate::schedule::Path;
use crate::slices::is_identity;
use crate::storage::{self, Failure};
use event::Order;
use lifetime::Ends;
use parts::Copied;
use place::Found;
use std::collections::BTreeMap;

/// What isl may do to find out for which sizes an array has to come in.
const NEEDED: u64 = 200_000;

/// Derives the transfers: what is read from the caller once in, what is written once out, nothing in between. Of an array that lies in
/// its buffer as it does with the caller, a box around these elements moves. All of the box that goes back is the caller's, so one
/// that is written comes in for those sizes, too, for which some of that is not.
pub fn connect(ctx: &Ctx, placed: Placed, dependences: &[Dependence]) -> Result<Connected, Error> {
    let is_device = |space: MemorySpace| matches!(space, MemorySpace::Global | MemorySpace::Constant { .. });
    if !placed.layout.buffers.iter().any(|buffer| is_device(buffer.space)) {
        return Ok(Connected { placed, transfers: vec![], barriers: vec![], prefetches: vec![] });
    }
    // Pieces touch together what the whole statements do, unless copies for promotions touch more.
    let whole = placed.scheduled.algorithm.whole.as_ref().filter(|_| placed.source.is_none());
    let renewed = whole.map(|whole| dependence::dependences(ctx, &whole.algorithm)).transpose()?;
    let algorithm = whole.map_or(&placed.scheduled.algorithm, |whole| &whole.algorithm);
    let source = placed.source.as_ref().unwrap_or(&placed.scheduled.algorithm);
    let checked = source.whole.as_ref().map_or(source, |whole| &whole.algorithm);
    let flows = live_in(ctx, algorithm, renewed.as_deref().unwrap_or(dependences))?;
    let mut transfers = vec![];
    for (array, placement) in &placed.layout.placements {
        if !is_copied(&placed, *array) {
            continue;
        }
        let mut own = vec![];
        for flow in flows.iter().filter(|flow| algorithm.access(flow.read).array == *array) {
            if !flow.live_in.is_empty()? {
                own.push(flow);
            }
        }
        if may_move_in_part(&placed, *array)
            && let Some(moved) = parts::moved(ctx, algorithm, checked, *array, &own)?
        {
            let comes_in =
                moved.comes_in.map(|it| if is_streamed(&placed, *array) { Copied { part: vec![], ..it } } else { it });
            let directed = [(Direction::HostToDevice, comes_in), (Direction::DeviceToHost, moved.goes_back)];
            for (direction, copied) in directed {
                if let Some(Copied { needed, part }) = copied {
                    transfers.push(Transfer { needed, part, ..around_all(placement.buffer, direction) });
                }
            }
            continue;
        }
        let seen: Vec<&Set> = own.iter().map(|flow| &flow.live_in).collect();
        let is_argument = algorithm.array(*array).kind == ArrayKind::Argument;
        let written = algorithm.is_written(*array);
        if is_argument && (!seen.is_empty() || (written && !overwritten(ctx, algorithm, *array)?)) {
            let needed = if written { needed(ctx, algorithm, *array, &seen)? } else { None };
            transfers.push(Transfer { needed, ..around_all(placement.buffer, Direction::HostToDevice) });
        }
        if written {
            transfers.push(around_all(placement.buffer, Direction::DeviceToHost));
        }
    }
    Ok(Connected { placed, transfers, barriers: vec![], prefetches: vec![] })
}

/// A copy before everything, or after it.
fn around_all(buffer: BufferId, direction: Direction) -> Transfer {
    Transfer { buffer, direction, at: Path::default(), moment: copies::moment(direction), needed: None, part: vec![] }
}

/// Whether an array is an argument of which the GPU's main memory has all, in the order that it has with the caller, or constant memory
/// a box.
fn may_move_in_part(placed: &Placed, array: ArrayId) -> bool {
    let (it, placement) = (placed.scheduled.algorithm.array(array), placed.layout.placement(array));
    let identity: Vec<Affine> = (0..it.rank).map(Affine::iterator).collect();
    let buffer = placed.layout.buffer(placement.buffer);
    it.kind == ArrayKind::Argument
        && it.strided.is_empty()
        && (buffer.space == MemorySpace::Global || buffer.is_box(&placed.scheduled.algorithm))
        && is_identity(&placement.map, &identity)
}

/// Whether an array flows through a stream, whose warps load rows and columns beside what the statements touch, too.
fn is_streamed(placed: &Placed, array: ArrayId) -> bool {
    placed.layout.streams.iter().flat_map(|it| &it.stream.fields).any(|field| field.array == array)
}

/// The same program with copies of whole arrays only.
pub(crate) fn copying_whole_arrays(connected: &mut Connected) {
    let (mut all, mut written) = (vec![], vec![]);
    for it in std::mem::take(&mut connected.transfers) {
        if it.part.is_empty() {
            all.push(it);
            continue;
        }
        written.extend((it.direction == Direction::DeviceToHost).then_some(it.buffer));
        all.push(Transfer { needed: None, part: vec![], ..it });
    }
    for buffer in written {
        all.retain(|it| it.buffer != buffer || it.direction != Direction::HostToDevice);
        all.insert(0, around_all(buffer, Direction::HostToDevice));
    }
    connected.transfers = all;
}

/// Whether an array has a copy on the device, and one in the caller's memory. Whether a test in the run has failed is asked by the host
/// itself.
fn is_copied(placed: &Placed, array: ArrayId) -> bool {
    if placed.scheduled.algorithm.failed == Some(array) {
        return false;
    }
    let buffer = placed.layout.buffer(placed.layout.placement(array).buffer);
    let on_device = matches!(buffer.space, MemorySpace::Global | MemorySpace::Constant { .. });
    on_device && buffer.lifetime == Lifetime::Argument(array)
}

/// Connects a program by the communication commands among `commands`, by default where none speaks.
///
/// # Errors
/// [`ConnectError`] and [`ScheduleError`], with the position of the command.
pub fn carry_out(
    ctx: &Ctx,
    placed: Placed,
    dependences: &[Dependence],
    commands: &[Command],
) -> Result<Connected, Failure> {
    let algorithm = Box::new(placed.scheduled.algorithm.clone());
    let fail = |command: Option<usize>, error: Error| Failure {
        command,
        error: Box::new(error),
        algorithm: algorithm.clone(),
    };
    let mut connected = connect(ctx, placed, dependences).map_err(|error| fail(None, error))?;
    let mut asked = Asked::default();
    for (at, command) in commands.iter().enumerate() {
        asked.add(&mut connected, at, command).map_err(|error| fail(Some(at), error))?;
    }
    for (id, (at, ends)) in asked.lifetimes {
        let placed = &mut connected.placed;
        let done = lifetime::join(&placed.scheduled.schedule, &ends).map_err(Error::from);
        let done = done.and_then(|span| lifetime::place(ctx, placed, dependences, id, &span));
        let done = done.and_then(|()| Ok(lifetime::check_nested(placed)?));
        done.map_err(|error| fail(Some(at), error))?;
    }
    for (array, (at, moved)) in asked.copies {
        replace(ctx, &mut connected, dependences, array, moved).map_err(|error| fail(Some(at), error))?;
    }
    Ok(connected)
}

/// What commands ask for, each with the position of the last command about it.
#[derive(Default)]
struct Asked {
    lifetimes: BTreeMap<BufferId, (usize, Ends)>,
    copies: BTreeMap<ArrayId, (usize, Vec<Transfer>)>,
}

impl Asked {
    fn add(&mut self, connected: &mut Connected, at: usize, command: &Command) -> Result<(), Error> {
        let placed = &connected.placed;
        let scheduled = &placed.scheduled;
        let mut end = |buffer: &str, place: &Place, put: fn(&mut Ends, (String, Found))| -> Result<(), Error> {
            let id = lifetime::buffer(placed, buffer)?;
            let arrays: Vec<ArrayId> =
                placed.layout.placements.iter().filter(|(_, it)| it.buffer == id).map(|(&array, _)| array).collect();
            let found = place::find(&scheduled.algorithm, &scheduled.schedule, place, &arrays)?;
            let (last, ends) = self.lifetimes.entry(id).or_default();
            *last = at;
            put(ends, (command.to_string(), found));
            Ok(())
        };
        match command {
            Command::Allocate { buffer, place } => end(buffer, place, |ends, found| ends.allocate = Some(found)),
            Command::Free { buffer, place } => end(buffer, place, |ends, found| ends.free = Some(found)),
            Command::CopyIn { array, place } => self.copy(placed, at, array, Direction::HostToDevice, place),
            Command::CopyOut { array, place } => self.copy(placed, at, array, Direction::DeviceToHost, place),
            Command::Synchronize { computation, at } => {
                let barrier = barrier::place(scheduled, computation, at)?;
                connected.barriers.push(barrier);
                Ok(())
            }
            Command::Prefetch { array, computation, at, distance } => {
                let found = prefetch::place(scheduled, array, computation, at, *distance)?;
                connected.prefetches.extend(found);
                Ok(())
            }
            // Carried out before.
            _ => Ok(()),
        }
    }

    fn copy(
        &mut self,
        placed: &Placed,
        at: usize,
        name: &str,
        direction: Direction,
        place: &Place,
    ) -> Result<(), Error> {
        let scheduled = &placed.scheduled;
        match scheduled.target {
            Target::Cpu => return Err(ScheduleError::NeedsGpu.into()),
            Target::Gpu => {}
        }
        let array = storage::find::array(&scheduled.algorithm, name)?;
        let not = |reason| Err(ConnectError::NotCopied { array: name.to_string(), reason }.into());
        if !is_copied(placed, array) {
            return not("the function makes it itself, and it is nowhere but on the device");
        }
        match (direction, scheduled.algorithm.array(array).kind) {
            (Direction::HostToDevice, ArrayKind::Argument) => {}
            (Direction::HostToDevice, _) => return not("the caller's memory for a result holds nothing yet"),
            (Direction::DeviceToHost, _) if !scheduled.algorithm.is_written(array) => {
                return not("the function only reads it, so that there is nothing to bring back");
            }
            (Direction::DeviceToHost, _) => {}
        }
        let found = place::find(&scheduled.algorithm, &scheduled.schedule, place, &[array])?;
        place::check_host(&scheduled.schedule, &found.node, &place.at)?;
        let buffer = placed.layout.placement(array).buffer;
        let (last, transfers) = self.copies.entry(array).or_default();
        *last = at;
        transfers.push(Transfer {
            buffer,
            direction,
            at: found.node,
            moment: copies::moment(direction),
            needed: None,
            part: vec![],
        });
        Ok(())
    }
}

/// Puts the copies that were asked for in the place of the derived ones of the same direction, and proves all of the array.
fn replace(
    ctx: &Ctx,
    connected: &mut Connected,
    dependences: &[Dependence],
    array: ArrayId,
    moved: Vec<Transfer>,
) -> Result<(), Error> {
    let scheduled = &connected.placed.scheduled;
    let (algorithm, schedule) = (&scheduled.algorithm, &scheduled.schedule);
    let buffer = connected.placed.layout.placement(array).buffer;
    let asked = |direction: Direction| moved.iter().any(|it| it.direction == direction);
    let mut all: Vec<Transfer> =
        connected.transfers.iter().filter(|it| it.buffer == buffer && !asked(it.direction)).cloned().collect();
    // What is said of the copies around is proved for whole arrays.
    for it in all.iter_mut().filter(|it| !it.part.is_empty()) {
        (it.needed, it.part) = (None, vec![]);
    }
    let whole = overwritten(ctx, algorithm, array)?;
    let comes_in = all.iter().chain(&moved).any(|it| it.direction == Direction::HostToDevice);
    // A copy back within the program brings all elements, those too that nothing has stored yet, or not for all sizes.
    if asked(Direction::DeviceToHost) {
        all.iter_mut().for_each(|it| it.needed = None);
    }
    if asked(Direction::DeviceToHost) && !comes_in && algorithm.array(array).kind == ArrayKind::Argument {
        all.push(around_all(buffer, Direction::HostToDevice));
    }
    all.extend(moved);
    copies::check(Order { ctx, algorithm, schedule }, array, &all, dependences, whole)?;
    connected.transfers.retain(|it| it.buffer != buffer);
    connected.transfers.extend(all);
    Ok(())
}

/// Whether unconditional writes cover the whole array.
fn overwritten(ctx: &Ctx, algorithm: &Algorithm, array: ArrayId) -> Result<bool, Error> {
    let whole = relation::index_set(ctx, algorithm, array)?.intersect_params(&algorithm.context)?;
    match surely_written(ctx, algorithm, array)? {
        None => Ok(false),
        Some(written) => Ok(whole.is_subset(&written)?),
    }
}

/// The parameters for which an array that is written has to come in: some instance sees what it held at entry, or some of it is not sure
/// to be written; `[params] -> { : ... }`. `None` where that is so whenever the array has elements, or takes too much work to say.
fn needed(ctx: &Ctx, algorithm: &Algorithm, array: ArrayId, seen: &[&Set]) -> Result<Option<Set>, Error> {
    let found = ctx.with_budget(NEEDED, || -> Result<_, Error> {
        let whole = relation::index_set(ctx, algorithm, array)?.intersect_params(&algorithm.context)?;
        let Some(written) = surely_written(ctx, algorithm, array)? else { return Ok(None) };
        let mut needed = whole.subtract(&written)?.params()?;
        for instances in seen {
            needed = needed.union(&instances.params()?)?;
        }
        let (needed, some) = (needed.remove_divs()?.coalesce()?, whole.params()?);
        Ok(if some.is_subset(&needed)? { None } else { Some(needed.gist(&some)?) })
    });
    match found {
        Err(error) if error.is_quota() => Ok(None),
        found => found,
    }
}

/// The elements that unconditional writes are sure to write; `None` if there are no such writes.
fn surely_written(ctx: &Ctx, algorithm: &Algorithm, array: ArrayId) -> Result<Option<Set>, Error> {
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
    Ok(written)
}
