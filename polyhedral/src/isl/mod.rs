//! Integer sets, relations, schedules and loop trees: the safe face of isl.
//!
//! Only this module names `isl_rs`, and only this module of the crate has `unsafe` code. `isl-rs` builds and links isl
//! and owns references (its handles free on drop). The calls are our own declarations, one line each: the methods of
//! `isl-rs` hide the kind of an error, keep the context in its error state after a failed predicate, read null strings,
//! leak the strings they print, and lack callbacks, options and `isl_ast_build`.
//!
//! Every method borrows its operands, copies the references isl consumes, and returns a [`Result`]; after an error the
//! context is usable again. Objects of two contexts never meet: that is an error of kind [`IslErrorKind::Invalid`].

mod macros;
mod raw;

mod aff;
mod ast;
mod ast_build;
mod callback;
mod ctx;
mod error;
mod flow;
mod map;
mod memo;
mod multi;
mod schedule;
mod set;
mod union;
mod union_aff;
mod value;

#[cfg(test)]
mod tests;

pub use aff::{Aff, PwAff};
pub use ast::{AstBuild, AstExpr, AstExprKind, AstNode, AstNodeKind, AstOp};
pub use ast_build::{AstExprView, AstNodeView, Hooks, NodeHook};
pub use ctx::{Ctx, IslOption, operations_of_ended_contexts};
pub use error::{IslError, IslErrorKind};
pub use flow::{ExecutionOrder, Flow, FlowQuery, ScheduleConstraints};
pub use map::{BasicMap, Map};
pub use multi::{MultiAff, MultiPwAff, PwMultiAff};
pub use schedule::{LoopType, Schedule, ScheduleNode, ScheduleNodeKind};
pub use set::{BasicSet, Constraint, FixedBox, Set, StrideInfo};
pub use union::{UnionMap, UnionSet};
pub use union_aff::{MultiUnionPwAff, UnionPwAff, UnionPwMultiAff};
pub use value::{DimType, Id, LocalSpace, MultiVal, Point, Space, Val};
