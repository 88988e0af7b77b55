//! Strings, characters and quoted code as what they mean.

use super::{list, sexpr};
use crate::Forms;
use crate::lexer::{identifier_length, interpolation_length};
use crate::operators::is_operator_char;
use crate::parse::{one_expression, parse_forms};
use std::fmt::Write;
use tessella_diagnostics::{SourceMap, Span};

/// Whether backslashes and `$` of a literal have a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    Escaped,
    /// As in `r"\d"`: only `\"` is an escape.
    Raw,
}

/// What the parser does not look into and cannot read.
const OPAQUE: &str = "(opaque)";

/// A piece of a string: text as written, or the form of an interpolated expression.
enum Piece {
    Text(String),
    Code(String),
}

/// A string literal, quotes included: `"bytes"`, or `(string "bytes" code ...)`.
pub(super) fn string(literal: &str, spelling: Spelling) -> String {
    let (quote, triple) = if literal.starts_with('`') { ("`", "```") } else { ("\"", "\"\"\"") };
    let literal = literal.replace("\r\n", "\n");
    let strip = |quote: &str| literal.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)).map(str::to_owned);
    let pieces = match (strip(triple), strip(quote)) {
        (Some(inner), _) => dedented(pieces(&inner, spelling)),
        (None, Some(inner)) => pieces(&inner, spelling),
        (None, None) => vec![Piece::Text(literal)],
    };
    let whole = !pieces.iter().any(|piece| matches!(piece, Piece::Code(_)));
    let meaning = |text: &str| match spelling {
        Spelling::Escaped => unescaped(text),
        Spelling::Raw => unescaped_raw(text, quote),
    };
    let parts = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Text(text) if text.is_empty() && !whole => None,
        Piece::Text(text) => Some(format!("\"{}\"", bytes(&meaning(&text)))),
        Piece::Code(code) => Some(code),
    });
    if whole { parts.collect() } else { list("string", parts) }
}

/// A character literal, quotes included.
pub(super) fn character(literal: &str) -> String {
    let inner = literal.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(literal);
    format!("'{}'", bytes(&unescaped(inner)))
}

/// What `:` quotes: a name, an operator, or an expression.
pub(super) fn quoted(text: &str) -> String {
    if !text.starts_with(['(', '[', '{', '"', '\'']) && !text.starts_with(|c: char| c.is_ascii_digit()) {
        return text.to_owned();
    }
    // Operators in parentheses are names, also those that are syntax.
    let inner = text.trim_start_matches('(').trim_end_matches(')').trim();
    let operator = !inner.is_empty() && inner.chars().all(|c| is_operator_char(c) || "+-*/\\%^&|<>=!~:.$?".contains(c));
    if operator { inner.to_owned() } else { code(text) }
}

/// Quotes within quotes are looked into this deep.
const MAX_QUOTES: usize = 50;

/// The form of code in text.
fn code(text: &str) -> String {
    if text.matches(":(").count() > MAX_QUOTES {
        return OPAQUE.to_owned();
    }
    let mut sources = SourceMap::default();
    let file = sources.add("quoted", text, 1);
    let whole = Span::new(file, 0..text.len());
    let parsed = parse_forms(&sources, whole, Forms::All).and_then(|block| one_expression(block, whole));
    parsed.map_or(OPAQUE.to_owned(), |expr| sexpr(&expr))
}

/// Takes the interpolations out of the text between quotes.
fn pieces(inner: &str, spelling: Spelling) -> Vec<Piece> {
    if spelling == Spelling::Raw {
        return vec![Piece::Text(inner.to_owned())];
    }
    let mut found = vec![];
    let mut text = String::new();
    let mut rest = inner;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let escaped = after.chars().next().map_or(0, char::len_utf8);
                text.push_str(&rest[..1 + escaped]);
                rest = &after[escaped..];
            }
            '$' => {
                found.push(Piece::Text(std::mem::take(&mut text)));
                let length = match after.strip_prefix('(') {
                    Some(inside) => interpolation_length(inside).map_or(after.len(), |length| length + 1),
                    None => identifier_length(after),
                };
                found.push(Piece::Code(match length {
                    0 => OPAQUE.to_owned(),
                    _ => code(&after[..length]),
                }));
                rest = &after[length..];
            }
            _ => {
                text.push(c);
                rest = after;
            }
        }
    }
    found.push(Piece::Text(text));
    found
}

/// Takes away the indentation that all lines of a triple-quoted string share, and its first new line.
fn dedented(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut shared: Option<&str> = None;
    for piece in &pieces {
        let Piece::Text(text) = piece else { continue };
        let mut lines = text.split('\n').skip(1).peekable();
        while let Some(line) = lines.next() {
            let indentation = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
            // Lines of whitespace alone do not count, but what stands before an interpolation or the end does.
            if indentation.len() == line.len() && lines.peek().is_some() {
                continue;
            }
            let common = shared.unwrap_or(indentation).bytes().zip(indentation.bytes());
            shared = Some(&indentation[..common.take_while(|(a, b)| a == b).count()]);
        }
    }
    let indented = format!("\n{}", shared.unwrap_or_default());
    let dedent = |(at, piece): (usize, Piece)| match piece {
        Piece::Text(text) => {
            let text = text.replace(&indented, "\n");
            Piece::Text(if at == 0 { text.strip_prefix('\n').unwrap_or(&text).to_owned() } else { text })
        }
        Piece::Code(code) => Piece::Code(code),
    };
    pieces.into_iter().enumerate().map(dedent).collect()
}

/// The bytes that a text with escapes means.
fn unescaped(text: &str) -> Vec<u8> {
    let mut out = vec![];
    let mut chars = text.chars().peekable();
    let mut utf8 = [0; 4];
    while let Some(c) = chars.next() {
        let escape = if c == '\\' { chars.next() } else { None };
        let Some(escape) = escape else {
            out.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes());
            continue;
        };
        let mut number = |radix: u32, length: usize, first: u32| {
            let mut value = first;
            for _ in 0..length {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
                chars.next();
                value = value.wrapping_mul(radix).wrapping_add(digit);
            }
            value
        };
        match escape {
            'n' => out.push(b'\n'),
            't' => out.push(b'\t'),
            'r' => out.push(b'\r'),
            'e' => out.push(0x1b),
            'a' => out.push(0x07),
            'b' => out.push(0x08),
            'f' => out.push(0x0c),
            'v' => out.push(0x0b),
            'x' => out.push(number(16, 2, 0) as u8),
            '0'..='7' => out.push(number(8, 2, u32::from(escape) - u32::from('0')) as u8),
            'u' | 'U' => {
                let value = number(16, if escape == 'u' { 4 } else { 8 }, 0);
                match char::from_u32(value) {
                    Some(c) => out.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes()),
                    // A half of a surrogate pair, written as three bytes.
                    None => out.extend([
                        0xe0 | (value >> 12) as u8,
                        0x80 | (value >> 6 & 63) as u8,
                        0x80 | (value & 63) as u8,
                    ]),
                }
            }
            other => out.extend_from_slice(other.encode_utf8(&mut utf8).as_bytes()),
        }
    }
    out
}

/// The bytes of a raw literal: backslashes before a quote are halved, all others stay.
fn unescaped_raw(text: &str, quote: &str) -> Vec<u8> {
    let mut out = String::new();
    let mut slashes = 0usize;
    for c in text.chars() {
        if c == '\\' {
            slashes += 1;
            continue;
        }
        let kept = if quote.starts_with(c) { slashes / 2 } else { slashes };
        out.extend(std::iter::repeat_n('\\', kept));
        slashes = 0;
        out.push(c);
    }
    // The closing quote follows.
    out.extend(std::iter::repeat_n('\\', slashes / 2));
    out.into_bytes()
}

/// Bytes with those beyond printable ASCII in hexadecimal.
fn bytes(bytes: &[u8]) -> String {
    let mut out = String::new();
    for &byte in bytes {
        match byte {
            b'"' | b'\'' | b'\\' | b'(' | b')' => write!(out, "\\x{byte:02x}").expect("strings take all text"),
            0x20..0x7f => out.push(char::from(byte)),
            _ => write!(out, "\\x{byte:02x}").expect("strings take all text"),
        }
    }
    out
}
