//! Further functions of numbers, made of operators: counts of bits, signs, orders, angles.

use super::check::{Checked, Checker};
use super::compare::compare;
use super::convert::{float_of, promote, unsigned, widen};
use super::operator::{binary, if_else, intrinsic, unary};
use super::tree::{Expr, ExprKind};
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, Intrinsic, ScalarType, UnaryOp};

/// Names that [`Checker::base_of_one`] and [`Checker::base_of_two`] know.
pub(super) const FURTHER: [&str; 21] = [
    "count_ones",
    "count_zeros",
    "leading_zeros",
    "leading_ones",
    "trailing_zeros",
    "trailing_ones",
    "ispow2",
    "isinteger",
    "sec",
    "csc",
    "cot",
    "deg2rad",
    "rad2deg",
    "sinpi",
    "cospi",
    "isless",
    "isequal",
    "isapprox",
    "flipsign",
    "widemul",
    "cmp",
];

impl Checker<'_> {
    /// `None` for a function, or a type, that is not among [`FURTHER`].
    pub(super) fn base_of_one(&mut self, name: &str, x: Expr, span: Span) -> Option<Checked<Expr>> {
        let ty = x.ty;
        if ty == ScalarType::Bool || !FURTHER.contains(&name) {
            return None;
        }
        Some(Ok(match name {
            "count_ones" | "count_zeros" | "leading_zeros" | "leading_ones" | "trailing_zeros" | "trailing_ones" => {
                if !ty.is_integer() {
                    return None;
                }
                self.count_bits(name, x, span)
            }
            "ispow2" if ty.is_integer() => {
                let x = self.share(x);
                let one = self.count_bits("count_ones", x.clone(), span);
                let one = compare(CompareOp::Eq, one, Expr::int64(1, span), span);
                binary(BinaryOp::AndAlso, compare(CompareOp::Gt, x, Expr::number(ty, 0, span), span), one, span)
            }
            "isinteger" if ty.is_integer() => Expr::constant(Constant::bool(true), span),
            "isinteger" => {
                let x = self.share(x);
                let whole = intrinsic(Intrinsic::Trunc, vec![x.clone()], ty, span);
                let rest = binary(BinaryOp::Sub, x, whole, span);
                compare(CompareOp::Eq, rest, float(ty, 0.0, span), span)
            }
            "sec" | "csc" | "cot" => {
                let function = match name {
                    "sec" => Intrinsic::Cos,
                    "csc" => Intrinsic::Sin,
                    _ => Intrinsic::Tan,
                };
                let ty = float_of(ty);
                binary(BinaryOp::Div, float(ty, 1.0, span), self.elementary(function, x, span), span)
            }
            "deg2rad" | "rad2deg" => {
                let ty = float_of(ty);
                let (pi, half_turn) = (float(ty, std::f64::consts::PI, span), float(ty, 180.0, span));
                let factor = match name {
                    "deg2rad" => binary(BinaryOp::Div, pi, half_turn, span),
                    _ => binary(BinaryOp::Div, half_turn, pi, span),
                };
                binary(BinaryOp::Mul, widen(x, ty), factor, span)
            }
            "sinpi" => self.sinpi(x, span),
            "cospi" => self.cospi(x, span),
            _ => return None,
        }))
    }

    pub(super) fn base_of_two(&mut self, name: &str, x: Expr, y: Expr, span: Span) -> Option<Checked<Expr>> {
        let is_number = |value: &Expr| value.ty != ScalarType::Bool;
        if !is_number(&x) || !is_number(&y) {
            return None;
        }
        let alike = x.ty == y.ty || (x.ty.is_float() && y.ty.is_float());
        Some(Ok(match name {
            "isless" | "isequal" | "cmp" if alike => {
                let ty = promote(x.ty, y.ty);
                let (x, y) = (self.share(widen(x, ty)), self.share(widen(y, ty)));
                match (name, ty.is_float()) {
                    ("isless", _) => less(x, y, span),
                    ("cmp", _) => {
                        let number = |value| Expr::int64(value, span);
                        let above = if_else(less(y.clone(), x.clone(), span), number(1), number(0), span);
                        if_else(less(x, y, span), number(-1), above, span)
                    }
                    (_, false) => compare(CompareOp::Eq, x, y, span),
                    (_, true) => {
                        let same = compare(CompareOp::Eq, x.clone(), y.clone(), span);
                        let signs = compare(CompareOp::Eq, negative(x.clone(), span), negative(y.clone(), span), span);
                        let nans = both(is_nan(x, span), is_nan(y, span), span);
                        either(both(same, signs, span), nans, span)
                    }
                }
            }
            // With the tolerance that Julia takes where none is given.
            "isapprox" if x.ty.is_float() || y.ty.is_float() => {
                let ty = promote(x.ty, y.ty);
                let coarse = if [x.ty, y.ty].contains(&ScalarType::F32) { ScalarType::F32 } else { ScalarType::F64 };
                let (x, y) = (self.share(widen(x, ty)), self.share(widen(y, ty)));
                let size = |value: &Expr| intrinsic(Intrinsic::Abs, vec![value.clone()], ty, span);
                let finite = |value: &Expr| compare(CompareOp::Lt, size(value), float(ty, f64::INFINITY, span), span);
                let tolerance = match coarse {
                    ScalarType::F32 => float(ty, f64::from(f32::EPSILON.sqrt()), span),
                    _ => float(ty, f64::EPSILON.sqrt(), span),
                };
                let largest = binary(BinaryOp::Max, size(&x), size(&y), span);
                let most = binary(BinaryOp::Mul, tolerance, largest, span);
                let distance = binary(BinaryOp::Sub, x.clone(), y.clone(), span);
                let near = compare(CompareOp::Le, size(&distance), most, span);
                let near = both(both(finite(&x), finite(&y), span), near, span);
                either(compare(CompareOp::Eq, x, y, span), near, span)
            }
            "flipsign" => {
                let x = self.share(x);
                if_else(negative(y, span), unary(UnaryOp::Neg, x.clone(), span), x, span)
            }
            "copysign" if x.ty.is_signed_integer() => {
                let x = self.share(x);
                let differ = compare(CompareOp::Ne, negative(x.clone(), span), negative(y, span), span);
                if_else(differ, unary(UnaryOp::Neg, x.clone(), span), x, span)
            }
            "widemul" if x.ty == y.ty => {
                let wide = match x.ty {
                    ScalarType::I8 => ScalarType::I16,
                    ScalarType::I16 => ScalarType::I32,
                    ScalarType::I32 => ScalarType::I64,
                    ScalarType::U8 => ScalarType::U16,
                    ScalarType::U16 => ScalarType::U32,
                    ScalarType::U32 => ScalarType::U64,
                    ScalarType::F32 => ScalarType::F64,
                    ScalarType::Bool | ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => return None,
                };
                binary(BinaryOp::Mul, widen(x, wide), widen(y, wide), span)
            }
            _ => return None,
        }))
    }

    /// The number of bits of some kind, an `Int64`.
    fn count_bits(&mut self, name: &str, x: Expr, span: Span) -> Expr {
        let bits = i64::from(8 * x.ty.bytes());
        let narrow = unsigned(x.ty);
        // The bits as they are, with zeros before them.
        let x = Expr { kind: ExprKind::Wrap(Box::new(x)), ty: narrow, span };
        let x = if narrow == ScalarType::U64 { x } else { widen(x, ScalarType::U64) };
        let x = match name {
            "count_zeros" | "leading_ones" | "trailing_ones" => {
                let all = u64::MAX >> (64 - bits);
                binary(BinaryOp::BitXor, x, word(all, span), span)
            }
            _ => x,
        };
        let x = self.share(x);
        match name {
            "count_ones" | "count_zeros" => self.ones(x, span),
            "trailing_zeros" | "trailing_ones" => {
                // The zeros below the lowest one: `~x & (x - 1)`, of the type's bits.
                let below = binary(BinaryOp::Sub, x.clone(), word(1, span), span);
                let low = binary(BinaryOp::BitAnd, unary(UnaryOp::BitNot, x, span), below, span);
                let low = binary(BinaryOp::BitAnd, low, word(u64::MAX >> (64 - bits), span), span);
                self.ones(low, span)
            }
            _ => {
                let mut filled = x;
                for distance in [1, 2, 4, 8, 16, 32].into_iter().filter(|&distance| distance < bits) {
                    let shifted = shift(filled.clone(), distance, span);
                    filled = binary(BinaryOp::BitOr, filled, shifted, span);
                    filled = self.share(filled);
                }
                let ones = self.ones(filled, span);
                binary(BinaryOp::Sub, Expr::int64(bits, span), ones, span)
            }
        }
    }

    /// How many bits of a `UInt64` are one, by sums of neighbours.
    fn ones(&mut self, x: Expr, span: Span) -> Expr {
        let masked = |value: Expr, mask: u64| binary(BinaryOp::BitAnd, value, word(mask, span), span);
        let x = self.share(x);
        let pairs = binary(BinaryOp::Sub, x.clone(), masked(shift(x, 1, span), 0x5555_5555_5555_5555), span);
        let pairs = self.share(pairs);
        let mask = 0x3333_3333_3333_3333;
        let fours = binary(BinaryOp::Add, masked(pairs.clone(), mask), masked(shift(pairs, 2, span), mask), span);
        let fours = self.share(fours);
        let bytes = masked(binary(BinaryOp::Add, fours.clone(), shift(fours, 4, span), span), 0x0f0f_0f0f_0f0f_0f0f);
        let sum = shift(binary(BinaryOp::Mul, bytes, word(0x0101_0101_0101_0101, span), span), 56, span);
        Expr { kind: ExprKind::Wrap(Box::new(sum)), ty: ScalarType::I64, span }
    }

    /// `sin(pi * x)`, of what remains of `x` after whole turns, so that it is exact where it is zero or one.
    fn sinpi(&mut self, x: Expr, span: Span) -> Expr {
        let ty = float_of(x.ty);
        let x = self.share(widen(x, ty));
        let rest = self.turn(x.clone(), span);
        let number = |value: f64| float(ty, value, span);
        let below = |limit: f64, yes: Expr, no: Expr| {
            if_else(compare(CompareOp::Lt, rest.clone(), number(limit), span), yes, no, span)
        };
        let away = |from: f64| binary(BinaryOp::Sub, number(from), rest.clone(), span);
        let last = unary(UnaryOp::Neg, self.of_pi(Intrinsic::Sin, away(2.0), span), span);
        let fourth = unary(UnaryOp::Neg, self.of_pi(Intrinsic::Cos, away(1.5), span), span);
        let third = self.of_pi(Intrinsic::Sin, away(1.0), span);
        let second = self.of_pi(Intrinsic::Cos, away(0.5), span);
        let first = self.of_pi(Intrinsic::Sin, rest.clone(), span);
        let value = below(0.25, first, below(0.75, second, below(1.25, third, below(1.75, fourth, last))));
        let value = self.share(value);
        if_else(negative(x, span), unary(UnaryOp::Neg, value.clone(), span), value, span)
    }

    fn cospi(&mut self, x: Expr, span: Span) -> Expr {
        let ty = float_of(x.ty);
        let rest = self.turn(widen(x, ty), span);
        let number = |value: f64| float(ty, value, span);
        let below = |limit: f64, yes: Expr, no: Expr| {
            if_else(compare(CompareOp::Lt, rest.clone(), number(limit), span), yes, no, span)
        };
        let away = |from: f64| binary(BinaryOp::Sub, number(from), rest.clone(), span);
        let last = self.of_pi(Intrinsic::Cos, away(2.0), span);
        let fourth = binary(BinaryOp::Sub, rest.clone(), number(1.5), span);
        let fourth = self.of_pi(Intrinsic::Sin, fourth, span);
        let third = unary(UnaryOp::Neg, self.of_pi(Intrinsic::Cos, away(1.0), span), span);
        let second = self.of_pi(Intrinsic::Sin, away(0.5), span);
        let first = self.of_pi(Intrinsic::Cos, rest.clone(), span);
        below(0.25, first, below(0.75, second, below(1.25, third, below(1.75, fourth, last))))
    }

    /// `abs(rem(x, 2))`.
    fn turn(&mut self, x: Expr, span: Span) -> Expr {
        let ty = x.ty;
        let rest = binary(BinaryOp::Rem, x, float(ty, 2.0, span), span);
        self.share(intrinsic(Intrinsic::Abs, vec![rest], ty, span))
    }

    fn of_pi(&mut self, function: Intrinsic, x: Expr, span: Span) -> Expr {
        let ty = x.ty;
        let angle = binary(BinaryOp::Mul, x, float(ty, std::f64::consts::PI, span), span);
        self.elementary(function, angle, span)
    }
}

fn float(ty: ScalarType, value: f64, span: Span) -> Expr {
    match ty {
        ScalarType::F32 => Expr::constant(Constant::f32(value as f32), span),
        _ => Expr::constant(Constant::f64(value), span),
    }
}

fn word(value: u64, span: Span) -> Expr {
    Expr::constant(Constant::integer(ScalarType::U64, value.into()), span)
}

fn shift(value: Expr, distance: i64, span: Span) -> Expr {
    binary(BinaryOp::ShiftRightLogical, value, Expr::int64(distance, span), span)
}

/// `signbit(x)`.
fn negative(x: Expr, span: Span) -> Expr {
    let ty = x.ty;
    if !ty.is_float() {
        return compare(CompareOp::Lt, x, Expr::number(ty, 0, span), span);
    }
    let signed = intrinsic(Intrinsic::CopySign, vec![float(ty, 1.0, span), x], ty, span);
    compare(CompareOp::Lt, signed, float(ty, 0.0, span), span)
}

/// Julia's order of numbers: `-0.0` before `0.0`, and `NaN` last.
fn less(x: Expr, y: Expr, span: Span) -> Expr {
    let is_less = compare(CompareOp::Lt, x.clone(), y.clone(), span);
    if !x.ty.is_float() {
        return is_less;
    }
    let not = |value: Expr| unary(UnaryOp::Not, value, span);
    let before_nan = both(not(is_nan(x.clone(), span)), is_nan(y.clone(), span), span);
    let same = compare(CompareOp::Eq, x.clone(), y.clone(), span);
    let signs = both(negative(x, span), not(negative(y, span)), span);
    either(either(is_less, before_nan, span), both(same, signs, span), span)
}

fn is_nan(x: Expr, span: Span) -> Expr {
    intrinsic(Intrinsic::IsNan, vec![x], ScalarType::Bool, span)
}

fn both(a: Expr, b: Expr, span: Span) -> Expr {
    binary(BinaryOp::AndAlso, a, b, span)
}

fn either(a: Expr, b: Expr, span: Span) -> Expr {
    binary(BinaryOp::OrElse, a, b, span)
}
