//! Division and square root under `@fastmath` on a GPU.
//!
//! The exact ones take ten and more instructions, with a branch for subnormal numbers. In Float32 the processor has
//! approximate ones of a single instruction. PTX ISA, `div.approx`, `sqrt.approx`, `rsqrt.approx`: a quotient is within 2 units of the
//! last place for divisors of 2^-126 to 2^126 and 0 for greater ones, a square root within 2^-23 and its inverse within 2^-22.4 of the value. Subnormal
//! numbers count as zeros.

use super::expr::Instance;
use super::helpers::Operation;
use super::{Dialect, Printer};
use crate::int_text::{Bound, Precedence};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_scalar::{Constant, Intrinsic, ScalarType};

impl Printer<'_> {
    /// Whether an instance's arithmetic may use what the processor approximates.
    pub(super) fn is_fast(&self, at: &Instance<'_>) -> bool {
        self.dialect == Dialect::Cuda && !self.at_entry && self.input.algorithm.computation(at.computation).fastmath
    }

    /// A quotient of floats as `@fastmath` allows it; `None` where it stays a division.
    pub(super) fn fast_quotient(
        &mut self,
        left: &Expr,
        right: &Expr,
        ty: ScalarType,
        at: &Instance<'_>,
    ) -> Option<Bound> {
        if !ty.is_float() || !self.is_fast(at) {
            return None;
        }
        if let ExprKind::Constant(divisor) = &right.kind {
            // The compiler computes the inverse.
            let inverse = has_inverse(*divisor).then(|| self.constant(*divisor).0)?;
            let one = self.constant(one(ty)).0;
            let left = self.at(left, at, Precedence::Product);
            return Some((format!("{left} * ({one} / {inverse})"), Precedence::Product));
        }
        if ty != ScalarType::F32 {
            return None;
        }
        let ExprKind::Call(Intrinsic::Sqrt, operands) = &right.kind else {
            let operands = format!("{}, {}", self.value(left, at).0, self.value(right, at).0);
            return Some(self.helper(Operation::FastDiv, ty, &operands));
        };
        let operand = self.value(&operands[0], at).0;
        let inverse = self.helper(Operation::FastInverseSqrt, ty, &operand);
        if matches!(&left.kind, ExprKind::Constant(constant) if *constant == one(ty)) {
            return Some(inverse);
        }
        let left = self.at(left, at, Precedence::Product);
        Some((format!("{left} * {}", inverse.0), Precedence::Product))
    }
}

fn one(ty: ScalarType) -> Constant {
    match ty {
        ScalarType::F32 => Constant::f32(1.0),
        _ => Constant::f64(1.0),
    }
}

/// Whether a number and its inverse are normal.
fn has_inverse(divisor: Constant) -> bool {
    match divisor.ty {
        ScalarType::F32 => {
            let value = f32::from_bits(divisor.bits as u32);
            value.is_normal() && (1.0 / value).is_normal()
        }
        ScalarType::F64 => {
            let value = f64::from_bits(divisor.bits);
            value.is_normal() && (1.0 / value).is_normal()
        }
        _ => false,
    }
}

/// The text of a function of one instruction.
pub(super) fn instruction(operation: Operation, name: &str) -> String {
    let (instruction, operands) = match operation {
        Operation::FastDiv => ("div.approx.ftz.f32", &["x", "y"][..]),
        Operation::FastSqrt => ("sqrt.approx.ftz.f32", &["x"][..]),
        _ => ("rsqrt.approx.ftz.f32", &["x"][..]),
    };
    let params: Vec<String> = operands.iter().map(|it| format!("float {it}")).collect();
    let places: Vec<String> = (1..=operands.len()).map(|it| format!("%{it}")).collect();
    let inputs: Vec<String> = operands.iter().map(|it| format!("\"f\"({it})")).collect();
    format!(
        "static __device__ inline float {name}({}) {{\n    float value;\n    \
             asm(\"{instruction} %0, {};\" : \"=f\"(value) : {});\n    return value;\n}}",
        params.join(", "),
        places.join(", "),
        inputs.join(", ")
    )
}
