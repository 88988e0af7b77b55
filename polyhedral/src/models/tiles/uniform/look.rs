//! What isl says of the points in the middle of a band.

use super::{Element, Facts, Times};
use crate::affine::{Affine, Atom};
use crate::algorithm::{ArrayKind, ComputationId, Which};
use crate::dependence;
use crate::error::Error;
use crate::isl::{Ctx, DimType, Map, Set, Val};
use crate::models::tiles::band::Band;
use crate::models::tiles::count::{Program, is_result};
use crate::models::tiles::counter::PARAMETER;
use crate::relation;
use std::collections::BTreeMap;

/// How much of the middle something covers.
#[derive(PartialEq, Eq)]
pub(super) enum Cover {
    All,
    Some,
    Nothing,
}

/// The middle of a band, while it is looked at.
pub(super) struct Look<'a> {
    pub(super) ctx: &'a Ctx,
    pub(super) program: &'a Program,
    pub(super) band: &'a Band,
    pub(super) center: &'a [i64],
    pub(super) reach: i64,
    /// Of the computations that fill the middle.
    pub(super) times: &'a BTreeMap<ComputationId, Times>,
}

impl Look<'_> {
    /// `{ S[x] -> [coordinates] }`.
    pub(super) fn map(&self, id: ComputationId) -> Result<Map, Error> {
        relation::functions(self.ctx, &self.program.algorithm, id, &self.band.coordinates[&id])
    }

    fn times(&self, id: ComputationId) -> Times {
        self.times.get(&id).copied().unwrap_or(Times::ALL)
    }

    /// The coordinates of the middle, at times at which the computation runs.
    pub(super) fn around(&self, id: ComputationId) -> Result<Set, Error> {
        let Times { period, offset } = self.times(id);
        let mut coordinates = self.band.coordinates[&id].clone();
        if period > 1 {
            coordinates[0] = coordinates[0].scale(period)?.add_constant(offset)?;
        }
        let mut map = relation::functions(self.ctx, &self.program.algorithm, id, &coordinates)?;
        for (at, &middle) in self.center.iter().enumerate() {
            let value = |it| Val::from_i64(self.ctx, it);
            map = map.lower_bound(DimType::Out, at as u32, &value(middle - self.reach)?)?;
            map = map.upper_bound(DimType::Out, at as u32, &value(middle + self.reach)?)?;
        }
        Ok(map.range()?)
    }

    pub(super) fn covers(&self, id: ComputationId, coordinates: &Set) -> Result<Cover, Error> {
        let middle = plain(&self.around(id)?)?;
        if middle.intersect(coordinates)?.is_empty()? {
            return Ok(Cover::Nothing);
        }
        Ok(if middle.subtract(coordinates)?.is_empty()? { Cover::All } else { Cover::Some })
    }

    /// Range less domain, where that is the same for all pairs.
    pub(super) fn constant(&self, moved: &Map) -> Result<Option<Vec<i64>>, Error> {
        let distances = moved.deltas()?;
        let each = (0..self.center.len() as i32).map(|at| {
            let (low, high) = (distances.dim_min_val(at)?.to_i64(), distances.dim_max_val(at)?.to_i64());
            Ok::<_, Error>(low.filter(|_| low == high))
        });
        each.collect()
    }

    /// The iterators as functions of the coordinates, each of which has one more iterator than those before it.
    fn iterators(&self, id: ComputationId) -> Option<Vec<Affine>> {
        let coordinates = &self.band.coordinates[&id];
        let count = self.program.algorithm.computation(id).iterators.len();
        if count != coordinates.len() {
            return None;
        }
        let mut found: Vec<Option<Affine>> = vec![None; count];
        for (at, coordinate) in (0..).zip(coordinates) {
            let mut rest = Affine::iterator(at).add_constant(-coordinate.constant_term()).ok()?;
            let mut new: Option<(u32, i64)> = None;
            for (atom, factor) in coordinate.terms() {
                let Atom::Iterator(iterator) = atom else { return None };
                match (&found[*iterator as usize], new, factor) {
                    (Some(known), _, _) => rest = rest.sub(&known.scale(*factor).ok()?).ok()?,
                    (None, None, 1 | -1) => new = Some((*iterator, *factor)),
                    (None, _, _) => return None,
                }
            }
            let (iterator, factor) = new?;
            found[iterator as usize] = Some(rest.scale(factor).ok()?);
        }
        found.into_iter().collect()
    }

    pub(super) fn facts(&self, id: ComputationId) -> Result<Option<Facts>, Error> {
        let algorithm = &self.program.algorithm;
        let Some(iterators) = self.iterators(id) else { return Ok(None) };
        let domain = plain(&relation::domain(algorithm, id)?.apply(&self.map(id)?)?)?;
        if self.covers(id, &domain)? != Cover::All {
            return Ok(None);
        }
        let params: Vec<i64> = vec![PARAMETER; algorithm.params.len()];
        let (mut entry, mut touched) = (vec![], vec![]);
        for at in algorithm.accesses().filter(|at| at.computation == id) {
            let access = algorithm.access(at);
            let is_private = algorithm.array(access.array).kind == ArrayKind::Private;
            let mut axes = vec![];
            for subscript in &access.subscripts {
                let Some(subscript) = subscript.as_affine().and_then(|it| it.substitute(&iterators).ok()) else {
                    return Ok(None);
                };
                let Some(axis) = linear(&subscript, self.center.len(), &params) else { return Ok(None) };
                axes.push(axis);
            }
            let element = Element { array: access.array.0, axes };
            if let Some(within) = &access.within {
                let within = plain(&within.apply(&self.map(id)?)?)?;
                if self.covers(id, &within)? != Cover::All {
                    return Ok(None);
                }
            }
            if !is_private {
                touched.push(element.clone());
            }
            if at.which == Which::Write || dependence::is_repeated(algorithm, at) {
                continue;
            }
            let mut written: Option<Set> = None;
            for flow in self.program.flows.iter().filter(|it| it.sink == at) {
                let sinks = flow.relation.range()?.apply(&self.map(id)?)?;
                written = Some(match written {
                    None => sinks,
                    Some(written) => written.union(&sinks)?,
                });
            }
            match written {
                None => entry.push(element),
                Some(written) => match self.covers(id, &plain(&written)?)? {
                    Cover::All => {}
                    Cover::Nothing => entry.push(element),
                    Cover::Some => return Ok(None),
                },
            }
        }
        touched.sort();
        touched.dedup();
        let kept = match self.kept(id)? {
            Cover::All => true,
            Cover::Nothing => false,
            Cover::Some => return Ok(None),
        };
        Ok(Some(Facts { times: self.times(id), kept, result: is_result(algorithm, id), entry, touched }))
    }

    /// Which instances of the middle the caller sees.
    fn kept(&self, id: ComputationId) -> Result<Cover, Error> {
        let name = &self.program.algorithm.computation(id).name;
        for part in self.program.kept().sets_unsorted()? {
            if part.tuple_name()?.as_deref() == Some(name) {
                // Parameters are fixed, and its space has none; the map's has.
                let map = plain_map(&self.map(id)?)?;
                return self.covers(id, &plain(&part.apply(&map)?)?);
            }
        }
        Ok(Cover::Nothing)
    }
}

/// A set whose parameters are fixed, without them.
pub(super) fn plain(set: &Set) -> Result<Set, Error> {
    Ok(set.project_out_all_params()?)
}

fn plain_map(map: &Map) -> Result<Map, Error> {
    Ok(map.project_out_all_params()?)
}

/// Factors and constant of a function of coordinates.
fn linear(affine: &Affine, coordinates: usize, params: &[i64]) -> Option<(Vec<i64>, i64)> {
    let mut factors = vec![0; coordinates];
    let mut constant = affine.constant_term();
    for (atom, factor) in affine.terms() {
        match atom {
            Atom::Iterator(at) => *factors.get_mut(*at as usize)? = *factor,
            Atom::Param(param) => constant += factor * params[param.0 as usize],
            Atom::FloorDiv(..) => return None,
        }
    }
    Some((factors, constant))
}

/// At which times a computation runs: all, or some a whole period apart, as far as the first two of them from a time on tell. `None` where
/// there are no two, or these are too far apart.
pub(super) fn times(
    ctx: &Ctx,
    program: &Program,
    band: &Band,
    id: ComputationId,
    from: i64,
) -> Result<Option<Times>, Error> {
    let map = relation::functions(ctx, &program.algorithm, id, &band.coordinates[&id])?;
    let all = relation::domain(&program.algorithm, id)?.apply(&map)?;
    let next = |from: i64| {
        let later = all.lower_bound(DimType::Set, 0, &Val::from_i64(ctx, from)?)?;
        Ok::<_, Error>(if later.is_empty()? { None } else { later.dim_min_val(0)?.to_i64() })
    };
    let Some(offset) = next(from)? else { return Ok(None) };
    let period = next(offset + 1)?.map(|then| then - offset);
    Ok(period.filter(|period| *period <= LONGEST_PERIOD).map(|period| Times { period, offset }))
}

/// Computations that run more rarely have few points in a tile.
const LONGEST_PERIOD: i64 = 4;
