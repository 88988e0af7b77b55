//! Caches that hold nothing of a program's arrays, before it is measured.
//!
//! Filling memory is not enough. Lines that were written leave a cache by being written to memory, when others need their place, and those who
//! come next wait for that: after a fill of 256 MiB a copy of 30 MB took 12.1 µs on an NVIDIA H200, and 10.1 after the same memory was read.

use super::super::gpu::{Argument, Gpu, LaunchShape};
use super::super::nvrtc::Nvrtc;
use super::{Device, DeviceBuffer, Function};
use crate::cuda::CudaError;
use tessella_codegen::program::Blocks;

const THREADS: u32 = 256;
/// Those that a multiprocessor holds at once.
const BLOCKS: u32 = 8;

const TEXT: &str = r#"
extern "C" __global__ void look(float4 *from, long long n) {
    float sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        const float4 vector = from[i];
        sum += vector.x + vector.y + vector.z + vector.w;
    }
    // Never, but the compiler cannot know.
    if (sum == -12345) *from = make_float4(0, 0, 0, 0);
}
"#;

/// The kernel that reads; `None` without NVRTC.
pub(super) fn reader(device: &Device) -> Option<Function> {
    let nvrtc = Nvrtc::get().ok()?;
    let compiled = nvrtc.compile(TEXT, "caches.cu", nvrtc.target_for(device.capability()), &[]).ok()?;
    let module = device.load(&compiled.image).ok()?;
    device.kernel(&module, "look").ok()
}

/// Fills the buffer with zeros and, where there is a kernel that does, reads it.
pub(super) fn clear(device: &Device, reader: Option<&Function>, scratch: &DeviceBuffer) -> Result<(), CudaError> {
    device.fill(scratch, 0)?;
    let Some(reader) = reader else { return Ok(()) };
    let vectors = i64::try_from(scratch.bytes / 16).unwrap_or(0);
    let blocks = BLOCKS * device.properties().multiprocessors.unsigned_abs().max(1);
    let shape = LaunchShape { grid: [blocks, 1, 1], block: [THREADS, 1, 1], shared_bytes: 0, blocks: Blocks::Apart };
    // SAFETY: the kernel's parameters; it reads as many vectors as the buffer has. A buffer that is dropped before the kernel is
    // done is freed only then: the driver waits before it frees.
    unsafe { device.launch(reader, shape, &[Argument::Buffer(scratch), vectors.into()]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::Target;

    #[test]
    fn the_kernel_that_clears_caches_reads_vectors() {
        let Ok(nvrtc) = Nvrtc::get() else { return println!("skipped: no NVRTC (TESSELLA_NVRTC)") };
        let compiled = nvrtc.compile(TEXT, "caches.cu", Target::Ptx(90), &[]).unwrap();
        let ptx = String::from_utf8_lossy(&compiled.image);
        assert!(ptx.contains("ld.global.v4"), "{ptx}");
        assert_eq!(compiled.log.trim(), "");
    }
}
