//! Rewriting the schedule tree; nothing here asks whether an order is legal.

use super::find::loop_mut;
use crate::algorithm::ComputationId;
use crate::schedule::{Loop, Node, Path, Schedule};

/// Exchanges the heads (name, tag, functions) of two loops.
pub(crate) fn exchange(schedule: &mut Schedule, outer: &Path, inner: &Path) {
    let head = |it: &mut Loop| (it.name.clone(), it.tag, it.at.clone());
    let low = head(loop_mut(schedule, inner));
    let high = head(loop_mut(schedule, outer));
    for (path, (name, tag, at)) in [(outer, low), (inner, high)] {
        let it = loop_mut(schedule, path);
        (it.name, it.tag, it.at) = (name, tag, at);
    }
}

/// Takes `count` directly nested loops at `path` out of the tree, outermost first; their body stays at `path`.
pub(crate) fn take_chain(schedule: &mut Schedule, path: &Path, count: usize) -> Vec<Loop> {
    let node = schedule.node_mut(path).expect("the path was just found");
    let placeholder = || Node::Sequence(vec![]);
    let mut chain = vec![];
    for _ in 0..count {
        let Node::Loop(mut it) = std::mem::replace(node, placeholder()) else {
            panic!("the chain was just found to have this many loops");
        };
        *node = std::mem::replace(&mut *it.body, placeholder());
        chain.push(it);
    }
    chain
}

/// Nests loops, outermost first, around what is at `path`.
pub(crate) fn put_chain(schedule: &mut Schedule, path: &Path, chain: Vec<Loop>) {
    let node = schedule.node_mut(path).expect("the path was just found");
    for mut it in chain.into_iter().rev() {
        let body = std::mem::replace(node, Node::Sequence(vec![]));
        *it.body = body;
        *node = Node::Loop(it);
    }
}

/// Distributes the loop at `path`, whose body is a sequence; a sequence takes its place, even inside another sequence.
pub(crate) fn distribute_at(schedule: &mut Schedule, path: &Path) {
    let node = schedule.node_mut(path).expect("the path was just found");
    let Node::Loop(it) = node else { return };
    let Node::Sequence(children) = &*it.body else { return };
    let parts = children.iter().map(|child| {
        let at = child.computations().into_iter().map(|id| (id, it.at[&id].clone())).collect();
        Node::Loop(Loop { name: it.name.clone(), tag: it.tag, at, body: Box::new(child.clone()) })
    });
    *node = Node::Sequence(parts.collect());
}

/// The statements of a node, each in a nest of its own.
pub(crate) fn nests_apart(node: &Node) -> Vec<Node> {
    match node {
        Node::Computation(_) => vec![node.clone()],
        Node::Sequence(children) => children.iter().flat_map(nests_apart).collect(),
        Node::Loop(it) => {
            let below = nests_apart(&it.body).into_iter();
            let alone = below.map(|nest| {
                let at = nest.computations().into_iter().map(|id| (id, it.at[&id].clone())).collect();
                Node::Loop(Loop { name: it.name.clone(), tag: it.tag, at, body: Box::new(nest) })
            });
            alone.collect()
        }
    }
}

/// The names of all loops around and below `path`.
pub(super) fn names_around(schedule: &Schedule, path: &Path) -> Vec<String> {
    let mut names = vec![];
    for depth in 0..=path.0.len() {
        if let Some(Node::Loop(it)) = schedule.node(&Path(path.0[..depth].to_vec())) {
            names.push(it.name.clone());
        }
    }
    if let Some(node) = schedule.node(path) {
        loop_names(node, &mut names);
    }
    names
}

/// The names of all loops here and below.
pub(crate) fn loop_names(node: &Node, names: &mut Vec<String>) {
    match node {
        Node::Computation(_) => {}
        Node::Sequence(children) => children.iter().for_each(|child| loop_names(child, names)),
        Node::Loop(it) => {
            names.push(it.name.clone());
            loop_names(&it.body, names);
        }
    }
}

/// Removes a computation's leaf; what it leaves empty is removed by [`simplify`].
pub(super) fn remove(node: &mut Node, id: ComputationId) {
    match node {
        Node::Computation(here) if *here == id => *node = Node::Sequence(vec![]),
        Node::Computation(_) => {}
        Node::Sequence(children) => children.iter_mut().for_each(|child| remove(child, id)),
        Node::Loop(it) => {
            it.at.remove(&id);
            remove(&mut it.body, id);
        }
    }
}

/// Flattens sequences of sequences, unwraps sequences of one, drops loops and sequences that hold nothing.
pub(crate) fn simplify(node: &mut Node) {
    match node {
        Node::Computation(_) => {}
        Node::Loop(it) => {
            simplify(&mut it.body);
            if matches!(&*it.body, Node::Sequence(children) if children.is_empty()) {
                *node = Node::Sequence(vec![]);
            }
        }
        Node::Sequence(children) => {
            children.iter_mut().for_each(simplify);
            let flat = std::mem::take(children).into_iter().flat_map(|child| match child {
                Node::Sequence(inner) => inner,
                Node::Loop(_) | Node::Computation(_) => vec![child],
            });
            *children = flat.collect();
            if children.len() == 1 {
                *node = children.remove(0);
            }
        }
    }
}

pub(super) fn sequence(parts: Vec<Node>) -> Node {
    let mut node = Node::Sequence(parts);
    simplify(&mut node);
    node
}

/// Moves a loop down to the statements: inside the innermost loops below `node`, around all that stands there.
pub(crate) fn sink(node: &mut Node, it: &Loop) {
    match node {
        Node::Loop(inner) => sink(&mut inner.body, it),
        Node::Sequence(children) if children.iter().any(has_loop) => {
            children.iter_mut().for_each(|child| sink(child, it));
        }
        Node::Sequence(_) | Node::Computation(_) => {
            let at = node.computations().into_iter().map(|id| (id, it.at[&id].clone())).collect();
            let body = Box::new(std::mem::replace(node, Node::Sequence(vec![])));
            *node = Node::Loop(Loop { name: it.name.clone(), tag: it.tag, at, body });
        }
    }
}

/// Whether a loop stands here or below.
pub(crate) fn has_loop(node: &Node) -> bool {
    match node {
        Node::Loop(_) => true,
        Node::Sequence(children) => children.iter().any(has_loop),
        Node::Computation(_) => false,
    }
}
