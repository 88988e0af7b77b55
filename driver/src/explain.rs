//! What was found and chosen, in words: `tessella explain`, `Tessella.explain`.

use std::collections::BTreeSet;
use std::fmt::Write;
use tessella_polyhedral::algorithm::{Algorithm, ArrayKind};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Direction, Lifetime, MemorySpace};
use tessella_polyhedral::reduction::{UpdateOrder, reduction};
use tessella_polyhedral::report::{self, LoopReport, ReportedDependence};
use tessella_polyhedral::schedule::{ProcessorAxis, Tag};
use tessella_polyhedral::verify::Verified;
use tessella_polyhedral::print;

/// Explains a verified program: what depends on what, what each loop does and why, what is checked and copied.
pub fn explain(ctx: &Ctx, verified: &Verified, dependences: &[ReportedDependence]) -> Result<String, Error> {
    let algorithm = verified.algorithm();
    let mut text = String::new();
    section(&mut text, "Computations");
    for computation in &algorithm.computations {
        let _ = writeln!(text, "  {}: {}", computation.name, print::statement(algorithm, computation));
    }

    section(&mut text, "Dependences");
    for line in summary(algorithm, dependences) {
        let _ = writeln!(text, "  {line}");
    }

    section(&mut text, "Loops, as they will run");
    let plain: Vec<_> = dependences.iter().map(|item| item.dependence.clone()).collect();
    for it in report::report_loops(ctx, algorithm, verified.schedule(), &plain)? {
        let depth = it.path.0.len() - sequences_above(verified, &it);
        let _ = writeln!(text, "  {}{}", "  ".repeat(depth), loop_text(verified, &it, dependences));
    }

    if !verified.versions().is_empty() {
        section(&mut text, "Versions, chosen at entry");
        for version in verified.versions() {
            let _ = writeln!(text, "  where {}: the same loops, simplified", version.text);
        }
        let _ = writeln!(text, "  else the loops as above");
    }

    section(&mut text, "Checked once at entry");
    if verified.checks().is_empty() && algorithm.requirements.is_empty() {
        let _ = writeln!(text, "  nothing: every subscript is inside for all sizes");
    }
    for requirement in &algorithm.requirements {
        let _ = writeln!(text, "  {}: {}", requirement.text, condition(&requirement.holds.to_string()));
    }
    for check in verified.checks() {
        let access = algorithm.access(check.access);
        let computation = algorithm.computation(check.access.computation);
        let _ = writeln!(
            text,
            "  {} in {}, axis {}: {}",
            print::access(algorithm, computation, access),
            computation.name,
            check.axis + 1,
            condition(&check.needs.to_string())
        );
    }

    let memory = memory(verified);
    if !memory.is_empty() {
        section(&mut text, "Memory");
        memory.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    Ok(text)
}

fn section(text: &mut String, title: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(text, "{title}");
}

/// One line for each kind, pair of computations and array.
fn summary(algorithm: &Algorithm, dependences: &[ReportedDependence]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut lines = vec![];
    for item in dependences {
        let key = short(algorithm, item);
        let distances: Vec<String> = item.distances.iter().map(ToString::to_string).collect();
        let how = match item.carried.as_slice() {
            [] => "within one iteration of the loops they share".to_string(),
            loops => format!("carried by {} (distance {})", loops.join(" and "), distances.join(", ")),
        };
        let line = format!("{key}: {how}");
        if seen.insert(line.clone()) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        lines.push("none: every instance may run at any time".to_string());
    }
    lines
}

fn short(algorithm: &Algorithm, item: &ReportedDependence) -> String {
    let dependence = &item.dependence;
    let name = |id| algorithm.computation(id).name.as_str();
    format!(
        "{} {} -> {} on {}",
        dependence.kind,
        name(dependence.source.computation),
        name(dependence.sink.computation),
        algorithm.array(dependence.array).name
    )
}

fn sequences_above(verified: &Verified, it: &LoopReport) -> usize {
    use tessella_polyhedral::schedule::{Node, Path};
    let prefixes = (0..it.path.0.len()).map(|depth| Path(it.path.0[..depth].to_vec()));
    prefixes.filter(|path| matches!(verified.schedule().node(path), Some(Node::Sequence(_)))).count()
}

fn loop_text(verified: &Verified, it: &LoopReport, dependences: &[ReportedDependence]) -> String {
    let algorithm = verified.algorithm();
    let below = verified.schedule().node(&it.path).map(|node| node.computations()).unwrap_or_default();
    let names: Vec<&str> = below.iter().map(|&id| algorithm.computation(id).name.as_str()).collect();
    let carried: BTreeSet<String> = it.carries.iter().map(|&at| short(algorithm, &dependences[at])).collect();
    let mut reasons: Vec<String> = carried.into_iter().collect();
    if reasons.len() > 3 {
        let more = reasons.len() - 3;
        reasons.truncate(3);
        reasons.push(format!("{more} more"));
    }
    let free = reasons.is_empty();
    let way = match it.tag {
        Tag::Sequential if free => "one iteration after the other (it carries no dependence and could run in parallel)".into(),
        Tag::Sequential => {
            let why = of_reductions(algorithm, it, dependences).unwrap_or_default();
            format!("in order, because it carries {}{why}", reasons.join("; "))
        }
        Tag::Parallel => "in parallel on CPU threads: it carries no dependence".into(),
        Tag::Vector(width) => format!("in vectors of {width}: it carries no dependence"),
        Tag::Unroll(factor) => format!("in order, unrolled {factor} times"),
        Tag::Separate => "in order, full tiles apart from partial ones".into(),
        Tag::GpuBlock(axis) => format!("spread over thread blocks along {}: it carries no dependence", axis_name(axis)),
        Tag::GpuThread(axis) => format!("spread over threads along {}: it carries no dependence", axis_name(axis)),
    };
    format!("{} ({}): {way}", it.name, names.join(", "))
}

/// What else to say of a loop that carries nothing but updates of reductions.
fn of_reductions(algorithm: &Algorithm, it: &LoopReport, dependences: &[ReportedDependence]) -> Option<String> {
    let mut found = BTreeSet::new();
    for &at in &it.carries {
        let dependence = &dependences[at].dependence;
        let (source, sink) = (dependence.source.computation, dependence.sink.computation);
        let update = reduction(algorithm, source).filter(|it| source == sink && it.array == dependence.array)?;
        let (name, array) = (&algorithm.computation(source).name, &algorithm.array(update.array).name);
        found.insert(match update.order {
            UpdateOrder::Source => format!(
                "{name} {} {array} in floating point, where only `@fastmath` or `@simd` allows another order",
                update.operator.verb()
            ),
            UpdateOrder::Any => {
                format!("{name} {} {array} in any order, but one update at a time", update.operator.verb())
            }
        });
    }
    Some(format!(": {}", found.into_iter().collect::<Vec<_>>().join("; ")))
}

fn axis_name(axis: ProcessorAxis) -> &'static str {
    match axis {
        ProcessorAxis::X => "x",
        ProcessorAxis::Y => "y",
        ProcessorAxis::Z => "z",
    }
}

/// The inside of `[n] -> {  : n <= 5 }`.
pub fn condition(set: &str) -> String {
    let inside = set.find('{').zip(set.rfind('}')).map(|(open, close)| set[open + 1..close].trim());
    inside.map_or(set, |inside| inside.trim_start_matches(':').trim()).to_string()
}

fn memory(verified: &Verified) -> Vec<String> {
    let algorithm = verified.algorithm();
    let mut lines = vec![];
    for (id, placement) in &verified.layout().placements {
        let buffer = verified.layout().buffer(placement.buffer);
        match algorithm.array(*id).kind {
            ArrayKind::Private | ArrayKind::Local { .. } => {}
            ArrayKind::Argument | ArrayKind::Result => continue,
        }
        let extents: Vec<String> =
            buffer.extents.iter().map(|extent| extent.display(&[], &algorithm.param_names())).collect();
        let place = match (buffer.space, &buffer.lifetime) {
            (MemorySpace::Register, _) => "a register, new in each iteration".to_string(),
            (space, Lifetime::Node(_) | Lifetime::Call | Lifetime::Argument(_)) => {
                let whose = if space == MemorySpace::Global { "GPU" } else { "CPU" };
                let count = if extents.is_empty() { "1".to_string() } else { extents.join(" x ") };
                let why = match algorithm.array(*id).kind {
                    ArrayKind::Private => ", since several iterations' values are alive at once",
                    ArrayKind::Local { .. } | ArrayKind::Argument | ArrayKind::Result => "",
                };
                format!("{whose} memory of {count} elements{why}")
            }
        };
        lines.push(format!("{}: {place}", buffer.name));
    }
    for transfer in verified.transfers() {
        let name = &verified.layout().buffer(transfer.buffer).name;
        lines.push(match transfer.direction {
            Direction::HostToDevice => format!("{name}: copied to the GPU once, before the first kernel"),
            Direction::DeviceToHost => format!("{name}: copied back once, after the last kernel"),
        });
    }
    lines
}
