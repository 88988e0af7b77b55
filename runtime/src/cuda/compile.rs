//! Kernels from text to an image that a GPU loads, through the cache.

use super::device::Device;
use super::error::CudaError;
use super::nvrtc::Nvrtc;
use crate::cache::{Cache, Key};
use crate::error::RuntimeError;
use std::sync::{Arc, OnceLock};

const IMAGE_FILE: &str = "image";

/// Compiles kernels for a GPU of this compute capability (10 * major + minor), or finds them in the cache. `name`
/// stands for the text's file in messages, `options` are what the text needs (`-fmad=false`). The result is what [`Gpu::load`](super::Gpu::load) takes.
pub fn compile_cuda(
    cache: &Cache,
    text: &str,
    name: &str,
    capability: u32,
    options: &[&str],
) -> Result<Vec<u8>, RuntimeError> {
    let nvrtc = Nvrtc::get()?;
    let target = nvrtc.target_for(capability);
    let (major, minor) = nvrtc.version();
    let key = Key::of(&[
        ("cuda text", text.as_bytes()),
        ("name", name.as_bytes()),
        ("target", format!("{target:?}").as_bytes()),
        ("options", options.join(" ").as_bytes()),
        ("nvrtc", format!("{major}.{minor}").as_bytes()),
    ]);
    let image = cache.find_or_make(&key, IMAGE_FILE, |folder| {
        let compiled = nvrtc.compile(text, name, target, options)?;
        let write = |file: &str, content: &[u8]| {
            let path = folder.join(file);
            std::fs::write(&path, content).map_err(|error| RuntimeError::File {
                action: "write",
                path,
                reason: error.to_string(),
            })
        };
        write("kernels.cu", text.as_bytes())?;
        write(IMAGE_FILE, &compiled.image)
    })?;
    Ok(image.content)
}

/// The first GPU, opened once for the whole process; a failure is tried again at the next call.
pub fn default_device() -> Result<Arc<Device>, CudaError> {
    static OPENED: OnceLock<Arc<Device>> = OnceLock::new();
    if let Some(device) = OPENED.get() {
        return Ok(device.clone());
    }
    let device = Arc::new(Device::open(0)?);
    Ok(OPENED.get_or_init(|| device).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_cached_by_text_and_options() {
        if Nvrtc::get().is_err() {
            println!("skipped: no NVRTC (TESSELLA_NVRTC)");
            return;
        }
        let folder = std::env::temp_dir().join(format!("tessella-test-cuda-{}", std::process::id()));
        let cache = Cache::at(&folder).unwrap();
        let text = "extern \"C\" __global__ void f(double *x, double a) { x[threadIdx.x] = a * x[threadIdx.x] + a; }";
        let strict = compile_cuda(&cache, text, "f.cu", 90, &["-fmad=false"]).unwrap();
        assert_eq!(compile_cuda(&cache, text, "f.cu", 90, &["-fmad=false"]).unwrap(), strict);
        assert_ne!(compile_cuda(&cache, text, "f.cu", 90, &["-fmad=true"]).unwrap(), strict);
        let error = compile_cuda(&cache, "__global__ void f() { oops; }", "g.cu", 90, &["-fmad=false"]).unwrap_err();
        assert!(matches!(&error, RuntimeError::Cuda(CudaError::Nvrtc { log, .. }) if log.contains("oops")), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
