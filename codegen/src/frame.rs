//! Frames: one convex set for what the loops around several nests run through.
//!
//! Nests that share tiles have something to do in different ones. isl looks at every set of nests that do, so its work, and the code, grow
//! with the product of their cases. A frame is a statement that stands for all of the nests, with an instance for each iteration in
//! a convex set around theirs. The loops around are made for the frame alone; then each instance of it becomes the
//! instances of the nests in that iteration (an expansion, in isl's words). The nests keep their exact bounds, so an iteration
//! in which none has something to do runs nothing.

use crate::error::CodegenError;
use crate::input::Input;
use crate::separate::of_core;
use std::collections::BTreeMap;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::effort;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::{self, DimType, Id, MultiAff, Set, UnionPwMultiAff, UnionSet};
use tessella_polyhedral::relation;
use tessella_polyhedral::schedule::{Node, Path};

/// The nests of a sequence as one statement.
pub struct Frame {
    /// `{ frame[loops] }`: what the loops around the sequence run through; convex.
    pub iterations: Set,
    /// `{ S[x] -> frame[loops] }`: the iteration of each instance.
    contraction: UnionPwMultiAff,
    /// `{ idle[loops] }`: what a frame becomes even where no nest has something to do. isl would look for those iterations else.
    idle: Set,
}

const IDLE: &str = "idle ";

/// Whether a statement of this name does nothing, in a frame. Users' names have no spaces.
pub fn is_idle(name: &str) -> bool {
    name.starts_with(IDLE)
}

impl Frame {
    /// The schedule of the nests as one of the frame's instances, each of which becomes theirs.
    pub fn around(&self, nests: &isl::Schedule) -> Result<isl::Schedule, CodegenError> {
        let frame = isl::Schedule::from_domain(&UnionSet::from_set(&self.iterations)?)?;
        let idle = isl::Schedule::from_domain(&UnionSet::from_set(&self.idle)?)?;
        Ok(frame.expand(&self.contraction, &idle.sequence(nests)?)?)
    }
}

/// The frame of this number for the sequence `node` at `at`, if that has several nests, in loops, and a convex set is found in which no loop is
/// without bounds. Computations that run right after another one, for the same instances, are given by that one.
pub fn frame(
    input: &Input<'_>,
    number: usize,
    node: &Node,
    at: &Path,
    followers: &BTreeMap<ComputationId, Vec<ComputationId>>,
) -> Result<Option<Frame>, CodegenError> {
    let Node::Sequence(children) = node else { return Ok(None) };
    let nests = children.iter().filter(|it| matches!(it, Node::Loop(_))).count();
    let computations = node.computations();
    if nests < 2 || computations.iter().any(|&id| outer(input, id, at).is_empty()) {
        return Ok(None);
    }
    let follow: Vec<ComputationId> = followers.values().flatten().copied().collect();
    let leaders: Vec<ComputationId> = computations.into_iter().filter(|id| !follow.contains(id)).collect();
    let found = |sizes| iterations(input, &leaders, at, followers, sizes).map_err(of_core);
    let found = match found(Sizes::All)? {
        None => found(Sizes::Passing)?,
        found => found,
    };
    let Some(iterations) = found else { return Ok(None) };
    // Users' names have no spaces.
    let name = Id::new(input.algorithm.context.ctx(), &format!("frame {number}"))?;
    let iterations = input.unused.without_in_set(iterations.set_tuple_id(&name)?)?;
    let idle = Set::universe(&iterations.space()?)?
        .set_tuple_id(&Id::new(input.algorithm.context.ctx(), &format!("{IDLE}{number}"))?)?;
    let itself = idle.identity()?.set_tuple_id(DimType::Out, &name)?;
    let mut contraction = UnionPwMultiAff::from_union_map(&itself.to_union_map()?)?;
    for id in leaders {
        let (space, params) = (input.instances(id)?.space()?, input.algorithm.param_names());
        let functions = outer(input, id, at);
        let values = functions.iter().map(|it| it.to_isl(&space, &params)).collect::<Result<Vec<_>, _>>()?;
        let to_frame = space.add_named_tuple(&name, values.len() as u32)?;
        let own = UnionPwMultiAff::from_multi_aff(&MultiAff::from_affs(&to_frame, &values)?)?;
        contraction = contraction.union_add(&own)?;
    }
    Ok(Some(Frame { iterations, contraction, idle }))
}

/// For which sizes a convex set is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sizes {
    /// All for which a statement runs.
    All,
    /// Those that pass the checks at entry. It takes more work to look at these, and they bound loops over what has no other bound.
    Passing,
}

/// The functions of the loops around a computation that stand above `at`.
fn outer(input: &Input<'_>, id: ComputationId, at: &Path) -> Vec<Affine> {
    let above = input.schedule.loops_around(id).into_iter().filter(|(path, _)| path.0.len() < at.0.len());
    above.map(|(_, it)| it.at[&id].clone()).collect()
}

/// `{ [loops] }`: a convex set around all iterations of the loops above `at` in which something runs; `None` where a loop would have no bound.
fn iterations(
    input: &Input<'_>,
    leaders: &[ComputationId],
    at: &Path,
    followers: &BTreeMap<ComputationId, Vec<ComputationId>>,
    sizes: Sizes,
) -> Result<Option<Set>, Error> {
    let ctx = input.algorithm.context.ctx();
    let mut all: Option<Set> = None;
    let passing = match sizes {
        Sizes::All => None,
        Sizes::Passing => Some(passing(input, leaders)?),
    };
    for &id in leaders {
        let mut instances = relation::inside(ctx, input.algorithm, id)?;
        // What one of them touches bounds the others, too.
        for &next in followers.get(&id).into_iter().flatten() {
            instances = instances
                .intersect(&relation::inside(ctx, input.algorithm, next)?.set_tuple_id(&instances.tuple_id()?)?)?;
        }
        if let Some(passing) = &passing {
            instances = instances.intersect_params(passing)?.coalesce()?;
        }
        let loops = relation::functions(ctx, input.algorithm, id, &outer(input, id, at))?;
        // Numbers of tiles add up divisions, which isl would look for in every piece of the hull; without them it is no less convex.
        let own = loops.intersect_domain(&instances)?.range()?.remove_divs()?;
        all = Some(match all {
            None => own,
            Some(all) => all.union(&own)?,
        });
    }
    let Some(all) = all else { return Ok(None) };
    let hull = Set::from_basic_set(&all.coalesce()?.simple_hull()?)?.gist_params(&input.context()?)?;
    // Extents of arrays bound the loops once more where the nests' own sizes do, and every loop has all of these bounds to compare.
    let own = effort::involved(input.algorithm, input.schedule);
    let mut others = (0..).zip(own).filter(|(_, is_own)| !is_own).map(|(at, _)| at);
    let narrow =
        others.try_fold(hull.clone(), |left, at| left.drop_constraints_involving_dims(DimType::Param, at, 1))?;
    for hull in [narrow, hull] {
        if is_bounded(&hull)? {
            return Ok(Some(hull));
        }
    }
    Ok(None)
}

/// Whether each loop of a set has an end on both sides.
fn is_bounded(set: &Set) -> Result<bool, Error> {
    for dim in 0..set.dim(DimType::Set)? {
        if !set.is_dim_bounded(DimType::Set, dim)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A conjunction around the sizes for which one of these runs and that pass the checks at entry.
fn passing(input: &Input<'_>, leaders: &[ComputationId]) -> Result<Set, Error> {
    let algorithm = input.algorithm;
    let mut runs = Set::empty(&algorithm.context.space()?)?;
    for &id in leaders {
        runs = runs.union(&relation::domain(algorithm, id)?.params()?)?;
    }
    // What an alternative asks for where a statement does not run bounds nothing else.
    let sizes = relation::hull(&runs.coalesce()?)?.intersect(&input.context()?)?;
    let requirements = algorithm.requirements.iter().map(|it| &it.holds);
    let checks = requirements.chain(input.checks.iter().map(|it| &it.holds));
    Ok(relation::conjunction_around(&sizes, checks)?)
}
