//! What the function gives back.

use super::arrays::{ArrayError, Elements, Keeps, Numbers, Operation, Recipe};
use super::check::{Checked, Checker};
use super::complex::{Complex, ComplexError};
use super::error::TypeError;
use super::statement::Tail;
use super::tree::{Expr, ExprKind, LocalId, Result as Outcome, Role};
use super::value::Value;
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{CompareOp, ScalarType};

/// What Julia makes of elements that go into an array here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// Of a broadcast whose elements are `Bool`.
    BitArray,
    /// `(A .+ B)'`.
    Adjoint,
    /// `2 .* (1:n)`.
    Range,
    /// `view(A, :, 1)`.
    View,
}

impl Container {
    pub(super) fn name(self) -> &'static str {
        match self {
            Container::BitArray => "a `BitArray`",
            Container::Adjoint => "an `Adjoint`",
            Container::Range => "a range",
            Container::View => "a view",
        }
    }
}

impl Checker<'_> {
    pub(super) fn result(&mut self, function: &ast::Function, tail: Tail) -> Outcome {
        let given = match tail {
            Tail::Nothing | Tail::Failed => Ok(Outcome::Nothing),
            Tail::Argument(id, span) => self.given_array(function, id, span),
            Tail::Choice(position, arguments, _) => Ok(Outcome::Choice { position, arguments }),
            Tail::OneOf(position, options, span) => self.given_one(function, position, options, span),
            Tail::Tuple(values, span) => self.given_tuple(values, span).map(Outcome::Tuple),
            Tail::Other(value, span) => self.given_value(function, value, span),
            Tail::Scalar(value) => self.given_scalar(function, value),
        };
        given.unwrap_or(Outcome::Nothing)
    }

    fn given_one(
        &mut self,
        function: &ast::Function,
        position: LocalId,
        options: Vec<Value>,
        span: Span,
    ) -> Checked<Outcome> {
        if let Some(declared) = &function.return_type {
            return self.converted_one(function, declared, position, options);
        }
        let options: Checked<Vec<Outcome>> =
            options.into_iter().map(|value| self.given_value(function, value, span)).collect();
        Ok(Outcome::OneOf { position, options: options? })
    }

    /// Numbers of several types, all of which become the declared one.
    fn converted_one(
        &mut self,
        function: &ast::Function,
        declared: &ast::Expr,
        position: LocalId,
        options: Vec<Value>,
    ) -> Checked<Outcome> {
        let span = declared.span;
        let ty = self.type_expression(declared)?;
        let mut numbers = vec![];
        for option in options {
            let Value::Scalar(value) = option else { return Err(self.fail(TypeError::BranchResult { span })) };
            numbers.push(self.coerce(value, ty, Some(span))?);
        }
        let (first, others) = numbers.split_first().expect("there are several");
        let chosen = others.iter().enumerate().fold(first.clone(), |before, (at, number)| {
            let number_of_it = Expr::int64(at as i64 + 1, span);
            let here = super::compare::compare(CompareOp::Eq, self.read(position, span), number_of_it, span);
            super::operator::if_else(here, number.clone(), before, span)
        });
        self.given_scalar(function, chosen)
    }

    fn given_value(&mut self, function: &ast::Function, value: Value, span: Span) -> Checked<Outcome> {
        match value {
            Value::Nothing | Value::Never => Ok(Outcome::Nothing),
            Value::Scalar(value) => self.given_scalar(function, value),
            // Julia gives back an `Irrational`, unless a type is declared.
            value @ Value::Irrational(..) if function.return_type.is_some() => {
                let value = self.as_scalar(value, span)?;
                self.given_scalar(function, value)
            }
            Value::Complex(value) => self.given_complex(function, *value, span),
            Value::ComplexArray(id) => {
                if let Some(declared) = &function.return_type
                    && !self.accepts_value(declared, &value)
                {
                    return Err(self.complex_error(ComplexError::WholeArray { span }));
                }
                match (self.local(id).role, self.other_containers.get(&id)) {
                    (Role::Argument, _) => Ok(Outcome::Argument(id)),
                    (_, Some(&container)) => {
                        Err(self.fail(TypeError::Array(ArrayError::OtherContainer { container, span })))
                    }
                    (Role::Variable(None) | Role::Value(None), None) => Ok(Outcome::ComplexArray(id)),
                    (Role::Variable(Some(_)) | Role::Value(Some(_)) | Role::Iterator(_), None) => {
                        Err(self.fail(TypeError::Array(ArrayError::Returned { span })))
                    }
                }
            }
            Value::Array(id) => self.given_array(function, id, span),
            Value::Tuple(values) => self.given_tuple(values, span).map(Outcome::Tuple),
            Value::Named(names, values) => self.given_tuple(values, span).map(|parts| Outcome::Named { names, parts }),
            Value::Elements(elements) => {
                if let Some(container) = self.container(&elements) {
                    return Err(self.fail(TypeError::Array(ArrayError::OtherContainer { container, span })));
                }
                let array = match &elements.recipe {
                    Recipe::Part(part) if part.keeps == Keeps::Fresh => part.array,
                    _ => {
                        self.made_from_one(&elements, span)?;
                        self.materialize("result", &elements, span)?
                    }
                };
                match elements.numbers {
                    Numbers::Real => self.given_array(function, array, span),
                    Numbers::Complex => self.given_value(function, Value::ComplexArray(array), span),
                }
            }
            Value::Irrational(..) => {
                Err(self.fail(TypeError::ResultKind { found: super::value::Kind::Irrational, span }))
            }
            Value::Range(_)
            | Value::Type(_)
            | Value::ComplexType(_)
            | Value::Position(_)
            | Value::Places(_)
            | Value::Function(_) => {
                let found = self.kind(&value);
                Err(self.fail(TypeError::ResultKind { found, span }))
            }
        }
    }

    /// Parts are given back as they are: a declared type is that of the whole.
    fn given_tuple(&mut self, values: Vec<Value>, span: Span) -> Checked<Vec<Outcome>> {
        let undeclared = ast::Function {
            macros: vec![],
            name: None,
            object: None,
            parameters: vec![],
            first_keyword: 0,
            type_parameters: vec![],
            return_type: None,
            body: vec![],
            signature: span,
            span,
        };
        let parts: Vec<Checked<Outcome>> =
            values.into_iter().map(|value| self.given_value(&undeclared, value, span)).collect();
        parts.into_iter().collect()
    }

    fn given_array(&mut self, function: &ast::Function, id: LocalId, span: Span) -> Checked<Outcome> {
        let ty = self.local(id).ty;
        if let Some(declared) = &function.return_type
            && !self.accepts_type(declared, ty.into())
        {
            let (found, declared) = (ty.into(), format!("`{}`", super::signature::type_text(declared)));
            return Err(self.fail(TypeError::Array(ArrayError::ResultConverted { found, declared, span })));
        }
        match (self.local(id).role, self.other_containers.get(&id)) {
            (Role::Argument, _) => Ok(Outcome::Argument(id)),
            (_, Some(&container)) => Err(self.fail(TypeError::Array(ArrayError::OtherContainer { container, span }))),
            (Role::Variable(None) | Role::Value(None), None) => Ok(Outcome::Array(id)),
            (Role::Variable(Some(_)) | Role::Value(Some(_)) | Role::Iterator(_), None) => {
                Err(self.fail(TypeError::Array(ArrayError::Returned { span })))
            }
        }
    }

    fn given_complex(&mut self, function: &ast::Function, value: Complex, span: Span) -> Checked<Outcome> {
        let value = match &function.return_type {
            None => value,
            Some(declared) => match self.complex_type(declared)? {
                Some(half) => self.make_complex(value.value(), half, declared.span)?,
                None if self.accepts_value(declared, &value.clone().value()) => value,
                None => return Err(self.complex_error(ComplexError::NotReal { span })),
            },
        };
        let mut place = |half: Expr| {
            let held = match half.kind {
                ExprKind::Local(id) if !matches!(self.local(id).role, Role::Argument) => return id,
                _ => self.hold("result", half),
            };
            match held.kind {
                ExprKind::Local(id) => id,
                _ => unreachable!("`hold` reads a local"),
            }
        };
        Ok(Outcome::Complex { re: place(value.re), im: place(value.im) })
    }

    fn given_scalar(&mut self, function: &ast::Function, value: Expr) -> Checked<Outcome> {
        let value = match &function.return_type {
            Some(declared) => {
                let span = declared.span;
                let ty = self.type_expression(declared)?;
                self.coerce(value, ty, Some(span))?
            }
            None => value,
        };
        let id = match value.kind {
            ExprKind::Local(id) if !matches!(self.local(id).role, Role::Argument) => id,
            // An argument, too: that of a complex number may be one half of it.
            _ => match self.hold("result", value).kind {
                ExprKind::Local(id) => id,
                _ => unreachable!("`hold` reads a local"),
            },
        };
        Ok(match self.local(id).role {
            Role::Variable(None) | Role::Value(None) => Outcome::Scalar(id),
            Role::Argument | Role::Variable(Some(_)) | Role::Value(Some(_)) | Role::Iterator(_) => {
                unreachable!("loops are expressions without a value")
            }
        })
    }

    /// What Julia makes of the elements, where that is no `Array`.
    pub(super) fn container(&self, elements: &Elements) -> Option<Container> {
        match &elements.recipe {
            Recipe::Part(part) => match part.keeps {
                Keeps::View => Some(Container::View),
                Keeps::Copy | Keeps::Fresh => self.other_containers.get(&part.array).copied(),
            },
            Recipe::Range(_) | Recipe::Numbering(_) => Some(Container::Range),
            Recipe::Transposed(_) => Some(Container::Adjoint),
            Recipe::Row(inner) if inner.is_view() => Some(Container::View),
            Recipe::Row(inner) => self.container(inner),
            Recipe::Fill(_)
            | Recipe::Undefined
            | Recipe::Scalar(_)
            | Recipe::Rows(_)
            | Recipe::Slices { .. }
            | Recipe::Comprehension { .. } => None,
            Recipe::Apply { operation: Operation::Identity, .. } => None,
            Recipe::Apply { .. } if elements.numbers == Numbers::Real && elements.element == ScalarType::Bool => {
                Some(Container::BitArray)
            }
            Recipe::Apply { operation, operands } => self.makes_range(operation, operands).then_some(Container::Range),
        }
    }

    /// `2 .* (1:n) .+ 1`, which Julia computes on the ends alone.
    fn makes_range(&self, operation: &Operation, operands: &[Elements]) -> bool {
        let is_number = |operand: &Elements| matches!(operand.recipe, Recipe::Scalar(_));
        let is_range = |operand: &Elements| match &operand.recipe {
            // A name for a range that has become an array here, and what is cut out of it.
            Recipe::Part(part) => self.other_containers.get(&part.array) == Some(&Container::Range),
            _ => self.container(operand) == Some(Container::Range),
        };
        let sign = |symbol: &str| matches!(symbol, "+" | "-");
        match (operation, operands) {
            (Operation::Prefix(symbol), [one]) => sign(symbol) && is_range(one),
            (Operation::Binary(symbol) | Operation::Named(symbol), [left, right]) if sign(symbol) => {
                (is_range(left) && (is_range(right) || is_number(right))) || (is_number(left) && is_range(right))
            }
            (Operation::Binary(symbol) | Operation::Named(symbol), [left, right]) if symbol == "*" => {
                (is_range(left) && is_number(right)) || (is_number(left) && is_range(right))
            }
            (Operation::Binary(symbol) | Operation::Named(symbol), [left, right]) if symbol == "/" => {
                is_range(left) && is_number(right)
            }
            (Operation::Binary(symbol) | Operation::Named(symbol), [left, right]) if symbol == "\\" => {
                is_number(left) && is_range(right)
            }
            (
                Operation::Identity
                | Operation::Conjugate
                | Operation::Prefix(_)
                | Operation::Binary(_)
                | Operation::Compare(_)
                | Operation::Power { .. }
                | Operation::Named(_)
                | Operation::Convert(_)
                | Operation::User(_),
                _,
            ) => false,
        }
    }
}
