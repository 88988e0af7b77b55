//! Number literals.

use super::{Failure, Lexer, Number, is_identifier_start};
use crate::operators::is_operator_char;

/// The length of digits with single underscores between them.
fn digits(rest: &[u8], accepts: fn(&u8) -> bool) -> usize {
    let mut at = 0;
    loop {
        match rest[at..] {
            [b, ..] if accepts(&b) => at += 1,
            [b'_', b, ..] if at > 0 && accepts(&b) => at += 2,
            _ => return at,
        }
    }
}

/// The length of `e-3`, `f0` or `p4`, or 0.
fn exponent(rest: &[u8], markers: &[u8]) -> usize {
    match rest {
        [marker, sign @ (b'+' | b'-'), digit, ..] if markers.contains(marker) && digit.is_ascii_digit() => {
            let _ = sign;
            2 + digits(&rest[2..], u8::is_ascii_digit)
        }
        [marker, digit, ..] if markers.contains(marker) && digit.is_ascii_digit() => {
            1 + digits(&rest[1..], u8::is_ascii_digit)
        }
        _ => 0,
    }
}

pub(super) fn number(lex: &mut Lexer<'_>) -> Result<Number, Failure> {
    let rest = lex.remainder().as_bytes();
    if lex.slice() == "0" {
        match rest.first() {
            Some(b'x') => return hexadecimal(lex),
            Some(b'o') => return radix(lex, |b| (b'0'..=b'7').contains(b)),
            Some(b'b') => return radix(lex, |b| matches!(b, b'0' | b'1')),
            _ => {}
        }
    }
    let first = digits(&lex.source().as_bytes()[lex.span().start..], u8::is_ascii_digit);
    lex.bump(first - 1);
    fractional(lex, Number::Integer)
}

/// What may follow the digits before a decimal point.
fn fractional(lex: &mut Lexer<'_>, so_far: Number) -> Result<Number, Failure> {
    let rest = lex.remainder().as_bytes();
    let mut kind = so_far;
    if so_far == Number::Integer && rest.first() == Some(&b'.') && !dot_belongs_to_operator(lex.remainder()) {
        let fraction = digits(&rest[1..], u8::is_ascii_digit);
        lex.bump(1 + fraction);
        kind = Number::Float;
        let next = lex.remainder().chars().next();
        let power = exponent(lex.remainder().as_bytes(), b"eEf");
        if fraction == 0 && power == 0 && next.is_some_and(is_identifier_start) {
            return Err(Failure::Number("write a digit after the decimal point before multiplying by juxtaposition"));
        }
    }
    let power = exponent(lex.remainder().as_bytes(), b"eEf");
    if power > 0 {
        lex.bump(power);
        kind = Number::Float;
    }
    if kind == Number::Float && lex.remainder().starts_with('.') && !dot_belongs_to_operator(lex.remainder()) {
        lex.bump(1 + digits(&lex.remainder().as_bytes()[1..], u8::is_ascii_digit));
        return Err(Failure::Number("a number has one decimal point"));
    }
    Ok(kind)
}

pub(super) fn fraction(lex: &mut Lexer<'_>) -> Result<Number, Failure> {
    lex.bump(digits(&lex.source().as_bytes()[lex.span().start + 1..], u8::is_ascii_digit) - 1);
    fractional(lex, Number::Float)
}

/// Whether the `.` at the start of `rest` begins `..` or a dotted operator instead of a fraction.
fn dot_belongs_to_operator(rest: &str) -> bool {
    rest[1..].chars().next().is_some_and(|c| ".*^/\\+-'<>!=%&|~".contains(c) || is_operator_char(c))
}

fn hexadecimal(lex: &mut Lexer<'_>) -> Result<Number, Failure> {
    lex.bump(1);
    let whole = digits(lex.remainder().as_bytes(), u8::is_ascii_hexdigit);
    lex.bump(whole);
    let mut fraction = 0;
    let mut point = false;
    if lex.remainder().starts_with('.') && !dot_belongs_to_operator(lex.remainder()) {
        fraction = digits(&lex.remainder().as_bytes()[1..], u8::is_ascii_hexdigit);
        lex.bump(1 + fraction);
        point = true;
    }
    if whole + fraction == 0 {
        return Err(Failure::Number("a hexadecimal number needs digits after `0x`"));
    }
    let power = exponent(lex.remainder().as_bytes(), b"pP");
    lex.bump(power);
    match (power > 0, point) {
        (true, _) => Ok(Number::Float),
        (false, false) => Ok(Number::Integer),
        (false, true) => Err(Failure::Number("a hexadecimal float needs an exponent such as `p0`")),
    }
}

fn radix(lex: &mut Lexer<'_>, accepts: fn(&u8) -> bool) -> Result<Number, Failure> {
    lex.bump(1);
    let length = digits(lex.remainder().as_bytes(), accepts);
    lex.bump(length);
    let junk = digits(lex.remainder().as_bytes(), u8::is_ascii_digit);
    lex.bump(junk);
    match (length, junk) {
        (0, _) => Err(Failure::Number("digits of the base are missing")),
        (_, 0) => Ok(Number::Integer),
        _ => Err(Failure::Number("has a digit beyond its base")),
    }
}
