//! How much work isl may do, in units of about a microsecond.
//!
//! isl counts its operations: allocations, and steps of the simplex method. A step goes through a whole tableau, so an
//! operation takes a fraction of a microsecond for a nest of three loops, and tens of them for one of thirty loops or
//! with many tiles inside tiles. A bound on plain operations would bound no time; each is counted with the [`weight`]
//! of the program that is looked at. Weights depend on the program alone, so that it is refused everywhere or nowhere.

use crate::affine::{Affine, Atom, ParamId};
use crate::algorithm::{Algorithm, Computation, ComputationId, Subscript};
use crate::isl::DimType;
use crate::relation::has_many_params;
use crate::schedule::Schedule;
use std::collections::BTreeSet;

/// About how many microseconds an operation takes on pairs of instances, at least 1.
///
/// Measured on nests of 1 to 30 loops, and with up to 7 divisions by tile sizes: unknowns cost with their square, since
/// tableaus have about as many rows, and divisions cost most, since their constraints are the dense ones.
pub fn weight(algorithm: &Algorithm, schedule: &Schedule) -> u64 {
    let params = params_in_question(algorithm, schedule);
    heaviest(algorithm, |id| {
        let unknowns = 2 * algorithm.computation(id).iterators.len() + params;
        let divisions = 2 * divisions(algorithm, schedule, id);
        unknowns * unknowns / 200 + divisions * divisions / 16
    })
}

/// The same while code is generated for nests in frames, each by itself: on single instances, whose divisions cost nothing more.
///
/// Measured on a machine with other work, with up to nine divisions: 0.7 to 0.9 microseconds for nests of 5 to 8 loops and up to 19 sizes (sound, waves, and
/// fields in space, in tiles that overlap or lean), 1.3 for 30 sizes (`fdtd_antenna.jl` in hexagons).
pub fn weight_of_frames(algorithm: &Algorithm, schedule: &Schedule) -> u64 {
    let params = params_in_question(algorithm, schedule);
    heaviest(algorithm, |id| {
        let unknowns = algorithm.computation(id).iterators.len() + params;
        unknowns * unknowns / 800
    })
}

/// One more than the most that a computation adds.
fn heaviest(algorithm: &Algorithm, adds: impl Fn(ComputationId) -> usize) -> u64 {
    1 + algorithm.ids().map(|id| adds(id) as u64).max().unwrap_or(0)
}

/// How many parameters isl's sets have that matter: of many, those that something depends on.
fn params_in_question(algorithm: &Algorithm, schedule: &Schedule) -> usize {
    match has_many_params(algorithm) {
        true => involved(algorithm, schedule).iter().filter(|it| **it).count(),
        false => algorithm.params.len(),
    }
}

/// Of each parameter, whether loops or subscripts depend on it. The extents of other arrays are columns of zeros, which cost little.
pub fn involved(algorithm: &Algorithm, schedule: &Schedule) -> Vec<bool> {
    let mut found = BTreeSet::new();
    let mut add = |affine: &Affine| affine.params(&mut found);
    for id in algorithm.ids() {
        let computation = algorithm.computation(id);
        schedule.loops_around(id).iter().for_each(|(_, it)| add(&it.at[&id]));
        let accesses = computation.reads.iter().chain([&computation.write]);
        accesses.flat_map(|it| &it.subscripts).filter_map(Subscript::as_affine).for_each(&mut add);
    }
    let of_domains = |at: usize| {
        // Where isl does not answer, the parameter counts.
        let involves = |it: &Computation| it.domain.involves_dims(DimType::Param, at as u32, 1).unwrap_or(true);
        algorithm.computations.iter().any(involves)
    };
    (0..algorithm.params.len()).map(|at| found.contains(&ParamId(at as u32)) || of_domains(at)).collect()
}

/// How much longer than its [`weight`] says an operation may take where a loop's value adds up two divisions for more than
/// [`FEW`] computations, or more than [`LEANING`] or [`UPRIGHT`] for any (seidel-2d in parallelograms did not end in 100
/// seconds). isl looks for integer points with tableaus of hundreds of rows then, whose coefficients outgrow machine words:
/// a step takes about a third of a millisecond.
const WAVE: u64 = 40;

/// Statements whose wavefront is still quick to generate code for. Measured without a limit, over the programs in `tests/` and
/// parts of one of them (error diffusion), as isl's plain operations and milliseconds:
///
/// | statements in the wave | operations | ms |
/// | --- | --- | --- |
/// | 1 (seidel-2d and seven others) | 29,000 to 370,000 | 31 to 1444 |
/// | 3 (filters, sequences, part of error diffusion) | 64,000 to 179,000 | 125 to 509 |
/// | 5 (nussinov) | 77,000 | 107 |
/// | 6 (part of error diffusion) | 121,000 | 272 |
/// | 7 and 8 (more of it, all of it) | above 250,000 | above 9000 |
const FEW: usize = 6;

/// Divisions of sums of iterators that a loop's value may add up, and of single iterators: tiles that lean meet the edges of a domain in
/// more ways (a decomposition in upright tiles takes 0.2 seconds).
const LEANING: usize = 2;
const UPRIGHT: usize = 3;

/// How much longer than its [`weight`] says an operation may take where pieces have edges whose slope is no whole number. Which tiles
/// hold an integer point then depends on their numbers and on the sizes, in dozens of cases, and isl looks at all of them: a line in
/// hexagons took up to 18 seconds, and takes a tenth of a second where loops over tiles run through a convex set.
const FRACTIONS: u64 = 20;

/// The weight of an operation while code is generated.
pub fn weight_of_generation(algorithm: &Algorithm, schedule: &Schedule) -> u64 {
    // `fld(i, 8) - 4*fld(i, 32)`, a tile in a tile, is no sum.
    let adds_up = |id: ComputationId| {
        schedule.loops_around(id).iter().any(|(_, it)| {
            let divided: Vec<&Affine> = it.at[&id].terms().iter().filter_map(divided).collect();
            let is_upright = || divided.iter().all(|it| it.terms().len() == 1);
            let most = match it.at.len() > FEW {
                true => 1,
                false if is_upright() => UPRIGHT,
                false => LEANING,
            };
            divided.len() > most
        })
    };
    let has_fractions = algorithm.whole.as_ref().is_some_and(|whole| whole.has_fractions);
    let plain = weight(algorithm, schedule);
    match (algorithm.ids().any(adds_up), has_fractions) {
        (true, _) => plain * WAVE,
        (false, true) => plain * FRACTIONS,
        (false, false) => plain,
    }
}

/// What is divided, where a term of a sum is a positive multiple of a division.
fn divided((atom, factor): &(Atom, i64)) -> Option<&Affine> {
    match atom {
        Atom::FloorDiv(inner, _) if *factor > 0 => Some(inner),
        Atom::FloorDiv(..) | Atom::Iterator(_) | Atom::Param(_) => None,
    }
}

/// The distinct divisions in the functions of the loops around a computation, and in the worst of its accesses.
pub(crate) fn divisions(algorithm: &Algorithm, schedule: &Schedule, id: ComputationId) -> usize {
    let mut found = BTreeSet::new();
    for (_, it) in schedule.loops_around(id) {
        collect(&it.at[&id], &mut found);
    }
    let computation = algorithm.computation(id);
    let of_access = computation.reads.iter().chain([&computation.write]).map(|access| {
        let mut own = BTreeSet::new();
        access.subscripts.iter().filter_map(Subscript::as_affine).for_each(|subscript| collect(subscript, &mut own));
        own.difference(&found).count()
    });
    of_access.max().unwrap_or(0) + found.len()
}

fn collect<'a>(affine: &'a Affine, into: &mut BTreeSet<&'a Atom>) {
    for (atom, _) in affine.terms() {
        if let Atom::FloorDiv(inner, _) = atom {
            into.insert(atom);
            collect(inner, into);
        }
    }
}
