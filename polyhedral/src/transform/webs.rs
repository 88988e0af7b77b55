//! Variables of the source whose uses fall apart: each part gets a variable of its own.
//!
//! Once all statements that use a variable are cut by a condition on sizes, those for some sizes never see what those for others leave. As
//! one variable they would share a place that suits both; as two, each has a register where its own loops allow one.
//!
//! # Source
//! Muchnick, *Advanced Compiler Design and Implementation*, 1997, section 16.3.3, for webs.

use crate::algorithm::{Algorithm, Array, ArrayId, ArrayKind, ComputationId};
use crate::dependence::Dependence;
use crate::fresh::fresh;
use crate::storage::uses;
use std::collections::BTreeSet;

/// Gives variables of their own to `pieces` that depend on no other user of the variables that they have.
pub(super) fn apart(algorithm: &mut Algorithm, dependences: &mut [Dependence], pieces: &[ComputationId]) {
    for array in (0..algorithm.arrays.len() as u32).map(ArrayId) {
        let is_used = pieces.iter().any(|&id| uses(algorithm, id, array));
        if algorithm.array(array).kind != ArrayKind::Private || !is_used {
            continue;
        }
        let webs = webs(algorithm, dependences, array);
        for web in webs.into_iter().skip(1) {
            rename(algorithm, dependences, array, &web);
        }
    }
}

/// The users of a variable that dependences connect, the earliest first.
fn webs(algorithm: &Algorithm, dependences: &[Dependence], array: ArrayId) -> Vec<BTreeSet<ComputationId>> {
    let users = algorithm.ids().filter(|&id| uses(algorithm, id, array));
    let mut webs: Vec<BTreeSet<ComputationId>> = users.map(|id| BTreeSet::from([id])).collect();
    for it in dependences.iter().filter(|it| it.array == array) {
        let ends = [it.source.computation, it.sink.computation];
        let (connected, others): (Vec<_>, Vec<_>) =
            webs.into_iter().partition(|web| ends.iter().any(|end| web.contains(end)));
        webs = others;
        webs.push(connected.into_iter().flatten().collect());
    }
    webs.sort();
    webs
}

fn rename(algorithm: &mut Algorithm, dependences: &mut [Dependence], array: ArrayId, web: &BTreeSet<ComputationId>) {
    let new = ArrayId(algorithm.arrays.len() as u32);
    let old = algorithm.array(array).clone();
    let name = fresh(&format!("{}_piece", old.name), |name| algorithm.arrays.iter().any(|it| it.name == name));
    algorithm.arrays.push(Array { name, ..old });
    for id in web {
        let it = &mut algorithm.computations[id.0 as usize];
        let accesses = it.reads.iter_mut().chain([&mut it.write]);
        accesses.filter(|access| access.array == array).for_each(|access| access.array = new);
    }
    let inside = dependences.iter_mut().filter(|it| it.array == array && web.contains(&it.source.computation));
    inside.for_each(|it| it.array = new);
}
