//! Source text to trees, with recovery: all syntax errors of a text are reported together.

use crate::ast::{Block, Expr, ExprKind, Function, Name, Operator};
use crate::error::SyntaxError;
use crate::forms::Forms;
use crate::grammar::ProgramParser;
use crate::layout::{Layout, Nesting, Placed, Token, lay_out};
use crate::lexer::lex;
use crate::scan::{FunctionItem, ScheduleItem};
use crate::tree;
use lalrpop_util::ParseError;
use std::cell::Cell;
use tessella_diagnostics::{FileId, SourceMap, Span, Spanned};

/// After this many errors the rest of a text is not looked at.
pub(crate) const MAX_ERRORS: usize = 20;

/// The definition of `item`.
pub fn parse_function(sources: &SourceMap, item: &FunctionItem) -> Result<Function, Vec<SyntaxError>> {
    parse_definition(sources, item, Forms::Compilable)
}

/// The definition of `item`, which may use these forms.
pub fn parse_definition(sources: &SourceMap, item: &FunctionItem, forms: Forms) -> Result<Function, Vec<SyntaxError>> {
    let mut block = parse_forms(sources, item.span, forms)?;
    match (block.pop(), block.is_empty()) {
        (Some(Expr { kind: ExprKind::Function(function), .. }), true) => {
            Ok(Function { macros: item.macros.clone(), ..*function })
        }
        (other, _) => Err(vec![other.as_ref().and_then(tree::why_no_definition).unwrap_or_else(|| {
            SyntaxError::MalformedDefinition {
                problem: format!("the definition of `{}` has a form that is not understood", item.name.value),
                span: item.span,
                help: "write `function name(arguments) ... end`".to_owned(),
            }
        })]),
    }
}

/// The commands of a `@schedule` block.
pub fn parse_schedule(sources: &SourceMap, commands: Span) -> Result<Block, Vec<SyntaxError>> {
    parse_text(sources, commands)
}

/// The commands of a schedule file: the body of a `@schedule` block without the macro, or one whole `@schedule` block.
pub fn parse_commands(sources: &SourceMap, file: FileId) -> Result<Block, Vec<SyntaxError>> {
    let scan = crate::scan(sources, file);
    match scan.schedules.into_iter().next() {
        Some(ScheduleItem { commands, .. }) => commands,
        None => parse_block(sources, file),
    }
}

/// The statements of a whole file.
pub fn parse_block(sources: &SourceMap, file: FileId) -> Result<Block, Vec<SyntaxError>> {
    parse_text(sources, whole(sources, file))
}

/// The one expression of a whole file.
pub fn parse_expression(sources: &SourceMap, file: FileId) -> Result<Expr, Vec<SyntaxError>> {
    one_expression(parse_block(sources, file)?, whole(sources, file))
}

pub(crate) fn one_expression(block: Block, span: Span) -> Result<Expr, Vec<SyntaxError>> {
    let mut block = block;
    let expected = vec!["one expression".to_owned()];
    match (block.pop(), block.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(extra), false) => {
            let found = "second expression".to_owned();
            Err(vec![SyntaxError::UnexpectedToken { found, expected, span: extra.span, help: None }])
        }
        (None, _) => {
            let found = "end of the source".to_owned();
            Err(vec![SyntaxError::UnexpectedToken { found, expected, span, help: None }])
        }
    }
}

fn whole(sources: &SourceMap, file: FileId) -> Span {
    Span::new(file, 0..sources.file(file).text.len())
}

/// The statements of a piece of a file.
pub fn parse_text(sources: &SourceMap, span: Span) -> Result<Block, Vec<SyntaxError>> {
    parse_forms(sources, span, Forms::Compilable)
}

pub(crate) fn parse_forms(sources: &SourceMap, span: Span, forms: Forms) -> Result<Block, Vec<SyntaxError>> {
    let (lexemes, mut errors) = lex(span.file, sources.text(span), span.start as usize);
    if errors.iter().any(SyntaxError::is_structural) {
        return Err(sorted(errors));
    }
    let Layout { mut tokens, errors: unmatched } = lay_out(sources, &lexemes);
    if !unmatched.is_empty() {
        errors.extend(unmatched);
        return Err(sorted(errors));
    }
    if forms == Forms::All {
        for placed in &mut tokens {
            if placed.token == Token::Unsupported && sources.text(placed.span) == "outer" {
                placed.token = Token::Prefix;
            }
        }
    }
    let source = Source { sources, file: span.file, forms };
    let end = span.end as usize;
    match parse_tokens(&source, tokens, end, &mut errors) {
        Some(block) if errors.is_empty() => Ok(block),
        _ => Err(sorted(errors)),
    }
}

fn sorted(mut errors: Vec<SyntaxError>) -> Vec<SyntaxError> {
    errors.sort_by_key(|error| (error.span().start, error.span().end));
    errors.dedup();
    errors.truncate(MAX_ERRORS);
    errors
}

/// Parses; after an error replaces the statement it is in by one error token, and parses again.
fn parse_tokens(
    source: &Source<'_>,
    mut tokens: Vec<Placed>,
    end: usize,
    errors: &mut Vec<SyntaxError>,
) -> Option<Block> {
    let parser = ProgramParser::new();
    loop {
        let taken = Cell::new(0usize);
        let input = tokens.iter().map(|placed| {
            taken.set(taken.get() + 1);
            Ok((placed.span.start as usize, placed.token, placed.span.end as usize))
        });
        let failure = match parser.parse(source, input) {
            Ok(block) => return Some(block),
            Err(failure) => failure,
        };
        let (at, error) = match failure {
            ParseError::UnrecognizedToken { expected, .. } => {
                let at = taken.get() - 1;
                (at, unexpected_token(source, &tokens, at, &expected))
            }
            ParseError::UnrecognizedEof { expected, .. } => (tokens.len(), end_of_source(source, end, &expected)),
            ParseError::ExtraToken { .. } | ParseError::InvalidToken { .. } => {
                let at = taken.get().saturating_sub(1);
                (at, unexpected_token(source, &tokens, at, &[]))
            }
            ParseError::User { error } => {
                let start = error.span().start;
                let at = tokens.iter().position(|placed| placed.span.end > start).unwrap_or(tokens.len());
                (at, error)
            }
        };
        let (from, to) = segment(&tokens, at);
        // What is wrong around an invalid literal follows from it.
        let consequence = tokens[from..to].iter().any(|placed| placed.token == Token::Error);
        if !consequence {
            errors.push(error);
        }
        if errors.len() >= MAX_ERRORS
            || matches!(tokens[from..to], [Placed { token: Token::Error | Token::ErrorHeader, .. }])
        {
            return None;
        }
        let place = match tokens[from..to] {
            [first, .., last] => first.span.to(last.span),
            [only] => only.span,
            [] => {
                let at = tokens.get(from).map_or(end, |placed| placed.span.start as usize);
                source.span(at, at)
            }
        };
        let iterations = from.checked_sub(1).is_some_and(|before| tokens[before].token == Token::For);
        let token = if iterations { Token::ErrorHeader } else { Token::Error };
        tokens.splice(from..to, [Placed { token, span: place, partner: from }]);
    }
}

/// The statement, or the header of a block, around the token `at`: what lies between the nearest separators and keywords
/// that no bracket or inner block encloses.
fn segment(tokens: &[Placed], at: usize) -> (usize, usize) {
    let at = at.min(tokens.len());
    let mut depth = 0usize;
    let mut from = at;
    while from > 0 {
        let token = tokens[from - 1].token;
        match token.nesting() {
            Nesting::ClosesBracket | Nesting::ClosesBlock => depth += 1,
            Nesting::OpensBracket => depth = depth.saturating_sub(1),
            Nesting::OpensBlock if depth == 0 => break,
            Nesting::OpensBlock => depth -= 1,
            Nesting::Middle if depth == 0 => break,
            Nesting::Flat if depth == 0 && token == Token::Separator => break,
            Nesting::Middle | Nesting::Flat => {}
        }
        from -= 1;
    }
    let mut depth = 0usize;
    let mut to = from;
    while to < tokens.len() {
        let token = tokens[to].token;
        match token.nesting() {
            Nesting::OpensBracket | Nesting::OpensBlock => depth += 1,
            Nesting::ClosesBracket => depth = depth.saturating_sub(1),
            Nesting::ClosesBlock if depth == 0 => break,
            Nesting::ClosesBlock => depth -= 1,
            Nesting::Middle if depth == 0 => break,
            Nesting::Flat if depth == 0 && token == Token::Separator => break,
            Nesting::Middle | Nesting::Flat => {}
        }
        to += 1;
    }
    (from, to)
}

fn unexpected_token(source: &Source<'_>, tokens: &[Placed], at: usize, expected: &[String]) -> SyntaxError {
    let Placed { token, span, .. } = tokens[at];
    let text = source.sources.text(span);
    if matches!(token, Token::Unsupported | Token::UnsupportedBlock | Token::UnsupportedMiddle) {
        let help = match text {
            "try" | "catch" | "finally" => Some("move error handling outside the function".to_owned()),
            "outer" => Some("give the iterator a name of its own".to_owned()),
            _ => Some(format!("move the `{text}` outside the function")),
        };
        return SyntaxError::Unsupported { what: format!("`{text}`"), span, help };
    }
    let before = at.checked_sub(1).map(|before| tokens[before].token);
    let spaced = before.is_some_and(Token::ends_operand)
        && at.checked_sub(1).is_some_and(|before| tokens[before].span.end < span.start);
    let help = match token {
        Token::GroupOpen if spaced => Some("a call takes no space between the function and `(`".to_owned()),
        Token::SquareOpen if spaced => Some("an index takes no space between the array and `[`".to_owned()),
        _ => match at.checked_sub(1).map(|before| source.sources.text(tokens[before].span)) {
            Some("and") => Some("write `&&` for `and`".to_owned()),
            Some("or") => Some("write `||` for `or`".to_owned()),
            Some("not") => Some("write `!` for `not`".to_owned()),
            Some(_) | None => None,
        },
    };
    // A new line has no width on its own line; the end of the line before it has.
    let span = match token {
        Token::Separator if text == "\n" => source.span(span.start as usize, span.start as usize),
        _ => span,
    };
    SyntaxError::UnexpectedToken { found: describe(token, text), expected: in_words(expected), span, help }
}

fn end_of_source(source: &Source<'_>, end: usize, expected: &[String]) -> SyntaxError {
    let found = "end of the source".to_owned();
    SyntaxError::UnexpectedToken { found, expected: in_words(expected), span: source.span(end, end), help: None }
}

fn describe(token: Token, text: &str) -> String {
    match token {
        Token::Separator | Token::Semicolon if text == "\n" => "end of the line".to_owned(),
        Token::Integer | Token::Float => format!("number `{text}`"),
        Token::Str | Token::StrMacro { .. } => "string".to_owned(),
        Token::Command => "command literal".to_owned(),
        Token::Name => format!("name `{text}`"),
        Token::MacroName => format!("macro `{text}`"),
        Token::ElementGap | Token::MacroBegin | Token::ArgumentGap | Token::MacroEnd | Token::Juxtapose => {
            "whitespace".to_owned()
        }
        Token::Separator if text.is_empty() => "second expression on one line".to_owned(),
        _ => format!("`{text}`"),
    }
}

/// The terminals of the grammar in words, the most telling first.
fn in_words(expected: &[String]) -> Vec<String> {
    let has = |terminal: &str| expected.iter().any(|name| name.trim_matches('"') == terminal);
    let mut words = vec![];
    let mut word = |condition: bool, text: &str| {
        if condition {
            words.push(text.to_owned());
        }
    };
    word(has("name"), "an expression");
    word(has("infix"), "an operator");
    word(has("iteration in"), "`in`");
    word(has("ternary :") && !has("infix"), "`:`");
    word(has("separator"), "a new line");
    for closer in [")", "]", "}", ","] {
        word(has(closer), &format!("`{closer}`"));
    }
    word(has("end"), "`end`");
    words.truncate(4);
    words
}

/// What the grammar's actions read from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'s> {
    sources: &'s SourceMap,
    file: FileId,
    pub(crate) forms: Forms,
}

impl Source<'_> {
    pub(crate) fn span(&self, l: usize, r: usize) -> Span {
        Span::new(self.file, l..r)
    }

    pub(crate) fn text(&self, l: usize, r: usize) -> String {
        self.sources.text(self.span(l, r)).to_owned()
    }

    pub(crate) fn expr(&self, kind: ExprKind, l: usize, r: usize) -> Expr {
        Expr { kind, span: self.span(l, r) }
    }

    pub(crate) fn name(&self, l: usize, r: usize) -> Name {
        Spanned { value: self.text(l, r), span: self.span(l, r) }
    }

    /// The name of a macro without its `@`.
    pub(crate) fn macro_name(&self, l: usize, r: usize) -> Name {
        Spanned { value: self.text(l, r).replace('@', ""), span: self.span(l, r) }
    }

    pub(crate) fn operator(&self, l: usize, r: usize) -> Spanned<Operator> {
        let text = self.text(l, r);
        let undotted = text.strip_prefix('.').filter(|rest| !rest.is_empty() && !rest.starts_with('.'));
        let value = match undotted {
            Some(symbol) => Operator { symbol: symbol.to_owned(), dotted: true },
            None => Operator { symbol: text, dotted: false },
        };
        Spanned { value, span: self.span(l, r) }
    }
}
