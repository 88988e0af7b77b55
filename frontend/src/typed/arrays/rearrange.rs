//! Arrays whose elements are those of another array at other places: `x[idx]`, `reverse(x)`, `circshift(x, k)`,
//! `permutedims(A, (3, 1, 2))`.
//!
//! Each is the comprehension that its documentation describes, over a hidden name for the array:
//!
//! ```text
//! A[idx, :]          ->   [A[p, j] for p in idx, j in axes(A, 2)]
//! circshift(x, k)    ->   [x[mod1(i - k, n)] for i in 1:n]
//! ```

use super::collection::{named, positional, subscripted};
use super::slice::Subscript;
use super::{ArrayError, Elements, Numbers, Operation, Part, Recipe};
use crate::ast::{self, ExprKind};
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::convert::constant_integer;
use crate::typed::error::TypeError;
use crate::typed::full_name::library_function;
use crate::typed::scope::State;
use crate::typed::tree::{Expr, SizeError};
use crate::typed::unsupported::Construct;
use crate::typed::value::{Kind, RangeValue, Value};
use tessella_diagnostics::{Span, Spanned};
use tessella_scalar::{CompareOp, ScalarType};

/// Names of the places in a gathered array, one for each subscript; no source can mean them.
const PLACES: [&str; 8] = ["#p1", "#p2", "#p3", "#p4", "#p5", "#p6", "#p7", "#p8"];

/// What subscripts with arrays among them take from an array: the iterators and what they run over, and the subscripts.
pub(super) struct Gathered {
    pub array: String,
    pub sources: Vec<(ast::Expr, Elements)>,
    pub subscripts: Vec<ast::Expr>,
}

impl Checker<'_> {
    /// `x[idx]`, `A[rows, :]`: the elements at all combinations of what the subscripts give.
    pub(super) fn gather(&mut self, base: &Elements, subscripts: Vec<Subscript>, span: Span) -> Checked<Value> {
        if self.views {
            return self.not_yet(Construct::Gather, span);
        }
        let Gathered { array, sources, subscripts } = self.gathered(base, subscripts, span)?;
        let elements = self.over_sources(&array, sources, &subscripts, span)?;
        Ok(Value::Elements(Box::new(elements)))
    }

    /// Gives the array and its single subscripts hidden names, and checks what Julia checks also where nothing is read.
    pub(super) fn gathered(&mut self, base: &Elements, given: Vec<Subscript>, span: Span) -> Checked<Gathered> {
        let counts_from_one = self.firsts(base).iter().all(|first| constant_integer(first) == Some(1));
        if !counts_from_one || given.len() > PLACES.len() {
            return self.not_yet(Construct::Gather, span);
        }
        let array = self.hidden("array", Value::Elements(Box::new(base.clone())), span);
        let (mut sources, mut subscripts) = (vec![], vec![]);
        let is_single = given.len() == 1;
        for ((axis, subscript), place) in given.into_iter().enumerate().zip(PLACES) {
            let extent = match is_single {
                true => self.product_of(&base.extents, span),
                false => base.extents[axis].clone().placed(span),
            };
            let place = named(place, span);
            let source = match subscript {
                Subscript::At(at) => {
                    let at = self.settled("at", at);
                    self.require_inside(&at, &extent, span)?;
                    subscripts.push(named(&self.hidden("at", Value::Scalar(at), span), span));
                    continue;
                }
                Subscript::All => RangeValue { start: Expr::int64(1, span), step: 1, stop: extent },
                Subscript::Range(range) => {
                    self.require_range_inside(&range, &super::count(&range), &extent, span)?;
                    range
                }
                Subscript::Mask(mask) => return self.not_yet(Construct::Mask, mask.span),
                Subscript::Array(places) => {
                    self.require_places(&places, &extent, span)?;
                    subscripts.push(place.clone());
                    sources.push((place, places));
                    continue;
                }
            };
            let source = self.as_elements(&Value::Range(source), span).expect("a range has elements");
            subscripts.push(place.clone());
            sources.push((place, source));
        }
        Ok(Gathered { array, sources, subscripts })
    }

    /// All places must be inside of an axis: also where no element is asked for, as another axis is empty, and where not
    /// all elements are.
    fn require_places(&mut self, places: &Elements, extent: &Expr, span: Span) -> Checked<()> {
        if self.mode.inbounds {
            return Ok(());
        }
        self.writes_statements(span)?;
        self.nest(&places.extents, places.span, |checker, at| {
            let place = checker.element(places, at)?;
            let place = checker.as_scalar(place, places.span)?;
            let place = checker.coerce(place, ScalarType::I64, None)?;
            let place = checker.settled("place", place);
            checker.require_inside(&place, extent, places.span)
        })
    }

    /// `[array[subscripts...] for ... in sources]`.
    fn over_sources(
        &mut self,
        array: &str,
        sources: Vec<(ast::Expr, Elements)>,
        subscripts: &[ast::Expr],
        span: Span,
    ) -> Checked<Elements> {
        let mut extents = vec![];
        for (_, source) in &sources {
            for extent in &source.extents {
                extents.push(self.settled("extent", extent.clone()));
            }
        }
        let body = Box::new(subscripted(array, subscripts, span));
        let home = self.home();
        self.elements(extents, Recipe::Comprehension { body, sources, home }, span)
    }

    /// `[1, end]` as a subscript: the first place, or the second, ..., without memory for them.
    pub(super) fn listed(&mut self, places: &[ast::Expr], span: Span) -> Checked<Value> {
        let mut names = vec![];
        for place in places {
            let value = self.value(place)?;
            let found = self.kind(&value);
            match value {
                Value::Scalar(value) if value.ty.is_integer() && value.ty != ScalarType::Bool => {
                    let value = self.coerce(value, ScalarType::I64, None)?;
                    let value = self.settled("at", value);
                    names.push(named(&self.hidden("at", Value::Scalar(value), place.span), place.span));
                }
                _ => return Err(self.fail(TypeError::SubscriptType { found, span: place.span })),
            }
        }
        let chosen = named("#choice", span);
        let number = |at: usize| ast::Expr { kind: ExprKind::Integer(at.to_string()), span };
        let last = names.pop().expect("a list of places has one at least");
        let body = names.into_iter().enumerate().rev().fold(last, |others, (at, place)| {
            let condition = crate::typed::jumps::comparison("==", chosen.clone(), number(at + 1), span);
            let (condition, yes, no) = (Box::new(condition), Box::new(place), Box::new(others));
            ast::Expr { kind: ExprKind::Ternary { condition, yes, no }, span }
        });
        let stop = Expr::int64(places.len() as i64, span);
        let range = Value::Range(RangeValue { start: Expr::int64(1, span), step: 1, stop: stop.clone() });
        let source = self.as_elements(&range, span).expect("a range has elements");
        let recipe = Recipe::Comprehension { body: Box::new(body), sources: vec![(chosen, source)], home: self.home() };
        let elements = self.elements(vec![stop], recipe, span)?;
        Ok(Value::Elements(Box::new(elements)))
    }

    /// `reverse(A)` of a vector, `reverse(A; dims)`.
    pub(super) fn reversed(&mut self, array: &ast::Expr, dims: Option<&ast::Expr>, span: Span) -> Checked<Value> {
        let base = self.elements_argument("reverse", array)?;
        let axis = match dims {
            Some(dims) => self.axis_argument(dims)? as usize,
            None => 0,
        };
        let is_clear = dims.is_some() || base.rank() == 1;
        if !is_clear || axis >= base.rank() {
            return Err(self.arity("reverse", "a vector, or an array and `dims`", 1, span));
        }
        self.with_axes(
            &base,
            |axes| {
                let RangeValue { start, stop, .. } = axes[axis].clone();
                axes[axis] = RangeValue { start: stop, step: -1, stop: start };
            },
            span,
        )
    }

    /// The array read along other ranges than its axes.
    fn with_axes(&mut self, base: &Elements, change: impl FnOnce(&mut Vec<RangeValue>), span: Span) -> Checked<Value> {
        self.counting_from_one(base, span)?;
        let mut axes: Vec<RangeValue> = (0..base.rank()).map(|axis| self.axis_range(base, axis)).collect();
        change(&mut axes);
        let array = self.hidden("array", Value::Elements(Box::new(base.clone())), span);
        let (mut sources, mut subscripts) = (vec![], vec![]);
        for (range, place) in axes.into_iter().zip(PLACES) {
            let place = named(place, span);
            let source = self.as_elements(&Value::Range(range), span).expect("a range has elements");
            subscripts.push(place.clone());
            sources.push((place, source));
        }
        let elements = self.over_sources(&array, sources, &subscripts, span)?;
        Ok(Value::Elements(Box::new(elements)))
    }

    /// `circshift(x, k)`, `circshift(A, (k, l))`.
    pub(super) fn shifted(&mut self, array: &ast::Expr, by: &ast::Expr, span: Span) -> Checked<Value> {
        let base = self.elements_argument("circshift", array)?;
        self.counting_from_one(&base, span)?;
        let steps = match self.value(by)? {
            Value::Tuple(steps) => steps,
            step => vec![step],
        };
        if steps.len() > base.rank() {
            return Err(self.arity("circshift", "an array, and one number for each of its dimensions", 2, span));
        }
        let array = self.hidden("array", Value::Elements(Box::new(base.clone())), span);
        let mut shifts = vec![];
        for step in steps {
            let found = self.kind(&step);
            let step = self.as_scalar(step, by.span)?;
            if !step.ty.is_integer() {
                return Err(self.fail(TypeError::SubscriptType { found, span: by.span }));
            }
            let step = self.settled("shift", step);
            shifts.push(self.hidden("shift", Value::Scalar(step), span));
        }
        let (mut sources, mut subscripts) = (vec![], vec![]);
        for (axis, place) in (0..base.rank()).zip(PLACES) {
            let place = named(place, span);
            let range = self.axis_range(&base, axis);
            let length = self.hidden("length", Value::Scalar(range.stop.clone()), span);
            let source = self.as_elements(&Value::Range(range), span).expect("a range has elements");
            subscripts.push(match shifts.get(axis) {
                Some(shift) => {
                    let before = crate::typed::jumps::infix("-", place.clone(), named(shift, span), span);
                    call("mod1", &[before, named(&length, span)], span)
                }
                None => place.clone(),
            });
            sources.push((place, source));
        }
        let elements = self.over_sources(&array, sources, &subscripts, span)?;
        Ok(Value::Elements(Box::new(elements)))
    }

    /// `permutedims(A, order)`.
    pub(super) fn permuted(&mut self, array: &ast::Expr, order: &ast::Expr, span: Span) -> Checked<Value> {
        let base = self.elements_argument("permutedims", array)?;
        self.counting_from_one(&base, span)?;
        let given = match self.value(order)? {
            Value::Tuple(values) => values,
            other => vec![other],
        };
        let mut axes = vec![];
        for value in given {
            let axis = match &value {
                Value::Scalar(value) => constant_integer(&crate::typed::constant::folded(value.clone())),
                _ => None,
            };
            let axis = axis.and_then(|axis| usize::try_from(axis - 1).ok()).filter(|axis| *axis < base.rank());
            match axis {
                Some(axis) if !axes.contains(&axis) => axes.push(axis),
                _ => return Err(self.fail(TypeError::NotConstant { what: "each dimension", span: order.span })),
            }
        }
        if axes.len() != base.rank() {
            return Err(self.arity("permutedims", "an array, and each of its dimensions once", 2, span));
        }
        let array = self.hidden("array", Value::Elements(Box::new(base.clone())), span);
        let places: Vec<ast::Expr> = PLACES.iter().take(base.rank()).map(|place| named(place, span)).collect();
        let sources = axes.iter().map(|&axis| {
            let range = Value::Range(self.axis_range(&base, axis));
            (places[axis].clone(), self.as_elements(&range, span).expect("a range has elements"))
        });
        let sources = sources.collect();
        let elements = self.over_sources(&array, sources, &places, span)?;
        Ok(Value::Elements(Box::new(elements)))
    }

    /// `mean(A)`, `mean(f, A)`, `mean(A; dims)`: the sum of floats, divided by their number.
    pub(super) fn mean(&mut self, given: &[ast::Argument], span: Span) -> Checked<Value> {
        let dims = given.iter().find(|it| it.keyword.as_ref().is_some_and(|keyword| keyword.value == "dims"));
        let others: Vec<&ast::Argument> = given.iter().filter(|it| it.keyword.is_none()).collect();
        let (function, array) = match others.as_slice() {
            [array] => (None, &array.value),
            [function, array] => (Some(&function.value), &array.value),
            _ => return Err(self.arity("mean", "an array, or a function and an array", others.len(), span)),
        };
        if others.len() + usize::from(dims.is_some()) != given.len() {
            return self.not_yet(Construct::KeywordArgument, span);
        }
        if matches!(array.kind, ExprKind::Generator { .. }) {
            return self.not_yet(Construct::Comprehension, array.span);
        }
        let elements = self.elements_argument("mean", array)?;
        if elements.numbers == Numbers::Complex {
            let found = Kind::ComplexArray { half: elements.element, rank: elements.rank() as u32 };
            return Err(self.array_error(ArrayError::NotElements { function: "mean".into(), found, span: array.span }));
        }
        let elements = self.frozen_elements(elements)?;
        let elements = match function {
            None => elements,
            Some(function) => {
                let is_magnitude = matches!(self.library_name(function), Some("identity" | "abs" | "abs2"));
                let operation = self.function_argument(function)?;
                for extent in elements.extents.iter().filter(|_| !is_magnitude) {
                    let some = compare(CompareOp::Ge, extent.clone().placed(span), Expr::int64(1, span), span);
                    self.require(some, SizeError::Argument, "reducing over an empty collection is not allowed", span)?;
                }
                let extents = elements.extents.clone();
                self.elements(extents, Recipe::Apply { operation, operands: vec![elements] }, span)?
            }
        };
        let floats = match elements.element.is_float() {
            true => elements,
            false => {
                let (extents, operation) = (elements.extents.clone(), Operation::Named("float".into()));
                self.elements(extents, Recipe::Apply { operation, operands: vec![elements] }, span)?
            }
        };
        let array = named(&self.hidden("array", Value::Elements(Box::new(floats)), array.span), array.span);
        let mut total = call("sum", std::slice::from_ref(&array), span);
        let count = match dims {
            Some(dims) => {
                if let ExprKind::Call { arguments, .. } = &mut total.kind {
                    arguments.push(dims.clone());
                }
                call("size", &[array, dims.value.clone()], span)
            }
            None => call("length", &[array], span),
        };
        let operator = Spanned { value: ast::Operator { symbol: "/".into(), dotted: dims.is_some() }, span };
        let kind = ExprKind::Infix { operator, left: Box::new(total), right: Box::new(count) };
        self.value(&ast::Expr { kind, span })
    }

    /// `vec(A)`, which shares its elements with `A`.
    pub(super) fn row(&mut self, array: &ast::Expr, span: Span) -> Checked<Value> {
        let value = self.value(array)?;
        let Some(of) = self.as_elements(&value, array.span) else {
            let (function, found) = ("vec".to_string(), self.kind(&value));
            return Err(self.array_error(ArrayError::NotElements { function, found, span: array.span }));
        };
        if of.rank() == 1 {
            return Ok(value);
        }
        let of = self.frozen_elements(of)?.at(span);
        let of = self.counted_from_one(of);
        let extents = vec![self.product_of(&of.extents, span)];
        let (element, numbers) = (of.element, of.numbers);
        Ok(Value::Elements(Box::new(Elements { element, numbers, extents, recipe: Recipe::Row(Box::new(of)), span })))
    }

    /// `eachcol(A)`, `eachrow(A)`.
    pub(super) fn slices(&mut self, name: &str, array: &ast::Expr, span: Span) -> Checked<Value> {
        let of = self.elements_argument(name, array)?;
        if of.rank() != 2 {
            let found = Kind::Array { element: of.element, rank: of.rank() as u32 };
            return Err(self.array_error(ArrayError::NotElements { function: name.into(), found, span: array.span }));
        }
        let of = Box::new(self.frozen_elements(of)?.at(span));
        let axis = usize::from(name == "eachcol");
        let (element, numbers, extents) = (of.element, of.numbers, vec![of.extents[axis].clone()]);
        let recipe = Recipe::Slices { of, axis };
        Ok(Value::Elements(Box::new(Elements { element, numbers, extents, recipe, span })))
    }

    fn counting_from_one(&mut self, base: &Elements, span: Span) -> Checked<()> {
        let counts = self.firsts(base).iter().all(|first| constant_integer(first) == Some(1));
        let is_flat = matches!(&base.recipe, Recipe::Part(Part { flat: true, .. })) && base.rank() > 1;
        match counts && !is_flat && base.rank() <= PLACES.len() {
            true => Ok(()),
            false => Err(self.array_error(ArrayError::OffsetMade { span })),
        }
    }

    /// A name that no source can have and nothing else has, for a value that nothing changes.
    pub(in crate::typed) fn hidden(&mut self, what: &str, value: Value, span: Span) -> String {
        let name = self.flow.fresh.name(what);
        let variable = self.declare(&name, span, State::Alias(value));
        self.assigned.insert(variable);
        name
    }
}

/// `function(arguments...)` of a function of the library.
pub(super) fn call(function: &str, arguments: &[ast::Expr], span: Span) -> ast::Expr {
    let callee = Box::new(library_function(function, span));
    let arguments = arguments.iter().map(positional).collect();
    ast::Expr { kind: ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No }, span }
}
