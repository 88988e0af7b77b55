//! Pictures of a function's instances, dependences, tiles and order as SVG: `tessella draw`, `Tessella.draw`.

mod legend;
mod svg;
mod view;

use crate::pipeline::Refusal;
use crate::request::{DrawOptions, DrawOrder};
use crate::sizes::{self, Defaults};
use crate::unit::{Built, Unit};
use tessella_diagnostics::{Code, Diagnostic};
use tessella_polyhedral::draw::{Choice, DrawError, DrawnSpace, MOST_POINTS, choose, picture};
use tessella_polyhedral::report;

/// Sizes and counts that nothing determines.
const DEFAULTS: Defaults = Defaults { side: 8, count: 4 };

/// An SVG of two dimensions of a function's instances.
///
/// # Errors
/// `E0476` for names and sizes that do not fit, `E0477` for too many points.
pub fn draw(unit: &Unit<'_>, built: &Built, options: &DrawOptions) -> Result<String, Refusal> {
    let verified = &built.analysed.verified;
    let algorithm = verified.algorithm();
    let at_function = |diagnostic: Diagnostic| match built.analysed.spans.function {
        Some(span) => vec![diagnostic.primary(span, "in this function")],
        None => vec![diagnostic],
    };
    let wrong = |text: String, help: String| at_function(Diagnostic::error(Code("E0476"), text).with_help(help));
    let mut dims = options.dims.clone();
    dims.dedup();
    if dims.len() != options.dims.len() || dims.len() > 2 {
        let text = "a drawing has one dimension, or two different ones".to_string();
        return Err(wrong(text, "name the horizontal one first: `--dims i,j`".to_string()));
    }
    let given: Vec<(String, i64)> = options.sizes.iter().map(|(name, value)| (name.clone(), *value)).collect();
    let params = sizes::choose(built, &given, DEFAULTS).map_err(|error| wrong(error.text, error.help))?;
    let space = if options.scheduled { DrawnSpace::Schedule } else { DrawnSpace::Iterations };
    let fixed = options.fix.iter().map(|(name, value)| (name.clone(), *value)).collect();
    let choice = Choice { space, computation: options.computation.clone(), dims, fixed };
    let reported =
        report::report_dependences(&built.ctx, algorithm).map_err(|error| vec![built.diagnose(unit, error)])?;
    let direct: Vec<_> = reported.into_iter().map(|item| item.dependence).collect();
    let drawn = choose(algorithm, verified.schedule(), &choice, params)
        .and_then(|view| picture(&built.ctx, algorithm, verified.schedule(), &direct, &view));
    match drawn {
        Ok(picture) => Ok(view::render(verified, &picture, options.order.unwrap_or(DrawOrder::Auto))),
        Err(error) => Err(refusal(unit, built, error, wrong, at_function)),
    }
}

fn refusal(
    unit: &Unit<'_>,
    built: &Built,
    error: DrawError,
    wrong: impl Fn(String, String) -> Refusal,
    at_function: impl Fn(Diagnostic) -> Refusal,
) -> Refusal {
    let text = error.to_string();
    let one_of = |known: &[String]| match known {
        [] => "there is none".to_string(),
        known => format!("choose among {}", known.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")),
    };
    match error {
        DrawError::Core(error) => vec![built.diagnose(unit, error)],
        DrawError::NoDimensions { known, .. }
        | DrawError::NoComputation { known, .. }
        | DrawError::NotFixed { known, .. } => wrong(text, one_of(&known)),
        DrawError::NoLoops => wrong(text, "draw a function with loops".to_string()),
        DrawError::Empty => {
            wrong(text, "give larger sizes, or fix the other dimensions inside their ranges".to_string())
        }
        DrawError::TooManyPoints => at_function(
            Diagnostic::error(Code("E0477"), text)
                .with_note(format!("a drawing of more than {MOST_POINTS} points shows nothing"))
                .with_help("give smaller sizes: `--size n=8`"),
        ),
    }
}
