//! Nests with loops whose bounds are data, rows of sparse matrices and their like, and with loops that data end.
//!
//! Such a loop stays as the source has it. The outermost loop around it that carries no dependence runs on threads, each
//! with rows of its own, on a GPU with all loops right inside of it that carry none either; what is inside runs in the source's order.

use super::chooser::{Chooser, any_loop, chain_length, loop_at};
use super::gpu::{AXES, TILE};
use super::gpu_storage::moves;
use crate::algorithm::{Algorithm, ArrayId, ArrayKind};
use crate::error::Error;
use crate::expr::{Expr, ExprKind};
use crate::isl::Aff;
use crate::layers::Target;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::{loop_mut, put_chain, take_chain};
use tessella_scalar::ScalarType;

/// Sizes do not bound a loop that runs so far.
const ENDLESS: i64 = 1 << 45;

/// Threads of a block, each with a row at a time: few, as a block is there until its longest row is done.
const ROWS: u32 = 128;

impl Chooser<'_> {
    /// Whether a loop here or below has bounds that are data.
    pub(crate) fn is_ranged(&self, schedule: &Schedule, path: &Path) -> bool {
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        below.into_iter().any(|id| !self.algorithm.computation(id).ranged.is_empty())
    }

    /// Whether data bound a loop of the nest at `path`, or end one inside of it: on a CPU also one that has bounds besides. On a GPU
    /// each thread ends such a loop by itself anyway.
    pub(crate) fn depends_on_data(&self, schedule: &Schedule, path: &Path) -> Result<bool, Error> {
        if self.is_ranged(schedule, path) {
            return Ok(true);
        }
        let Some(it) = loop_at(schedule, path) else { return Ok(false) };
        let is_left = |it: &Loop| is_left_early(self.algorithm, it);
        Ok(self.target == Target::Cpu && any_loop(&it.body, &is_left) || is_endless(self.algorithm, &it.body)?)
    }

    /// Whether data bound a loop itself.
    fn has_data_bounds(&self, it: &Loop) -> bool {
        it.at.iter().any(|(&id, at)| {
            let ranged = &self.algorithm.computation(id).ranged;
            ranged.iter().any(|&iterator| at.involves_iterator(iterator))
        })
    }

    /// Orders a nest in which data bound some loop, none of whose outer loops is parallel.
    pub(crate) fn ranged_nest(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        match loop_at(schedule, path) {
            // Nothing that runs inside is worth threads of its own.
            Some(it) if self.has_data_bounds(it) => Ok(()),
            Some(_) => self.nest_as_it_is(schedule, path),
            None => Ok(()),
        }
    }

    /// Leaves the loops of a nest as they are: the outermost one runs on threads, if it can, else what is inside is ordered by itself.
    pub(crate) fn nest_as_it_is(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        let mut trial = schedule.clone();
        loop_mut(&mut trial, path).tag = Tag::Parallel;
        if !self.is_legal(&trial, path)? {
            if self.target == Target::Gpu && self.take_owned_apart(schedule, path)? {
                return Ok(());
            }
            return self.node(schedule, &path.down(1));
        }
        match self.target {
            Target::Cpu => *schedule = trial,
            Target::Gpu => self.rows_on_threads(schedule, path)?,
        }
        Ok(())
    }

    /// Maps the outermost loop at `path`, and those right inside of it that carry no dependence either, to blocks and threads.
    ///
    /// Rewrite: `for i { S } -> @block for i0 { @thread for i1 { S } }`, or
    /// `for k, j, i { S } -> @block for k, j0, i0 { @thread for j1, i1 { S } }`
    fn rows_on_threads(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        let depth = chain_length(schedule, path);
        let parallel = self.parallel_loops(schedule, path, depth)?;
        let is_plain =
            |&level: &usize| loop_at(schedule, &path.down(level)).is_some_and(|it| !self.has_data_bounds(it));
        let leading =
            (0..depth.min(AXES)).filter(is_plain).zip(&parallel).take_while(|(at, level)| at == *level).count();
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        let cost =
            |level: &usize| self.stride_cost(&below, |id| loop_at(schedule, &path.down(*level))?.at.get(&id).cloned());
        let extents = self.extents(schedule, path, leading)?;
        let fills_warps = |&level: &usize| extents[level].is_none_or(|extent| extent >= i64::from(TILE[0]));
        // Where no loop fills warps, the outermost one has threads alone.
        let (leading, x) = match (0..leading).rev().filter(fills_warps).min_by_key(cost) {
            Some(x) if leading > 1 => (leading, x),
            Some(_) | None => (1, 0),
        };
        let mut trial = schedule.clone();
        let mut chain = take_chain(&mut trial, path, leading);
        let neighbours = chain.remove(x);
        chain.push(neighbours);
        put_chain(&mut trial, path, chain);
        let sizes = match leading {
            1 => vec![vec![ROWS]],
            2 => vec![vec![ROWS / TILE[0]], vec![TILE[0]]],
            _ => vec![vec![], vec![ROWS / TILE[0]], vec![TILE[0]]],
        };
        let (mut tree, parts) = self.split_levels(&trial, path, &sizes)?;
        let axes = [ProcessorAxis::Z, ProcessorAxis::Y, ProcessorAxis::X];
        let (mut blocks, mut threads) = (vec![], vec![]);
        for (parts, &axis) in parts.into_iter().zip(&axes[AXES - leading..]) {
            let mut parts = parts.into_iter();
            blocks.extend(parts.next().map(|it| Loop { tag: Tag::GpuBlock(axis), ..it }));
            threads.extend(parts.map(|it| Loop { tag: Tag::GpuThread(axis), ..it }));
        }
        blocks.extend(threads);
        put_chain(&mut tree, path, blocks);
        if self.is_legal(&tree, path)? {
            *schedule = tree;
        }
        Ok(())
    }
}

/// Whether a loop has nothing to do once a variable is false that it keeps first thing in each iteration: `while` with a condition on data, and
/// loops with a `break`, as they are lowered. Points of which each has such a loop are apart: of several side by side, none could leave it before the last one.
fn is_left_early(algorithm: &Algorithm, it: &Loop) -> bool {
    let below = it.body.computations();
    let [first, others @ ..] = below.as_slice() else { return false };
    let keeps = algorithm.computation(*first);
    let ExprKind::Read(going) = keeps.value.kind else { return false };
    let is_flag = |array: ArrayId| {
        let array = algorithm.array(array);
        array.kind == ArrayKind::Private && array.element == ScalarType::Bool
    };
    let going = &keeps.reads[going as usize];
    if !is_flag(keeps.write.array) || !is_flag(going.array) || moves(keeps, going, *first, it) {
        return false;
    }
    others.iter().all(|&id| {
        let computation = algorithm.computation(id);
        let mut asks = false;
        let mut part = |expr: &Expr| {
            asks |=
                matches!(expr.kind, ExprKind::Read(at) if computation.reads[at as usize].array == keeps.write.array);
        };
        computation.predicate.iter().for_each(|predicate| predicate.walk(&mut part));
        asks
    })
}

/// Whether the loops of a node that data end are still one loop each in another order of its statements: taken apart, all iterations of some
/// statements would run, whatever the data say, or they would never end.
pub(super) fn keeps_ends(algorithm: &Algorithm, before: &Node, after: &Node) -> bool {
    match before {
        Node::Computation(_) => true,
        Node::Sequence(children) => children.iter().all(|child| keeps_ends(algorithm, child, after)),
        Node::Loop(it) => {
            (!is_left_early(algorithm, it) || has_loop_of(it, after)) && keeps_ends(algorithm, &it.body, after)
        }
    }
}

/// Whether a loop has the statements of another one, and runs through the same for each of them.
fn has_loop_of(wanted: &Loop, node: &Node) -> bool {
    match node {
        Node::Computation(_) => false,
        Node::Sequence(children) => children.iter().any(|child| has_loop_of(wanted, child)),
        Node::Loop(it) => wanted.at.iter().all(|(id, at)| it.at.get(id) == Some(at)) || has_loop_of(wanted, &it.body),
    }
}

/// Whether a loop here or below ends where data say, and nowhere else.
pub(super) fn is_endless(algorithm: &Algorithm, node: &Node) -> Result<bool, Error> {
    match node {
        Node::Computation(_) => Ok(false),
        Node::Sequence(children) => {
            for child in children {
                if is_endless(algorithm, child)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Node::Loop(it) => {
            for (&id, at) in &it.at {
                let computation = algorithm.computation(id);
                // All that such a loop runs but its first statement is under its condition.
                if computation.predicate.is_none() {
                    continue;
                }
                let domain = computation.domain.intersect_params(&algorithm.limited_context()?)?;
                let space = domain.space()?;
                for position in (0..computation.iterators.len() as u32).filter(|&it| at.involves_iterator(it)) {
                    let far = Aff::set_dim_on(&space, position)?.ge_set(&Aff::constant_on(&space, ENDLESS)?)?;
                    if !domain.intersect(&far)?.is_empty()? {
                        return Ok(true);
                    }
                }
            }
            is_endless(algorithm, &it.body)
        }
    }
}
