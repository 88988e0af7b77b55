//! From a verified program to loops, kernels and a launch plan, and the writer of C-like text that the backends share.
//!
//! The way of a program: [`input::Input`] (all four layers) becomes an isl schedule with a mark for each loop
//! (`isl_schedule`), isl builds a loop tree, `from_ast` turns that into the nodes of a [`program::Program`], and on the
//! GPU target `kernels` splits it into host code and kernels. [`plan`] states what the host does. Backends print with
//! [`c_family`]. Nothing here decides an order, touches a file or starts a process.

pub mod error;
pub mod input;
pub mod int_expr;
pub mod names;
pub mod program;

pub mod ahead;
pub mod ahead_of_stores;
mod asked;
pub mod barriers;
mod edges;
mod extent;
mod frame;
mod from_ast;
mod guards;
mod isl_schedule;
mod kernels;
pub mod lanes;
pub mod leave;
mod narrow;
mod params;
pub mod part;
pub mod ranges;
pub mod rows;
mod separate;
pub mod shared;
pub mod stream;
pub mod tile;
mod whole_tiles;
pub mod wide;
mod words;

pub mod entry;
pub mod generate;
pub mod plan;

pub mod c_family;
mod display;
pub mod int_text;

pub use entry::Entry;
pub use error::CodegenError;
pub use generate::{generate, generate_framed, generate_whole};
pub use input::Input;
pub use plan::{LaunchPlan, launch_plan};
pub use program::Program;
