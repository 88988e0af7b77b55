//! The printer of C-like text that both backends use.

mod access;
mod ahead;
mod block;
mod combine;
mod complex;
mod derived;
mod expr;
mod failure;
mod fast;
mod file;
mod flat;
mod grid;
mod helpers;
mod inverse;
mod lanes;
mod rows;
mod signature;
mod stores_last;
mod streaming;
mod strides;
mod tile;
mod vector;
mod wide;
mod writer;

pub use ahead::{AHEAD_HELPERS, ROW_HELPERS};
pub use block::{LoopHooks, NoHooks};
pub use file::FileParts;
pub use grid::{GRID_HELPERS, TURNS_HELPERS};
pub use helpers::{Helper, Operation, helper_texts};
use rows::Given;
pub use rows::OfKernel;
pub use signature::{TextOptions, header_comment};
pub use streaming::{HEXAGON_HELPERS, HEXAGON_PLANES, RESIDENT_HELPERS, STREAM_HELPERS, STREAM_LINES, STREAM_ROUNDS};
pub use vector::vector_types;
pub use wide::VECTOR_HELPERS;
pub use writer::Writer;

use crate::input::Input;
use crate::program::{Program, Width};
use crate::tile::Kept;
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::algorithm::{ArrayId, ComputationId};
use tessella_polyhedral::expr::Expr;
use tessella_polyhedral::layers::BufferId;
use tessella_scalar::ScalarType;
use wide::Vectors;

/// Which language is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// GNU C11, compiled with `-fwrapv`.
    C,
    /// CUDA C++, where signed overflow is undefined.
    Cuda,
}

/// Prints parts of a program and remembers what they need.
pub struct Printer<'a> {
    pub input: Input<'a>,
    pub program: &'a Program,
    pub dialect: Dialect,
    pub options: &'a TextOptions,
    /// Functions that the printed text calls.
    pub helpers: BTreeSet<Helper>,
    /// Arrays whose subscript macros the printed text uses.
    pub macros: BTreeSet<ArrayId>,
    /// Vectors that the printed text uses: element type and lanes.
    pub vectors: BTreeSet<(ScalarType, u32)>,
    /// The variables that own memory which must be freed where the function is left.
    pub allocated: Vec<String>,
    /// How many of them there are when the loops begin.
    pub allocated_at_entry: usize,
    /// Whether the text goes to [`UNDO`].
    pub leaves: bool,
    loops_around: u32,
    /// How many of them run on threads of a CPU.
    threads_around: u32,
    /// The buffers that are declared around the current place, and inside of the innermost of these.
    own: Vec<BufferId>,
    /// Whether memory is allocated after the entry.
    pub allocates_inside: bool,
    /// The registers of the tile that is being printed.
    kept: Vec<Kept>,
    /// The width of the integers that the printed text counts with.
    pub width: Width,
    /// Whether the blocks of the printed loops are those of turns.
    in_turns: bool,
    /// Whether what scalar arguments give is printed, before anything runs.
    at_entry: bool,
    /// What the reads of the statement that is being printed are called, where they are no elements of memory.
    streamed: BTreeMap<u32, String>,
    /// What elements are called that the lane has loaded.
    held: BTreeMap<String, String>,
    /// Whether threads of the loops of the kernel that is printed are warps ([`Kernel::warps`](crate::program::Kernel::warps)).
    pub in_warps: bool,
    /// Whether statements only say whether any of them would run.
    looking: bool,
    /// Whether the kernel that is printed has the same loops for other sizes, where lanes go through the inner one.
    beside_short: bool,
    /// What the kernel that is printed has for loops whose lanes compute values for one another.
    pub rows: OfKernel,
    /// What lanes have computed for one another of the statement that is being printed.
    given: Vec<Given>,
    /// The updates that the loop over threads at the current place combines.
    offering: Vec<ComputationId>,
    /// Where that statement may read memory, if it is printed for points that it does not have.
    guard: Option<String>,
    /// Comparisons of that statement that come out alike where a flag is set, and how.
    settled: Vec<(Expr, String, bool)>,
    /// Those that come out alike in all instances of the statement that is printed.
    decided: Vec<(Expr, bool)>,
    /// The threads of a block along each axis, in kernels.
    pub threads_of_block: [u32; 3],
    wide: Vectors,
}

/// The label where a function puts back what it has written.
pub const UNDO: &str = "undo";

/// The text of a program's scan, with what a backend says before its loops; empty if it has none. And the functions that it calls.
/// `searches` is the scan's own program.
pub fn scan_text(
    input: &Input<'_>,
    searches: &Program,
    dialect: Dialect,
    options: &TextOptions,
    hooks: &mut dyn LoopHooks,
) -> (Writer, BTreeSet<Helper>) {
    let mut out = Writer::default();
    let Some(verified) = input.scan else { return (out, BTreeSet::new()) };
    let without_positions = TextOptions { positions: BTreeMap::new(), ..options.clone() };
    let mut printer = Printer::new(Input::from(verified), searches, dialect, &without_positions);
    let restrict = match dialect {
        Dialect::C => "restrict ",
        Dialect::Cuda => "__restrict__ ",
    };
    printer.scan_function(restrict, hooks, &mut out);
    (out, printer.helpers)
}

impl<'a> Printer<'a> {
    pub fn new(input: Input<'a>, program: &'a Program, dialect: Dialect, options: &'a TextOptions) -> Self {
        Self {
            input,
            program,
            dialect,
            options,
            helpers: BTreeSet::new(),
            macros: BTreeSet::new(),
            vectors: BTreeSet::new(),
            allocated: vec![],
            allocated_at_entry: 0,
            leaves: false,
            loops_around: 0,
            threads_around: 0,
            own: vec![],
            allocates_inside: false,
            kept: vec![],
            width: Width::Wide,
            streamed: BTreeMap::new(),
            held: BTreeMap::new(),
            in_warps: false,
            looking: false,
            rows: OfKernel::default(),
            given: vec![],
            beside_short: false,
            offering: vec![],
            guard: None,
            settled: vec![],
            decided: vec![],
            threads_of_block: [1; 3],
            in_turns: false,
            at_entry: false,
            wide: Vectors::Ask,
        }
    }
}

/// The C type of a value.
pub fn c_type(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Bool | ScalarType::U8 => "uint8_t",
        ScalarType::I8 => "int8_t",
        ScalarType::I16 => "int16_t",
        ScalarType::I32 => "int32_t",
        ScalarType::I64 => "int64_t",
        ScalarType::U16 => "uint16_t",
        ScalarType::U32 => "uint32_t",
        ScalarType::U64 => "uint64_t",
        ScalarType::F32 => "float",
        ScalarType::F64 => "double",
    }
}
