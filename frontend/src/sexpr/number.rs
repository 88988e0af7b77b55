//! Number literals as values.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Plus,
    Minus,
}

impl Sign {
    fn text(self) -> &'static str {
        match self {
            Sign::Plus => "",
            Sign::Minus => "-",
        }
    }
}

/// Signed literals as decimal values; unsigned ones by their width; wider ones as the macro that Julia reads them by.
pub(super) fn integer(text: &str, sign: Sign) -> String {
    let digits = text.replace('_', "");
    let radix = [("0x", 16, 4), ("0o", 8, 3), ("0b", 2, 1)].into_iter().find(|(prefix, ..)| digits.starts_with(prefix));
    let Some((_, radix, bits)) = radix else {
        let value = digits.trim_start_matches('0');
        let value = if value.is_empty() { "0" } else { value };
        let negated = format!("{}{value}", sign.text());
        return match (negated.parse::<i64>(), negated.parse::<i128>()) {
            (Ok(_), _) => negated,
            (_, Ok(_)) => format!("(macrocall @int128_str \"{}{digits}\")", sign.text()),
            _ => format!("(macrocall @big_str \"{}{digits}\")", sign.text()),
        };
    };
    let Ok(value) = u128::from_str_radix(&digits[2..], radix) else {
        return text.to_owned();
    };
    // Octal literals take the smallest type that holds their value, unless zeros lead.
    let width = if radix == 8 && !digits.starts_with("0o0") {
        128 - value.leading_zeros() as usize
    } else {
        (digits.len() - 2) * bits
    };
    if width > 64 {
        return format!("(macrocall @uint128_str \"{digits}\")");
    }
    let hex_digits = [8, 16, 32, 64, 128].into_iter().find(|&size| width <= size).unwrap_or(128) / 4;
    format!("0x{value:0hex_digits$x}")
}

/// Floats as their bits.
pub(super) fn float(text: &str, sign: Sign) -> String {
    let digits = text.replace('_', "");
    if let Some((mantissa, exponent)) = digits.strip_prefix("0x").and_then(|hex| hex.split_once(['p', 'P'])) {
        return format!("f64:{:016x}", hexadecimal(mantissa, exponent, sign).to_bits());
    }
    if digits.contains('f') {
        let value: Result<f32, _> = format!("{}{}", sign.text(), digits.replace('f', "e")).parse();
        return value.map_or(text.to_owned(), |value| format!("f32:{:08x}", value.to_bits()));
    }
    let value: Result<f64, _> = format!("{}{digits}", sign.text()).parse();
    value.map_or(text.to_owned(), |value| format!("f64:{:016x}", value.to_bits()))
}

fn hexadecimal(mantissa: &str, exponent: &str, sign: Sign) -> f64 {
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let value = digits.chars().filter_map(|c| c.to_digit(16)).fold(0.0, |value, digit| value * 16.0 + f64::from(digit));
    let power = exponent.parse::<i32>().unwrap_or(0).saturating_sub(4 * i32::try_from(fraction.len()).unwrap_or(0));
    let value = value * 2f64.powi(power);
    match sign {
        Sign::Plus => value,
        Sign::Minus => -value,
    }
}
