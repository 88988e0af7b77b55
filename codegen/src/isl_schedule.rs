//! The schedule tree as isl's: sequences become filters, each loop a band of its own below a mark that names it.

use crate::error::CodegenError;
use crate::frame::{Frame, frame};
use crate::input::Input;
use std::collections::BTreeMap;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::isl::{self, Id, LoopType, MultiUnionPwAff, UnionPwAff, UnionSet};
use tessella_polyhedral::layers::Lifetime;
use tessella_polyhedral::schedule::{Node, Path, Tag};

/// An isl schedule and the meaning of its marks.
pub struct Marked {
    pub schedule: isl::Schedule,
    /// By the number in a mark's name.
    pub marks: Vec<Mark>,
    /// The most loops around a computation.
    pub depth: usize,
    /// The computations that run right after one for the same instances, by that one: isl need not tell them apart.
    pub followers: BTreeMap<ComputationId, Vec<ComputationId>>,
}

/// What the loops around several nests run through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Around {
    /// Just the iterations in which one of them has something to do, one loop after the other for those in which others have.
    Exact,
    /// A convex set, in one loop: a [`Frame`]. isl needs far less work for it.
    Framed,
    /// The same, and each loop of the nests is one loop, too: statements ask where only some of its iterations have work for them. isl need not
    /// tell the faces of a box apart, of which there are six in space.
    Whole,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// The loop at this path; its band is the mark's child.
    Loop(Path),
    /// The node at this path, which has buffers, copies or a barrier.
    Node(Path),
    /// Children of the sequence at this path, from the first to the last, which have buffers.
    Children(Path, usize, usize),
}

/// The name of a mark; users' names have no spaces.
pub fn mark_name(number: usize) -> String {
    format!("mark {number}")
}

/// The number in a mark's name.
pub fn mark_number(name: &str) -> Option<usize> {
    name.strip_prefix("mark ")?.parse().ok()
}

/// The name of the iterator of the band at this depth.
pub fn iterator_name(depth: usize) -> String {
    format!("loop {depth}")
}

/// Builds the isl schedule; `None` if the program has no computation.
pub fn to_isl(input: &Input<'_>, around: Around) -> Result<Option<Marked>, CodegenError> {
    let params = input.algorithm.param_names();
    let mut build =
        Build { input, around, marks: vec![], params, depth: 0, followers: BTreeMap::new(), frames: vec![] };
    let schedule = build.node(&input.schedule.root, &mut vec![], 0)?;
    let Build { marks, depth, followers, .. } = build;
    let unshifted = |schedule: isl::Schedule| {
        guarded(schedule.root()?, &isl::Space::unit(input.algorithm.context.ctx())?)?.schedule()
    };
    let schedule = schedule.map(unshifted).transpose()?;
    Ok(schedule.map(|schedule| Marked { schedule, marks, depth, followers }))
}

/// A schedule with a guard, which asks for nothing, below all of its leaves.
///
/// Below loops in which computations run in every second iteration, say, but in different ones, isl moves these together, so that the loop
/// takes two steps at a time. How far it moves each it finds out from the distances to one of them; those that never run in the same iteration
/// of the loops around that one have none, and isl takes it to be 0 (`generate_component` of isl 0.27). So it breaks the order where some of
/// them run beside others that it moves. It moves nothing where a guard stands below.
fn guarded(node: isl::ScheduleNode, params: &isl::Space) -> Result<isl::ScheduleNode, isl::IslError> {
    if !node.has_children()? {
        // Of the loops around it.
        let iterations = params.add_unnamed_tuple(node.schedule_depth()?)?;
        return node.insert_guard(&isl::Set::universe(&iterations)?);
    }
    let mut node = node;
    for child in 0..node.child_count()? {
        node = guarded(node.child(child as i32)?, params)?.parent()?;
    }
    Ok(node)
}

struct Build<'a> {
    input: &'a Input<'a>,
    around: Around,
    marks: Vec<Mark>,
    params: Vec<String>,
    depth: usize,
    followers: BTreeMap<ComputationId, Vec<ComputationId>>,
    /// By the sequence whose nests they stand for.
    frames: Vec<(Path, Frame)>,
}

impl Build<'_> {
    fn node(
        &mut self,
        node: &Node,
        path: &mut Vec<usize>,
        depth: usize,
    ) -> Result<Option<isl::Schedule>, CodegenError> {
        let schedule = match node {
            Node::Computation(id) => Some(isl::Schedule::from_domain(&self.domain(*id)?)?),
            Node::Sequence(children) => {
                let spans = self.spans(path);
                let nests = self.children(children, (0, children.len()), &spans, path, depth)?;
                match nests {
                    Some(nests) if self.around != Around::Exact => Some(self.framed(nests, node, path)?),
                    nests => nests,
                }
            }
            Node::Loop(it) => {
                self.depth = self.depth.max(depth + 1);
                path.push(0);
                let body = self.node(&it.body, path, depth + 1)?;
                path.pop();
                match body {
                    None => None,
                    Some(body) => {
                        let mut at: Option<UnionPwAff> = None;
                        let followers: Vec<ComputationId> = self.followers.values().flatten().copied().collect();
                        let here: Vec<&(Path, Frame)> =
                            self.frames.iter().filter(|(of, _)| of.0.starts_with(path)).collect();
                        let in_frame = |id: ComputationId| {
                            let leaf = self.input.schedule.path_of(id);
                            leaf.is_some_and(|leaf| here.iter().any(|(of, _)| leaf.0.starts_with(&of.0)))
                        };
                        for (&id, affine) in it.at.iter().filter(|(id, _)| !followers.contains(id) && !in_frame(**id)) {
                            let space = self.input.instances(id)?.space()?;
                            // { S[i, j] -> [value of the loop] }
                            let next = UnionPwAff::from_aff(&affine.to_isl(&space, &self.params)?)?;
                            at = Some(match at {
                                Some(at) => at.union_add(&next)?,
                                None => next,
                            });
                        }
                        for (_, frame) in here {
                            let value =
                                Affine::iterator(depth as u32).to_isl(&frame.iterations.space()?, &self.params)?;
                            let next = UnionPwAff::from_aff(&value)?;
                            at = Some(match at {
                                Some(at) => at.union_add(&next)?,
                                None => next,
                            });
                        }
                        let at = at.ok_or_else(|| no_functions(&it.name))?;
                        let schedule = body.insert_partial_schedule(&MultiUnionPwAff::from_union_pw_aff(&at)?)?;
                        // What awaits copies stands at the end of each iteration.
                        let awaits = self.input.layout.ahead_in(&Path(path.clone())).is_some();
                        let whole = awaits || self.around == Around::Whole;
                        let kind = if whole { LoopType::Atomic } else { loop_type(it.tag) };
                        let band = schedule.root()?.first_child()?.band_member_set_loop_type(0, kind)?;
                        Some(self.marked(&band, Mark::Loop(Path(path.clone())))?)
                    }
                }
            }
        };
        let here = Path(path.clone());
        match schedule {
            Some(schedule) if !here.0.is_empty() && self.has_operations(&here) => {
                Ok(Some(self.marked(&schedule.root()?.first_child()?, Mark::Node(here))?))
            }
            schedule => Ok(schedule),
        }
    }

    /// The nests of the sequence at `path` in a frame, if they get one and none of them has.
    fn framed(&mut self, nests: isl::Schedule, node: &Node, path: &[usize]) -> Result<isl::Schedule, CodegenError> {
        let at = Path(path.to_vec());
        if self.frames.iter().any(|(of, _)| of.0.starts_with(path)) {
            return Ok(nests);
        }
        let Some(frame) = frame(self.input, self.frames.len(), node, &at, &self.followers)? else { return Ok(nests) };
        let framed = frame.around(&nests)?;
        self.frames.push((at, frame));
        Ok(framed)
    }

    /// The children of the sequence at `path` from one to before another, those of one span below a mark of their own. Spans
    /// come with the widest first, and nest.
    fn children(
        &mut self,
        all: &[Node],
        (from, to): (usize, usize),
        spans: &[(usize, usize)],
        path: &mut Vec<usize>,
        depth: usize,
    ) -> Result<Option<isl::Schedule>, CodegenError> {
        let mut whole: Option<isl::Schedule> = None;
        let mut at = from;
        while at < to {
            let widest = spans.iter().position(|&(first, last)| first == at && last < to);
            let next = match widest {
                Some(widest) => {
                    let (first, last) = spans[widest];
                    at = last + 1;
                    let inner = self.children(all, (first, at), &spans[widest + 1..], path, depth)?;
                    let mark = Mark::Children(Path(path.clone()), first, last);
                    let marked = inner.map(|inner| self.marked(&inner.root()?.first_child()?, mark));
                    marked.transpose()?
                }
                None => {
                    path.push(at);
                    let next = self.node(&all[at], path, depth)?;
                    path.pop();
                    let begins = |at: usize| spans.iter().any(|&(first, last)| first <= at && at <= last);
                    let before = at;
                    at += 1;
                    while at < to && !begins(before) && !begins(at) && self.follows(&all[before], &all[at], path, at)? {
                        at += 1;
                    }
                    next
                }
            };
            whole = match (whole, next) {
                (Some(whole), Some(next)) => Some(whole.sequence(&next)?),
                (whole, next) => whole.or(next),
            };
        }
        Ok(whole)
    }

    /// Whether a child of the sequence at `path` is a computation that runs right after another one, for the same instances; then it
    /// is noted as such.
    fn follows(&mut self, first: &Node, next: &Node, path: &[usize], at: usize) -> Result<bool, CodegenError> {
        let (Node::Computation(first), Node::Computation(next)) = (first, next) else { return Ok(false) };
        // Nothing may stand before or after the one that follows, nor after the one that it follows.
        let child = |at: usize| Path(path.iter().copied().chain([at]).collect());
        if self.has_operations(&child(at)) || self.has_operations(&child(at - 1)) {
            return Ok(false);
        }
        let algorithm = self.input.algorithm;
        let instances = |id: ComputationId| algorithm.computation(id).domain.reset_tuple_id();
        let around = self.input.schedule.loops_around(*first);
        let same = around.iter().all(|(_, it)| it.at.get(first) == it.at.get(next))
            && instances(*first)?.is_plainly_equal(&instances(*next)?)?;
        if same {
            self.followers.entry(*first).or_default().push(*next);
        }
        Ok(same)
    }

    /// The first and last children of the sequence that buffers live for, the widest first.
    fn spans(&self, path: &[usize]) -> Vec<(usize, usize)> {
        let buffers = self.input.layout.buffers.iter();
        let mut spans: Vec<(usize, usize)> = buffers
            .filter_map(|it| match &it.lifetime {
                Lifetime::Children { of, first, last } if of.0 == path => Some((*first, *last)),
                Lifetime::Children { .. } | Lifetime::Argument(_) | Lifetime::Call | Lifetime::Node(_) => None,
            })
            .collect();
        spans.sort_by_key(|&(first, last)| (std::cmp::Reverse(last - first), first));
        spans.dedup();
        spans
    }

    /// The schedule with a mark above `node`.
    fn marked(&mut self, node: &isl::ScheduleNode, mark: Mark) -> Result<isl::Schedule, CodegenError> {
        let id = Id::new(self.input.algorithm.context.ctx(), &mark_name(self.marks.len()))?;
        self.marks.push(mark);
        Ok(node.insert_mark(&id)?.schedule()?)
    }

    fn domain(&self, id: ComputationId) -> Result<UnionSet, CodegenError> {
        Ok(UnionSet::from_set(&self.input.instances(id)?)?)
    }

    fn has_operations(&self, path: &Path) -> bool {
        self.input.transfers.iter().any(|it| it.at == *path)
            || self.input.barriers.contains(path)
            || self.input.layout.buffers.iter().any(|it| matches!(&it.lifetime, Lifetime::Node(at) if at == path))
    }
}

/// Loops that others run must be one loop; isl may cut the others at will.
fn loop_type(tag: Tag) -> LoopType {
    match tag {
        Tag::Sequential | Tag::Unroll(_) | Tag::Rows | Tag::Separate | Tag::Stream(_) | Tag::GridSync => {
            LoopType::Default
        }
        Tag::Parallel | Tag::Vector(_) | Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine => LoopType::Atomic,
    }
}

fn no_functions(name: &str) -> isl::IslError {
    isl::IslError {
        kind: isl::IslErrorKind::Invalid,
        message: format!("loop `{name}` has no function for the computations below it"),
    }
}
