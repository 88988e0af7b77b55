//! Carrying out commands: each rewrites the tree, then one legality check accepts or refuses the whole.
//!
//! Every primitive takes the schedule apart from its proof: it returns a new tree, and [`apply`] asks
//! [`legality::check`]. The input is never touched.

use crate::algorithm::{Algorithm, ComputationId};
use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::legality;
use crate::order;
use crate::relation;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use std::collections::BTreeMap;

/// Carries out one command on a scheduled program.
///
/// # Errors
/// [`ScheduleError`] where names, nesting or tags do not fit, or where the new order breaks a dependence.
pub fn apply(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    command: &Command,
) -> Result<Scheduled, Error> {
    let algorithm = &scheduled.algorithm;
    let schedule = match command {
        Command::Interchange { computation, outer, inner } => interchange(scheduled, computation, outer, inner)?,
        Command::Split { computation, at, size } => split(ctx, scheduled, computation, at, *size)?,
        Command::Tile { computation, loops, sizes } => tile(ctx, scheduled, computation, loops, sizes)?,
        Command::Skew { computation, outer, inner, factor } => skew(scheduled, computation, outer, inner, *factor)?,
        Command::Shift { computation, at, by } => shift(scheduled, computation, at, *by)?,
        Command::Reverse { computation, at } => reverse(scheduled, computation, at)?,
        Command::Parallel { computation, at } => {
            if scheduled.target == Target::Gpu {
                return Err(ScheduleError::NeedsCpu.into());
            }
            tag(scheduled, computation, at, Tag::Parallel)?
        }
        Command::Vectorize { computation, at, width } => tag(scheduled, computation, at, Tag::Vector(*width))?,
        Command::Unroll { computation, at, factor } => tag(scheduled, computation, at, Tag::Unroll(*factor))?,
        Command::Fuse { first, second, at } => fuse(scheduled, first, second, at)?,
        Command::Distribute { computation, at } => distribute(scheduled, computation, at)?,
        Command::After { computation, other, at } => place(scheduled, computation, other, at.as_deref(), Side::After)?,
        Command::Before { computation, other, at } => {
            place(scheduled, computation, other, at.as_deref(), Side::Before)?
        }
        Command::Gpu { computation, blocks, threads } => gpu(scheduled, computation, blocks, threads)?,
        Command::Auto => return crate::default_order::schedule(ctx, scheduled, dependences),
        Command::Order(tree) => order::build(ctx, scheduled, tree)?,
        // Carried out by `crate::storage`, on the finished order.
        Command::StoreIn { .. } | Command::CacheShared { .. } | Command::CacheRegister { .. } | Command::Pad { .. } => {
            return Ok(scheduled.clone());
        }
    };
    legality::check(ctx, algorithm, &schedule, dependences)?;
    Ok(Scheduled { schedule, ..scheduled.clone() })
}

/// Exchanges two perfectly nested loops.
///
/// Rewrite: `for i { for j { S } } -> for j { for i { S } }`
pub fn interchange(
    scheduled: &Scheduled,
    computation: &str,
    outer: &str,
    inner: &str,
) -> Result<Schedule, ScheduleError> {
    let (outer_path, inner_path) = perfect_pair(scheduled, computation, outer, inner)?;
    let mut schedule = scheduled.schedule.clone();
    exchange(&mut schedule, &outer_path, &inner_path);
    Ok(schedule)
}

/// Splits a loop into tiles and points.
///
/// Rewrite: `for i in l..u { S } -> for i0 { for i1 in 0..n { S } }` with `i = l + n*i0 + i1`; `l` is the loop's
/// smallest value where that is a number, else 0. Always legal.
pub fn split(ctx: &Ctx, scheduled: &Scheduled, computation: &str, at: &str, size: u32) -> Result<Schedule, Error> {
    let (path, _) = find_loop(scheduled, computation, at)?;
    let mut schedule = scheduled.schedule.clone();
    split_at(ctx, &scheduled.algorithm, &mut schedule, &path, size)?;
    Ok(schedule)
}

/// Splits perfectly nested loops and brings their tile loops outside.
///
/// Rewrite: `for i { for j { S } } -> for i0 { for j0 { for i1 { for j1 { S } } } }`
///
/// # Source
/// Bondhugula et al., PLDI 2008, section 4: legal where the band is permutable.
pub fn tile(
    ctx: &Ctx,
    scheduled: &Scheduled,
    computation: &str,
    loops: &[String],
    sizes: &[u32],
) -> Result<Schedule, Error> {
    if loops.len() != sizes.len() || loops.is_empty() {
        return Err(ScheduleError::SizeCount { loops: loops.len(), sizes: sizes.len() }.into());
    }
    for pair in loops.windows(2) {
        let (outer, inner) = perfect_pair(scheduled, computation, &pair[0], &pair[1])?;
        if inner.0.len() != outer.0.len() + 1 {
            let between = vec![];
            let (outer, inner) = (pair[0].clone(), pair[1].clone());
            let computation = computation.to_string();
            return Err(ScheduleError::NotPerfectlyNested { computation, outer, inner, between }.into());
        }
    }
    let (top, _) = find_loop(scheduled, computation, &loops[0])?;
    let mut schedule = scheduled.schedule.clone();
    let mut path = top.clone();
    for size in sizes {
        split_at(ctx, &scheduled.algorithm, &mut schedule, &path, *size)?;
        path.0.extend([0, 0]);
    }
    // The chain is now i0 i1 j0 j1 ...: bring the tile loops to the front.
    let chain = take_chain(&mut schedule, &top, 2 * loops.len());
    let (tiles, points): (Vec<_>, Vec<_>) = chain.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let order: Vec<Loop> = tiles.into_iter().chain(points).map(|(_, it)| it).collect();
    put_chain(&mut schedule, &top, order);
    Ok(schedule)
}

/// Adds a multiple of an outer loop to an inner one.
///
/// Rewrite: `for i { for j { S } } -> for i { for j' { S } }` with `j' = j + f*i`.
pub fn skew(
    scheduled: &Scheduled,
    computation: &str,
    outer: &str,
    inner: &str,
    factor: i64,
) -> Result<Schedule, Error> {
    let (_, outer_loop) = find_loop(scheduled, computation, outer)?;
    let (inner_path, _) = find_inside(scheduled, computation, outer, inner)?;
    let outer_at = outer_loop.at.clone();
    let mut schedule = scheduled.schedule.clone();
    let it = loop_mut(&mut schedule, &inner_path);
    for (id, at) in &mut it.at {
        *at = at.add(&outer_at[id].scale(factor)?)?;
    }
    Ok(schedule)
}

/// Delays one computation along a loop.
///
/// Rewrite: `for i { S(i); R(i) } -> for i { S(i-k); R(i) }`
pub fn shift(scheduled: &Scheduled, computation: &str, at: &str, by: i64) -> Result<Schedule, Error> {
    let id = find_computation(&scheduled.algorithm, computation)?;
    let (path, _) = find_loop(scheduled, computation, at)?;
    let mut schedule = scheduled.schedule.clone();
    let it = loop_mut(&mut schedule, &path);
    let shifted = it.at[&id].add_constant(by)?;
    it.at.insert(id, shifted);
    Ok(schedule)
}

/// Runs a loop backwards.
///
/// Rewrite: `for i in l:u { S } -> for i in u:-1:l { S }`
pub fn reverse(scheduled: &Scheduled, computation: &str, at: &str) -> Result<Schedule, Error> {
    let (path, _) = find_loop(scheduled, computation, at)?;
    let mut schedule = scheduled.schedule.clone();
    for at in loop_mut(&mut schedule, &path).at.values_mut() {
        *at = at.scale(-1)?;
    }
    Ok(schedule)
}

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

/// Makes one loop of two that follow one another.
///
/// Rewrite: `for i { R }; for i { S } -> for i { R; S }`
pub fn fuse(scheduled: &Scheduled, first: &str, second: &str, at: &str) -> Result<Schedule, ScheduleError> {
    let (first_path, _) = find_loop(scheduled, first, at)?;
    let (second_path, _) = find_loop(scheduled, second, at)?;
    let not_adjacent = || {
        let (first, second, at) = (first.to_string(), second.to_string(), at.to_string());
        ScheduleError::NotAdjacent { first, second, at }
    };
    if first_path == second_path {
        let (first, second) = (first.to_string(), second.to_string());
        return Err(ScheduleError::SameComputation { first, second });
    }
    let (Some((&a, parent)), Some((&b, other))) = (first_path.0.split_last(), second_path.0.split_last()) else {
        return Err(not_adjacent());
    };
    if parent != other || a.abs_diff(b) != 1 {
        return Err(not_adjacent());
    }
    let mut schedule = scheduled.schedule.clone();
    let parent = Path(parent.to_vec());
    let Some(Node::Sequence(children)) = schedule.node_mut(&parent) else { return Err(not_adjacent()) };
    let (low, high) = (a.min(b), a.max(b));
    let (Node::Loop(right), Node::Loop(left)) = (children.remove(high), children.remove(low)) else {
        return Err(not_adjacent());
    };
    let tag = if left.tag == right.tag { left.tag } else { Tag::Sequential };
    let mut at = left.at;
    at.extend(right.at);
    let body = Box::new(sequence(vec![*left.body, *right.body]));
    children.insert(low, Node::Loop(Loop { name: left.name, tag, at, body }));
    simplify(&mut schedule.root);
    Ok(schedule)
}

/// Gives each child of a loop's body a loop of its own.
///
/// Rewrite: `for i { R; S } -> for i { R }; for i { S }`
pub fn distribute(scheduled: &Scheduled, computation: &str, at: &str) -> Result<Schedule, ScheduleError> {
    let (path, it) = find_loop(scheduled, computation, at)?;
    let Node::Sequence(_) = &*it.body else {
        let (computation, at) = (computation.to_string(), at.to_string());
        return Err(ScheduleError::NothingToDistribute { computation, at });
    };
    let mut schedule = scheduled.schedule.clone();
    distribute_at(&mut schedule, &path);
    simplify(&mut schedule.root);
    Ok(schedule)
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// Moves a computation next to another, sharing the other's loops down to `at`.
///
/// Rewrite of `after(R, S, i)`: `for i { S }; for i { R } -> for i { S; R }`. `R` keeps its further loops inside.
fn place(
    scheduled: &Scheduled,
    computation: &str,
    other: &str,
    at: Option<&str>,
    side: Side,
) -> Result<Schedule, ScheduleError> {
    let moved = find_computation(&scheduled.algorithm, computation)?;
    let anchor = find_computation(&scheduled.algorithm, other)?;
    if moved == anchor {
        return Err(ScheduleError::SameComputation { first: computation.to_string(), second: other.to_string() });
    }
    let own: Vec<Loop> = scheduled.schedule.loops_around(moved).into_iter().map(|(_, it)| it.clone()).collect();
    let mut schedule = scheduled.schedule.clone();
    remove(&mut schedule.root, moved);
    simplify(&mut schedule.root);

    let around = schedule.loops_around(anchor);
    let shared = match at {
        None => 0,
        Some(name) => match around.iter().position(|(_, it)| it.name == name) {
            Some(position) => position + 1,
            None => {
                let known = around.iter().map(|(_, it)| it.name.clone()).collect();
                let (computation, name) = (other.to_string(), name.to_string());
                return Err(ScheduleError::UnknownLoop { computation, name, known });
            }
        },
    };
    if own.len() < shared {
        let computation = computation.to_string();
        return Err(ScheduleError::TooFewLoops { computation, has: own.len(), needs: shared });
    }
    let paths: Vec<Path> = around[..shared].iter().map(|(path, _)| path.clone()).collect();
    for (path, mine) in paths.iter().zip(&own) {
        let at = mine.at[&moved].clone();
        loop_mut(&mut schedule, path).at.insert(moved, at);
    }
    let leaf = own[shared..].iter().rev().fold(Node::Computation(moved), |body, it| {
        let at = BTreeMap::from([(moved, it.at[&moved].clone())]);
        Node::Loop(Loop { name: it.name.clone(), tag: it.tag, at, body: Box::new(body) })
    });

    // Inside the innermost shared loop: beside the child that holds the anchor.
    let parent = paths.last().map_or_else(Path::default, |path| Path([path.0.as_slice(), &[0]].concat()));
    let anchor_path = schedule.path_of(anchor).expect("the anchor was not removed");
    let inside = schedule.node_mut(&parent).expect("the path was just found");
    match inside {
        Node::Sequence(children) => {
            let child = anchor_path.0[parent.0.len()];
            children.insert(if side == Side::After { child + 1 } else { child }, leaf);
        }
        Node::Loop(_) | Node::Computation(_) => {
            let there = std::mem::replace(inside, Node::Sequence(vec![]));
            *inside = sequence(if side == Side::After { vec![there, leaf] } else { vec![leaf, there] });
        }
    }
    simplify(&mut schedule.root);
    Ok(schedule)
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
    let mut schedule = scheduled.schedule.clone();
    let roles: [(&[String], fn(ProcessorAxis) -> Tag); 2] = [(blocks, Tag::GpuBlock), (threads, Tag::GpuThread)];
    for (names, tag_of) in roles {
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
    check_gpu(&scheduled.algorithm, &schedule)?;
    Ok(schedule)
}

/// Checks that GPU loops can be mapped: blocks outside threads, each axis once, no statement beside them in a kernel.
///
/// # Errors
/// [`ScheduleError::GpuMapping`].
pub fn check_gpu(algorithm: &Algorithm, schedule: &Schedule) -> Result<(), ScheduleError> {
    let mut tags = vec![];
    check_gpu_node(algorithm, &schedule.root, &mut tags)
}

fn check_gpu_node(algorithm: &Algorithm, node: &Node, tags: &mut Vec<Tag>) -> Result<(), ScheduleError> {
    match node {
        Node::Computation(_) => Ok(()),
        Node::Sequence(children) => {
            if let Some(inner) = children.iter().find_map(gpu_loop).filter(|_| !tags.is_empty()) {
                return Err(gpu_error(algorithm, inner, "other statements of the kernel stand beside this loop"));
            }
            children.iter().try_for_each(|child| check_gpu_node(algorithm, child, tags))
        }
        Node::Loop(it) => {
            let is_block = matches!(it.tag, Tag::GpuBlock(_));
            if !is_block && !matches!(it.tag, Tag::GpuThread(_)) {
                return check_gpu_node(algorithm, &it.body, tags);
            }
            if is_block && tags.iter().any(|tag| matches!(tag, Tag::GpuThread(_))) {
                return Err(gpu_error(algorithm, it, "a block loop must be outside of all thread loops"));
            }
            if tags.contains(&it.tag) {
                return Err(gpu_error(algorithm, it, "its axis is already used by a loop around it"));
            }
            tags.push(it.tag);
            check_gpu_node(algorithm, &it.body, tags)?;
            tags.pop();
            Ok(())
        }
    }
}

fn gpu_loop(node: &Node) -> Option<&Loop> {
    match node {
        Node::Computation(_) => None,
        Node::Sequence(children) => children.iter().find_map(gpu_loop),
        Node::Loop(it) if matches!(it.tag, Tag::GpuBlock(_) | Tag::GpuThread(_)) => Some(it),
        Node::Loop(it) => gpu_loop(&it.body),
    }
}

fn gpu_error(algorithm: &Algorithm, it: &Loop, reason: &'static str) -> ScheduleError {
    let id = it.at.keys().next().expect("a loop holds at least one computation");
    let computation = algorithm.computation(*id).name.clone();
    ScheduleError::GpuMapping { computation, at: it.name.clone(), reason }
}

// Finding things by name.

pub(crate) fn find_computation(algorithm: &Algorithm, name: &str) -> Result<ComputationId, ScheduleError> {
    algorithm.find(name).ok_or_else(|| {
        let known = algorithm.computations.iter().map(|computation| computation.name.clone()).collect();
        ScheduleError::UnknownComputation { name: name.to_string(), known }
    })
}

fn find_loop<'a>(
    scheduled: &'a Scheduled,
    computation: &str,
    name: &str,
) -> Result<(Path, &'a Loop), ScheduleError> {
    let id = find_computation(&scheduled.algorithm, computation)?;
    let around = scheduled.schedule.loops_around(id);
    let known = around.iter().map(|(_, it)| it.name.clone()).collect();
    around.into_iter().find(|(_, it)| it.name == name).ok_or_else(|| {
        let (computation, name) = (computation.to_string(), name.to_string());
        ScheduleError::UnknownLoop { computation, name, known }
    })
}

fn find_inside<'a>(
    scheduled: &'a Scheduled,
    computation: &str,
    outer: &str,
    inner: &str,
) -> Result<(Path, &'a Loop), ScheduleError> {
    let (outer_path, _) = find_loop(scheduled, computation, outer)?;
    let (path, it) = find_loop(scheduled, computation, inner)?;
    if path.0.len() <= outer_path.0.len() {
        let (computation, outer, inner) = (computation.to_string(), outer.to_string(), inner.to_string());
        return Err(ScheduleError::NotNested { computation, outer, inner });
    }
    Ok((path, it))
}

/// The paths of two loops with nothing but loops between them.
fn perfect_pair(
    scheduled: &Scheduled,
    computation: &str,
    outer: &str,
    inner: &str,
) -> Result<(Path, Path), ScheduleError> {
    let (outer_path, _) = find_loop(scheduled, computation, outer)?;
    let (inner_path, _) = find_inside(scheduled, computation, outer, inner)?;
    for depth in outer_path.0.len()..inner_path.0.len() {
        let here = Path(inner_path.0[..depth].to_vec());
        if let Some(Node::Sequence(children)) = scheduled.schedule.node(&here) {
            let within = inner_path.0[depth];
            let others = children.iter().enumerate().filter(|(at, _)| *at != within);
            let between = others.flat_map(|(_, child)| child.computations()).collect();
            let (computation, outer, inner) = (computation.to_string(), outer.to_string(), inner.to_string());
            return Err(ScheduleError::NotPerfectlyNested { computation, outer, inner, between });
        }
    }
    Ok((outer_path, inner_path))
}

pub(crate) fn loop_mut<'a>(schedule: &'a mut Schedule, path: &Path) -> &'a mut Loop {
    match schedule.node_mut(path) {
        Some(Node::Loop(it)) => it,
        _ => panic!("the path was just found and names a loop"),
    }
}

// Rewriting the tree.

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

/// Splits the loop at `path`; the tile loop takes its place and the point loop stands just inside.
pub(crate) fn split_at(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &mut Schedule,
    path: &Path,
    size: u32,
) -> Result<(), Error> {
    let it = loop_mut(schedule, path).clone();
    if it.tag != Tag::Sequential {
        let id = it.at.keys().next().expect("a loop holds at least one computation");
        let computation = algorithm.computation(*id).name.clone();
        return Err(ScheduleError::AlreadyTagged { computation, at: it.name, tag: it.tag.adjective() }.into());
    }
    let origin = smallest_value(ctx, algorithm, &it)?.unwrap_or(0);
    let taken = names_around(schedule, path);
    let [tile_name, point_name] = ["0", "1"].map(|suffix| fresh(&format!("{}{suffix}", it.name), &taken));
    let size = i64::from(size);
    let (mut tiles, mut points) = (BTreeMap::new(), BTreeMap::new());
    for (id, at) in &it.at {
        let from_origin = at.add_constant(-origin)?;
        tiles.insert(*id, from_origin.floor_div(size));
        points.insert(*id, from_origin.modulo(size)?);
    }
    let inner = Loop { name: point_name, tag: it.tag, at: points, body: it.body };
    *loop_mut(schedule, path) =
        Loop { name: tile_name, tag: Tag::Sequential, at: tiles, body: Box::new(Node::Loop(inner)) };
    Ok(())
}

/// The smallest value that a loop takes, if it is the same for all parameters.
fn smallest_value(ctx: &Ctx, algorithm: &Algorithm, it: &Loop) -> Result<Option<i64>, Error> {
    let mut smallest: Option<i64> = None;
    for (id, at) in &it.at {
        let values = relation::domain(algorithm, *id)?.apply(&relation::function(ctx, algorithm, *id, at)?)?;
        if values.is_empty()? {
            continue;
        }
        let values = values.project_out_all_params()?;
        let Some(value) = values.dim_min_val(0)?.to_i64() else { return Ok(None) };
        smallest = Some(smallest.map_or(value, |known| known.min(value)));
    }
    Ok(smallest)
}

/// The names of all loops around and below `path`.
fn names_around(schedule: &Schedule, path: &Path) -> Vec<String> {
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

fn loop_names(node: &Node, names: &mut Vec<String>) {
    match node {
        Node::Computation(_) => {}
        Node::Sequence(children) => children.iter().for_each(|child| loop_names(child, names)),
        Node::Loop(it) => {
            names.push(it.name.clone());
            loop_names(&it.body, names);
        }
    }
}

fn fresh(name: &str, taken: &[String]) -> String {
    let mut name = name.to_string();
    while taken.contains(&name) {
        name.push('_');
    }
    name
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

/// Removes a computation's leaf; what it leaves empty is removed by [`simplify`].
fn remove(node: &mut Node, id: ComputationId) {
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

fn sequence(parts: Vec<Node>) -> Node {
    let mut node = Node::Sequence(parts);
    simplify(&mut node);
    node
}

impl Tag {
    /// In words: "parallel", "mapped to GPU blocks", ...
    pub fn adjective(self) -> &'static str {
        match self {
            Tag::Sequential => "sequential",
            Tag::Parallel => "parallel",
            Tag::Vector(_) => "vectorized",
            Tag::Unroll(_) => "unrolled",
            Tag::GpuBlock(_) => "mapped to GPU blocks",
            Tag::GpuThread(_) => "mapped to GPU threads",
        }
    }
}
