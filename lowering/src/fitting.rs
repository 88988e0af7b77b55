//! Conversions of integers that cannot fail: `out[i] = k` with `Int32`s in `out`, where `k` counts or is the place of something.
//!
//! Julia raises `InexactError` where a value does not fit. Which values a variable has is up to the data, but [what it lies
//! between](crate::extremes) often is not. Where constants and types say that all of that fits, nothing needs to be tested;
//! where sizes and arguments do, they are tested at entry, and where they are too large, the original function has to run.
//!
//! ```text
//!                                        require n <= typemax(Int32)
//! at = 0                                 at = 0
//! for i in 1:n                           for i in 1:n
//!     if x[i] > most                ->       if x[i] > most
//!         most = x[i]; at = i                    most = x[i]; at = i
//!     end                                    end
//! end                                    end
//! require at fits; place[j] = at         place[j] = at
//! ```

use crate::extremes::{End, Extremes, is_small};
use crate::typed::both;
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, Function, Requirement, SizeError, Statement, StatementKind,
};
use tessella_scalar::{BinaryOp, CompareOp};

/// Beyond this a `Float64` no longer holds each integer.
const EXACT: i128 = 1 << 53;

/// The function without tests of conversions that cannot fail, or with tests of sizes in their place.
pub(crate) fn rewrite(function: &Function) -> Function {
    let mut fitting = Fitting { extremes: Extremes::new(function), checks: vec![] };
    let body = fitting.block(&function.body);
    let body = fitting.checks.into_iter().chain(body).collect();
    Function { body, ..function.clone() }
}

struct Fitting<'a> {
    extremes: Extremes<'a>,
    /// The tests at entry.
    checks: Vec<Statement>,
}

/// When a conversion succeeds.
enum Fits {
    Always,
    /// Where these sizes and arguments are small enough.
    Where(Expr),
}

impl<'a> Fitting<'a> {
    fn block(&mut self, block: &'a Block) -> Block {
        block.iter().filter_map(|statement| self.statement(statement)).collect()
    }

    /// The statement; `None` for a test that is not needed where it stands.
    fn statement(&mut self, statement: &'a Statement) -> Option<Statement> {
        let span = statement.span;
        let kind = match &statement.kind {
            StatementKind::For { id, iterator, range, mode, body } => {
                let body = self.block(body);
                StatementKind::For { id: *id, iterator: *iterator, range: range.clone(), mode: *mode, body }
            }
            StatementKind::If { condition, then, otherwise } => {
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                StatementKind::If { condition: condition.clone(), then, otherwise }
            }
            StatementKind::Require { condition, failure } if failure.error == SizeError::Inexact => {
                match self.fits(condition, span) {
                    None => statement.kind.clone(),
                    Some(Fits::Always) => return None,
                    Some(Fits::Where(condition)) => {
                        self.check(condition, failure, span);
                        return None;
                    }
                }
            }
            other => other.clone(),
        };
        Some(Statement { kind, span })
    }

    fn check(&mut self, condition: Expr, failure: &Requirement, span: Span) {
        let text = format!("{}, or may not be for such sizes", failure.text);
        let failure = Requirement { error: SizeError::Thrown, text };
        let kind = StatementKind::Require { condition, failure };
        if self.checks.iter().all(|known| known.kind != kind) {
            self.checks.push(Statement { kind, span });
        }
    }

    /// When all of these comparisons of one integer with limits hold, as far as that is known before anything runs.
    fn fits(&self, condition: &'a Expr, span: Span) -> Option<Fits> {
        let mut limits = vec![];
        let value = compared(condition, &mut limits)?;
        let between = self.extremes.between(value)?;
        let looks_at = |op| limits.iter().any(|(known, _)| *known == op);
        // What passes an `Int64`'s limits wraps around, and fits at the end that is looked at.
        if !(looks_at(CompareOp::Ge) && looks_at(CompareOp::Le) || between.is_of(value.ty)) {
            return None;
        }
        let mut sizes: Option<Expr> = None;
        for (op, limit) in limits {
            let end = if op == CompareOp::Ge { &between.low } else { &between.high };
            match end {
                End::Number(value) if op == CompareOp::Ge => (*value >= limit).then_some(())?,
                End::Number(value) => (*value <= limit).then_some(())?,
                End::Sizes(it) => {
                    // An expression of iterators and arguments is tested exactly where it is evaluated, and what is too large for
                    // sizes as they come is better tested on the way.
                    if !between.varies || !it.is_likely(op, limit) || limit.abs() > EXACT {
                        return None;
                    }
                    let next = it.compared(op, limit, span);
                    sizes = Some(match sizes {
                        None => next,
                        Some(before) => both(before, next),
                    });
                }
            }
        }
        let arguments = between.arguments.iter().map(|&argument| is_small(argument, span));
        Some(match sizes {
            None => Fits::Always,
            Some(sizes) => Fits::Where(arguments.fold(sizes, |all, it| both(it, all))),
        })
    }
}

/// The integer that a conjunction compares with constants, and nothing else, and these.
fn compared<'a>(condition: &'a Expr, limits: &mut Vec<(CompareOp, i128)>) -> Option<&'a Expr> {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::AndAlso, left, right) => {
            let value = compared(left, limits)?;
            (compared(right, limits)?.kind == value.kind).then_some(value)
        }
        ExprKind::Compare(op @ (CompareOp::Ge | CompareOp::Le), value, limit) if value.ty.is_integer() => {
            let ExprKind::Constant(limit) = limit.kind else { return None };
            limits.push((*op, limit.as_integer()?));
            Some(value)
        }
        _ => None,
    }
}
