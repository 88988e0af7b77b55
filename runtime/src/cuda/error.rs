//! Everything that can go wrong with a GPU, as one type.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum CudaError {
    #[error(
        "cannot open the GPU launcher libtessella_cuda.so ({reason}); looked at: {}. `./x build` makes it; \
             TESSELLA_CUDA_LIBRARY may name it",
        list(looked)
    )]
    NoLauncher { looked: Vec<PathBuf>, reason: String },

    #[error("the GPU launcher {} has interface {found}, this Tessella needs {expected}: build both together", path.display())]
    WrongLauncher { path: PathBuf, found: u32, expected: u32 },

    #[error("no NVIDIA driver on this machine ({reason}): install one, or use `target=:c`")]
    NoDriver { reason: String },

    #[error("there is no GPU {index}: the driver lists {count}")]
    NoDevice { index: u32, count: u32 },

    #[error(
        "cannot find NVRTC, the CUDA compiler (libnvrtc.so of CUDA 12 or newer); looked at: {}. Install the CUDA \
             toolkit or Python's nvidia-cuda-nvrtc, or set TESSELLA_NVRTC to the library's path",
        list(looked)
    )]
    NoNvrtc { looked: Vec<PathBuf> },

    /// NVRTC refused the program; `log` has the reasons, each with its line.
    #[error("NVRTC cannot compile `{program}` ({status}):\n{log}")]
    Nvrtc { program: String, status: String, log: String },

    #[error("the GPU has no room for {requested} bytes: {free} of its {total} bytes are free")]
    OutOfMemory { requested: u64, free: u64, total: u64 },

    #[error("bytes {offset}..{} lie outside a device buffer of {bytes} bytes", offset.saturating_add(*length))]
    OutsideBuffer { offset: usize, length: usize, bytes: usize },

    /// A call of the driver failed. After some of these (an illegal address, say) the GPU's context is lost, and every
    /// later call fails the same way.
    #[error("{call} failed with {name} ({code}): {detail}")]
    Driver { call: String, code: i32, name: String, detail: String },
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
