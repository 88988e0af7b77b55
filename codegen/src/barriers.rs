//! Where the threads of a block wait for each other.
//!
//! Below the block loops of a kernel all threads run the same nodes in step; the work of each lies in thread loops, or
//! belongs to the first thread. Two such steps need a barrier between them if different threads touch one element of memory that
//! threads share, one of them writing (see [`tessella_polyhedral::barriers::crossing`]). [`place`] puts barriers there and
//! only there. [`check`] has [`tessella_polyhedral::barriers::course`] prove by another way that none is missing, and looks itself
//! for those that stand where some threads do not come.

mod works;

use crate::error::CodegenError;
use crate::input::Input;
use crate::int_expr::VariableId;
use crate::program::{For, Guard, Node, Over, Spread};
use std::collections::BTreeSet;
use tessella_polyhedral::barriers::course::{prove, prove_again};
use tessella_polyhedral::barriers::crossing::WorkId;
use works::Works;

pub use tessella_polyhedral::barriers::crossing::Reach;
pub use works::Origin;

/// The node at which all wait.
fn barrier(reach: Reach) -> Node {
    match reach {
        Reach::Block => Node::Barrier,
        Reach::Grid => Node::GridBarrier,
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
///
/// # Errors
/// isl's, where its work is limited.
pub fn place(input: &Input<'_>, origin: Origin<'_>, reach: Reach, body: Vec<Node>) -> Result<Vec<Node>, CodegenError> {
    let mut works = Works::new(input, origin, reach, &body)?;
    Ok(block(&mut works, body, &mut BTreeSet::new()))
}

/// `since` is what was done since the last barrier.
fn block(works: &mut Works<'_>, nodes: Vec<Node>, since: &mut BTreeSet<WorkId>) -> Vec<Node> {
    let mut placed = vec![];
    for node in nodes {
        if node == barrier(works.reach) {
            placed.push(node);
            since.clear();
            continue;
        }
        let step = if in_step(&node) { works.bounds(&node) } else { works.step(&node) };
        let crosses = |before: &WorkId| step.iter().any(|&here| works.crossings.cross(*before, here));
        if since.iter().any(crosses) {
            placed.push(barrier(works.reach));
            since.clear();
        }
        since.extend(step.iter().copied());
        let done = match node {
            Node::For(it) => {
                let mut later = since.clone();
                let mut done = around(works, it.clone(), &mut later);
                if waits(works, &done.body) {
                    // One barrier before the loop does for all iterations, where these touch nothing of one another.
                    let mut own: BTreeSet<WorkId> = step.into_iter().collect();
                    let apart = around(works, it, &mut own);
                    if !waits(works, &apart.body) {
                        placed.push(barrier(works.reach));
                        (done, later) = (apart, own);
                    }
                }
                *since = later;
                Node::For(done)
            }
            Node::If { condition, then, otherwise } => {
                let mut other = since.clone();
                let then = block(works, then, since);
                let otherwise = block(works, otherwise, &mut other);
                since.extend(other);
                Node::If { condition, then, otherwise }
            }
            Node::Declare { buffer, body } => Node::Declare { buffer, body: block(works, body, since) },
            Node::Spread(mut it) if it.over == Over::Blocks => {
                it.body = block(works, it.body, since);
                Node::Spread(it)
            }
            other => other,
        };
        placed.push(done);
    }
    placed
}

/// Whether threads wait somewhere in these nodes.
fn waits(works: &Works<'_>, nodes: &[Node]) -> bool {
    let mut found = false;
    nodes.iter().for_each(|node| node.walk(&mut |node| found |= *node == barrier(works.reach)));
    found
}

/// A loop whose first steps also follow the last ones of the iteration before.
fn around(works: &mut Works<'_>, it: For, since: &mut BTreeSet<WorkId>) -> For {
    let mut before = since.clone();
    loop {
        let mut end = before.clone();
        let body = block(works, it.body.clone(), &mut end);
        if before.is_superset(&end) {
            // It may also have no iteration.
            since.extend(end);
            return For { body, ..it };
        }
        before.extend(end);
    }
}

/// Proves a kernel's barriers: none is missing, and none stands where some threads do not come.
///
/// # Errors
/// [`CodegenError::Barrier`].
pub fn check(input: &Input<'_>, origin: Origin<'_>, kernel: &str, body: &[Node]) -> Result<(), CodegenError> {
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
    if has_threads(body) {
        let mut works = Works::new(input, origin, Reach::Block, body)?;
        let course = works.course(body);
        if prove(&works.crossings, &course).is_err() {
            return fails("is missing between two steps that share memory");
        }
    }
    Ok(())
}

/// Proves the barriers of a kernel whose blocks wait for each other: those of the grid like those of a block, with turns for
/// steps; those within turns as [`check`] does; and that what a turn leaves in the memory of its block is left alone by the
/// next turn until a barrier.
///
/// # Errors
/// [`CodegenError::Barrier`].
pub fn check_grid(input: &Input<'_>, origin: Origin<'_>, kernel: &str, body: &[Node]) -> Result<(), CodegenError> {
    let fails = |reason| Err(CodegenError::Barrier { kernel: kernel.to_string(), reason });
    let mut turns = vec![];
    for node in body {
        find_turns(node, origin.host, &mut turns);
    }
    for (host, body) in turns {
        let origin = Origin { host: &host, ..origin };
        check(input, origin, kernel, body)?;
        let inner = |node: &Node| {
            let mut found = false;
            node.walk(&mut |node| found |= *node == Node::GridBarrier);
            found
        };
        if body.iter().any(inner) {
            return fails("stands where only some blocks come");
        }
        if has_threads(body) {
            let mut works = Works::new(input, origin, Reach::Block, body)?;
            let course = works.course(body);
            if prove_again(&works.crossings, &course).is_err() {
                return fails("is missing between two turns that share memory");
            }
        }
    }
    let mut works = Works::new(input, origin, Reach::Grid, body)?;
    let course = works.course(body);
    if prove(&works.crossings, &course).is_err() {
        return fails("is missing between two steps of all blocks");
    }
    Ok(())
}

/// The turns below a node, with the loops around them.
fn find_turns<'n>(node: &'n Node, around: &[VariableId], found: &mut Vec<(Vec<VariableId>, &'n [Node])>) {
    match node {
        Node::Turns(it) => found.push((around.to_vec(), &it.body)),
        Node::For(it) => {
            let around = [around, &[it.variable]].concat();
            it.body.iter().for_each(|inner| find_turns(inner, &around, found));
        }
        other => other.blocks().into_iter().flatten().for_each(|inner| find_turns(inner, around, found)),
    }
}

/// Whether several threads run the nodes.
fn has_threads(body: &[Node]) -> bool {
    let mut threads = false;
    for node in body {
        node.walk(&mut |node| threads |= matches!(node, Node::Spread(Spread { over: Over::Threads, .. })));
    }
    threads
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
    let here = matches!(node, Node::Spread(it) if !it.combined.is_empty() && (apart || it.guard == Guard::Turns));
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
