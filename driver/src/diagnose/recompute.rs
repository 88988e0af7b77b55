//! Commands that compute values more than once, and are refused.

use super::{Place, at_command, list, other_writer, size};
use tessella_diagnostics::{Code, Diagnostic};
use tessella_polyhedral::algorithm::{Algorithm, ArrayId, ArrayKind, Computation, ComputationId};
use tessella_polyhedral::error::{AtObstacle, OverlapObstacle, PrivateObstacle};
use tessella_polyhedral::recompute::{Mismatch, Mistake};

/// Why values cannot be computed in a loop that reads them.
pub(super) fn compute_at(place: &Place, computation: &str, obstacle: AtObstacle, diagnostic: Diagnostic) -> Diagnostic {
    let name = |id: ComputationId| &place.algorithm.computation(id).name;
    let array = place.algorithm.find(computation).map(|id| place.algorithm.computation(id).write.array);
    let array = array.map_or("the array", |array| &place.algorithm.array(array).name);
    let (why, help) = match obstacle {
        AtObstacle::Conditional => (
            format!("`{computation}` writes on a condition"),
            "write on all paths: `a = condition ? x : y`".to_string(),
        ),
        AtObstacle::ReadsItself => (
            format!("`{computation}` reads what it writes: its values build on one another"),
            "name a computation whose values do not depend on one another".to_string(),
        ),
        AtObstacle::Subscripts => (
            format!("the iterators alone do not tell which elements of `{array}` are read"),
            "subscript the array by iterators, sizes and constants".to_string(),
        ),
        AtObstacle::OtherWriter { other } => {
            return other_writer(place, diagnostic, computation, array, other);
        }
        AtObstacle::Inside => (
            format!("`{computation}` stands inside of the loop"),
            "name a loop around the reader that is not around the computation".to_string(),
        ),
        AtObstacle::NotRead { reader } => (
            format!("`{}` does not read `{array}`", name(reader)),
            "name a computation that reads what the first one writes".to_string(),
        ),
        AtObstacle::NotWritten { reader } => (
            format!("`{}` may read elements of `{array}` that `{computation}` did not write before", name(reader)),
            "write all elements that are read".to_string(),
        ),
        AtObstacle::ManyInstances => (
            format!("several iterations of `{computation}` write one element of `{array}`"),
            "subscript the array by all iterators".to_string(),
        ),
        AtObstacle::OutsideOfBlocks => (
            "block loops stand inside of the loop: shared memory belongs to a thread block".to_string(),
            "name a block loop, or one inside of all block loops".to_string(),
        ),
        AtObstacle::NoKernel { reader } => (
            format!("the loop lies in no kernel of `{}` whose threads could share the work", name(reader)),
            format!("map the loops first: `gpu({}, ...)`, and name a block loop, or one inside of it", name(reader)),
        ),
    };
    diagnostic.with_note(why).with_help(help)
}

/// Why the iterations of a loop cannot have an array each.
pub(super) fn privatize(place: &Place, array: &str, obstacle: PrivateObstacle, diagnostic: Diagnostic) -> Diagnostic {
    let name = |id: ComputationId| &place.algorithm.computation(id).name;
    let (why, help) = match obstacle {
        PrivateObstacle::Variable => (
            format!("`{array}` is a variable, not an array"),
            "variables that are set before they are used need no command".to_string(),
        ),
        PrivateObstacle::Already => (
            format!("`{array}` is made anew in each iteration"),
            "drop the command: no iteration uses another one's array".to_string(),
        ),
        PrivateObstacle::NotUsed { by } => {
            (format!("`{}` does not use `{array}`", name(by)), "name a computation that uses it".to_string())
        }
        PrivateObstacle::Subscripts { of } => (
            format!("the iterators alone do not tell which elements of `{array}` `{}` uses", name(of)),
            "subscript the array by iterators, sizes and constants".to_string(),
        ),
        PrivateObstacle::Conditional { of } => (
            format!("`{}` writes `{array}` on a condition", name(of)),
            "write on all paths: `a = condition ? x : y`".to_string(),
        ),
        PrivateObstacle::Updates { of } => (
            format!("`{}` does not update `{array}` by the operator of the others, in an order that is free", name(of)),
            "in this loop let all that uses the array add to it, integers, or floats under `@fastmath`".to_string(),
        ),
        PrivateObstacle::Size { axis } => (
            format!("sizes do not say how many elements `{array}` has at most along axis {}", axis + 1),
            format!("say it: `assume(size({array}, {}) <= 4096)`, before the loops are changed", axis + 1),
        ),
        PrivateObstacle::First => (
            format!("subscripts of `{array}` do not count from 1"),
            "pass the array without its first indices: `parent(a)`".to_string(),
        ),
        PrivateObstacle::EndedByData { at } => {
            (format!("data say where `{at}` ends"), "name a loop around all loops that data end".to_string())
        }
        PrivateObstacle::Tagged { at } => (
            format!("`{at}` does not run in order any more"),
            format!("let this command come before those that change how `{at}` runs"),
        ),
    };
    diagnostic.with_note(why).with_help(help)
}

/// Why time steps cannot run in overlapping tiles.
pub(super) fn overlapped(place: &Place, at: &str, obstacle: OverlapObstacle, diagnostic: Diagnostic) -> Diagnostic {
    let name = |id: ComputationId| &place.algorithm.computation(id).name;
    let (why, help) = match obstacle {
        OverlapObstacle::NotOutermost => {
            (format!("`{at}` stands inside of another loop"), "name an outermost loop over time steps".to_string())
        }
        OverlapObstacle::AnotherOrder => (
            format!("`{at}` is not the loop of the source any more"),
            "tile the time loop before other commands change it".to_string(),
        ),
        OverlapObstacle::Steps => (
            format!("the first or the last value of `{at}` is no sum of sizes and constants"),
            "let the loop run from a constant to an argument: `for t in 1:steps`".to_string(),
        ),
        OverlapObstacle::Gaps => (
            format!("`{at}` leaves out values between its first and its last"),
            "count the steps one by one, and compute with `2t - 1`, say, in the loop".to_string(),
        ),
        OverlapObstacle::Moving { computation } => (
            format!("where `{}` runs changes with `{at}`", name(computation)),
            "let the loops over space have the same bounds in each step, or tile with `time_skew` or `hexagonal`"
                .to_string(),
        ),
        OverlapObstacle::Subscripts { computation } => (
            format!("subscripts of `{}` are computed, so that values may come from anywhere", name(computation)),
            "subscript arrays by iterators, sizes and constants".to_string(),
        ),
        OverlapObstacle::NoAxis { array } => (
            format!(
                "the named loops do not say where in `{}` the loop's statements write",
                place.algorithm.array(array).name
            ),
            number_of(place.algorithm, array).map_or(
                "name loops over space, one for each axis that is to be tiled, in arrays that all have these axes"
                    .to_string(),
                |name| format!("`inline({name})` first has the statements that read this number compute it themselves"),
            ),
        ),
        OverlapObstacle::Unbounded { reader, array } => (
            format!(
                "what `{}` reads of `{}` may come from any distance",
                name(reader),
                place.algorithm.array(array).name
            ),
            "tile loops along which values move by a constant distance at most".to_string(),
        ),
        OverlapObstacle::InPlace { array } => (
            format!(
                "`{}` is updated in place: within a step a point reads what another thread of its tile may have updated",
                place.algorithm.array(array).name
            ),
            "write another array in each step, as in `A, B = B, A`".to_string(),
        ),
        OverlapObstacle::WithinStep => (
            "within one step each value needs the one before, across the whole array".to_string(),
            "overlapping tiles need steps that read what earlier steps, or other statements, wrote".to_string(),
        ),
        OverlapObstacle::ManySteps { most } => (
            format!("a tile would compute the halo of each of its steps, and {most} is the most that it may have"),
            "take fewer steps at once".to_string(),
        ),
    };
    diagnostic.with_note(why).with_help(help)
}

/// What sets a variable, if it is one.
fn number_of(algorithm: &Algorithm, array: ArrayId) -> Option<&str> {
    let writes = |it: &&Computation| it.write.array == array;
    let of = algorithm.computations.iter().find(writes)?;
    (algorithm.array(array).kind == ArrayKind::Private).then_some(of.name.as_str())
}

/// A value that would be another one.
pub(super) fn other_values(place: &Place, it: &Mismatch) -> Diagnostic {
    let command = place.command.map(|span| place.sources.text(span).to_string());
    let subject = command.map_or("the schedule".to_string(), |text| format!("`{text}`"));
    let diagnostic = Diagnostic::error(Code("E0445"), format!("{subject} would compute with other values"));
    let diagnostic = at_command(place, diagnostic, "requested here");
    let sizes: Vec<String> = it.params.iter().filter_map(|(name, value)| size(place.algorithm, name, *value)).collect();
    let with = if sizes.is_empty() { String::new() } else { format!(" with {}", sizes.join(", ")) };
    let at = list(&it.at);
    let diagnostic = diagnostic.with_note(match &it.mistake {
        Mistake::Value { computation, array } => {
            format!("{computation}[{at}] would read another value of `{array}` than in the source{with}")
        }
        Mistake::End { array } => format!("{array}[{at}] would hold another value at the end{with}"),
        Mistake::Expression { computation } => format!("`{computation}` would evaluate another expression"),
        Mistake::Instance { computation } => format!("{computation}[{at}] is not in the source{with}"),
        Mistake::Together { computation } => format!("several iterations of `{computation}` would run at one time"),
    });
    diagnostic.with_help("compute the values in a loop before which nothing overwrites what they are made of")
}
