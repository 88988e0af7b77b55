//! When isl's scheduler is asked for an order, and whether that order is taken.
//!
//! It is asked where Tessella's own moves leave a statement without threads around all of its loops, or without lanes, or on a GPU without
//! threads at all; its order is
//! looked at where it has loops without dependences that the other lacks. Tessella's moves then start from it as they do
//! from the source's, and [`super::cost`] says which of both is estimated to take less time.

use super::chooser::{Chooser, chain_length, has_loop, loop_at};
use super::cost::iterator_in;
use super::ranged::{is_endless, keeps_ends};
use super::regroup::{self, Grain};
use super::solver::{Fusion, Question, Solved};
use super::wavefront::Inside;
use crate::affine::Affine;
use crate::algorithm::ComputationId;
use crate::default_order::Tilings;
use crate::error::Error;
use crate::layers::Target;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use crate::transform::{loop_mut, put_chain, simplify, split_at, take_chain};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// What isl may do for a program in all, trials included: such a part of what is left when it is first asked, if there is a limit.
const OPERATIONS: u64 = 4_000_000;
const PART: u64 = 2;

/// Another order must promise to take no more than this part of the time: estimates are rough, and the moves are not.
pub(super) const WORTH: f64 = 0.5;

/// One in blocks that go through the steps of a tile must promise less of a gain: what each step does is estimated alike in both.
const WORTH_OF_BLOCKS: f64 = 0.75;

/// On a GPU, one that promises to take so little is enough: no other is looked for.
const ENOUGH: f64 = 0.05;

/// Loops through the points of a tile, and the register tile that their results get.
const POINTS: usize = 3;
const VECTORS: u32 = 2;
const COLUMNS: u32 = 4;

/// What became of asking isl's scheduler for an order.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub computations: Vec<ComputationId>,
    pub outcome: Outcome,
}

/// Estimated times are in cycles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// isl's order is the start of the one that runs, or of its tiles.
    Taken { fusion: Fusion, tiles: Tiles, own: f64, solved: f64 },
    /// It promises too little.
    Slower { own: f64, solved: f64 },
    /// It has no more loops without dependences.
    NoFreer,
    /// It took more work than it may.
    TooMuch,
}

/// Whether the loops of isl's order are tiled, with the diagonals of the tiles on threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tiles {
    Diagonal,
    None,
}

/// What was asked so far, by the order that each nest had then.
#[derive(Debug, Default)]
pub(crate) struct Asking {
    /// Whether an answer is being looked at, which asks for no other.
    is_busy: Cell<bool>,
    /// What isl may still do; `None` before it is asked.
    left: Cell<Option<u64>>,
    all: RefCell<Vec<(Asked, Loops)>>,
}

/// The most loops inside one another.
fn depth(node: &Node) -> usize {
    match node {
        Node::Computation(_) => 0,
        Node::Sequence(children) => children.iter().map(depth).max().unwrap_or(0),
        Node::Loop(it) => 1 + depth(&it.body),
    }
}

/// The loops around each statement.
type Loops = BTreeMap<ComputationId, Vec<(String, Affine)>>;

impl Asking {
    /// What was asked about nests that run in that order in the end.
    pub(crate) fn of(&self, schedule: &Schedule) -> Vec<Asked> {
        let all = self.all.borrow();
        let mut stands: Vec<Asked> = vec![];
        // An order of isl's that was taken inside of what was asked about later stands, whatever came of the latter.
        let taken = |it: &&(Asked, Loops)| matches!(it.0.outcome, Outcome::Taken { .. });
        for (asked, loops) in all.iter().rev().filter(taken).chain(all.iter().rev().filter(|it| !taken(it))) {
            let is_new = stands.iter().all(|it| it.computations.iter().all(|id| !asked.computations.contains(id)));
            if is_new && *loops == loops_of(schedule, &asked.computations) {
                stands.push(asked.clone());
            }
        }
        stands.reverse();
        stands
    }
}

impl Chooser<'_> {
    /// Asks isl's scheduler for an order of what is at `path`, where `schedule` has the order that was chosen for it and `before` the
    /// one from which; takes it where it promises to be faster.
    pub(crate) fn ask(&self, before: &Schedule, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        if self.means.tilings != Tilings::Wanted || self.asking.is_busy.get() {
            return Ok(());
        }
        // A loop that data alone end stays as it is; what is inside of it is asked about by itself.
        if before.node(path).map(|node| is_endless(self.algorithm, node)).transpose()? == Some(true) {
            return Ok(());
        }
        let short = self.short(schedule, path);
        let ranged = self.depends_on_data(before, path)?;
        let alone = short.values().all(|it| it.on_threads)
            && schedule.node(path).is_some_and(|it| it.computations().len() == 1);
        if short.is_empty() || alone || ranged {
            return Ok(());
        }
        let computations = before.node(path).map(Node::computations).unwrap_or_default();
        let share = match self.asking.left.get() {
            Some(left) => left,
            None => self.ctx.operations_left().map_or(OPERATIONS, |left| (left / PART).clamp(1, OPERATIONS)),
        };
        if share == 0 {
            return Ok(());
        }
        self.asking.is_busy.set(true);
        let asked = || (self.answer(before, schedule, path, &short), self.ctx.operations());
        let (answer, used) = self.ctx.with_budget(share, asked);
        self.asking.is_busy.set(false);
        self.asking.left.set(Some(share.saturating_sub(used)));
        let outcome = match answer {
            Ok(None) => return Ok(()),
            Ok(Some((outcome, order))) => {
                if let Some(order) = order {
                    *schedule = order;
                }
                outcome
            }
            Err(error) if error.is_quota() => Outcome::TooMuch,
            Err(other) => return Err(other),
        };
        let loops = loops_of(schedule, &computations);
        self.asking.all.borrow_mut().push((Asked { computations, outcome }, loops));
        Ok(())
    }

    /// The statements below that have no threads around all of their loops, or no lanes, with how many of their loops run in
    /// any order.
    fn short(&self, schedule: &Schedule, path: &Path) -> BTreeMap<ComputationId, Free> {
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        match self.target {
            Target::Cpu => {}
            Target::Gpu => {
                let several = |id: &ComputationId| self.algorithm.computation(*id).iterators.len() > 1;
                let alone = |id: &ComputationId| {
                    several(id) && (self.is_short_of_threads(schedule, path, *id) || self.is_eliminated(*id))
                };
                let free = Free { on_threads: false, on_lanes: true };
                return below.into_iter().filter(alone).map(|id| (id, free)).collect();
            }
        }
        let free = below.into_iter().filter_map(|id| {
            let around = schedule.loops_around(id);
            let tags: Vec<Tag> = around.iter().filter(|(at, _)| path.contains(at)).map(|(_, it)| it.tag).collect();
            let on_threads = *tags.first()? == Tag::Parallel;
            let on_lanes = tags.iter().any(|tag| matches!(tag, Tag::Vector(_)));
            // Results in registers are what sums want most.
            if tags.iter().any(|tag| matches!(tag, Tag::Unroll(_))) && tags.iter().any(|tag| !tag.keeps_order()) {
                return None;
            }
            (!on_threads || !on_lanes).then_some((id, Free { on_threads, on_lanes }))
        });
        free.collect()
    }

    /// The order of a chain in tiles, whose diagonals run on threads and whose points run in register tiles where they can; `None` where it
    /// has none.
    fn in_tiles(&self, mut start: Schedule, path: &Path) -> Result<Option<Schedule>, Error> {
        self.contiguous_inwards(&mut start, path);
        let parts = match self.is_legal(&start, path)? {
            true => self.lanes(&start, path)?,
            false => return Ok(None),
        };
        if !self.wavefront(&mut start, path, Inside::Rows)? {
            return Ok(None);
        }
        for mut trial in self.points_in_registers(&start, path)?.into_iter().chain([start]) {
            self.part(&mut trial, path, &parts);
            if self.is_legal(&trial, path)? {
                return Ok(Some(trial));
            }
        }
        Ok(None)
    }

    /// Moves the loop of the chain at `path` inwards along which most accesses find neighbours; the order is then to be proved.
    fn contiguous_inwards(&self, schedule: &mut Schedule, path: &Path) {
        let depth = chain_length(schedule, path);
        let ids = schedule.node(path).map(Node::computations).unwrap_or_default();
        let mut chain = take_chain(schedule, path, depth);
        let cost = |it: &Loop| self.stride_cost(&ids, |id| it.at.get(&id).cloned());
        if let Some(best) = (0..depth).min_by_key(|&level| cost(&chain[level])) {
            let contiguous = chain.remove(best);
            chain.push(contiguous);
        }
        put_chain(schedule, path, chain);
    }

    /// Which statements of the chain at `path` share an innermost loop that may run on lanes: all, else each part that dependences let
    /// stand alone. Tiles of loops that may be exchanged leave these as they are.
    fn lanes(&self, schedule: &Schedule, path: &Path) -> Result<Vec<Part>, Error> {
        let innermost = path.down(chain_length(schedule, path) - 1);
        let all = schedule.node(&innermost).map(Node::computations).unwrap_or_default();
        let may = |order: &Schedule, at: &Path| {
            let mut trial = order.clone();
            loop_mut(&mut trial, at).tag = Tag::Vector(self.vector_width(order, at));
            self.is_legal(&trial, path)
        };
        if may(schedule, &innermost)? {
            return Ok(vec![Part { statements: all.into_iter().collect(), on_lanes: true }]);
        }
        let grain = Grain::Statements;
        let apart = regroup::take_apart(self.ctx, self.algorithm, schedule, self.dependences, &innermost, grain)?;
        let Some(apart) = apart else {
            return Ok(vec![Part { statements: all.into_iter().collect(), on_lanes: false }]);
        };
        let mut parts = vec![];
        let mut at = innermost.child(0);
        while let Some(node) = apart.node(&at) {
            let statements = node.computations().into_iter().collect();
            parts.push(Part { statements, on_lanes: may(&apart, &at)? });
            *at.0.last_mut().expect("a child has a number") += 1;
        }
        Ok(parts)
    }

    /// Makes a loop of each part out of the innermost loop of the chain at `path`.
    fn part(&self, schedule: &mut Schedule, path: &Path, parts: &[Part]) {
        let innermost = path.down(chain_length(schedule, path) - 1);
        let lanes = self.vector_width(schedule, &innermost);
        let Some(node) = schedule.node_mut(&innermost) else { return };
        let loops = parts.iter().filter_map(|part| match node.restricted(&part.statements)? {
            Node::Loop(it) if part.on_lanes => Some(Node::Loop(Loop { tag: Tag::Vector(lanes), ..it })),
            other => Some(other),
        });
        *node = Node::Sequence(loops.collect());
        simplify(node);
    }

    /// The order with the points of its tiles in register tiles, where three loops run through them and the results stay where they are
    /// along one.
    ///
    /// Rewrite: `for j1 { for k1 { for i1 } } -> for j10 { for i10 { for k1 { for j11 in 0:3 { for i11 in 0:7 } } } }`
    fn points_in_registers(&self, schedule: &Schedule, path: &Path) -> Result<Option<Schedule>, Error> {
        let depth = chain_length(schedule, path);
        // A loop over diagonals and one over each other side of the tiles stand around the points.
        if depth != 2 * POINTS {
            return Ok(None);
        }
        let first = depth - POINTS;
        let lanes = self.vector_width(schedule, &path.down(depth - 1));
        let stays = |level: usize| loop_at(schedule, &path.down(level)).is_some_and(|it| self.results_stay(it));
        let (sums, others): (Vec<usize>, Vec<usize>) = (first..depth - 1).partition(|&level| stays(level));
        let ([sum], [other]) = (sums.as_slice(), others.as_slice()) else { return Ok(None) };
        let mut trial = schedule.clone();
        split_at(self.ctx, self.algorithm, &mut trial, &path.down(depth - 1), VECTORS * lanes)?;
        split_at(self.ctx, self.algorithm, &mut trial, &path.down(*other), COLUMNS)?;
        let mut chain = take_chain(&mut trial, path, depth + 2);
        let points = chain.split_off(first);
        // The loop that was split stands before the sum, as two, or behind it.
        let (columns, sum) = if other < sum { (0, 2) } else { (1, 0) };
        chain.extend([columns, POINTS, sum].map(|at| points[at].clone()));
        chain.push(Loop { tag: Tag::Unroll(COLUMNS), ..points[columns + 1].clone() });
        chain.push(points[POINTS + 1].clone());
        put_chain(&mut trial, path, chain);
        Ok(Some(trial))
    }

    /// Whether the results of some statement stay where they are along a loop.
    pub(super) fn results_stay(&self, it: &Loop) -> bool {
        it.at.iter().any(|(&id, at)| {
            let computation = self.algorithm.computation(id);
            let moves = |it| computation.write.subscripts.iter().any(|at| computation.involves_iterator(at, it));
            iterator_in(at).is_some_and(|it| !moves(it))
        })
    }

    /// The order in blocks that isl's order has, if it promises enough.
    fn blocks(
        &self,
        before: &Schedule,
        path: &Path,
        together: &Solved,
        own: f64,
    ) -> Result<Option<(Outcome, Option<Schedule>)>, Error> {
        let start = with_node(before, path, together.node.clone());
        let half = self.ctx.operations_left().map_or(0, |left| (left / 2).max(1));
        let (solved, order) = match self.ctx.with_budget(half, || self.in_blocks(&start, path)) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(error) if error.is_quota() => return Ok(None),
            Err(other) => return Err(other),
        };
        let taken = Outcome::Taken { fusion: Fusion::Together, tiles: Tiles::Diagonal, own, solved };
        Ok((solved <= own * WORTH_OF_BLOCKS).then_some((taken, Some(order))))
    }

    fn answer(
        &self,
        before: &Schedule,
        own: &Schedule,
        path: &Path,
        short: &BTreeMap<ComputationId, Free>,
    ) -> Result<Option<(Outcome, Option<Schedule>)>, Error> {
        let Some(question) = self.question(before, path)? else { return Ok(None) };
        let on_cpu = self.target == Target::Cpu;
        let own = self.cycles(own, path)?;
        // What isl answers under a kind of fusion that was asked for already.
        let mut answered = BTreeMap::new();
        if !on_cpu {
            let together = self.solved(&question, Fusion::Together)?;
            if let Some(together) = &together
                && let Some(taken) = self.blocks(before, path, together, own)?
            {
                return Ok(Some(taken));
            }
            answered.insert(Fusion::Together, together);
        }
        let mut seen: Vec<Node> = vec![];
        let mut tiled = false;
        let mut best: Option<(f64, (Fusion, Tiles), Schedule)> = None;
        for fusion in Fusion::ALL {
            if !on_cpu && best.as_ref().is_some_and(|(cycles, ..)| *cycles <= own * ENOUGH) {
                break;
            }
            let solved = match answered.remove(&fusion) {
                Some(answer) => answer,
                None => self.solved(&question, fusion)?,
            };
            let Some(solved) = solved else { continue };
            // With more loops than statements have iterators, most iterations of some find nothing to do, which no estimate counts.
            if before.node(path).is_some_and(|node| depth(&solved.node) > depth(node)) {
                continue;
            }
            let freer = is_freer(&solved, short);
            // Steps and diagonals of a GPU need no loop that is free before.
            let freer = freer || !on_cpu;
            let tiles = on_cpu && !tiled && is_one_chain(&solved.node) && short.values().all(|has| !has.on_threads);
            if seen.contains(&solved.node) || (!freer && !tiles) {
                continue;
            }
            seen.push(solved.node.clone());
            let start = with_node(before, path, solved.node);
            if !self.is_legal(&start, path)? || !self.has_place(&start)? {
                continue;
            }
            let mut trials = vec![];
            if freer {
                let mut trial = start.clone();
                self.node(&mut trial, path)?;
                trials.push((Tiles::None, self.cycles(&trial, path)?, trial));
            }
            if tiles {
                tiled = true;
                if let Some(trial) = self.in_tiles(start, path)? {
                    trials.push((Tiles::Diagonal, self.cycles(&trial, path)?, trial));
                }
            }
            for (shape, cycles, trial) in trials {
                if best.as_ref().is_none_or(|(least, _, _)| cycles < *least) && self.has_place(&trial)? {
                    best = Some((cycles, (fusion, shape), trial));
                }
            }
        }
        let Some((solved, (fusion, tiles), order)) = best else { return Ok(Some((Outcome::NoFreer, None))) };
        Ok(Some(match solved <= own * WORTH {
            true => (Outcome::Taken { fusion, tiles, own, solved }, Some(order)),
            false => (Outcome::Slower { own, solved }, None),
        }))
    }

    /// isl's order under a kind of fusion; `None` where it is none that a tree of ours can say, or coefficients would be too large.
    fn solved(&self, question: &Question, fusion: Fusion) -> Result<Option<Solved>, Error> {
        let mut solved = match self.solve(question, fusion) {
            Ok(Some(solved)) => solved,
            Ok(None) => return Ok(None),
            Err(error) if error.is_quota() => return Err(error),
            Err(Error::Isl(_)) => return Ok(None),
            Err(other) => return Err(other),
        };
        simplify(&mut solved.node);
        let kept = keeps_ends(self.algorithm, &question.before, &solved.node);
        Ok(Some(solved).filter(|_| kept))
    }
}

/// The order with another node at `path`.
fn with_node(order: &Schedule, path: &Path, node: Node) -> Schedule {
    let mut changed = order.clone();
    *changed.node_mut(path).expect("the nest is there") = node;
    changed
}

/// Whether several statements share all loops that there are.
fn is_one_chain(node: &Node) -> bool {
    match node {
        Node::Loop(it) => is_one_chain(&it.body),
        Node::Sequence(children) => !children.iter().any(has_loop),
        Node::Computation(_) => false,
    }
}

/// Statements that share an innermost loop.
struct Part {
    statements: BTreeSet<ComputationId>,
    on_lanes: bool,
}

/// What a statement has.
#[derive(Debug, Clone, Copy)]
struct Free {
    on_threads: bool,
    on_lanes: bool,
}

/// Whether isl's order gives some statement what it lacks: a free loop outermost for threads, a second one for lanes, or one that is
/// both.
fn is_freer(solved: &Solved, short: &BTreeMap<ComputationId, Free>) -> bool {
    short.iter().any(|(id, has)| {
        let free = solved.free.get(id).map_or(&[][..], Vec::as_slice);
        let count = free.iter().filter(|it| **it).count();
        (!has.on_threads && free.first() == Some(&true)) || (!has.on_lanes && count > usize::from(free.len() > 1))
    })
}

fn loops_of(schedule: &Schedule, computations: &[ComputationId]) -> Loops {
    let around = |id: ComputationId| {
        let loops = schedule.loops_around(id).into_iter();
        loops.map(|(_, it)| (it.name.clone(), it.at[&id].clone())).collect::<Vec<_>>()
    };
    computations.iter().map(|&id| (id, around(id))).collect()
}
