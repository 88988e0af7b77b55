//! Mutated Julia sources against the front end: none may crash it, and none may hang it for a second.
//!
//! Three parts. [`Part::Parser`] mutates the characters of any Julia source ([`text`]) and runs scan, parse, the printed
//! form and the rendering of errors. [`Part::Lowering`] mutates the tokens of functions that compile ([`tokens`]) and runs
//! every pass up to the polyhedral algorithm; [`Part::Passes`] goes on up to C text ([`exercise`]).
//!
//! An input is a function of its part, the seed and its number alone ([`Corpus::input`]), so that a campaign
//! ([`campaign`]) names a failure by three words and its workers can die of one.

pub mod campaign;
pub mod corpus;
pub mod exercise;
pub mod random;
pub mod reduce;
pub mod text;
pub mod tokens;

pub use corpus::Corpus;
pub use exercise::{Verdict, run};

use std::time::Duration;

/// How long one input may take from its text to its algorithm, in processor time.
pub const TIME_LIMIT: Duration = Duration::from_secs(1);

/// How long it may take to the last text. Large kernels take seconds to schedule; isl's operation limit bounds them.
pub const WHOLE_LIMIT: Duration = Duration::from_secs(10);

/// What is fuzzed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Lexer, layout, grammar, errors.
    Parser,
    /// Types, calls put in place, loop nests, subscripts, conditions at entry.
    Lowering,
    /// All passes from source text to C text.
    Passes,
}

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Part::Parser => "parser",
            Part::Lowering => "lowering",
            Part::Passes => "passes",
        }
    }
}
