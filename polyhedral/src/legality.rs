//! Whether an order keeps every dependence, and a witness where it does not.
//!
//! For two computations the tree gives a common chain of loops, then either the same leaf or two children of one
//! sequence. Pairs of instances are compared loop by loop along that chain; each comparison is one intersection, and
//! the test stops at the first loop after which no pair is left. Only parameters count for which the schedule's assumptions
//! hold: they are tested at entry.

use crate::affine::Affine;
use crate::algorithm::{AccessRef, Algorithm, ArrayId, ComputationId};
use crate::combine;
use crate::dependence::{Dependence, DependenceKind, Keeps};
use crate::effort;
use crate::error::{Error, ScheduleError};
use crate::isl::{Ctx, DimType, IslError, Map, Set, Space};
use crate::relation;
use crate::schedule::{Loop, Node, ProcessorAxis, Schedule, Tag};
use std::collections::BTreeMap;

/// A dependence that an order breaks, with the first pair of instances.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    pub kind: DependenceKind,
    pub array: ArrayId,
    pub source: AccessRef,
    pub sink: AccessRef,
    pub breach: Breach,
    pub witness: Witness,
}

/// Where and how the order breaks the dependence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Breach {
    /// This loop runs the sink in an earlier iteration.
    Reversed { at: String },
    /// The sink's place in a sequence comes first.
    Sequence,
    /// Both run in one iteration of all loops, in no order.
    Unordered,
    /// This loop runs source and sink in different iterations, and its iterations run in no order.
    Concurrent { at: String, tag: Tag },
}

/// Two instances, and parameters for which they exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    pub source: Vec<i64>,
    pub sink: Vec<i64>,
    /// By name; only those that matter.
    pub params: Vec<(String, i64)>,
    /// Sink minus source along the loops that both share in the source's order.
    pub distance: Vec<i64>,
    /// The same along the loops that both share in the new order.
    pub new_distance: Vec<i64>,
}

/// The loops that two computations share, outermost first, and how they part.
struct Common<'a> {
    loops: Vec<&'a Loop>,
    parting: Parting,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Parting {
    /// One computation.
    SameLeaf,
    /// `true`: the first computation's child comes first.
    Sequence { first_comes_first: bool },
}

fn common(schedule: &Schedule, first: ComputationId, second: ComputationId) -> Common<'_> {
    let missing = "every computation has a leaf in the schedule tree";
    let a = schedule.path_of(first).expect(missing);
    let b = schedule.path_of(second).expect(missing);
    let mut loops = vec![];
    let mut node = &schedule.root;
    for (left, right) in a.0.iter().zip(&b.0) {
        match node {
            Node::Loop(it) => {
                loops.push(it);
                node = &it.body;
            }
            Node::Sequence(children) if left == right => node = &children[*left],
            Node::Sequence(_) => {
                return Common { loops, parting: Parting::Sequence { first_comes_first: left < right } };
            }
            Node::Computation(_) => break,
        }
    }
    Common { loops, parting: Parting::SameLeaf }
}

/// The loops that two computations share, outermost first.
pub fn shared_loops(schedule: &Schedule, first: ComputationId, second: ComputationId) -> Vec<&Loop> {
    common(schedule, first, second).loops
}

/// `{ S[x] -> R[y] : a(x) ? b(y) }` for a comparison of two schedule functions.
fn compare(
    ctx: &Ctx,
    algorithm: &Algorithm,
    (source, at_source): (ComputationId, &Affine),
    (sink, at_sink): (ComputationId, &Affine),
    comparison: &Map,
) -> Result<Map, Error> {
    let space = |id: ComputationId| (&algorithm.computation(id).name, &algorithm.computation(id).iterators);
    let (params, number) = (algorithm.param_names(), ctx.number_of(comparison));
    let question = format!("{number} {params:?} {:?} {at_source:?} {:?} {at_sink:?}", space(source), space(sink));
    ctx.remembered_map(&question, || {
        let from = relation::function(ctx, algorithm, source, at_source)?;
        let to = relation::function(ctx, algorithm, sink, at_sink)?;
        Ok(relation::lean(algorithm, from.apply_range(comparison)?.apply_range(&to.reverse()?)?)?)
    })
}

/// The comparisons of two values, `{ [a] -> [b] : a ? b }`.
struct Comparisons {
    equal: Map,
    less: Map,
    greater: Map,
}

impl Comparisons {
    fn new(ctx: &Ctx, algorithm: &Algorithm) -> Result<Self, Error> {
        let params = algorithm.param_names();
        let of = |name: &str, make: fn(&Space) -> Result<Map, IslError>| {
            ctx.remembered_map(&format!("{name} {params:?}"), || {
                Ok::<_, Error>(make(&relation::param_space(ctx, algorithm)?.add_unnamed_tuple(1)?)?)
            })
        };
        Ok(Self {
            equal: of("equal", |value| Map::identity(&value.map_from_set()?))?,
            less: of("less", Map::lex_lt)?,
            greater: of("greater", Map::lex_gt)?,
        })
    }
}

/// The pairs of `pairs` (`{ S[x] -> R[y] }`) that the order runs one before the other, `S[x]` first.
///
/// Tags are not looked at: this is the order of the sequential program.
pub fn before(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    first: ComputationId,
    second: ComputationId,
    pairs: &Map,
) -> Result<Map, Error> {
    before_where(ctx, algorithm, schedule, (first, second), pairs, &|_, _| false)
}

/// All that [`before_where`] asks of an order, without the names of computations: the functions of the loops around both, and whether the first comes
/// first in them.
pub(crate) fn around<'a>(
    schedule: &'a Schedule,
    (first, second): (ComputationId, ComputationId),
    is_equal: &dyn Fn(&Affine, &Affine) -> bool,
) -> (Vec<(&'a Affine, &'a Affine)>, bool) {
    let common = common(schedule, first, second);
    let functions = common.loops.iter().map(|it| (&it.at[&first], &it.at[&second]));
    let functions = functions.filter(|(of_first, of_second)| !is_equal(of_first, of_second)).collect();
    (functions, common.parting == Parting::Sequence { first_comes_first: true })
}

/// [`before`], where `is_equal` knows of some functions `a`, `b` that `a(x) = b(y)` for all pairs.
pub(crate) fn before_where(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    (first, second): (ComputationId, ComputationId),
    pairs: &Map,
    is_equal: &dyn Fn(&Affine, &Affine) -> bool,
) -> Result<Map, Error> {
    let comparisons = Comparisons::new(ctx, algorithm)?;
    let common = common(schedule, first, second);
    let mut result = Map::empty(&pairs.space()?)?;
    let mut equal = pairs.clone();
    for it in common.loops.iter().filter(|it| !is_equal(&it.at[&first], &it.at[&second])) {
        let (from, to) = ((first, &it.at[&first]), (second, &it.at[&second]));
        let earlier = equal.intersect(&compare(ctx, algorithm, from, to, &comparisons.less)?)?;
        result = result.union(&earlier)?;
        equal = equal.intersect(&compare(ctx, algorithm, from, to, &comparisons.equal)?)?;
        if equal.is_empty()? {
            return Ok(result);
        }
    }
    match common.parting {
        Parting::Sequence { first_comes_first: true } => Ok(result.union(&equal)?),
        Parting::Sequence { first_comes_first: false } | Parting::SameLeaf => Ok(result),
    }
}

/// The pairs of a dependence that the first `outer` loops around both of its ends run in the same iterations.
pub fn together(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependence: &Dependence,
    outer: usize,
) -> Result<Map, Error> {
    let comparisons = Comparisons::new(ctx, algorithm)?;
    let (source, sink) = (dependence.source.computation, dependence.sink.computation);
    let common = common(schedule, source, sink);
    let mut equal = match algorithm.assumed()? {
        None => dependence.relation.clone(),
        Some(assumed) => dependence.relation.intersect_params(&assumed)?,
    };
    for it in common.loops.iter().take(outer) {
        let (from, to) = ((source, &it.at[&source]), (sink, &it.at[&sink]));
        equal = equal.intersect(&compare(ctx, algorithm, from, to, &comparisons.equal)?)?;
    }
    Ok(equal)
}

/// How a loop moves the pairs of a dependence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Every sink comes in a later iteration.
    Forwards,
    /// Some pairs lie in one iteration, the others go forwards.
    Partly,
    /// Some sink comes in an earlier iteration.
    Backwards,
}

/// How a loop that runs through these functions moves the pairs of a dependence.
pub fn progress(
    ctx: &Ctx,
    algorithm: &Algorithm,
    dependence: &Dependence,
    at_source: &Affine,
    at_sink: &Affine,
) -> Result<Progress, Error> {
    let comparisons = Comparisons::new(ctx, algorithm)?;
    let (from, to) = ((dependence.source.computation, at_source), (dependence.sink.computation, at_sink));
    let backwards = compare(ctx, algorithm, from, to, &comparisons.greater)?;
    if !dependence.relation.intersect(&backwards)?.is_empty()? {
        return Ok(Progress::Backwards);
    }
    let equal = compare(ctx, algorithm, from, to, &comparisons.equal)?;
    let stays = !dependence.relation.intersect(&equal)?.is_empty()?;
    Ok(if stays { Progress::Partly } else { Progress::Forwards })
}

/// The first dependence, in the given order, that the schedule breaks.
pub fn first_violation(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependences: &[Dependence],
) -> Result<Option<Violation>, Error> {
    let Some((dependence, breach, pairs)) = first_broken(ctx, algorithm, schedule, dependences)? else {
        return Ok(None);
    };
    Ok(Some(Violation {
        kind: dependence.kind,
        array: dependence.array,
        source: dependence.source,
        sink: dependence.sink,
        breach,
        witness: witness(algorithm, schedule, dependence, &pairs)?,
    }))
}

/// Parameters for which the schedule breaks a dependence, if there are any: all for which it breaks the first such in its outermost loop.
pub(crate) fn broken_for(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependences: &[Dependence],
) -> Result<Option<Set>, Error> {
    let broken = first_broken(ctx, algorithm, schedule, dependences)?;
    broken.map(|(_, _, pairs)| Ok(pairs.domain()?.params()?)).transpose()
}

/// The first dependence that the schedule breaks, how, and the pairs that are broken so.
fn first_broken<'a>(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependences: &'a [Dependence],
) -> Result<Option<(&'a Dependence, Breach, Map)>, Error> {
    let comparisons = Comparisons::new(ctx, algorithm)?;
    let assumed = algorithm.assumed()?;
    let mut around: BTreeMap<Ends, bool> = BTreeMap::new();
    for dependence in dependences {
        let ends = Ends::of(dependence);
        let kept = match around.get(&ends) {
            Some(kept) => *kept,
            None => {
                let kept = is_kept_around(ctx, algorithm, schedule, dependences, ends, &comparisons)?;
                around.insert(ends, kept);
                kept
            }
        };
        if kept {
            continue;
        }
        let found = violated(ctx, algorithm, schedule, dependence, assumed.as_ref(), &comparisons)?;
        if let Some((breach, pairs)) = found {
            return Ok(Some((dependence, breach, pairs)));
        }
    }
    Ok(None)
}

/// The same dependences with those between the same two computations made one: what is as good for a verdict, and
/// quicker. Accesses and kinds are those of the first of each.
pub fn merged(dependences: &[Dependence]) -> Result<Vec<Dependence>, Error> {
    let mut all: Vec<(Dependence, Vec<&Map>)> = vec![];
    for it in dependences {
        let ends = Ends::of(it);
        match all.iter_mut().find(|(first, _)| Ends::of(first) == ends) {
            Some((_, relations)) => relations.push(&it.relation),
            None => all.push((it.clone(), vec![&it.relation])),
        }
    }
    let merged = all.into_iter().map(|(first, relations)| {
        let ctx = first.relation.ctx();
        let relation = ctx.remembered_map(&format!("merged {:?}", numbers(ctx, &relations)), || {
            Map::union_all(relations.iter().copied().cloned())?.coalesce()
        })?;
        Ok(Dependence { relation, ..first })
    });
    merged.collect()
}

/// Dependences above which those that a schedule treats alike are judged together.
const MANY: usize = 256;

/// All that a schedule's verdict on pairs of instances follows from, besides the pairs.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Treatment<'a> {
    keeps: Keeps,
    /// The numbers of iterators of source and sink.
    iterators: [usize; 2],
    /// The loops that both ends share, by their tags and what they run through for source and sink.
    loops: Vec<(Tag, &'a Affine, &'a Affine)>,
    parting: Parting,
    /// The ends themselves, for updates whose order is free: whether they may be combined depends on what they compute.
    updates: Option<Ends>,
}

impl Treatment<'_> {
    fn of<'a>(algorithm: &Algorithm, schedule: &'a Schedule, dependence: &Dependence) -> Treatment<'a> {
        let (ends, keeps) = (Ends::of(dependence), dependence.keeps);
        let Common { loops, parting } = common(schedule, ends.source, ends.sink);
        let loops = loops.into_iter().map(|it| (it.tag, &it.at[&ends.source], &it.at[&ends.sink])).collect();
        let iterators = [ends.source, ends.sink].map(|id| algorithm.computation(id).iterators.len());
        let updates = match keeps {
            Keeps::Order => None,
            Keeps::Apart => Some(ends),
        };
        Treatment { keeps, iterators, loops, parting, updates }
    }
}

/// The same dependences with those made one that the schedule treats alike, between whichever computations they are: what is as good for
/// a verdict on it, and quicker where dozens of statements share their loops. Accesses and kinds are those of the first of each.
pub fn alike(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependences: &[Dependence],
) -> Result<Vec<Dependence>, Error> {
    let mut groups: BTreeMap<Treatment<'_>, Vec<&Dependence>> = BTreeMap::new();
    for it in dependences {
        groups.entry(Treatment::of(algorithm, schedule, it)).or_default().push(it);
    }
    let merged = groups.into_values().map(|group| {
        let first = group[0];
        let relations: Vec<&Map> = group.iter().map(|it| &it.relation).collect();
        let relation = ctx.remembered_map(&format!("alike {:?}", numbers(ctx, &relations)), || {
            let (source, sink) = (relations[0].tuple_id(DimType::In)?, relations[0].tuple_id(DimType::Out)?);
            let of_first = |map: &Map| map.set_tuple_id(DimType::In, &source)?.set_tuple_id(DimType::Out, &sink);
            Map::union_all(relations.iter().map(|&map| of_first(map)).collect::<Result<Vec<_>, _>>()?)
        })?;
        Ok(Dependence { relation, ..first.clone() })
    });
    merged.collect()
}

fn numbers(ctx: &Ctx, maps: &[&Map]) -> Vec<usize> {
    maps.iter().map(|map| ctx.number_of(map)).collect()
}

/// Accepts the schedule, or names the first dependence that it breaks.
///
/// # Errors
/// [`ScheduleError::Illegal`], or isl's own failure.
pub fn check(ctx: &Ctx, algorithm: &Algorithm, schedule: &Schedule, dependences: &[Dependence]) -> Result<(), Error> {
    let fewer = match dependences.len() > MANY {
        true => alike(ctx, algorithm, schedule, dependences)?,
        false => merged(dependences)?,
    };
    if is_legal(ctx, algorithm, schedule, &fewer)? {
        return Ok(());
    }
    match first_violation(ctx, algorithm, schedule, dependences)? {
        None => Ok(()),
        Some(violation) => Err(ScheduleError::Illegal(Box::new(violation)).into()),
    }
}

/// Whether the loops that the tree tags so may all run their iterations in any order.
pub fn is_legal(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependences: &[Dependence],
) -> Result<bool, Error> {
    Ok(first_violation(ctx, algorithm, schedule, dependences)?.is_none())
}

/// What dependences have in common that are judged together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ends {
    source: ComputationId,
    sink: ComputationId,
    keeps: Keeps,
}

impl Ends {
    fn of(dependence: &Dependence) -> Ends {
        Ends { source: dependence.source.computation, sink: dependence.sink.computation, keeps: dependence.keeps }
    }
}

/// Divisions in the functions around both ends of a dependence from which on a test of a larger set of pairs pays.
const WORTH_ENLARGING: usize = 4;

/// Whether the order keeps all pairs of a convex set, whatever the sizes, that holds all dependences between two computations.
///
/// Tiles lie in infinite space and fit the cone of all dependences, so orders with many divisions mostly do, and isl finds out
/// many times faster than for each dependence with its sizes. `false` says nothing of any dependence.
fn is_kept_around(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependences: &[Dependence],
    ends: Ends,
    comparisons: &Comparisons,
) -> Result<bool, Error> {
    let divided: usize = [ends.source, ends.sink].map(|id| effort::divisions(algorithm, schedule, id)).iter().sum();
    if divided < WORTH_ENLARGING {
        return Ok(false);
    }
    let mut all = dependences.iter().filter(|it| Ends::of(it) == ends);
    let Some(first) = all.next() else { return Ok(false) };
    let relations: Vec<&Map> = std::iter::once(first).chain(all).map(|it| &it.relation).collect();
    let relation = ctx.remembered_map(&format!("around {:?}", numbers(ctx, &relations)), || {
        let whatever_sizes =
            |map: &Map| map.drop_constraints_involving_dims(DimType::Param, 0, map.dim(DimType::Param)?);
        let all = relations.iter().map(|map| whatever_sizes(map)).collect::<Result<Vec<_>, _>>()?;
        Map::from_basic_map(&Map::union_all(all)?.simple_hull()?)
    })?;
    let around = Dependence { relation, ..first.clone() };
    Ok(violated(ctx, algorithm, schedule, &around, None, comparisons)?.is_none())
}

fn violated(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependence: &Dependence,
    assumed: Option<&Set>,
    comparisons: &Comparisons,
) -> Result<Option<(Breach, Map)>, Error> {
    let (source, sink) = (dependence.source.computation, dependence.sink.computation);
    let common = common(schedule, source, sink);
    let mut equal = match assumed {
        None => dependence.relation.clone(),
        Some(assumed) => dependence.relation.intersect_params(assumed)?,
    };
    if assumed.is_some() && equal.is_empty()? {
        return Ok(None);
    }
    for (depth, it) in common.loops.iter().enumerate() {
        let (from, to) = ((source, &it.at[&source]), (sink, &it.at[&sink]));
        // Orders that are tried one after the other have most loops in common.
        let among = |comparison: &Map| -> Result<Map, Error> {
            let relation = compare(ctx, algorithm, from, to, comparison)?;
            let question = format!("{} and {}", ctx.number_of(&equal), ctx.number_of(&relation));
            ctx.remembered_map(&question, || Ok(equal.intersect(&relation)?))
        };
        let is_empty = |pairs: &Map| ctx.remembered(&format!("empty {}", ctx.number_of(pairs)), || pairs.is_empty());
        let reversed = among(&comparisons.greater)?;
        let is_reversed = !is_empty(&reversed)?;
        if is_reversed && dependence.keeps == Keeps::Order {
            return Ok(Some((Breach::Reversed { at: it.name.clone() }, reversed)));
        }
        let is_combined = || -> Result<bool, Error> {
            let is_update = dependence.keeps == Keeps::Apart && source == sink;
            Ok(is_update && combine::combines(ctx, algorithm, &common.loops[..depth], it, source)?)
        };
        // Updates in one piece may meet on a GPU, which is all that has them, also those of several statements.
        let is_atomic = dependence.keeps == Keeps::Apart
            && [source, sink].iter().all(|&id| algorithm.computation(id).atomic)
            && matches!(it.tag, Tag::Parallel | Tag::GpuBlock(_) | Tag::GpuThread(_));
        if !it.tag.keeps_order() && !is_atomic && !is_combined()? {
            let forwards = among(&comparisons.less)?;
            let apart = if is_reversed { forwards.union(&reversed)? } else { forwards };
            if !is_empty(&apart)? {
                return Ok(Some((Breach::Concurrent { at: it.name.clone(), tag: it.tag }, apart)));
            }
        }
        let together = among(&comparisons.equal)?;
        if is_empty(&together)? {
            return Ok(None);
        }
        equal = together;
    }
    match common.parting {
        Parting::Sequence { first_comes_first: true } => Ok(None),
        Parting::Sequence { first_comes_first: false } => {
            Ok((dependence.keeps == Keeps::Order).then_some((Breach::Sequence, equal)))
        }
        Parting::SameLeaf => Ok(Some((Breach::Unordered, equal))),
    }
}

/// The smallest pair, at the smallest parameters, of a non-empty set of pairs.
pub(crate) fn witness(
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependence: &Dependence,
    pairs: &Map,
) -> Result<Witness, Error> {
    let (source, sink) = (dependence.source.computation, dependence.sink.computation);
    let Pair { params, first: from, second: to } = smallest_pair(pairs, algorithm.computation(source).iterators.len())?;
    let all_names = algorithm.param_names();
    let all_params: Vec<i64> = all_names
        .iter()
        .map(|name| params.iter().find(|(known, _)| known == name).map_or(0, |(_, value)| *value))
        .collect();
    let distance = |order: &Schedule| -> Vec<i64> {
        let value = |it: &Loop, id: ComputationId, at: &[i64]| it.at[&id].evaluate(at, &all_params).unwrap_or(i64::MAX);
        common(order, source, sink)
            .loops
            .iter()
            .map(|it| value(it, sink, &to).saturating_sub(value(it, source, &from)))
            .collect()
    };
    let (distance, new_distance) = (distance(&algorithm.source_order), distance(schedule));
    Ok(Witness { source: from, sink: to, params, distance, new_distance })
}

/// Two instances, and the parameters for which they exist; only those parameters that matter.
pub(crate) struct Pair {
    pub(crate) params: Vec<(String, i64)>,
    pub(crate) first: Vec<i64>,
    pub(crate) second: Vec<i64>,
}

/// The smallest pair, at the smallest parameters, of a non-empty set of pairs whose first has `split` iterators.
pub(crate) fn smallest_pair(pairs: &Map, split: usize) -> Result<Pair, Error> {
    let pairs = pairs.drop_unused_params()?;
    let param_count = pairs.dim(DimType::Param)?;
    let names: Vec<String> = (0..param_count)
        .map(|at| Ok(pairs.dim_name(DimType::Param, at)?.unwrap_or_default()))
        .collect::<Result<_, Error>>()?;
    let all = pairs.wrap()?.flatten()?.reset_tuple_id()?;
    let all = all.move_dims(DimType::Set, 0, DimType::Param, 0, param_count)?;
    let point = match all.lexmin().and_then(|least| least.sample_point()) {
        Ok(point) => point,
        Err(_) => all.sample_point()?,
    };
    let count = all.dim(DimType::Set)?;
    let values: Vec<i64> = (0..count)
        .map(|at| Ok(point.coordinate(DimType::Set, at as i32)?.to_i64().unwrap_or(i64::MAX)))
        .collect::<Result<_, Error>>()?;
    let (params, instances) = values.split_at(param_count as usize);
    let (first, second) = instances.split_at(split);
    Ok(Pair {
        params: names.into_iter().zip(params.iter().copied()).collect(),
        first: first.to_vec(),
        second: second.to_vec(),
    })
}

impl Tag {
    /// Whether iterations run one after the other, in order.
    pub fn keeps_order(self) -> bool {
        match self {
            Tag::Sequential | Tag::Unroll(_) | Tag::Rows | Tag::Separate | Tag::Stream(_) | Tag::GridSync => true,
            Tag::Parallel | Tag::Vector(_) | Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine => false,
        }
    }

    /// The axis of a block along which its threads have an iteration each.
    pub fn thread(self) -> Option<ProcessorAxis> {
        match self {
            Tag::GpuThread(axis) => Some(axis),
            Tag::Combine => Some(ProcessorAxis::X),
            Tag::Sequential
            | Tag::Parallel
            | Tag::Vector(_)
            | Tag::Unroll(_)
            | Tag::Rows
            | Tag::Separate
            | Tag::GpuBlock(_)
            | Tag::Stream(_)
            | Tag::GridSync => None,
        }
    }
}
