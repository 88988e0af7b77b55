//! Assignments: to variables, to elements of arrays, and to several of them at once.

use super::check::{Checked, Checker};
use super::complex::ComplexError;
use super::destructure::assigned_at_once;
use super::error::TypeError;
use super::scope::{State, Variable, VariableId};
use super::statement::{Place, Tail};
use super::tree::{Expr, ExprKind, LocalId, Role, StatementKind, Type};
use super::unsupported::Construct;
use super::value::{Kind, RangeValue, Value};
use crate::ast;
use tessella_diagnostics::Span;

impl Checker<'_> {
    pub(super) fn assignment(&mut self, statement: &ast::Expr, place: Place) -> Checked<Tail> {
        let ast::ExprKind::Assign { operator, broadcast, target, value } = &statement.kind else {
            unreachable!("called for assignments only")
        };
        let span = statement.span;
        if let Some((name, value)) = super::kept::kept_assignment(statement) {
            return self.keep_result(name, value, span).map(|()| Tail::Nothing);
        }
        if place == Place::Middle && self.bind_table(statement) {
            return Ok(Tail::Nothing);
        }
        self.note_leaving(target, value, span);
        self.forget_moved();
        if super::jumps::is_jump(target, value) {
            // Nothing that asks for a variable runs on this path any more.
            self.assigned.extend((0..self.variables.len()).map(VariableId));
        }
        let is_plain = operator.is_none() && *broadcast == ast::Broadcast::No;
        if let Some(chosen) = is_plain.then(|| self.chosen_arrays(target, value, span)).flatten() {
            return Ok(self.statement(&chosen, place));
        }
        if let Some(paths) = self.choice_of_paths((*broadcast, operator.as_ref()), target, value, span) {
            return Ok(self.statement(&paths, place));
        }
        if *broadcast == ast::Broadcast::Yes {
            let done = self.broadcast_assignment(operator.as_ref(), target, value, span, place);
            self.label = None;
            return done;
        }
        if let Some(scattered) = self.scattered_assignment(ast::Broadcast::No, operator.as_ref(), target, value, span) {
            self.label = None;
            return match place {
                // The value of the assignment is its right side, which must be what it was before.
                Place::Last => scattered.and_then(|()| match (&value.kind, self.value(value)?) {
                    (ast::ExprKind::Name(name), found) if operator.is_none() && !mentions(target, name) => {
                        Ok(Tail::Other(found, span))
                    }
                    (_, found) => {
                        let found = self.kind(&found);
                        Err(self.fail(TypeError::ResultKind { found, span }))
                    }
                }),
                Place::Middle => scattered.map(|()| Tail::Nothing),
            };
        }
        if matches!(target.kind, ast::ExprKind::Tuple(_))
            && let Some(label) = self.label.take()
        {
            return Err(self.fail(TypeError::LabelMisplaced { label: label.name, label_span: label.span, span }));
        }
        let keep = std::mem::replace(&mut self.keep, place == Place::Last);
        let checked = match operator {
            Some(operator) => self.update(operator, target, value, span),
            None => {
                self.flow.wanted = self.wanted_type(target, value);
                let order = assigned_at_once(target, value);
                let mark = self.calls_user(value).then(|| self.mark());
                let given = self.assigned_value(value);
                if given.is_err()
                    && let Some(mark) = mark
                    && let Some(bound) = self.assignment_of_paths(target, value, mark, place)
                {
                    self.keep = keep;
                    if bound.is_err() {
                        self.poison(target);
                    }
                    return bound;
                }
                given.and_then(|value| match (&target.kind, order) {
                    (ast::ExprKind::Tuple(targets), Some(at_once)) => self.destructure(targets, value, &at_once, span),
                    (_, _) => self.bind(target, value, span),
                })
            }
        };
        self.label = None;
        self.keep = keep;
        match checked {
            Err(reported) => {
                // The subscripts of the target may have errors of their own.
                if let (ast::ExprKind::Index { base, subscripts }, None) = (&target.kind, operator) {
                    let _ = self.index(base, subscripts, target.span);
                }
                self.poison(target);
                Err(reported)
            }
            Ok(value) => match (place, value) {
                (Place::Middle, _) => Ok(Tail::Nothing),
                (Place::Last, Value::Scalar(value)) => Ok(Tail::Scalar(value)),
                (Place::Last, Value::Tuple(values)) => Ok(Tail::Tuple(values, span)),
                (Place::Last, value @ Value::Complex(_)) => Ok(Tail::Other(value, span)),
                (Place::Last, Value::Array(array)) => Ok(Tail::Argument(array, span)),
                (Place::Last, value) => {
                    let found = self.kind(&value);
                    Err(self.fail(TypeError::ResultKind { found, span }))
                }
            },
        }
    }

    /// The element type of the array that a choice of two numbers is stored in.
    fn wanted_type(&self, target: &ast::Expr, value: &ast::Expr) -> Option<tessella_scalar::ScalarType> {
        let (ast::ExprKind::Index { base, .. }, ast::ExprKind::Ternary { .. }) = (&target.kind, &value.kind) else {
            return None;
        };
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        match &self.variables[self.lookup(name)?.0].state {
            State::Array(array) => match self.local(*array).ty {
                Type::Array { element, .. } => Some(element),
                Type::Scalar(_) => None,
            },
            State::Alias(Value::Elements(elements)) if elements.numbers == super::arrays::Numbers::Real => {
                Some(elements.element)
            }
            State::Alias(_) | State::Scalar(_) | State::Complex(..) | State::Unassigned | State::Poisoned => None,
        }
    }

    /// The right side of an assignment: an expression, another assignment (`a = b = 0`), or an `if`.
    fn assigned_value(&mut self, value: &ast::Expr) -> Checked<Value> {
        match &value.kind {
            ast::ExprKind::Assign { operator: None, target, value: inner, broadcast: ast::Broadcast::No } => {
                if let Some(label) = self.label.take() {
                    let (label_span, span) = (label.span, value.span);
                    return Err(self.fail(TypeError::LabelMisplaced { label: label.name, label_span, span }));
                }
                let result = self.assigned_value(inner).and_then(|inner| {
                    // What is assigned to both is the right side, not what the first target made of it.
                    let inner = self.frozen(inner);
                    self.bind(target, inner.clone(), value.span).map(|_| inner)
                });
                if result.is_err() {
                    self.poison(target);
                }
                result
            }
            _ => {
                self.flow.statement_call = matches!(value.kind, ast::ExprKind::Call { .. });
                self.value(value)
            }
        }
    }

    /// `target = value`; the value that the assignment has as an expression.
    pub(super) fn bind(&mut self, target: &ast::Expr, value: Value, span: Span) -> Checked<Value> {
        match &target.kind {
            ast::ExprKind::Name(name) => self.bind_name(name, target.span, value, span),
            ast::ExprKind::Typed { value: Some(inner), ty } => {
                let ast::ExprKind::Name(name) = &inner.kind else {
                    return Err(self.not_assignable(target, "a type can be declared for a variable only"));
                };
                self.declare_type(name, ty)?;
                self.bind_name(name, inner.span, value, span)
            }
            ast::ExprKind::Index { base, subscripts } => self.store(base, subscripts, target.span, value, span),
            ast::ExprKind::Tuple(targets) => self.destructure(targets, value, &[], span),
            ast::ExprKind::Field { .. } => self.not_yet(Construct::Field, target.span),
            ast::ExprKind::Call { .. } | ast::ExprKind::Where { .. } => self.not_yet(Construct::Closure, span),
            _ => Err(self.not_assignable(target, "neither a variable nor an element of an array")),
        }
    }

    fn not_assignable(&mut self, target: &ast::Expr, why: &'static str) -> super::check::Reported {
        let name = match &target.kind {
            ast::ExprKind::Name(name) => name.clone(),
            _ => "this expression".into(),
        };
        self.fail(TypeError::NotAssignable { name, span: target.span, why })
    }

    fn bind_name(&mut self, name: &str, at: Span, value: Value, span: Span) -> Checked<Value> {
        let Some(variable) = self.lookup(name) else {
            // A name that `declare_assigned` did not see: an assignment inside an unsupported construct.
            return self.not_yet(Construct::NestedAssignment, span);
        };
        self.assigned.insert(variable);
        match value {
            Value::Scalar(value) => self.bind_scalar(variable, value, at, span).map(Value::Scalar),
            Value::Irrational(..) => {
                let value = self.as_scalar(value, span)?;
                self.bind_scalar(variable, value, at, span).map(Value::Scalar)
            }
            // A variable that is a number already gets the number of the place.
            Value::Position(super::arrays::Position { linear_in: Some(_), .. })
                if matches!(self.variables[variable.0].state, State::Scalar(_)) =>
            {
                let value = self.as_scalar(value, span)?;
                self.bind_scalar(variable, value, at, span).map(Value::Scalar)
            }
            meaning @ (Value::Array(_) | Value::ComplexArray(_)) => self.bind_array(variable, meaning, at, span),
            Value::Complex(value) => {
                let value = if self.keep { self.frozen_complex(*value) } else { *value };
                self.bind_complex(variable, value, at, span)
            }
            Value::Elements(elements) => self.bind_elements(variable, *elements, at, span),
            Value::Tuple(_) | Value::Named(..) if self.keeps_parts(variable, &value) => {
                self.bind_parts(variable, value, at, span)
            }
            value @ (Value::Tuple(_)
            | Value::Named(..)
            | Value::Range(_)
            | Value::Type(_)
            | Value::ComplexType(_)
            | Value::Position(_)
            | Value::Places(_)
            | Value::Function(_)
            | Value::Nothing
            | Value::Never) => {
                let first = self.variables[variable.0].span;
                match self.variables[variable.0].state.clone() {
                    State::Unassigned if self.variables[variable.0].owner == self.loops.last().copied() => {
                        let value = self.frozen(value);
                        self.passes_standing(variable, &State::Alias(value.clone()));
                        self.variables[variable.0].span = at;
                        self.variables[variable.0].state = State::Alias(value.clone());
                        Ok(value)
                    }
                    // Where no paths join, the name means another tuple from here on.
                    State::Alias(was)
                        if self.is_straight(variable)
                            && [&was, &value].iter().all(|it| it.elements().is_some_and(|all| !all.is_empty())) =>
                    {
                        let value = self.frozen(value);
                        self.passes_standing(variable, &State::Alias(value.clone()));
                        self.variables[variable.0].span = at;
                        self.variables[variable.0].parts.clear();
                        self.variables[variable.0].state = State::Alias(value.clone());
                        Ok(value)
                    }
                    State::Poisoned => Err(super::check::Reported),
                    State::Unassigned | State::Alias(_) | State::Scalar(_) | State::Complex(..) | State::Array(_) => {
                        self.ask_for_parts(name, &value);
                        let was = self.kind(&value);
                        let error =
                            TypeError::AliasAssigned { name: name.into(), initial: first, was, assignment: span };
                        Err(self.fail(error))
                    }
                }
            }
        }
    }

    /// Whether a tuple of numbers is given to a name that is assigned more than once, such as the state of a loop: its elements are
    /// variables then.
    fn keeps_parts(&self, variable: VariableId, value: &Value) -> bool {
        let Variable { name, state, declared, parts, .. } = &self.variables[variable.0];
        let fits = match state {
            State::Unassigned => !self.flow.once.contains(name),
            State::Alias(was) => !parts.is_empty() && is_alike(was, value),
            State::Scalar(_) | State::Complex(..) | State::Array(_) | State::Poisoned => false,
        };
        is_of_numbers(value) && fits && declared.is_none() && self.label.is_none()
    }

    /// Assigns the elements of a tuple to variables of their own, all at once.
    pub(super) fn bind_parts(&mut self, variable: VariableId, value: Value, at: Span, span: Span) -> Checked<Value> {
        let value = self.frozen(value);
        let number = |part: &Value| match part {
            Value::Scalar(number) => Some(number.clone()),
            _ => None,
        };
        let numbers: Vec<Expr> = value.elements().unwrap_or_default().iter().filter_map(number).collect();
        let owner = self.variables[variable.0].owner;
        let name = self.variables[variable.0].name.clone();
        let is_first = matches!(self.variables[variable.0].state, State::Unassigned);
        if is_first {
            let part = |(number, place): (&Expr, usize)| (format!("{name}_{place}"), Type::Scalar(number.ty));
            let parts: Vec<_> = numbers.iter().zip(1..).map(part).collect();
            let parts =
                parts.into_iter().map(|(name, ty)| self.new_local(&name, ty, Role::Variable(owner), at)).collect();
            self.variables[variable.0].parts = parts;
            self.variables[variable.0].span = at;
        }
        let parts = self.variables[variable.0].parts.clone();
        for (place, (&target, number)) in (1..).zip(parts.iter().zip(&numbers)) {
            let Type::Scalar(ty) = self.local(target).ty else { unreachable!("elements are numbers") };
            if number.ty != ty {
                let (initial, then) = (self.variables[variable.0].span, number.ty);
                let name = format!("{name}[{place}]");
                let error = TypeError::TypeChanges { name, initial, first: ty, assignment: span, then, like: None };
                return Err(self.fail(error));
            }
        }
        let set_in_loop = owner != self.loops.last().copied();
        for (&target, number) in parts.iter().zip(numbers) {
            self.note_set(target, set_in_loop);
            self.emit(StatementKind::Set { target, value: number, label: None, mode: self.mode }, span);
        }
        let now: Vec<Value> = parts.iter().map(|&part| Value::Scalar(self.read(part, span))).collect();
        let now = match value {
            Value::Named(names, _) => Value::Named(names, now),
            _ => Value::Tuple(now),
        };
        self.variables[variable.0].state = State::Alias(now.clone());
        Ok(now)
    }

    fn bind_scalar(&mut self, variable: VariableId, value: Expr, at: Span, span: Span) -> Checked<Expr> {
        let declared = self.variables[variable.0].declared;
        let here = self.loops.last().copied();
        let target = match self.variables[variable.0].state.clone() {
            State::Poisoned => return Err(super::check::Reported),
            State::Array(_) if !self.is_straight(variable) => return self.not_yet(Construct::ArrayVariable, span),
            State::Alias(was) if !self.is_straight(variable) => {
                let (name, initial) = (self.variables[variable.0].name.clone(), self.variables[variable.0].span);
                let was = self.kind(&was);
                return Err(self.fail(TypeError::AliasAssigned { name, initial, was, assignment: span }));
            }
            State::Scalar(id) if !self.is_straight(variable) => id,
            State::Complex(re, _) if !self.is_straight(variable) => {
                let (name, initial) = (self.variables[variable.0].name.clone(), self.variables[variable.0].span);
                let Type::Scalar(half) = self.local(re).ty else { unreachable!("halves are scalars") };
                let (first, then) = (Kind::Complex(half).to_string(), Kind::Scalar(value.ty).to_string());
                let error = ComplexError::TypeChanges { name, initial, first, assignment: span, then };
                return Err(self.complex_error(error));
            }
            // Where no paths join, a name assigned again is a new variable.
            State::Unassigned | State::Scalar(_) | State::Complex(..) | State::Array(_) | State::Alias(_) => {
                let ty = declared.unwrap_or(value.ty);
                let name = self.variables[variable.0].name.clone();
                let owner = self.variables[variable.0].owner;
                let id = self.named_local(&name, Type::Scalar(ty), Role::Variable(owner), at);
                self.variables[variable.0].span = span;
                self.variables[variable.0].state = State::Scalar(id);
                id
            }
        };
        let Type::Scalar(ty) = self.local(target).ty else { unreachable!("scalar variables have scalar types") };
        let value = if self.keep && declared.is_some() { self.frozen_scalar(value) } else { value };
        let converted = if declared.is_some() {
            self.coerce(value.clone(), ty, Some(at))?
        } else if value.ty == ty {
            value.clone()
        } else {
            let name = self.variables[variable.0].name.clone();
            let initial = self.variables[variable.0].span;
            let like = self.array_read(&value, value.ty);
            let error = TypeError::TypeChanges { name, initial, first: ty, assignment: span, then: value.ty, like };
            return Err(self.fail(error));
        };
        let set_in_loop = self.variables[variable.0].owner != here;
        self.note_set(target, set_in_loop);
        let label = self.label.take();
        let mode = self.mode;
        if self.is_straight(variable)
            && self.flow.once.contains(&self.variables[variable.0].name)
            && let Some(constant) = converted.as_constant()
        {
            self.flow.known.insert(target, constant);
        }
        let unchanged = converted.ty == value.ty;
        let fixed = converted.is_fixed();
        self.emit(StatementKind::Set { target, value: converted, label, mode }, span);
        // The assignment's value is its right side; reading the variable is the same and shorter.
        Ok(if unchanged && !fixed { self.read(target, span) } else { value })
    }

    /// An array of element type `ty` that the expression reads, to show in a help.
    fn array_read(&self, value: &Expr, ty: tessella_scalar::ScalarType) -> Option<String> {
        if let ExprKind::Load { array, .. } = value.kind
            && value.ty == ty
        {
            return Some(self.local(array).name.clone());
        }
        value.operands().into_iter().find_map(|operand| self.array_read(operand, ty))
    }

    fn update(
        &mut self,
        operator: &tessella_diagnostics::Spanned<ast::Operator>,
        target: &ast::Expr,
        value: &ast::Expr,
        span: Span,
    ) -> Checked<Value> {
        if operator.value.dotted {
            return self.not_yet(Construct::Broadcast, span);
        }
        let symbol = operator.value.symbol.as_str();
        let symbol = symbol.strip_suffix('=').filter(|rest| !rest.is_empty()).unwrap_or(symbol);
        let infix = ast::Expr {
            kind: ast::ExprKind::Infix {
                operator: tessella_diagnostics::Spanned {
                    value: ast::Operator { symbol: symbol.to_string(), dotted: false },
                    span: operator.span,
                },
                left: Box::new(target.clone()),
                right: Box::new(value.clone()),
            },
            span,
        };
        let updated = self.value(&infix)?;
        self.bind(target, updated, span)
    }

    fn store(
        &mut self,
        base: &ast::Expr,
        subscripts: &[ast::Argument],
        at: Span,
        value: Value,
        span: Span,
    ) -> Checked<Value> {
        if let ast::ExprKind::Name(name) = &base.kind
            && self.lookup(name).is_none()
            && self.is_constant_array(name)
        {
            let (name, span) = (name.clone(), at);
            return Err(self.fail(TypeError::Array(super::arrays::ArrayError::ConstantChanged { name, span })));
        }
        let place = match self.index(base, subscripts, at) {
            Ok(Value::Elements(target)) => return self.assign_part(&target, value, span),
            Ok(Value::Scalar(element)) if element.as_load().is_some() => {
                Ok(element.as_load().expect("the guard has seen a load"))
            }
            Ok(Value::Complex(element)) if element.re.as_load().is_some() && element.im.as_load().is_some() => {
                let place = element.re.as_load().expect("the guard has seen a load");
                return self.store_complex(place, value, span);
            }
            Ok(other) => {
                let found = self.kind(&other);
                Err(self.fail(TypeError::NotAnArray {
                    found,
                    span: base.span,
                    declared: None,
                    element: super::array::is_element(base),
                }))
            }
            Err(reported) => Err(reported),
        };
        let value = self.as_scalar(value, span);
        let (array, subscripts): (LocalId, Vec<Expr>) = place?;
        let value = if self.keep { self.frozen_scalar(value?) } else { value? };
        let Type::Array { element, .. } = self.local(array).ty else { unreachable!("only arrays are subscripted") };
        let declared = self.local(array).span;
        let stored = self.coerce(value.clone(), element, Some(declared))?;
        let label = self.label.take();
        let mode = self.mode;
        self.emit(StatementKind::Store { array, subscripts, value: stored, label, mode }, span);
        Ok(Value::Scalar(value))
    }

    /// A value that later assignments do not change.
    pub(super) fn frozen(&mut self, value: Value) -> Value {
        match value {
            Value::Scalar(value) => Value::Scalar(self.frozen_scalar(value)),
            Value::Tuple(values) => Value::Tuple(values.into_iter().map(|value| self.frozen(value)).collect()),
            Value::Named(names, values) => {
                Value::Named(names, values.into_iter().map(|value| self.frozen(value)).collect())
            }
            Value::Range(RangeValue { start, step, stop }) => {
                Value::Range(RangeValue { start: self.frozen_scalar(start), step, stop: self.frozen_scalar(stop) })
            }
            Value::Elements(elements) => match self.frozen_elements((*elements).clone()) {
                Ok(elements) => Value::Elements(Box::new(elements)),
                // What is wrong has been reported.
                Err(_) => Value::Elements(elements),
            },
            Value::Complex(value) => self.frozen_complex(*value).value(),
            Value::Places(axes) => {
                let frozen = |RangeValue { start, step, stop }| RangeValue {
                    start: self.frozen_scalar(start),
                    step,
                    stop: self.frozen_scalar(stop),
                };
                Value::Places(axes.into_iter().map(frozen).collect())
            }
            Value::Position(position) => {
                let subscripts = position.subscripts.into_iter().map(|it| self.frozen_scalar(it)).collect();
                Value::Position(super::arrays::Position { subscripts, ..position })
            }
            Value::Irrational(..)
            | Value::Array(_)
            | Value::ComplexArray(_)
            | Value::ComplexType(_)
            | Value::Type(_)
            | Value::Function(_)
            | Value::Nothing
            | Value::Never => value,
        }
    }

    pub(super) fn frozen_scalar(&mut self, value: Expr) -> Expr {
        let unchanging = value.is_fixed()
            || matches!(value.kind, ExprKind::Local(id)
                if matches!(self.local(id).role, Role::Argument | Role::Iterator(_) | Role::Value(_)));
        if unchanging { value } else { self.hold("old", value) }
    }

    /// After a failed assignment: uses of the target are not reported.
    pub(super) fn poison(&mut self, target: &ast::Expr) {
        match &target.kind {
            ast::ExprKind::Name(name) => {
                if let Some(variable) = self.lookup(name) {
                    self.assigned.insert(variable);
                    let state = &mut self.variables[variable.0].state;
                    if matches!(state, State::Unassigned) {
                        *state = State::Poisoned;
                    }
                }
            }
            ast::ExprKind::Typed { value: Some(value), .. } => self.poison(value),
            ast::ExprKind::Tuple(targets) => {
                for target in targets {
                    self.poison(&target.value);
                }
            }
            // Elements of arrays keep their type.
            _ => {}
        }
    }

    fn declare_type(&mut self, name: &str, ty: &ast::Expr) -> Checked<()> {
        let span = ty.span;
        let ty = self.type_expression(ty)?;
        let Some(variable) = self.lookup(name) else { return Ok(()) };
        let state = &mut self.variables[variable.0];
        if matches!(state.state, State::Unassigned) || state.declared == Some(ty) {
            state.declared = Some(ty);
            return Ok(());
        }
        let why = "its type is declared after its first assignment";
        Err(self.fail(TypeError::NotAssignable { name: name.into(), span, why }))
    }

    /// `local a, b = 1, c::Int`.
    pub(super) fn local_declaration(&mut self, targets: &[ast::Expr]) -> Checked<()> {
        for target in targets {
            match &target.kind {
                ast::ExprKind::Assign { .. } => {
                    self.assignment(target, Place::Middle)?;
                }
                ast::ExprKind::Typed { value: Some(value), ty } => {
                    if let ast::ExprKind::Name(name) = &value.kind {
                        self.declare_type(name, ty)?;
                    }
                }
                // `declare_assigned` has declared plain names.
                _ => {}
            }
        }
        Ok(())
    }

    /// `x::T` as a statement: a declaration if `x` has no value yet, an assertion otherwise.
    pub(super) fn typed_statement(&mut self, statement: &ast::Expr, place: Place) -> Checked<Tail> {
        let value = self.value(statement)?;
        Ok(match (place, value) {
            (Place::Last, Value::Scalar(value)) => Tail::Scalar(value),
            (_, _) => Tail::Nothing,
        })
    }
}

/// Whether a target `A[...]` is part of the array with this name.
fn mentions(target: &ast::Expr, name: &str) -> bool {
    match &target.kind {
        ast::ExprKind::Index { base, .. } => matches!(&base.kind, ast::ExprKind::Name(base) if base == name),
        _ => false,
    }
}

/// Whether a value is a tuple, named or not, of numbers.
pub(super) fn is_of_numbers(value: &Value) -> bool {
    let values = value.elements().unwrap_or_default();
    !values.is_empty() && values.iter().all(|part| matches!(part, Value::Scalar(_)))
}

/// Whether two tuples have as many elements, of the same names.
fn is_alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Tuple(one), Value::Tuple(other)) => one.len() == other.len(),
        (Value::Named(one, _), Value::Named(other, _)) => one == other,
        _ => false,
    }
}
