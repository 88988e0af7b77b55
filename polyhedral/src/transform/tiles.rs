//! Commands that make two loops of one, or one of two: split, tile, parallelogram, unroll_and_jam, collapse.

use super::find::{find_computation, find_loop, loop_mut, perfect_pair};
use super::tree::{has_loop, names_around, put_chain, sink, take_chain};
use crate::affine::{Affine, AffineOverflow};
use crate::algorithm::Algorithm;
use crate::error::{Error, ScheduleError};
use crate::fresh::fresh_among;
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::models::parallelograms::matrix::Matrix;
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use std::collections::BTreeMap;

/// Splits a loop into tiles and points.
///
/// Rewrite: `for i in l..u { S } -> for i0 { for i1 in 0..n { S } }` with `i = l + n*i0 + i1`; `l` is the loop's
/// smallest value where that is a number, else 0. Always legal.
pub fn split(ctx: &Ctx, scheduled: &Scheduled, computation: &str, at: &str, size: u32) -> Result<Schedule, Error> {
    let (path, _) = find_loop(scheduled, computation, at)?;
    let mut schedule = scheduled.schedule.clone();
    split_at(ctx, &scheduled.algorithm, &mut schedule, &path, size)?;
    Ok(schedule)
}

/// Splits perfectly nested loops and brings their tile loops outside.
///
/// Rewrite: `for i { for j { S } } -> for i0 { for j0 { for i1 { for j1 { S } } } }`
///
/// # Source
/// Bondhugula et al., PLDI 2008, section 4: legal where the band is permutable.
pub fn tile(
    ctx: &Ctx,
    scheduled: &Scheduled,
    computation: &str,
    loops: &[String],
    sizes: &[u32],
) -> Result<Schedule, Error> {
    if loops.len() != sizes.len() || loops.is_empty() {
        return Err(ScheduleError::SizeCount { loops: loops.len(), sizes: sizes.len() }.into());
    }
    for pair in loops.windows(2) {
        adjacent_pair(scheduled, computation, &pair[0], &pair[1])?;
    }
    let (top, _) = find_loop(scheduled, computation, &loops[0])?;
    let mut schedule = scheduled.schedule.clone();
    let mut path = top.clone();
    for size in sizes {
        split_at(ctx, &scheduled.algorithm, &mut schedule, &path, *size)?;
        path.0.extend([0, 0]);
    }
    // The chain is now i0 i1 j0 j1 ...: bring the tile loops to the front.
    let chain = take_chain(&mut schedule, &top, 2 * loops.len());
    let (tiles, points): (Vec<_>, Vec<_>) = chain.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let order: Vec<Loop> = tiles.into_iter().chain(points).map(|(_, it)| it).collect();
    put_chain(&mut schedule, &top, order);
    Ok(schedule)
}

/// Tiles perfectly nested loops by parallelograms, or parallelepipeds: the edges of a tile are the rows of a matrix `T`.
///
/// Rewrite: `for t { for i { S } } -> for t0 { for i0 { for t { for i { S } } } }`; the tile of a point `x` is the largest
/// integer vector that is at most `x T^-1`, and the points of a tile run in the order of the loops. Legal if the order stays
/// legal: for all dependences to go forward, each must lie in the cone of the edges.
///
/// # Source
/// Zhou, Garzarán, Padua, *Optimal parallelogram selection for hierarchical tiling*, TACO 11(4), 2014, section 3.
pub fn parallelogram(
    scheduled: &Scheduled,
    computation: &str,
    loops: &[String],
    edges: &[Vec<i64>],
) -> Result<Schedule, Error> {
    let id = find_computation(&scheduled.algorithm, computation)?;
    let around = scheduled.schedule.loops_around(id);
    let outermost: Vec<String> = around.iter().take(edges.len()).map(|(_, it)| it.name.clone()).collect();
    let loops = if loops.is_empty() { &outermost } else { loops };
    if loops.is_empty() || loops.len() != edges.len() || edges.iter().any(|edge| edge.len() != loops.len()) {
        return Err(ScheduleError::EdgeCount { loops: loops.len() }.into());
    }
    for pair in loops.windows(2) {
        adjacent_pair(scheduled, computation, &pair[0], &pair[1])?;
    }
    let (top, _) = find_loop(scheduled, computation, &loops[0])?;
    let mut schedule = scheduled.schedule.clone();
    let mut taken = names_around(&schedule, &top);
    let points = take_chain(&mut schedule, &top, loops.len());
    if let Some(it) = points.iter().find(|it| it.tag != Tag::Sequential) {
        let (computation, at) = (computation.to_string(), it.name.clone());
        return Err(ScheduleError::AlreadyTagged { computation, at, tag: it.tag.adjective() }.into());
    }
    let mut chain = tile_loops(&points, &Matrix { rows: edges.to_vec() }, &mut taken)?;
    chain.extend(points);
    put_chain(&mut schedule, &top, chain);
    Ok(schedule)
}

/// The loops that count tiles whose edges are the rows of a matrix, in steps of these loops, under names that are not taken.
///
/// # Errors
/// Where the edges span no tile.
pub(crate) fn tile_loops(points: &[Loop], edges: &Matrix, taken: &mut Vec<String>) -> Result<Vec<Loop>, Error> {
    let inverse = edges.inverse().ok_or(ScheduleError::FlatTile)?;
    let denominator = i64::try_from(inverse.denominator).map_err(|_| AffineOverflow)?;
    let mut chain = vec![];
    for (axis, it) in points.iter().enumerate() {
        let mut at = BTreeMap::new();
        for id in it.at.keys() {
            let mut sum = Affine::constant(0);
            for (row, other) in inverse.numerators.iter().zip(points) {
                let factor = i64::try_from(row[axis]).map_err(|_| AffineOverflow)?;
                sum = sum.add(&other.at[id].scale(factor)?)?;
            }
            at.insert(*id, sum.floor_div(denominator));
        }
        let name = fresh_among(&format!("{}0", it.name), taken);
        taken.push(name.clone());
        chain.push(Loop { name, at, ..it.clone() });
    }
    Ok(chain)
}

/// Runs several iterations of a loop together, statement by statement of the loops inside.
///
/// Rewrite: `for i { for j { S } } -> for i0 { for j { for i1 in 0..f { S } } }`, `i1` unrolled; where several statements
/// or loops stand in the body, each innermost loop below gets an `i1` of its own.
///
/// # Source
/// Callahan, Cocke, Kennedy, *Estimating interlock and improving balance for pipelined architectures*, JPDC 5(4), 1988.
pub fn unroll_and_jam(
    ctx: &Ctx,
    scheduled: &Scheduled,
    computation: &str,
    at: &str,
    factor: u32,
) -> Result<Schedule, Error> {
    let (path, it) = find_loop(scheduled, computation, at)?;
    if !has_loop(&it.body) {
        let (computation, at) = (computation.to_string(), at.to_string());
        return Err(ScheduleError::NothingToJam { computation, at, factor }.into());
    }
    let mut schedule = scheduled.schedule.clone();
    split_at(ctx, &scheduled.algorithm, &mut schedule, &path, factor)?;
    let body = path.child(0);
    let mut points = take_chain(&mut schedule, &body, 1).remove(0);
    points.tag = Tag::Unroll(factor);
    sink(schedule.node_mut(&body).expect("the tile loop has a body"), &points);
    Ok(schedule)
}

/// Makes one loop of two.
///
/// Rewrite: `for i { for j in l..l+n { S } } -> for ij { S }` with `ij = n*i + j - l`. `j` must take values of a range that
/// is the same for all sizes. Always legal.
pub fn collapse(
    ctx: &Ctx,
    scheduled: &Scheduled,
    computation: &str,
    outer: &str,
    inner: &str,
) -> Result<Schedule, Error> {
    let (outer_path, inner_path) = adjacent_pair(scheduled, computation, outer, inner)?;
    let mut schedule = scheduled.schedule.clone();
    let low = loop_mut(&mut schedule, &inner_path).clone();
    let Some((least, most)) = constant_range(ctx, &scheduled.algorithm, &low)? else {
        let (computation, at) = (computation.to_string(), inner.to_string());
        return Err(ScheduleError::VaryingExtent { computation, at }.into());
    };
    let count = most - least + 1;
    let mut taken = names_around(&schedule, &outer_path);
    taken.retain(|name| name != outer && name != inner);
    let high = loop_mut(&mut schedule, &outer_path);
    for it in [&*high, &low] {
        if it.tag != Tag::Sequential {
            let (computation, at) = (computation.to_string(), it.name.clone());
            return Err(ScheduleError::AlreadyTagged { computation, at, tag: it.tag.adjective() }.into());
        }
    }
    for (id, at) in &mut high.at {
        *at = at.scale(count)?.add(&low.at[id].add_constant(-least)?)?;
    }
    high.name = fresh_among(&format!("{outer}{inner}"), &taken);
    high.body = low.body;
    Ok(schedule)
}

/// The paths of two loops, the second directly inside the first.
fn adjacent_pair(
    scheduled: &Scheduled,
    computation: &str,
    outer: &str,
    inner: &str,
) -> Result<(Path, Path), ScheduleError> {
    let (outer_path, inner_path) = perfect_pair(scheduled, computation, outer, inner)?;
    if inner_path.0.len() != outer_path.0.len() + 1 {
        let (computation, between) = (computation.to_string(), vec![]);
        let (outer, inner) = (outer.to_string(), inner.to_string());
        return Err(ScheduleError::NotPerfectlyNested { computation, outer, inner, between });
    }
    Ok((outer_path, inner_path))
}

/// Splits the loop at `path`; the tile loop takes its place and the point loop stands just inside.
pub(crate) fn split_at(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &mut Schedule,
    path: &Path,
    size: u32,
) -> Result<(), Error> {
    split_from(ctx, algorithm, schedule, path, size, 0)
}

/// The same with a first tile that begins so many iterations before the loop's smallest value, and lacks these.
pub(crate) fn split_from(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &mut Schedule,
    path: &Path,
    size: u32,
    before: u32,
) -> Result<(), Error> {
    let it = loop_mut(schedule, path).clone();
    if it.tag != Tag::Sequential {
        let id = it.at.keys().next().expect("a loop holds at least one computation");
        let computation = algorithm.computation(*id).name.clone();
        return Err(ScheduleError::AlreadyTagged { computation, at: it.name, tag: it.tag.adjective() }.into());
    }
    let origin = smallest_value(ctx, algorithm, &it)?.unwrap_or(0) - i64::from(before);
    let taken = names_around(schedule, path);
    let [tile_name, point_name] = ["0", "1"].map(|suffix| fresh_among(&format!("{}{suffix}", it.name), &taken));
    let size = i64::from(size);
    let (mut tiles, mut points) = (BTreeMap::new(), BTreeMap::new());
    for (id, at) in &it.at {
        let from_origin = at.add_constant(-origin)?;
        tiles.insert(*id, from_origin.floor_div(size));
        points.insert(*id, from_origin.modulo(size)?);
    }
    let inner = Loop { name: point_name, tag: it.tag, at: points, body: it.body };
    *loop_mut(schedule, path) =
        Loop { name: tile_name, tag: Tag::Sequential, at: tiles, body: Box::new(Node::Loop(inner)) };
    Ok(())
}

/// The smallest value that a loop takes, if it is the same for all parameters.
pub(crate) fn smallest_value(ctx: &Ctx, algorithm: &Algorithm, it: &Loop) -> Result<Option<i64>, Error> {
    // What is beyond comes from the context, which bounds all parameters.
    let meaningful = |value: &i64| value.unsigned_abs() < 1 << 32;
    Ok(extremes(ctx, algorithm, it)?.and_then(|it| it.low).filter(meaningful))
}

/// Ranges longer than this count as depending on sizes: the parameter context bounds sizes, too.
const LONGEST_CONSTANT_RANGE: i64 = 1 << 20;

/// The smallest and the largest value that a loop takes, for whatever parameters; `None` where sizes bound them.
pub fn constant_range(ctx: &Ctx, algorithm: &Algorithm, it: &Loop) -> Result<Option<(i64, i64)>, Error> {
    let Some(Extremes { low: Some(low), high: Some(high) }) = extremes(ctx, algorithm, it)? else { return Ok(None) };
    Ok(high.checked_sub(low).is_some_and(|length| length < LONGEST_CONSTANT_RANGE).then_some((low, high)))
}

/// The smallest and the largest value of a loop over all parameters, each if there is one.
struct Extremes {
    low: Option<i64>,
    high: Option<i64>,
}

/// `None` for a loop that never runs.
fn extremes(ctx: &Ctx, algorithm: &Algorithm, it: &Loop) -> Result<Option<Extremes>, Error> {
    let mut found: Option<Extremes> = None;
    for (id, at) in &it.at {
        let values = relation::domain(algorithm, *id)?.apply(&relation::function(ctx, algorithm, *id, at)?)?;
        if values.is_empty()? {
            continue;
        }
        let values = values.project_out_all_params()?;
        let (low, high) = (values.dim_min_val(0)?.to_i64(), values.dim_max_val(0)?.to_i64());
        found = Some(match found {
            None => Extremes { low, high },
            Some(so_far) => Extremes {
                low: so_far.low.zip(low).map(|(a, b)| a.min(b)),
                high: so_far.high.zip(high).map(|(a, b)| a.max(b)),
            },
        });
    }
    Ok(found)
}
