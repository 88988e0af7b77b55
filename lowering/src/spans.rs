//! Where the source has what an algorithm names.

use std::collections::BTreeMap;
use tessella_diagnostics::Span;
use tessella_polyhedral::affine::ParamId;
use tessella_polyhedral::algorithm::{AccessRef, ArrayId, ComputationId};

/// The source's places of an algorithm's parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpanTable {
    /// The function's signature.
    pub function: Option<Span>,
    /// The statement; for a saved condition, the condition.
    pub computations: BTreeMap<ComputationId, Span>,
    /// `S` of `@comp S`.
    pub labels: BTreeMap<ComputationId, Span>,
    /// The subexpression `A[i, j]`, or the scalar variable.
    pub accesses: BTreeMap<AccessRef, Span>,
    /// The iteration variable of the loop that is the computation's iterator of this position.
    pub loops: BTreeMap<(ComputationId, u32), Span>,
    /// The variable that names the parameter, or the argument that it comes from.
    pub params: BTreeMap<ParamId, Span>,
    /// The argument or variable.
    pub arrays: BTreeMap<ArrayId, Span>,
    /// What needs each of the algorithm's requirements, in their order.
    pub requirements: Vec<Span>,
    /// What needs each of the scan's conditions on values.
    pub values: Vec<Span>,
}

impl SpanTable {
    pub fn computation(&self, id: ComputationId) -> Option<Span> {
        self.computations.get(&id).copied()
    }

    /// Has a computation that is a piece of another stand where that one does.
    pub fn add_piece(&mut self, piece: ComputationId, of: ComputationId) {
        copy(&mut self.computations, |id| (id == of).then_some(piece));
        copy(&mut self.labels, |id| (id == of).then_some(piece));
        copy(&mut self.accesses, |at| (at.computation == of).then_some(AccessRef { computation: piece, ..at }));
        copy(&mut self.loops, |(id, position)| (id == of).then_some((piece, position)));
    }

    /// The places of the computations that are left of an algorithm, by what they are called now.
    pub fn renamed(self, names: &BTreeMap<ComputationId, ComputationId>) -> SpanTable {
        let SpanTable { function, computations, labels, accesses, loops, params, arrays, requirements, values } = self;
        let name = |id: ComputationId| names.get(&id).copied();
        SpanTable {
            computations: rekeyed(computations, name),
            labels: rekeyed(labels, name),
            accesses: rekeyed(accesses, |at| Some(AccessRef { computation: name(at.computation)?, ..at })),
            loops: rekeyed(loops, |(id, position)| Some((name(id)?, position))),
            function,
            params,
            arrays,
            requirements,
            values,
        }
    }

    pub fn access(&self, at: AccessRef) -> Option<Span> {
        self.accesses.get(&at).copied()
    }

    /// The loop that is iterator `position` of the computation.
    pub fn loop_of(&self, computation: ComputationId, position: u32) -> Option<Span> {
        self.loops.get(&(computation, position)).copied()
    }

    pub fn param(&self, id: ParamId) -> Option<Span> {
        self.params.get(&id).copied()
    }
}

/// Adds the spans of keys that stand for others.
fn copy<K: Ord + Copy>(spans: &mut BTreeMap<K, Span>, renamed: impl Fn(K) -> Option<K>) {
    let more: Vec<(K, Span)> = spans.iter().filter_map(|(&key, &span)| Some((renamed(key)?, span))).collect();
    spans.extend(more);
}

/// The spans of keys that have a name still, by that.
fn rekeyed<K: Ord>(spans: BTreeMap<K, Span>, name: impl Fn(K) -> Option<K>) -> BTreeMap<K, Span> {
    spans.into_iter().filter_map(|(key, span)| Some((name(key)?, span))).collect()
}
