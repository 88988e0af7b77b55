//! Conditions on iterators and parameters, and integers that are affine case by case, as plain data.
//!
//! Every [`Affine`] that enters has passed the magnitude check of [`crate::symbolic`], so that differences and
//! negations made here stay far inside 64 bits.

use tessella_polyhedral::affine::{Affine, Atom};
use tessella_polyhedral::isl::{Aff, IslError, Set, Space};
use tessella_scalar::CompareOp;

const IN_RANGE: &str = "the magnitude of every affine expression has been checked";

/// A quasi-affine condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Formula {
    True,
    False,
    /// The expression is at least 0.
    NonNegative(Affine),
    /// The expression is 0.
    Zero(Affine),
    All(Vec<Formula>),
    Any(Vec<Formula>),
}

impl Formula {
    pub(crate) fn non_negative(value: Affine) -> Self {
        match value.as_constant() {
            Some(value) if value >= 0 => Formula::True,
            Some(_) => Formula::False,
            None => Formula::NonNegative(value),
        }
    }

    pub(crate) fn zero(value: Affine) -> Self {
        match value.as_constant() {
            Some(0) => Formula::True,
            Some(_) => Formula::False,
            None => Formula::Zero(value),
        }
    }

    /// How many comparisons it has.
    pub(crate) fn size(&self) -> usize {
        match self {
            Formula::True | Formula::False => 0,
            Formula::NonNegative(_) | Formula::Zero(_) => 1,
            Formula::All(parts) | Formula::Any(parts) => parts.iter().map(Formula::size).sum(),
        }
    }

    /// `left op right`.
    pub(crate) fn compare(op: CompareOp, left: &Affine, right: &Affine) -> Self {
        let difference = |a: &Affine, b: &Affine| a.sub(b).expect(IN_RANGE);
        let less = |a: &Affine, b: &Affine| Formula::non_negative(difference(b, a).add_constant(-1).expect(IN_RANGE));
        match op {
            CompareOp::Eq => Formula::zero(difference(left, right)),
            CompareOp::Ne => Formula::any([less(left, right), less(right, left)]),
            CompareOp::Lt => less(left, right),
            CompareOp::Le => Formula::non_negative(difference(right, left)),
            CompareOp::Gt => less(right, left),
            CompareOp::Ge => Formula::non_negative(difference(left, right)),
        }
    }

    pub(crate) fn all(parts: impl IntoIterator<Item = Formula>) -> Self {
        let mut kept: Vec<Formula> = vec![];
        for part in parts {
            match part {
                Formula::True => {}
                Formula::False => return Formula::False,
                Formula::All(inner) => {
                    let fresh: Vec<_> = inner.into_iter().filter(|part| !kept.contains(part)).collect();
                    kept.extend(fresh);
                }
                other if kept.contains(&other) => {}
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Formula::True,
            1 => kept.swap_remove(0),
            _ => Formula::All(kept),
        }
    }

    pub(crate) fn any(parts: impl IntoIterator<Item = Formula>) -> Self {
        let mut kept: Vec<Formula> = vec![];
        for part in parts {
            match part {
                Formula::False => {}
                Formula::True => return Formula::True,
                Formula::Any(inner) => {
                    let fresh: Vec<_> = inner.into_iter().filter(|part| !kept.contains(part)).collect();
                    kept.extend(fresh);
                }
                other if kept.contains(&other) => {}
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Formula::False,
            1 => kept.swap_remove(0),
            _ => Formula::Any(kept),
        }
    }

    pub(crate) fn and(&self, other: &Formula) -> Self {
        Formula::all([self.clone(), other.clone()])
    }

    pub(crate) fn or(&self, other: &Formula) -> Self {
        Formula::any([self.clone(), other.clone()])
    }

    pub(crate) fn not(&self) -> Self {
        let negative = |value: &Affine| value.scale(-1).expect(IN_RANGE).add_constant(-1).expect(IN_RANGE);
        match self {
            Formula::True => Formula::False,
            Formula::False => Formula::True,
            Formula::NonNegative(value) => Formula::non_negative(negative(value)),
            Formula::Zero(value) => Formula::any([
                Formula::non_negative(value.add_constant(-1).expect(IN_RANGE)),
                Formula::non_negative(negative(value)),
            ]),
            Formula::All(parts) => Formula::any(parts.iter().map(Formula::not)),
            Formula::Any(parts) => Formula::all(parts.iter().map(Formula::not)),
        }
    }

    /// How many comparisons it is made of.
    pub(crate) fn comparisons(&self) -> usize {
        match self {
            Formula::True | Formula::False => 0,
            Formula::NonNegative(_) | Formula::Zero(_) => 1,
            Formula::All(parts) | Formula::Any(parts) => parts.iter().map(Formula::comparisons).sum(),
        }
    }

    /// Whether the condition holds at a point; never where a value there passes 64 bits.
    pub(crate) fn holds(&self, iterators: &[i64], params: &[i64]) -> bool {
        match self {
            Formula::True => true,
            Formula::False => false,
            Formula::NonNegative(value) => value.evaluate(iterators, params).is_some_and(|value| value >= 0),
            Formula::Zero(value) => value.evaluate(iterators, params) == Some(0),
            Formula::All(parts) => parts.iter().all(|part| part.holds(iterators, params)),
            Formula::Any(parts) => parts.iter().any(|part| part.holds(iterators, params)),
        }
    }

    /// Whether it is more than bounds of the given iterators: a loop over one of them would have gaps, or be several loops.
    pub(crate) fn divides(&self, is_given: &dyn Fn(u32) -> bool) -> bool {
        let involves =
            |value: &Affine| (0..value.iterator_count()).any(|it| is_given(it) && value.involves_iterator(it));
        let rounds = |value: &Affine| {
            value.terms().iter().any(|(atom, _)| matches!(atom, Atom::FloorDiv(rounded, _) if involves(rounded)))
        };
        match self {
            Formula::True | Formula::False => false,
            Formula::NonNegative(value) => rounds(value),
            Formula::Zero(value) => involves(value),
            Formula::All(parts) => parts.iter().any(|part| part.divides(is_given)),
            Formula::Any(parts) => parts.iter().any(|part| part.any_value(&involves)),
        }
    }

    /// The condition without those of its conjuncts that [divide](Self::divides).
    pub(crate) fn without_divided(&self, is_given: &dyn Fn(u32) -> bool) -> Formula {
        match self {
            Formula::All(parts) => Formula::all(parts.iter().map(|part| part.without_divided(is_given))),
            one if one.divides(is_given) => Formula::True,
            one => one.clone(),
        }
    }

    /// Whether one of its values is so.
    fn any_value(&self, is_so: &dyn Fn(&Affine) -> bool) -> bool {
        match self {
            Formula::True | Formula::False => false,
            Formula::NonNegative(value) | Formula::Zero(value) => is_so(value),
            Formula::All(parts) | Formula::Any(parts) => parts.iter().any(|part| part.any_value(is_so)),
        }
    }

    /// The points of the set space `space` that satisfy the condition.
    pub(crate) fn to_set(&self, space: &Space, params: &[String]) -> Result<Set, IslError> {
        match self {
            Formula::True => Set::universe(space),
            Formula::False => Set::empty(space),
            Formula::NonNegative(value) => value.to_isl(space, params)?.ge_set(&Aff::constant_on(space, 0)?),
            Formula::Zero(value) => value.to_isl(space, params)?.eq_set(&Aff::constant_on(space, 0)?),
            Formula::All(parts) => {
                parts.iter().try_fold(Set::universe(space)?, |set, part| set.intersect(&part.to_set(space, params)?))
            }
            Formula::Any(parts) => {
                parts.iter().try_fold(Set::empty(space)?, |set, part| set.union(&part.to_set(space, params)?))
            }
        }
    }
}

/// An integer that is one affine expression in each of several cases, which exclude each other and miss nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pieces(pub(crate) Vec<(Formula, Affine)>);

impl Pieces {
    pub(crate) fn single(value: Affine) -> Self {
        Pieces(vec![(Formula::True, value)])
    }

    /// The expression, if there is one case.
    pub(crate) fn as_single(&self) -> Option<&Affine> {
        match self.0.as_slice() {
            [(_, value)] => Some(value),
            _ => None,
        }
    }

    pub(crate) fn as_constant(&self) -> Option<i64> {
        self.as_single().and_then(Affine::as_constant)
    }

    /// `condition ? yes : no`.
    pub(crate) fn choose(condition: &Formula, yes: &Pieces, no: &Pieces) -> Self {
        let under = |condition: &Formula, pieces: &Pieces| -> Vec<(Formula, Affine)> {
            pieces.0.iter().map(|(case, value)| (condition.and(case), value.clone())).collect()
        };
        let mut cases = under(condition, yes);
        cases.extend(under(&condition.not(), no));
        cases.retain(|(case, _)| *case != Formula::False);
        Pieces(cases)
    }

    /// The condition that `test` makes of each case's expression.
    pub(crate) fn holds(&self, test: impl Fn(&Affine) -> Formula) -> Formula {
        Formula::any(self.0.iter().map(|(case, value)| case.and(&test(value))))
    }

    /// `self op other`.
    pub(crate) fn compare(op: CompareOp, left: &Pieces, right: &Pieces) -> Formula {
        left.holds(|left| right.holds(|right| Formula::compare(op, left, right)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_least(bound: i64) -> Formula {
        Formula::non_negative(Affine::iterator(0).add_constant(-bound).expect("small"))
    }

    #[test]
    fn constants_fold_and_duplicates_vanish() {
        assert_eq!(Formula::all([Formula::True, at_least(1), at_least(1)]), at_least(1));
        assert_eq!(Formula::all([Formula::False, at_least(1)]), Formula::False);
        assert_eq!(Formula::any([at_least(1), Formula::True]), Formula::True);
        assert_eq!(Formula::non_negative(Affine::constant(-1)), Formula::False);
    }

    #[test]
    fn negating_twice_gives_the_same_condition() {
        let both = Formula::all([at_least(1), at_least(5)]);
        assert_eq!(both.not().not(), both);
    }
}
