//! Lexemes to tokens: resolves all that depends on whitespace, on new lines or on the enclosing bracket or block.
//!
//! After this pass every token has one meaning: a `(` calls or groups, a `-` stands before or between operands, a new
//! line separates or is gone, whitespace that separates arguments of a macro or elements of a row is a token, `end`
//! closes a block or is the last index. Brackets and blocks are matched here, over any Julia file, which is what
//! [`crate::scan()`] rests on.

mod brackets;
mod operator;
mod token;
mod words;

pub use token::{Nesting, Placed, Token};

use crate::error::SyntaxError;
use crate::lexer::{Lexed, Lexeme};
use crate::parse::MAX_ERRORS;
use tessella_diagnostics::{SourceMap, Span};

/// How deep brackets, blocks and operators may nest in a function that is parsed.
pub const MAX_DEPTH: usize = 500;

/// The tokens of a piece of source and its structural errors.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    pub tokens: Vec<Placed>,
    pub errors: Vec<SyntaxError>,
}

/// Resolves the context of all lexemes.
pub fn lay_out(sources: &SourceMap, lexemes: &[Lexed]) -> Layout {
    let mut pass = Pass::new(sources, lexemes);
    while pass.at < lexemes.len() {
        pass.step();
    }
    pass.finish()
}

/// What encloses the current token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Top,
    Round,
    Square,
    Brace,
    Block,
}

/// The part of a block's first line that precedes its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Header {
    None,
    /// One expression: a condition, a signature, a name.
    Single,
    Iterations,
    /// Expressions between commas: the bindings of `let`, the arguments of `do`.
    List,
}

/// Where in `for i in a, j in b` the current token stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Iteration {
    None,
    Target,
    Range,
}

/// An open bracket or block.
#[derive(Debug)]
struct Level {
    kind: Kind,
    /// Index of the opening token.
    opener: usize,
    header: Header,
    iteration: Iteration,
    /// Whether a `for` made this bracket a generator.
    generator: bool,
    /// `?` that await their `:`.
    ternaries: usize,
    /// One entry for each macro call whose arguments are being read: the `ternaries` at its start.
    macros: Vec<usize>,
    /// Whether a `return` or declaration takes what follows, commas included.
    takes_commas: bool,
    /// Operators in the current statement or element, over those of the enclosing levels: bounds the tree's depth.
    depth: usize,
    /// Calls, indices and fields one after the other.
    postfix: usize,
    /// `depth` at the level's start.
    base: usize,
}

impl Level {
    fn new(kind: Kind, opener: usize, header: Header, depth: usize) -> Self {
        let iteration = if header == Header::Iterations { Iteration::Target } else { Iteration::None };
        let (generator, ternaries, macros, takes_commas) = (false, 0, vec![], false);
        let (postfix, base) = (0, depth);
        Self { kind, opener, header, iteration, generator, ternaries, macros, takes_commas, depth, postfix, base }
    }

    /// Forgets what a finished statement or element left open.
    fn restart(&mut self) {
        self.ternaries = 0;
        self.depth = self.base;
        self.postfix = 0;
    }
}

struct Pass<'s> {
    sources: &'s SourceMap,
    lexemes: &'s [Lexed],
    at: usize,
    tokens: Vec<Placed>,
    errors: Vec<SyntaxError>,
    levels: Vec<Level>,
    /// Whether an insignificant new line stands before the current lexeme.
    line_broken: bool,
    /// An `end` that closes a block of deeper indentation: the likely culprit of a missing `end`.
    suspicious: Option<(usize, Span)>,
    too_deep: bool,
}

impl<'s> Pass<'s> {
    fn new(sources: &'s SourceMap, lexemes: &'s [Lexed]) -> Self {
        let levels = vec![Level::new(Kind::Top, 0, Header::None, 0)];
        let tokens = Vec::with_capacity(lexemes.len() + lexemes.len() / 4);
        let (at, errors, line_broken, suspicious, too_deep) = (0, vec![], false, None, false);
        Self { sources, lexemes, at, tokens, errors, levels, line_broken, suspicious, too_deep }
    }

    /// Takes the lexeme at `at`.
    fn step(&mut self) {
        let lexed = self.lexemes[self.at];
        match lexed.lexeme {
            Lexeme::Newline => self.newline(lexed.span),
            Lexeme::Semicolon => self.semicolon(lexed.span),
            Lexeme::Comma => self.comma(lexed.span),
            Lexeme::Word => self.word(),
            Lexeme::Integer => self.operand(Token::Integer),
            Lexeme::Float => self.operand(Token::Float),
            Lexeme::Char => self.operand(Token::Char),
            Lexeme::Str => self.operand(Token::Str),
            Lexeme::StrMacro { prefix, suffix } => self.operand(Token::StrMacro { prefix, suffix }),
            Lexeme::Command => self.operand(Token::Command),
            Lexeme::Invalid => self.operand(Token::Error),
            Lexeme::Operator => self.operator(),
            Lexeme::Adjoint => self.push(Token::Adjoint, lexed.span),
            Lexeme::Dot => self.dot(),
            Lexeme::At => self.macro_name(),
            Lexeme::Open(bracket) => self.open_bracket(bracket),
            Lexeme::Close(bracket) => self.close_bracket(bracket),
        }
        if lexed.lexeme != Lexeme::Newline {
            self.line_broken = false;
        }
        self.at += 1;
    }

    fn text(&self, span: Span) -> &'s str {
        self.sources.text(span)
    }

    /// The depth at which a bracket or block that opens now begins.
    fn inner_depth(&mut self) -> usize {
        let top = self.top();
        top.depth + top.postfix + 1
    }

    fn top(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the level of the file itself is never popped")
    }

    fn push(&mut self, token: Token, span: Span) {
        use Token::*;
        let top = self.top();
        match token {
            Infix | Prefix | Interpolate | Question | TupleComma | Juxtapose | Return | Const | Local | Global => {
                top.depth += 1;
                top.postfix = 0;
            }
            Adjoint | Splat | Dot | CallOpen | DotCallOpen | IndexOpen | CurlyOpen | Do => top.postfix += 1,
            _ => {}
        }
        if top.depth + top.postfix > MAX_DEPTH && !self.too_deep {
            self.too_deep = true;
            self.errors.push(SyntaxError::TooDeep { limit: MAX_DEPTH, span });
        }
        if matches!(token, Return | Const | Local | Global) {
            self.top().takes_commas = true;
        }
        self.tokens.push(Placed { token, span, partner: self.tokens.len() });
    }

    /// The last token.
    fn last(&self) -> Option<Token> {
        self.tokens.last().map(|placed| placed.token)
    }

    fn after_operand(&self) -> bool {
        self.last().is_some_and(Token::ends_operand)
    }

    /// The empty span before the current lexeme.
    fn gap(&self) -> Span {
        let span = self.lexemes[self.at].span;
        Span { end: span.start, ..span }
    }

    /// Whether whitespace, a comment or an insignificant new line stands before the current lexeme.
    fn spaced(&self) -> bool {
        self.lexemes[self.at].spaced || self.line_broken
    }

    /// The lexeme after the current one.
    fn next(&self) -> Option<Lexed> {
        self.lexemes.get(self.at + 1).copied()
    }

    /// The first lexeme after the current one that is not a new line.
    fn next_across_lines(&self) -> Option<Lexed> {
        self.lexemes[self.at + 1..].iter().find(|lexed| lexed.lexeme != Lexeme::Newline).copied()
    }

    fn next_is_adjacent(&self, lexeme: Lexeme) -> bool {
        self.next().is_some_and(|next| next.lexeme == lexeme && !next.spaced)
    }

    fn operand(&mut self, token: Token) {
        self.separate();
        self.push(token, self.lexemes[self.at].span);
    }

    /// Called where an operand begins: writes down what the whitespace before it means.
    fn separate(&mut self) {
        if !self.after_operand() {
            return;
        }
        let gap = self.gap();
        if !self.spaced() {
            if self.juxtaposes() {
                self.push(Token::Juxtapose, gap);
            }
            return;
        }
        let opens_macro = self.last() == Some(Token::MacroName);
        let top = self.top();
        if opens_macro {
            top.macros.push(top.ternaries);
            self.push(Token::MacroBegin, gap);
        } else if !top.macros.is_empty() {
            top.depth = top.base;
            self.push(Token::ArgumentGap, gap);
        } else if top.kind == Kind::Square {
            top.restart();
            self.push(Token::ElementGap, gap);
        } else if top.header != Header::None && top.iteration != Iteration::Target {
            self.end_header(gap);
        }
    }

    /// Whether the current lexeme multiplies the operand directly before it.
    fn juxtaposes(&self) -> bool {
        let number = matches!(self.lexemes[self.at].lexeme, Lexeme::Integer | Lexeme::Float);
        match self.last() {
            Some(Token::Integer | Token::Float) => true,
            Some(Token::RoundClose | Token::SquareClose | Token::Adjoint | Token::BraceClose) => {
                let text = self.lexemes[self.at].lexeme;
                !number && !matches!(text, Lexeme::At | Lexeme::Str | Lexeme::Command)
            }
            _ => false,
        }
    }

    fn end_header(&mut self, gap: Span) {
        self.end_macros();
        let top = self.top();
        top.header = Header::None;
        top.iteration = Iteration::None;
        top.restart();
        self.push(Token::Separator, gap);
    }

    /// Ends the arguments of all macro calls of the current level.
    fn end_macros(&mut self) {
        let count = self.top().macros.len();
        self.top().macros.clear();
        let span = self.tokens.last().map(|placed| Span { start: placed.span.end, ..placed.span });
        for _ in 0..count {
            self.push(Token::MacroEnd, span.expect("a macro's name stands before its end"));
        }
    }

    fn newline(&mut self, span: Span) {
        let last = self.last();
        match self.top().kind {
            Kind::Round | Kind::Brace => self.line_broken = true,
            Kind::Square => {
                let generator = self.top().generator;
                let continues = self.next_across_lines().is_none_or(|next| match next.lexeme {
                    Lexeme::Close(_) | Lexeme::Comma | Lexeme::Semicolon => true,
                    Lexeme::Word => match self.text(next.span) {
                        "for" => true,
                        "if" => generator,
                        _ => false,
                    },
                    _ => false,
                });
                if self.after_operand() && !continues && !generator {
                    self.end_macros();
                    self.top().restart();
                    self.push(Token::Semicolon, span);
                } else {
                    self.line_broken = true;
                }
            }
            Kind::Block | Kind::Top => match last {
                None | Some(Token::Separator) => {}
                Some(
                    Token::Infix
                    | Token::Prefix
                    | Token::Interpolate
                    | Token::TupleComma
                    | Token::Comma
                    | Token::IterationComma,
                ) => {
                    self.line_broken = true;
                }
                Some(
                    Token::Question | Token::TernaryColon | Token::IterationIn | Token::TrailingComma | Token::Dot,
                ) => {
                    self.line_broken = true;
                }
                Some(_) => self.end_header(span),
            },
        }
    }

    fn semicolon(&mut self, span: Span) {
        match self.top().kind {
            Kind::Round | Kind::Square | Kind::Brace => {
                self.end_macros();
                let top = self.top();
                top.restart();
                top.takes_commas = false;
                top.generator = false;
                top.iteration = Iteration::None;
                self.push(Token::Semicolon, span);
            }
            Kind::Block | Kind::Top => {
                if self.last() != Some(Token::Separator) && self.last().is_some() {
                    self.end_header(span);
                }
            }
        }
    }

    fn comma(&mut self, span: Span) {
        let before_equals =
            self.next().is_some_and(|next| next.lexeme == Lexeme::Operator && self.text(next.span) == "=");
        let top = self.top();
        let bracket = matches!(top.kind, Kind::Round | Kind::Square | Kind::Brace);
        let token = if !top.macros.is_empty() || (bracket && top.takes_commas) {
            if before_equals { Token::TrailingComma } else { Token::TupleComma }
        } else if top.generator || top.header == Header::Iterations {
            top.iteration = Iteration::Target;
            Token::IterationComma
        } else if bracket || top.header == Header::List {
            Token::Comma
        } else if before_equals {
            Token::TrailingComma
        } else {
            Token::TupleComma
        };
        top.restart();
        self.push(token, span);
    }

    /// The first `else if` on one line behind the `if` that is not closed.
    fn else_if(&self, opener: Span) -> Option<Span> {
        if self.text(opener) != "if" {
            return None;
        }
        let behind = self.tokens.iter().map(|placed| placed.span).filter(|span| span.start > opener.start);
        let behind: Vec<Span> = behind.collect();
        let pair = behind.windows(2).find(|pair| {
            let gap = Span { start: pair[0].end, end: pair[1].start, ..pair[0] };
            self.text(pair[0]) == "else" && self.text(pair[1]) == "if" && !self.text(gap).contains('\n')
        });
        pair.map(|pair| pair[0].to(pair[1]))
    }

    /// Reports what was never closed.
    fn finish(mut self) -> Layout {
        self.end_macros();
        for level in std::mem::take(&mut self.levels).into_iter().skip(1).rev() {
            let opener = self.tokens[level.opener].span;
            let error = match level.kind {
                Kind::Block | Kind::Top => {
                    let keyword = self.text(opener).to_owned();
                    let suspicious = self.suspicious.take();
                    match suspicious {
                        Some((inner, end)) => SyntaxError::UnclosedBlock {
                            keyword: self.text(self.tokens[inner].span).to_owned(),
                            opener: self.tokens[inner].span,
                            suspicious_end: Some(end),
                            else_if: self.else_if(self.tokens[inner].span),
                        },
                        None => SyntaxError::UnclosedBlock {
                            keyword,
                            opener,
                            suspicious_end: None,
                            else_if: self.else_if(opener),
                        },
                    }
                }
                Kind::Round | Kind::Square | Kind::Brace => self.unclosed_bracket(level.opener, None),
            };
            self.errors.push(error);
        }
        // The innermost come first.
        self.errors.truncate(MAX_ERRORS);
        Layout { tokens: self.tokens, errors: self.errors }
    }
}
