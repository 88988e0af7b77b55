//! Register tiles: full tiles of constant size, spelled out.
//!
//! Loops tagged `Unroll(n)` and `Vector(w)` whose iterations fill a box of constant size, as splitting leaves them, are
//! spelled out where the box is full: one line an instance, SIMD lanes as vectors. A sequential loop around them, over
//! which the tile moves, keeps the elements that it updates in registers. Where the box is not full, the loops run as
//! they are.
//!
//! ```text
//! for k { for j1 in 0:min(3, ..) { for i1 in 0:min(7, ..) { C[i, j] += A[i, k] * B[k, j] } } }
//!   -> if full { load C; for k { 4 x 8 updates }; store C } else { the loops }
//! ```

mod form;
mod registers;

pub use form::{is_dense, is_side_by_side, lane_strides, varies};
pub use registers::{constant_difference, subscripts_of};

use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::names::Names;
use crate::program::{For, Node, Statement};
use form::has_vector_form;
use registers::keep_in_registers;
use std::collections::BTreeMap;
use tessella_polyhedral::algorithm::{ArrayId, ComputationId};
use tessella_polyhedral::schedule::Tag;
use tessella_scalar::CompareOp;

/// More instances than this are not spelled out.
const MAX_INSTANCES: usize = 64;

/// An iterator over the points of a tile: its value at the first, and what each point adds per step.
type Pattern = (IntExpr, Vec<i64>);

/// A nest with a version for the case that its point loops are full.
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    /// The loops as they are.
    pub generic: Box<For>,
    /// Whether every point loop is full, as far as that does not depend on the moving loop.
    pub full: Cond,
    /// The loop over which the tile moves, and the part of it where the tile is full.
    pub along: Option<Along>,
    /// Iterators of the tile's first instance, bound outside the moving loop.
    pub bases: Vec<(VariableId, IntExpr)>,
    /// Those bound inside it.
    pub moving_bases: Vec<(VariableId, IntExpr)>,
    /// SIMD lanes of each instance; 1 for none.
    pub lanes: u32,
    /// In the order of execution.
    pub instances: Vec<Spelled>,
    /// Elements that stay in registers over the moving loop.
    pub registers: Vec<Kept>,
    /// Whether nothing else that the full part reads is one of those elements; may use the moving loop's limits.
    pub apart: Cond,
}

/// The moving loop of a [`Tile`].
#[derive(Debug, Clone, PartialEq)]
pub struct Along {
    pub variable: VariableId,
    pub tag: Tag,
    /// First and last iteration with a full tile; bound before the loop.
    pub from: (VariableId, IntExpr),
    pub until: (VariableId, IntExpr),
    /// Whether iterations before `from` and after `until` remain.
    pub clipped: bool,
    pub step: i64,
}

/// One instance, or one for each lane.
#[derive(Debug, Clone, PartialEq)]
pub struct Spelled {
    pub computation: ComputationId,
    /// In the first lane.
    pub iterators: Vec<IntExpr>,
    /// What each iterator gains from lane to lane.
    pub strides: Vec<i64>,
    /// The register that its write goes to.
    pub target: Option<u32>,
}

/// An element (or one for each lane) that stays in a register.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    pub array: ArrayId,
    pub name: String,
    pub subscripts: Vec<IntExpr>,
    /// What each subscript gains from lane to lane; none if all lanes hold one element.
    pub strides: Vec<i64>,
}

/// Replaces nests by tiles wherever that is possible.
pub fn tile_registers(input: &Input<'_>, names: &mut Names, block: Vec<Node>) -> Vec<Node> {
    block.into_iter().map(|node| tile_node(input, names, node)).collect()
}

fn tile_node(input: &Input<'_>, names: &mut Names, node: Node) -> Node {
    match node {
        Node::For(it) => match Shape::of(&it).and_then(|shape| shape.tile(input, names)) {
            Some(tile) => Node::Tile(Box::new(tile)),
            None => {
                let body = tile_registers(input, names, it.body);
                Node::For(For { body, ..it })
            }
        },
        Node::If { condition, then, otherwise } => Node::If {
            condition,
            then: tile_registers(input, names, then),
            otherwise: tile_registers(input, names, otherwise),
        },
        Node::Declare { buffer, body } => Node::Declare { buffer, body: tile_registers(input, names, body) },
        other @ (Node::Let { .. }
        | Node::Statement(_)
        | Node::Launch(_)
        | Node::Together { .. }
        | Node::Copy { .. }
        | Node::Spread(_)
        | Node::OneThread { .. }
        | Node::Turns(_)
        | Node::Barrier
        | Node::GridBarrier
        | Node::Await(_)
        | Node::Streaming(_)
        | Node::Tile(_)) => other,
    }
}

/// A nest that could be a tile: perhaps a moving loop, then point loops, then statements.
struct Shape<'a> {
    nest: &'a For,
    along: Option<&'a For>,
    points: Vec<Point<'a>>,
    body: &'a [Node],
}

/// A loop within the box `first ..= first + count - 1`.
struct Point<'a> {
    nest: &'a For,
    first: i64,
    count: i64,
    /// Lanes of a vector, for the loop that is spread over them.
    lanes: Option<u32>,
}

impl<'a> Shape<'a> {
    fn of(nest: &'a For) -> Option<Shape<'a>> {
        let mut points: Vec<Point<'a>> = vec![];
        let mut here = nest;
        let along = match point(nest) {
            Some(_) => None,
            None => {
                let [Node::For(inner)] = nest.body.as_slice() else { return None };
                here = inner;
                Some(nest)
            }
        };
        let body = loop {
            points.push(point(here)?);
            match here.body.as_slice() {
                [Node::For(inner)] => here = inner,
                body => break body,
            }
        };
        let plain = body.iter().all(|node| matches!(node, Node::Let { .. } | Node::Statement(_)));
        let simd_along = along.is_some_and(|it| matches!(it.tag, Tag::Vector(_)));
        let fits = along.is_none_or(|it| matches!(it.tag, Tag::Sequential | Tag::Unroll(_)) || simd_along);
        let vectors = points.iter().filter(|it| it.lanes.is_some()).count();
        let unrolled = points.iter().any(|it| it.lanes.is_none());
        (plain && fits && vectors <= 1 && !(simd_along && vectors > 0) && (unrolled || along.is_some()))
            .then_some(Shape { nest, along, points, body })
    }

    fn tile(&self, input: &Input<'_>, names: &mut Names) -> Option<Tile> {
        let spelled: i64 = self.points.iter().map(Point::steps).product();
        if spelled < 2 || spelled as usize * self.body.len() > MAX_INSTANCES {
            return None;
        }
        let lanes = self.points.iter().find_map(|it| it.lanes).unwrap_or(1);
        let mut limits = Limits::default();
        for point in &self.points {
            limits.require(self, point)?;
        }
        let mut tile = Tile {
            generic: Box::new(self.nest.clone()),
            full: Cond::all_of(limits.full),
            along: None,
            bases: vec![],
            moving_bases: vec![],
            lanes,
            instances: vec![],
            registers: vec![],
            apart: Cond::Const(true),
        };
        if tile.full == Cond::Const(false) {
            return None;
        }
        self.spell(input, names, &mut tile)?;
        if let Some(along) = self.along {
            let variable = names.variables[along.variable.0 as usize].clone();
            let clipped = !limits.from.is_empty() || !limits.until.is_empty();
            if clipped && along.step != 1 {
                return None;
            }
            let from = IntExpr::max_of([along.lower.clone()].into_iter().chain(limits.from));
            let until = IntExpr::min_of([along.upper.clone()].into_iter().chain(limits.until));
            tile.along = Some(Along {
                variable: along.variable,
                tag: along.tag,
                from: (fresh(names, &format!("{variable}_from")), from),
                until: (fresh(names, &format!("{variable}_until")), until),
                clipped,
                step: along.step,
            });
            if along.tag.keeps_order() {
                keep_in_registers(input, names, &mut tile);
            }
        }
        // Lanes are stored side by side, or once after the moving loop.
        let stored = tile.instances.iter().all(|it| {
            let write = &input.algorithm.computation(it.computation).write;
            tile.lanes == 1 || it.target.is_some() || is_side_by_side(input, write, &it.strides)
        });
        if !stored {
            return None;
        }
        let worth = self.along.is_some_and(|it| matches!(it.tag, Tag::Vector(_)))
            || !tile.registers.is_empty()
            || self.points.iter().any(|it| it.lanes.is_none());
        worth.then_some(tile)
    }

    /// Writes down all instances.
    fn spell(&self, input: &Input<'_>, names: &mut Names, tile: &mut Tile) -> Option<()> {
        let mut bases: BTreeMap<IntExpr, VariableId> = BTreeMap::new();
        let mut lets: BTreeMap<VariableId, IntExpr> = BTreeMap::new();
        // Each statement with its iterators as base plus a multiple of each point's offset.
        let mut patterns: Vec<(&Statement, Vec<Pattern>)> = vec![];
        for node in self.body {
            match node {
                Node::Let { variable, value } => {
                    let value = value.substitute(&|inner| lets.get(&inner).cloned());
                    lets.insert(*variable, value);
                }
                Node::Statement(it) => {
                    let source = input.algorithm.computation(it.computation);
                    let mut iterators = vec![];
                    for (position, iterator) in it.iterators.iter().enumerate() {
                        let Some(variable) = iterator else {
                            iterators.push((IntExpr::Const(0), vec![0; self.points.len()]));
                            continue;
                        };
                        let bound = it.bindings.iter().find(|(bound, _)| bound == variable);
                        let value = bound.map_or(IntExpr::Variable(*variable), |(_, value)| value.clone());
                        let value = value.substitute(&|inner| lets.get(&inner).cloned());
                        let (factors, rest) = value.linear(&|inner| self.point_at(inner).is_some())?;
                        let factors: Vec<i64> = self
                            .points
                            .iter()
                            .map(|point| factors.get(&point.nest.variable).copied().unwrap_or(0))
                            .collect();
                        let start: i64 = factors.iter().zip(&self.points).map(|(factor, it)| factor * it.first).sum();
                        let base = rest.plus(IntExpr::Const(start));
                        let base = match base {
                            IntExpr::Const(_) | IntExpr::Variable(_) | IntExpr::Param(_) => base,
                            base => IntExpr::Variable(*bases.entry(base.clone()).or_insert_with(|| {
                                let variable = fresh(names, &source.iterators[position]);
                                let moves = self.along.is_some_and(|it| base.involves(&|inner| inner == it.variable));
                                match moves {
                                    true => tile.moving_bases.push((variable, base)),
                                    false => tile.bases.push((variable, base)),
                                }
                                variable
                            })),
                        };
                        iterators.push((base, factors));
                    }
                    patterns.push((it, iterators));
                }
                _ => return None,
            }
        }
        let lane_point = self.points.iter().position(|it| it.lanes.is_some());
        let mut offsets = vec![0i64; self.points.len()];
        loop {
            for (statement, pattern) in &patterns {
                let strides: Vec<i64> =
                    pattern.iter().map(|(_, factors)| lane_point.map_or(0, |at| factors[at])).collect();
                if tile.lanes > 1 && !has_vector_form(input, statement.computation, &strides) {
                    return None;
                }
                let iterators = pattern.iter().map(|(base, factors)| {
                    let offset: i64 = factors.iter().zip(&offsets).map(|(factor, offset)| factor * offset).sum();
                    base.clone().plus(IntExpr::Const(offset))
                });
                tile.instances.push(Spelled {
                    computation: statement.computation,
                    iterators: iterators.collect(),
                    strides,
                    target: None,
                });
            }
            // The next point, the last loop fastest.
            let mut at = self.points.len();
            loop {
                if at == 0 {
                    return Some(());
                }
                at -= 1;
                offsets[at] += i64::from(self.points[at].lanes.unwrap_or(1));
                if offsets[at] < self.points[at].count {
                    break;
                }
                offsets[at] = 0;
            }
        }
    }

    fn point_at(&self, variable: VariableId) -> Option<&Point<'a>> {
        self.points.iter().find(|point| point.nest.variable == variable)
    }
}

/// A loop within a box of constant size.
fn point(nest: &For) -> Option<Point<'_>> {
    if nest.step != 1 {
        return None;
    }
    let (first, last) = (extreme(&nest.lower, Extreme::Largest)?, extreme(&nest.upper, Extreme::Smallest)?);
    let count = last.checked_sub(first)?.checked_add(1)?;
    let lanes = match nest.tag {
        Tag::Unroll(times) if i64::from(times) == count => None,
        Tag::Vector(lanes) if lanes > 1 && lanes.is_power_of_two() && count % i64::from(lanes) == 0 => Some(lanes),
        Tag::Unroll(_)
        | Tag::Rows
        | Tag::Vector(_)
        | Tag::Sequential
        | Tag::Separate
        | Tag::Stream(_)
        | Tag::GridSync
        | Tag::Parallel
        | Tag::GpuBlock(_)
        | Tag::GpuThread(_)
        | Tag::Combine => return None,
    };
    (count > 0 && count <= 256).then_some(Point { nest, first, count, lanes })
}

enum Extreme {
    Largest,
    Smallest,
}

/// The constant among the parts of a bound.
fn extreme(bound: &IntExpr, which: Extreme) -> Option<i64> {
    match (bound, which) {
        (IntExpr::Const(value), _) => Some(*value),
        (IntExpr::Max(parts), Extreme::Largest) | (IntExpr::Min(parts), Extreme::Smallest) => {
            parts.iter().find_map(IntExpr::as_const)
        }
        _ => None,
    }
}

impl Point<'_> {
    /// How many times the loop is spelled out.
    fn steps(&self) -> i64 {
        self.count / i64::from(self.lanes.unwrap_or(1))
    }

    fn last(&self) -> i64 {
        self.first + self.count - 1
    }
}

/// When all point loops are full.
#[derive(Default)]
struct Limits {
    full: Vec<Cond>,
    from: Vec<IntExpr>,
    until: Vec<IntExpr>,
}

impl Limits {
    /// Both bounds of a point loop reach the ends of its box, for all points of the loops around it.
    fn require(&mut self, shape: &Shape<'_>, point: &Point<'_>) -> Option<()> {
        let lower = match &point.nest.lower {
            IntExpr::Max(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        for part in lower {
            // first - part >= 0
            self.non_negative(shape, IntExpr::Const(point.first).minus(part.clone()))?;
        }
        let upper = match &point.nest.upper {
            IntExpr::Min(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        for part in upper {
            self.non_negative(shape, part.clone().minus(IntExpr::Const(point.last())))?;
        }
        Some(())
    }

    fn non_negative(&mut self, shape: &Shape<'_>, value: IntExpr) -> Option<()> {
        if value.as_const().is_some_and(|value| value >= 0) {
            return Some(());
        }
        let moving = shape.along.map(|it| it.variable);
        let chosen = |variable: VariableId| shape.point_at(variable).is_some() || moving == Some(variable);
        let (factors, rest) = value.linear(&chosen)?;
        let mut least = 0i64;
        let mut along = 0i64;
        for (variable, factor) in factors {
            match shape.point_at(variable) {
                Some(point) => {
                    let corner = if factor > 0 { point.first } else { point.last() };
                    least = least.checked_add(factor.checked_mul(corner)?)?;
                }
                None => along = factor,
            }
        }
        let rest = rest.plus(IntExpr::Const(least));
        match along {
            0 => self.full.push(match rest {
                IntExpr::Const(value) => Cond::Const(value >= 0),
                rest => Cond::Compare(CompareOp::Ge, rest, IntExpr::Const(0)),
            }),
            // rest + along * k >= 0: k >= ceil(-rest / along)
            along if along > 0 => {
                self.from.push(rest.negated().plus(IntExpr::Const(along - 1)).floor_div(along));
            }
            // k <= floor(rest / -along)
            along => self.until.push(rest.floor_div(along.checked_neg()?)),
        }
        Some(())
    }
}

fn fresh(names: &mut Names, wanted: &str) -> VariableId {
    let variable = VariableId(names.variables.len() as u32);
    let name = names.namer().fresh(wanted);
    names.variables.push(name);
    variable
}
