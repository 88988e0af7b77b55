//! Integer expressions and conditions of the loop program: bounds, indices, extents, guards.
//!
//! They are small enough to evaluate: the GPU launcher runs host loops with [`IntExpr::evaluate`].

use std::collections::BTreeMap;
use tessella_polyhedral::affine::{Affine, Atom, ParamId};
use tessella_polyhedral::stream::Parts;
use tessella_scalar::CompareOp;

/// Names an integer variable of a [`Program`](crate::program::Program): a loop's iterator or a bound constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(pub u32);

/// A 64-bit integer expression. The context of the program keeps all values far from overflow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntExpr {
    Const(i64),
    Param(ParamId),
    Variable(VariableId),
    Add(Box<IntExpr>, Box<IntExpr>),
    Sub(Box<IntExpr>, Box<IntExpr>),
    Mul(Box<IntExpr>, Box<IntExpr>),
    Neg(Box<IntExpr>),
    /// Rounded towards minus infinity; the divisor is positive.
    FloorDiv(Box<IntExpr>, i64),
    /// Exact, or of a non-negative dividend; the divisor is positive.
    Div(Box<IntExpr>, i64),
    /// The remainder of a division towards zero: the dividend is non-negative, or the result is compared to 0.
    Mod(Box<IntExpr>, i64),
    /// Of one or more.
    Min(Vec<IntExpr>),
    /// Of one or more.
    Max(Vec<IntExpr>),
    Select(Box<Cond>, Box<IntExpr>, Box<IntExpr>),
    /// Into how many parts a launch cuts its rows, given its columns of blocks and the rows; on the host.
    Parts(Parts, Box<IntExpr>, Box<IntExpr>),
    /// Rounded down; the dividend is not negative, and the divisor is positive.
    Quotient(Box<IntExpr>, Box<IntExpr>),
}

/// A condition on integers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cond {
    Const(bool),
    Compare(CompareOp, IntExpr, IntExpr),
    And(Vec<Cond>),
    Or(Vec<Cond>),
}

/// Values to evaluate expressions with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// By [`ParamId`].
    pub params: Vec<i64>,
    /// By [`VariableId`]; those not in scope are absent or `None`.
    pub variables: Vec<Option<i64>>,
}

impl Environment {
    pub fn new(params: Vec<i64>) -> Self {
        Self { params, variables: vec![] }
    }

    pub fn set(&mut self, variable: VariableId, value: i64) {
        let at = variable.0 as usize;
        if self.variables.len() <= at {
            self.variables.resize(at + 1, None);
        }
        self.variables[at] = Some(value);
    }
}

impl IntExpr {
    pub fn variable(variable: VariableId) -> Self {
        IntExpr::Variable(variable)
    }

    pub fn as_const(&self) -> Option<i64> {
        match self {
            IntExpr::Const(value) => Some(*value),
            _ => None,
        }
    }

    /// `self + other`, constants folded.
    pub fn plus(self, other: IntExpr) -> IntExpr {
        match (self, other) {
            (IntExpr::Const(a), IntExpr::Const(b)) if a.checked_add(b).is_some() => IntExpr::Const(a + b),
            (IntExpr::Const(0), other) => other,
            (it, IntExpr::Const(0)) => it,
            (it, IntExpr::Const(b)) if b < 0 && b != i64::MIN => it.minus(IntExpr::Const(-b)),
            (IntExpr::Const(a), other) => other.plus(IntExpr::Const(a)),
            (IntExpr::Add(x, y), IntExpr::Const(b)) if folds(&y, b) => x.plus(y.plus(IntExpr::Const(b))),
            (IntExpr::Sub(x, y), IntExpr::Const(b)) if folds(&y, b) => x.plus(IntExpr::Const(b).minus(*y)),
            (it, IntExpr::Neg(other)) => it.minus(*other),
            (IntExpr::Neg(it), other) => other.minus(*it),
            (it, other) => IntExpr::Add(Box::new(it), Box::new(other)),
        }
    }

    /// `self / other`, of numbers that are not negative and positive.
    pub fn over(self, other: IntExpr) -> IntExpr {
        match other {
            IntExpr::Const(divisor) => self.floor_div(divisor),
            other => IntExpr::Quotient(Box::new(self), Box::new(other)),
        }
    }

    /// `self - other`, constants folded.
    pub fn minus(self, other: IntExpr) -> IntExpr {
        match (self, other) {
            (IntExpr::Const(a), IntExpr::Const(b)) if a.checked_sub(b).is_some() => IntExpr::Const(a - b),
            (IntExpr::Const(0), other) => other.negated(),
            (it, IntExpr::Const(0)) => it,
            (it, IntExpr::Const(b)) if b < 0 && b != i64::MIN => it.plus(IntExpr::Const(-b)),
            (it, other) if it == other => IntExpr::Const(0),
            (IntExpr::Add(x, y), IntExpr::Const(b)) if folds(&y, b) => x.plus(y.minus(IntExpr::Const(b))),
            (IntExpr::Sub(x, y), IntExpr::Const(b)) if folds(&y, b) => x.minus(y.plus(IntExpr::Const(b))),
            (it, IntExpr::Neg(other)) => it.plus(*other),
            (it, other) => IntExpr::Sub(Box::new(it), Box::new(other)),
        }
    }

    /// `self * other`, constants folded; a constant factor comes first.
    pub fn times(self, other: IntExpr) -> IntExpr {
        match (self, other) {
            (IntExpr::Const(a), IntExpr::Const(b)) if a.checked_mul(b).is_some() => IntExpr::Const(a * b),
            (IntExpr::Const(0), _) | (_, IntExpr::Const(0)) => IntExpr::Const(0),
            (IntExpr::Const(1), it) | (it, IntExpr::Const(1)) => it,
            (IntExpr::Const(-1), it) | (it, IntExpr::Const(-1)) => it.negated(),
            (it, factor @ IntExpr::Const(_)) => IntExpr::Mul(Box::new(factor), Box::new(it)),
            (it, other) => IntExpr::Mul(Box::new(it), Box::new(other)),
        }
    }

    pub fn negated(self) -> IntExpr {
        match self {
            IntExpr::Const(value) if value != i64::MIN => IntExpr::Const(-value),
            IntExpr::Neg(inner) => *inner,
            IntExpr::Sub(a, b) => b.minus(*a),
            other => IntExpr::Neg(Box::new(other)),
        }
    }

    /// `floor(self / divisor)`, `divisor > 0`.
    pub fn floor_div(self, divisor: i64) -> IntExpr {
        match (self, divisor) {
            (it, 1) => it,
            (IntExpr::Const(value), divisor) => IntExpr::Const(value.div_euclid(divisor)),
            (it, divisor) => IntExpr::FloorDiv(Box::new(it), divisor),
        }
    }

    /// The largest; nested and equal ones are merged.
    pub fn max_of(all: impl IntoIterator<Item = IntExpr>) -> IntExpr {
        extremum(all, IntExpr::Max, i64::max, |expr| match expr {
            IntExpr::Max(inner) => Ok(inner),
            other => Err(other),
        })
    }

    /// The smallest; nested and equal ones are merged.
    pub fn min_of(all: impl IntoIterator<Item = IntExpr>) -> IntExpr {
        extremum(all, IntExpr::Min, i64::min, |expr| match expr {
            IntExpr::Min(inner) => Ok(inner),
            other => Err(other),
        })
    }

    /// An affine expression whose iterator `k` is `iterators[k]`; positive terms come first.
    pub fn from_affine(affine: &Affine, iterators: &[IntExpr]) -> IntExpr {
        let term = |atom: &Atom, factor: i64| {
            let value = match atom {
                Atom::Iterator(position) => iterators[*position as usize].clone(),
                Atom::Param(param) => IntExpr::Param(*param),
                Atom::FloorDiv(inner, divisor) => IntExpr::from_affine(inner, iterators).floor_div(*divisor),
            };
            IntExpr::Const(factor).times(value)
        };
        let positive = affine.terms().iter().filter(|(_, factor)| *factor > 0);
        let negative = affine.terms().iter().filter(|(_, factor)| *factor < 0);
        let mut sum: Option<IntExpr> = None;
        for (atom, factor) in positive {
            let next = term(atom, *factor);
            sum = Some(match sum {
                Some(sum) => sum.plus(next),
                None => next,
            });
        }
        let mut rest = affine.constant_term();
        let mut sum = match sum {
            Some(sum) => sum,
            None => IntExpr::Const(std::mem::take(&mut rest)),
        };
        for (atom, factor) in negative {
            sum = match factor.checked_neg() {
                Some(factor) => sum.minus(term(atom, factor)),
                None => sum.plus(term(atom, *factor)),
            };
        }
        sum.plus(IntExpr::Const(rest))
    }

    /// The value; `None` if a variable has no value or 64 bits do not hold a part.
    pub fn evaluate(&self, with: &Environment) -> Option<i64> {
        let of = |expr: &IntExpr| expr.evaluate(with);
        match self {
            IntExpr::Const(value) => Some(*value),
            IntExpr::Param(param) => with.params.get(param.0 as usize).copied(),
            IntExpr::Variable(variable) => with.variables.get(variable.0 as usize).copied().flatten(),
            IntExpr::Add(a, b) => of(a)?.checked_add(of(b)?),
            IntExpr::Sub(a, b) => of(a)?.checked_sub(of(b)?),
            IntExpr::Mul(a, b) => of(a)?.checked_mul(of(b)?),
            IntExpr::Neg(a) => of(a)?.checked_neg(),
            IntExpr::FloorDiv(a, divisor) => of(a)?.checked_div_euclid(*divisor),
            IntExpr::Div(a, divisor) => of(a)?.checked_div(*divisor),
            IntExpr::Mod(a, divisor) => of(a)?.checked_rem(*divisor),
            IntExpr::Min(all) => all.iter().map(of).try_fold(i64::MAX, |least, next| Some(least.min(next?))),
            IntExpr::Max(all) => all.iter().map(of).try_fold(i64::MIN, |most, next| Some(most.max(next?))),
            IntExpr::Select(condition, yes, no) => of(if condition.evaluate(with)? { yes } else { no }),
            IntExpr::Parts(parts, columns, rows) => Some(parts.number(of(columns)?, of(rows)?)),
            IntExpr::Quotient(a, b) => of(a)?.checked_div(of(b)?),
        }
    }

    /// The expression with variables replaced, constants folded.
    pub fn substitute(&self, by: &dyn Fn(VariableId) -> Option<IntExpr>) -> IntExpr {
        match self {
            IntExpr::Variable(variable) => by(*variable).unwrap_or_else(|| self.clone()),
            _ => self.with_operands(&|operand| operand.substitute(by), &|condition| condition.substitute(by)),
        }
    }

    /// With divisions that round down, whatever the dividend is.
    pub fn rounded_down(&self) -> IntExpr {
        match self {
            IntExpr::Div(a, divisor) => a.rounded_down().floor_div(*divisor),
            _ => self.with_operands(&IntExpr::rounded_down, &Cond::rounded_down),
        }
    }

    fn with_operands(&self, of: &dyn Fn(&IntExpr) -> IntExpr, condition: &dyn Fn(&Cond) -> Cond) -> IntExpr {
        match self {
            IntExpr::Const(_) | IntExpr::Param(_) | IntExpr::Variable(_) => self.clone(),
            IntExpr::Add(a, b) => of(a).plus(of(b)),
            IntExpr::Sub(a, b) => of(a).minus(of(b)),
            IntExpr::Mul(a, b) => of(a).times(of(b)),
            IntExpr::Neg(a) => of(a).negated(),
            IntExpr::FloorDiv(a, divisor) => of(a).floor_div(*divisor),
            IntExpr::Div(a, divisor) => IntExpr::Div(Box::new(of(a)), *divisor),
            IntExpr::Mod(a, divisor) => IntExpr::Mod(Box::new(of(a)), *divisor),
            IntExpr::Min(all) => IntExpr::min_of(all.iter().map(of)),
            IntExpr::Max(all) => IntExpr::max_of(all.iter().map(of)),
            IntExpr::Select(choice, yes, no) => {
                IntExpr::Select(Box::new(condition(choice)), Box::new(of(yes)), Box::new(of(no)))
            }
            IntExpr::Parts(parts, columns, rows) => IntExpr::Parts(*parts, Box::new(of(columns)), Box::new(of(rows))),
            IntExpr::Quotient(a, b) => of(a).over(of(b)),
        }
    }

    /// The factors of the chosen variables and the rest of the expression, where they occur in sums and multiples only.
    pub fn linear(&self, chosen: &dyn Fn(VariableId) -> bool) -> Option<(BTreeMap<VariableId, i64>, IntExpr)> {
        let mut factors = BTreeMap::new();
        self.add_factors(chosen, 1, &mut factors)?;
        factors.retain(|_, factor| *factor != 0);
        Some((factors, self.substitute(&|variable| chosen(variable).then_some(IntExpr::Const(0)))))
    }

    fn add_factors(
        &self,
        chosen: &dyn Fn(VariableId) -> bool,
        times: i64,
        factors: &mut BTreeMap<VariableId, i64>,
    ) -> Option<()> {
        match self {
            IntExpr::Variable(variable) if chosen(*variable) => {
                let factor = factors.entry(*variable).or_insert(0);
                *factor = factor.checked_add(times)?;
                Some(())
            }
            IntExpr::Add(a, b) => {
                a.add_factors(chosen, times, factors)?;
                b.add_factors(chosen, times, factors)
            }
            IntExpr::Sub(a, b) => {
                a.add_factors(chosen, times, factors)?;
                b.add_factors(chosen, times.checked_neg()?, factors)
            }
            IntExpr::Neg(a) => a.add_factors(chosen, times.checked_neg()?, factors),
            IntExpr::Mul(a, b) => match (&**a, &**b) {
                (IntExpr::Const(by), it) | (it, IntExpr::Const(by)) => {
                    it.add_factors(chosen, times.checked_mul(*by)?, factors)
                }
                _ => (!self.involves(chosen)).then_some(()),
            },
            _ => (!self.involves(chosen)).then_some(()),
        }
    }

    /// Calls `visit` on the expression and all below it.
    pub fn walk(&self, visit: &mut dyn FnMut(&IntExpr)) {
        visit(self);
        match self {
            IntExpr::Const(_) | IntExpr::Param(_) | IntExpr::Variable(_) => {}
            IntExpr::Add(a, b)
            | IntExpr::Sub(a, b)
            | IntExpr::Mul(a, b)
            | IntExpr::Parts(_, a, b)
            | IntExpr::Quotient(a, b) => {
                a.walk(visit);
                b.walk(visit);
            }
            IntExpr::Neg(a) | IntExpr::FloorDiv(a, _) | IntExpr::Div(a, _) | IntExpr::Mod(a, _) => a.walk(visit),
            IntExpr::Min(all) | IntExpr::Max(all) => all.iter().for_each(|expr| expr.walk(visit)),
            IntExpr::Select(condition, yes, no) => {
                condition.walk(visit);
                yes.walk(visit);
                no.walk(visit);
            }
        }
    }

    /// Whether any of the variables occurs.
    pub fn involves(&self, test: &dyn Fn(VariableId) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |expr| found |= matches!(expr, IntExpr::Variable(variable) if test(*variable)));
        found
    }
}

impl Cond {
    /// The condition with variables replaced.
    pub fn substitute(&self, by: &dyn Fn(VariableId) -> Option<IntExpr>) -> Cond {
        self.with_operands(&|operand| operand.substitute(by))
    }

    /// With divisions that round down, whatever the dividend is.
    pub fn rounded_down(&self) -> Cond {
        self.with_operands(&IntExpr::rounded_down)
    }

    fn with_operands(&self, of: &dyn Fn(&IntExpr) -> IntExpr) -> Cond {
        match self {
            Cond::Const(_) => self.clone(),
            Cond::Compare(op, a, b) => Cond::Compare(*op, of(a), of(b)),
            Cond::And(all) => Cond::all_of(all.iter().map(|cond| cond.with_operands(of))),
            Cond::Or(all) => Cond::any_of(all.iter().map(|cond| cond.with_operands(of))),
        }
    }

    /// The condition's value; `None` as for [`IntExpr::evaluate`].
    pub fn evaluate(&self, with: &Environment) -> Option<bool> {
        match self {
            Cond::Const(value) => Some(*value),
            Cond::Compare(op, a, b) => {
                let (a, b) = (a.evaluate(with)?, b.evaluate(with)?);
                Some(match op {
                    CompareOp::Eq => a == b,
                    CompareOp::Ne => a != b,
                    CompareOp::Lt => a < b,
                    CompareOp::Le => a <= b,
                    CompareOp::Gt => a > b,
                    CompareOp::Ge => a >= b,
                })
            }
            // As in C, what is decided already hides the rest, whose value 64 bits may not hold.
            Cond::And(all) => {
                all.iter().try_fold(true, |sofar, cond| if sofar { cond.evaluate(with) } else { Some(false) })
            }
            Cond::Or(all) => {
                all.iter().try_fold(false, |sofar, cond| if sofar { Some(true) } else { cond.evaluate(with) })
            }
        }
    }

    /// A comparison; `a >= b + 1` is `a > b`, and so on.
    pub fn compare(op: CompareOp, a: IntExpr, b: IntExpr) -> Cond {
        let one = |it: &IntExpr| *it == IntExpr::Const(1);
        match (op, a, b) {
            (CompareOp::Ge, a, IntExpr::Add(b, by)) if one(&by) => Cond::Compare(CompareOp::Gt, a, *b),
            (CompareOp::Lt, a, IntExpr::Add(b, by)) if one(&by) => Cond::Compare(CompareOp::Le, a, *b),
            (CompareOp::Le, IntExpr::Add(a, by), b) if one(&by) => Cond::Compare(CompareOp::Lt, *a, b),
            (CompareOp::Gt, IntExpr::Add(a, by), b) if one(&by) => Cond::Compare(CompareOp::Ge, *a, b),
            (op, a, b) => Cond::Compare(op, a, b),
        }
    }

    /// All of them; nested conjunctions are merged.
    pub fn all_of(all: impl IntoIterator<Item = Cond>) -> Cond {
        let mut parts = vec![];
        for cond in all {
            match cond {
                Cond::Const(true) => {}
                Cond::Const(false) => return Cond::Const(false),
                Cond::And(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        match parts.len() {
            0 => Cond::Const(true),
            1 => parts.remove(0),
            _ => Cond::And(parts),
        }
    }

    /// Any of them; nested disjunctions are merged.
    pub fn any_of(all: impl IntoIterator<Item = Cond>) -> Cond {
        let mut parts = vec![];
        for cond in all {
            match cond {
                Cond::Const(false) => {}
                Cond::Const(true) => return Cond::Const(true),
                Cond::Or(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        match parts.len() {
            0 => Cond::Const(false),
            1 => parts.remove(0),
            _ => Cond::Or(parts),
        }
    }

    /// Whether any variable occurs.
    pub fn involves_variables(&self) -> bool {
        let mut found = false;
        self.walk(&mut |expr| found |= matches!(expr, IntExpr::Variable(_)));
        found
    }

    /// Calls `visit` on every expression below.
    pub fn walk(&self, visit: &mut dyn FnMut(&IntExpr)) {
        match self {
            Cond::Const(_) => {}
            Cond::Compare(_, a, b) => {
                a.walk(visit);
                b.walk(visit);
            }
            Cond::And(all) | Cond::Or(all) => all.iter().for_each(|cond| cond.walk(visit)),
        }
    }
}

/// Whether both are constants whose sum and difference surely fit.
fn folds(expr: &IntExpr, other: i64) -> bool {
    const LIMIT: i64 = i64::MAX / 2;
    expr.as_const().is_some_and(|value| value.abs_diff(0) < LIMIT as u64 && other.abs_diff(0) < LIMIT as u64)
}

fn extremum(
    all: impl IntoIterator<Item = IntExpr>,
    make: fn(Vec<IntExpr>) -> IntExpr,
    fold: fn(i64, i64) -> i64,
    open: fn(IntExpr) -> Result<Vec<IntExpr>, IntExpr>,
) -> IntExpr {
    let mut constant: Option<i64> = None;
    let mut parts: Vec<IntExpr> = vec![];
    for expr in all {
        for part in open(expr).unwrap_or_else(|single| vec![single]) {
            match part {
                IntExpr::Const(value) => constant = Some(constant.map_or(value, |sofar| fold(sofar, value))),
                other if parts.contains(&other) => {}
                other => parts.push(other),
            }
        }
    }
    if let Some(value) = constant {
        parts.insert(0, IntExpr::Const(value));
    }
    if parts.len() == 1 { parts.remove(0) } else { make(parts) }
}
