//! The parts of a verified program that code generation reads.

use crate::int_expr::IntExpr;
use std::collections::BTreeSet;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Access, Algorithm, ArrayId, ComputationId, ParamOrigin, Subscript};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::{IslError, Map, Set};
use tessella_polyhedral::known::Known;
use tessella_polyhedral::layers::{BufferId, Layout, Lifetime, MemorySpace, Prefetch, Target, Transfer, Version};
use tessella_polyhedral::machine::Machine;
use tessella_polyhedral::relation;
use tessella_polyhedral::schedule::{Node, Path, Schedule, Tag};
use tessella_polyhedral::unused::Unused;
use tessella_polyhedral::verify::{EntryCheck, Verified};

/// All four layers and the checks at entry.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    pub algorithm: &'a Algorithm,
    /// As the source has it, without statements that storage commands added.
    pub source: &'a Algorithm,
    pub schedule: &'a Schedule,
    pub target: Target,
    /// The machine that the schedule was made for.
    pub machine: &'a Machine,
    pub layout: &'a Layout,
    pub transfers: &'a [Transfer],
    /// The nodes after which all wait.
    pub barriers: &'a [Path],
    pub prefetches: &'a [Prefetch],
    pub checks: &'a [EntryCheck],
    pub scan: Option<&'a Verified>,
    pub versions: &'a [Version],
    pub unused: &'a Unused,
}

impl<'a> From<&'a Verified> for Input<'a> {
    fn from(verified: &'a Verified) -> Self {
        Self {
            algorithm: verified.algorithm(),
            source: verified.source(),
            schedule: verified.schedule(),
            target: verified.target(),
            machine: verified.machine(),
            layout: verified.layout(),
            transfers: verified.transfers(),
            barriers: verified.barriers(),
            prefetches: verified.prefetches(),
            checks: verified.checks(),
            scan: verified.scan(),
            versions: verified.versions(),
            unused: verified.unused(),
        }
    }
}

impl Input<'_> {
    /// The instances of a computation, without parameters that nothing depends on.
    pub fn instances(&self, id: ComputationId) -> Result<Set, IslError> {
        self.unused.without_in_set(self.algorithm.computation(id).domain.clone())
    }

    /// What holds of the parameters once the checks at entry have passed, as far as it is without alternatives.
    pub fn context(&self) -> Result<Set, IslError> {
        let ctx = self.algorithm.context.ctx();
        let requirements = self.algorithm.requirements.iter().map(|requirement| &requirement.holds);
        let all: Vec<&Set> = requirements.chain(self.checks.iter().map(|check| &check.holds)).collect();
        let numbers: Vec<usize> = all.iter().map(|holds| ctx.number_of_set(holds)).collect();
        let question = format!("entered {} {numbers:?}", ctx.number_of_set(&self.algorithm.context));
        ctx.remembered_set(&question, || {
            let mut known = Known::new(&self.algorithm.context);
            all.iter().try_for_each(|holds| known.learn(holds))?;
            Ok(known.context().clone())
        })
    }

    pub fn buffer_of(&self, array: ArrayId) -> BufferId {
        self.layout.placement(array).buffer
    }

    /// How many elements of an argument's buffer are free before the first one of each column.
    pub fn free_before(&self, array: ArrayId) -> u32 {
        let first = self.layout.placement(array).map.first();
        // The map of an argument takes each subscript from the first one on.
        let from = first.and_then(|it| it.add(&self.algorithm.array(array).first(0)).ok());
        from.map_or(0, |it| u32::try_from(it.constant_term()).unwrap_or(0))
    }

    /// An extent of an array as a number, if the array has elements for one value of it only, whatever the arguments.
    pub fn only_value(&self, array: ArrayId, extent: &Affine) -> Option<i64> {
        let ctx = self.algorithm.context.ctx();
        let inside =
            relation::index_set(ctx, self.algorithm, array).ok()?.intersect_params(&self.context().ok()?).ok()?;
        let (space, names) = (inside.space().ok()?, self.algorithm.param_names());
        let extent = extent.to_isl(&space, &names).ok()?;
        let values = Map::from_aff(&extent).ok()?.intersect_domain(&inside).ok()?.range().ok()?;
        let most = values.dim_max_val(0).ok()?.to_i64()?;
        let least = values.dim_min_val(0).ok()?.to_i64()?;
        (least == most).then_some(most)
    }

    /// An extent of a buffer as an expression, in which sizes are divided as what is never negative.
    pub fn extent(&self, extent: &Affine) -> IntExpr {
        fn plain(input: &Input<'_>, expr: IntExpr) -> IntExpr {
            let of = |expr: Box<IntExpr>| Box::new(plain(input, *expr));
            match expr {
                IntExpr::Add(a, b) => IntExpr::Add(of(a), of(b)),
                IntExpr::Sub(a, b) => IntExpr::Sub(of(a), of(b)),
                IntExpr::Mul(a, b) => IntExpr::Mul(of(a), of(b)),
                IntExpr::FloorDiv(dividend, divisor) if is_size(input, &dividend) => IntExpr::Div(dividend, divisor),
                other => other,
            }
        }
        fn is_size(input: &Input<'_>, expr: &IntExpr) -> bool {
            match expr {
                IntExpr::Const(value) => *value >= 0,
                IntExpr::Param(param) => {
                    matches!(input.algorithm.param(*param).origin, ParamOrigin::Extent { .. })
                }
                IntExpr::Add(a, b) | IntExpr::Mul(a, b) => is_size(input, a) && is_size(input, b),
                _ => false,
            }
        }
        plain(self, IntExpr::from_affine(extent, &[]))
    }

    /// Whether a buffer of the CPU that lives shorter than the call is too large for the stack, or may be.
    pub fn is_on_heap(&self, buffer: BufferId) -> bool {
        let it = self.layout.buffer(buffer);
        it.space == MemorySpace::Host && !it.fits_stack()
    }

    /// Whether a buffer on the heap is one that each thread has for itself, to be used anew in each of its iterations.
    pub fn is_of_threads(&self, buffer: BufferId) -> bool {
        let Lifetime::Node(path) = &self.layout.buffer(buffer).lifetime else { return false };
        let on_threads = |depth: usize| match self.schedule.node(&Path(path.0[..depth].to_vec())) {
            Some(Node::Loop(it)) => it.tag == Tag::Parallel,
            Some(Node::Sequence(_) | Node::Computation(_)) | None => false,
        };
        self.is_on_heap(buffer) && (0..path.0.len()).any(on_threads)
    }

    /// The expressions that an instance evaluates: predicate, lets, value, and computed subscripts.
    pub fn expressions(&self, id: ComputationId) -> Vec<&Expr> {
        let it = self.algorithm.computation(id);
        let mut found: Vec<&Expr> =
            it.predicate.iter().chain(it.lets.iter().map(|it| &it.value)).chain([&it.value]).collect();
        found.extend(it.write.subscripts.iter().filter_map(Subscript::as_computed));
        let mut used = vec![false; it.reads.len()];
        let mut next = 0;
        while let Some(&expr) = found.get(next) {
            next += 1;
            expr.walk(&mut |expr| {
                if let ExprKind::Read(position) = expr.kind
                    && !std::mem::replace(&mut used[position as usize], true)
                {
                    let read = &it.reads[position as usize];
                    found.extend(read.subscripts.iter().filter_map(Subscript::as_computed));
                }
            });
        }
        found
    }

    /// The accesses that the generated statement contains: the write, and each read that an expression names.
    pub fn used_accesses(&self, id: ComputationId) -> Vec<&Access> {
        let it = self.algorithm.computation(id);
        let reads = self.used_reads(id).into_iter().map(|position| &it.reads[position as usize]);
        std::iter::once(&it.write).chain(reads).collect()
    }

    /// The positions of the reads that the generated statement contains.
    pub fn used_reads(&self, id: ComputationId) -> Vec<u32> {
        reads_in(&self.expressions(id))
    }

    /// The positions of the reads that decide whether an instance does anything.
    pub fn reads_of_predicate(&self, id: ComputationId) -> Vec<u32> {
        let it = self.algorithm.computation(id);
        let mut found: Vec<&Expr> = it.predicate.iter().collect();
        let mut next = 0;
        while let Some(&expr) = found.get(next) {
            next += 1;
            for position in reads_in(&[expr]) {
                found.extend(it.reads[position as usize].subscripts.iter().filter_map(Subscript::as_computed));
            }
        }
        reads_in(&found)
    }

    /// Whether the generated statement mentions this iterator.
    pub fn uses_iterator(&self, id: ComputationId, iterator: u32) -> bool {
        let mut found = false;
        for expr in self.expressions(id) {
            expr.walk(&mut |expr| {
                found |= matches!(&expr.kind, ExprKind::Index(affine) if affine.involves_iterator(iterator));
            });
        }
        found || self.used_accesses(id).iter().any(|access| self.access_uses_iterator(access, iterator))
    }

    /// Whether the text of an access mentions an iterator, but for what computed subscripts do.
    pub fn access_uses_iterator(&self, access: &Access, iterator: u32) -> bool {
        let placed = &self.layout.placement(access.array).map;
        // Subscripts that the buffer's map ignores are not printed.
        access.subscripts.iter().enumerate().any(|(axis, subscript)| {
            placed.iter().any(|place| place.involves_iterator(axis as u32))
                && subscript.as_affine().is_some_and(|subscript| subscript.involves_iterator(iterator))
        })
    }

    /// Whether the text of an expression of a computation mentions an iterator.
    pub fn expression_uses_iterator(&self, id: ComputationId, expr: &Expr, iterator: u32) -> bool {
        let mut found = false;
        expr.walk(&mut |expr| match &expr.kind {
            ExprKind::Index(affine) => found |= affine.involves_iterator(iterator),
            ExprKind::Read(position) => {
                let read = &self.algorithm.computation(id).reads[*position as usize];
                let mut computed = read.subscripts.iter().filter_map(Subscript::as_computed);
                found |= self.access_uses_iterator(read, iterator)
                    || computed.any(|value| self.expression_uses_iterator(id, value, iterator));
            }
            _ => {}
        });
        found
    }
}

/// The positions of the reads that expressions name, in order.
fn reads_in(expressions: &[&Expr]) -> Vec<u32> {
    let mut used = BTreeSet::new();
    for expr in expressions {
        expr.walk(&mut |expr| {
            if let ExprKind::Read(position) = expr.kind {
                used.insert(position);
            }
        });
    }
    used.into_iter().collect()
}
