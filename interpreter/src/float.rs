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
                    (Intrinsic::Floor, &[x]) => x.floor(),
                    (Intrinsic::Ceil, &[x]) => x.ceil(),
                    (Intrinsic::Trunc, &[x]) => x.trunc(),
                    (Intrinsic::Round, &[x]) => x.round_ties_even(),
                    (Intrinsic::Fma, &[x, y, z]) => x.mul_add(y, z),
                    (Intrinsic::MulAdd, &[x, y, z]) => x * y + z,
                    (_, _) => return None,
                })
            }
        }
    };
}

float_operators!(single, f32);
float_operators!(double, f64);
