//! Barriers of a GPU kernel: which of its steps need one between them, and a proof that none is missing.
//!
//! Threads of a block run the steps of a kernel in order, each thread on its own; a barrier makes all of them wait. Two steps need
//! one between them where different threads touch one element, one of them writing. [`crossing`] finds out which
//! computations do so; [`course`] proves that a barrier separates them whichever way a kernel goes.

pub mod course;
pub mod crossing;
