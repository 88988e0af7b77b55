//! The ranges of integer expressions.

use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::affine::ParamId;
use tessella_polyhedral::algorithm::ParamOrigin;

/// Whether every part of an expression must fit in 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width32 {
    Holds,
    Passes,
}

/// All values from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    low: i128,
    high: i128,
}

impl Range {
    pub(super) fn one(value: i64) -> Range {
        Range { low: value.into(), high: value.into() }
    }

    /// The values of a loop between two bounds; one without iterations has any.
    pub(super) fn between(lower: Option<Range>, upper: Option<Range>) -> Option<Range> {
        let (lower, upper) = (lower?, upper?);
        Some(Range { low: lower.low, high: upper.high.max(lower.low) })
    }

    pub(super) fn fits(&self) -> bool {
        // The least value has no opposite.
        self.low > i32::MIN.into() && self.high <= i32::MAX.into()
    }

    pub(super) fn plus(self, other: Range) -> Option<Range> {
        Some(Range { low: self.low.checked_add(other.low)?, high: self.high.checked_add(other.high)? })
    }

    fn negated(self) -> Option<Range> {
        Some(Range { low: self.high.checked_neg()?, high: self.low.checked_neg()? })
    }

    pub(super) fn times(self, other: Range) -> Option<Range> {
        let corners = [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)];
        let products = corners.map(|(a, b)| a.checked_mul(b));
        let mut all = products.into_iter().collect::<Option<Vec<i128>>>()?.into_iter();
        let first = all.next()?;
        Some(all.fold(Range { low: first, high: first }, |range, it| Range {
            low: range.low.min(it),
            high: range.high.max(it),
        }))
    }

    /// The values of both, and what lies between.
    pub(super) fn or(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What a function that never falls makes of it.
    fn map(self, rising: impl Fn(i128) -> i128) -> Range {
        Range { low: rising(self.low), high: rising(self.high) }
    }
}

/// What is known of parameters and variables.
#[derive(Clone)]
pub(super) struct Ranges {
    /// By [`ParamId`].
    params: Vec<Range>,
    variables: BTreeMap<VariableId, Range>,
    /// The parameters on which each variable's range depends.
    through: BTreeMap<VariableId, BTreeSet<ParamId>>,
}

impl Ranges {
    /// No parameter is further from zero than `limit`, and sizes are not negative.
    pub(super) fn new(input: &Input<'_>, limit: i64) -> Self {
        let high = i128::from(limit);
        let params = input.algorithm.params.iter().map(|param| match param.origin {
            ParamOrigin::Extent { .. } => Range { low: 0, high },
            ParamOrigin::First { .. } | ParamOrigin::Argument(_) | ParamOrigin::Derived(_) => {
                Range { low: -high, high }
            }
        });
        Self { params: params.collect(), variables: BTreeMap::new(), through: BTreeMap::new() }
    }

    /// The parameters on which an expression depends, through variables, too.
    pub(super) fn params_of(&self, expr: &IntExpr, into: &mut BTreeSet<ParamId>) {
        expr.walk(&mut |expr| match expr {
            IntExpr::Param(param) => drop(into.insert(*param)),
            IntExpr::Variable(variable) => into.extend(self.through.get(variable).into_iter().flatten()),
            _ => {}
        });
    }

    /// Gives a variable a range, which follows from these expressions.
    pub(super) fn set(&mut self, variable: VariableId, range: Option<Range>, from: &[&IntExpr]) {
        let mut params = BTreeSet::new();
        from.iter().for_each(|expr| self.params_of(expr, &mut params));
        self.through.insert(variable, params);
        match range {
            Some(range) => self.variables.insert(variable, range),
            None => self.variables.remove(&variable),
        };
    }

    /// The values that an expression may have; `None` if that is not known, or a part does not fit where it must.
    pub(super) fn of(&self, expr: &IntExpr, width: Width32) -> Option<Range> {
        let of = |expr: &IntExpr| self.of(expr, width);
        let range = match expr {
            IntExpr::Const(value) => Range::one(*value),
            IntExpr::Param(param) => *self.params.get(param.0 as usize)?,
            IntExpr::Variable(variable) => *self.variables.get(variable)?,
            IntExpr::Add(a, b) => of(a)?.plus(of(b)?)?,
            IntExpr::Sub(a, b) => of(a)?.plus(of(b)?.negated()?)?,
            IntExpr::Mul(a, b) => of(a)?.times(of(b)?)?,
            IntExpr::Neg(a) => of(a)?.negated()?,
            IntExpr::FloorDiv(a, divisor) => of(a)?.map(|value| value.div_euclid((*divisor).into())),
            IntExpr::Div(a, divisor) => of(a)?.map(|value| value / i128::from(*divisor)),
            IntExpr::Mod(a, divisor) => {
                let (dividend, most) = (of(a)?, i128::from(*divisor) - 1);
                Range { low: dividend.low.clamp(-most, 0), high: dividend.high.clamp(0, most) }
            }
            IntExpr::Min(all) => {
                let all = all.iter().map(of).collect::<Option<Vec<Range>>>()?;
                let (low, high) = (all.iter().map(|it| it.low).min()?, all.iter().map(|it| it.high).min()?);
                Range { low, high }
            }
            IntExpr::Max(all) => {
                let all = all.iter().map(of).collect::<Option<Vec<Range>>>()?;
                let (low, high) = (all.iter().map(|it| it.low).max()?, all.iter().map(|it| it.high).max()?);
                Range { low, high }
            }
            IntExpr::Select(test, yes, no) => {
                self.condition(test, width)?;
                of(yes)?.or(of(no)?)
            }
            IntExpr::Quotient(a, b) => {
                of(b)?;
                Range { low: 0, high: of(a)?.high.max(0) }
            }
            IntExpr::Parts(_, columns, rows) => {
                of(columns)?;
                Range { low: 1, high: of(rows)?.high.max(1) }
            }
        };
        let divisor = match expr {
            IntExpr::FloorDiv(_, divisor) | IntExpr::Div(_, divisor) | IntExpr::Mod(_, divisor) => *divisor,
            _ => 1,
        };
        match width {
            Width32::Holds => (range.fits() && Range::one(divisor).fits()).then_some(range),
            Width32::Passes => Some(range),
        }
    }

    /// `Some` if the range of each part of a condition is known, and fits where it must.
    pub(super) fn condition(&self, condition: &Cond, width: Width32) -> Option<()> {
        match condition {
            Cond::Const(_) => Some(()),
            Cond::Compare(_, a, b) => {
                self.of(a, width)?;
                self.of(b, width)?;
                Some(())
            }
            Cond::And(all) | Cond::Or(all) => all.iter().try_for_each(|it| self.condition(it, width)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::int_expr::Environment;
    use proptest::prelude::*;
    use tessella_scalar::CompareOp;

    fn expressions() -> impl Strategy<Value = IntExpr> {
        let leaf = prop_oneof![
            (-9..=9i64).prop_map(IntExpr::Const),
            (0..2u32).prop_map(|at| IntExpr::Param(ParamId(at))),
            (0..2u32).prop_map(|at| IntExpr::Variable(VariableId(at))),
        ];
        leaf.prop_recursive(4, 24, 3, |inner| {
            let two = (inner.clone(), inner.clone());
            let divided = (inner.clone(), 1..9i64);
            prop_oneof![
                two.clone().prop_map(|(a, b)| IntExpr::Add(Box::new(a), Box::new(b))),
                two.clone().prop_map(|(a, b)| IntExpr::Sub(Box::new(a), Box::new(b))),
                two.clone().prop_map(|(a, b)| IntExpr::Mul(Box::new(a), Box::new(b))),
                inner.clone().prop_map(|a| IntExpr::Neg(Box::new(a))),
                divided.clone().prop_map(|(a, by)| IntExpr::FloorDiv(Box::new(a), by)),
                divided.clone().prop_map(|(a, by)| IntExpr::Div(Box::new(a), by)),
                divided.prop_map(|(a, by)| IntExpr::Mod(Box::new(a), by)),
                prop::collection::vec(inner.clone(), 1..4).prop_map(IntExpr::Min),
                prop::collection::vec(inner.clone(), 1..4).prop_map(IntExpr::Max),
                (two.clone(), two).prop_map(|((a, b), (yes, no))| {
                    let test = Cond::Compare(CompareOp::Lt, a, b);
                    IntExpr::Select(Box::new(test), Box::new(yes), Box::new(no))
                }),
            ]
        })
    }

    fn within(ends: (i64, i64), at: u64) -> i64 {
        ends.0 + (at % (ends.1 - ends.0 + 1) as u64) as i64
    }

    fn ordered((a, b): (i64, i64)) -> (i64, i64) {
        (a.min(b), a.max(b))
    }

    proptest! {
        #[test]
        fn every_value_lies_in_the_range(
            expr in expressions(),
            ends in prop::collection::vec((-40..40i64, -40..40i64).prop_map(ordered), 4),
            at in prop::collection::vec(any::<u64>(), 4),
        ) {
            let range = |which: usize| Range { low: ends[which].0.into(), high: ends[which].1.into() };
            let mut ranges = Ranges { params: vec![range(0), range(1)], variables: BTreeMap::new(), through: BTreeMap::new() };
            ranges.set(VariableId(0), Some(range(2)), &[]);
            ranges.set(VariableId(1), Some(range(3)), &[]);
            let values: Vec<i64> = ends.iter().zip(&at).map(|(ends, at)| within(*ends, *at)).collect();
            let mut with = Environment::new(values[..2].to_vec());
            with.set(VariableId(0), values[2]);
            with.set(VariableId(1), values[3]);
            if let Some(value) = expr.evaluate(&with) {
                let range = ranges.of(&expr, Width32::Passes).unwrap();
                prop_assert!(range.low <= value.into() && range.high >= value.into(), "{value} is not in {range:?}");
            }
            if let Some(range) = ranges.of(&expr, Width32::Holds) {
                prop_assert!(range.fits());
                let mut parts = true;
                expr.walk(&mut |part| parts &= part.evaluate(&with).is_none_or(|value| i32::try_from(value).is_ok()));
                prop_assert!(parts, "a part passes 32 bits");
            }
        }
    }

    #[test]
    fn a_part_that_passes_32_bits_is_refused_though_the_whole_does_not() {
        let large = IntExpr::Mul(Box::new(IntExpr::Const(1 << 20)), Box::new(IntExpr::Const(1 << 20)));
        let ranges = Ranges { params: vec![], variables: BTreeMap::new(), through: BTreeMap::new() };
        let whole = IntExpr::Div(Box::new(large), 1 << 30);
        assert_eq!(ranges.of(&whole, Width32::Passes), Some(Range::one(1 << 10)));
        assert_eq!(ranges.of(&whole, Width32::Holds), None);
        assert_eq!(ranges.of(&IntExpr::Const(i32::MIN.into()), Width32::Holds), None, "it has no opposite");
        assert!(ranges.of(&IntExpr::Const(i32::MAX.into()), Width32::Holds).is_some());
    }
}
