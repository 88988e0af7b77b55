//! What tilings of time would move and compute, beside an order that runs each step by itself.

use crate::model::sizes_text;
use std::fmt::Write;
use tessella_polyhedral::algorithm::Algorithm;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::{Ctx, IslErrorKind};
use tessella_polyhedral::machine::Machine;
use tessella_polyhedral::models::tiles::Approach;
use tessella_polyhedral::models::tiles::rank::{Nests, rank_of};

/// An explanation goes without, where it would take more work of isl.
const OPERATIONS: u64 = 2_000_000;

/// For each nest over time, the best tile of each approach in the first-level cache: bytes and instances for each useful result.
/// Empty where there is none, or where counting takes too long.
pub(crate) fn tilings(ctx: &Ctx, algorithm: &Algorithm, machine: &Machine) -> Result<String, Error> {
    let element = algorithm.arrays.iter().map(|it| it.element.bytes()).max().unwrap_or(8);
    let memory = machine.l1_bytes / u64::from(element);
    let rankings = match ctx.with_budget(OPERATIONS, || rank_of(ctx, algorithm, memory, Nests::Stencils)) {
        Ok(rankings) => rankings,
        Err(Error::Isl(error)) if error.kind == IslErrorKind::Quota => return Ok(String::new()),
        Err(other) => return Err(other),
    };
    let mut text = String::new();
    for ranking in rankings.iter().filter(|it| it.time.is_some() && it.ranked.len() > 1) {
        if text.is_empty() {
            let cache = machine.l1_bytes >> 10;
            let _ = writeln!(
                text,
                "\nTiles of time, by counting what tiles in a first-level cache of {cache} KiB would do for a result"
            );
        }
        let _ = writeln!(
            text,
            "  {} over {}, in steps of {}",
            ranking.computations.join(", "),
            ranking.space.join(", "),
            ranking.time.as_deref().unwrap_or_default()
        );
        for it in &ranking.ranked {
            let cost = &it.candidate.cost;
            let useful = cost.useful.max(1) as f64;
            let bytes = cost.transfers() as f64 * f64::from(element) / useful;
            let command = match it.candidate.approach {
                Approach::Plain => "each step by itself",
                Approach::Skewed => "`time_skew` or `hexagonal`",
                Approach::Redundant => "`overlapped`",
            };
            let runs = it.run as f64 / useful;
            let sizes = sizes_text(&it.candidate);
            let _ = writeln!(text, "    {command}, {sizes}: {bytes:.2} bytes and {runs:.2} instances");
        }
    }
    if !text.is_empty() {
        text.push_str(
            "  which of these is fastest, `tessella tune` finds out; arrays that fit into a cache gain little\n",
        );
    }
    Ok(text)
}
