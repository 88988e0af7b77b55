//! Loops whose bounds are data: from an outer range to the source's.
//!
//! The domain of a computation knows an outer range of such an iterator; leading parts of its predicate say where the loop
//! really starts and stops. Here they become bounds of the generated loop, evaluated once before it, and what they say
//! need not be asked again inside.
//!
//! ```text
//! for i { for k in 1:size(a) { if (p[i] <= k && k <= q[i]) S } }   ->   for i { for k in max(1, p[i]):min(size(a), q[i]) { S } }
//! ```

use crate::error::CodegenError;
use crate::input::Input;
use crate::int_expr::{IntExpr, VariableId};
use crate::names::Names;
use crate::program::{Clip, For, Node, Spread, Statement};
use std::collections::BTreeSet;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Access, Computation, Subscript};
use tessella_polyhedral::expr::{Expr, ExprKind, conjuncts};
use tessella_polyhedral::schedule::Tag;
use tessella_scalar::CompareOp;

/// Gives loops whose bounds are data these bounds.
///
/// # Errors
/// E0315 if the loops are no longer those of the source.
pub fn clip(input: &Input<'_>, names: &mut Names, nodes: Vec<Node>) -> Result<Vec<Node>, CodegenError> {
    if input.algorithm.computations.iter().all(|it| it.ranged.is_empty()) {
        return Ok(nodes);
    }
    Clipping { input, names, clipped: vec![] }.block(nodes)
}

struct Clipping<'a> {
    input: &'a Input<'a>,
    names: &'a mut Names,
    /// The iterators of the loops around that have been clipped.
    clipped: Vec<VariableId>,
}

/// What the predicate of a statement says of a loop around it.
struct Found<'a> {
    computation: &'a Computation,
    clip: Clip,
    /// How many parts of the predicate it is made of, those of loops further out included.
    known: u32,
}

impl Clipping<'_> {
    fn block(&mut self, nodes: Vec<Node>) -> Result<Vec<Node>, CodegenError> {
        nodes.into_iter().map(|node| self.node(node)).collect()
    }

    fn node(&mut self, node: Node) -> Result<Node, CodegenError> {
        Ok(match node {
            Node::For(it) => Node::For(self.for_loop(it)?),
            Node::If { condition, then, otherwise } => {
                Node::If { condition, then: self.block(then)?, otherwise: self.block(otherwise)? }
            }
            Node::Statement(it) => {
                self.check(&it)?;
                Node::Statement(it)
            }
            Node::Declare { buffer, body } => Node::Declare { buffer, body: self.block(body)? },
            Node::Spread(it) => {
                let body = self.block(it.body)?;
                Node::Spread(Spread { body, ..it })
            }
            Node::OneThread { axes, body } => Node::OneThread { axes, body: self.block(body)? },
            Node::Together { kernel, apart } => Node::Together { kernel, apart: self.block(apart)? },
            Node::Turns(mut it) => {
                it.body = self.block(it.body)?;
                Node::Turns(it)
            }
            Node::Tile(it) => {
                self.block(it.generic.body.clone())?;
                Node::Tile(it)
            }
            other @ (Node::Let { .. }
            | Node::Launch(_)
            | Node::Copy { .. }
            | Node::Barrier
            | Node::GridBarrier
            | Node::Await(_)
            | Node::Streaming(_)) => other,
        })
    }

    fn for_loop(&mut self, mut it: For) -> Result<For, CodegenError> {
        let Some((clip, known)) = self.common(&it) else {
            it.body = self.block(it.body)?;
            return Ok(it);
        };
        for node in &mut it.body {
            statements_mut(node, &mut |statement| statement.known = known);
        }
        self.clipped.push(it.variable);
        let body = self.block(it.body);
        self.clipped.pop();
        Ok(For { body: body?, clip: Some(Box::new(clip)), ..it })
    }

    /// What all statements below say of the loop, if they say the same.
    fn common(&mut self, it: &For) -> Option<(Clip, u32)> {
        if !matches!(it.tag, Tag::Sequential | Tag::Unroll(_) | Tag::Rows) {
            return None;
        }
        let (mut statements, mut inside) = (vec![], BTreeSet::from([it.variable]));
        for node in &it.body {
            node.walk(&mut |node| {
                // The constants of a statement are spelled out.
                match node {
                    Node::Statement(statement) => statements.push(statement),
                    other => inside.extend(other.bound()),
                }
            });
        }
        let found: Option<Vec<Found<'_>>> =
            statements.iter().map(|statement| self.found(it, statement, &inside)).collect();
        let mut found = found?.into_iter();
        let first = found.next()?;
        if !found.all(|other| first.known == other.known && is_same(self.input, &first, &other)) {
            return None;
        }
        let (mut clip, known) = (first.clip, first.known);
        // Where the loop begins, a longer step counts from.
        let begins = if clip.down { &clip.high } else { &clip.low };
        if it.step != 1 && begins.is_some() {
            return None;
        }
        let name = self.names.variables[it.variable.0 as usize].clone();
        clip.last = VariableId(self.names.variables.len() as u32);
        let name = self.names.namer().fresh(&format!("{name}_last"));
        self.names.variables.push(name);
        Some((clip, known))
    }

    /// What the parts of a predicate that no loop further out has used say of a loop.
    fn found(&self, it: &For, statement: &Statement, inside: &BTreeSet<VariableId>) -> Option<Found<'_>> {
        let computation = self.input.algorithm.computation(statement.computation);
        let values = values(statement);
        let (at, down) = computation.ranged.iter().find_map(|&at| match values.get(at as usize)?.as_ref()? {
            IntExpr::Variable(variable) if *variable == it.variable => Some((at, false)),
            IntExpr::Neg(inner) if **inner == IntExpr::Variable(it.variable) => Some((at, true)),
            _ => None,
        })?;
        let outer = |value: &IntExpr| !value.involves(&|variable| inside.contains(&variable));
        let iterators: Vec<Option<IntExpr>> = values.into_iter().map(|value| value.filter(outer)).collect();
        let is_outer = |expr: &Expr| {
            (0..).zip(&iterators).all(|(position, value)| {
                let is_known = value.is_some() || statement.iterators[position as usize].is_none();
                is_known || !computation.expression_involves(expr, position)
            })
        };
        let parts = conjuncts(computation.predicate.as_ref()?);
        let (computation_id, last) = (statement.computation, VariableId(0));
        let (mut conditions, mut low, mut high) = (vec![], None, None);
        let mut known = statement.known;
        for part in parts.get(statement.known as usize..)? {
            let bound = match &part.kind {
                ExprKind::Compare(op, left, right)
                    if left.kind == ExprKind::Index(Affine::iterator(at)) && is_outer(right) =>
                {
                    Some((*op, (**right).clone()))
                }
                _ => None,
            };
            match bound {
                Some((CompareOp::Ge, bound)) if low.is_none() => low = Some(bound),
                Some((CompareOp::Le, bound)) if high.is_none() => high = Some(bound),
                _ if low.is_none() && high.is_none() && is_outer(part) => conditions.push((*part).clone()),
                _ => break,
            }
            known += 1;
        }
        if low.is_none() && high.is_none() {
            return None;
        }
        let clip = Clip { computation: computation_id, iterators, conditions, low, high, down, last };
        Some(Found { computation, clip, known })
    }

    /// Every loop around a statement whose bounds are data has got them, or runs once.
    fn check(&self, statement: &Statement) -> Result<(), CodegenError> {
        let computation = self.input.algorithm.computation(statement.computation);
        let values = values(statement);
        let plain: BTreeSet<VariableId> = (0..)
            .zip(&values)
            .filter(|(at, _)| !computation.ranged.contains(at))
            .filter_map(|(_, value)| match value {
                Some(IntExpr::Variable(variable)) => Some(*variable),
                _ => None,
            })
            .collect();
        for &at in &computation.ranged {
            let Some(Some(value)) = values.get(at as usize) else { continue };
            if value.involves(&|variable| !self.clipped.contains(&variable) && !plain.contains(&variable)) {
                let (computation, name) = (computation.name.clone(), computation.iterators[at as usize].clone());
                return Err(CodegenError::RangeApart { computation, name });
            }
        }
        Ok(())
    }
}

/// The value of each iterator of a statement that it uses.
pub fn values(statement: &Statement) -> Vec<Option<IntExpr>> {
    let value = |variable: VariableId| {
        let bound = statement.bindings.iter().find(|(bound, _)| *bound == variable);
        bound.map_or(IntExpr::Variable(variable), |(_, value)| value.clone())
    };
    statement.iterators.iter().map(|it| it.map(value)).collect()
}

/// Calls `change` on all statements of a node.
pub(crate) fn statements_mut(node: &mut Node, change: &mut dyn FnMut(&mut Statement)) {
    let blocks: Vec<&mut Vec<Node>> = match node {
        Node::Statement(it) => {
            change(it);
            vec![]
        }
        Node::For(it) => vec![&mut it.body],
        Node::Spread(it) => vec![&mut it.body],
        Node::If { then, otherwise, .. } => vec![then, otherwise],
        Node::Declare { body, .. } | Node::OneThread { body, .. } | Node::Together { apart: body, .. } => vec![body],
        Node::Turns(it) => vec![&mut it.body],
        Node::Let { .. }
        | Node::Launch(_)
        | Node::Copy { .. }
        | Node::Barrier
        | Node::GridBarrier
        | Node::Await(_)
        | Node::Tile(_)
        | Node::Streaming(_) => vec![],
    };
    blocks.into_iter().flatten().for_each(|node| statements_mut(node, change));
}

/// Whether two statements say the same of a loop.
fn is_same(input: &Input<'_>, a: &Found<'_>, b: &Found<'_>) -> bool {
    let same = Same { input, a, b };
    let ends = |left: &Option<Expr>, right: &Option<Expr>| match (left, right) {
        (Some(left), Some(right)) => same.value(left, right),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    a.clip.down == b.clip.down
        && a.clip.conditions.len() == b.clip.conditions.len()
        && a.clip.conditions.iter().zip(&b.clip.conditions).all(|(left, right)| same.value(left, right))
        && ends(&a.clip.low, &b.clip.low)
        && ends(&a.clip.high, &b.clip.high)
}

/// Compares expressions of two statements in one loop.
struct Same<'s> {
    input: &'s Input<'s>,
    a: &'s Found<'s>,
    b: &'s Found<'s>,
}

impl Same<'_> {
    fn value(&self, left: &Expr, right: &Expr) -> bool {
        let same_kind = match (&left.kind, &right.kind) {
            (ExprKind::Index(left), ExprKind::Index(right)) => self.affine(left, right),
            (ExprKind::Read(left), ExprKind::Read(right)) => {
                self.access(&self.a.computation.reads[*left as usize], &self.b.computation.reads[*right as usize])
            }
            (ExprKind::Constant(left), ExprKind::Constant(right)) => left == right,
            (ExprKind::Scalar(left), ExprKind::Scalar(right)) => left == right,
            (ExprKind::Unary(left, _), ExprKind::Unary(right, _)) => left == right,
            (ExprKind::Binary(left, ..), ExprKind::Binary(right, ..)) => left == right,
            (ExprKind::Compare(left, ..), ExprKind::Compare(right, ..)) => left == right,
            (ExprKind::Call(left, _), ExprKind::Call(right, _)) => left == right,
            (ExprKind::Select { .. }, ExprKind::Select { .. })
            | (ExprKind::IfElse { .. }, ExprKind::IfElse { .. })
            | (ExprKind::Convert(_), ExprKind::Convert(_))
            | (ExprKind::Wrap(_), ExprKind::Wrap(_)) => true,
            (_, _) => false,
        };
        let (lefts, rights) = (left.operands(), right.operands());
        same_kind
            && left.ty == right.ty
            && lefts.len() == rights.len()
            && lefts.into_iter().zip(rights).all(|(left, right)| self.value(left, right))
    }

    /// Whether two accesses are to one element; subscripts that the buffer's map ignores say nothing.
    fn access(&self, left: &Access, right: &Access) -> bool {
        if left.array != right.array {
            return false;
        }
        let map = &self.input.layout.placement(left.array).map;
        let counts = |axis: usize| map.iter().any(|place| place.involves_iterator(axis as u32));
        let alike = |left: &Subscript, right: &Subscript| match (left, right) {
            (Subscript::Affine(left), Subscript::Affine(right)) => self.affine(left, right),
            (Subscript::Computed(left), Subscript::Computed(right)) => self.value(left, right),
            (Subscript::Affine(_), Subscript::Computed(_)) | (Subscript::Computed(_), Subscript::Affine(_)) => false,
        };
        let all = left.subscripts.iter().zip(&right.subscripts).enumerate();
        left.subscripts.len() == right.subscripts.len()
            && all.into_iter().all(|(axis, (left, right))| !counts(axis) || alike(left, right))
    }

    fn affine(&self, left: &Affine, right: &Affine) -> bool {
        let value = |found: &Found<'_>, affine: &Affine| IntExpr::from_affine(affine, &known_iterators(&found.clip));
        value(self.a, left) == value(self.b, right)
    }
}

/// The iterators of a clip's computation; those that it does not use are 0.
pub fn known_iterators(clip: &Clip) -> Vec<IntExpr> {
    clip.iterators.iter().map(|it| it.clone().unwrap_or(IntExpr::Const(0))).collect()
}
