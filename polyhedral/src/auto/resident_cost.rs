//! What blocks that keep their tiles for all time steps take: by a model of their instructions, loads of shared memory, and waiting.
//!
//! All blocks wait for each other, so a step takes what the largest tile takes: all of its points, rims among them, at a multiprocessor's
//! rate, and a constant for each stage; a barrier of the grid with the exchange of rims comes every few steps. Rates were fitted to
//! twelve programs of matrices at five sizes each (`docs/performance.md`).

use super::resident::sizes;
use super::stream::{Candidate, arithmetic, from_memory, reads_neighbours};
use crate::algorithm::Algorithm;
use crate::error::Error;
use crate::isl::Ctx;
use crate::machine::Gpu;
use crate::schedule::{Loop, ResidentSize, StreamSize};
use crate::stream::resident::Held;
use crate::stream::{self, Resident, Source, Stage, Stream};
use std::collections::BTreeMap;

/// Picoseconds of a barrier of the grid, with what blocks give each other.
const BARRIER: f64 = 2.1e6;
/// The same of a stage, however few points it has: its threads wait for each other, and for their first operands.
const STAGE: f64 = 0.1e6;
/// A load or a store of shared memory takes as long as so many instructions, for elements of four bytes.
const SHARED: f64 = 3.24;
/// Besides the slower of shared memory and arithmetic, so much of the other one's time shows.
const SHOWS: f64 = 0.22;

/// Ways in which blocks keep the domain of a time loop.
pub struct Tiles {
    all: Vec<(ResidentSize, Resident)>,
    stream: Option<Stream>,
}

impl Tiles {
    /// Those that are weighed of a loop that streams in this size, its own among them; none of sums that stay where they are.
    ///
    /// # Errors
    /// Where isl fails.
    pub fn of(ctx: &Ctx, algorithm: &Algorithm, time: &Loop, size: StreamSize) -> Result<Tiles, Error> {
        let stream = stream::find(ctx, algorithm, time, size)?.ok().filter(reads_neighbours);
        let mut all: Vec<_> = stream.iter().flat_map(|stream| sizes(algorithm, stream)).collect();
        let own = stream.iter().filter_map(|stream| stream.resident.clone());
        let own: Vec<_> = own.map(|own| (own.size, own)).filter(|own| !all.contains(own)).collect();
        all.extend(own);
        Ok(Tiles { all, stream })
    }

    /// These ones of a stream.
    pub(super) fn with(all: Vec<(ResidentSize, Resident)>, stream: Stream) -> Tiles {
        Tiles { all, stream: Some(stream) }
    }

    /// Their sizes.
    pub(super) fn sizes(&self) -> impl Iterator<Item = ResidentSize> {
        self.all.iter().map(|(size, _)| *size)
    }

    /// The points along each axis that a loop over arrays with such parameters goes through: columns, lines and rows, 1 where there is no
    /// such axis.
    pub fn extents(&self, algorithm: &Algorithm, params: &[i64]) -> Option<[i64; 3]> {
        let stream = self.stream.as_ref()?;
        let mut most = [1; 3];
        for field in stream.fields.iter().filter(|field| field.carried) {
            let extents = &algorithm.array(field.array).extents;
            for (most, axis) in most.iter_mut().zip(stream.axes) {
                if let Some(axis) = axis {
                    *most = (*most).max(extents[axis as usize].evaluate(&[], params)?);
                }
            }
        }
        Some(most)
    }

    /// The extents of a domain that is as long along each axis that there is.
    pub fn cube(&self, side: i64) -> Option<[i64; 3]> {
        Some(self.stream.as_ref()?.axes.map(|axis| if axis.is_some() { side } else { 1 }))
    }

    /// The longest side of a domain, as long along each axis, that blocks can hold in tiles of this size.
    pub fn longest(&self, gpu: &Gpu, size: ResidentSize) -> Option<i64> {
        let holds = |side: i64| {
            let (_, resident) = self.all.iter().find(|(it, _)| *it == size)?;
            rows_of_warp(gpu, self.stream.as_ref()?, resident, self.cube(side)?)
        };
        let (mut low, mut high) = (1, 1 << 24);
        holds(low)?;
        while low + 1 < high {
            let middle = (low + high) / 2;
            if holds(middle).is_some() {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(low)
    }

    /// What the model says of each size in which blocks can hold a domain with these extents, the best first.
    pub fn weighed(&self, gpu: &Gpu, algorithm: &Algorithm, extents: [i64; 3]) -> Vec<Candidate> {
        let Some(stream) = &self.stream else { return vec![] };
        let weigh =
            |(size, resident): &(ResidentSize, Resident)| weigh(gpu, algorithm, stream, (*size, resident), extents);
        let mut all: Vec<Candidate> = self.all.iter().filter_map(weigh).collect();
        all.sort_by(|a, b| a.time.total_cmp(&b.time));
        all
    }
}

/// The rows that each warp has of a tile of a domain, and the rows that its block owns; `None` where the blocks cannot hold it.
fn rows_of_warp(gpu: &Gpu, stream: &Stream, resident: &Resident, extents: [i64; 3]) -> Option<(i64, i64)> {
    let [columns, lines, rows] = extents;
    let cut = |extent: i64, size: i64| (extent + size - 1) / size;
    let across = cut(columns, resident.strip(stream)) * cut(lines, resident.band(stream));
    let along = i64::from(gpu.multiprocessors) / across;
    if along == 0 {
        return None;
    }
    let owned = cut(rows, along);
    let has = |of_warp: i64| {
        resident.rows_of_block(stream, of_warp) / resident.lines(stream) >= owned + resident.rows_beside()
    };
    resident.versions(stream).into_iter().find(|&of_warp| has(of_warp)).map(|of_warp| (of_warp, owned))
}

fn weigh(
    gpu: &Gpu,
    algorithm: &Algorithm,
    stream: &Stream,
    (size, resident): (ResidentSize, &Resident),
    extents: [i64; 3],
) -> Option<Candidate> {
    let (of_warp, owned) = rows_of_warp(gpu, stream, resident, extents)?;
    let held = resident.columns(stream) * resident.rows_of_block(stream, of_warp);
    let all: i64 = extents.iter().product();
    let own =
        [extents[0].min(resident.strip(stream)), extents[1].min(resident.band(stream)), owned].iter().product::<i64>();
    let steps = f64::from(size.steps);
    // Rims go to memory and come back.
    let bytes_of = |at: usize| f64::from(algorithm.array(stream.fields[at].array).element.bytes());
    let exchanged: f64 = (0..stream.fields.len()).filter(|&at| resident.exchanged[at]).map(bytes_of).sum();
    let fixed: f64 = stream.inner_stages().flat_map(|stage| from_memory(algorithm, stage)).sum();
    let repeats = held as f64 / own as f64;
    let bytes = 2.0 * exchanged * (repeats - 1.0).max(0.0) / steps + fixed * repeats;
    let computed: f64 = stream.inner_stages().map(|stage| arithmetic(algorithm, stage)).sum();
    let shared: f64 =
        stream.inner_stages().map(|stage| SHARED * loads(algorithm, stream, resident, stage, of_warp)).sum();
    let once = computed.max(shared) + SHOWS * computed.min(shared);
    let rate = gpu.instructions_a_picosecond / f64::from(gpu.multiprocessors);
    let step = held as f64 * once / rate + STAGE * stream.stages.len() as f64 + BARRIER / steps;
    let size = StreamSize { resident: Some(size), ..stream.size };
    Some(Candidate { size: Some(size), bytes, instructions: once * repeats, time: step / all as f64 })
}

/// Words of four bytes that a stage loads from shared memory and stores there, for each point: a thread that has several rows loads what two of them
/// read just once.
fn loads(algorithm: &Algorithm, stream: &Stream, resident: &Resident, stage: &Stage, rows: i64) -> f64 {
    let words = |field: usize| f64::from(algorithm.array(stream.fields[field].array).element.bytes().div_ceil(4));
    let mut columns: BTreeMap<(usize, i64, i64), (i64, i64)> = BTreeMap::new();
    for read in &stage.reads {
        let Source::Field { field, offset: [column, line, row], .. } = *read else { continue };
        if resident.held[field] == Held::Shared {
            let ends = columns.entry((field, column, line)).or_insert((row, row));
            *ends = (ends.0.min(row), ends.1.max(row));
        }
    }
    let loaded: f64 =
        columns.iter().map(|((field, ..), (low, high))| words(*field) * (rows + high - low) as f64 / rows as f64).sum();
    let stored = if resident.held[stage.field] == Held::Shared { words(stage.field) } else { 0.0 };
    loaded + stored
}
