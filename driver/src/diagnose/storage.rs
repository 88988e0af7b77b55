//! Storage commands that are refused.

use super::{Place, at_command, list, names, size};
use tessella_diagnostics::nearest;
use tessella_diagnostics::{Code, Diagnostic};
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::storage::{CONSTANT_BYTES, Filled, Limit, Overwrite, SharedBuffer, StorageError};

pub(super) fn storage(place: &Place, error: StorageError) -> Diagnostic {
    let message = error.to_string();
    let make =
        |code: &'static str, label: &str| at_command(place, Diagnostic::error(Code(code), message.clone()), label);
    match error {
        StorageError::Overwritten(overwrite) => overwritten(place, &overwrite),
        StorageError::CallersMemory { .. } => make("E0521", "in this command")
            .with_note("where the elements of an argument lie is part of the function's interface")
            .with_help("name an array or a variable that the function makes, or a part promoted by `cache_shared`"),
        StorageError::NotPadded { .. } => make("E0546", "in this command")
            .with_help("leave `pad` away, or the command that needs the array as it lies"),
        StorageError::AxisCount { axes, .. } => make("E0522", "in this command")
            .with_note(
                "subscripts come in the order of the array's own, after those of the loops around its declaration",
            )
            .with_help(format!("give {axes}")),
        StorageError::NoBox { axis, .. } => make("E0523", "this map")
            .with_note(format!("axis {} has no bounds that sizes and arguments give", axis + 1))
            .with_help("map each axis to a subscript, or to a remainder by a constant, and give arrays of different sizes buffers of their own"),
        StorageError::Untold { array } => make("E0523", "in this command")
            .with_note(format!("data tell which element of `{array}` an iteration accesses, so all of its elements may be needed at any time"))
            .with_help("name an array with subscripts of iterators and sizes"),
        StorageError::BufferTaken { .. } => {
            make("E0524", "in this command").with_help("choose another buffer, or a map that keeps more elements apart")
        }
        StorageError::UnknownArray { name, known } => {
            let diagnostic = make("E0525", "in this command").with_note(format!("the arrays are {}", names(&known)));
            match nearest(&name, known.iter().map(String::as_str)) {
                Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
                None => diagnostic.with_help("name an array of the function"),
            }
        }
        StorageError::NotAccessed { at, .. } => make("E0526", "in this command")
            .with_help(format!("name an array that a statement inside of `{at}` reads or writes")),
        StorageError::NoConstantSize { at, axis, apart, .. } => make("E0527", "requested here")
            .with_note(format!("along axis {} two of the elements can be this far apart: {apart}", axis + 1))
            .with_help(match place.command.map(|span| place.sources.text(span).starts_with("overlapped")) {
                Some(true) => "let the array keep one or two steps, as in `A, B = B, A`, or take another shape of tiles".to_string(),
                Some(false) | None => {
                    format!("split or tile the loops inside of `{at}` first, or name a loop further in")
                }
            }),
        StorageError::TooLarge { extents, limit, .. } => {
            let what = match limit {
                Limit::Shared => "the shared memory of a thread block, for all buffers of a kernel together",
                Limit::Stack => "what one buffer may take of the stack",
                Limit::Registers => "the registers of one thread",
            };
            make("E0528", "requested here")
                .with_note(format!("the buffer has {} elements; the limit is {what}", by(&extents)))
                .with_help("use smaller tiles, or name a loop further in")
        }
        StorageError::TooLargeTogether { buffers } => {
            let refused = make("E0528", "requested here");
            let each = |it: &SharedBuffer| format!("`{}` has {}", it.name, it.words());
            let refused = buffers.iter().map(each).fold(refused, Diagnostic::with_note);
            refused
                .with_note("the limit is the shared memory of a thread block, for all buffers of a kernel together")
                .with_help("use smaller tiles, or name a loop further in")
        }
        StorageError::ManyThreads { extents, threads, .. } => {
            let (extents, threads) = (by(&extents), by(&threads));
            make("E0603", "requested here")
                .with_note(format!("the buffer has {extents} elements; with those that compute, these are {threads} threads"))
                .with_note("a block has at most 1024 threads, and 64 along its third axis")
                .with_help("use smaller tiles, or leave `threads=:footprint` away: then each thread loads several elements")
        }
        StorageError::ManyThreadsTogether { filled, loops, threads } => {
            let each = |it: &Filled| format!("`{}` has {} elements", it.name, by(&it.extents));
            let refused = filled.iter().map(each).fold(make("E0603", "requested here"), Diagnostic::with_note);
            refused
                .with_note(format!("the statements have {} threads; with one for each element, these are {}", by(&loops), by(&threads)))
                .with_note("a block has at most 1024 threads, and 64 along its third axis")
                .with_help("use smaller tiles, or leave one `threads=:footprint` away: then each thread loads several elements of that buffer")
        }
        StorageError::WrongLevel { .. } => {
            make("E0529", "requested here").with_help("`explain` shows the loops and what they are mapped to")
        }
        StorageError::ComputedSubscript { array, only_read, .. } => {
            let refused = make("E0529", "requested here");
            let cached = "leave it where it is: the GPU's caches keep what threads read again";
            match only_read {
                true => refused.with_help(format!("{cached}; a small array can lie in constant memory: `constant({array})`")),
                false => refused.with_help(cached),
            }
        }
        StorageError::NoThreadCount { at } => make("E0530", "requested here")
            .with_help(format!("split `{at}` by the number of threads, and map the inner loop to them")),
        StorageError::NotConstant { .. } => make("E0531", "requested here")
            .with_note("kernels cannot write constant memory: the host fills it before they run")
            .with_help("name an array argument that the function only reads"),
        StorageError::Unbounded { array, axis } => make("E0532", "requested here")
            .with_note(format!("nothing bounds size({array}, {}) by a constant, nor what is read of it", axis + 1))
            .with_help(format!("add `assume(size({array}, {}) <= 16)`, with the largest size that you use, or read no more along it than constants say", axis + 1)),
        StorageError::ConstantTooLarge { bytes, total, .. } => {
            let all = if total > bytes {
                format!("; with the arrays before it, there would be {total}")
            } else {
                String::new()
            };
            make("E0533", "requested here")
                .with_note(format!("the kernels of a function have {CONSTANT_BYTES} bytes of constant memory{all}"))
                .with_help("assume smaller sizes, or keep parts of it in shared memory by `cache_shared`")
        }
        StorageError::TooLargeNumber => make("E0432", "while doing this").with_help("use smaller factors and sizes"),
    }
}

/// Extents, or threads along each axis.
fn by(all: &[i64]) -> String {
    all.iter().map(i64::to_string).collect::<Vec<_>>().join(" x ")
}

fn overwritten(place: &Place, it: &Overwrite) -> Diagnostic {
    let algorithm = place.algorithm;
    let name = |id: ComputationId| &algorithm.computations[id.0 as usize].name;
    let instance = |id: ComputationId, values: &[i64]| format!("{}[{}]", name(id), list(values));
    let array = &algorithm.array(it.array).name;
    let text = format!("a value of `{array}` is overwritten before its last use");
    let mut diagnostic = at_command(place, Diagnostic::error(Code("E0520"), text), "requested here");
    let spans = place.spans;
    let reader = spans.access(it.reader).or_else(|| spans.computation(it.reader.computation));
    let mut labels = vec![];
    labels.push((spans.computation(it.writer), "the value is stored here"));
    labels.push((reader, "and needed here"));
    if it.clobber != it.writer {
        labels.push((spans.computation(it.clobber), "this may overwrite it first"));
    }
    for (span, text) in labels {
        if let Some(span) = span {
            diagnostic = diagnostic.secondary(span, text);
        }
    }
    let sizes: Vec<String> = it.params.iter().filter_map(|(name, value)| size(algorithm, name, *value)).collect();
    let with = if sizes.is_empty() { String::new() } else { format!(" with {}", sizes.join(", ")) };
    diagnostic
        .with_note(format!(
            "{} stores into the element of {} before {} has read it, or in no order{with}",
            instance(it.clobber, &it.clobbered),
            instance(it.writer, &it.written),
            instance(it.reader.computation, &it.read)
        ))
        .with_help("keep more elements, such as a larger remainder, or keep the loops between the statements in order")
}
