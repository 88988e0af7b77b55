//! `any` and `all` stop at the element that decides, and evaluate nothing behind it.
//!
//! All elements are evaluated all the same: where all of that goes well, the result is the same. What would raise may stand
//! behind the deciding element, so that it makes the original function run.
//!
//! ```text
//! for i in 1:k                        for i in 1:k
//!     found |= x[i] > 0.5      ->         require 1 <= i <= length(x), else the original function runs
//! end                                     found |= @inbounds x[i] > 0.5
//!                                     end
//! ```

use super::inside::between;
use super::origin::last_of;
use super::{Elements, Operation, Recipe};
use crate::typed::check::Checker;
use crate::typed::constant::folded;
use crate::typed::convert::constant_integer;
use crate::typed::operator::{binary, unary};
use crate::typed::tree::{Block, Expr, ExprKind, Requirement, SizeError, Statement, StatementKind};
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, UnaryOp};

const TEXT: &str = "what `any` or `all` may not get to cannot be evaluated";

/// Whether evaluating an element may raise. Those of arrays that were computed before do not, nor what Base makes of them.
pub(super) fn may_raise(elements: &Elements) -> bool {
    match &elements.recipe {
        Recipe::Comprehension { .. } | Recipe::Apply { operation: Operation::User(_), .. } => true,
        Recipe::Row(inner) => may_raise(inner),
        Recipe::Part(_)
        | Recipe::Range(_)
        | Recipe::Fill(_)
        | Recipe::Undefined
        | Recipe::Scalar(_)
        | Recipe::Apply { .. }
        | Recipe::Transposed(_)
        | Recipe::Rows(_)
        | Recipe::Slices { .. }
        | Recipe::Numbering(_) => false,
    }
}

impl Checker<'_> {
    /// The statements that evaluate an element, which may stand behind the one that decides.
    pub(super) fn undecided(&self, block: Block) -> Block {
        let mut result = vec![];
        for mut statement in block {
            let span = statement.span;
            let mut needed = vec![];
            match &mut statement.kind {
                StatementKind::For { range, body, .. } => {
                    for bound in [&mut range.start, &mut range.stop] {
                        self.unchecked_reads(bound, None, &mut needed);
                    }
                    *body = self.undecided(std::mem::take(body));
                }
                StatementKind::If { condition, then, otherwise } => {
                    self.unchecked_reads(condition, None, &mut needed);
                    *then = self.undecided(std::mem::take(then));
                    *otherwise = self.undecided(std::mem::take(otherwise));
                }
                StatementKind::Set { value, .. } => self.unchecked_reads(value, None, &mut needed),
                StatementKind::Store { subscripts, value, .. } => {
                    for part in subscripts.iter_mut().chain([value]) {
                        self.unchecked_reads(part, None, &mut needed);
                    }
                }
                StatementKind::Allocate { extents, .. } => {
                    extents.iter_mut().for_each(|extent| self.unchecked_reads(extent, None, &mut needed));
                }
                StatementKind::Require { condition, failure } => {
                    self.unchecked_reads(condition, None, &mut needed);
                    failure.error = SizeError::Thrown;
                }
            }
            let failure = || Requirement { error: SizeError::Thrown, text: TEXT.to_string() };
            let require = |condition: Expr| StatementKind::Require { condition, failure: failure() };
            result.extend(needed.into_iter().map(|condition| Statement { kind: require(condition), span }));
            result.push(statement);
        }
        result
    }

    /// Takes the checks off an expression's reads; `needed` gets them, where the expression is evaluated under `under`.
    fn unchecked_reads(&self, expr: &mut Expr, under: Option<&Expr>, needed: &mut Vec<Expr>) {
        let span = expr.span;
        match &mut expr.kind {
            ExprKind::Load { array, subscripts, inbounds } => {
                for subscript in subscripts.iter_mut() {
                    self.unchecked_reads(subscript, under, needed);
                }
                if std::mem::replace(inbounds, true) {
                    return;
                }
                for (axis, (at, extent)) in subscripts.iter().zip(self.raw_extents(*array, span)).enumerate() {
                    let first = self.first_of(*array, axis, span);
                    let inside = folded(between(at, first.clone(), last_of(&first, extent), span));
                    if constant_integer(&inside) == Some(1) {
                        continue;
                    }
                    needed.push(match under {
                        None => inside,
                        Some(under) => {
                            let not = unary(UnaryOp::Not, under.clone().placed(span), span);
                            binary(BinaryOp::OrElse, not, inside, span)
                        }
                    });
                }
            }
            ExprKind::Select { condition, yes, no } => {
                self.unchecked_reads(condition, under, needed);
                let not = unary(UnaryOp::Not, (**condition).clone(), span);
                self.unchecked_reads(yes, Some(&both(under, (**condition).clone(), span)), needed);
                self.unchecked_reads(no, Some(&both(under, not, span)), needed);
            }
            ExprKind::Binary(BinaryOp::AndAlso, left, right) => {
                self.unchecked_reads(left, under, needed);
                self.unchecked_reads(right, Some(&both(under, (**left).clone(), span)), needed);
            }
            ExprKind::Binary(BinaryOp::OrElse, left, right) => {
                self.unchecked_reads(left, under, needed);
                let not = unary(UnaryOp::Not, (**left).clone(), span);
                self.unchecked_reads(right, Some(&both(under, not, span)), needed);
            }
            ExprKind::Constant(_)
            | ExprKind::Local(_)
            | ExprKind::Size { .. }
            | ExprKind::First { .. }
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::Call(..)
            | ExprKind::IfElse { .. }
            | ExprKind::Convert(_)
            | ExprKind::Wrap(_) => {
                for operand in expr.operands_mut() {
                    self.unchecked_reads(operand, under, needed);
                }
            }
        }
    }
}

fn both(under: Option<&Expr>, condition: Expr, span: Span) -> Expr {
    match under {
        None => condition,
        Some(under) => binary(BinaryOp::AndAlso, under.clone(), condition, span),
    }
}
