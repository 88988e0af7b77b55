//! What a tile of any program loads, stores and computes, counted point by point for concrete sizes.
//!
//! What travels are values: a tile loads a value once, however often it reads it, and stores a value if somebody else
//! reads it or the caller sees it. Who reads whose value comes from the direct flow dependences, so arrays that are
//! written again and again, as in `H[mod(t, 2), i]`, count like arrays with one element for each value.

use super::Cost;
use crate::algorithm::{Algorithm, ArrayKind, ComputationId, Which};
use crate::dependence::{self, Dependence, DependenceKind};
use crate::error::Error;
use crate::isl::{Ctx, DimType, Map, UnionMap, UnionSet, Val};
use crate::relation;

/// A program at concrete sizes, and which instance reads whose value.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its context allows just the sizes.
    pub algorithm: Algorithm,
    /// All memory-based dependences.
    pub dependences: Vec<Dependence>,
    /// The direct flow dependences.
    pub flows: Vec<Dependence>,
    /// `{ S[x] -> R[y] }`: `R[y]` reads the value of `S[x]`.
    values: UnionMap,
    /// `{ R[y] -> A[e] }`: `R[y]` reads what was in `A[e]` at entry.
    entry: UnionMap,
    /// `{ S[x] }`: nobody overwrites what the instance writes, and the caller sees it.
    kept: UnionSet,
    /// `{ S[x] -> A[e] }`: all accesses.
    touched: UnionMap,
    /// `{ S[x] }`: what computes elements of arrays, or goes on with a sum.
    results: UnionSet,
    /// Whether it is known for sure which accesses happen, and to which elements.
    pub is_certain: bool,
}

/// A tile as sets of instances.
#[derive(Debug, Clone)]
pub struct Tile {
    /// All that it executes.
    pub run: UnionSet,
    /// What no other tile computes for keeps.
    pub owned: UnionSet,
    /// The instances that read values of `owned` without a transfer: the tile itself, or all that are computed again by
    /// those who need them.
    pub inside: UnionSet,
}

/// [`Cost`] of a tile, and what it touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Memory is the larger one of loads and stores: results take the places of what was loaded.
    pub cost: Cost,
    /// The elements of all arrays that the tile reads or writes.
    pub footprint: u64,
    /// Instances, those computed again elsewhere included.
    pub run: u64,
}

/// Looks at a program at these sizes, one for each parameter.
pub fn program(ctx: &Ctx, algorithm: &Algorithm, params: &[i64]) -> Result<Program, Error> {
    let mut algorithm = algorithm.clone();
    for (at, &value) in params.iter().enumerate() {
        algorithm.context = algorithm.context.fix(DimType::Param, at as u32, &Val::from_i64(ctx, value)?)?;
    }
    let all = dependence::dependences(ctx, &algorithm)?;
    let flows = dependence::direct_of(ctx, &algorithm, &all, &|it| it.kind == DependenceKind::Flow)?;
    let certain = |id: ComputationId| algorithm.computation(id).writes_for_certain();
    let (mut values, mut entry, mut touched) =
        (UnionMap::empty_in(ctx)?, UnionMap::empty_in(ctx)?, UnionMap::empty_in(ctx)?);
    let (mut kept, mut results) = (UnionSet::empty_in(ctx)?, UnionSet::empty_in(ctx)?);
    let mut is_certain = true;
    for flow in &flows {
        values = values.union(&plain(&flow.relation)?)?;
    }
    for at in algorithm.accesses() {
        let access = algorithm.access(at);
        let relation = relation::access(ctx, &algorithm, at.computation, access)?;
        is_certain &= certain(at.computation) && access.is_affine();
        let kind = algorithm.array(access.array).kind;
        if kind != ArrayKind::Private {
            touched = touched.union(&plain(&relation)?)?;
        }
        if at.which != Which::Write {
            if dependence::is_repeated(&algorithm, at) {
                continue;
            }
            let mut unwritten = relation;
            for flow in flows.iter().filter(|it| it.sink == at && certain(it.source.computation)) {
                unwritten = unwritten.subtract_domain(&flow.relation.range()?)?;
            }
            entry = entry.union(&plain(&unwritten)?)?;
            continue;
        }
        let domain = relation::domain(&algorithm, at.computation)?;
        match kind {
            ArrayKind::Private if !is_result(&algorithm, at.computation) => continue,
            ArrayKind::Private => {}
            ArrayKind::Local { .. } => {}
            ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned => {
                let mut last = domain.clone();
                for later in all.iter().filter(|it| it.kind == DependenceKind::Output && it.source == at) {
                    if certain(later.sink.computation) {
                        last = last.subtract(&later.relation.domain()?)?;
                    }
                }
                kept = kept.union(&last.to_union_set()?.project_out_all_params()?)?;
            }
        }
        results = results.union(&domain.to_union_set()?.project_out_all_params()?)?;
    }
    Ok(Program { algorithm, dependences: all, flows, values, entry, kept, touched, results, is_certain })
}

/// Whether instances of a computation are useful results: elements of arrays, and steps of a sum in a variable of one iteration.
pub(super) fn is_result(algorithm: &Algorithm, id: ComputationId) -> bool {
    let it = algorithm.computation(id);
    let updates = || it.reads.iter().any(|read| read.array == it.write.array);
    algorithm.array(it.write.array).kind != ArrayKind::Private || updates()
}

impl Program {
    /// All useful results of the program.
    pub(super) fn useful(&self) -> Result<u64, Error> {
        points(&self.results)
    }

    /// `{ S[x] }`: nobody overwrites what the instance writes, and the caller sees it.
    pub(super) fn kept(&self) -> &UnionSet {
        &self.kept
    }
}

/// Counts what a tile costs and gives.
pub fn count(program: &Program, tile: &Tile) -> Result<Counts, Error> {
    let foreign = program.values.reverse()?.intersect_domain(&tile.run)?.range()?.subtract(&tile.run)?;
    let given = program.entry.intersect_domain(&tile.run)?.range()?;
    let loads = points(&foreign)? + points(&given)?;
    let outside = program.values.subtract_range(&tile.inside)?.domain()?;
    let stores = points(&tile.owned.intersect(&outside.union(&program.kept)?)?)?;
    let useful = points(&tile.owned.intersect(&program.results)?)?;
    let footprint = points(&program.touched.intersect_domain(&tile.run)?.range()?)?;
    let cost = Cost { memory: loads.max(stores), loads, stores, useful };
    Ok(Counts { cost, footprint, run: points(&tile.run)? })
}

/// The relation at the sizes of the program, which its pairs know already.
fn plain(relation: &Map) -> Result<UnionMap, Error> {
    Ok(relation.to_union_map()?.wrap()?.project_out_all_params()?.unwrap()?)
}

fn points(set: &UnionSet) -> Result<u64, Error> {
    let mut sum = 0;
    for part in set.sets_unsorted()? {
        sum += part.count()?.to_i64().and_then(|it| u64::try_from(it).ok()).unwrap_or(u64::MAX / 4);
    }
    Ok(sum)
}
