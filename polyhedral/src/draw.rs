//! Two dimensions of a program's instances for concrete sizes, as plain data that is easy to draw: points, the
//! dependences between them, the tiles and the order of a schedule.
//!
//! The tiles are those of the schedule tree: whatever loops count tiles (`floor(e/d)`), and the places of sequences
//! around them. A schedule that tiles time is drawn like any other.

mod choose;
mod order;
pub mod tilings;

pub use choose::{Choice, choose};

use crate::affine::{Affine, Atom};
use crate::algorithm::{Algorithm, ComputationId};
use crate::dependence::{Dependence, DependenceKind};
use crate::error::Error;
use crate::isl::{Ctx, DimType, IslError, Set, Val};
use crate::relation;
use crate::schedule::{Path, Schedule};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// More points than this are no picture.
pub const MOST_POINTS: usize = 2500;

/// More arrows than this hide what they show: all are left out.
pub const MOST_ARROWS: usize = 4000;

/// Which coordinates instances have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawnSpace {
    /// The iterators of the source.
    Iterations,
    /// What the loops of the schedule run through.
    Schedule,
}

/// What to draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub space: DrawnSpace,
    /// The computations whose instances are drawn; all have both dimensions.
    pub computations: Vec<ComputationId>,
    /// Names of coordinates: horizontal, vertical; one alone is drawn as a row.
    pub dims: Vec<String>,
    /// The values of other coordinates; what is missing is set to the middle of its range.
    pub fixed: Vec<(String, i64)>,
    /// The value of each parameter.
    pub params: Vec<i64>,
}

/// What is to be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub view: View,
    pub points: Vec<Point>,
    pub arrows: Arrows,
    /// In the order in which they run first.
    pub tiles: Vec<Tile>,
    /// Loops whose iterations run in any order, of those that have several iterations here.
    pub open: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub computation: ComputationId,
    pub instance: Vec<i64>,
    /// Horizontal and vertical.
    pub at: [i64; 2],
    /// Position in [`Picture::tiles`].
    pub tile: Option<usize>,
    /// When it can run at the earliest, from 1; points with one step may run at the same time.
    pub step: u64,
    /// The point that the same thread runs just before.
    pub before: Option<usize>,
}

/// The direct dependences between the points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrows {
    All(Vec<Arrow>),
    /// There are more than [`MOST_ARROWS`].
    TooMany,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// Positions in [`Picture::points`].
    pub from: usize,
    pub to: usize,
    pub kind: DependenceKind,
}

/// Points that run together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// The tile loops around it and their values, outermost first.
    pub at: Vec<(String, i64)>,
}

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DrawError {
    #[error(transparent)]
    Core(#[from] Error),
    #[error("no computation has the dimension{} {}", if .dims.len() == 1 { "" } else { "s" }, quoted(.dims))]
    NoDimensions { dims: Vec<String>, known: Vec<String> },
    #[error("there is no computation `{name}`")]
    NoComputation { name: String, known: Vec<String> },
    #[error("`{name}` cannot be fixed: it is no other dimension of what is drawn")]
    NotFixed { name: String, known: Vec<String> },
    #[error("nothing is in a loop, so there is nothing to draw")]
    NoLoops,
    #[error("no loop runs over time: a stencil has a loop over nests that are one after the other, or over one nest")]
    NoTime,
    #[error("with these sizes there is no instance to draw")]
    Empty,
    #[error("there are more than {MOST_POINTS} points")]
    TooManyPoints,
}

impl From<IslError> for DrawError {
    fn from(error: IslError) -> Self {
        DrawError::Core(error.into())
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}

/// A computation's coordinates: names and functions of its iterators.
pub(crate) fn coordinates(
    algorithm: &Algorithm,
    schedule: &Schedule,
    space: DrawnSpace,
    id: ComputationId,
) -> Vec<(String, Affine)> {
    match space {
        DrawnSpace::Iterations => {
            let names = algorithm.computation(id).iterators.iter().enumerate();
            names.map(|(at, name)| (name.clone(), Affine::iterator(at as u32))).collect()
        }
        DrawnSpace::Schedule => {
            schedule.loops_around(id).into_iter().map(|(_, it)| (it.name.clone(), it.at[&id].clone())).collect()
        }
    }
}

/// Enumerates what a view shows of a program.
///
/// # Errors
/// [`DrawError::TooManyPoints`] beyond [`MOST_POINTS`]; isl's own failure.
pub fn picture(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependences: &[Dependence],
    view: &View,
) -> Result<Picture, DrawError> {
    let mut view = view.clone();
    let mut slices: BTreeMap<ComputationId, Set> = BTreeMap::new();
    for id in view.computations.clone() {
        slices.insert(id, slice(ctx, algorithm, schedule, &mut view, id)?);
    }
    let mut points = vec![];
    for &id in &view.computations {
        for instance in instances(&slices[&id], MOST_POINTS - points.len())?.ok_or(DrawError::TooManyPoints)? {
            let coordinates = coordinates(algorithm, schedule, view.space, id);
            let value = |dim: &String| {
                let (_, function) = coordinates.iter().find(|(name, _)| name == dim)?;
                function.evaluate(&instance, &view.params)
            };
            let values: Vec<i64> = view.dims.iter().filter_map(value).collect();
            let at = [values[0], values.get(1).copied().unwrap_or(0)];
            points.push(Point { computation: id, instance, at, tile: None, step: 0, before: None });
        }
    }
    if points.is_empty() {
        return Err(DrawError::Empty);
    }
    let open = order::set_steps(schedule, &view.params, &mut points);
    let tiles = set_tiles(schedule, &view.params, &mut points);
    let arrows = arrows(ctx, algorithm, dependences, &view, &slices, &points)?;
    Ok(Picture { view, points, arrows, tiles, open })
}

/// The instances of a computation that are drawn, for the view's sizes; settles what is fixed.
fn slice(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    view: &mut View,
    id: ComputationId,
) -> Result<Set, DrawError> {
    let mut set = with_params(ctx, algorithm, &relation::domain(algorithm, id)?, &view.params)?;
    for (name, function) in coordinates(algorithm, schedule, view.space, id) {
        if view.dims.contains(&name) || set.is_empty()? {
            continue;
        }
        let map = relation::function(ctx, algorithm, id, &function)?;
        let value = match view.fixed.iter().find(|(fixed, _)| *fixed == name) {
            Some((_, value)) => *value,
            None => {
                let values = set.apply(&map)?.project_out_all_params()?;
                let low = values.lexmin()?.sample_point()?.coordinates()?[0];
                let high = values.lexmax()?.sample_point()?.coordinates()?[0];
                let value = i64::midpoint(low, high);
                view.fixed.push((name, value));
                value
            }
        };
        let wanted = map.range()?.fix(DimType::Set, 0, &Val::from_i64(ctx, value)?)?;
        set = set.intersect(&map.intersect_range(&wanted)?.domain()?)?;
    }
    Ok(set.project_out_all_params()?)
}

fn with_params(ctx: &Ctx, algorithm: &Algorithm, set: &Set, params: &[i64]) -> Result<Set, DrawError> {
    let mut set = set.clone();
    for (param, value) in algorithm.params.iter().zip(params) {
        if let Some(at) = set.space()?.find_dim_by_name(DimType::Param, &param.name)? {
            set = set.fix(DimType::Param, at, &Val::from_i64(ctx, *value)?)?;
        }
    }
    Ok(set.project_out_all_params()?)
}

/// The points of a set in lexicographic order; `None` if there are more than `most`.
fn instances(set: &Set, most: usize) -> Result<Option<Vec<Vec<i64>>>, DrawError> {
    let mut found: Vec<Vec<i64>> = vec![];
    // isl has no points of an empty set to go through.
    if set.is_empty()? {
        return Ok(Some(found));
    }
    let flow = set.foreach_point(|point| {
        if found.len() == most {
            return ControlFlow::Break(Ok(()));
        }
        match point.coordinates() {
            Ok(values) => found.push(values),
            Err(error) => return ControlFlow::Break(Err(error)),
        }
        ControlFlow::Continue(())
    })?;
    match flow {
        ControlFlow::Break(Err(error)) => Err(error.into()),
        ControlFlow::Break(Ok(())) => Ok(None),
        ControlFlow::Continue(()) => {
            found.sort();
            Ok(Some(found))
        }
    }
}

fn arrows(
    ctx: &Ctx,
    algorithm: &Algorithm,
    dependences: &[Dependence],
    view: &View,
    slices: &BTreeMap<ComputationId, Set>,
    points: &[Point],
) -> Result<Arrows, DrawError> {
    let place = |point: &Point| (point.computation, point.instance.clone());
    let places: BTreeMap<_, usize> = points.iter().enumerate().map(|(at, point)| (place(point), at)).collect();
    let mut found = vec![];
    for dependence in dependences {
        let (source, sink) = (dependence.source.computation, dependence.sink.computation);
        let (Some(from), Some(to)) = (slices.get(&source), slices.get(&sink)) else { continue };
        let pairs = dependence.relation.intersect_domain(from)?.intersect_range(to)?;
        let pairs = with_params(ctx, algorithm, &pairs.wrap()?, &view.params)?.flatten()?;
        let Some(pairs) = instances(&pairs, MOST_ARROWS)? else { return Ok(Arrows::TooMany) };
        for pair in pairs {
            let (first, second) = pair.split_at(algorithm.computation(source).iterators.len());
            if let (Some(&from), Some(&to)) =
                (places.get(&(source, first.to_vec())), places.get(&(sink, second.to_vec())))
            {
                found.push(Arrow { from, to, kind: dependence.kind });
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(if found.len() > MOST_ARROWS { Arrows::TooMany } else { Arrows::All(found) })
}

/// Gives each point its tile, in the order in which tiles run first.
fn set_tiles(schedule: &Schedule, params: &[i64], points: &mut [Point]) -> Vec<Tile> {
    let mut in_order: Vec<usize> = (0..points.len()).collect();
    in_order.sort_by_key(|&at| points[at].step);
    let mut keys: Vec<(Path, Vec<(String, i64)>)> = vec![];
    for at in in_order {
        let point = &points[at];
        let around = schedule.loops_around(point.computation);
        let tile_loops = around.iter().filter(|(_, it)| counts_tiles(&it.at[&point.computation]));
        let mut key = (Path::default(), vec![]);
        for (path, it) in tile_loops {
            let value = it.at[&point.computation].evaluate(&point.instance, params).unwrap_or(i64::MAX);
            key.0.clone_from(path);
            key.1.push((it.name.clone(), value));
        }
        if key.1.is_empty() {
            continue;
        }
        let number = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            keys.push(key);
            keys.len() - 1
        });
        points[at].tile = Some(number);
    }
    keys.into_iter().map(|(_, at)| Tile { at }).collect()
}

/// Whether a loop runs through the quotients of something.
fn counts_tiles(at: &Affine) -> bool {
    matches!(at.terms(), [(Atom::FloorDiv(..), 1 | -1)])
}
