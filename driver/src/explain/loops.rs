//! What each loop does, and what stands in the way of more.

use super::Lines;
use super::words::{listed, named, verb};
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::affine::{Affine, Atom};
use tessella_polyhedral::algorithm::{Algorithm, ArrayId, ArrayKind, ComputationId};
use tessella_polyhedral::auto::{self, stream::Candidate};
use tessella_polyhedral::dependence::{DependenceKind, Keeps};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::machine::Gpu;
use tessella_polyhedral::print;
use tessella_polyhedral::reduction::accumulates;
use tessella_polyhedral::report::{self, Carried, Distance, LoopReport, ReportedDependence};
use tessella_polyhedral::schedule::{Loop, Node, Path, ProcessorAxis, StreamSize, Tag};
use tessella_polyhedral::verify::Verified;
use tessella_scalar::BinaryOp;

/// A line for each loop, indented as it is nested, and more below where there is more to say.
pub fn lines(
    ctx: &Ctx,
    verified: &Verified,
    dependences: &[ReportedDependence],
    lines: &Lines,
) -> Result<Vec<String>, Error> {
    let plain: Vec<_> = dependences.iter().map(|item| item.dependence.clone()).collect();
    let reports = report::report_loops(ctx, verified.algorithm(), verified.schedule(), &plain)?;
    let mut text = vec![];
    let mut told_notes = BTreeSet::new();
    for it in &reports {
        let indent = "  ".repeat(depth(verified, &it.path));
        let (way, note) = way(verified, &reports, it, dependences, lines);
        let passes = passes(verified, &it.path);
        text.push(format!("{indent}{} ({}){passes}: {way}", it.name, members(verified, &it.path)));
        if let Tag::Stream(size) = it.tag {
            text.extend(weighed(ctx, verified, &it.path, size)?.into_iter().map(|line| format!("{indent}    {line}")));
        }
        if let Some(note) = note.filter(|note| told_notes.insert(note.clone())) {
            text.push(format!("{indent}    {note}"));
        }
    }
    if text.is_empty() {
        text.push("there are none".to_string());
    } else if reports.iter().any(|it| matches!(it.tag, Tag::Stream(_))) {
        // Its warps share the points.
    } else if reports.iter().all(|it| it.tag.keeps_order()) && reports.iter().any(|it| depth(verified, &it.path) > 0) {
        text.push(
            "No loop runs in parallel. Where loops inside one another all have to wait, the waiting often".to_string(),
        );
        text.push(
            "runs along a diagonal: `skew(S, i, j, 1)` leans `j` against `i`, and after an `interchange`".to_string(),
        );
        text.push("the inner loop may be free. `tessella draw` shows which way the arrows point.".to_string());
    }
    Ok(text)
}

/// As [`lines`], where it takes too long to find out why.
pub fn lines_without_reasons(verified: &Verified) -> Vec<String> {
    let told = report::loops(verified.schedule()).into_iter().map(|it| {
        let indent = "  ".repeat(depth(verified, &it.path));
        let way = at_one_time(it.tag).unwrap_or_else(|| "in order".to_string());
        format!("{indent}{} ({}){}: {way}", it.name, members(verified, &it.path), passes(verified, &it.path))
    });
    let why = "That this breaks no dependence is proved; which loop carries which takes too long to tell.";
    let algorithm = verified.algorithm();
    let in_phases = algorithm.computations.iter().any(|it| it.name.contains("_phase"));
    told.chain([why.to_string()]).chain(in_phases.then(|| HEXAGONS.to_string())).collect()
}

/// How hexagons wait for one another.
const HEXAGONS: &str = "Hexagons over time: their numbers along time run in order, and so do the two phases below each, since a hexagon needs \
                        those before it; those of one phase lie apart and need nothing of one another, so they run in parallel. Inside of \
                        one, time steps run in order, each on what the step before left.";

const FREE: &str = "no iteration needs another one's values or memory";

/// What runs the iterations of a loop at one time; `None` where they keep their order.
fn at_one_time(tag: Tag) -> Option<String> {
    match tag {
        Tag::Parallel => Some(format!("in parallel on CPU threads; {FREE}")),
        Tag::Vector(width) => Some(format!("in SIMD vectors of {width}; {FREE}")),
        Tag::GpuBlock(along) => Some(format!("spread over thread blocks along {}; {FREE}", axis(along))),
        Tag::GpuThread(along) => Some(format!("spread over threads along {}; {FREE}", axis(along))),
        Tag::Sequential | Tag::Stream(_) | Tag::GridSync | Tag::Separate | Tag::Unroll(_) => None,
    }
}

fn axis(axis: ProcessorAxis) -> &'static str {
    match axis {
        ProcessorAxis::X => "x",
        ProcessorAxis::Y => "y",
        ProcessorAxis::Z => "z",
    }
}

/// What the model says of the ways to run a time loop that streams: for each number of steps the best sizes.
fn weighed(ctx: &Ctx, verified: &Verified, path: &Path, chosen: StreamSize) -> Result<Vec<String>, Error> {
    let Some(Node::Loop(it)) = verified.schedule().node(path) else { return Ok(vec![]) };
    let it = Loop { tag: Tag::Sequential, ..it.clone() };
    let all = auto::stream::candidates(ctx, &Gpu::HOPPER, verified.algorithm(), &it, path.0.len())?;
    let mut told = BTreeSet::new();
    let best = all.iter().filter(|candidate| {
        let is_first = told.insert(candidate.size.map(|size| size.steps));
        is_first || candidate.size == Some(chosen)
    });
    let mut best: Vec<&Candidate> = best.collect();
    best.sort_by_key(|candidate| candidate.size);
    let lines = best.into_iter().map(|Candidate { size, bytes, instructions, time }| {
        let way = match size {
            None => "a kernel for each nest and step".to_string(),
            Some(size) => format!("stream({size})"),
        };
        let mark = if *size == Some(chosen) { ", as it is" } else { "" };
        format!("{way}: {bytes:.2} bytes and {instructions:.1} instructions a point and step, {time:.2} ps{mark}")
    });
    Ok(std::iter::once("By the model, of a large array on a Hopper GPU:".to_string()).chain(lines).collect())
}

/// How many loops stand around a path.
fn depth(verified: &Verified, path: &Path) -> usize {
    let above = (0..path.0.len()).map(|depth| Path(path.0[..depth].to_vec()));
    above.filter(|path| matches!(verified.schedule().node(path), Some(Node::Loop(_)))).count()
}

/// What a loop that tiling has made passes through: `, 60 values of `j` at a time` or `, each `j` of these`.
fn passes(verified: &Verified, path: &Path) -> String {
    let Some(Node::Loop(it)) = verified.schedule().node(path) else { return String::new() };
    let one = |(id, at): (&ComputationId, &Affine)| {
        let iterators = &verified.algorithm().computation(*id).iterators;
        let mut involved = (0..iterators.len()).filter(|&iterator| at.involves_iterator(iterator as u32));
        let (Some(only), None) = (involved.next(), involved.next()) else { return String::new() };
        let name = &iterators[only];
        let is_division = |(atom, _): &(Atom, i64)| matches!(atom, Atom::FloorDiv(..));
        // Where threads take every eighth value, say, the loops stand the other way round.
        let around = verified.schedule().loops_around(*id);
        let mut parts = around.iter().filter(|(_, it)| it.at[id].involves_iterator(only as u32)).rev().skip(1);
        if parts.any(|(_, it)| !matches!(it.at[id].terms(), [(Atom::FloorDiv(..), 1)])) {
            return String::new();
        }
        match at.terms() {
            // The nests of a step count, too: `fld(2t, 16)` are eight time steps.
            [(Atom::FloorDiv(inner, size), 1)] => match inner.terms() {
                [(Atom::Iterator(_), by)] if *by > 1 => format!(", {} values of `{name}` at a time", size / by),
                _ => format!(", {size} values of `{name}` at a time"),
            },
            terms if terms.iter().any(is_division) => format!(", each `{name}` of these"),
            _ => String::new(),
        }
    };
    let mut all = it.at.iter().map(one);
    let first = all.next().unwrap_or_default();
    if all.all(|other| other == first) { first } else { String::new() }
}

fn members(verified: &Verified, path: &Path) -> String {
    let below = verified.schedule().node(path).map(Node::computations).unwrap_or_default();
    let names: Vec<&str> = below.iter().map(|&id| verified.algorithm().computation(id).name.as_str()).collect();
    names.join(", ")
}

/// What a loop does and why; and what the source could say to allow more.
fn way(
    verified: &Verified,
    reports: &[LoopReport],
    it: &LoopReport,
    dependences: &[ReportedDependence],
    lines: &Lines,
) -> (String, Option<String>) {
    if is_streamed(verified, &it.path) {
        return ("its points are shared by the warps of the stream".to_string(), None);
    }
    if let Some(way) = at_one_time(it.tag) {
        let shared = if it.tag == Tag::Parallel { shared_arrays(verified, &it.path) } else { vec![] };
        let reuse = match shared.is_empty() {
            true => String::new(),
            false => format!(", and its nests find {} in the cache", listed(&shared)),
        };
        return (format!("{way}{reuse}"), None);
    }
    let turn = match it.tag {
        Tag::Sequential if is_wave(verified, &it.path) => "over diagonals of tiles, in order".to_string(),
        Tag::Sequential | Tag::Parallel | Tag::Vector(_) | Tag::GpuBlock(_) | Tag::GpuThread(_) => {
            "in order".to_string()
        }
        Tag::Stream(size) => format!("in order, {} steps in one pass over the data, in registers", size.steps),
        Tag::GridSync => "in order inside of one kernel, whose blocks wait for each other".to_string(),
        Tag::Separate => "in order, full tiles apart from partial ones".to_string(),
        Tag::Unroll(factor) => format!("in order, {factor} iterations written out at a time"),
    };
    let Some(reason) = strongest(&it.carries, dependences) else {
        let outer = reports.iter().find(|other| {
            let around = other.path != it.path && other.path.contains(&it.path);
            around && matches!(other.tag, Tag::Parallel | Tag::GpuBlock(_) | Tag::GpuThread(_))
        });
        let why = match outer {
            Some(outer) => format!("could run in parallel, but `{}` around it already does", outer.name),
            None => format!("could run in parallel: {FREE}"),
        };
        return (format!("{turn}; {why}"), None);
    };
    let (because, note) = because(verified.algorithm(), reason, dependences, lines);
    let others = others(verified.algorithm(), reason, &it.carries, dependences);
    (format!("{turn}, since {because}{others}{}", behind(verified, &it.path)), note)
}

/// Which statements a loop runs for an iteration that others have already left behind: `; S2 comes 1 iteration behind S1`.
fn behind(verified: &Verified, path: &Path) -> String {
    let Some(Node::Loop(it)) = verified.schedule().node(path) else { return String::new() };
    let mut at: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
    for (id, function) in &it.at {
        if !matches!(function.terms(), [(Atom::Iterator(_), 1)]) {
            return String::new();
        }
        at.entry(function.constant_term()).or_default().push(&verified.algorithm().computation(*id).name);
    }
    let mut groups = at.into_iter();
    let Some((first, ahead)) = groups.next() else { return String::new() };
    let late = groups.map(|(constant, names)| {
        let count = constant - first;
        let s = if count == 1 { "" } else { "s" };
        let come = if names.len() == 1 { "comes" } else { "come" };
        format!("; {} {come} {count} iteration{s} behind {}", names.join(", "), ahead.join(", "))
    });
    late.collect()
}

/// The arrays with the most axes that several nests directly inside a loop use.
fn shared_arrays(verified: &Verified, path: &Path) -> Vec<String> {
    let Some(Node::Sequence(children)) = verified.schedule().node(&path.child(0)) else { return vec![] };
    let algorithm = verified.algorithm();
    let arrays = |child: &Node| -> BTreeSet<ArrayId> {
        let computations = child.computations().into_iter().map(|id| algorithm.computation(id));
        computations
            .flat_map(|it| it.reads.iter().chain([&it.write]).map(|access| access.array).collect::<Vec<_>>())
            .collect()
    };
    let nests = children.iter().filter(|child| !matches!(child, Node::Computation(_)));
    let used: Vec<BTreeSet<ArrayId>> = nests.map(arrays).collect();
    let in_memory = |array: &ArrayId| algorithm.array(*array).kind != ArrayKind::Private;
    let all: BTreeSet<ArrayId> = used.iter().flatten().copied().filter(in_memory).collect();
    let several = all.into_iter().filter(|array| used.iter().filter(|it| it.contains(array)).count() > 1);
    let several: Vec<ArrayId> = several.collect();
    let most = several.iter().map(|&array| algorithm.array(array).rank).max().unwrap_or(0);
    several
        .into_iter()
        .map(|id| algorithm.array(id))
        .filter(|array| array.rank == most)
        .map(|it| it.name.clone())
        .collect()
}

/// Whether a loop around streams.
fn is_streamed(verified: &Verified, path: &Path) -> bool {
    let above = (0..path.0.len()).map(|depth| Path(path.0[..depth].to_vec()));
    above
        .into_iter()
        .any(|path| matches!(verified.schedule().node(&path), Some(Node::Loop(it)) if matches!(it.tag, Tag::Stream(_))))
}

/// Whether a loop runs through sums of tile numbers, with parallel tiles directly inside: a wavefront.
fn is_wave(verified: &Verified, path: &Path) -> bool {
    let Some(Node::Loop(it)) = verified.schedule().node(path) else { return false };
    let counts_diagonals = it.at.values().all(|at| {
        at.terms().len() > 1
            && at.terms().iter().all(|(atom, factor)| *factor == 1 && matches!(atom, Atom::FloorDiv(..)))
    });
    counts_diagonals && matches!(&*it.body, Node::Loop(tiles) if !tiles.tag.keeps_order())
}

/// Values come before memory that is used again; the nearest first.
fn strongest<'a>(carried: &'a [Carried], dependences: &[ReportedDependence]) -> Option<&'a Carried> {
    let rank = |it: &&Carried| {
        let near = match it.distance {
            Distance::Exactly(by) | Distance::AtLeast(by) | Distance::Between(by, _) => by,
            Distance::AtMost(_) | Distance::Any => 1,
        };
        (dependences[it.dependence].dependence.kind != DependenceKind::Flow, near)
    };
    carried.iter().min_by_key(rank)
}

fn because(
    algorithm: &Algorithm,
    reason: &Carried,
    dependences: &[ReportedDependence],
    lines: &Lines,
) -> (String, Option<String>) {
    let dependence = &dependences[reason.dependence].dependence;
    let (source, sink) = (dependence.source.computation, dependence.sink.computation);
    let before = match reason.distance {
        Distance::Exactly(1) => "in the iteration before".to_string(),
        Distance::Exactly(count) => format!("{count} iterations before"),
        Distance::AtLeast(_) | Distance::AtMost(_) | Distance::Between(..) | Distance::Any => {
            "in earlier iterations".to_string()
        }
    };
    let place = |at| print::access(algorithm, algorithm.computation(at), &algorithm.computation(at).write);
    let array = &algorithm.array(dependence.array).name;
    let to = named(algorithm, sink, lines);
    if let (true, Some(op)) = (source == sink, accumulates(algorithm.computation(source))) {
        let text = format!("{to} {} the `{}` that it left {before}", verb(op), place(source));
        return (text, rounding(algorithm, op, &dependences[reason.dependence], lines));
    }
    let from = if source == sink { "it".to_string() } else { named(algorithm, source, lines) };
    let access = print::access(algorithm, algorithm.computation(sink), algorithm.access(dependence.sink));
    let text = match dependence.kind {
        DependenceKind::Flow => format!("{to} reads `{access}`, which {from} wrote {before}"),
        DependenceKind::Anti => format!("{to} overwrites what {from} read of `{array}` {before}"),
        DependenceKind::Output => format!("{to} overwrites what {from} wrote to `{array}` {before}"),
    };
    (text, None)
}

/// What it takes to run a reduction, which a dependence orders, in another order.
fn rounding(algorithm: &Algorithm, op: BinaryOp, reported: &ReportedDependence, lines: &Lines) -> Option<String> {
    let id = reported.dependence.source.computation;
    let computation = algorithm.computation(id);
    let rounds = computation.value.ty.is_float() && !matches!(op, BinaryOp::Min | BinaryOp::Max);
    match (rounds, reported.dependence.keeps) {
        (false, Keeps::Apart | Keeps::Order) => None,
        (true, Keeps::Apart) if computation.fastmath => Some(format!(
            "the source allows another order of these {} (`@fastmath`); the compiler may use it",
            operations(op)
        )),
        (true, Keeps::Apart) => {
            Some(format!("the source allows another order of these {} (`@simd`); `rfactor` uses it", operations(op)))
        }
        (true, Keeps::Order) => {
            let place = lines.get(&id).map_or_else(String::new, |line| match line.starts_with("line ") {
                true => format!(" on {line}"),
                false => format!(" at {line}"),
            });
            Some(format!(
                "{} keep Julia's order, so that they round alike; `@fastmath`{place}{} lets them be taken in another",
                operations(op),
                simd(&computation.iterators, &reported.carried)
            ))
        }
    }
}

/// Where `@simd` would do as well: at the innermost loop of the source, if that has one iterator.
fn simd(iterators: &[String], carried: &[String]) -> String {
    match (iterators.last(), carried) {
        (Some(inner), [carrier]) if inner == carrier => {
            format!(", or `@simd` at the loop over `{inner}` if it has a `for` of its own,")
        }
        _ => String::new(),
    }
}

fn operations(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Mul => "products",
        BinaryOp::Sub => "differences",
        _ => "sums",
    }
}

/// How much else is in the way.
fn others(algorithm: &Algorithm, told: &Carried, carried: &[Carried], dependences: &[ReportedDependence]) -> String {
    let ends = |it: &Carried| {
        let dependence = &dependences[it.dependence].dependence;
        (dependence.source.computation, dependence.sink.computation, dependence.array)
    };
    let mut seen = vec![ends(told)];
    for it in carried {
        if !seen.contains(&ends(it)) {
            seen.push(ends(it));
        }
    }
    let rest: Vec<String> = seen[1..]
        .iter()
        .map(|(source, sink, array)| {
            let name = |id: ComputationId| &algorithm.computation(id).name;
            format!("{} after {} on `{}`", name(*sink), name(*source), algorithm.array(*array).name)
        })
        .collect();
    match rest.as_slice() {
        [] => String::new(),
        [one] => format!("; also {one}"),
        [one, two] => format!("; also {one}, {two}"),
        [one, two, more @ ..] => format!("; also {one}, {two}, and {} more", more.len()),
    }
}
