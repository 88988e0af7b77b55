//! Paddings that leave whole rows free: what the command `pad` makes, which adds elements at the end of each axis.

use super::{Layout, Measure, Padding, measure};

/// A padding by whole rows, and what it gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Elements added at the end of each axis but the last.
    pub by: Vec<u64>,
    /// What all patterns of reads have of it, one each.
    pub found: Vec<Measure>,
    /// How much memory it adds, as a share of what there was.
    pub growth: f64,
}

/// More paddings than this are not tried.
const MOST: u64 = 4096;

/// All paddings by whole rows that may differ for the layouts, which share their extents; none at all is the first. Where there are
/// too many, only those of the first axis.
pub fn all(layouts: &[Layout]) -> Vec<Rows> {
    let Some(first) = layouts.first() else { return vec![] };
    let modulus = layouts.iter().map(Layout::modulus).max().unwrap_or(1);
    let axes = first.axes();
    let padded = if modulus.checked_pow(axes as u32).is_some_and(|it| it <= MOST) { axes } else { 1 };
    let count = modulus.min(MOST).pow(padded as u32);
    let bys = (0..count).map(|number| {
        let digit = |axis: usize| if axis < padded { number / modulus.pow(axis as u32) % modulus } else { 0 };
        (0..axes).map(digit).collect::<Vec<u64>>()
    });
    bys.map(|by| of(layouts, by)).collect()
}

/// One padding by whole rows.
pub fn of(layouts: &[Layout], by: Vec<u64>) -> Rows {
    let growth = layouts.first().map_or(0.0, |layout| {
        let grown =
            layout.extents.iter().zip(&by).map(|(&extent, &more)| (extent + more) as f64 / extent.max(1) as f64);
        grown.product::<f64>() - 1.0
    });
    let found = layouts.iter().map(|layout| measure(layout, &padding(layout, &by))).collect();
    Rows { by, found, growth }
}

/// The same as pads after rows, planes and so on: a longer axis leaves whole rows of the padded ones before it free.
fn padding(layout: &Layout, by: &[u64]) -> Padding {
    let mut row = 1;
    let mut pads = vec![];
    for (extent, more) in layout.extents.iter().zip(by) {
        pads.push(more * row);
        row *= extent + more;
    }
    Padding::simple(layout, &pads)
}
