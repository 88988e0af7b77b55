//! Where the points of a stream's fields and stages are, for given sizes.

use super::error::ScheduledError;
use super::host::Host;
use super::integer;
use tessella_codegen::int_expr::IntExpr;
use tessella_codegen::stream::Streaming;

/// First and last subscripts along columns, lines and rows.
pub(super) type Bounds = [(i64, i64); 3];

pub(super) struct Places<'a> {
    it: &'a Streaming,
    /// Of each field, along columns, lines and rows.
    extents: Vec<[i64; 3]>,
    /// What each stage writes.
    pub(super) limits: Vec<Bounds>,
}

impl<'a> Places<'a> {
    pub(super) fn of(host: &Host<'_>, it: &'a Streaming) -> Result<Places<'a>, ScheduledError> {
        let value = |expr: &IntExpr| integer::value(expr, host.params, &host.variables);
        let both = |(low, high): &(IntExpr, IntExpr)| Ok::<_, ScheduledError>((value(low)?, value(high)?));
        let (mut extents, mut limits) = (vec![], vec![]);
        for [columns, lines, rows] in &it.extents {
            extents.push([value(columns)?, value(lines)?, value(rows)?]);
        }
        for [columns, lines, rows] in &it.limits {
            limits.push([both(columns)?, both(lines)?, both(rows)?]);
        }
        Ok(Places { it, extents, limits })
    }

    /// Whether a stage computes the point.
    pub(super) fn in_box(&self, stage: usize, point: [i64; 3]) -> bool {
        is_in(&self.limits[stage], point)
    }

    /// The memory of a point, along the axes that the arrays have, if the array has it.
    pub(super) fn element(&self, field: usize, point: [i64; 3]) -> Option<Vec<i64>> {
        let inside = self.extents[field].iter().zip(point).all(|(extent, at)| (1..=*extent).contains(&at));
        let along = self.it.stream.axes.iter().zip(point).filter(|(axis, _)| axis.is_some());
        let level = self.it.stream.fields[field].level;
        inside.then(|| along.map(|(_, at)| at).chain(level).map(|at| at - 1).collect())
    }
}

/// Whether a box has the point.
pub(super) fn is_in(bounds: &Bounds, point: [i64; 3]) -> bool {
    bounds.iter().zip(point).all(|((low, high), at)| (*low..=*high).contains(&at))
}
