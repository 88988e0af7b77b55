//! One loop for neighbouring nests on threads whose rows wait for rows of the one before: stencils in a chain.
//!
//! ```text
//! parallel for j { for i { R(i, j) } }; parallel for j { for i { S(i, j) } }       S(i, j) reads what R(i, j+1) wrote
//!   -> parallel for i0 { for j { for i1 { R(i, j) }; for i1 { S(i, j-1) } } }
//! ```
//!
//! In one loop over the rows, `S` finds in the cache what `R` has just written, if it comes some rows later. That loop then runs
//! in order; threads run strips of the rows instead. So it must be legal, and the rows must only wait for one another
//! within a strip. Of an array that nothing else uses, only a few rows are alive at a time: [`alive`] finds how many, and such
//! an array needs no more memory than that. Strips have their price, since memory is slower where every row begins
//! anew ([`super::traffic`]): mostly they pay only where there is such an array, which then never goes to memory.
//!
//! # Source
//! The shifts are those of Megiddo and Sarkar, *Optimal weighted loop fusion for parallel programs*, SPAA 1997, and of line
//! buffers in image processing.

use super::chooser::{Chooser, has_loop, loop_at};
use super::together::{Grain, grain};
use super::traffic::{Use, alone, forecast, in_strips};
use crate::affine::{Affine, Atom};
use crate::algorithm::{ArrayId, ArrayKind, ComputationId};
use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::fresh::fresh_among;
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use crate::storage;
use crate::transform::loop_names;
use std::collections::BTreeMap;

/// Rows that a nest may come later than the one before.
const LARGEST_DELAY: i64 = 4;
/// Nests in a row that may join though that by itself gains nothing.
const MOST_IDLE: usize = 1;
/// Rows of an array that may be alive at a time.
const MOST_ALIVE: [i64; 3] = [2, 4, 8];

/// A nest that runs through rows on threads, and through the points of each in vectors.
struct Rows<'a> {
    rows: &'a Loop,
    points: Vec<&'a Loop>,
}

impl Chooser<'_> {
    /// The schedule with the child `at` of the sequence at `path` and those after it under strips that go through all their
    /// rows together, each as few rows later as is legal; as many of them as move less than apart.
    pub(crate) fn joined_delayed(
        &self,
        schedule: &Schedule,
        path: &Path,
        at: usize,
    ) -> Result<Option<Schedule>, Error> {
        let Some(Node::Sequence(children)) = schedule.node(path) else { return Ok(None) };
        let is_open = |node: &&Node| matches!(node, Node::Loop(it) if !self.is_tagged(it));
        let all: Vec<Rows<'_>> = children[at..].iter().take_while(is_open).map_while(rows).collect();
        if all.len() < 2 || self.runs_short(&all[0], self.strip_of(&all))? {
            return Ok(None);
        }
        let cache = self.machine.l2_bytes / 2;
        let mut delays = vec![0];
        let mut best = None;
        let mut used = self.uses(schedule, &path.child(at), LARGEST_DELAY)?;
        let mut cost = alone(&used, cache);
        let mut apart = cost;
        let mut idle = 0;
        for member in 1..all.len() {
            let next = self.uses(schedule, &path.child(at + member), LARGEST_DELAY)?;
            let by_itself = alone(&next, cache);
            apart = apart.saturating_add(by_itself);
            let before = cost.saturating_add(by_itself);
            let (_, moved) = forecast(&used, &next, cache);
            for (array, it) in next {
                let known: Option<Use> = used.get(&array).map(|known| known.and(&it));
                used.insert(array, known.unwrap_or(it));
            }
            let members: Vec<ComputationId> = all[..=member].iter().flat_map(|it| it.rows.at.keys().copied()).collect();
            let few = used.iter().filter(|(array, _)| self.is_only_used_by(**array, &members));
            let kept = few.fold(0, |sum: u64, (_, it)| sum.saturating_add(it.traffic(cache)));
            let moved = moved.min(alone(&used, cache)).saturating_sub(kept);
            cost = in_strips(moved, self.strip_bytes(), self.machine.restart_bytes);
            let pays = |than: u64| cost < than && cost <= than / 10 * 9;
            let gains = pays(before) && pays(apart);
            // One that gains nothing may stand between two that do: one that sets an array to zero, say.
            idle = if gains { 0 } else { idle + 1 };
            if idle > MOST_IDLE {
                break;
            }
            let Some((delay, trial)) = self.with_next(schedule, path, at, &all[..=member], &delays)? else { break };
            if gains && self.needs_order(&trial, &path.child(at))? && self.has_place(&trial)? {
                best = Some(trial);
            }
            delays.push(delay);
        }
        Ok(best)
    }

    /// Whether an array is the function's own, and no other statement touches it.
    fn is_only_used_by(&self, array: ArrayId, members: &[ComputationId]) -> bool {
        let touches = |id: &ComputationId| {
            let it = self.algorithm.computation(*id);
            it.reads.iter().chain([&it.write]).any(|access| access.array == array)
        };
        matches!(self.algorithm.array(array).kind, ArrayKind::Local { .. })
            && self.algorithm.ids().filter(touches).all(|id| members.contains(&id))
    }

    /// The strips with the last of some nests as few rows later as is legal.
    fn with_next(
        &self,
        schedule: &Schedule,
        path: &Path,
        at: usize,
        all: &[Rows<'_>],
        delays: &[i64],
    ) -> Result<Option<(i64, Schedule)>, Error> {
        let least = delays.iter().copied().max().unwrap_or(0);
        for delay in least..=least + LARGEST_DELAY {
            let delays: Vec<i64> = delays.iter().copied().chain([delay]).collect();
            let Some(joined) = strips(all, &delays, self.strip_of(all))? else { return Ok(None) };
            let mut trial = schedule.clone();
            let Some(Node::Sequence(children)) = trial.node_mut(path) else { return Ok(None) };
            children.splice(at..at + all.len(), [joined]);
            if self.is_legal(&trial, &path.child(at))? {
                return Ok(Some((delay, trial)));
            }
        }
        Ok(None)
    }

    /// Whether the rows of the strips at `path` must come one after the other: else threads are better off with whole rows.
    fn needs_order(&self, schedule: &Schedule, path: &Path) -> Result<bool, Error> {
        let mut free = schedule.clone();
        if let Some(Node::Loop(rows)) = free.node_mut(&path.child(0)) {
            rows.tag = Tag::Parallel;
        }
        Ok(!self.is_legal(&free, path)?)
    }

    /// Elements of a strip.
    fn strip_of(&self, all: &[Rows<'_>]) -> i64 {
        i64::from(self.strip_elements(all.iter().flat_map(|nest| nest.rows.at.keys()).copied()))
    }

    /// Whether the rows are known to be too short for several strips.
    fn runs_short(&self, first: &Rows<'_>, strip: i64) -> Result<bool, Error> {
        for points in &first.points {
            for (&id, at) in &points.at {
                if self.extent_of(id, at)?.is_some_and(|extent| extent / 4 < strip) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// A nest with rows and points, and no more.
fn rows(node: &Node) -> Option<Rows<'_>> {
    let Node::Loop(rows) = node else { return None };
    let is_points = |node: &Node| match node {
        Node::Loop(it) => matches!(it.tag, Tag::Vector(_)) && !has_loop(&it.body) && it.at.values().all(is_plain),
        Node::Computation(_) | Node::Sequence(_) => false,
    };
    let inside: &[Node] = match &*rows.body {
        Node::Sequence(children) => children,
        one @ (Node::Loop(_) | Node::Computation(_)) => std::slice::from_ref(one),
    };
    let fits = rows.tag == Tag::Parallel && grain(rows) == Some(Grain::One) && rows.at.values().all(is_plain);
    if !fits || !inside.iter().all(is_points) {
        return None;
    }
    let points = inside.iter().filter_map(|node| match node {
        Node::Loop(it) => Some(it),
        Node::Computation(_) | Node::Sequence(_) => None,
    });
    Some(Rows { rows, points: points.collect() })
}

/// Whether a loop runs upwards through an iterator.
fn is_plain(at: &Affine) -> bool {
    matches!(at.terms(), [(Atom::Iterator(_), 1)])
}

/// Strips of the rows of some nests, on threads.
fn strips(all: &[Rows<'_>], delays: &[i64], size: i64) -> Result<Option<Node>, Error> {
    let mut names = vec![];
    let (mut tiles, mut lines, mut body) = (BTreeMap::new(), BTreeMap::new(), vec![]);
    for (nest, &delay) in all.iter().zip(delays) {
        loop_names(&nest.rows.body, &mut names);
        names.push(nest.rows.name.clone());
        for (&id, at) in &nest.rows.at {
            lines.insert(id, at.add_constant(delay)?);
        }
        for points in &nest.points {
            let mut inside = BTreeMap::new();
            for (&id, at) in &points.at {
                // Subscripts count from 1: so strips begin where lines of the cache do.
                let from_first = at.add_constant(-1)?;
                tiles.insert(id, from_first.floor_div(size));
                inside.insert(id, from_first.modulo(size)?);
            }
            body.push((points.name.clone(), Loop { at: inside, ..(*points).clone() }));
        }
    }
    let Some((point, _)) = body.first() else { return Ok(None) };
    let name = fresh_among(&format!("{point}0"), &names);
    let mut inner = vec![];
    for (point, it) in body {
        let name = fresh_among(&format!("{point}1"), &names);
        inner.push(Node::Loop(Loop { name, ..it }));
    }
    let rows =
        Loop { name: all[0].rows.name.clone(), tag: Tag::Sequential, at: lines, body: Box::new(Node::Sequence(inner)) };
    Ok(Some(Node::Loop(Loop { name, tag: Tag::Parallel, at: tiles, body: Box::new(Node::Loop(rows)) })))
}

/// Commands that keep only those rows of a local array in memory which are alive at a time, for each array that the strips
/// of one nest write and read.
///
/// Rewrite: `b[i, j] -> b[i, j % 4]`
pub(crate) fn alive(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence]) -> Result<Vec<Command>, Error> {
    let mut found: Vec<Command> = vec![];
    let algorithm = &scheduled.algorithm;
    for array in (0..algorithm.arrays.len() as u32).map(ArrayId) {
        if !matches!(algorithm.array(array).kind, ArrayKind::Local { .. }) || scheduled.scratch.contains(&array) {
            continue;
        }
        let Some((writer, axis)) = row_axis(scheduled, array) else { continue };
        let names: Vec<String> = (0..algorithm.array(array).rank).map(|at| format!("x{}", at + 1)).collect();
        for rows in MOST_ALIVE {
            let mut map: Vec<Affine> = (0..algorithm.array(array).rank).map(Affine::iterator).collect();
            map[axis] = map[axis].modulo(rows)?;
            let (buffer, iterators) = (algorithm.array(array).name.clone(), names.clone());
            let computation = algorithm.computation(writer).name.clone();
            let command = Command::StoreIn { computation, buffer, iterators, map };
            let all: Vec<Command> = found.iter().chain([&command]).cloned().collect();
            match storage::carry_out(ctx, scheduled.clone(), dependences, &all) {
                Ok(_) => {
                    found.push(command);
                    break;
                }
                Err(storage::Failure { error, .. }) if matches!(*error, Error::Isl(_)) => return Err(*error),
                // More rows are alive.
                Err(_) => {}
            }
        }
    }
    Ok(found)
}

/// A statement that writes an array which lives within delayed rows, and the array's axis that goes from row to row.
fn row_axis(scheduled: &Scheduled, array: ArrayId) -> Option<(ComputationId, usize)> {
    let (algorithm, schedule) = (&scheduled.algorithm, &scheduled.schedule);
    let uses = |id: &ComputationId| {
        let computation = algorithm.computation(*id);
        computation.reads.iter().chain([&computation.write]).any(|access| access.array == array)
    };
    let users: Vec<ComputationId> = algorithm.ids().filter(uses).collect();
    let writer = users.iter().copied().find(|&id| algorithm.computation(id).write.array == array)?;
    let around = schedule.loops_around(writer);
    let [.., (path, rows), _] = around.as_slice() else { return None };
    let strip = loop_at(schedule, &Path(path.0[..path.0.len().checked_sub(1)?].to_vec()))?;
    let delayed = rows.at.values().any(|at| at.constant_term() != 0);
    let inside = users.iter().all(|id| rows.at.contains_key(id));
    if strip.tag != Tag::Parallel || rows.tag != Tag::Sequential || !delayed || !inside {
        return None;
    }
    let computation = algorithm.computation(writer);
    let iterator = match rows.at[&writer].terms() {
        [(Atom::Iterator(iterator), 1)] => *iterator,
        _ => return None,
    };
    let moves = |axis: &usize| computation.involves_iterator(&computation.write.subscripts[*axis], iterator);
    let axes: Vec<usize> = (0..computation.write.subscripts.len()).filter(moves).collect();
    match axes.as_slice() {
        [axis] => Some((writer, *axis)),
        _ => None,
    }
}
