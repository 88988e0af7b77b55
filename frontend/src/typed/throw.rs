//! `throw(...)`, `error(...)` and `@assert`: what a function refuses.
//!
//! Where the source throws, the function fails at entry, before anything is written; so behind the check that guards a
//! `throw`, what the check asks for always holds, and no branch is left:
//!
//! ```text
//! if n < 2                               require !(n < 2)
//!     throw(ArgumentError("..."))   ->   x = 1
//! else
//!     x = 1
//! end
//! ```

use super::check::{Checked, Checker};
use super::operator::unary;
use super::scope::VariableId;
use super::statement::Tail;
use super::tree::{Block, Expr, Requirement, SizeError, Statement, StatementKind};
use super::value::Value;
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{Constant, UnaryOp};

/// Functions that always throw.
const THROWING: [&str; 2] = ["throw", "error"];

impl Checker<'_> {
    /// `throw(...)` or `error(...)`; `None` if the name means something else here.
    pub(super) fn throwing_call(
        &mut self,
        name: &str,
        arguments: &[ast::Argument],
        span: Span,
    ) -> Option<Checked<Value>> {
        if !THROWING.contains(&name) || self.lookup(name).is_some() {
            return None;
        }
        let what = match (name, arguments) {
            ("throw", [exception]) => thrown(&exception.value),
            (_, [message, ..]) => worded("ErrorException", Some(&message.value)),
            (_, []) => worded("ErrorException", None),
        };
        Some(self.thrown_here(what, span))
    }

    fn thrown_here(&mut self, text: String, span: Span) -> Checked<Value> {
        let never = Expr::constant(Constant::bool(false), span);
        self.require(never, SizeError::Thrown, &text, span)?;
        // Nothing runs behind it, so every variable has whatever value one likes.
        self.assigned.extend((0..self.variables.len()).map(VariableId));
        Ok(Value::Never)
    }

    /// `@assert condition` and `@assert condition message`.
    pub(super) fn asserted(&mut self, condition: &ast::Expr, message: Option<&ast::Expr>, span: Span) -> Checked<Tail> {
        let text = worded("AssertionError", message);
        let condition = self.condition(condition)?;
        self.require(condition, SizeError::Thrown, &text, span)?;
        Ok(Tail::Nothing)
    }

    /// Writes the two branches of an `if` of which one always throws, or both.
    pub(super) fn guarded(
        &mut self,
        condition: Expr,
        (mut then, then_throws): (Block, bool),
        (mut otherwise, other_throws): (Block, bool),
        span: Span,
    ) {
        let rest = match (then_throws, other_throws) {
            (true, false) => std::mem::take(&mut otherwise),
            (false, true) => std::mem::take(&mut then),
            (_, _) => vec![],
        };
        let alone = match (only_throws(&then), only_throws(&otherwise)) {
            (Some(failure), None) if otherwise.is_empty() => {
                let holds = unary(UnaryOp::Not, condition.clone(), condition.span);
                Some(StatementKind::Require { condition: holds, failure })
            }
            (None, Some(failure)) if then.is_empty() => {
                Some(StatementKind::Require { condition: condition.clone(), failure })
            }
            (_, _) => None,
        };
        let kind = alone.unwrap_or(StatementKind::If { condition, then, otherwise });
        self.emit(kind, span);
        self.blocks.last_mut().expect("a block is open while a function is checked").extend(rest);
    }
}

impl Tail {
    /// Whether the end of the block is never reached.
    pub(super) fn throws(&self) -> bool {
        matches!(self, Tail::Other(Value::Never, _))
    }
}

/// How a block fails that consists of a `throw`.
fn only_throws(block: &Block) -> Option<Requirement> {
    match block.as_slice() {
        [Statement { kind: StatementKind::Require { condition, failure }, .. }]
            if condition.as_constant() == Some(Constant::bool(false)) =>
        {
            Some(failure.clone())
        }
        _ => None,
    }
}

/// What `throw(exception)` says.
fn thrown(exception: &ast::Expr) -> String {
    match &exception.kind {
        ast::ExprKind::Call { callee, arguments, .. } => match &callee.kind {
            ast::ExprKind::Name(name) => worded(name, arguments.iter().map(|it| &it.value).find(|it| is_text(it))),
            _ => worded("an exception", None),
        },
        ast::ExprKind::Name(name) => worded(name, None),
        _ => worded("an exception", None),
    }
}

fn is_text(expr: &ast::Expr) -> bool {
    matches!(expr.kind, ast::ExprKind::Str(_))
}

/// `ArgumentError: the message`, as far as it is written out.
fn worded(exception: &str, message: Option<&ast::Expr>) -> String {
    match message.map(|message| &message.kind) {
        Some(ast::ExprKind::Str(text)) => format!("{exception}: {}", text.trim_matches('"')),
        Some(_) | None => format!("{exception} is thrown"),
    }
}
