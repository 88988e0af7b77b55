//! Copies of large arrays between the device and memory that the host may move: through pinned memory, by several threads.
//!
//! The driver copies such arrays in parts through pinned memory of its own, one thread copying while the device waits. Here
//! each thread has two pinned buffers: while the device moves one, the thread fills or empties the other.

use super::error::CudaError;
use super::gpu::Apart;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Bytes of a pinned buffer: enough that a transfer takes longer than starting it, few enough to stay in a core's cache.
pub const CHUNK: usize = 1 << 21;
/// From so many bytes on, starting threads costs little beside the copy.
pub const WORTH: usize = 8 << 20;
/// Threads that copy: more do not make the bus any faster.
const MOST_LANES: usize = 8;

/// Pinned memory of [`CHUNK`] bytes, and the transfer that it is used by.
pub trait Pinned: Send {
    fn bytes(&mut self) -> &mut [u8];

    /// Begins to copy the first bytes to an address of the device, when all that was asked for before is done.
    fn begin_in(&mut self, to: u64, bytes: usize) -> Result<(), CudaError>;

    /// Begins to copy from an address of the device to the first bytes.
    fn begin_out(&mut self, from: u64, bytes: usize) -> Result<(), CudaError>;

    /// Waits for the transfer that began last, if any.
    fn wait(&mut self) -> Result<(), CudaError>;
}

/// What a thread copies through.
pub type Lane<P> = [P; 2];

/// How many threads copy on a machine with so many cores: half of them, for both memories are busy then. With one, nothing
/// is gained.
pub fn lanes(cores: usize) -> usize {
    match cores / 2 {
        0 | 1 => 0,
        half => half.min(MOST_LANES),
    }
}

/// Copies to the device, and waits until all of it is there.
///
/// # Errors
/// The driver's; nothing is on its way then either.
pub fn copy_in<P: Pinned>(lanes: &mut [Lane<P>], to: u64, from: &[u8]) -> Result<(), CudaError> {
    let next = AtomicUsize::new(0);
    let fill = |lane: &mut Lane<P>| {
        for turn in 0.. {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            let Some(rest) = from.get(start..).filter(|rest| !rest.is_empty()) else { break };
            let part = &rest[..rest.len().min(CHUNK)];
            let buffer = &mut lane[turn % 2];
            buffer.wait()?;
            buffer.bytes()[..part.len()].copy_from_slice(part);
            buffer.begin_in(to + start as u64, part.len())?;
        }
        Ok(())
    };
    on_all(lanes, &fill)
}

/// Copies from the device, and waits until all of it is there.
///
/// # Errors
/// The driver's; nothing is on its way then either.
pub fn copy_out<P: Pinned>(lanes: &mut [Lane<P>], to: &mut [u8], from: u64) -> Result<(), CudaError> {
    copy_rows_out(lanes, to, from, &Rows { size: [to.len(), 1, 1], apart: Apart { row: to.len(), plane: 1 } })
}

/// Rows of bytes that lie apart alike on the host and on the device. Nothing else of the host's memory is written.
pub struct Rows {
    /// Bytes of a row, rows of a plane, planes.
    pub size: [usize; 3],
    pub apart: Apart,
}

impl Rows {
    /// From the first byte to the last.
    pub fn span(&self) -> usize {
        self.apart.span(self.size)
    }

    /// Whether at least half of what lies between the first byte and the last is in rows: then moving all of it through pinned memory takes
    /// no longer than moving rows one by one.
    pub fn are_dense(&self) -> bool {
        self.span() / 2 <= self.size.iter().product()
    }

    /// The bytes of rows among these, counted from the first one.
    fn among(&self, bytes: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let (Rows { size: [length, rows, planes], apart }, first) = (self, bytes.start / self.apart.row.max(1));
        (first..)
            .take_while(move |at| at * apart.row < bytes.end && at / apart.plane < *planes)
            .filter(move |at| at % apart.plane < *rows)
            .map(move |at| (at * apart.row).max(bytes.start)..(at * apart.row + length).min(bytes.end))
            .filter(|row| !row.is_empty())
    }
}

/// The same of rows.
///
/// # Errors
/// The driver's; nothing is on its way then either.
pub fn copy_rows_out<P: Pinned>(lanes: &mut [Lane<P>], to: &mut [u8], from: u64, rows: &Rows) -> Result<(), CudaError> {
    let parts = Mutex::new(to[..rows.span()].chunks_mut(CHUNK).enumerate());
    let empty = |lane: &mut Lane<P>| {
        let mut pending: [Option<(usize, &mut [u8])>; 2] = [None, None];
        for turn in 0.. {
            let (buffer, here) = (&mut lane[turn % 2], &mut pending[turn % 2]);
            arrive(buffer, here, rows)?;
            let part = locked(&parts).next();
            let Some((number, part)) = part else { break };
            buffer.begin_out(from + (number * CHUNK) as u64, part.len())?;
            *here = Some((number * CHUNK, part));
        }
        lane.iter_mut().zip(&mut pending).try_for_each(|(buffer, here)| arrive(buffer, here, rows))
    };
    on_all(lanes, &empty)
}

/// Waits for what was asked for a part of the host's memory, and puts rows there.
fn arrive<P: Pinned>(buffer: &mut P, part: &mut Option<(usize, &mut [u8])>, rows: &Rows) -> Result<(), CudaError> {
    let Some((start, part)) = part.take() else { return Ok(()) };
    buffer.wait()?;
    for row in rows.among(start..start + part.len()) {
        let row = row.start - start..row.end - start;
        part[row.clone()].copy_from_slice(&buffer.bytes()[row]);
    }
    Ok(())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the work on all lanes at once, then waits for what is still on its way.
fn on_all<P: Pinned>(
    lanes: &mut [Lane<P>],
    work: &(impl Fn(&mut Lane<P>) -> Result<(), CudaError> + Sync),
) -> Result<(), CudaError> {
    let settled = |lane: &mut Lane<P>| {
        let done = work(lane);
        lane.iter_mut().fold(done, |done, buffer| done.and(buffer.wait()))
    };
    let Some((own, others)) = lanes.split_first_mut() else { return Ok(()) };
    thread::scope(|scope| {
        let others: Vec<_> = others.iter_mut().map(|lane| scope.spawn(|| settled(lane))).collect();
        let own = settled(own);
        others.into_iter().fold(own, |done, other| {
            let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            done.and(other)
        })
    })
}

#[cfg(test)]
#[path = "staging_tests.rs"]
mod tests;
