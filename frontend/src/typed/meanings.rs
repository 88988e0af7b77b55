//! What names of arrays mean, where that depends on the path: loops and branches that exchange arrays.
//!
//! ```text
//! if c                                if c end
//!     A, B = B, A              ->     if c B[1] = 0
//! end                                 else A[1] = 0
//! A[1] = 0                            end
//! ```
//!
//! Statements behind such a path are checked once for each meaning; loops stand in [`super::renaming`].

use super::arrays::{Keeps, Numbers};
use super::check::{Checked, Checker};
use super::flow::set;
use super::jumps;
use super::operator::{binary, if_else};
use super::scope::{State, VariableId};
use super::statement::{Place, Tail};
use super::tree::{Block, Expr, LocalId};
use super::unsupported::Construct;
use super::value::Value;
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, ScalarType};

/// More orders of arrays are not followed.
pub(super) const MOST_VARIANTS: usize = 6;

/// Which array each name means.
pub(super) type Meaning = Vec<(VariableId, LocalId)>;

/// What names of arrays mean behind a path, one of several.
#[derive(Debug, Clone)]
pub(super) struct Variants {
    /// The number of the meaning.
    pub selector: Expr,
    pub meanings: Vec<Meaning>,
    pub span: Span,
}

/// The end of a path: what names of arrays mean there.
#[derive(Debug)]
pub(super) struct PathEnd {
    /// Whether the path has left its loop, so that nothing follows it.
    pub left: bool,
    pub meanings: Vec<Meaning>,
    /// Which one, if they are several.
    pub selector: Option<Expr>,
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
        let meaning = match meaning {
            Value::Array(array) => Value::Array(self.moved_to(array)),
            Value::ComplexArray(array) => Value::ComplexArray(self.moved_to(array)),
            other => other,
        };
        let state = match &meaning {
            Value::Array(array) => State::Array(*array),
            other => State::Alias(other.clone()),
        };
        if let Some(array) = array_of(&state)
            && self.is_made_inside(array, variable)
            && array_of(&self.variables[variable.0].state).is_some_and(|known| known != array)
        {
            let numbers = if is_alias(&state) { Numbers::Complex } else { Numbers::Real };
            let elements = self.whole_of(numbers, array, Keeps::Fresh, span);
            return self.take_over(variable, elements, span);
        }
        self.passes_standing(variable, &state);
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
        let is_pattern = matches!(target.kind, ast::ExprKind::Name(_) | ast::ExprKind::Tuple(_));
        if !is_pattern || !self.names_arrays(yes) || !self.names_arrays(no) {
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

    /// The names of arrays among the first `count` variables, and what they mean.
    pub(super) fn array_names(&self, count: usize) -> Meaning {
        let variables = self.variables.iter().take(count).enumerate();
        variables.filter_map(|(at, variable)| Some((VariableId(at), array_of(&variable.state)?))).collect()
    }

    pub(super) fn set_names(&mut self, meanings: &[(VariableId, LocalId)]) {
        for &(variable, array) in meanings {
            let state = &mut self.variables[variable.0].state;
            *state = if is_alias(state) { State::Alias(Value::ComplexArray(array)) } else { State::Array(array) };
        }
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
        let standing = self.standing();
        let (mut then, then_tail) = self.in_branch(|checker| {
            let tail = checker.body(rest, place);
            checker.settled_tail(tail, place)
        });
        let standing = self.set_standing(standing);
        let then_end = self.path_end(count);
        let after_then = std::mem::replace(&mut self.assigned, assigned);
        self.restore(&before);
        self.flow.copy += 1;
        let (mut otherwise, other_tail) = self.in_branch(|checker| {
            let tail = checker.variant(variants, turn + 1, rest, place, count);
            checker.settled_tail(tail, place)
        });
        self.join_standing(standing);
        let other_end = self.path_end(count);
        self.join_meanings(&mut condition, (&mut then, then_end), (&mut otherwise, other_end), span);
        self.assigned.retain(|variable| after_then.contains(variable));
        self.join_results(condition, (then, then_tail), (otherwise, other_tail), span, place)
    }

    /// The variables that a selector reads are needed from now on.
    pub(super) fn asked(&mut self, selector: &Expr) {
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

    /// The same variants behind a statement that gave a meaning to other names.
    pub(super) fn renewed(&self, variants: Variants) -> Variants {
        let of_variants: std::collections::BTreeSet<VariableId> = changed(&variants).collect();
        let now = self.array_names(self.variables.len());
        let renew = |meaning: &Meaning| -> Meaning {
            let kept = meaning.iter().filter(|(variable, _)| of_variants.contains(variable));
            let others = now.iter().filter(|(variable, _)| !of_variants.contains(variable));
            let mut all: Meaning = kept.chain(others).copied().collect();
            all.sort_unstable();
            all
        };
        Variants { meanings: variants.meanings.iter().map(renew).collect(), ..variants }
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
                // What neither changed means what it means behind the second.
                let is_of_first = |it: &VariableId| of_first.contains(it) && !of_second.contains(it);
                let mut meaning: Meaning = one.iter().copied().filter(|(it, _)| is_of_first(it)).collect();
                meaning.extend(other.iter().copied().filter(|(it, _)| !is_of_first(it)));
                meaning.sort_unstable();
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
pub(super) fn numbered(list: &mut Vec<Meaning>, meaning: Meaning) -> usize {
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
pub(super) fn renumbered(selector: Expr, table: &[usize]) -> Expr {
    let span = selector.span;
    let last = number(table.last().copied().unwrap_or_default(), span);
    table.iter().enumerate().rev().skip(1).fold(last, |others, (at, &new)| {
        if_else(equals(selector.clone(), at as i64, span), number(new, span), others, span)
    })
}

/// The array that a name means.
pub(super) fn array_of(state: &State) -> Option<LocalId> {
    match state {
        State::Array(array) | State::Alias(Value::ComplexArray(array)) => Some(*array),
        State::Unassigned | State::Scalar(_) | State::Complex(..) | State::Alias(_) | State::Poisoned => None,
    }
}

fn is_alias(state: &State) -> bool {
    matches!(state, State::Alias(_))
}

pub(super) fn number(value: usize, span: Span) -> Expr {
    Expr::int64(value as i64, span)
}

/// `value mod divisor`, of a positive divisor.
pub(super) fn remainder(value: Expr, divisor: i64, span: Span) -> Expr {
    binary(BinaryOp::Mod, value, Expr::int64(divisor, span), span)
}

pub(super) fn equals(value: Expr, number: i64, span: Span) -> Expr {
    super::compare::compare(CompareOp::Eq, value, Expr::int64(number, span), span)
}
