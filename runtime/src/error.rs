//! Everything that can go wrong from generated text to a result, as one type.

use crate::call::{ArgumentKind, ParamType};
use crate::cuda::CudaError;
use std::path::PathBuf;
use tessella_codegen::entry::{STATUS_DEVICE_FAILED, STATUS_GRID_TOO_LARGE, STATUS_OUT_OF_MEMORY};
use tessella_diagnostics::{Code, Diagnostic, IntoDiagnostic};

#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// No command that was tried is a C compiler; each with the reason.
    #[error("cannot find a C compiler; tried {}", attempts(tried))]
    NoCompiler { tried: Vec<Attempt> },

    /// An environment variable names a C compiler that does not run.
    #[error("the C compiler `{}` that {variable} names does not run: {}", attempt.command, attempt.reason)]
    NamedCompiler { variable: &'static str, attempt: Attempt },

    /// The C compiler refused generated text.
    #[error("`{}` ({}) cannot compile `{}` ({}):\n{}", .0.command, .0.version, .0.name, .0.status, .0.output)]
    Refused(Box<Refused>),

    #[error("cannot {action} {} ({reason})", path.display())]
    File { action: &'static str, path: PathBuf, reason: String },

    #[error("cannot load compiled code from {}: {reason}", path.display())]
    Load { path: PathBuf, reason: String },

    #[error("the entry takes {expected} arguments, {found} are given")]
    ArgumentCount { expected: usize, found: usize },

    /// `position` counts from 0.
    #[error("argument {} of the entry is {expected}, {found} is given", .position + 1)]
    ArgumentType { position: usize, expected: ParamType, found: ArgumentKind },

    #[error(transparent)]
    Cuda(#[from] CudaError),

    #[error("kernel `{kernel}` needs {blocks} blocks along {axis}; the GPU allows {limit}")]
    GridTooLarge { kernel: String, axis: char, blocks: i64, limit: i64 },

    /// Blocks that keep what they work on have to run at once, and there is nothing else to do their work.
    #[error(
        "kernel `{kernel}` keeps its domain in {blocks} blocks with {shared_bytes} bytes of shared memory each, which have to run at once; \
             the GPU runs {held}"
    )]
    TooManyTogether { kernel: String, blocks: i64, shared_bytes: u32, held: i64 },

    #[error("kernel `{kernel}` has thread blocks of {} x {} x {} threads; the GPU allows {limit}", block[0], block[1], block[2])]
    BlockTooLarge { kernel: String, block: [u32; 3], limit: u64 },

    #[error("the blocks of kernel `{kernel}` need {bytes} bytes of shared memory each; the GPU gives a block {limit}")]
    SharedTooLarge { kernel: String, bytes: u32, limit: u32 },

    /// The device memory of one call cannot be had. `needed` is what all buffers of the call take together.
    #[error("the arrays take {needed} bytes of GPU memory; {free} of its {total} bytes are free")]
    DeviceMemory { needed: u64, free: u64, total: u64 },

    /// Not even the least slice of a call fits. `needed` is what all buffers of the whole take together.
    #[error(
        "the arrays take {needed} bytes of GPU memory, and a slice of one iteration {least}; \
             {free} of its {total} bytes can be had"
    )]
    SliceMemory { needed: u64, least: u64, free: u64, total: u64 },

    /// A launch plan contradicts itself; the text says where.
    #[error("the launch plan is malformed: {0}")]
    MalformedPlan(String),
}

/// A command that was tried as a C compiler, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub command: String,
    pub reason: String,
}

/// A compilation that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The entry of the generated text.
    pub name: String,
    /// The whole command line.
    pub command: String,
    /// The first line of what the compiler says of its version.
    pub version: String,
    pub status: String,
    /// What the compiler printed.
    pub output: String,
    /// Where the text is kept for a day.
    pub text: PathBuf,
}

impl RuntimeError {
    /// What a call that failed this way returns to its caller: one of the status codes of the entry.
    pub fn status(&self) -> i32 {
        match self {
            RuntimeError::Cuda(CudaError::OutOfMemory { .. })
            | RuntimeError::DeviceMemory { .. }
            | RuntimeError::SliceMemory { .. } => STATUS_OUT_OF_MEMORY,
            RuntimeError::GridTooLarge { .. }
            | RuntimeError::TooManyTogether { .. }
            | RuntimeError::SharedTooLarge { .. } => STATUS_GRID_TOO_LARGE,
            RuntimeError::NoCompiler { .. }
            | RuntimeError::NamedCompiler { .. }
            | RuntimeError::Refused(_)
            | RuntimeError::File { .. }
            | RuntimeError::Load { .. }
            | RuntimeError::ArgumentCount { .. }
            | RuntimeError::ArgumentType { .. }
            | RuntimeError::Cuda(_)
            | RuntimeError::BlockTooLarge { .. }
            | RuntimeError::MalformedPlan(_) => STATUS_DEVICE_FAILED,
        }
    }

    /// The diagnostic code, as `docs/codes.md` lists it.
    pub fn code(&self) -> Code {
        Code(match self {
            RuntimeError::NoCompiler { .. } => "E0620",
            RuntimeError::NamedCompiler { .. } => "E0621",
            RuntimeError::Refused(_) => "E0622",
            RuntimeError::File { .. } => "E0623",
            RuntimeError::Load { .. } => "E0624",
            RuntimeError::Cuda(CudaError::NoNvrtc { .. }) => "E0625",
            RuntimeError::Cuda(CudaError::Nvrtc { .. }) => "E0626",
            RuntimeError::ArgumentCount { .. } | RuntimeError::ArgumentType { .. } => "E0701",
            RuntimeError::Cuda(CudaError::NoLauncher { .. } | CudaError::WrongLauncher { .. }) => "E0702",
            RuntimeError::Cuda(CudaError::NoDriver { .. }) => "E0703",
            RuntimeError::Cuda(CudaError::NoDevice { .. }) => "E0704",
            RuntimeError::Cuda(CudaError::OutOfMemory { .. })
            | RuntimeError::DeviceMemory { .. }
            | RuntimeError::SliceMemory { .. } => "E0705",
            RuntimeError::Cuda(CudaError::Driver { .. } | CudaError::OutsideBuffer { .. }) => "E0706",
            RuntimeError::GridTooLarge { .. }
            | RuntimeError::TooManyTogether { .. }
            | RuntimeError::SharedTooLarge { .. }
            | RuntimeError::BlockTooLarge { .. } => "E0707",
            RuntimeError::MalformedPlan(_) => "E0708",
        })
    }
}

impl IntoDiagnostic for RuntimeError {
    fn into_diagnostic(self) -> Diagnostic {
        let error = |message: String| Diagnostic::error(self.code(), message);
        match &self {
            RuntimeError::NoCompiler { tried } => {
                let all = error("no C compiler found on this machine".to_owned());
                let all =
                    tried.iter().fold(all, |all, it| all.with_note(format!("tried `{}`: {}", it.command, it.reason)));
                all.with_help("install gcc (`apt install gcc libc6-dev` on Debian), or set TESSELLA_CC to a C compiler")
            }
            RuntimeError::NamedCompiler { variable, attempt } => {
                error(format!("the C compiler `{}` does not run", attempt.command))
                    .with_note(attempt.reason.clone())
                    .with_help(format!("set {variable} to a C compiler, or unset it"))
            }
            RuntimeError::Refused(refused) => {
                let Refused { name, command, version, status, output, text } = &**refused;
                let refused = error(format!("the C compiler refused the code of `{name}`"))
                    .with_note(format!("`{command}` ({version}) ended with {status}"))
                    .with_note(output.clone())
                    .with_note(format!("the code is kept in {}", text.display()));
                if lacks_openmp(output) {
                    refused.with_help("install the compiler's OpenMP (`libomp-dev` for clang), or set TESSELLA_CC=gcc")
                } else {
                    refused.with_help("try another compiler: set TESSELLA_CC to gcc or clang")
                }
            }
            RuntimeError::File { action, path, reason } => error(format!("cannot {action} {}", path.display()))
                .with_note(reason.clone())
                .with_help("set TESSELLA_CACHE to a folder that can be written and has room"),
            RuntimeError::Load { path, reason } => error("compiled code does not load".to_owned())
                .with_note(format!("{}: {reason}", path.display()))
                .with_help("remove that file; if its folder forbids execution, set TESSELLA_CACHE to another"),
            RuntimeError::ArgumentCount { .. } | RuntimeError::ArgumentType { .. } => {
                error(self.to_string()).with_help("pass what the entry takes, in its order")
            }
            RuntimeError::Cuda(cuda) => cuda_diagnostic(self.code(), cuda),
            RuntimeError::GridTooLarge { .. } => error(self.to_string())
                .with_help("tile the loop that is mapped to this axis, or map a shorter one to it"),
            RuntimeError::TooManyTogether { blocks, held, .. } => {
                let refused = error(self.to_string());
                let refused = if blocks <= held {
                    refused.with_note("other programs that use the GPU leave no room for them")
                } else {
                    refused
                };
                refused.with_help(
                    "use smaller arrays, `space`, or `stream(S, t, ...)` alone or before the `grid_sync(S, t, ...)`: then larger arrays stream",
                )
            }
            RuntimeError::BlockTooLarge { .. } => error(self.to_string()).with_help("make the tiles of `gpu` smaller"),
            RuntimeError::SharedTooLarge { .. } => error(self.to_string())
                .with_help("use smaller tiles, fewer copies `ahead`, or a loop further in for `cache_shared`"),
            RuntimeError::DeviceMemory { .. } => {
                error(self.to_string()).with_help("use smaller arrays, free GPU memory, use `target=:c`, or `chunked=true` where iterations of an outer loop are independent")
            }
            RuntimeError::SliceMemory { .. } => error(self.to_string())
                .with_note("arrays that every iteration may use, and those made inside of the function, are needed whole")
                .with_help("use smaller arrays, free GPU memory, or use `target=:c`"),
            RuntimeError::MalformedPlan(_) => {
                error(self.to_string()).with_help("this is a mistake of Tessella's own: please report the program")
            }
        }
    }
}

fn cuda_diagnostic(code: Code, cuda: &CudaError) -> Diagnostic {
    let error = |message: &str| Diagnostic::error(code, message);
    let looked = |all: Diagnostic, paths: &[PathBuf]| {
        paths.iter().fold(all, |all, path| all.with_note(format!("looked at {}", path.display())))
    };
    match cuda {
        CudaError::NoLauncher { looked: paths, reason } => {
            looked(error("cannot open the GPU launcher libtessella_cuda.so").with_note(reason.clone()), paths)
                .with_help("build it with `./x build`, or set TESSELLA_CUDA_LIBRARY to its path; calls of functions with `target=:c` need none")
        }
        CudaError::WrongLauncher { path, found, expected } => error("the GPU launcher is of another version")
            .with_note(format!("{} has interface {found}, {expected} is needed", path.display()))
            .with_help("build launcher and library together with `./x build`"),
        CudaError::NoDriver { reason } => error("this machine has no NVIDIA driver")
            .with_note(reason.clone())
            .with_help("install the driver; calls of functions with `target=:c` need none"),
        CudaError::NoDevice { index, count } => error("the GPU that was asked for is not there")
            .with_note(format!("GPU {index} was asked for (the first is 0), the driver lists {count}"))
            .with_help("use a machine with a GPU; calls of functions with `target=:c` need none"),
        CudaError::NoNvrtc { looked: paths } => looked(error("cannot find NVRTC, the CUDA compiler"), paths).with_help(
            "install the CUDA toolkit 12 or newer or Python's nvidia-cuda-nvrtc, or set TESSELLA_NVRTC to libnvrtc.so",
        ),
        CudaError::Nvrtc { program, status, log } => error(&format!("NVRTC refused the kernels of `{program}`"))
            .with_note(status.clone())
            .with_note(log.clone())
            .with_help("try another NVRTC: set TESSELLA_NVRTC to its path"),
        CudaError::OutOfMemory { .. } => {
            error(&cuda.to_string()).with_help("use smaller arrays, free GPU memory, or use `target=:c`")
        }
        CudaError::OutsideBuffer { .. } => {
            error(&cuda.to_string()).with_help("this is a mistake of Tessella's own: please report the program")
        }
        CudaError::Driver { call, code: status, name, detail } => error("the GPU failed")
            .with_note(format!("{call}: {name} ({status}), {detail}"))
            .with_help("start a new process: a GPU that failed once may refuse all that follows"),
    }
}

fn lacks_openmp(output: &str) -> bool {
    ["omp.h", "-lomp", "-lgomp", "libomp", "fopenmp"].iter().any(|sign| output.contains(sign))
}

fn attempts(tried: &[Attempt]) -> String {
    tried.iter().map(|it| format!("`{}` ({})", it.command, it.reason)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_says_what_was_tried_and_what_to_install() {
        let tried = vec![Attempt { command: "gcc".into(), reason: "not on the PATH".into() }];
        let diagnostic = RuntimeError::NoCompiler { tried }.into_diagnostic();
        assert_eq!(diagnostic.code, Code("E0620"));
        assert_eq!(diagnostic.notes, ["tried `gcc`: not on the PATH"]);
        assert!(diagnostic.help[0].contains("install gcc") && diagnostic.help[0].contains("TESSELLA_CC"));
    }

    #[test]
    fn a_compiler_without_openmp_gets_its_own_help() {
        let refused = |output: &str| {
            RuntimeError::Refused(Box::new(Refused {
                name: "f".into(),
                command: "clang".into(),
                version: "clang 14".into(),
                status: "exit status: 1".into(),
                output: output.into(),
                text: "f.c".into(),
            }))
        };
        assert!(refused("ld: cannot find -lomp").into_diagnostic().help[0].contains("OpenMP"));
        assert!(refused("f.c:1:1: error: oops").into_diagnostic().help[0].contains("another compiler"));
    }
}
