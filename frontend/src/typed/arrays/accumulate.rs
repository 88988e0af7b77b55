//! `cumsum`, `cumprod`, `accumulate`, `diff`: arrays whose elements are made of several of another array's.
//!
//! Julia adds floats up from the second element on, and adds the first one to what it has:
//!
//! ```text
//! cumsum([a, b, c, d])  ->  [a, a + b, a + (b + c), a + ((b + c) + d)]
//! ```
//!
//! so does the loop here. All else is taken in from the left.

use super::element::part_subscripts;
use super::shape::plus;
use super::{Axis, Elements, Keeps, Numbers, Operation, Part, Recipe};
use crate::ast;
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::convert::widen;
use crate::typed::operator::binary;
use crate::typed::tree::{Block, Expr, ExprKind, LocalId, Mode, Role, StatementKind, Type};
use crate::typed::unsupported::Construct;
use crate::typed::value::{Kind, Value};
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType};

/// How the elements so far are combined with the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The first with the sum of all others.
    FirstLast,
    FromLeft,
}

pub(super) fn is_accumulation(name: &str) -> bool {
    matches!(name, "cumsum" | "cumprod" | "accumulate" | "cumsum!" | "cumprod!")
}

impl Checker<'_> {
    /// A call of one of [`is_accumulation`].
    pub(super) fn accumulation(&mut self, name: &str, given: &[ast::Argument], span: Span) -> Checked<Value> {
        let (mut dims, mut arguments) = (None, vec![]);
        for argument in given {
            match argument.keyword.as_ref().map(|keyword| keyword.value.as_str()) {
                Some("dims") => dims = Some(self.axis_argument(&argument.value)? as usize),
                None if argument.section == ast::Section::Main => arguments.push(&argument.value),
                Some(_) | None => return self.not_yet(Construct::KeywordArgument, argument.value.span),
            }
        }
        let (operator, target, source) = match (name, arguments.as_slice()) {
            ("cumsum", [source]) => (BinaryOp::Add, None, *source),
            ("cumprod", [source]) => (BinaryOp::Mul, None, *source),
            ("cumsum!", [target, source]) => (BinaryOp::Add, Some(*target), *source),
            ("cumprod!", [target, source]) => (BinaryOp::Mul, Some(*target), *source),
            ("accumulate", [operator, source]) => (self.accumulated_by(operator)?, None, *source),
            (_, _) => return Err(self.arity(name, "an array", arguments.len(), span)),
        };
        let target_value = target.map(|target| self.value(target));
        let elements = self.elements_argument(name, source)?;
        let axis = match (dims, elements.rank()) {
            (Some(axis), rank) if axis < rank => axis,
            (None, 1) => 0,
            (_, _) => return Err(self.not_elements(name, &elements, span)),
        };
        if elements.numbers == Numbers::Complex {
            return Err(self.not_elements(name, &elements, span));
        }
        // `cumsum` and `cumprod` widen small integers, `accumulate` does not; products of `Bool`s are `Bool`s.
        let (operator, element) = match (operator, elements.element) {
            (BinaryOp::Mul, ScalarType::Bool) => (BinaryOp::BitAnd, ScalarType::Bool),
            (BinaryOp::Add, ScalarType::Bool) => (operator, ScalarType::I64),
            (BinaryOp::Add | BinaryOp::Mul, ty) if name != "accumulate" => (operator, super::reduce::widened(ty)),
            (_, ty) => (operator, ty),
        };
        let is_cumsum = name.starts_with("cumsum") && elements.rank() == 1;
        let order = if is_cumsum && element.is_float() { Order::FirstLast } else { Order::FromLeft };
        self.writes_statements(span)?;
        let elements = self.frozen_elements(elements)?;
        let extents: Vec<Expr> =
            elements.extents.iter().map(|extent| self.settled("extent", extent.clone()).placed(span)).collect();
        let (place, result) = match (target_value, target) {
            (Some(value), Some(target)) => {
                let value = value?;
                let Some(whole) = self.as_elements(&value, target.span) else {
                    let found = self.kind(&value);
                    let error = super::ArrayError::NotElements { function: name.into(), found, span: target.span };
                    return Err(self.array_error(error));
                };
                self.equal_extents(&whole, &elements, span)?;
                self.same_axes(&[&whole, &elements], span)?;
                match &whole.recipe {
                    Recipe::Part(part) if !part.flat && whole.numbers == Numbers::Real => (part.clone(), value),
                    _ => return Err(self.not_elements(name, &whole, target.span)),
                }
            }
            (_, _) => {
                let array = self.allocate(name, element, &extents, span);
                let whole = self.whole(array, Keeps::Fresh, span);
                match &whole.recipe {
                    Recipe::Part(part) => (part.clone(), Value::Elements(Box::new(whole.clone()))),
                    _ => unreachable!("an array is a part of itself"),
                }
            }
        };
        // What has been taken in so far is alive from one step along the axis to the next: this loop is the innermost.
        let mut order_of_axes: Vec<usize> = (0..extents.len()).filter(|other| *other != axis).collect();
        order_of_axes.insert(0, axis);
        let turned: Vec<Expr> = order_of_axes.iter().map(|axis| extents[*axis].clone()).collect();
        let owner = self.loops.last().copied();
        let total = self.new_local(name, Type::Scalar(element), Role::Variable(owner), span);
        let first = self.new_local("first", Type::Scalar(element), Role::Variable(owner), span);
        let names = (total, first);
        for local in [total, first] {
            self.set(local, Expr::number(element, 0, span), span);
        }
        self.nest(&turned, span, |checker, turned| {
            let mut at = vec![Expr::int64(1, span); turned.len()];
            for (place, axis) in turned.iter().zip(&order_of_axes) {
                at[*axis] = place.clone();
            }
            let value = checker.element(&elements, &at)?;
            let value = widen(checker.as_scalar(value, span)?, element);
            let value = checker.hold("element", value);
            let is_first = compare(CompareOp::Eq, at[axis].clone(), Expr::int64(1, span), span);
            let then = checker.taken_first(order, names, value.clone());
            let otherwise = checker.taken_in(operator, names.0, value);
            checker.emit(StatementKind::If { condition: is_first.clone(), then, otherwise }, span);
            let so_far = checker.read(total, span);
            let so_far = match order {
                Order::FromLeft => so_far,
                Order::FirstLast => {
                    let first = checker.read(first, span);
                    let sum = binary(BinaryOp::Add, first.clone(), so_far, span);
                    let (condition, yes, no) = (Box::new(is_first), Box::new(first), Box::new(sum));
                    Expr { kind: ExprKind::Select { condition, yes, no }, ty: element, span }
                }
            };
            let Type::Array { element, .. } = checker.local(place.array).ty else {
                unreachable!("parts are of arrays")
            };
            let declared = checker.local(place.array).span;
            let value = checker.coerce(so_far, element, Some(declared))?;
            let mode = Mode { inbounds: true, ..checker.mode };
            let (array, subscripts) = (place.array, part_subscripts(&place, &at));
            checker.emit(StatementKind::Store { array, subscripts, value, label: None, mode }, span);
            Ok(())
        })?;
        Ok(result)
    }

    fn accumulated_by(&mut self, operator: &ast::Expr) -> Checked<BinaryOp> {
        match self.library_name(operator) {
            Some("+") => Ok(BinaryOp::Add),
            Some("*") => Ok(BinaryOp::Mul),
            Some("max") => Ok(BinaryOp::Max),
            Some("min") => Ok(BinaryOp::Min),
            _ => self.not_yet(Construct::Reduction, operator.span),
        }
    }

    fn not_elements(&mut self, name: &str, elements: &Elements, span: Span) -> crate::typed::check::Reported {
        let rank = elements.rank() as u32;
        let found = match elements.numbers {
            Numbers::Real => Kind::Array { element: elements.element, rank },
            Numbers::Complex => Kind::ComplexArray { half: elements.element, rank },
        };
        self.array_error(super::ArrayError::NotElements { function: name.into(), found, span })
    }

    fn set(&mut self, target: LocalId, value: Expr, span: Span) {
        let mode = self.mode;
        self.emit(StatementKind::Set { target, value, label: None, mode }, span);
    }

    /// The statements for the first element along the axis.
    fn taken_first(&mut self, order: Order, (total, first): (LocalId, LocalId), value: Expr) -> Block {
        let (block, ()) = self.in_block(|checker| match order {
            Order::FromLeft => checker.set(total, value.clone(), value.span),
            Order::FirstLast => {
                let (ty, span) = (value.ty, value.span);
                checker.set(first, value, span);
                // Adding it changes no number, the sign of a zero included.
                let nothing = match ty {
                    ScalarType::F32 => Constant::f32(-0.0),
                    _ => Constant::f64(-0.0),
                };
                checker.set(total, Expr::constant(nothing, span), span);
            }
        });
        block
    }

    fn taken_in(&mut self, operator: BinaryOp, total: LocalId, value: Expr) -> Block {
        let (block, ()) = self.in_block(|checker| {
            let span = value.span;
            let before = checker.read(total, span);
            checker.set(total, binary(operator, before, value, span), span);
        });
        block
    }

    /// `diff(x)` of a vector.
    pub(super) fn differences(&mut self, array: &ast::Expr, span: Span) -> Checked<Value> {
        let elements = self.elements_argument("diff", array)?;
        if elements.rank() != 1 {
            return Err(self.not_elements("diff", &elements, span));
        }
        let is_part = matches!(&elements.recipe, Recipe::Part(part) if !part.flat);
        let elements = if is_part { elements } else { self.fresh(&elements)? };
        let Recipe::Part(part) = &elements.recipe else { return Err(self.not_elements("diff", &elements, span)) };
        let extent = self.settled("extent", elements.extents[0].clone()).placed(span);
        let extents = vec![plus(extent, -1)];
        let moved = |by: i64| {
            let along = |axis: &Axis| match axis {
                Axis::At(at) => Axis::At(at.clone()),
                Axis::Along { start, step, .. } => {
                    Axis::Along { start: plus(start.clone(), by * step), step: *step, whole: false }
                }
            };
            let part = Part { axes: part.axes.iter().map(along).collect(), ..part.clone() };
            Elements { extents: extents.clone(), recipe: Recipe::Part(part), ..elements.clone() }
        };
        let recipe = Recipe::Apply { operation: Operation::Binary("-".into()), operands: vec![moved(1), moved(0)] };
        let differences = self.elements(extents.clone(), recipe, span)?;
        Ok(Value::Elements(Box::new(self.copied(differences, span))))
    }
}
