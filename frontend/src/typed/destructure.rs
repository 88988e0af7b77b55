//! Assignments to several names at once.

use super::arrays::Elements;
use super::check::{Checked, Checker};
use super::compare::compare;
use super::convert::constant_integer;
use super::error::TypeError;
use super::tree::{Expr, SizeError};
use super::value::Value;
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::CompareOp;

impl Checker<'_> {
    /// Assigns the parts of a value, those at the positions `at_once` first.
    pub(super) fn destructure(
        &mut self,
        targets: &[ast::Argument],
        value: Value,
        at_once: &[usize],
        span: Span,
    ) -> Checked<Value> {
        let value = match self.as_elements(&value, span) {
            Some(elements) if elements.rank() == 1 => self.taken_apart(&elements, targets.len(), span)?,
            _ => value,
        };
        let (Value::Tuple(values) | Value::Named(_, values)) = &value else {
            let found = self.kind(&value);
            return Err(self.fail(TypeError::NotIterable { found, span }));
        };
        let takes_all = super::tuple_parts::takes_all(targets);
        if values.len() < targets.len() || (takes_all && values.len() > targets.len()) {
            let (targets, values) = (targets.len(), values.len());
            return Err(self.fail(TypeError::Destructuring { targets, values, span }));
        }
        // All of the right side is evaluated before the first target changes.
        let values: Vec<Value> = match targets.len() {
            1 => values.clone(),
            _ => values.iter().map(|value| self.frozen(value.clone())).collect(),
        };
        let reported = self.while_flying(&values, |checker| checker.bind_all(targets, &values, at_once, span));
        match reported {
            Some(reported) => Err(reported),
            None => Ok(Value::Tuple(values)),
        }
    }

    /// `x, y, z = u` of a vector: its first elements.
    fn taken_apart(&mut self, elements: &Elements, count: usize, span: Span) -> Checked<Value> {
        let extent = elements.extents[0].clone();
        if let Some(values) = constant_integer(&extent).and_then(|it| usize::try_from(it).ok()) {
            if values < count {
                return Err(self.fail(TypeError::Destructuring { targets: count, values, span }));
            }
        } else {
            let enough = compare(CompareOp::Ge, extent.placed(span), Expr::int64(count as i64, span), span);
            self.require(enough, SizeError::Bounds, "a vector with fewer elements is taken apart", span)?;
        }
        let places = (1..=count as i64).map(|at| self.element(elements, &[Expr::int64(at, span)]));
        places.collect::<Checked<Vec<Value>>>().map(Value::Tuple)
    }

    fn bind_all(
        &mut self,
        targets: &[ast::Argument],
        values: &[Value],
        at_once: &[usize],
        span: Span,
    ) -> Option<super::check::Reported> {
        let mut reported = None;
        let later = (0..targets.len()).filter(|at| !at_once.contains(at));
        let mut order: Vec<usize> = at_once.iter().copied().chain(later).collect();
        if are_different_names(targets) {
            // Whichever name comes first: with those for arrays that there are, those that they meant become free.
            order.sort_by_key(|&at| !self.names_lasting_array(&targets[at].value, &values[at]));
        }
        for (turn, &at) in order.iter().enumerate() {
            let target = &targets[at];
            self.values_in_flight(order[turn + 1..].iter().map(|&at| values[at].clone()).collect());
            if let Err(error) = self.bind(&target.value, values[at].clone(), span) {
                self.poison(&target.value);
                reported = Some(error);
            }
        }
        reported
    }

    /// Whether the assignment lets a name mean an array that outlives the iteration.
    fn names_lasting_array(&self, target: &ast::Expr, value: &Value) -> bool {
        let (ast::ExprKind::Name(name), Value::Array(array) | Value::ComplexArray(array)) = (&target.kind, value)
        else {
            return false;
        };
        self.lookup(name).is_some_and(|variable| !self.is_made_inside(*array, variable))
    }
}

/// The positions of names in `a, b[i] = x, y` that Julia assigns before anything else: to a literal or a name that is none of
/// those assigned, and where nothing to the right of it needs the old value.
pub(super) fn assigned_at_once(target: &ast::Expr, value: &ast::Expr) -> Option<Vec<usize>> {
    let (ast::ExprKind::Tuple(targets), ast::ExprKind::Tuple(values)) = (&target.kind, &value.kind) else {
        return None;
    };
    if targets.len() != values.len() {
        return None;
    }
    let is_free = |at: usize| {
        let ast::ExprKind::Name(name) = &targets[at].value.kind else { return false };
        let needed = values[at + 1..].iter().any(|later| super::walk::mentions(&later.value, &[name.as_str()]));
        let plain = match &values[at].value.kind {
            ast::ExprKind::Name(given) => !targets.iter().any(|it| super::walk::mentions(&it.value, &[given.as_str()])),
            ast::ExprKind::Prefix { operator, operand } => {
                matches!(operator.value.symbol.as_str(), "-" | "+") && is_literal(operand)
            }
            _ => is_literal(&values[at].value),
        };
        plain && !needed
    };
    Some((0..targets.len()).filter(|&at| is_free(at)).collect())
}

/// A name that stands there twice means the last of its values.
fn are_different_names(targets: &[ast::Argument]) -> bool {
    let name = |target: &ast::Argument| match &target.value.kind {
        ast::ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    };
    let names: Option<std::collections::BTreeSet<String>> = targets.iter().map(name).collect();
    names.is_some_and(|names| names.len() == targets.len())
}

fn is_literal(expr: &ast::Expr) -> bool {
    matches!(
        expr.kind,
        ast::ExprKind::Integer(_) | ast::ExprKind::Float(_) | ast::ExprKind::Bool(_) | ast::ExprKind::Char(_)
    )
}
