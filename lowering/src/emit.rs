//! Turns one statement into a computation: its name, domain, accesses and spans, and the arrays that hold scalar
//! variables.

use crate::computation::{Builder, Parts, Value};
use crate::expr::{both, index};
use crate::formula::Formula;
use crate::nest::{Nest, Scope};
use crate::scan::{ScanDraft, covers};
use crate::symbolic::{Iterator, Site};
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{Expr, Label, LocalId, Role, Type};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{
    Access, AccessRef, Argument, Array, ArrayId, ArrayKind, Computation, ComputationId, ScanCheck, Subscript, Which,
};
use tessella_polyhedral::expr::{Expr as Evaluated, ExprKind};
use tessella_polyhedral::isl::{DimType, IslError, Set};
use tessella_polyhedral::schedule::Node;
use tessella_scalar::{CompareOp, ScalarType};

/// Whether data decide if a value is another one than the element held: where it is not, the source may store nothing.
fn keeps(value: &Evaluated, parts: &Parts, write: &Access) -> bool {
    match &value.kind {
        ExprKind::Select { yes, no, .. } => keeps(yes, parts, write) || keeps(no, parts, write),
        ExprKind::Let(at) => keeps(&parts.lets[*at as usize].value, parts, write),
        ExprKind::Read(at) => {
            let read = &parts.reads[*at as usize];
            read.conditional && read.array == write.array && read.subscripts == write.subscripts
        }
        _ => false,
    }
}

/// The positions of iterators whose loops have bounds that are data.
pub(crate) fn ranged(site: &Site) -> Vec<u32> {
    (0..).zip(&site.iterators).filter(|(_, it)| it.ranged).map(|(at, _)| at).collect()
}

/// Where a scalar variable lives: `array[i0, ..., i(rank-1)]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Storage {
    pub(crate) array: ArrayId,
    pub(crate) rank: u32,
}

impl Storage {
    pub(crate) fn subscripts(self) -> Vec<Subscript> {
        (0..self.rank).map(|at| Subscript::Affine(Affine::iterator(at))).collect()
    }

    /// The element that belongs to the iterators around, as a target.
    pub(crate) fn target<'e>(self, span: Span) -> Target<'e> {
        let subscripts = (0..self.rank).map(|at| TargetSubscript::Given(Affine::iterator(at))).collect();
        Target { array: self.array, subscripts, checked: false, span }
    }
}

/// The element that a computation writes.
pub(crate) struct Target<'e> {
    pub(crate) array: ArrayId,
    pub(crate) subscripts: Vec<TargetSubscript<'e>>,
    pub(crate) checked: bool,
    pub(crate) span: Span,
}

/// A subscript of what a computation writes.
pub(crate) enum TargetSubscript<'e> {
    /// One that the source does not have: it belongs to what is stored in each iteration of the loops around.
    Given(Affine),
    /// The value, and the source's expression.
    Affine(Affine, &'e Expr),
    /// To be evaluated.
    Computed(&'e Expr),
}

/// A statement about to become a computation.
pub(crate) struct Draft<'e> {
    pub(crate) span: Span,
    pub(crate) label: Option<&'e Label>,
    pub(crate) target: Target<'e>,
    pub(crate) value: Value<'e>,
    pub(crate) fastmath: bool,
}

impl<'a> Nest<'a> {
    /// The statement as a computation, and its leaf in the schedule; `None` after recording an error.
    pub(crate) fn emit(&mut self, draft: Draft<'a>, scope: &Scope<'a>) -> Option<Node> {
        let name = self.computation_name(draft.label);
        let (parts, subscripts) =
            match Builder::new(self, scope, &name).build(&draft.value, &draft.target, draft.fastmath) {
                Ok(built) => built,
                Err(error) => {
                    self.errors.push(error);
                    return None;
                }
            };
        let Target { array, checked, span: written, .. } = draft.target;
        let site = &scope.site;
        let write = self.access(&name, array, subscripts, checked, &parts.written, scope);
        let write = self.settle(draft.span, write)?;
        let on_data = !scope.predicates.is_empty() || keeps(&parts.value, &parts, &write);
        let write = Access { conditional: checked && on_data, ..write };
        let iterators: Vec<String> = site.iterators.iter().map(|it| it.name.clone()).collect();
        let domain = self.domain(&name, &site.domain, site);
        let domain = self.settle(draft.span, domain)?;
        let id = ComputationId(self.computations.len() as u32);
        // What is checked at entry has to be what is then computed.
        let fastmath = draft.fastmath && !parts.floats_decide;
        let simd = scope.simd.filter(|_| parts.reduces(&write));
        for (which, axis, computation) in parts.scans {
            let check = ScanCheck::Inside { access: AccessRef { computation: id, which }, axis };
            let draft = ScanDraft { check, computation };
            if !self.scans.iter().any(|known| covers(known, &draft)) {
                self.scans.push(draft);
            }
        }
        self.spans.computations.insert(id, draft.span);
        if let Some(label) = draft.label {
            self.spans.labels.insert(id, label.span);
        }
        self.spans.accesses.insert(AccessRef { computation: id, which: Which::Write }, written);
        for (at, &span) in parts.read_spans.iter().enumerate() {
            self.spans.accesses.insert(AccessRef { computation: id, which: Which::Read(at as u32) }, span);
        }
        for (position, iterator) in site.iterators.iter().enumerate() {
            self.spans.loops.insert((id, position as u32), iterator.span);
        }
        self.computations.push(Computation {
            name,
            iterators,
            domain,
            predicate: parts.predicate,
            lets: parts.lets,
            value: parts.value,
            write,
            reads: parts.reads,
            fastmath,
            simd,
            ranged: ranged(site),
            atomic: false,
            owner: None,
        });
        Some(Node::Computation(id))
    }

    fn computation_name(&mut self, label: Option<&Label>) -> String {
        match label {
            Some(label) => label.name.clone(),
            None => {
                let free = |name: &String| !self.computation_names.contains(name);
                let name = (0..).map(|at: u64| format!("S{at}")).find(free).expect("names never run out");
                self.computation_names.reserve(&name);
                name
            }
        }
    }

    /// `{ name[iterators] : formula }`.
    pub(crate) fn domain(&self, name: &str, formula: &Formula, site: &Site) -> Result<Set, IslError> {
        let space = self.symbols.space(Some(name), &site.iterators)?;
        let set = formula.to_set(&space, &self.symbols.param_names)?.coalesce()?;
        site.iterators
            .iter()
            .enumerate()
            .try_fold(set, |set, (at, iterator)| set.set_dim_name(DimType::Set, at as u32, &iterator.name))
    }

    /// An access that happens where `under` holds, and under no condition on data.
    pub(crate) fn access(
        &self,
        computation: &str,
        array: ArrayId,
        subscripts: Vec<Subscript>,
        checked: bool,
        under: &Formula,
        scope: &Scope<'a>,
    ) -> Result<Access, IslError> {
        let within = match under {
            Formula::True => None,
            _ => Some(self.domain(computation, &scope.site.domain.and(under), &scope.site)?),
        };
        Ok(Access { array, subscripts, within, checked, conditional: false })
    }

    /// A name for the search of what lies outside of an array.
    pub(crate) fn scan_name(&mut self, array: ArrayId) -> String {
        self.scan_names.fresh(&format!("outside_{}", self.arrays[array.0 as usize].name))
    }

    /// `first <= value && value <= last`, axis from 0 among those of the source.
    pub(crate) fn is_inside(&self, array: ArrayId, axis: u32, value: Evaluated) -> Evaluated {
        let (first, last) = self.arrays[array.0 as usize].limits(axis);
        let compare = |op, left, right| {
            let kind = ExprKind::Compare(op, Box::new(left), Box::new(right));
            Evaluated { kind, ty: ScalarType::Bool }
        };
        let low = compare(CompareOp::Ge, value.clone(), index(first));
        both(low, compare(CompareOp::Le, value, index(last)))
    }

    /// The array that a local is: an argument, or one that has been made.
    pub(crate) fn array_of(&self, local: LocalId) -> ArrayId {
        match self.symbols.signature.places.get(&local) {
            Some(Argument::Array(array)) => *array,
            Some(Argument::Scalar(_)) | None => *self
                .made
                .get(&local)
                .expect("the type checker lets only arguments and arrays that were made be indexed"),
        }
    }

    /// The iterators that come before the source's subscripts of an array.
    pub(crate) fn outer_subscripts(&self, array: ArrayId) -> Vec<Affine> {
        (0..self.arrays[array.0 as usize].kind.outer()).map(Affine::iterator).collect()
    }

    /// Where a scalar variable lives; `iterators` are the loops around the place that asks.
    pub(crate) fn storage_of(&mut self, local: LocalId, iterators: &[Iterator]) -> Storage {
        if let Some(&storage) = self.storage.get(&local) {
            return storage;
        }
        let declared = &self.symbols.function.locals[local.0 as usize];
        let owner = match declared.role {
            Role::Variable(owner) | Role::Value(owner) => owner,
            Role::Argument | Role::Iterator(_) => None,
        };
        let owner = owner.and_then(|owner| iterators.iter().position(|it| it.id == owner));
        let rank = owner.map_or(0, |position| position as u32 + 1);
        let element = match declared.ty {
            Type::Scalar(ty) => ty,
            Type::Array { element, .. } => element,
        };
        let outlives = self.values.is_result(local) || self.failed == Some(local);
        let kind = if outlives { ArrayKind::Result } else { ArrayKind::Private };
        let (name, span) = (self.names.fresh(&declared.name), declared.span);
        let array = self.add_array(name, element, rank, kind, span);
        let storage = Storage { array, rank };
        self.storage.insert(local, storage);
        storage
    }

    pub(crate) fn add_array(
        &mut self,
        name: String,
        element: ScalarType,
        rank: u32,
        kind: ArrayKind,
        span: Span,
    ) -> ArrayId {
        self.arrays.push(Array { name, element, extents: vec![], firsts: vec![], rank, kind, strided: 0..0 });
        self.array_spans.push(span);
        ArrayId(self.arrays.len() as u32 - 1)
    }
}
