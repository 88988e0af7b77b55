//! Products of matrices and vectors: `A * x`, `A' * B`, `x' * y`, `x * y'`, `mul!(C, A, B, α, β)`.
//!
//! Julia hands them to a library that sums in an order of its own, as it does with `dot`: no order is promised. A product becomes a new
//! array before anything of the expression around it is computed, by loops that add to zeros.

use super::element::part_subscripts;
use super::reduce::in_any_order;
use super::shape::{dimensions, is_one};
use super::{ArrayError, Elements, Keeps, Numbers, Operation, Part, Recipe};
use crate::ast;
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::complex::Complex;
use crate::typed::operator::if_else;
use crate::typed::tree::{Expr, Label, Mode, Simd, SizeError, StatementKind};
use crate::typed::value::Value;
use tessella_diagnostics::Span;
use tessella_scalar::{CompareOp, ScalarType};

/// What is multiplied: `α A B`.
struct Factors {
    /// A matrix, or a vector, which is its only column.
    left: Elements,
    right: Elements,
    scale: Option<Value>,
    /// How many terms each sum has.
    terms: Expr,
    /// How many sums there are along each axis.
    extents: Vec<Expr>,
}

impl Factors {
    /// Where the factors of a term of the sum at a place are.
    fn places(&self, at: &[Expr], term: &Expr) -> (Vec<Expr>, Vec<Expr>) {
        let (row, column) = (at.iter().take(1).cloned(), at.iter().skip(1).cloned());
        let left = row.chain([term.clone()]).take(self.left.rank()).collect();
        let right = [term.clone()].into_iter().chain(column).collect();
        (left, right)
    }
}

impl Checker<'_> {
    /// `left * right` of arrays.
    pub(super) fn product(&mut self, left: (Value, Span), right: (Value, Span), span: Span) -> Checked<Value> {
        let (a, b) = (self.operand(left.0, left.1)?, self.operand(right.0, right.1)?);
        // A name for the statement is not one for what its operands are computed by.
        let label = self.label.take();
        let product = self.product_of_elements(a, b, span);
        self.label = label;
        product
    }

    fn product_of_elements(&mut self, a: Elements, b: Elements, span: Span) -> Checked<Value> {
        let (a_is_row, b_is_row) = (is_row(&a), is_row(&b));
        let ranks = (a.rank(), b.rank());
        match (a_is_row, ranks) {
            (true, (_, 1)) => self.inner_product(row_elements(a), b, span),
            (true, (_, 2)) if !b_is_row => {
                let turned = self.transposed(b, span)?;
                let factors = self.factors(turned, row_elements(a), None, span)?;
                let row = self.new_product(&factors, span)?;
                self.transposed(row, span).map(|row| Value::Elements(Box::new(row)))
            }
            (false, (1, 2)) if is_one(&b.extents[0]) => {
                let (a, b) = (self.multiplied_operand(a, span)?, self.multiplied_operand(b, span)?);
                // Each element is a factor of many.
                let (a, b) = (self.frozen_elements(a)?, self.frozen_elements(b)?);
                let operands = [a, b].map(|it| (Value::Elements(Box::new(it)), span));
                self.broadcast(Operation::Binary("*".into()), operands.into(), span)
            }
            (false, (1 | 2, 2) | (2, 1)) => {
                let factors = self.factors(a, b, None, span)?;
                let product = self.new_product(&factors, span)?;
                Ok(Value::Elements(Box::new(product)))
            }
            _ => Err(self.array_error(ArrayError::Product { operator: "*".into(), ranks, span })),
        }
    }

    /// `dot(x, A, y)`, which is `x' * A * y`.
    pub(super) fn dot_of_three(
        &mut self,
        left: &ast::Expr,
        matrix: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Checked<Value> {
        let [x, a, y] = [left, matrix, right].map(|argument| self.elements_argument("dot", argument));
        let (x, factors) = (x?, self.factors(a?, y?, None, span)?);
        let product = self.new_product(&factors, span)?;
        let x = self.multiplied_operand(x, span)?;
        self.inner(x, product, span)
    }

    /// `mul!(C, A, B)`, `mul!(C, A, B, α, β)`: `C` becomes `A B α + C β`, and is not read where `β` is zero.
    pub(super) fn multiplied(&mut self, arguments: &[&ast::Expr], span: Span) -> Checked<Value> {
        let ([target, left, right], scales) = match arguments {
            [target, left, right] => ([target, left, right], None),
            [target, left, right, alpha, beta] => ([target, left, right], Some([alpha, beta])),
            _ => return Err(self.arity("mul!", "3 or 5 arguments", arguments.len(), span)),
        };
        let label = self.label.take();
        let found = self.value(target)?;
        let (a, b) = (self.value(left)?, self.value(right)?);
        let (found, whole) = self.multiplied_target(found, target.span)?;
        let are_arrays = [&a, &b].iter().all(|it| self.as_elements(it, span).is_some());
        if !are_arrays && scales.is_none() {
            let scaled = self.array_infix("*", false, (a, left.span), (b, right.span), false, span)?;
            self.label = label;
            self.assign_part(&whole, scaled, span)?;
            return Ok(found);
        }
        let (a, b) = (self.operand(a, left.span)?, self.operand(b, right.span)?);
        let (mut alpha, mut beta) = (None, None);
        if let Some([scale, kept]) = scales {
            (alpha, beta) = (Some(self.factor(scale)?), Some(self.factor(kept)?));
        }
        let alpha = alpha.filter(|alpha| !is_constant(alpha, 1.0));
        let beta = beta.filter(|beta| !is_constant(beta, 0.0));
        let factors = self.factors(a, b, alpha, span)?;
        self.multiply_into(&whole, factors, beta, label, span)?;
        Ok(found)
    }

    /// Where `mul!` stores: an array, a part of one, or a new one, as `similar(x)` is.
    fn multiplied_target(&mut self, found: Value, span: Span) -> Checked<(Value, Elements)> {
        match self.as_elements(&found, span) {
            Some(elements) if matches!(&elements.recipe, Recipe::Part(part) if !part.flat) => Ok((found, elements)),
            Some(elements) if !elements.is_view() => {
                self.made_from_one(&elements, span)?;
                let made = self.fresh(&elements)?;
                Ok((Value::Elements(Box::new(made.clone())), made))
            }
            _ => {
                let found = self.kind(&found);
                Err(self.array_error(ArrayError::NotElements { function: "mul!".into(), found, span }))
            }
        }
    }

    /// A number that arrays are multiplied by.
    fn factor(&mut self, given: &ast::Expr) -> Checked<Value> {
        let value = self.value(given)?;
        self.settled_number("factor", value, given.span)
    }

    /// `x' * y`: a number.
    fn inner_product(&mut self, a: Elements, b: Elements, span: Span) -> Checked<Value> {
        let (a, b) = (self.multiplied_operand(a, span)?, self.multiplied_operand(b, span)?);
        self.sum_of_products("dot", a, b, span)
    }

    /// Factors whose sizes fit.
    fn factors(&mut self, left: Elements, right: Elements, scale: Option<Value>, span: Span) -> Checked<Factors> {
        let ranks = (left.rank(), right.rank());
        if !matches!(ranks, (1 | 2, 2) | (2, 1)) {
            return Err(self.array_error(ArrayError::Product { operator: "*".into(), ranks, span }));
        }
        self.writes_statements(span)?;
        let mut left = self.multiplied_operand(left, span)?;
        let mut right = self.multiplied_operand(right, span)?;
        // Each element of a matrix is used once for a vector: it may be computed there.
        if right.rank() == 2 || left.calls_functions() {
            left = self.frozen_elements(left)?;
        }
        // Sums of complex numbers keep their order: vectors of them go down columns.
        if right.rank() == 2 && left.numbers == Numbers::Complex && runs_along_terms(&left) {
            left = self.fresh(&left)?;
        }
        // Sums that share a row of the right factor read it where columns lie together.
        if right.rank() == 2 && left.rank() == 2 && runs_along_terms(&right) {
            right = self.fresh(&right)?;
        } else if right.rank() == 1 || left.rank() == 2 || right.calls_functions() {
            right = self.frozen_elements(right)?;
        }
        let terms = left.extents.get(1).cloned().unwrap_or_else(|| Expr::int64(1, span));
        self.same_extent(&terms, &right.extents[0], span)?;
        let sums = left.extents.iter().take(1).chain(right.extents.iter().skip(1)).cloned().collect::<Vec<_>>();
        let extents = sums.into_iter().map(|extent| self.settled("extent", extent).placed(span)).collect();
        let terms = self.settled("extent", terms).placed(span);
        Ok(Factors { left, right, scale, terms, extents })
    }

    /// The same elements, counted from 1: Julia refuses to multiply others.
    fn multiplied_operand(&mut self, operand: Elements, span: Span) -> Checked<Elements> {
        for first in self.firsts(&operand).into_iter().filter(|first| !is_one(first)) {
            let counts = compare(CompareOp::Eq, first.placed(span), Expr::int64(1, span), span);
            self.require(counts, SizeError::Argument, "offset arrays are not supported", span)?;
        }
        Ok(self.counted_from_one(operand))
    }

    /// The product as a new array.
    fn new_product(&mut self, factors: &Factors, span: Span) -> Checked<Elements> {
        let (_, found) = self.trial(|checker| {
            let at = vec![Expr::int64(1, span); factors.extents.len()];
            let term = checker.term(factors, &at, &Expr::int64(1, span))?;
            checker.combined("+", term.clone(), term, span)
        });
        let (element, numbers) = type_of(&found?);
        let halves = (numbers == Numbers::Complex).then(|| Expr::int64(2, span));
        let extents: Vec<Expr> = halves.into_iter().chain(factors.extents.iter().cloned()).collect();
        let array = self.allocate("product", element, &extents, span);
        let product = self.whole_of(numbers, array, Keeps::Fresh, span);
        self.start(&product, None, span)?;
        self.add_products(&product, factors, None, span)?;
        Ok(product)
    }

    /// `target` becomes the product and what `beta` keeps of it.
    fn multiply_into(
        &mut self,
        target: &Elements,
        factors: Factors,
        beta: Option<Value>,
        label: Option<Label>,
        span: Span,
    ) -> Checked<()> {
        let Recipe::Part(Part { array, .. }) = target.recipe else { return Ok(()) };
        if target.rank() != factors.extents.len() {
            let (left, right) = (dimensions(target.rank()), dimensions(factors.extents.len()));
            return Err(self.array_error(ArrayError::Mismatch { left, right, span }));
        }
        for (own, extent) in target.extents.iter().zip(&factors.extents) {
            self.same_extent(own, extent, span)?;
        }
        let (_, result) = self.trial(|checker| {
            let at = vec![Expr::int64(1, span); target.rank()];
            let kept = checker.kept(target, &at, beta.as_ref(), span)?;
            let term = checker.term(&factors, &at, &Expr::int64(1, span))?;
            checker.combined("+", kept, term, span)
        });
        let fits = type_of(&result?) == (target.element, target.numbers);
        if fits && !self.reads_array(array, &factors.left) && !self.reads_array(array, &factors.right) {
            if !beta.as_ref().is_some_and(|beta| is_constant(beta, 1.0)) {
                self.start(target, beta.as_ref(), span)?;
            }
            return self.add_products(target, &factors, label, span);
        }
        let scale = factors.scale.clone();
        let product = self.new_product(&Factors { scale: None, ..factors }, span)?;
        self.nest(&target.extents, span, |checker, at| {
            let mut value = checker.element(&product, at)?;
            if let Some(scale) = scale {
                value = checker.combined("*", scale, value, span)?;
            }
            if beta.is_some() {
                let kept = checker.kept(target, at, beta.as_ref(), span)?;
                value = checker.combined("+", value, kept, span)?;
            }
            checker.store_at(target, at, value, label, span)
        })
    }

    /// What sums start with: zero, or what is kept of the target.
    fn start(&mut self, target: &Elements, beta: Option<&Value>, span: Span) -> Checked<()> {
        self.nest(&target.extents, span, |checker, at| {
            let value = checker.kept(target, at, beta, span)?;
            checker.store_at(target, at, value, None, span)
        })
    }

    /// `beta` times an element: zero where `beta` is, whatever the element is.
    fn kept(&mut self, target: &Elements, at: &[Expr], beta: Option<&Value>, span: Span) -> Checked<Value> {
        let zero = Expr::number(target.element, 0, span);
        let Some(beta) = beta else {
            return Ok(match target.numbers {
                Numbers::Real => Value::Scalar(zero),
                Numbers::Complex => Complex { re: zero.clone(), im: zero }.value(),
            });
        };
        let element = self.element(target, at)?;
        if is_constant(beta, 1.0) {
            return Ok(element);
        }
        let scaled = self.combined("*", element, beta.clone(), span)?;
        if constant_of(beta).is_some() {
            return Ok(scaled);
        }
        let none = Value::Scalar(Expr::int64(0, span));
        let is_zero = self.compare_values("==", beta.clone(), none, (span, span), span)?;
        let zero_or = |part: Expr| if_else(is_zero.clone(), Expr::number(part.ty, 0, span), part, span);
        Ok(match scaled {
            Value::Complex(value) => Complex { re: zero_or(value.re), im: zero_or(value.im) }.value(),
            value => Value::Scalar(zero_or(self.as_scalar(value, span)?)),
        })
    }

    /// Adds all terms to the sums.
    fn add_products(&mut self, target: &Elements, factors: &Factors, label: Option<Label>, span: Span) -> Checked<()> {
        let sums = factors.extents.len();
        let is_open = target.numbers == Numbers::Real && target.element.is_float();
        // The loop over terms is the innermost one where the order is open, or the terms of one sum lie together.
        let position = if is_open || runs_along_terms(&factors.left) { 0 } else { 1 };
        let mut extents = factors.extents.clone();
        extents.insert(position, factors.terms.clone());
        // `C[i, j] + A[i, k] * B[k, j]`: the loop over terms has the last name.
        let mut names = self.iterator_names(extents.len());
        names[position..].rotate_right(1);
        let (mut block, done) = self.in_block(|checker| {
            checker.nest_of(&extents, &names, span, |checker, places| {
                let mut at = places.to_vec();
                let term = at.remove(position);
                let before = checker.element(target, &at)?;
                let term = checker.term(factors, &at, &term)?;
                let value = checker.combined("+", before, term, span)?;
                checker.store_at(target, &at, value, label, span)
            })
        });
        if is_open {
            in_any_order(&mut block, (sums, 1), Simd::Before);
        }
        self.blocks.last_mut().expect("a block is open while a function is checked").extend(block);
        done
    }

    /// One term of the sum at a place.
    fn term(&mut self, factors: &Factors, at: &[Expr], number: &Expr) -> Checked<Value> {
        let (left_at, right_at) = factors.places(at, number);
        let mut left = self.element(&factors.left, &left_at)?;
        let right = self.element(&factors.right, &right_at)?;
        let span = factors.left.span;
        if let Some(scale) = &factors.scale {
            left = self.combined("*", scale.clone(), left, span)?;
        }
        self.combined("*", left, right, span)
    }

    fn combined(&mut self, symbol: &str, left: Value, right: Value, span: Span) -> Checked<Value> {
        self.binary_values(symbol, left, right, (span, span), span)
    }

    fn store_at(
        &mut self,
        target: &Elements,
        at: &[Expr],
        value: Value,
        label: Option<Label>,
        span: Span,
    ) -> Checked<()> {
        let Recipe::Part(part) = &target.recipe else { return Ok(()) };
        let subscripts = part_subscripts(part, at);
        if target.numbers == Numbers::Complex {
            self.label = label;
            return self.store_complex((part.array, subscripts), value, span).map(|_| ());
        }
        let declared = self.local(part.array).span;
        let value = self.as_scalar(value, span)?;
        let value = self.coerce(value, target.element, Some(declared))?;
        let mode = Mode { inbounds: true, ..self.mode };
        self.emit(StatementKind::Store { array: part.array, subscripts, value, label, mode }, span);
        Ok(())
    }
}

/// Whether it is `x'` of a vector, which Julia tells from a matrix with one row.
pub(super) fn is_row(elements: &Elements) -> bool {
    matches!(&elements.recipe, Recipe::Transposed(inner) if inner.rank() == 1)
}

/// The vector whose transpose a row is.
pub(super) fn row_elements(row: Elements) -> Elements {
    match row.recipe {
        Recipe::Transposed(inner) => *inner,
        _ => row,
    }
}

/// Whether neighbours along the second axis of a matrix are neighbours in memory.
fn runs_along_terms(matrix: &Elements) -> bool {
    match &matrix.recipe {
        Recipe::Transposed(_) => matrix.rank() == 2,
        Recipe::Apply { operands, .. } => {
            operands.iter().any(|operand| operand.rank() == 2 && runs_along_terms(operand))
        }
        _ => false,
    }
}

fn type_of(value: &Value) -> (ScalarType, Numbers) {
    match value {
        Value::Complex(value) => (value.half(), Numbers::Complex),
        Value::Scalar(value) => (value.ty, Numbers::Real),
        _ => (ScalarType::F64, Numbers::Real),
    }
}

/// A number that is known.
fn constant_of(value: &Value) -> Option<f64> {
    let Value::Scalar(value) = value else { return None };
    let constant = value.as_constant()?;
    constant.as_float().or_else(|| constant.as_integer().map(|value| value as f64))
}

fn is_constant(value: &Value, number: f64) -> bool {
    constant_of(value) == Some(number)
}
