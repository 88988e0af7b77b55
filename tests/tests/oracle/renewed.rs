//! The dependences of a program with promoted arrays, most of which are those that the program had before.

use crate::examine::{Fault, fault};
use crate::subject::with_unit;
use tessella::pipeline;
use tessella_polyhedral::default_order::{Means, Memory, Tilings, choose};
use tessella_polyhedral::dependence::{Dependence, Keeps, dependences};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::machine::Machine;
use tessella_polyhedral::storage::{self, Stored};

/// Whether they are the ones that are found from the program alone.
pub fn check_renewed(ctx: &Ctx, stored: &Stored) -> Result<(), Fault> {
    if stored.placed.source.is_none() {
        return Ok(());
    }
    match differing(ctx, stored) {
        Ok(None) => Ok(()),
        Ok(Some(text)) => fault("dependences of promotions", text),
        // What takes too much work to find twice is proved by what was found once.
        Err(_) => Ok(()),
    }
}

/// The same for what Tessella promotes by itself on a GPU; whether that is anything.
pub fn own_choice(source: &str) -> Result<bool, Fault> {
    let looked = with_unit(source, |unit| {
        let ctx = Ctx::new();
        let failed = |error: Error| Fault { kind: "refused", text: error.to_string() };
        let Ok(lowered) = pipeline::lower(&ctx, &unit.function) else { return fault("refused", "by lowering") };
        let algorithm = lowered.algorithm;
        let all = dependences(&ctx, &algorithm).map_err(failed)?;
        let (schedule, target, machine) = (algorithm.source_order.clone(), Target::Gpu, Machine::GENERIC);
        let start = Scheduled { algorithm, schedule, target, machine, versions: vec![], scratch: Default::default() };
        let means = Means { memory: Memory::Blocks, tilings: Tilings::Wanted };
        let chosen = choose(&ctx, &start, &all, means).map_err(failed)?;
        let all = chosen.rewritten.as_ref().map_or(all, |rewritten| rewritten.dependences.clone());
        let stored =
            storage::carry_out(&ctx, chosen.scheduled, &all, &chosen.storage).map_err(|it| failed(*it.error))?;
        check_renewed(&ctx, &stored)?;
        Ok(stored.placed.source.is_some())
    })?;
    looked.or_else(|why| fault("refused", why))
}

/// A dependence that one side has and the other lacks; updates whose order is free count in both directions alike.
fn differing(ctx: &Ctx, stored: &Stored) -> Result<Option<String>, Error> {
    let algorithm = &stored.placed.scheduled.algorithm;
    let found = dependences(ctx, algorithm)?;
    // Where no call comes, it does not matter which of them remain.
    let assumed = algorithm.assumed()?;
    let key = |it: &Dependence| (it.source, it.sink, it.keeps == Keeps::Order);
    let name = |id| &algorithm.computation(id).name;
    // Where tiles are copied as boxes, all in a tile waits for its load, whatever elements it touches, and what was moved keeps the
    // dependences that it had: such ones more refuse orders, and allow none.
    let arrays = stored.placed.source.as_ref().map_or(0, |source| source.arrays.len());
    let in_buffer = |it: &Dependence| it.array.0 as usize >= arrays;
    for (one, others, side) in [(&found, &stored.dependences, "lost"), (&stored.dependences, &found, "added")] {
        for it in one {
            if side == "added" && in_buffer(it) {
                continue;
            }
            let same = others.iter().filter(|other| key(other) == key(it));
            let mut rest = match &assumed {
                Some(assumed) => it.relation.intersect_params(assumed)?,
                None => it.relation.clone(),
            };
            for other in same {
                rest = rest.subtract(&other.relation)?;
            }
            if !rest.is_empty()? {
                let (source, sink) = (name(it.source.computation), name(it.sink.computation));
                return Ok(Some(format!("{side}: {source} -> {sink}, {rest}")));
            }
        }
    }
    Ok(None)
}
