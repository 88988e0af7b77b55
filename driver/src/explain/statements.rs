//! The statements of the source, what became of them, and those that storage commands added.

use super::words::{named, origin};
use super::{Lines, list};
use tessella_polyhedral::algorithm::{Algorithm, ArrayId, ComputationId, Let};
use tessella_polyhedral::expr::ExprKind;
use tessella_polyhedral::layers::MemorySpace;
use tessella_polyhedral::print;
use tessella_polyhedral::verify::Verified;

/// A line for each statement, as the source has it; and one that tells of pieces, if there are any.
pub(super) fn statements(verified: &Verified, lines: &Lines) -> Vec<String> {
    let (algorithm, source) = (verified.algorithm(), verified.source());
    let pieces = |id: ComputationId| -> Vec<&str> {
        let of = algorithm.ids().filter(|&piece| origin(verified, piece) == Some(id));
        of.map(|piece| algorithm.computation(piece).name.as_str()).collect()
    };
    let name = |id: ComputationId| match pieces(id)[..] {
        [_, _, ..] => named(source, id, lines).replacen(&source.computation(id).name, &pieces(id).join(", "), 1),
        [] | [_] => named(source, id, lines),
    };
    let added = algorithm.ids().filter(|&id| origin(verified, id).is_none());
    let added = added.map(|id| (algorithm.computation(id).name.clone(), copy(verified, id)));
    let what = |id: ComputationId| {
        let own = algorithm.find(&source.computation(id).name);
        let is_gone = own.is_some_and(|own| algorithm.computation(own).never_runs());
        format!("{}{}", statement(source, id), if is_gone { "; computed where it is read instead" } else { "" })
    };
    let all: Vec<(String, String)> = source.ids().map(|id| (name(id), what(id))).chain(added).collect();
    let width = all.iter().map(|(place, _)| place.chars().count()).max().unwrap_or(0);
    let mut told: Vec<String> = all.iter().map(|(place, what)| format!("{place:<width$}  {what}")).collect();
    let sizes = algorithm.whole.iter().flat_map(|whole| &whole.sizes);
    let by_size: Vec<(&str, &str)> =
        sizes.map(|(&id, (_, text))| (algorithm.computation(id).name.as_str(), text.as_str())).collect();
    let divided: Vec<Vec<&str>> = source.ids().map(pieces).filter(|all| all.len() > 1).collect();
    let is_by_size = |all: &[&str]| all.iter().all(|name| by_size.iter().any(|(other, _)| other == name));
    let mut conditions: Vec<&str> = vec![];
    for (_, text) in by_size.iter().filter(|(_, text)| !text.starts_with('!')) {
        if !conditions.contains(text) {
            conditions.push(text);
        }
    }
    for condition in conditions {
        let of = |wanted: &str| -> Vec<String> {
            by_size.iter().filter(|(_, text)| *text == wanted).map(|(name, _)| name.to_string()).collect()
        };
        let (here, others) = (of(condition), of(&format!("!({condition})")));
        if others.is_empty() {
            // Of pieces of pieces, the others have conditions of their own.
            told.push(format!("{} run where {condition}", list(&here, "and")));
            continue;
        }
        let (run, stand) = if here.len() == 1 { ("runs", "stands") } else { ("run", "stand") };
        told.push(format!(
            "{} {run} where {condition}; for other sizes {} {stand} in",
            list(&here, "and"),
            list(&others, "and")
        ));
    }
    let divided: Vec<Vec<&str>> = divided.into_iter().filter(|all| !is_by_size(all)).collect();
    if let Some(first) = divided.first() {
        let why = match first.iter().any(|name| name.contains("_phase")) {
            true => "hexagons over time divide these into two phases (see Loops)",
            false => "the order of the loops divides these",
        };
        let names: Vec<String> = first.iter().map(|name| name.to_string()).collect();
        told.push(format!("{} each run some iterations of one statement: {why}", list(&names, "and")));
    }
    told
}

/// `C[i, j] = C[i, j] * β  [j, i]`.
fn statement(source: &Algorithm, id: ComputationId) -> String {
    let computation = source.computation(id);
    let around = match computation.iterators.as_slice() {
        [] => "[once]".to_string(),
        iterators => format!("[{}]", iterators.join(", ")),
    };
    let value = |item: &Let| format!("{} = {}", item.name, print::expression(source, computation, &item.value));
    let lets: Vec<String> = computation.lets.iter().map(value).collect();
    let lets = if lets.is_empty() { String::new() } else { format!(" where {}", lets.join(", ")) };
    format!("{}{lets}  {around}", print::statement(source, computation))
}

/// ``copies elements of `C` to `C_reg` (registers)``.
fn copy(verified: &Verified, id: ComputationId) -> String {
    let algorithm = verified.algorithm();
    let computation = algorithm.computation(id);
    let ([read], ExprKind::Read(0)) = (computation.reads.as_slice(), &computation.value.kind) else {
        return statement(algorithm, id);
    };
    let layout = verified.layout();
    let place = |id: ArrayId| {
        let space = layout.placements.get(&id).map(|it| layout.buffer(it.buffer).space);
        let space = match space {
            Some(MemorySpace::Register) => " (registers)",
            Some(MemorySpace::Shared) => " (shared memory)",
            Some(MemorySpace::Host | MemorySpace::Global | MemorySpace::Constant { .. }) | None => "",
        };
        format!("`{}`{space}", algorithm.array(id).name)
    };
    format!("copies elements of {} to {}", place(read.array), place(computation.write.array))
}
