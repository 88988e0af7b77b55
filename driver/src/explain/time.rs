//! What tilings of time would move and compute, beside the order that was chosen.

use super::words::{sum, taken};
use crate::model::{FastMemory, sizes_text};
use std::collections::BTreeSet;
use std::fmt::Write;
use tessella_polyhedral::affine::{Affine, Atom};
use tessella_polyhedral::algorithm::{Algorithm, ComputationId};
use tessella_polyhedral::auto::time_tiles;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::Target;
use tessella_polyhedral::machine::Machine;
use tessella_polyhedral::models::tiles::fit::{Nest, Nests};
use tessella_polyhedral::models::tiles::rank::{Ranking, Refused, Trust, ranked_nests};
use tessella_polyhedral::models::tiles::{Approach, Cost};
use tessella_polyhedral::schedule::{Schedule, Tag};
use tessella_polyhedral::work;

/// An explanation goes without, where it would take more work of isl.
const OPERATIONS: u64 = 2_000_000;

/// For each nest over time, the best tile of each approach in the first-level cache: bytes and operations for each useful result,
/// and which of them the order that was chosen is, and the computations that were spoken of. Empty where there is none, or where counting
/// takes too long.
pub(crate) fn tilings(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    (target, machine): (Target, &Machine),
    hexagons: &[&Command],
) -> Result<(String, BTreeSet<ComputationId>), Error> {
    let FastMemory { bytes, place, element } = FastMemory::of(algorithm, target, machine);
    let memory = bytes / u64::from(element);
    let nests = match ctx.with_budget(OPERATIONS, || ranked_nests(ctx, algorithm, Nests::Stencils, memory)) {
        Ok(nests) => nests,
        Err(error) if error.is_quota() => return Ok(Default::default()),
        Err(other) => return Err(other),
    };
    let (mut text, mut about) = (String::new(), BTreeSet::new());
    for (nest, ranking) in &nests {
        if ranking.time.is_none() || ranking.ranked.is_empty() {
            continue;
        }
        if text.is_empty() {
            let _ = writeln!(
                text,
                "\nTiles of time: bytes to and from memory and operations for each result, counted for tiles that fill {place} ({} KiB)",
                bytes >> 10
            );
        }
        about.extend(&nest.computations);
        told(&mut text, algorithm, nest, ranking, (target, element));
        text.push_str(&match hexagons.iter().find(|it| is_about(algorithm, it, nest)) {
            Some(command) => hexagonal(algorithm, schedule, (command, nest), machine),
            None => chosen(algorithm, schedule, nest, (target, machine), element),
        });
    }
    if !text.is_empty() {
        text.push_str(
            "  which of these is fastest, `tessella tune` finds out; arrays that fit into a cache gain little\n",
        );
    }
    Ok((text, about))
}

fn told(text: &mut String, algorithm: &Algorithm, nest: &Nest, ranking: &Ranking, (target, element): (Target, u32)) {
    let _ = writeln!(
        text,
        "  {} over {}, in steps of {}",
        ranking.computations.join(", "),
        ranking.space.join(", "),
        ranking.time.as_deref().unwrap_or_default()
    );
    let operations = nest.main().map(|id| {
        let (narrow, wide) = work::operations(algorithm.computation(id));
        narrow + wide
    });
    // Where a step passes values along all of space, hexagons are refused, and on a GPU diagonals of upright tiles, too.
    let in_place = ranking.refused.contains(&(Approach::Redundant, Refused::Chain));
    let skewed = match (in_place, target) {
        (false, _) => "`time_skew` or `hexagonal`",
        (true, Target::Cpu) => "`time_skew`",
        (true, Target::Gpu) => "`parallelogram`",
    };
    // Instances of all statements count alike.
    let operations = operations.sum::<u64>() as f64 / nest.main().count().max(1) as f64;
    for it in &ranking.ranked {
        let cost = &it.candidate.cost;
        let useful = cost.useful.max(1) as f64;
        let command = match it.candidate.approach {
            Approach::Plain => "each step by itself",
            Approach::Skewed => skewed,
            Approach::Redundant => "`overlapped`",
        };
        let runs = it.run as f64 / useful;
        let sizes = sizes_text(&it.candidate);
        let bytes = bytes(cost, element);
        let flops = match operations > 0.0 {
            true => format!(" and {:.1} operations", runs * operations),
            false => String::new(),
        };
        let sure = match it.trust {
            Trust::Exact => "",
            Trust::Counted => "; other sizes may be better",
            Trust::Estimate => ", an estimate",
        };
        let again = match runs > 1.005 {
            true => format!(", with {runs:.2} points computed for each that is needed"),
            false => String::new(),
        };
        let _ = writeln!(text, "    {command}, {sizes}: {bytes:.2} bytes{flops}{again}{sure}");
    }
}

/// Bytes for each useful result.
fn bytes(cost: &Cost, element: u32) -> f64 {
    cost.transfers() as f64 * f64::from(element) / cost.useful.max(1) as f64
}

/// Whether a command tiles this nest over time.
fn is_about(algorithm: &Algorithm, command: &Command, nest: &Nest) -> bool {
    let named = |computations: &[String]| {
        nest.computations.iter().any(|&id| computations.contains(&algorithm.computation(id).name))
    };
    matches!(command, Command::Hexagonal { computations, .. } if named(computations))
}

/// What hexagons were chosen, and why.
fn hexagonal(
    algorithm: &Algorithm,
    schedule: &Schedule,
    (command, nest): (&Command, &Nest),
    machine: &Machine,
) -> String {
    let Command::Hexagonal { loops, widths, .. } = command else { return String::new() };
    let extent = time_tiles::typical(loops.len());
    // The rows of hexagons, and those of one phase in a row.
    let around = nest.computations.first().map(|&id| (id, schedule.loops_around(id)));
    let tiles = around.iter().flat_map(|(id, loops)| {
        let iterators = &algorithm.computation(*id).iterators;
        loops.iter().filter_map(|(_, it)| taken(it.at.get(id)?, iterators)).collect::<Vec<_>>()
    });
    let shape = match (tiles.collect::<Vec<_>>().as_slice(), widths.first(), loops.first()) {
        ([steps, period, ..], Some(width), Some(along)) => format!(
            ": hexagons over {steps}, in their first and last step {} values of `{along}` wide,\n      between them wider, one of each phase in {period}",
            width + 1
        ),
        _ => String::new(),
    };
    format!(
        "    chosen: `{command}`{shape}\n      nothing is computed twice; threads start twice for each row of hexagons; the sizes are such that for arrays of up to {extent} points\n      along each axis a hexagon needs at most {} KiB, in caches close to a core, and each of {} threads has two hexagons at a time\n",
        time_tiles::room(machine) >> 10,
        time_tiles::sharing(machine, loops.len()),
    )
}

/// The edges of tiles whose diagonals a loop counts: it is the sum of both numbers of a tile over the first two loops.
fn edges(wave: &Affine) -> Option<[(i64, i64); 2]> {
    let [(Atom::FloorDiv(a, da), 1), (Atom::FloorDiv(b, db), 1)] = wave.terms() else { return None };
    let factor = |at: &Affine, iterator: u32| {
        let found = at.terms().iter().find(|(atom, _)| *atom == Atom::Iterator(iterator));
        found.map_or(0, |(_, factor)| *factor)
    };
    let only_two =
        |at: &Affine| at.terms().iter().all(|(atom, _)| matches!(atom, Atom::Iterator(0 | 1) | Atom::Param(_)));
    if !only_two(a) || !only_two(b) {
        return None;
    }
    // A tile's numbers are `x T^-1`, so the columns of the inverse are these factors by the divisors.
    let ([a1, a2], [b1, b2]) = ([factor(a, 0), factor(a, 1)], [factor(b, 0), factor(b, 1)]);
    let span = a1 * b2 - b1 * a2;
    let rows = [(b2 * da, -b1 * da), (-a2 * db, a1 * db)];
    let whole = span != 0 && rows.iter().all(|(t, i)| t % span == 0 && i % span == 0);
    let mut edges = rows.map(|(t, i)| if whole { (t / span, i / span) } else { (0, 0) });
    edges.sort_by_key(|&(_, i)| i);
    whole.then_some(edges)
}

/// `4t + 2j + i`: what the outermost loop counts, if it is a sum of several iterators, time among them.
fn plane(algorithm: &Algorithm, id: ComputationId, wave: &Affine) -> Option<String> {
    let is_iterator = |it: &&(Atom, i64)| matches!(it.0, Atom::Iterator(_));
    let has_time = wave.terms().iter().any(|it| it.0 == Atom::Iterator(0));
    let leans = has_time && wave.terms().iter().filter(is_iterator).count() > 1;
    let grows = wave.terms().iter().all(|(atom, factor)| matches!(atom, Atom::Param(_)) || *factor > 0);
    (leans && grows).then(|| sum(wave.terms(), &algorithm.computation(id).iterators)).flatten()
}

/// What stands in the order that was chosen, and why.
fn chosen(
    algorithm: &Algorithm,
    schedule: &Schedule,
    nest: &Nest,
    (target, machine): (Target, &Machine),
    element: u32,
) -> String {
    let around = nest.computations.first().map(|&id| (id, schedule.loops_around(id)));
    let loops = around.iter().flat_map(|(_, loops)| loops);
    if let Some(Tag::Stream(size)) = loops.map(|(_, it)| it.tag).find(|tag| matches!(tag, Tag::Stream(_))) {
        let what = if size.hexagon.is_some() { "hexagons in registers" } else { "`stream`" };
        return format!(
            "    chosen: {what}, with the sizes that are the fastest by the model that stands with its loop above\n"
        );
    }
    if target == Target::Gpu {
        let [first, second] =
            around.iter().find_map(|(id, loops)| edges(loops.first()?.1.at.get(id)?)).unwrap_or_default();
        if first != second {
            return format!(
                "    chosen: diagonals of parallelograms with the edges {first:?} and {second:?}, a kernel for each diagonal\n"
            );
        }
        if let Some(plane) = around.iter().find_map(|(id, loops)| plane(algorithm, *id, loops.first()?.1.at.get(id)?)) {
            return format!(
                "    chosen: planes of equal {plane}, the least lean that the dependences allow: a kernel for each, whose points run at once\n"
            );
        }
    }
    // Nothing for what counts more than tiles.
    let divisors = |at: &Affine| -> Vec<i64> {
        let divided = at.terms().iter().map(|(atom, _)| match atom {
            Atom::FloorDiv(_, divisor) => Some(*divisor),
            Atom::Iterator(_) | Atom::Param(_) => None,
        });
        divided.collect::<Option<_>>().unwrap_or_default()
    };
    let wave = around.iter().flat_map(|(id, loops)| {
        let sums = loops.iter().filter_map(|(_, it)| it.at.get(id)).map(divisors);
        sums.filter(|it| !it.is_empty()).collect::<Vec<_>>()
    });
    let wave: Vec<Vec<i64>> = wave.collect();
    let fit = nest.fits.iter().find(|it| it.approach == Approach::Skewed);
    // Diagonals of tiles count two sizes at once: that of time and that of the outermost dimension.
    if let Some(([steps, first], fit)) = wave.first().and_then(|it| <[i64; 2]>::try_from(it.as_slice()).ok()).zip(fit) {
        // The loop over the tiles of one diagonal divides by the first size once more.
        let rest = wave.iter().skip(2).filter_map(|it| it.first().copied());
        let space: Vec<i64> = std::iter::once(first).chain(rest).collect();
        if space.len() == nest.space.len() {
            let sizes: Vec<u64> = space.iter().chain([&steps]).map(|&it| it as u64).collect();
            let cost = fit.cost(&sizes);
            let shown: Vec<String> = space.iter().map(i64::to_string).collect();
            return format!(
                "    chosen: diagonals of skewed tiles, {} x {steps} steps, about {:.2} bytes: a tile holds {} KiB, and the second-level cache of a core {} KiB\n",
                shown.join(" x "),
                bytes(&cost, element),
                (cost.memory * u64::from(element)).div_ceil(1024),
                machine.l2_bytes >> 10,
            );
        }
    }
    // The time loop stands outermost, as the source has it, and nothing inside counts several of its steps.
    let is_time = |at: Option<&Affine>| at.and_then(Affine::as_iterator) == Some(0);
    let is_plain = around.iter().all(|(id, loops)| {
        let of_time = loops.iter().filter(|(_, it)| is_time(it.at.get(id)));
        of_time.count() == 1 && loops.first().is_some_and(|(_, it)| is_time(it.at.get(id)))
    });
    match (is_plain, target) {
        (true, Target::Cpu) => format!(
            "    chosen: each step by itself; hexagons are chosen for up to {} statements where {} KiB hold them and threads get\n    enough of them, others by `@schedule` or the tuner\n",
            time_tiles::MOST,
            time_tiles::room(machine) >> 10,
        ),
        (true, Target::Gpu) => {
            "    chosen: each step by itself, in kernels of its own: no stream is possible, or none is faster by the model\n".to_string()
        }
        (false, _) => String::new(),
    }
}
