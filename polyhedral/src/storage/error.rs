//! Storage commands that cannot be carried out. Names are as the user wrote them.

use crate::affine::Affine;
use crate::algorithm::{AccessRef, ArrayId, ComputationId};
use crate::layers::{Buffer, STACK_BYTES};
use crate::machine::{Gpu, MAX_THREADS, MAX_THREADS_Z};

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StorageError {
    /// The map puts two values into one element while the first is still needed.
    #[error("a value is overwritten before its last use")]
    Overwritten(Box<Overwrite>),
    #[error("`{array}` lies in the caller's memory")]
    CallersMemory { array: String },
    /// Other parts of the program count on the array's own shape.
    #[error("`{array}` cannot be padded: {reason}")]
    NotPadded { array: String, reason: &'static str },
    #[error("`{array}` has {axes} axes, and {given} are given")]
    AxisCount { array: String, axes: usize, given: usize },
    /// The map's values have no bound along an axis.
    #[error("the map of `{array}` reaches no rectangular buffer")]
    NoBox { array: String, axis: u32 },
    /// Data tell which of its elements is accessed.
    #[error("no map can be proved for `{array}`")]
    Untold { array: String },
    /// The buffer cannot hold the array besides what it holds.
    #[error("`{buffer}` cannot hold `{array}`: {reason}")]
    BufferTaken { buffer: String, array: String, reason: &'static str },
    #[error("there is no array `{name}`")]
    UnknownArray { name: String, known: Vec<String> },
    #[error("nothing inside `{at}` accesses `{array}`")]
    NotAccessed { array: String, at: String },
    /// One iteration of the loop touches a number of elements that is no constant: two of them can be `apart` apart.
    #[error("the part of `{array}` that one iteration of `{at}` touches has no constant size")]
    NoConstantSize { array: String, at: String, axis: u32, apart: String },
    #[error("the buffer for `{array}` would need {bytes} bytes, more than {}", .limit.bytes())]
    TooLarge { array: String, extents: Vec<i64>, bytes: i64, limit: Limit },
    /// Each buffer fits alone. They are all that one kernel has, in the order in which they were asked for.
    #[error(
        "the buffers of a kernel would need {} bytes of shared memory together, more than {}",
        SharedBuffer::total(.buffers),
        Limit::Shared.bytes()
    )]
    TooLargeTogether { buffers: Vec<SharedBuffer> },
    /// A block cannot have a thread for each element of a buffer: they, with those that compute, would be too many along all axes together,
    /// or along the third one alone.
    #[error(
        "a block with a thread for each element that an iteration of `{at}` touches of `{array}` would have {}",
        too_many(threads)
    )]
    ManyThreads { array: String, at: String, extents: Vec<i64>, threads: Vec<i64> },
    /// Each buffer of these has few enough; a block has the most of each axis. `loops` are the loops over threads of the kernel's statements.
    #[error(
        "blocks of one kernel with a thread for each element of {} would have {}",
        all_names(filled),
        too_many(threads)
    )]
    ManyThreadsTogether { filled: Vec<Filled>, loops: Vec<i64>, threads: Vec<i64> },
    /// The loop is not where shared memory or registers need it.
    #[error("`{array}` cannot be kept at `{at}`: {reason}")]
    WrongLevel { array: String, at: String, reason: &'static str },
    /// No footprint is known of what is accessed by computed subscripts.
    #[error(
        "`{array}` cannot be kept at `{at}`: a subscript of it is computed, so that any of its elements may be touched"
    )]
    ComputedSubscript { array: String, at: String, only_read: bool },
    /// How many threads a loop is spread over is not known.
    #[error("the thread loop `{at}` has no constant number of iterations")]
    NoThreadCount { at: String },
    #[error("`{array}` cannot lie in constant memory: {reason}")]
    NotConstant { array: String, reason: &'static str },
    #[error("`{array}` has no largest size, which constant memory needs")]
    Unbounded { array: String, axis: u32 },
    /// `total` is with the arrays that are there before.
    #[error("`{array}` can have {bytes} bytes, more than constant memory has left")]
    ConstantTooLarge { array: String, bytes: i64, total: i64 },
    #[error("a size does not fit in 64 bits")]
    TooLargeNumber,
}

/// How many threads are too many.
fn too_many(threads: &[i64]) -> String {
    match threads.iter().fold(1i64, |all, &next| all.saturating_mul(next)) {
        all if all > MAX_THREADS => format!("{all} threads, more than {MAX_THREADS}"),
        _ => format!("{} threads along z, more than {MAX_THREADS_Z}", threads.last().copied().unwrap_or(1)),
    }
}

/// The buffers by name.
fn all_names(filled: &[Filled]) -> String {
    let names: Vec<String> = filled.iter().map(|it| format!("`{}`", it.name)).collect();
    match names.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        all => all.concat(),
    }
}

/// A buffer whose elements each have a thread that loads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    pub name: String,
    pub extents: Vec<i64>,
}

/// What holds promoted values, and how much of it there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Shared memory of a thread block: up to [`Gpu::shared_bytes_of_block`] a kernel declares, more the launch asks for.
    Shared,
    /// The stack of a CPU thread.
    Stack,
    /// The registers of a GPU thread.
    Registers,
}

impl Limit {
    pub fn bytes(self) -> i64 {
        match self {
            Limit::Shared => i64::from(Gpu::HOPPER.most_shared_bytes_of_block),
            Limit::Stack => STACK_BYTES,
            Limit::Registers => 255 * 4,
        }
    }
}

/// A buffer that the threads of a block share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedBuffer {
    pub name: String,
    pub element_bytes: i64,
    pub extents: Vec<i64>,
}

impl SharedBuffer {
    /// A buffer of constant size.
    pub fn of(buffer: &Buffer) -> SharedBuffer {
        SharedBuffer {
            name: buffer.name.clone(),
            element_bytes: buffer.element.bytes() as i64,
            extents: buffer.extents.iter().filter_map(Affine::as_constant).collect(),
        }
    }

    /// Where the next one begins behind it: at a multiple of 16 bytes, which threads load at once.
    pub fn bytes(&self) -> i64 {
        let bytes = self.extents.iter().fold(self.element_bytes, |all, &next| all.saturating_mul(next));
        bytes.saturating_add(15) / 16 * 16
    }

    pub fn total(all: &[SharedBuffer]) -> i64 {
        all.iter().fold(0, |total, it| it.bytes().saturating_add(total))
    }

    /// "32 x 480 elements of 8 bytes: 122880 bytes".
    pub fn words(&self) -> String {
        let extents: Vec<String> = self.extents.iter().map(i64::to_string).collect();
        let (extents, element) = (extents.join(" x "), self.element_bytes);
        format!("{extents} elements of {element} bytes: {} bytes", self.bytes())
    }
}

/// A value that `writer` stores, `reader` needs, and `clobber` overwrites or may overwrite first.
#[derive(Debug, Clone, PartialEq)]
pub struct Overwrite {
    pub array: ArrayId,
    pub reader: AccessRef,
    pub writer: ComputationId,
    pub clobber: ComputationId,
    /// The instances, and sizes for which they exist.
    pub written: Vec<i64>,
    pub read: Vec<i64>,
    pub clobbered: Vec<i64>,
    pub params: Vec<(String, i64)>,
}
