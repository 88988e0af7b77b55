//! Sums whose threads have several results, where these make fewer blocks than a GPU has multiprocessors: small tiles of a product, or
//! threads with one result each, for these sizes, chosen when the kernel is launched.
//!
//! ```text
//! @block u0, v0 { S }  ->  if U + V > limit { @block u0, v0 { S } } else { @block u0, v0 { S_piece1, in small tiles } }
//! ```
//!
//! How many tiles `U x V` results make is no affine function of sizes, so what is compared is the sum of the tiles along all axes with
//! that of a square, or a cube, of as many tiles as there are multiprocessors. The statements are cut by the condition
//! ([`crate::transform::pieces_by_size`]), so both kernels are proved like any other two; for any sizes one of them has no instances.

use super::by_size::Apart;
use super::chooser::{Chooser, loop_at, tagged};
use crate::affine::{Affine, gcd};
use crate::algorithm::ComputationId;
use crate::condition::{Condition, greater};
use crate::default_order::Means;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::{Aff, Ctx, Set};
use crate::layers::Scheduled;
use crate::legality;
use crate::relation;
use crate::schedule::{Node, Path, Schedule, Tag};
use crate::transform::{of_pieces, simplify};
use std::collections::BTreeSet;

/// Sums in tiles that some sizes make few of.
#[derive(Debug, Clone)]
pub(crate) struct Tiled {
    /// What adds up.
    id: ComputationId,
    /// Where the tiles are enough.
    enough: Condition,
    /// The nest that the kernel was made of.
    nest: Option<Node>,
}

impl Chooser<'_> {
    /// Notes for which sizes sums of `id` at `path`, in tiles of so many results along levels of the nest, have enough blocks; nothing
    /// where that is not known.
    pub(super) fn weigh_blocks(
        &self,
        schedule: &Schedule,
        path: &Path,
        id: ComputationId,
        tiles: &[(usize, u32)],
    ) -> Result<(), Error> {
        let mut along: Vec<(&Affine, Affine, i64)> = vec![];
        // Blocks along axes whose length is known.
        let mut known: i64 = 1;
        for &(level, tile) in tiles {
            let Some(at) = loop_at(schedule, &path.down(level)).and_then(|it| it.at.get(&id)) else { return Ok(()) };
            let Some(length) = self.length(id, at)? else { return Ok(()) };
            match length.as_constant() {
                Some(length) => known = known.saturating_mul((length.max(1) - 1) / i64::from(tile) + 1),
                None => along.push((at, length, i64::from(tile))),
            }
        }
        if along.is_empty() {
            return Ok(());
        }
        let shared = along.iter().fold(1, |all, (_, _, tile)| all / gcd(all, *tile) * tile);
        let mut all = Affine::default();
        for (_, length, tile) in &along {
            all = all.add(&length.scale(shared / tile)?)?;
        }
        // Of a triangle, half of the tiles have results.
        let part = match along.as_slice() {
            [(u, ..), (v, ..)] if !self.is_box(id, u, v)? => 2,
            _ => 1,
        };
        let wanted = (i64::from(self.machine.multiprocessors) - 1) / known + 1;
        let most = least_sum(part * wanted, shared, along.len());
        let enough = greater(self.algorithm, &all, most);
        self.tiled.borrow_mut().push(Tiled { id, enough, nest: None });
        Ok(())
    }

    /// Notes the nest that sums in tiles below it were made of.
    pub(super) fn note_nest(&self, nest: &Node) {
        let ids = nest.computations();
        self.tiled.borrow_mut().iter_mut().filter(|it| it.nest.is_none() && ids.contains(&it.id)).for_each(|it| {
            it.nest = Some(nest.clone());
        });
    }

    /// How many values an expression of a computation's iterators passes through, as a function of sizes.
    pub(super) fn length(&self, id: ComputationId, at: &Affine) -> Result<Option<Affine>, Error> {
        let values = relation::function(self.ctx, self.algorithm, id, at)?
            .intersect_domain(&relation::domain(self.algorithm, id)?)?
            .range()?;
        let (low, high) = (values.dim_min(0)?.pieces()?, values.dim_max(0)?.pieces()?);
        let names = self.algorithm.param_names();
        let of_sizes = |pieces: &[(Set, Aff)]| match pieces {
            [(_, aff)] => Affine::from_isl(aff, &names),
            _ => Ok(None),
        };
        let (Some(low), Some(high)) = (of_sizes(&low)?, of_sizes(&high)?) else { return Ok(None) };
        Ok(Some(high.sub(&low)?.add_constant(1)?))
    }

    /// Whether each value of one expression goes with each of the other.
    fn is_box(&self, id: ComputationId, u: &Affine, v: &Affine) -> Result<bool, Error> {
        let domain = relation::domain(self.algorithm, id)?;
        let values = |each: &[Affine]| -> Result<Set, Error> {
            Ok(relation::functions(self.ctx, self.algorithm, id, each)?.intersect_domain(&domain)?.range()?)
        };
        let (u, v) = (u.clone(), v.clone());
        let all = values(std::slice::from_ref(&u))?.flat_product(&values(std::slice::from_ref(&v))?)?;
        Ok(all.is_subset(&values(&[u, v])?)?)
    }
}

/// The sum of the sides of a square, or a cube, of so many tiles, the sides counted so that a tile along each is `results`.
fn least_sum(tiles: i64, results: i64, axes: usize) -> i64 {
    let axes = axes as f64;
    // What is whole stays whole.
    (axes * results as f64 * (tiles as f64).powf(axes.recip()) + 1e-6).floor() as i64
}

/// The program with small tiles for those sums that have few blocks for some sizes; `None` if there are none.
pub(crate) fn apart(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    means: Means,
    tiled: &[Tiled],
) -> Result<Option<Apart>, Error> {
    let mut seen = BTreeSet::new();
    let last = tiled.iter().rev().filter(|tiled| seen.insert(tiled.id));
    Apart::each(scheduled, dependences, last, |now, tiled| one_apart(ctx, now, means, tiled))
}

fn one_apart(ctx: &Ctx, before: &Apart, means: Means, tiled: &Tiled) -> Result<Option<Apart>, Error> {
    let Some(kernel) = kernel_of(&before.scheduled.schedule, tiled.id) else { return Ok(None) };
    let inside = before.scheduled.schedule.node(&kernel).map(Node::computations).unwrap_or_default();
    let large: BTreeSet<ComputationId> = inside.iter().copied().collect();
    let Some(nest) = tiled.nest.as_ref().and_then(|nest| nest.restricted(&large)) else { return Ok(None) };
    if nest.computations().into_iter().collect::<BTreeSet<_>>() != large {
        return Ok(None);
    }
    let Some((now, pieces)) = before.cut(ctx, &inside, &tiled.enough)? else { return Ok(None) };
    let Apart { scheduled, commands, dependences } = now;
    let mut schedule = scheduled.schedule.clone();
    let Some(node) = schedule.node_mut(&kernel) else { return Ok(None) };
    let Some(first) = node.restricted(&large) else { return Ok(None) };
    *node = Node::Sequence(vec![first, of_pieces(&nest, &pieces)]);
    let merged = legality::merged(&dependences)?;
    let (tagged, small) = (tagged(&schedule), pieces.values().copied().collect());
    let chooser = Chooser { tagged, small, ..Chooser::of(ctx, &scheduled, &merged, means) };
    chooser.gpu_nest(&mut schedule, &kernel.child(1))?;
    if pieces.get(&tiled.id).is_none_or(|&id| kernel_of(&schedule, id).is_none()) {
        return Ok(None);
    }
    simplify(&mut schedule.root);
    legality::check(ctx, &scheduled.algorithm, &schedule, &dependences)?;
    Ok(Some(Apart { scheduled: Scheduled { schedule, ..scheduled }, commands, dependences }))
}

/// Where the kernel begins whose threads add up several results each, or one.
fn kernel_of(schedule: &Schedule, id: ComputationId) -> Option<Path> {
    let around = schedule.loops_around(id);
    let first = around.iter().position(|(_, it)| matches!(it.tag, Tag::GpuBlock(_)))?;
    let inside: Vec<Tag> = around[first..].iter().map(|(_, it)| it.tag).collect();
    let unrolled = |tags: &[Tag]| tags.iter().all(|tag| matches!(tag, Tag::Unroll(_)));
    let is_tiled = match inside.as_slice() {
        // Terms, and points along both axes, which may lie in groups.
        [Tag::GpuBlock(_), Tag::GpuBlock(_), Tag::Sequential, Tag::GpuThread(_), Tag::GpuThread(_), points @ ..] => {
            matches!(points.len(), 3 | 5) && unrolled(points)
        }
        // Terms inside of each thread.
        [blocks_and_threads @ .., Tag::Unroll(_)] => {
            let is_inside = |tag: &Tag| matches!(tag, Tag::Sequential | Tag::Unroll(_));
            let threads = blocks_and_threads.iter().rposition(|tag| matches!(tag, Tag::GpuThread(_)))?;
            blocks_and_threads[threads + 1..].iter().all(is_inside)
        }
        _ => false,
    };
    is_tiled.then(|| around[first].0.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_of_as_many_tiles_as_multiprocessors_is_enough() {
        // 144 tiles of 128 x 128 are 12 along each axis.
        assert_eq!(least_sum(144, 128, 2), 2 * 12 * 128);
        assert_eq!(least_sum(132, 128, 2), 2941);
        // As many in a triangle, which is half of the square.
        // 125 cubes are 5 along each axis.
        assert_eq!(least_sum(125, 32, 3), 3 * 5 * 32);
        assert_eq!(least_sum(2 * 72, 128, 2), least_sum(144, 128, 2));
    }
}
