//! Functions of Base that are written in Julia: `prelude.jl`, whose definitions are inlined where they are called.

use super::check::{Checked, Checker};
use super::convert::{is_total, widen};
use super::inline::{Callee, Given};
use super::tree::Expr;
use super::value::Value;
use crate::ast::{self, ExprKind, Function, GeneratorClause};
use std::sync::OnceLock;
use tessella_diagnostics::{SourceMap, Span};
use tessella_scalar::ScalarType;

const SOURCE: &str = include_str!("prelude.jl");

/// Those of them that users call by these names.
pub(super) const PRELUDE: [&str; 9] =
    ["findmax", "findmin", "argmax", "argmin", "gcd", "isqrt", "searchsortedfirst", "searchsortedlast", "issorted"];

fn definitions() -> &'static [Function] {
    static DEFINITIONS: OnceLock<Vec<Function>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| {
        let mut sources = SourceMap::default();
        let file = sources.add("prelude.jl", SOURCE, 1);
        let scan = crate::scan(&sources, file);
        let functions = scan.functions.iter();
        functions.map(|item| crate::parse_function(&sources, item).expect("the prelude is well formed")).collect()
    })
}

/// The methods of this name, as if they stood at the place of its call.
pub(super) fn methods(name: &str, call: Span) -> Vec<Function> {
    let mut methods: Vec<Function> =
        definitions().iter().filter(|function| is_named(function, name)).cloned().collect();
    methods.iter_mut().for_each(|function| place_function(function, call));
    methods
}

pub(super) fn is_defined(name: &str) -> bool {
    definitions().iter().any(|function| is_named(function, name))
}

fn is_named(function: &Function, name: &str) -> bool {
    function.name.as_ref().is_some_and(|known| known.value == name)
}

impl Checker<'_> {
    /// A call of a function of the prelude by users; `None` for any other.
    pub(super) fn prelude_call(
        &mut self,
        name: &str,
        arguments: &[ast::Argument],
        span: Span,
    ) -> Option<Checked<Value>> {
        if !PRELUDE.contains(&name) || self.lookup(name).is_some() {
            return None;
        }
        if arguments.iter().any(|it| it.keyword.is_some() || matches!(it.value.kind, ExprKind::Splat(_))) {
            return None;
        }
        let values: Vec<Checked<Value>> = arguments.iter().map(|argument| self.value(&argument.value)).collect();
        let values = match values.into_iter().collect::<Checked<Vec<Value>>>() {
            Ok(values) => values,
            Err(reported) => return Some(Err(reported)),
        };
        Some(match (name, values.as_slice()) {
            ("gcd", [Value::Scalar(x), Value::Scalar(y)]) if x.ty.is_integer() && y.ty.is_integer() => {
                let (x, y) = (x.clone(), y.clone());
                self.promoted(x, y)
                    .and_then(|(x, y)| self.inlined("gcd", vec![Value::Scalar(x), Value::Scalar(y)], span))
            }
            // Julia computes it in a wider type; `UInt64`s have no wider one here.
            ("isqrt", [Value::Scalar(x)]) if is_total(x.ty, ScalarType::I64) && !x.ty.is_float() => {
                let (x, ty) = (x.clone(), x.ty);
                self.inlined_scalar("isqrt", vec![widen(x, ScalarType::I64)], span)
                    .map(|root| Value::Scalar(widen(root, ty)))
            }
            ("isqrt", _) => return None,
            (_, _) => self.inlined(name, values, span),
        })
    }

    /// The value of a function of the prelude.
    pub(super) fn inlined(&mut self, name: &str, values: Vec<Value>, span: Span) -> Checked<Value> {
        let positional = values.into_iter().map(|value| (value, span)).collect();
        self.inline(&Callee::Prelude(name.into()), Given { positional, keywords: vec![] }, false, span)
    }

    pub(super) fn inlined_scalar(&mut self, name: &str, values: Vec<Expr>, span: Span) -> Checked<Expr> {
        // Constants of the file are evaluated where they are used, and have no block for a loop.
        self.writes_statements(span)?;
        let value = self.inlined(name, values.into_iter().map(Value::Scalar).collect(), span)?;
        self.as_scalar(value, span)
    }
}

fn place_function(function: &mut Function, at: Span) {
    (function.span, function.signature) = (at, at);
    if let Some(name) = &mut function.name {
        name.span = at;
    }
    for parameter in &mut function.parameters {
        parameter.span = at;
        if let Some(name) = &mut parameter.name {
            name.span = at;
        }
        parameter.ty.iter_mut().chain(&mut parameter.default).for_each(|part| place(part, at));
    }
    function.type_parameters.iter_mut().chain(&mut function.body).for_each(|part| place(part, at));
}

/// Moves an expression, and all in it, to another place of the source.
fn place(expr: &mut ast::Expr, at: Span) {
    expr.span = at;
    match &mut expr.kind {
        ExprKind::Prefix { operator, .. }
        | ExprKind::Infix { operator, .. }
        | ExprKind::Assign { operator: Some(operator), .. } => operator.span = at,
        ExprKind::Comparison { operators, .. } => operators.iter_mut().for_each(|operator| operator.span = at),
        ExprKind::Field { field: name, .. } | ExprKind::MacroCall { name, .. } => name.span = at,
        ExprKind::For { iterations, .. } => iterations.iter_mut().for_each(|it| it.span = at),
        ExprKind::Generator { clauses, .. } => {
            for clause in clauses {
                if let GeneratorClause::For(iterations) = clause {
                    iterations.iter_mut().for_each(|it| it.span = at);
                }
            }
        }
        ExprKind::Function(function) => place_function(function, at),
        // Nothing else has places beside those of its parts.
        _ => {}
    }
    super::walk::parts_mut(expr).into_iter().for_each(|part| place(part, at));
}
