//! Questions about syntax: what an expression mentions, whether a value stays the same.

use crate::ast::{Argument, Expr, ExprKind, GeneratorClause, Iteration};

/// The direct parts of an expression, those of nested scopes included.
pub(super) fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Integer(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Char(_)
        | ExprKind::Str(_)
        | ExprKind::Symbol(_)
        | ExprKind::Name(_)
        | ExprKind::IndexEnd
        | ExprKind::IndexBegin
        | ExprKind::Colon
        | ExprKind::Break
        | ExprKind::Continue
        | ExprKind::Return(None) => vec![],
        ExprKind::Call { callee, arguments, .. } => {
            let mut all = vec![&**callee];
            all.extend(values(arguments));
            all
        }
        ExprKind::Prefix { operand, .. } => vec![operand],
        ExprKind::Infix { left, right, .. } => vec![left, right],
        ExprKind::Juxtapose { coefficient, operand } => vec![coefficient, operand],
        ExprKind::Comparison { operands, .. } => operands.iter().collect(),
        ExprKind::And(left, right) | ExprKind::Or(left, right) => vec![left, right],
        ExprKind::Ternary { condition, yes, no } => vec![condition, yes, no],
        ExprKind::Range { start, step, stop } => {
            let mut all = vec![&**start];
            all.extend(step.as_deref());
            all.push(stop);
            all
        }
        ExprKind::Index { base, subscripts } => {
            let mut all = vec![&**base];
            all.extend(values(subscripts));
            all
        }
        ExprKind::Field { base, .. } => vec![base],
        ExprKind::Adjoint(inner) | ExprKind::Splat(inner) | ExprKind::Const(inner) | ExprKind::Return(Some(inner)) => {
            vec![inner]
        }
        ExprKind::Tuple(elements) => values(elements),
        ExprKind::Vector(elements)
        | ExprKind::Block(elements)
        | ExprKind::Local(elements)
        | ExprKind::Global(elements) => elements.iter().collect(),
        ExprKind::Matrix(rows) => rows.iter().flatten().collect(),
        ExprKind::Generator { body, clauses, .. } => {
            let mut all = vec![&**body];
            for clause in clauses {
                match clause {
                    GeneratorClause::For(iterations) => {
                        all.extend(iterations.iter().flat_map(|it| [&it.target, &it.range]));
                    }
                    GeneratorClause::If(condition) => all.push(condition),
                }
            }
            all
        }
        ExprKind::Typed { value, ty } => value.as_deref().into_iter().chain([&**ty]).collect(),
        ExprKind::Curly { base, parameters } | ExprKind::Where { base, parameters } => {
            std::iter::once(&**base).chain(parameters).collect()
        }
        ExprKind::Assign { target, value, .. } => vec![target, value],
        ExprKind::If { branches, otherwise } => {
            let branches = branches.iter().flat_map(|(condition, body)| std::iter::once(condition).chain(body));
            branches.chain(otherwise.iter().flatten()).collect()
        }
        ExprKind::For { iterations, body } => {
            iterations.iter().flat_map(|it| [&it.target, &it.range]).chain(body).collect()
        }
        ExprKind::While { condition, body } => std::iter::once(&**condition).chain(body).collect(),
        ExprKind::Let { bindings, body } => bindings.iter().chain(body).collect(),
        ExprKind::Function(function) => function.body.iter().collect(),
        ExprKind::Lambda { arguments, body } => arguments.iter().chain([&**body]).collect(),
        ExprKind::Do { call, arguments, body } => std::iter::once(&**call).chain(arguments).chain(body).collect(),
        ExprKind::MacroCall { arguments, .. } => arguments.iter().collect(),
    }
}

fn values(arguments: &[Argument]) -> Vec<&Expr> {
    arguments.iter().map(|argument| &argument.value).collect()
}

/// The direct parts of an expression, to be changed; of a function, what its parameters declare is among them.
pub(super) fn parts_mut(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut expr.kind {
        ExprKind::Integer(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Char(_)
        | ExprKind::Str(_)
        | ExprKind::Symbol(_)
        | ExprKind::Name(_)
        | ExprKind::IndexEnd
        | ExprKind::IndexBegin
        | ExprKind::Colon
        | ExprKind::Break
        | ExprKind::Continue
        | ExprKind::Return(None) => vec![],
        ExprKind::Call { callee: first, arguments: rest, .. } | ExprKind::Index { base: first, subscripts: rest } => {
            std::iter::once(&mut **first).chain(values_mut(rest)).collect()
        }
        ExprKind::Prefix { operand: inner, .. }
        | ExprKind::Field { base: inner, .. }
        | ExprKind::Adjoint(inner)
        | ExprKind::Splat(inner)
        | ExprKind::Const(inner)
        | ExprKind::Return(Some(inner)) => vec![inner],
        ExprKind::Infix { left, right, .. }
        | ExprKind::Juxtapose { coefficient: left, operand: right }
        | ExprKind::And(left, right)
        | ExprKind::Or(left, right)
        | ExprKind::Assign { target: left, value: right, .. } => vec![left, right],
        ExprKind::Ternary { condition, yes, no } => vec![condition, yes, no],
        ExprKind::Range { start, step, stop } => {
            [start].into_iter().chain(step).chain([stop]).map(|part| &mut **part).collect()
        }
        ExprKind::Tuple(elements) => values_mut(elements).collect(),
        ExprKind::Comparison { operands: parts, .. }
        | ExprKind::Vector(parts)
        | ExprKind::Block(parts)
        | ExprKind::Local(parts)
        | ExprKind::Global(parts)
        | ExprKind::MacroCall { arguments: parts, .. } => parts.iter_mut().collect(),
        ExprKind::Matrix(rows) => rows.iter_mut().flatten().collect(),
        ExprKind::Generator { body, clauses, .. } => {
            let mut all = vec![&mut **body];
            for clause in clauses {
                match clause {
                    GeneratorClause::For(iterations) => all.extend(iterated_mut(iterations)),
                    GeneratorClause::If(condition) => all.push(condition),
                }
            }
            all
        }
        ExprKind::Typed { value, ty } => value.iter_mut().chain([ty]).map(|part| &mut **part).collect(),
        ExprKind::Curly { base: first, parameters: rest }
        | ExprKind::Where { base: first, parameters: rest }
        | ExprKind::While { condition: first, body: rest } => std::iter::once(&mut **first).chain(rest).collect(),
        ExprKind::If { branches, otherwise } => {
            let branches = branches.iter_mut().flat_map(|(condition, body)| std::iter::once(condition).chain(body));
            branches.chain(otherwise.iter_mut().flatten()).collect()
        }
        ExprKind::For { iterations, body } => iterated_mut(iterations).chain(body).collect(),
        ExprKind::Let { bindings, body } => bindings.iter_mut().chain(body).collect(),
        ExprKind::Function(function) => {
            let declared = function.parameters.iter_mut().flat_map(|it| it.ty.iter_mut().chain(&mut it.default));
            declared
                .chain(&mut function.type_parameters)
                .chain(&mut function.return_type)
                .chain(&mut function.body)
                .collect()
        }
        ExprKind::Lambda { arguments, body } => arguments.iter_mut().chain([&mut **body]).collect(),
        ExprKind::Do { call, arguments, body } => std::iter::once(&mut **call).chain(arguments).chain(body).collect(),
    }
}

fn values_mut(arguments: &mut [Argument]) -> impl Iterator<Item = &mut Expr> {
    arguments.iter_mut().map(|argument| &mut argument.value)
}

fn iterated_mut(iterations: &mut [Iteration]) -> impl Iterator<Item = &mut Expr> {
    iterations.iter_mut().flat_map(|it| [&mut it.target, &mut it.range])
}

/// Names that are assigned in one place of the statements, however deep.
pub(super) fn assigned_once(body: &[Expr]) -> std::collections::BTreeSet<String> {
    let mut counts: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for name in super::scope::assigned_names(body) {
        *counts.entry(name).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count == 1).map(|(name, _)| name).collect()
}

/// Whether one of the names stands anywhere in the expression.
pub(super) fn mentions(expr: &Expr, names: &[&str]) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => names.contains(&name.as_str()),
        _ => parts(expr).into_iter().any(|part| mentions(part, names)),
    }
}

/// Whether the expression holds `a = b` or `a, b = c, d` of plain names, which may exchange arrays.
pub(super) fn renames(expr: &Expr) -> bool {
    let is_name = |expr: &Expr| matches!(expr.kind, ExprKind::Name(_));
    let is_names = |expr: &Expr| match &expr.kind {
        ExprKind::Tuple(elements) => elements.iter().all(|element| is_name(&element.value)),
        _ => is_name(expr),
    };
    match &expr.kind {
        ExprKind::Assign { operator: None, target, value, .. } if is_names(target) && is_names(value) => true,
        _ => parts(expr).into_iter().any(renames),
    }
}

/// Whether the expression is arithmetic on integers, names that `body` does not assign, and elements of arrays that it does not
/// store into by their names, so that it keeps its value. (Arrays that bounds are read from are never written.)
pub(super) fn is_steady(expr: &Expr, body: &[Expr]) -> bool {
    match &expr.kind {
        ExprKind::Integer(_) => true,
        ExprKind::Name(name) => !super::scope::is_assigned(name, body),
        ExprKind::Prefix { operand, .. } => is_steady(operand, body),
        ExprKind::Infix { left, right, .. } => is_steady(left, body) && is_steady(right, body),
        ExprKind::Juxtapose { coefficient, operand } => is_steady(coefficient, body) && is_steady(operand, body),
        ExprKind::Call { callee, arguments, broadcast: crate::ast::Broadcast::No } => {
            const PURE: [&str; 11] =
                ["size", "length", "lastindex", "firstindex", "min", "max", "div", "mod", "rem", "fld", "cld"];
            super::full_name::called(callee).is_some_and(|name| PURE.contains(&name))
                && arguments.iter().all(|argument| is_steady(&argument.value, body))
        }
        ExprKind::Index { base, subscripts } => {
            matches!(base.kind, ExprKind::Name(_))
                && is_steady(base, body)
                && subscripts.iter().all(|subscript| is_steady(&subscript.value, body))
        }
        // Nothing else is needed in a bound.
        _ => false,
    }
}
