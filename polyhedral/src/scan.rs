//! The searches of a [`Scan`] as a program of their own for a GPU, for arrays that are in its memory.
//!
//! ```text
//! for i { status = max(status, ifelse(idx[i] > n, 1, 0)) }   ->   @block, @thread for i { if idx[i] > n: status[1] = max(status[1], 1) in one piece }
//! ```
//!
//! Only what fails is written, so that threads meet nowhere where all is well.

use crate::affine::Affine;
use crate::algorithm::{Algorithm, Argument, ArrayKind, Computation, ComputationId, Let, Outcome, Scan, Subscript};
use crate::expr::{Expr, ExprKind};
use crate::schedule::{Loop, Node, Schedule, Tag};
use crate::storage::private;
use tessella_scalar::{BinaryOp, ScalarType};

/// The most names that the condition of a search may be made of.
const LARGEST: u32 = 200;

impl Scan {
    /// The mark that a search leaves where it finds something, from its position in `checks`, from 0: the largest of those that are left is the
    /// first search's.
    pub fn mark(searches: usize, at: usize) -> i32 {
        i32::try_from(searches - at).unwrap_or(i32::MAX)
    }

    /// The position from 1 of the search that left this mark; 0 for none.
    pub fn found(searches: usize, mark: i32) -> i32 {
        match mark {
            0 => 0,
            mark => Scan::mark(searches, 0).saturating_add(1) - mark,
        }
    }

    /// The searches as a program that takes one more argument behind those of the algorithm, an array of one `Int32`, which holds 0 before, and the
    /// largest mark behind it. `None` if a search does not have the form that [`Scan::algorithm`] has.
    pub fn marking(&self) -> Option<Algorithm> {
        let mut marking = self.algorithm.clone();
        let status = marking.arrays.last_mut().filter(|it| it.kind == ArrayKind::Result)?;
        (status.kind, status.rank, status.extents) = (ArrayKind::Argument, 1, vec![Affine::constant(1)]);
        let status = self.algorithm.computations.first()?.write.array;
        marking.arguments.push(Argument::Array(status));
        marking.result = Outcome::Nothing;
        let searches = self.algorithm.computations.iter().skip(1).take(self.checks.len());
        marking.computations = searches.map(marked).collect::<Option<_>>()?;
        let nests = marking.ids().map(|id| nest(marking.computation(id), id)).collect();
        marking.source_order = Schedule { root: Node::Sequence(nests) };
        Some(marking)
    }
}

/// A search that writes where it finds something.
fn marked(search: &Computation) -> Option<Computation> {
    let mut next = search.clone();
    let ExprKind::Binary(BinaryOp::Max, old, mark) = &search.value.kind else { return None };
    let ExprKind::IfElse { condition, yes, .. } = &mark.kind else { return None };
    let mut outside = (**condition).clone();
    // A condition comes before the values that an instance computes once.
    let mut left = LARGEST;
    spell_out(&mut outside, &search.lets, &mut left)?;
    next.lets.clear();
    next.predicate = Some(match &search.predicate {
        Some(predicate) => {
            let both = ExprKind::Binary(BinaryOp::AndAlso, Box::new(predicate.clone()), Box::new(outside));
            Expr { kind: both, ty: ScalarType::Bool }
        }
        None => outside,
    });
    let value = ExprKind::Binary(BinaryOp::Max, old.clone(), yes.clone());
    next.value = Expr { kind: value, ty: search.value.ty };
    let element = vec![Subscript::from(Affine::constant(1))];
    let status = next.write.array;
    for access in next.reads.iter_mut().chain([&mut next.write]).filter(|it| it.array == status) {
        access.subscripts = element.clone();
    }
    // Subscripts of what it reads may be made of such values, too.
    for subscript in next.reads.iter_mut().flat_map(|read| &mut read.subscripts) {
        if let Subscript::Computed(value) = subscript {
            spell_out(value, &search.lets, &mut left)?;
        }
    }
    next.atomic = true;
    Some(next)
}

/// Puts values in place of their names; `None` if more than `left` of them are needed, as where each is made of two uses of the one before.
fn spell_out(expr: &mut Expr, lets: &[Let], left: &mut u32) -> Option<()> {
    expr.walk_mut(&mut |part| {
        while let ExprKind::Let(at) = part.kind
            && *left > 0
        {
            *left -= 1;
            *part = lets[at as usize].value.clone();
        }
    });
    (*left > 0).then_some(())
}

/// The nests of these searches: neighbours that look at the same instances under the same conditions share one.
pub fn nests(algorithm: &Algorithm, searches: &[ComputationId]) -> Vec<Node> {
    let alike = |a: &ComputationId, b: &ComputationId| look_alike(algorithm.computation(*a), algorithm.computation(*b));
    searches.chunk_by(alike).map(|group| together(algorithm, group)).collect()
}

fn look_alike(a: &Computation, b: &Computation) -> bool {
    let same_domain = || {
        let [a, b] = [&a.domain, &b.domain].map(|domain| domain.reset_tuple_id());
        a?.is_equal(&b?)
    };
    // Bounds that are data are parts of predicates, which speak of reads by their numbers.
    let same_conditions =
        a.predicate == b.predicate && a.predicate.as_ref().is_none_or(|condition| reads_alike(condition, a, b));
    a.iterators == b.iterators && a.ranged == b.ranged && same_conditions && same_domain().unwrap_or(false)
}

/// Whether the reads of this condition are those of the same elements in both.
fn reads_alike(condition: &Expr, a: &Computation, b: &Computation) -> bool {
    let mut alike = true;
    condition.walk(&mut |part| {
        let ExprKind::Read(at) = part.kind else { return };
        let [a, b] = [a, b].map(|it| &it.reads[at as usize]);
        alike &= a.array == b.array
            && a.subscripts == b.subscripts
            && a.subscripts.iter().all(|it| it.as_affine().is_some());
    });
    alike
}

/// Loops through the iterators that these searches share.
fn together(algorithm: &Algorithm, searches: &[ComputationId]) -> Node {
    let names = &algorithm.computation(searches[0]).iterators;
    let leaves = searches.iter().map(|&id| Node::Computation(id));
    let body = match searches {
        [alone] => Node::Computation(*alone),
        _ => Node::Sequence(leaves.collect()),
    };
    names.iter().enumerate().rev().fold(body, |body, (at, name)| {
        let at = searches.iter().map(|&id| (id, Affine::iterator(at as u32))).collect();
        Node::Loop(Loop { name: name.clone(), tag: Tag::Sequential, at, body: Box::new(body) })
    })
}

/// A computation in loops through all of its iterators, in order.
fn nest(computation: &Computation, id: ComputationId) -> Node {
    let loops = computation.iterators.iter().enumerate();
    let loops = loops.map(|(at, name)| (name.clone(), Tag::Sequential, Affine::iterator(at as u32)));
    private::nest(id, loops.collect())
}
