//! How many integer points a set has.
//!
//! isl turns the set into loops that visit each point once. A loop whose body does not name its variable counts as its
//! number of iterations times the body. Of another, one iteration stands for those after it whose bounds and conditions come out the same way: their
//! counts are values of a polynomial, which is summed ([`sums`]). The others run. So boxes cost nothing, the volume of a triangle a few steps, and
//! that of a pyramid all but its two innermost loops. Where that takes long, axes go that the others determine, as the block and the thread
//! of an element are determined by its number.

mod sums;

use crate::error::Error;
use crate::isl::{AstBuild, AstExprView, AstNodeView, AstOp, DimType, Map, Set, UnionMap};
use std::collections::BTreeMap;

/// The number of points of a set without parameters; `None` if it is not bounded, or takes more than `steps` iterations to
/// tell. What is left of these stays in `steps`.
pub fn points(set: &Set, steps: &mut u64) -> Result<Option<u64>, Error> {
    if set.is_empty()? {
        return Ok(Some(0));
    }
    let flat = set.flatten()?.coalesce()?;
    if flat.tuple_dim()? == 0 {
        return Ok(Some(1));
    }
    if !flat.is_bounded()? {
        return Ok(None);
    }
    let count = |set: &Set, most: u64, steps: &mut u64| -> Result<Option<u64>, Error> {
        let mut left = most.min(*steps);
        let given = left;
        let count = loops_of(set)?.and_then(|it| it.count(&mut left));
        *steps -= given - left;
        Ok(count)
    };
    if let Some(all) = count(&flat, FEW, steps)? {
        return Ok(Some(all));
    }
    if let Some(fewer) = without_determined(&flat)? {
        return count(&fewer, u64::MAX, steps);
    }
    // Where what is touched moves on from launch to launch, the launches that touch an element are fewer to tell.
    if set.is_wrapping()?
        && let Some(all) = count(&set.unwrap()?.reverse()?.wrap()?.flatten()?.coalesce()?, MANY, steps)?
    {
        return Ok(Some(all));
    }
    count(&flat, u64::MAX, steps)
}

/// Iterations with the axes the other way around.
const MANY: u64 = 1 << 21;
/// Iterations after which a simpler set is looked for.
const FEW: u64 = 1 << 19;
/// Pieces of sets for which that is worth its time.
const PIECES: u32 = 4;

/// Loops of a set. Where isl breaks on its pieces ("total dimensionality changed unexpectedly"), of the same points with divisions made explicit, or
/// in disjoint pieces.
fn loops_of(set: &Set) -> Result<Option<Loops>, Error> {
    let is_broken = |loops: &Result<_, Error>| matches!(loops, Err(Error::Isl(error)) if error.is_broken());
    let mut loops = Loops::of(set);
    if is_broken(&loops) {
        loops = Loops::of(&set.compute_divs()?);
    }
    if is_broken(&loops) {
        loops = Loops::of(&set.make_disjoint()?);
    }
    loops
}

/// As many points along fewer axes: none that the others determine. `None` where each is needed, or it takes long to see.
fn without_determined(set: &Set) -> Result<Option<Set>, Error> {
    if set.basic_set_count()? > PIECES {
        return Ok(None);
    }
    let axes = set.tuple_dim()?;
    let mut set = set.clone();
    for axis in (0..axes).rev() {
        let count = set.tuple_dim()?;
        let others = Map::from_range(&set)?.move_dims(DimType::In, 0, DimType::Out, 0, axis)?;
        let this = others.move_dims(DimType::In, axis, DimType::Out, 1, count - axis - 1)?;
        if count > 1 && this.is_single_valued()? {
            set = set.project_out(DimType::Set, axis, 1)?;
        }
    }
    Ok(if set.tuple_dim()? < axes { Some(set.coalesce()?) } else { None })
}

/// Loops that visit each point of a set once.
struct Loops {
    tree: Tree,
    variables: usize,
}

impl Loops {
    /// Those of a bounded set of some axes; `None` for what isl does not make of a set.
    fn of(set: &Set) -> Result<Option<Loops>, Error> {
        let named = set.set_tuple_name("point")?;
        let order = named.identity()?.reset_tuple_id(DimType::Out)?;
        let build = AstBuild::new(set.ctx())?;
        let tree = build.node_from_schedule_map(&UnionMap::from_map(&order)?)?.view()?;
        let mut names = BTreeMap::new();
        let Some(tree) = read(&tree, &mut names) else { return Ok(None) };
        Ok(Some(Loops { tree, variables: names.len() }))
    }

    fn count(&self, steps: &mut u64) -> Option<u64> {
        let mut run = Run::new(self.variables, *steps);
        let count = run.count(&self.tree);
        *steps = run.steps;
        count.and_then(|count| u64::try_from(count).ok())
    }
}

/// Loops around the unit.
enum Tree {
    One,
    All(Vec<Tree>),
    Loop {
        variable: usize,
        first: Number,
        /// Inclusive.
        last: Number,
        step: i64,
        /// Whether the body names the variable.
        is_named: bool,
        /// After so many iterations, remainders in the body come back.
        period: i64,
        body: Box<Tree>,
    },
    If {
        condition: Number,
        then: Box<Tree>,
        otherwise: Option<Box<Tree>>,
    },
}

/// An expression; conditions are 0 or 1.
enum Number {
    Constant(i64),
    Variable(usize),
    Of(AstOp, Vec<Number>),
}

/// Loops as isl has them, the variables by number. `None` for what isl does not make of a set.
fn read(tree: &AstNodeView, names: &mut BTreeMap<String, usize>) -> Option<Tree> {
    Some(match tree {
        AstNodeView::User { .. } => Tree::One,
        AstNodeView::Mark { body, .. } => read(body, names)?,
        AstNodeView::Block(all) => Tree::All(all.iter().map(|it| read(it, names)).collect::<Option<_>>()?),
        AstNodeView::If { cond, then, otherwise } => Tree::If {
            condition: number(cond, names)?,
            then: Box::new(read(then, names)?),
            otherwise: match otherwise {
                Some(otherwise) => Some(Box::new(read(otherwise, names)?)),
                None => None,
            },
        },
        AstNodeView::For { iterator, init, cond, inc, degenerate, body, .. } => {
            let first = number(init, names)?;
            let next = names.len();
            let variable = *names.entry(iterator.clone()).or_insert(next);
            let (last, step) = if *degenerate {
                (number(init, names)?, 1)
            } else {
                let AstExprView::Int(step) = inc else { return None };
                (last_value(cond, variable, names)?, *step)
            };
            let body = Box::new(read(body, names)?);
            let (is_named, period) = (body.names(variable), sums::period(&body));
            Tree::Loop { variable, first, last, step, is_named, period, body }
        }
    })
}

/// The last value that a condition to go on allows.
fn last_value(cond: &AstExprView, variable: usize, names: &BTreeMap<String, usize>) -> Option<Number> {
    let AstExprView::Op(op, args) = cond else { return None };
    let [AstExprView::Id(name), bound] = args.as_slice() else { return None };
    if names.get(name) != Some(&variable) {
        return None;
    }
    let bound = number(bound, names)?;
    if *op == AstOp::Le {
        return Some(bound);
    }
    (*op == AstOp::Lt).then(|| Number::Of(AstOp::Sub, vec![bound, Number::Constant(1)]))
}

fn number(expr: &AstExprView, names: &BTreeMap<String, usize>) -> Option<Number> {
    Some(match expr {
        AstExprView::Int(value) => Number::Constant(*value),
        AstExprView::Id(name) => Number::Variable(*names.get(name)?),
        AstExprView::Op(op, args) => Number::Of(*op, args.iter().map(|arg| number(arg, names)).collect::<Option<_>>()?),
    })
}

impl Tree {
    fn names(&self, variable: usize) -> bool {
        match self {
            Tree::One => false,
            Tree::All(all) => all.iter().any(|it| it.names(variable)),
            Tree::Loop { first, last, body, .. } => {
                first.names(variable) || last.names(variable) || body.names(variable)
            }
            Tree::If { condition, then, otherwise } => {
                let otherwise = otherwise.as_ref().is_some_and(|it| it.names(variable));
                condition.names(variable) || then.names(variable) || otherwise
            }
        }
    }
}

impl Number {
    fn names(&self, variable: usize) -> bool {
        match self {
            Number::Constant(_) => false,
            Number::Variable(other) => *other == variable,
            Number::Of(_, args) => args.iter().any(|arg| arg.names(variable)),
        }
    }

    fn value(&self, values: &[i64]) -> Option<i64> {
        let (op, args) = match self {
            Number::Constant(value) => return Some(*value),
            Number::Variable(variable) => return Some(values[*variable]),
            Number::Of(op, args) => (*op, args),
        };
        let of = |at: usize| args.get(at)?.value(values);
        let truth = |holds: bool| Some(i64::from(holds));
        match op {
            AstOp::And | AstOp::AndThen => truth(of(0)? != 0 && of(1)? != 0),
            AstOp::Or | AstOp::OrElse => truth(of(0)? != 0 || of(1)? != 0),
            AstOp::Max => args.iter().map(|arg| arg.value(values)).try_fold(i64::MIN, |most, it| Some(most.max(it?))),
            AstOp::Min => args.iter().map(|arg| arg.value(values)).try_fold(i64::MAX, |least, it| Some(least.min(it?))),
            AstOp::Minus => of(0)?.checked_neg(),
            AstOp::Add => of(0)?.checked_add(of(1)?),
            AstOp::Sub => of(0)?.checked_sub(of(1)?),
            AstOp::Mul => of(0)?.checked_mul(of(1)?),
            AstOp::Div | AstOp::FdivQ | AstOp::PdivQ => floor_div(of(0)?, of(1)?),
            AstOp::PdivR | AstOp::ZdivR => of(0)?.checked_rem_euclid(of(1)?),
            AstOp::Cond | AstOp::Select => {
                if of(0)? != 0 {
                    of(1)
                } else {
                    of(2)
                }
            }
            AstOp::Eq => truth(of(0)? == of(1)?),
            AstOp::Le => truth(of(0)? <= of(1)?),
            AstOp::Lt => truth(of(0)? < of(1)?),
            AstOp::Ge => truth(of(0)? >= of(1)?),
            AstOp::Gt => truth(of(0)? > of(1)?),
            AstOp::Call | AstOp::Access | AstOp::Member | AstOp::AddressOf => None,
        }
    }
}

/// The quotient rounded down, of a positive divisor.
fn floor_div(dividend: i64, divisor: i64) -> Option<i64> {
    if divisor > 0 { Some(dividend.div_euclid(divisor)) } else { None }
}

struct Run {
    values: Vec<i64>,
    /// Iterations that may still be run.
    steps: u64,
    /// Of the loop of each variable: whether sums are worth a try.
    tries: Vec<sums::Tries>,
}

impl Run {
    fn new(variables: usize, steps: u64) -> Run {
        Run { values: vec![0; variables], steps, tries: vec![sums::Tries::default(); variables] }
    }

    fn count(&mut self, tree: &Tree) -> Option<i128> {
        match tree {
            Tree::One => Some(1),
            Tree::All(all) => all.iter().try_fold(0i128, |sum, it| sum.checked_add(self.count(it)?)),
            Tree::If { condition, then, otherwise } => match (condition.value(&self.values)?, otherwise) {
                (0, None) => Some(0),
                (0, Some(otherwise)) => self.count(otherwise),
                _ => self.count(then),
            },
            Tree::Loop { variable, first, last, step, is_named, period, body } => {
                let (first, last) = (first.value(&self.values)?, last.value(&self.values)?);
                if *step <= 0 || first > last {
                    return (*step > 0).then_some(0);
                }
                if !is_named {
                    let times = (i128::from(last) - i128::from(first)) / i128::from(*step) + 1;
                    return times.checked_mul(self.count(body)?);
                }
                let (mut sum, mut value) = (0i128, first);
                while value <= last {
                    let rest = sums::Rest { variable: *variable, first: value, last, step: *step, period: *period };
                    if let Some((count, next)) = self.sum(&rest, body) {
                        (sum, value) = (sum.checked_add(count)?, next);
                        continue;
                    }
                    self.steps = self.steps.checked_sub(1)?;
                    self.values[*variable] = value;
                    sum = sum.checked_add(self.count(body)?)?;
                    value = value.checked_add(*step)?;
                }
                Some(sum)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isl::Ctx;

    fn count(text: &str) -> Option<u64> {
        points(&Set::from_text(&Ctx::new(), text).unwrap(), &mut 1_000_000).unwrap()
    }

    #[test]
    fn boxes_of_any_size_are_counted() {
        assert_eq!(count("{ A[i, j] : 1 <= i <= 100000 and 0 <= j < 300000 }"), Some(30_000_000_000));
        assert_eq!(count("{ A[] }"), Some(1));
        assert_eq!(count("{ A[i] : 1 <= i <= 0 }"), Some(0));
    }

    #[test]
    fn triangles_strides_and_unions_are_counted_like_their_points() {
        for text in [
            "{ A[i, j, k] : 0 <= k < j < i < 23 }",
            "{ A[i, j] : 0 <= i < 40 and exists (e : j = 3e + i and 0 <= j < 50) }",
            "{ A[i, j] : 0 <= i < 17 and 0 <= j < 19; A[i, j] : 5 <= i < 30 and -4 <= j < 9; A[i, i] : 0 <= i < 90 }",
            "{ A[i, j] : 0 <= 2i + 3j < 57 and i - j <= 8 and j <= 11 and i >= -3 }",
            "{ [[t, i] -> A[x]] : 0 <= t < 9 and 0 <= i < 12 and i <= x <= i + 2t }",
            "{ A[i] : exists (e : i = 2e and 0 <= i < 31); A[i] : exists (e : i = 3e and 0 <= i < 31) }",
        ] {
            let set = Set::from_text(&Ctx::new(), text).unwrap();
            assert_eq!(points(&set, &mut 1_000_000).unwrap(), Some(set.points().unwrap().len() as u64), "{text}");
        }
    }

    /// Sets of three axes between random planes, some with remainders.
    #[test]
    fn random_sets_are_counted_like_their_points() {
        let mut state = 7u64;
        let mut random = |low: i64, high: i64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            low + ((state >> 33) as i64).rem_euclid(high - low + 1)
        };
        for _ in 0..300 {
            let most = random(8, 16);
            let mut all = vec![format!("0 <= i <= {most} and 0 <= j <= {most} and 0 <= k <= {most}")];
            for _ in 0..random(1, 3) {
                let [i, j, k] = [random(-3, 3), random(-3, 3), random(-2, 2)];
                let constant = random(-2 * most, 2 * most);
                all.push(format!("{i}i + {j}j + {k}k + {constant} >= 0"));
            }
            match random(0, 3) {
                0 => all.push(format!("(i + {}j + k) mod {} <= {}", random(-2, 2), random(2, 5), random(0, 2))),
                1 => all.push(format!("{0}*floor(j/{0}) <= i + {1}", random(2, 12), random(-4, 4))),
                _ => {}
            }
            let text = format!("{{ A[i, j, k] : {} }}", all.join(" and "));
            let set = Set::from_text(&Ctx::new(), &text).unwrap();
            let expected = set.points().unwrap().len() as u64;
            assert_eq!(points(&set, &mut 1_000_000).unwrap(), Some(expected), "{text}");
        }
    }

    /// The elements of a vector by block and thread; with an axis of which two values share a point's others.
    #[test]
    fn axes_that_others_determine_cost_nothing() {
        let by_thread = "(1 - i + 256b + t) mod 135168 = 0 and 0 < i <= 67108864 and 0 <= b <= 527 and 0 <= t <= 255";
        assert_eq!(count(&format!("{{ A[i, b, t] : {by_thread} }}")), Some(67_108_864));
        assert_eq!(count(&format!("{{ A[i, b, t, x] : {by_thread} and 0 <= x <= 1 }}")), Some(134_217_728));
    }

    /// Volumes by formulas, of sets whose loops are too many to run.
    #[test]
    fn bounds_that_come_out_the_same_way_are_summed() {
        assert_eq!(count("{ A[i, j] : 0 <= j <= i < 3000000 }"), Some(3_000_000 * 3_000_001 / 2));
        let n = 20_000;
        assert_eq!(count("{ A[i, j, k] : 0 <= k <= j <= i < 20000 }"), Some(n * (n + 1) * (n + 2) / 6));
        // The squares below n, three times, with what a union leaves out.
        let squares = "A[i, j, k] : 0 < i <= 2800 and 0 <= j < i - 1 and 0 <= k < i - 1";
        let rows = "A[i, j, k] : 0 < i <= 2800 and 0 <= j < i - 1 and k = i - 1";
        let columns = "A[i, j, k] : 0 < i <= 2800 and j = i - 1 and 0 <= k < i - 1";
        let all = (1..=2800u64).map(|i| (i - 1) * (i - 1) + 2 * (i - 1)).sum();
        assert_eq!(count(&format!("{{ {squares}; {rows}; {columns} }}")), Some(all));
        // Tiles of which the last ones are cut short, with two elements beside each.
        let tiles = "0 <= t and 0 <= u and 0 <= p < 32 and 0 <= q < 32 and 0 <= x < 6 and 0 <= y < 4";
        let within = "128t + 4p + x < 10000 and 16u + 2q + y < 10003 and q < 8";
        let along = |tile: u64, step: u64, size: u64, extent: u64, most: u64| -> u64 {
            (0..extent)
                .flat_map(|t| (0..most).map(move |p| t * tile + p * step))
                .map(|at| extent.saturating_sub(at).min(size))
                .sum()
        };
        let expected = along(128, 4, 6, 10_000, 32) * along(16, 2, 4, 10_003, 8);
        assert_eq!(count(&format!("{{ A[u, t, q, p, x, y] : {tiles} and {within} }}")), Some(expected));
        // Rows of 512 elements that have begun.
        let rows = (0..=2000u64).map(|i| (0..2000u64).filter(|e| e / 512 * 512 + 2 <= i).count() as u64).sum();
        assert_eq!(count("{ A[i, e] : i <= 2000 and 0 <= e < 2000 and 512*floor(e/512) <= i - 2 }"), Some(rows));
    }

    #[test]
    fn what_has_no_end_or_takes_too_long_is_not_counted() {
        assert_eq!(count("{ A[i] : i >= 0 }"), None);
        assert_eq!(count("{ A[i, j, k, l] : 0 <= l <= k <= j <= i <= 100000 }"), None);
    }

    #[test]
    fn counts_share_their_steps() {
        let pyramid = Set::from_text(&Ctx::new(), "{ A[i, j, k] : 0 <= k < j < i <= 60 }").unwrap();
        let mut steps = 200;
        assert_eq!(points(&pyramid, &mut steps).unwrap(), Some(35_990));
        assert!(0 < steps && steps < 100, "{steps}");
        assert_eq!(points(&pyramid, &mut steps).unwrap(), None);
        assert_eq!(steps, 0);
    }
}
