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
//! Along axes of periodic stencils rows and columns go round: see [`rounds`].
//!
//! Nests that write down what a step computes, for nothing in the loop to read, write from registers: see [`records`].
//!
//! Arrays that change places after each step have nests of their own for even and odd steps: then a step of the stream is a
//! [period](Stream::period) of the loop's, and the last launch may leave out the last nests of its last one.

pub mod hexagon;
mod levels;
mod obstacles;
mod parts;
mod pipeline;
mod recognise;
mod records;
pub mod resident;
mod rims;
pub mod rounds;
pub mod settled;
mod sums;
mod takes;
mod way;

use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId, ComputationId};
use crate::error::Error;
use crate::isl::Ctx;
use crate::schedule::{Loop, Node, Path, Schedule, StreamSize, Tag};

pub use hexagon::Hexagon;
pub use obstacles::{Obstacle, obstacle};
pub use parts::Parts;
pub use pipeline::Reach;
pub use recognise::{find, find_all, find_first};
pub use resident::Resident;
pub use settled::{Away, Settled};
pub use sums::{Sums, Term};
pub use way::Way;

/// Subscripts of an axis, beside the first, of what counts as an edge.
const THIN: i64 = 32;
/// Lanes of a warp.
pub const LANES: u32 = 32;
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
    /// Those that write down what a step computes, for nothing in the loop to read: see [`records`].
    pub records: Vec<Stage>,
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
    /// How many subscripts there are along axes that go round, columns, lines and rows: see [`rounds`].
    pub rounds: [Option<Affine>; 3],
    /// None of these is negative where there is anything to do.
    pub needs: Vec<Affine>,
    /// The hexagons that make most of the steps, where the sizes ask for them.
    pub hexagon: Option<Hexagon>,
    /// The same in fewer steps, for what launches of these leave to the end.
    pub fewer: Option<Box<Stream>>,
    /// How blocks hold the whole domain instead, where they can and the sizes ask for it.
    pub resident: Option<Resident>,
}

/// An array that the nests write.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub array: ArrayId,
    /// The subscript along the last axis, of an array that has levels of time or components there: see [`levels`].
    pub level: Option<i64>,
    /// Whether the levels of its array take turns.
    pub turns: bool,
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

/// One nest of a time step. What records belongs to a field, too, and writes to memory where that has a point: in what follows, its points
/// stand for what it writes.
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

/// The streams of a schedule, by the time loop.
///
/// # Errors
/// [`crate::error::ScheduleError::CannotStream`] for a tagged loop that does not stream.
pub fn streams(ctx: &Ctx, algorithm: &Algorithm, schedule: &Schedule) -> Result<Vec<(Path, Stream)>, Error> {
    let mut tagged = vec![];
    collect(&schedule.root, &mut vec![], &mut tagged);
    let mut all = vec![];
    for (path, it, size) in tagged {
        let around = schedule.around(&path);
        let stream = match around.iter().find(|(_, it)| it.tag != Tag::Sequential) {
            Some((_, outer)) => Err(Obstacle(format!(
                "it stands inside of `{}`, which is no loop of the host: iterations of that would make their steps beside one another",
                outer.name
            ))),
            None => find(ctx, algorithm, it, size)?,
        };
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
