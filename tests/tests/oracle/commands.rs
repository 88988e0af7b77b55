//! Random commands for the loops that a schedule has.

use crate::random::Random;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Algorithm, ArrayKind, ComputationId};
use tessella_polyhedral::command::{AxisOrder, Columns, Command, Filling, Place, Times};
use tessella_polyhedral::condition::{Comparison, Condition, SizeExpr};
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::order;
use tessella_polyhedral::schedule::{Loop, Node, Path, Tag};
use tessella_scalar::CompareOp;

/// A command that names what is there; many are legal.
pub fn propose(random: &mut Random, scheduled: &Scheduled) -> Option<Command> {
    let algorithm = &scheduled.algorithm;
    let ids: Vec<ComputationId> = algorithm.ids().collect();
    let id = *random.pick(&ids);
    let computation = algorithm.computation(id).name.clone();
    let around: Vec<&Loop> = scheduled.schedule.loops_around(id).into_iter().map(|(_, it)| it).collect();
    let plain: Vec<String> = around.iter().filter(|it| it.tag == Tag::Sequential).map(|it| it.name.clone()).collect();
    let other = other_than(random, &ids, &[id]).unwrap_or(id);
    let other_name = algorithm.computation(other).name.clone();
    let others: Vec<String> =
        scheduled.schedule.loops_around(other).into_iter().map(|(_, it)| it.name.clone()).collect();
    let names: Vec<String> = around.iter().map(|it| it.name.clone()).collect();
    if random.percent(2) {
        return Some(Command::Auto);
    }
    if random.percent(4) {
        return Some(written_out(random, scheduled));
    }
    if random.percent(4) {
        let condition = condition(random, algorithm)?;
        return Some(if random.percent(40) { Command::Assume(condition) } else { Command::Specialize(condition) });
    }
    // Only variables and local arrays can be inlined.
    let inlined = |id: &ComputationId| {
        let written = algorithm.array(algorithm.computation(*id).write.array);
        matches!(written.kind, ArrayKind::Private | ArrayKind::Local { .. })
    };
    let inlinable: Vec<ComputationId> = ids.iter().copied().filter(inlined).collect();
    if !inlinable.is_empty() && random.percent(12) {
        return Some(Command::Inline { computation: algorithm.computation(*random.pick(&inlinable)).name.clone() });
    }
    if ids.len() > 1 && !plain.is_empty() && random.percent(7) {
        let at = random.pick(&plain).clone();
        return Some(Command::ComputeAt { computation: other_name, reader: computation, at });
    }
    if !plain.is_empty() && random.percent(5) {
        // Most often of an array that the computation writes: others are refused at once.
        let it = algorithm.computation(id);
        let mut used = &it.write;
        if !it.reads.is_empty() && random.percent(40) {
            used = random.pick(&it.reads);
        }
        let array = algorithm.array(used.array).name.clone();
        return Some(Command::Privatize { array, computation, at: random.pick(&plain).clone() });
    }
    if !plain.is_empty() && random.percent(4) {
        let (at, size) = (random.pick(&plain).clone(), *random.pick(&[1, 2, 3, 4]));
        return Some(Command::Rfactor { computation, at, size });
    }
    if names.is_empty() || plain.is_empty() {
        let at = (!others.is_empty() && random.percent(70)).then(|| random.pick(&others).clone());
        return (other != id).then(|| side(random, computation, other_name, at));
    }
    let at = random.pick(&plain).clone();
    let pair = || -> Option<(String, String)> {
        let first = names.len().checked_sub(2)?;
        Some((names[first].clone(), names[first + 1].clone()))
    };
    let size = [2, 3, 4, 5, 7, 32][random.weighted(&[25, 25, 20, 10, 10, 10])];
    let gpu = scheduled.target == Target::Gpu;
    Some(
        match random.weighted(&[
            14,
            14,
            12,
            9,
            10,
            7,
            if gpu { 0 } else { 14 },
            8,
            8,
            10,
            8,
            8,
            8,
            if gpu { 40 } else { 0 },
            8,
            6,
            if gpu { 0 } else { 8 },
            5,
            6,
            6,
            6,
            5,
        ]) {
            0 => {
                let first = random.below(names.len());
                let second = random.below(names.len());
                let (outer, inner) = match first < second {
                    true => (first, second),
                    false => (second.min(names.len().saturating_sub(2)), (second + 1).min(names.len() - 1)),
                };
                Command::Interchange { computation, outer: names[outer].clone(), inner: names[inner].clone() }
            }
            1 => Command::Split { computation, at, size },
            2 => {
                let count = 1 + random.below(names.len().min(3));
                let first = random.below(names.len() - count + 1);
                let loops = names[first..first + count].to_vec();
                let sizes = loops.iter().map(|_| *random.pick(&[2, 3, 4, 5])).collect();
                Command::Tile { computation, loops, sizes }
            }
            3 => {
                let (outer, inner) = pair()?;
                Command::Skew { computation, outer, inner, factor: *random.pick(&[1, 1, 1, -1, 2]) }
            }
            4 => Command::Shift { computation, at, by: *random.pick(&[1, 1, 2, -1, -2, 3]) },
            5 => Command::Reverse { computation, at },
            6 => Command::Parallel { computation, at },
            7 => Command::Vectorize { computation, at, width: *random.pick(&[2, 4, 8]) },
            8 => Command::Unroll { computation, at, factor: *random.pick(&[2, 3, 4]) },
            9 => {
                let both: Vec<&String> = names.iter().filter(|name| others.contains(name)).collect();
                let at = if both.is_empty() { at } else { (*random.pick(&both)).clone() };
                if other == id {
                    return None;
                }
                Command::Fuse { first: computation, second: other_name, at }
            }
            10 => Command::Distribute { computation, at },
            11 | 12 => {
                let at = (!others.is_empty() && random.percent(75)).then(|| random.pick(&others).clone());
                if other == id {
                    return None;
                }
                side(random, computation, other_name, at)
            }
            14 => Command::UnrollAndJam { computation, at, factor: *random.pick(&[2, 3, 4]) },
            15 => {
                let (outer, inner) = pair()?;
                Command::Collapse { computation, outer, inner }
            }
            16 => Command::Separate { computation, loops: vec![at] },
            17 => {
                let (outer, inner) = pair()?;
                Command::SkewAuto { computation, outer, inner }
            }
            18 => {
                let both: Vec<&String> = names.iter().filter(|name| others.contains(name)).collect();
                let at = if both.is_empty() { at } else { (*random.pick(&both)).clone() };
                if other == id {
                    return None;
                }
                Command::FuseShifted { first: computation, second: other_name, at }
            }
            19 => {
                let third = other_than(random, &ids, &[id, other])?;
                let third = algorithm.computation(third).name.clone();
                let (first_at, second_at) = (at.clone(), at);
                Command::Between { computation: other_name, first: computation, first_at, second: third, second_at }
            }
            20 => {
                let (outer, inner) = pair()?;
                let mut edge = || vec![random.between(-3, 5), random.between(-3, 5)];
                Command::Parallelogram { computation, loops: vec![outer, inner], edges: vec![edge(), edge()] }
            }
            21 => {
                let (second, first) = pair()?;
                Command::Pieces { computation, first, second }
            }
            _ => {
                // Loops one below the other: half of them blocks, half threads; or the same loop in one block.
                let count = (1 + random.below(2)).min(plain.len() / 2);
                if count == 0 {
                    Command::Gpu { computation, blocks: plain.clone(), threads: plain }
                } else {
                    let first = random.below(plain.len() - 2 * count + 1);
                    let blocks = plain[first..first + count].to_vec();
                    let threads = plain[first + count..first + 2 * count].to_vec();
                    Command::Gpu { computation, blocks, threads }
                }
            }
        },
    )
}

/// The whole order as loops written out: the present one, with two neighbours or two loops exchanged, or a loop turned round.
fn written_out(random: &mut Random, scheduled: &Scheduled) -> Command {
    let mut schedule = scheduled.schedule.clone();
    let mut places = vec![];
    all_places(&schedule.root, &Path::default(), &mut places);
    let place = random.pick(&places).clone();
    match schedule.node_mut(&place) {
        Some(Node::Sequence(children)) if children.len() > 1 => {
            let at = random.below(children.len() - 1);
            children.swap(at, at + 1);
        }
        Some(Node::Loop(it)) => match (&mut *it.body, random.percent(60)) {
            (Node::Loop(inner), true) => {
                std::mem::swap(&mut it.name, &mut inner.name);
                std::mem::swap(&mut it.at, &mut inner.at);
            }
            (Node::Loop(_) | Node::Sequence(_) | Node::Computation(_), _) => {
                it.at.values_mut().for_each(|at| *at = at.scale(-1).unwrap_or_default());
            }
        },
        Some(Node::Sequence(_) | Node::Computation(_)) | None => {}
    }
    Command::Order(order::spell(&scheduled.algorithm, &schedule))
}

fn all_places(node: &Node, here: &Path, found: &mut Vec<Path>) {
    found.push(here.clone());
    match node {
        Node::Computation(_) => {}
        Node::Loop(it) => all_places(&it.body, &here.child(0), found),
        Node::Sequence(children) => {
            (0..).zip(children).for_each(|(at, child)| all_places(child, &here.child(at), found));
        }
    }
}

/// One that is none of the taken ones, if there is one.
fn other_than(random: &mut Random, ids: &[ComputationId], taken: &[ComputationId]) -> Option<ComputationId> {
    let left: Vec<ComputationId> = ids.iter().copied().filter(|id| !taken.contains(id)).collect();
    (!left.is_empty()).then(|| *random.pick(&left))
}

/// A storage command; about half of them can be carried out.
pub fn propose_storage(random: &mut Random, scheduled: &Scheduled) -> Option<Command> {
    let algorithm = &scheduled.algorithm;
    let ids: Vec<ComputationId> = algorithm.ids().collect();
    let id = *random.pick(&ids);
    let computation = algorithm.computation(id);
    let name = computation.name.clone();
    let written = algorithm.array(computation.write.array);
    if matches!(written.kind, ArrayKind::Private | ArrayKind::Local { .. }) && random.percent(60) {
        if !written.extents.is_empty() && random.percent(20) {
            let by = (0..written.extents.len()).map(|_| random.below(3) as u32).collect();
            let columns = Columns { before: random.below(3) as u32, multiple: 1 + random.below(4) as u32 };
            return Some(Command::Pad { array: written.name.clone(), by, columns });
        }
        let place = |axis: u32, random: &mut Random| {
            let subscript = Affine::iterator(axis);
            match random.below(4) {
                0 | 1 => subscript,
                2 => subscript.modulo(*random.pick(&[1, 2, 2, 3])).unwrap_or_default(),
                _ => Affine::constant(0),
            }
        };
        let iterators = (0..written.rank).map(|axis| format!("x{axis}")).collect();
        let map: Vec<Affine> = (0..written.rank).map(|axis| place(axis, random)).collect();
        return (!map.is_empty()).then(|| Command::StoreIn { computation: name, buffer: "box".into(), iterators, map });
    }
    let touched: Vec<_> = computation.reads.iter().chain([&computation.write]).map(|access| access.array).collect();
    let array = algorithm.array(*random.pick(&touched));
    let (rank, array) = (array.rank, array.name.clone());
    let around: Vec<String> = scheduled.schedule.loops_around(id).iter().map(|(_, it)| it.name.clone()).collect();
    if around.is_empty() {
        return None;
    }
    let at = random.pick(&around).clone();
    if random.percent(8) {
        return Some(Command::Constant { array });
    }
    Some(match random.percent(50) {
        true => {
            let ahead = if random.percent(30) { 1 + random.below(2) as u32 } else { 0 };
            let mut axes = AxisOrder::default();
            if rank > 1 && random.percent(30) {
                let mut order: Vec<u32> = (0..rank).collect();
                order.rotate_left(1 + random.below(rank as usize - 1));
                axes = AxisOrder::new(order).unwrap_or_default();
            }
            let filling = if random.percent(20) { Filling::OneEach } else { Filling::Shared };
            Command::CacheShared { array, computation: name, at, ahead, axes, filling }
        }
        false => Command::CacheRegister { array, computation: name, at },
    })
}

/// A command about copies, barriers and memory, for what is there.
pub fn propose_communication(random: &mut Random, scheduled: &Scheduled) -> Option<Command> {
    let algorithm = &scheduled.algorithm;
    let ids: Vec<ComputationId> = algorithm.ids().collect();
    let id = *random.pick(&ids);
    let around: Vec<&Loop> = scheduled.schedule.loops_around(id).into_iter().map(|(_, it)| it).collect();
    if around.is_empty() {
        return None;
    }
    let computation = random.percent(80).then(|| algorithm.computation(id).name.clone());
    let times = if random.percent(50) { Times::Each } else { Times::Once };
    let place = Place { computation, at: random.pick(&around).name.clone(), times };
    let of_kind = |wanted: fn(ArrayKind) -> bool| -> Vec<String> {
        algorithm.arrays.iter().filter(|it| wanted(it.kind)).map(|it| it.name.clone()).collect()
    };
    let own = of_kind(|kind| matches!(kind, ArrayKind::Private | ArrayKind::Local { .. }));
    if !own.is_empty() && random.percent(50) {
        let buffer = random.pick(&own).clone();
        return Some(match random.percent(60) {
            true => Command::Allocate { buffer, place },
            false => Command::Free { buffer, place },
        });
    }
    let arguments = of_kind(|kind| matches!(kind, ArrayKind::Argument | ArrayKind::Returned));
    if arguments.is_empty() {
        return None;
    }
    let array = random.pick(&arguments).clone();
    if scheduled.target == Target::Cpu {
        let (computation, distance) = (algorithm.computation(id).name.clone(), random.between(1, 9));
        return Some(Command::Prefetch { array, computation, at: place.at, distance });
    }
    Some(match random.below(5) {
        0 => Command::Synchronize { computation: algorithm.computation(id).name.clone(), at: place.at },
        1 | 2 => Command::CopyIn { array, place },
        _ => Command::CopyOut { array, place },
    })
}

/// A condition on the sizes that some callers have.
fn condition(random: &mut Random, algorithm: &Algorithm) -> Option<Condition> {
    let names: Vec<String> =
        algorithm.params.iter().map(|param| param.name.clone()).filter(|it| it.len() == 1).collect();
    if names.is_empty() {
        return None;
    }
    let name = random.pick(&names).clone();
    let size = SizeExpr::Name(name);
    let number = |random: &mut Random| SizeExpr::Number(random.between(0, 6));
    let comparison = match random.below(4) {
        0 => {
            let divisor = *random.pick(&[2, 4]);
            Comparison {
                left: SizeExpr::Remainder(Box::new(size), divisor),
                op: CompareOp::Eq,
                right: SizeExpr::Number(0),
            }
        }
        1 => Comparison { left: size, op: CompareOp::Le, right: number(random) },
        2 => Comparison { left: size, op: CompareOp::Ge, right: number(random) },
        _ => Comparison { left: size, op: CompareOp::Gt, right: SizeExpr::Name(random.pick(&names).clone()) },
    };
    Some(Condition { comparisons: vec![comparison] })
}

fn side(random: &mut Random, computation: String, other: String, at: Option<String>) -> Command {
    match random.percent(60) {
        true => Command::After { computation, other, at },
        false => Command::Before { computation, other, at },
    }
}
