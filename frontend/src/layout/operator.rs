//! Operators: before an operand, between two, or as a value.

use super::{Kind, Pass, Token};
use crate::lexer::{Lexed, Lexeme};
use crate::operators::{is_only_unary, is_syntactic, is_unary, is_unary_and_binary};
use tessella_diagnostics::Span;

impl Pass<'_> {
    pub(super) fn operator(&mut self) {
        let span = self.lexemes[self.at].span;
        let written = self.text(span);
        let symbol = undotted(written);
        match written {
            "..." if self.after_operand() => return self.push(Token::Splat, span),
            "?" => {
                self.top().ternaries += 1;
                return self.push(Token::Question, span);
            }
            ":" => return self.colon(),
            _ => {}
        }
        if self.last() == Some(Token::MacroName) && self.spaced() {
            self.separate();
        }
        if self.after_operand() {
            let separates = self.whitespace_separates() && self.spaced() && !self.space_follows();
            if (separates && is_unary_and_binary(symbol)) || is_only_unary(symbol) {
                self.separate();
            } else {
                let iterates = matches!(written, "=" | "∈") && self.takes_iteration();
                return self.push(if iterates { Token::IterationIn } else { Token::Infix }, span);
            }
        }
        self.push_before_operand(symbol, span);
    }

    /// Whether whitespace separates elements of a row or arguments of a macro here.
    fn whitespace_separates(&mut self) -> bool {
        let top = self.top();
        top.kind == Kind::Square || !top.macros.is_empty()
    }

    fn space_follows(&self) -> bool {
        self.next().is_none_or(|next| next.spaced || next.lexeme == Lexeme::Newline)
    }

    /// An operator where an operand is expected: a prefix, or the operator's function itself.
    fn push_before_operand(&mut self, symbol: &str, span: Span) {
        if is_syntactic(symbol) && symbol != "::" {
            return self.push(Token::Infix, span);
        }
        let inside = matches!(self.top().kind, Kind::Round | Kind::Brace);
        let next = if inside { self.next_across_lines() } else { self.next() };
        if next.is_none_or(|next| self.leaves_value(next)) {
            return self.push(Token::Name, span);
        }
        if symbol == "$" {
            return self.push(Token::Interpolate, span);
        }
        let dotted_call = self.next_is_adjacent(Lexeme::Dot)
            && self.lexemes.get(self.at + 2).is_some_and(|l| l.lexeme == Lexeme::Open('(') && !l.spaced);
        let token = if self.next_is_adjacent(Lexeme::Open('(')) {
            if is_unary(symbol) && !self.has_argument_list(self.at + 1) { Token::Prefix } else { Token::Name }
        } else if (self.next_is_adjacent(Lexeme::Open('{')) || dotted_call) && symbol != "::" {
            Token::Name
        } else if is_unary(symbol) {
            Token::Prefix
        } else {
            Token::Infix
        };
        self.push(token, span);
    }

    /// Whether what follows an operator leaves it standing for its function, as in `(+)` and `map(-, a)`.
    fn leaves_value(&self, next: Lexed) -> bool {
        match next.lexeme {
            Lexeme::Newline | Lexeme::Comma | Lexeme::Semicolon | Lexeme::Close(_) => true,
            Lexeme::Operator => self.text(next.span) == "=",
            Lexeme::Word => match self.text(next.span) {
                "end" => !self.in_index(),
                "else" | "elseif" | "catch" | "finally" => true,
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether the parentheses that open at lexeme `open` hold arguments, as in `+(a, b)`, instead of one operand.
    fn has_argument_list(&self, open: usize) -> bool {
        let mut depth = 0usize;
        let mut empty = true;
        for lexed in &self.lexemes[open..] {
            match lexed.lexeme {
                Lexeme::Open(_) => {
                    empty &= depth == 0;
                    depth += 1;
                }
                Lexeme::Close(_) => {
                    depth -= 1;
                    if depth == 0 {
                        return empty;
                    }
                }
                Lexeme::Comma if depth == 1 => return true,
                Lexeme::Operator if depth == 1 && self.text(lexed.span) == "..." => return true,
                Lexeme::Newline => {}
                _ => empty = false,
            }
        }
        false
    }

    /// `a:b`, `c ? a : b`, `:name`, `:(quoted)`, `A[:, 1]`.
    fn colon(&mut self) {
        let span = self.lexemes[self.at].span;
        let quotes = self.next().is_some_and(|next| !next.spaced && begins_quoted(next.lexeme));
        if self.after_operand() && !(self.last() == Some(Token::MacroName) && self.spaced()) {
            if self.top().ternaries > 0 {
                return self.ternary_colon(span);
            }
            if !(self.whitespace_separates() && self.spaced() && quotes) {
                return self.push(Token::Infix, span);
            }
        }
        if quotes { self.quote(span) } else { self.operand(Token::Colon) }
    }

    fn ternary_colon(&mut self, span: Span) {
        let top = self.top();
        let ended = top.macros.iter().filter(|&&at_start| at_start >= top.ternaries).count();
        for _ in 0..ended {
            self.top().macros.pop();
            let end = self.tokens.last().map_or(span, |last| Span { start: last.span.end, ..last.span });
            self.push(Token::MacroEnd, end);
        }
        self.top().ternaries -= 1;
        self.push(Token::TernaryColon, span);
    }

    fn quote(&mut self, colon: Span) {
        self.separate();
        let quoted = self.at + 1;
        let last = match self.lexemes[quoted].lexeme {
            Lexeme::Open(_) => match self.matching_lexeme(quoted) {
                Some(close) => close,
                // The bracket itself reports that it is never closed.
                None => return self.push(Token::Error, colon),
            },
            _ => quoted,
        };
        self.push(Token::Symbol, colon.to(self.lexemes[last].span));
        self.at = last;
    }
}

fn begins_quoted(lexeme: Lexeme) -> bool {
    match lexeme {
        Lexeme::Word
        | Lexeme::Integer
        | Lexeme::Float
        | Lexeme::Char
        | Lexeme::Str
        | Lexeme::StrMacro { .. }
        | Lexeme::Operator
        | Lexeme::Dot
        | Lexeme::Open(_) => true,
        Lexeme::Newline
        | Lexeme::Command
        | Lexeme::Adjoint
        | Lexeme::At
        | Lexeme::Comma
        | Lexeme::Semicolon
        | Lexeme::Close(_)
        | Lexeme::Invalid => false,
    }
}

/// The operator without the dot that broadcasts it.
fn undotted(written: &str) -> &str {
    match written.strip_prefix('.') {
        Some(rest) if !rest.is_empty() && !rest.starts_with('.') => rest,
        _ => written,
    }
}
