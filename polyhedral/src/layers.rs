//! The four layers as types: each stage holds the one before, and the wrong order does not compile.
//!
//! ```text
//! Algorithm -> Scheduled -> Placed -> Connected -> Verified
//! ```

use crate::affine::Affine;
use crate::algorithm::{AccessRef, Algorithm, Array, ArrayId, ComputationId};
use crate::isl::Set;
use crate::machine::Machine;
use crate::schedule::{Path, Schedule};
use crate::storage::Lead;
use crate::stream::Stream;
use std::collections::{BTreeMap, BTreeSet};
use tessella_scalar::ScalarType;

/// Layers I and II.
#[derive(Debug, Clone)]
pub struct Scheduled {
    pub algorithm: Algorithm,
    pub schedule: Schedule,
    pub target: Target,
    /// The machine that tiles are made for.
    pub machine: Machine,
    pub versions: Vec<Version>,
    /// Arrays that a command made for one iteration of a loop each: they live where that iteration runs.
    pub scratch: BTreeSet<ArrayId>,
}

/// Sizes for which the program has code of its own, chosen at entry; the first version whose condition holds runs.
#[derive(Debug, Clone)]
pub struct Version {
    /// As the user wrote it.
    pub text: String,
    /// `[params] -> { : ... }`
    pub holds: Set,
}

/// What kind of machine runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    Cpu,
    Gpu,
}

/// Layers I to III.
#[derive(Debug, Clone)]
pub struct Placed {
    pub scheduled: Scheduled,
    pub layout: Layout,
    /// The algorithm of the source, where storage commands added statements to it that copy.
    pub source: Option<Algorithm>,
    /// The arguments that belong into constant memory, where the target has any.
    pub constants: BTreeSet<ArrayId>,
}

/// Layer III: buffers, and where each array's elements lie in them.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    pub buffers: Vec<Buffer>,
    /// One for each array.
    pub placements: BTreeMap<ArrayId, Placement>,
    /// Time loops that stream.
    pub streams: Vec<PlacedStream>,
    /// Copies that run ahead of what uses them.
    pub ahead: Vec<Ahead>,
}

/// Names a [`Buffer`] of a [`Layout`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub u32);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// Unique among buffers.
    pub name: String,
    pub element: ScalarType,
    /// Column-major, over the parameters; empty for a single element.
    pub extents: Vec<Affine>,
    pub space: MemorySpace,
    pub lifetime: Lifetime,
}

impl Buffer {
    /// Whether it is constant memory for a box of an argument whose size nothing bounds.
    pub fn is_box(&self, algorithm: &Algorithm) -> bool {
        let is_part = |it: &Array| self.extents != it.extents;
        matches!(self.space, MemorySpace::Constant { .. })
            && matches!(self.lifetime, Lifetime::Argument(id) if is_part(algorithm.array(id)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemorySpace {
    /// The CPU's memory.
    Host,
    /// The GPU's memory; has a copy in `Host` if it is an argument.
    Global,
    /// The GPU's constant memory, with room for so many elements of an argument that is only read, all of them or those of a box; has a copy in `Host`.
    Constant { elements: u32 },
    /// One copy a thread block, of constant size.
    Shared,
    /// One copy a thread; a single element or a small array.
    Register,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lifetime {
    /// The caller's memory.
    Argument(ArrayId),
    /// From entry to exit; allocated by the program.
    Call,
    /// One execution of the node at this path.
    Node(Path),
    /// One execution of some children of the sequence at this path, from the first to the last.
    Children { of: Path, first: usize, last: usize },
}

/// A time loop that streams, and where its arrays lie in between.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedStream {
    /// The time loop.
    pub path: Path,
    pub stream: Stream,
    /// For each field that is carried from step to step, the copy that every other launch writes.
    pub copies: BTreeMap<ArrayId, BufferId>,
    /// Where hexagons keep such fields between launches: for even and odd versions, of the one set and of the other.
    pub sets: BTreeMap<ArrayId, [BufferId; 4]>,
}

/// A copy into shared memory that begins some iterations of a loop before the one that uses it, and goes on while the threads
/// compute: it has arrived, for all threads of the block, when the iteration before its use ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ahead {
    /// The loop, which runs in order between the blocks and the threads of a kernel.
    pub path: Path,
    /// The statement that copies.
    pub copy: ComputationId,
    pub iterations: u32,
    /// The array that it fills.
    pub to: ArrayId,
    /// How that array's rows are shifted, if they are.
    pub lead: Option<Lead>,
}

/// An array element's place: `array[x] -> buffer[map(x)]`, subscripts of the buffer from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    pub buffer: BufferId,
    /// One for each axis of the buffer; [`crate::affine::Atom::Iterator`] stands for the array's subscript of that
    /// number.
    pub map: Vec<Affine>,
}

/// Layers I to IV.
#[derive(Debug, Clone)]
pub struct Connected {
    pub placed: Placed,
    pub transfers: Vec<Transfer>,
    /// After these nodes all threads of a block wait for each other or, outside of kernels, the host for the device.
    pub barriers: Vec<Path>,
    pub prefetches: Vec<Prefetch>,
}

/// An element that is asked for before it is used: the one that an access names where an iterator is larger by so much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefetch {
    pub access: AccessRef,
    pub iterator: u32,
    pub by: i64,
}

/// A copy of a buffer, or of a part of one, between host and device.
#[derive(Debug, Clone)]
pub struct Transfer {
    pub buffer: BufferId,
    pub direction: Direction,
    /// The node before or after which it happens.
    pub at: Path,
    pub moment: Moment,
    /// The parameters for which it is needed, if not for all: `[params] -> { : ... }`.
    pub needed: Option<Set>,
    /// The axes along which only some places are copied, in order; of all others, all are. For sizes for which the copy is needed, what
    /// this says lies inside of the array.
    pub part: Vec<Stretch>,
}

/// Neighbouring places along an axis of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// From 0.
    pub axis: u32,
    /// The least of these is the first subscript; formulas of the parameters.
    pub first: Vec<Affine>,
    /// The greatest of these is the last one.
    pub last: Vec<Affine>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    HostToDevice,
    DeviceToHost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    Before,
    After,
}

/// What one buffer of the program's own may take of the stack of a CPU thread.
pub const STACK_BYTES: i64 = 256 * 1024;

impl Buffer {
    /// Whether its size is a constant that a stack has room for.
    pub fn fits_stack(&self) -> bool {
        let bytes = self
            .extents
            .iter()
            .try_fold(i64::from(self.element.bytes()), |bytes, extent| bytes.checked_mul(extent.as_constant()?.max(1)));
        bytes.is_some_and(|bytes| bytes <= STACK_BYTES)
    }
}

impl Layout {
    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.0 as usize]
    }

    pub fn placement(&self, array: ArrayId) -> &Placement {
        &self.placements[&array]
    }

    /// How many iterations of the loop at `path` copies run ahead of their use at least.
    pub fn ahead_in(&self, path: &Path) -> Option<u32> {
        self.ahead.iter().filter(|it| it.path == *path).map(|it| it.iterations).min()
    }

    /// How the rows of an array are shifted, which copies ahead fill; `None` if they are not.
    pub fn lead_of(&self, array: ArrayId) -> Option<&Lead> {
        self.ahead.iter().find(|it| it.to == array)?.lead.as_ref()
    }

    /// Whether a statement is a copy that goes on while the threads compute.
    pub fn is_ahead(&self, copy: ComputationId) -> bool {
        self.ahead.iter().any(|it| it.copy == copy)
    }
}
