//! Named tuples: `p = (a = x, b = y)`, and `p.a`.

use super::check::{Checked, Checker};
use super::error::TypeError;
use super::unsupported::Construct;
use super::value::Value;
use crate::ast;
use tessella_diagnostics::Span;

/// Whether a later field of the same name replaces this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// `a = x`: no other field may be written with this name.
    Written,
    /// One of `t...`.
    Spread,
}

impl Checker<'_> {
    /// `(a = x, b = y)`, `(; a, b = y, t...)`.
    pub(super) fn named_tuple(&mut self, elements: &[ast::Argument]) -> Checked<Value> {
        let mut fields: Vec<(String, Value, Origin)> = vec![];
        for element in elements {
            let span = element.value.span;
            let value = |checker: &mut Self| checker.value(&element.value);
            let more = match (&element.keyword, &element.value.kind) {
                (Some(keyword), _) => vec![(keyword.value.clone(), value(self)?, Origin::Written)],
                (None, ast::ExprKind::Name(name)) => vec![(name.clone(), value(self)?, Origin::Written)],
                (None, ast::ExprKind::Field { field, .. }) => {
                    vec![(field.value.clone(), value(self)?, Origin::Written)]
                }
                (None, ast::ExprKind::Splat(inner)) => match self.value(inner)? {
                    Value::Named(names, values) => {
                        names.into_iter().zip(values).map(|(name, value)| (name, value, Origin::Spread)).collect()
                    }
                    _ => return self.not_yet(Construct::Splat, span),
                },
                (None, _) => return self.not_yet(Construct::Other, span),
            };
            for (name, value, origin) in more {
                match fields.iter_mut().find(|(known, _, _)| *known == name) {
                    Some((_, _, Origin::Written)) if origin == Origin::Written => {
                        return Err(self.fail(TypeError::DuplicateField { name, span }));
                    }
                    Some(field) => (field.1, field.2) = (value, origin),
                    None => fields.push((name, value, origin)),
                }
            }
        }
        let (names, values) = fields.into_iter().map(|(name, value, _)| (name, value)).unzip();
        Ok(Value::Named(names, values))
    }

    /// `p.a` of a named tuple, `z.re` of a complex number.
    pub(super) fn field(&mut self, base: &ast::Expr, field: &ast::Name, span: Span) -> Checked<Value> {
        // A module's name is none of the function's.
        if let ast::ExprKind::Name(name) = &base.kind
            && self.lookup(name).is_none()
            && !self.constants.iter().any(|constant| constant.name == *name)
        {
            return self.not_yet(Construct::Field, span);
        }
        match self.value(base)? {
            Value::Named(names, values) => {
                let position = names.iter().position(|name| *name == field.value);
                match position.and_then(|at| values.get(at).cloned()) {
                    Some(value) => Ok(value),
                    None => {
                        let name = field.value.clone();
                        Err(self.fail(TypeError::NoField { name, fields: names, span: field.span }))
                    }
                }
            }
            Value::Complex(value) if field.value == "re" => Ok(Value::Scalar(value.re)),
            Value::Complex(value) if field.value == "im" => Ok(Value::Scalar(value.im)),
            _ => self.not_yet(Construct::Field, span),
        }
    }
}
