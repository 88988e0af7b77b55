//! Orders and tiles of a nest without time.

use super::predict::{Place, Waiting};
use super::{Candidate, Family, blocks, unless_refused};
use crate::algorithm::Subscript;
use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::models::tiles::Approach;
use crate::models::tiles::fit::Nest;
use crate::transform;

const SIDES: [u32; 5] = [8, 16, 32, 64, 256];
/// What a probe of an order is tiled by.
const PROBE: u32 = 32;
/// An access that strides through memory costs so many times one that does not.
const STRIDED: f64 = 4.0;

/// All orders of the loops that the nest's statements share, tiled or not: the outermost loop that may run on threads does, and
/// the innermost one in vectors where it may.
pub(super) fn tilings(
    ctx: &Ctx,
    start: &Scheduled,
    dependences: &[Dependence],
    nest: &Nest,
    params: &[i64],
) -> Result<Vec<Candidate>, Error> {
    if nest.space.len() < 2 {
        return Ok(vec![]);
    }
    if start.target == Target::Gpu {
        return blocks::tilings(ctx, start, dependences, nest, params);
    }
    let Some(place) = Place::of(ctx, start, nest, params)? else { return Ok(vec![]) };
    let count = nest.space.len();
    let computation = start.algorithm.computation(nest.computations[0]).name.clone();
    let mut all = vec![];
    for order in orders(count) {
        let names: Vec<String> = order.iter().map(|&at| nest.space[at].clone()).collect();
        let exchanged = exchanges(&computation, &nest.space, &names);
        let probe = Probe { ctx, start, dependences, computation: &computation };
        if let Some(tags) = probe.tags(&exchanged, &names, None)? {
            let sizes: Vec<u64> = place.extents.iter().map(|&extent| extent.max(4)).collect();
            all.extend(candidate(&place, start, &order, &sizes, [exchanged.clone(), tags].concat()));
        }
        let Some(tags) = probe.tags(&exchanged, &names, Some(vec![PROBE; count]))? else { continue };
        for sides in sides(&order.iter().map(|&at| place.extents[at]).collect::<Vec<_>>()) {
            let tile = tile(&computation, &names, &sides);
            let mut sizes = vec![1; count];
            order.iter().zip(&sides).for_each(|(&at, &side)| sizes[at] = u64::from(side).min(place.extents[at]));
            let commands = [exchanged.clone(), vec![tile], tags.clone()].concat();
            all.extend(candidate(&place, start, &order, &sizes, commands));
        }
    }
    Ok(all)
}

fn candidate(
    place: &Place<'_>,
    start: &Scheduled,
    order: &[usize],
    sizes: &[u64],
    commands: Vec<Command>,
) -> Option<Candidate> {
    let outermost = order[0];
    let together = (place.extents[outermost] as f64 / sizes[outermost] as f64).ceil();
    let on_threads = commands.iter().any(|it| matches!(it, Command::Parallel { .. }));
    let waiting = Waiting { together: if on_threads { together } else { 1.0 }, barriers: 1.0 };
    let mut predicted = place.predict(Approach::Plain, sizes, waiting)?;
    let strides = 1.0 + (STRIDED - 1.0) * strided(start, place.nest, *order.last()?);
    let in_vectors = commands.iter().any(|it| matches!(it, Command::Vectorize { .. }));
    predicted.time *= if in_vectors { strides } else { 2.0 * strides };
    Some(Candidate { family: Family::Tiles, commands, predicted: Some(predicted) })
}

/// The share of accesses that move along another axis than the contiguous one with the innermost loop.
fn strided(start: &Scheduled, nest: &Nest, innermost: usize) -> f64 {
    let (mut moving, mut all) = (0.0, 0.0);
    for &id in &nest.computations {
        let it = start.algorithm.computation(id);
        let Some(position) = nest.coordinates[&id].get(innermost).and_then(|at| at.as_iterator()) else { continue };
        for access in std::iter::once(&it.write).chain(&it.reads) {
            let outer = start.algorithm.array(access.array).kind.outer() as usize;
            let uses = |subscript: &Subscript| subscript.as_affine().is_none_or(|it| it.involves_iterator(position));
            all += 1.0;
            moving += f64::from(u8::from(access.subscripts.iter().skip(outer + 1).any(uses)));
        }
    }
    if all == 0.0 { 0.0 } else { moving / all }
}

/// A nest on which orders are tried.
pub(super) struct Probe<'a> {
    pub(super) ctx: &'a Ctx,
    pub(super) start: &'a Scheduled,
    pub(super) dependences: &'a [Dependence],
    pub(super) computation: &'a str,
}

impl Probe<'_> {
    /// The tags that go with an order of loops; `None` where the order, or its tiles, are not legal.
    fn tags(
        &self,
        exchanged: &[Command],
        names: &[String],
        sides: Option<Vec<u32>>,
    ) -> Result<Option<Vec<Command>>, Error> {
        let mut now = self.start.clone();
        let tiles = sides.as_ref().map(|sides| tile(self.computation, names, sides));
        for command in exchanged.iter().chain(&tiles) {
            match self.apply(&now, command)? {
                Some(next) => now = next,
                None => return Ok(None),
            }
        }
        let suffix = |name: &String, digit: &str| if sides.is_some() { format!("{name}{digit}") } else { name.clone() };
        let computation = self.computation.to_string();
        let mut tags = vec![];
        for name in names {
            let command = Command::Parallel { computation: computation.clone(), at: suffix(name, "0") };
            if let Some(next) = self.apply(&now, &command)? {
                now = next;
                tags.push(command);
                break;
            }
        }
        let last = names.last().expect("nests have loops");
        let written = self.start.algorithm.computations.iter().find(|it| it.name == *self.computation);
        let bytes = written.map_or(8, |it| self.start.algorithm.array(it.write.array).element.bytes());
        let width = self.start.machine.vector_bytes / bytes;
        let command = Command::Vectorize { computation, at: suffix(last, "1"), width };
        let is_taken = tags.iter().any(|it| matches!(it, Command::Parallel { at, .. } if *at == suffix(last, "1")));
        if !is_taken && self.apply(&now, &command)?.is_some() {
            tags.push(command);
        }
        Ok(Some(tags))
    }

    /// What a command makes; `None` where it is refused.
    pub(super) fn apply(&self, now: &Scheduled, command: &Command) -> Result<Option<Scheduled>, Error> {
        unless_refused(transform::apply(self.ctx, now, self.dependences, command))
    }
}

pub(super) fn tile(computation: &str, names: &[String], sides: &[u32]) -> Command {
    Command::Tile { computation: computation.to_string(), loops: names.to_vec(), sizes: sides.to_vec() }
}

/// Exchanges of neighbours that lead from one order of loops to another.
pub(super) fn exchanges(computation: &str, from: &[String], to: &[String]) -> Vec<Command> {
    let mut now = from.to_vec();
    let mut commands = vec![];
    for (place, wanted) in to.iter().enumerate() {
        let found = now.iter().position(|name| name == wanted).expect("both have the same loops");
        for at in (place + 1..=found).rev() {
            let (outer, inner) = (now[at - 1].clone(), now[at].clone());
            commands.push(Command::Interchange { computation: computation.to_string(), outer, inner });
            now.swap(at - 1, at);
        }
    }
    commands
}

/// All orders of so many loops, the source's first.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..count {
        let longer = all.iter().flat_map(|begun| {
            (0..count).filter(|at| !begun.contains(at)).map(move |at| [begun.as_slice(), &[at]].concat())
        });
        all = longer.collect();
    }
    all
}

/// All tuples of sides that are not much larger than the loops.
fn sides(extents: &[u64]) -> Vec<Vec<u32>> {
    extents.iter().fold(vec![vec![]], |all: Vec<Vec<u32>>, &extent| {
        let useful = move |size: &u32| u64::from(*size) < 2 * extent || *size == SIDES[0];
        let longer = |begun: Vec<u32>| {
            SIDES.into_iter().filter(useful).map(move |size| [begun.as_slice(), &[size]].concat()).collect::<Vec<_>>()
        };
        all.into_iter().flat_map(longer).collect()
    })
}
