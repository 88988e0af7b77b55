//! Assignments of complex values: two stores, or two variables.

use super::{Complex, ComplexError};
use crate::typed::check::{Checked, Checker};
use crate::typed::error::TypeError;
use crate::typed::scope::{State, VariableId};
use crate::typed::tree::{Expr, ExprKind, Label, LocalId, Role, StatementKind, Type};
use crate::typed::value::Value;
use tessella_diagnostics::Span;
use tessella_scalar::ScalarType;

impl Checker<'_> {
    /// `name = value` of a complex value.
    pub(in crate::typed) fn bind_complex(
        &mut self,
        variable: VariableId,
        value: Complex,
        at: Span,
        span: Span,
    ) -> Checked<Value> {
        let known = &self.variables[variable.0];
        let straight = self.is_straight(variable);
        let (re, im) = match known.state.clone() {
            State::Poisoned => return Err(crate::typed::check::Reported),
            State::Complex(re, im) if !straight => {
                let Type::Scalar(half) = self.local(re).ty else { unreachable!("halves are scalars") };
                if half != value.half() {
                    return Err(self.complex_type_changes(variable, &with_article(half), &value, span));
                }
                (re, im)
            }
            State::Scalar(id) if !straight => {
                let first = crate::typed::value::Kind::from(self.local(id).ty).to_string();
                return Err(self.complex_type_changes(variable, &first, &value, span));
            }
            State::Array(_) if !straight => {
                return self.not_yet(crate::typed::unsupported::Construct::ArrayVariable, span);
            }
            State::Alias(was) if !straight => {
                let (name, initial) = (known.name.clone(), known.span);
                let was = self.kind(&was);
                return Err(self.fail(TypeError::AliasAssigned { name, initial, was, assignment: span }));
            }
            State::Unassigned | State::Scalar(_) | State::Complex(..) | State::Array(_) | State::Alias(_) => {
                if known.declared.is_some() {
                    return Err(self.complex_error(ComplexError::NotReal { span }));
                }
                let (name, owner) = (crate::typed::jumps::shown(&known.name).to_string(), known.owner);
                let pair = self.new_complex(&name, value.half(), Role::Variable(owner), at);
                self.variables[variable.0].span = span;
                self.variables[variable.0].state = State::Complex(pair.0, pair.1);
                pair
            }
        };
        let in_loop = self.variables[variable.0].owner != self.loops.last().copied();
        for half in [re, im] {
            self.note_set(half, in_loop);
        }
        // The imaginary half is computed from the variable's old value.
        let second = match value.im.any(&|part| matches!(part.kind, ExprKind::Local(id) if id == re)) {
            true => self.hold("im", value.im),
            false => value.im,
        };
        let (first_label, second_label) = self.labels_of_halves();
        let mode = self.mode;
        self.emit(StatementKind::Set { target: re, value: value.re, label: first_label, mode }, span);
        self.emit(StatementKind::Set { target: im, value: second, label: second_label, mode }, span);
        Ok(Complex { re: self.read(re, span), im: self.read(im, span) }.value())
    }

    fn complex_type_changes(
        &mut self,
        variable: VariableId,
        first: &str,
        value: &Complex,
        assignment: Span,
    ) -> crate::typed::check::Reported {
        let (name, initial) = (self.variables[variable.0].name.clone(), self.variables[variable.0].span);
        let (first, then) = (first.to_string(), with_article(value.half()));
        self.complex_error(ComplexError::TypeChanges { name, initial, first, assignment, then })
    }

    /// Two variables for the halves of `name`.
    pub(in crate::typed) fn new_complex(
        &mut self,
        name: &str,
        half: ScalarType,
        role: Role,
        span: Span,
    ) -> (LocalId, LocalId) {
        // The source names the whole number.
        let re = self.new_local(&format!("{name}_re"), Type::Scalar(half), role, span);
        (re, self.new_local(&format!("{name}_im"), Type::Scalar(half), role, span))
    }

    /// A variable that starts with this value.
    pub(in crate::typed) fn complex_variable(&mut self, name: &str, value: Complex, span: Span) -> State {
        let owner = self.loops.last().copied();
        let (re, im) = self.new_complex(name, value.half(), Role::Variable(owner), span);
        for (target, value) in [(re, value.re), (im, value.im)] {
            self.emit(StatementKind::Set { target, value, label: None, mode: Default::default() }, span);
            self.note_set(target, false);
        }
        State::Complex(re, im)
    }

    /// `array[subscripts...] = value` of a complex array; the subscripts begin with the number of the half.
    pub(in crate::typed) fn store_complex(
        &mut self,
        (array, subscripts): (LocalId, Vec<Expr>),
        value: Value,
        span: Span,
    ) -> Checked<Value> {
        let value = if self.keep { self.frozen(value) } else { value };
        let stored = self.make_complex(value.clone(), self.half_type(array), span)?;
        let place = |half: i64| {
            let rest = subscripts.iter().skip(1).cloned();
            std::iter::once(Expr::int64(half, span)).chain(rest).collect::<Vec<Expr>>()
        };
        // The store of the real half must not change what the imaginary one is computed from.
        let second = match stored.im.any(&|part| reads_real_half(part, array)) {
            true => self.hold("im", stored.im),
            false => stored.im,
        };
        let (first_label, second_label) = self.labels_of_halves();
        let mode = self.mode;
        let real = StatementKind::Store { array, subscripts: place(1), value: stored.re, label: first_label, mode };
        let imaginary = StatementKind::Store { array, subscripts: place(2), value: second, label: second_label, mode };
        self.emit(real, span);
        self.emit(imaginary, span);
        Ok(value)
    }

    /// `@comp S z = ...` names the two halves `S_re` and `S_im`.
    fn labels_of_halves(&mut self) -> (Option<Label>, Option<Label>) {
        let Some(label) = self.label.take() else { return (None, None) };
        let mut half = |suffix: &str| {
            let name = format!("{}_{suffix}", label.name);
            if let Some(&first) = self.labels.get(&name) {
                self.fail(TypeError::DuplicateLabel { label: name.clone(), span: label.span, first });
            }
            self.labels.insert(name.clone(), label.span);
            Some(Label { name, span: label.span })
        };
        (half("re"), half("im"))
    }
}

/// ``a `ComplexF64` ``.
fn with_article(half: ScalarType) -> String {
    format!("a `{}`", super::type_name(half))
}

/// Whether the expression itself reads a real half of the array.
fn reads_real_half(part: &Expr, array: LocalId) -> bool {
    match &part.kind {
        ExprKind::Load { array: read, subscripts, .. } if *read == array => {
            subscripts.first().and_then(crate::typed::convert::constant_integer).is_none_or(|half| half == 1)
        }
        _ => false,
    }
}
