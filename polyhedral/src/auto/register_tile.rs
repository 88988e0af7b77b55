//! Register and cache tiles for nests that accumulate: a sequential loop `k` over which a tile of results stays in
//! registers, spread over SIMD lanes along `v` and spelled out along `u`.
//!
//! ```text
//! for j { for k { for i { C[i,j] += A[i,k]*B[k,j] } } }
//!   -> for j0 { for k0 { for i0 { for j10 { for i10 { for k1 { for j11 in 0:7 { for i11 in 0:23 { .. } } } } } } } }
//! ```
//!
//! # Source
//! Goto and van de Geijn, *Anatomy of high-performance matrix multiplication*, TOMS 34(3), 2008, for the order of the
//! tile loops; no packing.

use super::lanes;
use super::profile::{Profiled, Step, has_vector_form, operations, profile};
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::Ctx;
use crate::machine::Machine;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use crate::transform::{put_chain, split_at, take_chain};

/// Iterations of `k` whose operands stay in the first caches.
const DEPTH: u32 = 256;
/// Iterations of `u` for which a block of `v` and `k` is used again.
const WIDTH: u32 = 64;
/// Loops of this many iterations are passed through inside a tile.
const SHORT: i64 = 32;
/// Bytes of a strip of results that a streaming nest passes over again and again.
const STRIP_BYTES: u32 = 8192;
/// Columns that a streaming nest takes at a time.
const STREAMS: u32 = 4;
/// Independent scalar sums that hide an addition's latency.
const CHAINS: u32 = 8;

/// The shape chosen for a nest; levels count from the outermost loop of its chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Registers hold `vectors * lanes` results along `v` times `unrolled` along `u`.
    Matrix { v: Option<usize>, u: Option<usize>, k: usize, vectors: u32, lanes: u32, unrolled: u32 },
    /// Results stream: a strip along `v`, some iterations of `k` at a time.
    Stream { v: usize, k: usize, lanes: u32, strip: u32 },
}

/// A nest in question.
pub struct Nest<'a> {
    pub ctx: &'a Ctx,
    pub algorithm: &'a Algorithm,
    pub machine: &'a Machine,
    pub path: &'a Path,
    pub depth: usize,
    /// Levels that may run in any order, each taken alone.
    pub parallel: Vec<usize>,
    /// Iterations of each level, where that is a number.
    pub extents: Vec<Option<i64>>,
}

/// The shape that promises most, if the nest accumulates over one of its loops and has a parallel one.
pub fn choose(nest: &Nest<'_>, schedule: &Schedule) -> Option<Shape> {
    let mut scratch = schedule.clone();
    let chain = take_chain(&mut scratch, nest.path, nest.depth);
    let body = computations_at(schedule, &nest.path.down(nest.depth))?;
    let accesses = profile(nest.algorithm, &chain, &body)?;
    let serial: Vec<usize> = (0..nest.depth).filter(|level| !nest.parallel.contains(level)).collect();
    // The innermost loop that leaves all results where they are; else some of them.
    let stays = |level: usize| accesses.iter().filter(|it| it.is_write).map(move |it| it.steps[level] == Step::Stays);
    let all = serial.iter().rev().find(|&&level| stays(level).all(|stays| stays));
    let k = *all.or_else(|| serial.iter().rev().find(|&&level| stays(level).any(|stays| stays)))?;
    // Sums of neighbours get lanes of their own (`lanes.rs`), where no loop finds neighbours of other sums.
    let has_neighbours = |level: usize| accesses.iter().any(|it| !it.is_write && it.steps[level] == Step::Next);
    let in_lanes = body.iter().all(|&id| lanes::is_free_sum(nest.algorithm, id));
    if in_lanes && has_neighbours(k) && !nest.parallel.iter().any(|&level| has_neighbours(level)) {
        return None;
    }
    let bytes = body.iter().map(|&id| element_bytes(nest.algorithm, id)).max()?;
    let lanes = nest.machine.vector_bytes / bytes;
    let vector = lanes > 1 && body.iter().all(|&id| has_vector_form(nest.algorithm, id));
    let work: u32 = body.iter().map(|&id| operations(nest.algorithm, id)).sum();
    let weigh = Weigh { accesses: &accesses, k, work, registers: nest.machine.vector_registers };
    // Lanes hold neighbours, or any elements that `k` leaves in registers.
    let along = |level: usize| {
        accesses
            .iter()
            .filter(|it| it.is_write)
            .all(|it| it.steps[level] == Step::Next || (it.steps[level] != Step::Stays && it.steps[k] == Step::Stays))
    };
    let mut best: Option<(f64, Shape)> = None;
    let mut consider = |shape: Shape, cost: f64| {
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, shape));
        }
    };
    let lines = nest.parallel.iter().map(|&level| Some(level)).chain([None]);
    for v in lines.filter(|v| v.is_none_or(|level| vector && along(level))) {
        let others = (0..nest.depth).filter(|&level| level != k).map(Some).chain([None]);
        for u in others.filter(|&u| u != v || u.is_none()) {
            // Iterations that update the same results make no more chains of them.
            let adds_chains = |u: usize| accesses.iter().any(|it| it.is_write && it.steps[u] != Step::Stays);
            if v.is_none() && !u.is_some_and(adds_chains) {
                continue;
            }
            for (vectors, unrolled) in weigh.sizes(v, u) {
                let shape = Shape::Matrix { v, u, k, vectors, lanes: if v.is_some() { lanes } else { 1 }, unrolled };
                consider(shape.clone(), weigh.cost(&shape));
            }
        }
        if let Some(v) = v.filter(|&v| weigh.streams(v)) {
            let strip = STRIP_BYTES / bytes;
            let shape = Shape::Stream { v, k, lanes, strip };
            consider(shape.clone(), weigh.cost(&shape));
        }
    }
    best.map(|(_, shape)| shape)
}

/// Whether a shape reuses what it loads: worth tearing nests apart for.
pub fn is_product(shape: &Shape) -> bool {
    matches!(shape, Shape::Matrix { v: Some(_), u: Some(_), .. })
}

struct Weigh<'a> {
    accesses: &'a [Profiled<'a>],
    k: usize,
    work: u32,
    registers: u32,
}

impl Weigh<'_> {
    /// Register tiles that fit, as vectors along `v` and iterations along `u`.
    fn sizes(&self, v: Option<usize>, u: Option<usize>) -> Vec<(u32, u32)> {
        let results = self.accesses.iter().filter(|it| it.is_write).count() as u32;
        let all: &[(u32, u32)] = match (v, u) {
            (Some(_), Some(_)) => &[(1, 4), (1, 8), (2, 4), (2, 6), (2, 8), (3, 4), (3, 8), (4, 4)],
            (Some(_), None) => &[(2, 1), (4, 1), (8, 1)],
            (None, Some(_)) => &[(1, CHAINS)],
            (None, None) => &[],
        };
        all.iter().copied().filter(|(a, b)| v.is_none() || a * b * results + a + 2 <= self.registers).collect()
    }

    /// Rough cycles for one result and one iteration of `k`.
    fn cost(&self, shape: &Shape) -> f64 {
        let (v, u, vectors, unrolled, lanes) = match *shape {
            Shape::Matrix { v, u, vectors, lanes, unrolled, .. } => (v, u, vectors, unrolled, lanes),
            Shape::Stream { v, lanes, .. } => (Some(v), None, 4, 1, lanes),
        };
        let (vectors, unrolled, lanes) = (f64::from(vectors), f64::from(unrolled), f64::from(lanes));
        let steps = |it: &Profiled<'_>, level: Option<usize>| level.map_or(Step::Stays, |level| it.steps[level]);
        let gathers = !self.accesses.iter().any(|it| !it.is_write && steps(it, v) == Step::Next);
        let mut cost = 0.0;
        for it in self.accesses {
            let times = match (steps(it, v), steps(it, u)) {
                (Step::Stays, Step::Stays) => 1.0,
                (Step::Stays, _) => unrolled,
                (_, Step::Stays) => vectors,
                (_, _) => vectors * unrolled,
            };
            let one = match steps(it, v) {
                Step::Stays | Step::Next => 1.0,
                Step::Back | Step::Jumps => 1.8 * lanes,
            };
            cost += match (it.is_write, shape) {
                // Stored once, which costs less side by side, also where a tile is not full: that decides where nothing that is
                // read lies side by side.
                (true, Shape::Matrix { .. }) if it.steps[self.k] == Step::Stays && gathers => 0.01 * times * one,
                (true, Shape::Matrix { .. }) if it.steps[self.k] == Step::Stays => 0.0,
                (true, Shape::Matrix { .. }) => 2.0 * times * one,
                // Loaded and stored once in STREAMS iterations.
                (true, Shape::Stream { .. }) => 2.0 * times * one / f64::from(STREAMS),
                (false, _) => times * one,
            };
            // Every iteration of `k` on another page, a few bytes of it: no prefetcher follows.
            let used_once = u.is_none() || steps(it, u) != Step::Stays;
            let scattered = used_once && it.steps[self.k] == Step::Jumps && steps(it, v) == Step::Next;
            if scattered && matches!(shape, Shape::Matrix { .. }) {
                cost += 6.0 * times;
            }
        }
        // Fewer independent sums than hide the latency of an addition leave units idle.
        let chains = vectors * unrolled;
        let stall = (8.0 / chains).max(1.0);
        (cost.max(f64::from(self.work) * chains * 0.5 * stall) + 0.25 * cost) / (chains * lanes)
    }

    /// Whether every element along `v` is used just once, so that nothing is gained by keeping it.
    fn streams(&self, v: usize) -> bool {
        self.accesses.iter().any(|it| !it.is_write && it.steps[v] == Step::Next && it.steps[self.k] == Step::Jumps)
            && self.accesses.iter().all(|it| matches!(it.steps[v], Step::Stays | Step::Next))
            && self.accesses.iter().filter(|it| it.is_write).all(|it| it.steps[self.k] == Step::Stays)
    }
}

/// Iterations of each loop of a product whose operands stay in the second-level cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    pub u: u32,
    pub v: u32,
    /// `None`: all of the loop.
    pub k: Option<u32>,
}

impl Blocks {
    /// The usual ones: a part of one operand fills half of the cache. `None` where a shape keeps no operand.
    pub fn usual(nest: &Nest<'_>, shape: &Shape) -> Option<Blocks> {
        let Shape::Matrix { v: Some(_), u: Some(_), k, vectors, lanes, unrolled } = *shape else { return None };
        let is_long = nest.extents[k].is_none_or(|extent| extent > i64::from(DEPTH));
        let v = block_rows(nest, vectors * lanes);
        Some(Blocks { u: WIDTH / unrolled * unrolled, v, k: is_long.then_some(DEPTH) })
    }
}

/// The nest in a shape, tags included; its legality is for the caller to prove.
pub fn apply(nest: &Nest<'_>, schedule: &Schedule, shape: &Shape, blocks: Option<Blocks>) -> Result<Schedule, Error> {
    let mut tree = schedule.clone();
    let mut sizes: Vec<Vec<u32>> = vec![vec![]; nest.depth];
    match *shape {
        Shape::Matrix { v, u, k, vectors, lanes, unrolled } => {
            let points = vectors * lanes;
            if let Some(u) = u {
                sizes[u] = blocks.iter().map(|it| it.u).chain([unrolled]).collect();
            }
            if let Some(v) = v {
                sizes[v] = blocks.iter().map(|it| it.v).chain([points]).collect();
            }
            sizes[k] = blocks.and_then(|it| it.k).into_iter().collect();
        }
        Shape::Stream { v, k, strip, .. } => {
            sizes[v] = vec![strip];
            sizes[k] = vec![STREAMS];
        }
    }
    for level in (0..nest.depth).rev() {
        for (part, size) in sizes[level].iter().enumerate() {
            split_at(nest.ctx, nest.algorithm, &mut tree, &nest.path.down(level + part), *size)?;
        }
    }
    let total = nest.depth + sizes.iter().map(Vec::len).sum::<usize>();
    let mut parts: Vec<Vec<Loop>> = vec![vec![]; nest.depth];
    let mut chain = take_chain(&mut tree, nest.path, total).into_iter();
    for level in 0..nest.depth {
        parts[level].extend(chain.by_ref().take(sizes[level].len() + 1));
    }
    let ordered = order(nest, shape, parts);
    put_chain(&mut tree, nest.path, ordered);
    Ok(tree)
}

/// Iterations of `v` whose part of an operand, `DEPTH` deep, fills half of the second-level cache.
fn block_rows(nest: &Nest<'_>, points: u32) -> u32 {
    let rows = nest.machine.l2_bytes / 2 / u64::from(DEPTH) / 8;
    ((rows as u32 / points).max(1)) * points
}

/// Tile loops outside, `k`, then the points of the register tile.
fn order(nest: &Nest<'_>, shape: &Shape, mut parts: Vec<Vec<Loop>>) -> Vec<Loop> {
    let mut chain = vec![];
    let (v, u, k) = match *shape {
        Shape::Matrix { v, u, k, .. } => (v, u, k),
        Shape::Stream { v, k, .. } => (Some(v), None, k),
    };
    let chosen = |level: usize| Some(level) == v || Some(level) == u || level == k;
    // Loops of no role stay outside, in the source's order; short ones over which results accumulate go inside the tiles.
    let short = |level: usize| {
        let few = |level: usize| nest.extents[level].is_some_and(|extent| extent <= SHORT);
        !nest.parallel.contains(&level) && few(level) && few(k)
    };
    let (inner, outer): (Vec<usize>, Vec<usize>) =
        (0..nest.depth).filter(|&level| !chosen(level)).partition(|&level| level > k || short(level));
    for level in outer {
        chain.append(&mut parts[level]);
    }
    let points = |level: Option<usize>, parts: &mut Vec<Vec<Loop>>| level.and_then(|level| parts[level].pop());
    match *shape {
        Shape::Matrix { lanes, unrolled, .. } => {
            let mut u_point = points(u, &mut parts);
            let mut v_point = points(v, &mut parts);
            if let Some(it) = &mut u_point {
                it.tag = Tag::Unroll(unrolled);
            }
            if let Some(it) = &mut v_point {
                it.tag = Tag::Vector(lanes);
            }
            let k_point = parts[k].pop();
            let mut tiles: Vec<std::collections::VecDeque<Loop>> =
                [u, Some(k), v].iter().flatten().map(|&level| std::mem::take(&mut parts[level]).into()).collect();
            while tiles.iter().any(|it| !it.is_empty()) {
                chain.extend(tiles.iter_mut().filter_map(|it| it.pop_front()));
            }
            inner.iter().for_each(|&level| chain.append(&mut parts[level]));
            chain.extend(k_point);
            chain.extend(u_point);
            chain.extend(v_point);
        }
        Shape::Stream { v, k, lanes, .. } => {
            let k_point = parts[k].pop().map(|it| Loop { tag: Tag::Unroll(STREAMS), ..it });
            let v_point = parts[v].pop().map(|it| Loop { tag: Tag::Vector(lanes), ..it });
            chain.append(&mut parts[v]);
            inner.iter().for_each(|&level| chain.append(&mut parts[level]));
            chain.append(&mut parts[k]);
            chain.extend(v_point);
            chain.extend(k_point);
        }
    }
    chain
}

/// The computations at a node that has no loops.
fn computations_at(schedule: &Schedule, path: &Path) -> Option<Vec<ComputationId>> {
    match schedule.node(path)? {
        Node::Computation(id) => Some(vec![*id]),
        Node::Loop(_) => None,
        Node::Sequence(children) => children
            .iter()
            .map(|child| match child {
                Node::Computation(id) => Some(*id),
                Node::Loop(_) | Node::Sequence(_) => None,
            })
            .collect(),
    }
}

fn element_bytes(algorithm: &Algorithm, id: ComputationId) -> u32 {
    algorithm.array(algorithm.computation(id).write.array).element.bytes()
}
