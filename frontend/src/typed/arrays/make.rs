//! Arrays made inside the function: `zeros(n)`, `similar(A)`, `[f(i) for i in 1:n]`, and names for them.

use super::shape::clamped;
use super::{ArrayError, Elements, Keeps, Numbers, Recipe};
use crate::ast;
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::complex::Complex;
use crate::typed::convert::constant_integer;
use crate::typed::error::TypeError;
use crate::typed::operator::binary;
use crate::typed::scope::{State, VariableId};
use crate::typed::tree::{Expr, ExprKind, LocalId, Mode, Role, SizeError, StatementKind, dense};
use crate::typed::unsupported::Construct;
use crate::typed::value::{Kind, RangeValue, Value};
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType};

impl Checker<'_> {
    /// Memory for a local array.
    pub(in crate::typed) fn allocate(
        &mut self,
        name: &str,
        element: ScalarType,
        extents: &[Expr],
        span: Span,
    ) -> LocalId {
        let owner = self.loops.last().copied();
        let rank = extents.len() as u32;
        let ty = dense(element, rank);
        let array = self.named_local(name, ty, Role::Variable(owner), span);
        self.made.insert(array, extents.to_vec());
        self.emit(StatementKind::Allocate { array, extents: extents.to_vec() }, span);
        array
    }

    /// Stores the elements into an array of their own.
    pub(in crate::typed) fn materialize(&mut self, name: &str, elements: &Elements, at: Span) -> Checked<LocalId> {
        self.writes_statements(elements.span)?;
        let (label, mode) = (self.label.take(), self.mode);
        let extents: Vec<Expr> = elements.extents.iter().map(|extent| self.settled("extent", extent.clone())).collect();
        let halves = (elements.numbers == Numbers::Complex).then(|| Expr::int64(2, at));
        let all: Vec<Expr> = halves.into_iter().chain(extents.iter().cloned()).collect();
        let array = self.allocate(name, elements.element, &all, at);
        if matches!(elements.recipe, Recipe::Undefined) {
            return Ok(array);
        }
        let span = elements.span;
        self.nest(&extents, span, |checker, subscripts| {
            let value = checker.element(elements, subscripts)?;
            if elements.numbers == Numbers::Complex {
                checker.label = label.clone();
                let place = std::iter::once(Expr::int64(1, span)).chain(subscripts.iter().cloned()).collect();
                return checker.store_complex((array, place), value, span).map(|_| ());
            }
            let value = checker.as_scalar(value, span)?;
            let mode = Mode { inbounds: false, ..mode };
            let kind = StatementKind::Store { array, subscripts: subscripts.to_vec(), value, label, mode };
            checker.emit(kind, span);
            Ok(())
        })?;
        Ok(array)
    }

    /// A new array without a name, as elements.
    pub(super) fn fresh(&mut self, elements: &Elements) -> Checked<Elements> {
        let array = self.materialize("temporary", elements, elements.span)?;
        Ok(self.whole_of(elements.numbers, array, Keeps::Fresh, elements.span))
    }

    /// `name = elements`.
    pub(in crate::typed) fn bind_elements(
        &mut self,
        variable: VariableId,
        elements: Elements,
        at: Span,
        span: Span,
    ) -> Checked<Value> {
        if let Recipe::Part(part) = &elements.recipe
            && part.keeps == Keeps::Fresh
            && self.moved_to(part.array) != part.array
        {
            // Another name of the same assignment has it already.
            let meaning = value_of(elements.numbers, self.moved_to(part.array));
            return self.bind_array(variable, meaning, at, span);
        }
        let name = self.variables[variable.0].name.clone();
        match &self.variables[variable.0].state {
            State::Poisoned => return Err(crate::typed::check::Reported),
            State::Unassigned if self.variables[variable.0].owner == self.loops.last().copied() => {}
            _ if self.is_straight(variable) => {}
            State::Unassigned | State::Scalar(_) | State::Complex(..) | State::Array(_) | State::Alias(_) => {
                return self.take_over(variable, elements, span);
            }
        }
        if matches!(&elements.recipe, Recipe::Part(part) if part.flat) {
            return self.not_yet(Construct::LinearIndex, elements.span);
        }
        let elements = self.named_row(elements)?;
        let numbers = elements.numbers;
        let state = match &elements.recipe {
            Recipe::Part(part) if part.keeps == Keeps::Fresh => {
                let local = &mut self.locals[part.array.0 as usize];
                (local.name, local.span) = (name, at);
                self.label_last(part.array);
                state_of(elements.numbers, part.array)
            }
            _ if elements.is_view() => State::Alias(Value::Elements(Box::new(elements))),
            _ => {
                self.made_from_one(&elements, elements.span)?;
                let container = self.container(&elements);
                let array = self.materialize(&name, &elements, at)?;
                self.other_containers.extend(container.map(|container| (array, container)));
                state_of(numbers, array)
            }
        };
        let value = match &state {
            State::Array(array) => Value::Array(*array),
            State::Alias(value) => value.clone(),
            State::Unassigned | State::Scalar(_) | State::Complex(..) | State::Poisoned => Value::Nothing,
        };
        self.passes_standing(variable, &state);
        self.variables[variable.0].span = at;
        self.variables[variable.0].state = state;
        Ok(value)
    }

    /// The name of a statement that binds a new array is one for what was stored into the array last: the terms of a sum or product.
    fn label_last(&mut self, array: LocalId) {
        let Some(label) = self.label.take() else { return };
        let mut last = self.blocks.last_mut().and_then(|block| block.last_mut());
        while let Some(statement) = last {
            match &mut statement.kind {
                StatementKind::For { body, .. } => last = body.last_mut(),
                StatementKind::Store { array: stored, label: none @ None, .. } if *stored == array => {
                    *none = Some(label);
                    return;
                }
                _ => return,
            }
        }
    }

    /// `x'` of a vector that is computed here, which has memory of its own then: Julia tells it from a matrix with one row.
    fn named_row(&mut self, elements: Elements) -> Checked<Elements> {
        if !super::product::is_row(&elements) || elements.is_view() {
            return Ok(elements);
        }
        let span = elements.span;
        let mut vector = self.frozen_elements(super::product::row_elements(elements))?;
        if !matches!(vector.recipe, Recipe::Part(_)) {
            vector = self.fresh(&vector)?;
        }
        if let Recipe::Part(part) = &mut vector.recipe {
            part.keeps = Keeps::View;
        }
        self.transposed(vector, span)
    }

    /// What a parameter means that these elements, which nothing changes, are passed for.
    pub(in crate::typed) fn named_elements(&mut self, elements: Elements) -> State {
        match &elements.recipe {
            Recipe::Part(part) if part.keeps == Keeps::Fresh => state_of(elements.numbers, part.array),
            Recipe::Fill(_) | Recipe::Undefined => match self.materialize("argument", &elements, elements.span) {
                Ok(array) => state_of(elements.numbers, array),
                Err(_) => State::Poisoned,
            },
            _ => State::Alias(Value::Elements(Box::new(elements))),
        }
    }

    /// Elements that later assignments do not change.
    pub(in crate::typed) fn frozen_elements(&mut self, elements: Elements) -> Checked<Elements> {
        match &elements.recipe {
            Recipe::Fill(_) | Recipe::Undefined => Ok(elements),
            Recipe::Part(part) if part.keeps == Keeps::Fresh => Ok(elements),
            _ if elements.is_view() => Ok(elements),
            _ => {
                self.made_from_one(&elements, elements.span)?;
                self.fresh(&elements)
            }
        }
    }

    /// `zeros`, `ones`, `fill`, `similar`, `copy`, `collect`, `zero`, `permutedims`.
    pub(super) fn array_maker(&mut self, name: &str, arguments: &[&ast::Expr], span: Span) -> Checked<Value> {
        let elements = match (name, arguments) {
            ("zeros" | "ones", _) => {
                let ((ty, numbers), dimensions) = match arguments.split_first() {
                    Some((first, rest)) if self.names_type(first) => (self.number_type(first)?, rest),
                    _ => ((ScalarType::F64, Numbers::Real), arguments),
                };
                let value = constant_number(ty, numbers, i128::from(name == "ones"), span);
                self.filled(value, dimensions, span)?
            }
            ("fill", [value, dimensions @ ..]) => {
                let at = value.span;
                let value = self.value(value)?;
                let value = self.settled_number("value", value, at)?;
                self.filled(value, dimensions, span)?
            }
            ("similar", [like, rest @ ..]) => {
                let like = self.elements_argument(name, like)?;
                let ((element, numbers), dimensions) = match rest.split_first() {
                    Some((first, rest)) if self.names_type(first) => (self.number_type(first)?, rest),
                    _ => ((like.element, like.numbers), rest),
                };
                let extents = match dimensions {
                    [] => {
                        self.made_from_one(&like, span)?;
                        like.extents
                    }
                    _ => self.dimensions(dimensions)?,
                };
                Elements { element, numbers, extents, recipe: Recipe::Undefined, span }
            }
            ("zero", [like]) => {
                let like = self.elements_argument(name, like)?;
                self.made_from_one(&like, span)?;
                let value = constant_number(like.element, like.numbers, 0, span);
                Elements { recipe: Recipe::Fill(Box::new(value)), ..like }
            }
            ("copy" | "collect" | "deepcopy", [like]) => {
                let like = self.elements_argument(name, like)?;
                self.copied(like, span)
            }
            ("permutedims", [like]) => {
                let like = self.elements_argument(name, like)?;
                let turned = self.transposed(like, span)?;
                self.copied(turned, span)
            }
            (_, _) => return Err(self.arity(name, "other arguments", arguments.len(), span)),
        };
        Ok(Value::Elements(Box::new(elements)))
    }

    /// As an array of its own, which it would be in Julia.
    pub(in crate::typed) fn copied(&mut self, like: Elements, span: Span) -> Elements {
        let (element, numbers, extents) = (like.element, like.numbers, like.extents.clone());
        let recipe = Recipe::Apply { operation: super::Operation::Identity, operands: vec![like] };
        Elements { element, numbers, extents, recipe, span }
    }

    fn filled(&mut self, value: Value, dimensions: &[&ast::Expr], span: Span) -> Checked<Elements> {
        let extents = self.dimensions(dimensions)?;
        self.elements(extents, Recipe::Fill(Box::new(value)), span)
    }

    /// An element type; of complex ones, the type of a half.
    fn number_type(&mut self, expr: &ast::Expr) -> Checked<(ScalarType, Numbers)> {
        match self.complex_type(expr)? {
            Some(half) => Ok((half, Numbers::Complex)),
            None => self.type_expression(expr).map(|ty| (ty, Numbers::Real)),
        }
    }

    /// `Array{T}(undef, dims...)`, `Vector{T}(undef, n)`, `Matrix{T}(undef, m, n)`.
    pub(in crate::typed) fn undefined_array(
        &mut self,
        base: &ast::Expr,
        parameters: &[ast::Expr],
        arguments: &[ast::Argument],
        span: Span,
    ) -> Checked<Value> {
        let rank = match (&base.kind, parameters) {
            (ast::ExprKind::Name(name), [_]) if name == "Array" => None,
            (ast::ExprKind::Name(name), [_, rank]) if name == "Array" => {
                let rank = self.scalar(rank)?;
                constant_integer(&rank)
            }
            (ast::ExprKind::Name(name), [_]) if name == "Vector" => Some(1),
            (ast::ExprKind::Name(name), [_]) if name == "Matrix" => Some(2),
            _ => return self.not_yet(Construct::LocalArray, span),
        };
        let (element, numbers) = self.number_type(&parameters[0])?;
        let arguments: Vec<&ast::Expr> = arguments.iter().map(|argument| &argument.value).collect();
        let Some((first, dimensions)) = arguments.split_first() else {
            return Err(self.arity("Array", "`undef` and the dimensions", 0, span));
        };
        if !matches!(&first.kind, ast::ExprKind::Name(name) if name == "undef") {
            return self.not_yet(Construct::LocalArray, span);
        }
        let extents = self.dimensions(dimensions)?;
        if rank.is_some_and(|rank| rank != extents.len() as i128) {
            return Err(self.arity("Array", "one extent for each dimension", extents.len(), span));
        }
        Ok(Value::Elements(Box::new(Elements { element, numbers, extents, recipe: Recipe::Undefined, span })))
    }

    /// The extents that `m, n`, `(m, n)`, `size(A)` or `size(A)...` give.
    fn dimensions(&mut self, given: &[&ast::Expr]) -> Checked<Vec<Expr>> {
        let mut extents = vec![];
        for argument in given {
            let inner = match &argument.kind {
                ast::ExprKind::Splat(inner) => inner,
                _ => *argument,
            };
            let values = match self.value(inner)? {
                Value::Tuple(values) => values,
                value => vec![value],
            };
            for value in values {
                let extent = match value {
                    Value::Range(range) => super::count(&range),
                    Value::Scalar(extent) if extent.ty.is_integer() => self.coerce(extent, ScalarType::I64, None)?,
                    other => {
                        let found = self.kind(&other);
                        return Err(self.fail(TypeError::RangeType { found, span: argument.span }));
                    }
                };
                let extent = self.settled("extent", extent);
                extents.push(self.counted(extent, argument.span)?);
            }
        }
        Ok(extents)
    }

    /// Julia refuses negative extents.
    fn counted(&mut self, extent: Expr, span: Span) -> Checked<Expr> {
        if super::shape::same(&clamped(extent.clone()), &extent) {
            return Ok(extent);
        }
        let zero = Expr::int64(0, span);
        let enough = compare(CompareOp::Ge, extent.clone().placed(span), zero, span);
        self.require(enough, SizeError::Argument, "invalid Array dimensions", span)?;
        Ok(extent)
    }

    /// The elements of an argument that must be an array or range.
    pub(super) fn elements_argument(&mut self, function: &str, argument: &ast::Expr) -> Checked<Elements> {
        let value = self.value(argument)?;
        match self.as_elements(&value, argument.span) {
            Some(elements) => Ok(elements),
            None => {
                let (function, found) = (function.to_string(), self.kind(&value));
                Err(self.array_error(ArrayError::NotElements { function, found, span: argument.span }))
            }
        }
    }

    pub(super) fn transposed(&mut self, inner: Elements, span: Span) -> Checked<Elements> {
        let extents = match inner.extents.as_slice() {
            [length] => vec![Expr::int64(1, span), length.clone()],
            [rows, columns] => vec![columns.clone(), rows.clone()],
            _ => {
                let found = Kind::Array { element: inner.element, rank: inner.rank() as u32 };
                return Err(self.array_error(ArrayError::NotElements { function: "transpose".into(), found, span }));
            }
        };
        if let Recipe::Transposed(original) = &inner.recipe
            && original.rank() == 2
        {
            return Ok((**original).clone());
        }
        let (element, numbers) = (inner.element, inner.numbers);
        Ok(Elements { element, numbers, extents, recipe: Recipe::Transposed(Box::new(inner)), span })
    }

    /// `[body for x in a, y in b]`.
    pub(in crate::typed) fn comprehension(
        &mut self,
        body: &ast::Expr,
        clauses: &[ast::GeneratorClause],
        span: Span,
    ) -> Checked<Elements> {
        let [ast::GeneratorClause::For(iterations)] = clauses else {
            return self.not_yet(Construct::of_comprehension(clauses), span);
        };
        let (mut sources, mut extents) = (vec![], vec![]);
        for iteration in iterations {
            let source = self.generator_source(&iteration.range)?;
            for extent in &source.extents {
                extents.push(self.settled("extent", extent.clone()));
            }
            sources.push((iteration.target.clone(), source));
        }
        self.elements(extents, Recipe::Comprehension { body: Box::new(body.clone()), sources, home: self.home() }, span)
    }

    /// What a generator runs over: an array, a range, a tuple of numbers, `zip` and `enumerate` of vectors.
    pub(super) fn generator_source(&mut self, iterated: &ast::Expr) -> Checked<Elements> {
        let span = iterated.span;
        if let ast::ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No } = &iterated.kind
            && let Some(name @ ("zip" | "enumerate")) = self.library_name(callee)
            && !arguments.is_empty()
            && arguments.iter().all(|argument| argument.keyword.is_none())
        {
            let mut columns = vec![];
            for argument in arguments {
                let column = self.generator_source(&argument.value)?;
                if column.rank() != 1 {
                    return self.not_yet(Construct::Iterator, argument.value.span);
                }
                columns.push(self.counted_from_one(column));
            }
            let mut length = columns[0].extents[0].clone().placed(span);
            for column in &columns[1..] {
                let other = column.extents[0].clone().placed(span);
                if !super::shape::same(&length, &other) {
                    length = binary(BinaryOp::Min, length, other, span);
                }
            }
            if name == "enumerate" {
                let range = RangeValue { start: Expr::int64(1, span), step: 1, stop: length.clone() };
                let count = self.as_elements(&Value::Range(range), span);
                columns.insert(0, count.expect("a range has elements"));
            }
            let recipe = Recipe::Rows(columns);
            return Ok(Elements {
                element: ScalarType::I64,
                numbers: Numbers::Real,
                extents: vec![length],
                recipe,
                span,
            });
        }
        let value = self.value(iterated)?;
        if let Some(elements) = self.as_elements(&value, span) {
            return Ok(elements);
        }
        match value {
            Value::Tuple(values)
                if !values.is_empty() && values.iter().all(|value| matches!(value, Value::Scalar(_))) =>
            {
                let array = self.literal_of(values, span)?;
                Ok(self.whole(array, super::Keeps::Fresh, span))
            }
            other => {
                let found = self.kind(&other);
                Err(self.fail(TypeError::NotIterable { found, span }))
            }
        }
    }
}

/// What a variable is that names such an array.
/// A whole array that holds such numbers.
pub(in crate::typed) fn value_of(numbers: Numbers, array: LocalId) -> Value {
    match numbers {
        Numbers::Real => Value::Array(array),
        Numbers::Complex => Value::ComplexArray(array),
    }
}

fn state_of(numbers: Numbers, array: LocalId) -> State {
    match numbers {
        Numbers::Real => State::Array(array),
        Numbers::Complex => State::Alias(Value::ComplexArray(array)),
    }
}

/// 0 or 1.
fn constant_number(ty: ScalarType, numbers: Numbers, value: i128, span: Span) -> Value {
    let constant = |value| Expr::constant(Constant::integer(ty, value), span);
    match numbers {
        Numbers::Real => Value::Scalar(constant(value)),
        Numbers::Complex => Complex { re: constant(value), im: constant(0) }.value(),
    }
}

impl Expr {
    /// The array and subscripts of a loaded element.
    pub(in crate::typed) fn as_load(&self) -> Option<(LocalId, Vec<Expr>)> {
        match &self.kind {
            ExprKind::Load { array, subscripts, .. } => Some((*array, subscripts.clone())),
            _ => None,
        }
    }
}
