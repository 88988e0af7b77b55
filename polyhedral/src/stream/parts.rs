//! Into how many parts rows fall where the schedule leaves that to the launch.
//!
//! Many parts repeat what the steps reach around each of them; few leave multiprocessors without work, or a last wave of blocks that
//! fills some of them. A block waits for its own results most of the time, so that others on its multiprocessor take less time than it does
//! alone; and blocks at the rims take longer than others, which shows where there are few waves. The weights are those of measured streams.

/// What the number of parts depends on besides the extents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Parts {
    /// Rows that a block walks along besides those of its part.
    pub around: i64,
    /// Blocks that are on a multiprocessor at once.
    pub blocks: i64,
    pub multiprocessors: i64,
    /// The weight of blocks at the rims, which take longer: [`Parts::RIMS`] or [`Parts::RIMS_OF_PLANES`].
    pub rims: i64,
}

impl Parts {
    /// The weights of a block's own waiting for each wave, of the work of each block, and of blocks that take longer.
    pub const WAITS: i64 = 3;
    pub const WORKS: i64 = 5;
    pub const RIMS: i64 = 6;
    /// The last one where blocks walk along planes in steps of one turn: those at the rims count no more than others, by ten streams over 256 and
    /// 512 points a side in 12 numbers of rows each (docs/performance.md).
    pub const RIMS_OF_PLANES: i64 = 0;
    /// The same of rows as the model of streams has it, whose other weights were fitted with it.
    const RIMS_OF_MODEL: i64 = 2;
    /// Beyond so many parts not each number is tried.
    pub const CLOSE: i64 = 32;

    /// The number of parts for so many columns of blocks.
    pub fn number(&self, columns: i64, rows: i64) -> i64 {
        self.cheapest(columns, rows, self.rims)
    }

    fn cheapest(&self, columns: i64, rows: i64, rims: i64) -> i64 {
        let (mut best, mut least, mut parts) = (1, i64::MAX, 1);
        while parts <= rows {
            let cost = self.cost(columns, rows, parts, rims);
            if cost < least {
                (best, least) = (parts, cost);
            }
            parts += parts / Parts::CLOSE + 1;
        }
        best
    }

    /// Rows of each part as the model of streams has them, where no command gives them.
    pub fn modelled_rows(&self, columns: i64, rows: i64) -> i64 {
        div_ceil(rows, self.cheapest(columns, rows, self.rims_of_model()))
    }

    fn rims_of_model(&self) -> i64 {
        self.rims.min(Parts::RIMS_OF_MODEL)
    }

    /// What a launch of parts of so many rows takes, for each row of each column, where 1 is what it takes in full waves of long parts.
    pub fn slowdown(&self, columns: i64, rows: i64, part: i64) -> f64 {
        let cost = self.cost(columns, rows, div_ceil(rows, part), self.rims_of_model()) as f64;
        cost * self.multiprocessors as f64 / ((Parts::WAITS + Parts::WORKS) * columns * rows) as f64
    }

    /// What a launch takes, in units of a row of a wave.
    fn cost(&self, columns: i64, rows: i64, parts: i64, rims: i64) -> i64 {
        let on_each = div_ceil(columns.saturating_mul(parts), self.multiprocessors);
        let waves = div_ceil(on_each, self.blocks);
        let row = self.blocks * (Parts::WAITS * waves + rims) + Parts::WORKS * on_each;
        (div_ceil(rows, parts) + self.around).saturating_mul(row)
    }
}

fn div_ceil(all: i64, by: i64) -> i64 {
    all.saturating_add(by - 1) / by
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of eight steps of a five-point star.
    const STAR: Parts = Parts { around: 17, blocks: 8, multiprocessors: 132, rims: Parts::RIMS };

    #[test]
    fn large_domains_fill_their_last_wave() {
        for (columns, rows) in [(74, 8192), (74, 8000), (37, 4096), (110, 12288)] {
            let blocks = columns * STAR.number(columns, rows);
            let waves = div_ceil(blocks, 132 * 8);
            assert!((2..=8).contains(&waves) && blocks * 100 >= waves * 132 * 8 * 95, "{columns} x {rows}: {blocks}");
        }
    }

    #[test]
    fn small_domains_have_short_parts() {
        let of_part = |columns: i64, rows: i64| div_ceil(rows, STAR.number(columns, rows));
        assert_eq!(of_part(3, 300), 4);
        assert!((4..=16).contains(&of_part(9, 1000)));
        assert!((24..=40).contains(&of_part(18, 2000)));
    }

    /// `gradient3d` under `2, 2, 0, 4` and under `2, 2, 0, 4, 12`, with 256 points a side, and `laplacian3d`: as many parts as were fastest.
    #[test]
    fn planes_go_in_full_waves() {
        let of = |around, blocks| Parts { around, blocks, multiprocessors: 132, rims: Parts::RIMS_OF_PLANES };
        assert_eq!((of(4, 2).number(50, 256), of(4, 1).number(30, 256), of(8, 1).number(35, 256)), (5, 4, 7));
    }

    #[test]
    fn what_is_empty_is_one_part() {
        assert_eq!((STAR.number(0, 0), STAR.number(1, 1), STAR.number(5, 0)), (1, 1, 1));
    }
}
