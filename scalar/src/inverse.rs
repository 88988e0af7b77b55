//! Quotients by a number that is known beforehand, without a division.
//!
//! With the inverse of a divisor `c` as a sum of two numbers, `high + low`, a quotient of floats is
//!
//! ```text
//! x / c = fma(x, high, x * low)
//! ```
//!
//! with the rounding of a division: `high` is `1 / c` rounded towards zero, `low` the rest rounded to nearest, so that both have the
//! sign of `c`, and infinities and NaNs come out as they should. What is rounded last differs from `x / c` by less than 4.3 * 2^-2p of it, for
//! p bits. So the result is another one at most where a midpoint of two numbers lies that near to `x / c`, which holds for few `x`;
//! they are enumerated here. Where `x / c` is so small that `x * low` loses bits (zero among them), the program has to divide.
//!
//! # Source
//! Brisebarre, Muller, Raina, *Accelerating correctly rounded floating-point division when the divisor is known in advance*,
//! IEEE Transactions on Computers 53(8), 2004, algorithm 2; which dividends to look at follows from linear congruences, as in its section 5.

use crate::{Constant, ScalarType};

/// A divisor's inverse in two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inverse {
    pub high: Constant,
    pub low: Constant,
    /// Dividends of smaller magnitude have to be divided.
    pub least: Constant,
}

/// The inverse of a positive divisor, of 2^-26 to 2^26; `None` if some quotient would differ from that of a division, and
/// for powers of two, whose inverse is one number.
pub fn inverse(divisor: Constant) -> Option<Inverse> {
    match divisor.ty {
        ScalarType::F32 => {
            let [high, low, least] = f32_parts(f32::from_bits(divisor.bits as u32))?.map(Constant::f32);
            Some(Inverse { high, low, least })
        }
        ScalarType::F64 => {
            let [high, low, least] = f64_parts(f64::from_bits(divisor.bits))?.map(Constant::f64);
            Some(Inverse { high, low, least })
        }
        _ => None,
    }
}

macro_rules! parts {
    ($name:ident, $float:ty, $precision:expr, $least_exponent:expr) => {
        fn $name(divisor: $float) -> Option<[$float; 3]> {
            let largest = (1u32 << 26) as $float;
            if !(1.0 / largest..=largest).contains(&divisor) {
                return None;
            }
            let nearest = 1.0 / divisor;
            let high = if (-divisor).mul_add(nearest, 1.0) < 0.0 { nearest.next_down() } else { nearest };
            // The rest `1 - c * high` is a number of as many bits.
            let low = (-divisor).mul_add(high, 1.0) / divisor;
            if low == 0.0 {
                return None;
            }
            let mantissa = (divisor / (2.0 as $float).powi(exponent(divisor.into()) - ($precision - 1))) as u64;
            let is_exact = |dividend: u64| {
                let dividend = dividend as $float;
                dividend.mul_add(high, dividend * low) == dividend / divisor
            };
            let exact = near_midpoints(mantissa >> mantissa.trailing_zeros(), $precision).all(is_exact);
            exact.then_some([high, low, divisor * (2.0 as $float).powi($least_exponent + $precision + 2)])
        }
    };
}

parts!(f32_parts, f32, 24, -126);
parts!(f64_parts, f64, 53, -1022);

/// The exponent of a normal number.
fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

/// The largest distance, times the divisor, of midpoints to look at; an odd number.
const DISTANCE: i64 = 9;

/// The dividends X of p bits whose quotient by an odd C of at most p bits lies next to a midpoint (2q + 1) of two numbers of p bits:
/// `2^s X = C (2q + 1) + R`, with |R| at most 8.6 * 2^-p C. As C is odd, R is.
fn near_midpoints(divisor: u64, precision: u32) -> impl Iterator<Item = u64> {
    let modulus = u128::from(divisor);
    let (least, end) = (1u128 << (precision - 1), 1u128 << precision);
    let bits = u64::BITS - divisor.leading_zeros();
    // Smaller divisors leave no room for a distance of one.
    let room = modulus * DISTANCE as u128 >= end;
    let distances = (-DISTANCE..=DISTANCE).filter(|it| it % 2 != 0);
    let classes = distances.flat_map(move |distance| [(distance, bits), (distance, bits + 1)]).filter(move |_| room);
    classes.flat_map(move |(distance, shift)| {
        // The inverse of two modulo an odd number.
        let half = modulus.div_ceil(2);
        let class = i128::from(distance).rem_euclid(modulus as i128) as u128;
        let class = (0..shift).fold(class, |class, _| class * half % modulus);
        let first = class + (least.saturating_sub(class)).div_ceil(modulus) * modulus;
        (first..end).step_by(divisor as usize).map(|it| it as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All dividends of one binade, by brute force.
    fn fails(divisor: f32, high: f32, low: f32) -> Vec<u32> {
        let quotient = |it: u32| (it as f32).mul_add(high, it as f32 * low);
        (1 << 23..1 << 24).filter(|it| quotient(*it) != *it as f32 / divisor).collect()
    }

    #[test]
    fn quotients_by_whole_numbers_and_fractions_are_those_of_divisions() {
        for divisor in [3.0f32, 27.0, 0.3, 16_777_213.0] {
            let [high, low, _] = f32_parts(divisor).unwrap();
            assert_eq!(fails(divisor, high, low), [0u32; 0], "{divisor}");
        }
    }

    /// What the congruences say of a divisor, and what brute force says.
    #[test]
    fn divisors_are_refused_for_dividends_that_differ_alone() {
        let mut refused = 0;
        for step in [3u32, 22, 31, 46] {
            let divisor = f32::from_bits(0x3f80_0001 + step * 139_721);
            let nearest = 1.0 / divisor;
            let high = if (-divisor).mul_add(nearest, 1.0) < 0.0 { nearest.next_down() } else { nearest };
            let low = (-divisor).mul_add(high, 1.0) / divisor;
            let differ = !fails(divisor, high, low).is_empty();
            assert_eq!(f32_parts(divisor).is_none(), differ, "{divisor:e}");
            refused += u32::from(differ);
        }
        assert_eq!(refused, 2);
    }

    /// The dividends that are looked at are all those so near to a midpoint.
    #[test]
    fn few_bits_are_enumerated_like_their_quotients() {
        let precision = 10;
        for divisor in (3u64..1 << precision).step_by(2) {
            let mut found: Vec<u64> = near_midpoints(divisor, precision).collect();
            found.sort_unstable();
            found.dedup();
            for dividend in 1u64 << (precision - 1)..1 << precision {
                let bits = u64::BITS - divisor.leading_zeros();
                let near = [bits, bits + 1].into_iter().any(|shift| {
                    let scaled = i128::from(dividend) << shift;
                    let divisor = i128::from(divisor);
                    let midpoint = (scaled / divisor) | 1;
                    let distance = [midpoint - 2, midpoint, midpoint + 2]
                        .into_iter()
                        .filter(|it| (1 << precision..2 << precision).contains(it))
                        .map(|it| (scaled - divisor * it).abs())
                        .min();
                    // At most 8.6 * 2^-p C.
                    distance.is_some_and(|it| it * 10 * (1 << precision) <= 86 * divisor)
                });
                assert!(!near || found.contains(&dividend), "{dividend} / {divisor}");
            }
        }
    }

    #[test]
    fn powers_of_two_and_far_numbers_have_none() {
        for divisor in [1.0, 2.0, 0.25, 0.0, -3.0, 1.0e9, f64::NAN, f64::INFINITY] {
            assert_eq!(inverse(Constant::f64(divisor)), None);
            assert_eq!(inverse(Constant::f32(divisor as f32)), None);
        }
        assert!(inverse(Constant::f64(9.0)).is_some() && inverse(Constant::f64(0.1)).is_some());
        assert_eq!(inverse(Constant::i64(3)), None);
    }

    /// Random dividends of 53 bits, and those next to midpoints.
    #[test]
    fn quotients_of_doubles_are_those_of_divisions() {
        let mut state = 1u64;
        for divisor in [3.0f64, 9.0, 0.1, 1.0 / 3.0, 1.7, 6.02, 299_792_458.0e-7] {
            let Some([high, low, least]) = f64_parts(divisor) else { continue };
            assert!(least > 0.0);
            for _ in 0..200_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let dividend = f64::from_bits(state >> 12 | 1023 << 52);
                assert_eq!(dividend.mul_add(high, dividend * low), dividend / divisor, "{dividend:e} / {divisor}");
            }
        }
    }
}
