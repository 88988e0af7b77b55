//! Arrays that are constants: `const W = [0.25, 0.5, 0.25]` in the file, and tables of numbers inside of a function that
//! it only reads (`local_table.rs`).
//!
//! Each that the function uses is made before everything else the function does, in memory of its own, by whatever its
//! definition says. Elements that are numbers are known, too: where a subscript is a constant the number itself stands in
//! place of the element, and so it does among few integers wherever the subscript is, since what a subscript depends on must
//! not have been written by the function.

use super::arrays::ArrayError;
use super::check::{Checked, Checker, ModuleConstant};
use super::compare::compare;
use super::constant::folded;
use super::convert::constant_integer;
use super::error::TypeError;
use super::operator::binary;
use super::scope::State;
use super::tree::{Block, Expr, ExprKind, LocalId, Mode, Result as Outcome, SizeError, StatementKind};
use super::value::Value;
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType, UnaryOp};

/// Of more integers, one is read from memory.
const MOST_CHOICES: usize = 64;

/// Loops over positions in a vector with more elements stay loops.
const SHORT: usize = 16;

#[derive(Debug, Clone)]
pub(super) struct ConstantArray {
    pub name: String,
    pub origin: Origin,
    pub value: Value,
    /// Its memory; of complex numbers, both halves.
    array: LocalId,
    /// The elements in order, if all of them are numbers; and how many there are along each axis.
    elements: Option<Vec<Constant>>,
    extents: Vec<i64>,
    /// What makes it.
    block: Block,
}

/// Where a constant array is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    File,
    /// In the function, or in one that it calls.
    Function,
}

impl Checker<'_> {
    /// The array that `const name = definition` is.
    pub(super) fn constant_array(&mut self, name: &str, definition: &ast::Expr, span: Span) -> Checked<Value> {
        let is_known = |known: &&ConstantArray| known.origin == Origin::File && known.name == name;
        if let Some(known) = self.constant_arrays.iter().find(is_known) {
            return Ok(known.value.clone());
        }
        if !self.open_constants.is_empty() {
            return Err(self.fail(TypeError::Array(ArrayError::Constant { span: definition.span })));
        }
        if self.open_arrays.iter().any(|open| open == name) {
            return Err(self.fail(TypeError::ConstantCycle { name: name.into(), span }));
        }
        self.open_arrays.push(name.to_string());
        let (written, block, made) = self.apart(|checker| {
            let written = checker.written_out(definition);
            let (block, made) = checker.in_block(|checker| {
                if let Some((elements, extents)) = &written {
                    let array = checker.made_of_constants(name, elements, extents, definition.span)?;
                    return Ok((super::arrays::Numbers::Real, array));
                }
                let value = checker.value(definition)?;
                let Some(elements) = checker.as_elements(&value, definition.span) else {
                    return Err(checker.fail(TypeError::Array(ArrayError::Constant { span: definition.span })));
                };
                let numbers = elements.numbers;
                checker.materialize(name, &elements, definition.span).map(|array| (numbers, array))
            });
            (written, block, made)
        });
        self.open_arrays.pop();
        let (numbers, array) = made?;
        let value = super::arrays::value_of(numbers, array);
        let (elements, extents) = written.unzip();
        let (name, extents) = (name.to_string(), extents.unwrap_or_default());
        let origin = Origin::File;
        self.constant_arrays.push(ConstantArray {
            name,
            origin,
            value: value.clone(),
            array,
            elements,
            extents,
            block,
        });
        Ok(value)
    }

    /// The array of these numbers, which the function has under this name.
    pub(super) fn table_of(
        &mut self,
        name: &str,
        elements: Vec<Constant>,
        extents: Vec<i64>,
        span: Span,
    ) -> Checked<LocalId> {
        let is_same = |known: &&ConstantArray| {
            known.origin == Origin::Function
                && known.name == name
                && known.extents == extents
                && known.elements.as_ref() == Some(&elements)
        };
        if let Some(known) = self.constant_arrays.iter().find(is_same) {
            return Ok(known.array);
        }
        let (block, array) = self
            .apart(|checker| checker.in_block(|checker| checker.made_of_constants(name, &elements, &extents, span)));
        let (name, array) = (name.to_string(), array?);
        let (origin, value, elements) = (Origin::Function, Value::Array(array), Some(elements));
        self.constant_arrays.push(ConstantArray { name, origin, value, array, elements, extents, block });
        Ok(array)
    }

    /// What is evaluated before everything else: it sees the file's names only, and belongs to no loop and no condition.
    fn apart<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        let scopes = std::mem::replace(&mut self.scopes, vec![Default::default()]);
        let parameters = std::mem::take(&mut self.type_parameters);
        let loops = std::mem::take(&mut self.loops);
        let conditions = std::mem::take(&mut self.conditions);
        let (mode, label) = (std::mem::take(&mut self.mode), self.label.take());
        let (indexed, keep) = (std::mem::take(&mut self.indexed), std::mem::take(&mut self.keep));
        let (views, pending) = (std::mem::take(&mut self.views), self.flow.pending.take());
        let (straight_from, tail, range) = (self.flow.straight_from, self.flow.tail, self.flow.range.take());
        self.flow.straight_from = self.blocks.len() + 1;
        self.flow.tail = true;
        let value = evaluate(self);
        (self.flow.straight_from, self.flow.tail, self.flow.range) = (straight_from, tail, range);
        (self.views, self.flow.pending) = (views, pending);
        (self.indexed, self.keep) = (indexed, keep);
        (self.mode, self.label) = (mode, label);
        self.conditions = conditions;
        self.loops = loops;
        self.type_parameters = parameters;
        self.scopes = scopes;
        value
    }

    /// The elements, one at least, the first axis first, and the extents of an array whose definition is a list of numbers.
    pub(super) fn written_out(&mut self, definition: &ast::Expr) -> Option<(Vec<Constant>, Vec<i64>)> {
        if let ast::ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No } = &definition.kind
            && self.library_name(callee) == Some("reshape")
            && let Some((array, dimensions)) = arguments.split_first()
        {
            let (elements, _) = self.written_out(&array.value)?;
            let extents: Option<Vec<i64>> = dimensions.iter().map(|it| written_integer(&it.value)).collect();
            let extents = extents?;
            let count = extents.iter().try_fold(1_i64, |count, &extent| count.checked_mul(extent))?;
            return (usize::try_from(count) == Ok(elements.len())).then_some((elements, extents));
        }
        let (elements, extents, ty): (Vec<&ast::Expr>, Vec<usize>, _) = match &definition.kind {
            ast::ExprKind::Vector(elements) => (elements.iter().collect(), vec![elements.len()], None),
            ast::ExprKind::Matrix(rows) => {
                let columns = rows.first().map_or(0, Vec::len);
                if rows.iter().any(|row| row.len() != columns) {
                    return None;
                }
                let all = (0..columns).flat_map(|column| rows.iter().map(move |row| &row[column])).collect();
                let extents = if columns == 1 { vec![rows.len()] } else { vec![rows.len(), columns] };
                (all, extents, None)
            }
            ast::ExprKind::Index { base, subscripts } if !subscripts.iter().any(is_generator) => {
                let ast::ExprKind::Name(name) = &base.kind else { return None };
                let elements = subscripts.iter().map(|subscript| &subscript.value).collect();
                (elements, vec![subscripts.len()], Some(ScalarType::from_julia_name(name)?))
            }
            _ => return None,
        };
        let errors = self.errors.len();
        let (block, values) = self.in_block(|checker| {
            let mut values = vec![];
            for element in elements {
                // Beside `Float32`s `π` has their precision.
                let Ok(value @ Value::Scalar(_)) = checker.value(element) else {
                    return None;
                };
                values.push(checker.as_scalar(value, element.span).ok()?);
            }
            let common = values.iter().map(|value| value.ty).reduce(super::convert::promote);
            let ty = ty.or(common)?;
            let converted = values.into_iter().map(|value| checker.coerce(folded(value), ty, None).ok());
            converted.map(|value| value.and_then(|value| number(&folded(value)))).collect::<Option<Vec<_>>>()
        });
        // What is wrong is told where the definition is evaluated as a whole.
        self.errors.truncate(errors);
        let extents: Option<Vec<i64>> = extents.into_iter().map(|extent| i64::try_from(extent).ok()).collect();
        let values = values.filter(|values| !values.is_empty() && block.is_empty())?;
        Some((values, extents?))
    }

    /// Memory with these elements: one loop nest, whose value is found by halving the numbers of the elements.
    fn made_of_constants(
        &mut self,
        name: &str,
        elements: &[Constant],
        extents: &[i64],
        span: Span,
    ) -> Checked<LocalId> {
        let sizes: Vec<Expr> = extents.iter().map(|&extent| Expr::int64(extent, span)).collect();
        let array = self.allocate(name, elements[0].ty, &sizes, span);
        let mode = Mode { inbounds: true, ..Mode::default() };
        self.nest(&sizes, span, |checker, at| {
            let value = halved(&number_of(at, extents, span), elements, 1, span);
            let kind = StatementKind::Store { array, subscripts: at.to_vec(), value, label: None, mode };
            checker.emit(kind, span);
            Ok(())
        })?;
        Ok(array)
    }

    /// Whether a name means such an array, used or not.
    pub(super) fn is_constant_array(&self, name: &str) -> bool {
        let is_librarys = self.is_librarys(name);
        let name = super::full_name::own(name);
        let definition = self.constants.iter().find(|constant| constant.name == name);
        !is_librarys
            && !self.type_parameters.contains_key(name)
            && self.user_function(name).is_none()
            && definition.is_some_and(|definition| makes_array(&definition.value, self.constants))
    }

    /// The length of a short vector whose elements are written out in its definition.
    pub(super) fn short_constant_vector(&self, name: &str) -> Option<usize> {
        if let Some(variable) = self.lookup(name) {
            let State::Array(array) = self.variables[variable.0].state else { return None };
            let known = self.constant_arrays.iter().find(|known| known.array == array)?;
            let is_table = known.origin == Origin::Function && known.extents.len() == 1;
            let length = known.elements.as_ref()?.len();
            return (is_table && length <= SHORT).then_some(length);
        }
        if !self.is_constant_array(name) {
            return None;
        }
        let definition = self.constants.iter().find(|constant| constant.name == name)?;
        let length = match &definition.value.kind {
            ast::ExprKind::Vector(elements) => elements.len(),
            ast::ExprKind::Index { subscripts, .. } if !subscripts.iter().any(is_generator) => subscripts.len(),
            _ => return None,
        };
        (length <= SHORT).then_some(length)
    }

    /// The element of a constant array at subscripts, where it is a number or one of few integers.
    pub(super) fn constant_element(
        &mut self,
        array: LocalId,
        subscripts: &[Expr],
        span: Span,
    ) -> Checked<Option<Value>> {
        let Some(known) = self.constant_arrays.iter().find(|known| known.array == array) else { return Ok(None) };
        let Some(elements) = &known.elements else { return Ok(None) };
        if known.extents.len() != subscripts.len() || elements.is_empty() {
            return Ok(None);
        }
        let places: Option<Vec<i128>> = subscripts.iter().map(|at| constant_integer(&folded(at.clone()))).collect();
        if let Some(places) = places {
            let mut number = 0;
            for (place, &extent) in places.into_iter().zip(&known.extents).rev() {
                if place < 1 || place > i128::from(extent) {
                    return Ok(None);
                }
                number = number * i128::from(extent) + (place - 1);
            }
            let element = usize::try_from(number).ok().and_then(|number| elements.get(number));
            return Ok(element.map(|&element| Value::Scalar(Expr::constant(element, span))));
        }
        if !elements[0].ty.is_integer() || elements.len() > MOST_CHOICES {
            return Ok(None);
        }
        let (elements, extents) = (elements.clone(), known.extents.clone());
        let subscripts: Vec<Expr> = subscripts.iter().map(|at| self.share(at.clone())).collect();
        let within = |(at, &extent): (&Expr, &i64)| {
            let is = |op: CompareOp, bound: i64| compare(op, at.clone(), Expr::int64(bound, span), span);
            binary(BinaryOp::AndAlso, is(CompareOp::Ge, 1), is(CompareOp::Le, extent), span)
        };
        let inside = subscripts.iter().zip(&extents).map(within);
        let inside = inside.reduce(|before, here| binary(BinaryOp::AndAlso, before, here, span));
        if !self.mode.inbounds
            && let Some(inside) = inside
        {
            self.require(inside, SizeError::Thrown, "BoundsError: a subscript of a constant array is outside", span)?;
        }
        let number = self.share(number_of(&subscripts, &extents, span));
        Ok(Some(Value::Scalar(halved(&number, &elements, 1, span))))
    }

    /// The function's body behind what makes the constant arrays that it reads. They are neither changed nor given back:
    /// they are the module's.
    pub(super) fn with_constant_arrays(&mut self, body: Block, result: &Outcome) -> Block {
        let known = std::mem::take(&mut self.constant_arrays);
        let is_known = |array: LocalId| known.iter().find(|known| known.array == array);
        let mut changed = vec![];
        for statement in &body {
            stores(statement, &mut |array, span| changed.extend(is_known(array).map(|it| (it.name.clone(), span))));
        }
        let mut given = vec![];
        arrays_of(result, &mut given);
        for array in given {
            if let Some(known) = is_known(array) {
                changed.push((known.name.clone(), self.local(array).span));
            }
        }
        for (name, span) in changed {
            self.fail(TypeError::Array(ArrayError::ConstantChanged { name, span }));
        }
        let mut body = body;
        for ConstantArray { array, mut block, .. } in known.into_iter().rev() {
            if body.iter().any(|statement| mentions(statement, array)) {
                block.extend(body);
                body = block;
            }
        }
        body
    }
}

/// Whether a definition is one of an array, as far as can be seen without evaluating it.
pub(super) fn makes_array(definition: &ast::Expr, constants: &[ModuleConstant]) -> bool {
    makes_array_within(definition, constants, constants.len())
}

/// `depth`: so many names are followed, at most.
fn makes_array_within(definition: &ast::Expr, constants: &[ModuleConstant], depth: usize) -> bool {
    let one = |part: &ast::Expr| makes_array_within(part, constants, depth);
    match &definition.kind {
        ast::ExprKind::Vector(_) | ast::ExprKind::Matrix(_) => true,
        ast::ExprKind::Generator { brackets, .. } => *brackets == ast::Brackets::Square,
        // `Float64[...]`
        ast::ExprKind::Index { base, .. } => {
            matches!(&base.kind, ast::ExprKind::Name(name) if tessella_scalar::ScalarType::from_julia_name(name).is_some())
        }
        ast::ExprKind::Call { callee, arguments, broadcast } => match (&callee.kind, broadcast) {
            (_, ast::Broadcast::Yes) => arguments.iter().any(|argument| one(&argument.value)),
            (ast::ExprKind::Name(name), ast::Broadcast::No) => {
                let makers =
                    ["zeros", "ones", "fill", "collect", "copy", "reshape", "permutedims", "cumsum", "cumprod"];
                makers.contains(&name.as_str())
            }
            (_, ast::Broadcast::No) => false,
        },
        ast::ExprKind::Infix { left, right, .. } => one(left) || one(right),
        ast::ExprKind::Prefix { operand, .. } => one(operand),
        ast::ExprKind::Juxtapose { coefficient, operand } => one(coefficient) || one(operand),
        ast::ExprKind::Name(name) => match depth.checked_sub(1) {
            Some(depth) => constants
                .iter()
                .find(|constant| constant.name == *name)
                .is_some_and(|constant| makes_array_within(&constant.value, constants, depth)),
            None => false,
        },
        _ => false,
    }
}

/// The number that an expression of constants is, by operations that are exact to the last bit everywhere.
fn number(expr: &Expr) -> Option<Constant> {
    let float = |operand: &Expr| number(operand).and_then(Constant::as_float);
    let value = match &expr.kind {
        ExprKind::Constant(constant) => return Some(*constant),
        ExprKind::Unary(UnaryOp::Neg, operand) => -float(operand)?,
        // Of numbers with 24 bits these operations are the same in 53 bits, rounded once more.
        ExprKind::Binary(BinaryOp::Add, left, right) => float(left)? + float(right)?,
        ExprKind::Binary(BinaryOp::Sub, left, right) => float(left)? - float(right)?,
        ExprKind::Binary(BinaryOp::Mul, left, right) => float(left)? * float(right)?,
        ExprKind::Binary(BinaryOp::Div, left, right) => float(left)? / float(right)?,
        ExprKind::Convert(operand) => match number(operand)? {
            constant if constant.ty.is_float() => constant.as_float()?,
            constant if expr.ty.is_float() => return Some(Constant::integer(expr.ty, constant.as_integer()?)),
            _ => return None,
        },
        _ => return None,
    };
    // Which bits a NaN has is left open.
    match expr.ty {
        ScalarType::F64 if !value.is_nan() => Some(Constant::f64(value)),
        ScalarType::F32 if !value.is_nan() => Some(Constant::f32(value as f32)),
        _ => None,
    }
}

fn is_generator(argument: &ast::Argument) -> bool {
    matches!(argument.value.kind, ast::ExprKind::Generator { .. })
}

fn written_integer(expr: &ast::Expr) -> Option<i64> {
    match &expr.kind {
        ast::ExprKind::Integer(text) => text.parse().ok(),
        _ => None,
    }
}

/// The number, from 1, of the element at these subscripts.
fn number_of(at: &[Expr], extents: &[i64], span: Span) -> Expr {
    let mut stride = 1;
    let mut number: Option<Expr> = None;
    for (at, &extent) in at.iter().zip(extents) {
        number = Some(match number {
            None => at.clone(),
            Some(number) => {
                let before = binary(BinaryOp::Sub, at.clone(), Expr::int64(1, span), span);
                let distance = binary(BinaryOp::Mul, before, Expr::int64(stride, span), span);
                folded(binary(BinaryOp::Add, number, distance, span))
            }
        });
        stride *= extent;
    }
    number.unwrap_or_else(|| Expr::int64(1, span))
}

/// The element with this number, of elements whose first is number `first`.
fn halved(number: &Expr, elements: &[Constant], first: i64, span: Span) -> Expr {
    if elements.iter().all(|element| *element == elements[0]) {
        return Expr::constant(elements[0], span);
    }
    let (low, high) = elements.split_at(elements.len() / 2);
    let next = first + low.len() as i64;
    let condition = compare(CompareOp::Lt, number.clone(), Expr::int64(next, span), span);
    let (yes, no) = (halved(number, low, first, span), halved(number, high, next, span));
    let ty = yes.ty;
    let kind = ExprKind::Select { condition: Box::new(condition), yes: Box::new(yes), no: Box::new(no) };
    Expr { kind, ty, span }
}

/// Tells of each store in a statement and inside of it.
fn stores(statement: &super::tree::Statement, found: &mut dyn FnMut(LocalId, Span)) {
    match &statement.kind {
        StatementKind::Store { array, .. } | StatementKind::Allocate { array, .. } => found(*array, statement.span),
        StatementKind::For { body, .. } => body.iter().for_each(|inner| stores(inner, found)),
        StatementKind::If { then, otherwise, .. } => {
            then.iter().chain(otherwise).for_each(|inner| stores(inner, found));
        }
        StatementKind::Set { .. } | StatementKind::Require { .. } => {}
    }
}

fn arrays_of(result: &Outcome, into: &mut Vec<LocalId>) {
    match result {
        Outcome::Array(array) | Outcome::ComplexArray(array) => into.push(*array),
        Outcome::Tuple(parts) | Outcome::Named { parts, .. } | Outcome::OneOf { options: parts, .. } => {
            parts.iter().for_each(|part| arrays_of(part, into));
        }
        Outcome::Nothing
        | Outcome::Argument(_)
        | Outcome::Scalar(_)
        | Outcome::Complex { .. }
        | Outcome::Choice { .. } => {}
    }
}

fn mentions(statement: &super::tree::Statement, array: LocalId) -> bool {
    let reads = |expr: &Expr| {
        expr.any(&|part| match part.kind {
            ExprKind::Load { array: found, .. }
            | ExprKind::Size { array: found, .. }
            | ExprKind::First { array: found, .. } => found == array,
            _ => false,
        })
    };
    match &statement.kind {
        StatementKind::For { range, body, .. } => {
            reads(&range.start) || reads(&range.stop) || body.iter().any(|inner| mentions(inner, array))
        }
        StatementKind::If { condition, then, otherwise } => {
            reads(condition) || then.iter().chain(otherwise).any(|inner| mentions(inner, array))
        }
        StatementKind::Set { value, .. } => reads(value),
        StatementKind::Store { array: target, subscripts, value, .. } => {
            *target == array || subscripts.iter().any(reads) || reads(value)
        }
        StatementKind::Allocate { extents, .. } => extents.iter().any(reads),
        StatementKind::Require { condition, .. } => reads(condition),
    }
}
