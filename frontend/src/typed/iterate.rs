//! `for` loops and the ranges they run over.

use super::check::{Checked, Checker, Reported};
use super::compare::compare;
use super::convert::{constant_integer, promote};
use super::error::TypeError;
use super::operator::binary;
use super::scope::{Scope, State, is_assigned};
use super::tree::{Expr, ExprKind, LocalId, LoopId, LoopMode, Range, Role, Simd, SizeError, StatementKind, Type};
use super::unsupported::Construct;
use super::value::{Kind, RangeValue, Value};
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Intrinsic, ScalarType};

impl Checker<'_> {
    /// `for i in a, j in b ... end`: one loop inside the other.
    pub(super) fn for_loop(
        &mut self,
        iterations: &[ast::Iteration],
        body: &[ast::Expr],
        simd: Simd,
        span: Span,
    ) -> Checked<()> {
        let Some((iteration, rest)) = iterations.split_first() else {
            self.with_joint_iterators(|checker| checker.loop_body(body, span));
            return Ok(());
        };
        if let Some(positions) = self.positions_in_tuples(iteration, rest, body) {
            return self.for_each(positions, iteration, rest, body, span);
        }
        if let (Simd::No, Some(offsets)) = (simd, self.offsets_of_terms(iteration, rest, body)) {
            return self.for_terms(offsets, iteration, rest, body, span);
        }
        if self.is_tuple(&iteration.range) {
            return self.for_tuple(iteration, rest, body, span);
        }
        if self.is_collection(&iteration.range) {
            return self.for_collection(iteration, rest, body, simd, span);
        }
        if let Some(step) = self.variable_step(&iteration.range) {
            return step.and_then(|step| self.for_steps(step, iteration, rest, body, simd, span));
        }
        let single = std::mem::take(&mut self.flow.single);
        let iterated = self.iterated(iteration);
        let element = iterated.as_ref().map_or(ScalarType::I64, |(_, element)| *element);
        let range = iterated.map(|(range, _)| self.steady(range, body));
        if single
            && rest.is_empty()
            && let Ok(range) = &range
        {
            self.require_run(range, span)?;
        }
        let name = match &iteration.target.kind {
            ast::ExprKind::Name(name) => Ok(name.as_str()),
            ast::ExprKind::Tuple(_) if range.is_err() => Err(Reported),
            ast::ExprKind::Tuple(_) => self.not_yet(Construct::Iterator, iteration.target.span),
            _ => {
                let why = "an iteration variable must be a name";
                let error =
                    TypeError::NotAssignable { name: "this expression".into(), span: iteration.target.span, why };
                Err(self.fail(error))
            }
        };
        let id = LoopId(self.loop_count);
        self.loop_count += 1;
        let before = self.assigned.clone();
        let keep = std::mem::replace(&mut self.keep, false);
        self.loops.push(id);
        self.scopes.push(Scope::new());
        // The body is checked even where the range is not understood: its errors are its own.
        let at = iteration.target.span;
        let iterator =
            self.named_local(name.unwrap_or("#iterator"), Type::Scalar(ScalarType::I64), Role::Iterator(id), at);
        match name {
            Ok(name) => {
                let state = match (&range, element) {
                    (Err(_), _) => State::Poisoned,
                    (Ok(_), ScalarType::I64) => State::Scalar(iterator),
                    (Ok(_), _) => State::Alias(Value::Scalar(self.narrow(iterator, element, at))),
                };
                let variable = self.declare(name, at, state);
                self.assigned.insert(variable);
            }
            Err(_) => self.poison_targets(&iteration.target),
        }
        let joint = self.joint.len();
        let (block, inner) = self.in_block(|checker| {
            if let Ok(name) = name
                && range.is_ok()
                && is_assigned(name, body)
            {
                let value = checker.narrow(iterator, element, at);
                checker.joint.push((name.to_string(), value));
            }
            checker.flow.range = match &range {
                Ok(range) if single && rest.is_empty() => Some((iterator, range.clone())),
                Ok(_) | Err(_) => None,
            };
            checker.for_loop(rest, body, simd.inside(), span)
        });
        self.joint.truncate(joint);
        self.scopes.pop();
        self.loops.pop();
        self.assigned = before;
        self.keep = keep;
        inner?;
        let RangeValue { start, step, stop } = range?;
        let range = Range { start, step, stop };
        self.emit(StatementKind::For { id, iterator, range, mode: LoopMode { simd }, body: block }, span);
        Ok(())
    }

    /// Runs what checks an innermost body, in which the iterators of all loops of the statement that it assigns begin anew: in
    /// `for k in a, p in b`, each iteration of `p` has `k` as `a` gives it.
    pub(super) fn with_joint_iterators(&mut self, check: impl FnOnce(&mut Self)) {
        let joint = std::mem::take(&mut self.joint);
        for (name, value) in &joint {
            self.make_assignable(name, value.clone());
        }
        check(self);
        self.joint = joint;
    }

    fn poison_targets(&mut self, target: &ast::Expr) {
        if let ast::ExprKind::Tuple(elements) = &target.kind {
            for element in elements {
                if let ast::ExprKind::Name(name) = &element.value.kind {
                    let variable = self.declare(name, element.value.span, State::Poisoned);
                    self.assigned.insert(variable);
                }
            }
        }
    }

    /// The step of `a:s:b`, if it is an `Int64` that is known at run time only.
    fn variable_step(&mut self, range: &ast::Expr) -> Option<Checked<Expr>> {
        let ast::ExprKind::Range { step: Some(step), .. } = &range.kind else { return None };
        if matches!(step.kind, ast::ExprKind::Integer(_)) {
            return None;
        }
        match self.value(step) {
            Ok(Value::Scalar(value)) if value.ty == ScalarType::I64 => {
                let value = super::constant::folded(value);
                constant_integer(&value).is_none().then_some(Ok(value))
            }
            Ok(_) => None,
            Err(reported) => Some(Err(reported)),
        }
    }

    /// `for i in a:s:b` as a loop over the number of the step, with `i` a variable at the start of its body.
    fn for_steps(
        &mut self,
        step: Expr,
        iteration: &ast::Iteration,
        rest: &[ast::Iteration],
        body: &[ast::Expr],
        simd: Simd,
        span: Span,
    ) -> Checked<()> {
        let ast::ExprKind::Range { start, stop, .. } = &iteration.range.kind else {
            unreachable!("what has a step is a range")
        };
        let at = iteration.range.span;
        let (first, last) = (self.bound(start), self.bound(stop));
        let (first, last) = (self.coerce(first?, ScalarType::I64, None)?, self.coerce(last?, ScalarType::I64, None)?);
        let (first, last, step) =
            (self.settled("first", first), self.settled("last", last), self.settled("step", step));
        let zero = || Expr::int64(0, at);
        let nonzero = compare(CompareOp::Ne, step.clone(), zero(), at);
        self.require(nonzero, SizeError::Thrown, "ArgumentError: step cannot be zero", at)?;
        let up = compare(CompareOp::Gt, step.clone(), zero(), at);
        let minus = |a: &Expr, b: &Expr| binary(BinaryOp::Sub, a.clone(), b.clone(), at);
        let distance = super::operator::if_else(up, minus(&last, &first), minus(&first, &last), at);
        let size = super::operator::intrinsic(Intrinsic::Abs, vec![step.clone()], ScalarType::I64, at);
        // Where it is zero the loop is not reached.
        let size = binary(BinaryOp::Max, size, Expr::int64(1, at), at);
        let turns = binary(BinaryOp::DivFloor, distance, size, at);
        let range = RangeValue { start: zero(), step: 1, stop: self.hold("steps", turns) };
        self.scopes.push(Scope::new());
        for (name, value) in
            [("#steps", Value::Range(range)), ("#first", Value::Scalar(first)), ("#step", Value::Scalar(step))]
        {
            let variable = self.declare(name, at, State::Alias(value));
            self.assigned.insert(variable);
        }
        let name = |name: &str| super::jumps::name(name, at);
        let distance = super::jumps::infix("*", name("#turn"), name("#step"), at);
        let value = super::jumps::infix("+", name("#first"), distance, at);
        let mut inner = vec![super::arrays::local(&iteration.target, value)];
        match rest {
            [] => inner.extend(body.iter().cloned()),
            _ => {
                let kind = ast::ExprKind::For { iterations: rest.to_vec(), body: body.to_vec() };
                inner.push(ast::Expr { kind, span });
            }
        }
        let turns = ast::Iteration { target: name("#turn"), range: name("#steps"), span: iteration.span };
        let done = self.for_loop(&[turns], &inner, simd, span);
        self.scopes.pop();
        done
    }

    /// An iterator, which counts in `Int64`s, as a value of the range's own type, which holds all its values.
    fn narrow(&self, iterator: LocalId, element: ScalarType, span: Span) -> Expr {
        let count = self.read(iterator, span);
        match element {
            ScalarType::I64 => count,
            _ => Expr { kind: ExprKind::Wrap(Box::new(count)), ty: element, span },
        }
    }

    /// The range of a loop, as `Int64`s, and the type of its elements.
    fn iterated(&mut self, iteration: &ast::Iteration) -> Checked<(RangeValue, ScalarType)> {
        let span = iteration.range.span;
        if let ast::ExprKind::Call { callee, .. } = &iteration.range.kind
            && let Some(name) = self.library_name(callee)
            && ["enumerate", "zip", "pairs", "CartesianIndices", "Iterators.reverse", "product"].contains(&name)
        {
            return self.not_yet(Construct::Iterator, span);
        }
        if let ast::ExprKind::Range { start, step, stop } = &iteration.range.kind {
            return self.typed_range(start, step.as_deref(), stop);
        }
        match self.value(&iteration.range)? {
            Value::Range(range) => Ok((range, ScalarType::I64)),
            Value::Array(_) => self.not_yet(Construct::Iterator, span),
            Value::Tuple(_) => self.not_yet(Construct::Iterator, span),
            other => {
                let found = self.kind(&other);
                Err(self.fail(TypeError::NotIterable { found, span }))
            }
        }
    }

    /// `start:step:stop`.
    pub(super) fn range(
        &mut self,
        start: &ast::Expr,
        step: Option<&ast::Expr>,
        stop: &ast::Expr,
    ) -> Checked<RangeValue> {
        let (range, ty) = self.typed_range(start, step, stop)?;
        match ty {
            ScalarType::I64 => Ok(range),
            _ => Err(self.fail(TypeError::RangeType { found: Kind::Scalar(ty), span: start.span.to(stop.span) })),
        }
    }

    fn bound(&mut self, bound: &ast::Expr) -> Checked<Expr> {
        match self.value(bound)? {
            Value::Tuple(_) => Err(self.fail(TypeError::RangeType { found: Kind::Tuple, span: bound.span })),
            value => self.as_scalar(value, bound.span),
        }
    }

    /// A range of integers of any width but `UInt64`: its ends as `Int64`s, and the type of its elements.
    fn typed_range(
        &mut self,
        start: &ast::Expr,
        step: Option<&ast::Expr>,
        stop: &ast::Expr,
    ) -> Checked<(RangeValue, ScalarType)> {
        let start_value = self.bound(start);
        let step_value = step.map(|step| self.bound(step));
        let stop_value = self.bound(stop);
        let (first, last) = (start_value?, stop_value?);
        let mut ty = promote(first.ty, last.ty);
        let step_size = match (step, step_value) {
            (Some(step), Some(value)) => {
                let value = value?;
                ty = promote(ty, value.ty);
                match constant_integer(&super::constant::folded(value.clone()))
                    .and_then(|size| i64::try_from(size).ok())
                {
                    Some(0) => return Err(self.fail(TypeError::Step { span: step.span, zero: true })),
                    Some(size) => size,
                    None if value.ty.is_float() => {
                        let found = Kind::Scalar(value.ty);
                        return Err(self.fail(TypeError::RangeType { found, span: step.span }));
                    }
                    None => return Err(self.fail(TypeError::Step { span: step.span, zero: false })),
                }
            }
            (_, _) => 1,
        };
        if !ty.is_integer() || matches!(ty, ScalarType::Bool | ScalarType::U64) {
            // The user must change the bound that is not an `Int64`.
            let (found, span) = if first.ty == ScalarType::I64 { (last.ty, stop.span) } else { (first.ty, start.span) };
            return Err(self.fail(TypeError::RangeType { found: Kind::Scalar(found), span }));
        }
        let first = self.coerce(first, ScalarType::I64, None)?;
        let last = self.coerce(last, ScalarType::I64, None)?;
        Ok((RangeValue { start: first, step: step_size, stop: last }, ty))
    }

    /// `1:stop`.
    pub(super) fn one_to(&mut self, stop: Expr, span: Span) -> Value {
        Value::Range(RangeValue { start: Expr::int64(1, span), step: 1, stop })
    }
}
