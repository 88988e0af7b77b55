//! The searches at entry as a program for the GPU: arrays that are there need not come back for the host to look at their subscripts.

use crate::pipeline::{self, Order};
use crate::unit::{Built, LONGEST, Unit};
use tessella_lowering::{Lowered, SpanTable};
use tessella_polyhedral::default_order::{Means, Tilings};
use tessella_polyhedral::layers::Target;
use tessella_polyhedral::schedule::Tag;
use tessella_polyhedral::verify::Verified;

/// The part of the work for a function that the program of its searches may take, as long as a second at most.
const PART: u64 = 4;

/// The program that leaves the mark of the first search that finds something in its last argument
/// ([`Scan::marking`](tessella_polyhedral::algorithm::Scan::marking)). `None` if the function has no searches, or threads cannot share all of
/// them: then the host does better.
pub fn build(unit: &Unit<'_>, of: &Built) -> Option<Built> {
    let algorithm = of.analysed.verified.algorithm().scan.as_ref()?.marking()?;
    let ctx = of.ctx.clone();
    let lowered = Lowered { algorithm, spans: SpanTable::default() };
    let order = Order::of(None).with(Means { tilings: Tilings::Avoided, ..Means::ALL });
    let build = || {
        let analysed = pipeline::verify(&ctx, unit.sources, lowered, order, Target::Gpu, unit.machine).ok()?;
        let mut built = Built { ctx: ctx.clone(), analysed, program: None };
        built.program = Some(built.loops(unit).ok()?.into_owned());
        Some(built)
    };
    let (built, _) = ctx.with_ceiling(LONGEST / PART, build);
    built.filter(|it| runs_on_threads(&it.analysed.verified))
}

/// Whether no thread runs through all instances of a search by itself.
fn runs_on_threads(verified: &Verified) -> bool {
    let (algorithm, schedule) = (verified.algorithm(), verified.schedule());
    algorithm.ids().all(|id| {
        let around = schedule.loops_around(id);
        around.is_empty() || around.iter().any(|(_, it)| matches!(it.tag, Tag::GpuThread(_)))
    })
}
