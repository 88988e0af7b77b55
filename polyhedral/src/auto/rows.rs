//! Loops on a GPU whose rows the lanes of a warp had better read together: `share_rows`.
//!
//! Neighbouring threads have rows of their own, and each goes through its row by itself:
//!
//! ```text
//! @thread i { for k in rows[i] { s += val[k] * x[col[k]] } }  ->  @thread i { @rows for k in rows[i] { ... } }
//! ```
//!
//! It pays where what is read lies side by side along the row, and not side by side for neighbouring threads.

use super::chooser::Chooser;
use super::gpu_storage::{iterators, moves};
use crate::algorithm::{Access, ArrayId, Computation, ComputationId, Subscript};
use crate::command::Command;
use crate::default_order::Chosen;
use crate::error::Error;
use crate::expr::{Expr, ExprKind};
use crate::rows::of_loop;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};

/// Rows with fewer iterations, for all sizes, stay with their threads.
const SHORT: i64 = 16;

impl Chooser<'_> {
    /// Tags the loops of a finished order whose rows lanes share, but those of computations that were ordered before.
    pub(crate) fn share_rows(&self, chosen: &mut Chosen, before: &Schedule) -> Result<(), Error> {
        let algorithm = &chosen.scheduled.algorithm;
        let has_tags = |id: ComputationId| before.loops_around(id).iter().any(|(_, it)| it.tag != Tag::Sequential);
        // Arrays that the threads of a block bring to shared memory have rows that all of them read.
        let is_brought = |id: &ComputationId| {
            let name = &algorithm.computation(*id).name;
            let brings = |it: &Command| matches!(it, Command::CacheShared { .. }) && it.mentions(name);
            chosen.storage.iter().any(brings)
        };
        let mut found = vec![];
        for (path, kernel) in kernels(&chosen.scheduled.schedule.root, &Path::default()) {
            let ids = kernel.computations();
            if ids.iter().any(|id| is_brought(id) || before.path_of(*id).is_some() && has_tags(*id)) {
                continue;
            }
            let written: Vec<ArrayId> = ids.iter().map(|&id| algorithm.computation(id).write.array).collect();
            self.rows_below(&chosen.scheduled.schedule, &path, None, &written, &mut found)?;
        }
        for path in found {
            if let Some(Node::Loop(it)) = chosen.scheduled.schedule.node_mut(&path) {
                it.tag = Tag::Rows;
            }
        }
        Ok(())
    }

    /// Finds such loops right inside of the loops of a kernel that are spread over threads.
    fn rows_below(
        &self,
        schedule: &Schedule,
        path: &Path,
        threads: Option<&Loop>,
        written: &[ArrayId],
        found: &mut Vec<Path>,
    ) -> Result<(), Error> {
        match schedule.node(path) {
            None | Some(Node::Computation(_)) => Ok(()),
            Some(Node::Sequence(children)) if threads.is_some() => (0..children.len())
                .try_for_each(|child| self.rows_below(schedule, &path.child(child), threads, written, found)),
            Some(Node::Sequence(_)) => Ok(()),
            Some(Node::Loop(it)) => match it.tag {
                Tag::GpuThread(ProcessorAxis::X) => self.rows_below(schedule, &path.child(0), Some(it), written, found),
                Tag::GpuBlock(_) | Tag::GpuThread(_) if threads.is_none() => {
                    self.rows_below(schedule, &path.child(0), None, written, found)
                }
                Tag::Sequential | Tag::Unroll(_) => {
                    let long = self.extents(schedule, path, 1)?[0].is_none_or(|extent| extent >= SHORT);
                    if long && threads.is_some_and(|x| self.shares_well(it, x, written)) {
                        found.push(path.clone());
                    }
                    Ok(())
                }
                _ => Ok(()),
            },
        }
    }

    /// Whether lanes that share the rows of a loop read neighbours where they did not, and still do where they did.
    fn shares_well(&self, it: &Loop, x: &Loop, written: &[ArrayId]) -> bool {
        let Ok(shared) = of_loop(self.algorithm, it, &|array| written.contains(&array)) else { return false };
        let mut runs_along = false;
        for (id, shared) in &shared {
            let computation = self.algorithm.computation(*id);
            let (along, threads) = (iterators(computation, *id, it), iterators(computation, *id, x));
            let is_ranged = along.iter().any(|iterator| computation.ranged.contains(iterator));
            let mut reads = vec![];
            shared.values.iter().chain(&shared.asked).for_each(|value| reads_in(computation, value, &mut reads));
            for read in reads {
                let Some(first) = read.subscripts.first() else { continue };
                let step = |of: &[u32]| -> Option<i64> {
                    let affine = Subscript::as_affine(first)?;
                    let all: Vec<i64> = of.iter().map(|&at| affine.coefficient(at)).collect();
                    all.into_iter().find(|&step| step != 0)
                };
                if step(&threads).is_some_and(|step| step.abs() == 1) && step(&along).is_none() {
                    return false;
                }
                let has_rows = is_ranged || moves(computation, read, *id, x);
                runs_along |= step(&along).is_some_and(|step| step.abs() == 1) && step(&threads).is_none() && has_rows;
            }
        }
        runs_along
    }
}

/// The outermost loops that are spread over blocks or threads.
fn kernels<'a>(node: &'a Node, path: &Path) -> Vec<(Path, &'a Node)> {
    match node {
        Node::Computation(_) => vec![],
        Node::Sequence(children) => {
            (0..).zip(children).flat_map(|(at, child)| kernels(child, &path.child(at))).collect()
        }
        Node::Loop(it) if matches!(it.tag, Tag::GpuBlock(_) | Tag::GpuThread(_)) => vec![(path.clone(), node)],
        Node::Loop(it) => kernels(&it.body, &path.child(0)),
    }
}

/// The reads of an expression, those of names and of subscripts among them.
fn reads_in<'a>(it: &'a Computation, expr: &'a Expr, found: &mut Vec<&'a Access>) {
    let mut inner = vec![];
    expr.walk(&mut |part| match &part.kind {
        ExprKind::Read(at) => {
            let access = &it.reads[*at as usize];
            found.push(access);
            inner.extend(access.subscripts.iter().filter_map(Subscript::as_computed));
        }
        ExprKind::Let(at) => inner.push(&it.lets[*at as usize].value),
        _ => {}
    });
    inner.into_iter().for_each(|expr| reads_in(it, expr, found));
}
