//! Which arrays are padded, where the model of layouts says that it pays ([`crate::models::layout`]).
//!
//! On a CPU, arrays that the function makes itself, whose extents are numbers: columns that are used together do not meet in one set of
//! the first-level cache, and where sizes are known, for the tuner, reads of a stencil share their places in vectors. The caller's arrays
//! stay as they are. On a GPU, arrays in its memory ([`super::device_pads`]), and tiles in shared memory: the threads of a warp meet in no bank.

use crate::affine::{Affine, Atom};
use crate::algorithm::{Access, Algorithm, Array, ArrayId, ArrayKind, ComputationId, Subscript};
use crate::auto::device_pads::{self, device_arrays};
use crate::auto::padded::{Padded, Why};
use crate::command::Columns;
use crate::error::Error;
use crate::layers::Target;
use crate::machine::Machine;
use crate::models::banks::{self, BANK, BANKS};
use crate::models::layout::patterns::{Pattern, patterns};
use crate::models::layout::{Layout, rows};
use crate::schedule::{Loop, Path, Schedule, Tag};

/// Bytes of a line of the cache.
const LINE: u32 = 64;
/// Sets of a first-level cache, and lines that each holds.
const SETS: u32 = 64;
const WAYS: usize = 8;
/// Iterations of a loop down the rows whose lines should still be there when the next row is used.
const DEEP: i64 = 16;
/// A padding pays where reads then take so much less.
const WORTH: f64 = 0.95;

/// The arrays that are better padded, under an order of the function's loops; `params` are the values of its parameters, where these
/// are known.
pub fn arrays(
    algorithm: &Algorithm,
    schedule: &Schedule,
    target: Target,
    machine: &Machine,
    params: Option<&[i64]>,
) -> Result<Vec<Padded>, Error> {
    match target {
        Target::Cpu => {}
        Target::Gpu => return device_arrays(algorithm, schedule, params),
    }
    let mut found = vec![];
    let patterns = patterns(algorithm)?;
    for (id, array) in (0..).map(ArrayId).zip(&algorithm.arrays) {
        let Some(extents) = numbers(array, params) else { continue };
        let sets = sets(algorithm, schedule, &patterns, id, &extents);
        // Measuring found gains and losses, which the model does not tell apart: the tuner, which times them, may try.
        let vectors = || params.and_then(|_| vectors(algorithm, schedule, machine, &patterns, id, &extents));
        found.extend(sets.or_else(vectors));
    }
    Ok(found)
}

/// How many paddings are weighed for the arrays of a function.
pub fn weighed(algorithm: &Algorithm, target: Target, machine: &Machine, params: Option<&[i64]>) -> usize {
    match target {
        Target::Cpu => {}
        Target::Gpu => return device_pads::weighed(algorithm),
    }
    let of = |array: &Array| {
        let modulus = u64::from((machine.vector_bytes / array.element.bytes()).max(1));
        numbers(array, params).map_or(0, |it| modulus.pow(it.len() as u32 - 1) as usize + WAYS)
    };
    algorithm.arrays.iter().map(of).sum()
}

/// The extents of an array that can be padded, where they are numbers.
fn numbers(array: &Array, params: Option<&[i64]>) -> Option<Vec<u64>> {
    if !matches!(array.kind, ArrayKind::Local { outer: 0 }) || !(2..=3).contains(&array.rank) {
        return None;
    }
    let number = |extent: &Affine| match params {
        None => extent.as_constant(),
        Some(params) => extent.evaluate(&[], params),
    };
    array.extents.iter().map(|it| number(it).and_then(|it| u64::try_from(it).ok()).filter(|&it| it > 1)).collect()
}

/// Columns that meet in one set of the cache, brought apart by whole lines.
fn sets(algorithm: &Algorithm, schedule: &Schedule, all: &[Pattern], id: ArrayId, extents: &[u64]) -> Option<Padded> {
    let array = algorithm.array(id);
    let per_line = u64::from((LINE / array.element.bytes()).max(1));
    if !extents[0].is_multiple_of(per_line) {
        return None;
    }
    let mut lines: Vec<u64> = extents[..extents.len() - 1].to_vec();
    lines[0] /= per_line;
    let mut together: Vec<Vec<Vec<i64>>> = vec![];
    for pattern in all.iter().filter(|it| it.array == id) {
        let mut columns: Vec<Vec<i64>> = vec![];
        for read in &pattern.reads {
            let column = [&[0], &read[1..]].concat();
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        together.push(columns);
    }
    for computation in algorithm.ids() {
        let it = algorithm.computation(computation);
        let around = schedule.loops_around(computation);
        let Some((_, innermost)) = around.last() else { continue };
        for access in it.reads.iter().chain([&it.write]).filter(|access| access.array == id) {
            let extent = |axis: usize| extents[axis] as i64;
            together.extend(down_rows(access, computation, innermost, &extent));
        }
    }
    let lone = |columns: &Vec<Vec<i64>>| columns.len() <= WAYS;
    let layouts: Vec<Layout> =
        together.iter().filter(|it| !lone(it)).map(|it| Layout::banked(&lines, SETS, it)).collect();
    // So many pairs meet where one set has to hold one line more than it can.
    let crowded = WAYS * (WAYS + 1) / 2;
    let worst = |by: Vec<u64>| rows::of(&layouts, by).found.iter().map(|it| it.conflicts).max().unwrap_or(0);
    let none = vec![0; lines.len()];
    if worst(none.clone()) < crowded {
        return None;
    }
    let columns = together.iter().map(Vec::len).max().unwrap_or(0);
    (1..WAYS as u64).find_map(|more| {
        let mut by = none.clone();
        by[0] = more;
        let fits = worst(by) < crowded;
        let mut elements = vec![0; extents.len()];
        elements[0] = u32::try_from(more * per_line).ok()?;
        fits.then(|| Padded {
            array: array.name.clone(),
            by: elements,
            columns: Columns::default(),
            why: Why::Sets { columns },
        })
    })
}

/// The places of the next iterations of a loop that moves along columns, and not down them.
fn down_rows(access: &Access, id: ComputationId, it: &Loop, extent: &dyn Fn(usize) -> i64) -> Option<Vec<Vec<i64>>> {
    let iterator = &iterator_through(it.at.get(&id)?)?;
    let steps: Vec<i64> =
        access.subscripts.iter().map(|it| it.as_affine().map(|it| it.coefficient(*iterator))).collect::<Option<_>>()?;
    if steps[0] != 0 || steps.iter().all(|&step| step == 0) {
        return None;
    }
    let inside = |at: &i64| steps.iter().enumerate().all(|(axis, step)| step * at < extent(axis));
    Some((0..DEEP).filter(inside).map(|at| steps.iter().map(|step| step * at).collect()).collect())
}

/// The iterator that a loop runs through, or the points of a tile along one.
fn iterator_through(at: &Affine) -> Option<u32> {
    match at.terms() {
        [(Atom::Iterator(iterator), _)] => Some(*iterator),
        [(Atom::Iterator(iterator), 1), (Atom::FloorDiv(tile, side), factor)]
        | [(Atom::FloorDiv(tile, side), factor), (Atom::Iterator(iterator), 1)] => {
            let whole = *factor == -side && tile.terms() == [(Atom::Iterator(*iterator), 1)];
            whole.then_some(*iterator)
        }
        _ => None,
    }
}

/// Reads brought to one place in their vectors, where that is worth the memory.
fn vectors(
    algorithm: &Algorithm,
    schedule: &Schedule,
    machine: &Machine,
    all: &[Pattern],
    id: ArrayId,
    extents: &[u64],
) -> Option<Padded> {
    let array = algorithm.array(id);
    let bytes = array.element.bytes();
    // A vector that is out of place touches two lines now and then.
    let (vector, costs) = (machine.vector_bytes / bytes, f64::from(machine.vector_bytes) / f64::from(LINE));
    let in_vectors = |pattern: &&Pattern| {
        let around = schedule.loops_around(pattern.computation);
        around.iter().any(|(_, it)| matches!(it.tag, Tag::Vector(_)))
    };
    let mine: Vec<&Pattern> = all.iter().filter(|it| it.array == id).filter(in_vectors).collect();
    if mine.is_empty() || vector < 2 {
        return None;
    }
    let extents = &extents[..extents.len() - 1];
    let layouts: Vec<Layout> = mine.iter().map(|it| Layout::aligned(extents, vector, &it.reads, 1)).collect();
    let reads: usize = mine.iter().map(|it| it.reads.len()).sum();
    let out = |it: &rows::Rows| it.found.iter().flat_map(|found| &found.unaligned).sum::<usize>();
    let cost = |it: &rows::Rows| (reads as f64 + costs * out(it) as f64) * (1.0 + it.growth);
    let tried = rows::all(&layouts);
    let none = tried.first()?;
    let best = tried.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
    let pays = cost(best) < WORTH * cost(none);
    let mut by: Vec<u32> = best.by.iter().map(|&it| it as u32).collect();
    by.push(0);
    let why = Why::Vectors { elements: vector, reads, before: out(none), after: out(best) };
    pays.then(|| Padded { array: array.name.clone(), by, columns: Columns::default(), why })
}

/// A tile of an array in shared memory, filled for each iteration of a loop, that the threads of a block read.
pub struct SharedTile<'a> {
    pub algorithm: &'a Algorithm,
    pub computation: ComputationId,
    pub access: &'a Access,
    pub around: &'a [(Path, &'a Loop)],
    /// The place of the loop among those around.
    pub step: usize,
    /// The loop that runs on neighbouring threads.
    pub x: &'a Loop,
}

/// Values of an iterator that are looked at.
const FAR: i64 = 4096;
/// What stands for parameters where loops are evaluated.
const PARAMETER: i64 = 1 << 20;

/// The padding with which the threads of a warp meet in the fewest banks.
pub fn of_shared(tile: &SharedTile<'_>) -> Option<Padded> {
    let array = tile.algorithm.array(tile.access.array);
    let outer = array.kind.outer() as usize;
    let bytes = array.element.bytes();
    let elements = (BANKS * BANK / bytes).max(1);
    // Threads of a warp whose elements move at one time: 128 bytes.
    let lanes = i64::from(elements.min(BANKS));
    let subscripts: Vec<&Affine> =
        tile.access.subscripts[outer..].iter().map(|it| it.as_affine()).collect::<Option<_>>()?;
    let base = tile.base()?;
    let threads = tile.threads(&base, lanes, &subscripts)?;
    let spans: Vec<u64> = subscripts[..subscripts.len() - 1]
        .iter()
        // What is not tiled may have any length, the worst included.
        .map(|it| tile.span(&base, it).unwrap_or_else(|| u64::from(elements)))
        .collect();
    let pairs = |more: u64| banks::pairs(bytes, &spans, more, &threads);
    let tried = if spans.is_empty() { 1 } else { u64::from(elements) };
    let (after, more) = (0..tried).map(|more| (pairs(more), more)).min()?;
    let before = pairs(0);
    let mut by = vec![0; spans.len() + 1];
    by[0] = more as u32;
    (after < before).then(|| Padded {
        array: array.name.clone(),
        by,
        columns: Columns::default(),
        why: Why::Banks { before, after },
    })
}

/// The bytes that a thread reads at once at most.
const VECTOR: u32 = 16;

/// The padding of a tile whose rows are the buffer's columns: these begin at multiples of 16 bytes, for threads that read neighbours
/// together, and the threads that copy a column of the array do not all meet in one bank.
pub fn of_turned(tile: &SharedTile<'_>) -> Option<Padded> {
    let array = tile.algorithm.array(tile.access.array);
    let bytes = array.element.bytes();
    let base = tile.base()?;
    let span = |axis: usize| tile.span(&base, tile.access.subscripts[axis].as_affine()?);
    let (column, row) = (span(0)?, span(1)?);
    let lanes = u64::from((BANKS * BANK / bytes).clamp(1, BANKS)).min(column);
    let threads: Vec<Vec<i64>> = (0..lanes as i64).map(|at| vec![0, at]).collect();
    let pairs = |more: u32| banks::pairs(bytes, &[row], u64::from(more), &threads);
    let more = VECTOR / bytes;
    let (before, after) = (pairs(0), pairs(more));
    (after < before).then(|| Padded {
        array: array.name.clone(),
        by: vec![0, more],
        columns: Columns::default(),
        why: Why::Banks { before, after },
    })
}

/// The padding of a tile of a matrix with which its columns have room to begin as far inside of 16 bytes as those of the matrix do: copies
/// ahead then take 16 bytes at once. `None` where they cannot.
pub fn of_shifted(tile: &SharedTile<'_>) -> Option<Padded> {
    let array = tile.algorithm.array(tile.access.array);
    let lanes = shifted_lanes(tile.algorithm, tile.access)?;
    let base = tile.base()?;
    let span = |axis: usize| tile.span(&base, tile.access.subscripts[axis].as_affine()?);
    let (rows, _) = (span(0)?, span(1)?);
    (rows % u64::from(lanes) == 0).then(|| Padded {
        array: array.name.clone(),
        by: vec![lanes, 0],
        columns: Columns::default(),
        why: Why::Shifted { bytes: VECTOR },
    })
}

/// Elements of 16 bytes of a matrix whose columns may be shifted in a tile.
pub fn shifted_lanes(algorithm: &Algorithm, access: &Access) -> Option<u32> {
    let array = algorithm.array(access.array);
    let is_whole = matches!(array.kind, ArrayKind::Argument | ArrayKind::Local { outer: 0 } | ArrayKind::Returned);
    // A tile begins at whole vectors of the matrix, but for a number.
    let has_size = |it: &Subscript| {
        it.as_affine().is_some_and(|it| it.terms().iter().any(|(atom, _)| matches!(atom, Atom::Param(_))))
    };
    let is_plain = access.is_affine() && !access.subscripts.iter().any(has_size);
    let is_matrix = is_whole && array.rank == 2 && array.strided.is_empty() && is_plain;
    is_matrix.then(|| VECTOR / array.element.bytes()).filter(|&lanes| lanes > 1)
}

impl SharedTile<'_> {
    /// The bytes of the tile, with so many elements more in each column; `None` where an axis is not tiled.
    pub fn bytes(&self, more: u32) -> Option<i64> {
        let array = self.algorithm.array(self.access.array);
        let base = self.base()?;
        let mut bytes = i64::from(array.element.bytes());
        for (axis, subscript) in self.access.subscripts[array.kind.outer() as usize..].iter().enumerate() {
            let span = i64::try_from(self.span(&base, subscript.as_affine()?)?).ok()?;
            bytes = bytes.checked_mul(span + if axis == 0 { i64::from(more) } else { 0 })?;
        }
        Some(bytes)
    }

    fn params(&self) -> Vec<i64> {
        vec![PARAMETER; self.algorithm.params.len()]
    }

    fn value(&self, it: &Affine, instance: &[i64]) -> Option<i64> {
        it.evaluate(instance, &self.params())
    }

    /// What the loops down to the one that fills the tile run through, at an instance.
    fn outside(&self, instance: &[i64]) -> Option<Vec<i64>> {
        let loops = self.around[..=self.step].iter();
        loops.map(|(_, it)| self.value(it.at.get(&self.computation)?, instance)).collect()
    }

    /// An instance at the beginning of a tile along each iterator.
    fn base(&self) -> Option<Vec<i64>> {
        let count = self.algorithm.computation(self.computation).iterators.len();
        let mut base = vec![FAR; count];
        for at in 0..count {
            let here = self.outside(&base)?;
            for value in (1..FAR).rev() {
                base[at] = value;
                if self.outside(&base)? != here {
                    base[at] = value + 1;
                    break;
                }
            }
        }
        Some(base)
    }

    /// How many iterations along an iterator are in the tile.
    fn length(&self, base: &[i64], iterator: usize) -> Option<i64> {
        let here = self.outside(base)?;
        let mut instance = base.to_vec();
        for length in 1..FAR {
            instance[iterator] = base[iterator] + length;
            if self.outside(&instance)? != here {
                return Some(length);
            }
        }
        None
    }

    /// How many threads a block has along the loop that runs on neighbouring ones, where each has one of its iterations.
    pub fn threads_of_block(&self) -> Option<i64> {
        let at = self.x.at.get(&self.computation)?;
        let base = self.base()?;
        let mut moving = (0..base.len()).filter(|&it| at.involves_iterator(it as u32));
        let iterator = moving.next().filter(|_| moving.next().is_none())?;
        self.length(&base, iterator)
    }

    /// The values of a subscript in the tile.
    fn span(&self, base: &[i64], subscript: &Affine) -> Option<u64> {
        let mut span = 1;
        for iterator in 0..base.len() {
            let factor = subscript.coefficient(iterator as u32).abs();
            if factor != 0 {
                span += factor * (self.length(base, iterator)? - 1);
            }
        }
        u64::try_from(span).ok()
    }

    /// Where neighbouring threads are in the tile, relative to the first.
    fn threads(&self, base: &[i64], lanes: i64, subscripts: &[&Affine]) -> Option<Vec<Vec<i64>>> {
        let at = self.x.at.get(&self.computation)?;
        let moving: Vec<usize> = (0..base.len()).filter(|&it| at.involves_iterator(it as u32)).collect();
        let &[iterator] = moving.as_slice() else { return None };
        let mut instance = base.to_vec();
        let mut last = self.value(at, &instance)?;
        let place =
            |instance: &[i64]| -> Option<Vec<i64>> { subscripts.iter().map(|it| self.value(it, instance)).collect() };
        let start = place(&instance)?;
        let mut found = vec![vec![0; start.len()]];
        for value in base[iterator] + 1..base[iterator] + FAR {
            instance[iterator] = value;
            let now = self.value(at, &instance)?;
            if now != last {
                last = now;
                let here = place(&instance)?;
                found.push(here.iter().zip(&start).map(|(a, b)| a - b).collect());
            }
            if found.len() as i64 == lanes {
                break;
            }
        }
        Some(found)
    }
}
