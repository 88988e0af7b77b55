//! Buffers that know who touched them.

use super::error::ScheduledError;
use super::integer;
use crate::value::Array;
use std::ops::Range;
use std::rc::Rc;
use tessella_codegen::Input;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::ArrayId;
use tessella_polyhedral::layers::{Buffer, BufferId, Direction};
use tessella_polyhedral::reduction::Operator;
use tessella_scalar::{Constant, ScalarType};

/// Where an instance stands among the loops without an order: for each, outermost first, which execution of the loop
/// it is, and which iteration.
#[derive(Debug, Clone, Default)]
pub(super) struct Position(Option<Rc<[(u64, u64)]>>);

impl Position {
    fn steps(&self) -> &[(u64, u64)] {
        self.0.as_deref().unwrap_or_default()
    }

    /// One iteration of one more loop.
    pub(super) fn inside(&self, execution: u64, iteration: u64) -> Position {
        Position(Some(self.steps().iter().copied().chain([(execution, iteration)]).collect()))
    }

    /// Whether neither comes before the other.
    fn unordered(&self, other: &Position) -> bool {
        let parting = self.steps().iter().zip(other.steps()).find(|(mine, other)| mine != other);
        parting.is_some_and(|(mine, other)| mine.0 == other.0)
    }

    fn same(&self, other: &Position) -> bool {
        self.steps() == other.steps()
    }
}

#[derive(Debug, Clone, Default)]
struct Cell {
    value: Option<Constant>,
    /// The last write.
    written: Option<Position>,
    /// What others may do to it at the same time as that write.
    beside: Beside,
    /// The writes that came beside the last one.
    updates: Vec<Position>,
    /// What the first of these had to come behind. The others have to, as well.
    before: Vec<Position>,
    /// The reads since.
    read: Vec<Position>,
}

/// Writes that need no order among themselves.
#[derive(Debug, Clone, Default, PartialEq)]
enum Beside {
    #[default]
    None,
    /// Those that store the same constant.
    Constant,
    /// Updates in one piece by this operator.
    Updates(Option<Operator>),
}

impl Cell {
    /// Whether all that was done to it lately has an order with this place.
    fn is_ordered(&self, position: &Position) -> bool {
        let all = self.written.iter().chain(&self.read).chain(&self.updates);
        !all.chain(&self.before).any(|earlier| earlier.unordered(position))
    }

    /// Whether a write of the same kind as the last ones may come beside them: what came before them has an order with it, and what read
    /// it since.
    fn comes_beside(&self, position: &Position) -> bool {
        !self.before.iter().chain(&self.read).any(|earlier| earlier.unordered(position))
    }

    /// One more of the writes that come beside one another. Whatever comes next must be ordered behind all of these.
    fn add(&mut self, value: Constant, position: &Position) {
        self.updates.extend(self.written.replace(position.clone()));
        (self.value, self.read) = (Some(value), vec![]);
    }
}

/// A buffer's memory.
#[derive(Debug, Clone)]
pub(super) struct Block {
    name: String,
    element: ScalarType,
    extents: Vec<i64>,
    cells: Vec<Cell>,
}

impl Block {
    /// A buffer that nothing was stored into.
    pub(super) fn undefined(input: &Input<'_>, id: BufferId, params: &[i64]) -> Result<Block, ScheduledError> {
        let buffer = input.layout.buffer(id);
        Block::of_extents(buffer, &buffer.extents, params)
    }

    /// The caller's memory for what the program gives back.
    pub(super) fn given_back(
        input: &Input<'_>,
        id: BufferId,
        array: ArrayId,
        params: &[i64],
    ) -> Result<Block, ScheduledError> {
        Block::of_extents(input.layout.buffer(id), &input.algorithm.array(array).extents, params)
    }

    fn of_extents(buffer: &Buffer, affine: &[Affine], params: &[i64]) -> Result<Block, ScheduledError> {
        let mut extents = vec![];
        for extent in affine {
            let extent = integer::affine(extent, &[], params)?;
            extents.push(extent.ok_or(ScheduledError::NoValue { reason: "an extent has no value" })?.max(0));
        }
        let length = extents.iter().product::<i64>() as usize;
        Ok(Block { name: buffer.name.clone(), element: buffer.element, extents, cells: vec![Cell::default(); length] })
    }

    /// An argument's memory.
    pub(super) fn holding(name: String, array: &Array) -> Block {
        let cell = |at: usize| Cell { value: Some(array.get(at)), ..Cell::default() };
        Block {
            name,
            element: array.element(),
            extents: array.extents().iter().map(|&extent| extent as i64).collect(),
            cells: (0..array.len()).map(cell).collect(),
        }
    }

    /// The cell at an index, each part of which is checked.
    fn cell(&mut self, index: &[i64], computation: &str) -> Result<&mut Cell, ScheduledError> {
        let (mut position, mut stride) = (0, 1);
        if index.len() != self.extents.len() {
            return Err(ScheduledError::NoBuffer { buffer: self.name.clone() });
        }
        for (axis, (&index, &extent)) in index.iter().zip(&self.extents).enumerate() {
            if index < 0 || index >= extent {
                let (computation, buffer) = (computation.to_string(), self.name.clone());
                return Err(ScheduledError::OutsideBuffer { computation, buffer, axis, index, extent });
            }
            position += index * stride;
            stride *= extent;
        }
        Ok(&mut self.cells[position as usize])
    }

    /// Whether nothing was stored at an index that is inside.
    pub(super) fn is_undefined(&mut self, index: &[i64]) -> bool {
        self.cell(index, "").is_ok_and(|cell| cell.value.is_none())
    }

    pub(super) fn read(
        &mut self,
        index: &[i64],
        position: &Position,
        computation: &str,
    ) -> Result<Constant, ScheduledError> {
        let buffer = self.name.clone();
        let cell = self.cell(index, computation)?;
        let computation = computation.to_string();
        if cell.written.iter().chain(&cell.updates).any(|earlier| earlier.unordered(position)) {
            return Err(ScheduledError::Race { computation, buffer });
        }
        if !cell.read.last().is_some_and(|last| last.same(position)) {
            cell.read.push(position.clone());
        }
        cell.value.ok_or(ScheduledError::Undefined { computation, buffer })
    }

    pub(super) fn write(
        &mut self,
        index: &[i64],
        value: Constant,
        position: &Position,
        computation: &str,
    ) -> Result<(), ScheduledError> {
        self.store(index, value, position, computation, Beside::None)
    }

    /// Stores a constant. Others may store it at the same time.
    pub(super) fn set(
        &mut self,
        index: &[i64],
        value: Constant,
        position: &Position,
        computation: &str,
    ) -> Result<(), ScheduledError> {
        let cell = self.cell(index, computation)?;
        if cell.beside == Beside::Constant && cell.value == Some(value) && cell.comes_beside(position) {
            cell.add(value, position);
            return Ok(());
        }
        self.store(index, value, position, computation, Beside::Constant)
    }

    /// Stores what an update in one piece makes of the old value. Others by the same operator may come at the same time.
    pub(super) fn update(
        &mut self,
        index: &[i64],
        value: Constant,
        position: &Position,
        (computation, operator): (&str, Option<Operator>),
    ) -> Result<(), ScheduledError> {
        let updates = Beside::Updates(operator);
        let cell = self.cell(index, computation)?;
        if cell.beside == updates && cell.comes_beside(position) {
            cell.add(value, position);
            return Ok(());
        }
        self.store(index, value, position, computation, updates)
    }

    /// Stores behind all that came before.
    fn store(
        &mut self,
        index: &[i64],
        value: Constant,
        position: &Position,
        computation: &str,
        beside: Beside,
    ) -> Result<(), ScheduledError> {
        let buffer = self.name.clone();
        let element = self.element;
        let cell = self.cell(index, computation)?;
        if value.ty != element {
            return Err(ScheduledError::StoredType { computation: computation.to_string() });
        }
        if !cell.is_ordered(position) {
            return Err(ScheduledError::Race { computation: computation.to_string(), buffer });
        }
        let earlier = std::mem::take(cell);
        let before = match beside {
            Beside::None => vec![],
            Beside::Constant | Beside::Updates(_) => {
                let written = earlier.written.into_iter();
                written.chain(earlier.read).chain(earlier.updates).collect()
            }
        };
        *cell = Cell { value: Some(value), written: Some(position.clone()), beside, before, ..Cell::default() };
        Ok(())
    }

    /// The value that an update in one piece finds. Others by the same operator may come at the same time.
    pub(super) fn old(
        &mut self,
        index: &[i64],
        position: &Position,
        (computation, operator): (&str, Option<Operator>),
    ) -> Result<Constant, ScheduledError> {
        let buffer = self.name.clone();
        let cell = self.cell(index, computation)?;
        let is_update = cell.beside == Beside::Updates(operator);
        let computation = computation.to_string();
        if !is_update && cell.written.as_ref().is_some_and(|written| written.unordered(position)) {
            return Err(ScheduledError::Race { computation, buffer });
        }
        cell.value.ok_or(ScheduledError::Undefined { computation, buffer })
    }

    /// Takes the value at an index away: something else is on its way there, or what was stored is no value.
    pub(super) fn unset(
        &mut self,
        index: &[i64],
        position: &Position,
        computation: &str,
    ) -> Result<(), ScheduledError> {
        let buffer = self.name.clone();
        let cell = self.cell(index, computation)?;
        if !cell.is_ordered(position) {
            return Err(ScheduledError::Race { computation: computation.to_string(), buffer });
        }
        *cell = Cell { value: None, written: Some(position.clone()), ..Cell::default() };
        Ok(())
    }

    /// The only element.
    pub(super) fn first(&self) -> Result<Constant, ScheduledError> {
        let value = self.cells.first().and_then(|cell| cell.value);
        value.ok_or_else(|| ScheduledError::UndefinedResult { buffer: self.name.clone() })
    }

    /// The elements as an array; one that nothing was stored into is zero.
    pub(super) fn array(&self) -> Result<Array, ScheduledError> {
        let extents = self.extents.iter().map(|&extent| extent.unsigned_abs()).collect();
        let zero = Constant::integer(self.element, 0);
        Array::from_fn(self.element, extents, |at| self.cells[at].value.unwrap_or(zero))
            .map_err(|_| ScheduledError::NoValue { reason: "an array is too large" })
    }

    /// All elements, in memory order.
    pub(super) fn defined(&self) -> Result<Vec<Constant>, ScheduledError> {
        let values = self.cells.iter().map(|cell| cell.value);
        let undefined = || ScheduledError::UndefinedResult { buffer: self.name.clone() };
        values.map(|value| value.ok_or_else(undefined)).collect()
    }

    /// Takes over another buffer's elements, stored or not, of the host and the device. On the device, `before` elements are free
    /// before each column, and axes may be longer. Of each axis that has limits, only places inside of them are taken over; the limits
    /// must be inside of the array.
    pub(super) fn copy_from(&mut self, other: &Block, before: i64, direction: Direction, limits: &[Range<i64>]) {
        let (host, device) = match direction {
            Direction::HostToDevice => (&other.extents, &self.extents),
            Direction::DeviceToHost => (&self.extents, &other.extents),
        };
        for (limit, &extent) in limits.iter().zip(host) {
            assert!(0 <= limit.start && limit.end <= extent, "a copy of {limit:?} along an axis of {extent}");
        }
        let mut moves = vec![];
        for at in 0..host.iter().product::<i64>() {
            let (mut rest, mut place, mut stride) = (at, before, 1);
            let mut is_inside = true;
            for (axis, (extent, room)) in host.iter().zip(device).enumerate() {
                is_inside &= limits.get(axis).is_none_or(|limit| limit.contains(&(rest % extent)));
                place += rest % extent * stride;
                rest /= extent;
                stride *= room;
            }
            if is_inside {
                moves.push((at as usize, place as usize));
            }
        }
        for (on_host, on_device) in moves {
            let (to, from) = match direction {
                Direction::HostToDevice => (on_device, on_host),
                Direction::DeviceToHost => (on_host, on_device),
            };
            self.cells[to] = Cell { value: other.cells[from].value, ..Cell::default() };
        }
    }
}

/// Buffers by their number.
#[derive(Debug, Clone)]
pub(super) struct Memory(Vec<Option<Block>>);

impl Memory {
    pub(super) fn new(buffers: usize) -> Memory {
        Memory(vec![None; buffers])
    }

    pub(super) fn put(&mut self, id: BufferId, block: Block) {
        self.0[id.0 as usize] = Some(block);
    }

    pub(super) fn take(&mut self, id: BufferId) -> Option<Block> {
        self.0[id.0 as usize].take()
    }

    pub(super) fn block(&self, id: BufferId) -> Option<&Block> {
        self.0[id.0 as usize].as_ref()
    }

    pub(super) fn block_mut(&mut self, id: BufferId) -> Option<&mut Block> {
        self.0[id.0 as usize].as_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x = value`, where each write says in which iteration of one parallel loop it is.
    struct Element(Block);

    impl Element {
        fn new() -> Element {
            let cells = vec![Cell::default()];
            Element(Block { name: "x".to_owned(), element: ScalarType::I64, extents: vec![], cells })
        }

        fn write(&mut self, iteration: u64, value: i64) -> Result<(), ScheduledError> {
            self.0.write(&[], Constant::i64(value), &Position::default().inside(0, iteration), "W")
        }

        fn set(&mut self, iteration: u64, value: i64) -> Result<(), ScheduledError> {
            self.0.set(&[], Constant::i64(value), &Position::default().inside(0, iteration), "S")
        }

        fn update(&mut self, iteration: u64, value: i64) -> Result<(), ScheduledError> {
            self.0.update(
                &[],
                Constant::i64(value),
                &Position::default().inside(0, iteration),
                ("U", Some(Operator::Sum)),
            )
        }

        fn read(&mut self, iteration: u64) -> Result<Constant, ScheduledError> {
            self.0.read(&[], &Position::default().inside(0, iteration), "R")
        }
    }

    fn is_race<T>(done: Result<T, ScheduledError>) -> bool {
        matches!(done, Err(ScheduledError::Race { .. }))
    }

    #[test]
    fn iterations_may_set_one_constant() {
        let mut x = Element::new();
        (0..3).for_each(|iteration| x.set(iteration, 1).unwrap());
        assert!(is_race(x.read(1)));
        assert!(is_race(x.set(1, 2)));
        assert!(is_race(x.write(2, 1)));
    }

    #[test]
    fn what_came_before_the_first_one_that_sets_comes_before_all() {
        let mut x = Element::new();
        x.write(0, 5).unwrap();
        x.set(0, 1).unwrap();
        x.set(0, 1).unwrap();
        assert!(is_race(x.set(1, 1)), "the 5 may come last");
        let mut x = Element::new();
        x.write(0, 5).unwrap();
        x.read(0).unwrap();
        x.update(0, 6).unwrap();
        assert!(is_race(x.update(1, 7)), "the 5 may come last");
    }

    #[test]
    fn what_reads_between_comes_before_those_after() {
        let mut x = Element::new();
        x.set(0, 1).unwrap();
        x.read(0).unwrap();
        assert!(is_race(x.set(1, 1)));
    }
}
