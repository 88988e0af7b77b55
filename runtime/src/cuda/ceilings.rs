//! What this GPU reaches at most, measured: what achieved rates are shares of.

use super::device::Device;
use super::error::CudaError;
use super::gpu::{Argument, Gpu, LaunchShape};
use super::nvrtc::Nvrtc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tessella_codegen::program::Blocks;

/// The best of several runs of kernels that do nothing else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceilings {
    /// Bytes read and written by a copy on the device, a second.
    pub copy: f64,
    /// Operations of fused multiplications and additions in `Float32`, a second; each counts as two.
    pub float32: f64,
    /// The same in `Float64`.
    pub float64: f64,
}

/// Not in any cache.
const COPIED_BYTES: usize = 512 << 20;
const RUNS: usize = 16;
/// An idle GPU takes a while to raise its clock.
const WARM_UP: Duration = Duration::from_millis(60);
const THREADS: u32 = 256;
/// Of each of a thread's eight chains.
const STEPS: i64 = 4096;

const TEXT: &str = r#"
extern "C" __global__ void copy(float4 *to, const float4 *from, long long n) {
    const long long first = (long long)blockIdx.x * (4 * blockDim.x) + threadIdx.x;
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        const long long i = first + (long long)k * blockDim.x;
        if (i < n) to[i] = from[i];
    }
}

// Eight chains hide the latency of each.
template <typename T> __device__ void chains(T *out, long long steps, T a, T b) {
    T x[8];
    #pragma unroll
    for (int k = 0; k < 8; k++) x[k] = (T)(threadIdx.x + k);
    for (long long step = 0; step < steps; step++) {
        #pragma unroll
        for (int k = 0; k < 8; k++) x[k] = x[k] * a + b;
    }
    T sum = 0;
    #pragma unroll
    for (int k = 0; k < 8; k++) sum += x[k];
    // Never, but the compiler cannot know.
    if (sum == (T)-12345) *out = sum;
}

extern "C" __global__ void fma32(float *out, long long steps, float a, float b) { chains<float>(out, steps, a, b); }
extern "C" __global__ void fma64(double *out, long long steps, double a, double b) { chains<double>(out, steps, a, b); }
"#;

/// The first GPU's ceilings, measured at the first call: a fifth of a second.
pub fn measured(device: &Device) -> Result<Ceilings, CudaError> {
    static MEASURED: Mutex<Option<Ceilings>> = Mutex::new(None);
    let mut measured = MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
    match *measured {
        Some(known) => Ok(known),
        None => Ok(*measured.insert(measure(device)?)),
    }
}

fn measure(device: &Device) -> Result<Ceilings, CudaError> {
    let nvrtc = Nvrtc::get()?;
    let compiled = nvrtc.compile(TEXT, "ceilings.cu", nvrtc.target_for(device.capability()), &["-fmad=true"])?;
    let module = device.load(&compiled.image)?;

    // Half of the free memory, if that is less.
    let (free, _) = device.memory()?;
    let bytes = COPIED_BYTES.min(usize::try_from(free / 4).unwrap_or(COPIED_BYTES)) / 16 * 16;
    let (to, from) = (device.alloc(bytes)?, device.alloc(bytes)?);
    device.fill(&from, 1)?;
    let vectors = i64::try_from(bytes / 16).unwrap_or(i64::MAX);
    let blocks = u32::try_from(vectors.div_euclid(4 * i64::from(THREADS)) + 1).unwrap_or(1);
    let shape = LaunchShape { grid: [blocks, 1, 1], block: [THREADS, 1, 1], shared_bytes: 0, blocks: Blocks::Apart };
    let copy = device.kernel(&module, "copy")?;
    // SAFETY: the kernel's parameters; it copies as many vectors as both buffers have.
    let best = fastest(device, || unsafe {
        device.launch(&copy, shape, &[Argument::Buffer(&to), Argument::Buffer(&from), vectors.into()])
    })?;
    let copy = rate(2.0 * bytes as f64, best);

    let blocks = 8 * device.properties().multiprocessors.unsigned_abs().max(1);
    let shape = LaunchShape { grid: [blocks, 1, 1], block: [THREADS, 1, 1], shared_bytes: 0, blocks: Blocks::Apart };
    let operations = 2.0 * 8.0 * STEPS as f64 * f64::from(blocks) * f64::from(THREADS);
    let single = device.kernel(&module, "fma32")?;
    // SAFETY: the kernel's parameters; the buffer has room for the one value.
    let float32 = fastest(device, || unsafe {
        device.launch(&single, shape, &[Argument::Buffer(&to), STEPS.into(), 0.999f32.into(), 0.001f32.into()])
    })?;
    let double = device.kernel(&module, "fma64")?;
    // SAFETY: as above.
    let float64 = fastest(device, || unsafe {
        device.launch(&double, shape, &[Argument::Buffer(&to), STEPS.into(), 0.999f64.into(), 0.001f64.into()])
    })?;
    Ok(Ceilings { copy, float32: rate(operations, float32), float64: rate(operations, float64) })
}

/// The shortest of several runs, after some that are not counted.
fn fastest(device: &Device, launch: impl Fn() -> Result<(), CudaError>) -> Result<Duration, CudaError> {
    let begin = Instant::now();
    while begin.elapsed() < WARM_UP {
        launch()?;
        device.synchronize()?;
    }
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let start = device.mark()?;
        launch()?;
        let end = device.mark()?;
        best = best.min(device.between(&start, &end)?);
    }
    Ok(best)
}

fn rate(amount: f64, time: Duration) -> f64 {
    amount / time.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::Target;

    #[test]
    fn the_kernels_that_find_the_ceilings_compile_to_fused_operations() {
        let Ok(nvrtc) = Nvrtc::get() else { return println!("skipped: no NVRTC (TESSELLA_NVRTC)") };
        let compiled = nvrtc.compile(TEXT, "ceilings.cu", Target::Ptx(90), &["-fmad=true"]).unwrap();
        let ptx = String::from_utf8_lossy(&compiled.image);
        assert!(ptx.contains("fma.rn.f32") && ptx.contains("fma.rn.f64") && ptx.contains("ld.global.v4"), "{ptx}");
        assert_eq!(compiled.log.trim(), "");
    }

    #[test]
    fn a_gpus_ceilings_are_of_a_likely_size() {
        let device = match Device::open(0) {
            Ok(device) => device,
            Err(error) => return println!("skipped: {error}"),
        };
        let Ok(_) = Nvrtc::get() else { return println!("skipped: no NVRTC (TESSELLA_NVRTC)") };
        let ceilings = measured(&device).unwrap();
        assert!(ceilings.copy > 1e10 && ceilings.copy < 1e14, "{ceilings:?}");
        assert!(ceilings.float32 > 1e11 && ceilings.float64 > 1e9, "{ceilings:?}");
        assert!(ceilings.float64 < 1.2 * ceilings.float32, "{ceilings:?}");
    }
}
