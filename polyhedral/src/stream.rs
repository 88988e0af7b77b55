//! `stream`: several steps of a time loop in one pass over the data, rows flowing through registers.
//!
//! Rewrite of `stream(S, t, 8)` for `for t { for j, i { S } }`: blocks of eight time steps, one launch each. A warp owns a
//! strip of columns and walks along the rows of its part; each of its lanes holds a few neighbouring points of the last
//! rows of every time step in registers, gets its neighbours' points by shuffles, and carries each row through all time
//! steps before it is stored. Strips and parts overlap by what the steps reach, and compute that twice. A block reads
//! one copy of each array and writes another, so that no warp sees what its neighbours store.
//!
//! In space a row is a plane, of which a block owns a strip of columns and a band of neighbouring lines: each warp has some of
//! them, and a lane holds some points of all its lines, so that neighbours along the second axis are registers of its own. The
//! outermost lines of each warp pass through shared memory to the warps beside it, with a barrier for each plane, so that what
//! other warps hold is there one plane later. Along a line alone there is one row, and all steps run where it is.
//!
//! Over matrices most steps may be made by hexagons over time and rows instead: see [`hexagon`]. Where all blocks together hold the
//! domain, they may make all steps without giving it back in between: see [`resident`].
//!
//! [`find`] proves that this is what the source computes. Below the time loop every statement has a nest of its own over
//! a box that is the same for all time steps, and reads no element that it writes but its own: so a nest
//! maps versions of arrays to the next version of one array, whatever the order of its points. A stage of the stream
//! computes just this version, point by point with the same expression; points outside of the box keep what they were. Where
//! several nests write an array, such as one for its inner points and some for its edges, the first begins the version of the step and
//! the others revise it in place, in their order. What is left to show is that each value is there when it is read: that is
//! arithmetic on offsets, see [`pipeline`].
//!
//! Arrays that change places after each step have nests of their own for even and odd steps: then a step of the stream is a
//! [period](Stream::period) of the loop's, and the last launch may leave out the last nests of its last one.

pub mod hexagon;
mod parts;
mod pipeline;
pub mod resident;
pub mod settled;
mod sums;

use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, ComputationId, Subscript};
use crate::error::Error;
use crate::isl::{Ctx, DimType, Set};
use crate::machine::Gpu;
use crate::place::{Side, bound};
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, StreamSize, Tag};
use crate::transform::nests_apart;
use std::collections::{BTreeMap, BTreeSet};

pub use hexagon::Hexagon;
pub use parts::Parts;
pub use pipeline::Reach;
pub use resident::Resident;
pub use settled::{Away, Settled};
pub use sums::{Sums, Term};

/// Subscripts of an axis, beside the first, of what counts as an edge.
const THIN: i64 = 32;
/// Lanes of a warp.
pub const LANES: u32 = 32;
/// The longest period that is tried where a time loop advances by more than one.
const MOST_PERIOD: i64 = 16;
/// The most warps of a thread block.
pub const MOST_WARPS: u32 = 32;

/// A time loop whose nests can stream, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    pub size: StreamSize,
    /// First and last iteration of the time loop, as numbers that grow: the negative of its iterator where that goes down.
    pub time: (Affine, Affine),
    pub way: Way,
    /// How many iterations of the time loop make up a time step: more than one where nests run in every second one, or third.
    pub period: i64,
    /// The arrays that are written.
    pub fields: Vec<Field>,
    /// The nests of one time step, in order.
    pub stages: Vec<Stage>,
    /// How many rows one time step lags behind the one before.
    pub lag: i64,
    /// How many rows of each version are alive.
    pub depth: i64,
    /// The array axes that columns, lines and rows run along; lines and rows where the arrays have so many.
    pub axes: [Option<u32>; 3],
    /// Points beside those stored that a warp needs, towards lower and higher subscripts, and lines.
    pub beside: [Reach; 2],
    /// How many rows before the first one that is stored a warp begins.
    pub back: i64,
    /// The hexagons that make most of the steps, where the sizes ask for them.
    pub hexagon: Option<Hexagon>,
    /// How blocks hold the whole domain instead, where they can and the sizes ask for it.
    pub resident: Option<Resident>,
}

/// Which way the iterator of a time loop goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Up,
    Down,
}

impl Way {
    /// What the iterator is in an iteration with this number.
    pub fn iterator(self, number: i64) -> i64 {
        match self {
            Way::Up => number,
            Way::Down => -number,
        }
    }

    /// The number of an iteration, of its iterator along time.
    pub fn number(self, time: u32) -> Affine {
        let iterator = Affine::iterator(time);
        match self {
            Way::Up => iterator,
            Way::Down => iterator.scale(-1).expect("minus one is small"),
        }
    }

    /// The iterator that a loop along time counts, and which way.
    fn of(at: &Affine) -> Option<(u32, Way)> {
        let down = || Some((at.scale(-1).ok()?.as_iterator()?, Way::Down));
        at.as_iterator().map(|iterator| (iterator, Way::Up)).or_else(down)
    }
}

/// An array that the nests write.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub array: ArrayId,
    /// The first stage that writes it: it begins the version of a time step.
    pub writer: usize,
    /// The last one that writes it.
    pub finisher: usize,
    /// Whether a time step needs its values from the one before. The others are stored by the last step alone.
    pub carried: bool,
    /// Whether its values outside of the box that is written are read. They never change; warps at the rims hand them on
    /// from version to version.
    pub rim: bool,
    /// How many rows ahead of the first stage the values from before the launch are loaded.
    pub lead: i64,
}

/// One nest of a time step.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    pub computation: ComputationId,
    /// What it writes.
    pub field: usize,
    /// How many rows it lags behind the first stage of its time step.
    pub lag: i64,
    /// The iterator of the statement that runs along time.
    pub time: u32,
    /// The iteration of the time loop in which it runs, counted from the first one of a time step.
    pub turn: i64,
    /// The iterators that run along columns, lines and rows, where it has such loops.
    pub iterators: [Option<u32>; 3],
    /// Subscripts of what an instance writes, relative to its iterators.
    pub shift: [i64; 3],
    /// First and last subscripts that are written; 1 where the arrays have no such axis.
    pub limits: [(Affine, Affine); 3],
    /// Where each read of the statement comes from.
    pub reads: Vec<Source>,
    /// How it adds up, if rows give their part as they come.
    pub sums: Option<Sums>,
    /// Along which axes it writes few subscripts beside what others do, such as an edge: what most of the domain need not look at.
    pub thin: [bool; 3],
}

impl Stage {
    /// Where each read is fetched from: what is added up comes from the latest row.
    pub fn fetched(&self) -> impl Iterator<Item = Source> + '_ {
        self.reads.iter().map(|read| match (*read, &self.sums) {
            (Source::Field { field, fresh, offset, .. }, Some(sums)) if (field, fresh) == (sums.field, sums.fresh) => {
                Source::Field { field, fresh, offset, age: sums.age }
            }
            (other, _) => other,
        })
    }

    /// Whether it writes one subscript along an axis.
    pub fn is_single(&self, axis: usize) -> bool {
        self.limits[axis].0 == self.limits[axis].1
    }
}

/// Where a stage gets an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// An array that does not change.
    Memory,
    /// Nothing performs the read: its value was substituted.
    Unused,
    /// A version of a field: of this time step, or of the one before.
    Field {
        field: usize,
        fresh: bool,
        /// Subscripts relative to those of what the instance writes.
        offset: [i64; 3],
        /// How many rows ago the row was computed or loaded.
        age: i64,
    },
}

/// Lines of a field that pass from warp to warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shared {
    /// Lines beside its own that a warp needs.
    pub reach: Reach,
    /// How many rows after it was computed a plane's lines are handed on: just before they are read.
    pub given: i64,
    /// Planes of which they are kept.
    pub planes: i64,
    /// The first and the last version of the field of which they are needed.
    pub versions: (i64, i64),
}

/// Why a loop does not stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle(pub String);

/// The streams of a schedule, by the time loop.
///
/// # Errors
/// [`crate::error::ScheduleError::CannotStream`] for a tagged loop that does not stream.
pub fn streams(ctx: &Ctx, algorithm: &Algorithm, schedule: &Schedule) -> Result<Vec<(Path, Stream)>, Error> {
    let mut tagged = vec![];
    collect(&schedule.root, &mut vec![], &mut tagged);
    let mut all = vec![];
    for (path, it, size) in tagged {
        let stream = find(ctx, algorithm, it, size, path.0.len())?;
        let cannot = |obstacle: Obstacle| {
            let at = it.name.clone();
            crate::error::ScheduleError::CannotStream { at, size, obstacle }
        };
        all.push((path, stream.map_err(cannot)?));
    }
    Ok(all)
}

fn collect<'a>(node: &'a Node, path: &mut Vec<usize>, into: &mut Vec<(Path, &'a Loop, StreamSize)>) {
    match node {
        Node::Computation(_) => {}
        Node::Sequence(children) => {
            for (at, child) in children.iter().enumerate() {
                path.push(at);
                collect(child, path, into);
                path.pop();
            }
        }
        Node::Loop(it) => {
            if let Tag::Stream(size) = it.tag {
                into.push((Path(path.clone()), it, size));
            }
            path.push(0);
            collect(&it.body, path, into);
            path.pop();
        }
    }
}

/// Finds out how a time loop streams; `depth` is the number of nodes around it.
///
/// # Errors
/// Where isl fails; that the loop does not stream is an answer.
pub fn find(
    ctx: &Ctx,
    algorithm: &Algorithm,
    time: &Loop,
    size: StreamSize,
    depth: usize,
) -> Result<Result<Stream, Obstacle>, Error> {
    match Nests::of(ctx, algorithm, time, depth)? {
        Ok(nests) => Ok(nests.stream(algorithm, size)),
        Err(obstacle) => Ok(Err(obstacle)),
    }
}

/// Why a time loop does not stream, whatever the sizes, even if each of its statements has a nest of its own; `None` where it does, in some
/// sizes.
///
/// # Errors
/// Where isl fails.
pub fn obstacle(ctx: &Ctx, algorithm: &Algorithm, time: &Loop, depth: usize) -> Result<Option<Obstacle>, Error> {
    let apart = Loop { body: Box::new(Node::Sequence(nests_apart(&time.body))), ..time.clone() };
    let mut first = None;
    for time in [time, &apart] {
        let found = match Nests::of(ctx, algorithm, time, depth)? {
            Ok(nests) => nests.stream(algorithm, StreamSize { steps: 1, points: 16, ..StreamSize::USUAL }).map(|_| ()),
            Err(obstacle) => Err(obstacle),
        };
        match found {
            Ok(()) => return Ok(None),
            Err(obstacle) => first = first.or(Some(obstacle)),
        }
    }
    Ok(first)
}

/// Those of some sizes in which a time loop streams.
///
/// # Errors
/// Where isl fails.
pub fn find_all(
    ctx: &Ctx,
    algorithm: &Algorithm,
    time: &Loop,
    sizes: &[StreamSize],
    depth: usize,
) -> Result<Vec<(StreamSize, Stream)>, Error> {
    let Ok(nests) = Nests::of(ctx, algorithm, time, depth)? else { return Ok(vec![]) };
    let found = sizes.iter().filter_map(|&size| Some((size, nests.clone().stream(algorithm, size).ok()?)));
    Ok(found.collect())
}

/// The nests below a time loop, each with its box.
#[derive(Clone)]
struct Nests {
    time: (Affine, Affine),
    way: Way,
    period: i64,
    axes: [Option<u32>; 3],
    all: Vec<Nest>,
}

#[derive(Clone)]
struct Nest {
    computation: ComputationId,
    time: u32,
    turn: i64,
    iterators: [Option<u32>; 3],
    shift: [i64; 3],
    limits: [(Affine, Affine); 3],
    /// The reads that nothing performs.
    unused: BTreeSet<usize>,
}

/// Which axes of arrays with one, two or three of them are columns, lines and rows.
fn axes_of(rank: usize) -> Option<[Option<u32>; 3]> {
    match rank {
        1 => Some([Some(0), None, None]),
        2 => Some([Some(0), None, Some(1)]),
        3 => Some([Some(0), Some(1), Some(2)]),
        _ => None,
    }
}

fn no<T>(why: impl Into<String>) -> Result<Result<T, Obstacle>, Error> {
    Ok(Err(Obstacle(why.into())))
}

impl Nests {
    fn of(ctx: &Ctx, algorithm: &Algorithm, time: &Loop, depth: usize) -> Result<Result<Nests, Obstacle>, Error> {
        let children = match &*time.body {
            Node::Sequence(children) => children.as_slice(),
            other => std::slice::from_ref(other),
        };
        let mut axes = None;
        let mut sizes = None;
        let mut way = None;
        let mut orders: Vec<(ComputationId, u32)> = vec![];
        for child in children {
            let mut around = vec![time];
            let mut here = child;
            while let Node::Loop(it) = here {
                around.push(it);
                here = &it.body;
            }
            let Node::Computation(id) = here else {
                return no("several statements share a nest below it");
            };
            let computation = algorithm.computation(*id);
            let name = &computation.name;
            // What was substituted where it is read.
            if relation::domain(algorithm, *id)?.is_empty()? {
                continue;
            }
            let written = algorithm.array(computation.write.array);
            let is_number = match written.kind {
                ArrayKind::Private => true,
                ArrayKind::Local { outer } => outer > 0 && outer == written.rank,
                ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned => false,
            };
            if is_number {
                return no(format!(
                    "`{name}` computes a number that others use: `inline({name})` has them compute it themselves"
                ));
            }
            let rank = computation.write.subscripts.len();
            let loops = around.len() - 1;
            let Some(own) = axes_of(rank).filter(|_| computation.iterators.len() == loops + 1 && depth <= 1) else {
                return no(format!("`{name}` does not stand in just a time loop and at most three loops over points"));
            };
            if *axes.get_or_insert(own) != own {
                return no(format!("`{name}` writes an array with another number of axes than the nest before"));
            }
            if around[1..].iter().any(|it| it.tag != Tag::Sequential) {
                return no(format!("a loop around `{name}` has a tag of its own"));
            }
            let along = Way::of(&time.at[id]).filter(|(_, own)| *way.get_or_insert(*own) == *own);
            let is_other = |it: &&&Loop| it.at[id].as_iterator().is_none();
            if let Some(it) = around[1..].iter().find(is_other).or(along.is_none().then_some(&time)) {
                return no(format!("loop `{}` does not run as the source has it", it.name));
            }
            let (along, _) = along.expect("the others have been refused");
            if computation.predicate.is_some() {
                return no(format!("`{name}` writes on a condition on data"));
            }
            // Pieces for the same sizes: code asks for these around the time loop.
            let piece = algorithm.whole.as_ref().and_then(|whole| whole.sizes.get(id));
            let text = piece.map(|(_, text)| text);
            if *sizes.get_or_insert(text) != text {
                return no(format!("the nest of `{name}` runs for other sizes than the one before"));
            }
            orders.push((*id, along));
        }
        let Some((axes, way)) = axes.zip(way) else { return no("it holds no nest") };
        let Some(steps) = steps_of(ctx, algorithm, &orders, way)? else {
            return no("its first and last step are not known");
        };
        let mut all = vec![];
        let mut period = None;
        for &(computation, time) in &orders {
            let nest =
                match Nest::of(ctx, algorithm, computation, (time, &steps, way), &axes, (orders.len() as i64, period))?
                {
                    Ok((nest, own)) => {
                        period = Some(own);
                        nest
                    }
                    Err(obstacle) => return Ok(Err(obstacle)),
                };
            all.push(nest);
        }
        let period = period.expect("there is a nest");
        all.sort_by_key(|nest| nest.turn);
        Ok(Ok(Nests { time: steps, way, period, axes, all }))
    }

    /// The versions that the nests read, and when each is there.
    fn stream(self, algorithm: &Algorithm, size: StreamSize) -> Result<Stream, Obstacle> {
        let mut fields: Vec<Field> = vec![];
        for (at, nest) in self.all.iter().enumerate() {
            let array = algorithm.computation(nest.computation).write.array;
            let it = algorithm.array(array);
            if let Some(field) = fields.iter_mut().find(|field| field.array == array) {
                // What the nests leave out is what it was.
                (field.finisher, field.rim) = (at, true);
                continue;
            }
            if !matches!(it.kind, ArrayKind::Argument | ArrayKind::Returned | ArrayKind::Local { outer: 0 })
                || !it.firsts.is_empty()
                || !it.strided.is_empty()
            {
                return Err(Obstacle(format!("`{}` is no contiguous array that counts from 1", it.name)));
            }
            fields.push(Field { array, writer: at, finisher: at, carried: false, rim: false, lead: 0 });
        }
        for field in &mut fields {
            // The last launch may leave out what is written in later iterations of its last step.
            field.carried = self.all[field.finisher].turn > 0;
        }
        let mut stages: Vec<Stage> = vec![];
        for (at, nest) in self.all.iter().enumerate() {
            let computation = algorithm.computation(nest.computation);
            let own = fields.iter().position(|field| field.array == computation.write.array);
            let own = own.expect("each array that is written is a field");
            let mut reads = vec![];
            for read in &computation.reads {
                if nest.unused.contains(&reads.len()) {
                    reads.push(Source::Unused);
                    continue;
                }
                reads.push(match fields.iter().position(|field| field.array == read.array) {
                    None if read.is_affine() => Source::Memory,
                    None => return Err(Obstacle(format!("`{}` reads at computed subscripts", computation.name))),
                    Some(field) => {
                        let source = source(algorithm, (nest, at), &self.axes, read, (field, &fields[field]))?;
                        if let Source::Field { fresh, offset, .. } = source {
                            fields[field].carried |= !fresh;
                            fields[field].rim |= offset != [0; 3];
                        }
                        if let Source::Field { fresh: true, offset, .. } = source {
                            let stage: &Stage = &stages[fields[field].writer];
                            fields[field].rim |= !is_inside(&nest.limits, &stage.limits);
                            // Before the last nest has written, what none has may be that of the step before.
                            let place = moved(&nest.limits, offset).ok_or_else(|| far(&computation.name))?;
                            let mut writers = stages.iter().filter(|stage| stage.field == field);
                            let is_new = writers.any(|stage| is_inside(&place, &stage.limits));
                            fields[field].carried |= at <= fields[field].finisher && !is_new;
                        }
                        source
                    }
                });
            }
            let thin = [0, 1, 2].map(|axis| {
                let narrow = |nest: &Nest| span(&nest.limits[axis]).is_some_and(|span| span <= THIN);
                self.axes[axis].is_some() && narrow(nest) && !self.all.iter().all(narrow)
            });
            let Nest { computation, time, turn, iterators, shift, limits, .. } = nest.clone();
            let (field, lag, sums) = (own, 0, None);
            stages.push(Stage { computation, field, lag, time, turn, iterators, shift, limits, reads, sums, thin });
        }
        for field in &mut fields {
            // All of it goes to the copy that the next launch reads.
            field.rim |= field.carried;
        }
        if !fields.iter().any(|field| field.carried) {
            return Err(Obstacle("no time step needs what the one before computed".to_string()));
        }
        // Where there are no lines each warp is a block, so that none waits for another one to end.
        let (lines, warps) = if self.axes[1].is_some() { (size.lines, size.warps) } else { (1, 1) };
        let rows = if self.axes[2].is_some() { size.rows } else { Some(1) };
        // What hexagons over planes leave streams in small blocks, a step at a time.
        let small = size.hexagon.is_some() && self.axes[1].is_some();
        let (steps, warps) = if small { (1, warps.min(4)) } else { (size.steps, warps) };
        let mut stream = Stream {
            size: StreamSize { steps, lines, warps, rows, ..size },
            axes: self.axes,
            time: self.time,
            way: self.way,
            period: self.period,
            fields,
            stages,
            lag: 0,
            depth: 0,
            beside: [Reach::default(); 2],
            back: 0,
            hexagon: None,
            resident: None,
        };
        pipeline::fill(&mut stream)?;
        for at in 0..stream.stages.len() {
            stream.stages[at].sums = sums::of_stage(algorithm, &stream, at);
        }
        if size.only_in_tiles().is_none() {
            stream.check_size(algorithm)?;
        }
        if let Some(hexagon) = size.hexagon {
            stream.hexagon = Some(Hexagon::of(algorithm, &stream, hexagon)?);
        }
        if let Some(resident) = size.resident {
            stream.resident = Some(Resident::of(algorithm, &stream, resident)?);
        }
        Ok(stream)
    }
}

/// Whether a box is known to lie inside of another one.
fn is_inside(inner: &[(Affine, Affine); 3], outer: &[(Affine, Affine); 3]) -> bool {
    let at_least = |more: &Affine, less: &Affine| more.sub(less).ok().and_then(|it| it.as_constant()) >= Some(0);
    inner.iter().zip(outer).all(|(inner, outer)| at_least(&inner.0, &outer.0) && at_least(&outer.1, &inner.1))
}

/// The iterator that a subscript is, and what is added to it.
fn shifted(subscript: &Subscript) -> Option<(u32, i64)> {
    let affine = subscript.as_affine()?;
    let by = affine.constant_term();
    Some((affine.add_constant(-by).ok()?.as_iterator()?, by))
}

/// A box so far away.
fn moved(limits: &[(Affine, Affine); 3], by: [i64; 3]) -> Option<[(Affine, Affine); 3]> {
    let mut place = limits.clone();
    for ((low, high), by) in place.iter_mut().zip(by) {
        (*low, *high) = (low.add_constant(by).ok()?, high.add_constant(by).ok()?);
    }
    Some(place)
}

fn far(computation: &str) -> Obstacle {
    Obstacle(format!("`{computation}` reads too far away"))
}

/// Subscripts of an axis beside the first that a box with a number of them has.
fn span((low, high): &(Affine, Affine)) -> Option<i64> {
    high.sub(low).ok()?.as_constant()
}

/// Where a nest, at its place among all, gets a read of a field.
fn source(
    algorithm: &Algorithm,
    (nest, stage): (&Nest, usize),
    axes: &[Option<u32>; 3],
    read: &Access,
    (field, written): (usize, &Field),
) -> Result<Source, Obstacle> {
    let name = &algorithm.array(read.array).name;
    let computation = algorithm.computation(nest.computation);
    let mut offset = [0; 3];
    for (at, axis) in axes.iter().enumerate() {
        let Some(axis) = axis.map(|axis| axis as usize) else { continue };
        let place = read.subscripts.get(axis);
        let by = match nest.iterators[at] {
            Some(iterator) => place.and_then(shifted).filter(|it| it.0 == iterator).map(|it| it.1 - nest.shift[at]),
            None => {
                place.and_then(Subscript::as_affine).and_then(|place| place.sub(&nest.limits[at].0).ok()?.as_constant())
            }
        };
        let Some(by) = by else {
            return Err(Obstacle(format!(
                "`{}` reads `{name}` at another place than a fixed distance away",
                computation.name
            )));
        };
        offset[at] = by;
    }
    let fresh = written.writer < stage;
    let is_own = computation.write.array == read.array;
    let outside = (0..3).any(|axis| span(&nest.limits[axis]).is_some_and(|span| offset[axis].abs() > span));
    if is_own && offset != [0; 3] && !outside {
        return Err(Obstacle(format!("`{}` reads neighbours in `{name}` that it has just written", computation.name)));
    }
    // Lines pass from warp to warp once, when all has been written.
    if fresh && stage <= written.finisher && offset[1] != 0 {
        return Err(Obstacle(format!(
            "`{}` reads another line of `{name}` before all nests of a step have written it",
            computation.name
        )));
    }
    Ok(Source::Field { field, fresh, offset, age: 0 })
}

/// The first and the last iteration of the time loop in which any of its nests runs, given with its iterator along time.
fn steps_of(
    ctx: &Ctx,
    algorithm: &Algorithm,
    nests: &[(ComputationId, u32)],
    way: Way,
) -> Result<Option<(Affine, Affine)>, Error> {
    let mut all: Option<Set> = None;
    for &(id, time) in nests {
        let domain = relation::domain(algorithm, id)?;
        let loops = algorithm.computation(id).iterators.len() as u32;
        let along = domain.project_out(DimType::Set, time + 1, loops - time - 1)?.project_out(DimType::Set, 0, time)?;
        // Without what says that it runs in every second one, or third.
        let along = along.simple_hull()?.remove_divs()?.to_set()?;
        all = Some(match all {
            Some(others) => others.union(&along)?,
            None => along,
        });
    }
    let Some(all) = all else { return Ok(None) };
    let all = all.coalesce()?;
    let low = bound(ctx, algorithm, &all, 0, Side::Low)?;
    let high = bound(ctx, algorithm, &all, 0, Side::High)?;
    Ok(match (low.zip(high), way) {
        (ends, Way::Up) => ends,
        (None, Way::Down) => None,
        (Some((low, high)), Way::Down) => Some((high.scale(-1)?, low.scale(-1)?)),
    })
}

impl Nest {
    /// The nest of a computation whose iterator along time is given, with the steps of all nests; and the period that it keeps, which is that of
    /// the nests before if there are any, else at most as long as there are nests in as many iterations as the loop advances by.
    fn of(
        ctx: &Ctx,
        algorithm: &Algorithm,
        id: ComputationId,
        (time, steps, way): (u32, &(Affine, Affine), Way),
        axes: &[Option<u32>; 3],
        (nests, period): (i64, Option<i64>),
    ) -> Result<Result<(Nest, i64), Obstacle>, Error> {
        let computation = algorithm.computation(id);
        let name = &computation.name;
        let domain = relation::domain(algorithm, id)?;
        let (mut iterators, mut shift) = ([None; 3], [0; 3]);
        let single = || (Affine::constant(1), Affine::constant(1));
        let mut limits = [single(), single(), single()];
        let mut ranges = BTreeMap::new();
        for (at, axis) in axes.iter().enumerate() {
            let Some(axis) = axis else { continue };
            let subscript = &computation.write.subscripts[*axis as usize];
            let place = subscript.as_affine().filter(|place| !place.involves_any_iterator());
            limits[at] = match (shifted(subscript), place) {
                (Some((iterator, by)), _) if iterator != time && !ranges.contains_key(&iterator) => {
                    let low = bound(ctx, algorithm, &domain, iterator, Side::Low)?;
                    let high = bound(ctx, algorithm, &domain, iterator, Side::High)?;
                    let Some((low, high)) = low.zip(high) else {
                        return no(format!("`{name}` does not run over a box of points"));
                    };
                    (iterators[at], shift[at]) = (Some(iterator), by);
                    ranges.insert(iterator, (low.clone(), high.clone()));
                    (low.add_constant(by)?, high.add_constant(by)?)
                }
                (_, Some(place)) => (place.clone(), place.clone()),
                _ => return no(format!("what `{name}` writes is not one point of an array for each iteration")),
            };
        }
        if ranges.len() + 1 != computation.iterators.len() {
            return no(format!("what `{name}` writes is not one point of an array for each iteration"));
        }
        let space = relation::domain_space(ctx, algorithm, id)?;
        let names = algorithm.param_names();
        let mut whole = Set::universe(&space)?.intersect_params(&algorithm.context)?;
        if let Some((sizes, _)) = algorithm.whole.as_ref().and_then(|whole| whole.sizes.get(&id)) {
            whole = whole.intersect_params(sizes)?;
        }
        let number = way.number(time);
        let ranges = ranges.into_iter().map(|(iterator, ends)| (Affine::iterator(iterator), ends));
        for (place, (low, high)) in ranges.chain([(number.clone(), steps.clone())]) {
            let iterator = place.to_isl(&space, &names)?;
            whole = whole.intersect(&iterator.ge_set(&low.to_isl(&space, &names)?)?)?;
            whole = whole.intersect(&iterator.le_set(&high.to_isl(&space, &names)?)?)?;
        }
        let mut unused = BTreeSet::new();
        for (at, read) in computation.reads.iter().enumerate() {
            if let Some(within) = &read.within
                && within.is_empty()?
            {
                unused.insert(at);
            }
        }
        let since = number.sub(&steps.0)?;
        let advances = domain.stride(time as i32)?.to_i64().unwrap_or(1).clamp(1, MOST_PERIOD);
        let longest = (nests * advances).min(MOST_PERIOD.max(nests));
        let periods = period.map_or(1..=longest, |period| period..=period);
        for (period, turn) in periods.flat_map(|period| (0..period).map(move |turn| (period, turn))) {
            let in_turn = since.add_constant(-turn)?.modulo(period)?.to_isl(&space, &names)?;
            let some = whole.intersect(&in_turn.eq_set(&Affine::constant(0).to_isl(&space, &names)?)?)?;
            if some.is_equal(&domain)? {
                let computation = id;
                return Ok(Ok((Nest { computation, time, turn, iterators, shift, limits, unused }, period)));
            }
        }
        no(format!("`{name}` does not run over the same box of points in all time steps, or in every second, or third"))
    }
}

impl Stream {
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
        let needed = self.registers(algorithm) + self.in_flight(algorithm) + i64::from(gpu.other_registers);
        let blocks = (of_each_thread / needed).clamp(1, (i64::from(gpu.most_warps) / self.warps()).max(1));
        // A multiprocessor has four parts with registers of their own.
        if self.warps() == 1 && blocks > 4 { blocks / 4 * 4 } else { blocks }
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
        let ahead = self.fields.iter().filter(|field| field.rim).map(|field| words(field) * row);
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
        let within = self.stages.iter().map(|stage| stage.lag).max().unwrap_or(0);
        (i64::from(self.size.steps) - 1) * self.lag + within
    }

    /// What decides how many parts a launch has, if that is left to it.
    pub fn parts(&self, algorithm: &Algorithm, gpu: &Gpu) -> Parts {
        let (blocks, multiprocessors) = (self.blocks(algorithm, gpu), i64::from(gpu.multiprocessors));
        Parts { around: self.around(), blocks, multiprocessors }
    }

    /// How many rows a warp walks along besides those that it stores: before the first of them, and after the last.
    pub fn around(&self) -> i64 {
        self.back + self.last_lag()
    }

    /// Registers of four bytes that the rows of all versions take.
    pub fn registers(&self, algorithm: &Algorithm) -> i64 {
        let rows = |wanted: usize| {
            let ages = self.stages.iter().flat_map(Stage::fetched).filter_map(move |read| match read {
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

    fn check_size(&self, algorithm: &Algorithm) -> Result<(), Obstacle> {
        let points = i64::from(self.size.points);
        if !self.size.points.is_power_of_two() || self.size.points > 16 || self.size.steps > 64 {
            return Err(Obstacle(
                "a lane holds 1, 2, 4, 8 or 16 points, and a launch makes at most 64 steps".to_string(),
            ));
        }
        let offsets = self.stages.iter().flat_map(|stage| &stage.reads).filter_map(|read| match read {
            Source::Field { offset, .. } => Some(offset[0].abs()),
            Source::Memory | Source::Unused => None,
        });
        let farthest = offsets.max().unwrap_or(0);
        if farthest > points {
            return Err(Obstacle(format!(
                "a point needs its neighbour {farthest} points away, a lane holds {points}: give it more points"
            )));
        }
        if self.size.warps == 0 || self.size.warps > MOST_WARPS {
            return Err(Obstacle(format!("a block has at most {MOST_WARPS} warps")));
        }
        if self.width() < points * 4 {
            let Reach { below, above } = self.beside[0];
            return Err(Obstacle(format!(
                "{} steps reach {below} and {above} points to the sides, of the {} that a warp holds: take fewer steps, or more points a lane",
                self.size.steps,
                points * i64::from(LANES),
            )));
        }
        if self.band() < 1 {
            let Reach { below, above } = self.beside[1];
            return Err(Obstacle(format!(
                "{} steps reach {below} and {above} lines to the sides, of the {} that the warps of a block hold: take fewer steps, or more lines a lane",
                self.size.steps,
                self.all_lines(),
            )));
        }
        let shared = || (0..self.fields.len()).filter_map(|field| self.shared_lines(field));
        let far = shared().map(|it| it.reach.below.max(it.reach.above)).max().unwrap_or(0);
        if far > i64::from(self.size.lines) {
            return Err(Obstacle(format!(
                "a point needs its neighbour {far} lines away, a lane holds {}: give it more lines",
                self.size.lines
            )));
        }
        let bytes = self.shared_bytes(algorithm);
        let most = i64::from(Gpu::HOPPER.shared_bytes_of_block);
        if bytes > most {
            return Err(Obstacle(format!(
                "the lines that warps share take {bytes} bytes of a block, and {most} is the most: take fewer steps or points"
            )));
        }
        let registers = self.registers(algorithm);
        let most = Gpu::HOPPER.registers_of_thread;
        if registers > i64::from(most) {
            let what = if self.axes[1].is_some() { "steps, points or lines" } else { "steps or points" };
            return Err(Obstacle(format!(
                "the rows take {registers} registers a thread, and {most} is the most: take fewer {what}"
            )));
        }
        Ok(())
    }
}
