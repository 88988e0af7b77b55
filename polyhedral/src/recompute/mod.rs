//! Whether a program that repeats instances computes what the program that it was made from does.
//!
//! A command may give computations instances of their own in each tile: the values that a tile needs from its neighbours
//! are computed once more, into an array that the tile has for itself. Dependences say nothing about such a program: its
//! instances are others. What is compared instead is which value each read sees. Every computation of the new program
//! [repeats](Role::Repeats) instances of one of the original, evaluating the same expression, or [copies](Role::Copies) a
//! value that the original has at some moment. [`prove`] shows:
//!
//! * each read of a repeated instance sees the value that the original instance's read sees;
//! * each copy sees the value that it stands for;
//! * at the end every element that a caller sees holds the value that it holds in the original.
//!
//! Two values are the same if the original does not write the element between their moments (`between.rs`). Where that does not settle
//! it, the instances that wrote the values are found, or the elements that nobody wrote before, and compared (`flow.rs`).
//!
//! By induction over the new program's order all values are the same, bit for bit. A write that may not happen is taken for
//! one that reads the old value and writes it back. Loops without an order are judged apart, by the new program's own
//! dependences.
//!
//! # Source
//! Verdoolaege, Janssens, Bruynooghe, *Equivalence checking of static affine programs using widening to handle
//! recurrences*, TOPLAS 34(3), 2012; there for programs that nobody explains, here for ones that declare what repeats what.

mod between;
mod flow;
mod moment;
mod prove;

pub use flow::{Flows, written_by};
pub(crate) use prove::is_seen;
pub use prove::{Mismatch, Mistake, Recomputation, prove};

use crate::affine::Affine;
use crate::algorithm::{ArrayId, ComputationId};

/// What the instances of a computation of the new program are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// Instances of this computation of the original: its iterators come first, others tell repetitions apart.
    Repeats(ComputationId),
    /// Copies of values of the original.
    Copies(Snapshot),
}

/// A value that the original has at some moment, by the iterators of the copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub array: ArrayId,
    pub subscripts: Vec<Affine>,
    /// A path down the original's tree, as far as it matters: the value of each loop and the number of each child of a
    /// sequence. The moment is just before what stands there.
    pub moment: Vec<Affine>,
}
