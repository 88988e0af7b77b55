//! Watching a call: how long its kernels and its copies take.

use super::error::CudaError;
use super::gpu::Gpu;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What is measured of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// From the first to the last of launches without a copy between them, gaps included.
    Spans,
    /// Each launch on its own.
    Launches,
}

/// What becomes of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Results {
    /// They stay on the device: the next call finds the arguments as this one did.
    Left,
    CopiedOut,
}

/// Bytes that were copied one way, how often, and how long it took on the host's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copies {
    pub count: u64,
    pub bytes: u64,
    pub time: Duration,
}

/// What the launches of a kernel, or those of a span, took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Launched {
    pub launches: u64,
    pub time: Duration,
    /// Of the last launch.
    pub grid: [u32; 3],
}

/// Collects the measurements of one call.
pub struct Watcher<'a, G: Gpu> {
    gpu: &'a G,
    watch: Watch,
    pub results: Results,
    /// Written and read before a span, so that the GPU is at work while the launches are queued, and the caches hold nothing of
    /// the arguments.
    scratch: Option<&'a G::Buffer>,
    open: Option<G::Event>,
    /// Moments that have not been asked for their time; of a launch, with its kernel.
    pending: Vec<(Option<usize>, G::Event, G::Event)>,
    /// The time of all spans.
    pub spans: Duration,
    /// By the kernel's position in the plan.
    pub kernels: BTreeMap<usize, Launched>,
    pub copied_in: Copies,
    pub copied_out: Copies,
}

/// More moments than this are not kept waiting.
const MOST_PENDING: usize = 2048;

impl<'a, G: Gpu> Watcher<'a, G> {
    pub fn new(gpu: &'a G, watch: Watch, results: Results, scratch: Option<&'a G::Buffer>) -> Self {
        Watcher {
            gpu,
            watch,
            results,
            scratch,
            open: None,
            pending: vec![],
            spans: Duration::ZERO,
            kernels: BTreeMap::new(),
            copied_in: Copies::default(),
            copied_out: Copies::default(),
        }
    }

    /// Comes before each launch.
    pub fn begin(&mut self) -> Result<(), CudaError> {
        if self.open.is_none() {
            if let (Some(scratch), true) = (self.scratch, self.watch == Watch::Spans || self.pending.is_empty()) {
                self.gpu.clear_caches(scratch)?;
            }
            self.open = Some(self.gpu.mark()?);
        }
        Ok(())
    }

    /// Comes after each launch.
    pub fn launched(&mut self, kernel: usize, grid: [u32; 3]) -> Result<(), CudaError> {
        let entry = self.kernels.entry(kernel).or_default();
        entry.launches += 1;
        entry.grid = grid;
        match self.watch {
            Watch::Spans => Ok(()),
            Watch::Launches => self.close(Some(kernel)),
        }
    }

    /// Comes before each copy, and last.
    pub fn end(&mut self) -> Result<(), CudaError> {
        self.close(None)?;
        self.settle()
    }

    /// Measures a copy, which waits until it is done.
    pub fn copied(
        into: &mut Copies,
        bytes: usize,
        copy: impl FnOnce() -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        let start = Instant::now();
        copy()?;
        *into = Copies { count: into.count + 1, bytes: into.bytes + bytes as u64, time: into.time + start.elapsed() };
        Ok(())
    }

    fn close(&mut self, kernel: Option<usize>) -> Result<(), CudaError> {
        let Some(start) = self.open.take() else { return Ok(()) };
        self.pending.push((kernel, start, self.gpu.mark()?));
        if self.pending.len() >= MOST_PENDING { self.settle() } else { Ok(()) }
    }

    fn settle(&mut self) -> Result<(), CudaError> {
        for (kernel, start, end) in self.pending.drain(..) {
            let time = self.gpu.between(&start, &end)?;
            match kernel {
                Some(kernel) => self.kernels.entry(kernel).or_default().time += time,
                None => self.spans += time,
            }
        }
        Ok(())
    }
}
