//! Models that choose: each predicts what a choice costs, and finds the best.
//!
//! A model stands alone: it takes plain data or an algorithm, and nothing else of the core depends on it.

pub mod banks;
pub mod layout;
pub mod parallelograms;
pub mod tiles;
