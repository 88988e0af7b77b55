//! All paddings of a layout, one by one, where these are few.

use super::{Layout, Padding, Weights};

/// More paddings than this are not tried.
const MOST: u64 = 1 << 16;
/// Steps from one read to the next, and pairs of threads, that are looked at for all paddings together: about a second.
const WORK: u64 = 1 << 26;

/// The best of all paddings: among equal ones the first, whose later pads are smallest. `None` where there are too many to try.
pub(super) fn best(layout: &Layout, weights: Weights) -> Option<Padding> {
    let count = few(layout)?;
    let (modulus, period) = (layout.modulus(), layout.period as usize);
    // Whole rounds of the modulus and the period change no place.
    let round = modulus.checked_mul(period as u64)?;
    let small = Layout { extents: layout.extents.iter().map(|it| it % round).collect(), ..layout.clone() };
    let padding = |number: u64| {
        let pad = |at: usize| number / modulus.pow(at as u32) % modulus;
        let pads = (0..layout.axes()).map(|axis| (axis * period..(axis + 1) * period).map(pad).collect());
        Padding { pads: pads.collect() }
    };
    // Two threads meet where they are at different addresses, which only the extents themselves tell.
    let measured = if layout.banks > 1 { layout } else { &small };
    (0..count).map(padding).min_by_key(|it| it.cost(measured, weights))
}

/// How many paddings there are, where all can be tried.
fn few(layout: &Layout) -> Option<u64> {
    let pads = u32::try_from(layout.axes()).ok()?.checked_mul(layout.period)?;
    let count = layout.modulus().checked_pow(pads).filter(|&it| it <= MOST)?;
    let steps = |points: &[Vec<i64>]| {
        let of = |point: &Vec<i64>| point.iter().skip(1).map(|it| it.unsigned_abs()).fold(1_u64, u64::saturating_add);
        points.iter().map(of).fold(1_u64, u64::saturating_add)
    };
    let reads = u64::try_from(layout.phases()).ok()?.checked_mul(steps(&layout.reads))?;
    let pairs = steps(&layout.threads).checked_add((layout.threads.len() as u64).checked_pow(2)?)?;
    let work = reads.checked_add(pairs)?.checked_add(u64::from(layout.vector))?.checked_mul(count)?;
    (work <= WORK).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::super::measure;
    use super::*;

    /// The points of a box of three axes around the origin that lie at most so many steps from it.
    fn around(steps: i64) -> Vec<Vec<i64>> {
        let side = || -2..=2_i64;
        let all = side().flat_map(|k| side().flat_map(move |j| side().map(move |i| vec![i, j, k])));
        all.filter(|it| it.iter().map(|at| at.abs()).sum::<i64>() <= steps).collect()
    }

    #[test]
    fn extents_count_modulo_the_vector_and_the_period() {
        let reads = around(1);
        let weights = |layout: &Layout| Weights::gains_first(layout);
        for (large, small) in [([1 << 30, 5], [4, 5]), ([13, 1 << 20], [5, 8])] {
            let (large, small) = (Layout::aligned(&large, 4, &reads, 2), Layout::aligned(&small, 4, &reads, 2));
            let (found, same) = (best(&large, weights(&large)).unwrap(), best(&small, weights(&small)).unwrap());
            assert_eq!(found, same);
            assert_eq!(measure(&large, &found).unaligned, measure(&small, &same).unaligned);
        }
    }

    #[test]
    fn many_paddings_are_not_tried() {
        let layout = |vector, period| Layout::aligned(&[64, 64], vector, &around(2), period);
        assert!(best(&layout(4, 2), Weights::PUBLISHED).is_some());
        assert!(best(&layout(64, 1), Weights::PUBLISHED).is_some());
        assert_eq!(best(&layout(64, 2), Weights::PUBLISHED), None);
        assert_eq!(best(&layout(4, 8), Weights::PUBLISHED), None);
    }
}
