//! Operators of integers and `Bool`s, computed with 128 bits and cut to the type's width.

use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType};

/// The operator has no result, or none for this type.
pub(crate) enum Undefined {
    /// Julia raises a `DivideError`.
    Divide,
    IllTyped,
}

pub(crate) fn binary(operator: BinaryOp, ty: ScalarType, a: i128, b: i128) -> Result<Constant, Undefined> {
    let value = match operator {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::DivTrunc | BinaryOp::DivFloor | BinaryOp::DivCeil => quotient(operator, ty, a, b)?,
        BinaryOp::Rem | BinaryOp::Mod if b == 0 => return Err(Undefined::Divide),
        BinaryOp::Rem => a % b,
        BinaryOp::Mod => {
            let rest = a % b;
            if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
        }
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::ShiftLeft if b >= 0 => shift_left(ty, a, b),
        BinaryOp::ShiftLeft => shift_right(a, -b),
        BinaryOp::ShiftRight if b >= 0 => shift_right(a, b),
        BinaryOp::ShiftRightLogical if b >= 0 => shift_right(own_bits(ty, a), b),
        BinaryOp::ShiftRight | BinaryOp::ShiftRightLogical => shift_left(ty, a, -b),
        BinaryOp::Div | BinaryOp::AndAlso | BinaryOp::OrElse => return Err(Undefined::IllTyped),
    };
    Ok(Constant::integer(ty, value))
}

fn quotient(operator: BinaryOp, ty: ScalarType, a: i128, b: i128) -> Result<i128, Undefined> {
    if b == 0 {
        return Err(Undefined::Divide);
    }
    let (towards_zero, rest) = (a / b, a % b);
    let value = match operator {
        BinaryOp::DivFloor if rest != 0 && (a < 0) != (b < 0) => towards_zero - 1,
        BinaryOp::DivCeil if rest != 0 && (a < 0) == (b < 0) => towards_zero + 1,
        _ => towards_zero,
    };
    // The smallest integer divided by -1.
    if Constant::integer(ty, value).as_integer() == Some(value) { Ok(value) } else { Err(Undefined::Divide) }
}

/// Counts of the width or more leave nothing.
fn shift_left(ty: ScalarType, value: i128, count: i128) -> i128 {
    if count >= i128::from(ty.bytes()) * 8 { 0 } else { value << count }
}

/// Counts of the width or more leave the sign.
fn shift_right(value: i128, count: i128) -> i128 {
    value >> count.min(127)
}

/// The value whose bits, as an unsigned number of the type's width, are those of `value`.
fn own_bits(ty: ScalarType, value: i128) -> i128 {
    value & ((1 << (ty.bytes() * 8)) - 1)
}

pub(crate) fn compare(operator: CompareOp, a: i128, b: i128) -> bool {
    match operator {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
    }
}
