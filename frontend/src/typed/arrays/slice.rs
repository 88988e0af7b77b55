//! `A[...]`: an element, or a part with ranges and colons among its subscripts.

use super::origin::{is_axis, place_of, place_with};
use super::shape::{clamped, count, dimensions, same, step_to};
use super::{ArrayError, Axis, Elements, Keeps, Numbers, Part, Position, Recipe};
use crate::ast;
use crate::typed::check::{Checked, Checker, Indexed, Reported};
use crate::typed::convert::{constant_integer, is_total};
use crate::typed::error::TypeError;
use crate::typed::operator::binary;
use crate::typed::tree::Expr;
use crate::typed::unsupported::Construct;
use crate::typed::value::{RangeValue, Value};
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, ScalarType};

/// A list of as many places is no array, `A[[1, end], :]`: each is known by itself.
const LISTED: usize = 8;

/// One subscript.
pub(super) enum Subscript {
    All,
    At(Expr),
    Range(RangeValue),
    /// Places, in an array of integers.
    Array(Elements),
    /// Whether each place is meant.
    Mask(Elements),
}

impl Checker<'_> {
    /// `base[given...]` of elements: one of them, or a part.
    pub(in crate::typed) fn index_elements(
        &mut self,
        base: &Elements,
        given: &[ast::Argument],
        base_span: Span,
        span: Span,
    ) -> Checked<Value> {
        let (mut subscripts, reported) = match self.subscripts(base, given) {
            Ok(subscripts) => (subscripts, None),
            Err(reported) => (vec![], Some(reported)),
        };
        if reported.is_none()
            && given.len() == 1
            && base.rank() > 1
            && matches!(subscripts.as_slice(), [Subscript::All])
        {
            let mut elements = base.clone().at(span);
            if let Recipe::Part(part) = &mut elements.recipe {
                part.flat = true;
                part.keeps = if self.views { Keeps::View } else { Keeps::Copy };
                return Ok(Value::Elements(Box::new(elements)));
            }
        }
        if reported.is_none()
            && given.len() == 1
            && base.rank() > 1
            && let [Subscript::At(number)] = subscripts.as_slice()
            && self.firsts(base).iter().all(|first| constant_integer(first) == Some(1))
        {
            let number = number.clone();
            subscripts = self.places_of_number(number, &base.extents, span).into_iter().map(Subscript::At).collect();
            return self.part(base, subscripts, span);
        }
        let takes_number =
            given.len() == 1 && matches!(subscripts.as_slice(), [Subscript::Array(_) | Subscript::Mask(_)]);
        if subscripts.len() != base.rank() && reported.is_none() && !takes_number || given.len() > base.rank() {
            // A `CartesianIndex` is several.
            let is_given = reported.is_some() || subscripts.len() == base.rank();
            let count = if is_given { given.len() } else { subscripts.len() };
            return Err(self.wrong_count(base, count, base_span, span));
        }
        match reported {
            Some(reported) => Err(reported),
            None if subscripts.iter().any(|it| matches!(it, Subscript::Array(_) | Subscript::Mask(_))) => {
                self.gather(base, subscripts, span)
            }
            None => self.part(base, subscripts, span),
        }
    }

    /// Tells that elements have another number of axes than subscripts are given.
    pub(super) fn wrong_count(&mut self, base: &Elements, given: usize, base_span: Span, span: Span) -> Reported {
        let (array, declared) = match &base.recipe {
            Recipe::Part(part) => (self.local(part.array).name.clone(), self.local(part.array).span),
            _ => ("this array".to_string(), base_span),
        };
        self.fail(TypeError::SubscriptCount { array, rank: base.rank() as u32, given, span, declared })
    }

    /// What is given as subscripts; all that is wrong with them is reported.
    pub(super) fn subscripts(&mut self, base: &Elements, given: &[ast::Argument]) -> Checked<Vec<Subscript>> {
        let (mut subscripts, mut reported) = (vec![], None);
        for argument in given {
            if argument.keyword.is_some() || argument.section == ast::Section::Keywords {
                return self.not_yet(Construct::KeywordArgument, argument.value.span);
            }
            let axis = subscripts.len();
            match self.subscript(base, axis, given.len(), &argument.value) {
                Ok(found) => subscripts.extend(found),
                Err(error) => reported = Some(error),
            }
        }
        match reported {
            Some(reported) => Err(reported),
            None => Ok(subscripts),
        }
    }

    /// The subscripts of the element that `A[number]` is, in Julia's order of elements: the remainders of divisions by the
    /// extents. They are outside just where the number is.
    pub(super) fn places_of_number(&mut self, number: Expr, extents: &[Expr], span: Span) -> Vec<Expr> {
        let mut rest = super::shape::plus(number, -1);
        let mut places = vec![];
        for extent in &extents[..extents.len() - 1] {
            rest = self.share(rest);
            // Without elements no number is inside, and there is nothing to divide by.
            let size = clamped(extent.clone().placed(span));
            let size = crate::typed::constant::folded(binary(BinaryOp::Max, size, Expr::int64(1, span), span));
            let place = binary(BinaryOp::Mod, rest.clone(), size.clone(), span);
            places.push(super::shape::plus(place, 1));
            rest = binary(BinaryOp::DivFloor, rest, size, span);
        }
        places.push(super::shape::plus(rest, 1));
        places
    }

    fn subscript(
        &mut self,
        base: &Elements,
        axis: usize,
        given: usize,
        subscript: &ast::Expr,
    ) -> Checked<Vec<Subscript>> {
        let span = subscript.span;
        if matches!(subscript.kind, ast::ExprKind::Colon) {
            return Ok(vec![Subscript::All]);
        }
        let one = Expr::int64(1, span);
        let (first, last) = match base.extents.get(axis) {
            // `end` of a single subscript counts all elements.
            Some(_) if given == 1 && base.rank() > 1 => (one, self.product_of(&base.extents, span)),
            Some(_) => {
                let RangeValue { start, stop, .. } = self.axis_range(base, axis);
                (start.placed(span), stop.placed(span))
            }
            None => (one.clone(), one),
        };
        self.indexed.push(Indexed::Axis { first, last });
        let value = match &subscript.kind {
            ast::ExprKind::Vector(places) if (1..=LISTED).contains(&places.len()) => self.listed(places, span),
            ast::ExprKind::Index { base, subscripts } => self.index(base, subscripts, span),
            _ => self.value(subscript),
        };
        self.indexed.pop();
        match value? {
            // The part would have the axes of the range, or count from 1, as the range's type has it.
            Value::Range(range) if is_axis(&range) => Err(self.array_error(ArrayError::OffsetIndex { span })),
            Value::Range(range) => {
                let start = self.settled("first", range.start);
                let stop = self.settled("last", range.stop);
                Ok(vec![Subscript::Range(RangeValue { start, step: range.step, stop })])
            }
            value @ (Value::Array(_) | Value::Elements(_)) => {
                let found = self.kind(&value);
                let elements = self.as_elements(&value, span).expect("arrays have elements");
                match super::scatter::array_subscript(elements) {
                    Some(subscript) => Ok(vec![subscript]),
                    None => Err(self.fail(TypeError::SubscriptType { found, span })),
                }
            }
            // An element's number among those of one array, along an axis of another.
            Value::Position(position) if position.is_number && (given > 1 || !is_place_in(&position, base)) => {
                Ok(vec![Subscript::At(self.as_scalar(Value::Position(position), span)?)])
            }
            Value::Position(position) => {
                let found = self.subscripts_of(&position, base, axis, span)?;
                Ok(found.into_iter().map(Subscript::At).collect())
            }
            Value::Scalar(expr) if expr.ty.is_integer() && is_total(expr.ty, ScalarType::I64) => {
                Ok(vec![Subscript::At(self.coerce(expr, ScalarType::I64, None)?)])
            }
            other @ (Value::Scalar(_)
            | Value::Irrational(..)
            | Value::Complex(_)
            | Value::ComplexArray(_)
            | Value::ComplexType(_)
            | Value::Tuple(_)
            | Value::Named(..)
            | Value::Type(_)
            | Value::Places(_)
            | Value::Function(_)
            | Value::Nothing
            | Value::Never) => {
                let found = self.kind(&other);
                Err(self.fail(TypeError::SubscriptType { found, span }))
            }
        }
    }

    /// The subscripts that a position is in an array, from this axis on.
    fn subscripts_of(&mut self, position: &Position, base: &Elements, axis: usize, span: Span) -> Checked<Vec<Expr>> {
        if let Some(origin) = &position.linear_in {
            let extents = base.extents.get(axis..).unwrap_or_default();
            if origin.rank() != extents.len() {
                let (left, right) = (dimensions(origin.rank()), dimensions(extents.len()));
                return Err(self.array_error(ArrayError::Mismatch { left, right, span }));
            }
            for (own, other) in origin.extents.iter().zip(extents) {
                self.same_extent(own, other, span)?;
            }
            let (own, other) = (self.firsts(origin), self.firsts(base));
            if !own.iter().zip(&other[axis..]).all(|(own, other)| same(own, other)) {
                return Err(self.array_error(ArrayError::OffsetIndex { span }));
            }
        }
        Ok(position.subscripts.iter().map(|subscript| subscript.clone().placed(span)).collect())
    }

    /// The part of `base` that subscripts, one for each axis, take.
    fn part(&mut self, base: &Elements, subscripts: Vec<Subscript>, span: Span) -> Checked<Value> {
        if let (Recipe::Range(_), [Subscript::At(at)]) = (&base.recipe, subscripts.as_slice()) {
            let at = place_of(at.clone(), &self.firsts(base)[0]);
            self.require_inside(&at, &base.extents[0], span)?;
            return self.element(base, &[at]);
        }
        if let (Recipe::Slices { .. }, [Subscript::At(at)]) = (&base.recipe, subscripts.as_slice()) {
            // Only loops over all of them have subscripts for them.
            return self.element(base, std::slice::from_ref(at));
        }
        let Recipe::Part(from) = &base.recipe else {
            let elements_at: Option<Vec<Expr>> = subscripts
                .iter()
                .map(|subscript| match subscript {
                    Subscript::At(at) => Some(at.clone()),
                    Subscript::All | Subscript::Range(_) | Subscript::Array(_) | Subscript::Mask(_) => None,
                })
                .collect();
            return match elements_at {
                Some(at) => {
                    let firsts = self.firsts(base);
                    let at: Vec<Expr> = at.into_iter().zip(&firsts).map(|(at, first)| place_of(at, first)).collect();
                    for (at, extent) in at.iter().zip(&base.extents) {
                        self.require_inside(at, extent, span)?;
                    }
                    self.keep_elements(base)?;
                    self.element(base, &at)
                }
                None => self.not_yet(Construct::Slice, span),
            };
        };
        let mut given = subscripts.into_iter().zip(&base.extents);
        let (mut axes, mut extents) = (vec![], vec![]);
        let array = from.array;
        for axis in &from.axes {
            let Axis::Along { start, step, whole } = axis else {
                axes.push(axis.clone());
                continue;
            };
            let Some((subscript, extent)) = given.next() else { continue };
            match subscript {
                Subscript::All => {
                    axes.push(axis.clone());
                    extents.push(extent.clone());
                }
                Subscript::At(at) => {
                    if !whole {
                        self.require_inside(&at, extent, span)?;
                    }
                    axes.push(Axis::At(if *whole { at } else { step_to(start, *step, &at) }));
                }
                Subscript::Array(_) | Subscript::Mask(_) => return self.not_yet(Construct::Gather, span),
                Subscript::Range(range) => {
                    let length = count(&range);
                    match whole {
                        true => self.require_range_in_array(&range, &length, (array, axes.len()), span)?,
                        false => self.require_range_inside(&range, &length, extent, span)?,
                    }
                    let first = if *whole { range.start } else { step_to(start, *step, &range.start) };
                    let step = step.saturating_mul(range.step);
                    axes.push(Axis::Along { start: first, step, whole: false });
                    extents.push(length);
                }
            }
        }
        let inbounds = self.mode.inbounds;
        if extents.is_empty() {
            let subscripts: Vec<Expr> = axes
                .into_iter()
                .map(|axis| match axis {
                    Axis::At(at) | Axis::Along { start: at, .. } => at,
                })
                .collect();
            if base.numbers == Numbers::Real
                && let Some(number) = self.constant_element(array, &subscripts, span)?
            {
                return Ok(number);
            }
            return Ok(super::element::loaded(base, (array, inbounds), subscripts, span));
        }
        for (number, axis) in axes.iter_mut().enumerate() {
            if let Axis::At(at) = axis {
                *at = self.settled("at", at.clone());
                let at = at.clone();
                self.require_inside_empty(&at, array, number, &extents, span)?;
            }
        }
        let keeps = if self.views { Keeps::View } else { Keeps::Copy };
        let recipe = Recipe::Part(Part { array, axes, keeps, flat: false, inbounds });
        Ok(Value::Elements(Box::new(Elements { extents, recipe, span, ..base.clone() })))
    }

    /// The view of a matrix at one place of an axis, counted from 1.
    pub(super) fn slice_at(&mut self, of: &Elements, axis: usize, at: Expr, span: Span) -> Checked<Value> {
        let at = place_with(at, &self.firsts(of)[axis]);
        let subscripts = (0..of.rank()).map(|other| match other == axis {
            true => Subscript::At(at.clone()),
            false => Subscript::All,
        });
        let subscripts = subscripts.collect();
        self.with_views(|checker| checker.part(of, subscripts, span))
    }

    /// `view(A, subscripts...)`, and subscripts under `@views`.
    pub(in crate::typed) fn with_views<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.views, true);
        let result = evaluate(self);
        self.views = before;
        result
    }

    pub(in crate::typed) fn product_of(&mut self, extents: &[Expr], span: Span) -> Expr {
        let sizes = extents.iter().map(|extent| clamped(extent.clone().placed(span)));
        let product = sizes.reduce(|left, right| binary(BinaryOp::Mul, left, right, span));
        product.map_or_else(|| Expr::int64(1, span), crate::typed::constant::folded)
    }

    /// The component `[k]` of a `CartesianIndex`.
    pub(in crate::typed) fn component(
        &mut self,
        position: &Position,
        given: &[ast::Argument],
        span: Span,
    ) -> Checked<Value> {
        let [subscript] = given else { return self.not_yet(Construct::Iterator, span) };
        let at = self.scalar(&subscript.value)?;
        let place = constant_integer(&at).and_then(|at| usize::try_from(at - 1).ok());
        match (place.and_then(|at| position.subscripts.get(at)), &position.linear_in) {
            (Some(component), None) => Ok(Value::Scalar(component.clone().placed(span))),
            (_, Some(_)) => self.not_yet(Construct::LinearIndex, span),
            // Like the tuple of its subscripts.
            (None, None) => {
                let subscripts = position.subscripts.iter().cloned().map(Value::Scalar).collect();
                self.tuple_element(subscripts, at, subscript.value.span, span)
            }
        }
    }
}

impl Elements {
    /// The same elements, shown to the user at another place.
    pub(super) fn at(mut self, span: Span) -> Elements {
        self.span = span;
        self
    }
}

/// Whether a position has as many axes as an array.
fn is_place_in(position: &Position, base: &Elements) -> bool {
    let Some(origin) = &position.linear_in else { return true };
    let is_same = || origin.extents.iter().zip(&base.extents).all(|(own, other)| same(own, other));
    origin.rank() == base.rank() && (!position.is_of_numbering() || is_same())
}
