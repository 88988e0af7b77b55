//! `while` loops with a counter that data have moved before:
//!
//! ```text
//! for i in 1:n                                          for i in 1:n
//!     while j <= m && y[j] < x[i]                           while true
//!         j += 1                         ->                     if !(j <= m && y[j] < x[i]) break end
//!     end                                                       j += 1
//!     ...                                                   end
//! ```
//!
//! A loop over a range needs a start that sizes tell. Where a loop that data ended has moved the counter, in this iteration of the loops
//! around or in one before, and nothing has set it since, the loop stays one that data end.

use super::loops::{asked_inside, counter_of};
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
        ExprKind::Let { bindings, body } => {
            let (mut inside, mut own) = (moved.clone(), Names::new());
            for binding in bindings {
                bind(binding, &mut inside);
                own.extend(assigned_names(std::slice::from_ref(binding)));
                own.extend(names_of(binding));
            }
            let inner = block(body, &mut inside);
            // The names that it binds are others outside of it.
            *moved = &(&inside - &own) | &(&*moved & &own);
            ExprKind::Let { bindings: bindings.clone(), body: inner }
        }
        ExprKind::Local(names) => {
            names.iter().for_each(|name| bind(name, moved));
            return statement.clone();
        }
        ExprKind::MacroCall { name, arguments } => {
            ExprKind::MacroCall { name: name.clone(), arguments: block(arguments, moved) }
        }
        ExprKind::For { iterations, body } => {
            let mut inside = &*moved | &moved_in(body);
            for name in iterations.iter().flat_map(|it| names_of(&it.target)) {
                inside.remove(&name);
            }
            let inner = block(body, &mut inside);
            moved.extend(moved_in(body));
            ExprKind::For { iterations: iterations.clone(), body: inner }
        }
        ExprKind::While { condition, body } => {
            let counter = counter_of(condition, body).map(|(counter, _)| counter);
            let is_moved = counter.as_ref().is_some_and(|counter| moved.contains(counter));
            let by_data = moved_in(std::slice::from_ref(statement));
            let mut inside = &*moved | &by_data;
            if let Some(counter) = counter.filter(|_| !is_moved) {
                // In a loop over a range, it is the iterator.
                inside.remove(&counter);
            }
            let inner = block(body, &mut inside);
            moved.extend(by_data);
            if is_moved {
                // Moved by data, it moves by data.
                moved.extend(assigned_names(body));
                asked_inside(condition, inner)
            } else {
                ExprKind::While { condition: condition.clone(), body: inner }
            }
        }
        ExprKind::If { branches, otherwise } => {
            let before = moved.clone();
            let mut after = if otherwise.is_some() { Names::new() } else { before.clone() };
            let mut branch = |body: &[Expr]| {
                let mut inside = before.clone();
                let inner = block(body, &mut inside);
                after.extend(inside);
                inner
            };
            let kind = ExprKind::If {
                branches: branches.iter().map(|(condition, body)| (condition.clone(), branch(body))).collect(),
                otherwise: otherwise.as_deref().map(&mut branch),
            };
            *moved = after;
            kind
        }
        ExprKind::Assign { operator: None, .. } => {
            bind(statement, moved);
            return statement.clone();
        }
        _ => return statement.clone(),
    };
    Expr { kind, span }
}

/// The names that loops that data end may have moved somewhere in these statements.
fn moved_in(body: &[Expr]) -> Names {
    let mut names = Names::new();
    for statement in body {
        let by_data = match &statement.kind {
            ExprKind::While { condition, body } => counter_of(condition, body).is_none_or(|(_, is_left)| is_left),
            _ => false,
        };
        if by_data {
            names.extend(assigned_names(std::slice::from_ref(statement)));
        }
        parts(statement).into_iter().for_each(|part| names.extend(moved_in(std::slice::from_ref(part))));
    }
    names
}

/// What an assignment, also one in the place of the value of another, sets anew; names without a value are anew as well.
fn bind(statement: &Expr, moved: &mut Names) {
    match &statement.kind {
        ExprKind::Assign { target, value, operator: None, .. } => {
            bind_value(value, moved);
            set(target, innermost(value), moved);
        }
        ExprKind::Name(name) => drop(moved.remove(name)),
        ExprKind::Typed { value: Some(name), .. } => bind(name, moved),
        _ => {}
    }
}

fn bind_value(value: &Expr, moved: &mut Names) {
    if let ExprKind::Assign { operator: None, .. } = &value.kind {
        bind(value, moved);
    }
}

/// The value that a chain of assignments gives to all of them.
fn innermost(value: &Expr) -> &Expr {
    match &value.kind {
        ExprKind::Assign { value, operator: None, .. } => innermost(value),
        _ => value,
    }
}

/// To something that data have moved, or not.
fn set(target: &Expr, value: &Expr, moved: &mut Names) {
    match &target.kind {
        ExprKind::Name(name) => {
            if moved.iter().any(|moved| mentions(value, &[moved])) {
                moved.insert(name.clone());
            } else {
                moved.remove(name);
            }
        }
        ExprKind::Typed { value: Some(name), .. } => set(name, value, moved),
        ExprKind::Tuple(parts) => parts.iter().for_each(|part| set(&part.value, value, moved)),
        _ => {}
    }
}

/// The names that a target of a loop, or a binding without a value, consists of.
fn names_of(target: &Expr) -> Vec<String> {
    match &target.kind {
        ExprKind::Name(name) => vec![name.clone()],
        ExprKind::Typed { value: Some(name), .. } => names_of(name),
        ExprKind::Tuple(parts) => parts.iter().flat_map(|part| names_of(&part.value)).collect(),
        _ => vec![],
    }
}
