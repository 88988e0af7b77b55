//! Which way time goes.

use crate::affine::Affine;

/// Which way the iterator of a time loop goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Up,
    Down,
}

impl Way {
    /// What the iterator is in an iteration with this number.
    pub fn iterator(self, number: i64) -> i64 {
        match self {
            Way::Up => number,
            Way::Down => -number,
        }
    }

    /// The number of an iteration, of its iterator along time.
    pub fn number(self, time: u32) -> Affine {
        let iterator = Affine::iterator(time);
        match self {
            Way::Up => iterator,
            Way::Down => iterator.scale(-1).expect("minus one is small"),
        }
    }

    /// The iterator that a loop along time counts, and which way.
    pub(super) fn of(at: &Affine) -> Option<(u32, Way)> {
        let down = || Some((at.scale(-1).ok()?.as_iterator()?, Way::Down));
        at.as_iterator().map(|iterator| (iterator, Way::Up)).or_else(down)
    }
}
