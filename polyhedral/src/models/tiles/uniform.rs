//! The same counts for stencils, quickly: where every point of the middle looks like every other.
//!
//! Each value is read at a constant distance, each element stands where a linear function of the coordinates says, and
//! every point of the middle is an instance. All of that is proved by isl once for a program; then a tile is counted over
//! its points, in arrays of flags, without isl. [`Uniform::of`] gives nothing for a program of which it does not hold.

use super::count::{Counts, Program, is_result};
use super::shape::{self, Band, Boxes, Slant};
use super::{Approach, Cost};
use crate::affine::{Affine, Atom};
use crate::algorithm::{ArrayKind, ComputationId, Which};
use crate::dependence;
use crate::error::Error;
use crate::isl::{Ctx, DimType, Map, Set, Val};
use crate::relation;
use std::collections::BTreeMap;

/// How far from the middle everything is proved to look the same, along each coordinate that is an iterator.
const REACH: i64 = 80;

/// More points than this, those of each computation for themselves, are not counted one by one.
const MOST_POINTS: i64 = 1 << 25;

/// A band of a program in whose middle all points are alike.
#[derive(Clone)]
pub(super) struct Uniform {
    center: Vec<i64>,
    reach: i64,
    computations: BTreeMap<ComputationId, Facts>,
    flows: Vec<Flow>,
}

/// What holds for all instances of a computation in the middle.
#[derive(Clone)]
struct Facts {
    /// Somebody outside the band reads the value, or the caller sees it.
    kept: bool,
    /// It is a result that counts: see [`is_result`].
    result: bool,
    /// Reads of what was there at entry.
    entry: Vec<Element>,
    /// All accesses of arrays.
    touched: Vec<Element>,
}

/// An element as a function of the coordinates.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Element {
    array: u32,
    /// By axis: the factor of each coordinate, and what is added.
    axes: Vec<(Vec<i64>, i64)>,
}

/// `to` at a point reads the value of `from` at the point less the distance.
#[derive(Clone)]
struct Flow {
    from: ComputationId,
    to: ComputationId,
    distance: Vec<i64>,
}

impl Uniform {
    /// Looks at a band; `None` where points of its middle differ, or too little is known of them.
    pub(super) fn of(ctx: &Ctx, program: &Program, band: &Band) -> Result<Option<Uniform>, Error> {
        if !program.is_certain {
            return Ok(None);
        }
        let Some(center) = shape::center(ctx, program, band)? else { return Ok(None) };
        let reach = reach(band);
        let look = Look { ctx, program, band, center: &center, reach };
        let mut computations = BTreeMap::new();
        for &id in &band.thin {
            let points = relation::domain(&program.algorithm, id)?.apply(&look.map(id)?)?;
            if look.covers(id, &plain(&points)?)? != Cover::Nothing {
                return Ok(None);
            }
        }
        for id in band.main() {
            let Some(facts) = look.facts(id)? else { return Ok(None) };
            computations.insert(id, facts);
        }
        let mut flows = vec![];
        for dependence in &program.flows {
            let (from, to) = (dependence.source.computation, dependence.sink.computation);
            let inside = [from, to].map(|id| computations.contains_key(&id));
            match inside {
                [false, false] => {}
                [true, false] => {
                    let sources =
                        look.around(from)?.intersect(&dependence.relation.domain()?.apply(&look.map(from)?)?)?;
                    match look.covers(from, &plain(&sources)?)? {
                        Cover::All => computations.get_mut(&from).expect("of the band").kept = true,
                        Cover::Nothing => {}
                        Cover::Some => return Ok(None),
                    }
                }
                [false, true] => {
                    let sinks = plain(&dependence.relation.range()?.apply(&look.map(to)?)?)?;
                    if look.covers(to, &sinks)? != Cover::Nothing {
                        return Ok(None);
                    }
                }
                [true, true] => {
                    let moved = dependence.relation.apply_domain(&look.map(from)?)?.apply_range(&look.map(to)?)?;
                    let moved = moved.intersect_range(&look.around(to)?)?;
                    match look.covers(to, &plain(&moved.range()?)?)? {
                        Cover::All => {}
                        Cover::Nothing => continue,
                        Cover::Some => return Ok(None),
                    }
                    let Some(distance) = look.constant(&moved)? else { return Ok(None) };
                    flows.push(Flow { from, to, distance });
                }
            }
        }
        Ok(Some(Uniform { center, reach, computations, flows }))
    }

    /// Counts the tile that [`shape::tile`] makes of some computations of the band, in loops that are long enough for it;
    /// `None` where it has too many points.
    pub(super) fn count(
        &self,
        part: &Band,
        approach: Approach,
        slant: &Slant,
        sizes: &[u64],
    ) -> Option<Option<Counts>> {
        let own = shape::boxes(part, &self.center, slant, sizes);
        let mut run = own.clone();
        if approach == Approach::Redundant {
            let inside = |flow: &&Flow| [flow.from, flow.to].iter().all(|id| part.computations.contains(id));
            let ranges = self
                .flows
                .iter()
                .filter(inside)
                .map(|flow| (flow.from, flow.to, flow.distance.iter().map(|&it| (it, it)).collect()));
            let Some(wide) = shape::widen(&ranges.collect::<Vec<_>>(), run) else { return Some(None) };
            run = wide;
        }
        let grid = Grid::around(&self.center, None, part.has_time, &run, &self.flows)?;
        Some(Some(self.tally(&grid, part, approach, &own, &run)?))
    }

    /// Counts a tile of these boxes, each computation's at its time step from the middle on; `None` where it reaches beyond that.
    pub(super) fn count_boxes(&self, band: &Band, boxes: &Boxes) -> Option<Counts> {
        let grid = Grid::around(&self.center, Some(self.reach), band.has_time, boxes, &self.flows)?;
        self.tally(&grid, band, Approach::Skewed, boxes, boxes)
    }

    /// The least sizes of a tile, in space and then in time, whose edges do not meet: neither a value nor the elements of an array
    /// that one point reads lie farther apart.
    pub(super) fn least(&self, part: &Band, slant: &Slant) -> Vec<u64> {
        let first = usize::from(part.has_time);
        let spread = |ends: &[i64]| ends.iter().max().unwrap_or(&0).max(&0) - ends.iter().min().unwrap_or(&0).min(&0);
        let flows = || {
            let inside = |it: &&Flow| [it.from, it.to].iter().all(|id| part.computations.contains(id));
            self.flows.iter().filter(inside)
        };
        let mut least = vec![];
        for at in 0..part.names.len() {
            let shift = |id: &ComputationId| slant.shift[id][at];
            let moved = flows().map(|it| {
                let time = if part.has_time { it.distance[0] } else { 0 };
                it.distance[first + at] + slant.skew[at] * time + shift(&it.to) - shift(&it.from)
            });
            let mut reach = spread(&moved.collect::<Vec<_>>());
            let mut ends: BTreeMap<(u32, usize), Vec<i64>> = BTreeMap::new();
            for id in part.main() {
                for element in &self.computations[&id].touched {
                    for (axis, (factors, constant)) in element.axes.iter().enumerate() {
                        if factors[first + at] != 0 {
                            let place = constant / factors[first + at] - shift(&id);
                            ends.entry((element.array, axis)).or_default().push(place);
                        }
                    }
                }
            }
            for ends in ends.values() {
                let apart = ends.iter().max().unwrap_or(&0) - ends.iter().min().unwrap_or(&0);
                reach = reach.max(apart);
            }
            least.push(reach.unsigned_abs() + 1);
        }
        if part.has_time {
            least.push(flows().map(|it| it.distance[0].unsigned_abs()).max().unwrap_or(0) + 1);
        }
        least
    }

    /// The middle, without time.
    pub(super) fn origin(&self) -> &[i64] {
        &self.center[1..]
    }

    fn tally(&self, grid: &Grid, part: &Band, approach: Approach, own: &Boxes, run: &Boxes) -> Option<Counts> {
        let planes: BTreeMap<ComputationId, usize> = self.computations.keys().copied().zip(0..).collect();
        let all = planes.len().checked_mul(grid.points).filter(|&all| all <= MOST_POINTS as usize)?;
        let (mut runs, mut owns, mut foreign) = (vec![false; all], vec![false; all], vec![false; all]);
        let place = |id: &ComputationId, at: usize| planes[id] * grid.points + at;
        let moved = |at: usize, by: isize| at.checked_add_signed(by).expect("the grid has a margin as wide as a flow");
        grid.each(run, |id, at, _| runs[place(id, at)] = true);
        grid.each(own, |id, at, _| owns[place(id, at)] = true);
        let moves: Vec<isize> = self.flows.iter().map(|flow| grid.offset(&flow.distance)).collect();
        let hull = hull(&self.center, part.has_time, run);
        let facts = || part.main().map(|id| &self.computations[&id]);
        let mut touched = Elements::within(&hull, facts().flat_map(|it| &it.touched))?;
        let mut given = Elements::within(&hull, facts().flat_map(|it| &it.entry))?;
        let spots = |of: &Elements, all: &[Element]| all.iter().map(|it| of.place(it, hull.len())).collect::<Vec<_>>();
        let places: BTreeMap<ComputationId, [Vec<Spot>; 2]> = part
            .main()
            .map(|id| {
                (id, [spots(&given, &self.computations[&id].entry), spots(&touched, &self.computations[&id].touched)])
            })
            .collect();
        let mut counts = Counts { cost: Cost::default(), footprint: 0, run: 0 };
        grid.each(run, |id, at, point| {
            counts.run += 1;
            for (flow, offset) in self.flows.iter().zip(&moves).filter(|(flow, _)| flow.to == *id) {
                let source = place(&flow.from, moved(at, -offset));
                foreign[source] |= !runs[source];
            }
            places[id][0].iter().for_each(|spot| given.add(spot, point));
            places[id][1].iter().for_each(|spot| touched.add(spot, point));
        });
        let steps = run.keys().map(|(_, step)| *step);
        let window = (steps.clone().min().unwrap_or(0), steps.max().unwrap_or(0));
        grid.each(own, |id, at, point| {
            let facts = &self.computations[id];
            counts.cost.useful += u64::from(facts.result);
            let leaves = |(flow, offset): (&Flow, &isize)| {
                flow.from == *id
                    && match approach {
                        Approach::Plain | Approach::Skewed => !owns[place(&flow.to, moved(at, *offset))],
                        Approach::Redundant => {
                            let step = point[0] + flow.distance[0] - self.center[0];
                            !part.computations.contains(&flow.to) || step < window.0 || step > window.1
                        }
                    }
            };
            counts.cost.stores += u64::from(facts.kept || self.flows.iter().zip(&moves).any(leaves));
        });
        counts.cost.loads = foreign.iter().filter(|it| **it).count() as u64 + given.count();
        counts.cost.memory = counts.cost.loads.max(counts.cost.stores);
        counts.footprint = touched.count();
        Some(counts)
    }
}

/// How far from the middle everything is proved to look the same: where coordinates are sums of iterators, less far.
fn reach(band: &Band) -> i64 {
    let sum = |coordinate: &Affine| coordinate.terms().iter().map(|(_, factor)| factor.abs()).sum::<i64>();
    REACH / band.coordinates.values().flatten().map(sum).max().unwrap_or(1).max(1)
}

/// How much of the middle something covers.
#[derive(PartialEq, Eq)]
enum Cover {
    All,
    Some,
    Nothing,
}

/// The middle of a band, while it is looked at.
struct Look<'a> {
    ctx: &'a Ctx,
    program: &'a Program,
    band: &'a Band,
    center: &'a [i64],
    reach: i64,
}

impl Look<'_> {
    /// `{ S[x] -> [coordinates] }`.
    fn map(&self, id: ComputationId) -> Result<Map, Error> {
        relation::functions(self.ctx, &self.program.algorithm, id, &self.band.coordinates[&id])
    }

    /// The coordinates of the middle.
    fn around(&self, id: ComputationId) -> Result<Set, Error> {
        let mut map = self.map(id)?;
        for (at, &middle) in self.center.iter().enumerate() {
            let value = |it| Val::from_i64(self.ctx, it);
            map = map.lower_bound(DimType::Out, at as u32, &value(middle - self.reach)?)?;
            map = map.upper_bound(DimType::Out, at as u32, &value(middle + self.reach)?)?;
        }
        Ok(map.range()?)
    }

    fn covers(&self, id: ComputationId, coordinates: &Set) -> Result<Cover, Error> {
        let middle = plain(&self.around(id)?)?;
        if middle.intersect(coordinates)?.is_empty()? {
            return Ok(Cover::Nothing);
        }
        Ok(if middle.subtract(coordinates)?.is_empty()? { Cover::All } else { Cover::Some })
    }

    /// Range less domain, where that is the same for all pairs.
    fn constant(&self, moved: &Map) -> Result<Option<Vec<i64>>, Error> {
        let distances = moved.deltas()?;
        let each = (0..self.center.len() as i32).map(|at| {
            let (low, high) = (distances.dim_min_val(at)?.to_i64(), distances.dim_max_val(at)?.to_i64());
            Ok::<_, Error>(low.filter(|_| low == high))
        });
        each.collect()
    }

    /// The iterators as functions of the coordinates, each of which has one more iterator than those before it.
    fn iterators(&self, id: ComputationId) -> Option<Vec<Affine>> {
        let coordinates = &self.band.coordinates[&id];
        let count = self.program.algorithm.computation(id).iterators.len();
        if count != coordinates.len() {
            return None;
        }
        let mut found: Vec<Option<Affine>> = vec![None; count];
        for (at, coordinate) in (0..).zip(coordinates) {
            let mut rest = Affine::iterator(at).add_constant(-coordinate.constant_term()).ok()?;
            let mut new: Option<(u32, i64)> = None;
            for (atom, factor) in coordinate.terms() {
                let Atom::Iterator(iterator) = atom else { return None };
                match (&found[*iterator as usize], new, factor) {
                    (Some(known), _, _) => rest = rest.sub(&known.scale(*factor).ok()?).ok()?,
                    (None, None, 1 | -1) => new = Some((*iterator, *factor)),
                    (None, _, _) => return None,
                }
            }
            let (iterator, factor) = new?;
            found[iterator as usize] = Some(rest.scale(factor).ok()?);
        }
        found.into_iter().collect()
    }

    fn facts(&self, id: ComputationId) -> Result<Option<Facts>, Error> {
        let algorithm = &self.program.algorithm;
        let Some(iterators) = self.iterators(id) else { return Ok(None) };
        let domain = plain(&relation::domain(algorithm, id)?.apply(&self.map(id)?)?)?;
        if self.covers(id, &domain)? != Cover::All {
            return Ok(None);
        }
        let params: Vec<i64> = vec![super::counter::PARAMETER; algorithm.params.len()];
        let (mut entry, mut touched) = (vec![], vec![]);
        for at in algorithm.accesses().filter(|at| at.computation == id) {
            let access = algorithm.access(at);
            let is_private = algorithm.array(access.array).kind == ArrayKind::Private;
            let mut axes = vec![];
            for subscript in &access.subscripts {
                let Some(subscript) = subscript.as_affine().and_then(|it| it.substitute(&iterators).ok()) else {
                    return Ok(None);
                };
                let Some(axis) = linear(&subscript, self.center.len(), &params) else { return Ok(None) };
                axes.push(axis);
            }
            let element = Element { array: access.array.0, axes };
            if let Some(within) = &access.within {
                let within = plain(&within.apply(&self.map(id)?)?)?;
                if self.covers(id, &within)? != Cover::All {
                    return Ok(None);
                }
            }
            if !is_private {
                touched.push(element.clone());
            }
            if at.which == Which::Write || dependence::is_repeated(algorithm, at) {
                continue;
            }
            let mut written: Option<Set> = None;
            for flow in self.program.flows.iter().filter(|it| it.sink == at) {
                let sinks = flow.relation.range()?.apply(&self.map(id)?)?;
                written = Some(match written {
                    None => sinks,
                    Some(written) => written.union(&sinks)?,
                });
            }
            match written {
                None => entry.push(element),
                Some(written) => match self.covers(id, &plain(&written)?)? {
                    Cover::All => {}
                    Cover::Nothing => entry.push(element),
                    Cover::Some => return Ok(None),
                },
            }
        }
        touched.sort();
        touched.dedup();
        let kept = match self.kept(id)? {
            Cover::All => true,
            Cover::Nothing => false,
            Cover::Some => return Ok(None),
        };
        Ok(Some(Facts { kept, result: is_result(algorithm, id), entry, touched }))
    }

    /// Which instances of the middle the caller sees.
    fn kept(&self, id: ComputationId) -> Result<Cover, Error> {
        let name = &self.program.algorithm.computation(id).name;
        for part in self.program.kept().sets_unsorted()? {
            if part.tuple_name()?.as_deref() == Some(name) {
                // Parameters are fixed, and its space has none; the map's has.
                let map = plain_map(&self.map(id)?)?;
                return self.covers(id, &plain(&part.apply(&map)?)?);
            }
        }
        Ok(Cover::Nothing)
    }
}

/// A set whose parameters are fixed, without them.
fn plain(set: &Set) -> Result<Set, Error> {
    Ok(set.project_out_all_params()?)
}

fn plain_map(map: &Map) -> Result<Map, Error> {
    Ok(map.project_out_all_params()?)
}

/// Factors and constant of a function of coordinates.
fn linear(affine: &Affine, coordinates: usize, params: &[i64]) -> Option<(Vec<i64>, i64)> {
    let mut factors = vec![0; coordinates];
    let mut constant = affine.constant_term();
    for (atom, factor) in affine.terms() {
        match atom {
            Atom::Iterator(at) => *factors.get_mut(*at as usize)? = *factor,
            Atom::Param(param) => constant += factor * params[param.0 as usize],
            Atom::FloorDiv(..) => return None,
        }
    }
    Some((factors, constant))
}

/// The least and the greatest of each coordinate.
fn hull(center: &[i64], has_time: bool, boxes: &Boxes) -> Vec<(i64, i64)> {
    let mut ends = vec![(i64::MAX, i64::MIN); center.len()];
    for ((_, step), sides) in boxes {
        let time = has_time.then(|| center[0] + step).map(|it| (it, it));
        for (end, (from, to)) in ends.iter_mut().zip(time.into_iter().chain(sides.iter().copied())) {
            *end = (end.0.min(from), end.1.max(to));
        }
    }
    ends
}

/// Points in and around a tile, numbered.
struct Grid {
    center_time: i64,
    has_time: bool,
    low: Vec<i64>,
    strides: Vec<usize>,
    points: usize,
}

impl Grid {
    /// Room for the boxes and for everything that a flow reaches from them; `None` where that is too much, or farther from
    /// the middle than `most`.
    fn around(center: &[i64], most: Option<i64>, has_time: bool, boxes: &Boxes, flows: &[Flow]) -> Option<Grid> {
        let (mut low, mut high): (Vec<i64>, Vec<i64>) = hull(center, has_time, boxes).into_iter().unzip();
        for at in 0..low.len() {
            let reach = flows.iter().map(|flow| flow.distance[at].abs()).max().unwrap_or(0);
            low[at] -= reach;
            high[at] += reach;
            if most.is_some_and(|most| low[at] < center[at] - most || high[at] > center[at] + most) {
                return None;
            }
        }
        let mut strides = vec![];
        let mut points = 1_i64;
        for (low, high) in low.iter().zip(&high) {
            strides.push(points as usize);
            points = points.checked_mul(high - low + 1)?;
        }
        let fits = points <= MOST_POINTS;
        fits.then_some(Grid { center_time: center[0], has_time, low, strides, points: points as usize })
    }

    fn offset(&self, distance: &[i64]) -> isize {
        distance.iter().zip(&self.strides).map(|(along, stride)| *along as isize * *stride as isize).sum()
    }

    /// Visits the points of boxes: the computation, the point's number, and its coordinates.
    fn each(&self, boxes: &Boxes, mut visit: impl FnMut(&ComputationId, usize, &[i64])) {
        for ((id, step), sides) in boxes {
            let time = self.has_time.then_some(self.center_time + step).map(|it| (it, it));
            let ranges: Vec<(i64, i64)> = time.into_iter().chain(sides.iter().copied()).collect();
            if ranges.iter().any(|(from, to)| from > to) {
                continue;
            }
            let mut point: Vec<i64> = ranges.iter().map(|range| range.0).collect();
            loop {
                let along = point.iter().zip(&self.low).zip(&self.strides);
                let at = along.map(|((at, low), stride)| (at - low) as usize * stride).sum();
                visit(id, at, &point);
                let Some(moved) = (0..point.len()).find(|&axis| point[axis] < ranges[axis].1) else { break };
                point[moved] += 1;
                (0..moved).for_each(|axis| point[axis] = ranges[axis].0);
            }
        }
    }
}

/// Distinct elements of arrays, in one row of flags for each array.
struct Elements {
    rows: BTreeMap<u32, Row>,
}

struct Row {
    /// The first element's place along each axis, and how far its neighbours are apart.
    low: Vec<i64>,
    strides: Vec<i64>,
    flags: Vec<bool>,
}

impl Elements {
    /// Room for what elements become at points within the ranges; `None` where that is too much.
    fn within<'e>(ranges: &[(i64, i64)], all: impl Iterator<Item = &'e Element>) -> Option<Elements> {
        let mut sides: BTreeMap<u32, Vec<(i64, i64)>> = BTreeMap::new();
        for element in all {
            let mine = element.axes.iter().map(|(factors, constant)| {
                let ends = factors.iter().zip(ranges).map(|(factor, (low, high))| (factor * low, factor * high));
                ends.fold((*constant, *constant), |sum, (a, b)| (sum.0 + a.min(b), sum.1 + a.max(b)))
            });
            let mine: Vec<(i64, i64)> = mine.collect();
            let known = sides.entry(element.array).or_insert_with(|| mine.clone());
            known.iter_mut().zip(mine).for_each(|(known, mine)| *known = (known.0.min(mine.0), known.1.max(mine.1)));
        }
        let mut rows = BTreeMap::new();
        for (array, sides) in sides {
            let mut strides = vec![];
            let mut count = 1_i64;
            for (low, high) in &sides {
                strides.push(count);
                count = count.checked_mul(high - low + 1).filter(|&it| it <= MOST_POINTS)?;
            }
            let low = sides.iter().map(|side| side.0).collect();
            rows.insert(array, Row { low, strides, flags: vec![false; count as usize] });
        }
        Some(Elements { rows })
    }

    /// An element's place in its row: a factor for each coordinate, and what is added.
    fn place(&self, element: &Element, coordinates: usize) -> Spot {
        let row = &self.rows[&element.array];
        let mut spot = Spot { array: element.array, factors: vec![0; coordinates], constant: 0 };
        for ((axis, low), stride) in element.axes.iter().zip(&row.low).zip(&row.strides) {
            spot.constant += (axis.1 - low) * stride;
            spot.factors.iter_mut().zip(&axis.0).for_each(|(sum, factor)| *sum += factor * stride);
        }
        spot
    }

    fn add(&mut self, spot: &Spot, point: &[i64]) {
        let at = spot.factors.iter().zip(point).fold(spot.constant, |sum, (factor, at)| sum + factor * at);
        if let Some(row) = self.rows.get_mut(&spot.array) {
            row.flags[at as usize] = true;
        }
    }

    fn count(&self) -> u64 {
        self.rows.values().map(|row| row.flags.iter().filter(|it| **it).count() as u64).sum()
    }
}

struct Spot {
    array: u32,
    factors: Vec<i64>,
    constant: i64,
}
