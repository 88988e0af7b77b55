//! Refusals of commands that tile time.

use super::{Place, ends, first_pair};
use tessella_diagnostics::Diagnostic;
use tessella_polyhedral::algorithm::ArrayKind;
use tessella_polyhedral::error::StencilObstacle;

/// Why loops are no stencil.
pub(super) fn not_stencil(place: &Place, diagnostic: Diagnostic, time: &str, obstacle: &StencilObstacle) -> Diagnostic {
    match obstacle {
        StencilObstacle::NoPosition { computation, dim } => {
            let name = &place.algorithm.computation(*computation).name;
            let diagnostic = match place.spans.computation(*computation) {
                Some(span) => diagnostic.secondary(span, format!("where does `{name}` stand along `{dim}`?")),
                None => diagnostic,
            };
            let diagnostic = diagnostic.with_note(format!(
                "`{name}` stands in no loop `{dim}` inside `{time}`, and no axis of an array that it shares with the others belongs to it"
            ));
            let written = place.algorithm.computation(*computation).write.array;
            diagnostic.with_help(match place.algorithm.array(written).kind {
                ArrayKind::Private => format!("`inline({name})` first has the statements that read this number compute it themselves"),
                ArrayKind::Argument | ArrayKind::Local { .. } | ArrayKind::Result | ArrayKind::Returned => {
                    format!("name the loops over one dimension of space alike, or name another dimension than `{dim}`")
                }
            })
        }
        StencilObstacle::Carried(violation) => ends(place, diagnostic, violation)
            .with_note(format!("one time step runs both: {}", first_pair(place, violation)))
            .with_help("let a step read what the step before wrote, in an array of its own; or tile with `time_skew`, which keeps an order within a step"),
        StencilObstacle::Unbounded { dim, violation } => ends(place, diagnostic, violation)
            .with_note(format!("along `{dim}` this goes further than time: {}", first_pair(place, violation)))
            .with_help(format!("name dimensions along which statements read near where they write, other than `{dim}`")),
    }
}

/// A height for which tiles differ.
pub(super) fn tile_height(diagnostic: Diagnostic, height: i64, nests: i64) -> Diagnostic {
    let below = (height + 1) / nests * nests - 1;
    let above = below + nests;
    let choice = if below >= 1 { format!("{below} or {above}") } else { format!("{above}") };
    diagnostic
        .with_note(format!(
            "a time step runs {nests} nests one after the other, and a tile of height {height} has {} of them",
            2 * height + 2
        ))
        .with_help(format!("choose a height that is one less than a multiple of {nests}: {choice}"))
}

/// A width against condition (1).
pub(super) fn tile_width(
    diagnostic: Diagnostic,
    at: &str,
    least: i64,
    height: i64,
    slopes: &[String; 2],
) -> Diagnostic {
    let [up, down] = slopes;
    diagnostic
        .with_note(format!("dependences go up by {up} and down by {down} a step along `{at}`: with height {height} a narrower tile falls apart"))
        .with_help(format!("choose a width of at least {least}"))
}
