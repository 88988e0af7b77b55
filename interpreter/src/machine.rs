//! Statements and expressions, executed in source order.

use crate::error::RunError;
use crate::integer::Undefined;
use crate::operators;
use crate::value::{Array, Returned, Value};
use tessella_diagnostics::Span;
use tessella_frontend::typed::print::type_name;
use tessella_frontend::typed::tree::{
    Expr, ExprKind, Function, LocalId, Range, Result as Outcome, Statement, StatementKind, Type,
};
use tessella_scalar::{BinaryOp, Constant, ScalarType};

/// The most elements of an array that is made for a branch which is not taken.
const MOST_SKIPPED: f64 = 4e6;

/// The number of steps that [`run`] allows: some minutes' worth.
pub const DEFAULT_STEPS: u64 = 1 << 36;

/// Runs the function on the arguments, which it may change; gives what it returns: for one of several arguments its
/// position. Elements of a new array that nothing was stored into are zero.
pub fn run(function: &Function, arguments: &mut [Value]) -> Result<Returned, RunError> {
    run_within(DEFAULT_STEPS, function, arguments)
}

/// [`run`], stopped after `steps` statements and expressions.
pub fn run_within(steps: u64, function: &Function, arguments: &mut [Value]) -> Result<Returned, RunError> {
    check_arguments(function, arguments)?;
    let mut scalars = vec![None; function.locals.len()];
    let mut positions = vec![usize::MAX; function.locals.len()];
    for (position, (&id, argument)) in function.arguments.iter().zip(arguments.iter()).enumerate() {
        positions[id.0 as usize] = position;
        if let Value::Scalar(constant) = argument {
            scalars[id.0 as usize] = Some(*constant);
        }
    }
    let made = function.locals.iter().map(|_| None).collect();
    let mut machine = Machine { function, arguments, scalars, positions, made, steps, left: steps };
    machine.block(&function.body)?;
    machine.returned(&function.result)
}

fn check_arguments(function: &Function, arguments: &[Value]) -> Result<(), RunError> {
    if arguments.len() != function.arguments.len() {
        return Err(RunError::ArgumentCount {
            function: function.name.clone(),
            expected: function.arguments.len(),
            given: arguments.len(),
            span: function.span,
        });
    }
    for (&id, argument) in function.arguments.iter().zip(arguments) {
        let local = &function.locals[id.0 as usize];
        if !argument.is_of(local.ty) {
            return Err(RunError::ArgumentType {
                name: local.name.clone(),
                expected: type_name(local.ty),
                found: type_name(argument.ty()),
                span: local.span,
            });
        }
    }
    Ok(())
}

struct Machine<'a> {
    function: &'a Function,
    arguments: &'a mut [Value],
    /// The value of each scalar local that has one.
    scalars: Vec<Option<Constant>>,
    /// The argument that each local is.
    positions: Vec<usize>,
    /// The array that each local array is now.
    made: Vec<Option<Made>>,
    steps: u64,
    left: u64,
}

/// A local array, and which of its elements have been stored.
struct Made {
    array: Array,
    defined: Vec<bool>,
}

type Evaluated = Result<Constant, RunError>;

impl Machine<'_> {
    fn step(&mut self, span: Span) -> Result<(), RunError> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(RunError::OutOfSteps { steps: self.steps, span }),
        }
    }

    fn returned(&self, result: &Outcome) -> Result<Returned, RunError> {
        let span = self.function.span;
        Ok(match result {
            Outcome::Nothing => Returned::Nothing,
            Outcome::Argument(id) => Returned::Value(self.arguments[self.positions[id.0 as usize]].clone()),
            Outcome::Scalar(id) | Outcome::Choice { position: id, .. } => {
                Returned::Value(Value::Scalar(self.scalar(*id, span)?))
            }
            Outcome::Complex { re, im } => {
                let halves = [self.scalar(*re, span)?, self.scalar(*im, span)?];
                Returned::Tuple(halves.map(|half| Returned::Value(Value::Scalar(half))).into())
            }
            Outcome::Array(id) | Outcome::ComplexArray(id) => match &self.made[id.0 as usize] {
                Some(made) => Returned::Value(Value::Array(made.array.clone())),
                None => {
                    let name = self.function.locals[id.0 as usize].name.clone();
                    return Err(RunError::Unassigned { name, span });
                }
            },
            Outcome::OneOf { position, options } => {
                let at = self.scalar(*position, span)?.as_integer().and_then(|at| usize::try_from(at).ok());
                let chosen = at.and_then(|at| options.get(at).map(|option| (at, option)));
                let Some((at, option)) = chosen else {
                    let name = self.function.locals[position.0 as usize].name.clone();
                    return Err(RunError::Unassigned { name, span });
                };
                Returned::OneOf { position: at, value: Box::new(self.returned(option)?) }
            }
            Outcome::Tuple(parts) | Outcome::Named { parts, .. } => {
                Returned::Tuple(parts.iter().map(|part| self.returned(part)).collect::<Result<_, _>>()?)
            }
        })
    }

    fn block(&mut self, block: &[Statement]) -> Result<(), RunError> {
        block.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), RunError> {
        self.step(statement.span)?;
        match &statement.kind {
            StatementKind::For { iterator, range, body, .. } => self.iterate(*iterator, range, body, statement.span),
            StatementKind::If { condition, then, otherwise } => {
                let (taken, skipped) = if self.truth(condition)? { (then, otherwise) } else { (otherwise, then) };
                self.skip(skipped);
                self.block(taken)
            }
            StatementKind::Set { target, value, .. } => {
                let value = self.expression(value)?;
                self.scalars[target.0 as usize] = Some(value);
                Ok(())
            }
            StatementKind::Store { array, subscripts, value, .. } => {
                let value = self.expression(value)?;
                let position = self.position(*array, subscripts, statement.span)?;
                self.array_mut(*array, statement.span)?.set(position, value);
                if let Some(Some(made)) = self.made.get_mut(array.0 as usize) {
                    made.defined[position] = true;
                }
                Ok(())
            }
            StatementKind::Allocate { array, extents } => self.allocate(*array, extents, statement.span),
            StatementKind::Require { condition, failure } => match self.truth(condition)? {
                true => Ok(()),
                false => {
                    let (error, text) = (failure.error, failure.text.clone());
                    Err(RunError::Size { error, text, span: statement.span })
                }
            },
        }
    }

    /// The arrays of a branch that is not taken are there, as far as it is known how large: the other branch, and what follows both, may store
    /// into them.
    fn skip(&mut self, block: &[Statement]) {
        for statement in block {
            match &statement.kind {
                StatementKind::Allocate { array, extents }
                    if self.made[array.0 as usize].is_none() && self.is_small(extents) =>
                {
                    // Else the branch computes how large it is, and nothing else has a use for it.
                    let _: Result<(), RunError> = self.allocate(*array, extents, statement.span);
                }
                StatementKind::If { then, otherwise, .. } => {
                    self.skip(then);
                    self.skip(otherwise);
                }
                StatementKind::Allocate { .. }
                | StatementKind::Set { .. }
                | StatementKind::Store { .. }
                | StatementKind::For { .. }
                | StatementKind::Require { .. } => {}
            }
        }
    }

    /// Whether an array costs little memory.
    fn is_small(&mut self, extents: &[Expr]) -> bool {
        let extents = extents.iter().map(|extent| self.int64(extent).ok());
        let count = extents.collect::<Option<Vec<i64>>>().map(|all| all.iter().map(|&it| it.max(0) as f64).product());
        count.is_some_and(|count: f64| count <= MOST_SKIPPED)
    }

    /// The range is evaluated once; the iterator's last value is the last one that does not pass the stop.
    fn iterate(&mut self, iterator: LocalId, range: &Range, body: &[Statement], span: Span) -> Result<(), RunError> {
        let mut next = Some(self.int64(&range.start)?);
        let stop = self.int64(&range.stop)?;
        while let Some(value) = next
            && (if range.step > 0 { value <= stop } else { value >= stop })
        {
            self.step(span)?;
            self.scalars[iterator.0 as usize] = Some(Constant::i64(value));
            if let [Statement { kind: StatementKind::If { condition, otherwise, .. }, .. }] = body
                && otherwise.is_empty()
                && matches!(condition.kind, ExprKind::Local(going) if going != iterator)
                && !self.truth(condition)?
            {
                // Neither this iteration nor any after it does anything.
                break;
            }
            self.block(body)?;
            next = value.checked_add(range.step);
        }
        Ok(())
    }

    fn truth(&mut self, expr: &Expr) -> Result<bool, RunError> {
        Ok(self.expression(expr)?.bits != 0)
    }

    fn int64(&mut self, expr: &Expr) -> Result<i64, RunError> {
        let value = self.expression(expr)?;
        match value.ty {
            ScalarType::I64 => Ok(value.bits as i64),
            ty => Err(RunError::IllTyped { operator: "subscript".into(), ty, span: expr.span }),
        }
    }

    fn scalar(&self, id: LocalId, span: Span) -> Evaluated {
        self.scalars[id.0 as usize]
            .ok_or_else(|| RunError::Unassigned { name: self.function.locals[id.0 as usize].name.clone(), span })
    }

    /// A fresh array, each element of which is undefined.
    fn allocate(&mut self, id: LocalId, extents: &[Expr], span: Span) -> Result<(), RunError> {
        let local = &self.function.locals[id.0 as usize];
        let Type::Array { element, .. } = local.ty else { return Err(self.not_an_array(id, span)) };
        let extents = extents.iter().map(|extent| self.int64(extent)).collect::<Result<Vec<i64>, _>>()?;
        let extents = extents.into_iter().map(|extent| extent.max(0) as u64).collect();
        let array =
            Array::zeros(element, extents).map_err(|_| RunError::TooLarge { array: local.name.clone(), span })?;
        let defined = vec![false; array.len()];
        self.made[id.0 as usize] = Some(Made { array, defined });
        Ok(())
    }

    fn array(&self, id: LocalId, span: Span) -> Result<&Array, RunError> {
        if let Some(made) = &self.made[id.0 as usize] {
            return Ok(&made.array);
        }
        match self.arguments.get(self.positions[id.0 as usize]) {
            Some(Value::Array(array)) => Ok(array),
            Some(Value::Scalar(_)) | None => Err(self.not_an_array(id, span)),
        }
    }

    fn array_mut(&mut self, id: LocalId, span: Span) -> Result<&mut Array, RunError> {
        let error = self.not_an_array(id, span);
        if let Some(made) = &mut self.made[id.0 as usize] {
            return Ok(&mut made.array);
        }
        match self.arguments.get_mut(self.positions[id.0 as usize]) {
            Some(Value::Array(array)) => Ok(array),
            Some(Value::Scalar(_)) | None => Err(error),
        }
    }

    fn not_an_array(&self, id: LocalId, span: Span) -> RunError {
        RunError::Unassigned { name: self.function.locals[id.0 as usize].name.clone(), span }
    }

    /// Where an element lies, from 0; every subscript is checked against its own extent.
    fn position(&mut self, array: LocalId, subscripts: &[Expr], span: Span) -> Result<usize, RunError> {
        let mut position = 0;
        let mut stride = 1;
        for (axis, subscript) in subscripts.iter().enumerate() {
            let subscript = self.int64(subscript)?;
            let of = self.array(array, span)?;
            let (extent, first) = (of.extents().get(axis).copied().unwrap_or(1), of.first(axis));
            let place = i128::from(subscript) - i128::from(first);
            if place < 0 || place >= i128::from(extent) {
                let name = self.function.locals[array.0 as usize].name.clone();
                let axis = axis as u32 + 1;
                return Err(RunError::Bounds { array: name, axis, subscript, extent, span });
            }
            position += place as usize * stride;
            stride *= extent as usize;
        }
        Ok(position)
    }

    fn expression(&mut self, expr: &Expr) -> Evaluated {
        self.step(expr.span)?;
        let span = expr.span;
        match &expr.kind {
            ExprKind::Constant(constant) => Ok(*constant),
            ExprKind::Local(id) => self.scalar(*id, span),
            ExprKind::Load { array, subscripts, .. } => {
                let position = self.position(*array, subscripts, span)?;
                if self.made[array.0 as usize].as_ref().is_some_and(|made| !made.defined[position]) {
                    let array = self.function.locals[array.0 as usize].name.clone();
                    return Err(RunError::Undefined { array, span });
                }
                Ok(self.array(*array, span)?.get(position))
            }
            ExprKind::Size { array, axis } => {
                let extent = self.array(*array, span)?.extents().get(*axis as usize).copied().unwrap_or(1);
                Ok(Constant::i64(extent as i64))
            }
            ExprKind::First { array, axis } => Ok(Constant::i64(self.array(*array, span)?.first(*axis as usize))),
            ExprKind::Unary(operator, operand) => {
                let operand = self.expression(operand)?;
                operators::unary(*operator, operand).map_err(|error| failure(error, operator, &[operand], span))
            }
            ExprKind::Binary(BinaryOp::AndAlso, left, right) => {
                let value = self.truth(left)? && self.truth(right)?;
                Ok(Constant::bool(value))
            }
            ExprKind::Binary(BinaryOp::OrElse, left, right) => {
                let value = self.truth(left)? || self.truth(right)?;
                Ok(Constant::bool(value))
            }
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.expression(left)?, self.expression(right)?);
                operators::binary(*operator, left, right)
                    .map_err(|error| failure(error, operator, &[left, right], span))
            }
            ExprKind::Compare(operator, left, right) => {
                let (left, right) = (self.expression(left)?, self.expression(right)?);
                operators::compare(*operator, left, right)
                    .map(Constant::bool)
                    .map_err(|error| failure(error, operator, &[left, right], span))
            }
            ExprKind::Call(function, operands) => {
                let operands =
                    operands.iter().map(|operand| self.expression(operand)).collect::<Result<Vec<_>, _>>()?;
                operators::call(*function, &operands).map_err(|error| failure(error, function, &operands, span))
            }
            ExprKind::Select { condition, yes, no } => match self.truth(condition)? {
                true => self.expression(yes),
                false => self.expression(no),
            },
            ExprKind::IfElse { condition, yes, no } => {
                let condition = self.truth(condition)?;
                let (yes, no) = (self.expression(yes)?, self.expression(no)?);
                Ok(if condition { yes } else { no })
            }
            ExprKind::Convert(operand) => {
                let operand = self.expression(operand)?;
                operators::convert(operand, expr.ty).map_err(|error| failure(error, &"convert", &[operand], span))
            }
            ExprKind::Wrap(operand) => {
                let operand = self.expression(operand)?;
                match operators::wrap(operand, expr.ty) {
                    Ok(Some(value)) => Ok(value),
                    Ok(None) => Err(RunError::Unspecified { value: operand.to_string(), to: expr.ty, span }),
                    Err(error) => Err(failure(error, &"%", &[operand], span)),
                }
            }
        }
    }
}

fn failure(error: Undefined, operator: &dyn std::fmt::Debug, operands: &[Constant], span: Span) -> RunError {
    let integer = |at: usize| operands.get(at).copied().and_then(Constant::as_integer).unwrap_or_default();
    match error {
        Undefined::Divide => RunError::Divide { dividend: integer(0), divisor: integer(1), span },
        Undefined::IllTyped => {
            let ty = operands.first().map_or(ScalarType::F64, |operand| operand.ty);
            RunError::IllTyped { operator: format!("{operator:?}"), ty, span }
        }
    }
}
