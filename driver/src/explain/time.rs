//! What tilings of time would move and compute, beside the order that was chosen.

use super::words::{sum, taken};
use crate::model::{FastMemory, sizes_text};
use std::collections::BTreeSet;
use std::fmt::Write;
use tessella_polyhedral::affine::{Affine, Atom};
use tessella_polyhedral::algorithm::{Algorithm, ComputationId};
use tessella_polyhedral::auto::time_tiles;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::dependence::dependences;
use tessella_polyhedral::error::{Error, ScheduleError};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::machine::Machine;
use tessella_polyhedral::models::tiles::fit::{Nest, Nests, Sizes};
use tessella_polyhedral::models::tiles::hexagons::HexagonTile;
use tessella_polyhedral::models::tiles::rank::{Ranked, RankedNest, Refused, Trust, ranked_nests};
use tessella_polyhedral::models::tiles::{Approach, Cost};
use tessella_polyhedral::schedule::{Schedule, Tag};
use tessella_polyhedral::storage::StorageError;
use tessella_polyhedral::stream::{Obstacle, obstacle};
use tessella_polyhedral::time_tiling::find;
use tessella_polyhedral::transform::overlapped_unproved;
use tessella_polyhedral::work;

/// An explanation goes without, where it would take more work of isl.
const OPERATIONS: u64 = 2_000_000;

/// What isl may do to find out whether tiles may overlap.
const OVERLAP_OPERATIONS: u64 = 500_000;

/// The tiles for that; which ones does not matter.
const OVERLAP_STEPS: u32 = 2;
const OVERLAP_SIDE: u32 = 16;

/// For each nest over time, the best tile of each approach in the first-level cache: bytes and operations for each useful result,
/// and which of them the order that was chosen is, and the computations that were spoken of; or why there are no numbers. Empty where there
/// is none.
pub(crate) fn tilings(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    (target, machine): (Target, &Machine),
    hexagons: &[&Command],
) -> Result<(String, BTreeSet<ComputationId>), Error> {
    let FastMemory { bytes, place, element } = FastMemory::of(algorithm, target, machine);
    let memory = bytes / u64::from(element);
    let nests = match ctx
        .with_budget(OPERATIONS, || ranked_nests(ctx, algorithm, Nests::Stencils, Sizes::Quick, memory))
    {
        Ok(nests) => nests,
        Err(error) if error.is_quota() => {
            let why = "counting takes more work than an explanation may cost";
            return Ok((uncounted(algorithm, schedule, &algorithm.ids().collect::<Vec<_>>(), why), BTreeSet::new()));
        }
        Err(other) => return Err(other),
    };
    let (mut text, mut about) = (String::new(), BTreeSet::new());
    for it in &nests.all {
        let RankedNest { nest, ranking, .. } = it;
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
        let hexagon = best_hexagon(ctx, algorithm, it, (target, machine), memory)?;
        let overlap = overlap(ctx, algorithm, nest, (target, machine))?;
        told(&mut text, algorithm, it, (hexagon, overlap), (target, element));
        text.push_str(&match hexagons.iter().find(|it| is_about(algorithm, it, nest)) {
            Some(command) => hexagonal(algorithm, schedule, (command, nest), machine),
            None => chosen(ctx, algorithm, schedule, nest, (target, machine), element)?,
        });
    }
    if !text.is_empty() {
        text.push_str(
            "  which of these is fastest, `tessella tune` finds out; arrays that fit into a cache gain little\n",
        );
    }
    for computations in &nests.uneven {
        let why = "points in their middle are not all alike";
        text.push_str(&uncounted(algorithm, schedule, computations, why));
    }
    Ok((text, about))
}

/// What hexagons cost.
enum Hexagons {
    /// No hexagons tile the nest.
    Refused,
    Unknown(&'static str),
    Best(HexagonTile),
}

/// The hexagon that moves least.
fn best_hexagon(
    ctx: &Ctx,
    algorithm: &Algorithm,
    it: &RankedNest,
    (target, machine): (Target, &Machine),
    memory: u64,
) -> Result<Hexagons, Error> {
    let (Some(time), Some(hexagons)) = (&it.nest.time, &it.hexagons) else { return Ok(Hexagons::Refused) };
    let start = start(algorithm, target, machine);
    let found = ctx.with_budget(OPERATIONS, || {
        let all = dependences(ctx, algorithm)?;
        find(ctx, &start, &all, &it.nest.computations, time)
    });
    match found {
        Ok(Some(found)) if found.slopes.is_some() => Ok(match hexagons.best(&found, memory) {
            Some(tile) => Hexagons::Best(tile),
            None => Hexagons::Unknown("the lowest ones take more memory, or are no upright boxes in each step"),
        }),
        Ok(_) => Ok(Hexagons::Refused),
        Err(error) if error.is_quota() => Ok(Hexagons::Unknown("finding their slopes takes too much work")),
        Err(other) => Err(other),
    }
}

/// The program in the source's order.
fn start(algorithm: &Algorithm, target: Target, machine: &Machine) -> Scheduled {
    Scheduled {
        algorithm: algorithm.clone(),
        schedule: algorithm.source_order.clone(),
        target,
        machine: *machine,
        versions: vec![],
        scratch: BTreeSet::new(),
    }
}

/// Why no tiles overlap, where that is seen without a proof: `None` where they may.
enum Overlap {
    MayBe,
    /// Not even the tiles can be made; of an array if that is what has no size.
    Refused(Option<String>),
}

fn overlap(
    ctx: &Ctx,
    algorithm: &Algorithm,
    nest: &Nest,
    (target, machine): (Target, &Machine),
) -> Result<Overlap, Error> {
    let (Some(time), Some(id)) = (&nest.time, nest.main().next()) else { return Ok(Overlap::MayBe) };
    let start = start(algorithm, target, machine);
    let name = &algorithm.computation(id).name;
    let sizes = vec![OVERLAP_SIDE; nest.space.len()];
    let made = ctx.with_budget(OVERLAP_OPERATIONS, || {
        overlapped_unproved(ctx, &start, name, time, &nest.space, OVERLAP_STEPS, &sizes)
    });
    Ok(match made {
        Err(Error::Storage(StorageError::NoConstantSize { array, .. })) => Overlap::Refused(Some(array)),
        Err(Error::Schedule(ScheduleError::CannotOverlap { .. })) => Overlap::Refused(None),
        Ok(_) | Err(_) => Overlap::MayBe,
    })
}

fn told(
    text: &mut String,
    algorithm: &Algorithm,
    RankedNest { nest, ranking, .. }: &RankedNest,
    (hexagons, overlap): (Hexagons, Overlap),
    (target, element): (Target, u32),
) {
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
    // Where a step passes values along all of space, diagonals of upright tiles are refused on a GPU.
    let in_place = ranking.refused.contains(&(Approach::Redundant, Refused::Chain));
    let skewed = match (in_place, target) {
        (false, _) | (true, Target::Cpu) => "`time_skew`",
        (true, Target::Gpu) => "`parallelogram`",
    };
    // Instances of all statements count alike.
    let operations = operations.sum::<u64>() as f64 / nest.main().count().max(1) as f64;
    let line = |what: String, cost: &Cost, run: u64, sure: &str| {
        let runs = run as f64 / cost.useful.max(1) as f64;
        let bytes = bytes(cost, element);
        let flops = match operations > 0.0 {
            true => format!(" and {:.1} operations", runs * operations),
            false => String::new(),
        };
        let again = match runs > 1.005 {
            true => format!(", with {runs:.2} points computed for each that is needed"),
            false => String::new(),
        };
        format!("    {what}: {bytes:.2} bytes{flops}{again}{sure}\n")
    };
    let mut lines: Vec<(Cost, String)> = vec![];
    let is_possible = |it: &&Ranked| match overlap {
        Overlap::MayBe => true,
        Overlap::Refused(_) => it.candidate.approach != Approach::Redundant,
    };
    for it in ranking.ranked.iter().filter(is_possible) {
        let command = match it.candidate.approach {
            Approach::Plain => "each step by itself",
            Approach::Skewed => skewed,
            Approach::Redundant => "`overlapped`",
        };
        let sure = match it.trust {
            Trust::Exact => "",
            Trust::Counted => "; other sizes may be better",
            Trust::Estimate => ", an estimate",
        };
        let what = format!("{command}, {}", sizes_text(&it.candidate));
        lines.push((it.candidate.cost, line(what, &it.candidate.cost, it.run, sure)));
    }
    match hexagons {
        Hexagons::Refused => {}
        Hexagons::Unknown(why) => text.push_str(&format!("    `hexagonal`: not counted, since {why}\n")),
        Hexagons::Best(HexagonTile { widths, longest, steps, counts, .. }) => {
            let sides: Vec<String> = std::iter::once(format!("{} to {longest}", widths[0] + 1))
                .chain(widths[1..].iter().map(i64::to_string))
                .collect();
            let what = format!("`hexagonal`, {} x {steps} steps", sides.join(" x "));
            let told = line(what, &counts.cost, counts.run, "; other sizes may be better");
            let at = lines.iter().position(|(cost, _)| counts.cost.is_better_than(cost)).unwrap_or(lines.len());
            lines.insert(at, (counts.cost, told));
        }
    }
    lines.iter().for_each(|(_, line)| text.push_str(line));
    if let Overlap::Refused(Some(array)) = overlap {
        let _ = writeln!(text, "    `overlapped`: refused, since what a tile needs of `{array}` has no constant size");
    }
}

/// Why nothing is told of tiles of time for loops that run in order around others; nothing where there are none.
fn uncounted(algorithm: &Algorithm, schedule: &Schedule, computations: &[ComputationId], why: &str) -> String {
    let loops = |id: ComputationId| algorithm.source_order.loops_around(id);
    let is_in_order = |id: &ComputationId| {
        schedule.loops_around(*id).first().is_some_and(|(_, it)| {
            let is_first = it.at.get(id).and_then(Affine::as_iterator) == Some(0);
            is_first && matches!(it.tag, Tag::Sequential | Tag::GridSync | Tag::Stream(_))
        })
    };
    let mut names: Vec<String> = vec![];
    for id in computations.iter().filter(|id| loops(**id).len() > 1 && is_in_order(id)) {
        let name = &loops(*id)[0].1.name;
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    match names.is_empty() {
        true => String::new(),
        false => format!("\nTiles of time: not counted for loops over {}, since {why}\n", names.join(", ")),
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
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    nest: &Nest,
    (target, machine): (Target, &Machine),
    element: u32,
) -> Result<String, Error> {
    let around = nest.computations.first().map(|&id| (id, schedule.loops_around(id)));
    let loops = around.iter().flat_map(|(_, loops)| loops);
    if let Some(Tag::Stream(size)) = loops.map(|(_, it)| it.tag).find(|tag| matches!(tag, Tag::Stream(_))) {
        let what = if size.hexagon.is_some() { "hexagons in registers" } else { "`stream`" };
        return Ok(format!(
            "    chosen: {what}, with the sizes that are the fastest by the model that stands with its loop above\n"
        ));
    }
    if target == Target::Gpu {
        let [first, second] =
            around.iter().find_map(|(id, loops)| edges(loops.first()?.1.at.get(id)?)).unwrap_or_default();
        if first != second {
            return Ok(format!(
                "    chosen: diagonals of parallelograms with the edges {first:?} and {second:?}, a kernel for each diagonal\n"
            ));
        }
        if let Some(plane) = around.iter().find_map(|(id, loops)| plane(algorithm, *id, loops.first()?.1.at.get(id)?)) {
            return Ok(format!(
                "    chosen: planes of equal {plane}, the least lean that the dependences allow: a kernel for each, whose points run at once\n"
            ));
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
            return Ok(format!(
                "    chosen: diagonals of skewed tiles, {} x {steps} steps, about {:.2} bytes: a tile holds {} KiB, and the second-level cache of a core {} KiB\n",
                shown.join(" x "),
                bytes(&cost, element),
                (cost.memory * u64::from(element)).div_ceil(1024),
                machine.l2_bytes >> 10,
            ));
        }
    }
    // The time loop stands outermost, as the source has it, and nothing inside counts several of its steps.
    let is_time = |at: Option<&Affine>| at.and_then(Affine::as_iterator) == Some(0);
    let is_plain = around.iter().all(|(id, loops)| {
        let of_time = loops.iter().filter(|(_, it)| is_time(it.at.get(id)));
        of_time.count() == 1 && loops.first().is_some_and(|(_, it)| is_time(it.at.get(id)))
    });
    Ok(match (is_plain, target) {
        (true, Target::Cpu) => format!(
            "    chosen: each step by itself; hexagons are chosen for up to {} statements where {} KiB hold them and threads get\n    enough of them, others by `@schedule` or the tuner\n",
            time_tiles::MOST,
            time_tiles::room(machine) >> 10,
        ),
        (true, Target::Gpu) => {
            let why = match no_stream(ctx, algorithm, nest)? {
                Some(obstacle) => format!("no stream is possible, since {}", obstacle.0),
                None => "no stream is faster by the model".to_string(),
            };
            format!("    chosen: each step by itself, in kernels of its own: {why}\n")
        }
        (false, _) => String::new(),
    })
}

/// Why the time loop of a nest does not stream, if it does not.
fn no_stream(ctx: &Ctx, algorithm: &Algorithm, nest: &Nest) -> Result<Option<Obstacle>, Error> {
    let loops = nest.computations.first().map(|&id| algorithm.source_order.loops_around(id)).unwrap_or_default();
    let Some((_, time)) = loops.first() else { return Ok(None) };
    match ctx.with_budget(OPERATIONS, || obstacle(ctx, algorithm, time)) {
        Err(error) if error.is_quota() => Ok(Some(Obstacle("its proof takes too much work".to_string()))),
        found => found,
    }
}
