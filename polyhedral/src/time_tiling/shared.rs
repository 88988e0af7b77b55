//! What hexagonal tiles keep in shared memory of a GPU, as commands.

use crate::algorithm::{Algorithm, ArrayKind, ComputationId};
use crate::command::Command;
use crate::layers::{Scheduled, Target};
use crate::schedule::{Loop, Tag};

/// A `cache_shared` for each array and each phase of the hexagonal tiling among the commands that led to a program: a tile takes in
/// what it needs once, and computes its steps there. None where there is no such tiling for a GPU, where one has dimensions without
/// tiles, so that no part of an array has a constant size, or where a command speaks of its tiles' storage. Whether all of it fits is
/// for the promotions to say.
///
/// # Source
/// Grosser, Verdoolaege, Cohen, Sadayappan, INRIA RR-8339, 2013, section 4.2.
pub fn cached_tiles(scheduled: &Scheduled, carried: &[Command], storage: &[Command]) -> Vec<Command> {
    let Scheduled { algorithm, schedule, target, .. } = scheduled;
    let says_so = |it: &Command| matches!(it, Command::CacheShared { .. } | Command::CacheRegister { .. });
    if *target != Target::Gpu || storage.iter().any(says_so) {
        return vec![];
    }
    let tilings = carried.iter().filter_map(|it| match it {
        Command::Hexagonal { loops, widths, .. } => Some((loops.len(), widths.len())),
        _ => None,
    });
    let [(dims, tiles)] = tilings.collect::<Vec<_>>()[..] else { return vec![] };
    if tiles < dims {
        return vec![];
    }
    let (mut commands, mut seen) = (vec![], vec![]);
    for id in algorithm.ids().filter(|&id| is_piece(algorithm, id)) {
        let around = schedule.loops_around(id);
        let Some(block) = around.iter().position(|(_, it)| matches!(it.tag, Tag::GpuBlock(_))) else { continue };
        let Some((path, tile)) = around.get(block + tiles - 1) else { continue };
        if !seen.contains(path) {
            seen.push(path.clone());
            commands.extend(of_phase(algorithm, id, tile));
        }
    }
    commands
}

/// Whether a computation is one of several that another one was split into.
pub(crate) fn is_piece(algorithm: &Algorithm, id: ComputationId) -> bool {
    let Some(whole) = &algorithm.whole else { return false };
    let of = whole.piece_of.get(id.0 as usize);
    of.is_some_and(|of| whole.piece_of.iter().filter(|it| *it == of).count() > 1)
}

/// All arrays that the tiles of a phase touch, at its innermost loop over tiles.
fn of_phase(algorithm: &Algorithm, anchor: ComputationId, tile: &Loop) -> Vec<Command> {
    let (mut commands, mut seen) = (vec![], vec![]);
    for id in tile.body.computations() {
        let it = algorithm.computation(id);
        for access in it.reads.iter().chain([&it.write]) {
            let array = algorithm.array(access.array);
            let movable = matches!(array.kind, ArrayKind::Argument | ArrayKind::Local { .. } | ArrayKind::Returned);
            if seen.contains(&access.array) || !movable {
                continue;
            }
            seen.push(access.array);
            commands.push(Command::CacheShared {
                array: array.name.clone(),
                computation: algorithm.computation(anchor).name.clone(),
                at: tile.name.clone(),
                ahead: 0,
            });
        }
    }
    commands
}
