//! Statements with arrays that a condition chooses, which run on one of two paths:
//!
//! ```text
//!                              if c
//! z .= 2 .* (c ? x : -x)   ->      z .= 2 .* x
//!                              else
//!                                  z .= 2 .* -x
//!                              end
//! ```
//!
//! Nothing is copied to choose, and nothing has two meanings: each path reads the array that it stores.

use crate::ast::{self, Argument, Expr, ExprKind};
use crate::typed::check::Checker;
use tessella_diagnostics::{Span, Spanned};

/// A condition, and the expression with what it chooses.
struct Choice {
    condition: Expr,
    yes: Expr,
    no: Expr,
}

impl Checker<'_> {
    /// `target .op= value`, `target[...] = value` or `name = value` as an `if`, where the value has arrays in it of which a condition
    /// chooses one; `None` where it has none, or the statement has a name.
    pub(in crate::typed) fn choice_of_paths(
        &self,
        (broadcast, operator): (ast::Broadcast, Option<&Spanned<ast::Operator>>),
        target: &Expr,
        value: &Expr,
        span: Span,
    ) -> Option<Expr> {
        let is_name = |it: &Expr| matches!(it.kind, ExprKind::Name(_));
        let is_known = broadcast == ast::Broadcast::Yes
            || match &target.kind {
                ExprKind::Index { .. } | ExprKind::Name(_) => true,
                ExprKind::Tuple(parts) => parts.iter().all(|part| is_name(&part.value)),
                _ => false,
            };
        if !is_known || self.label.is_some() {
            return None;
        }
        let Choice { condition, yes, no } = self.choice_in(value)?;
        let store = |value: Expr| {
            let (target, value) = (Box::new(target.clone()), Box::new(value));
            Expr { kind: ExprKind::Assign { operator: operator.cloned(), broadcast, target, value }, span }
        };
        let (branches, otherwise) = (vec![(condition, vec![store(yes)])], Some(vec![store(no)]));
        Some(Expr { kind: ExprKind::If { branches, otherwise }, span })
    }

    /// The value of a function's last expression on the two paths, in the same way: a condition, and a value for each.
    pub(in crate::typed) fn value_of_paths(&self, value: &Expr) -> Option<(Expr, Expr, Expr)> {
        let Choice { condition, yes, no } = self.choice_in(value)?;
        Some((condition, yes, no))
    }

    /// The first choice of arrays that is certainly made when the expression is evaluated.
    fn choice_in(&self, expr: &Expr) -> Option<Choice> {
        let around = |choice: Choice, rebuilt: &dyn Fn(Expr) -> ExprKind| {
            let part = |value: Expr| Expr { kind: rebuilt(value), span: expr.span };
            Choice { condition: choice.condition, yes: part(choice.yes), no: part(choice.no) }
        };
        match &expr.kind {
            ExprKind::Ternary { condition, yes, no } => self.choice_between(condition, yes, no),
            ExprKind::If { branches, otherwise } => match (branches.as_slice(), otherwise.as_deref()) {
                ([(condition, yes)], Some([no])) if yes.len() == 1 => self.choice_between(condition, &yes[0], no),
                (_, _) => None,
            },
            ExprKind::Block(body) => match body.as_slice() {
                [only] => self.choice_in(only),
                _ => None,
            },
            ExprKind::Prefix { operator, operand } => {
                let choice = self.choice_in(operand)?;
                Some(around(choice, &|operand| ExprKind::Prefix {
                    operator: operator.clone(),
                    operand: Box::new(operand),
                }))
            }
            ExprKind::Infix { operator, left, right } => match self.choice_in(left) {
                Some(choice) => Some(around(choice, &|left| {
                    let (left, right) = (Box::new(left), right.clone());
                    ExprKind::Infix { operator: operator.clone(), left, right }
                })),
                None if !self.changes_nothing(left) => None,
                None => Some(around(self.choice_in(right)?, &|right| {
                    let (left, right) = (left.clone(), Box::new(right));
                    ExprKind::Infix { operator: operator.clone(), left, right }
                })),
            },
            ExprKind::Call { callee, arguments, broadcast } => {
                let before = arguments.iter().take_while(|argument| self.changes_nothing(&argument.value)).count();
                let (at, choice) = arguments.iter().take(before + 1).enumerate().find_map(|(at, argument)| {
                    let choice = if argument.keyword.is_none() { self.choice_in(&argument.value) } else { None };
                    choice.map(|choice| (at, choice))
                })?;
                Some(around(choice, &|value| {
                    let mut arguments: Vec<Argument> = arguments.clone();
                    arguments[at].value = value;
                    ExprKind::Call { callee: callee.clone(), arguments, broadcast: *broadcast }
                }))
            }
            _ => None,
        }
    }

    fn choice_between(&self, condition: &Expr, yes: &Expr, no: &Expr) -> Option<Choice> {
        let is_array = self.shows_array(yes) || self.shows_array(no);
        is_array.then(|| Choice { condition: condition.clone(), yes: yes.clone(), no: no.clone() })
    }

    /// Whether the condition may be evaluated before the expression: it stores nothing, and calls nobody's functions.
    fn changes_nothing(&self, expr: &Expr) -> bool {
        let is_still = match &expr.kind {
            ExprKind::Call { callee, .. } => self.library_name(callee).is_some_and(|name| !name.ends_with('!')),
            ExprKind::Assign { .. } | ExprKind::MacroCall { .. } | ExprKind::Do { .. } => false,
            _ => true,
        };
        is_still && crate::typed::walk::parts(expr).into_iter().all(|part| self.changes_nothing(part))
    }

    /// Whether an expression is an array, as far as its form says.
    fn shows_array(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => self.is_array_name(name),
            ExprKind::Prefix { operator, operand } => operator.value.dotted || self.shows_array(operand),
            ExprKind::Infix { operator, left, right } => {
                operator.value.dotted || self.shows_array(left) || self.shows_array(right)
            }
            ExprKind::Juxtapose { operand, .. } => self.shows_array(operand),
            ExprKind::Adjoint(operand) => self.shows_array(operand),
            ExprKind::Comparison { operators, .. } => operators.iter().any(|operator| operator.value.dotted),
            ExprKind::Call { broadcast, .. } => *broadcast == ast::Broadcast::Yes,
            ExprKind::Index { base, subscripts } => {
                let is_several = |it: &Argument| matches!(it.value.kind, ExprKind::Colon | ExprKind::Range { .. });
                self.shows_array(base) && subscripts.iter().any(is_several)
            }
            ExprKind::Ternary { yes, no, .. } => self.shows_array(yes) || self.shows_array(no),
            ExprKind::Block(body) => matches!(body.as_slice(), [only] if self.shows_array(only)),
            ExprKind::Vector(_) => true,
            _ => false,
        }
    }
}
