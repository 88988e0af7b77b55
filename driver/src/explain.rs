//! What was found and chosen, in words: `tessella explain`, `Tessella.explain`.

pub(crate) mod asked;
mod checks;
pub(crate) mod header;
pub(crate) mod loops;
mod statements;
mod streams;
pub(crate) mod tiles;
pub(crate) mod time;
mod words;

use crate::pipeline::ISL_OPERATIONS;
use std::collections::BTreeMap;
use std::fmt::Write;
use tessella_codegen::{Input, part};
use tessella_polyhedral::affine::{Affine, Atom};
use tessella_polyhedral::algorithm::{AccessRef, Algorithm, ArrayId, ArrayKind, ComputationId};
use tessella_polyhedral::effort;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Direction, Lifetime, MemorySpace, Moment, Target, Transfer};
use tessella_polyhedral::machine::Gpu;
use tessella_polyhedral::report::{self, ReportedDependence};
use tessella_polyhedral::schedule::{Node, Path};
use tessella_polyhedral::verify::Verified;
use tessella_polyhedral::{place, print};

/// What isl may do to tell which dependences each loop carries, in a program with pieces of statements: there it soon would take
/// longer than anything else.
const OPERATIONS_OF_PIECES: u64 = 2_000_000;

/// Where each computation stands: `line 3`.
pub type Lines = BTreeMap<ComputationId, String>;

/// Explains a verified program: what depends on what (the direct dependences, or all), what each loop does and why, what is checked and copied;
/// and of the statements that it does without, a line each.
pub fn explain(
    ctx: &Ctx,
    verified: &Verified,
    (dependences, are_direct): (&[ReportedDependence], bool),
    lines: &Lines,
    left_out: &[String],
) -> Result<String, Error> {
    let algorithm = verified.algorithm();
    let mut text = String::new();
    section(&mut text, "Statements", "each runs once for every value of the loops in brackets");
    statements::statements(verified, lines).iter().chain(left_out).for_each(|line| {
        let _ = writeln!(text, "  {line}");
    });

    section(&mut text, "Dependences", "which statement has to wait for which");
    // As the source has them: promotions add statements, and give others new subscripts.
    for line in words::dependences(verified.source(), dependences, lines) {
        let _ = writeln!(text, "  {line}");
    }
    if !are_direct {
        text.push_str("  (these are all: which of them follow from others takes too much work to tell)\n");
    }

    section(&mut text, "Loops", "as they will run, outermost first");
    let budget = if algorithm.whole.is_some() { OPERATIONS_OF_PIECES } else { ISL_OPERATIONS };
    let told = ctx.with_budget(budget, || {
        let promoted = match std::ptr::eq(verified.source(), algorithm) {
            true => None,
            false => {
                let weight = effort::weight(algorithm, verified.schedule());
                Some(ctx.weighed(weight, || report::report_dependences(ctx, algorithm))?)
            }
        };
        loops::lines(ctx, verified, promoted.as_deref().unwrap_or(dependences), lines)
    });
    let told = match told {
        Err(error) if error.is_quota() => {
            ctx.with_budget(OPERATIONS_OF_PIECES, || loops::lines_of_pieces(ctx, verified, dependences, lines))
        }
        told => told,
    };
    let told = match told {
        Err(error) if error.is_quota() => loops::lines_without_reasons(verified),
        told => told?,
    };
    for line in told {
        let _ = writeln!(text, "  {line}");
    }

    if !verified.versions().is_empty() {
        section(&mut text, "Versions", "the first whose condition holds at entry runs, else the loops as above");
        for version in verified.versions() {
            let _ = writeln!(text, "  where {}: the same loops, simplified", version.text);
        }
    }

    checks::checks(ctx, &mut text, verified, lines)?;
    later(&mut text, verified.source());

    let memory = memory(verified);
    if !memory.is_empty() {
        section(&mut text, "Memory", "what the compiled code allocates and copies");
        memory.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    Ok(text)
}

fn section(text: &mut String, title: &str, subtitle: &str) {
    let _ = writeln!(text, "\n{title}: {subtitle}");
}

/// What is tested while the function runs, and what that takes.
fn later(text: &mut String, algorithm: &Algorithm) {
    let Some(failed) = algorithm.failed else { return };
    section(text, "Tests on the way", "of subscripts and values that the function itself computes");
    let written = algorithm
        .arrays
        .iter()
        .enumerate()
        .filter(|(at, array)| array.kind == ArrayKind::Argument && algorithm.is_written(ArrayId(*at as u32)));
    let kept: Vec<String> = written.map(|(_, array)| array.name.clone()).collect();
    let _ = match kept.as_slice() {
        [] => writeln!(text, "  If one fails, the call ends with an error, and Julia runs the original function."),
        kept => writeln!(
            text,
            "  What {} held at entry is copied; if a test fails it is put back, and Julia runs the original function.",
            list(kept, "and")
        ),
    };
    let name = &algorithm.array(failed).name;
    let _ = writeln!(text, "  The tests set `{name}`, in any order.");
}

/// `A`, `A and B`, `A, B and C`, with this word before the last.
fn list(names: &[String], word: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} {word} {last}", before.join(", ")),
    }
}

/// `1 <= idx[i] <= n`.
pub fn scan_condition(algorithm: &Algorithm, at: AccessRef, axis: u32) -> String {
    let access = algorithm.access_of_source(at);
    let array = algorithm.array(access.array);
    let computation = algorithm.computation(at.computation);
    let subscript = print::subscript(algorithm, computation, &access.subscripts[axis as usize]);
    let extent = &array.extents[(axis - array.kind.outer()) as usize];
    format!("1 <= {subscript} <= {}", extent.display(&computation.iterators, &algorithm.param_names()))
}

/// A condition with `size(A, 1)` for the sizes to which the source gives no name.
pub fn sizes(algorithm: &Algorithm, condition: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '!';
    let mut text = String::new();
    let mut rest = condition;
    while let Some(start) = rest.find(|c: char| is_word(c) && !c.is_ascii_digit()) {
        let length = rest[start..].find(|c| !is_word(c)).unwrap_or(rest.len() - start);
        let word = &rest[start..start + length];
        text.push_str(&rest[..start]);
        let param = algorithm.params.iter().find(|param| param.name == word);
        let unnamed = param.and_then(|param| algorithm.spelling(param));
        // `2n` is how isl has twice `n`.
        if unnamed.is_some() && text.ends_with(|c: char| c.is_ascii_digit()) {
            text.push('*');
        }
        text.push_str(unnamed.as_deref().unwrap_or(word));
        rest = &rest[start + length..];
    }
    text + rest
}

/// The inside of `[n] -> {  : n <= 5 }`, with `n - 1` for `-1 + n`.
pub fn condition(set: &str) -> String {
    let inside = set.find('{').zip(set.rfind('}')).map(|(open, close)| set[open + 1..close].trim());
    let mut words: Vec<String> =
        inside.map_or(set, |inside| inside.trim_start_matches(':').trim()).split(' ').map(str::to_string).collect();
    for at in 0..words.len().saturating_sub(2) {
        let constant = words[at]
            .strip_prefix('-')
            .filter(|digits| !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()));
        let is_name = |word: &str| word.chars().all(|it| it.is_alphanumeric() || it == '_' || it == '!');
        if let Some(constant) = constant.map(str::to_string)
            && words[at + 1] == "+"
            && is_name(&words[at + 2])
        {
            words[at] = std::mem::take(&mut words[at + 2]);
            (words[at + 1], words[at + 2]) = ("-".to_string(), constant);
        }
    }
    words.join(" ")
}

/// What a transfer copies, as the source would write it: `A`, or `A[:, k]`.
fn moved(verified: &Verified, transfer: &Transfer) -> String {
    let (buffer, algorithm) = (verified.layout().buffer(transfer.buffer), verified.algorithm());
    let Lifetime::Argument(array) = buffer.lifetime else { return buffer.name.clone() };
    if transfer.part.is_empty() {
        return buffer.name.clone();
    }
    let params = algorithm.param_names();
    let end = |ends: &[Affine], of: &str| {
        let ends: Vec<String> = ends.iter().map(|end| end.display(&[], &params)).collect();
        if let [end] = ends.as_slice() { end.clone() } else { format!("{of}({})", ends.join(", ")) }
    };
    let along = |axis: u32| match transfer.part.iter().find(|it| it.axis == axis) {
        None => ":".to_string(),
        Some(it) if it.first == it.last && it.first.len() == 1 => end(&it.first, "min"),
        Some(it) => format!("{}:{}", end(&it.first, "min"), end(&it.last, "max")),
    };
    let axes: Vec<String> = (0..algorithm.array(array).rank).map(along).collect();
    format!("{}[{}]", buffer.name, axes.join(", "))
}

/// When a copy happens: `once, before the first kernel`, or `at the beginning of each iteration of t`.
fn moment(verified: &Verified, transfer: &Transfer, all: &str) -> String {
    let schedule = verified.schedule();
    let name_of = |path: &Path| match schedule.node(path) {
        Some(Node::Loop(it)) => Some(it.name.clone()),
        Some(Node::Sequence(_) | Node::Computation(_)) | None => None,
    };
    let side = match transfer.moment {
        Moment::Before => ("before", "beginning"),
        Moment::After => ("after", "end"),
    };
    let body_of = transfer.at.0.split_last().and_then(|(_, above)| name_of(&Path(above.to_vec())));
    match (transfer.at.0.is_empty(), body_of, name_of(&transfer.at)) {
        (true, _, _) => format!("once, {} {all}", side.0),
        (false, Some(name), _) => format!("at the {} of each iteration of {name}", side.1),
        (false, None, Some(name)) => format!("{} each execution of the loop {name}", side.0),
        (false, None, None) => format!("{} a part of the program", side.0),
    }
}

/// Whether a place in a buffer serves several elements of the array.
fn is_remainder(place: &Affine) -> bool {
    place.terms().iter().any(|(atom, _)| matches!(atom, Atom::FloorDiv(..)))
}

/// The statements that run for some sizes, and use an array.
fn users(input: &Input<'_>, array: ArrayId) -> Vec<ComputationId> {
    let uses = |id: &ComputationId| {
        let runs = !input.algorithm.computation(*id).never_runs();
        runs && input.used_accesses(*id).iter().any(|access| access.array == array)
    };
    input.algorithm.ids().filter(uses).collect()
}

/// `, where m > 100`: for which sizes an array is there, where all that use it are pieces for these.
fn for_sizes(algorithm: &Algorithm, users: &[ComputationId]) -> String {
    let Some(whole) = &algorithm.whole else { return String::new() };
    // Copies that storage commands added are there for the others.
    let own = users.iter().filter(|id| whole.piece_of.len() > id.0 as usize);
    let mut texts = own.map(|id| whole.sizes.get(id).map(|(_, text)| text));
    match texts.next() {
        Some(Some(first)) if texts.all(|text| text == Some(first)) => format!(", where {first}"),
        Some(_) | None => String::new(),
    }
}

fn memory(verified: &Verified) -> Vec<String> {
    let (algorithm, input) = (verified.algorithm(), Input::from(verified));
    let mut lines = vec![];
    for (id, placement) in &verified.layout().placements {
        let buffer = verified.layout().buffer(placement.buffer);
        match algorithm.array(*id).kind {
            ArrayKind::Private | ArrayKind::Local { .. } => {}
            ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned => continue,
        }
        // What its readers compute for themselves has no statement that runs.
        let users = users(&input, *id);
        if users.is_empty() {
            continue;
        }
        let extents: Vec<String> =
            buffer.extents.iter().map(|extent| extent.display(&[], &algorithm.param_names())).collect();
        let place = match (buffer.space, &buffer.lifetime) {
            (MemorySpace::Register, _) if extents.is_empty() => "a register, new in each iteration".to_string(),
            (MemorySpace::Register, _) => format!("{} registers of each thread", extents.join(" x ")),
            (MemorySpace::Shared, _) => {
                format!("shared memory of {} elements for each thread block", extents.join(" x "))
            }
            (MemorySpace::Host, Lifetime::Node(_) | Lifetime::Children { .. })
                if !extents.is_empty() && buffer.fits_stack() =>
            {
                format!("{} elements on the stack, new in each iteration", extents.join(" x "))
            }
            (MemorySpace::Host, Lifetime::Node(_)) if !extents.is_empty() => {
                format!("CPU memory of {} elements, anew in each iteration", extents.join(" x "))
            }
            (space, Lifetime::Node(_) | Lifetime::Children { .. } | Lifetime::Call | Lifetime::Argument(_)) => {
                let whose = if space == MemorySpace::Global { "GPU" } else { "CPU" };
                let count =
                    if extents.is_empty() { "1 element".into() } else { format!("{} elements", extents.join(" x ")) };
                let why = match algorithm.array(*id).kind {
                    ArrayKind::Private if extents.is_empty() => "",
                    ArrayKind::Private => ", since several iterations' values are alive at once",
                    ArrayKind::Local { .. } if placement.map.iter().any(is_remainder) => {
                        ", used again and again: no more are alive at a time"
                    }
                    ArrayKind::Local { .. } | ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned => "",
                };
                format!("{whose} memory of {count}{why}{}", for_sizes(algorithm, &users))
            }
        };
        lines.push(format!("{}: {place}", buffer.name));
    }
    let (shared, declared) =
        (place::most_shared(verified.schedule(), verified.layout()), i64::from(Gpu::HOPPER.shared_bytes_of_block));
    if shared > declared {
        lines.push(format!(
            "{shared} bytes of shared memory for each thread block of a kernel: more than the {declared} that it may declare, so the launch \
             asks the GPU for them"
        ));
    }
    for transfer in verified.transfers() {
        let name = moved(verified, transfer);
        let is_apart = |it: &Transfer| it.buffer == transfer.buffer && !it.part.is_empty();
        // A part without elements says so itself.
        let needed = match transfer.part.as_slice() {
            [] => transfer.needed.is_some(),
            _ => !matches!(part::needed(&input, transfer), Ok(None)),
        };
        lines.push(match transfer.direction {
            Direction::HostToDevice => {
                let where_to = match verified.layout().buffer(transfer.buffer).space {
                    MemorySpace::Constant { elements } => {
                        format!("the GPU's constant memory, {elements} elements at most,")
                    }
                    MemorySpace::Host | MemorySpace::Global | MemorySpace::Shared | MemorySpace::Register => {
                        "the GPU".to_string()
                    }
                };
                let when = match needed {
                    true if verified.transfers().iter().any(is_apart) => ", for sizes for which kernels use some of it",
                    true => ", for sizes for which kernels do not first overwrite all of it",
                    false => "",
                };
                format!("{name}: copied to {where_to} {}{when}", moment(verified, transfer, "the first kernel"))
            }
            Direction::DeviceToHost => {
                let when = if needed { ", for sizes for which kernels write some of it" } else { "" };
                format!("{name}: copied back {}{when}", moment(verified, transfer, "the last kernel"))
            }
        });
    }
    if verified.target() == Target::Cpu {
        let named = verified.constants().iter().map(|&id| &algorithm.array(id).name);
        lines.extend(named.map(|name| format!("{name}: stays where it is: the CPU has no constant memory")));
    }
    lines
}
