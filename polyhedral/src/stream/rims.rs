//! Rows outside of what a stage computes, which keep what they were.
//!
//! A version of a field needs them as it needs the others. They may be handed on from the version before, which costs registers for
//! as long as a stage lags behind the one that made it; or, as they never change, be loaded from where the launch found them. Warps whose
//! columns, and lines, lie inside of all boxes meet such rows at the ends of an array alone, so that a load that nobody waited for
//! costs them little. That pays where nothing else needs the rows from before the launch, but they would be loaded as a whole: those
//! of levels of time that a step overwrites. Of fields that go from step to step in copies of their own, only the rims are loaded anyway; there
//! handing on was 3 to 4 % faster on an H200 (`laplacian2d`, `swapped2d`).

use super::{Field, Source, Stage, Stream};
use crate::affine::Affine;
use crate::algorithm::Algorithm;

/// Rows at an end of an array, of which each is loaded where it is needed; more would be waited for too long.
const MOST_ROWS: i64 = 8;

impl Stream {
    /// Whether warps inside load the rows outside of what a stage computes from memory.
    pub fn loads_rim(&self, algorithm: &Algorithm, stage: usize) -> bool {
        let own = &self.stages[stage];
        // Of rows that go round none lies outside.
        let round = self.rounds[2].is_some();
        if round || !self.fields[own.field].carried || self.revises(stage) || own.thin != [false; 3] {
            return false;
        }
        // They never change: what writes them, too, has no point among the warp's, which is inside where no edge along columns or lines is.
        let others = self.writers(own.field).filter(|&it| it != stage);
        let are_elsewhere = others.map(|it| self.stages[it].thin).all(|thin| thin[0] || thin[1]);
        are_elsewhere && !self.holds_rim(own.field) && self.is_at_ends(algorithm, own)
    }

    /// Whether warps inside load the rows of a field from before the launch as they go along.
    pub fn loads_ahead(&self, algorithm: &Algorithm, field: usize) -> bool {
        let it = &self.fields[field];
        it.rim && (self.reads_old(field) || !self.loads_rim(algorithm, it.writer))
    }

    /// Whether the rows that a stage keeps are likely held for others anyhow: no more than a guess of what costs less.
    fn holds_rim(&self, field: usize) -> bool {
        self.reads_old(field) && self.reads_of(field).any(|(_, age)| age >= self.lag)
    }

    /// Whether a time step reads what the one before computed of a field.
    fn reads_old(&self, field: usize) -> bool {
        self.reads_of(field).any(|(fresh, _)| !fresh)
    }

    /// Of each read of a field, whether this time step computed the row, and how old it is.
    fn reads_of(&self, field: usize) -> impl Iterator<Item = (bool, i64)> + '_ {
        self.nests().flat_map(Stage::fetched).filter_map(move |read| match read {
            Source::Field { field: of, fresh, age, .. } if of == field => Some((fresh, age)),
            Source::Field { .. } | Source::Memory | Source::Unused => None,
        })
    }

    /// Whether few rows lie outside of what a stage computes.
    fn is_at_ends(&self, algorithm: &Algorithm, stage: &Stage) -> bool {
        let (first, last) = &stage.limits[2];
        self.is_at_start(first) && self.is_at_end(algorithm, last)
    }

    fn is_at_start(&self, row: &Affine) -> bool {
        self.axes[2].is_some() && row.as_constant().is_some_and(|row| row - 1 <= MOST_ROWS)
    }

    /// Whether few rows lie behind one, in one of the fields: most programs have arrays of one size, and name it once. Of another that is much longer,
    /// warps wait for each row behind.
    fn is_at_end(&self, algorithm: &Algorithm, row: &Affine) -> bool {
        let Some(axis) = self.axes[2] else { return false };
        let behind = |field: &Field| {
            let extent = &algorithm.array(field.array).extents[axis as usize];
            extent.sub(row).ok().and_then(|behind| behind.as_constant())
        };
        self.fields.iter().filter_map(behind).any(|behind| (0..=MOST_ROWS).contains(&behind))
    }

    /// Whether a stage, or what records, writes few rows that may lie amidst the others.
    pub fn is_amidst(&self, algorithm: &Algorithm, stage: &Stage) -> bool {
        let (first, last) = &stage.limits[2];
        stage.thin[2] && !self.is_at_start(last) && !self.is_at_end(algorithm, first)
    }
}
