//! Which time loops stream on a GPU, and how much of them at a time: by a model of bytes and instructions for each point.
//!
//! More steps a launch move fewer bytes, and repeat more work at the sides of strips, bands and parts; what a lane holds is
//! limited by its registers. Rates are those of one GPU, from measured streams; the choice needs only what they are to each
//! other.

use crate::algorithm::{Algorithm, Computation};
use crate::error::Error;
use crate::expr::{Expr, ExprKind};
use crate::isl::Ctx;
use crate::machine::Gpu;
use crate::schedule::{Loop, Node, Schedule, StreamSize, Tag};
use crate::stream::{self, LANES, Source, Stage, Stream};
use crate::work;
use std::collections::BTreeMap;
use tessella_scalar::{BinaryOp, Intrinsic, ScalarType};

/// A way to run a time loop, and what the model says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// How it streams; `None` for kernels that each make one nest of one step.
    pub size: Option<StreamSize>,
    /// Bytes to and from memory for each point and step.
    pub bytes: f64,
    /// Instructions for each point and step, those for points that are computed again included.
    pub instructions: f64,
    /// Picoseconds for each point and step.
    pub time: f64,
}

/// Steps of a launch that are weighed.
const STEPS: std::ops::RangeInclusive<u32> = 1..=16;
const POINTS: [u32; 2] = [2, 4];
/// Lines of a plane that a warp holds, for arrays with three axes. More leave room for few warps, and take long to compile.
const LINES: [u32; 1] = [4];
/// Instructions that an exact division or square root takes besides its own: it begins with an approximation, refines it,
/// and branches for numbers beyond what that works for. Of what ptxas makes of a gradient, about 60 are executed for a point, two of these
/// among 14 operations; measured kernels took as long.
const EXACT_QUOTIENT: f64 = 20.0;
/// What an approximate one takes: its unit serves a quarter of a warp at a time.
const FAST_QUOTIENT: f64 = 3.0;
/// Besides the slower of memory and arithmetic, so much of the other one's time shows.
const SHOWS: f64 = 0.3;
/// With so few warps on a multiprocessor too few loads are in flight.
const FEW_WARPS: i64 = 8;
const ALONE: f64 = 1.3;

/// What the model says of all ways to run a time loop, the best first; none where it does not stream.
///
/// # Errors
/// Where isl fails.
pub fn candidates(
    ctx: &Ctx,
    gpu: &Gpu,
    algorithm: &Algorithm,
    time: &Loop,
    depth: usize,
) -> Result<Vec<Candidate>, Error> {
    let deep = time.at.keys().any(|&id| algorithm.computation(id).iterators.len() > 3);
    let lines: &[u32] = if deep { &LINES } else { &[StreamSize::LINES] };
    let mut sizes = vec![];
    for steps in STEPS {
        for points in POINTS {
            sizes.extend(lines.iter().map(|&lines| StreamSize { steps, points, lines, ..StreamSize::USUAL }));
        }
    }
    let found = stream::find_all(ctx, algorithm, time, &sizes, depth)?;
    let mut all: Vec<Candidate> = found.iter().take(1).map(|(_, it)| step_by_step(gpu, algorithm, it)).collect();
    for (size, it) in found.iter().filter(|(_, it)| reads_neighbours(it)) {
        all.extend(weigh(gpu, algorithm, *size, it));
    }
    all.sort_by(|a, b| a.time.total_cmp(&b.time));
    Ok(all)
}

/// Has all time loops stream that do, each as the model likes best.
pub(crate) fn tag_streams(ctx: &Ctx, gpu: &Gpu, algorithm: &Algorithm, schedule: &mut Schedule) -> Result<(), Error> {
    for path in schedule.parts() {
        let Some(Node::Loop(it)) = schedule.node(&path) else { continue };
        if it.tag != Tag::Sequential {
            continue;
        }
        let best = candidates(ctx, gpu, algorithm, it, path.0.len())?.into_iter().next();
        if let (Some(size), Some(Node::Loop(it))) = (best.and_then(|best| best.size), schedule.node_mut(&path)) {
            it.tag = Tag::Stream(size);
        }
    }
    Ok(())
}

/// Whether it is a stencil, rather than sums that stay where they are.
fn reads_neighbours(it: &Stream) -> bool {
    let mut reads = it.stages.iter().flat_map(|stage| &stage.reads);
    reads.any(|read| matches!(read, Source::Field { offset, .. } if *offset != [0; 3]))
}

/// What the model says of a stream; nothing where a thread's registers do not hold all of it.
fn weigh(gpu: &Gpu, algorithm: &Algorithm, size: StreamSize, it: &Stream) -> Option<Candidate> {
    if it.registers(algorithm) + it.in_flight(algorithm) > i64::from(gpu.registers_of_thread) {
        return None;
    }
    let held = f64::from(LANES * it.size.points);
    let columns = held / it.width() as f64;
    let lines = it.all_lines() as f64 / it.band() as f64;
    let rows = it.iterations() as f64 / f64::from(it.size.rows);
    let repeats = columns * lines * rows;
    let bytes_of = |field: &stream::Field| f64::from(algorithm.array(field.array).element.bytes());
    let steps = f64::from(it.size.steps);
    let passed: f64 =
        it.fields.iter().filter(|it| it.carried).map(|field| bytes_of(field) * (repeats + 1.0) / steps).sum();
    let fixed: f64 = it.stages.iter().flat_map(|stage| from_memory(algorithm, stage)).sum::<f64>() * repeats;
    let bytes = passed + fixed;
    let instructions = it.stages.iter().map(|stage| instructions(algorithm, it, stage)).sum::<f64>() * repeats;
    let (moving, computing) = (bytes / gpu.bytes_a_picosecond, instructions / gpu.instructions_a_picosecond);
    let alone = if it.blocks(algorithm, gpu) * it.warps() <= FEW_WARPS { ALONE } else { 1.0 };
    let time = (moving.max(computing) + SHOWS * moving.min(computing)) * alone;
    Some(Candidate { size: Some(size), bytes, instructions, time })
}

/// What the model says of a kernel for each nest and step: it reads each array once for each point.
fn step_by_step(gpu: &Gpu, algorithm: &Algorithm, it: &Stream) -> Candidate {
    let (mut bytes, mut instructions) = (0.0, 0.0);
    for stage in &it.stages {
        let written = f64::from(algorithm.array(it.fields[stage.field].array).element.bytes());
        bytes += written + once(algorithm, stage, |_| true).iter().sum::<f64>();
        instructions += arithmetic(algorithm, stage) + stage.reads.len() as f64;
    }
    let (moving, computing) = (bytes / gpu.bytes_a_picosecond, instructions / gpu.instructions_a_picosecond);
    Candidate { size: None, bytes, instructions, time: moving.max(computing) + SHOWS * moving.min(computing) }
}

/// Bytes of the elements that do not change.
fn from_memory(algorithm: &Algorithm, stage: &Stage) -> Vec<f64> {
    once(algorithm, stage, |source| *source == Source::Memory)
}

/// Bytes of an element of each array that a stage reads from such places.
fn once(algorithm: &Algorithm, stage: &Stage, wanted: impl Fn(&Source) -> bool) -> Vec<f64> {
    let reads = algorithm.computation(stage.computation).reads.iter().zip(&stage.reads);
    let mut arrays = BTreeMap::new();
    for (read, _) in reads.filter(|(_, source)| wanted(source)) {
        arrays.insert(read.array, f64::from(algorithm.array(read.array).element.bytes()));
    }
    arrays.into_values().collect()
}

/// Arithmetic instructions of a stage for a point; those on wide numbers count twice.
fn arithmetic(algorithm: &Algorithm, stage: &Stage) -> f64 {
    let (narrow, wide) = work::operations(algorithm.computation(stage.computation));
    // Integers are not counted: each operand of theirs takes an instruction or so.
    let least = stage.reads.len() as u64 - u64::from(!stage.reads.is_empty());
    (narrow + 2 * wide).max(least) as f64 + quotients(algorithm.computation(stage.computation))
}

/// Instructions that divisions and square roots of floats take besides the one that is counted as an operation.
fn quotients(computation: &Computation) -> f64 {
    let mut more = 0.0;
    let mut weigh = |expr: &Expr| {
        let is_quotient = match &expr.kind {
            // By a constant `@fastmath` multiplies with its inverse.
            ExprKind::Binary(BinaryOp::Div, _, by) => {
                !(computation.fastmath && matches!(by.kind, ExprKind::Constant(_)))
            }
            ExprKind::Call(Intrinsic::Sqrt, _) => true,
            _ => false,
        };
        more += match (is_quotient && expr.ty.is_float(), expr.ty) {
            (false, _) => 0.0,
            (true, ScalarType::F32) if computation.fastmath => FAST_QUOTIENT,
            (true, ScalarType::F32) => EXACT_QUOTIENT,
            (true, _) => 2.0 * EXACT_QUOTIENT,
        };
    };
    computation.lets.iter().map(|it| &it.value).chain([&computation.value]).for_each(|expr| expr.walk(&mut weigh));
    more
}

/// Instructions of a stage for a point: arithmetic, and its share of the shuffles.
fn instructions(algorithm: &Algorithm, it: &Stream, stage: &Stage) -> f64 {
    let mut beside: BTreeMap<(usize, bool, i64), (i64, i64)> = BTreeMap::new();
    for read in stage.fetched() {
        if let Source::Field { field, fresh, offset, age } = read {
            let reach = beside.entry((field, fresh, age)).or_default();
            *reach = (reach.0.max(-offset[0]), reach.1.max(offset[0]));
        }
    }
    let words = f64::from(algorithm.array(it.fields[stage.field].array).element.bytes().div_ceil(4));
    let shuffles: i64 = beside.values().map(|(below, above)| below + above).sum();
    arithmetic(algorithm, stage) + shuffles as f64 * words / f64::from(it.size.points) + 0.5
}
