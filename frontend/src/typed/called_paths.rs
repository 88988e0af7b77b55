//! Calls of the user's functions that give back one of several arrays, by the path that they take:
//!
//! ```text
//! u = limited(v)             one = ...; which = 0 or 1
//! s = sum(limited(v))   ->   if which == 0 u = one else u = v end
//!                            if which == 0 other = one else other = v end; s = sum(other)
//! ```
//!
//! Each name means on each path what Julia has it mean there; what follows is checked as behind any other `if` ([`super::meanings`]).

use super::arrays::ArrayError;
use super::check::{Checked, Checker, Reported};
use super::error::TypeError;
use super::jumps::{assign, comparison, is_private, name};
use super::rebinding::Standing;
use super::scope::{State, VariableId};
use super::statement::{Place, Tail};
use super::tree::LocalId;
use super::unsupported::Construct;
use super::value::Value;
use super::walk::{parts, parts_mut};
use crate::ast::{self, Broadcast, ExprKind};
use std::collections::BTreeSet;
use tessella_diagnostics::Span;

/// What an inlined call gives back: one of several values.
#[derive(Debug)]
pub(super) struct OneOf {
    /// The number of the value.
    which: LocalId,
    values: Vec<Value>,
}

/// Where a statement begins, for another attempt at it.
pub(super) struct Mark {
    errors: usize,
    statements: usize,
    meanings: Vec<State>,
    assigned: BTreeSet<VariableId>,
    standing: Standing,
}

impl Checker<'_> {
    pub(super) fn mark(&self) -> Mark {
        Mark {
            errors: self.errors.len(),
            statements: self.blocks.last().map_or(0, Vec::len),
            meanings: self.meanings(),
            assigned: self.assigned.clone(),
            standing: self.standing(),
        }
    }

    /// Takes back what has been checked since, its errors too.
    fn go_back_to(&mut self, mark: Mark) {
        self.errors.truncate(mark.errors);
        if let Some(block) = self.blocks.last_mut() {
            block.truncate(mark.statements);
        }
        for (at, state) in mark.meanings.into_iter().enumerate() {
            self.variables[at].state = state;
        }
        self.assigned = mark.assigned;
        self.set_standing(mark.standing);
        self.flow.pending = None;
    }

    /// The call, written in what is being checked, that has failed since because its value depends on the path, if nothing else has.
    fn of_several_paths(&self, mark: &Mark) -> Option<Span> {
        let [error] = &self.errors[mark.errors..] else { return None };
        if self.is_as_written() {
            return None;
        }
        let mut error = error;
        for _ in &self.calls {
            let TypeError::InCall { error: inner, .. } = error else { return None };
            error = inner;
        }
        let TypeError::InCall { call, .. } = error else { return None };
        let is_of_paths = matches!(
            error.inside(),
            TypeError::BranchResult { .. }
                | TypeError::Array(ArrayError::Returned { .. })
                | TypeError::NotYet { construct: Construct::ArrayVariable, .. }
        );
        is_of_paths.then_some(*call)
    }

    /// Whether the statement has a call of one of the user's functions.
    pub(super) fn calls_user(&self, statement: &ast::Expr) -> bool {
        let is_call = match &statement.kind {
            ExprKind::Call { callee, broadcast: Broadcast::No, .. } => {
                super::full_name::called(callee).is_some_and(|name| self.user_function(name).is_some())
            }
            _ => false,
        };
        is_call || parts(statement).into_iter().any(|part| self.calls_user(part))
    }

    /// The inlined function's value, where the path tells which of several it is: the first of them, and all for the assignment that
    /// asks.
    pub(super) fn keep_paths(&mut self, tail: Tail, span: Span) -> Checked<Value> {
        let super::alternatives::Side { position, options } = self.side(tail, span)?;
        let position = self.hold("which", position);
        let super::tree::ExprKind::Local(which) = position.kind else { unreachable!("`hold` reads a local") };
        let first = options[0].clone();
        self.flow.one_of = Some(OneOf { which, values: options });
        Ok(first)
    }

    /// `name = call` after it failed because the path tells which value the call gives.
    pub(super) fn assignment_of_paths(
        &mut self,
        target: &ast::Expr,
        value: &ast::Expr,
        mark: Mark,
        place: Place,
    ) -> Option<Checked<Tail>> {
        let is_name = |it: &ast::Expr| matches!(it.kind, ExprKind::Name(_));
        let is_pattern = match &target.kind {
            ExprKind::Tuple(targets) => targets.iter().all(|it| is_name(&it.value)),
            _ => is_name(target),
        };
        if !is_pattern || self.label.is_some() || self.of_several_paths(&mark) != Some(value.span) {
            return None;
        }
        let span = value.span;
        let failed = self.errors[mark.errors].clone();
        // What is moved out of an expression may have no effect on what stands before it there.
        let (given, one_of) = self.asked_for_paths(value, mark, !is_ours(target));
        Some(match (given, one_of) {
            (Err(reported), _) => Err(reported),
            (Ok(given), None) => self.bind(target, given, span).map(|_| Tail::Nothing),
            (Ok(_), Some(OneOf { which, values })) => {
                // A name of ours stands in the middle of an expression, where nothing takes tuples apart.
                let fits = if is_ours(target) { is_array } else { is_of_arrays };
                if values.iter().all(fits) && values.iter().all(|it| are_alike(it, &values[0])) {
                    self.bind_one_of(target, which, values, span, place)
                } else {
                    self.errors.push(failed);
                    Err(Reported)
                }
            }
        })
    }

    /// A call once more, and which of several values it gives, if it does; whether it is all of a statement's value, and may have effects.
    fn asked_for_paths(&mut self, call: &ast::Expr, mark: Mark, is_statement: bool) -> (Checked<Value>, Option<OneOf>) {
        self.go_back_to(mark);
        self.flow.statement_call = is_statement;
        self.flow.asks_for_paths = true;
        let given = self.value(call);
        self.flow.asks_for_paths = false;
        (given, self.flow.one_of.take())
    }

    /// A call that the function ends with, after it failed because the path tells which value it gives: the function's result is one of
    /// these, too.
    pub(super) fn result_of_paths(&mut self, call: &ast::Expr, mark: Mark) -> Option<Checked<Tail>> {
        if self.of_several_paths(&mark) != Some(call.span) {
            return None;
        }
        let (given, one_of) = self.asked_for_paths(call, mark, true);
        Some(match (given, one_of) {
            (Err(reported), _) => Err(reported),
            (Ok(given), None) => Ok(self.as_tail(given, call.span)),
            (Ok(_), Some(OneOf { which, values })) => values
                .iter()
                .try_for_each(|value| self.gives_back(value, call.span))
                .map(|()| Tail::OneOf(which, values, call.span)),
        })
    }

    fn bind_one_of(
        &mut self,
        target: &ast::Expr,
        which: LocalId,
        values: Vec<Value>,
        span: Span,
        place: Place,
    ) -> Checked<Tail> {
        let number = self.flow.fresh.name("which");
        let variable = self.declare(&number, span, State::Scalar(which));
        self.assigned.insert(variable);
        let mut paths = vec![];
        for value in values {
            let path = self.flow.fresh.name("path");
            let variable = self.declare(&path, span, State::Unassigned);
            self.assigned.insert(variable);
            let state = match value {
                Value::Array(array) => State::Array(array),
                value => State::Alias(self.frozen(value)),
            };
            self.variables[variable.0].state = state;
            let value = Box::new(name(&path, span));
            let kind =
                ExprKind::Assign { operator: None, broadcast: Broadcast::No, target: Box::new(target.clone()), value };
            paths.push(vec![ast::Expr { kind, span }]);
        }
        let otherwise = paths.pop();
        let integer = |at: usize| ast::Expr { kind: ExprKind::Integer(at.to_string()), span };
        let asked = |at: usize| comparison("==", name(&number, span), integer(at), span);
        let branches = paths.into_iter().enumerate().map(|(at, path)| (asked(at), path)).collect();
        Ok(self.statement(&ast::Expr { kind: ExprKind::If { branches, otherwise }, span }, place))
    }

    /// A statement that failed because the path tells which value a call in it gives, as two: the call, given a name, and the rest.
    pub(super) fn with_call_before(&mut self, statement: &ast::Expr, mark: Mark) -> Option<[ast::Expr; 2]> {
        let call = self.of_several_paths(&mark)?;
        let given = self.flow.fresh.name("given");
        let mut rest = statement.clone();
        let before = take_call(&mut rest, call, &given)?;
        self.go_back_to(mark);
        self.declare(&given, call, State::Unassigned);
        Some([assign(&given, before, call), rest])
    }
}

/// The call at this place, if it is evaluated once wherever the expression is; a name takes its place.
fn take_call(expr: &mut ast::Expr, at: Span, given: &str) -> Option<ast::Expr> {
    if expr.span == at && matches!(expr.kind, ExprKind::Call { broadcast: Broadcast::No, .. }) {
        return Some(std::mem::replace(expr, name(given, at)));
    }
    let take = |part: &mut ast::Expr| take_call(part, at, given);
    match &mut expr.kind {
        // The call itself, which has a name already.
        ExprKind::Assign { operator: None, broadcast: Broadcast::No, target, value }
            if value.span == at && !matches!(target.kind, ExprKind::Index { .. }) =>
        {
            None
        }
        ExprKind::Assign { value: part, .. }
        | ExprKind::Return(Some(part))
        | ExprKind::Index { base: part, .. }
        | ExprKind::Ternary { condition: part, .. }
        | ExprKind::And(part, _)
        | ExprKind::Or(part, _) => take(part),
        ExprKind::Call { arguments, .. } | ExprKind::Tuple(arguments) => {
            arguments.iter_mut().find_map(|argument| take(&mut argument.value))
        }
        ExprKind::If { branches, .. } => branches.first_mut().and_then(|(condition, _)| take(condition)),
        ExprKind::Comparison { operands, .. } => operands.iter_mut().take(2).find_map(take),
        ExprKind::Prefix { .. }
        | ExprKind::Infix { .. }
        | ExprKind::Juxtapose { .. }
        | ExprKind::Adjoint(_)
        | ExprKind::Field { .. } => parts_mut(expr).into_iter().find_map(take),
        _ => None,
    }
}

fn is_ours(target: &ast::Expr) -> bool {
    matches!(&target.kind, ExprKind::Name(name) if is_private(name))
}

fn is_array(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::ComplexArray(_))
}

/// Whether it is an array, or a tuple with one.
fn is_of_arrays(value: &Value) -> bool {
    is_array(value) || value.elements().is_some_and(|values| values.iter().any(is_of_arrays))
}

/// Whether what follows can do the same with both.
fn are_alike(one: &Value, other: &Value) -> bool {
    match (one.elements(), other.elements()) {
        (Some(all), Some(others)) => all.len() == others.len() && all.iter().zip(others).all(|(a, b)| are_alike(a, b)),
        (None, None) => is_array(one) == is_array(other) && (is_array(one) || super::alternatives::alike(one, other)),
        (_, _) => false,
    }
}

/// Whether a value is given back by paths.
pub(super) fn is_of_paths(tail: &Tail) -> bool {
    matches!(tail, Tail::OneOf(..) | Tail::Choice(..))
}
