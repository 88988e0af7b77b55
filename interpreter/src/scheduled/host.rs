//! The program as the CPU runs it.

use super::error::ScheduledError;
use super::expression::{Surroundings, bind, execute, goes_on, values};
use super::integer;
use super::kernel;
use super::memory::{Block, Memory, Position};
use super::shuffle::Shuffle;
use std::collections::BTreeMap;
use std::ops::Range;
use tessella_codegen::program::{Blocks, For, Going, Node};
use tessella_codegen::{Input, Program};
use tessella_polyhedral::layers::{Direction, Lifetime};
use tessella_polyhedral::schedule::Tag;
use tessella_scalar::Constant;

pub(super) struct Host<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) program: &'a Program,
    pub(super) params: &'a [i64],
    pub(super) scalars: Vec<Constant>,
    /// What computations access.
    pub(super) memory: Memory,
    /// The caller's side of buffers that live on a device.
    pub(super) outside: Memory,
    pub(super) variables: Vec<Option<i64>>,
    pub(super) position: Position,
    pub(super) shuffle: Shuffle,
    /// How many loops without an order have begun.
    pub(super) executions: u64,
    /// What the threads of blocks offered so far to updates that their blocks combine: by block, and by how many updates of the
    /// block came before; each with the thread's number.
    pub(super) offers: BTreeMap<(i64, u64), Vec<Offer>>,
}

/// A thread's number, and what it offered.
pub(super) type Offer = (u64, Option<Constant>);

impl Host<'_> {
    pub(super) fn whole(&mut self) -> Result<(), ScheduledError> {
        self.block(&self.program.body)
    }

    /// A number that no loop without an order has had.
    pub(super) fn execution(&mut self) -> u64 {
        self.executions += 1;
        self.executions
    }

    /// What an expression outside of threads is evaluated in, and the variables beside it.
    pub(super) fn surroundings(&mut self) -> (Surroundings<'_>, &mut Vec<Option<i64>>) {
        let around = Surroundings {
            input: self.input,
            params: self.params,
            scalars: &self.scalars,
            memory: &mut self.memory,
            registers: None,
            position: &self.position,
            ahead: None,
        };
        (around, &mut self.variables)
    }

    fn block(&mut self, nodes: &[Node]) -> Result<(), ScheduledError> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node) -> Result<(), ScheduledError> {
        match node {
            Node::For(it) => self.iterate(it),
            Node::Tile(it) => self.iterate(&it.generic),
            Node::If { condition, then, otherwise } => match integer::holds(condition, self.params, &self.variables)? {
                true => self.block(then),
                false => self.block(otherwise),
            },
            Node::Let { variable, value } => {
                let value = integer::value(value, self.params, &self.variables)?;
                bind(&mut self.variables, variable.0, value);
                Ok(())
            }
            Node::Statement(it) => {
                let (mut around, variables) = self.surroundings();
                execute(&mut around, it, variables)
            }
            Node::Declare { buffer, body } => {
                let outer = self.memory.take(*buffer);
                self.memory.put(*buffer, Block::undefined(self.input, *buffer, self.params)?);
                self.block(body)?;
                self.memory.take(*buffer);
                if let Some(outer) = outer {
                    self.memory.put(*buffer, outer);
                }
                Ok(())
            }
            Node::Launch(id) => kernel::launch(self, self.program.kernel(*id)),
            Node::Together { kernel, apart } => {
                let kernel = self.program.kernel(*kernel);
                match kernel.blocks {
                    Blocks::Apart | Blocks::Together => kernel::launch_together(self, kernel),
                    Blocks::Resident if integer::value(&kernel.grid[0], self.params, &self.variables)? > 0 => {
                        kernel::launch(self, kernel)
                    }
                    Blocks::Resident => self.block(apart),
                }
            }
            Node::Copy { buffer, direction, part } => {
                let mut limits = vec![];
                for axis in part.iter().flat_map(|part| &part.axes) {
                    let value = |expr| integer::value(expr, self.params, &self.variables);
                    let (first, count) = (value(&axis.first)?, value(&axis.count)?);
                    limits.push(first..first + count);
                }
                if limits.iter().any(Range::is_empty) {
                    return Ok(());
                }
                let before = match self.input.layout.buffer(*buffer).lifetime {
                    Lifetime::Argument(array) => i64::from(self.input.free_before(array)),
                    Lifetime::Call | Lifetime::Node(_) | Lifetime::Children { .. } => 0,
                };
                let (to, from) = match direction {
                    Direction::HostToDevice => (&mut self.memory, &self.outside),
                    Direction::DeviceToHost => (&mut self.outside, &self.memory),
                };
                match (to.block_mut(*buffer), from.block(*buffer)) {
                    (Some(to), Some(from)) => to.copy_from(from, before, *direction, &limits),
                    _ => return Err(ScheduledError::Misplaced { what: "a copy" }),
                }
                Ok(())
            }
            Node::Spread(_) => Err(ScheduledError::Misplaced { what: "a loop over blocks or threads" }),
            Node::OneThread { .. } => Err(ScheduledError::Misplaced { what: "the choice of a thread" }),
            // What runs on the device has run when the next node begins.
            Node::Barrier => Ok(()),
            Node::Turns(_) | Node::GridBarrier => Err(ScheduledError::Misplaced { what: "what all blocks do" }),
            Node::Await(_) => Err(ScheduledError::Misplaced { what: "a wait for copies" }),
            Node::Streaming(_) => Err(ScheduledError::Misplaced { what: "a stream" }),
        }
    }

    fn iterate_while(&mut self, it: &For, going: &Going) -> Result<(), ScheduledError> {
        let mut next = integer::value(&it.lower, self.params, &self.variables)?;
        let upper = integer::value(&it.upper, self.params, &self.variables)?;
        while next <= upper {
            let (mut around, variables) = self.surroundings();
            if !goes_on(&mut around, going, variables)? {
                break;
            }
            bind(&mut self.variables, it.variable.0, next);
            self.block(&it.body)?;
            next += it.step;
        }
        Ok(())
    }

    fn iterate(&mut self, it: &For) -> Result<(), ScheduledError> {
        if let Some(going) = &it.going {
            return self.iterate_while(it, going);
        }
        let (mut around, variables) = self.surroundings();
        let mut values = values(&mut around, it, variables)?;
        match it.tag {
            Tag::Sequential | Tag::GridSync | Tag::Unroll(_) | Tag::Rows | Tag::Separate => {
                for value in values {
                    bind(&mut self.variables, it.variable.0, value);
                    self.block(&it.body)?;
                }
                Ok(())
            }
            Tag::Parallel | Tag::Vector(_) => {
                self.shuffle.order(&mut values);
                let execution = self.execution();
                let outer = self.position.clone();
                for value in values {
                    self.position = outer.inside(execution, value as u64);
                    bind(&mut self.variables, it.variable.0, value);
                    self.block(&it.body)?;
                }
                self.position = outer;
                Ok(())
            }
            Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine | Tag::Stream(_) => {
                Err(ScheduledError::Misplaced { what: "a loop of the GPU" })
            }
        }
    }
}
