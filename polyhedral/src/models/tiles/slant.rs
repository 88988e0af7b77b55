//! Where tiles lie: how far space moves with time, and with itself.

use super::Approach;
use super::band::Band;
use super::count::Program;
use super::shape::distance;
use crate::algorithm::ComputationId;
use crate::dependence::Keeps;
use crate::error::Error;
use crate::isl::{Aff, Ctx, DimType};
use std::collections::BTreeMap;

/// Larger skews than this are not tried; with a lean, none beyond the second number; nor leans whose factors add up to more than the
/// third.
pub(super) const LARGEST_SKEW: i64 = 32;
const LARGEST_LEANING_SKEW: i64 = 8;
const LARGEST_LEAN: i64 = 4;

/// Where the tiles of an approach lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slant {
    /// How far space moves with each time step, along each dimension.
    pub(super) skew: Vec<i64>,
    /// For each dimension of space, how far it moves with those before it: one factor for each of them.
    pub(super) lean: Vec<Vec<i64>>,
    /// How far each computation is delayed, along each dimension.
    pub(super) shift: BTreeMap<ComputationId, Vec<i64>>,
}

impl Slant {
    /// Tiles that stand upright.
    pub(super) fn none(band: &Band) -> Slant {
        let still = vec![0; band.names.len()];
        let lean = (0..band.names.len()).map(|it| vec![0; it]).collect();
        Slant { shift: band.computations.iter().map(|&id| (id, still.clone())).collect(), skew: still, lean }
    }

    /// The band whose dimensions of space are those that its tiles are boxes of.
    pub(super) fn leaning(&self, band: &Band) -> Result<Band, Error> {
        let first = usize::from(band.has_time);
        let mut leaning = band.clone();
        for (id, coordinates) in &mut leaning.coordinates {
            for (dimension, factors) in self.lean.iter().enumerate() {
                for (before, factor) in factors.iter().enumerate().filter(|(_, factor)| **factor != 0) {
                    let moved = band.coordinates[id][first + before].scale(*factor)?;
                    coordinates[first + dimension] = coordinates[first + dimension].add(&moved)?;
                }
            }
        }
        Ok(leaning)
    }
}

/// Where box tiles may lie so that each waits only for tiles before it along each dimension; `None` where no skew does.
pub(super) fn slant(ctx: &Ctx, program: &Program, band: &Band, approach: Approach) -> Result<Option<Slant>, Error> {
    let dimensions = band.names.len();
    let first = usize::from(band.has_time);
    let mut slant = Slant { skew: vec![], lean: vec![], shift: BTreeMap::new() };
    let mut distances = vec![];
    for dependence in program.dependences.iter().filter(|it| it.keeps == Keeps::Order) {
        let (from, to) = (dependence.source.computation, dependence.sink.computation);
        if band.computations.contains(&from) && band.computations.contains(&to) {
            let mut set = distance(ctx, program, band, dependence)?;
            if approach == Approach::Plain && band.has_time {
                set = set.fix_i32(DimType::Set, 0, 0)?;
            }
            if !set.is_empty()? {
                distances.push((from, to, set));
            }
        }
    }
    for dimension in 0..dimensions {
        let leans = match approach {
            Approach::Skewed => leans(dimension, &slant.lean),
            Approach::Plain | Approach::Redundant => vec![vec![0; dimension]],
        };
        let most = if band.has_time && approach == Approach::Skewed { LARGEST_SKEW } else { 0 };
        let near = most.min(LARGEST_LEANING_SKEW);
        let tried = leans.iter().flat_map(|lean| (0..=near).map(move |factor| (lean, factor)));
        let tried =
            tried.chain(leans.iter().take(1).flat_map(|lean| (near + 1..=most).map(move |factor| (lean, factor))));
        let mut found = None;
        for (lean, factor) in tried {
            let mut bounds = vec![];
            for (from, to, set) in &distances {
                let space = set.space()?;
                let coordinate = |at: usize| Aff::set_dim_on(&space, (first + at) as u32);
                let mut along = coordinate(dimension)?;
                for (before, &factor) in lean.iter().enumerate().filter(|(_, factor)| **factor != 0) {
                    along = along.add(&coordinate(before)?.scale(factor)?)?;
                }
                if factor != 0 {
                    along = along.add(&Aff::set_dim_on(&space, 0)?.scale(factor)?)?;
                }
                bounds.push((*from, *to, set.min_val(&along)?.to_i64()));
            }
            if let Some(shifts) = delays(&band.computations, &bounds) {
                found = Some((factor, lean.clone(), shifts));
                break;
            }
        }
        let Some((factor, lean, shifts)) = found else { return Ok(None) };
        slant.skew.push(factor);
        slant.lean.push(lean);
        for (id, shift) in shifts {
            slant.shift.entry(id).or_default().push(shift);
        }
    }
    Ok(Some(slant))
}

/// How a dimension of space may move with those before it: with multiples of these as they move themselves, small ones first.
fn leans(dimension: usize, before: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut multiples: Vec<Vec<i64>> = vec![vec![]];
    for _ in 0..dimension {
        let longer =
            |it: &Vec<i64>| (0..=LARGEST_LEAN).map(|next| [it.as_slice(), &[next]].concat()).collect::<Vec<_>>();
        multiples = multiples.iter().flat_map(longer).collect();
    }
    multiples.retain(|it| it.iter().sum::<i64>() <= LARGEST_LEAN);
    multiples.sort_by_key(|it| it.iter().sum::<i64>());
    let moved = |factors: &Vec<i64>| {
        let mut lean = factors.clone();
        for (factor, theirs) in factors.iter().zip(before) {
            lean.iter_mut().zip(theirs).for_each(|(value, other)| *value += factor * other);
        }
        lean
    };
    multiples.iter().map(moved).collect()
}

/// The least delays that make all distances non-negative; `None` where there are none.
fn delays(
    ids: &[ComputationId],
    bounds: &[(ComputationId, ComputationId, Option<i64>)],
) -> Option<BTreeMap<ComputationId, i64>> {
    let mut delay: BTreeMap<ComputationId, i64> = ids.iter().map(|&id| (id, 0)).collect();
    // Without a cycle of negative sum no way is longer than there are computations.
    for round in 0..=ids.len() {
        let mut changed = false;
        for (from, to, least) in bounds {
            let needed = delay[from].checked_sub((*least)?)?;
            if delay[to] < needed {
                delay.insert(*to, needed);
                changed = true;
            }
        }
        if !changed {
            return Some(delay);
        }
        if round == ids.len() {
            break;
        }
    }
    None
}
