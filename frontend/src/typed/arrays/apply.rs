//! Operators and functions on whole arrays: `A .+ B`, `f.(A)`, `A + B`, `2A`, `A'`.

use super::product::{is_row, row_elements};
use super::shape::{clamped, is_one, same};
use super::{ArrayError, Elements, Numbers, Operation, Recipe};
use crate::ast;
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::convert::constant_integer;
use crate::typed::operator::binary;
use crate::typed::result::Container;
use crate::typed::tree::{Expr, SizeError};
use crate::typed::unsupported::Construct;
use crate::typed::value::{Kind, Value};
use tessella_diagnostics::{Span, Spanned};
use tessella_scalar::{BinaryOp, CompareOp, ScalarType};

/// Functions that make an array.
const MAKERS: [&str; 10] =
    ["zeros", "ones", "fill", "similar", "zero", "copy", "collect", "deepcopy", "permutedims", "map"];

/// All functions of whole arrays, for suggestions.
pub(in crate::typed) const FUNCTIONS: [&str; 37] = [
    "zeros",
    "ones",
    "fill",
    "similar",
    "copy",
    "collect",
    "permutedims",
    "map",
    "fill!",
    "copyto!",
    "view",
    "transpose",
    "adjoint",
    "dot",
    "mul!",
    "diff",
    "sum",
    "prod",
    "maximum",
    "minimum",
    "extrema",
    "any",
    "all",
    "count",
    "reduce",
    "mapreduce",
    "foldl",
    "cumsum",
    "cumprod",
    "accumulate",
    "mean",
    "reverse",
    "circshift",
    "eachcol",
    "eachrow",
    "enumerate",
    "zip",
];

/// Functions that change all elements of an array.
const FILLERS: [&str; 2] = ["fill!", "copyto!"];

/// Whether complex numbers are conjugated on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::typed) enum Conjugate {
    Yes,
    No,
}

impl Checker<'_> {
    /// Whether a value is an array, or an expression that has one as its value.
    pub(in crate::typed) fn is_whole(value: &Value) -> bool {
        matches!(value, Value::Array(_) | Value::ComplexArray(_) | Value::Elements(_))
    }

    /// The value as an operand: an array, a range, or one and the same number for all elements.
    pub(super) fn operand(&mut self, value: Value, span: Span) -> Checked<Elements> {
        if let Some(elements) = self.as_elements(&value, span) {
            if matches!(&elements.recipe, Recipe::Part(part) if part.flat) && elements.rank() > 1 {
                return self.not_yet(Construct::LinearIndex, span);
            }
            return Ok(elements);
        }
        let value = match value {
            value @ (Value::Scalar(_) | Value::Complex(_)) => self.settled_number("factor", value, span)?,
            value @ (Value::Irrational(..) | Value::Type(_)) => value,
            other => {
                let found = self.kind(&other);
                return Err(self.fail(crate::typed::TypeError::NotANumber { found, span }));
            }
        };
        let (element, numbers) = match self.kind(&value) {
            Kind::Scalar(ty) => (ty, Numbers::Real),
            Kind::Complex(half) => (half, Numbers::Complex),
            _ => (ScalarType::I64, Numbers::Real),
        };
        Ok(Elements { element, numbers, extents: vec![], recipe: Recipe::Scalar(Box::new(value)), span })
    }

    /// An operation on the elements of arrays of one shape, axes of one element stretched.
    pub(in crate::typed) fn broadcast(
        &mut self,
        operation: Operation,
        values: Vec<(Value, Span)>,
        span: Span,
    ) -> Checked<Value> {
        let mut operands = vec![];
        for (value, span) in values {
            operands.push(self.operand(value, span)?);
        }
        let extents = self.common_extents(&operands, span)?;
        let recipe = Recipe::Apply { operation, operands };
        let elements = self.elements(extents, recipe, span)?;
        // Julia computes such a range on its ends, in twice the precision: its elements have other bits than the
        // operation on each.
        let is_exact = elements.numbers == Numbers::Real && !elements.element.is_float();
        if !is_exact && self.container(&elements) == Some(Container::Range) {
            return Err(self.array_error(ArrayError::FloatRange { span }));
        }
        Ok(Value::Elements(Box::new(elements)))
    }

    /// `left operator right` of which one is an array.
    pub(in crate::typed) fn array_infix(
        &mut self,
        symbol: &str,
        dotted: bool,
        left: (Value, Span),
        right: (Value, Span),
        literal: bool,
        span: Span,
    ) -> Checked<Value> {
        let operation = match symbol {
            "^" => Operation::Power { literal },
            _ => Operation::Binary(symbol.to_string()),
        };
        if dotted {
            return self.broadcast(operation, vec![left, right], span);
        }
        if let Some(row) = self.row_infix(symbol, &left, &right, span) {
            return row;
        }
        match (symbol, Self::is_whole(&left.0), Self::is_whole(&right.0)) {
            ("*", true, true) => self.product(left, right, span),
            ("*", true, false) if matches!(right.0, Value::Range(_)) => self.product(left, right, span),
            ("*", false, true) if matches!(left.0, Value::Range(_)) => self.product(left, right, span),
            ("+" | "-", true, true) => {
                let (a, b) = (self.operand(left.0.clone(), left.1)?, self.operand(right.0.clone(), right.1)?);
                self.equal_extents(&a, &b, span)?;
                self.same_axes(&[&a, &b], span)?;
                self.broadcast(operation, vec![left, right], span)
            }
            ("*", true, false) | ("*", false, true) | ("/", true, false) | ("\\", false, true)
                if !matches!(left.0, Value::Range(_)) && !matches!(right.0, Value::Range(_)) =>
            {
                self.broadcast(operation, vec![left, right], span)
            }
            ("*" | "\\" | "/" | "^", _, _) => {
                let rank =
                    |checker: &mut Self, value: &Value| checker.as_elements(value, span).map_or(0, |it| it.rank());
                let ranks = (rank(self, &left.0), rank(self, &right.0));
                Err(self.array_error(ArrayError::Product { operator: symbol.to_string(), ranks, span }))
            }
            (_, _, _) => {
                let (left, right) = (self.kind(&left.0), self.kind(&right.0));
                let operator = symbol.to_string();
                Err(self.array_error(ArrayError::NeedsDot { operator, left, right, span }))
            }
        }
    }

    /// `2x'`, `x' / 2`, `x' + y'`: again a vector's transpose, which Julia tells from a matrix with one row.
    fn row_infix(
        &mut self,
        symbol: &str,
        left: &(Value, Span),
        right: &(Value, Span),
        span: Span,
    ) -> Option<Checked<Value>> {
        let inner = |(value, span): &(Value, Span)| match value {
            Value::Elements(elements) if is_row(elements) => {
                Some((Value::Elements(Box::new(row_elements((**elements).clone()))), *span))
            }
            _ => None,
        };
        let is_number = |(value, _): &(Value, Span)| matches!(value, Value::Scalar(_) | Value::Complex(_));
        let (left, right) = match (symbol, inner(left), inner(right)) {
            ("+" | "-", Some(left), Some(right)) => (left, right),
            ("*" | "/", Some(left), None) if is_number(right) => (left, right.clone()),
            ("*" | "\\", None, Some(right)) if is_number(left) => (left.clone(), right),
            (_, _, _) => return None,
        };
        let combined = self.array_infix(symbol, false, left, right, false, span);
        Some(combined.and_then(|combined| self.as_row(combined, span)))
    }

    /// `x'` of a vector that complex numbers were conjugated in before.
    fn as_row(&mut self, vector: Value, span: Span) -> Checked<Value> {
        match vector {
            Value::Elements(elements) => self.transposed(*elements, span).map(|row| Value::Elements(Box::new(row))),
            other => Ok(other),
        }
    }

    /// `-A`, `.!A`.
    pub(in crate::typed) fn array_prefix(
        &mut self,
        symbol: &str,
        dotted: bool,
        operand: (Value, Span),
        span: Span,
    ) -> Checked<Value> {
        if let Value::Elements(elements) = &operand.0
            && symbol == "-"
            && !dotted
            && is_row(elements)
        {
            let inner = Value::Elements(Box::new(row_elements((**elements).clone())));
            let negated = self.broadcast(Operation::Prefix(symbol.to_string()), vec![(inner, operand.1)], span)?;
            return self.as_row(negated, span);
        }
        match dotted || matches!(symbol, "-" | "+") {
            true => self.broadcast(Operation::Prefix(symbol.to_string()), vec![operand], span),
            false => {
                let found = self.kind(&operand.0);
                let function = symbol.to_string();
                Err(self.array_error(ArrayError::NotElements { function, found, span: operand.1 }))
            }
        }
    }

    /// `A .< B`.
    pub(in crate::typed) fn array_comparison(
        &mut self,
        symbol: &str,
        dotted: bool,
        left: (Value, Span),
        right: (Value, Span),
        span: Span,
    ) -> Checked<Value> {
        if dotted {
            return self.broadcast(Operation::Compare(symbol.to_string()), vec![left, right], span);
        }
        let (left, right) = (self.kind(&left.0), self.kind(&right.0));
        Err(self.array_error(ArrayError::NeedsDot { operator: symbol.to_string(), left, right, span }))
    }

    /// `A'`, `transpose(A)`.
    pub(in crate::typed) fn adjoint(
        &mut self,
        operand: &ast::Expr,
        conjugate: Conjugate,
        span: Span,
    ) -> Checked<Value> {
        let value = self.value(operand)?;
        match self.as_elements(&value, operand.span) {
            Some(elements) if elements.numbers == Numbers::Complex && conjugate == Conjugate::Yes => {
                let extents = elements.extents.clone();
                let recipe = Recipe::Apply { operation: Operation::Conjugate, operands: vec![elements] };
                let conjugated = self.elements(extents, recipe, span)?;
                self.transposed(conjugated, span).map(|elements| Value::Elements(Box::new(elements)))
            }
            None if matches!(value, Value::Complex(_)) => {
                let name = if conjugate == Conjugate::Yes { "conj" } else { "identity" };
                self.apply_to_scalars(name, vec![value], &[operand.span], span)
            }
            Some(elements) => self.transposed(elements, span).map(|elements| Value::Elements(Box::new(elements))),
            // The adjoint of a real number is the number.
            None => self.as_scalar(value, operand.span).map(Value::Scalar),
        }
    }

    /// `f.(a, b)`.
    pub(in crate::typed) fn dotted_call(
        &mut self,
        callee: &ast::Expr,
        name: &str,
        arguments: &[&ast::Expr],
        span: Span,
    ) -> Checked<Value> {
        let user = self.user_function(name);
        let ty = match &user {
            Some(_) => None,
            None => self.called_type(name, callee.span)?,
        };
        let values: Vec<Checked<Value>> = arguments
            .iter()
            .map(|argument| match self.names_type(argument) {
                true => self.type_expression(argument).map(Value::Type),
                false => self.value(argument),
            })
            .collect();
        let mut given = vec![];
        for (value, argument) in values.into_iter().zip(arguments) {
            given.push((value?, argument.span));
        }
        let operation = match (ty, name, given.len()) {
            (Some(ty), _, _) => Operation::Convert(ty),
            (None, _, _) if user.is_some() => match user {
                Some(callee) => Operation::User(callee),
                None => Operation::Identity,
            },
            (None, "-" | "+" | "!" | "~", 1) => Operation::Prefix(name.to_string()),
            (None, "^", 2) => Operation::Power { literal: false },
            (None, _, 2) if crate::typed::compare::operator_of(name).is_some() => Operation::Compare(name.to_string()),
            (None, _, _) => Operation::Named(name.to_string()),
        };
        let result = self.broadcast(operation, given, span)?;
        // Of numbers alone it is a number.
        match result {
            Value::Elements(elements) if elements.rank() == 0 => self.element(&elements, &[]),
            other => Ok(other),
        }
    }

    /// Functions of whole arrays; `None` if the name is none of them, or its arguments are none.
    pub(in crate::typed) fn whole_array_call(
        &mut self,
        name: &str,
        given: &[ast::Argument],
        span: Span,
    ) -> Option<Checked<Value>> {
        if self.lookup(name).is_some() {
            return None;
        }
        let is_reduction = super::reduce::is_reduction(name);
        if is_reduction {
            return Some(self.reduction_call(name, given, span));
        }
        if super::accumulate::is_accumulation(name) {
            return Some(self.accumulation(name, given, span));
        }
        match (name, given) {
            ("vec", [array]) if array.keyword.is_none() => return Some(self.row(&array.value, span)),
            ("mean", _) => return Some(self.mean(given, span)),
            ("reverse", [array]) if array.keyword.is_none() && self.may_be_whole(&array.value) => {
                return Some(self.reversed(&array.value, None, span));
            }
            ("reverse", [array, dims])
                if array.keyword.is_none() && dims.keyword.as_ref().is_some_and(|it| it.value == "dims") =>
            {
                return Some(self.reversed(&array.value, Some(&dims.value), span));
            }
            ("circshift", [array, by]) if array.keyword.is_none() && by.keyword.is_none() => {
                return Some(self.shifted(&array.value, &by.value, span));
            }
            ("permutedims", [array, order]) if array.keyword.is_none() && order.keyword.is_none() => {
                return Some(self.permuted(&array.value, &order.value, span));
            }
            ("inv", [array]) if self.may_be_whole(&array.value) => {
                return Some(Err(self.array_error(ArrayError::Product { operator: name.into(), ranks: (2, 0), span })));
            }
            ("eachcol" | "eachrow", [array]) if array.keyword.is_none() => {
                return Some(self.slices(name, &array.value, span));
            }
            (_, _) => {}
        }
        let known = MAKERS.contains(&name)
            || FILLERS.contains(&name)
            || name == "map!"
            || matches!(name, "view" | "transpose" | "adjoint" | "dot" | "diff" | "mul!");
        if !known {
            return None;
        }
        if let Some(keyword) = given.iter().find(|argument| argument.keyword.is_some()) {
            return Some(self.not_yet(Construct::KeywordArgument, keyword.value.span));
        }
        let arguments: Vec<&ast::Expr> = given.iter().map(|argument| &argument.value).collect();
        Some(match (name, arguments.as_slice()) {
            ("zero", [argument]) => match &argument.kind {
                ast::ExprKind::Name(array) if self.is_array_name(array) => self.array_maker(name, &arguments, span),
                _ => return None,
            },
            ("view", [array, ..]) => self.with_views(|checker| checker.index(array, &given[1..], span)),
            ("transpose", [array]) => self.adjoint(array, Conjugate::No, span),
            ("adjoint", [array]) => self.adjoint(array, Conjugate::Yes, span),
            ("mul!", arguments) => self.multiplied(arguments, span),
            ("map", [function, arrays @ ..]) => self.map(function, arrays, span),
            ("dot", [left, right]) => self.dot(left, right, span),
            ("dot", [left, matrix, right]) => self.dot_of_three(left, matrix, right, span),
            ("map!", [function, target, sources @ ..]) => self.mapped(function, target, sources, span),
            ("diff", [array]) => self.differences(array, span),
            _ if FILLERS.contains(&name) => self.filler(name, &arguments, span),
            _ => self.array_maker(name, &arguments, span),
        })
    }

    /// Whether an argument is an array, and no range or tuple, as far as its form says.
    fn may_be_whole(&self, argument: &ast::Expr) -> bool {
        match &argument.kind {
            ast::ExprKind::Name(name) => self.is_array_name(name),
            ast::ExprKind::Index { base, subscripts } => {
                matches!(&base.kind, ast::ExprKind::Name(name) if self.is_array_name(name))
                    && subscripts
                        .iter()
                        .any(|it| matches!(it.value.kind, ast::ExprKind::Colon | ast::ExprKind::Range { .. }))
            }
            ast::ExprKind::Infix { operator, .. } => operator.value.dotted,
            ast::ExprKind::Call { broadcast, .. } => *broadcast == ast::Broadcast::Yes,
            ast::ExprKind::Generator { .. } | ast::ExprKind::Vector(_) => true,
            _ => false,
        }
    }

    fn map(&mut self, function: &ast::Expr, arrays: &[&ast::Expr], span: Span) -> Checked<Value> {
        let operation = self.function_argument(function)?;
        let mut operands = vec![];
        for array in arrays {
            operands.push(self.elements_argument("map", array)?);
        }
        let extents = if operands.iter().all(|operand| operand.rank() == 1) {
            self.same_axes(&operands.iter().collect::<Vec<_>>(), span)?;
            vec![self.mapped_length(&operands, span)?]
        } else {
            for pair in operands.windows(2) {
                self.equal_extents(&pair[0], &pair[1], span)?;
            }
            self.common_extents(&operands, span)?
        };
        let recipe = Recipe::Apply { operation, operands };
        let mapped = self.elements(extents, recipe, span)?;
        Ok(Value::Elements(Box::new(self.copied(mapped, span))))
    }

    /// How far `map` goes through vectors: as far as all of them have elements. Where that is not all of each, the original function runs.
    fn mapped_length(&mut self, operands: &[Elements], span: Span) -> Checked<Expr> {
        let lengths: Vec<Expr> = operands.iter().map(|operand| operand.extents[0].clone().placed(span)).collect();
        if let Some(lengths) = lengths.iter().map(constant_integer).collect::<Option<Vec<i128>>>() {
            let least = lengths.iter().enumerate().min_by_key(|(_, length)| **length);
            let (least, _) = least.expect("`map` goes through one array at least");
            return Ok(operands[least].extents[0].clone());
        }
        let (first, others) = lengths.split_first().expect("`map` goes through one array at least");
        for other in others.iter().filter(|other| !same(first, other)) {
            let equal = compare(CompareOp::Eq, clamped(first.clone()), clamped(other.clone()), span);
            self.require(equal, SizeError::Thrown, "`map` goes through arrays of different sizes", span)?;
        }
        Ok(first.clone())
    }

    /// What `mapreduce` makes of several arrays: vectors are gone through together as far as all have elements, other arrays
    /// must have one shape.
    pub(super) fn zipped(&mut self, function: &ast::Expr, arrays: &[&ast::Expr], span: Span) -> Checked<Elements> {
        let operation = self.function_argument(function)?;
        let mut operands = vec![];
        for array in arrays {
            operands.push(self.elements_argument("mapreduce", array)?);
        }
        let are_vectors = operands.iter().all(|operand| operand.rank() == 1 && self.firsts(operand).iter().all(is_one));
        let lengths = operands.iter().filter_map(|operand| operand.extents.first()).map(|it| it.clone().placed(span));
        let least = lengths.reduce(|least, length| match same(&least, &length) {
            true => least,
            false => binary(BinaryOp::Min, least, length, span),
        });
        let extents = match least {
            Some(least) if are_vectors => vec![least],
            _ => {
                for pair in operands.windows(2) {
                    self.equal_extents(&pair[0], &pair[1], span)?;
                }
                self.common_extents(&operands, span)?
            }
        };
        self.elements(extents, Recipe::Apply { operation, operands }, span)
    }

    /// A function that is passed to a function: a name, or `x -> ...`.
    pub(super) fn function_argument(&mut self, function: &ast::Expr) -> Checked<Operation> {
        match &function.kind {
            _ if let Some(name) = self.library_name(function) => Ok(match ScalarType::from_julia_name(name) {
                Some(ty) => Operation::Convert(ty),
                None => Operation::Named(name.to_string()),
            }),
            // `>=(4)` is `x -> x >= 4`.
            ast::ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No }
                if let (Some(name), [only]) = (self.library_name(callee), arguments.as_slice())
                    && crate::typed::compare::operator_of(name).is_some() =>
            {
                let (name, span) = (name.to_string(), function.span);
                let element = ast::Expr { kind: ast::ExprKind::Name("#element".into()), span };
                let operator = Spanned { value: ast::Operator { symbol: name, dotted: false }, span };
                let operands = vec![element.clone(), only.value.clone()];
                let body = ast::ExprKind::Comparison { operands, operators: vec![operator] };
                let body = Box::new(ast::Expr { kind: body, span });
                self.function_argument(&ast::Expr {
                    kind: ast::ExprKind::Lambda { arguments: vec![element], body },
                    span,
                })
            }
            _ => match self.value(function)? {
                Value::Function(callee) => Ok(Operation::User(callee)),
                Value::Type(ty) => Ok(Operation::Convert(ty)),
                _ => self.not_yet(Construct::FunctionValue, function.span),
            },
        }
    }
}
