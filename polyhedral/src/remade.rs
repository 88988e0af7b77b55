//! Arrays that each step of a recurrence makes anew, made once.
//!
//! ```text
//! for t { B = copy(A); for j, i { A[i, j] = f(B[i-1, j], B[i+1, j]) } }
//!   B[t, i, j]  ->  B[i, j]
//! ```
//!
//! An array of the source is one for each iteration of the loops around its declaration, so that iterations may run beside one another. Those of a
//! recurrence never do: a step computes from what the step before left. There one array for each step only asks for as much memory as there are
//! steps, and hides a stencil from whoever looks for arrays that go from step to step. With one array for all, a step may overwrite what
//! the former left; its elements begin undefined, or are filled by statements of the source, so no value changes.
//!
//! # Source
//! The opposite of array expansion: Feautrier, *Array expansion*, ICS 1988; Lefebvre and Feautrier, *Automatic storage management for
//! parallel programs*, Parallel Computing 24, 1998.

use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, ComputationId};
use crate::dependence::{Dependence, DependenceKind, dependences, seen_of};
use crate::error::Error;
use crate::isl::{Ctx, Map};
use crate::relation;
use crate::schedule::Loop;

/// Has the steps of recurrences share the arrays that each of them makes.
///
/// # Errors
/// Where isl fails, or gives up; the algorithm still computes what it did.
pub fn share_between_steps(ctx: &Ctx, algorithm: &mut Algorithm) -> Result<(), Error> {
    let all: Vec<ArrayId> = (0..algorithm.arrays.len() as u32).map(ArrayId).collect();
    if !all.iter().any(|&array| innermost(algorithm, array).is_some()) {
        return Ok(());
    }
    let before = dependences(ctx, algorithm)?;
    let flows = seen_of(ctx, algorithm, &before, &|it| it.kind == DependenceKind::Flow)?;
    // What a step reads of such an array it wrote itself, so that the flows stay what they are.
    for array in all {
        while let Some(iterator) = innermost(algorithm, array) {
            if !is_made_by_recurrence(ctx, algorithm, &flows, array, iterator)? {
                break;
            }
            without_subscript(algorithm, array, iterator);
        }
    }
    Ok(())
}

/// The iterator of the innermost loop around an array's declaration, if all that it does for the array is to say which one it is.
fn innermost(algorithm: &Algorithm, array: ArrayId) -> Option<u32> {
    let it = algorithm.array(array);
    let ArrayKind::Local { outer } = it.kind else { return None };
    let iterator = outer.checked_sub(1)?;
    let tells = |access: &Access| {
        access.array != array || access.subscripts[iterator as usize].as_affine() == Some(&Affine::iterator(iterator))
    };
    let mut all = algorithm.computations.iter().flat_map(|it| it.reads.iter().chain([&it.write]));
    let is_of_size = it.extents.iter().any(|extent| extent.involves_iterator(iterator));
    (!is_of_size && all.all(tells)).then_some(iterator)
}

/// Whether what a statement writes into an array comes from what earlier iterations of a loop left, and that from what the statement wrote.
fn is_made_by_recurrence(
    ctx: &Ctx,
    algorithm: &Algorithm,
    flows: &[Dependence],
    array: ArrayId,
    iterator: u32,
) -> Result<bool, Error> {
    let writes = |id: ComputationId| algorithm.computation(id).write.array == array;
    let Some(writer) = algorithm.ids().find(|&id| writes(id)) else { return Ok(false) };
    let around = algorithm.source_order.loops_around(writer);
    let Some((_, step)) = around.get(iterator as usize) else { return Ok(false) };
    let inside = step.body.computations();
    if algorithm.ids().any(|id| writes(id) && !inside.contains(&id)) {
        return Ok(false);
    }
    let at = |it: &Loop, id: ComputationId| relation::function(ctx, algorithm, id, &it.at[&id]);
    // Within an iteration or to a later one, and to a later one alone.
    let (mut all, mut later) = (vec![], vec![]);
    for flow in flows {
        let (from, to) = (flow.source.computation, flow.sink.computation);
        if !inside.contains(&from) || !inside.contains(&to) {
            continue;
        }
        let mut pairs = flow.relation.clone();
        for (_, it) in &around[..iterator as usize] {
            pairs = pairs.intersect(&in_one(&at(it, from)?, &at(it, to)?)?)?;
        }
        let (at_from, at_to) = (at(step, from)?, at(step, to)?);
        if !pairs.intersect(&in_one(&at_from, &at_to)?)?.is_empty()? {
            all.push((from, to));
        }
        if !pairs.intersect(&at_from.lex_lt_at(&at_to)?)?.is_empty()? {
            all.push((from, to));
            later.push((from, to));
        }
    }
    let mut own = inside.iter().copied().filter(|&id| writes(id));
    Ok(own.any(|id| later.iter().any(|&(from, to)| reaches(&all, id, from) && reaches(&all, to, id))))
}

/// `{ from[x] -> to[y] }`: in one iteration of a loop that both stand in.
fn in_one(at_from: &Map, at_to: &Map) -> Result<Map, Error> {
    Ok(at_from.apply_range(&at_to.reverse()?)?)
}

/// Whether these steps lead from one statement to another.
fn reaches(steps: &[(ComputationId, ComputationId)], from: ComputationId, to: ComputationId) -> bool {
    let mut reached = vec![from];
    let mut at = 0;
    while let Some(&id) = reached.get(at) {
        at += 1;
        for &(_, next) in steps.iter().filter(|(from, _)| *from == id) {
            if !reached.contains(&next) {
                reached.push(next);
            }
        }
    }
    reached.contains(&to)
}

/// Takes the innermost iterator around its declaration out of all subscripts of an array.
fn without_subscript(algorithm: &mut Algorithm, array: ArrayId, iterator: u32) {
    for it in &mut algorithm.computations {
        let all = it.reads.iter_mut().chain([&mut it.write]);
        for access in all.filter(|access| access.array == array) {
            access.subscripts.remove(iterator as usize);
        }
    }
    let it = &mut algorithm.arrays[array.0 as usize];
    it.rank -= 1;
    it.kind = ArrayKind::Local { outer: iterator };
}
