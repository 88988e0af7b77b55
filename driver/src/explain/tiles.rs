//! What the tiles of an order load and store for a result, in nests without time, and what tiles next to them would.

use super::Lines;
use super::words::named;
use std::collections::BTreeSet;
use std::fmt::Write;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::models::tiles::inside::{Inside, Moves, TYPICAL, deepest};
use tessella_polyhedral::schedule::{Loop, Tag};

/// Tiles whose bytes differ by less than this part move the same.
const SAME: f64 = 0.01;

/// A tile for a cache fills at least this part of it, one over the number.
const LEAST_PART: u64 = 16;

/// For each nest, the tile that a cache holds, or that a block of a GPU's threads computes: bytes and operations for a result, and the
/// bytes of tiles with a side halved or doubled. Nothing of nests whose tiles could as well have any size and are none; nor of those
/// that were spoken of already.
///
/// `scheduled` is the program before copies were added to it.
pub(crate) fn tiles(scheduled: &Scheduled, told: &BTreeSet<ComputationId>, lines: &Lines) -> Result<String, Error> {
    let (source, schedule) = (&scheduled.algorithm, &scheduled.schedule);
    let mut text = String::new();
    // Tilings of time cut statements into pieces.
    let of = |id: ComputationId| source.whole.as_ref().and_then(|whole| whole.piece_of.get(id.0 as usize).copied());
    let is_told = |id: &ComputationId| told.contains(&of(*id).unwrap_or(*id));
    for main in deepest(source, schedule).into_iter().filter(|main| !is_told(main)) {
        let around: Vec<&Loop> = schedule.loops_around(main).into_iter().map(|(_, it)| it).collect();
        let mut said = String::new();
        for (depth, place) in places(scheduled, main, &around)? {
            if let Some(inside) = Inside::of(source, schedule, main, depth)? {
                said.push_str(&tile(&inside, place).unwrap_or_default());
            }
        }
        if said.is_empty() {
            continue;
        }
        if text.is_empty() {
            let _ = writeln!(
                text,
                "\nTiles: bytes that go in and out and operations for each result, counted as if long loops had {TYPICAL} iterations"
            );
        }
        let names = source.computation(main).iterators.join(", ");
        let _ = writeln!(text, "  {} over {names}", named(source, main, lines));
        text.push_str(&said);
    }
    Ok(text)
}

/// Where a tile lies.
#[derive(Clone, Copy)]
enum Place {
    Cache { bytes: u64, name: &'static str },
    Block,
}

/// How many loops stand outside of each tile that is of interest, and where it lies.
fn places(scheduled: &Scheduled, main: ComputationId, around: &[&Loop]) -> Result<Vec<(usize, Place)>, Error> {
    match scheduled.target {
        Target::Gpu => {
            let blocks = around.iter().rposition(|it| matches!(it.tag, Tag::GpuBlock(_)));
            Ok(blocks.map(|at| (at + 1, Place::Block)).into_iter().collect())
        }
        Target::Cpu => {
            let machine = &scheduled.machine;
            let mut left = vec![
                Place::Cache { bytes: machine.l1_bytes, name: "the first-level cache" },
                Place::Cache { bytes: machine.l2_bytes, name: "the second-level cache of a core" },
            ];
            let mut found = vec![];
            for depth in 1..around.len() {
                let Some(inside) = Inside::of(&scheduled.algorithm, &scheduled.schedule, main, depth)? else {
                    continue;
                };
                let Some(moves) = inside.moves(&inside.sides) else { continue };
                // A tile that takes next to nothing of a cache was not made for it.
                let fits = |place: &Place| {
                    let Place::Cache { bytes, .. } = place else { return false };
                    (bytes / LEAST_PART..=*bytes).contains(&moves.held())
                };
                // What fits into a small cache says nothing of a larger one.
                if let Some(first) = left.iter().position(fits) {
                    found.push((depth, left[first]));
                    left.truncate(first);
                }
            }
            Ok(found)
        }
    }
}

/// A tile, and those next to it; nothing if it is none, and no size would make a difference.
fn tile(inside: &Inside<'_>, place: Place) -> Option<String> {
    let moves = inside.moves(&inside.sides)?;
    let others: Vec<(Vec<Option<u64>>, Moves)> = beside(&inside.sides)
        .into_iter()
        .filter_map(|sides| inside.moves(&sides).map(|moves| (sides, moves)))
        .collect();
    let differs = |(_, it): &(Vec<Option<u64>>, Moves)| (it.bytes() / moves.bytes() - 1.0).abs() > SAME;
    let is_tiled = inside.sides.iter().filter(|side| side.is_some_and(|side| side > 1)).count() > 1;
    if moves.cost.useful == 0 || (!is_tiled && !others.iter().any(differs)) {
        return None;
    }
    let mut text = format!("    {}, ", sides_text(inside, &inside.sides));
    match place {
        Place::Cache { bytes, name } => {
            let _ = write!(text, "{} KiB in {name}, {} KiB: ", kib(moves.held()), bytes >> 10);
        }
        Place::Block => text.push_str("a block of threads: "),
    }
    let _ = write!(text, "{:.2} bytes", moves.bytes());
    if moves.operations > 0 {
        let _ = write!(text, " and {:.1} operations", moves.operations as f64 / moves.cost.useful as f64);
    }
    let _ = writeln!(text, "{}", if moves.is_exact { "" } else { ", an estimate" });
    if !others.iter().any(differs) {
        text.push_str("      the same with a side halved or doubled: nothing is used twice\n");
        return Some(text);
    }
    let fits = |it: &Moves| match place {
        Place::Cache { bytes, .. } => it.held() <= bytes,
        Place::Block => true,
    };
    let each = others.iter().map(|(sides, it)| {
        let large = if fits(it) { String::new() } else { format!(" ({} KiB)", kib(it.held())) };
        format!("{} {:.2}{large}", numbers(sides), it.bytes())
    });
    let _ = writeln!(text, "      next to it: {}", each.collect::<Vec<_>>().join(", "));
    let least = others.iter().filter(|(_, it)| fits(it)).min_by(|a, b| a.1.bytes().total_cmp(&b.1.bytes()));
    let better = least.filter(|(_, it)| it.bytes() < moves.bytes() * (1.0 - SAME));
    let _ = match (better, place) {
        (Some((sides, it)), Place::Cache { .. }) => {
            writeln!(
                text,
                "      {} would fit and move {:.0} % less",
                numbers(sides),
                100.0 * (1.0 - it.bytes() / moves.bytes())
            )
        }
        (Some(_), Place::Block) => {
            writeln!(text, "      larger blocks move less, as far as registers and shared memory go")
        }
        (None, Place::Cache { .. }) => writeln!(text, "      none of these fits and moves less"),
        (None, Place::Block) => writeln!(text, "      none of these moves less"),
    };
    Some(text)
}

/// The sides with one of them, or all, halved or doubled.
fn beside(sides: &[Option<u64>]) -> Vec<Vec<Option<u64>>> {
    let half = |side: u64| (side / 2).max(1);
    let twice = |side: u64| 2 * side;
    let mut all: Vec<Vec<Option<u64>>> = vec![];
    for by in [&half as &dyn Fn(u64) -> u64, &twice] {
        for at in (0..sides.len()).filter(|&at| sides[at].is_some()) {
            let mut other = sides.to_vec();
            other[at] = sides[at].map(by);
            all.push(other);
        }
        all.push(sides.iter().map(|side| side.map(by)).collect());
    }
    let mut seen = BTreeSet::new();
    all.retain(|it| it != sides && seen.insert(it.clone()));
    all
}

fn kib(bytes: u64) -> u64 {
    bytes.div_ceil(1024)
}

/// `60 x 256 x all`.
fn numbers(sides: &[Option<u64>]) -> String {
    sides.iter().map(|side| side.map_or("all".to_string(), |side| side.to_string())).collect::<Vec<_>>().join(" x ")
}

/// `60 x 256 x 128 of j, k, i`.
fn sides_text(inside: &Inside<'_>, sides: &[Option<u64>]) -> String {
    format!("{} of {}", numbers(sides), inside.names.join(", "))
}
