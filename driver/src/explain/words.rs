//! Names of statements and accesses, and dependences as sentences.

use super::Lines;
use tessella_polyhedral::affine::{Affine, Atom};
use tessella_polyhedral::algorithm::{AccessRef, Algorithm, ComputationId};
use tessella_polyhedral::dependence::{Dependence, DependenceKind};
use tessella_polyhedral::legality::shared_loops;
use tessella_polyhedral::print;
use tessella_polyhedral::reduction::accumulates;
use tessella_polyhedral::report::{Distance, ReportedDependence};
use tessella_polyhedral::verify::Verified;
use tessella_scalar::BinaryOp;

/// `S0 (line 8)`.
pub fn named(algorithm: &Algorithm, id: ComputationId, lines: &Lines) -> String {
    let name = &algorithm.computation(id).name;
    lines.get(&id).map_or_else(|| name.clone(), |line| format!("{name} ({line})"))
}

/// The statement of the source that one is, or is a piece of; `None` for one that storage commands added.
pub fn origin(verified: &Verified, id: ComputationId) -> Option<ComputationId> {
    let pieces = verified.algorithm().whole.as_ref().map(|whole| &whole.piece_of);
    match pieces.and_then(|of| of.get(id.0 as usize)) {
        Some(&whole) => Some(whole),
        None => ((id.0 as usize) < verified.source().computations.len()).then_some(id),
    }
}

/// Where the source has an access that storage commands may have led to a copy, and of which program that is a part.
fn in_source(verified: &Verified, at: AccessRef) -> (&Algorithm, AccessRef) {
    let (algorithm, source) = (verified.algorithm(), verified.source());
    let reads = |algorithm: &Algorithm, id| algorithm.computation(id).reads.len();
    match origin(verified, at.computation) {
        Some(id) if reads(source, id) == reads(algorithm, at.computation) => {
            (source, AccessRef { computation: id, which: at.which })
        }
        _ => (algorithm, at),
    }
}

/// An access as the source has it, where it is one of the source's.
pub fn access(verified: &Verified, at: AccessRef) -> String {
    let (algorithm, at) = in_source(verified, at);
    print::access(algorithm, algorithm.computation(at.computation), algorithm.access(at))
}

/// The array of an access of the source, or of a copy.
pub fn array(verified: &Verified, at: AccessRef) -> &str {
    let (algorithm, at) = in_source(verified, at);
    &algorithm.array(algorithm.access(at).array).name
}

/// `3t + 2j + i`: the iterators of these terms, outermost first, those that are subtracted last; `None` where there are none, or there are quotients.
pub fn sum(terms: &[(Atom, i64)], iterators: &[String]) -> Option<String> {
    let mut found = vec![];
    for (atom, factor) in terms {
        match atom {
            Atom::Iterator(at) => found.push((*at, *factor)),
            Atom::FloorDiv(..) => return None,
            Atom::Param(_) => {}
        }
    }
    found.sort_by_key(|&(at, factor)| (factor < 0, at));
    let mut text = String::new();
    for (at, factor) in found {
        text.push_str(match (text.is_empty(), factor < 0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        });
        if factor.abs() > 1 {
            text.push_str(&factor.abs().to_string());
        }
        text.push_str(&iterators[at as usize]);
    }
    (!text.is_empty()).then_some(text)
}

/// ``62 values of `j` ``: what a loop over tiles takes of one iterator at a time.
pub fn taken(at: &Affine, iterators: &[String]) -> Option<String> {
    let [(Atom::FloorDiv(inner, size), 1)] = at.terms() else { return None };
    let mut involved = (0..iterators.len()).filter(|&iterator| at.involves_iterator(iterator as u32));
    let (Some(only), None) = (involved.next(), involved.next()) else { return None };
    // The nests of a step count, too: `fld(2t, 16)` are eight time steps.
    let count = match inner.terms() {
        [(Atom::Iterator(_), by)] if *by > 1 => size / by,
        _ => *size,
    };
    Some(format!("{count} values of `{}`", iterators[only]))
}

/// Dependences of one kind between two statements, on one array, carried by one loop: one sentence.
struct Group<'a> {
    first: &'a ReportedDependence,
    /// The distances of all members, loop by loop.
    distances: Vec<Distance>,
}

/// A sentence for each pair of statements, array and loop; overwriting that a flow of values already orders is left to
/// one line at the end.
pub fn dependences(algorithm: &Algorithm, all: &[ReportedDependence], lines: &Lines) -> Vec<String> {
    let ends = |it: &Dependence| (it.source.computation, it.sink.computation, it.array);
    let mut groups: Vec<Group<'_>> = vec![];
    let mut implied = 0;
    for item in all {
        let same = |other: &ReportedDependence| {
            ends(&other.dependence) == ends(&item.dependence) && other.carried == item.carried
        };
        let is_flow = |other: &ReportedDependence| other.dependence.kind == DependenceKind::Flow;
        if !is_flow(item) && all.iter().any(|other| is_flow(other) && same(other)) {
            implied += 1;
            continue;
        }
        match groups.iter_mut().find(|group| group.first.dependence.kind == item.dependence.kind && same(group.first)) {
            Some(group) => {
                let both = group.distances.iter().zip(&item.distances);
                group.distances = both.map(|(one, other)| join(*one, *other)).collect();
            }
            None => groups.push(Group { first: item, distances: item.distances.clone() }),
        }
    }
    // Values first, then memory that is used again.
    groups.sort_by_key(|group| group.first.dependence.kind != DependenceKind::Flow);
    let mut sentences: Vec<String> = groups.iter().map(|group| sentence(algorithm, group, lines)).collect();
    match implied {
        0 => {}
        1 => sentences.push(
            "(one more, since memory is overwritten, asks for no more than these; `--emit dependences` lists all)"
                .to_string(),
        ),
        _ => sentences.push(format!(
            "({implied} more, since memory is overwritten, ask for no more than these; `--emit dependences` lists all)"
        )),
    }
    if sentences.is_empty() {
        sentences.push("none: every iteration may run at any time".to_string());
    }
    sentences
}

fn sentence(algorithm: &Algorithm, group: &Group<'_>, lines: &Lines) -> String {
    let dependence = &group.first.dependence;
    let (source, sink) = (dependence.source.computation, dependence.sink.computation);
    let from = named(algorithm, source, lines);
    let to = named(algorithm, sink, lines);
    let place = print::access(algorithm, algorithm.computation(source), algorithm.access(dependence.source));
    let when = when(algorithm, group);
    let own = source == sink;
    match (dependence.kind, accumulates(algorithm.computation(source))) {
        (DependenceKind::Flow, Some(op)) if own => format!("{from} {} the same `{place}` {when}", verb(op)),
        (DependenceKind::Flow, _) if own => format!("{from} writes `{place}` and reads it {when}"),
        (DependenceKind::Flow, _) => format!("{from} writes `{place}`, which {to} reads {when}"),
        (DependenceKind::Anti, _) if own => format!("{from} reads `{place}` and overwrites it {when}"),
        (DependenceKind::Anti, _) => format!("{from} reads `{place}`, which {to} overwrites {when}"),
        (DependenceKind::Output, _) if own => format!("{from} writes `{place}` and overwrites it {when}"),
        (DependenceKind::Output, _) => format!("{from} writes `{place}`, which {to} overwrites {when}"),
    }
}

/// What an accumulation does to the value that it has.
pub fn verb(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Mul => "multiplies into",
        BinaryOp::Sub => "subtracts from",
        BinaryOp::Min | BinaryOp::Max => "compares with",
        _ => "adds to",
    }
}

/// ``1 iteration of `t` later, at `j-1` to `j+1` ``.
fn when(algorithm: &Algorithm, group: &Group<'_>) -> String {
    let dependence = &group.first.dependence;
    let (source, sink) = (dependence.source.computation, dependence.sink.computation);
    let shared = shared_loops(&algorithm.source_order, source, sink);
    let names: Vec<&str> = shared.iter().map(|it| it.name.as_str()).collect();
    let Some(carrier) = group.first.carried.first() else {
        return match names.last() {
            None => "afterwards, in loops that follow".to_string(),
            Some(inner) => format!("later in the same iteration of `{inner}`"),
        };
    };
    let at = names.iter().position(|name| name == carrier).unwrap_or(0);
    let mut text = format!("{} of `{carrier}` later", iterations(group.distances[at]));
    let mut elsewhere: Vec<String> = vec![];
    for (name, distance) in names.iter().zip(&group.distances).skip(at + 1) {
        elsewhere.extend(offset(name, *distance));
    }
    if !elsewhere.is_empty() {
        text.push_str(&format!(", at {}", elsewhere.join(", ")));
    }
    if group.first.carried.len() > 1 {
        text.push_str(&format!(" (or within it, later in {})", quoted(&group.first.carried[1..])));
    }
    text
}

/// Names of which all are meant.
pub fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}

pub fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}

/// How many iterations later.
pub fn iterations(distance: Distance) -> String {
    match distance {
        Distance::Exactly(1) => "1 iteration".to_string(),
        Distance::Exactly(count) => format!("{count} iterations"),
        Distance::Between(low, high) => format!("{} to {high} iterations", low.max(1)),
        Distance::AtLeast(low) => match low.max(1) {
            1 => "1 or more iterations".to_string(),
            low => format!("{low} or more iterations"),
        },
        Distance::AtMost(_) | Distance::Any => "some iterations".to_string(),
    }
}

/// `` `j-1` to `j+1` ``; nothing where it is `j` itself.
fn offset(name: &str, distance: Distance) -> Option<String> {
    let shifted = |by: i64| match by {
        0 => format!("`{name}`"),
        by if by < 0 => format!("`{name}-{}`", by.unsigned_abs()),
        by => format!("`{name}+{by}`"),
    };
    match distance {
        Distance::Exactly(0) => None,
        Distance::Exactly(by) => Some(shifted(by)),
        Distance::Between(low, high) => Some(format!("{} to {}", shifted(low), shifted(high))),
        Distance::AtLeast(low) => Some(format!("{} or later", shifted(low))),
        Distance::AtMost(high) => Some(format!("{} or earlier", shifted(high))),
        Distance::Any => Some(format!("any `{name}`")),
    }
}

/// The smallest range around both.
fn join(one: Distance, other: Distance) -> Distance {
    let low = |distance| match distance {
        Distance::Exactly(value) | Distance::AtLeast(value) | Distance::Between(value, _) => Some(value),
        Distance::AtMost(_) | Distance::Any => None,
    };
    let high = |distance| match distance {
        Distance::Exactly(value) | Distance::AtMost(value) | Distance::Between(_, value) => Some(value),
        Distance::AtLeast(_) | Distance::Any => None,
    };
    let lowest = low(one).zip(low(other)).map(|(a, b)| a.min(b));
    let highest = high(one).zip(high(other)).map(|(a, b)| a.max(b));
    match (lowest, highest) {
        (Some(low), Some(high)) if low == high => Distance::Exactly(low),
        (Some(low), Some(high)) => Distance::Between(low, high),
        (Some(low), None) => Distance::AtLeast(low),
        (None, Some(high)) => Distance::AtMost(high),
        (None, None) => Distance::Any,
    }
}
