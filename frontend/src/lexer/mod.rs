//! Characters to lexemes: Julia's whole lexical grammar, so that any Julia file can be read.
//!
//! A byte sequence that spells nothing becomes a [`Lexeme::Invalid`] with its reason; lexing never fails.

mod literal;
mod number;

use crate::error::{Delimited, SyntaxError};
use crate::operators::{is_operator_char, is_suffix_char};
pub(crate) use literal::interpolation_length;
use literal::{command, comment, quote, string};
use logos::Logos;
use number::{fraction, number};
use tessella_diagnostics::{FileId, Span};

/// What a piece of source text spells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lexeme {
    Newline,
    /// An identifier or keyword.
    Word,
    Integer,
    Float,
    Char,
    /// A string literal with its quotes.
    Str,
    /// `r"..."i`: `prefix` bytes of name, then the string, then `suffix` bytes.
    StrMacro {
        prefix: u32,
        suffix: u32,
    },
    /// A command literal in backquotes.
    Command,
    /// An operator; its text includes a leading dot if it has one.
    Operator,
    /// `'` directly after an operand.
    Adjoint,
    /// `.` of `a.b`, `f.(x)`.
    Dot,
    At,
    Comma,
    Semicolon,
    Open(char),
    Close(char),
    /// What spells nothing; the error is in [`Lexed::errors`].
    Invalid,
}

/// A lexeme, its bytes in the file, and whether whitespace or a comment stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lexed {
    pub lexeme: Lexeme,
    pub span: Span,
    pub spaced: bool,
}

/// How deep interpolated strings may nest.
const MAX_INTERPOLATION: u32 = 40;

/// All lexemes of `text`, which starts `base` bytes into `file`, and what is wrong with some of them.
pub fn lex(file: FileId, text: &str, base: usize) -> (Vec<Lexed>, Vec<SyntaxError>) {
    let mut lexer = Raw::lexer_with_extras(text, Context::default());
    let mut lexemes = Vec::with_capacity(text.len() / 4);
    let mut errors = vec![];
    let mut spaced = false;
    while let Some(raw) = lexer.next() {
        let range = lexer.span();
        let span = Span::new(file, base + range.start..base + range.end);
        let lexeme = match raw {
            Ok(Raw::Space) => {
                spaced = true;
                lexer.extras.operand_before = false;
                continue;
            }
            Ok(raw) => raw.lexeme(text[range.clone()].chars().next().unwrap_or('\0')),
            Err(failure) => {
                errors.push(failure.error(span, &text[range.clone()]));
                match failure {
                    Failure::Unterminated(Delimited::Character) | Failure::Character | Failure::Number(_) => {}
                    Failure::EmptyCharacter => {}
                    // The rest of the file is inside the literal or comment.
                    Failure::Unterminated(_) | Failure::Interpolation => {
                        lexemes.push(Lexed { lexeme: Lexeme::Invalid, span, spaced });
                        break;
                    }
                }
                Lexeme::Invalid
            }
        };
        lexer.extras.operand_before = ends_operand(lexeme, &text[range]);
        lexemes.push(Lexed { lexeme, span, spaced });
        spaced = false;
    }
    (lexemes, errors)
}

/// Whether a `'` directly after this lexeme is the adjoint operator.
fn ends_operand(lexeme: Lexeme, text: &str) -> bool {
    match lexeme {
        Lexeme::Word => text == "end" || !is_reserved(text),
        Lexeme::Integer
        | Lexeme::Float
        | Lexeme::Char
        | Lexeme::Str
        | Lexeme::StrMacro { .. }
        | Lexeme::Command
        | Lexeme::Adjoint
        | Lexeme::Close(_) => true,
        Lexeme::Newline
        | Lexeme::Operator
        | Lexeme::Dot
        | Lexeme::At
        | Lexeme::Comma
        | Lexeme::Semicolon
        | Lexeme::Open(_)
        | Lexeme::Invalid => false,
    }
}

/// Words that are never variables.
pub fn is_reserved(word: &str) -> bool {
    const RESERVED: [&str; 32] = [
        "baremodule",
        "begin",
        "break",
        "catch",
        "const",
        "continue",
        "do",
        "else",
        "elseif",
        "end",
        "export",
        "finally",
        "for",
        "function",
        "global",
        "if",
        "import",
        "in",
        "isa",
        "let",
        "local",
        "macro",
        "module",
        "quote",
        "return",
        "struct",
        "try",
        "using",
        "where",
        "while",
        "true",
        "false",
    ];
    RESERVED.contains(&word)
}

/// What the callbacks must know of what came before.
#[derive(Debug, Clone, Copy, Default)]
struct Context {
    operand_before: bool,
    interpolation: u32,
}

/// Why a piece of text spells nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Failure {
    #[default]
    Character,
    Unterminated(Delimited),
    Number(&'static str),
    EmptyCharacter,
    Interpolation,
}

impl Failure {
    fn error(self, span: Span, text: &str) -> SyntaxError {
        let invalid = |what, reason: String| SyntaxError::InvalidLiteral { what, text: text.to_owned(), reason, span };
        match self {
            Failure::Character => {
                let code = text.chars().next().map_or(0, u32::from);
                let reason = format!("U+{code:04X} has no meaning in Julia code");
                // A control character would not show.
                let text =
                    text.chars().flat_map(|it| if it.is_control() { it.escape_default().collect() } else { vec![it] });
                SyntaxError::InvalidLiteral { what: "character", text: text.collect(), reason, span }
            }
            Failure::Unterminated(what) => SyntaxError::Unterminated { what, opener: span },
            Failure::Number(reason) => invalid("number", reason.to_owned()),
            Failure::EmptyCharacter => invalid("character literal", "holds no character".to_owned()),
            Failure::Interpolation => {
                invalid("string", format!("interpolations are nested more than {MAX_INTERPOLATION} deep"))
            }
        }
    }
}

#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(extras = Context, error = Failure)]
enum Raw {
    #[regex(r"[ \t\r\f\u{a0}\u{feff}]+")]
    #[regex(r"#", comment)]
    Space,
    #[token("\n")]
    Newline,
    #[regex(r"[A-Za-z_]", |lex| word(lex), priority = 3)]
    #[regex(r"[^\x00-\x7F]", |lex| beyond_ascii(lex), priority = 1)]
    Word(Word),
    #[regex(r"[0-9]", |lex| number(lex))]
    #[regex(r"\.[0-9]", |lex| fraction(lex))]
    Number(Number),
    #[token("\"", |lex| string(lex, Raws::No))]
    Str,
    #[token("`", |lex| command(lex, Raws::No))]
    Command,
    #[token("'", quote)]
    Quote(Quote),
    #[regex(r"\.?(\+|-|\*|//?|\\|\^|%|&|\||<<|>>|>>>)=?", operator)]
    #[regex(r"\.?(===?|!==?|<=?|>=?|~|!|&&|\|\||\|>|<\||=>|=|<:|>:|:=)", operator)]
    #[regex(r"\+\+|\$=?|->|-->|::|:|\?|\.\.|\.\.\.", operator)]
    Operator,
    #[token(".", dot)]
    Dot(Dot),
    #[token("@")]
    At,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[regex(r"[(\[{]")]
    Open,
    #[regex(r"[)\]}]")]
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Identifier,
    StrMacro { prefix: u32, suffix: u32 },
    Operator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Integer,
    Float,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    Adjoint,
    Char,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dot {
    Field,
    Operator,
}

/// Whether `$` in a string interpolates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Raws {
    Yes,
    No,
}

type Lexer<'s> = logos::Lexer<'s, Raw>;

impl Raw {
    fn lexeme(self, first: char) -> Lexeme {
        match self {
            Raw::Space | Raw::Newline => Lexeme::Newline,
            Raw::Word(Word::Identifier) => Lexeme::Word,
            Raw::Word(Word::StrMacro { prefix, suffix }) => Lexeme::StrMacro { prefix, suffix },
            Raw::Word(Word::Operator) | Raw::Operator | Raw::Dot(Dot::Operator) => Lexeme::Operator,
            Raw::Number(Number::Integer) => Lexeme::Integer,
            Raw::Number(Number::Float) => Lexeme::Float,
            Raw::Str => Lexeme::Str,
            Raw::Command => Lexeme::Command,
            Raw::Quote(Quote::Adjoint) => Lexeme::Adjoint,
            Raw::Quote(Quote::Char) => Lexeme::Char,
            Raw::Dot(Dot::Field) => Lexeme::Dot,
            Raw::At => Lexeme::At,
            Raw::Comma => Lexeme::Comma,
            Raw::Semicolon => Lexeme::Semicolon,
            Raw::Open => Lexeme::Open(first),
            Raw::Close => Lexeme::Close(first),
        }
    }
}

fn is_identifier_start(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic() || c == '_';
    }
    let symbol = matches!(u32::from(c),
        0xA2..=0xA9 | 0xAC | 0xAE..=0xB1 | 0xB4..=0xB6 | 0x20A0..=0x20CF | 0x2100..=0x214F | 0x2190..=0x23FF
        | 0x2500..=0x27BF | 0x27C0..=0x2BFF | 0x1F000..=0x1FAFF);
    (c.is_alphabetic() || symbol) && !is_operator_char(c)
}

fn is_identifier_part(c: char) -> bool {
    let mark = matches!(u32::from(c),
        0x300..=0x36F | 0x483..=0x487 | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF | 0xFE00..=0xFE0F | 0xFE20..=0xFE2F
        | 0x2032..=0x2037 | 0x2057 | 0x200D);
    c == '!' || is_identifier_start(c) || mark || ((c.is_alphanumeric() || is_suffix_char(c)) && !is_operator_char(c))
}

/// The length of the identifier characters at the start of `rest`; `!` before `=` belongs to the operator `!=`.
pub(crate) fn identifier_length(rest: &str) -> usize {
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let negation =
            c == '!' && chars.peek().is_some_and(|&(_, next)| next == '=') && !rest[at..].starts_with("!==>");
        if negation || !is_identifier_part(c) {
            return at;
        }
    }
    rest.len()
}

fn word(lex: &mut Lexer<'_>) -> Result<Word, Failure> {
    lex.bump(identifier_length(lex.remainder()));
    let delimiter = match lex.remainder().as_bytes().first() {
        Some(b'"') => b'"',
        Some(b'`') => b'`',
        _ => return Ok(Word::Identifier),
    };
    if is_reserved(lex.slice()) {
        return Ok(Word::Identifier);
    }
    let prefix = lex.slice().len() as u32;
    lex.bump(1);
    match delimiter {
        b'"' => string(lex, Raws::Yes)?,
        _ => command(lex, Raws::Yes)?,
    }
    let suffix = lex.remainder().find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(lex.remainder().len());
    let suffix = if lex.remainder().starts_with(|c: char| c.is_ascii_alphabetic()) { suffix } else { 0 };
    let keyword = is_reserved(&lex.remainder()[..suffix]);
    let suffix = if keyword { 0 } else { suffix };
    lex.bump(suffix);
    Ok(Word::StrMacro { prefix, suffix: suffix as u32 })
}

fn beyond_ascii(lex: &mut Lexer<'_>) -> Result<Word, Failure> {
    let c = lex.slice().chars().next().unwrap_or('\0');
    if is_operator_char(c) {
        operator(lex);
        if matches!(c, '÷' | '⊻') && lex.remainder().starts_with('=') && !lex.remainder().starts_with("==") {
            lex.bump(1);
        }
        Ok(Word::Operator)
    } else if is_identifier_start(c) {
        word(lex)
    } else {
        Err(Failure::Character)
    }
}

/// Takes the sub- and superscripts of an operator.
fn operator(lex: &mut Lexer<'_>) {
    if matches!(lex.slice(), "=" | "?" | ":" | "::" | "->" | "$" | "..." | "&&" | "||") {
        return;
    }
    let rest = lex.remainder();
    lex.bump(rest.find(|c| !is_suffix_char(c)).unwrap_or(rest.len()));
}

/// `.` before a Unicode operator dots it.
fn dot(lex: &mut Lexer<'_>) -> Dot {
    match lex.remainder().chars().next() {
        Some(c) if is_operator_char(c) => {
            lex.bump(c.len_utf8());
            operator(lex);
            if matches!(c, '÷' | '⊻') && lex.remainder().starts_with('=') && !lex.remainder().starts_with("==") {
                lex.bump(1);
            }
            Dot::Operator
        }
        _ => Dot::Field,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spell(text: &str) -> String {
        let (lexemes, errors) = lex(FileId(0), text, 0);
        let mut words: Vec<String> =
            lexemes.iter().map(|l| format!("{:?}:{}", l.lexeme, &text[l.span.range()])).collect();
        words.extend(errors.iter().map(ToString::to_string));
        words.join(" ")
    }

    #[test]
    fn a_quote_after_an_operand_is_the_adjoint() {
        assert_eq!(spell("a' 'b' f(x)'"), "Word:a Adjoint:' Char:'b' Word:f Open('('):( Word:x Close(')'):) Adjoint:'");
        assert_eq!(spell("['a', ''']"), "Open('['):[ Char:'a' Comma:, Char:''' Close(']'):]");
        assert_eq!(spell(r"'\'' '\u1234'"), r"Char:'\'' Char:'\u1234'");
    }

    #[test]
    fn numbers_keep_their_spelling() {
        assert_eq!(
            spell("1_000 0xff 0b1 0o7 1e3 1f0 0x1p3 .5 1. 1.5e-3 2x"),
            "Integer:1_000 Integer:0xff Integer:0b1 Integer:0o7 Float:1e3 Float:1f0 Float:0x1p3 Float:.5 Float:1. \
             Float:1.5e-3 Integer:2 Word:x"
        );
        assert_eq!(spell("1..2"), "Integer:1 Operator:.. Integer:2");
        assert_eq!(spell("1.+2"), "Integer:1 Operator:.+ Integer:2");
        assert_eq!(spell("1:n"), "Integer:1 Operator:: Word:n");
        assert_eq!(spell("1.2.3"), "Invalid:1.2.3 invalid number `1.2.3`");
        assert_eq!(spell("0b12"), "Invalid:0b12 invalid number `0b12`");
    }

    #[test]
    fn an_exclamation_mark_before_an_equals_sign_is_an_operator() {
        assert_eq!(spell("f!(x) a!=b"), "Word:f! Open('('):( Word:x Close(')'):) Word:a Operator:!= Word:b");
    }

    #[test]
    fn strings_nest_through_interpolations() {
        let text = r#""a $(f("b)", ')') * "$(x)") c" d"#;
        assert_eq!(spell(text), format!("Str:{} Word:d", &text[..text.len() - 2]));
        assert_eq!(
            spell("r\"\\d\"i \"\"\"a\"b\"\"\""),
            "StrMacro { prefix: 1, suffix: 1 }:r\"\\d\"i Str:\"\"\"a\"b\"\"\""
        );
    }

    #[test]
    fn comments_nest() {
        assert_eq!(spell("a #= b #= c =# d =# e # f\ng"), "Word:a Word:e Newline:\n Word:g");
        assert_eq!(spell("a #= b"), "Word:a Invalid:#= unterminated comment");
    }

    #[test]
    fn operators_are_taken_as_long_as_possible() {
        assert_eq!(
            spell("a .+= b >>>= c ÷= d .≤ e ⊻ f"),
            "Word:a Operator:.+= Word:b Operator:>>>= Word:c Operator:÷= Word:d Operator:.≤ Word:e Operator:⊻ Word:f"
        );
        assert_eq!(spell("x->-y"), "Word:x Operator:-> Operator:- Word:y");
    }

    #[test]
    fn unterminated_literals_point_at_their_opener() {
        assert_eq!(spell("x = \"abc\ny"), "Word:x Operator:= Invalid:\" unterminated string");
        assert_eq!(spell("'ab"), "Invalid:' Word:ab unterminated character literal");
    }
}
