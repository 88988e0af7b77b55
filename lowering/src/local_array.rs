//! Arrays that the source makes, and conditions on sizes: neither computes anything.

use crate::computation::{Builder, Needed};
use crate::error::{LowerError, NotAffine, Reason};
use crate::formula::Formula;
use crate::inside::suffices;
use crate::nest::{Nest, Scope};
use crate::scan::{ScanDraft, covers};
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{self, Expr, ExprKind, LocalId, Type};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Array, ArrayId, ArrayKind, Requirement, ScanCheck, SizeError};
use tessella_polyhedral::isl::{IslError, Set};
use tessella_scalar::{BinaryOp, CompareOp};

impl<'a> Nest<'a> {
    /// A local array becomes one array for each iteration of the loops around it, or one that the caller gets.
    pub(crate) fn allocate(&mut self, local: LocalId, extents: &[Expr], scope: &Scope<'a>) {
        let declared = &self.symbols.function.locals[local.0 as usize];
        let (name, span) = (declared.name.clone(), declared.span);
        let Type::Array { element, rank, form: _ } = declared.ty else { return };
        let mut affine = vec![];
        for (axis, extent) in extents.iter().enumerate() {
            let value = self.symbols.integer(extent, &scope.site, &scope.may).and_then(|pieces| {
                let reason = Reason::TooManyCases { limit: 1 };
                pieces.as_single().cloned().ok_or(NotAffine { span: extent.span, reason })
            });
            affine.push(value.unwrap_or_else(|why| {
                let (array, axis) = (name.clone(), axis as u32);
                self.errors.push(LowerError::ExtentNotAffine { array, axis, extent: extent.span, why });
                Affine::constant(0)
            }));
        }
        let outer = scope.site.iterators.len() as u32;
        let kind = match self.values.is_returned(local) {
            true => ArrayKind::Returned,
            false => ArrayKind::Local { outer },
        };
        let (name, rank) = (self.names.fresh(&name), outer + rank);
        self.arrays.push(Array { name, element, extents: affine, firsts: vec![], rank, kind, strided: 0..0 });
        self.array_spans.push(span);
        self.made.insert(local, ArrayId(self.arrays.len() as u32 - 1));
    }

    /// A condition becomes one on parameters: that no instance violates it.
    pub(crate) fn require(&mut self, span: Span, condition: &Expr, failure: &tree::Requirement, scope: &Scope<'a>) {
        let text = failure.text.clone();
        let needed = match self.symbols.condition(condition, &scope.site, &scope.may) {
            Ok(needed) if scope.predicates.is_empty() || !failure.error.is_of_values() => needed,
            Ok(_) | Err(_) if failure.error.is_of_values() => {
                return self.require_values(span, condition, failure, scope);
            }
            Ok(needed) => needed,
            Err(_) if self.is_search(condition, failure) => {
                return self.require_values(span, condition, failure, scope);
            }
            Err(why) => return self.errors.push(LowerError::RequirementNotAffine { span, text, why }),
        };
        let holds = self.always(&needed, scope);
        let Some((holds, always, never)) = self.settle(span, holds) else { return };
        // Whether the source gets there can be looked at.
        let is_looked_at = failure.error == tree::SizeError::Bounds && !scope.predicates.is_empty();
        if is_looked_at && !always && self.finds_violation(span, condition, failure, scope) {
            return;
        }
        if never && failure.error == tree::SizeError::Thrown {
            return self.errors.push(LowerError::AlwaysThrows { span, text });
        }
        if never {
            return self.errors.push(LowerError::NeverFits { span, text });
        }
        if !always {
            self.spans.requirements.push(span);
            // Under a condition on data the source need not get there.
            let uncertain = !scope.predicates.is_empty();
            let error = if uncertain { SizeError::Thrown } else { error_of(failure.error) };
            self.requirements.push(Requirement { holds, error, text, inside: None });
        }
        let under = [&scope.site.domain, &scope.may];
        let is_everywhere = under.iter().all(|it| **it == Formula::True)
            && scope.site.iterators.is_empty()
            && scope.predicates.is_empty();
        if is_everywhere {
            self.symbols.assert(&needed);
        }
    }

    /// Whether data decide on a condition on sizes: then it is looked for at entry where it does not hold.
    fn is_search(&self, condition: &Expr, failure: &tree::Requirement) -> bool {
        let is_of_places = failure.error == tree::SizeError::Bounds;
        is_of_places || self.values.reads_memory(condition) && self.values.is_known_at_entry(condition)
    }

    /// The function fails where an instance of the place satisfies the condition.
    pub(crate) fn require_none(&mut self, span: Span, condition: &Formula, text: String, scope: &Scope<'a>) {
        let holds = self.always(&condition.not(), scope);
        let Some((holds, always, never)) = self.settle(span, holds) else { return };
        if never {
            return self.errors.push(LowerError::NeverFits { span, text });
        }
        if !always {
            self.spans.requirements.push(span);
            self.requirements.push(Requirement { holds, error: SizeError::Bounds, text, inside: None });
        }
    }

    /// Adds a search for an instance that violates the condition, if entry can make it.
    fn finds_violation(
        &mut self,
        span: Span,
        condition: &Expr,
        failure: &tree::Requirement,
        scope: &Scope<'a>,
    ) -> bool {
        let errors = self.errors.len();
        self.require_values(span, condition, failure, scope);
        let found = self.errors.len() == errors;
        self.errors.truncate(errors);
        found
    }

    /// A condition on data is searched for an instance that violates it.
    fn require_values(&mut self, span: Span, condition: &Expr, failure: &tree::Requirement, scope: &Scope<'a>) {
        let name = self.scan_names.fresh("fails");
        let needed = Needed { condition, failure, span };
        match Builder::new(self, scope, &name).search_values(&needed) {
            Ok(None) => {}
            Ok(Some(computation)) => {
                let place = self.spans.values.len() as u32;
                let (error, text) = (error_of(failure.error), failure.text.clone());
                let draft = ScanDraft { check: ScanCheck::Holds { error, text, place }, computation };
                if !self.scans.iter().any(|known| covers(known, &draft)) {
                    self.spans.values.push(span);
                    self.scans.push(draft);
                }
            }
            Err(error) => match self.never_inside(condition, scope) {
                // Without elements along the axis every place is outside.
                Some(open) if failure.error == tree::SizeError::Bounds && scope.predicates.is_empty() => {
                    self.require_none(span, &open, failure.text.clone(), scope);
                }
                Some(_) | None => self.errors.push(error),
            },
        }
    }

    /// Where `first <= x && x <= last` may fail, if there is nothing between the two wherever it may.
    fn never_inside(&self, condition: &Expr, scope: &Scope<'a>) -> Option<Formula> {
        let ExprKind::Binary(BinaryOp::AndAlso, low, high) = &condition.kind else { return None };
        let (ExprKind::Compare(CompareOp::Ge, value, first), ExprKind::Compare(CompareOp::Le, other, last)) =
            (&low.kind, &high.kind)
        else {
            return None;
        };
        let end = |end: &Expr| self.symbols.integer(end, &scope.site, &scope.may).ok()?.as_single().cloned();
        let between = Formula::compare(CompareOp::Ge, &end(last)?, &end(first)?);
        let enough = suffices(&self.symbols, &self.values, &scope.site, &scope.may, condition);
        let open = scope.may.and(&enough.not());
        let is_possible = self.symbols.is_possible(&scope.site, &open.and(&between));
        (value.kind == other.kind && !is_possible).then_some(open)
    }

    /// The parameters for which the condition holds in all instances; whether these are all parameters, or none.
    fn always(&self, needed: &Formula, scope: &Scope<'a>) -> Result<(Set, bool, bool), IslError> {
        let context = self.symbols.context_set()?;
        let violated = Formula::all([scope.site.domain.clone(), scope.may.clone(), needed.not()]);
        let space = self.symbols.space(None, &scope.site.iterators)?;
        let violated = violated.to_set(&space, &self.symbols.param_names)?.params()?.intersect(&context)?;
        let holds = context.subtract(&violated)?.coalesce()?;
        let (always, never) = (violated.is_empty()?, holds.is_empty()?);
        Ok((holds.gist(&context)?.coalesce()?, always, never))
    }
}

fn error_of(error: tree::SizeError) -> SizeError {
    match error {
        tree::SizeError::Mismatch => SizeError::Mismatch,
        tree::SizeError::Argument => SizeError::Argument,
        tree::SizeError::Bounds => SizeError::Bounds,
        tree::SizeError::Inexact => SizeError::Inexact,
        tree::SizeError::Divide => SizeError::Divide,
        tree::SizeError::Thrown => SizeError::Thrown,
    }
}
