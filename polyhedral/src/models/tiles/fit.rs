//! What tiles cost as functions of their sizes.
//!
//! Counting every size would take too long, so the quantities are counted at some sizes, a polynomial is laid through
//! them (products of quadratic ones in each size, which is what boxes of points around which halos lie have), and it is
//! counted again at others: only where the polynomial hits those the numbers are called exact. Tiles with short sides may have
//! edges that meet: all these tiles are counted, and a size at which the polynomial is
//! wrong has one of its own, in the other sizes.

use super::band::{self, Band};
use super::count::{Counts, program};
use super::counter::{Counter, PARAMETER, both};
use super::polynomial::{FOOTPRINT, NODES, NODES_OF_TIME, Polynomial, RUN, Sums};
use super::rank::{Refused, Trust};
use super::uniform::Uniform;
use super::{Approach, Cost, Effort, search_from};
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::Ctx;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

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
    /// Computations of which tiles have nothing: boundaries.
    pub thin: Vec<ComputationId>,
    /// The names of loops that tiles leave whole.
    pub whole: Vec<String>,
    /// Approaches that do not apply, and why.
    pub refused: Vec<(Approach, Refused)>,
}

impl Nest {
    /// The computations that tiles consist of.
    pub fn main(&self) -> impl Iterator<Item = ComputationId> {
        self.computations.iter().copied().filter(|id| !self.thin.contains(id))
    }
}

/// What tiles of an approach cost.
pub struct Fit {
    pub approach: Approach,
    /// How far space moves with each time step, along each dimension.
    pub skew: Vec<i64>,
    /// For each dimension of space, how far it moves with those before it.
    pub lean: Vec<Vec<i64>>,
    /// Whether sizes from 1 on were counted; else those that formulas are laid from.
    pub all_sizes: bool,
    /// The largest sizes.
    pub(super) room: Vec<u64>,
    /// How many of them a search looks at one by one.
    most: u64,
    /// The last one is for sizes that are in none.
    pieces: Vec<Piece>,
}

/// What tiles cost of which some sizes are fixed, and others begin somewhere.
struct Piece {
    least: Vec<u64>,
    /// Whether larger sizes belong to it, too.
    open: Vec<bool>,
    trust: Trust,
    /// One for each part that runs after another; all of the same sizes.
    parts: Vec<Polynomial>,
}

impl Piece {
    fn has(&self, sizes: &[u64]) -> bool {
        let all = sizes.iter().zip(self.least.iter().zip(&self.open));
        all.into_iter().all(|(size, (least, open))| size == least || (*open && size > least))
    }
}

impl Fit {
    fn piece(&self, sizes: &[u64]) -> &Piece {
        let found = self.pieces.iter().find(|it| it.has(sizes)).or(self.pieces.last());
        found.expect("a fit has a piece")
    }

    /// The cost of a tile: its sizes in space, then its time steps, if the approach has any.
    pub fn cost(&self, sizes: &[u64]) -> Cost {
        let each = self.piece(sizes).parts.iter().map(|it| it.cost(sizes));
        each.reduce(|a, b| both(&a, &b)).unwrap_or_default()
    }

    /// The elements that a tile touches.
    pub fn footprint(&self, sizes: &[u64]) -> u64 {
        self.piece(sizes).parts.iter().map(|it| it.value(FOOTPRINT, sizes)).max().unwrap_or(0)
    }

    /// The instances that a tile runs, those computed again elsewhere included.
    pub fn run(&self, sizes: &[u64]) -> u64 {
        self.piece(sizes).parts.iter().map(|it| it.value(RUN, sizes)).sum()
    }

    /// The least size that the numbers are for, along any dimension.
    pub fn least(&self) -> u64 {
        let laid = self.pieces.last().filter(|_| !self.all_sizes);
        laid.and_then(|it| it.least.iter().copied().max()).unwrap_or(1)
    }

    /// How far these numbers can be trusted.
    pub fn trust(&self, sizes: &[u64]) -> Trust {
        self.piece(sizes).trust
    }

    /// The best tile that fits, and whether all were looked at.
    pub(super) fn best(&self, memory: u64) -> Result<(Vec<u64>, Cost, bool), Refused> {
        let mut each = Effort { left: self.most, skipped: 0 };
        let found = self.best_within(memory, &mut each)?;
        if each.left > 0 {
            return Ok((found.0, found.1, true));
        }
        let (sizes, cost) = self.best_within(memory, &mut Effort { left: self.most, skipped: SKIPPED })?;
        Ok((sizes, cost, false))
    }

    fn best_within(&self, memory: u64, effort: &mut Effort) -> Result<(Vec<u64>, Cost), Refused> {
        let mut best: Option<(Vec<u64>, Cost)> = None;
        for piece in &self.pieces {
            let range = |at: usize| -> RangeInclusive<u64> {
                let least = piece.least[at];
                least..=if piece.open[at] { memory.max(least).min(self.room[at]) } else { least }
            };
            let ranges: Vec<_> = (0..piece.least.len()).map(range).collect();
            let found = search_from(Sums::of(&piece.parts), &ranges, memory, effort);
            if let Some((sizes, cost)) = found
                && best.as_ref().is_none_or(|(_, best)| cost.is_better_than(best))
            {
                best = Some((sizes, cost));
            }
        }
        let least = || self.pieces.iter().map(|it| self.cost(&it.least).memory).min().unwrap_or(0);
        best.ok_or_else(|| Refused::Memory { least: least() })
    }
}

/// Which nests of a program are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nests {
    All,
    /// Those over time whose points are all alike in the middle: they are counted quickly.
    Stencils,
}

/// Which sizes of tiles are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sizes {
    /// From 1 on.
    All,
    /// The same as far as that is quick; else from 4 on, and not each of them.
    Quick,
    /// From 4 on, which takes a fraction of the time.
    FromFour,
}

/// Finds what tiles of a program's nests cost. A nest without loops that could be tiled has no place in the result.
pub fn fit(ctx: &Ctx, algorithm: &Algorithm, wanted: Nests, sizes: Sizes) -> Result<Vec<Nest>, Error> {
    fit_for(ctx, algorithm, wanted, sizes, &Approach::ALL)
}

/// [`fit`], for some approaches alone.
pub fn fit_for(
    ctx: &Ctx,
    algorithm: &Algorithm,
    wanted: Nests,
    sizes: Sizes,
    approaches: &[Approach],
) -> Result<Vec<Nest>, Error> {
    let mut nests = vec![];
    each_nest(ctx, algorithm, wanted, sizes, approaches, &mut |heard| {
        match heard {
            Heard::Fits(nest, _) => nests.push(nest),
            Heard::Uneven(_) => {}
        }
        Ok(())
    })?;
    Ok(nests)
}

/// What is told of a nest.
pub(super) enum Heard<'a> {
    /// What its tiles cost, and what counts a tile of each of its fits.
    Fits(Nest, &'a [Counter<'a>]),
    /// The computations of one that was wanted only if all points of its middle are alike.
    Uneven(Vec<ComputationId>),
}

/// What hears of each nest.
type Told<'a> = &'a mut dyn FnMut(Heard<'_>) -> Result<(), Error>;

/// Tells of each nest what its tiles cost.
pub(super) fn each_nest(
    ctx: &Ctx,
    algorithm: &Algorithm,
    wanted: Nests,
    sizes: Sizes,
    approaches: &[Approach],
    tell: Told<'_>,
) -> Result<(), Error> {
    let program = program(ctx, algorithm, &vec![PARAMETER; algorithm.params.len()])?;
    for band in band::bands(ctx, &program)? {
        if band.names.is_empty() || (wanted == Nests::Stencils && !band.has_time) {
            continue;
        }
        let uniform = Uniform::of(ctx, &program, &band)?;
        if wanted == Nests::Stencils && uniform.is_none() {
            tell(Heard::Uneven(band.computations))?;
            continue;
        }
        let (mut fits, mut refused, mut counters) = (vec![], vec![], vec![]);
        for &approach in approaches {
            let counter = match Counter::of(ctx, &program, &band, uniform.as_ref(), approach)? {
                Ok(counter) => counter,
                Err(reason) => {
                    refused.push((approach, reason));
                    continue;
                }
            };
            match fit_one(ctx, &band, &counter, approach, sizes)? {
                Ok(fit) => {
                    fits.push(fit);
                    counters.push(counter);
                }
                Err(reason) => refused.push((approach, reason)),
            }
        }
        let around = algorithm.source_order.loops_around(band.computations[0]);
        let time = band.has_time.then(|| around[0].1.name.clone());
        let whole = band::whole(&program, &band);
        let Band { computations, coordinates, names: space, thin, .. } = band;
        tell(Heard::Fits(Nest { time, computations, space, coordinates, fits, thin, whole, refused }, &counters))?;
    }
    Ok(())
}

/// Short sizes of a program whose points are not all alike are counted as far as this goes.
const SHORT_OPERATIONS: u64 = 20_000_000;

/// What a quick look counts for short sizes, in points times what each reads; how many sizes it compares by formulas, and one in how many it
/// then leaves out.
const QUICK_CELLS: u64 = 300_000_000;
const QUICK_TILES: u64 = 25_000_000;
const SKIPPED: u64 = 8;

/// What tiles of one approach cost.
fn fit_one(
    ctx: &Ctx,
    band: &Band,
    counter: &Counter<'_>,
    approach: Approach,
    sizes: Sizes,
) -> Result<Result<Fit, Refused>, Error> {
    let mut nodes = vec![NODES; band.names.len()];
    if approach != Approach::Plain {
        // Sets take too long to count at so many sizes.
        nodes.push(if counter.is_uniform() { NODES_OF_TIME } else { NODES });
    }
    let room = counter.room()?;
    if room.len() != nodes.len() {
        return Ok(Err(Refused::TooSmall));
    }
    let least = counter.least();
    let is_short = |at: usize| room[at] < least[at] + nodes[at] as u64 + 1;
    let large: Vec<Option<u64>> = (0..room.len()).map(|at| is_short(at).then(|| room[at].min(least[at]))).collect();
    let laid = Laid { counter, nodes: &nodes, least: &least };
    let last = match laid.piece(&large)? {
        Ok(piece) => piece,
        Err(refused) => return Ok(Err(refused)),
    };
    let mut pieces = vec![];
    let mut all_sizes = sizes != Sizes::FromFour;
    if all_sizes {
        let short: Vec<u64> = (0..room.len()).map(|at| if is_short(at) { room[at] } else { 0 }).collect();
        let most = if sizes == Sizes::Quick { counter.spent().saturating_add(QUICK_CELLS) } else { u64::MAX };
        let each = || laid.small(&short, most);
        let found = if counter.is_uniform() { each() } else { ctx.with_budget(SHORT_OPERATIONS, each) };
        match found {
            Ok(Some(found)) => pieces = found,
            Ok(None) => all_sizes = false,
            Err(error) if error.is_quota() => all_sizes = false,
            Err(other) => return Err(other),
        }
    }
    pieces.push(last);
    let (skew, lean) = counter.place();
    let most = if sizes == Sizes::Quick { QUICK_TILES } else { u64::MAX };
    let fit = Fit { approach, skew, lean, all_sizes, room, most, pieces };
    let least = fit.pieces.last().map(|it| it.least.clone()).unwrap_or_default();
    if fit.cost(&least).useful == 0 {
        return Ok(Err(Refused::Empty));
    }
    Ok(Ok(fit))
}

/// How polynomials are laid.
struct Laid<'a> {
    counter: &'a Counter<'a>,
    /// Through how many sizes along each dimension, and from which on.
    nodes: &'a [usize],
    least: &'a [u64],
}

impl Laid<'_> {
    /// Pieces for all sizes; `None` where these would be too many, or where so much has been counted. Along short loops, which have a number here, each size has pieces of
    /// its own.
    fn small(&self, short: &[u64], most: u64) -> Result<Option<Vec<Piece>>, Error> {
        let range = |&most: &u64| if most == 0 { vec![None] } else { (1..=most).map(Some).collect() };
        let mut open: Vec<Vec<Option<u64>>> = tuples(&short.iter().map(range).collect::<Vec<_>>());
        let mut seen: BTreeSet<Vec<Option<u64>>> = open.iter().cloned().collect();
        let mut pieces = vec![];
        while let Some(fixed) = open.pop() {
            let Ok(mut found) = self.piece(&fixed)? else { continue };
            let tiles: u64 =
                found.least.iter().zip(&found.open).map(|(&least, &open)| if open { least } else { 1 }).product();
            if tiles > MOST_TILES || seen.len() > MOST_PIECES || self.counter.spent() > most {
                return Ok(None);
            }
            let begins = begins(self.counter, &found, most)?;
            if self.counter.spent() > most {
                return Ok(None);
            }
            // Where the formulas are wrong, a size is fixed, and the others have formulas of their own.
            for at in (0..begins.len()).filter(|&at| found.open[at]) {
                for size in 1..begins[at] {
                    let mut more = fixed.clone();
                    more[at] = Some(size);
                    if seen.insert(more.clone()) {
                        open.push(more);
                    }
                }
            }
            found.parts = found.parts.iter().map(|it| it.from(&begins)).collect();
            found.least = begins;
            pieces.push(found);
        }
        Ok(Some(pieces))
    }

    /// What tiles cost of which some sizes are fixed; the others begin where polynomials are laid first.
    fn piece(&self, fixed: &[Option<u64>]) -> Result<Result<Piece, Refused>, Error> {
        let counter = self.counter;
        let least: Vec<u64> = fixed.iter().zip(self.least).map(|(it, &least)| it.unwrap_or(least)).collect();
        let nodes: Vec<usize> = fixed.iter().zip(self.nodes).map(|(it, &nodes)| it.map_or(nodes, |_| 1)).collect();
        let mut trust = if counter.is_certain() { Trust::Exact } else { Trust::Estimate };
        let mut parts = vec![];
        for at in 0..counter.parts.len() {
            let refused = std::cell::Cell::new(Refused::TooSmall);
            let counted = |sizes: &[u64]| -> Result<Option<Counts>, Error> {
                let found = counter.part(at, sizes)?;
                Ok(found.map(|(counts, _)| counts).inspect_err(|&reason| refused.set(reason)).ok())
            };
            let Some(polynomial) = Polynomial::through(&nodes, &least, &counted)? else {
                return Ok(Err(refused.get()));
            };
            if !polynomial.hits(&counted)? {
                trust = Trust::Estimate;
            }
            parts.push(polynomial);
        }
        Ok(Ok(Piece { open: nodes.iter().map(|&it| it > 1).collect(), least, trust, parts }))
    }
}

/// So many short tiles are compared with one formula at most, and so many formulas are laid.
const MOST_TILES: u64 = 4000;
const MOST_PIECES: usize = 600;

/// From which sizes on the formulas for large ones are right: at all sizes up to where these begin, and at each of them with the
/// others large. Once `most` has been counted, those that are left count as wrong.
fn begins(counter: &Counter<'_>, large: &Piece, most: u64) -> Result<Vec<u64>, Error> {
    let is_right = |sizes: &[u64]| -> Result<bool, Error> {
        if counter.spent() > most {
            return Ok(false);
        }
        for (at, polynomial) in large.parts.iter().enumerate() {
            if !polynomial.is_right_at(sizes, &|sizes| Ok(counter.part(at, sizes)?.ok().map(|(counts, _)| counts)))? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let mut begins = large.least.clone();
    let mut wrong: Vec<Vec<u64>> = vec![];
    let range = |at: usize| (if large.open[at] { 1 } else { large.least[at] }..=large.least[at]).collect();
    for sizes in tuples(&(0..begins.len()).map(range).collect::<Vec<_>>()) {
        if !is_right(&sizes)? {
            wrong.push(sizes);
        }
    }
    for size in (1..large.least.iter().copied().max().unwrap_or(1)).rev() {
        for at in (0..begins.len()).filter(|&at| large.open[at]) {
            let mut tried = begins.clone();
            tried[at] = size;
            let within = |it: &Vec<u64>| it.iter().zip(&tried).all(|(size, begin)| size >= begin);
            if begins[at] != size + 1 || wrong.iter().any(within) {
                continue;
            }
            let far = |other: usize| large.least[other] + if large.open[other] { FAR } else { 0 };
            let mut all: Vec<u64> = (0..begins.len()).map(far).collect();
            all[at] = size;
            let mut others = vec![all];
            for other in (0..begins.len()).filter(|&other| other != at && large.open[other]) {
                let mut one = large.least.clone();
                (one[at], one[other]) = (size, far(other) + 1);
                others.push(one);
            }
            let mut agree = true;
            for sizes in &others {
                agree = agree && is_right(sizes)?;
            }
            if agree {
                begins = tried;
            }
        }
    }
    Ok(begins)
}

/// So far beyond the first sizes is large.
const FAR: u64 = 3;

/// All tuples that have one of the values for each place.
fn tuples<T: Copy>(values: &[Vec<T>]) -> Vec<Vec<T>> {
    values.iter().fold(vec![vec![]], |known, values| {
        known.iter().flat_map(|known| values.iter().map(|&it| [known.as_slice(), &[it]].concat())).collect()
    })
}
