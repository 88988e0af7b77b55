//! The order that Tessella chooses when the user gives none.
//!
//! Nests keep their source order but for a few moves, each tried only where it promises to pay and kept only where it is
//! legal. On a CPU, a nest of which a part accumulates is taken apart along its dependences, what accumulates gets a
//! register tile, statements of different depth that run in no parallel loop get an outermost loop in common, and a nest all
//! of whose loops carry dependences becomes a wavefront over tiles ([`crate::auto::wavefront`]). On both
//! targets, loops that mix statements with inner loops are distributed when that frees the contiguous axis, perfectly
//! nested loops are permuted so that the contiguous axis is innermost (CPU) or on thread axis x (GPU), and loops without
//! carried dependences run in parallel, the outermost one on CPU threads. On a GPU ([`crate::auto::gpu`]), products and sums
//! down columns are tiled for shared memory, and storage commands of Tessella's own go with the order; time loops over
//! stencils stream where they can ([`crate::auto::stream`]), and work arrays that iterations share give way to arrays of each
//! iteration where these then become blocks ([`crate::auto::own`]).
//!
//! Where a nest is left without threads, or on a CPU without lanes, isl's scheduler is asked for another order to start from
//! ([`crate::auto::asked`]). On a GPU, a nest in which every loop carries a dependence runs step by step or along diagonals, and so does one with few threads
//! where that promises to be faster ([`crate::auto::gpu_waves`]).
//!
//! On a CPU, two more things are weighed once every nest has its order. Neighbours on threads get one loop where the second then
//! finds in the cache what the first has used ([`crate::auto::traffic`]), or strips through which they go row by row together, the
//! later ones some rows behind ([`crate::auto::delayed`]); of arrays between them only those rows are kept. On both targets, where a computation runs on no threads because it
//! reads another row or column of what it writes, the program is tried once more with it cut where the two cross
//! ([`crate::auto::cuts`]), and stays so if its pieces then run on threads. On both targets, arrays are padded where a model says
//! that it pays ([`crate::auto::padding`]). On a CPU, loops whose iterations have arrays for themselves run on threads as a whole, and
//! a work array that iterations only share because the source has just one of it becomes such an array ([`crate::auto::own`]).

use crate::algorithm::ComputationId;
use crate::auto::asked::Asked;
use crate::auto::by_size::Apart;
use crate::auto::chooser::{Chooser, chain_length, loop_at, tagged};
use crate::auto::cpu::Threads;
use crate::auto::cuts::{cut, has_threads};
use crate::auto::delayed::alive;
use crate::auto::few_blocks::{self, Tiled};
use crate::auto::padded::Padded;
use crate::auto::padding;
use crate::auto::wide_sums::{self, WideSums};
use crate::auto::{
    constants, gpu_storage, in_place, lanes, own, owned, resident, small_planes, stream, stream_ready, time_tiles,
};
use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::legality;
use crate::machine::Gpu;
use crate::schedule::{Node, Path, Schedule, Tag};
use crate::transform::simplify;
use std::collections::BTreeSet;

/// Whether an order may count on storage of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// As with `Blocks`, and what the threads of a GPU touch of rows passes through their registers in vectors.
    Vectors,
    /// Blocks of a GPU pass tiles through shared memory.
    Blocks,
    /// Everything stays where it is.
    Plain,
}

impl Memory {
    /// What to do with where this cannot be had.
    pub fn weaker(self) -> Option<Memory> {
        match self {
            Memory::Vectors => Some(Memory::Blocks),
            Memory::Blocks => Some(Memory::Plain),
            Memory::Plain => None,
        }
    }
}

/// How much of an order may be chosen: whether nests all of whose loops carry dependences may become wavefronts over tiles, and time loops of stencils hexagons, and whether
/// isl's scheduler is asked, and whether products and streams get kernels of their own for sizes with few blocks: code for these is slow
/// to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tilings {
    Wanted,
    Avoided,
    /// So is all else: nests keep their loops, of which the outermost ones that carry no dependence run in parallel.
    AndOrders,
}

/// What isl may do to tile time loops.
const TIME_TILES: u64 = 4_900_000;

/// What an order may make use of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Means {
    pub memory: Memory,
    pub tilings: Tilings,
}

impl Means {
    /// All that there is.
    pub const ALL: Means = Means { memory: Memory::Vectors, tilings: Tilings::Wanted };
}

/// An order, and the storage commands that belong to it.
#[derive(Debug, Clone)]
pub struct Chosen {
    pub scheduled: Scheduled,
    pub storage: Vec<Command>,
    /// The reasons of those of the storage commands that pad arrays.
    pub padded: Vec<Padded>,
    /// What isl's scheduler was asked for.
    pub asked: Vec<Asked>,
    /// Where computations were split first.
    pub rewritten: Option<Rewritten>,
    /// Sums in tiles that some sizes make few of.
    tiled: Vec<Tiled>,
    /// Sums of which some sizes make too many for an array.
    wide_sums: Vec<WideSums>,
    /// Nests whose elements may get owners.
    owned: Vec<Node>,
}

/// Computations that were split, into pieces or into the phases of a tiling of time.
#[derive(Debug, Clone)]
pub struct Rewritten {
    /// What splits them.
    pub commands: Vec<Command>,
    /// The dependences of what they became, and of what else there is.
    pub dependences: Vec<Dependence>,
}

/// Chooses an order for the whole program, from its present one, that needs no storage of its own and cuts no computation.
pub fn schedule(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence]) -> Result<Scheduled, Error> {
    let means = Means { memory: Memory::Plain, tilings: Tilings::Wanted };
    whole(ctx, scheduled, dependences, means, BTreeSet::new()).map(|chosen| chosen.scheduled)
}

/// Chooses an order for the whole program, from its present one.
pub fn choose(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence], means: Means) -> Result<Chosen, Error> {
    if means.tilings == Tilings::AndOrders {
        return whole(ctx, scheduled, dependences, means, BTreeSet::new());
    }
    let chosen = match scheduled.target {
        Target::Gpu => {
            let chosen = for_wide_sums(ctx, for_gpu(ctx, scheduled, dependences, means)?, dependences, means)?;
            let chosen = for_few_blocks(ctx, chosen, dependences, means)?;
            let chosen = for_owners(ctx, chosen, dependences, means)?;
            let given = streaming(&scheduled.schedule);
            let chosen = for_small_planes(ctx, chosen, dependences, means, &given)?;
            let mut chosen = with_tiles_kept(ctx, chosen, means, &given)?;
            let finished = chosen.scheduled.clone();
            Chooser::of(ctx, &finished, &[], means).share_rows(&mut chosen, &scheduled.schedule)?;
            chosen
        }
        Target::Cpu => {
            let chosen = with_few_rows(ctx, for_cpu(ctx, scheduled, dependences, means)?, dependences)?;
            lanes::in_lanes(ctx, scheduled, chosen, dependences)?
        }
    };
    match means.memory {
        Memory::Vectors | Memory::Blocks => with_pads(chosen),
        Memory::Plain => Ok(chosen),
    }
}

/// The choice with those arrays padded that are placed as the source has them, where it pays.
fn with_pads(mut chosen: Chosen) -> Result<Chosen, Error> {
    let Scheduled { algorithm, schedule, target, machine, .. } = &chosen.scheduled;
    let is_elsewhere = |name: &String| {
        chosen.storage.iter().any(|command| match command {
            Command::CacheShared { array, .. }
            | Command::CacheRegister { array, .. }
            | Command::Pad { array, .. }
            | Command::Constant { array } => array == name,
            Command::StoreIn { computation, .. } => {
                let written = algorithm.find(computation).map(|id| algorithm.computation(id).write.array);
                written.is_some_and(|id| algorithm.array(id).name == *name)
            }
            _ => false,
        })
    };
    let mut found = padding::arrays(algorithm, schedule, *target, machine, None)?;
    found.retain(|it| !is_elsewhere(&it.array));
    chosen.storage.extend(found.iter().map(Padded::command));
    chosen.padded.extend(found);
    Ok(chosen)
}

/// The choice for a CPU: tiles of time, else pieces, else neither.
fn for_cpu(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence], means: Means) -> Result<Chosen, Error> {
    let in_time = || match means.tilings {
        Tilings::Wanted => in_time(ctx, scheduled, dependences, means),
        Tilings::Avoided | Tilings::AndOrders => Ok(None),
    };
    let share = ctx.operations_left().map_or(0, |left| TIME_TILES.min(left / 2).max(1));
    if let Some(tiled) = within(ctx, share, in_time)?.flatten() {
        return Ok(tiled);
    }
    if let Some(chosen) = in_half(ctx, || with_own(ctx, scheduled, dependences, means))?.flatten() {
        return Ok(chosen);
    }
    whole_or_pieces(ctx, scheduled, dependences, means)
}

/// The choice for a GPU: with nests apart where their time loop then streams, else with work arrays for each iteration where its loops are
/// then blocks.
fn for_gpu(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence], means: Means) -> Result<Chosen, Error> {
    if means.memory != Memory::Plain {
        let ready = || stream_ready::ready(ctx, &Gpu::HOPPER, scheduled, dependences);
        if let Some(ready) = in_half(ctx, ready)?.flatten() {
            let chosen = whole(ctx, &ready.scheduled, &ready.dependences, means, BTreeSet::new())?;
            let rewritten = Rewritten { commands: ready.commands, dependences: ready.dependences };
            return Ok(Chosen { rewritten: Some(rewritten), ..chosen });
        }
    }
    match in_half(ctx, || with_own(ctx, scheduled, dependences, means))?.flatten() {
        Some(chosen) => Ok(chosen),
        None => whole_or_pieces(ctx, scheduled, dependences, means),
    }
}

/// The choice for the program with computations cut in pieces if these then run on threads, else for the program as it is.
fn whole_or_pieces(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    means: Means,
) -> Result<Chosen, Error> {
    let chosen = whole(ctx, scheduled, dependences, means, BTreeSet::new())?;
    if let Some(better) = in_half(ctx, || in_pieces(ctx, scheduled, dependences, means, &chosen))?.flatten() {
        return Ok(better);
    }
    if means.tilings != Tilings::Wanted {
        return Ok(chosen);
    }
    let better = in_half(ctx, || with_values_in_place(ctx, scheduled, means, &chosen))?.flatten();
    Ok(better.unwrap_or(chosen))
}

/// The choice for the program with values computed where they are used, if what uses them then runs on threads, in pieces or as a whole.
fn with_values_in_place(
    ctx: &Ctx,
    scheduled: &Scheduled,
    means: Means,
    chosen: &Chosen,
) -> Result<Option<Chosen>, Error> {
    let Some(new) = in_place::values_in_place(ctx, scheduled, &chosen.scheduled.schedule)? else { return Ok(None) };
    let trial = whole(ctx, &new.scheduled, &new.dependences, means, BTreeSet::new())?;
    let mut trial = in_pieces(ctx, &new.scheduled, &new.dependences, means, &trial)?.unwrap_or(trial);
    let (pieces, dependences) = match trial.rewritten.take() {
        Some(pieces) => (pieces.commands, pieces.dependences),
        None => (vec![], new.dependences),
    };
    let helps = new.users.iter().all(|&id| has_threads(&trial.scheduled.schedule, id));
    let commands = new.commands.into_iter().chain(pieces).collect();
    Ok(helps.then_some(Chosen { rewritten: Some(Rewritten { commands, dependences }), ..trial }))
}

/// Takes a step that the choice can do without, with half of the work that is left; `None` where that is not enough.
fn in_half<T>(ctx: &Ctx, step: impl FnOnce() -> Result<T, Error>) -> Result<Option<T>, Error> {
    let half = ctx.operations_left().map_or(0, |left| (left / 2).max(1));
    within(ctx, half, step)
}

/// Takes a step that the choice can do without, with so much work; `None` where that is not enough.
fn within<T>(ctx: &Ctx, operations: u64, step: impl FnOnce() -> Result<T, Error>) -> Result<Option<T>, Error> {
    match ctx.with_budget(operations, step) {
        Ok(done) => Ok(Some(done)),
        Err(error) if error.is_quota() => Ok(None),
        Err(other) => Err(other),
    }
}

/// The choice for a CPU with the time loops of stencils tiled, if there are any.
fn in_time(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    means: Means,
) -> Result<Option<Chosen>, Error> {
    let Some(tiled) = time_tiles::tile(ctx, scheduled, dependences)? else { return Ok(None) };
    let chosen = whole(ctx, &tiled.scheduled, &tiled.dependences, means, tiled.computations)?;
    let rewritten = Rewritten { commands: tiled.commands, dependences: tiled.dependences };
    Ok(Some(Chosen { rewritten: Some(rewritten), ..chosen }))
}

/// The choice for the program with a work array for each iteration of loops that can then run on threads, or blocks, if there are
/// any.
fn with_own(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    means: Means,
) -> Result<Option<Chosen>, Error> {
    let Some(own) = own::privatized(ctx, scheduled, dependences)? else { return Ok(None) };
    let chosen = whole(ctx, &own.scheduled, &own.dependences, means, BTreeSet::new())?;
    let belong = match chosen.scheduled.target {
        Target::Cpu => own::belong_to_threads(ctx, &chosen.scheduled, &own.arrays)?,
        Target::Gpu => own::belong_to_blocks(&chosen.scheduled, &own.arrays),
    };
    if !belong {
        return Ok(None);
    }
    let rewritten = Rewritten { commands: own.commands, dependences: own.dependences };
    Ok(Some(Chosen { rewritten: Some(rewritten), ..chosen }))
}

/// The choice for the program with computations cut in pieces, if these then run on threads.
fn in_pieces(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    means: Means,
    chosen: &Chosen,
) -> Result<Option<Chosen>, Error> {
    let Some((cut, cuts)) = cut(ctx, scheduled, dependences, &chosen.scheduled.schedule)? else { return Ok(None) };
    let trial = whole(ctx, &cut, &cuts.dependences, means, BTreeSet::new())?;
    let helps = cuts.pieces.iter().all(|&id| has_threads(&trial.scheduled.schedule, id));
    let rewritten = Rewritten { commands: cuts.commands, dependences: cuts.dependences };
    Ok(helps.then_some(Chosen { rewritten: Some(rewritten), ..trial }))
}

/// The choice with arrays for sums of pairs for sizes with enough terms.
fn for_wide_sums(ctx: &Ctx, chosen: Chosen, dependences: &[Dependence], means: Means) -> Result<Chosen, Error> {
    by_sizes(ctx, chosen, dependences, means, |chosen, dependences| {
        wide_sums::apart(ctx, &chosen.scheduled, dependences, means, &chosen.wide_sums)
    })
}

/// The choice with small tiles for those sums that have few blocks for some sizes.
fn for_few_blocks(ctx: &Ctx, chosen: Chosen, dependences: &[Dependence], means: Means) -> Result<Chosen, Error> {
    by_sizes(ctx, chosen, dependences, means, |chosen, dependences| {
        few_blocks::apart(ctx, &chosen.scheduled, dependences, means, &chosen.tiled)
    })
}

/// The choice with owners for elements that data name.
fn for_owners(ctx: &Ctx, chosen: Chosen, dependences: &[Dependence], means: Means) -> Result<Chosen, Error> {
    by_sizes(ctx, chosen, dependences, means, |chosen, dependences| {
        owned::apart(ctx, &chosen.scheduled, dependences, means, &chosen.owned)
    })
}

/// The choice for the program with kernels of their own for some sizes, if `apart` finds any: it is given the dependences of what the choice
/// has made of the program.
fn by_sizes(
    ctx: &Ctx,
    chosen: Chosen,
    dependences: &[Dependence],
    means: Means,
    apart: impl FnOnce(&Chosen, &[Dependence]) -> Result<Option<Apart>, Error>,
) -> Result<Chosen, Error> {
    if means.memory == Memory::Plain || means.tilings != Tilings::Wanted {
        return Ok(chosen);
    }
    let dependences = chosen.rewritten.as_ref().map_or(dependences, |it| it.dependences.as_slice());
    let Some(apart) = in_half(ctx, || apart(&chosen, dependences))?.flatten() else { return Ok(chosen) };
    let (storage, padded) = storage_of(ctx, &apart.scheduled, means)?;
    let mut commands = chosen.rewritten.map_or(vec![], |it| it.commands);
    commands.extend(apart.commands);
    let rewritten = Rewritten { commands, dependences: apart.dependences };
    Ok(Chosen { scheduled: apart.scheduled, storage, padded, rewritten: Some(rewritten), ..chosen })
}

/// What streams in a schedule.
fn streaming(schedule: &Schedule) -> BTreeSet<ComputationId> {
    let streams =
        |id: &ComputationId| schedule.loops_around(*id).iter().any(|(_, it)| matches!(it.tag, Tag::Stream(_)));
    schedule.root.computations().into_iter().filter(streams).collect()
}

/// The choice with streams of their own for small matrices; streams of `given` computations stay as they are.
fn for_small_planes(
    ctx: &Ctx,
    chosen: Chosen,
    dependences: &[Dependence],
    means: Means,
    given: &BTreeSet<ComputationId>,
) -> Result<Chosen, Error> {
    by_sizes(ctx, chosen, dependences, means, |chosen, dependences| {
        small_planes::apart(ctx, &Gpu::HOPPER, &chosen.scheduled, dependences, given)
    })
}

/// The choice with kernels that keep matrices where blocks can hold them; streams of `given` computations stay as they are.
fn with_tiles_kept(
    ctx: &Ctx,
    mut chosen: Chosen,
    means: Means,
    given: &BTreeSet<ComputationId>,
) -> Result<Chosen, Error> {
    if means.memory != Memory::Plain && means.tilings == Tilings::Wanted {
        let mut kept = chosen.scheduled.clone();
        if in_half(ctx, || resident::keep(ctx, &mut kept, given))?.is_some() {
            chosen.scheduled = kept;
        }
    }
    Ok(chosen)
}

/// The choice with less memory for the arrays of which it keeps a few rows alive at a time.
fn with_few_rows(ctx: &Ctx, chosen: Chosen, dependences: &[Dependence]) -> Result<Chosen, Error> {
    let dependences = chosen.rewritten.as_ref().map_or(dependences, |it| it.dependences.as_slice());
    let storage = in_half(ctx, || alive(ctx, &chosen.scheduled, dependences))?.unwrap_or_default();
    Ok(Chosen { storage, ..chosen })
}

/// Chooses an order for a program with its computations as they are; the loops of `settled` ones stay, too.
fn whole(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    means: Means,
    settled: BTreeSet<ComputationId>,
) -> Result<Chosen, Error> {
    let (algorithm, target) = (&scheduled.algorithm, scheduled.target);
    let merged = legality::merged(dependences)?;
    let mut schedule = scheduled.schedule.clone();
    let tagged = tagged(&schedule);
    let chooser = Chooser { settled, tagged, ..Chooser::of(ctx, scheduled, &merged, means) };
    if target == Target::Gpu && means.memory != Memory::Plain {
        stream::tag_streams(ctx, &Gpu::HOPPER, algorithm, &mut schedule)?;
    }
    chooser.node(&mut schedule, &Path::default())?;
    simplify(&mut schedule.root);
    if target == Target::Gpu {
        chooser.load_ahead_alone(&mut schedule)?;
        simplify(&mut schedule.root);
    }
    let asked = chooser.asking.of(&schedule);
    if target == Target::Cpu && means.tilings != Tilings::AndOrders {
        chooser.join_on_threads(&mut schedule, &Path::default())?;
        simplify(&mut schedule.root);
    }
    // Loops that were settled before were proved then.
    if !algorithm.ids().all(|id| chooser.settled.contains(&id)) {
        legality::check(ctx, algorithm, &schedule, dependences)?;
    }
    let (tiled, wide_sums, owned) = (chooser.tiled.take(), chooser.wide_sums.take(), chooser.owned.take());
    let scheduled = Scheduled { schedule, ..scheduled.clone() };
    let (storage, padded) = storage_of(ctx, &scheduled, means)?;
    Ok(Chosen { scheduled, storage, padded, rewritten: None, asked, tiled, wide_sums, owned })
}

/// The storage commands that go with a finished order, and why some of them pad arrays.
fn storage_of(ctx: &Ctx, scheduled: &Scheduled, means: Means) -> Result<(Vec<Command>, Vec<Padded>), Error> {
    let Scheduled { algorithm, schedule, target, .. } = scheduled;
    Ok(match means.memory {
        Memory::Vectors | Memory::Blocks if *target == Target::Gpu => {
            let (mut storage, padded) = gpu_storage::commands(algorithm, schedule);
            storage.extend(constants::commands(ctx, algorithm, schedule, &storage)?);
            (storage, padded)
        }
        Memory::Vectors | Memory::Blocks => gpu_storage::commands(algorithm, schedule),
        Memory::Plain => (vec![], vec![]),
    })
}

impl Chooser<'_> {
    /// Orders what is at `path`, none of whose outer loops is parallel.
    pub(crate) fn node(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        match schedule.node(path) {
            None | Some(Node::Computation(_)) => Ok(()),
            Some(Node::Sequence(_)) => {
                if self.target == Target::Gpu && self.means.tilings != Tilings::AndOrders {
                    self.join_kernels(schedule, path)?;
                    self.join_starts(schedule, path)?;
                }
                let children = match schedule.node(path) {
                    Some(Node::Sequence(children)) => children.len(),
                    Some(Node::Loop(_) | Node::Computation(_)) | None => 0,
                };
                (0..children).try_for_each(|child| self.node(schedule, &path.child(child)))
            }
            Some(Node::Loop(it)) if matches!(it.tag, Tag::Stream(_) | Tag::GridSync) || self.is_settled(it) => Ok(()),
            // Nests that were joined over two grids.
            Some(Node::Loop(it)) if matches!(it.tag, Tag::GpuBlock(_)) && !self.is_tagged(it) => Ok(()),
            Some(Node::Loop(it)) if self.is_tagged(it) => self.what_is_left(schedule, path),
            Some(Node::Loop(_)) if self.means.tilings == Tilings::AndOrders => self.nest(schedule, path),
            Some(Node::Loop(_)) => {
                let before = schedule.clone();
                self.nest(schedule, path)?;
                self.ask(&before, schedule, path)?;
                if self.target == Target::Cpu && self.has_wide_variables(schedule, path)? {
                    *schedule = before;
                    return self.nest_as_it_is(schedule, path);
                }
                Ok(())
            }
        }
    }

    /// Orders what commands have left open below a loop with tags around or inside: other nests that it holds, and the inside of a loop
    /// on CPU threads that has no tags itself. Nests with tags stay as they are.
    fn what_is_left(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        let Some(it) = loop_at(schedule, path) else { return Ok(()) };
        match it.tag {
            Tag::Sequential => self.node(schedule, &path.child(0)),
            Tag::Parallel if !it.body.has_loop(&|tag| tag != Tag::Sequential) => {
                self.vectors_below(schedule, &path.child(0))
            }
            Tag::Parallel
            | Tag::Vector(_)
            | Tag::Unroll(_)
            | Tag::Rows
            | Tag::Separate
            | Tag::GpuBlock(_)
            | Tag::GpuThread(_)
            | Tag::Combine
            | Tag::Stream(_)
            | Tag::GridSync => Ok(()),
        }
    }

    fn nest(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        if self.means.tilings == Tilings::AndOrders || self.depends_on_data(schedule, path)? {
            return self.ranged_nest(schedule, path);
        }
        match self.target {
            Target::Cpu => self.cpu_nest(schedule, path),
            Target::Gpu => self.gpu_nest(schedule, path),
        }
    }

    fn cpu_nest(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        if self.with_own_arrays(schedule, path)? {
            return Ok(());
        }
        if self.take_sums_apart(schedule, path)? {
            return self.node(schedule, path);
        }
        if self.tile_registers(schedule, path, Threads::Free)? {
            return Ok(());
        }
        if self.align(schedule, path)? {
            return Ok(());
        }
        if self.distribute(schedule, path)? {
            return self.node(schedule, path);
        }
        let depth = chain_length(schedule, path);
        self.permute(schedule, path, depth)?;
        let depth = self.tile_crossing(schedule, path, depth)?;
        let parallel = self.parallel_loops(schedule, path, depth)?;
        self.cpu_tags(schedule, path, depth, &parallel)
    }
}
