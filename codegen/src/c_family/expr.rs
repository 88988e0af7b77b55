//! Expressions with Julia's meaning in C.
//!
//! The tree is printed as it is: parentheses keep its shape, and neither the printer nor a C compiler without
//! `-ffast-math` reassociates.

use super::helpers::{Helper, Operation, unsigned};
use super::{Dialect, Printer, Writer, c_type};
use crate::int_expr::{Cond, IntExpr};
use crate::int_text::{Bound, Precedence, Spelling, comparison, cond_text, int_text, within};
use crate::program::Width;
use std::collections::BTreeSet;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_scalar::{BinaryOp, Constant, Intrinsic, ScalarType, UnaryOp};

/// The instance whose expression is printed.
pub struct Instance<'a> {
    pub computation: ComputationId,
    pub iterators: &'a [IntExpr],
}

impl Printer<'_> {
    /// An integer expression's text.
    pub fn int(&mut self, expr: &IntExpr) -> String {
        self.int_bound(expr).0
    }

    pub fn int_bound(&mut self, expr: &IntExpr) -> Bound {
        self.note_helpers(expr);
        int_text(expr, &self.program.names, self.spelling())
    }

    /// A condition's text.
    pub fn cond(&mut self, cond: &Cond) -> String {
        cond.walk(&mut |expr| self.note(expr));
        cond_text(cond, &self.program.names, self.spelling()).0
    }

    fn spelling(&self) -> Spelling {
        match self.width {
            Width::Wide => Spelling::C,
            Width::Narrow => Spelling::Narrow,
        }
    }

    pub fn note_helpers(&mut self, expr: &IntExpr) {
        expr.walk(&mut |expr| self.note(expr));
    }

    fn note(&mut self, expr: &IntExpr) {
        match expr {
            IntExpr::Min(_) => self.helpers.insert(Helper::IndexMin(self.width)),
            IntExpr::Max(_) => self.helpers.insert(Helper::IndexMax(self.width)),
            IntExpr::Parts(..) => self.helpers.insert(Helper::Parts),
            IntExpr::FloorDiv(..) => self.helpers.insert(Helper::IndexFloorDiv(self.width)),
            _ => false,
        };
    }

    /// Declares the values that an instance's expression names.
    pub fn lets(&mut self, at: &Instance<'_>, out: &mut Writer) {
        let all = 0..self.input.algorithm.computation(at.computation).lets.len() as u32;
        self.some_lets(at, &all.collect(), out);
    }

    /// The same for points of which some are not the statement's: they read memory where `inside` holds.
    pub fn lets_inside(&mut self, at: &Instance<'_>, inside: String, out: &mut Writer) {
        self.guard = Some(inside);
        self.lets(at, out);
        self.guard = None;
    }

    /// The same for some of them.
    pub fn some_lets(&mut self, at: &Instance<'_>, wanted: &BTreeSet<u32>, out: &mut Writer) {
        let lets = self.input.algorithm.computation(at.computation).lets.iter().enumerate();
        for (position, binding) in lets.filter(|(position, _)| wanted.contains(&(*position as u32))) {
            let value = self.value(&binding.value, at).0;
            let name = &self.program.names.lets[at.computation.0 as usize][position];
            out.line(format!("const {} {name} = {value};", c_type(binding.value.ty)));
        }
    }

    /// A value's text.
    pub fn value(&mut self, expr: &Expr, at: &Instance<'_>) -> Bound {
        use Precedence::{Primary, Unary};
        if let Some(text) = self.given(expr, at.computation) {
            return (text, Primary);
        }
        match &expr.kind {
            ExprKind::Constant(constant) => self.constant(*constant),
            ExprKind::Index(affine) => {
                let value = self.int_bound(&IntExpr::from_affine(affine, at.iterators));
                match (self.width, affine.as_constant()) {
                    // What the source computes with it, it computes in 64 bits.
                    (Width::Narrow, None) => (format!("(int64_t){}", within(value, Unary)), Unary),
                    (Width::Narrow | Width::Wide, _) => value,
                }
            }
            ExprKind::Scalar(scalar) => {
                let name = self.program.names.scalars[scalar.0 as usize].clone();
                // An integer argument that is a parameter, too, is passed once.
                match self.width {
                    Width::Narrow if self.program.names.params.contains(&name) => (format!("(int64_t){name}"), Unary),
                    Width::Narrow | Width::Wide => (name, Primary),
                }
            }
            ExprKind::Let(position) => {
                (self.program.names.lets[at.computation.0 as usize][*position as usize].clone(), Primary)
            }
            ExprKind::Read(position) => {
                if let Some(name) = self.streamed.get(position) {
                    return (name.clone(), Primary);
                }
                let algorithm = self.input.algorithm;
                let element = self.element(&algorithm.computation(at.computation).reads[*position as usize], at);
                if let Some(name) = self.held.get(&element.0) {
                    return (name.clone(), Primary);
                }
                match &self.guard {
                    Some(guard) => (format!("({guard} ? {} : ({})0)", element.0, c_type(expr.ty)), Primary),
                    None => element,
                }
            }
            ExprKind::Unary(op, operand) => self.unary(*op, operand, expr.ty, at),
            ExprKind::Binary(op @ (BinaryOp::AndAlso | BinaryOp::OrElse), left, right)
                if self.truth(left) == Some(*op == BinaryOp::AndAlso) =>
            {
                self.value(right, at)
            }
            ExprKind::Binary(op @ (BinaryOp::AndAlso | BinaryOp::OrElse), left, right)
                if self.truth(right) == Some(*op == BinaryOp::AndAlso) =>
            {
                self.value(left, at)
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, expr.ty, at),
            ExprKind::Compare(op, left, right) => {
                let (sign, precedence) = comparison(*op);
                let (left, right) = (self.at(left, at, Precedence::Shift), self.at(right, at, Precedence::Shift));
                let text = format!("{left} {sign} {right}");
                match self.settled.iter().find(|(known, ..)| known == expr) {
                    Some((_, flag, true)) => (format!("{flag} || {text}"), Precedence::Or),
                    Some((_, flag, false)) => (format!("!{flag} && {text}"), Precedence::And),
                    None => (text, precedence),
                }
            }
            ExprKind::Call(intrinsic, operands) => self.call(*intrinsic, operands, expr.ty, at),
            ExprKind::Select { yes, no, .. } if self.is_one_point(yes, no) => self.value(yes, at),
            ExprKind::Select { condition, yes, no } if self.truth(condition).is_some() => {
                self.value(if self.truth(condition) == Some(true) { yes } else { no }, at)
            }
            ExprKind::Select { condition, yes, no } | ExprKind::IfElse { condition, yes, no } => {
                let condition = self.at(condition, at, Precedence::Or);
                let cast = is_literal(yes) && is_literal(no);
                let yes = within(self.widened(yes, at, cast), Precedence::Or);
                let no = self.at(no, at, Precedence::Or);
                (format!("{condition} ? {yes} : {no}"), Precedence::Select)
            }
            ExprKind::Convert(operand) if operand.ty == expr.ty => self.value(operand, at),
            ExprKind::Convert(operand) if expr.ty == ScalarType::Bool => {
                (format!("{} != 0", self.at(operand, at, Precedence::Shift)), Precedence::Equality)
            }
            ExprKind::Wrap(operand) if expr.ty == ScalarType::Bool => {
                (format!("(uint8_t)({} & 1)", self.at(operand, at, Primary)), Unary)
            }
            ExprKind::Wrap(operand) if self.at_entry && operand.ty.is_float() => {
                self.helpers.insert(Helper::ToInteger);
                (format!("{}({})", Helper::ToInteger.name(), self.value(operand, at).0), Primary)
            }
            ExprKind::Convert(operand) | ExprKind::Wrap(operand) => {
                (format!("({}){}", c_type(expr.ty), self.at(operand, at, Primary)), Unary)
            }
        }
    }

    /// How a condition comes out by the comparisons that are [decided](crate::program::Statement::decided).
    fn truth(&self, condition: &Expr) -> Option<bool> {
        if self.decided.is_empty() {
            return None;
        }
        match &condition.kind {
            ExprKind::Compare(..) => self.decided.iter().find(|(known, _)| known == condition).map(|(_, truth)| *truth),
            ExprKind::Unary(UnaryOp::Not, operand) => self.truth(operand).map(|truth| !truth),
            ExprKind::Binary(op @ (BinaryOp::AndAlso | BinaryOp::OrElse), left, right) => {
                let ends = *op == BinaryOp::OrElse;
                match (self.truth(left), self.truth(right)) {
                    (Some(one), _) | (_, Some(one)) if one == ends => Some(ends),
                    (Some(_), Some(_)) => Some(!ends),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A value's text in a place that needs at least `least`.
    pub fn at(&mut self, expr: &Expr, at: &Instance<'_>, least: Precedence) -> String {
        within(self.value(expr, at), least)
    }

    /// Whether both are the same point of a stream, so that nothing has to choose.
    fn is_one_point(&self, one: &Expr, other: &Expr) -> bool {
        self.point(one).is_some_and(|one| Some(one) == self.point(other))
    }

    /// What the point of a stream is called that an expression is.
    fn point(&self, expr: &Expr) -> Option<&String> {
        match &expr.kind {
            ExprKind::Read(read) => self.streamed.get(read),
            ExprKind::Select { yes, no, .. } if self.is_one_point(yes, no) => self.point(yes),
            _ => None,
        }
    }

    /// A value's text; an integer literal, which C takes for an `int`, gets its type if `cast`.
    fn widened(&mut self, expr: &Expr, at: &Instance<'_>, cast: bool) -> Bound {
        let value = self.value(expr, at);
        if cast && expr.ty.bytes() == 8 && !expr.ty.is_float() {
            return (format!("({}){}", c_type(expr.ty), within(value, Precedence::Primary)), Precedence::Unary);
        }
        value
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr, ty: ScalarType, at: &Instance<'_>) -> Bound {
        let text = self.at(operand, at, Precedence::Primary);
        match op {
            UnaryOp::Not => (format!("!{text}"), Precedence::Unary),
            UnaryOp::BitNot if ty == ScalarType::Bool => (format!("!{text}"), Precedence::Unary),
            UnaryOp::BitNot => self.narrowed(format!("~{text}"), Precedence::Unary, ty),
            UnaryOp::Neg if ty.is_signed_integer() && self.dialect == Dialect::Cuda => {
                let text = self.value(operand, at).0;
                self.helper(Operation::Sub, ty, &format!("0, {text}"))
            }
            UnaryOp::Neg => self.narrowed(format!("-{text}"), Precedence::Unary, ty),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, ty: ScalarType, at: &Instance<'_>) -> Bound {
        use Precedence::{And, BitOr, Or, Primary, Product, Sum, Unary};
        let float = ty.is_float();
        if self.dialect == Dialect::C
            && let Some(taken) = from_zero(op, left, right)
        {
            let helper = Helper::FromZero(ty);
            self.helpers.insert(helper);
            return (format!("{}({})", helper.name(), self.value(taken, at).0), Primary);
        }
        match op {
            BinaryOp::Add => self.arithmetic(Operation::Add, "+", (Sum, Product), (left, right), ty, at),
            BinaryOp::Sub => self.arithmetic(Operation::Sub, "-", (Sum, Product), (left, right), ty, at),
            BinaryOp::Mul => self.arithmetic(Operation::Mul, "*", (Product, Unary), (left, right), ty, at),
            BinaryOp::Div => {
                match self.fast_quotient(left, right, ty, at).or_else(|| self.by_inverse(left, right, ty, at)) {
                    Some(quotient) => quotient,
                    None => self.infix("/", Product, (Product, Unary), (left, right), ty, at),
                }
            }
            BinaryOp::DivTrunc if float => self.both(Operation::DivTrunc, left, right, ty, at),
            BinaryOp::DivTrunc => match integer(right) {
                // The only quotient that overflows wraps around.
                Some(-1) => self.unary(UnaryOp::Neg, left, ty, at),
                _ => self.infix("/", Product, (Product, Unary), (left, right), ty, at),
            },
            BinaryOp::DivFloor | BinaryOp::DivCeil if !float && integer(right) == Some(-1) => {
                self.unary(UnaryOp::Neg, left, ty, at)
            }
            BinaryOp::DivFloor if !float && !ty.is_signed_integer() => {
                self.infix("/", Product, (Product, Unary), (left, right), ty, at)
            }
            BinaryOp::DivFloor => self.both(Operation::DivFloor, left, right, ty, at),
            BinaryOp::DivCeil => self.both(Operation::DivCeil, left, right, ty, at),
            BinaryOp::Rem if float => {
                let (left, right) = (self.value(left, at).0, self.value(right, at).0);
                (format!("fmod{}({left}, {right})", suffix(ty)), Primary)
            }
            BinaryOp::Rem | BinaryOp::Mod if !float && integer(right) == Some(-1) => {
                self.constant(Constant::integer(ty, 0))
            }
            BinaryOp::Rem => self.infix("%", Product, (Product, Unary), (left, right), ty, at),
            BinaryOp::Mod if !float && !ty.is_signed_integer() => {
                self.infix("%", Product, (Product, Unary), (left, right), ty, at)
            }
            BinaryOp::Mod => self.both(Operation::Mod, left, right, ty, at),
            BinaryOp::Min => self.both(Operation::Min, left, right, ty, at),
            BinaryOp::Max => self.both(Operation::Max, left, right, ty, at),
            BinaryOp::BitAnd => self.infix("&", Precedence::BitAnd, (Primary, Primary), (left, right), ty, at),
            BinaryOp::BitOr => self.infix("|", Precedence::BitOr, (Primary, Primary), (left, right), ty, at),
            BinaryOp::BitXor => self.infix("^", Precedence::BitXor, (Primary, Primary), (left, right), ty, at),
            BinaryOp::ShiftLeft => self.shift(Operation::ShiftLeft, left, right, ty, at),
            BinaryOp::ShiftRight => self.shift(Operation::ShiftRight, left, right, ty, at),
            BinaryOp::ShiftRightLogical => self.shift(Operation::ShiftRightLogical, left, right, ty, at),
            BinaryOp::AndAlso => (format!("{} && {}", self.at(left, at, And), self.at(right, at, BitOr)), And),
            // `a || (b && c)`: compilers warn without the parentheses.
            BinaryOp::OrElse => {
                let left = match &left.kind {
                    ExprKind::Binary(BinaryOp::OrElse, ..) => self.at(left, at, Or),
                    _ => self.at(left, at, BitOr),
                };
                (format!("{left} || {}", self.at(right, at, BitOr)), Or)
            }
        }
    }

    /// Sums and products, which wrap around for integers.
    fn arithmetic(
        &mut self,
        operation: Operation,
        sign: &str,
        sides: (Precedence, Precedence),
        operands: (&Expr, &Expr),
        ty: ScalarType,
        at: &Instance<'_>,
    ) -> Bound {
        if self.dialect == Dialect::Cuda && (ty.is_signed_integer() || ty == ScalarType::U16) {
            return self.both(operation, operands.0, operands.1, ty, at);
        }
        self.infix(sign, sides.0, sides, operands, ty, at)
    }

    fn infix(
        &mut self,
        sign: &str,
        own: Precedence,
        sides: (Precedence, Precedence),
        (left, right): (&Expr, &Expr),
        ty: ScalarType,
        at: &Instance<'_>,
    ) -> Bound {
        let cast = is_literal(left) && is_literal(right);
        let left = within(self.widened(left, at, cast), sides.0);
        let right = self.at(right, at, sides.1);
        self.narrowed(format!("{left} {sign} {right}"), own, ty)
    }

    /// C computes small integers as `int`: back to their width.
    fn narrowed(&mut self, text: String, precedence: Precedence, ty: ScalarType) -> Bound {
        if ty.is_integer() && ty.bytes() < 4 {
            (format!("({})({text})", c_type(ty)), Precedence::Unary)
        } else {
            (text, precedence)
        }
    }

    fn shift(&mut self, operation: Operation, left: &Expr, right: &Expr, ty: ScalarType, at: &Instance<'_>) -> Bound {
        let bits = i128::from(ty.bytes() * 8);
        let Some(count) = integer(right).filter(|count| (0..bits).contains(count)) else {
            return self.both(operation, left, right, ty, at);
        };
        let (t, u) = (c_type(ty), c_type(unsigned(ty)));
        let value = self.at(left, at, Precedence::Primary);
        match operation {
            Operation::ShiftLeft => (format!("({t})(({u}){value} << {count})"), Precedence::Unary),
            Operation::ShiftRightLogical => (format!("({t})(({u}){value} >> {count})"), Precedence::Unary),
            _ => (format!("({t})({value} >> {count})"), Precedence::Unary),
        }
    }

    fn both(&mut self, operation: Operation, left: &Expr, right: &Expr, ty: ScalarType, at: &Instance<'_>) -> Bound {
        let operands = format!("{}, {}", self.value(left, at).0, self.value(right, at).0);
        self.helper(operation, ty, &operands)
    }

    pub(super) fn helper(&mut self, operation: Operation, ty: ScalarType, operands: &str) -> Bound {
        let helper = Helper::Of(operation, ty);
        self.helpers.insert(helper);
        (format!("{}({operands})", helper.name()), Precedence::Primary)
    }

    fn call(&mut self, intrinsic: Intrinsic, operands: &[Expr], ty: ScalarType, at: &Instance<'_>) -> Bound {
        let texts: Vec<String> = operands.iter().map(|operand| self.value(operand, at).0).collect();
        let texts = texts.join(", ");
        let name = match intrinsic {
            Intrinsic::Abs if ty.is_signed_integer() => return self.helper(Operation::Abs, ty, &texts),
            Intrinsic::Abs if !ty.is_float() => return self.value(&operands[0], at),
            Intrinsic::Sign => return self.helper(Operation::Sign, ty, &texts),
            Intrinsic::IsNan => return (format!("isnan({texts})"), Precedence::Primary),
            Intrinsic::QuotientRe | Intrinsic::QuotientIm | Intrinsic::InverseRe | Intrinsic::InverseIm => {
                let is_quotient = matches!(intrinsic, Intrinsic::QuotientRe | Intrinsic::QuotientIm);
                let operation = if is_quotient { Operation::Quotient } else { Operation::Inverse };
                let half = i32::from(matches!(intrinsic, Intrinsic::QuotientIm | Intrinsic::InverseIm));
                return self.helper(operation, ty, &format!("{texts}, {half}"));
            }
            Intrinsic::Floor | Intrinsic::Ceil | Intrinsic::Trunc | Intrinsic::Round if !ty.is_float() => {
                return self.value(&operands[0], at);
            }
            Intrinsic::Abs => "fabs",
            Intrinsic::CopySign => "copysign",
            Intrinsic::Sqrt if ty == ScalarType::F32 && self.is_fast(at) => {
                return self.helper(Operation::FastSqrt, ty, &texts);
            }
            Intrinsic::Sqrt => "sqrt",
            Intrinsic::Cbrt => "cbrt",
            Intrinsic::Exp => "exp",
            Intrinsic::Exp2 => "exp2",
            Intrinsic::Expm1 => "expm1",
            Intrinsic::Log => "log",
            Intrinsic::Log2 => "log2",
            Intrinsic::Log10 => "log10",
            Intrinsic::Log1p => "log1p",
            Intrinsic::Sin => "sin",
            Intrinsic::Cos => "cos",
            Intrinsic::Tan => "tan",
            Intrinsic::Asin => "asin",
            Intrinsic::Acos => "acos",
            Intrinsic::Atan => "atan",
            Intrinsic::Atan2 => "atan2",
            Intrinsic::Sinh => "sinh",
            Intrinsic::Cosh => "cosh",
            Intrinsic::Tanh => "tanh",
            Intrinsic::Hypot => "hypot",
            Intrinsic::Pow => "pow",
            Intrinsic::Floor => "floor",
            Intrinsic::Ceil => "ceil",
            Intrinsic::Trunc => "trunc",
            Intrinsic::Round => "rint",
            Intrinsic::Fma | Intrinsic::MulAdd => "fma",
        };
        (format!("{name}{}({texts})", suffix(ty)), Precedence::Primary)
    }

    /// A constant with exactly its bits.
    pub fn constant(&mut self, constant: Constant) -> Bound {
        let negative = |text: &str| if text.starts_with('-') { Precedence::Unary } else { Precedence::Primary };
        if let Some(value) = constant.as_integer() {
            let text = match constant.ty {
                ScalarType::I64 if value == i128::from(i64::MIN) => "(-9223372036854775807 - 1)".to_string(),
                ScalarType::I32 if value == i128::from(i32::MIN) => "(-2147483647 - 1)".to_string(),
                ScalarType::U32 => format!("{value}u"),
                ScalarType::U64 => format!("{value}ull"),
                _ => value.to_string(),
            };
            let precedence = negative(&text);
            return (text, precedence);
        }
        let single = constant.ty == ScalarType::F32;
        let value =
            if single { f64::from(f32::from_bits(constant.bits as u32)) } else { f64::from_bits(constant.bits) };
        if value.is_finite() {
            // The shortest decimal that reads back to the same bits.
            let text = if single {
                format!("{:?}f", f32::from_bits(constant.bits as u32))
            } else {
                format!("{:?}", f64::from_bits(constant.bits))
            };
            let precedence = negative(&text);
            return (text, precedence);
        }
        if value.is_infinite() && self.dialect == Dialect::C {
            let text = if value > 0.0 { "INFINITY" } else { "-INFINITY" };
            return (text.to_string(), negative(text));
        }
        let bits =
            if single { format!("0x{:08x}u", constant.bits as u32) } else { format!("0x{:016x}ull", constant.bits) };
        self.helper(Operation::FromBits, constant.ty, &bits)
    }
}

/// The value of an integer constant.
fn integer(expr: &Expr) -> Option<i128> {
    match &expr.kind {
        ExprKind::Constant(constant) => constant.as_integer(),
        ExprKind::Index(affine) => affine.as_constant().map(i128::from),
        ExprKind::Convert(inner) if inner.ty.is_integer() => integer(inner),
        _ => None,
    }
}

/// Whether C takes the printed text for an `int` although it is wider.
fn is_literal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Constant(_) => true,
        ExprKind::Index(affine) => affine.as_constant().is_some(),
        ExprKind::Unary(_, operand) => is_literal(operand),
        _ => false,
    }
}

fn suffix(ty: ScalarType) -> &'static str {
    if ty == ScalarType::F32 { "f" } else { "" }
}

/// `x` of `0.0 - x`, and of `-x + 0.0`, which is the same number.
fn from_zero<'a>(op: BinaryOp, left: &'a Expr, right: &'a Expr) -> Option<&'a Expr> {
    let is_zero = |expr: &Expr| match &expr.kind {
        ExprKind::Constant(constant) => constant.as_float().is_some_and(|value| value.to_bits() == 0),
        _ => false,
    };
    match (op, &left.kind, &right.kind) {
        (BinaryOp::Sub, ..) if is_zero(left) => Some(right),
        (BinaryOp::Add, ExprKind::Unary(UnaryOp::Neg, taken), _) if is_zero(right) => Some(taken),
        (BinaryOp::Add, _, ExprKind::Unary(UnaryOp::Neg, taken)) if is_zero(left) => Some(taken),
        _ => None,
    }
}
