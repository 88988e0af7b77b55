//! Random commands for the loops that a schedule has.

use crate::random::Random;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::schedule::{Loop, Tag};

/// A command that names what is there; many are legal.
pub fn propose(random: &mut Random, scheduled: &Scheduled) -> Option<Command> {
    let algorithm = &scheduled.algorithm;
    let ids: Vec<ComputationId> = algorithm.ids().collect();
    let id = *random.pick(&ids);
    let computation = algorithm.computation(id).name.clone();
    let around: Vec<&Loop> = scheduled.schedule.loops_around(id).into_iter().map(|(_, it)| it).collect();
    let plain: Vec<String> = around.iter().filter(|it| it.tag == Tag::Sequential).map(|it| it.name.clone()).collect();
    let other = *random.pick(&ids);
    let other_name = algorithm.computation(other).name.clone();
    let others: Vec<String> =
        scheduled.schedule.loops_around(other).into_iter().map(|(_, it)| it.name.clone()).collect();
    let names: Vec<String> = around.iter().map(|it| it.name.clone()).collect();
    if random.percent(2) {
        return Some(Command::Auto);
    }
    if names.is_empty() || plain.is_empty() {
        let at = (!others.is_empty() && random.percent(70)).then(|| random.pick(&others).clone());
        return Some(side(random, computation, other_name, at));
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
                Command::Fuse { first: computation, second: other_name, at }
            }
            10 => Command::Distribute { computation, at },
            11 | 12 => {
                let at = (!others.is_empty() && random.percent(75)).then(|| random.pick(&others).clone());
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
                Command::FuseShifted { first: computation, second: other_name, at }
            }
            19 => {
                let third = algorithm.computation(*random.pick(&ids)).name.clone();
                let (first_at, second_at) = (at.clone(), at);
                Command::Between { computation: other_name, first: computation, first_at, second: third, second_at }
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

fn side(random: &mut Random, computation: String, other: String, at: Option<String>) -> Command {
    match random.percent(60) {
        true => Command::After { computation, other, at },
        false => Command::Before { computation, other, at },
    }
}
