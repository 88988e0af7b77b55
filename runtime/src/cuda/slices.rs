//! Runs a program in slices where the memory of the GPU does not hold all its arrays.
//!
//! There are two programs: the whole, and one that takes the first and the last iteration of a slice as two more arguments.
//! Slices run one after the other. A buffer has only the part of an array that its slice needs, and kernels get the
//! address at which the whole array would begin.

use super::arguments::{Arguments, Packed};
use super::execute::{ALIGNMENT, CudaProgram, Window, malformed};
use super::gpu::Gpu;
use crate::error::RuntimeError;
use std::collections::BTreeMap;
use std::env;
use tessella_codegen::LaunchPlan;
use tessella_codegen::entry::{EntryParameter, STATUS_OK};
use tessella_codegen::int_expr::Environment;
use tessella_codegen::plan::{DeviceMemory, HostSide, Step};
use tessella_polyhedral::layers::BufferId;
use tessella_polyhedral::slices::Part;

/// Names a number of bytes: slices count on no more memory of the GPU than that.
pub const MEMORY_VARIABLE: &str = "TESSELLA_GPU_MEMORY";

/// A program that can run in slices.
pub struct SlicedProgram<G: Gpu> {
    whole: CudaProgram<G>,
    slice: CudaProgram<G>,
    parts: Vec<Part>,
}

/// An array of which slices need a part, in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Columns {
    /// The position of its buffer.
    at: usize,
    part: Part,
    /// The last extent.
    count: i64,
    /// Of one column.
    bytes: u64,
    is_overwritten: bool,
}

impl Columns {
    /// The bytes of the columns that iterations from `first` to `last` are away from by these distances.
    fn range(&self, first: i64, last: i64) -> (u64, u64) {
        let from = first.clamp(1, self.count + 1) - 1;
        let to = last.clamp(from, self.count);
        (from as u64 * self.bytes, to as u64 * self.bytes)
    }

    /// The bytes of the buffer of a slice of so many iterations.
    fn room(&self, length: i64) -> u64 {
        let wide = length.saturating_add(self.part.after - self.part.before).min(self.count);
        (wide as u64).saturating_mul(self.bytes).saturating_add(ALIGNMENT)
    }

    fn window(&self, first: i64, last: i64, length: i64) -> Window {
        Window {
            room: self.room(length),
            part: self.range(first + self.part.before, last + self.part.after),
            result: self.part.written.map(|distance| self.range(first + distance, last + distance)),
            is_overwritten: self.is_overwritten,
        }
    }
}

impl<G: Gpu> SlicedProgram<G> {
    /// `slice` is the program with two more arguments, of which each slice needs these parts of arrays.
    pub fn new(whole: CudaProgram<G>, slice: CudaProgram<G>, parts: Vec<Part>) -> SlicedProgram<G> {
        SlicedProgram { whole, slice, parts }
    }

    pub fn whole(&self) -> &CudaProgram<G> {
        &self.whole
    }

    /// Like [`CudaProgram::run`] of the whole; in slices, if all its arrays take more memory than is free.
    ///
    /// # Errors
    /// Also [`RuntimeError::DeviceMemory`] if not even a slice of one iteration fits; nothing was written then.
    ///
    /// # Safety
    /// As for [`CudaProgram::run`]; whole, slice and parts belong together.
    pub unsafe fn run(&self, call: Packed<'_>) -> Result<i32, RuntimeError> {
        let limit = env::var(MEMORY_VARIABLE).ok().and_then(|text| text.trim().parse().ok());
        // SAFETY: promised by the caller.
        unsafe { self.run_within(call, limit) }
    }

    /// Like [`SlicedProgram::run`], with no more than so many bytes.
    ///
    /// # Safety
    /// As for [`SlicedProgram::run`].
    pub(super) unsafe fn run_within(&self, call: Packed<'_>, limit: Option<u64>) -> Result<i32, RuntimeError> {
        let plan = self.whole.plan();
        // SAFETY: promised by the caller.
        let arguments = unsafe { Arguments::read(plan, self.whole.parameters(), call) }?;
        match arguments.check(plan)? {
            STATUS_OK => {}
            status => return Ok(status),
        }
        // SAFETY: promised by the caller.
        if unsafe { arguments.answer_sizes(plan) }? {
            return Ok(STATUS_OK);
        }
        let needed = self.whole.needed(&arguments, &self.whole.sizes(&arguments.environment)?);
        let had = |free: u64| (free - free / 16).min(limit.unwrap_or(u64::MAX));
        // The driver gives memory away in large pieces, so not all of it is counted on.
        let (free, _) = self.whole.gpu().memory()?;
        if needed <= had(free.saturating_add(self.whole.gpu().pools().bytes() as u64)) {
            // A call that fails on the way may have written results: there is no second attempt.
            // SAFETY: promised by the caller.
            return unsafe { self.whole.run(call) };
        }
        self.whole.release();
        self.slice.release();
        let (free, total) = self.whole.gpu().memory()?;
        let (columns, iterations) = self.columns(&arguments)?;
        let others = |first: i64, last: i64| self.others(&arguments, &columns, first, last);
        match cuts(&columns, iterations, others, had(free))? {
            // SAFETY: promised by the caller.
            Cuts::Fit(cuts) => unsafe { self.run_cuts(call, &columns, &cuts) },
            Cuts::TooLarge { least } => Err(RuntimeError::SliceMemory { needed, least, free: had(free), total }),
        }
    }

    /// The values of the slice's parameters.
    fn environment(&self, arguments: &Arguments, first: i64, last: i64) -> Environment {
        let params = arguments.environment.params.iter().copied();
        Environment::new(params.chain([first, last]).collect())
    }

    /// The arrays that are cut: none that are in the GPU's memory already, or in its constant memory. And the first and the last iteration
    /// for which one of all of them may have an element.
    fn columns(&self, arguments: &Arguments) -> Result<(Vec<Columns>, (i64, i64)), RuntimeError> {
        let plan = self.slice.plan();
        // Those of the caller's arrays do not depend on the slice.
        let environment = self.environment(arguments, 1, 1);
        let sizes = self.slice.sizes(&environment)?;
        let (mut all, mut iterations) = (vec![], None);
        for &part in &self.parts {
            let is_its =
                |host: HostSide| matches!(host, HostSide::Argument(id) | HostSide::Result(id) if id == part.array);
            let Some(at) = plan.buffers.iter().position(|it| is_its(it.host)) else { continue };
            let count = plan.buffers[at].extents.last().and_then(|extent| extent.evaluate(&environment));
            let count = count.ok_or_else(|| malformed(format!("`{}` has no last extent", plan.buffers[at].name)))?;
            let (before, after) = part.accessed;
            let (first, last) = iterations.unwrap_or((1 - after, count - before));
            iterations = Some((first.min(1 - after), last.max(count - before)));
            let is_constant = plan.buffers[at].memory == DeviceMemory::Constant;
            if is_constant || self.slice.resident(arguments, at).is_some() {
                continue;
            }
            let is_overwritten = part.written.is_some() && !is_left(self.whole.plan(), part);
            let bytes = sizes[at].checked_div(count.max(0) as u64).unwrap_or(0);
            all.push(Columns { at, part, count: count.max(0), bytes, is_overwritten });
        }
        Ok((all, iterations.unwrap_or((1, 0))))
    }

    /// The bytes of the buffers that are not cut, for a slice.
    fn others(&self, arguments: &Arguments, columns: &[Columns], first: i64, last: i64) -> Result<u64, RuntimeError> {
        let mut sizes = self.slice.sizes(&self.environment(arguments, first, last))?;
        columns.iter().for_each(|it| sizes[it.at] = 0);
        Ok(self.slice.needed(arguments, &sizes))
    }

    /// # Safety
    /// As for [`SlicedProgram::run`].
    unsafe fn run_cuts(&self, call: Packed<'_>, columns: &[Columns], cuts: &[(i64, i64)]) -> Result<i32, RuntimeError> {
        let plan = self.slice.plan();
        let is_place = |it: &EntryParameter| {
            matches!(it, EntryParameter::Result(_) | EntryParameter::Made(_) | EntryParameter::Sizes)
        };
        // The two more arguments stand after all others, and before places for results.
        let behind = plan.entry.parameters.iter().position(is_place).unwrap_or(plan.entry.parameters.len());
        let before = behind.checked_sub(2).filter(|&at| at <= call.arguments.len());
        let before = before.ok_or_else(|| malformed("a slice takes no more arguments than the whole".to_owned()))?;
        let mut on_device = call.on_device.to_vec();
        on_device.resize(call.arguments.len(), false);
        on_device.splice(before..before, [false, false]);
        let longest = cuts.iter().map(|(first, last)| last - first + 1).max().unwrap_or(0);

        let mut slices = vec![];
        for &(first, last) in cuts {
            let mut bounds = [first, last];
            let mut pointers = call.arguments.to_vec();
            pointers.splice(before..before, bounds.iter_mut().map(|bound| (&raw mut *bound).cast()));
            let call = Packed { arguments: &pointers, on_device: &on_device };
            // SAFETY: promised by the caller; the two more arguments are `Int64`.
            let arguments = unsafe { Arguments::read(plan, self.slice.parameters(), call) }?;
            match arguments.check(plan)? {
                STATUS_OK => slices.push((arguments, first, last)),
                // Nothing has run yet.
                status => return Ok(status),
            }
        }
        for (arguments, first, last) in slices {
            let windows = columns.iter().map(|it| (it.at, it.window(first, last, longest)));
            let windows: BTreeMap<usize, Window> = windows.collect();
            // SAFETY: promised by the caller; instances of a slice use what its windows hold.
            let status = unsafe { self.slice.run_checked(&arguments, &windows, None) }?;
            debug_assert_eq!(status, STATUS_OK, "programs in slices make no tests on the way");
        }
        Ok(STATUS_OK)
    }
}

/// How a call is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cuts {
    /// First and last iterations of slices, all but the last of one length.
    Fit(Vec<(i64, i64)>),
    /// Slices of one iteration take so many bytes.
    TooLarge { least: u64 },
}

/// As few slices of all iterations as fit into so many bytes; `others` are the bytes of a slice's buffers that are not cut.
fn cuts(
    columns: &[Columns],
    (first, last): (i64, i64),
    others: impl Fn(i64, i64) -> Result<u64, RuntimeError>,
    memory: u64,
) -> Result<Cuts, RuntimeError> {
    let taken = |length: i64| {
        let others = others(first, first + length - 1)?;
        Ok::<u64, RuntimeError>(columns.iter().fold(others, |sum, it| sum.saturating_add(it.room(length))))
    };
    let all = last - first + 1;
    if all <= 0 {
        return Ok(Cuts::Fit(vec![]));
    }
    let least = taken(1)?;
    if least > memory {
        return Ok(Cuts::TooLarge { least });
    }
    let (mut most, mut too_many) = (1, all + 1);
    while too_many - most > 1 {
        let middle = most + (too_many - most) / 2;
        if taken(middle)? <= memory { most = middle } else { too_many = middle }
    }
    let count = (all + most - 1) / most;
    let length = (all + count - 1) / count;
    let cut = |at: i64| (first + at * length, (first + (at + 1) * length - 1).min(last));
    Ok(Cuts::Fit((0..count).map(cut).filter(|(first, last)| first <= last).collect()))
}

/// Whether the plan copies the array of this part to the GPU anywhere, or only a part of the array back.
fn is_left(plan: &LaunchPlan, part: Part) -> bool {
    let its = plan.buffers.iter().filter(|it| match it.host {
        HostSide::Argument(array) | HostSide::Result(array) => array == part.array,
        HostSide::None => false,
    });
    let copies = |step: &Step, id: BufferId| {
        step.any(&|step| matches!(step, Step::CopyIn(buffer) | Step::CopyPart { buffer, .. } if *buffer == id))
    };
    its.clone().any(|it| plan.steps.iter().any(|step| copies(step, it.id)))
}

#[cfg(test)]
#[path = "slices_tests.rs"]
mod tests;
