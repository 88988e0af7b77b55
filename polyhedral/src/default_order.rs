//! The order that Tessella chooses when the user gives none.
//!
//! Nests keep their source order but for a few moves, each tried only where it promises to pay and kept only where it is
//! legal. On a CPU, a nest of which a part accumulates is taken apart along its dependences, what accumulates gets a
//! register tile, and statements of different depth that run in no parallel loop get an outermost loop in common. On both
//! targets, loops that mix statements with inner loops are distributed when that frees the contiguous axis, perfectly
//! nested loops are permuted so that the contiguous axis is innermost (CPU) or on thread axis x (GPU), and loops without
//! carried dependences run in parallel, the outermost one on CPU threads.

use crate::auto::chooser::{Chooser, chain_length};
use crate::auto::cpu::Threads;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::legality;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::{loop_mut, put_chain, simplify, split_at, take_chain};

/// Threads along x and y of a block, for nests with two parallel loops; one loop gets `LINE` along x.
const TILE: [u32; 2] = [32, 8];
const LINE: u32 = 256;

/// Chooses an order for the whole program, from its present one.
pub fn schedule(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence]) -> Result<Scheduled, Error> {
    let chooser = Chooser { ctx, machine: &scheduled.machine, algorithm: &scheduled.algorithm, target: scheduled.target, dependences };
    let mut schedule = scheduled.schedule.clone();
    chooser.node(&mut schedule, &Path::default())?;
    simplify(&mut schedule.root);
    legality::check(ctx, &scheduled.algorithm, &schedule, dependences)?;
    Ok(Scheduled { schedule, ..scheduled.clone() })
}

impl Chooser<'_> {
    /// Orders what is at `path`, none of whose outer loops is parallel.
    pub(crate) fn node(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        match schedule.node(path) {
            None | Some(Node::Computation(_)) => Ok(()),
            Some(Node::Sequence(children)) => {
                (0..children.len()).try_for_each(|child| self.node(schedule, &path.child(child)))
            }
            Some(Node::Loop(_)) => self.nest(schedule, path),
        }
    }

    fn nest(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        if self.target == Target::Cpu {
            if self.take_sums_apart(schedule, path)? {
                return self.node(schedule, path);
            }
            if self.tile_registers(schedule, path, Threads::Free)? {
                return Ok(());
            }
            if self.align(schedule, path)? {
                return Ok(());
            }
        }
        if self.distribute(schedule, path)? {
            return self.node(schedule, path);
        }
        let depth = chain_length(schedule, path);
        self.permute(schedule, path, depth)?;
        let parallel = self.parallel_loops(schedule, path, depth)?;
        match self.target {
            Target::Cpu => self.cpu_tags(schedule, path, depth, &parallel),
            Target::Gpu => self.gpu_tags(schedule, path, &parallel),
        }
    }

    /// Maps up to three parallel loops that stand outermost to blocks and threads; else goes inside.
    ///
    /// Of three, the outermost becomes block axis z alone; the others are tiled.
    fn gpu_tags(&self, schedule: &mut Schedule, path: &Path, parallel: &[usize]) -> Result<(), Error> {
        let leading = parallel.iter().enumerate().take_while(|(at, level)| at == *level).count().min(3);
        if leading == 0 {
            let depth = chain_length(schedule, path);
            return match parallel.is_empty() {
                true => self.node(schedule, &path.down(depth)),
                false => self.nest(schedule, &path.down(1)),
            };
        }
        let mut tiled = path.clone();
        if leading == 3 {
            loop_mut(schedule, path).tag = Tag::GpuBlock(ProcessorAxis::Z);
            tiled = path.down(1);
        }
        let sizes: &[u32] = if leading == 1 { &[LINE] } else { &[TILE[1], TILE[0]] };
        for (at, size) in sizes.iter().enumerate() {
            split_at(self.ctx, self.algorithm, schedule, &tiled.down(2 * at), *size)?;
        }
        let chain = take_chain(schedule, &tiled, 2 * sizes.len());
        let (tiles, points): (Vec<_>, Vec<_>) = chain.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
        let mut ordered: Vec<Loop> = tiles.into_iter().chain(points).map(|(_, it)| it).collect();
        let axes = [ProcessorAxis::X, ProcessorAxis::Y];
        for (at, it) in ordered.iter_mut().enumerate() {
            let axis = axes[sizes.len() - 1 - at % sizes.len()];
            it.tag = if at < sizes.len() { Tag::GpuBlock(axis) } else { Tag::GpuThread(axis) };
        }
        put_chain(schedule, &tiled, ordered);
        Ok(())
    }
}
