//! Counts the tile that is best by formulas, and looks around it where these are wrong.

use super::Cost;
use super::count::Counts;
use super::counter::Counter;
use super::fit::Fit;
use super::rank::{Refused, Trust};
use crate::error::Error;
use crate::isl::Ctx;

/// What isl may count for the tiles of one approach.
const OPERATIONS: u64 = 20_000_000;
/// So many tiles are counted at most.
const MOST_TILES: u32 = 48;

/// A tile, and how far its numbers can be trusted.
pub(super) struct Found {
    pub(super) sizes: Vec<u64>,
    pub(super) counts: Counts,
    pub(super) trust: Trust,
}

/// The best tile of a fit that takes no more than so many elements of memory, by its own counts wherever these can be had.
pub(super) fn best(ctx: &Ctx, fit: &Fit, counter: &Counter<'_>, memory: u64) -> Result<Result<Found, Refused>, Error> {
    let (sizes, cost, all) = match fit.best(memory) {
        Ok(best) => best,
        Err(refused) => return Ok(Err(refused)),
    };
    let formula = Counts { cost, footprint: fit.footprint(&sizes), run: fit.run(&sizes) };
    let mut search = Search { counter, memory, left: MOST_TILES, best: None, least: None };
    let mut agrees = false;
    let looked = ctx.with_budget(OPERATIONS, || {
        let counted = search.count(&sizes)?;
        agrees = counted.is_some_and(|it| it.cost == cost) && fit.trust(&sizes) == Trust::Exact && all;
        // Tiles that are half as long as a loop come near its ends, where formulas may be wrong. Where all points are alike, loops
        // are as long as a tile needs.
        let is_long = sizes.iter().zip(&fit.room).any(|(size, room)| *size > room / 2);
        let is_doubtful = if counter.is_uniform() { !fit.all_sizes } else { is_long };
        if !agrees || is_doubtful {
            search.around(&sizes, &fit.room)?;
        }
        Ok(())
    });
    match looked {
        Ok(()) => {}
        Err(error) if Error::is_quota(&error) => {}
        Err(other) => return Err(other),
    }
    let is_right = agrees && search.best.as_ref().is_some_and(|(best, _)| *best == sizes);
    Ok(match (search.best, search.least) {
        (Some((sizes, counts)), _) => {
            let sure = if is_right { Trust::Exact } else { Trust::Counted };
            Ok(Found { sizes, counts, trust: if counter.is_certain() { sure } else { Trust::Estimate } })
        }
        (None, Some(least)) => Err(Refused::Memory { least }),
        (None, None) => {
            let most = counter.most_useful()?;
            let cost = Cost { useful: formula.cost.useful.min(most), ..formula.cost };
            let counts = Counts { cost, run: formula.run.max(cost.useful), ..formula };
            Ok(Found { sizes, counts, trust: Trust::Estimate })
        }
    })
}

/// Looks for better tiles by counting them.
struct Search<'a> {
    counter: &'a Counter<'a>,
    memory: u64,
    /// How many tiles may still be counted.
    left: u32,
    /// The best one that fits.
    best: Option<(Vec<u64>, Counts)>,
    /// The least memory of those that do not.
    least: Option<u64>,
}

impl Search<'_> {
    /// Counts a tile, and keeps it if it is the best that fits.
    fn count(&mut self, sizes: &[u64]) -> Result<Option<Counts>, Error> {
        self.left = self.left.saturating_sub(1);
        let Ok((counts, _)) = self.counter.tile(sizes)? else { return Ok(None) };
        if counts.cost.memory > self.memory {
            self.least = Some(self.least.map_or(counts.cost.memory, |least| least.min(counts.cost.memory)));
        } else if self.best.as_ref().is_none_or(|(_, best)| counts.cost.is_better_than(&best.cost)) {
            self.best = Some((sizes.to_vec(), counts));
        }
        Ok(Some(counts))
    }

    /// Halves the largest size until a tile fits, then moves single sizes as long as that gives better ones, by ever
    /// shorter ways.
    fn around(&mut self, start: &[u64], room: &[u64]) -> Result<(), Error> {
        let mut sizes = start.to_vec();
        while self.best.is_none() && self.left > 0 {
            let Some(largest) = sizes.iter_mut().max().filter(|size| **size > 1) else { return Ok(()) };
            *largest /= 2;
            self.count(&sizes)?;
        }
        let Some(mut at) = self.best.as_ref().map(|(sizes, _)| sizes.clone()) else { return Ok(()) };
        let mut way = at.iter().copied().max().unwrap_or(1).div_ceil(2);
        while way > 0 {
            for dimension in 0..at.len() {
                for moved in [at[dimension].saturating_add(way), at[dimension].saturating_sub(way)] {
                    if self.left == 0 {
                        return Ok(());
                    }
                    let mut next = at.clone();
                    next[dimension] = moved.clamp(1, room[dimension]);
                    if next != at {
                        self.count(&next)?;
                    }
                }
            }
            match &self.best {
                Some((best, _)) if *best != at => at = best.clone(),
                Some(_) | None => way /= 2,
            }
        }
        Ok(())
    }
}
