//! What scalar arguments give before anything runs: `round(Int, T / dt)`.
//!
//! Every operation rounds in its own type, as in Julia, and each target gives the same bits: elementary functions, which may differ
//! in the last place, are none of these.

use crate::affine::{Affine, Atom, ParamId};
use crate::algorithm::ScalarId;
use crate::expr::{Expr, ExprKind};
use tessella_scalar::{BinaryOp, CompareOp, Constant, Intrinsic, ScalarType, UnaryOp};

/// The values of a call's scalar arguments.
pub type ScalarValues<'a> = &'a dyn Fn(ScalarId) -> Option<Constant>;

/// What a float without an `Int64` gives, at which Julia throws. It is beyond what parameters may be, so that nothing runs with it.
pub const NO_VALUE: i64 = i64::MIN;

/// Whether [`evaluate`] knows an operator of operands of this type.
pub fn evaluates_binary(op: BinaryOp, ty: ScalarType) -> bool {
    match op {
        // Integers may be divided by zero.
        BinaryOp::DivTrunc | BinaryOp::DivFloor | BinaryOp::DivCeil | BinaryOp::Rem | BinaryOp::Mod => ty.is_float(),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Min
        | BinaryOp::Max
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight
        | BinaryOp::ShiftRightLogical
        | BinaryOp::AndAlso
        | BinaryOp::OrElse => true,
    }
}

/// Whether [`evaluate`] knows a function.
pub fn evaluates_call(function: Intrinsic) -> bool {
    matches!(
        function,
        Intrinsic::Abs
            | Intrinsic::Sign
            | Intrinsic::CopySign
            | Intrinsic::Sqrt
            | Intrinsic::Floor
            | Intrinsic::Ceil
            | Intrinsic::Trunc
            | Intrinsic::Round
            | Intrinsic::IsNan
    )
}

/// Whether [`evaluate`] knows `x % to`: what a float that does not fit gives, it says of `Int64` alone.
pub fn evaluates_wrap(from: ScalarType, to: ScalarType) -> bool {
    !from.is_float() || to == ScalarType::I64
}

/// The value of an `Int64`; [`NO_VALUE`] where an argument is missing.
pub fn evaluate(expr: &Expr, params: &[i64], scalars: ScalarValues<'_>) -> i64 {
    let value = Evaluation { params, scalars }.value(expr).and_then(Constant::as_integer);
    value.and_then(|value| i64::try_from(value).ok()).unwrap_or(NO_VALUE)
}

/// The parameters that a value depends on.
pub(super) fn params(expr: &Expr) -> Vec<ParamId> {
    let mut all = vec![];
    expr.walk(&mut |part| {
        if let ExprKind::Index(affine) = &part.kind {
            all.extend(params_of(affine));
        }
    });
    all
}

/// The scalar arguments that it depends on.
pub(super) fn scalars(expr: &Expr) -> Vec<ScalarId> {
    let mut all = vec![];
    expr.walk(&mut |part| {
        if let ExprKind::Scalar(id) = part.kind {
            all.push(id);
        }
    });
    all
}

fn params_of(affine: &Affine) -> Vec<ParamId> {
    let of = |atom: &Atom| match atom {
        Atom::Param(param) => vec![*param],
        Atom::FloorDiv(inner, _) => params_of(inner),
        Atom::Iterator(_) => vec![],
    };
    affine.terms().iter().flat_map(|(atom, _)| of(atom)).collect()
}

struct Evaluation<'a> {
    params: &'a [i64],
    scalars: ScalarValues<'a>,
}

impl Evaluation<'_> {
    fn value(&self, expr: &Expr) -> Option<Constant> {
        match &expr.kind {
            ExprKind::Constant(constant) => Some(*constant),
            ExprKind::Index(affine) => affine.evaluate(&[], self.params).map(Constant::i64),
            ExprKind::Scalar(id) => (self.scalars)(*id).filter(|value| value.ty == expr.ty),
            ExprKind::Let(_) | ExprKind::Read(_) => None,
            ExprKind::Unary(op, operand) => unary(*op, self.value(operand)?),
            ExprKind::Binary(BinaryOp::AndAlso, left, right) => match self.truth(left)? {
                true => self.value(right),
                false => Some(Constant::bool(false)),
            },
            ExprKind::Binary(BinaryOp::OrElse, left, right) => match self.truth(left)? {
                true => Some(Constant::bool(true)),
                false => self.value(right),
            },
            ExprKind::Binary(op, left, right) => binary(*op, self.value(left)?, self.value(right)?),
            ExprKind::Compare(op, left, right) => compare(*op, self.value(left)?, self.value(right)?),
            ExprKind::Call(function, operands) => {
                let operands: Option<Vec<Constant>> = operands.iter().map(|operand| self.value(operand)).collect();
                call(*function, &operands?)
            }
            ExprKind::Select { condition, yes, no } | ExprKind::IfElse { condition, yes, no } => {
                self.value(if self.truth(condition)? { yes } else { no })
            }
            ExprKind::Convert(operand) => convert(self.value(operand)?, expr.ty),
            ExprKind::Wrap(operand) => wrap(self.value(operand)?, expr.ty),
        }
    }

    fn truth(&self, expr: &Expr) -> Option<bool> {
        self.value(expr).map(|value| value.bits != 0)
    }
}

fn unary(op: UnaryOp, x: Constant) -> Option<Constant> {
    match (op, x.ty, x.as_integer()) {
        (UnaryOp::Neg, ScalarType::F32, _) => Some(Constant::f32(-single(x))),
        (UnaryOp::Neg, ScalarType::F64, _) => Some(Constant::f64(-double(x))),
        (UnaryOp::Neg, ty, Some(value)) => Some(Constant::integer(ty, -value)),
        (UnaryOp::Not | UnaryOp::BitNot, ScalarType::Bool, _) => Some(Constant::bool(x.bits == 0)),
        (UnaryOp::BitNot, ty, Some(value)) => Some(Constant::integer(ty, !value)),
        (UnaryOp::Not | UnaryOp::BitNot, _, _) | (UnaryOp::Neg, _, None) => None,
    }
}

fn binary(op: BinaryOp, x: Constant, y: Constant) -> Option<Constant> {
    match x.ty {
        ScalarType::F32 => f32s::binary(op, single(x), single(y)).map(Constant::f32),
        ScalarType::F64 => f64s::binary(op, double(x), double(y)).map(Constant::f64),
        ty => integers(op, ty, x.as_integer()?, y.as_integer()?).map(|value| Constant::integer(ty, value)),
    }
}

/// With 128 bits, of which the type keeps the low ones.
fn integers(op: BinaryOp, ty: ScalarType, x: i128, y: i128) -> Option<i128> {
    let bits = i128::from(ty.bytes()) * 8;
    let left = |count: i128| if count >= bits { 0 } else { x << count };
    let right = |value: i128, count: i128| value >> count.min(127);
    let own_bits = x & ((1 << bits) - 1);
    Some(match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Min => x.min(y),
        BinaryOp::Max => x.max(y),
        BinaryOp::BitAnd => x & y,
        BinaryOp::BitOr => x | y,
        BinaryOp::BitXor => x ^ y,
        BinaryOp::ShiftLeft if y < 0 => right(x, -y),
        BinaryOp::ShiftLeft => left(y),
        BinaryOp::ShiftRight | BinaryOp::ShiftRightLogical if y < 0 => left(-y),
        BinaryOp::ShiftRight => right(x, y),
        BinaryOp::ShiftRightLogical => right(own_bits, y),
        BinaryOp::Div
        | BinaryOp::DivTrunc
        | BinaryOp::DivFloor
        | BinaryOp::DivCeil
        | BinaryOp::Rem
        | BinaryOp::Mod
        | BinaryOp::AndAlso
        | BinaryOp::OrElse => return None,
    })
}

fn compare(op: CompareOp, x: Constant, y: Constant) -> Option<Constant> {
    // `f64` holds every `f32`.
    let order = match (x.as_float(), y.as_float()) {
        (Some(x), Some(y)) => x.partial_cmp(&y),
        (_, _) => Some(x.as_integer()?.cmp(&y.as_integer()?)),
    };
    Some(Constant::bool(match op {
        CompareOp::Eq => order.is_some_and(|it| it.is_eq()),
        CompareOp::Ne => order.is_none_or(|it| it.is_ne()),
        CompareOp::Lt => order.is_some_and(|it| it.is_lt()),
        CompareOp::Le => order.is_some_and(|it| it.is_le()),
        CompareOp::Gt => order.is_some_and(|it| it.is_gt()),
        CompareOp::Ge => order.is_some_and(|it| it.is_ge()),
    }))
}

fn call(function: Intrinsic, operands: &[Constant]) -> Option<Constant> {
    let first = *operands.first()?;
    match (function, first.ty) {
        (Intrinsic::IsNan, _) => Some(Constant::bool(first.as_float()?.is_nan())),
        (_, ScalarType::F32) => {
            let operands: Vec<f32> = operands.iter().map(|&it| single(it)).collect();
            f32s::call(function, &operands).map(Constant::f32)
        }
        (_, ScalarType::F64) => {
            let operands: Vec<f64> = operands.iter().map(|&it| double(it)).collect();
            f64s::call(function, &operands).map(Constant::f64)
        }
        (Intrinsic::Abs, ty) => Some(Constant::integer(ty, first.as_integer()?.abs())),
        (Intrinsic::Sign, ty) => Some(Constant::integer(ty, first.as_integer()?.signum())),
        (Intrinsic::Floor | Intrinsic::Ceil | Intrinsic::Trunc | Intrinsic::Round, _) => Some(first),
        (_, _) => None,
    }
}

fn convert(x: Constant, to: ScalarType) -> Option<Constant> {
    match (x.ty, to) {
        (from, to) if from == to => Some(x),
        (ScalarType::F32, ScalarType::F64) => Some(Constant::f64(f64::from(single(x)))),
        (ScalarType::F64, ScalarType::F32) => Some(Constant::f32(double(x) as f32)),
        (_, ScalarType::Bool) => Some(Constant::bool(x.as_integer()? != 0)),
        (_, to) => Some(Constant::integer(to, x.as_integer()?)),
    }
}

fn wrap(x: Constant, to: ScalarType) -> Option<Constant> {
    match (x.as_float(), to) {
        (None, ScalarType::Bool) => Some(Constant::bool(x.bits & 1 != 0)),
        (None, to) => Some(Constant::integer(to, x.as_integer()?)),
        (Some(float), ScalarType::I64) => Some(Constant::i64(to_integer(float))),
        (Some(_), _) => None,
    }
}

/// A float without its fraction.
fn to_integer(float: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&float) { float as i64 } else { NO_VALUE }
}

fn single(x: Constant) -> f32 {
    f32::from_bits(x.bits as u32)
}

fn double(x: Constant) -> f64 {
    f64::from_bits(x.bits)
}

macro_rules! floats {
    ($module:ident, $float:ident) => {
        mod $module {
            use tessella_scalar::{BinaryOp, Intrinsic};

            pub(super) fn binary(op: BinaryOp, x: $float, y: $float) -> Option<$float> {
                Some(match op {
                    BinaryOp::Add => x + y,
                    BinaryOp::Sub => x - y,
                    BinaryOp::Mul => x * y,
                    BinaryOp::Div => x / y,
                    BinaryOp::Rem => x % y,
                    BinaryOp::Mod => modulo(x, y),
                    BinaryOp::DivTrunc => ((x - x % y) / y).round_ties_even(),
                    BinaryOp::DivFloor => floor_quotient(x, y),
                    BinaryOp::DivCeil => -floor_quotient(-x, y),
                    BinaryOp::Min => one_of((y < x) | (y.is_sign_negative() & !x.is_sign_negative()), x, y),
                    BinaryOp::Max => one_of((y > x) | (!y.is_sign_negative() & x.is_sign_negative()), x, y),
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
                match rest {
                    rest if rest == 0.0 => rest.copysign(y),
                    rest if (rest > 0.0) != (y > 0.0) => rest + y,
                    rest => rest,
                }
            }

            fn floor_quotient(x: $float, y: $float) -> $float {
                ((x - modulo(x, y)) / y).round_ties_even()
            }

            /// The chosen operand, or a `NaN` if either is one.
            fn one_of(second: bool, x: $float, y: $float) -> $float {
                match second {
                    true if x.is_nan() => x,
                    true => y,
                    false if y.is_nan() => y,
                    false => x,
                }
            }

            pub(super) fn call(function: Intrinsic, operands: &[$float]) -> Option<$float> {
                Some(match (function, operands) {
                    (Intrinsic::Abs, &[x]) => x.abs(),
                    (Intrinsic::Sign, &[x]) if x > 0.0 => 1.0,
                    (Intrinsic::Sign, &[x]) if x < 0.0 => -1.0,
                    (Intrinsic::Sign, &[x]) => x,
                    (Intrinsic::CopySign, &[x, y]) => x.copysign(y),
                    (Intrinsic::Sqrt, &[x]) => x.sqrt(),
                    (Intrinsic::Floor, &[x]) => x.floor(),
                    (Intrinsic::Ceil, &[x]) => x.ceil(),
                    (Intrinsic::Trunc, &[x]) => x.trunc(),
                    (Intrinsic::Round, &[x]) => x.round_ties_even(),
                    (_, _) => return None,
                })
            }
        }
    };
}

floats!(f32s, f32);
floats!(f64s, f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(at: u32, ty: ScalarType) -> Expr {
        Expr { kind: ExprKind::Scalar(ScalarId(at)), ty }
    }

    /// `rounding(Int, a / b)`.
    fn quotient(rounding: Intrinsic, a: Constant, b: Constant) -> i64 {
        let ty = a.ty;
        let kind = ExprKind::Binary(BinaryOp::Div, Box::new(scalar(0, ty)), Box::new(scalar(1, ty)));
        let call = Expr { kind: ExprKind::Call(rounding, vec![Expr { kind, ty }]), ty };
        let whole = Expr { kind: ExprKind::Wrap(Box::new(call)), ty: ScalarType::I64 };
        evaluate(&whole, &[], &|id| Some([a, b][id.0 as usize]))
    }

    #[test]
    fn ties_go_to_even_numbers_and_nothing_is_rounded_twice() {
        let of = |a: f64, b: f64| quotient(Intrinsic::Round, Constant::f64(a), Constant::f64(b));
        assert_eq!([of(5.0, 2.0), of(7.0, 2.0), of(-5.0, 2.0), of(-0.4, 1.0)], [2, 4, -2, 0]);
        assert_eq!(of(9.999_999_999_999_998, 1.0), 10);
        let down = |a: f64, b: f64| quotient(Intrinsic::Floor, Constant::f64(a), Constant::f64(b));
        assert_eq!([down(9.999_999_999_999_998, 1.0), down(0.3, 0.1), down(0.6, 0.2)], [9, 2, 2]);
    }

    #[test]
    fn every_type_has_its_own_precision() {
        let down = |a: Constant, b: Constant| quotient(Intrinsic::Floor, a, b);
        assert_eq!(down(Constant::f32(0.3), Constant::f32(0.1)), 3);
        assert_eq!(down(Constant::f64(0.3), Constant::f64(0.1)), 2);
    }

    #[test]
    fn what_has_no_integer_has_no_value() {
        let of = |a: f64, b: f64| quotient(Intrinsic::Trunc, Constant::f64(a), Constant::f64(b));
        assert_eq!([of(1.0, 0.0), of(-1.0, 0.0), of(0.0, 0.0), of(9.3e18, 1.0), of(-9.3e18, 1.0)], [NO_VALUE; 5]);
        assert_eq!(of(9_223_372_036_854_774_784.0, 1.0), 9_223_372_036_854_774_784);
        let missing = evaluate(&scalar(0, ScalarType::I64), &[], &|_| None);
        assert_eq!(missing, NO_VALUE);
    }

    #[test]
    fn integers_wrap_around() {
        let (x, y) = (scalar(0, ScalarType::I32), scalar(1, ScalarType::I32));
        let product = Expr { kind: ExprKind::Binary(BinaryOp::Mul, Box::new(x), Box::new(y)), ty: ScalarType::I32 };
        let wide = Expr { kind: ExprKind::Convert(Box::new(product)), ty: ScalarType::I64 };
        let values = [1 << 20, 1 << 12].map(|value| Constant::integer(ScalarType::I32, value));
        assert_eq!(evaluate(&wide, &[], &|id| Some(values[id.0 as usize])), 0);
    }
}
