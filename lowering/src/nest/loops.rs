//! Loops become domains and schedule nodes.

use super::{Guard, Nest, Predicate, Scope, sequence};
use crate::error::{LowerError, RangeEnd};
use crate::formula::{Formula, Pieces};
use crate::ranges::{RangeCheck, span_of};
use crate::symbolic::{Iterator, Site};
use std::collections::BTreeSet;
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, LocalId, LoopId, LoopMode, Range, Simd, Statement, StatementKind,
};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::schedule::{Loop, Node, Tag};
use tessella_scalar::{BinaryOp, CompareOp};

/// Which side of its iterator a bound is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Lower,
    Upper,
}

impl<'a> Nest<'a> {
    pub(super) fn repeat(
        &mut self,
        id: LoopId,
        local: LocalId,
        range: &Range,
        mode: LoopMode,
        body: &'a Block,
        scope: &Scope<'a>,
    ) -> Vec<Node> {
        let declared = &self.symbols.function.locals[local.0 as usize];
        let [start, stop] = [(&range.start, RangeEnd::Start), (&range.stop, RangeEnd::Stop)].map(|(bound, end)| {
            let value = self.symbols.integer(bound, &scope.site, &scope.may);
            value.map_err(|why| {
                let (iterator, bound) = (declared.in_source(), bound.span);
                let told = |known: &LowerError| matches!(known, LowerError::BoundWritten { range: other, .. } if *other == span_of(range));
                if !self.errors.iter().any(told) {
                    self.errors.push(LowerError::BoundNotAffine { iterator, end, bound, why });
                }
            })
        });
        // What an iteration stores, the next one finds.
        let mut stores = BTreeSet::new();
        crate::values::stores(body, &mut stores);
        self.store_into(stores);
        let (Ok(start), Ok(stop)) = (start, stop) else { return vec![] };
        let check = self.ranged.get(&id);
        if let Some(check) = check {
            self.require_range(check, scope);
        }

        let position = scope.site.iterators.len() as u32;
        let iterator = Affine::iterator(position);
        let at_least = if range.step > 0 { &range.start } else { &range.stop };
        let at_most = if range.step > 0 { &range.stop } else { &range.start };
        let mut conditions = vec![
            self.bound(at_least, &iterator, Side::Lower, &scope.site, &scope.may),
            self.bound(at_most, &iterator, Side::Upper, &scope.site, &scope.may),
        ];
        let stride = i64::try_from(range.step.unsigned_abs()).unwrap_or(i64::MAX);
        if stride > 1 {
            conditions.push(start.holds(|start| {
                let distance = iterator.sub(start).and_then(|distance| distance.modulo(stride));
                distance.map_or(Formula::False, Formula::zero)
            }));
        }

        let name = self.loop_name(&declared.name, &scope.site.iterators);
        let magnitude = self.symbols.magnitude(&start, &scope.site).max(self.symbols.magnitude(&stop, &scope.site));
        let mut inner = scope.clone();
        let ranged = check.is_some_and(|check| !check.of_sizes);
        inner.site.iterators.push(Iterator { id, local, name: name.clone(), span: declared.span, magnitude, ranged });
        inner.site.domain = Formula::all(std::iter::once(inner.site.domain).chain(conditions));
        inner.simd = match mode.simd {
            Simd::No => None,
            Simd::Before => Some(position),
            Simd::Around => scope.simd,
        };
        let children = match body.as_slice() {
            [Statement { kind: StatementKind::If { condition, then, otherwise }, .. }] if check.is_some() => {
                self.branch(condition, then, otherwise, Guard::Range, &inner)
            }
            _ => self.block(body, &inner),
        };
        if children.is_empty() {
            return vec![];
        }
        let source = body;
        let body = sequence(children);
        let mut read = BTreeSet::new();
        crate::stepped::reads(source, &mut read);
        // What only counts may as well count up: iterations that nothing tells apart change places.
        let is_up = range.step > 0 || !read.contains(&local);
        let at = if is_up { iterator } else { iterator.scale(-1).expect("minus one is small") };
        let at = body.computations().into_iter().map(|computation| (computation, at.clone())).collect();
        vec![Node::Loop(Loop { name, tag: Tag::Sequential, at, body: Box::new(body) })]
    }

    /// `iterator >= bound` or `iterator <= bound`; `max` of lower and `min` of upper bounds become several constraints.
    fn bound(&self, bound: &Expr, iterator: &Affine, side: Side, site: &Site, under: &Formula) -> Formula {
        match (&bound.kind, side) {
            (ExprKind::Binary(BinaryOp::Max, left, right), Side::Lower)
            | (ExprKind::Binary(BinaryOp::Min, left, right), Side::Upper) => {
                let left = self.bound(left, iterator, side, site, under);
                return left.and(&self.bound(right, iterator, side, site, under));
            }
            (ExprKind::Local(local), _) => {
                if let Some(value) = self.values.definition(*local)
                    && matches!(value.kind, ExprKind::Binary(BinaryOp::Min | BinaryOp::Max, ..))
                {
                    return self.bound(value, iterator, side, site, under);
                }
            }
            _ => {}
        }
        let op = match side {
            Side::Lower => CompareOp::Ge,
            Side::Upper => CompareOp::Le,
        };
        // The whole bound is affine, and so are its parts.
        let pieces = self.symbols.integer(bound, site, under).unwrap_or_else(|_| Pieces(vec![]));
        pieces.holds(|bound| Formula::compare(op, iterator, bound))
    }

    fn loop_name(&mut self, wanted: &str, around: &[Iterator]) -> String {
        let on_path = |name: &str| around.iter().any(|it| it.name == name);
        if !on_path(wanted) {
            return wanted.to_owned();
        }
        let free = |name: &String| !on_path(name) && (!self.names.contains(name) || self.made_up_loops.contains(name));
        let name = (1..).map(|at: u64| format!("{wanted}_{at}")).find(free).expect("names never run out");
        self.names.reserve(&name);
        self.made_up_loops.insert(name.clone());
        name
    }

    /// Conditions on data that a loop's outer range is checked under: those that are known at entry.
    fn require_range(&mut self, check: &'a RangeCheck, scope: &Scope<'a>) {
        let mut known = scope.clone();
        known.predicates.retain(|predicate| {
            let (Predicate::Saved { parts, .. } | Predicate::Direct { parts, .. }) = predicate;
            parts.iter().all(|part| self.values.is_known_at_entry(part))
        });
        known.left_out |= known.predicates.len() < scope.predicates.len();
        self.require(check.span, &check.condition, &check.failure, &known);
    }
}
