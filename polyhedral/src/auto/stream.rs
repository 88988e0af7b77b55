//! Which time loops stream on a GPU, and how much of them at a time: by a model of bytes and instructions for each point.
//!
//! More steps a launch move fewer bytes, and repeat more work at the sides of strips, bands and parts; what a lane holds is
//! limited by its registers. Rates are those of one GPU, from measured streams; the choice needs only what they are to each
//! other.

use crate::algorithm::{Algorithm, Computation};
use crate::error::Error;
use crate::expr::{Expr, ExprKind};
use crate::isl::Ctx;
use crate::machine::{Gpu, VECTOR_BYTES};
use crate::schedule::{HexagonSize, Loop, Node, Path, Schedule, StreamSize, Tag};
use crate::stream::rounds::walk;
use crate::stream::settled::is_known;
use crate::stream::{self, Hexagon, LANES, Settled, Source, Stage, Stream};
use std::collections::{BTreeMap, BTreeSet};
use tessella_scalar::{BinaryOp, Intrinsic, ScalarType, UnaryOp};

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
/// Points and lines of a plane that a lane holds, and warps that share a plane, for arrays with three axes. More lines leave room for
/// few warps, and take long to compile; with more warps less is computed twice, and blocks are fewer.
const PLANES: [(u32, u32, u32); 4] = [(2, 4, 8), (2, 4, 12), (4, 2, 12), (4, 3, 8)];
/// Points along each axis of large arrays.
pub(crate) const LARGE_PLANE: i64 = 8192;
/// The same of small matrices.
pub const SMALL_PLANE: i64 = 1500;
const LARGE_SPACE: i64 = 512;
/// Heights and widths of hexagons, and their threads.
const HEXAGONS: [(u32, u32, u32); 3] = [(3, 7, 256), (5, 7, 256), (2, 5, 128)];
const HEXAGON_POINTS: [u32; 2] = [2, 4];
/// The same over planes, whose threads hold several lines, and their points.
const PLANE_HEXAGONS: [(u32, u32, u32, u32); 4] = [(1, 7, 512, 2), (2, 3, 512, 2), (1, 3, 512, 2), (1, 2, 384, 3)];
const PLANE_HEXAGON_POINTS: u32 = 2;
/// Instructions for each point of a hexagon over rows, or over planes, besides those of its statements, by what measured kernels take: all
/// threads of a block wait for each other in each step, and the code is long.
const OF_HEXAGONS: f64 = 17.0;
const OF_PLANES: f64 = 40.0;
const ALONE_IN_HEXAGONS: f64 = 1.4;
/// As many warps as hexagons have on a multiprocessor.
const WARPS_OF_HEXAGONS: f64 = 16.0;
/// Instructions that an exact division or square root takes besides its own: it begins with an approximation and refines it. Measured
/// kernels of a gradient take as long as with so many.
const EXACT_QUOTIENT: f64 = 15.0;
/// So much faster than a kernel for each nest and step a stream has to be.
const WORTH: f64 = 1.1;
/// A quotient or root of `Float64` takes so much more: a flow with six for each point (`un * dt / dx`) takes 7.4 ps for a stage in a kernel of its
/// own and 11.3 in a stream of one step, on an H200.
const WIDE_QUOTIENT: f64 = 2.5;
/// The same of a quotient by a number whose inverse is known ([`tessella_scalar::inverse`]). It takes four, but measured kernels of boxes
/// take as long as with so many: a branch for tiny numbers stands between the points of a thread.
const BY_INVERSE: f64 = 9.0;
/// Besides the slower of memory and arithmetic, so much of the other one's time shows.
const SHOWS: f64 = 0.22;
/// A stencil's loads and stores get so much of the rate of memory.
const MOVES: f64 = 0.78;
/// The two over planes, whose warps wait for each other at each plane: the slower one is all that shows.
const SHOWS_OF_PLANES: f64 = 0.0;
const MOVES_OF_PLANES: f64 = 0.85;
/// Warps wait for their own results as long as so many of them compute; the GPU's rate is that with so many on a multiprocessor.
const WAITING_WARPS: f64 = 9.2;
const WARPS_OF_RATE: f64 = 18.0;
/// A multiprocessor has no more blocks than this.
const MOST_BLOCKS: f64 = 32.0;
/// So few warps leave nothing to do at a barrier.
const FEW_WARPS: i64 = 8;
const ALONE: f64 = 1.2;
/// The same of more warps that are one block: all of them wait at once.
const IN_ONE_BLOCK: f64 = 1.05;
/// Of an instruction, what a shuffle takes, each stage, and a register that moves to memory and back.
const SHUFFLE: f64 = 0.34;
const STAGE: f64 = 0.17;
const SPILLED: f64 = 13.0;
/// The same over planes: where registers are that scarce, compilers move about ten times as many as the model counts (24 for 2, 64 for 10).
const SPILLED_OF_PLANES: f64 = 60.0;
/// Registers of a thread besides its rows, by what compilers leave of measured kernels, for each word of an element.
const OTHERS: i64 = 42;
/// The same for each field beyond two that goes from step to step, with its addresses and masks, by the points of a lane: 80 for two
/// of them, 180 for four.
const OTHERS_OF_FIELD: (i64, i64) = (50, -20);
/// What compilers make of the registers of rows over two levels of time that take turns, in halves, and besides for each thread, and for each word
/// of a lane's points in each array: within an eighth of what ptxas 13.0 takes for 52 of 59 kernels of stars and of a reaction in both element types.
const OF_TWO_LEVELS: i64 = 3;
const OTHERS_OF_TWO_LEVELS: (i64, i64) = (32, 8);
/// Where one of these moves to memory and back, as [`SPILLED`]: most of that is hidden.
const SPILLED_OF_TWO_LEVELS: f64 = 4.0;
/// The same registers over two levels of one array or beside pictures, and over three levels, in quarters: by such kernels on an H200 (docs/performance.md).
const OF_ONE_ARRAY: i64 = 7;
const OF_MORE_LEVELS: i64 = 12;
/// With more for each, too few warps of these are on a multiprocessor.
const MOST_OF_LEVELS: i64 = 168;
/// So many may go to memory.
const SOME_SPILLED: i64 = 8;
/// The same for each nest that writes an edge only, a row or a column, and each point of a lane.
const OTHERS_OF_EDGE: i64 = 6;
/// The same for each array that does not change and that a stage reads in a matrix, in each step: its addresses, and an element for each
/// point of a lane.
const OTHERS_OF_MEMORY: (i64, i64) = (7, 1);
/// The same beyond two fields, the numbers for which have one such array: `metal_components2d`, with four, made 140 GStencil/s under `4, 2`,
/// 115 under `4, 4`, 118 under `6, 2`, 97 under `2, 2` and 62 under `8, 4` on an H200.
const OTHERS_OF_MEMORY_BESIDE_FIELDS: (i64, i64) = (3, 3);
/// The most that a thread has.
const MOST_REGISTERS: i64 = 255;
/// Registers of a thread for addresses and values, the least that kernels get by with.
const LEAST_OTHERS: i64 = 24;

/// What the model says of all ways to run a time loop over large arrays, the best first; none where it does not stream.
///
/// # Errors
/// Where isl fails.
pub fn candidates(ctx: &Ctx, gpu: &Gpu, algorithm: &Algorithm, time: &Loop) -> Result<Vec<Candidate>, Error> {
    Ok(Ways::of(ctx, algorithm, time)?.weighed(gpu, algorithm, None))
}

/// The same for small matrices, of [`SMALL_PLANE`] points along each axis.
///
/// # Errors
/// Where isl fails.
pub fn candidates_of_small(ctx: &Ctx, gpu: &Gpu, algorithm: &Algorithm, time: &Loop) -> Result<Vec<Candidate>, Error> {
    Ok(Ways::of(ctx, algorithm, time)?.weighed(gpu, algorithm, Some(SMALL_PLANE)))
}

/// The ways in which a time loop streams.
pub(crate) struct Ways(Vec<(StreamSize, Stream)>);

impl Ways {
    /// Those that are weighed; none where the loop does not stream.
    pub(crate) fn of(ctx: &Ctx, algorithm: &Algorithm, time: &Loop) -> Result<Ways, Error> {
        let deep = loops_below(&time.body) > 2;
        let usual = StreamSize::USUAL;
        let flat = POINTS.map(|points| (points, usual.lines, usual.warps));
        let shapes: &[(u32, u32, u32)] = if deep { &PLANES } else { &flat };
        let of_steps = |steps: u32| {
            shapes.iter().map(move |&(points, lines, warps)| StreamSize { steps, points, lines, warps, ..usual })
        };
        let sizes: Vec<StreamSize> = STEPS.flat_map(of_steps).collect();
        let hexagons = |points: u32| {
            HEXAGONS.map(|(height, width, threads)| {
                StreamSize::hexagons(points, HexagonSize { height, width, threads, tiles: HexagonSize::TILES })
            })
        };
        let over_planes = PLANE_HEXAGONS.map(|(height, width, threads, tiles)| {
            StreamSize::hexagons(PLANE_HEXAGON_POINTS, HexagonSize { height, width, threads, tiles })
        });
        let mut found = stream::find_all(ctx, algorithm, time, &sizes)?;
        found.retain(|(size, it)| !has_two_levels(it) || size.points <= most_points(algorithm, it));
        // Hexagons ask at each point what streams know away from the edges, and all of it in registers does not fit.
        let asks =
            |(_, it): &(StreamSize, Stream)| it.stages.iter().any(|stage| !Settled::all(algorithm, stage).is_empty());
        if found.first().is_some_and(asks) {
            return Ok(Ways(found));
        }
        if deep && !found.is_empty() {
            found.extend(stream::find_all(ctx, algorithm, time, &over_planes)?);
        }
        if !deep && !found.is_empty() {
            // As few points a thread as a step asks for.
            for points in HEXAGON_POINTS {
                let some = stream::find_all(ctx, algorithm, time, &hexagons(points))?;
                if !some.is_empty() {
                    found.extend(some);
                    break;
                }
            }
        }
        Ok(Ways(found))
    }

    /// Any of them: what it needs to know of the loop is the same for all.
    pub(crate) fn any(&self) -> Option<&Stream> {
        self.0.first().map(|(_, it)| it)
    }

    /// What the model says of each, the best first, for arrays with so many points along each axis; large ones if that is not given. Of
    /// hexagons it knows large arrays alone.
    pub(crate) fn weighed(&self, gpu: &Gpu, algorithm: &Algorithm, extent: Option<i64>) -> Vec<Candidate> {
        let mut all: Vec<Candidate> = self.0.iter().take(1).map(|(_, it)| step_by_step(gpu, algorithm, it)).collect();
        for (size, it) in self.0.iter().filter(|(_, it)| reads_neighbours(it)) {
            all.extend(match &it.hexagon {
                Some(_) if extent.is_some() => None,
                Some(hexagon) => Some(weigh_hexagon(gpu, algorithm, *size, it, hexagon)),
                None => weigh(gpu, algorithm, *size, it, extent),
            });
        }
        all.sort_by(|a, b| a.time.total_cmp(&b.time));
        let best = all.first().map_or(0.0, |it| it.time);
        if let Some(plain) = all.iter().position(|it| it.size.is_none() && it.time < best * WORTH) {
            all[..=plain].rotate_right(1);
        }
        all
    }
}

/// Has all time loops stream that do, each as the model likes best for large arrays.
pub(crate) fn tag_streams(ctx: &Ctx, gpu: &Gpu, algorithm: &Algorithm, schedule: &mut Schedule) -> Result<(), Error> {
    for path in schedule.host_loops() {
        let Some(Node::Loop(it)) = schedule.node(&path) else { continue };
        let streams = |(_, it): &(Path, &Loop)| matches!(it.tag, Tag::Stream(_));
        if it.tag != Tag::Sequential || schedule.around(&path).iter().any(streams) {
            continue;
        }
        let best = candidates(ctx, gpu, algorithm, it)?.into_iter().next();
        if let (Some(size), Some(Node::Loop(it))) = (best.and_then(|best| best.size), schedule.node_mut(&path)) {
            it.tag = Tag::Stream(size);
        }
    }
    Ok(())
}

/// The most loops around a statement below a node.
fn loops_below(node: &Node) -> usize {
    match node {
        Node::Computation(_) => 0,
        Node::Sequence(children) => children.iter().map(loops_below).max().unwrap_or(0),
        Node::Loop(it) => 1 + loops_below(&it.body),
    }
}

/// Points of a row that a lane loads at once. With more of them, loads of a warp leave gaps between its lanes: three programs over two levels of time
/// in Float64 were slower with four points a lane than with two for any number of steps.
fn most_points(algorithm: &Algorithm, it: &Stream) -> u32 {
    let bytes = it.fields.iter().map(|field| i64::from(algorithm.array(field.array).element.bytes()));
    (VECTOR_BYTES / bytes.max().unwrap_or(1).min(VECTOR_BYTES)) as u32
}

/// Whether it is a stencil, rather than sums that stay where they are.
pub(crate) fn reads_neighbours(it: &Stream) -> bool {
    let mut reads = it.stages.iter().flat_map(|stage| &stage.reads);
    reads.any(|read| matches!(read, Source::Field { offset, .. } if *offset != [0; 3]))
}

/// Bytes of what most points write down in a step, and of what they read from memory for that.
fn recorded(algorithm: &Algorithm, it: &Stream) -> f64 {
    let most = it.records.iter().filter(|record| record.thin == [false; 3]);
    let bytes = most.map(|record| {
        let written = algorithm.computation(record.computation).write.array;
        f64::from(algorithm.array(written).element.bytes()) + from_memory(algorithm, record).iter().sum::<f64>()
    });
    bytes.sum()
}

/// What the model says of a stream; nothing where a thread's registers do not hold all of it.
fn weigh(gpu: &Gpu, algorithm: &Algorithm, size: StreamSize, it: &Stream, extent: Option<i64>) -> Option<Candidate> {
    let registers = it.registers(algorithm) + it.in_flight(algorithm);
    let of_thread = i64::from(gpu.registers) / (it.warps() * i64::from(LANES)) - LEAST_OTHERS;
    if registers > of_thread.min(gpu.registers_of_thread.into()) || takes_too_much(gpu, algorithm, it) {
        return None;
    }
    let held = f64::from(LANES * it.size.points);
    let columns = held / it.width() as f64;
    let lines = it.all_lines() as f64 / it.band() as f64;
    let (rows, slowdown) = rows(gpu, algorithm, it, extent);
    let repeats = columns * lines * rows;
    let bytes_of = |field: &stream::Field| f64::from(algorithm.array(field.array).element.bytes());
    let steps = f64::from(it.size.steps);
    let passed = it.fields.iter().enumerate().filter(|(_, field)| field.carried).map(|(at, field)| {
        let loaded = if it.loads_ahead(algorithm, at) { repeats } else { 0.0 };
        bytes_of(field) * (loaded + 1.0) / steps
    });
    let fixed: f64 = it.inner_stages().flat_map(|stage| from_memory(algorithm, stage)).sum::<f64>() * repeats;
    let bytes = passed.sum::<f64>() + fixed + recorded(algorithm, it);
    let points = f64::from(it.size.points) * it.all_lines() as f64 / it.warps() as f64;
    let (spilled, warps) = spills(gpu, algorithm, it);
    let over_planes = it.axes[1].is_some();
    let of_spilled = match over_planes {
        true => SPILLED_OF_PLANES,
        false if has_two_levels(it) => SPILLED_OF_TWO_LEVELS,
        false => SPILLED,
    };
    let spilled = of_spilled * spilled as f64 / (points * steps);
    let once = it.inner_stages().map(|stage| instructions(algorithm, it, stage)).sum::<f64>() + spilled;
    let instructions = once * repeats;
    let (moves, shows) = if over_planes { (MOVES_OF_PLANES, SHOWS_OF_PLANES) } else { (MOVES, SHOWS) };
    let (moving, computing) = times(gpu, moves, bytes, once * columns * lines * slowdown, warps);
    let alone = match it.warps() {
        2.. if warps <= FEW_WARPS as f64 => ALONE,
        2.. if it.blocks(algorithm, gpu) == 1 => IN_ONE_BLOCK,
        _ => 1.0,
    };
    let time = (moving.max(computing) + shows * moving.min(computing)) * alone;
    Some(Candidate { size: Some(size), bytes, instructions, time })
}

/// Whether registers would go to memory where that costs more than the model has it: in steps that take turns, over levels of time but of several
/// matrices with two, and beside pictures of each step.
fn takes_too_much(gpu: &Gpu, algorithm: &Algorithm, it: &Stream) -> bool {
    if it.turns() > 1 && it.is_too_deep(algorithm, gpu) {
        return true;
    }
    if has_two_levels(it) || !has_pictures(it) && !it.fields.iter().any(|field| field.turns) {
        return false;
    }
    let of_thread = i64::from(gpu.registers / LANES) / (it.blocks(algorithm, gpu) * it.warps()) / 8 * 8;
    let quarters = if it.levels_beyond_two() > 0 { OF_MORE_LEVELS } else { OF_ONE_ARRAY };
    let needed = it.registers(algorithm) * quarters / 4 + it.in_flight(algorithm) + OTHERS;
    of_thread > MOST_OF_LEVELS || needed > of_thread + SOME_SPILLED
}

/// Whether most points write down something in each step.
fn has_pictures(it: &Stream) -> bool {
    it.records.iter().any(|record| record.thin == [false; 3])
}

/// Whether all that goes from step to step are several matrices with two levels of time each, which take turns.
fn has_two_levels(it: &Stream) -> bool {
    let carried = || it.fields.iter().filter(|field| field.carried);
    let arrays: BTreeSet<_> = carried().map(|field| field.array).collect();
    let is_plane = it.axes[1].is_none() && it.axes[2].is_some();
    is_plane
        && arrays.len() > 1
        && it.levels_beyond_two() == 0
        && !has_pictures(it)
        && carried().all(|field| field.turns)
}

/// Picoseconds of memory, whose rate is this share of a copy's, and of arithmetic, with so many warps on a multiprocessor.
fn times(gpu: &Gpu, moves: f64, bytes: f64, instructions: f64, warps: f64) -> (f64, f64) {
    let waiting = (1.0 + WAITING_WARPS / warps) / (1.0 + WAITING_WARPS / WARPS_OF_RATE);
    (bytes / (moves * gpu.bytes_a_picosecond), instructions * waiting / gpu.instructions_a_picosecond)
}

/// How many registers of a thread go to memory, and how many warps are on a multiprocessor.
fn spills(gpu: &Gpu, algorithm: &Algorithm, it: &Stream) -> (i64, f64) {
    let blocks = it.blocks(algorithm, gpu);
    let of_thread = i64::from(gpu.registers / LANES) / (blocks * it.warps()) / 8 * 8;
    let carried = it.fields.iter().filter(|field| field.carried).count() as i64;
    let points = i64::from(it.size.points);
    let of_field = OTHERS_OF_FIELD.0 * points + OTHERS_OF_FIELD.1;
    // Points that are written alone count for little.
    let is_edge = |stage: &&Stage| stage.thin.iter().filter(|&&thin| thin).count() == 1;
    let edges = it.stages.iter().filter(is_edge).count() as i64 / it.turns().max(1);
    let mut needed = OTHERS_OF_EDGE * points * edges;
    needed += match has_two_levels(it) {
        true => registers_of_two_levels(algorithm, it),
        false => it.registers(algorithm) + it.in_flight(algorithm) + OTHERS + of_field * (carried - 2).max(0),
    };
    if it.axes[1].is_none() {
        let arrays = it.inner_stages().map(|stage| from_memory(algorithm, stage).len()).sum::<usize>() as i64;
        let of_turn = arrays / it.turns().max(1);
        let (arrays, (of_array, of_point)) = match (has_two_levels(it), carried > 2) {
            (true, _) => (of_turn, OTHERS_OF_MEMORY),
            (false, true) => ((of_turn - 1).max(0), OTHERS_OF_MEMORY_BESIDE_FIELDS),
            (false, false) => (arrays, OTHERS_OF_MEMORY),
        };
        needed += arrays * i64::from(it.size.steps) * (of_array + of_point * points);
    }
    if it.axes[1].is_some() {
        let words = it.fields.iter().map(|field| algorithm.array(field.array).element.bytes().div_ceil(4));
        let words = i64::from(words.max().unwrap_or(1));
        // Those of other warps are there, too, next to its own.
        needed += i64::from(it.size.points * (it.size.lines + 2)) * words + OTHERS * (words - 1);
        // Steps of several turns keep a value more for each point of each turn: `waves3d` takes 377 registers a thread under `2, 2, 0, 4`.
        needed += (it.turns() - 1).max(0) * i64::from(it.size.steps * it.size.points * it.size.lines) * words;
    }
    let warps = match it.warps() {
        1 => (f64::from(gpu.registers / LANES) / needed as f64).min(MOST_BLOCKS),
        several => (blocks * several) as f64,
    };
    ((needed - of_thread.min(MOST_REGISTERS)).max(0), warps)
}

/// How many registers a thread needs where several matrices have two levels of time.
fn registers_of_two_levels(algorithm: &Algorithm, it: &Stream) -> i64 {
    let arrays: BTreeMap<_, i64> = (it.fields.iter().filter(|field| field.carried))
        .map(|field| (field.array, i64::from(algorithm.array(field.array).element.bytes().div_ceil(4))))
        .collect();
    let (of_thread, of_word) = OTHERS_OF_TWO_LEVELS;
    let words = arrays.values().sum::<i64>() * i64::from(it.size.points);
    it.registers(algorithm) * OF_TWO_LEVELS / 2 + of_thread + of_word * words
}

/// How many rows are computed for each that is stored, in a domain with so many points along each axis, and what they take where 1 is a
/// row of full waves.
fn rows(gpu: &Gpu, algorithm: &Algorithm, it: &Stream, extent: Option<i64>) -> (f64, f64) {
    if it.axes[2].is_none() {
        return (1.0, 1.0);
    }
    let extent = extent.unwrap_or(if it.axes[1].is_some() { LARGE_SPACE } else { LARGE_PLANE });
    let across = |width: i64| (extent + width - 1) / width;
    let columns = across(it.width()) * if it.axes[1].is_some() { across(it.band()) } else { 1 };
    let parts = it.parts(algorithm, gpu);
    let rows = it.size.rows.map_or_else(|| parts.modelled_rows(columns, extent), i64::from);
    ((rows + it.around()) as f64 / rows as f64, parts.slowdown(columns, extent, rows))
}

/// What the model says of hexagons.
fn weigh_hexagon(gpu: &Gpu, algorithm: &Algorithm, size: StreamSize, it: &Stream, hexagon: &Hexagon) -> Candidate {
    let steps = hexagon.steps();
    let points = (steps * hexagon.period() / 2) as f64;
    // Columns beside those of a strip, lines beside those of a band, and rows around those of a step, are computed twice.
    let lines = hexagon.planes.as_ref().map_or(1.0, |planes| planes.held(hexagon) as f64 / planes.band(hexagon) as f64);
    let columns = (hexagon.tiles() * hexagon.tile(it)) as f64 / hexagon.strip(it) as f64 * lines;
    let mut bytes = it.stages.iter().flat_map(|stage| from_memory(algorithm, stage)).sum::<f64>() * columns;
    let mut instructions = if hexagon.planes.is_some() { OF_PLANES } else { OF_HEXAGONS } * columns;
    for (at, field) in it.fields.iter().enumerate().filter(|(_, field)| field.carried) {
        let element = f64::from(algorithm.array(field.array).element.bytes());
        let loaded: usize = (0..steps).map(|step| hexagon.entries(at, step).len()).sum();
        let stored: usize = (0..steps).map(|step| hexagon.exits(at, step).len()).sum();
        bytes += element * (loaded as f64 * columns + stored as f64) / points;
    }
    for (stage, around) in it.stages.iter().zip(&hexagon.around) {
        let rows = 1.0 + ((around.below + around.above) * steps) as f64 / points;
        instructions += arithmetic(algorithm, stage) * rows * columns;
    }
    let (moving, computing) = times(gpu, MOVES, bytes, instructions, WARPS_OF_HEXAGONS);
    // Each step begins with a barrier: few warps leave nothing to do meanwhile.
    let warps = hexagon.blocks(algorithm, it, gpu) * i64::from(hexagon.size.threads / LANES);
    let alone = if warps <= FEW_WARPS { ALONE_IN_HEXAGONS } else { 1.0 };
    let time = moving.max(computing) * alone;
    Candidate { size: Some(size), bytes, instructions, time }
}

/// What the model says of a kernel for each nest and step: it reads each array once for each point.
fn step_by_step(gpu: &Gpu, algorithm: &Algorithm, it: &Stream) -> Candidate {
    let (mut bytes, mut instructions) = (recorded(algorithm, it), 0.0);
    for stage in it.inner_stages() {
        let written = f64::from(algorithm.array(it.fields[stage.field].array).element.bytes());
        bytes += written + once(algorithm, stage, |_| true).iter().sum::<f64>();
        instructions += arithmetic(algorithm, stage) + stage.reads.len() as f64;
    }
    let (moving, computing) = times(gpu, MOVES, bytes, instructions, MOST_BLOCKS);
    Candidate { size: None, bytes, instructions, time: moving.max(computing) + SHOWS * moving.min(computing) }
}

/// Bytes of the elements that do not change.
pub(super) fn from_memory(algorithm: &Algorithm, stage: &Stage) -> Vec<f64> {
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

/// Arithmetic instructions of a stage for a point. What stands twice in an expression is computed once; those on wide numbers
/// count twice, and so do those on integers, for which a multiprocessor has half as many units. What is known away from the edges does
/// not count.
pub(super) fn arithmetic(algorithm: &Algorithm, stage: &Stage) -> f64 {
    let computation = algorithm.computation(stage.computation);
    let (mut seen, mut count) = (BTreeSet::new(), 0.0);
    let mut weigh = |expr: &Expr| {
        let known = match &expr.kind {
            ExprKind::Select { condition, .. } | ExprKind::IfElse { condition, .. } => is_known(stage, condition),
            _ => is_known(stage, expr),
        };
        let does = !known
            && !matches!(
                expr.kind,
                ExprKind::Constant(_)
                    | ExprKind::Index(_)
                    | ExprKind::Scalar(_)
                    | ExprKind::Let(_)
                    | ExprKind::Read(_)
                    | ExprKind::Convert(_)
                    | ExprKind::Wrap(_)
                    | ExprKind::Unary(UnaryOp::Neg, _)
            );
        if does && seen.insert(format!("{:?}", expr.kind)) {
            let wide = expr.ty.is_float() && expr.ty != ScalarType::F32;
            let refined = if is_refined(computation, expr) { WIDE_QUOTIENT } else { 1.0 };
            count += instruction(computation, expr) * if wide { 2.0 * refined } else { 1.0 };
        }
    };
    computation
        .lets
        .iter()
        .map(|it| &it.value)
        .chain([&computation.value])
        .for_each(|expr| walk(stage, expr, &mut weigh));
    count
}

/// Whether quotients by this need no division.
fn has_inverse(divisor: &Expr) -> bool {
    matches!(divisor.kind, ExprKind::Constant(divisor) if tessella_scalar::inverse(divisor).is_some())
}

/// Whether an operation is a division, or a square root, that begins with an approximation.
fn is_refined(computation: &Computation, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Div, _, divisor) => !computation.fastmath && !has_inverse(divisor),
        ExprKind::Call(Intrinsic::Sqrt, _) => !computation.fastmath,
        _ => false,
    }
}

/// Instructions of one operation on narrow numbers.
fn instruction(computation: &Computation, expr: &Expr) -> f64 {
    let is_product = |expr: &Expr| matches!(expr.kind, ExprKind::Binary(BinaryOp::Mul, ..)) && expr.ty.is_float();
    match &expr.kind {
        _ if !expr.ty.is_float() => 2.0,
        // `@fastmath` makes a product one instruction with the sum that it is a term of, which is counted here.
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b)
            if computation.fastmath && (is_product(a) || is_product(b)) =>
        {
            0.0
        }
        // Approximate ones.
        ExprKind::Binary(BinaryOp::Div, ..) if computation.fastmath => 1.0,
        ExprKind::Binary(BinaryOp::Div, _, divisor) if has_inverse(divisor) => 1.0 + BY_INVERSE,
        _ if is_refined(computation, expr) => 1.0 + EXACT_QUOTIENT,
        _ => 1.0,
    }
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
    arithmetic(algorithm, stage) + SHUFFLE * shuffles as f64 * words / f64::from(it.size.points) + STAGE
}
