//! Operators. Operands of a binary operator have one type, unless said otherwise; promotion has happened before.

/// Operators of one operand; the result has the operand's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnaryOp {
    /// `-x`; wraps around for integers.
    Neg,
    /// `!x` of a `Bool`.
    Not,
    /// `~x` of an integer or `Bool`.
    BitNot,
}

/// Operators of two operands of one type, which is also the result's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryOp {
    /// Integers wrap around.
    Add,
    Sub,
    Mul,
    /// `/` of floats; integers have been converted before.
    Div,
    /// `÷`, `div`: towards zero. The divisor is a non-zero constant, or floats.
    DivTrunc,
    /// `fld`: towards minus infinity.
    DivFloor,
    /// `cld`: towards plus infinity.
    DivCeil,
    /// `%`, `rem`: sign of the dividend.
    Rem,
    /// `mod`: sign of the divisor.
    Mod,
    /// Julia's `min`: `NaN` if either is, `-0.0 < 0.0`.
    Min,
    /// Julia's `max`: `NaN` if either is, `-0.0 < 0.0`.
    Max,
    BitAnd,
    BitOr,
    BitXor,
    /// `<<`; the right operand is `Int64`, any count is defined.
    ShiftLeft,
    /// `>>`: arithmetic for signed, logical for unsigned; the right operand is `Int64`.
    ShiftRight,
    /// `>>>`: logical; the right operand is `Int64`.
    ShiftRightLogical,
    /// `&&` of `Bool`s; the right operand is evaluated only if the left is true.
    AndAlso,
    /// `||` of `Bool`s; the right operand is evaluated only if the left is false.
    OrElse,
}

/// Comparisons of two operands of one type; the result is `Bool`. IEEE for floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl CompareOp {
    /// `b op a` for `a op b`.
    pub fn mirrored(self) -> CompareOp {
        match self {
            CompareOp::Eq => CompareOp::Eq,
            CompareOp::Ne => CompareOp::Ne,
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Le => CompareOp::Ge,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
        }
    }
}

/// Functions with a fixed number of operands of one type, which is also the result's, unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intrinsic {
    /// `abs`; wraps around for the smallest integer.
    Abs,
    /// `sign`.
    Sign,
    /// `copysign(x, y)` of floats.
    CopySign,
    /// `sqrt` of a float, correctly rounded. Julia throws on a negative operand; here the result is `NaN`.
    Sqrt,
    Cbrt,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    /// `atan(y, x)`.
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Hypot,
    /// `x ^ y` of floats.
    Pow,
    Floor,
    Ceil,
    Trunc,
    /// `round` to nearest, ties to even.
    Round,
    /// `fma(x, y, z)`: one rounding.
    Fma,
    /// `muladd(x, y, z)`: one rounding or two, as the target likes.
    MulAdd,
    /// `isnan`; the result is `Bool`.
    IsNan,
    /// `real((a + b*im) / (c + d*im))` of `Float64`s.
    QuotientRe,
    /// `imag((a + b*im) / (c + d*im))` of `Float64`s.
    QuotientIm,
    /// `real(inv(c + d*im))` of `Float64`s.
    InverseRe,
    /// `imag(inv(c + d*im))` of `Float64`s.
    InverseIm,
}

impl Intrinsic {
    pub fn arity(self) -> usize {
        match self {
            Intrinsic::QuotientRe | Intrinsic::QuotientIm => 4,
            Intrinsic::Fma | Intrinsic::MulAdd => 3,
            Intrinsic::InverseRe | Intrinsic::InverseIm => 2,
            Intrinsic::CopySign | Intrinsic::Atan2 | Intrinsic::Hypot | Intrinsic::Pow => 2,
            Intrinsic::Abs
            | Intrinsic::Sign
            | Intrinsic::Sqrt
            | Intrinsic::Cbrt
            | Intrinsic::Exp
            | Intrinsic::Exp2
            | Intrinsic::Expm1
            | Intrinsic::Log
            | Intrinsic::Log2
            | Intrinsic::Log10
            | Intrinsic::Log1p
            | Intrinsic::Sin
            | Intrinsic::Cos
            | Intrinsic::Tan
            | Intrinsic::Asin
            | Intrinsic::Acos
            | Intrinsic::Atan
            | Intrinsic::Sinh
            | Intrinsic::Cosh
            | Intrinsic::Tanh
            | Intrinsic::Floor
            | Intrinsic::Ceil
            | Intrinsic::Trunc
            | Intrinsic::Round
            | Intrinsic::IsNan => 1,
        }
    }

    /// Whether every target gives the bits that Julia gives; elementary functions may differ in the last place.
    pub fn is_exact(self) -> bool {
        match self {
            Intrinsic::Abs
            | Intrinsic::Sign
            | Intrinsic::CopySign
            | Intrinsic::Sqrt
            | Intrinsic::Floor
            | Intrinsic::Ceil
            | Intrinsic::Trunc
            | Intrinsic::Round
            | Intrinsic::Fma
            | Intrinsic::IsNan
            | Intrinsic::QuotientRe
            | Intrinsic::QuotientIm
            | Intrinsic::InverseRe
            | Intrinsic::InverseIm => true,
            Intrinsic::Cbrt
            | Intrinsic::Exp
            | Intrinsic::Exp2
            | Intrinsic::Expm1
            | Intrinsic::Log
            | Intrinsic::Log2
            | Intrinsic::Log10
            | Intrinsic::Log1p
            | Intrinsic::Sin
            | Intrinsic::Cos
            | Intrinsic::Tan
            | Intrinsic::Asin
            | Intrinsic::Acos
            | Intrinsic::Atan
            | Intrinsic::Atan2
            | Intrinsic::Sinh
            | Intrinsic::Cosh
            | Intrinsic::Tanh
            | Intrinsic::Hypot
            | Intrinsic::Pow
            | Intrinsic::MulAdd => false,
        }
    }
}
