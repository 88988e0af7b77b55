//! Products with fewer tiles than a GPU has multiprocessors: small tiles for these sizes, chosen when the kernel is launched.
//!
//! ```text
//! @block u0, v0 { S }  ->  if U + V > limit { @block u0, v0 { S } } else { @block u0, v0 { S_piece1, in small tiles } }
//! ```
//!
//! How many tiles `U x V` results make is no affine function of sizes, so what is compared is the sum of the tiles along both axes with
//! that of a square of as many tiles as there are multiprocessors. The statements are cut by the condition
//! ([`crate::transform::pieces_by_size`]), so both kernels are proved like any other two; for any sizes one of them has no instances.

use super::by_size::Apart;
use super::chooser::{Chooser, loop_at, tagged};
use super::gpu_product::Shape;
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

/// A product in tiles that some sizes make few of.
#[derive(Debug, Clone)]
pub(crate) struct Product {
    /// What adds up.
    id: ComputationId,
    /// Where the tiles are enough.
    enough: Condition,
    /// The nest that the kernel was made of.
    nest: Option<Node>,
}

impl Chooser<'_> {
    /// Notes for which sizes the product at `path`, in tiles of this shape along two of its levels, has enough blocks; nothing where that
    /// is not known.
    pub(super) fn weigh_blocks(
        &self,
        schedule: &Schedule,
        path: &Path,
        (u, v): (usize, usize),
        shape: Shape,
    ) -> Result<(), Error> {
        let Some((&id, at_u)) = loop_at(schedule, &path.down(u)).and_then(|it| it.at.iter().next()) else {
            return Ok(());
        };
        let Some(at_v) = loop_at(schedule, &path.down(v)).and_then(|it| it.at.get(&id)) else { return Ok(()) };
        let (Some(along_u), Some(along_v)) = (self.length(id, at_u)?, self.length(id, at_v)?) else { return Ok(()) };
        let [tile_u, tile_v] = shape.tile().map(i64::from);
        // Of a triangle, half of the tiles have results.
        let part = if self.is_box(id, at_u, at_v)? { 1 } else { 2 };
        let shared = gcd(tile_u, tile_v);
        let all = along_u.scale(tile_v / shared)?.add(&along_v.scale(tile_u / shared)?)?;
        let most = least_sum(part * i64::from(self.machine.multiprocessors), tile_u * tile_v / shared);
        let enough = greater(self.algorithm, &all, most)?;
        self.products.borrow_mut().push(Product { id, enough, nest: None });
        Ok(())
    }

    /// Notes the nest that products below it were made of.
    pub(super) fn note_nest(&self, nest: &Node) {
        let ids = nest.computations();
        self.products.borrow_mut().iter_mut().filter(|it| it.nest.is_none() && ids.contains(&it.id)).for_each(|it| {
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

/// The sum of the sides of a square of so many tiles of `results` each, the sides counted so that a tile along each is `results`.
fn least_sum(tiles: i64, results: i64) -> i64 {
    (4 * tiles * results * results).isqrt()
}

/// The program with small tiles for those products that have few blocks for some sizes; `None` if there are none.
pub(crate) fn apart(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    means: Means,
    products: &[Product],
) -> Result<Option<Apart>, Error> {
    let mut seen = BTreeSet::new();
    let last = products.iter().rev().filter(|product| seen.insert(product.id));
    Apart::each(scheduled, dependences, last, |now, product| one_apart(ctx, now, means, product))
}

fn one_apart(ctx: &Ctx, before: &Apart, means: Means, product: &Product) -> Result<Option<Apart>, Error> {
    let Some(kernel) = kernel_of(&before.scheduled.schedule, product.id) else { return Ok(None) };
    let inside = before.scheduled.schedule.node(&kernel).map(Node::computations).unwrap_or_default();
    let large: BTreeSet<ComputationId> = inside.iter().copied().collect();
    let Some(nest) = product.nest.as_ref().and_then(|nest| nest.restricted(&large)) else { return Ok(None) };
    if nest.computations().into_iter().collect::<BTreeSet<_>>() != large {
        return Ok(None);
    }
    let Some((now, pieces)) = before.cut(ctx, &inside, &product.enough)? else { return Ok(None) };
    let Apart { scheduled, commands, dependences } = now;
    let mut schedule = scheduled.schedule.clone();
    let Some(node) = schedule.node_mut(&kernel) else { return Ok(None) };
    let Some(first) = node.restricted(&large) else { return Ok(None) };
    *node = Node::Sequence(vec![first, of_pieces(&nest, &pieces)]);
    let merged = legality::merged(&dependences)?;
    let (tagged, small) = (tagged(&schedule), pieces.values().copied().collect());
    let chooser = Chooser { tagged, small, ..Chooser::of(ctx, &scheduled, &merged, means) };
    chooser.gpu_nest(&mut schedule, &kernel.child(1))?;
    if pieces.get(&product.id).is_none_or(|&id| kernel_of(&schedule, id).is_none()) {
        return Ok(None);
    }
    simplify(&mut schedule.root);
    legality::check(ctx, &scheduled.algorithm, &schedule, &dependences)?;
    Ok(Some(Apart { scheduled: Scheduled { schedule, ..scheduled }, commands, dependences }))
}

/// Where the kernel begins in whose tiles a product adds up.
fn kernel_of(schedule: &Schedule, id: ComputationId) -> Option<Path> {
    let around = schedule.loops_around(id);
    let first = around.iter().position(|(_, it)| matches!(it.tag, Tag::GpuBlock(_)))?;
    let inside: Vec<Tag> = around[first..].iter().map(|(_, it)| it.tag).collect();
    let [Tag::GpuBlock(_), Tag::GpuBlock(_), Tag::Sequential, Tag::GpuThread(_), Tag::GpuThread(_), points @ ..] =
        inside.as_slice()
    else {
        return None;
    };
    // Terms, and points along both axes, which may lie in groups.
    let is_product = matches!(points.len(), 3 | 5) && points.iter().all(|tag| matches!(tag, Tag::Unroll(_)));
    is_product.then(|| around[first].0.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_of_as_many_tiles_as_multiprocessors_is_enough() {
        // 144 tiles of 128 x 128 are 12 along each axis.
        assert_eq!(least_sum(144, 128), 2 * 12 * 128);
        assert_eq!(least_sum(132, 128), 2941);
        // As many in a triangle, which is half of the square.
        assert_eq!(least_sum(2 * 72, 128), least_sum(144, 128));
    }
}
