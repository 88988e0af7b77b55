//! What a loop runs through where nothing cuts it short.

use crate::int_expr::{IntExpr, VariableId};
use std::collections::BTreeMap;
use tessella_polyhedral::affine::Affine;

/// What is known of variables: functions of parameters and of variables that the block runs through in step, both as
/// parameters, and of the ranges of loops inside, as iterators.
pub(crate) type Values = BTreeMap<VariableId, Affine>;

/// The longest loop whose bounds are looked at by their distance.
const STEPS: i64 = 64;

/// The most steps of a tile that are spelled out.
const UNROLLED: u32 = 8;

/// What a loop runs through where nothing cuts it short.
pub(crate) struct Span {
    pub(crate) low: IntExpr,
    pub(crate) high: IntExpr,
    /// The same, in terms of what the block runs through in step.
    pub(crate) ends: (Affine, Affine),
}

impl Span {
    /// Constants, or bounds that are so many steps apart wherever the block is: `4*t0 + 1` and `4*t0 + 4`.
    pub(crate) fn of(lower: &IntExpr, upper: &IntExpr, values: &Values) -> Option<Span> {
        if let (Some(low), Some(high)) = (constant(lower), constant(upper)) {
            let ends = (Affine::constant(low), Affine::constant(high));
            return (low <= high).then_some(Span { low: IntExpr::Const(low), high: IntExpr::Const(high), ends });
        }
        let fixed = |part: &IntExpr| affine(part, values).filter(|value| !value.involves_any_iterator());
        let mut shortest: Option<(i64, Span)> = None;
        for low in parts(lower, true) {
            for high in parts(upper, false) {
                let (Some(first), Some(last)) = (fixed(&low), fixed(&high)) else { continue };
                let Some(length) = last.sub(&first).ok().and_then(|length| length.as_constant()) else { continue };
                if (0..STEPS).contains(&length) && shortest.as_ref().is_none_or(|(least, _)| length < *least) {
                    shortest = Some((length, Span { low: low.clone(), high, ends: (first, last) }));
                }
            }
        }
        shortest.map(|(_, span)| span)
    }
}

/// The parts of both bounds that may cut the loop short, and whether each is one of the lower bound.
pub(crate) fn bounds(lower: &IntExpr, upper: &IntExpr, values: &Values) -> Vec<(IntExpr, bool)> {
    let low = parts(lower, true).into_iter().map(|it| (it, true));
    let high = parts(upper, false).into_iter().map(|it| (it, false));
    match Span::of(lower, upper, values) {
        // Constants cut such a loop like everything else.
        Some(span) if span.low.as_const().is_none() => {
            low.chain(high).filter(|(it, is_lower)| it != if *is_lower { &span.low } else { &span.high }).collect()
        }
        Some(_) | None => low.chain(high).filter(|(it, _)| it.as_const().is_none()).collect(),
    }
}

/// The iterations of a loop over the steps of a tile that nothing cuts short: then what threads do in each is known to the
/// compiler.
pub(crate) fn steps(lower: &IntExpr, upper: &IntExpr, values: &Values) -> Option<u32> {
    let span = Span::of(lower, upper, values)?;
    let whole = span.low == *lower && span.high == *upper && lower.as_const().is_none();
    let count = span.ends.1.sub(&span.ends.0).ok()?.as_constant()?.checked_add(1)?;
    u32::try_from(count).ok().filter(|count| whole && (2..=UNROLLED).contains(count))
}

/// What a lower bound is the largest of, or an upper bound the smallest.
pub(crate) fn parts(bound: &IntExpr, is_lower: bool) -> Vec<IntExpr> {
    match bound {
        IntExpr::Max(all) if is_lower => all.iter().flat_map(|it| parts(it, true)).collect(),
        IntExpr::Min(all) if !is_lower => all.iter().flat_map(|it| parts(it, false)).collect(),
        other => vec![other.clone()],
    }
}

/// The constant among the parts of a bound.
pub(crate) fn constant(bound: &IntExpr) -> Option<i64> {
    match bound {
        IntExpr::Const(value) => Some(*value),
        IntExpr::Min(all) | IntExpr::Max(all) => all.iter().find_map(IntExpr::as_const),
        _ => None,
    }
}

/// An expression of known variables; `None` for products, choices and what is not known.
pub(crate) fn affine(expr: &IntExpr, values: &Values) -> Option<Affine> {
    let of = |expr: &IntExpr| affine(expr, values);
    match expr {
        IntExpr::Const(value) => Some(Affine::constant(*value)),
        IntExpr::Param(param) => Some(Affine::param(*param)),
        IntExpr::Variable(variable) => values.get(variable).cloned(),
        IntExpr::Add(a, b) => of(a)?.add(&of(b)?).ok(),
        IntExpr::Sub(a, b) => of(a)?.sub(&of(b)?).ok(),
        IntExpr::Neg(a) => of(a)?.scale(-1).ok(),
        IntExpr::Mul(a, b) => match (a.as_const(), b.as_const()) {
            (Some(factor), _) => of(b)?.scale(factor).ok(),
            (None, Some(factor)) => of(a)?.scale(factor).ok(),
            (None, None) => None,
        },
        // Where the expression is evaluated, a division rounds down: it is exact, or of what is not negative.
        IntExpr::FloorDiv(a, divisor) | IntExpr::Div(a, divisor) => Some(of(a)?.floor_div(*divisor)),
        IntExpr::Mod(..)
        | IntExpr::Min(_)
        | IntExpr::Max(_)
        | IntExpr::Select(..)
        | IntExpr::Parts(..)
        | IntExpr::Quotient(..) => None,
    }
}
