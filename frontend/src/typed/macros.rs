//! The macros that mean something here: `@comp`, `@inbounds`, `@simd`, `@fastmath`, `@tessella`.

use super::check::{Checked, Checker};
use super::error::TypeError;
use super::statement::{Place, Tail};
use super::tree::{Label, Simd};
use super::unsupported::Construct;
use super::value::Value;
use crate::ast;
use tessella_diagnostics::Span;

const KNOWN: [&str; 9] = ["comp", "inbounds", "simd", "fastmath", "tessella", "views", "view", "assert", "evalpoly"];

/// Macros before a definition that tell Julia's compiler something, and change no result.
const HINTS: [&str; 8] = ["inline", "noinline", "propagate_inbounds", "pure", "inbounds", "eval", "doc", "everywhere"];

impl Checker<'_> {
    /// What the macros before a definition say of its body, which is checked next.
    pub(super) fn macros_before(&mut self, function: &ast::Function) {
        for name in &function.macros {
            match base_name(&name.value) {
                "fastmath" => self.mode.fastmath = true,
                "views" => self.views = true,
                base if HINTS.contains(&base) => {}
                "comp" | "simd" => {
                    let _: Checked<()> = self.malformed(name, name.span, "a statement inside of the function");
                }
                _ => {
                    let _: Checked<()> = self.macro_refused(name, name.span);
                }
            }
        }
    }

    pub(super) fn macro_statement(
        &mut self,
        name: &ast::Name,
        arguments: &[ast::Expr],
        span: Span,
        place: Place,
    ) -> Tail {
        let checked = match base_name(&name.value) {
            "inbounds" => match arguments {
                [statement] => {
                    let before = std::mem::replace(&mut self.mode.inbounds, true);
                    let tail = self.statement(statement, place);
                    self.mode.inbounds = before;
                    return tail;
                }
                _ => self.malformed(name, span, "one statement"),
            },
            "fastmath" => match arguments {
                [statement] => {
                    let before = std::mem::replace(&mut self.mode.fastmath, true);
                    let tail = self.statement(statement, place);
                    self.mode.fastmath = before;
                    return tail;
                }
                _ => self.malformed(name, span, "one statement"),
            },
            "simd" => self.simd(name, arguments, span).map(|()| Tail::Nothing),
            "comp" => match arguments {
                [ast::Expr { kind: ast::ExprKind::Name(label), span: label_span }, statement] => {
                    return self.labelled(label, *label_span, statement, place);
                }
                _ => self.malformed(name, span, "a name and a statement, as in `@comp S A[i] = B[i]`"),
            },
            // Options (`target = :cuda`) come before the code.
            "tessella" => match arguments.last() {
                Some(statement) => return self.statement(statement, place),
                None => self.malformed(name, span, "a statement"),
            },
            "." | "__dot__" => match arguments {
                [statement] => return self.statement(&super::arrays::dotted(statement), place),
                _ => self.malformed(name, span, "one statement"),
            },
            "assert" => match arguments {
                [condition] => self.asserted(condition, None, span),
                [condition, message] => self.asserted(condition, Some(message), span),
                _ => self.malformed(name, span, "a condition, and a message if you like"),
            },
            "views" => match arguments {
                [statement] => return self.with_views(|checker| checker.statement(statement, place)),
                _ => self.malformed(name, span, "one statement"),
            },
            base if HINTS.contains(&base)
                && matches!(arguments, [ast::Expr { kind: ast::ExprKind::Function(_), .. }]) =>
            {
                return self.statement(&arguments[0], place);
            }
            _ => self.macro_refused(name, span),
        };
        checked.unwrap_or(Tail::Failed)
    }

    /// A macro call inside an expression.
    pub(super) fn macro_value(&mut self, name: &ast::Name, arguments: &[ast::Expr], span: Span) -> Checked<Value> {
        match (base_name(&name.value), arguments) {
            ("inbounds", [value]) => {
                let before = std::mem::replace(&mut self.mode.inbounds, true);
                let value = self.value(value);
                self.mode.inbounds = before;
                value
            }
            ("fastmath", [value]) if self.mode.fastmath => self.value(value),
            ("fastmath", [value]) => {
                self.mode.fastmath = true;
                // A value of its own, so that the rest of the expression keeps its strict meaning.
                let value = self.value(value).map(|value| match value {
                    Value::Scalar(value) if self.open_constants.is_empty() => Value::Scalar(self.hold("fast", value)),
                    value => value,
                });
                self.mode.fastmath = false;
                value
            }
            ("evalpoly", _) => self.evalpoly_macro(arguments, span),
            ("fastmath", _) => self.malformed(name, span, "one expression"),
            ("." | "__dot__", [value]) => self.value(&super::arrays::dotted(value)),
            ("view" | "views", [value]) => self.with_views(|checker| checker.value(value)),
            ("inbounds", _) => self.malformed(name, span, "one expression"),
            ("comp" | "simd" | "tessella", _) => self.malformed(name, span, "to be in front of a statement"),
            _ => self.macro_refused(name, span),
        }
    }

    fn macro_refused<T>(&mut self, name: &ast::Name, span: Span) -> Checked<T> {
        match base_name(&name.value) {
            "assert" | "show" | "info" | "warn" | "error" | "debug" | "printf" | "time" => {
                self.not_yet(Construct::Effect, span)
            }
            base => {
                let suggestion = tessella_diagnostics::nearest(base, KNOWN);
                Err(self.fail(TypeError::UnknownMacro { name: name.value.clone(), span: name.span, suggestion }))
            }
        }
    }

    fn malformed<T>(&mut self, name: &ast::Name, span: Span, expected: &'static str) -> Checked<T> {
        Err(self.fail(TypeError::MalformedMacro { name: name.value.clone(), span, expected }))
    }

    fn simd(&mut self, name: &ast::Name, arguments: &[ast::Expr], span: Span) -> Checked<()> {
        let target = match arguments {
            [target] => target,
            [ast::Expr { kind: ast::ExprKind::Name(option), .. }, target] if option == "ivdep" => target,
            _ => return self.malformed(name, span, "a `for` loop"),
        };
        match &target.kind {
            ast::ExprKind::For { iterations, body } if iterations.len() == 1 => {
                self.loop_statement(iterations, body, Simd::Before, target.span)
            }
            ast::ExprKind::For { .. } => self.malformed(name, span, "a `for` loop with one iterator"),
            ast::ExprKind::MacroCall { name: inner, arguments }
                if base_name(&inner.value) == "inbounds" && arguments.len() == 1 =>
            {
                let before = std::mem::replace(&mut self.mode.inbounds, true);
                let checked = self.simd(name, arguments, span);
                self.mode.inbounds = before;
                checked
            }
            _ => self.malformed(name, span, "a `for` loop"),
        }
    }

    fn labelled(&mut self, label: &str, label_span: Span, statement: &ast::Expr, place: Place) -> Tail {
        // A statement that is checked several times, as parts of several calls or turns of a loop, has several names.
        let copied = self.flow.copy > 0 || !self.calls.is_empty();
        let label = match copied && self.labels.contains_key(label) {
            true => (2..).map(|copy: u64| format!("{label}_{copy}")).find(|name| !self.labels.contains_key(name)),
            false => None,
        }
        .unwrap_or_else(|| label.to_string());
        let label = label.as_str();
        if let Some(&first) = self.labels.get(label) {
            self.fail(TypeError::DuplicateLabel { label: label.into(), span: label_span, first });
        } else {
            self.labels.insert(label.into(), label_span);
        }
        if let Some(outer) = self.label.take() {
            let (label, label_span) = (outer.name, outer.span);
            self.fail(TypeError::LabelMisplaced { label, label_span, span: statement.span });
        }
        self.label = Some(Label { name: label.into(), span: label_span });
        let tail = self.statement(statement, place);
        self.label = None;
        tail
    }
}

/// `simd` of `Base.simd`.
fn base_name(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((_, base)) if !base.is_empty() => base,
        Some(_) | None => name,
    }
}
