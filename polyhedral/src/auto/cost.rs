//! What an order of a nest is estimated to take on a CPU: operations on lanes and threads, bytes from memory, and starts of threads. On a
//! GPU, [`super::gpu_waves`] says.
//!
//! The estimate serves to compare two orders of the same statements; it knows of sizes only what the program says.

use super::chooser::{Chooser, loop_at};
use super::profile::{Step, operations, step_along_axes};
use super::traffic::Uses;
use crate::affine::{Affine, Atom};
use crate::algorithm::{ArrayId, ArrayKind, ComputationId};
use crate::error::Error;
use crate::layers::Target;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use std::collections::{BTreeMap, BTreeSet};

/// What a loop is taken to run for, where its iterations depend on sizes.
const TYPICAL: f64 = 1000.0;
/// Cycles of an operation whose result the next iteration may wait for.
const LATENCY: f64 = 4.0;
/// Cycles that starting threads takes.
const START: f64 = 15_000.0;
/// Bytes that memory gives a thread in a cycle.
const BYTES: f64 = 4.0;

impl Chooser<'_> {
    /// The estimate for what is at `path`, for one iteration of the loops around it.
    pub(crate) fn cycles(&self, schedule: &Schedule, path: &Path) -> Result<f64, Error> {
        match self.target {
            Target::Cpu => {}
            Target::Gpu => return self.gpu_cycles(schedule, path),
        }
        let work = self.computing(schedule, path)?;
        // As many threads as compute bring in what they need.
        let width = (work.alone / work.shared.max(1.0)).max(1.0);
        Ok(work.cycles + self.bytes(schedule, path)? / (BYTES * width))
    }

    fn computing(&self, schedule: &Schedule, path: &Path) -> Result<Work, Error> {
        let mut work = Work { cycles: 0.0, shared: 0.0, alone: 0.0 };
        let mut on_threads: BTreeMap<Path, OnThreads> = BTreeMap::new();
        for id in schedule.node(path).map(Node::computations).unwrap_or_default() {
            let around = schedule.loops_around(id);
            let loops: Vec<&(Path, &Loop)> = around.iter().filter(|(at, _)| path.contains(at)).collect();
            let fixed: Vec<&Affine> =
                around.iter().filter(|(at, _)| !path.contains(at)).map(|(_, it)| &it.at[&id]).collect();
            let mut instances = 1.0;
            for iterator in 0..self.algorithm.computation(id).iterators.len() as u32 {
                if !fixed.iter().any(|at| at.involves_iterator(iterator)) {
                    instances *= self.iterations(id, &Affine::iterator(iterator))?;
                }
            }
            let alone = instances * self.instance(id, &loops);
            let Some(at) = loops.iter().position(|(_, it)| it.tag == Tag::Parallel) else {
                work.add(alone, alone, alone);
                continue;
            };
            let mut starts = START;
            for (_, it) in &loops[..at] {
                starts *= self.iterations(id, &it.at[&id])?;
            }
            let threads = f64::from(self.machine.threads).min(self.iterations(id, &loops[at].1.at[&id])?);
            let nest = on_threads.entry(loops[at].0.clone()).or_insert(OnThreads { starts, shared: 0.0, alone: 0.0 });
            nest.shared += alone / threads;
            nest.alone += alone;
        }
        for it in on_threads.values() {
            // Threads start where that pays.
            match it.alone <= it.starts + it.shared {
                true => work.add(it.alone, it.alone, it.alone),
                false => work.add(it.starts + it.shared, it.shared, it.alone),
            }
        }
        Ok(work)
    }

    /// Cycles of an instance of a computation in its innermost loops.
    fn instance(&self, id: ComputationId, loops: &[&(Path, &Loop)]) -> f64 {
        let computation = self.algorithm.computation(id);
        let (lanes, chains, written_out) = match loops.last().map(|(_, it)| it.tag) {
            Some(Tag::Vector(lanes)) => (f64::from(lanes), LATENCY, 0),
            Some(Tag::Unroll(times)) => (1.0, f64::from(times), 1),
            Some(_) | None => (1.0, 1.0, 0),
        };
        let latency = (LATENCY / chains).max(1.0);
        // Iterations that are written out follow streams of their own, along the loop around them.
        let along = loops.iter().rev().nth(written_out).and_then(|(_, it)| iterator_in(&it.at[&id]));
        let mut cycles = f64::from(operations(self.algorithm, id).max(1)) * 0.5 * latency / lanes;
        for access in computation.reads.iter().chain([&computation.write]) {
            if self.algorithm.array(access.array).kind == ArrayKind::Private {
                continue;
            }
            let step = along.map_or(Step::Stays, |iterator| step_along_axes(self.algorithm, id, access, iterator));
            cycles += match step {
                Step::Stays => 0.25 / lanes,
                Step::Next => 0.5 / lanes,
                Step::Back => 1.0 / lanes,
                // An element of a line that is gone before the next one is used.
                Step::Jumps => 4.0,
            };
        }
        cycles
    }

    /// Bytes that move to and from memory.
    fn bytes(&self, schedule: &Schedule, path: &Path) -> Result<f64, Error> {
        match schedule.node(path) {
            None | Some(Node::Computation(_)) => Ok(0.0),
            Some(Node::Sequence(children)) => {
                let mut sum = self.kept_bytes(schedule, path, children)?;
                for child in 0..children.len() {
                    sum += self.bytes(schedule, &path.child(child))?;
                }
                Ok(sum)
            }
            Some(Node::Loop(it)) => {
                let uses = self.uses(schedule, path, 1)?;
                let room = self.machine.l2_bytes / 2;
                let body = path.child(0);
                let kept = match &*it.body {
                    Node::Sequence(children) => self.kept_bytes(schedule, &body, children)?,
                    Node::Loop(_) | Node::Computation(_) => 0.0,
                };
                let at_a_time = uses.values().fold(kept as u64, |sum, it| sum.saturating_add(it.at_a_time));
                let id = *it.at.keys().next().expect("a loop has statements");
                if is_wave(&it.at[&id]) {
                    // Every row of tiles goes over all of them.
                    return Ok(self.iterations(id, &it.at[&id])? * self.moved(&uses));
                }
                match &*it.body {
                    Node::Sequence(_) if at_a_time > room => {
                        Ok(self.iterations(id, &it.at[&id])? * self.bytes(schedule, &body)?)
                    }
                    Node::Sequence(_) | Node::Loop(_) | Node::Computation(_) => Ok(self.moved(&uses)),
                }
            }
        }
    }

    fn moved(&self, uses: &Uses) -> f64 {
        uses.values().map(|it| it.traffic(self.machine.l2_bytes / 2) as f64).sum()
    }

    /// Bytes of private variables that have to lie in memory because nests of their own use them.
    fn kept_bytes(&self, schedule: &Schedule, path: &Path, children: &[Node]) -> Result<f64, Error> {
        let mut bytes = 0.0;
        let mut seen: BTreeSet<ArrayId> = BTreeSet::new();
        for (at, child) in children.iter().enumerate() {
            if loop_at(schedule, &path.child(at)).is_none() {
                continue;
            }
            let mut used: BTreeSet<ArrayId> = BTreeSet::new();
            for id in child.computations() {
                let computation = self.algorithm.computation(id);
                let arrays = computation.reads.iter().chain([&computation.write]).map(|access| access.array);
                for array in arrays.filter(|&it| self.algorithm.array(it).kind == ArrayKind::Private) {
                    if seen.contains(&array) && used.insert(array) {
                        let mut elements = 2.0 * f64::from(self.algorithm.array(array).element.bytes());
                        for (at, it) in schedule.loops_around(id) {
                            if path.contains(&at) {
                                elements *= self.iterations(id, &it.at[&id])?;
                            }
                        }
                        bytes += elements;
                    }
                    used.insert(array);
                }
            }
            seen.extend(used);
        }
        Ok(bytes)
    }

    /// About how many values a loop of a computation passes through.
    pub(super) fn iterations(&self, id: ComputationId, at: &Affine) -> Result<f64, Error> {
        if let Some(extent) = self.extent_of(id, at)? {
            return Ok(extent.max(1) as f64);
        }
        let of_term = |(atom, factor): &(Atom, i64)| match atom {
            Atom::Iterator(_) => factor.unsigned_abs() as f64 * TYPICAL,
            Atom::FloorDiv(_, divisor) => factor.unsigned_abs() as f64 * (TYPICAL / *divisor as f64).max(1.0),
            Atom::Param(_) => 0.0,
        };
        Ok(at.terms().iter().map(of_term).sum::<f64>().max(1.0))
    }
}

/// Cycles of a nest.
struct Work {
    cycles: f64,
    /// Of its instances alone, shared out among threads.
    shared: f64,
    /// Of its instances on one thread.
    alone: f64,
}

impl Work {
    fn add(&mut self, cycles: f64, shared: f64, alone: f64) {
        self.cycles += cycles;
        self.shared += shared;
        self.alone += alone;
    }
}

/// Cycles of what is below a loop on threads.
struct OnThreads {
    starts: f64,
    shared: f64,
    alone: f64,
}

/// Whether a loop runs over diagonals of tiles.
fn is_wave(at: &Affine) -> bool {
    at.terms().iter().filter(|(atom, _)| matches!(atom, Atom::FloorDiv(..))).count() > 1
}

/// The last iterator that an expression moves with, divisions aside.
pub(super) fn iterator_in(at: &Affine) -> Option<u32> {
    at.terms().iter().rev().find_map(|(atom, _)| match atom {
        Atom::Iterator(position) => Some(*position),
        Atom::Param(_) | Atom::FloorDiv(..) => None,
    })
}
