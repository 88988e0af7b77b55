//! A typed function as text, for tests and for people.

use super::tree::{
    Block, Expr, ExprKind, Firsts, Function, LocalId, Result as Outcome, Role, Simd, Statement, StatementKind, Strides,
    Type,
};
use std::collections::BTreeMap;
use tessella_scalar::{BinaryOp, CompareOp, Intrinsic, UnaryOp};

/// The function with every type written out. `let` binds what is assigned once, `var` what changes.
pub fn function(function: &Function) -> String {
    let mut printer = Printer { function, names: names(function), text: String::new(), bound: vec![] };
    let arguments: Vec<String> = function
        .arguments
        .iter()
        .map(|&id| format!("{}::{}", printer.names[&id], type_name(function.locals[id.0 as usize].ty)))
        .collect();
    printer.text = format!("function {}({})\n", function.name, arguments.join(", "));
    printer.block(&function.body, 1);
    let result = outcome(&function.result, &printer.names);
    printer.text.push_str(&format!("    return {result}\nend\n"));
    printer.text
}

fn outcome(result: &Outcome, names: &BTreeMap<LocalId, String>) -> String {
    match result {
        Outcome::Nothing => "nothing".to_string(),
        Outcome::Argument(id) | Outcome::Scalar(id) | Outcome::Array(id) | Outcome::ComplexArray(id) => {
            names[id].clone()
        }
        Outcome::Choice { position, arguments } => {
            let arguments: Vec<_> = arguments.iter().map(|id| names[id].as_str()).collect();
            format!("one of {} at {}", arguments.join(", "), names[position])
        }
        Outcome::OneOf { position, options } => {
            let options: Vec<String> = options.iter().map(|option| outcome(option, names)).collect();
            format!("one of {} at {}", options.join(", "), names[position])
        }
        Outcome::Complex { re, im } => format!("complex({}, {})", names[re], names[im]),
        Outcome::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| outcome(part, names)).collect();
            let comma = if parts.len() == 1 { "," } else { "" };
            format!("({}{comma})", parts.join(", "))
        }
        Outcome::Named { names: fields, parts } => {
            let parts = parts.iter().map(|part| outcome(part, names));
            let parts: Vec<String> =
                fields.iter().zip(parts).map(|(field, part)| format!("{field} = {part}")).collect();
            format!("(; {})", parts.join(", "))
        }
    }
}

/// An expression of `of` as text.
pub fn expression(of: &Function, expr: &Expr) -> String {
    Printer { function: of, names: names(of), text: String::new(), bound: vec![] }.expression(expr)
}

/// `Float64`, `Array{Float64, 2}`.
pub fn type_name(ty: Type) -> String {
    match ty {
        Type::Scalar(ty) => ty.to_string(),
        Type::Array { element, rank, form } => {
            let stored = match form.strides {
                Strides::Dense => format!("Array{{{element}, {rank}}}"),
                Strides::UnitFirst => format!("StridedArray{{{element}, {rank}, 1}}"),
                Strides::Free => format!("StridedArray{{{element}, {rank}}}"),
            };
            match form.firsts {
                Firsts::One => stored,
                Firsts::Free => format!("OffsetArray{{{element}, {rank}, {stored}}}"),
            }
        }
    }
}

/// Every local by a name of its own: the second `x` is `x.2`.
fn names(function: &Function) -> BTreeMap<LocalId, String> {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    let mut names = BTreeMap::new();
    for (position, local) in function.locals.iter().enumerate() {
        let count = seen.entry(&local.name).or_default();
        *count += 1;
        let name = if *count == 1 { local.name.clone() } else { format!("{}.{count}", local.name) };
        names.insert(LocalId(position as u32), name);
    }
    names
}

struct Printer<'a> {
    function: &'a Function,
    names: BTreeMap<LocalId, String>,
    text: String,
    /// Variables whose type has been shown.
    bound: Vec<LocalId>,
}

impl Printer<'_> {
    fn block(&mut self, block: &Block, depth: usize) {
        for statement in block {
            self.statement(statement, depth);
        }
    }

    fn line(&mut self, depth: usize, line: &str) {
        self.text.push_str(&"    ".repeat(depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn statement(&mut self, statement: &Statement, depth: usize) {
        match &statement.kind {
            StatementKind::For { id, iterator, range, mode, body } => {
                let (start, stop) = (self.expression(&range.start), self.expression(&range.stop));
                let step = if range.step == 1 { String::new() } else { format!("{}:", range.step) };
                let simd = match mode.simd {
                    Simd::No => "",
                    Simd::Before => "@simd ",
                    Simd::Around => "@simd(around) ",
                };
                let name = &self.names[iterator];
                let line = format!("{simd}for {name} in {start}:{step}{stop}  # L{}", id.0);
                self.line(depth, &line);
                self.block(body, depth + 1);
                self.line(depth, "end");
            }
            StatementKind::If { condition, then, otherwise } => {
                let line = format!("if {}", self.expression(condition));
                self.line(depth, &line);
                self.block(then, depth + 1);
                if !otherwise.is_empty() {
                    self.line(depth, "else");
                    self.block(otherwise, depth + 1);
                }
                self.line(depth, "end");
            }
            StatementKind::Set { target, value, label, mode } => {
                let local = &self.function.locals[target.0 as usize];
                let name = &self.names[target];
                let left = match local.role {
                    Role::Value(_) => format!("let {name}::{}", type_name(local.ty)),
                    Role::Variable(_) if !self.bound.contains(target) => {
                        format!("var {name}::{}", type_name(local.ty))
                    }
                    Role::Variable(_) | Role::Argument | Role::Iterator(_) => name.clone(),
                };
                self.bound.push(*target);
                let label = label.as_ref().map_or_else(String::new, |label| format!("@comp {} ", label.name));
                let fastmath = if mode.fastmath { "@fastmath " } else { "" };
                let line = format!("{label}{fastmath}{left} = {}", self.expression(value));
                self.line(depth, &line);
            }
            StatementKind::Store { array, subscripts, value, label, mode } => {
                let label = label.as_ref().map_or_else(String::new, |label| format!("@comp {} ", label.name));
                let fastmath = if mode.fastmath { "@fastmath " } else { "" };
                let inbounds = if mode.inbounds { "@inbounds " } else { "" };
                let subscripts = self.list(subscripts);
                let name = &self.names[array];
                let line = format!("{label}{fastmath}{inbounds}{name}[{subscripts}] = {}", self.expression(value));
                self.line(depth, &line);
            }
            StatementKind::Allocate { array, extents } => {
                let (name, ty) = (&self.names[array], type_name(self.function.locals[array.0 as usize].ty));
                let line = format!("let {name} = {ty}(undef, {})", self.list(extents));
                self.line(depth, &line);
            }
            StatementKind::Require { condition, failure } => {
                let line = format!("require {} else {}", self.expression(condition), failure.text);
                self.line(depth, &line);
            }
        }
    }

    fn list(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|expr| self.expression(expr)).collect::<Vec<_>>().join(", ")
    }

    fn expression(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Constant(constant) => match constant.ty {
                tessella_scalar::ScalarType::Bool
                | tessella_scalar::ScalarType::I64
                | tessella_scalar::ScalarType::F32
                | tessella_scalar::ScalarType::F64 => constant.to_string(),
                ty => format!("{ty}({constant})"),
            },
            ExprKind::Local(id) => self.names[id].clone(),
            ExprKind::Load { array, subscripts, .. } => format!("{}[{}]", self.names[array], self.list(subscripts)),
            ExprKind::Size { array, axis } => format!("size({}, {})", self.names[array], axis + 1),
            ExprKind::First { array, axis } => format!("firstindex({}, {})", self.names[array], axis + 1),
            ExprKind::Unary(operator, operand) => format!("{}{}", unary(*operator), self.inner(operand)),
            ExprKind::Binary(operator, left, right) => match binary(*operator) {
                Notation::Infix(symbol) => format!("{} {symbol} {}", self.inner(left), self.inner(right)),
                Notation::Call(name) => format!("{name}({}, {})", self.expression(left), self.expression(right)),
            },
            ExprKind::Compare(operator, left, right) => {
                format!("{} {} {}", self.inner(left), compare(*operator), self.inner(right))
            }
            ExprKind::Call(function, operands) => format!("{}({})", intrinsic(*function), self.list(operands)),
            ExprKind::Select { condition, yes, no } => {
                format!("{} ? {} : {}", self.inner(condition), self.inner(yes), self.inner(no))
            }
            ExprKind::IfElse { condition, yes, no } => {
                format!("ifelse({}, {}, {})", self.expression(condition), self.expression(yes), self.expression(no))
            }
            ExprKind::Convert(operand) => format!("{}({})", expr.ty, self.expression(operand)),
            ExprKind::Wrap(operand) => format!("{} % {}", self.inner(operand), expr.ty),
        }
    }

    /// In parentheses where it has an operator.
    fn inner(&self, expr: &Expr) -> String {
        let text = self.expression(expr);
        let has_operator = match &expr.kind {
            ExprKind::Binary(operator, ..) => matches!(binary(*operator), Notation::Infix(_)),
            ExprKind::Unary(..) | ExprKind::Compare(..) | ExprKind::Select { .. } | ExprKind::Wrap(_) => true,
            ExprKind::Constant(_)
            | ExprKind::Local(_)
            | ExprKind::Load { .. }
            | ExprKind::Size { .. }
            | ExprKind::First { .. }
            | ExprKind::Call(..)
            | ExprKind::IfElse { .. }
            | ExprKind::Convert(_) => false,
        };
        if has_operator { format!("({text})") } else { text }
    }
}

enum Notation {
    Infix(&'static str),
    Call(&'static str),
}

fn unary(operator: UnaryOp) -> &'static str {
    match operator {
        UnaryOp::Neg => "-",
        UnaryOp::Not => "!",
        UnaryOp::BitNot => "~",
    }
}

fn binary(operator: BinaryOp) -> Notation {
    match operator {
        BinaryOp::Add => Notation::Infix("+"),
        BinaryOp::Sub => Notation::Infix("-"),
        BinaryOp::Mul => Notation::Infix("*"),
        BinaryOp::Div => Notation::Infix("/"),
        BinaryOp::DivTrunc => Notation::Infix("÷"),
        BinaryOp::DivFloor => Notation::Call("fld"),
        BinaryOp::DivCeil => Notation::Call("cld"),
        BinaryOp::Rem => Notation::Infix("%"),
        BinaryOp::Mod => Notation::Call("mod"),
        BinaryOp::Min => Notation::Call("min"),
        BinaryOp::Max => Notation::Call("max"),
        BinaryOp::BitAnd => Notation::Infix("&"),
        BinaryOp::BitOr => Notation::Infix("|"),
        BinaryOp::BitXor => Notation::Infix("⊻"),
        BinaryOp::ShiftLeft => Notation::Infix("<<"),
        BinaryOp::ShiftRight => Notation::Infix(">>"),
        BinaryOp::ShiftRightLogical => Notation::Infix(">>>"),
        BinaryOp::AndAlso => Notation::Infix("&&"),
        BinaryOp::OrElse => Notation::Infix("||"),
    }
}

fn compare(operator: CompareOp) -> &'static str {
    match operator {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    }
}

fn intrinsic(function: Intrinsic) -> &'static str {
    match function {
        Intrinsic::Abs => "abs",
        Intrinsic::Sign => "sign",
        Intrinsic::CopySign => "copysign",
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
        Intrinsic::Atan | Intrinsic::Atan2 => "atan",
        Intrinsic::Sinh => "sinh",
        Intrinsic::Cosh => "cosh",
        Intrinsic::Tanh => "tanh",
        Intrinsic::Hypot => "hypot",
        Intrinsic::QuotientRe => "quotient_re",
        Intrinsic::QuotientIm => "quotient_im",
        Intrinsic::InverseRe => "inverse_re",
        Intrinsic::InverseIm => "inverse_im",
        Intrinsic::Pow => "^",
        Intrinsic::Floor => "floor",
        Intrinsic::Ceil => "ceil",
        Intrinsic::Trunc => "trunc",
        Intrinsic::Round => "round",
        Intrinsic::Fma => "fma",
        Intrinsic::MulAdd => "muladd",
        Intrinsic::IsNan => "isnan",
    }
}
