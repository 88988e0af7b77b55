//! Runs of operands and operators to trees, by Julia's precedences.
//!
//! The order of Julia's own parser is followed: `-2^2` is `-(2^2)`, `2^-1` and `2^3x` (`2^(3x)`) are powers, `x -> y`
//! takes all that follows, `where` binds looser than a prefix operator's operand, comparisons chain.

use crate::ast::{Broadcast, Expr, ExprKind, Operator, Section};
use crate::error::SyntaxError;
use crate::forms::Forms;
use crate::operators::{Precedence, is_updating, precedence};
use crate::tree;
use std::iter::Peekable;
use std::vec::IntoIter;
use tessella_diagnostics::{Span, Spanned};

/// How deep operators may nest to the right.
pub const MAX_NESTING: usize = 200;

/// A part of an expression before precedences are applied.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    Operand(Expr),
    /// `{T, S}` after `where`.
    Braces(Vec<Expr>, Span),
    Prefix(Spanned<Operator>),
    Infix(Spanned<Operator>),
    Keyword(Keyword, Span),
    Juxtapose,
    /// `...` after an operand.
    Splat(Span),
    /// `,` of a tuple without parentheses.
    Comma(Span),
    /// `,` of `a, = b`.
    TrailingComma(Span),
    Question(Span),
    TernaryColon(Span),
}

/// A keyword that takes what follows as its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyword {
    Return,
    Const,
    Local,
    Global,
}

/// The tree of a whole expression.
pub fn expression(items: Vec<Item>, forms: Forms) -> Result<Expr, SyntaxError> {
    let mut chain = Chain::new(items, forms);
    let whole = chain.assignment(Commas::Tuple)?;
    chain.finish(whole)
}

/// The tree of a condition of `if`, `elseif` or `while`: neither a tuple nor an assignment, unless in parentheses.
pub fn condition(items: Vec<Item>, forms: Forms) -> Result<Expr, SyntaxError> {
    let mut chain = Chain::new(items, forms);
    let whole = chain.binary(Precedence::Pair)?;
    if let Some(equals) = chain.next_infix("=") {
        let help = Some("write `==` to compare".to_owned());
        return Err(SyntaxError::UnexpectedToken {
            found: "`=`".to_owned(),
            expected: vec![],
            span: equals.span,
            help,
        });
    }
    chain.finish(whole)
}

/// The tree of a `function`'s signature, in which `where` applies to all of `f(x)::T`.
pub fn signature(items: Vec<Item>, forms: Forms) -> Result<Expr, SyntaxError> {
    let mut chain = Chain::new(items, forms);
    let mut call = chain.call()?;
    if chain.next_infix("::").is_some() {
        let ty = chain.call()?;
        call = typed(call, ty);
    }
    let whole = chain.where_clauses(call)?;
    chain.finish(whole)
}

/// Whether commas make tuples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Commas {
    Tuple,
    Stop,
}

struct Chain {
    items: Peekable<IntoIter<Item>>,
    /// The end of the last item taken.
    end: Span,
    nesting: usize,
    /// Off between `where` and its variables.
    takes_where: bool,
    forms: Forms,
}

type Tree = Result<Expr, SyntaxError>;

impl Chain {
    fn new(items: Vec<Item>, forms: Forms) -> Self {
        let end = items.first().and_then(item_span).expect("an expression has an operand");
        Self { items: items.into_iter().peekable(), end, nesting: 0, takes_where: true, forms }
    }

    fn take(&mut self) -> Option<Item> {
        let item = self.items.next();
        if let Some(span) = item.as_ref().and_then(item_span) {
            self.end = span;
        }
        item
    }

    /// The infix operator that comes next.
    fn infix(&mut self) -> Option<&Spanned<Operator>> {
        match self.items.peek() {
            Some(Item::Infix(operator)) => Some(operator),
            _ => None,
        }
    }

    fn next_infix(&mut self, symbol: &str) -> Option<Spanned<Operator>> {
        self.infix().filter(|operator| operator.value.symbol == symbol && !operator.value.dotted)?;
        match self.take() {
            Some(Item::Infix(operator)) => Some(operator),
            _ => None,
        }
    }

    /// The next operator if it has this precedence.
    fn next_of(&mut self, wanted: Precedence) -> Option<Spanned<Operator>> {
        self.infix().filter(|operator| precedence(&operator.value.symbol) == Some(wanted))?;
        match self.take() {
            Some(Item::Infix(operator)) => Some(operator),
            _ => None,
        }
    }

    fn finish(mut self, whole: Expr) -> Tree {
        match self.take() {
            None => Ok(whole),
            Some(item) => Err(unexpected(&item, self.end)),
        }
    }

    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Tree) -> Tree {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(SyntaxError::TooDeep { limit: MAX_NESTING, span: self.end });
        }
        let tree = inner(self);
        self.nesting -= 1;
        tree
    }

    fn assignment(&mut self, commas: Commas) -> Tree {
        self.nested(|chain| {
            let target = match commas {
                Commas::Tuple => chain.tuple()?,
                Commas::Stop => chain.binary(Precedence::Pair)?,
            };
            let Some(operator) = chain.next_of(Precedence::Assignment) else {
                return Ok(target);
            };
            let value = chain.assignment(commas)?;
            Ok(assign(target, operator, value, chain.forms))
        })
    }

    /// `a, b`.
    fn tuple(&mut self) -> Tree {
        let first = self.binary(Precedence::Pair)?;
        if !matches!(self.items.peek(), Some(Item::Comma(_) | Item::TrailingComma(_))) {
            return Ok(first);
        }
        let mut elements = vec![first];
        while let Some(Item::Comma(_) | Item::TrailingComma(_)) = self.items.peek() {
            let comma = self.take();
            if let Some(Item::TrailingComma(_)) = comma {
                break;
            }
            elements.push(self.binary(Precedence::Pair)?);
        }
        let span = elements[0].span.to(self.end);
        let elements = elements.into_iter().map(tree::positional).collect();
        Ok(Expr { kind: ExprKind::Tuple(elements), span })
    }

    /// Operators from `lowest` to shifts.
    fn binary(&mut self, lowest: Precedence) -> Tree {
        self.nested(|chain| chain.binary_from(lowest))
    }

    fn binary_from(&mut self, lowest: Precedence) -> Tree {
        let mut left = self.shift_operand()?;
        loop {
            left = match self.items.peek() {
                Some(Item::Question(_)) if lowest <= Precedence::Conditional => self.ternary(left)?,
                Some(Item::Splat(span)) if lowest <= Precedence::Range => {
                    let span = left.span.to(*span);
                    self.take();
                    Expr { kind: ExprKind::Splat(Box::new(left)), span }
                }
                Some(Item::Infix(operator)) => {
                    let level = precedence(&operator.value.symbol);
                    let Some(level) = level.filter(|&level| level >= lowest && level <= Precedence::Shift) else {
                        return Ok(left);
                    };
                    let operator = self.next_of(level).expect("the operator was seen");
                    self.infix_from(left, operator, level)?
                }
                _ => return Ok(left),
            };
        }
    }

    fn infix_from(&mut self, left: Expr, operator: Spanned<Operator>, level: Precedence) -> Tree {
        match level {
            Precedence::Pair | Precedence::Arrow | Precedence::PipeLeft => {
                let right = self.binary(level)?;
                Ok(infix(left, operator, right))
            }
            Precedence::Or => {
                let right = self.binary(level)?;
                let span = left.span.to(right.span);
                Ok(Expr { kind: ExprKind::Or(Box::new(left), Box::new(right)), span })
            }
            Precedence::And => {
                let right = self.binary(level)?;
                let span = left.span.to(right.span);
                Ok(Expr { kind: ExprKind::And(Box::new(left), Box::new(right)), span })
            }
            Precedence::Comparison => self.comparison(left, operator),
            Precedence::Range if operator.value.symbol == ":" => self.range(left),
            Precedence::PipeRight => self.left_to_right(left, operator, Precedence::Range),
            Precedence::Range => self.left_to_right(left, operator, Precedence::Plus),
            Precedence::Plus => self.left_to_right(left, operator, Precedence::Times),
            Precedence::Times => self.left_to_right(left, operator, Precedence::Rational),
            Precedence::Rational => self.left_to_right(left, operator, Precedence::Shift),
            Precedence::Shift => {
                let right = self.shift_operand()?;
                Ok(infix(left, operator, right))
            }
            Precedence::Assignment | Precedence::Conditional | Precedence::Power | Precedence::Declaration => {
                Err(unexpected(&Item::Infix(operator.clone()), operator.span))
            }
        }
    }

    fn left_to_right(&mut self, left: Expr, operator: Spanned<Operator>, tighter: Precedence) -> Tree {
        let right = self.binary(tighter)?;
        Ok(infix(left, operator, right))
    }

    fn comparison(&mut self, left: Expr, operator: Spanned<Operator>) -> Tree {
        let mut operators = vec![operator];
        let mut operands = vec![left, self.binary(Precedence::PipeLeft)?];
        while let Some(operator) = self.next_of(Precedence::Comparison) {
            operators.push(operator);
            operands.push(self.binary(Precedence::PipeLeft)?);
        }
        let span = operands[0].span.to(self.end);
        Ok(Expr { kind: ExprKind::Comparison { operands, operators }, span })
    }

    /// After `start :`.
    fn range(&mut self, start: Expr) -> Tree {
        let second = self.binary(Precedence::Plus)?;
        let (step, stop) = match self.next_infix(":") {
            Some(_) => (Some(Box::new(second)), self.binary(Precedence::Plus)?),
            None => (None, second),
        };
        let span = start.span.to(stop.span);
        Ok(Expr { kind: ExprKind::Range { start: Box::new(start), step, stop: Box::new(stop) }, span })
    }

    fn ternary(&mut self, condition: Expr) -> Tree {
        let question = self.take();
        let yes = self.assignment(Commas::Stop)?;
        match self.take() {
            Some(Item::TernaryColon(_)) => {}
            other => {
                let found = other.as_ref().map_or("end of the expression".to_owned(), describe);
                let span =
                    other.as_ref().and_then(item_span).or(question.as_ref().and_then(item_span)).unwrap_or(self.end);
                let help = Some("write `condition ? yes : no`".to_owned());
                return Err(SyntaxError::UnexpectedToken { found, expected: vec!["`:`".to_owned()], span, help });
            }
        }
        let no = self.assignment(Commas::Stop)?;
        let span = condition.span.to(no.span);
        let (condition, yes, no) = (Box::new(condition), Box::new(yes), Box::new(no));
        Ok(Expr { kind: ExprKind::Ternary { condition, yes, no }, span })
    }

    /// What shifts apply to: `<: T`, `x where T`, a product by juxtaposition.
    fn shift_operand(&mut self) -> Tree {
        let subtype = match self.items.peek() {
            Some(Item::Prefix(operator)) => matches!(operator.value.symbol.as_str(), "<:" | ">:"),
            _ => false,
        };
        if subtype && let Some(Item::Prefix(operator)) = self.take() {
            let operand = self.juxtaposition()?;
            let operand = self.where_clauses(operand)?;
            return Ok(prefix(operator, operand));
        }
        let operand = self.juxtaposition()?;
        self.where_clauses(operand)
    }

    /// `base where T where {S, R}`.
    fn where_clauses(&mut self, base: Expr) -> Tree {
        let mut base = base;
        while self.takes_where && self.next_infix("where").is_some() {
            let parameters = match self.items.peek() {
                Some(Item::Braces(..)) => match self.take() {
                    Some(Item::Braces(parameters, _)) => parameters,
                    _ => vec![],
                },
                _ => {
                    self.takes_where = false;
                    let variable = self.binary(Precedence::Comparison);
                    self.takes_where = true;
                    vec![variable?]
                }
            };
            let span = base.span.to(self.end);
            base = Expr { kind: ExprKind::Where { base: Box::new(base), parameters }, span };
        }
        Ok(base)
    }

    fn juxtaposition(&mut self) -> Tree {
        let mut left = self.unary()?;
        while let Some(Item::Juxtapose) = self.items.peek() {
            self.take();
            let right = match self.items.peek() {
                Some(Item::Prefix(_)) => self.unary()?,
                _ => self.power()?,
            };
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Juxtapose { coefficient: Box::new(left), operand: Box::new(right) }, span };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Tree {
        self.nested(|chain| {
            let syntactic = match chain.items.peek() {
                Some(Item::Prefix(operator)) => matches!(operator.value.symbol.as_str(), "&" | "::"),
                _ => return chain.power(),
            };
            if syntactic {
                return chain.power();
            }
            let Some(Item::Prefix(operator)) = chain.take() else {
                return Err(chain.operand_missing());
            };
            if matches!(operator.value.symbol.as_str(), "-" | "+")
                && !operator.value.dotted
                && let Some(Item::Operand(number)) = chain.items.peek()
                && is_bare_number(number)
                && number.span.start == operator.span.end
            {
                // A signed literal: `-2x` is `(-2)x`, but `-2^x` is `-(2^x)`.
                let operand = chain.power()?;
                return Ok(prefix(operator, operand));
            }
            let operand = chain.unary()?;
            Ok(prefix(operator, operand))
        })
    }

    /// `base ^ exponent`.
    fn power(&mut self) -> Tree {
        let base = self.declaration()?;
        match self.next_of(Precedence::Power) {
            None => Ok(base),
            Some(operator) => {
                let exponent = self.exponent()?;
                Ok(infix(base, operator, exponent))
            }
        }
    }

    fn exponent(&mut self) -> Tree {
        self.nested(|chain| {
            let base = chain.juxtaposition()?;
            match chain.next_of(Precedence::Power) {
                None => Ok(base),
                Some(operator) => {
                    let exponent = chain.exponent()?;
                    Ok(infix(base, operator, exponent))
                }
            }
        })
    }

    /// `x::T` and `x -> body`.
    fn declaration(&mut self) -> Tree {
        let mut left = self.call()?;
        loop {
            if self.next_infix("::").is_some() {
                let ty = self.call()?;
                let ty = self.where_clauses(ty)?;
                left = typed(left, ty);
            } else if self.next_infix("->").is_some() {
                let takes_where = std::mem::replace(&mut self.takes_where, true);
                let body = self.assignment(Commas::Stop);
                self.takes_where = takes_where;
                return Ok(lambda(left, body?));
            } else {
                return Ok(left);
            }
        }
    }

    /// An operand with its syntactic prefix or keyword.
    fn call(&mut self) -> Tree {
        match self.take() {
            Some(Item::Operand(operand)) => Ok(operand),
            Some(Item::Prefix(operator)) => self.nested(|chain| {
                let operand = chain.call()?;
                match operator.value.symbol.as_str() {
                    "::" => {
                        let ty = chain.where_clauses(operand)?;
                        let span = operator.span.to(ty.span);
                        Ok(Expr { kind: ExprKind::Typed { value: None, ty: Box::new(ty) }, span })
                    }
                    "&" => {
                        let operand = chain.where_clauses(operand)?;
                        Ok(prefix(operator, operand))
                    }
                    _ => Ok(prefix(operator, operand)),
                }
            }),
            Some(Item::Keyword(keyword, span)) => self.keyword(keyword, span),
            Some(Item::Braces(_, span)) => Err(SyntaxError::Unsupported {
                what: "an array in braces".to_owned(),
                span,
                help: Some("write the elements in `[ ]`".to_owned()),
            }),
            Some(other) => Err(unexpected(&other, self.end)),
            None => Err(self.operand_missing()),
        }
    }

    fn operand_missing(&self) -> SyntaxError {
        let expected = vec!["an expression".to_owned()];
        SyntaxError::UnexpectedToken { found: "end of the expression".to_owned(), expected, span: self.end, help: None }
    }

    fn keyword(&mut self, keyword: Keyword, start: Span) -> Tree {
        let operand = self.assignment(Commas::Tuple)?;
        let span = start.to(operand.span);
        let names = |operand: Expr| match operand.kind {
            ExprKind::Tuple(elements)
                if elements.first().is_some_and(|first| first.value.span.start == operand.span.start) =>
            {
                elements.into_iter().map(|element| element.value).collect()
            }
            _ => vec![operand],
        };
        let kind = match keyword {
            Keyword::Return => ExprKind::Return(Some(Box::new(operand))),
            Keyword::Const => ExprKind::Const(Box::new(operand)),
            Keyword::Local => ExprKind::Local(names(operand)),
            Keyword::Global => ExprKind::Global(names(operand)),
        };
        Ok(Expr { kind, span })
    }
}

/// Whether the number was written without parentheses.
pub(crate) fn is_bare_number(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Integer(text) | ExprKind::Float(text) => text.len() == expr.span.range().len(),
        _ => false,
    }
}

fn assign(target: Expr, operator: Spanned<Operator>, value: Expr, forms: Forms) -> Expr {
    let Operator { symbol, dotted } = operator.value;
    if symbol == "=" && !dotted {
        return tree::assign_or_define(target, value, forms);
    }
    let updating = is_updating(&symbol);
    if symbol != "=" && !updating {
        return infix(target, Spanned { value: Operator { symbol, dotted }, span: operator.span }, value);
    }
    let broadcast = if dotted { Broadcast::Yes } else { Broadcast::No };
    let span = target.span.to(value.span);
    // The operator's own symbol, without the `=` that is the assignment.
    let operator = updating.then(|| Spanned {
        value: Operator { symbol: symbol.trim_end_matches('=').to_owned(), dotted },
        span: operator.span,
    });
    Expr { kind: ExprKind::Assign { operator, broadcast, target: Box::new(target), value: Box::new(value) }, span }
}

fn infix(left: Expr, operator: Spanned<Operator>, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    Expr { kind: ExprKind::Infix { operator, left: Box::new(left), right: Box::new(right) }, span }
}

fn prefix(operator: Spanned<Operator>, operand: Expr) -> Expr {
    let span = operator.span.to(operand.span);
    Expr { kind: ExprKind::Prefix { operator, operand: Box::new(operand) }, span }
}

fn typed(value: Expr, ty: Expr) -> Expr {
    let span = value.span.to(ty.span);
    Expr { kind: ExprKind::Typed { value: Some(Box::new(value)), ty: Box::new(ty) }, span }
}

fn lambda(left: Expr, body: Expr) -> Expr {
    let span = left.span.to(body.span);
    let arguments = match left.kind {
        ExprKind::Tuple(elements) if elements.iter().all(|element| element.section == Section::Main) => {
            elements.into_iter().map(tree::unkeyword).collect()
        }
        // `(a; k = 1) -> body` keeps its keywords apart.
        _ => vec![left],
    };
    Expr { kind: ExprKind::Lambda { arguments, body: Box::new(body) }, span }
}

fn item_span(item: &Item) -> Option<Span> {
    match item {
        Item::Operand(expr) => Some(expr.span),
        Item::Prefix(operator) | Item::Infix(operator) => Some(operator.span),
        Item::Braces(_, span)
        | Item::Keyword(_, span)
        | Item::Splat(span)
        | Item::Comma(span)
        | Item::TrailingComma(span)
        | Item::Question(span)
        | Item::TernaryColon(span) => Some(*span),
        Item::Juxtapose => None,
    }
}

fn describe(item: &Item) -> String {
    match item {
        Item::Operand(_) => "expression".to_owned(),
        Item::Braces(..) => "`{`".to_owned(),
        Item::Prefix(operator) | Item::Infix(operator) => {
            format!("`{}{}`", if operator.value.dotted { "." } else { "" }, operator.value.symbol)
        }
        Item::Keyword(keyword, _) => match keyword {
            Keyword::Return => "`return`".to_owned(),
            Keyword::Const => "`const`".to_owned(),
            Keyword::Local => "`local`".to_owned(),
            Keyword::Global => "`global`".to_owned(),
        },
        Item::Juxtapose => "factor".to_owned(),
        Item::Splat(_) => "`...`".to_owned(),
        Item::Comma(_) | Item::TrailingComma(_) => "`,`".to_owned(),
        Item::Question(_) => "`?`".to_owned(),
        Item::TernaryColon(_) => "`:`".to_owned(),
    }
}

fn unexpected(item: &Item, end: Span) -> SyntaxError {
    let span = item_span(item).unwrap_or(end);
    let help = match item {
        Item::Infix(operator) if operator.value.symbol == "::" => {
            Some("put the expression before `::` in parentheses".to_owned())
        }
        item if describe(item) == "`:`" => {
            Some("leave it out: no line ends with `:` in Julia, and a block is closed by `end`".to_owned())
        }
        _ => None,
    };
    SyntaxError::UnexpectedToken { found: describe(item), expected: vec![], span, help }
}
