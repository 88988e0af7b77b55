//! Loops that exchange names of arrays: the body is checked once for each meaning that the names take.
//!
//! ```text
//! for t in 1:steps                    for t in 1:steps
//!     B[i] = A[i]                         if (t - 1) % 2 == 0
//!     A, B = B, A              ->             B[i] = A[i]
//! end                                     else
//!                                             A[i] = B[i]
//! ```
//!
//! Where every iteration moves on to the next meaning in turn, the iterator tells which one it is, and after the loop the
//! number of iterations does. Where data decide, a variable notes it: at each `break`, and at the end of each iteration.

use super::check::{Checked, Checker};
use super::flow::set;
use super::meanings::{MOST_VARIANTS, Meaning, Variants, array_of, equals, number, numbered, remainder, renumbered};
use super::operator::binary;
use super::rebinding::{Standing, unite};
use super::scope::{State, VariableId};
use super::statement::Place;
use super::tree::{Block, Expr, ExprKind, LocalId, Role, Statement, StatementKind, Type};
use super::unsupported::Construct;
use super::value::RangeValue;
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, ScalarType};

/// Loops inside of one another that exchange names multiply: no more bodies of a function are checked once more.
const MOST_BODIES: usize = 200;

/// A loop whose body assigns names of arrays.
#[derive(Debug)]
pub(super) struct Renaming {
    /// The variables outside of the loop.
    pub count: usize,
    /// Notes the meaning at the end of an iteration or at a `break`, by its number in `meanings`.
    pub which: LocalId,
    /// The flag that a `break` sets to false.
    pub going: Option<String>,
    /// Those found so far, at the beginning or end of an iteration or at a `break`.
    pub meanings: Vec<Meaning>,
}

impl Checker<'_> {
    /// Before a loop: whether its body assigns names of arrays. Ends with the loop's entry in [`super::flow::Flow`].
    pub(super) fn announce_renaming(&mut self, body: &[ast::Expr], span: Span) {
        let names = super::scope::assigned_names(body);
        self.prepare_rebinding(&names, span);
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
        self.leave_standing();
        self.flow.left = true;
    }

    fn note(&mut self, which: LocalId, value: Expr, span: Span) {
        self.note_set(which, true);
        let mode = self.mode;
        self.emit(StatementKind::Set { target: which, value, label: None, mode }, span);
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
        let standing = self.standing();
        let mut standing_after = Standing::new();
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
            self.set_standing(standing.clone());
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
            unite(&mut standing_after, self.standing());
            if at == 0 {
                bodies.push(self.blocks.last_mut().map_or(vec![], |block| block.split_off(start)));
            }
            self.flow.variants += usize::from(at > 0);
            let many = reached.len() > MOST_VARIANTS || self.flow.variants > MOST_BODIES;
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
        self.set_standing(standing_after);
        self.standing_after_loop(&standing, count);
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
    matches!(expr.kind, ExprKind::Local(id) if id == flag)
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
        StatementKind::Set { .. }
        | StatementKind::Store { .. }
        | StatementKind::For { .. }
        | StatementKind::Allocate { .. }
        | StatementKind::Require { .. } => unreachable!("all of them are conditions"),
    });
    let inside = inside.collect();
    (outside, inside)
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
