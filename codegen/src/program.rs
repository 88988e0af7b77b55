//! The loop program: what runs, in which order, as plain data that no target has touched.

use crate::ahead::RowCopy;
use crate::entry::Entry;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::names::Names;
use crate::stream::Streaming;
use crate::tile::Tile;
use crate::wide::Wide;
use std::collections::BTreeMap;
use tessella_polyhedral::affine::ParamId;
use tessella_polyhedral::algorithm::{ComputationId, ScalarId};
use tessella_polyhedral::expr::Expr;
use tessella_polyhedral::layers::{BufferId, Direction, Target};
use tessella_polyhedral::schedule::{Path, ProcessorAxis, Tag};

/// A function as loops over statements, with everything named.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    pub target: Target,
    pub names: Names,
    pub entry: Entry,
    pub body: Vec<Node>,
    /// By [`KernelId`].
    pub kernels: Vec<Kernel>,
    /// The loop of the schedule behind each iterator.
    pub loops: BTreeMap<VariableId, Path>,
    /// Every computation that does arithmetic allows contraction and reassociation.
    pub fastmath: bool,
    /// Runs on the host after the other checks at entry, before anything is written.
    pub scan: Option<Box<Scan>>,
}

/// The program that finds computed subscripts that are outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Scan {
    /// Takes the same arguments, and a place for its result.
    pub program: Program,
    /// The status is this and the result, where that is not 0.
    pub base: i32,
}

/// Names a [`Kernel`] of a [`Program`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelId(pub u32);

#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    For(For),
    If {
        condition: Cond,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
    /// Binds a variable for the rest of the block.
    Let {
        variable: VariableId,
        value: IntExpr,
    },
    Statement(Statement),
    /// The buffer exists while the body runs.
    Declare {
        buffer: BufferId,
        body: Vec<Node>,
    },
    Launch(KernelId),
    /// On the host: one launch of a kernel that all its blocks run at the same time, or, where the device cannot hold them or
    /// it does not pay, what else does the same; with nothing else, the call is refused.
    Together {
        kernel: KernelId,
        apart: Vec<Node>,
    },
    Copy {
        buffer: BufferId,
        direction: Direction,
        /// What of the caller's array is copied, if not all.
        part: Option<Part>,
    },
    /// In kernels: a loop whose iterations are spread over the grid or the thread block.
    Spread(Spread),
    /// In kernels: only the first thread along these axes runs the body.
    OneThread {
        axes: Vec<ProcessorAxis>,
        body: Vec<Node>,
    },
    /// In kernels: all threads of a block wait for each other.
    Barrier,
    /// In kernels: the blocks of a grid of its own, which those of the kernel run in turns.
    Turns(Box<Turns>),
    /// In kernels: all threads of all blocks wait for each other.
    GridBarrier,
    /// In kernels: a thread waits for its own copies ahead but those that began since the last so many of these nodes.
    Await(u32),
    /// On the CPU: a nest with a version for full tiles.
    Tile(Box<Tile>),
    /// In kernels, alone: rows stream through the registers of each warp.
    Streaming(Box<Streaming>),
}

/// A box of an array of the caller's, and how the array lies in its buffer.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Elements of the buffer before the first one of each column.
    pub before: u32,
    /// Column-major.
    pub axes: Vec<PartAxis>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PartAxis {
    /// Where the box begins, from 0.
    pub first: IntExpr,
    /// How many of the caller's elements are in it; none if that is negative.
    pub count: IntExpr,
    /// How many there are along the axis.
    pub elements: IntExpr,
    /// How many the buffer has room for.
    pub room: IntExpr,
}

/// `for variable = lower, lower + step, ... while variable <= upper`.
#[derive(Debug, Clone, PartialEq)]
pub struct For {
    pub variable: VariableId,
    /// The loop's name in the schedule.
    pub name: String,
    pub tag: Tag,
    pub lower: IntExpr,
    /// Inclusive.
    pub upper: IntExpr,
    pub step: i64,
    /// Bounds that are data, within `lower` and `upper`; the step is 1 then.
    pub clip: Option<Box<Clip>>,
    /// What each iteration asks before it begins; the first one where it is false ends the loop.
    pub going: Option<Box<Going>>,
    /// What is asked once before it, without which none of its statements does anything.
    pub asked: Option<Box<Asked>>,
    /// In kernels: how it moves several elements at once.
    pub wide: Option<Box<Wide>>,
    /// In kernels: whether all values of the nest that begins here are computed before the first one is stored ([`crate::ahead_of_stores`]).
    pub stores_last: bool,
    pub body: Vec<Node>,
}

/// Bounds of a loop that are data. They are evaluated once before it, and only if `lower <= upper`.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    /// Whose expressions the bounds are.
    pub computation: ComputationId,
    /// The values of the computation's iterators that they depend on.
    pub iterators: Vec<Option<IntExpr>>,
    /// Without all of these, in order, the loop has no iterations.
    pub conditions: Vec<Expr>,
    /// Of the source's iterator, inclusive.
    pub low: Option<Expr>,
    pub high: Option<Expr>,
    /// Whether the loop's variable is the negated iterator.
    pub down: bool,
    /// Holds the last value of the loop's variable.
    pub last: VariableId,
}

/// A condition on data without which no iteration of a loop does anything, and once it is false it stays so.
#[derive(Debug, Clone, PartialEq)]
pub struct Going {
    /// Whose expression the condition is.
    pub computation: ComputationId,
    /// The values of the computation's iterators that it depends on.
    pub iterators: Vec<Option<IntExpr>>,
    pub condition: Expr,
}

/// A condition on data that a loop does not change.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Whose expressions its parts are.
    pub computation: ComputationId,
    /// The values of the computation's iterators that they depend on.
    pub iterators: Vec<Option<IntExpr>>,
    /// All of these, in order.
    pub parts: Vec<Expr>,
    /// Without these, which come first, nothing in the loop asks for the parts.
    pub runs: Vec<Cond>,
}

/// The iteration `variable = lower + step * index`, if that is at most `upper`, where `index` is the block's or
/// thread's index along `axis`.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    pub variable: VariableId,
    pub name: String,
    pub over: Over,
    pub axis: ProcessorAxis,
    pub lower: IntExpr,
    /// Inclusive.
    pub upper: IntExpr,
    pub step: i64,
    /// Whether an index may lie past `upper`.
    pub guard: Guard,
    pub body: Vec<Node>,
    /// Over threads, once all have done with the body: the block combines what their instances of each of these statements offered,
    /// along a tree (see [`tessella_polyhedral::combine`]), and its first thread does the updates.
    pub combined: Vec<Statement>,
    /// Over threads: the copy of rows that it consists of, where all threads of the block come to it.
    pub rows: Option<Box<RowCopy>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Over {
    Blocks,
    Threads,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    Needed,
    /// The launch has exactly the loop's iterations.
    Unneeded,
    /// The loop may have more iterations than there are threads: each thread also runs those that are so many further.
    Turns,
}

/// What another launch would do, as a part of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Turns {
    /// Blocks along x, y, z. Block `n` of the kernel runs those of the numbers `n`, `n` and the kernel's blocks more, and so on.
    pub grid: [IntExpr; 3],
    pub body: Vec<Node>,
}

/// One instance of a computation, or something like it past the edge of its domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub computation: ComputationId,
    /// Constants to bind first: iterators that no variable of the program holds.
    pub bindings: Vec<(VariableId, IntExpr)>,
    /// The variable that holds each iterator of the computation; `None` for those that the statement does not use.
    pub iterators: Vec<Option<VariableId>>,
    /// So many leading parts of the predicate hold, as the bounds of the loops around see to.
    pub known: u32,
    /// Where this does not hold, it is no instance of the program: it runs nevertheless, reads what may be anything, and what it
    /// writes is not read (see [`crate::edges`]).
    pub inside: Option<Cond>,
    /// Comparisons of its expression that come out alike in all instances here, and how.
    pub decided: Vec<(Expr, bool)>,
    pub update: Update,
}

/// What a statement does with the value that it computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Update {
    /// It stores the value.
    Stored,
    /// An update that the block combines: the thread offers what it would add, and the loop over threads around stores it.
    Offered,
}

/// A function that runs on the GPU, and how it is launched.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    pub name: String,
    /// Blocks along x, y, z, over parameters and host variables. If one is not positive, nothing is launched.
    pub grid: [IntExpr; 3],
    /// Threads of a block along x, y, z; their product is at most [`MAX_THREADS`](tessella_polyhedral::machine::MAX_THREADS).
    pub block: [u32; 3],
    /// In the order of the kernel's signature.
    pub params: Vec<KernelParam>,
    /// Buffers that the threads of a block share. If `dynamic` is not 0, they lie in that memory, one behind the other, each at a
    /// multiple of 16 bytes; else the kernel declares them.
    pub shared: Vec<BufferId>,
    pub body: Vec<Node>,
    /// An earlier kernel with the same text and name, launched with other arguments.
    pub same_as: Option<KernelId>,
    pub width: Width,
    pub blocks: Blocks,
    /// Bytes of shared memory that the launch gives each block, besides what the kernel declares.
    pub dynamic: u32,
    /// What its loops call a thread is a warp, whose lanes lie along x ([`crate::lanes`]).
    pub warps: bool,
}

/// Whether the blocks of a kernel need each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blocks {
    /// They run in any order.
    Apart,
    /// They wait for each other: all run at once. The grid is what would be used at most; fewer blocks take turns.
    Together,
    /// They wait for each other, and each keeps what it works on: all of the grid run at once, or none.
    Resident,
}

impl Blocks {
    /// Whether they wait for each other.
    pub fn wait(self) -> bool {
        match self {
            Blocks::Apart => false,
            Blocks::Together | Blocks::Resident => true,
        }
    }

    /// How many turns blocks that run at once may take to make up a grid. With more, launches cost little beside what they run.
    pub fn most_turns(self) -> i64 {
        match self {
            Blocks::Apart | Blocks::Together => 16,
            Blocks::Resident => 1,
        }
    }
}

/// How wide the integers are that a kernel counts with. Values of the source keep their types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 64 bits.
    Wide,
    /// 32 bits: it is launched only where that is enough for all that it computes.
    Narrow,
}

impl Width {
    /// The name of such integers in C.
    pub fn c_type(self) -> &'static str {
        match self {
            Width::Wide => "int64_t",
            Width::Narrow => "int32_t",
        }
    }
}

/// What a kernel gets from the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KernelParam {
    /// The address of a buffer's copy on the device.
    Buffer { buffer: BufferId, access: BufferAccess },
    /// An integer of the kernel's width.
    Param(ParamId),
    /// A scalar argument, by value.
    Scalar(ScalarId),
    /// An iterator of a host loop, of the kernel's width.
    Variable(VariableId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BufferAccess {
    Read,
    Write,
}

impl Program {
    pub fn kernel(&self, id: KernelId) -> &Kernel {
        &self.kernels[id.0 as usize]
    }
}

impl Node {
    /// With other nodes in the blocks of a thread's code: of loops, conditions, buffers and what one thread runs. All else stays as it is.
    pub(crate) fn map_blocks<E>(self, mut inside: impl FnMut(Vec<Node>) -> Result<Vec<Node>, E>) -> Result<Node, E> {
        Ok(match self {
            Node::For(it) => Node::For(For { body: inside(it.body)?, ..it }),
            Node::Spread(it) => Node::Spread(Spread { body: inside(it.body)?, ..it }),
            Node::If { condition, then, otherwise } => {
                Node::If { condition, then: inside(then)?, otherwise: inside(otherwise)? }
            }
            Node::Declare { buffer, body } => Node::Declare { buffer, body: inside(body)? },
            Node::OneThread { axes, body } => Node::OneThread { axes, body: inside(body)? },
            other @ (Node::Let { .. }
            | Node::Statement(_)
            | Node::Launch(_)
            | Node::Copy { .. }
            | Node::Together { .. }
            | Node::Turns(_)
            | Node::Barrier
            | Node::GridBarrier
            | Node::Await(_)
            | Node::Tile(_)
            | Node::Streaming(_)) => other,
        })
    }

    /// The blocks of nodes directly below.
    pub fn blocks(&self) -> Vec<&[Node]> {
        match self {
            Node::For(it) => vec![&it.body],
            Node::Tile(it) => vec![&it.generic.body],
            Node::Spread(it) => vec![&it.body],
            Node::If { then, otherwise, .. } => vec![then, otherwise],
            Node::Declare { body, .. } | Node::OneThread { body, .. } | Node::Together { apart: body, .. } => {
                vec![body]
            }
            Node::Turns(it) => vec![&it.body],
            Node::Let { .. }
            | Node::Statement(_)
            | Node::Launch(_)
            | Node::Copy { .. }
            | Node::Barrier
            | Node::GridBarrier
            | Node::Await(_)
            | Node::Streaming(_) => vec![],
        }
    }

    /// Calls `visit` on the node and all below it, in order.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        visit(self);
        for block in self.blocks() {
            for node in block {
                node.walk(visit);
            }
        }
    }

    /// Whether something here or below may use a variable's value.
    pub fn mentions(&self, variable: VariableId) -> bool {
        let mut found = false;
        self.walk(&mut |node| {
            node.expressions(&mut |expr| found |= *expr == IntExpr::Variable(variable));
            found |= match node {
                Node::For(it) => it.clip.is_some() || it.going.is_some() || it.asked.is_some() || it.wide.is_some(),
                Node::Statement(it) => it.iterators.contains(&Some(variable)),
                Node::Tile(_) | Node::Streaming(_) => true,
                Node::Spread(_)
                | Node::If { .. }
                | Node::Let { .. }
                | Node::Declare { .. }
                | Node::Launch(_)
                | Node::Together { .. }
                | Node::Copy { .. }
                | Node::OneThread { .. }
                | Node::Turns(_)
                | Node::Barrier
                | Node::GridBarrier
                | Node::Await(_) => false,
            };
        });
        found
    }

    /// Calls `visit` on the integer expressions of this node itself.
    pub fn expressions(&self, visit: &mut dyn FnMut(&IntExpr)) {
        match self {
            Node::For(For { lower, upper, .. }) => {
                lower.walk(visit);
                upper.walk(visit);
            }
            Node::Spread(it) => {
                it.lower.walk(visit);
                it.upper.walk(visit);
                it.rows.iter().for_each(|rows| rows.expressions(visit));
            }
            Node::Tile(it) => {
                it.generic.lower.walk(visit);
                it.generic.upper.walk(visit);
            }
            Node::If { condition, .. } => condition.walk(visit),
            Node::Let { value, .. } => value.walk(visit),
            Node::Turns(it) => it.grid.iter().for_each(|extent| extent.walk(visit)),
            Node::Statement(it) => it.bindings.iter().for_each(|(_, value)| value.walk(visit)),
            Node::Declare { .. }
            | Node::Launch(_)
            | Node::Together { .. }
            | Node::Copy { .. }
            | Node::OneThread { .. }
            | Node::Barrier
            | Node::GridBarrier
            | Node::Await(_)
            | Node::Streaming(_) => {}
        }
    }

    /// The variables that this node itself binds.
    pub fn bound(&self) -> Vec<VariableId> {
        match self {
            Node::For(it) => vec![it.variable],
            Node::Tile(it) => vec![it.generic.variable],
            Node::Spread(it) => vec![it.variable],
            Node::Let { variable, .. } => vec![*variable],
            Node::Statement(it) => it.bindings.iter().map(|(variable, _)| *variable).collect(),
            Node::If { .. }
            | Node::Declare { .. }
            | Node::Launch(_)
            | Node::Together { .. }
            | Node::Copy { .. }
            | Node::OneThread { .. }
            | Node::Turns(_)
            | Node::Barrier
            | Node::GridBarrier
            | Node::Await(_)
            | Node::Streaming(_) => vec![],
        }
    }
}
