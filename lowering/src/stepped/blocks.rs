//! What blocks read and set, and blocks without some of it.

use std::collections::BTreeSet;
use tessella_frontend::typed::tree::{Block, Expr, ExprKind, LocalId, Range, Statement, StatementKind};

/// The locals that a block sets, however deep.
pub(super) fn targets(block: &Block, found: &mut BTreeSet<LocalId>) {
    for statement in block {
        match &statement.kind {
            StatementKind::Set { target, .. } => {
                found.insert(*target);
            }
            StatementKind::For { body, .. } => targets(body, found),
            StatementKind::If { then, otherwise, .. } => {
                targets(then, found);
                targets(otherwise, found);
            }
            StatementKind::Store { .. } | StatementKind::Allocate { .. } | StatementKind::Require { .. } => {}
        }
    }
}

pub(super) fn sets_any(block: &Block, locals: &BTreeSet<LocalId>) -> bool {
    let mut found = BTreeSet::new();
    targets(block, &mut found);
    !found.is_disjoint(locals)
}

/// The locals that a block reads; a variable that only its own assignments read counts as not read.
pub(crate) fn reads(block: &Block, found: &mut BTreeSet<LocalId>) {
    let mut expr = |value: &Expr, but: Option<LocalId>| {
        let mut open = vec![value];
        while let Some(part) = open.pop() {
            if let ExprKind::Local(local) = part.kind
                && but != Some(local)
            {
                found.insert(local);
            }
            open.extend(part.operands());
        }
    };
    for statement in block {
        match &statement.kind {
            StatementKind::Set { target, value, .. } => expr(value, Some(*target)),
            StatementKind::For { range: Range { start, stop, .. }, .. } => {
                [start, stop].map(|end| expr(end, None)).into_iter().collect()
            }
            StatementKind::If { condition, .. } | StatementKind::Require { condition, .. } => expr(condition, None),
            StatementKind::Store { subscripts, value, .. } => {
                subscripts.iter().chain([value]).for_each(|part| expr(part, None));
            }
            StatementKind::Allocate { extents, .. } => extents.iter().for_each(|extent| expr(extent, None)),
        }
    }
    for statement in block {
        match &statement.kind {
            StatementKind::For { body, .. } => reads(body, found),
            StatementKind::If { then, otherwise, .. } => {
                reads(then, found);
                reads(otherwise, found);
            }
            StatementKind::Set { .. }
            | StatementKind::Store { .. }
            | StatementKind::Allocate { .. }
            | StatementKind::Require { .. } => {}
        }
    }
}

/// The locals that a block sets to something that is loaded.
pub(super) fn loading(block: &Block, found: &mut BTreeSet<LocalId>) {
    for statement in block {
        match &statement.kind {
            StatementKind::Set { target, value, .. } if loads(value) => {
                found.insert(*target);
            }
            StatementKind::For { body, .. } => loading(body, found),
            StatementKind::If { then, otherwise, .. } => {
                loading(then, found);
                loading(otherwise, found);
            }
            StatementKind::Set { .. }
            | StatementKind::Store { .. }
            | StatementKind::Allocate { .. }
            | StatementKind::Require { .. } => {}
        }
    }
}

fn loads(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Load { .. }) || expr.operands().into_iter().any(loads)
}

/// The block without assignments to locals.
pub(super) fn without(block: &Block, locals: &BTreeSet<LocalId>) -> Block {
    let mut kept = vec![];
    for Statement { kind, span } in block {
        let kind = match kind {
            StatementKind::Set { target, .. } if locals.contains(target) => continue,
            StatementKind::For { id, iterator, range, mode, body } => {
                let body = without(body, locals);
                StatementKind::For { id: *id, iterator: *iterator, range: range.clone(), mode: *mode, body }
            }
            StatementKind::If { condition, then, otherwise } => {
                let (then, otherwise) = (without(then, locals), without(otherwise, locals));
                StatementKind::If { condition: condition.clone(), then, otherwise }
            }
            other => other.clone(),
        };
        kept.push(Statement { kind, span: *span });
    }
    kept
}
