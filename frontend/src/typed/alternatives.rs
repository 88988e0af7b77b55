//! Results of several kinds: what a function gives back depends on the branch taken.
//!
//! ```text
//! if n == 0                           position = 0 or 1
//!     return nothing          ->      gives back one of (nothing, a number) at `position`
//! end
//! return x[1]
//! ```
//!
//! Every path sets all variables of all options, those that it does not give back to zeros. Arrays are made where the
//! source makes them; their extents are known on every path.

use super::arrays::{Keeps, Recipe, value_of};
use super::check::{Checked, Checker};
use super::convert::widen;
use super::error::TypeError;
use super::flow::set;
use super::operator::if_else;
use super::statement::{Place, Tail};
use super::tree::{Block, Expr, LocalId, Role};
use super::value::Value;
use tessella_diagnostics::Span;
use tessella_scalar::{CompareOp, ScalarType};

/// What one side of an `if` gives back: the number of the option, and all of them.
pub(super) struct Side {
    pub(super) position: Expr,
    pub(super) options: Vec<Value>,
}

impl Checker<'_> {
    /// Whether the value of a statement here may be of several kinds.
    pub(super) fn gives_several(&self, place: Place) -> bool {
        place == Place::Last && self.flow.several_results
    }

    /// At the end of a branch that the function may end with: what is computed element by element becomes an array
    /// here, where its names mean what they mean.
    pub(super) fn settled_tail(&mut self, tail: Tail, place: Place) -> Tail {
        if !self.gives_several(place) {
            return tail;
        }
        match tail {
            Tail::Tuple(values, span) => {
                let values: Checked<Vec<Value>> =
                    values.into_iter().map(|value| self.settled_array(value, span)).collect();
                values.map_or(Tail::Failed, |values| Tail::Tuple(values, span))
            }
            Tail::Other(value, span) => match self.settled_array(value, span) {
                Ok(Value::Array(array)) => Tail::Argument(array, span),
                Ok(value) => Tail::Other(value, span),
                Err(_) => Tail::Failed,
            },
            other => other,
        }
    }

    pub(super) fn settled_array(&mut self, value: Value, span: Span) -> Checked<Value> {
        let elements = match value {
            Value::Elements(elements) if self.container(&elements).is_none() => elements,
            other => return Ok(other),
        };
        let array = match &elements.recipe {
            Recipe::Part(part) if part.keeps == Keeps::Fresh => part.array,
            _ => {
                self.made_from_one(&elements, span)?;
                self.materialize("result", &elements, span)?
            }
        };
        Ok(value_of(elements.numbers, array))
    }

    /// [`Checker::join`], or one of several results where the branches' values have no kind in common.
    pub(super) fn join_results(
        &mut self,
        condition: Checked<Expr>,
        (mut then, yes): (Block, Tail),
        (mut otherwise, no): (Block, Tail),
        span: Span,
        place: Place,
    ) -> Tail {
        if !self.gives_several(place) || condition.is_err() || self.have_common_kind(&yes, &no) {
            return self.join(condition, (then, yes), (otherwise, no), span, place);
        }
        match self.one_of((&mut then, yes), (&mut otherwise, no), span) {
            Ok(tail) => {
                // The value is made; what remains is an `if` without one.
                self.join(condition, (then, Tail::Nothing), (otherwise, Tail::Nothing), span, Place::Middle);
                tail
            }
            Err(_) => Tail::Failed,
        }
    }

    /// Whether [`Checker::join`] finds one value, or has to be asked why there is none.
    fn have_common_kind(&self, yes: &Tail, no: &Tail) -> bool {
        let is_argument = |tail: &Tail| match tail {
            Tail::Argument(array, _) => self.local(*array).role == Role::Argument,
            Tail::Choice(..) => true,
            Tail::Nothing | Tail::Scalar(_) | Tail::Tuple(..) | Tail::OneOf(..) | Tail::Other(..) | Tail::Failed => {
                false
            }
        };
        match (yes, no) {
            (Tail::Failed, _) | (_, Tail::Failed) | (Tail::Nothing, Tail::Nothing) => true,
            (yes, no) if yes.throws() || no.throws() => true,
            (Tail::Argument(a, _), Tail::Argument(b, _)) if a == b => true,
            (Tail::Scalar(yes), Tail::Scalar(no)) => yes.ty == no.ty,
            (Tail::Tuple(yes, _), Tail::Tuple(no, _)) => {
                yes.len() == no.len() && yes.iter().zip(no).all(|(yes, no)| alike(yes, no))
            }
            (Tail::Other(yes, _), Tail::Other(no, _)) => alike(yes, no),
            (yes, no) => is_argument(yes) && is_argument(no),
        }
    }

    fn one_of(
        &mut self,
        (then, yes): (&mut Block, Tail),
        (otherwise, no): (&mut Block, Tail),
        span: Span,
    ) -> Checked<Tail> {
        let (yes, no) = (self.side(yes, span)?, self.side(no, span)?);
        let mut options = vec![];
        let mut from_no = vec![None; no.options.len()];
        let mut from_yes = vec![];
        for value in yes.options {
            let partner = (0..no.options.len()).find(|&at| from_no[at].is_none() && alike(&value, &no.options[at]));
            let other = match partner {
                Some(at) => {
                    from_no[at] = Some(options.len());
                    no.options[at].clone()
                }
                None => self.zeros_like(&value, span)?,
            };
            from_yes.push(options.len());
            options.push(self.join_values((&mut *then, value), (&mut *otherwise, other), span)?);
        }
        for (at, value) in no.options.into_iter().enumerate() {
            if from_no[at].is_none() {
                from_no[at] = Some(options.len());
                let zeros = self.zeros_like(&value, span)?;
                options.push(self.join_values((&mut *then, zeros), (&mut *otherwise, value), span)?);
            }
        }
        let position = self.joined("option", ScalarType::I64, span);
        let mode = self.mode;
        then.push(set(position, renumbered(yes.position, &from_yes), mode));
        let from_no: Vec<usize> = from_no.into_iter().flatten().collect();
        otherwise.push(set(position, renumbered(no.position, &from_no), mode));
        Ok(Tail::OneOf(position, options, span))
    }

    pub(super) fn side(&mut self, tail: Tail, span: Span) -> Checked<Side> {
        let one = |value: Value| Side { position: Expr::int64(0, span), options: vec![value] };
        Ok(match tail {
            Tail::OneOf(position, options, _) => Side { position: self.read(position, span), options },
            Tail::Nothing => one(Value::Nothing),
            Tail::Argument(array, _) => one(Value::Array(array)),
            Tail::Scalar(value) => one(Value::Scalar(value)),
            Tail::Tuple(values, _) => one(Value::Tuple(values)),
            Tail::Other(value @ Value::Irrational(..), _) => one(Value::Scalar(self.as_scalar(value, span)?)),
            Tail::Other(value, _) => one(value),
            Tail::Choice(position, arrays, _) => {
                let position = self.read(position, span);
                let at = |array: &LocalId| Expr::int64(i64::from(array.0), span);
                let last = Expr::int64(arrays.len() as i64 - 1, span);
                let position = arrays.iter().enumerate().rev().skip(1).fold(last, |others, (option, array)| {
                    let here = super::compare::compare(CompareOp::Eq, position.clone(), at(array), span);
                    if_else(here, Expr::int64(option as i64, span), others, span)
                });
                Side { position, options: arrays.into_iter().map(Value::Array).collect() }
            }
            Tail::Failed => return Err(self.fail(TypeError::BranchResult { span })),
        })
    }

    /// What the variables of a result hold where it is not given back.
    fn zeros_like(&mut self, value: &Value, span: Span) -> Checked<Value> {
        Ok(match value {
            Value::Nothing => Value::Nothing,
            Value::Scalar(value) => Value::Scalar(zero(value, span)),
            Value::Complex(value) => {
                super::complex::Complex { re: zero(&value.re, span), im: zero(&value.im, span) }.value()
            }
            Value::Array(array) => Value::Array(*array),
            Value::ComplexArray(array) => Value::ComplexArray(*array),
            Value::Tuple(values) => {
                Value::Tuple(values.iter().map(|value| self.zeros_like(value, span)).collect::<Checked<_>>()?)
            }
            Value::Named(names, values) => {
                let values = values.iter().map(|value| self.zeros_like(value, span)).collect::<Checked<_>>()?;
                Value::Named(names.clone(), values)
            }
            Value::Irrational(..)
            | Value::Never
            | Value::Elements(_)
            | Value::Range(_)
            | Value::Type(_)
            | Value::ComplexType(_)
            | Value::Position(_)
            | Value::Places(_)
            | Value::Function(_) => return Err(self.fail(TypeError::BranchResult { span })),
        })
    }
}

fn zero(value: &Expr, span: Span) -> Expr {
    match value.ty {
        ScalarType::Bool => Expr::constant(tessella_scalar::Constant::bool(false), span),
        ty => widen(Expr::number(ty, 0, span), ty),
    }
}

/// The number of an option among others: `table` has the new number of each.
fn renumbered(position: Expr, table: &[usize]) -> Expr {
    let span = position.span;
    let number = |at: usize| Expr::int64(at as i64, span);
    let last = number(table.last().copied().unwrap_or_default());
    table.iter().enumerate().rev().skip(1).fold(last, |others, (at, &new)| {
        let here = super::compare::compare(CompareOp::Eq, position.clone(), number(at), span);
        if_else(here, number(new), others, span)
    })
}

/// Whether variables for one value can hold the other.
pub(super) fn alike(a: &Value, b: &Value) -> bool {
    let all = |a: &[Value], b: &[Value]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b));
    match (a, b) {
        (Value::Nothing, Value::Nothing) => true,
        (Value::Scalar(a), Value::Scalar(b)) => a.ty == b.ty,
        (Value::Complex(a), Value::Complex(b)) => a.half() == b.half(),
        (Value::Array(a), Value::Array(b)) | (Value::ComplexArray(a), Value::ComplexArray(b)) => a == b,
        (Value::Tuple(a), Value::Tuple(b)) => all(a, b),
        (Value::Named(names, a), Value::Named(others, b)) => names == others && all(a, b),
        (_, _) => false,
    }
}
