//! Who wrote the values that a program reads.

use super::Snapshot;
use super::moment::{before, without_empty};
use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayId, ComputationId};
use crate::error::Error;
use crate::isl::{Ctx, DimType, ExecutionOrder, FlowQuery, Id, Map, Set, UnionMap};
use crate::relation;
use crate::schedule::{Node, Path, Schedule};
use crate::unused::Unused;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The tuple of what asks for a value. Names of the source have no spaces.
const SINK: &str = "the reader";

/// For two writers of an array, what [`Flows::rewrites`] gives.
type Rewrites = BTreeMap<(ComputationId, ComputationId), Rc<Vec<Map>>>;

/// The flow of values through a program in its own order.
pub struct Flows<'a> {
    pub(super) ctx: &'a Ctx,
    pub(super) algorithm: &'a Algorithm,
    depth: usize,
    /// The writers of each array: `{ W[y] -> A value[e] }`.
    writers: BTreeMap<ArrayId, Vec<(ComputationId, Map)>>,
    /// `{ W[y] -> [time] }` of their writes.
    times: BTreeMap<ComputationId, Map>,
    /// The same of what they read, as far as it was asked for.
    reading: RefCell<BTreeMap<ComputationId, Map>>,
    rewrites: RefCell<Rewrites>,
    /// What reads were found to see.
    seen: RefCell<Vec<Seen>>,
    unused: Unused,
}

/// A read, and what it sees.
struct Seen {
    reading: ComputationId,
    array: ArrayId,
    access: Map,
    values: UnionMap,
}

/// What asks for values.
pub struct Sink {
    /// `{ the reader[x] -> A value[e] }`
    pub(super) access: Map,
    /// `{ the reader[x] -> [time] }`
    time: Map,
    pub(super) when: When,
}

/// When a sink looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// When an instance of this computation reads.
    Instance(ComputationId),
    /// After all.
    End,
    /// At another moment.
    Else,
}

impl<'a> Flows<'a> {
    pub fn new(ctx: &'a Ctx, algorithm: &'a Algorithm) -> Result<Self, Error> {
        let order = &algorithm.source_order;
        let depth = algorithm.ids().filter_map(|id| order.path_of(id)).map(|path| path.0.len()).max().unwrap_or(0);
        let (writers, rewrites, seen) = (BTreeMap::new(), RefCell::default(), RefCell::default());
        let unused = Unused::of(algorithm, &algorithm.source_order);
        let mut flows = Flows {
            ctx,
            algorithm,
            depth,
            writers,
            times: BTreeMap::new(),
            reading: RefCell::default(),
            rewrites,
            seen,
            unused,
        };
        for id in algorithm.ids() {
            let write = &algorithm.computation(id).write;
            let stored = element(ctx, algorithm, write.array, relation::access(ctx, algorithm, id, write)?)?;
            let stored = flows.narrow(stored)?;
            flows.writers.entry(write.array).or_default().push((id, stored));
            flows.times.insert(id, flows.time(id, order, 1)?);
        }
        Ok(flows)
    }

    /// `{ S[x] -> [0, twice each step down the tree, moment] }`.
    fn time(&self, id: ComputationId, order: &Schedule, moment: i64) -> Result<Map, Error> {
        let path = order.path_of(id).expect("every computation has a leaf in the schedule tree");
        let mut steps = vec![Affine::constant(0)];
        for (level, &child) in path.0.iter().enumerate() {
            let step = match order.node(&Path(path.0[..level].to_vec())) {
                Some(Node::Loop(it)) => it.at[&id].clone(),
                Some(Node::Sequence(_) | Node::Computation(_)) | None => Affine::constant(child as i64),
            };
            steps.push(step.scale(2)?);
        }
        steps.resize(self.depth + 1, Affine::constant(0));
        steps.push(Affine::constant(moment));
        self.narrow(relation::functions(self.ctx, self.algorithm, id, &steps)?)
    }

    /// The same relation without the parameters that nothing depends on.
    pub(super) fn narrow(&self, map: Map) -> Result<Map, Error> {
        Ok(self.unused.without(map)?)
    }

    /// Whether the order has a time of its own for each instance.
    pub(super) fn is_ordered(&self, id: ComputationId) -> Result<bool, Error> {
        let time = self.time(id, &self.algorithm.source_order, 0)?;
        Ok(time.intersect_domain(&relation::domain(self.algorithm, id)?)?.is_injective()?)
    }

    /// A read. One with computed subscripts asks for each element that it may touch: `the reader[x, e]`.
    pub fn read(&self, id: ComputationId, access: &Access) -> Result<Sink, Error> {
        let (ctx, algorithm) = (self.ctx, self.algorithm);
        let touched = element(ctx, algorithm, access.array, relation::access(ctx, algorithm, id, access)?)?;
        let touched = self.narrow(touched)?;
        let known = self.reading.borrow().get(&id).cloned();
        let time = match known {
            Some(known) => known,
            None => {
                let time = self.time(id, &algorithm.source_order, 0)?;
                self.reading.borrow_mut().insert(id, time.clone());
                time
            }
        };
        let time = time.intersect_domain(&touched.domain()?)?;
        if access.is_affine() {
            let when = When::Instance(id);
            return Ok(Sink { access: reader(ctx, touched)?, time: reader(ctx, time)?, when });
        }
        let time = touched.domain_map()?.apply_range(&time)?.flatten_domain()?;
        let access = reader(ctx, touched.range_map()?.flatten_domain()?)?;
        Ok(Sink { access, time: reader(ctx, time)?, when: When::Else })
    }

    /// The value that a snapshot by a computation of `other` stands for, this program being the original.
    pub fn snapshot(&self, other: &Algorithm, id: ComputationId, snapshot: &Snapshot) -> Result<Sink, Error> {
        let ctx = self.ctx;
        let domain = relation::domain(other, id)?;
        let access = relation::functions(ctx, other, id, &snapshot.subscripts)?.intersect_domain(&domain)?;
        let mut steps = vec![Affine::constant(0)];
        for step in &snapshot.moment {
            steps.push(step.scale(2)?);
        }
        if let Some(last) = steps.last_mut() {
            *last = last.add_constant(-1)?;
        }
        steps.resize(self.depth + 2, Affine::constant(0));
        let time = relation::functions(ctx, other, id, &steps)?.intersect_domain(&domain)?;
        let access = self.narrow(element(ctx, self.algorithm, snapshot.array, access)?)?;
        Ok(Sink { access: reader(ctx, access)?, time: reader(ctx, self.narrow(time)?)?, when: When::Else })
    }

    /// Elements of an array after all has run: `{ A[e] }`.
    pub fn end(&self, array: ArrayId, elements: &Set) -> Result<Sink, Error> {
        let ctx = self.ctx;
        let access = self.narrow(element(ctx, self.algorithm, array, elements.identity()?)?)?;
        let space = relation::param_space(ctx, self.algorithm)?.add_unnamed_tuple(self.depth as u32 + 2)?;
        let mut last = Set::universe(&space)?.fix_i32(DimType::Set, 0, 1)?;
        for step in 1..self.depth as u32 + 2 {
            last = last.fix_i32(DimType::Set, step, 0)?;
        }
        let time = self.narrow(Map::from_domain_and_range(elements, &last)?)?;
        Ok(Sink { access: reader(ctx, access)?, time: reader(ctx, time)?, when: When::End })
    }

    /// `{ the reader[x] -> W[y] }` for the instance that wrote the value, `{ the reader[x] -> A value[e] }` for an element
    /// that nobody wrote before.
    pub fn values(&self, array: ArrayId, sink: &Sink) -> Result<UnionMap, Error> {
        let When::Instance(reading) = sink.when else { return self.find_values(array, sink) };
        for it in self.seen.borrow().iter() {
            let is_alike = it.array == array && self.stand_alike(it.reading, reading, array);
            if is_alike && it.access.is_plainly_equal(&sink.access)? {
                return Ok(it.values.clone());
            }
        }
        let values = self.find_values(array, sink)?;
        self.seen.borrow_mut().push(Seen { reading, array, access: sink.access.clone(), values: values.clone() });
        Ok(values)
    }

    fn find_values(&self, array: ArrayId, sink: &Sink) -> Result<UnionMap, Error> {
        let untouched = sink.access.to_union_map()?;
        // Writers of other elements, of planes of one array for one, are many where dozens of statements stand in one loop.
        let (mut all_stored, mut all_times): (Option<UnionMap>, Option<UnionMap>) = (None, None);
        for (id, stored) in self.writers(array) {
            if sink.access.apply_range(&stored.reverse()?)?.is_empty()? {
                continue;
            }
            let (stored, time) = (stored.to_union_map()?, self.times[id].to_union_map()?);
            all_stored = Some(all_stored.map_or(Ok(stored.clone()), |others| others.union(&stored))?);
            all_times = Some(all_times.map_or(Ok(time.clone()), |others| others.union(&time))?);
        }
        let (Some(stored), Some(time)) = (all_stored, all_times) else { return Ok(untouched) };
        let query = FlowQuery {
            sink: untouched,
            must_source: Some(stored),
            may_source: None,
            kill: None,
            order: ExecutionOrder::Map(time.union(&sink.time.to_union_map()?)?),
        };
        let flow = query.compute()?;
        Ok(flow.must_dependence.reverse()?.union(&flow.must_no_source)?)
    }

    /// The writers of an array: `{ W[y] -> A value[e] }`.
    pub(super) fn writers(&self, array: ArrayId) -> &[(ComputationId, Map)] {
        self.writers.get(&array).map_or(&[], Vec::as_slice)
    }

    /// Whether two computations stand alike among the writers of an array: neighbours, with none of these between them, and themselves no writers. Then
    /// what one of them sees of it is what the other one does.
    pub(super) fn stand_alike(&self, one: ComputationId, other: ComputationId, array: ArrayId) -> bool {
        if one == other {
            return true;
        }
        let order = &self.algorithm.source_order;
        let (Some(path), Some(other_path)) = (order.path_of(one), order.path_of(other)) else { return false };
        let (Some((&here, above)), Some(&there)) = (path.0.split_last(), other_path.0.last()) else { return false };
        let is_between = |id: ComputationId| {
            let at = order.path_of(id).and_then(|path| Some(*path.0.strip_prefix(above)?.first()?));
            at.is_some_and(|at| here.min(there) <= at && at <= here.max(there))
        };
        order.are_neighbours(one, other) && !self.writers(array).iter().any(|(id, _)| is_between(*id))
    }

    /// `{ W[y] -> V[z] }`: `V` writes the element after `W`, as conjunctions.
    pub(super) fn rewrites(&self, one: ComputationId, other: ComputationId) -> Result<Rc<Vec<Map>>, Error> {
        if let Some(known) = self.rewrites.borrow().get(&(one, other)) {
            return Ok(Rc::clone(known));
        }
        let stored = |id: ComputationId| {
            let all = self.writers(self.algorithm.computation(id).write.array);
            &all.iter().find(|(writer, _)| *writer == id).expect("a computation writes its array").1
        };
        let same = stored(one).apply_range(&stored(other).reverse()?)?;
        let mut pairs = vec![];
        for order in before(self.ctx, self, one, other)? {
            pairs.push(same.intersect(&order)?);
        }
        let found = Rc::new(without_empty(pairs)?);
        self.rewrites.borrow_mut().insert((one, other), Rc::clone(&found));
        Ok(found)
    }

    /// The elements of an array that computations write: `{ A[e] }`.
    pub fn written(&self, array: ArrayId) -> Result<Option<Set>, Error> {
        let mut written: Option<Set> = None;
        for id in self.algorithm.ids() {
            let write = &self.algorithm.computation(id).write;
            if write.array == array {
                let elements = relation::access(self.ctx, self.algorithm, id, write)?.range()?;
                written = Some(match written {
                    None => elements,
                    Some(others) => others.union(&elements)?,
                });
            }
        }
        Ok(written)
    }
}

/// The instances of one computation among what a read sees: `{ S[x] -> W[y] }`, and the rest.
pub fn written_by(
    ctx: &Ctx,
    algorithm: &Algorithm,
    id: ComputationId,
    values: &UnionMap,
    writer: ComputationId,
) -> Result<(Map, UnionMap), Error> {
    let reading = relation::domain_space(ctx, algorithm, id)?;
    let from = Set::universe(&reading)?.set_tuple_id(&Id::new(ctx, SINK)?)?;
    let to = Set::universe(&relation::domain_space(ctx, algorithm, writer)?)?;
    let all = Map::from_domain_and_range(&from, &to)?;
    let own = values.extract_map(&all.space()?)?;
    let rest = values.subtract(&own.to_union_map()?)?;
    let name = Id::new(ctx, &algorithm.computation(id).name)?;
    Ok((own.set_tuple_id(DimType::In, &name)?, rest))
}

/// `{ the reader[...] -> ... }`.
pub(super) fn reader(ctx: &Ctx, map: Map) -> Result<Map, Error> {
    Ok(map.set_tuple_id(DimType::In, &Id::new(ctx, SINK)?)?)
}

/// A map to elements of an array, told apart from instances of a computation with the array's name.
pub(super) fn element(ctx: &Ctx, algorithm: &Algorithm, array: ArrayId, map: Map) -> Result<Map, Error> {
    let name = format!("{} value", algorithm.array(array).name);
    Ok(map.set_tuple_id(DimType::Out, &Id::new(ctx, &name)?)?)
}

/// `{ A value[e] -> A value[e] }`: elements of arrays that both programs have.
pub(super) fn untouched(ctx: &Ctx, algorithm: &Algorithm, array: ArrayId) -> Result<UnionMap, Error> {
    let rank = algorithm.array(array).rank;
    let space = relation::param_space(ctx, algorithm)?.add_unnamed_tuple(rank)?;
    let all = Set::universe(&space)?.identity()?;
    let name = Id::new(ctx, &format!("{} value", algorithm.array(array).name))?;
    Ok(all.set_tuple_id(DimType::In, &name)?.set_tuple_id(DimType::Out, &name)?.to_union_map()?)
}

/// Maps from what asks in the new program to what asks in the original: the first `keep` values, and those after `skip`.
pub(super) fn between_readers(
    ctx: &Ctx,
    algorithm: &Algorithm,
    count: u32,
    keep: u32,
    skip: u32,
) -> Result<Map, Error> {
    let space = relation::param_space(ctx, algorithm)?.add_unnamed_tuple(count)?;
    let all = Set::universe(&space)?.identity()?;
    let shorter = all.project_out(DimType::Out, keep, skip)?;
    let name = Id::new(ctx, SINK)?;
    Ok(shorter.set_tuple_id(DimType::In, &name)?.set_tuple_id(DimType::Out, &name)?)
}
