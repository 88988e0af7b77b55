//! Arrays that hold the levels of a wave, or both sides of a sweep, along their last axis, `A[i, j, t % 2 + 1]`, or components, `q[i, j, 1]` and
//! `q[i, j, 2]`.
//!
//! Each element of that axis is a field of its own. Which one a nest touches follows from the iteration of the time loop, with a period: so the
//! nest is one of each iteration of a period, as nests over arrays that change places are.

use super::{Obstacle, Way};
use crate::affine::{Affine, Atom, gcd};
use crate::algorithm::{Access, Algorithm, ArrayId, ComputationId, Subscript};
use crate::error::Error;
use crate::isl::{Ctx, Set};
use crate::relation;
use std::collections::{BTreeMap, BTreeSet};

/// The longest period, and so the most levels that take turns.
const MOST_LEVELS: i64 = 8;

/// The most iterations that are looked at to find out when subscripts are the same again.
const MOST_CYCLE: i64 = 4096;

/// The arrays whose last axis holds levels, and after how many iterations of the time loop they are the same again.
#[derive(Debug, Clone, Default)]
pub(super) struct Levels {
    arrays: BTreeMap<ArrayId, i64>,
    pub(super) period: i64,
}

impl Levels {
    /// Those of the nests below a time loop, with their iterators along it, the deepest of which have so many loops.
    pub(super) fn of(algorithm: &Algorithm, nests: &[(ComputationId, Option<u32>)], loops: usize) -> Levels {
        let mut periods: BTreeMap<ArrayId, Option<i64>> = BTreeMap::new();
        // What instruments record has no components: `heard[t, 1] = p[ri, rj]`.
        let mut recorded = BTreeSet::new();
        let mut written = BTreeSet::new();
        for &(id, time) in nests {
            let computation = algorithm.computation(id);
            written.insert(computation.write.array);
            for access in computation.reads.iter().chain([&computation.write]) {
                let own = time.and_then(|time| period(access, time, computation.iterators.len()));
                let others = &access.subscripts[..access.subscripts.len().saturating_sub(1)];
                let moves = |it: &Subscript| time.is_none_or(|time| computation.involves_iterator(it, time));
                if others.len() != loops || others.iter().any(moves) {
                    recorded.insert(access.array);
                }
                let all = periods.entry(access.array).or_insert(Some(1));
                *all = all.zip(own).map(|(all, own)| common(all, own)).filter(|period| *period <= MOST_LEVELS);
            }
        }
        let turning = periods.into_iter().filter_map(|(array, period)| Some((array, period?)));
        let is_one = |(array, period): &(ArrayId, i64)| *period > 1 || !recorded.contains(array);
        let turning: Vec<(ArrayId, i64)> = turning.filter(|it| written.contains(&it.0) && is_one(it)).collect();
        let period = turning.iter().fold(1, |all, (_, own)| common(all, *own));
        if period > MOST_LEVELS {
            return Levels { period: 1, ..Levels::default() };
        }
        Levels { arrays: turning.into_iter().collect(), period }
    }

    pub(super) fn has(&self, array: ArrayId) -> bool {
        self.arrays.contains_key(&array)
    }

    /// Whether its levels take turns; components do not.
    pub(super) fn take_turns(&self, array: ArrayId) -> bool {
        self.arrays.get(&array).is_some_and(|period| *period > 1)
    }

    /// How many axes of an array points lie along.
    pub(super) fn rank(&self, access: &Access) -> usize {
        access.subscripts.len() - usize::from(self.has(access.array))
    }

    /// The level that an access touches in an iteration, given the iterator along time, the first iteration, and how many later it is. `None` for
    /// other arrays; `Some(None)` where it depends on a size.
    pub(super) fn level(
        &self,
        access: &Access,
        time: u32,
        (first, way): (&Affine, Way),
        turn: i64,
    ) -> Option<Option<i64>> {
        let last = access.subscripts.last().filter(|_| self.has(access.array))?;
        let last = last.as_affine()?;
        Some(last.as_constant().or_else(|| {
            let mut iterators = vec![0; time as usize + 1];
            iterators[time as usize] = way.iterator(first.as_constant()? + turn);
            last.evaluate(&iterators, &[])
        }))
    }
}

impl Levels {
    /// That all of them exist wherever a nest has an instance and what it touches is inside, as is found out at entry: a call whose first
    /// iterations are its last touches less of them. Where none has an instance, nothing runs.
    pub(super) fn check(
        &self,
        ctx: &Ctx,
        algorithm: &Algorithm,
        nests: &[(ComputationId, u32)],
        first: (&Affine, Way),
    ) -> Result<Result<(), Obstacle>, Error> {
        for &array in self.arrays.keys() {
            let it = algorithm.array(array);
            let mut highest = 1;
            let space = relation::param_space(ctx, algorithm)?;
            let mut outside = Set::empty(&space)?;
            let mut some = Set::empty(&space)?;
            let inside = relation::index_set(ctx, algorithm, array)?;
            for &(id, time) in nests {
                let computation = algorithm.computation(id);
                some = some.union(&relation::domain(algorithm, id)?.params()?)?;
                let accesses = computation.reads.iter().chain([&computation.write]);
                for access in accesses.filter(|access| access.array == array) {
                    for turn in 0..self.period {
                        let Some(Some(level)) = self.level(access, time, first, turn) else { continue };
                        if level < 1 {
                            return Ok(Err(Obstacle(format!(
                                "`{}` has no level {level} along its last axis",
                                it.name
                            ))));
                        }
                        highest = highest.max(level);
                    }
                    if !access.conditional {
                        let touched = relation::access(ctx, algorithm, id, access)?.range()?;
                        outside = outside.union(&touched.subtract(&inside)?.params()?)?;
                    }
                }
            }
            let Some(extent) = it.extents.last() else { continue };
            let extent = extent.to_isl(&space, &algorithm.param_names())?;
            let least = Affine::constant(highest).to_isl(&space, &algorithm.param_names())?;
            if let Some(assumed) = algorithm.assumed()? {
                some = some.intersect(&assumed)?;
            }
            if !some.subtract(&outside)?.is_subset(&extent.ge_set(&least)?)? {
                let (name, axis) = (&it.name, it.extents.len());
                return Ok(Err(Obstacle(format!(
                    "a call may have fewer levels of `{name}` than take turns: say `@assert size({name}, {axis}) >= {highest}`"
                ))));
            }
        }
        Ok(Ok(()))
    }
}

/// After how many iterations along time the last subscript of an access is the same again; `None` where something else has to do with it.
fn period(access: &Access, time: u32, iterators: usize) -> Option<i64> {
    let (last, others) = access.subscripts.split_last()?;
    let last = last.as_affine()?;
    if others.is_empty() {
        return None;
    }
    if last.as_constant().is_some() {
        return Some(1);
    }
    let only_time = |it: u32| it == time || !last.involves_iterator(it);
    if !(0..iterators as u32).all(only_time) || last.involves_any_param() {
        return None;
    }
    let at = |value: i64| {
        let mut values = vec![0; iterators];
        values[time as usize] = value;
        last.evaluate(&values, &[])
    };
    // From one multiple of all divisors to the next it goes on as before.
    let cycle = divisors(last)?;
    let is_same = |by: &i64| (0..cycle).all(|value| at(value).is_some() && at(value) == at(value + by));
    (1..=MOST_LEVELS).find(is_same)
}

/// A multiple of all divisors of an expression, if it is small.
fn divisors(affine: &Affine) -> Option<i64> {
    affine.terms().iter().try_fold(1, |all: i64, (atom, _)| match atom {
        Atom::Iterator(_) | Atom::Param(_) => Some(all),
        Atom::FloorDiv(inner, divisor) => {
            let all = all.checked_mul(*divisor)?.checked_mul(divisors(inner)?)?;
            (all <= MOST_CYCLE).then_some(all)
        }
    })
}

/// The least common multiple.
pub(super) fn common(one: i64, other: i64) -> i64 {
    one / gcd(one, other) * other
}
