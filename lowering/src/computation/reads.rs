//! Reads of arrays and of variables: one access for each case of the subscripts.

use super::{Builder, LOAD_CASE_LIMIT, LOAD_CASES_LOOKED_AT, Purpose, Wanted};
use crate::emit::Storage;
use crate::error::{Changes, LowerError};
use crate::expr::{both, condition, constant, zero};
use crate::formula::Formula;
use crate::inside::inside;
use crate::looked::Looked;
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{Expr as Typed, LocalId};
use tessella_polyhedral::algorithm::{Access, ArrayId, Subscript, Which};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::IslError;
use tessella_scalar::{CompareOp, ScalarType};

impl<'a> Builder<'_, 'a> {
    pub(super) fn read_local(&mut self, local: LocalId, expr: &Typed, under: &Formula) -> Result<Expr, LowerError> {
        let scope = self.scope;
        if let Purpose::Scan(wanted) = self.purpose {
            let declared = &self.nest.symbols.function.locals[local.0 as usize];
            let changes = Changes::Variable { variable: declared.in_source(), bound: declared.span };
            return Err(unknown_at_entry(wanted, changes, expr.span));
        }
        let storage = self.nest.storage_of(local, &scope.site.iterators);
        self.read_scalar(storage, expr.ty, expr.span, under)
    }

    pub(super) fn read_scalar(
        &mut self,
        at: Storage,
        ty: ScalarType,
        span: Span,
        under: &Formula,
    ) -> Result<Expr, LowerError> {
        self.read(at.array, at.subscripts(), false, ty, span, under)
    }

    fn read(
        &mut self,
        array: ArrayId,
        subscripts: Vec<Subscript>,
        checked: bool,
        ty: ScalarType,
        span: Span,
        under: &Formula,
    ) -> Result<Expr, LowerError> {
        let conditional = checked && self.is_conditional(under);
        let access = self
            .nest
            .access(self.name, array, subscripts, checked, under, self.scope)
            .map_err(|error: IslError| LowerError::TooComplicated { span, message: error.to_string() })?;
        self.reads.push(Access { conditional, ..access });
        self.read_spans.push(span);
        Ok(Expr { kind: ExprKind::Read(self.reads.len() as u32 - 1), ty })
    }

    /// A load; one read for each case of its subscripts, chosen by conditions.
    pub(super) fn load(
        &mut self,
        array: LocalId,
        subscripts: &[Typed],
        checked: bool,
        expr: &Typed,
        under: &Formula,
    ) -> Result<Expr, LowerError> {
        let site = &self.scope.site;
        let name = self.nest.symbols.function.locals[array.0 as usize].name.clone();
        if let Purpose::Scan(wanted) = self.purpose
            && self.nest.stored.contains(&array)
        {
            return Err(unknown_at_entry(wanted, Changes::Array { array: name }, expr.span));
        }
        let place = self.nest.array_of(array);
        let outer = self.nest.outer_subscripts(place).into_iter().map(Subscript::Affine).collect();
        let mut cases: Vec<(Formula, Vec<Subscript>)> = vec![(Formula::True, outer)];
        let mut computed: Vec<(u32, Expr)> = vec![];
        let mut affine: Vec<(u32, &Typed)> = vec![];
        for (axis, subscript) in (0..).zip(subscripts) {
            let pieces = match self.nest.symbols.integer(subscript, site, under) {
                Ok(pieces) => pieces,
                Err(_) => {
                    let value = self.expr(subscript, under)?;
                    cases.iter_mut().for_each(|(_, values)| values.push(Subscript::Computed(value.clone())));
                    computed.push((axis, value));
                    continue;
                }
            };
            let mut longer = vec![];
            for (case, before) in &cases {
                for (piece, value) in &pieces.0 {
                    let mut values = before.clone();
                    values.push(Subscript::Affine(value.clone()));
                    longer.push((case.and(piece), values));
                }
            }
            // Asking which of many cases are possible takes longer than the answer is worth.
            if (2..=LOAD_CASES_LOOKED_AT).contains(&longer.len()) {
                longer.retain(|(case, _)| self.nest.symbols.is_possible(site, &under.and(case)));
            }
            if longer.len() > LOAD_CASE_LIMIT {
                // So many cases are no better than any element.
                let value = self.expr(subscript, under)?;
                cases.iter_mut().for_each(|(_, values)| values.push(Subscript::Computed(value.clone())));
                computed.push((axis, value));
                continue;
            }
            cases = longer;
            affine.push((axis, subscript));
        }
        let mut happens = under.clone();
        if self.purpose == Purpose::Statement && checked && !cases.is_empty() {
            let next = Which::Read(self.reads.len() as u32);
            happens = self.scan_affine(next, place, &affine, under);
            for (axis, _) in &computed {
                self.look_at(next, place, *axis, &subscripts[*axis as usize], under)?;
            }
        }
        let array = place;
        let checked = checked && self.purpose == Purpose::Statement;
        if self.purpose != Purpose::Statement && (self.conditional || !self.path.is_empty()) {
            for (axis, subscript) in affine {
                let open = under.and(&self.inside(place, axis, subscript, under).not());
                if self.nest.symbols.is_possible(&self.scope.site, &open) {
                    let value = self.expr(subscript, under)?;
                    computed.push((axis, value));
                }
            }
        }
        let is_one = cases.len() == 1;
        let mut result: Option<Expr> = None;
        for (case, values) in cases.into_iter().rev() {
            let within = if is_one { happens.clone() } else { happens.and(&case) };
            let value = self.read(array, values, checked, expr.ty, expr.span, &within)?;
            result = Some(match result {
                None => value,
                Some(no) => {
                    let (condition, yes, no) = (Box::new(condition(&case)), Box::new(value), Box::new(no));
                    Expr { kind: ExprKind::Select { condition, yes, no }, ty: expr.ty }
                }
            });
        }
        // Without any case nothing is ever loaded here.
        let result = result.unwrap_or_else(|| constant(zero(expr.ty)));
        if self.purpose == Purpose::Statement || computed.is_empty() {
            return Ok(result);
        }
        // Another scan tells that this one is outside; here it only must do no harm.
        let inside = computed.into_iter().map(|(axis, value)| self.nest.is_inside(array, axis, value)).reduce(both);
        let condition = Box::new(inside.expect("there is a computed subscript"));
        let (yes, no) = (Box::new(result), Box::new(constant(zero(expr.ty))));
        Ok(Expr { kind: ExprKind::Select { condition, yes, no }, ty: expr.ty })
    }

    /// Has the affine subscripts of an access searched at entry, if that is more exact than a condition on parameters:
    /// if the access happens under conditions on data, and these are known at entry.
    ///
    /// Gives where the access happens as far as affine conditions tell: after the search it is only inside.
    pub(super) fn scan_affine(
        &mut self,
        which: Which,
        array: ArrayId,
        subscripts: &[(u32, &Typed)],
        under: &Formula,
    ) -> Formula {
        if !self.scans_affine || !self.is_conditional(under) {
            return under.clone();
        }
        let before = self.scans.len();
        let (mut happens, mut places) = (under.clone(), vec![]);
        for (axis, subscript) in subscripts {
            let place = Looked::new(self.scope, self.decided, array, *axis, subscript, under);
            // What the same element was asked for before is known to be inside, whether or not it is known at entry that this happens.
            let covers =
                |known: &Looked<'_>| !known.of_floats && known.covers(&place, &self.nest.symbols, &self.scope.site);
            if !self.nest.looked.iter().any(covers) {
                let found = self.scan(which, array, *axis, subscript, under);
                // On a GPU, the kernel may decide otherwise than a search on the CPU.
                if found.is_err() || self.scans[before..].iter().any(|(_, _, search)| !search.is_exact()) {
                    self.scans.truncate(before);
                    return under.clone();
                }
                places.push(place);
            }
            happens = happens.and(&self.inside(array, *axis, subscript, under));
        }
        if self.path.is_empty() {
            self.nest.looked.extend(places);
        }
        happens
    }

    /// Whether the present expression is evaluated under conditions on data.
    pub(super) fn is_conditional(&self, under: &Formula) -> bool {
        let symbols = &self.nest.symbols;
        self.decided > 0 || self.path.iter().any(|(it, _)| symbols.condition(it, &self.scope.site, under).is_err())
    }

    /// Where the subscript is sure to be inside; exact, if it is affine.
    pub(super) fn inside(&self, array: ArrayId, axis: u32, subscript: &Typed, under: &Formula) -> Formula {
        let limits = self.nest.arrays[array.0 as usize].limits(axis);
        inside(&self.nest.symbols, &self.nest.values, &self.scope.site, under, subscript, &limits)
    }

    /// Has a computed subscript looked at: by a search of its own, unless one for the same element does.
    pub(super) fn look_at(
        &mut self,
        which: Which,
        array: ArrayId,
        axis: u32,
        subscript: &Typed,
        under: &Formula,
    ) -> Result<(), LowerError> {
        let mut place = Looked::new(self.scope, self.decided, array, axis, subscript, under);
        let covers = |known: &&Looked<'_>| known.covers(&place, &self.nest.symbols, &self.scope.site);
        if let Some(known) = self.nest.looked.iter().find(covers) {
            self.floats_decide |= known.of_floats;
            return Ok(());
        }
        let open = under.and(&self.inside(array, axis, subscript, under).not());
        let conditional = self.is_conditional(under);
        match self.scan(which, array, axis, subscript, under) {
            // Without elements along the axis every subscript is outside.
            Err(_) if !conditional && self.is_empty_axis(array, axis, &open) => {
                let name = self.nest.arrays[array.0 as usize].name.clone();
                self.nest.require_none(
                    subscript.span,
                    &open,
                    format!("an element of `{name}`, which has none, is asked for"),
                    self.scope,
                );
            }
            searched => place.of_floats = searched?,
        }
        self.floats_decide |= place.of_floats;
        if self.path.is_empty() {
            self.nest.looked.push(place);
        }
        Ok(())
    }

    /// Whether the array has no elements along the axis wherever the condition holds.
    fn is_empty_axis(&self, array: ArrayId, axis: u32, open: &Formula) -> bool {
        let (first, last) = self.nest.arrays[array.0 as usize].limits(axis);
        let some = open.and(&Formula::compare(CompareOp::Ge, &last, &first));
        !self.nest.symbols.is_possible(&self.scope.site, &some)
    }
}

fn unknown_at_entry(wanted: Wanted, changes: Changes, span: Span) -> LowerError {
    match wanted {
        Wanted::Subscript(subscript) => LowerError::SubscriptUnknownAtEntry { subscript, changes, span },
        // `search_values` says what is needed.
        Wanted::Value(subscript) | Wanted::Condition(subscript) => {
            LowerError::ConditionUnknownAtEntry { subscript, changes, span }
        }
    }
}
