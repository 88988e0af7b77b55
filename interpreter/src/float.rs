//! Operators of floats, each in its own precision, from the definitions in Julia's `Base`.

use tessella_scalar::{BinaryOp, CompareOp, Intrinsic};

macro_rules! float_operators {
    ($module:ident, $float:ident) => {
        pub(crate) mod $module {
            use super::{BinaryOp, CompareOp, Intrinsic};

            /// `None` for operators that floats do not have.
            pub(crate) fn binary(operator: BinaryOp, x: $float, y: $float) -> Option<$float> {
                Some(match operator {
                    BinaryOp::Add => x + y,
                    BinaryOp::Sub => x - y,
                    BinaryOp::Mul => x * y,
                    BinaryOp::Div => x / y,
                    BinaryOp::Rem => x % y,
                    BinaryOp::Mod => modulo(x, y),
                    BinaryOp::DivTrunc => ((x - x % y) / y).round_ties_even(),
                    BinaryOp::DivFloor => floor_quotient(x, y),
                    BinaryOp::DivCeil => -floor_quotient(-x, y),
                    BinaryOp::Min => {
                        let second = (y < x) | (y.is_sign_negative() & !x.is_sign_negative());
                        choose(second, x, y)
                    }
                    BinaryOp::Max => {
                        let second = (y > x) | (!y.is_sign_negative() & x.is_sign_negative());
                        choose(second, x, y)
                    }
                    BinaryOp::BitAnd
                    | BinaryOp::BitOr
                    | BinaryOp::BitXor
                    | BinaryOp::ShiftLeft
                    | BinaryOp::ShiftRight
                    | BinaryOp::ShiftRightLogical
                    | BinaryOp::AndAlso
                    | BinaryOp::OrElse => return None,
                })
            }

            fn modulo(x: $float, y: $float) -> $float {
                let rest = x % y;
                if rest == 0.0 {
                    rest.copysign(y)
                } else if (rest > 0.0) ^ (y > 0.0) {
                    rest + y
                } else {
                    rest
                }
            }

            fn floor_quotient(x: $float, y: $float) -> $float {
                ((x - modulo(x, y)) / y).round_ties_even()
            }

            /// `min` and `max`: the chosen operand, or a `NaN` if either is one.
            fn choose(second: bool, x: $float, y: $float) -> $float {
                match second {
                    true if x.is_nan() => x,
                    true => y,
                    false if y.is_nan() => y,
                    false => x,
                }
            }

            pub(crate) fn compare(operator: CompareOp, x: $float, y: $float) -> bool {
                match operator {
                    CompareOp::Eq => x == y,
                    CompareOp::Ne => x != y,
                    CompareOp::Lt => x < y,
                    CompareOp::Le => x <= y,
                    CompareOp::Gt => x > y,
                    CompareOp::Ge => x >= y,
                }
            }

            /// `None` for a wrong number of operands, and for `isnan`, whose result is no float.
            pub(crate) fn call(function: Intrinsic, operands: &[$float]) -> Option<$float> {
                Some(match (function, operands) {
                    (Intrinsic::Abs, &[x]) => x.abs(),
                    (Intrinsic::Sign, &[x]) => {
                        if x < 0.0 {
                            -1.0
                        } else if x > 0.0 {
                            1.0
                        } else {
                            x
                        }
                    }
                    (Intrinsic::CopySign, &[x, y]) => x.copysign(y),
                    (Intrinsic::Sqrt, &[x]) => x.sqrt(),
                    (Intrinsic::Cbrt, &[x]) => x.cbrt(),
                    (Intrinsic::Exp, &[x]) => x.exp(),
                    (Intrinsic::Exp2, &[x]) => x.exp2(),
                    (Intrinsic::Expm1, &[x]) => x.exp_m1(),
                    (Intrinsic::Log, &[x]) => x.ln(),
                    (Intrinsic::Log2, &[x]) => x.log2(),
                    (Intrinsic::Log10, &[x]) => x.log10(),
                    (Intrinsic::Log1p, &[x]) => x.ln_1p(),
                    (Intrinsic::Sin, &[x]) => x.sin(),
                    (Intrinsic::Cos, &[x]) => x.cos(),
                    (Intrinsic::Tan, &[x]) => x.tan(),
                    (Intrinsic::Asin, &[x]) => x.asin(),
                    (Intrinsic::Acos, &[x]) => x.acos(),
                    (Intrinsic::Atan, &[x]) => x.atan(),
                    (Intrinsic::Atan2, &[y, x]) => y.atan2(x),
                    (Intrinsic::Sinh, &[x]) => x.sinh(),
                    (Intrinsic::Cosh, &[x]) => x.cosh(),
                    (Intrinsic::Tanh, &[x]) => x.tanh(),
                    (Intrinsic::Hypot, &[x, y]) => x.hypot(y),
                    (Intrinsic::Pow, &[x, y]) => x.powf(y),
                    (Intrinsic::QuotientRe, &[a, b, c, d]) => {
                        super::complex_quotient([a.into(), b.into()], [c.into(), d.into()]).0 as _
                    }
                    (Intrinsic::QuotientIm, &[a, b, c, d]) => {
                        super::complex_quotient([a.into(), b.into()], [c.into(), d.into()]).1 as _
                    }
                    (Intrinsic::InverseRe, &[c, d]) => super::complex_inverse(c.into(), d.into()).0 as _,
                    (Intrinsic::InverseIm, &[c, d]) => super::complex_inverse(c.into(), d.into()).1 as _,
                    (Intrinsic::Floor, &[x]) => x.floor(),
                    (Intrinsic::Ceil, &[x]) => x.ceil(),
                    (Intrinsic::Trunc, &[x]) => x.trunc(),
                    (Intrinsic::Round, &[x]) => x.round_ties_even(),
                    (Intrinsic::Fma | Intrinsic::MulAdd, &[x, y, z]) => x.mul_add(y, z),
                    (_, _) => return None,
                })
            }
        }
    };
}

float_operators!(single, f32);
float_operators!(double, f64);

/// `(a + bi) / (c + di)` as Julia computes it.
fn complex_quotient([a, b]: [f64; 2], [c, d]: [f64; 2]) -> (f64, f64) {
    let scale_of = |size: f64, large: f64, small: f64| match size {
        size if size >= 0.5 * f64::MAX => large,
        size if size <= f64::MIN_POSITIVE * 2.0 / f64::EPSILON => small,
        _ => 1.0,
    };
    let up = 2.0 / (f64::EPSILON * f64::EPSILON);
    let size = |x: f64, y: f64| if x.abs() >= y.abs() { x.abs() } else { y.abs() };
    let (above, below) = (scale_of(size(a, b), 0.5, up), scale_of(size(c, d), 0.5, up));
    let (a, b, c, d) = (a * above, b * above, c * below, d * below);
    let divide = |a: f64, b: f64, c: f64, d: f64| {
        let ratio = d / c;
        let over = 1.0 / (c + d * ratio);
        let half = |a: f64, b: f64| match (ratio != 0.0, b * ratio != 0.0) {
            (true, true) => (a + b * ratio) * over,
            (true, false) => a * over + (b * over) * ratio,
            (false, _) => (a + d * (b / c)) * over,
        };
        (half(a, b), half(b, -a))
    };
    let (re, im) = if d.abs() <= c.abs() {
        divide(a, b, c, d)
    } else {
        let (re, im) = divide(b, a, d, c);
        (re, -im)
    };
    let back = below / above;
    (re * back, im * back)
}

/// `1 / (c + di)` as Julia computes it.
fn complex_inverse(c: f64, d: f64) -> (f64, f64) {
    if c.is_infinite() || d.is_infinite() {
        return (0.0_f64.copysign(c), 0.0_f64.copysign(-d));
    }
    let size = if c.is_nan() || d.is_nan() { f64::NAN } else { c.abs().max(d.abs()) };
    let scale = match size {
        size if size >= 0.5 * f64::MAX => 0.5,
        size if size <= f64::MIN_POSITIVE * 2.0 / f64::EPSILON => 2.0 / (f64::EPSILON * f64::EPSILON),
        _ => 1.0,
    };
    let (c, d) = (c * scale, d * scale);
    let ratio_of = |c: f64, d: f64| (d / c, 1.0 / (c + d * (d / c)));
    let (re, im) = if d.abs() <= c.abs() {
        let (ratio, over) = ratio_of(c, d);
        (over, -ratio * over)
    } else {
        let (ratio, over) = ratio_of(d, c);
        (ratio * over, -over)
    };
    (re * scale, im * scale)
}
