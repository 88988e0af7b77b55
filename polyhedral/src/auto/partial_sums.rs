//! Partial results for reductions that no loop around runs in parallel: on a GPU, one thread would do all of their work.
//!
//! ```text
//! for i { a += x[i] }
//!   -> @block for b in 0..528 { Q[b] = -0.0; @combine for t in 0..256 { P = -0.0; for i0 { P += x[..] }; Q[b] += P } }
//!      @combine for b { a += Q[b] }
//! for j, i { a += A[i, j] }
//!   -> the same with b = j mod 528, t = i mod 256 and loops j0, i0 in each thread
//! ```
//!
//! So there are two launches: as many blocks as a large GPU runs at a time, each of which combines what its threads added up, then one
//! block ([`crate::combine`]). Where the source fixes the order of the outer loop's iterations, each has a block, and one thread adds up
//! their results in order.
//!
//! Reductions over the same instances share these launches (`one_pass.rs`).
//!
//! Only where the source lets the order of updates go. What each partial result takes, and the order in which they are
//! combined, depend on nothing but the sizes, so the result has the same bits in every run. Each step but the tags is a command that a
//! user could give, and is proved like one.
//!
//! Where data say which element is updated, as in a histogram, as many threads as there are iterations update in one piece
//! ([`crate::transform::atomic`]): `in_one_piece.rs`; those of few elements are added up by blocks first: `bins.rs`.
//!
//! Reductions that each iteration of a parallel loop has for itself have a block each, where they are few (`few_sums.rs`).
//!
//! Where conditions or bounds leave threads without iterations between others, there are levels of partial results in memory instead, a
//! launch for each: 262144, 8192, 256.

use super::chooser::Chooser;
use super::gpu_storage::moves;
use super::{in_one_piece, one_pass};
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayKind, ComputationId};
use crate::combine;
use crate::command::Command;
use crate::default_order::{Means, Memory, Tilings};
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::legality;
use crate::machine::Gpu;
use crate::reduction::{UpdateOrder, reduction, reductions};
use crate::relation;
use crate::schedule::{Node, Path, ProcessorAxis, Tag};
use crate::storage::uses;
use crate::transform;

/// Threads of a block that combines.
pub(super) const THREADS: u32 = 256;
/// Blocks that run at a time, each with up to 64 registers a thread: four on each multiprocessor.
const BLOCKS: u32 = 4 * Gpu::HOPPER.multiprocessors;
/// Bytes that a thread asks for at a time, in all arrays that it reads.
const AHEAD: u32 = 64;
/// Partial results of a long loop, level by level: as many threads as a large GPU runs at a time, then groups of 32.
const LEVELS: [u32; 3] = [1 << 18, 1 << 13, 1 << 8];
/// Partial results of each execution of an inner loop.
const INNER: u32 = 256;
/// A loop with a constant number of iterations below this is not worth it.
const LONG: i64 = 4096;
/// Elements that a variable may be computed from where each reduction that reads it does so.
const LOADS: usize = 4;
/// Partial results that the last thread loads before it combines them.
const LAST: u32 = 64;

/// A program with partial results.
#[derive(Debug, Clone)]
pub struct Parted {
    pub scheduled: Scheduled,
    pub dependences: Vec<Dependence>,
    /// What led there.
    pub commands: Vec<Command>,
}

/// Gives partial results to all reductions of a program for a GPU that need them.
pub fn partial_sums(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    tilings: Tilings,
) -> Result<Parted, Error> {
    let mut parted = Parted { scheduled: scheduled.clone(), dependences: dependences.to_vec(), commands: vec![] };
    if scheduled.target == Target::Cpu {
        return Ok(parted);
    }
    let mut blocks: Vec<String> = vec![];
    parted = in_one_piece::updated(ctx, parted)?;
    // With bins, a nest has a second kernel, and code for both may take too much work.
    if tilings == Tilings::Wanted {
        parted.bins(ctx)?;
    }
    for reduction in reductions(&scheduled.algorithm) {
        let it = scheduled.algorithm.computation(reduction.computation);
        let (is_affine, is_ranged) = (it.write.is_affine(), !it.ranged.is_empty());
        // Partial results need loops that can be split.
        if reduction.order == UpdateOrder::Source || is_affine && is_ranged {
            continue;
        }
        let name = it.name.clone();
        if blocks.contains(&name) {
            continue;
        }
        let is_atomic = parted.scheduled.algorithm.computation(reduction.computation).atomic;
        if is_atomic || !is_affine && !is_ranged && parted.scatters(&name) {
            continue;
        }
        if parted.runs_in_parallel(ctx, &name)? {
            let mut trial = parted.clone();
            trial.compute_terms_in_place(ctx, &name)?;
            // Else they have a thread each.
            if let Ok(Some(done)) = in_half(ctx, || trial.few_sums(ctx, &name)) {
                blocks.extend(done);
                parted = trial;
            }
            continue;
        }
        if !is_affine {
            continue;
        }
        let mut alone = parted.clone();
        alone.compute_terms_in_place(ctx, &name)?;
        alone.stand_apart(ctx, &name)?;
        if !alone.needs_parts(ctx, &name)? {
            continue;
        }
        for way in [Parted::combine, Parted::part] {
            let mut trial = alone.clone();
            match way(&mut trial, ctx, &name, reduction.order) {
                Ok(true) => {
                    parted = trial;
                    break;
                }
                Err(error) if error.is_quota() => return Err(error),
                // It stays as it is.
                Ok(false) | Err(_) => {}
            }
        }
    }
    // What takes too much work to join stays apart.
    let _ = one_pass::share_passes(ctx, &mut parted);
    Ok(parted)
}

/// Takes a step that the choice can do without, with half of the work that is left.
pub(super) fn in_half<T>(ctx: &Ctx, step: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let half = ctx.operations_left().map_or(0, |left| (left / 2).max(1));
    ctx.with_budget(half, step)
}

/// Iterations whose elements a thread asks for at a time, where it runs these statements in each.
pub(super) fn ahead(algorithm: &Algorithm, terms: &[ComputationId]) -> u32 {
    let mut read = vec![];
    for it in terms.iter().map(|&id| algorithm.computation(id)) {
        for access in it.reads.iter().filter(|access| access.array != it.write.array) {
            let place = (access.array, &access.subscripts);
            if algorithm.array(access.array).kind != ArrayKind::Private && !read.contains(&place) {
                read.push(place);
            }
        }
    }
    let bytes: u32 = read.into_iter().map(|(array, _)| algorithm.array(array).element.bytes()).sum();
    AHEAD / bytes.max(1)
}

impl Parted {
    /// Whether the iterations of the innermost loop around a statement write other elements, as far as can be seen.
    pub(super) fn scatters(&self, name: &str) -> bool {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let Some(id) = algorithm.find(name) else { return false };
        let around = schedule.loops_around(id);
        let Some((_, innermost)) = around.last() else { return false };
        let it = algorithm.computation(id);
        moves(it, &it.write, id, innermost)
    }

    /// Blocks that combine what their threads added up; `false` if the reduction has no such form.
    fn combine(&mut self, ctx: &Ctx, name: &str, order: UpdateOrder) -> Result<bool, Error> {
        let loops = self.own(name);
        let in_order = match self.fixed(name, order) {
            0 => false,
            1 if loops.len() > 1 => true,
            _ => return Ok(false),
        };
        match loops.as_slice() {
            [] => return Ok(false),
            [only] => {
                let (outer, part) = self.split(ctx, name, only, BLOCKS * THREADS)?;
                self.exchange(ctx, name, &outer, &part)?;
                self.split(ctx, name, &part, THREADS)?;
            }
            [_, lines @ .., inner] if in_order => {
                let (steps, thread) = self.split(ctx, name, inner, THREADS)?;
                self.exchange_all(ctx, name, lines, (&steps, &thread))?;
            }
            [planes @ .., lines, inner] => {
                let (rounds, block) = self.split(ctx, name, lines, BLOCKS)?;
                self.exchange_all(ctx, name, planes, (&rounds, &block))?;
                let (steps, thread) = self.split(ctx, name, inner, THREADS)?;
                self.exchange_all(ctx, name, &[planes, &[rounds]].concat(), (&steps, &thread))?;
            }
        }
        // A block, a thread, and the loops that the thread runs.
        let loops = self.own(name);
        let [block, thread, own @ ..] = loops.as_slice() else { return Ok(false) };
        let (Some(first), Some(last)) = (own.first(), own.last()) else { return Ok(false) };
        let of_thread = self.factor(ctx, name, first, 1)?;
        let of_block = self.factor(ctx, &of_thread, thread, 1)?;
        let start = self.scheduled.algorithm.computations.iter().nth_back(1).map(|it| it.name.clone());
        self.carry_out(ctx, Command::Distribute { computation: of_block.clone(), at: block.clone() })?;
        let start = start.expect("`rfactor` adds two statements");
        self.carry_out(ctx, Command::Fuse { first: start, second: name.to_string(), at: block.clone() })?;
        self.tag(name, block, Tag::GpuBlock(ProcessorAxis::X));
        self.tag(name, thread, Tag::Combine);
        let algorithm = &self.scheduled.algorithm;
        let ahead = algorithm.find(name).map_or(1, |id| ahead(algorithm, &[id]));
        if ahead > 1 {
            self.tag(name, last, Tag::Unroll(ahead));
        }
        self.tag(&of_block, block, if in_order { Tag::Unroll(LAST) } else { Tag::Combine });
        let combined = [(&of_thread, thread), (&of_block, block)].into_iter().take(if in_order { 1 } else { 2 });
        for (name, at) in combined {
            if !self.is_combined(ctx, name, at)? {
                return Ok(false);
            }
        }
        if !in_order {
            self.start_late(ctx, &of_block)?;
        }
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        legality::is_legal(ctx, algorithm, schedule, &self.dependences)
    }

    /// Whether a block combines the updates of a loop, and its threads without iterations are the last ones.
    pub(super) fn is_combined(&self, ctx: &Ctx, name: &str, at: &str) -> Result<bool, Error> {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let Some(id) = algorithm.find(name) else { return Ok(false) };
        let around = schedule.loops_around(id);
        let Some((path, it)) = around.iter().find(|(_, it)| it.name == at) else { return Ok(false) };
        let Some(thread) = it.at[&id].as_iterator() else { return Ok(false) };
        if !combine::combined(ctx, algorithm, schedule, path)?.contains(&id) {
            return Ok(false);
        }
        let domain = relation::domain(algorithm, id)?;
        let all: Vec<Affine> = (0..algorithm.computation(id).iterators.len() as u32).map(Affine::iterator).collect();
        let mut before = all.clone();
        before[thread as usize] = Affine::iterator(thread).add_constant(-1)?;
        let (space, names) = (relation::domain_space(ctx, algorithm, id)?, algorithm.param_names());
        let value = |affine: Affine| affine.to_isl(&space, &names);
        let later = domain.intersect(&value(Affine::iterator(thread))?.ge_set(&value(Affine::constant(1))?)?)?;
        let instances = relation::functions(ctx, algorithm, id, &all)?.intersect_domain(&domain)?.range()?;
        let before = relation::functions(ctx, algorithm, id, &before)?.intersect_domain(&later)?.range()?;
        Ok(before.is_subset(&instances)?)
    }

    /// Brings the statement that sets the result before all updates to the launch that combines the blocks' results, where nothing needs
    /// it earlier.
    fn start_late(&mut self, ctx: &Ctx, of_block: &str) -> Result<(), Error> {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let Some(id) = algorithm.find(of_block) else { return Ok(()) };
        let result = algorithm.computation(id).write.array;
        let around = schedule.loops_around(id);
        // The sequence that its own loop stands in.
        let Some((_, parent)) = around.last().and_then(|(path, _)| path.0.split_last()) else { return Ok(()) };
        let path = Path(parent.to_vec());
        let Some(Node::Sequence(children)) = schedule.node(&path) else { return Ok(()) };
        let sets =
            |node: &Node| matches!(node, Node::Computation(id) if algorithm.computation(*id).write.array == result);
        let last = children.iter().position(|node| node.computations() == [id]);
        let Some((first, last)) = children.iter().position(sets).zip(last).filter(|(first, last)| first < last) else {
            return Ok(());
        };
        let mut trial = schedule.clone();
        if let Some(Node::Sequence(children)) = trial.node_mut(&path) {
            children[first..last].rotate_left(1);
        }
        if legality::is_legal(ctx, algorithm, &trial, &self.dependences)? {
            self.scheduled.schedule = trial;
        }
        Ok(())
    }

    /// The names of the loops that one becomes.
    pub(super) fn split(&mut self, ctx: &Ctx, name: &str, at: &str, size: u32) -> Result<(String, String), Error> {
        let before = self.loops(name);
        self.carry_out(ctx, Command::Split { computation: name.to_string(), at: at.to_string(), size })?;
        let now = self.loops(name);
        let place = before.iter().position(|it| it == at).unwrap_or_default();
        Ok((now[place].clone(), now[place + 1].clone()))
    }

    /// Brings the inner one of two loops out of the other one and of those `around` it, which are given outermost first.
    pub(super) fn exchange_all(
        &mut self,
        ctx: &Ctx,
        name: &str,
        around: &[String],
        (outer, inner): (&str, &str),
    ) -> Result<(), Error> {
        self.exchange(ctx, name, outer, inner)?;
        around.iter().rev().try_for_each(|around| self.exchange(ctx, name, around, inner))
    }

    pub(super) fn exchange(&mut self, ctx: &Ctx, name: &str, outer: &str, inner: &str) -> Result<(), Error> {
        let (outer, inner) = (outer.to_string(), inner.to_string());
        self.carry_out(ctx, Command::Interchange { computation: name.to_string(), outer, inner })
    }

    pub(super) fn tag(&mut self, name: &str, at: &str, tag: Tag) {
        let Scheduled { algorithm, schedule, .. } = &mut self.scheduled;
        let around = algorithm.find(name).map(|id| schedule.loops_around(id)).unwrap_or_default();
        let path = around.into_iter().find(|(_, it)| it.name == at).map(|(path, _)| path);
        if let Some(Node::Loop(it)) = path.and_then(|path| schedule.node_mut(&path)) {
            it.tag = tag;
        }
    }

    /// All levels of one reduction.
    fn part(&mut self, ctx: &Ctx, name: &str, order: UpdateOrder) -> Result<bool, Error> {
        let loops = self.own(name);
        let done = match (loops.as_slice(), self.fixed(name, order)) {
            ([only], 0) => self.levels(ctx, name, only, &LEVELS),
            ([outer, inner], 0) => {
                let total = self.factor_inside(ctx, name, outer, inner, INNER)?;
                self.levels(ctx, &total, outer, &LEVELS[1..])
            }
            ([outer, inner], 1) => {
                // One sum for each execution of the inner loop; these keep their order.
                let total = self.factor_inside(ctx, name, outer, inner, INNER)?;
                let parts = self.innermost(&total);
                let last = self.factor_inside(ctx, &total, outer, &parts, 1)?;
                self.carry_out(ctx, Command::Unroll { computation: last, at: outer.clone(), factor: LAST })
            }
            (_, _) => return Ok(false),
        };
        done.map(|()| true)
    }

    /// Whether the loops that only a reduction stands in may have parts, and the innermost one has many iterations.
    fn needs_parts(&self, ctx: &Ctx, name: &str) -> Result<bool, Error> {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let around = algorithm.find(name).map(|id| schedule.loops_around(id)).unwrap_or_default();
        let (Some((innermost, _)), 1..) = (around.last(), self.own(name).len()) else { return Ok(false) };
        Ok(self.chooser(ctx).extents(schedule, innermost, 1)?[0].is_none_or(|extent| extent >= LONG))
    }

    /// Whether some loop around a reduction has independent iterations.
    pub(super) fn runs_in_parallel(&self, ctx: &Ctx, name: &str) -> Result<bool, Error> {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let around = algorithm.find(name).map(|id| schedule.loops_around(id)).unwrap_or_default();
        for (path, _) in &around {
            let mut trial = schedule.clone();
            if let Some(Node::Loop(it)) = trial.node_mut(path) {
                it.tag = Tag::Parallel;
            }
            if self.chooser(ctx).is_legal(&trial, path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Has reductions compute for themselves the variables of one iteration that nothing else reads, where these stand beside the one of that
    /// name: each can then have loops of its own without memory for them, and a pass that all share computes them once again.
    fn compute_terms_in_place(&mut self, ctx: &Ctx, name: &str) -> Result<(), Error> {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let around = algorithm.find(name).map(|id| schedule.loops_around(id)).unwrap_or_default();
        let Some((_, innermost)) = around.last() else { return Ok(()) };
        let is_variable = |id: &ComputationId| {
            let it = algorithm.computation(*id);
            let array = it.write.array;
            let users = algorithm.ids().filter(|other| other != id && uses(algorithm, *other, array));
            let mut adds = users.map(|it| reduction(algorithm, it).is_some_and(|it| it.order != UpdateOrder::Source));
            let loads = it.reads.iter().filter(|read| algorithm.array(read.array).kind != ArrayKind::Private).count();
            algorithm.array(array).kind == ArrayKind::Private && loads <= LOADS && adds.all(|adds| adds)
        };
        let below = innermost.body.computations();
        let mut variables: Vec<String> = vec![];
        for id in below.into_iter().rev().filter(is_variable) {
            variables.push(algorithm.computation(id).name.clone());
        }
        for computation in variables {
            let mut trial = self.clone();
            match trial.carry_out(ctx, Command::Inline { computation }) {
                Ok(()) => *self = trial,
                Err(error) if error.is_quota() => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Gives what shares loops with a reduction loops of its own, from the innermost one outwards as far as that is legal.
    pub(super) fn stand_apart(&mut self, ctx: &Ctx, name: &str) -> Result<(), Error> {
        while let Some(at) = self.loops(name).into_iter().rev().nth(self.own(name).len()) {
            let mut trial = self.clone();
            match trial.carry_out(ctx, Command::Distribute { computation: name.to_string(), at }) {
                Ok(()) if trial.own(name).len() > self.own(name).len() => *self = trial,
                Err(error) if error.is_quota() => return Err(error),
                Ok(()) | Err(_) => break,
            }
        }
        Ok(())
    }

    pub(super) fn chooser<'a>(&'a self, ctx: &'a Ctx) -> Chooser<'a> {
        let means = Means { memory: Memory::Plain, tilings: Tilings::Wanted };
        Chooser::of(ctx, &self.scheduled, &self.dependences, means)
    }

    /// So many partial results of a loop, then fewer of these, and so on.
    fn levels(&mut self, ctx: &Ctx, name: &str, at: &str, sizes: &[u32]) -> Result<(), Error> {
        let (mut name, mut at) = (name.to_string(), at.to_string());
        for &size in sizes {
            let total = self.factor(ctx, &name, &at, size)?;
            self.join_start(ctx, &name)?;
            at = self.innermost(&total);
            name = total;
        }
        self.carry_out(ctx, Command::Unroll { computation: name, at, factor: LAST })
    }

    /// Gives the name of the statement that combines the partial results.
    pub(super) fn factor(&mut self, ctx: &Ctx, name: &str, at: &str, size: u32) -> Result<String, Error> {
        self.carry_out(ctx, Command::Rfactor { computation: name.to_string(), at: at.to_string(), size })?;
        let total = self.scheduled.algorithm.computations.last().expect("`rfactor` adds statements");
        Ok(total.name.clone())
    }

    /// The same for the inner of two loops; each of the statements then has loops of its own.
    fn factor_inside(&mut self, ctx: &Ctx, name: &str, outer: &str, at: &str, size: u32) -> Result<String, Error> {
        let total = self.factor(ctx, name, at, size)?;
        self.carry_out(ctx, Command::Distribute { computation: name.to_string(), at: outer.to_string() })?;
        Ok(total)
    }

    /// Where a partial result starts and is updated in loops that follow one another, they become one.
    fn join_start(&mut self, ctx: &Ctx, name: &str) -> Result<(), Error> {
        let computations = &self.scheduled.algorithm.computations;
        let start = computations[computations.len() - 2].name.clone();
        let around = self.loops(name);
        let first = self.loops(&start);
        let (Some(point), Some(at)) = (first.last(), around.iter().position(|it| Some(it) == first.last())) else {
            return Ok(());
        };
        if let Some(outer) = at.checked_sub(1) {
            let (computation, outer) = (name.to_string(), around[outer].clone());
            self.carry_out(ctx, Command::Interchange { computation, outer, inner: point.clone() })?;
        }
        self.carry_out(ctx, Command::Fuse { first: start, second: name.to_string(), at: point.clone() })
    }

    pub(super) fn carry_out(&mut self, ctx: &Ctx, command: Command) -> Result<(), Error> {
        let (next, renewed) = transform::apply_and_renew(ctx, &self.scheduled, &self.dependences, &command)?;
        self.scheduled = next;
        if let Some(renewed) = renewed {
            self.dependences = renewed;
        }
        self.commands.push(command);
        Ok(())
    }

    /// How many of its own loops a reduction has to run through in the source's order: the leading ones.
    fn fixed(&self, name: &str, order: UpdateOrder) -> usize {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let Some(id) = algorithm.find(name) else { return 0 };
        let around = schedule.loops_around(id);
        let own = &around[around.len() - self.own(name).len()..];
        let is_fixed = |at: &Affine| match order {
            UpdateOrder::Any => false,
            UpdateOrder::Within(first) => (0..first).any(|outer| at.involves_iterator(outer)),
            UpdateOrder::Source => true,
        };
        own.iter().rposition(|(_, it)| is_fixed(&it.at[&id])).map_or(0, |last| last + 1)
    }

    /// The names of the loops that nothing else stands in, outermost first.
    pub(super) fn own(&self, name: &str) -> Vec<String> {
        let id = self.scheduled.algorithm.find(name);
        let around = id.map(|id| (id, self.scheduled.schedule.loops_around(id)));
        let Some((id, around)) = around else { return vec![] };
        around.into_iter().filter(|(_, it)| it.body.computations() == [id]).map(|(_, it)| it.name.clone()).collect()
    }

    /// The names of the loops around a statement, outermost first.
    pub(super) fn loops(&self, name: &str) -> Vec<String> {
        let id = self.scheduled.algorithm.find(name);
        let around = id.map(|id| self.scheduled.schedule.loops_around(id)).unwrap_or_default();
        around.into_iter().map(|(_, it)| it.name.clone()).collect()
    }

    fn innermost(&self, name: &str) -> String {
        self.loops(name).pop().unwrap_or_default()
    }
}
