//! The core's errors in the user's words: values to diagnostics, computations to spans.

mod connect;
mod recompute;
mod storage;
mod time_tiling;

use connect::connect;
use storage::storage;
use tessella_diagnostics::{Code, Diagnostic, SourceMap, Span, nearest};
use tessella_lowering::SpanTable;
use tessella_polyhedral::algorithm::{AccessRef, Algorithm, ArrayId, ArrayKind, ComputationId, Which};
use tessella_polyhedral::condition::Condition;
use tessella_polyhedral::error::{
    AtomicObstacle, Error, FactorObstacle, InlineObstacle, LayoutError, OnGpu, OwnerObstacle, RowsObstacle,
    ScheduleError,
};
use tessella_polyhedral::legality::{Breach, Violation, Witness};
use tessella_polyhedral::print;
use tessella_polyhedral::reduction::{UpdateOrder, order_of, reduction, updates};
use tessella_polyhedral::schedule::Tag;
use tessella_polyhedral::transform;

/// What a failed step was about.
pub struct Place<'a> {
    pub sources: &'a SourceMap,
    pub algorithm: &'a Algorithm,
    pub spans: &'a SpanTable,
    /// The command that was carried out, and where it stands.
    pub command: Option<Span>,
    /// The sizes for which that is legal, where it is refused for small ones alone.
    pub legal_above: Option<&'a Condition>,
}

/// Words an error of the polyhedral core.
pub fn diagnose(place: &Place, error: Error) -> Diagnostic {
    match error {
        Error::Schedule(ScheduleError::Illegal(violation)) => illegal(place, &violation),
        Error::Schedule(error) => schedule(place, error),
        Error::Layout(error) => layout(place, error),
        Error::Storage(error) => storage(place, error),
        Error::Connect(error) => connect(place, error),
        Error::Isl(error) if error.is_quota() => at_command(
            place,
            Diagnostic::error(Code("E0430"), "the analysis of this function reached its limit"),
            "while doing this",
        )
        .with_note("the integer sets of its loops are too complicated to decide in reasonable time")
        .with_help(
            "say which arrays have the same size, where some do: `@assert size(A) == size(B)`; split the function, or simplify bounds with divisions \
             and remainders",
        ),
        Error::Isl(error) => at_command(
            place,
            Diagnostic::error(Code("E0431"), "the polyhedral library failed on this function"),
            "while doing this",
        )
        .with_note(error.to_string())
        .with_help("report this function: it is a mistake of Tessella's"),
        Error::Affine(_) => at_command(
            place,
            Diagnostic::error(Code("E0432"), "the new order has numbers beyond 64 bits"),
            "while doing this",
        )
        .with_help("use smaller factors and sizes"),
    }
}

/// Labels the command, else the function's signature.
fn at_command(place: &Place, diagnostic: Diagnostic, message: &str) -> Diagnostic {
    match place.command.or(place.spans.function) {
        Some(span) => diagnostic.primary(span, message),
        None => diagnostic,
    }
}

fn illegal(place: &Place, violation: &Violation) -> Diagnostic {
    let command = place.command.map(|span| place.sources.text(span).to_string());
    let subject = command.as_ref().map_or("the schedule".to_string(), |text| format!("`{text}`"));
    let kind = violation.kind;
    let article = if matches!(kind.to_string().chars().next(), Some('a' | 'o')) { "an" } else { "a" };
    let what = match &violation.breach {
        Breach::Reversed { .. } | Breach::Sequence => format!("{subject} reverses {article} {kind} dependence"),
        Breach::Unordered => format!("{subject} leaves {article} {kind} dependence without an order"),
        Breach::Concurrent { tag, .. } => {
            let way = match tag {
                Tag::Vector(_) => "in one vector",
                Tag::Parallel => "in parallel",
                Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine => "in parallel on the GPU",
                Tag::Sequential | Tag::Unroll(_) | Tag::Rows | Tag::Separate | Tag::Stream(_) | Tag::GridSync => {
                    "out of order"
                }
            };
            format!("{subject} runs both ends of {article} {kind} dependence {way}")
        }
    };
    let diagnostic = at_command(place, Diagnostic::error(Code("E0401"), what), "requested here");
    let is_ours = |at: AccessRef| (at.computation.0 as usize) < place.algorithm.computations.len();
    let has_names = (violation.array.0 as usize) < place.algorithm.arrays.len();
    if !has_names || !is_ours(violation.source) || !is_ours(violation.sink) {
        return diagnostic
            .with_note("it is one between statements that the command adds, which the source has no names for");
    }
    let mut diagnostic = ends(place, diagnostic, violation);
    let Pair { source, sink, with } = pair(place, violation);
    let witness = &violation.witness;
    diagnostic = diagnostic.with_note(match &violation.breach {
        Breach::Reversed { .. } if witness.distance.is_empty() => {
            format!("{source} must run before {sink}{with}, and would be at distance ({})", list(&witness.new_distance))
        }
        Breach::Reversed { .. } => format!(
            "distance ({}) becomes ({}); first violated pair: {source} -> {sink}{with}",
            list(&witness.distance),
            list(&witness.new_distance)
        ),
        Breach::Sequence => format!("{source} must run before {sink}{with}, and would run after it"),
        Breach::Unordered => format!("{source} and {sink} would run at one time{with}"),
        Breach::Concurrent { at, .. } if is_free_update(place, violation) => {
            format!("`{at}` carries it: {source} and {sink} would run at one time{with}")
        }
        Breach::Concurrent { at, .. } => {
            format!("`{at}` carries it: {source} must run before {sink}{with}, in another iteration of `{at}`")
        }
    });
    if let Some(condition) = place.legal_above {
        return diagnostic
            .with_note(format!(
                "only small sizes stand against it: where `{condition}` holds, every dependence is kept"
            ))
            .with_help(format!(
                "write `assume({condition})` before the command, or `@assert {condition}` in the function"
            ));
    }
    if let Some((note, help)) = of_reduction(place, violation) {
        return diagnostic.with_note(note).with_help(help);
    }
    diagnostic.with_help(match &violation.breach {
        Breach::Reversed { at } if witness.distance.len() > 1 => {
            format!("skew `{at}` by an outer loop first, or drop the command")
        }
        Breach::Reversed { at } if violation.source.computation == violation.sink.computation => {
            format!("keep the direction of `{at}`: each of its iterations needs the one before")
        }
        Breach::Reversed { at } => match witness.new_distance.last() {
            Some(&by @ ..0) => {
                let sink = &place.algorithm.computation(violation.sink.computation).name;
                let fuse = command.is_some_and(|text| text.starts_with("fuse") && !text.contains("shift"));
                let find = if fuse { "; with `shift=:auto` the command finds by how many iterations" } else { "" };
                format!("run `{sink}` later, as by `shift({sink}, {at}, {})` first, or drop the command{find}", -by)
            }
            Some(0..) | None => format!("shift one of the computations along `{at}` first, or drop the command"),
        },
        Breach::Sequence | Breach::Unordered => {
            "keep the source's order of the two, or shift one of them by an iteration first".to_string()
        }
        Breach::Concurrent { .. } => "choose a loop that carries no dependence; `explain` lists them".to_string(),
    })
}

/// Whether the dependence is one between updates that may run in any order.
fn is_free_update(place: &Place, violation: &Violation) -> bool {
    let order = order_of(place.algorithm, &updates(place.algorithm), violation.source, violation.sink);
    is_free(order, violation)
}

fn is_free(order: UpdateOrder, violation: &Violation) -> bool {
    match order {
        UpdateOrder::Any => true,
        UpdateOrder::Source => false,
        UpdateOrder::Within(iterator) => {
            let Witness { source, sink, .. } = &violation.witness;
            source.iter().zip(sink).take(iterator as usize).all(|(source, sink)| source == sink)
        }
    }
}

/// What to say where the dependence is one between updates of a reduction.
fn of_reduction(place: &Place, violation: &Violation) -> Option<(String, &'static str)> {
    let id = violation.source.computation;
    let it = reduction(place.algorithm, id).filter(|_| violation.sink.computation == id)?;
    if it.array != violation.array {
        return None;
    }
    let name = &place.algorithm.computation(id).name;
    let (verb, array) = (it.operator.verb(), &place.algorithm.array(it.array).name);
    if !place.algorithm.computation(id).write.is_affine() {
        let help = match transform::atomic::update(place.algorithm, id) {
            Ok(_) => "run another loop in parallel; on a GPU, `atomic` lets threads update together",
            Err(_) if place.algorithm.computation(id).owner.is_some() => {
                "run another loop in parallel, such as the one over owners: each keeps its order"
            }
            Err(_) => "run another loop in parallel, or give elements owners: `owners`",
        };
        return Some((
            format!("data say which element of `{array}` `{name}` updates: two iterations may meet at one"),
            help,
        ));
    }
    Some(match it.order {
        UpdateOrder::Source => (
            format!("`{name}` {verb} `{array}` in floating point: another order gives another result"),
            "write `@fastmath` before the statement, or `@simd` before its innermost loop, if any order will do",
        ),
        UpdateOrder::Within(iterator) if !is_free(it.order, violation) => (
            format!(
                "`{name}` {verb} `{array}` in floating point: `@simd` frees the order within one execution of its loop over \
                 `{}`, not that of several",
                place.algorithm.computation(id).iterators[iterator as usize]
            ),
            "write `@fastmath` before the statement if any order will do",
        ),
        UpdateOrder::Any | UpdateOrder::Within(_) => (
            format!(
                "`{name}` {verb} `{array}`: the order is free, but two updates of one element cannot run at one time"
            ),
            "run another loop in parallel, or give each iteration a partial result with `rfactor`; this loop may be moved, split and reversed",
        ),
    })
}

/// Labels both ends of a dependence.
fn ends(place: &Place, mut diagnostic: Diagnostic, violation: &Violation) -> Diagnostic {
    let algorithm = place.algorithm;
    let array = &algorithm.array(violation.array).name;
    let place_of = |at: AccessRef| place.spans.access(at).or_else(|| place.spans.computation(at.computation));
    let one_place = place_of(violation.source) == place_of(violation.sink);
    let role_of_source = if one_place { "first, and again later" } else { "first" };
    let mut ends = vec![(violation.source, role_of_source)];
    if !one_place {
        ends.push((violation.sink, "later"));
    }
    for (at, role) in ends {
        let verb = if at.which == Which::Write { "writes" } else { "reads" };
        let name = &algorithm.computation(at.computation).name;
        let text = match unnamed(place, violation.array) {
            None => format!("`{name}` {verb} `{array}` here {role}"),
            Some(Unnamed::Test) => format!("`{name}` tests here {role}, whether this is in range"),
            Some(Unnamed::Condition) if one_place => {
                let sink = &algorithm.computation(violation.sink.computation).name;
                format!("`{name}` evaluates this condition, and `{sink}` asks for it later")
            }
            Some(Unnamed::Condition) if at.which == Which::Write => format!("`{name}` evaluates this condition {role}"),
            Some(Unnamed::Condition) => format!("`{name}` asks here for the condition {role}"),
        };
        if let Some(span) = place_of(at) {
            diagnostic = diagnostic.secondary(span, text);
        }
    }
    match unnamed(place, violation.array) {
        Some(Unnamed::Test) => diagnostic.with_note(
            "whether it is, only the run can tell: until then nothing after it may run, so the tests keep Julia's order",
        ),
        Some(Unnamed::Condition) | None => diagnostic,
    }
}

/// What an array holds to which the source gives no name.
enum Unnamed {
    /// Whether a test failed that is made while the function runs.
    Test,
    /// What the condition of an `if` came to.
    Condition,
}

fn unnamed(place: &Place, array: ArrayId) -> Option<Unnamed> {
    let algorithm = place.algorithm;
    if algorithm.failed == Some(array) {
        return Some(Unnamed::Test);
    }
    // It stands where all of the statement stands that writes it: there is no left-hand side.
    let writer = algorithm.ids().find(|&id| algorithm.computation(id).write.array == array)?;
    let written = place.spans.access(AccessRef { computation: writer, which: Which::Write });
    let is_private = algorithm.array(array).kind == ArrayKind::Private;
    (is_private && written.is_some() && written == place.spans.computation(writer)).then_some(Unnamed::Condition)
}

/// A witness as text.
struct Pair {
    source: String,
    sink: String,
    /// The sizes for which the two exist: ` with n = 3`, or nothing.
    with: String,
}

fn pair(place: &Place, violation: &Violation) -> Pair {
    let algorithm = place.algorithm;
    let witness = &violation.witness;
    let instance = |id: ComputationId, values: &[i64]| format!("{}[{}]", algorithm.computation(id).name, list(values));
    let source = instance(violation.source.computation, &witness.source);
    let sink = instance(violation.sink.computation, &witness.sink);
    let sizes: Vec<String> = witness.params.iter().filter_map(|(name, value)| size(algorithm, name, *value)).collect();
    let with = if sizes.is_empty() { String::new() } else { format!(" with {}", sizes.join(", ")) };
    Pair { source, sink, with }
}

fn first_pair(place: &Place, violation: &Violation) -> String {
    let Pair { source, sink, with } = pair(place, violation);
    format!("{source} must run before {sink}{with}")
}

/// A size of the witness in the source's words; nothing for one that the source gives no name and that is zero: it plays
/// no part.
fn size(algorithm: &Algorithm, name: &str, value: i64) -> Option<String> {
    match extent(algorithm, name) {
        Some(of) => (value != 0).then(|| format!("{of} = {value}")),
        None => Some(format!("{name} = {value}")),
    }
}

/// `size(A, 1)` for a parameter that the source has no name for.
fn extent(algorithm: &Algorithm, name: &str) -> Option<String> {
    algorithm.spelling(algorithm.params.iter().find(|param| param.name == name)?)
}

fn list(values: &[i64]) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// Labels a second writer of an array, and says what to do about it. One that only fills the array is often `zeros`, whose values
/// nobody wants.
fn other_writer(place: &Place, diagnostic: Diagnostic, name: &str, array: &str, other: ComputationId) -> Diagnostic {
    let it = place.algorithm.computation(other);
    let fills = it.stored_constant().is_some() && it.predicate.is_none();
    let does = if fills { "fills" } else { "writes" };
    let diagnostic = match place.spans.computation(other) {
        Some(span) => diagnostic.secondary(span, format!("`{}` {does} `{array}` here", it.name)),
        None => diagnostic,
    };
    diagnostic.with_note(format!("`{}` {does} `{array}`, too", it.name)).with_help(match fills {
        true => {
            format!("make `{array}` without values (`undef`, `similar`) if `{name}` writes all elements that are read")
        }
        false => "give the two different arrays".to_string(),
    })
}

fn names(known: &[String]) -> String {
    known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn schedule(place: &Place, error: ScheduleError) -> Diagnostic {
    let message = error.to_string();
    let make =
        |code: &'static str, label: &str| at_command(place, Diagnostic::error(Code(code), message.clone()), label);
    let labels = |diagnostic: Diagnostic, ids: &[ComputationId], text: &str| {
        ids.iter().fold(diagnostic, |diagnostic, id| match place.spans.computation(*id) {
            Some(span) => diagnostic.secondary(span, text),
            None => diagnostic,
        })
    };
    match error {
        ScheduleError::Illegal(violation) => illegal(place, &violation),
        ScheduleError::UnknownComputation { name, known } => {
            let diagnostic = make("E0411", "in this command").with_note(format!("the computations are {}", names(&known)));
            match nearest(&name, known.iter().map(String::as_str)) {
                Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
                None => diagnostic.with_help("name a statement with `@comp NAME statement`"),
            }
        }
        ScheduleError::UnknownLoop { computation, name, known } => {
            let around = if known.is_empty() { "no loops".to_string() } else { names(&known) };
            let diagnostic = make("E0412", "in this command").with_note(format!("around `{computation}` are {around}"));
            match nearest(&name, known.iter().map(String::as_str)) {
                Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
                None => diagnostic.with_help("name one of these loops; `split` and `tile` make new ones"),
            }
        }
        ScheduleError::NotNested { outer, inner, .. } if outer == inner => {
            make("E0413", "in this command").with_help("name two loops")
        }
        ScheduleError::NotNested { outer, inner, .. } => make("E0413", "in this command")
            .with_help(format!("give the outer loop first: `{inner}`, then `{outer}`")),
        ScheduleError::NotPerfectlyNested { computation, outer, between, .. } => {
            let diagnostic = labels(make("E0414", "requested here"), &between, "stands between the two loops");
            if between.is_empty() {
                diagnostic.with_help("name loops that stand directly inside one another, outermost first")
            } else {
                diagnostic.with_help(format!("separate the statements first: `distribute({computation}, {outer})`"))
            }
        }
        ScheduleError::NotAdjacent { first, second, .. } => make("E0415", "requested here")
            .with_help(format!("move one next to the other first: `after({second}, {first})`")),
        ScheduleError::AlreadyShared { .. } => {
            make("E0415", "requested here").with_help("drop the command, or name a loop further in that each has for itself")
        }
        ScheduleError::TooFewLoops { .. } => {
            make("E0416", "requested here").with_help("share fewer loops: name a loop further out")
        }
        ScheduleError::NothingToDistribute { .. } => {
            make("E0417", "requested here").with_help("name a loop whose body has several statements or loops")
        }
        ScheduleError::SizeCount { .. } => {
            make("E0418", "in this command").with_help("give one size for each loop: `tile(S, (i, j), (32, 32))`")
        }
        ScheduleError::EdgeCount { .. } => make("E0446", "in this command")
            .with_help("give each loop an edge, and each edge a step along each loop: `parallelogram(S, (t, i), ((8, -8), (4, 4)))`"),
        ScheduleError::FlatTile => make("E0446", "in this command")
            .with_help("give edges that span an area, or a volume: none a sum of multiples of the others"),
        ScheduleError::GpuAxisCount { .. } => {
            make("E0419", "in this command").with_help("a grid and a thread block have one, two or three axes each")
        }
        ScheduleError::GpuMapping { .. } => make("E0420", "requested here")
            .with_help("map perfectly nested loops, blocks outside of threads; `tile` and `distribute` make such loops"),
        ScheduleError::SameComputation { .. } => make("E0421", "in this command").with_help("name each computation once"),
        ScheduleError::SameLoop { .. } => make("E0421", "in this command").with_help("name each loop once"),
        ScheduleError::AlreadyTagged { .. } => {
            make("E0422", "requested here").with_help("split, tile and reorder loops before they are tagged, once each")
        }
        ScheduleError::TagsDiffer { .. } => {
            make("E0422", "requested here").with_help("bring statements under one loop first, and tag that loop then")
        }
        ScheduleError::NothingToJam { computation, at, factor } => make("E0433", "requested here")
            .with_help(format!("unroll the loop alone: `unroll({computation}, {at}, {factor})`")),
        ScheduleError::TooManyCopies { most, .. } => make("E0447", "requested here")
            .with_note(format!("compilers take minutes and more for that; {most} times are the most"))
            .with_help("unroll fewer iterations at a time: beyond some dozens code gets no faster"),
        ScheduleError::NoFactor { inner, violation, .. } => {
            let diagnostic = ends(place, make("E0434", "requested here"), &violation);
            diagnostic
                .with_note(format!("the largest factor still leaves a dependence broken: {}", first_pair(place, &violation)))
                .with_help(format!("choose loops whose dependences have bounded distances along `{inner}`"))
        }
        ScheduleError::NoShift { at, violation, .. } => {
            let diagnostic = ends(place, make("E0435", "requested here"), &violation);
            diagnostic
                .with_note(format!("the largest shift still leaves a dependence broken: {}", first_pair(place, &violation)))
                .with_help(format!("keep the loops apart, or choose others whose distances along `{at}` are bounded"))
        }
        ScheduleError::NotBetween { first, second, .. } => make("E0436", "requested here").with_help(format!(
            "name the innermost loop that `{first}` and `{second}` share, and first the one that runs first"
        )),
        ScheduleError::VaryingExtent { computation, at } => make("E0437", "requested here")
            .with_help(format!("collapse a loop of constant length: `split({computation}, {at}, 32)` makes one")),
        ScheduleError::OnePiece { first, second, .. } => make("E0460", "requested here").with_help(format!(
            "drop the command, or name two loops of which `{first}` or `{second}` runs on both sides of the other"
        )),
        ScheduleError::OneSize { .. } => make("E0460", "requested here")
            .with_help("drop the command, or name a condition that some sizes meet and others do not"),
        ScheduleError::NotTiles { computation, at } => make("E0438", "requested here")
            .with_help(format!("name a loop that `tile` or `split` made, such as the `{at}0` of `split({computation}, {at}, 32)`")),
        ScheduleError::UnknownSize { name, known } => {
            let diagnostic = make("E0439", "in this command").with_note(format!("the sizes are {}", names(&known)));
            match nearest(&name, known.iter().map(String::as_str)) {
                Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
                None => diagnostic.with_help("name one of these, or write `size(A, 1)` for an array argument `A`"),
            }
        }
        ScheduleError::NotAffine { .. } => make("E0440", "in this command")
            .with_help("add sizes, multiply them by numbers, or take their remainders by numbers"),
        ScheduleError::NeverHolds { .. } => make("E0441", "in this command")
            .with_note("sizes are not negative, and earlier assumptions hold, too")
            .with_help("drop the command, or correct the condition"),
        ScheduleError::CannotInline { computation, obstacle } => {
            let name = |id: ComputationId| place.algorithm.computation(id).name.clone();
            let (why, help) = match obstacle {
                InlineObstacle::Output => (
                    "callers see the array that it writes".to_string(),
                    "inline computations of scalars or arrays that the function makes itself",
                ),
                InlineObstacle::Conditional => {
                    ("it writes on a condition".to_string(), "write on all paths: `a = condition ? x : y`")
                }
                InlineObstacle::ReadsItself => {
                    ("it reads what it writes: its values build on one another".to_string(), "keep it stored")
                }
                InlineObstacle::Subscripts => (
                    "its subscripts do not tell which iteration wrote an element".to_string(),
                    "subscript the array by the loops' iterators, each with a constant added",
                ),
                InlineObstacle::NoReader => ("nothing reads what it writes".to_string(), "remove the statement"),
                InlineObstacle::OtherWriter { other } => {
                    let array = place.algorithm.computation(other).write.array;
                    let array = &place.algorithm.array(array).name;
                    let diagnostic = make("E0442", &format!("`{computation}` stays where it is"));
                    return other_writer(place, diagnostic, &computation, array, other);
                }
                InlineObstacle::NotWritten { reader } => (
                    format!("`{}` may read elements that it did not write before", name(reader)),
                    "write all elements that are read",
                ),
                InlineObstacle::Overwritten { array, by, reader } => (
                    format!(
                        "`{}` overwrites elements of `{}` that it read before `{}` runs",
                        name(by),
                        place.algorithm.array(array).name,
                        name(reader)
                    ),
                    "keep it stored, or write to another array",
                ),
                InlineObstacle::Fastmath { reader } => (
                    format!("`{}` is under `@fastmath`, and it is not", name(reader)),
                    "put both under `@fastmath`, or neither",
                ),
            };
            make("E0442", &format!("`{computation}` stays where it is")).with_note(why).with_help(help)
        }
        ScheduleError::CannotComputeAt { computation, obstacle, .. } => {
            recompute::compute_at(place, &computation, obstacle, make("E0444", "requested here"))
        }
        ScheduleError::CannotPrivatize { array, obstacle, .. } => {
            recompute::privatize(place, &array, obstacle, make("E0449", "requested here"))
        }
        ScheduleError::CannotOverlap { at, obstacle, .. } => {
            recompute::overlapped(place, &at, obstacle, make("E0550", "requested here"))
        }
        ScheduleError::OtherValues(mismatch) => recompute::other_values(place, &mismatch),
        ScheduleError::NotStencil { at, obstacle, .. } => time_tiling::not_stencil(place, make("E0560", "requested here"), &at, &obstacle),
        ScheduleError::TileHeight { height, nests, .. } => {
            time_tiling::tile_height(make("E0561", "requested here"), height, nests)
        }
        ScheduleError::TileWidth { at, least, height, slopes, .. } => {
            time_tiling::tile_width(make("E0562", "requested here"), &at, least, height, &slopes)
        }
        ScheduleError::CannotFactor { computation, at, obstacle } => {
            let (why, help) = match obstacle {
                FactorObstacle::NoReduction => (
                    format!("`{computation}` does not have the form `a = a op e` with `+`, `-`, `*`, `min` or `max`"),
                    "name a computation that only updates what it writes",
                ),
                FactorObstacle::Order => (
                    format!(
                        "the order of the updates of `{computation}` is part of the result: sums and products round at each"
                    ),
                    "write `@fastmath` before the statement, or `@simd` before the innermost loop and split that one",
                ),
                FactorObstacle::Subscripts => (
                    "the iterators alone do not tell which element it updates, or whether it does".to_string(),
                    "subscript the array by iterators and sizes",
                ),
                FactorObstacle::ManyElements => (
                    format!("the loops around `{at}` do not say which one element it updates"),
                    "move the loops over its elements outside of this one, or name a loop further in",
                ),
                FactorObstacle::Used { by } => (
                    format!("`{}` uses the element before the loop is over", place.algorithm.computation(by).name),
                    "bring the two into loops of their own first: `distribute`",
                ),
            };
            make("E0443", "requested here").with_note(why).with_help(help)
        }
        ScheduleError::CannotBeAtomic { computation, obstacle } => {
            let ordered = "keep the order with `owners`, where data give the subscripts; where iterators do, give each thread a partial result: `rfactor`";
            let (why, help) = match obstacle {
                AtomicObstacle::NoReduction => (
                    format!("`{computation}` does not have the form `a = a op e` with `+`, `-`, `min` or `max`, where nothing else reads `a`"),
                    "name a computation that only updates what it writes".to_string(),
                ),
                AtomicObstacle::Order => (
                    "it updates no integers of 32 or 64 bits: sums of floats would go by which thread comes first".to_string(),
                    format!("{ordered}; `@fastmath` lets sums be taken in any order"),
                ),
                AtomicObstacle::Type => (
                    "a GPU updates integers of 32 or 64 bits in one piece, and sums of floats under `@fastmath`".to_string(),
                    ordered.to_string(),
                ),
            };
            make("E0454", "requested here").with_note(why).with_help(help)
        }
        ScheduleError::NoOwners { computation, obstacle } => {
            let (why, help) = match obstacle {
                OwnerObstacle::Subscripts => (
                    format!("no data say which element `{computation}` stores into, or threads update it in one piece, or it has owners already"),
                    "name computations like `y[k[p]] += x[p]`",
                ),
                OwnerObstacle::Reads => (
                    "other elements are read of what is stored into, and these belong to other owners".to_string(),
                    "bring computations that read them into loops of their own first: `distribute`",
                ),
                OwnerObstacle::Steps => (
                    "which element it stores into is looked up at a place that is computed in steps".to_string(),
                    "keep what is looked up in a variable of its own, in loops of its own: `k = table[...]`, `y[k] += x[p]`",
                ),
                OwnerObstacle::Count => (
                    "the number of owners is no power of two from 2 to 65536".to_string(),
                    "write `1024`, say",
                ),
            };
            make("E0455", "requested here").with_note(why).with_help(help)
        }
        ScheduleError::NoRows { computation, at, obstacle } => {
            let (why, help) = match obstacle {
                RowsObstacle::Loops => (format!("there are loops inside of `{at}`"), "name the innermost loop".to_string()),
                RowsObstacle::Values => (
                    format!("all that is read in `{at}` may change while the kernel runs, or is read under conditions that may change"),
                    format!("leave `{at}` as it is, or have what `{computation}` reads stored by an earlier kernel"),
                ),
                RowsObstacle::Bytes => (
                    format!("what an iteration of `{at}` computes takes more than {} bytes", tessella_polyhedral::rows::MOST_BYTES),
                    "share the loop between several: `distribute`".to_string(),
                ),
            };
            make("E0456", "requested here").with_note(why).with_help(help)
        }
        ScheduleError::OrderMisses { .. } => make("E0470", "in these loops")
            .with_help("name each computation once, inside the loops that are to run it"),
        ScheduleError::OrderRepeats { .. } => {
            make("E0470", "in these loops").with_help("name each computation once")
        }
        ScheduleError::OrderLoopTwice { .. } => {
            make("E0471", "in these loops").with_help("give loops inside one another different names")
        }
        ScheduleError::OrderStranger { at, .. } => make("E0472", "in these loops").with_help(format!(
            "write `for {at} = (S = ..., R = ...)` with one function for each computation inside, or one for all"
        )),
        ScheduleError::OrderName { name, known, .. } => {
            let spelt = known.iter().map(|name| match extent(place.algorithm, name) {
                Some(of) => format!("`{name}` for `{of}`"),
                None => format!("`{name}`"),
            });
            let spelt = spelt.collect::<Vec<_>>().join(", ");
            let diagnostic = make("E0473", "in these loops").with_note(format!("known here are {spelt}"));
            match nearest(&name, known.iter().map(String::as_str)) {
                Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
                None => diagnostic.with_help("say what a loop runs through by the iterators of the source"),
            }
        }
        ScheduleError::OrderTogether { computation, first, second, params } => {
            let sizes: Vec<String> =
                params.iter().filter_map(|(name, value)| size(place.algorithm, name, *value)).collect();
            let with = if sizes.is_empty() { String::new() } else { format!(" with {}", sizes.join(", ")) };
            make("E0474", "in these loops")
                .with_note(format!(
                    "{computation}[{}] and {computation}[{}] have the same value in every loop{with}",
                    list(&first),
                    list(&second)
                ))
                .with_help("add the loop that tells them apart")
        }
        ScheduleError::NeedsGpu => {
            make("E0423", "requested here").with_help("choose the GPU: `--target cuda` on the command line, `@tessella target=:cuda` in Julia")
        }
        ScheduleError::CannotStream { size, obstacle, .. } => make("E0490", "requested here").with_note(obstacle.0).with_help(format!(
            "`{}` takes a time loop over nests that each write one point of an array from points around it",
            size.called()
        )),
        ScheduleError::NeedsCpu { on_gpu } => make("E0424", "requested here").with_help(match on_gpu {
            OnGpu::Grid => "use `gpu(...)` for a GPU program",
            OnGpu::WholeTiles => "leave it out: blocks of a GPU whose tiles are whole run without tests as it is",
            OnGpu::Buffers => "use `cache_shared(A, S, k)`, with `ahead=1` to load before the use, or `cache_register(A, S, k)`",
        }),
    }
}

fn layout(place: &Place, error: LayoutError) -> Diagnostic {
    match error {
        LayoutError::NoBox { array, axis } => {
            let name = &place.algorithm.array(array).name;
            let text = format!("`{name}` needs storage for each iteration, and no rectangular array fits");
            let diagnostic = Diagnostic::error(Code("E0501"), text);
            let diagnostic = match place.spans.arrays.get(&array) {
                Some(span) => diagnostic.primary(*span, "this variable"),
                None => at_command(place, diagnostic, "in this function"),
            };
            diagnostic
                .with_note(format!("the range of axis {} depends on more than sizes and arguments", axis + 1))
                .with_help("keep the statements that use it in one loop, or store it in an array argument")
        }
        LayoutError::InexactScan { access, axis } => {
            let used = place.algorithm.access(access);
            let computation = place.algorithm.computation(access.computation);
            let text = print::access(place.algorithm, computation, used);
            let diagnostic = Diagnostic::error(
                Code("E0312"),
                format!("subscript {} of `{text}` may differ between the CPU, which checks it, and the GPU", axis + 1),
            );
            let span = place.spans.access(access).or_else(|| place.spans.computation(access.computation));
            let diagnostic = match span {
                Some(span) => diagnostic.primary(span, "it comes from an elementary function"),
                None => diagnostic,
            };
            diagnostic
                .with_note(
                    "`exp`, `sin`, `muladd` and the like may differ in the last place, and with it the subscript",
                )
                .with_help("keep the subscript inside with `clamp`, or write `@inbounds` before the statement")
        }
        LayoutError::NeverInside { access, axis } => {
            let used = place.algorithm.access(access);
            let computation = place.algorithm.computation(access.computation);
            let text = print::access(place.algorithm, computation, used);
            let diagnostic = Diagnostic::error(Code("E0502"), format!("`{text}` is outside its array for all sizes"));
            let span = place.spans.access(access).or_else(|| place.spans.computation(access.computation));
            let array = &place.algorithm.array(used.array).name;
            let subscript = print::subscript(place.algorithm, computation, &used.subscripts[axis as usize]);
            let dimension = axis + 1;
            let which = match used.subscripts.len() {
                1 => String::new(),
                count => format!(", subscript {dimension} of {count},"),
            };
            let diagnostic = match span {
                Some(span) => {
                    diagnostic.primary(span, format!("`{subscript}`{which} is never in `axes({array}, {dimension})`"))
                }
                None => diagnostic,
            };
            diagnostic
                .with_note("Julia would raise a BoundsError in each call that gets here")
                .with_help(format!("keep the subscript in `axes({array}, {dimension})`: from 1 to `size({array}, {dimension})` unless the array has axes of its own"))
        }
    }
}
