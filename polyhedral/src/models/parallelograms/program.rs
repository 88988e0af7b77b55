//! A nest of a program as a problem: its space and its dependences come from the polyhedral core.

use super::Problem;
use super::matrix::Matrix;
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ComputationId};
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::{Ctx, DimType, Set, Val};
use crate::layers::Scheduled;
use crate::machine::Machine;
use crate::relation;
use crate::schedule::{Node, Path};
use crate::time_tiling::{Within, stencil};
use crate::work;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A nest in which every dependence has one of a few distances.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// A problem of one level; others can be put in the place of its levels.
    pub problem: Problem,
    /// A statement of the nest, as commands name it.
    pub computation: String,
    /// The loops along whose axes the space extends, the outermost first.
    pub loops: Vec<String>,
    /// The sweeps over space that stand one after the other in the outermost loop; its axis counts them. Only the tiles of a
    /// nest with one are a `parallelogram` of the loops.
    pub sweeps: usize,
    /// How far the space extends along each axis.
    pub extents: Vec<u64>,
}

/// Why a nest is no problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    #[error("it has fewer than two loops inside one another")]
    Shallow,
    #[error("no dependence orders its iterations")]
    Free,
    #[error("its statements have no common place in space, or a loop over space carries what others see")]
    NoSpace,
    #[error("its dependences have distances that grow with the sizes, or more than {MOST_DISTANCES}")]
    NotUniform,
    #[error("at these sizes it has no iterations")]
    Empty,
}

/// A nest, and what there is to say of it.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedNest {
    pub computations: Vec<ComputationId>,
    pub asked: Result<Asked, Obstacle>,
}

/// More distances than this are no stencil.
const MOST_DISTANCES: usize = 64;
/// Axes of a problem.
const MOST_AXES: usize = 4;

/// Seconds that all threads of a CPU take to wait for one another: what starting a tile costs.
const START: f64 = 5e-6;
/// Vector operations that a core makes in a second.
const VECTORS: f64 = 2e9;

/// The nests that stand at the top of a program in its source's order, as problems at these values of its parameters.
///
/// `direct` are the dependences that are not carried by others between them ([`crate::dependence::direct`]): a tiling that keeps
/// them keeps all.
pub fn problems(
    ctx: &Ctx,
    start: &Scheduled,
    direct: &[Dependence],
    machine: &Machine,
    params: &[i64],
) -> Result<Vec<AskedNest>, Error> {
    let top = Path::default();
    let places = match &start.schedule.root {
        Node::Sequence(children) => (0..children.len()).map(|at| top.child(at)).collect(),
        Node::Loop(_) | Node::Computation(_) => vec![top],
    };
    let mut found = vec![];
    for path in places {
        if let Some(node @ Node::Loop(_)) = start.schedule.node(&path) {
            let computations = node.computations();
            let asked = problem(ctx, start, direct, machine, params, &computations)?;
            found.push(AskedNest { computations, asked });
        }
    }
    Ok(found)
}

fn problem(
    ctx: &Ctx,
    start: &Scheduled,
    direct: &[Dependence],
    machine: &Machine,
    params: &[i64],
    computations: &[ComputationId],
) -> Result<Result<Asked, Obstacle>, Error> {
    let algorithm = &start.algorithm;
    let around = |id: ComputationId| -> Vec<String> {
        start.schedule.loops_around(id).iter().map(|(_, it)| it.name.clone()).collect()
    };
    let deepest = computations.iter().copied().max_by_key(|&id| (around(id).len(), std::cmp::Reverse(id)));
    let Some((deepest, names)) = deepest.map(|id| (id, around(id))).filter(|(_, names)| names.len() >= 2) else {
        return Ok(Err(Obstacle::Shallow));
    };
    let computation = algorithm.computation(deepest).name.clone();
    let mut obstacle = Obstacle::NoSpace;
    for count in (2..=names.len().min(MOST_AXES)).rev() {
        let stencil = match stencil(ctx, start, std::slice::from_ref(&computation), &names[0], &names[1..count]) {
            Ok(stencil) => stencil,
            Err(error) => match error.is_quota() {
                true => return Err(error),
                false => continue,
            },
        };
        let distances = stencil.distances(ctx, start, direct, Within::Step)?;
        let Some(dependences) = few(&distances.all)? else {
            obstacle = Obstacle::NotUniform;
            continue;
        };
        if dependences.is_empty() {
            return Ok(Err(Obstacle::Free));
        }
        let mut places: BTreeMap<ComputationId, Vec<Affine>> = BTreeMap::new();
        for (&id, step) in &stencil.step {
            places.insert(id, [std::slice::from_ref(step), &stencil.space[&id]].concat());
        }
        let Some(extents) = extents(ctx, algorithm, &places, params)? else { return Ok(Err(Obstacle::Empty)) };
        let mut space = Matrix::diagonal(extents.len(), 0);
        extents.iter().enumerate().for_each(|(at, &extent)| space.rows[at][at] = extent as i64);
        let (iteration, largest) = of_machine(algorithm, computations, stencil.nests.len(), machine);
        let problem = Problem { space, dependences, iteration, overhead: vec![START], largest: vec![largest] };
        let loops = names[..count].to_vec();
        return Ok(Ok(Asked { problem, computation, loops, sweeps: stencil.nests.len(), extents }));
    }
    Ok(Err(obstacle))
}

/// Seconds for one point of the space, and how many points a tile may have: as many as there are results that fit into the
/// second-level cache of a core.
fn of_machine(algorithm: &Algorithm, computations: &[ComputationId], sweeps: usize, machine: &Machine) -> (f64, u64) {
    let results = computations.iter().map(|&id| algorithm.array(algorithm.computation(id).write.array).element.bytes());
    let bytes = results.max().unwrap_or(8).max(1);
    let lanes = f64::from((machine.vector_bytes / bytes).max(1));
    let operations: u64 = computations
        .iter()
        .map(|&id| {
            let (narrow, wide) = work::operations(algorithm.computation(id));
            (narrow + wide).max(1)
        })
        .sum();
    let iteration = operations as f64 / sweeps.max(1) as f64 / (VECTORS * lanes);
    (iteration, (machine.l2_bytes / u64::from(bytes)).max(1))
}

/// The distances other than none at all; `None` where there are too many.
pub(crate) fn few(all: &Set) -> Result<Option<Vec<Vec<i64>>>, Error> {
    let mut found: Vec<Vec<i64>> = vec![];
    if all.is_empty()? {
        return Ok(Some(found));
    }
    if !all.is_bounded()? {
        return Ok(None);
    }
    let flow = all.foreach_point(|point| match point.coordinates() {
        Ok(values) => {
            if values.iter().any(|&it| it != 0) {
                found.push(values);
            }
            if found.len() > MOST_DISTANCES { ControlFlow::Break(Ok(())) } else { ControlFlow::Continue(()) }
        }
        Err(error) => ControlFlow::Break(Err(error)),
    })?;
    match flow {
        ControlFlow::Break(Err(error)) => Err(error.into()),
        ControlFlow::Break(Ok(())) => Ok(None),
        ControlFlow::Continue(()) => {
            found.sort();
            found.dedup();
            Ok(Some(found))
        }
    }
}

/// How far the places of all computations extend along each axis; `None` where there are none.
fn extents(
    ctx: &Ctx,
    algorithm: &Algorithm,
    places: &BTreeMap<ComputationId, Vec<Affine>>,
    params: &[i64],
) -> Result<Option<Vec<u64>>, Error> {
    let mut ends: Vec<(i64, i64)> = vec![];
    for (&id, along) in places {
        let mut domain = relation::domain(algorithm, id)?;
        for (at, &value) in params.iter().enumerate() {
            domain = domain.fix(DimType::Param, at as u32, &Val::from_i64(ctx, value)?)?;
        }
        let points = domain.apply(&relation::functions(ctx, algorithm, id, along)?)?;
        if points.is_empty()? {
            continue;
        }
        for at in 0..along.len() {
            let low = points.dim_min_val(at as i32)?.to_i64();
            let high = points.dim_max_val(at as i32)?.to_i64();
            let Some((low, high)) = low.zip(high) else { return Ok(None) };
            match ends.get_mut(at) {
                Some(end) => *end = (end.0.min(low), end.1.max(high)),
                None => ends.push((low, high)),
            }
        }
    }
    Ok((!ends.is_empty()).then(|| ends.into_iter().map(|(low, high)| (high - low + 1) as u64).collect()))
}
