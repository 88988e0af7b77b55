//! What an expression can be while it is checked: mostly a scalar, but also an array, a tuple, a range or a type.

use super::complex::Complex;
use super::tree::{ArgumentType, Expr, ExprKind, LocalId, Type};
use tessella_diagnostics::Span;
use tessella_scalar::{Constant, ScalarType};

/// The value of an expression; only scalars reach the typed tree.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Scalar(Expr),
    /// `π` and `ℯ`: they take the precision of what they are combined with.
    Irrational(f64, Span),
    Array(LocalId),
    Complex(Box<Complex>),
    /// An argument whose halves lie along its leading axis.
    ComplexArray(LocalId),
    Tuple(Vec<Value>),
    /// `(a = x, b = y)`: the names, and as many values.
    Named(Vec<String>, Vec<Value>),
    Range(RangeValue),
    Type(ScalarType),
    /// `Complex{T}` for this `T`.
    ComplexType(ScalarType),
    /// An array that has no memory of its own, or a part of one.
    Elements(Box<super::arrays::Elements>),
    /// A place in an array: `I` of `for I in CartesianIndices(A)`.
    Position(super::arrays::Position),
    /// A box of places, by its axes: `CartesianIndices(A)`, `I:J` of two places.
    Places(Vec<RangeValue>),
    /// A function that the user wrote.
    Function(super::inline::Callee),
    Nothing,
    /// There is none, as what was to give it throws.
    Never,
}

impl Value {
    /// The elements of a tuple, named or not.
    pub(super) fn elements(&self) -> Option<&[Value]> {
        match self {
            Value::Tuple(values) | Value::Named(_, values) => Some(values),
            _ => None,
        }
    }
}

/// `start:step:stop` of `Int64`s.
#[derive(Debug, Clone)]
pub(super) struct RangeValue {
    pub start: Expr,
    pub step: i64,
    pub stop: Expr,
}

/// What kind of value was found where another was needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Scalar(ScalarType),
    Array {
        element: ScalarType,
        rank: u32,
    },
    Complex(ScalarType),
    ComplexArray {
        half: ScalarType,
        rank: u32,
    },
    Tuple,
    NamedTuple,
    Range,
    Type,
    Position,
    Places,
    Function,
    /// `pi` itself.
    Irrational,
    Nothing,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Scalar(ty) => f.write_str(&with_article(*ty)),
            Kind::Array { element, rank } => f.write_str(&array_type(element.julia_name(), *rank)),
            Kind::Complex(half) => write!(f, "a `{}`", super::complex::type_name(*half)),
            Kind::ComplexArray { half, rank } => f.write_str(&array_type(&super::complex::type_name(*half), *rank)),
            Kind::Tuple => f.write_str("a tuple"),
            Kind::NamedTuple => f.write_str("a named tuple"),
            Kind::Range => f.write_str("a range"),
            Kind::Type => f.write_str("a type"),
            Kind::Position => f.write_str("an index of several dimensions"),
            Kind::Places => f.write_str("a range of indices of several dimensions"),
            Kind::Function => f.write_str("a function"),
            Kind::Irrational => f.write_str("an `Irrational`: `Float64(pi)` is a number"),
            Kind::Nothing => f.write_str("`nothing`"),
        }
    }
}

/// ``a `Vector{Float64}` ``, ``an `Array{Float64, 3}` ``: as Julia prints them.
fn array_type(element: &str, rank: u32) -> String {
    match rank {
        1 => format!("a `Vector{{{element}}}`"),
        2 => format!("a `Matrix{{{element}}}`"),
        _ => format!("an `Array{{{element}, {rank}}}`"),
    }
}

/// ``a `Float64` ``, ``an `Int64` ``.
pub(super) fn with_article(ty: ScalarType) -> String {
    let article = if ty.is_signed_integer() { "an" } else { "a" };
    format!("{article} `{ty}`")
}

impl From<Type> for Kind {
    fn from(ty: Type) -> Self {
        match ty {
            Type::Scalar(ty) => Kind::Scalar(ty),
            Type::Array { element, rank, form: _ } => Kind::Array { element, rank },
        }
    }
}

impl From<ArgumentType> for Kind {
    fn from(ty: ArgumentType) -> Self {
        match ty {
            ArgumentType::Real(ty) => ty.into(),
            ArgumentType::Complex(Type::Scalar(half)) => Kind::Complex(half),
            ArgumentType::Complex(Type::Array { element, rank, .. }) => Kind::ComplexArray { half: element, rank },
        }
    }
}

/// Builders for expressions of the typed tree.
impl Expr {
    pub(super) fn constant(constant: Constant, span: Span) -> Expr {
        Expr { kind: ExprKind::Constant(constant), ty: constant.ty, span }
    }

    pub(super) fn int64(value: i64, span: Span) -> Expr {
        Expr::constant(Constant::i64(value), span)
    }

    /// The constant `value` of type `ty`; `value` must fit the type.
    pub(super) fn number(ty: ScalarType, value: i128, span: Span) -> Expr {
        Expr::constant(Constant::integer(ty, value), span)
    }

    pub(super) fn as_constant(&self) -> Option<Constant> {
        match self.kind {
            ExprKind::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    /// The direct operands, left to right.
    pub fn operands(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Constant(_) | ExprKind::Local(_) | ExprKind::Size { .. } | ExprKind::First { .. } => vec![],
            ExprKind::Load { subscripts, .. } => subscripts.iter().collect(),
            ExprKind::Unary(_, operand) | ExprKind::Convert(operand) | ExprKind::Wrap(operand) => vec![operand],
            ExprKind::Binary(_, left, right) | ExprKind::Compare(_, left, right) => vec![left, right],
            ExprKind::Call(_, operands) => operands.iter().collect(),
            ExprKind::Select { condition, yes, no } | ExprKind::IfElse { condition, yes, no } => {
                vec![condition, yes, no]
            }
        }
    }

    pub fn operands_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            ExprKind::Constant(_) | ExprKind::Local(_) | ExprKind::Size { .. } | ExprKind::First { .. } => vec![],
            ExprKind::Load { subscripts, .. } => subscripts.iter_mut().collect(),
            ExprKind::Unary(_, operand) | ExprKind::Convert(operand) | ExprKind::Wrap(operand) => vec![operand],
            ExprKind::Binary(_, left, right) | ExprKind::Compare(_, left, right) => vec![left, right],
            ExprKind::Call(_, operands) => operands.iter_mut().collect(),
            ExprKind::Select { condition, yes, no } | ExprKind::IfElse { condition, yes, no } => {
                vec![condition, yes, no]
            }
        }
    }

    /// The same expression, shown to the user at another place.
    pub(super) fn placed(mut self, span: Span) -> Expr {
        self.place(span);
        self
    }

    fn place(&mut self, span: Span) {
        self.span = span;
        for operand in self.operands_mut() {
            operand.place(span);
        }
    }

    /// Whether `found` holds for the expression or one below it.
    pub fn any(&self, found: &dyn Fn(&Expr) -> bool) -> bool {
        found(self) || self.operands().into_iter().any(|operand| operand.any(found))
    }

    /// Whether evaluating the expression twice costs nothing worth a name.
    pub(super) fn is_cheap(&self) -> bool {
        match &self.kind {
            ExprKind::Constant(_) | ExprKind::Local(_) | ExprKind::Size { .. } | ExprKind::First { .. } => true,
            ExprKind::Convert(operand) | ExprKind::Wrap(operand) | ExprKind::Unary(_, operand) => operand.is_cheap(),
            ExprKind::Load { .. }
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::Call(..)
            | ExprKind::Select { .. }
            | ExprKind::IfElse { .. } => false,
        }
    }

    pub(super) fn reads_memory(&self) -> bool {
        self.any(&|expr| matches!(expr.kind, ExprKind::Load { .. }))
    }

    /// Whether the value never changes during a call, whatever is assigned.
    pub(super) fn is_fixed(&self) -> bool {
        !self.any(&|expr| matches!(expr.kind, ExprKind::Load { .. } | ExprKind::Local(_)))
    }
}
