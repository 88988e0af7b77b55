//! One instance of a computation.

use super::error::ScheduledError;
use super::integer;
use super::memory::{Block, Memory, Position};
use crate::operators;
use tessella_codegen::Input;
use tessella_codegen::program::{Asked, Clip, For, Going, Statement};
use tessella_polyhedral::algorithm::{Access, Computation, ComputationId, Subscript};
use tessella_polyhedral::expr::conjuncts;
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::reduction::updates_by;
use tessella_scalar::{BinaryOp, Constant};

/// What a thread offers to an update that its block combines.
pub(super) fn offer(
    around: &mut Surroundings<'_>,
    statement: &Statement,
    variables: &mut Vec<Option<i64>>,
) -> Result<Constant, ScheduledError> {
    let operand = operand_of(around.input, statement)?;
    instance_of(around, statement, variables)?.expression(around, operand)
}

/// The update of an element by what a block has combined.
pub(super) fn update_by(
    around: &mut Surroundings<'_>,
    statement: &Statement,
    variables: &mut Vec<Option<i64>>,
    by: Constant,
) -> Result<(), ScheduledError> {
    let instance = instance_of(around, statement, variables)?;
    let ExprKind::Binary(operator, old, _) = &instance.computation.value.kind else {
        return Err(ScheduledError::Misplaced { what: "an update that is none" });
    };
    let old = instance.expression(around, old)?;
    let value = combine(*operator, old, by, &instance.computation.name)?;
    let index = instance.index(around, &instance.computation.write)?;
    let position = around.position;
    block(around, &instance.computation.write)?.write(&index, value, position, &instance.computation.name)
}

/// Two offers as one.
pub(super) fn combine(
    operator: BinaryOp,
    x: Constant,
    y: Constant,
    computation: &str,
) -> Result<Constant, ScheduledError> {
    let computation = computation.to_string();
    operators::binary(operator, x, y).map_err(|_| ScheduledError::NoResult { computation })
}

fn operand_of<'a>(input: &Input<'a>, statement: &Statement) -> Result<&'a Expr, ScheduledError> {
    match &input.algorithm.computation(statement.computation).value.kind {
        ExprKind::Binary(_, _, operand) => Ok(operand),
        _ => Err(ScheduledError::Misplaced { what: "an update that is none" }),
    }
}

/// The instance that a statement runs, with its bindings made.
fn instance_of<'a>(
    around: &Surroundings<'a>,
    statement: &Statement,
    variables: &mut Vec<Option<i64>>,
) -> Result<Instance<'a>, ScheduledError> {
    for (variable, bound) in &statement.bindings {
        let bound = integer::value(bound, around.params, variables)?;
        bind(variables, variable.0, bound);
    }
    let value = |variable: u32| variables.get(variable as usize).copied().flatten();
    let iterators = statement.iterators.iter().map(|it| it.and_then(|it| value(it.0))).collect();
    let computation = around.input.algorithm.computation(statement.computation);
    Ok(Instance { computation, iterators, lets: vec![], operands: vec![] })
}

/// What an instance can see.
pub(super) struct Surroundings<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) params: &'a [i64],
    pub(super) scalars: &'a [Constant],
    pub(super) memory: &'a mut Memory,
    /// A thread's own buffers, where there are threads: they hide those of `memory`.
    pub(super) registers: Option<&'a mut Memory>,
    pub(super) position: &'a Position,
    /// Where a thread gathers what is on its way.
    pub(super) ahead: Option<&'a mut Vec<Arrival>>,
}

/// Executes an instance. `variables` get the statement's bindings.
pub(super) fn execute(
    around: &mut Surroundings<'_>,
    statement: &Statement,
    variables: &mut Vec<Option<i64>>,
) -> Result<(), ScheduledError> {
    let is_inside = match &statement.inside {
        Some(inside) => integer::holds(inside, around.params, variables)?,
        None => true,
    };
    let mut instance = instance_of(around, statement, variables)?;
    let computation = instance.computation;
    if !is_inside {
        return instance.past_the_edge(around, statement.computation);
    }
    let parts = computation.predicate.as_ref().map(conjuncts).unwrap_or_default();
    // What the loops' bounds see to is not asked again, as in generated code.
    for part in parts.into_iter().skip(statement.known as usize) {
        if instance.expression(around, part)?.bits == 0 {
            return Ok(());
        }
    }
    for it in &computation.lets {
        let value = instance.expression(around, &it.value)?;
        instance.lets.push(value);
    }
    let value = match instance.expression(around, &computation.value) {
        // Copies of whole footprints move what nothing was stored into, too; it must not be used.
        Err(ScheduledError::Undefined { .. }) if is_copy(around.input, statement.computation) => {
            return instance.past_the_edge(around, statement.computation);
        }
        value => value?,
    };
    if around.input.algorithm.failed == Some(computation.write.array) {
        return Err(ScheduledError::FailedLater);
    }
    let index = instance.index(around, &computation.write)?;
    let position = around.position;
    if around.input.layout.is_ahead(statement.computation)
        && let Some(ahead) = &mut around.ahead
    {
        ahead.push(Arrival { computation: statement.computation, index: index.clone(), value });
        return block(around, &computation.write)?.unset(&index, position, &computation.name);
    }
    let block = block(around, &computation.write)?;
    match (computation.atomic, computation.stored_constant()) {
        (true, _) => block.update(&index, value, position, (&computation.name, updates_by(computation))),
        (false, Some(_)) => block.set(&index, value, position, &computation.name),
        (false, None) => block.write(&index, value, position, &computation.name),
    }
}

/// Whether a computation is one that a storage command added to move elements.
fn is_copy(input: &Input<'_>, id: ComputationId) -> bool {
    let is_added = id.0 as usize >= input.source.computations.len();
    is_added && matches!(input.algorithm.computation(id).value.kind, ExprKind::Read(_))
}

/// A value on its way to shared memory.
#[derive(Debug, Clone)]
pub(super) struct Arrival {
    computation: ComputationId,
    index: Vec<i64>,
    value: Constant,
}

/// What an instance that always runs would store: its value goes to the element later.
pub(super) fn computed(
    around: &mut Surroundings<'_>,
    statement: &Statement,
    variables: &mut Vec<Option<i64>>,
) -> Result<Arrival, ScheduledError> {
    let mut instance = instance_of(around, statement, variables)?;
    let computation = instance.computation;
    for it in &computation.lets {
        let value = instance.expression(around, &it.value)?;
        instance.lets.push(value);
    }
    let value = instance.expression(around, &computation.value)?;
    let index = instance.index(around, &computation.write)?;
    Ok(Arrival { computation: statement.computation, index, value })
}

/// Stores what has arrived.
pub(super) fn arrive(around: &mut Surroundings<'_>, arrivals: Vec<Arrival>) -> Result<(), ScheduledError> {
    for Arrival { computation, index, value } in arrivals {
        let computation = around.input.algorithm.computation(computation);
        let position = around.position;
        block(around, &computation.write)?.write(&index, value, position, &computation.name)?;
    }
    Ok(())
}

/// The values that a loop runs through.
pub(super) fn values(
    around: &mut Surroundings<'_>,
    it: &For,
    variables: &[Option<i64>],
) -> Result<Vec<i64>, ScheduledError> {
    let mut next = integer::value(&it.lower, around.params, variables)?;
    let mut upper = integer::value(&it.upper, around.params, variables)?;
    if let Some(asked) = &it.asked
        && !holds(around, asked, variables)?
    {
        return Ok(vec![]);
    }
    if let Some(clip) = &it.clip
        && next <= upper
    {
        let Some((low, high)) = clipped(around, clip, variables)? else { return Ok(vec![]) };
        (next, upper) = match clip.down {
            true => (-high.min(-next), -low.max(-upper)),
            false => (next.max(low), upper.min(high)),
        };
    }
    let mut values = vec![];
    while next <= upper {
        values.push(next);
        next += it.step;
    }
    Ok(values)
}

/// Whether the loop's next iteration begins.
pub(super) fn goes_on(
    around: &mut Surroundings<'_>,
    going: &Going,
    variables: &[Option<i64>],
) -> Result<bool, ScheduledError> {
    let value = |it: &Option<_>| it.as_ref().map(|it| integer::value(it, around.params, variables)).transpose();
    let iterators = going.iterators.iter().map(value).collect::<Result<_, _>>()?;
    let computation = around.input.algorithm.computation(going.computation);
    let instance = Instance { computation, iterators, lets: vec![], operands: vec![] };
    Ok(instance.expression(around, &going.condition)?.bits != 0)
}

/// Whether what is asked before a loop holds.
fn holds(around: &mut Surroundings<'_>, asked: &Asked, variables: &[Option<i64>]) -> Result<bool, ScheduledError> {
    for runs in &asked.runs {
        if !integer::holds(runs, around.params, variables)? {
            return Ok(false);
        }
    }
    let value = |it: &Option<_>| it.as_ref().map(|it| integer::value(it, around.params, variables)).transpose();
    let iterators = asked.iterators.iter().map(value).collect::<Result<_, _>>()?;
    let computation = around.input.algorithm.computation(asked.computation);
    let instance = Instance { computation, iterators, lets: vec![], operands: vec![] };
    for part in &asked.parts {
        if instance.expression(around, part)?.bits == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The bounds that data give an iterator; `None` if it has no iterations.
fn clipped(
    around: &mut Surroundings<'_>,
    clip: &Clip,
    variables: &[Option<i64>],
) -> Result<Option<(i64, i64)>, ScheduledError> {
    let value = |it: &Option<_>| it.as_ref().map(|it| integer::value(it, around.params, variables)).transpose();
    let iterators = clip.iterators.iter().map(value).collect::<Result<_, _>>()?;
    let computation = around.input.algorithm.computation(clip.computation);
    let instance = Instance { computation, iterators, lets: vec![], operands: vec![] };
    for part in &clip.conditions {
        if instance.expression(around, part)?.bits == 0 {
            return Ok(None);
        }
    }
    let mut bound = |it: &Option<Expr>, none: i64| match it {
        Some(it) => instance.expression(around, it).map(|value| value.bits as i64),
        None => Ok(none),
    };
    Ok(Some((bound(&clip.low, i64::MIN)?, bound(&clip.high, i64::MAX)?)))
}

/// Where an operand of a statement comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operand {
    /// The element that the access names.
    Memory,
    Value(Constant),
    /// Nothing that may be used.
    Unknown,
}

/// The value of an instance with these operands, by read; `None` if it uses an unknown one.
pub(super) fn evaluate(
    around: &mut Surroundings<'_>,
    computation: ComputationId,
    iterators: Vec<Option<i64>>,
    operands: Vec<Operand>,
) -> Result<Option<Constant>, ScheduledError> {
    let computation = around.input.algorithm.computation(computation);
    let mut instance = Instance { computation, iterators, lets: vec![], operands };
    let mut result = || {
        for it in &computation.lets {
            let value = instance.expression(around, &it.value)?;
            instance.lets.push(value);
        }
        instance.expression(around, &computation.value)
    };
    match result() {
        Ok(value) => Ok(Some(value)),
        Err(ScheduledError::UnknownOperand) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes the value of an instance with these operands to memory; an unknown one must not be used.
pub(super) fn write_down(
    around: &mut Surroundings<'_>,
    computation: ComputationId,
    iterators: Vec<Option<i64>>,
    operands: Vec<Operand>,
) -> Result<(), ScheduledError> {
    let value = evaluate(around, computation, iterators.clone(), operands)?.ok_or(ScheduledError::UnknownOperand)?;
    let computation = around.input.algorithm.computation(computation);
    let index =
        Instance { computation, iterators, lets: vec![], operands: vec![] }.index(around, &computation.write)?;
    let position = around.position;
    block(around, &computation.write)?.write(&index, value, position, &computation.name)
}

/// Gives a variable a value.
pub(super) fn bind(variables: &mut Vec<Option<i64>>, variable: u32, value: i64) {
    let at = variable as usize;
    if variables.len() <= at {
        variables.resize(at + 1, None);
    }
    variables[at] = Some(value);
}

/// The buffer that an access goes to.
fn block<'a>(around: &'a mut Surroundings<'_>, access: &Access) -> Result<&'a mut Block, ScheduledError> {
    let id = around.input.layout.placement(access.array).buffer;
    if let Some(registers) = &mut around.registers
        && registers.block(id).is_some()
    {
        return registers.block_mut(id).ok_or(ScheduledError::Misplaced { what: "a register" });
    }
    let none = || ScheduledError::NoBuffer { buffer: around.input.layout.buffer(id).name.clone() };
    around.memory.block_mut(id).ok_or_else(none)
}

struct Instance<'a> {
    computation: &'a Computation,
    iterators: Vec<Option<i64>>,
    lets: Vec<Constant>,
    /// Of each read; those that are missing are elements of memory.
    operands: Vec<Operand>,
}

impl Instance<'_> {
    /// Does what an instance does that is none of the program: what it writes has no value, whatever it reads.
    fn past_the_edge(&self, around: &mut Surroundings<'_>, id: ComputationId) -> Result<(), ScheduledError> {
        let position = around.position;
        for access in around.input.used_accesses(id).into_iter().skip(1) {
            let index = self.index(around, access)?;
            match block(around, access)?.read(&index, position, &self.computation.name) {
                Ok(_) | Err(ScheduledError::Undefined { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let index = self.index(around, &self.computation.write)?;
        block(around, &self.computation.write)?.unset(&index, position, &self.computation.name)
    }

    /// Where the element of an access lies in its buffer.
    fn index(&self, around: &mut Surroundings<'_>, access: &Access) -> Result<Vec<i64>, ScheduledError> {
        let mut subscripts = vec![];
        for subscript in &access.subscripts {
            subscripts.push(match subscript {
                Subscript::Affine(affine) => integer::affine(affine, &self.iterators, around.params)?,
                Subscript::Computed(value) => Some(self.expression(around, value)?.bits as i64),
            });
        }
        let mut index = vec![];
        for place in &around.input.layout.placement(access.array).map {
            let place = integer::affine(place, &subscripts, around.params)?;
            let computation = || self.computation.name.clone();
            index.push(place.ok_or_else(|| ScheduledError::NoIterator { computation: computation() })?);
        }
        Ok(index)
    }

    fn expression(&self, around: &mut Surroundings<'_>, expr: &Expr) -> Result<Constant, ScheduledError> {
        let name = || self.computation.name.clone();
        let defined =
            |result: Result<Constant, _>| result.map_err(|_| ScheduledError::NoResult { computation: name() });
        match &expr.kind {
            ExprKind::Constant(constant) => Ok(*constant),
            ExprKind::Index(affine) => integer::affine(affine, &self.iterators, around.params)?
                .map(Constant::i64)
                .ok_or_else(|| ScheduledError::NoIterator { computation: name() }),
            ExprKind::Scalar(scalar) => Ok(around.scalars[scalar.0 as usize]),
            ExprKind::Let(position) => self
                .lets
                .get(*position as usize)
                .copied()
                .ok_or(ScheduledError::Misplaced { what: "a value that is computed later" }),
            ExprKind::Read(position) => {
                match self.operands.get(*position as usize) {
                    Some(Operand::Value(value)) => return Ok(*value),
                    Some(Operand::Unknown) => return Err(ScheduledError::UnknownOperand),
                    Some(Operand::Memory) | None => {}
                }
                let access = &self.computation.reads[*position as usize];
                let index = self.index(around, access)?;
                let position = around.position;
                let block = block(around, access)?;
                match self.computation.atomic && access.array == self.computation.write.array {
                    true => block.old(&index, position, (&self.computation.name, updates_by(self.computation))),
                    false => block.read(&index, position, &self.computation.name),
                }
            }
            ExprKind::Unary(operator, operand) => {
                let operand = self.expression(around, operand)?;
                defined(operators::unary(*operator, operand).map_err(|_| ()))
            }
            ExprKind::Binary(operator @ (BinaryOp::AndAlso | BinaryOp::OrElse), left, right) => {
                let left = self.expression(around, left)?;
                let decided = (*operator == BinaryOp::OrElse) == (left.bits != 0);
                if decided { Ok(left) } else { self.expression(around, right) }
            }
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.expression(around, left)?, self.expression(around, right)?);
                defined(operators::binary(*operator, left, right).map_err(|_| ()))
            }
            ExprKind::Compare(operator, left, right) => {
                let (left, right) = (self.expression(around, left)?, self.expression(around, right)?);
                defined(operators::compare(*operator, left, right).map(Constant::bool).map_err(|_| ()))
            }
            ExprKind::Call(function, operands) => {
                let operands = operands.iter().map(|operand| self.expression(around, operand));
                let operands = operands.collect::<Result<Vec<_>, _>>()?;
                defined(operators::call(*function, &operands).map_err(|_| ()))
            }
            ExprKind::Select { condition, yes, no } => match self.expression(around, condition)?.bits != 0 {
                true => self.expression(around, yes),
                false => self.expression(around, no),
            },
            ExprKind::IfElse { condition, yes, no } => {
                let condition = self.expression(around, condition)?;
                let (yes, no) = (self.expression(around, yes)?, self.expression(around, no)?);
                Ok(if condition.bits != 0 { yes } else { no })
            }
            ExprKind::Convert(operand) => {
                let operand = self.expression(around, operand)?;
                defined(operators::convert(operand, expr.ty).map_err(|_| ()))
            }
            ExprKind::Wrap(operand) => {
                let operand = self.expression(around, operand)?;
                let wrapped = operators::wrap(operand, expr.ty).ok().flatten();
                wrapped.ok_or_else(|| ScheduledError::NoResult { computation: name() })
            }
        }
    }
}
