//! How many instances run below a loop, as an expression of sizes: what the decision for threads looks at.

use std::collections::BTreeMap;
use tessella_codegen::int_expr::{IntExpr, VariableId};
use tessella_codegen::leave::ENDLESS;
use tessella_codegen::program::{For, Node};

/// What a loop whose bounds are data is taken to run through.
const ROW: i64 = 8;

/// Expressions with more numbers and names than this say nothing to a reader, and take long themselves.
const MAX_TERMS: usize = 32;

/// What sizes are taken to be where two estimates are compared.
const TYPICAL: i64 = 1000;

/// The instances below a loop, at most; about as many where that would be an expression that nobody can read, and those of
/// one iteration where these are `enough`.
pub fn work_of(it: &For, enough: i64) -> IntExpr {
    let exact = trips(it, &mut Known::default());
    if terms(&exact) <= MAX_TERMS {
        return exact;
    }
    let Full { work, .. } = full_work_of(&it.body);
    if work.as_const().is_some_and(|work| work >= enough) {
        return work;
    }
    one_more(quotient(tidy(it.upper.clone().minus(it.lower.clone())), it.step)).times(work)
}

/// The numbers and names in an expression.
fn terms(expr: &IntExpr) -> usize {
    let mut count = 0;
    expr.walk(&mut |expr| {
        count += usize::from(matches!(expr, IntExpr::Const(_) | IntExpr::Param(_) | IntExpr::Variable(_)));
    });
    count
}

/// A number of instances or iterations, and about what it is.
struct Full {
    work: IntExpr,
    estimate: i64,
}

impl Full {
    fn of(count: i64) -> Full {
        Full { work: IntExpr::Const(count), estimate: count }
    }

    fn plus(self, other: Full) -> Full {
        Full { work: tidy(self.work.plus(other.work)), estimate: self.estimate.saturating_add(other.estimate) }
    }

    fn times(self, other: Full) -> Full {
        Full { work: self.work.times(other.work), estimate: self.estimate.saturating_mul(other.estimate) }
    }
}

/// The instances of nodes where tiles are full; of branches, those of the one with most.
fn full_work_of(nodes: &[Node]) -> Full {
    let each = nodes.iter().map(|node| match node {
        Node::For(inner) => full_trips(inner).times(full_work_of(&inner.body)),
        Node::Tile(inner) => full_trips(&inner.generic).times(full_work_of(&inner.generic.body)),
        Node::Statement(_) => Full::of(1),
        other => {
            let branches = other.blocks().into_iter().map(full_work_of);
            branches.max_by_key(|branch| branch.estimate).unwrap_or(Full::of(0))
        }
    });
    each.fold(Full::of(0), Full::plus)
}

/// The iterations of a loop over a tile's points, where it is full: the most between bounds that are a number apart, else those
/// between bounds that sizes give. 1 for other loops.
fn full_trips(it: &For) -> Full {
    if is_of_data(it) {
        return Full::of(ROW);
    }
    let lower = match &it.lower {
        IntExpr::Max(parts) => parts.as_slice(),
        other => std::slice::from_ref(other),
    };
    let upper = match &it.upper {
        IntExpr::Min(parts) => parts.as_slice(),
        other => std::slice::from_ref(other),
    };
    let apart = || upper.iter().flat_map(|upper| lower.iter().map(|lower| tidy(upper.clone().minus(lower.clone()))));
    if let Some(most) = apart().filter_map(|apart| apart.as_const()).max() {
        return Full::of(most.saturating_add(1).max(1));
    }
    let of_sizes = apart().filter(|apart| !apart.involves(&|_| true)).min_by_key(terms);
    of_sizes.map_or(Full::of(1), |apart| Full { work: one_more(apart), estimate: TYPICAL })
}

/// Whether only data say how many iterations there are.
fn is_of_data(it: &For) -> bool {
    it.clip.is_some() || (it.going.is_some() && it.upper.as_const().is_some_and(|upper| upper > ENDLESS))
}

/// What is known of the variables of the loops around.
#[derive(Default)]
struct Known {
    ranges: BTreeMap<VariableId, Range>,
    /// The points of a loop over points, in all strips together; the loop over strips then counts for one.
    points: BTreeMap<VariableId, IntExpr>,
}

/// The smallest and the largest value of a variable.
type Range = (IntExpr, IntExpr);

/// How many instances nodes run at most, each loop taken where it is longest.
fn instances(nodes: &[Node], known: &mut Known) -> IntExpr {
    let each = nodes.iter().map(|node| match node {
        Node::For(it) => trips(it, known),
        Node::Tile(it) => trips(&it.generic, known),
        Node::If { then, otherwise, .. } => instances(then, known).plus(instances(otherwise, known)),
        Node::Declare { body, .. } => instances(body, known),
        Node::Let { variable, value } => {
            let value = (end(value, End::Low, &known.ranges), end(value, End::High, &known.ranges));
            known.ranges.insert(*variable, value);
            IntExpr::Const(0)
        }
        Node::Statement(_) => IntExpr::Const(1),
        Node::Launch(_)
        | Node::Copy { .. }
        | Node::Spread(_)
        | Node::OneThread { .. }
        | Node::Together { .. }
        | Node::Turns(_)
        | Node::Barrier
        | Node::GridBarrier
        | Node::Await(_)
        | Node::Streaming(_) => IntExpr::Const(0),
    });
    each.fold(IntExpr::Const(0), IntExpr::plus)
}

fn trips(it: &For, known: &mut Known) -> IntExpr {
    let (lower, upper) = (end(&it.lower, End::Low, &known.ranges), end(&it.upper, End::High, &known.ranges));
    let count = match known.points.get(&it.variable) {
        _ if is_of_data(it) => IntExpr::Const(ROW),
        Some(points) => end(points, End::High, &known.ranges),
        None => match strip(it) {
            Some((points, count)) => {
                known.points.insert(points, count);
                IntExpr::Const(1)
            }
            None => tidy(one_more(quotient(tidy(upper.clone().minus(lower.clone())), it.step))),
        },
    };
    known.ranges.insert(it.variable, (lower, upper));
    count.times(instances(&it.body, known))
}

/// Of a loop over strips: the loop over its points, and how many points all strips together have.
///
/// ```text
/// for i0 in 0:fld(n - 3, 256) { .. for i1 in 0:min(255, n - 256*i0 - 3) { .. } }   ->   i1, n - 2
/// ```
fn strip(it: &For) -> Option<(VariableId, IntExpr)> {
    let mut here = it;
    while let [Node::For(inner)] = here.body.as_slice() {
        here = inner;
        let IntExpr::Min(parts) = &inner.upper else { continue };
        let size = parts.iter().find_map(IntExpr::as_const)?.checked_add(1)?;
        let factor = |expr: &IntExpr| {
            let (factors, rest) = expr.linear(&|variable| variable == it.variable)?;
            (factors.get(&it.variable) == Some(&-size)).then_some(rest)
        };
        let Some(last) = parts.iter().find_map(factor) else { continue };
        // From the first strip's first point to the last strip's last.
        let first = match &inner.lower {
            IntExpr::Max(parts) => parts.iter().find_map(factor)?,
            _ => IntExpr::Const(size).times(it.lower.clone()),
        };
        let count = tidy(one_more(last.minus(first)));
        return Some((inner.variable, count));
    }
    None
}

/// A sum with equal terms taken together: `n - 1 - j + 1` is `n - j`.
fn tidy(sum: IntExpr) -> IntExpr {
    let (mut terms, mut constant) = (vec![], 0);
    if collect(&sum, 1, &mut terms, &mut constant).is_none() {
        return sum;
    }
    let (plus, minus): (Vec<_>, Vec<_>) = terms.into_iter().partition(|(_, factor)| *factor > 0);
    let scaled = |(term, factor): (IntExpr, i64)| IntExpr::Const(factor.abs()).times(term);
    let all = plus.into_iter().map(scaled).fold(IntExpr::Const(0), IntExpr::plus);
    let all = minus.into_iter().filter(|(_, factor)| *factor != 0).map(scaled).fold(all, IntExpr::minus);
    all.plus(IntExpr::Const(constant))
}

/// The terms of a sum; `None` if a number is too large.
fn collect(expr: &IntExpr, factor: i64, terms: &mut Vec<(IntExpr, i64)>, constant: &mut i64) -> Option<()> {
    match expr {
        IntExpr::Const(value) => *constant = constant.checked_add(value.checked_mul(factor)?)?,
        IntExpr::Add(a, b) => {
            collect(a, factor, terms, constant)?;
            collect(b, factor, terms, constant)?;
        }
        IntExpr::Sub(a, b) => {
            collect(a, factor, terms, constant)?;
            collect(b, factor.checked_neg()?, terms, constant)?;
        }
        IntExpr::Neg(a) => collect(a, factor.checked_neg()?, terms, constant)?,
        IntExpr::Mul(by, a) if by.as_const().is_some() => {
            collect(a, factor.checked_mul(by.as_const()?)?, terms, constant)?;
        }
        other => match terms.iter_mut().find(|(term, _)| term == other) {
            Some((_, known)) => *known = known.checked_add(factor)?,
            None => terms.push((other.clone(), factor)),
        },
    }
    Some(())
}

/// A quotient of what is hardly ever negative; the way that C rounds will do.
fn quotient(expr: IntExpr, by: i64) -> IntExpr {
    match (expr, by) {
        (expr, 1) => expr,
        (IntExpr::Const(value), by) => IntExpr::Const(value / by),
        (expr, by) => IntExpr::Div(Box::new(expr), by),
    }
}

/// `expr + 1`, inside of a minimum.
fn one_more(expr: IntExpr) -> IntExpr {
    match expr {
        IntExpr::Min(parts) => IntExpr::min_of(parts.into_iter().map(one_more)),
        other => other.plus(IntExpr::Const(1)),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Low,
    High,
}

/// The smallest or largest value of an expression, variables taken for independent.
fn end(expr: &IntExpr, which: End, ranges: &BTreeMap<VariableId, Range>) -> IntExpr {
    let same = |expr: &IntExpr| end(expr, which, ranges);
    let other = |expr: &IntExpr| end(expr, if which == End::Low { End::High } else { End::Low }, ranges);
    match expr {
        IntExpr::Const(_) | IntExpr::Param(_) => expr.clone(),
        IntExpr::Variable(variable) => match ranges.get(variable) {
            Some((low, _)) if which == End::Low => low.clone(),
            Some((_, high)) => high.clone(),
            None => expr.clone(),
        },
        IntExpr::Add(a, b) => same(a).plus(same(b)),
        IntExpr::Sub(a, b) => same(a).minus(other(b)),
        IntExpr::Mul(a, b) => match (&**a, &**b) {
            (IntExpr::Const(by), it) | (it, IntExpr::Const(by)) if *by < 0 => IntExpr::Const(*by).times(other(it)),
            (a, b) => same(a).times(same(b)),
        },
        IntExpr::Neg(a) => other(a).negated(),
        IntExpr::FloorDiv(a, by) | IntExpr::Div(a, by) => quotient(same(a), *by),
        IntExpr::Mod(_, by) => IntExpr::Const(if which == End::Low { 0 } else { by - 1 }),
        // The number among them, where there is one: the others differ from it in tiles at the edge only.
        IntExpr::Max(parts) if which == End::Low => {
            parts.iter().find_map(IntExpr::as_const).map_or_else(|| same(&parts[0]), IntExpr::Const)
        }
        IntExpr::Min(parts) if which == End::High => IntExpr::min_of(parts.iter().map(same)),
        IntExpr::Min(parts) => same(&parts[0]),
        IntExpr::Max(parts) => IntExpr::max_of(parts.iter().map(same)),
        IntExpr::Select(_, yes, _) => same(yes),
        // Only launches have parts, and divide by what is not known.
        IntExpr::Parts(_, _, rows) => IntExpr::max_of([IntExpr::Const(1), same(rows)]),
        IntExpr::Quotient(all, _) => same(all),
    }
}
