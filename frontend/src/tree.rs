//! Tree building that the grammar's actions share: brackets by their separators, and function definitions.

use crate::ast::*;
use crate::error::SyntaxError;
use crate::forms::Forms;
use crate::parse::Source;
use tessella_diagnostics::{Span, Spanned};

/// What separates two slots of a bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    Comma,
    /// `;`, or the end of a matrix row.
    Semicolon,
    /// Whitespace in a matrix row.
    Gap,
}

/// What stands between two brackets.
#[derive(Debug, Clone, PartialEq)]
pub struct Slots {
    first: Option<Expr>,
    rest: Vec<(Separator, Span, Option<Expr>)>,
}

impl Slots {
    pub fn new(first: Option<Expr>) -> Self {
        Self { first, rest: vec![] }
    }

    pub fn push(&mut self, separator: Separator, span: Span, slot: Option<Expr>) {
        self.rest.push((separator, span, slot));
    }

    fn position(&self, wanted: Separator) -> Option<usize> {
        self.rest.iter().position(|(separator, ..)| *separator == wanted)
    }
}

/// The values of `a, b` and, after `;`, `c, d`. A comma needs a value before it; one may trail.
fn sections(slots: Slots) -> Result<(Vec<Expr>, Option<Vec<Expr>>), SyntaxError> {
    let mut main = vec![];
    let mut keywords: Option<Vec<Expr>> = None;
    let mut missing = slots.first.is_none();
    main.extend(slots.first);
    for (separator, span, slot) in slots.rest {
        match separator {
            Separator::Comma if missing => return Err(unexpected(",", span)),
            Separator::Comma => {}
            Separator::Semicolon if keywords.is_some() => return Err(unexpected(";", span)),
            Separator::Semicolon => keywords = Some(vec![]),
            Separator::Gap => return Err(unexpected(" ", span)),
        }
        missing = slot.is_none();
        keywords.as_mut().unwrap_or(&mut main).extend(slot);
    }
    Ok((main, keywords))
}

fn unexpected(text: &str, span: Span) -> SyntaxError {
    let expected = vec!["an expression".to_owned()];
    SyntaxError::UnexpectedToken { found: format!("`{text}`"), expected, span, help: None }
}

/// `k = v` becomes a keyword argument.
fn argument(value: Expr, section: Section) -> Argument {
    let span = value.span;
    match value.kind {
        ExprKind::Assign { operator: None, broadcast: Broadcast::No, target, value }
            if target.span.start == span.start =>
        {
            match target.kind {
                ExprKind::Name(name) => {
                    Argument { keyword: Some(Spanned { value: name, span: target.span }), value: *value, section }
                }
                _ => {
                    let kind = ExprKind::Assign { operator: None, broadcast: Broadcast::No, target, value };
                    Argument { keyword: None, value: Expr { kind, span }, section }
                }
            }
        }
        kind => Argument { keyword: None, value: Expr { kind, span }, section },
    }
}

/// An argument that is not a keyword.
pub fn positional(value: Expr) -> Argument {
    Argument { keyword: None, value, section: Section::Main }
}

/// The assignment that a keyword argument was written as.
pub fn unkeyword(argument: Argument) -> Expr {
    match argument.keyword {
        None => argument.value,
        Some(name) => {
            let span = name.span.to(argument.value.span);
            let target = Box::new(Expr { kind: ExprKind::Name(name.value), span: name.span });
            let value = Box::new(argument.value);
            Expr { kind: ExprKind::Assign { operator: None, broadcast: Broadcast::No, target, value }, span }
        }
    }
}

fn arguments(slots: Slots) -> Result<Vec<Argument>, SyntaxError> {
    let (main, keywords) = sections(slots)?;
    let main = main.into_iter().map(|value| argument(value, Section::Main));
    let keywords = keywords.into_iter().flatten().map(|value| argument(value, Section::Keywords));
    Ok(main.chain(keywords).collect())
}

pub fn call(callee: Expr, slots: Slots, broadcast: Broadcast) -> Result<ExprKind, SyntaxError> {
    Ok(ExprKind::Call { callee: Box::new(callee), arguments: arguments(slots)?, broadcast })
}

/// The arguments of `@name(a, b = c)`.
pub fn macro_arguments(slots: Slots) -> Result<Vec<Expr>, SyntaxError> {
    Ok(arguments(slots)?.into_iter().map(unkeyword).collect())
}

/// The parameters of `T{A, B}`.
pub fn parameters(slots: Slots) -> Result<Vec<Expr>, SyntaxError> {
    if let Some(at) = slots.position(Separator::Semicolon) {
        return Err(unexpected(";", slots.rest[at].1));
    }
    Ok(sections(slots)?.0)
}

/// `A[i, j]`, `T[x for x in xs]`.
pub fn index(base: Expr, slots: Slots, span: Span, forms: Forms) -> Result<ExprKind, SyntaxError> {
    let concatenates = slots.rest.iter().any(|(separator, ..)| *separator != Separator::Comma);
    if forms == Forms::All && concatenates && slots.position(Separator::Comma).is_none() {
        let matrix = array(slots, Span { start: base.span.end, ..span })?;
        return Ok(ExprKind::Index { base: Box::new(base), subscripts: vec![positional(matrix)] });
    }
    let help = match (slots.position(Separator::Gap), slots.position(Separator::Semicolon)) {
        (None, None) => None,
        (Some(_), _) => Some(
            "separate subscripts by `,`; whitespace in `A[i -1]` separates, too: write `A[i - 1]` for a difference",
        ),
        (None, Some(_)) => Some("separate subscripts by `,`"),
    };
    if let Some(help) = help {
        let what = "an index with parts that no comma separates".to_owned();
        return Err(SyntaxError::Unsupported { what, span, help: Some(help.to_owned()) });
    }
    let mut subscripts = arguments(slots)?;
    for subscript in &mut subscripts {
        if let ExprKind::Generator { brackets, .. } = &mut subscript.value.kind
            && *brackets == Brackets::Round
            && subscript.value.span.start > span.start
        {
            *brackets = Brackets::Typed;
        }
    }
    Ok(ExprKind::Index { base: Box::new(base), subscripts })
}

/// `(a)`, `(a, b)`, `(a; b)`, `()`; the span of the result includes the parentheses.
pub fn group(slots: Slots, span: Span) -> Result<Expr, SyntaxError> {
    let comma = slots.position(Separator::Comma);
    let semicolon = slots.position(Separator::Semicolon);
    if slots.rest.is_empty()
        && let Some(only) = slots.first
    {
        return Ok(Expr { kind: only.kind, span });
    }
    // `(args...; kw...)` is the argument list of a lambda.
    let splat = slots.first.as_ref().is_some_and(|first| matches!(first.kind, ExprKind::Splat(_)));
    let block = !splat && slots.first.is_some() && semicolon.is_some() && comma.is_none();
    if block {
        let statements =
            slots.first.into_iter().chain(slots.rest.into_iter().filter_map(|(_, _, slot)| slot)).collect();
        return Ok(Expr { kind: ExprKind::Block(statements), span });
    }
    Ok(Expr { kind: ExprKind::Tuple(arguments(slots)?), span })
}

/// `[a, b]`, `[a b; c d]`, `[x for x in xs]`.
pub fn array(slots: Slots, span: Span) -> Result<Expr, SyntaxError> {
    let comma = slots.position(Separator::Comma);
    let other = slots.rest.iter().find(|(separator, ..)| *separator != Separator::Comma);
    match (comma, other) {
        (Some(_), Some((_, at, _))) => Err(SyntaxError::UnexpectedToken {
            found: "row of a matrix among elements between commas".to_owned(),
            expected: vec!["`,`".to_owned()],
            span: if at.start == at.end { Span { end: at.end + 1, ..*at } } else { *at },
            help: Some("separate elements by commas alone, or columns by whitespace and rows by `;`".to_owned()),
        }),
        (_, None) => {
            let (mut elements, _) = sections(slots)?;
            if let [only] = &mut elements[..]
                && comma.is_none()
                && let ExprKind::Generator { brackets, .. } = &mut only.kind
                && only.span.start > span.start
                && *brackets == Brackets::Round
                && !is_parenthesised_generator(only)
            {
                let mut only = only.clone();
                if let ExprKind::Generator { brackets, .. } = &mut only.kind {
                    *brackets = Brackets::Square;
                }
                return Ok(Expr { kind: only.kind, span });
            }
            Ok(Expr { kind: ExprKind::Vector(elements), span })
        }
        (None, Some(_)) => {
            let mut rows = vec![Vec::from_iter(slots.first)];
            for (separator, at, slot) in slots.rest {
                if separator == Separator::Semicolon {
                    if rows.last().is_some_and(Vec::is_empty) {
                        return Err(unexpected(";", at));
                    }
                    rows.push(vec![]);
                }
                rows.last_mut().expect("there is a first row").extend(slot);
            }
            if rows.last().is_some_and(Vec::is_empty) && rows.len() > 1 {
                rows.pop();
            }
            Ok(Expr { kind: ExprKind::Matrix(rows), span })
        }
    }
}

/// Whether a generator has parentheses of its own, as in `[(x for x in xs)]`.
fn is_parenthesised_generator(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Generator { body, .. } => body.span.start > expr.span.start,
        _ => false,
    }
}

pub fn generator(body: Expr, clauses: Vec<GeneratorClause>) -> ExprKind {
    ExprKind::Generator { body: Box::new(body), clauses, brackets: Brackets::Round }
}

/// `$x` in quoted code.
pub fn interpolate(operator: Spanned<Operator>, operand: Expr) -> ExprKind {
    ExprKind::Prefix { operator, operand: Box::new(operand) }
}

/// `r"..."i` is `@r_str "..." "i"`.
pub fn string_macro(source: &Source<'_>, (prefix, suffix): (u32, u32), l: usize, r: usize) -> ExprKind {
    let (open, close) = (l + prefix as usize, r - suffix as usize);
    let kind = if source.text(open, open + 1) == "`" { "cmd" } else { "str" };
    let name = Spanned { value: format!("{}_{kind}", source.text(l, open)), span: source.span(l, open) };
    let mut arguments = vec![source.expr(ExprKind::Str(source.text(open, close)), open, close)];
    if suffix > 0 {
        arguments.push(source.expr(ExprKind::Str(format!("\"{}\"", source.text(close, r))), close, r));
    }
    ExprKind::MacroCall { name, arguments }
}

/// A command literal is `@cmd "..."`.
pub fn command(source: &Source<'_>, l: usize, r: usize) -> ExprKind {
    let name = Spanned { value: "cmd".to_owned(), span: source.span(l, l + 1) };
    ExprKind::MacroCall { name, arguments: vec![source.expr(ExprKind::Str(source.text(l, r)), l, r)] }
}

/// `target = value`, or the definition `f(x) = value`.
pub fn assign_or_define(target: Expr, value: Expr, forms: Forms) -> Expr {
    let span = target.span.to(value.span);
    if defines_function(&target) {
        let body = |value: Expr| match value.kind {
            ExprKind::Block(statements) => statements,
            kind => vec![Expr { kind, span: value.span }],
        };
        // What a definition here cannot express stays an assignment to a call.
        if let Ok(function) = function(target.clone(), target.span, span, forms) {
            let function = Function { body: body(value), ..function };
            return Expr { kind: ExprKind::Function(Box::new(function)), span };
        }
    }
    let (target, value) = (Box::new(target), Box::new(value));
    Expr { kind: ExprKind::Assign { operator: None, broadcast: Broadcast::No, target, value }, span }
}

/// Why an assignment to a call is not the definition of a function.
pub fn why_no_definition(expr: &Expr) -> Option<SyntaxError> {
    match &expr.kind {
        ExprKind::Assign { target, .. } if defines_function(target) => {
            function((**target).clone(), target.span, expr.span, Forms::Compilable).err()
        }
        _ => None,
    }
}

fn defines_function(target: &Expr) -> bool {
    match &target.kind {
        ExprKind::Call { callee, broadcast: Broadcast::No, .. } => callee.span.start == target.span.start,
        ExprKind::Typed { value: Some(value), .. } => {
            value.span.start == target.span.start
                && matches!(value.kind, ExprKind::Call { .. })
                && defines_function(value)
        }
        ExprKind::Where { base, .. } => base.span.start == target.span.start && defines_function(base),
        // `-(x::T) = ...` and `x::T + y::T = ...`.
        ExprKind::Prefix { operator, .. } => {
            operator.span.start == target.span.start && !operator.value.dotted && operator.value.symbol != "$"
        }
        ExprKind::Infix { operator, left, .. } => left.span.start == target.span.start && !operator.value.dotted,
        _ => false,
    }
}

/// `function signature body end`.
pub fn long_function(
    signature: Expr,
    body: Block,
    at: Span,
    span: Span,
    forms: Forms,
) -> Result<ExprKind, SyntaxError> {
    let function = function(signature, at, span, forms)?;
    Ok(ExprKind::Function(Box::new(Function { body, ..function })))
}

/// The definition that a signature describes, with an empty body.
fn function(signature: Expr, at: Span, span: Span, forms: Forms) -> Result<Function, SyntaxError> {
    let mut signature = signature;
    let mut clauses = vec![];
    while let ExprKind::Where { base, parameters } = signature.kind {
        clauses.push(parameters);
        signature = *base;
    }
    let type_parameters = clauses.into_iter().rev().flatten().collect();
    let mut return_type = None;
    if let ExprKind::Typed { value: Some(value), ty } = signature.kind {
        match value.kind {
            ExprKind::Call { .. } | ExprKind::Prefix { .. } => {
                return_type = Some(*ty);
                signature = *value;
            }
            _ => signature = Expr { kind: ExprKind::Typed { value: Some(value), ty }, span: signature.span },
        }
    }
    let parenthesised = |expr: &Expr, first: Option<Span>| first.is_none_or(|first| first.start > expr.span.start);
    let mut object = None;
    let (name, arguments) = match signature.kind {
        ExprKind::Call { callee, arguments, broadcast: Broadcast::No } if forms == Forms::All && !is_path(&callee) => {
            object = Some(*callee);
            (None, arguments)
        }
        ExprKind::Call { callee, arguments, broadcast: Broadcast::No } => (Some(function_name(*callee)?), arguments),
        ExprKind::Tuple(arguments) => (None, arguments),
        ExprKind::Prefix { operator, operand } => {
            (Some(Spanned { value: operator.value.symbol, span: operator.span }), vec![positional(*operand)])
        }
        ExprKind::Infix { operator, left, right } => (
            Some(Spanned { value: operator.value.symbol, span: operator.span }),
            vec![positional(*left), positional(*right)],
        ),
        ref kind => {
            let inner = match kind {
                ExprKind::Typed { value: Some(value), .. } => Some(value.span),
                ExprKind::Splat(value) => Some(value.span),
                ExprKind::Name(name) if name.len() == signature.span.range().len() => Some(signature.span),
                ExprKind::Name(_) | ExprKind::Typed { value: None, .. } => None,
                _ => Some(signature.span),
            };
            if !parenthesised(&signature, inner) {
                return Err(SyntaxError::MalformedDefinition {
                    problem: "this function has no parameter list".to_owned(),
                    span: signature.span,
                    help: "write the parameters in parentheses directly after the name, as in `f(x)`".to_owned(),
                });
            }
            (None, vec![positional(signature)])
        }
    };
    let first_keyword = arguments.iter().position(|argument| argument.section == Section::Keywords);
    let first_keyword = first_keyword.unwrap_or(arguments.len());
    let parameters = arguments.into_iter().map(|argument| parameter(argument, forms)).collect::<Result<Vec<_>, _>>()?;
    let (macros, body) = (vec![], vec![]);
    Ok(Function {
        macros,
        name,
        object,
        parameters,
        first_keyword,
        type_parameters,
        return_type,
        body,
        signature: at,
        span,
    })
}

/// `f`, `Base.f`, `:`.
fn is_path(callee: &Expr) -> bool {
    match &callee.kind {
        ExprKind::Field { base, .. } => is_path(base),
        ExprKind::Name(_) | ExprKind::Colon => true,
        _ => false,
    }
}

fn function_name(callee: Expr) -> Result<Name, SyntaxError> {
    let span = callee.span;
    let unsupported = |what: &str, help: Option<&str>| SyntaxError::Unsupported {
        what: what.to_owned(),
        span,
        help: help.map(str::to_owned),
    };
    let mut names = vec![];
    let mut path = callee;
    loop {
        match path.kind {
            ExprKind::Field { base, field } => {
                names.push(field.value);
                path = *base;
            }
            ExprKind::Name(name) => {
                names.push(name);
                break;
            }
            ExprKind::Colon => {
                names.push(":".to_owned());
                break;
            }
            ExprKind::Curly { .. } => return Err(unsupported("a constructor with type parameters", None)),
            _ => {
                let help = "give the function a name, and pass the object as an argument";
                return Err(unsupported("a method of a callable object", Some(help)));
            }
        }
    }
    names.reverse();
    Ok(Spanned { value: names.join("."), span })
}

fn parameter(argument: Argument, forms: Forms) -> Result<Parameter, SyntaxError> {
    let span = argument.keyword.as_ref().map_or(argument.value.span, |name| name.span.to(argument.value.span));
    if let Some(name) = argument.keyword {
        return Ok(Parameter {
            name: Some(name),
            ty: None,
            default: Some(argument.value),
            splat: false,
            pattern: None,
            span,
        });
    }
    let mut value = argument.value;
    let mut default = None;
    let mut splat = false;
    if let ExprKind::Assign { operator: None, broadcast: Broadcast::No, target, value: given } = value.kind {
        default = Some(*given);
        value = *target;
    }
    if let ExprKind::Splat(inner) = value.kind {
        splat = true;
        value = *inner;
    }
    let at = value.span;
    let (name, ty) = match value.kind {
        ExprKind::Typed { value, ty } => (value.map(|value| *value), Some(*ty)),
        kind => (Some(Expr { kind, span: at }), None),
    };
    let mut pattern = None;
    let name = match name {
        None => None,
        Some(other) if forms == Forms::All && !matches!(other.kind, ExprKind::Name(_)) => {
            pattern = Some(other);
            None
        }
        Some(Expr { kind: ExprKind::Name(name), span }) => Some(Spanned { value: name, span }),
        Some(other) => {
            return Err(SyntaxError::Unsupported {
                what: "a parameter that is not a name".to_owned(),
                span: other.span,
                help: Some("give the parameter a name, and take it apart in the function's body".to_owned()),
            });
        }
    };
    Ok(Parameter { name, ty, default, splat, pattern, span })
}
