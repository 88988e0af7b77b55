//! Boxes of instances: what a tile of some approach executes.

use super::Approach;
use super::count::{Program, Tile};
use super::thin;
use crate::affine::Affine;
use crate::algorithm::ComputationId;
use crate::dependence::{Dependence, Keeps};
use crate::error::Error;
use crate::isl::{Aff, Ctx, DimType, Map, Set, UnionSet};
use crate::relation;
use crate::schedule::Node;
use std::collections::BTreeMap;

/// More dimensions of space than this are not tiled: the innermost stay whole.
pub(super) const MOST_DIMENSIONS: usize = 3;

/// Larger skews than this are not tried; with a lean, none beyond the second number; nor leans whose factors add up to more than the
/// third.
pub(super) const LARGEST_SKEW: i64 = 32;
const LARGEST_LEANING_SKEW: i64 = 8;
const LARGEST_LEAN: i64 = 4;

/// Computations with their coordinates: time, if it is tiled, and space.
#[derive(Debug, Clone)]
pub(super) struct Band {
    pub(super) computations: Vec<ComputationId>,
    /// For each computation what the loops around it run through: time where there is any, then space.
    pub(super) coordinates: BTreeMap<ComputationId, Vec<Affine>>,
    /// The names of the loops of space.
    pub(super) names: Vec<String>,
    pub(super) has_time: bool,
    /// Computations of which nothing lies in the middle: boundaries.
    pub(super) thin: Vec<ComputationId>,
}

impl Band {
    /// The computations that fill the middle.
    pub(super) fn main(&self) -> impl Iterator<Item = ComputationId> {
        self.computations.iter().copied().filter(|id| !self.thin.contains(id))
    }

    /// Some of the computations, with their coordinates.
    fn of(&self, computations: Vec<ComputationId>) -> Band {
        let coordinates = computations.iter().map(|id| (*id, self.coordinates[id].clone())).collect();
        Band { computations, coordinates, ..self.clone() }
    }
}

/// Where the tiles of an approach lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slant {
    /// How far space moves with each time step, along each dimension.
    pub(super) skew: Vec<i64>,
    /// For each dimension of space, how far it moves with those before it: one factor for each of them.
    pub(super) lean: Vec<Vec<i64>>,
    /// How far each computation is delayed, along each dimension.
    pub(super) shift: BTreeMap<ComputationId, Vec<i64>>,
}

impl Slant {
    /// Tiles that stand upright.
    pub(super) fn none(band: &Band) -> Slant {
        let still = vec![0; band.names.len()];
        let lean = (0..band.names.len()).map(|it| vec![0; it]).collect();
        Slant { shift: band.computations.iter().map(|&id| (id, still.clone())).collect(), skew: still, lean }
    }

    /// The band whose dimensions of space are those that its tiles are boxes of.
    pub(super) fn leaning(&self, band: &Band) -> Result<Band, Error> {
        let first = usize::from(band.has_time);
        let mut leaning = band.clone();
        for (id, coordinates) in &mut leaning.coordinates {
            for (dimension, factors) in self.lean.iter().enumerate() {
                for (before, factor) in factors.iter().enumerate().filter(|(_, factor)| **factor != 0) {
                    let moved = band.coordinates[id][first + before].scale(*factor)?;
                    coordinates[first + dimension] = coordinates[first + dimension].add(&moved)?;
                }
            }
        }
        Ok(leaning)
    }
}

/// The bands that stand one after the other at the top of the source's order.
pub(super) fn bands(ctx: &Ctx, program: &Program) -> Result<Vec<Band>, Error> {
    let mut tops = vec![];
    let mut open = vec![&program.algorithm.source_order.root];
    while let Some(node) = open.pop() {
        match node {
            Node::Sequence(children) => open.extend(children.iter().rev()),
            Node::Loop(_) => tops.push(computations(node)),
            Node::Computation(_) => {}
        }
    }
    let mut found = vec![];
    for all in tops {
        let shared = shared_loops(program, &all);
        let fewest = all.iter().map(|&id| loops(program, id).len()).min().unwrap_or(0);
        let timed = fewest >= 2 && carries(program, &all)?;
        let deep = if timed { thin::deep(ctx, program, &all)? } else { None };
        let depth = if timed { fewest } else { shared };
        found.push(deep.unwrap_or_else(|| band(program, all, depth, timed)));
    }
    Ok(found)
}

/// The parts of a band that run one after the other in each time step, each by itself: sweeps over space. Boundaries are left out.
pub(super) fn sweeps(program: &Program, whole: &Band) -> Vec<Band> {
    if !whole.has_time {
        return vec![whole.clone()];
    }
    let mut parts: Vec<(Option<usize>, Vec<ComputationId>)> = vec![];
    for &id in &whole.computations {
        // What comes after the loop over time on the way to the computation: a place in a sequence, or a loop.
        let time = program.algorithm.source_order.loops_around(id)[0].0.child(0);
        let place = match program.algorithm.source_order.node(&time) {
            Some(Node::Sequence(_)) => {
                program.algorithm.source_order.path_of(id).and_then(|path| path.0.get(time.0.len()).copied())
            }
            Some(Node::Loop(_) | Node::Computation(_)) | None => None,
        };
        match parts.iter_mut().find(|(at, _)| *at == place) {
            Some((_, ids)) => ids.push(id),
            None => parts.push((place, vec![id])),
        }
    }
    let sweeps = parts.into_iter().map(|(_, ids)| whole.of(ids));
    sweeps.filter(|sweep| sweep.main().next().is_some()).collect()
}

/// Where box tiles may lie so that each waits only for tiles before it along each dimension; `None` where no skew does.
pub(super) fn slant(ctx: &Ctx, program: &Program, band: &Band, approach: Approach) -> Result<Option<Slant>, Error> {
    let dimensions = band.names.len();
    let first = usize::from(band.has_time);
    let mut slant = Slant { skew: vec![], lean: vec![], shift: BTreeMap::new() };
    let mut distances = vec![];
    for dependence in program.dependences.iter().filter(|it| it.keeps == Keeps::Order) {
        let (from, to) = (dependence.source.computation, dependence.sink.computation);
        if band.computations.contains(&from) && band.computations.contains(&to) {
            let mut set = distance(ctx, program, band, dependence)?;
            if approach == Approach::Plain && band.has_time {
                set = set.fix_i32(DimType::Set, 0, 0)?;
            }
            if !set.is_empty()? {
                distances.push((from, to, set));
            }
        }
    }
    for dimension in 0..dimensions {
        let leans = match approach {
            Approach::Skewed => leans(dimension, &slant.lean),
            Approach::Plain | Approach::Redundant => vec![vec![0; dimension]],
        };
        let most = if band.has_time && approach == Approach::Skewed { LARGEST_SKEW } else { 0 };
        let near = most.min(LARGEST_LEANING_SKEW);
        let tried = leans.iter().flat_map(|lean| (0..=near).map(move |factor| (lean, factor)));
        let tried =
            tried.chain(leans.iter().take(1).flat_map(|lean| (near + 1..=most).map(move |factor| (lean, factor))));
        let mut found = None;
        for (lean, factor) in tried {
            let mut bounds = vec![];
            for (from, to, set) in &distances {
                let space = set.space()?;
                let coordinate = |at: usize| Aff::set_dim_on(&space, (first + at) as u32);
                let mut along = coordinate(dimension)?;
                for (before, &factor) in lean.iter().enumerate().filter(|(_, factor)| **factor != 0) {
                    along = along.add(&coordinate(before)?.scale(factor)?)?;
                }
                if factor != 0 {
                    along = along.add(&Aff::set_dim_on(&space, 0)?.scale(factor)?)?;
                }
                bounds.push((*from, *to, set.min_val(&along)?.to_i64()));
            }
            if let Some(shifts) = delays(&band.computations, &bounds) {
                found = Some((factor, lean.clone(), shifts));
                break;
            }
        }
        let Some((factor, lean, shifts)) = found else { return Ok(None) };
        slant.skew.push(factor);
        slant.lean.push(lean);
        for (id, shift) in shifts {
            slant.shift.entry(id).or_default().push(shift);
        }
    }
    Ok(Some(slant))
}

/// How a dimension of space may move with those before it: with multiples of these as they move themselves, small ones first.
fn leans(dimension: usize, before: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut multiples: Vec<Vec<i64>> = vec![vec![]];
    for _ in 0..dimension {
        let longer =
            |it: &Vec<i64>| (0..=LARGEST_LEAN).map(|next| [it.as_slice(), &[next]].concat()).collect::<Vec<_>>();
        multiples = multiples.iter().flat_map(longer).collect();
    }
    multiples.retain(|it| it.iter().sum::<i64>() <= LARGEST_LEAN);
    multiples.sort_by_key(|it| it.iter().sum::<i64>());
    let moved = |factors: &Vec<i64>| {
        let mut lean = factors.clone();
        for (factor, theirs) in factors.iter().zip(before) {
            lean.iter_mut().zip(theirs).for_each(|(value, other)| *value += factor * other);
        }
        lean
    };
    multiples.iter().map(moved).collect()
}

/// The least delays that make all distances non-negative; `None` where there are none.
fn delays(
    ids: &[ComputationId],
    bounds: &[(ComputationId, ComputationId, Option<i64>)],
) -> Option<BTreeMap<ComputationId, i64>> {
    let mut delay: BTreeMap<ComputationId, i64> = ids.iter().map(|&id| (id, 0)).collect();
    // Without a cycle of negative sum no way is longer than there are computations.
    for round in 0..=ids.len() {
        let mut changed = false;
        for (from, to, least) in bounds {
            let needed = delay[from].checked_sub((*least)?)?;
            if delay[to] < needed {
                delay.insert(*to, needed);
                changed = true;
            }
        }
        if !changed {
            return Some(delay);
        }
        if round == ids.len() {
            break;
        }
    }
    None
}

/// Boxes that a tile of these sizes consists of, by computation and time step: each dimension's size, then the number of
/// time steps. `corner` are all coordinates, time first if there is any.
pub(super) fn boxes(band: &Band, corner: &[i64], slant: &Slant, sizes: &[u64]) -> Boxes {
    let origin = &corner[usize::from(band.has_time)..];
    let mut boxes = Boxes::new();
    for id in band.main() {
        for step in 0..steps(band, sizes) {
            let sides = (0..band.names.len()).map(|at| {
                let low = origin[at] - slant.skew[at] * step - slant.shift[&id][at];
                (low, low + sizes[at] as i64 - 1)
            });
            boxes.insert((id, step), sides.collect());
        }
    }
    boxes
}

/// The time steps of a tile; one where time is not tiled.
fn steps(band: &Band, sizes: &[u64]) -> i64 {
    if band.has_time { sizes.get(band.names.len()).map_or(1, |&it| it as i64).max(1) } else { 1 }
}

/// Where the boxes of a tile begin: in the middle, or as far before it as the tile needs to lie within the loops. `None` where
/// it is larger than these.
fn corner(band: &Band, ends: &[(i64, i64)], slant: &Slant, sizes: &[u64]) -> Option<Vec<i64>> {
    let steps = steps(band, sizes);
    let first = usize::from(band.has_time);
    let place = |at: usize| {
        let (low, high) = ends[at];
        // How far boxes lie before the first one, and how far its end is from its begin.
        let (before, along) = match at.checked_sub(first) {
            None => (0, steps - 1),
            Some(dimension) => {
                let shift = slant.shift.values().map(|shift| shift[dimension]).max().unwrap_or(0);
                (slant.skew[dimension] * (steps - 1) + shift, sizes[dimension] as i64 - 1)
            }
        };
        let corner = (low + (high - low) / 2).max(low + before).min(high - along);
        (corner - before >= low).then_some(corner)
    };
    (0..ends.len()).map(place).collect()
}

/// Why there is no tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTile {
    /// It is larger than the loops.
    Beyond,
    /// A time step passes values on and on.
    Chain,
    /// The loops run for nothing.
    Empty,
}

/// The tile of these sizes in the middle of the instances: each dimension's size, then the number of time steps.
pub(super) fn tile(
    ctx: &Ctx,
    program: &Program,
    band: &Band,
    approach: Approach,
    slant: &Slant,
    sizes: &[u64],
) -> Result<Result<Tile, NoTile>, Error> {
    let Some(ends) = ends(ctx, program, band)? else { return Ok(Err(NoTile::Empty)) };
    let Some(corner) = corner(band, &ends, slant, sizes) else { return Ok(Err(NoTile::Beyond)) };
    let start = if band.has_time { step_from(ctx, program, band, corner[0])? } else { 0 };
    let own = boxes(band, &corner, slant, sizes);
    let mut owned = UnionSet::empty_in(ctx)?;
    for ((id, step), sides) in &own {
        owned = owned.union(&part(ctx, program, band, *id, start + step, sides)?)?;
    }
    if approach != Approach::Redundant {
        return Ok(Ok(Tile { run: owned.clone(), inside: owned.clone(), owned }));
    }
    let Some(ranges) = ranges(ctx, program, band)? else { return Ok(Err(NoTile::Chain)) };
    let Some(boxes) = widen(&ranges, own) else { return Ok(Err(NoTile::Chain)) };
    let mut run = UnionSet::empty_in(ctx)?;
    let mut inside = UnionSet::empty_in(ctx)?;
    for ((id, step), sides) in &boxes {
        run = run.union(&part(ctx, program, band, *id, start + step, sides)?)?;
        inside = inside.union(&part(ctx, program, band, *id, start + step, &[])?)?;
    }
    Ok(Ok(Tile { run, owned, inside }))
}

/// By computation and time step, a range along each dimension of space.
pub(super) type Boxes = BTreeMap<(ComputationId, i64), Vec<(i64, i64)>>;

/// Who reads whose value, and the least and greatest distance along each coordinate, time first.
pub(super) type Range = (ComputationId, ComputationId, Vec<(i64, i64)>);

/// How far values travel within a band; `None` where that has no bound.
fn ranges(ctx: &Ctx, program: &Program, band: &Band) -> Result<Option<Vec<Range>>, Error> {
    let mut ranges = vec![];
    for flow in &program.flows {
        let (from, to) = (flow.source.computation, flow.sink.computation);
        if !band.computations.contains(&from) || !band.computations.contains(&to) {
            continue;
        }
        let set = distance(ctx, program, band, flow)?;
        let bounds = (0..=band.names.len() as i32).map(|at| {
            let (low, high) = (set.dim_min_val(at)?.to_i64(), set.dim_max_val(at)?.to_i64());
            Ok::<_, Error>(low.zip(high))
        });
        let Some(bounds) = bounds.collect::<Result<Option<Vec<(i64, i64)>>, _>>()? else { return Ok(None) };
        ranges.push((from, to, bounds));
    }
    Ok(Some(ranges))
}

/// Boxes that hold also what the values of the boxes are computed from, within the tile's time steps; `None` where one
/// time step passes values on and on.
pub(super) fn widen(ranges: &[Range], mut boxes: Boxes) -> Option<Boxes> {
    for _ in 0..=boxes.len() {
        let mut changed = false;
        for (from, to, bounds) in ranges {
            for (key, sides) in boxes.clone().iter().filter(|((id, _), _)| id == to) {
                for back in bounds[0].0..=bounds[0].1.min(key.1) {
                    let Some(source) = boxes.get_mut(&(*from, key.1 - back)) else { continue };
                    for ((low, high), (side, range)) in source.iter_mut().zip(sides.iter().zip(&bounds[1..])) {
                        let wide = ((*low).min(side.0 - range.1), (*high).max(side.1 - range.0));
                        changed |= wide != (*low, *high);
                        (*low, *high) = wide;
                    }
                }
            }
        }
        if !changed {
            return Some(boxes);
        }
    }
    None
}

/// The instances of a computation at one time step whose coordinates in space lie within the sides.
fn part(
    ctx: &Ctx,
    program: &Program,
    band: &Band,
    id: ComputationId,
    time: i64,
    sides: &[(i64, i64)],
) -> Result<UnionSet, Error> {
    let first = usize::from(band.has_time);
    let mut map = relation::functions(ctx, &program.algorithm, id, &band.coordinates[&id])?;
    let mut bounds: Vec<(usize, i64, i64)> = if band.has_time { vec![(0, time, time)] } else { vec![] };
    bounds.extend(sides.iter().enumerate().map(|(at, &(low, high))| (first + at, low, high)));
    for (at, low, high) in bounds {
        let value = |it| crate::isl::Val::from_i64(ctx, it);
        map = map.lower_bound(DimType::Out, at as u32, &value(low)?)?.upper_bound(
            DimType::Out,
            at as u32,
            &value(high)?,
        )?;
    }
    let set = map.domain()?.intersect(&relation::domain(&program.algorithm, id)?)?;
    Ok(set.to_union_set()?.project_out_all_params()?)
}

/// The time of the first instances at or after a time; the time itself, if there are none.
fn step_from(ctx: &Ctx, program: &Program, band: &Band, time: i64) -> Result<i64, Error> {
    let Some(id) = band.main().next() else { return Ok(time) };
    let map = relation::functions(ctx, &program.algorithm, id, &band.coordinates[&id])?;
    let range = relation::domain(&program.algorithm, id)?.apply(&map)?;
    let later = range.lower_bound(DimType::Set, 0, &crate::isl::Val::from_i64(ctx, time)?)?;
    Ok(later.dim_min_val(0)?.to_i64().unwrap_or(time))
}

/// The middle of the ranges of all coordinates.
pub(super) fn center(ctx: &Ctx, program: &Program, band: &Band) -> Result<Option<Vec<i64>>, Error> {
    let middle = |(low, high): &(i64, i64)| low + (high - low) / 2;
    Ok(ends(ctx, program, band)?.map(|ends| ends.iter().map(middle).collect()))
}

/// The least and the greatest value of each coordinate, time first if there is any; `None` where the loops run for nothing.
pub(super) fn ends(ctx: &Ctx, program: &Program, band: &Band) -> Result<Option<Vec<(i64, i64)>>, Error> {
    let Some(id) = band.main().next() else { return Ok(None) };
    let map = relation::functions(ctx, &program.algorithm, id, &band.coordinates[&id])?;
    let range = relation::domain(&program.algorithm, id)?.apply(&map)?;
    if range.is_empty()? {
        return Ok(None);
    }
    Ok(ends_of(&range, band.coordinates[&id].len())?.into_iter().collect())
}

/// How many iterations each loop has at most, whatever the parameters are; `None` for one whose number depends on them.
pub(super) fn constant_extents(ctx: &Ctx, program: &Program, band: &Band) -> Result<Vec<Option<u64>>, Error> {
    let Some(id) = band.main().next() else { return Ok(vec![]) };
    let map = relation::functions(ctx, &program.algorithm, id, &band.coordinates[&id])?;
    let range = program.algorithm.computation(id).domain.apply(&map)?.project_out_all_params()?;
    let ends = ends_of(&range, band.coordinates[&id].len())?;
    Ok(ends.into_iter().map(|ends| ends.map(|(low, high)| (high - low + 1).max(1) as u64)).collect())
}

/// The least and the greatest value along each dimension that has both.
fn ends_of(range: &Set, dimensions: usize) -> Result<Vec<Option<(i64, i64)>>, Error> {
    let ends = |at: usize| {
        let (low, high) = (range.dim_min_val(at as i32)?.to_i64(), range.dim_max_val(at as i32)?.to_i64());
        Ok(low.zip(high))
    };
    (0..dimensions).map(ends).collect()
}

/// `{ [sink - source] }` in the coordinates of a band.
fn distance(ctx: &Ctx, program: &Program, band: &Band, dependence: &Dependence) -> Result<Set, Error> {
    let at = |id: ComputationId| relation::functions(ctx, &program.algorithm, id, &band.coordinates[&id]);
    let relation: Map = dependence.relation.apply_domain(&at(dependence.source.computation)?)?;
    Ok(relation.apply_range(&at(dependence.sink.computation)?)?.deltas()?)
}

/// Whether the outermost loop carries a value from one iteration to the next.
fn carries(program: &Program, ids: &[ComputationId]) -> Result<bool, Error> {
    for flow in &program.flows {
        let (from, to) = (flow.source.computation, flow.sink.computation);
        if !ids.contains(&from) || !ids.contains(&to) {
            continue;
        }
        let ctx = flow.relation.ctx();
        let outer = |id| relation::function(ctx, &program.algorithm, id, &loops(program, id)[0].1);
        let distance = flow.relation.apply_domain(&outer(from)?)?.apply_range(&outer(to)?)?.deltas()?;
        if distance.dim_max_val(0)?.is_pos()? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn band(program: &Program, computations: Vec<ComputationId>, depth: usize, has_time: bool) -> Band {
    let depth = depth.min(MOST_DIMENSIONS + usize::from(has_time));
    let names = names(program, computations[0], depth, has_time);
    let coordinates =
        computations.iter().map(|&id| (id, loops(program, id).into_iter().take(depth).map(|(_, at)| at).collect()));
    Band { coordinates: coordinates.collect(), computations, names, has_time, thin: vec![] }
}

/// The names of the first loops around a computation, time left out.
pub(super) fn names(program: &Program, id: ComputationId, depth: usize, has_time: bool) -> Vec<String> {
    loops(program, id).into_iter().take(depth).skip(usize::from(has_time)).map(|(name, _)| name).collect()
}

/// The loops of a band's computations that its tiles leave whole, each name once.
pub(super) fn whole(program: &Program, band: &Band) -> Vec<String> {
    let depth = band.names.len() + usize::from(band.has_time);
    let mut whole: Vec<String> = vec![];
    for id in band.main() {
        for (name, _) in loops(program, id).into_iter().skip(depth) {
            if !whole.contains(&name) {
                whole.push(name);
            }
        }
    }
    whole
}

/// The loops around a computation: their names and what they run through.
pub(super) fn loops(program: &Program, id: ComputationId) -> Vec<(String, Affine)> {
    let around = program.algorithm.source_order.loops_around(id);
    around.into_iter().map(|(_, it)| (it.name.clone(), it.at[&id].clone())).collect()
}

/// How many loops all of them share.
fn shared_loops(program: &Program, ids: &[ComputationId]) -> usize {
    let order = &program.algorithm.source_order;
    let paths = |id| order.loops_around(id).into_iter().map(|(path, _)| path).collect::<Vec<_>>();
    let first = ids.first().map(|&id| paths(id)).unwrap_or_default();
    let shared = |id: &ComputationId| paths(*id).iter().zip(&first).take_while(|(mine, theirs)| mine == theirs).count();
    ids.iter().map(shared).min().unwrap_or(0)
}

fn computations(node: &Node) -> Vec<ComputationId> {
    match node {
        Node::Sequence(children) => children.iter().flat_map(computations).collect(),
        Node::Loop(it) => it.at.keys().copied().collect(),
        Node::Computation(id) => vec![*id],
    }
}
