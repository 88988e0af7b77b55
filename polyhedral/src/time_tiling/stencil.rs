//! Which time loops are stencils: found from the loops as they stand and the dependences, not from the source's text.
//!
//! The canonical form gives an instance of nest `i` of the time loop's body, of which there are `k`, the step `u = k*t + i`
//! and one position for each dimension of space. Nests are aligned by the names of their loops; what has no loop of a
//! name, such as a boundary, by the axes of the arrays that it shares with the others.
//!
//! # Source
//! Grosser et al., INRIA RR-8339, 2013, section 3.2.

use super::slope::{STEEPEST, Slope, steepest};
use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayId, ComputationId};
use crate::dependence::Dependence;
use crate::error::{Error, ScheduleError, StencilObstacle};
use crate::fresh::fresh_among;
use crate::isl::{Ctx, Map, Set};
use crate::layers::Scheduled;
use crate::legality::{self, Breach, Violation};
use crate::relation;
use crate::schedule::{Loop, Node, Path, Tag};
use crate::transform::{find_loop, repeated, smallest_value};
use std::collections::BTreeMap;

/// The nests of a time loop in canonical form.
#[derive(Debug, Clone)]
pub struct Stencil {
    /// The time loop's place, and itself.
    pub path: Path,
    pub time: Loop,
    /// The names of the dimensions of space, as the command has them.
    pub dims: Vec<String>,
    /// In the order in which a time step runs them.
    pub nests: Vec<Nest>,
    /// Steps of one iteration of the time loop: one for each nest, or fewer once they are [merged](Stencil::merged).
    pub sweeps: i64,
    /// `u` of each computation.
    pub step: BTreeMap<ComputationId, Affine>,
    /// The position of each computation, one for each dimension.
    pub space: BTreeMap<ComputationId, Vec<Affine>>,
    /// The first value of the time loop, where it is a number.
    pub(super) start: i64,
    /// The names of the loops around the time loop and of those inside that stay.
    taken: Vec<String>,
}

/// Loops over space, and what they run.
#[derive(Debug, Clone)]
pub struct Nest {
    /// The loops that are no dimension of space, outermost first; their bodies are of no meaning.
    pub rest: Vec<Loop>,
    pub body: Node,
}

/// What each dependence between the nests does: `{ [steps, distance along each dimension] }`.
#[derive(Debug)]
pub struct Distances {
    pub all: Set,
    /// Whether all dependences within one step are between statements at one point.
    pub parallel_space: bool,
}

/// The canonical form of the loop `time` around `computation`.
///
/// # Errors
/// [`ScheduleError::NotStencil`] where the body is not made of loops, or a statement has no position along a dimension.
pub fn stencil(
    ctx: &Ctx,
    scheduled: &Scheduled,
    computations: &[String],
    time: &str,
    dims: &[String],
) -> Result<Stencil, Error> {
    let first = computations.first().expect("commands name at least one computation");
    if let Some(computation) = repeated(computations.iter()) {
        return Err(ScheduleError::SameComputation { computation: computation.to_string() }.into());
    }
    let time_name = time.to_string();
    if let Some(at) = repeated([&time_name].into_iter().chain(dims)) {
        return Err(ScheduleError::SameLoop { at: at.to_string() }.into());
    }
    let (path, it) = find_loop(scheduled, first, time)?;
    for other in &computations[1..] {
        let (other_path, _) = find_loop(scheduled, other, time)?;
        if other_path != path {
            let (first, second, at) = (first.clone(), other.clone(), time.to_string());
            return Err(ScheduleError::NotAdjacent { first, second, at }.into());
        }
    }
    let names = Names { command: first, time, dims };
    names.check_sequential(it)?;
    let mut chains = vec![];
    nests(&it.body, &mut vec![], &mut chains);
    let mut space = BTreeMap::new();
    for (chain, body) in &chains {
        for part in chain {
            names.check_sequential(part)?;
        }
        for id in body.computations() {
            let along = |dim: &String| chain.iter().find(|it| it.name == *dim).map(|it| it.at[&id].clone());
            space.insert(id, dims.iter().map(along).collect::<Vec<_>>());
        }
    }
    let space = align(&scheduled.algorithm, space, &names)?;
    let start = smallest_value(ctx, &scheduled.algorithm, it)?.unwrap_or(0);
    let count = chains.len() as i64;
    let mut step = BTreeMap::new();
    for (number, (_, body)) in (0..).zip(&chains) {
        for id in body.computations() {
            step.insert(id, it.at[&id].add_constant(-start)?.scale(count)?.add_constant(number)?);
        }
    }
    let nests = chains
        .into_iter()
        .map(|(chain, body)| Nest { rest: chain.into_iter().filter(|it| !dims.contains(&it.name)).collect(), body });
    let nests: Vec<Nest> = nests.collect();
    let id = *step.keys().next().expect("a loop holds at least one computation");
    let outer = scheduled.schedule.loops_around(id).into_iter().filter(|(other, _)| other.0.len() < path.0.len());
    let taken =
        outer.map(|(_, it)| it).chain(nests.iter().flat_map(|nest| &nest.rest)).map(|it| it.name.clone()).collect();
    Ok(Stencil { time: it.clone(), path, dims: dims.to_vec(), nests, sweeps: count, step, space, start, taken })
}

/// What errors name.
struct Names<'a> {
    command: &'a str,
    time: &'a str,
    dims: &'a [String],
}

impl Names<'_> {
    fn refuse(&self, obstacle: StencilObstacle) -> Error {
        let (computation, at) = (self.command.to_string(), self.time.to_string());
        ScheduleError::NotStencil { computation, at, obstacle }.into()
    }

    fn check_sequential(&self, it: &Loop) -> Result<(), Error> {
        match it.tag {
            Tag::Sequential => Ok(()),
            tag => {
                let (computation, at) = (self.command.to_string(), it.name.clone());
                Err(ScheduleError::AlreadyTagged { computation, at, tag: tag.adjective() }.into())
            }
        }
    }
}

/// Takes the loops above each group of statements apart: `for j { for i { S }; for i { R } }` are two nests.
fn nests(node: &Node, chain: &mut Vec<Loop>, found: &mut Vec<(Vec<Loop>, Node)>) {
    match node {
        Node::Computation(_) => found.push((chain.clone(), node.clone())),
        Node::Sequence(children) if children.iter().any(|it| matches!(it, Node::Loop(_))) || chain.is_empty() => {
            children.iter().for_each(|child| nests(child, chain, found));
        }
        Node::Sequence(_) => found.push((chain.clone(), node.clone())),
        Node::Loop(it) => {
            chain.push(it.clone());
            nests(&it.body, chain, found);
            chain.pop();
        }
    }
}

/// Finds the positions that no loop gives: an axis of an array belongs to the dimension that the subscripts of the other
/// nests run along. Nests found so lead to further ones.
fn align(
    algorithm: &Algorithm,
    mut space: BTreeMap<ComputationId, Vec<Option<Affine>>>,
    names: &Names<'_>,
) -> Result<BTreeMap<ComputationId, Vec<Affine>>, Error> {
    loop {
        let axes = axes_of_space(algorithm, &space)?;
        let mut is_found = false;
        for (&id, along) in &mut space {
            for (dim, position) in along.iter_mut().enumerate().filter(|(_, position)| position.is_none()) {
                *position = accesses(algorithm, id).find_map(|access| {
                    let (axis, ahead) = axes.get(&(access.array, dim))?;
                    access.subscripts[*axis].as_affine()?.add_constant(-ahead).ok()
                });
                is_found |= position.is_some();
            }
        }
        if !is_found {
            break;
        }
    }
    let known = |(id, along): (ComputationId, Vec<Option<Affine>>)| {
        let obstacle = |dim: usize| StencilObstacle::NoPosition { computation: id, dim: names.dims[dim].clone() };
        let all = along.into_iter().enumerate().map(|(dim, it)| it.ok_or_else(|| names.refuse(obstacle(dim))));
        Ok((id, all.collect::<Result<_, Error>>()?))
    };
    space.into_iter().map(known).collect()
}

/// By array and dimension: the axis that runs along it, and what its subscript is ahead of the position.
type Axes = BTreeMap<(ArrayId, usize), (usize, i64)>;

fn axes_of_space(algorithm: &Algorithm, space: &BTreeMap<ComputationId, Vec<Option<Affine>>>) -> Result<Axes, Error> {
    let mut axes = Axes::new();
    for (&id, along) in space {
        for access in accesses(algorithm, id) {
            for (dim, position) in along.iter().enumerate() {
                let Some(position) = position else { continue };
                for (axis, subscript) in access.subscripts.iter().enumerate() {
                    let Some(subscript) = subscript.as_affine() else { continue };
                    if let Some(ahead) = subscript.sub(position)?.as_constant() {
                        axes.entry((access.array, dim)).or_insert((axis, ahead));
                    }
                }
            }
        }
    }
    Ok(axes)
}

/// What a computation writes, then what it reads.
fn accesses(algorithm: &Algorithm, id: ComputationId) -> impl Iterator<Item = &Access> {
    let it = algorithm.computation(id);
    std::iter::once(&it.write).chain(&it.reads)
}

impl Stencil {
    /// The distances of all dependences between instances of the time loop, within one execution of it.
    ///
    /// # Errors
    /// [`ScheduleError::NotStencil`] where a loop over space carries a dependence and `within` does not allow it.
    pub fn distances(
        &self,
        ctx: &Ctx,
        scheduled: &Scheduled,
        dependences: &[Dependence],
        within: Within,
    ) -> Result<Distances, Error> {
        let mut all: Option<Set> = None;
        let mut parallel_space = true;
        for (dependence, pairs, distances) in self.moved(ctx, scheduled, dependences)? {
            let (later, now) = self.later_and_beside(&distances)?;
            if !now.is_empty()? {
                parallel_space = false;
                if within == Within::OnePoint {
                    let violation = self.violation(ctx, scheduled, dependence, &pairs, &now)?;
                    return Err(self.refuse(scheduled, StencilObstacle::Carried(Box::new(violation))));
                }
            }
            let kept = match within {
                Within::OnePoint => later,
                Within::Step => distances,
            };
            all = Some(match all {
                None => kept,
                Some(all) => all.union(&kept)?,
            });
        }
        let all = match all {
            Some(all) => all.coalesce()?,
            None => {
                let space = relation::param_space(ctx, &scheduled.algorithm)?;
                Set::empty(&space.add_unnamed_tuple(1 + self.dims.len() as u32)?)?.project_out_all_params()?
            }
        };
        Ok(Distances { all, parallel_space })
    }

    /// Each dependence inside the time loop with its pairs and their distances.
    fn moved<'d>(
        &self,
        ctx: &Ctx,
        scheduled: &Scheduled,
        dependences: &'d [Dependence],
    ) -> Result<Vec<(&'d Dependence, Map, Set)>, Error> {
        let mut found = vec![];
        for dependence in dependences {
            let (source, sink) = (dependence.source.computation, dependence.sink.computation);
            if !self.step.contains_key(&source) || !self.step.contains_key(&sink) {
                continue;
            }
            let (pairs, distances) = self.moved_by(ctx, scheduled, dependence)?;
            found.push((dependence, pairs, distances));
        }
        Ok(found)
    }

    /// The distances of a dependence that lead to later steps, and those that stay in a step but not at one point.
    fn later_and_beside(&self, distances: &Set) -> Result<(Set, Set), Error> {
        let space = distances.space()?;
        let run = Affine::iterator(0).to_isl(&space, &[])?;
        let zero = Affine::constant(0).to_isl(&space, &[])?;
        let later = distances.intersect(&run.gt_set(&zero)?)?;
        let mut same = run.eq_set(&zero)?;
        for dim in 1..=self.dims.len() as u32 {
            same = same.intersect(&Affine::iterator(dim).to_isl(&space, &[])?.eq_set(&zero)?)?;
        }
        let beside = distances.subtract(&later)?.subtract(&same)?;
        Ok((later, beside))
    }

    /// For each dependence that loops over space carry, the parameters for which they do.
    pub(crate) fn carried_for(
        &self,
        ctx: &Ctx,
        scheduled: &Scheduled,
        dependences: &[Dependence],
    ) -> Result<Vec<Set>, Error> {
        let mut found = vec![];
        for (dependence, pairs, distances) in self.moved(ctx, scheduled, dependences)? {
            let (_, beside) = self.later_and_beside(&distances)?;
            if !beside.is_empty()? {
                found.push(self.at_distances(ctx, scheduled, dependence, &pairs, &beside)?.params()?);
            }
        }
        Ok(found)
    }

    /// The pairs of a dependence inside the time loop, and their distances.
    pub(super) fn moved_by(
        &self,
        ctx: &Ctx,
        scheduled: &Scheduled,
        dependence: &Dependence,
    ) -> Result<(Map, Set), Error> {
        let (source, sink) = (dependence.source.computation, dependence.sink.computation);
        let outer = self.outer(scheduled);
        let pairs = legality::together(ctx, &scheduled.algorithm, &scheduled.schedule, dependence, outer)?;
        let (from, to) = (self.map(ctx, scheduled, source)?, self.map(ctx, scheduled, sink)?);
        let distances = pairs.apply_domain(&from)?.apply_range(&to)?.deltas()?.project_out_all_params()?;
        Ok((pairs, distances))
    }

    /// A name that no loop around or inside has.
    pub fn fresh(&self, wanted: &str) -> String {
        fresh_among(wanted, &self.taken)
    }

    /// How many loops stand around the time loop.
    fn outer(&self, scheduled: &Scheduled) -> usize {
        let id = *self.step.keys().next().expect("a loop holds at least one computation");
        scheduled.schedule.loops_around(id).iter().filter(|(path, _)| path.0.len() < self.path.0.len()).count()
    }

    /// `{ S[x] -> [u, positions] }`.
    fn map(&self, ctx: &Ctx, scheduled: &Scheduled, id: ComputationId) -> Result<Map, Error> {
        let mut all = vec![self.step[&id].clone()];
        all.extend(self.space[&id].iter().cloned());
        relation::functions(ctx, &scheduled.algorithm, id, &all)
    }

    /// The slopes along a dimension of space: up (`delta0`) and down (`delta1`).
    ///
    /// # Errors
    /// [`ScheduleError::NotStencil`] where distances grow with the sizes.
    pub fn slopes(
        &self,
        ctx: &Ctx,
        scheduled: &Scheduled,
        dependences: &[Dependence],
        distances: &Distances,
        dim: usize,
    ) -> Result<[Slope; 2], Error> {
        let along = Affine::iterator(dim as u32 + 1);
        let mut found = [Slope::ZERO; 2];
        for (slope, sign) in found.iter_mut().zip([1, -1]) {
            let rise = along.scale(sign)?;
            *slope = match steepest(&distances.all, &rise, &Affine::iterator(0))? {
                Some(slope) => slope,
                None => return Err(self.too_steep(ctx, scheduled, dependences, &rise, &self.dims[dim])?),
            };
        }
        Ok(found)
    }

    /// The refusal of distances along a dimension that no slope bounds.
    fn too_steep(
        &self,
        ctx: &Ctx,
        scheduled: &Scheduled,
        dependences: &[Dependence],
        rise: &Affine,
        dim: &str,
    ) -> Result<Error, Error> {
        let steep = rise.sub(&Affine::iterator(0).scale(STEEPEST)?)?;
        self.refuse_where(ctx, scheduled, dependences, &[steep], dim)
    }

    /// The refusal of the first dependence that has a distance for which none of the values is negative.
    pub(super) fn refuse_where(
        &self,
        ctx: &Ctx,
        scheduled: &Scheduled,
        dependences: &[Dependence],
        values: &[Affine],
        dim: &str,
    ) -> Result<Error, Error> {
        for (dependence, pairs, distances) in self.moved(ctx, scheduled, dependences)? {
            let space = distances.space()?;
            let zero = Affine::constant(0).to_isl(&space, &[])?;
            let mut found = distances;
            for value in values {
                found = found.intersect(&value.to_isl(&space, &[])?.ge_set(&zero)?)?;
            }
            if !found.is_empty()? {
                let violation = Box::new(self.violation(ctx, scheduled, dependence, &pairs, &found)?);
                return Ok(self.refuse(scheduled, StencilObstacle::Unbounded { dim: dim.to_string(), violation }));
            }
        }
        // Each dependence alone has a slope, and the least common one was not found.
        let computation = *self.step.keys().next().expect("a loop holds at least one computation");
        Ok(self.refuse(scheduled, StencilObstacle::NoPosition { computation, dim: dim.to_string() }))
    }

    fn refuse(&self, scheduled: &Scheduled, obstacle: StencilObstacle) -> Error {
        let id = *self.step.keys().next().expect("a loop holds at least one computation");
        let computation = scheduled.algorithm.computation(id).name.clone();
        ScheduleError::NotStencil { computation, at: self.time.name.clone(), obstacle }.into()
    }

    /// The pairs of a dependence with one of the distances.
    fn at_distances(
        &self,
        ctx: &Ctx,
        scheduled: &Scheduled,
        dependence: &Dependence,
        pairs: &Map,
        distances: &Set,
    ) -> Result<Map, Error> {
        let (source, sink) = (dependence.source.computation, dependence.sink.computation);
        let (from, to) = (self.map(ctx, scheduled, source)?, self.map(ctx, scheduled, sink)?);
        // { [u, s] -> [u', s'] } at one of the distances.
        let places = to.range()?.space()?.map_from_set()?;
        let apart = Map::universe(&places)?.deltas_map()?.intersect_range(distances)?.domain()?.unwrap()?;
        Ok(pairs.intersect(&from.apply_range(&apart)?.apply_range(&to.reverse()?)?)?)
    }

    /// The first pair of a dependence with one of the distances.
    fn violation(
        &self,
        ctx: &Ctx,
        scheduled: &Scheduled,
        dependence: &Dependence,
        pairs: &Map,
        distances: &Set,
    ) -> Result<Violation, Error> {
        let pairs = self.at_distances(ctx, scheduled, dependence, pairs, distances)?;
        let witness = legality::witness(&scheduled.algorithm, &scheduled.schedule, dependence, &pairs)?;
        Ok(Violation {
            kind: dependence.kind,
            array: dependence.array,
            source: dependence.source,
            sink: dependence.sink,
            breach: Breach::Unordered,
            witness,
        })
    }
}

/// Which dependences one step may have inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// Only between statements at one point: the loops over space are parallel.
    OnePoint,
    /// Also those that loops over space carry.
    Step,
}
