//! Composes the passes, and holds the C interface that Julia calls.
//!
//! [`pipeline`] lists the passes in their order, and [`course`] those from an algorithm to a verified program; [`unit`] is one function going through them; [`session`] answers one
//! [`request`] and [`file`] works on whole files for the command line, [`model`] asks models about them. [`abi`] is the
//! C interface.

pub mod abi;
pub mod codes;
pub mod constants;
pub mod course;
pub mod diagnose;
pub mod draw;
pub mod explain;
pub mod file;
pub mod model;
mod one_thread;
pub mod pipeline;
pub mod profile;
pub mod request;
pub mod results;
pub mod run;
pub mod searches;
pub mod session;
pub mod sizes;
pub mod slices;
pub mod tune;
pub mod tuned;
pub mod unit;
