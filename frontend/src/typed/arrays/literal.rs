//! Arrays written out: `[a, b, c]`, `[a b; c d]`, `T[a, b]`.

use super::{ArrayError, Keeps, Numbers, Operation, Recipe};
use crate::ast;
use crate::typed::check::{Checked, Checker};
use crate::typed::complex::Complex;
use crate::typed::tree::{Expr, Mode, StatementKind};
use crate::typed::unsupported::Construct;
use crate::typed::value::{Kind, Value};
use tessella_diagnostics::Span;
use tessella_scalar::ScalarType;

impl Checker<'_> {
    /// `[a, b, c]`.
    pub(in crate::typed) fn vector_literal(&mut self, elements: &[ast::Expr], span: Span) -> Checked<Value> {
        let rows: Vec<Vec<ast::Expr>> = elements.iter().map(|element| vec![element.clone()]).collect();
        self.literal(&rows, &[elements.len()], None, span)
    }

    /// `[a b; c d]`.
    pub(in crate::typed) fn matrix_literal(&mut self, rows: &[Vec<ast::Expr>], span: Span) -> Checked<Value> {
        let columns = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != columns) {
            let (left, right) = (format!("{columns} columns"), "rows of other lengths".to_string());
            return Err(self.array_error(ArrayError::Mismatch { left, right, span }));
        }
        match columns {
            // `[a; b]` is a vector.
            1 => self.literal(rows, &[rows.len()], None, span),
            _ => self.literal(rows, &[rows.len(), columns], None, span),
        }
    }

    /// `T[a, b]`, `T[body for x in a]`.
    pub(in crate::typed) fn typed_literal(
        &mut self,
        ty: (ScalarType, Numbers),
        elements: &[ast::Argument],
        span: Span,
    ) -> Checked<Value> {
        if let [
            ast::Argument {
                value: ast::Expr { kind: ast::ExprKind::Generator { body, clauses, .. }, span: at }, ..
            },
        ] = elements
        {
            let given = self.comprehension(body, clauses, *at)?;
            if ty.1 == Numbers::Complex || given.numbers == Numbers::Complex {
                return match given.element == ty.0 && given.numbers == ty.1 {
                    true => Ok(Value::Elements(Box::new(given))),
                    false => self.not_yet(Construct::Comprehension, span),
                };
            }
            let extents = given.extents.clone();
            let recipe = Recipe::Apply { operation: Operation::Convert(ty.0), operands: vec![given] };
            let converted = self.elements(extents, recipe, span)?;
            return Ok(Value::Elements(Box::new(self.copied(converted, span))));
        }
        let rows: Vec<Vec<ast::Expr>> = elements.iter().map(|element| vec![element.value.clone()]).collect();
        self.literal(&rows, &[rows.len()], Some(ty), span)
    }

    /// An array of numbers of one type.
    pub(super) fn literal_of(&mut self, values: Vec<Value>, span: Span) -> Checked<crate::typed::tree::LocalId> {
        self.writes_statements(span)?;
        let mut scalars = vec![];
        for value in values {
            scalars.push(self.as_scalar(value, span)?);
        }
        let ty = scalars[0].ty;
        if scalars.iter().any(|scalar| scalar.ty != ty) {
            return self.not_yet(Construct::Iterator, span);
        }
        let array = self.allocate("elements", ty, &[Expr::int64(scalars.len() as i64, span)], span);
        let mode = Mode { inbounds: true, ..self.mode };
        for (at, value) in scalars.into_iter().enumerate() {
            let subscripts = vec![Expr::int64(at as i64 + 1, span)];
            self.emit(StatementKind::Store { array, subscripts, value, label: None, mode }, span);
        }
        Ok(array)
    }

    /// An array of all the elements, which have the given type or else a common one.
    fn literal(
        &mut self,
        rows: &[Vec<ast::Expr>],
        extents: &[usize],
        ty: Option<(ScalarType, Numbers)>,
        span: Span,
    ) -> Checked<Value> {
        self.writes_statements(span)?;
        let mut values = vec![];
        let mut weak = 0;
        for (row, elements) in rows.iter().enumerate() {
            for (column, element) in elements.iter().enumerate() {
                let value = match self.value(element)? {
                    value @ Value::Complex(_) => value,
                    Value::Array(_) | Value::Elements(_) | Value::ComplexArray(_) => {
                        return self.not_yet(Construct::Concatenation, span);
                    }
                    other => {
                        weak += usize::from(matches!(other, Value::Irrational(..)));
                        Value::Scalar(self.as_scalar(other, element.span)?)
                    }
                };
                values.push((row, column, self.frozen(value), element.span));
            }
        }
        let common = values.iter().map(|(_, _, value, _)| match self.kind(value) {
            Kind::Complex(half) => (half, Numbers::Complex),
            Kind::Scalar(ty) => (ty, Numbers::Real),
            _ => unreachable!("the elements are numbers"),
        });
        let common = common.reduce(|(left, a), (right, b)| {
            let numbers = if a == Numbers::Complex { a } else { b };
            (crate::typed::promote(left, right), numbers)
        });
        let of_type = |ty| {
            values.iter().filter(|(_, _, value, _)| matches!(value, Value::Scalar(value) if value.ty == ty)).count()
        };
        let (singles, doubles) = (of_type(ScalarType::F32), of_type(ScalarType::F64));
        let common = match ty.is_none() && weak > 0 && singles > 0 && doubles == weak {
            // `π` takes their precision; of two such constants, or beside integers, it depends on their order.
            true if weak == 1 && singles + weak == values.len() => Some((ScalarType::F32, Numbers::Real)),
            true => return self.not_yet(Construct::LocalArray, span),
            false => common,
        };
        let Some((element, numbers)) = ty.or(common) else { return self.not_yet(Construct::LocalArray, span) };
        let mut sizes: Vec<Expr> = extents.iter().map(|&extent| Expr::int64(extent as i64, span)).collect();
        if numbers == Numbers::Complex {
            sizes.insert(0, Expr::int64(2, span));
        }
        let array = self.allocate("elements", element, &sizes, span);
        let mode = Mode { inbounds: false, ..self.mode };
        for (row, column, value, at) in values {
            let mut place = vec![Expr::int64(row as i64 + 1, at), Expr::int64(column as i64 + 1, at)];
            place.truncate(extents.len());
            let stores = match numbers {
                Numbers::Real => {
                    let value = self.as_scalar(value, at)?;
                    vec![(place, self.coerce(value, element, None)?)]
                }
                Numbers::Complex => {
                    let Complex { re, im } = self.make_complex(value, element, at)?;
                    let half = |number| std::iter::once(Expr::int64(number, at)).chain(place.iter().cloned()).collect();
                    vec![(half(1), re), (half(2), im)]
                }
            };
            for (subscripts, value) in stores {
                self.emit(StatementKind::Store { array, subscripts, value, label: None, mode }, at);
            }
        }
        Ok(Value::Elements(Box::new(self.whole_of(numbers, array, Keeps::Fresh, span))))
    }
}
