//! Orders for what has no order.

/// A generator of random numbers (splitmix64): the same numbers for the same seed.
pub(super) struct Shuffle(u64);

impl Shuffle {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// As it is, backwards, or in any order.
    pub(super) fn order<T>(&mut self, all: &mut [T]) {
        match self.next() % 4 {
            0 => {}
            1 => all.reverse(),
            _ => {
                for last in (1..all.len()).rev() {
                    all.swap(last, (self.next() % (last as u64 + 1)) as usize);
                }
            }
        }
    }
}
