//! When a computed subscript is sure to be inside its axis: what `clamp`, `min`, `max`, `mod1` and the types of small
//! integers say of values that are otherwise known only at run time.
//!
//! The answers are affine conditions that suffice. Where they hold nothing needs to be looked at.

use crate::formula::Formula;
use crate::symbolic::{Site, Symbols};
use crate::values::Values;
use tessella_frontend::typed::tree::{Expr, ExprKind, LocalId, Role};
use tessella_polyhedral::affine::Affine;
use tessella_scalar::{BinaryOp, CompareOp, ScalarType};

/// Expressions are followed this deep.
const DEPTH: u32 = 12;

/// No more comparisons are kept in mind.
const FACTS: usize = 4;

/// Values within this are so small that adding a constant to them does not wrap around.
const SMALL: i64 = 1 << 59;

/// A condition that holds only where the subscript is between the first and the last of its axis.
pub(crate) fn inside(
    symbols: &Symbols<'_>,
    values: &Values<'_>,
    site: &Site,
    under: &Formula,
    subscript: &Expr,
    (first, last): &(Affine, Affine),
) -> Formula {
    let proof = Proof { symbols, values, site, under };
    let low = proof.bounded(subscript, CompareOp::Ge, first, &[], DEPTH);
    if low == Formula::False {
        return low;
    }
    low.and(&proof.bounded(subscript, CompareOp::Le, last, &[], DEPTH))
}

/// A condition that holds only where another one does, which may compare what is known at run time.
pub(crate) fn suffices(
    symbols: &Symbols<'_>,
    values: &Values<'_>,
    site: &Site,
    under: &Formula,
    condition: &Expr,
) -> Formula {
    if let Ok(exact) = symbols.condition(condition, site, under) {
        return exact;
    }
    let of = |part: &Expr| suffices(symbols, values, site, under, part);
    match &condition.kind {
        ExprKind::Binary(BinaryOp::AndAlso, left, right) => of(left).and(&of(right)),
        ExprKind::Binary(BinaryOp::OrElse, left, right) => of(left).or(&of(right)),
        ExprKind::Compare(op @ (CompareOp::Ge | CompareOp::Le), value, bound) => {
            let proof = Proof { symbols, values, site, under };
            let bound = symbols.integer(bound, site, under).ok();
            let bound = bound.as_ref().and_then(|bound| bound.as_single());
            bound.map_or(Formula::False, |bound| proof.bounded(value, *op, bound, &[], DEPTH))
        }
        _ => Formula::False,
    }
}

struct Proof<'s, 'a> {
    symbols: &'s Symbols<'a>,
    values: &'s Values<'a>,
    site: &'s Site,
    under: &'s Formula,
}

/// A comparison of integers that is known to hold, or known not to.
#[derive(Clone, Copy)]
struct Fact<'e> {
    op: CompareOp,
    left: &'e Expr,
    right: &'e Expr,
    holds: bool,
}

impl Proof<'_, '_> {
    /// A condition under which `value op bound` holds, where `op` is `>=` or `<=`.
    fn bounded(&self, value: &Expr, op: CompareOp, bound: &Affine, facts: &[Fact<'_>], depth: u32) -> Formula {
        if let Ok(pieces) = self.symbols.integer(value, self.site, self.under) {
            return pieces.holds(|value| Formula::compare(op, value, bound));
        }
        let Some(depth) = depth.checked_sub(1) else { return Formula::False };
        let by_itself = self.by_itself(value, op, bound, facts, depth);
        let by_facts = facts.iter().map(|fact| self.by_fact(value, *fact, op, bound, facts, depth));
        Formula::any(std::iter::once(by_itself).chain(by_facts))
    }

    fn by_itself(&self, value: &Expr, op: CompareOp, bound: &Affine, facts: &[Fact<'_>], depth: u32) -> Formula {
        let of = |part: &Expr| self.bounded(part, op, bound, facts, depth);
        let at_least = op == CompareOp::Ge;
        match &value.kind {
            ExprKind::Local(local) => match self.definition(*local) {
                Some(definition) => of(definition),
                None => Formula::False,
            },
            ExprKind::Binary(BinaryOp::Max, left, right) if at_least => of(left).or(&of(right)),
            ExprKind::Binary(BinaryOp::Min, left, right) if !at_least => of(left).or(&of(right)),
            ExprKind::Binary(BinaryOp::Max | BinaryOp::Min, left, right) => of(left).and(&of(right)),
            ExprKind::Binary(BinaryOp::Mod, _, divisor) => self.remainder(value, divisor, op, bound, facts),
            ExprKind::Binary(BinaryOp::BitAnd, left, right) => {
                self.masked(left, op, bound).or(&self.masked(right, op, bound))
            }
            ExprKind::Binary(BinaryOp::Add, left, right) => match (constant(left), constant(right)) {
                (_, Some(added)) => self.moved(left, added, op, bound, facts, depth),
                (Some(added), None) => self.moved(right, added, op, bound, facts, depth),
                (None, None) => Formula::False,
            },
            ExprKind::Binary(BinaryOp::Sub, left, right) => match constant(right) {
                Some(taken) => self.moved(left, -taken, op, bound, facts, depth),
                None => Formula::False,
            },
            ExprKind::Select { condition, yes, no } | ExprKind::IfElse { condition, yes, no } => {
                let branch = |part: &Expr, holds: bool| {
                    let mut known = facts.to_vec();
                    if let ExprKind::Compare(op, left, right) = &condition.kind
                        && known.len() < FACTS
                    {
                        known.push(Fact { op: *op, left, right, holds });
                    }
                    self.bounded(part, op, bound, &known, depth)
                };
                branch(yes, true).and(&branch(no, false))
            }
            ExprKind::Convert(operand) => self.of_type(operand.ty, op, bound),
            _ => Formula::False,
        }
    }

    /// What a comparison says of the value, if it is one of its sides.
    fn by_fact(
        &self,
        value: &Expr,
        fact: Fact<'_>,
        op: CompareOp,
        bound: &Affine,
        facts: &[Fact<'_>],
        depth: u32,
    ) -> Formula {
        let holding = if fact.holds { fact.op } else { negated(fact.op) };
        let (holding, other) = match (self.is_same(value, fact.left), self.is_same(value, fact.right)) {
            (true, _) => (holding, fact.right),
            (false, true) => (holding.mirrored(), fact.left),
            (false, false) => return Formula::False,
        };
        let slack = match (holding, op) {
            (CompareOp::Ge | CompareOp::Eq, CompareOp::Ge) | (CompareOp::Le | CompareOp::Eq, CompareOp::Le) => 0,
            // One more than the other side, one less: then the other side may miss the bound by one.
            (CompareOp::Gt, CompareOp::Ge) => -1,
            (CompareOp::Lt, CompareOp::Le) => 1,
            _ => return Formula::False,
        };
        let Ok(bound) = bound.add_constant(slack) else { return Formula::False };
        // The fact has said what it can: without it there is no way back here.
        let rest: Vec<Fact<'_>> = facts.iter().copied().filter(|it| !std::ptr::eq(it.left, fact.left)).collect();
        self.bounded(other, op, &bound, &rest, depth)
    }

    /// `mod(x, divisor)` with a positive divisor lies between 0 and `divisor - 1`; from 1 where it is not 0.
    fn remainder(&self, value: &Expr, divisor: &Expr, op: CompareOp, bound: &Affine, facts: &[Fact<'_>]) -> Formula {
        let Ok(divisor) = self.symbols.integer(divisor, self.site, self.under) else { return Formula::False };
        let is_zero = |fact: &Fact<'_>| {
            let zero = constant(fact.right) == Some(0);
            zero && fact.op == CompareOp::Eq && !fact.holds && self.is_definition(fact.left, value)
        };
        let least = Affine::constant(i64::from(facts.iter().any(is_zero)));
        divisor.holds(|divisor| {
            let positive = Formula::compare(CompareOp::Ge, divisor, &Affine::constant(1));
            let limited = match op {
                CompareOp::Ge => Formula::compare(CompareOp::Ge, &least, bound),
                _ => bound
                    .add_constant(1)
                    .map_or(Formula::False, |bound| Formula::compare(CompareOp::Le, divisor, &bound)),
            };
            positive.and(&limited)
        })
    }

    /// `x & mask` with a mask that is not negative lies between 0 and the mask.
    fn masked(&self, mask: &Expr, op: CompareOp, bound: &Affine) -> Formula {
        match constant(mask) {
            Some(mask) if mask >= 0 => within(0, mask, op, bound),
            Some(_) | None => Formula::False,
        }
    }

    /// `operand + added`, where neither end of the operand is so far out that the sum wraps around.
    fn moved(
        &self,
        operand: &Expr,
        added: i64,
        op: CompareOp,
        bound: &Affine,
        facts: &[Fact<'_>],
        depth: u32,
    ) -> Formula {
        let Ok(bound) = (if added.abs() > SMALL { Err(()) } else { bound.add_constant(-added).map_err(|_| ()) }) else {
            return Formula::False;
        };
        let (other, limit) = match op {
            CompareOp::Ge => (CompareOp::Le, SMALL),
            _ => (CompareOp::Ge, -SMALL),
        };
        let near = self.bounded(operand, op, &bound, facts, depth);
        near.and(&self.bounded(operand, other, &Affine::constant(limit), facts, depth))
    }

    /// What the type alone says.
    fn of_type(&self, ty: ScalarType, op: CompareOp, bound: &Affine) -> Formula {
        let (least, most) = match ty {
            ScalarType::Bool => (0, 1),
            ScalarType::U8 => (0, u8::MAX.into()),
            ScalarType::U16 => (0, u16::MAX.into()),
            ScalarType::U32 => (0, u32::MAX.into()),
            ScalarType::I8 => (i8::MIN.into(), i8::MAX.into()),
            ScalarType::I16 => (i16::MIN.into(), i16::MAX.into()),
            ScalarType::I32 => (i32::MIN.into(), i32::MAX.into()),
            ScalarType::I64 | ScalarType::U64 | ScalarType::F32 | ScalarType::F64 => return Formula::False,
        };
        within(least, most, op, bound)
    }

    /// Only a name that has one value wherever it is visible is recognised again.
    fn is_same(&self, a: &Expr, b: &Expr) -> bool {
        match (&a.kind, &b.kind) {
            (ExprKind::Local(a), ExprKind::Local(b)) if a == b => {
                match self.symbols.function.locals[a.0 as usize].role {
                    Role::Argument | Role::Iterator(_) | Role::Value(_) => true,
                    Role::Variable(_) => false,
                }
            }
            _ => false,
        }
    }

    fn definition(&self, local: LocalId) -> Option<&Expr> {
        self.values.definition(local)
    }

    /// Whether `expr` is the value, or a name for it.
    fn is_definition(&self, expr: &Expr, value: &Expr) -> bool {
        match expr.kind {
            ExprKind::Local(local) => self.definition(local).is_some_and(|definition| std::ptr::eq(definition, value)),
            _ => false,
        }
    }
}

/// What follows of a bound from constant limits.
fn within(least: i64, most: i64, op: CompareOp, bound: &Affine) -> Formula {
    let limit = if op == CompareOp::Ge { least } else { most };
    Formula::compare(op, &Affine::constant(limit), bound)
}

fn constant(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Constant(constant) => constant.as_integer().and_then(|value| i64::try_from(value).ok()),
        _ => None,
    }
}

fn negated(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
    }
}
