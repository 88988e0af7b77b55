//! Brackets and blocks: opening, closing, and what to do when they do not match.

use super::{Header, Iteration, Kind, Level, Pass, Token};
use crate::error::SyntaxError;
use crate::lexer::Lexeme;
use tessella_diagnostics::Span;

impl Pass<'_> {
    pub(super) fn open_bracket(&mut self, bracket: char) {
        let span = self.lexemes[self.at].span;
        let adjacent = self.after_operand() && !self.spaced();
        let macro_name = self.last() == Some(Token::MacroName);
        let number = matches!(self.last(), Some(Token::Integer | Token::Float));
        let token = match bracket {
            '(' if adjacent && macro_name => Token::MacroOpen,
            '(' if adjacent && number => {
                self.push(Token::Juxtapose, self.gap());
                Token::GroupOpen
            }
            '(' if adjacent => Token::CallOpen,
            '[' if adjacent && !macro_name => Token::IndexOpen,
            '{' if adjacent && !macro_name => Token::CurlyOpen,
            _ => {
                if !adjacent {
                    self.separate();
                }
                match bracket {
                    '(' => Token::GroupOpen,
                    '[' => Token::SquareOpen,
                    _ => Token::BraceOpen,
                }
            }
        };
        self.enter_bracket(token, span);
    }

    pub(super) fn enter_bracket(&mut self, token: Token, span: Span) {
        let kind = match token {
            Token::SquareOpen | Token::IndexOpen => Kind::Square,
            Token::BraceOpen | Token::CurlyOpen => Kind::Brace,
            _ => Kind::Round,
        };
        self.push(token, span);
        let (opener, depth) = (self.tokens.len() - 1, self.inner_depth());
        self.levels.push(Level::new(kind, opener, Header::None, depth));
    }

    pub(super) fn close_bracket(&mut self, bracket: char) {
        let span = self.lexemes[self.at].span;
        let (kind, token) = match bracket {
            ')' => (Kind::Round, Token::RoundClose),
            ']' => (Kind::Square, Token::SquareClose),
            _ => (Kind::Brace, Token::BraceClose),
        };
        // The nearest open bracket of this kind that no block hides.
        let brackets = self.levels.iter().rev().take_while(|level| !matches!(level.kind, Kind::Block | Kind::Top));
        let Some(skipped) = brackets.map(|level| level.kind).position(|open| open == kind) else {
            self.errors.push(SyntaxError::StrayCloser { closer: bracket.to_string(), span });
            return;
        };
        for _ in 0..skipped {
            self.abandon_bracket(span);
        }
        self.end_macros();
        let level = self.levels.pop().expect("a level of this kind was found");
        self.push_closer(token, span, level.opener);
    }

    fn push_closer(&mut self, token: Token, span: Span, opener: usize) {
        self.push(token, span);
        let closer = self.tokens.len() - 1;
        self.tokens[closer].partner = opener;
        self.tokens[opener].partner = closer;
    }

    /// Pops a bracket that was never closed.
    fn abandon_bracket(&mut self, stopped_at: Span) {
        let level = self.levels.pop().expect("an open bracket was seen on top");
        let error = self.unclosed_bracket(level.opener, Some(stopped_at));
        self.errors.push(error);
    }

    pub(super) fn unclosed_bracket(&self, opener: usize, stopped_at: Option<Span>) -> SyntaxError {
        let span = self.tokens[opener].span;
        let bracket = self.text(span).chars().last().unwrap_or('(');
        SyntaxError::UnclosedBracket { bracket, opener: span, stopped_at }
    }

    /// Whether `end` and `begin` are indices here: inside the `[ ]` of an index with no block between.
    pub(super) fn in_index(&self) -> bool {
        let brackets = self.levels.iter().rev().take_while(|level| !matches!(level.kind, Kind::Block | Kind::Top));
        brackets.map(|level| self.tokens[level.opener].token).any(|opener| opener == Token::IndexOpen)
    }

    pub(super) fn open_block(&mut self, token: Token, span: Span, header: Header) {
        self.push(token, span);
        let (opener, depth) = (self.tokens.len() - 1, self.inner_depth());
        self.levels.push(Level::new(Kind::Block, opener, header, depth));
    }

    /// `end` of a block.
    pub(super) fn close_block(&mut self, span: Span) {
        if !self.levels.iter().any(|level| level.kind == Kind::Block) {
            self.errors.push(SyntaxError::StrayCloser { closer: "end".to_owned(), span });
            return;
        }
        self.drop_brackets(span);
        self.end_macros();
        let level = self.levels.pop().expect("a block is open");
        self.suspect(level.opener, span);
        self.push_closer(Token::End, span, level.opener);
    }

    /// `else`, `elseif`, `catch`, `finally`.
    pub(super) fn middle(&mut self, token: Token, span: Span) {
        if self.levels.iter().any(|level| level.kind == Kind::Block) {
            self.drop_brackets(span);
        }
        self.end_macros();
        let top = self.top();
        top.restart();
        top.iteration = Iteration::None;
        if top.kind == Kind::Block {
            top.header = if token == Token::ElseIf { Header::Single } else { Header::None };
        }
        self.push(token, span);
    }

    /// Reports the brackets that are open above the innermost block.
    fn drop_brackets(&mut self, stopped_at: Span) {
        while !matches!(self.top().kind, Kind::Block | Kind::Top) {
            self.abandon_bracket(stopped_at);
        }
    }

    /// Remembers the first `end` at the start of a line that is indented less than the line of what it closes.
    fn suspect(&mut self, opener: usize, end: Span) {
        if self.suspicious.is_some() {
            return;
        }
        let (Some(outer), Some(own)) = (self.indentation(end), self.line_indentation(self.tokens[opener].span)) else {
            return;
        };
        if outer < own {
            self.suspicious = Some((opener, end));
        }
    }

    /// The width of the whitespace before `span` if it begins its line.
    fn indentation(&self, span: Span) -> Option<usize> {
        let width = self.line_indentation(span)?;
        let (_, column) = self.sources.position(span);
        (column as usize == width + 1).then_some(width)
    }

    /// The width of the whitespace that the line of `span` begins with.
    fn line_indentation(&self, span: Span) -> Option<usize> {
        let before = &self.sources.file(span.file).text[..span.start as usize];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = &self.sources.file(span.file).text[start..];
        Some(line.len() - line.trim_start_matches([' ', '\t']).len())
    }

    /// Index of the bracket that closes the one at `open`, by counting over lexemes.
    pub(super) fn matching_lexeme(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (at, lexed) in self.lexemes.iter().enumerate().skip(open) {
            match lexed.lexeme {
                Lexeme::Open(_) => depth += 1,
                Lexeme::Close(_) => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }
}
