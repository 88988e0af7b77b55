//! Tables of numbers inside of a function: arrays written out whose elements are constants, and which the function only
//! reads. They are constants, as if they stood in the file:
//!
//! ```text
//! opp = [1, 4, 5, 2, 3]            const opp = [1, 4, 5, 2, 3], of this function only
//! for q in 1:5                ->   for q in 1:5
//!     g[i, q] = f[i, opp[q]]           g[i, q] = f[i, opp[q]]
//! ```
//!
//! Whether the function does more than read one is decided by the syntax: the name is assigned once, all that uses it
//! follows in the same block, and each use is an element, a question, a sum, or something to go through. Another name for the
//! array, a function of the user that it is passed to, a result that it is part of: then it is an array like any other.

use super::check::Checker;
use super::full_name::behind_module;
use super::scope::State;
use super::walk::{mentions, parts};
use crate::ast::{Broadcast, Expr, ExprKind, Function, GeneratorClause, Section};
use std::collections::BTreeSet;

/// Functions of Base that neither keep an array nor change it.
const READERS: [&str; 31] = [
    "all",
    "any",
    "argmax",
    "argmin",
    "axes",
    "copy",
    "count",
    "dot",
    "eachindex",
    "eltype",
    "enumerate",
    "extrema",
    "findmax",
    "findmin",
    "first",
    "firstindex",
    "foldl",
    "isempty",
    "last",
    "lastindex",
    "length",
    "map",
    "mapreduce",
    "maximum",
    "minimum",
    "ndims",
    "prod",
    "reduce",
    "size",
    "sum",
    "zip",
];

impl Checker<'_> {
    /// The names of such tables in a function, whatever their elements are.
    pub(super) fn local_tables(&self, function: &Function) -> BTreeSet<String> {
        let assigned = super::scope::assigned_names(&function.body);
        let is_parameter =
            |name: &str| function.parameters.iter().filter_map(|it| it.name.as_ref()).any(|it| it.value == name);
        let is_base = |name: &str| {
            let is_function = |function: &Function| function.name.as_ref().is_some_and(|it| it.value == name);
            !is_parameter(name)
                && !assigned.iter().any(|assigned| assigned == name)
                && !self.functions.iter().any(is_function)
        };
        let once = super::walk::assigned_once(&function.body);
        let mut tables = BTreeSet::new();
        each_block(&function.body, &mut |block| {
            for (at, statement) in block.iter().enumerate() {
                let Some((name, _)) = table(statement) else { continue };
                let rest = &block[at + 1..];
                let uses = count(rest, name);
                let is_read = rest.iter().all(|part| only_reads(part, name, &is_base));
                let is_all = uses > 0 && count(&function.body, name) == uses + 1;
                if once.contains(name) && !is_parameter(name) && is_all && is_read {
                    tables.insert(name.to_string());
                }
            }
        });
        tables
    }

    /// Lets a name mean a table of constants, if the statement assigns one to it.
    pub(super) fn bind_table(&mut self, statement: &Expr) -> bool {
        let Some((name, definition)) = table(statement) else { return false };
        if !self.flow.tables.contains(name) || self.views || self.label.is_some() {
            return false;
        }
        let Some(variable) = self.lookup(name) else { return false };
        let state = self.variables[variable.0].state.clone();
        if !matches!(state, State::Unassigned | State::Array(_)) || self.variables[variable.0].declared.is_some() {
            return false;
        }
        let Some((elements, extents)) = self.written_out(definition) else { return false };
        let Ok(array) = self.table_of(name, elements, extents, definition.span) else { return false };
        if matches!(state, State::Array(other) if other != array) {
            return false;
        }
        self.assigned.insert(variable);
        self.variables[variable.0].span = statement.span;
        self.variables[variable.0].state = State::Array(array);
        true
    }
}

/// The name and the definition of what may be a table.
fn table(statement: &Expr) -> Option<(&str, &Expr)> {
    let ExprKind::Assign { operator: None, broadcast: Broadcast::No, target, value } = &statement.kind else {
        return None;
    };
    let ExprKind::Name(name) = &target.kind else { return None };
    let is_array = match &value.kind {
        ExprKind::Vector(_) | ExprKind::Matrix(_) => true,
        // `Float64[...]`
        ExprKind::Index { base, .. } => {
            matches!(&base.kind, ExprKind::Name(name) if tessella_scalar::ScalarType::from_julia_name(name).is_some())
        }
        _ => false,
    };
    is_array.then_some((name, &**value))
}

/// Tells of each list of statements, however deep.
fn each_block<'a>(body: &'a [Expr], found: &mut dyn FnMut(&'a [Expr])) {
    found(body);
    for statement in body {
        within(statement, found);
    }
}

fn within<'a>(expr: &'a Expr, found: &mut dyn FnMut(&'a [Expr])) {
    match &expr.kind {
        ExprKind::Block(body)
        | ExprKind::For { body, .. }
        | ExprKind::While { body, .. }
        | ExprKind::Let { body, .. } => {
            each_block(body, found);
        }
        ExprKind::If { branches, otherwise } => {
            branches.iter().map(|(_, body)| body).chain(otherwise).for_each(|body| each_block(body, found));
        }
        ExprKind::MacroCall { arguments, .. } => arguments.iter().for_each(|argument| within(argument, found)),
        // Functions inside the function have variables of their own, and share those around them.
        _ => {}
    }
}

/// How often a name stands in the statements.
fn count(body: &[Expr], name: &str) -> usize {
    let own = |expr: &Expr| usize::from(is_name(expr, name));
    body.iter()
        .map(|expr| {
            own(expr) + parts(expr).into_iter().map(|part| count(std::slice::from_ref(part), name)).sum::<usize>()
        })
        .sum()
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(found) if found == name)
}

/// Whether the expression does no more to an array of this name than read it. `is_base`: whether a name of a function means
/// the one of Base.
fn only_reads(expr: &Expr, name: &str, is_base: &dyn Fn(&str) -> bool) -> bool {
    let defaults = match &expr.kind {
        ExprKind::Function(function) => function.parameters.iter().filter_map(|it| it.default.as_ref()).collect(),
        _ => vec![],
    };
    if defaults.into_iter().any(|default| mentions(default, &[name])) {
        return false;
    }
    if !mentions(expr, &[name]) {
        return true;
    }
    let reads = |part: &Expr| only_reads(part, name, is_base);
    let reads_or_is = |part: &Expr| is_name(part, name) || only_reads(part, name, is_base);
    match &expr.kind {
        ExprKind::Index { base, subscripts } => {
            reads_or_is(base) && subscripts.iter().all(|subscript| reads_or_is(&subscript.value))
        }
        ExprKind::Call { callee, arguments, broadcast } => {
            let is_reader = match (&callee.kind, behind_module(callee)) {
                (ExprKind::Name(callee), _) => READERS.contains(&callee.as_str()) && is_base(callee),
                (_, Some((module, callee))) => READERS.contains(&callee) && is_base(module),
                (_, None) => false,
            };
            let is_plain =
                |argument: &crate::ast::Argument| argument.keyword.is_none() && argument.section == Section::Main;
            reads(callee)
                && arguments.iter().all(|argument| {
                    match is_plain(argument) && (is_reader || *broadcast == Broadcast::Yes) {
                        true => reads_or_is(&argument.value),
                        false => reads(&argument.value),
                    }
                })
        }
        ExprKind::Infix { operator, left, right }
            if operator.value.dotted || matches!(operator.value.symbol.as_str(), "+" | "-" | "*") =>
        {
            reads_or_is(left) && reads_or_is(right)
        }
        ExprKind::Comparison { operands, .. } => operands.iter().all(reads_or_is),
        ExprKind::Assign { target, value, broadcast, .. } => {
            let is_elementwise = *broadcast == Broadcast::Yes;
            !stores_into(target, name) && reads(target) && (reads(value) || (is_elementwise && is_name(value, name)))
        }
        ExprKind::For { iterations, body } => {
            iterations.iter().all(|it| reads(&it.target) && reads_or_is(&it.range)) && body.iter().all(reads)
        }
        ExprKind::Generator { body, clauses, .. } => {
            let clause = |clause: &GeneratorClause| match clause {
                GeneratorClause::For(iterations) => {
                    iterations.iter().all(|it| reads(&it.target) && reads_or_is(&it.range))
                }
                GeneratorClause::If(condition) => reads(condition),
            };
            reads(body) && clauses.iter().all(clause)
        }
        // A view is another name for the array.
        ExprKind::MacroCall { name: called, .. }
            if matches!(called.value.rsplit('.').next(), Some("view" | "views")) =>
        {
            false
        }
        ExprKind::Name(_) => false,
        _ => parts(expr).into_iter().all(reads),
    }
}

/// Whether an assignment to the target changes an element of the array.
fn stores_into(target: &Expr, name: &str) -> bool {
    match &target.kind {
        ExprKind::Index { base, .. } => is_name(base, name),
        ExprKind::Tuple(targets) => targets.iter().any(|target| stores_into(&target.value, name)),
        ExprKind::Typed { value: Some(value), .. } => stores_into(value, name),
        _ => false,
    }
}
