//! What one iteration of a loop costs: a tile of whatever commands made the loop.

use super::count::{Counts, Program, Tile, count, program};
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::{Ctx, DimType, Id, Set, UnionSet, Val};
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule};

/// The iteration in the middle of a loop, and of the loops around it.
#[derive(Debug, Clone)]
pub struct Iteration {
    /// The loops around it and the one asked for, outermost first, with the values of their iterators.
    pub at: Vec<(String, i64)>,
    /// What runs in it.
    pub computations: Vec<String>,
    /// What is computed again for other iterations counts as computed.
    pub counts: Counts,
    /// Whether it is known for sure which accesses happen, and to which elements.
    pub is_certain: bool,
}

/// Counts the middle iteration of each loop of this name in a schedule, at these sizes, one for each parameter: the values that it
/// reads and did not compute, those that others read or the caller sees, and the results. Loops that never run have none.
///
/// # Errors
/// Where isl fails, or gives up.
pub fn iterations(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    name: &str,
    params: &[i64],
) -> Result<Vec<Iteration>, Error> {
    let whole = Pieces::of(algorithm);
    let program = program(ctx, whole.algorithm, params)?;
    let mut found = vec![];
    for path in loops_of(&schedule.root, name) {
        let around: Vec<&Loop> = (0..=path.0.len())
            .filter_map(|depth| match schedule.node(&Path(path.0[..depth].to_vec())) {
                Some(Node::Loop(it)) => Some(it),
                Some(Node::Sequence(_) | Node::Computation(_)) | None => None,
            })
            .collect();
        let Some(innermost) = around.last() else { continue };
        let mut parts = vec![];
        let mut values: Option<Set> = None;
        for id in innermost.body.computations() {
            let keys: Vec<_> = around.iter().map(|it| it.at[&id].clone()).collect();
            let at = relation::functions(ctx, algorithm, id, &keys)?;
            let domain = fixed(ctx, relation::domain(algorithm, id)?, params)?;
            let mine = domain.apply(&at)?;
            values = Some(match values {
                Some(others) => others.union(&mine)?,
                None => mine,
            });
            parts.push((id, at.intersect_domain(&domain)?));
        }
        let Some(values) = values else { continue };
        let Some(middle) = middle(ctx, values, around.len())? else { continue };
        let mut run = UnionSet::empty_in(ctx)?;
        let mut computations = vec![];
        for (id, mut at) in parts {
            for (dim, &value) in (0..).zip(&middle) {
                at = at.fix(DimType::Out, dim, &Val::from_i64(ctx, value)?)?;
            }
            let instances = at.domain()?;
            if !instances.is_empty()? {
                run = run.union(&whole.instances(ctx, id, instances)?.project_out_all_params()?)?;
                computations.push(algorithm.computation(id).name.clone());
            }
        }
        let tile = Tile { owned: run.clone(), inside: run.clone(), run };
        let at = around.iter().map(|it| it.name.clone()).zip(middle).collect();
        found.push(iteration(&program, at, computations, &tile)?);
    }
    Ok(found)
}

fn iteration(
    program: &Program,
    at: Vec<(String, i64)>,
    computations: Vec<String>,
    tile: &Tile,
) -> Result<Iteration, Error> {
    Ok(Iteration { at, computations, counts: count(program, tile)?, is_certain: program.is_certain })
}

/// The computations whose values are followed: those of the program before any was split, if all are pieces of these.
struct Pieces<'a> {
    algorithm: &'a Algorithm,
    /// For each computation the one that it is a piece of; empty where none was split.
    of: &'a [ComputationId],
}

impl Pieces<'_> {
    fn of(algorithm: &Algorithm) -> Pieces<'_> {
        let none = Pieces { algorithm, of: &[] };
        let Some(whole) = &algorithm.whole else { return none };
        let is_piece = |(id, of): (ComputationId, &ComputationId)| {
            let before = whole.algorithm.computations.get(of.0 as usize);
            before.is_some_and(|it| it.iterators.len() == algorithm.computation(id).iterators.len())
        };
        let all =
            whole.piece_of.len() == algorithm.computations.len() && algorithm.ids().zip(&whole.piece_of).all(is_piece);
        if all { Pieces { algorithm: &whole.algorithm, of: &whole.piece_of } } else { none }
    }

    fn instances(&self, ctx: &Ctx, id: ComputationId, instances: Set) -> Result<UnionSet, Error> {
        let instances = match self.of.get(id.0 as usize) {
            Some(of) => instances.set_tuple_id(&Id::new(ctx, &self.algorithm.computation(*of).name)?)?,
            None => instances,
        };
        Ok(instances.to_union_set()?)
    }
}

fn fixed(ctx: &Ctx, mut set: Set, params: &[i64]) -> Result<Set, Error> {
    for (at, &value) in (0..).zip(params) {
        set = set.fix(DimType::Param, at, &Val::from_i64(ctx, value)?)?;
    }
    Ok(set)
}

/// A point in the middle: along each dimension half way between the ends that those before leave, or the next one from there on.
fn middle(ctx: &Ctx, mut values: Set, dimensions: usize) -> Result<Option<Vec<i64>>, Error> {
    let mut point = vec![];
    for dim in 0..dimensions {
        let ends = (values.dim_min_val(dim as i32)?.to_i64(), values.dim_max_val(dim as i32)?.to_i64());
        let (Some(low), Some(high)) = ends else { return Ok(None) };
        let half = Val::from_i64(ctx, low + (high - low) / 2)?;
        let upper = values.lower_bound(DimType::Set, dim as u32, &half)?;
        let Some(value) = upper.dim_min_val(dim as i32)?.to_i64() else { return Ok(None) };
        values = values.fix(DimType::Set, dim as u32, &Val::from_i64(ctx, value)?)?;
        point.push(value);
    }
    Ok(Some(point))
}

/// The loops of a name, in order.
fn loops_of(root: &Node, name: &str) -> Vec<Path> {
    let mut found = vec![];
    let mut open = vec![(root, Path(vec![]))];
    while let Some((node, path)) = open.pop() {
        match node {
            Node::Sequence(children) => {
                open.extend(children.iter().enumerate().rev().map(|(at, child)| (child, path.child(at))));
            }
            Node::Loop(it) => {
                if it.name == name {
                    found.push(path.clone());
                }
                open.push((&it.body, path.child(0)));
            }
            Node::Computation(_) => {}
        }
    }
    found
}
