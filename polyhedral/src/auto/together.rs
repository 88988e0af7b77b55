//! One loop on threads for neighbouring nests that both run on threads, where the second finds in the cache what the first
//! has just used, or where one of them is a single loop that is hardly worth threads of its own.
//!
//! ```text
//! parallel for j { for i { R } }; parallel for i0 { for k { for i1 { S } } }
//!   -> parallel for i0 { for j { for i { R } }; for k { for i1 { S } } }
//! ```
//!
//! Only what leaves the common loop parallel and the loops inside as they are is tried.

use super::chooser::{Chooser, has_loop, loop_at};
use super::cpu::LINE_STRIP;
use super::traffic::{Use, Uses, forecast};
use crate::affine::{Affine, Atom};
use crate::algorithm::{ArrayId, ArrayKind, ComputationId};
use crate::error::Error;
use crate::fresh::fresh_among;
use crate::isl::{DimType, Set};
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use crate::transform::loop_names;
use std::collections::BTreeMap;

/// What a loop is taken to run for, where its iterations depend on sizes.
const TYPICAL: u64 = 1000;

/// How a parallel loop passes through an iterator of each computation below, forwards or backwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grain {
    /// One after the other.
    One,
    /// So many at a time, counted from the iterator's value `-offset`.
    Tiles { size: i64, offset: i64 },
    /// The same, of a single loop whose points run on lanes: another size would do as well.
    Line { offset: i64 },
}

impl Chooser<'_> {
    /// Joins neighbours below `path` that run on threads, where that promises to pay.
    pub(crate) fn join_on_threads(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        match schedule.node(path) {
            None | Some(Node::Computation(_)) => Ok(()),
            Some(Node::Loop(it)) if !it.tag.keeps_order() || self.is_settled(it) => Ok(()),
            Some(Node::Loop(_)) => self.join_on_threads(schedule, &path.child(0)),
            Some(Node::Sequence(_)) => {
                let mut at = 0;
                while let Some(Node::Sequence(children)) = schedule.node(path)
                    && at < children.len()
                {
                    let joined = match self.joined(schedule, path, at)? {
                        None => self.joined_delayed(schedule, path, at)?,
                        joined => joined,
                    };
                    match joined {
                        Some(joined) => *schedule = joined,
                        None => {
                            self.join_on_threads(schedule, &path.child(at))?;
                            at += 1;
                        }
                    }
                }
                Ok(())
            }
        }
    }

    /// The schedule with the child `at` of the sequence at `path` and the next one under one loop.
    fn joined(&self, schedule: &Schedule, path: &Path, at: usize) -> Result<Option<Schedule>, Error> {
        let Some(Node::Sequence(children)) = schedule.node(path) else { return Ok(None) };
        let (Some(Node::Loop(first)), Some(Node::Loop(second))) = (children.get(at), children.get(at + 1)) else {
            return Ok(None);
        };
        let is_open = |it: &Loop| it.tag == Tag::Parallel && !self.is_tagged(it);
        if !is_open(first) || !is_open(second) {
            return Ok(None);
        }
        let (Some(one), Some(other)) = (grain(first), grain(second)) else { return Ok(None) };
        if !self.share_iterations(schedule, path, at)? {
            return Ok(None);
        }
        let common = match (one, other) {
            (Grain::Line { .. }, Grain::Tiles { .. }) => other,
            (Grain::Tiles { .. }, Grain::Line { .. }) => one,
            (Grain::Line { .. }, Grain::Line { .. }) => one,
            // A single loop on lanes would become one of scalars.
            (Grain::Line { .. }, Grain::One) | (Grain::One, Grain::Line { .. }) => return Ok(None),
            (Grain::One, _) if self.saves_traffic(schedule, path, at, other)? => other,
            (_, Grain::One) if self.saves_traffic(schedule, path, at, one)? => one,
            (Grain::Tiles { size: left, .. }, Grain::Tiles { size: right, .. })
                if left == right && self.saves_traffic(schedule, path, at, one)? =>
            {
                one
            }
            (Grain::One | Grain::Tiles { .. }, Grain::One | Grain::Tiles { .. }) => return Ok(None),
        };
        let (Some(left), Some(right)) = (with_grain(first, one, common)?, with_grain(second, other, common)?) else {
            return Ok(None);
        };
        let mut inside = vec![];
        [&left.body, &right.body].into_iter().for_each(|body| loop_names(body, &mut inside));
        let name = fresh_among(if one == common { &first.name } else { &second.name }, &inside);
        let body = Box::new(Node::Sequence(vec![*left.body, *right.body]));
        let functions = left.at.into_iter().chain(right.at).collect();
        let mut trial = schedule.clone();
        let Some(Node::Sequence(children)) = trial.node_mut(path) else { return Ok(None) };
        children.remove(at + 1);
        children[at] = Node::Loop(Loop { name, tag: Tag::Parallel, at: functions, body });
        Ok((self.is_legal(&trial, &path.child(at))? && self.has_place(&trial)?).then_some(trial))
    }

    /// Whether a tenth or more of what the two children move need not move where they share a loop.
    fn saves_traffic(&self, schedule: &Schedule, path: &Path, at: usize, common: Grain) -> Result<bool, Error> {
        let size = match common {
            Grain::One => 1,
            Grain::Tiles { size, .. } => size,
            Grain::Line { .. } => i64::from(LINE_STRIP),
        };
        let [first, second] = [at, at + 1].map(|at| self.arrays_below(schedule, &path.child(at)));
        if !first.iter().any(|array| second.contains(array)) {
            return Ok(false);
        }
        let first = self.uses(schedule, &path.child(at), size)?;
        let second = self.uses(schedule, &path.child(at + 1), size)?;
        // Half of the cache is for what prefetchers bring in, and for other threads of the core.
        let (apart, together) = forecast(&first, &second, self.machine.l2_bytes / 2);
        Ok(together < apart && together <= apart / 10 * 9)
    }

    /// Whether one of the parallel loops at the two children runs through all that the other runs through.
    fn share_iterations(&self, schedule: &Schedule, path: &Path, at: usize) -> Result<bool, Error> {
        let values = |child: usize| -> Result<Option<Set>, Error> {
            let path = path.child(child);
            let mut all: Option<Set> = None;
            for &id in loop_at(schedule, &path).into_iter().flat_map(|it| it.at.keys()) {
                let around = schedule.loops_around(id);
                let up_to_here = around.iter().filter(|(other, _)| other.0.len() <= path.0.len());
                let each: Vec<Affine> = up_to_here.filter_map(|(_, it)| passed(&it.at[&id])).collect();
                let domain = relation::domain(self.algorithm, id)?;
                let next =
                    relation::functions(self.ctx, self.algorithm, id, &each)?.intersect_domain(&domain)?.range()?;
                all = Some(match all {
                    Some(all) if all.dim(DimType::Set)? == next.dim(DimType::Set)? => all.union(&next)?,
                    Some(_) => return Ok(None),
                    None => next,
                });
            }
            Ok(all)
        };
        let (Some(first), Some(second)) = (values(at)?, values(at + 1)?) else { return Ok(false) };
        if first.dim(DimType::Set)? != second.dim(DimType::Set)? {
            return Ok(false);
        }
        // For sizes for which either runs at all.
        let (first, second) = (first.intersect_params(&second.params()?)?, second.intersect_params(&first.params()?)?);
        Ok(first.is_subset(&second)? || second.is_subset(&first)?)
    }

    fn arrays_below(&self, schedule: &Schedule, path: &Path) -> Vec<ArrayId> {
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        let computations = below.iter().map(|&id| self.algorithm.computation(id));
        let accesses = computations.flat_map(|it| it.reads.iter().chain([&it.write]));
        let arrays = accesses.map(|access| access.array);
        arrays.filter(|&array| self.algorithm.array(array).kind != ArrayKind::Private).collect()
    }

    /// What the loop at `path` uses if it passes through `size` values of its iterators at a time.
    pub(crate) fn uses(&self, schedule: &Schedule, path: &Path, size: i64) -> Result<Uses, Error> {
        let Some(Node::Loop(it)) = schedule.node(path) else { return Ok(Uses::new()) };
        let mut uses = Uses::new();
        for (&id, at) in &it.at {
            let computation = self.algorithm.computation(id);
            let around = schedule.loops_around(id);
            let fixed = |iterator: u32| {
                let outer = around.iter().filter(|(other, _)| other.0.len() < path.0.len());
                outer.into_iter().any(|(_, it)| it.at[&id].involves_iterator(iterator))
            };
            let mut extents = vec![];
            for iterator in 0..computation.iterators.len() as u32 {
                let all = match fixed(iterator) && !at.involves_iterator(iterator) {
                    true => 1,
                    false => self.extent_of(id, &Affine::iterator(iterator))?.map_or(TYPICAL, |it| it.max(0) as u64),
                };
                let once = if at.involves_iterator(iterator) { all.min(size as u64) } else { all };
                extents.push((all, once));
            }
            let writes = std::iter::once((&computation.write, true));
            for (access, is_written) in writes.chain(computation.reads.iter().map(|read| (read, false))) {
                let array = self.algorithm.array(access.array);
                if array.kind == ArrayKind::Private {
                    continue;
                }
                let moves =
                    |axis: &usize, iterator: u32| computation.involves_iterator(&access.subscripts[*axis], iterator);
                let axes = 0..access.subscripts.len();
                let involved = |iterator: &usize| axes.clone().any(|axis| moves(&axis, *iterator as u32));
                let bytes = u64::from(array.element.bytes());
                let product = |value: fn(&(u64, u64)) -> u64| {
                    let factors = (0..extents.len()).filter(involved).map(|iterator| value(&extents[iterator]));
                    factors.fold(bytes, u64::saturating_mul)
                };
                let passed =
                    (0..extents.len() as u32).filter(|&iterator| at.involves_iterator(iterator)).collect::<Vec<_>>();
                let along = axes.clone().filter(|axis| passed.iter().any(|&iterator| moves(axis, iterator))).collect();
                let it = match access.is_affine() {
                    true => Use { all: product(|it| it.0), at_a_time: product(|it| it.1), is_written, along },
                    false => {
                        let all = (0..array.rank).fold(bytes, |all, _| all.saturating_mul(TYPICAL));
                        Use { all, at_a_time: all, is_written, along }
                    }
                };
                let known = uses.entry(access.array).or_default();
                *known = known.and(&it);
            }
        }
        Ok(uses)
    }
}

/// The grain of a parallel loop; `None` if it passes through anything but one iterator of each computation.
pub(crate) fn grain(it: &Loop) -> Option<Grain> {
    let mut found = None;
    for at in it.at.values() {
        let one = match at.terms() {
            [(Atom::Iterator(_), 1 | -1)] => Grain::One,
            [(Atom::FloorDiv(inner, size), 1)] if at.constant_term() == 0 => match inner.terms() {
                [(Atom::Iterator(_), 1 | -1)] => Grain::Tiles { size: *size, offset: inner.constant_term() },
                _ => return None,
            },
            _ => return None,
        };
        if found.is_some_and(|known| known != one) {
            return None;
        }
        found = Some(one);
    }
    match found? {
        Grain::Tiles { size, offset } if size == i64::from(LINE_STRIP) && is_points(&it.body) => {
            Some(Grain::Line { offset })
        }
        found => Some(found),
    }
}

/// Whether nothing but single loops on lanes stands here.
fn is_points(node: &Node) -> bool {
    match node {
        Node::Computation(_) => false,
        Node::Loop(it) => matches!(it.tag, Tag::Vector(_)) && !has_loop(&it.body),
        Node::Sequence(children) => children.iter().all(is_points),
    }
}

/// A parallel loop of one grain with another; what it passed through one by one stands just inside.
fn with_grain(it: &Loop, from: Grain, to: Grain) -> Result<Option<Loop>, Error> {
    let tiles = |offset: i64, size: i64, value: &dyn Fn(&Affine) -> Option<Affine>| -> Result<BTreeMap<_, _>, Error> {
        let one = |(id, at): (&ComputationId, &Affine)| {
            let value = value(at).expect("the loop passes through one iterator");
            Ok((*id, value.add_constant(offset)?.floor_div(size)))
        };
        it.at.iter().map(one).collect()
    };
    match (from, to) {
        _ if from == to => Ok(Some(it.clone())),
        (Grain::One, Grain::Tiles { size, offset }) => {
            let at = tiles(offset, size, &|at| Some(at.clone()))?;
            let points = Loop { tag: Tag::Sequential, ..it.clone() };
            Ok(Some(Loop { name: it.name.clone(), tag: it.tag, at, body: Box::new(Node::Loop(points)) }))
        }
        (Grain::Line { .. }, Grain::Tiles { size, offset }) => {
            let at = tiles(offset, size, &passed)?;
            let mut body = it.body.clone();
            let point = |id: &ComputationId| -> Result<Affine, Error> {
                let passed = passed(&it.at[id]).expect("a line passes through one iterator");
                Ok(passed.add_constant(offset)?.modulo(size)?)
            };
            set_points(&mut body, &point)?;
            Ok(Some(Loop { name: it.name.clone(), tag: it.tag, at, body }))
        }
        // Tiles of one size that are counted from different values: legality says whether they fit.
        (Grain::Line { .. }, Grain::Line { .. }) | (Grain::Tiles { .. }, Grain::Tiles { .. }) => Ok(Some(it.clone())),
        (Grain::One | Grain::Tiles { .. } | Grain::Line { .. }, _) => Ok(None),
    }
}

/// Gives single loops on lanes other functions.
fn set_points(node: &mut Node, point: &dyn Fn(&ComputationId) -> Result<Affine, Error>) -> Result<(), Error> {
    match node {
        Node::Computation(_) => Ok(()),
        Node::Loop(it) => it.at.iter_mut().try_for_each(|(id, at)| {
            *at = point(id)?;
            Ok(())
        }),
        Node::Sequence(children) => children.iter_mut().try_for_each(|child| set_points(child, point)),
    }
}

/// What a loop over one iterator, or over tiles of one, passes through: the iterator, with its sign.
fn passed(at: &Affine) -> Option<Affine> {
    match at.terms() {
        [(Atom::FloorDiv(inner, _), 1)] => passed(inner),
        [(Atom::Iterator(position), factor @ (1 | -1))] => Affine::iterator(*position).scale(*factor).ok(),
        _ => None,
    }
}
