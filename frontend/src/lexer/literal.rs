//! Comments, and literals between delimiters: characters, strings, commands.

use super::{Context, Failure, Lexeme, Lexer, MAX_INTERPOLATION, Quote, Raw, Raws, ends_operand};
use crate::error::Delimited;
use logos::Logos;

/// `# to the end of the line`, or `#= nested =#`.
pub(super) fn comment(lex: &mut Lexer<'_>) -> Result<(), Failure> {
    let rest = lex.remainder().as_bytes();
    if rest.first() != Some(&b'=') {
        lex.bump(rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()));
        return Ok(());
    }
    let (mut depth, mut at) = (1u32, 1);
    while at < rest.len() {
        match rest[at..] {
            [b'#', b'=', ..] => (depth, at) = (depth + 1, at + 2),
            [b'=', b'#', ..] => {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    lex.bump(at);
                    return Ok(());
                }
            }
            _ => at += 1,
        }
    }
    lex.bump(1);
    Err(Failure::Unterminated(Delimited::Comment))
}

/// `'` is the adjoint directly after an operand, else it opens a character literal.
pub(super) fn quote(lex: &mut Lexer<'_>) -> Result<Quote, Failure> {
    if lex.extras.operand_before {
        return Ok(Quote::Adjoint);
    }
    let rest = lex.remainder();
    let mut chars = rest.char_indices();
    match chars.next() {
        Some((_, '\\')) => {
            chars.next();
        }
        Some((_, '\'')) if !rest[1..].starts_with('\'') => {
            lex.bump(1);
            return Err(Failure::EmptyCharacter);
        }
        Some((_, '\n')) | None => return Err(Failure::Unterminated(Delimited::Character)),
        Some(_) => {}
    }
    // Escapes such as '\U0001f600' are longer than one character, and so are combined characters.
    for (at, c) in chars.take(12) {
        match c {
            '\'' => {
                lex.bump(at + 1);
                return Ok(Quote::Char);
            }
            '\n' => break,
            _ => {}
        }
    }
    Err(Failure::Unterminated(Delimited::Character))
}

pub(super) fn string(lex: &mut Lexer<'_>, raw: Raws) -> Result<(), Failure> {
    if lex.remainder().starts_with("\"\"") {
        lex.bump(2);
        delimited(lex, "\"\"\"", raw, Delimited::TripleString)
    } else {
        delimited(lex, "\"", raw, Delimited::String)
    }
}

pub(super) fn command(lex: &mut Lexer<'_>, raw: Raws) -> Result<(), Failure> {
    if lex.remainder().starts_with("``") {
        lex.bump(2);
        delimited(lex, "```", raw, Delimited::Command)
    } else {
        delimited(lex, "`", raw, Delimited::Command)
    }
}

/// Takes text up to and including `closer`.
fn delimited(lex: &mut Lexer<'_>, closer: &str, raw: Raws, what: Delimited) -> Result<(), Failure> {
    let rest = lex.remainder();
    let mut at = 0;
    while at < rest.len() {
        let tail = &rest[at..];
        if tail.starts_with(closer) {
            lex.bump(at + closer.len());
            return Ok(());
        }
        if raw == Raws::No && tail.starts_with("$(") {
            match interpolation(&tail[2..], lex.extras.interpolation + 1)? {
                Some(length) => at += 2 + length,
                None => break,
            }
            continue;
        }
        let mut chars = tail.chars();
        if chars.next() == Some('\\') {
            at += 1;
            at += chars.next().map_or(0, char::len_utf8);
        } else {
            at += tail.chars().next().map_or(1, char::len_utf8);
        }
    }
    Err(Failure::Unterminated(what))
}

/// The length of the code after `$(` up to and including its closing parenthesis; `None` if there is none.
pub(crate) fn interpolation_length(text: &str) -> Option<usize> {
    interpolation(text, 1).ok().flatten()
}

/// The length of interpolated code up to and including its closing parenthesis; `None` if there is none.
fn interpolation(text: &str, depth: u32) -> Result<Option<usize>, Failure> {
    if depth > MAX_INTERPOLATION {
        return Err(Failure::Interpolation);
    }
    let mut lexer = Raw::lexer_with_extras(text, Context { operand_before: false, interpolation: depth });
    let mut open = 1u32;
    while let Some(raw) = lexer.next() {
        let lexeme = match raw {
            Ok(Raw::Space) => {
                lexer.extras.operand_before = false;
                continue;
            }
            Ok(raw) => raw.lexeme(lexer.slice().chars().next().unwrap_or('\0')),
            Err(Failure::Interpolation) => return Err(Failure::Interpolation),
            Err(Failure::Unterminated(Delimited::String | Delimited::TripleString | Delimited::Command)) => {
                return Ok(None);
            }
            Err(_) => Lexeme::Invalid,
        };
        match lexeme {
            Lexeme::Open('(') => open += 1,
            Lexeme::Close(')') => {
                open -= 1;
                if open == 0 {
                    return Ok(Some(lexer.span().end));
                }
            }
            _ => {}
        }
        lexer.extras.operand_before = ends_operand(lexeme, lexer.slice());
    }
    Ok(None)
}
