//! Counters in arrays of narrow integers: `counts[b[i]] += 1` with `counts::Vector{Int32}`.
//!
//! Julia adds in `Int64`s and converts what it stores, which raises `InexactError` once a counter is full. How full they will be
//! is not known at entry, but how often they are counted up at most is. Where that fits, no conversion fails; where it may not,
//! the original function has to run.
//!
//! ```text
//!                                      for e in eachindex(counts)
//! for i in 1:n                             require counts[e] + n <= typemax(Int32)
//!     require counts[b[i]] + 1 fits   ->   end
//!     counts[b[i]] += 1                for i in 1:n
//! end                                      counts[b[i]] += 1
//! ```

use crate::extremes::Extremes;
use crate::typed::{binary, both, compare, float, integer};
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, Firsts, Function, Local, LocalId, LoopId, LoopMode, NamedBy, Range, Requirement, Role,
    SizeError, Statement, StatementKind, Type,
};
use tessella_scalar::{BinaryOp, CompareOp, ScalarType};

/// The function with the conversions of its counters checked once, where that is possible.
pub(crate) fn rewrite(function: &Function) -> Function {
    let mut facts =
        Facts { extremes: Extremes::new(function), stores: BTreeMap::new(), sums: BTreeSet::new(), next_loop: 0 };
    facts.learn(&function.body, &mut vec![]);
    let mut rewritten = function.clone();
    let mut checks = vec![];
    let mut sums = BTreeSet::new();
    for (&array, stores) in &facts.stores {
        if let Some(limits) = facts.limits(array, stores)
            && let Some(check) = facts.check(array, &limits, &mut rewritten.locals)
        {
            sums.extend(stores.iter().filter_map(|stored| sum_of(stored.value)));
            checks.push(check);
        }
    }
    if checks.is_empty() {
        return rewritten;
    }
    facts.sums = sums;
    let body = facts.without_conversions(&function.body);
    rewritten.body = checks.into_iter().chain(body).collect();
    rewritten
}

/// A store: its value, and the loops around it.
struct Stored<'a> {
    value: &'a Expr,
    loops: Vec<&'a Range>,
}

struct Facts<'a> {
    extremes: Extremes<'a>,
    stores: BTreeMap<LocalId, Vec<Stored<'a>>>,
    /// What is stored in arrays of counters, before its conversion.
    sums: BTreeSet<LocalId>,
    /// A number that no loop has.
    next_loop: u32,
}

/// What an array's elements stay between, if they lie between these at entry or when they are stored.
struct Limits {
    /// How far all updates together move an element up, and down: `Float64`s.
    up: Expr,
    down: Expr,
    /// The constants that are stored.
    constants: Vec<i128>,
}

/// What a store does with an array of counters.
enum Update {
    Constant(i128),
    /// Adds something between these.
    Step(i128, i128),
}

impl<'a> Facts<'a> {
    fn learn(&mut self, block: &'a Block, around: &mut Vec<&'a Range>) {
        for statement in block {
            match &statement.kind {
                StatementKind::For { id, range, body, .. } => {
                    self.next_loop = self.next_loop.max(id.0 + 1);
                    around.push(range);
                    self.learn(body, around);
                    around.pop();
                }
                StatementKind::If { then, otherwise, .. } => {
                    self.learn(then, around);
                    self.learn(otherwise, around);
                }
                StatementKind::Store { array, value, .. } => {
                    self.stores.entry(*array).or_default().push(Stored { value, loops: around.clone() });
                }
                StatementKind::Set { .. } | StatementKind::Allocate { .. } | StatementKind::Require { .. } => {}
            }
        }
    }

    /// `None` unless all stores count, or store constants, and one of them has to be converted.
    fn limits(&self, array: LocalId, stores: &[Stored<'a>]) -> Option<Limits> {
        let Type::Array { element, .. } = self.extremes.local(array).ty else { return None };
        if !element.is_integer() || element == ScalarType::Bool || element.bytes() > 4 {
            return None;
        }
        let span = self.extremes.local(array).span;
        let mut limits = Limits { up: float(0.0, span), down: float(0.0, span), constants: vec![] };
        let mut converts = false;
        for stored in stores {
            match self.update(array, stored.value)? {
                Update::Constant(value) => limits.constants.push(value),
                Update::Step(least, most) => {
                    converts |= sum_of(stored.value).is_some();
                    let times = self.extremes.times(&stored.loops)?.to_float(span);
                    let moved = |by: i128| binary(BinaryOp::Mul, times.clone(), float(by as f64, span));
                    if most > 0 {
                        limits.up = binary(BinaryOp::Add, limits.up, moved(most));
                    }
                    if least < 0 {
                        limits.down = binary(BinaryOp::Add, limits.down, moved(-least));
                    }
                }
            }
        }
        converts.then_some(limits)
    }

    fn update(&self, array: LocalId, value: &'a Expr) -> Option<Update> {
        if let ExprKind::Constant(constant) = value.kind {
            return constant.as_integer().map(Update::Constant);
        }
        let sum = match sum_of(value) {
            Some(sum) => self.extremes.value(sum)?,
            // Of the element's type: it wraps around only where a counter is full.
            None => self.extremes.behind(value),
        };
        let (least, most) = self.step(array, sum)?;
        Some(Update::Step(least, most))
    }

    /// What is added to an element of the array, at least and at most.
    fn step(&self, array: LocalId, sum: &'a Expr) -> Option<(i128, i128)> {
        let ExprKind::Binary(op, left, right) = &sum.kind else { return None };
        let (left, right) = (self.extremes.behind(left), self.extremes.behind(right));
        let (op, added) = match (op, self.is_element(array, left), self.is_element(array, right)) {
            (BinaryOp::Add | BinaryOp::Sub, true, _) => (*op, right),
            (BinaryOp::Add, false, true) => (*op, left),
            (_, _, _) => return None,
        };
        let (least, most) = match &added.kind {
            ExprKind::Constant(constant) => (constant.as_integer()?, constant.as_integer()?),
            ExprKind::Convert(inner) if inner.ty == ScalarType::Bool => (0, 1),
            _ => return None,
        };
        let small = |value: i128| value.abs() < 1 << 53;
        let (least, most) = if op == BinaryOp::Sub { (-most, -least) } else { (least, most) };
        (small(least) && small(most)).then_some((least, most))
    }

    fn is_element(&self, array: LocalId, expr: &'a Expr) -> bool {
        match &expr.kind {
            ExprKind::Load { array: found, .. } => *found == array,
            ExprKind::Convert(inner) => self.is_element(array, self.extremes.behind(inner)),
            _ => false,
        }
    }

    /// The test of all elements at entry, or of none of an array that the function makes.
    fn check(&self, array: LocalId, limits: &Limits, locals: &mut Vec<Local>) -> Option<Statement> {
        let declared = self.extremes.local(array);
        let Type::Array { element, rank, form } = declared.ty else { return None };
        let span = declared.span;
        let (least, most) = element.integer_limits();
        let stays = |value: Expr| {
            let up = binary(BinaryOp::Add, value.clone(), limits.up.clone());
            let down = binary(BinaryOp::Sub, value, limits.down.clone());
            let below = compare(CompareOp::Le, up, float(most as f64, span));
            both(below, compare(CompareOp::Ge, down, float(least as f64, span)))
        };
        let constants = limits.constants.iter().map(|&value| stays(float(value as f64, span)));
        let mut iterators = vec![];
        let mut tests: Vec<Expr> = constants.collect();
        let is_argument = declared.role == Role::Argument;
        if is_argument {
            for axis in 0..rank {
                let iterator = LocalId(locals.len() as u32);
                let id = LoopId(self.next_loop + iterator.0);
                let (name, ty) = (format!("{}_at{}", declared.name, axis + 1), Type::Scalar(ScalarType::I64));
                locals.push(Local { name, named: NamedBy::Tessella, ty, role: Role::Iterator(id), span });
                iterators.push((id, iterator));
            }
            let subscripts = iterators.iter().map(|(_, iterator)| whole(ExprKind::Local(*iterator), span)).collect();
            let element_of = Expr { kind: ExprKind::Load { array, subscripts, inbounds: true }, ty: element, span };
            tests.push(stays(as_float(element_of)));
        }
        let condition = tests.into_iter().reduce(both)?;
        let text = format!("counting in `{}` may pass what an `{element}` holds", declared.name);
        let failure = Requirement { error: SizeError::Thrown, text };
        let mut statement = Statement { kind: StatementKind::Require { condition, failure }, span };
        for (axis, (id, iterator)) in (0..).zip(iterators) {
            let size = whole(ExprKind::Size { array, axis }, span);
            let range = match form.firsts {
                Firsts::One => Range { start: integer(1, span), step: 1, stop: size },
                Firsts::Free => {
                    let first = whole(ExprKind::First { array, axis }, span);
                    let end = binary(BinaryOp::Add, first.clone(), size);
                    let stop = binary(BinaryOp::Sub, end, integer(1, span));
                    Range { start: first, step: 1, stop }
                }
            };
            let mode = LoopMode::default();
            statement =
                Statement { kind: StatementKind::For { id, iterator, range, mode, body: vec![statement] }, span };
        }
        Some(statement)
    }

    /// The block without tests of what is stored in counters.
    fn without_conversions(&self, block: &Block) -> Block {
        // The test of a store stands right before it, and is made where the store is.
        let keep = |at: usize| match (&block[at].kind, block.get(at + 1).map(|next| &next.kind)) {
            (StatementKind::Require { condition, failure }, Some(StatementKind::Store { value, .. }))
                if failure.error == SizeError::Inexact =>
            {
                let counted = sum_of(value).filter(|sum| self.sums.contains(sum));
                !counted.is_some_and(|sum| is_of(condition, sum))
            }
            (_, _) => true,
        };
        let inside = |statement: &Statement| {
            let kind = match &statement.kind {
                StatementKind::For { id, iterator, range, mode, body } => {
                    let body = self.without_conversions(body);
                    StatementKind::For { id: *id, iterator: *iterator, range: range.clone(), mode: *mode, body }
                }
                StatementKind::If { condition, then, otherwise } => {
                    let [then, otherwise] = [then, otherwise].map(|block| self.without_conversions(block));
                    StatementKind::If { condition: condition.clone(), then, otherwise }
                }
                other => other.clone(),
            };
            Statement { kind, span: statement.span }
        };
        (0..block.len()).filter(|&at| keep(at)).map(|at| inside(&block[at])).collect()
    }
}

/// Whether a conjunction compares a local with limits, and nothing else.
fn is_of(condition: &Expr, sum: LocalId) -> bool {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::AndAlso, left, right) => is_of(left, sum) && is_of(right, sum),
        ExprKind::Compare(CompareOp::Ge | CompareOp::Le, value, limit) => {
            value.kind == ExprKind::Local(sum) && matches!(limit.kind, ExprKind::Constant(_))
        }
        _ => false,
    }
}

/// The name of what is stored once it is converted.
fn sum_of(value: &Expr) -> Option<LocalId> {
    match &value.kind {
        ExprKind::Wrap(sum) => match sum.kind {
            ExprKind::Local(local) => Some(local),
            _ => None,
        },
        _ => None,
    }
}

fn whole(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, ty: ScalarType::I64, span }
}

fn as_float(value: Expr) -> Expr {
    let span = value.span;
    Expr { kind: ExprKind::Convert(Box::new(value)), ty: ScalarType::F64, span }
}
