//! Compiles, loads and runs what the backends generate. Besides `driver` and `cli`, the only crate that touches the
//! world outside the program.

mod batch;
pub mod cache;
pub mod call;
pub mod cuda;
pub mod error;
pub mod library;
pub mod machine;
pub mod toolchain;

pub use cache::Cache;
pub use call::{ArgumentValue, ParamType};
pub use error::RuntimeError;
pub use library::LoadedFunction;
pub use toolchain::{CSource, Compiler};
