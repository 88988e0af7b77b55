//! `foreach(x -> ..., range)`, which is the loop that its documentation describes:
//!
//! ```text
//! foreach(1:n) do i
//!     y[i] = x[i]        ->   for i in 1:n; y[i] = x[i]; end
//! end
//! ```
//!
//! It is written as one before anything else looks at the function: what the closure assigns is assigned in a loop.

use super::walk::parts;
use crate::ast::{Block, Broadcast, Expr, ExprKind, Iteration};
use tessella_diagnostics::Span;

/// The statements with loops in the place of calls of `foreach` that stand among them, however deep.
pub(super) fn as_loops(body: &[Expr]) -> Block {
    body.iter().map(as_loop).collect()
}

fn as_loop(statement: &Expr) -> Expr {
    let span = statement.span;
    let kind = match &statement.kind {
        ExprKind::Block(body) => ExprKind::Block(as_loops(body)),
        ExprKind::For { iterations, body } => ExprKind::For { iterations: iterations.clone(), body: as_loops(body) },
        ExprKind::While { condition, body } => ExprKind::While { condition: condition.clone(), body: as_loops(body) },
        ExprKind::Let { bindings, body } => ExprKind::Let { bindings: bindings.clone(), body: as_loops(body) },
        ExprKind::If { branches, otherwise } => ExprKind::If {
            branches: branches.iter().map(|(condition, body)| (condition.clone(), as_loops(body))).collect(),
            otherwise: otherwise.as_deref().map(as_loops),
        },
        ExprKind::MacroCall { name, arguments } if matches!(name.value.as_str(), "inbounds" | "views") => {
            ExprKind::MacroCall { name: name.clone(), arguments: as_loops(arguments) }
        }
        ExprKind::Call { callee, arguments, broadcast: Broadcast::No } if is_each(callee) => {
            let values: Vec<Expr> = arguments.iter().map(|argument| argument.value.clone()).collect();
            let is_plain = arguments.iter().all(|argument| argument.keyword.is_none());
            match values.split_first() {
                Some((Expr { kind: ExprKind::Lambda { arguments: names, body }, .. }, over)) if is_plain => {
                    return each(names, over, std::slice::from_ref(&**body), span).unwrap_or_else(|| statement.clone());
                }
                _ => return statement.clone(),
            }
        }
        ExprKind::Do { call, arguments: names, body } => match &call.kind {
            ExprKind::Call { callee, arguments, broadcast: Broadcast::No } if is_each(callee) => {
                let over: Vec<Expr> = arguments.iter().map(|argument| argument.value.clone()).collect();
                let is_plain = arguments.iter().all(|argument| argument.keyword.is_none());
                let found = if is_plain { each(names, &over, body, span) } else { None };
                return found.unwrap_or_else(|| statement.clone());
            }
            _ => return statement.clone(),
        },
        _ => return statement.clone(),
    };
    Expr { kind, span }
}

fn is_each(callee: &Expr) -> bool {
    matches!(&callee.kind, ExprKind::Name(name) if name == "foreach")
}

/// `for names in over body end`; `None` where the closure is more than the body of a loop.
fn each(names: &[Expr], over: &[Expr], body: &[Expr], span: Span) -> Option<Expr> {
    let is_target = |name: &Expr| match &name.kind {
        ExprKind::Name(_) => true,
        ExprKind::Tuple(parts) => parts.iter().all(|part| matches!(part.value.kind, ExprKind::Name(_))),
        _ => false,
    };
    let ([target], [range]) = (names, over) else { return None };
    // A `return` in it would end one call of the closure only; nobody sees the value of its last statement.
    if !is_target(target) || matches!(range.kind, ExprKind::Splat(_)) || body.iter().any(leaves) {
        return None;
    }
    let iteration = Iteration { target: target.clone(), range: range.clone(), span: range.span };
    let body = body.iter().map(as_loop).collect();
    Some(Expr { kind: ExprKind::For { iterations: vec![iteration], body }, span })
}

/// Whether a `return` or a jump stands in the expression.
fn leaves(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Return(_) | ExprKind::Break | ExprKind::Continue)
        || parts(expr).into_iter().any(leaves)
}
