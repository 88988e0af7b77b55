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
    next.value = low_bits(spelt(it, wide), ty, &Holds::of(it))?;
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

/// Which names of a computation are made of what it updates.
struct Holds<'a> {
    it: &'a Computation,
    lets: Vec<bool>,
}

impl<'a> Holds<'a> {
    fn of(it: &'a Computation) -> Self {
        let mut holds = Holds { it, lets: vec![] };
        for value in it.lets.iter().map(|it| &it.value) {
            let known = holds.old(value);
            holds.lets.push(known);
        }
        holds
    }

    /// Whether an expression reads the array that is written.
    fn old(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.walk(&mut |part| {
            found |= match part.kind {
                ExprKind::Read(at) => self.it.reads[at as usize].array == self.it.write.array,
                // A name is made of those before it.
                ExprKind::Let(at) => self.lets.get(at as usize).is_some_and(|holds| *holds),
                _ => false,
            }
        });
        found
    }
}

/// The low bits of a sum, difference or product that the old element is part of, once, computed in the narrower type.
fn low_bits(expr: &Expr, ty: ScalarType, holds: &Holds<'_>) -> Option<Expr> {
    let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), left, right) = &expr.kind else {
        return None;
    };
    if holds.old(left) == holds.old(right) {
        return None;
    }
    let operand = |part: &Expr| {
        let spelt = spelt(holds.it, part);
        match &spelt.kind {
            ExprKind::Convert(inner) if inner.ty == ty => Some((**inner).clone()),
            ExprKind::Constant(value) if value.ty.is_integer() => {
                let value = Constant::integer(ty, value.as_integer()?);
                Some(Expr { kind: ExprKind::Constant(value), ty })
            }
            _ if holds.old(part) => low_bits(spelt, ty, holds),
            _ => Some(Expr { kind: ExprKind::Wrap(Box::new(part.clone())), ty }),
        }
    };
    let kind = ExprKind::Binary(*op, Box::new(operand(left)?), Box::new(operand(right)?));
    Some(Expr { kind, ty })
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
