//! The work of launches that make several time steps (see [`crate::stream`]).
//!
//! A launch of a stream is one pass over what goes from step to step: it reads all of it from one copy and writes all of it to
//! another, however many steps it makes. Blocks that keep their tiles are one launch for all steps. A launch of hexagons touches
//! the rows that its hexagons take from others and hand on; versions of a row that lie in different arrays count apart.

use super::{add_instances, places, sizes};
use crate::affine::Affine;
use crate::algorithm::{AccessRef, Which};
use crate::count;
use crate::error::Error;
use crate::isl::{Ctx, Set};
use crate::layers::BufferId;
use crate::relation;
use crate::stream::hexagon::{Half, halves};
use crate::stream::{Hexagon, Source, Stage, Stream};
use crate::verify::Verified;
use crate::work::Work;
use std::collections::{BTreeMap, BTreeSet};

/// Launches of one kernel.
#[derive(Debug, Clone, Copy)]
pub struct Passes<'a> {
    pub stream: &'a Stream,
    /// The first and the last iteration of the time loop that they make.
    pub iterations: (i64, i64),
    pub launches: u64,
    /// Those that make no step: they hand on what they read.
    pub idle: u64,
    pub how: How,
}

/// What such a launch does with the arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It reads one copy of what goes from step to step, and writes another one.
    Copies,
    /// The same, and the last one stores all else that is written.
    CopiesAndStores,
    /// Its blocks keep their tiles for all steps.
    Keeps,
    /// It runs the hexagons of one phase of one round, of which this is the last.
    Hexagons { last: i64 },
}

/// Rows that hexagons compute: the first one of some hexagon, how many, and from one hexagon to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Window {
    first: i64,
    rows: i64,
    period: i64,
}

/// Counts the work of such launches; `steps` as for [`super::work`].
///
/// # Errors
/// isl's own failure.
pub fn passes(
    ctx: &Ctx,
    verified: &Verified,
    it: &Passes<'_>,
    params: &[i64],
    steps: &mut u64,
) -> Result<Option<Work>, Error> {
    let counting = Counting::new(ctx, verified, it, params)?;
    let mut total = Work::default();
    for (stage, domain) in it.stream.nests().zip(&counting.domains) {
        let Some(instances) = count::points(&domain.project_out_all_params()?, steps)? else { return Ok(None) };
        add_instances(&mut total, verified.algorithm().computation(stage.computation), instances);
    }
    let Some((read, written)) = counting.handed_on() else { return Ok(None) };
    let mut reads = vec![(counting.read(None, Reads::OfOneStep)?, 1)];
    match it.how {
        How::Copies | How::CopiesAndStores | How::Keeps => {
            reads.push((counting.read(None, Reads::OfEach)?, it.launches.saturating_sub(it.idle)));
        }
        How::Hexagons { last } => {
            for (window, launches) in counting.windows(last) {
                reads.push((counting.read(Some(window), Reads::OfEach)?, launches));
            }
        }
    }
    (total.read_bytes, total.written_bytes) = (read, written);
    for (touched, launches) in reads {
        let Some(bytes) = counting.bytes(&touched, steps)? else { return Ok(None) };
        total.read_bytes = total.read_bytes.saturating_add(bytes.saturating_mul(launches));
    }
    let Some(bytes) = counting.bytes(&counting.stored()?, steps)? else { return Ok(None) };
    total.written_bytes = total.written_bytes.saturating_add(bytes);
    Ok(Some(total))
}

/// Which reads are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// Those at subscripts that name the time step: an element is read by few steps, and counts once for all launches.
    OfOneStep,
    /// All others: each launch that makes a step reads their elements.
    OfEach,
}

/// Places, by their buffer: `{ buffer[place] }`.
type Touched = BTreeMap<BufferId, Set>;

struct Counting<'a> {
    ctx: &'a Ctx,
    verified: &'a Verified,
    it: &'a Passes<'a>,
    sizes: Set,
    /// The instances of each stage, and of what records: `{ S[x] }`.
    domains: Vec<Set>,
    /// What each of them writes.
    writes: Vec<Set>,
    /// Of the arrays that the stages write, the extents along columns, lines and rows.
    extents: Vec<Option<[i64; 3]>>,
}

impl<'a> Counting<'a> {
    fn new(ctx: &'a Ctx, verified: &'a Verified, it: &'a Passes<'a>, params: &[i64]) -> Result<Counting<'a>, Error> {
        let algorithm = verified.algorithm();
        let sizes = sizes(ctx, verified, params)?;
        let (mut domains, mut writes) = (vec![], vec![]);
        for stage in it.stream.nests() {
            let domain = relation::domain(algorithm, stage.computation)?.intersect_params(&sizes)?;
            let (first, last) = it.iterations;
            let time = it.stream.way.number(stage.time);
            let since = within(ctx, verified, stage, &time.add_constant(-first)?, last.saturating_sub(first))?;
            let mut domain = domain.intersect(&since)?;
            // The same statement is a stage of each turn where it touches another level.
            if it.stream.nests().filter(|other| other.computation == stage.computation).count() > 1 {
                let turn = time.sub(&it.stream.time.0)?.add_constant(-stage.turn)?.modulo(it.stream.period)?;
                domain = domain.intersect(&within(ctx, verified, stage, &turn, 0)?)?;
            }
            let write = AccessRef { computation: stage.computation, which: Which::Write };
            writes.push(places(ctx, verified, write, &sizes)?.intersect_domain(&domain)?.range()?);
            domains.push(domain);
        }
        let extents = it.stream.fields.iter().map(|field| {
            let of = |axis: Option<u32>| match axis {
                Some(axis) => algorithm.array(field.array).extents[axis as usize].evaluate(&[], params),
                None => Some(1),
            };
            let [columns, lines, rows] = it.stream.axes.map(of);
            Some([columns?.max(0), lines?.max(0), rows?.max(0)])
        });
        let extents = extents.collect();
        Ok(Counting { ctx, verified, it, sizes, domains, writes, extents })
    }

    fn is_carried(&self, field: usize) -> bool {
        self.it.stream.fields[field].carried
    }

    /// Whether launches hand a field on whole, so that [`Counting::handed_on`] counts it.
    fn is_handed_on(&self, field: usize) -> bool {
        self.it.how != How::Keeps && self.is_carried(field)
    }

    /// Bytes that are read and written of what goes from launch to launch.
    fn handed_on(&self) -> Option<(u64, u64)> {
        let (mut read, mut written) = (0u64, 0u64);
        for (at, field) in self.it.stream.fields.iter().enumerate().filter(|(at, _)| self.is_handed_on(*at)) {
            let [columns, lines, rows] = self.extents[at]?;
            let row = columns
                .checked_mul(lines)?
                .checked_mul(self.verified.algorithm().array(field.array).element.bytes().into())?;
            let (loaded, stored) = match (self.it.how, &self.it.stream.hexagon) {
                (How::Hexagons { last }, Some(hexagon)) => rows_of_hexagons(hexagon, at, last, rows),
                (How::Hexagons { .. }, None) | (How::Keeps, _) => return None,
                (How::Copies | How::CopiesAndStores, _) => {
                    let all = (rows as u64).checked_mul(self.it.launches)?;
                    (all, all)
                }
            };
            read = read.checked_add(loaded.checked_mul(row as u64)?)?;
            written = written.checked_add(stored.checked_mul(row as u64)?)?;
        }
        Some((read, written))
    }

    /// What the stages read that no launch hands on and no earlier stage of the step has written.
    fn read(&self, window: Option<Window>, which: Reads) -> Result<Touched, Error> {
        let mut touched = Touched::new();
        let stages = &self.it.stream.stages;
        for (at, stage) in self.it.stream.nests().enumerate() {
            let computation = self.verified.algorithm().computation(stage.computation);
            let mut domain = self.domains[at].clone();
            if let Some(Window { first, rows, period }) = window {
                let row = row(stage)?.add_constant(-first)?.modulo(period)?;
                domain = domain.intersect(&within(self.ctx, self.verified, stage, &row, rows - 1)?)?;
            }
            for (number, source) in stage.reads.iter().enumerate() {
                let subscripts = &computation.reads[number].subscripts;
                let names_time = |it: &Affine| it.involves_iterator(stage.time);
                let own = match subscripts.iter().any(|it| it.as_affine().is_some_and(names_time)) {
                    true => Reads::OfOneStep,
                    false => Reads::OfEach,
                };
                let is_counted = match source {
                    Source::Unused => false,
                    Source::Memory => own == which,
                    Source::Field { field, .. } => own == which && !self.is_handed_on(*field),
                };
                if !is_counted {
                    continue;
                }
                let read = AccessRef { computation: stage.computation, which: Which::Read(number as u32) };
                let mut set = places(self.ctx, self.verified, read, &self.sizes)?.intersect_domain(&domain)?.range()?;
                if let Source::Field { field, .. } = source {
                    let earlier = (0..at.min(stages.len())).filter(|earlier| stages[*earlier].field == *field);
                    for earlier in earlier {
                        set = set.subtract(&self.writes[earlier])?;
                    }
                }
                self.touch(&mut touched, read, set)?;
            }
        }
        Ok(touched)
    }

    /// What is written once by all launches together.
    fn stored(&self) -> Result<Touched, Error> {
        let mut touched = Touched::new();
        let stages = self.it.stream.stages.len();
        for (at, (stage, set)) in self.it.stream.nests().zip(&self.writes).enumerate() {
            let is_stored = match self.it.how {
                _ if at >= stages => true,
                How::Copies | How::Hexagons { .. } => false,
                How::CopiesAndStores => !self.is_carried(stage.field),
                How::Keeps => true,
            };
            if is_stored {
                let write = AccessRef { computation: stage.computation, which: Which::Write };
                self.touch(&mut touched, write, set.clone())?;
            }
        }
        Ok(touched)
    }

    fn touch(&self, touched: &mut Touched, at: AccessRef, set: Set) -> Result<(), Error> {
        let buffer = self.verified.layout().placement(self.verified.algorithm().access(at).array).buffer;
        if super::is_in_memory(self.verified, buffer) {
            let all = match touched.remove(&buffer) {
                Some(others) => others.union(&set)?,
                None => set,
            };
            touched.insert(buffer, all);
        }
        Ok(())
    }

    fn bytes(&self, touched: &Touched, steps: &mut u64) -> Result<Option<u64>, Error> {
        let mut all = 0u64;
        for (buffer, set) in touched {
            let Some(elements) = count::points(&set.project_out_all_params()?, steps)? else { return Ok(None) };
            let bytes = self.verified.layout().buffer(*buffer).element.bytes();
            all = all.saturating_add(elements.saturating_mul(bytes.into()));
        }
        Ok(Some(all))
    }

    /// The rows that launches of hexagons compute, and how many launches compute these.
    fn windows(&self, last: i64) -> BTreeMap<Window, u64> {
        let mut windows = BTreeMap::new();
        let Some(hexagon) = &self.it.stream.hexagon else { return windows };
        let (first, until) = self.it.iterations;
        let made = (until - first + 1).div_euclid(self.it.stream.period);
        for half in halves(last) {
            let begin = hexagon.first_step(half);
            let active = (0..hexagon.steps()).filter(|step| (0..made).contains(&(begin + step)));
            let Some((low, high)) = active.map(|step| hexagon.rows(step)).max_by_key(|(low, high)| high - low) else {
                continue;
            };
            let window = Window {
                first: hexagon.first_row(half.phase) + low,
                rows: (high - low + 1).min(hexagon.period()),
                period: hexagon.period(),
            };
            *windows.entry(window).or_default() += 1;
        }
        windows
    }
}

/// Rows of a field that all launches of hexagons load and store; of those of one launch, each version that lies in another array
/// counts once.
fn rows_of_hexagons(hexagon: &Hexagon, field: usize, last: i64, rows: i64) -> (u64, u64) {
    // Launches of a phase are alike, but for the first and the last ones, and for which arrays take turns.
    let mut known: BTreeMap<(u32, i64, [bool; 3]), (u64, u64)> = BTreeMap::new();
    let (mut loaded, mut stored) = (0u64, 0u64);
    for half in halves(last) {
        let Half { round, phase, .. } = half;
        let alike = (phase, round % 2, [round == 0, round + 1 == last, round == last]);
        let own = *known.entry(alike).or_insert_with(|| rows_of_half(hexagon, field, half, rows));
        (loaded, stored) = (loaded.saturating_add(own.0), stored.saturating_add(own.1));
    }
    (loaded, stored)
}

fn rows_of_half(hexagon: &Hexagon, field: usize, half: Half, rows: i64) -> (u64, u64) {
    let (mut loaded, mut stored) = (BTreeSet::new(), BTreeSet::new());
    let mut origin = hexagon.first_row(half.phase);
    while origin - hexagon.bulge() <= rows {
        let exists = |row: &i64| (1..=rows).contains(row);
        for step in 0..hexagon.steps() {
            let entries = hexagon.entries(field, step).into_iter().map(|(row, entry)| (row + origin, entry));
            loaded.extend(
                entries.filter(|(row, _)| exists(row)).map(|(row, entry)| (hexagon.from(half, step, entry), row)),
            );
            let exits = hexagon.exits(field, step).into_iter().map(|row| row + origin);
            stored.extend(exits.filter(exists).map(|row| (hexagon.to(half, step), row)));
        }
        origin += hexagon.period();
    }
    (loaded.len() as u64, stored.len() as u64)
}

/// The row that an instance of a stage writes.
fn row(stage: &Stage) -> Result<Affine, Error> {
    Ok(match stage.iterators[2] {
        Some(iterator) => Affine::iterator(iterator).add_constant(stage.shift[2])?,
        None => stage.limits[2].0.clone(),
    })
}

/// The instances of a stage for which an expression is at least 0 and at most the given number.
fn within(ctx: &Ctx, verified: &Verified, stage: &Stage, expr: &Affine, most: i64) -> Result<Set, Error> {
    let algorithm = verified.algorithm();
    let space = relation::domain_space(ctx, algorithm, stage.computation)?;
    let names = algorithm.param_names();
    let number = |value: i64| Affine::constant(value).to_isl(&space, &names);
    let expr = expr.to_isl(&space, &names)?;
    Ok(expr.ge_set(&number(0)?)?.intersect(&expr.le_set(&number(most)?)?)?)
}
