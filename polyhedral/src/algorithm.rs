//! Layer I: what is computed, as the source wrote it, with no order of ours.

use crate::affine::{Affine, ParamId};
use crate::derived::Derived;
use crate::expr::{Expr, ExprKind};
use crate::isl::{DimType, IslError, Set, Val};
use crate::print;
use crate::schedule::{Node, Schedule};
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::ops::Range;
use tessella_scalar::{Constant, ScalarType};

/// Names an [`Array`] of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayId(pub u32);

/// Names a [`Computation`] of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputationId(pub u32);

/// Names a [`Scalar`] argument of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScalarId(pub u32);

/// Parameters are at most this in magnitude, which is tested at entry: within it no affine expression that is accepted passes
/// 64 bits. The context leaves it out, since numbers like these make isl's work several times as long: see
/// [`Algorithm::limited_context`].
pub const PARAM_LIMIT: i64 = 1 << 40;

/// A function as a set of computations over arrays, and the order in which the source runs them.
#[derive(Debug, Clone)]
pub struct Algorithm {
    pub name: String,
    pub params: Vec<Param>,
    pub scalars: Vec<Scalar>,
    pub arrays: Vec<Array>,
    /// In the order of the function's signature.
    pub arguments: Vec<Argument>,
    pub computations: Vec<Computation>,
    /// Tested at entry, in this order, before the subscripts are.
    pub requirements: Vec<Requirement>,
    /// What is known of the parameters at entry but [`PARAM_LIMIT`]: `[params] -> { : ... }`. Extents are never negative.
    pub context: Set,
    /// The order of the source.
    pub source_order: Schedule,
    pub result: Outcome,
    /// A `Bool` of kind [`ArrayKind::Result`] that holds `false` before the computations run, and is true at the end if something failed that entry could not know of. What
    /// was computed then means nothing: the arguments must hold again what they held before.
    pub failed: Option<ArrayId>,
    /// What finds out at entry whether subscripts are inside where sizes do not tell; `None` where none has to be checked.
    pub scan: Option<Box<Scan>>,
    /// Where computations were split into pieces: what they were before.
    pub whole: Option<Box<Whole>>,
    /// What accesses were before a command redirected them to an array of its own: their subscripts hold for the same iterators,
    /// which come first.
    pub redirected: BTreeMap<AccessRef, Access>,
    /// Parameters that are at most so large in magnitude, less than [`PARAM_LIMIT`], which is tested at entry: see [`crate::linear::limits`]. Like
    /// that limit, the context leaves them out.
    pub limits: BTreeMap<ParamId, i64>,
}

/// An algorithm before its computations were split into pieces.
///
/// Pieces together touch what the whole did, so what is checked at entry and told to people is said of the whole.
#[derive(Debug, Clone)]
pub struct Whole {
    pub algorithm: Algorithm,
    /// For each computation of the algorithm that was split, the one that it is a piece of; those that were added since are
    /// their own.
    pub piece_of: Vec<ComputationId>,
    /// Pieces that have instances for some sizes only: for which, and how a user writes that.
    pub sizes: BTreeMap<ComputationId, (Set, String)>,
    /// Whether pieces have edges whose slope is no whole number, as hexagons may.
    pub has_fractions: bool,
}

/// A search for subscripts that are outside, and for values that an operation is not defined for, before anything is
/// written.
///
/// Sizes alone do not tell whether `A[idx[i]]` is inside, nor whether a condition on data keeps `A[i + 1]` inside. So an
/// algorithm of its own evaluates such subscripts for all instances of their accesses that are not sure to be inside,
/// under the conditions on data that these have, reading only arrays that the function never writes.
#[derive(Debug, Clone)]
pub struct Scan {
    /// Has the parameters, scalars and arguments of the algorithm that it belongs to, and returns an `Int32`: 0, or the
    /// position from 1 in `checks` of the first that fails. Its own subscripts are those of the algorithm, or harmless.
    pub algorithm: Algorithm,
    pub checks: Vec<ScanCheck>,
}

/// What a search makes sure of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScanCheck {
    /// A subscript is inside its axis, from 0, of an access of the algorithm that the scan belongs to.
    Inside { access: AccessRef, axis: u32 },
    /// A condition on values holds, else the source fails with this error. `place` counts these checks from 0.
    Holds { error: SizeError, text: String, place: u32 },
}

/// An integer that the program never changes: an extent of an array, or an integer argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Unique among the parameters; the user's name for it where there is one (`n` of `n = size(A, 2)`).
    pub name: String,
    pub origin: ParamOrigin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParamOrigin {
    /// `size(array, axis)`, axis from 0.
    Extent { array: ArrayId, axis: u32 },
    /// `firstindex(array, axis)` of an argument whose subscripts do not count from 1, axis from 0.
    First { array: ArrayId, axis: u32 },
    /// The value of an `Int64` argument.
    Argument(ScalarId),
    /// What other parameters and scalar arguments give that is affine in none: a product of two sizes, the number of steps in a time. The
    /// parameters that it depends on come before it. Nothing is assumed of how the two are related.
    Derived(Derived),
}

impl Param {
    /// Whether scalar arguments give it, through floats: then it may have no value.
    pub fn is_of_scalars(&self) -> bool {
        matches!(self.origin, ParamOrigin::Derived(Derived::Scalars(_)))
    }
}

/// A scalar argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    pub name: String,
    pub ty: ScalarType,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    /// Unique among arrays.
    pub name: String,
    pub element: ScalarType,
    /// Subscripts of axis `a` are `1..=extent`, as in Julia (or count from `firsts[a]`); parameters only. For
    /// [`ArrayKind::Private`]: unused, empty.
    /// For [`ArrayKind::Local`]: those of the axes after the first `outer` ones, whose subscripts are the iterators
    /// that extents may depend on; a negative extent counts as zero.
    pub extents: Vec<Affine>,
    /// The first subscript along each axis of an argument; empty where subscripts count from 1.
    pub firsts: Vec<Affine>,
    pub rank: u32,
    pub kind: ArrayKind,
    /// The axes of an argument whose strides in memory are given at run time; none of an array that is contiguous. The
    /// others have the strides of a contiguous array.
    pub strided: Range<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayKind {
    /// Passed in; column-major and contiguous but for [`Array::strided`].
    Argument,
    /// A scalar variable of the source, made anew in each iteration of the loops around its declaration: one element
    /// for each, subscripted by those loops' iterators as the source has them. Where it lives is layer III's choice.
    Private,
    /// An array that the source makes anew in each iteration of the `outer` loops around its declaration: one for each,
    /// the first `outer` subscripts being those loops' iterators as the source has them.
    Local { outer: u32 },
    /// A scalar variable that the function returns, or [`Algorithm::failed`]; rank 0.
    Result,
    /// An array that the source makes once a call and gives back: the caller passes memory for it. Extents are
    /// parameters only; a negative one counts as zero.
    Returned,
}

/// A condition on sizes that the source needs besides its subscripts.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// `[params] -> { : ... }`
    pub holds: Set,
    pub error: SizeError,
    /// What is wrong where it does not hold.
    pub text: String,
    /// The subscript that it keeps inside, where it is what was an entry check before a command.
    pub inside: Option<Inside>,
}

/// A subscript of the source that stays inside of its array.
#[derive(Debug, Clone)]
pub struct Inside {
    pub access: AccessRef,
    /// The axis of the subscript, from 0.
    pub axis: u32,
    /// `[params] -> { : ... }`: the sizes for which it does, simplified for those for which the access happens at all.
    pub needs: Set,
}

/// How the source fails where a [`Requirement`] does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeError {
    /// Sizes that must agree do not.
    Mismatch,
    /// A size is not one that the operation is defined for.
    Argument,
    /// A subscript is outside a part of an array.
    Bounds,
    /// A number has no exact value in the type that it is converted to.
    Inexact,
    /// An integer division has no result.
    Divide,
    /// The source itself throws.
    Thrown,
    /// The schedule is for other sizes.
    Assumption,
}

impl Array {
    /// The first subscript along an axis that is no iterator.
    pub fn first(&self, axis: u32) -> Affine {
        self.firsts.get(axis as usize).cloned().unwrap_or(Affine::constant(1))
    }

    /// The first and the last subscript along an axis that is no iterator.
    pub fn limits(&self, axis: u32) -> (Affine, Affine) {
        let (first, extent) = (self.first(axis), &self.extents[axis as usize]);
        let last = first.add_constant(-1).and_then(|before| before.add(extent));
        (first, last.expect("counted from 1 it is the extent; else extent and first index are parameters"))
    }
}

impl ArrayKind {
    /// How many leading subscripts are iterators of loops around the array's declaration.
    pub fn outer(self) -> u32 {
        match self {
            ArrayKind::Local { outer } => outer,
            ArrayKind::Argument | ArrayKind::Private | ArrayKind::Result | ArrayKind::Returned => 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    Array(ArrayId),
    Scalar(ScalarId),
}

/// What the function gives back, beyond what it writes into its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Nothing,
    /// The argument of this position.
    Argument(u32),
    /// The element of this array of kind [`ArrayKind::Result`].
    Scalar(ArrayId),
    /// This array of kind [`ArrayKind::Returned`].
    Array(ArrayId),
    Tuple(Vec<Outcome>),
}

impl Outcome {
    /// The arrays of kinds [`ArrayKind::Result`] and [`ArrayKind::Returned`], each once, in the order of the result.
    pub fn places(&self) -> Vec<ArrayId> {
        match self {
            Outcome::Nothing | Outcome::Argument(_) => vec![],
            Outcome::Scalar(array) | Outcome::Array(array) => vec![*array],
            Outcome::Tuple(parts) => {
                let mut all: Vec<ArrayId> = vec![];
                for place in parts.iter().flat_map(Outcome::places) {
                    if !all.contains(&place) {
                        all.push(place);
                    }
                }
                all
            }
        }
    }
}

/// A statement and all its instances.
///
/// An instance evaluates `predicate`; if that is true (or absent) it evaluates `lets` in order, then `value`, and
/// writes it.
#[derive(Debug, Clone)]
pub struct Computation {
    /// Unique; the user's (`@comp S`) or ours (`S0`, `S1`, ...).
    pub name: String,
    /// Names of the iterators, outermost first: the domain's dimensions.
    pub iterators: Vec<String>,
    /// `[params] -> { S[iterators] : ... }`.
    pub domain: Set,
    pub predicate: Option<Expr>,
    pub lets: Vec<Let>,
    pub value: Expr,
    pub write: Access,
    /// What `predicate`, `lets` and `value` read; [`crate::expr::ExprKind::Read`] names one by its position here.
    pub reads: Vec<Access>,
    /// Contraction and reassociation are allowed (`@fastmath`).
    pub fastmath: bool,
    /// The iterator whose loop says that updates of a reduction may run in any order (`@simd`), within one execution of it.
    pub simd: Option<u32>,
    /// Iterators whose loops have bounds that are data: leading parts of the predicate say where they start and stop, and
    /// the domain is no more than an outer range. Generated loops take their bounds from these parts.
    pub ranged: Vec<u32>,
    /// Threads of a GPU update its element at one time, each in one piece ([`crate::transform::atomic`]).
    pub atomic: bool,
    /// Who runs it, where the elements that it stores into belong to somebody ([`crate::transform::owners`]).
    pub owner: Option<Owner>,
}

/// Whom elements of an array belong to that data name.
///
/// The subscripts, each times its factor, add up to a number, whose remainder by `count` is that of the owner. A statement's instances come in so many
/// copies, one for each value of an iterator, and the last part of the predicate lets the owner's alone run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    pub array: ArrayId,
    /// Its values are those of owners, from 0.
    pub iterator: u32,
    /// A power of two.
    pub count: u32,
}

impl Owner {
    /// What a subscript counts more than that of the axis before: no power of two has a factor in common with it, and tables have other extents.
    pub const FACTOR: i64 = 61;

    /// What the subscript of each axis counts.
    pub fn factors(self) -> impl Iterator<Item = i64> {
        std::iter::successors(Some(1), move |&factor: &i64| Some(factor * Owner::FACTOR % i64::from(self.count)))
    }
}

/// A value that one instance computes once and uses several times.
#[derive(Debug, Clone, PartialEq)]
pub struct Let {
    /// Unique within the computation.
    pub name: String,
    pub value: Expr,
}

/// One textual access to an array.
#[derive(Debug, Clone)]
pub struct Access {
    pub array: ArrayId,
    /// From 1 for arguments, as in the source; one for each axis.
    pub subscripts: Vec<Subscript>,
    /// The instances that may perform the access, where affine conditions inside the statement say so
    /// (`i > 1 ? A[i-1] : 0.0`), or a scan has found that it happens only inside the array; `None` for all of the domain.
    pub within: Option<Set>,
    /// Whether subscripts are checked against the extents at entry (not under `@inbounds`).
    pub checked: bool,
    /// Whether a condition on data decides if the access happens, and nothing has found out at entry whether it does: where
    /// such an access would be outside, the source need not fail.
    pub conditional: bool,
}

/// Which element of an axis an access touches.
#[derive(Debug, Clone, PartialEq)]
pub enum Subscript {
    /// Over the computation's iterators and the parameters.
    Affine(Affine),
    /// Known only once it is evaluated: an `Int64` made of what the computation reads, `idx[i]` of `A[idx[i]]`. The
    /// access may touch any element of the axis, and for certain it touches none.
    Computed(Expr),
}

impl Subscript {
    pub fn as_affine(&self) -> Option<&Affine> {
        match self {
            Subscript::Affine(affine) => Some(affine),
            Subscript::Computed(_) => None,
        }
    }

    pub fn as_computed(&self) -> Option<&Expr> {
        match self {
            Subscript::Affine(_) => None,
            Subscript::Computed(value) => Some(value),
        }
    }
}

impl From<Affine> for Subscript {
    fn from(affine: Affine) -> Self {
        Subscript::Affine(affine)
    }
}

impl Access {
    /// Whether the iterators and parameters alone say which element it is.
    pub fn is_affine(&self) -> bool {
        self.subscripts.iter().all(|subscript| subscript.as_affine().is_some())
    }
}

impl Computation {
    /// The constant that all instances store, if they do. It does not matter in which order, or whether at once, such instances write one
    /// element.
    pub fn stored_constant(&self) -> Option<Constant> {
        match self.value.kind {
            ExprKind::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Whether what is evaluated has the same bits on every machine.
    pub fn is_exact(&self) -> bool {
        let mut exact = true;
        self.walk(&mut |part| exact &= !matches!(&part.kind, ExprKind::Call(function, _) if !function.is_exact()));
        exact
    }

    /// Whether anything that an instance evaluates has a floating-point type.
    pub fn involves_floats(&self) -> bool {
        let mut any = false;
        self.walk(&mut |part| any |= part.ty.is_float());
        any
    }

    /// Visits all that an instance evaluates but the subscripts of what it writes.
    fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        let reads = self.reads.iter().flat_map(|read| &read.subscripts).filter_map(Subscript::as_computed);
        let lets = self.lets.iter().map(|it| &it.value);
        for expr in self.predicate.iter().chain(lets).chain([&self.value]).chain(reads) {
            expr.walk(visit);
        }
    }

    /// Whether the value of a subscript of this computation may change with the iterator.
    pub fn involves_iterator(&self, subscript: &Subscript, iterator: u32) -> bool {
        match subscript {
            Subscript::Affine(affine) => affine.involves_iterator(iterator),
            Subscript::Computed(value) => self.expression_involves(value, iterator),
        }
    }

    /// The lets that expressions of this computation name, and those that these are computed from.
    pub fn lets_below<'a>(&'a self, exprs: impl IntoIterator<Item = &'a Expr>) -> BTreeSet<u32> {
        let (mut found, mut left) = (BTreeSet::new(), Vec::from_iter(exprs));
        while let Some(expr) = left.pop() {
            expr.walk(&mut |part| match part.kind {
                ExprKind::Let(at) if found.insert(at) => left.push(&self.lets[at as usize].value),
                ExprKind::Read(at) => {
                    left.extend(self.reads[at as usize].subscripts.iter().filter_map(Subscript::as_computed));
                }
                _ => {}
            });
        }
        found
    }

    /// The arrays that say whether an instance runs, and which elements it touches.
    pub fn decided_by(&self) -> BTreeSet<ArrayId> {
        let accesses = self.reads.iter().chain([&self.write]);
        let places = accesses.flat_map(|access| &access.subscripts).filter_map(Subscript::as_computed);
        let asked: Vec<&Expr> = self.predicate.iter().chain(places).collect();
        let named = self.lets_below(asked.iter().copied());
        let mut found = BTreeSet::new();
        for expr in named.iter().map(|&at| &self.lets[at as usize].value).chain(asked) {
            expr.walk(&mut |part| {
                if let ExprKind::Read(at) = part.kind {
                    found.insert(self.reads[at as usize].array);
                }
            });
        }
        found
    }

    /// Whether the value of an expression of this computation may change with the iterator.
    pub fn expression_involves(&self, expr: &Expr, iterator: u32) -> bool {
        let mut found = false;
        expr.walk(&mut |part| {
            found = found
                || match &part.kind {
                    ExprKind::Index(affine) => affine.involves_iterator(iterator),
                    ExprKind::Let(at) => self.expression_involves(&self.lets[*at as usize].value, iterator),
                    ExprKind::Read(at) => {
                        let subscripts = &self.reads[*at as usize].subscripts;
                        subscripts.iter().any(|subscript| self.involves_iterator(subscript, iterator))
                    }
                    ExprKind::Constant(_)
                    | ExprKind::Scalar(_)
                    | ExprKind::Unary(..)
                    | ExprKind::Binary(..)
                    | ExprKind::Compare(..)
                    | ExprKind::Call(..)
                    | ExprKind::Select { .. }
                    | ExprKind::IfElse { .. }
                    | ExprKind::Convert(_)
                    | ExprKind::Wrap(_) => false,
                };
        });
        found
    }

    /// Whether it plainly has no instances, as what was inlined.
    pub fn never_runs(&self) -> bool {
        self.domain.is_plainly_empty().unwrap_or(false)
    }

    /// Whether an instance that exists is sure to write the element that its access names.
    pub fn writes_for_certain(&self) -> bool {
        self.predicate.is_none() && self.write.is_affine()
    }
}

/// An access of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccessRef {
    pub computation: ComputationId,
    pub which: Which,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Which {
    Write,
    /// The position in [`Computation::reads`].
    Read(u32),
}

impl Algorithm {
    pub fn param_names(&self) -> Vec<String> {
        self.params.iter().map(|param| param.name.clone()).collect()
    }

    pub fn param(&self, id: ParamId) -> &Param {
        &self.params[id.0 as usize]
    }

    /// A parameter that the source has no name for, as it would be written there: `size(A, 1)`, `nx * ny`.
    pub fn spelling(&self, param: &Param) -> Option<String> {
        match &param.origin {
            ParamOrigin::Extent { array, axis } => {
                let array = &self.array(*array).name;
                (param.name == format!("{array}_{}", axis + 1)).then(|| format!("size({array}, {})", axis + 1))
            }
            ParamOrigin::Derived(value) => {
                let name = |id| {
                    let param = self.param(id);
                    self.spelling(param).unwrap_or_else(|| param.name.clone())
                };
                Some(value.spelled(&name, &|value| print::at_entry(self, value)))
            }
            ParamOrigin::First { .. } | ParamOrigin::Argument(_) => None,
        }
    }

    /// The context, where no parameter passes [`PARAM_LIMIT`] or its own limit.
    pub fn limited_context(&self) -> Result<Set, IslError> {
        let ctx = self.context.ctx();
        let mut limited = self.context.clone();
        for at in 0..limited.dim(DimType::Param)? {
            let limit = self.limits.get(&ParamId(at)).copied().unwrap_or(PARAM_LIMIT);
            let (least, most) = (Val::from_i64(ctx, -limit)?, Val::from_i64(ctx, limit)?);
            limited = limited.lower_bound(DimType::Param, at, &least)?.upper_bound(DimType::Param, at, &most)?;
        }
        Ok(limited)
    }

    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[id.0 as usize]
    }

    pub fn scalar(&self, id: ScalarId) -> &Scalar {
        &self.scalars[id.0 as usize]
    }

    pub fn computation(&self, id: ComputationId) -> &Computation {
        &self.computations[id.0 as usize]
    }

    pub fn ids(&self) -> impl Iterator<Item = ComputationId> + use<> {
        (0..self.computations.len() as u32).map(ComputationId)
    }

    /// The access whose element a computation stores as it is, if that is all that it does.
    pub fn copied_by(&self, id: ComputationId) -> Option<&Access> {
        let it = self.computation(id);
        let ExprKind::Read(position) = it.value.kind else { return None };
        let read = &it.reads[position as usize];
        let is_plain = it.predicate.is_none() && it.lets.is_empty();
        (is_plain && it.value.ty == self.array(read.array).element).then_some(read)
    }

    pub fn find(&self, name: &str) -> Option<ComputationId> {
        self.ids().find(|&id| self.computation(id).name == name)
    }

    pub fn access(&self, at: AccessRef) -> &Access {
        let computation = self.computation(at.computation);
        match at.which {
            Which::Write => &computation.write,
            Which::Read(position) => &computation.reads[position as usize],
        }
    }

    /// An access as the source has it, whatever array stands in for its own since.
    pub fn access_of_source(&self, at: AccessRef) -> &Access {
        self.redirected.get(&at).unwrap_or_else(|| self.access(at))
    }

    /// Has an access touch an array that stands in for its own, where its subscripts need no checks.
    pub fn redirect(&mut self, at: AccessRef, array: ArrayId, subscripts: Vec<Subscript>) {
        let former = self.access(at).clone();
        self.redirected.entry(at).or_insert(former);
        let computation = &mut self.computations[at.computation.0 as usize];
        let access = match at.which {
            Which::Write => &mut computation.write,
            Which::Read(position) => &mut computation.reads[position as usize],
        };
        (access.array, access.subscripts, access.checked) = (array, subscripts, false);
    }

    /// All accesses, computation by computation, each write before the reads.
    pub fn accesses(&self) -> impl Iterator<Item = AccessRef> + '_ {
        self.ids().flat_map(|computation| {
            let reads = (0..self.computation(computation).reads.len() as u32).map(Which::Read);
            std::iter::once(Which::Write).chain(reads).map(move |which| AccessRef { computation, which })
        })
    }

    /// Parameters among which are all those for which all assumptions of the schedule hold, and which the source does not throw for, if
    /// either leaves any out: `[params] -> { : ... }`. Both are tested at entry. There are others where these would be a union of many pieces: each
    /// broadcast has conditions of five for each axis, and what is asked of all of them together takes isl that much longer. So it does where a limit is
    /// a large number: isl's products of these grow beyond machine words, and it searches for orders a hundred times as long.
    pub fn assumed(&self) -> Result<Option<Set>, IslError> {
        let mut all = vec![];
        for it in self.requirements.iter().filter(|it| is_assumed(it.error)) {
            if it.error == SizeError::Assumption || !has_large_numbers(&it.holds)? {
                all.push((it.holds.basic_set_count()?, &it.holds));
            }
        }
        all.sort_by_key(|(pieces, _)| *pieces);
        let mut assumed: Option<Set> = None;
        for (_, holds) in all {
            let next = match &assumed {
                None => holds.clone(),
                Some(assumed) => assumed.intersect(holds)?.coalesce()?,
            };
            if next.basic_set_count()? <= MOST_ASSUMED {
                assumed = Some(next);
            }
        }
        Ok(assumed)
    }

    /// The algorithm without some of its computations, and what the others are called now.
    ///
    /// For algorithms as lowering makes them, none of whose checks are about what goes.
    pub fn without(&self, gone: &BTreeSet<ComputationId>) -> (Algorithm, BTreeMap<ComputationId, ComputationId>) {
        let stay: BTreeSet<ComputationId> = self.ids().filter(|id| !gone.contains(id)).collect();
        let names: BTreeMap<_, _> = stay.iter().copied().zip((0..).map(ComputationId)).collect();
        let rename = |at: &mut AccessRef| at.computation = names[&at.computation];
        let mut left = self.clone();
        left.computations = stay.iter().map(|&id| self.computation(id).clone()).collect();
        left.source_order.root = self.source_order.root.restricted(&stay).unwrap_or(Node::Sequence(vec![]));
        left.source_order.root.rename(&names);
        left.requirements.iter_mut().filter_map(|it| it.inside.as_mut()).for_each(|it| rename(&mut it.access));
        for check in left.scan.iter_mut().flat_map(|scan| &mut scan.checks) {
            match check {
                ScanCheck::Inside { access, .. } => rename(access),
                ScanCheck::Holds { .. } => {}
            }
        }
        (left, names)
    }

    /// Whether any computation writes the array.
    pub fn is_written(&self, array: ArrayId) -> bool {
        self.computations.iter().any(|computation| computation.write.array == array)
    }

    /// Whether any computation reads the array.
    pub fn is_read(&self, array: ArrayId) -> bool {
        self.computations.iter().any(|computation| computation.reads.iter().any(|read| read.array == array))
    }
}

/// Assumptions in more pieces are not made.
const MOST_ASSUMED: u32 = 8;

/// No size that a program depends on is a larger number.
const LARGE: i64 = 1 << 24;

/// Whether a condition compares with a large number.
fn has_large_numbers(holds: &Set) -> Result<bool, IslError> {
    for basic in holds.basic_sets()? {
        for constraint in basic.constraints()? {
            if constraint.constant()?.to_i64().is_none_or(|constant| constant.abs() > LARGE) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether orders are judged for sizes alone that pass a test at entry.
fn is_assumed(error: SizeError) -> bool {
    match error {
        SizeError::Assumption | SizeError::Thrown => true,
        SizeError::Mismatch | SizeError::Argument | SizeError::Bounds | SizeError::Inexact | SizeError::Divide => false,
    }
}
