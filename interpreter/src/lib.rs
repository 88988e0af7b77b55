//! Executes typed functions slowly and obviously, with Julia's meaning: the oracle that generated code is held against.
//! [`scheduled`] does the same with the loop programs that schedules make of them.
//!
//! Every operator is written here from Julia's definition, one value at a time; nothing is shared with the writers of
//! C and CUDA. Where a subscript is wrong the interpreter says so, `@inbounds` or not. Elementary functions (`exp`,
//! `sin`, `^`, ...) are those of Rust's standard library and may differ from Julia's in the last place; all else is
//! exact. Arrays are separate values, so that arguments never overlap in memory.

mod error;
mod float;
mod integer;
mod machine;
mod operators;
pub mod scheduled;
mod value;

pub use error::RunError;
pub use machine::{DEFAULT_STEPS, run, run_within};
pub use value::{Array, Returned, ShapeError, Value};
