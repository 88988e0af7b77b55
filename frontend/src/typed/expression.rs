//! Expressions: from the syntax tree to values.

use super::check::{Checked, Checker, Indexed};
use super::complex::{Complex, ComplexError};
use super::convert::widen;
use super::error::TypeError;
use super::full_name::own;
use super::scope::State;
use super::tree::Expr;
use super::unsupported::Construct;
use super::value::{Kind, Value, with_article};
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, Constant, ScalarType};

impl Checker<'_> {
    /// The scalar value of an expression.
    pub(super) fn scalar(&mut self, expr: &ast::Expr) -> Checked<Expr> {
        let value = self.value(expr)?;
        self.as_scalar(value, expr.span)
    }

    pub(super) fn as_scalar(&mut self, value: Value, span: Span) -> Checked<Expr> {
        match value {
            Value::Scalar(expr) => Ok(expr),
            Value::Irrational(value, at) => Ok(Expr::constant(Constant::f64(value), at)),
            Value::Array(_) | Value::Elements(_) => self.not_yet(Construct::ArrayArithmetic, span),
            Value::Complex(_) => Err(self.complex_error(ComplexError::NotReal { span })),
            Value::ComplexArray(_) => Err(self.complex_error(ComplexError::WholeArray { span })),
            Value::Position(super::arrays::Position { subscripts, linear_in: Some(origin), is_number }) => {
                if !is_number {
                    return self.not_yet(Construct::LinearIndex, span);
                }
                let firsts = self.firsts(&origin);
                Ok(super::arrays::linear_index(&subscripts, &firsts, &origin.extents, span))
            }
            other @ (Value::Position(_)
            | Value::Places(_)
            | Value::Tuple(_)
            | Value::Named(..)
            | Value::Range(_)
            | Value::Type(_)
            | Value::ComplexType(_)
            | Value::Function(_)
            | Value::Nothing
            | Value::Never) => {
                let found = self.kind(&other);
                Err(self.fail(TypeError::NotANumber { found, span }))
            }
        }
    }

    pub(super) fn value(&mut self, expr: &ast::Expr) -> Checked<Value> {
        let span = expr.span;
        let wanted = self.flow.wanted.take();
        match &expr.kind {
            ast::ExprKind::Integer(text) => self.integer_literal(text, false, span).map(Value::Scalar),
            ast::ExprKind::Float(text) => self.float_literal(text, span).map(Value::Scalar),
            ast::ExprKind::Bool(value) => Ok(Value::Scalar(Expr::constant(Constant::bool(*value), span))),
            ast::ExprKind::Name(name) => self.name(name, span),
            ast::ExprKind::IndexEnd => self.index_end(span),
            ast::ExprKind::IndexBegin => self.index_begin(span),
            ast::ExprKind::Prefix { operator, operand } => self.prefix(operator, operand, span),
            ast::ExprKind::Infix { operator, left, right } => self.infix(operator, left, right, span),
            ast::ExprKind::Juxtapose { coefficient, operand } => {
                let left = self.value(coefficient);
                let right = self.value(operand);
                let (left, right) = (left?, right?);
                if Self::is_whole(&left) || Self::is_whole(&right) {
                    let (left, right) = ((left, coefficient.span), (right, operand.span));
                    return self.array_infix("*", false, left, right, false, span);
                }
                self.binary_values("*", left, right, (coefficient.span, operand.span), span)
            }
            ast::ExprKind::Comparison { operands, operators } => self.comparison(operands, operators, span),
            ast::ExprKind::And(left, right) => self.short_circuit(BinaryOp::AndAlso, left, right, span),
            ast::ExprKind::Or(left, right) => self.short_circuit(BinaryOp::OrElse, left, right, span),
            ast::ExprKind::Ternary { condition, yes, no } => {
                let branch = |checker: &mut Self, branch: &ast::Expr| {
                    checker.flow.wanted = wanted;
                    checker.value(branch)
                };
                self.choice(condition, |checker| branch(checker, yes), |checker| branch(checker, no), wanted, span)
            }
            ast::ExprKind::If { branches, otherwise } => self.if_value(branches, otherwise.as_deref(), span),
            ast::ExprKind::Range { start, step: None, stop } if self.is_place(start) || self.is_place(stop) => {
                self.places_between(start, stop, expr.span).map(Value::Places)
            }
            ast::ExprKind::Range { start, step, stop } => self.range(start, step.as_deref(), stop).map(Value::Range),
            ast::ExprKind::Index { base, subscripts } => match self.index(base, subscripts, span)? {
                // Other uses of a number than as a subscript need the number.
                Value::Position(position) if position.is_of_numbering() => {
                    self.as_scalar(Value::Position(position), span).map(Value::Scalar)
                }
                value => Ok(value),
            },
            ast::ExprKind::Call { callee, arguments, broadcast } => self.call(callee, arguments, *broadcast, span),
            ast::ExprKind::Typed { value: Some(value), ty } => self.assertion(value, ty, span),
            ast::ExprKind::Tuple(elements) => self.tuple(elements),
            ast::ExprKind::Block(body) => match body.as_slice() {
                [value] => self.value(value),
                _ => self.block_value(body, span),
            },
            ast::ExprKind::MacroCall { name, arguments } => self.macro_value(name, arguments, span),
            ast::ExprKind::Assign { .. } => self.not_yet(Construct::NestedAssignment, span),
            ast::ExprKind::Field { base, field } => match self.full_name(expr) {
                Some(name) => self.by_full_name(name, &[], |checker, _| checker.name(name, span)),
                None => self.field(base, field, span),
            },
            ast::ExprKind::Curly { base, .. } if matches!(&base.kind, ast::ExprKind::Name(name) if name == "Complex") => {
                match self.complex_type(expr)? {
                    Some(half) => Ok(Value::ComplexType(half)),
                    None => self.not_yet(Construct::Other, span),
                }
            }
            ast::ExprKind::Curly { .. } | ast::ExprKind::Where { .. } => {
                let name = super::signature::type_text(expr);
                Err(self.fail(TypeError::UnknownType { name, span, suggestion: None }))
            }
            ast::ExprKind::Char(_) | ast::ExprKind::Str(_) => self.not_yet(Construct::Text, span),
            ast::ExprKind::Symbol(_) => self.not_yet(Construct::Symbol, span),
            ast::ExprKind::Colon => self.not_yet(Construct::Slice, span),
            ast::ExprKind::Adjoint(operand) => self.adjoint(operand, super::arrays::Conjugate::Yes, span),
            ast::ExprKind::Splat(_) => self.not_yet(Construct::Splat, span),
            ast::ExprKind::Vector(elements) => self.vector_literal(elements, span),
            ast::ExprKind::Matrix(rows) => self.matrix_literal(rows, span),
            ast::ExprKind::Generator { body, clauses, brackets: ast::Brackets::Square } => {
                self.comprehension(body, clauses, span).map(|elements| Value::Elements(Box::new(elements)))
            }
            ast::ExprKind::Generator { clauses, .. } => self.not_yet(Construct::of_comprehension(clauses), span),
            ast::ExprKind::Lambda { arguments, body } => self.lambda(arguments, body, span),
            ast::ExprKind::Do { .. } => match super::each::with_closure(expr) {
                Some(call) => self.value(&call),
                None => self.not_yet(Construct::Closure, span),
            },
            ast::ExprKind::Function(_) => self.not_yet(Construct::Closure, span),
            ast::ExprKind::Return(_) => self.not_yet(Construct::EarlyReturn, span),
            ast::ExprKind::Break => self.not_yet(Construct::Break, span),
            ast::ExprKind::Continue => self.not_yet(Construct::Continue, span),
            ast::ExprKind::While { .. } => self.not_yet(Construct::While, span),
            ast::ExprKind::Let { .. } => self.statement_value(expr),
            ast::ExprKind::For { .. } => self.not_yet(Construct::BlockValue, span),
            ast::ExprKind::Global(_) => self.not_yet(Construct::Global, span),
            ast::ExprKind::Local(_) | ast::ExprKind::Const(_) | ast::ExprKind::Typed { value: None, .. } => {
                self.not_yet(Construct::Other, span)
            }
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Checked<Value> {
        if let Some(variable) = self.lookup(name) {
            let state = self.variables[variable.0].state.clone();
            let is_assigned = self.assigned.contains(&variable);
            return match state {
                State::Poisoned => Err(super::check::Reported),
                State::Unassigned => {
                    let name = own(name).to_string();
                    Err(self.fail(TypeError::UsedBeforeAssigned { name, span, assigned: None }))
                }
                State::Scalar(_) | State::Complex(..) | State::Array(_) | State::Alias(_) if !is_assigned => {
                    let assigned = Some(self.variables[variable.0].span);
                    let name = own(name).to_string();
                    Err(self.fail(TypeError::UsedBeforeAssigned { name, span, assigned }))
                }
                State::Scalar(id) => Ok(Value::Scalar(match self.flow.known.get(&id) {
                    Some(&constant) => Expr::constant(constant, span),
                    None => self.read(id, span),
                })),
                State::Complex(re, im) => Ok(Complex { re: self.read(re, span), im: self.read(im, span) }.value()),
                State::Array(id) => Ok(Value::Array(id)),
                // A later assignment changes the variables of its elements, and not what was read before.
                State::Alias(value) if !self.variables[variable.0].parts.is_empty() => Ok(self.frozen(value)),
                State::Alias(value) => Ok(value),
            };
        }
        if let Some(value) = self.type_parameter_value(name, span) {
            return value;
        }
        if let Some(callee) = self.user_function(name) {
            return Ok(Value::Function(callee));
        }
        if let Some(value) = self.module_constant(name, span) {
            return value;
        }
        if let Some(ty) = ScalarType::from_julia_name(name) {
            return Ok(Value::Type(ty));
        }
        let constant = |constant| Ok(Value::Scalar(Expr::constant(constant, span)));
        match name {
            "nothing" => Ok(Value::Nothing),
            "pi" | "π" => Ok(Value::Irrational(std::f64::consts::PI, span)),
            "ℯ" => Ok(Value::Irrational(std::f64::consts::E, span)),
            "im" => Ok(Complex::unit(span).value()),
            "ComplexF64" => Ok(Value::ComplexType(ScalarType::F64)),
            "ComplexF32" => Ok(Value::ComplexType(ScalarType::F32)),
            "Inf" | "Inf64" => constant(Constant::f64(f64::INFINITY)),
            "NaN" | "NaN64" => constant(Constant::f64(f64::NAN)),
            "Inf32" => constant(Constant::f32(f32::INFINITY)),
            "NaN32" => constant(Constant::f32(f32::NAN)),
            _ if super::call::is_known(name) => self.not_yet(Construct::FunctionValue, span),
            _ => {
                let error = self.undefined(name, span);
                Err(self.fail(error))
            }
        }
    }

    fn index_begin(&mut self, span: Span) -> Checked<Value> {
        match self.indexed.last() {
            Some(Indexed::Axis { first, .. }) => Ok(Value::Scalar(first.clone().placed(span))),
            Some(Indexed::Tuple { .. }) => Ok(Value::Scalar(Expr::int64(1, span))),
            None => self.not_yet(Construct::Other, span),
        }
    }

    fn index_end(&mut self, span: Span) -> Checked<Value> {
        match self.indexed.last() {
            Some(Indexed::Axis { last, .. }) => Ok(Value::Scalar(last.clone().placed(span))),
            Some(&Indexed::Tuple { length }) => Ok(Value::Scalar(Expr::int64(length as i64, span))),
            None => self.not_yet(Construct::Other, span),
        }
    }

    pub(super) fn same_types(&mut self, yes: &Expr, no: &Expr) -> Checked<()> {
        if yes.ty == no.ty {
            return Ok(());
        }
        Err(self.fail(TypeError::BranchTypes { yes: yes.ty, yes_span: yes.span, no: no.ty, no_span: no.span }))
    }

    /// `x::T` asserts that `x` is a `T`; with `x` without a value it declares the type.
    fn assertion(&mut self, value: &ast::Expr, ty: &ast::Expr, span: Span) -> Checked<Value> {
        if let ast::ExprKind::Name(name) = &value.kind
            && let Some(variable) = self.lookup(name)
            && matches!(self.variables[variable.0].state, State::Unassigned)
        {
            let ty = self.type_expression(ty)?;
            self.variables[variable.0].declared = Some(ty);
            return Ok(Value::Nothing);
        }
        let value = self.scalar(value);
        if let ast::ExprKind::Name(name) = &ty.kind
            && let Some(includes) = super::signature::abstract_number(name)
        {
            let value = value?;
            return match includes(value.ty) {
                true => Ok(Value::Scalar(value)),
                false => Err(self.fail(TypeError::NotANumber { found: Kind::Scalar(value.ty), span })),
            };
        }
        let expected = self.type_expression(ty)?;
        let value = value?;
        if value.ty == expected {
            return Ok(Value::Scalar(value));
        }
        let help = Some("convert with `T(x)`; `x::T` only asserts the type");
        let operands = format!("{} where {} is asserted", with_article(value.ty), with_article(expected));
        Err(self.fail(TypeError::NoMethod { operator: "::".into(), operands, span, help }))
    }

    /// Both values as scalars, with `π` and `ℯ` in the precision of the other.
    pub(super) fn scalar_pair(&mut self, left: Value, right: Value, spans: (Span, Span)) -> Checked<(Expr, Expr)> {
        let (left_is_weak, right_is_weak) =
            (matches!(left, Value::Irrational(..)), matches!(right, Value::Irrational(..)));
        if matches!(left, Value::Array(_)) || matches!(right, Value::Array(_)) {
            return self.not_yet(Construct::ArrayArithmetic, spans.0.to(spans.1));
        }
        let left = self.as_scalar(left, spans.0);
        let right = self.as_scalar(right, spans.1);
        let (left, right) = (left?, right?);
        Ok(match (left_is_weak, right_is_weak) {
            (true, false) if right.ty == ScalarType::F32 => (widen(left, ScalarType::F32), right),
            (false, true) if left.ty == ScalarType::F32 => (left, widen(right, ScalarType::F32)),
            (_, _) => (left, right),
        })
    }
}
