//! The formulas for stencils over two space dimensions that read the four neighbours of a cell, one time step back.

use super::{Approach, Candidate, Cost, search};

/// What one cell of the grid consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// `V_C`: the variables of a cell that is computed.
    pub computed: u64,
    /// `V_L`: the variables used of a cell that is only read.
    pub read: u64,
    /// `C`: the coefficients of a cell that is computed, which never change.
    pub coefficients: u64,
}

/// What a skewed tile holds in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// What it loads. This is the formula that the other two approaches share at one time step, and that gives the
    /// published table.
    Loaded,
    /// As `mem_4` is printed, with `(T_H - 1)(T_T - 1) + (T_W - 1)(T_T - 1)` in place of `(T_H - 1) + (T_W - 1)`.
    Printed,
}

/// `mem`, `comm` and `comp` of a tile of `height` times `width` cells and `steps` time steps, all at least 1.
///
/// `comm` of skewed tiles counts two rows and two columns for each time step but the last, so it counts cells twice where
/// a side is 1.
pub fn cost(approach: Approach, cell: Cell, height: u64, width: u64, steps: u64, held: Held) -> Cost {
    let Cell { computed, read, coefficients } = cell;
    let (h, w, t) = (height, width, steps);
    let useful = computed * h * w * t;
    match approach {
        Approach::Plain => {
            let loads = read * 2 * (h + w) + (computed + coefficients) * h * w;
            Cost { memory: loads, loads, stores: computed * h * w, useful: computed * h * w }
        }
        Approach::Skewed => {
            let edge = (h + w + 2) * t;
            let inside = (h + w - 1) * t + (h - 1) * (w - 1);
            let constant = h * w + (t - 1) * (h + w - 1);
            let with = |sides: u64| read * (edge + sides) + computed * inside + coefficients * constant;
            let loads = with(h - 1 + w - 1);
            let memory = match held {
                Held::Loaded => loads,
                Held::Printed => with((h - 1) * (t - 1) + (w - 1) * (t - 1)),
            };
            let stores = computed * ((2 * (h + w) - 4) * (t - 1) + h * w);
            Cost { memory, loads, stores, useful }
        }
        Approach::Redundant => {
            let (tall, wide) = (h + 2 * (t - 1), w + 2 * (t - 1));
            let loads = read * 2 * (tall + wide) + (computed + coefficients) * tall * wide;
            Cost { memory: loads, loads, stores: computed * h * w, useful }
        }
    }
}

/// The best tile of an approach that fits into so many elements of memory.
pub fn best(approach: Approach, cell: Cell, memory: u64, held: Held) -> Option<Candidate> {
    let steps = |sizes: &[u64]| sizes.get(2).copied().unwrap_or(1);
    let of = |sizes: &[u64]| match sizes {
        // Height and width can be exchanged: half of the tiles suffices.
        [h, w, ..] if h > w => {
            Cost { memory: cost(approach, cell, *h, *w, steps(sizes), held).memory, ..Cost::default() }
        }
        [h, w, ..] => cost(approach, cell, *h, *w, steps(sizes), held),
        [] | [_] => Cost::default(),
    };
    let least: &[u64] = match approach {
        Approach::Plain => &[1, 1],
        Approach::Skewed | Approach::Redundant => &[1, 1, 1],
    };
    let (sizes, cost) = search(least, memory, &of)?;
    Some(Candidate { approach, steps: steps(&sizes), sizes: sizes[..2].to_vec(), cost })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PML: Cell = Cell { computed: 18, read: 2, coefficients: 44 };
    const NON_PML: Cell = Cell { computed: 6, read: 2, coefficients: 20 };
    const JACOBI: Cell = Cell { computed: 1, read: 1, coefficients: 0 };
    /// 24 values for each of 5 frequencies.
    const DFT: Cell = Cell { computed: 6, read: 2, coefficients: 120 };

    fn row(cell: Cell, memory: u64, held: Held) -> String {
        let show = |approach| {
            let best = best(approach, cell, memory, held).unwrap();
            format!("{:.2} ({}, {}, {})", best.cost.ratio(), best.sizes[0], best.sizes[1], best.steps)
        };
        Approach::ALL.map(show).join("  ")
    }

    #[test]
    fn the_published_table_comes_out_row_by_row() {
        let rows = [
            (PML, 4076, "0.22 (8, 8, 1)  0.41 (5, 5, 5)  0.28 (6, 6, 2)"),
            (PML, 16304, "0.22 (16, 16, 1)  0.70 (10, 10, 9)  0.42 (12, 12, 3)"),
            (NON_PML, 4076, "0.18 (10, 15, 1)  0.45 (7, 8, 7)  0.27 (8, 8, 3)"),
            (NON_PML, 16304, "0.19 (22, 28, 1)  0.83 (14, 18, 12)  0.47 (14, 20, 5)"),
            (DFT, 4076, "0.04 (5, 6, 1)  0.07 (4, 4, 3)  0.04 (5, 6, 1)"),
            (DFT, 16304, "0.05 (11, 11, 1)  0.12 (7, 7, 7)  0.06 (9, 9, 2)"),
            (JACOBI, 4076, "0.48 (58, 66, 1)  3.13 (37, 37, 18)  3.37 (34, 42, 13)"),
            (JACOBI, 16304, "0.49 (125, 126, 1)  6.21 (75, 76, 35)  6.75 (75, 76, 26)"),
        ];
        for (cell, memory, expected) in rows {
            assert_eq!(row(cell, memory, Held::Loaded), expected, "{cell:?} in {memory}");
        }
    }

    #[test]
    fn the_printed_memory_of_skewed_tiles_gives_other_tiles() {
        let skewed = |cell, memory| {
            let best = best(Approach::Skewed, cell, memory, Held::Printed).unwrap();
            (best.sizes[0], best.sizes[1], best.steps, format!("{:.4}", best.cost.ratio()))
        };
        assert_eq!(skewed(PML, 4076), (5, 5, 5, "0.4076".into()));
        assert_eq!(skewed(PML, 16304), (10, 11, 8, "0.6986".into()));
        assert_eq!(skewed(NON_PML, 4076), (7, 8, 7, "0.4544".into()));
        assert_eq!(skewed(NON_PML, 16304), (15, 16, 12, "0.8253".into()));
        assert_eq!(skewed(JACOBI, 4076), (34, 34, 15, "2.7905".into()));
        assert_eq!(skewed(JACOBI, 16304), (65, 72, 29, "5.4519".into()));
    }

    #[test]
    fn the_published_cell_of_the_fourier_region_gives_other_tiles() {
        let published = Cell { computed: 126, read: 2, coefficients: 20 };
        assert_eq!(row(published, 4076, Held::Loaded), "0.46 (5, 5, 1)  0.79 (1, 1, 26)  0.47 (3, 3, 2)");
        assert_eq!(row(published, 16304, Held::Loaded), "0.46 (10, 11, 1)  0.94 (6, 9, 5)  0.74 (6, 7, 3)");
    }

    #[test]
    fn at_one_time_step_all_approaches_are_the_plain_one() {
        for (h, w) in [(1, 1), (3, 5), (8, 8)] {
            for cell in [PML, NON_PML, DFT, JACOBI] {
                let plain = cost(Approach::Plain, cell, h, w, 1, Held::Loaded);
                assert_eq!(cost(Approach::Skewed, cell, h, w, 1, Held::Loaded), plain);
                assert_eq!(cost(Approach::Redundant, cell, h, w, 1, Held::Loaded), plain);
                let printed = cost(Approach::Skewed, cell, h, w, 1, Held::Printed).memory;
                assert_eq!(printed == plain.memory, h == 1 && w == 1, "the printed formula is no generalisation");
            }
        }
    }

    #[test]
    fn no_tile_fits_into_too_little_memory() {
        assert_eq!(best(Approach::Plain, PML, 69, Held::Loaded), None);
        assert_eq!(best(Approach::Plain, PML, 70, Held::Loaded).unwrap().sizes, [1, 1]);
    }
}
