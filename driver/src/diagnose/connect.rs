//! Communication commands that are refused.

use super::{Place, at_command, list, names, size};
use tessella_diagnostics::{Code, Diagnostic, nearest};
use tessella_polyhedral::algorithm::{AccessRef, ComputationId};
use tessella_polyhedral::connect::{ConnectError, Freed, Missing};
use tessella_polyhedral::layers::Direction;

pub(super) fn connect(place: &Place, error: ConnectError) -> Diagnostic {
    let message = error.to_string();
    let make =
        |code: &'static str, label: &str| at_command(place, Diagnostic::error(Code(code), message.clone()), label);
    match error {
        ConnectError::NotCopied { .. } => make("E0534", "requested here")
            .with_help("name an array argument; `copy_out` one that the function writes, or an array that it gives back"),
        ConnectError::FixedLifetime { .. } => make("E0535", "in this command")
            .with_help("name an array that the function makes and that lives as long as the call: `explain` lists them"),
        ConnectError::UnknownLoop { at, known } => {
            let diagnostic = make("E0536", "in this command").with_note(format!("the loops are {}", names(&known)));
            match nearest(&at, known.iter().map(String::as_str)) {
                Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
                None => diagnostic.with_help("name one of them"),
            }
        }
        ConnectError::ManyLoops { at, .. } => make("E0537", "in this command")
            .with_help(format!("name a statement inside of the one that you mean: `(..., S, {at})`")),
        ConnectError::InKernel { reason, .. } => make("E0538", "requested here")
            .with_note(reason)
            .with_help("name a loop outside of all loops that `gpu` maps, or the outermost of these with `once=true`"),
        ConnectError::Overwrites(it) => overwrites(place, make("E0539", "requested here"), &it),
        ConnectError::NotMoved(it) => not_moved(place, make("E0540", "requested here"), &it),
        ConnectError::NoStep { .. } => make("E0453", "requested here")
            .with_help("name the innermost loop along which the statement runs through the array, before skewing or fusing loops into it"),
        ConnectError::Outside { access, instance, params, .. } => {
            let named = named(place, access.computation, &instance);
            labelled(place, make("E0541", "requested here"), access, "it is used here")
                .with_note(format!("{named} is outside of where the memory lives{}", with(place, &params)))
                .with_help("allocate it at a loop around all statements that use it, or free it later")
        }
        ConnectError::FreedBeforeUse(it) => freed(place, make("E0542", "requested here"), &it),
        ConnectError::Lifetimes { reason, .. } => make("E0543", "requested here")
            .with_note(reason)
            .with_help("allocate and free in one body, and free last what is allocated first"),
        ConnectError::Divergent { .. } => {
            make("E0544", "requested here").with_help("name a loop between those over blocks and those over threads, or one of the host")
        }
        ConnectError::InParallel { .. } => make("E0545", "requested here")
            .with_note("it has no constant size that a thread's stack has room for, and a thread that finds no memory cannot leave the loop")
            .with_help("allocate it outside of the parallel loop, or bound its size by splitting loops"),
    }
}

fn named(place: &Place, id: ComputationId, values: &[i64]) -> String {
    format!("{}[{}]", place.algorithm.computation(id).name, list(values))
}

/// ` with n = 3`, of the sizes that matter.
fn with(place: &Place, params: &[(String, i64)]) -> String {
    let sizes: Vec<String> = params.iter().filter_map(|(name, value)| size(place.algorithm, name, *value)).collect();
    if sizes.is_empty() { String::new() } else { format!(", with {}", sizes.join(", ")) }
}

fn labelled(place: &Place, diagnostic: Diagnostic, access: AccessRef, text: &str) -> Diagnostic {
    match place.spans.access(access).or_else(|| place.spans.computation(access.computation)) {
        Some(span) => diagnostic.secondary(span, text),
        None => diagnostic,
    }
}

/// ` in the iteration t = 2`.
fn iteration(copy: &[(String, i64)]) -> String {
    let values: Vec<String> = copy.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if values.is_empty() { String::new() } else { format!(" in the iteration {}", values.join(", ")) }
}

fn overwrites(place: &Place, diagnostic: Diagnostic, it: &Missing) -> Diagnostic {
    let Missing { array, access, instance, copy, params, .. } = it;
    let Some(access) = *access else { return diagnostic };
    labelled(place, diagnostic, access, "the newer value is computed here")
        .with_note(format!(
            "{} writes `{array}` on the device, and nothing copies it back before the copy to the device{}{}",
            named(place, access.computation, instance),
            iteration(copy),
            with(place, params)
        ))
        .with_help(format!(
            "add a `copy_out({array}, ...)` between the two, or copy `{array}` in only before the first write"
        ))
}

fn not_moved(place: &Place, diagnostic: Diagnostic, it: &Missing) -> Diagnostic {
    let Missing { array, direction, access, instance, copy, params } = it;
    let with = with(place, params);
    match (direction, access) {
        (_, None) => diagnostic
            .with_note(format!(
                "the copy back{} brings all elements of `{array}`, and not all have been copied in or stored by then{with}",
                iteration(copy)
            ))
            .with_help(format!("copy `{array}` in before it is copied out, or out at the loop at which it is copied in")),
        (Direction::HostToDevice, Some(access)) => {
            labelled(place, diagnostic, *access, "the caller's value is needed here")
                .with_note(format!(
                    "{} reads a value of `{array}` from the caller, and no copy to the device is certain to come before{with}",
                    named(place, access.computation, instance)
                ))
                .with_help(format!("copy `{array}` in at a loop that begins earlier"))
        }
        (Direction::DeviceToHost, Some(access)) => {
            labelled(place, diagnostic, *access, "the value is computed here")
                .with_note(format!(
                    "{} writes `{array}` on the device, and no copy back is certain to come after{with}",
                    named(place, access.computation, instance)
                ))
                .with_help(format!("copy `{array}` out at a loop that ends later"))
        }
    }
}

fn freed(place: &Place, diagnostic: Diagnostic, it: &Freed) -> Diagnostic {
    let Freed { buffer, writer, reader, written, read, params } = it;
    let diagnostic = match place.spans.computation(*writer) {
        Some(span) => diagnostic.secondary(span, "the value is stored here"),
        None => diagnostic,
    };
    labelled(place, diagnostic, *reader, "and needed here")
        .with_note(format!(
            "{} stores a value that {} needs, after the memory of `{buffer}` has been freed and allocated anew{}",
            named(place, *writer, written),
            named(place, reader.computation, read),
            with(place, params)
        ))
        .with_help("allocate it further out")
}
