//! What tiles of whole rows (or planes) cost: any range of rows in each time step, each row as long as the program has them.
//!
//! Rows are so long that what happens at their ends does not count: costs are told for each position along a row. They are counted
//! as those of boxes are, over the points of short rows, and what a position more adds is the difference.

use super::band::{self, Band};
use super::count::program;
use super::counter::PARAMETER;
use super::shape::Boxes;
use super::uniform::Uniform;
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::Ctx;

/// A nest over time whose tiles can be counted so: all points of its middle are alike.
pub struct Rows {
    band: Band,
    uniform: Uniform,
}

/// What a tile costs for each position along its rows, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCost {
    /// What comes from outside.
    pub loads: i64,
    /// What others, or the caller, need.
    pub stores: i64,
    /// Results that no other tile computes.
    pub useful: i64,
    /// All elements that the tile touches.
    pub footprint: i64,
}

impl RowCost {
    /// Elements that move for each useful result.
    pub fn moved(&self) -> f64 {
        (self.loads + self.stores) as f64 / self.useful.max(1) as f64
    }
}

/// The lengths of rows that are counted; shorter ones have ends that meet.
const SHORT: i64 = 4;

/// Looks at the nest over time of these computations; `None` where its points are not all alike, or where it has no space.
///
/// # Errors
/// Where isl fails, or gives up.
pub fn rows(ctx: &Ctx, algorithm: &Algorithm, computations: &[ComputationId]) -> Result<Option<Rows>, Error> {
    let program = program(ctx, algorithm, &vec![PARAMETER; algorithm.params.len()])?;
    let same = |band: &Band| {
        band.has_time
            && band.thin.is_empty()
            && !band.names.is_empty()
            && computations.iter().all(|id| band.computations.contains(id))
    };
    let Some(band) = band::bands(ctx, &program)?.into_iter().find(same) else { return Ok(None) };
    let uniform = Uniform::of(ctx, &program, &band)?;
    Ok(uniform.map(|uniform| Rows { band, uniform }))
}

impl Rows {
    /// The cost of a tile: `of` tells the first and the last row of a computation in each of so many time steps, if it has any
    /// there. `None` where the tile reaches beyond the middle that all points of which are known to be alike.
    pub fn cost(&self, steps: i64, of: &dyn Fn(ComputationId, i64) -> Option<(i64, i64)>) -> Option<RowCost> {
        let ids = || self.band.computations.iter();
        let each = || (0..steps).flat_map(|step| ids().filter_map(move |&id| of(id, step)));
        let (low, high) = (each().map(|it| it.0).min()?, each().map(|it| it.1).max()?);
        let along = self.band.names.len() - 1;
        let mut sum = RowCost { loads: 0, stores: 0, useful: 0, footprint: 0 };
        // The mixed difference: what one more position along all other dimensions adds.
        for longer in 0..1_u32 << along {
            let mut boxes = Boxes::new();
            for step in 0..steps {
                for &id in ids() {
                    let Some((first, last)) = of(id, step) else { continue };
                    let origin = self.uniform.origin();
                    let middle = low + (high - low) / 2;
                    let mut sides = vec![(origin[0] + first - middle, origin[0] + last - middle)];
                    sides.extend((0..along).map(|at| {
                        let length = SHORT + i64::from(longer >> at & 1);
                        (origin[at + 1], origin[at + 1] + length - 1)
                    }));
                    boxes.insert((id, step - steps / 2), sides);
                }
            }
            let counts = self.uniform.count_boxes(&self.band, &boxes)?;
            let sign = if (along as u32 - longer.count_ones()).is_multiple_of(2) { 1 } else { -1 };
            sum.loads += sign * counts.cost.loads as i64;
            sum.stores += sign * counts.cost.stores as i64;
            sum.useful += sign * counts.cost.useful as i64;
            sum.footprint += sign * counts.footprint as i64;
        }
        Some(sum)
    }
}
