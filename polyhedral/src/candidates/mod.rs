//! Schedules that may be faster than Tessella's own: what a tuner tries, the most promising first.
//!
//! Candidates are written in scheduling commands, so that each is proved like any schedule of the user's; nothing here has to
//! be believed. Made are tilings of time for stencils ([`time`]), parallelograms for those of one nest ([`shapes`]), tiles and
//! orders of other nests ([`nests`], on a GPU [`blocks`]), Tessella's own choice with arrays padded ([`pads`]) and with other numbers
//! ([`variations`]). Models say what each may take
//! ([`predict`]): those far from the best are left out, and the others come in their order, family by family in turns, with
//! some drawn at random between them, since models are models.

mod blocks;
mod nests;
mod pads;
mod predict;
mod shapes;
mod time;
mod variations;

use crate::algorithm::Algorithm;
use crate::auto::step_numbers;
use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::models::tiles::fit::{Nest, Nests, Sizes, fit};
use crate::random::Random;

pub use predict::Prediction;

/// A schedule to try.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub family: Family,
    pub commands: Vec<Command>,
    /// What the models say of it; nothing for variations.
    pub predicted: Option<Prediction>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    Space,
    TimeSkew,
    Hexagonal,
    Overlapped,
    Stream,
    /// Tiles that blocks of a GPU keep in shared memory for all time steps.
    GridSync,
    /// Tiles of one of the best shapes for the longest path.
    Parallelogram,
    /// Loops exchanged and tiled; on a GPU also Tessella's own tiles with other numbers.
    Tiles,
    /// Tessella's own commands, and arrays padded.
    Padding,
    /// Tessella's own commands with other numbers.
    Variation,
}

impl Family {
    /// As commands are called, or in a word.
    pub fn name(self) -> &'static str {
        match self {
            Family::Space => "space",
            Family::TimeSkew => "time_skew",
            Family::Hexagonal => "hexagonal",
            Family::Overlapped => "overlapped",
            Family::Stream => "stream",
            Family::GridSync => "grid_sync",
            Family::Parallelogram => "parallelogram",
            Family::Tiles => "tiles",
            Family::Padding => "padding",
            Family::Variation => "variation",
        }
    }

    /// Families whose predictions can be compared with one another.
    fn group(self) -> u8 {
        match self {
            Family::Space | Family::TimeSkew | Family::Hexagonal | Family::Overlapped => 0,
            Family::Stream => 1,
            Family::Parallelogram => 2,
            Family::Tiles => 3,
            Family::Padding => 4,
            // Its model speaks of the sizes at hand, that of streams of large arrays.
            Family::GridSync => 5,
            Family::Variation => 6,
        }
    }

    /// The model that says which of a family are tried.
    pub fn model(self) -> Model {
        match self {
            Family::Space | Family::TimeSkew | Family::Hexagonal | Family::Overlapped => Model::Tiles,
            Family::Tiles => Model::Nests,
            Family::Stream => Model::Streams,
            Family::GridSync => Model::Resident,
            Family::Parallelogram => Model::Parallelograms,
            Family::Padding => Model::Layout,
            Family::Variation => Model::None,
        }
    }
}

/// What predicts how good a candidate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// Transfers and operations of tiles of time ([`crate::models::tiles`]).
    Tiles,
    /// The same of tiles in nests without time. Both leave out what the other counts, so their predictions are not compared.
    Nests,
    /// Longest paths ([`crate::models::parallelograms`]).
    Parallelograms,
    /// Places in vectors and sets of a cache ([`crate::models::layout`]).
    Layout,
    /// Registers and bytes of streams on a GPU ([`crate::auto::stream`]).
    Streams,
    /// Shared memory and barriers of tiles that stay on a GPU ([`crate::auto::resident_cost`]).
    Resident,
    None,
}

impl Model {
    pub const ALL: [Model; 7] = [
        Model::Tiles,
        Model::Nests,
        Model::Parallelograms,
        Model::Layout,
        Model::Streams,
        Model::Resident,
        Model::None,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Model::Tiles => "tiles",
            Model::Nests => "nests",
            Model::Parallelograms => "parallelograms",
            Model::Layout => "layout",
            Model::Streams => "streams",
            Model::Resident => "resident tiles",
            Model::None => "no model",
        }
    }
}

/// What a model left of what it looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub model: Model,
    pub considered: usize,
    pub proposed: usize,
}

/// What there is to try.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Space {
    /// For each model that looked at something.
    pub shares: Vec<Share>,
    /// Those that are left, of each group the most promising first.
    pub candidates: Vec<Candidate>,
    /// How many were looked at.
    pub considered: usize,
}

/// Work of isl that the models may take, and that probing orders of one nest may take.
const MODEL_OPERATIONS: u64 = 40_000_000;
/// Candidates that a model predicts to take more than this many times what the best of their group takes are left out.
const FAR: f64 = 3.0;
/// More of one group are not worth a budget.
const MOST: usize = 160;

/// All candidates for a program in its source's order, at these values of its parameters. `own` are the commands that lead to
/// Tessella's own choice.
pub fn candidates(
    ctx: &Ctx,
    start: &Scheduled,
    dependences: &[Dependence],
    own: &[Command],
    params: &[i64],
) -> Result<Space, Error> {
    let fits_of = |algorithm: &Algorithm| {
        quota_as(ctx.with_budget(MODEL_OPERATIONS, || fit(ctx, algorithm, Nests::All, Sizes::FromFour)), vec![])
    };
    let fits = fits_of(&start.algorithm)?;
    // Time loops are tiled with the numbers of their iterations in place.
    let in_place = quota_as(ctx.with_budget(MODEL_OPERATIONS, || step_numbers::all_in_place(ctx, start)), None)?;
    let placed = in_place.as_ref().map(|it| fits_of(&it.scheduled.algorithm)).transpose()?;
    let (in_time, in_time_dependences, first) = match &in_place {
        Some(it) => (&it.scheduled, it.dependences.as_slice(), it.commands.as_slice()),
        None => (start, dependences, [].as_slice()),
    };
    let is_in_time = |nest: &&Nest| nest.time.is_some();
    let timed = placed.as_ref().unwrap_or(&fits).iter().filter(is_in_time);
    let mut all = vec![];
    for nest in timed.chain(fits.iter().filter(|nest| nest.time.is_none())) {
        // The other nests are Tessella's choice.
        let algorithm = &in_time.algorithm;
        let is_all =
            algorithm.ids().all(|id| nest.computations.contains(&id) || algorithm.computation(id).never_runs());
        let found = ctx.with_budget(MODEL_OPERATIONS, || match &nest.time {
            Some(time) => time::tilings(ctx, in_time, in_time_dependences, nest, time, params),
            None => nests::tilings(ctx, start, dependences, nest, params),
        });
        for mut candidate in quota_as(found, vec![])? {
            if nest.time.is_some() {
                candidate.commands.splice(0..0, first.iter().cloned());
            }
            if !is_all && candidate.commands.last() != Some(&Command::Auto) {
                candidate.commands.push(Command::Auto);
            }
            all.push(candidate);
        }
    }
    if start.target == Target::Gpu {
        let streams = ctx.with_budget(MODEL_OPERATIONS, || time::streams(ctx, in_time, params));
        for mut candidate in quota_as(streams, vec![])? {
            candidate.commands.splice(0..0, first.iter().cloned());
            all.push(candidate);
        }
    }
    let others = variations::variations(own);
    let (others, impossible) = match start.target {
        Target::Cpu => (others, 0),
        Target::Gpu => blocks::predicted(ctx, start, dependences, others, params)?,
    };
    all.extend(others);
    let mut considered = Model::ALL.map(|model| (model, all.iter().filter(|it| it.family.model() == model).count()));
    considered.iter_mut().filter(|it| it.0 == Model::Nests).for_each(|it| it.1 += impossible);
    // These propose few of many that they never write down.
    let shapes = ctx.with_budget(MODEL_OPERATIONS, || shapes::parallelograms(ctx, start, dependences, params));
    let layouts = ctx.with_budget(MODEL_OPERATIONS, || pads::paddings(ctx, start, dependences, own, params));
    for (model, found) in [(Model::Parallelograms, shapes), (Model::Layout, layouts)] {
        let (candidates, looked_at) = quota_as(found, (vec![], 0))?;
        all.extend(candidates);
        considered.iter_mut().filter(|it| it.0 == model).for_each(|it| it.1 += looked_at);
    }
    let candidates = promising(all);
    let shares = considered.into_iter().filter(|(_, count)| *count > 0).map(|(model, considered)| {
        let proposed = candidates.iter().filter(|it| it.family.model() == model).count();
        Share { model, considered, proposed }
    });
    let shares: Vec<Share> = shares.collect();
    Ok(Space { considered: shares.iter().map(|it| it.considered).sum(), candidates, shares })
}

/// The candidates in the order in which they are tried: groups in turns, every fifth drawn from all that are left.
pub fn in_order(space: &Space, seed: u64) -> Vec<Candidate> {
    const DRAWN: usize = 5;
    let mut groups: Vec<std::collections::VecDeque<&Candidate>> = vec![];
    for candidate in &space.candidates {
        match groups.iter_mut().find(|group| group[0].family.group() == candidate.family.group()) {
            Some(group) => group.push_back(candidate),
            None => groups.push([candidate].into()),
        }
    }
    let mut random = Random::new(seed);
    let mut order = vec![];
    let mut turn = 0;
    while !groups.is_empty() {
        let at = if (order.len() + 1) % DRAWN == 0 { random.below(groups.len()) } else { turn % groups.len() };
        let group = &mut groups[at];
        let place = if (order.len() + 1) % DRAWN == 0 { random.below(group.len()) } else { 0 };
        order.extend(group.remove(place).cloned());
        turn = at + 1;
        groups.retain(|group| !group.is_empty());
    }
    order
}

/// Of each group those that are not far from its best, best first; of families of tiles far from the best stream, one.
fn promising(mut all: Vec<Candidate>) -> Vec<Candidate> {
    // What no model knows comes last, and says nothing against the others.
    let time = |it: &Candidate| it.predicted.map_or(f64::INFINITY, |it| it.time);
    // The sort is stable: among equals the order of generation stands.
    all.sort_by(|a, b| a.family.group().cmp(&b.family.group()).then(time(a).total_cmp(&time(b))));
    let streams = all.iter().filter(|it| it.family == Family::Stream).map(time).min_by(f64::total_cmp);
    let is_slow = |it: &Candidate| {
        let slow = it.family.model() == Model::Tiles && it.predicted.is_some();
        slow && streams.is_some_and(|best| time(it) > FAR * best)
    };
    let mut kept: Vec<Candidate> = vec![];
    for chunk in all.chunk_by(|a, b| a.family.group() == b.family.group()) {
        let best = chunk.first().map_or(0.0, time);
        let near = chunk.iter().filter(|it| it.predicted.is_none() || time(it) <= FAR * best);
        let mut few: Vec<Candidate> = vec![];
        for candidate in near {
            if few.len() == MOST {
                break;
            }
            if is_slow(candidate) && few.iter().any(|it| it.family == candidate.family) {
                continue;
            }
            // Sides that are too small for a hexagon all come to the least one.
            if few.iter().all(|it| it.commands != candidate.commands) {
                few.push(candidate.clone());
            }
        }
        kept.extend(few);
    }
    kept
}

/// Running out of work is no failure of a search: what was to be found is not there.
fn quota_as<T>(found: Result<T, Error>, otherwise: T) -> Result<T, Error> {
    match found {
        Err(error) if error.is_quota() => Ok(otherwise),
        other => other,
    }
}

/// What was made; `None` where it was refused.
fn unless_refused<T>(made: Result<T, Error>) -> Result<Option<T>, Error> {
    match made {
        Ok(it) => Ok(Some(it)),
        Err(error) if error.is_quota() => Err(error),
        Err(_) => Ok(None),
    }
}
