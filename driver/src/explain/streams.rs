//! What a model says of the ways to run a time loop that streams.

use std::collections::BTreeSet;
use tessella_polyhedral::algorithm::{Algorithm, ComputationId};
use tessella_polyhedral::auto::resident::TILED_SIDE;
use tessella_polyhedral::auto::resident_cost::Tiles;
use tessella_polyhedral::auto::{
    self,
    stream::{Candidate, SMALL_PLANE},
};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::machine::Gpu;
use tessella_polyhedral::schedule::{Loop, Node, Path, ResidentSize, StreamSize, Tag};
use tessella_polyhedral::verify::Verified;

/// What the model says of the ways to run a time loop that streams: for each number of steps the best sizes.
pub(super) fn streams(ctx: &Ctx, verified: &Verified, path: &Path, chosen: StreamSize) -> Result<Vec<String>, Error> {
    let Some(Node::Loop(it)) = verified.schedule().node(path) else { return Ok(vec![]) };
    let it = Loop { tag: Tag::Sequential, ..it.clone() };
    // Where blocks hold the domain, the way of streams does not matter.
    let (in_tiles, chosen) = (chosen, StreamSize { resident: None, ..chosen });
    let algorithm = verified.algorithm();
    // A stream that stands in for another one where matrices are small.
    let of_sizes = |id: &ComputationId| algorithm.whole.as_ref().is_some_and(|whole| whole.sizes.contains_key(id));
    let is_best = |all: &[Candidate]| all.first().is_some_and(|best| best.size == Some(chosen));
    let mut all = auto::stream::candidates(ctx, &Gpu::HOPPER, algorithm, &it)?;
    let mut of = "arrays larger than the caches of a Hopper GPU".to_string();
    if it.at.keys().all(of_sizes) && !is_best(&all) {
        let small = auto::stream::candidates_of_small(ctx, &Gpu::HOPPER, algorithm, &it)?;
        if is_best(&small) {
            (all, of) = (small, format!("matrices of {SMALL_PLANE} x {SMALL_PLANE} on a Hopper GPU"));
        }
    }
    let mut told = BTreeSet::new();
    let best = all.iter().filter(|candidate| {
        let is_first = told.insert(candidate.size.map(|size| (size.steps, size.hexagon.is_some())));
        is_first || candidate.size == Some(chosen)
    });
    let mut best: Vec<&Candidate> = best.collect();
    best.sort_by_key(|candidate| candidate.size);
    // The model speaks of a point and step, at which each of the deepest statements has one result.
    let depth = |id: &&ComputationId| algorithm.computation(**id).iterators.len();
    let deepest = it.at.keys().map(|id| depth(&id)).max().unwrap_or(0);
    let results = it.at.keys().filter(|id| depth(id) == deepest).count().max(1) as f64;
    let statement = it.at.keys().next().map_or("", |&id| algorithm.computation(id).name.as_str());
    let lines = best.into_iter().map(|Candidate { size, bytes, instructions, time }| {
        let way = match size {
            None => "a kernel for each nest and step".to_string(),
            Some(size) => format!("`{}`", size.command(statement, &it.name)),
        };
        let mark = if *size == Some(chosen) { ": chosen" } else { "" };
        let [bytes, instructions, time] = [bytes, instructions, time].map(|it| it / results);
        format!("{way}: {bytes:.2} bytes, {instructions:.1} instructions, {time:.2} ps{mark}")
    });
    let (more, in_planes) = match chosen.lines == StreamSize::LINES {
        true => ("", ""),
        false => (", l", ", with l lines of each plane a thread"),
    };
    let heading = [
        format!("By the model, for each result, of {of}: bytes to and from memory, instructions, time;"),
        format!(
            "`stream({statement}, {}, s, p, r{more})` takes s steps in one pass, with p neighbouring points a thread, in parts of r rows{in_planes} (without r, or where it is 0, each launch chooses):",
            it.name
        ),
    ];
    let mut told: Vec<String> = heading.into_iter().chain(lines).collect();
    if let Some(size) = in_tiles.resident {
        told.extend(tiles(ctx, algorithm, (&it, in_tiles), (statement, size, results))?);
    }
    Ok(told)
}

/// What the model says of blocks that keep their tiles for all steps, as many as were weighed, where some size was chosen.
fn tiles(
    ctx: &Ctx,
    algorithm: &Algorithm,
    (it, streams): (&Loop, StreamSize),
    (statement, chosen, results): (&str, ResidentSize, f64),
) -> Result<Vec<String>, Error> {
    let tiles = Tiles::of(ctx, algorithm, it, streams)?;
    let Some(longest) = tiles.longest(&Gpu::HOPPER, chosen) else { return Ok(vec![]) };
    let side = longest.min(TILED_SIDE);
    let Some(extents) = tiles.cube(side) else { return Ok(vec![]) };
    let sides = |side: i64| {
        let axes = extents.iter().filter(|extent| **extent > 1).map(|_| side.to_string());
        axes.collect::<Vec<_>>().join(" x ")
    };
    let heading = [
        format!("Tiles of `grid_sync({statement}, {}, {chosen})` hold up to {} points;", it.name, sides(longest)),
        format!(
            "`grid_sync({statement}, {}, s, p, r, w, l)` makes s steps between barriers of all blocks, with p points of a row a lane and r rows a warp; by the model, of {} points:",
            it.name,
            sides(side)
        ),
    ];
    let mut weighed = tiles.weighed(&Gpu::HOPPER, algorithm, extents);
    weighed.sort_by_key(|candidate| candidate.size);
    let lines = weighed.into_iter().filter_map(|Candidate { size, bytes, instructions, time }| {
        let size = size?.resident?;
        let mark = if size == chosen { ": chosen" } else { "" };
        let [bytes, instructions, time] = [bytes, instructions, time].map(|it| it / results);
        let way = format!("`grid_sync({statement}, {}, {size})`", it.name);
        Some(format!("{way}: {bytes:.2} bytes, {instructions:.1} instructions, {time:.2} ps{mark}"))
    });
    Ok(heading.into_iter().chain(lines).collect())
}
