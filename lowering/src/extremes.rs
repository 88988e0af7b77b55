//! What integers lie between: bounds that constants, types, sizes and arguments give.
//!
//! A variable lies between all that it is set to, and as far beyond as all steps together can move it:
//!
//! ```text
//! k = 0; at = 0                                     0 <= k <= 9
//! for p in 1:9 if x[p] > k; k += 1; at = p end end  0 <= at <= 9
//! ```

use crate::typed::{binary, both, compare, float, integer};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, Function, Local, LocalId, LoopId, Range, Role, StatementKind,
};
use tessella_polyhedral::algorithm::PARAM_LIMIT;
use tessella_scalar::{BinaryOp, CompareOp, ScalarType, UnaryOp};

/// Bounds are followed through so many names and operators.
const DEPTH: u32 = 24;
/// What may be looked at for one bound: names stand for expressions that hold names.
const LOOKED_AT: u32 = 2000;
/// The most that sizes and integer arguments are, of which a condition at entry makes sure.
const LARGEST: f64 = PARAM_LIMIT as f64;
/// A size that bounds are tried with.
const TYPICAL: f64 = 64.0;
/// Arithmetic of sizes that stays below this does not wrap around.
const SAFE: f64 = (1u64 << 61) as f64;

/// One end of what an integer lies between.
#[derive(Debug, Clone)]
pub(crate) enum End {
    Number(i128),
    Sizes(OfSizes),
}

/// An end that sizes and arguments give.
#[derive(Debug, Clone)]
pub(crate) struct OfSizes {
    /// A `Float64`.
    value: Expr,
    /// The same as an `Int64`, where that is affine.
    whole: Option<Expr>,
    /// The value for sizes and arguments of [`TYPICAL`].
    typical: f64,
    /// How far from zero it may be.
    most: f64,
}

/// What an integer lies between.
#[derive(Debug, Clone)]
pub(crate) struct Between {
    pub(crate) low: End,
    pub(crate) high: End,
    /// Whether an assigned variable is what is bounded, so that data may decide which of its values it has.
    pub(crate) varies: bool,
    /// The `Int64` arguments that ends are made of and that may hold anything: those that bound loops are limited anyway.
    pub(crate) arguments: BTreeSet<LocalId>,
}

/// A value that a variable is set to, and the loops around that.
struct Assigned<'a> {
    value: &'a Expr,
    loops: Vec<(LoopId, &'a Range)>,
}

/// What is known of a function's integers.
pub(crate) struct Extremes<'a> {
    function: &'a Function,
    /// What locals that are assigned once are set to.
    values: BTreeMap<LocalId, &'a Expr>,
    /// What iterators run through.
    ranges: BTreeMap<LocalId, &'a Range>,
    /// What variables are set to.
    assigned: BTreeMap<LocalId, Vec<Assigned<'a>>>,
    /// The arguments that bound loops.
    bounding: BTreeSet<LocalId>,
    left: Cell<u32>,
}

impl<'a> Extremes<'a> {
    pub(crate) fn new(function: &'a Function) -> Self {
        let mut extremes = Extremes {
            function,
            values: BTreeMap::new(),
            ranges: BTreeMap::new(),
            assigned: BTreeMap::new(),
            bounding: BTreeSet::new(),
            left: Cell::new(0),
        };
        extremes.learn(&function.body, &mut vec![]);
        let mut open: Vec<&Expr> = extremes.ranges.values().flat_map(|range| [&range.start, &range.stop]).collect();
        let mut seen = BTreeSet::new();
        while let Some(part) = open.pop() {
            if let ExprKind::Local(local) = part.kind
                && seen.insert(local)
            {
                open.extend(extremes.values.get(&local));
            }
            open.extend(part.operands());
        }
        extremes.bounding = seen.into_iter().filter(|&local| extremes.local(local).role == Role::Argument).collect();
        extremes
    }

    fn learn(&mut self, block: &'a Block, around: &mut Vec<(LoopId, &'a Range)>) {
        for statement in block {
            match &statement.kind {
                StatementKind::For { id, iterator, range, body, .. } => {
                    self.ranges.insert(*iterator, range);
                    around.push((*id, range));
                    self.learn(body, around);
                    around.pop();
                }
                StatementKind::If { then, otherwise, .. } => {
                    self.learn(then, around);
                    self.learn(otherwise, around);
                }
                StatementKind::Set { target, value, .. } => match self.local(*target).role {
                    Role::Value(_) => {
                        self.values.insert(*target, value);
                    }
                    Role::Variable(_) => {
                        let assigned = Assigned { value, loops: around.clone() };
                        self.assigned.entry(*target).or_default().push(assigned);
                    }
                    Role::Argument | Role::Iterator(_) => {}
                },
                StatementKind::Store { .. } | StatementKind::Allocate { .. } | StatementKind::Require { .. } => {}
            }
        }
    }

    pub(crate) fn local(&self, id: LocalId) -> &'a Local {
        &self.function.locals[id.0 as usize]
    }

    /// What a local that is assigned once is set to.
    pub(crate) fn value(&self, id: LocalId) -> Option<&'a Expr> {
        self.values.get(&id).copied()
    }

    /// The expression behind names.
    pub(crate) fn behind(&self, expr: &'a Expr) -> &'a Expr {
        let mut expr = expr;
        for _ in 0..DEPTH {
            match expr.kind {
                ExprKind::Local(local) => match self.values.get(&local) {
                    Some(value) => expr = value,
                    None => return expr,
                },
                _ => return expr,
            }
        }
        expr
    }

    /// What an integer lies between wherever it is evaluated; `None` where nothing better than an `Int64`'s limits is known. An `Int64` that
    /// sizes bound may pass them where it is added up: who asks has to look at [both ends](Between::is_of).
    pub(crate) fn between(&self, expr: &'a Expr) -> Option<Between> {
        self.left.set(LOOKED_AT);
        let found = self.computed(self.behind(expr), &[], DEPTH);
        let is_whole = |it: &Between| expr.ty == ScalarType::I64 || self.is_argument(expr) || it.is_of(expr.ty);
        found.filter(is_whole).or_else(|| of_type(expr.ty))
    }

    /// The iterations of all these loops inside one another, at most.
    pub(crate) fn times(&self, loops: &[&'a Range]) -> Option<End> {
        self.left.set(LOOKED_AT);
        self.trips(loops.iter().copied(), &[], DEPTH)
    }

    fn at(&self, expr: &'a Expr, open: &[LocalId], depth: u32) -> Option<Between> {
        let found = depth.checked_sub(1).zip(self.left.get().checked_sub(1)).and_then(|(depth, left)| {
            self.left.set(left);
            self.computed(expr, open, depth)
        });
        // What an argument holds is of its type, and no arithmetic.
        found.filter(|it| self.is_argument(expr) || it.is_of(expr.ty)).or_else(|| of_type(expr.ty))
    }

    fn is_argument(&self, expr: &Expr) -> bool {
        matches!(expr.kind, ExprKind::Local(local) if self.local(local).role == Role::Argument)
    }

    fn computed(&self, expr: &'a Expr, open: &[LocalId], depth: u32) -> Option<Between> {
        let of = |part: &'a Expr| self.at(part, open, depth);
        match &expr.kind {
            ExprKind::Constant(value) => value.as_integer().map(|value| numbers(value, value)),
            ExprKind::Size { .. } | ExprKind::First { .. } => Some(leaf(expr)),
            ExprKind::Local(local) => match self.local(*local).role {
                Role::Argument => match expr.ty {
                    ScalarType::U64 | ScalarType::Bool => None,
                    _ if self.bounding.contains(local) => Some(leaf(expr)),
                    ScalarType::I64 => Some(Between { arguments: BTreeSet::from([*local]), ..leaf(expr).only_data() }),
                    _ => Some(leaf(expr).only_data()),
                },
                Role::Iterator(_) => {
                    let range = self.ranges.get(local)?;
                    let (least, most) = ordered(range);
                    let (least, most) = (of(least)?, of(most)?);
                    Some(Between { low: least.low.clone(), high: most.high.clone(), ..least.with(&most) })
                }
                Role::Value(_) => of(self.values.get(local)?),
                Role::Variable(owner) => self.variable(*local, owner, open, depth),
            },
            ExprKind::Unary(UnaryOp::Neg, operand) => numbers(0, 0).minus(&of(operand)?),
            ExprKind::Binary(op, left, right) => self.combined(*op, left, right, open, depth),
            ExprKind::Select { yes, no, .. } | ExprKind::IfElse { yes, no, .. } => of(yes)?.or(&of(no)?),
            // The type of a range holds all its values.
            ExprKind::Convert(inner) | ExprKind::Wrap(inner) if !inner.ty.is_float() => of(inner),
            ExprKind::Convert(_)
            | ExprKind::Wrap(_)
            | ExprKind::Load { .. }
            | ExprKind::Unary(..)
            | ExprKind::Compare(..)
            | ExprKind::Call(..) => None,
        }
    }

    fn combined(&self, op: BinaryOp, left: &'a Expr, right: &'a Expr, open: &[LocalId], depth: u32) -> Option<Between> {
        let of = |part: &'a Expr| self.at(part, open, depth);
        let number = |part: &'a Expr| of(part)?.number();
        match op {
            BinaryOp::Add => of(left)?.plus(&of(right)?),
            BinaryOp::Sub => of(left)?.minus(&of(right)?),
            BinaryOp::Mul => of(left)?.product(&of(right)?),
            BinaryOp::Min => {
                let (left, right) = (of(left)?, of(right)?);
                let (low, high) = (left.low.least(&right.low), left.high.least(&right.high));
                Some(Between { low, high, ..left.with(&right) })
            }
            BinaryOp::Max => {
                let (left, right) = (of(left)?, of(right)?);
                let (low, high) = (left.low.largest(&right.low), left.high.largest(&right.high));
                Some(Between { low, high, ..left.with(&right) })
            }
            BinaryOp::DivTrunc | BinaryOp::DivFloor | BinaryOp::DivCeil => {
                let divisor = number(right).filter(|&it| it > 0)?;
                let of = of(left)?;
                Some(Between {
                    low: of.low.divided(op, divisor, false),
                    high: of.high.divided(op, divisor, true),
                    ..of
                })
            }
            BinaryOp::Mod => number(right).filter(|&it| it > 0).map(|divisor| numbers(0, divisor - 1)),
            BinaryOp::Rem => number(right).filter(|&it| it > 0).map(|divisor| numbers(1 - divisor, divisor - 1)),
            BinaryOp::ShiftRight => {
                let (low, high) = of(left)?.both_numbers()?;
                let count = number(right).filter(|it| (0..64).contains(it))?;
                Some(numbers(low >> count, high >> count))
            }
            BinaryOp::ShiftLeft => {
                let (low, high) = of(left)?.both_numbers()?;
                let count = number(right).filter(|it| (0..32).contains(it))?;
                Some(numbers(low.checked_mul(1 << count)?, high.checked_mul(1 << count)?))
            }
            BinaryOp::BitAnd => {
                let masks = [left, right].into_iter().filter_map(number).filter(|&mask| mask >= 0);
                masks.min().map(|mask| numbers(0, mask))
            }
            BinaryOp::Div
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftRightLogical
            | BinaryOp::AndAlso
            | BinaryOp::OrElse => None,
        }
    }

    /// What a variable lies between: all that it is set to, and what the steps of one iteration of its loop add to that. Of one that is made of
    /// itself in another way only its type is known.
    fn variable(&self, local: LocalId, owner: Option<LoopId>, open: &[LocalId], depth: u32) -> Option<Between> {
        if open.contains(&local) {
            return None;
        }
        let open: Vec<LocalId> = open.iter().copied().chain([local]).collect();
        let mut values: Option<Between> = None;
        let mut moved = numbers(0, 0);
        for Assigned { value, loops } in self.assigned.get(&local)? {
            let mut parts = vec![];
            choices(self.behind(value), &mut parts);
            for part in parts {
                let part = self.behind(part);
                if part.kind == ExprKind::Local(local) {
                    continue;
                }
                let Some(by) = self.step(local, part, &open, depth) else {
                    let value = self.at(part, &open, depth)?;
                    values = Some(match values {
                        None => value,
                        Some(others) => others.or(&value)?,
                    });
                    continue;
                };
                let inside = loops.iter().skip_while(|(id, _)| owner.is_some_and(|owner| owner != *id));
                let inside = inside.filter(|(id, _)| owner != Some(*id)).map(|(_, range)| *range);
                let times = self.trips(inside, &open, depth)?;
                let low = times.product(&by.low.least(&End::Number(0)))?;
                let high = times.product(&by.high.largest(&End::Number(0)))?;
                moved = moved.plus(&Between { low, high, ..by })?;
            }
        }
        let all = values?.plus(&moved)?;
        Some(Between { varies: true, ..all })
    }

    /// What an assignment of this value adds to the variable, if it steps it.
    fn step(&self, local: LocalId, value: &'a Expr, open: &[LocalId], depth: u32) -> Option<Between> {
        let ExprKind::Binary(op, left, right) = &value.kind else { return None };
        let of = |part: &'a Expr| self.at(part, open, depth);
        let rest = |part: &'a Expr| {
            let part = self.behind(part);
            if part.kind == ExprKind::Local(local) { Some(numbers(0, 0)) } else { self.step(local, part, open, depth) }
        };
        match op {
            BinaryOp::Add => match (rest(left), rest(right)) {
                (Some(before), None) => before.plus(&of(right)?),
                (None, Some(before)) => before.plus(&of(left)?),
                (Some(_), Some(_)) | (None, None) => None,
            },
            BinaryOp::Sub => rest(left)?.minus(&of(right)?),
            _ => None,
        }
    }

    fn trips(&self, loops: impl IntoIterator<Item = &'a Range>, open: &[LocalId], depth: u32) -> Option<End> {
        let mut all = End::Number(1);
        for range in loops {
            let (least, most) = ordered(range);
            let distance = self.at(most, open, depth)?.minus(&self.at(least, open, depth)?)?;
            let steps = distance.high.divided(BinaryOp::DivFloor, i128::from(range.step.unsigned_abs()), true);
            all = all.product(&steps.plus(&End::Number(1))?.largest(&End::Number(0)))?;
        }
        Some(all)
    }
}

/// What an expression chooses among.
fn choices<'a>(expr: &'a Expr, found: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::Select { yes, no, .. } | ExprKind::IfElse { yes, no, .. } => {
            choices(yes, found);
            choices(no, found);
        }
        _ => found.push(expr),
    }
}

impl Between {
    /// Whether values of this type hold all of it, so that what was computed has not wrapped around.
    pub(crate) fn is_of(&self, ty: ScalarType) -> bool {
        let (least, most) = ty.integer_limits();
        [&self.low, &self.high].into_iter().all(|end| match end {
            End::Number(value) => (least..=most).contains(value),
            End::Sizes(value) => ty == ScalarType::I64 && value.most <= SAFE,
        })
    }

    /// The same of an argument that is data, which integer comparisons would make a size.
    fn only_data(mut self) -> Between {
        for end in [&mut self.low, &mut self.high] {
            if let End::Sizes(it) = end {
                it.whole = None;
            }
        }
        self
    }

    /// Where both ends are one number, that.
    fn number(&self) -> Option<i128> {
        self.both_numbers().filter(|(low, high)| low == high).map(|(low, _)| low)
    }

    fn both_numbers(&self) -> Option<(i128, i128)> {
        match (&self.low, &self.high) {
            (End::Number(low), End::Number(high)) => Some((*low, *high)),
            _ => None,
        }
    }

    /// The ends of this one, and what both are made of.
    fn with(&self, other: &Between) -> Between {
        let arguments = self.arguments.union(&other.arguments).copied().collect();
        Between { varies: self.varies || other.varies, arguments, ..self.clone() }
    }

    /// Values of either.
    fn or(&self, other: &Between) -> Option<Between> {
        let (low, high) = (self.low.least(&other.low), self.high.largest(&other.high));
        Some(Between { low, high, ..self.with(other) })
    }

    fn plus(&self, other: &Between) -> Option<Between> {
        let (low, high) = (self.low.plus(&other.low)?, self.high.plus(&other.high)?);
        Some(Between { low, high, ..self.with(other) })
    }

    fn minus(&self, other: &Between) -> Option<Between> {
        let (low, high) = (self.low.minus(&other.high)?, self.high.minus(&other.low)?);
        Some(Between { low, high, ..self.with(other) })
    }

    fn product(&self, other: &Between) -> Option<Between> {
        let (low, high) = match (self.both_numbers(), other.both_numbers()) {
            (Some((a, b)), Some((c, d))) => {
                let corners = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
                let [first, rest @ ..] = corners;
                let (low, high) = rest.iter().fold((first, first), |(low, high), &it| (low.min(it), high.max(it)));
                (End::Number(low), End::Number(high))
            }
            (_, _) => {
                let (of, factor) = match (self.number(), other.number()) {
                    (Some(factor), _) => (other, factor),
                    (None, Some(factor)) => (self, factor),
                    (None, None) => return None,
                };
                let (one, another) = (of.low.times(factor)?, of.high.times(factor)?);
                if factor < 0 { (another, one) } else { (one, another) }
            }
        };
        Some(Between { low, high, ..self.with(other) })
    }
}

impl OfSizes {
    /// Whether it compares so with a limit for sizes as they come.
    pub(crate) fn is_likely(&self, op: CompareOp, limit: i128) -> bool {
        match op {
            CompareOp::Ge => self.typical >= limit as f64,
            _ => self.typical <= limit as f64,
        }
    }

    /// The comparison with a limit that a `Float64` holds.
    pub(crate) fn compared(&self, op: CompareOp, limit: i128, span: Span) -> Expr {
        match (&self.whole, i64::try_from(limit)) {
            (Some(whole), Ok(limit)) if self.most <= SAFE => compare(op, whole.clone(), integer(limit, span)),
            (_, _) => compare(op, self.value.clone(), float(limit as f64, span)),
        }
    }
}

/// A condition under which an argument is so small that arithmetic with it does not wrap around.
pub(crate) fn is_small(argument: LocalId, span: Span) -> Expr {
    let value = Expr { kind: ExprKind::Local(argument), ty: ScalarType::I64, span };
    let value = Expr { kind: ExprKind::Convert(Box::new(value)), ty: ScalarType::F64, span };
    let below = compare(CompareOp::Le, value.clone(), float(LARGEST, span));
    both(below, compare(CompareOp::Ge, value, float(-LARGEST, span)))
}

impl End {
    fn of_sizes(&self, span: Span) -> OfSizes {
        match self {
            End::Number(number) => {
                let value = *number as f64;
                let whole = i64::try_from(*number).ok().map(|number| integer(number, span));
                OfSizes { value: float(value, span), whole, typical: value, most: value.abs() }
            }
            End::Sizes(value) => value.clone(),
        }
    }

    /// As a `Float64`, at this place.
    pub(crate) fn to_float(&self, span: Span) -> Expr {
        self.of_sizes(span).value
    }

    fn combined(&self, other: &End, op: BinaryOp, numbers: fn(i128, i128) -> Option<i128>) -> Option<End> {
        let (one, another) = match (self, other) {
            (End::Number(one), End::Number(another)) => return numbers(*one, *another).map(End::Number),
            (End::Sizes(it), _) | (_, End::Sizes(it)) => (self.of_sizes(it.value.span), other.of_sizes(it.value.span)),
        };
        let (typical, most) = match op {
            BinaryOp::Add => (one.typical + another.typical, one.most + another.most),
            BinaryOp::Sub => (one.typical - another.typical, one.most + another.most),
            BinaryOp::Min => (one.typical.min(another.typical), one.most.max(another.most)),
            _ => (one.typical.max(another.typical), one.most.max(another.most)),
        };
        let whole = one.whole.zip(another.whole).map(|(one, another)| binary(op, one, another));
        Some(End::Sizes(OfSizes { value: binary(op, one.value, another.value), whole, typical, most }))
    }

    fn plus(&self, other: &End) -> Option<End> {
        match (self, other) {
            (it, End::Number(0)) | (End::Number(0), it) => Some(it.clone()),
            (_, _) => self.combined(other, BinaryOp::Add, i128::checked_add),
        }
    }

    fn minus(&self, other: &End) -> Option<End> {
        match other {
            End::Number(0) => Some(self.clone()),
            _ => self.combined(other, BinaryOp::Sub, i128::checked_sub),
        }
    }

    fn least(&self, other: &End) -> End {
        self.combined(other, BinaryOp::Min, |a, b| Some(a.min(b))).unwrap_or_else(|| self.clone())
    }

    fn largest(&self, other: &End) -> End {
        self.combined(other, BinaryOp::Max, |a, b| Some(a.max(b))).unwrap_or_else(|| self.clone())
    }

    fn product(&self, other: &End) -> Option<End> {
        match (self, other) {
            (it, End::Number(factor)) | (End::Number(factor), it) => it.times(*factor),
            (End::Sizes(one), End::Sizes(another)) => {
                let value = binary(BinaryOp::Mul, one.value.clone(), another.value.clone());
                let (typical, most) = (one.typical * another.typical, one.most * another.most);
                Some(End::Sizes(OfSizes { value, whole: None, typical, most }))
            }
        }
    }

    fn times(&self, factor: i128) -> Option<End> {
        match (self, factor) {
            (End::Number(value), _) => value.checked_mul(factor).map(End::Number),
            (End::Sizes(_), 0) => Some(End::Number(0)),
            (End::Sizes(_), 1) => Some(self.clone()),
            (End::Sizes(it), _) => {
                let (by, span) = (factor as f64, it.value.span);
                let value = binary(BinaryOp::Mul, it.value.clone(), float(by, span));
                let factor = i64::try_from(factor).ok().map(|factor| integer(factor, span));
                let whole = it.whole.clone().zip(factor).map(|(of, factor)| binary(BinaryOp::Mul, of, factor));
                Some(End::Sizes(OfSizes { value, whole, typical: it.typical * by, most: it.most * by.abs() }))
            }
        }
    }

    /// The end of a quotient by a positive number: the upper one (`above`) or the lower one.
    fn divided(&self, op: BinaryOp, divisor: i128, above: bool) -> End {
        match self {
            End::Number(value) => End::Number(match op {
                BinaryOp::DivFloor => value.div_euclid(divisor),
                BinaryOp::DivCeil => -(-value).div_euclid(divisor),
                _ => value / divisor,
            }),
            End::Sizes(_) if divisor == 1 => self.clone(),
            End::Sizes(it) => {
                let span = it.value.span;
                let quotient = binary(BinaryOp::Div, it.value.clone(), float(divisor as f64, span));
                // However it is rounded.
                let off = if above { 1.0 } else { -1.0 };
                let value = binary(BinaryOp::Add, quotient, float(off, span));
                let typical = it.typical / divisor as f64 + off;
                End::Sizes(OfSizes { value, whole: None, typical, most: it.most + 1.0 })
            }
        }
    }
}

/// The bounds of a range, the lower one first.
fn ordered(range: &Range) -> (&Expr, &Expr) {
    if range.step > 0 { (&range.start, &range.stop) } else { (&range.stop, &range.start) }
}

fn numbers(low: i128, high: i128) -> Between {
    Between { low: End::Number(low), high: End::Number(high), varies: false, arguments: BTreeSet::new() }
}

/// A size or an argument itself.
fn leaf(expr: &Expr) -> Between {
    let as_type = |ty| Expr { kind: ExprKind::Convert(Box::new(expr.clone())), ty, span: expr.span };
    let whole = if expr.ty == ScalarType::I64 { expr.clone() } else { as_type(ScalarType::I64) };
    let (value, whole) = (as_type(ScalarType::F64), Some(whole));
    let end = End::Sizes(OfSizes { value, whole, typical: TYPICAL, most: LARGEST });
    Between { low: end.clone(), high: end, varies: false, arguments: BTreeSet::new() }
}

/// What the type alone says.
fn of_type(ty: ScalarType) -> Option<Between> {
    let (least, most) = ty.integer_limits();
    let is_known = ty == ScalarType::Bool || ty.is_integer() && ty.bytes() < 8;
    is_known.then(|| numbers(least, most))
}
