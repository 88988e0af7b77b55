//! Operators and conversions of constants of any type.

use crate::float::{double, single};
use crate::integer::{self, Undefined};
use tessella_scalar::{BinaryOp, CompareOp, Constant, Intrinsic, ScalarType, UnaryOp};

pub(crate) fn f32_of(constant: Constant) -> f32 {
    f32::from_bits(constant.bits as u32)
}

pub(crate) fn f64_of(constant: Constant) -> f64 {
    f64::from_bits(constant.bits)
}

fn integer_of(constant: Constant) -> Result<i128, Undefined> {
    constant.as_integer().ok_or(Undefined::IllTyped)
}

pub(crate) fn unary(operator: UnaryOp, x: Constant) -> Result<Constant, Undefined> {
    match (operator, x.ty) {
        (UnaryOp::Neg, ScalarType::F32) => Ok(Constant::f32(-f32_of(x))),
        (UnaryOp::Neg, ScalarType::F64) => Ok(Constant::f64(-f64_of(x))),
        (UnaryOp::Neg, ty) if ty.is_integer() => Ok(Constant::integer(ty, -integer_of(x)?)),
        (UnaryOp::Not | UnaryOp::BitNot, ScalarType::Bool) => Ok(Constant::bool(x.bits == 0)),
        (UnaryOp::BitNot, ty) if ty.is_integer() => Ok(Constant::integer(ty, !integer_of(x)?)),
        (UnaryOp::Neg | UnaryOp::Not | UnaryOp::BitNot, _) => Err(Undefined::IllTyped),
    }
}

/// Operators that evaluate both operands; the result has the left one's type.
pub(crate) fn binary(operator: BinaryOp, x: Constant, y: Constant) -> Result<Constant, Undefined> {
    let is_shift = matches!(operator, BinaryOp::ShiftLeft | BinaryOp::ShiftRight | BinaryOp::ShiftRightLogical);
    if x.ty != y.ty && !(is_shift && y.ty == ScalarType::I64) {
        return Err(Undefined::IllTyped);
    }
    match x.ty {
        ScalarType::F32 => single::binary(operator, f32_of(x), f32_of(y)).map(Constant::f32).ok_or(Undefined::IllTyped),
        ScalarType::F64 => double::binary(operator, f64_of(x), f64_of(y)).map(Constant::f64).ok_or(Undefined::IllTyped),
        ScalarType::Bool if !matches!(operator, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor) => {
            Err(Undefined::IllTyped)
        }
        ty => integer::binary(operator, ty, integer_of(x)?, integer_of(y)?),
    }
}

pub(crate) fn compare(operator: CompareOp, x: Constant, y: Constant) -> Result<bool, Undefined> {
    match (x.ty, y.ty) {
        (a, b) if a != b => Err(Undefined::IllTyped),
        (ScalarType::F32, _) => Ok(single::compare(operator, f32_of(x), f32_of(y))),
        (ScalarType::F64, _) => Ok(double::compare(operator, f64_of(x), f64_of(y))),
        (_, _) => Ok(integer::compare(operator, integer_of(x)?, integer_of(y)?)),
    }
}

pub(crate) fn call(function: Intrinsic, operands: &[Constant]) -> Result<Constant, Undefined> {
    let Some(first) = operands.first() else { return Err(Undefined::IllTyped) };
    if operands.iter().any(|operand| operand.ty != first.ty) {
        return Err(Undefined::IllTyped);
    }
    match (first.ty, function) {
        (ScalarType::F32, Intrinsic::IsNan) => Ok(Constant::bool(f32_of(*first).is_nan())),
        (ScalarType::F64, Intrinsic::IsNan) => Ok(Constant::bool(f64_of(*first).is_nan())),
        (ScalarType::F32, _) => {
            let operands: Vec<f32> = operands.iter().map(|&operand| f32_of(operand)).collect();
            single::call(function, &operands).map(Constant::f32).ok_or(Undefined::IllTyped)
        }
        (ScalarType::F64, _) => {
            let operands: Vec<f64> = operands.iter().map(|&operand| f64_of(operand)).collect();
            double::call(function, &operands).map(Constant::f64).ok_or(Undefined::IllTyped)
        }
        (ty, Intrinsic::Abs) => Ok(Constant::integer(ty, integer_of(*first)?.abs())),
        (ty, Intrinsic::Sign) => Ok(Constant::integer(ty, integer_of(*first)?.signum())),
        (_, _) => Err(Undefined::IllTyped),
    }
}

/// `to(x)` where that cannot throw.
pub(crate) fn convert(x: Constant, to: ScalarType) -> Result<Constant, Undefined> {
    match (x.ty, to) {
        (ScalarType::F32, ScalarType::F32) | (ScalarType::F64, ScalarType::F64) => Ok(x),
        (ScalarType::F32, ScalarType::F64) => Ok(Constant::f64(f64::from(f32_of(x)))),
        (ScalarType::F64, ScalarType::F32) => Ok(Constant::f32(f64_of(x) as f32)),
        (ScalarType::F32 | ScalarType::F64, _) => Err(Undefined::IllTyped),
        (_, _) => {
            let value = integer_of(x)?;
            let converted = Constant::integer(to, value);
            let is_exact = to.is_float() || converted.as_integer() == Some(value);
            if is_exact { Ok(converted) } else { Err(Undefined::IllTyped) }
        }
    }
}

/// `x % to`: the low bits of an integer; of a float, `unsafe_trunc`, and `None` where that is not defined.
pub(crate) fn wrap(x: Constant, to: ScalarType) -> Result<Option<Constant>, Undefined> {
    if to.is_float() || to == ScalarType::Bool {
        return Err(Undefined::IllTyped);
    }
    let Some(float) = x.as_float() else { return Ok(Some(Constant::integer(to, integer_of(x)?))) };
    let truncated = float.trunc();
    if truncated.is_nan() || truncated.abs() >= 1e20 {
        return Ok(None);
    }
    let constant = Constant::integer(to, truncated as i128);
    Ok((constant.as_integer() == Some(truncated as i128)).then_some(constant))
}
