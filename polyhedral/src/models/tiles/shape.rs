//! Boxes of instances: what a tile of some approach executes.

use super::Approach;
use super::band::Band;
use super::count::{Program, Tile};
use super::slant::Slant;
use crate::algorithm::ComputationId;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::{Ctx, DimType, Map, Set, UnionSet, Val};
use crate::relation;
use std::collections::{BTreeMap, BTreeSet};

/// Boxes that a tile of these sizes consists of, by computation and time step: each dimension's size, then the number of
/// time steps. `corner` are all coordinates, time first if there is any.
pub(super) fn boxes(band: &Band, corner: &[i64], slant: &Slant, sizes: &[u64]) -> Boxes {
    let origin = &corner[usize::from(band.has_time)..];
    let mut boxes = Boxes::new();
    for id in band.main() {
        for step in 0..steps(band, sizes) {
            let sides = (0..band.names.len()).map(|at| {
                let low = origin[at] - slant.skew[at] * step - slant.shift[&id][at];
                (low, low + sizes[at] as i64 - 1)
            });
            boxes.insert((id, step), sides.collect());
        }
    }
    boxes
}

/// The time steps of a tile; one where time is not tiled.
fn steps(band: &Band, sizes: &[u64]) -> i64 {
    if band.has_time { sizes.get(band.names.len()).map_or(1, |&it| it as i64).max(1) } else { 1 }
}

/// Where the boxes of a tile begin: in the middle, or as far before it as the tile needs to lie within the loops. `None` where
/// it is larger than these.
fn corner(band: &Band, ends: &[(i64, i64)], slant: &Slant, sizes: &[u64]) -> Option<Vec<i64>> {
    let steps = steps(band, sizes);
    let first = usize::from(band.has_time);
    let place = |at: usize| {
        let (low, high) = ends[at];
        // How far boxes lie before the first one, and how far its end is from its begin.
        let (before, along) = match at.checked_sub(first) {
            None => (0, steps - 1),
            Some(dimension) => {
                let shift = slant.shift.values().map(|shift| shift[dimension]).max().unwrap_or(0);
                (slant.skew[dimension] * (steps - 1) + shift, sizes[dimension] as i64 - 1)
            }
        };
        let corner = (low + (high - low) / 2).max(low + before).min(high - along);
        (corner - before >= low).then_some(corner)
    };
    (0..ends.len()).map(place).collect()
}

/// Why there is no tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTile {
    /// It is larger than the loops.
    Beyond,
    /// A time step passes values on and on.
    Chain,
}

/// The tile of these sizes in the middle of the instances: each dimension's size, then the number of time steps. `ends` are [`ends`].
pub(super) fn tile(
    ctx: &Ctx,
    program: &Program,
    band: &Band,
    approach: Approach,
    (slant, ends): (&Slant, &[(i64, i64)]),
    sizes: &[u64],
) -> Result<Result<Tile, NoTile>, Error> {
    let Some(corner) = corner(band, ends, slant, sizes) else { return Ok(Err(NoTile::Beyond)) };
    let start = if band.has_time { step_from(ctx, program, band, corner[0])? } else { 0 };
    let own = boxes(band, &corner, slant, sizes);
    let mut owned = UnionSet::empty_in(ctx)?;
    for ((id, step), sides) in &own {
        owned = owned.union(&part(ctx, program, band, *id, start + step, sides)?)?;
    }
    if approach != Approach::Redundant {
        return Ok(Ok(Tile { run: owned.clone(), inside: owned.clone(), owned }));
    }
    let Some(ranges) = ranges(ctx, program, band)? else { return Ok(Err(NoTile::Chain)) };
    let Some(boxes) = widen(&ranges, own) else { return Ok(Err(NoTile::Chain)) };
    let mut run = UnionSet::empty_in(ctx)?;
    let mut inside = UnionSet::empty_in(ctx)?;
    for ((id, step), sides) in &boxes {
        run = run.union(&part(ctx, program, band, *id, start + step, sides)?)?;
        inside = inside.union(&part(ctx, program, band, *id, start + step, &[])?)?;
    }
    Ok(Ok(Tile { run, owned, inside }))
}

/// By computation and time step, a range along each dimension of space.
pub(super) type Boxes = BTreeMap<(ComputationId, i64), Vec<(i64, i64)>>;

/// Who reads whose value, and the least and greatest distance along each coordinate, time first.
pub(super) type Range = (ComputationId, ComputationId, Vec<(i64, i64)>);

/// How far values travel within a band; `None` where that has no bound.
fn ranges(ctx: &Ctx, program: &Program, band: &Band) -> Result<Option<Vec<Range>>, Error> {
    let mut ranges = vec![];
    for flow in &program.flows {
        let (from, to) = (flow.source.computation, flow.sink.computation);
        if !band.computations.contains(&from) || !band.computations.contains(&to) {
            continue;
        }
        let set = distance(ctx, program, band, flow)?;
        let bounds = (0..=band.names.len() as i32).map(|at| {
            let (low, high) = (set.dim_min_val(at)?.to_i64(), set.dim_max_val(at)?.to_i64());
            Ok::<_, Error>(low.zip(high))
        });
        let Some(bounds) = bounds.collect::<Result<Option<Vec<(i64, i64)>>, _>>()? else { return Ok(None) };
        ranges.push((from, to, bounds));
    }
    Ok(Some(ranges))
}

/// Boxes that hold also what the values of the boxes are computed from, within the tile's time steps; `None` where one
/// time step passes values on and on.
pub(super) fn widen(ranges: &[Range], mut boxes: Boxes) -> Option<Boxes> {
    // Values come from earlier steps, so that one pass backwards is enough where none stay within a step.
    let steps: BTreeSet<i64> = boxes.keys().map(|(_, step)| *step).collect();
    for _ in 0..=boxes.len() {
        let mut changed = false;
        for step in steps.iter().rev() {
            for (from, to, bounds) in ranges {
                let Some(sides) = boxes.get(&(*to, *step)).cloned() else { continue };
                for back in bounds[0].0..=bounds[0].1.min(*step) {
                    let Some(source) = boxes.get_mut(&(*from, step - back)) else { continue };
                    for ((low, high), (side, range)) in source.iter_mut().zip(sides.iter().zip(&bounds[1..])) {
                        let wide = ((*low).min(side.0 - range.1), (*high).max(side.1 - range.0));
                        changed |= wide != (*low, *high);
                        (*low, *high) = wide;
                    }
                }
            }
        }
        if !changed {
            return Some(boxes);
        }
    }
    None
}

/// The instances of a computation at one time step whose coordinates in space lie within the sides.
fn part(
    ctx: &Ctx,
    program: &Program,
    band: &Band,
    id: ComputationId,
    time: i64,
    sides: &[(i64, i64)],
) -> Result<UnionSet, Error> {
    let first = usize::from(band.has_time);
    let mut map = relation::functions(ctx, &program.algorithm, id, &band.coordinates[&id])?;
    let mut bounds: Vec<(usize, i64, i64)> = if band.has_time { vec![(0, time, time)] } else { vec![] };
    bounds.extend(sides.iter().enumerate().map(|(at, &(low, high))| (first + at, low, high)));
    for (at, low, high) in bounds {
        let value = |it| Val::from_i64(ctx, it);
        map = map.lower_bound(DimType::Out, at as u32, &value(low)?)?.upper_bound(
            DimType::Out,
            at as u32,
            &value(high)?,
        )?;
    }
    let set = map.domain()?.intersect(&relation::domain(&program.algorithm, id)?)?;
    Ok(set.to_union_set()?.project_out_all_params()?)
}

/// The time of the first instances at or after a time; the time itself, if there are none.
fn step_from(ctx: &Ctx, program: &Program, band: &Band, time: i64) -> Result<i64, Error> {
    let Some(id) = band.main().next() else { return Ok(time) };
    let map = relation::functions(ctx, &program.algorithm, id, &band.coordinates[&id])?;
    let range = relation::domain(&program.algorithm, id)?.apply(&map)?;
    let later = range.lower_bound(DimType::Set, 0, &Val::from_i64(ctx, time)?)?;
    Ok(later.dim_min_val(0)?.to_i64().unwrap_or(time))
}

/// The middle of the ranges of all coordinates.
pub(super) fn center(ctx: &Ctx, program: &Program, band: &Band) -> Result<Option<Vec<i64>>, Error> {
    let middle = |(low, high): &(i64, i64)| low + (high - low) / 2;
    Ok(ends(ctx, program, band)?.map(|ends| ends.iter().map(middle).collect()))
}

/// The least and the greatest value of each coordinate, time first if there is any, where those before it are in the middle: a box
/// there lies where loops are full, whose bounds depend on one another. `None` where the loops run for nothing.
pub(super) fn ends(ctx: &Ctx, program: &Program, band: &Band) -> Result<Option<Vec<(i64, i64)>>, Error> {
    let Some(id) = band.main().next() else { return Ok(None) };
    let map = relation::functions(ctx, &program.algorithm, id, &band.coordinates[&id])?;
    let mut range = relation::domain(&program.algorithm, id)?.apply(&map)?;
    if range.is_empty()? {
        return Ok(None);
    }
    let mut all = vec![];
    for at in 0..band.coordinates[&id].len() {
        let Some((low, high)) = ends_along(&range, at)? else { return Ok(None) };
        let middle = Val::from_i64(ctx, low + (high - low) / 2)?;
        let beyond = range.lower_bound(DimType::Set, at as u32, &middle)?;
        range = range.fix(DimType::Set, at as u32, &beyond.dim_min_val(at as i32)?)?;
        all.push((low, high));
    }
    Ok(Some(all))
}

/// How many iterations each loop has at most, whatever the parameters are; `None` for one whose number depends on them.
pub(super) fn constant_extents(ctx: &Ctx, program: &Program, band: &Band) -> Result<Vec<Option<u64>>, Error> {
    let Some(id) = band.main().next() else { return Ok(vec![]) };
    let map = relation::functions(ctx, &program.algorithm, id, &band.coordinates[&id])?;
    let range = program.algorithm.computation(id).domain.apply(&map)?.project_out_all_params()?;
    let extent = |at| Ok(ends_along(&range, at)?.map(|(low, high)| (high - low + 1).max(1) as u64));
    (0..band.coordinates[&id].len()).map(extent).collect()
}

/// The least and the greatest value along a dimension that has both.
fn ends_along(range: &Set, at: usize) -> Result<Option<(i64, i64)>, Error> {
    let (low, high) = (range.dim_min_val(at as i32)?.to_i64(), range.dim_max_val(at as i32)?.to_i64());
    Ok(low.zip(high))
}

/// `{ [sink - source] }` in the coordinates of a band.
pub(super) fn distance(ctx: &Ctx, program: &Program, band: &Band, dependence: &Dependence) -> Result<Set, Error> {
    let at = |id: ComputationId| relation::functions(ctx, &program.algorithm, id, &band.coordinates[&id]);
    let relation: Map = dependence.relation.apply_domain(&at(dependence.source.computation)?)?;
    Ok(relation.apply_range(&at(dependence.sink.computation)?)?.deltas()?)
}
