//! What a model says of the ways to run a time loop that streams.

use std::collections::BTreeSet;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::auto::{
    self,
    stream::{Candidate, SMALL_PLANE},
};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::machine::Gpu;
use tessella_polyhedral::schedule::{Loop, Node, Path, StreamSize, Tag};
use tessella_polyhedral::verify::Verified;

/// What the model says of the ways to run a time loop that streams: for each number of steps the best sizes.
pub(super) fn streams(ctx: &Ctx, verified: &Verified, path: &Path, chosen: StreamSize) -> Result<Vec<String>, Error> {
    let Some(Node::Loop(it)) = verified.schedule().node(path) else { return Ok(vec![]) };
    let it = Loop { tag: Tag::Sequential, ..it.clone() };
    // Where blocks hold the domain, the way of streams does not matter.
    let chosen = StreamSize { resident: None, ..chosen };
    let algorithm = verified.algorithm();
    // A stream that stands in for another one where matrices are small.
    let of_sizes = |id: &ComputationId| algorithm.whole.as_ref().is_some_and(|whole| whole.sizes.contains_key(id));
    let is_best = |all: &[Candidate]| all.first().is_some_and(|best| best.size == Some(chosen));
    let mut all = auto::stream::candidates(ctx, &Gpu::HOPPER, algorithm, &it, path.0.len())?;
    let mut of = "arrays larger than the caches of a Hopper GPU".to_string();
    if it.at.keys().all(of_sizes) && !is_best(&all) {
        let small = auto::stream::candidates_of_small(ctx, &Gpu::HOPPER, algorithm, &it, path.0.len())?;
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
    Ok(heading.into_iter().chain(lines).collect())
}
