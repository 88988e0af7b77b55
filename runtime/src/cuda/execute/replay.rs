//! Loops of the host that do nothing but launch, kept as graphs: a launch from a graph takes the host no time, and the GPU
//! less.
//!
//! Making a graph takes longer than launching what is in it. So the first run of a loop launches, the second, with the same
//! arguments in the same places, makes the graph, and those after it use it.

use super::super::gpu::Gpu;
use super::run::Run;
use super::{CudaProgram, malformed};
use crate::error::RuntimeError;
use std::sync::Arc;
use tessella_codegen::LaunchPlan;
use tessella_codegen::int_expr::Environment;
use tessella_codegen::plan::Step;
use tessella_codegen::program::KernelParam;

/// Launches of a loop for which a graph pays, and for which it takes not too much memory.
const WORTH: std::ops::RangeInclusive<usize> = 16..=20_000;
/// Loops that a program remembers.
const KEPT: usize = 8;

/// All that the launches of a loop depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The loop's place in the plan.
    step: usize,
    environment: Environment,
    scalars: Vec<[u8; 8]>,
    addresses: Vec<Option<u64>>,
}

/// What is known of a loop's launches.
#[derive(Debug)]
pub enum Known<Graph> {
    /// They were made once.
    Seen,
    Kept(Arc<Graph>),
    /// The driver makes no graph of them.
    Refused,
}

/// Loops by what they depend on, the one that was used last at the end.
#[derive(Debug)]
pub struct Graphs<Graph>(Vec<(Key, Known<Graph>)>);

impl<Graph> Default for Graphs<Graph> {
    fn default() -> Self {
        Graphs(vec![])
    }
}

impl<Graph> Graphs<Graph> {
    fn take(&mut self, key: &Key) -> Option<Known<Graph>> {
        let at = self.0.iter().position(|(known, _)| known == key)?;
        Some(self.0.remove(at).1)
    }

    fn put(&mut self, key: Key, known: Known<Graph>) {
        self.0.retain(|(other, _)| *other != key);
        if self.0.len() == KEPT {
            self.0.remove(0);
        }
        self.0.push((key, known));
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// What a run does about graphs.
pub struct Replay<G: Gpu> {
    /// Launches so far.
    pub launches: usize,
    /// Launches go there.
    pub recording: Option<G::Graph>,
    /// A loop around the current one may become a graph.
    is_inside: bool,
    /// Graphs that may be running.
    running: Vec<Arc<G::Graph>>,
}

impl<G: Gpu> Default for Replay<G> {
    fn default() -> Self {
        Replay { launches: 0, recording: None, is_inside: false, running: vec![] }
    }
}

impl<G: Gpu> Run<'_, '_, G> {
    /// # Safety
    /// As for [`CudaProgram::run`].
    pub(super) unsafe fn host_loop(&mut self, step: &Step) -> Result<(), RuntimeError> {
        let Some(key) = self.key(step) else {
            // SAFETY: promised by the caller.
            return unsafe { self.iterate(step) };
        };
        let known = self.program.graphs().take(&key);
        let graph = match known {
            Some(Known::Kept(graph)) => Some(graph),
            Some(Known::Seen) => self.record(step).map(Arc::new),
            Some(Known::Refused) => None,
            None => {
                let before = self.replay.launches;
                // SAFETY: promised by the caller.
                unsafe { self.within(step) }?;
                if WORTH.contains(&(self.replay.launches - before)) {
                    self.program.graphs().put(key, Known::Seen);
                }
                return Ok(());
            }
        };
        let known = graph.clone().map_or(Known::Refused, Known::Kept);
        self.program.graphs().put(key, known);
        match graph {
            Some(graph) => {
                self.replay.running.push(graph.clone());
                // SAFETY: as for a launch; `running` keeps the graph.
                Ok(unsafe { self.program.gpu().launch_graph(&graph) }?)
            }
            // SAFETY: promised by the caller.
            None => unsafe { self.within(step) },
        }
    }

    /// What the launches of a loop depend on; `None` where it does not only launch, or something is measured.
    fn key(&self, step: &Step) -> Option<Key> {
        if self.replay.is_inside || self.watcher.is_some() || !self.windows.is_empty() || !step.only_launches() {
            return None;
        }
        let program: &CudaProgram<G> = self.program;
        let params = program.plan().kernels.iter().flat_map(|kernel| &kernel.arguments);
        let scalars = params.filter_map(|param| match param {
            KernelParam::Scalar(scalar) => self.arguments.scalar(*scalar),
            KernelParam::Buffer { .. } | KernelParam::Param(_) | KernelParam::Variable(_) => None,
        });
        let addresses = self.held.iter().map(|held| held.as_ref().map(|held| program.gpu().address(held)));
        Some(Key {
            step: std::ptr::from_ref(step).addr(),
            environment: self.environment.clone(),
            scalars: scalars.collect(),
            addresses: addresses.collect(),
        })
    }

    /// A graph of the launches of a loop, none of which is made; `None` where the driver refuses.
    fn record(&mut self, step: &Step) -> Option<G::Graph> {
        let environment = self.environment.clone();
        self.replay.recording = self.program.gpu().graph().ok();
        let recorded = self.replay.recording.is_some().then(|| {
            // SAFETY: nothing runs while launches are recorded.
            unsafe { self.within(step) }
        });
        self.environment = environment;
        let mut graph = self.replay.recording.take()?;
        recorded?.ok()?;
        self.program.gpu().close(&mut graph).ok()?;
        Some(graph)
    }

    /// Runs a loop that may become a graph; those inside of it then do not.
    ///
    /// # Safety
    /// As for [`CudaProgram::run`].
    unsafe fn within(&mut self, step: &Step) -> Result<(), RuntimeError> {
        self.replay.is_inside = true;
        // SAFETY: promised by the caller.
        let done = unsafe { self.iterate(step) };
        self.replay.is_inside = false;
        done
    }

    /// # Safety
    /// As for [`CudaProgram::run`].
    unsafe fn iterate(&mut self, step: &Step) -> Result<(), RuntimeError> {
        let Step::For { variable, lower, upper, step, going, body } = step else { return Ok(()) };
        let (mut value, last) = (self.value(lower)?, self.value(upper)?);
        if *step <= 0 {
            return Err(malformed(format!("a loop steps by {step}")));
        }
        let (mut done, mut ask) = (0, 0);
        while value <= last {
            if !going.is_empty() && done == ask {
                if !self.goes_on(going)? {
                    break;
                }
                ask = LaunchPlan::asks_next(done);
            }
            done += 1;
            self.environment.set(*variable, value);
            // SAFETY: promised by the caller.
            unsafe { self.steps(body) }?;
            let Some(next) = value.checked_add(*step) else { break };
            value = next;
        }
        Ok(())
    }
}
