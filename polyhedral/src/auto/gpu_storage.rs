//! What a mapped order keeps in shared memory and in registers, as commands.
//!
//! Where the blocks of a kernel run through a loop in step, all that its threads read of a matrix in one iteration goes to
//! shared memory, and what each thread writes in all iterations stays in its registers.

use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, Computation, ComputationId, Subscript};
use crate::auto::gpu_waves::{TILE, tile_around};
use crate::auto::padded::Padded;
use crate::auto::padding::{self, SharedTile};
use crate::auto::profile::{Step, iterator_of, neighbours, step_of_whole};
use crate::auto::ranged::is_endless;
use crate::auto::staged_columns;
use crate::auto::vectors;
use crate::command::{AxisOrder, Columns, Command, Filling};
use crate::machine::Gpu;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::storage::uses;
use std::collections::{BTreeMap, BTreeSet};

/// Threads of a warp, and warps of sums that share a multiprocessor's memory, two of them at least in a block.
const WARP: i64 = 32;
const WARPS: i64 = 8;
/// The most tiles that are copied ahead of the one in use.
const MOST_AHEAD: u32 = 3;

/// The commands for every kernel of a schedule, and why arrays are padded.
pub fn commands(algorithm: &Algorithm, schedule: &Schedule) -> (Vec<Command>, Vec<Padded>) {
    let (mut commands, mut pads) = (vec![], vec![]);
    below(algorithm, schedule, &Path::default(), &BTreeSet::new(), (&mut commands, &mut pads));
    // Where other tiles of an array are padded for banks, no columns are shifted.
    let in_banks =
        |it: &&Padded| !it.is_shifted() && pads.iter().any(|other| other.array == it.array && other.is_shifted());
    let unshifted: BTreeSet<String> = pads.iter().filter(in_banks).map(|it| it.array.clone()).collect();
    if !unshifted.is_empty() {
        (commands, pads) = (vec![], vec![]);
        below(algorithm, schedule, &Path::default(), &unshifted, (&mut commands, &mut pads));
    }
    pads.dedup();
    // One `pad` is for all parts of an array.
    let mut padded: Vec<Command> = vec![];
    commands.retain(|command| match command {
        Command::Pad { .. } if padded.contains(command) => false,
        Command::Pad { .. } => {
            padded.push(command.clone());
            true
        }
        _ => true,
    });
    (commands, pads)
}

/// The same of what lies at `path`; columns of the arrays in `unshifted` begin where tiles do.
fn below(
    algorithm: &Algorithm,
    schedule: &Schedule,
    path: &Path,
    unshifted: &BTreeSet<String>,
    (commands, pads): (&mut Vec<Command>, &mut Vec<Padded>),
) {
    match schedule.node(path) {
        None | Some(Node::Computation(_)) => {}
        Some(Node::Sequence(children)) => {
            for child in 0..children.len() {
                below(algorithm, schedule, &path.child(child), unshifted, (&mut *commands, &mut *pads));
            }
        }
        Some(Node::Loop(it)) if matches!(it.tag, Tag::GpuBlock(_)) && it.at.values().all(is_number) => {
            commands.extend(of_one_thread(algorithm, schedule, &it.body.computations()));
        }
        Some(Node::Loop(it)) if matches!(it.tag, Tag::GpuBlock(_)) => {
            let inside = it.body.computations();
            let columns = staged_columns::commands(algorithm, schedule, &inside);
            match columns.or_else(|| of_kernel(algorithm, schedule, &inside, unshifted, pads)) {
                Some(all) => commands.extend(all),
                None => {
                    let vectors = vectors::commands(algorithm, schedule, &inside);
                    let sums = of_threads(algorithm, schedule, &inside);
                    commands.extend(sums.into_iter().filter(|it| !vectors.iter().any(|other| moves_alike(it, other))));
                    commands.extend(vectors);
                    commands.extend(turned(algorithm, schedule, &inside));
                }
            }
        }
        Some(Node::Loop(_)) => below(algorithm, schedule, &path.child(0), unshifted, (commands, pads)),
    }
}

/// The commands for a kernel of these computations; `None` if no loop stands between its blocks and the threads of one of them.
fn of_kernel(
    algorithm: &Algorithm,
    schedule: &Schedule,
    inside: &[ComputationId],
    unshifted: &BTreeSet<String>,
    pads: &mut Vec<Padded>,
) -> Option<Vec<Command>> {
    let below_blocks = |id: ComputationId| {
        let around = schedule.loops_around(id);
        let last_block = around.iter().rposition(|(_, it)| matches!(it.tag, Tag::GpuBlock(_)))?;
        Some((around.get(last_block + 1)?.1.tag, last_block))
    };
    let steps = |id: &ComputationId| below_blocks(*id).is_some_and(|(tag, _)| tag == Tag::Sequential);
    let anchor = inside.iter().copied().find(steps)?;
    let (_, last_block) = below_blocks(anchor)?;
    let around = schedule.loops_around(anchor);
    // Of loops that blocks run through in step, the innermost one goes from tile to tile.
    let in_step = around[last_block + 1..].iter().take_while(|(_, it)| it.tag == Tag::Sequential).count();
    let at_step = last_block + in_step;
    let (_, step) = around[at_step];
    let (_, x) = around.iter().find(|(_, it)| it.tag == Tag::GpuThread(ProcessorAxis::X))?;
    let block = &around[last_block].1.name;
    let passed = |it: &Loop| iterators(algorithm.computation(anchor), anchor, it);
    if passed(x).iter().any(|it| passed(step).contains(it)) {
        return Some(of_diagonals(algorithm, inside, anchor, block));
    }
    let outside = around[..at_step].iter().map(|(_, it)| &it.at[&anchor]);
    if iterator_of(&step.at[&anchor]).is_some_and(|(iterator, _)| tile_around(outside, iterator).is_some()) {
        return Some(of_steps(algorithm, schedule, inside, anchor, block));
    }
    // What stands before or behind the loop starts or uses the results of each thread.
    let sums = step.body.computations();
    let is_of_threads = |id: ComputationId| below_blocks(id).is_some_and(|(tag, _)| matches!(tag, Tag::GpuThread(_)));
    if !inside.iter().all(|&id| sums.contains(&id) || is_of_threads(id)) {
        return None;
    }
    let name = algorithm.computation(anchor).name.clone();
    let accesses_of = |ids: &[ComputationId]| -> Vec<(ComputationId, &Access)> {
        let all = ids.iter().flat_map(|&id| {
            let it = algorithm.computation(id);
            it.reads.iter().chain([&it.write]).map(move |access| (id, access))
        });
        all.collect()
    };
    let (accesses, everywhere) = (accesses_of(&sums), accesses_of(inside));
    // The innermost loop, from a block's last one to that from tile to tile, along which an access moves.
    let home = |id: ComputationId, it: &Access| {
        let moving = |level: &usize| moves(algorithm.computation(id), it, id, around[*level].1);
        (last_block..=at_step).rev().find(moving).unwrap_or(last_block)
    };
    let written: Vec<ArrayId> = inside.iter().map(|&id| algorithm.computation(id).write.array).collect();
    let is_read = |it: &Access| !written.contains(&it.array);
    let tile = |&(computation, access): &(ComputationId, _)| SharedTile {
        algorithm,
        computation,
        access,
        around: &around,
        step: at_step,
        x,
    };
    // What several statements read alike passes through one tile.
    let is_new = |at: usize, it: &Access| {
        accesses[..at].iter().all(|(_, other)| other.array != it.array || other.subscripts != it.subscripts)
    };
    let stepping = accesses.iter().enumerate().filter(|(at, (_, it))| is_read(it) && is_new(*at, it));
    let stepping = stepping.map(|(_, it)| it).filter(|(id, it)| home(*id, it) == at_step);
    let in_groups = sums.iter().all(|&id| in_groups(algorithm, &schedule.loops_around(id), id));
    let stepping: Vec<SharedTile<'_>> = stepping.map(tile).collect();
    // Where each thread has a sum of its own, of a block's only axis, columns are copied in vectors.
    let in_line = !around.iter().any(|(_, it)| it.tag == Tag::GpuThread(ProcessorAxis::Y));
    let is_matrix = |tile: &&SharedTile<'_>| algorithm.array(tile.access.array).rank > 1;
    let mut matrices = stepping.iter().filter(is_matrix);
    let is_shifted = |tile: &SharedTile<'_>| padding::of_shifted(tile).is_some_and(|it| !unshifted.contains(&it.array));
    let shifted = in_line && !in_groups && matrices.all(is_shifted);
    let ahead = ahead(algorithm, &around, &sums, (in_groups, shifted), &stepping);
    let mut commands = vec![];
    let mut seen: Vec<&Access> = vec![];
    for (id, access) in &accesses {
        let array = algorithm.array(access.array);
        let reads = is_read(access);
        // What is read passes through shared memory for the loop's own statements, what is written stays in registers for all.
        let concerned = if reads { &accesses } else { &everywhere };
        let all = || concerned.iter().filter(|(_, it)| it.array == access.array);
        let same = |it: &Access| it.array == access.array && it.subscripts == access.subscripts;
        let one = all().all(|&(other, it)| is_same_element(algorithm, schedule, (*id, access), (other, it)));
        // Both operands of a product with itself: each gets a tile by the same command, in turn.
        let y = around.iter().find(|(_, it)| it.tag == Tag::GpuThread(ProcessorAxis::Y)).map(|(_, it)| *it);
        let along = |it: &Access| {
            let moves = |thread: &Loop| moves(algorithm.computation(*id), it, *id, thread);
            y.map(|y| (moves(x), moves(y)))
        };
        let apart = |it: &Access| matches!((along(access), along(it)), (Some((a, b)), Some((c, d))) if a != b && (a, b) == (d, c));
        let operands = reads && all().all(|(other, it)| other == id && (same(it) || apart(it)));
        let movable = match array.kind {
            ArrayKind::Argument | ArrayKind::Local { .. } | ArrayKind::Returned => true,
            ArrayKind::Private => array.rank > 0,
            ArrayKind::Result => false,
        };
        if seen.iter().any(|it| same(it)) || !(one || operands) || !movable || !access.is_affine() {
            continue;
        }
        seen.push(access);
        let (array_name, computation, home) = (array.name.clone(), name.clone(), home(*id, access));
        let stays = home < at_step;
        // What all threads read at one time, loads would fetch again and again.
        let same = || ahead > 0 && !stays && !moves(algorithm.computation(*id), access, *id, x);
        if stays && (!reads || home > last_block) {
            let at = around[home].1.name.clone();
            commands.push(Command::CacheRegister { array: array_name, computation, at });
        } else if reads && (array.rank >= 2 || same()) {
            let is_turned = in_groups && is_turned(algorithm, *id, access, step);
            let axes = is_turned.then(|| AxisOrder::new(vec![1, 0])).flatten().unwrap_or_default();
            commands.push(Command::CacheShared {
                array: array_name,
                computation,
                at: step.name.clone(),
                ahead,
                axes,
                filling: Filling::Shared,
            });
            let tile = tile(&(*id, access));
            let padded = match is_turned {
                true => padding::of_turned(&tile),
                false if shifted && ahead > 0 && array.rank > 1 => padding::of_shifted(&tile),
                false if strides_threads(algorithm.computation(*id), access, *id, x) => padding::of_shared(&tile),
                false => None,
            };
            if let Some(padded) = padded {
                commands.push(padded.command());
                pads.push(padded);
            }
        }
    }
    Some(commands)
}

/// Whether two statements access one element of an array wherever they stand together in all loops that they share.
fn is_same_element(
    algorithm: &Algorithm,
    schedule: &Schedule,
    (id, access): (ComputationId, &Access),
    (other, it): (ComputationId, &Access),
) -> bool {
    if id == other || access.array != it.array {
        return access.array == it.array && access.subscripts == it.subscripts;
    }
    // By iterator of the one: that of the other which the same loop runs through.
    let only = |id: ComputationId, at: &Loop| match iterators(algorithm.computation(id), id, at).as_slice() {
        &[iterator] => Some(iterator),
        _ => None,
    };
    let both = |at: &Loop| at.at.contains_key(&id) && at.at.contains_key(&other);
    let shared = |at: &Loop| if both(at) { only(id, at).zip(only(other, at)) } else { None };
    let pairs: BTreeSet<(u32, u32)> = schedule.loops_around(id).into_iter().filter_map(|(_, at)| shared(at)).collect();
    let moved = |subscript: &Subscript| -> Option<Affine> {
        let subscript = subscript.as_affine()?;
        let by: Vec<Affine> = (0..subscript.iterator_count())
            .map(|own| {
                let mut partners = pairs.iter().filter(|(iterator, _)| *iterator == own);
                match (partners.next(), partners.next()) {
                    (Some(&(_, partner)), None) => Some(Affine::iterator(partner)),
                    (None, _) if !subscript.involves_iterator(own) => Some(Affine::constant(0)),
                    (_, _) => None,
                }
            })
            .collect::<Option<_>>()?;
        subscript.substitute(&by).ok()
    };
    let mut axes = access.subscripts.iter().zip(&it.subscripts);
    axes.all(|(own, other)| moved(own).is_some_and(|own| other.as_affine() == Some(&own)))
}

fn is_number(at: &Affine) -> bool {
    at.as_constant().is_some()
}

/// The commands for a kernel one thread of which computes: what it reads of arrays in each iteration of a loop around that thread's own
/// passes through shared memory, and what it adds to stays in its registers.
fn of_one_thread(algorithm: &Algorithm, schedule: &Schedule, inside: &[ComputationId]) -> Vec<Command> {
    let accesses = |id: ComputationId| algorithm.computation(id).reads.iter().chain([&algorithm.computation(id).write]);
    let written: BTreeSet<ArrayId> = inside.iter().map(|&id| algorithm.computation(id).write.array).collect();
    let all: Vec<(ComputationId, Vec<(Path, &Loop)>)> =
        inside.iter().map(|&id| (id, schedule.loops_around(id))).collect();
    let mut tiles: Vec<(SharedTile<'_>, &Loop)> = vec![];
    let mut commands = vec![];
    for (id, around) in &all {
        let [.., (_, step), (_, x), (_, point)] = around.as_slice() else { continue };
        let computation = algorithm.computation(*id);
        if step.tag != Tag::Sequential || x.tag.thread().is_none() || !matches!(point.tag, Tag::Unroll(_)) {
            continue;
        }
        let is_moving = |it: &&Access| !written.contains(&it.array) && moves(computation, it, *id, step);
        for access in computation.reads.iter().filter(is_moving) {
            let tile = SharedTile { algorithm, computation: *id, access, around, step: around.len() - 3, x };
            if !tiles.iter().any(|(other, at)| other.access.array == access.array && at.at == step.at) {
                tiles.push((tile, step));
            }
        }
        let write = &computation.write;
        let array = algorithm.array(write.array);
        let others = inside.iter().flat_map(|&id| accesses(id)).filter(|it| it.array == write.array);
        let block = around.iter().rposition(|(_, it)| matches!(it.tag, Tag::GpuBlock(_)));
        if let Some(block) = block.filter(|_| array.kind != ArrayKind::Private && array.kind != ArrayKind::Result)
            && others.clone().all(|it| it.is_affine() && it.subscripts == write.subscripts)
            && !around[block..].iter().any(|(_, it)| moves(computation, write, *id, it))
        {
            let (array, at) = (array.name.clone(), around[block].1.name.clone());
            let command = Command::CacheRegister { array, computation: computation.name.clone(), at };
            if !commands.iter().any(|other| moves_alike(other, &command)) {
                commands.push(command);
            }
        }
    }
    let bytes = tiles.iter().map(|(tile, _)| tile.bytes(1)).sum::<Option<i64>>().unwrap_or(0).max(1);
    let ahead = u32::try_from(i64::from(Gpu::HOPPER.shared_bytes_of_block) / bytes - 1).unwrap_or(0).min(MOST_AHEAD);
    commands.extend(tiles.into_iter().map(|(tile, step)| Command::CacheShared {
        array: algorithm.array(tile.access.array).name.clone(),
        computation: algorithm.computation(tile.computation).name.clone(),
        at: step.name.clone(),
        ahead,
        axes: AxisOrder::default(),
        filling: Filling::Shared,
    }));
    commands
}

/// The commands for a tile whose threads go along diagonals: all of it that is in matrices passes through shared memory.
fn of_diagonals(algorithm: &Algorithm, inside: &[ComputationId], anchor: ComputationId, block: &str) -> Vec<Command> {
    let mut all: BTreeMap<ArrayId, Vec<&Access>> = BTreeMap::new();
    for &id in inside {
        let it = algorithm.computation(id);
        it.reads.iter().chain([&it.write]).for_each(|access| all.entry(access.array).or_default().push(access));
    }
    let mut commands = vec![];
    for (id, accesses) in all {
        let array = algorithm.array(id);
        let movable = matches!(array.kind, ArrayKind::Argument | ArrayKind::Local { .. } | ArrayKind::Returned);
        if array.rank < 2 || !movable || !accesses.iter().all(|access| access.is_affine()) {
            continue;
        }
        let (name, computation) = (array.name.clone(), algorithm.computation(anchor).name.clone());
        commands.push(Command::CacheShared {
            array: name.clone(),
            computation,
            at: block.to_string(),
            ahead: 0,
            axes: AxisOrder::default(),
            filling: Filling::Shared,
        });
        let places = accesses.iter().filter_map(|access| access.subscripts[0].as_affine()).map(Affine::constant_term);
        let (low, high) = places.fold((i64::MAX, i64::MIN), |(low, high), it| (low.min(it), high.max(it)));
        // The threads lie a column less an element apart: in all banks if that is odd.
        if (i64::from(TILE) + high - low) % 2 != 0 {
            let by = (0..array.rank).map(|axis| u32::from(axis == 0)).collect();
            commands.push(Command::Pad { array: name, by, columns: Columns::default() });
        }
    }
    commands
}

/// The commands for a tile whose threads go through its steps together: what they read a column apart only, and never write, passes
/// through shared memory as a whole.
fn of_steps(
    algorithm: &Algorithm,
    schedule: &Schedule,
    inside: &[ComputationId],
    anchor: ComputationId,
    block: &str,
) -> Vec<Command> {
    let mut reads: BTreeMap<ArrayId, bool> = BTreeMap::new();
    for &id in inside {
        let computation = algorithm.computation(id);
        let around = schedule.loops_around(id);
        let Some((_, x)) = around.iter().find(|(_, it)| it.tag == Tag::GpuThread(ProcessorAxis::X)) else { continue };
        for read in &computation.reads {
            let strides = read.is_affine() && strides_threads(computation, read, id, x);
            *reads.entry(read.array).or_insert(true) &= strides;
        }
    }
    let written: Vec<ArrayId> = inside.iter().map(|&id| algorithm.computation(id).write.array).collect();
    reads.retain(|array, all_stride| *all_stride && !written.contains(array));
    let mut commands = vec![];
    for array in reads.into_keys() {
        let array = algorithm.array(array);
        if array.rank == 2 && array.kind == ArrayKind::Argument {
            commands.push(Command::CacheShared {
                array: array.name.clone(),
                computation: algorithm.computation(anchor).name.clone(),
                at: block.to_string(),
                ahead: 0,
                axes: AxisOrder::default(),
                filling: Filling::Shared,
            });
            commands.push(Command::Pad { array: array.name.clone(), by: vec![1, 0], columns: Columns::default() });
        }
    }
    commands
}

/// Arrays that the threads of a warp read a column or a plane apart, though their neighbours lie along the block's other axis: the tile
/// of a block passes through shared memory, read from global memory along its columns.
fn turned(algorithm: &Algorithm, schedule: &Schedule, inside: &[ComputationId]) -> Vec<Command> {
    let mut commands = vec![];
    let mut seen: BTreeSet<ArrayId> = BTreeSet::new();
    for &id in inside {
        let around = schedule.loops_around(id);
        let last_block = around.iter().rev().find(|(_, it)| matches!(it.tag, Tag::GpuBlock(_)));
        let Some((_, at)) = last_block else { continue };
        for read in &algorithm.computation(id).reads {
            let array = algorithm.array(read.array);
            let Some(first) = neighbours(algorithm, read).filter(|_| !seen.contains(&read.array)) else { continue };
            let is_alike = |id: ComputationId, it: &Access| {
                at.at.contains_key(&id) && is_turned_in_tile(algorithm, schedule, id, it) && {
                    // Of the numbers that an element consists of, each may be read by itself.
                    it.subscripts[first..] == read.subscripts[first..]
                }
            };
            let accesses = inside.iter().flat_map(|&id| {
                let it = algorithm.computation(id);
                it.reads.iter().map(move |read| (id, read, true)).chain([(id, &it.write, false)])
            });
            let mut all = accesses.filter(|(_, it, _)| it.array == read.array);
            if array.kind != ArrayKind::Argument || !all.all(|(id, it, is_read)| is_read && is_alike(id, it)) {
                continue;
            }
            seen.insert(read.array);
            let (name, computation) = (array.name.clone(), algorithm.computation(id).name.clone());
            commands.push(Command::CacheShared {
                array: name.clone(),
                computation,
                at: at.name.clone(),
                ahead: 0,
                axes: AxisOrder::default(),
                filling: Filling::Shared,
            });
            // Odd numbers of elements from one thread to the next, whose columns or planes lie in different banks then.
            let by = (0..array.rank as usize).map(|axis| u32::from(axis <= first)).collect();
            commands.push(Command::Pad { array: name, by, columns: Columns::default() });
        }
    }
    commands
}

/// Whether the threads of a tile read neighbours along y alone, each once.
fn is_turned_in_tile(algorithm: &Algorithm, schedule: &Schedule, id: ComputationId, read: &Access) -> bool {
    let around = schedule.loops_around(id);
    let computation = algorithm.computation(id);
    // All that the statement goes through is in the tile, or tells blocks apart.
    let in_tile = |it: &Loop| matches!(it.tag, Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Unroll(_));
    let axis = |wanted: ProcessorAxis| {
        let thread = around.iter().find(|(_, it)| it.tag == Tag::GpuThread(wanted))?;
        match iterators(computation, id, thread.1)[..] {
            [iterator] => Some(iterator),
            _ => None,
        }
    };
    let (Some(x), Some(y)) = (axis(ProcessorAxis::X), axis(ProcessorAxis::Y)) else { return false };
    let along = |iterator: u32| step_of_whole(algorithm, id, read, iterator);
    let plain = computation.iterators.len() <= 3 && computation.predicate.is_none() && read.is_affine();
    plain && around.iter().all(|(_, it)| in_tile(it)) && along(x) == Step::Jumps && along(y) == Step::Next
}

/// Whether two commands put the same array into registers at the same loop.
pub(super) fn moves_alike(a: &Command, b: &Command) -> bool {
    match (a, b) {
        (Command::CacheRegister { array: a, at: x, .. }, Command::CacheRegister { array: b, at: y, .. }) => {
            a == b && x == y
        }
        _ => false,
    }
}

/// Whether a sum under `@fastmath` has results that lie in groups of neighbours, along both axes of the threads: two loops inside of all
/// threads run through what each thread loop does.
fn in_groups(algorithm: &Algorithm, around: &[(Path, &Loop)], id: ComputationId) -> bool {
    let computation = algorithm.computation(id);
    let Some(last) = around.iter().rposition(|(_, it)| matches!(it.tag, Tag::GpuThread(_))) else { return false };
    let is_in_groups = |axis: ProcessorAxis| {
        let thread = around.iter().find(|(_, it)| it.tag == Tag::GpuThread(axis))?;
        let through = iterators(computation, id, thread.1);
        let points = around[last + 1..].iter().filter(|(_, it)| iterators(computation, id, it) == through);
        Some(points.count() == 2 && moves(computation, &computation.write, id, thread.1))
    };
    computation.fastmath
        && [ProcessorAxis::X, ProcessorAxis::Y].into_iter().all(|axis| is_in_groups(axis) == Some(true))
}

/// Whether the columns of a matrix run along the loop from tile to tile: threads read its rows.
fn is_turned(algorithm: &Algorithm, id: ComputationId, access: &Access, step: &Loop) -> bool {
    let computation = algorithm.computation(id);
    let all = iterators(computation, id, step);
    let along = |axis: usize| all.iter().any(|&it| computation.involves_iterator(&access.subscripts[axis], it));
    access.subscripts.len() == 2 && along(0) && !along(1)
}

/// How many tiles are copied ahead: where each thread has a sum of its own there are few threads, and only tiles under way
/// keep enough loads in flight. A thread with several results needs fewer: it uses what it loads for all of them. Where it has groups of
/// them, it multiplies and adds by one instruction, so that there is less to do while loads are under way: one tile. Of tiles whose columns
/// are shifted, there is room for those of eight warps in a multiprocessor.
fn ahead(
    algorithm: &Algorithm,
    around: &[(Path, &Loop)],
    sums: &[ComputationId],
    (in_groups, shifted): (bool, bool),
    tiles: &[SharedTile<'_>],
) -> u32 {
    let threads = around.iter().rposition(|(_, it)| matches!(it.tag, Tag::GpuThread(_)));
    let points = threads.map_or(&[][..], |last| &around[last + 1..]);
    let has_several = |(id, it): (ComputationId, &Access)| {
        points.iter().any(|(_, point)| moves(algorithm.computation(id), it, id, point))
    };
    let mut results = sums.iter().map(|&id| (id, &algorithm.computation(id).write));
    let more = |tile: &SharedTile<'_>| match shifted {
        true => padding::shifted_lanes(algorithm, tile.access).unwrap_or(1),
        false => 1,
    };
    match tiles.iter().map(|tile| tile.bytes(more(tile))).sum::<Option<i64>>() {
        Some(bytes @ 1..) if in_groups || !results.any(has_several) => {
            let most = if in_groups { 1 } else { MOST_AHEAD };
            let gpu = Gpu::HOPPER;
            let declared = i64::from(gpu.shared_bytes_of_block);
            let room = match tiles.iter().filter_map(SharedTile::threads_of_block).max() {
                Some(threads) if shifted => {
                    let share = i64::from(gpu.most_shared_bytes_of_block) * (threads / WARP).max(2) / WARPS;
                    declared.max(2 * bytes).max(share).min(i64::from(gpu.usual_shared_bytes_of_block))
                }
                Some(_) | None => declared,
            };
            u32::try_from(room / bytes - 1).unwrap_or(0).min(most)
        }
        Some(_) | None => 0,
    }
}

/// Results that a thread adds to in several places at a time, or in several loops, and variables of several points. Of a single result
/// in one loop, the CUDA compiler sees that it can stay.
fn of_threads(algorithm: &Algorithm, schedule: &Schedule, inside: &[ComputationId]) -> Vec<Command> {
    let mut commands = vec![];
    // A loop that data end stays as it is, with what it keeps.
    let is_endless = || {
        let whole = schedule.root.restricted(&inside.iter().copied().collect());
        whole.is_some_and(|whole| is_endless(algorithm, &whole).unwrap_or(true))
    };
    for &id in inside {
        let computation = algorithm.computation(id);
        let write = &computation.write;
        let around = schedule.loops_around(id);
        let Some(last_thread) = around.iter().rposition(|(_, it)| matches!(it.tag, Tag::GpuThread(_))) else {
            continue;
        };
        let own = || around[last_thread + 1..].iter().map(|(_, it)| moves(computation, write, id, it));
        let still = own().filter(|moves| !moves).count();
        let several = own().any(|moves| moves);
        let array = algorithm.array(write.array);
        let wanted = match array.kind {
            ArrayKind::Argument | ArrayKind::Local { .. } | ArrayKind::Returned => still > 1 || still == 1 && several,
            // A variable of one point is a register as it is.
            ArrayKind::Private => {
                array.rank > 0 && several && !in_one_body(algorithm, schedule, inside, write.array) && !is_endless()
            }
            ArrayKind::Result => false,
        };
        let one = inside.iter().all(|&other| {
            let it = algorithm.computation(other);
            let mut all = it.reads.iter().chain([&it.write]).filter(|access| access.array == write.array);
            all.all(|access| access.subscripts == write.subscripts)
        });
        // A variable that a loop inside of the thread holds all statements of has a value for each of its iterations.
        let users: Vec<ComputationId> = inside.iter().copied().filter(|&id| uses(algorithm, id, write.array)).collect();
        let holds_all = |it: &Loop| it.tag == Tag::Sequential && users.iter().all(|id| it.at.contains_key(id));
        let own_loops = around[last_thread + 1..].iter().take_while(|(_, it)| holds_all(it)).count();
        let home = if array.kind == ArrayKind::Private { last_thread + own_loops } else { last_thread };
        let at = around[home].1.name.clone();
        let command = Command::CacheRegister { array: array.name.clone(), computation: computation.name.clone(), at };
        if wanted && one && write.is_affine() && !commands.iter().any(|it| moves_alike(it, &command)) {
            commands.push(command);
        }
    }
    commands
}

/// Whether all statements that access an array stand in one innermost loop.
fn in_one_body(algorithm: &Algorithm, schedule: &Schedule, inside: &[ComputationId], array: ArrayId) -> bool {
    let users = inside.iter().filter(|&&id| uses(algorithm, id, array));
    let bodies: BTreeSet<Option<Path>> =
        users.map(|&id| schedule.loops_around(id).pop().map(|(path, _)| path)).collect();
    bodies.len() < 2
}

/// The iterators that a loop runs through.
pub(super) fn iterators(computation: &Computation, id: ComputationId, it: &Loop) -> Vec<u32> {
    let count = computation.iterators.len() as u32;
    it.at.get(&id).map_or(vec![], |at| (0..count).filter(|&iterator| at.involves_iterator(iterator)).collect())
}

/// Whether an access changes with a loop.
pub(super) fn moves(computation: &Computation, access: &Access, id: ComputationId, it: &Loop) -> bool {
    let all = iterators(computation, id, it);
    access
        .subscripts
        .iter()
        .any(|subscript| all.iter().any(|&iterator| computation.involves_iterator(subscript, iterator)))
}

/// Whether the threads of a warp reach elements that lie a column apart.
fn strides_threads(computation: &Computation, access: &Access, id: ComputationId, x: &Loop) -> bool {
    let all = iterators(computation, id, x);
    let involves =
        |axis: usize| all.iter().any(|&iterator| computation.involves_iterator(&access.subscripts[axis], iterator));
    !involves(0) && (1..access.subscripts.len()).any(involves)
}
