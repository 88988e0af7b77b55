//! Pictures of a function's instances, dependences, tiles and order as SVG: `tessella draw`, `Tessella.draw`.

mod legend;
mod svg;
mod tilings;
mod view;

use crate::pipeline::{ISL_OPERATIONS, Refusal};
use crate::request::{DrawOptions, DrawOrder};
use crate::sizes::{self, Defaults};
use crate::unit::{Built, Unit};
use std::collections::BTreeMap;
use tessella_diagnostics::{Code, Diagnostic};
use tessella_polyhedral::algorithm::{Algorithm, ComputationId};
use tessella_polyhedral::dependence::Dependence;
use tessella_polyhedral::draw::{Choice, DrawError, DrawnSpace, MOST_POINTS, choose, picture};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::report;
use tessella_polyhedral::transform::split_dependences;

/// Sizes and counts that nothing determines.
const DEFAULTS: Defaults = Defaults { side: 8, count: 4 };
/// The same for tiles of time, several of which are to be seen.
const SEVERAL: Defaults = Defaults { side: 40, count: 12 };
/// Where those make more points than a drawing shows, one after the other.
const FEWER: [Defaults; 3] =
    [Defaults { side: 24, count: 8 }, Defaults { side: 16, count: 6 }, Defaults { side: 10, count: 4 }];

/// A picture as SVG.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawing {
    pub svg: String,
    /// What was asked for and is not in it, each with the reason.
    pub missing: Vec<String>,
}

/// A drawing of two dimensions of a function's instances.
///
/// # Errors
/// `E0476` for names and sizes that do not fit, `E0477` for too many points.
pub fn draw(unit: &Unit<'_>, built: &Built, options: &DrawOptions) -> Result<Drawing, Refusal> {
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
    if options.tiling {
        return tilings::draw(unit, built, options, &at_function);
    }
    let given: Vec<(String, i64)> = options.sizes.iter().map(|(name, value)| (name.clone(), *value)).collect();
    let params = sizes::choose(built, &given, DEFAULTS).map_err(|error| wrong(error.text, error.help))?;
    let space = if options.scheduled { DrawnSpace::Schedule } else { DrawnSpace::Iterations };
    let fixed = options.fix.iter().map(|(name, value)| (name.clone(), *value)).collect();
    let choice = Choice { space, computation: options.computation.clone(), dims, fixed };
    let direct = direct(&built.ctx, algorithm).map_err(|error| vec![built.diagnose(unit, error)])?;
    let drawn = choose(algorithm, verified.schedule(), &choice, params)
        .and_then(|view| picture(&built.ctx, algorithm, verified.schedule(), &direct, &view));
    match drawn {
        Ok(picture) => {
            let svg = view::render(verified, &picture, options.order.unwrap_or(DrawOrder::Auto));
            Ok(Drawing { svg, missing: vec![] })
        }
        Err(error) => Err(refusal(unit, built, error, wrong, at_function)),
    }
}

/// The direct dependences of a program. Those of pieces are found from the whole ones': to look for them among the pieces takes
/// long.
fn direct(ctx: &Ctx, algorithm: &Algorithm) -> Result<Vec<Dependence>, Error> {
    let of = |algorithm: &Algorithm| -> Result<Vec<Dependence>, Error> {
        Ok(report::report_dependences(ctx, algorithm)?.into_iter().map(|item| item.dependence).collect())
    };
    let Some(whole) = &algorithm.whole else { return of(algorithm) };
    let is_whole = |id: ComputationId| (id.0 as usize) < whole.algorithm.computations.len();
    if !whole.piece_of.iter().all(|&id| is_whole(id)) {
        return of(algorithm);
    }
    let mut pieces: BTreeMap<ComputationId, Vec<ComputationId>> = BTreeMap::new();
    for (id, &of) in algorithm.ids().zip(&whole.piece_of) {
        pieces.entry(of).or_default().push(id);
    }
    ctx.with_budget(ISL_OPERATIONS, || split_dependences(ctx, algorithm, &pieces, &of(&whole.algorithm)?))
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
        DrawError::NoTime => {
            wrong(text, "draw a function such as `for t in 1:steps; for i in 2:n-1 ... end; end`".to_string())
        }
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
