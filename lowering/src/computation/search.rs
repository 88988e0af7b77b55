//! Searches at entry: subscripts that are outside, conditions that do not hold.

use super::{Builder, Lets, Needed, PREDICATE_LIMIT, Purpose, Wanted};
use crate::emit::ranged;
use crate::error::LowerError;
use crate::expr::{both, not};
use crate::formula::Formula;
use crate::inside::suffices;
use crate::nest::{Nest, Predicate, Scope};
use crate::scan::{Search, search_for};
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::Expr as Typed;
use tessella_polyhedral::algorithm::{Access, ArrayId, Computation, Let, Which};
use tessella_polyhedral::expr::Expr;
use tessella_polyhedral::isl::IslError;

impl<'a> Builder<'_, 'a> {
    /// Has a subscript searched at entry for values that are outside, unless it is sure to be inside. Gives whether the
    /// search computes with floats.
    pub(super) fn scan(
        &mut self,
        which: Which,
        array: ArrayId,
        axis: u32,
        subscript: &Typed,
        under: &Formula,
    ) -> Result<bool, LowerError> {
        let open = under.and(&self.inside(array, axis, subscript, under).not());
        if !self.nest.symbols.is_possible(&self.scope.site, &open) {
            return Ok(false);
        }
        let path = self.path.clone();
        let conditional = self.is_conditional(under);
        let name = self.nest.scan_name(array);
        let scope = self.scope;
        let mut search = Builder::new(&mut *self.nest, scope, &name);
        search.purpose = Purpose::Scan(Wanted::Condition(subscript.span));
        search.conditional = conditional;
        let predicate = search.decisions(&scope.predicates[..self.decided], subscript.span)?;
        search.mode = Lets::Make;
        let mut outside: Option<Expr> = None;
        let mut add = |part: Expr| {
            outside = Some(match outside.take() {
                None => part,
                Some(before) => both(before, part),
            });
        };
        for (condition, expected) in &path {
            // What is affine is part of the domain.
            if search.nest.symbols.restriction(condition, &scope.site, under).is_some() {
                continue;
            }
            let value = search.expr(condition, under)?;
            add(if *expected { value } else { not(value) });
        }
        search.purpose = Purpose::Scan(Wanted::Subscript(subscript.span));
        let value = search.expr(subscript, under)?;
        let Builder { reads, lets, .. } = search;
        add(not(self.nest.is_inside(array, axis, value)));
        let outside = outside.expect("one part was added");
        let found = Found { predicate, lets, outside, reads };
        let computation = self.nest.search(name, found, &open, scope);
        let computation = computation.map_err(|error| too_complicated(subscript.span, &error))?;
        let floats = computation.involves_floats();
        self.scans.push((which, axis + self.nest.arrays[array.0 as usize].kind.outer(), computation));
        Ok(floats)
    }

    /// A search for instances in which the condition does not hold; `None` if there are none whatever the data are.
    pub(crate) fn search_values(mut self, needed: &Needed<'_>) -> Result<Option<Computation>, LowerError> {
        let scope = self.scope;
        let symbols = &self.nest.symbols;
        let enough = suffices(symbols, &self.nest.values, &scope.site, &scope.may, needed.condition);
        let open = scope.may.and(&self.implied(needed.condition, &scope.may).1).and(&enough.not());
        if !self.nest.symbols.is_possible(&scope.site, &open) {
            return Ok(None);
        }
        self.purpose = Purpose::Scan(Wanted::Value(needed.span));
        self.conditional = !scope.predicates.is_empty() || scope.left_out;
        let unknown = |error: LowerError| match error {
            LowerError::SubscriptUnknownAtEntry { changes, span, .. }
            | LowerError::ConditionUnknownAtEntry { changes, span, .. } => {
                LowerError::ValueUnknownAtEntry { needed: needed.span, failure: needed.failure.clone(), changes, span }
            }
            other => other,
        };
        let predicate = self.decisions(&scope.predicates, needed.span).map_err(unknown)?;
        self.mode = Lets::Make;
        let outside = not(self.expr(needed.condition, &scope.may).map_err(unknown)?);
        let Builder { nest, name, reads, lets, .. } = self;
        let found = Found { predicate, lets, outside, reads };
        let computation = nest.search(name.to_owned(), found, &open, scope);
        computation.map(Some).map_err(|error| too_complicated(needed.span, &error))
    }

    /// In a search: the conditions on data under which the statement runs.
    fn decisions(&mut self, predicates: &[Predicate<'a>], span: Span) -> Result<Option<Expr>, LowerError> {
        let mut predicate = None;
        for part in predicates {
            let (Predicate::Saved { parts, .. } | Predicate::Direct { parts, .. }) = part;
            let cost = parts.iter().fold(0_usize, |sum, part| sum.saturating_add(self.nest.values.cost(part)));
            if cost > PREDICATE_LIMIT {
                let message =
                    format!("a condition has more than {PREDICATE_LIMIT} operators once its values are spelled out");
                return Err(LowerError::TooComplicated { span, message });
            }
            let part = self.predicate(part)?;
            predicate = Some(match predicate {
                None => part,
                Some(before) => both(before, part),
            });
        }
        Ok(predicate)
    }
}

/// What a search evaluates.
struct Found {
    predicate: Option<Expr>,
    lets: Vec<Let>,
    outside: Expr,
    reads: Vec<Access>,
}

impl<'a> Nest<'a> {
    /// The search among the instances of a place that satisfy `open`.
    fn search(&self, name: String, found: Found, open: &Formula, scope: &Scope<'a>) -> Result<Computation, IslError> {
        let Found { predicate, lets, outside, reads } = found;
        // What is left out for loops whose bounds are data only says of more instances that they are inside.
        let open = scope.site.domain.and(open).without_divided(&|at| scope.site.is_ranged(at));
        let domain = self.domain(&name, &open, &scope.site)?;
        let iterators = scope.site.iterators.iter().map(|it| it.name.clone()).collect();
        let ranged = ranged(&scope.site);
        search_for(Search { name, iterators, ranged, domain, predicate, lets, outside, reads })
    }
}

fn too_complicated(span: Span, error: &IslError) -> LowerError {
    LowerError::TooComplicated { span, message: error.to_string() }
}
