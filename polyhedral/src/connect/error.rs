//! Communication commands that cannot be carried out. Names are as the user wrote them.

use crate::algorithm::{AccessRef, ComputationId};
use crate::layers::Direction;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConnectError {
    /// The array is not on both sides.
    #[error("`{array}` is not copied between host and device: {reason}")]
    NotCopied { array: String, reason: &'static str },
    #[error("the memory of `{buffer}` is not allocated by the program: {reason}")]
    FixedLifetime { buffer: String, reason: &'static str },
    #[error("there is no loop `{at}`")]
    UnknownLoop { at: String, known: Vec<String> },
    #[error("there are {count} loops `{at}`")]
    ManyLoops { at: String, count: usize },
    /// The place is inside of a kernel, or beside the loops that make one.
    #[error("`{at}` is no loop of the host")]
    InKernel { at: String, reason: &'static str },
    /// A copy to the device brings an old value.
    #[error("a copy overwrites a value of `{}` that the device has computed", .0.array)]
    Overwrites(Box<Missing>),
    /// A copy that must come before an instance or after it does not.
    #[error("a value of `{}` is not where it is needed", .0.array)]
    NotMoved(Box<Missing>),
    /// Which element a later iteration touches is not known.
    #[error("`{array}` cannot be prefetched along `{at}`: {reason}")]
    NoStep { array: String, at: String, reason: &'static str },
    /// An access outside of the time in which there is memory.
    #[error("`{buffer}` is used where it has no memory")]
    Outside { buffer: String, access: AccessRef, instance: Vec<i64>, params: Vec<(String, i64)> },
    /// A value that is needed in another execution of what the memory lives for.
    #[error("a value of `{}` is needed after its memory is freed", .0.buffer)]
    FreedBeforeUse(Box<Freed>),
    #[error("`{first}` and `{second}` do not make one lifetime")]
    Lifetimes { first: String, second: String, reason: &'static str },
    #[error("a barrier cannot stand in `{at}`: {reason}")]
    Divergent { at: String, reason: &'static str },
    #[error("`{buffer}` cannot be allocated in `{at}`, whose iterations run in parallel")]
    InParallel { buffer: String, at: String },
}

/// An instance of a computation, and the copy of what it touches that is missing or too much.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    pub array: String,
    /// Where the copy goes.
    pub direction: Direction,
    /// The write whose value is concerned, or the read that needs one; `None` for elements that nothing has stored.
    pub access: Option<AccessRef>,
    pub instance: Vec<i64>,
    /// The loops of the host around the copy, by name, and their values.
    pub copy: Vec<(String, i64)>,
    pub params: Vec<(String, i64)>,
}

/// A value that one execution stores and another one reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Freed {
    pub buffer: String,
    pub writer: ComputationId,
    pub reader: AccessRef,
    pub written: Vec<i64>,
    pub read: Vec<i64>,
    pub params: Vec<(String, i64)>,
}
