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

use crate::auto::chooser::{Chooser, chain_length};
use crate::auto::cpu::Threads;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::auto::{gpu_storage, stream};
use crate::command::Command;
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
}

/// Chooses an order for the whole program, from its present one, that needs no storage of its own.
pub fn schedule(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence]) -> Result<Scheduled, Error> {
    choose(ctx, scheduled, dependences, Memory::Plain).map(|chosen| chosen.scheduled)
}

/// Chooses an order for the whole program, from its present one.
pub fn choose(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence], memory: Memory) -> Result<Chosen, Error> {
    let (machine, algorithm, target) = (&scheduled.machine, &scheduled.algorithm, scheduled.target);
    let merged = legality::merged(dependences)?;
    let chooser = Chooser { ctx, machine, algorithm, target, dependences: &merged, memory };
    let mut schedule = scheduled.schedule.clone();
    if target == Target::Gpu && memory == Memory::Blocks {
        stream::tag_streams(ctx, &Gpu::HOPPER, algorithm, &mut schedule)?;
    }
    chooser.node(&mut schedule, &Path::default())?;
    simplify(&mut schedule.root);
    legality::check(ctx, algorithm, &schedule, dependences)?;
    let storage = match memory {
        Memory::Blocks => gpu_storage::commands(algorithm, &schedule),
        Memory::Plain => vec![],
    };
    Ok(Chosen { scheduled: Scheduled { schedule, ..scheduled.clone() }, storage })
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
