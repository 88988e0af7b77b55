//! Layer I: what is computed, as the source wrote it, with no order of ours.

use crate::affine::{Affine, ParamId};
use crate::expr::Expr;
use crate::isl::Set;
use crate::schedule::Schedule;
use std::ops::Range;
use tessella_scalar::ScalarType;

/// Names an [`Array`] of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayId(pub u32);

/// Names a [`Computation`] of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputationId(pub u32);

/// Names a [`Scalar`] argument of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScalarId(pub u32);

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
    /// What is known of the parameters at entry: `[params] -> { : ... }`. Extents are never negative.
    pub context: Set,
    /// The order of the source.
    pub source_order: Schedule,
    pub result: Outcome,
}

/// An integer that the program never changes: an extent of an array, or an integer argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Unique among the parameters; the user's name for it where there is one (`n` of `n = size(A, 2)`).
    pub name: String,
    pub origin: ParamOrigin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamOrigin {
    /// `size(array, axis)`, axis from 0.
    Extent { array: ArrayId, axis: u32 },
    /// `firstindex(array, axis)` of an argument whose subscripts do not count from 1, axis from 0.
    First { array: ArrayId, axis: u32 },
    /// The value of an `Int64` argument.
    Argument(ScalarId),
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
    /// A scalar variable that the function returns; rank 0.
    Result,
}

/// A condition on sizes that the source needs besides its subscripts.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// `[params] -> { : ... }`
    pub holds: Set,
    pub error: SizeError,
    /// What is wrong where it does not hold.
    pub text: String,
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
}

impl Array {
    /// The first subscript along an axis that is no iterator.
    pub fn first(&self, axis: u32) -> Affine {
        self.firsts.get(axis as usize).cloned().unwrap_or(Affine::constant(1))
    }
}

impl ArrayKind {
    /// How many leading subscripts are iterators of loops around the array's declaration.
    pub fn outer(self) -> u32 {
        match self {
            ArrayKind::Local { outer } => outer,
            ArrayKind::Argument | ArrayKind::Private | ArrayKind::Result => 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    Array(ArrayId),
    Scalar(ScalarId),
}

/// What the function gives back, beyond what it writes into its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Nothing,
    /// The argument of this position.
    Argument(u32),
    /// The element of this array of kind [`ArrayKind::Result`].
    Scalar(ArrayId),
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
    /// From 1 for arguments, as in the source; over the computation's iterators and the parameters.
    pub subscripts: Vec<Affine>,
    /// The instances that may perform the access, where affine conditions inside the statement say so
    /// (`i > 1 ? A[i-1] : 0.0`); `None` for all of the domain.
    pub within: Option<Set>,
    /// Whether subscripts are checked against the extents at entry (not under `@inbounds`).
    pub checked: bool,
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

    /// All accesses, computation by computation, each write before the reads.
    pub fn accesses(&self) -> impl Iterator<Item = AccessRef> + '_ {
        self.ids().flat_map(|computation| {
            let reads = (0..self.computation(computation).reads.len() as u32).map(Which::Read);
            std::iter::once(Which::Write).chain(reads).map(move |which| AccessRef { computation, which })
        })
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
