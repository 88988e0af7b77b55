//! How far a tile must compute beyond itself.

use super::stencil::Stencil;
use crate::algorithm::{ArrayId, ComputationId};
use crate::error::{Error, OverlapObstacle};
use crate::isl::{Ctx, DimType, Set};
use crate::recompute::written_by;
use crate::relation;
use crate::schedule::Schedule;
use std::collections::{BTreeMap, BTreeSet};

/// What a tile needs besides itself.
pub(super) struct Halos {
    /// For each statement and each dimension of space.
    pub(super) of: BTreeMap<ComputationId, Vec<[Side; 2]>>,
    /// The arrays of which a step may read what an earlier step wrote, or what was there before the loop where it writes.
    pub(super) carried: BTreeSet<ArrayId>,
}

/// How far a region reaches beyond the tile on one side: `at_end + slope * (steps left)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Side {
    pub(super) at_end: i64,
    pub(super) slope: i64,
}

/// A value of `from` that `to` reads so many steps later, and where they lie: `to` minus `from`, along each dimension.
struct Distance {
    from: ComputationId,
    to: ComputationId,
    steps: i64,
    least: Vec<i64>,
    most: Vec<i64>,
}

impl Distance {
    /// How much further than the reader the writer has to reach, below and above.
    fn apart(&self, dimension: usize) -> [i64; 2] {
        [self.most[dimension], -self.least[dimension]]
    }
}

/// The halos of blocks of so many steps, of statements in this order.
pub(super) fn halos(
    ctx: &Ctx,
    stencil: &Stencil<'_>,
    order: &Schedule,
    steps: i64,
) -> Result<Result<Halos, OverlapObstacle>, Error> {
    let (distances, carried) = match distances(ctx, stencil, steps)? {
        Ok(found) => found,
        Err(obstacle) => return Ok(Err(obstacle)),
    };
    let dimensions = stencil.dimensions();
    let none: Reach =
        stencil.statements.iter().map(|&id| (id, vec![vec![[0; 2]; dimensions]; steps as usize])).collect();
    for together in [alike(stencil, order, &distances)?, vec![]] {
        let mut reach = none.clone();
        if !spread(&mut reach, &distances, &together, steps) {
            continue;
        }
        let mut of = lines(&reach, |points| line(&points));
        // Lines reach further than they need to here and there, and what they reach there reads other values.
        let mut covered = along(&of, steps);
        let before = covered.clone();
        if spread(&mut covered, &distances, &together, steps) && covered != before {
            of = parallel_lines(&reach, &distances, dimensions);
        }
        return Ok(Ok(Halos { of, carried }));
    }
    Ok(Err(OverlapObstacle::WithinStep))
}

/// Statements that others read, side by side in one loop, for the same instances, which write at the same places. They reach equally far, so that
/// they stay one nest without cases; alone, each would have a region of its own.
fn alike(stencil: &Stencil<'_>, order: &Schedule, distances: &[Distance]) -> Result<Vec<Vec<ComputationId>>, Error> {
    let algorithm = stencil.algorithm;
    let instances = |id: ComputationId| algorithm.computation(id).domain.reset_tuple_id();
    let mut groups: Vec<Vec<ComputationId>> = vec![];
    for &id in stencil.statements.iter().filter(|&&id| is_read(distances, id)) {
        let mut home = None;
        for (at, group) in groups.iter().enumerate() {
            let is_alike = order.are_neighbours(group[0], id)
                && (0..stencil.dimensions()).all(|it| stencil.position(group[0], it) == stencil.position(id, it))
                && instances(group[0])?.is_plainly_equal(&instances(id)?)?;
            if is_alike {
                home = Some(at);
                break;
            }
        }
        match home {
            Some(at) => groups[at].push(id),
            None => groups.push(vec![id]),
        }
    }
    Ok(groups)
}

/// Whether a statement gives values to another one.
fn is_read(distances: &[Distance], id: ComputationId) -> bool {
    distances.iter().any(|it| it.from == id && it.to != id)
}

/// For each statement and number of steps left: how far below and above the tile, along each dimension.
type Reach = BTreeMap<ComputationId, Vec<Vec<[i64; 2]>>>;

type Lines = BTreeMap<ComputationId, Vec<[Side; 2]>>;

/// Has each statement reach as far as those that read its values, and all of a group equally far; `false` where that has no end within a step.
fn spread(reach: &mut Reach, distances: &[Distance], groups: &[Vec<ComputationId>], steps: i64) -> bool {
    for left in 0..steps {
        // What a step needs of itself goes from statement to statement.
        for round in 0..=reach.len() {
            let mut changed = false;
            for it in distances.iter().filter(|it| left >= it.steps) {
                let needs = reach[&it.to][(left - it.steps) as usize].clone();
                let own = &mut reach.get_mut(&it.from).expect("every statement has a reach")[left as usize];
                for (dimension, below_and_above) in needs.into_iter().enumerate() {
                    for ((own, needs), apart) in own[dimension].iter_mut().zip(below_and_above).zip(it.apart(dimension))
                    {
                        changed |= needs + apart > *own;
                        *own = (needs + apart).max(*own);
                    }
                }
            }
            for group in groups {
                changed |= reach_equally(reach, group, left as usize);
            }
            if !changed {
                break;
            }
            if round == reach.len() {
                return false;
            }
        }
    }
    true
}

/// Has all of a group reach as far as the furthest of them; whether that changed any.
fn reach_equally(reach: &mut Reach, group: &[ComputationId], left: usize) -> bool {
    let mut furthest = reach[&group[0]][left].clone();
    for id in group {
        let all = furthest.iter_mut().flatten().zip(reach[id][left].iter().flatten());
        all.for_each(|(furthest, own)| *furthest = (*furthest).max(*own));
    }
    let changed = group.iter().any(|id| reach[id][left] != furthest);
    for id in group {
        reach.get_mut(id).expect("every statement has a reach")[left].clone_from(&furthest);
    }
    changed
}

/// A line for each statement, dimension and side.
fn lines(reach: &Reach, above: impl Fn(Vec<i64>) -> Side) -> Lines {
    let of = reach.iter().map(|(&id, by_step)| {
        let dimensions = by_step.first().map_or(0, Vec::len);
        let side = |dimension: usize, side: usize| above(by_step.iter().map(|it| it[dimension][side]).collect());
        (id, (0..dimensions).map(|dimension| [side(dimension, 0), side(dimension, 1)]).collect())
    });
    of.collect()
}

/// How far lines reach.
fn along(lines: &Lines, steps: i64) -> Reach {
    let at = |side: &Side, left: i64| side.at_end + side.slope * left;
    let of = lines.iter().map(|(&id, sides)| {
        let step = |left: i64| sides.iter().map(|[below, above]| [at(below, left), at(above, left)]).collect();
        (id, (0..steps).map(step).collect())
    });
    of.collect()
}

/// Lines of one slope for all statements, for each dimension and side, that begin where the statements reach in the last step: then what
/// they reach beyond that reads values that they reach, too.
fn parallel_lines(reach: &Reach, distances: &[Distance], dimensions: usize) -> Lines {
    let at_end = |id: ComputationId, dimension: usize, side: usize| reach[&id][0][dimension][side];
    let slope = |dimension: usize, side: usize| {
        let earlier = distances.iter().filter(|it| it.steps > 0);
        let rises = earlier.map(|it| {
            let rise = at_end(it.to, dimension, side) + it.apart(dimension)[side] - at_end(it.from, dimension, side);
            -(-rise).div_euclid(it.steps)
        });
        rises.max().unwrap_or(0).max(0)
    };
    let side = |id: ComputationId, dimension: usize, side: usize| Side {
        at_end: at_end(id, dimension, side),
        slope: slope(dimension, side),
    };
    // What no other statement reads need not reach further.
    let mut of = lines(reach, |points| line(&points));
    for (&id, own) in of.iter_mut().filter(|(id, _)| is_read(distances, **id)) {
        *own = (0..dimensions).map(|dimension| [side(id, dimension, 0), side(id, dimension, 1)]).collect();
    }
    of
}

/// The line above all points that encloses the least.
fn line(points: &[i64]) -> Side {
    let steepest = points.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0).max(0);
    let lines = (0..=steepest).map(|slope| {
        let at_end = points.iter().zip(0..).map(|(&point, left)| point - slope * left).max().unwrap_or(0);
        Side { at_end, slope }
    });
    let area = |it: &Side| (0..points.len() as i64).map(|left| it.at_end + it.slope * left).sum::<i64>();
    lines.min_by_key(area).unwrap_or_default()
}

/// All distances of up to so many steps, and the arrays that carry values from step to step.
#[allow(clippy::type_complexity)]
fn distances(
    ctx: &Ctx,
    stencil: &Stencil<'_>,
    steps: i64,
) -> Result<Result<(Vec<Distance>, BTreeSet<ArrayId>), OverlapObstacle>, Error> {
    let algorithm = stencil.algorithm;
    let (mut found, mut carried) = (vec![], BTreeSet::new());
    let mut elements: BTreeMap<ArrayId, Set> = BTreeMap::new();
    for &array in &stencil.arrays {
        elements.insert(array, stencil.written(ctx, array)?);
    }
    for &reader in &stencil.statements {
        for read in stencil.values_read(reader) {
            if !stencil.arrays.contains(&read.array) {
                continue;
            }
            let mut rest = stencil.flows.values(read.array, &stencil.flows.read(reader, read)?)?;
            let mut inside: Option<Set> = None;
            for &writer in stencil.statements.iter().filter(|&&id| algorithm.computation(id).write.array == read.array)
            {
                let (written, others) = written_by(ctx, algorithm, reader, &rest, writer)?;
                rest = others;
                if written.is_empty()? {
                    continue;
                }
                let from_reader = places(ctx, stencil, reader)?;
                let between = written.apply_domain(&from_reader)?.apply_range(&places(ctx, stencil, writer)?)?;
                let apart = between.reverse()?.deltas()?;
                let [Some(least), Some(most)] = range(&apart, 0)? else {
                    // Some values are old without limit; those of earlier blocks are loaded.
                    carried.insert(read.array);
                    match slices(&apart, (reader, writer), 0..steps)? {
                        Some(all) => found.extend(all),
                        None => return Ok(Err(OverlapObstacle::Unbounded { reader, array: read.array })),
                    }
                    continue;
                };
                if most > 0 {
                    carried.insert(read.array);
                }
                match slices(&apart, (reader, writer), least..steps.min(most.saturating_add(1)))? {
                    Some(all) => found.extend(all),
                    None => return Ok(Err(OverlapObstacle::Unbounded { reader, array: read.array })),
                }
                let readers = written.domain()?;
                inside = Some(match inside {
                    None => readers,
                    Some(others) => others.union(&readers)?,
                });
            }
            // What was there before the loop, where the loop writes.
            let mut before = relation::access(ctx, algorithm, reader, read)?;
            if let Some(inside) = inside {
                before = before.subtract_domain(&inside)?;
            }
            if !before.intersect_range(&elements[&read.array])?.is_empty()? {
                carried.insert(read.array);
            }
        }
    }
    Ok(Ok((found, carried)))
}

/// `{ S[x] -> [time, position] }`.
fn places(ctx: &Ctx, stencil: &Stencil<'_>, id: ComputationId) -> Result<crate::isl::Map, Error> {
    let mut each = vec![stencil.time[&id].clone()];
    each.extend((0..stencil.dimensions()).map(|dimension| stencil.position(id, dimension).clone()));
    relation::functions(ctx, stencil.algorithm, id, &each)
}

/// The distances for each number of steps; `None` where one is not bounded.
fn slices(
    apart: &Set,
    (to, from): (ComputationId, ComputationId),
    steps: std::ops::Range<i64>,
) -> Result<Option<Vec<Distance>>, Error> {
    let mut found = vec![];
    for steps in steps {
        let slice = apart.fix_i32(DimType::Set, 0, i32::try_from(steps).unwrap_or(i32::MAX))?;
        if slice.is_empty()? {
            continue;
        }
        let (mut least, mut most) = (vec![], vec![]);
        for dimension in 1..slice.dim(DimType::Set)? {
            let [Some(low), Some(high)] = range(&slice, dimension as i32)? else { return Ok(None) };
            least.push(low);
            most.push(high);
        }
        found.push(Distance { from, to, steps, least, most });
    }
    Ok(Some(found))
}

/// Distances beyond this are those of sizes that nothing bounds.
pub(super) const FARTHEST: i64 = 1 << 20;

/// The least and the greatest value along a dimension.
fn range(set: &Set, dimension: i32) -> Result<[Option<i64>; 2], Error> {
    let set = set.project_out_all_params()?;
    let bounded = |value: Option<i64>| value.filter(|value| value.abs() < FARTHEST);
    Ok([bounded(set.dim_min_val(dimension)?.to_i64()), bounded(set.dim_max_val(dimension)?.to_i64())])
}
