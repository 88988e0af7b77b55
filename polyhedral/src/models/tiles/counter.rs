//! Tiles of one approach over one band, and how each of them is counted.

use super::band::{self, Band};
use super::count::{Counts, Program, count};
use super::hexagons::Hexagons;
use super::polynomial::{LEAST, MOST_LEAST};
use super::rank::{Refused, Way};
use super::shape::{self, NoTile};
use super::slant::{self, Slant};
use super::uniform::Uniform;
use super::{Approach, Cost};
use crate::error::Error;
use crate::isl::Ctx;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What all sizes of a program are while its tiles are counted.
pub(super) const PARAMETER: i64 = 240;

/// The tiles of an approach.
pub(super) struct Counter<'a> {
    ctx: &'a Ctx,
    program: &'a Program,
    approach: Approach,
    /// Sweeps one after the other, or all at once, and where their boxes lie.
    pub(super) parts: Vec<(Band, Slant)>,
    /// What coordinates of each part run through; nothing where points are alike, or where loops run for nothing.
    ends: Vec<Option<Vec<(i64, i64)>>>,
    /// Where all points of the middle are alike.
    uniform: Option<Cow<'a, Uniform>>,
    /// What was counted of a part, by its sizes: polynomials are laid and checked through the same ones.
    counted: RefCell<BTreeMap<(usize, Vec<u64>), Counted>>,
}

type Counted = Result<(Counts, Way), Refused>;

impl<'a> Counter<'a> {
    /// The tiles of an approach over a band; `uniform` is what is known of its points.
    pub(super) fn of(
        ctx: &'a Ctx,
        program: &'a Program,
        band: &Band,
        uniform: Option<&'a Uniform>,
        approach: Approach,
    ) -> Result<Result<Counter<'a>, Refused>, Error> {
        let parts = match parts(ctx, program, band, approach)? {
            Ok(parts) => parts,
            Err(refused) => return Ok(Err(refused)),
        };
        // Where tiles lean, points are alike along other coordinates.
        let leaning = parts.iter().find(|(_, slant)| slant.lean.iter().flatten().any(|&factor| factor != 0));
        let uniform = match leaning {
            None => uniform.map(Cow::Borrowed),
            Some((part, _)) if uniform.is_some() => Uniform::of(ctx, program, part)?.map(Cow::Owned),
            Some(_) => None,
        };
        let each = parts.iter().map(|(part, _)| match uniform {
            Some(_) => Ok(None),
            None => shape::ends(ctx, program, part),
        });
        let ends = each.collect::<Result<_, Error>>()?;
        Ok(Ok(Counter { ctx, program, approach, parts, ends, uniform, counted: RefCell::default() }))
    }

    /// What counts hexagons, where the tiles of several steps are upright boxes in each of them and all points of the middle are alike.
    pub(super) fn hexagons(&self) -> Option<Hexagons> {
        let (Approach::Skewed, [(band, slant)]) = (self.approach, self.parts.as_slice()) else { return None };
        let is_upright = slant.lean.iter().flatten().all(|factor| *factor == 0);
        let uniform = self.uniform.as_deref().filter(|_| is_upright && band.has_time)?;
        Some(Hexagons { band: band.clone(), uniform: uniform.clone() })
    }

    /// Whether all points of the middle are alike.
    pub(super) fn is_uniform(&self) -> bool {
        self.uniform.is_some()
    }

    /// How much has been counted point by point.
    pub(super) fn spent(&self) -> u64 {
        self.uniform.as_deref().map_or(0, Uniform::spent)
    }

    /// Whether it is known which accesses happen.
    pub(super) fn is_certain(&self) -> bool {
        self.program.is_certain
    }

    /// Counts one part of a tile of these sizes: in space, then, if the approach has any, time steps.
    pub(super) fn part(&self, at: usize, sizes: &[u64]) -> Result<Counted, Error> {
        let key = (at, sizes.to_vec());
        if let Some(known) = self.counted.borrow().get(&key) {
            return Ok(*known);
        }
        let counted = self.count_part(at, sizes)?;
        self.counted.borrow_mut().insert(key, counted);
        Ok(counted)
    }

    fn count_part(&self, at: usize, sizes: &[u64]) -> Result<Counted, Error> {
        let (part, slant) = &self.parts[at];
        let quick = self.uniform.as_ref().and_then(|it| it.count(part, self.approach, slant, sizes));
        match quick {
            Some(Some(counts)) => Ok(Ok((counts, Way::Points))),
            Some(None) => Ok(Err(Refused::Chain)),
            // Sets of so many points would take minutes.
            None if self.is_uniform() => Ok(Err(Refused::Beyond)),
            None => {
                let Some(ends) = &self.ends[at] else { return Ok(Err(Refused::Empty)) };
                match shape::tile(self.ctx, self.program, part, self.approach, (slant, ends.as_slice()), sizes)? {
                    Ok(tile) => Ok(Ok((count(self.program, &tile)?, Way::Sets))),
                    Err(NoTile::Chain) => Ok(Err(Refused::Chain)),
                    Err(NoTile::Beyond) => Ok(Err(Refused::Beyond)),
                }
            }
        }
    }

    /// Counts a tile of these sizes, and tells how all of it was counted.
    pub(super) fn tile(&self, sizes: &[u64]) -> Result<Counted, Error> {
        let mut sum: Option<(Counts, Way)> = None;
        for at in 0..self.parts.len() {
            let (this, way) = match self.part(at, sizes)? {
                Ok(counted) => counted,
                Err(refused) => return Ok(Err(refused)),
            };
            sum = Some(match sum {
                None => (this, way),
                Some((sum, before)) => (after(&sum, &this), if before == Way::Sets { before } else { way }),
            });
        }
        Ok(sum.ok_or(Refused::TooSmall))
    }

    /// The size along each dimension of space, then the time steps, from which on edges of tiles do not meet.
    pub(super) fn least(&self) -> Vec<u64> {
        let Some((part, _)) = self.parts.first() else { return vec![] };
        let count = part.names.len() + usize::from(self.approach != Approach::Plain);
        let mut least = vec![LEAST; count];
        for (part, slant) in self.parts.iter().filter(|_| self.is_uniform()) {
            let mine = self.uniform.iter().flat_map(|it| it.least(part, slant));
            least.iter_mut().zip(mine).for_each(|(least, mine)| *least = mine.clamp(*least, MOST_LEAST));
        }
        least
    }

    /// The most useful results that a tile can have.
    pub(super) fn most_useful(&self) -> Result<u64, Error> {
        self.program.useful()
    }

    /// The largest size along each dimension of space, then the most time steps, for which there is room in the loops. Where
    /// all points are alike, the loops are as long as a tile needs, unless they have constant bounds.
    pub(super) fn room(&self) -> Result<Vec<u64>, Error> {
        let Some((part, _)) = self.parts.first() else { return Ok(vec![]) };
        let mut room = match self.is_uniform() {
            true => shape::constant_extents(self.ctx, self.program, part)?
                .into_iter()
                .map(|extent| extent.unwrap_or(u64::MAX))
                .collect(),
            false => self.ends[0].iter().flatten().map(|(low, high)| (high - low + 1) as u64).collect::<Vec<_>>(),
        };
        if part.has_time && !room.is_empty() {
            room.rotate_left(1);
        }
        room.truncate(part.names.len() + usize::from(self.approach != Approach::Plain));
        Ok(room)
    }

    /// How far space moves with time, and with itself.
    pub(super) fn place(&self) -> (Vec<i64>, Vec<Vec<i64>>) {
        self.parts.last().map(|(_, it)| (it.skew.clone(), it.lean.clone())).unwrap_or_default()
    }
}

/// What tiles of an approach consist of, and where they lie: sweeps one after the other, or all at once.
fn parts(
    ctx: &Ctx,
    program: &Program,
    band: &Band,
    approach: Approach,
) -> Result<Result<Vec<(Band, Slant)>, Refused>, Error> {
    let parts = match approach {
        Approach::Plain => band::sweeps(program, band),
        Approach::Skewed | Approach::Redundant if !band.has_time => return Ok(Err(Refused::NoTime)),
        Approach::Skewed | Approach::Redundant => vec![band.clone()],
    };
    let mut placed = vec![];
    for part in parts {
        let slant = match approach {
            Approach::Redundant => Some(Slant::none(&part)),
            Approach::Plain | Approach::Skewed => slant::slant(ctx, program, &part, approach)?,
        };
        let Some(slant) = slant else { return Ok(Err(Refused::Order)) };
        placed.push((slant.leaning(&part)?, slant));
    }
    Ok(Ok(placed))
}

/// The counts of two parts that run one after the other.
fn after(first: &Counts, then: &Counts) -> Counts {
    Counts {
        cost: both(&first.cost, &then.cost),
        footprint: first.footprint.max(then.footprint),
        run: first.run + then.run,
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
