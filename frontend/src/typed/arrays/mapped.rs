//! `map!(f, y, x)`: one element after the other, as far as all arrays have some.
//!
//! ```text
//! map!(f, z, x, y)   ->   for i in 1:min(length(z), length(x), length(y)); z[i] = f(x[i], y[i]); end
//! ```

use super::collection::{HIDDEN, named, positional, subscripted};
use super::{ArrayError, Elements};
use crate::ast::{self, Expr, ExprKind};
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::operator::binary;
use crate::typed::tree::{Expr as Typed, SizeError};
use crate::typed::unsupported::Construct;
use crate::typed::value::{RangeValue, Value};
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp};

impl Checker<'_> {
    /// `map!(function, target, sources...)`, with one source or two; gives the target.
    pub(super) fn mapped(&mut self, function: &Expr, target: &Expr, sources: &[&Expr], span: Span) -> Checked<Value> {
        if !(1..=2).contains(&sources.len()) {
            return Err(self.arity(
                "map!",
                "a function, an array, and one or two arrays more",
                sources.len() + 2,
                span,
            ));
        }
        self.writes_statements(span)?;
        let found = self.value(target)?;
        let Some(whole) = self.as_elements(&found, target.span) else {
            let found = self.kind(&found);
            return Err(self.array_error(ArrayError::NotElements {
                function: "map!".into(),
                found,
                span: target.span,
            }));
        };
        let rank = whole.rank();
        let mut arrays = vec![whole];
        for source in sources {
            let elements = self.elements_argument("map!", source)?;
            arrays.push(self.frozen_elements(elements)?);
        }
        if rank > HIDDEN.len() || arrays.iter().any(|array| array.rank() != rank) {
            return self.not_yet(Construct::LinearIndex, span);
        }
        let arrays: Vec<Elements> = arrays.into_iter().map(|array| self.counted_from_one(array)).collect();
        let extents = self.mapped_extents(&arrays, span)?;
        let iterators: Vec<Expr> = HIDDEN.iter().take(rank).map(|name| named(name, span)).collect();
        let mut ranges = vec![];
        for extent in extents {
            let range = RangeValue { start: Typed::int64(1, span), step: 1, stop: self.settled("extent", extent) };
            ranges.push(self.hidden("axis", Value::Range(range), span));
        }
        let elements = arrays.into_iter().map(|array| {
            let array = self.hidden("array", Value::Elements(Box::new(array)), span);
            subscripted(&array, &iterators, span)
        });
        let elements: Vec<Expr> = elements.collect();
        let (stored, given) = elements.split_first().expect("the target is one of them");
        let arguments = given.iter().map(positional).collect();
        let kind = ExprKind::Call { callee: Box::new(function.clone()), arguments, broadcast: ast::Broadcast::No };
        let value = Expr { kind, span };
        self.loops_over(&iterators, &ranges, super::scatter::assignment(stored.clone(), value, span), span)?;
        Ok(found)
    }

    /// How far `map!` goes along each axis.
    fn mapped_extents(&mut self, arrays: &[Elements], span: Span) -> Checked<Vec<Typed>> {
        let (first, others) = arrays.split_first().expect("the target is one of them");
        let mut extents: Vec<Typed> = first.extents.iter().map(|extent| extent.clone().placed(span)).collect();
        for other in others {
            for (own, extent) in extents.iter_mut().zip(&other.extents) {
                let extent = extent.clone().placed(span);
                if super::shape::same(own, &extent) {
                    continue;
                }
                if other.rank() == 1 {
                    *own = binary(BinaryOp::Min, own.clone(), extent, span);
                } else {
                    // In Julia elements of the same number belong together, wherever they are: the original function does that.
                    let equal = compare(CompareOp::Eq, own.clone(), extent, span);
                    self.require(equal, SizeError::Thrown, "`map!` goes through arrays of different sizes", span)?;
                }
            }
        }
        Ok(extents)
    }
}
