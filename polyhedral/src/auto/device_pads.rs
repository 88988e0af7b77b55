//! Which arrays in the memory of a GPU are padded: those of which warps then begin at a sector, the least piece of memory that is
//! fetched.
//!
//! This is constraint (1) of the model of layouts ([`crate::models::layout`]) with a sector for a vector, and with the place that all
//! accesses are to share fixed to 0: the hardware decides where sectors begin. Columns that are multiples of a sector, with some
//! elements free before each, bring the first thread of a warp to the same place in all of them, whatever the sizes. Tessella's own
//! choice does so where that is all accesses of an array.
//!
//! An array that the function makes is padded where its accesses then take 5 % less. A copy of an argument has to be brought into
//! that shape and back, so it is padded only where it is known that the kernels go through it often enough.

use super::padded::{Padded, Why};
use crate::affine::gcd;
use crate::algorithm::{Access, Algorithm, Array, ArrayId, ArrayKind, ComputationId};
use crate::command::Columns;
use crate::error::Error;
use crate::isl::DimType;
use crate::relation;
use crate::schedule::{Loop, Path, ProcessorAxis, Schedule, Tag};
use std::collections::BTreeSet;

/// Bytes that a GPU fetches at least.
const SECTOR: u32 = 32;
/// What an access costs more whose warp begins inside of a sector: five sectors for four.
const SPLIT: f64 = 0.25;
/// A padding pays where accesses then take so much less.
const WORTH: f64 = 0.95;
/// How many times an array is gone through to copy it into the other shape and back: each copy reads and writes.
const COPIES: f64 = 4.0;
/// Values of an iterator that are looked at, and what stands for the others and for parameters.
const FAR: i64 = 4096;
/// Other values of parameters: what is the same for both does not depend on them.
const FEW: i64 = 100;

/// The arrays that are better padded, under an order of the loops; `params` are the values of the parameters, where these are known.
pub fn device_arrays(algorithm: &Algorithm, schedule: &Schedule, params: Option<&[i64]>) -> Result<Vec<Padded>, Error> {
    let streamed = streamed(algorithm, schedule);
    let mut found = vec![];
    for (id, array) in candidates(algorithm).filter(|(id, _)| !streamed.contains(id)) {
        found.extend(of_array(algorithm, schedule, id, array, params)?);
    }
    Ok(found)
}

/// How many paddings are weighed for the arrays of a function.
pub fn weighed(algorithm: &Algorithm) -> usize {
    candidates(algorithm).map(|(_, array)| sector(array) as usize).sum()
}

/// The arrays that lie in the GPU's memory and have columns.
fn candidates(algorithm: &Algorithm) -> impl Iterator<Item = (ArrayId, &Array)> {
    let can = |array: &Array| match array.kind {
        ArrayKind::Argument | ArrayKind::Returned | ArrayKind::Local { outer: 0 } => {
            array.rank >= 2 && array.firsts.is_empty() && sector(array) >= 2
        }
        ArrayKind::Local { .. } | ArrayKind::Private | ArrayKind::Result => false,
    };
    (0..).map(ArrayId).zip(&algorithm.arrays).filter(move |(_, array)| can(array))
}

/// The elements of a sector.
fn sector(array: &Array) -> u32 {
    SECTOR / array.element.bytes()
}

/// The arrays of loops that stream: those go through registers.
fn streamed(algorithm: &Algorithm, schedule: &Schedule) -> BTreeSet<ArrayId> {
    let mut found = BTreeSet::new();
    for id in algorithm.ids() {
        let streams = schedule.loops_around(id).iter().any(|(_, it)| matches!(it.tag, Tag::Stream(_)));
        if streams {
            let it = algorithm.computation(id);
            found.extend(it.reads.iter().chain([&it.write]).map(|access| access.array));
        }
    }
    found
}

/// An access whose warps run along columns.
struct Along {
    /// Where the first thread of a warp is in its column, from 0.
    place: i64,
    /// How often the kernel is launched; `None` where sizes decide.
    launches: Option<f64>,
}

fn of_array(
    algorithm: &Algorithm,
    schedule: &Schedule,
    id: ArrayId,
    array: &Array,
    params: Option<&[i64]>,
) -> Result<Option<Padded>, Error> {
    let elements = i64::from(sector(array));
    let mut all = vec![];
    for computation in algorithm.ids() {
        let around = schedule.loops_around(computation);
        let it = algorithm.computation(computation);
        for access in it.reads.iter().chain([&it.write]).filter(|access| access.array == id) {
            let Some(place) = first_place(algorithm, computation, &around, access, elements) else { continue };
            let launches = launches(algorithm, computation, &around, params)?;
            all.push(Along { place, launches });
        }
    }
    if all.is_empty() {
        return Ok(None);
    }
    let extent = match params {
        Some(params) => array.extents[0].evaluate(&[], params),
        None => array.extents[0].as_constant(),
    };
    let plain: Vec<f64> = all.iter().map(|it| out_of_place(it.place, extent, elements)).collect();
    let out = |before: i64| all.iter().filter(|it| (it.place + before).rem_euclid(elements) != 0).count();
    let Some(before) = (0..elements).min_by_key(|&before| out(before)) else { return Ok(None) };
    let growth = extent.map_or(0.0, |extent| {
        let column = (extent + before + elements - 1).div_euclid(elements) * elements;
        (column - extent) as f64 / extent.max(1) as f64
    });
    let cost = |out: f64| all.len() as f64 + SPLIT * out;
    let (now, then) = (cost(plain.iter().sum()), cost(out(before) as f64) * (1.0 + growth));
    let pays = match array.kind {
        ArrayKind::Local { .. } | ArrayKind::Private | ArrayKind::Result => true,
        ArrayKind::Argument | ArrayKind::Returned => {
            // What is launched nobody knows how often is not counted on.
            let saved = all.iter().zip(&plain).map(|(it, plain)| {
                let split = (it.place + before).rem_euclid(elements) != 0;
                it.launches.unwrap_or(0.0) * SPLIT * (plain - if split { 1.0 } else { 0.0 })
            });
            saved.sum::<f64>() > COPIES
        }
    };
    // Where some warps go on beginning inside of sectors, nothing was gained when it was measured: the tuner may try.
    let is_sure = params.is_some() || out(before) == 0;
    let why = Why::Sectors {
        accesses: all.len(),
        before: plain.iter().sum::<f64>().round() as usize,
        after: out(before),
        bytes: SECTOR,
    };
    let columns = Columns { before: before as u32, multiple: elements as u32 };
    let by = vec![0; array.rank as usize];
    let padded = Padded { array: array.name.clone(), by, columns, why };
    Ok((then < WORTH * now && pays && is_sure).then_some(padded))
}

/// How often a warp begins inside of a sector, of all columns: these are so far apart, or nobody knows how far.
fn out_of_place(place: i64, apart: Option<i64>, elements: i64) -> f64 {
    let of = |apart: i64| {
        let step = gcd(apart.rem_euclid(elements), elements);
        if place.rem_euclid(step) == 0 { 1.0 - step as f64 / elements as f64 } else { 1.0 }
    };
    match apart {
        Some(apart) => of(apart),
        None => (0..elements).map(of).sum::<f64>() / elements as f64,
    }
}

/// Where the first thread of a warp is in its column, as far as all warps of an access agree on it modulo a sector; `None` where
/// neighbouring threads are not at neighbouring elements.
fn first_place(
    algorithm: &Algorithm,
    id: ComputationId,
    around: &[(Path, &Loop)],
    access: &Access,
    elements: i64,
) -> Option<i64> {
    let (_, x) = around.iter().find(|(_, it)| it.tag == Tag::GpuThread(ProcessorAxis::X))?;
    let at = x.at.get(&id)?;
    let count = algorithm.computation(id).iterators.len();
    let moving: Vec<u32> = (0..count as u32).filter(|&it| at.involves_iterator(it)).collect();
    let &[iterator] = moving.as_slice() else { return None };
    let [first, others @ ..] = access.subscripts.as_slice() else { return None };
    let others: Option<Vec<_>> = others.iter().map(|it| it.as_affine()).collect();
    let first = first.as_affine()?;
    let alone = first.coefficient(iterator) == 1 && first.terms().len() == 1;
    if !alone || others?.iter().any(|it| it.involves_iterator(iterator)) {
        return None;
    }
    let params = vec![FAR; algorithm.params.len()];
    let mut instance = vec![FAR; count];
    let mut begins = (FAR..2 * FAR).filter(|&value| {
        instance[iterator as usize] = value;
        at.evaluate(&instance, &params) == Some(0)
    });
    let (begin, next) = (begins.next()?, begins.next()?);
    ((next - begin) % elements == 0).then(|| begin + first.constant_term() - 1)
}

/// How often the kernel around a computation is launched; `None` where sizes decide.
pub(crate) fn launches(
    algorithm: &Algorithm,
    id: ComputationId,
    around: &[(Path, &Loop)],
    params: Option<&[i64]>,
) -> Result<Option<f64>, Error> {
    let Some(params) = params else {
        let [few, many] = [FEW, FAR].map(|size| vec![size; algorithm.params.len()]);
        let both = launches_at(algorithm, id, around, &few)?.zip(launches_at(algorithm, id, around, &many)?);
        return Ok(both.filter(|(few, many)| few == many).map(|(launches, _)| launches));
    };
    launches_at(algorithm, id, around, params)
}

/// The same for these values of the parameters.
fn launches_at(
    algorithm: &Algorithm,
    id: ComputationId,
    around: &[(Path, &Loop)],
    params: &[i64],
) -> Result<Option<f64>, Error> {
    let mut domain = relation::domain(algorithm, id)?;
    for (at, &value) in params.iter().enumerate() {
        let Ok(value) = i32::try_from(value) else { return Ok(None) };
        domain = domain.fix_i32(DimType::Param, at as u32, value)?;
    }
    let mut launches = 1.0;
    let on_host = around.iter().take_while(|(_, it)| !matches!(it.tag, Tag::GpuBlock(_) | Tag::GpuThread(_)));
    for (_, it) in on_host {
        let Some(at) = it.at.get(&id) else { return Ok(None) };
        let values = domain.apply(&relation::function(domain.ctx(), algorithm, id, at)?)?;
        if values.is_empty()? {
            return Ok(Some(0.0));
        }
        let (low, high) = (values.dim_min_val(0)?.to_i64(), values.dim_max_val(0)?.to_i64());
        let Some((low, high)) = low.zip(high) else { return Ok(None) };
        launches *= (high - low + 1) as f64;
    }
    Ok(Some(launches))
}
