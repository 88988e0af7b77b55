//! Updates that the source makes in wider integers: `h[b[i]] += 1` with `Int32` in `h` adds `Int64`s and converts.
//!
//! ```text
//! h = (Int64(h) + 1) % Int32   ->   h = h + 1 % Int32
//! ```
//!
//! The low bits of a sum, a difference and a product depend on the operands' low bits alone. So nothing but the form changes, and what
//! updates an element is seen to be one ([`reduction`](tessella_polyhedral::reduction)). That conversions cannot fail has been made sure of before.

use tessella_polyhedral::algorithm::{Algorithm, Computation, Subscript};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::reduction::accumulates;
use tessella_scalar::{BinaryOp, Constant, ScalarType};

/// Narrows the updates of an algorithm.
pub(crate) fn narrow_updates(algorithm: &mut Algorithm) {
    for it in &mut algorithm.computations {
        if let Some(narrowed) = narrowed(it) {
            *it = narrowed;
        }
    }
}

fn narrowed(it: &Computation) -> Option<Computation> {
    let ExprKind::Wrap(wide) = &it.value.kind else { return None };
    let ty = it.value.ty;
    if !ty.is_integer() || !wide.ty.is_integer() || wide.ty.bytes() <= ty.bytes() {
        return None;
    }
    let mut next = it.clone();
    next.value = low_bits(spelt(it, wide), ty, it)?;
    accumulates(&next)?;
    without_unused(&mut next);
    Some(next)
}

/// What a name stands for.
fn spelt<'a>(it: &'a Computation, expr: &'a Expr) -> &'a Expr {
    match expr.kind {
        ExprKind::Let(at) => spelt(it, &it.lets[at as usize].value),
        _ => expr,
    }
}

/// The low bits of a sum, difference or product, computed in the narrower type.
fn low_bits(expr: &Expr, ty: ScalarType, it: &Computation) -> Option<Expr> {
    let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), left, right) = &expr.kind else {
        return None;
    };
    let operand = |part: &Expr| {
        let part = spelt(it, part);
        if let Some(narrow) = low_bits(part, ty, it) {
            return narrow;
        }
        match &part.kind {
            ExprKind::Convert(inner) if inner.ty == ty => (**inner).clone(),
            ExprKind::Constant(value) => match value.as_integer() {
                Some(value) => Expr { kind: ExprKind::Constant(Constant::integer(ty, value)), ty },
                None => wrapped(part, ty),
            },
            _ => wrapped(part, ty),
        }
    };
    let kind = ExprKind::Binary(*op, Box::new(operand(left)), Box::new(operand(right)));
    Some(Expr { kind, ty })
}

fn wrapped(part: &Expr, ty: ScalarType) -> Expr {
    Expr { kind: ExprKind::Wrap(Box::new(part.clone())), ty }
}

/// Leaves out the names that nothing uses any more.
fn without_unused(it: &mut Computation) {
    for at in (0..it.lets.len()).rev() {
        let mut used = false;
        each_expression(it, &mut |expr| {
            expr.walk_mut(&mut |part| used |= part.kind == ExprKind::Let(at as u32));
        });
        if used {
            continue;
        }
        it.lets.remove(at);
        each_expression(it, &mut |expr| {
            expr.walk_mut(&mut |part| {
                if let ExprKind::Let(known) = &mut part.kind
                    && *known > at as u32
                {
                    *known -= 1;
                }
            });
        });
    }
}

fn each_expression(it: &mut Computation, visit: &mut dyn FnMut(&mut Expr)) {
    let accesses = it.reads.iter_mut().chain([&mut it.write]);
    let subscripts = accesses.flat_map(|access| &mut access.subscripts).filter_map(|subscript| match subscript {
        Subscript::Computed(value) => Some(value),
        Subscript::Affine(_) => None,
    });
    let parts = it.predicate.iter_mut().chain(it.lets.iter_mut().map(|it| &mut it.value)).chain([&mut it.value]);
    parts.chain(subscripts).for_each(visit);
}
