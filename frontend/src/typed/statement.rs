//! Statements, and the value of the last one.

use super::check::{Checked, Checker};
use super::error::TypeError;
use super::full_name::called;
use super::jumps::is_result;
use super::tree::{Block, Expr, ExprKind, LocalId, Role, Simd, StatementKind, Type};
use super::unsupported::Construct;
use super::value::Value;
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{Constant, ScalarType, UnaryOp};

/// Whether a statement's value is the function's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Middle,
    Last,
}

/// The value of a block.
#[derive(Debug, Clone)]
pub(super) enum Tail {
    Nothing,
    Argument(LocalId, Span),
    /// Evaluated at the end of the block.
    Scalar(Expr),
    Tuple(Vec<Value>, Span),
    /// The argument whose position a variable holds, and which arguments it may be.
    Choice(LocalId, Vec<LocalId>, Span),
    /// One of several kinds of results: the variable that numbers it, and all of them.
    OneOf(LocalId, Vec<Value>, Span),
    /// What no function can return, but an inlined one can.
    Other(Value, Span),
    Failed,
}

impl Checker<'_> {
    pub(super) fn body(&mut self, body: &[ast::Expr], place: Place) -> Tail {
        let mut tail = Tail::Nothing;
        let ends = self.flow.tail;
        for (position, statement) in body.iter().enumerate() {
            let is_last = position + 1 == body.len();
            self.flow.tail = ends && is_last;
            let before = self.flow.pending.take();
            let here = if is_last { place } else { Place::Middle };
            let mark = (self.label.is_none() && self.calls_user(statement)).then(|| self.mark());
            tail = self.beside(before.as_ref(), |checker| checker.statement(statement, here));
            let rest = &body[position + 1..];
            if matches!(tail, Tail::Failed)
                && let Some(mark) = mark
                && let Some([call, statement]) = self.with_call_before(statement, mark)
            {
                let all: Vec<ast::Expr> = [call, statement].into_iter().chain(rest.iter().cloned()).collect();
                (self.flow.tail, self.flow.pending) = (ends, before);
                return self.body(&all, place);
            }
            match (before, self.flow.pending.take()) {
                (before, Some(variants)) if self.uses_variants(&variants, rest) => {
                    self.flow.tail = ends;
                    let variants = match before {
                        Some(before) => self.both(before, variants),
                        None => variants,
                    };
                    return self.after_variants(variants, rest, place);
                }
                (Some(first), Some(second)) => self.flow.pending = Some(self.both(first, second)),
                (Some(before), None) => self.flow.pending = Some(self.renewed(before)),
                (None, pending) => self.flow.pending = pending,
            }
        }
        self.flow.tail = ends;
        tail
    }

    pub(super) fn statement(&mut self, statement: &ast::Expr, place: Place) -> Tail {
        let span = statement.span;
        if let Some(label) = &self.label {
            let names_assignment = matches!(
                statement.kind,
                ast::ExprKind::Assign { .. } | ast::ExprKind::MacroCall { .. } | ast::ExprKind::Block(_)
            ) && !is_several(statement)
                || is_multiplication(statement);
            if !names_assignment {
                let (label, label_span) = (label.name.clone(), label.span);
                self.label = None;
                self.fail(TypeError::LabelMisplaced { label, label_span, span });
                return Tail::Failed;
            }
        }
        let checked = match &statement.kind {
            ast::ExprKind::Assign { .. } => self.assignment(statement, place),
            ast::ExprKind::Block(body) => return self.body(body, place),
            ast::ExprKind::If { branches, otherwise } => {
                return self.branches(branches, otherwise.as_deref(), span, place);
            }
            ast::ExprKind::Ternary { condition, yes, no } if is_effect(yes) || is_effect(no) => {
                let no = std::slice::from_ref(&**no);
                return self.branch(condition, std::slice::from_ref(yes), Some(no), span, place);
            }
            // As the last statement its value is `false` or the assigned one: a `Bool` or something else.
            ast::ExprKind::And(condition, then) if is_effect(then) && self.gives_several(place) && !is_throw(then) => {
                let no = truth(false, span);
                return self.branch(
                    condition,
                    std::slice::from_ref(then),
                    Some(std::slice::from_ref(&no)),
                    span,
                    place,
                );
            }
            ast::ExprKind::Or(condition, otherwise)
                if is_effect(otherwise) && self.gives_several(place) && !is_throw(otherwise) =>
            {
                let yes = truth(true, span);
                return self.branch(
                    condition,
                    std::slice::from_ref(&yes),
                    Some(std::slice::from_ref(otherwise)),
                    span,
                    place,
                );
            }
            ast::ExprKind::And(condition, then) if is_effect(then) => {
                let falls =
                    |checker: &mut Self| checker.branch(condition, std::slice::from_ref(then), None, span, place);
                return self.with_last_value(falls, then, false, place);
            }
            ast::ExprKind::Or(condition, otherwise) if is_effect(otherwise) => {
                return self.with_last_value(
                    |checker| checker.unless(condition, otherwise, span, place),
                    otherwise,
                    true,
                    place,
                );
            }
            ast::ExprKind::For { iterations, body } => {
                self.loop_statement(iterations, body, Simd::No, span).map(|()| Tail::Nothing)
            }
            ast::ExprKind::MacroCall { name, arguments } => return self.macro_statement(name, arguments, span, place),
            ast::ExprKind::Let { bindings, body } => return self.let_block(bindings, body, place),
            ast::ExprKind::Local(targets) => self.local_declaration(targets).map(|()| Tail::Nothing),
            ast::ExprKind::Typed { value: Some(value), .. } if matches!(value.kind, ast::ExprKind::Name(_)) => {
                self.typed_statement(statement, place)
            }
            ast::ExprKind::Return(value) => match (place, value) {
                (Place::Middle, _) => self.not_yet(Construct::EarlyReturn, span),
                (Place::Last, None) => Ok(Tail::Nothing),
                (Place::Last, Some(value)) => match &value.kind {
                    ast::ExprKind::Assign { .. } | ast::ExprKind::If { .. } | ast::ExprKind::Block(_) => {
                        return self.statement(value, place);
                    }
                    ast::ExprKind::Name(name) if is_result(name) => {
                        let variable = self.lookup(name).expect("it is declared at the function's beginning");
                        return self.kept_result(variable, span);
                    }
                    _ => return self.last_value(value, place),
                },
            },
            // A text on a line of its own is a comment to the reader.
            ast::ExprKind::Str(_) if place == Place::Middle => Ok(Tail::Nothing),
            ast::ExprKind::While { condition, body } => self.while_loop(condition, body, span).map(|()| Tail::Nothing),
            ast::ExprKind::Break => self.not_yet(Construct::Break, span),
            ast::ExprKind::Continue => self.not_yet(Construct::Continue, span),
            ast::ExprKind::Global(_) => self.not_yet(Construct::Global, span),
            ast::ExprKind::Function(function) => self.local_function(function).map(|()| Tail::Nothing),
            ast::ExprKind::Do { .. } => match super::each::with_closure(statement) {
                Some(call) => return self.statement(&call, place),
                None => self.not_yet(Construct::Closure, span),
            },
            ast::ExprKind::Const(_) => self.not_yet(Construct::Global, span),
            _ => match place {
                Place::Last => return self.last_value(statement, place),
                Place::Middle => {
                    self.flow.statement_call = matches!(statement.kind, ast::ExprKind::Call { .. });
                    self.flow.unused_call = self.flow.statement_call;
                    self.unused_value(statement)
                }
            },
        };
        checked.unwrap_or(Tail::Failed)
    }

    /// `condition && statement` and `condition || statement`, whose value is that of the condition where the statement
    /// throws.
    fn with_last_value(
        &mut self,
        check: impl FnOnce(&mut Self) -> Tail,
        statement: &ast::Expr,
        value: bool,
        place: Place,
    ) -> Tail {
        let tail = check(self);
        match (place, &tail) {
            (Place::Last, Tail::Nothing) if is_throw(statement) => {
                Tail::Scalar(Expr::constant(Constant::bool(value), statement.span))
            }
            (_, _) => tail,
        }
    }

    /// The value of an expression that a function may end with. Where both sides of a `c ? a : b` are of one kind it is a
    /// value like any other, else each is a result of its own.
    fn last_value(&mut self, expr: &ast::Expr, place: Place) -> Tail {
        let ast::ExprKind::Ternary { condition, yes, no } = &expr.kind else {
            if let Some((condition, yes, no)) = self.value_of_paths(expr) {
                return self.branch(&condition, &[yes], Some(&[no]), expr.span, place);
            }
            let mark =
                (self.gives_several(place) && matches!(expr.kind, ast::ExprKind::Call { .. })).then(|| self.mark());
            let value = self.result_value(expr);
            if value.is_err()
                && let Some(mark) = mark
                && let Some(tail) = self.result_of_paths(expr, mark)
            {
                return tail.unwrap_or(Tail::Failed);
            }
            return value.unwrap_or(Tail::Failed);
        };
        let (errors, statements) = (self.errors.len(), self.blocks.last().map_or(0, Vec::len));
        let value = self.result_value(expr);
        let of_several_kinds = || match &self.errors[errors..] {
            [error] => matches!(error.inside(), TypeError::BranchResult { .. } | TypeError::BranchTypes { .. }),
            _ => false,
        };
        if value.is_err() && self.gives_several(place) && of_several_kinds() {
            self.errors.truncate(errors);
            if let Some(block) = self.blocks.last_mut() {
                block.truncate(statements);
            }
            let no = std::slice::from_ref(&**no);
            return self.branch(condition, std::slice::from_ref(yes), Some(no), expr.span, place);
        }
        value.unwrap_or(Tail::Failed)
    }

    /// The value is dropped, what it reads is checked.
    fn unused_value(&mut self, statement: &ast::Expr) -> Checked<Tail> {
        match self.value(statement)? {
            value @ Value::Never => Ok(Tail::Other(value, statement.span)),
            value => self.keep_reads(&value).map(|()| Tail::Nothing),
        }
    }

    fn result_value(&mut self, expr: &ast::Expr) -> Checked<Tail> {
        self.flow.statement_call = matches!(expr.kind, ast::ExprKind::Call { .. });
        let value = self.value(expr)?;
        self.gives_back(&value, expr.span)?;
        match value {
            Value::Scalar(value) => Ok(Tail::Scalar(value)),
            value @ Value::Irrational(..) => Ok(Tail::Scalar(self.as_scalar(value, expr.span)?)),
            Value::Array(id) => Ok(Tail::Argument(id, expr.span)),
            Value::Nothing => Ok(Tail::Nothing),
            Value::Tuple(values) => Ok(Tail::Tuple(values, expr.span)),
            value => Ok(Tail::Other(value, expr.span)),
        }
    }

    pub(super) fn condition(&mut self, expr: &ast::Expr) -> Checked<Expr> {
        if let ast::ExprKind::Assign { operator: None, broadcast: ast::Broadcast::No, .. } = &expr.kind {
            return Err(self.fail(TypeError::AssignedCondition { span: expr.span }));
        }
        let value = self.value(expr)?;
        self.truth_of(value, expr.span)
    }

    /// The value of something that must be a `Bool`.
    pub(super) fn truth_of(&mut self, value: Value, span: Span) -> Checked<Expr> {
        match value {
            Value::Scalar(value) if value.ty == ScalarType::Bool => Ok(value),
            other => {
                let found = self.kind(&other);
                Err(self.fail(TypeError::NotACondition { found, span }))
            }
        }
    }

    fn branches(
        &mut self,
        branches: &[(ast::Expr, ast::Block)],
        otherwise: Option<&[ast::Expr]>,
        span: Span,
        place: Place,
    ) -> Tail {
        let Some(((condition, then), rest)) = branches.split_first() else {
            return otherwise.map_or(Tail::Nothing, |body| self.body(body, place));
        };
        match self.decided(condition) {
            Some(true) => return self.body(then, place),
            Some(false) => return self.branches(rest, otherwise, span, place),
            None => {}
        }
        let leaves = self.leaves_unless(condition);
        let mut condition = self.condition(condition);
        let before = self.assigned.clone();
        let meanings = self.meanings();
        let standing = self.standing();
        let (mut then, then_tail) = self.in_branch(|checker| {
            let tail = checker.body(then, place);
            checker.settled_tail(tail, place)
        });
        let standing = self.set_standing(standing);
        let then_end = self.path_end(meanings.len());
        let after_then = std::mem::replace(&mut self.assigned, before);
        self.restore(&meanings);
        let (mut otherwise, other_tail) = self.in_branch(|checker| {
            let tail = match rest.is_empty() {
                true => otherwise.map_or(Tail::Nothing, |body| checker.body(body, place)),
                false => checker.branches(rest, otherwise, span, place),
            };
            checker.settled_tail(tail, place)
        });
        self.join_standing(standing);
        let mut other_end = self.path_end(meanings.len());
        other_end.left |= leaves;
        self.join_meanings(&mut condition, (&mut then, then_end), (&mut otherwise, other_end), span);
        self.assigned.retain(|variable| after_then.contains(variable));
        self.join_results(condition, (then, then_tail), (otherwise, other_tail), span, place)
    }

    /// An `if` with one condition.
    fn branch(
        &mut self,
        condition: &ast::Expr,
        then: &[ast::Expr],
        otherwise: Option<&[ast::Expr]>,
        span: Span,
        place: Place,
    ) -> Tail {
        self.branches(&[(condition.clone(), then.to_vec())], otherwise, span, place)
    }

    /// `condition || statement`.
    fn unless(&mut self, condition: &ast::Expr, statement: &ast::Expr, span: Span, place: Place) -> Tail {
        match self.decided(condition) {
            Some(true) => return Tail::Nothing,
            Some(false) => return self.statement(statement, place),
            None => {}
        }
        let mut condition = self.condition(condition).map(|condition| Expr {
            ty: ScalarType::Bool,
            span: condition.span,
            kind: ExprKind::Unary(UnaryOp::Not, Box::new(condition)),
        });
        let before = self.assigned.clone();
        let meanings = self.meanings();
        let standing = self.standing();
        let (mut then, tail) = self.in_branch(|checker| checker.statement(statement, place));
        self.join_standing(standing);
        let then_end = self.path_end(meanings.len());
        self.restore(&meanings);
        let other_end = self.path_end(meanings.len());
        // Where the condition holds, what names mean may have to be noted, too.
        let mut otherwise = vec![];
        self.join_meanings(&mut condition, (&mut then, then_end), (&mut otherwise, other_end), span);
        self.assigned = before;
        self.join(condition, (then, tail), (otherwise, Tail::Nothing), span, place)
    }

    /// Writes the `if`, and finds the one value of its branches.
    pub(super) fn join(
        &mut self,
        condition: Checked<Expr>,
        (mut then, then_tail): (Block, Tail),
        (mut otherwise, other_tail): (Block, Tail),
        span: Span,
        place: Place,
    ) -> Tail {
        let Ok(condition) = condition else { return Tail::Failed };
        if then_tail.throws() || other_tail.throws() {
            let throws = (then_tail.throws(), other_tail.throws());
            self.guarded(condition, (then, throws.0), (otherwise, throws.1), span);
            return match (place, throws) {
                (_, (true, true)) => then_tail,
                (Place::Last, (true, false)) => other_tail,
                (Place::Last, (false, _)) => then_tail,
                (Place::Middle, _) => Tail::Nothing,
            };
        }
        let tail = match (place, then_tail, other_tail) {
            (Place::Middle, _, _) | (Place::Last, Tail::Nothing, Tail::Nothing) => Tail::Nothing,
            (Place::Last, Tail::Failed, _) | (Place::Last, _, Tail::Failed) => Tail::Failed,
            (Place::Last, Tail::OneOf(..), _) | (Place::Last, _, Tail::OneOf(..)) => {
                self.fail(TypeError::BranchResult { span });
                Tail::Failed
            }
            (Place::Last, Tail::Argument(a, at), Tail::Argument(b, _)) if a == b => Tail::Argument(a, at),
            (Place::Last, Tail::Scalar(yes), Tail::Scalar(no)) => {
                if yes.ty != no.ty {
                    self.fail(TypeError::BranchTypes { yes: yes.ty, yes_span: yes.span, no: no.ty, no_span: no.span });
                    return Tail::Failed;
                }
                let ty = yes.ty;
                let owner = self.loops.last().copied();
                let target = self.new_local("result", Type::Scalar(ty), Role::Variable(owner), span);
                let mode = self.mode;
                for (block, value) in [(&mut then, yes), (&mut otherwise, no)] {
                    let span = value.span;
                    block.push(super::tree::Statement {
                        kind: StatementKind::Set { target, value, label: None, mode },
                        span,
                    });
                }
                Tail::Scalar(self.read(target, span))
            }
            (
                Place::Last,
                yes @ (Tail::Argument(..) | Tail::Choice(..)),
                no @ (Tail::Argument(..) | Tail::Choice(..)),
            ) => self.join_arguments((&mut then, yes), (&mut otherwise, no), span).unwrap_or(Tail::Failed),
            (Place::Last, Tail::Tuple(yes, at), Tail::Tuple(no, _)) => {
                let joined = self.join_values((&mut then, Value::Tuple(yes)), (&mut otherwise, Value::Tuple(no)), span);
                match joined {
                    Ok(Value::Tuple(values)) => Tail::Tuple(values, at),
                    Ok(_) | Err(_) => Tail::Failed,
                }
            }
            (Place::Last, Tail::Other(yes, at), Tail::Other(no, _)) => {
                match self.join_values((&mut then, yes), (&mut otherwise, no), span) {
                    Ok(value) => Tail::Other(value, at),
                    Err(_) => Tail::Failed,
                }
            }
            (Place::Last, _, _) => {
                self.fail(TypeError::BranchResult { span });
                Tail::Failed
            }
        };
        self.emit(StatementKind::If { condition, then, otherwise }, span);
        tail
    }

    fn let_block(&mut self, bindings: &[ast::Expr], body: &[ast::Expr], place: Place) -> Tail {
        // Each binding sees the ones before it, and the outer variable of its own name on its right side.
        let scopes = self.scopes.len();
        for binding in bindings {
            let (target, value) = match &binding.kind {
                ast::ExprKind::Assign { operator: None, target, value, .. } => (&**target, Some(&**value)),
                _ => (binding, None),
            };
            let value = value.map(|value| self.value(value));
            self.scopes.push(Default::default());
            self.declare_assigned(&[ast::Expr { kind: ast::ExprKind::Local(vec![target.clone()]), span: target.span }]);
            if let Some(value) = value {
                let assigned = value.and_then(|value| self.bind(target, value, binding.span));
                if assigned.is_err() {
                    self.poison(target);
                }
            }
        }
        self.scopes.push(Default::default());
        self.declare_assigned(body);
        let tail = self.body(body, place);
        self.scopes.truncate(scopes);
        tail
    }
}

/// Whether the value of an expression does not matter, because it is there to do something.
fn is_effect(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Assign { .. }
        | ast::ExprKind::Return(_)
        | ast::ExprKind::Break
        | ast::ExprKind::Continue
        | ast::ExprKind::For { .. }
        | ast::ExprKind::While { .. }
        | ast::ExprKind::Local(_) => true,
        ast::ExprKind::Name(name) => name == "nothing",
        ast::ExprKind::Block(body) => body.iter().any(is_effect),
        ast::ExprKind::If { branches, .. } => branches.iter().any(|(_, body)| body.iter().any(is_effect)),
        ast::ExprKind::And(_, right) | ast::ExprKind::Or(_, right) => is_effect(right),
        ast::ExprKind::Ternary { yes, no, .. } => is_effect(yes) || is_effect(no),
        ast::ExprKind::MacroCall { arguments, .. } => arguments.iter().any(is_effect),
        ast::ExprKind::Call { callee, .. } => {
            let is = |name: &str| super::call::is_throwing(name) || matches!(name, "fill!" | "copyto!" | "map!");
            called(callee).is_some_and(is)
        }
        // Everything else is an expression for its value.
        _ => false,
    }
}

fn truth(value: bool, span: Span) -> ast::Expr {
    ast::Expr { kind: ast::ExprKind::Bool(value), span }
}

/// Whether a statement is nothing but a `throw`.
fn is_throw(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Call { callee, .. } => called(callee).is_some_and(super::call::is_throwing),
        _ => false,
    }
}

/// `mul!(C, A, B)`, which assigns to an array.
fn is_multiplication(statement: &ast::Expr) -> bool {
    matches!(&statement.kind, ast::ExprKind::Call { callee, .. } if called(callee) == Some("mul!"))
}

/// Whether a statement under `@comp` is a block of several statements.
fn is_several(statement: &ast::Expr) -> bool {
    matches!(&statement.kind, ast::ExprKind::Block(body) if body.len() != 1)
}
