//! Trees as s-expressions in the heads of Julia's `Meta.parse`, to compare with Julia's own parser.
//!
//! What Julia's trees and ours spell differently has one form here: numbers are their values (floats as bits), the
//! condition of `elseif` has no block, a `let` or `for` always lists its bindings in a block, `x -> y` has a tuple of
//! arguments, the `where` clauses of a definition are one list, and text is the bytes it means. The parts of quoted code
//! and of interpolations that the parser refuses are `(opaque)`.

mod number;
mod text;

use crate::ast::*;
use crate::chain::is_bare_number;
use number::{Sign, float, integer};
use text::{Spelling, character, quoted, string};

/// The s-expression of a tree.
pub fn sexpr(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Integer(text) => integer(text, Sign::Plus),
        ExprKind::Float(text) => float(text, Sign::Plus),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Name(text) => text.clone(),
        ExprKind::Char(text) => character(text),
        ExprKind::Str(text) => string(text, Spelling::Escaped),
        ExprKind::Symbol(text) => list("quote", [quoted(text)]),
        ExprKind::IndexEnd => "end".to_owned(),
        ExprKind::IndexBegin => "begin".to_owned(),
        ExprKind::Colon => ":".to_owned(),
        ExprKind::Call { callee, arguments, broadcast: Broadcast::No } if is_subtype(callee) => {
            list(&sexpr(callee), arguments_of(arguments))
        }
        ExprKind::Call { callee, arguments, broadcast: Broadcast::No } => {
            let (mut parts, positional) = parameters(arguments);
            parts.insert(0, sexpr(callee));
            list("call", parts.into_iter().chain(positional))
        }
        ExprKind::Call { callee, arguments, broadcast: Broadcast::Yes } => {
            list(".", [sexpr(callee), list("tuple", arguments_of(arguments))])
        }
        ExprKind::Prefix { operator, operand } => prefix(&operator.value, operator.span.end, operand),
        ExprKind::Infix { operator, left, right } => {
            let mut operands = vec![sexpr(right)];
            let mut left = &**left;
            let chains = !operator.value.dotted && matches!(operator.value.symbol.as_str(), "+" | "*" | "++");
            while chains
                && let ExprKind::Infix { operator: inner, left: first, right } = &left.kind
                && inner.value == operator.value
                && first.span.start == left.span.start
            {
                operands.push(sexpr(right));
                left = first;
            }
            operands.push(sexpr(left));
            operands.push(symbol(&operator.value));
            operands.reverse();
            list("call", operands)
        }
        ExprKind::Juxtapose { coefficient, operand } => {
            let mut factors = vec![sexpr(operand)];
            let mut left = &**coefficient;
            while let ExprKind::Juxtapose { coefficient, operand } = &left.kind
                && coefficient.span.start == left.span.start
            {
                factors.push(sexpr(operand));
                left = coefficient;
            }
            factors.push(sexpr(left));
            factors.push("*".to_owned());
            factors.reverse();
            list("call", factors)
        }
        ExprKind::Comparison { operands, operators } => match (&operands[..], &operators[..]) {
            ([left, right], [operator]) if matches!(operator.value.symbol.as_str(), "<:" | ">:") => {
                list(&symbol(&operator.value), [sexpr(left), sexpr(right)])
            }
            ([left, right], [operator]) => list("call", [symbol(&operator.value), sexpr(left), sexpr(right)]),
            _ => {
                let mut parts = vec![];
                for (at, operand) in operands.iter().enumerate() {
                    parts.push(sexpr(operand));
                    parts.extend(operators.get(at).map(|operator| symbol(&operator.value)));
                }
                list("comparison", parts)
            }
        },
        ExprKind::And(left, right) => list("&&", [sexpr(left), sexpr(right)]),
        ExprKind::Or(left, right) => list("||", [sexpr(left), sexpr(right)]),
        ExprKind::Ternary { condition, yes, no } => list("if", [sexpr(condition), sexpr(yes), sexpr(no)]),
        ExprKind::Range { start, step, stop } => {
            let step = step.as_ref().map(|step| sexpr(step));
            let parts = [":".to_owned(), sexpr(start)].into_iter().chain(step).chain([sexpr(stop)]);
            list("call", parts)
        }
        ExprKind::Index { base, subscripts } => match &subscripts[..] {
            [
                Argument {
                    value: Expr { kind: ExprKind::Generator { body, clauses, brackets: Brackets::Typed }, .. },
                    ..
                },
            ] => list("typed_comprehension", [sexpr(base), generator(sexpr(body), clauses)]),
            // `T[a b; c d]`; the matrix of `T[[a b; c d]]` has brackets of its own.
            [Argument { value: Expr { kind: ExprKind::Matrix(rows), span }, .. }] if span.start == base.span.end => {
                let (head, parts) = concatenation(rows);
                list(&format!("typed_{head}"), [sexpr(base)].into_iter().chain(parts))
            }
            _ => list("ref", [sexpr(base)].into_iter().chain(arguments_of(subscripts))),
        },
        ExprKind::Field { base, field } => list(".", [sexpr(base), list("quote", [field.value.clone()])]),
        ExprKind::Adjoint(base) => list("'", [sexpr(base)]),
        ExprKind::Splat(inner) => list("...", [sexpr(inner)]),
        ExprKind::Tuple(elements) => {
            let (parts, main) = parameters(elements);
            // Only after `;` are the elements of a tuple keywords.
            let main = elements.iter().filter(|element| element.section == Section::Main).zip(main);
            let main = main.map(|(element, text)| match &element.keyword {
                Some(name) => list("=", [name.value.clone(), sexpr(&element.value)]),
                None => match &element.value.kind {
                    ExprKind::Assign { .. } => sexpr(&element.value),
                    _ => text,
                },
            });
            list("tuple", parts.into_iter().chain(main))
        }
        ExprKind::Vector(elements) => list("vect", elements.iter().map(sexpr)),
        ExprKind::Matrix(rows) => {
            let (head, parts) = concatenation(rows);
            list(head, parts)
        }
        ExprKind::Generator { body, clauses, brackets } => {
            let inner = generator(sexpr(body), clauses);
            match brackets {
                Brackets::Round => inner,
                Brackets::Square | Brackets::Typed => list("comprehension", [inner]),
            }
        }
        ExprKind::Typed { value, ty } => list("::", value.iter().map(|value| sexpr(value)).chain([sexpr(ty)])),
        ExprKind::Curly { base, parameters } => {
            list("curly", [sexpr(base)].into_iter().chain(parameters.iter().map(sexpr)))
        }
        ExprKind::Where { base, parameters } => {
            list("where", [sexpr(base)].into_iter().chain(parameters.iter().map(sexpr)))
        }
        ExprKind::Assign { operator, broadcast, target, value } => {
            let dot = if *broadcast == Broadcast::Yes { "." } else { "" };
            let operator = operator.as_ref().map_or("", |operator| &operator.value.symbol);
            list(&format!("{dot}{operator}="), [sexpr(target), sexpr(value)])
        }
        ExprKind::Block(statements) => block(statements),
        ExprKind::If { branches, otherwise } => {
            let mut tail = otherwise.as_ref().map(block);
            for (at, (condition, body)) in branches.iter().enumerate().rev() {
                let head = if at == 0 { "if" } else { "elseif" };
                tail = Some(list(head, [sexpr(condition), block(body)].into_iter().chain(tail)));
            }
            tail.unwrap_or_default()
        }
        ExprKind::For { iterations, body } => {
            list("for", [list("block", iterations.iter().map(iteration)), block(body)])
        }
        ExprKind::While { condition, body } => list("while", [sexpr(condition), block(body)]),
        ExprKind::Let { bindings, body } => list("let", [list("block", bindings.iter().map(sexpr)), block(body)]),
        ExprKind::Return(value) => list("return", [value.as_ref().map_or("nothing".to_owned(), |value| sexpr(value))]),
        ExprKind::Break => "(break)".to_owned(),
        ExprKind::Continue => "(continue)".to_owned(),
        ExprKind::Local(names) => list("local", names.iter().map(sexpr)),
        ExprKind::Global(names) => list("global", names.iter().map(sexpr)),
        ExprKind::Const(inner) => list("const", [sexpr(inner)]),
        ExprKind::Function(function) => definition(function),
        ExprKind::Lambda { arguments, body } => {
            let body = match &body.kind {
                ExprKind::Block(statements) => block(statements),
                _ => list("block", [sexpr(body)]),
            };
            list("->", [lambda_arguments(arguments), body])
        }
        ExprKind::Do { call, arguments, body } => {
            let lambda = list("->", [list("tuple", arguments.iter().map(sexpr)), block(body)]);
            list("do", [sexpr(call), lambda])
        }
        ExprKind::MacroCall { name, arguments } => {
            let path = match name.value.as_str() {
                "." => "__dot__",
                other => other,
            };
            // The name of a string macro is written without its `_str`.
            let spelling = if name.span.range().len() < name.value.len() { Spelling::Raw } else { Spelling::Escaped };
            let argument = |argument: &Expr| match &argument.kind {
                ExprKind::Str(text) => string(text, spelling),
                _ => sexpr(argument),
            };
            list("macrocall", [format!("@{path}")].into_iter().chain(arguments.iter().map(argument)))
        }
    }
}

fn list(head: &str, parts: impl IntoIterator<Item = String>) -> String {
    let mut text = format!("({head}");
    for part in parts {
        text.push(' ');
        text.push_str(&part);
    }
    text.push(')');
    text
}

fn block(statements: &Block) -> String {
    list("block", statements.iter().map(sexpr))
}

/// `hcat` or `vcat`, and what it joins.
fn concatenation(rows: &[Vec<Expr>]) -> (&'static str, Vec<String>) {
    let row = |row: &Vec<Expr>| match &row[..] {
        [only] => sexpr(only),
        _ => list("row", row.iter().map(sexpr)),
    };
    match rows {
        [only] if only.len() > 1 => ("hcat", only.iter().map(sexpr).collect()),
        _ => ("vcat", rows.iter().map(row).collect()),
    }
}

fn symbol(operator: &Operator) -> String {
    format!("{}{}", if operator.dotted { "." } else { "" }, operator.symbol)
}

fn is_subtype(callee: &Expr) -> bool {
    matches!(&callee.kind, ExprKind::Name(name) if name == "<:" || name == ">:")
}

fn prefix(operator: &Operator, end: u32, operand: &Expr) -> String {
    let signed = !operator.dotted && is_bare_number(operand) && operand.span.start == end;
    let sign = match operator.symbol.as_str() {
        "-" => Sign::Minus,
        _ => Sign::Plus,
    };
    match (&operand.kind, operator.symbol.as_str()) {
        (ExprKind::Integer(text), "+" | "-") if signed && !text.starts_with("0x") => integer(text, sign),
        (ExprKind::Float(text), "+" | "-") if signed => float(text, sign),
        (_, "<:" | ">:" | "&" | "$" | "outer") => list(&operator.symbol, [sexpr(operand)]),
        _ => list("call", [symbol(operator), sexpr(operand)]),
    }
}

/// `(parameters ...)` if there are any, and the other arguments.
fn parameters(arguments: &[Argument]) -> (Vec<String>, Vec<String>) {
    let keyword = |argument: &Argument| match (&argument.keyword, &argument.value.kind) {
        (Some(name), _) => list("kw", [name.value.clone(), sexpr(&argument.value)]),
        (None, ExprKind::Assign { operator: None, broadcast: Broadcast::No, target, value })
            if target.span.start == argument.value.span.start =>
        {
            list("kw", [sexpr(target), sexpr(value)])
        }
        (None, _) => sexpr(&argument.value),
    };
    let of = |section| arguments.iter().filter(move |argument| argument.section == section).map(keyword);
    let keywords: Vec<String> = of(Section::Keywords).collect();
    let parts = if keywords.is_empty() { vec![] } else { vec![list("parameters", keywords)] };
    (parts, of(Section::Main).collect())
}

fn arguments_of(arguments: &[Argument]) -> Vec<String> {
    let (mut parts, main) = parameters(arguments);
    parts.extend(main);
    parts
}

fn iteration(iteration: &Iteration) -> String {
    list("=", [sexpr(&iteration.target), sexpr(&iteration.range)])
}

/// `body for a for b if c`: later clauses are inner ones, and all but the last flatten.
fn generator(body: String, clauses: &[GeneratorClause]) -> String {
    let mut groups: Vec<(Vec<String>, Option<String>)> = vec![];
    for clause in clauses {
        match clause {
            GeneratorClause::For(iterations) => groups.push((iterations.iter().map(iteration).collect(), None)),
            GeneratorClause::If(condition) => {
                if let Some((_, filter)) = groups.last_mut() {
                    *filter = Some(sexpr(condition));
                }
            }
        }
    }
    let mut text = body;
    let mut innermost = true;
    for (iterations, filter) in groups.into_iter().rev() {
        let iterations = match filter {
            Some(condition) => vec![list("filter", [condition].into_iter().chain(iterations))],
            None => iterations,
        };
        text = list("generator", [text].into_iter().chain(iterations));
        if !innermost {
            text = list("flatten", [text]);
        }
        innermost = false;
    }
    text
}

/// The s-expression of a definition.
pub fn definition(function: &Function) -> String {
    let parameter = |parameter: &Parameter| {
        let name = parameter.name.as_ref().map(|name| name.value.clone()).or(parameter.pattern.as_ref().map(sexpr));
        let typed = match &parameter.ty {
            Some(ty) => list("::", name.into_iter().chain([sexpr(ty)])),
            None => name.unwrap_or_default(),
        };
        let splat = if parameter.splat { list("...", [typed]) } else { typed };
        match &parameter.default {
            Some(default) => list("kw", [splat, sexpr(default)]),
            None => splat,
        }
    };
    let (main, keywords) = function.parameters.split_at(function.first_keyword);
    let keywords = match keywords {
        [] => None,
        _ => Some(list("parameters", keywords.iter().map(parameter))),
    };
    let arguments = keywords.into_iter().chain(main.iter().map(parameter));
    let mut signature = match &function.name {
        Some(name) => {
            let mut path = name.value.split('.').filter(|_| name.value.chars().any(char::is_alphabetic));
            let callee = match path.next() {
                Some(first) => {
                    path.fold(first.to_owned(), |base, field| list(".", [base, list("quote", [field.to_owned()])]))
                }
                None => name.value.clone(),
            };
            list("call", [callee].into_iter().chain(arguments))
        }
        None => match &function.object {
            Some(object) => list("call", [sexpr(object)].into_iter().chain(arguments)),
            None => list("tuple", arguments),
        },
    };
    if let Some(ty) = &function.return_type {
        signature = list("::", [signature, sexpr(ty)]);
    }
    if !function.type_parameters.is_empty() {
        signature = list("where", [signature].into_iter().chain(function.type_parameters.iter().map(sexpr)));
    }
    let short = function.signature.start == function.span.start;
    list(if short { "=" } else { "function" }, [signature, block(&function.body)])
}

fn lambda_arguments(arguments: &[Expr]) -> String {
    match arguments {
        [Expr { kind: ExprKind::Tuple(elements), .. }] if elements.iter().any(|e| e.section == Section::Keywords) => {
            sexpr(&arguments[0])
        }
        _ => list("tuple", arguments.iter().map(sexpr)),
    }
}
