//! Walks the typed tree: loops become domains and schedule nodes, affine conditions restrict domains, data-dependent
//! ones become predicates, assignments become computations.

mod loops;

use crate::Lowered;
use crate::components;
use crate::computation::{Builder, Value};
use crate::derived::Meaning;
use crate::emit::{Draft, Storage, Target, TargetSubscript};
use crate::error::LowerError;
use crate::formula::Formula;
use crate::implied::without_implied;
use crate::looked::Looked;
use crate::names::Names;
use crate::narrow::narrow_updates;
use crate::params::Signature;
use crate::ranges::{RangeCheck, Rewritten};
use crate::scan::{FIRST, START, ScanDraft, assemble, told_apart};
use crate::spans::SpanTable;
use crate::symbolic::{Site, Symbols};
use crate::values::{Fate, Values};
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, Function, Label, LocalId, LoopId, Mode, Result as Returned, Role, Statement, StatementKind,
    Type,
};
use tessella_polyhedral::affine::ParamId;
use tessella_polyhedral::algorithm::{Algorithm, Array, ArrayId, ArrayKind, Computation, Outcome, Requirement};
use tessella_polyhedral::isl::{Ctx, IslError};
use tessella_polyhedral::linear;
use tessella_polyhedral::remade::share_between_steps;
use tessella_polyhedral::schedule::{Node, Schedule};
use tessella_scalar::{BinaryOp, ScalarType};

/// What isl may do to find out which arrays the steps of a recurrence can share: a time loop over three nests takes a tenth of it.
const SHARING: u64 = 2_000_000;

/// Operations of isl for finding out where arrays may lack components.
const COMPONENTS: u64 = 500_000;

/// With more combined cases it is not even asked which of them are possible.
const STORE_CASES_LOOKED_AT: usize = 32;

/// A predicate with more operators is saved into a variable even where nothing else asks for it.
const PREDICATE_COST: usize = 64;

/// A store with more combined cases of its subscripts is one whose subscripts are computed, or refused if it has a name.
const STORE_CASE_LIMIT: usize = 8;

/// A place in the tree: loops, conditions and predicates around it.
#[derive(Debug, Clone)]
pub(crate) struct Scope<'a> {
    pub(crate) site: Site,
    /// Affine conditions that hold wherever the predicates do, beyond the site's domain.
    pub(crate) may: Formula,
    /// In the order of evaluation; all must hold.
    pub(crate) predicates: Vec<Predicate<'a>>,
    /// Whether conditions on data are left out of these, so that the source need not get to all that they let through.
    pub(crate) left_out: bool,
    /// The iterator of the `@simd` loop that is the innermost one of the source; of several that it became, the outermost one's.
    pub(crate) simd: Option<u32>,
}

/// A data-dependent condition around a statement.
#[derive(Debug, Clone)]
pub(crate) enum Predicate<'a> {
    /// The value of a private `Bool`, compared with `expected`; it was made of these parts.
    Saved { guard: Storage, parts: Vec<&'a Expr>, expected: bool, span: Span },
    /// All of these hold (`expected`), or not all. The reads happen where `under` holds.
    Direct { parts: Vec<&'a Expr>, expected: bool, under: Formula },
}

pub(crate) struct Nest<'a> {
    pub(crate) symbols: Symbols<'a>,
    pub(crate) values: Values<'a>,
    /// Names of arguments, parameters, iterators and private arrays.
    pub(crate) names: Names,
    /// Loop names made up for shadowed iterators.
    made_up_loops: BTreeSet<String>,
    pub(crate) computation_names: Names,
    pub(crate) arrays: Vec<Array>,
    pub(crate) array_spans: Vec<Span>,
    pub(crate) storage: BTreeMap<LocalId, Storage>,
    /// The local arrays met so far.
    pub(crate) made: BTreeMap<LocalId, ArrayId>,
    pub(crate) requirements: Vec<Requirement>,
    pub(crate) computations: Vec<Computation>,
    pub(crate) scans: Vec<ScanDraft>,
    pub(crate) scan_names: Names,
    /// Computed subscripts that a search looks at.
    pub(crate) looked: Vec<Looked<'a>>,
    /// Values of the source that a search at entry computes for itself.
    pub(crate) searched: BTreeSet<LocalId>,
    /// Loops whose bounds are data.
    ranged: &'a BTreeMap<LoopId, RangeCheck>,
    /// The variable that says at the end whether a test in the run has failed.
    pub(crate) failed: Option<LocalId>,
    /// Arrays that something before the present place stores into, or makes.
    pub(crate) stored: BTreeSet<LocalId>,
    pub(crate) spans: SpanTable,
    pub(crate) errors: Vec<LowerError>,
}

/// Lowers a function, which may have a variable that notes failed tests; see [`crate::lower`].
pub(crate) fn lower(
    ctx: &Ctx,
    rewritten: &Rewritten,
    derived: &[(LocalId, Meaning)],
    failed: Option<LocalId>,
) -> Result<Lowered, Vec<LowerError>> {
    let function = &rewritten.function;
    let values = Values::new(function);
    let mut names = Names::default();
    let signature = Signature::new(function, &values, derived, &mut names);
    let arrays = signature.arrays.clone();
    let array_spans = function.arguments.iter().map(|id| &function.locals[id.0 as usize]);
    let array_spans =
        array_spans.filter(|local| matches!(local.ty, Type::Array { .. })).map(|local| local.span).collect();
    let mut nest = Nest {
        symbols: Symbols::new(ctx, function, signature),
        values,
        names,
        made_up_loops: BTreeSet::new(),
        computation_names: Names::default(),
        arrays,
        array_spans,
        storage: BTreeMap::new(),
        made: BTreeMap::new(),
        requirements: vec![],
        computations: vec![],
        scans: vec![],
        scan_names: Names::default(),
        looked: vec![],
        searched: BTreeSet::new(),
        ranged: &rewritten.ranged,
        failed,
        stored: BTreeSet::new(),
        spans: SpanTable { function: Some(function.span), ..SpanTable::default() },
        errors: rewritten.errors.clone(),
    };
    nest.reserve_labels();
    let scope = Scope {
        site: Site { iterators: vec![], domain: Formula::True },
        may: Formula::True,
        predicates: vec![],
        left_out: false,
        simd: None,
    };
    let mut children = nest.block(&function.body, &scope);
    nest.finish(function, &mut children)
}

impl<'a> Nest<'a> {
    fn reserve_labels(&mut self) {
        let mut first: BTreeMap<&str, Span> = BTreeMap::new();
        for label in self.values.labels() {
            match first.get(label.name.as_str()) {
                Some(&first) => {
                    let (name, second) = (label.name.clone(), label.span);
                    self.errors.push(LowerError::DuplicateLabel { name, first, second });
                }
                None => {
                    first.insert(&label.name, label.span);
                    self.computation_names.reserve(&label.name);
                }
            }
        }
    }

    fn finish(mut self, function: &Function, children: &mut Vec<Node>) -> Result<Lowered, Vec<LowerError>> {
        let result = self.outcome(function, &function.result);
        let failed = self.failed.map(|failed| self.storage_of(failed, &[]).array);
        if self.computations.is_empty() && self.errors.is_empty() {
            let (function, signature) = (function.name.clone(), function.span);
            self.errors.push(LowerError::NoComputations { function, signature });
        }
        let found = std::mem::take(&mut self.errors);
        let follows = |error: &LowerError| found.iter().any(|other| error.follows_from(other));
        for (at, error) in found.iter().enumerate() {
            // A body that is written out several times is wrong as often.
            if !follows(error) && !found[..at].iter().any(|known| error.repeats(known)) {
                self.errors.push(error.clone());
            }
        }
        let context = self.symbols.context_set();
        let context = self.settle(function.span, context);
        let (Some(context), true) = (context, self.errors.is_empty()) else { return Err(self.errors) };
        let start = self.symbols.one_instance(START);
        let Some(start) = self.settle(function.span, start) else { return Err(self.errors) };
        let end = self.symbols.one_instance(FIRST);
        let Some(end) = self.settle(function.span, end) else { return Err(self.errors) };
        let spans = &mut self.spans;
        spans.arrays = self.array_spans.iter().enumerate().map(|(at, &span)| (ArrayId(at as u32), span)).collect();
        let signature = self.symbols.signature;
        let params = signature.param_spans.iter().enumerate();
        spans.params = params.map(|(at, &span)| (ParamId(at as u32), span)).collect();
        // What a search has computed without `@fastmath` is what statements take from memory.
        let arrays: BTreeSet<ArrayId> =
            self.searched.iter().filter_map(|it| Some(self.storage.get(it)?.array)).collect();
        for it in self.computations.iter_mut().filter(|it| arrays.contains(&it.write.array)) {
            it.fastmath = false;
        }
        let scans = told_apart(std::mem::take(&mut self.scans));
        let mut algorithm = Algorithm {
            name: function.name.clone(),
            params: signature.params,
            scalars: signature.scalars,
            arrays: self.arrays,
            arguments: signature.arguments,
            computations: self.computations,
            requirements: self.requirements,
            context,
            source_order: Schedule { root: sequence(std::mem::take(children)) },
            result,
            failed,
            scan: None,
            whole: None,
            redirected: BTreeMap::new(),
            limits: BTreeMap::new(),
        };
        // Where isl gives up, such subscripts are like any that data name.
        algorithm.limits = linear::limits(&algorithm).unwrap_or_default();
        narrow_updates(&mut algorithm);
        // Without it the same is only tested twice; what is wrong with an access is told where it is verified.
        let _ = without_implied(self.symbols.ctx, &mut algorithm, &mut self.spans);
        // Where isl gives up, no step of a stencil has components.
        let ctx = self.symbols.ctx;
        let _ =
            ctx.with_budget(COMPONENTS, || components::require(ctx, &mut algorithm, &mut self.spans, function.span));
        // Where isl gives up, each iteration has its own, as the source says.
        let _ = self.symbols.ctx.with_budget(SHARING, || share_between_steps(self.symbols.ctx, &mut algorithm));
        if !scans.is_empty() {
            algorithm.scan = Some(Box::new(assemble(&algorithm, scans, [start, end])));
        }
        Ok(Lowered { algorithm, spans: self.spans })
    }

    fn outcome(&mut self, function: &Function, result: &Returned) -> Outcome {
        let local = match result {
            Returned::Nothing => return Outcome::Nothing,
            Returned::Tuple(parts) | Returned::Named { parts, .. } => {
                return Outcome::Tuple(parts.iter().map(|part| self.outcome(function, part)).collect());
            }
            Returned::OneOf { position, options } => {
                let position = self.outcome(function, &Returned::Scalar(*position));
                let options = options.iter().map(|option| self.outcome(function, option));
                return Outcome::Tuple(std::iter::once(position).chain(options).collect());
            }
            Returned::Complex { re, im } => {
                let halves = [Returned::Scalar(*re), Returned::Scalar(*im)];
                return Outcome::Tuple(halves.iter().map(|half| self.outcome(function, half)).collect());
            }
            // An array whose extents were refused has been reported.
            Returned::Array(local) | Returned::ComplexArray(local) => {
                return self.made.get(local).map_or(Outcome::Nothing, |&array| Outcome::Array(array));
            }
            Returned::Argument(local) | Returned::Scalar(local) | Returned::Choice { position: local, .. } => *local,
        };
        match function.arguments.iter().position(|&argument| argument == local) {
            Some(position) => Outcome::Argument(position as u32),
            None => Outcome::Scalar(self.storage_of(local, &[]).array),
        }
    }

    /// The value, or `None` after recording isl's refusal.
    pub(crate) fn settle<T>(&mut self, span: Span, result: Result<T, IslError>) -> Option<T> {
        result.map_err(|error| self.errors.push(LowerError::TooComplicated { span, message: error.to_string() })).ok()
    }

    fn block(&mut self, block: &'a Block, scope: &Scope<'a>) -> Vec<Node> {
        block.iter().flat_map(|statement| self.statement(statement, scope)).collect()
    }

    fn statement(&mut self, statement: &'a Statement, scope: &Scope<'a>) -> Vec<Node> {
        match &statement.kind {
            StatementKind::For { id, iterator, range, mode, body } => {
                self.repeat(*id, *iterator, range, *mode, body, scope)
            }
            StatementKind::If { condition, then, otherwise } => {
                self.branch(condition, then, otherwise, Guard::Source, scope)
            }
            StatementKind::Set { target, value, label, mode } => {
                let node = self.set(statement.span, *target, value, label.as_ref(), *mode, scope);
                node.into_iter().collect()
            }
            StatementKind::Store { array, subscripts, value, label, mode } => {
                self.store_into([*array]);
                if label.is_none()
                    && let Some(cases) = self.store_cases(subscripts, scope)
                {
                    return cases.iter().flat_map(|case| self.statement(statement, case)).collect();
                }
                let value = Value::Expr(value);
                let Some(target) = self.store_target(statement.span, *array, subscripts, label.as_ref(), *mode, scope)
                else {
                    // What is wrong with the value is worth telling, too.
                    let nowhere =
                        Target { array: ArrayId(0), subscripts: vec![], checked: false, span: statement.span };
                    let built = Builder::new(self, scope, "S").build(&value, &nowhere, mode.fastmath);
                    self.errors.extend(built.err());
                    return vec![];
                };
                let draft =
                    Draft { span: statement.span, label: label.as_ref(), target, value, fastmath: mode.fastmath };
                self.emit(draft, scope).into_iter().collect()
            }
            StatementKind::Allocate { array, extents } => {
                self.store_into([*array]);
                self.allocate(*array, extents, scope);
                vec![]
            }
            StatementKind::Require { condition, failure } => {
                self.require(statement.span, condition, failure, scope);
                vec![]
            }
        }
    }

    /// From here on, these arrays do not hold what they held at entry.
    fn store_into(&mut self, arrays: impl IntoIterator<Item = LocalId>) {
        let before = self.stored.len();
        self.stored.extend(arrays);
        if self.stored.len() > before {
            // The same subscript may be another element from now on.
            self.looked.clear();
        }
    }

    fn branch(
        &mut self,
        condition: &'a Expr,
        then: &'a Block,
        otherwise: &'a Block,
        guard: Guard,
        scope: &Scope<'a>,
    ) -> Vec<Node> {
        let computations = self.values.computations(then) + self.values.computations(otherwise);
        // What a condition reads may be out of bounds even where nothing depends on it.
        let nothing = |block: &Block| !self.values.has_effects(block);
        if computations == 0 && !self.values.reads_memory(condition) && nothing(then) && nothing(otherwise) {
            return vec![];
        }
        if let Some(exact) = self.symbols.restriction(condition, &scope.site, &scope.may) {
            let mut nodes = vec![];
            for (case, block) in [(exact.clone(), then), (exact.not(), otherwise)] {
                let mut inner = scope.clone();
                inner.site.domain = inner.site.domain.and(&case);
                if inner.site.domain == Formula::False {
                    self.arrays_of_dead(block, scope);
                } else {
                    nodes.extend(self.block(block, &inner));
                }
            }
            return nodes;
        }

        // Leading affine conjuncts restrict the domain; the rest is a predicate.
        let parts = conjuncts(condition);
        let mut yes_scope = scope.clone();
        let mut rest = parts.as_slice();
        while let [first, others @ ..] = rest
            && let Some(exact) = self.symbols.restriction(first, &yes_scope.site, &yes_scope.may)
        {
            yes_scope.site.domain = yes_scope.site.domain.and(&exact);
            rest = others;
        }
        let rest = rest.to_vec();
        let mut no_scope = scope.clone();
        no_scope.may = no_scope.may.and(&self.symbols.implied(condition, &scope.site, &scope.may).1);

        let mut nodes = vec![];
        let costly = || self.values.cost(condition) > PREDICATE_COST;
        let save =
            guard == Guard::Source && (self.values.is_saved(condition, then, otherwise, computations) || costly());
        let (yes, no) = if save {
            let (saved_in, saved) =
                if otherwise.is_empty() { (yes_scope.clone(), rest.clone()) } else { (scope.clone(), parts) };
            let Some((guard, node)) = self.save(condition.span, saved.clone(), &saved_in) else { return vec![] };
            nodes.push(node);
            let predicate = |expected| Predicate::Saved { guard, parts: saved.clone(), expected, span: condition.span };
            (predicate(true), predicate(false))
        } else {
            let direct = |parts, expected, under: &Formula| Predicate::Direct { parts, expected, under: under.clone() };
            (direct(rest.clone(), true, &yes_scope.may), direct(parts, false, &scope.may))
        };
        yes_scope.predicates.push(yes);
        for part in rest {
            let implied = self.symbols.implied(part, &yes_scope.site, &yes_scope.may).0;
            yes_scope.may = yes_scope.may.and(&implied);
        }
        no_scope.predicates.push(no);
        nodes.extend(self.block(then, &yes_scope));
        nodes.extend(self.block(otherwise, &no_scope));
        nodes
    }

    /// Statements elsewhere, whose conditions are those of data, may name the arrays of a block that is never reached.
    fn arrays_of_dead(&mut self, block: &'a Block, scope: &Scope<'a>) {
        for statement in block {
            match &statement.kind {
                StatementKind::Allocate { array, extents } => {
                    let errors = self.errors.len();
                    self.allocate(*array, extents, scope);
                    // Extents that only this block knows.
                    self.errors.truncate(errors);
                }
                StatementKind::If { then, otherwise, .. } => {
                    self.arrays_of_dead(then, scope);
                    self.arrays_of_dead(otherwise, scope);
                }
                StatementKind::For { .. }
                | StatementKind::Set { .. }
                | StatementKind::Store { .. }
                | StatementKind::Require { .. } => {}
            }
        }
    }

    /// Saves a conjunction into a private `Bool` of the current iteration.
    fn save(&mut self, span: Span, parts: Vec<&'a Expr>, scope: &Scope<'a>) -> Option<(Storage, Node)> {
        let rank = scope.site.iterators.len() as u32;
        let name = self.names.fresh("guard");
        let array = self.add_array(name, ScalarType::Bool, rank, ArrayKind::Private, span);
        let guard = Storage { array, rank };
        let draft = Draft { span, label: None, target: guard.target(span), value: Value::All(parts), fastmath: false };
        Some((guard, self.emit(draft, scope)?))
    }

    fn set(
        &mut self,
        span: Span,
        target: LocalId,
        value: &'a Expr,
        label: Option<&'a Label>,
        mode: Mode,
        scope: &Scope<'a>,
    ) -> Option<Node> {
        let declared = &self.symbols.function.locals[target.0 as usize];
        match declared.role {
            Role::Argument | Role::Iterator(_) => {
                self.errors.push(LowerError::AssignedArgument { name: declared.name.clone(), span });
                return None;
            }
            Role::Variable(_) => {}
            Role::Value(_) => {
                let symbol = self.symbols.symbolic(value, &scope.site, &scope.may);
                let is_symbolic = symbol.is_ok();
                if !is_symbolic && value.ty == ScalarType::I64 {
                    self.symbols.definitions.insert(target, value.clone());
                }
                self.symbols.define(target, symbol);
                let must_exist = label.is_some() || self.values.is_result(target);
                if !must_exist && (is_symbolic || self.values.fate(target) != Fate::Stored) {
                    return None;
                }
            }
        }
        let storage = self.storage_of(target, &scope.site.iterators);
        self.emit(
            Draft { span, label, target: storage.target(span), value: Value::Expr(value), fastmath: mode.fastmath },
            scope,
        )
    }

    /// Where a subscript of a store is one affine expression in each of several cases: a place for each of them. They
    /// exclude each other, so that it does not matter which computation comes first.
    fn store_cases(&self, subscripts: &[Expr], scope: &Scope<'a>) -> Option<Vec<Scope<'a>>> {
        let mut cases = vec![Formula::True];
        for subscript in subscripts {
            let Ok(pieces) = self.symbols.integer(subscript, &scope.site, &scope.may) else { continue };
            if cases.len() * pieces.0.len() > STORE_CASES_LOOKED_AT {
                return None;
            }
            if pieces.as_single().is_none() {
                cases = cases.iter().flat_map(|case| pieces.0.iter().map(|(piece, _)| case.and(piece))).collect();
            }
        }
        cases.retain(|case| self.symbols.is_possible(&scope.site, &scope.may.and(case)));
        let divides = cases.iter().any(|case| scope.site.divides_ranges(case));
        if divides || !(2..=STORE_CASE_LIMIT).contains(&cases.len()) {
            return None;
        }
        let place = |case: &Formula| {
            let mut inner = scope.clone();
            inner.site.domain = inner.site.domain.and(case);
            inner
        };
        let places: Vec<Scope<'a>> = cases.iter().map(place).collect();
        let single = |place: &Scope<'a>| {
            let value = |subscript| self.symbols.integer(subscript, &place.site, &place.may);
            subscripts.iter().all(|subscript| value(subscript).map_or(true, |pieces| pieces.as_single().is_some()))
        };
        places.iter().all(single).then_some(places)
    }

    fn store_target(
        &mut self,
        span: Span,
        array: LocalId,
        subscripts: &'a [Expr],
        label: Option<&'a Label>,
        mode: Mode,
        scope: &Scope<'a>,
    ) -> Option<Target<'a>> {
        let name = &self.symbols.function.locals[array.0 as usize].name;
        let place = self.array_of(array);
        let outer = self.outer_subscripts(place).into_iter();
        let mut targets: Vec<TargetSubscript<'a>> = outer.map(TargetSubscript::Given).collect();
        let mut failed = false;
        for subscript in subscripts {
            match self.symbols.integer(subscript, &scope.site, &scope.may) {
                Ok(pieces) => match pieces.as_single() {
                    Some(value) => targets.push(TargetSubscript::Affine(value.clone(), subscript)),
                    None if label.is_none() => targets.push(TargetSubscript::Computed(subscript)),
                    None => {
                        failed = true;
                        self.errors.push(LowerError::StoreInCases { array: name.clone(), subscript: subscript.span });
                    }
                },
                Err(_) => targets.push(TargetSubscript::Computed(subscript)),
            }
        }
        let array = place;
        // `A[i, j]` of `A[i, j] = x`: to the bracket after the last subscript.
        let end = subscripts.last().map_or(span.end, |last| last.span.end.saturating_add(1));
        let written = if (span.start..=span.end).contains(&end) { Span { end, ..span } } else { span };
        (!failed).then_some(Target { array, subscripts: targets, checked: !mode.inbounds, span: written })
    }
}

/// What a condition is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// The source has it.
    Source,
    /// It keeps a loop to a range that is data: generated loops take their bounds from it.
    Range,
}

/// `a`, `b` and `c` of `a && b && c`.
fn conjuncts(condition: &Expr) -> Vec<&Expr> {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::AndAlso, left, right) => {
            let mut parts = conjuncts(left);
            parts.extend(conjuncts(right));
            parts
        }
        _ => vec![condition],
    }
}

/// One child stands for itself.
fn sequence(mut children: Vec<Node>) -> Node {
    match children.len() {
        1 => children.swap_remove(0),
        _ => Node::Sequence(children),
    }
}
