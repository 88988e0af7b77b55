//! Commands that say how a loop is executed: parallel, vectorize, unroll, separate, gpu.

use super::find::{find_loop, loop_mut, repeated};
use super::fitting;
use super::tree::nests_apart;
use crate::affine::{Affine, Atom};
use crate::algorithm::{Algorithm, ArrayId};
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::rows;
use crate::schedule::{Loop, Node, ProcessorAxis, ResidentSize, Schedule, StreamSize, Tag};

/// Tags a loop.
pub fn tag(scheduled: &Scheduled, computation: &str, at: &str, tag: Tag) -> Result<Schedule, ScheduleError> {
    let (path, it) = find_loop(scheduled, computation, at)?;
    if it.tag != Tag::Sequential && it.tag != tag {
        let (computation, at) = (computation.to_string(), at.to_string());
        return Err(ScheduleError::AlreadyTagged { computation, at, tag: it.tag.adjective() });
    }
    let mut schedule = scheduled.schedule.clone();
    loop_mut(&mut schedule, &path).tag = tag;
    Ok(schedule)
}

/// Has full tiles generated apart from partial ones: the innermost of the loops becomes several in the code, one of which
/// runs the tiles that are whole along all point loops, without guards.
///
/// Rewrite: `for i0 { for i1 in 0..min(n, e - n*i0) { S } }
/// -> for i0 in full { for i1 in 0..n { S } }; for i0 in partial { for i1 in 0..min(n, e - n*i0) { S } }`.
/// The order stays what it is.
pub fn separate(scheduled: &Scheduled, computation: &str, loops: &[String]) -> Result<Schedule, ScheduleError> {
    let mut found = vec![];
    for name in loops {
        found.push(find_loop(scheduled, computation, name)?);
    }
    let deepest = found.into_iter().max_by_key(|(path, _)| path.0.len());
    let Some((_, innermost)) = deepest else { return Err(ScheduleError::SizeCount { loops: 0, sizes: 1 }) };
    let is_tile = |at: &Affine| at.terms().iter().any(|(atom, _)| matches!(atom, Atom::FloorDiv(..)));
    if !innermost.at.values().any(is_tile) {
        let (computation, at) = (computation.to_string(), innermost.name.clone());
        return Err(ScheduleError::NotTiles { computation, at });
    }
    tag(scheduled, computation, &innermost.name, Tag::Separate)
}

/// Iterations of one loop that are unrolled at most.
const MOST_OF_A_LOOP: u64 = 256;
/// Copies of a statement that the unrolled loops around it make at most: compilers take seconds for these, and minutes for four times as
/// many.
const MOST_OF_A_STATEMENT: u64 = 1024;

/// Checks that unrolled loops make no more code than compilers bear.
///
/// # Errors
/// [`ScheduleError::TooManyCopies`].
pub fn check_unrolled(algorithm: &Algorithm, schedule: &Schedule) -> Result<(), ScheduleError> {
    for id in algorithm.ids() {
        let factors = schedule.loops_around(id).into_iter().filter_map(|(_, it)| it.tag.unrolled().map(u64::from));
        let (longest, all) = factors
            .fold((1, 1), |(longest, all): (u64, u64), factor| (longest.max(factor), all.saturating_mul(factor)));
        for (copies, most) in [(longest, MOST_OF_A_LOOP), (all, MOST_OF_A_STATEMENT)] {
            if copies > most {
                let computation = algorithm.computation(id).name.clone();
                return Err(ScheduleError::TooManyCopies { computation, copies, most });
            }
        }
    }
    Ok(())
}

/// Whether the lanes of a warp have something to compute for one another in each loop that says so.
///
/// # Errors
/// [`ScheduleError::NoRows`].
pub fn check_rows(algorithm: &Algorithm, schedule: &Schedule) -> Result<(), ScheduleError> {
    for id in algorithm.ids() {
        let around = schedule.loops_around(id);
        let Some((_, rows)) = around.iter().find(|(_, it)| it.tag == Tag::Rows) else { continue };
        let kernel = around.iter().find(|(_, it)| matches!(it.tag, Tag::GpuBlock(_) | Tag::GpuThread(_)));
        let (_, outermost) = kernel.unwrap_or(&around[0]);
        let written: Vec<ArrayId> =
            outermost.body.computations().into_iter().map(|id| algorithm.computation(id).write.array).collect();
        if let Err(obstacle) = rows::of_loop(algorithm, rows, &|array| written.contains(&array)) {
            let computation = algorithm.computation(id).name.clone();
            return Err(ScheduleError::NoRows { computation, at: rows.name.clone(), obstacle });
        }
    }
    Ok(())
}

/// Maps loops to blocks and threads; both lists are outermost first, and the last of each gets axis x.
///
/// Rewrite: `for i0 { for j0 { for i1 { for j1 { S } } } } -> S<<<(j0, i0), (j1, i1)>>>`
pub fn gpu(
    scheduled: &Scheduled,
    computation: &str,
    blocks: &[String],
    threads: &[String],
) -> Result<Schedule, ScheduleError> {
    if scheduled.target != Target::Gpu {
        return Err(ScheduleError::NeedsGpu);
    }
    if let Some(at) = repeated(blocks.iter().chain(threads)) {
        return Err(ScheduleError::SameLoop { at: at.to_string() });
    }
    let mut schedule = scheduled.schedule.clone();
    let tags: [fn(ProcessorAxis) -> Tag; 2] = [Tag::GpuBlock, Tag::GpuThread];
    for (names, tag_of) in [blocks, threads].into_iter().zip(tags) {
        if names.is_empty() || names.len() > 3 {
            return Err(ScheduleError::GpuAxisCount { count: names.len() });
        }
        let axes = [ProcessorAxis::X, ProcessorAxis::Y, ProcessorAxis::Z];
        for (name, axis) in names.iter().rev().zip(axes) {
            let (path, it) = find_loop(scheduled, computation, name)?;
            if it.tag != Tag::Sequential {
                let (computation, at) = (computation.to_string(), name.clone());
                return Err(ScheduleError::AlreadyTagged { computation, at, tag: it.tag.adjective() });
            }
            loop_mut(&mut schedule, &path).tag = tag_of(axis);
        }
    }
    check_gpu(scheduled, &schedule)?;
    Ok(schedule)
}

/// Has a time loop stream; see [`crate::stream`]. Statements that share a nest get nests of their own, if it does not stream without.
pub fn stream(
    ctx: &Ctx,
    scheduled: &Scheduled,
    computation: &str,
    at: &str,
    size: StreamSize,
) -> Result<Schedule, Error> {
    if scheduled.target != Target::Gpu {
        return Err(ScheduleError::NeedsGpu.into());
    }
    let size = fitting::hexagons(ctx, scheduled, (computation, at), size)?;
    let schedule = tag(scheduled, computation, at, Tag::Stream(size))?;
    let refused = match crate::stream::streams(ctx, &scheduled.algorithm, &schedule) {
        Ok(_) => return Ok(schedule),
        Err(Error::Schedule(refused)) => refused,
        Err(other) => return Err(other),
    };
    let (path, _) = find_loop(scheduled, computation, at)?;
    let mut apart = schedule;
    let it = loop_mut(&mut apart, &path);
    let nests = Node::Sequence(nests_apart(&it.body));
    if nests == *it.body {
        return Err(refused.into());
    }
    *it.body = nests;
    crate::stream::streams(ctx, &scheduled.algorithm, &apart)?;
    Ok(apart)
}

/// Has all steps of a time loop run in one kernel: where its blocks hold the domain if the loop streams already, else whatever the domain;
/// see [`crate::stream::resident`].
pub fn resident(
    ctx: &Ctx,
    scheduled: &Scheduled,
    computation: &str,
    at: &str,
    size: ResidentSize,
) -> Result<Schedule, Error> {
    let (path, it) = find_loop(scheduled, computation, at)?;
    let size = fitting::tiles(ctx, scheduled, (computation, at), size)?;
    let Tag::Stream(streams) = it.tag else {
        return stream(ctx, scheduled, computation, at, StreamSize::in_tiles(size));
    };
    let mut schedule = scheduled.schedule.clone();
    loop_mut(&mut schedule, &path).tag = Tag::Stream(StreamSize { resident: Some(size), ..streams });
    crate::stream::streams(ctx, &scheduled.algorithm, &schedule)?;
    Ok(schedule)
}

/// Checks that GPU loops can be mapped: blocks outside threads, each axis once. Inside of a block nests of thread loops may
/// stand one after the other, with barriers between them; block loops have nothing beside them.
///
/// # Errors
/// [`ScheduleError::GpuMapping`].
pub fn check_gpu(scheduled: &Scheduled, schedule: &Schedule) -> Result<(), ScheduleError> {
    let check = GpuCheck { algorithm: &scheduled.algorithm };
    check.node(&schedule.root, &mut vec![])
}

struct GpuCheck<'a> {
    algorithm: &'a Algorithm,
}

impl GpuCheck<'_> {
    fn node(&self, node: &Node, tags: &mut Vec<Tag>) -> Result<(), ScheduleError> {
        let algorithm = self.algorithm;
        match node {
            Node::Computation(_) => Ok(()),
            Node::Sequence(children) => {
                let in_block = !tags.is_empty() && tags.iter().all(|tag| matches!(tag, Tag::GpuBlock(_)));
                let is_block = |it: &Loop| matches!(it.tag, Tag::GpuBlock(_));
                let allowed = |it: &&Loop| in_block && !is_block(it);
                if let Some(inner) = children.iter().find_map(gpu_loop).filter(|it| !tags.is_empty() && !allowed(it)) {
                    return Err(gpu_error(algorithm, inner, "other statements of the kernel stand beside this loop"));
                }
                children.iter().try_for_each(|child| self.node(child, tags))
            }
            Node::Loop(it) => {
                if it.tag == Tag::GridSync {
                    if !tags.is_empty() {
                        return Err(gpu_error(algorithm, it, "all blocks run it, and it is inside of a block"));
                    }
                    if it.body.has_loop(&|tag| matches!(tag, Tag::GridSync | Tag::Stream(_))) {
                        return Err(gpu_error(algorithm, it, "a loop inside of it is a kernel of its own"));
                    }
                }
                let is_block = matches!(it.tag, Tag::GpuBlock(_));
                if !is_block && it.tag.thread().is_none() {
                    return self.node(&it.body, tags);
                }
                if is_block && tags.iter().any(|tag| tag.thread().is_some()) {
                    return Err(gpu_error(algorithm, it, "a block loop must be outside of all thread loops"));
                }
                let has_axis = |tag: &Tag| *tag == it.tag || (!is_block && tag.thread() == it.tag.thread());
                if tags.iter().any(has_axis) {
                    return Err(gpu_error(algorithm, it, "its axis is already used by a loop around it"));
                }
                tags.push(it.tag);
                self.node(&it.body, tags)?;
                tags.pop();
                Ok(())
            }
        }
    }
}

fn gpu_loop(node: &Node) -> Option<&Loop> {
    match node {
        Node::Computation(_) => None,
        Node::Sequence(children) => children.iter().find_map(gpu_loop),
        Node::Loop(it) if matches!(it.tag, Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine) => Some(it),
        Node::Loop(it) => gpu_loop(&it.body),
    }
}

fn gpu_error(algorithm: &Algorithm, it: &Loop, reason: &'static str) -> ScheduleError {
    let id = it.at.keys().next().expect("a loop holds at least one computation");
    let computation = algorithm.computation(*id).name.clone();
    ScheduleError::GpuMapping { computation, at: it.name.clone(), reason }
}

impl Tag {
    /// How many iterations at a time are unrolled.
    pub fn unrolled(self) -> Option<u32> {
        match self {
            Tag::Unroll(factor) => Some(factor),
            Tag::Sequential
            | Tag::Parallel
            | Tag::Vector(_)
            | Tag::Separate
            | Tag::Rows
            | Tag::Stream(_)
            | Tag::GridSync
            | Tag::GpuBlock(_)
            | Tag::GpuThread(_)
            | Tag::Combine => None,
        }
    }

    /// In words: "parallel", "mapped to GPU blocks", ...
    pub fn adjective(self) -> &'static str {
        match self {
            Tag::Sequential => "sequential",
            Tag::Parallel => "parallel",
            Tag::Vector(_) => "vectorized",
            Tag::Unroll(_) => "unrolled",
            Tag::Rows => "in order, with values that the lanes of a warp compute together",
            Tag::Separate => "separated into full and partial tiles",
            Tag::Stream(_) => "streaming through registers",
            Tag::GridSync => "in one kernel for all of its steps",
            Tag::GpuBlock(_) => "mapped to GPU blocks",
            Tag::GpuThread(_) => "mapped to GPU threads",
            Tag::Combine => "combined by the threads of a block",
        }
    }
}
