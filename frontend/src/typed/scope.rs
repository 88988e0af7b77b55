//! Julia's scopes inside a function: which assignment makes a variable, and which updates one.

use super::check::Checker;
use super::error::TypeError;
use super::tree::{LocalId, LoopId};
use super::value::Value;
use crate::ast::{Expr, ExprKind};
use std::collections::BTreeMap;
use tessella_diagnostics::Span;
use tessella_scalar::ScalarType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VariableId(pub usize);

/// In the place of a variable where the library's function of the name is meant, see [`super::full_name`].
pub(super) const LIBRARY: VariableId = VariableId(usize::MAX);

/// A name of the source in one scope.
#[derive(Debug)]
pub(super) struct Variable {
    pub name: String,
    /// The innermost loop around the scope: each of its iterations has a variable of its own.
    pub owner: Option<LoopId>,
    pub state: State,
    /// The type that `x::T = ...` or `local x::T` declares.
    pub declared: Option<ScalarType>,
    /// Where it is first bound.
    pub span: Span,
    /// The block of its scope, as a number of open blocks.
    pub home: usize,
    /// Where its state is a tuple that is assigned again: the variables of its elements.
    pub parts: Vec<LocalId>,
}

#[derive(Debug, Clone)]
pub(super) enum State {
    /// Assigned somewhere, but not up to here.
    Unassigned,
    Scalar(LocalId),
    /// The two halves of a complex variable.
    Complex(LocalId, LocalId),
    Array(LocalId),
    /// Another name for a tuple, a range or a type.
    Alias(Value),
    /// An error has been reported; its uses are not reported again.
    Poisoned,
}

pub(super) type Scope = BTreeMap<String, VariableId>;

impl Checker<'_> {
    pub(super) fn lookup(&self, name: &str) -> Option<VariableId> {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(name).copied());
        found.filter(|variable| *variable != LIBRARY)
    }

    pub(super) fn declare(&mut self, name: &str, span: Span, state: State) -> VariableId {
        let id = VariableId(self.variables.len());
        self.variables.push(Variable {
            name: super::full_name::own(name).to_string(),
            owner: self.loops.last().copied(),
            state,
            declared: None,
            span,
            home: self.blocks.len(),
            parts: vec![],
        });
        self.scopes.last_mut().expect("a scope is open while a function is checked").insert(name.to_string(), id);
        id
    }

    /// Declares what a block assigns in its own scope and no enclosing scope has.
    pub(super) fn declare_assigned(&mut self, body: &[Expr]) {
        let mut names = Assigned::default();
        for statement in body {
            names.collect(statement, Depth::Scope);
        }
        for (name, span) in names.local {
            let current = self.scopes.last().expect("a scope is open while a function is checked");
            if !current.contains_key(&name) {
                self.declare(&name, span, State::Unassigned);
            }
        }
        for (name, span) in names.assigned {
            if self.lookup(&name).is_none() {
                self.declare(&name, span, State::Unassigned);
            }
        }
    }

    pub(super) fn undefined(&self, name: &str, span: Span) -> TypeError {
        let name = super::full_name::own(name);
        let mut known: Vec<&str> =
            self.scopes.iter().rev().flat_map(|scope| scope.keys().map(String::as_str)).collect();
        known.extend(self.type_parameters.keys().map(String::as_str));
        known.extend(self.constants.iter().map(|constant| constant.name.as_str()));
        known.extend(ScalarType::ALL.iter().map(|ty| ty.julia_name()));
        let suggestion = tessella_diagnostics::nearest(name, known);
        TypeError::UndefinedName { name: name.to_string(), span, suggestion }
    }
}

/// Whether any statement of a block, however deep, assigns to `name`.
pub(super) fn is_assigned(name: &str, body: &[Expr]) -> bool {
    let mut names = Assigned::default();
    for statement in body {
        names.collect(statement, Depth::All);
    }
    names.assigned.iter().chain(&names.local).any(|(assigned, _)| assigned == name)
}

/// The names that the statements of a block assign in its own scope.
pub(super) fn assigned_in_scope(body: &[Expr]) -> Vec<String> {
    let mut names = Assigned::default();
    for statement in body {
        names.collect(statement, Depth::Scope);
    }
    names.assigned.into_iter().chain(names.local).map(|(name, _)| name).collect()
}

/// The name of each assignment in a block, however deep.
pub(super) fn assigned_names(body: &[Expr]) -> Vec<String> {
    let mut names = Assigned::default();
    for statement in body {
        names.collect(statement, Depth::All);
    }
    names.assigned.into_iter().chain(names.local).map(|(name, _)| name).collect()
}

/// Whether to look into scopes inside the scope.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Scope,
    All,
}

/// Names that statements assign, in source order.
#[derive(Default)]
struct Assigned {
    assigned: Vec<(String, Span)>,
    local: Vec<(String, Span)>,
}

impl Assigned {
    fn collect(&mut self, expr: &Expr, depth: Depth) {
        match &expr.kind {
            ExprKind::Assign { operator, target, value, broadcast } => {
                let binds = operator.is_none() || matches!(target.kind, ExprKind::Name(_) | ExprKind::Typed { .. });
                if *broadcast == crate::ast::Broadcast::No && binds {
                    collect_targets(target, &mut self.assigned);
                }
                self.collect(value, depth);
            }
            ExprKind::Local(targets) => {
                for target in targets {
                    match &target.kind {
                        ExprKind::Assign { target, value, .. } => {
                            collect_targets(target, &mut self.local);
                            self.collect(value, depth);
                        }
                        _ => collect_targets(target, &mut self.local),
                    }
                }
            }
            ExprKind::Function(function) => {
                if let Some(name) = &function.name {
                    self.assigned.push((name.value.clone(), name.span));
                }
                if depth == Depth::All {
                    self.block(&function.body, depth);
                }
            }
            ExprKind::Typed { value: Some(value), .. } => self.collect(value, depth),
            ExprKind::Block(body) => self.block(body, depth),
            ExprKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.collect(condition, depth);
                    self.block(body, depth);
                }
                if let Some(body) = otherwise {
                    self.block(body, depth);
                }
            }
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                self.collect(left, depth);
                self.collect(right, depth);
            }
            ExprKind::Ternary { condition, yes, no } => {
                self.collect(condition, depth);
                self.collect(yes, depth);
                self.collect(no, depth);
            }
            ExprKind::MacroCall { arguments, .. } => self.block(arguments, depth),
            ExprKind::Return(Some(value)) => self.collect(value, depth),
            ExprKind::For { body, .. } | ExprKind::While { body, .. } if depth == Depth::All => self.block(body, depth),
            ExprKind::Let { bindings, body } if depth == Depth::All => {
                self.block(bindings, depth);
                self.block(body, depth);
            }
            ExprKind::Lambda { body, .. } if depth == Depth::All => self.collect(body, depth),
            // Nothing else that can hold an assignment is supported: the checker reports it where it meets it.
            _ => {}
        }
    }

    fn block(&mut self, body: &[Expr], depth: Depth) {
        for statement in body {
            self.collect(statement, depth);
        }
    }
}

fn collect_targets(target: &Expr, into: &mut Vec<(String, Span)>) {
    match &target.kind {
        ExprKind::Name(name) => into.push((name.clone(), target.span)),
        ExprKind::Typed { value: Some(value), .. } => collect_targets(value, into),
        ExprKind::Tuple(elements) => {
            for element in elements {
                collect_targets(&element.value, into);
            }
        }
        // `A[i] = x` and `a.b = x` make no variable.
        _ => {}
    }
}
