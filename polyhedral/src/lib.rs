//! The polyhedral core: algorithms as sets of statement instances, schedules as trees, and proofs that an order is
//! legal.
//!
//! The crate knows no Julia, and no CUDA beyond memory spaces and processor axes. It touches no files.

pub mod isl;

pub mod affine;
pub mod algorithm;
pub mod expr;
pub mod layers;
pub mod schedule;

pub mod auto;
pub mod barriers;
pub mod bounds;
pub mod candidates;
pub mod combine;
pub mod command;
pub mod condition;
pub mod connect;
pub mod count;
pub mod default_order;
pub mod dependence;
pub mod derived;
pub mod draw;
pub mod effort;
pub mod known;
pub mod legality;
pub mod linear;
pub mod machine;
pub mod magnitude;
pub mod models;
pub mod order;
pub mod place;
pub mod print;
mod random;
pub mod recompute;
pub mod reduction;
pub mod relation;
pub mod remade;
pub mod report;
pub mod rows;
pub mod scan;
pub mod slices;
pub mod spell;
pub mod storage;
pub mod stream;
pub mod time_tiling;
pub mod transform;
pub mod unread;
pub mod unused;
pub mod verify;
pub mod work;

mod fresh;

pub mod error;
