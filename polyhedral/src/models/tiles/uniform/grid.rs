//! Points in and around a tile, in arrays of flags.

use super::{Element, Flow};
use crate::algorithm::ComputationId;
use crate::models::tiles::shape::Boxes;
use std::collections::BTreeMap;

/// More points than this, those of each computation for themselves, are not counted one by one.
pub(super) const MOST_POINTS: i64 = 1 << 25;

/// The least and the greatest of each coordinate.
pub(super) fn hull(center: &[i64], has_time: bool, boxes: &Boxes) -> Vec<(i64, i64)> {
    let mut ends = vec![(i64::MAX, i64::MIN); center.len()];
    for ((_, step), sides) in boxes {
        let time = has_time.then(|| center[0] + step).map(|it| (it, it));
        for (end, (from, to)) in ends.iter_mut().zip(time.into_iter().chain(sides.iter().copied())) {
            *end = (end.0.min(from), end.1.max(to));
        }
    }
    ends
}

/// Points in and around a tile, numbered along lines of the last coordinate.
pub(super) struct Grid {
    center_time: i64,
    has_time: bool,
    low: Vec<i64>,
    strides: Vec<usize>,
    pub(super) points: usize,
}

/// Points whose last coordinates follow one another.
pub(super) struct Line<'a> {
    pub(super) id: ComputationId,
    /// The number of the first one.
    pub(super) at: usize,
    pub(super) first: &'a [i64],
    pub(super) length: usize,
}

impl Grid {
    /// Room for the boxes and for everything that a flow reaches from them; `None` where that is too much, or farther from
    /// the middle than `most`.
    pub(super) fn around(
        center: &[i64],
        most: Option<i64>,
        has_time: bool,
        boxes: &Boxes,
        flows: &[Flow],
    ) -> Option<Grid> {
        let (mut low, mut high): (Vec<i64>, Vec<i64>) = hull(center, has_time, boxes).into_iter().unzip();
        for at in 0..low.len() {
            let reach = flows.iter().map(|flow| flow.distance[at].abs()).max().unwrap_or(0);
            low[at] = low[at].checked_sub(reach)?;
            high[at] = high[at].checked_add(reach)?;
            if most.is_some_and(|most| low[at] < center[at] - most || high[at] > center[at] + most) {
                return None;
            }
        }
        let mut strides = vec![0; low.len()];
        let mut points = 1_i64;
        for at in (0..low.len()).rev() {
            strides[at] = points as usize;
            points = points.checked_mul(high[at].checked_sub(low[at])? + 1)?;
        }
        let fits = (1..=MOST_POINTS).contains(&points);
        fits.then_some(Grid { center_time: center[0], has_time, low, strides, points: points as usize })
    }

    pub(super) fn offset(&self, distance: &[i64]) -> isize {
        distance.iter().zip(&self.strides).map(|(along, stride)| *along as isize * *stride as isize).sum()
    }

    /// Visits the points of boxes, line by line.
    pub(super) fn each_line(&self, boxes: &Boxes, mut visit: impl FnMut(&Line<'_>)) {
        for (&(id, step), sides) in boxes {
            let time = self.has_time.then_some(self.center_time + step).map(|it| (it, it));
            let ranges: Vec<(i64, i64)> = time.into_iter().chain(sides.iter().copied()).collect();
            if ranges.iter().any(|(from, to)| from > to) {
                continue;
            }
            let last = ranges.len() - 1;
            let length = (ranges[last].1 - ranges[last].0 + 1) as usize;
            let mut first: Vec<i64> = ranges.iter().map(|range| range.0).collect();
            loop {
                let along = first.iter().zip(&self.low).zip(&self.strides);
                let at = along.map(|((at, low), stride)| (at - low) as usize * stride).sum();
                visit(&Line { id, at, first: &first, length });
                let Some(moved) = (0..last).find(|&axis| first[axis] < ranges[axis].1) else { break };
                first[moved] += 1;
                (0..moved).for_each(|axis| first[axis] = ranges[axis].0);
            }
        }
    }
}

/// Distinct elements of arrays, in one row of flags for each array.
pub(super) struct Elements {
    rows: Vec<Row>,
}

struct Row {
    array: u32,
    /// The first element's place along each axis, and how far its neighbours are apart.
    low: Vec<i64>,
    strides: Vec<i64>,
    flags: Vec<bool>,
}

/// An element as a place in a row: a factor for each coordinate, and what is added.
pub(super) struct Spot {
    row: usize,
    factors: Vec<i64>,
    constant: i64,
}

impl Elements {
    /// Room for what elements become at points within the ranges; `None` where that is too much.
    pub(super) fn within<'e>(ranges: &[(i64, i64)], all: impl Iterator<Item = &'e Element>) -> Option<Elements> {
        let mut sides: BTreeMap<u32, Vec<(i64, i64)>> = BTreeMap::new();
        for element in all {
            let mine = element.axes.iter().map(|(factors, constant)| {
                let ends = factors.iter().zip(ranges).map(|(factor, (low, high))| (factor * low, factor * high));
                ends.fold((*constant, *constant), |sum, (a, b)| (sum.0 + a.min(b), sum.1 + a.max(b)))
            });
            let mine: Vec<(i64, i64)> = mine.collect();
            let known = sides.entry(element.array).or_insert_with(|| mine.clone());
            known.iter_mut().zip(mine).for_each(|(known, mine)| *known = (known.0.min(mine.0), known.1.max(mine.1)));
        }
        let mut rows = vec![];
        for (array, sides) in sides {
            let mut strides = vec![];
            let mut count = 1_i64;
            for (low, high) in &sides {
                strides.push(count);
                count = count.checked_mul(high - low + 1).filter(|&it| it <= MOST_POINTS)?;
            }
            let low = sides.iter().map(|side| side.0).collect();
            rows.push(Row { array, low, strides, flags: vec![false; count as usize] });
        }
        Some(Elements { rows })
    }

    /// Where an element stands.
    ///
    /// # Panics
    /// It was none of those that there was to be room for.
    pub(super) fn spot(&self, element: &Element, coordinates: usize) -> Spot {
        let row = self.rows.iter().position(|it| it.array == element.array).expect("there is room for the element");
        let mut spot = Spot { row, factors: vec![0; coordinates], constant: 0 };
        let Row { low, strides, .. } = &self.rows[row];
        for ((axis, low), stride) in element.axes.iter().zip(low).zip(strides) {
            spot.constant += (axis.1 - low) * stride;
            spot.factors.iter_mut().zip(&axis.0).for_each(|(sum, factor)| *sum += factor * stride);
        }
        spot
    }

    /// Flags the element at all points of a line.
    pub(super) fn add(&mut self, spot: &Spot, line: &Line<'_>) {
        let flags = &mut self.rows[spot.row].flags;
        let first = spot.factors.iter().zip(line.first).fold(spot.constant, |sum, (factor, at)| sum + factor * at);
        let length = line.length;
        match spot.factors.last().copied().unwrap_or(0) {
            0 => flags[first as usize] = true,
            1 => flags[first as usize..first as usize + length].fill(true),
            stride => (0..length as i64).for_each(|step| flags[(first + stride * step) as usize] = true),
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.rows.iter().map(|row| count(&row.flags)).sum()
    }
}

/// How many flags are set.
pub(super) fn count(flags: &[bool]) -> u64 {
    // Sums of so few need one byte each.
    flags.chunks(255).map(|some| u64::from(some.iter().map(|&it| u8::from(it)).sum::<u8>())).sum()
}
