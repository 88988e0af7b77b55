//! The checker: its state, and the function as a whole.

use super::arrays::ArrayError;
use super::complex::{Complex, ComplexError};
use super::each::Foreach;
use super::error::TypeError;
use super::flow::Flow;
use super::inline::{Closure, OpenCall};
use super::rebinding::Needs;
use super::result::Container;
use super::scope::{Scope, State, Variable, VariableId, is_assigned};
use super::signature::TypeParameter;
use super::statement::Place;
use super::tree::{
    ArgumentType, Block, Expr, ExprKind, Function, InlinedCall, Label, Local, LocalId, LoopId, Mode, NamedBy, Role,
    Statement, StatementKind, Type,
};
use super::unsupported::Construct;
use super::value::{Kind, Value};
use crate::ast;
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;

/// A `const` of the file that the function may use.
#[derive(Debug, Clone, PartialEq)]
pub struct ModuleConstant {
    pub name: String,
    pub value: ast::Expr,
}

/// Gives every value of `function` a type, for arguments of the given types (one for each parameter, keyword
/// parameters last).
///
/// # Errors
/// All that are found, in source order as far as that makes sense. What depends on something already reported is not
/// reported again.
pub fn check(
    function: &ast::Function,
    arguments: &[impl Into<ArgumentType> + Copy],
    constants: &[ModuleConstant],
) -> Result<Function, Vec<TypeError>> {
    check_in(function, arguments, Surroundings { constants, functions: &[] })
}

/// What a function sees of its file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings<'a> {
    pub constants: &'a [ModuleConstant],
    /// All definitions in the order of the file, of which calls choose by the types of their arguments.
    pub functions: &'a [ast::Function],
}

/// [`check`], with functions that the function may call: they are inlined.
///
/// # Errors
/// As for [`check`]; what is wrong inside a called function is told with the calls that led there.
pub fn check_in(
    function: &ast::Function,
    arguments: &[impl Into<ArgumentType> + Copy],
    surroundings: Surroundings<'_>,
) -> Result<Function, Vec<TypeError>> {
    let arguments: Vec<ArgumentType> = arguments.iter().map(|&ty| ty.into()).collect();
    let mut needs = Needs::default();
    loop {
        let mut checker = Checker::new(surroundings.constants);
        checker.functions = surroundings.functions;
        checker.flow.rebinding.expect(&needs);
        let checked = checker.function(function, &arguments);
        match checker.flow.rebinding.more_needs() {
            // Loops need arrays before them that this pass has not made.
            Some(more) => needs = more,
            // The messages are about what the source says.
            None if checker.errors.iter().any(TypeError::names_ours) && needs.leave_as_written() => {}
            None => {
                return match checked {
                    Some(function) if checker.errors.is_empty() => Ok(function),
                    _ => Err(checker.errors),
                };
            }
        }
    }
}

/// An error has been reported; whoever depends on the value stays silent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reported;

pub(super) type Checked<T> = Result<T, Reported>;

/// What `end` and `begin` mean where a subscript is checked.
#[derive(Debug, Clone)]
pub(super) enum Indexed {
    /// The first and last index of the axis.
    Axis {
        first: Expr,
        last: Expr,
    },
    Tuple {
        length: usize,
    },
}

pub(super) struct Checker<'a> {
    pub constants: &'a [ModuleConstant],
    /// Constants whose definitions are being checked.
    pub open_constants: Vec<String>,
    /// Arrays of the file that the function uses, in the order in which they are made.
    pub constant_arrays: Vec<super::constant_array::ConstantArray>,
    /// Those of them that are being made.
    pub open_arrays: Vec<String>,
    /// What the generators being checked do with their values, outermost first.
    pub collecting: Vec<super::arrays::Collecting>,
    pub errors: Vec<TypeError>,
    pub locals: Vec<Local>,
    pub variables: Vec<Variable>,
    pub scopes: Vec<Scope>,
    /// Variables that certainly have a value here.
    pub assigned: BTreeSet<VariableId>,
    pub type_parameters: BTreeMap<String, TypeParameter>,
    /// The loops around the statement, outermost first.
    pub loops: Vec<LoopId>,
    /// Iterators of the loops of one statement that its body assigns, and their values.
    pub joint: Vec<(String, Expr)>,
    pub loop_count: u32,
    /// Blocks being written, outermost first.
    pub blocks: Vec<Block>,
    pub mode: Mode,
    pub label: Option<Label>,
    pub labels: BTreeMap<String, Span>,
    pub indexed: Vec<Indexed>,
    /// Whether the value of the assignment being checked is used after it.
    pub keep: bool,
    /// How many conditions decide whether the expression is evaluated.
    pub conditions: u32,
    pub flow: Flow,
    /// The extents of arrays made inside the function; negative ones mean none.
    pub made: BTreeMap<LocalId, Vec<Expr>>,
    /// Those of them that Julia makes as something else than an `Array`.
    pub other_containers: BTreeMap<LocalId, Container>,
    /// Whether slices are views (`@views`).
    pub views: bool,
    /// The functions of the file.
    pub functions: &'a [ast::Function],
    /// Functions defined inside the function.
    pub closures: Vec<Closure>,
    /// The calls whose bodies are being checked, outermost first.
    pub calls: Vec<OpenCall>,
    /// All calls whose bodies were checked.
    pub inlined: Vec<InlinedCall>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(constants: &'a [ModuleConstant]) -> Self {
        Self {
            constants,
            open_constants: vec![],
            constant_arrays: vec![],
            open_arrays: vec![],
            collecting: vec![],
            errors: vec![],
            locals: vec![],
            variables: vec![],
            scopes: vec![Scope::new()],
            assigned: BTreeSet::new(),
            type_parameters: BTreeMap::new(),
            loops: vec![],
            joint: vec![],
            loop_count: 0,
            blocks: vec![vec![]],
            mode: Mode::default(),
            label: None,
            labels: BTreeMap::new(),
            indexed: vec![],
            keep: false,
            conditions: 0,
            flow: Flow::default(),
            made: BTreeMap::new(),
            other_containers: BTreeMap::new(),
            views: false,
            functions: &[],
            closures: vec![],
            calls: vec![],
            inlined: vec![],
        }
    }

    pub(super) fn fail(&mut self, error: TypeError) -> Reported {
        // Whatever is asked of a complex array as a whole, there is one answer.
        let error = match error {
            TypeError::Array(ArrayError::NotElements { found: Kind::ComplexArray { .. }, span, .. })
            | TypeError::NotIterable { found: Kind::ComplexArray { .. }, span }
            | TypeError::NotANumber { found: Kind::ComplexArray { .. }, span } => {
                TypeError::Complex(ComplexError::WholeArray { span })
            }
            other => other,
        };
        let error = self.calls.iter().rev().fold(error, |error, call| TypeError::InCall {
            error: Box::new(error),
            function: call.function.clone(),
            call: call.span,
        });
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
        Reported
    }

    pub(super) fn not_yet<T>(&mut self, construct: Construct, span: Span) -> Checked<T> {
        Err(self.fail(TypeError::NotYet { construct, span }))
    }

    pub(super) fn kind(&self, value: &Value) -> Kind {
        match value {
            Value::Scalar(expr) => Kind::Scalar(expr.ty),
            Value::Irrational(..) => Kind::Scalar(tessella_scalar::ScalarType::F64),
            Value::Array(id) => self.local(*id).ty.into(),
            Value::Complex(value) => Kind::Complex(value.half()),
            Value::ComplexArray(id) => Kind::ComplexArray { half: self.half_type(*id), rank: self.rank(*id) - 1 },
            Value::Tuple(_) => Kind::Tuple,
            Value::Named(..) => Kind::NamedTuple,
            Value::Range(_) => Kind::Range,
            Value::Type(_) | Value::ComplexType(_) => Kind::Type,
            Value::Elements(elements) => {
                let rank = elements.rank() as u32;
                match elements.numbers {
                    super::arrays::Numbers::Real => Kind::Array { element: elements.element, rank },
                    super::arrays::Numbers::Complex => Kind::ComplexArray { half: elements.element, rank },
                }
            }
            Value::Position(_) => Kind::Position,
            Value::Places(_) => Kind::Places,
            Value::Function(_) => Kind::Function,
            Value::Nothing | Value::Never => Kind::Nothing,
        }
    }

    pub(super) fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.0 as usize]
    }

    /// A local that the source names, unless the name is one of [`super::jumps::Fresh`].
    pub(super) fn named_local(&mut self, name: &str, ty: Type, role: Role, span: Span) -> LocalId {
        let name = super::full_name::own(name);
        match super::jumps::is_private(name) {
            true => self.new_local(super::jumps::shown(name), ty, role, span),
            false => self.add_local(name, NamedBy::Source, ty, role, span),
        }
    }

    /// A local for a value that the source does not name: the name shows in the generated code, and in no message.
    pub(super) fn new_local(&mut self, name: &str, ty: Type, role: Role, span: Span) -> LocalId {
        self.add_local(name, NamedBy::Tessella, ty, role, span)
    }

    fn add_local(&mut self, name: &str, named: NamedBy, ty: Type, role: Role, span: Span) -> LocalId {
        let id = LocalId(u32::try_from(self.locals.len()).expect("a function has fewer than 2^32 variables"));
        self.locals.push(Local { name: name.to_string(), named, ty, role, span });
        id
    }

    pub(super) fn emit(&mut self, kind: StatementKind, span: Span) {
        if let StatementKind::Store { array, .. } = kind {
            // The error is one of the function; the statement is as good as any.
            let _ = self.asks_for_own(array, span);
        }
        self.blocks.last_mut().expect("a block is open while a function is checked").push(Statement { kind, span });
    }

    pub(super) fn read(&self, id: LocalId, span: Span) -> Expr {
        match self.local(id).ty {
            Type::Scalar(ty) | Type::Array { element: ty, .. } => Expr { kind: ExprKind::Local(id), ty, span },
        }
    }

    /// Gives `value` a variable of its own, so that it is evaluated once.
    pub(super) fn hold(&mut self, name: &str, value: Expr) -> Expr {
        let owner = self.loops.last().copied();
        let id = self.new_local(name, Type::Scalar(value.ty), Role::Value(owner), value.span);
        self.hold_in(id, value)
    }

    /// The same under a name of the source.
    pub(super) fn hold_named(&mut self, name: &str, value: Expr) -> Expr {
        let owner = self.loops.last().copied();
        let id = self.named_local(name, Type::Scalar(value.ty), Role::Value(owner), value.span);
        self.hold_in(id, value)
    }

    fn hold_in(&mut self, id: LocalId, value: Expr) -> Expr {
        let span = value.span;
        let mode = self.mode;
        self.emit(StatementKind::Set { target: id, value, label: None, mode }, span);
        self.read(id, span)
    }

    /// `value` in a form that can be used several times.
    ///
    /// Where the value is evaluated only under a condition and may not be evaluated otherwise, it is repeated:
    /// expressions have no effects, so that this means the same.
    pub(super) fn share(&mut self, value: Expr) -> Expr {
        // Constants of the file are evaluated where they are used, and have no block for a variable.
        if !self.open_constants.is_empty() || value.is_cheap() || (self.conditions > 0 && value.reads_memory()) {
            value
        } else {
            self.hold("shared", value)
        }
    }

    /// `check` with its statements written into a block of its own.
    pub(super) fn in_block<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        self.blocks.push(vec![]);
        let result = check(self);
        (self.blocks.pop().expect("blocks are pushed and popped in pairs"), result)
    }

    /// Evaluates what is used only if a condition holds.
    pub(super) fn conditionally<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        self.conditions += 1;
        let result = check(self);
        self.conditions -= 1;
        result
    }

    /// The function with plain loops for those under `@threads`, and those that `foreach` stands for unless the file has a
    /// `foreach` of its own.
    pub(super) fn with_loops(&self, function: &ast::Function) -> ast::Function {
        let foreach = match self.user_function("foreach") {
            None => Foreach::Base,
            Some(_) => Foreach::User,
        };
        let body = super::moved::settled(&super::each::as_loops(&function.body, foreach));
        self.with_parts(ast::Function { body, ..function.clone() })
    }

    fn function(&mut self, function: &ast::Function, arguments: &[ArgumentType]) -> Option<Function> {
        self.begin_rebinding(function);
        let function = &self.with_loops(function);
        let name = function.name.as_ref().map_or_else(|| "anonymous".to_string(), |name| name.value.clone());
        if arguments.len() != function.parameters.len() {
            self.fail(TypeError::ArgumentCount {
                function: name,
                expected: function.parameters.len(),
                given: arguments.len(),
                span: function.signature,
            });
            return None;
        }
        self.macros_before(function);
        self.distinct_parameters(function);
        let ids = self.parameters(function, arguments);
        self.copy_assigned_arguments(function);
        let body = super::jumps::function_without_returns(&function.body, &mut self.flow.fresh);
        self.flow.once = super::walk::assigned_once(&body);
        self.flow.tables = self.local_tables(function);
        self.declare_assigned(&body);
        let tail = self.body(&body, Place::Last);
        let result = self.result(function, tail);
        self.settle_roles();
        let body = self.blocks.pop().expect("the function's own block is open");
        let body = self.without_unread(body);
        let body = self.with_constant_arrays(body, &result);
        Some(Function {
            name,
            locals: std::mem::take(&mut self.locals),
            arguments: ids,
            body,
            result,
            calls: std::mem::take(&mut self.inlined),
            span: function.signature,
        })
    }

    /// Julia refuses `f(A, A)`; `_` may stand for several.
    fn distinct_parameters(&mut self, function: &ast::Function) {
        let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
        for name in function.parameters.iter().filter_map(|parameter| parameter.name.as_ref()) {
            let is_blank = name.value.chars().all(|c| c == '_');
            match seen.get(name.value.as_str()) {
                Some(&first) if !is_blank => {
                    self.fail(TypeError::DuplicateParameter { name: name.value.clone(), first, second: name.span });
                }
                Some(_) | None => {
                    seen.insert(&name.value, name.span);
                }
            }
        }
    }

    /// A scalar argument that the body assigns to becomes a variable that starts with the argument's value.
    fn copy_assigned_arguments(&mut self, function: &ast::Function) {
        for parameter in &function.parameters {
            let Some(name) = &parameter.name else { continue };
            let Some(variable) = self.lookup(&name.value) else { continue };
            if is_assigned(&name.value, &function.body) {
                match self.variables[variable.0].state {
                    State::Scalar(argument) => {
                        let value = self.read(argument, self.local(argument).span);
                        self.make_assignable(&name.value, value);
                    }
                    State::Complex(re, im) => {
                        let span = self.local(re).span;
                        let value = Complex { re: self.read(re, span), im: self.read(im, span) };
                        self.variables[variable.0].state = self.complex_variable(&name.value, value, span);
                        self.variables[variable.0].home = self.blocks.len();
                    }
                    State::Array(_) | State::Alias(_) | State::Unassigned | State::Poisoned => {}
                }
            }
        }
    }

    /// Lets `name` mean a variable that starts with this value, of an argument or iterator.
    pub(super) fn make_assignable(&mut self, name: &str, value: Expr) {
        let (ty, span) = (value.ty, value.span);
        let Some(variable) = self.lookup(name) else { return };
        let owner = self.loops.last().copied();
        let copy = self.named_local(name, Type::Scalar(ty), Role::Variable(owner), span);
        self.emit(StatementKind::Set { target: copy, value, label: None, mode: Mode::default() }, span);
        self.variables[variable.0].state = State::Scalar(copy);
        self.variables[variable.0].home = self.blocks.len();
        self.note_set(copy, false);
    }
}
