//! Arithmetic operators, by Julia's rules for each pair of types.

use super::check::{Checked, Checker};
use super::convert::{promote, widen};
use super::error::TypeError;
use super::tree::{Expr, ExprKind};
use super::value::{Kind, Value};
use crate::ast;
use tessella_diagnostics::{Span, Spanned};
use tessella_scalar::{BinaryOp, Constant, Intrinsic, ScalarType, UnaryOp};

pub(super) fn unary(operator: UnaryOp, operand: Expr, span: Span) -> Expr {
    Expr { ty: operand.ty, kind: ExprKind::Unary(operator, Box::new(operand)), span }
}

pub(super) fn binary(operator: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    Expr { ty: left.ty, kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span }
}

pub(super) fn intrinsic(function: Intrinsic, operands: Vec<Expr>, ty: ScalarType, span: Span) -> Expr {
    Expr { ty, kind: ExprKind::Call(function, operands), span }
}

pub(super) fn if_else(condition: Expr, yes: Expr, no: Expr, span: Span) -> Expr {
    let ty = yes.ty;
    Expr { ty, kind: ExprKind::IfElse { condition: Box::new(condition), yes: Box::new(yes), no: Box::new(no) }, span }
}

impl Checker<'_> {
    pub(super) fn prefix(
        &mut self,
        operator: &Spanned<ast::Operator>,
        operand: &ast::Expr,
        span: Span,
    ) -> Checked<Value> {
        let symbol = operator.value.symbol.as_str();
        if let ("-", ast::ExprKind::Integer(text)) = (symbol, &operand.kind) {
            return self.integer_literal(text, true, span).map(Value::Scalar);
        }
        let value = self.value(operand)?;
        if let Value::Complex(value) = value {
            return self.complex_unary(symbol, *value, span).map(super::complex::Complex::value);
        }
        if Self::is_whole(&value) {
            return self.array_prefix(symbol, operator.value.dotted, (value, operand.span), span);
        }
        let value = self.as_scalar(value, operand.span)?;
        self.unary_operator(symbol, value, span).map(Value::Scalar)
    }

    pub(super) fn unary_operator(&mut self, symbol: &str, operand: Expr, span: Span) -> Checked<Expr> {
        let ty = operand.ty;
        match symbol {
            // Arithmetic on `Bool`s is done on `Int`s.
            "+" if ty == ScalarType::Bool => Ok(widen(operand, ScalarType::I64)),
            "+" => Ok(operand),
            "-" if ty == ScalarType::Bool => Ok(unary(UnaryOp::Neg, widen(operand, ScalarType::I64), span)),
            "-" => Ok(super::constant::folded(unary(UnaryOp::Neg, operand, span))),
            "!" if ty == ScalarType::Bool => Ok(unary(UnaryOp::Not, operand, span)),
            "~" if ty == ScalarType::Bool => Ok(unary(UnaryOp::Not, operand, span)),
            "~" if ty.is_integer() => Ok(unary(UnaryOp::BitNot, operand, span)),
            "√" => Ok(self.elementary(Intrinsic::Sqrt, operand, span)),
            "∛" => Ok(self.elementary(Intrinsic::Cbrt, operand, span)),
            _ => {
                let help = (symbol == "!").then_some("write a comparison, such as `x == 0`");
                let operands = Kind::Scalar(ty).to_string();
                Err(self.fail(TypeError::NoMethod { operator: symbol.into(), operands, span, help }))
            }
        }
    }

    /// A function of one float; integers are converted to `Float64`, as Julia's `float` does.
    pub(super) fn elementary(&mut self, function: Intrinsic, operand: Expr, span: Span) -> Expr {
        let ty = super::convert::float_of(operand.ty);
        intrinsic(function, vec![widen(operand, ty)], ty, span)
    }

    pub(super) fn infix(
        &mut self,
        operator: &Spanned<ast::Operator>,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Checked<Value> {
        let symbol = operator.value.symbol.as_str();
        if symbol == "^" {
            return self.power(left, right, operator.value.dotted, span);
        }
        let first = self.value(left);
        let second = self.value(right);
        let (first, second) = (first?, second?);
        let is_range = |value: &Value| matches!(value, Value::Range(_));
        if Self::is_whole(&first)
            || Self::is_whole(&second)
            || (operator.value.dotted && (is_range(&first) || is_range(&second)))
        {
            let (left, right) = ((first, left.span), (second, right.span));
            return self.array_infix(symbol, operator.value.dotted, left, right, false, span);
        }
        let is_tuple = |value: &Value| matches!(value, Value::Tuple(_));
        if operator.value.dotted && (is_tuple(&first) || is_tuple(&second)) {
            return self.tuple_infix(symbol, first, second, (left.span, right.span), span);
        }
        self.binary_values(symbol, first, second, (left.span, right.span), span)
    }

    /// `left operator right`, with `x % T` for a type on the right.
    pub(super) fn binary_values(
        &mut self,
        symbol: &str,
        left: Value,
        right: Value,
        spans: (Span, Span),
        span: Span,
    ) -> Checked<Value> {
        if let ("%", Value::Type(ty)) = (symbol, &right) {
            let value = self.as_scalar(left, spans.0)?;
            return self.low_bits(value, *ty, span).map(Value::Scalar);
        }
        if let Some(moved) = self.position_infix(symbol, &left, &right, span) {
            return moved;
        }
        if matches!(left, Value::Complex(_)) || matches!(right, Value::Complex(_)) {
            return self.complex_binary(symbol, left, right, spans, span).map(super::complex::Complex::value);
        }
        let (left, right) = self.scalar_pair(left, right, spans)?;
        self.binary_operator(symbol, left, right, span).map(Value::Scalar)
    }

    pub(super) fn binary_operator(&mut self, symbol: &str, left: Expr, right: Expr, span: Span) -> Checked<Expr> {
        let both_bool = left.ty == ScalarType::Bool && right.ty == ScalarType::Bool;
        let ty = promote(left.ty, right.ty);
        let arithmetic = if both_bool { ScalarType::I64 } else { ty };
        match symbol {
            "+" | "*" if ty.is_float() && left.ty == ScalarType::Bool => {
                Ok(self.bool_with_float(symbol, left, right, span))
            }
            "+" | "*" if ty.is_float() && right.ty == ScalarType::Bool => {
                Ok(self.bool_with_float(symbol, right, left, span))
            }
            "*" if both_bool => Ok(binary(BinaryOp::BitAnd, left, right, span)),
            "+" => Ok(binary(BinaryOp::Add, widen(left, arithmetic), widen(right, arithmetic), span)),
            "-" => Ok(binary(BinaryOp::Sub, widen(left, arithmetic), widen(right, arithmetic), span)),
            "*" => Ok(binary(BinaryOp::Mul, widen(left, arithmetic), widen(right, arithmetic), span)),
            "/" => {
                let ty = super::convert::float_of(ty);
                Ok(binary(BinaryOp::Div, widen(left, ty), widen(right, ty), span))
            }
            "\\" => self.binary_operator("/", right, left, span),
            "÷" => self.division(BinaryOp::DivTrunc, "÷", left, right, span),
            "%" => self.division(BinaryOp::Rem, "%", left, right, span),
            "&" | "|" | "⊻" if !ty.is_float() => {
                let operator = match symbol {
                    "&" => BinaryOp::BitAnd,
                    "|" => BinaryOp::BitOr,
                    _ => BinaryOp::BitXor,
                };
                Ok(binary(operator, widen(left, ty), widen(right, ty), span))
            }
            "<<" => self.shift(BinaryOp::ShiftLeft, symbol, left, right, span),
            ">>" => self.shift(BinaryOp::ShiftRight, symbol, left, right, span),
            ">>>" => self.shift(BinaryOp::ShiftRightLogical, symbol, left, right, span),
            _ => Err(self.no_method(symbol, &left, &right, span)),
        }
    }

    pub(super) fn no_method(&mut self, symbol: &str, left: &Expr, right: &Expr, span: Span) -> super::check::Reported {
        let operands = format!("{} and {}", Kind::Scalar(left.ty), Kind::Scalar(right.ty));
        self.fail(TypeError::NoMethod { operator: symbol.into(), operands, span, help: None })
    }

    /// `false * x` is a zero with the sign of `x`, even for `NaN`, and `false + x` is `x`, even for `-0.0`.
    fn bool_with_float(&mut self, symbol: &str, flag: Expr, float: Expr, span: Span) -> Expr {
        let ty = float.ty;
        let known = flag.as_constant();
        if known.is_some_and(|flag| flag == Constant::bool(symbol == "*")) {
            return float;
        }
        let float = if known.is_some() { float } else { self.share(float) };
        let number = |value: f64| match ty {
            ScalarType::F32 => Constant::f32(value as f32),
            _ => Constant::f64(value),
        };
        if symbol == "+" {
            let one = Expr::constant(number(1.0), span);
            let sum = binary(BinaryOp::Add, one, float.clone(), span);
            if known.is_some() {
                return sum;
            }
            return if_else(flag, sum, float, span);
        }
        let zero = Expr::constant(number(0.0), span);
        let signed_zero = intrinsic(Intrinsic::CopySign, vec![zero, float.clone()], ty, span);
        if known.is_some() {
            return signed_zero;
        }
        if_else(flag, float, signed_zero, span)
    }

    fn shift(&mut self, operator: BinaryOp, symbol: &str, left: Expr, right: Expr, span: Span) -> Checked<Expr> {
        if left.ty.is_float() || right.ty.is_float() {
            return Err(self.no_method(symbol, &left, &right, span));
        }
        let left = if left.ty == ScalarType::Bool { widen(left, ScalarType::I64) } else { left };
        // Counts from the width on all do the same.
        let count = match right.ty {
            ScalarType::U64 => {
                let most = Expr::number(ScalarType::U64, 64, right.span);
                let at = right.span;
                widen(binary(BinaryOp::Min, right, most, at), ScalarType::I64)
            }
            _ => self.coerce(right, ScalarType::I64, None)?,
        };
        Ok(binary(operator, left, count, span))
    }

    /// `x % T`: the low bits of an integer.
    pub(super) fn low_bits(&mut self, value: Expr, ty: ScalarType, span: Span) -> Checked<Expr> {
        if value.ty.is_float() || ty.is_float() {
            let operands = format!("{} and the type `{ty}`", Kind::Scalar(value.ty));
            let help = Some("use `unsafe_trunc(T, x)` for a float");
            return Err(self.fail(TypeError::NoMethod { operator: "%".into(), operands, span, help }));
        }
        if ty == ScalarType::Bool && value.ty != ScalarType::Bool {
            let one = Expr::number(value.ty, 1, span);
            let zero = Expr::number(value.ty, 0, span);
            let bit = binary(BinaryOp::BitAnd, value, one, span);
            return Ok(super::compare::compare(tessella_scalar::CompareOp::Ne, bit, zero, span));
        }
        Ok(widen(value, ty))
    }
}
