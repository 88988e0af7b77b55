//! Decides what becomes of a variable that is assigned once and is not symbolic: a `Let` of the computations that use
//! it, or a private scalar with a computation of its own.

use std::collections::{BTreeMap, BTreeSet};
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, Function, Label, LocalId, Mode, Result as Returned, Role, Statement, StatementKind,
};
use tessella_scalar::{BinaryOp, Intrinsic, ScalarType};

/// What becomes of a `Value` local.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its expression is evaluated by the computations that use it.
    Inline,
    /// It is a private scalar, and its assignment a computation.
    Stored,
    /// Nobody misses it.
    Dropped,
}

/// An expression of at most this many operators is repeated in each computation that uses it, if it reads no array.
const CHEAP: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct BlockId(usize);

/// A statement: its block and its number in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    block: BlockId,
    index: usize,
}

/// What a statement does with a local that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The value of an assignment to this local.
    Assigned(LocalId),
    /// The value of a store.
    Value,
    /// A condition.
    Condition,
    /// A subscript of a store.
    Subscript,
    /// A loop bound, or what sizes depend on.
    Index,
    /// A condition that is searched at entry: it is evaluated there and nowhere else.
    Test,
}

struct Definition<'a> {
    spot: Spot,
    value: &'a Expr,
    label: Option<&'a Label>,
    mode: Mode,
    /// The arrays and variables that the value depends on, through other values too.
    memory: BTreeSet<LocalId>,
    /// See [`Values::cost`].
    cost: usize,
}

/// Where each local is set and read.
pub(crate) struct Values<'a> {
    function: &'a Function,
    blocks: Vec<&'a Block>,
    definitions: BTreeMap<LocalId, Definition<'a>>,
    /// Of the definitions, as in the source.
    order: Vec<LocalId>,
    uses: BTreeMap<LocalId, Vec<(Spot, Use)>>,
    /// The fates, with the one computation that evaluates an inlined local, if there is just one.
    fates: BTreeMap<LocalId, (Fate, Option<Spot>)>,
    /// Locals that subscripts, bounds or comparisons of integers depend on.
    indices: BTreeSet<LocalId>,
    labels: Vec<&'a Label>,
    /// The arrays that some statement stores into or makes.
    written: BTreeSet<LocalId>,
}

impl<'a> Values<'a> {
    pub(crate) fn new(function: &'a Function) -> Self {
        let mut values = Values {
            function,
            blocks: vec![],
            definitions: BTreeMap::new(),
            order: vec![],
            uses: BTreeMap::new(),
            fates: BTreeMap::new(),
            indices: BTreeSet::new(),
            labels: vec![],
            written: BTreeSet::new(),
        };
        values.visit(&function.body);
        for local in values.order.clone().into_iter().rev() {
            if values.indices.contains(&local) {
                let Some(value) = values.definition(local) else { continue };
                walk(value, &mut |part| values.indices.extend(as_local(part)));
            }
        }
        // A local's fate depends on those of later ones that use it.
        for local in values.order.clone().into_iter().rev() {
            let fate = values.decide(local);
            values.fates.insert(local, fate);
        }
        values
    }

    /// The only expression that the local is set to.
    pub(crate) fn definition(&self, local: LocalId) -> Option<&'a Expr> {
        self.definitions.get(&local).map(|definition| definition.value)
    }

    /// All labels, in the source's order.
    pub(crate) fn labels(&self) -> &[&'a Label] {
        &self.labels
    }

    /// Whether the function returns the scalar.
    pub(crate) fn is_result(&self, local: LocalId) -> bool {
        gives_scalar(&self.function.result, local)
    }

    /// Whether the function returns this array that it makes.
    pub(crate) fn is_returned(&self, local: LocalId) -> bool {
        gives(&self.function.result, local, Form::Array)
    }

    /// Whether some statement stores into the array or makes it.
    pub(crate) fn is_written(&self, array: LocalId) -> bool {
        self.written.contains(&array)
    }

    fn visit(&mut self, block: &'a Block) {
        let id = BlockId(self.blocks.len());
        self.blocks.push(block);
        for (index, statement) in block.iter().enumerate() {
            let spot = Spot { block: id, index };
            match &statement.kind {
                StatementKind::For { range, body, .. } => {
                    self.add_uses(&range.start, spot, Use::Index);
                    self.add_uses(&range.stop, spot, Use::Index);
                    self.visit(body);
                }
                StatementKind::If { condition, then, otherwise } => {
                    self.add_uses(condition, spot, Use::Condition);
                    self.visit(then);
                    self.visit(otherwise);
                }
                StatementKind::Set { target, value, label, mode } => {
                    self.add_uses(value, spot, Use::Assigned(*target));
                    self.labels.extend(label);
                    if matches!(self.function.locals[target.0 as usize].role, Role::Value(_)) {
                        let (memory, cost) = (self.memory(value), self.cost(value));
                        let definition = Definition { spot, value, label: label.as_ref(), mode: *mode, memory, cost };
                        self.definitions.insert(*target, definition);
                        self.order.push(*target);
                    }
                }
                StatementKind::Store { array, subscripts, value, label, .. } => {
                    self.written.insert(*array);
                    for subscript in subscripts {
                        self.add_uses(subscript, spot, Use::Subscript);
                    }
                    self.add_uses(value, spot, Use::Value);
                    self.labels.extend(label);
                }
                StatementKind::Allocate { array, extents } => {
                    self.written.insert(*array);
                    extents.iter().for_each(|extent| self.add_uses(extent, spot, Use::Index));
                }
                StatementKind::Require { condition, failure } => {
                    let what = if failure.error.is_of_values() { Use::Test } else { Use::Index };
                    self.add_uses(condition, spot, what);
                }
            }
        }
    }

    fn add_uses(&mut self, expr: &Expr, spot: Spot, what: Use) {
        walk(expr, &mut |part| {
            if let Some(local) = as_local(part) {
                self.uses.entry(local).or_default().push((spot, what));
                if matches!(what, Use::Subscript | Use::Index) {
                    self.indices.insert(local);
                }
            }
            let operands: &[&Expr] = match &part.kind {
                ExprKind::Load { subscripts, .. } => &subscripts.iter().collect::<Vec<_>>(),
                ExprKind::Compare(_, left, right) if left.ty == ScalarType::I64 => &[&**left, &**right],
                _ => &[],
            };
            for operand in operands {
                walk(operand, &mut |part| self.indices.extend(as_local(part)));
            }
        });
    }

    /// Whether a subscript, a bound or a comparison of integers depends on the local.
    pub(crate) fn is_index(&self, local: LocalId) -> bool {
        self.indices.contains(&local)
    }

    /// Whether the value depends on arrays or variables, through other values too.
    pub(crate) fn reads_memory(&self, expr: &Expr) -> bool {
        !self.memory(expr).is_empty()
    }

    /// Whether the value depends on nothing that the function changes.
    pub(crate) fn is_known_at_entry(&self, expr: &Expr) -> bool {
        let is_variable = |local: LocalId| matches!(self.function.locals[local.0 as usize].role, Role::Variable(_));
        self.memory(expr).into_iter().all(|local| !is_variable(local) && !self.is_written(local))
    }

    /// The arrays and variables that the value depends on.
    fn memory(&self, expr: &Expr) -> BTreeSet<LocalId> {
        let mut found = BTreeSet::new();
        walk(expr, &mut |part| match part.kind {
            ExprKind::Load { array, .. } => {
                found.insert(array);
            }
            ExprKind::Local(local) => match self.function.locals[local.0 as usize].role {
                Role::Variable(_) => {
                    found.insert(local);
                }
                Role::Value(_) => {
                    if let Some(definition) = self.definitions.get(&local) {
                        found.extend(&definition.memory);
                    }
                }
                Role::Argument | Role::Iterator(_) => {}
            },
            _ => {}
        });
        found
    }

    /// The fate of a local that is not symbolic.
    pub(crate) fn fate(&self, local: LocalId) -> Fate {
        self.fates.get(&local).map_or(Fate::Stored, |&(fate, _)| fate)
    }

    fn decide(&self, local: LocalId) -> (Fate, Option<Spot>) {
        let definition = &self.definitions[&local];
        if definition.label.is_some() || self.is_result(local) {
            return (Fate::Stored, None);
        }
        let uses = self.uses.get(&local).map_or(&[][..], Vec::as_slice);
        let reads_memory = !definition.memory.is_empty();
        if uses.is_empty() {
            // A load that nobody uses may still be out of bounds.
            return (if reads_memory { Fate::Stored } else { Fate::Dropped }, None);
        }
        match self.consumer(definition, uses) {
            Some(consumer) if !self.changes_between(definition, consumer) => (Fate::Inline, Some(consumer)),
            _ if !reads_memory && !definition.mode.fastmath && definition.cost <= CHEAP => (Fate::Inline, None),
            Some(_) | None => (Fate::Stored, None),
        }
    }

    /// The one computation, in the same block, that would evaluate the local's expression if it were inlined.
    fn consumer(&self, definition: &Definition<'_>, uses: &[(Spot, Use)]) -> Option<Spot> {
        let mut consumer = None;
        for &(spot, what) in uses {
            let reached = match what {
                Use::Index => return None,
                Use::Test => continue,
                Use::Assigned(next) => match self.fates.get(&next) {
                    Some((Fate::Dropped, _)) => continue,
                    Some((Fate::Inline, reached)) => (*reached)?,
                    Some((Fate::Stored, _)) | None => spot,
                },
                Use::Value | Use::Condition | Use::Subscript => spot,
            };
            if reached.block != definition.spot.block || consumer.is_some_and(|known| known != reached) {
                return None;
            }
            consumer = Some(reached);
        }
        let consumer = consumer?;
        if let StatementKind::If { condition, .. } = &self.statement(consumer).kind
            && !definition.memory.is_empty()
            && self.leaves_out(condition)
        {
            // The condition would be evaluated in fewer iterations than the assignment.
            return None;
        }
        let fastmath = match &self.statement(consumer).kind {
            StatementKind::Set { mode, .. } | StatementKind::Store { mode, .. } => mode.fastmath,
            StatementKind::If { .. }
            | StatementKind::For { .. }
            | StatementKind::Allocate { .. }
            | StatementKind::Require { .. } => false,
        };
        (fastmath == definition.mode.fastmath).then_some(consumer)
    }

    fn statement(&self, spot: Spot) -> &'a Statement {
        &self.blocks[spot.block.0][spot.index]
    }

    /// Whether a statement between the definition and its consumer writes what the definition reads.
    fn changes_between(&self, definition: &Definition<'_>, consumer: Spot) -> bool {
        let block = self.blocks[consumer.block.0];
        let between = block.get(definition.spot.index + 1..consumer.index).unwrap_or_default();
        between.iter().any(|statement| writes_any(statement, &definition.memory))
    }

    /// Operators in the expression, those of values included; elementary functions count as many.
    pub(crate) fn cost(&self, expr: &Expr) -> usize {
        let mut cost = 0_usize;
        walk(expr, &mut |part| match &part.kind {
            ExprKind::Local(local) => {
                if let Some(definition) = self.definitions.get(local) {
                    cost = cost.saturating_add(definition.cost);
                }
            }
            ExprKind::Call(Intrinsic::Abs | Intrinsic::Sign | Intrinsic::CopySign | Intrinsic::IsNan, _) => {
                cost = cost.saturating_add(1);
            }
            ExprKind::Call(..) => cost = cost.saturating_add(CHEAP + 1),
            ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::Select { .. }
            | ExprKind::IfElse { .. } => cost = cost.saturating_add(1),
            ExprKind::Constant(_)
            | ExprKind::Load { .. }
            | ExprKind::Size { .. }
            | ExprKind::First { .. }
            | ExprKind::Convert(_)
            | ExprKind::Wrap(_) => {}
        });
        cost
    }

    /// Whether the condition starts with one that does not depend on memory, and so may restrict the domain.
    fn leaves_out(&self, condition: &Expr) -> bool {
        match &condition.kind {
            ExprKind::Binary(BinaryOp::AndAlso, left, _) => self.leaves_out(left),
            _ => !self.reads_memory(condition),
        }
    }

    /// Whether a condition in the block may restrict the domain of what is inside.
    fn narrows(&self, block: &Block) -> bool {
        block.iter().any(|statement| match &statement.kind {
            StatementKind::If { condition, then, otherwise } => {
                self.leaves_out(condition) || self.narrows(then) || self.narrows(otherwise)
            }
            StatementKind::For { .. }
            | StatementKind::Set { .. }
            | StatementKind::Store { .. }
            | StatementKind::Allocate { .. }
            | StatementKind::Require { .. } => false,
        })
    }

    /// Whether a condition that reads memory needs a computation of its own: where the branches, which become
    /// `computations`, are not one computation with the very instances for which the condition is evaluated.
    pub(crate) fn is_saved(&self, condition: &Expr, then: &Block, otherwise: &Block, computations: usize) -> bool {
        let elsewhere =
            || computations != 1 || [then, otherwise].into_iter().any(|block| has_loops(block) || self.narrows(block));
        self.reads_memory(condition) && elsewhere()
    }

    /// How many computations the block may become; an upper bound.
    pub(crate) fn computations(&self, block: &Block) -> usize {
        block
            .iter()
            .map(|statement| match &statement.kind {
                StatementKind::For { body, .. } => self.computations(body),
                StatementKind::If { condition, then, otherwise } => {
                    let branches = self.computations(then) + self.computations(otherwise);
                    branches + usize::from(self.is_saved(condition, then, otherwise, branches))
                }
                StatementKind::Set { target, .. } => usize::from(self.may_store(*target)),
                StatementKind::Store { .. } => 1,
                StatementKind::Allocate { .. } | StatementKind::Require { .. } => 0,
            })
            .sum()
    }

    /// Whether the block makes arrays or requires something, which are no computations.
    pub(crate) fn has_effects(&self, block: &Block) -> bool {
        block.iter().any(|statement| match &statement.kind {
            StatementKind::Allocate { .. } | StatementKind::Require { .. } => true,
            StatementKind::For { body, .. } => self.has_effects(body),
            StatementKind::If { then, otherwise, .. } => self.has_effects(then) || self.has_effects(otherwise),
            StatementKind::Set { .. } | StatementKind::Store { .. } => false,
        })
    }

    fn may_store(&self, target: LocalId) -> bool {
        let Some(definition) = self.definitions.get(&target) else { return true };
        let may_be_symbolic = matches!(definition.value.ty, ScalarType::I64 | ScalarType::Bool)
            && definition.label.is_none()
            && !self.is_result(target)
            && !self.reads_memory(definition.value);
        !may_be_symbolic && self.fate(target) == Fate::Stored
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Scalar,
    Array,
}

/// Whether a scalar variable is, or decides on, what the function gives back.
pub(crate) fn gives_scalar(result: &Returned, local: LocalId) -> bool {
    gives(result, local, Form::Scalar)
}

fn gives(result: &Returned, local: LocalId, form: Form) -> bool {
    match result {
        Returned::Scalar(it) | Returned::Choice { position: it, .. } => form == Form::Scalar && *it == local,
        Returned::Complex { re, im } => form == Form::Scalar && (*re == local || *im == local),
        Returned::Array(it) | Returned::ComplexArray(it) => form == Form::Array && *it == local,
        Returned::Tuple(parts) | Returned::Named { parts, .. } => parts.iter().any(|part| gives(part, local, form)),
        Returned::OneOf { position, options } => {
            gives(&Returned::Scalar(*position), local, form) || options.iter().any(|option| gives(option, local, form))
        }
        Returned::Nothing | Returned::Argument(_) => false,
    }
}

/// Whether the block has loops with statements in them.
pub(crate) fn has_loops(block: &Block) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StatementKind::For { .. } => true,
        StatementKind::If { then, otherwise, .. } => has_loops(then) || has_loops(otherwise),
        StatementKind::Set { .. }
        | StatementKind::Store { .. }
        | StatementKind::Allocate { .. }
        | StatementKind::Require { .. } => false,
    })
}

fn as_local(expr: &Expr) -> Option<LocalId> {
    match expr.kind {
        ExprKind::Local(local) => Some(local),
        _ => None,
    }
}

fn writes_any(statement: &Statement, locals: &BTreeSet<LocalId>) -> bool {
    let any = |block: &Block| block.iter().any(|statement| writes_any(statement, locals));
    match &statement.kind {
        StatementKind::For { body, .. } => any(body),
        StatementKind::If { then, otherwise, .. } => any(then) || any(otherwise),
        StatementKind::Set { target, .. } => locals.contains(target),
        StatementKind::Store { array, .. } | StatementKind::Allocate { array, .. } => locals.contains(array),
        StatementKind::Require { .. } => false,
    }
}

/// Calls `visit` on the expression and all below it, subscripts included.
fn walk(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Constant(_) | ExprKind::Local(_) | ExprKind::Size { .. } | ExprKind::First { .. } => {}
        ExprKind::Load { subscripts: operands, .. } | ExprKind::Call(_, operands) => {
            operands.iter().for_each(|operand| walk(operand, visit));
        }
        ExprKind::Unary(_, operand) | ExprKind::Convert(operand) | ExprKind::Wrap(operand) => walk(operand, visit),
        ExprKind::Binary(_, left, right) | ExprKind::Compare(_, left, right) => {
            walk(left, visit);
            walk(right, visit);
        }
        ExprKind::Select { condition, yes, no } | ExprKind::IfElse { condition, yes, no } => {
            walk(condition, visit);
            walk(yes, visit);
            walk(no, visit);
        }
    }
}

/// The arrays that the block stores into, or makes.
pub(crate) fn stores(block: &Block, into: &mut BTreeSet<LocalId>) {
    for statement in block {
        match &statement.kind {
            StatementKind::For { body, .. } => stores(body, into),
            StatementKind::If { then, otherwise, .. } => {
                stores(then, into);
                stores(otherwise, into);
            }
            StatementKind::Store { array, .. } | StatementKind::Allocate { array, .. } => {
                into.insert(*array);
            }
            StatementKind::Set { .. } | StatementKind::Require { .. } => {}
        }
    }
}
