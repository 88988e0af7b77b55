//! Tuples: elements by position, and loops over them.
//!
//! A tuple has no memory. An element whose position is a variable is chosen among all of them, and a loop over a tuple
//! is its body once for each element; so is a short loop over positions in tuples:
//!
//! ```text
//! w[q], of w = (a, b, b)     ->   q == 1 ? a : b, if 1 <= q <= 3
//! for A in (u, v) ... end    ->   A = u; ...; A = v; ...
//! ```

use super::check::{Checked, Checker, Indexed};
use super::compare::compare;
use super::constant::folded;
use super::convert::constant_integer;
use super::error::TypeError;
use super::operator::{binary, if_else, unary};
use super::scope::State;
use super::statement::Place;
use super::tree::{Expr, SizeError};
use super::value::{RangeValue, Value};
use crate::ast;
use std::collections::BTreeSet;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, UnaryOp};

/// Whether an expression gives a tuple, as far as can be seen without evaluating it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GivesTuple {
    No,
    Perhaps,
    Surely,
}

/// Loops over positions in tuples with more iterations stay loops.
const MOST_COPIES: i64 = 16;

/// Tuples with more elements are not gone through one by one.
const LONGEST: usize = 64;

impl Checker<'_> {
    /// `(x, y)`, `(t..., x)`, `(a = x, b = y)`, `(; a, b = y)`.
    pub(super) fn tuple(&mut self, elements: &[ast::Argument]) -> Checked<Value> {
        if elements.iter().any(|element| element.keyword.is_some() || element.section == ast::Section::Keywords) {
            return self.named_tuple(elements);
        }
        let mut values = vec![];
        for element in elements {
            match &element.value.kind {
                ast::ExprKind::Splat(inner) => match self.value(inner) {
                    Ok(Value::Tuple(more) | Value::Named(_, more)) => values.extend(more.into_iter().map(Ok)),
                    Ok(_) => values.push(self.not_yet(super::unsupported::Construct::Splat, element.value.span)),
                    Err(reported) => values.push(Err(reported)),
                },
                _ => values.push(self.value(&element.value)),
            }
        }
        values.into_iter().collect::<Checked<Vec<Value>>>().map(Value::Tuple)
    }

    /// The element of a tuple at a position.
    pub(super) fn tuple_element(&mut self, values: Vec<Value>, position: Expr, at: Span, span: Span) -> Checked<Value> {
        if let Some(position) = constant_integer(&position) {
            let place = usize::try_from(position - 1).ok();
            let value = place.and_then(|place| values.get(place).cloned());
            let length = values.len();
            let others = values.iter().enumerate().filter(|(other, _)| Some(*other) != place);
            others.into_iter().try_for_each(|(_, value)| self.keep_reads(value))?;
            return value.ok_or_else(|| self.fail(TypeError::OutsideTuple { position, length, span: at }));
        }
        let unlike = |checker: &mut Self| {
            Err(checker.fail(TypeError::NotConstant { what: "the position in a tuple of several types", span: at }))
        };
        if let Some(columns) = columns(&values) {
            let position = self.share(position);
            let chosen = columns.into_iter().map(|column| self.tuple_element(column, position.clone(), at, span));
            return chosen.collect::<Checked<Vec<Value>>>().map(Value::Tuple);
        }
        let mut elements = vec![];
        for value in values {
            match value {
                value @ (Value::Scalar(_) | Value::Irrational(..)) => {
                    elements.push(folded(self.as_scalar(value, span)?))
                }
                _ => return unlike(self),
            }
        }
        let (Some(first), true) = (elements.first(), position.ty.is_integer() && elements.len() <= LONGEST) else {
            return unlike(self);
        };
        let ty = first.ty;
        if elements.iter().any(|element| element.ty != ty) {
            return unlike(self);
        }
        let position = self.share(position);
        let number = |value: usize| Expr::number(position.ty, value as i128, at);
        let is = |op: CompareOp, value: usize| compare(op, position.clone(), number(value), at);
        if !self.mode.inbounds {
            let inside = binary(BinaryOp::AndAlso, is(CompareOp::Ge, 1), is(CompareOp::Le, elements.len()), at);
            self.require(inside, SizeError::Thrown, "BoundsError: a position in a tuple is outside", at)?;
        }
        // Equal elements are one case; the last is what remains.
        let mut cases: Vec<(Expr, Vec<usize>)> = vec![];
        for (place, element) in elements.into_iter().enumerate() {
            let alike = |case: &&mut (Expr, Vec<usize>)| {
                element.as_constant().is_some() && case.0.as_constant() == element.as_constant()
            };
            match cases.iter_mut().find(alike) {
                Some((_, places)) => places.push(place + 1),
                None => cases.push((element, vec![place + 1])),
            }
        }
        let Some((last, _)) = cases.pop() else { return unlike(self) };
        let chosen = cases.into_iter().rev().fold(last, |rest, (element, places)| {
            let tests = places.into_iter().map(|place| is(CompareOp::Eq, place));
            let either = |a: Expr, b: Expr| binary(BinaryOp::OrElse, a, b, at);
            match tests.reduce(either) {
                Some(test) => if_else(test, element, rest, span),
                None => rest,
            }
        });
        Ok(Value::Scalar(chosen.placed(span)))
    }

    /// `t[a:b]` with positions that are constants.
    pub(super) fn part_of_tuple(&mut self, values: Vec<Value>, part: RangeValue, span: Span) -> Checked<Value> {
        let (start, stop) = (constant_integer(&folded(part.start)), constant_integer(&folded(part.stop)));
        let (Some(start), Some(stop)) = (start, stop) else {
            return Err(self.fail(TypeError::NotConstant { what: "a part of a tuple", span }));
        };
        let (mut at, mut chosen) = (start, vec![]);
        while if part.step > 0 { at <= stop } else { at >= stop } {
            let length = values.len();
            match usize::try_from(at - 1).ok().and_then(|place| values.get(place)) {
                Some(value) => chosen.push(value.clone()),
                None => return Err(self.fail(TypeError::OutsideTuple { position: at, length, span })),
            }
            at += i128::from(part.step);
        }
        Ok(Value::Tuple(chosen))
    }

    /// `ntuple(f, n)` with a constant `n`.
    pub(super) fn ntuple(&mut self, function: &ast::Expr, count: &ast::Expr, span: Span) -> Checked<Value> {
        let Value::Function(callee) = self.value(function)? else {
            return self.not_yet(super::unsupported::Construct::FunctionValue, function.span);
        };
        let length = self.scalar(count)?;
        let length = constant_integer(&folded(length)).filter(|length| *length <= LONGEST as i128);
        let Some(length) = length.and_then(|length| i64::try_from(length).ok()) else {
            let what = "the length of a tuple, 64 at most,";
            return Err(self.fail(TypeError::NotConstant { what, span: count.span }));
        };
        let mut values = vec![];
        for at in 1..=length {
            let positional = vec![(Value::Scalar(Expr::int64(at, span)), span)];
            let value = self.inline(&callee, super::inline::Given { positional, keywords: vec![] }, false, span)?;
            values.push(self.frozen(value));
        }
        Ok(Value::Tuple(values))
    }

    /// `f.(t, u)`, `f.(t, 2)` or `map(f, t, u)` of tuples, as far as can be seen without evaluating it: the function, and what it is applied to.
    pub(super) fn over_tuples<'e>(
        &self,
        callee: &'e ast::Expr,
        arguments: &'e [ast::Argument],
        broadcast: ast::Broadcast,
    ) -> Option<(&'e ast::Expr, Vec<&'e ast::Expr>)> {
        let plain = |it: &ast::Argument| it.keyword.is_none() && it.section == ast::Section::Main;
        let values = || arguments.iter().map(|it| &it.value);
        let surely = |it: &ast::Expr| self.gives_tuple(it) == GivesTuple::Surely;
        let is_map = self.library_name(callee) == Some("map");
        match (broadcast, is_map) {
            (ast::Broadcast::Yes, _) if arguments.iter().all(plain) && values().any(&surely) => {
                Some((callee, values().collect()))
            }
            (ast::Broadcast::No, true)
                if arguments.len() > 1 && arguments.iter().all(plain) && values().skip(1).all(&surely) =>
            {
                Some((values().next()?, values().skip(1).collect()))
            }
            _ => None,
        }
    }

    /// Whether an expression gives a tuple, as far as its form tells.
    pub(super) fn gives_tuple(&self, expr: &ast::Expr) -> GivesTuple {
        let if_so = |is_tuple: bool, else_: GivesTuple| if is_tuple { GivesTuple::Surely } else { else_ };
        match &expr.kind {
            ast::ExprKind::Tuple(_) => GivesTuple::Surely,
            ast::ExprKind::Name(_) => if_so(self.is_tuple(expr), GivesTuple::Perhaps),
            ast::ExprKind::Index { base, .. } => match base.kind {
                ast::ExprKind::Name(_) if !self.is_tuple(base) => GivesTuple::No,
                _ => self.gives_tuple(base).min(GivesTuple::Perhaps),
            },
            ast::ExprKind::Call { callee, arguments, broadcast } => {
                if self.over_tuples(callee, arguments, *broadcast).is_some() {
                    return GivesTuple::Surely;
                }
                match (self.library_name(callee), broadcast) {
                    (Some("size"), ast::Broadcast::No) => if_so(arguments.len() == 1, GivesTuple::Perhaps),
                    (Some("ntuple" | "Tuple"), ast::Broadcast::No) => GivesTuple::Perhaps,
                    (None, ast::Broadcast::No) if matches!(callee.kind, ast::ExprKind::Name(_)) => GivesTuple::Perhaps,
                    (_, _) => GivesTuple::No,
                }
            }
            ast::ExprKind::Infix { operator, left, right } if operator.value.dotted => {
                self.gives_tuple(left).max(self.gives_tuple(right))
            }
            _ => GivesTuple::No,
        }
    }

    /// A function of the first elements of all tuples, of the second ones, and so on; numbers belong to all.
    pub(super) fn tuple_call(&mut self, function: &ast::Expr, arguments: &[&ast::Expr], span: Span) -> Checked<Value> {
        let mut given = vec![];
        for argument in arguments {
            let value = match self.value(argument)? {
                value @ Value::Tuple(_) => value,
                other => Value::Scalar(self.as_scalar(other, argument.span)?),
            };
            // All arguments are evaluated before the function runs for the first time.
            given.push(self.frozen(value));
        }
        let lengths: BTreeSet<usize> = given.iter().filter_map(Value::elements).map(<[Value]>::len).collect();
        let [length] = lengths.iter().copied().collect::<Vec<_>>()[..] else {
            let mut counts = lengths.iter().map(|length| format!("{length} elements"));
            let (left, right) = (counts.next().unwrap_or_default(), counts.next().unwrap_or_default());
            return Err(self.fail(TypeError::Array(super::arrays::ArrayError::Mismatch { left, right, span })));
        };
        let mut values = vec![];
        for place in 0..length {
            let mut named = vec![];
            for value in &given {
                let of_place = value.elements().map_or_else(|| value.clone(), |all| all[place].clone());
                let name = self.hidden("part", of_place, span);
                let value = ast::Expr { kind: ast::ExprKind::Name(name), span };
                named.push(ast::Argument { keyword: None, value, section: ast::Section::Main });
            }
            let callee = Box::new(function.clone());
            let call = ast::ExprKind::Call { callee, arguments: named, broadcast: ast::Broadcast::No };
            let value = self.value(&ast::Expr { kind: call, span })?;
            values.push(self.frozen(value));
        }
        Ok(Value::Tuple(values))
    }

    /// `t .+ 1`, `t .* u`: a tuple again.
    pub(super) fn tuple_infix(
        &mut self,
        symbol: &str,
        left: Value,
        right: Value,
        spans: (Span, Span),
        span: Span,
    ) -> Checked<Value> {
        let length = match (&left, &right) {
            (Value::Tuple(left), Value::Tuple(right)) if left.len() != right.len() => {
                let count = |values: &[Value]| format!("{} elements", values.len());
                let error = super::arrays::ArrayError::Mismatch { left: count(left), right: count(right), span };
                return Err(self.fail(TypeError::Array(error)));
            }
            (Value::Tuple(values), _) | (_, Value::Tuple(values)) => values.len(),
            (_, _) => 0,
        };
        let at = |value: &Value, place: usize| match value {
            Value::Tuple(values) => values[place].clone(),
            other => other.clone(),
        };
        let elements =
            (0..length).map(|place| self.binary_values(symbol, at(&left, place), at(&right, place), spans, span));
        elements.collect::<Checked<Vec<Value>>>().map(Value::Tuple)
    }

    /// `==` and `!=` of tuples and of ranges; `None` for all else.
    pub(super) fn tuples_equal(
        &mut self,
        symbol: &str,
        left: &Value,
        right: &Value,
        spans: (Span, Span),
        span: Span,
    ) -> Option<Checked<Expr>> {
        let negated = match symbol {
            "==" => false,
            "!=" | "≠" => true,
            _ => return None,
        };
        let both = |a: Expr, b: Expr| binary(BinaryOp::AndAlso, a, b, span);
        let equal = match (left, right) {
            (Value::Tuple(left), Value::Tuple(right)) if left.len() == right.len() => {
                let pairs = left.iter().zip(right);
                let each =
                    pairs.map(|(left, right)| self.compare_values("==", left.clone(), right.clone(), spans, span));
                match each.collect::<Checked<Vec<Expr>>>() {
                    Ok(each) => each.into_iter().reduce(both).unwrap_or_else(|| truth(true, span)),
                    Err(reported) => return Some(Err(reported)),
                }
            }
            (Value::Tuple(_), Value::Tuple(_)) => truth(false, span),
            // Ranges without elements are equal, whatever their ends are.
            (Value::Range(left), Value::Range(right)) if left.step == 1 && right.step == 1 => {
                let is = |op: CompareOp, left: &Expr, right: &Expr| compare(op, left.clone(), right.clone(), span);
                let empty = |range: &RangeValue| is(CompareOp::Gt, &range.start, &range.stop);
                let ends =
                    both(is(CompareOp::Eq, &left.start, &right.start), is(CompareOp::Eq, &left.stop, &right.stop));
                binary(BinaryOp::OrElse, both(empty(left), empty(right)), ends, span)
            }
            (_, _) => return None,
        };
        Some(Ok(if negated { unary(UnaryOp::Not, equal, span) } else { equal }))
    }

    /// `r[a:b]` of a range with step 1.
    pub(super) fn part_of_range(&mut self, range: RangeValue, subscript: &ast::Expr, span: Span) -> Checked<Value> {
        let one = Expr::int64(1, span);
        let plus = |a: Expr, b: Expr| binary(BinaryOp::Add, a, b, span);
        let minus = |a: Expr, b: Expr| binary(BinaryOp::Sub, a, b, span);
        let length = plus(minus(range.stop.clone(), range.start.clone()), one.clone());
        self.indexed.push(Indexed::Axis { first: one.clone(), last: length.clone() });
        let part = self.value(subscript);
        self.indexed.pop();
        let part = match part? {
            Value::Range(part) if part.step == 1 => part,
            other => {
                let found = self.kind(&other);
                return Err(self.fail(TypeError::NotIterable { found, span: subscript.span }));
            }
        };
        let is = |op: CompareOp, left: &Expr, right: &Expr| compare(op, left.clone(), right.clone(), span);
        let both = |a: Expr, b: Expr| binary(BinaryOp::AndAlso, a, b, span);
        if !self.mode.inbounds {
            let inside = both(is(CompareOp::Ge, &part.start, &one), is(CompareOp::Le, &part.stop, &length));
            let fits = binary(BinaryOp::OrElse, is(CompareOp::Gt, &part.start, &part.stop), inside, span);
            self.require(fits, SizeError::Thrown, "BoundsError: a part of a range is outside", span)?;
        }
        let moved = |end: Expr| minus(plus(range.start.clone(), end), one.clone());
        Ok(Value::Range(RangeValue { start: moved(part.start), step: 1, stop: moved(part.stop) }))
    }

    /// Whether a loop runs over a tuple, as far as can be seen without evaluating it.
    pub(super) fn is_tuple(&self, iterated: &ast::Expr) -> bool {
        match &iterated.kind {
            ast::ExprKind::Tuple(_) => true,
            ast::ExprKind::Name(name) => match self.lookup(name) {
                Some(variable) => matches!(self.variables[variable.0].state, State::Alias(Value::Tuple(_))),
                None => {
                    self.constants.iter().any(|it| it.name == *name && matches!(it.value.kind, ast::ExprKind::Tuple(_)))
                }
            },
            ast::ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No } => {
                matches!(self.library_name(callee), Some("zip" | "enumerate"))
                    && !arguments.is_empty()
                    && arguments.iter().all(|argument| argument.keyword.is_none() && self.is_tuple(&argument.value))
            }
            _ => false,
        }
    }

    /// What a loop over such an expression goes through.
    fn tuple_elements(&mut self, iterated: &ast::Expr) -> Checked<Vec<Value>> {
        let ast::ExprKind::Call { callee, arguments, .. } = &iterated.kind else {
            return match self.value(iterated)? {
                Value::Tuple(values) => Ok(values),
                other => {
                    let found = self.kind(&other);
                    Err(self.fail(TypeError::NotIterable { found, span: iterated.span }))
                }
            };
        };
        let mut columns = vec![];
        for argument in arguments {
            columns.push(self.tuple_elements(&argument.value)?);
        }
        let length = columns.iter().map(Vec::len).min().unwrap_or(0);
        if self.library_name(callee) == Some("enumerate") {
            let count = |at: usize| Value::Scalar(Expr::int64(at as i64 + 1, iterated.span));
            columns.insert(0, (0..length).map(count).collect());
        }
        let row = |at: usize| Value::Tuple(columns.iter().map(|column| column[at].clone()).collect());
        Ok((0..length).map(row).collect())
    }

    /// `for target in tuple, rest... body end`.
    pub(super) fn for_tuple(
        &mut self,
        iteration: &ast::Iteration,
        rest: &[ast::Iteration],
        body: &[ast::Expr],
        span: Span,
    ) -> Checked<()> {
        let elements = self.tuple_elements(&iteration.range)?;
        self.for_terms(elements, iteration, rest, body, span)
    }

    /// The values of an iterator that is a position in tuples, if they are few: then the elements are constants, and
    /// subscripts that they are part of are affine.
    pub(super) fn positions_in_tuples(
        &self,
        iteration: &ast::Iteration,
        rest: &[ast::Iteration],
        body: &[ast::Expr],
    ) -> Option<Vec<Value>> {
        let ast::ExprKind::Name(iterator) = &iteration.target.kind else { return None };
        let (first, last) = match &iteration.range.kind {
            ast::ExprKind::Range { start, step: None, stop } => {
                (self.written_integer(start)?, self.written_integer(stop)?)
            }
            _ => (1, self.tuple_length("eachindex", &iteration.range)?),
        };
        let is_short = first <= last && last - first < MOST_COPIES;
        let ranges = rest.iter().map(|iteration| &iteration.range);
        if !is_short || !ranges.chain(body).any(|part| self.subscripts_tuple(part, iterator)) {
            return None;
        }
        Some((first..=last).map(|value| Value::Scalar(Expr::int64(value, iteration.range.span))).collect())
    }

    /// An integer as it is written, or that of a constant of the file, or the length of a tuple.
    fn written_integer(&self, expr: &ast::Expr) -> Option<i64> {
        match &expr.kind {
            ast::ExprKind::Integer(text) => text.parse().ok(),
            ast::ExprKind::Name(name) if self.lookup(name).is_none() => {
                let constant = self.constants.iter().find(|it| it.name == *name)?;
                match &constant.value.kind {
                    ast::ExprKind::Integer(text) => text.parse().ok(),
                    _ => None,
                }
            }
            _ => self.tuple_length("length", expr),
        }
    }

    /// The length of the tuple that a function is called with.
    fn tuple_length(&self, function: &str, call: &ast::Expr) -> Option<i64> {
        let ast::ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No } = &call.kind else { return None };
        let [ast::Argument { keyword: None, value: ast::Expr { kind: ast::ExprKind::Name(tuple), .. }, .. }] =
            arguments.as_slice()
        else {
            return None;
        };
        if self.library_name(callee) != Some(function) {
            return None;
        }
        let length = match self.lookup(tuple) {
            Some(variable) => match &self.variables[variable.0].state {
                State::Alias(Value::Tuple(values)) => values.len(),
                _ => return None,
            },
            None => match &self.constants.iter().find(|it| it.name == *tuple)?.value.kind {
                ast::ExprKind::Tuple(values) => values.len(),
                _ => self.short_constant_vector(tuple)?,
            },
        };
        i64::try_from(length).ok()
    }

    /// Whether a tuple has a subscript with this name in it, somewhere in the expression.
    fn subscripts_tuple(&self, expr: &ast::Expr, name: &str) -> bool {
        let here = match &expr.kind {
            ast::ExprKind::Index { base, subscripts } => {
                matches!(&base.kind, ast::ExprKind::Name(name)
                    if self.is_tuple(base) || self.short_constant_vector(name).is_some())
                    && subscripts.iter().any(|subscript| super::walk::mentions(&subscript.value, &[name]))
            }
            _ => false,
        };
        here || super::walk::parts(expr).into_iter().any(|part| self.subscripts_tuple(part, name))
    }

    /// A loop as its body once for each value of the iterator.
    pub(super) fn for_each(
        &mut self,
        elements: Vec<Value>,
        iteration: &ast::Iteration,
        rest: &[ast::Iteration],
        body: &[ast::Expr],
        span: Span,
    ) -> Checked<()> {
        if elements.len() > LONGEST {
            let what = "the length of a tuple that a loop runs over, 64 at most,";
            return Err(self.fail(TypeError::NotConstant { what, span: iteration.range.span }));
        }
        let at = iteration.range.span;
        let hidden = ast::Expr { kind: ast::ExprKind::Name("#element".into()), span: at };
        let mut statements = vec![super::arrays::local(&iteration.target, hidden)];
        let body = match rest {
            [] => body.to_vec(),
            _ => {
                // Where the body assigns the iterator, each iteration of the other loops has it as it was.
                let names = super::scope::assigned_names(&statements);
                let anew = statements.iter().filter(|_| names.iter().any(|name| super::scope::is_assigned(name, body)));
                let body = anew.chain(body).cloned().collect();
                vec![ast::Expr { kind: ast::ExprKind::For { iterations: rest.to_vec(), body }, span }]
            }
        };
        statements.extend(body);
        // In each copy of the body the iterators are constants, unless the body assigns them.
        let once = self.flow.once.clone();
        for name in super::scope::assigned_names(&statements[..1]) {
            match super::scope::is_assigned(&name, &statements[1..]) {
                true => self.flow.once.remove(&name),
                false => self.flow.once.insert(name),
            };
        }
        let (tail, copy, keep) = (self.flow.tail, self.flow.copy, std::mem::replace(&mut self.keep, false));
        for (turn, element) in elements.into_iter().enumerate() {
            self.flow.tail = false;
            self.flow.copy = copy + turn;
            self.flow.range = None;
            self.flow.single = false;
            self.scopes.push(Default::default());
            let variable = self.declare("#element", at, State::Alias(element));
            self.assigned.insert(variable);
            self.scopes.push(Default::default());
            self.declare_assigned(&statements);
            match rest {
                [] => self.with_joint_iterators(|checker| {
                    checker.body(&statements, Place::Middle);
                }),
                _ => {
                    self.body(&statements, Place::Middle);
                }
            }
            self.scopes.pop();
            self.scopes.pop();
        }
        self.flow.tail = tail;
        self.flow.copy = copy;
        self.flow.once = once;
        self.keep = keep;
        Ok(())
    }
}

/// Of tuples of one length, the first elements of all, the second elements of all, and so on.
fn columns(values: &[Value]) -> Option<Vec<Vec<Value>>> {
    let rows = values.iter().map(|value| match value {
        Value::Tuple(row) => Some(row),
        _ => None,
    });
    let rows: Vec<&Vec<Value>> = rows.collect::<Option<_>>()?;
    let length = rows.first()?.len();
    let is_regular = length > 0 && rows.iter().all(|row| row.len() == length);
    is_regular.then(|| (0..length).map(|column| rows.iter().map(|row| row[column].clone()).collect()).collect())
}

fn truth(value: bool, span: Span) -> Expr {
    Expr::constant(Constant::bool(value), span)
}

/// `a:b` as the only subscript.
pub(super) fn is_range(subscripts: &[ast::Argument]) -> bool {
    matches!(subscripts, [only] if matches!(only.value.kind, ast::ExprKind::Range { .. }))
}
