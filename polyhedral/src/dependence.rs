//! Dependences: which pairs of instances must keep their order.
//!
//! Two instances depend on one another when they access one array element, at least one of them writing, and the
//! source runs one before the other. All such pairs are kept (memory-based dependences), so any order that keeps
//! them computes the source's values. [`Flow`] is the value-based subset: who wrote the value that a read sees.

use crate::algorithm::{AccessRef, Algorithm, ArrayId, ArrayKind, Which};
use crate::error::Error;
use crate::isl::{Ctx, Map, Set};
use crate::legality;
use crate::relation;

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
}

/// All memory-based dependences, in the order of their accesses.
pub fn dependences(ctx: &Ctx, algorithm: &Algorithm) -> Result<Vec<Dependence>, Error> {
    let mut accesses = vec![];
    for at in algorithm.accesses() {
        accesses.push((at, relation::access(ctx, algorithm, at.computation, algorithm.access(at))?));
    }
    let mut found = vec![];
    for (source, from) in &accesses {
        for (sink, to) in &accesses {
            let array = algorithm.access(*source).array;
            let Some(kind) = kind(source.which, sink.which) else { continue };
            if array != algorithm.access(*sink).array {
                continue;
            }
            let same_element = from.apply_range(&to.reverse()?)?;
            if same_element.is_empty()? {
                continue;
            }
            let relation = legality::before(
                ctx,
                algorithm,
                &algorithm.source_order,
                source.computation,
                sink.computation,
                &same_element,
            )?;
            if !relation.is_empty()? {
                let relation = relation.coalesce()?;
                found.push(Dependence { kind, array, source: *source, sink: *sink, relation });
            }
        }
    }
    Ok(found)
}

fn kind(source: Which, sink: Which) -> Option<DependenceKind> {
    match (source, sink) {
        (Which::Write, Which::Read(_)) => Some(DependenceKind::Flow),
        (Which::Read(_), Which::Write) => Some(DependenceKind::Anti),
        (Which::Write, Which::Write) => Some(DependenceKind::Output),
        (Which::Read(_), Which::Read(_)) => None,
    }
}

/// The values that one read sees.
#[derive(Debug, Clone)]
pub struct Flow {
    pub read: AccessRef,
    /// The instances that may read a value which was there at entry: `{ S[x] }`.
    pub live_in: Set,
}

/// For each read of an argument: the instances that may see what the array held at entry.
///
/// A read sees the entry value where no unconditional write to its element comes before it.
pub fn live_in(ctx: &Ctx, algorithm: &Algorithm, dependences: &[Dependence]) -> Result<Vec<Flow>, Error> {
    let mut flows = vec![];
    for read in algorithm.accesses().filter(|at| at.which != Which::Write) {
        let access = algorithm.access(read);
        if algorithm.array(access.array).kind != ArrayKind::Argument {
            continue;
        }
        let mut live = relation::access(ctx, algorithm, read.computation, access)?.domain()?;
        for dependence in dependences {
            let certain = algorithm.computation(dependence.source.computation).predicate.is_none();
            if dependence.kind == DependenceKind::Flow && dependence.sink == read && certain {
                live = live.subtract(&dependence.relation.range()?)?;
            }
        }
        flows.push(Flow { read, live_in: live.coalesce()? });
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
