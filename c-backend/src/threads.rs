//! Short parallel loops: whether threads pay is decided before them.
//!
//! A loop with OpenMP's `if` clause costs a third of a microsecond even where its condition is false, as much as some
//! thousand iterations. So a small nest on threads is printed twice.
//!
//! ```text
//! for t { parallel for i { S } }  ->  work = ...; for t { if (work >= w) parallel for i { S } else for i { S } }
//! ```

use crate::work::work_of;
use std::collections::BTreeSet;
use tessella_codegen::int_expr::{Cond, IntExpr, VariableId};
use tessella_codegen::names::Names;
use tessella_codegen::program::{For, Node, Program};
use tessella_polyhedral::schedule::Tag;
use tessella_scalar::CompareOp;

/// Nests with more loops inside one another are printed once: few of them are so short that the clause outweighs their body.
const MAX_LOOPS: usize = 3;
/// Nests with more statements are printed once.
const MAX_STATEMENTS: usize = 12;

/// The program with its decisions, and the loops on threads that are reached only where threads pay.
pub fn decide(program: &Program, worth: i64) -> (Program, BTreeSet<VariableId>) {
    let mut program = program.clone();
    let mut decide = Decide { names: program.names, worth, decided: BTreeSet::new(), scopes: vec![Scope::default()] };
    let body = decide.block(program.body);
    let whole = decide.scopes.remove(0);
    program.body = with_head(whole.head, body);
    program.names = decide.names;
    (program, decide.decided)
}

/// The searches of a scan, with the outermost loop of each on threads, and with the same decisions. Bounds that are data are a second variable
/// in the head of a loop, which OpenMP does not take.
pub fn decide_searches(program: &Program, worth: i64) -> (Program, BTreeSet<VariableId>) {
    let mut program = program.clone();
    program.body = on_threads(program.body);
    decide(&program, worth)
}

fn on_threads(nodes: Vec<Node>) -> Vec<Node> {
    let node = |node| match node {
        Node::For(it) if it.clip.is_none() && it.going.is_none() => Node::For(For { tag: Tag::Parallel, ..it }),
        Node::If { condition, then, otherwise } => {
            Node::If { condition, then: on_threads(then), otherwise: on_threads(otherwise) }
        }
        other => other,
    };
    nodes.into_iter().map(node).collect()
}

/// The body of a loop, or of the function.
#[derive(Default)]
struct Scope {
    /// The loop's iterator.
    iterator: Option<VariableId>,
    /// What is computed at its start.
    head: Vec<Node>,
}

struct Decide {
    names: Names,
    worth: i64,
    decided: BTreeSet<VariableId>,
    /// Those that are open, outermost first.
    scopes: Vec<Scope>,
}

impl Decide {
    fn block(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        nodes.into_iter().flat_map(|node| self.node(node)).collect()
    }

    fn node(&mut self, node: Node) -> Vec<Node> {
        match node {
            Node::For(it) if it.tag == Tag::Parallel => self.on_threads(it),
            // Lanes of a vector start no threads.
            Node::For(it) if !it.tag.keeps_order() => vec![Node::For(it)],
            Node::For(it) => {
                self.scopes.push(Scope { iterator: Some(it.variable), head: vec![] });
                let rest = self.block(it.body);
                let head = self.scopes.pop().map(|scope| scope.head).unwrap_or_default();
                vec![Node::For(For { body: with_head(head, rest), ..it })]
            }
            Node::If { condition, then, otherwise } => {
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                vec![Node::If { condition, then, otherwise }]
            }
            Node::Declare { buffer, body } => vec![Node::Declare { buffer, body: self.block(body) }],
            other @ (Node::Let { .. }
            | Node::Statement(_)
            | Node::Launch(_)
            | Node::Copy { .. }
            | Node::Spread(_)
            | Node::OneThread { .. }
            | Node::Together { .. }
            | Node::Turns(_)
            | Node::Barrier
            | Node::GridBarrier
            | Node::Await(_)
            | Node::Streaming(_)
            | Node::Tile(_)) => vec![other],
        }
    }

    fn on_threads(&mut self, it: For) -> Vec<Node> {
        let work = work_of(&it, self.worth);
        if work.as_const().is_some_and(|work| work < self.worth) {
            return vec![Node::For(For { tag: Tag::Sequential, ..it })];
        }
        if work.as_const().is_some() || !is_small(&it) {
            return vec![Node::For(it)];
        }
        let Some(variable) = self.computed(work) else { return vec![Node::For(it)] };
        self.decided.insert(it.variable);
        let condition = Cond::Compare(CompareOp::Ge, IntExpr::Variable(variable), IntExpr::Const(self.worth));
        let alone = For { tag: Tag::Sequential, ..it.clone() };
        vec![Node::If { condition, then: vec![Node::For(it)], otherwise: vec![Node::For(alone)] }]
    }

    /// A variable with this value, computed at the start of the outermost loop's body that knows what it takes; `None`
    /// if it takes what only a part of a body knows.
    fn computed(&mut self, value: IntExpr) -> Option<VariableId> {
        let known =
            |scopes: &[Scope]| !value.involves(&|variable| scopes.iter().all(|scope| scope.iterator != Some(variable)));
        let at = (0..self.scopes.len()).find(|&at| known(&self.scopes[..=at]))?;
        let same = self.scopes[at].head.iter().find_map(|node| match node {
            Node::Let { variable, value: other } if *other == value => Some(*variable),
            _ => None,
        });
        Some(same.unwrap_or_else(|| {
            let variable = VariableId(self.names.variables.len() as u32);
            let name = self.names.namer().fresh("work");
            self.names.variables.push(name);
            self.scopes[at].head.push(Node::Let { variable, value });
            variable
        }))
    }
}

/// A body with what is computed at its start, inside the buffers that live as long.
fn with_head(head: Vec<Node>, mut body: Vec<Node>) -> Vec<Node> {
    if let [Node::Declare { body: inner, .. }] = body.as_mut_slice() {
        *inner = with_head(head, std::mem::take(inner));
        return body;
    }
    head.into_iter().chain(body).collect()
}

/// Whether a nest is short to read.
fn is_small(it: &For) -> bool {
    let mut statements = 0;
    let mut tiles = 0;
    it.body.iter().for_each(|node| {
        node.walk(&mut |node| match node {
            Node::Statement(_) => statements += 1,
            Node::Tile(_) => tiles += 1,
            _ => {}
        });
    });
    tiles == 0 && statements <= MAX_STATEMENTS && loops(&it.body) < MAX_LOOPS
}

/// The most loops inside one another.
fn loops(nodes: &[Node]) -> usize {
    let of_node = |node: &Node| {
        let inside = node.blocks().into_iter().map(loops).max().unwrap_or(0);
        inside + usize::from(matches!(node, Node::For(_)))
    };
    nodes.iter().map(of_node).max().unwrap_or(0)
}
