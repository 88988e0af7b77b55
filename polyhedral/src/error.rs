//! What the core can refuse, as values.

use crate::affine::AffineOverflow;
use crate::algorithm::{AccessRef, ArrayId, ComputationId};
use crate::connect::ConnectError;
use crate::isl::IslError;
use crate::legality::Violation;
use crate::recompute::Mismatch;
use crate::schedule::Tag;
use crate::storage::StorageError;

/// Any failure of the core.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Isl(#[from] IslError),
    #[error(transparent)]
    Affine(#[from] AffineOverflow),
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

impl Error {
    /// Whether isl gave up because of the bound on its work.
    pub fn is_quota(&self) -> bool {
        match self {
            Error::Isl(error) => error.is_quota(),
            Error::Affine(_) | Error::Schedule(_) | Error::Layout(_) | Error::Storage(_) | Error::Connect(_) => false,
        }
    }
}

/// A command that cannot be carried out. Names are as the user wrote them.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ScheduleError {
    /// The new order breaks a dependence.
    #[error("the order violates a dependence")]
    Illegal(Box<Violation>),
    #[error("there is no computation `{name}`")]
    UnknownComputation { name: String, known: Vec<String> },
    #[error("there is no loop `{name}` around `{computation}`")]
    UnknownLoop { computation: String, name: String, known: Vec<String> },
    /// `inner` does not lie inside `outer`.
    #[error("`{inner}` is not inside `{outer}` around `{computation}`")]
    NotNested { computation: String, outer: String, inner: String },
    /// Other statements or loops stand between two loops that must be perfectly nested.
    #[error("`{outer}` and `{inner}` are not perfectly nested around `{computation}`")]
    NotPerfectlyNested { computation: String, outer: String, inner: String, between: Vec<ComputationId> },
    #[error("the loops `{at}` of `{first}` and `{second}` do not follow one another in one sequence")]
    NotAdjacent { first: String, second: String, at: String },
    /// The two computations are in one loop of this name.
    #[error("`{first}` and `{second}` are in one loop `{at}` already")]
    AlreadyShared { first: String, second: String, at: String },
    /// `computation` has fewer loops than it would have to share.
    #[error("`{computation}` has {has} loop{} and would have to share {needs}", if *.has == 1 { "" } else { "s" })]
    TooFewLoops { computation: String, has: usize, needs: usize },
    #[error("`{at}` holds a single statement or loop")]
    NothingToDistribute { computation: String, at: String },
    #[error("{loops} loops are named, and the number of sizes is {sizes}")]
    SizeCount { loops: usize, sizes: usize },
    /// The edges of a tile are no square matrix for the loops.
    #[error("the edges of a tile are no {loops} by {loops} matrix")]
    EdgeCount { loops: usize },
    #[error("the edges of a tile are not independent")]
    FlatTile,
    #[error("{count} loops are given for the axes of the GPU")]
    GpuAxisCount { count: usize },
    /// Blocks of a GPU loop that is used twice, or threads outside of blocks.
    #[error("`{at}` cannot be mapped: {reason}")]
    GpuMapping { computation: String, at: String, reason: &'static str },
    #[error("the command names the computation `{computation}` twice")]
    SameComputation { computation: String },
    #[error("the command names the loop `{at}` twice")]
    SameLoop { at: String },
    /// The loop already has a tag that a rewrite would lose.
    #[error("`{at}` is already {tag}")]
    AlreadyTagged { computation: String, at: String, tag: &'static str },
    /// Two loops that would become one run in different ways.
    #[error("the loop is {} around `{}` and {} around `{}`", .tags[0].adjective(), .computations[0], .tags[1].adjective(), .computations[1])]
    TagsDiffer { computations: [String; 2], tags: [Tag; 2] },
    /// A loop without loops inside.
    #[error("`{at}` holds no loop that its iterations could be jammed into")]
    NothingToJam { computation: String, at: String, factor: u32 },
    /// More copies of a statement than compilers take in seconds, of one loop or of all loops around it.
    #[error("the code would repeat `{computation}` {copies} times")]
    TooManyCopies { computation: String, copies: u64, most: u64 },
    /// No factor makes the loops permutable; the dependence is one that the largest factor leaves broken.
    #[error("no factor from 0 to {largest} makes `{outer}` and `{inner}` permutable")]
    NoFactor { computation: String, outer: String, inner: String, largest: i64, violation: Box<Violation> },
    /// No shift makes the fusion legal; the dependence is one that the largest shift leaves broken.
    #[error("no shift from 0 to {largest} makes one legal loop of the loops `{at}` of `{first}` and `{second}`")]
    NoShift { first: String, second: String, at: String, largest: i64, violation: Box<Violation> },
    /// The two computations do not follow one another in the loop, or share more than it.
    #[error("there is no place between `{first}` and `{second}` in `{at}`")]
    NotBetween { computation: String, first: String, second: String, at: String },
    #[error("`{at}` does not run through a range that is the same for all sizes")]
    VaryingExtent { computation: String, at: String },
    #[error("all instances of `{computation}` lie on one side of where `{first}` meets `{second}`")]
    OnePiece { computation: String, first: String, second: String },
    #[error("`{condition}` holds for all sizes for which `{computation}` has instances, or for none of them")]
    OneSize { computation: String, condition: String },
    #[error("`{at}` is not a loop over tiles")]
    NotTiles { computation: String, at: String },
    /// A name in a condition that is no size.
    #[error("`{name}` is no size or integer argument of the function")]
    UnknownSize { name: String, known: Vec<String> },
    #[error("`{text}` is not an affine expression of sizes")]
    NotAffine { text: String },
    /// No parameters meet the condition, besides what is known already.
    #[error("`{text}` never holds")]
    NeverHolds { text: String },
    /// The value of a computation cannot stand where it is read.
    #[error("`{computation}` cannot be inlined")]
    CannotInline { computation: String, obstacle: InlineObstacle },
    /// The updates of a computation cannot go to partial results.
    #[error("`{computation}` has no partial results along `{at}`")]
    CannotFactor { computation: String, at: String, obstacle: FactorObstacle },
    /// The updates of a computation cannot be made in one piece.
    #[error("the updates of `{computation}` cannot be atomic")]
    CannotBeAtomic { computation: String, obstacle: AtomicObstacle },
    #[error("the elements that `{computation}` stores into cannot have owners")]
    NoOwners { computation: String, obstacle: OwnerObstacle },
    #[error("the lanes of a warp have nothing to compute for one another in `{at}`")]
    NoRows { computation: String, at: String, obstacle: RowsObstacle },
    /// The values of a computation cannot be computed in a loop that reads them.
    #[error("`{computation}` cannot be computed in `{at}`")]
    CannotComputeAt { computation: String, at: String, obstacle: AtObstacle },
    /// The iterations of a loop cannot have an array each.
    #[error("the iterations of `{at}` cannot have an array `{array}` each")]
    CannotPrivatize { array: String, at: String, obstacle: PrivateObstacle },
    /// The time steps of a loop cannot run several at once in overlapping tiles.
    #[error("the steps of `{at}` cannot run in overlapping tiles")]
    CannotOverlap { computation: String, at: String, obstacle: OverlapObstacle },
    /// The repeated instances would compute other values.
    #[error("a value would be another one")]
    OtherValues(Box<Mismatch>),
    /// The loops inside a time loop are no stencil that could be tiled together with it.
    #[error("the loops inside `{at}` around `{computation}` cannot be tiled together with it")]
    NotStencil { computation: String, at: String, obstacle: StencilObstacle },
    /// Tiles of so many steps would not all start with the same statement.
    #[error("tiles of height {height} do not start with the same statement")]
    TileHeight { computation: String, at: String, height: i64, nests: i64 },
    /// Hexagons that are too narrow for their height and the slopes of the dependences, up and down.
    #[error("tiles of width {width} along `{at}` are too narrow")]
    TileWidth { computation: String, at: String, width: i64, least: i64, height: i64, slopes: [String; 2] },
    #[error("the loops leave out {}", .missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))]
    OrderMisses { missing: Vec<String> },
    #[error("the loops run `{computation}` twice")]
    OrderRepeats { computation: String },
    #[error("loop `{at}` stands inside another loop `{at}`")]
    OrderLoopTwice { at: String },
    /// A loop with functions for other computations than those inside it.
    #[error("loop `{at}` does not say what it runs through for just the computations inside it: see `{computation}`")]
    OrderStranger { computation: String, at: String },
    #[error("`{name}` is neither an iterator of `{computation}` nor a size")]
    OrderName { computation: String, name: String, known: Vec<String> },
    /// No loop tells the two instances apart.
    #[error("the loops run several instances of `{computation}` at one time")]
    OrderTogether { computation: String, first: Vec<i64>, second: Vec<i64>, params: Vec<(String, i64)> },
    /// The nests below a time loop are not of the form that streams.
    #[error("`{at}` {}", size.refusal())]
    CannotStream { at: String, size: crate::schedule::StreamSize, obstacle: crate::stream::Obstacle },
    #[error("the command only applies to a GPU program")]
    NeedsGpu,
    #[error("the command only applies to a CPU program")]
    NeedsCpu { on_gpu: OnGpu },
}

/// What a program for a GPU has in place of a command for a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnGpu {
    /// Blocks and threads.
    Grid,
    /// Blocks whose tiles are whole run without tests of their own accord.
    WholeTiles,
    /// Buffers in shared memory and registers.
    Buffers,
}

/// Why the value of a computation cannot stand where it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InlineObstacle {
    /// Callers see what it writes.
    Output,
    /// It writes on a condition.
    Conditional,
    /// It reads the array that it writes.
    ReadsItself,
    /// Its subscripts do not tell which instance wrote an element.
    Subscripts,
    NoReader,
    /// Another computation writes the array, too.
    OtherWriter {
        other: ComputationId,
    },
    /// The reader may see elements that it did not write before.
    NotWritten {
        reader: ComputationId,
    },
    /// What it read is overwritten before the reader runs.
    Overwritten {
        array: ArrayId,
        by: ComputationId,
        reader: ComputationId,
    },
    /// The reader is under `@fastmath`, and it is not.
    Fastmath {
        reader: ComputationId,
    },
}

/// Why loops are no stencil.
#[derive(Debug, Clone, PartialEq)]
pub enum StencilObstacle {
    /// Neither a loop nor an array says where a statement stands along a dimension of space.
    NoPosition { computation: ComputationId, dim: String },
    /// A loop over space carries a dependence.
    Carried(Box<Violation>),
    /// Distances along a dimension of space are not bounded by the distance in time.
    Unbounded { dim: String, violation: Box<Violation> },
}

/// Why the updates of a computation cannot go to partial results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactorObstacle {
    /// It does not only update what it writes.
    NoReduction,
    /// The order of the updates is part of the result.
    Order,
    /// Its iterators alone do not tell which element it updates.
    Subscripts,
    /// One execution of the loop updates several elements, or the loops around it do not say which one.
    ManyElements,
    /// The computation uses the element while the loop runs.
    Used { by: ComputationId },
}

/// Why the elements that a computation stores into cannot have owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerObstacle {
    /// No data say which elements these are, or they have owners already.
    Subscripts,
    /// It reads other elements of what is stored into.
    Reads,
    /// What says which element it is, is looked up at a place that is computed in steps.
    Steps,
    /// The number of owners is no power of two.
    Count,
}

/// Why lanes have nothing to compute for one another in a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsObstacle {
    /// It holds other loops.
    Loops,
    /// All that is read in it may change while the kernel runs, or only under conditions that do.
    Values,
    /// The values of an iteration take more bytes than [`crate::rows::MOST_BYTES`].
    Bytes,
}

/// Why the updates of a computation cannot be atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtomicObstacle {
    /// It does not have the form `a = a op e` with one of the operations that a GPU makes in one piece.
    NoReduction,
    /// A GPU has no such operation on elements of the type.
    Type,
    /// The source has not let the order of updates go: sums of floats would go by who comes first.
    Order,
}

/// Why the values of a computation cannot be computed in a loop that reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtObstacle {
    /// It writes on a condition.
    Conditional,
    /// It reads the array that it writes.
    ReadsItself,
    /// Subscripts of the array are computed, or it is the function's result.
    Subscripts,
    /// Another computation writes the array, too.
    OtherWriter {
        other: ComputationId,
    },
    /// It already stands inside the loop.
    Inside,
    NotRead {
        reader: ComputationId,
    },
    /// The reader may see elements that it did not write before.
    NotWritten {
        reader: ComputationId,
    },
    /// Several instances that are needed write one element.
    ManyInstances,
    /// Block loops stand inside the loop.
    OutsideOfBlocks,
    /// On the GPU, outside of any kernel, or in one without thread loops.
    NoKernel {
        reader: ComputationId,
    },
}

/// Why the iterations of a loop cannot have an array each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrivateObstacle {
    /// It is a scalar variable.
    Variable,
    /// Iterations have an array each in the source.
    Already,
    /// The computation that tells the loop does not use the array.
    NotUsed { by: ComputationId },
    /// Subscripts of the array are computed.
    Subscripts { of: ComputationId },
    /// The array is written on a condition.
    Conditional { of: ComputationId },
    /// Others update the array at places of data, and this statement uses it otherwise, or in an order that the source does not leave free.
    Updates { of: ComputationId },
    /// Sizes do not say how many elements an array of sums has along this axis at most.
    Size { axis: u32 },
    /// Subscripts of an array of sums do not count from 1.
    First,
    /// A loop, this one or one around it, ends where data say.
    EndedByData { at: String },
    /// A loop, this one or one around it, does not run in order any more.
    Tagged { at: String },
}

/// Why time steps cannot run in overlapping tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverlapObstacle {
    /// The time loop stands inside of another loop.
    NotOutermost,
    /// The time loop is not as in the source.
    AnotherOrder,
    /// The first or the last step is no affine expression of sizes.
    Steps,
    /// The loop leaves out values between its first and its last.
    Gaps,
    /// Where the computation runs differs from step to step.
    Moving { computation: ComputationId },
    /// Subscripts of the computation are computed.
    Subscripts { computation: ComputationId },
    /// The loops over space do not say where in the array its writers write.
    NoAxis { array: ArrayId },
    /// A value that the computation reads may come from any distance.
    Unbounded { reader: ComputationId, array: ArrayId },
    /// Within one step each value needs the one before.
    WithinStep,
    /// A block would have more steps than this.
    ManySteps { most: u32 },
    /// Threads of a GPU do not keep the order in which a step updates an array in place.
    InPlace { array: ArrayId },
}

/// Storage that cannot be found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LayoutError {
    /// A private variable needs one element for each iteration of loops whose ranges are not boxes of parameters.
    #[error("no rectangular storage holds the values of a variable")]
    NoBox { array: ArrayId, axis: u32 },
    /// An access without any parameters for which it stays inside its array.
    #[error("a subscript is always outside its array")]
    NeverInside { access: AccessRef, axis: u32 },
    /// A computed subscript of a GPU program comes from a function whose last place differs between processors.
    #[error("the CPU may find another subscript than the GPU")]
    InexactScan { access: AccessRef, axis: u32 },
}
