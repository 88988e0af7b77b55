//! How large tiles should be, and of what kind: useful results for each transferred element, as far as memory allows.
//!
//! [`closed`] has the formulas for stencils over two space dimensions that read their four neighbours; [`count`] counts
//! the same quantities for a tile of any program, point by point; [`fit`] tells them for all sizes, and [`rank`] chooses
//! among tilings of a program by such counts.
//!
//! # Source
//! Barigou, *Acceleration of real-life stencil codes on GPUs*, 2011, section 4.3.

mod band;
pub mod closed;
pub mod count;
mod counter;
pub mod fit;
pub mod hexagons;
pub mod inside;
mod polynomial;
pub mod rank;
mod recount;
pub mod rows;
pub mod scheduled;
mod shape;
mod slant;
mod thin;
mod uniform;

use std::ops::RangeInclusive;

/// How a tile goes through time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Approach {
    /// One time step a tile, space cut into boxes.
    Plain,
    /// Several time steps a tile, space skewed against time so that tiles wait for one another.
    Skewed,
    /// Several time steps a tile; each tile computes for itself what it needs of its neighbours' work.
    Redundant,
}

impl Approach {
    pub const ALL: [Approach; 3] = [Approach::Plain, Approach::Skewed, Approach::Redundant];

    pub fn name(self) -> &'static str {
        match self {
            Approach::Plain => "plain",
            Approach::Skewed => "skewed",
            Approach::Redundant => "redundant",
        }
    }
}

/// What a tile costs, in elements, and what it gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// What must be held at once.
    pub memory: u64,
    /// What comes from outside.
    pub loads: u64,
    /// What others, or the caller, need.
    pub stores: u64,
    /// Results that no other tile computes.
    pub useful: u64,
}

impl Cost {
    pub fn transfers(&self) -> u64 {
        self.loads.saturating_add(self.stores)
    }

    /// Useful results for each transferred element.
    pub fn ratio(&self) -> f64 {
        self.useful as f64 / self.transfers() as f64
    }

    /// Whether the ratio is larger, exactly; of equal ones whether more is computed.
    pub fn is_better_than(&self, other: &Cost) -> bool {
        let mine = u128::from(self.useful) * u128::from(other.transfers());
        let theirs = u128::from(other.useful) * u128::from(self.transfers());
        mine > theirs || (mine == theirs && self.useful > other.useful)
    }
}

/// A tile of some size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub approach: Approach,
    /// Along each space dimension.
    pub sizes: Vec<u64>,
    pub steps: u64,
    pub cost: Cost,
}

/// The best tile that fits: of all sizes from `least` on (the space dimensions, then time if it is tiled), the one with
/// the largest ratio; among equals the one that computes most, and the first in lexicographic order of the sizes.
///
/// The memory that `cost` tells must never shrink as a size grows. `None`: not even the least sizes fit.
pub fn search(least: &[u64], memory: u64, cost: &dyn Fn(&[u64]) -> Cost) -> Option<(Vec<u64>, Cost)> {
    let ranges: Vec<_> = least.iter().map(|&least| least..=memory.max(least)).collect();
    search_from(Called { sizes: vec![], cost }, &ranges, memory, &mut Effort { left: u64::MAX, skipped: 0 })
}

/// How sizes are searched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// How many sizes may still be looked at.
    pub(crate) left: u64,
    /// Of all sizes but the last, one in so many of those below it is skipped; 0 for none.
    pub(crate) skipped: u64,
}

impl Effort {
    /// The size after this one that is looked at.
    fn after(self, size: u64) -> u64 {
        size + 1 + size.checked_div(self.skipped).unwrap_or(0)
    }
}

/// A cost of which some sizes are fixed already, from the first on.
pub(crate) trait Partly: Sized {
    /// With the next size fixed, too.
    fn with(&self, size: u64) -> Self;
    /// The cost where all sizes are fixed.
    fn cost(&self) -> Cost;
    /// The costs where one size is open, with that size from `least` on.
    fn row(&self, least: u64) -> impl Iterator<Item = Cost> {
        (least..).map(|size| self.with(size).cost())
    }
}

/// A cost that is told by a function of all sizes.
struct Called<'a> {
    sizes: Vec<u64>,
    cost: &'a dyn Fn(&[u64]) -> Cost,
}

impl Partly for Called<'_> {
    fn with(&self, size: u64) -> Self {
        Called { sizes: [self.sizes.as_slice(), &[size]].concat(), cost: self.cost }
    }

    fn cost(&self) -> Cost {
        (self.cost)(&self.sizes)
    }
}

/// [`search`], for a cost that gets cheaper to tell the more sizes are fixed, and for sizes within ranges. As far as the effort goes: where
/// none is left, there may be better ones.
pub(crate) fn search_from<C: Partly>(
    cost: C,
    ranges: &[RangeInclusive<u64>],
    memory: u64,
    effort: &mut Effort,
) -> Option<(Vec<u64>, Cost)> {
    let mut best: Option<(Vec<u64>, Cost)> = None;
    let mut sizes: Vec<u64> = ranges.iter().map(|range| *range.start()).collect();
    walk(&mut sizes, 0, (ranges, memory), &cost, effort, &mut best);
    best
}

/// Tries all values from the dimension `at` on; whether the least of them fits.
fn walk<C: Partly>(
    sizes: &mut Vec<u64>,
    at: usize,
    (ranges, memory): (&[RangeInclusive<u64>], u64),
    cost: &C,
    effort: &mut Effort,
    best: &mut Option<(Vec<u64>, Cost)>,
) -> bool {
    if sizes.is_empty() {
        return keep(sizes, memory, cost.cost(), best);
    }
    let least = *ranges[at].start();
    let mut any = false;
    if at + 1 == sizes.len() {
        for (size, this) in ranges[at].clone().zip(cost.row(least)) {
            if effort.left == 0 {
                break;
            }
            effort.left -= 1;
            sizes[at] = size;
            if !keep(sizes, memory, this, best) {
                break;
            }
            any = true;
        }
    } else {
        let mut size = least;
        while ranges[at].contains(&size) {
            sizes[at] = size;
            if !walk(sizes, at + 1, (ranges, memory), &cost.with(size), effort, best) {
                break;
            }
            any = true;
            size = effort.after(size);
        }
    }
    sizes[at] = least;
    any
}

/// Keeps sizes that are better than the best; whether they fit.
fn keep(sizes: &[u64], memory: u64, this: Cost, best: &mut Option<(Vec<u64>, Cost)>) -> bool {
    let fits = this.memory <= memory;
    if fits && best.as_ref().is_none_or(|(_, best)| this.is_better_than(best)) {
        *best = Some((sizes.to_vec(), this));
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searched(left: u64, skipped: u64) -> (Option<(Vec<u64>, Cost)>, u64) {
        let cost = |sizes: &[u64]| {
            let (useful, loads) = (sizes.iter().product(), sizes.iter().map(|it| it + 2).product());
            Cost { memory: loads, loads, stores: 0, useful }
        };
        let mut effort = Effort { left, skipped };
        let cost = Called { sizes: vec![], cost: &cost };
        let found = search_from(cost, &[1..=1000, 1..=1000, 1..=1000], 8000, &mut effort);
        (found, left - effort.left)
    }

    #[test]
    fn a_search_that_skips_sizes_looks_at_few_and_comes_close() {
        let (all, looked) = searched(u64::MAX, 0);
        let (some, quick) = searched(u64::MAX, 8);
        assert!(quick * 3 < looked, "{quick} of {looked}");
        let [all, some] = [all, some].map(|it| it.unwrap().1.ratio());
        assert!(some > 0.98 * all, "{some} of {all}");
        assert_eq!(searched(1000, 0).1, 1000);
    }
}
