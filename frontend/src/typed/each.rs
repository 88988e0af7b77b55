//! `foreach(x -> ..., range)`, which is the loop that its documentation describes:
//!
//! ```text
//! foreach(1:n) do i
//!     y[i] = x[i]        ->   for i in 1:n; y[i] = x[i]; end
//! end
//! ```
//!
//! It is written as one before anything else looks at the function: what the closure assigns is assigned in a loop. So is
//! `Threads.@threads for`, which only says that the iterations may run in any order; whether they may is proved here.

use super::full_name::behind_module;
use super::jumps::Jump;
use super::walk::parts;
use crate::ast::{Argument, Block, Broadcast, Expr, ExprKind, Iteration, Name, Section};
use tessella_diagnostics::Span;

/// Whose function `foreach` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Foreach {
    Base,
    User,
}

/// The statements with loops in the place of calls of `foreach`, and of loops under `@threads`, that stand among them, however
/// deep.
pub(super) fn as_loops(body: &[Expr], foreach: Foreach) -> Block {
    body.iter().map(|statement| as_loop(statement, foreach)).collect()
}

fn as_loop(statement: &Expr, foreach: Foreach) -> Expr {
    let span = statement.span;
    let as_loops = |body: &[Expr]| as_loops(body, foreach);
    let is_each = |callee: &Expr| match &callee.kind {
        ExprKind::Name(name) => foreach == Foreach::Base && name == "foreach",
        _ => matches!(behind_module(callee), Some((_, "foreach"))),
    };
    let kind = match &statement.kind {
        ExprKind::Block(body) => ExprKind::Block(as_loops(body)),
        ExprKind::For { iterations, body } => ExprKind::For { iterations: iterations.clone(), body: as_loops(body) },
        ExprKind::While { condition, body } => ExprKind::While { condition: condition.clone(), body: as_loops(body) },
        ExprKind::Let { bindings, body } => ExprKind::Let { bindings: bindings.clone(), body: as_loops(body) },
        ExprKind::If { branches, otherwise } => ExprKind::If {
            branches: branches.iter().map(|(condition, body)| (condition.clone(), as_loops(body))).collect(),
            otherwise: otherwise.as_deref().map(as_loops),
        },
        // What threads do stands in a function of its own, which Julia's `@inbounds` around it does not reach.
        ExprKind::MacroCall { name, arguments } if name.value == "inbounds" && arguments.iter().any(has_threads) => {
            return statement.clone();
        }
        ExprKind::MacroCall { name, arguments } if matches!(name.value.as_str(), "inbounds" | "views") => {
            ExprKind::MacroCall { name: name.clone(), arguments: as_loops(arguments) }
        }
        ExprKind::MacroCall { name, arguments } if is_threads(name) => {
            return threaded(arguments).map_or_else(|| statement.clone(), |inner| as_loop(inner, foreach));
        }
        ExprKind::Call { callee, arguments, broadcast: Broadcast::No } if is_each(callee) => {
            let values: Vec<Expr> = arguments.iter().map(|argument| argument.value.clone()).collect();
            let is_plain = arguments.iter().all(|argument| argument.keyword.is_none());
            match values.split_first() {
                Some((Expr { kind: ExprKind::Lambda { arguments: names, body }, .. }, over)) if is_plain => {
                    return each(names, over, std::slice::from_ref(&**body), span, foreach)
                        .unwrap_or_else(|| statement.clone());
                }
                _ => return statement.clone(),
            }
        }
        ExprKind::Do { call, arguments: names, body } => match &call.kind {
            ExprKind::Call { callee, arguments, broadcast: Broadcast::No } if is_each(callee) => {
                let over: Vec<Expr> = arguments.iter().map(|argument| argument.value.clone()).collect();
                let is_plain = arguments.iter().all(|argument| argument.keyword.is_none());
                let found = if is_plain { each(names, &over, body, span, foreach) } else { None };
                return found.unwrap_or_else(|| statement.clone());
            }
            _ => return statement.clone(),
        },
        _ => return statement.clone(),
    };
    Expr { kind, span }
}

/// `f(x, y) do a ... end` as `f(a -> ..., x, y)`; `None` where the block is no value of its last statement.
pub(super) fn with_closure(expr: &Expr) -> Option<Expr> {
    let ExprKind::Do { call, arguments: names, body } = &expr.kind else { return None };
    let ExprKind::Call { callee, arguments, broadcast: Broadcast::No } = &call.kind else { return None };
    let (first, last) = (body.first()?, body.last()?);
    if body.iter().any(leaves) {
        return None;
    }
    let at = first.span.to(last.span);
    let body = match body.as_slice() {
        [only] => only.clone(),
        _ => Expr { kind: ExprKind::Block(body.clone()), span: at },
    };
    let closure = Expr { kind: ExprKind::Lambda { arguments: names.clone(), body: Box::new(body) }, span: at };
    let mut given = vec![Argument { keyword: None, value: closure, section: Section::Main }];
    given.extend(arguments.iter().cloned());
    let kind = ExprKind::Call { callee: callee.clone(), arguments: given, broadcast: Broadcast::No };
    Some(Expr { kind, span: expr.span })
}

fn is_threads(name: &Name) -> bool {
    matches!(name.value.as_str(), "threads" | "Threads.threads" | "Base.Threads.threads")
}

fn has_threads(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::MacroCall { name, .. } if is_threads(name))
        || parts(expr).into_iter().any(has_threads)
}

/// The loop of `@threads for ...` and `@threads :static for ...`; `None` where a jump ends what one thread does.
fn threaded(arguments: &[Expr]) -> Option<&Expr> {
    let target = match arguments {
        [target] => target,
        [Expr { kind: ExprKind::Symbol(_), .. }, target] => target,
        _ => return None,
    };
    let ExprKind::For { iterations, body } = &target.kind else { return None };
    let jumps = |jump: &Jump| body.iter().any(|statement| super::jumps::holds(statement, jump));
    (iterations.len() == 1 && !jumps(&Jump::Return) && !jumps(&Jump::Break)).then_some(target)
}

/// `for names in over body end`; `None` where the closure is more than the body of a loop.
fn each(names: &[Expr], over: &[Expr], body: &[Expr], span: Span, foreach: Foreach) -> Option<Expr> {
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
    let body = as_loops(body, foreach);
    Some(Expr { kind: ExprKind::For { iterations: vec![iteration], body }, span })
}

/// Whether a `return` or a jump stands in the expression.
fn leaves(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Return(_) | ExprKind::Break | ExprKind::Continue)
        || parts(expr).into_iter().any(leaves)
}
