//! What the core can refuse, as values.

use crate::affine::AffineOverflow;
use crate::algorithm::{AccessRef, ArrayId, ComputationId};
use crate::isl::IslError;
use crate::legality::Violation;

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
    /// `computation` has fewer loops than it would have to share.
    #[error("`{computation}` has {has} loop{} and would have to share {needs}", if *.has == 1 { "" } else { "s" })]
    TooFewLoops { computation: String, has: usize, needs: usize },
    #[error("`{at}` holds a single statement or loop")]
    NothingToDistribute { computation: String, at: String },
    #[error("{loops} loops are named, and the number of sizes is {sizes}")]
    SizeCount { loops: usize, sizes: usize },
    #[error("{count} loops are given for the axes of the GPU")]
    GpuAxisCount { count: usize },
    /// Blocks of a GPU loop that is used twice, or threads outside of blocks.
    #[error("`{at}` cannot be mapped: {reason}")]
    GpuMapping { computation: String, at: String, reason: &'static str },
    #[error("the command names the computation `{first}` twice")]
    SameComputation { first: String, second: String },
    /// The loop already has a tag that a rewrite would lose.
    #[error("`{at}` is already {tag}")]
    AlreadyTagged { computation: String, at: String, tag: &'static str },
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
    #[error("the command only applies to a GPU program")]
    NeedsGpu,
    #[error("the command only applies to a CPU program")]
    NeedsCpu,
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
