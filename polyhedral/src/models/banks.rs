//! Threads of a warp that meet in a bank of shared memory: those of one access, at one moment, in a tile in the middle.
//!
//! # Source
//! Jaeger, Barthou, *Automatic efficient data layout for multithreaded stencil codes on CPUs and GPUs*, HiPC 2012, section IV-E.

use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::{DimType, Map, Point, Set, Val};
use crate::layers::{Layout as Places, MemorySpace};
use crate::relation;
use crate::schedule::{ProcessorAxis, Schedule, Tag};

/// Bytes of a bank, and how many banks there are: as many as threads of a warp.
pub(crate) const BANK: u32 = 4;
pub(crate) const BANKS: u32 = 32;
/// What stands for parameters: large enough for whole tiles in the middle.
const PARAMETER: i32 = 4096;

/// An access to shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedAccess {
    pub buffer: String,
    pub computation: String,
    pub writes: bool,
    /// Threads whose elements move at one time: a warp, or as many as take 128 bytes.
    pub threads: usize,
    /// Pairs of them at different places in one bank.
    pub pairs: usize,
    /// The same for as many more elements along the first axis as make it least, and how many these are.
    pub least: (usize, u64),
}

/// All accesses to shared memory that threads have loops for, each computation's in their order.
pub fn accesses(algorithm: &Algorithm, schedule: &Schedule, places: &Places) -> Result<Vec<SharedAccess>, Error> {
    let mut found = vec![];
    for id in algorithm.ids() {
        let it = algorithm.computation(id);
        let all = it.reads.iter().map(|read| (read, false)).chain([(&it.write, true)]);
        for (access, writes) in all {
            let Some(shared) = shared(algorithm, schedule, places, id, access, writes)? else { continue };
            // A value that is read twice is loaded once.
            if !found.contains(&shared) {
                found.push(shared);
            }
        }
    }
    Ok(found)
}

fn shared(
    algorithm: &Algorithm,
    schedule: &Schedule,
    places: &Places,
    id: ComputationId,
    access: &Access,
    writes: bool,
) -> Result<Option<SharedAccess>, Error> {
    let placement = places.placement(access.array);
    let buffer = places.buffer(placement.buffer);
    let extents: Option<Vec<u64>> =
        buffer.extents.iter().map(|it| it.as_constant().and_then(|it| u64::try_from(it).ok())).collect();
    let subscripts: Option<Vec<Affine>> = access.subscripts.iter().map(|it| it.as_affine().cloned()).collect();
    let (MemorySpace::Shared, Some(extents), Some(subscripts)) = (buffer.space, extents, subscripts) else {
        return Ok(None);
    };
    let units = (BANKS * BANK / buffer.element.bytes()).max(1);
    let lanes = units.min(BANKS) as usize;
    let Some((params, instances)) = warp(algorithm, schedule, id, lanes)? else { return Ok(None) };
    let mut threads = vec![];
    for instance in &instances {
        let at: Option<Vec<i64>> = subscripts.iter().map(|it| it.evaluate(instance, &params)).collect();
        let at: Option<Vec<i64>> = at.and_then(|at| placement.map.iter().map(|it| it.evaluate(&at, &params)).collect());
        let Some(at) = at else { return Ok(None) };
        threads.push(at);
    }
    let Some(first) = threads.first().cloned() else { return Ok(None) };
    for thread in &mut threads {
        thread.iter_mut().zip(&first).for_each(|(value, first)| *value -= first);
    }
    let rows = &extents[..extents.len().saturating_sub(1)];
    let pairs = |more: u64| pairs(buffer.element.bytes(), rows, more, &threads);
    let tried = if rows.is_empty() { 1 } else { u64::from(units) };
    let least = (0..tried).map(|more| (pairs(more), more)).min().unwrap_or((pairs(0), 0));
    Ok(Some(SharedAccess {
        buffer: buffer.name.clone(),
        computation: algorithm.computation(id).name.clone(),
        writes,
        threads: threads.len(),
        pairs: pairs(0),
        least,
    }))
}

/// Pairs of threads whose elements lie in different words of one bank, where the first axis has some `more` elements. `rows` has the
/// extents of all axes but the last. Elements that are smaller than a bank share its words, larger ones take two banks.
pub(crate) fn pairs(bytes: u32, rows: &[u64], more: u64, threads: &[Vec<i64>]) -> usize {
    let word = i64::from(bytes.max(BANK));
    let banks = (i64::from(BANKS * BANK) / word).max(1);
    let word_of = |at: &Vec<i64>| {
        let (mut place, mut stride) = (0, 1);
        for (axis, value) in at.iter().enumerate() {
            place += value * stride;
            stride *= rows.get(axis).map_or(1, |&extent| (extent + if axis == 0 { more } else { 0 }) as i64);
        }
        (place * i64::from(bytes)).div_euclid(word)
    };
    let words: Vec<i64> = threads.iter().map(word_of).collect();
    let meets = |one: i64, other: i64| one != other && (one - other) % banks == 0;
    (0..words.len()).map(|at| words[..at].iter().filter(|&&other| meets(words[at], other)).count()).sum()
}

/// What the first threads of a block run of a computation at one moment, in the order of the threads, and the values of parameters;
/// `None` where it has no loop over threads.
#[allow(clippy::type_complexity, reason = "parameters, and instances")]
fn warp(
    algorithm: &Algorithm,
    schedule: &Schedule,
    id: ComputationId,
    lanes: usize,
) -> Result<Option<(Vec<i64>, Vec<Vec<i64>>)>, Error> {
    let around = schedule.loops_around(id);
    let (domain, params) = sized(relation::domain(algorithm, id)?, algorithm.params.len() as u32)?;
    let each: Option<Vec<Affine>> = around.iter().map(|(_, it)| it.at.get(&id).cloned()).collect();
    let Some(each) = each else { return Ok(None) };
    let values: Map = relation::functions(domain.ctx(), algorithm, id, &each)?.intersect_domain(&domain)?;
    let middle = middle(&domain)?;
    if middle.is_empty()? {
        return Ok(None);
    }
    // Where all other loops are as in the middle, the threads of one block are left.
    let here = integers(&middle.apply(&values)?.sample_point()?, each.len())?;
    let mut block = values;
    let mut axes: [Option<u32>; 3] = [None; 3];
    for (at, (_, it)) in (0..).zip(&around) {
        match it.tag {
            Tag::GpuThread(ProcessorAxis::X) | Tag::Combine => axes[0] = Some(at),
            Tag::GpuThread(ProcessorAxis::Y) => axes[1] = Some(at),
            Tag::GpuThread(ProcessorAxis::Z) => axes[2] = Some(at),
            Tag::Sequential
            | Tag::Parallel
            | Tag::Vector(_)
            | Tag::Unroll(_)
            | Tag::Rows
            | Tag::Separate
            | Tag::GpuBlock(_)
            | Tag::Stream(_)
            | Tag::GridSync => {
                let value = Val::from_i64(domain.ctx(), here[at as usize])?;
                block = block.lower_bound(DimType::Out, at, &value)?.upper_bound(DimType::Out, at, &value)?;
            }
        }
    }
    if axes[0].is_none() {
        return Ok(None);
    }
    let threads = block.range()?;
    let mut ranges = [(0, 0); 3];
    for (range, axis) in ranges.iter_mut().zip(axes) {
        let Some(axis) = axis else { continue };
        let (low, high) = (threads.dim_min_val(axis as i32)?.to_i64(), threads.dim_max_val(axis as i32)?.to_i64());
        let Some(found) = low.zip(high) else { return Ok(None) };
        *range = found;
    }
    let [x, y, z] = ranges;
    let all = (z.0..=z.1).flat_map(|z| (y.0..=y.1).flat_map(move |y| (x.0..=x.1).map(move |x| [x, y, z])));
    let mut found = vec![];
    for thread in all.take(lanes) {
        let mut its = block.clone();
        for (axis, value) in axes.iter().zip(thread) {
            let Some(axis) = axis else { continue };
            let value = Val::from_i64(domain.ctx(), value)?;
            its = its.lower_bound(DimType::Out, *axis, &value)?.upper_bound(DimType::Out, *axis, &value)?;
        }
        let instance = its.domain()?;
        if !instance.is_empty()? {
            found.push(integers(&instance.sample_point()?, algorithm.computation(id).iterators.len())?);
        }
    }
    Ok(Some((params, found)))
}

/// The instances for large values of the parameters, or for others where conditions of the source or the schedule allow no large ones.
fn sized(domain: Set, count: u32) -> Result<(Set, Vec<i64>), Error> {
    let (mut domain, mut open) = (domain, vec![]);
    for at in 0..count {
        let large = domain.fix_i32(DimType::Param, at, PARAMETER)?;
        if large.is_empty()? { open.push(at) } else { domain = large }
    }
    let mut params = vec![i64::from(PARAMETER); count as usize];
    for at in open {
        if domain.is_empty()? {
            break;
        }
        let value = domain.sample_point()?.coordinate(DimType::Param, at as i32)?.to_i64().unwrap_or(0);
        params[at as usize] = value;
        domain = domain.fix_i32(DimType::Param, at, i32::try_from(value).unwrap_or(PARAMETER))?;
    }
    Ok((domain, params))
}

/// The instances in the middle of a computation's, as far as there are any; else all.
fn middle(domain: &Set) -> Result<Set, Error> {
    let mut middle = domain.clone();
    for axis in 0..domain.dim(DimType::Set)? {
        let (low, high) = (middle.dim_min_val(axis as i32)?.to_i64(), middle.dim_max_val(axis as i32)?.to_i64());
        let Some((low, high)) = low.zip(high) else { continue };
        let Ok(at) = i32::try_from(low + (high - low) / 2) else { continue };
        let next = middle.fix_i32(DimType::Set, axis, at)?;
        if !next.is_empty()? {
            middle = next;
        }
    }
    Ok(middle)
}

fn integers(point: &Point, count: usize) -> Result<Vec<i64>, Error> {
    let mut values = vec![];
    for at in 0..count as i32 {
        values.push(point.coordinate(DimType::Set, at)?.to_i64().unwrap_or(0));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::pairs;

    /// Threads down a column of a tile, a row of it each.
    fn column(threads: i64) -> Vec<Vec<i64>> {
        (0..threads).map(|row| vec![0, row]).collect()
    }

    #[test]
    fn bytes_share_the_words_of_banks() {
        // 64 bytes a row: every other thread is in the same bank. With 65 some still are.
        let counted = [0, 1, 2].map(|more| pairs(1, &[64], more, &column(32)));
        assert_eq!(counted, [240, 16, 0]);
        // Neighbours lie in one word.
        let row: Vec<Vec<i64>> = (0..32).map(|at| vec![at, 0]).collect();
        assert_eq!(pairs(1, &[64], 0, &row), 0);
    }

    #[test]
    fn elements_of_two_to_eight_bytes() {
        assert_eq!([0, 1, 2].map(|more| pairs(2, &[32], more, &column(32))), [240, 0, 0]);
        assert_eq!([0, 1].map(|more| pairs(4, &[32], more, &column(32))), [496, 0]);
        assert_eq!([0, 1].map(|more| pairs(8, &[16], more, &column(16))), [120, 0]);
    }
}
