//! The polyhedral core: algorithms as sets of statement instances, schedules as trees, and proofs that an order is
//! legal.
//!
//! The crate knows no Julia, and no CUDA beyond memory spaces and processor axes. It touches no files.

pub mod isl;

pub mod affine;
pub mod expr;
pub mod algorithm;
pub mod schedule;
pub mod layers;

pub mod effort;
pub mod relation;
pub mod reduction;
pub mod condition;
pub mod dependence;
pub mod legality;
pub mod magnitude;
pub mod recompute;
pub mod command;
pub mod transform;
pub mod time_tiling;
pub mod order;
pub mod spell;
pub mod machine;
pub mod auto;
pub mod default_order;
pub mod place;
pub mod storage;
pub mod known;
pub mod bounds;
pub mod connect;
pub mod verify;
pub mod report;
pub mod stream;
pub mod draw;
pub mod count;
pub mod work;
pub mod models;
pub mod candidates;
pub mod print;

mod fresh;

pub mod error;
