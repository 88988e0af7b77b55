//! Hexagons over time and rows, whose rows lie in registers.
//!
//! Hybrid hexagonal/classical tiling (Grosser, Verdoolaege, Cohen, Sadayappan, INRIA RR-8339, 2013) of the versions of a
//! [`Stream`] over matrices. Time steps and rows are tiled by hexagons of `2h + 2` steps that are `w0 + 1` rows wide at their
//! ends, in two phases, each a launch; a thread holds its points of all rows of a hexagon. Columns are tiled classically, (14) to
//! (16) of the report: the threads of a block have neighbouring columns, move down by as many columns with each step as it reaches
//! up, and go through the tiles of a strip in order. So a thread needs other threads' points from one side only, that of lower columns,
//! and gets them through shared memory. Strips overlap by what the steps of a hexagon reach, and compute that twice; each point is
//! stored by one of them.
//!
//! Over arrays with three axes a row is a plane: see [`planes`].
//!
//! Of the versions of a row a hexagon stores those that others read, in one of two sets of arrays, and there in the one for even or
//! odd versions: phase `p` of round `T` stores what its sides hand on in set `p`, and the rows of its last step in set
//! `p + T + 1`, modulo 2. The first launch reads the field's own array; the last row of each column of hexagons goes back there.
//! [`Hexagon::check`] goes through all rows of some rounds: each is computed once for each step, each value read is the version wanted, and no
//! launch stores where it reads, so that its blocks run in any order. All rounds after the first are alike but for the parity of
//! `T`, and so are all hexagons of a phase.

mod planes;

use super::{Field, LANES, Obstacle, Reach, Source, Stage, Stream};
use crate::algorithm::Algorithm;
use crate::machine::Gpu;
use crate::schedule::HexagonSize;
use std::collections::{BTreeMap, BTreeSet};

pub use planes::{Given, Planes};

/// The shape of hexagons over a stream. Rows are counted from the first one of a hexagon's first step, steps from that step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hexagon {
    pub size: HexagonSize,
    /// How many rows each side leans in a step: the larger of what a step reaches up and down.
    pub slope: i64,
    /// How many columns threads move down with each step.
    pub skew: i64,
    /// How many columns more each stage lies down within its step.
    pub lags: Vec<i64>,
    /// How many columns a step reaches down.
    pub below: i64,
    /// Rows beside those of the step that a stage computes, for later stages of the step.
    pub around: Vec<Reach>,
    /// For each field, rows beside those of the step whose values from the step before it reads.
    pub reach: Vec<i64>,
    /// For each field, how many points of the thread below are needed: of the version before, and of that of the same step.
    pub left: Vec<[i64; 2]>,
    /// What a block needs beside the points that it stores, where rows are planes.
    pub planes: Option<Planes>,
}

/// Where a version of a row is kept between launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The field's own array.
    Own,
    /// The array of a set, for even or odd versions.
    Set { set: u32, odd: u32 },
}

/// A launch: all hexagons of a phase of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Half {
    pub round: i64,
    /// 0 or 1.
    pub phase: u32,
    /// The last round, in which all that phase 0 stores are final versions; it has no phase 1.
    pub last: i64,
}

/// Points that a thread computes in all steps of a hexagon: more take long to compile.
const MOST_POINTS: i64 = 4096;
/// More columns between two time steps would leave no room for the data.
const MOST_SKEW: i64 = 16;

/// Rows around those that a step stores, for each stage and each field's version before.
fn surroundings(stream: &Stream, axis: usize) -> (Vec<Reach>, Vec<Reach>) {
    let mut stages = vec![Reach::default(); stream.stages.len()];
    let mut fields = vec![Reach::default(); stream.fields.len()];
    for (at, stage) in stream.stages.iter().enumerate().rev() {
        let own = stages[at];
        // Points outside of the box are those of the version before.
        let kept = &mut fields[stage.field];
        *kept = kept.or(-own.below).or(own.above);
        for read in &stage.reads {
            let Source::Field { field, fresh, offset, .. } = read else { continue };
            let needs = match fresh {
                true => &mut stages[stream.fields[*field].writer],
                false => &mut fields[*field],
            };
            *needs = needs.or(offset[axis] - own.below).or(offset[axis] + own.above);
        }
    }
    (stages, fields)
}

impl Hexagon {
    /// The hexagons of these sizes over a stream, whose fields and reads are known.
    pub(super) fn of(algorithm: &Algorithm, stream: &Stream, size: HexagonSize) -> Result<Hexagon, Obstacle> {
        stream.ends()?;
        let hexagon = Hexagon::shape(stream, size)?;
        hexagon.check_size(algorithm, stream)?;
        hexagon.check(stream)?;
        Ok(hexagon)
    }

    fn shape(stream: &Stream, size: HexagonSize) -> Result<Hexagon, Obstacle> {
        if stream.axes[2].is_none() {
            return Err(Obstacle(
                "rows of hexagons lie in registers only where the arrays have two or three axes".to_string(),
            ));
        }
        if let Some(field) = stream.fields.iter().position(|field| field.writer != field.finisher) {
            let several = stream.writers(field).count();
            return Err(Obstacle(format!("{several} nests write one array; hexagons in registers want one for each")));
        }
        let is_whole =
            |stage: &Stage| stage.iterators.iter().zip(stream.axes).all(|(it, axis)| it.is_some() == axis.is_some());
        if !stream.stages.iter().all(is_whole) {
            return Err(Obstacle("a nest has fewer loops than its array has axes".to_string()));
        }
        let (around, rows) = surroundings(stream, 2);
        let (_, columns) = surroundings(stream, 0);
        let reach: Vec<i64> = rows.iter().map(|it| it.below.max(it.above)).collect();
        let carried = |of: &dyn Fn(usize) -> i64| {
            let all = stream.fields.iter().enumerate().filter(|(_, field)| field.carried);
            all.map(|(at, _)| of(at)).max().unwrap_or(0)
        };
        let slope = carried(&|at| reach[at]);
        if slope == 0 {
            return Err(Obstacle("no step reads neighbouring rows, so that hexagons have no slope".to_string()));
        }
        let below = carried(&|at| columns[at].below);
        if stream.axes[1].is_some() {
            let planes = Some(Planes::of(stream, size.steps(), &around));
            let (lags, left) = (vec![0; stream.stages.len()], vec![[0; 2]; stream.fields.len()]);
            return Hexagon { size, slope, skew: 0, lags, below, around, reach, left, planes }.wide_enough();
        }
        let found = (0..=MOST_SKEW).find_map(|skew| Some((skew, lags(stream, skew)?)));
        let Some((skew, lags)) = found else {
            return Err(Obstacle(format!("a time step reaches more than {MOST_SKEW} columns ahead")));
        };
        let mut left = vec![[0; 2]; stream.fields.len()];
        for (at, stage) in stream.stages.iter().enumerate() {
            if stream.fields[stage.field].carried {
                left[stage.field][0] = left[stage.field][0].max(skew);
            }
            for read in &stage.reads {
                if let Source::Field { field, fresh, .. } = read {
                    let by = back(stream, skew, &lags, at, read).expect("a field is read");
                    let needed = &mut left[*field][usize::from(*fresh)];
                    *needed = (*needed).max(by);
                }
            }
        }
        Hexagon { size, slope, skew, lags, below, around, reach, left, planes: None }.wide_enough()
    }

    /// Itself, if it satisfies condition (1) of the report.
    fn wide_enough(self) -> Result<Hexagon, Obstacle> {
        let slope = self.slope;
        if self.ends() < slope {
            return Err(Obstacle(format!(
                "the first step of a hexagon has a width of {}, and a step that reaches {slope} rows wants at least {}",
                self.size.width,
                slope - 1
            )));
        }
        Ok(self)
    }

    /// Steps from its first to its last one.
    pub fn steps(&self) -> i64 {
        self.size.steps()
    }

    /// Rows of its first and of its last step.
    pub fn ends(&self) -> i64 {
        i64::from(self.size.width) + 1
    }

    /// How far its longest steps lie out on either side of its ends.
    pub fn bulge(&self) -> i64 {
        self.slope * i64::from(self.size.height)
    }

    /// Rows from one hexagon of a phase to the next.
    pub fn period(&self) -> i64 {
        2 * self.ends() + 2 * self.bulge()
    }

    /// The first and the last row of a step.
    pub fn rows(&self, step: i64) -> (i64, i64) {
        let out = self.slope * step.min(self.steps() - 1 - step);
        (-out, self.ends() - 1 + out)
    }

    /// The first row that a thread holds, and how many.
    pub fn held(&self) -> (i64, i64) {
        let out = self.bulge() + self.slope;
        (-out, self.ends() + 2 * out)
    }

    /// The row of the array that is row 0 of the first hexagon of a phase.
    pub fn first_row(&self, phase: u32) -> i64 {
        1 + if phase == 0 { 0 } else { self.ends() + self.bulge() }
    }

    /// The time step, from the beginning of the loop, of a launch's first one.
    pub fn first_step(&self, half: Half) -> i64 {
        let before = if half.phase == 0 { i64::from(self.size.height) + 1 } else { 0 };
        half.round * self.steps() - before
    }

    /// The rows of a field whose values before a step are loaded, not computed by the step before; and where they are.
    pub fn entries(&self, field: usize, step: i64) -> Vec<(i64, Entry)> {
        let (low, high) = self.rows(step);
        let (reach, height) = (self.reach[field], i64::from(self.size.height));
        let (side, kind) = match step {
            0 => (0..0, Entry::Side),
            step if step <= height => (-reach..self.slope, Entry::Side),
            step if step == height + 1 => (-reach..0, Entry::Last),
            _ => return vec![],
        };
        match step {
            0 => {
                let inside = |row: i64| (low..=high).contains(&row);
                let kind = |row| if inside(row) { Entry::First } else { Entry::Side };
                (low - reach..=high + reach).map(|row| (row, kind(row))).collect()
            }
            _ => side.clone().map(|by| low + by).chain(side.rev().map(|by| high - by)).map(|row| (row, kind)).collect(),
        }
    }

    /// The rows of a carried field that are stored after a step, for others.
    pub fn exits(&self, field: usize, step: i64) -> Vec<i64> {
        let (low, high) = self.rows(step);
        if step + 1 == self.steps() {
            return (low..=high).collect();
        }
        if step < i64::from(self.size.height) {
            return vec![];
        }
        let (next_low, next_high) = self.rows(step + 1);
        let reach = self.reach[field];
        let rows: BTreeSet<i64> = (low..next_low + reach).chain(next_high + 1 - reach..=high).collect();
        rows.into_iter().collect()
    }

    /// Whether the version before a launch's first step is odd; the same in all rounds.
    pub fn is_odd(&self, phase: u32) -> u32 {
        if phase == 0 { (self.size.height + 1) % 2 } else { 0 }
    }

    /// Where a launch finds the version that a step of its begins with.
    pub fn from(&self, half: Half, step: i64, entry: Entry) -> Place {
        let Half { round, phase, last } = half;
        let odd = ((i64::from(self.is_odd(phase)) + step) % 2) as u32;
        let turn = (round % 2) as u32;
        match entry {
            _ if phase == 0 && round == 0 => Place::Own,
            Entry::Side => Place::Set { set: 1 - phase, odd },
            Entry::First if round == 0 => Place::Own,
            Entry::First => Place::Set { set: (phase + turn) % 2, odd },
            Entry::Last if round == last => Place::Own,
            Entry::Last => Place::Set { set: (turn + 1) % 2, odd },
        }
    }

    /// Where a launch stores the version that a step of its ends with.
    pub fn to(&self, half: Half, step: i64) -> Place {
        let Half { round, phase, last } = half;
        let odd = ((i64::from(self.is_odd(phase)) + step + 1) % 2) as u32;
        let is_end = step + 1 == self.steps();
        match (phase, is_end) {
            (0, _) if round == last => Place::Own,
            (1, true) if round + 1 == last => Place::Own,
            (_, true) => Place::Set { set: ((i64::from(phase) + round + 1) % 2) as u32, odd },
            (_, false) => Place::Set { set: phase, odd },
        }
    }

    /// How many columns down a thread's points of a version lie from where they were before the first step; version 0 is what
    /// that step begins with.
    pub fn frame(&self, stream: &Stream, field: usize, version: i64) -> i64 {
        (version - 1) * self.skew + self.lags[stream.fields[field].writer]
    }

    /// How many points down, in its frame, a stage finds an operand; `None` for memory.
    pub fn back(&self, stream: &Stream, stage: usize, read: &Source) -> Option<i64> {
        back(stream, self.skew, &self.lags, stage, read)
    }

    /// Columns of a tile.
    pub fn tile(&self, stream: &Stream) -> i64 {
        let threads = if self.planes.is_some() { LANES } else { self.size.threads };
        i64::from(threads) * i64::from(stream.size.points)
    }

    /// Tiles along columns that a block runs, one after the other.
    pub fn tiles(&self) -> i64 {
        if self.planes.is_some() { 1 } else { self.size.tiles.into() }
    }

    /// Lines that a thread holds of each row.
    pub fn lines(&self) -> i64 {
        if self.planes.is_some() { self.size.tiles.into() } else { 1 }
    }

    /// Columns below the first one stored at which a strip begins.
    pub fn idle(&self, stream: &Stream) -> i64 {
        match &self.planes {
            Some(planes) => planes.idle_lanes(stream)[0] * i64::from(stream.size.points),
            None => self.steps() * self.below + self.skew,
        }
    }

    /// Columns that a strip stores.
    pub fn strip(&self, stream: &Stream) -> i64 {
        if let Some(planes) = &self.planes {
            return self.tile(stream) - planes.idle_lanes(stream).iter().sum::<i64>() * i64::from(stream.size.points);
        }
        let most = self.lags.iter().max().copied().unwrap_or(0);
        i64::from(self.size.tiles) * self.tile(stream) - self.idle(stream) - (self.steps() - 1) * self.skew - most
    }

    /// Points that threads hand on of a version: a power of two.
    pub fn exchanged(&self, field: usize, fresh: bool) -> i64 {
        match self.left[field][usize::from(fresh)] {
            0 => 0,
            points => (points as u64).next_power_of_two() as i64,
        }
    }

    /// Places of shared memory for a row of points that threads hand on: one for each thread, and for each step those of the last
    /// thread, for the next tile, in turns.
    pub fn places(&self) -> i64 {
        i64::from(self.size.threads) + 2 * self.steps()
    }

    /// Bytes of shared memory of a block, for points handed on: each row of each version twice.
    pub fn shared_bytes(&self, algorithm: &Algorithm, stream: &Stream) -> i64 {
        if let Some(planes) = &self.planes {
            return planes.shared_bytes(self, algorithm, stream);
        }
        let of_field = |(at, field): (usize, &Field)| {
            let bytes = i64::from(algorithm.array(field.array).element.bytes());
            [false, true].iter().map(|fresh| self.exchanged(at, *fresh) * bytes).sum::<i64>()
        };
        let points: i64 = stream.fields.iter().enumerate().map(of_field).sum();
        2 * self.held().1 * self.places() * points
    }

    /// Registers of four bytes that a thread's points take, those on their way included.
    pub fn registers(&self, algorithm: &Algorithm, stream: &Stream) -> i64 {
        let of_field = |(at, field): (usize, &Field)| {
            let words = i64::from(algorithm.array(field.array).element.bytes().div_ceil(4));
            let held =
                if field.carried { self.held().1 + 2 * (self.slope + self.reach[at]) } else { 2 * self.slope + 1 };
            words * held * i64::from(stream.size.points) * self.lines()
        };
        stream.fields.iter().enumerate().map(of_field).sum()
    }

    /// Thread blocks that should be on a multiprocessor at once.
    pub fn blocks(&self, algorithm: &Algorithm, stream: &Stream, gpu: &Gpu) -> i64 {
        let threads = i64::from(self.size.threads);
        let needed = self.registers(algorithm, stream) + i64::from(gpu.other_registers_of_hexagons);
        let by_registers = i64::from(gpu.registers) / threads / needed;
        // The driver takes 1 KiB of a block for itself.
        let by_shared = i64::from(gpu.shared_bytes) / (self.shared_bytes(algorithm, stream) + 1024);
        // A multiprocessor holds 2048 threads and 32 blocks.
        by_registers.min(by_shared).min(2048 / threads).clamp(1, 32)
    }

    fn check_size(&self, algorithm: &Algorithm, stream: &Stream) -> Result<(), Obstacle> {
        let no = |why: String| Err(Obstacle(why));
        let threads = self.size.threads;
        let points = i64::from(stream.size.points);
        if !threads.is_multiple_of(super::LANES) || threads > 1024 {
            return no(format!("a block has whole warps, at most 1024 threads, and not {threads}"));
        }
        if let Some(planes) = &self.planes {
            planes.check_size(self, stream)?;
        }
        let farthest = self.left.iter().flatten().max().copied().unwrap_or(0);
        if farthest > points || !stream.size.points.is_power_of_two() || points > 8 {
            return no(format!(
                "a thread needs {farthest} points of the one below, and holds {points}: 1, 2, 4 or 8 points a thread, no fewer than it needs"
            ));
        }
        let computed = self.steps() * (self.ends() + self.bulge()) * points * self.lines() * self.lags.len() as i64;
        if computed > MOST_POINTS {
            return no(format!(
                "a thread computes {computed} points of a hexagon, each with code of its own, and {MOST_POINTS} is the most: take a lower or narrower one, or fewer points"
            ));
        }
        if self.strip(stream) < self.tile(stream) / 4 {
            return no(format!(
                "a strip stores {} columns of {}: take {}",
                self.strip(stream).max(0),
                self.tiles() * self.tile(stream),
                if self.planes.is_some() { "a lower hexagon, or more points" } else { "more tiles, threads or points" }
            ));
        }
        let gpu = Gpu::HOPPER;
        let bytes = self.shared_bytes(algorithm, stream);
        if bytes > i64::from(gpu.most_shared_bytes_of_block) {
            return no(format!(
                "what threads hand on takes {bytes} bytes of shared memory, and {} is the most: take a lower or narrower hexagon, or fewer threads",
                gpu.most_shared_bytes_of_block
            ));
        }
        let registers = self.registers(algorithm, stream);
        let most = i64::from(gpu.registers / threads).min(i64::from(gpu.registers_of_thread));
        if registers > most {
            return no(format!(
                "the rows take {registers} registers of a thread, and {most} is the most: take a lower or narrower hexagon, or fewer points or threads"
            ));
        }
        Ok(())
    }

    /// Goes through all rows of some rounds: each step of a row is computed once, what is read is the version wanted, and no launch
    /// stores where it reads.
    fn check(&self, stream: &Stream) -> Result<(), Obstacle> {
        let broken = |what: &str| Err(Obstacle(format!("hexagons do not fit together: {what}")));
        let period = self.period();
        // Rows far enough from the ends of what is gone through have all their neighbours.
        let (first, last_row) = (2 * period, 5 * period);
        for last in [2, 5, 6] {
            for (field, _) in stream.fields.iter().enumerate().filter(|(_, field)| field.carried) {
                let mut kept: BTreeMap<(Place, i64), i64> = BTreeMap::new();
                let mut computed: BTreeMap<i64, i64> = BTreeMap::new();
                for half in halves(last) {
                    let begin = self.first_step(half);
                    let mut stored: BTreeMap<(Place, i64), i64> = BTreeMap::new();
                    let mut read: BTreeSet<(Place, i64)> = BTreeSet::new();
                    for origin in (0..8).map(|at| self.first_row(half.phase) + at * period) {
                        let mut known: BTreeMap<i64, i64> = BTreeMap::new();
                        for step in 0..self.steps() {
                            let version = begin + step;
                            for (row, entry) in self.entries(field, step) {
                                let place = self.from(half, step, entry);
                                read.insert((place, origin + row));
                                // Before the first step every version is the one that the loop begins with.
                                let there = match place {
                                    Place::Own if !kept.contains_key(&(place, origin + row)) => 0,
                                    place => kept.get(&(place, origin + row)).copied().unwrap_or(i64::MIN),
                                };
                                let inside = (first..last_row).contains(&(origin + row));
                                if inside && there.max(0) != version.max(0) {
                                    return broken("a value is read that is not the one wanted");
                                }
                                known.insert(row, version);
                            }
                            let (low, high) = self.rows(step);
                            let reach = self.reach[field];
                            if (low - reach..=high + reach).any(|row| known.get(&row) != Some(&version)) {
                                return broken("a row is missing");
                            }
                            for row in low..=high {
                                known.insert(row, version + 1);
                                let inside = (first..last_row).contains(&(origin + row));
                                let before = computed.insert(origin + row, version + 1);
                                if inside && before.map_or(version > 0, |before| before != version) {
                                    return broken("a step of a row is left out, or computed twice");
                                }
                            }
                            for row in self.exits(field, step) {
                                stored.insert((self.to(half, step), origin + row), version + 1);
                            }
                        }
                    }
                    if stored.keys().any(|key| read.contains(key)) {
                        return broken("a launch stores where it reads");
                    }
                    kept.extend(stored);
                }
                let wanted = last * self.steps();
                let is_final = |row| kept.get(&(Place::Own, row)).is_some_and(|version| *version >= wanted);
                if !(first..last_row).all(is_final) {
                    return broken("a row ends with too few steps");
                }
            }
        }
        Ok(())
    }
}

/// Which rows are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entry {
    /// At a side: a hexagon of the other phase stored them on its way.
    Side,
    /// Before the first step: those of the last step of the hexagon below in time.
    First,
    /// Beside the longest step: those of the last step of a hexagon of the other phase.
    Last,
}

/// All launches of so many rounds after the first, in order.
pub fn halves(last: i64) -> impl Iterator<Item = Half> {
    (0..=2 * last).map(move |half| Half { round: half / 2, phase: (half % 2) as u32, last })
}

/// How many points down, in its frame, a stage finds an operand.
fn back(stream: &Stream, skew: i64, lags: &[i64], stage: usize, read: &Source) -> Option<i64> {
    let Source::Field { field, fresh, offset, .. } = read else { return None };
    let ahead = if *fresh { 0 } else { skew };
    Some(ahead + lags[stage] - lags[stream.fields[*field].writer] - offset[0])
}

/// The smallest lags of the stages, for this skew; `None` if there are none.
fn lags(stream: &Stream, skew: i64) -> Option<Vec<i64>> {
    let mut lags = vec![0i64; stream.stages.len()];
    for _ in 0..=stream.stages.len() {
        let before = lags.clone();
        for (at, stage) in stream.stages.iter().enumerate() {
            for read in &stage.reads {
                let short = back(stream, skew, &lags, at, read).map_or(0, |back| (-back).max(0));
                lags[at] += short;
            }
        }
        if lags == before {
            return lags.iter().all(|own| *own <= 2 * MOST_SKEW).then_some(lags);
        }
    }
    None
}

#[cfg(test)]
mod tests;
