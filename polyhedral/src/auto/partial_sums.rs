//! Partial results for reductions that no loop around runs in parallel: on a GPU, one thread would do all of their work.
//!
//! ```text
//! for i { a += x[i] }
//!   -> for p in 0..262144 { P[p] = -0.0; for i0 { P[p] += x[..] } }
//!      for q in 0..8192 { Q[q] = -0.0; for p0 { Q[q] += P[..] } }; the same for 256; for r in 0..256 { a += R[r] }
//! ```
//!
//! Only where the source lets the order of updates go. What each partial result takes, and the order in which they are
//! combined, depend on nothing but the sizes, so the result has the same bits in every run. Each step is a command that a user
//! could give, and is proved like one.

use super::asked::Asking;
use super::chooser::Chooser;
use crate::command::Command;
use crate::default_order::{Means, Memory, Tilings};
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::reduction::{UpdateOrder, reductions};
use crate::schedule::{Node, Tag};
use crate::transform;
use std::collections::BTreeSet;

/// Partial results of a long loop, level by level: as many threads as a large GPU runs at a time, then groups of 32.
const LEVELS: [u32; 3] = [1 << 18, 1 << 13, 1 << 8];
/// Partial results of each execution of an inner loop.
const INNER: u32 = 256;
/// A loop with a constant number of iterations below this is not worth it.
const LONG: i64 = 4096;
/// Partial results that the last thread loads before it combines them.
const LAST: u32 = 64;

/// A program with partial results.
#[derive(Debug, Clone)]
pub struct Parted {
    pub scheduled: Scheduled,
    pub dependences: Vec<Dependence>,
    /// What led there.
    pub commands: Vec<Command>,
}

/// Gives partial results to all reductions of a program for a GPU that need them.
pub fn partial_sums(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence]) -> Result<Parted, Error> {
    let mut parted = Parted { scheduled: scheduled.clone(), dependences: dependences.to_vec(), commands: vec![] };
    if scheduled.target == Target::Cpu {
        return Ok(parted);
    }
    for reduction in reductions(&scheduled.algorithm) {
        let is_ranged = !scheduled.algorithm.computation(reduction.computation).ranged.is_empty();
        if reduction.order == UpdateOrder::Source || is_ranged {
            continue;
        }
        let name = scheduled.algorithm.computation(reduction.computation).name.clone();
        let mut trial = parted.clone();
        match trial.part(ctx, &name, reduction.order) {
            Ok(()) => parted = trial,
            Err(error) if error.is_quota() => return Err(error),
            // It stays as it is.
            Err(_) => {}
        }
    }
    Ok(parted)
}

impl Parted {
    /// All levels of one reduction.
    fn part(&mut self, ctx: &Ctx, name: &str, order: UpdateOrder) -> Result<(), Error> {
        if !self.needs_parts(ctx, name)? {
            return Ok(());
        }
        let loops = self.loops(name);
        match (loops.as_slice(), order) {
            ([only], _) => self.levels(ctx, name, only, &LEVELS),
            ([outer, inner], UpdateOrder::Any) => {
                let total = self.factor_inside(ctx, name, outer, inner, INNER)?;
                self.levels(ctx, &total, outer, &LEVELS[1..])
            }
            ([outer, inner], UpdateOrder::Within(_) | UpdateOrder::Source) => {
                // One sum for each execution of the inner loop; these keep their order.
                let total = self.factor_inside(ctx, name, outer, inner, INNER)?;
                let parts = self.innermost(&total);
                let last = self.factor_inside(ctx, &total, outer, &parts, 1)?;
                self.carry_out(ctx, Command::Unroll { computation: last, at: outer.clone(), factor: LAST })
            }
            ([] | [_, _, ..], _) => Ok(()),
        }
    }

    /// Whether nothing around a reduction runs in parallel, and its innermost loop has many iterations.
    fn needs_parts(&self, ctx: &Ctx, name: &str) -> Result<bool, Error> {
        let Scheduled { algorithm, schedule, machine, target, .. } = &self.scheduled;
        let Some(id) = algorithm.find(name) else { return Ok(false) };
        let around = schedule.loops_around(id);
        let Some((innermost, _)) = around.last() else { return Ok(false) };
        if around.len() > 2 || around.iter().any(|(_, it)| it.body.computations() != [id]) {
            return Ok(false);
        }
        let dependences = &self.dependences;
        let chooser = Chooser {
            ctx,
            machine,
            algorithm,
            target: *target,
            dependences,
            means: Means { memory: Memory::Plain, tilings: Tilings::Wanted },
            settled: BTreeSet::new(),
            tagged: BTreeSet::new(),
            asking: Asking::default(),
        };
        for (path, _) in &around {
            let mut trial = schedule.clone();
            if let Some(Node::Loop(it)) = trial.node_mut(path) {
                it.tag = Tag::Parallel;
            }
            if chooser.is_legal(&trial, path)? {
                return Ok(false);
            }
        }
        Ok(chooser.extents(schedule, innermost, 1)?[0].is_none_or(|extent| extent >= LONG))
    }

    /// So many partial results of a loop, then fewer of these, and so on.
    fn levels(&mut self, ctx: &Ctx, name: &str, at: &str, sizes: &[u32]) -> Result<(), Error> {
        let (mut name, mut at) = (name.to_string(), at.to_string());
        for &size in sizes {
            let total = self.factor(ctx, &name, &at, size)?;
            self.join_start(ctx, &name)?;
            at = self.innermost(&total);
            name = total;
        }
        self.carry_out(ctx, Command::Unroll { computation: name, at, factor: LAST })
    }

    /// Gives the name of the statement that combines the partial results.
    fn factor(&mut self, ctx: &Ctx, name: &str, at: &str, size: u32) -> Result<String, Error> {
        self.carry_out(ctx, Command::Rfactor { computation: name.to_string(), at: at.to_string(), size })?;
        let total = self.scheduled.algorithm.computations.last().expect("`rfactor` adds statements");
        Ok(total.name.clone())
    }

    /// The same for the inner of two loops; each of the statements then has loops of its own.
    fn factor_inside(&mut self, ctx: &Ctx, name: &str, outer: &str, at: &str, size: u32) -> Result<String, Error> {
        let total = self.factor(ctx, name, at, size)?;
        self.carry_out(ctx, Command::Distribute { computation: name.to_string(), at: outer.to_string() })?;
        Ok(total)
    }

    /// Where a partial result starts and is updated in loops that follow one another, they become one.
    fn join_start(&mut self, ctx: &Ctx, name: &str) -> Result<(), Error> {
        let computations = &self.scheduled.algorithm.computations;
        let start = computations[computations.len() - 2].name.clone();
        let around = self.loops(name);
        let first = self.loops(&start);
        let (Some(point), Some(at)) = (first.last(), around.iter().position(|it| Some(it) == first.last())) else {
            return Ok(());
        };
        if let Some(outer) = at.checked_sub(1) {
            let (computation, outer) = (name.to_string(), around[outer].clone());
            self.carry_out(ctx, Command::Interchange { computation, outer, inner: point.clone() })?;
        }
        self.carry_out(ctx, Command::Fuse { first: start, second: name.to_string(), at: point.clone() })
    }

    fn carry_out(&mut self, ctx: &Ctx, command: Command) -> Result<(), Error> {
        let (next, renewed) = transform::apply_and_renew(ctx, &self.scheduled, &self.dependences, &command)?;
        self.scheduled = next;
        if let Some(renewed) = renewed {
            self.dependences = renewed;
        }
        self.commands.push(command);
        Ok(())
    }

    /// The names of the loops around a statement, outermost first.
    fn loops(&self, name: &str) -> Vec<String> {
        let id = self.scheduled.algorithm.find(name);
        let around = id.map(|id| self.scheduled.schedule.loops_around(id)).unwrap_or_default();
        around.into_iter().map(|(_, it)| it.name.clone()).collect()
    }

    fn innermost(&self, name: &str) -> String {
        self.loops(name).pop().unwrap_or_default()
    }
}
