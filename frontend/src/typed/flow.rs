//! What a name means changes along the code: a scalar assigned again in straight-line code is a new variable, and a
//! name of an array can come to mean another array.

use super::check::{Checked, Checker};
use super::jumps::Fresh;
use super::meanings::Variants;
use super::operator::{binary, unary};
use super::rebinding::Rebinding;
use super::renaming::Renaming;
use super::scope::{State, VariableId};
use super::tree::{Block, Expr, ExprKind, LocalId, Role, Statement, StatementKind, Type};
use super::unsupported::Construct;
use super::value::{RangeValue, Value};
use crate::ast;
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, Constant, ScalarType, UnaryOp};

/// The checker's place in the flow of the code.
pub(super) struct Flow {
    pub fresh: Fresh,
    /// The outermost block from which everything up to here runs whenever the block does, or at its end.
    pub straight_from: usize,
    /// The body of the innermost loop, as a number of open blocks.
    pub loop_depth: usize,
    /// Whether nothing follows the statement in its block and those around it, down to `straight_from`.
    pub tail: bool,
    /// How often each variable is set, and whether in a loop inside its scope.
    pub(super) sets: BTreeMap<LocalId, (u32, bool)>,
    /// The loop being checked, if it has one iterator only.
    pub range: Option<(LocalId, RangeValue)>,
    /// Whether the loop about to be checked has one iterator.
    pub single: bool,
    /// What names of arrays mean depends on the path taken up to here.
    pub(super) pending: Option<Variants>,
    /// The loops around that exchange names of arrays, with `None` for others.
    pub(super) renamings: Vec<Option<Renaming>>,
    /// How many bodies of such loops were checked again for another meaning of the names.
    pub(super) variants: usize,
    /// Whether the path has left its loop.
    pub(super) left: bool,
    /// Names that the function assigns in one place only.
    pub once: BTreeSet<String>,
    /// Names of tables of numbers that the function only reads.
    pub tables: BTreeSet<String>,
    /// The type that the value of the expression about to be checked is converted to, where both branches of a
    /// `c ? a : b` can be converted one by one.
    pub wanted: Option<tessella_scalar::ScalarType>,
    /// Variables of such names that are constants.
    pub known: BTreeMap<LocalId, Constant>,
    /// Whether the expression about to be checked is the call that a statement or assignment consists of.
    pub statement_call: bool,
    /// Whether it is the call that a statement consists of whose value nobody uses.
    pub unused_call: bool,
    /// Whether the value of the statements being checked is given back, or not used: it may be of several kinds.
    pub several_results: bool,
    /// Whether the call about to be checked is the right side of an assignment that takes one of several values, by the path.
    pub asks_for_paths: bool,
    /// What that call gives.
    pub one_of: Option<super::called_paths::OneOf>,
    /// Whether the statements being checked are terms of a point, with constants for the iterators of their loops.
    pub among_terms: bool,
    /// How many copies of the code have been checked before this one.
    pub copy: usize,
    /// What `return`s that are not the end of their function give back, by the variable that stands for it.
    pub kept: BTreeMap<VariableId, super::kept::Kept>,
    /// Variables that note a choice among results, where nothing has asked for it yet.
    pub unread: BTreeSet<LocalId>,
    pub rebinding: Rebinding,
}

impl Default for Flow {
    fn default() -> Self {
        Flow {
            fresh: Fresh::default(),
            straight_from: 1,
            loop_depth: 1,
            tail: true,
            sets: BTreeMap::new(),
            range: None,
            single: false,
            pending: None,
            renamings: vec![],
            variants: 0,
            left: false,
            once: BTreeSet::new(),
            tables: BTreeSet::new(),
            wanted: None,
            known: BTreeMap::new(),
            statement_call: false,
            unused_call: false,
            several_results: true,
            asks_for_paths: false,
            one_of: None,
            among_terms: false,
            copy: 0,
            kept: BTreeMap::new(),
            unread: BTreeSet::new(),
            rebinding: Rebinding::default(),
        }
    }
}

impl Checker<'_> {
    /// Whether an assignment to the variable here makes it a new one, because no path joins behind it.
    pub(super) fn is_straight(&self, variable: VariableId) -> bool {
        let variable = &self.variables[variable.0];
        variable.home >= self.flow.straight_from && variable.owner == self.loops.last().copied()
    }

    pub(super) fn note_set(&mut self, local: LocalId, in_loop: bool) {
        let (count, looped) = self.flow.sets.entry(local).or_default();
        *count += 1;
        *looped |= in_loop;
    }

    /// Made-up variables may be read on paths where the checker cannot see the assignment.
    pub(super) fn note_hidden_set(&mut self, local: LocalId) {
        self.note_set(local, true);
    }

    /// Variables set once, where they are declared, are values.
    pub(super) fn settle_roles(&mut self) {
        for (&id, &(count, in_loop)) in &self.flow.sets {
            let local = &mut self.locals[id.0 as usize];
            if let (1, false, Role::Variable(owner)) = (count, in_loop, local.role) {
                local.role = Role::Value(owner);
            }
        }
    }

    /// A branch of an `if`, in a block of its own.
    pub(super) fn in_branch<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        let straight_from = self.flow.straight_from;
        if !self.flow.tail {
            self.flow.straight_from = self.blocks.len() + 1;
        }
        let result = self.in_block(check);
        self.flow.straight_from = straight_from;
        result
    }

    pub(super) fn meanings(&self) -> Vec<State> {
        self.variables.iter().map(|variable| variable.state.clone()).collect()
    }

    /// Between the branches of an `if`: names mean what they meant before it.
    pub(super) fn restore(&mut self, before: &[State]) {
        for (at, state) in before.iter().enumerate() {
            let keeps = matches!(state, State::Unassigned) && !(self.flow.tail && self.is_straight(VariableId(at)));
            if !keeps {
                self.variables[at].state = state.clone();
            }
        }
    }

    /// A range whose bounds later assignments do not change, if the body may ask for them.
    pub(super) fn steady(&mut self, range: RangeValue, body: &[ast::Expr]) -> RangeValue {
        match body.iter().any(super::walk::renames) {
            true => match self.frozen(Value::Range(range.clone())) {
                Value::Range(range) => range,
                _ => range,
            },
            false => range,
        }
    }

    /// The position of an array among the function's arguments.
    pub(super) fn argument_position(&mut self, array: LocalId, span: Span) -> Checked<Expr> {
        let arguments = self.locals.iter().take_while(|local| local.role == Role::Argument).count();
        match self.local(array).role {
            Role::Argument if (array.0 as usize) < arguments => Ok(Expr::int64(i64::from(array.0), span)),
            Role::Argument | Role::Iterator(_) => self.not_yet(Construct::ArrayVariable, span),
            Role::Variable(_) | Role::Value(_) => {
                Err(self.fail(super::TypeError::Array(super::ArrayError::Returned { span })))
            }
        }
    }

    /// A variable that is set in several branches.
    pub(super) fn joined(&mut self, name: &str, ty: ScalarType, span: Span) -> LocalId {
        let owner = self.loops.last().copied();
        self.new_local(name, Type::Scalar(ty), Role::Variable(owner), span)
    }
}

/// An `if` as an expression of the typed tree has no statements; this one has.
pub(super) fn set(target: LocalId, value: Expr, mode: super::tree::Mode) -> Statement {
    let span = value.span;
    Statement { kind: StatementKind::Set { target, value, label: None, mode }, span }
}

/// Whether something in the block fails for some values.
pub(super) fn requires(block: &Block) -> bool {
    block.iter().any(|statement| matches!(statement.kind, StatementKind::Require { .. }))
}

/// The block's statements where they are executed on every path: what they require, they require where the condition
/// is as expected.
pub(super) fn required_if(block: Block, condition: &Expr, expected: bool) -> Block {
    let guarded = |kind: StatementKind| match kind {
        StatementKind::Require { condition: needed, failure } => {
            let span = needed.span;
            let otherwise = match expected {
                true => unary(UnaryOp::Not, condition.clone(), span),
                false => condition.clone(),
            };
            StatementKind::Require { condition: binary(BinaryOp::OrElse, otherwise, needed, span), failure }
        }
        other => other,
    };
    block.into_iter().map(|statement| Statement { kind: guarded(statement.kind), ..statement }).collect()
}

/// Whether all statements only give names to values that any path may evaluate, or fail for some values.
pub(super) fn is_harmless(block: &Block, checker: &Checker<'_>) -> bool {
    block.iter().all(|statement| match &statement.kind {
        StatementKind::Set { target, value, label: None, .. } => {
            matches!(checker.local(*target).role, Role::Value(_))
                && !value.any(&|part| matches!(part.kind, ExprKind::Load { .. }))
        }
        StatementKind::Require { failure, .. } => failure.error.is_of_values(),
        StatementKind::Set { .. }
        | StatementKind::Store { .. }
        | StatementKind::If { .. }
        | StatementKind::For { .. }
        | StatementKind::Allocate { .. } => false,
    })
}
