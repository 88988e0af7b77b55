//! Neighbouring points for each thread of a GPU, so that it loads and stores vectors.
//!
//! A load of a warp moves what its threads ask for: with bytes, or where several points need an element, that is little for what an
//! instruction costs. Where each thread has neighbouring points, what it touches of a row goes through its registers,
//! 16 bytes at a time. So does an array that is changed in place: without registers, a thread would load a point's element only
//! after it had stored the one before, since nothing tells the compiler that they are two.

use super::chooser::{Chooser, loop_at};
use super::gpu_storage::moves_alike;
use super::profile::{Step, iterator_of, step};
use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, Computation, ComputationId};
use crate::command::Command;
use crate::error::Error;
use crate::machine::{VECTOR_BYTES, WORD_BYTES, vector_parts};
use crate::schedule::{Loop, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::smallest_value;
use std::collections::BTreeSet;

/// The most bytes of registers that what a thread touches may take, an element of it no less than four.
const REGISTER_BYTES: i64 = 4 * 112;

/// How many points each thread has along the contiguous axis and, outside of these, along the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Points {
    pub(super) along: u32,
    pub(super) across: u32,
    /// So many points of the first thread along the contiguous axis lie before the loop's first one, which makes the fewest loads and
    /// stores of the others: vectors begin at multiples of their sizes.
    pub(super) before: u32,
}

impl Chooser<'_> {
    /// The points of a thread where vectors pay: `x` is the loop along which threads are neighbours, `y` the one outside of it, if
    /// there is one, and `body` stands below.
    pub(super) fn vector_points(
        &self,
        schedule: &Schedule,
        (y, x): (Option<&Path>, &Path),
        body: &Path,
    ) -> Result<Option<Points>, Error> {
        let (Some(x), Some(below)) = (loop_at(schedule, x), schedule.node(body)) else { return Ok(None) };
        let y = y.and_then(|y| loop_at(schedule, y));
        let computations = below.computations();
        let iterator = |it: &Loop, id: ComputationId| {
            it.at.get(&id).and_then(iterator_of).filter(|(_, factor)| *factor == 1).map(|(iterator, _)| iterator)
        };
        let (mut widest, mut narrowest, mut reused) = (0, u32::MAX, false);
        let written: BTreeSet<ArrayId> =
            computations.iter().map(|&id| self.algorithm.computation(id).write.array).collect();
        let mut changes_in_place = false;
        let mut variables: BTreeSet<ArrayId> = BTreeSet::new();
        let mut moved: Vec<(ArrayId, ComputationId, &Access)> = vec![];
        for &id in &computations {
            let computation = self.algorithm.computation(id);
            let Some(along) = iterator(x, id) else { return Ok(None) };
            if computation.predicate.is_some() || !computation.ranged.is_empty() {
                return Ok(None);
            }
            for access in accesses(computation) {
                let array = self.algorithm.array(access.array);
                if array.kind == ArrayKind::Private {
                    variables.insert(access.array);
                    continue;
                }
                match step(self.algorithm, id, access, along) {
                    Step::Stays => continue,
                    Step::Next if is_movable(self.algorithm, access) => {}
                    Step::Next | Step::Back | Step::Jumps => return Ok(None),
                }
                (widest, narrowest) = (widest.max(array.element.bytes()), narrowest.min(array.element.bytes()));
                changes_in_place |= written.contains(&access.array) && !std::ptr::eq(access, &computation.write);
                let mut others = (0..computation.iterators.len() as u32).filter(|&it| it != along);
                reused |= others.any(|it| computation.involves_iterator(&access.subscripts[0], it));
                reused |=
                    moved.iter().any(|(of, _, other)| *of == access.array && other.subscripts != access.subscripts);
                moved.push((access.array, id, access));
            }
        }
        let pays = reused || changes_in_place || narrowest < WORD_BYTES;
        if !(1..=8).contains(&widest) || !pays || !writes_alone(self.algorithm, &computations) {
            return Ok(None);
        }
        let along = VECTOR_BYTES as u32 / widest;
        let across = if y.is_some() && along <= 4 { 2 } else { 1 };
        let arrays: BTreeSet<ArrayId> = moved.iter().map(|(array, ..)| *array).collect();
        // Of each variable, one for each point.
        let of_points = variables.iter().map(|&array| self.algorithm.array(array).element.bytes().max(WORD_BYTES));
        let mut bytes = of_points.map(|element| i64::from(along * across) * i64::from(element)).sum::<i64>();
        let mut rows: Vec<Rows> = vec![];
        for array in arrays {
            let mut ends: Vec<Option<(i64, i64)>> = vec![None; self.algorithm.array(array).rank as usize];
            for (_, id, access) in moved.iter().filter(|(of, ..)| *of == array) {
                let inner = self.extents_below(schedule, body, *id)?;
                for (axis, end) in ends.iter_mut().enumerate() {
                    let Some(affine) = access.subscripts[axis].as_affine() else { return Ok(None) };
                    let (mut low, mut high) = (affine.constant_term(), affine.constant_term());
                    let mut add = |at: &Loop, first: i64, points: i64| {
                        if let Some(iterator) = iterator(at, *id) {
                            let factor = affine.coefficient(iterator);
                            let (base, reach) = (factor.saturating_mul(first), factor.saturating_mul(points - 1));
                            low = low.saturating_add(base).saturating_add(reach.min(0));
                            high = high.saturating_add(base).saturating_add(reach.max(0));
                        }
                    };
                    add(x, 0, i64::from(along));
                    y.iter().for_each(|y| add(y, 0, i64::from(across)));
                    inner.iter().for_each(|(at, first, extent)| add(at, *first, *extent));
                    *end = Some(end.map_or((low, high), |(from, to)| (low.min(from), high.max(to))));
                }
            }
            let element = i64::from(self.algorithm.array(array).element.bytes().max(WORD_BYTES));
            let size = ends.iter().flatten().fold(element, |size, (low, high)| size.saturating_mul(high - low + 1));
            bytes = bytes.saturating_add(size);
            let of_array = moved.iter().filter(|(of, ..)| *of == array);
            let starts_with_loop = |(_, id, access): &(ArrayId, ComputationId, &Access)| {
                let first = access.subscripts[0].as_affine();
                let is_known = first.is_some_and(|first| !first.involves_any_param());
                is_known && x.at.get(id).is_some_and(|at| at.constant_term() == 0)
            };
            let numbered_from_1 = self.algorithm.array(array).first(0).as_constant() == Some(1);
            if let [Some((low, high)), ..] = ends.as_slice()
                && numbered_from_1
                && of_array.clone().all(starts_with_loop)
            {
                let others = ends[1..].iter().flatten().map(|(low, high)| high - low + 1);
                let reads =
                    of_array.clone().any(|(_, id, it)| !std::ptr::eq(*it, &self.algorithm.computation(*id).write));
                let times = i64::from(reads) + i64::from(written.contains(&array));
                rows.push(Rows {
                    first: low - 1,
                    count: high - low + 1,
                    times: others.fold(times, i64::saturating_mul),
                });
            }
        }
        if bytes > REGISTER_BYTES {
            return Ok(None);
        }
        let before = match smallest_value(self.ctx, self.algorithm, x)? {
            Some(first) => (0..along).min_by_key(|&before| instructions(&rows, first - i64::from(before), along)),
            None => None,
        };
        Ok(Some(Points { along, across, before: before.unwrap_or(0) }))
    }

    /// The loops around a computation below `path` whose numbers of iterations are constant, with these and, before them, the first value of the
    /// iterator if that is a number, else 0.
    fn extents_below<'s>(
        &self,
        schedule: &'s Schedule,
        path: &Path,
        id: ComputationId,
    ) -> Result<Vec<(&'s Loop, i64, i64)>, Error> {
        let mut found = vec![];
        for (at, it) in schedule.loops_around(id) {
            if at.0.len() >= path.0.len()
                && let Some(extent) = self.extent_of(id, &it.at[&id])?
            {
                let first = smallest_value(self.ctx, self.algorithm, it)?;
                let first = first.map_or(0, |first| first - it.at[&id].constant_term());
                found.push((it, first, extent));
            }
        }
        Ok(found)
    }
}

/// What a thread loads or stores of an array: rows of neighbours.
struct Rows {
    /// Where they begin, in elements from the beginning of a column, if the thread's first point is 0.
    first: i64,
    count: i64,
    /// How many rows there are, those that are both loaded and stored counted twice.
    times: i64,
}

/// The loads and stores of vectors that move the rows of a thread whose first point is this one, or so many points later as threads have times any number,
/// if columns begin at multiples of a vector.
fn instructions(rows: &[Rows], point: i64, lanes: u32) -> i64 {
    let of_row = |row: &Rows| vector_parts(0, row.count - 1, row.first + point, lanes.into()).len() as i64;
    rows.iter().map(|row| of_row(row).saturating_mul(row.times)).sum()
}

pub(super) fn accesses(computation: &Computation) -> impl Iterator<Item = &Access> {
    computation.reads.iter().chain([&computation.write])
}

pub(super) fn is_movable(algorithm: &Algorithm, access: &Access) -> bool {
    let kind = &algorithm.array(access.array).kind;
    access.is_affine() && matches!(kind, ArrayKind::Argument | ArrayKind::Local { outer: 0 } | ArrayKind::Returned)
}

/// Whether every array that is written is accessed at one element in each point.
fn writes_alone(algorithm: &Algorithm, inside: &[ComputationId]) -> bool {
    inside.iter().all(|&id| {
        let write = &algorithm.computation(id).write;
        let all = inside.iter().flat_map(|&other| accesses(algorithm.computation(other)));
        all.filter(|it| it.array == write.array).all(|it| it.subscripts == write.subscripts)
    })
}

/// The commands that keep in registers what threads with neighbouring points touch, in a kernel of these computations.
pub(super) fn commands(algorithm: &Algorithm, schedule: &Schedule, inside: &[ComputationId]) -> Vec<Command> {
    let mut commands = vec![];
    for &id in inside {
        let computation = algorithm.computation(id);
        let around = schedule.loops_around(id);
        let Some(last) = around.iter().rposition(|(_, it)| matches!(it.tag, Tag::GpuThread(_))) else { continue };
        let Some((_, x)) = around.iter().find(|(_, it)| it.tag == Tag::GpuThread(ProcessorAxis::X)) else { continue };
        let through = |it: &Loop| -> Vec<u32> {
            let count = computation.iterators.len() as u32;
            it.at.get(&id).map_or(vec![], |at| (0..count).filter(|&it| at.involves_iterator(it)).collect())
        };
        let [along] = through(x)[..] else { continue };
        // Points that lie apart step through a quotient of the iterator.
        let is_beside = |it: &Loop| it.at.get(&id).is_some_and(|at| at.coefficient(along) == 1);
        let has_points = around[last + 1..]
            .iter()
            .any(|(_, it)| matches!(it.tag, Tag::Unroll(_)) && through(it) == [along] && is_beside(it));
        if !has_points || !writes_alone(algorithm, inside) {
            continue;
        }
        for access in accesses(computation) {
            if is_movable(algorithm, access) && step(algorithm, id, access, along) == Step::Next {
                let command = Command::CacheRegister {
                    array: algorithm.array(access.array).name.clone(),
                    computation: computation.name.clone(),
                    at: around[last].1.name.clone(),
                };
                if !commands.iter().any(|other| moves_alike(other, &command)) {
                    commands.push(command);
                }
            }
        }
    }
    commands
}
