//! Puts together what finds out at entry whether computed subscripts are inside; see
//! [`Scan`](tessella_polyhedral::algorithm::Scan).
//!
//! ```text
//! y[i] = x[idx[i]]        if !(idx[i] >= 1 && idx[i] <= n): status = 1
//! ```
//!
//! The searches run one after the other, the first one last: what remains is the position of the first that failed.

use crate::computation::constant;
use std::collections::BTreeSet;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{
    Access, Algorithm, Array, ArrayId, ArrayKind, Computation, ComputationId, Outcome, Scan, ScanCheck, Subscript,
};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::{DimType, Id, IslError, Set};
use tessella_polyhedral::schedule::{Loop, Node, Schedule, Tag};
use tessella_scalar::{Constant, ScalarType};

/// The computation that runs first.
pub(crate) const START: &str = "inside";

/// A subscript that has to be looked at, and the computation that does.
pub(crate) struct ScanDraft {
    pub(crate) check: ScanCheck,
    /// As [`search_for`] makes it.
    pub(crate) computation: Computation,
}

/// The computation whose predicate holds where something is outside; what it then writes is not decided yet.
///
/// Iterators that it does not depend on are left out of the domain.
pub(crate) fn search_for(
    name: String,
    iterators: Vec<String>,
    domain: Set,
    predicate: Option<Expr>,
    reads: Vec<Access>,
) -> Result<Computation, IslError> {
    let mut found = Computation {
        name,
        iterators,
        domain,
        predicate,
        lets: vec![],
        value: status(0),
        write: Access { array: ArrayId(0), subscripts: vec![], within: None, checked: false },
        reads,
        fastmath: false,
    };
    let used: Vec<bool> = (0..found.iterators.len() as u32).map(|iterator| involves(&found, iterator)).collect();
    let mut kept = 0;
    // What stands for each of the former iterators.
    let renamed: Vec<Affine> = used
        .iter()
        .map(|&used| {
            let now = Affine::iterator(kept);
            kept += u32::from(used);
            now
        })
        .collect();
    let tuple = Id::new(found.domain.ctx(), &found.name)?;
    for at in (0..used.len()).rev().filter(|&at| !used[at]) {
        found.domain = found.domain.project_out(DimType::Set, at as u32, 1)?;
        found.iterators.remove(at);
    }
    found.domain = found.domain.set_tuple_id(&tuple)?.coalesce()?;
    let now = |affine: &Affine| affine.substitute(&renamed).expect("another iterator changes no coefficient");
    let in_expr = |expr: &mut Expr| {
        expr.walk_mut(&mut |part| {
            if let ExprKind::Index(affine) = &mut part.kind {
                *affine = now(affine);
            }
        });
    };
    found.predicate.iter_mut().for_each(in_expr);
    for subscript in found.reads.iter_mut().flat_map(|read| &mut read.subscripts) {
        match subscript {
            Subscript::Affine(affine) => *affine = now(affine),
            Subscript::Computed(value) => in_expr(value),
        }
    }
    for read in &mut found.reads {
        // Nothing is written that they could depend on.
        read.within = None;
    }
    Ok(found)
}

/// Whether one search finds whatever the other would find.
pub(crate) fn covers(known: &ScanDraft, other: &ScanDraft) -> bool {
    let (known, other) = (&known.computation, &other.computation);
    let alike = |(a, b): (&Access, &Access)| a.array == b.array && a.subscripts == b.subscripts;
    known.iterators == other.iterators
        && known.predicate == other.predicate
        && known.reads.len() == other.reads.len()
        && known.reads.iter().zip(&other.reads).all(alike)
        && is_part(&other.domain, &known.domain).unwrap_or(false)
}

/// Whether the points of one domain are among those of another, whatever the domains are called.
fn is_part(part: &Set, whole: &Set) -> Result<bool, IslError> {
    part.reset_tuple_id()?.is_subset(&whole.reset_tuple_id()?)
}

fn involves(computation: &Computation, iterator: u32) -> bool {
    let subscripts = computation.reads.iter().flat_map(|read| &read.subscripts);
    subscripts.into_iter().any(|subscript| computation.involves_iterator(subscript, iterator))
        || computation.predicate.as_ref().is_some_and(|predicate| {
            computation.involves_iterator(&Subscript::Computed(predicate.clone()), iterator)
        })
}

/// The searches as a function of the same arguments that returns the position of the first that found something.
/// `start` is the domain of its first statement.
pub(crate) fn assemble(of: &Algorithm, drafts: Vec<ScanDraft>, start: Set) -> Scan {
    let mut arrays: Vec<Array> = of.arrays.iter().take_while(|it| it.kind == ArrayKind::Argument).cloned().collect();
    let result = ArrayId(arrays.len() as u32);
    let taken: BTreeSet<&str> = of.arrays.iter().map(|it| it.name.as_str()).collect();
    let name = (0..).map(|at: u64| format!("status{at}")).find(|name| !taken.contains(name.as_str()));
    let name = name.expect("names never run out");
    let (element, kind) = (ScalarType::I32, ArrayKind::Result);
    arrays.push(Array { name, element, extents: vec![], rank: 0, kind });
    let write = Access { array: result, subscripts: vec![], within: None, checked: false };
    let mut computations = vec![Computation {
        name: START.to_owned(),
        iterators: vec![],
        domain: start,
        predicate: None,
        lets: vec![],
        value: status(0),
        write: write.clone(),
        reads: vec![],
        fastmath: false,
    }];
    let mut order = vec![Node::Computation(ComputationId(0))];
    let mut checks = vec![];
    for (at, draft) in drafts.into_iter().enumerate() {
        let id = ComputationId(computations.len() as u32);
        let computation = Computation { value: status(at + 1), write: write.clone(), ..draft.computation };
        let mut node = Node::Computation(id);
        for (position, name) in computation.iterators.iter().enumerate().rev() {
            let at = [(id, Affine::iterator(position as u32))].into_iter().collect();
            node = Node::Loop(Loop { name: name.clone(), tag: Tag::Sequential, at, body: Box::new(node) });
        }
        order.insert(1, node);
        computations.push(computation);
        checks.push(draft.check);
    }
    let algorithm = Algorithm {
        name: format!("{}_inside", of.name),
        params: of.params.clone(),
        scalars: of.scalars.clone(),
        arrays,
        arguments: of.arguments.clone(),
        computations,
        requirements: vec![],
        context: of.context.clone(),
        source_order: Schedule { root: Node::Sequence(order) },
        result: Outcome::Scalar(result),
        scan: None,
    };
    Scan { algorithm, checks }
}

fn status(value: usize) -> Expr {
    let value = i32::try_from(value).unwrap_or(i32::MAX);
    constant(Constant::integer(ScalarType::I32, value.into()))
}
