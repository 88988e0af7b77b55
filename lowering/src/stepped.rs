//! Variables that loops step: what they hold is a formula of the iterators, so that subscripts made of them are known.
//!
//! ```text
//! k = 0
//! for j in 1:n, i in 1:m          for j in 1:n, i in 1:m
//!     k += 1                 ->       y[i + m * (j - 1)] = A[i, j]
//!     y[k] = A[i, j]              end
//! end
//! ```
//!
//! A variable is followed through the function. What one iteration adds to it is found by running the body once with a symbol
//! for what it holds before; if that is the same in all iterations, or linear in the iterator, the values at the beginning of
//! each iteration and behind the loop follow. Where a variable is assigned under a condition, or anything else, it stays what it is.

mod blocks;
pub(crate) mod polynomial;

#[cfg(test)]
mod tests;

use crate::values::gives_scalar;
pub(crate) use blocks::reads;
use blocks::{loading, sets_any, targets, without};
use polynomial::{Atom, Polynomial};
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, Function, Local, LocalId, LoopId, Mode, NamedBy, Role, Statement, StatementKind, Type,
};
use tessella_scalar::{BinaryOp, ScalarType, UnaryOp};

/// The function with stepped variables written as formulas, where they are read and the formula is known.
pub(crate) fn rewrite(function: &Function) -> Function {
    let mut uses =
        Uses { function, loops: vec![], stepped: BTreeSet::new(), read: BTreeSet::new(), labelled: BTreeSet::new() };
    uses.block(&function.body);
    let replaced: BTreeSet<LocalId> =
        uses.stepped.intersection(&uses.read).copied().filter(|local| !uses.labelled.contains(local)).collect();
    if replaced.is_empty() {
        return function.clone();
    }
    let mut stepping = Stepping {
        locals: function.locals.clone(),
        labelled: uses.labelled,
        replaced,
        loops: vec![],
        hoisted: BTreeSet::new(),
    };
    let mut state = State::default();
    let body = stepping.block(&function.body, &mut state);
    let mut rewritten = Function { locals: stepping.locals.clone(), body, ..function.clone() };
    let mut read = BTreeSet::new();
    reads(&rewritten.body, &mut read);
    // What is loaded may be outside of its array even where nobody uses it.
    loading(&rewritten.body, &mut read);
    let mut dropped = BTreeSet::new();
    let mut last = vec![];
    for &local in stepping.replaced.iter().filter(|local| !read.contains(local)) {
        match (gives_scalar(&function.result, local), state.variables.get(&local)) {
            (false, _) => {}
            (true, Some(value)) => {
                let span = function.locals[local.0 as usize].span;
                let (value, mode) = (value.to_expr(span), Mode::default());
                last.push(Statement { kind: StatementKind::Set { target: local, value, label: None, mode }, span });
            }
            (true, None) => continue,
        }
        dropped.insert(local);
    }
    rewritten.body = without(&rewritten.body, &dropped);
    rewritten.body.extend(last);
    // Of the values that were noted for formulas, those that no formula needed.
    loop {
        let mut read = BTreeSet::new();
        reads(&rewritten.body, &mut read);
        loading(&rewritten.body, &mut read);
        let unused: BTreeSet<LocalId> = stepping.hoisted.difference(&read).copied().collect();
        if unused.is_empty() {
            return rewritten;
        }
        rewritten.body = without(&rewritten.body, &unused);
        stepping.hoisted = stepping.hoisted.difference(&unused).copied().collect();
    }
}

/// Which variables it is worth to follow.
struct Uses<'a> {
    function: &'a Function,
    loops: Vec<LoopId>,
    /// Those that a loop steps which they outlive.
    stepped: BTreeSet<LocalId>,
    /// Those that are read by anything but their own steps.
    read: BTreeSet<LocalId>,
    labelled: BTreeSet<LocalId>,
}

impl Uses<'_> {
    fn block(&mut self, block: &Block) {
        for statement in block {
            match &statement.kind {
                StatementKind::For { id, body, range, .. } => {
                    self.expr(&range.start, None);
                    self.expr(&range.stop, None);
                    self.loops.push(*id);
                    self.block(body);
                    self.loops.pop();
                }
                StatementKind::If { condition, then, otherwise } => {
                    self.expr(condition, None);
                    self.block(then);
                    self.block(otherwise);
                }
                StatementKind::Set { target, value, label, .. } => {
                    self.expr(value, Some(*target));
                    if label.is_some() {
                        self.labelled.insert(*target);
                    }
                    let local = &self.function.locals[target.0 as usize];
                    let is_carried = match local.role {
                        Role::Variable(owner) => !self.loops.is_empty() && owner != self.loops.last().copied(),
                        Role::Argument | Role::Iterator(_) | Role::Value(_) => false,
                    };
                    let reads_itself = |expr: &Expr| expr.kind == ExprKind::Local(*target);
                    let is_step = match &value.kind {
                        ExprKind::Binary(BinaryOp::Add, left, right) => reads_itself(left) || reads_itself(right),
                        ExprKind::Binary(BinaryOp::Sub, left, _) => reads_itself(left),
                        _ => false,
                    };
                    if is_carried && is_step && local.ty == Type::Scalar(ScalarType::I64) {
                        self.stepped.insert(*target);
                    }
                }
                StatementKind::Store { subscripts, value, .. } => {
                    subscripts.iter().chain([value]).for_each(|expr| self.expr(expr, None));
                }
                StatementKind::Allocate { extents, .. } => extents.iter().for_each(|extent| self.expr(extent, None)),
                StatementKind::Require { condition, .. } => self.expr(condition, None),
            }
        }
    }

    fn expr(&mut self, expr: &Expr, but: Option<LocalId>) {
        if let ExprKind::Local(local) = expr.kind
            && but != Some(local)
        {
            self.read.insert(local);
        }
        expr.operands().into_iter().for_each(|operand| self.expr(operand, but));
    }
}

/// What is known at a place of the function.
#[derive(Debug, Clone, Default)]
struct State {
    /// What variables hold.
    variables: BTreeMap<LocalId, Polynomial>,
    /// What values that are set once are, where that is more than their name says.
    values: BTreeMap<LocalId, Polynomial>,
}

impl State {
    /// What holds behind two branches.
    fn joined(self, other: &State) -> State {
        let both = |here: BTreeMap<LocalId, Polynomial>, there: &BTreeMap<LocalId, Polynomial>| {
            here.into_iter().filter(|(local, value)| there.get(local) == Some(value)).collect()
        };
        State { variables: both(self.variables, &other.variables), values: both(self.values, &other.values) }
    }
}

/// A loop around the present place.
struct Around {
    id: LoopId,
    iterator: LocalId,
    step: i64,
    start: Option<Polynomial>,
    stop: Option<Polynomial>,
}

/// What a loop makes of the variables.
struct Carried {
    /// At the beginning of an iteration.
    entry: State,
    after: State,
}

struct Stepping {
    locals: Vec<Local>,
    labelled: BTreeSet<LocalId>,
    /// Variables whose reads become formulas.
    replaced: BTreeSet<LocalId>,
    /// Outermost first.
    loops: Vec<Around>,
    /// Values that the source does not name.
    hoisted: BTreeSet<LocalId>,
}

impl Stepping {
    /// The block with formulas for the variables; the state becomes that behind it.
    fn block(&mut self, block: &Block, state: &mut State) -> Block {
        let mut rewritten = vec![];
        for Statement { kind, span } in block {
            let span = *span;
            let kind = match kind {
                StatementKind::Set { target, value, label, mode } => {
                    let mut written = self.written(value, state);
                    self.set(*target, value, state);
                    let is_open = self.replaced.contains(target) && !state.variables.contains_key(target);
                    if is_open && !self.reads_variables(&written) {
                        // Whatever it is, it is known by name from here on.
                        let name = self.locals[target.0 as usize].name.clone();
                        written = self.noted(&name, written, span, &mut rewritten);
                        if let ExprKind::Local(noted) = written.kind {
                            state.variables.insert(*target, Polynomial::atom(Atom::Local(noted)));
                        }
                    }
                    StatementKind::Set { target: *target, value: written, label: label.clone(), mode: *mode }
                }
                StatementKind::If { condition, then, otherwise } => {
                    let condition = self.written(condition, state);
                    let mut other = state.clone();
                    let then = self.block(then, state);
                    let otherwise = self.block(otherwise, &mut other);
                    *state = std::mem::take(state).joined(&other);
                    StatementKind::If { condition, then, otherwise }
                }
                StatementKind::For { id, iterator, range, mode, body } => {
                    let mut range = range.clone();
                    range.start = self.written(&range.start, state);
                    range.stop = self.written(&range.stop, state);
                    let mut ends = [&range.start, &range.stop].map(|end| self.polynomial(end, state));
                    if sets_any(body, &self.replaced) {
                        let named = [("start", &mut range.start), ("stop", &mut range.stop)];
                        for (known, (which, end)) in ends.iter_mut().zip(named) {
                            if known.is_none() && !self.reads_variables(end) {
                                let name = format!("{}_{which}", self.locals[iterator.0 as usize].name);
                                let noted = self.noted(&name, end.clone(), end.span, &mut rewritten);
                                *known = self.polynomial(&noted, state);
                                *end = noted;
                            }
                        }
                    }
                    let [start, stop] = ends;
                    self.loops.push(Around { id: *id, iterator: *iterator, step: range.step, start, stop });
                    let Carried { mut entry, after } = self.carried(body, state);
                    let body = self.block(body, &mut entry);
                    self.loops.pop();
                    *state = after;
                    StatementKind::For { id: *id, iterator: *iterator, range, mode: *mode, body }
                }
                StatementKind::Store { array, subscripts, value, label, mode } => StatementKind::Store {
                    array: *array,
                    subscripts: subscripts.iter().map(|subscript| self.written(subscript, state)).collect(),
                    value: self.written(value, state),
                    label: label.clone(),
                    mode: *mode,
                },
                StatementKind::Allocate { array, extents } => {
                    let extents = extents.iter().map(|extent| self.written(extent, state)).collect();
                    StatementKind::Allocate { array: *array, extents }
                }
                StatementKind::Require { condition, failure } => {
                    let condition = self.written(condition, state);
                    StatementKind::Require { condition, failure: failure.clone() }
                }
            };
            rewritten.push(Statement { kind, span });
        }
        rewritten
    }

    /// What a block does to the state.
    fn follow(&mut self, block: &Block, state: &mut State) {
        for statement in block {
            match &statement.kind {
                StatementKind::Set { target, value, .. } => self.set(*target, value, state),
                StatementKind::If { then, otherwise, .. } => {
                    let mut other = state.clone();
                    self.follow(then, state);
                    self.follow(otherwise, &mut other);
                    *state = std::mem::take(state).joined(&other);
                }
                StatementKind::For { id, iterator, range, body, .. } => {
                    let [start, stop] = [&range.start, &range.stop].map(|end| self.polynomial(end, state));
                    self.loops.push(Around { id: *id, iterator: *iterator, step: range.step, start, stop });
                    let Carried { after, .. } = self.carried(body, state);
                    self.loops.pop();
                    *state = after;
                }
                StatementKind::Store { .. } | StatementKind::Allocate { .. } | StatementKind::Require { .. } => {}
            }
        }
    }

    fn set(&self, target: LocalId, value: &Expr, state: &mut State) {
        let known = self.polynomial(value, state);
        let map = match self.locals[target.0 as usize].role {
            Role::Variable(_) => &mut state.variables,
            Role::Value(_) => &mut state.values,
            Role::Argument | Role::Iterator(_) => return,
        };
        match known {
            Some(known) if !self.labelled.contains(&target) => map.insert(target, known),
            Some(_) | None => map.remove(&target),
        };
    }

    /// What the innermost loop, whose body this is, makes of the state before it.
    fn carried(&mut self, body: &Block, before: &State) -> Carried {
        let around = self.loops.last().expect("the loop has been entered");
        let (id, iterator, step) = (around.id, Atom::Local(around.iterator), around.step);
        let trips = self.trips(around);
        let mut assigned = BTreeSet::new();
        targets(body, &mut assigned);
        let role = |local: LocalId| self.locals[local.0 as usize].role;
        let (variables, values): (Vec<LocalId>, Vec<LocalId>) =
            assigned.iter().copied().partition(|&local| matches!(role(local), Role::Variable(_)));
        let own: BTreeSet<LocalId> =
            variables.iter().copied().filter(|&local| role(local) == Role::Variable(Some(id))).collect();
        let mut unknown = before.clone();
        for local in &assigned {
            unknown.variables.remove(local);
            unknown.values.remove(local);
        }
        let mut symbolic = unknown.clone();
        for &local in variables.iter().filter(|local| !own.contains(local)) {
            symbolic.variables.insert(local, Polynomial::atom(Atom::Entry(local, id)));
        }
        self.follow(body, &mut symbolic);
        // What no iteration but its own knows.
        let is_inner = |atom: &Atom| matches!(atom, Atom::Local(local) if values.contains(local));
        let mut open: Vec<(LocalId, Polynomial)> = symbolic
            .variables
            .into_iter()
            .filter(|(local, value)| assigned.contains(local) && !own.contains(local) && !value.any(&is_inner))
            .collect();
        let mut known = Carried { entry: unknown.clone(), after: unknown };
        loop {
            let is_entry = |atom: &Atom| matches!(atom, Atom::Entry(_, of) if *of == id);
            let mut rest = vec![];
            let count = open.len();
            for (local, value) in open {
                let entry = Atom::Entry(local, id);
                let others = value.replaced(&|atom| match atom {
                    Atom::Entry(other, of) if *of == id && *other != local => known.entry.variables.get(other).cloned(),
                    other => Some(Polynomial::atom(other.clone())),
                });
                let solved = others.as_ref().and_then(|value| {
                    let (first, change) = (before.variables.get(&local), value.sub(&Polynomial::atom(entry.clone()))?);
                    let trips = trips.as_ref()?;
                    if value.any(&is_entry) {
                        return summed(first?, &change, &iterator, trips).filter(|_| !change.any(&is_entry));
                    }
                    // Set anew in each iteration: known before the first one only if that makes no difference.
                    let is_same = !value.mentions(&iterator) && first == Some(value);
                    let last = trips.start.add(&trips.all.sub(&Polynomial::constant(1))?.scale(step)?)?;
                    match is_same {
                        true => Some((Some(value.clone()), Some(value.clone()))),
                        false => Some((None, value.with(&iterator, &last).filter(|_| trips.some))),
                    }
                });
                match solved {
                    None => rest.push((local, value)),
                    Some((entry, after)) => {
                        known.entry.variables.extend(entry.map(|value| (local, value)));
                        known.after.variables.extend(after.map(|value| (local, value)));
                    }
                }
            }
            open = rest;
            if open.len() == count || open.is_empty() {
                return known;
            }
        }
    }

    /// How often a loop runs; `None` where its ends are unknown.
    fn trips(&self, around: &Around) -> Option<Trips> {
        let (start, stop) = (around.start.clone()?, around.stop.as_ref()?);
        let iterator = Polynomial::atom(Atom::Local(around.iterator));
        let [before, distance] = [&iterator, stop].map(|end| match around.step > 0 {
            true => end.sub(&start),
            false => start.sub(end),
        });
        let (before, distance) = (before?, distance?);
        let outside = &self.loops[..self.loops.len() - 1];
        let some = at_least(outside, &distance, 0);
        let size = i64::try_from(around.step.unsigned_abs()).ok()?;
        let (before, all, is_counted) = match size {
            1 => (before, distance.add(&Polynomial::constant(1))?, at_least(outside, &distance, -1)),
            _ => (before.quotient(size), distance.quotient(size).add(&Polynomial::constant(1))?, some),
        };
        Some(Trips { start, step: around.step, before, all: if is_counted { all } else { all.clamped() }, some })
    }

    /// The value of an expression of integers; `None` where it depends on what changes, or is no polynomial.
    fn polynomial(&self, expr: &Expr, state: &State) -> Option<Polynomial> {
        if expr.ty != ScalarType::I64 {
            return None;
        }
        let of = |expr: &Expr| self.polynomial(expr, state);
        match &expr.kind {
            ExprKind::Constant(constant) => Some(Polynomial::constant(i64::try_from(constant.as_integer()?).ok()?)),
            ExprKind::Local(local) => match self.locals[local.0 as usize].role {
                Role::Argument | Role::Iterator(_) => Some(Polynomial::atom(Atom::Local(*local))),
                Role::Variable(_) => state.variables.get(local).cloned(),
                Role::Value(_) => {
                    Some(state.values.get(local).cloned().unwrap_or_else(|| Polynomial::atom(Atom::Local(*local))))
                }
            },
            ExprKind::Size { array, axis } => Some(Polynomial::atom(Atom::Size(*array, *axis))),
            ExprKind::First { array, axis } => Some(Polynomial::atom(Atom::First(*array, *axis))),
            ExprKind::Unary(UnaryOp::Neg, operand) => of(operand)?.scale(-1),
            ExprKind::Binary(BinaryOp::Add, left, right) => of(left)?.add(&of(right)?),
            ExprKind::Binary(BinaryOp::Sub, left, right) => of(left)?.sub(&of(right)?),
            ExprKind::Binary(BinaryOp::Mul, left, right) => of(left)?.mul(&of(right)?),
            _ => None,
        }
    }

    /// The expression with formulas for the variables in it.
    fn written(&self, expr: &Expr, state: &State) -> Expr {
        if let ExprKind::Local(local) = expr.kind
            && self.replaced.contains(&local)
            && let Some(value) = state.variables.get(&local)
        {
            return value.to_expr(expr.span);
        }
        let mut expr = expr.clone();
        for operand in expr.operands_mut() {
            *operand = self.written(operand, state);
        }
        expr
    }

    fn reads_variables(&self, expr: &Expr) -> bool {
        let is_variable = match expr.kind {
            ExprKind::Local(local) => matches!(self.locals[local.0 as usize].role, Role::Variable(_)),
            _ => false,
        };
        is_variable || expr.operands().into_iter().any(|operand| self.reads_variables(operand))
    }

    /// A name for a value, set where it is evaluated.
    fn noted(&mut self, name: &str, value: Expr, span: Span, block: &mut Block) -> Expr {
        let target = LocalId(self.locals.len() as u32);
        let (ty, role) = (Type::Scalar(ScalarType::I64), Role::Value(self.loops.last().map(|around| around.id)));
        self.locals.push(Local { name: name.to_owned(), named: NamedBy::Tessella, ty, role, span });
        self.hoisted.insert(target);
        let place = value.span;
        block.push(Statement { kind: StatementKind::Set { target, value, label: None, mode: Mode::default() }, span });
        Expr { kind: ExprKind::Local(target), ty: ScalarType::I64, span: place }
    }
}

/// How often a loop runs.
struct Trips {
    start: Polynomial,
    step: i64,
    /// Before the iteration that the iterator says.
    before: Polynomial,
    all: Polynomial,
    /// Whether it certainly runs at all.
    some: bool,
}

/// The value of a variable when an iteration begins, and behind the loop, that is `first` before the loop and grows by `change`
/// in each iteration; `None` unless that is linear in the iterator.
fn summed(
    first: &Polynomial,
    change: &Polynomial,
    iterator: &Atom,
    trips: &Trips,
) -> Option<(Option<Polynomial>, Option<Polynomial>)> {
    let (rest, slope) = change.linear_in(iterator)?;
    // It grows by `at_first + growth * t` in the iteration that comes after `t` others.
    let at_first = rest.add(&slope.mul(&trips.start)?)?;
    let growth = slope.scale(trips.step)?;
    let total = |count: &Polynomial| {
        // How often the growth has been added.
        let pairs = match growth.as_constant() {
            Some(0) => Polynomial::constant(0),
            // `count * (count - 1) / 2`, divided before it is multiplied: products wrap around, and their halves are then wrong.
            _ => {
                let before = count.sub(&Polynomial::constant(1))?.quotient(2).scale(2)?;
                count.clone().quotient(2).mul(&before.add(&Polynomial::constant(1))?)?
            }
        };
        first.add(&at_first.mul(count)?)?.add(&growth.mul(&pairs)?)
    };
    Some((Some(total(&trips.before)?), Some(total(&trips.all)?)))
}

/// Whether a value is never less than a limit, whatever the sizes are, in the loops around.
fn at_least(loops: &[Around], value: &Polynomial, limit: i64) -> bool {
    let mut least = value.clone();
    for around in loops.iter().rev() {
        let iterator = Atom::Local(around.iterator);
        if !least.mentions(&iterator) {
            continue;
        }
        let Some((_, factor)) = least.linear_in(&iterator) else { return false };
        let Some(factor) = factor.as_constant() else { return false };
        // The iteration runs: its iterator is between the ends.
        let end = if (factor > 0) == (around.step > 0) { &around.start } else { &around.stop };
        let Some(Some(replaced)) = end.as_ref().map(|end| least.with(&iterator, end)) else { return false };
        least = replaced;
    }
    let is_count = |atom: &Atom| matches!(atom, Atom::Size(..) | Atom::Clamped(_));
    least.terms().all(|(product, factor)| product.is_empty() || factor > 0 && product.iter().all(is_count))
        && least.terms().find(|(product, _)| product.is_empty()).map_or(0, |(_, value)| value) >= limit
}
