//! `cache_shared` and `cache_register`: what one iteration of a loop touches of an array moves into a buffer of its own.
//!
//! Rewrite of `cache_shared(A, S, i)`: `for i { S reads A[x] } -> for i { load A; S reads A_shared[x - low(i)]; store A }`
//!
//! All statements below the loop that access the array use the buffer instead. It is the box around the part that one
//! iteration touches; it is filled with what is read before it is written, or may be left unwritten, as far as anything has been
//! stored there, and just what is written goes back. The copies are statements like others: dependences and legality prove that loops without an order
//! still may run so.
//!
//! Rewrite of `cache_shared(A, S, i; ahead=1)`: `for i { S reads A[x] } -> for i { load A for i + 1; S reads A_shared[i mod 2, x - low(i)] }`
//!
//! The copies begin one or more iterations earlier, and the buffer has a stage for each iteration under way. That a stage is
//! not filled again before its last use is proved like a map of `store_in`.
//!
//! Rewrite of `cache_shared(A, S, i; axes=(2, 1))`: `A_shared[x, y]` at `buffer[y, x]`
//!
//! Rewrite of `cache_shared(A, S, i; threads=:footprint)`: `load A: every thread a few elements -> load A: a thread for each element`
//!
//! The block has as many threads along each axis as the buffer has elements there. Of these, only those compute that have something to.
//!
//! Reads that lie so far apart that no box of constant size that fits holds them all, as those of `A[i, k] * A[j, k]`, move one after the other:
//! each command takes those reads of the named computation that have the subscripts of its first one that is left.
//!
//! On the GPU, registers belong to a thread: where the loop lies outside of the thread loops, each thread keeps its own
//! part from one nest of thread loops to the next.

mod copies;
mod limits;

pub(crate) use limits::{check_limit, check_together};
pub(super) use limits::{check_shared_total, check_sizes, check_threads_together};

use super::error::{Limit, StorageError};
use super::find;
use super::footprint::{Footprint, Hull, Keys, Level, accesses, elements, footprint, hull, uses, without_gaps};
use super::private::{fresh, in_order, redirect, thread_count};
use super::shift;
use super::store;
use super::tiles::{self, Moved};
use crate::affine::Affine;
use crate::algorithm::{AccessRef, Algorithm, Array, ArrayId, ArrayKind, ComputationId, Subscript};
use crate::command::{AxisOrder, Filling};
use crate::dependence::{Dependence, renewed};
use crate::error::{Error, ScheduleError};
use crate::isl::{Ctx, DimType};
use crate::layers::{Ahead, Buffer, Lifetime, MemorySpace, Placed, Placement, Scheduled, Target};
use crate::legality;
use crate::machine::Gpu;
use crate::relation;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use copies::{copy, copy_nest, load_what_is_stored};
use limits::{is_too_large, widen};
use std::collections::BTreeMap;

/// Threads of a block, along each axis that has any.
type Team = BTreeMap<ProcessorAxis, i64>;

/// Threads of a block that copy for one that computes.
const COPYING: i64 = 128;

/// What the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    /// Copied so many iterations of the loop before its use.
    Shared {
        ahead: u32,
        filling: Filling,
    },
    Register,
}

/// A buffer that holds part of an array.
#[derive(Debug, Clone)]
pub(super) struct Promotion {
    /// The array that the statements now access.
    pub(super) array: ArrayId,
    pub(super) of: ArrayId,
    /// The loop is number `depth` of those around this statement, from 1.
    anchor: ComputationId,
    depth: usize,
    /// How many leading subscripts of the array tell buffers apart.
    keys: u32,
    /// The subscripts after these.
    levels: Vec<Level>,
    /// The levels in the order that the buffer has them in.
    order: Vec<u32>,
    space: MemorySpace,
    /// The copies to it, and how many iterations of the loop they run ahead.
    copies: Option<(ComputationId, u32)>,
    /// The copies with a thread for each element, and how many these are.
    one_each: (Vec<ComputationId>, Team),
}

impl Promotion {
    /// The buffer, and where the array's elements lie in it.
    pub(super) fn buffer(&self, scheduled: &Scheduled) -> (Buffer, Vec<Affine>) {
        let array = scheduled.algorithm.array(self.array);
        let variable = self.space != MemorySpace::Shared && self.levels.iter().all(|level| level.size == 1);
        let axes: &[u32] = if variable { &[] } else { &self.order };
        let first = |at: &u32| Affine::iterator(self.keys + at).add_constant(-1).expect("a small number");
        let buffer = Buffer {
            name: array.name.clone(),
            element: array.element,
            extents: axes.iter().map(|&at| Affine::constant(self.levels[at as usize].size)).collect(),
            space: self.space,
            lifetime: Lifetime::Node(self.path(&scheduled.schedule).child(0)),
        };
        let map: Vec<Affine> = axes.iter().map(first).collect();
        let Some((_, ahead)) = self.copies.filter(|_| self.has_stages()) else { return (buffer, map) };
        let stages = i64::from(ahead) + 1;
        let stage = Affine::iterator(self.keys - 1).modulo(stages).expect("a small number");
        let extents = buffer.extents.into_iter().chain([Affine::constant(stages)]).collect();
        // Several iterations of the loop share it.
        let lifetime = Lifetime::Node(self.path(&scheduled.schedule));
        (Buffer { extents, lifetime, ..buffer }, map.into_iter().chain([stage]).collect())
    }

    /// Which of the buffer's axes neighbours along an axis of the array lie along.
    pub(super) fn place_of(&self, axis: usize) -> Option<usize> {
        self.order.iter().position(|&at| self.levels[at as usize].axis == axis)
    }

    /// How many axes the array has.
    pub(super) fn rank(&self) -> usize {
        self.levels.last().map_or(0, |level| level.axis + 1)
    }

    /// Whether the buffer has a stage for each iteration under way, along a last axis.
    pub(super) fn has_stages(&self) -> bool {
        self.copies.is_some_and(|(_, ahead)| ahead > 0)
    }

    /// The copies that run ahead, once all buffers have their padding.
    pub(super) fn ahead(&self, placed: &Placed) -> Option<Ahead> {
        let (copy, iterations) = self.copies.filter(|_| self.has_stages())?;
        let filled = self.order.first().map_or(1, |&at| self.levels[at as usize].size);
        let lead = shift::lead(&placed.scheduled.algorithm, &placed.layout, copy, filled);
        Some(Ahead { path: self.path(&placed.scheduled.schedule), copy, iterations, to: self.array, lead })
    }

    /// Proves that no stage is filled again before its last use, within one execution of the loop: before the next one all
    /// threads of the block have come to its end, and each block has a buffer of its own.
    pub(super) fn check_ahead(&self, ctx: &Ctx, placed: &Placed, dependences: &[Dependence]) -> Result<(), Error> {
        if !self.has_stages() {
            return Ok(());
        }
        let mut apart = placed.clone();
        let own = apart.layout.placement(self.array).clone();
        let outer = (0..self.keys - 1).map(Affine::iterator);
        let map: Vec<Affine> = outer.chain(own.map).collect();
        apart.layout.placements.insert(self.array, Placement { buffer: own.buffer, map: map.clone() });
        store::check(ctx, &apart, dependences, &[(self.array, map)])
    }

    /// The loop that has a buffer in each iteration.
    fn path(&self, schedule: &Schedule) -> Path {
        let around = schedule.loops_around(self.anchor);
        around[self.depth - 1].0.clone()
    }
}

/// How much of a box a copy fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fill {
    /// All of it that is inside the array.
    Box,
    /// What is needed.
    Exact,
}

/// Everything that a promotion needs to know.
struct Plan<'a> {
    ctx: &'a Ctx,
    scheduled: &'a Scheduled,
    array: ArrayId,
    anchor: ComputationId,
    around: Vec<(Path, Loop)>,
    keys: Keys,
    /// The thread loops whose values are keys, after the loops around.
    own_threads: Vec<(ProcessorAxis, String)>,
    /// The threads that copy together, along each axis.
    team: Team,
    /// How many of them load an element each; none where they share elements out.
    one_each: Team,
    space: MemorySpace,
    suffix: &'static str,
    /// Of the copies to the buffer.
    ahead: u32,
    footprint: Footprint,
    hull: Hull,
    /// The subscripts of the reads that use the buffer, where that is not all accesses.
    part: Option<Vec<Subscript>>,
    /// Whether the footprint is a box around the real one, in a tile of split iteration domains.
    boxed: bool,
}

/// Why an array is not promoted.
pub(super) struct Refused {
    pub(super) error: Box<Error>,
    /// With the copies, where the error is about them.
    pub(super) algorithm: Option<Box<Algorithm>>,
}

impl<E: Into<Error>> From<E> for Refused {
    fn from(error: E) -> Self {
        Refused { error: Box::new(error.into()), algorithm: None }
    }
}

/// Promotes an array of a program whose order has been proved, from all its dependences; gives the new program, and those of
/// that.
pub(super) fn promote(
    ctx: &Ctx,
    (scheduled, known): (&Scheduled, &[Dependence]),
    array: &str,
    computation: &str,
    at: &str,
    (to, axes): (Where, &AxisOrder),
) -> Result<(Scheduled, Promotion, Vec<Dependence>), Refused> {
    let mut plan = plan(ctx, (scheduled, known), array, computation, at, to)?;
    let rank = plan.hull.low.len();
    if let Some(named) = axes.named().filter(|named| named.len() != rank) {
        let array = array.to_string();
        return Err(Error::from(StorageError::AxisCount { array, axes: rank, given: named.len() }).into());
    }
    let limit = match plan.space {
        MemorySpace::Shared => Limit::Shared,
        MemorySpace::Register => Limit::Registers,
        MemorySpace::Host | MemorySpace::Global | MemorySpace::Constant { .. } => Limit::Stack,
    };
    let extents = plan.hull.extents();
    check_limit(&scheduled.algorithm, plan.array, &extents, limit)?;
    if plan.ahead > 0 {
        let stages: Vec<i64> = extents.into_iter().chain([i64::from(plan.ahead) + 1]).collect();
        check_limit(&scheduled.algorithm, plan.array, &stages, limit)?;
        if !plan.footprint.written.is_empty()? {
            let reason = "it is written inside, so that nothing can be copied ahead";
            return Err(
                Error::from(StorageError::WrongLevel { array: array.to_string(), at: at.to_string(), reason }).into()
            );
        }
    }
    match to {
        Where::Shared { filling: Filling::OneEach, .. } if plan.space == MemorySpace::Shared => {
            (plan.team, plan.one_each) = one_each(&plan, at)?;
        }
        Where::Shared { .. } | Where::Register => {}
    }
    let mut refused = None;
    let fills: &[Fill] = if plan.boxed { &[Fill::Exact] } else { &[Fill::Box, Fill::Exact] };
    for &fill in fills {
        let (mut next, promotion, [load, store]) = rewrite(&plan, axes, fill)?;
        let known = (&scheduled.algorithm, known);
        let mut after = match plan.boxed {
            true => {
                let moved = Moved { from: plan.array, to: promotion.array, keys: &plan.keys, load, store };
                tiles::renewed(ctx, known, &next.algorithm, &moved)?
            }
            false => renewed(ctx, known, &next.algorithm)?,
        };
        if let Some((load, _)) = promotion.copies {
            load_what_is_stored(&mut next.algorithm, load, &mut after)?;
        }
        // The copies come between statements that stay in the order that has been proved.
        let all = after.dependences.iter().zip(&after.is_new);
        let new: Vec<Dependence> = all.filter(|(_, is_new)| **is_new).map(|(it, _)| it.clone()).collect();
        match legality::check(ctx, &next.algorithm, &next.schedule, &new) {
            Ok(()) => return Ok((next, promotion, after.dependences)),
            Err(error @ Error::Schedule(ScheduleError::Illegal(_))) => {
                refused = Some(Refused { error: Box::new(error), algorithm: Some(Box::new(next.algorithm)) });
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(refused.expect("an order that is not accepted is refused"))
}

/// The threads of a block that has one for each element of the buffer, and those that compute: along the axes of the same numbers where
/// threads that compute go along them all, else along as many axes as the buffer has with several places.
fn one_each(plan: &Plan<'_>, at: &str) -> Result<(Team, Team), StorageError> {
    let extents = plan.hull.extents();
    let array = || plan.scheduled.algorithm.array(plan.array).name.clone();
    let axes = [ProcessorAxis::X, ProcessorAxis::Y, ProcessorAxis::Z];
    let long: Vec<usize> = (0..extents.len()).filter(|&it| extents[it] > 1).collect();
    if long.len() > axes.len() {
        let reason = "its part has more than three axes, and the threads of a block have three";
        return Err(StorageError::WrongLevel { array: array(), at: at.to_string(), reason });
    }
    let (mut team, mut each) = (plan.team.clone(), BTreeMap::new());
    let same = long.iter().all(|&it| axes.get(it).is_some_and(|axis| team.contains_key(axis)));
    for (place, &axis) in long.iter().enumerate() {
        let along = axes[if same { axis } else { place }];
        each.insert(along, extents[axis]);
        widen(&mut team, along, extents[axis]);
    }
    if is_too_large(&team) {
        let threads = team.into_values().collect();
        return Err(StorageError::ManyThreads { array: array(), at: at.to_string(), extents, threads });
    }
    Ok((team, each))
}

fn plan<'a>(
    ctx: &'a Ctx,
    (scheduled, known): (&'a Scheduled, &[Dependence]),
    name: &str,
    computation: &str,
    at: &str,
    to: Where,
) -> Result<Plan<'a>, Error> {
    let (algorithm, schedule) = (&scheduled.algorithm, &scheduled.schedule);
    let array = find::array(algorithm, name)?;
    let anchor = find::computation(algorithm, computation)?;
    let around = find::loops_down_to(algorithm, schedule, anchor, at)?;
    let around: Vec<(Path, Loop)> = around.into_iter().map(|(path, it)| (path, it.clone())).collect();
    let depth = around.len();
    let users: Vec<ComputationId> =
        around[depth - 1].1.body.computations().into_iter().filter(|&id| uses(algorithm, id, array)).collect();
    if users.is_empty() {
        return Err(StorageError::NotAccessed { array: name.to_string(), at: at.to_string() }.into());
    }
    let wrong = |reason| Error::from(StorageError::WrongLevel { array: name.to_string(), at: at.to_string(), reason });
    match algorithm.array(array).kind {
        ArrayKind::Argument | ArrayKind::Local { .. } | ArrayKind::Returned => {}
        ArrayKind::Private if algorithm.array(array).rank > 0 => {}
        ArrayKind::Private | ArrayKind::Result => {
            return Err(wrong("it is a single variable, and lives in a register where only one value is alive"));
        }
    }
    let mut touched =
        users.iter().flat_map(|&id| accesses(algorithm, id, array).into_iter().map(move |which| (id, which)));
    if touched.any(|(computation, which)| !algorithm.access(AccessRef { computation, which }).is_affine()) {
        let only_read = algorithm.computations.iter().all(|it| it.write.array != array);
        return Err(StorageError::ComputedSubscript { array: name.to_string(), at: at.to_string(), only_read }.into());
    }

    let is_block = |it: &Loop| matches!(it.tag, Tag::GpuBlock(_));
    let is_thread = |it: &Loop| matches!(it.tag, Tag::GpuThread(_));
    let in_kernel = around.iter().any(|(_, it)| is_block(it));
    let in_thread = around.iter().any(|(_, it)| is_thread(it));
    let below = |id: ComputationId| schedule.loops_around(id).into_iter().skip(depth).map(|(_, it)| it);
    if users.iter().any(|&id| below(id).any(is_block)) {
        return Err(wrong("block loops lie inside of it: name one of them, or a loop inside of all block loops"));
    }
    let mut threads: BTreeMap<ComputationId, BTreeMap<ProcessorAxis, &Loop>> = BTreeMap::new();
    for &id in &users {
        let mut axes = BTreeMap::new();
        for it in below(id) {
            if let Tag::GpuThread(axis) = it.tag {
                axes.insert(axis, it);
            }
        }
        threads.insert(id, axes);
    }
    let any_threads = threads.values().any(|axes| !axes.is_empty());

    let (mut own_threads, mut team) = (vec![], BTreeMap::new());
    let (space, suffix) = match (scheduled.target, to) {
        (Target::Cpu, Where::Shared { ahead: 1.., .. }) => return Err(wrong("the CPU has no copies that run ahead")),
        (Target::Cpu, Where::Shared { filling: Filling::OneEach, .. }) => {
            return Err(wrong("the CPU has no blocks with a thread for each element"));
        }
        (Target::Cpu, _) => (MemorySpace::Host, "local"),
        (Target::Gpu, Where::Shared { ahead, filling }) => {
            if in_thread {
                return Err(wrong(
                    "the threads of a block share the buffer, so the loop must lie outside of the thread loops",
                ));
            }
            if !in_kernel {
                return Err(wrong("shared memory belongs to a thread block: name a block loop, or one inside of it"));
            }
            if ahead > 0 && !around[depth - 1].1.tag.keeps_order() {
                return Err(wrong(
                    "blocks run in no order, so that nothing can be copied ahead: name a loop inside of them",
                ));
            }
            for it in threads.values().flat_map(|axes| axes.iter()) {
                let count = thread_count(ctx, algorithm, it.1)?;
                widen(&mut team, *it.0, count);
            }
            // A thread that computes alone has others to copy for it.
            if filling == Filling::Shared && !team.is_empty() && team.values().all(|&count| count == 1) {
                team.insert(ProcessorAxis::X, COPYING);
            }
            (MemorySpace::Shared, "shared")
        }
        (Target::Gpu, Where::Register) => {
            if any_threads {
                if in_thread {
                    return Err(wrong(
                        "thread loops lie on both sides of it: name a loop inside or outside of all of them",
                    ));
                }
                if !in_kernel {
                    return Err(wrong(
                        "registers live no longer than a kernel: name a block loop, or one inside of it",
                    ));
                }
                let first = &threads[&users[0]];
                if threads.values().any(|axes| !axes.keys().eq(first.keys())) {
                    return Err(wrong("its statements are spread over different axes of the thread block"));
                }
                own_threads = first.iter().map(|(axis, it)| (*axis, it.name.clone())).collect();
            }
            (MemorySpace::Register, "reg")
        }
    };

    let mut keys: Keys = BTreeMap::new();
    for &id in &users {
        let mut values: Vec<Affine> = around.iter().map(|(_, it)| it.at[&id].clone()).collect();
        if !own_threads.is_empty() {
            values.extend(threads[&id].values().map(|it| it.at[&id].clone()));
        }
        keys.insert(id, values);
    }
    let plain = matches!(to, Where::Shared { ahead: 0, .. });
    let within = |hull: &Hull, most: i64| {
        let element = algorithm.array(array).element.bytes() as i64;
        let bytes = hull.size.iter().fold(element, |all, &next| all.saturating_mul(next));
        space != MemorySpace::Shared || bytes <= most
    };
    // What a kernel may declare: a box that needs more holds reads that may better have boxes of their own.
    let fits = |hull: &Hull| within(hull, i64::from(Gpu::HOPPER.shared_bytes_of_block));
    let boxes = if plain { tiles::boxes(ctx, algorithm, known, array, &keys)? } else { None };
    let boxes = boxes.filter(|(_, hull)| within(hull, Limit::Shared.bytes()));
    if let Some((footprint, hull)) = boxes {
        let (ahead, boxed) = (0, true);
        return Ok(Plan {
            ctx,
            scheduled,
            array,
            anchor,
            around,
            keys,
            own_threads,
            team,
            one_each: BTreeMap::new(),
            space,
            suffix,
            ahead,
            footprint,
            hull,
            part: None,
            boxed,
        });
    }
    let mut part = None;
    let mut touched = footprint(ctx, algorithm, schedule, (array, None), &keys)?;
    let mut found = hull(algorithm, array, at, &touched.all);
    let first = algorithm.computation(anchor).reads.iter().find(|read| read.array == array);
    let is_far = match &found {
        Ok(hull) => !fits(hull),
        Err(error) => matches!(error, Error::Storage(StorageError::NoConstantSize { .. })),
    };
    if let (true, Some(first)) = (is_far, first)
        && touched.written.is_empty()?
    {
        // Reads that lie far apart: the first ones alone.
        let alone: Keys = keys.iter().filter(|(id, _)| **id == anchor).map(|(id, key)| (*id, key.clone())).collect();
        let near = footprint(ctx, algorithm, schedule, (array, Some(&first.subscripts)), &alone)?;
        let elements = |hull: &Hull| hull.size.iter().fold(1, |all: i64, &next| all.saturating_mul(next));
        // Neighbours that share a box which is too large are told so.
        let gains = |near: &Hull| found.as_ref().map_or(true, |all| fits(near) && 2 * elements(near) <= elements(all));
        if let Ok(box_of_near) = hull(algorithm, array, at, &near.all)
            && gains(&box_of_near)
        {
            (keys, touched, found, part) = (alone, near, Ok(box_of_near), Some(first.subscripts.clone()));
        }
    }
    let footprint = touched;
    if !own_threads.is_empty() && shared_by_threads(&footprint, depth as u32, own_threads.len() as u32)? {
        return Err(wrong("one thread writes an element that another thread uses"));
    }
    let mut hull = found?;
    if space == MemorySpace::Register {
        let keys = around.len() + own_threads.len();
        hull = without_gaps(ctx, algorithm, array, (&footprint.all, keys), hull)?;
    }
    let ahead = match to {
        Where::Shared { ahead, .. } => ahead,
        Where::Register => 0,
    };
    Ok(Plan {
        ctx,
        scheduled,
        array,
        anchor,
        around,
        keys,
        own_threads,
        team,
        one_each: BTreeMap::new(),
        space,
        suffix,
        ahead,
        footprint,
        hull,
        part,
        boxed: false,
    })
}

/// Whether, for one iteration of the loops around, one thread writes an element that another one touches. Then no thread
/// can keep it to itself.
fn shared_by_threads(footprint: &Footprint, around: u32, threads: u32) -> Result<bool, Error> {
    // { [k] -> [k'] }: the key k writes an element that k' touches
    let mut pairs = footprint.written.apply_range(&footprint.all.reverse()?)?;
    for at in 0..around as i32 {
        pairs = pairs.equate(DimType::In, at, DimType::Out, at)?;
    }
    let mut same = pairs.clone();
    for at in around as i32..(around + threads) as i32 {
        same = same.equate(DimType::In, at, DimType::Out, at)?;
    }
    Ok(!pairs.subtract(&same)?.is_empty()?)
}

/// The program with the buffer, and the copies to it and back.
fn rewrite(
    plan: &Plan<'_>,
    axes: &AxisOrder,
    fill: Fill,
) -> Result<(Scheduled, Promotion, [Option<ComputationId>; 2]), Error> {
    let mut algorithm = plan.scheduled.algorithm.clone();
    let mut schedule = plan.scheduled.schedule.clone();
    let source = plan.scheduled.algorithm.array(plan.array).clone();
    let new = ArrayId(algorithm.arrays.len() as u32);
    let key_count = plan.around.len() + plan.own_threads.len();
    algorithm.arrays.push(Array {
        name: fresh(&format!("{}_{}", source.name, plan.suffix), |name| {
            algorithm.arrays.iter().any(|it| it.name == name)
        }),
        element: source.element,
        extents: plan.hull.extents().into_iter().map(Affine::constant).collect(),
        rank: (key_count + plan.hull.levels().len()) as u32,
        firsts: vec![],
        strided: 0..0,
        kind: ArrayKind::Local { outer: key_count as u32 },
    });
    let stages = (plan.ahead > 0).then(|| key_count - 1);
    for (&id, key) in &plan.keys {
        redirect(plan.ctx, &mut algorithm, id, key, (&plan.hull, plan.part.as_deref()), (plan.array, new), stages)?;
        let it = &mut algorithm.computations[id.0 as usize];
        // What a thread has for itself nobody else updates.
        it.atomic &= it.write.array != new || plan.space == MemorySpace::Shared;
    }
    let needed = match fill {
        Fill::Exact => plan.footprint.needed.clone(),
        Fill::Box => {
            let inside = elements(plan.ctx, &algorithm, plan.array, key_count, &plan.hull)?;
            let inside = inside.intersect_domain(&plan.footprint.needed.domain()?)?;
            let inside = inside.intersect_range(&relation::index_set(plan.ctx, &algorithm, plan.array)?)?;
            // Checks at entry keep checked accesses inside of the array.
            if plan.checked() { inside } else { inside.union(&plan.footprint.needed)?.coalesce()? }
        }
    };
    let (mut first, mut last) = (vec![], vec![]);
    let mut copies = None;
    let mut both = [None, None];
    let lives_inside = plan.lives_inside()?;
    for (moves, verb, list) in [(&needed, "load", &mut first), (&plan.footprint.written, "store", &mut last)] {
        if lives_inside || moves.is_empty()? {
            continue;
        }
        let id = copy(plan, &mut algorithm, moves, verb, new)?;
        for (level, (path, _)) in plan.around.iter().enumerate() {
            if let Some(Node::Loop(it)) = schedule.node_mut(path) {
                let sooner = if verb == "load" && level + 1 == plan.around.len() { -i64::from(plan.ahead) } else { 0 };
                it.at.insert(id, Affine::iterator(level as u32).add_constant(sooner)?);
            }
        }
        match verb {
            "load" => (copies, both[0]) = (Some((id, plan.ahead)), Some(id)),
            _ => both[1] = Some(id),
        }
        list.push(copy_nest(plan, &algorithm, id)?);
    }
    let innermost = &plan.around[plan.around.len() - 1].0;
    if let Some(body) = schedule.node_mut(&innermost.child(0)) {
        let there = std::mem::replace(body, Node::Sequence(vec![]));
        let there = match there {
            Node::Sequence(children) => children,
            other @ (Node::Loop(_) | Node::Computation(_)) => vec![other],
        };
        let mut all: Vec<Node> = first.into_iter().chain(there).chain(last).collect();
        *body = if all.len() == 1 { all.remove(0) } else { Node::Sequence(all) };
    }
    algorithm.source_order = Schedule { root: in_order(&schedule.root) };
    let levels = plan.hull.levels();
    let of_axis = |axis: u32| (0..).zip(&levels).filter(move |(_, it)| it.axis == axis as usize).map(|(at, _)| at);
    let order = axes.of(plan.hull.low.len() as u32).into_iter().flat_map(of_axis).collect();
    let filled = both.iter().flatten().copied().filter(|_| !plan.one_each.is_empty()).collect();
    let promotion = Promotion {
        array: new,
        of: plan.array,
        anchor: plan.anchor,
        depth: plan.around.len(),
        keys: key_count as u32,
        order,
        levels,
        space: plan.space,
        copies,
        one_each: (filled, plan.one_each.clone()),
    };
    Ok((Scheduled { algorithm, schedule, ..plan.scheduled.clone() }, promotion, both))
}

impl Plan<'_> {
    /// Whether nobody sees an element but one iteration of the loop: the array is the function's own, only the statements that
    /// use the buffer access these elements, and each of them is touched with one key. Then nothing has to come in or to go back.
    fn lives_inside(&self) -> Result<bool, Error> {
        let algorithm = &self.scheduled.algorithm;
        let is_own = match algorithm.array(self.array).kind {
            ArrayKind::Private | ArrayKind::Local { .. } => true,
            ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned => false,
        };
        let may = is_own && self.part.is_none() && !self.boxed;
        Ok(may && self.alone()? && self.footprint.all.is_injective()?)
    }

    /// Whether no statement but those that use the buffer accesses its elements: others may use the array where sizes are others.
    fn alone(&self) -> Result<bool, Error> {
        let algorithm = &self.scheduled.algorithm;
        let inside = self.footprint.all.range()?;
        for id in algorithm.ids().filter(|id| !self.keys.contains_key(id)) {
            for which in accesses(algorithm, id, self.array) {
                let access = algorithm.access(AccessRef { computation: id, which });
                let touched = relation::access(self.ctx, algorithm, id, access)?.range()?;
                if !touched.intersect(&inside)?.is_empty()? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether all accesses that the buffer replaces are checked at entry.
    fn checked(&self) -> bool {
        let algorithm = &self.scheduled.algorithm;
        self.keys.keys().all(|&computation| {
            let all = accesses(algorithm, computation, self.array).into_iter();
            all.map(|which| AccessRef { computation, which }).all(|at| algorithm.access(at).checked)
        })
    }
}

/// What an isl text says between its braces.
pub(super) fn inside(text: &str) -> String {
    let inner = text.find('{').zip(text.rfind('}')).map(|(open, close)| text[open + 1..close].trim().to_string());
    inner.unwrap_or_else(|| text.to_string())
}
