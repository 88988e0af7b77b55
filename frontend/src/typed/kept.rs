//! Results that a `return` inside of a loop or a block keeps for the end of the function.
//!
//! ```text
//! for i in 1:n                        for i in 1:n
//!     x[i] > t && return (i, x[i])        if x[i] > t
//! end                             ->          result = i; result1 = x[i]; which = 0; break
//! return nothing                      end
//!                                     gives back (result, result1), or nothing
//! ```
//!
//! Numbers go into variables of the function; arrays, which outlive the loop, are remembered by name. `return`s of values
//! of the same types share their variables; where there are several kinds, a variable tells which one it was.

use super::arrays::{ArrayError, Elements, Keeps, Recipe};
use super::check::{Checked, Checker};
use super::complex::Complex;
use super::error::TypeError;
use super::jumps::is_result;
use super::scope::VariableId;
use super::statement::{Place, Tail};
use super::tree::{Block, Expr, LocalId, Mode, Role, StatementKind, Type};
use super::value::Value;
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{CompareOp, ScalarType};

/// What the `return`s of one function give back, as far as they have been checked.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    options: Vec<Value>,
    /// The number of the option that was kept.
    which: LocalId,
}

impl Checker<'_> {
    /// `#result = value`, which stands where a `return` was.
    pub(super) fn keep_result(&mut self, name: &str, value: &ast::Expr, span: Span) -> Checked<()> {
        let variable = self.lookup(name).expect("the variable of results is declared at the function's beginning");
        let value = self.value(value)?;
        self.gives_back(&value, span)?;
        self.begin_result();
        let value = self.keepable(variable, value, span)?;
        let owner = self.variables[variable.0].owner;
        if !self.flow.kept.contains_key(&variable) {
            let which = self.new_local("which", Type::Scalar(ScalarType::I64), Role::Variable(owner), span);
            self.flow.unread.insert(which);
            self.flow.kept.insert(variable, Kept { options: vec![], which });
        }
        let kept = &self.flow.kept[&variable];
        let which = kept.which;
        let option = match kept.options.iter().position(|option| super::alternatives::alike(option, &value)) {
            Some(option) => {
                let places = kept.options[option].clone();
                self.keep_in(&places, value, span);
                option
            }
            None => {
                let places = self.places_for(owner, value, span);
                let kept = self.flow.kept.get_mut(&variable).expect("it has been inserted");
                kept.options.push(places);
                kept.options.len() - 1
            }
        };
        self.set_hidden(which, Expr::int64(option as i64, span), span);
        Ok(())
    }

    /// The value as something that variables and names of arrays can stand for.
    fn keepable(&mut self, variable: VariableId, value: Value, span: Span) -> Checked<Value> {
        Ok(match value {
            value @ Value::Irrational(..) => Value::Scalar(self.as_scalar(value, span)?),
            value @ Value::Position(_) => Value::Scalar(self.as_scalar(value, span)?),
            Value::Tuple(values) => Value::Tuple(self.all_keepable(variable, values, span)?),
            Value::Named(names, values) => Value::Named(names, self.all_keepable(variable, values, span)?),
            Value::Elements(elements) => match self.container(&elements) {
                Some(container) => {
                    let error = ArrayError::OtherContainer { container, span };
                    return Err(self.array_error(error));
                }
                None if self.loops.last().copied() != self.variables[variable.0].owner => {
                    let from = match &elements.recipe {
                        Recipe::Part(part) if part.keeps == Keeps::Fresh => Some(part.array),
                        _ => None,
                    };
                    return self.outlives(variable, (*elements, from), span);
                }
                None => self.settled_array(Value::Elements(elements), span)?,
            },
            Value::Range(_) | Value::Places(_) | Value::Type(_) | Value::ComplexType(_) | Value::Function(_) => {
                let found = self.kind(&value);
                return Err(self.fail(TypeError::ResultKind { found, span }));
            }
            Value::Array(array) | Value::ComplexArray(array) => {
                let around = self.variables[variable.0].owner;
                let inside = self.loops.iter().skip_while(|&&id| around.is_some_and(|around| id != around));
                let mut inside = inside.skip(usize::from(around.is_some()));
                match self.local(array).role {
                    Role::Variable(Some(made)) | Role::Value(Some(made)) if inside.any(|&id| id == made) => {
                        let elements = self.as_elements(&value, span);
                        let elements = elements.filter(|_| !self.other_containers.contains_key(&array));
                        return match elements {
                            Some(elements) => self.outlives(variable, (elements, Some(array)), span),
                            None => Err(self.array_error(ArrayError::MadeInLoop { span })),
                        };
                    }
                    Role::Variable(_) | Role::Value(_) | Role::Argument | Role::Iterator(_) => value,
                }
            }
            value @ (Value::Scalar(_) | Value::Complex(_) | Value::Nothing | Value::Never) => value,
        })
    }

    fn outlives(&mut self, variable: VariableId, made: (Elements, Option<LocalId>), span: Span) -> Checked<Value> {
        match self.outliving(variable, made, span)? {
            Some(value) => Ok(value),
            None => Err(self.array_error(ArrayError::MadeInLoop { span })),
        }
    }

    fn all_keepable(&mut self, variable: VariableId, values: Vec<Value>, span: Span) -> Checked<Vec<Value>> {
        values.into_iter().map(|value| self.keepable(variable, value, span)).collect()
    }

    /// Variables for every number in the value, set to it.
    fn places_for(&mut self, owner: Option<super::tree::LoopId>, value: Value, span: Span) -> Value {
        let place = |checker: &mut Self, value: Expr| {
            let target = checker.new_local("result", Type::Scalar(value.ty), Role::Variable(owner), span);
            checker.set_hidden(target, value, span);
            checker.read(target, span)
        };
        match value {
            Value::Scalar(value) => Value::Scalar(place(self, value)),
            Value::Complex(value) => {
                let (re, im) = (place(self, value.re), place(self, value.im));
                Complex { re, im }.value()
            }
            Value::Tuple(values) => {
                Value::Tuple(values.into_iter().map(|value| self.places_for(owner, value, span)).collect())
            }
            Value::Named(names, values) => {
                Value::Named(names, values.into_iter().map(|value| self.places_for(owner, value, span)).collect())
            }
            other => other,
        }
    }

    /// Sets the variables of an option to a value of the same types.
    fn keep_in(&mut self, places: &Value, value: Value, span: Span) {
        match (places, value) {
            (Value::Scalar(place), Value::Scalar(value)) => self.keep_number(place, value, span),
            (Value::Complex(place), Value::Complex(value)) => {
                self.keep_number(&place.re, value.re, span);
                self.keep_number(&place.im, value.im, span);
            }
            (Value::Tuple(places) | Value::Named(_, places), Value::Tuple(values) | Value::Named(_, values)) => {
                for (place, value) in places.iter().zip(values) {
                    self.keep_in(place, value, span);
                }
            }
            // Arrays are what they are.
            (_, _) => {}
        }
    }

    fn keep_number(&mut self, place: &Expr, value: Expr, span: Span) {
        if let super::tree::ExprKind::Local(target) = place.kind {
            self.set_hidden(target, value, span);
        }
    }

    /// Sets a variable that is read where the checker cannot see that it was.
    fn set_hidden(&mut self, target: LocalId, value: Expr, span: Span) {
        self.note_hidden_set(target);
        let mode: Mode = self.mode;
        self.emit(StatementKind::Set { target, value, label: None, mode }, span);
    }

    /// What the function gives back where a result has been kept.
    pub(super) fn kept_result(&mut self, variable: VariableId, span: Span) -> Tail {
        let Some(kept) = self.flow.kept.get(&variable) else {
            // All of them had errors, which have been reported.
            return Tail::Failed;
        };
        let (options, which) = (kept.options.clone(), kept.which);
        if options.len() > 1 {
            self.flow.unread.remove(&which);
        }
        self.kept_option(&options, 0, which, span)
    }

    fn kept_option(&mut self, options: &[Value], at: usize, which: LocalId, span: Span) -> Tail {
        let value = self.as_tail(options[at].clone(), span);
        if at + 1 == options.len() {
            return value;
        }
        let number = Expr::int64(at as i64, span);
        let here = super::compare::compare(CompareOp::Eq, self.read(which, span), number, span);
        let (others, other) = self.in_branch(|checker| checker.kept_option(options, at + 1, which, span));
        self.join_results(Ok(here), (vec![], value), (others, other), span, Place::Last)
    }

    /// The function's statements without those that note a choice which nobody asks for.
    pub(super) fn without_unread(&self, block: Block) -> Block {
        let unread = &self.flow.unread;
        if unread.is_empty() {
            return block;
        }
        let all = |block: Block| self.without_unread(block);
        let kept = block.into_iter().filter_map(|statement| {
            let kind = match statement.kind {
                StatementKind::Set { target, .. } if unread.contains(&target) => return None,
                StatementKind::If { condition, then, otherwise } => {
                    let had = !(then.is_empty() && otherwise.is_empty());
                    let (then, otherwise) = (all(then), all(otherwise));
                    if had && then.is_empty() && otherwise.is_empty() {
                        return None;
                    }
                    StatementKind::If { condition, then, otherwise }
                }
                StatementKind::For { id, iterator, range, mode, body } => {
                    StatementKind::For { id, iterator, range, mode, body: all(body) }
                }
                other @ (StatementKind::Set { .. }
                | StatementKind::Store { .. }
                | StatementKind::Allocate { .. }
                | StatementKind::Require { .. }) => other,
            };
            Some(super::tree::Statement { kind, span: statement.span })
        });
        kept.collect()
    }
}

/// The result that an assignment keeps: its variable's name, and the value.
pub(super) fn kept_assignment(statement: &ast::Expr) -> Option<(&str, &ast::Expr)> {
    match &statement.kind {
        ast::ExprKind::Assign { operator: None, target, value, .. } => match &target.kind {
            ast::ExprKind::Name(name) if is_result(name) => Some((name, value)),
            _ => None,
        },
        _ => None,
    }
}
