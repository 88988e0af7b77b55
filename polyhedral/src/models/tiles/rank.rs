//! Chooses among tilings of a program by counting.
//!
//! Counting every size would take too long, so the quantities are counted at some sizes, a polynomial is laid through
//! them (products of quadratic ones in each size, which is what boxes of points around which halos lie have), and it is
//! counted again at others: only where the polynomial hits those the numbers are called exact.

use super::count::{Counts, Program, count, program};
use super::polynomial::{FOOTPRINT, LEAST, NODES, NODES_OF_TIME, Polynomial, RUN, Sums};
use super::shape::{self, Band, Slant};
use super::uniform::Uniform;
use super::{Approach, Candidate, Cost, search_from};
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::Ctx;
use std::collections::BTreeMap;

/// A size that lies far from all edges of a tile in the middle.
pub(super) const PARAMETER: i64 = 240;

/// The tilings of one nest of loops, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    pub computations: Vec<String>,
    /// The names of the loops whose iterations are tiled, time left out.
    pub space: Vec<String>,
    /// The name of the loop over time.
    pub time: Option<String>,
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
}

/// Whether the counts are sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The polynomial was counted to be right at further sizes.
    Exact,
    /// It was not, or it is not known which accesses happen.
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
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Order => f.write_str("boxes would wait for one another, whatever the skew"),
            Refused::Chain => f.write_str("a time step passes values along all of space"),
            Refused::Steps => f.write_str("takes a number of time steps, after the sizes in space"),
            Refused::NoTime => f.write_str("no outer loop carries values"),
            Refused::Memory { least } => write!(f, "the least tile needs {least} elements"),
            Refused::TooSmall => f.write_str("the loops have constant bounds that leave no room around a tile"),
        }
    }
}

/// A nest of loops, and what tiles of each approach cost as functions of their sizes.
pub struct Nest {
    pub computations: Vec<ComputationId>,
    /// The names of the loops whose iterations are tiled, time left out.
    pub space: Vec<String>,
    /// The name of the loop over time.
    pub time: Option<String>,
    /// What the loops run through, time first, for each computation.
    pub coordinates: BTreeMap<ComputationId, Vec<Affine>>,
    pub fits: Vec<Fit>,
    /// Approaches that do not apply, and why.
    pub refused: Vec<(Approach, Refused)>,
}

/// What tiles of an approach cost.
pub struct Fit {
    pub approach: Approach,
    /// How far space moves with each time step, along each dimension.
    pub skew: Vec<i64>,
    /// For each dimension of space, how far it moves with those before it.
    pub lean: Vec<Vec<i64>>,
    pub trust: Trust,
    /// One for each part that runs after another; all of the same sizes.
    parts: Vec<Polynomial>,
}

impl Fit {
    /// The cost of a tile: its sizes in space, then its time steps, if the approach has any.
    pub fn cost(&self, sizes: &[u64]) -> Cost {
        let each = self.parts.iter().map(|it| it.cost(sizes));
        each.reduce(|a, b| both(&a, &b)).unwrap_or_default()
    }

    /// The elements that a tile touches.
    pub fn footprint(&self, sizes: &[u64]) -> u64 {
        self.parts.iter().map(|it| it.value(FOOTPRINT, sizes)).max().unwrap_or(0)
    }

    /// The instances that a tile runs, those computed again elsewhere included.
    pub fn run(&self, sizes: &[u64]) -> u64 {
        self.parts.iter().map(|it| it.value(RUN, sizes)).sum()
    }

    /// The best tile that fits.
    fn best(&self, memory: u64) -> Result<(Vec<u64>, Cost), Refused> {
        let sums = Sums::of(&self.parts);
        let least = vec![LEAST; sums.open()];
        search_from(sums, &least, memory).ok_or_else(|| Refused::Memory { least: self.cost(&least).memory })
    }
}

/// Which nests of a program are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nests {
    All,
    /// Those over time whose points are all alike in the middle: they are counted quickly.
    Stencils,
}

/// Finds what tiles of a program's nests cost. A nest without loops that could be tiled has no place in the result.
pub fn fit(ctx: &Ctx, algorithm: &Algorithm, nests_wanted: Nests) -> Result<Vec<Nest>, Error> {
    fit_for(ctx, algorithm, nests_wanted, &Approach::ALL)
}

/// [`fit`], for some approaches alone.
pub fn fit_for(
    ctx: &Ctx,
    algorithm: &Algorithm,
    nests_wanted: Nests,
    approaches: &[Approach],
) -> Result<Vec<Nest>, Error> {
    let program = program(ctx, algorithm, &vec![PARAMETER; algorithm.params.len()])?;
    let mut nests = vec![];
    for band in shape::bands(&program)? {
        if band.names.is_empty() || (nests_wanted == Nests::Stencils && !band.has_time) {
            continue;
        }
        let uniform = Uniform::of(ctx, &program, &band)?;
        if nests_wanted == Nests::Stencils && uniform.is_none() {
            continue;
        }
        let (mut fits, mut refused) = (vec![], vec![]);
        for &approach in approaches {
            match fit_one(ctx, &program, &band, uniform.as_ref(), approach)? {
                Ok(fit) => fits.push(fit),
                Err(reason) => refused.push((approach, reason)),
            }
        }
        let around = algorithm.source_order.loops_around(band.computations[0]);
        nests.push(Nest {
            time: band.has_time.then(|| around[0].1.name.clone()),
            computations: band.computations,
            space: band.names,
            coordinates: band.coordinates,
            fits,
            refused,
        });
    }
    Ok(nests)
}

/// Ranks tilings of all nests of a program that fit into so many elements of memory. A nest without loops that could be
/// tiled has no place in the result.
pub fn rank(ctx: &Ctx, algorithm: &Algorithm, memory: u64) -> Result<Vec<Ranking>, Error> {
    rank_of(ctx, algorithm, memory, Nests::All)
}

/// [`rank`], for some nests alone.
pub fn rank_of(ctx: &Ctx, algorithm: &Algorithm, memory: u64, nests: Nests) -> Result<Vec<Ranking>, Error> {
    Ok(fit(ctx, algorithm, nests)?.iter().map(|nest| ranked(algorithm, nest, memory)).collect())
}

/// The best tile of each approach that fits into so many elements of memory, the best approach first.
pub fn ranked(algorithm: &Algorithm, nest: &Nest, memory: u64) -> Ranking {
    let name = |id: &ComputationId| algorithm.computation(*id).name.clone();
    let (mut ranked, mut refused) = (vec![], nest.refused.clone());
    for fit in &nest.fits {
        match fit.best(memory) {
            Ok((sizes, cost)) => {
                let space = nest.space.len();
                let steps = sizes.get(space).copied().unwrap_or(1);
                let approach = fit.approach;
                let footprint = fit.footprint(&sizes);
                let run = fit.run(&sizes);
                let candidate = Candidate { approach, sizes: sizes[..space].to_vec(), steps, cost };
                ranked.push(Ranked {
                    candidate,
                    skew: fit.skew.clone(),
                    lean: fit.lean.clone(),
                    footprint,
                    run,
                    trust: fit.trust,
                });
            }
            Err(reason) => refused.push((fit.approach, reason)),
        }
    }
    best_first(&mut ranked);
    // In the order in which approaches are named everywhere.
    refused.sort_by_key(|(approach, _)| *approach);
    let computations = nest.computations.iter().map(name).collect();
    Ranking { computations, space: nest.space.clone(), time: nest.time.clone(), ranked, refused }
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
    let Some(band) = shape::bands(&program)?.into_iter().find(|it| !it.names.is_empty()) else {
        return Ok(Err(Refused::TooSmall));
    };
    match parts(ctx, &program, &band, approach)? {
        Ok(parts) => count_parts(ctx, &program, &band, &parts, approach, sizes, way),
        Err(refused) => Ok(Err(refused)),
    }
}

/// What a tile of each approach costs, for all nests of a program that have as many loops of space as there are sizes for; the last
/// size, if it is one more, is the number of time steps.
pub fn given(ctx: &Ctx, algorithm: &Algorithm, sizes: &[u64]) -> Result<Vec<Ranking>, Error> {
    let program = program(ctx, algorithm, &vec![PARAMETER; algorithm.params.len()])?;
    let name = |id: &ComputationId| algorithm.computation(*id).name.clone();
    let mut rankings = vec![];
    for band in shape::bands(&program)? {
        let space = band.names.len();
        if space == 0 || !(space..=space + usize::from(band.has_time)).contains(&sizes.len()) {
            continue;
        }
        let (mut ranked, mut refused) = (vec![], vec![]);
        for approach in Approach::ALL {
            let sizes = if approach == Approach::Plain { &sizes[..space] } else { sizes };
            if approach != Approach::Plain && sizes.len() == space {
                refused.push((approach, if band.has_time { Refused::Steps } else { Refused::NoTime }));
                continue;
            }
            let parts = match parts(ctx, &program, &band, approach)? {
                Ok(parts) => parts,
                Err(reason) => {
                    refused.push((approach, reason));
                    continue;
                }
            };
            match count_parts(ctx, &program, &band, &parts, approach, sizes, Way::Points)? {
                Ok((Counts { cost, footprint, run }, _)) => {
                    let (skew, lean) = place_of(&parts);
                    let steps = sizes.get(space).copied().unwrap_or(1);
                    let candidate = Candidate { approach, sizes: sizes[..space].to_vec(), steps, cost };
                    let trust = if program.is_certain { Trust::Exact } else { Trust::Estimate };
                    ranked.push(Ranked { candidate, skew, lean, footprint, run, trust });
                }
                Err(reason) => refused.push((approach, reason)),
            }
        }
        best_first(&mut ranked);
        let around = algorithm.source_order.loops_around(band.computations[0]);
        let time = band.has_time.then(|| around[0].1.name.clone());
        let computations = band.computations.iter().map(name).collect();
        rankings.push(Ranking { computations, space: band.names, time, ranked, refused });
    }
    Ok(rankings)
}

/// Counts a tile that consists of these parts.
fn count_parts(
    ctx: &Ctx,
    program: &Program,
    band: &Band,
    parts: &[(Band, Slant)],
    approach: Approach,
    sizes: &[u64],
    way: Way,
) -> Result<Result<(Counts, Way), Refused>, Error> {
    let uniform = match (way, approach, parts) {
        (Way::Sets, _, _) => None,
        (Way::Points, Approach::Skewed, [(part, _)]) => Uniform::of(ctx, program, part)?,
        (Way::Points, _, _) => Uniform::of(ctx, program, band)?,
    };
    let mut taken = way;
    let mut sum: Option<Counts> = None;
    for (part, slant) in parts {
        let quick = uniform.as_ref().and_then(|it| it.count(part, approach, slant, sizes));
        let this = match quick {
            Some(counts) => counts,
            None => {
                taken = Way::Sets;
                let tile = shape::tile(ctx, program, part, approach, slant, sizes)?;
                tile.map(|tile| count(program, &tile)).transpose()?
            }
        };
        let Some(this) = this else { return Ok(Err(without_tile(approach))) };
        sum = Some(match sum {
            None => this,
            Some(sum) => Counts {
                cost: both(&sum.cost, &this.cost),
                footprint: sum.footprint.max(this.footprint),
                run: sum.run + this.run,
            },
        });
    }
    Ok(sum.map(|sum| (sum, taken)).ok_or(Refused::TooSmall))
}

/// How far space moves with time, and with itself.
fn place_of(parts: &[(Band, Slant)]) -> (Vec<i64>, Vec<Vec<i64>>) {
    parts.last().map(|(_, it)| (it.skew.clone(), it.lean.clone())).unwrap_or_default()
}

fn best_first(ranked: &mut [Ranked]) {
    ranked.sort_by(|a, b| {
        let (a, b) = (&a.candidate.cost, &b.candidate.cost);
        b.is_better_than(a).cmp(&a.is_better_than(b))
    });
}

/// What tiles of an approach consist of, and where they lie: sweeps one after the other, or all at once.
fn parts(
    ctx: &Ctx,
    program: &Program,
    band: &Band,
    approach: Approach,
) -> Result<Result<Vec<(Band, Slant)>, Refused>, Error> {
    let parts = match approach {
        Approach::Plain => shape::sweeps(program, band),
        Approach::Skewed | Approach::Redundant if !band.has_time => return Ok(Err(Refused::NoTime)),
        Approach::Skewed | Approach::Redundant => vec![band.clone()],
    };
    let mut placed = vec![];
    for part in parts {
        let slant = match approach {
            Approach::Redundant => Some(Slant::none(&part)),
            Approach::Plain | Approach::Skewed => shape::slant(ctx, program, &part, approach)?,
        };
        let Some(slant) = slant else { return Ok(Err(Refused::Order)) };
        placed.push((slant.leaning(&part)?, slant));
    }
    Ok(Ok(placed))
}

fn without_tile(approach: Approach) -> Refused {
    match approach {
        Approach::Redundant => Refused::Chain,
        Approach::Plain | Approach::Skewed => Refused::TooSmall,
    }
}

/// The cost of two parts that run one after the other.
pub(super) fn both(a: &Cost, b: &Cost) -> Cost {
    Cost {
        memory: a.memory.max(b.memory),
        loads: a.loads.saturating_add(b.loads),
        stores: a.stores.saturating_add(b.stores),
        useful: a.useful.saturating_add(b.useful),
    }
}

/// What tiles of one approach cost.
fn fit_one(
    ctx: &Ctx,
    program: &Program,
    band: &Band,
    uniform: Option<&Uniform>,
    approach: Approach,
) -> Result<Result<Fit, Refused>, Error> {
    let parts = match parts(ctx, program, band, approach)? {
        Ok(parts) => parts,
        Err(refused) => return Ok(Err(refused)),
    };
    // Where tiles lean, points are alike along other coordinates.
    let leaning = parts.iter().find(|(_, slant)| slant.lean.iter().flatten().any(|&factor| factor != 0));
    let own = leaning.map(|(part, _)| Uniform::of(ctx, program, part)).transpose()?.flatten();
    let uniform = if leaning.is_some() { own.as_ref() } else { uniform };
    let mut nodes = vec![NODES; band.names.len()];
    if approach != Approach::Plain {
        // Sets take too long to count at so many sizes.
        nodes.push(if uniform.is_some() { NODES_OF_TIME } else { NODES });
    }
    let mut fitted = vec![];
    let mut trust = if program.is_certain { Trust::Exact } else { Trust::Estimate };
    for (part, slant) in &parts {
        let counted = |sizes: &[u64]| -> Result<Option<Counts>, Error> {
            if let Some(counts) = uniform.and_then(|it| it.count(part, approach, slant, sizes)) {
                return Ok(counts);
            }
            let tile = shape::tile(ctx, program, part, approach, slant, sizes)?;
            tile.map(|tile| count(program, &tile)).transpose()
        };
        let Some(polynomial) = Polynomial::through(&nodes, LEAST, &counted)? else {
            return Ok(Err(without_tile(approach)));
        };
        if !polynomial.hits(&counted)? {
            trust = Trust::Estimate;
        }
        fitted.push(polynomial);
    }
    let (skew, lean) = place_of(&parts);
    let fit = Fit { approach, skew, lean, trust, parts: fitted };
    if fit.cost(&vec![LEAST; nodes.len()]).useful == 0 {
        return Ok(Err(Refused::TooSmall));
    }
    Ok(Ok(fit))
}
