//! Keywords, names, fields and macro names.

use super::{Header, Iteration, Kind, Pass, Token};
use crate::lexer::Lexeme;
use tessella_diagnostics::Span;

impl Pass<'_> {
    pub(super) fn word(&mut self) {
        let span = self.lexemes[self.at].span;
        let text = self.text(span);
        let bracket = matches!(self.top().kind, Kind::Round | Kind::Square | Kind::Brace);
        match text {
            "end" if self.in_index() && !self.ends_enclosing_block() => self.operand(Token::IndexEnd),
            "end" => self.close_block(span),
            "begin" if self.in_index() => self.operand(Token::IndexBegin),
            "begin" => self.block(Token::Begin, Header::None),
            "for" if bracket && self.after_operand() && !self.in_grouped_macro() => {
                self.end_macros();
                let top = self.top();
                top.restart();
                top.generator = true;
                top.iteration = Iteration::Target;
                self.push(Token::GeneratorFor, span);
            }
            "if" if self.top().generator && self.after_operand() => {
                self.end_macros();
                let top = self.top();
                top.restart();
                top.iteration = Iteration::None;
                self.push(Token::GeneratorIf, span);
            }
            "for" => self.block(Token::For, Header::Iterations),
            "if" => self.block(Token::If, Header::Single),
            "while" => self.block(Token::While, Header::Single),
            "let" => self.block(Token::Let, Header::List),
            "function" => self.block(Token::Function, Header::Single),
            "do" => self.open_block(Token::Do, span, Header::List),
            "macro" | "module" | "baremodule" | "struct" => self.block(Token::UnsupportedBlock, Header::Single),
            "try" | "quote" => self.block(Token::UnsupportedBlock, Header::None),
            "mutable" if self.followed_by("struct") => self.two_word_block(),
            "abstract" | "primitive" if self.followed_by("type") => self.two_word_block(),
            "elseif" => self.middle(Token::ElseIf, span),
            "else" => self.middle(Token::Else, span),
            "catch" | "finally" => self.middle(Token::UnsupportedMiddle, span),
            "return" => {
                let nothing = self.next().is_none_or(|next| match next.lexeme {
                    Lexeme::Newline | Lexeme::Semicolon | Lexeme::Comma | Lexeme::Close(_) => true,
                    Lexeme::Operator => {
                        self.text(next.span) == ":" && self.levels.last().is_some_and(|l| l.ternaries > 0)
                    }
                    Lexeme::Word => matches!(self.text(next.span), "end" | "else" | "elseif" | "catch" | "finally"),
                    _ => false,
                });
                self.operand(if nothing { Token::ReturnNothing } else { Token::Return });
            }
            "const" => self.operand(Token::Const),
            "local" => self.operand(Token::Local),
            "global" => self.operand(Token::Global),
            "break" => self.operand(Token::Break),
            "continue" => self.operand(Token::Continue),
            "true" => self.operand(Token::True),
            "false" => self.operand(Token::False),
            "in" if self.after_operand() && self.takes_iteration() => self.push(Token::IterationIn, span),
            "in" | "isa" | "where" if self.after_operand() && self.last() != Some(Token::MacroName) => {
                self.push(Token::Infix, span);
            }
            "using" | "import" | "export" => self.operand(Token::Unsupported),
            "outer" if self.top().iteration == Iteration::Target && self.followed_by_name() => {
                self.push(Token::Unsupported, span);
            }
            _ => self.operand(Token::Name),
        }
    }

    fn block(&mut self, token: Token, header: Header) {
        self.separate();
        self.open_block(token, self.lexemes[self.at].span, header);
    }

    fn two_word_block(&mut self) {
        self.separate();
        let span = self.lexemes[self.at].span.to(self.lexemes[self.at + 1].span);
        self.open_block(Token::UnsupportedBlock, span, Header::Single);
        self.at += 1;
    }

    /// Whether `in`, `=` or `∈` here ends the target of a `for`; if so, its range follows.
    pub(super) fn takes_iteration(&mut self) -> bool {
        let top = self.top();
        let takes = top.iteration == Iteration::Target && top.macros.is_empty();
        if takes {
            top.iteration = Iteration::Range;
        }
        takes
    }

    /// Whether this `end`, inside `[ ]`, stands alone on its line and so means the enclosing block: a `]` is missing.
    fn ends_enclosing_block(&self) -> bool {
        let alone =
            |at: Option<usize>| at.and_then(|at| self.lexemes.get(at)).is_none_or(|l| l.lexeme == Lexeme::Newline);
        self.levels.iter().any(|level| level.kind == Kind::Block)
            && alone(self.at.checked_sub(1))
            && alone(Some(self.at + 1))
    }

    fn followed_by(&self, word: &str) -> bool {
        self.next().is_some_and(|next| next.lexeme == Lexeme::Word && self.text(next.span) == word)
    }

    fn followed_by_name(&self) -> bool {
        self.next().is_some_and(|next| next.lexeme == Lexeme::Word && !matches!(self.text(next.span), "in" | "isa"))
    }

    /// `a.b`, `f.(x)`, `Base.:+`, `Base.@simd`.
    pub(super) fn dot(&mut self) {
        let span = self.lexemes[self.at].span;
        let Some(next) = self.next() else {
            return self.push(Token::Infix, span);
        };
        if !self.after_operand() {
            return self.push(Token::Infix, span);
        }
        match next.lexeme {
            Lexeme::Open('(') => {
                self.at += 1;
                self.enter_bracket(Token::DotCallOpen, span.to(next.span));
            }
            Lexeme::Word => {
                self.at += 1;
                self.push(Token::Dot, span);
                self.push(Token::Name, next.span);
            }
            Lexeme::Operator if self.text(next.span) == ":" => self.quoted_field(span),
            Lexeme::Operator => {
                self.at += 1;
                self.push(Token::Dot, span);
                self.push(Token::Name, next.span);
            }
            Lexeme::At => {
                // `Base.@simd`: the names before the dot belong to the macro's name.
                let mut start = span;
                while let [.., dot, name] = self.tokens[..] {
                    if name.token != Token::Name {
                        break;
                    }
                    start = name.span;
                    self.tokens.pop();
                    if dot.token != Token::Dot {
                        break;
                    }
                    self.tokens.pop();
                }
                if let [only] = self.tokens[..]
                    && only.token == Token::Name
                {
                    start = only.span;
                    self.tokens.pop();
                }
                if let Some(dollar) = self.tokens.last()
                    && dollar.token == Token::Interpolate
                    && dollar.span.end == start.start
                {
                    start = dollar.span;
                    self.tokens.pop();
                }
                self.at += 1;
                let end = self.macro_path();
                self.push(Token::MacroName, start.to(end));
            }
            _ => self.push(Token::Dot, span),
        }
    }

    /// `.:+` and `.:(==)`.
    fn quoted_field(&mut self, dot: Span) {
        let is = |at: usize, lexeme: Lexeme| self.lexemes.get(at).is_some_and(|lexed| lexed.lexeme == lexeme);
        let parenthesised = is(self.at + 2, Lexeme::Open('(')) && is(self.at + 4, Lexeme::Close(')'));
        let name = self.at + if parenthesised { 3 } else { 2 };
        let Some(&named) = self.lexemes.get(name) else {
            return self.push(Token::Dot, dot);
        };
        self.push(Token::Dot, dot);
        self.push(Token::Name, named.span);
        self.at = name + usize::from(parenthesised);
    }

    /// Whether an argument of a macro may stand here, directly inside parentheses that only group: there
    /// `(@elapsed for ... end)` is a loop, while `[@m x for ...]` and `f(@m x for ...)` are generators.
    fn in_grouped_macro(&self) -> bool {
        let level = self.levels.last().expect("the level of the file itself is never popped");
        let grouped = self.tokens.get(level.opener).is_some_and(|opener| opener.token == Token::GroupOpen);
        grouped && (!level.macros.is_empty() || self.last() == Some(Token::MacroName))
    }

    /// `@name`, `@Base.simd`, `@.`.
    pub(super) fn macro_name(&mut self) {
        self.separate();
        let span = self.lexemes[self.at].span;
        let end = self.macro_path();
        self.push(Token::MacroName, span.to(end));
    }

    /// Takes the names after `@`; returns the span of the last.
    fn macro_path(&mut self) -> Span {
        let mut end = self.lexemes[self.at].span;
        while let Some(next) = self.next()
            && !next.spaced
        {
            match next.lexeme {
                Lexeme::Word | Lexeme::Operator => {
                    self.at += 1;
                    end = next.span;
                    let dotted = self.next_is_adjacent(Lexeme::Dot)
                        && self
                            .lexemes
                            .get(self.at + 2)
                            .is_some_and(|name| name.lexeme == Lexeme::Word && !name.spaced);
                    if !dotted {
                        break;
                    }
                    self.at += 1;
                }
                Lexeme::Dot => {
                    self.at += 1;
                    end = next.span;
                    break;
                }
                _ => break,
            }
        }
        end
    }
}
