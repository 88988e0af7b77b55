//! Integers in bounds, extents and subscripts that scalar arguments give through floats: each becomes a parameter of its own.
//!
//! ```text
//! nt = round(Int, T / dt)        nt is worked out at entry
//! for t in 1:nt             ->   for t in 1:nt
//! ```
//!
//! A parameter that has no value, since Julia throws there, refuses the call: the test of a conversion that became one is not needed.

use crate::derived::MOST;
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, Function, Local, LocalId, NamedBy, Range, Role, SizeError, Statement, StatementKind, Type,
};
use tessella_polyhedral::derived::{evaluates_binary, evaluates_call, evaluates_wrap};
use tessella_scalar::{BinaryOp, CompareOp, Constant, Intrinsic, ScalarType, UnaryOp};

/// Larger expressions stay what they are: they are written out where they are worked out.
const MOST_PARTS: usize = 64;

/// A name for a parameter is made of no more names than that.
const MOST_NAMES: usize = 3;

/// A function whose bounds, extents and subscripts have no floats.
pub(crate) struct Rewritten {
    pub(crate) function: Function,
    /// The arguments that the function has for them, which no caller gives, and what each holds: an expression of arguments and sizes.
    pub(crate) found: Vec<(LocalId, Expr)>,
}

pub(crate) fn rewrite(function: &Function) -> Rewritten {
    let mut definitions = BTreeMap::new();
    learn(function, &function.body, &mut definitions);
    let mut rewriting =
        Rewriting { function, locals: function.locals.clone(), definitions, indices: BTreeSet::new(), found: vec![] };
    rewriting.seek(&function.body);
    let body = rewriting.block(&function.body);
    let body = rewriting.without_tests(&body);
    let Rewriting { locals, found, .. } = rewriting;
    Rewritten { function: Function { body, locals, ..function.clone() }, found }
}

/// What values that are assigned once are set to.
fn learn<'a>(function: &Function, block: &'a Block, definitions: &mut BTreeMap<LocalId, &'a Expr>) {
    for statement in block {
        match &statement.kind {
            StatementKind::For { body, .. } => learn(function, body, definitions),
            StatementKind::If { then, otherwise, .. } => {
                learn(function, then, definitions);
                learn(function, otherwise, definitions);
            }
            StatementKind::Set { target, value, .. } => {
                if matches!(function.locals[target.0 as usize].role, Role::Value(_)) {
                    definitions.insert(*target, value);
                }
            }
            StatementKind::Store { .. } | StatementKind::Allocate { .. } | StatementKind::Require { .. } => {}
        }
    }
}

struct Rewriting<'a> {
    function: &'a Function,
    locals: Vec<Local>,
    definitions: BTreeMap<LocalId, &'a Expr>,
    /// The values that bounds, extents and subscripts are made of.
    indices: BTreeSet<LocalId>,
    found: Vec<(LocalId, Expr)>,
}

impl<'a> Rewriting<'a> {
    /// Notes the values that bounds, extents and subscripts of a block are made of.
    fn seek(&mut self, block: &'a Block) {
        for statement in block {
            match &statement.kind {
                StatementKind::For { range, body, .. } => {
                    self.note(&range.start);
                    self.note(&range.stop);
                    self.seek(body);
                }
                StatementKind::If { condition, then, otherwise } => {
                    self.seek_loads(condition);
                    self.seek(then);
                    self.seek(otherwise);
                }
                StatementKind::Set { value, .. } => self.seek_loads(value),
                StatementKind::Store { subscripts, value, .. } => {
                    subscripts.iter().for_each(|subscript| self.note(subscript));
                    self.seek_loads(value);
                }
                StatementKind::Allocate { extents, .. } => extents.iter().for_each(|extent| self.note(extent)),
                StatementKind::Require { condition, failure } if !failure.error.is_of_values() => self.note(condition),
                StatementKind::Require { condition, .. } => self.seek_loads(condition),
            }
        }
    }

    fn seek_loads(&mut self, expr: &'a Expr) {
        if let ExprKind::Load { subscripts, .. } = &expr.kind {
            subscripts.iter().for_each(|subscript| self.note(subscript));
        }
        expr.operands().into_iter().for_each(|operand| self.seek_loads(operand));
    }

    /// Notes the values that an index is made of.
    fn note(&mut self, index: &'a Expr) {
        if self.root(index).is_some() {
            return;
        }
        if let ExprKind::Local(local) = index.kind
            && self.indices.insert(local)
            && let Some(&value) = self.definitions.get(&local)
        {
            self.note(value);
        }
        index.operands().into_iter().for_each(|operand| self.note(operand));
    }

    fn block(&mut self, block: &Block) -> Block {
        block.iter().map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &Statement) -> Statement {
        let kind = match &statement.kind {
            StatementKind::For { id, iterator, range, mode, body } => {
                let range = Range { start: self.index(&range.start), stop: self.index(&range.stop), step: range.step };
                StatementKind::For { id: *id, iterator: *iterator, range, mode: *mode, body: self.block(body) }
            }
            StatementKind::If { condition, then, otherwise } => StatementKind::If {
                condition: self.loads(condition),
                then: self.block(then),
                otherwise: self.block(otherwise),
            },
            StatementKind::Set { target, value, label, mode } => {
                let value = match self.indices.contains(target) {
                    true => self.named(value, Some(*target)),
                    false => self.loads(value),
                };
                StatementKind::Set { target: *target, value, label: label.clone(), mode: *mode }
            }
            StatementKind::Store { array, subscripts, value, label, mode } => StatementKind::Store {
                array: *array,
                subscripts: subscripts.iter().map(|subscript| self.index(subscript)).collect(),
                value: self.loads(value),
                label: label.clone(),
                mode: *mode,
            },
            StatementKind::Allocate { array, extents } => {
                let extents = extents.iter().map(|extent| self.index(extent)).collect();
                StatementKind::Allocate { array: *array, extents }
            }
            StatementKind::Require { condition, failure } => {
                let condition = match failure.error.is_of_values() {
                    true => self.loads(condition),
                    false => self.index(condition),
                };
                StatementKind::Require { condition, failure: failure.clone() }
            }
        };
        Statement { kind, span: statement.span }
    }

    /// A value with parameters in its subscripts.
    fn loads(&mut self, expr: &Expr) -> Expr {
        let is_load = matches!(expr.kind, ExprKind::Load { .. });
        let mut rewritten = expr.clone();
        for operand in rewritten.operands_mut() {
            *operand = if is_load { self.index(operand) } else { self.loads(operand) };
        }
        rewritten
    }

    fn index(&mut self, expr: &Expr) -> Expr {
        self.named(expr, None)
    }

    /// An index with parameters, one of which may have the name of the value that it is.
    fn named(&mut self, expr: &Expr, value: Option<LocalId>) -> Expr {
        if let Some(held) = self.root(expr)
            && let Some(local) = self.parameter(held, value, expr.span)
        {
            return Expr { kind: ExprKind::Local(local), ..expr.clone() };
        }
        let mut rewritten = expr.clone();
        for operand in rewritten.operands_mut() {
            *operand = self.index(operand);
        }
        rewritten
    }

    /// What an integer is that no sums, products and quotients of integers make, if floats decide on it and entry can work it out.
    fn root(&self, expr: &Expr) -> Option<Expr> {
        let may_be = expr.ty == ScalarType::I64
            && match &expr.kind {
                ExprKind::Constant(_)
                | ExprKind::Local(_)
                | ExprKind::Size { .. }
                | ExprKind::First { .. }
                | ExprKind::Load { .. }
                | ExprKind::Unary(UnaryOp::Neg, _)
                | ExprKind::Compare(..) => false,
                ExprKind::Binary(op, ..) => !is_of_sizes(*op),
                // A divisor, where it is not zero.
                ExprKind::IfElse { yes, .. } => !matches!(yes.kind, ExprKind::Constant(_)),
                ExprKind::Convert(_)
                | ExprKind::Wrap(_)
                | ExprKind::Unary(..)
                | ExprKind::Call(..)
                | ExprKind::Select { .. } => true,
            };
        let held = may_be.then(|| self.held(expr, &mut MOST_PARTS.clone())).flatten()?;
        has_floats(&held).then_some(held)
    }

    /// An expression of arguments and sizes alone, with what values are in place of their names; `None` where entry cannot work it out.
    fn held(&self, expr: &Expr, left: &mut usize) -> Option<Expr> {
        *left = left.checked_sub(1)?;
        let is_argument = |local: LocalId| self.locals[local.0 as usize].role == Role::Argument;
        let is_known = match &expr.kind {
            ExprKind::Constant(constant) => constant.as_float().is_none_or(f64::is_finite),
            ExprKind::Local(local) => {
                if let Some(value) = self.definitions.get(local) {
                    return self.held(value, left);
                }
                is_argument(*local)
            }
            ExprKind::Size { array, .. } | ExprKind::First { array, .. } => is_argument(*array),
            ExprKind::Load { .. } => false,
            ExprKind::Binary(op, first, _) => evaluates_binary(*op, first.ty),
            ExprKind::Call(function, _) => evaluates_call(*function),
            ExprKind::Wrap(operand) => evaluates_wrap(operand.ty, expr.ty),
            ExprKind::Unary(..)
            | ExprKind::Compare(..)
            | ExprKind::Select { .. }
            | ExprKind::IfElse { .. }
            | ExprKind::Convert(_) => true,
        };
        if !is_known {
            return None;
        }
        // All as if at one place, for comparison.
        let mut held = Expr { span: self.function.span, ..expr.clone() };
        for operand in held.operands_mut() {
            *operand = self.held(operand, left)?;
        }
        Some(held)
    }

    /// The argument that holds it, if the function may have one more.
    fn parameter(&mut self, held: Expr, value: Option<LocalId>, span: Span) -> Option<LocalId> {
        if let Some((local, _)) = self.found.iter().find(|(_, known)| *known == held) {
            return Some(*local);
        }
        if self.found.len() >= MOST {
            return None;
        }
        let id = LocalId(self.locals.len() as u32);
        let source = value.map(|value| &self.function.locals[value.0 as usize]);
        let (name, named) = match source.and_then(Local::in_source) {
            Some(name) => (name, NamedBy::Source),
            None => (self.name(&held), NamedBy::Tessella),
        };
        let (ty, role) = (Type::Scalar(ScalarType::I64), Role::Argument);
        self.locals.push(Local { name, named, ty, role, span });
        self.found.push((id, held));
        Some(id)
    }

    /// `round_T_dt`
    fn name(&self, held: &Expr) -> String {
        let mut names = vec![];
        self.names(held, &mut names);
        names.truncate(MOST_NAMES + 1);
        names.join("_")
    }

    fn names(&self, expr: &Expr, names: &mut Vec<String>) {
        let name = match &expr.kind {
            ExprKind::Local(local) | ExprKind::Size { array: local, .. } | ExprKind::First { array: local, .. } => {
                Some(self.function.locals[local.0 as usize].name.clone())
            }
            ExprKind::Call(Intrinsic::Round, _) => Some("round".to_owned()),
            ExprKind::Call(Intrinsic::Floor, _) => Some("floor".to_owned()),
            ExprKind::Call(Intrinsic::Ceil, _) => Some("ceil".to_owned()),
            ExprKind::Call(Intrinsic::Trunc, _) => Some("trunc".to_owned()),
            ExprKind::Call(Intrinsic::Sqrt, _) => Some("sqrt".to_owned()),
            _ => None,
        };
        if let Some(name) = name.filter(|name| !names.contains(name)) {
            names.push(name);
        }
        expr.operands().into_iter().for_each(|operand| self.names(operand, names));
    }

    /// The block without tests that a float has an `Int64`, where that has become a parameter.
    fn without_tests(&self, block: &Block) -> Block {
        let kept = block.iter().filter(|statement| match &statement.kind {
            StatementKind::Require { condition, failure } => {
                failure.error != SizeError::Inexact || !self.is_of_parameter(condition)
            }
            _ => true,
        });
        let inner = kept.map(|statement| {
            let kind = match &statement.kind {
                StatementKind::For { id, iterator, range, mode, body } => StatementKind::For {
                    id: *id,
                    iterator: *iterator,
                    range: range.clone(),
                    mode: *mode,
                    body: self.without_tests(body),
                },
                StatementKind::If { condition, then, otherwise } => StatementKind::If {
                    condition: condition.clone(),
                    then: self.without_tests(then),
                    otherwise: self.without_tests(otherwise),
                },
                kind => kind.clone(),
            };
            Statement { kind, span: statement.span }
        });
        inner.collect()
    }

    /// Whether a condition is `-2^63 <= x && x < 2^63`, and a parameter `x` without its fraction.
    fn is_of_parameter(&self, condition: &Expr) -> bool {
        let ExprKind::Binary(BinaryOp::AndAlso, least, most) = &condition.kind else { return false };
        let (Some(low), Some(high)) = (compared(least, CompareOp::Ge), compared(most, CompareOp::Lt)) else {
            return false;
        };
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        let held = |expr: &Expr| self.held(expr, &mut MOST_PARTS.clone());
        let (Some(first), Some(second)) = (held(low.0), held(high.0)) else { return false };
        let is_converted = |known: &Expr| matches!(&known.kind, ExprKind::Wrap(value) if **value == first);
        low.1 == -LIMIT && high.1 == LIMIT && first == second && self.found.iter().any(|(_, known)| is_converted(known))
    }
}

/// Operators that bounds, extents and subscripts may have as they are.
fn is_of_sizes(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::DivTrunc
            | BinaryOp::DivFloor
            | BinaryOp::DivCeil
            | BinaryOp::Min
            | BinaryOp::Max
    )
}

/// The float that is compared with a constant, and that.
fn compared(expr: &Expr, wanted: CompareOp) -> Option<(&Expr, f64)> {
    match &expr.kind {
        ExprKind::Compare(op, left, right) if *op == wanted => match right.kind {
            ExprKind::Constant(limit) => Constant::as_float(limit).map(|limit| (&**left, limit)),
            _ => None,
        },
        _ => None,
    }
}

fn has_floats(expr: &Expr) -> bool {
    expr.ty.is_float() || expr.operands().into_iter().any(has_floats)
}
