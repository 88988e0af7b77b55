//! Which tiles there are, and what each of them computes.

use super::halo::{FARTHEST, Halos, Side};
use super::sizes::Sizes;
use super::stencil::{Place, Stencil};
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId, ComputationId};
use crate::error::Error;
use crate::isl::{Ctx, DimType, Id, Map, Set, Space};
use crate::relation;
use std::collections::BTreeMap;

/// Blocks of time steps, tiles of space, and how far the tiles' regions reach.
pub(super) struct Regions {
    pub(super) steps: i64,
    pub(super) sizes: Vec<i64>,
    /// Where the first tile begins, along each dimension.
    pub(super) origins: Vec<i64>,
    /// `{ [block, tile...] }`: those in which the source runs something.
    pub(super) tiles: Set,
    pub(super) halos: Halos,
    /// What blocks hand on of each array, `{ A[e] }`: the elements that the loop writes; of an array that goes from block to block
    /// perhaps others between them, which keep their values.
    pub(super) handed: BTreeMap<ArrayId, Set>,
}

impl Regions {
    /// The number of loops over blocks and tiles.
    pub(super) fn keys(&self) -> usize {
        1 + self.sizes.len()
    }

    /// The first place of a tile along a dimension; the tile's number is iterator `tile`.
    pub(super) fn low(&self, dimension: usize, tile: u32) -> Result<Affine, Error> {
        Ok(Affine::iterator(tile).scale(self.sizes[dimension])?.add_constant(self.origins[dimension])?)
    }

    /// Whether an array stays where it is: a tile's own steps are all that touch what lies in it, and what a step leaves is more than the next one
    /// overwrites.
    pub(super) fn stays(&self, stencil: &Stencil<'_>, array: ArrayId) -> bool {
        let at_home = |id: ComputationId| self.halos.of[&id].iter().flatten().all(|side| *side == Side::default());
        let lasts = self.halos.carried.contains(&array)
            || stencil.has_elements_of_steps(array)
            || stencil.is_at_one_place(array);
        lasts && stencil.is_touched_in_place(array) && stencil.touching(array).all(at_home)
    }

    /// The most that any region reaches beyond a tile along a dimension, below and above.
    pub(super) fn widest(&self, dimension: usize) -> [i64; 2] {
        let reach = |side: usize| {
            let all = self.halos.of.values().map(|of| of[dimension][side]);
            all.map(|it| it.at_end + it.slope * (self.steps - 1)).max().unwrap_or(0)
        };
        [reach(0), reach(1)]
    }
}

/// Where all places along a dimension of space lie, for sizes that count.
pub(super) struct Extent {
    dimension: usize,
    last: Affine,
}

/// Bounds on the places in which statements run, along the dimensions of space in which a convex set around them has none: where statements ask for
/// sizes of arrays of their own. One of the arrays that they write is as large as all of them then; `None` where none is.
pub(super) fn extents(ctx: &Ctx, stencil: &Stencil<'_>, met: &Sizes) -> Result<Option<Vec<Extent>>, Error> {
    let algorithm = stencil.algorithm;
    let mut places: Option<Set> = None;
    for &id in &stencil.statements {
        let position: Vec<Affine> = (0..stencil.dimensions()).map(|it| stencil.position(id, it).clone()).collect();
        let own = relation::domain(algorithm, id)?.apply(&relation::functions(ctx, algorithm, id, &position)?)?;
        places = Some(match places {
            None => own,
            Some(others) => others.union(&own)?,
        });
    }
    let around =
        Set::from_basic_set(&places.expect("a loop holds at least one computation").coalesce()?.simple_hull()?)?;
    let mut found = vec![];
    'dimensions: for dimension in 0..stencil.dimensions() {
        if around.is_dim_bounded(DimType::Set, dimension as u32)? {
            continue;
        }
        for &array in &stencil.arrays {
            let Place::Axis(axis) = stencil.places[&array][dimension] else { continue };
            let Some(last) = algorithm.array(array).extents.get(axis as usize) else { continue };
            let extent = Extent { dimension, last: last.clone() };
            if is_around(stencil, met, &extent)? {
                found.push(extent);
                continue 'dimensions;
            }
        }
        return Ok(None);
    }
    Ok(Some(found))
}

/// Whether no statement runs outside of these bounds, for sizes that count.
fn is_around(stencil: &Stencil<'_>, met: &Sizes, extent: &Extent) -> Result<bool, Error> {
    for &id in &stencil.statements {
        let domain = &stencil.algorithm.computation(id).domain;
        let outside = domain.subtract(&within(stencil, std::slice::from_ref(extent), id, domain)?)?.params()?;
        if !met.has_none_of(&outside)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A statement's instances within these bounds.
pub(super) fn within(
    stencil: &Stencil<'_>,
    extents: &[Extent],
    id: ComputationId,
    instances: &Set,
) -> Result<Set, Error> {
    let (space, names) = (instances.space()?, stencil.algorithm.param_names());
    let mut inside = instances.clone();
    for it in extents {
        let position = stencil.position(id, it.dimension);
        for bound in [position.add_constant(-1)?, it.last.sub(position)?] {
            inside = inside.intersect(&at_least_zero(&space, &names, &bound)?)?;
        }
    }
    Ok(inside)
}

/// The tiles of blocks of so many steps.
pub(super) fn regions(
    ctx: &Ctx,
    stencil: &Stencil<'_>,
    halos: Halos,
    steps: i64,
    sizes: &[i64],
) -> Result<Regions, Error> {
    let algorithm = stencil.algorithm;
    let mut origins: Vec<Option<i64>> = vec![];
    for dimension in 0..sizes.len() {
        let mut least: Option<i64> = Some(i64::MAX);
        for &id in &stencil.statements {
            let position = relation::function(ctx, algorithm, id, stencil.position(id, dimension))?;
            let values = relation::domain(algorithm, id)?.apply(&position)?;
            if values.is_empty()? {
                continue;
            }
            let own = values.project_out_all_params()?.dim_min_val(0)?.to_i64().filter(|it| it.abs() < FARTHEST);
            least = least.zip(own).map(|(least, own)| least.min(own));
        }
        origins.push(least.filter(|&it| it != i64::MAX));
    }
    let origins: Vec<i64> = origins.into_iter().map(|it| it.unwrap_or(0)).collect();
    let mut tiles: Option<Set> = None;
    for &id in &stencil.statements {
        let since = stencil.time[&id].sub(&stencil.first)?;
        let mut own = vec![since.floor_div(steps)];
        for (dimension, (&size, &origin)) in sizes.iter().zip(&origins).enumerate() {
            own.push(stencil.position(id, dimension).add_constant(-origin)?.floor_div(size));
        }
        let own = relation::domain(algorithm, id)?.apply(&relation::functions(ctx, algorithm, id, &own)?)?;
        tiles = Some(match tiles {
            None => own,
            Some(others) => others.union(&own)?,
        });
    }
    let mut tiles = tiles.expect("a loop holds at least one computation").coalesce()?;
    let mut handed = BTreeMap::new();
    for &array in &stencil.arrays {
        let written = stencil.written(ctx, array)?;
        if written.basic_set_count()? < 2 || !halos.carried.contains(&array) {
            handed.insert(array, written);
            continue;
        }
        let around = Set::from_basic_set(&written.simple_hull()?)?.intersect_params(&algorithm.context)?;
        // Each of them has a tile.
        let space = relation::param_space(ctx, algorithm)?;
        let mut place = Map::from_domain_and_range(&around, &Set::universe(&space.add_unnamed_tuple(0)?)?)?;
        for (dimension, (&size, &origin)) in sizes.iter().zip(&origins).enumerate() {
            let tile = stencil.places[&array][dimension].of_element(0).add_constant(-origin)?.floor_div(size);
            let value = tile.to_isl(&around.space()?, &algorithm.param_names())?;
            place = place.flat_range_product(&Map::from_aff(&value)?)?;
        }
        let blocks = blocks(ctx, stencil, steps)?;
        let theirs =
            Map::from_domain_and_range(&blocks, &around.apply(&place)?)?.wrap()?.flatten()?.reset_tuple_id()?;
        tiles = tiles.union(&theirs)?;
        handed.insert(array, around);
    }
    let tiles = tiles.coalesce()?;
    let tiles = Set::from_basic_set(&tiles.simple_hull()?)?.intersect_params(&algorithm.context)?;
    Ok(Regions { steps, sizes: sizes.to_vec(), origins, tiles, halos, handed })
}

/// `{ [block] }`: those of all sizes, whether a statement runs in them or not.
fn blocks(ctx: &Ctx, stencil: &Stencil<'_>, steps: i64) -> Result<Set, Error> {
    let algorithm = stencil.algorithm;
    let (space, names) = (relation::param_space(ctx, algorithm)?.add_unnamed_tuple(1)?, algorithm.param_names());
    let number = Affine::iterator(0);
    let begun = stencil.last.sub(&stencil.first)?.sub(&number.scale(steps)?)?;
    let blocks = at_least_zero(&space, &names, &number)?.intersect(&at_least_zero(&space, &names, &begun)?)?;
    Ok(blocks.intersect_params(&algorithm.context)?)
}

/// The instances of a statement in all tiles, `{ S[x, block, tile...] }`, and the map to those of the source.
pub(super) fn instances(
    ctx: &Ctx,
    stencil: &Stencil<'_>,
    regions: &Regions,
    next: &Algorithm,
    id: ComputationId,
) -> Result<(Set, Map), Error> {
    let source = stencil.algorithm.computation(id);
    let count = source.iterators.len() as u32;
    let keys = regions.keys() as u32;
    let space = relation::domain_space(ctx, next, id)?;
    let shorter = Set::universe(&space)?.identity()?.project_out(DimType::Out, count, keys)?;
    let shorter = shorter.set_tuple_id(DimType::Out, &Id::new(ctx, &source.name)?)?;
    let mut domain = shorter.intersect_range(&relation::domain(stencil.algorithm, id)?)?.domain()?;
    let all: Vec<Affine> = (count..count + keys).map(Affine::iterator).collect();
    domain = domain.intersect(&relation::functions(ctx, next, id, &all)?.intersect_range(&regions.tiles)?.domain()?)?;
    let names = next.param_names();
    // How many steps of the block come after this one.
    let since = stencil.time[&id].sub(&stencil.first)?.sub(&Affine::iterator(count).scale(regions.steps)?)?;
    let left = since.scale(-1)?.add_constant(regions.steps - 1)?;
    let mut limits = vec![since, left.clone()];
    for dimension in 0..regions.sizes.len() {
        let [below, above] = regions.halos.of[&id][dimension];
        let low = regions.low(dimension, count + 1 + dimension as u32)?;
        let offset = stencil.position(id, dimension).sub(&low)?;
        let reach = |side: Side| left.scale(side.slope)?.add_constant(side.at_end);
        limits.push(offset.add(&reach(below)?)?);
        limits.push(reach(above)?.add_constant(regions.sizes[dimension] - 1)?.sub(&offset)?);
    }
    for limit in &limits {
        domain = domain.intersect(&at_least_zero(&space, &names, limit)?)?;
    }
    for (at, name) in (0..).zip(&next.computation(id).iterators) {
        domain = domain.set_dim_name(DimType::Set, at, name)?;
    }
    Ok((domain, shorter))
}

/// The points at which an expression is not negative.
pub(super) fn at_least_zero(space: &Space, params: &[String], value: &Affine) -> Result<Set, Error> {
    let zero = Affine::constant(0).to_isl(space, params)?;
    Ok(value.to_isl(space, params)?.ge_set(&zero)?)
}
