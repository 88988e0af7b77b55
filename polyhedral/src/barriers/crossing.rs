//! Which computations of a kernel touch an element from different threads, one of them writing.
//!
//! The test knows nothing of the order of steps or of loops that a block runs through in step: any two instances that one block may run
//! count, whenever it runs them. So one answer for two computations holds wherever they stand, also from one iteration to the next.
//! Where it is not known which thread runs an instance, where subscripts are computed, or where isl does not answer within its
//! budget, the answer is that they cross. Updates of one array by one operator that threads make in one piece do not.

use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayId, ComputationId};
use crate::error::Error;
use crate::isl::{Ctx, Map, Set};
use crate::layers::{BufferId, Layout, MemorySpace};
use crate::reduction::reduction;
use crate::relation;
use crate::schedule::{Path, ProcessorAxis};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What isl may do for two accesses: a hundred times what those of plain tiles take.
const OPERATIONS: u64 = 40_000;

/// Who waits at a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The threads of a block. What they run in step are their loops and their first thread's work.
    Block,
    /// All blocks of a grid. What they run in step are turns.
    Grid,
}

impl Reach {
    /// Whether several of those who wait see such memory.
    pub fn sees(self, space: MemorySpace) -> bool {
        match space {
            MemorySpace::Host | MemorySpace::Global | MemorySpace::Constant { .. } => true,
            MemorySpace::Shared => self == Reach::Block,
            MemorySpace::Register => false,
        }
    }
}

/// What a step does of one computation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    pub computation: ComputationId,
    /// The positions of the reads that it makes.
    pub reads: Vec<u32>,
    pub stores: Stores,
    pub runs: Runs,
}

/// Whether a step stores what it computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stores {
    Yes,
    /// It only asks what it reads.
    No,
}

/// Who runs the instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runs {
    Thread(Thread),
    /// It is not known.
    Anyone,
}

/// The thread that runs an instance, by functions of the computation's iterators.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    /// Along each axis that a block has threads along: instances of any two works with equal numbers belong to one thread.
    pub along: BTreeMap<ProcessorAxis, Affine>,
    /// The loops of which a block sees one value alone, with that value: those over blocks and those of the host.
    pub within: BTreeMap<Path, Affine>,
}

/// Names a [`Work`] of [`Crossings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkId(u32);

/// The works of a kernel, and which of them cross.
pub struct Crossings<'a> {
    ctx: &'a Ctx,
    algorithm: &'a Algorithm,
    layout: &'a Layout,
    /// What holds of the parameters besides the algorithm's context.
    known: Option<Set>,
    reach: Reach,
    works: Vec<Work>,
    answers: RefCell<BTreeMap<(WorkId, WorkId), bool>>,
}

/// An access to memory that several see.
#[derive(Clone, Copy)]
struct Touch<'a> {
    access: &'a Access,
    buffer: BufferId,
    writes: bool,
}

impl<'a> Crossings<'a> {
    /// Of a kernel without works.
    pub fn new(algorithm: &'a Algorithm, layout: &'a Layout, known: Option<Set>, reach: Reach) -> Self {
        let ctx = algorithm.context.ctx();
        Self { ctx, algorithm, layout, known, reach, works: vec![], answers: RefCell::default() }
    }

    /// Names a work; equal ones have one name.
    pub fn add(&mut self, work: Work) -> WorkId {
        let known = self.works.iter().position(|it| *it == work);
        let at = known.unwrap_or_else(|| {
            self.works.push(work);
            self.works.len() - 1
        });
        WorkId(at as u32)
    }

    pub fn work(&self, id: WorkId) -> &Work {
        &self.works[id.0 as usize]
    }

    /// Whether both touch a buffer that several see, one of them writing, such that different threads may touch one element.
    pub fn cross(&self, first: WorkId, second: WorkId) -> bool {
        let pair = (first.min(second), first.max(second));
        if let Some(&known) = self.answers.borrow().get(&pair) {
            return known;
        }
        let answer = self.find(self.work(pair.0), self.work(pair.1));
        self.answers.borrow_mut().insert(pair, answer);
        answer
    }

    /// Whether both touch a buffer in the memory of a block, one of them writing.
    pub fn meet_in_block(&self, first: WorkId, second: WorkId) -> bool {
        let is_shared = |it: &Touch<'_>| self.layout.buffer(it.buffer).space == MemorySpace::Shared;
        self.meetings(self.work(first), self.work(second)).iter().any(|(touch, _)| is_shared(touch))
    }

    /// The accesses to one buffer, one of each pair writing.
    fn meetings(&self, first: &Work, second: &Work) -> Vec<(Touch<'a>, Touch<'a>)> {
        let others = self.touches(second);
        let in_one_piece = |a: &Touch<'_>, b: &Touch<'_>| {
            a.access.array == b.access.array
                && updates_alike(self.algorithm, first.computation, second.computation, a.access.array)
        };
        let meets =
            |a: &Touch<'_>, b: &Touch<'_>| a.buffer == b.buffer && (a.writes || b.writes) && !in_one_piece(a, b);
        let with = |it: Touch<'a>| others.iter().filter(move |other| meets(&it, other)).map(move |&other| (it, other));
        self.touches(first).into_iter().flat_map(with).collect()
    }

    fn touches(&self, work: &Work) -> Vec<Touch<'a>> {
        let it = self.algorithm.computation(work.computation);
        let touch =
            |access: &'a Access, writes| Touch { access, buffer: self.layout.placement(access.array).buffer, writes };
        let write = touch(&it.write, true);
        // A copy ahead fills a stage that nobody uses before the end of the iteration, where all wait.
        let ahead = self.layout.is_ahead(work.computation);
        let filled = write.buffer;
        let stored = (work.stores == Stores::Yes).then_some(write);
        let reads = work.reads.iter().map(|&at| touch(&it.reads[at as usize], false));
        let all = stored.into_iter().chain(reads).filter(|it| !ahead || it.buffer != filled);
        all.filter(|it| self.reach.sees(self.layout.buffer(it.buffer).space)).collect()
    }

    fn find(&self, first: &Work, second: &Work) -> bool {
        let meetings = self.meetings(first, second);
        if meetings.is_empty() {
            return false;
        }
        let (Runs::Thread(one), Runs::Thread(other)) = (&first.runs, &second.runs) else { return true };
        if self.reach == Reach::Grid || !one.along.keys().eq(other.along.keys()) {
            return true;
        }
        let mut along: Vec<_> = one.along.values().cloned().zip(other.along.values().cloned()).collect();
        along.retain(|(a, b)| a.as_constant().is_none() || a != b);
        let both = one.within.iter().filter_map(|(path, at)| Some((at.clone(), other.within.get(path)?.clone())));
        let within: Vec<_> = both.collect();
        if along.is_empty() {
            return false;
        }
        meetings.iter().any(|(touch, met)| {
            match (self.located(first.computation, touch.access), self.located(second.computation, met.access)) {
                (Some(one), Some(other)) => self.element_crosses(&one, &other, &along, &within),
                (None, _) | (_, None) => true,
            }
        })
    }

    /// The places in its buffer that an access touches; `None` if a subscript is computed.
    fn located(&self, id: ComputationId, access: &'a Access) -> Option<Located<'a>> {
        let subscripts: Vec<Affine> =
            access.subscripts.iter().map(|it| it.as_affine().cloned()).collect::<Option<_>>()?;
        let map = &self.layout.placement(access.array).map;
        let element = map.iter().map(|it| it.substitute(&subscripts)).collect::<Result<_, _>>().ok()?;
        Some(Located { id, within: access.within.as_ref(), element })
    }

    /// Whether instances that different threads of one block run touch one element. `along` are their threads, `within` what is one
    /// value for each block.
    fn element_crosses(
        &self,
        first: &Located<'_>,
        second: &Located<'_>,
        along: &[(Affine, Affine)],
        within: &[(Affine, Affine)],
    ) -> bool {
        let question = format!(
            "crossing {:?} {} {:?} {} {} {along:?} {within:?}",
            self.algorithm.param_names(),
            self.ctx.number_of_set(&self.algorithm.context),
            self.known.as_ref().map(|it| self.ctx.number_of_set(it)),
            self.text(first),
            self.text(second),
        );
        let answer = self.ctx.remembered(&question, || {
            let found = self.ctx.with_budget(OPERATIONS, || self.find_pair(first, second, along, within));
            // What is not answered once is not asked again, so that placing and proving see the same.
            Ok::<_, Error>(found.unwrap_or(true))
        });
        answer.unwrap_or(true)
    }

    /// All that says what an access touches.
    fn text(&self, it: &Located<'_>) -> String {
        let computation = self.algorithm.computation(it.id);
        let sets = [Some(&computation.domain), it.within].map(|set| set.map(|set| self.ctx.number_of_set(set)));
        format!("{:?}", (&computation.name, &computation.iterators, sets, &it.element))
    }

    fn find_pair(
        &self,
        first: &Located<'_>,
        second: &Located<'_>,
        along: &[(Affine, Affine)],
        within: &[(Affine, Affine)],
    ) -> Result<bool, Error> {
        let of_first = |both: &[(Affine, Affine)]| -> Vec<Affine> { both.iter().map(|it| it.0.clone()).collect() };
        let of_second = |both: &[(Affine, Affine)]| -> Vec<Affine> { both.iter().map(|it| it.1.clone()).collect() };
        let touched = self.touched(first, of_first(within))?;
        // { S[x] -> R[y] }: those of one block that touch one element.
        let pairs = touched.apply_range(&self.touched(second, of_second(within))?.reverse()?)?;
        if pairs.is_empty()? {
            return Ok(false);
        }
        // { S[x] -> [thread] }
        let one = relation::functions(self.ctx, self.algorithm, first.id, &of_first(along))?;
        let other = relation::functions(self.ctx, self.algorithm, second.id, &of_second(along))?;
        let threads = relation::param_space(self.ctx, self.algorithm)?.add_unnamed_tuple(along.len() as u32)?;
        for different in [Map::lex_lt(&threads)?, Map::lex_gt(&threads)?] {
            let apart = one.apply_range(&different)?.apply_range(&other.reverse()?)?;
            if !pairs.intersect(&apart)?.is_empty()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `{ S[x] -> [element, values that a block sees alone] }`.
    fn touched(&self, it: &Located<'_>, within: Vec<Affine>) -> Result<Map, Error> {
        let each = [it.element.clone(), within].concat();
        let mut touched = relation::functions(self.ctx, self.algorithm, it.id, &each)?
            .intersect_domain(&relation::domain(self.algorithm, it.id)?)?;
        if let Some(within) = it.within {
            touched = touched.intersect_domain(within)?;
        }
        match &self.known {
            Some(known) => Ok(touched.intersect_params(known)?),
            None => Ok(touched),
        }
    }
}

/// Whether threads make all that two statements do with an array in one piece, in any order.
fn updates_alike(algorithm: &Algorithm, first: ComputationId, second: ComputationId, array: ArrayId) -> bool {
    let by = |id: ComputationId| {
        let it = algorithm.computation(id);
        reduction(algorithm, id).filter(|update| it.atomic && update.array == array).map(|update| update.operator)
    };
    by(first).is_some_and(|operator| by(second) == Some(operator))
}

/// The places in its buffer that an access of a computation touches.
struct Located<'a> {
    id: ComputationId,
    /// The instances that may perform the access, if not all.
    within: Option<&'a Set>,
    element: Vec<Affine>,
}
