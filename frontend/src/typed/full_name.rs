//! Functions by their full names, `Base.exp(x)`: those of the library, whatever the source calls `exp`.
//!
//! A call by a full name is one by the plain name where the name is the library's. Where it is a variable or a function of the user, the name
//! means the library's while the call is checked, and the arguments call the user's [`own`].

use super::check::Checker;
use super::scope::{LIBRARY, VariableId};
use crate::ast::{Argument, Expr, ExprKind, Name, Section};
use tessella_diagnostics::Span;

/// Modules whose functions may be called by their full names.
const MODULES: [&str; 5] = ["Base", "Core", "Math", "LinearAlgebra", "Statistics"];

/// The module that Tessella's own calls of functions of Base name; no source can mean it.
const ANY_MODULE: &str = "#library";

/// What the user's own name begins with inside a call of the library's function of this name.
const OWN: &str = "#own ";

/// The user's own name in the words of the source.
pub(super) fn own(name: &str) -> &str {
    name.strip_prefix(OWN).unwrap_or(name)
}

/// What the user's own name is inside a call of the library's function of this name.
pub(super) fn as_own(name: &str) -> String {
    format!("{OWN}{name}")
}

/// A function of the library as an expression.
pub(super) fn library_function(name: &str, span: Span) -> Expr {
    let base = Box::new(Expr { kind: ExprKind::Name(ANY_MODULE.into()), span });
    Expr { kind: ExprKind::Field { base, field: Name { value: name.into(), span } }, span }
}

/// The name behind that of a module, if no variable can be meant.
pub(super) fn behind_module(expr: &Expr) -> Option<(&str, &str)> {
    let ExprKind::Field { base, field } = &expr.kind else { return None };
    match &base.kind {
        ExprKind::Name(module) if MODULES.contains(&module.as_str()) || module == ANY_MODULE => {
            Some((module, &field.value))
        }
        _ => None,
    }
}

/// The name of a function, plainly or in full.
pub(super) fn called(callee: &Expr) -> Option<&str> {
    match &callee.kind {
        ExprKind::Name(name) => Some(name),
        _ => behind_module(callee).map(|(_, name)| name),
    }
}

impl Checker<'_> {
    /// The name of the library's function that a full name means.
    pub(super) fn full_name<'e>(&self, expr: &'e Expr) -> Option<&'e str> {
        behind_module(expr).filter(|(module, _)| self.lookup(module).is_none()).map(|(_, name)| name)
    }

    /// The name of the function that an expression names, plainly or in full, if it is none of the user's.
    pub(super) fn library_name<'e>(&self, expr: &'e Expr) -> Option<&'e str> {
        match &expr.kind {
            ExprKind::Name(name) => {
                (self.lookup(name).is_none() && self.user_function(name).is_none()).then_some(name.as_str())
            }
            _ => self.full_name(expr),
        }
    }

    /// Whether the name means the library's here, though the user has something of the same name.
    pub(super) fn is_librarys(&self, name: &str) -> bool {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)) == Some(&LIBRARY)
    }

    /// Checks a call of a function of the library, or its name alone, whatever else is called so.
    pub(super) fn by_full_name<T>(
        &mut self,
        name: &str,
        arguments: &[Argument],
        check: impl FnOnce(&mut Self, &[Argument]) -> T,
    ) -> T {
        let variable = self.lookup(name);
        let is_users = variable.is_some()
            || self.user_function(name).is_some()
            || self.type_parameters.contains_key(name)
            || self.constants.iter().any(|constant| constant.name == name);
        if !is_users || self.is_librarys(name) {
            return check(self, arguments);
        }
        let own = as_own(name);
        let mut arguments = arguments.to_vec();
        arguments.iter_mut().for_each(|argument| rename_argument(argument, name, &own));
        let around = self.scopes.len();
        let before = self.let_mean(name, Some(LIBRARY));
        let own_before = self.let_mean(&own, variable);
        let checked = check(self, &arguments);
        debug_assert_eq!(around, self.scopes.len(), "scopes are opened and closed in pairs");
        self.let_mean(name, before);
        self.let_mean(&own, own_before);
        checked
    }

    /// Lets a name mean something else in the innermost scope; what it meant before.
    fn let_mean(&mut self, name: &str, variable: Option<VariableId>) -> Option<VariableId> {
        let scope = self.scopes.last_mut().expect("a scope is open while a function is checked");
        match variable {
            Some(variable) => scope.insert(name.to_string(), variable),
            None => scope.remove(name),
        }
    }
}

/// `f(; name)` is `f(; name = name)`, and keeps the first of the two.
fn rename_argument(argument: &mut Argument, name: &str, own: &str) {
    if argument.section == Section::Keywords
        && argument.keyword.is_none()
        && matches!(&argument.value.kind, ExprKind::Name(found) if found == name)
    {
        argument.keyword = Some(Name { value: name.to_string(), span: argument.value.span });
    }
    rename(&mut argument.value, name, own);
}

/// Gives a name another one wherever it stands in the expression.
fn rename(expr: &mut Expr, name: &str, own: &str) {
    let is_it = |found: &String| found == name;
    match &mut expr.kind {
        ExprKind::Name(found) if is_it(found) => *found = own.to_string(),
        ExprKind::Call { callee, arguments, .. } => {
            rename(callee, name, own);
            return arguments.iter_mut().for_each(|argument| rename_argument(argument, name, own));
        }
        ExprKind::Tuple(elements) => {
            return elements.iter_mut().for_each(|element| rename_argument(element, name, own));
        }
        ExprKind::Function(function) => {
            let parameters = function.parameters.iter_mut().filter_map(|parameter| parameter.name.as_mut());
            for found in parameters.chain(&mut function.name).filter(|found| is_it(&found.value)) {
                found.value = own.to_string();
            }
        }
        _ => {}
    }
    super::walk::parts_mut(expr).into_iter().for_each(|part| rename(part, name, own));
}
