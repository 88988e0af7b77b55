//! Loops that data skip: `if A[j, i] != 0; for k ...; end; end` does nothing for most `i` and `j` where few numbers are not zero.
//!
//! An order that brings the loop over `k` out of those that the condition is about, or runs all of them in tiles, asks for each `k` again.
//! Where most conditions hold that costs little; where few do, a program that took `n^2` steps takes `n^3`. So on a CPU loops stay inside of
//! conditions that compare with zero.

use super::chooser::Chooser;
use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayKind, Computation, ComputationId};
use crate::expr::{Expr, ExprKind, conjuncts};
use crate::layers::Target;
use crate::schedule::Schedule;
use std::collections::BTreeSet;
use std::ops::Range;
use tessella_scalar::UnaryOp;

impl Chooser<'_> {
    /// Whether no loop stands around one that a condition of such a kind is about, unless it does in the source.
    pub(crate) fn keeps_skips(&self, schedule: &Schedule, computations: &BTreeSet<ComputationId>) -> bool {
        let keeps = |id: ComputationId| {
            let around = schedule.loops_around(id);
            let places: Vec<&Affine> = around.iter().filter_map(|(_, it)| it.at.get(&id)).collect();
            let count = self.algorithm.computation(id).iterators.len() as u32;
            let involves = |at: &Affine, mut which: Range<u32>| which.any(|iterator| at.involves_iterator(iterator));
            skipped(self.algorithm, id).into_iter().all(|first| {
                let inside = places.iter().position(|at| involves(at, first..count)).unwrap_or(places.len());
                !places[inside..].iter().any(|at| involves(at, 0..first))
            })
        };
        self.target == Target::Gpu || computations.iter().all(|&id| keeps(id))
    }
}

/// For each condition by which data skip iterations, the first of the iterators that it does not depend on, nor on any behind it.
fn skipped(algorithm: &Algorithm, id: ComputationId) -> Vec<u32> {
    let it = algorithm.computation(id);
    let count = it.iterators.len() as u32;
    let parts = it.predicate.as_ref().map(conjuncts).unwrap_or_default();
    let firsts = parts.into_iter().filter(|part| asks_for_zero(algorithm, it, part)).filter_map(|part| depth(it, part));
    firsts.filter(|&first| first < count).collect()
}

/// Whether a condition compares data with zero, in the statement itself or in the one that computes it.
fn asks_for_zero(algorithm: &Algorithm, of: &Computation, condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Compare(_, left, right) => is_zero(left) || is_zero(right),
        ExprKind::Unary(UnaryOp::Not, inner) => asks_for_zero(algorithm, of, inner),
        ExprKind::Read(at) => {
            let array = of.reads[*at as usize].array;
            let is_own = algorithm.array(array).kind == ArrayKind::Private;
            let mut writers = algorithm.computations.iter().filter(|it| is_own && it.write.array == array);
            let writer = writers.next().filter(|_| writers.next().is_none());
            writer.is_some_and(|writer| {
                conjuncts(&writer.value)
                    .into_iter()
                    .any(|part| !matches!(part.kind, ExprKind::Read(_)) && asks_for_zero(algorithm, writer, part))
            })
        }
        _ => false,
    }
}

fn is_zero(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Constant(constant) => constant.as_integer() == Some(0) || constant.as_float() == Some(0.0),
        ExprKind::Convert(inner) => is_zero(inner),
        _ => false,
    }
}

/// How many of the outermost iterators a condition depends on, where that is known.
fn depth(it: &Computation, condition: &Expr) -> Option<u32> {
    let mut all = Some(0);
    condition.walk(&mut |part| {
        let here = match &part.kind {
            ExprKind::Index(at) => Some(last(it, at)),
            ExprKind::Read(at) => of_access(it, &it.reads[*at as usize]),
            ExprKind::Let(_) => None,
            _ => Some(0),
        };
        all = all.zip(here).map(|(a, b)| a.max(b));
    });
    all
}

fn of_access(it: &Computation, access: &Access) -> Option<u32> {
    access
        .subscripts
        .iter()
        .map(|subscript| Some(last(it, subscript.as_affine()?)))
        .try_fold(0, |all, here| Some(here?.max(all)))
}

/// One more than the last iterator that it has.
fn last(it: &Computation, at: &Affine) -> u32 {
    (0..it.iterators.len() as u32).rev().find(|&iterator| at.involves_iterator(iterator)).map_or(0, |at| at + 1)
}
