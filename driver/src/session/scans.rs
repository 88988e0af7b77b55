//! What looks at computed subscripts when a call of a GPU's program begins: on the host, or on the GPU where the arrays are there.

use super::compiled::load_c;
use super::gpu::load_image;
use super::{Failed, refused};
use crate::searches;
use crate::unit::{Built, Unit};
use std::ffi::c_void;
use std::sync::{Arc, OnceLock};
use tessella_codegen::entry::EntryParameter;
use tessella_cuda_backend::CudaSource;
use tessella_diagnostics::IntoDiagnostic;
use tessella_polyhedral::algorithm::{ArrayId, Scan};
use tessella_runtime::cuda::{CudaProgram, Device, Packed};
use tessella_runtime::{Cache, LoadedFunction};

/// What looks at computed subscripts on the host, where the arguments are when the call begins.
pub(super) struct HostScan {
    loaded: LoadedFunction,
    /// The status is this and what the scan found.
    pub(super) base: i32,
    /// The positions of the arrays that it reads.
    pub(super) reads: Vec<usize>,
}

impl HostScan {
    pub(super) fn load(unit: &Unit<'_>, built: &Built, threads: Option<u32>) -> Result<Option<HostScan>, Failed> {
        let verified = &built.analysed.verified;
        let Some(scan) = verified.scan() else { return Ok(None) };
        let source = built.c_of_scan(unit, scan, threads).map_err(refused)?;
        let base = verified.checks().len() + verified.algorithm().requirements.len();
        let base = i32::try_from(base).unwrap_or(i32::MAX / 2);
        let entry = tessella_codegen::entry::entry(&tessella_codegen::Input::from(scan));
        let entry = entry.map_err(|error| refused(vec![error.into_diagnostic()]))?;
        let computations = &scan.algorithm().computations;
        let is_read = |array: ArrayId| computations.iter().flat_map(|it| &it.reads).any(|read| read.array == array);
        let reads = entry.parameters.iter().enumerate().filter_map(|(position, parameter)| match parameter {
            EntryParameter::Pointer(array) if is_read(*array) => Some(position),
            _ => None,
        });
        Ok(Some(HostScan { loaded: load_c(scan, &source)?, base, reads: reads.collect() }))
    }

    /// Of the arrays that it reads, those that are on the GPU in a call, by the positions of all parameters.
    pub(super) fn resident(&self, call: Packed<'_>) -> Vec<bool> {
        let on_device = |position: usize| call.on_device.get(position) == Some(&true);
        (0..call.arguments.len()).map(|position| self.reads.contains(&position) && on_device(position)).collect()
    }

    /// The status: 0 where all is inside.
    ///
    /// # Safety
    /// As for [`Program::launch`] of the program that this belongs to, which takes `arguments`.
    pub(super) unsafe fn run(&self, arguments: &[*mut c_void]) -> i32 {
        let mut found = 0_i32;
        let mut place: *mut i32 = &mut found;
        // Its last parameter is its result; the program's own result, if it has one, is not passed on.
        let count = self.loaded.parameters().len() - 1;
        let mut passed: Vec<*mut c_void> = arguments.iter().copied().take(count).collect();
        passed.push((&raw mut place).cast());
        // SAFETY: promised by the caller; the scan has the program's parameters, and then a pointer.
        match unsafe { self.loaded.call_packed(&passed) } {
            0 if found == 0 => 0,
            0 => self.base + found,
            refused => refused,
        }
    }
}

/// What looks at computed subscripts on the GPU, if all arrays that it reads are there when the call begins.
pub(super) struct DeviceScan {
    /// How many searches there are.
    searches: usize,
    source: CudaSource,
    device: Arc<Device>,
    /// Loaded when it is first needed; `None` if that fails.
    loaded: OnceLock<Option<CudaProgram<Device>>>,
    /// The status is this and the position of the search.
    base: i32,
}

impl DeviceScan {
    pub(super) fn new(unit: &Unit<'_>, built: &Built, device: &Arc<Device>, base: i32) -> Option<DeviceScan> {
        let searches = built.analysed.verified.algorithm().scan.as_deref()?.checks.len();
        let source = searches::build(unit, built)?.cuda(unit).ok()?;
        Some(DeviceScan { searches, source, device: device.clone(), loaded: OnceLock::new(), base })
    }

    fn program(&self) -> Option<&CudaProgram<Device>> {
        let load = || {
            let cache = Cache::open().ok()?;
            load_image(&cache, self.source.clone(), &self.device).ok()
        };
        self.loaded.get_or_init(load).as_ref()
    }

    /// The status: 0 where all is inside; `None` if the GPU cannot tell.
    ///
    /// # Safety
    /// As for [`Program::launch_mixed`] of the program that this belongs to, which takes the arguments of `call`.
    pub(super) unsafe fn run(&self, call: Packed<'_>) -> Option<i32> {
        let program = self.program()?;
        let (mut mark, mut elements) = (0_i32, 1_i64);
        let mut place: *mut i32 = &mut mark;
        // Its last parameters are the array for the mark, and how long that is; results of the program itself are not passed on.
        let count = program.parameters().len().checked_sub(2)?;
        let mut arguments: Vec<*mut c_void> = call.arguments.iter().copied().take(count).collect();
        arguments.extend([(&raw mut place).cast::<c_void>(), (&raw mut elements).cast()]);
        let on_device: Vec<bool> = call.on_device.iter().copied().take(count).collect();
        // SAFETY: promised by the caller; the searches have the program's parameters, and then an array of one element.
        let status = unsafe { program.run(Packed { arguments: &arguments, on_device: &on_device }) };
        match (status, Scan::found(self.searches, mark)) {
            (Ok(0), 0) => Some(0),
            (Ok(0), found) => Some(self.base + found),
            // The host looks; what a call needs is asked of the program itself.
            (Ok(_) | Err(_), _) => None,
        }
    }
}
