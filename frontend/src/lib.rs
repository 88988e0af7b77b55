//! Julia source to syntax tree to typed tree.
//!
//! [`scan()`] finds the functions of a file by structure alone; [`parse_function`] gives the tree of one of them;
//! [`typed`] resolves its names and types. Inside, text flows through [`lexer`] (what Julia's characters spell),
//! [`layout`] (what its whitespace and context mean), the LALRPOP grammar (structure) and [`chain`] (operators).

pub mod ast;
pub mod chain;
pub mod error;
pub mod forms;
pub mod layout;
pub mod lexer;
pub mod operators;
pub mod parse;
pub mod scan;
pub mod sexpr;
mod tree;
pub mod typed;

pub use error::SyntaxError;
pub use forms::Forms;
pub use parse::{
    parse_block, parse_commands, parse_definition, parse_expression, parse_function, parse_schedule, parse_text,
};
pub use scan::{Annotation, ConstantItem, Form, FunctionItem, Scan, ScheduleItem, scan};

lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, unused, missing_docs)]
    grammar
);
