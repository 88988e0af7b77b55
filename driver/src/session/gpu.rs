//! Kernels on the first GPU behind the interface of programs.

use super::failures::{Failures, remember, remembered};
use super::scans::{DeviceScan, HostScan};
use super::{Failed, refused, tool_chain};
use crate::profile::Measured;
use crate::request::{Backend, Failure, Program};
use crate::slices;
use crate::unit::{Built, Unit};
use std::ffi::c_void;
use std::sync::Arc;
use tessella_cuda_backend::CudaSource;
use tessella_diagnostics::{IntoDiagnostic, SourceMap, Style, render};
use tessella_runtime::cuda::{
    CudaError, CudaProgram, Device, Packed, SlicedProgram, compile_cuda, default_device, measured_ceilings,
};
use tessella_runtime::{Cache, RuntimeError};

/// Kernels on the first GPU.
pub(super) struct GpuProgram {
    kernels: Kernels,
    device: Arc<Device>,
    scan: Option<HostScan>,
    device_scan: Option<DeviceScan>,
    failures: Failures,
}

enum Kernels {
    Whole(Box<CudaProgram<Device>>),
    /// In slices where the GPU's memory is too small.
    Sliced(Box<SlicedProgram<Device>>),
}

impl GpuProgram {
    pub(super) fn load(
        unit: &Unit<'_>,
        built: &Built,
        chunked: bool,
        threads: Option<u32>,
    ) -> Result<GpuProgram, Failed> {
        let slice = if chunked { Some(slices::build(unit, Backend::Cuda).map_err(refused)?) } else { None };
        let device = default_device().map_err(|error| tool_chain(error.into()))?;
        let whole = load_cuda(unit, built, &device)?;
        let kernels = match slice {
            None => Kernels::Whole(Box::new(whole)),
            Some(slice) => {
                let sliced = SlicedProgram::new(whole, load_cuda(unit, &slice.built, &device)?, slice.parts);
                Kernels::Sliced(Box::new(sliced))
            }
        };
        let scan = HostScan::load(unit, built, threads)?;
        let device_scan = scan.as_ref().and_then(|host| DeviceScan::new(unit, built, &device, host.base));
        Ok(GpuProgram { kernels, device, scan, device_scan, failures: Failures::of(unit, built) })
    }

    /// The program for arrays that fit.
    fn whole(&self) -> &CudaProgram<Device> {
        match &self.kernels {
            Kernels::Whole(program) => program,
            Kernels::Sliced(program) => program.whole(),
        }
    }

    /// # Safety
    /// As for [`Program::launch_mixed`].
    unsafe fn run(&self, call: Packed<'_>) -> Result<i32, RuntimeError> {
        match &self.kernels {
            // SAFETY: promised by the caller; image and plan were made from one source.
            Kernels::Whole(program) => unsafe { program.run(call) },
            // SAFETY: as above; the slice and its parts were made from the whole.
            Kernels::Sliced(program) => unsafe { program.run(call) },
        }
    }
}

/// Compiles the kernels of a program and loads them.
fn load_cuda(unit: &Unit<'_>, built: &Built, device: &Arc<Device>) -> Result<CudaProgram<Device>, Failed> {
    let source = built.cuda(unit).map_err(refused)?;
    let cache = Cache::open().map_err(tool_chain)?;
    load_image(&cache, source, device).map_err(tool_chain)
}

pub(super) fn load_image(
    cache: &Cache,
    source: CudaSource,
    device: &Arc<Device>,
) -> Result<CudaProgram<Device>, RuntimeError> {
    let name = format!("{}.cu", source.entry);
    let image = compile_cuda(cache, &source.kernels, &name, device.capability(), &source.flags)?;
    CudaProgram::load(device.clone(), &image, source.plan)
}

/// Arrays with fewer bytes are looked at sooner by the host than by the GPU, whose answer takes some fifty microseconds.
const BRING_FROM: u64 = 1 << 20;

impl GpuProgram {
    /// Makes all checks and runs, if they hold. The GPU looks at arrays of the host, too, that it will read anyway: they are copied before.
    ///
    /// # Safety
    /// As for [`Program::launch_mixed`].
    unsafe fn run_checked(&self, call: Packed<'_>) -> Result<i32, RuntimeError> {
        let Some(scan) = &self.scan else {
            // SAFETY: promised by the caller; the kernels make their own checks.
            return unsafe { self.run(call) };
        };
        // SAFETY: promised by the caller.
        match unsafe { self.whole().check(call) }? {
            0 => {}
            status => return Ok(status),
        }
        if let (Kernels::Whole(program), Some(searches)) = (&self.kernels, &self.device_scan)
            // SAFETY: promised by the caller; the checks of the program hold.
            && let Some(ahead) = unsafe { program.bring(call, &scan.reads, BRING_FROM) }?
        {
            let done = ahead.with(call, |there| {
                // SAFETY: promised by the caller; what was copied is as large as what it is a copy of, and outlives the run.
                match unsafe { searches.run(there) } {
                    Some(0) => unsafe { self.run(there) }.map(Some),
                    other => Ok(other),
                }
            })?;
            ahead.keep();
            if let Some(status) = done {
                return Ok(status);
            }
        }
        // SAFETY: promised by the caller; the checks of the program hold.
        match unsafe { self.look(scan, call) }? {
            // SAFETY: promised by the caller.
            0 => unsafe { self.run(call) },
            status => Ok(status),
        }
    }

    /// The status of all checks at entry.
    ///
    /// # Safety
    /// As for [`Program::launch`].
    unsafe fn check(&self, call: Packed<'_>) -> Result<i32, RuntimeError> {
        // SAFETY: promised by the caller.
        match (unsafe { self.whole().check(call) }?, &self.scan) {
            // SAFETY: promised by the caller; the checks of the program hold.
            (0, Some(scan)) => unsafe { self.look(scan, call) },
            (status, _) => Ok(status),
        }
    }

    /// The status of the searches, of arrays that stay where they are.
    ///
    /// # Safety
    /// As for [`Program::launch`], in a call for which the program's own checks hold.
    unsafe fn look(&self, scan: &HostScan, call: Packed<'_>) -> Result<i32, RuntimeError> {
        let resident = scan.resident(call);
        // Nothing has to be copied to the device, which may have no room for it.
        let all_there = !scan.reads.is_empty() && scan.reads.iter().all(|&position| resident[position]);
        if let Some(searches) = self.device_scan.as_ref().filter(|_| all_there) {
            // SAFETY: promised by the caller.
            if let Some(status) = unsafe { searches.run(call) } {
                return Ok(status);
            }
        }
        // The host looks at copies of what it reads of the device.
        let looked_at = Packed { on_device: &resident, ..call };
        // SAFETY: promised by the caller, of fewer arrays.
        let mut copies = unsafe { self.whole().host_copies(looked_at) }?;
        let mut arguments = call.arguments.to_vec();
        let mut pointers: Vec<*mut u8> = copies.iter_mut().map(|(_, copy)| copy.as_mut_ptr()).collect();
        for ((position, _), pointer) in copies.iter().zip(&mut pointers) {
            arguments[*position] = (&raw mut *pointer).cast();
        }
        // SAFETY: promised by the caller; the program's checks came first, and copies are as large as what they are of.
        Ok(unsafe { scan.run(&arguments) })
    }
}

fn failed_on_gpu(error: RuntimeError) -> i32 {
    let code = error.status();
    remember(render(&SourceMap::default(), &[error.into_diagnostic()], Style::Plain));
    code
}

impl Program for GpuProgram {
    fn entry(&self) -> Option<*const c_void> {
        None
    }

    fn parameter_count(&self) -> usize {
        self.whole().parameters().len()
    }

    unsafe fn launch(&self, arguments: &[*mut c_void]) -> i32 {
        // SAFETY: promised by the caller.
        unsafe { self.launch_mixed(arguments, &[]) }
    }

    unsafe fn launch_mixed(&self, arguments: &[*mut c_void], on_device: &[bool]) -> i32 {
        let call = Packed { arguments, on_device };
        // SAFETY: promised by the caller.
        match unsafe { self.run_checked(call) } {
            Ok(code) => code,
            Err(error) => failed_on_gpu(error),
        }
    }

    unsafe fn profile(&self, arguments: &[*mut c_void], on_device: &[bool], repeat: u32) -> Result<Measured, i32> {
        let call = Packed { arguments, on_device };
        let ceilings = measured_ceilings(&self.device).map_err(|error: CudaError| failed_on_gpu(error.into()))?;
        // SAFETY: promised by the caller.
        match unsafe { self.check(call) } {
            Ok(0) => {}
            Ok(status) => return Err(status),
            Err(error) => return Err(failed_on_gpu(error)),
        }
        // SAFETY: promised by the caller; image and plan were made from one source.
        let profile = unsafe { self.whole().profile(call, repeat) }.map_err(failed_on_gpu)??;
        Ok(Measured { device: self.device.name().to_owned(), ceilings, profile })
    }

    fn failure(&self, code: i32) -> Option<Failure> {
        match code {
            -2 => Some(Failure::OutOfMemory { text: remembered() }),
            -4 | -5 => Some(Failure::Cuda { text: remembered() }),
            _ => self.failures.failure(code),
        }
    }
}
