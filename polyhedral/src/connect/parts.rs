//! Which part of an argument moves: a box around the elements whose values kernels see, and one around those that they write.
//!
//! All of a part that goes back holds what the caller is to find there: an element of it that no statement is sure to write comes in
//! before. So the part that comes in is a box around
//!
//! ```text
//! { elements that a statement reads before it is written } ∪ ({ what goes back } \ { what is surely written })
//! ```
//!
//! A part in one piece moves faster than one with gaps. So an axis along which no more than [`MARGIN`] places would be left out, as at
//! the border of a stencil, moves whole, unless an array need not come in at all without its border.

use super::surely_written;
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId};
use crate::dependence::LiveIn;
use crate::error::Error;
use crate::isl::{Aff, Ctx, DimType, PwAff, Set, Space};
use crate::layers::Stretch;
use crate::relation;

/// What isl may do to find the parts of one array.
const WORK: u64 = 400_000;
/// Fewer places along an axis are not worth gaps.
const MARGIN: i64 = 16;
/// Ends of a stretch that are the least, or the greatest, of more formulas are not taken.
const MOST_ENDS: usize = 3;

/// The copies of an array.
#[derive(Debug)]
pub(super) struct Moved {
    pub comes_in: Option<Copied>,
    pub goes_back: Option<Copied>,
}

#[derive(Debug)]
pub(super) struct Copied {
    /// As [`Transfer::needed`](crate::layers::Transfer::needed).
    pub needed: Option<Set>,
    /// As [`Transfer::part`](crate::layers::Transfer::part).
    pub part: Vec<Stretch>,
}

/// Which axes a part leaves places of out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axes {
    Worthwhile,
    All,
}

/// The copies of an argument of which a part moves; `None` where all of it does in each direction, or where it takes too much work to say.
/// The subscripts of `checked` are looked at when the program is called.
pub(super) fn moved(
    ctx: &Ctx,
    algorithm: &Algorithm,
    checked: &Algorithm,
    array: ArrayId,
    flows: &[&LiveIn],
) -> Result<Option<Moved>, Error> {
    let found = || {
        let runs = entered(ctx, checked, array)?.intersect(&algorithm.context)?;
        Parts { ctx, algorithm, array, names: algorithm.param_names(), runs }.find(flows)
    };
    // With dozens of sizes an operation takes many times as long.
    if relation::has_many_params(algorithm) {
        return Ok(None);
    }
    match ctx.with_budget(WORK, found) {
        Err(error) if error.is_quota() => Ok(None),
        found => found,
    }
}

/// Whether one part leaves no more out of the other than is not worth gaps: then what came in goes back.
fn is_little_more(part: &[Stretch], other: &[Stretch]) -> bool {
    let is_near = |lower: &[Affine], upper: &[Affine]| match (lower, upper) {
        ([lower], [upper]) => {
            let apart = upper.sub(lower).ok().and_then(|it| it.as_constant());
            apart.is_some_and(|it| (0..=MARGIN).contains(&it))
        }
        _ => lower == upper,
    };
    let are_near =
        |(a, b): (&Stretch, &Stretch)| a.axis == b.axis && is_near(&a.first, &b.first) && is_near(&b.last, &a.last);
    part.len() == other.len() && part.iter().zip(other).all(are_near)
}

/// The parameters for which a program passes the checks at entry that are about an array; or more.
fn entered(ctx: &Ctx, algorithm: &Algorithm, array: ArrayId) -> Result<Set, Error> {
    let mut runs = algorithm.context.clone();
    for requirement in &algorithm.requirements {
        // Dozens of accesses ask for much the same, and pieces of pieces are as many as their product.
        if !runs.is_subset(&requirement.holds)? {
            runs = runs.intersect(&requirement.holds)?.coalesce()?;
        }
    }
    let inside = relation::index_set(ctx, algorithm, array)?;
    for at in algorithm.accesses() {
        let access = algorithm.access(at);
        if access.array == array && access.checked {
            let touched = relation::access(ctx, algorithm, at.computation, access)?.range()?;
            runs = runs.subtract(&touched.subtract(&inside)?.params()?)?;
        }
    }
    Ok(runs.coalesce()?)
}

struct Parts<'a> {
    ctx: &'a Ctx,
    algorithm: &'a Algorithm,
    array: ArrayId,
    names: Vec<String>,
    /// The parameters that are looked at, all others end the call at entry; `[params] -> { : ... }`.
    runs: Set,
}

impl Parts<'_> {
    fn find(&self, flows: &[&LiveIn]) -> Result<Option<Moved>, Error> {
        let all = relation::index_set(self.ctx, self.algorithm, self.array)?;
        let whole = all.intersect_params(&self.runs)?;
        let mut seen = Set::empty(&whole.space()?)?;
        for flow in flows {
            let access = self.algorithm.access(flow.read);
            let read = relation::access(self.ctx, self.algorithm, flow.read.computation, access)?;
            seen = seen.union(&read.intersect_domain(&flow.live_in)?.range()?)?;
        }
        let (seen, sees) = (seen.intersect(&whole)?.coalesce()?, seen.params()?);
        if !self.algorithm.is_written(self.array) {
            let comes_in = self.around(&seen, &sees, &whole, Axes::Worthwhile)?;
            return Ok(comes_in.map(|(it, _)| Moved { comes_in: Some(it), goes_back: None }));
        }
        let written = self.written()?;
        let (written, writes) = (written.intersect(&whole)?.coalesce()?, written.params()?);
        let certain = surely_written(self.ctx, self.algorithm, self.array)?;
        let kept = |part: &Set| -> Result<Set, Error> {
            Ok(match &certain {
                Some(certain) => part.subtract(certain)?,
                None => part.clone(),
            })
        };
        let back = self.around(&written, &writes, &whole, Axes::Worthwhile)?;
        let missing = kept(back.as_ref().map_or(&whole, |(_, part)| part))?;
        if seen.is_empty()?
            && !missing.is_empty()?
            && let Some((exact, part)) = self.around(&written, &writes, &whole, Axes::All)?
            && kept(&part)?.is_empty()?
        {
            return Ok(Some(Moved { comes_in: None, goes_back: Some(exact) }));
        }
        let (needed, needs) = (seen.union(&missing)?.coalesce()?, sees.union(&missing.params()?)?);
        let comes_in = match needed.is_empty()? {
            true => None,
            false => Some(self.around(&needed, &needs, &whole, Axes::Worthwhile)?),
        };
        if back.is_none() && comes_in.as_ref().is_none_or(Option::is_none) {
            return Ok(None);
        }
        if let Some(Some((inward, part))) = &comes_in
            && let Some((outward, _)) = &back
            && is_little_more(&inward.part, &outward.part)
            && written.is_subset(part)?
        {
            let again = Copied { needed: inward.needed.clone(), part: inward.part.clone() };
            return Ok(Some(Moved { comes_in: comes_in.flatten().map(|(it, _)| it), goes_back: Some(again) }));
        }
        let comes_in = match comes_in {
            None => None,
            Some(Some((part, _))) => Some(part),
            Some(None) => {
                let some = all.intersect_params(&self.algorithm.context)?.params()?;
                Some(Copied { needed: self.unless_always(&needs, &some)?, part: vec![] })
            }
        };
        let goes_back = back.map_or(Copied { needed: None, part: vec![] }, |(it, _)| it);
        Ok(Some(Moved { comes_in, goes_back: Some(goes_back) }))
    }

    /// All elements that a statement may write.
    fn written(&self) -> Result<Set, Error> {
        let mut written = Set::empty(&relation::index_set(self.ctx, self.algorithm, self.array)?.space()?)?;
        for id in self.algorithm.ids() {
            let write = &self.algorithm.computation(id).write;
            if write.array == self.array {
                written = written.union(&relation::access(self.ctx, self.algorithm, id, write)?.range()?)?;
            }
        }
        Ok(written)
    }

    /// The parameters of a copy that is needed for these, or for more; `None` if that is whenever those of `context` hold.
    fn unless_always(&self, needed: &Set, context: &Set) -> Result<Option<Set>, Error> {
        let needed = needed.remove_divs()?.coalesce()?;
        Ok(if context.is_subset(&needed)? { None } else { Some(needed.gist(context)?) })
    }

    /// A box around some elements of an array, and what is in it; `None` if that is all of the array, or not shown to be inside of it.
    /// There are such elements for `needed` at most.
    fn around(&self, elements: &Set, needed: &Set, whole: &Set, axes: Axes) -> Result<Option<(Copied, Set)>, Error> {
        let mut part = vec![];
        for axis in 0..self.algorithm.array(self.array).rank {
            part.extend(self.stretch(elements, axis, axes)?);
        }
        if part.is_empty() {
            return Ok(None);
        }
        let needed = self.unless_always(needed, &self.algorithm.context)?;
        let mut inside = relation::index_set(self.ctx, self.algorithm, self.array)?;
        // Along axes of which all moves there is no other place.
        for stretch in &part {
            inside = inside.drop_constraints_involving_dims(DimType::Set, stretch.axis, 1)?;
        }
        for stretch in &part {
            inside = inside.intersect(&self.between(stretch, &whole.space()?)?)?;
        }
        inside = inside.intersect_params(&self.runs)?;
        if let Some(needed) = &needed {
            inside = inside.intersect_params(needed)?;
        }
        let is_sound = inside.is_subset(whole)? && elements.is_subset(&inside)?;
        Ok(is_sound.then_some((Copied { needed, part }, inside)))
    }

    /// From the first to the last of some elements along an axis; `None` if that is not worth more than all of the axis, or no formula.
    fn stretch(&self, elements: &Set, axis: u32, axes: Axes) -> Result<Option<Stretch>, Error> {
        let (first, last) = (elements.dim_min(axis as i32)?.coalesce()?, elements.dim_max(axis as i32)?.coalesce()?);
        // isl compares formulas with integer factors only.
        let (Some(firsts), Some(lasts)) = (self.ends(&first)?, self.ends(&last)?) else { return Ok(None) };
        let array = self.algorithm.array(self.array);
        let space = first.domain_space()?;
        let end =
            |affine: &Affine| -> Result<PwAff, Error> { Ok(PwAff::from_aff(&affine.to_isl(&space, &self.names)?)?) };
        let (lower, upper) = array.limits(axis);
        let left_out = first.sub(&end(&lower)?)?.add(&end(&upper)?.sub(&last)?)?;
        let least = match axes {
            Axes::Worthwhile => MARGIN + 1,
            Axes::All => 1,
        };
        // What has no value has no bound.
        if left_out.max_val()?.to_i64().is_some_and(|most| most < least) {
            return Ok(None);
        }
        Ok(Some(Stretch { axis, first: firsts, last: lasts }))
    }

    /// The formulas of the pieces of an end.
    fn ends(&self, end: &PwAff) -> Result<Option<Vec<Affine>>, Error> {
        let mut ends: Vec<Affine> = vec![];
        for (_, formula) in end.pieces()? {
            let Some(formula) = Affine::from_isl(&formula, &self.names)? else { return Ok(None) };
            if !ends.contains(&formula) {
                ends.push(formula);
            }
        }
        Ok((1..=MOST_ENDS).contains(&ends.len()).then_some(ends))
    }

    /// The places of a stretch.
    fn between(&self, stretch: &Stretch, space: &Space) -> Result<Set, Error> {
        let place = Aff::set_dim_on(space, stretch.axis)?;
        let (mut from, mut to) = (Set::empty(space)?, Set::empty(space)?);
        for first in &stretch.first {
            from = from.union(&place.ge_set(&first.to_isl(space, &self.names)?)?)?;
        }
        for last in &stretch.last {
            to = to.union(&place.le_set(&last.to_isl(space, &self.names)?)?)?;
        }
        Ok(from.intersect(&to)?)
    }
}
