//! Parallelograms for stencils of one nest, on wavefronts.

use super::predict::Prediction;
use super::{Candidate, Family, unless_refused};
use crate::command::Command;
use crate::dependence::{self, Dependence};
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::machine::Gpu;
use crate::models::parallelograms::matrix::Matrix;
use crate::models::parallelograms::program::{Asked, problems};
use crate::models::parallelograms::schemes::{self, Scheme};
use crate::models::parallelograms::{Problem, Shapes, predict, search};
use crate::transform;

/// The most points of a tile: what a tile of results should fit into is a guess, so several are asked for.
const LARGEST: [u64; 5] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18];
/// The same on a GPU, where the points of a row are the threads of a block.
const LARGEST_OF_GPU: [u64; 4] = [1 << 8, 1 << 10, 1 << 12, 1 << 14];
/// Threads of a block.
const MOST_THREADS: u64 = 1024;
/// Seconds of a point of a block: about half a microsecond for each row of a tile, until its threads have waited for memory and for one
/// another, and a hundred points in it.
const POINT: f64 = 5e-9;
/// Shapes that the search looks at, for each of these.
const EVALUATIONS: u64 = 1_500;

/// The best shapes for tiles of several sizes, and how many were looked at.
pub(super) fn parallelograms(
    ctx: &Ctx,
    start: &Scheduled,
    dependences: &[Dependence],
    params: &[i64],
) -> Result<(Vec<Candidate>, usize), Error> {
    let sizes = match start.target {
        Target::Cpu => LARGEST.as_slice(),
        Target::Gpu => &LARGEST_OF_GPU,
    };
    let direct = dependence::direct(ctx, &start.algorithm, dependences)?;
    let (mut all, mut considered) = (vec![], 0);
    for nest in problems(ctx, start, &direct, &start.machine, params)? {
        // The other nests are Tessella's choice.
        let is_all = nest.computations.len() == start.algorithm.computations.len();
        let rest = (!is_all).then_some(Command::Auto);
        let Ok(mut asked) = nest.asked else { continue };
        if start.target == Target::Gpu {
            // Each diagonal is a kernel.
            asked.problem.overhead = vec![Gpu::HOPPER.launch_nanoseconds * 1e-9];
            asked.problem.iteration = POINT;
        }
        if asked.sweeps > 1 || asked.problem.has_free_direction() {
            continue;
        }
        let mut known: Vec<Matrix> = vec![];
        // What follows a tiling is probed once: it depends on the cone of the dependences, which all shapes keep.
        let mut probed: Option<Vec<Vec<Command>>> = None;
        for &largest in sizes {
            let problem = Problem { largest: vec![largest], ..asked.problem.clone() };
            let usual = usual(&problem);
            let mut ends: Vec<Shapes> = vec![];
            if let Some(found) = search(&problem, &usual, 1, EVALUATIONS, &mut |_, _| {}) {
                considered += found.evaluations as usize;
                ends.push(found.shapes);
            }
            ends.extend(usual.into_iter().take(1));
            for shapes in ends {
                let (Ok(prediction), [shape]) = (predict(&problem, &shapes), shapes.as_slice()) else { continue };
                if known.contains(shape) || (start.target == Target::Gpu && row(shape) > MOST_THREADS) {
                    continue;
                }
                known.push(shape.clone());
                let points: f64 = asked.extents.iter().map(|&it| it as f64).product();
                let time = prediction.time * 1e9 / points;
                let predicted = Some(Prediction { time, bytes: None, runs: 1.0, fits: true });
                let after = match &probed {
                    Some(after) => after,
                    None => probed.insert(on_threads(ctx, start, dependences, &asked, shape)?),
                };
                let tiled = tiling(&asked, shape);
                for after in after {
                    let commands = [std::slice::from_ref(&tiled), after, rest.as_slice()].concat();
                    all.push(Candidate { family: Family::Parallelogram, commands, predicted });
                }
            }
        }
    }
    Ok((all, considered))
}

/// The usual shapes with the sides that are best, the fastest first.
fn usual(problem: &Problem) -> Vec<Shapes> {
    let named = Scheme::ALL.into_iter().filter_map(|scheme| schemes::best(problem, &[scheme]));
    let mut found: Vec<_> = named.chain(schemes::best_skewed(problem)).collect();
    found.sort_by(|a, b| a.1.time.total_cmp(&b.1.time));
    found.into_iter().map(|(shapes, _)| shapes).collect()
}

/// The most points of a tile along its last axis, the others fixed, if it has two.
fn row(shape: &Matrix) -> u64 {
    match shape.rows.as_slice() {
        [first, second] => {
            let area = (first[0] * second[1] - first[1] * second[0]).unsigned_abs();
            area / first[0].unsigned_abs().max(second[0].unsigned_abs()).max(1)
        }
        _ => 1,
    }
}

fn tiling(asked: &Asked, shape: &Matrix) -> Command {
    let (computation, loops) = (asked.computation.clone(), asked.loops.clone());
    Command::Parallelogram { computation, loops, edges: shape.rows.clone() }
}

/// What has the diagonals of a tiling by the shape run on threads, and points in vectors where that is legal; on a GPU tiles on blocks
/// and the points of a row on their threads. Nothing where that is not legal.
///
/// Tiles wait for neighbours along their axes, so the sum of their first two numbers orders them, if further axes stay whole within a thread:
/// diagonals over more axes would have more tiles, but their bounds have more cases than there is work for.
fn on_threads(
    ctx: &Ctx,
    start: &Scheduled,
    dependences: &[Dependence],
    asked: &Asked,
    shape: &Matrix,
) -> Result<Vec<Vec<Command>>, Error> {
    let computation = asked.computation.clone();
    let Some(mut now) = unless_refused(transform::apply(ctx, start, dependences, &tiling(asked, shape)))? else {
        return Ok(vec![]);
    };
    let Some(id) = now.algorithm.find(&computation) else { return Ok(vec![]) };
    let names: Vec<String> = now.schedule.loops_around(id).iter().map(|(_, it)| it.name.clone()).collect();
    let (tiles, points) = names.split_at(asked.loops.len());
    let mut commands = vec![];
    let [outer, inner, ..] = tiles else { return Ok(vec![]) };
    let at_once = match (start.target, points.last()) {
        (Target::Cpu, _) => Command::Parallel { computation: computation.clone(), at: outer.clone() },
        (Target::Gpu, Some(row)) => {
            Command::Gpu { computation: computation.clone(), blocks: vec![outer.clone()], threads: vec![row.clone()] }
        }
        (Target::Gpu, None) => return Ok(vec![]),
    };
    let diagonals = [
        Command::Skew { computation: computation.clone(), outer: outer.clone(), inner: inner.clone(), factor: 1 },
        Command::Interchange { computation: computation.clone(), outer: outer.clone(), inner: inner.clone() },
        at_once,
    ];
    for command in diagonals {
        let Some(next) = unless_refused(transform::apply(ctx, &now, dependences, &command))? else { return Ok(vec![]) };
        now = next;
        commands.push(command);
    }
    let written = now.algorithm.computation(id).write.array;
    let width = now.machine.vector_bytes / now.algorithm.array(written).element.bytes().max(1);
    let mut found = vec![];
    if let Some(innermost) = points.last().filter(|_| width > 1 && start.target == Target::Cpu) {
        let command = Command::Vectorize { computation, at: innermost.clone(), width };
        if unless_refused(transform::apply(ctx, &now, dependences, &command))?.is_some() {
            found.push([commands.clone(), vec![command]].concat());
        }
    }
    if found.is_empty() {
        found.push(commands);
    }
    Ok(found)
}
