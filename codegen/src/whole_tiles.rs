//! Whole tiles in kernels: what a block does where no bound cuts its loops short, apart from what it does at the edges.
//!
//! Rewrite: `for x in 0:min(7, n - 8*b) { S } -> if 8*b + 7 <= n { for x in 0:7 { S } } else { for x in 0:min(7, n - 8*b) { S } }`
//!
//! The condition is the same for all threads of a block: it speaks of parameters and of what the whole block runs through
//! in step. Where threads have nothing to do with one another, each asks for its own points instead, so that of a tile at an
//! edge only the threads that are cut short themselves take the longer way. isl proves that it implies every bound that it
//! takes the place of, for all values of the loops inside. In a loop that the block runs through in step, such as one over
//! tiles of a sum, the question is asked again for each iteration. Nothing is gained where only the threads themselves are
//! bounded, unless they are so in each step of a tile of time: such a loop, from `4*t0 + 1` to `4*t0 + 4`, counts as one of a
//! constant length, and is unrolled where it is whole.

mod conditions;
mod span;

use crate::error::CodegenError;
use crate::extent::HostLoop;
use crate::from_ast::{Scope, condition};
use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::program::{For, Guard, Node, Over, Spread};
use span::{Span, bounds, constant, steps};
use std::convert::Infallible;
use tessella_polyhedral::affine::{Affine, ParamId};
use tessella_polyhedral::isl::{AstBuild, DimType, Id, IslError, Set, Space};
use tessella_polyhedral::schedule::Tag;
use tessella_scalar::CompareOp;

pub(crate) use span::{Values, affine, parts};

/// Conditions of more alternatives than this cost more than they save.
const ALTERNATIVES: u32 = 2;
/// Instances of statements in a kernel's text of which there are versions for tiles that are whole along some loops alone.
const FEW: u64 = 512;

/// A kernel's body, split by whether tiles are whole; `block` are its threads along each axis, `host` the loops around
/// the kernel, `parts` the numbers of blocks that earlier launches ran, each with the largest.
pub fn split(
    input: &Input<'_>,
    context: &Set,
    (host, parts): (&[HostLoop], &[(VariableId, IntExpr)]),
    block: [u32; 3],
    body: Vec<Node>,
) -> Result<Vec<Node>, CodegenError> {
    let params = input.algorithm.param_names();
    let mut tiles = Tiles {
        input,
        block,
        context: context.clone(),
        param_names: params.clone(),
        names: params,
        in_step: vec![],
        of_thread: vec![],
        values: Values::new(),
    };
    host.iter().for_each(|(_, variable)| drop(tiles.add(*variable)));
    let mut known = context.clone();
    for (variable, last) in parts {
        known = tiles.enter(*variable, &IntExpr::Const(0), last, &known)?;
    }
    let body = tiles.grid(body, known)?;
    Ok(constant_unrolls(body))
}

/// Where nodes stand that ask whether tiles are whole.
#[derive(Debug, Clone, Copy)]
struct Region {
    in_thread: bool,
    /// In a loop that the block runs through in step: the last one that was entered.
    in_step: bool,
}

/// One pass over what the threads of a block do.
#[derive(Clone, Default)]
struct Inside {
    /// The least and the greatest value of each loop around the current place, below the region's start.
    ranges: Vec<(i64, i64)>,
    values: Values,
    in_thread: bool,
    /// Within a loop over the steps of a tile.
    in_steps: bool,
}

struct Tiles<'a> {
    input: &'a Input<'a>,
    block: [u32; 3],
    context: Set,
    param_names: Vec<String>,
    /// Of parameters, then of `in_step`.
    names: Vec<String>,
    in_step: Vec<VariableId>,
    /// Those among them that each thread has a value of its own of.
    of_thread: Vec<VariableId>,
    values: Values,
}

/// What a pass finds that may stand in a condition of its own.
#[derive(Default)]
struct Found {
    /// Where each bound cuts its loop short, and where it may come to that, if it stands under a condition.
    cuts: Vec<(Set, Option<Set>)>,
    /// A loop that a thread runs through is among what could be simpler, or one of threads in each step of a tile.
    pays: bool,
}

impl Tiles<'_> {
    /// Down to where all block loops are known. `known` holds of parameters and variables in step.
    fn grid(&mut self, nodes: Vec<Node>, known: Set) -> Result<Vec<Node>, CodegenError> {
        if !nodes.iter().any(has_block_loop) {
            return self.threads(nodes, known, false);
        }
        let mut done = vec![];
        for node in nodes {
            done.push(match node {
                Node::Spread(mut it) if it.over == Over::Blocks => {
                    let inner = self.enter(it.variable, &it.lower, &it.upper, &known)?;
                    it.body = self.grid(it.body, inner)?;
                    Node::Spread(it)
                }
                Node::If { condition, then, otherwise } => {
                    Node::If { condition, then: self.grid(then, known.clone())?, otherwise }
                }
                Node::Let { variable, value } => {
                    if let Some(value) = affine(&value, &self.values) {
                        self.values.insert(variable, value);
                    }
                    Node::Let { variable, value }
                }
                other => other,
            });
        }
        Ok(done)
    }

    /// Down through the loops of threads that wait for no other one: each of them may ask for itself.
    fn threads(&mut self, mut nodes: Vec<Node>, known: Set, in_thread: bool) -> Result<Vec<Node>, CodegenError> {
        match nodes.as_mut_slice() {
            [Node::Spread(it)] if is_apart(it) => {
                let inner = self.enter(it.variable, &it.lower, &it.upper, &known)?;
                self.of_thread.push(it.variable);
                it.body = self.threads(std::mem::take(&mut it.body), inner, true)?;
                self.of_thread.pop();
                self.names.pop();
                self.in_step.pop();
                Ok(nodes)
            }
            _ => self.region(nodes, &known, Region { in_thread, in_step: false }),
        }
    }

    /// Makes a variable one that the block runs through in step.
    fn add(&mut self, variable: VariableId) -> Affine {
        // Users' names have no spaces.
        self.names.push(format!("step {}", self.in_step.len()));
        self.in_step.push(variable);
        let itself = Affine::param(ParamId((self.names.len() - 1) as u32));
        self.values.insert(variable, itself.clone());
        itself
    }

    /// The same; gives what is known inside of its loop.
    fn enter(
        &mut self,
        variable: VariableId,
        lower: &IntExpr,
        upper: &IntExpr,
        known: &Set,
    ) -> Result<Set, CodegenError> {
        let itself = self.add(variable);
        let mut known = known.clone();
        let nothing = Inside { values: self.values.clone(), ..Inside::default() };
        let bounds = parts(lower, true)
            .into_iter()
            .map(|it| (it, true))
            .chain(parts(upper, false).into_iter().map(|it| (it, false)));
        for (bound, is_lower) in bounds {
            let Some(bound) = affine(&bound, &nothing.values) else { continue };
            let difference = if is_lower { itself.sub(&bound) } else { bound.sub(&itself) };
            let Ok(difference) = difference else { continue };
            known = known.intersect(&self.where_negative(&difference, &nothing)?.complement()?)?;
        }
        Ok(known)
    }

    /// Nodes that all threads of a block come to, or those of one thread.
    fn region(&mut self, nodes: Vec<Node>, known: &Set, here: Region) -> Result<Vec<Node>, CodegenError> {
        let Region { in_thread, in_step } = here;
        let start = Inside { values: self.values.clone(), in_thread, ..Inside::default() };
        let mut found = Found::default();
        self.collect(&nodes, &start, &mut found)?;
        let mut whole = known.clone();
        let mut cuts = vec![];
        if found.pays {
            let plain = without(known, found.cuts.iter().filter(|(_, may_be)| may_be.is_none()).map(|(cut, _)| cut))?;
            for (cut, may_be) in &found.cuts {
                // What never runs in a whole tile cuts nothing short there.
                let runs = match may_be {
                    Some(may_be) => !may_be.is_disjoint(&plain)?,
                    None => true,
                };
                cuts.extend(runs.then_some(cut));
            }
            whole = without(known, cuts.iter().copied())?;
        }
        if whole.gist(known)?.is_plainly_universe()? {
            return self.in_step_loops(nodes, known);
        }
        let is_short = nodes.iter().any(|node| self.copies_rows(node)) && instances(&nodes) <= FEW;
        let mut otherwise = match in_step || !is_short {
            true => nodes.clone(),
            false => self.in_step_loops(nodes.clone(), &outside(known, &whole)?)?,
        };
        let mut versions = vec![whole];
        if in_step && is_short {
            // What is cut short along other loops is so in every step, in which the step itself may be whole.
            let step = self.names.len() - 1;
            let mut of_step = vec![];
            for cut in &cuts {
                of_step.extend(self.involves(cut, step)?.then_some(*cut));
            }
            let whole_step = without(known, of_step)?;
            if !whole_step.is_equal(&versions[0])? {
                versions.push(whole_step);
            }
        }
        for holds in versions.into_iter().rev() {
            if !holds.gist(known)?.is_plainly_universe()? {
                let then = self.simplify(nodes.clone(), &start, &holds)?;
                let then = self.in_step_loops(then, &holds)?;
                let condition = self.test(&holds, known)?;
                otherwise = vec![Node::If { condition, then, otherwise }];
            }
        }
        Ok(otherwise)
    }

    /// Whether threads copy whole rows of a tile ahead. A block at an edge of the matrix, which comes to be the last one, must not be slower.
    fn copies_rows(&self, node: &Node) -> bool {
        let mut found = false;
        node.walk(&mut |node| {
            if let Node::Statement(it) = node {
                let copies = self.input.layout.ahead.iter().filter(|copy| copy.copy == it.computation);
                found |= copies.into_iter().any(|copy| copy.lead.is_some());
            }
        });
        found
    }

    /// Whether a set depends on the variable that the block runs through in step of this number among the names.
    fn involves(&self, set: &Set, name: usize) -> Result<bool, IslError> {
        match set.space()?.find_dim_by_name(DimType::Param, &self.names[name])? {
            Some(at) => set.involves_dims(DimType::Param, at, 1),
            None => Ok(false),
        }
    }

    /// Asks whether something holds, where other things do.
    fn test(&self, holds: &Set, known: &Set) -> Result<Cond, CodegenError> {
        let mut scope = Scope::new(&self.param_names);
        for (number, variable) in self.in_step.iter().enumerate() {
            scope.bind(&self.names[self.param_names.len() + number], IntExpr::Variable(*variable));
        }
        let test = AstBuild::from_context(known)?.expr_from_set(&holds.gist(known)?)?;
        condition(&test.view()?, &scope)
    }

    /// Asks again in every iteration of the loops that the block runs through in step.
    fn in_step_loops(&mut self, nodes: Vec<Node>, known: &Set) -> Result<Vec<Node>, CodegenError> {
        let mut done = vec![];
        for node in nodes {
            done.push(match node {
                Node::For(mut it) if it.body.iter().any(has_thread_loop) => {
                    let inner = self.enter(it.variable, &it.lower, &it.upper, known)?;
                    it.body = self.region(it.body, &inner, Region { in_thread: false, in_step: true })?;
                    self.names.pop();
                    self.in_step.pop();
                    Node::For(it)
                }
                Node::Declare { buffer, body } => Node::Declare { buffer, body: self.in_step_loops(body, known)? },
                Node::If { condition, then, otherwise } if then.iter().any(has_thread_loop) => {
                    Node::If { condition, then: self.in_step_loops(then, known)?, otherwise }
                }
                other => other,
            });
        }
        Ok(done)
    }

    /// Finds all bounds that cut loops short.
    fn collect(&self, nodes: &[Node], outer: &Inside, found: &mut Found) -> Result<(), CodegenError> {
        let mut here = outer.clone();
        for node in nodes {
            match node {
                Node::For(it) => {
                    let inner = self.inside(&here, it.variable, &it.lower, &it.upper, false);
                    let before = found.cuts.len();
                    self.cuts(&inner, &here, it.variable, &it.lower, &it.upper, found)?;
                    found.pays |= here.in_thread && found.cuts.len() > before;
                    self.collect(&it.body, &inner, found)?;
                }
                Node::Spread(it) => {
                    let inner = self.inside(&here, it.variable, &it.lower, &it.upper, true);
                    let before = found.cuts.len();
                    self.cuts(&inner, &here, it.variable, &it.lower, &it.upper, found)?;
                    found.pays |= here.in_steps && found.cuts.len() > before;
                    self.collect(&it.body, &inner, found)?;
                }
                Node::If { condition, then, otherwise } => {
                    if self.speaks_of_inside(condition, &here)
                        && let Some(fails) = self.fails(condition, &here)?
                    {
                        found.cuts.push((self.outside(&fails, &here)?, None));
                    }
                    self.collect_where(condition, then, &here, found)?;
                    self.collect(otherwise, &here, found)?;
                }
                Node::Let { variable, value } => {
                    if let Some(value) = affine(value, &here.values) {
                        here.values.insert(*variable, value);
                    }
                }
                Node::Declare { body, .. } | Node::OneThread { body, .. } => self.collect(body, &here, found)?,
                Node::Statement(_)
                | Node::Launch(_)
                | Node::Copy { .. }
                | Node::Together { .. }
                | Node::Turns(_)
                | Node::Barrier
                | Node::GridBarrier
                | Node::Await(_)
                | Node::Tile(_)
                | Node::Streaming(_) => {}
            }
        }
        Ok(())
    }

    /// The place below a loop; its variable has a range if both bounds have a constant part.
    fn inside(&self, outer: &Inside, variable: VariableId, lower: &IntExpr, upper: &IntExpr, thread: bool) -> Inside {
        let mut inner = outer.clone();
        inner.in_thread |= thread;
        inner.values.remove(&variable);
        let Some(Span { ends: (low, high), .. }) = Span::of(lower, upper, &outer.values) else { return inner };
        let itself = Affine::iterator(inner.ranges.len() as u32);
        if let (Some(low), Some(high)) = (low.as_constant(), high.as_constant()) {
            inner.values.insert(variable, itself);
            inner.ranges.push((low, high));
        } else if let (Ok(value), Ok(Some(length))) = (low.add(&itself), high.sub(&low).map(|it| it.as_constant())) {
            inner.in_steps = true;
            inner.values.insert(variable, value);
            inner.ranges.push((0, length));
        }
        inner
    }

    fn cuts(
        &self,
        inner: &Inside,
        outer: &Inside,
        variable: VariableId,
        lower: &IntExpr,
        upper: &IntExpr,
        found: &mut Found,
    ) -> Result<(), CodegenError> {
        if !inner.values.contains_key(&variable) {
            return Ok(());
        }
        for (bound, is_lower) in bounds(lower, upper, &outer.values) {
            if let Some(cut) = self.cut(&bound, is_lower, lower, upper, outer)? {
                found.cuts.push((self.outside(&cut, outer)?, None));
            }
        }
        Ok(())
    }

    /// Where a part of a bound is stricter than the constant part; `None` if that is not known.
    fn cut(
        &self,
        bound: &IntExpr,
        is_lower: bool,
        lower: &IntExpr,
        upper: &IntExpr,
        outer: &Inside,
    ) -> Result<Option<Set>, CodegenError> {
        let limit = match Span::of(lower, upper, &outer.values) {
            Some(Span { ends: (low, high), .. }) => Some(if is_lower { low } else { high }),
            None => constant(if is_lower { lower } else { upper }).map(Affine::constant),
        };
        let (Some(limit), Some(bound)) = (limit, affine(bound, &outer.values)) else { return Ok(None) };
        let slack = if is_lower { limit.sub(&bound) } else { bound.sub(&limit) };
        match slack {
            Ok(slack) => Ok(Some(self.where_negative(&slack, outer)?)),
            Err(_) => Ok(None),
        }
    }

    /// `[params, in step] -> { [ranges] }`: all values of the loops inside.
    fn all(&self, inside: &Inside) -> Result<(Space, Set), IslError> {
        let mut space = self.context.space()?;
        for name in &self.names {
            space = space.add_param(&Id::new(self.context.ctx(), name)?)?;
        }
        let space = space.add_unnamed_tuple(inside.ranges.len() as u32)?;
        let mut all = Set::universe(&space)?;
        for (at, (low, high)) in inside.ranges.iter().enumerate() {
            let value = Affine::iterator(at as u32).to_isl(&space, &self.names)?;
            let (low, high) =
                (Affine::constant(*low).to_isl(&space, &[])?, Affine::constant(*high).to_isl(&space, &[])?);
            all = all.intersect(&value.ge_set(&low)?)?.intersect(&value.le_set(&high)?)?;
        }
        Ok((space, all))
    }

    /// Where a value is below zero.
    fn where_negative(&self, value: &Affine, inside: &Inside) -> Result<Set, IslError> {
        let (space, all) = self.all(inside)?;
        let value = value.to_isl(&space, &self.names)?;
        let set = value.lt_set(&Affine::constant(0).to_isl(&space, &[])?)?.intersect(&all)?;
        if inside.ranges.is_empty() { set.params() } else { Ok(set) }
    }

    /// For which parameters and steps a set has a point.
    fn outside(&self, set: &Set, inside: &Inside) -> Result<Set, IslError> {
        if inside.ranges.is_empty() { Ok(set.clone()) } else { set.params()?.coalesce() }
    }

    /// The nodes without the bounds and conditions that hold in `whole`.
    fn simplify(&self, nodes: Vec<Node>, outer: &Inside, whole: &Set) -> Result<Vec<Node>, CodegenError> {
        let mut here = outer.clone();
        let mut done = vec![];
        for node in nodes {
            match node {
                Node::For(it) => {
                    let inner = self.inside(&here, it.variable, &it.lower, &it.upper, false);
                    let (lower, upper) = self.simpler_bounds(&it.lower, &it.upper, &here, whole)?;
                    let body = self.simplify(it.body, &inner, whole)?;
                    let tag = match (it.tag, steps(&lower, &upper, &here.values)) {
                        (Tag::Sequential, Some(count)) if body.iter().any(has_thread_loop) => Tag::Unroll(count),
                        (tag, _) => tag,
                    };
                    done.push(Node::For(For { lower, upper, tag, body, ..it }));
                }
                Node::Spread(it) => {
                    let inner = self.inside(&here, it.variable, &it.lower, &it.upper, true);
                    let (lower, upper) = self.simpler_bounds(&it.lower, &it.upper, &here, whole)?;
                    let body = self.simplify(it.body, &inner, whole)?;
                    let threads = i64::from(self.block[it.axis as usize]);
                    let all = match (lower.as_const(), upper.as_const()) {
                        (Some(low), Some(high)) => {
                            it.over == Over::Threads && (high - low).div_euclid(it.step) + 1 == threads
                        }
                        _ => false,
                    };
                    let few = match (lower.as_const(), upper.as_const()) {
                        (Some(low), Some(high)) => (high - low).div_euclid(it.step) < threads,
                        _ => false,
                    };
                    let guard = match it.guard {
                        _ if all => Guard::Unneeded,
                        Guard::Turns if few => Guard::Needed,
                        guard => guard,
                    };
                    done.push(Node::Spread(Spread { lower, upper, body, guard, ..it }));
                }
                Node::If { condition, then, otherwise } => {
                    let holds = match self.fails(&condition, &here)? {
                        Some(fails) => self.outside(&fails, &here)?.is_disjoint(whole)?,
                        None => false,
                    };
                    let never = match self.may_hold(&condition, &here)? {
                        Some(may_hold) => may_hold.is_disjoint(whole)?,
                        None => false,
                    };
                    if never {
                        done.extend(self.simplify(otherwise, &here, whole)?);
                        continue;
                    }
                    let then = self.simplify(then, &here, whole)?;
                    if holds {
                        done.extend(then);
                    } else {
                        let otherwise = self.simplify(otherwise, &here, whole)?;
                        done.push(Node::If { condition, then, otherwise });
                    }
                }
                Node::Let { variable, value } => {
                    if let Some(value) = affine(&value, &here.values) {
                        here.values.insert(variable, value);
                    }
                    done.push(Node::Let { variable, value });
                }
                Node::Declare { buffer, body } => {
                    done.push(Node::Declare { buffer, body: self.simplify(body, &here, whole)? });
                }
                Node::OneThread { axes, body } => {
                    done.push(Node::OneThread { axes, body: self.simplify(body, &here, whole)? });
                }
                other @ (Node::Statement(_)
                | Node::Launch(_)
                | Node::Copy { .. }
                | Node::Together { .. }
                | Node::Turns(_)
                | Node::Barrier
                | Node::GridBarrier
                | Node::Await(_)
                | Node::Tile(_)
                | Node::Streaming(_)) => {
                    done.push(other);
                }
            }
        }
        Ok(done)
    }

    fn simpler_bounds(
        &self,
        lower: &IntExpr,
        upper: &IntExpr,
        outer: &Inside,
        whole: &Set,
    ) -> Result<(IntExpr, IntExpr), CodegenError> {
        let (mut low, mut high) = (vec![], vec![]);
        match Span::of(lower, upper, &outer.values) {
            Some(span) => {
                low.push(span.low);
                high.push(span.high);
            }
            None => {
                low.extend(constant(lower).map(IntExpr::Const));
                high.extend(constant(upper).map(IntExpr::Const));
            }
        }
        for (bound, is_lower) in bounds(lower, upper, &outer.values) {
            let drops = match self.cut(&bound, is_lower, lower, upper, outer)? {
                Some(cut) => self.outside(&cut, outer)?.is_disjoint(whole)?,
                None => false,
            };
            if !drops {
                if is_lower { low.push(bound) } else { high.push(bound) }
            }
        }
        Ok((IntExpr::max_of(low), IntExpr::min_of(high)))
    }
}

/// What is known where something does not hold, if that has few alternatives.
fn outside(known: &Set, holds: &Set) -> Result<Set, IslError> {
    let rest = known.subtract(holds)?.coalesce()?;
    Ok(if rest.basic_set_count()? <= ALTERNATIVES { rest } else { known.clone() })
}

/// How many instances of statements the threads' code has written out, where loops are unrolled.
fn instances(nodes: &[Node]) -> u64 {
    let one = |node: &Node| match node {
        Node::Statement(_) => 1,
        Node::For(it) => {
            let times = match it.tag {
                Tag::Unroll(times) => u64::from(times.max(1)),
                _ => 1,
            };
            times.saturating_mul(instances(&it.body))
        }
        other => other.blocks().into_iter().fold(0, |all: u64, block| all.saturating_add(instances(block))),
    };
    nodes.iter().map(one).fold(0, u64::saturating_add)
}

/// What is left of a set, as far as it is not empty and has few alternatives.
fn without<'a>(known: &Set, cuts: impl IntoIterator<Item = &'a Set>) -> Result<Set, IslError> {
    let mut left = known.clone();
    for cut in cuts {
        let next = left.subtract(cut)?.coalesce()?;
        if !next.is_empty()? && next.basic_set_count()? <= ALTERNATIVES {
            left = next;
        }
    }
    Ok(left)
}

fn has_block_loop(node: &Node) -> bool {
    let mut found = false;
    node.walk(&mut |node| found |= matches!(node, Node::Spread(Spread { over: Over::Blocks, .. })));
    found
}

/// Whether each thread runs no more than one iteration of the loop over threads, and all of it by itself. Barriers stand between
/// loops over threads, so that none will be placed in it.
fn is_apart(it: &Spread) -> bool {
    let alone = it.over == Over::Threads && it.guard != Guard::Turns && it.combined.is_empty();
    alone
        && match it.body.as_slice() {
            [Node::Spread(inner)] => is_apart(inner),
            body => !body.iter().any(|node| has_thread_loop(node) || meets(node)),
        }
}

/// Whether threads of a block have something to do with one another here.
fn meets(node: &Node) -> bool {
    let mut found = false;
    node.walk(&mut |node| {
        found |= match node {
            Node::Barrier
            | Node::GridBarrier
            | Node::Await(_)
            | Node::Tile(_)
            | Node::Streaming(_)
            | Node::Together { .. }
            | Node::Turns(_)
            | Node::OneThread { .. } => true,
            Node::Spread(_)
            | Node::For(_)
            | Node::If { .. }
            | Node::Let { .. }
            | Node::Declare { .. }
            | Node::Statement(_)
            | Node::Launch(_)
            | Node::Copy { .. } => false,
        }
    });
    found
}

fn has_thread_loop(node: &Node) -> bool {
    let mut found = false;
    node.walk(&mut |node| found |= matches!(node, Node::Spread(Spread { over: Over::Threads, .. })));
    found
}

/// Loops to be unrolled completely run through a constant range, and test the rest of their bound inside: then every
/// subscript of a register is known to the compiler.
///
/// Rewrite: `@unroll 8 for x in max(0, b):min(7, e) { S } -> @unroll 8 for x in 0:7 { if b <= x <= e { S } }`
fn constant_unrolls(nodes: Vec<Node>) -> Vec<Node> {
    let one = |node: Node| match node {
        Node::For(mut it) => {
            it.body = constant_unrolls(it.body);
            let bounded = |it: &For| it.lower.as_const().is_none() || it.upper.as_const().is_none();
            match (it.tag, constant(&it.lower), constant(&it.upper)) {
                (Tag::Unroll(times), Some(low), Some(high))
                    if bounded(&it)
                        && (it.step == 1 || it.lower.as_const().is_some())
                        && (high - low).div_euclid(it.step) < i64::from(times) =>
                {
                    let rest = |bound: &IntExpr, is_lower: bool| {
                        parts(bound, is_lower).into_iter().filter(|part| part.as_const().is_none()).collect::<Vec<_>>()
                    };
                    let (from, until) = (rest(&it.lower, true), rest(&it.upper, false));
                    let itself = || IntExpr::Variable(it.variable);
                    let from =
                        (!from.is_empty()).then(|| Cond::compare(CompareOp::Ge, itself(), IntExpr::max_of(from)));
                    let until =
                        (!until.is_empty()).then(|| Cond::compare(CompareOp::Le, itself(), IntExpr::min_of(until)));
                    let condition = Cond::all_of(from.into_iter().chain(until));
                    let body = vec![Node::If { condition, then: it.body, otherwise: vec![] }];
                    Node::For(For { lower: IntExpr::Const(low), upper: IntExpr::Const(high), body, ..it })
                }
                _ => Node::For(it),
            }
        }
        other => {
            let Ok(node) = other.map_blocks(|nodes| Ok::<_, Infallible>(constant_unrolls(nodes)));
            node
        }
    };
    nodes.into_iter().map(one).collect()
}
