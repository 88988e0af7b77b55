//! Taking nests apart along their dependences, and finding an outermost loop that statements of different depth share.

use super::ranged::keeps_ends;
use crate::algorithm::{Algorithm, Array, ArrayId, ArrayKind, ComputationId};
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::legality::{self, Progress};
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use std::collections::{BTreeMap, BTreeSet};

/// Whether neighbours in a loop's body stay together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// Statements that stand side by side count as one.
    Neighbours,
    /// Every statement by itself.
    Statements,
    /// Every statement by itself, but for those that use one variable of an iteration.
    Variables,
    /// The same, but for variables with as many axes as the arrays beside them have: those of an element, not those of a column.
    Elements,
}

/// The node at `path` as a sequence of its strongly connected parts, each with the loops of its own, in an order that
/// dependences allow; `None` if it is one part, or a loop that data end would be several.
///
/// # Source
/// Kennedy and Allen, *Optimizing Compilers for Modern Architectures*, 2002, section 6.2: loop distribution.
pub fn take_apart(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependences: &[Dependence],
    path: &Path,
    grain: Grain,
) -> Result<Option<Schedule>, Error> {
    let Some(node) = schedule.node(path) else { return Ok(None) };
    let mut groups = vec![];
    collect(node, grain, &mut groups);
    match grain {
        Grain::Neighbours | Grain::Statements => {}
        Grain::Variables => groups = with_one_variable(algorithm, groups, 0),
        Grain::Elements => {
            let widest = widest(algorithm, &node.computations());
            groups = with_one_variable(algorithm, groups, widest);
        }
    }
    let outer = loops_above(schedule, path);
    let mut edges = BTreeSet::new();
    for dependence in dependences {
        let at = |id: ComputationId| groups.iter().position(|group: &Vec<ComputationId>| group.contains(&id));
        let (Some(from), Some(to)) = (at(dependence.source.computation), at(dependence.sink.computation)) else {
            continue;
        };
        if from == to || edges.contains(&(from, to)) {
            continue;
        }
        if !legality::together(ctx, algorithm, schedule, dependence, outer)?.is_empty()? {
            edges.insert((from, to));
        }
    }
    let parts = components(groups.len(), &edges);
    if parts.len() < 2 {
        return Ok(None);
    }
    let children = parts.iter().filter_map(|part| {
        let ids: BTreeSet<ComputationId> = part.iter().flat_map(|&group| groups[group].iter().copied()).collect();
        node.restricted(&ids)
    });
    let apart = Node::Sequence(children.collect());
    if !keeps_ends(algorithm, node, &apart) {
        return Ok(None);
    }
    let mut trial = schedule.clone();
    *trial.node_mut(path).expect("the path was just found") = apart;
    Ok(Some(trial))
}

/// Statements, or runs of them that stand side by side.
fn collect(node: &Node, grain: Grain, groups: &mut Vec<Vec<ComputationId>>) {
    match node {
        Node::Computation(id) => groups.push(vec![*id]),
        Node::Loop(it) => collect(&it.body, grain, groups),
        Node::Sequence(children) => {
            let mut open = false;
            for child in children {
                match child {
                    Node::Computation(id) if open && grain == Grain::Neighbours => {
                        groups.last_mut().expect("a group was opened").push(*id);
                    }
                    Node::Computation(id) => {
                        groups.push(vec![*id]);
                        open = true;
                    }
                    Node::Loop(_) | Node::Sequence(_) => {
                        collect(child, grain, groups);
                        open = false;
                    }
                }
            }
        }
    }
}

/// The most axes of an array that statements use, variables aside.
pub(super) fn widest(algorithm: &Algorithm, ids: &[ComputationId]) -> u32 {
    let used = ids.iter().flat_map(|&id| {
        let it = algorithm.computation(id);
        it.reads.iter().chain([&it.write]).map(|access| algorithm.array(access.array))
    });
    used.filter(|it| it.kind != ArrayKind::Private).map(|it| it.rank).max().unwrap_or(0)
}

/// The groups, with those in one that use a variable of an iteration in common that has so many axes.
fn with_one_variable(algorithm: &Algorithm, groups: Vec<Vec<ComputationId>>, axes: u32) -> Vec<Vec<ComputationId>> {
    let variables = |group: &[ComputationId]| -> BTreeSet<ArrayId> {
        let accesses = group.iter().flat_map(|&id| {
            let it = algorithm.computation(id);
            it.reads.iter().chain([&it.write])
        });
        let arrays = accesses.map(|access| access.array);
        let is_variable = |it: &Array| it.kind == ArrayKind::Private && it.rank >= axes;
        arrays.filter(|&array| is_variable(algorithm.array(array))).collect()
    };
    let mut joined: Vec<Vec<ComputationId>> = vec![];
    for group in groups {
        let own = variables(&group);
        let (with, others): (Vec<_>, Vec<_>) = joined.into_iter().partition(|it| !variables(it).is_disjoint(&own));
        joined = others;
        joined.push(with.into_iter().flatten().chain(group).collect());
    }
    joined
}

/// Strongly connected components in an order that edges allow, the earliest first where there is a choice.
fn components(count: usize, edges: &BTreeSet<(usize, usize)>) -> Vec<Vec<usize>> {
    let mut reach = vec![vec![false; count]; count];
    edges.iter().for_each(|&(from, to)| reach[from][to] = true);
    for middle in 0..count {
        let beyond = reach[middle].clone();
        for row in reach.iter_mut().filter(|row| row[middle]) {
            row.iter_mut().zip(&beyond).for_each(|(reaches, further)| *reaches |= further);
        }
    }
    let mut rest: Vec<usize> = (0..count).collect();
    let mut parts = vec![];
    while !rest.is_empty() {
        // A member that only its own component reaches.
        let free = |&at: &usize| rest.iter().all(|&other| !reach[other][at] || reach[at][other] || other == at);
        let first = *rest.iter().find(|at| free(at)).expect("components have no cycles among them");
        let part: Vec<usize> =
            rest.iter().copied().filter(|&at| at == first || (reach[at][first] && reach[first][at])).collect();
        rest.retain(|at| !part.contains(at));
        parts.push(part);
    }
    parts
}

pub(crate) fn loops_above(schedule: &Schedule, path: &Path) -> usize {
    let above = |depth: &usize| matches!(schedule.node(&Path(path.0[..*depth].to_vec())), Some(Node::Loop(_)));
    (0..path.0.len()).filter(above).count()
}

/// More ways than this to choose the outermost loop are not tried.
const MAX_CHOICES: usize = 2000;

/// All ways to give the statements at `path` a common outermost loop that runs through one of each statement's own
/// loops, such that no dependence runs backwards and, inside, every statement has a nest of its own.
///
/// ```text
/// for i { for j { for k { U(i,j,k) }; D(i,j) } } -> for k { for i { D(i,k) }; for i { for j { U(i,j,k) } } }
/// ```
pub fn align(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependences: &[Dependence],
    path: &Path,
) -> Result<Vec<Schedule>, Error> {
    let Some(node) = schedule.node(path) else { return Ok(vec![]) };
    let ids = node.computations();
    let outer = loops_above(schedule, path);
    let own: Vec<Vec<Loop>> = ids
        .iter()
        .map(|&id| schedule.loops_around(id).into_iter().skip(outer).map(|(_, it)| it.clone()).collect())
        .collect();
    let ways: usize = own.iter().map(Vec::len).fold(1, usize::saturating_mul);
    if ways > MAX_CHOICES || ways == 0 || own.iter().flatten().any(|it| it.tag != Tag::Sequential) {
        return Ok(vec![]);
    }
    let mut inside = vec![];
    for dependence in dependences {
        let at = |id: ComputationId| ids.iter().position(|&known| known == id);
        if let (Some(from), Some(to)) = (at(dependence.source.computation), at(dependence.sink.computation)) {
            let pairs = legality::together(ctx, algorithm, schedule, dependence, outer)?;
            if !pairs.is_empty()? {
                inside.push((from, to, Dependence { relation: pairs, ..dependence.clone() }));
            }
        }
    }
    let mut progress: BTreeMap<(usize, usize, usize), Progress> = BTreeMap::new();
    let mut found = vec![];
    let mut choice = vec![0usize; ids.len()];
    'choices: loop {
        let mut edges = BTreeSet::new();
        let mut fits = true;
        for (number, (from, to, dependence)) in inside.iter().enumerate() {
            let key = (number, choice[*from], choice[*to]);
            let made = match progress.get(&key) {
                Some(made) => *made,
                None => {
                    let (source, sink) = (&own[*from][key.1].at[&ids[*from]], &own[*to][key.2].at[&ids[*to]]);
                    let made = legality::progress(ctx, algorithm, dependence, source, sink)?;
                    progress.insert(key, made);
                    made
                }
            };
            match made {
                Progress::Backwards => {
                    fits = false;
                    break;
                }
                Progress::Forwards => {}
                Progress::Partly if from == to => {}
                Progress::Partly => {
                    edges.insert((*from, *to));
                }
            }
        }
        if fits {
            let parts = components(ids.len(), &edges);
            if parts.iter().all(|part| part.len() == 1) {
                found.push(build(schedule, path, &ids, &own, &choice, &parts));
            }
        }
        for at in (0..choice.len()).rev() {
            choice[at] += 1;
            if choice[at] < own[at].len() {
                continue 'choices;
            }
            choice[at] = 0;
        }
        return Ok(found);
    }
}

fn build(
    schedule: &Schedule,
    path: &Path,
    ids: &[ComputationId],
    own: &[Vec<Loop>],
    choice: &[usize],
    parts: &[Vec<usize>],
) -> Schedule {
    let deepest = (0..ids.len()).max_by_key(|&at| own[at].len()).expect("the nest has statements");
    let name = own[deepest][choice[deepest]].name.clone();
    let at = ids.iter().enumerate().map(|(at, id)| (*id, own[at][choice[at]].at[id].clone())).collect();
    let children = parts.iter().flatten().map(|&member| {
        let id = ids[member];
        let rest = own[member].iter().enumerate().filter(|(level, _)| *level != choice[member]).rev();
        rest.fold(Node::Computation(id), |body, (_, it)| {
            let at = BTreeMap::from([(id, it.at[&id].clone())]);
            Node::Loop(Loop { name: it.name.clone(), tag: it.tag, at, body: Box::new(body) })
        })
    });
    let body = Box::new(Node::Sequence(children.collect()));
    let mut trial = schedule.clone();
    *trial.node_mut(path).expect("the path was just found") = Node::Loop(Loop { name, tag: Tag::Sequential, at, body });
    trial
}
