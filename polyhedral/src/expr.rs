//! The expression that an instance evaluates.

use crate::affine::Affine;
use crate::algorithm::ScalarId;
use tessella_scalar::{BinaryOp, CompareOp, Constant, Intrinsic, ScalarType, UnaryOp};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: ScalarType,
}

/// Operands have been promoted: see `tessella_scalar` for the operators' meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExprKind {
    Constant(Constant),
    /// The value of an affine expression of iterators and parameters; `Int64`.
    Index(Affine),
    Scalar(ScalarId),
    /// The `Let` of this position in the computation.
    Let(u32),
    /// The read access of this position in the computation.
    Read(u32),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    Call(Intrinsic, Vec<Expr>),
    /// `condition ? yes : no`; only the chosen one is evaluated.
    Select {
        condition: Box<Expr>,
        yes: Box<Expr>,
        no: Box<Expr>,
    },
    /// Both are evaluated.
    IfElse {
        condition: Box<Expr>,
        yes: Box<Expr>,
        no: Box<Expr>,
    },
    /// A conversion that cannot fail, or that rounds as IEEE says.
    Convert(Box<Expr>),
    /// The low bits of an integer.
    Wrap(Box<Expr>),
}

/// The parts of `a && b && c`, in the order of their evaluation.
pub fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::AndAlso, left, right) => {
            let mut parts = conjuncts(left);
            parts.extend(conjuncts(right));
            parts
        }
        _ => vec![expr],
    }
}

impl Expr {
    /// The direct operands, left to right.
    pub fn operands(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Constant(_) | ExprKind::Index(_) | ExprKind::Scalar(_) | ExprKind::Let(_) | ExprKind::Read(_) => {
                vec![]
            }
            ExprKind::Unary(_, operand) | ExprKind::Convert(operand) | ExprKind::Wrap(operand) => vec![operand],
            ExprKind::Binary(_, left, right) | ExprKind::Compare(_, left, right) => vec![left, right],
            ExprKind::Call(_, operands) => operands.iter().collect(),
            ExprKind::Select { condition, yes, no } | ExprKind::IfElse { condition, yes, no } => {
                vec![condition, yes, no]
            }
        }
    }

    /// Whether both make the same of their operands, whatever these are.
    pub fn is_same_operation(&self, other: &Expr) -> bool {
        self.ty == other.ty
            && match (&self.kind, &other.kind) {
                (ExprKind::Unary(one, _), ExprKind::Unary(other, _)) => one == other,
                (ExprKind::Binary(one, ..), ExprKind::Binary(other, ..)) => one == other,
                (ExprKind::Compare(one, ..), ExprKind::Compare(other, ..)) => one == other,
                (ExprKind::Call(one, operands), ExprKind::Call(other, others)) => {
                    one == other && operands.len() == others.len()
                }
                (ExprKind::Select { .. }, ExprKind::Select { .. })
                | (ExprKind::IfElse { .. }, ExprKind::IfElse { .. })
                | (ExprKind::Convert(_), ExprKind::Convert(_))
                | (ExprKind::Wrap(_), ExprKind::Wrap(_)) => true,
                _ => self.operands().is_empty() && self.kind == other.kind,
            }
    }

    /// Calls `visit` on the expression and all below it, outside in.
    pub fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        visit(self);
        let operands: Vec<&mut Expr> = match &mut self.kind {
            ExprKind::Constant(_) | ExprKind::Index(_) | ExprKind::Scalar(_) | ExprKind::Let(_) | ExprKind::Read(_) => {
                vec![]
            }
            ExprKind::Unary(_, operand) | ExprKind::Convert(operand) | ExprKind::Wrap(operand) => vec![operand],
            ExprKind::Binary(_, left, right) | ExprKind::Compare(_, left, right) => vec![left, right],
            ExprKind::Call(_, operands) => operands.iter_mut().collect(),
            ExprKind::Select { condition, yes, no } | ExprKind::IfElse { condition, yes, no } => {
                vec![condition, yes, no]
            }
        };
        operands.into_iter().for_each(|operand| operand.walk_mut(visit));
    }

    /// Calls `visit` on the expression and all below it, outside in.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        for operand in self.operands() {
            operand.walk(visit);
        }
    }
}

/// Whether SIMD lanes compute an expression at once, given its operands: sums, products and quotients of floats, and what
/// has been computed or loaded before. Nothing that branches.
pub fn runs_on_lanes(expr: &Expr) -> bool {
    expr.ty.is_float()
        && match &expr.kind {
            ExprKind::Read(_) | ExprKind::Let(_) => true,
            ExprKind::Unary(UnaryOp::Neg, _) => true,
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, ..) => true,
            ExprKind::Convert(inner) => inner.ty.is_float(),
            ExprKind::Constant(_)
            | ExprKind::Index(_)
            | ExprKind::Scalar(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::Call(..)
            | ExprKind::Select { .. }
            | ExprKind::IfElse { .. }
            | ExprKind::Wrap(_) => false,
        }
}
