//! What a name means changes along the code: a scalar assigned again in straight-line code is a new variable, and a
//! name of an array can come to mean another array.

use super::check::{Checked, Checker};
use super::jumps::Fresh;
use super::operator::{binary, unary};
use super::scope::{State, VariableId};
use super::statement::{Place, Tail};
use super::tree::{Block, Expr, ExprKind, LocalId, Role, Statement, StatementKind, Type};
use super::unsupported::Construct;
use super::value::{RangeValue, Value};
use crate::ast;
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType, UnaryOp};

/// How many orders of arrays a loop may go through before the first comes back.
const MOST_VARIANTS: usize = 6;

/// The checker's place in the flow of the code.
pub(super) struct Flow {
    pub fresh: Fresh,
    /// The outermost block from which everything up to here runs whenever the block does, or at its end.
    pub straight_from: usize,
    /// The body of the innermost loop, as a number of open blocks.
    pub loop_depth: usize,
    /// Whether nothing follows the statement in its block and those around it, down to `straight_from`.
    pub tail: bool,
    /// How often each variable is set, and whether in a loop inside its scope.
    pub(super) sets: BTreeMap<LocalId, (u32, bool)>,
    /// The loop being checked, if it has one iterator only.
    pub range: Option<(LocalId, RangeValue)>,
    /// Whether the loop about to be checked has one iterator.
    pub single: bool,
    /// What names of arrays mean depends on how often the loop before ran.
    pub pending: Option<Variants>,
    /// Names that the function assigns in one place only.
    pub once: BTreeSet<String>,
    /// The type that the value of the expression about to be checked is converted to, where both branches of a
    /// `c ? a : b` can be converted one by one.
    pub wanted: Option<tessella_scalar::ScalarType>,
    /// Variables of such names that are constants.
    pub known: BTreeMap<LocalId, Constant>,
    /// Whether the expression about to be checked is the call that a statement or assignment consists of.
    pub statement_call: bool,
    /// Whether it is the call that a statement consists of whose value nobody uses.
    pub unused_call: bool,
    /// Whether the value of the statements being checked is given back, or not used: it may be of several kinds.
    pub several_results: bool,
    /// How many copies of the code have been checked before this one.
    pub copy: usize,
}

impl Default for Flow {
    fn default() -> Self {
        Flow {
            fresh: Fresh::default(),
            straight_from: 1,
            loop_depth: 1,
            tail: true,
            sets: BTreeMap::new(),
            range: None,
            single: false,
            pending: None,
            once: BTreeSet::new(),
            wanted: None,
            known: BTreeMap::new(),
            statement_call: false,
            unused_call: false,
            several_results: true,
            copy: 0,
        }
    }
}

/// What names of arrays mean after a loop, by the number of its iterations modulo the number of meanings.
#[derive(Debug, Clone)]
pub(super) struct Variants {
    iterations: Expr,
    meanings: Vec<Vec<(VariableId, LocalId)>>,
    span: Span,
}

impl Checker<'_> {
    /// Whether an assignment to the variable here makes it a new one, because no path joins behind it.
    pub(super) fn is_straight(&self, variable: VariableId) -> bool {
        let variable = &self.variables[variable.0];
        variable.home >= self.flow.straight_from && variable.owner == self.loops.last().copied()
    }

    pub(super) fn note_set(&mut self, local: LocalId, in_loop: bool) {
        let (count, looped) = self.flow.sets.entry(local).or_default();
        *count += 1;
        *looped |= in_loop;
    }

    /// Made-up variables may be read on paths where the checker cannot see the assignment.
    pub(super) fn note_hidden_set(&mut self, local: LocalId) {
        self.note_set(local, true);
    }

    /// Variables set once, where they are declared, are values.
    pub(super) fn settle_roles(&mut self) {
        for (&id, &(count, in_loop)) in &self.flow.sets {
            let local = &mut self.locals[id.0 as usize];
            if let (1, false, Role::Variable(owner)) = (count, in_loop, local.role) {
                local.role = Role::Value(owner);
            }
        }
    }

    /// A branch of an `if`, in a block of its own.
    pub(super) fn in_branch<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        let straight_from = self.flow.straight_from;
        if !self.flow.tail {
            self.flow.straight_from = self.blocks.len() + 1;
        }
        let result = self.in_block(check);
        self.flow.straight_from = straight_from;
        result
    }

    pub(super) fn meanings(&self) -> Vec<State> {
        self.variables.iter().map(|variable| variable.state.clone()).collect()
    }

    /// Between the branches of an `if`: names mean what they meant before it.
    pub(super) fn restore(&mut self, before: &[State]) {
        for (at, state) in before.iter().enumerate() {
            let keeps = matches!(state, State::Unassigned) && !(self.flow.tail && self.is_straight(VariableId(at)));
            if !keeps {
                self.variables[at].state = state.clone();
            }
        }
    }

    /// After an `if`: the arrays that names mean must not depend on the branch, if anything follows.
    pub(super) fn end_of_branch(&mut self, span: Span) {
        if let Some(pending) = self.flow.pending.take()
            && !self.flow.tail
        {
            self.flow.pending = None;
            let _: Checked<()> = self.not_yet(Construct::ArrayVariable, pending.span.to(span));
        }
    }

    pub(super) fn array_meanings(&self, count: usize) -> Vec<(VariableId, LocalId)> {
        self.array_names(count)
    }

    /// After both branches of an `if`: an array's name means the same after either, or the paths never join.
    pub(super) fn same_meanings(&mut self, other: &[(VariableId, LocalId)], span: Span) {
        let lasting = |checker: &Self, variable: VariableId| !(checker.flow.tail && checker.is_straight(variable));
        let differs = other.iter().any(|&(variable, array)| {
            lasting(self, variable) && array_of(&self.variables[variable.0].state) != Some(array)
        });
        if differs {
            let _: Checked<()> = self.not_yet(Construct::ArrayVariable, span);
        }
    }

    /// `name = array`: another name for it. `meaning` is an array, or one of complex numbers.
    pub(super) fn bind_array(&mut self, variable: VariableId, meaning: Value, at: Span, span: Span) -> Checked<Value> {
        let state = match &meaning {
            Value::Array(array) => State::Array(*array),
            other => State::Alias(other.clone()),
        };
        let here = self.loops.last().copied();
        let known = &self.variables[variable.0];
        let straight = self.is_straight(variable);
        // In a loop the name may mean another array in each iteration; the loop's end looks after that.
        let in_loop_body = known.owner != here && self.flow.straight_from <= self.flow.loop_depth;
        let is_alike = matches!((&known.state, &state), (State::Array(_), State::Array(_)))
            || (array_of(&known.state).is_some()
                && array_of(&state).is_some()
                && is_alias(&known.state) == is_alias(&state));
        match &known.state {
            State::Poisoned => Err(super::check::Reported),
            State::Unassigned if straight => {
                self.variables[variable.0].span = at;
                self.variables[variable.0].state = state;
                Ok(meaning)
            }
            old if is_alike && (straight || in_loop_body || array_of(old) == array_of(&state)) => {
                self.variables[variable.0].state = state;
                Ok(meaning)
            }
            State::Scalar(_) | State::Complex(..) | State::Alias(_) | State::Array(_) if straight => {
                self.variables[variable.0].state = state;
                Ok(meaning)
            }
            State::Unassigned | State::Array(_) | State::Scalar(_) | State::Complex(..) | State::Alias(_) => {
                self.not_yet(Construct::ArrayVariable, span)
            }
        }
    }

    /// The names of arrays among the first `count` variables, and what they mean.
    fn array_names(&self, count: usize) -> Vec<(VariableId, LocalId)> {
        let variables = self.variables.iter().take(count).enumerate();
        variables.filter_map(|(at, variable)| Some((VariableId(at), array_of(&variable.state)?))).collect()
    }

    fn set_names(&mut self, meanings: &[(VariableId, LocalId)]) {
        for &(variable, array) in meanings {
            let state = &mut self.variables[variable.0].state;
            *state = if is_alias(state) { State::Alias(Value::ComplexArray(array)) } else { State::Array(array) };
        }
    }

    /// The body of the innermost loop, whose block is open.
    ///
    /// A body that exchanges names of arrays is checked once for each meaning that the names take:
    ///
    /// ```text
    /// for t in 1:steps                    for t in 1:steps
    ///     B[i] = A[i]                         if (t - 1) % 2 == 0
    ///     A, B = B, A              ->             B[i] = A[i]
    /// end                                     else
    ///                                             A[i] = B[i]
    /// ```
    pub(super) fn loop_body(&mut self, body: &[ast::Expr], span: Span) {
        let count = self.variables.len();
        let before = self.array_names(count);
        let others = self.meanings();
        let range = self.flow.range.take();
        let start = self.blocks.last().map_or(0, Vec::len);
        self.body_once(body, count);
        if self.array_names(count) == before {
            return;
        }
        let first = self.blocks.last_mut().map_or(vec![], |block| block.split_off(start));
        let mut bodies = vec![first];
        let mut meanings = vec![before.clone()];
        let copy = self.flow.copy;
        let errors = self.errors.len();
        loop {
            let now = self.array_names(count);
            if now == before {
                break;
            }
            if meanings.contains(&now) || meanings.len() == MOST_VARIANTS || self.errors.len() > errors {
                if self.errors.len() == errors {
                    let _: Checked<()> = self.not_yet(Construct::ArrayVariable, span);
                }
                self.set_names(&before);
                return;
            }
            meanings.push(now);
            for (variable, state) in self.variables.iter_mut().zip(&others) {
                if matches!(state, State::Scalar(_) | State::Complex(..) | State::Alias(_)) && array_of(state).is_none()
                {
                    variable.state = state.clone();
                }
            }
            self.flow.copy = copy + meanings.len() - 1;
            let (block, ()) = self.in_block(|checker| checker.body_once(body, count));
            bodies.push(block);
        }
        self.flow.copy = copy;
        let Some((iterator, RangeValue { start, step, stop })) = range else {
            let _: Checked<()> = self.not_yet(Construct::ArrayVariable, span);
            return;
        };
        let period = bodies.len() as i64;
        let (distance, size) = match step > 0 {
            true => (binary(BinaryOp::Sub, self.read(iterator, span), start.clone(), span), step),
            false => (binary(BinaryOp::Sub, start.clone(), self.read(iterator, span), span), step.saturating_neg()),
        };
        let phase = remainder(distance, period.saturating_mul(size), span);
        let mut block = bodies.pop().unwrap_or_default();
        for (turn, then) in bodies.into_iter().enumerate().rev() {
            let condition = equals(phase.clone(), size.saturating_mul(turn as i64), span);
            block = vec![Statement { kind: StatementKind::If { condition, then, otherwise: block }, span }];
        }
        if let Some(open) = self.blocks.last_mut() {
            open.extend(block);
        }
        let iterations = iterations(start, step, stop, span);
        self.flow.pending = Some(Variants { iterations, meanings, span });
    }

    fn body_once(&mut self, body: &[ast::Expr], outer: usize) {
        let (straight_from, loop_depth, tail) = (self.flow.straight_from, self.flow.loop_depth, self.flow.tail);
        self.flow.straight_from = self.blocks.len();
        self.flow.loop_depth = self.blocks.len();
        self.flow.tail = true;
        self.scopes.push(Default::default());
        self.declare_assigned(body);
        self.body(body, Place::Middle);
        self.scopes.pop();
        if let Some(pending) = self.flow.pending.take() {
            let lasting = pending.meanings.iter().flatten().any(|(variable, _)| {
                variable.0 < outer
                    && pending.meanings.iter().any(|other| {
                        let means = |all: &[(VariableId, LocalId)]| all.iter().find(|(it, _)| it == variable).copied();
                        means(other) != means(&pending.meanings[0])
                    })
            });
            if lasting {
                let _: Checked<()> = self.not_yet(Construct::ArrayVariable, pending.span);
            }
        }
        (self.flow.straight_from, self.flow.loop_depth, self.flow.tail) = (straight_from, loop_depth, tail);
    }

    /// The statements after a loop that exchanged names of arrays: once for each meaning of the names.
    pub(super) fn after_variants(&mut self, variants: Variants, rest: &[ast::Expr], place: Place) -> Tail {
        let copy = self.flow.copy;
        let tail = self.variant(&variants, 0, rest, place);
        self.flow.copy = copy;
        tail
    }

    fn variant(&mut self, variants: &Variants, turn: usize, rest: &[ast::Expr], place: Place) -> Tail {
        self.set_names(&variants.meanings[turn]);
        if turn + 1 == variants.meanings.len() {
            return self.body(rest, place);
        }
        let span = variants.span;
        let phase = remainder(variants.iterations.clone(), variants.meanings.len() as i64, span);
        let condition = equals(phase, turn as i64, span);
        let assigned = self.assigned.clone();
        let before = self.meanings();
        let (then, then_tail) = self.in_branch(|checker| checker.body(rest, place));
        self.end_of_branch(span);
        let after_then = std::mem::replace(&mut self.assigned, assigned);
        self.restore(&before);
        self.flow.copy += 1;
        let (otherwise, other_tail) = self.in_branch(|checker| checker.variant(variants, turn + 1, rest, place));
        self.assigned.retain(|variable| after_then.contains(variable));
        self.join_results(Ok(condition), (then, then_tail), (otherwise, other_tail), span, place)
    }

    /// Whether the statements use a name whose meaning depends on the variant.
    pub(super) fn uses_variants(&self, variants: &Variants, rest: &[ast::Expr]) -> bool {
        let changed = |variable: VariableId| {
            let means = |all: &[(VariableId, LocalId)]| all.iter().find(|(it, _)| *it == variable).copied();
            variants.meanings.iter().any(|other| means(other) != means(&variants.meanings[0]))
        };
        let names: Vec<&str> = variants.meanings[0]
            .iter()
            .filter(|(variable, _)| changed(*variable))
            .map(|(variable, _)| self.variables[variable.0].name.as_str())
            .collect();
        rest.iter().any(|statement| super::walk::mentions(statement, &names))
    }

    /// A range whose bounds later assignments do not change, if the body may ask for them.
    pub(super) fn steady(&mut self, range: RangeValue, body: &[ast::Expr]) -> RangeValue {
        match body.iter().any(super::walk::renames) {
            true => match self.frozen(Value::Range(range.clone())) {
                Value::Range(range) => range,
                _ => range,
            },
            false => range,
        }
    }

    /// The position of an array among the function's arguments.
    pub(super) fn argument_position(&mut self, array: LocalId, span: Span) -> Checked<Expr> {
        let arguments = self.locals.iter().take_while(|local| local.role == Role::Argument).count();
        match self.local(array).role {
            Role::Argument if (array.0 as usize) < arguments => Ok(Expr::int64(i64::from(array.0), span)),
            Role::Argument | Role::Iterator(_) => self.not_yet(Construct::ArrayVariable, span),
            Role::Variable(_) | Role::Value(_) => {
                Err(self.fail(super::TypeError::Array(super::ArrayError::Returned { span })))
            }
        }
    }

    /// A variable that is set in several branches.
    pub(super) fn joined(&mut self, name: &str, ty: ScalarType, span: Span) -> LocalId {
        let owner = self.loops.last().copied();
        self.new_local(name, Type::Scalar(ty), Role::Variable(owner), span)
    }
}

/// The array that a name means.
fn array_of(state: &State) -> Option<LocalId> {
    match state {
        State::Array(array) | State::Alias(Value::ComplexArray(array)) => Some(*array),
        State::Unassigned | State::Scalar(_) | State::Complex(..) | State::Alias(_) | State::Poisoned => None,
    }
}

fn is_alias(state: &State) -> bool {
    matches!(state, State::Alias(_))
}

/// `value mod divisor`, of a positive divisor.
fn remainder(value: Expr, divisor: i64, span: Span) -> Expr {
    binary(BinaryOp::Mod, value, Expr::int64(divisor, span), span)
}

fn equals(value: Expr, number: i64, span: Span) -> Expr {
    super::compare::compare(CompareOp::Eq, value, Expr::int64(number, span), span)
}

/// How many iterations a range has.
fn iterations(start: Expr, step: i64, stop: Expr, span: Span) -> Expr {
    let (low, high) = if step > 0 { (start, stop) } else { (stop, start) };
    let distance = binary(BinaryOp::Sub, high, low, span);
    let steps = match step.saturating_abs() {
        1 => distance,
        size => binary(BinaryOp::DivFloor, distance, Expr::int64(size, span), span),
    };
    let count = binary(BinaryOp::Add, steps, Expr::int64(1, span), span);
    binary(BinaryOp::Max, super::constant::folded(count), Expr::int64(0, span), span)
}

/// An `if` as an expression of the typed tree has no statements; this one has.
pub(super) fn set(target: LocalId, value: Expr, mode: super::tree::Mode) -> Statement {
    let span = value.span;
    Statement { kind: StatementKind::Set { target, value, label: None, mode }, span }
}

/// Whether something in the block fails for some values.
pub(super) fn requires(block: &Block) -> bool {
    block.iter().any(|statement| matches!(statement.kind, StatementKind::Require { .. }))
}

/// The block's statements where they are executed on every path: what they require, they require where the condition
/// is as expected.
pub(super) fn required_if(block: Block, condition: &Expr, expected: bool) -> Block {
    let guarded = |kind: StatementKind| match kind {
        StatementKind::Require { condition: needed, failure } => {
            let span = needed.span;
            let otherwise = match expected {
                true => unary(UnaryOp::Not, condition.clone(), span),
                false => condition.clone(),
            };
            StatementKind::Require { condition: binary(BinaryOp::OrElse, otherwise, needed, span), failure }
        }
        other => other,
    };
    block.into_iter().map(|statement| Statement { kind: guarded(statement.kind), ..statement }).collect()
}

/// Whether all statements only give names to values that any path may evaluate, or fail for some values.
pub(super) fn is_harmless(block: &Block, checker: &Checker<'_>) -> bool {
    block.iter().all(|statement| match &statement.kind {
        StatementKind::Set { target, value, label: None, .. } => {
            matches!(checker.local(*target).role, Role::Value(_))
                && !value.any(&|part| matches!(part.kind, ExprKind::Load { .. }))
        }
        StatementKind::Require { failure, .. } => failure.error.is_of_values(),
        StatementKind::Set { .. }
        | StatementKind::Store { .. }
        | StatementKind::If { .. }
        | StatementKind::For { .. }
        | StatementKind::Allocate { .. } => false,
    })
}
