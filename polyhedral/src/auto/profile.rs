//! How the accesses of a nest's body move with each of its loops.

use crate::affine::{Affine, Atom};
use crate::algorithm::{Access, Algorithm, ArrayKind, ComputationId};
use crate::expr::{Expr, ExprKind};
use crate::schedule::Loop;
use tessella_scalar::{BinaryOp, Intrinsic, UnaryOp};

/// What an iteration of a loop adds to the place of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Nothing: the same element.
    Stays,
    /// The next element of the first axis, which lies beside it in memory.
    Next,
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
        let iterators: Vec<u32> =
            chain.iter().map(|it| it.at.get(&id).and_then(single_iterator)).collect::<Option<_>>()?;
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

/// The step of an access along an iterator.
pub fn step(algorithm: &Algorithm, id: ComputationId, access: &Access, iterator: u32) -> Step {
    let array = algorithm.array(access.array);
    let first = array.kind.outer() as usize;
    let computation = algorithm.computation(id);
    let involved: Vec<usize> = (0..access.subscripts.len())
        .filter(|&axis| computation.involves_iterator(&access.subscripts[axis], iterator))
        .collect();
    let coefficient = |axis: usize| access.subscripts[axis].as_affine().map(|it| it.coefficient(iterator));
    match involved.as_slice() {
        [] => Step::Stays,
        [axis] if *axis == first && coefficient(*axis) == Some(1) && !array.strided.contains(&0) => Step::Next,
        _ => Step::Jumps,
    }
}

/// The iterator that a loop runs through upwards, with or without an offset.
pub fn single_iterator(at: &Affine) -> Option<u32> {
    match at.terms() {
        [(Atom::Iterator(position), 1)] => Some(*position),
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
    let own = expr.ty.is_float()
        && match &expr.kind {
            ExprKind::Constant(_) | ExprKind::Scalar(_) | ExprKind::Let(_) | ExprKind::Read(_) => true,
            ExprKind::Unary(UnaryOp::Neg, _) => true,
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, ..) => true,
            ExprKind::Call(Intrinsic::MulAdd, _) => true,
            ExprKind::Convert(inner) => inner.ty.is_float(),
            ExprKind::Index(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::Call(..)
            | ExprKind::Select { .. }
            | ExprKind::IfElse { .. }
            | ExprKind::Wrap(_) => false,
        };
    own && expr.operands().into_iter().all(is_plain)
}

/// Arithmetic operations of an instance.
pub fn operations(algorithm: &Algorithm, id: ComputationId) -> u32 {
    let computation = algorithm.computation(id);
    let mut count = 0;
    let mut visit = |expr: &Expr| {
        count += match &expr.kind {
            ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Convert(_) => 1,
            ExprKind::Call(..) => 4,
            _ => 0,
        };
    };
    computation.lets.iter().for_each(|it| it.value.walk(&mut visit));
    computation.value.walk(&mut visit);
    count
}
