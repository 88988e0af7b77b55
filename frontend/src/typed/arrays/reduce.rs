//! `sum`, `prod`, `maximum`, `minimum`, `any`, `all`, `count`, `dot`: a variable that a loop over all elements updates.
//!
//! Julia starts from the first element; here the variable starts with what changes no value: `-0.0` for sums of floats
//! (`-0.0 + x` is `x`, the sign of zero included), `1` for products, the first element for `maximum` and `minimum`.

use super::shape::{clamped, is_one};
use super::{ArrayError, Elements, Keeps, Numbers, Operation, Recipe};
use crate::ast;
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::complex::Complex;
use crate::typed::convert::{constant_integer, widen};
use crate::typed::operator::{binary, if_else};
use crate::typed::tree::{Block, Expr, ExprKind, Mode, Role, Simd, SizeError, StatementKind, Type};
use crate::typed::unsupported::Construct;
use crate::typed::value::{Kind, Value};
use tessella_diagnostics::{Span, Spanned};
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reduction {
    Sum,
    Product,
    /// `reduce(+, A)` of small integers, which stay small.
    NarrowSum,
    NarrowProduct,
    Maximum,
    Minimum,
    Any,
    All,
    Count,
}

/// Whether a reduction of nothing has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Empty {
    Allowed,
    Refused,
}

/// In which order Julia takes the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// From the first to the last.
    First,
    /// `sum(A)` and `prod(A)` of arrays go through blocks and vectors, `dot` is a library's: no order is promised.
    Any,
}

fn reduction(name: &str) -> Option<Reduction> {
    Some(match name {
        "sum" => Reduction::Sum,
        "prod" => Reduction::Product,
        "maximum" => Reduction::Maximum,
        "minimum" => Reduction::Minimum,
        "any" => Reduction::Any,
        "all" => Reduction::All,
        "count" => Reduction::Count,
        _ => return None,
    })
}

pub(super) fn is_reduction(name: &str) -> bool {
    reduction(name).is_some() || matches!(name, "reduce" | "mapreduce" | "foldl" | "mapfoldl")
}

impl Checker<'_> {
    /// `sum(A)`, `sum(f, A)`, `sum(f(x) for x in A)`, with `dims` and `init`.
    pub(super) fn reduction_call(&mut self, name: &str, given: &[ast::Argument], span: Span) -> Checked<Value> {
        let (mut dims, mut init, mut arguments) = (None, None, vec![]);
        for argument in given {
            match argument.keyword.as_ref().map(|keyword| keyword.value.as_str()) {
                Some("dims") if !matches!(argument.value.kind, ast::ExprKind::Colon) => dims = Some(&argument.value),
                Some("dims") => {}
                Some("init") => init = Some(&argument.value),
                None if argument.section == ast::Section::Main => arguments.push(&argument.value),
                Some(_) | None => return self.not_yet(Construct::KeywordArgument, argument.value.span),
            }
        }
        // `reduce(+, A)` and `mapreduce(f, +, A)` are `sum(A)` and `sum(f, A)`, but for small integers.
        let by_operator = matches!(name, "reduce" | "foldl" | "mapreduce" | "mapfoldl");
        let is_generator = matches!(
            arguments.last(),
            Some(ast::Expr { kind: ast::ExprKind::Generator { brackets: ast::Brackets::Round, .. }, .. })
        );
        let order = if is_generator || matches!(name, "foldl" | "mapfoldl") { Order::First } else { Order::Any };
        let (name, arguments) = match (name, arguments.as_slice()) {
            ("reduce" | "foldl", [operator, array]) => (self.reduced_by(operator)?, vec![*array]),
            ("mapreduce" | "mapfoldl", [function, operator, array]) => {
                (self.reduced_by(operator)?, vec![*function, *array])
            }
            (_, _) => (name, arguments),
        };
        // `mapreduce(f, +, A, B)` is `reduce(+, map(f, A, B))`.
        if let ("mapreduce", [function, operator, arrays @ ..]) = (name, arguments.as_slice())
            && arrays.len() > 1
            && self.user_function("reduce").is_none()
        {
            let zipped = Value::Elements(Box::new(self.zipped(function, arrays, span)?));
            let zipped = super::collection::named(&self.hidden("zipped", zipped, span), span);
            let keywords = given.iter().filter(|argument| argument.keyword.is_some()).cloned();
            let given = [super::collection::positional(operator), super::collection::positional(&zipped)];
            return self.reduction_call("reduce", &given.into_iter().chain(keywords).collect::<Vec<_>>(), span);
        }
        let Some(reduction) = reduction(name) else {
            return Err(self.arity(name, "an operator and an array", arguments.len(), span));
        };
        let with_dims = dims.is_some();
        if !with_dims
            && init.is_none()
            && let Some(value) = self.tuple_reduction(reduction, by_operator, &arguments, span)
        {
            return value;
        }
        if let [ast::Expr { kind: ast::ExprKind::Generator { body, clauses, brackets: ast::Brackets::Round }, .. }] =
            arguments.as_slice()
            && !with_dims
        {
            let are_terms = self.is_of_real_terms(reduction, body, clauses, span);
            let is_nested = || {
                let filtered = self.filtered(reduction, by_operator, body, clauses);
                filtered.is_none_or(|(_, clauses)| Self::is_nested(&clauses))
            };
            if are_terms || Self::is_nested(clauses) && is_nested() {
                return self.reduce_generated(name, (reduction, by_operator), (body, clauses), init, span);
            }
        }
        let (elements, empty) = self.reduced(name, (reduction, by_operator), &arguments, span)?;
        let reduction = of_element(reduction, by_operator, elements.element, elements.numbers);
        let init = match init {
            None => None,
            Some(init) => Some(self.initial(reduction, elements.element, init)?),
        };
        match dims {
            None => self.reduce(name, reduction, &unrolled(elements), (empty, init, order), span),
            Some(dims) => {
                let axes = self.dimensions_argument(dims)?;
                self.reduce_along(name, reduction, &elements, (&axes, init), span)
            }
        }
    }

    /// The reduction that repeats such an operator.
    fn reduced_by(&mut self, operator: &ast::Expr) -> Checked<&'static str> {
        match self.library_name(operator) {
            Some("+") => Ok("sum"),
            Some("*") => Ok("prod"),
            Some("max") => Ok("maximum"),
            Some("min") => Ok("minimum"),
            Some("&") => Ok("all"),
            Some("|") => Ok("any"),
            _ => self.not_yet(Construct::Reduction, operator.span),
        }
    }

    /// The first value of a reduction; of no elements it is the result, so it must have the result's type.
    pub(super) fn initial(&mut self, reduction: Reduction, element: ScalarType, init: &ast::Expr) -> Checked<Expr> {
        let value = self.scalar(init)?;
        let value = self.settled("init", value);
        let expected = total_type(reduction, element);
        // A first value that all elements are promoted to has the result's type, too: `sum(x; init = 0.0)` of `Float32`s.
        let takes_wider = !is_truth(reduction)
            && crate::typed::convert::promote(value.ty, expected) == value.ty
            && crate::typed::convert::is_total(expected, value.ty);
        match value.ty == expected || takes_wider {
            true => Ok(value),
            false => Err(self.array_error(ArrayError::InitialType { found: value.ty, expected, span: init.span })),
        }
    }

    /// What is reduced, and whether Julia gives a value if there is nothing.
    fn reduced(
        &mut self,
        name: &str,
        (reduction, by_operator): (Reduction, bool),
        arguments: &[&ast::Expr],
        span: Span,
    ) -> Checked<(Elements, Empty)> {
        let is_logical = is_logical(reduction, by_operator);
        let (elements, empty) = match arguments {
            [
                ast::Expr {
                    kind: ast::ExprKind::Generator { body, clauses, brackets: ast::Brackets::Round },
                    span: at,
                },
            ] => {
                let is_known = self.is_plain(body, clauses);
                let filtered = self.filtered(reduction, by_operator, body, clauses);
                let (body, clauses) = filtered
                    .as_ref()
                    .map_or((&**body, clauses.as_slice()), |(body, clauses)| (body, clauses.as_slice()));
                let elements = self.comprehension(body, clauses, *at)?;
                (elements, if is_known || is_logical { Empty::Allowed } else { Empty::Refused })
            }
            [array] => (self.elements_argument(name, array)?, Empty::Allowed),
            [function, array] => {
                let operation = self.function_argument(function)?;
                let operand = self.elements_argument(name, array)?;
                let keeps = matches!(&operation, Operation::Named(name) if ["identity", "abs", "abs2"].contains(&name.as_str()));
                let extents = operand.extents.clone();
                let recipe = Recipe::Apply { operation, operands: vec![operand] };
                let elements = self.elements(extents, recipe, span)?;
                (elements, if keeps || is_logical { Empty::Allowed } else { Empty::Refused })
            }
            _ => return Err(self.arity(name, "an array, or a function and an array", arguments.len(), span)),
        };
        let empty = match reduction {
            Reduction::Maximum if empty == Empty::Allowed && self.is_magnitude(arguments) => Empty::Allowed,
            Reduction::Maximum | Reduction::Minimum => Empty::Refused,
            Reduction::Sum
            | Reduction::Product
            | Reduction::NarrowSum
            | Reduction::NarrowProduct
            | Reduction::Any
            | Reduction::All
            | Reduction::Count => empty,
        };
        Ok((elements, empty))
    }

    fn reduce(
        &mut self,
        name: &str,
        reduction: Reduction,
        elements: &Elements,
        (empty, init, order): (Empty, Option<Expr>, Order),
        span: Span,
    ) -> Checked<Value> {
        self.writes_statements(span)?;
        self.reducible(name, reduction, elements, span)?;
        let ty = elements.element;
        let empty = if init.is_some() { Empty::Allowed } else { empty };
        let extents: Vec<Expr> =
            elements.extents.iter().map(|extent| self.settled("extent", extent.clone()).placed(span)).collect();
        if empty == Empty::Refused {
            for extent in extents.iter().filter(|extent| constant_integer(extent).is_none_or(|count| count <= 0)) {
                let some = compare(CompareOp::Ge, extent.clone(), Expr::int64(1, span), span);
                self.require(some, SizeError::Argument, "reducing over an empty collection is not allowed", span)?;
            }
        }
        if elements.numbers == Numbers::Complex {
            return self.reduce_complex(name, reduction, elements, (&extents, empty), span);
        }
        let total_type = init.as_ref().map_or_else(|| total_type(reduction, ty), |init| init.ty);
        let number = |value: i128| Expr::number(total_type, value, span);
        let start = match reduction {
            _ if let Some(init) = init => init,
            Reduction::Sum if total_type.is_float() => zero_sum(total_type, &extents, empty, span),
            Reduction::Sum | Reduction::NarrowSum | Reduction::Count => number(0),
            Reduction::Product | Reduction::NarrowProduct => number(1),
            Reduction::Any => Expr::constant(Constant::bool(false), span),
            Reduction::All => Expr::constant(Constant::bool(true), span),
            Reduction::Maximum | Reduction::Minimum => {
                let is_float = total_type.is_float();
                match (empty, some_elements(&extents, span)) {
                    // Of magnitudes: no float is less, and of integers, which wrap around, none less than the least.
                    (Empty::Allowed, _) if is_float => number(0),
                    (Empty::Allowed, Some(condition)) => {
                        let least = number(total_type.integer_limits().0);
                        let (condition, yes, no) = (Box::new(condition), Box::new(least), Box::new(number(0)));
                        Expr { kind: ExprKind::Select { condition, yes, no }, ty: total_type, span }
                    }
                    (Empty::Allowed | Empty::Refused, _) => {
                        self.unchecked_element(elements, &vec![Expr::int64(1, span); extents.len()], span)?
                    }
                }
            }
        };
        let owner = self.loops.last().copied();
        let mode = self.mode;
        let total = self.new_local(name, Type::Scalar(total_type), Role::Variable(owner), span);
        self.emit(StatementKind::Set { target: total, value: start, label: None, mode }, span);
        let stops = matches!(reduction, Reduction::Any | Reduction::All) && super::undecided::may_raise(elements);
        let (block, done) = self.in_block(|checker| {
            checker.nest(&extents, span, |checker, at| {
                let element = checker.element(elements, at)?;
                let element = widen(checker.as_scalar(element, span)?, total_type);
                let before = checker.read(total, span);
                let value = binary(operator(reduction, total_type), before, element, span);
                checker.emit(StatementKind::Set { target: total, value, label: None, mode }, span);
                Ok(())
            })
        });
        let mut block = if stops { self.undecided(block) } else { block };
        if order == Order::Any && is_free(reduction, total_type) {
            in_any_order(&mut block, (0, extents.len()), Simd::Before);
        }
        self.blocks.last_mut().expect("a block is open while a function is checked").extend(block);
        done?;
        Ok(Value::Scalar(self.read(total, span)))
    }

    /// Whether there is such a reduction of such elements.
    fn reducible(&mut self, name: &str, reduction: Reduction, elements: &Elements, span: Span) -> Checked<()> {
        let (ty, rank) = (elements.element, elements.rank() as u32);
        let found = match (reduction, elements.numbers) {
            (Reduction::Sum | Reduction::Product | Reduction::NarrowSum | Reduction::NarrowProduct, _) => return Ok(()),
            (_, Numbers::Complex) => Kind::ComplexArray { half: ty, rank },
            (Reduction::Any | Reduction::All | Reduction::Count, Numbers::Real) if ty != ScalarType::Bool => {
                Kind::Array { element: ty, rank }
            }
            (_, Numbers::Real) => return Ok(()),
        };
        Err(self.array_error(ArrayError::NotElements { function: name.into(), found, span }))
    }

    /// An element that a loop over all elements checks, too.
    fn unchecked_element(&mut self, elements: &Elements, at: &[Expr], span: Span) -> Checked<Expr> {
        let inbounds = std::mem::replace(&mut self.mode.inbounds, true);
        let element = self.element(elements, at).and_then(|element| self.as_scalar(element, span));
        self.mode.inbounds = inbounds;
        Ok(unchecked(element?))
    }

    /// `dims = 1`, `dims = (1, 2)`: the axes, from 0.
    fn dimensions_argument(&mut self, dims: &ast::Expr) -> Checked<Vec<usize>> {
        let elements = match &dims.kind {
            ast::ExprKind::Tuple(elements) => elements.iter().map(|element| &element.value).collect(),
            _ => vec![dims],
        };
        elements.into_iter().map(|element| self.axis_argument(element).map(|axis| axis as usize)).collect()
    }

    /// A reduction along some axes, which keep one element: a new array.
    ///
    /// Each of its elements starts with what Julia starts with, `0.0` for sums, and takes the elements in their order where they do not lie
    /// together.
    fn reduce_along(
        &mut self,
        name: &str,
        reduction: Reduction,
        elements: &Elements,
        (axes, init): (&[usize], Option<Expr>),
        span: Span,
    ) -> Checked<Value> {
        self.writes_statements(span)?;
        self.reducible(name, reduction, elements, span)?;
        if elements.numbers == Numbers::Complex {
            let function = name.to_string();
            return Err(self.array_error(ArrayError::AlongDimensions { function, span }));
        }
        let elements = &self.frozen_elements(elements.clone())?;
        let ty = elements.element;
        let total_type = init.as_ref().map_or_else(|| total_type(reduction, ty), |init| init.ty);
        let extents: Vec<Expr> =
            elements.extents.iter().map(|extent| self.settled("extent", extent.clone()).placed(span)).collect();
        let one = || Expr::int64(1, span);
        let is_reduced = |axis: usize| axes.contains(&axis);
        let kept = |axis: usize, along: &Expr| if is_reduced(axis) { one() } else { along.clone() };
        let sizes: Vec<Expr> = extents.iter().enumerate().map(|(axis, extent)| kept(axis, extent)).collect();
        let first_counts = init.is_none() && matches!(reduction, Reduction::Maximum | Reduction::Minimum);
        if first_counts {
            for (_, extent) in extents.iter().enumerate().filter(|(axis, _)| is_reduced(*axis)) {
                let some = compare(CompareOp::Ge, extent.clone(), one(), span);
                self.require(some, SizeError::Argument, "reducing over an empty collection is not allowed", span)?;
            }
        }
        let array = self.allocate(name, total_type, &sizes, span);
        let mode = Mode { inbounds: true, ..self.mode };
        self.nest(&sizes, span, |checker, at| {
            let value = match (reduction, init) {
                (_, Some(init)) => init,
                (Reduction::Maximum | Reduction::Minimum, None) => {
                    widen(checker.unchecked_element(elements, at, span)?, total_type)
                }
                (Reduction::Sum | Reduction::NarrowSum | Reduction::Count | Reduction::Any, None) => {
                    Expr::number(total_type, 0, span)
                }
                (Reduction::Product | Reduction::NarrowProduct | Reduction::All, None) => {
                    Expr::number(total_type, 1, span)
                }
            };
            let subscripts = at.to_vec();
            checker.emit(StatementKind::Store { array, subscripts, value, label: None, mode }, span);
            Ok(())
        })?;
        let (mut block, done) = self.in_block(|checker| {
            checker.nest(&extents, span, |checker, at| {
                let element = checker.element(elements, at)?;
                let element = widen(checker.as_scalar(element, span)?, total_type);
                let subscripts: Vec<Expr> = at.iter().enumerate().map(|(axis, along)| kept(axis, along)).collect();
                let load = ExprKind::Load { array, subscripts: subscripts.clone(), inbounds: true };
                let before = Expr { kind: load, ty: total_type, span };
                let value = binary(operator(reduction, total_type), before, element, span);
                checker.emit(StatementKind::Store { array, subscripts, value, label: None, mode }, span);
                Ok(())
            })
        });
        // The elements that lie together are reduced like an array of their own.
        let together = (0..extents.len()).take_while(|axis| axes.contains(axis)).count();
        if is_free(reduction, total_type) {
            in_any_order(&mut block, (extents.len() - together, together), Simd::Before);
        }
        self.blocks.last_mut().expect("a block is open while a function is checked").extend(block);
        done?;
        Ok(Value::Elements(Box::new(self.whole(array, Keeps::Fresh, span))))
    }

    /// The sum or product of complex numbers: both halves are updated from what they were before.
    fn reduce_complex(
        &mut self,
        name: &str,
        reduction: Reduction,
        elements: &Elements,
        (extents, empty): (&[Expr], Empty),
        span: Span,
    ) -> Checked<Value> {
        let half = widened(elements.element);
        let number = |value: i128| Expr::number(half, value, span);
        let zero = || if half.is_float() { zero_sum(half, extents, empty, span) } else { number(0) };
        let (re, im) = match reduction {
            Reduction::Sum => (zero(), zero()),
            _ => (number(1), number(0)),
        };
        let owner = self.loops.last().copied();
        let mode = self.mode;
        let (re_total, im_total) = self.new_complex(name, half, Role::Variable(owner), span);
        for (target, value) in [(re_total, re), (im_total, im)] {
            self.emit(StatementKind::Set { target, value, label: None, mode }, span);
        }
        self.nest(extents, span, |checker, at| {
            let element = checker.element(elements, at)?;
            let Complex { re, im } = checker.make_complex(element, half, span)?;
            let before = Complex { re: checker.read(re_total, span), im: checker.read(im_total, span) };
            let (re, im) = match reduction {
                Reduction::Sum => {
                    (binary(BinaryOp::Add, before.re, re, span), binary(BinaryOp::Add, before.im, im, span))
                }
                _ => {
                    let element = checker.frozen_complex(Complex { re, im });
                    let product = checker.complex_product(before, element.clone(), span)?;
                    // One times the first element could change the signs of its zeros.
                    let is_first = at.iter().map(|at| compare(CompareOp::Eq, at.clone(), Expr::int64(1, span), span));
                    let is_first = is_first.reduce(|a, b| binary(BinaryOp::AndAlso, a, b, span));
                    let is_first = is_first.unwrap_or_else(|| Expr::constant(Constant::bool(true), span));
                    let re = if_else(is_first.clone(), element.re, product.re, span);
                    (checker.hold("re", re), if_else(is_first, element.im, product.im, span))
                }
            };
            for (target, value) in [(im_total, im), (re_total, re)] {
                checker.emit(StatementKind::Set { target, value, label: None, mode }, span);
            }
            Ok(())
        })?;
        Ok(Complex { re: self.read(re_total, span), im: self.read(im_total, span) }.value())
    }

    /// `dot(x, y)`: the elements of `x` are conjugated.
    pub(super) fn dot(&mut self, left: &ast::Expr, right: &ast::Expr, span: Span) -> Checked<Value> {
        let (a, b) = (self.elements_argument("dot", left), self.elements_argument("dot", right));
        self.inner(a?, b?, span)
    }

    /// The same of elements.
    pub(super) fn inner(&mut self, a: Elements, b: Elements, span: Span) -> Checked<Value> {
        let a = match a.numbers {
            Numbers::Real => a,
            Numbers::Complex => {
                let extents = a.extents.clone();
                let recipe = Recipe::Apply { operation: Operation::Named("conj".into()), operands: vec![a] };
                self.elements(extents, recipe, span)?
            }
        };
        self.sum_of_products("dot", a, b, span)
    }

    /// The sum of what elements at the same places make together, in any order. That of small integers stays small.
    pub(super) fn sum_of_products(&mut self, name: &str, a: Elements, b: Elements, span: Span) -> Checked<Value> {
        self.equal_extents(&a, &b, span)?;
        let extents = a.extents.clone();
        let recipe = Recipe::Apply { operation: Operation::Binary("*".into()), operands: vec![a, b] };
        let products = self.elements(extents, recipe, span)?;
        self.writes_statements(span)?;
        let reduction = of_element(Reduction::Sum, true, products.element, products.numbers);
        self.reduce(name, reduction, &products, (Empty::Allowed, None, Order::Any), span)
    }

    /// A generator whose conditions have become part of its body, where that changes nothing: `any(b for x in r if c)` is
    /// `any(c && b for x in r)`. `reduce(|, b for x in r if c)` is only where nothing that is left has a value, too.
    fn filtered(
        &self,
        reduction: Reduction,
        by_operator: bool,
        body: &ast::Expr,
        clauses: &[ast::GeneratorClause],
    ) -> Option<(ast::Expr, Vec<ast::GeneratorClause>)> {
        let (loops, conditions): (Vec<_>, Vec<_>) =
            clauses.iter().partition(|clause| matches!(clause, ast::GeneratorClause::For(_)));
        let has_value = is_logical(reduction, by_operator) || is_truth(reduction) && self.is_plain(body, clauses);
        if conditions.is_empty() || !has_value {
            return None;
        }
        let span = body.span;
        let with = |condition: &ast::Expr, body: ast::Expr| match reduction {
            Reduction::All => {
                let operator = Spanned { value: ast::Operator { symbol: "!".into(), dotted: false }, span };
                let kind = ast::ExprKind::Prefix { operator, operand: Box::new(condition.clone()) };
                ast::ExprKind::Or(Box::new(ast::Expr { kind, span }), Box::new(body))
            }
            _ => ast::ExprKind::And(Box::new(condition.clone()), Box::new(body)),
        };
        let body = conditions.into_iter().rev().fold(body.clone(), |body, clause| match clause {
            ast::GeneratorClause::If(condition) => ast::Expr { kind: with(condition, body), span },
            ast::GeneratorClause::For(_) => body,
        });
        Some((body, loops.into_iter().cloned().collect()))
    }

    /// `(abs, A)` and `(abs2, A)`, of which Julia knows that the largest of none is zero.
    fn is_magnitude(&self, arguments: &[&ast::Expr]) -> bool {
        match arguments {
            [function, _] => matches!(self.library_name(function), Some("abs" | "abs2")),
            _ => false,
        }
    }

    /// `x for x in r`, also `abs(x) for x in r`, of which Julia knows what a reduction of nothing is.
    pub(super) fn is_plain(&self, body: &ast::Expr, clauses: &[ast::GeneratorClause]) -> bool {
        let body = match &body.kind {
            ast::ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No } => match arguments.as_slice() {
                [only]
                    if only.keyword.is_none()
                        && matches!(self.library_name(callee), Some("identity" | "abs" | "abs2")) =>
                {
                    &only.value
                }
                _ => return false,
            },
            _ => body,
        };
        let (first, conditions) = match clauses.split_first() {
            Some((ast::GeneratorClause::For(iterations), rest)) => (iterations, rest),
            _ => return false,
        };
        let filters = conditions.iter().all(|clause| matches!(clause, ast::GeneratorClause::If(_)));
        match &body.kind {
            ast::ExprKind::Name(name) if filters => match first.as_slice() {
                [iteration] => matches!(&iteration.target.kind, ast::ExprKind::Name(target) if target == name),
                _ => false,
            },
            _ => false,
        }
    }
}

/// Whether it is one of conditions.
pub(super) fn is_truth(reduction: Reduction) -> bool {
    matches!(reduction, Reduction::Any | Reduction::All | Reduction::Count)
}

/// Whether it has a value of nothing, whatever the conditions are: `any` and `all` do, `reduce(|, ...)` does not.
pub(super) fn is_logical(reduction: Reduction, by_operator: bool) -> bool {
    is_truth(reduction) && !by_operator
}

/// The type of the result.
pub(super) fn total_type(reduction: Reduction, element: ScalarType) -> ScalarType {
    match reduction {
        Reduction::Sum | Reduction::Product => widened(element),
        Reduction::Count => ScalarType::I64,
        Reduction::NarrowSum
        | Reduction::NarrowProduct
        | Reduction::Maximum
        | Reduction::Minimum
        | Reduction::Any
        | Reduction::All => element,
    }
}

/// The reduction of such elements: products of `Bool`s are `Bool`s, and only `sum` and `prod` widen small integers.
pub(super) fn of_element(reduction: Reduction, by_operator: bool, element: ScalarType, numbers: Numbers) -> Reduction {
    let is_bool = element == ScalarType::Bool;
    match (reduction, numbers) {
        (Reduction::Product, Numbers::Real) if is_bool => Reduction::All,
        (Reduction::Sum, Numbers::Real) if by_operator && !is_bool && !element.is_float() => Reduction::NarrowSum,
        (Reduction::Product, Numbers::Real) if by_operator && !element.is_float() => Reduction::NarrowProduct,
        (reduction, _) => reduction,
    }
}

/// What takes another element in.
pub(super) fn operator(reduction: Reduction, element: ScalarType) -> BinaryOp {
    match (reduction, element) {
        (Reduction::Sum | Reduction::NarrowSum | Reduction::Count, _) => BinaryOp::Add,
        (Reduction::Product | Reduction::NarrowProduct, _) => BinaryOp::Mul,
        (Reduction::Maximum, ScalarType::Bool) | (Reduction::Any, _) => BinaryOp::BitOr,
        (Reduction::Minimum, ScalarType::Bool) | (Reduction::All, _) => BinaryOp::BitAnd,
        (Reduction::Maximum, _) => BinaryOp::Max,
        (Reduction::Minimum, _) => BinaryOp::Min,
    }
}

/// Julia adds small integers as `Int` and `UInt`.
pub(super) fn widened(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::Bool | ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64 => ScalarType::I64,
        ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64 => ScalarType::U64,
        ScalarType::F32 | ScalarType::F64 => ty,
    }
}

/// `-0.0`, or `0.0` where there may be nothing to add.
fn zero_sum(ty: ScalarType, extents: &[Expr], empty: Empty, span: Span) -> Expr {
    let zero = |value: f64| match ty {
        ScalarType::F32 => Expr::constant(Constant::f32(value as f32), span),
        _ => Expr::constant(Constant::f64(value), span),
    };
    if empty == Empty::Refused {
        return zero(-0.0);
    }
    match some_elements(extents, span) {
        None => zero(-0.0),
        Some(condition) => {
            let (condition, yes, no) = (Box::new(condition), Box::new(zero(-0.0)), Box::new(zero(0.0)));
            Expr { kind: ExprKind::Select { condition, yes, no }, ty, span }
        }
    }
}

/// An array itself in place of its elements in one row, which come in the same order.
fn unrolled(mut elements: Elements) -> Elements {
    match elements.recipe {
        Recipe::Row(of) => *of,
        Recipe::Apply { operation, mut operands }
            if let [Elements { recipe: Recipe::Row(_), .. }] = operands.as_slice() =>
        {
            let operand = unrolled(operands.remove(0));
            elements.extents = operand.extents.clone();
            Elements { recipe: Recipe::Apply { operation, operands: vec![operand] }, ..elements }
        }
        _ => elements,
    }
}

/// Whether there are elements; `None` if there is one at least in any case.
fn some_elements(extents: &[Expr], span: Span) -> Option<Expr> {
    let some = extents
        .iter()
        .filter(|extent| !is_one(extent))
        .map(|extent| compare(CompareOp::Ge, clamped(extent.clone()), Expr::int64(1, span), span));
    some.reduce(|before, next| binary(BinaryOp::AndAlso, before, next, span))
}

/// The loop over all elements checks the first one, too.
fn unchecked(mut first: Expr) -> Expr {
    if let ExprKind::Load { inbounds, .. } = &mut first.kind {
        *inbounds = true;
    }
    first
}

/// Whether the order of the elements shows in the result, and Julia promises none.
fn is_free(reduction: Reduction, total: ScalarType) -> bool {
    total.is_float() && matches!(operator(reduction, total), BinaryOp::Add | BinaryOp::Mul)
}

/// The `inner` loops of a nest below the `outer` ones take what they update in any order; what computes an element keeps its own.
pub(super) fn in_any_order(block: &mut Block, (outer, inner): (usize, usize), simd: Simd) {
    if outer + inner == 0 {
        return;
    }
    for statement in block {
        if let StatementKind::For { mode, body, .. } = &mut statement.kind {
            if outer > 0 {
                in_any_order(body, (outer - 1, inner), simd);
            } else {
                mode.simd = simd;
                in_any_order(body, (0, inner - 1), simd.inside());
            }
        }
    }
}
