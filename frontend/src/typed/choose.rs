//! `c ? a : b`, `if` and blocks as values: an expression where both sides are plain expressions, else an `if` that sets
//! a variable.

use super::check::{Checked, Checker, Reported};
use super::error::TypeError;
use super::scope::VariableId;
use super::statement::{Place, Tail};
use super::tree::{Block, Expr, ExprKind, LocalId};
use super::value::Value;
use crate::ast;
use std::collections::BTreeSet;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, Constant, ScalarType};

impl Checker<'_> {
    /// `condition ? yes : no`, whatever statements the two need.
    pub(super) fn choice(
        &mut self,
        condition: &ast::Expr,
        yes: impl FnOnce(&mut Self) -> Checked<Value>,
        no: impl FnOnce(&mut Self) -> Checked<Value>,
        wanted: Option<ScalarType>,
        span: Span,
    ) -> Checked<Value> {
        match self.decided(condition) {
            Some(true) => return yes(self),
            Some(false) => return no(self),
            None => {}
        }
        let condition = self.condition(condition);
        let (yes_block, yes, after_yes) = self.in_value_branch(yes);
        let (no_block, no, after_no) = self.in_value_branch(no);
        self.assigned.extend(after_yes.intersection(&after_no));
        self.flow.wanted = None;
        let (condition, yes, no) = (condition?, yes?, no?);
        let (yes, no) = match wanted {
            Some(ty) => converted(yes, no, ty),
            None => (yes, no),
        };
        if matches!(yes, Value::Never) || matches!(no, Value::Never) {
            let throws = (matches!(yes, Value::Never), matches!(no, Value::Never));
            self.guarded(condition, (yes_block, throws.0), (no_block, throws.1), span);
            return Ok(if throws.0 { no } else { yes });
        }
        let plain = |value: &Value| matches!(value, Value::Scalar(_) | Value::Irrational(..));
        let tuples = matches!((&yes, &no), (Value::Tuple(yes), Value::Tuple(no))
            if yes.len() == no.len() && yes.iter().chain(no).all(plain));
        let selects = tuples || (plain(&yes) && plain(&no));
        if selects && super::flow::is_harmless(&yes_block, self) && super::flow::is_harmless(&no_block, self) {
            let tests = [&yes_block, &no_block].into_iter().any(super::flow::requires);
            let condition = if tests { self.share(condition) } else { condition };
            let yes_block = super::flow::required_if(yes_block, &condition, true);
            let no_block = super::flow::required_if(no_block, &condition, false);
            let open = self.blocks.last_mut().expect("a block is open while a function is checked");
            open.extend(yes_block.into_iter().chain(no_block));
            return match (yes, no) {
                (Value::Tuple(yes), Value::Tuple(no)) => {
                    let condition = self.share(condition);
                    let values =
                        yes.into_iter().zip(no).map(|(yes, no)| self.selected(condition.clone(), yes, no, span));
                    values.collect::<Checked<Vec<Value>>>().map(Value::Tuple)
                }
                (yes, no) => self.selected(condition, yes, no, span),
            };
        }
        let tails = (self.as_tail(yes, span), self.as_tail(no, span));
        let tail = self.join(Ok(condition), (yes_block, tails.0), (no_block, tails.1), span, Place::Last);
        self.tail_value(tail, span)
    }

    fn selected(&mut self, condition: Expr, yes: Value, no: Value, span: Span) -> Checked<Value> {
        let (yes, no) = (self.as_scalar(yes, span)?, self.as_scalar(no, span)?);
        self.same_types(&yes, &no)?;
        let ty = yes.ty;
        let kind = ExprKind::Select { condition: Box::new(condition), yes: Box::new(yes), no: Box::new(no) };
        Ok(Value::Scalar(Expr { kind, ty, span }))
    }

    /// `left && right` and `left || right`.
    pub(super) fn short_circuit(
        &mut self,
        operator: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Checked<Value> {
        let first = self.condition(left);
        self.short_circuit_of(operator, first, |checker| checker.condition(right), span)
    }

    /// The same, of a condition and of what evaluates the other.
    pub(super) fn short_circuit_of(
        &mut self,
        operator: BinaryOp,
        first: Checked<Expr>,
        second: impl FnOnce(&mut Self) -> Checked<Expr>,
        span: Span,
    ) -> Checked<Value> {
        let (block, second, _) = self.in_value_branch(second);
        let (first, second) = (first?, second?);
        if super::flow::is_harmless(&block, self) {
            let first = if super::flow::requires(&block) { self.share(first) } else { first };
            let block = super::flow::required_if(block, &first, operator != BinaryOp::OrElse);
            self.blocks.last_mut().expect("a block is open while a function is checked").extend(block);
            let kind = ExprKind::Binary(operator, Box::new(first), Box::new(second));
            return Ok(Value::Scalar(Expr { kind, ty: ScalarType::Bool, span }));
        }
        let constant = |value| Tail::Scalar(Expr::constant(Constant::bool(value), span));
        let tail = match operator {
            BinaryOp::OrElse => {
                self.join(Ok(first), (vec![], constant(true)), (block, Tail::Scalar(second)), span, Place::Last)
            }
            _ => self.join(Ok(first), (block, Tail::Scalar(second)), (vec![], constant(false)), span, Place::Last),
        };
        self.tail_value(tail, span)
    }

    /// `x = if c a else b end`.
    pub(super) fn if_value(
        &mut self,
        branches: &[(ast::Expr, ast::Block)],
        otherwise: Option<&[ast::Expr]>,
        span: Span,
    ) -> Checked<Value> {
        let Some(((condition, then), rest)) = branches.split_first() else {
            return match otherwise {
                Some([value]) => self.value(value),
                Some(body) => self.block_value(body, span),
                None => Ok(Value::Nothing),
            };
        };
        self.choice(
            condition,
            |checker| match then.as_slice() {
                [value] => checker.value(value),
                body => checker.block_value(body, span),
            },
            |checker| checker.if_value(rest, otherwise, span),
            None,
            span,
        )
    }

    /// `begin a; b end` and `(a; b)` as values.
    pub(super) fn block_value(&mut self, body: &[ast::Expr], span: Span) -> Checked<Value> {
        self.value_of(span, |checker| checker.body(body, Place::Last))
    }

    /// A statement's value where an expression is expected.
    pub(super) fn statement_value(&mut self, statement: &ast::Expr) -> Checked<Value> {
        self.value_of(statement.span, |checker| checker.statement(statement, Place::Last))
    }

    fn value_of(&mut self, span: Span, check: impl FnOnce(&mut Self) -> Tail) -> Checked<Value> {
        let label = self.label.take();
        let tail = std::mem::replace(&mut self.flow.tail, false);
        let several = std::mem::replace(&mut self.flow.several_results, false);
        let result = check(self);
        self.flow.tail = tail;
        self.flow.several_results = several;
        self.label = label;
        self.tail_value(result, span)
    }

    /// What is evaluated only under a condition, with the statements it needs and the variables that have a value
    /// after it.
    fn in_value_branch<T>(
        &mut self,
        check: impl FnOnce(&mut Self) -> Checked<T>,
    ) -> (Block, Checked<T>, BTreeSet<VariableId>) {
        let tail = std::mem::replace(&mut self.flow.tail, false);
        let assigned = self.assigned.clone();
        let meanings = self.meanings();
        let standing = self.standing();
        let result = self.in_branch(|checker| checker.conditionally(check));
        self.join_standing(standing);
        let after = self.array_meanings(meanings.len());
        self.restore(&meanings);
        self.same_meanings(&after, result.0.last().map_or(NOWHERE, |statement| statement.span));
        let after = std::mem::replace(&mut self.assigned, assigned);
        self.flow.tail = tail;
        (result.0, result.1, after)
    }

    pub(super) fn as_tail(&mut self, value: Value, span: Span) -> Tail {
        match value {
            Value::Scalar(value) => Tail::Scalar(value),
            Value::Irrational(..) => self.as_scalar(value, span).map_or(Tail::Failed, Tail::Scalar),
            Value::Array(array) => Tail::Argument(array, span),
            Value::Tuple(values) => Tail::Tuple(values, span),
            Value::Nothing => Tail::Nothing,
            other => Tail::Other(other, span),
        }
    }

    /// One value for both branches of an `if`, set in each.
    pub(super) fn join_values(
        &mut self,
        (then, yes): (&mut Block, Value),
        (otherwise, no): (&mut Block, Value),
        span: Span,
    ) -> Checked<Value> {
        match (yes, no) {
            (Value::Tuple(yes), Value::Tuple(no)) if yes.len() == no.len() => {
                let mut values = vec![];
                for (yes, no) in yes.into_iter().zip(no) {
                    values.push(self.join_values((&mut *then, yes), (&mut *otherwise, no), span)?);
                }
                Ok(Value::Tuple(values))
            }
            (Value::Named(yes_names, yes), Value::Named(no_names, no)) if yes_names == no_names => {
                let (yes, no) = (Value::Tuple(yes), Value::Tuple(no));
                match self.join_values((&mut *then, yes), (&mut *otherwise, no), span)? {
                    Value::Tuple(values) => Ok(Value::Named(yes_names, values)),
                    other => Ok(other),
                }
            }
            (Value::Complex(yes), Value::Complex(no)) if yes.half() == no.half() => {
                let mut join = |yes, no| {
                    let joined =
                        self.join_values((&mut *then, Value::Scalar(yes)), (&mut *otherwise, Value::Scalar(no)), span)?;
                    self.as_scalar(joined, span)
                };
                let (re, im) = (join(yes.re, no.re)?, join(yes.im, no.im)?);
                Ok(super::complex::Complex { re, im }.value())
            }
            (Value::ComplexArray(yes), Value::ComplexArray(no)) if yes == no => Ok(Value::ComplexArray(yes)),
            (Value::ComplexType(yes), Value::ComplexType(no)) if yes == no => Ok(Value::ComplexType(yes)),
            (Value::Array(yes), Value::Array(no)) if yes == no => Ok(Value::Array(yes)),
            (Value::Type(yes), Value::Type(no)) if yes == no => Ok(Value::Type(yes)),
            (Value::Function(yes), Value::Function(no)) if yes == no => Ok(Value::Function(yes)),
            (Value::Nothing, Value::Nothing) => Ok(Value::Nothing),
            (yes @ (Value::Scalar(_) | Value::Irrational(..)), no @ (Value::Scalar(_) | Value::Irrational(..))) => {
                let (yes, no) = (self.as_scalar(yes, span)?, self.as_scalar(no, span)?);
                self.same_types(&yes, &no)?;
                let target = self.joined("result", yes.ty, span);
                let mode = self.mode;
                then.push(super::flow::set(target, yes, mode));
                otherwise.push(super::flow::set(target, no, mode));
                Ok(Value::Scalar(self.read(target, span)))
            }
            (_, _) => Err(self.fail(TypeError::BranchResult { span })),
        }
    }

    /// The argument that a branch gives back, as its position.
    pub(super) fn join_arguments(
        &mut self,
        (then, yes): (&mut Block, Tail),
        (otherwise, no): (&mut Block, Tail),
        span: Span,
    ) -> Checked<Tail> {
        let (yes, mut arrays) = self.position_of(yes)?;
        let (no, others) = self.position_of(no)?;
        arrays.extend(others);
        arrays.sort_unstable();
        arrays.dedup();
        let target = self.joined("position", ScalarType::I64, span);
        let mode = self.mode;
        then.push(super::flow::set(target, yes, mode));
        otherwise.push(super::flow::set(target, no, mode));
        Ok(Tail::Choice(target, arrays, span))
    }

    fn position_of(&mut self, tail: Tail) -> Checked<(Expr, Vec<LocalId>)> {
        match tail {
            Tail::Argument(array, span) => Ok((self.argument_position(array, span)?, vec![array])),
            Tail::Choice(position, arrays, span) => Ok((self.read(position, span), arrays)),
            Tail::Nothing | Tail::Scalar(_) | Tail::Tuple(..) | Tail::OneOf(..) | Tail::Other(..) | Tail::Failed => {
                Err(Reported)
            }
        }
    }
}

const NOWHERE: Span = Span { file: tessella_diagnostics::FileId(0), start: 0, end: 0 };

/// Numbers of two types as numbers of the type that either is converted to where it goes, if that cannot fail.
fn converted(yes: Value, no: Value, ty: ScalarType) -> (Value, Value) {
    match (yes, no) {
        (Value::Scalar(yes), Value::Scalar(no))
            if yes.ty != no.ty && super::convert::is_total(yes.ty, ty) && super::convert::is_total(no.ty, ty) =>
        {
            (Value::Scalar(super::convert::widen(yes, ty)), Value::Scalar(super::convert::widen(no, ty)))
        }
        other => other,
    }
}
