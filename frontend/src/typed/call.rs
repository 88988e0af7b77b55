//! Calls: conversions, and the functions of Base that a transpiled function may use.

use super::check::{Checked, Checker};
use super::convert::widen;
use super::error::TypeError;
use super::full_name::{library_function, own};
use super::scope::State;
use super::tree::Expr;
use super::unsupported::Construct;
use super::value::Value;
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, Intrinsic, ScalarType};

/// Functions of one float (integers become `Float64` first).
pub(super) const ELEMENTARY: [(&str, Intrinsic); 18] = [
    ("sqrt", Intrinsic::Sqrt),
    ("cbrt", Intrinsic::Cbrt),
    ("exp", Intrinsic::Exp),
    ("exp2", Intrinsic::Exp2),
    ("expm1", Intrinsic::Expm1),
    ("log", Intrinsic::Log),
    ("log2", Intrinsic::Log2),
    ("log10", Intrinsic::Log10),
    ("log1p", Intrinsic::Log1p),
    ("sin", Intrinsic::Sin),
    ("cos", Intrinsic::Cos),
    ("tan", Intrinsic::Tan),
    ("asin", Intrinsic::Asin),
    ("acos", Intrinsic::Acos),
    ("atan", Intrinsic::Atan),
    ("sinh", Intrinsic::Sinh),
    ("cosh", Intrinsic::Cosh),
    ("tanh", Intrinsic::Tanh),
];

pub(super) const ROUNDING: [(&str, Intrinsic); 4] =
    [("floor", Intrinsic::Floor), ("ceil", Intrinsic::Ceil), ("trunc", Intrinsic::Trunc), ("round", Intrinsic::Round)];

pub(super) const DIVISIONS: [(&str, BinaryOp); 5] = [
    ("div", BinaryOp::DivTrunc),
    ("rem", BinaryOp::Rem),
    ("mod", BinaryOp::Mod),
    ("fld", BinaryOp::DivFloor),
    ("cld", BinaryOp::DivCeil),
];

pub(super) const ON_ARRAYS: [&str; 9] =
    ["size", "length", "isempty", "axes", "eachindex", "ndims", "eltype", "firstindex", "lastindex"];

const ON_NUMBERS: [&str; 45] = [
    "exp10",
    "abs",
    "abs2",
    "sign",
    "signbit",
    "inv",
    "float",
    "identity",
    "min",
    "max",
    "clamp",
    "ifelse",
    "muladd",
    "fma",
    "copysign",
    "hypot",
    "isnan",
    "isinf",
    "isfinite",
    "iszero",
    "isone",
    "iseven",
    "isodd",
    "xor",
    "zero",
    "one",
    "oftype",
    "convert",
    "unsafe_trunc",
    "unsigned",
    "signed",
    "typeof",
    "promote_type",
    "typemin",
    "typemax",
    "eps",
    "reverse",
    "first",
    "last",
    "step",
    "oneunit",
    "floatmin",
    "floatmax",
    "Base.OneTo",
    "OneTo",
];

/// Functions of Base that mean something else than a number: name, and what they are.
const REFUSED: [(&str, Construct); 30] = [
    ("zeros", Construct::LocalArray),
    ("ones", Construct::LocalArray),
    ("fill", Construct::LocalArray),
    ("similar", Construct::LocalArray),
    ("copy", Construct::LocalArray),
    ("deepcopy", Construct::LocalArray),
    ("collect", Construct::LocalArray),
    ("view", Construct::Slice),
    ("fill!", Construct::Broadcast),
    ("copyto!", Construct::Broadcast),
    ("map", Construct::Broadcast),
    ("transpose", Construct::ArrayArithmetic),
    ("adjoint", Construct::ArrayArithmetic),
    ("mul!", Construct::ArrayArithmetic),
    ("sum", Construct::Reduction),
    ("prod", Construct::Reduction),
    ("maximum", Construct::Reduction),
    ("minimum", Construct::Reduction),
    ("dot", Construct::Reduction),
    ("any", Construct::Reduction),
    ("all", Construct::Reduction),
    ("enumerate", Construct::Iterator),
    ("zip", Construct::Iterator),
    ("pairs", Construct::Iterator),
    ("CartesianIndices", Construct::Iterator),
    ("println", Construct::Effect),
    ("print", Construct::Effect),
    ("error", Construct::Effect),
    ("throw", Construct::Effect),
    ("string", Construct::Text),
];

/// Whether the checker knows the function.
pub(super) fn is_known(name: &str) -> bool {
    known().any(|known| known == name) || REFUSED.iter().any(|(refused, _)| *refused == name)
}

/// Whether the function is one of numbers, which a dot applies to each element of an array.
fn is_elementary(name: &str) -> bool {
    ELEMENTARY.iter().any(|(known, _)| *known == name)
        || ["abs", "abs2", "sign", "floor", "ceil", "round", "trunc"].contains(&name)
}

/// Operators are functions, too: `+(a, b, c)`.
fn is_operator(name: &str) -> bool {
    let arithmetic = ["+", "*", "-", "/", "÷", "%", "^", "&", "|", "⊻", "<<", ">>", ">>>", "!", "~"];
    arithmetic.contains(&name) || super::compare::operator_of(name).is_some()
}

pub(super) fn is_throwing(name: &str) -> bool {
    matches!(name, "error" | "throw" | "println" | "print")
}

fn known() -> impl Iterator<Item = &'static str> {
    let elementary = ELEMENTARY.iter().map(|(name, _)| *name);
    let rounding = ROUNDING.iter().map(|(name, _)| *name);
    let divisions = DIVISIONS.iter().map(|(name, _)| *name);
    let several = super::several::SEVERAL;
    let complex = super::complex::ABOUT_COMPLEX;
    let further = super::base_function::FURTHER;
    let prelude = super::prelude::PRELUDE;
    elementary
        .chain(rounding)
        .chain(divisions)
        .chain(complex)
        .chain(several)
        .chain(further)
        .chain(prelude)
        .chain(ON_ARRAYS)
        .chain(ON_NUMBERS)
}

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        callee: &ast::Expr,
        arguments: &[ast::Argument],
        broadcast: ast::Broadcast,
        span: Span,
    ) -> Checked<Value> {
        if let Some(name) = self.full_name(callee) {
            let plain = super::arrays::named(name, callee.span);
            return self
                .by_full_name(name, arguments, |checker, arguments| checker.call(&plain, arguments, broadcast, span));
        }
        if let Some((function, tuples)) = self.over_tuples(callee, arguments, broadcast) {
            return self.tuple_call(function, &tuples, span);
        }
        let name = match &callee.kind {
            ast::ExprKind::Name(name) => name.as_str(),
            ast::ExprKind::Field { base, field } => match &base.kind {
                ast::ExprKind::Name(module) if let Some(way_out) = super::library::instead_of_module(module) => {
                    let name = format!("{module}.{}", field.value);
                    return Err(self.fail(TypeError::UnsupportedFunction { name, way_out, span: callee.span }));
                }
                _ => return self.not_yet(Construct::Field, callee.span),
            },
            ast::ExprKind::Curly { base, .. } if matches!(&base.kind, ast::ExprKind::Name(name) if name == "Complex") =>
            {
                let half = self.complex_type(callee)?;
                return self.complex_of(half.unwrap_or(ScalarType::F64), arguments, broadcast, span);
            }
            ast::ExprKind::Curly { base, parameters } => {
                return self.undefined_array(base, parameters, arguments, span);
            }
            _ => return self.call_of_value(callee, arguments, broadcast, span),
        };
        if self.is_array_name(name) {
            let subscripts: Vec<&str> = arguments.iter().map(|argument| subscript_text(&argument.value)).collect();
            let subscripts = subscripts.join(", ");
            return Err(self.fail(TypeError::CalledArray { name: own(name).into(), subscripts, span: callee.span }));
        }
        if broadcast == ast::Broadcast::No
            && let Some(value) = self.user_call(name, arguments, span)
        {
            return value;
        }
        (self.flow.statement_call, self.flow.unused_call) = (false, false);
        if let Some(meant) = self.rounding(name, arguments, broadcast, span) {
            return meant.and_then(|call| self.value(&call));
        }
        if broadcast == ast::Broadcast::No
            && (is_operator(name) || matches!(name, "min" | "max"))
            && let Some(spread) = self.spread(arguments)?
        {
            return self.call(callee, &spread, broadcast, span);
        }
        if broadcast == ast::Broadcast::No
            && let Some(operator) = self.over_sizes(name, arguments)
        {
            let all = ast::Expr { kind: ast::ExprKind::Splat(Box::new(arguments[0].value.clone())), span };
            let all = ast::Argument { keyword: None, value: all, section: ast::Section::Main };
            return match self.spread(&[all])?.as_deref() {
                Some([only]) => self.value(&only.value),
                Some(spread) => self.call(&library_function(operator, callee.span), spread, broadcast, span),
                None => unreachable!("there is something to spread out"),
            };
        }
        if let Some(half) = self.complex_type_named(name, callee.span)? {
            return self.complex_of(half, arguments, broadcast, span);
        }
        if broadcast == ast::Broadcast::No
            && let Some(value) = self.several(name, arguments, span)
        {
            return value;
        }
        if let Some(value) = self.hidden_call(name, arguments) {
            return value;
        }
        if let ("first" | "last", [argument]) = (name, arguments)
            && broadcast == ast::Broadcast::No
            && let ast::ExprKind::Name(array) = &argument.value.kind
            && self.is_array_name(array)
        {
            let kind = if name == "first" { ast::ExprKind::IndexBegin } else { ast::ExprKind::IndexEnd };
            let end = ast::Argument { value: ast::Expr { kind, span }, ..argument.clone() };
            let (base, subscripts) = (Box::new(argument.value.clone()), vec![end]);
            return self.value(&ast::Expr { kind: ast::ExprKind::Index { base, subscripts }, span });
        }
        if broadcast == ast::Broadcast::No
            && let Some(value) = self.prelude_call(name, arguments, span)
        {
            return value;
        }
        if let Some(value) = self.collecting_call(name, arguments) {
            return value;
        }
        if broadcast == ast::Broadcast::Yes {
            let keyword = arguments.iter().find(|it| it.keyword.is_some() || it.section == ast::Section::Keywords);
            if let Some(keyword) = keyword {
                return self.not_yet(Construct::KeywordArgument, keyword.value.span);
            }
            let arguments: Vec<&ast::Expr> = arguments.iter().map(|argument| &argument.value).collect();
            return self.dotted_call(callee, name, &arguments, span);
        }
        if let ("extrema", [only]) = (name, arguments)
            && self.lookup(name).is_none()
        {
            let least =
                self.call(&library_function("minimum", callee.span), std::slice::from_ref(only), broadcast, span)?;
            let most =
                self.call(&library_function("maximum", callee.span), std::slice::from_ref(only), broadcast, span)?;
            return Ok(Value::Tuple(vec![least, most]));
        }
        if name == "CartesianIndex" && self.lookup(name).is_none() {
            return self.cartesian_index(arguments, span);
        }
        if let ("CartesianIndices", [only]) = (name, arguments)
            && self.lookup(name).is_none()
        {
            return self.places(&only.value, span).map(Value::Places);
        }
        if let ("LinearIndices", [only]) = (name, arguments)
            && self.lookup(name).is_none()
        {
            return self.linear_indices(&only.value, span);
        }
        if name == "checkbounds" && self.lookup(name).is_none() && broadcast == ast::Broadcast::No {
            return self.checkbounds(arguments, span);
        }
        if self.lookup(name).is_none()
            && let Some(value) = self.place_call(name, arguments, span)
        {
            return value;
        }
        if let ("ntuple", [function, count]) = (name, arguments)
            && self.lookup(name).is_none()
        {
            return self.ntuple(&function.value, &count.value, span);
        }
        if let ("Tuple", [only]) = (name, arguments)
            && self.lookup(name).is_none()
        {
            return match self.value(&only.value)? {
                Value::Position(super::arrays::Position { subscripts, linear_in: None, .. }) => {
                    Ok(Value::Tuple(subscripts.into_iter().map(Value::Scalar).collect()))
                }
                value @ Value::Tuple(_) => Ok(value),
                _ => self.not_yet(Construct::LocalArray, span),
            };
        }
        if let Some(value) = self.whole_array_call(name, arguments, span) {
            return value;
        }
        if broadcast == ast::Broadcast::No
            && let Some(never) = self.throwing_call(name, arguments, span)
        {
            return never;
        }
        if let Some((_, construct)) = REFUSED.iter().find(|(refused, _)| *refused == name)
            && self.lookup(name).is_none()
        {
            return self.not_yet(construct.clone(), span);
        }
        if self.lookup(name).is_none() && super::library::instead_of(name).is_some() {
            return Err(self.unknown_function(name, callee.span));
        }
        for argument in arguments {
            if argument.keyword.is_some() || argument.section == ast::Section::Keywords {
                return self.not_yet(Construct::KeywordArgument, argument.value.span);
            }
            if let ast::ExprKind::Splat(_) = argument.value.kind {
                return self.not_yet(Construct::Splat, argument.value.span);
            }
        }
        let arguments: Vec<&ast::Expr> = arguments.iter().map(|argument| &argument.value).collect();
        if let Some(ty) = self.called_type(name, callee.span)? {
            return match arguments.as_slice() {
                [value] => {
                    let value = self.scalar(value)?;
                    self.coerce(value, ty, None).map(|value| Value::Scalar(value.placed_top(span)))
                }
                _ => Err(self.arity(name, "1 argument", arguments.len(), span)),
            };
        }
        if let Some(value) = self.array_function(name, &arguments, span) {
            return value;
        }
        if let [ast::Expr { kind: ast::ExprKind::Name(only), .. }] = arguments.as_slice()
            && let Some(variable) = self.lookup(only)
            && let State::Alias(value @ Value::Position(_)) = &self.variables[variable.0].state
            && let Some(value) = self.position_function(name, std::slice::from_ref(value), span)
        {
            return Ok(value);
        }
        if let Some(value) = self.type_function(name, &arguments, span) {
            return value;
        }
        if !is_known(name) && !is_operator(name) {
            // The arguments' own errors are worth knowing, too.
            for argument in arguments {
                let _ = self.value(argument);
            }
            return Err(self.unknown_function(name, callee.span));
        }
        let values: Vec<Checked<Value>> = arguments.iter().map(|argument| self.value(argument)).collect();
        let values = values.into_iter().collect::<Checked<Vec<Value>>>()?;
        if let [Value::Range(range)] = values.as_slice() {
            return self.range_function(name, range.clone(), span);
        }
        let spans: Vec<Span> = arguments.iter().map(|argument| argument.span).collect();
        self.apply_to_scalars(name, values, &spans, span)
    }

    /// `f(x, size(A)...)` as `f(x, m, n)`; `None` if nothing is to be spread out.
    fn spread(&mut self, arguments: &[ast::Argument]) -> Checked<Option<Vec<ast::Argument>>> {
        if !arguments.iter().any(|argument| matches!(argument.value.kind, ast::ExprKind::Splat(_))) {
            return Ok(None);
        }
        let mut spread = vec![];
        for argument in arguments {
            let ast::ExprKind::Splat(inner) = &argument.value.kind else {
                spread.push(argument.clone());
                continue;
            };
            let Value::Tuple(values) = self.value(inner)? else {
                return self.not_yet(Construct::Splat, argument.value.span);
            };
            for value in values {
                let name = self.hidden("part", value, inner.span);
                let value = ast::Expr { kind: ast::ExprKind::Name(name), span: inner.span };
                spread.push(ast::Argument { keyword: None, value, section: ast::Section::Main });
            }
        }
        Ok(Some(spread))
    }

    /// The function of several numbers that a reduction of `size(A)` is.
    fn over_sizes(&self, name: &str, arguments: &[ast::Argument]) -> Option<&'static str> {
        let [ast::Argument { keyword: None, value, .. }] = arguments else { return None };
        let ast::ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No } = &value.kind else { return None };
        let is_size = self.library_name(callee) == Some("size") && arguments.len() == 1;
        match name {
            _ if !is_size || self.lookup(name).is_some() => None,
            "minimum" => Some("min"),
            "maximum" => Some("max"),
            "sum" => Some("+"),
            "prod" => Some("*"),
            _ => None,
        }
    }

    /// A function of numbers, or an operator by its name.
    pub(super) fn apply_to_scalars(
        &mut self,
        name: &str,
        values: Vec<Value>,
        spans: &[Span],
        span: Span,
    ) -> Checked<Value> {
        if !is_known(name) && !is_operator(name) {
            return Err(self.unknown_function(name, span));
        }
        if let Some(value) = self.complex_function(name, &values, spans, span) {
            return value;
        }
        if let Some(value) = self.position_function(name, &values, span) {
            return Ok(value);
        }
        let mut scalars = vec![];
        let float32 = values.iter().any(|value| matches!(value, Value::Scalar(expr) if expr.ty == ScalarType::F32));
        let only_float32 = float32
            && values.iter().all(|value| match value {
                Value::Scalar(expr) => expr.ty != ScalarType::F64,
                _ => true,
            });
        for (at, value) in values.into_iter().enumerate() {
            let weak = matches!(value, Value::Irrational(..));
            if matches!(value, Value::Array(_) | Value::Elements(_)) && is_elementary(name) {
                let (found, function) = (self.kind(&value), name.to_owned());
                let span = spans.get(at).copied().unwrap_or(span);
                return Err(self.fail(TypeError::Array(super::ArrayError::CallNeedsDot { function, found, span })));
            }
            let value = self.as_scalar(value, spans.get(at).copied().unwrap_or(span))?;
            scalars.push(if weak && only_float32 { widen(value, ScalarType::F32) } else { value });
        }
        if is_operator(name) {
            return self.operator_call(name, scalars, span).map(Value::Scalar);
        }
        self.number_function(name, scalars, span).map(Value::Scalar)
    }

    /// The type that `T(x)` converts to, if the callee names a type.
    pub(super) fn called_type(&mut self, name: &str, span: Span) -> Checked<Option<ScalarType>> {
        if let Some(variable) = self.lookup(name) {
            return match self.variables[variable.0].state.clone() {
                State::Alias(Value::Type(ty)) => Ok(Some(ty)),
                State::Poisoned => Err(super::check::Reported),
                State::Unassigned | State::Scalar(_) | State::Complex(..) | State::Array(_) | State::Alias(_) => {
                    Err(self.fail(TypeError::UnknownFunction { name: own(name).into(), span, suggestion: None }))
                }
            };
        }
        if let Some(value) = self.type_parameter_value(name, span) {
            return match value? {
                Value::Type(ty) => Ok(Some(ty)),
                _ => Ok(None),
            };
        }
        if let Some(value) = self.module_constant(name, span) {
            return match value? {
                Value::Type(ty) => Ok(Some(ty)),
                _ => Ok(None),
            };
        }
        Ok(ScalarType::from_julia_name(name))
    }

    /// Nothing here has this name: it is Julia's alone, or nobody's.
    fn unknown_function(&mut self, name: &str, span: Span) -> super::check::Reported {
        let name = own(name);
        if let Some(way_out) = super::library::instead_of(name) {
            return self.fail(TypeError::UnsupportedFunction { name: name.into(), way_out, span });
        }
        let mut names: Vec<&str> = known().chain(super::arrays::FUNCTIONS).collect();
        names.extend(self.functions.iter().filter_map(|it| it.name.as_ref()).map(|it| it.value.as_str()));
        let suggestion = tessella_diagnostics::nearest(name, names);
        self.fail(TypeError::UnknownFunction { name: name.into(), span, suggestion })
    }

    pub(super) fn arity(
        &mut self,
        name: &str,
        expected: &'static str,
        given: usize,
        span: Span,
    ) -> super::check::Reported {
        self.fail(TypeError::CallArity { name: name.into(), expected, given, span })
    }
}

/// What is short enough to be repeated in a message.
fn subscript_text(expr: &ast::Expr) -> &str {
    match &expr.kind {
        ast::ExprKind::Name(name) => name,
        _ => "...",
    }
}

impl Expr {
    /// A conversion is shown to the user as the call that asks for it.
    fn placed_top(mut self, span: Span) -> Expr {
        self.span = span;
        self
    }
}
