//! What a stream takes: strips and parts, memory and registers.

use super::{Field, LANES, Parts, Reach, Shared, Source, Stage, Stream};
use crate::algorithm::{Algorithm, ArrayId};
use crate::machine::Gpu;
use std::collections::{BTreeMap, BTreeSet};

/// Registers of a thread for the places of a level of time beyond two. `levels2d` under `stream(S, t, 2, 2)` takes 4.85 ms on an H200 with 96
/// registers a thread, 4.16 with 128 and 4.41 with 168.
const OF_LEVEL: i64 = 26;
/// Of what a multiprocessor keeps beside its registers, so much stays in the cache next to them. `tests/stencils/anew2d.jl` under
/// `stream(Z, t, 12, 2)` left 320 KB in its last launch on an H200, which took 14 times as long as the others, and 115 KB in these.
const MOST_SPILLED_BYTES: i64 = 128 << 10;
/// Registers that a multiprocessor sets aside for a thread with all that it can have.
const ALL_REGISTERS: i64 = 256;

impl Stream {
    /// The stages, and then what records.
    pub fn nests(&self) -> impl Iterator<Item = &Stage> {
        self.stages.iter().chain(&self.records)
    }

    /// The stages that most points go through.
    pub fn inner_stages(&self) -> impl Iterator<Item = &Stage> {
        self.stages.iter().filter(|stage| stage.thin == [false; 3])
    }

    /// How many iterations of the time loop with nests of their own a step is.
    pub fn turns(&self) -> i64 {
        let turns: BTreeSet<i64> = self.stages.iter().map(|stage| stage.turn).collect();
        turns.len() as i64
    }

    /// Of arrays that hold levels of time, the highest one that takes turns.
    pub fn highest_levels(&self) -> BTreeMap<ArrayId, i64> {
        let mut highest = BTreeMap::new();
        for (array, level) in self.fields.iter().filter_map(|field| Some((field.array, field.level?))) {
            let known = highest.entry(array).or_insert(level);
            *known = level.max(*known);
        }
        highest
    }

    /// How many levels of time arrays have beyond two each.
    pub fn levels_beyond_two(&self) -> i64 {
        let mut levels: BTreeMap<ArrayId, i64> = BTreeMap::new();
        self.fields.iter().filter(|field| field.turns).for_each(|it| *levels.entry(it.array).or_default() += 1);
        levels.values().map(|levels| (levels - 2).max(0)).sum()
    }

    /// One of these.
    pub fn nest(&self, at: usize) -> &Stage {
        self.stages.get(at).unwrap_or_else(|| &self.records[at - self.stages.len()])
    }

    /// How many stages of a step have to run before what records reads the fields: no later one writes what it reads fresh, and none of them what
    /// it reads as it was before the step.
    pub fn stages_before(&self, record: &Stage) -> usize {
        let fresh = record.reads.iter().filter_map(|read| match read {
            Source::Field { field, fresh: true, .. } => Some(self.fields[*field].finisher + 1),
            _ => None,
        });
        fresh.max().unwrap_or(0)
    }

    /// The stages that write a field, in order.
    pub fn writers(&self, field: usize) -> impl Iterator<Item = usize> + '_ {
        let stages = self.stages.iter().enumerate();
        stages.filter(move |(_, stage)| stage.field == field).map(|(at, _)| at)
    }

    /// How many rows after it was begun a stage revises a row of the version that it writes; 0 for the one that begins it.
    pub fn revises_after(&self, stage: usize) -> i64 {
        let own = &self.stages[stage];
        own.lag - self.stages[self.fields[own.field].writer].lag
    }

    /// Whether a stage changes a version that another one began.
    pub fn revises(&self, stage: usize) -> bool {
        self.fields[self.stages[stage].field].writer != stage
    }

    /// Points along the first axis that a warp stores.
    pub fn width(&self) -> i64 {
        let points = i64::from(self.size.points);
        let whole_lanes = |points_beside: i64| (points_beside + points - 1) / points * points;
        i64::from(LANES) * points - whole_lanes(self.beside[0].below) - whole_lanes(self.beside[0].above)
    }

    /// Lines of a plane that a warp stores.
    pub fn band(&self) -> i64 {
        self.all_lines() - self.beside[1].below - self.beside[1].above
    }

    /// Warps of a block: those that have lines of the same plane.
    pub fn warps(&self) -> i64 {
        self.size.warps.into()
    }

    /// Lines that the warps of a plane hold together.
    pub fn all_lines(&self) -> i64 {
        i64::from(self.size.lines) * self.warps()
    }

    /// The lines of a field that warps hand to those beside them: how many lie next to the lines of a warp, and for how many
    /// planes they are kept; `None` where each warp needs its own lines alone.
    pub fn shared_lines(&self, field: usize) -> Option<Shared> {
        let (mut shared, mut last_age): (Option<Shared>, i64) = (None, 0);
        for read in self.stages.iter().flat_map(Stage::fetched) {
            if let Source::Field { field: of, fresh, offset, age } = read
                && of == field
                && offset[1] != 0
            {
                let version = i64::from(fresh);
                let last = version + i64::from(self.size.steps) - 1;
                let it = shared.get_or_insert(Shared {
                    reach: Reach::default(),
                    given: age - 1,
                    planes: 0,
                    versions: (version, last),
                });
                it.reach = it.reach.or(offset[1]);
                it.given = it.given.min(age - 1);
                last_age = last_age.max(age);
                it.versions = (it.versions.0.min(version), it.versions.1.max(last));
            }
        }
        let planes = |it: Shared| Shared { planes: last_age - it.given + 1, ..it };
        shared.map(planes)
    }

    /// The lines of a band that a stage computes, of those that a lane holds: where all that it reads is among them. What
    /// is stored needs no others.
    pub fn lines(&self, stage: usize) -> std::ops::Range<i64> {
        let offsets = self.stages[stage].reads.iter().filter_map(|read| match read {
            Source::Field { offset, .. } => Some(offset[1]),
            Source::Memory | Source::Unused => None,
        });
        let reach = offsets.fold(Reach::default(), |all, by| all.or(by));
        reach.below..self.all_lines() - reach.above
    }

    /// Lanes at the lower end of a warp that store nothing.
    pub fn idle_lanes(&self) -> (i64, i64) {
        let points = i64::from(self.size.points);
        let Reach { below, above } = self.beside[0];
        ((below + points - 1) / points, (above + points - 1) / points)
    }

    /// Thread blocks that should be on a multiprocessor at once: as many as its registers hold, by a guess of what each
    /// thread needs besides the rows.
    pub fn blocks(&self, algorithm: &Algorithm, gpu: &Gpu) -> i64 {
        let of_each_thread = i64::from(gpu.registers / LANES) / self.warps();
        let others = i64::from(gpu.other_registers) + OF_LEVEL * self.levels_beyond_two();
        let needed = self.registers(algorithm) + self.in_flight(algorithm) + others;
        let blocks = (of_each_thread / needed).clamp(1, (i64::from(gpu.most_warps) / self.warps()).max(1));
        // A multiprocessor has four parts with registers of their own.
        if self.warps() == 1 && blocks > 4 { blocks / 4 * 4 } else { blocks }
    }

    /// The same for the launch of the last steps, the number of which only the call tells: where what does not fit in registers would not
    /// fit in the cache next to them either, each thread has all the registers that it can have.
    pub fn blocks_of_rest(&self, algorithm: &Algorithm, gpu: &Gpu) -> i64 {
        let blocks = self.blocks(algorithm, gpu);
        match self.spilled_by_rest(algorithm, gpu, blocks) > MOST_SPILLED_BYTES {
            true => self.fewest_blocks(gpu).min(blocks),
            false => blocks,
        }
    }

    /// Whether a launch that is told how many of these steps it makes leaves more to memory than the cache takes, however many registers it has. Steps that
    /// take turns are slow then in any launch: those of `tests/stencils/anew_levels2d.jl` took 53 µs with 24 of them in a launch on an H200, 33 with 16
    /// and 31 with 8.
    pub fn is_too_deep(&self, algorithm: &Algorithm, gpu: &Gpu) -> bool {
        self.spilled_by_rest(algorithm, gpu, self.fewest_blocks(gpu)) > MOST_SPILLED_BYTES
    }

    /// Blocks of a multiprocessor where each thread has all the registers that it can have.
    fn fewest_blocks(&self, gpu: &Gpu) -> i64 {
        (i64::from(gpu.registers / LANES) / self.warps() / ALL_REGISTERS).max(1)
    }

    /// Bytes that do not fit in the registers of a multiprocessor with so many blocks of the kernel for the last steps. By what compilers make
    /// of measured programs it keeps a value more for each stage and point, for each turn of a step.
    fn spilled_by_rest(&self, algorithm: &Algorithm, gpu: &Gpu, blocks: i64) -> i64 {
        let words = |field: &Field| i64::from(algorithm.array(field.array).element.bytes().div_ceil(4));
        let stages: i64 = self.inner_stages().map(|stage| words(&self.fields[stage.field])).sum();
        let points = i64::from(self.size.steps) * i64::from(self.size.points) * i64::from(self.size.lines);
        let computed = stages * points * self.turns();
        let needed = self.registers(algorithm) + self.in_flight(algorithm) + i64::from(gpu.other_registers) + computed;
        let of_thread = i64::from(gpu.registers / LANES) / (blocks * self.warps());
        4 * (needed - of_thread).max(0) * i64::from(LANES) * self.warps() * blocks
    }

    /// Bytes of shared memory that a block needs for the lines that its warps hand on.
    pub fn shared_bytes(&self, algorithm: &Algorithm) -> i64 {
        let of_field = |(at, field): (usize, &Field)| {
            let it = self.shared_lines(at)?;
            let lines = (it.reach.below + it.reach.above) * (it.versions.1 - it.versions.0 + 1) * it.planes;
            let bytes = i64::from(algorithm.array(field.array).element.bytes());
            Some(bytes * lines * self.warps() * i64::from(LANES * self.size.points))
        };
        self.fields.iter().enumerate().filter_map(of_field).sum()
    }

    /// Registers of four bytes that rows take besides those of their versions: the one that is computed, the next one on its way, and
    /// lines with the points beside them where a stage reads such points on several lines.
    pub fn in_flight(&self, algorithm: &Algorithm) -> i64 {
        let points = i64::from(self.size.points);
        let row = points * i64::from(self.size.lines);
        let words = |field: &Field| i64::from(algorithm.array(field.array).element.bytes().div_ceil(4));
        let fields = self.fields.iter().enumerate().filter(|(at, _)| self.loads_ahead(algorithm, *at));
        let ahead = fields.map(|(_, field)| words(field) * row);
        let computed = self.fields.iter().map(words).max().unwrap_or(0) * row;
        let widened = self.stages.iter().map(|stage| {
            let mut rows: BTreeMap<(usize, bool, i64), BTreeSet<i64>> = BTreeMap::new();
            for read in stage.fetched() {
                if let Source::Field { field, fresh, offset, age } = read
                    && offset[0] != 0
                {
                    rows.entry((field, fresh, age)).or_default().insert(offset[1]);
                }
            }
            let of_row = |((field, ..), lines): (&(usize, bool, i64), &BTreeSet<i64>)| match lines.len() {
                1 => 0,
                several => words(&self.fields[*field]) * several as i64 * (points + 2),
            };
            rows.iter().map(of_row).sum::<i64>()
        });
        ahead.sum::<i64>() + computed + widened.max().unwrap_or(0)
    }

    /// How many rows the last stage of a launch lags behind the first.
    pub fn last_lag(&self) -> i64 {
        let within = self.nests().map(|stage| stage.lag).max().unwrap_or(0);
        (i64::from(self.size.steps) - 1) * self.lag + within
    }

    /// What decides how many parts a launch has, if that is left to it.
    pub fn parts(&self, algorithm: &Algorithm, gpu: &Gpu) -> Parts {
        let (blocks, multiprocessors) = (self.blocks(algorithm, gpu), i64::from(gpu.multiprocessors));
        let rims = if self.axes[1].is_some() && self.turns() <= 1 { Parts::RIMS_OF_PLANES } else { Parts::RIMS };
        Parts { around: self.around(), blocks, multiprocessors, rims }
    }

    /// How many rows a warp walks along besides those that it stores: before the first of them, and after the last.
    pub fn around(&self) -> i64 {
        self.back + self.last_lag()
    }

    /// Registers of four bytes that the rows of all versions take.
    pub fn registers(&self, algorithm: &Algorithm) -> i64 {
        let rows = |wanted: usize| {
            let ages = self.nests().flat_map(Stage::fetched).filter_map(move |read| match read {
                Source::Field { field, age, .. } if field == wanted => Some(age + 1),
                Source::Field { .. } | Source::Memory | Source::Unused => None,
            });
            ages.max().unwrap_or(0)
        };
        // The oldest row is used up in the iteration in which the newest one comes.
        let held = self.fields.iter().enumerate().map(|(at, field)| {
            let words = i64::from(algorithm.array(field.array).element.bytes().div_ceil(4));
            words * (rows(at) - 1).max(0)
        });
        let sums = self.stages.iter().filter_map(|stage| {
            let words = i64::from(algorithm.array(self.fields[stage.field].array).element.bytes().div_ceil(4));
            Some(words * stage.sums.as_ref()?.longest)
        });
        (held.sum::<i64>() + sums.sum::<i64>())
            * i64::from(self.size.steps)
            * i64::from(self.size.points)
            * i64::from(self.size.lines)
    }
}
