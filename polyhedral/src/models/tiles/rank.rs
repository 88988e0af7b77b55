//! Chooses among tilings of a program by counting.
//!
//! Counting every size would take too long, so the quantities are counted at some sizes, a polynomial is laid through
//! them (products of quadratic ones in each size, which is what boxes of points around which halos lie have), and it is
//! counted again at others: only where the polynomial hits those the numbers are called exact.

use super::count::{Counts, Program, count, program};
use super::shape::{self, Band, Slant};
use super::uniform::Uniform;
use super::{Approach, Candidate, Cost, Partly, search_from};
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::Ctx;
use std::collections::BTreeMap;

/// A size that lies far from all edges of a tile in the middle.
pub(super) const PARAMETER: i64 = 240;

/// How many sizes a polynomial is laid through: along dimensions of space, in which it is quadratic, and in the number of
/// time steps, with whose fourth power the instances grow that a halo around three dimensions makes again.
const NODES: usize = 3;
const NODES_OF_TIME: usize = 5;

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
        let nodes = self.parts.first().map(|it| it.nodes.clone()).unwrap_or_default();
        let least = vec![LEAST; nodes.len()];
        let three = |it: &Polynomial| std::array::from_fn(|at| it.differences[at].clone());
        let sums = Sums { nodes, parts: self.parts.iter().map(three).collect() };
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
        for approach in Approach::ALL {
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
    let rankings = fit(ctx, algorithm, nests)?.into_iter().map(|nest| {
        let name = |id: &ComputationId| algorithm.computation(*id).name.clone();
        let (mut ranked, mut refused) = (vec![], nest.refused);
        for fit in &nest.fits {
            match fit.best(memory) {
                Ok((sizes, cost)) => {
                    let space = nest.space.len();
                    let steps = sizes.get(space).copied().unwrap_or(1);
                    let approach = fit.approach;
                    let footprint = fit.footprint(&sizes);
                    let run = fit.run(&sizes);
                    let candidate = Candidate { approach, sizes: sizes[..space].to_vec(), steps, cost };
                    ranked.push(Ranked { candidate, skew: fit.skew.clone(), footprint, run, trust: fit.trust });
                }
                Err(reason) => refused.push((fit.approach, reason)),
            }
        }
        ranked.sort_by(|a, b| {
            let (a, b) = (&a.candidate.cost, &b.candidate.cost);
            b.is_better_than(a).cmp(&a.is_better_than(b))
        });
        // In the order in which approaches are named everywhere.
        refused.sort_by_key(|(approach, _)| *approach);
        let computations = nest.computations.iter().map(name).collect();
        Ranking { computations, space: nest.space, time: nest.time, ranked, refused }
    });
    Ok(rankings.collect())
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
    let parts = match parts(ctx, &program, &band, approach)? {
        Ok(parts) => parts,
        Err(refused) => return Ok(Err(refused)),
    };
    let uniform = match way {
        Way::Sets => None,
        Way::Points => Uniform::of(ctx, &program, &band)?,
    };
    let mut taken = way;
    let mut sum: Option<Counts> = None;
    for (part, slant) in &parts {
        let quick = uniform.as_ref().and_then(|it| it.count(part, approach, slant, sizes));
        let this = match quick {
            Some(counts) => counts,
            None => {
                taken = Way::Sets;
                let tile = shape::tile(ctx, &program, part, approach, slant, sizes)?;
                tile.map(|tile| count(&program, &tile)).transpose()?
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
    let skew = parts.last().map(|(_, slant)| slant.skew.clone()).unwrap_or_default();
    let fit = Fit { approach, skew, trust, parts: fitted };
    if fit.cost(&vec![LEAST; nodes.len()]).useful == 0 {
        return Ok(Err(Refused::TooSmall));
    }
    Ok(Ok(fit))
}

/// The least size that is looked at: smaller ones have edges that meet.
const LEAST: u64 = 4;

/// Loads, stores, useful results, footprint and instances, in this order.
const QUANTITIES: usize = 5;
const LOADS: usize = 0;
const STORES: usize = 1;
const USEFUL: usize = 2;
const FOOTPRINT: usize = 3;
const RUN: usize = 4;

/// Quantities as functions of sizes: differences at equidistant nodes (Newton's form), so that all is in integers.
struct Polynomial {
    least: u64,
    /// How many nodes each variable has.
    nodes: Vec<usize>,
    /// For each quantity one coefficient for each tuple of orders, the first variable's order changing fastest.
    differences: [Vec<i128>; QUANTITIES],
}

type Count<'a> = &'a dyn Fn(&[u64]) -> Result<Option<Counts>, Error>;

impl Polynomial {
    fn through(nodes: &[usize], least: u64, counted: Count<'_>) -> Result<Option<Polynomial>, Error> {
        let places: usize = nodes.iter().product();
        let mut differences = [const { vec![] }; QUANTITIES];
        for place in 0..places {
            let sizes: Vec<u64> = digits(nodes, place).map(|digit| least + digit as u64).collect();
            let Some(counts) = counted(&sizes)? else { return Ok(None) };
            for (values, value) in differences.iter_mut().zip(quantities(&counts)) {
                values.push(i128::from(value));
            }
        }
        for values in &mut differences {
            let mut stride = 1;
            for (variable, &count) in nodes.iter().enumerate() {
                for order in 1..count {
                    for place in (0..places).rev() {
                        if digits(nodes, place).nth(variable).is_some_and(|digit| digit >= order) {
                            values[place] -= values[place - stride];
                        }
                    }
                }
                stride *= count;
            }
        }
        Ok(Some(Polynomial { least, nodes: nodes.to_vec(), differences }))
    }

    /// Whether it is right at sizes that it was not laid through; instances, which no ranking looks at, need not be.
    fn hits(&self, counted: Count<'_>) -> Result<bool, Error> {
        let beyond = |variable: usize| self.least + self.nodes[variable] as u64;
        let variables = self.nodes.len();
        let mut others: Vec<Vec<u64>> = vec![(0..variables).map(beyond).collect()];
        others.extend(
            (0..variables)
                .map(|at| (0..variables).map(|other| if other == at { beyond(at) + 1 } else { self.least }).collect()),
        );
        for sizes in others {
            let Some(counts) = counted(&sizes)? else { return Ok(false) };
            let found = quantities(&counts);
            if (0..RUN).any(|at| self.value(at, &sizes) != found[at]) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn value(&self, quantity: usize, sizes: &[u64]) -> u64 {
        let mut sum = 0_i128;
        for (place, &difference) in self.differences[quantity].iter().enumerate() {
            let factors = digits(&self.nodes, place).zip(sizes).map(|(order, size)| {
                let from = i128::from(*size) - i128::from(self.least);
                binomials(from).get(order).copied().unwrap_or(0)
            });
            let term = factors.into_iter().try_fold(difference, |product, factor| product.checked_mul(factor));
            sum = term.and_then(|term| sum.checked_add(term)).unwrap_or(i128::MAX);
        }
        bounded(sum)
    }

    fn cost(&self, sizes: &[u64]) -> Cost {
        let (loads, stores) = (self.value(LOADS, sizes), self.value(STORES, sizes));
        Cost { memory: loads.max(stores), loads, stores, useful: self.value(USEFUL, sizes) }
    }
}

/// `1`, `n`, `n (n - 1) / 2`, and so on, as many as any variable has nodes.
fn binomials(n: i128) -> [i128; NODES_OF_TIME] {
    let pairs = n.saturating_mul(n - 1) / 2;
    let triples = pairs.saturating_mul(n - 2) / 3;
    [1, n, pairs, triples, triples.saturating_mul(n - 3) / 4]
}

/// The polynomials of all parts, of which the first sizes are fixed.
struct Sums {
    /// Of the sizes that are open.
    nodes: Vec<usize>,
    /// Loads, stores and useful results.
    parts: Vec<[Vec<i128>; FOOTPRINT]>,
}

impl Partly for Sums {
    fn with(&self, size: u64) -> Self {
        let (nodes, rest) = self.nodes.split_first().expect("a size is open");
        let fixed = self.parts.iter().map(|quantities| {
            std::array::from_fn(|at| quantities[at].chunks(*nodes).map(|orders| at_size(orders, size)).collect())
        });
        Sums { nodes: rest.to_vec(), parts: fixed.collect() }
    }

    fn cost(&self) -> Cost {
        let first = |orders: &Vec<i128>| orders.first().copied().unwrap_or(0);
        sum_of(self.parts.iter().map(|quantities| [0, 1, 2].map(|at| first(&quantities[at]))))
    }

    /// By differences: each size's values are sums of the ones before.
    fn row(&self, least: u64) -> impl Iterator<Item = Cost> {
        assert_eq!(least, LEAST, "polynomials begin at the least size");
        let orders = |all: &Vec<i128>| std::array::from_fn(|order| all.get(order).copied().unwrap_or(0));
        let mut now: Vec<[[i128; NODES_OF_TIME]; FOOTPRINT]> =
            self.parts.iter().map(|quantities| std::array::from_fn(|at| orders(&quantities[at]))).collect();
        std::iter::repeat_with(move || {
            let cost = sum_of(now.iter().map(|quantities| quantities.map(|it| it[0])));
            for differences in now.iter_mut().flatten() {
                for order in 1..NODES_OF_TIME {
                    differences[order - 1] = differences[order - 1].saturating_add(differences[order]);
                }
            }
            cost
        })
    }
}

/// The cost of parts, of which loads, stores and useful results are told.
fn sum_of(parts: impl Iterator<Item = [i128; FOOTPRINT]>) -> Cost {
    let each = parts.map(|quantities| {
        let [loads, stores, useful] = quantities.map(bounded);
        Cost { memory: loads.max(stores), loads, stores, useful }
    });
    each.reduce(|a, b| both(&a, &b)).unwrap_or_default()
}

/// A polynomial in one size, from its coefficients.
fn at_size(orders: &[i128], size: u64) -> i128 {
    let terms = orders.iter().zip(binomials(i128::from(size - LEAST)));
    terms.fold(0, |sum: i128, (order, binomial)| sum.saturating_add(order.saturating_mul(binomial)))
}

fn bounded(value: i128) -> u64 {
    u64::try_from(value.max(0)).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
}

/// The digits of a number in mixed bases, the first one changing fastest.
fn digits(bases: &[usize], mut number: usize) -> impl Iterator<Item = usize> {
    bases.iter().map(move |base| {
        let digit = number % base;
        number /= base;
        digit
    })
}

fn quantities(counts: &Counts) -> [u64; QUANTITIES] {
    [counts.cost.loads, counts.cost.stores, counts.cost.useful, counts.footprint, counts.run]
}
