//! The tiles of each tiling of time, along time and one dimension of space: which points each tile computes, and in which round it
//! runs.
//!
//! A tiling is carried out on the program and proved as for any schedule; its tiles are read off the loops that it makes. The strips
//! of a `stream`, which has none, follow from the slopes of the dependences and from what its lanes hold.

use super::{DrawError, MOST_POINTS, instances, with_params};
use crate::affine::{Affine, Atom};
use crate::algorithm::ComputationId;
use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::{Ctx, DimType, Set, Val};
use crate::layers::Scheduled;
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, StreamSize, Tag};
use crate::stream;
use crate::time_tiling::{Hexagon, Slope, Stencil, Within, stencil};
use crate::transform;
use std::collections::{BTreeMap, BTreeSet};

/// All tilings of a stencil.
#[derive(Debug)]
pub struct Tilings {
    /// The time loop, and the sweeps over space that each of its iterations counts as steps.
    pub time: String,
    pub sweeps: usize,
    pub shapes: Vec<Shape>,
}

/// One tiling, and its tiles or why it has none, or none that can be drawn.
#[derive(Debug)]
pub struct Shape {
    pub command: Command,
    /// The dimension of space that is drawn.
    pub dim: String,
    pub tiles: Result<Vec<ShapeTile>, DrawError>,
}

/// The round of a tile, and its number.
type TileKey = (Vec<i64>, Vec<i64>);

/// Statements of the source, and places and steps at which they stand.
pub type Statements = BTreeSet<(ComputationId, [i64; 2])>;

/// What one tile computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeTile {
    /// Tiles of one round may run at the same time; rounds are counted from 1.
    pub round: usize,
    /// Place and step.
    pub points: BTreeSet<[i64; 2]>,
    /// The same for each statement of the source: several may stand at one point, in tiles of their own.
    pub statements: Statements,
}

impl ShapeTile {
    fn new(round: usize, statements: Statements) -> ShapeTile {
        ShapeTile { round, points: statements.iter().map(|(_, point)| *point).collect(), statements }
    }
}

/// Sizes of the tiles that are drawn: steps of time, and points of space.
const STEPS: u32 = 4;
const WIDTH: u32 = 8;
/// A hexagon's height, or the next one that goes with the sweeps of a step, and its width: those of figure 5 of the report.
const HEIGHT: i64 = 2;
const LEAST_WIDTH: i64 = 3;

/// Instances that are looked at for a tiling: several statements may stand at a point, and some are computed again.
const MOST_INSTANCES: usize = 4 * MOST_POINTS;

/// What part of the work that is left the proof and the tiles of one shape may take: one that is too hard leaves enough for the others.
const SHARE: u64 = 3;

/// The tiles of each shape for the first time loop of a program in its source's order, along `dim`, or the outermost dimension. What
/// one shape lacks leaves the others.
///
/// # Errors
/// [`DrawError::NoTime`] where no loop is a time loop over a stencil.
pub fn tilings(
    ctx: &Ctx,
    start: &Scheduled,
    dependences: &[Dependence],
    dim: Option<&str>,
    params: &[i64],
) -> Result<Tilings, DrawError> {
    let mut found = find(ctx, start, dim)?;
    found.stencil = found.stencil.merged(ctx, start, dependences)?;
    // Each tiling has at least the points of the source.
    found.tiles(ctx, start, start, params, MOST_POINTS)?;
    let on_gpu = Scheduled { target: crate::layers::Target::Gpu, ..start.clone() };
    let computation = found.computation.clone();
    let (time, loops) = (found.time.clone(), vec![found.dim.clone()]);
    let nests = found.stencil.sweeps;
    let share = ctx.operations_left().map_or(0, |left| (left / SHARE).max(1));
    let mut shapes = vec![];
    let mut add = |command: Command, start: &Scheduled| {
        let tiles = ctx.with_budget(share, || {
            let tiled = transform::apply(ctx, start, dependences, &command)?;
            found.tiles(ctx, start, &tiled, params, MOST_INSTANCES)
        });
        shapes.push(Shape { command, dim: found.dim.clone(), tiles });
    };
    let slopes = ctx.with_budget(share, || found.slopes(ctx, start, dependences));
    let computations = vec![computation.clone()];
    let widths = vec![WIDTH];
    let command = Command::Space { computations, time: time.clone(), loops: loops.clone(), widths };
    add(command, start);
    let (computations, widths) = (vec![computation.clone()], vec![WIDTH]);
    let command = Command::TimeSkew { computations, time: time.clone(), loops: loops.clone(), steps: STEPS, widths };
    add(command, start);
    // Without slopes, the command says why.
    let [delta0, delta1] = slopes.as_ref().copied().unwrap_or([Slope::ZERO; 2]);
    let height = (HEIGHT..).find(|it| (it + 1) % nests == 0).unwrap_or(HEIGHT);
    let width = Hexagon::least_width(height, delta0, delta1).max(LEAST_WIDTH);
    let (height, widths) = (height as u32, vec![width as u32]);
    let computations = vec![computation.clone()];
    let command = Command::Hexagonal { computations, time: time.clone(), loops: loops.clone(), height, widths };
    add(command, start);
    if slopes.is_ok() {
        let edges = edges(delta0, delta1);
        let both = vec![time.clone(), found.dim.clone()];
        add(Command::Parallelogram { computation: computation.clone(), loops: both, edges }, start);
    }
    // All dimensions have tiles; one is as long as the others are.
    let whole = params.iter().copied().max().unwrap_or(0).clamp(i64::from(WIDTH), MOST_POINTS as i64) as u32;
    let whole = whole.next_multiple_of(WIDTH);
    let sizes = found.dims.iter().map(|it| if *it == found.dim { WIDTH } else { whole }).collect();
    let (of, steps, all) = (computation.clone(), STEPS, found.dims.clone());
    add(Command::Overlapped { computation: of, time: time.clone(), loops: all, steps, sizes }, start);
    let (computations, widths) = (vec![computation], vec![WIDTH]);
    add(Command::GridSync { computations, time: time.clone(), loops, widths }, &on_gpu);
    shapes.push(ctx.with_budget(share, || found.stream(ctx, &on_gpu, dependences, params)));
    Ok(Tilings { time, sweeps: nests as usize, shapes })
}

/// Edges along the cone of the dependences.
fn edges(delta0: Slope, delta1: Slope) -> Vec<Vec<i64>> {
    let long = |slope: Slope| i64::from(STEPS) / slope.under + i64::from(i64::from(STEPS) % slope.under != 0);
    let edge = |slope: Slope, sign: i64| vec![long(slope) * slope.under, sign * long(slope) * slope.over];
    match (delta0.over, delta1.over) {
        // Nothing moves: upright tiles.
        (0, 0) => vec![vec![i64::from(STEPS), 0], vec![0, i64::from(WIDTH)]],
        _ => vec![edge(delta1, -1), edge(delta0, 1)],
    }
}

/// A stencil along one dimension.
#[derive(Clone)]
struct Found {
    computation: String,
    time: String,
    dim: String,
    /// All dimensions, outermost first.
    dims: Vec<String>,
    stencil: Stencil,
}

fn find(ctx: &Ctx, start: &Scheduled, dim: Option<&str>) -> Result<Found, DrawError> {
    let top = Path::default();
    let places: Vec<Path> = match &start.schedule.root {
        Node::Sequence(children) => (0..children.len()).map(|at| top.child(at)).collect(),
        Node::Loop(_) | Node::Computation(_) => vec![top],
    };
    let mut known: Vec<String> = vec![];
    for path in places {
        let Some(node @ Node::Loop(time)) = start.schedule.node(&path) else { continue };
        let loops = |id: ComputationId| start.schedule.loops_around(id).len();
        let mut deepest = node.computations();
        deepest.retain(|&id| loops(id) > 1);
        deepest.sort_by_key(|&id| (std::cmp::Reverse(loops(id)), id));
        let mut tried: Vec<Vec<String>> = vec![];
        for id in deepest {
            let around = start.schedule.loops_around(id);
            let names: Vec<String> = around[1..].iter().map(|(_, it)| it.name.clone()).collect();
            // What has the same loops stands for all of them.
            if tried.contains(&names) {
                continue;
            }
            tried.push(names.clone());
            known.extend(names.iter().filter(|it| !known.contains(it)).cloned().collect::<Vec<_>>());
            let computation = start.algorithm.computation(id).name.clone();
            for wanted in names.iter().filter(|&it| dim.is_none_or(|dim| dim == it)) {
                let dims = std::slice::from_ref(wanted);
                if let Ok(stencil) = stencil(ctx, start, std::slice::from_ref(&computation), &time.name, dims) {
                    let (time, dim) = (time.name.clone(), wanted.clone());
                    return Ok(Found { computation, time, dim, dims: names, stencil });
                }
            }
        }
    }
    match dim.filter(|dim| !known.is_empty() && !known.iter().any(|it| it == dim)) {
        Some(dim) => Err(DrawError::NoDimensions { dims: vec![dim.to_string()], known }),
        None => Err(DrawError::NoTime),
    }
}

impl Found {
    /// The innermost dimension, along which threads of a stream lie.
    fn innermost(&self) -> &String {
        self.dims.last().unwrap_or(&self.dim)
    }

    fn slopes(&self, ctx: &Ctx, start: &Scheduled, dependences: &[Dependence]) -> Result<[Slope; 2], Error> {
        let distances = self.stencil.distances(ctx, start, dependences, Within::OnePoint)?;
        self.stencil.slopes(ctx, start, dependences, &distances, 0)
    }

    /// The instances of a computation at these values of parameters, of those of the source that lie in the middle of all other
    /// dimensions.
    fn slice(
        &self,
        ctx: &Ctx,
        start: &Scheduled,
        of: &Scheduled,
        id: ComputationId,
        original: ComputationId,
        params: &[i64],
    ) -> Result<Set, DrawError> {
        let mut set = with_params(ctx, &of.algorithm, &relation::domain(&of.algorithm, id)?, params)?;
        let (step, place) = (&self.stencil.step[&original], &self.stencil.space[&original][0]);
        for at in 0..start.algorithm.computation(original).iterators.len() as u32 {
            if step.involves_iterator(at) || place.involves_iterator(at) || set.is_empty()? {
                continue;
            }
            let whole = with_params(ctx, &start.algorithm, &relation::domain(&start.algorithm, original)?, params)?;
            let ends = (whole.dim_min_val(at as i32)?.to_i64(), whole.dim_max_val(at as i32)?.to_i64());
            if let (Some(low), Some(high)) = ends {
                set = set.fix(DimType::Set, at, &Val::from_i64(ctx, i64::midpoint(low, high))?)?;
            }
        }
        Ok(set)
    }

    /// The tiles that a schedule has.
    fn tiles(
        &self,
        ctx: &Ctx,
        start: &Scheduled,
        of: &Scheduled,
        params: &[i64],
        most: usize,
    ) -> Result<Vec<ShapeTile>, DrawError> {
        let mut found: BTreeMap<TileKey, Statements> = BTreeMap::new();
        let originals = start.algorithm.computations.len();
        let mut left = most;
        for id in of.algorithm.ids() {
            let original =
                of.algorithm.whole.as_ref().and_then(|it| it.piece_of.get(id.0 as usize).copied()).unwrap_or(id);
            if original.0 as usize >= originals || !self.stencil.step.contains_key(&original) {
                continue;
            }
            let set = self.slice(ctx, start, of, id, original, params)?;
            let Some(all) = instances(&set, left)? else { return Err(DrawError::TooManyPoints) };
            left -= all.len();
            let sources = start.algorithm.computation(original).iterators.len() as u32;
            for instance in all {
                let value = |it: &Affine| it.evaluate(&instance, params).ok_or(DrawError::Empty);
                let point = [value(&self.stencil.space[&original][0])?, value(&self.stencil.step[&original])?];
                let (round, tile) = tile_of(&of.schedule, id, sources, &instance, params);
                found.entry((round, tile)).or_default().insert((original, point));
            }
        }
        if found.is_empty() {
            return Err(DrawError::Empty);
        }
        let rounds: BTreeSet<&Vec<i64>> = found.keys().map(|(round, _)| round).collect();
        let rounds: BTreeMap<Vec<i64>, usize> = rounds.into_iter().cloned().zip(1..).collect();
        let tiles: Vec<ShapeTile> =
            found.into_iter().map(|((round, _), all)| ShapeTile::new(rounds[&round], all)).collect();
        let points: usize = tiles.iter().map(|it| it.points.len()).sum();
        if points > MOST_POINTS { Err(DrawError::TooManyPoints) } else { Ok(tiles) }
    }

    /// The strips of a stream: what each warp has to compute at each step for those points that it stores.
    fn stream(&self, ctx: &Ctx, start: &Scheduled, dependences: &[Dependence], params: &[i64]) -> Shape {
        // One point a lane, so that what is drawn has few points, and fewer steps where a warp cannot hold so many.
        let sizes = [1, 2].into_iter().flat_map(|points| [STEPS, STEPS / 2, 1].map(|steps| (steps, points)));
        let sizes = sizes.map(|(steps, points)| StreamSize { steps, points, ..StreamSize::USUAL });
        let commands = sizes
            .map(|size| (size, Command::Stream { computation: self.computation.clone(), at: self.time.clone(), size }));
        let commands: Vec<(StreamSize, Command)> = commands.collect();
        // The command itself says what is no stream.
        let tried: Vec<Result<_, Error>> =
            commands.iter().map(|(_, command)| transform::apply(ctx, start, dependences, command)).collect();
        let chosen = tried.iter().position(Result::is_ok).unwrap_or(0);
        let (size, command) = commands[chosen].clone();
        let dim = self.innermost().clone();
        let tiles = match tried.into_iter().nth(chosen) {
            Some(Err(error)) => Err(error.into()),
            Some(Ok(_)) | None => self.strips(ctx, start, dependences, size, params),
        };
        Shape { command, dim, tiles }
    }

    /// The strips of a stream of this size.
    fn strips(
        &self,
        ctx: &Ctx,
        start: &Scheduled,
        dependences: &[Dependence],
        size: StreamSize,
        params: &[i64],
    ) -> Result<Vec<ShapeTile>, DrawError> {
        let (dim, names) = (self.innermost().clone(), std::slice::from_ref(&self.computation));
        let along = Found {
            dim: dim.clone(),
            stencil: stencil(ctx, start, names, &self.time, std::slice::from_ref(&dim))?,
            ..self.clone()
        };
        let [delta0, delta1] = along.slopes(ctx, start, dependences)?;
        let found = stream::find_all(ctx, &start.algorithm, &along.stencil.time, &[size])?;
        let Some((_, stream)) = found.first() else { return Err(DrawError::Empty) };
        let plain = along.tiles(ctx, start, start, params, MOST_POINTS)?;
        let points: Statements = plain.into_iter().flat_map(|it| it.statements).collect();
        let block = i64::from(size.steps) * along.stencil.nests.len() as i64;
        let low = points.iter().map(|(_, it)| it[0]).min().unwrap_or(0);
        let mut tiles: BTreeMap<(i64, i64), Statements> = BTreeMap::new();
        let strips: BTreeSet<(i64, i64)> = points
            .iter()
            .map(|(_, [place, step])| (step.div_euclid(block), (place - low).div_euclid(stream.width())))
            .collect();
        for (launch, strip) in strips {
            let (first, last) = (low + strip * stream.width(), low + (strip + 1) * stream.width() - 1);
            let end = (launch + 1) * block - 1;
            let needed = points.iter().filter(|(_, [place, step])| {
                let left = end - step;
                step.div_euclid(block) == launch
                    && (first - delta0.floor_times(left)..=last + delta1.floor_times(left)).contains(place)
            });
            tiles.insert((launch, strip), needed.copied().collect());
        }
        Ok(tiles.into_iter().map(|((launch, _), all)| ShapeTile::new(launch as usize + 1, all)).collect())
    }
}

/// The round and the tile of an instance: what the loops run through down to the last one over tiles.
fn tile_of(
    schedule: &Schedule,
    id: ComputationId,
    sources: u32,
    instance: &[i64],
    params: &[i64],
) -> (Vec<i64>, Vec<i64>) {
    let around = schedule.loops_around(id);
    let is_divided = |at: &Affine| at.terms().iter().any(|(atom, _)| matches!(atom, Atom::FloorDiv(..)));
    let is_added = |at: &Affine| at.as_iterator().is_some_and(|it| it >= sources);
    // An edge stands at one place, a number or a size, of loops over points and over tiles.
    let of_tiles = |it: &Loop| it.at.values().any(is_divided) || is_added(&it.at[&id]);
    // The points of a block's tile are its threads.
    let is_point = |it: &Loop| matches!(it.tag, Tag::GpuThread(_));
    let last = around.iter().rposition(|(_, it)| !is_point(it) && of_tiles(it));
    let (mut round, mut tile) = (vec![], vec![]);
    let mut above = 0;
    for (path, it) in around.iter().take(last.map_or(0, |it| it + 1)) {
        // Places in the sequences on the way; the one below a loop is no place of a sequence.
        for depth in above..path.0.len() {
            if matches!(schedule.node(&Path(path.0[..depth].to_vec())), Some(Node::Sequence(_))) {
                round.push(path.0[depth] as i64);
            }
        }
        above = path.0.len();
        let value = it.at.get(&id).and_then(|at| at.evaluate(instance, params)).unwrap_or(0);
        match it.tag {
            Tag::Parallel | Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine => {}
            Tag::Sequential
            | Tag::Vector(_)
            | Tag::Unroll(_)
            | Tag::Rows
            | Tag::Separate
            | Tag::Stream(_)
            | Tag::GridSync => round.push(value),
        }
        tile.push(value);
    }
    (round, tile)
}
