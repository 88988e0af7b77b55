//! What a time loop is made of: its statements, the arrays that they write, and how both lie in space.

use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, ComputationId, Subscript};
use crate::error::{Error, OverlapObstacle};
use crate::isl::{Ctx, DimType, Map, Set};
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
    /// The time loop's value for each statement: `t`, or `-t` where the loop counts down.
    pub(super) time: BTreeMap<ComputationId, Affine>,
    /// The first and the last time step.
    pub(super) first: Affine,
    pub(super) last: Affine,
    /// The arrays that the statements write.
    pub(super) arrays: Vec<ArrayId>,
    /// For each of them where its elements lie along each dimension of space.
    pub(super) places: BTreeMap<ArrayId, Vec<Place>>,
}

/// Where an array's elements lie along a dimension of space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Where this axis says.
    Axis(u32),
    /// All at one place: what `seen[t] = A[place]` keeps of each step.
    At(Affine),
}

impl Place {
    /// Where an element lies, whose subscripts are the iterators from this one on.
    pub(super) fn of_element(&self, first: u32) -> Affine {
        match self {
            Place::Axis(axis) => Affine::iterator(first + axis),
            Place::At(at) => at.clone(),
        }
    }
}

impl Stencil<'_> {
    /// Where an instance lies along a dimension of space: where what it writes does.
    pub(super) fn position(&self, id: ComputationId, dimension: usize) -> &Affine {
        let write = &self.algorithm.computation(id).write;
        self.place(write, dimension)
    }

    /// Where what an access touches lies along a dimension of space.
    fn place<'b>(&'b self, access: &'b Access, dimension: usize) -> &'b Affine {
        match &self.places[&access.array][dimension] {
            Place::Axis(axis) => {
                access.subscripts[*axis as usize].as_affine().expect("computed subscripts were refused")
            }
            Place::At(at) => at,
        }
    }

    /// The accesses of a statement to an array.
    fn accesses(&self, id: ComputationId, array: ArrayId) -> impl Iterator<Item = &Access> {
        let it = self.algorithm.computation(id);
        it.reads.iter().chain([&it.write]).filter(move |access| access.array == array)
    }

    /// The statements that touch an array.
    pub(super) fn touching(&self, array: ArrayId) -> impl Iterator<Item = ComputationId> {
        self.statements.iter().copied().filter(move |&id| self.accesses(id, array).next().is_some())
    }

    /// Whether all statements touch only what lies where they do.
    pub(super) fn is_touched_in_place(&self, array: ArrayId) -> bool {
        self.touching(array).all(|id| {
            let here = |access| (0..self.dimensions()).all(|it| self.place(access, it) == self.position(id, it));
            self.accesses(id, array).all(here)
        })
    }

    /// Whether a step's subscripts say which step it is.
    pub(super) fn has_elements_of_steps(&self, array: ArrayId) -> bool {
        self.statements.iter().any(|id| {
            let it = self.algorithm.computation(*id);
            let steps = (0..it.iterators.len() as u32).filter(|&at| self.time[id].involves_iterator(at));
            let of_step = |subscript: &Affine| steps.clone().any(|at| subscript.involves_iterator(at));
            it.write.array == array && it.write.subscripts.iter().filter_map(Subscript::as_affine).any(of_step)
        })
    }

    /// Whether all that an array holds lies at one place along a dimension of space.
    pub(super) fn is_at_one_place(&self, array: ArrayId) -> bool {
        self.places[&array].iter().any(|place| matches!(place, Place::At(_)))
    }

    /// The axis of an array along a dimension of space.
    pub(super) fn axis(&self, dimension: usize) -> Option<u32> {
        let of_array = |places: &Vec<Place>| match places[dimension] {
            Place::Axis(axis) => Some(axis),
            Place::At(_) => None,
        };
        self.places.values().find_map(of_array)
    }

    /// The number of dimensions of space that tiles have.
    pub(super) fn dimensions(&self) -> usize {
        self.places.values().next().map_or(0, Vec::len)
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

    /// What tells the steps apart: values that the loop leaves out, or a statement that does not run at the same places in all of them.
    pub(super) fn uneven(&self, ctx: &Ctx) -> Result<Option<OverlapObstacle>, Error> {
        let mut steps: Option<Set> = None;
        let mut moving = None;
        for &id in &self.statements {
            let mut each = vec![self.time[&id].clone()];
            each.extend((0..self.dimensions()).map(|dimension| self.position(id, dimension).clone()));
            // { [time, places] }
            let runs =
                relation::domain(self.algorithm, id)?.apply(&relation::functions(ctx, self.algorithm, id, &each)?)?;
            let dimensions = self.dimensions() as u32;
            let own = runs.project_out(DimType::Set, 1, dimensions)?;
            let places = runs.project_out(DimType::Set, 0, 1)?;
            let all = Map::from_domain_and_range(&own, &places)?.wrap()?.flatten()?.reset_tuple_id()?;
            if moving.is_none() && !all.is_subset(&runs)? {
                moving = Some(OverlapObstacle::Moving { computation: id });
            }
            steps = Some(match steps {
                None => own,
                Some(others) => others.union(&own)?,
            });
        }
        let steps = steps.expect("a loop holds at least one computation").coalesce()?;
        let between = Set::from_basic_set(&steps.remove_divs()?.simple_hull()?)?;
        match between.is_subset(&steps)? {
            true => Ok(moving),
            false => Ok(Some(OverlapObstacle::Gaps)),
        }
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
        time.insert(id, it.at[&id].clone());
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
    // Each of three arrays that change places is written in one step of three.
    let steps = steps.expect("a loop holds at least one computation").coalesce()?.simple_hull()?;
    let steps = Set::from_basic_set(&steps)?;
    let (first, last) = (bound(ctx, algorithm, &steps, 0, Side::Low)?, bound(ctx, algorithm, &steps, 0, Side::High)?);
    let (Some(first), Some(last)) = (first, last) else { return Ok(Err(OverlapObstacle::Steps)) };

    let mut arrays: Vec<ArrayId> = statements.iter().map(|&id| algorithm.computation(id).write.array).collect();
    arrays.sort();
    arrays.dedup();
    let mut places: BTreeMap<ArrayId, Vec<Place>> = BTreeMap::new();
    // Of arrays without an axis, where what is read lies tells where they do.
    let (with_all, others): (Vec<_>, Vec<_>) = arrays.iter().partition(|&&array| {
        loops.iter().all(|name| matches!(axis(scheduled, &statements, array, name), Some(Some(_))))
    });
    let mut left: Vec<ArrayId> = with_all.into_iter().chain(others).copied().collect();
    while !left.is_empty() {
        // Those first of which a loop of this name, or what they are made of, tells.
        let is_told = |array: &ArrayId| {
            (loops.iter().enumerate()).all(|(dimension, name)| match axis(scheduled, &statements, *array, name) {
                Some(None) => along(algorithm, &statements, &places, *array, dimension).is_some(),
                told => told.is_some(),
            })
        };
        let array = left.remove(left.iter().position(is_told).unwrap_or(0));
        if algorithm.array(array).kind == ArrayKind::Result {
            return Ok(Err(OverlapObstacle::NoAxis { array }));
        }
        let mut own = vec![];
        for (dimension, name) in loops.iter().enumerate() {
            let place = match axis(scheduled, &statements, array, name) {
                Some(Some(axis)) => Some(Place::Axis(axis)),
                Some(None) => {
                    let along = along(algorithm, &statements, &places, array, dimension).map(Place::Axis);
                    along.or_else(|| fixed(algorithm, &statements, &places, array, dimension).map(Place::At))
                }
                None => None,
            };
            match place {
                Some(place) if !own.contains(&place) || matches!(place, Place::At(_)) => own.push(place),
                Some(_) | None => return Ok(Err(OverlapObstacle::NoAxis { array })),
            }
        }
        places.insert(array, own);
    }
    let flows = Flows::new(ctx, algorithm)?;
    Ok(Ok(Stencil { algorithm, flows, statements, path: path.clone(), prefix, time, first, last, arrays, places }))
}

/// Where the source has the loop: inside of no other.
fn source_path(algorithm: &Algorithm, id: ComputationId, it: &Loop) -> Option<Vec<usize>> {
    let around = algorithm.source_order.loops_around(id);
    let (path, outermost) = around.first()?;
    // What has been inlined stands in no loop any more.
    let stood = outermost.at.iter().filter(|(id, _)| !algorithm.computation(**id).never_runs());
    let stands = it.at.iter().filter(|(id, _)| !algorithm.computation(**id).never_runs());
    stood.eq(stands).then(|| path.0.clone())
}

/// The axis of an array along which the loop of this name moves its writers; `Some(None)` where it moves none of them, and `None` where
/// they do not agree.
fn axis(scheduled: &Scheduled, statements: &[ComputationId], array: ArrayId, name: &str) -> Option<Option<u32>> {
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
    Some(found)
}

/// The axis of an array, whose writers have no loop of a dimension's name, along which they move with what they read there: of
/// `A[x, y] = B[x, y]` beside `B[i, j] = ...` the axis of `y` for `j`.
fn along(
    algorithm: &Algorithm,
    statements: &[ComputationId],
    known: &BTreeMap<ArrayId, Vec<Place>>,
    array: ArrayId,
    dimension: usize,
) -> Option<u32> {
    let mut found = None;
    for &id in statements.iter().filter(|&&id| algorithm.computation(id).write.array == array) {
        let it = algorithm.computation(id);
        for read in it.reads.iter().filter(|read| read.array != array) {
            let Some(Place::Axis(axis)) = known.get(&read.array).map(|of| &of[dimension]) else { continue };
            let there = read.subscripts[*axis as usize].as_affine()?;
            let follows = |subscript: &Subscript| {
                let apart = subscript.as_affine().and_then(|subscript| subscript.sub(there).ok());
                there.involves_any_iterator() && apart.is_some_and(|apart| apart.as_constant().is_some())
            };
            let own = it.write.subscripts.iter().position(follows)? as u32;
            if *found.get_or_insert(own) != own {
                return None;
            }
        }
    }
    found
}

/// The one place along a dimension of all that the writers of an array read there, where sizes and constants give it.
fn fixed(
    algorithm: &Algorithm,
    statements: &[ComputationId],
    known: &BTreeMap<ArrayId, Vec<Place>>,
    array: ArrayId,
    dimension: usize,
) -> Option<Affine> {
    let mut found: Option<&Affine> = None;
    for &id in statements.iter().filter(|&&id| algorithm.computation(id).write.array == array) {
        for read in algorithm.computation(id).reads.iter().filter(|read| read.array != array) {
            let Some(Place::Axis(axis)) = known.get(&read.array).map(|of| &of[dimension]) else { continue };
            let place = read.subscripts[*axis as usize].as_affine().filter(|it| !it.involves_any_iterator())?;
            if found.get_or_insert(place) != &place {
                return None;
            }
        }
    }
    found.cloned()
}
