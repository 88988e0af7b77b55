//! The same counts for stencils, quickly: where every point of the middle looks like every other.
//!
//! Each value is read at a constant distance, each element stands where a linear function of the coordinates says, and
//! every point of the middle is an instance. All of that is proved by isl once for a program; then a tile is counted over
//! its points, in arrays of flags, without isl. [`Uniform::of`] gives nothing for a program of which it does not hold.
//! A computation may run at every second time only, or more rarely, if it does so everywhere.

mod grid;
mod look;

use super::band::Band;
use super::count::{Counts, Program};
use super::shape::{self, Boxes};
use super::slant::Slant;
use super::{Approach, Cost};
use crate::affine::Affine;
use crate::algorithm::ComputationId;
use crate::error::Error;
use crate::isl::Ctx;
use crate::relation;
use grid::{Elements, Grid, MOST_POINTS, Spot, count, hull};
use look::{Cover, Look, plain, times};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// How far from the middle everything is proved to look the same, along each coordinate that is an iterator.
const REACH: i64 = 80;

/// A band of a program in whose middle all points are alike.
#[derive(Clone)]
pub(super) struct Uniform {
    center: Vec<i64>,
    reach: i64,
    computations: BTreeMap<ComputationId, Facts>,
    flows: Vec<Flow>,
    /// For one count after the other, each of which leaves them unset: there are thousands of counts, and grids are large beside tiles.
    flags: RefCell<Flags>,
    /// Points that were counted, each times what it reads.
    spent: Cell<u64>,
}

/// For each computation at each point of a grid: whether the tile runs it, whether it is the tile's own, and whether the tile needs its value from
/// elsewhere.
#[derive(Clone, Default)]
struct Flags {
    runs: Vec<bool>,
    owns: Vec<bool>,
    foreign: Vec<bool>,
}

impl Flags {
    /// Room for so many, none of which are set.
    fn make_room(&mut self, length: usize) {
        for flags in [&mut self.runs, &mut self.owns, &mut self.foreign] {
            flags.resize(flags.len().max(length), false);
        }
    }
}

/// What holds for all instances of a computation in the middle.
#[derive(Clone)]
struct Facts {
    times: Times,
    /// Somebody outside the band reads the value, or the caller sees it.
    kept: bool,
    /// It is a result that counts: see [`is_result`].
    result: bool,
    /// Reads of what was there at entry.
    entry: Vec<Element>,
    /// All accesses of arrays.
    touched: Vec<Element>,
}

/// The times at which a computation runs: those that are whole periods from one of them.
#[derive(Debug, Clone, Copy)]
struct Times {
    period: i64,
    offset: i64,
}

impl Times {
    const ALL: Times = Times { period: 1, offset: 0 };

    /// How far the next such time is, from a time on.
    fn after(&self, time: i64) -> i64 {
        (self.offset - time).rem_euclid(self.period)
    }
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
        let Some(mut center) = shape::center(ctx, program, band)? else { return Ok(None) };
        let mut rhythm = BTreeMap::new();
        for id in band.main().filter(|_| band.has_time) {
            let Some(times) = times(ctx, program, band, id, center[0])? else { return Ok(None) };
            rhythm.insert(id, times);
        }
        // A tile begins where the first computation runs.
        if let Some(first) = band.main().next().and_then(|id| rhythm.get(&id)) {
            center[0] = first.offset;
        }
        let reach = reach(band);
        let look = Look { ctx, program, band, center: &center, reach, times: &rhythm };
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
        Ok(Some(Uniform { center, reach, computations, flows, flags: RefCell::default(), spent: Cell::new(0) }))
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
        // A tile begins with the first of its computations.
        let first = part.main().next().map_or(0, |id| self.computations[&id].times.after(self.center[0]));
        let boxes = shape::boxes(part, &self.center, slant, sizes).into_iter();
        let mut own: Boxes = boxes.map(|((id, step), sides)| ((id, step + first), sides)).collect();
        own.retain(|&(id, step), _| self.computations[&id].times.after(self.center[0] + step) == 0);
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

    /// Counts a tile of these boxes, each computation's at its time step from the middle on; `None` where it reaches beyond that, or
    /// where computations do not run at all times.
    pub(super) fn count_boxes(&self, band: &Band, boxes: &Boxes) -> Option<Counts> {
        if self.computations.values().any(|it| it.times.period > 1) {
            return None;
        }
        let grid = Grid::around(&self.center, Some(self.reach), band.has_time, boxes, &self.flows)?;
        self.tally(&grid, band, Approach::Skewed, boxes, boxes)
    }

    /// The same in loops that are long enough, wherever the tile ends. Of a computation that does not run at all times those are left
    /// out at which it does not; `None` where there are too many points.
    pub(super) fn count_long(&self, band: &Band, mut boxes: Boxes) -> Option<Counts> {
        boxes.retain(|&(id, step), _| self.computations[&id].times.after(self.center[0] + step) == 0);
        let grid = Grid::around(&self.center, None, band.has_time, &boxes, &self.flows)?;
        self.tally(&grid, band, Approach::Skewed, &boxes, &boxes)
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

    /// How much has been counted, in points times what each reads.
    pub(super) fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// The middle, without time.
    pub(super) fn origin(&self) -> &[i64] {
        &self.center[1..]
    }

    fn tally(&self, grid: &Grid, part: &Band, approach: Approach, own: &Boxes, run: &Boxes) -> Option<Counts> {
        let planes: BTreeMap<ComputationId, usize> = self.computations.keys().copied().zip(0..).collect();
        let all = planes.len().checked_mul(grid.points).filter(|&all| all <= MOST_POINTS as usize)?;
        let place = |id: ComputationId, at: usize| planes[&id] * grid.points + at;
        let moved = |at: usize, by: isize| at.checked_add_signed(by).expect("the grid has a margin as wide as a flow");
        let moves: Vec<isize> = self.flows.iter().map(|flow| grid.offset(&flow.distance)).collect();
        let flows = || self.flows.iter().zip(&moves);
        let hull = hull(&self.center, part.has_time, run);
        let facts = || part.main().map(|id| &self.computations[&id]);
        let mut touched = Elements::within(&hull, facts().flat_map(|it| &it.touched))?;
        let mut given = Elements::within(&hull, facts().flat_map(|it| &it.entry))?;
        let spots = |of: &Elements, all: &[Element]| all.iter().map(|it| of.spot(it, hull.len())).collect::<Vec<_>>();
        let places: BTreeMap<ComputationId, [Vec<Spot>; 2]> = part
            .main()
            .map(|id| {
                (id, [spots(&given, &self.computations[&id].entry), spots(&touched, &self.computations[&id].touched)])
            })
            .collect();
        let mut flags = self.flags.borrow_mut();
        flags.make_room(all);
        let Flags { runs, owns, foreign } = &mut *flags;
        grid.each_line(run, |line| runs[place(line.id, line.at)..][..line.length].fill(true));
        grid.each_line(own, |line| owns[place(line.id, line.at)..][..line.length].fill(true));
        let mut counts = Counts { cost: Cost::default(), footprint: 0, run: 0 };
        grid.each_line(run, |line| {
            counts.run += line.length as u64;
            for (flow, offset) in flows().filter(|(flow, _)| flow.to == line.id) {
                let from = place(flow.from, moved(line.at, -offset));
                let sources = from..from + line.length;
                for (foreign, runs) in foreign[sources.clone()].iter_mut().zip(&runs[sources]) {
                    *foreign |= !runs;
                }
            }
            let [entry, all] = &places[&line.id];
            entry.iter().for_each(|spot| given.add(spot, line));
            all.iter().for_each(|spot| touched.add(spot, line));
        });
        let steps = run.keys().map(|(_, step)| *step);
        let window = (steps.clone().min().unwrap_or(0), steps.max().unwrap_or(0));
        let mut leaves: Vec<bool> = vec![];
        grid.each_line(own, |line| {
            let facts = &self.computations[&line.id];
            counts.cost.useful += if facts.result { line.length as u64 } else { 0 };
            leaves.clear();
            leaves.resize(line.length, facts.kept);
            for (flow, offset) in flows().filter(|(flow, _)| flow.from == line.id && !facts.kept) {
                match approach {
                    Approach::Plain | Approach::Skewed => {
                        let readers = place(flow.to, moved(line.at, *offset));
                        let inside = &owns[readers..readers + line.length];
                        leaves.iter_mut().zip(inside).for_each(|(leaves, inside)| *leaves |= !inside);
                    }
                    Approach::Redundant => {
                        let step = line.first[0] + flow.distance[0] - self.center[0];
                        if !part.computations.contains(&flow.to) || step < window.0 || step > window.1 {
                            leaves.fill(true);
                        }
                    }
                }
            }
            counts.cost.stores += count(&leaves);
        });
        counts.cost.loads = given.count();
        grid.each_line(run, |line| {
            runs[place(line.id, line.at)..][..line.length].fill(false);
            for (flow, offset) in flows().filter(|(flow, _)| flow.to == line.id) {
                let sources = &mut foreign[place(flow.from, moved(line.at, -offset))..][..line.length];
                counts.cost.loads += count(sources);
                sources.fill(false);
            }
        });
        grid.each_line(own, |line| owns[place(line.id, line.at)..][..line.length].fill(false));
        counts.cost.memory = counts.cost.loads.max(counts.cost.stores);
        counts.footprint = touched.count();
        let reads = self.flows.len() + facts().map(|it| it.touched.len() + it.entry.len()).sum::<usize>();
        self.spent.set(self.spent.get().saturating_add(counts.run.saturating_mul(1 + reads as u64)));
        Some(counts)
    }
}

/// How far from the middle everything is proved to look the same: where coordinates are sums of iterators, less far.
fn reach(band: &Band) -> i64 {
    let sum = |coordinate: &Affine| coordinate.terms().iter().map(|(_, factor)| factor.abs()).sum::<i64>();
    REACH / band.coordinates.values().flatten().map(sum).max().unwrap_or(1).max(1)
}
