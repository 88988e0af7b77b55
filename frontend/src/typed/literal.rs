//! Number literals, as Julia reads them.

use super::check::{Checked, Checker};
use super::error::TypeError;
use super::tree::Expr;
use tessella_diagnostics::Span;
use tessella_scalar::{Constant, ScalarType};

impl Checker<'_> {
    pub(super) fn integer_literal(&mut self, text: &str, negative: bool, span: Span) -> Checked<Expr> {
        match integer(text, negative) {
            Ok(constant) => Ok(Expr::constant(constant, span)),
            Err(why) => Err(self.fail(TypeError::Literal { text: text.into(), span, why })),
        }
    }

    pub(super) fn float_literal(&mut self, text: &str, span: Span) -> Checked<Expr> {
        match float(text) {
            Ok(constant) => Ok(Expr::constant(constant, span)),
            Err(why) => Err(self.fail(TypeError::Literal { text: text.into(), span, why })),
        }
    }
}

const TOO_LARGE: &str = "does not fit 64 bits";

/// `1_000` is an `Int64`; `0xff` is the unsigned type that its digits fill.
pub(super) fn integer(text: &str, negative: bool) -> Result<Constant, &'static str> {
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    for (prefix, radix, bits_per_digit) in [("0x", 16, 4), ("0b", 2, 1), ("0o", 8, 3)] {
        let Some(rest) = digits.strip_prefix(prefix) else { continue };
        let value = u64::from_str_radix(rest, radix).map_err(|_| TOO_LARGE)?;
        let bits = match radix {
            // Octal literals are sized by their value, unless they begin with a zero.
            8 if !rest.starts_with('0') => 64 - value.leading_zeros(),
            _ => rest.len() as u32 * bits_per_digit,
        };
        let ty = match bits {
            0..=8 => ScalarType::U8,
            9..=16 => ScalarType::U16,
            17..=32 => ScalarType::U32,
            33..=64 => ScalarType::U64,
            _ => return Err(TOO_LARGE),
        };
        let value = i128::from(value);
        return Ok(Constant::integer(ty, if negative { -value } else { value }));
    }
    let value: i128 = digits.parse().map_err(|_| TOO_LARGE)?;
    let value = if negative { -value } else { value };
    i64::try_from(value).map(Constant::i64).map_err(|_| TOO_LARGE)
}

/// `1.5`, `1e-3`, `0.25f0`, `0x1.8p3`.
pub(super) fn float(text: &str) -> Result<Constant, &'static str> {
    const NOT_FINITE: &str = "is too large for its type";
    let digits: String = text.chars().filter(|&c| c != '_').map(|c| c.to_ascii_lowercase()).collect();
    if let Some(rest) = digits.strip_prefix("0x") {
        return hexadecimal(rest);
    }
    if digits.contains('f') {
        let value: f32 = digits.replace('f', "e").parse().map_err(|_| "not understood as a number")?;
        return if value.is_finite() { Ok(Constant::f32(value)) } else { Err(NOT_FINITE) };
    }
    let value: f64 = digits.parse().map_err(|_| "not understood as a number")?;
    if value.is_finite() { Ok(Constant::f64(value)) } else { Err(NOT_FINITE) }
}

/// `1.8p3`: exact for up to 13 hexadecimal digits and an exponent within the normal range.
fn hexadecimal(text: &str) -> Result<Constant, &'static str> {
    const UNEXACT: &str = "has more digits than are supported in a hexadecimal float";
    let (mantissa, exponent) = text.split_once('p').ok_or("lacks its exponent")?;
    let exponent: i32 = exponent.parse().map_err(|_| UNEXACT)?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() > 13 || exponent.abs() > 900 {
        return Err(UNEXACT);
    }
    let value = u64::from_str_radix(&digits, 16).map_err(|_| UNEXACT)?;
    Ok(Constant::f64(value as f64 * 2f64.powi(exponent - 4 * fraction.len() as i32)))
}

#[cfg(test)]
mod tests {
    use super::{float, integer};
    use tessella_scalar::{Constant, ScalarType};

    #[test]
    fn literals_have_julias_types() {
        assert_eq!(integer("1_000", false), Ok(Constant::i64(1000)));
        assert_eq!(integer("9223372036854775808", true), Ok(Constant::i64(i64::MIN)));
        assert!(integer("9223372036854775808", false).is_err());
        assert_eq!(integer("0xff", false), Ok(Constant::integer(ScalarType::U8, 255)));
        assert_eq!(integer("0x00ff", false), Ok(Constant::integer(ScalarType::U16, 255)));
        assert_eq!(integer("0b101", false), Ok(Constant::integer(ScalarType::U8, 5)));
        assert_eq!(integer("0o400", false), Ok(Constant::integer(ScalarType::U16, 256)));
        assert_eq!(float("0.25f0"), Ok(Constant::f32(0.25)));
        assert_eq!(float("1f-3"), Ok(Constant::f32(1e-3)));
        assert_eq!(float("1e-3"), Ok(Constant::f64(1e-3)));
        assert_eq!(float("0x1.8p3"), Ok(Constant::f64(12.0)));
    }
}
