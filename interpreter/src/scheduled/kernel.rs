//! Kernels: blocks in any order, and in each block the threads, in any order from barrier to barrier.

use super::error::ScheduledError;
use super::expression::{
    Arrival, Surroundings, arrive, bind, combine, computed, execute, goes_on, offer, update_by, values,
};
use super::host::Host;
use super::integer;
use super::memory::{Block, Memory};
use super::streaming;
use std::collections::{BTreeMap, VecDeque};
use std::vec::IntoIter;
use tessella_codegen::ahead_of_stores::points;
use tessella_codegen::int_expr::VariableId;
use tessella_codegen::program::{For, Going, Guard, Kernel, Node, Over, Spread, Statement, Update};
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::expr::ExprKind;
use tessella_polyhedral::layers::BufferId;
use tessella_polyhedral::schedule::ProcessorAxis;
use tessella_scalar::Constant;

/// Runs all blocks of a kernel.
pub(super) fn launch(host: &mut Host<'_>, kernel: &Kernel) -> Result<(), ScheduledError> {
    let mut grid = [0; 3];
    // Outermost first, which is the last axis: where a loop has no iterations, the extents of those inside mean nothing.
    for (extent, expr) in grid.iter_mut().zip(&kernel.grid).rev() {
        *extent = integer::value(expr, host.params, &host.variables)?;
        if *extent <= 0 {
            return Ok(());
        }
    }
    if let [Node::Streaming(it)] = kernel.body.as_slice() {
        return streaming::launch(host, kernel, it, grid[0]);
    }
    let mut blocks = indices(grid);
    host.shuffle.order(&mut blocks);
    let execution = host.execution();
    let outer = host.position.clone();
    for block in blocks {
        host.position = outer.inside(execution, number(block, grid));
        run_block(host, kernel, grid, block)?;
    }
    host.position = outer;
    Ok(())
}

/// A device that holds so many blocks at once: few, so that they take turns.
const HELD_AT_ONCE: i64 = 3;

/// Runs a kernel whose blocks wait for each other: from barrier to barrier, in any order.
pub(super) fn launch_together(host: &mut Host<'_>, kernel: &Kernel) -> Result<(), ScheduledError> {
    let most = integer::value(&kernel.grid[0], host.params, &host.variables)?;
    let grid = [most.min(HELD_AT_ONCE), 1, 1];
    let mut blocks = vec![];
    for block in indices(grid) {
        blocks.push((block, threads(host, kernel, grid, block), shared(host, kernel)?));
    }
    let outer = host.position.clone();
    loop {
        host.shuffle.order(&mut blocks);
        let execution = host.execution();
        let mut ended = 0;
        for (block, threads, shared) in &mut blocks {
            host.position = outer.inside(execution, number(*block, grid));
            for (buffer, memory) in shared.drain(..) {
                host.memory.put(buffer, memory);
            }
            ended += usize::from(run_on(host, kernel, threads)? == Stop::End);
            let taken = kernel.shared.iter().filter_map(|&buffer| Some((buffer, host.memory.take(buffer)?)));
            shared.extend(taken);
        }
        host.position = outer.clone();
        match ended {
            0 if !blocks.is_empty() => {}
            all if all == blocks.len() => return Ok(()),
            _ => return Err(ScheduledError::Divergent { kernel: kernel.name.clone() }),
        }
    }
}

fn run_block(host: &mut Host<'_>, kernel: &Kernel, grid: [i64; 3], block: [i64; 3]) -> Result<(), ScheduledError> {
    let mut threads = threads(host, kernel, grid, block);
    for (buffer, memory) in shared(host, kernel)? {
        host.memory.put(buffer, memory);
    }
    let stop = run_on(host, kernel, &mut threads)?;
    kernel.shared.iter().for_each(|&buffer| drop(host.memory.take(buffer)));
    match stop {
        Stop::End => Ok(()),
        Stop::Barrier | Stop::Grid => Err(ScheduledError::Misplaced { what: "a barrier of the grid" }),
    }
}

/// The threads of a block, before they begin.
fn threads<'a>(host: &Host<'_>, kernel: &'a Kernel, grid: [i64; 3], block: [i64; 3]) -> Vec<Thread<'a>> {
    let mut size = kernel.block.map(i64::from);
    if kernel.warps {
        // The lanes of a warp are one thread: they take turns in the order of its loops.
        size[0] = 1;
    }
    indices(size).into_iter().map(|thread| Thread::new(host, kernel, [grid, size], [block, thread])).collect()
}

/// The memory that a block's threads share, with nothing stored in it.
fn shared(host: &Host<'_>, kernel: &Kernel) -> Result<Vec<(BufferId, Block)>, ScheduledError> {
    let undefined = |&buffer| Ok((buffer, Block::undefined(host.input, buffer, host.params)?));
    kernel.shared.iter().map(undefined).collect()
}

/// Runs a block on to where all its threads end, or wait for other blocks.
fn run_on(host: &mut Host<'_>, kernel: &Kernel, threads: &mut [Thread<'_>]) -> Result<Stop, ScheduledError> {
    let size = kernel.block.map(i64::from);
    let outer = host.position.clone();
    loop {
        host.shuffle.order(threads);
        let phase = host.execution();
        let mut stops = vec![];
        for thread in threads.iter_mut() {
            host.position = outer.inside(phase, number(thread.index[1], size));
            stops.push(thread.run(host)?);
        }
        host.position = outer.clone();
        let first = stops.first().copied().unwrap_or(Stop::End);
        if stops.iter().any(|stop| *stop != first) {
            return Err(ScheduledError::Divergent { kernel: kernel.name.clone() });
        }
        if first != Stop::Barrier {
            return Ok(first);
        }
    }
}

/// All indices of a grid or block.
fn indices([x, y, z]: [i64; 3]) -> Vec<[i64; 3]> {
    let plane = |z: i64| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z]));
    (0..z).flat_map(plane).collect()
}

fn number(index: [i64; 3], size: [i64; 3]) -> u64 {
    (index[0] + size[0] * (index[1] + size[1] * index[2])) as u64
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// Of the block.
    Barrier,
    /// Of all blocks.
    Grid,
    End,
}

/// A thread in the middle of its kernel.
struct Thread<'a> {
    kernel: &'a Kernel,
    /// Of the grid and of a block; in turns, of their grid.
    extents: [[i64; 3]; 2],
    /// The block's and the thread's own.
    index: [[i64; 3]; 2],
    /// The block's number, and how many blocks there are, for turns.
    block: i64,
    blocks: i64,
    variables: Vec<Option<i64>>,
    registers: Memory,
    /// What is on its way to shared memory: since the last wait, and for each wait before what it did not wait for.
    ahead: Vec<Arrival>,
    begun: VecDeque<Vec<Arrival>>,
    /// What its instance offered to the updates that the block combines next, and how many of these came before.
    offers: BTreeMap<ComputationId, Constant>,
    combined: u64,
    /// What is left to do, outermost first.
    frames: Vec<Frame<'a>>,
}

enum Frame<'a> {
    Nodes {
        rest: std::slice::Iter<'a, Node>,
        declared: Option<BufferId>,
    },
    Loop {
        variable: VariableId,
        body: &'a [Node],
        values: IntoIter<i64>,
    },
    /// Blocks of a grid of the turns' own, of which the thread runs some.
    Turns {
        body: &'a [Node],
        blocks: IntoIter<[i64; 3]>,
    },
    /// Updates that the block combines once all threads have offered; whether the thread has an iteration of the loop.
    Combine {
        all: &'a [Statement],
        has_iteration: bool,
        offered: bool,
    },
    /// A loop that data end: its next value, and the last one.
    While {
        it: &'a For,
        going: &'a Going,
        next: i64,
        last: i64,
    },
}

impl<'a> Thread<'a> {
    fn new(host: &Host<'_>, kernel: &'a Kernel, extents: [[i64; 3]; 2], index: [[i64; 3]; 2]) -> Thread<'a> {
        Thread {
            kernel,
            extents,
            index,
            block: number(index[0], extents[0]) as i64,
            blocks: extents[0].iter().product(),
            variables: host.variables.clone(),
            registers: Memory::new(host.input.layout.buffers.len()),
            ahead: vec![],
            begun: VecDeque::new(),
            offers: BTreeMap::new(),
            combined: 0,
            frames: vec![Frame::Nodes { rest: kernel.body.iter(), declared: None }],
        }
    }

    /// Goes on to the next barrier or the end.
    fn run(&mut self, host: &mut Host<'_>) -> Result<Stop, ScheduledError> {
        while let Some(frame) = self.frames.last_mut() {
            match frame {
                Frame::Loop { variable, body, values } => match values.next() {
                    Some(value) => {
                        bind(&mut self.variables, variable.0, value);
                        let rest = body.iter();
                        self.frames.push(Frame::Nodes { rest, declared: None });
                    }
                    None => {
                        self.frames.pop();
                    }
                },
                Frame::Turns { body, blocks } => match blocks.next() {
                    Some(block) => {
                        self.index[0] = block;
                        let rest = body.iter();
                        self.frames.push(Frame::Nodes { rest, declared: None });
                    }
                    None => {
                        self.frames.pop();
                    }
                },
                Frame::Combine { all, has_iteration, offered } => {
                    let (all, has_iteration) = (*all, *has_iteration);
                    if !*offered {
                        *offered = true;
                        let number = number(self.index[1], self.extents[1]);
                        for (update, it) in (self.combined..).zip(all) {
                            let offers = host.offers.entry((self.block, update)).or_default();
                            offers.push((number, self.offers.remove(&it.computation)));
                        }
                        return Ok(Stop::Barrier);
                    }
                    self.frames.pop();
                    all.iter().try_for_each(|it| self.combine(it, has_iteration, host))?;
                }
                Frame::While { it, going, next, last } => {
                    let (it, going, value, last) = (*it, *going, *next, *last);
                    *next += it.step;
                    let mut around = Surroundings {
                        input: host.input,
                        params: host.params,
                        scalars: &host.scalars,
                        memory: &mut host.memory,
                        registers: Some(&mut self.registers),
                        position: &host.position,
                        ahead: None,
                    };
                    if value <= last && goes_on(&mut around, going, &self.variables)? {
                        bind(&mut self.variables, it.variable.0, value);
                        self.frames.push(Frame::Nodes { rest: it.body.iter(), declared: None });
                    } else {
                        self.frames.pop();
                    }
                }
                Frame::Nodes { rest, declared } => match rest.next() {
                    Some(Node::Barrier) => return Ok(Stop::Barrier),
                    Some(Node::GridBarrier) => return Ok(Stop::Grid),
                    Some(node) => self.node(node, host)?,
                    None => {
                        if let Some(buffer) = *declared {
                            self.registers.take(buffer);
                        }
                        self.frames.pop();
                    }
                },
            }
        }
        if self.ahead.is_empty() && self.begun.iter().all(Vec::is_empty) {
            return Ok(Stop::End);
        }
        Err(ScheduledError::Misplaced { what: "a copy that nobody waits for" })
    }

    fn push(&mut self, nodes: &'a [Node]) {
        self.frames.push(Frame::Nodes { rest: nodes.iter(), declared: None });
    }

    fn node(&mut self, node: &'a Node, host: &mut Host<'_>) -> Result<(), ScheduledError> {
        match node {
            Node::For(it) if let Some(going) = &it.going => {
                let next = integer::value(&it.lower, host.params, &self.variables)?;
                let last = integer::value(&it.upper, host.params, &self.variables)?;
                self.frames.push(Frame::While { it, going, next, last });
            }
            Node::For(it) if it.stores_last => {
                let Some((loops, statement)) = points(it) else {
                    return Err(ScheduledError::Misplaced { what: "a nest without a statement of its own" });
                };
                let mut values = vec![];
                self.compute(&loops, statement, &mut values, host)?;
                let mut around = Surroundings { registers: Some(&mut self.registers), ..host.surroundings().0 };
                arrive(&mut around, values)?;
            }
            Node::For(it) => {
                let values = self.values(it, host)?.into_iter();
                self.frames.push(Frame::Loop { variable: it.variable, body: &it.body, values });
            }
            Node::Tile(it) => {
                let values = self.values(&it.generic, host)?.into_iter();
                self.frames.push(Frame::Loop { variable: it.generic.variable, body: &it.generic.body, values });
            }
            Node::If { condition, then, otherwise } => {
                let holds = integer::holds(condition, host.params, &self.variables)?;
                self.push(if holds { then } else { otherwise });
            }
            Node::Let { variable, value } => {
                let value = integer::value(value, host.params, &self.variables)?;
                bind(&mut self.variables, variable.0, value);
            }
            Node::Statement(it) if it.update == Update::Offered => {
                let mut around = Surroundings { registers: Some(&mut self.registers), ..host.surroundings().0 };
                let value = offer(&mut around, it, &mut self.variables)?;
                if self.offers.insert(it.computation, value).is_some() {
                    return Err(ScheduledError::Misplaced { what: "a second offer of a thread" });
                }
            }
            Node::Statement(it) => {
                let mut around = Surroundings {
                    registers: Some(&mut self.registers),
                    ahead: Some(&mut self.ahead),
                    ..host.surroundings().0
                };
                execute(&mut around, it, &mut self.variables)?;
            }
            Node::Declare { buffer, body } => {
                self.registers.put(*buffer, Block::undefined(host.input, *buffer, host.params)?);
                self.frames.push(Frame::Nodes { rest: body.iter(), declared: Some(*buffer) });
            }
            Node::Spread(it) => self.spread(it, host)?,
            Node::OneThread { axes, body } => {
                if axes.iter().all(|&axis| self.index[1][axis as usize] == 0) {
                    self.push(body);
                }
            }
            Node::Turns(it) => {
                let mut grid = [0; 3];
                for (extent, expr) in grid.iter_mut().zip(&it.grid) {
                    *extent = integer::value(expr, host.params, &self.variables)?.max(0);
                }
                self.extents[0] = grid;
                let own = indices(grid).into_iter().skip(self.block as usize).step_by(self.blocks as usize);
                let blocks = own.collect::<Vec<_>>().into_iter();
                self.frames.push(Frame::Turns { body: &it.body, blocks });
            }
            Node::Barrier | Node::GridBarrier => {}
            Node::Await(later) => self.await_copies(*later as usize, host)?,
            Node::Streaming(_) => return Err(ScheduledError::Misplaced { what: "a stream" }),
            Node::Launch(_) | Node::Together { .. } => {
                return Err(ScheduledError::Misplaced { what: "a launch" });
            }
            Node::Copy { .. } => return Err(ScheduledError::Misplaced { what: "a copy" }),
        }
        Ok(())
    }

    /// The first thread combines what all have offered: 32 neighbours, then one of each 32, both along halves.
    fn combine(&mut self, it: &Statement, has_iteration: bool, host: &mut Host<'_>) -> Result<(), ScheduledError> {
        let key = (self.block, self.combined);
        self.combined += 1;
        if self.index[1] != [0; 3] {
            return Ok(());
        }
        let computation = host.input.algorithm.computation(it.computation);
        let ExprKind::Binary(operator, ..) = computation.value.kind else {
            return Err(ScheduledError::Misplaced { what: "an update that is none" });
        };
        let mut offers = host.offers.remove(&key).unwrap_or_default();
        offers.sort_by_key(|(thread, _)| *thread);
        let offers: Vec<Option<Constant>> = offers.into_iter().map(|(_, offer)| offer).collect();
        let halves = |offers: &[Option<Constant>]| -> Result<Option<Constant>, ScheduledError> {
            let mut left = offers.to_vec();
            while left.len() > 1 {
                let half = left.len() / 2;
                for at in 0..half {
                    left[at] = match (left[at], left[at + half]) {
                        (Some(x), Some(y)) => Some(combine(operator, x, y, &computation.name)?),
                        (one, other) => one.or(other),
                    };
                }
                left.truncate(half);
            }
            Ok(left.first().copied().flatten())
        };
        let warps = offers.chunks(32).map(halves).collect::<Result<Vec<_>, _>>()?;
        match halves(&warps)? {
            Some(by) if has_iteration => {
                let mut around = Surroundings { registers: Some(&mut self.registers), ..host.surroundings().0 };
                update_by(&mut around, it, &mut self.variables, by)
            }
            Some(_) => Err(ScheduledError::Misplaced { what: "an offer to an update that does not happen" }),
            None => Ok(()),
        }
    }

    fn values(&mut self, it: &For, host: &mut Host<'_>) -> Result<Vec<i64>, ScheduledError> {
        let mut around = Surroundings { registers: Some(&mut self.registers), ..host.surroundings().0 };
        values(&mut around, it, &self.variables)
    }

    /// What the points of loops inside one another would store.
    fn compute(
        &mut self,
        loops: &[&'a For],
        statement: &'a Statement,
        into: &mut Vec<Arrival>,
        host: &mut Host<'_>,
    ) -> Result<(), ScheduledError> {
        let Some((outer, inner)) = loops.split_first() else {
            let mut around = Surroundings { registers: Some(&mut self.registers), ..host.surroundings().0 };
            into.push(computed(&mut around, statement, &mut self.variables)?);
            return Ok(());
        };
        for value in self.values(outer, host)? {
            bind(&mut self.variables, outer.variable.0, value);
            self.compute(inner, statement, into, host)?;
        }
        Ok(())
    }

    /// What began before the last `later` waits is there.
    fn await_copies(&mut self, later: usize, host: &mut Host<'_>) -> Result<(), ScheduledError> {
        self.begun.push_back(std::mem::take(&mut self.ahead));
        while self.begun.len() > later {
            let arrivals = self.begun.pop_front().unwrap_or_default();
            arrive(&mut host.surroundings().0, arrivals)?;
        }
        Ok(())
    }

    fn spread(&mut self, it: &'a Spread, host: &Host<'_>) -> Result<(), ScheduledError> {
        let lower = integer::value(&it.lower, host.params, &self.variables)?;
        let upper = integer::value(&it.upper, host.params, &self.variables)?;
        let level = match it.over {
            Over::Blocks => 0,
            Over::Threads => 1,
        };
        let axis: ProcessorAxis = it.axis;
        let named = || (self.kernel.name.clone(), it.name.clone());
        let all = self.extents[level][axis as usize];
        if it.guard == Guard::Turns {
            let first = lower + it.step * self.index[level][axis as usize];
            let values: Vec<i64> = (first..=upper).step_by((it.step * all) as usize).collect();
            self.frames.push(Frame::Loop { variable: it.variable, body: &it.body, values: values.into_iter() });
            return Ok(());
        }
        let value = lower + it.step * self.index[level][axis as usize];
        if !it.combined.is_empty() {
            self.frames.push(Frame::Combine { all: &it.combined, has_iteration: value <= upper, offered: false });
        }
        if lower <= upper && (upper - lower) / it.step >= all {
            let (kernel, name) = named();
            return Err(ScheduledError::Uncovered { kernel, name });
        }
        if value > upper {
            let (kernel, name) = named();
            return match it.guard {
                Guard::Needed => Ok(()),
                Guard::Unneeded | Guard::Turns => Err(ScheduledError::Unguarded { kernel, name }),
            };
        }
        bind(&mut self.variables, it.variable.0, value);
        self.push(&it.body);
        Ok(())
    }
}
