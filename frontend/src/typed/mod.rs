//! What a function means: from the syntax tree and the types of the arguments to the typed [`tree`].
//!
//! [`check`] applies Julia's scope rules and promotion rules, makes every conversion explicit, and reports all the
//! errors it finds. What Julia would do and the typed tree cannot say exactly is refused, never approximated.

pub mod print;
pub mod tree;

mod error;
mod unsupported;

mod alternatives;
mod array;
mod array_function;
mod arrays;
mod assign;
mod base_function;
mod call;
mod called_paths;
mod check;
mod choose;
mod compare;
mod complex;
mod constant;
mod constant_array;
mod convert;
mod destructure;
mod divide;
mod each;
mod expression;
mod flow;
mod full_name;
mod infer;
mod inline;
mod iterate;
mod jumps;
mod kept;
mod library;
mod literal;
mod local_table;
mod loops;
mod macros;
mod meanings;
mod moved;
mod named;
mod number_function;
mod operator;
mod position;
mod power;
mod prelude;
mod rebinding;
mod renaming;
mod result;
mod rounding;
mod scope;
mod several;
mod signature;
mod statement;
mod terms;
mod throw;
mod tuple;
mod tuple_parts;
mod type_function;
mod type_text;
mod value;
mod walk;

#[cfg(test)]
mod tests;

pub use arrays::ArrayError;
pub use check::{ModuleConstant, Surroundings, check, check_in};
pub use complex::ComplexError;
pub use convert::promote;
pub use error::TypeError;
pub use infer::{Basis, Inferred, infer_arguments, infer_arguments_in};
pub use rebinding::Hindrance;
pub use result::Container;
pub use tree::ArgumentType;
pub use type_text::{TypeTextError, parse_type};
pub use unsupported::Construct;
pub use value::Kind;
