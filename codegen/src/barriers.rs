//! Where the threads of a block wait for each other.
//!
//! Below the block loops of a kernel all threads run the same nodes in step; the work of each lies in thread loops, or
//! belongs to the first thread. Two such steps need a barrier between them if they touch one buffer that threads share,
//! one of them writing. [`place`] puts barriers there and only there; [`check`] proves by another way that none is
//! missing and none stands where some threads do not come.

use crate::error::CodegenError;
use crate::input::Input;
use crate::program::{For, Guard, Node, Over, Spread};
use std::collections::BTreeSet;
use tessella_polyhedral::layers::{BufferId, MemorySpace};

/// Who waits at a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The threads of a block. What they run in step are their loops and their first thread's work.
    Block,
    /// All blocks of a grid. What they run in step are turns.
    Grid,
}

impl Reach {
    fn barrier(self) -> Node {
        match self {
            Reach::Block => Node::Barrier,
            Reach::Grid => Node::GridBarrier,
        }
    }

    /// Whether several of those who wait see such memory.
    fn sees(self, space: MemorySpace) -> bool {
        match space {
            MemorySpace::Host | MemorySpace::Global | MemorySpace::Constant { .. } => true,
            MemorySpace::Shared => self == Reach::Block,
            MemorySpace::Register => false,
        }
    }
}

/// What steps touch, of memory that several threads see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Touched {
    read: BTreeSet<BufferId>,
    written: BTreeSet<BufferId>,
}

impl Touched {
    fn of(input: &Input<'_>, reach: Reach, node: &Node) -> Touched {
        let mut touched = Touched::default();
        node.walk(&mut |node| {
            let Node::Statement(it) = node else { return };
            let id = it.computation;
            let write = input.buffer_of(input.algorithm.computation(id).write.array);
            let accesses = input.used_accesses(id).into_iter().map(|access| input.buffer_of(access.array));
            let is_seen = |buffer: &BufferId| reach.sees(input.layout.buffer(*buffer).space);
            // A computation may read what it writes: both count.
            touched.read.extend(accesses.filter(|it| is_seen(it) && (*it != write || !input.layout.is_ahead(id))));
            // A copy ahead fills a stage that nobody uses before the end of the iteration, where all wait.
            touched.written.extend([write].into_iter().filter(|it| is_seen(it) && !input.layout.is_ahead(id)));
        });
        touched
    }

    fn conflicts(&self, other: &Touched) -> bool {
        let meet = |a: &BTreeSet<BufferId>, b: &BTreeSet<BufferId>| !a.is_disjoint(b);
        meet(&self.written, &other.read) || meet(&self.read, &other.written) || meet(&self.written, &other.written)
    }

    fn add(&mut self, other: &Touched) {
        self.read.extend(&other.read);
        self.written.extend(&other.written);
    }

    /// What of it lies in memory of the block.
    fn of_block(&self, input: &Input<'_>) -> Touched {
        let is_shared = |buffer: &&BufferId| input.layout.buffer(**buffer).space == MemorySpace::Shared;
        let some = |all: &BTreeSet<BufferId>| all.iter().filter(is_shared).copied().collect();
        Touched { read: some(&self.read), written: some(&self.written) }
    }

    fn contains(&self, other: &Touched) -> bool {
        self.read.is_superset(&other.read) && self.written.is_superset(&other.written)
    }
}

/// Whether all that wait come to the nodes below, in step.
fn in_step(node: &Node) -> bool {
    match node {
        Node::For(_) | Node::If { .. } | Node::Declare { .. } | Node::Spread(Spread { over: Over::Blocks, .. }) => true,
        Node::Spread(Spread { over: Over::Threads, .. })
        | Node::OneThread { .. }
        | Node::Let { .. }
        | Node::Statement(_)
        | Node::Launch(_)
        | Node::Together { .. }
        | Node::Copy { .. }
        | Node::Tile(_)
        | Node::Turns(_)
        | Node::Barrier
        | Node::GridBarrier
        | Node::Await(_)
        | Node::Streaming(_) => false,
    }
}

/// A kernel's body with the barriers that it needs.
pub fn place(input: &Input<'_>, reach: Reach, body: Vec<Node>) -> Vec<Node> {
    block(input, reach, body, &mut Touched::default())
}

/// `since` is what was touched since the last barrier.
fn block(input: &Input<'_>, reach: Reach, nodes: Vec<Node>, since: &mut Touched) -> Vec<Node> {
    let mut placed = vec![];
    for node in nodes {
        if node == reach.barrier() {
            placed.push(node);
            *since = Touched::default();
            continue;
        }
        if !in_step(&node) {
            let touched = Touched::of(input, reach, &node);
            if since.conflicts(&touched) {
                placed.push(reach.barrier());
                *since = Touched::default();
            }
            since.add(&touched);
            placed.push(node);
            continue;
        }
        placed.push(match node {
            Node::For(it) => Node::For(around(input, reach, it, since)),
            Node::If { condition, then, otherwise } => {
                let mut other = since.clone();
                let then = block(input, reach, then, since);
                let otherwise = block(input, reach, otherwise, &mut other);
                since.add(&other);
                Node::If { condition, then, otherwise }
            }
            Node::Declare { buffer, body } => Node::Declare { buffer, body: block(input, reach, body, since) },
            Node::Spread(mut it) => {
                it.body = block(input, reach, it.body, since);
                Node::Spread(it)
            }
            other => other,
        });
    }
    placed
}

/// A loop whose first steps also follow the last ones of the iteration before.
fn around(input: &Input<'_>, reach: Reach, it: For, since: &mut Touched) -> For {
    let mut before = since.clone();
    loop {
        let mut end = before.clone();
        let body = block(input, reach, it.body.clone(), &mut end);
        if before.contains(&end) {
            // It may also have no iteration.
            since.add(&end);
            return For { body, ..it };
        }
        before.add(&end);
    }
}

/// Proves a kernel's barriers: runs each block of nodes symbolically, loops twice, and tests every step against all that
/// no barrier separates from it.
///
/// # Errors
/// [`CodegenError::Barrier`].
pub fn check(input: &Input<'_>, kernel: &str, body: &[Node]) -> Result<(), CodegenError> {
    let fails = |reason| Err(CodegenError::Barrier { kernel: kernel.to_string(), reason });
    if body.iter().any(|node| divergent(node, false)) {
        return fails("stands where only some threads come");
    }
    if body.iter().any(|node| combines_apart(node, false)) {
        return fails("of updates that the block combines stands where only some threads come");
    }
    if body.iter().any(|node| unawaited(input, node, Awaited::No)) {
        return fails("or a wait is missing after copies that run ahead");
    }
    if has_threads(body) && steps(input, Reach::Block, body, vec![Touched::default()]).is_none() {
        return fails("is missing between two steps that share memory");
    }
    Ok(())
}

/// Proves the barriers of a kernel whose blocks wait for each other: those of the grid like those of a block, with turns for
/// steps; those within turns as [`check`] does; and that what a turn leaves in the memory of its block is left alone by the
/// next turn until a barrier.
///
/// # Errors
/// [`CodegenError::Barrier`].
pub fn check_grid(input: &Input<'_>, kernel: &str, body: &[Node]) -> Result<(), CodegenError> {
    let fails = |reason| Err(CodegenError::Barrier { kernel: kernel.to_string(), reason });
    let mut turns = vec![];
    for node in body {
        node.walk(&mut |node| {
            if let Node::Turns(it) = node {
                turns.push(&it.body);
            }
        });
    }
    for body in turns {
        check(input, kernel, body)?;
        let inner = |node: &Node| {
            let mut found = false;
            node.walk(&mut |node| found |= *node == Node::GridBarrier);
            found
        };
        if body.iter().any(inner) {
            return fails("stands where only some blocks come");
        }
        let again = steps(input, Reach::Block, body, vec![Touched::default()]).and_then(|ends| {
            let left = ends.iter().map(|end| end.of_block(input)).collect();
            steps(input, Reach::Block, body, left)
        });
        if has_threads(body) && again.is_none() {
            return fails("is missing between two turns that share memory");
        }
    }
    if steps(input, Reach::Grid, body, vec![Touched::default()]).is_none() {
        return fails("is missing between two steps of all blocks");
    }
    Ok(())
}

/// Whether several threads run the nodes.
fn has_threads(body: &[Node]) -> bool {
    let mut threads = false;
    for node in body {
        node.walk(&mut |node| threads |= matches!(node, Node::Spread(Spread { over: Over::Threads, .. })));
    }
    threads
}

/// What may have been touched since the last barrier after these nodes, once for each way through them; `None` if two
/// steps conflict.
fn steps(input: &Input<'_>, reach: Reach, nodes: &[Node], mut runs: Vec<Touched>) -> Option<Vec<Touched>> {
    for node in nodes {
        match node {
            Node::GridBarrier => runs = vec![Touched::default()],
            Node::Barrier => {
                if reach == Reach::Block {
                    runs = vec![Touched::default()];
                }
            }
            // Its warps share nothing.
            Node::Streaming(_) => {}
            Node::For(it) => {
                let mut all = runs.clone();
                for _ in 0..2 {
                    runs = steps(input, reach, &it.body, runs)?;
                    all.extend(runs.clone());
                }
                runs = all;
            }
            Node::If { then, otherwise, .. } => {
                let other = steps(input, reach, otherwise, runs.clone())?;
                runs = steps(input, reach, then, runs)?;
                runs.extend(other);
            }
            Node::Declare { body, .. } | Node::Spread(Spread { over: Over::Blocks, body, .. }) => {
                runs = steps(input, reach, body, runs)?;
            }
            Node::Spread(_) | Node::OneThread { .. } | Node::Statement(_) | Node::Tile(_) | Node::Turns(_) => {
                let touched = Touched::of(input, reach, node);
                for run in &mut runs {
                    if run.conflicts(&touched) {
                        return None;
                    }
                    run.add(&touched);
                }
            }
            Node::Let { .. } | Node::Launch(_) | Node::Together { .. } | Node::Copy { .. } | Node::Await(_) => {}
        }
        let mut different: Vec<Touched> = vec![];
        for run in runs {
            if !different.contains(&run) {
                different.push(run);
            }
        }
        runs = different;
    }
    Some(runs)
}

/// Whether every iteration of the innermost loop that a block runs through in step ends by waiting for copies ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Yes,
    No,
}

/// Whether a copy ahead begins where no iteration waits for it.
fn unawaited(input: &Input<'_>, node: &Node, here: Awaited) -> bool {
    let here = match node {
        Node::Statement(it) => return here == Awaited::No && input.layout.is_ahead(it.computation),
        // Loops of threads lie below `Spread`, and are looked at as one.
        Node::Spread(Spread { over: Over::Threads, .. }) | Node::OneThread { .. } => {
            let mut ahead = false;
            node.walk(&mut |inner| {
                ahead |= matches!(inner, Node::Statement(it) if input.layout.is_ahead(it.computation))
            });
            return ahead && here == Awaited::No;
        }
        Node::For(it) if awaits(&it.body) && waits_for_all(input, it) => Awaited::Yes,
        Node::For(_) => Awaited::No,
        _ => here,
    };
    node.blocks().into_iter().flatten().any(|inner| unawaited(input, inner, here))
}

/// Whether what runs ahead has arrived, so many iterations later, when the iteration before its use ends.
fn waits_for_all(input: &Input<'_>, it: &For) -> bool {
    let (mut later, mut soonest) = (0, u32::MAX);
    for node in &it.body {
        node.walk(&mut |inner| match inner {
            Node::Await(left) => later = later.max(*left),
            Node::Statement(it) => {
                let copies = input.layout.ahead.iter().filter(|copy| copy.copy == it.computation);
                soonest = copies.map(|copy| copy.iterations).fold(soonest, u32::min);
            }
            _ => {}
        });
    }
    later < soonest
}

/// Whether nodes wait once, at their end and with a barrier after it, whichever way they go.
fn awaits(nodes: &[Node]) -> bool {
    let waits = |node: &Node| {
        let mut found = false;
        node.walk(&mut |inner| found |= matches!(inner, Node::Await(_)));
        found
    };
    match nodes {
        [rest @ .., Node::Await(_), Node::Barrier] => !rest.iter().any(waits),
        [rest @ .., Node::If { then, otherwise, .. }] => !rest.iter().any(waits) && awaits(then) && awaits(otherwise),
        [rest @ .., Node::Declare { body, .. }] => !rest.iter().any(waits) && awaits(body),
        _ => false,
    }
}

/// Whether a block would combine updates where not all of its threads come.
fn combines_apart(node: &Node, apart: bool) -> bool {
    let by_threads = matches!(node, Node::Spread(Spread { over: Over::Threads, .. }));
    let here = matches!(node, Node::Spread(it) if it.combined.is_some() && (apart || it.guard == Guard::Turns));
    let apart = apart || by_threads || matches!(node, Node::OneThread { .. });
    here || node.blocks().into_iter().flatten().any(|inner| combines_apart(inner, apart))
}

/// Whether a barrier lies below a thread loop or belongs to one thread.
fn divergent(node: &Node, apart: bool) -> bool {
    let apart = apart || matches!(node, Node::OneThread { .. } | Node::Spread(Spread { over: Over::Threads, .. }));
    match node {
        Node::Barrier | Node::GridBarrier | Node::Await(_) => apart,
        other => other.blocks().into_iter().flatten().any(|inner| divergent(inner, apart)),
    }
}
