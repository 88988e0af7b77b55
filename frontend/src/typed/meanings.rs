//! What names of arrays mean, where that depends on the path: loops and branches that exchange arrays.
//!
//! ```text
//! for t in 1:steps                    for t in 1:steps
//!     B[i] = A[i]                         if (t - 1) % 2 == 0
//!     A, B = B, A              ->             B[i] = A[i]
//! end                                     else
//!                                             A[i] = B[i]
//! ```
//!
//! Statements behind such a path are checked once for each meaning. Where every iteration moves on to the next meaning in
//! turn, the iterator tells which one it is, and after the loop the number of iterations does. Where data decide, a
//! variable notes it: at each `break`, and at the end of each iteration.

use super::check::{Checked, Checker};
use super::flow::set;
use super::jumps;
use super::operator::{binary, if_else};
use super::scope::{State, VariableId};
use super::statement::{Place, Tail};
use super::tree::{Block, Expr, LocalId, Role, Statement, StatementKind, Type};
use super::unsupported::Construct;
use super::value::{RangeValue, Value};
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, ScalarType};

/// More orders of arrays are not followed.
const MOST_VARIANTS: usize = 6;

/// Which array each name means.
type Meaning = Vec<(VariableId, LocalId)>;

/// What names of arrays mean behind a path, one of several.
#[derive(Debug, Clone)]
pub(super) struct Variants {
    /// The number of the meaning.
    selector: Expr,
    meanings: Vec<Meaning>,
    span: Span,
}

/// A loop whose body assigns names of arrays.
#[derive(Debug)]
pub(super) struct Renaming {
    /// The variables outside of the loop.
    count: usize,
    /// Notes the meaning at the end of an iteration or at a `break`, by its number in `meanings`.
    which: LocalId,
    /// The flag that a `break` sets to false.
    going: Option<String>,
    /// Those found so far, at the beginning or end of an iteration or at a `break`.
    meanings: Vec<Meaning>,
}

/// The end of a path: what names of arrays mean there.
#[derive(Debug)]
pub(super) struct PathEnd {
    /// Whether the path has left its loop, so that nothing follows it.
    pub left: bool,
    meanings: Vec<Meaning>,
    /// Which one, if they are several.
    selector: Option<Expr>,
}

impl Checker<'_> {
    /// The end of a branch; what it says of the names is taken along.
    pub(super) fn path_end(&mut self, count: usize) -> PathEnd {
        let left = std::mem::take(&mut self.flow.left);
        match self.flow.pending.take() {
            Some(Variants { selector, meanings, .. }) => PathEnd { left, meanings, selector: Some(selector) },
            None => PathEnd { left, meanings: vec![self.array_names(count)], selector: None },
        }
    }

    /// After both branches of an `if`, before it is written.
    pub(super) fn join_meanings(
        &mut self,
        condition: &mut Checked<Expr>,
        (then, yes): (&mut Block, PathEnd),
        (otherwise, no): (&mut Block, PathEnd),
        span: Span,
    ) {
        match (yes.left, no.left) {
            (true, true) => {
                self.flow.left = true;
                return;
            }
            (true, false) => return self.goes_on_from(no, span),
            (false, true) => return self.goes_on_from(yes, span),
            (false, false) => {}
        }
        let mut list = vec![];
        let lasting = |checker: &Self, meaning: &Meaning| -> Meaning {
            let lasts = |variable: VariableId| !(checker.flow.tail && checker.is_straight(variable));
            meaning.iter().copied().filter(|&(variable, _)| lasts(variable)).collect()
        };
        let from_yes: Vec<usize> = yes.meanings.iter().map(|it| numbered(&mut list, lasting(self, it))).collect();
        let from_no: Vec<usize> = no.meanings.iter().map(|it| numbered(&mut list, lasting(self, it))).collect();
        if list.len() == 1 {
            self.set_names(&list[0]);
            return;
        }
        let Ok(asked) = condition else { return };
        if list.len() > MOST_VARIANTS {
            let _: Checked<()> = self.not_yet(Construct::ArrayVariable, span);
            return;
        }
        let selector = match (yes.selector, no.selector) {
            (None, None) => {
                // The branches may change what the condition reads.
                let held = if asked.is_fixed() { asked.clone() } else { self.hold("which", asked.clone()) };
                *condition = Ok(held.clone());
                if_else(held, number(from_yes[0], span), number(from_no[0], span), span)
            }
            (yes, no) => {
                yes.iter().chain(&no).for_each(|selector| self.asked(selector));
                let which = self.joined("which", ScalarType::I64, span);
                let mode = self.mode;
                let note = |block: &mut Block, selector: Option<Expr>, table: &[usize]| {
                    let old = selector.unwrap_or_else(|| number(0, span));
                    block.push(set(which, renumbered(old, table), mode));
                };
                note(then, yes, &from_yes);
                note(otherwise, no, &from_no);
                self.note_set(which, true);
                self.read(which, span)
            }
        };
        self.set_names(&list[0]);
        self.flow.pending = Some(Variants { selector, meanings: list, span });
    }

    /// The other branch has left the loop.
    fn goes_on_from(&mut self, end: PathEnd, span: Span) {
        self.set_names(&end.meanings[0]);
        let PathEnd { meanings, selector, .. } = end;
        self.flow.pending = selector.map(|selector| Variants { selector, meanings, span });
    }

    /// Whether the path on which this condition does not hold has left the loop.
    pub(super) fn leaves_unless(&self, condition: &ast::Expr) -> bool {
        let Some(Some(renaming)) = self.flow.renamings.last() else { return false };
        let is_going = matches!(&condition.kind, ast::ExprKind::Name(name) if Some(name) == renaming.going.as_ref());
        is_going || jumps::is_unbroken(condition)
    }

    /// What names of arrays mean in a value's branch must not change.
    pub(super) fn array_meanings(&mut self, count: usize) -> Meaning {
        if let Some(pending) = self.flow.pending.take() {
            let _: Checked<()> = self.not_yet(Construct::ArrayVariable, pending.span);
        }
        self.array_names(count)
    }

    pub(super) fn same_meanings(&mut self, other: &[(VariableId, LocalId)], span: Span) {
        let differs = other.iter().any(|&(variable, array)| array_of(&self.variables[variable.0].state) != Some(array));
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
        let known = &self.variables[variable.0];
        let straight = self.is_straight(variable);
        let is_alike = matches!((&known.state, &state), (State::Array(_), State::Array(_)))
            || (array_of(&known.state).is_some()
                && array_of(&state).is_some()
                && is_alias(&known.state) == is_alias(&state));
        match &known.state {
            State::Poisoned => Err(super::check::Reported),
            State::Unassigned => {
                self.variables[variable.0].span = at;
                self.variables[variable.0].state = state;
                Ok(meaning)
            }
            _ if is_alike || straight => {
                self.variables[variable.0].state = state;
                Ok(meaning)
            }
            State::Array(_) | State::Scalar(_) | State::Complex(..) | State::Alias(_) => {
                self.not_yet(Construct::ArrayVariable, span)
            }
        }
    }

    /// `a, b = c ? (x, y) : (y, x)` of names of arrays, as an `if` with an assignment in each branch.
    pub(super) fn chosen_arrays(&self, target: &ast::Expr, value: &ast::Expr, span: Span) -> Option<ast::Expr> {
        let ast::ExprKind::Ternary { condition, yes, no } = &value.kind else { return None };
        if !matches!(target.kind, ast::ExprKind::Name(_) | ast::ExprKind::Tuple(_))
            || !(self.names_arrays(yes) && self.names_arrays(no))
        {
            return None;
        }
        let assigned = |value: &ast::Expr| {
            let kind = ast::ExprKind::Assign {
                operator: None,
                broadcast: ast::Broadcast::No,
                target: Box::new(target.clone()),
                value: Box::new(value.clone()),
            };
            vec![ast::Expr { kind, span }]
        };
        let branches = vec![((**condition).clone(), assigned(yes))];
        Some(ast::Expr { kind: ast::ExprKind::If { branches, otherwise: Some(assigned(no)) }, span })
    }

    fn names_arrays(&self, value: &ast::Expr) -> bool {
        match &value.kind {
            ast::ExprKind::Name(name) => {
                self.lookup(name).is_some_and(|it| array_of(&self.variables[it.0].state).is_some())
            }
            ast::ExprKind::Tuple(parts) => !parts.is_empty() && parts.iter().all(|it| self.names_arrays(&it.value)),
            ast::ExprKind::Ternary { yes, no, .. } => self.names_arrays(yes) && self.names_arrays(no),
            _ => false,
        }
    }

    /// Before a loop: whether its body assigns names of arrays. Ends with the loop's entry in [`super::flow::Flow`].
    pub(super) fn announce_renaming(&mut self, body: &[ast::Expr], span: Span) {
        let names = super::scope::assigned_names(body);
        let renames = names.iter().any(|name| {
            self.lookup(name).is_some_and(|variable| array_of(&self.variables[variable.0].state).is_some())
        });
        if !renames {
            self.flow.renamings.push(None);
            return;
        }
        let owner = self.loops.last().copied();
        let which = self.new_local("which", Type::Scalar(ScalarType::I64), Role::Variable(owner), span);
        self.flow.unread.insert(which);
        self.note(which, number(0, span), span);
        let count = self.variables.len();
        let meanings = vec![self.array_names(count)];
        self.flow.renamings.push(Some(Renaming { count, which, going: None, meanings }));
    }

    /// Whether the loop about to be checked assigns names of arrays.
    pub(super) fn renames(&self) -> bool {
        self.flow.renamings.last().is_some_and(Option::is_some)
    }

    pub(super) fn renaming_ends_with(&mut self, going: &str) {
        if let Some(Some(renaming)) = self.flow.renamings.last_mut() {
            renaming.going = Some(going.to_owned());
        }
    }

    /// At `going = false`, which stands where a `break` was.
    pub(super) fn note_leaving(&mut self, target: &ast::Expr, value: &ast::Expr, span: Span) {
        let (ast::ExprKind::Name(name), ast::ExprKind::Bool(false)) = (&target.kind, &value.kind) else { return };
        let Some(Some(renaming)) = self.flow.renamings.last() else { return };
        if renaming.going.as_ref() != Some(name) {
            return;
        }
        let (which, count) = (renaming.which, renaming.count);
        let meaning = self.array_names(count);
        let Some(Some(renaming)) = self.flow.renamings.last_mut() else { return };
        let at = numbered(&mut renaming.meanings, meaning);
        self.note(which, number(at, span), span);
        self.flow.left = true;
    }

    fn note(&mut self, which: LocalId, value: Expr, span: Span) {
        self.note_set(which, true);
        let mode = self.mode;
        self.emit(StatementKind::Set { target: which, value, label: None, mode }, span);
    }

    /// The names of arrays among the first `count` variables, and what they mean.
    fn array_names(&self, count: usize) -> Meaning {
        let variables = self.variables.iter().take(count).enumerate();
        variables.filter_map(|(at, variable)| Some((VariableId(at), array_of(&variable.state)?))).collect()
    }

    fn set_names(&mut self, meanings: &[(VariableId, LocalId)]) {
        for &(variable, array) in meanings {
            let state = &mut self.variables[variable.0].state;
            *state = if is_alias(state) { State::Alias(Value::ComplexArray(array)) } else { State::Array(array) };
        }
    }

    /// The body of the innermost loop, whose block is open. One that exchanges names of arrays is checked once for each
    /// meaning that they take.
    pub(super) fn loop_body(&mut self, body: &[ast::Expr], span: Span) {
        let range = self.flow.range.take();
        let Some(Some(renaming)) = self.flow.renamings.last() else {
            let count = self.variables.len();
            let before = self.array_names(count);
            self.body_once(body);
            let after = self.path_end(count);
            if after.meanings.iter().any(|after| *after != before) {
                let _: Checked<()> = self.not_yet(Construct::ArrayVariable, span);
                self.set_names(&before);
            }
            return;
        };
        let (count, which, going) = (renaming.count, renaming.which, renaming.going.clone());
        let others = self.meanings();
        let start = self.blocks.last().map_or(0, Vec::len);
        let (copy, errors) = (self.flow.copy, self.errors.len());
        let mut reached: Vec<usize> = (0..renaming.meanings.len()).collect();
        let from_start = reached.len() == 1;
        let before = renaming.meanings[0].clone();
        let mut bodies: Vec<Block> = vec![];
        // Where each of them leads, if to one meaning only.
        let mut nexts: Vec<Option<usize>> = vec![];
        while bodies.len() < reached.len() {
            let at = bodies.len();
            let Some(Some(renaming)) = self.flow.renamings.last() else {
                unreachable!("loops open and close in pairs")
            };
            let meaning = renaming.meanings[reached[at]].clone();
            self.set_names(&meaning);
            self.flow.copy = copy + at;
            let ends = match at {
                0 => self.one_variant(body, count, which, going.as_deref(), span),
                _ => {
                    for (variable, state) in self.variables.iter_mut().zip(&others) {
                        if matches!(state, State::Scalar(_) | State::Complex(..) | State::Alias(_))
                            && array_of(state).is_none()
                        {
                            variable.state = state.clone();
                        }
                    }
                    let (block, ends) =
                        self.in_block(|checker| checker.one_variant(body, count, which, going.as_deref(), span));
                    bodies.push(block);
                    ends
                }
            };
            if at == 0 {
                bodies.push(self.blocks.last_mut().map_or(vec![], |block| block.split_off(start)));
            }
            let many = reached.len() > MOST_VARIANTS;
            if many || self.errors.len() > errors {
                if self.errors.len() == errors {
                    let _: Checked<()> = self.not_yet(Construct::ArrayVariable, span);
                }
                self.flow.copy = copy;
                self.set_names(&before);
                return;
            }
            nexts.push(match ends.as_slice() {
                [next] => Some(*next),
                _ => None,
            });
            for next in ends {
                if !reached.contains(&next) {
                    reached.push(next);
                }
            }
        }
        self.flow.copy = copy;
        self.set_names(&before);
        let period = bodies.len();
        // Each iteration moves on to the next meaning: the iterator tells which it is.
        let in_turn = from_start && (0..period).all(|at| nexts[at] == Some(reached[(at + 1) % period]));
        let going = going.as_deref().and_then(|going| self.lookup(going));
        let flag = going.and_then(|variable| match self.variables[variable.0].state {
            State::Scalar(going) => Some(going),
            State::Unassigned | State::Complex(..) | State::Array(_) | State::Alias(_) | State::Poisoned => None,
        });
        let (outside, mut bodies) = without_flag(bodies, flag);
        let block = match (&range, in_turn) {
            (_, _) if period == 1 => bodies.pop().unwrap_or_default(),
            (Some((iterator, range)), true) => {
                let phase = self.phase(*iterator, range, period, span);
                let size = range.step.unsigned_abs() as i64;
                let selected = (0..period as i64).map(|turn| equals(phase.clone(), size.saturating_mul(turn), span));
                chosen(bodies, selected.collect(), span)
            }
            (_, _) => {
                self.flow.unread.remove(&which);
                let now = self.read(which, span);
                let selected = reached.iter().map(|&at| equals(now.clone(), at as i64, span));
                chosen(bodies, selected.collect(), span)
            }
        };
        let block = match outside {
            Some(condition) => {
                vec![Statement { kind: StatementKind::If { condition, then: block, otherwise: vec![] }, span }]
            }
            None => block,
        };
        if let Some(open) = self.blocks.last_mut() {
            open.extend(block);
        }
        let Some(Some(renaming)) = self.flow.renamings.last() else { unreachable!("loops open and close in pairs") };
        let meanings = renaming.meanings.clone();
        if meanings.len() == 1 {
            return;
        }
        self.flow.pending = Some(match range {
            Some((_, RangeValue { start, step, stop })) if in_turn && flag.is_none() => {
                let selector = remainder(iterations(start, step, stop, span), period as i64, span);
                Variants { selector, meanings, span }
            }
            Some(_) | None => Variants { selector: self.read(which, span), meanings, span },
        });
    }

    /// The body with the names as they are; the numbers of what they may mean at its end, where it does not always leave.
    fn one_variant(
        &mut self,
        body: &[ast::Expr],
        count: usize,
        which: LocalId,
        going: Option<&str>,
        span: Span,
    ) -> Vec<usize> {
        self.body_once(body);
        let end = self.path_end(count);
        if end.left {
            return vec![];
        }
        if let Some(selector) = &end.selector {
            self.asked(selector);
        }
        let Some(Some(renaming)) = self.flow.renamings.last_mut() else {
            unreachable!("loops open and close in pairs")
        };
        let known: Vec<VariableId> = renaming.meanings[0].iter().map(|(variable, _)| *variable).collect();
        let outer = |meaning: &Meaning| -> Meaning {
            meaning.iter().copied().filter(|(variable, _)| known.contains(variable)).collect()
        };
        let numbers: Vec<usize> =
            end.meanings.iter().map(|meaning| numbered(&mut renaming.meanings, outer(meaning))).collect();
        let selector = end.selector.unwrap_or_else(|| number(0, span));
        let value = renumbered(selector, &numbers);
        // After a `break`, it has been noted there.
        let flag = going.and_then(|going| self.lookup(going)).map(|variable| self.variables[variable.0].state.clone());
        match flag {
            Some(State::Scalar(going)) => {
                let condition = self.read(going, span);
                self.note_set(which, true);
                let then = vec![set(which, value, self.mode)];
                let note = Statement { kind: StatementKind::If { condition, then, otherwise: vec![] }, span };
                // All that the loop does stands under one condition, so that the loop can be left.
                let open = self.blocks.last_mut().expect("a block is open while a function is checked");
                match open.last_mut().and_then(|last| under(last, going)) {
                    Some(body) => body.push(note),
                    None => open.push(note),
                }
            }
            Some(_) | None => self.note(which, value, span),
        }
        let mut ends = numbers;
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    fn body_once(&mut self, body: &[ast::Expr]) {
        let (straight_from, loop_depth, tail) = (self.flow.straight_from, self.flow.loop_depth, self.flow.tail);
        self.flow.straight_from = self.blocks.len();
        self.flow.loop_depth = self.blocks.len();
        self.flow.tail = true;
        self.scopes.push(Default::default());
        self.declare_assigned(body);
        self.body(body, Place::Middle);
        self.scopes.pop();
        (self.flow.straight_from, self.flow.loop_depth, self.flow.tail) = (straight_from, loop_depth, tail);
    }

    /// The iterator's distance from the start, modulo the number of meanings.
    fn phase(&self, iterator: LocalId, range: &RangeValue, period: usize, span: Span) -> Expr {
        let RangeValue { start, step, .. } = range;
        let (distance, size) = match *step > 0 {
            true => (binary(BinaryOp::Sub, self.read(iterator, span), start.clone(), span), *step),
            false => (binary(BinaryOp::Sub, start.clone(), self.read(iterator, span), span), step.saturating_neg()),
        };
        remainder(distance, (period as i64).saturating_mul(size), span)
    }

    /// The statements after a path that left names of arrays with several meanings: once for each.
    pub(super) fn after_variants(&mut self, variants: Variants, rest: &[ast::Expr], place: Place) -> Tail {
        let copy = self.flow.copy;
        self.asked(&variants.selector);
        let count = self.variables.len();
        let tail = self.variant(&variants, 0, rest, place, count);
        self.flow.copy = copy;
        tail
    }

    fn variant(&mut self, variants: &Variants, turn: usize, rest: &[ast::Expr], place: Place, count: usize) -> Tail {
        self.set_names(&variants.meanings[turn]);
        if turn + 1 == variants.meanings.len() {
            return self.body(rest, place);
        }
        let span = variants.span;
        let mut condition = Ok(equals(variants.selector.clone(), turn as i64, span));
        let assigned = self.assigned.clone();
        let before = self.meanings();
        let (mut then, then_tail) = self.in_branch(|checker| checker.body(rest, place));
        let then_end = self.path_end(count);
        let after_then = std::mem::replace(&mut self.assigned, assigned);
        self.restore(&before);
        self.flow.copy += 1;
        let (mut otherwise, other_tail) =
            self.in_branch(|checker| checker.variant(variants, turn + 1, rest, place, count));
        let other_end = self.path_end(count);
        self.join_meanings(&mut condition, (&mut then, then_end), (&mut otherwise, other_end), span);
        self.assigned.retain(|variable| after_then.contains(variable));
        self.join_results(condition, (then, then_tail), (otherwise, other_tail), span, place)
    }

    /// The variables that a selector reads are needed from now on.
    fn asked(&mut self, selector: &Expr) {
        self.flow.unread.retain(|which| {
            !selector.any(&|part| matches!(part.kind, super::tree::ExprKind::Local(id) if id == *which))
        });
    }

    /// Whether the statements use a name whose meaning depends on the variant, or note what names mean.
    pub(super) fn uses_variants(&self, variants: &Variants, rest: &[ast::Expr]) -> bool {
        let mut names: Vec<&str> = changed(variants).map(|it| self.variables[it.0].name.as_str()).collect();
        if let Some(Some(renaming)) = self.flow.renamings.last() {
            names.extend(renaming.going.as_deref());
        }
        // A function of the function may use them, too.
        let functions = self.variables.iter().filter(|it| matches!(it.state, State::Alias(Value::Function(_))));
        names.extend(functions.map(|it| it.name.as_str()));
        rest.iter().any(|statement| super::walk::mentions(statement, &names))
    }

    /// Two paths, one after the other, that changed names independently.
    pub(super) fn both(&mut self, first: Variants, second: Variants) -> Variants {
        self.asked(&first.selector);
        self.asked(&second.selector);
        let (of_first, of_second): (Vec<VariableId>, Vec<VariableId>) =
            (changed(&first).collect(), changed(&second).collect());
        let mut meanings = vec![];
        for one in &first.meanings {
            for other in &second.meanings {
                let mut meaning: Meaning = one.iter().copied().filter(|(it, _)| !of_second.contains(it)).collect();
                meaning
                    .extend(other.iter().copied().filter(|(it, _)| !of_first.contains(it) || of_second.contains(it)));
                meaning.sort_unstable();
                meaning.dedup_by_key(|(variable, _)| *variable);
                meanings.push(meaning);
            }
        }
        let span = second.span;
        let size = number(second.meanings.len(), span);
        let selector = binary(BinaryOp::Mul, first.selector, size, span);
        let selector = binary(BinaryOp::Add, selector, second.selector, span);
        Variants { selector, meanings, span }
    }
}

/// The variables that do not mean the same in all variants.
fn changed(variants: &Variants) -> impl Iterator<Item = VariableId> + '_ {
    let means =
        |all: &Meaning, variable: VariableId| all.iter().find(|(it, _)| *it == variable).map(|(_, array)| *array);
    let first = &variants.meanings[0];
    let known = variants.meanings.iter().flatten().map(|(variable, _)| *variable);
    let known: std::collections::BTreeSet<VariableId> = known.collect();
    known.into_iter().filter(move |&it| variants.meanings.iter().any(|other| means(other, it) != means(first, it)))
}

/// The number of a meaning in the list. A name that has none yet may come to mean anything.
fn numbered(list: &mut Vec<Meaning>, meaning: Meaning) -> usize {
    let agrees = |known: &Meaning| {
        meaning.iter().all(|(variable, array)| known.iter().all(|(it, other)| it != variable || other == array))
    };
    match list.iter().position(agrees) {
        Some(at) => {
            let known = &mut list[at];
            let new: Meaning =
                meaning.iter().copied().filter(|(it, _)| !known.iter().any(|(other, _)| other == it)).collect();
            known.extend(new);
            known.sort_unstable();
            at
        }
        None => {
            list.push(meaning);
            list.len() - 1
        }
    }
}

/// `table[selector]`.
fn renumbered(selector: Expr, table: &[usize]) -> Expr {
    let span = selector.span;
    let last = number(table.last().copied().unwrap_or_default(), span);
    table.iter().enumerate().rev().skip(1).fold(last, |others, (at, &new)| {
        if_else(equals(selector.clone(), at as i64, span), number(new, span), others, span)
    })
}

/// The body whose condition holds; the last one needs none.
fn chosen(mut bodies: Vec<Block>, conditions: Vec<Expr>, span: Span) -> Block {
    let last = bodies.pop().unwrap_or_default();
    bodies.into_iter().zip(conditions).rev().fold(last, |otherwise, (then, condition)| {
        vec![Statement { kind: StatementKind::If { condition, then, otherwise }, span }]
    })
}

/// What a statement does under the condition that the flag is set.
fn under(statement: &mut Statement, flag: LocalId) -> Option<&mut Block> {
    match &mut statement.kind {
        StatementKind::If { condition, then, otherwise } if otherwise.is_empty() && reads(condition, flag) => {
            Some(then)
        }
        StatementKind::If { .. }
        | StatementKind::Set { .. }
        | StatementKind::Store { .. }
        | StatementKind::For { .. }
        | StatementKind::Allocate { .. }
        | StatementKind::Require { .. } => None,
    }
}

fn reads(expr: &Expr, flag: LocalId) -> bool {
    matches!(expr.kind, super::tree::ExprKind::Local(id) if id == flag)
}

/// The condition that all that the bodies do stands under, and what stands under it.
fn without_flag(bodies: Vec<Block>, flag: Option<LocalId>) -> (Option<Expr>, Vec<Block>) {
    let is_under = |block: &Block| match (block.as_slice(), flag) {
        ([Statement { kind: StatementKind::If { condition, otherwise, .. }, .. }], Some(flag)) => {
            otherwise.is_empty() && reads(condition, flag)
        }
        (_, _) => false,
    };
    if !bodies.iter().all(is_under) {
        return (None, bodies);
    }
    let mut outside = None;
    let inside = bodies.into_iter().flatten().map(|statement| match statement.kind {
        StatementKind::If { condition, then, .. } => {
            outside = Some(condition);
            then
        }
        _ => unreachable!("all of them are conditions"),
    });
    let inside = inside.collect();
    (outside, inside)
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

fn number(value: usize, span: Span) -> Expr {
    Expr::int64(value as i64, span)
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
