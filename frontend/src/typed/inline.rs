//! Calls of functions that the user wrote: their bodies are checked in place of the call.

use super::check::{Checked, Checker, Reported};
use super::error::{Misfit, TypeError};
use super::scope::{Scope, State};
use super::statement::{Place, Tail};
use super::tree::{
    ArgumentType, Block, Expr, ExprKind, Firsts, Form, InlinedCall, LocalId, Mode, Role, StatementKind, Strides, Type,
    dense,
};
use super::unsupported::Construct;
use super::value::Value;
use crate::ast;
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;
use tessella_scalar::ScalarType;

/// Calls inside calls inside calls, no deeper than this.
const DEEPEST: usize = 48;

/// A function as a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Callee {
    /// All methods of this name in the file.
    Named(String),
    /// A function defined inside the function: its position in [`Checker::closures`].
    Closure(usize),
    /// A function of Base that is written in Julia.
    Prelude(String),
}

/// A function defined inside the function, and the scopes around it.
#[derive(Debug, Clone)]
pub(super) struct Closure {
    pub name: String,
    pub methods: Vec<ast::Function>,
    pub scopes: Vec<Scope>,
    pub parameters: BTreeMap<String, super::signature::TypeParameter>,
    /// Whether `@fastmath` and `@views` stand around the definition.
    pub fastmath: bool,
    pub views: bool,
}

/// A call whose body is being checked.
#[derive(Debug, Clone)]
pub(super) struct OpenCall {
    pub function: String,
    pub definition: Span,
    pub span: Span,
}

/// What is passed.
#[derive(Debug, Clone, Default)]
pub(super) struct Given {
    pub positional: Vec<(Value, Span)>,
    pub keywords: Vec<(String, Value, Span)>,
}

impl Checker<'_> {
    /// Whether a name means a function that the user wrote.
    pub(super) fn user_function(&self, name: &str) -> Option<Callee> {
        if let Some(variable) = self.lookup(name) {
            return match &self.variables[variable.0].state {
                State::Alias(Value::Function(callee)) => Some(callee.clone()),
                State::Alias(_)
                | State::Unassigned
                | State::Scalar(_)
                | State::Complex(..)
                | State::Array(_)
                | State::Poisoned => None,
            };
        }
        if self.is_librarys(name) {
            return None;
        }
        let name = super::full_name::own(name);
        // What the source's own calls were rewritten to.
        if let Some(of_prelude) = name.strip_prefix('#')
            && super::prelude::is_defined(of_prelude)
        {
            return Some(Callee::Prelude(of_prelude.into()));
        }
        // `T(0.5)` under `where {T}` converts, whatever else is called `T`.
        let is_defined = self.functions.iter().any(|function| named(function, name));
        (is_defined && !self.type_parameters.contains_key(name)).then(|| Callee::Named(name.to_string()))
    }

    /// A call of one of the user's functions; `None` if `name` is none of them.
    pub(super) fn user_call(&mut self, name: &str, arguments: &[ast::Argument], span: Span) -> Option<Checked<Value>> {
        let callee = self.user_function(name)?;
        let is_statement = std::mem::take(&mut self.flow.statement_call);
        let is_unused = std::mem::take(&mut self.flow.unused_call);
        let asks = std::mem::take(&mut self.flow.asks_for_paths);
        Some(self.given(arguments).and_then(|given| {
            self.flow.unused_call = is_unused;
            self.flow.asks_for_paths = asks;
            self.inline(&callee, given, is_statement, span)
        }))
    }

    /// `typeof(x)(y)`, `(x -> x + 1)(y)`: a call of what an expression gives.
    pub(super) fn call_of_value(
        &mut self,
        callee: &ast::Expr,
        arguments: &[ast::Argument],
        broadcast: ast::Broadcast,
        span: Span,
    ) -> Checked<Value> {
        let is_statement = std::mem::take(&mut self.flow.statement_call);
        match (self.value(callee)?, arguments) {
            (Value::Type(ty), [argument]) if argument.keyword.is_none() && broadcast == ast::Broadcast::No => {
                let value = self.scalar(&argument.value)?;
                self.coerce(value, ty, None).map(Value::Scalar)
            }
            (Value::Function(callee), _) if broadcast == ast::Broadcast::No => {
                let given = self.given(arguments)?;
                self.inline(&callee, given, is_statement, span)
            }
            (_, _) => self.not_yet(Construct::Closure, span),
        }
    }

    fn given(&mut self, arguments: &[ast::Argument]) -> Checked<Given> {
        let mut given = Given::default();
        let mut reported = None;
        for argument in arguments {
            let span = argument.value.span;
            let (value, splat) = match &argument.value.kind {
                ast::ExprKind::Splat(inner) => (self.value(inner), true),
                _ => (self.value(&argument.value), false),
            };
            let name = match (&argument.keyword, argument.section, &argument.value.kind) {
                (Some(keyword), _, _) => Some(keyword.value.clone()),
                (None, ast::Section::Keywords, ast::ExprKind::Name(name)) => Some(name.clone()),
                (None, _, _) => None,
            };
            match (value, name, splat) {
                (Ok(value), Some(name), false) => given.keywords.push((name, value, span)),
                (Ok(value), None, false) if argument.section == ast::Section::Main => {
                    given.positional.push((value, span));
                }
                (Ok(Value::Tuple(values) | Value::Named(_, values)), None, true)
                    if argument.section == ast::Section::Main =>
                {
                    given.positional.extend(values.into_iter().map(|value| (value, span)));
                }
                (Ok(Value::Named(names, values)), None, true) => {
                    given.keywords.extend(names.into_iter().zip(values).map(|(name, value)| (name, value, span)));
                }
                (Ok(_), _, _) => reported = self.not_yet::<()>(Construct::Splat, span).err(),
                (Err(error), _, _) => reported = Some(error),
            }
        }
        match reported {
            Some(reported) => Err(reported),
            None => Ok(given),
        }
    }

    /// The body of the method that Julia would call, checked here; its value.
    pub(super) fn inline(&mut self, callee: &Callee, given: Given, is_statement: bool, span: Span) -> Checked<Value> {
        let Callee::Prelude(_) = callee else { return self.inline_method(callee, given, is_statement, span) };
        let mut given = given;
        for (value, at) in &mut given.positional {
            if matches!(value, Value::Elements(elements) if elements.calls_functions()) {
                *value = self.settled_array(value.clone(), *at)?;
            }
        }
        // The prelude's own calls are of Base, whatever functions the user has.
        let functions = std::mem::take(&mut self.functions);
        let value = self.inline_method(callee, given, is_statement, span);
        self.functions = functions;
        value
    }

    fn inline_method(&mut self, callee: &Callee, given: Given, is_statement: bool, span: Span) -> Checked<Value> {
        let is_unused = std::mem::take(&mut self.flow.unused_call);
        let asks = std::mem::take(&mut self.flow.asks_for_paths);
        let (name, methods, closure) = match callee {
            Callee::Named(name) => {
                let all = self.functions.iter().filter(|function| named(function, name));
                (name.clone(), all.cloned().collect::<Vec<_>>(), None)
            }
            Callee::Prelude(name) => (name.clone(), super::prelude::methods(name, span), None),
            Callee::Closure(at) => {
                let closure = self.closures[*at].clone();
                (closure.name.clone(), closure.methods.clone(), Some(closure))
            }
        };
        let method = self.choose_method(&name, methods, &given, span)?;
        let recursive = self.calls.iter().any(|call| call.definition == method.span && call.function == name);
        if recursive || self.calls.len() >= DEEPEST {
            return Err(self.fail(TypeError::Recursion { function: name, span, definition: method.signature }));
        }
        let before = self.locals.len();
        // What a function inside the function assigns may be a variable around it.
        let tables = match &closure {
            Some(_) => BTreeSet::new(),
            None => self.local_tables(&method),
        };
        let tables = std::mem::replace(&mut self.flow.tables, tables);
        // What stands around a call says nothing of the function that is called; what stands around a definition does.
        let (fastmath, views) = closure.as_ref().map_or((false, false), |closure| (closure.fastmath, closure.views));
        let outer_scopes = match closure {
            Some(closure) => {
                let parameters = std::mem::replace(&mut self.type_parameters, closure.parameters);
                (std::mem::replace(&mut self.scopes, closure.scopes), parameters)
            }
            None => (std::mem::take(&mut self.scopes), std::mem::take(&mut self.type_parameters)),
        };
        self.scopes.push(Scope::new());
        let label = self.label.take();
        let indexed = std::mem::take(&mut self.indexed);
        let inside = Mode { fastmath, ..Mode::default() };
        let (mode, keep) = (std::mem::replace(&mut self.mode, inside), std::mem::replace(&mut self.keep, false));
        let views = std::mem::replace(&mut self.views, views);
        let conditions = std::mem::replace(&mut self.conditions, 0);
        let pending = self.flow.pending.take();
        let (straight_from, tail) = (self.flow.straight_from, self.flow.tail);
        let several = std::mem::replace(&mut self.flow.several_results, is_unused || asks);
        let inlined = InlinedCall { function: name.clone(), definition: method.span, call: span };
        if !self.inlined.contains(&inlined) {
            self.inlined.push(inlined);
        }
        self.calls.push(OpenCall { function: name.clone(), definition: method.span, span });
        let (block, value) = self.in_block(|checker| {
            checker.flow.straight_from = checker.blocks.len();
            checker.flow.tail = true;
            checker.suspending(outer_scopes.0.clone(), |checker| {
                checker.beside(pending.as_ref(), |checker| checker.inlined_body(&method, given, asks, span))
            })
        });
        self.calls.pop();
        self.flow.tables = tables;
        (self.flow.straight_from, self.flow.tail) = (straight_from, tail);
        self.flow.several_results = several;
        self.flow.pending = pending;
        (self.mode, self.keep, self.conditions) = (mode, keep, conditions);
        self.views = views;
        self.indexed = indexed;
        self.label = label;
        (self.scopes, self.type_parameters) = outer_scopes;
        let value = value?;
        if !is_statement && let Some(at) = effect(&block, before) {
            return Err(self.fail(TypeError::EffectInExpression { function: name, span, at }));
        }
        self.blocks.last_mut().expect("a block is open while a function is checked").extend(block);
        Ok(value)
    }

    /// Binds the parameters in the scope just opened, and checks the body.
    fn inlined_body(&mut self, method: &ast::Function, given: Given, asks: bool, span: Span) -> Checked<Value> {
        let known = self.variables.len();
        let method = &self.with_loops(method);
        self.macros_before(method);
        for parameter in &method.type_parameters {
            if self.type_parameter(parameter).is_err() {
                self.fail(TypeError::UnknownType { name: "this".into(), span: parameter.span, suggestion: None });
            }
        }
        let mut positional = given.positional.into_iter();
        for (at, parameter) in method.parameters.iter().enumerate() {
            let is_keyword = at >= method.first_keyword;
            let name = parameter.name.as_ref().map_or("_", |name| name.value.as_str());
            let passed = match (is_keyword, parameter.splat) {
                (false, true) => Some(Value::Tuple(positional.by_ref().map(|(value, _)| value).collect())),
                (false, false) => positional.next().map(|(value, _)| value),
                (true, _) => {
                    given.keywords.iter().find(|(keyword, _, _)| keyword == name).map(|(_, value, _)| value.clone())
                }
            };
            let value = match (passed, &parameter.default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.value(default)?,
                (None, None) => {
                    let function = method.name.as_ref().map_or_else(String::new, |name| name.value.clone());
                    let (keyword, declared) = (name.to_string(), parameter.span);
                    // The mistake is the call's, not the function's.
                    let call = self.calls.pop();
                    let reported = self.fail(TypeError::MissingKeyword { function, keyword, span, declared });
                    self.calls.extend(call);
                    return Err(reported);
                }
            };
            if let Some(declared) = &parameter.ty
                && !self.accepts_value(declared, &value)
            {
                let found = self.kind(&value);
                let declared_text = format!("`{}`", super::signature::type_text(declared));
                let (name, span) = (name.to_string(), declared.span);
                let error =
                    TypeError::ArgumentMismatch { name, declared: declared_text, found, span, misfit: Misfit::Other };
                return Err(self.fail(error));
            }
            let at = parameter.name.as_ref().map_or(parameter.span, |name| name.span);
            self.bind_passed(name, value, super::scope::is_assigned(name, &method.body), at);
        }
        let body = super::jumps::function_without_returns(&method.body, &mut self.flow.fresh);
        let once = std::mem::replace(&mut self.flow.once, super::walk::assigned_once(&body));
        self.declare_assigned(&body);
        let tail = self.body(&body, Place::Last);
        self.flow.once = once;
        if let Some(variants) = self.flow.pending.take() {
            let outside = |meaning: &super::meanings::Meaning| -> BTreeSet<_> {
                meaning.iter().filter(|(variable, _)| variable.0 < known).copied().collect()
            };
            let first = outside(&variants.meanings[0]);
            if variants.meanings.iter().any(|meaning| outside(meaning) != first) {
                return self.not_yet(Construct::ArrayVariable, variants.span);
            }
        }
        if asks && super::called_paths::is_of_paths(&tail) {
            return self.keep_paths(tail, span);
        }
        let value = self.tail_value(tail, method.signature)?;
        match (&method.return_type, value) {
            (Some(ty), Value::Scalar(value)) => {
                let at = ty.span;
                let ty = self.type_expression(ty)?;
                self.coerce(value, ty, Some(at)).map(Value::Scalar)
            }
            (Some(ty), value @ Value::Complex(_)) => match self.complex_type(ty)? {
                Some(half) => self.make_complex(value, half, ty.span).map(super::complex::Complex::value),
                // `::Complex` and `::Number` convert nothing.
                None if self.accepts_value(ty, &value) => Ok(value),
                None => Err(self.complex_error(super::complex::ComplexError::NotReal { span })),
            },
            (_, value) => Ok(value),
        }
    }

    /// A parameter of an inlined call: a name for what is passed, or a variable if the body assigns it.
    fn bind_passed(&mut self, name: &str, value: Value, is_assigned: bool, span: Span) {
        if is_assigned && super::assign::is_of_numbers(&value) {
            let variable = self.declare(name, span, State::Unassigned);
            // Each element gets its own type, so nothing is there to refuse.
            let _ = self.bind_parts(variable, value, span, span);
            self.assigned.insert(variable);
            return;
        }
        let state = match value {
            Value::Array(array) => State::Array(array),
            Value::Scalar(value) if is_assigned => {
                let owner = self.loops.last().copied();
                let copy = self.named_local(name, Type::Scalar(value.ty), Role::Variable(owner), span);
                let at = value.span;
                let kind = StatementKind::Set { target: copy, value, label: None, mode: Default::default() };
                self.emit(kind, at);
                self.note_set(copy, false);
                State::Scalar(copy)
            }
            Value::Scalar(value) => State::Alias(Value::Scalar(self.named_value(name, value))),
            Value::Complex(value) if is_assigned => self.complex_variable(name, *value, span),
            value @ Value::Complex(_) => State::Alias(self.frozen(value)),
            Value::Tuple(_) | Value::Named(..) | Value::Range(_) | Value::Elements(_) => match self.frozen(value) {
                Value::Elements(elements) => self.named_elements(*elements),
                value => State::Alias(value),
            },
            other => State::Alias(other),
        };
        let variable = self.declare(name, span, state);
        self.variables[variable.0].span = span;
        self.assigned.insert(variable);
    }

    /// The value under the parameter's name, unless it is a constant or has a name already.
    fn named_value(&mut self, name: &str, value: Expr) -> Expr {
        let unchanging = value.is_fixed()
            || matches!(value.kind, ExprKind::Local(id)
                if matches!(self.local(id).role, Role::Argument | Role::Iterator(_) | Role::Value(_)));
        if unchanging { value } else { self.hold_named(name, value) }
    }

    /// What a body gives back, as a value.
    pub(super) fn tail_value(&mut self, tail: Tail, span: Span) -> Checked<Value> {
        match tail {
            Tail::Nothing => Ok(Value::Nothing),
            Tail::Argument(array, _) => Ok(Value::Array(array)),
            Tail::Scalar(value) => Ok(Value::Scalar(value)),
            Tail::Tuple(values, _) => Ok(Value::Tuple(values)),
            Tail::Other(value, _) => Ok(value),
            Tail::Choice(..) => self.not_yet(Construct::ArrayVariable, span),
            // Only made where nobody uses the value.
            Tail::OneOf(..) => Ok(Value::Nothing),
            Tail::Failed => Err(Reported),
        }
    }

    /// The most specific of the methods that accept what is given.
    fn choose_method(
        &mut self,
        name: &str,
        methods: Vec<ast::Function>,
        given: &Given,
        span: Span,
    ) -> Checked<ast::Function> {
        let count = given.positional.len();
        let mut fitting: Vec<ast::Function> = vec![];
        for method in &methods {
            let positional = &method.parameters[..method.first_keyword.min(method.parameters.len())];
            let varargs = positional.last().is_some_and(|last| last.splat);
            let least = positional.iter().filter(|it| it.default.is_none() && !it.splat).count();
            if count < least || (count > positional.len() && !varargs) {
                continue;
            }
            let unknown = given.keywords.iter().any(|(keyword, _, _)| {
                let keywords = &method.parameters[method.first_keyword.min(method.parameters.len())..];
                !keywords.iter().any(|it| it.splat || it.name.as_ref().is_some_and(|name| name.value == *keyword))
            });
            if !unknown && self.applies(method, positional, given) {
                // A later definition with the same types replaces an earlier one.
                let same = |other: &ast::Function| signature_text(other) == signature_text(method);
                fitting.retain(|other| !same(other));
                fitting.push(method.clone());
            }
        }
        if fitting.len() > 1 {
            let sets: Vec<Vec<Vec<bool>>> = fitting.iter().map(|method| self.accepted(method, count)).collect();
            let best: Vec<usize> = (0..fitting.len())
                .filter(|&at| (0..fitting.len()).all(|other| at == other || is_within(&sets[at], &sets[other])))
                .collect();
            let best = match best.as_slice() {
                [only] => Some(*only),
                // Of methods that accept the same types one by one, the one that asks two of them to be equal.
                several => {
                    let mut ties = several.iter().filter(|&&at| repeats_parameter(&fitting[at]));
                    match (ties.next(), ties.next()) {
                        (Some(&one), None) => Some(one),
                        (_, _) => None,
                    }
                }
            };
            return match best {
                Some(best) => Ok(fitting.swap_remove(best)),
                None => {
                    let (first, second) = (fitting[0].signature, fitting[1].signature);
                    Err(self.fail(TypeError::AmbiguousCall { function: name.into(), span, first, second }))
                }
            };
        }
        match fitting.pop() {
            Some(method) => Ok(method),
            None => {
                let types: Vec<String> =
                    given.positional.iter().map(|(value, _)| self.kind(value).to_string()).collect();
                let given = match types.is_empty() {
                    true => "no arguments".to_string(),
                    false => types.join(", "),
                };
                let definition = methods.last().map_or(span, |method| method.signature);
                // The only method takes another number of arguments, whatever they are.
                let count = match methods.as_slice() {
                    [only] => {
                        let positional = &only.parameters[..only.first_keyword.min(only.parameters.len())];
                        let is_plain = positional.iter().all(|it| !it.splat && it.default.is_none());
                        (is_plain && positional.len() != count).then_some((positional.len(), count))
                    }
                    _ => None,
                };
                let function = name.into();
                Err(self.fail(TypeError::NoMatchingMethod { function, given, span, definition, count }))
            }
        }
    }

    /// Whether the method's declared types accept all that is given, type parameters together.
    fn applies(&mut self, method: &ast::Function, positional: &[ast::Parameter], given: &Given) -> bool {
        let parameters = self.type_parameters.clone();
        let (errors, calls) = (self.errors.len(), std::mem::take(&mut self.calls));
        let mut fits = method.type_parameters.iter().all(|parameter| self.type_parameter(parameter).is_ok());
        for (at, (value, _)) in given.positional.iter().enumerate() {
            let parameter = positional.get(at).or(positional.last());
            if let Some(declared) = parameter.and_then(|parameter| parameter.ty.as_ref()) {
                fits = fits && self.accepts_value(declared, value);
            }
        }
        self.errors.truncate(errors);
        self.calls = calls;
        self.type_parameters = parameters;
        fits
    }

    pub(super) fn accepts_value(&mut self, declared: &ast::Expr, value: &Value) -> bool {
        let is_any = matches!(&declared.kind, ast::ExprKind::Name(name) if name == "Any");
        match value {
            _ if is_any => true,
            Value::Scalar(value) => self.accepts_type(declared, Type::Scalar(value.ty).into()),
            Value::Complex(value) => self.accepts_type(declared, ArgumentType::Complex(Type::Scalar(value.half()))),
            Value::ComplexArray(array) => {
                let ty = dense(self.half_type(*array), self.rank(*array) - 1);
                self.accepts_type(declared, ArgumentType::Complex(ty))
            }
            Value::ComplexType(half) => self.accepts_type_value(declared, ArgumentType::Complex(Type::Scalar(*half))),
            Value::Irrational(..) => {
                matches!(&declared.kind, ast::ExprKind::Name(name)
                    if matches!(name.as_str(), "Real" | "Number" | "Irrational" | "AbstractIrrational"))
            }
            Value::Array(array) => self.accepts_type(declared, self.local(*array).ty.into()),
            Value::Elements(elements) => {
                let ty = dense(elements.element, elements.rank() as u32);
                let ty = match elements.numbers {
                    super::arrays::Numbers::Real => ty.into(),
                    super::arrays::Numbers::Complex => ArgumentType::Complex(ty),
                };
                self.accepts_type(declared, ty)
            }
            Value::Position(position) => match &position.linear_in {
                Some(_) => self.accepts_type(declared, Type::Scalar(ScalarType::I64).into()),
                None => starts_with(declared, &["CartesianIndex"]),
            },
            Value::Places(_) => starts_with(declared, &["CartesianIndices", "AbstractArray"]),
            Value::Type(ty) => self.accepts_type_value(declared, Type::Scalar(*ty).into()),
            Value::Tuple(_) => starts_with(declared, &["Tuple", "NTuple"]),
            Value::Named(..) => starts_with(declared, &["NamedTuple"]),
            Value::Function(_) => starts_with(declared, &["Function"]),
            Value::Nothing | Value::Never => starts_with(declared, &["Nothing"]),
            Value::Range(_) => {
                let ranges =
                    ["UnitRange", "AbstractRange", "OrdinalRange", "AbstractUnitRange", "StepRange", "AbstractVector"];
                starts_with(declared, &ranges)
            }
        }
    }

    /// `::Type{Float64}`, `::Type{T}`, `::DataType` given a type.
    fn accepts_type_value(&mut self, declared: &ast::Expr, ty: ArgumentType) -> bool {
        match &declared.kind {
            ast::ExprKind::Name(name) => matches!(name.as_str(), "Type" | "DataType"),
            ast::ExprKind::Curly { base, parameters } => {
                let is_type = matches!(&base.kind, ast::ExprKind::Name(name) if name == "Type");
                match (is_type, parameters.as_slice()) {
                    (true, [parameter]) => self.accepts_type(parameter, ty),
                    (_, _) => false,
                }
            }
            _ => false,
        }
    }

    /// For each of `count` arguments, which types the method accepts for it alone.
    fn accepted(&mut self, method: &ast::Function, count: usize) -> Vec<Vec<bool>> {
        let scalars = ScalarType::ALL.into_iter().map(Type::Scalar);
        // Array types differ in the forms of arrays that they include.
        let forms = [
            Form::DENSE,
            Form { strides: Strides::Free, firsts: Firsts::One },
            Form { strides: Strides::Free, firsts: Firsts::Free },
        ];
        let arrays = ScalarType::ALL
            .into_iter()
            .flat_map(|element| (1..=6).flat_map(move |rank| forms.map(|form| Type::Array { element, rank, form })));
        let real: Vec<Type> = scalars.chain(arrays).collect();
        let complex = real.iter().copied().map(ArgumentType::Complex);
        let types: Vec<ArgumentType> = real.iter().copied().map(ArgumentType::Real).chain(complex).collect();
        let positional = &method.parameters[..method.first_keyword.min(method.parameters.len())];
        let mut all = vec![];
        for at in 0..count {
            let declared = positional.get(at).or(positional.last()).and_then(|parameter| parameter.ty.clone());
            let accepted = types.iter().map(|&ty| match &declared {
                None => true,
                Some(declared) => {
                    let parameters = self.type_parameters.clone();
                    let errors = self.errors.len();
                    let _ = method.type_parameters.iter().all(|parameter| self.type_parameter(parameter).is_ok());
                    let accepts = self.accepts_type(declared, ty);
                    self.errors.truncate(errors);
                    self.type_parameters = parameters;
                    accepts
                }
            });
            all.push(accepted.collect());
        }
        all
    }

    /// `f(x) = ...`, `function f(x) ... end` and `x -> ...` inside the function.
    pub(super) fn closure(&mut self, name: &str, function: ast::Function) -> Value {
        let (scopes, parameters) = (self.scopes.clone(), self.type_parameters.clone());
        let (fastmath, views) = (self.mode.fastmath, self.views);
        let name = name.to_string();
        self.closures.push(Closure { name, methods: vec![function], scopes, parameters, fastmath, views });
        Value::Function(Callee::Closure(self.closures.len() - 1))
    }

    /// A named function inside the function: a variable that means it, or one more method of it.
    pub(super) fn local_function(&mut self, function: &ast::Function) -> Checked<()> {
        let Some(name) = &function.name else { return self.not_yet(Construct::Closure, function.span) };
        let Some(variable) = self.lookup(&name.value) else {
            return self.not_yet(Construct::Closure, function.span);
        };
        self.assigned.insert(variable);
        if let State::Alias(Value::Function(Callee::Closure(at))) = self.variables[variable.0].state {
            self.closures[at].methods.push(function.clone());
            return Ok(());
        }
        if !matches!(self.variables[variable.0].state, State::Unassigned) {
            return self.not_yet(Construct::Closure, function.span);
        }
        let value = self.closure(&name.value, function.clone());
        self.variables[variable.0].state = State::Alias(value);
        Ok(())
    }

    /// `x -> x + 1` as a value.
    pub(super) fn lambda(&mut self, arguments: &[ast::Expr], body: &ast::Expr, span: Span) -> Checked<Value> {
        let mut parameters = vec![];
        for argument in arguments {
            let (name, ty) = match &argument.kind {
                ast::ExprKind::Name(name) => (name, None),
                ast::ExprKind::Typed { value: Some(value), ty } => match &value.kind {
                    ast::ExprKind::Name(name) => (name, Some((**ty).clone())),
                    _ => return self.not_yet(Construct::Closure, span),
                },
                _ => return self.not_yet(Construct::Closure, span),
            };
            let name = Some(tessella_diagnostics::Spanned { value: name.clone(), span: argument.span });
            parameters.push(ast::Parameter {
                name,
                ty,
                default: None,
                splat: false,
                pattern: None,
                span: argument.span,
            });
        }
        let body = match &body.kind {
            ast::ExprKind::Block(body) => body.clone(),
            _ => vec![body.clone()],
        };
        let function = ast::Function {
            macros: vec![],
            name: None,
            object: None,
            first_keyword: parameters.len(),
            parameters,
            type_parameters: vec![],
            return_type: None,
            body,
            signature: span,
            span,
        };
        Ok(self.closure("anonymous", function))
    }
}

fn named(function: &ast::Function, name: &str) -> bool {
    function.name.as_ref().is_some_and(|known| known.value == name)
}

fn starts_with(declared: &ast::Expr, names: &[&str]) -> bool {
    match &declared.kind {
        ast::ExprKind::Name(name) => names.contains(&name.as_str()),
        ast::ExprKind::Curly { base, .. } | ast::ExprKind::Where { base, .. } => starts_with(base, names),
        _ => false,
    }
}

fn signature_text(method: &ast::Function) -> Vec<String> {
    let positional = &method.parameters[..method.first_keyword.min(method.parameters.len())];
    let types = positional.iter().map(|it| it.ty.as_ref().map_or("Any".to_string(), super::signature::type_text));
    types.chain(method.type_parameters.iter().map(super::signature::type_text)).collect()
}

/// Whether each set of types is within the other's.
fn is_within(sets: &[Vec<bool>], others: &[Vec<bool>]) -> bool {
    sets.iter().zip(others).all(|(set, other)| set.iter().zip(other).all(|(&mine, &its)| !mine || its))
}

/// Whether a type parameter stands in the types of two parameters.
fn repeats_parameter(method: &ast::Function) -> bool {
    let names: Vec<String> = method
        .type_parameters
        .iter()
        .map(|parameter| match &parameter.kind {
            ast::ExprKind::Comparison { operands, .. } if !operands.is_empty() => {
                super::signature::type_text(&operands[0])
            }
            _ => super::signature::type_text(parameter),
        })
        .collect();
    names.iter().any(|name| {
        let uses = |parameter: &&ast::Parameter| {
            parameter.ty.as_ref().is_some_and(|ty| super::walk::mentions(ty, &[name.as_str()]))
        };
        method.parameters.iter().filter(uses).count() > 1
    })
}

/// Where a block changes what lives outside of it: an array, or a variable older than `before`.
fn effect(block: &Block, before: usize) -> Option<Span> {
    block.iter().find_map(|statement| match &statement.kind {
        StatementKind::Store { array, .. } => is_old(*array, before).then_some(statement.span),
        StatementKind::Set { target, .. } => is_old(*target, before).then_some(statement.span),
        StatementKind::If { then, otherwise, .. } => effect(then, before).or_else(|| effect(otherwise, before)),
        StatementKind::For { body, .. } => effect(body, before),
        StatementKind::Allocate { .. } | StatementKind::Require { .. } => None,
    })
}

fn is_old(local: LocalId, before: usize) -> bool {
    (local.0 as usize) < before
}
