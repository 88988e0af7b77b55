//! Sums on a GPU that one thread adds up in the source's order, as nothing else may run beside it.
//!
//! Such a thread waits for each load unless others are under way meanwhile. So it gets a block of threads that bring tiles of what it
//! adds to shared memory, some tiles ahead of it:
//!
//! ```text
//! s = 0; for j { for i { s += A[i, j] } }; t = 2s
//!   -> @block { @thread { s = 0 }; for j { for i0 { load A; @thread { for i1 { s += A_shared[i1] } } } }; @thread { t = 2s } }
//! ```
//!
//! Where tiles cannot be had, the loop is unrolled so far that half of the thread's registers can be loads under way. The additions
//! keep their order.
//!
//! # Source
//! Baghdadi et al., *Tiramisu*, CGO 2019, section 4.3.2, for more threads than results.

use super::chooser::{Chooser, has_loop, loop_at};
use super::profile::{Step, iterator_of, step};
use crate::affine::Affine;
use crate::algorithm::{Access, ArrayId, ArrayKind, ComputationId};
use crate::default_order::Memory;
use crate::error::Error;
use crate::fresh::fresh_among;
use crate::machine::Gpu;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::split_at;
use std::collections::{BTreeMap, BTreeSet};
use tessella_scalar::ScalarType;

/// Bytes of an array that are on their way together: half of a thread's registers.
const IN_FLIGHT: u32 = 512;
/// The most statements of a loop that is unrolled so far.
const STATEMENTS: usize = 4;
/// Bytes of an array that pass through shared memory together.
const TILE_BYTES: u32 = 4096;

/// The arrays that a sum reads along its loop, and the bytes of the widest element.
struct Terms {
    arrays: BTreeSet<ArrayId>,
    bytes: u32,
    /// Whether a tile of each can be brought to shared memory.
    tiled: bool,
}

impl Chooser<'_> {
    /// Brings the terms closer of sums that neither lie in loops of threads nor hold any.
    pub(crate) fn load_ahead_alone(&self, schedule: &mut Schedule) -> Result<(), Error> {
        self.alone(schedule, &Path::default())
    }

    fn alone(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        match schedule.node(path) {
            None => Ok(()),
            Some(node) if self.is_alone(node) => self.one_block(schedule, path),
            Some(Node::Sequence(children)) => {
                // Neighbours are one kernel.
                let parts = children.chunk_by(|a, b| self.is_alone(a) && self.is_alone(b)).map(<[Node]>::to_vec);
                let parts: Vec<Node> =
                    parts.map(|mut it| if it.len() == 1 { it.remove(0) } else { Node::Sequence(it) }).collect();
                let count = parts.len();
                if let Some(node) = schedule.node_mut(path) {
                    *node = Node::Sequence(parts);
                }
                (0..count).try_for_each(|part| self.alone(schedule, &path.child(part)))
            }
            Some(Node::Loop(it)) if it.tag == Tag::Sequential && !self.is_settled(it) && !self.is_tagged(it) => {
                self.alone(schedule, &path.child(0))
            }
            Some(Node::Loop(_) | Node::Computation(_)) => Ok(()),
        }
    }

    /// Whether all here and below is for one thread to run in order, and ours to arrange.
    fn is_alone(&self, node: &Node) -> bool {
        match node {
            Node::Computation(_) => true,
            Node::Sequence(children) => children.iter().all(|child| self.is_alone(child)),
            Node::Loop(it) => {
                it.tag == Tag::Sequential && !self.is_settled(it) && !self.is_tagged(it) && self.is_alone(&it.body)
            }
        }
    }

    /// Brings the terms closer of all sums at `path`, which one thread runs.
    fn one_block(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        let Some(node) = schedule.node(path) else { return Ok(()) };
        let ids = node.computations();
        let written: BTreeSet<ArrayId> = ids.iter().map(|&id| self.algorithm.computation(id).write.array).collect();
        let is_ranged = ids.iter().any(|&id| !self.algorithm.computation(id).ranged.is_empty());
        let mut sums = vec![];
        self.find_sums(node, path, &mut sums);
        let mut staged = BTreeSet::new();
        let mut left = i64::from(Gpu::HOPPER.shared_bytes_of_block) / 2;
        for (at, terms) in &sums {
            let length = self.extents(schedule, at, 1)?[0].unwrap_or(i64::MAX);
            let size = TILE_BYTES / terms.bytes;
            let bytes = terms.arrays.len() as i64 * i64::from(TILE_BYTES + terms.bytes);
            let pays = self.means.memory != Memory::Plain && !is_ranged && length >= i64::from(size);
            if pays && terms.tiled && terms.arrays.is_disjoint(&written) && bytes <= left {
                left -= bytes;
                split_at(self.ctx, self.algorithm, schedule, at, size)?;
                staged.insert(at.clone());
            }
        }
        for (at, terms) in &sums {
            let at = if staged.contains(at) { at.child(0) } else { at.clone() };
            if let Some(Node::Loop(it)) = schedule.node_mut(&at) {
                it.tag = Tag::Unroll(IN_FLIGHT / terms.bytes);
            }
        }
        if let Some(node) = schedule.node(path).filter(|_| !staged.is_empty()) {
            let names = names(schedule, path);
            let whole = Node::Sequence(in_one_thread(node, path, &staged, &names));
            let block = at_zero(fresh_among("block", &names), Tag::GpuBlock(ProcessorAxis::X), whole);
            if let Some(node) = schedule.node_mut(path) {
                *node = block;
            }
        }
        Ok(())
    }

    /// The loops at `path` and below that do nothing but sum.
    fn find_sums(&self, node: &Node, path: &Path, found: &mut Vec<(Path, Terms)>) {
        match node {
            Node::Computation(_) => {}
            Node::Sequence(children) => {
                children.iter().enumerate().for_each(|(at, child)| self.find_sums(child, &path.child(at), found));
            }
            Node::Loop(it) => match self.terms(it) {
                Some(terms) => found.push((path.clone(), terms)),
                None => self.find_sums(&it.body, &path.child(0), found),
            },
        }
    }

    /// What an innermost loop reads on its way; `None` if it does anything but sum.
    fn terms(&self, it: &Loop) -> Option<Terms> {
        if has_loop(&it.body) {
            return None;
        }
        let below = it.body.computations();
        let all = below.iter().map(|&id| self.terms_of(it, id)).collect::<Option<Vec<_>>>()?;
        let reads: Vec<(ComputationId, &Access, u32)> = all.into_iter().flatten().collect();
        let bytes = reads.iter().map(|(_, read, _)| self.algorithm.array(read.array).element.bytes()).max()?;
        // Statements of one loop read alike: the same elements by the same subscripts.
        let alike = |a: &Access, b: &Access| a.array != b.array || a.subscripts == b.subscripts;
        let tiled = reads.iter().all(|(id, read, along)| {
            self.has_tiles(*id, read, *along) && reads.iter().all(|(_, other, _)| alike(read, other))
        });
        let arrays = reads.iter().map(|(_, read, _)| read.array).collect();
        Some(Terms { arrays, bytes, tiled }).filter(|_| below.len() <= STATEMENTS)
    }

    /// The same of one statement, with the iterator that the loop runs through. What it writes stays where it is, and what it reads is
    /// written by none of the loop's statements: else no load could begin before the store in front of it.
    fn terms_of(&self, it: &Loop, id: ComputationId) -> Option<Vec<(ComputationId, &Access, u32)>> {
        let computation = self.algorithm.computation(id);
        let (along, _) = it.at.get(&id).and_then(iterator_of)?;
        if computation.predicate.is_some() || !computation.ranged.is_empty() {
            return None;
        }
        let written = &computation.write;
        let is_written = |read: &Access| read.array == written.array && read.subscripts == written.subscripts;
        // Conditions may end a loop.
        let of_numbers = self.algorithm.array(written.array).element != ScalarType::Bool;
        let adds = of_numbers && computation.reads.iter().any(is_written);
        if !adds || step(self.algorithm, id, written, along) != Step::Stays {
            return None;
        }
        let mut terms = vec![];
        for read in computation.reads.iter().filter(|read| !is_written(read)) {
            if self.algorithm.array(read.array).kind == ArrayKind::Private {
                continue;
            }
            if !read.is_affine()
                || it.at.keys().any(|&other| self.algorithm.computation(other).write.array == read.array)
            {
                return None;
            }
            if step(self.algorithm, id, read, along) != Step::Stays {
                terms.push((id, read, along));
            }
        }
        Some(terms)
    }

    /// Whether so many iterations of a loop read as many neighbours along one axis.
    fn has_tiles(&self, id: ComputationId, read: &Access, along: u32) -> bool {
        let computation = self.algorithm.computation(id);
        let moving: Vec<_> = read.subscripts.iter().filter(|axis| computation.involves_iterator(axis, along)).collect();
        let by_one = |axis: &Affine| axis.coefficient(along).abs() == 1;
        matches!(moving[..], [axis] if axis.as_affine().is_some_and(by_one))
    }
}

/// The names of loops around `path` and below.
fn names(schedule: &Schedule, path: &Path) -> Vec<String> {
    fn below(node: &Node, found: &mut Vec<String>) {
        match node {
            Node::Computation(_) => {}
            Node::Sequence(children) => children.iter().for_each(|child| below(child, found)),
            Node::Loop(it) => {
                found.push(it.name.clone());
                below(&it.body, found);
            }
        }
    }
    let above = (0..path.0.len()).map(|depth| Path(path.0[..depth].to_vec()));
    let mut found: Vec<String> = above.filter_map(|it| Some(loop_at(schedule, &it)?.name.clone())).collect();
    if let Some(node) = schedule.node(path) {
        below(node, &mut found);
    }
    found
}

/// A loop with one iteration around all that `body` does.
fn at_zero(name: String, tag: Tag, body: Node) -> Node {
    let at: BTreeMap<ComputationId, Affine> =
        body.computations().into_iter().map(|id| (id, Affine::constant(0))).collect();
    Node::Loop(Loop { name, tag, at, body: Box::new(body) })
}

/// The parts of what is at `path`: loops that the threads of the block run through in step, down to the `staged` ones over tiles, and
/// between them what one thread does.
fn in_one_thread(node: &Node, path: &Path, staged: &BTreeSet<Path>, names: &[String]) -> Vec<Node> {
    let thread = |body: Node| at_zero(fresh_among("thread", names), Tag::GpuThread(ProcessorAxis::X), body);
    let holds = |path: &Path| staged.iter().any(|it| path.contains(it));
    match node {
        Node::Sequence(children) => {
            let children: Vec<(Path, &Node)> =
                children.iter().enumerate().map(|(at, child)| (path.child(at), child)).collect();
            let parts = children.chunk_by(|(a, _), (b, _)| !holds(a) && !holds(b)).flat_map(|part| match part {
                [(path, node)] => in_one_thread(node, path, staged, names),
                several => vec![thread(Node::Sequence(several.iter().map(|(_, node)| (*node).clone()).collect()))],
            });
            parts.collect()
        }
        Node::Loop(it) if holds(path) => {
            let body = match staged.contains(path) {
                true => thread((*it.body).clone()),
                false => Node::Sequence(in_one_thread(&it.body, &path.child(0), staged, names)),
            };
            vec![Node::Loop(Loop { body: Box::new(body), ..it.clone() })]
        }
        Node::Loop(_) | Node::Computation(_) => vec![thread(node.clone())],
    }
}
