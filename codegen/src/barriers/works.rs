//! What the steps of a kernel do, in the terms of [`tessella_polyhedral::barriers`].
//!
//! A thread runs those iterations of a thread loop whose distance from the lower bound is its index. The schedule tells the
//! iteration that an instance belongs to, so the index is a function of the instance wherever the lower bound is one. Where threads
//! take turns, those of one index are one thread's, too.

use crate::error::CodegenError;
use crate::input::Input;
use crate::int_expr::{IntExpr, VariableId};
use crate::program::{For, Guard, Node, Over, Spread, Statement, Update};
use crate::whole_tiles::{Values, affine};
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::barriers::course::Course;
use tessella_polyhedral::barriers::crossing::{Crossings, Reach, Runs, Stores, Thread, Work, WorkId};
use tessella_polyhedral::relation::has_many_params;
use tessella_polyhedral::schedule::{self, Path, ProcessorAxis};

/// Where the loops of a kernel come from.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    /// The loop of the schedule behind each iterator.
    pub loops: &'a BTreeMap<VariableId, Path>,
    /// The iterators of loops around the kernel: all of a launch sees one value of each.
    pub host: &'a [VariableId],
}

/// The works of a kernel.
pub(super) struct Works<'a> {
    input: Input<'a>,
    origin: Origin<'a>,
    pub(super) reach: Reach,
    pub(super) crossings: Crossings<'a>,
    /// The axes that the block has threads along.
    axes: BTreeSet<ProcessorAxis>,
    /// The loops of which a block sees one value alone.
    within: Vec<Path>,
    /// The values that the kernel binds; `None` if a variable is bound to several.
    lets: BTreeMap<VariableId, Option<IntExpr>>,
}

/// What lies between a step and a statement in it.
#[derive(Clone)]
struct Below<'n> {
    /// The thread loops, by axis; `None` where the first thread alone runs what is below.
    along: BTreeMap<ProcessorAxis, Option<&'n Spread>>,
    /// Whether these say all.
    is_plain: bool,
}

impl<'a> Works<'a> {
    /// Of a kernel with this body.
    pub(super) fn new(
        input: &Input<'a>,
        origin: Origin<'a>,
        reach: Reach,
        body: &[Node],
    ) -> Result<Works<'a>, CodegenError> {
        // Of many parameters, those that say nothing of an access only cost time.
        let known = if has_many_params(input.algorithm) { None } else { Some(input.context()?) };
        let mut axes = BTreeSet::new();
        let mut blocks: BTreeMap<&Path, bool> = BTreeMap::new();
        let mut lets: BTreeMap<VariableId, Option<IntExpr>> = BTreeMap::new();
        for node in body {
            node.walk(&mut |node| match node {
                Node::Spread(it) if it.over == Over::Threads => {
                    axes.insert(it.axis);
                }
                Node::Spread(it) => {
                    if let Some(path) = origin.loops.get(&it.variable) {
                        let is_one = it.guard != Guard::Turns && !blocks.contains_key(path);
                        blocks.insert(path, is_one);
                    }
                }
                Node::OneThread { axes: first, .. } => axes.extend(first.iter().copied()),
                Node::Let { variable, value } => {
                    let same = lets.get(variable).is_none_or(|known| known.as_ref() == Some(value));
                    lets.insert(*variable, same.then(|| value.clone()));
                }
                _ => {}
            });
        }
        let of_host = origin.host.iter().filter_map(|variable| origin.loops.get(variable)).cloned();
        let of_blocks = blocks.into_iter().filter(|(_, is_one)| *is_one).map(|(path, _)| path.clone());
        let within = of_host.chain(of_blocks).collect();
        let crossings = Crossings::new(input.algorithm, input.layout, known, reach);
        Ok(Works { input: *input, origin, reach, crossings, axes, within, lets })
    }

    /// What a node does that is a step.
    pub(super) fn step(&mut self, node: &Node) -> Vec<WorkId> {
        let mut found = BTreeSet::new();
        self.gather(node, &Below { along: BTreeMap::new(), is_plain: true }, &mut found);
        found.into_iter().collect()
    }

    /// What all threads ask before they run through a loop in step: bounds that are data.
    pub(super) fn bounds(&mut self, node: &Node) -> Vec<WorkId> {
        let Node::For(it) = node else { return vec![] };
        let mut asked = BTreeSet::new();
        for node in &it.body {
            node.walk(&mut |node| {
                if let Node::Statement(it) = node
                    && !self.input.algorithm.computation(it.computation).ranged.is_empty()
                {
                    asked.insert(it.computation);
                }
            });
        }
        let ask = |computation: ComputationId| {
            let reads = self.input.reads_of_predicate(computation);
            self.crossings.add(Work { computation, reads, stores: Stores::No, runs: Runs::Anyone })
        };
        asked.into_iter().map(ask).collect()
    }

    /// The course of nodes that all run in step.
    pub(super) fn course(&mut self, nodes: &[Node]) -> Vec<Course> {
        let mut course = vec![];
        for node in nodes {
            match node {
                Node::GridBarrier => course.push(Course::Barrier),
                Node::Barrier if self.reach == Reach::Block => course.push(Course::Barrier),
                Node::For(For { body, .. }) => {
                    let asked = self.bounds(node);
                    course.push(Course::Step(asked));
                    let body = self.course(body);
                    course.push(Course::Loop(body));
                }
                Node::If { then, otherwise, .. } => {
                    let (then, otherwise) = (self.course(then), self.course(otherwise));
                    course.push(Course::Either(then, otherwise));
                }
                Node::Declare { body, .. } | Node::Spread(Spread { over: Over::Blocks, body, .. }) => {
                    course.extend(self.course(body));
                }
                Node::Spread(_) | Node::OneThread { .. } | Node::Statement(_) | Node::Tile(_) | Node::Turns(_) => {
                    let step = self.step(node);
                    course.push(Course::Step(step));
                }
                // The warps of what streams share nothing.
                Node::Barrier
                | Node::Streaming(_)
                | Node::Let { .. }
                | Node::Launch(_)
                | Node::Together { .. }
                | Node::Copy { .. }
                | Node::Await(_) => {}
            }
        }
        course
    }

    fn gather<'n>(&mut self, node: &'n Node, below: &Below<'n>, found: &mut BTreeSet<WorkId>) {
        let mut inner = below.clone();
        match node {
            Node::Statement(it) => {
                let runs = self.runs(it, below).map_or(Runs::Anyone, Runs::Thread);
                let reads = self.input.used_reads(it.computation);
                let work = Work { computation: it.computation, reads, stores: Stores::Yes, runs };
                found.insert(self.crossings.add(work));
            }
            Node::Spread(it) if it.over == Over::Threads => {
                let twice = inner.along.insert(it.axis, Some(it)).is_some();
                inner.is_plain &= !twice && it.combined.is_empty();
            }
            Node::OneThread { axes, .. } => inner.along.extend(axes.iter().map(|&axis| (axis, None))),
            Node::Turns(_) | Node::Tile(_) => inner.is_plain = false,
            _ => {}
        }
        node.blocks().into_iter().flatten().for_each(|node| self.gather(node, &inner, found));
    }

    /// The thread that runs each instance of a statement, if it is a function of the instance.
    fn runs(&self, it: &Statement, below: &Below<'_>) -> Option<Thread> {
        let id = it.computation;
        let is_plain = below.is_plain
            && self.reach == Reach::Block
            && it.update == Update::Stored
            && it.inside.is_none()
            && !self.input.layout.is_ahead(id)
            && self.input.algorithm.computation(id).ranged.is_empty();
        if !is_plain || !below.along.keys().eq(&self.axes) {
            return None;
        }
        let mut thread = Thread::default();
        for (&axis, spread) in &below.along {
            let index = match spread {
                None => Affine::constant(0),
                Some(spread) => {
                    let value = self.value(spread.variable, id)?;
                    let distance = value.sub(&self.affine(&spread.lower, id)?).ok()?;
                    if spread.step == 1 { distance } else { distance.floor_div(spread.step) }
                }
            };
            thread.along.insert(axis, index);
        }
        for path in &self.within {
            if let Some(at) = self.at(path, id) {
                thread.within.insert(path.clone(), at);
            }
        }
        Some(thread)
    }

    /// The value of a loop of the schedule, for instances of a computation.
    fn at(&self, path: &Path, id: ComputationId) -> Option<Affine> {
        match self.input.schedule.node(path)? {
            schedule::Node::Loop(it) => it.at.get(&id).cloned(),
            schedule::Node::Sequence(_) | schedule::Node::Computation(_) => None,
        }
    }

    /// The value of a variable where instances of a computation run.
    fn value(&self, variable: VariableId, id: ComputationId) -> Option<Affine> {
        match self.origin.loops.get(&variable) {
            Some(path) => self.at(path, id),
            None => self.affine(self.lets.get(&variable)?.as_ref()?, id),
        }
    }

    fn affine(&self, expr: &IntExpr, id: ComputationId) -> Option<Affine> {
        let mut values = Values::new();
        expr.walk(&mut |expr| {
            if let IntExpr::Variable(variable) = expr
                && let Some(value) = self.value(*variable, id)
            {
                values.insert(*variable, value);
            }
        });
        affine(expr, &values)
    }
}
