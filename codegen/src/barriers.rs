//! Where the threads of a block wait for each other.
//!
//! Below the block loops of a kernel all threads run the same nodes in step; the work of each lies in thread loops, or
//! belongs to the first thread. Two such steps need a barrier between them if they touch one buffer that threads share,
//! one of them writing. [`place`] puts barriers there and only there; [`check`] proves by another way that none is
//! missing and none stands where some threads do not come.

use crate::error::CodegenError;
use crate::input::Input;
use crate::program::{For, Node, Over, Spread};
use std::collections::BTreeSet;
use tessella_polyhedral::layers::{BufferId, MemorySpace};

/// What steps touch, of memory that several threads see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Touched {
    read: BTreeSet<BufferId>,
    written: BTreeSet<BufferId>,
}

impl Touched {
    fn of(input: &Input<'_>, node: &Node) -> Touched {
        let mut touched = Touched::default();
        node.walk(&mut |node| {
            let Node::Statement(it) = node else { return };
            let id = it.computation;
            let write = input.buffer_of(input.algorithm.computation(id).write.array);
            let accesses = input.used_accesses(id).into_iter().map(|access| input.buffer_of(access.array));
            let is_seen = |buffer: &BufferId| input.layout.buffer(*buffer).space != MemorySpace::Register;
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

    fn contains(&self, other: &Touched) -> bool {
        self.read.is_superset(&other.read) && self.written.is_superset(&other.written)
    }
}

/// Whether all threads of a block come to the nodes below, in step.
fn in_step(node: &Node) -> bool {
    match node {
        Node::For(_) | Node::If { .. } | Node::Declare { .. } | Node::Spread(Spread { over: Over::Blocks, .. }) => true,
        Node::Spread(Spread { over: Over::Threads, .. })
        | Node::OneThread { .. }
        | Node::Let { .. }
        | Node::Statement(_)
        | Node::Launch(_)
        | Node::Copy { .. }
        | Node::Tile(_)
        | Node::Barrier
        | Node::Await(_)
        | Node::Streaming(_) => false,
    }
}

/// A kernel's body with the barriers that it needs.
pub fn place(input: &Input<'_>, body: Vec<Node>) -> Vec<Node> {
    block(input, body, &mut Touched::default())
}

/// `since` is what was touched since the last barrier.
fn block(input: &Input<'_>, nodes: Vec<Node>, since: &mut Touched) -> Vec<Node> {
    let mut placed = vec![];
    for node in nodes {
        if node == Node::Barrier {
            placed.push(node);
            *since = Touched::default();
            continue;
        }
        if !in_step(&node) {
            let touched = Touched::of(input, &node);
            if since.conflicts(&touched) {
                placed.push(Node::Barrier);
                *since = Touched::default();
            }
            since.add(&touched);
            placed.push(node);
            continue;
        }
        placed.push(match node {
            Node::For(it) => Node::For(around(input, it, since)),
            Node::If { condition, then, otherwise } => {
                let mut other = since.clone();
                let then = block(input, then, since);
                let otherwise = block(input, otherwise, &mut other);
                since.add(&other);
                Node::If { condition, then, otherwise }
            }
            Node::Declare { buffer, body } => Node::Declare { buffer, body: block(input, body, since) },
            Node::Spread(mut it) => {
                it.body = block(input, it.body, since);
                Node::Spread(it)
            }
            other => other,
        });
    }
    placed
}

/// A loop whose first steps also follow the last ones of the iteration before.
fn around(input: &Input<'_>, it: For, since: &mut Touched) -> For {
    let mut before = since.clone();
    loop {
        let mut end = before.clone();
        let body = block(input, it.body.clone(), &mut end);
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
    if body.iter().any(|node| unawaited(input, node, Awaited::No)) {
        return fails("or a wait is missing after copies that run ahead");
    }
    let mut threads = false;
    for node in body {
        node.walk(&mut |node| threads |= matches!(node, Node::Spread(Spread { over: Over::Threads, .. })));
    }
    if threads && steps(input, body, vec![Touched::default()]).is_none() {
        return fails("is missing between two steps that share memory");
    }
    Ok(())
}

/// What may have been touched since the last barrier after these nodes, once for each way through them; `None` if two
/// steps conflict.
fn steps(input: &Input<'_>, nodes: &[Node], mut runs: Vec<Touched>) -> Option<Vec<Touched>> {
    for node in nodes {
        match node {
            Node::Barrier => runs = vec![Touched::default()],
            // Its warps share nothing.
            Node::Streaming(_) => {}
            Node::For(it) => {
                let mut all = runs.clone();
                for _ in 0..2 {
                    runs = steps(input, &it.body, runs)?;
                    all.extend(runs.clone());
                }
                runs = all;
            }
            Node::If { then, otherwise, .. } => {
                let other = steps(input, otherwise, runs.clone())?;
                runs = steps(input, then, runs)?;
                runs.extend(other);
            }
            Node::Declare { body, .. } | Node::Spread(Spread { over: Over::Blocks, body, .. }) => {
                runs = steps(input, body, runs)?;
            }
            Node::Spread(_) | Node::OneThread { .. } | Node::Statement(_) | Node::Tile(_) => {
                let touched = Touched::of(input, node);
                for run in &mut runs {
                    if run.conflicts(&touched) {
                        return None;
                    }
                    run.add(&touched);
                }
            }
            Node::Let { .. } | Node::Launch(_) | Node::Copy { .. } | Node::Await(_) => {}
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

/// Whether a barrier lies below a thread loop or belongs to one thread.
fn divergent(node: &Node, apart: bool) -> bool {
    let apart = apart || matches!(node, Node::OneThread { .. } | Node::Spread(Spread { over: Over::Threads, .. }));
    match node {
        Node::Barrier | Node::Await(_) => apart,
        other => other.blocks().into_iter().flatten().any(|inner| divergent(inner, apart)),
    }
}
