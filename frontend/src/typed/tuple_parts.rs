//! Names of tuples with arrays in them that a loop or a branch assigns again:
//!
//! ```text
//! state = (copy(u), zero(u))               state_1, state_2 = copy(u), zero(u)
//! for t in 1:steps                         for t in 1:steps
//!     x, v = state                 ->          x, v = (state_1, state_2)
//!     state = (x .+ v, v .- x)                 state_1, state_2 = x .+ v, v .- x
//! end                                      end
//! ```
//!
//! Each element becomes a name of its own, which loops and branches may give other arrays ([`super::rebinding`]).

use super::jumps::name;
use super::walk::{mentions, parts_mut};
use crate::ast::{Argument, Block, Broadcast, Expr, ExprKind, Function, Section};
use tessella_diagnostics::Span;

/// Stands at the end of the names of elements.
const PART: &str = "#part";

/// What is known of the tuples that a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) count: usize,
    /// Of a named tuple.
    pub(super) fields: Option<Vec<String>>,
}

/// Whether the assignment gives names to all elements of a tuple, which may have no more.
pub(super) fn takes_all(targets: &[Argument]) -> bool {
    targets.iter().any(|it| matches!(&it.value.kind, ExprKind::Name(name) if name.ends_with(PART)))
}

/// The function with names for the elements of the tuple; `None` where it does something with the tuple that these cannot stand for.
pub(super) fn split(function: &Function, of: &str, shape: &Shape) -> Option<Function> {
    let split = Split { of, shape };
    let is_parameter = function.parameters.iter().any(|it| it.name.as_ref().is_some_and(|name| name.value == of));
    let mut body = split.block(&function.body)?;
    if is_parameter {
        body.insert(0, split.assigned(name(of, function.signature), function.signature));
    }
    Some(Function { body, ..function.clone() })
}

struct Split<'a> {
    of: &'a str,
    shape: &'a Shape,
}

impl Split<'_> {
    fn is_it(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Name(name) if name == self.of)
    }

    fn part(&self, at: usize, span: Span) -> Expr {
        name(&format!("#{}_{}{PART}", self.of, at + 1), span)
    }

    fn arguments(&self, fields: Option<&[String]>, span: Span) -> Vec<Argument> {
        let keyword = |at: usize| fields.map(|it| tessella_diagnostics::Spanned { value: it[at].clone(), span });
        let argument = |at| Argument { keyword: keyword(at), value: self.part(at, span), section: Section::Main };
        (0..self.shape.count).map(argument).collect()
    }

    /// All elements in the place of the name.
    fn whole(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::Tuple(self.arguments(self.shape.fields.as_deref(), span)), span }
    }

    fn assigned(&self, value: Expr, span: Span) -> Expr {
        let target = Box::new(Expr { kind: ExprKind::Tuple(self.arguments(None, span)), span });
        let kind = ExprKind::Assign { operator: None, broadcast: Broadcast::No, target, value: Box::new(value) };
        Expr { kind, span }
    }

    fn block(&self, body: &[Expr]) -> Option<Block> {
        body.iter().map(|statement| self.rewritten(statement)).collect()
    }

    fn rewritten(&self, expr: &Expr) -> Option<Expr> {
        if !mentions(expr, &[self.of]) {
            return Some(expr.clone());
        }
        let span = expr.span;
        match &expr.kind {
            ExprKind::Name(_) => return Some(self.whole(span)),
            ExprKind::Assign { operator, broadcast, target, value } if self.is_it(target) => {
                if operator.is_some() || *broadcast == Broadcast::Yes {
                    return None;
                }
                let fields = |value: &Expr| -> Option<Vec<Option<String>>> {
                    let ExprKind::Tuple(elements) = &value.kind else { return None };
                    Some(elements.iter().map(|it| it.keyword.as_ref().map(|it| it.value.clone())).collect())
                };
                let wanted: Option<Vec<Option<String>>> =
                    self.shape.fields.as_ref().map(|names| names.iter().cloned().map(Some).collect());
                let mut value = self.rewritten(value)?;
                if wanted.is_some() {
                    // What order another value has its elements in is not known here.
                    if fields(&value) != wanted {
                        return None;
                    }
                    if let ExprKind::Tuple(elements) = &mut value.kind {
                        elements.iter_mut().for_each(|it| it.keyword = None);
                    }
                }
                return Some(self.assigned(value, span));
            }
            ExprKind::Index { base, subscripts } if self.is_it(base) => {
                if let [Argument { value: Expr { kind: ExprKind::Integer(at), .. }, keyword: None, .. }] = &**subscripts
                    && let Ok(at) = at.parse::<usize>()
                    && (1..=self.shape.count).contains(&at)
                {
                    return Some(self.part(at - 1, span));
                }
            }
            ExprKind::Field { base, field } if self.is_it(base) => {
                let at = self.shape.fields.as_ref()?.iter().position(|it| *it == field.value)?;
                return Some(self.part(at, span));
            }
            // Scopes of their own may have the name for something else, or keep it.
            ExprKind::Function(_)
            | ExprKind::Lambda { .. }
            | ExprKind::Do { .. }
            | ExprKind::Let { .. }
            | ExprKind::Generator { .. }
            | ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::Const(_)
            | ExprKind::Typed { .. } => return None,
            ExprKind::For { iterations, .. } if iterations.iter().any(|it| mentions(&it.target, &[self.of])) => {
                return None;
            }
            _ => {}
        }
        let mut all = expr.clone();
        for part in parts_mut(&mut all) {
            *part = self.rewritten(part)?;
        }
        Some(all)
    }
}
