//! `prefetch`: an element is asked for some iterations before it is used.
//!
//! Rewrite of `prefetch(A, S, i, 8)`: `for i { S reads A[i] } -> for i { ask for A[i + 8] if it is inside; S reads A[i] }`
//!
//! Nothing is computed from it, so it is always legal. What has to be known is how far the loop moves one of the
//! statement's iterators in one iteration.

use super::error::ConnectError;
use crate::affine::{Affine, Atom};
use crate::algorithm::{Access, AccessRef, ArrayKind};
use crate::error::{Error, OnGpu, ScheduleError};
use crate::layers::{Prefetch, Scheduled, Target};
use crate::storage::{self, StorageError};

/// Subscripts and sizes are within this, so that sums of them do not wrap.
const FURTHEST: i64 = 1 << 40;

/// What a command asks for: each element that the statement names of the array, once.
///
/// # Errors
/// [`ConnectError::NoStep`] where the loop moves no iterator by a constant.
pub(super) fn place(
    scheduled: &Scheduled,
    array: &str,
    computation: &str,
    at: &str,
    distance: i64,
) -> Result<Vec<Prefetch>, Error> {
    match scheduled.target {
        Target::Cpu => {}
        Target::Gpu => return Err(ScheduleError::NeedsCpu { on_gpu: OnGpu::Buffers }.into()),
    }
    let algorithm = &scheduled.algorithm;
    let id = storage::find::computation(algorithm, computation)?;
    let name = storage::find::array(algorithm, array)?;
    let around = storage::find::loops_down_to(algorithm, &scheduled.schedule, id, at)?;
    let (_, it) = around.last().expect("the loop was found");
    let accesses: Vec<(AccessRef, &Access)> = algorithm
        .accesses()
        .filter(|access| access.computation == id)
        .map(|access| (access, algorithm.access(access)))
        .filter(|(_, access)| access.array == name)
        .collect();
    if accesses.is_empty() {
        return Err(StorageError::NotAccessed { array: array.to_string(), at: at.to_string() }.into());
    }
    let no_step = |reason| Error::from(ConnectError::NoStep { array: array.to_string(), at: at.to_string(), reason });
    let (iterator, step) = step(&it.at[&id])
        .ok_or_else(|| no_step("it moves no iterator of the statement by a constant in each iteration"))?;
    if !matches!(algorithm.array(name).kind, ArrayKind::Argument) {
        return Err(no_step("the function makes it itself, and only the caller's memory is prefetched"));
    }
    let by = step.checked_mul(distance).filter(|by| by.abs() <= FURTHEST);
    let by = by.ok_or_else(|| no_step("the distance is more than 2^40 elements"))?;
    let mut found: Vec<Prefetch> = vec![];
    for (access, it) in accesses {
        let known = |other: &Prefetch| algorithm.access(other.access).subscripts == it.subscripts;
        // Elements of which all subscripts stay are there already.
        let moves = it
            .subscripts
            .iter()
            .any(|subscript| subscript.as_affine().is_some_and(|affine| affine.involves_iterator(iterator)));
        if it.is_affine() && moves && !found.iter().any(known) {
            found.push(Prefetch { access, iterator, by });
        }
    }
    match found.is_empty() {
        false => Ok(found),
        true => {
            Err(no_step("the elements that the statement names are the same in all of its iterations, or computed"))
        }
    }
}

/// The iterator that a loop moves, and by how much in one iteration: `i` itself, or the number of a tile, or a point in one.
fn step(at: &Affine) -> Option<(u32, i64)> {
    let mut direct = None;
    let mut tile = None;
    for (atom, factor) in at.terms() {
        match (atom, *factor) {
            (Atom::Iterator(iterator), factor @ (1 | -1)) if direct.is_none() => direct = Some((*iterator, factor)),
            (Atom::Iterator(_), _) => return None,
            (Atom::FloorDiv(inner, divisor), 1) if tile.is_none() => {
                let (iterator, sign) = step(inner)?;
                tile = Some((iterator, sign.checked_mul(*divisor)?));
            }
            // The remainder `i - d*floor(i/d)`: within a tile, a step is one of `i`.
            (Atom::FloorDiv(inner, divisor), factor) if factor == -divisor => {
                let (iterator, _) = step(inner)?;
                if direct.is_some_and(|(known, _)| known != iterator) {
                    return None;
                }
            }
            (Atom::FloorDiv(..), _) => return None,
            (Atom::Param(_), _) => {}
        }
    }
    match (direct, tile) {
        (Some(direct), None) => Some(direct),
        (None, tile) => tile,
        (Some(_), Some(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_moves_an_iterator_by_itself_its_tile_or_a_point() {
        let i = Affine::iterator(0);
        let j = Affine::iterator(1);
        assert_eq!(step(&i.add_constant(3).unwrap()), Some((0, 1)));
        assert_eq!(step(&j.scale(-1).unwrap()), Some((1, -1)));
        assert_eq!(step(&i.add_constant(-1).unwrap().floor_div(32)), Some((0, 32)));
        assert_eq!(step(&i.modulo(32).unwrap()), Some((0, 1)));
        assert_eq!(step(&i.floor_div(4).floor_div(8)), Some((0, 32)));
        assert_eq!(step(&i.add(&j).unwrap()), None);
        assert_eq!(step(&i.scale(2).unwrap()), None);
        assert_eq!(step(&Affine::constant(1)), None);
    }
}
