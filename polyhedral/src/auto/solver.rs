//! Orders that isl's scheduler finds, where Tessella's own moves leave a nest without threads or lanes.
//!
//! isl is told the dependences below a node: they must be kept, loops that carry none are wanted outermost, and what depends on
//! something is wanted close to it. It gives each statement functions of its own, with shifts and skews, which no move of ours
//! has:
//!
//! ```text
//! for i { S: A[i] = ..; R: B[i] = A[i] + A[i-1] } -> for i { S }; for i { R }, or for i { S(i); R(i+1) } where that is free
//! ```
//!
//! # Source
//! Bondhugula, Hartono, Ramanujam, Sadayappan, *A practical automatic polyhedral parallelizer and locality optimizer*, PLDI 2008,
//! for the functions; Verdoolaege and Janssens, *Scheduling for PPCG*, CW 706, 2017, for how isl finds them.

use super::chooser::Chooser;
use super::regroup::loops_above;
use crate::affine::Affine;
use crate::algorithm::ComputationId;
use crate::dependence::Keeps;
use crate::error::Error;
use crate::fresh::fresh_among;
use crate::isl::{
    Ctx, DimType, IslError, IslOption, Map, ScheduleConstraints, ScheduleNode, ScheduleNodeKind, Set, UnionMap,
    UnionPwAff, UnionSet,
};
use crate::legality;
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use std::collections::{BTreeMap, BTreeSet};

/// No more statements are handed to isl at a time.
const MOST: usize = 12;
/// Nor statements in more loops: for a stencil in three dimensions of space and time, isl takes up to five seconds.
const DEEPEST: usize = 3;
/// Coefficients and constants of its functions are no larger.
const LARGEST_COEFFICIENT: i32 = 4;
const LARGEST_CONSTANT: i32 = 16;

/// What isl puts into loops in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fusion {
    /// Only what depends on one another in a circle.
    Apart,
    /// What loses no loop that carries nothing by it.
    Clusters,
    /// As much as dependences allow.
    Together,
}

impl Fusion {
    pub(crate) const ALL: [Fusion; 3] = [Fusion::Apart, Fusion::Clusters, Fusion::Together];

    fn options(self) -> [(IslOption, i32); 5] {
        let is = |kind: Fusion| i32::from(self == kind);
        [
            (IslOption::ScheduleSerializeSccs, is(Fusion::Apart)),
            (IslOption::ScheduleMaximizeCoincidence, is(Fusion::Clusters)),
            (IslOption::ScheduleWholeComponent, is(Fusion::Together)),
            (IslOption::ScheduleMaxCoefficient, LARGEST_COEFFICIENT),
            (IslOption::ScheduleMaxConstantTerm, LARGEST_CONSTANT),
        ]
    }
}

/// An order of isl's for what is below a node, all of its loops sequential.
#[derive(Debug, Clone)]
pub(crate) struct Solved {
    pub node: Node,
    /// For each statement, its loops that carry nothing, outermost first: `true` for those.
    pub free: BTreeMap<ComputationId, Vec<bool>>,
}

/// What isl is told of the statements below a node, the loops around it being fixed.
pub(crate) struct Question {
    /// The statements, each with the iterators that are not fixed.
    statements: BTreeMap<ComputationId, Vec<u32>>,
    constraints: ScheduleConstraints,
    /// Names of loops around the node.
    outside: Vec<String>,
    /// The node.
    pub(crate) before: Node,
}

impl Chooser<'_> {
    /// What to ask isl about the node at `path`; `None` where the loops around it run through something
    /// else than iterators, or where there is too much to ask about.
    pub(crate) fn question(&self, schedule: &Schedule, path: &Path) -> Result<Option<Question>, Error> {
        let Some(node) = schedule.node(path) else { return Ok(None) };
        let (below, outer) = (node.computations(), loops_above(schedule, path));
        if below.len() > MOST {
            return Ok(None);
        }
        let mut statements = BTreeMap::new();
        let mut outside = vec![];
        for &id in &below {
            let around = schedule.loops_around(id);
            let mut fixed = BTreeSet::new();
            for (_, it) in around.iter().take(outer) {
                let Some((iterator, _)) = super::profile::iterator_of(&it.at[&id]) else { return Ok(None) };
                fixed.insert(iterator);
                if !outside.contains(&it.name) {
                    outside.push(it.name.clone());
                }
            }
            let all = 0..self.algorithm.computation(id).iterators.len() as u32;
            let free: Vec<u32> = all.filter(|iterator| !fixed.contains(iterator)).collect();
            if free.len() > DEEPEST {
                return Ok(None);
            }
            statements.insert(id, free);
        }
        let mut domain = UnionSet::empty_in(self.ctx)?;
        for (&id, kept) in &statements {
            let set = relation::domain(self.algorithm, id)?;
            domain = domain.union(&self.inner_set(&set, id, kept)?.to_union_set()?)?;
        }
        let (mut order, mut all) = (UnionMap::empty_in(self.ctx)?, UnionMap::empty_in(self.ctx)?);
        let inside = |id: &ComputationId| statements.contains_key(id);
        for it in self.dependences {
            if !inside(&it.source.computation) || !inside(&it.sink.computation) {
                continue;
            }
            let pairs = legality::together(self.ctx, self.algorithm, schedule, it, outer)?;
            let pairs = self.inner_pairs(&pairs, &statements, it.source.computation, it.sink.computation)?;
            let pairs = pairs.coalesce()?.to_union_map()?;
            if it.keeps == Keeps::Order {
                order = order.union(&pairs)?;
            }
            all = all.union(&pairs)?;
        }
        let constraints = ScheduleConstraints {
            context: Some(self.algorithm.context.clone()),
            validity: Some(order),
            coincidence: Some(all.clone()),
            proximity: Some(all),
            ..ScheduleConstraints::on_domain(domain)
        };
        Ok(Some(Question { statements, constraints, outside, before: node.clone() }))
    }

    /// `{ S[x] }` with the fixed iterators projected out.
    fn inner_set(&self, set: &Set, id: ComputationId, kept: &[u32]) -> Result<Set, Error> {
        let mut set = set.clone();
        for iterator in self.fixed(id, kept) {
            set = set.project_out(DimType::Set, iterator, 1)?;
        }
        Ok(set.set_tuple_name(&self.algorithm.computation(id).name)?)
    }

    /// `{ S[x] -> R[y] }` with the fixed iterators of both projected out.
    fn inner_pairs(
        &self,
        pairs: &Map,
        statements: &BTreeMap<ComputationId, Vec<u32>>,
        source: ComputationId,
        sink: ComputationId,
    ) -> Result<Map, Error> {
        let mut pairs = pairs.clone();
        for (id, side) in [(source, DimType::In), (sink, DimType::Out)] {
            for iterator in self.fixed(id, &statements[&id]) {
                pairs = pairs.project_out(side, iterator, 1)?;
            }
            pairs = pairs.set_tuple_name(side, &self.algorithm.computation(id).name)?;
        }
        Ok(pairs)
    }

    /// The iterators that are not kept, the last one first.
    fn fixed(&self, id: ComputationId, kept: &[u32]) -> Vec<u32> {
        let all = 0..self.algorithm.computation(id).iterators.len() as u32;
        all.rev().filter(|iterator| !kept.contains(iterator)).collect()
    }

    /// isl's order under a kind of fusion; `None` where it is none that a tree of ours can say.
    pub(crate) fn solve(&self, question: &Question, fusion: Fusion) -> Result<Option<Solved>, Error> {
        let tree = with_options(self.ctx, &fusion.options(), || question.constraints.compute_schedule())?;
        let ids: Vec<ComputationId> = question.statements.keys().copied().collect();
        let mut reader = Reader { chooser: self, question, free: BTreeMap::new() };
        let node = reader.node(&tree.root()?, &ids, &question.outside)?;
        // isl leaves out statements without instances.
        let is_whole = |node: &Node| {
            let mut found = node.computations();
            found.sort();
            found == ids
        };
        Ok(node.filter(is_whole).map(|node| Solved { node, free: reader.free }))
    }
}

/// Sets switches of isl for as long as `work` takes.
fn with_options<T>(
    ctx: &Ctx,
    options: &[(IslOption, i32)],
    work: impl FnOnce() -> Result<T, IslError>,
) -> Result<T, IslError> {
    let before: Vec<(IslOption, i32)> = options.iter().map(|(option, _)| (*option, ctx.option(*option))).collect();
    for (option, value) in options {
        ctx.set_option(*option, *value)?;
    }
    let done = work();
    for (option, value) in before {
        ctx.set_option(option, value)?;
    }
    done
}

/// Reads a schedule tree of isl's.
struct Reader<'a> {
    chooser: &'a Chooser<'a>,
    question: &'a Question,
    free: BTreeMap<ComputationId, Vec<bool>>,
}

impl Reader<'_> {
    /// The tree below a node that has these statements, inside loops of these names.
    fn node(&mut self, at: &ScheduleNode, ids: &[ComputationId], names: &[String]) -> Result<Option<Node>, Error> {
        match at.kind()? {
            ScheduleNodeKind::Domain | ScheduleNodeKind::Context | ScheduleNodeKind::Mark => {
                self.node(&at.child(0)?, ids, names)
            }
            ScheduleNodeKind::Filter => {
                let filter = at.filter()?;
                let mut inside = vec![];
                for &id in ids {
                    let own = self.chooser.algorithm.computation(id).name.clone();
                    let sets = filter.sets_unsorted()?;
                    if sets.iter().any(|set| set.tuple_name().ok().flatten().as_deref() == Some(own.as_str())) {
                        inside.push(id);
                    }
                }
                self.node(&at.child(0)?, &inside, names)
            }
            ScheduleNodeKind::Leaf => Ok(match ids {
                [] => None,
                [id] => Some(Node::Computation(*id)),
                _ => Some(Node::Sequence(ids.iter().map(|id| Node::Computation(*id)).collect())),
            }),
            ScheduleNodeKind::Sequence | ScheduleNodeKind::Set => {
                let mut children = vec![];
                for child in at.children()? {
                    let Some(node) = self.node(&child, ids, names)? else { return Ok(None) };
                    children.push(node);
                }
                Ok(Some(Node::Sequence(children)))
            }
            ScheduleNodeKind::Band => self.band(at, ids, names),
            ScheduleNodeKind::Expansion | ScheduleNodeKind::Extension | ScheduleNodeKind::Guard => Ok(None),
        }
    }

    fn band(&mut self, at: &ScheduleNode, ids: &[ComputationId], names: &[String]) -> Result<Option<Node>, Error> {
        let partial = at.band_partial_schedule()?;
        let mut names = names.to_vec();
        let mut loops = vec![];
        for member in 0..at.band_member_count()?.cast_signed() {
            let Some(functions) = self.functions(&partial.at(member)?, ids)? else { return Ok(None) };
            if functions.values().all(|it| !it.involves_any_iterator()) {
                continue;
            }
            let free = at.band_member_coincident(member)?;
            ids.iter().for_each(|id| self.free.entry(*id).or_default().push(free));
            let name = fresh_among(&self.name(&functions), &names);
            names.push(name.clone());
            loops.push((name, functions));
        }
        let Some(body) = self.node(&at.child(0)?, ids, &names)? else { return Ok(None) };
        Ok(Some(
            loops.into_iter().rev().fold(body, |body, (name, at)| {
                Node::Loop(Loop { name, tag: Tag::Sequential, at, body: Box::new(body) })
            }),
        ))
    }

    /// The name of the iterator that a loop runs through: of the last one, in the statement with the most.
    fn name(&self, functions: &BTreeMap<ComputationId, Affine>) -> String {
        let deepest =
            functions.iter().rev().max_by_key(|(id, _)| self.chooser.algorithm.computation(**id).iterators.len());
        let named = deepest.and_then(|(id, at)| {
            let iterators = &self.chooser.algorithm.computation(*id).iterators;
            (0..iterators.len()).rev().find(|&it| at.involves_iterator(it as u32)).map(|it| iterators[it].clone())
        });
        named.unwrap_or_else(|| "step".to_string())
    }

    fn functions(
        &self,
        member: &UnionPwAff,
        ids: &[ComputationId],
    ) -> Result<Option<BTreeMap<ComputationId, Affine>>, Error> {
        let params = self.chooser.algorithm.param_names();
        let mut found = BTreeMap::new();
        for piecewise in member.pw_affs()? {
            let name = piecewise.domain_space()?.tuple_name(DimType::Set)?;
            let named = |id: &&ComputationId| name.as_ref() == Some(&self.chooser.algorithm.computation(**id).name);
            let Some(&id) = ids.iter().find(named) else { continue };
            let pieces = piecewise.pieces()?;
            let [(_, aff)] = pieces.as_slice() else { return Ok(None) };
            let Some(affine) = Affine::from_isl(aff, &params)? else { return Ok(None) };
            let kept: Vec<Affine> = self.question.statements[&id].iter().map(|&it| Affine::iterator(it)).collect();
            found.insert(id, affine.substitute(&kept)?);
        }
        Ok((found.len() == ids.len()).then_some(found))
    }
}
