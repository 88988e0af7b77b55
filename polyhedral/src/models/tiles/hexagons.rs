//! Hexagons over time and the outermost dimension of space, parallelograms along the others: what the tiles of `hexagonal` cost.
//!
//! They are counted point by point, as other tiles are. Sizes are tried coarsely: heights some steps apart, of each a few widths at
//! its ends, and along the other dimensions the largest tile that fits.

use super::band::Band;
use super::count::Counts;
use super::shape::Boxes;
use super::uniform::Uniform;
use crate::algorithm::ComputationId;
use crate::time_tiling::{Found, Hexagon};

/// A nest over time all points of whose middle are alike.
pub struct Hexagons {
    pub(super) band: Band,
    pub(super) uniform: Uniform,
}

/// A tile, with the sizes of its command.
#[derive(Debug, Clone, PartialEq)]
pub struct HexagonTile {
    pub height: i64,
    /// The first one is that of its first and last step, less one.
    pub widths: Vec<i64>,
    /// Positions along the outermost dimension in its longest step.
    pub longest: i64,
    /// Iterations of the time loop.
    pub steps: i64,
    pub counts: Counts,
}

/// No tile is longer along a dimension.
const LONGEST: i64 = 1 << 14;
/// What is counted at most, in points times what each reads.
const MOST_CELLS: u64 = 1_000_000_000;

impl Hexagons {
    /// The tile that moves least for each result of those that take no more than so many elements of memory; `None` where
    /// none does, where slopes are not known, or where tiles are too large to be counted.
    pub fn best(&self, found: &Found, memory: u64) -> Option<HexagonTile> {
        let slopes = found.slopes.as_ref().filter(|it| it.len() == self.band.names.len())?;
        let [delta0, delta1] = slopes[0];
        let mut best: Option<HexagonTile> = None;
        let most = self.uniform.spent().saturating_add(MOST_CELLS);
        for iterations in
            (0..).flat_map(|power| [2 << power, 3 << power]).map(|it: i64| it / 2).take_while(|it| *it <= LONGEST)
        {
            let height = iterations * found.stencil.sweeps - 1;
            let spread = delta0.floor_times(height) + delta1.floor_times(height);
            let least = Hexagon::least_width(height, delta0, delta1).max(1);
            let Some(narrow) = Rows::of(&Hexagon { height, width: least, delta0, delta1 }) else { break };
            let mut some = false;
            let mut consider = |width: i64, inner: i64| {
                if self.uniform.spent() > most {
                    return None;
                }
                let tile = self.tile(found, &narrow.wider(width - least), inner)?;
                if tile.counts.cost.memory > memory {
                    return None;
                }
                some = true;
                if best.as_ref().is_none_or(|best| tile.counts.cost.is_better_than(&best.counts.cost)) {
                    best = Some(tile);
                }
                Some(())
            };
            if slopes.len() == 1 {
                largest(least, &mut |width| consider(width, 0));
            } else {
                let mut widths = [0, spread / 4, spread / 2, spread, 2 * spread].map(|it| it.max(least)).to_vec();
                widths.dedup();
                for width in widths {
                    largest(1, &mut |inner| consider(width, inner));
                }
            }
            if !some {
                break;
            }
        }
        best
    }

    /// Counts a hexagon, and parallelograms of one width along all other dimensions.
    fn tile(&self, found: &Found, rows: &Rows, inner: i64) -> Option<HexagonTile> {
        let slopes = found.slopes.as_ref()?;
        let origin = self.uniform.origin();
        let sweeps = found.stencil.sweeps;
        let steps = rows.all.len() as i64 / sweeps;
        let mut boxes = Boxes::new();
        for id in self.band.main() {
            let number = number(found, id)?;
            for iteration in 0..steps {
                let step = sweeps * iteration + number;
                let (first, last) = rows.all[step as usize];
                let mut sides = vec![(origin[0] + first, origin[0] + last)];
                for (dim, [_, delta1]) in slopes.iter().enumerate().skip(1) {
                    let begin = origin[dim] - inner / 2 - delta1.floor_times(step);
                    sides.push((begin, begin + inner - 1));
                }
                boxes.insert((id, iteration), sides);
            }
        }
        let counts = self.uniform.count_long(&self.band, boxes)?;
        let widths = std::iter::once(rows.width).chain(slopes[1..].iter().map(|_| inner)).collect();
        let longest = rows.all.iter().map(|(first, last)| last - first + 1).max()?;
        Some(HexagonTile { height: rows.height, widths, longest, steps, counts })
    }
}

/// The first and the last position of each step of a hexagon.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rows {
    height: i64,
    width: i64,
    all: Vec<(i64, i64)>,
}

impl Rows {
    fn of(hexagon: &Hexagon) -> Option<Rows> {
        let all = (0..hexagon.steps()).map(|step| hexagon.row(step)).collect::<Option<_>>()?;
        Some(Rows { height: hexagon.height, width: hexagon.width, all })
    }

    /// Those of a hexagon that is so much wider: all of its steps are.
    fn wider(&self, by: i64) -> Rows {
        let all = self.all.iter().map(|&(first, last)| (first, last + by)).collect();
        Rows { width: self.width + by, all, ..*self }
    }
}

/// Which of the steps of an iteration of the time loop a computation runs in.
fn number(found: &Found, id: ComputationId) -> Option<i64> {
    let step = found.stencil.step.get(&id)?;
    match step.terms() {
        [(_, sweeps)] if *sweeps == found.stencil.sweeps => Some(step.constant_term().rem_euclid(*sweeps)),
        _ => None,
    }
}

/// Asks for sizes from the least one on: up to about the largest that fits, where larger ones take more.
fn largest(least: i64, fits: &mut dyn FnMut(i64) -> Option<()>) {
    let (mut low, mut high) = (least, LONGEST);
    if fits(least).is_none() {
        return;
    }
    let mut next = 2 * least;
    while high - low > 1 + low / 32 {
        let at = if next < high { next } else { low + (high - low) / 2 };
        match fits(at) {
            Some(()) => low = at,
            None => high = at,
        }
        next = next.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_tiling::Slope;

    #[test]
    fn wider_hexagons_are_wider_in_all_steps() {
        for (delta0, delta1) in [((1, 1), (1, 1)), ((2, 1), (0, 1)), ((1, 2), (3, 2)), ((0, 1), (0, 1))] {
            let [delta0, delta1] = [delta0, delta1].map(|(over, under)| Slope::new(over, under));
            for height in 0..7 {
                let least = Hexagon::least_width(height, delta0, delta1);
                let of = |width: i64| Rows::of(&Hexagon { height, width, delta0, delta1 }).unwrap();
                for by in 0..9 {
                    let lengths = |rows: &Rows| rows.all.iter().map(|it| it.1 - it.0).collect::<Vec<_>>();
                    let (wider, of) = (of(least).wider(by), of(least + by));
                    assert_eq!(lengths(&wider), lengths(&of));
                    let moved = wider.all[0].0 - of.all[0].0;
                    assert!(wider.all.iter().zip(&of.all).all(|(one, other)| one.0 - other.0 == moved));
                }
            }
        }
    }
}
