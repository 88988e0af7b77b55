//! Stores at places that arrays name: `y[idx] .= x`, `x[x .< 0] .= 0`.
//!
//! ```text
//! y[idx] .= x       ->   v = x; for i in eachindex(idx): y[idx[i]] = v[i]
//! x[mask] .= a      ->   for i in eachindex(x): if mask[i]: x[i] = a
//! ```

use super::collection::{HIDDEN, named, subscripted};
use super::rearrange::Gathered;
use super::slice::Subscript;
use super::{ArrayError, Elements, Recipe};
use crate::ast::{self, Expr, ExprKind};
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::statement::{Place, Tail};
use crate::typed::tree::SizeError;
use crate::typed::unsupported::Construct;
use crate::typed::value::{RangeValue, Value};
use tessella_diagnostics::{Span, Spanned};
use tessella_scalar::{CompareOp, ScalarType};

impl Checker<'_> {
    /// `base[given...] .op= value`, with dots or without, where one of the subscripts is an array; `None` where none is.
    pub(in crate::typed) fn scattered_assignment(
        &mut self,
        broadcast: ast::Broadcast,
        operator: Option<&Spanned<ast::Operator>>,
        target: &Expr,
        value: &Expr,
        span: Span,
    ) -> Option<Checked<()>> {
        let ExprKind::Index { base, subscripts } = &target.kind else { return None };
        // What is no name or number is looked at; most subscripts are told apart by their form.
        if !subscripts.iter().any(|subscript| self.may_be_array(&subscript.value)) {
            return None;
        }
        let ExprKind::Name(name) = &base.kind else { return None };
        if !self.is_array_name(name) {
            return None;
        }
        let found = self.value(base).ok()?;
        let whole = self.as_elements(&found, base.span)?;
        let before = self.errors.len();
        let given = self.subscripts(&whole, subscripts);
        let given = match given {
            Ok(given) if given.iter().any(|it| matches!(it, Subscript::Array(_) | Subscript::Mask(_))) => given,
            Ok(_) => return None,
            Err(reported) => {
                // Told once more by whoever evaluates the target.
                self.errors.truncate(before);
                let _ = reported;
                return None;
            }
        };
        Some(self.scatter(&whole, given, (broadcast, operator, target, value), span))
    }

    fn scatter(
        &mut self,
        whole: &Elements,
        mut given: Vec<Subscript>,
        (broadcast, operator, target, value): (ast::Broadcast, Option<&Spanned<ast::Operator>>, &Expr, &Expr),
        span: Span,
    ) -> Checked<()> {
        self.writes_statements(span)?;
        if !matches!(whole.recipe, Recipe::Part(_)) {
            return self.not_yet(Construct::Slice, target.span);
        }
        if given.len() != 1 && given.len() != whole.rank() {
            return Err(self.wrong_count(whole, given.len(), target.span, target.span));
        }
        if given.len() == 1
            && let Some(Subscript::Mask(_)) = given.first()
        {
            let Some(Subscript::Mask(mask)) = given.pop() else { unreachable!("the guard has seen a mask") };
            return self.store_where(whole, mask, (broadcast, operator, target, value), span);
        }
        if given.iter().any(|it| matches!(it, Subscript::Mask(_))) {
            return self.not_yet(Construct::Mask, target.span);
        }
        for subscript in &mut given {
            if let (Subscript::Array(places), Recipe::Part(part)) = (subscript, &whole.recipe)
                && self.reads_array(part.array, places)
            {
                *places = self.fresh(places)?;
            }
        }
        let right = match operator {
            None => self.value(value)?,
            Some(operator) => {
                let symbol = operator.value.symbol.trim_end_matches('=').to_string();
                let dotted = broadcast == ast::Broadcast::Yes;
                let operator = Spanned { value: ast::Operator { symbol, dotted }, span: operator.span };
                let (left, right) = (Box::new(target.clone()), Box::new(value.clone()));
                self.value(&Expr { kind: ExprKind::Infix { operator, left, right }, span })?
            }
        };
        let Gathered { array, sources, subscripts } = self.gathered(whole, given, span)?;
        let mut iterators: Vec<Expr> = vec![];
        let mut ranges = vec![];
        let (mut places, mut extents) = (std::collections::BTreeMap::new(), vec![]);
        for (place, source) in &sources {
            let hidden = self.hidden("places", Value::Elements(Box::new(self.counted_from_one(source.clone()))), span);
            let mut own = vec![];
            for extent in &source.extents {
                let Some(iterator) = HIDDEN.get(iterators.len()) else {
                    return self.not_yet(Construct::Gather, target.span);
                };
                let extent = self.settled("extent", extent.clone());
                let start = crate::typed::tree::Expr::int64(1, span);
                let range = Value::Range(RangeValue { start, step: 1, stop: extent.clone() });
                ranges.push(self.hidden("axis", range, span));
                extents.push(extent);
                own.push(named(iterator, span));
                iterators.push(named(iterator, span));
            }
            if let ExprKind::Name(name) = &place.kind {
                places.insert(name.clone(), subscripted(&hidden, &own, span));
            }
        }
        // All of the right side is computed before anything is stored: it may read what is overwritten.
        let stored = match self.as_elements(&right, value.span) {
            Some(elements) => {
                if elements.rank() != extents.len() {
                    let left = super::shape::dimensions(extents.len());
                    let right = super::shape::dimensions(elements.rank());
                    return Err(self.array_error(ArrayError::Mismatch { left, right, span }));
                }
                for (own, other) in extents.iter().zip(&elements.extents) {
                    self.same_extent(own, other, span)?;
                }
                let elements = self.fresh(&elements)?;
                let hidden = self.hidden("values", Value::Elements(Box::new(elements)), value.span);
                subscripted(&hidden, &iterators, value.span)
            }
            None if broadcast == ast::Broadcast::No => {
                return Err(self.array_error(ArrayError::SingleValue { span: value.span, target: target.span }));
            }
            None => {
                let right = if operator.is_none() { self.filling(whole, right, value)? } else { right };
                let number = self.settled_number("value", right, value.span)?;
                named(&self.hidden("value", number, value.span), value.span)
            }
        };
        let subscripts: Vec<Expr> = subscripts
            .into_iter()
            .map(|subscript| match &subscript.kind {
                ExprKind::Name(name) => places.get(name).cloned().unwrap_or(subscript),
                _ => subscript,
            })
            .collect();
        let store = assignment(subscripted(&array, &subscripts, target.span), stored, span);
        self.loops_over(&iterators, &ranges, store, span)
    }

    /// `x[mask] .= number`, `x[mask] .+= number`.
    fn store_where(
        &mut self,
        whole: &Elements,
        mask: Elements,
        (broadcast, operator, target, value): (ast::Broadcast, Option<&Spanned<ast::Operator>>, &Expr, &Expr),
        span: Span,
    ) -> Checked<()> {
        let right = self.value(value)?;
        if self.as_elements(&right, value.span).is_some() {
            return self.not_yet(Construct::Mask, target.span);
        }
        if broadcast == ast::Broadcast::No {
            return Err(self.array_error(ArrayError::SingleValue { span: value.span, target: target.span }));
        }
        if mask.rank() != whole.rank() || whole.rank() > HIDDEN.len() {
            let (left, right) = (super::shape::dimensions(whole.rank()), super::shape::dimensions(mask.rank()));
            return Err(self.array_error(ArrayError::Mismatch { left, right, span }));
        }
        for (own, other) in whole.extents.iter().zip(&mask.extents) {
            let equal = compare(CompareOp::Eq, own.clone().placed(span), other.clone().placed(span), span);
            if !super::shape::same(own, other) {
                self.require(equal, SizeError::Bounds, "a mask has another size than its array", span)?;
            }
        }
        let whole = self.counted_from_one(whole.clone());
        let mask = self.fresh(&mask)?;
        let right = if operator.is_none() { self.filling(&whole, right, value)? } else { right };
        let number = self.settled_number("value", right, value.span)?;
        let number = named(&self.hidden("value", number, value.span), value.span);
        let iterators: Vec<Expr> = HIDDEN.iter().take(whole.rank()).map(|name| named(name, span)).collect();
        let mut ranges = vec![];
        for extent in &whole.extents {
            let start = crate::typed::tree::Expr::int64(1, span);
            let range = Value::Range(RangeValue { start, step: 1, stop: self.settled("extent", extent.clone()) });
            ranges.push(self.hidden("axis", range, span));
        }
        let array = self.hidden("array", Value::Elements(Box::new(whole)), span);
        let mask = self.hidden("mask", Value::Elements(Box::new(mask)), span);
        let element = subscripted(&array, &iterators, span);
        let stored = match operator {
            None => number,
            Some(operator) => {
                let symbol = operator.value.symbol.trim_end_matches('=');
                crate::typed::jumps::infix(symbol, element.clone(), number, span)
            }
        };
        let store = assignment(element, stored, span);
        let branches = vec![(subscripted(&mask, &iterators, span), vec![store])];
        let chosen = Expr { kind: ExprKind::If { branches, otherwise: None }, span };
        self.loops_over(&iterators, &ranges, chosen, span)
    }

    /// A nest of loops, the first iterator innermost.
    fn loops_over(&mut self, iterators: &[Expr], ranges: &[String], body: Expr, span: Span) -> Checked<()> {
        let nest = iterators.iter().zip(ranges).fold(body, |body, (target, range)| {
            let iteration = ast::Iteration { target: target.clone(), range: named(range, span), span };
            Expr { kind: ExprKind::For { iterations: vec![iteration], body: vec![body] }, span }
        });
        match self.statement(&nest, Place::Middle) {
            Tail::Failed => Err(crate::typed::check::Reported),
            Tail::Nothing
            | Tail::Argument(..)
            | Tail::Scalar(_)
            | Tail::Tuple(..)
            | Tail::Other(..)
            | Tail::Choice(..)
            | Tail::OneOf(..) => Ok(()),
        }
    }

    /// Whether a subscript can be an array of places, as far as its form says.
    fn may_be_array(&self, subscript: &Expr) -> bool {
        match &subscript.kind {
            ExprKind::Name(name) => self.is_array_name(name),
            ExprKind::Comparison { operators, .. } => operators.iter().any(|operator| operator.value.dotted),
            ExprKind::Infix { operator, left, right } => {
                operator.value.dotted || self.may_be_array(left) || self.may_be_array(right)
            }
            ExprKind::Prefix { operator, operand } => operator.value.dotted || self.may_be_array(operand),
            ExprKind::Call { broadcast: ast::Broadcast::Yes, .. } | ExprKind::Vector(_) => true,
            ExprKind::Index { base, subscripts } => {
                self.may_be_array(base)
                    && subscripts.iter().any(|it| matches!(it.value.kind, ExprKind::Colon | ExprKind::Range { .. }))
            }
            _ => false,
        }
    }
}

/// Whether elements can be subscripts, or say which elements are meant.
pub(super) fn array_subscript(elements: Elements) -> Option<Subscript> {
    match elements.element {
        ScalarType::Bool => Some(Subscript::Mask(elements)),
        ty if ty.is_integer() && crate::typed::convert::is_total(ty, ScalarType::I64) => {
            Some(Subscript::Array(elements))
        }
        _ => None,
    }
}

fn assignment(target: Expr, value: Expr, span: Span) -> Expr {
    let (target, value) = (Box::new(target), Box::new(value));
    Expr { kind: ExprKind::Assign { operator: None, broadcast: ast::Broadcast::No, target, value }, span }
}
