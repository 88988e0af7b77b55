//! Puts together what finds out at entry whether subscripts are inside where sizes do not tell; see
//! [`Scan`](tessella_polyhedral::algorithm::Scan).
//!
//! ```text
//! y[i] = x[idx[i]]        status = max(status, ifelse(!(idx[i] >= 1 && idx[i] <= n), 1, 0))
//! ```
//!
//! The first of several searches marks with the largest number, the last with 1, so that a maximum, which any order of instances gives and C compilers
//! make with vectors, tells the first that failed.

use crate::expr::constant;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::iter;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{
    Access, Algorithm, Array, ArrayId, ArrayKind, Computation, ComputationId, Let, Outcome, Scan, ScanCheck, SizeError,
    Subscript,
};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::{DimType, Id, IslError, Set};
use tessella_polyhedral::linear::extremes;
use tessella_polyhedral::scan::nests;
use tessella_polyhedral::schedule::{Node, Schedule};
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType};

/// The computation that runs first.
pub(crate) const START: &str = "inside";

/// The computation that runs last: from the largest mark to the position of the search.
pub(crate) const FIRST: &str = "first";

/// A subscript that has to be looked at, and the computation that does.
pub(crate) struct ScanDraft {
    pub(crate) check: ScanCheck,
    /// As [`search_for`] makes it.
    pub(crate) computation: Computation,
}

/// The parts of a search.
pub(crate) struct Search {
    pub(crate) name: String,
    pub(crate) iterators: Vec<String>,
    /// The positions of those whose loops have bounds that are data.
    pub(crate) ranged: Vec<u32>,
    /// The instances that have to be looked at.
    pub(crate) domain: Set,
    pub(crate) predicate: Option<Expr>,
    pub(crate) lets: Vec<Let>,
    /// Whether the instance is outside.
    pub(crate) outside: Expr,
    pub(crate) reads: Vec<Access>,
}

/// The computation that evaluates whether an instance is outside; what it writes is not decided yet.
///
/// Iterators that it does not depend on are left out of the domain.
pub(crate) fn search_for(search: Search) -> Result<Computation, IslError> {
    let Search { name, iterators, ranged, domain, predicate, lets, outside, reads } = search;
    let mut found = Computation {
        name,
        iterators,
        domain,
        predicate,
        lets,
        value: outside,
        write: Access { array: ArrayId(0), subscripts: vec![], within: None, checked: false, conditional: false },
        reads,
        fastmath: false,
        simd: None,
        ranged,
        atomic: false,
        owner: None,
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
    found.ranged.retain(|&at| used[at as usize]);
    for at in &mut found.ranged {
        *at = used[..*at as usize].iter().filter(|&&used| used).count() as u32;
    }
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
    found.lets.iter_mut().for_each(|it| in_expr(&mut it.value));
    in_expr(&mut found.value);
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
        && known.lets == other.lets
        && known.value == other.value
        && known.reads.len() == other.reads.len()
        && known.reads.iter().zip(&other.reads).all(alike)
        && is_part(&other.domain, &known.domain).unwrap_or(false)
}

/// Leaves out of searches for places that are outside what searches for the same subscript of an access find, which say more.
pub(crate) fn told_apart(drafts: Vec<ScanDraft>) -> Vec<ScanDraft> {
    let (places, mut others): (Vec<ScanDraft>, Vec<ScanDraft>) = drafts.into_iter().partition(is_of_places);
    for mut draft in places {
        let accesses = others.iter().filter(|it| matches!(it.check, ScanCheck::Inside { .. }));
        let same = accesses.filter(|it| same_search(&it.computation, &draft.computation));
        let rest =
            same.map(|it| &it.computation.domain).try_fold(draft.computation.domain.clone(), |rest, looked_at| {
                let tuple = Id::new(rest.ctx(), &draft.computation.name)?;
                rest.subtract(&looked_at.set_tuple_id(&tuple)?)?.coalesce()
            });
        match rest.and_then(|rest| Ok((rest.is_empty()?, rest))) {
            Ok((true, _)) => {}
            Ok((false, rest)) => {
                draft.computation.domain = rest;
                others.push(draft);
            }
            // What is looked at twice is only looked at more often than needed.
            Err(_) => others.push(draft),
        }
    }
    others
}

fn is_of_places(draft: &ScanDraft) -> bool {
    matches!(draft.check, ScanCheck::Holds { error: SizeError::Bounds, .. })
}

/// Whether two searches ask the same of each of their instances.
fn same_search(a: &Computation, b: &Computation) -> bool {
    let predicates = match (&a.predicate, &b.predicate) {
        (None, None) => true,
        (Some(one), Some(other)) => alike((a, one), (b, other)),
        (None, Some(_)) | (Some(_), None) => false,
    };
    a.iterators.len() == b.iterators.len() && predicates && alike((a, &a.value), (b, &b.value))
}

/// Whether two expressions have the same value in the same instance, whatever their computations call its parts.
fn alike((a, one): (&Computation, &Expr), (b, other): (&Computation, &Expr)) -> bool {
    let same_subscript = |(one, other): (&Subscript, &Subscript)| match (one, other) {
        (Subscript::Affine(one), Subscript::Affine(other)) => one == other,
        (Subscript::Computed(one), Subscript::Computed(other)) => alike((a, one), (b, other)),
        (Subscript::Affine(_), Subscript::Computed(_)) | (Subscript::Computed(_), Subscript::Affine(_)) => false,
    };
    let same = match (&one.kind, &other.kind) {
        (ExprKind::Let(at), _) => return alike((a, &a.lets[*at as usize].value), (b, other)),
        (_, ExprKind::Let(at)) => return alike((a, one), (b, &b.lets[*at as usize].value)),
        (ExprKind::Read(one), ExprKind::Read(other)) => {
            let (one, other) = (&a.reads[*one as usize], &b.reads[*other as usize]);
            one.array == other.array && one.subscripts.iter().zip(&other.subscripts).all(same_subscript)
        }
        (ExprKind::Constant(one), ExprKind::Constant(other)) => one == other,
        (ExprKind::Index(one), ExprKind::Index(other)) => one == other,
        (ExprKind::Scalar(one), ExprKind::Scalar(other)) => one == other,
        (ExprKind::Unary(one, _), ExprKind::Unary(other, _)) => one == other,
        (ExprKind::Binary(one, ..), ExprKind::Binary(other, ..)) => one == other,
        (ExprKind::Compare(one, ..), ExprKind::Compare(other, ..)) => one == other,
        (ExprKind::Call(one, _), ExprKind::Call(other, _)) => one == other,
        (ExprKind::Select { .. }, ExprKind::Select { .. })
        | (ExprKind::IfElse { .. }, ExprKind::IfElse { .. })
        | (ExprKind::Convert(_), ExprKind::Convert(_))
        | (ExprKind::Wrap(_), ExprKind::Wrap(_)) => true,
        (_, _) => false,
    };
    let (left, right) = (one.operands(), other.operands());
    let pairs = left.iter().zip(&right);
    same && one.ty == other.ty && left.len() == right.len() && pairs.into_iter().all(|(l, r)| alike((a, l), (b, r)))
}

/// Whether the points of one domain are among those of another, whatever the domains are called.
fn is_part(part: &Set, whole: &Set) -> Result<bool, IslError> {
    part.reset_tuple_id()?.is_subset(&whole.reset_tuple_id()?)
}

fn involves(computation: &Computation, iterator: u32) -> bool {
    let mut subscripts = computation.reads.iter().flat_map(|read| &read.subscripts);
    let expressions = computation.predicate.iter().chain(computation.lets.iter().map(|it| &it.value));
    subscripts.any(|subscript| computation.involves_iterator(subscript, iterator))
        || expressions.chain([&computation.value]).any(|expr| computation.expression_involves(expr, iterator))
}

/// The searches as a function of the same arguments that returns the position of the first that found something.
/// `start` and `end` are the domains of its first and its last statement.
pub(crate) fn assemble(of: &Algorithm, drafts: Vec<ScanDraft>, [start, end]: [Set; 2]) -> Scan {
    let mut arrays: Vec<Array> = of.arrays.iter().take_while(|it| it.kind == ArrayKind::Argument).cloned().collect();
    let result = ArrayId(arrays.len() as u32);
    let taken: BTreeSet<&str> = of.arrays.iter().map(|it| it.name.as_str()).collect();
    let mut names = iter::once("found".to_owned()).chain((0..).map(|at: u64| format!("found{at}")));
    let name = names.find(|name| !taken.contains(name.as_str()));
    let name = name.expect("names never run out");
    let (element, kind) = (ScalarType::I32, ArrayKind::Result);
    arrays.push(Array { name, element, extents: vec![], firsts: vec![], rank: 0, kind, strided: 0..0 });
    let write = Access { array: result, subscripts: vec![], within: None, checked: false, conditional: false };
    let alone = |name: &str, domain: Set, value: Expr, reads: Vec<Access>| Computation {
        name: name.to_owned(),
        iterators: vec![],
        domain,
        predicate: None,
        lets: vec![],
        value,
        write: write.clone(),
        reads,
        fastmath: false,
        simd: None,
        ranged: vec![],
        atomic: false,
        owner: None,
    };
    let searches = drafts.len();
    let mut computations = vec![alone(START, start, status(0), vec![])];
    let (mut checks, mut looked_at) = (vec![], vec![]);
    for (at, draft) in drafts.into_iter().enumerate() {
        let id = ComputationId(computations.len() as u32);
        let mut computation = Computation { write: write.clone(), ..draft.computation };
        // Where isl gives up, all instances are looked at.
        if let Ok(Some(ends)) = extremes(of, &computation) {
            computation.domain = ends;
        }
        let before = typed(ExprKind::Read(computation.reads.len() as u32));
        computation.reads.push(write.clone());
        let (condition, yes, no) =
            (Box::new(computation.value), Box::new(status(Scan::mark(searches, at))), Box::new(status(0)));
        let mark = typed(ExprKind::IfElse { condition, yes, no });
        computation.value = typed(ExprKind::Binary(BinaryOp::Max, Box::new(before), Box::new(mark)));
        computations.push(computation);
        looked_at.push(id);
        checks.push(draft.check);
    }
    let mut last = None;
    if searches > 1 {
        let mark = || Box::new(typed(ExprKind::Read(0)));
        let is_set = ExprKind::Compare(CompareOp::Gt, mark(), Box::new(status(0)));
        let condition = Box::new(Expr { kind: is_set, ty: ScalarType::Bool });
        let all = Box::new(status(Scan::mark(searches, 0).saturating_add(1)));
        let yes = Box::new(typed(ExprKind::Binary(BinaryOp::Sub, all, mark())));
        let first = typed(ExprKind::IfElse { condition, yes, no: Box::new(status(0)) });
        last = Some(Node::Computation(ComputationId(computations.len() as u32)));
        computations.push(alone(FIRST, end, first, vec![write.clone()]));
    }
    let mut algorithm = Algorithm {
        name: format!("{}_inside", of.name),
        params: of.params.clone(),
        scalars: of.scalars.clone(),
        arrays,
        arguments: of.arguments.clone(),
        computations,
        requirements: vec![],
        context: of.context.clone(),
        source_order: Schedule { root: Node::Sequence(vec![]) },
        result: Outcome::Scalar(result),
        failed: None,
        scan: None,
        whole: None,
        redirected: BTreeMap::new(),
        limits: of.limits.clone(),
    };
    let first = Node::Computation(ComputationId(0));
    let order = [first].into_iter().chain(nests(&algorithm, &looked_at)).chain(last).collect();
    algorithm.source_order = Schedule { root: Node::Sequence(order) };
    Scan { algorithm, checks }
}

/// A value of the status.
fn typed(kind: ExprKind) -> Expr {
    Expr { kind, ty: ScalarType::I32 }
}

fn status(value: i32) -> Expr {
    constant(Constant::integer(ScalarType::I32, value.into()))
}
