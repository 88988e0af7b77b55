//! Whole arrays: parts of them, arithmetic on all elements at once, local arrays, reductions.
//!
//! An expression that has an array as its value is kept as [`Elements`]: how many elements there are, and how to
//! compute any one of them. Nothing is computed before it is known where the elements go: an assignment writes one nest
//! of loops over all of them in Julia's order, a variable gets memory of its own, a reduction a loop. So what Julia
//! fuses is fused, and what Julia computes into a temporary array that nobody else sees is fused, too. Where a target
//! is also read at other places than the one being written, the elements go through a temporary array.

mod accumulate;
mod apply;
mod assign;
mod chosen;
mod collection;
mod dots;
mod element;
mod error;
mod generated;
mod inside;
mod literal;
mod make;
mod mapped;
mod origin;
mod product;
mod rearrange;
mod reduce;
mod reduce_tuple;
mod scatter;
mod shape;
mod slice;
mod undecided;

pub(in crate::typed) use apply::{Conjugate, FUNCTIONS};
pub(in crate::typed) use collection::{linear_index, local, named, positional};
pub(in crate::typed) use dots::dotted;
pub use error::ArrayError;
pub(in crate::typed) use generated::Collecting;
pub(in crate::typed) use make::value_of;
pub(in crate::typed) use origin::is_axis;
use shape::count;
pub(in crate::typed) use shape::{clamped, same};

use super::check::Checker;
use super::inline::Callee;
use super::scope::Scope;
use super::signature::TypeParameter;
use super::tree::{Expr, LocalId};
use super::value::{RangeValue, Value};
use crate::ast;
use std::collections::BTreeMap;
use tessella_diagnostics::Span;
use tessella_scalar::ScalarType;

/// An array-valued expression.
#[derive(Debug, Clone)]
pub(in crate::typed) struct Elements {
    /// Of complex numbers, the type of a half.
    pub element: ScalarType,
    pub numbers: Numbers,
    /// How many there are along each axis: `Int64`s that nothing changes. A negative one means none.
    pub extents: Vec<Expr>,
    pub recipe: Recipe,
    pub span: Span,
}

/// What one element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::typed) enum Numbers {
    Real,
    /// Memory has both halves of each, along a first axis that is none of the elements'.
    Complex,
}

/// How to compute one element.
#[derive(Debug, Clone)]
pub(in crate::typed) enum Recipe {
    Part(Part),
    Range(RangeValue),
    /// The same everywhere.
    Fill(Box<Value>),
    /// Memory that nothing has been stored into.
    Undefined,
    /// An operand that is no array; it has no extents.
    Scalar(Box<Value>),
    /// Of operands of one shape, but for axes that have a single element or are missing.
    Apply {
        operation: Operation,
        operands: Vec<Elements>,
    },
    /// `A'`.
    Transposed(Box<Elements>),
    /// `zip(a, b)`: a tuple of one element of each.
    Rows(Vec<Elements>),
    /// `eachcol(A)`, `eachrow(A)`: a view of `A` at each place of one of its axes.
    Slices {
        of: Box<Elements>,
        axis: usize,
    },
    /// `vec(A)`: all elements in one row.
    Row(Box<Elements>),
    /// `LinearIndices(A)`: the number of each element of `A`.
    Numbering(Box<Elements>),
    /// `[body for x in a, y in b]`: the axes of all sources, the first one's first.
    Comprehension {
        body: Box<ast::Expr>,
        sources: Vec<(ast::Expr, Elements)>,
        home: std::rc::Rc<Home>,
    },
}

/// What names mean where an expression stands, which may be evaluated elsewhere: in a function that it is passed to.
#[derive(Debug, Clone)]
pub(in crate::typed) struct Home {
    scopes: Vec<Scope>,
    parameters: BTreeMap<String, TypeParameter>,
}

/// Elements that lie in memory.
#[derive(Debug, Clone)]
pub(in crate::typed) struct Part {
    pub array: LocalId,
    /// One for each axis of the array.
    pub axes: Vec<Axis>,
    pub keeps: Keeps,
    /// Whether it is `A[:]` of an array with several dimensions, whose elements come in one row.
    pub flat: bool,
    /// Whether subscripts are not checked.
    pub inbounds: bool,
}

#[derive(Debug, Clone)]
pub(in crate::typed) enum Axis {
    At(Expr),
    /// `start`, `start + step`, ...: as many as the part's extent.
    Along {
        start: Expr,
        step: i64,
        whole: bool,
    },
}

/// Whether a part is the array's own elements where it gets a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::typed) enum Keeps {
    /// `A`, `view(A, :, j)`.
    View,
    /// `A[:, j]`.
    Copy,
    /// A new array that has no name yet.
    Fresh,
}

/// Subscripts that stand for a whole place in an array: of `CartesianIndices(A)`, and of `eachindex(A)` where `A` has
/// several dimensions.
#[derive(Debug, Clone)]
pub(in crate::typed) struct Position {
    pub subscripts: Vec<Expr>,
    /// The array that a linear index counts in; `None` for a `CartesianIndex`.
    pub linear_in: Option<Box<Elements>>,
    /// Whether Julia has a number here for certain: `eachindex` of an array with strides may give `CartesianIndex`es.
    pub is_number: bool,
}

impl Position {
    /// Whether `LinearIndices` gave the number: it means another place in arrays of other shapes.
    pub(in crate::typed) fn is_of_numbering(&self) -> bool {
        self.linear_in.as_ref().is_some_and(|origin| matches!(origin.recipe, Recipe::Numbering(_)))
    }
}

/// What is done with the elements at one place.
#[derive(Debug, Clone)]
pub(in crate::typed) enum Operation {
    Identity,
    /// Of the elements of `A'`, which is no array of its own: its elements are `A`'s.
    Conjugate,
    Prefix(String),
    Binary(String),
    Compare(String),
    Power {
        literal: bool,
    },
    /// A function of numbers by its name.
    Named(String),
    Convert(ScalarType),
    /// A function that the user wrote.
    User(Callee),
}

impl Elements {
    /// Part of an array with its first subscript fixed.
    pub(in crate::typed) fn without_first(mut self, at: Expr) -> Elements {
        if let Recipe::Part(part) = &mut self.recipe
            && let Some(first) = part.axes.first_mut()
        {
            *first = Axis::At(at);
            self.extents.remove(0);
        }
        self
    }

    pub(in crate::typed) fn rank(&self) -> usize {
        self.extents.len()
    }

    /// Whether functions of the user may be called for the elements.
    pub(in crate::typed) fn calls_functions(&self) -> bool {
        match &self.recipe {
            Recipe::Apply { operation, operands } => {
                matches!(operation, Operation::User(_)) || operands.iter().any(Elements::calls_functions)
            }
            Recipe::Comprehension { .. } => true,
            Recipe::Transposed(inner) | Recipe::Row(inner) | Recipe::Slices { of: inner, .. } => {
                inner.calls_functions()
            }
            Recipe::Rows(parts) => parts.iter().any(Elements::calls_functions),
            Recipe::Part(_)
            | Recipe::Range(_)
            | Recipe::Numbering(_)
            | Recipe::Fill(_)
            | Recipe::Scalar(_)
            | Recipe::Undefined => false,
        }
    }

    /// Whether a name for it means the same elements as long as it lives.
    pub(in crate::typed) fn is_view(&self) -> bool {
        match &self.recipe {
            Recipe::Part(part) => part.keeps == Keeps::View,
            Recipe::Transposed(inner) => inner.is_view(),
            Recipe::Slices { of, .. } | Recipe::Row(of) => of.is_view(),
            Recipe::Range(_) | Recipe::Numbering(_) => true,
            Recipe::Apply { operation: Operation::Conjugate, operands } => operands.iter().all(Elements::is_view),
            Recipe::Fill(_)
            | Recipe::Undefined
            | Recipe::Scalar(_)
            | Recipe::Apply { .. }
            | Recipe::Rows(_)
            | Recipe::Comprehension { .. } => false,
        }
    }
}

impl Checker<'_> {
    /// What names mean here.
    fn home(&self) -> std::rc::Rc<Home> {
        std::rc::Rc::new(Home { scopes: self.scopes.clone(), parameters: self.type_parameters.clone() })
    }

    /// Evaluates something that stands elsewhere.
    fn at_home<T>(&mut self, home: &Home, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        let scopes = std::mem::replace(&mut self.scopes, home.scopes.clone());
        let parameters = std::mem::replace(&mut self.type_parameters, home.parameters.clone());
        let result = self.suspending(scopes.clone(), evaluate);
        (self.scopes, self.type_parameters) = (scopes, parameters);
        result
    }
}
