//! Parallelograms for stencils of one nest, on wavefronts.

use super::predict::Prediction;
use super::{Candidate, Family, unless_refused};
use crate::command::Command;
use crate::dependence::{self, Dependence};
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::machine::Gpu;
use crate::models::parallelograms::gpu::{MOST_THREADS, on_gpu, row};
use crate::models::parallelograms::matrix::Matrix;
use crate::models::parallelograms::program::{Asked, problems};
use crate::models::parallelograms::schemes::usual;
use crate::models::parallelograms::{Problem, Shapes, predict, search};
use crate::transform;

/// The most points of a tile: what a tile of results should fit into is a guess, so several are asked for.
const LARGEST: [u64; 5] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18];
/// The same on a GPU, where the points of a row are the threads of a block.
const LARGEST_OF_GPU: [u64; 4] = [1 << 8, 1 << 10, 1 << 12, 1 << 14];
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
        let Ok(asked) = nest.asked else { continue };
        if asked.sweeps > 1 || asked.problem.has_free_direction() {
            continue;
        }
        let mut known: Vec<Matrix> = vec![];
        // What follows a tiling is probed once: it depends on the cone of the dependences, which all shapes keep.
        let mut probed: Option<Vec<Vec<Command>>> = None;
        for &largest in sizes {
            let problem = match start.target {
                Target::Cpu => Problem { largest: vec![largest], ..asked.problem.clone() },
                Target::Gpu => on_gpu(&asked.problem, &Gpu::HOPPER, largest),
            };
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
