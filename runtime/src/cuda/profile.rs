//! Measures a program call by call: kernels with the arguments resident on the device, and copies.

use super::arguments::Packed;
use super::error::CudaError;
use super::execute::CudaProgram;
use super::gpu::Gpu;
use super::watch::{Copies, Launched, Results, Watch, Watcher};
use crate::error::RuntimeError;
use std::time::{Duration, Instant};
use tessella_codegen::entry::STATUS_OK;

/// What a call of a program takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The values of the plan's parameters.
    pub params: Vec<i64>,
    /// The kernels' time without copies, from the first launch to the end of the last one, gaps included; the median.
    pub kernels_time: Duration,
    /// The kernels that were launched, in the plan's order.
    pub kernels: Vec<KernelProfile>,
    pub copied_in: Copies,
    pub copied_out: Copies,
}

/// What one kernel takes in a call.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelProfile {
    /// The position in the plan.
    pub number: usize,
    pub name: String,
    pub launches: u64,
    /// All launches of a call; the median.
    pub time: Duration,
    /// Of the last launch.
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// A thread's registers.
    pub registers: u32,
    /// A block's shared memory in bytes.
    pub shared_bytes: u32,
    /// What a thread keeps in memory because registers do not suffice, or because it is indexed, in bytes.
    pub local_bytes: u32,
    /// Blocks that a multiprocessor holds at once.
    pub blocks: u32,
    /// The share of a multiprocessor's threads that these blocks are.
    pub occupancy: f64,
}

/// Measuring ends early when it has taken this long.
const PATIENCE: Duration = Duration::from_secs(2);
/// Larger than the caches of today's GPUs.
const SCRATCH_BYTES: usize = 256 << 20;

impl<G: Gpu> CudaProgram<G> {
    /// Calls the program several times and measures it. The caller's arrays are as after one call: results are copied
    /// out once, by the last. The status is that of [`CudaProgram::run`]; unless it is 0, nothing was measured.
    ///
    /// # Safety
    /// As for [`CudaProgram::run`].
    pub unsafe fn profile(&self, call: Packed<'_>, repeat: u32) -> Result<Result<Profile, i32>, RuntimeError> {
        let gpu = self.gpu();
        let scratch = match gpu.alloc(SCRATCH_BYTES) {
            Ok(scratch) => Some(scratch),
            // Large arguments are not in the caches anyway.
            Err(CudaError::OutOfMemory { .. }) => None,
            Err(other) => return Err(other.into()),
        };
        let scratch = scratch.as_ref();
        // SAFETY: promised by the caller.
        let params = unsafe { self.params(call) }?;
        // The first call loads what the driver loads late; its copies in are the first touch of new device memory. So it
        // counts only where a call takes so long that this does not matter.
        let start = Instant::now();
        let mut first = Watcher::new(gpu, Watch::Spans, Results::Left, scratch);
        // SAFETY: promised by the caller.
        match unsafe { self.run_watched(call, Some(&mut first)) }? {
            STATUS_OK => {}
            status => return Ok(Err(status)),
        }
        let (mut spans, mut launches) = (vec![first], vec![]);
        if start.elapsed() < PATIENCE {
            // SAFETY: promised by the caller.
            spans = unsafe { self.samples(call, repeat.max(1), Watch::Spans, scratch) }?;
            // SAFETY: promised by the caller.
            launches = unsafe { self.samples(call, repeat.saturating_sub(1), Watch::Launches, scratch) }?;
        }
        let mut last = Watcher::new(gpu, Watch::Launches, Results::CopiedOut, scratch);
        // SAFETY: promised by the caller.
        match unsafe { self.run_watched(call, Some(&mut last)) }? {
            STATUS_OK => {}
            status => return Ok(Err(status)),
        }
        launches.push(last);
        let last = &launches[launches.len() - 1];
        let kernels: Result<Vec<KernelProfile>, RuntimeError> = last
            .kernels
            .iter()
            .map(|(&number, launched)| {
                let times =
                    launches.iter().filter_map(|sample| sample.kernels.get(&number)).map(|it| it.time).collect();
                self.kernel_profile(number, launched, median(times))
            })
            .collect();
        Ok(Ok(Profile {
            params,
            kernels_time: median(spans.iter().map(|sample| sample.spans).collect()),
            kernels: kernels?,
            copied_in: spans.iter().map(|sample| sample.copied_in).min_by_key(|it| it.time).unwrap_or(last.copied_in),
            copied_out: last.copied_out,
        }))
    }

    /// # Safety
    /// As for [`CudaProgram::run`].
    unsafe fn samples<'a>(
        &'a self,
        call: Packed<'_>,
        repeat: u32,
        watch: Watch,
        scratch: Option<&'a G::Buffer>,
    ) -> Result<Vec<Watcher<'a, G>>, RuntimeError> {
        let start = Instant::now();
        let mut samples = vec![];
        for _ in 0..repeat {
            let mut watcher = Watcher::new(self.gpu(), watch, Results::Left, scratch);
            // SAFETY: promised by the caller. The first call has found the arguments good.
            unsafe { self.run_watched(call, Some(&mut watcher)) }?;
            samples.push(watcher);
            if start.elapsed() > PATIENCE {
                break;
            }
        }
        Ok(samples)
    }

    fn kernel_profile(
        &self,
        number: usize,
        launched: &Launched,
        time: Duration,
    ) -> Result<KernelProfile, RuntimeError> {
        let planned = &self.plan().kernels[number];
        let kernel = self.kernel(number);
        let found = self.gpu().kernel_properties(kernel)?;
        let threads = planned.block.iter().product();
        let blocks = self.gpu().occupancy(kernel, threads, planned.dynamic)?;
        let most = self.gpu().properties().max_threads_per_multiprocessor;
        let occupancy = if most > 0 { f64::from(blocks) * f64::from(threads) / f64::from(most) } else { 0.0 };
        Ok(KernelProfile {
            number,
            name: planned.name.clone(),
            launches: launched.launches,
            time,
            grid: launched.grid,
            block: planned.block,
            registers: found.registers.unsigned_abs(),
            shared_bytes: found.shared_bytes.unsigned_abs() + planned.dynamic,
            local_bytes: found.local_bytes.unsigned_abs(),
            blocks,
            occupancy,
        })
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    match times.len() {
        0 => Duration::ZERO,
        odd if odd % 2 == 1 => times[odd / 2],
        even => (times[even / 2 - 1] + times[even / 2]) / 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        let of = |times: &[u64]| median(times.iter().copied().map(Duration::from_micros).collect()).as_micros();
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[5, 1, 9]), 5);
        assert_eq!(of(&[9, 1, 4, 6]), 5);
    }
}
