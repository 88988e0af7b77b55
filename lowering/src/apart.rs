//! Divisions by sizes of sums that hold multiples of the size, as in `A[i + (j - 1) * m]` with `m` the rows of `A`.
//!
//! ```text
//! mod(i - 1 + (j - 1) * m, m)   ->  mod(i - 1, m)
//! fld(i - 1 + (j - 1) * m, m)   ->  j - 1 + fld(i - 1, m)
//! ```
//!
//! The product is not affine, but what is left is, where `i` keeps between `1` and `m`.
//!
//! The product may be larger than an `Int64`, and Julia's wraps around. Where the number of an element is taken apart that
//! never shows: what is found inside the array is a number as small as the array, and for all else the call fails.
//! Other divisions (`mod(i * m, m)` in the source) are left as they are.

use crate::error::NotAffine;
use crate::formula::Pieces;
use crate::symbolic::Evaluation;
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{Expr, ExprKind};
use tessella_polyhedral::affine::{Affine, Atom};
use tessella_scalar::{BinaryOp, Constant, UnaryOp};

/// Whether it is what the number of an element is divided by: `max(m, 1)`.
pub(crate) fn is_of_number(divisor: &Expr) -> bool {
    match &divisor.kind {
        ExprKind::Binary(BinaryOp::Max, _, one) => one.kind == ExprKind::Constant(Constant::i64(1)),
        _ => false,
    }
}

/// A sum as `times * divisor + rest`.
struct Apart {
    times: Pieces,
    rest: Pieces,
}

impl Evaluation<'_, '_> {
    /// `mod(value, divisor)` or `fld(value, divisor)`.
    pub(crate) fn apart(
        &self,
        expr: &Expr,
        op: BinaryOp,
        value: &Expr,
        (divisor, span): (&Affine, Span),
    ) -> Result<Pieces, NotAffine> {
        let Apart { times, rest } = self.taken_apart(value, divisor)?;
        let small = self.wrapped(expr, op, &rest, (divisor, span))?;
        match op {
            BinaryOp::DivFloor => self.combined(expr, &times, &small, &Affine::add),
            _ => Ok(small),
        }
    }

    fn taken_apart(&self, expr: &Expr, divisor: &Affine) -> Result<Apart, NotAffine> {
        let zero = || Pieces::single(Affine::constant(0));
        match &expr.kind {
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
                let (left, right) = (self.taken_apart(left, divisor)?, self.taken_apart(right, divisor)?);
                let combine = if *op == BinaryOp::Add { Affine::add } else { Affine::sub };
                let times = self.combined(expr, &left.times, &right.times, &combine)?;
                let rest = self.combined(expr, &left.rest, &right.rest, &combine)?;
                Ok(Apart { times, rest })
            }
            ExprKind::Unary(UnaryOp::Neg, operand) => {
                let Apart { times, rest } = self.taken_apart(operand, divisor)?;
                Ok(Apart { times: self.scaled(expr, &times, -1)?, rest: self.scaled(expr, &rest, -1)? })
            }
            ExprKind::Binary(BinaryOp::Mul, left, right) => {
                let (left, right) = (self.integer(left)?, self.integer(right)?);
                match (left.as_single(), right.as_single()) {
                    (Some(left), _) if left == divisor => Ok(Apart { times: right, rest: zero() }),
                    (_, Some(right)) if right == divisor => Ok(Apart { times: left, rest: zero() }),
                    (_, _) => self.integer(expr).map(|value| self.without_size(value, divisor)),
                }
            }
            ExprKind::Local(local) if self.symbols.definitions.contains_key(local) => {
                self.taken_apart(&self.symbols.definitions[local], divisor)
            }
            _ => self.integer(expr).map(|value| self.without_size(value, divisor)),
        }
    }

    /// An affine value without its multiple of the size, where the size is a parameter.
    fn without_size(&self, value: Pieces, divisor: &Affine) -> Apart {
        let whole = |value: Pieces| Apart { times: Pieces::single(Affine::constant(0)), rest: value };
        let ([(size @ Atom::Param(_), 1)], 0) = (divisor.terms(), divisor.constant_term()) else { return whole(value) };
        let Some(single) = value.as_single() else { return whole(value) };
        let factor = single.terms().iter().find(|(atom, _)| atom == size).map_or(0, |(_, factor)| *factor);
        match divisor.scale(-factor).and_then(|multiple| single.add(&multiple)) {
            Ok(rest) => Apart { times: Pieces::single(Affine::constant(factor)), rest: Pieces::single(rest) },
            Err(_) => whole(value),
        }
    }
}
