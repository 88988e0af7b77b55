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
//! stencils stream where they can ([`crate::auto::stream`]).
//!
//! On a CPU, two more things are weighed once every nest has its order. Neighbours on threads get one loop where the second then
//! finds in the cache what the first has used ([`crate::auto::traffic`]), or strips through which they go row by row together, the
//! later ones some rows behind ([`crate::auto::delayed`]); of arrays between them only those rows are kept. Where a computation runs on no threads because it
//! reads another row or column of what it writes, the program is tried once more with it cut where the two cross
//! ([`crate::auto::cuts`]), and stays so if its pieces then run on threads.

use crate::auto::chooser::{Chooser, chain_length};
use crate::auto::cpu::Threads;
use crate::auto::cuts::{Cuts, cut, has_threads};
use crate::auto::delayed::alive;
use crate::auto::{gpu_storage, stream};
use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::{Ctx, IslErrorKind};
use crate::layers::{Scheduled, Target};
use crate::legality;
use crate::machine::Gpu;
use crate::schedule::{Node, Path, Schedule, Tag};
use crate::transform::simplify;

/// Whether an order may count on storage of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Blocks of a GPU pass tiles through shared memory.
    Blocks,
    /// Everything stays where it is.
    Plain,
}

/// An order, and the storage commands that belong to it.
#[derive(Debug, Clone)]
pub struct Chosen {
    pub scheduled: Scheduled,
    pub storage: Vec<Command>,
    /// Where computations were cut into pieces first.
    pub cuts: Option<Cuts>,
}

/// Chooses an order for the whole program, from its present one, that needs no storage of its own and cuts no computation.
pub fn schedule(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence]) -> Result<Scheduled, Error> {
    whole(ctx, scheduled, dependences, Memory::Plain).map(|chosen| chosen.scheduled)
}

/// Chooses an order for the whole program, from its present one.
pub fn choose(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence], memory: Memory) -> Result<Chosen, Error> {
    let chosen = whole(ctx, scheduled, dependences, memory)?;
    if scheduled.target == Target::Gpu {
        return Ok(chosen);
    }
    with_few_rows(ctx, in_pieces(ctx, scheduled, dependences, memory, chosen)?, dependences)
}

/// The choice for a CPU, or the one for the program with computations cut in pieces, if these then run on threads.
fn in_pieces(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    memory: Memory,
    chosen: Chosen,
) -> Result<Chosen, Error> {
    let trial = || -> Result<Option<Chosen>, Error> {
        let Some((cut, cuts)) = cut(ctx, scheduled, dependences, &chosen.scheduled.schedule)? else { return Ok(None) };
        let trial = whole(ctx, &cut, &cuts.dependences, memory)?;
        let helps = cuts.pieces.iter().all(|&id| has_threads(&trial.scheduled.schedule, id));
        Ok(helps.then_some(Chosen { cuts: Some(cuts), ..trial }))
    };
    let half = ctx.operations_left().map_or(0, |left| (left / 2).max(1));
    match ctx.with_budget(half, trial) {
        Ok(Some(better)) => Ok(better),
        Ok(None) => Ok(chosen),
        Err(Error::Isl(error)) if error.kind == IslErrorKind::Quota => Ok(chosen),
        Err(other) => Err(other),
    }
}

/// The choice with less memory for the arrays of which it keeps a few rows alive at a time.
fn with_few_rows(ctx: &Ctx, chosen: Chosen, dependences: &[Dependence]) -> Result<Chosen, Error> {
    let dependences = chosen.cuts.as_ref().map_or(dependences, |cuts| cuts.dependences.as_slice());
    let half = ctx.operations_left().map_or(0, |left| (left / 2).max(1));
    match ctx.with_budget(half, || alive(ctx, &chosen.scheduled, dependences)) {
        Ok(storage) => Ok(Chosen { storage, ..chosen }),
        Err(Error::Isl(error)) if error.kind == IslErrorKind::Quota => Ok(chosen),
        Err(other) => Err(other),
    }
}

/// Chooses an order for a program with its computations as they are.
fn whole(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence], memory: Memory) -> Result<Chosen, Error> {
    let (machine, algorithm, target) = (&scheduled.machine, &scheduled.algorithm, scheduled.target);
    let merged = legality::merged(dependences)?;
    let chooser = Chooser { ctx, machine, algorithm, target, dependences: &merged, memory };
    let mut schedule = scheduled.schedule.clone();
    if target == Target::Gpu && memory == Memory::Blocks {
        stream::tag_streams(ctx, &Gpu::HOPPER, algorithm, &mut schedule)?;
    }
    chooser.node(&mut schedule, &Path::default())?;
    simplify(&mut schedule.root);
    if target == Target::Cpu {
        chooser.join_on_threads(&mut schedule, &Path::default())?;
        simplify(&mut schedule.root);
    }
    legality::check(ctx, algorithm, &schedule, dependences)?;
    let storage = match memory {
        Memory::Blocks => gpu_storage::commands(algorithm, &schedule),
        Memory::Plain => vec![],
    };
    Ok(Chosen { scheduled: Scheduled { schedule, ..scheduled.clone() }, storage, cuts: None })
}

impl Chooser<'_> {
    /// Orders what is at `path`, none of whose outer loops is parallel.
    pub(crate) fn node(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        match schedule.node(path) {
            None | Some(Node::Computation(_)) => Ok(()),
            Some(Node::Sequence(children)) => {
                (0..children.len()).try_for_each(|child| self.node(schedule, &path.child(child)))
            }
            Some(Node::Loop(it)) if matches!(it.tag, Tag::Stream(_)) => Ok(()),
            Some(Node::Loop(_)) => self.nest(schedule, path),
        }
    }

    fn nest(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        if self.is_ranged(schedule, path) || self.has_endless_inside(schedule, path)? {
            return self.ranged_nest(schedule, path);
        }
        match self.target {
            Target::Cpu => self.cpu_nest(schedule, path),
            Target::Gpu => self.gpu_nest(schedule, path),
        }
    }

    fn cpu_nest(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
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
        let parallel = self.parallel_loops(schedule, path, depth)?;
        self.cpu_tags(schedule, path, depth, &parallel)
    }
}
