//! Comparing who wrote what in two programs.

use super::Role;
use super::between::{Between, Moment, Wanted};
use super::flow::{Flows, Sink, between_readers, untouched};
use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, Computation, ComputationId};
use crate::error::Error;
use crate::expr::ExprKind;
use crate::isl::{Ctx, DimType, Id, Map, Set, UnionMap, UnionSet};
use crate::relation;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// A program made from another, and what its computations are.
pub struct Recomputation<'a> {
    pub original: &'a Algorithm,
    /// Has the arrays of the original first.
    pub new: &'a Algorithm,
    /// One for each computation of the new program.
    pub roles: &'a [Role],
}

/// A value that would be another than the original's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    pub mistake: Mistake,
    /// The instance, or the subscripts of the element.
    pub at: Vec<i64>,
    /// Sizes for which it exists, by name.
    pub params: Vec<(String, i64)>,
}

/// What is not as in the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mistake {
    /// The computation does not evaluate what the original does.
    Expression { computation: String },
    /// An instance of the computation that the original does not have.
    Instance { computation: String },
    /// The computation reads another value of the array.
    Value { computation: String, array: String },
    /// The array holds another value at the end.
    End { array: String },
    /// The order runs several instances of the computation at one time.
    Together { computation: String },
}

/// Proves that the new program computes what the original does; otherwise a value that would differ.
pub fn prove(ctx: &Ctx, it: &Recomputation<'_>) -> Result<Result<(), Box<Mismatch>>, Error> {
    let Recomputation { original, new, roles } = *it;
    assert_eq!(roles.len(), new.computations.len(), "each computation has a role");
    let (old_flow, new_flow) = (Flows::new(ctx, original)?, Flows::new(ctx, new)?);

    for (id, role) in new.ids().zip(roles) {
        if !new_flow.is_ordered(id)? {
            return mismatch(Mistake::Together { computation: new.computation(id).name.clone() }, None);
        }
        let named = || new.computation(id).name.clone();
        match role {
            Role::Repeats(of) => {
                if !same_expression(original, new, original.computation(*of), new.computation(id)) {
                    return mismatch(Mistake::Expression { computation: named() }, None);
                }
                let instances = repeats(ctx, original, new, id, *of)?.range()?;
                let strangers = instances.subtract(&relation::domain(original, *of)?)?;
                if !strangers.is_empty()? {
                    return mismatch(Mistake::Instance { computation: named() }, Some(&strangers));
                }
            }
            Role::Copies(snapshot) => {
                if !is_copy(original, new, new.computation(id), snapshot.array) {
                    return mismatch(Mistake::Expression { computation: named() }, None);
                }
            }
        }
    }
    let between = Between::new(ctx, &old_flow, &new_flow, roles);
    let flow = Comparison { ctx, old: &old_flow, new: &new_flow, roles, means: OnceCell::new() };
    for (id, role) in new.ids().zip(roles) {
        let computation = new.computation(id);
        for (position, access) in values_read(computation).into_iter().enumerate() {
            let sink = new_flow.read(id, access)?;
            let (array, element) = match role {
                Role::Copies(snapshot) => (snapshot.array, between.copied(id, snapshot)?),
                Role::Repeats(of) => {
                    let theirs = values_read(original.computation(*of))[position];
                    (theirs.array, between.read_again(id, *of, theirs)?)
                }
            };
            let wanted = Wanted { array, element, moment: Moment::Of(id) };
            if between.sees(access.array, &sink, &wanted)? {
                continue;
            }
            if let Some(wrong) = flow.differs(access.array, &sink, &flow.wanted(id, position)?)? {
                let array = original.array(array).name.clone();
                return mismatch(Mistake::Value { computation: computation.name.clone(), array }, Some(&wrong));
            }
        }
    }
    for at in 0..original.arrays.len() as u32 {
        let array = ArrayId(at);
        let written = match (old_flow.written(array)?, new_flow.written(array)?) {
            (Some(old), Some(new)) => Some(old.union(&new)?),
            (old, new) => old.or(new),
        };
        let (Some(written), true) = (written, is_seen(original.array(array).kind)) else { continue };
        // Elements that neither program writes hold in both what they held before; a conjunction takes far less work than many pieces.
        // Accesses of many parameters leave out what the context says of some, and copies may not.
        let written = Set::from_basic_set(&written.coalesce()?.simple_hull()?)?.intersect_params(&original.context)?;
        let sink = new_flow.end(array, &written)?;
        let wanted = Wanted { array, element: old_flow.end(array, &written)?.access, moment: Moment::End };
        if between.sees(array, &sink, &wanted)? {
            continue;
        }
        let wanted = old_flow.values(array, &old_flow.end(array, &written)?)?;
        if let Some(wrong) = flow.differs(array, &sink, &wanted)? {
            return mismatch(Mistake::End { array: original.array(array).name.clone() }, Some(&wrong));
        }
    }
    Ok(Ok(()))
}

/// Whether callers see what the array holds at the end.
pub(crate) fn is_seen(kind: ArrayKind) -> bool {
    match kind {
        ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned => true,
        ArrayKind::Private | ArrayKind::Local { .. } => false,
    }
}

/// Who wrote each value, found in both programs.
struct Comparison<'a> {
    ctx: &'a Ctx,
    old: &'a Flows<'a>,
    new: &'a Flows<'a>,
    roles: &'a [Role],
    /// What [`Comparison::means`] gives.
    means: OnceCell<Means>,
}

/// What the writes of the new program stand for.
struct Means {
    /// `{ W'[y] -> W[x] or A value[e] }`
    all: UnionMap,
    /// What each copy copies: `{ the reader[y] -> W[x] or A value[e] }`
    copied: BTreeMap<ComputationId, UnionMap>,
}

impl Comparison<'_> {
    /// The values that a read of a computation wants: `{ the reader[x] -> W[y] or A value[e] }`.
    fn wanted(&self, id: ComputationId, position: usize) -> Result<UnionMap, Error> {
        let (ctx, original, new) = (self.ctx, self.old.algorithm, self.new.algorithm);
        match &self.roles[id.0 as usize] {
            Role::Copies(_) => Ok(self.means()?.copied[&id].clone()),
            Role::Repeats(of) => {
                let theirs = values_read(original.computation(*of))[position];
                let values = self.old.values(theirs.array, &self.old.read(*of, theirs)?)?;
                let rest = if theirs.is_affine() { 0 } else { original.array(theirs.array).rank };
                let (keep, all) = (original.computation(*of).iterators.len(), new.computation(id).iterators.len());
                let (keep, all) = (keep as u32, all as u32);
                let same = between_readers(ctx, new, all + rest, keep, all - keep)?.to_union_map()?;
                Ok(same.apply_range(&values)?.intersect_domain(&readers(ctx, new, id, rest)?)?)
            }
        }
    }

    /// The readers that do not see what is wanted. Each reader sees one value, so it is enough that the wanted one is among
    /// those that are seen.
    fn differs(&self, array: ArrayId, sink: &Sink, wanted: &UnionMap) -> Result<Option<Set>, Error> {
        // A reader that the access leaves out sees nothing.
        let seen = self.new.values(array, sink)?.apply_range(&self.means()?.all)?.coalesce()?;
        let wrong = wanted.coalesce()?.subtract(&seen)?.domain()?;
        if wrong.is_empty()? {
            return Ok(None);
        }
        Ok(wrong.sets()?.into_iter().next())
    }

    fn means(&self) -> Result<&Means, Error> {
        if let Some(known) = self.means.get() {
            return Ok(known);
        }
        let (ctx, original, new) = (self.ctx, self.old.algorithm, self.new.algorithm);
        let mut means: Option<UnionMap> = None;
        let mut copied = BTreeMap::new();
        for (id, role) in new.ids().zip(self.roles) {
            let one = match role {
                Role::Repeats(of) => repeats(ctx, original, new, id, *of)?.to_union_map()?,
                Role::Copies(snapshot) => {
                    let values = self.old.values(snapshot.array, &self.old.snapshot(new, id, snapshot)?)?;
                    let own = of_instances(ctx, new, id, &values)?;
                    copied.insert(id, values);
                    own
                }
            };
            means = join(means, one)?;
        }
        for array in 0..original.arrays.len() as u32 {
            means = join(means, untouched(ctx, original, ArrayId(array))?)?;
        }
        let all = means.expect("a program with a reader has a computation");
        Ok(self.means.get_or_init(|| Means { all, copied }))
    }
}

/// What a computation reads: its reads, and the old value where the write may not happen.
fn values_read(computation: &Computation) -> Vec<&Access> {
    let old = (!computation.writes_for_certain()).then_some(&computation.write);
    computation.reads.iter().chain(old).collect()
}

/// `{ S'[x, k] -> S[x] }` for all instances.
pub(super) fn repeats(
    ctx: &Ctx,
    original: &Algorithm,
    new: &Algorithm,
    id: ComputationId,
    of: ComputationId,
) -> Result<Map, Error> {
    let (kept, all) = (original.computation(of).iterators.len() as u32, new.computation(id).iterators.len() as u32);
    assert!(kept <= all, "the iterators of what is repeated come first");
    let map = relation::domain(new, id)?.identity()?.project_out(DimType::Out, kept, all - kept)?;
    Ok(map.set_tuple_id(DimType::Out, &Id::new(ctx, &original.computation(of).name)?)?)
}

/// `{ S'[x] -> value }` of `{ the reader[x] -> value }`.
fn of_instances(ctx: &Ctx, new: &Algorithm, id: ComputationId, values: &UnionMap) -> Result<UnionMap, Error> {
    let domain = relation::domain(new, id)?;
    let count = new.computation(id).iterators.len() as u32;
    let same = between_readers(ctx, new, count, count, 0)?.set_tuple_id(DimType::In, &domain.tuple_id()?)?;
    Ok(same.to_union_map()?.apply_range(values)?.intersect_domain(&UnionSet::from_set(&domain)?)?)
}

/// `{ the reader[x, e] }` for all instances, with `rest` more values.
fn readers(ctx: &Ctx, new: &Algorithm, id: ComputationId, rest: u32) -> Result<UnionSet, Error> {
    let count = new.computation(id).iterators.len() as u32;
    let same = between_readers(ctx, new, count + rest, count, rest)?.reverse()?;
    let domain = relation::domain(new, id)?;
    let domain = domain.set_tuple_id(&same.tuple_id(DimType::In)?)?;
    Ok(UnionSet::from_set(&domain.apply(&same)?)?)
}

fn join(so_far: Option<UnionMap>, next: UnionMap) -> Result<Option<UnionMap>, Error> {
    Ok(Some(match so_far {
        None => next,
        Some(so_far) => so_far.union(&next)?,
    }))
}

/// Whether both evaluate the same, given the same values.
fn same_expression(original: &Algorithm, new: &Algorithm, one: &Computation, other: &Computation) -> bool {
    let element = |of: &Algorithm, access: &Access| of.array(access.array).element;
    let same_access = |(one, other): (&Access, &Access)| {
        element(original, one) == element(new, other)
            && ((one.is_affine() && other.is_affine())
                || (one.array == other.array && one.subscripts == other.subscripts))
    };
    one.predicate == other.predicate
        && one.lets == other.lets
        && one.value == other.value
        && one.fastmath == other.fastmath
        && one.reads.len() == other.reads.len()
        && one.iterators.len() <= other.iterators.len()
        && one.reads.iter().zip(&other.reads).all(same_access)
        && same_access((&one.write, &other.write))
}

/// Whether a computation does nothing but copy an element of the array's type.
fn is_copy(original: &Algorithm, new: &Algorithm, it: &Computation, array: ArrayId) -> bool {
    let element = original.array(array).element;
    let plain =
        it.predicate.is_none() && it.lets.is_empty() && it.value.kind == ExprKind::Read(0) && it.value.ty == element;
    let [read] = it.reads.as_slice() else { return false };
    let types = [read, &it.write].map(|access| new.array(access.array).element);
    plain && types == [element; 2] && read.is_affine() && it.write.is_affine()
}

fn mismatch(mistake: Mistake, points: Option<&Set>) -> Result<Result<(), Box<Mismatch>>, Error> {
    let (mut at, mut params) = (vec![], vec![]);
    if let Some(points) = points {
        let points = points.drop_unused_params()?;
        let count = points.dim(DimType::Param)?;
        let mut names = vec![];
        for position in 0..count {
            names.push(points.dim_name(DimType::Param, position)?.unwrap_or_default());
        }
        let all = points.reset_tuple_id()?.move_dims(DimType::Set, 0, DimType::Param, 0, count)?;
        let point = match all.lexmin().and_then(|least| least.sample_point()) {
            Ok(point) => point,
            Err(_) => all.sample_point()?,
        };
        let values = point.coordinates()?;
        params = names.into_iter().zip(values.iter().copied()).collect();
        at = values[count as usize..].to_vec();
    }
    Ok(Err(Box::new(Mismatch { mistake, at, params })))
}
