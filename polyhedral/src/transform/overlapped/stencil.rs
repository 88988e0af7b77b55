//! What a time loop is made of: its statements, the arrays that they write, and how both lie in space.

use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, ComputationId, Subscript};
use crate::error::{Error, OverlapObstacle};
use crate::isl::{Ctx, Set};
use crate::layers::Scheduled;
use crate::place::{Side, bound};
use crate::recompute::{Flows, is_seen};
use crate::relation;
use crate::schedule::{Loop, Node, Path};
use std::collections::BTreeMap;

/// A time loop over statements whose instances lie in space where the elements that they write lie.
pub(super) struct Stencil<'a> {
    pub(super) algorithm: &'a Algorithm,
    pub(super) flows: Flows<'a>,
    /// Those of the time loop, in the tree's order.
    pub(super) statements: Vec<ComputationId>,
    /// Where the time loop stands in the present tree.
    pub(super) path: Path,
    /// The numbers of the children of sequences that lead to the time loop in the source's tree.
    pub(super) prefix: Vec<usize>,
    /// The time loop's number among each statement's iterators.
    pub(super) time: BTreeMap<ComputationId, u32>,
    /// The first and the last time step.
    pub(super) first: Affine,
    pub(super) last: Affine,
    /// The arrays that the statements write.
    pub(super) arrays: Vec<ArrayId>,
    /// For each of them the axis along each dimension of space.
    pub(super) axes: BTreeMap<ArrayId, Vec<u32>>,
}

impl Stencil<'_> {
    /// Where an instance lies along a dimension of space: the subscript of what it writes.
    pub(super) fn position(&self, id: ComputationId, dimension: usize) -> &Affine {
        let write = &self.algorithm.computation(id).write;
        let axis = self.axes[&write.array][dimension];
        write.subscripts[axis as usize].as_affine().expect("computed subscripts were refused")
    }

    /// The number of dimensions of space that tiles have.
    pub(super) fn dimensions(&self) -> usize {
        self.axes.values().next().map_or(0, Vec::len)
    }

    /// What an instance reads: its reads, and the old value where the write may not happen.
    pub(super) fn values_read(&self, id: ComputationId) -> Vec<&Access> {
        let it = self.algorithm.computation(id);
        let old = (!it.writes_for_certain()).then_some(&it.write);
        it.reads.iter().chain(old).collect()
    }

    /// Whether anybody sees what the array holds after the loop.
    pub(super) fn is_live_after(&self, array: ArrayId) -> bool {
        let reads = |id: ComputationId| self.algorithm.computation(id).reads.iter().any(|read| read.array == array);
        let outside = self.algorithm.ids().filter(|id| !self.statements.contains(id));
        is_seen(self.algorithm.array(array).kind) || outside.into_iter().any(reads)
    }

    /// The elements that the loop's statements write: `{ A[e] }`.
    pub(super) fn written(&self, ctx: &Ctx, array: ArrayId) -> Result<Set, Error> {
        let mut written: Option<Set> = None;
        for &id in &self.statements {
            let write = &self.algorithm.computation(id).write;
            if write.array == array {
                let elements = relation::access(ctx, self.algorithm, id, write)?.range()?;
                written = Some(match written {
                    None => elements,
                    Some(others) => others.union(&elements)?,
                });
            }
        }
        Ok(written.expect("only arrays that the loop writes are asked for").coalesce()?)
    }
}

/// Recognises the loop at `path` around a computation.
pub(super) fn recognise<'a>(
    ctx: &'a Ctx,
    scheduled: &'a Scheduled,
    id: ComputationId,
    path: &Path,
    loops: &[String],
) -> Result<Result<Stencil<'a>, OverlapObstacle>, Error> {
    let (algorithm, schedule) = (&scheduled.algorithm, &scheduled.schedule);
    let Some(Node::Loop(it)) = schedule.node(path) else { panic!("the path was just found and names a loop") };
    let is_loop = |path: &Path| matches!(schedule.node(path), Some(Node::Loop(_)));
    if (0..path.0.len()).any(|depth| is_loop(&Path(path.0[..depth].to_vec()))) {
        return Ok(Err(OverlapObstacle::NotOutermost));
    }
    let Some(prefix) = source_path(algorithm, id, it) else { return Ok(Err(OverlapObstacle::AnotherOrder)) };
    let statements = it.body.computations();
    let mut time = BTreeMap::new();
    for &id in &statements {
        let Some(position) = it.at[&id].as_iterator() else { return Ok(Err(OverlapObstacle::AnotherOrder)) };
        time.insert(id, position);
        let computation = algorithm.computation(id);
        if !computation.reads.iter().chain([&computation.write]).all(Access::is_affine) {
            return Ok(Err(OverlapObstacle::Subscripts { computation: id }));
        }
    }
    let mut steps: Option<Set> = None;
    for &id in &statements {
        let own = relation::domain(algorithm, id)?.apply(&relation::function(ctx, algorithm, id, &it.at[&id])?)?;
        steps = Some(match steps {
            None => own,
            Some(others) => others.union(&own)?,
        });
    }
    let steps = steps.expect("a loop holds at least one computation").coalesce()?;
    let (first, last) = (bound(ctx, algorithm, &steps, 0, Side::Low)?, bound(ctx, algorithm, &steps, 0, Side::High)?);
    let (Some(first), Some(last)) = (first, last) else { return Ok(Err(OverlapObstacle::Steps)) };

    let mut arrays: Vec<ArrayId> = statements.iter().map(|&id| algorithm.computation(id).write.array).collect();
    arrays.sort();
    arrays.dedup();
    let mut axes = BTreeMap::new();
    for &array in &arrays {
        if algorithm.array(array).kind == ArrayKind::Result {
            return Ok(Err(OverlapObstacle::NoAxis { array }));
        }
        let mut own = vec![];
        for name in loops {
            match axis(scheduled, &statements, array, name) {
                Some(axis) if !own.contains(&axis) => own.push(axis),
                Some(_) | None => return Ok(Err(OverlapObstacle::NoAxis { array })),
            }
        }
        axes.insert(array, own);
    }
    let flows = Flows::new(ctx, algorithm)?;
    Ok(Ok(Stencil { algorithm, flows, statements, path: path.clone(), prefix, time, first, last, arrays, axes }))
}

/// Where the source has the loop: inside of no other.
fn source_path(algorithm: &Algorithm, id: ComputationId, it: &Loop) -> Option<Vec<usize>> {
    let around = algorithm.source_order.loops_around(id);
    let (path, outermost) = around.first()?;
    (outermost.at == it.at).then(|| path.0.clone())
}

/// The axis of an array along which the loop of this name moves its writers.
fn axis(scheduled: &Scheduled, statements: &[ComputationId], array: ArrayId, name: &str) -> Option<u32> {
    let algorithm = &scheduled.algorithm;
    let mut found = None;
    for &id in statements.iter().filter(|&&id| algorithm.computation(id).write.array == array) {
        let around = scheduled.schedule.loops_around(id);
        let Some((_, it)) = around.into_iter().find(|(_, it)| it.name == name) else { continue };
        let follows = |subscript: &Subscript| {
            let apart = subscript.as_affine().and_then(|subscript| subscript.sub(&it.at[&id]).ok());
            apart.is_some_and(|apart| apart.as_constant().is_some())
        };
        let own = algorithm.computation(id).write.subscripts.iter().position(follows)? as u32;
        if *found.get_or_insert(own) != own {
            return None;
        }
    }
    found
}
