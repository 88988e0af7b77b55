//! Chooses among tilings of a program by counting.
//!
//! Counting every size would take too long, so the quantities are counted at some sizes, a polynomial is laid through
//! them (products of quadratic ones in each size, which is what boxes of points around which halos lie have), and it is
//! counted again at others: only where the polynomial hits those the numbers are called exact.

use super::count::{Counts, Program, count, program};
use super::shape::{self, Band, Slant};
use super::{Approach, Candidate, Cost, search};
use crate::algorithm::Algorithm;
use crate::error::Error;
use crate::isl::Ctx;

/// A size that lies far from all edges of a tile in the middle.
const PARAMETER: i64 = 240;

/// How many sizes along each dimension a quadratic polynomial is laid through.
const NODES: usize = 3;

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
    /// The elements that the tile touches.
    pub footprint: u64,
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
            Refused::NoTime => f.write_str("no outer loop carries values"),
            Refused::Memory { least } => write!(f, "the least tile needs {least} elements"),
            Refused::TooSmall => f.write_str("the loops have constant bounds that leave no room around a tile"),
        }
    }
}

/// Ranks tilings of all nests of a program that fit into so many elements of memory. A nest without loops that could be
/// tiled has no place in the result.
pub fn rank(ctx: &Ctx, algorithm: &Algorithm, memory: u64) -> Result<Vec<Ranking>, Error> {
    let program = program(ctx, algorithm, &vec![PARAMETER; algorithm.params.len()])?;
    let mut rankings = vec![];
    for band in shape::bands(&program)? {
        if band.names.is_empty() {
            continue;
        }
        let name = |id: &crate::algorithm::ComputationId| algorithm.computation(*id).name.clone();
        let around = algorithm.source_order.loops_around(band.computations[0]);
        let mut ranking = Ranking {
            computations: band.computations.iter().map(name).collect(),
            space: band.names.clone(),
            time: band.has_time.then(|| around[0].1.name.clone()),
            ranked: vec![],
            refused: vec![],
        };
        for approach in Approach::ALL {
            match best(ctx, &program, &band, approach, memory)? {
                Ok(ranked) => ranking.ranked.push(ranked),
                Err(refused) => ranking.refused.push((approach, refused)),
            }
        }
        ranking.ranked.sort_by(|a, b| {
            let (a, b) = (&a.candidate.cost, &b.candidate.cost);
            b.is_better_than(a).cmp(&a.is_better_than(b))
        });
        rankings.push(ranking);
    }
    Ok(rankings)
}

/// Counts one tile of the first nest of a program that can be tiled: its sizes in space, then its time steps, if the
/// approach has any.
pub fn count_tile(
    ctx: &Ctx,
    algorithm: &Algorithm,
    approach: Approach,
    sizes: &[u64],
) -> Result<Result<Counts, Refused>, Error> {
    let program = program(ctx, algorithm, &vec![PARAMETER; algorithm.params.len()])?;
    let Some(band) = shape::bands(&program)?.into_iter().find(|it| !it.names.is_empty()) else {
        return Ok(Err(Refused::TooSmall));
    };
    let parts = match parts(ctx, &program, &band, approach)? {
        Ok(parts) => parts,
        Err(refused) => return Ok(Err(refused)),
    };
    let mut sum: Option<Counts> = None;
    for (part, slant) in &parts {
        let Some(tile) = shape::tile(ctx, &program, part, approach, slant, sizes)? else {
            return Ok(Err(without_tile(approach)));
        };
        let this = count(&program, &tile)?;
        sum = Some(match sum {
            None => this,
            Some(sum) => Counts {
                cost: both(&sum.cost, &this.cost),
                footprint: sum.footprint.max(this.footprint),
                run: sum.run + this.run,
            },
        });
    }
    Ok(sum.ok_or(Refused::TooSmall))
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
        placed.push((part, slant));
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
fn both(a: &Cost, b: &Cost) -> Cost {
    Cost {
        memory: a.memory.max(b.memory),
        loads: a.loads.saturating_add(b.loads),
        stores: a.stores.saturating_add(b.stores),
        useful: a.useful.saturating_add(b.useful),
    }
}

/// The best sizes of one approach.
fn best(
    ctx: &Ctx,
    program: &Program,
    band: &Band,
    approach: Approach,
    memory: u64,
) -> Result<Result<Ranked, Refused>, Error> {
    let parts = match parts(ctx, program, band, approach)? {
        Ok(parts) => parts,
        Err(refused) => return Ok(Err(refused)),
    };
    let space = band.names.len();
    let variables = space + usize::from(approach != Approach::Plain);
    let mut fitted = vec![];
    let mut trust = if program.is_certain { Trust::Exact } else { Trust::Estimate };
    for (part, slant) in &parts {
        let counted = |sizes: &[u64]| -> Result<Option<Counts>, Error> {
            let tile = shape::tile(ctx, program, part, approach, slant, sizes)?;
            tile.map(|tile| count(program, &tile)).transpose()
        };
        let Some(polynomial) = Polynomial::through(variables, LEAST, &counted)? else {
            return Ok(Err(without_tile(approach)));
        };
        if !polynomial.hits(&counted)? {
            trust = Trust::Estimate;
        }
        fitted.push(polynomial);
    }
    let total = |sizes: &[u64]| {
        let each = fitted.iter().map(|it| it.cost(sizes));
        each.reduce(|a, b| both(&a, &b)).unwrap_or_default()
    };
    let least = vec![LEAST; variables];
    if total(&least).useful == 0 {
        return Ok(Err(Refused::TooSmall));
    }
    let Some((sizes, cost)) = search(&least, memory, &total) else {
        return Ok(Err(Refused::Memory { least: total(&least).memory }));
    };
    let footprint = fitted.iter().map(|it| it.value(FOOTPRINT, &sizes)).max().unwrap_or(0);
    let candidate =
        Candidate { approach, sizes: sizes[..space].to_vec(), steps: sizes.get(space).copied().unwrap_or(1), cost };
    let skew = parts.last().map(|(_, slant)| slant.skew.clone()).unwrap_or_default();
    Ok(Ok(Ranked { candidate, skew, footprint, trust }))
}

/// The least size that is looked at: smaller ones have edges that meet.
const LEAST: u64 = 4;

/// Loads, stores, useful results and footprint, in this order.
const QUANTITIES: usize = 4;
const LOADS: usize = 0;
const STORES: usize = 1;
const USEFUL: usize = 2;
const FOOTPRINT: usize = 3;

/// Quantities as functions of sizes: differences at equidistant nodes (Newton's form), so that all is in integers.
struct Polynomial {
    least: u64,
    variables: usize,
    /// For each quantity one coefficient for each tuple of orders, the first variable's order changing fastest.
    differences: [Vec<i128>; QUANTITIES],
}

type Count<'a> = &'a dyn Fn(&[u64]) -> Result<Option<Counts>, Error>;

impl Polynomial {
    fn through(variables: usize, least: u64, counted: Count<'_>) -> Result<Option<Polynomial>, Error> {
        let places = NODES.pow(variables as u32);
        let mut differences = [const { vec![] }; QUANTITIES];
        for place in 0..places {
            let sizes: Vec<u64> = (0..variables).map(|at| least + digit(place, at) as u64).collect();
            let Some(counts) = counted(&sizes)? else { return Ok(None) };
            for (values, value) in differences.iter_mut().zip(quantities(&counts)) {
                values.push(i128::from(value));
            }
        }
        for values in &mut differences {
            for variable in 0..variables {
                let stride = NODES.pow(variable as u32);
                for order in 1..NODES {
                    for place in (0..places).rev().filter(|&place| digit(place, variable) >= order) {
                        values[place] -= values[place - stride];
                    }
                }
            }
        }
        Ok(Some(Polynomial { least, variables, differences }))
    }

    /// Whether it is right at sizes that it was not laid through.
    fn hits(&self, counted: Count<'_>) -> Result<bool, Error> {
        let beyond = self.least + NODES as u64;
        let mut others: Vec<Vec<u64>> = vec![vec![beyond; self.variables]];
        others
            .extend((0..self.variables).map(|at| {
                (0..self.variables).map(|other| if other == at { beyond + 1 } else { self.least }).collect()
            }));
        for sizes in others {
            let Some(counts) = counted(&sizes)? else { return Ok(false) };
            let found = quantities(&counts);
            if (0..QUANTITIES).any(|at| self.value(at, &sizes) != found[at]) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn value(&self, quantity: usize, sizes: &[u64]) -> u64 {
        let mut sum = 0_i128;
        for (place, &difference) in self.differences[quantity].iter().enumerate() {
            let term = (0..self.variables).try_fold(difference, |product, at| {
                let from = i128::from(sizes[at] - self.least);
                let binomial = match digit(place, at) {
                    0 => 1,
                    1 => from,
                    _ => from * (from - 1) / 2,
                };
                product.checked_mul(binomial)
            });
            sum = term.and_then(|term| sum.checked_add(term)).unwrap_or(i128::MAX);
        }
        u64::try_from(sum.max(0)).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
    }

    fn cost(&self, sizes: &[u64]) -> Cost {
        let (loads, stores) = (self.value(LOADS, sizes), self.value(STORES, sizes));
        Cost { memory: loads.max(stores), loads, stores, useful: self.value(USEFUL, sizes) }
    }
}

fn digit(place: usize, at: usize) -> usize {
    place / NODES.pow(at as u32) % NODES
}

fn quantities(counts: &Counts) -> [u64; QUANTITIES] {
    [counts.cost.loads, counts.cost.stores, counts.cost.useful, counts.footprint]
}
