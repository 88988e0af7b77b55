//! What code generation refuses.

use tessella_diagnostics::{Code, Diagnostic, IntoDiagnostic};
use tessella_polyhedral::isl::IslError;
use tessella_polyhedral::machine::MAX_THREADS;
use tessella_polyhedral::schedule::ProcessorAxis;
use tessella_polyhedral::storage::SharedBuffer;
use thiserror::Error;

/// Why no loop program came out of a verified program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CodegenError {
    #[error(transparent)]
    Isl(#[from] IslError),
    /// A thread block could have more than [`MAX_THREADS`] threads, or any number.
    #[error("a thread block of kernel `{kernel}` is too large")]
    BlockTooLarge { kernel: String, loops: Vec<ThreadExtent> },
    /// A thread block could have more threads along z than any device allows.
    #[error("a thread block of kernel `{kernel}` has {threads} threads along z")]
    BlockTooDeep { kernel: String, threads: i64 },
    /// Two loops on one path are mapped to the same processor axis.
    #[error("loops `{outer}` and `{inner}` are both mapped to {axis:?} of the {level}")]
    AxisTwice { outer: String, inner: String, axis: ProcessorAxis, level: Level },
    /// A block loop lies below a thread loop, or something stands between two block loops or two thread loops.
    #[error("GPU loop `{inner}` is not directly below `{outer}`")]
    LoopsApart { outer: String, inner: String, between: Vec<String> },
    /// Memory of one thread is declared where several threads share it.
    #[error("buffer `{buffer}` in registers is shared by several threads")]
    SharedRegister { buffer: String },
    /// A copy between host and device lies inside a kernel.
    #[error("buffer `{buffer}` is copied inside of kernel code")]
    CopyInKernel { buffer: String },
    /// Memory other than registers would have to be allocated inside a kernel or a CPU loop.
    #[error("buffer `{buffer}` would be allocated inside of a loop")]
    AllocationInside { buffer: String },
    /// A barrier of a kernel is missing or out of place.
    #[error("a barrier of kernel `{kernel}` {reason}")]
    Barrier { kernel: String, reason: &'static str },
    /// The steps of a loop cannot be one kernel.
    #[error("loop `{at}` cannot be one kernel: {reason}")]
    GridSync { at: String, reason: String },
    /// The threads of a block cannot combine their updates.
    #[error("the updates of loop `{at}` cannot be combined: {reason}")]
    Combine { at: String, reason: &'static str },
    /// An argument's elements do not lie side by side, where the GPU needs a copy of its memory.
    #[error("`{array}` has strides of its own, and the GPU takes contiguous arrays only")]
    StridedOnDevice { array: String },
    /// A loop whose bounds are data is no longer one loop in order.
    #[error("the bounds of loop `{name}` around `{computation}` are data")]
    RangeApart { computation: String, name: String },
    /// A loop that only data end cannot be left where they do.
    #[error("loop `{name}` ends where data say so")]
    Endless { name: String, on_device: bool },
    /// An array is copied back before all tests on the way are made.
    #[error("`{array}` is copied back before the last test")]
    CopiedBeforeTests { array: String },
    /// What a kernel keeps in shared memory, with what its blocks combine there, needs more than a block may have.
    #[error("kernel `{kernel}` needs {bytes} bytes of shared memory, more than {most}")]
    SharedTooLarge { kernel: String, buffers: Vec<SharedBuffer>, combined: Vec<SharedBuffer>, bytes: i64, most: i64 },
    /// A buffer in registers has an extent that is no constant.
    #[error("buffer `{buffer}` in registers has no constant size")]
    SizeOfRegister { buffer: String },
}

/// A level of the GPU's hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Grid,
    Block,
}

/// A thread loop and the most iterations it can have; `None` for no bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadExtent {
    pub name: String,
    pub iterations: Option<i64>,
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Level::Grid => "grid",
            Level::Block => "thread block",
        })
    }
}

impl IntoDiagnostic for CodegenError {
    fn into_diagnostic(self) -> Diagnostic {
        match self {
            CodegenError::StridedOnDevice { .. } => Diagnostic::error(Code("E0503"), self.to_string())
                .with_help("pass a copy (`collect` makes one), or run the function on the CPU"),
            CodegenError::Isl(error) if error.is_quota() => Diagnostic::error(
                Code("E0601"),
                "the loops are too complicated to generate code for within the limit of operations",
            )
            .with_help(
                "say which arrays have the same size, where some do: `@assert size(A) == size(B)`; take fewer steps in a tile, tiles of another size, \
                 or another shape; or split the function",
            ),
            CodegenError::Isl(error) => {
                Diagnostic::error(Code("E0602"), "the integer set library cannot generate code for this schedule")
                    .with_note(error.to_string())
                    .with_help("try another schedule, and report the program: it is a mistake of Tessella's")
            }
            CodegenError::BlockTooLarge { kernel, loops } => {
                // A number near the largest size says no more than that some size is unbounded.
                let known = |it: &ThreadExtent| it.iterations.filter(|count| *count <= i64::from(i32::MAX));
                let product = loops.iter().try_fold(1i64, |all, it| all.checked_mul(known(it)?));
                let mut diagnostic = match product {
                    Some(threads) => Diagnostic::error(
                        Code("E0603"),
                        format!("a thread block of kernel `{kernel}` would have {threads} threads, more than {MAX_THREADS}"),
                    ),
                    None => Diagnostic::error(
                        Code("E0603"),
                        format!("nothing limits the thread blocks of kernel `{kernel}` to {MAX_THREADS} threads"),
                    ),
                };
                for it in loops {
                    let name = &it.name;
                    diagnostic = diagnostic.with_note(match known(&it) {
                        Some(iterations) => format!("thread loop `{name}` has up to {iterations} iterations"),
                        None => format!("thread loop `{name}` has a number of iterations that depends on the arguments"),
                    });
                }
                diagnostic.with_help("tile the loops and give only the point loops to `gpu` as threads")
            }
            CodegenError::BlockTooDeep { kernel, threads } => Diagnostic::error(
                Code("E0609"),
                format!("a thread block of kernel `{kernel}` would have {threads} threads along z, more than 64"),
            )
            .with_help("map the longest loop to x: name it last among the thread loops"),
            CodegenError::AllocationInside { buffer } => Diagnostic::error(
                Code("E0610"),
                format!("`{buffer}` would have to be allocated inside of a loop or kernel, and its size is not constant"),
            )
            .with_help(format!("allocate `{buffer}` for the whole call")),
            CodegenError::AxisTwice { outer, inner, axis, level } => Diagnostic::error(
                Code("E0604"),
                format!(
                    "loops `{outer}` and `{inner}`, one inside the other, are both mapped to axis {} of the {level}",
                    axis_name(axis)
                ),
            )
            .with_help("map each of the nested loops to an axis of its own"),
            CodegenError::LoopsApart { outer, inner, between } => {
                let error = Diagnostic::error(
                    Code("E0605"),
                    format!("GPU loop `{inner}` is not directly below GPU loop `{outer}`"),
                );
                let names: Vec<String> = between.iter().map(|name| format!("`{name}`")).collect();
                let error = match names.is_empty() {
                    true => error,
                    false => error.with_note(format!("some iterations of {} stand beside `{inner}`, in no loop over threads", names.join(", "))),
                };
                error
                    .with_note("other loops and statements may stand between the block loops and the thread loops, or inside the innermost loop")
                    .with_help(format!("move what stands between `{outer}` and `{inner}` inside of `{inner}`, or out of the kernel"))
                    .with_help("where a tiling of time made these loops, take another size or another tiling, or give what differs at the edges a nest of its own")
            }
            CodegenError::SharedRegister { buffer } => Diagnostic::error(
                Code("E0606"),
                format!("`{buffer}` lives in registers, where only one thread sees it, but several threads use it"),
            )
            .with_help(format!("store `{buffer}` in an array, or map its loops to one thread")),
            CodegenError::CopyInKernel { buffer } => Diagnostic::error(
                Code("E0607"),
                format!("`{buffer}` cannot be copied between host and device inside of a kernel"),
            )
            .with_help("put the copy at a loop outside of the GPU loops"),
            CodegenError::Barrier { kernel, reason } => {
                Diagnostic::error(Code("E0602"), format!("a barrier of kernel `{kernel}` {reason}"))
                    .with_help("report this program: it is a mistake of Tessella's")
            }
            CodegenError::GridSync { at, reason } => {
                Diagnostic::error(Code("E0611"), format!("the steps of loop `{at}` cannot run in one kernel"))
                    .with_note(reason)
                    .with_help("use `space` for a launch in each step")
            }
            CodegenError::Combine { at, reason } => {
                Diagnostic::error(Code("E0612"), format!("the threads of a block cannot combine the updates of loop `{at}`"))
                    .with_note(reason)
                    .with_help("let `@combine` be the only loop over threads of its kernel, directly around the statement that it combines")
            }
            CodegenError::RangeApart { computation, name } => Diagnostic::error(
                Code("E0315"),
                format!("the bounds of loop `{name}` around `{computation}` are data: it has to stay one loop, in order"),
            )
            .with_note("only loops around it and inside of it can be split, moved, or run in parallel, in vectors or on the GPU")
            .with_help(format!("leave `{name}` as it is, inside of one thread, and schedule the loops around it")),
            CodegenError::Endless { name, on_device } => {
                let text = format!("a `while` that only data end, loop `{name}` of the schedule, cannot be left where they do");
                let help = match on_device {
                    true => "give it a bound, `for step in 1:most` with `err < tol && break` inside: the steps after the last do nothing; or compile for the CPU",
                    false => "leave the loop as it is in the source, and schedule those inside",
                };
                let note = match on_device {
                    true => "its body is launched on the GPU, and the host finds no variable by which it could tell that nothing is left to do",
                    false => "the schedule takes it apart, or mixes its statements with others",
                };
                Diagnostic::error(Code("E0316"), text).with_note(note).with_help(help)
            }
            CodegenError::CopiedBeforeTests { array } => Diagnostic::error(
                Code("E0547"),
                format!("`{array}` is copied back before the last test on the way is made"),
            )
            .with_note("where a subscript or a value fails that only the run can test, the arguments must be as they were before the call")
            .with_help(format!("let `{array}` be copied back behind the last kernel")),
            CodegenError::SharedTooLarge { ref buffers, ref combined, .. } => {
                let kept = buffers.iter().map(|it| format!("`{}` has {}", it.name, it.words()));
                let offered = combined.iter().map(|it| format!("warps combine `{}` in {}", it.name, it.words()));
                kept.chain(offered)
                    .fold(Diagnostic::error(Code("E0528"), self.to_string()), Diagnostic::with_note)
                    .with_help("use smaller tiles")
            }
            CodegenError::SizeOfRegister { buffer } => Diagnostic::error(
                Code("E0608"),
                format!("`{buffer}` lives in registers, but its size depends on the arguments"),
            )
            .with_help(format!("store `{buffer}` in memory")),
        }
    }
}

fn axis_name(axis: ProcessorAxis) -> &'static str {
    match axis {
        ProcessorAxis::X => "x",
        ProcessorAxis::Y => "y",
        ProcessorAxis::Z => "z",
    }
}
