//! Dependences: which pairs of instances must keep their order.
//!
//! Two instances depend on one another when they access one array element, at least one of them writing, and the
//! source runs one before the other. [`dependences`] gives all such pairs (memory-based), so any order that keeps them
//! computes the source's values. [`direct`] leaves out those with another write to the element between them, which
//! follow from the rest: these are what people want to see. Flow dependences that are direct are the value-based ones:
//! who wrote the value that a read sees.
//!
//! Updates whose order is free depend on one another, too, but [keep](Keeps) no order. That is sound also where an update reads other
//! elements of its array: between two accesses to an element that are no such updates, and which do keep their order, stands the same
//! set of updates, each with the same operands.
//!
//! Two writes of one constant do not depend on one another: of all writes before a read, in whichever order, the last one stores what the source's
//! last one does, since writes of anything else keep their place among them. They may come at one time, too (`found = true`).

use crate::affine::Affine;
use crate::algorithm::{Access, AccessRef, Algorithm, ArrayId, ArrayKind, ComputationId, Subscript, Which};
use crate::error::Error;
use crate::isl::{Ctx, DimType, ExecutionOrder, FlowQuery, Id, Map, Set, UnionMap};
use crate::legality;
use crate::linear;
use crate::reduction::{Reduction, UpdateOrder, order_of, updates};
use crate::relation;
use crate::schedule::Schedule;
use std::collections::{BTreeMap, BTreeSet};
use tessella_scalar::Constant;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DependenceKind {
    /// Write, then read.
    Flow,
    /// Read, then write.
    Anti,
    /// Write, then write.
    Output,
}

/// `source` before `sink` on elements of `array`.
#[derive(Debug, Clone)]
pub struct Dependence {
    pub kind: DependenceKind,
    pub array: ArrayId,
    pub source: AccessRef,
    pub sink: AccessRef,
    /// `[params] -> { S[x] -> R[y] }`, never empty.
    pub relation: Map,
    pub keeps: Keeps,
}

/// What an order must do with the pairs of a dependence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Keeps {
    /// Run the source first.
    Order,
    /// Run one after the other: two updates of one element, by one operator, whose order is free.
    Apart,
}

/// All memory-based dependences, in the order of their accesses.
pub fn dependences(ctx: &Ctx, algorithm: &Algorithm) -> Result<Vec<Dependence>, Error> {
    let accesses = located(ctx, algorithm)?;
    let updates = updates(algorithm);
    let mut found = vec![];
    for source in &accesses {
        for sink in &accesses {
            found.extend(between(ctx, algorithm, source, sink, &updates)?);
        }
    }
    Ok(found)
}

/// The dependences of an algorithm some of whose computations have changed, of those that it had before.
pub(crate) fn with_changed(
    ctx: &Ctx,
    algorithm: &Algorithm,
    known: &[Dependence],
    changed: &BTreeSet<ComputationId>,
) -> Result<Vec<Dependence>, Error> {
    let accesses = located(ctx, algorithm)?;
    let updates = updates(algorithm);
    let mut found = vec![];
    for source in &accesses {
        for sink in &accesses {
            if [source.0, sink.0].iter().any(|end| changed.contains(&end.computation)) {
                found.extend(between(ctx, algorithm, source, sink, &updates)?);
            } else {
                found.extend(known.iter().filter(|it| it.source == source.0 && it.sink == sink.0).cloned());
            }
        }
    }
    Ok(found)
}

/// The instances of a read that come after a write to their element, with the instances that write, `{ S[x] -> R[y] }`, for
/// parameters in a set.
pub(crate) fn flow(
    ctx: &Ctx,
    algorithm: &Algorithm,
    write: AccessRef,
    read: AccessRef,
    params: &Set,
) -> Result<Map, Error> {
    let of = |at: AccessRef| relation::access(ctx, algorithm, at.computation, algorithm.access(at));
    let same_element = of(write)?.intersect_params(params)?.apply_range(&of(read)?.reverse()?)?;
    let same_element = that_meet(ctx, algorithm, write, read, same_element)?;
    let order = &algorithm.source_order;
    legality::before(ctx, algorithm, order, write.computation, read.computation, &same_element)
}

/// The dependences of a program that promotions made of another one, whose dependences are known, and which of them are new.
///
/// Promotions add computations, have accesses name another array, and give computations further iterators behind their own;
/// the new program's source order runs what the old one had in an order that keeps its dependences. So two accesses that
/// are still there depend on one another as before. Only updates whose order is free may have changed theirs.
pub(crate) fn renewed(
    ctx: &Ctx,
    (before, known): (&Algorithm, &[Dependence]),
    after: &Algorithm,
) -> Result<Renewed, Error> {
    let accesses = located(ctx, after)?;
    let updates = updates(after);
    let lifts = Lifts::new(ctx, before, after)?;
    let stays = |at: AccessRef| {
        (at.computation.0 as usize) < before.computations.len() && before.access(at).array == after.access(at).array
    };
    let mut all = Renewed { dependences: vec![], is_new: vec![] };
    for source in &accesses {
        for sink in &accesses {
            let here = |it: &&Dependence| it.source == source.0 && it.sink == sink.0;
            let ends = [source.0.computation, sink.0.computation];
            let free = |it: &Dependence| {
                let known = [it.source.computation, it.sink.computation];
                it.keeps == Keeps::Apart && (known == ends || known == [ends[1], ends[0]])
            };
            if !stays(source.0) || !stays(sink.0) || known.iter().any(free) {
                let found = between(ctx, after, source, sink, &updates)?;
                all.is_new.extend(found.iter().map(|_| true));
                all.dependences.extend(found);
                continue;
            }
            for it in known.iter().filter(here) {
                all.dependences.push(lifts.lift(it)?);
                all.is_new.push(false);
            }
        }
    }
    Ok(all)
}

/// What [`renewed`] gives.
pub(crate) struct Renewed {
    /// All, in the order of their accesses.
    pub(crate) dependences: Vec<Dependence>,
    /// For each, whether it has not been there before.
    pub(crate) is_new: Vec<bool>,
}

/// For each computation that has got further iterators, its instances with what they have become.
pub(crate) struct Lifts(BTreeMap<ComputationId, Map>);

impl Lifts {
    pub(crate) fn new(ctx: &Ctx, before: &Algorithm, after: &Algorithm) -> Result<Lifts, Error> {
        let longer =
            |id: &ComputationId| before.computation(*id).iterators.len() != after.computation(*id).iterators.len();
        let all = before.ids().filter(longer).map(|id| Ok((id, lengthening(ctx, before, after, id)?)));
        Ok(Lifts(all.collect::<Result<_, Error>>()?))
    }

    /// A dependence of the old computations as one of the new ones.
    pub(crate) fn lift(&self, it: &Dependence) -> Result<Dependence, Error> {
        let mut relation = it.relation.clone();
        if let Some(lift) = self.0.get(&it.source.computation) {
            relation = relation.apply_domain(lift)?;
        }
        if let Some(lift) = self.0.get(&it.sink.computation) {
            relation = relation.apply_range(lift)?;
        }
        Ok(Dependence { relation, ..it.clone() })
    }
}

/// `{ S[x] -> S[x, y] }`: an instance of a computation, and the one that it has become with more iterators.
fn lengthening(ctx: &Ctx, before: &Algorithm, after: &Algorithm, id: ComputationId) -> Result<Map, Error> {
    let own: Vec<Affine> = (0..before.computation(id).iterators.len() as u32).map(Affine::iterator).collect();
    let tuple = Id::new(ctx, &before.computation(id).name)?;
    let shorter = relation::functions(ctx, after, id, &own)?.set_tuple_id(DimType::Out, &tuple)?;
    Ok(shorter.intersect_domain(&after.computation(id).domain)?.reverse()?)
}

/// An access, and the elements that it names, `{ S[x] -> A[y] }`.
pub(crate) type Located = (AccessRef, Map);

pub(crate) fn located(ctx: &Ctx, algorithm: &Algorithm) -> Result<Vec<Located>, Error> {
    let all = algorithm.accesses().filter(|&at| !is_repeated(algorithm, at));
    let elements = |at: AccessRef| relation::access(ctx, algorithm, at.computation, algorithm.access(at));
    all.map(|at| Ok((at, relation::lean(algorithm, elements(at)?)?))).collect()
}

/// The dependences from one access to another: two where some of the pairs are free in their order.
pub(crate) fn between(
    ctx: &Ctx,
    algorithm: &Algorithm,
    (source, from): &Located,
    (sink, to): &Located,
    updates: &[Reduction],
) -> Result<Vec<Dependence>, Error> {
    let array = algorithm.access(*source).array;
    let Some(kind) = kind(source.which, sink.which) else { return Ok(vec![]) };
    if array != algorithm.access(*sink).array || are_apart(algorithm.access(*source), algorithm.access(*sink)) {
        return Ok(vec![]);
    }
    if stored(algorithm, *source).is_some_and(|value| stored(algorithm, *sink) == Some(value)) {
        return Ok(vec![]);
    }
    let same_element = from.apply_range(&to.reverse()?)?;
    let same_element = that_meet(ctx, algorithm, *source, *sink, same_element)?;
    if same_element.is_empty()? {
        return Ok(vec![]);
    }
    let order = &algorithm.source_order;
    // Loops whose values are subscripts, as those of tiles are of what they keep to themselves, do not tell the pairs apart.
    let subscripts = |at: AccessRef| algorithm.access(at).subscripts.iter().map(Subscript::as_affine);
    let is_equal = |one: &Affine, other: &Affine| {
        subscripts(*source).zip(subscripts(*sink)).any(|both| both == (Some(one), Some(other)))
    };
    let ends = (source.computation, sink.computation);
    let find =
        || Ok::<_, Error>(legality::before_where(ctx, algorithm, order, ends, &same_element, &is_equal)?.coalesce()?);
    let relation = match relation::has_many_params(algorithm) {
        // Dozens of statements side by side ask the same of elements of other names.
        true => {
            let (shape, around) = (ctx.shape_of(&same_element)?, legality::around(order, ends, &is_equal));
            let question = format!("before {:?} {shape} {around:?}", algorithm.param_names());
            let found = ctx.remembered_map(&question, find)?;
            found
                .set_tuple_id(DimType::In, &same_element.tuple_id(DimType::In)?)?
                .set_tuple_id(DimType::Out, &same_element.tuple_id(DimType::Out)?)?
                .align_params(&relation::param_space(ctx, algorithm)?)?
        }
        false => find()?,
    };
    if relation.is_empty()? {
        return Ok(vec![]);
    }
    let order = order_of(algorithm, updates, *source, *sink);
    let parts = by_order(ctx, algorithm, source.computation, relation, order)?.into_iter();
    Ok(parts
        .map(|(relation, keeps)| Dependence { kind, array, source: *source, sink: *sink, relation, keeps })
        .collect())
}

/// The pairs of instances that may touch one element, of those whose subscripts are not known to differ axis by axis.
fn that_meet(ctx: &Ctx, algorithm: &Algorithm, source: AccessRef, sink: AccessRef, pairs: Map) -> Result<Map, Error> {
    let pairs = match relation::same_owner(ctx, algorithm, source, sink)? {
        Some(same) => pairs.intersect(&same)?,
        None => pairs,
    };
    match linear::same_element(ctx, algorithm, source, sink)? {
        Some(same) => Ok(pairs.intersect(&same)?),
        None => Ok(pairs),
    }
}

/// The constant that a write stores, if it stores one.
fn stored(algorithm: &Algorithm, at: AccessRef) -> Option<Constant> {
    (at.which == Which::Write).then(|| algorithm.computation(at.computation).stored_constant()).flatten()
}

/// Whether two accesses to an array name other planes of it, as numbers: `A[i, 1]` and `A[j, 2]`.
fn are_apart(one: &Access, other: &Access) -> bool {
    let place = |subscript: &Subscript| subscript.as_affine().and_then(Affine::as_constant);
    let mut both = one.subscripts.iter().zip(&other.subscripts);
    both.any(|(a, b)| matches!((place(a), place(b)), (Some(a), Some(b)) if a != b))
}

/// The pairs of a dependence between updates of one computation, by what an order must do with them.
fn by_order(
    ctx: &Ctx,
    algorithm: &Algorithm,
    id: ComputationId,
    relation: Map,
    order: UpdateOrder,
) -> Result<Vec<(Map, Keeps)>, Error> {
    let iterator = match order {
        UpdateOrder::Any => return Ok(vec![(relation, Keeps::Apart)]),
        UpdateOrder::Source => return Ok(vec![(relation, Keeps::Order)]),
        UpdateOrder::Within(iterator) => iterator,
    };
    let outer: Vec<Affine> = (0..iterator).map(Affine::iterator).collect();
    let execution = relation::functions(ctx, algorithm, id, &outer)?;
    let same = relation.intersect(&execution.apply_range(&execution.reverse()?)?)?;
    let others = relation.subtract(&same)?;
    let mut parts = vec![];
    for (part, keeps) in [(same, Keeps::Apart), (others, Keeps::Order)] {
        if !part.is_empty()? {
            parts.push((part.coalesce()?, keeps));
        }
    }
    Ok(parts)
}

/// Whether an earlier read of the same computation touches just the same elements.
pub(crate) fn is_repeated(algorithm: &Algorithm, at: AccessRef) -> bool {
    let Which::Read(position) = at.which else { return false };
    let reads = &algorithm.computation(at.computation).reads;
    let this = &reads[position as usize];
    // Equal expressions read the same elements, and nothing is written between the reads of one instance.
    let same = |other: &Access| other.array == this.array && other.subscripts == this.subscripts;
    this.within.is_none() && reads[..position as usize].iter().any(|other| other.within.is_none() && same(other))
}

/// The dependences without another certain write to the element between source and sink, in the same order.
///
/// A write lies between if it depends on the source and the sink on it. That tells all where source or sink names one element: of two
/// accesses that name several the write may touch another one than they share, and isl finds who was last.
///
/// # Source
/// Feautrier, *Dataflow analysis of array and scalar references*, IJPP 20(1), 1991.
pub fn direct(ctx: &Ctx, algorithm: &Algorithm, all: &[Dependence]) -> Result<Vec<Dependence>, Error> {
    direct_of(ctx, algorithm, all, &|_| true)
}

/// The same, of these dependences alone; `all` has those by which writes lie between, too.
pub(crate) fn direct_of(
    ctx: &Ctx,
    algorithm: &Algorithm,
    all: &[Dependence],
    wanted: &dyn Fn(&Dependence) -> bool,
) -> Result<Vec<Dependence>, Error> {
    direct_by(ctx, algorithm, all, wanted, Alike::Apart)
}

/// The same, and without those from a write of a constant that another write of it follows, though these two do not depend on one another: who wrote the
/// values that reads see.
pub(crate) fn seen_of(
    ctx: &Ctx,
    algorithm: &Algorithm,
    all: &[Dependence],
    wanted: &dyn Fn(&Dependence) -> bool,
) -> Result<Vec<Dependence>, Error> {
    direct_by(ctx, algorithm, all, wanted, Alike::Follow)
}

/// What becomes of two writes of one constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alike {
    /// Neither lies behind the other, as they do not depend on one another.
    Apart,
    /// The later one lies behind the other.
    Follow,
}

fn direct_by(
    ctx: &Ctx,
    algorithm: &Algorithm,
    all: &[Dependence],
    wanted: &dyn Fn(&Dependence) -> bool,
    alike: Alike,
) -> Result<Vec<Dependence>, Error> {
    let names_one = |at: AccessRef| algorithm.access(at).is_affine();
    let between = Between::new(ctx, algorithm, all, wanted, alike)?;
    let mut tagged: Option<BTreeMap<AccessRef, Tagged>> = None;
    let mut found = vec![];
    for dependence in all.iter().filter(|it| wanted(it)) {
        let relation = match names_one(dependence.source) || names_one(dependence.sink) {
            true => Some(between.without(dependence)?),
            false => {
                let tagged = match &mut tagged {
                    Some(tagged) => tagged,
                    none => none.insert(Tagged::all(ctx, algorithm)?),
                };
                last(algorithm, tagged, dependence)?
            }
        };
        if let Some(relation) = relation
            && !relation.is_empty()?
        {
            found.push(Dependence { relation, ..dependence.clone() });
        }
    }
    Ok(found)
}

/// What comes before certain writes, and after them.
struct Between<'a> {
    ctx: &'a Ctx,
    algorithm: &'a Algorithm,
    all: &'a [Dependence],
    alike: Alike,
    /// `{ S[x] -> S[x] }` for each read of the element that its own instance writes, which is before the write.
    own: BTreeMap<AccessRef, Map>,
}

impl<'a> Between<'a> {
    fn new(
        ctx: &'a Ctx,
        algorithm: &'a Algorithm,
        all: &'a [Dependence],
        wanted: &dyn Fn(&Dependence) -> bool,
        alike: Alike,
    ) -> Result<Between<'a>, Error> {
        let mut own = BTreeMap::new();
        for source in all.iter().filter(|it| it.kind == DependenceKind::Anti && wanted(it)).map(|it| it.source) {
            let it = algorithm.computation(source.computation);
            let read = algorithm.access(source);
            if own.contains_key(&source) || it.write.array != read.array || !it.writes_for_certain() {
                continue;
            }
            let of = |access: &Access| relation::access(ctx, algorithm, source.computation, access);
            let both = of(read)?.intersect(&of(&it.write)?)?.domain()?;
            if !both.is_empty()? {
                own.insert(source, both.identity()?);
            }
        }
        Ok(Between { ctx, algorithm, all, alike, own })
    }

    /// The pairs of two writes of one constant to an element, the first before the second: they do not depend on one another.
    fn followed(&self, one: AccessRef, other: AccessRef) -> Result<Option<Map>, Error> {
        let Between { ctx, algorithm, .. } = *self;
        let (first, second) = (algorithm.access(one), algorithm.access(other));
        let are_alike = self.alike == Alike::Follow
            && first.array == second.array
            && stored(algorithm, one).is_some_and(|value| stored(algorithm, other) == Some(value))
            && first.is_affine()
            && second.is_affine();
        if !are_alike {
            return Ok(None);
        }
        let of = |at: AccessRef, access: &Access| relation::access(ctx, algorithm, at.computation, access);
        let same = of(one, first)?.apply_range(&of(other, second)?.reverse()?)?;
        let order = &algorithm.source_order;
        Ok(Some(legality::before(ctx, algorithm, order, one.computation, other.computation, &same)?))
    }

    /// The pairs of a dependence that have no certain write between them.
    fn without(&self, dependence: &Dependence) -> Result<Map, Error> {
        let mut left = dependence.relation.clone();
        for after in self.all.iter().filter(|it| it.sink == dependence.sink && it.source.which == Which::Write) {
            if !self.algorithm.computation(after.source.computation).writes_for_certain() {
                continue;
            }
            let before = self.all.iter().filter(|it| it.source == dependence.source && it.sink == after.source);
            let mut relations: Vec<&Map> = before.map(|it| &it.relation).collect();
            let alike = self.followed(dependence.source, after.source)?;
            relations.extend(&alike);
            if after.source.computation == dependence.source.computation {
                relations.extend(self.own.get(&dependence.source));
            }
            for before in relations {
                left = left.subtract(&before.apply_range(&after.relation)?)?.coalesce()?;
                if left.is_empty()? {
                    return Ok(left);
                }
            }
        }
        Ok(left)
    }
}

/// The pairs of a dependence that have no certain write between them, as isl finds them from all accesses to the array; `None` if all have.
fn last(
    algorithm: &Algorithm,
    tagged: &BTreeMap<AccessRef, Tagged>,
    dependence: &Dependence,
) -> Result<Option<Map>, Error> {
    let (source, sink) = (&tagged[&dependence.source], &tagged[&dependence.sink]);
    let mut time = source.time.union(&sink.time)?;
    let mut kill: Option<UnionMap> = None;
    for (at, other) in tagged {
        let certain = algorithm.computation(at.computation).writes_for_certain();
        let access = algorithm.access(*at);
        let is_between = access.array == dependence.array && !are_apart(access, algorithm.access(dependence.source));
        if at.which == Which::Write && certain && is_between {
            time = time.union(&other.time)?;
            kill = Some(match kill {
                None => other.access.clone(),
                Some(others) => others.union(&other.access)?,
            });
        }
    }
    let query = FlowQuery {
        sink: sink.access.clone(),
        must_source: None,
        may_source: Some(source.access.clone()),
        kill,
        order: ExecutionOrder::Map(time),
    };
    let pairs = query.compute()?.may_dependence.domain_factor_domain()?.range_factor_domain()?;
    if pairs.is_empty()? {
        return Ok(None);
    }
    Ok(Some(Map::from_union_map(&pairs)?.intersect(&dependence.relation)?.coalesce()?))
}

/// An access that isl can tell from others of its computation, and that knows that an instance reads before it writes.
struct Tagged {
    /// `{ [S[x] -> write[]] -> A[y] }`.
    access: UnionMap,
    /// `{ [S[x] -> write[]] -> [time, 1] }`; reads come at 0.
    time: UnionMap,
}

impl Tagged {
    fn all(ctx: &Ctx, algorithm: &Algorithm) -> Result<BTreeMap<AccessRef, Tagged>, Error> {
        let order = &algorithm.source_order;
        let depth = algorithm.ids().filter_map(|id| order.path_of(id)).map(|path| path.0.len()).max().unwrap_or(0);
        algorithm.accesses().map(|at| Ok((at, Tagged::new(ctx, algorithm, order, depth, at)?))).collect()
    }

    fn new(ctx: &Ctx, algorithm: &Algorithm, order: &Schedule, depth: usize, at: AccessRef) -> Result<Tagged, Error> {
        let (name, moment) = match at.which {
            Which::Write => ("write".to_string(), 1),
            Which::Read(position) => (format!("read{position}"), 0),
        };
        let space = relation::param_space(ctx, algorithm)?;
        let tag = Set::universe(&space.add_named_tuple(&Id::new(ctx, &name)?, 0)?)?;
        let domain = relation::domain(algorithm, at.computation)?;
        let untag = Map::from_domain_and_range(&domain, &tag)?.domain_map()?;
        let access = relation::access(ctx, algorithm, at.computation, algorithm.access(at))?;
        let last = relation::function(ctx, algorithm, at.computation, &Affine::constant(moment))?;
        let time = relation::time(ctx, algorithm, order, at.computation, depth)?.flat_range_product(&last)?;
        Ok(Tagged {
            access: untag.apply_range(&access)?.to_union_map()?,
            time: untag.apply_range(&time)?.to_union_map()?,
        })
    }
}

pub(crate) fn kind(source: Which, sink: Which) -> Option<DependenceKind> {
    match (source, sink) {
        (Which::Write, Which::Read(_)) => Some(DependenceKind::Flow),
        (Which::Read(_), Which::Write) => Some(DependenceKind::Anti),
        (Which::Write, Which::Write) => Some(DependenceKind::Output),
        (Which::Read(_), Which::Read(_)) => None,
    }
}

/// What one read may see of the caller's values.
#[derive(Debug, Clone)]
pub struct LiveIn {
    pub read: AccessRef,
    /// The instances that may read a value which was there at entry: `{ S[x] }`.
    pub live_in: Set,
}

/// For each read of an argument: the instances that may see what the array held at entry.
///
/// A read sees the entry value where no certain write to its element comes before it. A read with a computed subscript
/// may see it always: that a write comes before says nothing of the element that is read.
pub fn live_in(ctx: &Ctx, algorithm: &Algorithm, dependences: &[Dependence]) -> Result<Vec<LiveIn>, Error> {
    let mut flows = vec![];
    for read in algorithm.accesses().filter(|&at| at.which != Which::Write && !is_repeated(algorithm, at)) {
        let access = algorithm.access(read);
        if algorithm.array(access.array).kind != ArrayKind::Argument {
            continue;
        }
        let mut live = relation::access(ctx, algorithm, read.computation, access)?.domain()?;
        for dependence in dependences {
            let certain = algorithm.computation(dependence.source.computation).writes_for_certain();
            if dependence.kind == DependenceKind::Flow && dependence.sink == read && certain && access.is_affine() {
                live = live.subtract(&dependence.relation.range()?)?;
            }
        }
        flows.push(LiveIn { read, live_in: live.coalesce()? });
    }
    Ok(flows)
}

impl std::fmt::Display for DependenceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            DependenceKind::Flow => "flow",
            DependenceKind::Anti => "anti",
            DependenceKind::Output => "output",
        })
    }
}
