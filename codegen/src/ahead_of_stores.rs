//! Points of a thread that change an array in place: all of their values are computed before the first one is stored.
//!
//! Rewrite: `for x in 0:3 { a[x] = f(a[x]) } -> for x in 0:3 { v[x] = f(a[x]) }; for x in 0:3 { a[x] = v[x] }`, both unrolled.
//!
//! A compiler cannot tell elements of one array apart. It would load those of a point after it has stored that of the point before, and the
//! thread would wait for memory once for each point: a sweep over a matrix of 10000 x 10000 in Float32 that changes it took 2.0 times as long so on an NVIDIA
//! H200.

use crate::input::Input;
use crate::int_expr::IntExpr;
use crate::program::{For, Node, Statement, Update};
use crate::wide::values;
use tessella_polyhedral::affine::{Affine, Atom};
use tessella_polyhedral::algorithm::{Access, ComputationId};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::{DimType, IslError, Map};
use tessella_polyhedral::layers::MemorySpace;
use tessella_polyhedral::relation;
use tessella_polyhedral::schedule::Tag;

/// The most bytes of values that a thread keeps so: it has other uses for its registers.
const MOST_BYTES: i64 = 64;

/// A kernel's body whose loops over points know which of them compute before they store.
///
/// # Errors
/// isl's.
pub fn compute_ahead_of_stores(input: &Input<'_>, nodes: Vec<Node>) -> Result<Vec<Node>, IslError> {
    let one = |node: Node| match node {
        Node::For(mut it) => {
            it.stores_last = stores_last(input, &it)?;
            match it.stores_last {
                true => Ok(Node::For(it)),
                false => Node::For(it).map_blocks(|nodes| compute_ahead_of_stores(input, nodes)),
            }
        }
        Node::Turns(mut it) => {
            it.body = compute_ahead_of_stores(input, it.body)?;
            Ok(Node::Turns(it))
        }
        other => other.map_blocks(|nodes| compute_ahead_of_stores(input, nodes)),
    };
    nodes.into_iter().map(one).collect()
}

/// The loops of such a nest, outermost first, and the statement that they run.
pub fn points(nest: &For) -> Option<(Vec<&For>, &Statement)> {
    let mut loops = vec![nest];
    loop {
        match loops[loops.len() - 1].body.as_slice() {
            [Node::For(inner)] => loops.push(inner),
            [Node::Statement(statement)] => return Some((loops, statement)),
            _ => return None,
        }
    }
}

/// How many iterations an unrolled loop has, if it is one of a whole tile.
pub fn count(it: &For) -> Option<i64> {
    let is_plain = matches!(it.tag, Tag::Unroll(_))
        && it.step == 1
        && it.clip.is_none()
        && it.going.is_none()
        && it.asked.is_none()
        && it.wide.is_none();
    let count = it.upper.as_const()?.checked_sub(it.lower.as_const()?)?.checked_add(1)?;
    (is_plain && count > 0).then_some(count)
}

fn stores_last(input: &Input<'_>, nest: &For) -> Result<bool, IslError> {
    let Some((loops, statement)) = points(nest) else { return Ok(false) };
    let id = statement.computation;
    let computation = input.algorithm.computation(id);
    let counts: Option<i64> = loops.iter().try_fold(1i64, |all, it| all.checked_mul(count(it)?));
    let element = i64::from(input.algorithm.array(computation.write.array).element.bytes());
    let is_small = counts.and_then(|count| count.checked_mul(element)).is_some_and(|bytes| bytes <= MOST_BYTES);
    let is_plain = statement.inside.is_none()
        && statement.update == Update::Stored
        && computation.predicate.is_none()
        && !computation.atomic
        && computation.write.is_affine()
        && !input.layout.is_ahead(id);
    let buffer = input.buffer_of(computation.write.array);
    if counts == Some(1) || !is_small || !is_plain || input.layout.buffer(buffer).space != MemorySpace::Global {
        return Ok(false);
    }
    let reads: Vec<&Access> = computation.reads.iter().filter(|read| input.buffer_of(read.array) == buffer).collect();
    let is_known = |read: &&Access| read.array == computation.write.array && read.is_affine();
    if reads.is_empty() || !reads.iter().all(is_known) {
        return Ok(false);
    }
    let variables: Vec<_> = loops.iter().map(|it| it.variable).collect();
    let moves = |(iterator, value): (usize, &IntExpr)| match statement.iterators[iterator] {
        Some(_) => value.involves(&|variable| variables.contains(&variable)),
        // Its value is not printed: only a loop of its own, outside of the nest, keeps it.
        None => !is_kept(input, id, iterator as u32, &loops),
    };
    let moves: Vec<bool> = values(statement).iter().enumerate().map(moves).collect();
    match are_apart(input, id, &reads, &moves) {
        Ok(found) => Ok(found),
        Err(Error::Isl(error)) if !error.is_quota() => Err(error),
        // Numbers that are too large, or too much work for isl: the loop stays as it is.
        Err(_) => Ok(false),
    }
}

/// Whether a loop around the nest, and none of its own, steps through an iterator alone.
fn is_kept(input: &Input<'_>, id: ComputationId, iterator: u32, nest: &[&For]) -> bool {
    input.schedule.loops_around(id).iter().any(|(_, it)| {
        let is_its_own = |at: &Affine| matches!(at.terms(), [(Atom::Iterator(of), 1 | -1)] if *of == iterator);
        nest.iter().all(|inner| inner.name != it.name) && it.at.get(&id).is_some_and(is_its_own)
    })
}

/// Whether no instance reads what another one writes, of instances that differ in the iterators that move alone.
fn are_apart(input: &Input<'_>, id: ComputationId, reads: &[&Access], moves: &[bool]) -> Result<bool, Error> {
    let (algorithm, ctx) = (input.algorithm, input.algorithm.context.ctx());
    let domain = relation::domain(algorithm, id)?;
    let of = |access: &Access| -> Result<Map, Error> {
        Ok(relation::access(ctx, algorithm, id, access)?.intersect_domain(&domain)?)
    };
    let write = of(&algorithm.computation(id).write)?;
    let itself = Map::identity_on(&domain.space()?)?;
    for read in reads {
        let mut meets = write.apply_range(&of(read)?.reverse()?)?.subtract(&itself)?;
        for (at, _) in moves.iter().enumerate().filter(|(_, moves)| !**moves) {
            meets = meets.equate(DimType::In, at as i32, DimType::Out, at as i32)?;
        }
        if !meets.is_empty()? {
            return Ok(false);
        }
    }
    Ok(true)
}
