//! `tessella model banks`.

use super::table::table;
use super::{Answers, core, each, nothing};
use crate::file::FileOptions;
use crate::pipeline::Refusal;
use crate::request::Backend;
use crate::unit::Unit;
use tessella_diagnostics::Spanned;
use tessella_lowering::Lowered;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::models::banks::{SharedAccess, accesses};

/// Tells for the GPU programs of all chosen functions of a file how many pairs of threads of a warp meet in a bank of shared memory, as
/// scheduled, without the schedule's paddings, and with the best ones.
pub fn banks(text: &str, options: &FileOptions) -> Answers {
    each(text, options, &|_, lowered, unit| {
        let built = unit.build(Backend::Cuda)?;
        let commands = built.own_commands(unit);
        let plain = commands.iter().filter(|it| !matches!(it, Command::Pad { .. })).cloned().collect();
        let scheduled = of(lowered, unit, commands)?;
        let plain = of(lowered, unit, plain)?;
        if scheduled.is_empty() {
            let what = "no tiles in shared memory that threads have loops for";
            return Err(nothing(lowered, what, "promote an array with `cache_shared`, or name another function"));
        }
        let name = &lowered.algorithm.name;
        let mut text = format!("{name}: pairs of threads of a warp that meet in a bank of shared memory\n\n");
        let rows: Vec<Vec<String>> = scheduled.iter().zip(&plain).map(row).collect();
        text.push_str(&table(&["tile", "in", "threads", "without padding", "as scheduled", "least"], &rows));
        Ok(text)
    })
}

/// The accesses of a program to shared memory under these commands.
fn of(lowered: &Lowered, unit: &Unit<'_>, commands: Vec<Command>) -> Result<Vec<SharedAccess>, Refusal> {
    let span = unit.function.span;
    let commands = Some(commands.into_iter().map(|value| Spanned { value, span }).collect());
    let unit = Unit {
        sources: unit.sources,
        function: unit.function.clone(),
        commands,
        assumed: vec![],
        machine: unit.machine,
    };
    let built = unit.build(Backend::Cuda)?;
    let verified = &built.analysed.verified;
    accesses(verified.algorithm(), verified.schedule(), verified.layout()).map_err(|error| core(&unit, lowered, error))
}

fn row((scheduled, plain): (&SharedAccess, &SharedAccess)) -> Vec<String> {
    let least = match plain.least {
        (pairs, 0) => pairs.to_string(),
        (pairs, more) => format!("{pairs}, with {more} more in a column"),
    };
    let verb = if plain.writes { "written" } else { "read" };
    vec![
        plain.buffer.clone(),
        format!("{}, {verb}", plain.computation),
        plain.threads.to_string(),
        plain.pairs.to_string(),
        scheduled.pairs.to_string(),
        least,
    ]
}
