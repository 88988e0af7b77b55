//! How many bytes two nests move to and from memory, each by itself and as one.
//!
//! An array that a cache holds as a whole costs nothing: the second nest finds there what the first one left. Of a larger
//! one the second nest finds only what the same iteration of a common loop has just used, if all that an iteration uses
//! stays in the cache.

use crate::algorithm::ArrayId;
use std::collections::{BTreeMap, BTreeSet};

/// What a nest uses of its arrays.
pub type Uses = BTreeMap<ArrayId, Use>;

/// What a nest uses of an array.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Use {
    /// Bytes of all iterations together.
    pub all: u64,
    /// Bytes of one iteration of the outermost loop.
    pub at_a_time: u64,
    pub is_written: bool,
    /// The axes along which the outermost loop moves.
    pub along: BTreeSet<usize>,
}

impl Use {
    /// What is used by either.
    pub fn and(&self, other: &Use) -> Use {
        Use {
            all: self.all.max(other.all),
            at_a_time: self.at_a_time.max(other.at_a_time),
            is_written: self.is_written || other.is_written,
            along: self.along.union(&other.along).copied().collect(),
        }
    }

    /// Bytes that move, if a cache holds so many.
    pub fn traffic(&self, cache: u64) -> u64 {
        match self.all > cache {
            // What is written comes in first.
            true => self.all.saturating_mul(if self.is_written { 2 } else { 1 }),
            false => 0,
        }
    }
}

/// Bytes that a nest moves by itself.
pub fn alone(uses: &Uses, cache: u64) -> u64 {
    uses.values().map(|it| it.traffic(cache)).fold(0, u64::saturating_add)
}

/// What bytes cost, in bytes of whole rows, if they are moved in strips of so many bytes of each row, which cost
/// [`Machine::restart_bytes`](crate::machine::Machine::restart_bytes) more each.
pub fn in_strips(bytes: u64, strip: u64, restart: u64) -> u64 {
    bytes.saturating_add((bytes / strip.max(1)).saturating_mul(restart))
}

/// Bytes that move if the nests run one after the other, and with one outermost loop; never more than the former.
pub fn forecast(first: &Uses, second: &Uses, cache: u64) -> (u64, u64) {
    let sum = |values: &mut dyn Iterator<Item = u64>| values.fold(0, u64::saturating_add);
    let apart = sum(&mut first.values().chain(second.values()).map(|it| it.traffic(cache)));
    let mut all = first.clone();
    for (array, it) in second {
        let joined = all.get(array).map_or_else(|| it.clone(), |known| known.and(it));
        all.insert(*array, joined);
    }
    if sum(&mut all.values().map(|it| it.at_a_time)) > cache {
        return (apart, apart);
    }
    let saved = sum(&mut second.iter().filter_map(|(array, it)| {
        let known = first.get(array).filter(|known| known.along == it.along)?;
        Some(known.traffic(cache).saturating_add(it.traffic(cache)).saturating_sub(known.and(it).traffic(cache)))
    }));
    (apart, apart.saturating_sub(saved))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CACHE: u64 = 1 << 18;

    fn nest(uses: &[(u32, u64, u64, bool, usize)]) -> Uses {
        let one = |&(array, all, at_a_time, is_written, axis): &(u32, u64, u64, bool, usize)| {
            (ArrayId(array), Use { all, at_a_time, is_written, along: BTreeSet::from([axis]) })
        };
        uses.iter().map(one).collect()
    }

    #[test]
    fn a_column_that_was_just_written_need_not_come_in_again() {
        let (update, sum) = (nest(&[(0, 8_000_000, 8_000, true, 1)]), nest(&[(0, 8_000_000, 8_000, false, 1)]));
        assert_eq!(forecast(&update, &sum, CACHE), (24_000_000, 16_000_000));
    }

    #[test]
    fn columns_and_rows_of_an_array_share_nothing() {
        let (update, sum) = (nest(&[(0, 8_000_000, 8_000, true, 1)]), nest(&[(0, 8_000_000, 8_000, false, 0)]));
        assert_eq!(forecast(&update, &sum, CACHE), (24_000_000, 24_000_000));
    }

    #[test]
    fn an_iteration_that_uses_more_than_the_cache_holds_leaves_nothing_in_it() {
        let update = nest(&[(0, 8_000_000, 8_000, true, 1), (1, 8_000_000, 8_000_000, false, 1)]);
        let sum = nest(&[(0, 8_000_000, 8_000, false, 1)]);
        assert_eq!(forecast(&update, &sum, CACHE), (32_000_000, 32_000_000));
    }

    #[test]
    fn short_strips_cost_more_than_they_move() {
        assert_eq!(in_strips(24_576_000, 1 << 10, 2048), 3 * 24_576_000);
        assert_eq!(in_strips(24_576_000, 8 << 10, 2048), 24_576_000 / 4 * 5);
    }

    #[test]
    fn small_arrays_stay_in_the_cache_anyway() {
        let (update, sum) = (nest(&[(0, 8_000, 8, true, 0)]), nest(&[(0, 8_000, 8, false, 0)]));
        assert_eq!(forecast(&update, &sum, CACHE), (0, 0));
    }
}
