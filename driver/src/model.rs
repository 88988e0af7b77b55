//! What the models of the core predict, in words: `tessella model`.

mod banks;
mod layout;
mod parallelograms;
mod table;
mod tiles;

pub use banks::banks;
pub use layout::{LayoutOptions, layout};
pub use parallelograms::{LONGEST_TIME, ProgramOptions, SearchOptions, Told, parallelograms, parallelograms_of};
pub use tessella_polyhedral::models::tiles::closed::Cell;
pub(crate) use tiles::{FastMemory, sizes_text};
pub use tiles::{IterationOptions, Memory, given_tile, stencil, tiles, tiles_of_loop};

use crate::diagnose::{Place, diagnose};
use crate::file::{FileOptions, Sources};
use crate::pipeline::{self, Refusal};
use crate::unit::Unit;
use tessella_diagnostics::{Code, Diagnostic};
use tessella_lowering::Lowered;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::Ctx;

/// What isl may count for one function: some minutes at most.
const OPERATIONS: u64 = 1_000_000_000;

/// What a model says of the chosen functions of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answers {
    /// The answers, one function after the other.
    pub text: String,
    /// Rendered diagnostics of the functions that have none, and of a file that cannot be read; empty if there are none.
    pub refused: String,
}

/// Tells what a model says of each chosen function of a file.
fn each(
    text: &str,
    options: &FileOptions,
    tell: &dyn Fn(&Ctx, &Lowered, &Unit<'_>) -> Result<String, Refusal>,
) -> Answers {
    let sources = match Sources::read(text, options) {
        Ok(sources) => sources,
        Err(refused) => return Answers { text: String::new(), refused },
    };
    let (mut told, mut refused) = (vec![], String::new());
    for item in sources.functions() {
        let found = sources.unit(item, &options.types).and_then(|unit| {
            let ctx = pipeline::context();
            let lowered = pipeline::lower(&ctx, &unit.function)?;
            ctx.with_budget(OPERATIONS, || tell(&ctx, &lowered, &unit))
        });
        match found {
            Ok(text) => told.push(text),
            Err(errors) => refused.push_str(&sources.show(&errors)),
        }
    }
    Answers { text: told.join("\n"), refused }
}

/// A failure of the core while a model looks at a program.
fn core(unit: &Unit<'_>, lowered: &Lowered, error: Error) -> Refusal {
    let place = Place {
        sources: unit.sources,
        algorithm: &lowered.algorithm,
        spans: &lowered.spans,
        command: None,
        legal_above: None,
    };
    vec![diagnose(&place, error)]
}

/// The program has nothing that the model speaks of.
fn nothing(lowered: &Lowered, what: &str, help: &str) -> Refusal {
    at_function(lowered, format!("`{}` has {what}", lowered.algorithm.name), help.to_string())
}

fn at_function(lowered: &Lowered, text: String, help: String) -> Refusal {
    let diagnostic = Diagnostic::error(Code("E0580"), text);
    let diagnostic = match lowered.spans.function {
        Some(span) => diagnostic.primary(span, "this function"),
        None => diagnostic,
    };
    vec![diagnostic.with_help(help)]
}
