//! What a time step records of the fields: nests that write elements which nothing in the loop reads, such as what a receiver hears.
//!
//! `heard[t] = p[i0, j0]` and `traces[i, t] = p[i, j0]` write no array whose versions flow from step to step. Each of their instances takes
//! the values of one point, its place, and writes what they give to memory: the warp that stores the place does so when the
//! row passes, once in each step. Others may compute the point too, and write nothing. What an element gets in a later step, or adds to
//! what it is, comes from the same place: from the same lane, in the order of the steps.

use super::levels::Levels;
use super::recognise::shifted;
use super::{Field, Obstacle, Source, Stage, Stream};
use crate::algorithm::{Access, Algorithm, ArrayId, Computation, ComputationId, Subscript};
use crate::error::Error;
use crate::isl::{Ctx, Map};
use crate::relation;
use std::collections::{BTreeMap, BTreeSet};

/// The read of a nest that is its place, if it records: the first one of an array that other nests of the loop write. The
/// nests are those below a time loop, with their iterators along it.
pub(super) fn place_of(
    algorithm: &Algorithm,
    levels: &Levels,
    nests: &[ComputationId],
    (own, time): (ComputationId, Option<u32>),
) -> Option<usize> {
    let computation = algorithm.computation(own);
    let write = &computation.write;
    let others = || nests.iter().copied().filter(|other| *other != own).map(|other| algorithm.computation(other));
    let is_same = |read: &Access| read.array != write.array || read.subscripts == write.subscripts;
    // Another one that adds to what it has written itself may be the same statement in another turn.
    let adds = |other: &Computation, read: &Access| {
        other.write.array == read.array && other.write.subscripts == read.subscripts
    };
    let is_read = others().any(|other| other.reads.iter().any(|read| read.array == write.array && !adds(other, read)));
    if is_read || !computation.reads.iter().all(is_same) {
        return None;
    }
    // Where it happens on a condition alone, the place may lie outside of the array, which no warp has.
    let happens = |read: &Access| read.within.is_none() && !read.conditional;
    let is_field = |read: &Access| happens(read) && others().any(|it| it.write.array == read.array);
    let place = computation.reads.iter().position(|read| read.array != write.array && is_field(read))?;
    let [write, read] = [write, &computation.reads[place]].map(|access| &access.subscripts[..levels.rank(access)]);
    let along_time = time.is_some_and(|time| write.iter().any(|it| computation.involves_iterator(it, time)));
    (along_time || !is_near(write, read)).then_some(place)
}

/// Whether one place is a fixed distance away from another one.
fn is_near(one: &[Subscript], other: &[Subscript]) -> bool {
    let distance = |(one, other): (&Subscript, &Subscript)| match (shifted(one), shifted(other)) {
        (Some((one, _)), Some((other, _))) => one == other,
        _ => one
            .as_affine()
            .zip(other.as_affine())
            .is_some_and(|(one, other)| one.sub(other).ok().and_then(|it| it.as_constant()).is_some()),
    };
    one.len() == other.len() && one.iter().zip(other).all(distance)
}

/// That each element is written from one place, given the nests, and of what records the read that is its place.
pub(super) fn check(
    ctx: &Ctx,
    algorithm: &Algorithm,
    levels: &Levels,
    nests: &[(ComputationId, Option<usize>)],
) -> Result<Result<(), Obstacle>, Error> {
    let mut written: BTreeMap<ArrayId, Map> = BTreeMap::new();
    let fields = nests.iter().filter(|(_, place)| place.is_none());
    let fields: BTreeSet<ArrayId> = fields.map(|(id, _)| algorithm.computation(*id).write.array).collect();
    for (id, place) in nests.iter().filter_map(|&(id, place)| Some((id, place?))) {
        let computation = algorithm.computation(id);
        let (name, array) = (&computation.name, &algorithm.array(computation.write.array).name);
        if fields.contains(&computation.write.array) {
            return Ok(Err(also_written(algorithm, id)));
        }
        if !computation.write.is_affine() {
            return Ok(Err(Obstacle(format!("`{name}` writes `{array}` at computed subscripts"))));
        }
        let write: Map = relation::access(ctx, algorithm, id, &computation.write)?;
        let place = &computation.reads[place];
        let place = place.subscripts[..levels.rank(place)].iter().map(|it| it.as_affine().cloned());
        let Some(place) = place.collect::<Option<Vec<_>>>() else {
            return Ok(Err(Obstacle(format!("`{name}` reads at computed subscripts"))));
        };
        let place = relation::functions(ctx, algorithm, id, &place)?;
        let from = write.reverse()?.apply_range(&place)?;
        if !from.is_single_valued()? {
            return Ok(Err(Obstacle(format!("`{name}` writes an element of `{array}` from several points"))));
        }
        let all = match written.remove(&computation.write.array) {
            Some(known) => known.union(&from)?,
            None => from,
        };
        if !all.is_single_valued()? {
            return Ok(Err(also_written(algorithm, id)));
        }
        written.insert(computation.write.array, all);
    }
    Ok(Ok(()))
}

/// That another statement writes what this one does.
fn also_written(algorithm: &Algorithm, id: ComputationId) -> Obstacle {
    let computation = algorithm.computation(id);
    let (name, array) = (&computation.name, &algorithm.array(computation.write.array).name);
    Obstacle(format!("`{name}` writes elements of `{array}` that another statement writes"))
}

/// That of what records into one array, the first comes first at every point: in each step, and before the next one.
pub(super) fn check_order(algorithm: &Algorithm, stream: &Stream) -> Result<(), Obstacle> {
    let written = |record: &Stage| algorithm.computation(record.computation).write.array;
    for (at, record) in stream.records.iter().enumerate() {
        for before in stream.records[..at].iter().filter(|before| written(before) == written(record)) {
            let in_rows = before.lag <= record.lag && record.lag <= stream.lag + before.lag;
            if !in_rows || stream.stages_before(before) > stream.stages_before(record) {
                return Err(also_written(algorithm, record.computation));
            }
        }
    }
    Ok(())
}

/// That what records reads its place of a field, after all nests of a step that write it or before them; `after` is the number of nests before
/// it. A step is a period of the time loop.
pub(super) fn check_read(
    algorithm: &Algorithm,
    (computation, period): (&Computation, i64),
    (source, after): (&Source, usize),
    field: &Field,
) -> Result<(), Obstacle> {
    let (name, array) = (&computation.name, &algorithm.array(field.array).name);
    if matches!(source, Source::Field { offset, .. } if *offset != [0; 3]) {
        return Err(Obstacle(format!("`{name}` reads `{array}` at several points for what nothing in the loop reads")));
    }
    if (field.writer + 1..=field.finisher).contains(&after) {
        return Err(Obstacle(match period {
            1 => format!("`{name}` reads `{array}` before all nests of a step have written it"),
            _ => format!(
                "`{name}` reads `{array}` amid a step of the stream: that is {period} iterations, all of which write it"
            ),
        }));
    }
    Ok(())
}

/// That hexagons record nothing.
pub(super) fn in_hexagons(algorithm: &Algorithm, record: &Stage) -> Obstacle {
    let name = &algorithm.computation(record.computation).name;
    Obstacle(format!("`{name}` writes down what each step computes, which `stream` and `grid_sync` do"))
}
