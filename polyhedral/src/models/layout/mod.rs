//! How far apart rows and planes should lie: padding, so that the reads of a stencil share one place in their vectors, and
//! threads of a warp meet in no memory bank.
//!
//! After each row, plane and so on some elements are left free. Simple padding leaves free the same number everywhere,
//! multi-padding repeats a sequence of numbers: after row `i` that of position `i` modulo the period. Addresses matter only
//! modulo the length of a vector (or the number of banks), so all is a small integer program: [`solve`] tries all paddings
//! where these are few, and gives the program to a MILP solver where they are many; [`measure`] says what a padding gives
//! without any solver.
//!
//! # Source
//! Jaeger, Barthou, *Automatic efficient data layout for multithreaded stencil codes on CPUs and GPUs*, HiPC 2012,
//! section IV. There the first axis of a program is the slowest; here it is the fastest, as in Julia, and an axis is named
//! by the stride that it has.

mod each;
pub mod patterns;
mod program;
pub mod rows;

pub use program::{LayoutError, best_period, by_solver, solve};

/// What is read, and how memory is organised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// `V`: the extents but for the last one, which pads nothing; modulo the unit is enough. Rows lie along the first.
    pub extents: Vec<u64>,
    /// The elements of a vector; 1 where alignment does not matter.
    pub vector: u32,
    /// `d`: where the reads lie around an element, one number for each axis.
    pub reads: Vec<Vec<i64>>,
    /// Memory banks, one element wide; 1 where they do not matter.
    pub banks: u32,
    /// Where threads of one warp access the array at one time, relative to one another.
    pub threads: Vec<Vec<i64>>,
    /// After how many rows (planes, ...) paddings repeat.
    pub period: u32,
}

/// How bad things are; [`solve`] minimises the sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weights {
    /// An unaligned read, in each phase of the paddings.
    pub unaligned: u32,
    /// Two threads in one bank.
    pub conflict: u32,
    /// An element left free, once in each period.
    pub pad: u32,
}

impl Weights {
    /// As equation (5) has it: a read out of place costs as much as an element left free.
    pub const PUBLISHED: Weights = Weights { unaligned: 1, conflict: 1, pad: 1 };

    /// Paddings are worth any gain, and among equal gains the smallest are best.
    pub fn gains_first(layout: &Layout) -> Weights {
        let axes = layout.axes() as u32;
        let worst = axes * layout.period * (layout.modulus() as u32 - 1) + 1;
        Weights { unaligned: worst, conflict: worst, pad: 1 }
    }
}

/// Elements left free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Padding {
    /// For each axis but the last: what is left free after its row (plane, ...) of each position within the period.
    pub pads: Vec<Vec<u64>>,
}

/// What a padding gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// For each phase (a position within the period along each axis but the first, the first of them changing fastest) how
    /// many reads are out of place.
    pub unaligned: Vec<usize>,
    /// Pairs of threads that meet in a bank.
    pub conflicts: usize,
    /// The sum of all pads.
    pub free: u64,
}

impl Layout {
    /// A stencil and vectors alone.
    pub fn aligned(extents: &[u64], vector: u32, reads: &[Vec<i64>], period: u32) -> Layout {
        Layout { extents: extents.to_vec(), vector, reads: reads.to_vec(), banks: 1, threads: vec![], period }
    }

    /// Threads and banks alone.
    pub fn banked(extents: &[u64], banks: u32, threads: &[Vec<i64>]) -> Layout {
        Layout { extents: extents.to_vec(), vector: 1, reads: vec![], banks, threads: threads.to_vec(), period: 1 }
    }

    /// Axes that can be padded.
    pub(super) fn axes(&self) -> usize {
        self.extents.len()
    }

    /// Paddings matter modulo this.
    pub(super) fn modulus(&self) -> u64 {
        let (vector, banks) = (u64::from(self.vector.max(1)), u64::from(self.banks.max(1)));
        vector / gcd(vector, banks) * banks
    }

    /// How many phases there are.
    pub fn phases(&self) -> usize {
        (self.period as usize).pow(self.axes() as u32)
    }

    /// The position within the period along each axis but the first.
    pub(super) fn phase(&self, number: usize) -> Vec<u32> {
        let period = self.period as usize;
        (0..self.axes()).map(|axis| (number / period.pow(axis as u32) % period) as u32).collect()
    }
}

impl Padding {
    pub fn none(layout: &Layout) -> Padding {
        Padding { pads: vec![vec![0; layout.period as usize]; layout.axes()] }
    }

    /// The same number everywhere along each axis.
    pub fn simple(layout: &Layout, pads: &[u64]) -> Padding {
        Padding { pads: pads.iter().map(|&pad| vec![pad; layout.period as usize]).collect() }
    }

    /// How far the row (plane, ...) after each position begins behind it: for each axis but the first, for each position
    /// within the period. Exact, not modulo anything; `last` whole periods of an axis are its extent divided by the period.
    pub fn strides(&self, layout: &Layout) -> Vec<Vec<u64>> {
        let period = layout.period as usize;
        let mut strides: Vec<Vec<u64>> = vec![];
        for (axis, pads) in self.pads.iter().enumerate() {
            let extent = layout.extents[axis];
            let block: u64 = match strides.last() {
                None => extent,
                // Equation (8): each position's stride as often as it comes up among the rows.
                Some(rows) => {
                    let (whole, rest) = (extent / period as u64, extent % period as u64);
                    rows.iter().sum::<u64>() * whole + rows[..rest as usize].iter().sum::<u64>()
                }
            };
            strides.push(pads.iter().map(|pad| block + pad).collect());
        }
        strides
    }

    /// `weights` times what the padding gives.
    pub fn cost(&self, layout: &Layout, weights: Weights) -> u64 {
        let found = measure(layout, self);
        u64::from(weights.unaligned) * found.unaligned.iter().sum::<usize>() as u64
            + u64::from(weights.conflict) * found.conflicts as u64
            + u64::from(weights.pad) * found.free
    }
}

/// What a padding gives, by looking at each phase and each pair of threads.
pub fn measure(layout: &Layout, padding: &Padding) -> Measure {
    let strides = padding.strides(layout);
    let vector = i64::from(layout.vector.max(1));
    let unaligned = (0..layout.phases()).map(|number| {
        let phase = layout.phase(number);
        let mut at_place = vec![0; vector as usize];
        for read in &layout.reads {
            at_place[distance(&strides, &phase, read).rem_euclid(vector) as usize] += 1;
        }
        layout.reads.len() - at_place.into_iter().max().unwrap_or(0)
    });
    let banks = i64::from(layout.banks.max(1));
    let start = vec![0; layout.axes()];
    let at: Vec<i64> = layout.threads.iter().map(|thread| distance(&strides, &start, thread)).collect();
    let meet = |a: i64, b: i64| banks > 1 && a != b && (a - b).rem_euclid(banks) == 0;
    let pairs = at.iter().enumerate().flat_map(|(first, &a)| at[first + 1..].iter().map(move |&b| (a, b)));
    Measure {
        unaligned: unaligned.collect(),
        conflicts: pairs.filter(|&(a, b)| meet(a, b)).count(),
        free: padding.pads.iter().flatten().sum(),
    }
}

/// How far in memory an element lies from one at the phase.
fn distance(strides: &[Vec<u64>], phase: &[u32], to: &[i64]) -> i64 {
    let mut sum = to.first().copied().unwrap_or(0);
    for (axis, rows) in strides.iter().enumerate() {
        for (row, sign) in rows_between(phase[axis], to[axis + 1], rows.len()) {
            sum += sign * rows[row] as i64;
        }
    }
    sum
}

/// The rows that lie between one at a position within the period and another: their positions, and the direction.
fn rows_between(from: u32, steps: i64, period: usize) -> impl Iterator<Item = (usize, i64)> {
    let sign = steps.signum();
    (0..steps.abs()).map(move |step| {
        let row = if sign > 0 { i64::from(from) + step } else { i64::from(from) - 1 - step };
        (row.rem_euclid(period as i64) as usize, sign)
    })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
