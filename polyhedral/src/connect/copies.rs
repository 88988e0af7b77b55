//! `copy_in` and `copy_out`: when arguments move, proved to be where they are needed.
//!
//! Statements run on the device, so the caller's memory changes by copies back only. With `H` and `D` the two sides of
//! an array, the current value of an element is in `D` from the moment that a copy or a statement brings it there,
//! and stays there, if
//!
//! * after each write, a copy back comes before the next copy to the device, which would bring an old value,
//! * a copy to the device comes before each read of a value that was there at entry,
//! * a copy to the device comes before each copy back, which would bring back what nothing has stored; one at the node of the copy back, or
//!   at a node around it, happens whenever that one does, also where a loop between them has no iteration,
//! * a copy back comes after each write.

use super::error::{ConnectError, Missing};
use super::event::{Event, Order, loops_around, smallest};
use crate::algorithm::{AccessRef, ArrayId, ArrayKind, ComputationId, Which};
use crate::dependence::{Dependence, live_in};
use crate::error::Error;
use crate::isl::{Map, Set};
use crate::layers::{Direction, Moment, Transfer};
use crate::relation;

/// The copies of one array.
struct Copies<'a> {
    order: Order<'a>,
    array: ArrayId,
    all: &'a [Transfer],
    assumed: Option<Set>,
}

/// Proves that the copies of an array bring every value where it is needed.
///
/// # Errors
/// [`ConnectError::Overwrites`] and [`ConnectError::NotMoved`], with a witness.
pub(super) fn check(
    order: Order<'_>,
    array: ArrayId,
    all: &[Transfer],
    dependences: &[Dependence],
    whole_written: bool,
) -> Result<(), Error> {
    let it = Copies { order, array, all, assumed: order.algorithm.assumed()? };
    let algorithm = order.algorithm;
    let writers: Vec<ComputationId> =
        algorithm.ids().filter(|&id| algorithm.computation(id).write.array == array).collect();
    for (number, copy) in it.of(Direction::HostToDevice) {
        for &writer in &writers {
            it.check_newer(writer, number, copy)?;
        }
    }
    for flow in live_in(order.ctx, algorithm, dependences)? {
        if algorithm.access(flow.read).array == array {
            it.check_arrives(flow.read, &flow.live_in)?;
        }
    }
    if algorithm.array(array).kind == ArrayKind::Argument {
        for (number, copy) in it.of(Direction::DeviceToHost) {
            it.check_defined(number, copy, if whole_written { &writers } else { &[] })?;
        }
    }
    writers.iter().try_for_each(|&writer| it.check_returns(writer))
}

impl Copies<'_> {
    fn of(&self, direction: Direction) -> impl Iterator<Item = (usize, &Transfer)> {
        self.all.iter().enumerate().filter(move |(_, it)| it.direction == direction)
    }

    fn event<'t>(&self, number: usize, copy: &'t Transfer) -> Event<'t> {
        Event::Operation { at: &copy.at, moment: copy.moment, number }
    }

    /// `{ S[x] }`: the instances that write the array.
    fn writes(&self, writer: ComputationId) -> Result<Set, Error> {
        let write = &self.order.algorithm.computation(writer).write;
        Ok(relation::access(self.order.ctx, self.order.algorithm, writer, write)?.domain()?)
    }

    fn known(&self, pairs: Map) -> Result<Map, Error> {
        match &self.assumed {
            Some(assumed) => Ok(pairs.intersect_params(assumed)?),
            None => Ok(pairs),
        }
    }

    /// After a write, a copy back comes before the next copy to the device.
    fn check_newer(&self, writer: ComputationId, number: usize, copy: &Transfer) -> Result<(), Error> {
        let here = self.event(number, copy);
        let instances = Event::Instance(writer);
        let pairs = self.order.before(instances, here)?.intersect_domain(&self.writes(writer)?)?;
        let mut wrong = self.known(pairs.intersect_range(&self.order.perhaps(&copy.at)?)?)?;
        for (other, back) in self.of(Direction::DeviceToHost) {
            let (event, surely) = (self.event(other, back), self.order.surely(&back.at)?);
            let first = self.order.before(instances, event)?.intersect_range(&surely)?;
            wrong = wrong.subtract(&first.apply_range(&self.order.before(event, here)?)?)?;
        }
        match wrong.is_empty()? {
            true => Ok(()),
            false => {
                let access = AccessRef { computation: writer, which: Which::Write };
                Err(ConnectError::Overwrites(Box::new(self.missing(copy, access, &wrong)?)).into())
            }
        }
    }

    /// A copy to the device comes before each read of a value from entry.
    fn check_arrives(&self, read: AccessRef, live: &Set) -> Result<(), Error> {
        let mut wrong = live.clone();
        for (number, copy) in self.of(Direction::HostToDevice) {
            let before = self.order.before(self.event(number, copy), Event::Instance(read.computation))?;
            wrong = wrong.subtract(&before.intersect_domain(&self.order.surely(&copy.at)?)?.range()?)?;
        }
        self.not_moved(read, wrong, Direction::HostToDevice)
    }

    /// A copy back comes after each write.
    fn check_returns(&self, writer: ComputationId) -> Result<(), Error> {
        let mut wrong = self.writes(writer)?;
        for (number, copy) in self.of(Direction::DeviceToHost) {
            let after = self.order.before(Event::Instance(writer), self.event(number, copy))?;
            wrong = wrong.subtract(&after.intersect_range(&self.order.surely(&copy.at)?)?.domain()?)?;
        }
        self.not_moved(AccessRef { computation: writer, which: Which::Write }, wrong, Direction::DeviceToHost)
    }

    /// A copy to the device comes before each copy back, or else all writes, which then write the whole array.
    fn check_defined(&self, number: usize, back: &Transfer, writers: &[ComputationId]) -> Result<(), Error> {
        if self.of(Direction::HostToDevice).any(|(_, copy)| copy.at.contains(&back.at)) {
            return Ok(());
        }
        let here = self.event(number, back);
        let some = relation::index_set(self.order.ctx, self.order.algorithm, self.array)?.params()?;
        let mut wrong = self.order.perhaps(&back.at)?.intersect_params(&some)?;
        for (other, copy) in self.of(Direction::HostToDevice) {
            let before = self.order.before(self.event(other, copy), here)?;
            wrong = wrong.subtract(&before.intersect_domain(&self.order.surely(&copy.at)?)?.range()?)?;
        }
        if !writers.is_empty() && !wrong.is_empty()? {
            let mut early = wrong.subtract(&wrong)?;
            for &writer in writers {
                let later = self.order.before(here, Event::Instance(writer))?.intersect_range(&self.writes(writer)?)?;
                early = early.union(&later.domain()?.intersect(&wrong)?)?;
            }
            wrong = early;
        }
        let wrong = self.known(wrong.identity()?)?;
        if wrong.is_empty()? {
            return Ok(());
        }
        let names: Vec<&str> = loops_around(self.order.schedule, &back.at).iter().map(|it| it.name.as_str()).collect();
        let pair = smallest(self.order.ctx, self.order.algorithm, &wrong, names.len())?;
        let missing = Missing {
            array: self.name(),
            direction: Direction::HostToDevice,
            access: None,
            instance: vec![],
            copy: names.into_iter().map(str::to_string).zip(pair.first).collect(),
            params: pair.params,
        };
        Err(ConnectError::NotMoved(Box::new(missing)).into())
    }

    fn not_moved(&self, access: AccessRef, wrong: Set, direction: Direction) -> Result<(), Error> {
        let wrong = self.known(wrong.identity()?)?;
        if wrong.is_empty()? {
            return Ok(());
        }
        let length = self.order.algorithm.computation(access.computation).iterators.len();
        let pair = smallest(self.order.ctx, self.order.algorithm, &wrong, length)?;
        let (array, copy) = (self.name(), vec![]);
        let missing =
            Missing { array, direction, access: Some(access), instance: pair.first, copy, params: pair.params };
        Err(ConnectError::NotMoved(Box::new(missing)).into())
    }

    /// The smallest of some pairs of an access and the copy.
    fn missing(&self, copy: &Transfer, access: AccessRef, pairs: &Map) -> Result<Missing, Error> {
        let length = self.order.algorithm.computation(access.computation).iterators.len();
        let pair = smallest(self.order.ctx, self.order.algorithm, pairs, length)?;
        let names = loops_around(self.order.schedule, &copy.at).into_iter().map(|it| it.name.clone());
        Ok(Missing {
            array: self.name(),
            direction: copy.direction,
            access: Some(access),
            instance: pair.first,
            copy: names.zip(pair.second).collect(),
            params: pair.params,
        })
    }

    fn name(&self) -> String {
        self.order.algorithm.array(self.array).name.clone()
    }
}

/// The moment of a copy: to the device before something, back after it.
pub(super) fn moment(direction: Direction) -> Moment {
    match direction {
        Direction::HostToDevice => Moment::Before,
        Direction::DeviceToHost => Moment::After,
    }
}
