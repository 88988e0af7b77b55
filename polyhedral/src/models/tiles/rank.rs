//! Chooses among tilings of a program by counting.

use super::count::{Counts, program};
use super::counter::{Counter, PARAMETER};
use super::fit::{Fit, Heard, Nest, Nests, Sizes, each_nest};
use super::hexagons::Hexagons;
use super::slant::LARGEST_SKEW;
use super::uniform::Uniform;
use super::{Approach, Candidate};
use super::{band, recount};
use crate::affine::{Affine, Atom};
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::Ctx;

/// The tilings of one nest of loops, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    pub computations: Vec<String>,
    /// The names of the loops whose iterations are tiled, time left out.
    pub space: Vec<String>,
    /// The name of the loop over time.
    pub time: Option<String>,
    /// Which way tiles count along time, if there is any, and along space: -1 where the source's loop goes down.
    pub signs: Vec<i64>,
    /// The names of loops inside that tiles leave whole.
    pub whole: Vec<String>,
    pub ranked: Vec<Ranked>,
    /// Approaches that do not apply, and why.
    pub refused: Vec<(Approach, Refused)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    pub candidate: Candidate,
    /// How far space moves with each time step, along each dimension.
    pub skew: Vec<i64>,
    /// For each dimension of space, how far it moves with those before it.
    pub lean: Vec<Vec<i64>>,
    /// The elements that the tile touches.
    pub footprint: u64,
    /// The instances that it runs.
    pub run: u64,
    pub trust: Trust,
    /// The first sizes that were looked at.
    pub least: u64,
}

/// Whether the counts are sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Formulas that were counted to be right at further sizes say that no tile is better.
    Exact,
    /// The tile was counted, but formulas are wrong, so that another one may be better.
    Counted,
    /// The tile itself could not be counted, or it is not known which accesses happen.
    Estimate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// No skew and no delay lets boxes run one after the other.
    Order,
    /// Values go on and on within one time step, so that a tile would compute all before it again.
    Chain,
    /// No loop outside carries values.
    NoTime,
    /// How many time steps a given tile has was not told.
    Steps,
    /// The least tile that is counted needs more memory.
    Memory { least: u64 },
    /// The program has no tile in whose neighbourhood all is regular.
    TooSmall,
    /// Nothing runs in the middle of the loops.
    Empty,
    /// A given tile is larger than the loops, or has too many points to be counted.
    Beyond,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Order => {
                write!(f, "boxes would wait for one another, whatever the skew up to {LARGEST_SKEW}")
            }
            Refused::Chain => f.write_str("a time step passes values along all of space"),
            Refused::Steps => f.write_str("takes a number of time steps, after the sizes in space"),
            Refused::NoTime => f.write_str("no outer loop carries values"),
            Refused::Memory { least } => write!(f, "the least tile needs {least} elements"),
            Refused::TooSmall => f.write_str("the loops have constant bounds that leave no room around a tile"),
            Refused::Empty => f.write_str("nothing runs in the middle of the loops"),
            Refused::Beyond => write!(
                f,
                "too large for the loops, whose sizes are {PARAMETER} unless their bounds are constants, or to be counted"
            ),
        }
    }
}

/// Ranks tilings of all nests of a program that fit into so many elements of memory: of each approach the best tile of all
/// sizes, by its own counts. A nest without loops that could be tiled has no place in the result.
pub fn rank(ctx: &Ctx, algorithm: &Algorithm, memory: u64) -> Result<Vec<Ranking>, Error> {
    Ok(ranked_nests(ctx, algorithm, Nests::All, Sizes::All, memory)?.all.into_iter().map(|it| it.ranking).collect())
}

/// What is known of nests.
#[derive(Default)]
pub struct RankedNests {
    pub all: Vec<RankedNest>,
    /// The computations of nests over time that were not counted, since points of their middle differ.
    pub uneven: Vec<Vec<ComputationId>>,
}

pub struct RankedNest {
    pub nest: Nest,
    pub ranking: Ranking,
    /// Where time is tiled and all points of the middle are alike.
    pub hexagons: Option<Hexagons>,
}

/// [`rank`] for some nests of a program, and the nests.
pub fn ranked_nests(
    ctx: &Ctx,
    algorithm: &Algorithm,
    wanted: Nests,
    sizes: Sizes,
    memory: u64,
) -> Result<RankedNests, Error> {
    let mut found = RankedNests::default();
    each_nest(ctx, algorithm, wanted, sizes, &Approach::ALL, &mut |heard| {
        let (nest, counters) = match heard {
            Heard::Fits(nest, counters) => (nest, counters),
            Heard::Uneven(computations) => {
                found.uneven.push(computations);
                return Ok(());
            }
        };
        let (mut ranked, mut refused) = (vec![], nest.refused.clone());
        for (fit, counter) in nest.fits.iter().zip(counters) {
            match recount::best(ctx, fit, counter, memory)? {
                Ok(it) => ranked.push(ranked_as(&nest, fit, &it.sizes, &it.counts, it.trust)),
                Err(reason) => refused.push((fit.approach, reason)),
            }
        }
        let ranking = ranking(algorithm, &nest, ranked, refused);
        let hexagons = counters.iter().find_map(Counter::hexagons);
        found.all.push(RankedNest { nest, ranking, hexagons });
        Ok(())
    })?;
    Ok(found)
}

/// The best tile of each approach that fits into so many elements of memory, the best approach first, by formulas.
pub fn ranked(algorithm: &Algorithm, nest: &Nest, memory: u64) -> Ranking {
    let (mut ranked, mut refused) = (vec![], nest.refused.clone());
    for fit in &nest.fits {
        match fit.best(memory) {
            Ok((sizes, cost, all)) => {
                let counts = Counts { cost, footprint: fit.footprint(&sizes), run: fit.run(&sizes) };
                let trust = if all { fit.trust(&sizes) } else { Trust::Estimate };
                ranked.push(ranked_as(nest, fit, &sizes, &counts, trust));
            }
            Err(reason) => refused.push((fit.approach, reason)),
        }
    }
    ranking(algorithm, nest, ranked, refused)
}

/// A tile of a fit, its sizes in space first.
fn ranked_as(nest: &Nest, fit: &Fit, sizes: &[u64], counts: &Counts, trust: Trust) -> Ranked {
    Ranked {
        candidate: candidate(fit.approach, sizes, nest.space.len(), counts),
        skew: fit.skew.clone(),
        lean: fit.lean.clone(),
        footprint: counts.footprint,
        run: counts.run,
        trust,
        least: fit.least(),
    }
}

fn candidate(approach: Approach, sizes: &[u64], space: usize, counts: &Counts) -> Candidate {
    let steps = sizes.get(space).copied().unwrap_or(1);
    Candidate { approach, sizes: sizes[..space].to_vec(), steps, cost: counts.cost }
}

fn ranking(
    algorithm: &Algorithm,
    nest: &Nest,
    mut ranked: Vec<Ranked>,
    mut refused: Vec<(Approach, Refused)>,
) -> Ranking {
    best_first(&mut ranked);
    // In the order in which approaches are named everywhere.
    refused.sort_by_key(|(approach, _)| *approach);
    let computations = names(algorithm, &nest.computations);
    Ranking {
        computations,
        space: nest.space.clone(),
        time: nest.time.clone(),
        signs: signs(nest.main().next().map_or(&[], |id| &nest.coordinates[&id])),
        whole: nest.whole.clone(),
        ranked,
        refused,
    }
}

/// Whether coordinates grow or fall with their iterators.
fn signs(coordinates: &[Affine]) -> Vec<i64> {
    let falls = |at: &Affine| at.terms().iter().any(|(atom, factor)| matches!(atom, Atom::Iterator(_)) && *factor < 0);
    coordinates.iter().map(|at| if falls(at) { -1 } else { 1 }).collect()
}

fn names(algorithm: &Algorithm, computations: &[ComputationId]) -> Vec<String> {
    computations.iter().map(|id| algorithm.computation(*id).name.clone()).collect()
}

/// How a tile is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By isl, whatever the program.
    Sets,
    /// Over its points, where all points in the middle of the program are alike; else by isl.
    Points,
}

/// Counts one tile of the first nest of a program that can be tiled: its sizes in space, then its time steps, if the
/// approach has any.
pub fn count_tile(
    ctx: &Ctx,
    algorithm: &Algorithm,
    approach: Approach,
    sizes: &[u64],
) -> Result<Result<Counts, Refused>, Error> {
    Ok(count_tile_by(ctx, algorithm, approach, sizes, Way::Sets)?.map(|(counts, _)| counts))
}

/// [`count_tile`], and how all of it was counted.
pub fn count_tile_by(
    ctx: &Ctx,
    algorithm: &Algorithm,
    approach: Approach,
    sizes: &[u64],
    way: Way,
) -> Result<Result<(Counts, Way), Refused>, Error> {
    let program = program(ctx, algorithm, &vec![PARAMETER; algorithm.params.len()])?;
    let Some(band) = band::bands(ctx, &program)?.into_iter().find(|it| !it.names.is_empty()) else {
        return Ok(Err(Refused::TooSmall));
    };
    let uniform = match way {
        Way::Sets => None,
        Way::Points => Uniform::of(ctx, &program, &band)?,
    };
    match Counter::of(ctx, &program, &band, uniform.as_ref(), approach)? {
        Ok(counter) => counter.tile(sizes),
        Err(refused) => Ok(Err(refused)),
    }
}

/// What a tile of each approach costs, for all nests of a program that have as many loops of space as there are sizes for; the last
/// size, if it is one more, is the number of time steps.
pub fn given(ctx: &Ctx, algorithm: &Algorithm, sizes: &[u64]) -> Result<Vec<Ranking>, Error> {
    let program = program(ctx, algorithm, &vec![PARAMETER; algorithm.params.len()])?;
    let mut rankings = vec![];
    for band in band::bands(ctx, &program)? {
        let space = band.names.len();
        if space == 0 || !(space..=space + usize::from(band.has_time)).contains(&sizes.len()) {
            continue;
        }
        let uniform = Uniform::of(ctx, &program, &band)?;
        let (mut ranked, mut refused) = (vec![], vec![]);
        for approach in Approach::ALL {
            let sizes = if approach == Approach::Plain { &sizes[..space] } else { sizes };
            if approach != Approach::Plain && sizes.len() == space {
                refused.push((approach, if band.has_time { Refused::Steps } else { Refused::NoTime }));
                continue;
            }
            let counter = match Counter::of(ctx, &program, &band, uniform.as_ref(), approach)? {
                Ok(counter) => counter,
                Err(reason) => {
                    refused.push((approach, reason));
                    continue;
                }
            };
            match counter.tile(sizes)? {
                Ok((counts, _)) => {
                    let (skew, lean) = counter.place();
                    let candidate = candidate(approach, sizes, space, &counts);
                    let trust = if counter.is_certain() { Trust::Exact } else { Trust::Estimate };
                    let Counts { footprint, run, .. } = counts;
                    ranked.push(Ranked { candidate, skew, lean, footprint, run, trust, least: 1 });
                }
                Err(reason) => refused.push((approach, reason)),
            }
        }
        best_first(&mut ranked);
        let around = algorithm.source_order.loops_around(band.computations[0]);
        let time = band.has_time.then(|| around[0].1.name.clone());
        let computations = names(algorithm, &band.computations);
        let whole = band::whole(&program, &band);
        let signs = signs(band.main().next().map_or(&[], |id| &band.coordinates[&id]));
        rankings.push(Ranking { computations, space: band.names, time, signs, whole, ranked, refused });
    }
    Ok(rankings)
}

fn best_first(ranked: &mut [Ranked]) {
    ranked.sort_by(|a, b| {
        let (a, b) = (&a.candidate.cost, &b.candidate.cost);
        b.is_better_than(a).cmp(&a.is_better_than(b))
    });
}
