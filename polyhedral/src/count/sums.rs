//! Sums of counts over iterations of a loop that go the same way.
//!
//! One iteration runs with its variable as `value + slope * t`, and all that it computes is such a line. Each decision (the smaller of
//! two bounds, whether a condition holds, what a quotient is) holds up to some `t`, and the count is a polynomial in `t` up to the least of
//! these. Quotients by small numbers would change with each iteration: every so many iterations, their lines are as straight as the others, so
//! iterations that far apart are summed together.

use super::{Number, Run, Tree};
use crate::isl::AstOp;
use std::collections::BTreeSet;

/// Iterations of a loop from `first` on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest {
    pub(super) variable: usize,
    pub(super) first: i64,
    /// Inclusive.
    pub(super) last: i64,
    pub(super) step: i64,
    pub(super) period: i64,
}

/// A loop whose iterations go different ways is asked less and less often.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tries {
    failed: u32,
    wait: u32,
}

impl Tries {
    fn is_due(&mut self) -> bool {
        self.wait = self.wait.saturating_sub(1);
        self.wait == 0
    }

    fn succeeded(&mut self) {
        *self = Tries::default();
    }

    fn failed(&mut self) {
        self.failed = (self.failed + 1).min(MOST_FAILED);
        self.wait = 1 << self.failed;
    }
}

const MOST_FAILED: u32 = 10;
/// A shorter row of iterations gains nothing.
const FEW: i64 = 3;
/// The largest divisor whose remainders are waited for.
const LARGEST_PERIOD: i64 = 8;

/// After how many steps of a variable all quotients by small numbers are one line.
pub(super) fn period(body: &Tree) -> i64 {
    let mut divisors = BTreeSet::new();
    divisors_of(body, &mut divisors);
    let all = divisors.into_iter().try_fold(1, |all: i64, next| all.checked_mul(next / gcd(all, next)));
    all.filter(|&all| all <= LARGEST_PERIOD).unwrap_or(1)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn divisors_of(tree: &Tree, found: &mut BTreeSet<i64>) {
    let mut in_number = |number: &Number| divisors_in(number, found);
    match tree {
        Tree::One => {}
        Tree::All(all) => all.iter().for_each(|it| divisors_of(it, found)),
        Tree::If { condition, then, otherwise } => {
            in_number(condition);
            divisors_of(then, found);
            otherwise.iter().for_each(|it| divisors_of(it, found));
        }
        Tree::Loop { first, last, step, body, .. } => {
            in_number(first);
            in_number(last);
            if (2..=LARGEST_PERIOD).contains(step) {
                found.insert(*step);
            }
            divisors_of(body, found);
        }
    }
}

fn divisors_in(number: &Number, found: &mut BTreeSet<i64>) {
    let Number::Of(op, args) = number else { return };
    if is_division(*op)
        && let Some(Number::Constant(divisor @ 2..=LARGEST_PERIOD)) = args.get(1)
    {
        found.insert(*divisor);
    }
    args.iter().for_each(|it| divisors_in(it, found));
}

fn is_division(op: AstOp) -> bool {
    matches!(op, AstOp::Div | AstOp::FdivQ | AstOp::PdivQ | AstOp::PdivR | AstOp::ZdivR)
}

/// `value + slope * t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    value: i64,
    slope: i64,
}

impl Line {
    fn constant(value: i64) -> Line {
        Line { value, slope: 0 }
    }

    fn add(self, other: Line) -> Option<Line> {
        let (value, slope) = (self.value.checked_add(other.value)?, self.slope.checked_add(other.slope)?);
        Some(Line { value, slope })
    }

    fn times(self, factor: i64) -> Option<Line> {
        Some(Line { value: self.value.checked_mul(factor)?, slope: self.slope.checked_mul(factor)? })
    }

    fn sub(self, other: Line) -> Option<Line> {
        self.add(other.times(-1)?)
    }
}

/// A polynomial in `t`, its constant first.
#[derive(Debug, Clone, Copy)]
struct Polynomial {
    terms: [i128; TERMS],
    /// Those after so many are zero.
    used: usize,
}

const TERMS: usize = 8;

impl Polynomial {
    fn constant(value: i128) -> Polynomial {
        let mut terms = [0; TERMS];
        terms[0] = value;
        Polynomial { terms, used: 1 }
    }

    fn add(mut self, other: &Polynomial) -> Option<Polynomial> {
        self.used = self.used.max(other.used);
        for (own, other) in self.terms[..other.used].iter_mut().zip(other.terms) {
            *own = own.checked_add(other)?;
        }
        Some(self)
    }

    fn times(&self, line: Line) -> Option<Polynomial> {
        let mut product = Polynomial { used: self.used, ..Polynomial::constant(0) };
        if line.slope != 0 {
            product.used += 1;
            if product.used > TERMS {
                return None;
            }
        }
        for (at, term) in self.terms[..self.used].iter().enumerate() {
            product.terms[at] = product.terms[at].checked_add(term.checked_mul(line.value.into())?)?;
            if line.slope != 0 {
                product.terms[at + 1] = term.checked_mul(line.slope.into())?;
            }
        }
        Some(product)
    }

    fn at(&self, t: i128) -> Option<i128> {
        self.terms[..self.used].iter().rev().try_fold(0i128, |sum, term| sum.checked_mul(t)?.checked_add(*term))
    }

    /// The sum of the values at 0, 1 and so on up to `last`, by Newton's differences: `sum of d[k] * (last + 1 over k + 1)`.
    fn sum(&self, last: i64) -> Option<i128> {
        let mut differences = (0..self.used as i128).map(|t| self.at(t)).collect::<Option<Vec<i128>>>()?;
        let (count, mut sum, mut over) = (i128::from(last) + 1, 0i128, 1i128);
        for k in 0..self.used as i128 {
            over = over.checked_mul(count - k)? / (k + 1);
            sum = sum.checked_add(differences[0].checked_mul(over)?)?;
            differences = differences.windows(2).map(|it| it[1].checked_sub(it[0])).collect::<Option<_>>()?;
        }
        Some(sum)
    }
}

/// An iteration that stands for those after it.
struct Trace {
    /// By variable.
    lines: Vec<Line>,
    /// All decisions hold up to this `t`.
    last: i64,
}

impl Trace {
    /// Whether the line is not negative; that holds up to some `t`.
    fn is_natural(&mut self, line: Line) -> bool {
        let Line { value, slope } = line;
        let until = match value >= 0 {
            true if slope < 0 => value / slope.saturating_neg(),
            false if slope > 0 => (-1 - value) / slope,
            true | false => i64::MAX,
        };
        self.last = self.last.min(until);
        value >= 0
    }

    fn is_zero(&mut self, line: Line) -> bool {
        let Line { value, slope } = line;
        if slope == 0 {
            return value == 0;
        }
        if value == 0 {
            self.last = 0;
        } else if value % slope == 0 && (value < 0) != (slope < 0) {
            self.last = self.last.min((value / slope).saturating_neg() - 1);
        }
        value == 0
    }

    /// The quotient rounded down, of a constant positive divisor.
    fn quotient(&mut self, dividend: Line, divisor: Line) -> Option<Line> {
        let by = divisor.value;
        if divisor.slope != 0 || by <= 0 {
            return None;
        }
        let value = dividend.value.div_euclid(by);
        if dividend.slope % by == 0 {
            return Some(Line { value, slope: dividend.slope / by });
        }
        let rest = dividend.value.rem_euclid(by);
        let until =
            if dividend.slope > 0 { (by - 1 - rest) / dividend.slope } else { rest / dividend.slope.checked_neg()? };
        self.last = self.last.min(until);
        Some(Line::constant(value))
    }

    fn line(&mut self, number: &Number) -> Option<Line> {
        let (op, args) = match number {
            Number::Constant(value) => return Some(Line::constant(*value)),
            Number::Variable(variable) => return Some(self.lines[*variable]),
            Number::Of(op, args) => (*op, args),
        };
        let truth = |holds: bool| Some(Line::constant(i64::from(holds)));
        let mut of = |at: usize| self.line(args.get(at)?);
        match op {
            AstOp::And | AstOp::AndThen => {
                let holds = of(0)?.value != 0 && of(1)?.value != 0;
                truth(holds)
            }
            AstOp::Or | AstOp::OrElse => {
                let holds = of(0)?.value != 0 || of(1)?.value != 0;
                truth(holds)
            }
            AstOp::Max | AstOp::Min => {
                let sign = if op == AstOp::Max { 1 } else { -1 };
                let mut best = of(0)?;
                for arg in &args[1..] {
                    let other = self.line(arg)?;
                    // Of two that begin as one, the one that leads later.
                    let lead = other.sub(best)?.times(sign)?;
                    let (ahead, behind) = if (lead.value, lead.slope) > (0, 0) { (other, best) } else { (best, other) };
                    let holds = self.is_natural(ahead.sub(behind)?.times(sign)?);
                    debug_assert!(holds, "it is ahead at 0");
                    best = ahead;
                }
                Some(best)
            }
            AstOp::Minus => of(0)?.times(-1),
            AstOp::Add => of(0)?.add(of(1)?),
            AstOp::Sub => {
                let (from, what) = (of(0)?, of(1)?);
                from.sub(what)
            }
            AstOp::Mul => match (of(0)?, of(1)?) {
                (Line { value, slope: 0 }, line) | (line, Line { value, slope: 0 }) => line.times(value),
                _ => None,
            },
            AstOp::Div | AstOp::FdivQ | AstOp::PdivQ => {
                let (dividend, divisor) = (of(0)?, of(1)?);
                self.quotient(dividend, divisor)
            }
            AstOp::PdivR | AstOp::ZdivR => {
                let (dividend, divisor) = (of(0)?, of(1)?);
                dividend.sub(self.quotient(dividend, divisor)?.times(divisor.value)?)
            }
            AstOp::Cond | AstOp::Select => {
                let chosen = if of(0)?.value != 0 { 1 } else { 2 };
                of(chosen)
            }
            AstOp::Eq => {
                let apart = of(0)?.sub(of(1)?)?;
                truth(self.is_zero(apart))
            }
            AstOp::Le | AstOp::Gt => {
                let room = of(1)?.sub(of(0)?)?;
                truth(self.is_natural(room) == (op == AstOp::Le))
            }
            AstOp::Ge | AstOp::Lt => {
                let room = of(0)?.sub(of(1)?)?;
                truth(self.is_natural(room) == (op == AstOp::Ge))
            }
            AstOp::Call | AstOp::Access | AstOp::Member | AstOp::AddressOf => None,
        }
    }
}

impl Run {
    /// The counts of the first of these iterations that go the same way, and the value of the one after them. `None` where they
    /// are too few, or it was not asked.
    pub(super) fn sum(&mut self, rest: &Rest, body: &Tree) -> Option<(i128, i64)> {
        let left = i128::from(rest.last) - i128::from(rest.first);
        let rounds = i64::try_from(left / i128::from(rest.step) + 1).ok()? / rest.period;
        if rounds < FEW || !self.tries[rest.variable].is_due() {
            return None;
        }
        let summed = self.sum_rounds(rest, rounds, body);
        match summed {
            Some(_) => self.tries[rest.variable].succeeded(),
            None => self.tries[rest.variable].failed(),
        }
        summed
    }

    fn sum_rounds(&mut self, rest: &Rest, rounds: i64, body: &Tree) -> Option<(i128, i64)> {
        let slope = rest.step.checked_mul(rest.period)?;
        let mut trace = Trace { lines: vec![], last: rounds - 1 };
        let mut all = Polynomial::constant(0);
        for at in 0..rest.period {
            self.steps = self.steps.checked_sub(1)?;
            trace.lines.clear();
            trace.lines.extend(self.values.iter().map(|&value| Line::constant(value)));
            let value = rest.first.checked_add(rest.step.checked_mul(at)?)?;
            trace.lines[rest.variable] = Line { value, slope };
            all = all.add(&self.trace(&mut trace, body)?)?;
        }
        if trace.last + 1 < FEW {
            return None;
        }
        let next = rest.first.checked_add(slope.checked_mul(trace.last + 1)?)?;
        Some((all.sum(trace.last)?, next))
    }

    fn trace(&mut self, trace: &mut Trace, tree: &Tree) -> Option<Polynomial> {
        if trace.last + 1 < FEW {
            return None;
        }
        match tree {
            Tree::One => Some(Polynomial::constant(1)),
            Tree::All(all) => all.iter().try_fold(Polynomial::constant(0), |sum, it| sum.add(&self.trace(trace, it)?)),
            Tree::If { condition, then, otherwise } => match (trace.line(condition)?.value, otherwise) {
                (0, None) => Some(Polynomial::constant(0)),
                (0, Some(otherwise)) => self.trace(trace, otherwise),
                _ => self.trace(trace, then),
            },
            Tree::Loop { variable, first, last, step, is_named, body, .. } => {
                let (first, last) = (trace.line(first)?, trace.line(last)?);
                if *step <= 0 {
                    return None;
                }
                let apart = last.sub(first)?;
                if !trace.is_natural(apart) {
                    return Some(Polynomial::constant(0));
                }
                let times = trace.quotient(apart, Line::constant(*step))?.add(Line::constant(1))?;
                if !is_named {
                    return self.trace(trace, body)?.times(times);
                }
                if times.slope != 0 {
                    return None;
                }
                let mut sum = Polynomial::constant(0);
                let mut value = first;
                for _ in 0..times.value {
                    self.steps = self.steps.checked_sub(1)?;
                    trace.lines[*variable] = value;
                    sum = sum.add(&self.trace(trace, body)?)?;
                    value = value.add(Line::constant(*step))?;
                }
                Some(sum)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_polynomials_are_those_of_their_values() {
        let polynomial = Polynomial { terms: [3, -7, 0, 5, 2, 0, 0, 1], used: 8 };
        for last in [0, 1, 2, 7, 40] {
            let expected = (0..=i128::from(last)).map(|t| polynomial.at(t).unwrap()).sum();
            assert_eq!(polynomial.sum(last), Some(expected), "{last}");
        }
    }

    /// A decision holds as long as the trace says, and no longer where it says so of a whole number of steps.
    #[test]
    fn decisions_hold_up_to_where_they_change() {
        for value in -9..=9i64 {
            for slope in -4..=4i64 {
                let line = Line { value, slope };
                let at = |t: i64| value + slope * t;
                let check = |last: i64, now: &dyn Fn(i64) -> bool| {
                    assert!((0..=last.min(40)).all(|t| now(t) == now(0)), "{line:?} up to {last}");
                    assert!(last > 40 || now(last + 1) != now(0), "{line:?} after {last}");
                };
                let asked = |what: &dyn Fn(&mut Trace)| {
                    let mut trace = Trace { lines: vec![], last: i64::MAX };
                    what(&mut trace);
                    trace.last
                };
                check(asked(&|it| assert_eq!(it.is_natural(line), value >= 0)), &|t| at(t) >= 0);
                check(asked(&|it| assert_eq!(it.is_zero(line), value == 0)), &|t| at(t) == 0);
                let mut trace = Trace { lines: vec![], last: i64::MAX };
                let quotient = trace.quotient(line, Line::constant(3)).unwrap();
                check(trace.last, &|t| at(t).div_euclid(3) == quotient.value + quotient.slope * t);
            }
        }
    }
}
