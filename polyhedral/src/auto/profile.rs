//! How the accesses of a nest's body move with each of its loops.

use crate::affine::{Affine, Atom};
use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, Computation, ComputationId};
use crate::expr::{Expr, ExprKind, runs_on_lanes};
use crate::linear;
use crate::schedule::Loop;
use std::collections::BTreeSet;

/// What an iteration of a loop adds to the place of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Nothing: the same element.
    Stays,
    /// The next element of the first axis, which lies beside it in memory.
    Next,
    /// The element before it.
    Back,
    /// Some other element.
    Jumps,
}

/// One access and its step along each loop of the nest, outermost first.
#[derive(Debug, Clone)]
pub struct Profiled<'a> {
    pub access: &'a Access,
    pub is_write: bool,
    pub steps: Vec<Step>,
}

/// The accesses of computations below a chain of loops; reads that equal the write count once, as the write.
///
/// `None` if a loop runs through something else than one iterator of each computation.
pub fn profile<'a>(algorithm: &'a Algorithm, chain: &[Loop], body: &[ComputationId]) -> Option<Vec<Profiled<'a>>> {
    let mut found = vec![];
    for &id in body {
        let iterators: Vec<u32> = chain
            .iter()
            .map(|it| {
                it.at.get(&id).and_then(iterator_of).filter(|(_, factor)| *factor == 1).map(|(iterator, _)| iterator)
            })
            .collect::<Option<_>>()?;
        let computation = algorithm.computation(id);
        let mut seen: Vec<&Access> = vec![];
        let all = std::iter::once((&computation.write, true)).chain(computation.reads.iter().map(|it| (it, false)));
        for (access, is_write) in all {
            let known = |other: &&Access| other.array == access.array && other.subscripts == access.subscripts;
            if seen.iter().any(known) || algorithm.array(access.array).kind == ArrayKind::Private {
                continue;
            }
            seen.push(access);
            let steps = iterators.iter().map(|&iterator| step(algorithm, id, access, iterator)).collect();
            found.push(Profiled { access, is_write, steps });
        }
    }
    Some(found)
}

/// The step of an access along an iterator; neighbours along an axis with a stride of its own count as far apart.
pub fn step(algorithm: &Algorithm, id: ComputationId, access: &Access, iterator: u32) -> Step {
    match step_along_axes(algorithm, id, access, iterator) {
        Step::Next | Step::Back if algorithm.array(access.array).strided.contains(&0) => Step::Jumps,
        step => step,
    }
}

/// The same, whatever the strides: the first axis is the one most likely to lie side by side.
pub fn step_along_axes(algorithm: &Algorithm, id: ComputationId, access: &Access, iterator: u32) -> Step {
    let first = algorithm.array(access.array).kind.outer() as usize;
    let computation = algorithm.computation(id);
    let involved: Vec<usize> = (0..access.subscripts.len())
        .filter(|&axis| computation.involves_iterator(&access.subscripts[axis], iterator))
        .collect();
    match involved.as_slice() {
        [] => Step::Stays,
        [axis] if *axis == first => match linear::coefficient(computation, &access.subscripts[first], iterator) {
            Some(1) => Step::Next,
            Some(-1) => Step::Back,
            _ => Step::Jumps,
        },
        _ => Step::Jumps,
    }
}

/// Numbers that an element may consist of: the halves of a complex one, the coordinates of a point.
const MOST_NUMBERS: i64 = 4;

/// The axis along which an access's elements lie beside one another: the first one, or the second where each element consists of a few
/// numbers along the first one.
pub fn neighbours(algorithm: &Algorithm, access: &Access) -> Option<usize> {
    let first = algorithm.array(access.array).kind.outer() as usize;
    match access.subscripts.len().checked_sub(first)? {
        0 => None,
        1 => Some(first),
        _ => Some(if consists_of_numbers(algorithm, access.array, first) { first + 1 } else { first }),
    }
}

/// Whether the function accesses two or more numbers of an array's elements, and never as a place that changes. How long the axis is is the
/// caller's; that it has no others is a guess.
fn consists_of_numbers(algorithm: &Algorithm, array: ArrayId, axis: usize) -> bool {
    let mut numbers = BTreeSet::new();
    let all = algorithm.computations.iter().flat_map(|it| it.reads.iter().chain([&it.write]));
    for access in all.filter(|it| it.array == array) {
        match access.subscripts[axis].as_affine().and_then(Affine::as_constant) {
            Some(number @ 1..=MOST_NUMBERS) => numbers.insert(number),
            Some(_) | None => return false,
        };
    }
    numbers.len() > 1
}

/// The step of an access along an iterator from one element to another, whatever numbers they consist of.
pub fn step_of_whole(algorithm: &Algorithm, id: ComputationId, access: &Access, iterator: u32) -> Step {
    let computation = algorithm.computation(id);
    let strided = &algorithm.array(access.array).strided;
    let mut involved =
        (0..access.subscripts.len()).filter(|&axis| computation.involves_iterator(&access.subscripts[axis], iterator));
    match (involved.next(), involved.next()) {
        (None, _) => Step::Stays,
        (Some(axis), None) if neighbours(algorithm, access) == Some(axis) && !strided.contains(&(axis as u32)) => {
            match linear::coefficient(computation, &access.subscripts[axis], iterator) {
                Some(1) => Step::Next,
                Some(-1) => Step::Back,
                _ => Step::Jumps,
            }
        }
        (Some(_), _) => Step::Jumps,
    }
}

/// The iterator that a loop runs through, with or without an offset, and 1 for upwards or -1 for downwards.
pub fn iterator_of(at: &Affine) -> Option<(u32, i64)> {
    match at.terms() {
        [(Atom::Iterator(position), factor @ (1 | -1))] => Some((*position, *factor)),
        _ => None,
    }
}

/// Whether all instances do the same sums, products and quotients of floats: what SIMD lanes do at once.
pub fn has_vector_form(algorithm: &Algorithm, id: ComputationId) -> bool {
    let computation = algorithm.computation(id);
    computation.predicate.is_none()
        && computation.reads.iter().chain([&computation.write]).all(Access::is_affine)
        && algorithm.array(computation.write.array).element.is_float()
        && computation.lets.iter().all(|it| is_plain(&it.value))
        && is_plain(&computation.value)
}

fn is_plain(expr: &Expr) -> bool {
    let leaf = matches!(expr.kind, ExprKind::Constant(_) | ExprKind::Scalar(_)) && expr.ty.is_float();
    (leaf || runs_on_lanes(expr)) && expr.operands().into_iter().all(is_plain)
}

/// Arithmetic operations of an instance.
pub fn operations(algorithm: &Algorithm, id: ComputationId) -> u32 {
    let computation = algorithm.computation(id);
    let mut count = 0;
    let mut visit = |expr: &Expr| count += operations_of(expr);
    computation.lets.iter().for_each(|it| it.value.walk(&mut visit));
    computation.value.walk(&mut visit);
    count
}

/// Arithmetic operations that an instance does one after the other from some of its reads to its value, at most; `None` where the
/// value has nothing of these reads.
pub fn operations_after(computation: &Computation, is_one: &dyn Fn(&Access) -> bool) -> Option<u32> {
    longest(computation, &computation.value, is_one)
}

fn longest(computation: &Computation, expr: &Expr, is_one: &dyn Fn(&Access) -> bool) -> Option<u32> {
    match &expr.kind {
        ExprKind::Read(at) => is_one(&computation.reads[*at as usize]).then_some(0),
        ExprKind::Let(at) => longest(computation, &computation.lets[*at as usize].value, is_one),
        _ => {
            let operands = expr.operands().into_iter();
            let before = operands.filter_map(|operand| longest(computation, operand, is_one)).max()?;
            Some(before + operations_of(expr))
        }
    }
}

/// Arithmetic operations of an expression, those of its operands aside.
fn operations_of(expr: &Expr) -> u32 {
    match &expr.kind {
        ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Convert(_) => 1,
        ExprKind::Call(..) => 4,
        _ => 0,
    }
}
