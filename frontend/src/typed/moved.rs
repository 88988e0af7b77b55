//! `while` loops with a counter that data have moved before:
//!
//! ```text
//! for i in 1:n                                          for i in 1:n
//!     while j <= m && y[j] < x[i]                           while true
//!         j += 1                         ->                     j <= m && y[j] < x[i] || break
//!     end                                                       j += 1
//!     ...                                                   end
//! ```
//!
//! A loop over a range needs a start that sizes tell. Where a loop that data ended has moved the counter, in this iteration of the loops
//! around or in one before, and nothing has set it since, the loop stays one that data end.

use super::jumps;
use super::loops::counter_of;
use super::scope::assigned_names;
use super::walk::{mentions, parts};
use crate::ast::{Block, Expr, ExprKind};
use std::collections::BTreeSet;

type Names = BTreeSet<String>;

/// The statements with such loops in that form.
pub(super) fn settled(body: &[Expr]) -> Block {
    block(body, &mut Names::new())
}

/// The same where `moved` are the names that data have moved before, and then, those that they have moved after it.
fn block(body: &[Expr], moved: &mut Names) -> Block {
    body.iter().map(|statement| one(statement, moved)).collect()
}

fn one(statement: &Expr, moved: &mut Names) -> Expr {
    let span = statement.span;
    let kind = match &statement.kind {
        ExprKind::Block(body) => ExprKind::Block(block(body, moved)),
        ExprKind::Let { bindings, body } => ExprKind::Let { bindings: bindings.clone(), body: block(body, moved) },
        ExprKind::MacroCall { name, arguments } if matches!(name.value.as_str(), "inbounds" | "views") => {
            ExprKind::MacroCall { name: name.clone(), arguments: block(arguments, moved) }
        }
        ExprKind::For { iterations, body } => {
            let mut inside = &*moved | &moved_in(body);
            let inner = block(body, &mut inside);
            moved.extend(moved_in(body));
            ExprKind::For { iterations: iterations.clone(), body: inner }
        }
        ExprKind::While { condition, body } => {
            let counter = counter_of(condition, body).map(|(counter, _)| counter);
            let mut inside = &*moved | &moved_in(std::slice::from_ref(statement));
            let inner = block(body, &mut inside);
            let is_moved = counter.is_some_and(|counter| moved.contains(&counter));
            moved.extend(moved_in(std::slice::from_ref(statement)));
            if is_moved {
                // Moved by data, it moves by data.
                moved.extend(assigned_names(body));
                until(condition, inner)
            } else {
                ExprKind::While { condition: condition.clone(), body: inner }
            }
        }
        ExprKind::If { branches, otherwise } => {
            let before = moved.clone();
            let mut branch = |body: &[Expr]| {
                let mut inside = before.clone();
                let inner = block(body, &mut inside);
                moved.extend(inside);
                inner
            };
            ExprKind::If {
                branches: branches.iter().map(|(condition, body)| (condition.clone(), branch(body))).collect(),
                otherwise: otherwise.as_deref().map(branch),
            }
        }
        ExprKind::Assign { target, value, operator: None, .. } => {
            set(target, value, moved);
            return statement.clone();
        }
        _ => return statement.clone(),
    };
    Expr { kind, span }
}

/// `while true; condition || break; body end`.
fn until(condition: &Expr, body: Block) -> ExprKind {
    let span = condition.span;
    let leave = Expr { kind: ExprKind::Break, span };
    let asked = Expr { kind: ExprKind::Or(Box::new(condition.clone()), Box::new(leave)), span };
    let always = Expr { kind: ExprKind::Bool(true), span };
    ExprKind::While { condition: Box::new(always), body: std::iter::once(asked).chain(body).collect() }
}

/// The names that loops that data end may have moved somewhere in these statements.
fn moved_in(body: &[Expr]) -> Names {
    let mut names = Names::new();
    for statement in body {
        let by_data = match &statement.kind {
            ExprKind::While { condition, body } => match counter_of(condition, body) {
                Some((_, by_data)) => by_data || jumps::has_break(body),
                None => true,
            },
            _ => false,
        };
        if by_data {
            names.extend(assigned_names(std::slice::from_ref(statement)));
        }
        parts(statement).into_iter().for_each(|part| names.extend(moved_in(std::slice::from_ref(part))));
    }
    names
}

/// What an assignment sets anew: to something that data have moved, or not.
fn set(target: &Expr, value: &Expr, moved: &mut Names) {
    match &target.kind {
        ExprKind::Name(name) => {
            if moved.iter().any(|moved| mentions(value, &[moved])) {
                moved.insert(name.clone());
            } else {
                moved.remove(name);
            }
        }
        ExprKind::Tuple(parts) => parts.iter().for_each(|part| set(&part.value, value, moved)),
        _ => {}
    }
}
