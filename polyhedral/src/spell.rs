//! The commands that lead from one order of a program to another.
//!
//! Distribution, splits, exchanges and tags are found by comparing the two trees from the outside inwards; each
//! command found is carried out, with its proof, and the result is compared with the aim. Where that does not arrive,
//! the whole tree is one command ([`Command::Order`]), which can say any order.

use crate::affine::{Affine, Atom};
use crate::algorithm::ComputationId;
use crate::command::Command;
use crate::dependence::Dependence;
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::order;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, StreamSize, Tag};
use crate::transform;
use std::collections::BTreeSet;

/// More commands than this say less than the tree does.
const MOST: usize = 64;

/// Commands that turn the order of `start` into `aim`.
pub fn commands(ctx: &Ctx, start: &Scheduled, dependences: &[Dependence], aim: &Schedule) -> Vec<Command> {
    let mut way = Way { ctx, dependences, now: start.clone(), aim, commands: vec![] };
    match way.list(&Path::default()) {
        Some(()) if way.now.schedule == *aim => way.commands,
        Some(()) | None => vec![Command::Order(order::spell(&start.algorithm, aim))],
    }
}

struct Way<'a> {
    ctx: &'a Ctx,
    dependences: &'a [Dependence],
    now: Scheduled,
    aim: &'a Schedule,
    commands: Vec<Command>,
}

impl Way<'_> {
    /// Carries out a command; `None` where it is refused.
    fn go(&mut self, command: Command) -> Option<()> {
        if self.commands.len() == MOST {
            return None;
        }
        self.now = transform::apply(self.ctx, &self.now, self.dependences, &command).ok()?;
        self.commands.push(command);
        Some(())
    }

    fn name_of(&self, id: ComputationId) -> String {
        self.now.algorithm.computation(id).name.clone()
    }

    /// Makes what stands at `path`, one after the other, the same on both sides.
    fn list(&mut self, path: &Path) -> Option<()> {
        loop {
            let (here, there) = (parts(self.now.schedule.node(path)?), parts(self.aim.node(path)?));
            let differs = here.iter().zip(there).position(|(now, aim)| members(now) != members(aim));
            let Some(at) = differs else {
                if here.len() != there.len() {
                    return None;
                }
                break;
            };
            let (name, id) = innermost_mixed(&here[at])?;
            self.go(Command::Distribute { computation: self.name_of(id), at: name })?;
        }
        match self.aim.node(path)? {
            Node::Sequence(children) => (0..children.len()).try_for_each(|child| self.nest(&path.child(child))),
            Node::Loop(_) | Node::Computation(_) => self.nest(path),
        }
    }

    fn nest(&mut self, path: &Path) -> Option<()> {
        let wanted = chain(self.aim, path);
        let Some(first) = wanted.first() else { return Some(()) };
        let id = *first.at.keys().next()?;
        let computation = self.name_of(id);
        self.split(path, &wanted, id)?;
        if chain(&self.now.schedule, path).len() != wanted.len() {
            return None;
        }
        for (place, loop_wanted) in wanted.iter().enumerate() {
            let present = chain(&self.now.schedule, path);
            let found = (place..present.len()).find(|&at| same_loop(&present[at], loop_wanted))?;
            for at in (place + 1..=found).rev() {
                let present = chain(&self.now.schedule, path);
                let (outer, inner) = (present[at - 1].name.clone(), present[at].name.clone());
                self.go(Command::Interchange { computation: computation.clone(), outer, inner })?;
            }
        }
        self.tag(&computation, &wanted)?;
        self.list(&path.down(wanted.len()))
    }

    /// Splits the loops of which the aim has tiles and points; neighbours that are all split are tiled together.
    fn split(&mut self, path: &Path, wanted: &[Loop], id: ComputationId) -> Option<()> {
        let present = chain(&self.now.schedule, path);
        let size_of = |it: &Loop| {
            if wanted.iter().any(|other| same_loop(it, other)) {
                return None;
            }
            wanted.iter().find(|other| other.name == format!("{}0", it.name)).and_then(|tile| divisor(&tile.at[&id]))
        };
        let sizes: Vec<(String, Option<u32>)> = present.iter().map(|it| (it.name.clone(), size_of(it))).collect();
        let computation = self.name_of(id);
        for group in sizes.chunk_by(|a, b| a.1.is_some() == b.1.is_some()) {
            let some = group.iter().filter_map(|(name, size)| size.map(|size| (name.clone(), size)));
            let (loops, sizes): (Vec<String>, Vec<u32>) = some.unzip();
            let computation = computation.clone();
            match (loops.as_slice(), sizes.as_slice()) {
                ([], _) => {}
                ([at], [size]) => self.go(Command::Split { computation, at: at.clone(), size: *size })?,
                _ => self.go(Command::Tile { computation, loops, sizes })?,
            }
        }
        Some(())
    }

    fn tag(&mut self, computation: &str, wanted: &[Loop]) -> Option<()> {
        let (mut blocks, mut threads) = (vec![], vec![]);
        for it in wanted {
            let (computation, at) = (computation.to_string(), it.name.clone());
            match it.tag {
                Tag::Sequential => {}
                Tag::Parallel => self.go(Command::Parallel { computation, at })?,
                Tag::Vector(width) => self.go(Command::Vectorize { computation, at, width })?,
                Tag::Unroll(factor) => self.go(Command::Unroll { computation, at, factor })?,
                Tag::Rows => self.go(Command::ShareRows { computation, at })?,
                Tag::Separate => self.go(Command::Separate { computation, loops: vec![at] })?,
                Tag::Stream(size) => {
                    if size.only_in_tiles().is_none() {
                        let size = StreamSize { resident: None, ..size };
                        self.go(Command::Stream { computation: computation.clone(), at: at.clone(), size })?;
                    }
                    if let Some(size) = size.resident {
                        self.go(Command::Resident { computation, at, size })?;
                    }
                }
                // No command says this alone of a loop: the loops are written out.
                Tag::GridSync | Tag::Combine => return None,
                Tag::GpuBlock(axis) => blocks.push((at, axis)),
                Tag::GpuThread(axis) => threads.push((at, axis)),
            }
        }
        if blocks.is_empty() && threads.is_empty() {
            return Some(());
        }
        let usual = [ProcessorAxis::Z, ProcessorAxis::Y, ProcessorAxis::X];
        let fits = |loops: &[(String, ProcessorAxis)]| {
            loops.len() <= usual.len()
                && loops.iter().map(|it| it.1).eq(usual[usual.len() - loops.len()..].iter().copied())
        };
        if blocks.len() != threads.len() || !fits(&blocks) || !fits(&threads) {
            return None;
        }
        let names = |loops: Vec<(String, ProcessorAxis)>| loops.into_iter().map(|(name, _)| name).collect();
        let computation = computation.to_string();
        self.go(Command::Gpu { computation, blocks: names(blocks), threads: names(threads) })
    }
}

/// A sequence's children, or the node alone.
fn parts(node: &Node) -> &[Node] {
    match node {
        Node::Sequence(children) => children,
        Node::Loop(_) | Node::Computation(_) => std::slice::from_ref(node),
    }
}

fn members(node: &Node) -> BTreeSet<ComputationId> {
    node.computations().into_iter().collect()
}

/// The loop of a chain whose body is a sequence, and a computation below it.
fn innermost_mixed(node: &Node) -> Option<(String, ComputationId)> {
    match node {
        Node::Loop(it) => match &*it.body {
            Node::Sequence(_) => Some((it.name.clone(), *it.at.keys().next()?)),
            Node::Loop(_) => innermost_mixed(&it.body),
            Node::Computation(_) => None,
        },
        Node::Sequence(_) | Node::Computation(_) => None,
    }
}

/// The loops directly inside one another at `path`, without their bodies.
fn chain(schedule: &Schedule, path: &Path) -> Vec<Loop> {
    let mut found = vec![];
    while let Some(Node::Loop(it)) = schedule.node(&path.down(found.len())) {
        let (name, tag, at) = (it.name.clone(), it.tag, it.at.clone());
        found.push(Loop { name, tag, at, body: Box::new(Node::Sequence(vec![])) });
    }
    found
}

fn same_loop(one: &Loop, other: &Loop) -> bool {
    one.name == other.name && one.at == other.at
}

/// `d` of `floor(e/d)`.
fn divisor(at: &Affine) -> Option<u32> {
    match at.terms() {
        [(Atom::FloorDiv(_, divisor), 1)] => u32::try_from(*divisor).ok(),
        _ => None,
    }
}
