//! The launch plan: what the host does to run a GPU program, for a launcher to execute or a printer to print.

mod failure;
mod overlap;

use crate::entry::Entry;
use crate::error::CodegenError;
use crate::from_ast::{Scope, condition, negate};
use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::leave::asked;
use crate::params::argument_of;
use crate::program::{Blocks, For, Going, KernelId, KernelParam, Node, Part, PartAxis, Program, Width};
pub use overlap::overlapping;
use std::collections::BTreeSet;
use tessella_polyhedral::algorithm::{Argument, ArrayId, ArrayKind, ComputationId, ParamOrigin};
use tessella_polyhedral::expr::conjuncts;
use tessella_polyhedral::isl::{AstBuild, Set};
use tessella_polyhedral::layers::{BufferId, Direction, Lifetime, MemorySpace};
use tessella_scalar::ScalarType;

/// How the host runs a GPU program.
///
/// An executor evaluates `params` from the arguments, tests `entry` (see [`Entry`]), then runs `steps` in order; on any
/// failure it frees what it allocated. The caller's memory is written by [`Step::CopyOut`] only.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchPlan {
    pub entry: Entry,
    /// In the order of the Julia signature.
    pub arguments: Vec<PlanArgument>,
    /// Where each parameter's value comes from, by `ParamId`.
    pub params: Vec<ParamOrigin>,
    /// The scalars that the function gives back.
    pub results: Vec<ScalarType>,
    /// Buffers in the device's memory.
    pub buffers: Vec<DeviceBuffer>,
    /// By [`KernelId`].
    pub kernels: Vec<PlannedKernel>,
    pub queues: Queues,
    /// The `Bool` that kernels set where a test fails that entry could not make ([`Algorithm::failed`]).
    ///
    /// [`Algorithm::failed`]: tessella_polyhedral::algorithm::Algorithm::failed
    pub failed: Option<BufferId>,
    pub steps: Vec<Step>,
}

/// How the device's work is queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queues {
    /// Copies and launches are done one after the other, as the steps come.
    One,
    /// Copies in, launches and copies out have a [`Queue`] each. What is done in one waits for another where a
    /// [`Step::Wait`] says so, and nowhere else. There are so many events.
    Apart { events: u32 },
}

/// What the device does in the order in which it is asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Queue {
    /// Copies to the device.
    In,
    Kernels,
    /// Copies to the host.
    Out,
}

impl Queue {
    pub const ALL: [Queue; 3] = [Queue::In, Queue::Kernels, Queue::Out];
}

/// A moment of a queue, by its number in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event(pub u32);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanArgument {
    /// Column-major, contiguous.
    Array {
        array: ArrayId,
        name: String,
        element: ScalarType,
        rank: u32,
    },
    Scalar {
        name: String,
        ty: ScalarType,
    },
}

/// A buffer in the device's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceBuffer {
    pub id: BufferId,
    pub name: String,
    pub element: ScalarType,
    /// Its size is the product; negative ones count as zero. Empty for a single element.
    pub extents: Vec<IntExpr>,
    pub host: HostSide,
    pub memory: DeviceMemory,
    /// Where the host's elements lie in it, if not as they lie on the host.
    pub padded: Option<Padded>,
}

/// A buffer that has room between the elements of what it is a copy of.
#[derive(Debug, Clone, PartialEq)]
pub struct Padded {
    /// Elements before the first one of each column.
    pub before: u32,
    /// Column-major; axes with no room at the end of the one before are one axis.
    pub axes: Vec<PaddedAxis>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PaddedAxis {
    /// How many of the host's there are along the axis.
    pub elements: IntExpr,
    /// How many the buffer has room for.
    pub room: IntExpr,
}

/// What holds a buffer on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceMemory {
    /// Allocated and freed by steps.
    Allocated,
    /// A variable in constant memory, declared with the kernels under the buffer's name. There is one for all calls of
    /// a program: they take turns.
    Constant,
}

/// The memory that copies of a buffer go to and come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostSide {
    /// Lives on the device only.
    None,
    /// An argument, or memory for an array that the function gives back.
    Argument(ArrayId),
    /// Where a scalar that the function gives back goes.
    Result(ArrayId),
}

#[derive(Debug, Clone, PartialEq)]
pub struct PlannedKernel {
    pub name: String,
    pub grid: [IntExpr; 3],
    pub block: [u32; 3],
    /// In the order of the kernel's parameters: a buffer's device address, an integer of the kernel's width, or a scalar by
    /// value.
    pub arguments: Vec<KernelParam>,
    pub width: Width,
    pub blocks: Blocks,
    /// Bytes of shared memory that the launch gives each block.
    pub dynamic: u32,
}

/// What a `Bool` in the device's memory has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    pub buffer: BufferId,
    pub holds: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Allocate(BufferId),
    Free(BufferId),
    CopyIn(BufferId),
    CopyOut(BufferId),
    /// Copies a box of an argument that has elements, and nothing else. Axes all of which are copied and that have no room at their end
    /// are one axis with the next.
    CopyPart {
        buffer: BufferId,
        direction: Direction,
        part: Part,
    },
    /// Sets all bytes of a buffer to 0.
    Clear(BufferId),
    /// Waits for the kernels before, and ends the call with [`STATUS_FAILED_LATER`] if the `Bool` in the buffer is true: arguments that are in the
    /// device's memory hold again what they held before, and nothing has been copied back.
    ///
    /// [`STATUS_FAILED_LATER`]: crate::entry::STATUS_FAILED_LATER
    LeaveIf(BufferId),
    /// Skipped if an extent of the grid is not positive.
    Launch(KernelId),
    /// Launches a kernel with as many blocks as run at once, and no more than its grid has; where the device does not run kernels
    /// like that, or the blocks would take [too many turns](Blocks::most_turns), runs the other steps; where there are none, the call is
    /// refused.
    Together {
        kernel: KernelId,
        apart: Vec<Step>,
    },
    /// Waits until the device has done all before.
    Synchronize,
    /// The event is now the moment when all is done that was asked of the queue so far.
    Record {
        event: Event,
        queue: Queue,
    },
    /// What is asked of the queue from now on is done after the event as it is now; at once, if it was not recorded yet. The
    /// host does not wait.
    Wait {
        queue: Queue,
        event: Event,
    },
    For {
        variable: VariableId,
        lower: IntExpr,
        upper: IntExpr,
        step: i64,
        /// Once one of these is no longer so, the iterations do nothing. An executor [looks now and then](LaunchPlan::asks_next) whether all are.
        going: Vec<Flag>,
        body: Vec<Step>,
    },
    If {
        condition: Cond,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    Let {
        variable: VariableId,
        value: IntExpr,
    },
}

impl Step {
    /// The blocks of steps directly below.
    pub fn blocks(&self) -> Vec<&[Step]> {
        match self {
            Step::For { body, .. } | Step::Together { apart: body, .. } => vec![body],
            Step::If { then, otherwise, .. } => vec![then, otherwise],
            Step::Allocate(_)
            | Step::Free(_)
            | Step::CopyIn(_)
            | Step::CopyOut(_)
            | Step::CopyPart { .. }
            | Step::Clear(_)
            | Step::LeaveIf(_)
            | Step::Launch(_)
            | Step::Synchronize
            | Step::Record { .. }
            | Step::Wait { .. }
            | Step::Let { .. } => vec![],
        }
    }

    /// Whether it launches kernels, in loops and under conditions, with variables of the host, and does nothing else.
    pub fn only_launches(&self) -> bool {
        match self {
            Step::Launch(_) | Step::Let { .. } => true,
            Step::For { going, body, .. } => going.is_empty() && body.iter().all(Step::only_launches),
            Step::If { then, otherwise, .. } => then.iter().chain(otherwise).all(Step::only_launches),
            Step::Allocate(_)
            | Step::Free(_)
            | Step::CopyIn(_)
            | Step::CopyOut(_)
            | Step::CopyPart { .. }
            | Step::Clear(_)
            | Step::LeaveIf(_)
            | Step::Together { .. }
            | Step::Synchronize
            | Step::Record { .. }
            | Step::Wait { .. } => false,
        }
    }

    /// Calls `visit` on the step and all below it, in order.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Step)) {
        visit(self);
        for step in self.blocks().into_iter().flatten() {
            step.walk(visit);
        }
    }

    /// Whether something is said of the step or of one below it.
    pub fn any(&self, said: &dyn Fn(&Step) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |step| found |= said(step));
        found
    }
}

/// The plan of a program whose kernels have been extracted.
///
/// # Errors
/// E0547 where arrays are copied back before the last test on the way.
pub fn launch_plan(input: &Input<'_>, program: &Program) -> Result<LaunchPlan, CodegenError> {
    let algorithm = input.algorithm;
    let mut results = algorithm.result.places();
    results.retain(|&array| algorithm.array(array).kind == ArrayKind::Result);
    let buffers: Vec<DeviceBuffer> = on_device(input)
        .map(|id| {
            let it = input.layout.buffer(id);
            let host = match argument_of(input, id) {
                Some(array) if results.contains(&array) => HostSide::Result(array),
                Some(array) if algorithm.failed == Some(array) => HostSide::None,
                Some(array) => HostSide::Argument(array),
                None => match results.iter().find(|&&array| input.buffer_of(array) == id) {
                    Some(&array) => HostSide::Result(array),
                    None => HostSide::None,
                },
            };
            DeviceBuffer {
                id,
                name: program.names.buffers[id.0 as usize].clone(),
                element: it.element,
                extents: allocated(input, id, it.extents.iter().map(|extent| input.extent(extent)).collect()),
                host,
                memory: match it.space {
                    MemorySpace::Constant { .. } => DeviceMemory::Constant,
                    MemorySpace::Host | MemorySpace::Global | MemorySpace::Shared | MemorySpace::Register => {
                        DeviceMemory::Allocated
                    }
                },
                padded: argument_of(input, id).and_then(|array| padded(input, id, array)),
            }
        })
        .collect();
    let whole_call = buffers.iter().filter(|it| {
        it.memory == DeviceMemory::Allocated
            && !matches!(input.layout.buffer(it.id).lifetime, Lifetime::Node(_) | Lifetime::Children { .. })
    });
    let whole_call: Vec<BufferId> = whole_call.map(|it| it.id).collect();
    let mut steps: Vec<Step> = whole_call.iter().copied().map(Step::Allocate).collect();
    let failed = algorithm.failed.map(|failed| input.buffer_of(failed));
    steps.extend(failed.map(Step::Clear));
    steps.extend(host_steps(input, &program.body));
    // A result that no transfer brings back still has to reach the caller.
    let copied = copied_out(&steps);
    for it in &buffers {
        if matches!(it.host, HostSide::Result(_)) && !copied.contains(&it.id) {
            steps.push(Step::CopyOut(it.id));
        }
    }
    steps.extend(whole_call.iter().rev().copied().map(Step::Free));
    let arguments = algorithm.arguments.iter().map(|argument| match *argument {
        Argument::Array(array) => {
            let it = algorithm.array(array);
            PlanArgument::Array { array, name: it.name.clone(), element: it.element, rank: it.rank }
        }
        Argument::Scalar(scalar) => {
            let it = algorithm.scalar(scalar);
            PlanArgument::Scalar { name: it.name.clone(), ty: it.ty }
        }
    });
    let kernels = program.kernels.iter().map(|it| PlannedKernel {
        name: it.name.clone(),
        grid: it.grid.clone(),
        block: it.block,
        arguments: it.params.clone(),
        width: it.width,
        blocks: it.blocks,
        dynamic: it.dynamic,
    });
    let plan = failure::leaving(LaunchPlan {
        entry: program.entry.clone(),
        arguments: arguments.collect(),
        params: algorithm.params.iter().map(|param| param.origin.clone()).collect(),
        results: results.iter().map(|&array| algorithm.array(array).element).collect(),
        kernels: kernels.collect(),
        buffers,
        queues: Queues::One,
        failed,
        steps,
    })?;
    Ok(overlapping(plan))
}

/// The extents of a buffer, of which there is none where no statement that uses it has instances: those that do may all be pieces for
/// some sizes.
fn allocated(input: &Input<'_>, id: BufferId, extents: Vec<IntExpr>) -> Vec<IntExpr> {
    let own = !matches!(input.layout.buffer(id).lifetime, Lifetime::Argument(_)) && !extents.is_empty();
    // What cannot be found out is there for all sizes.
    let condition = if own { sizes(input, id).ok().flatten() } else { None };
    match condition {
        None => extents,
        Some(condition) => {
            let mut extents = extents.into_iter();
            let first =
                extents.next().map(|first| IntExpr::Select(condition.into(), first.into(), IntExpr::Const(0).into()));
            first.into_iter().chain(extents).collect()
        }
    }
}

/// For which sizes a buffer is used, where all its users are pieces for some sizes; `None` where it may be used for any.
fn sizes(input: &Input<'_>, id: BufferId) -> Result<Option<Cond>, CodegenError> {
    let algorithm = input.algorithm;
    let Some(whole) = &algorithm.whole else { return Ok(None) };
    let uses = |user: &ComputationId| {
        let runs = !algorithm.computation(*user).never_runs();
        runs && input.used_accesses(*user).iter().any(|access| input.buffer_of(access.array) == id)
    };
    let users: Vec<ComputationId> = algorithm.ids().filter(uses).collect();
    if !users.iter().any(|user| whole.sizes.contains_key(user)) {
        return Ok(None);
    }
    let mut all: Option<Set> = None;
    for user in users {
        // Copies of a promotion have instances for the sizes of their statements.
        let sizes = match whole.sizes.get(&user) {
            Some((sizes, _)) => sizes.clone(),
            None => algorithm.computation(user).domain.params()?,
        };
        all = Some(match all {
            None => sizes,
            Some(all) => all.union(&sizes)?,
        });
    }
    let Some(all) = all.map(|all| all.coalesce()).transpose()? else { return Ok(None) };
    if algorithm.context.is_subset(&all)? {
        return Ok(None);
    }
    let test = AstBuild::from_context(&algorithm.context)?.expr_from_set(&all)?;
    Ok(Some(condition(&test.view()?, &Scope::new(&algorithm.param_names()))?))
}

/// How an array lies in its buffer, if the buffer has more room.
fn padded(input: &Input<'_>, id: BufferId, array: ArrayId) -> Option<Padded> {
    let (buffer, before) = (input.layout.buffer(id), input.free_before(array));
    let array = input.algorithm.array(array);
    if buffer.extents == array.extents && before == 0 {
        return None;
    }
    let mut axes: Vec<PaddedAxis> = vec![];
    for (elements, room) in array.extents.iter().zip(&buffer.extents) {
        let (elements, room) = (input.extent(elements), input.extent(room));
        match axes.last_mut() {
            Some(last) if last.elements == last.room => {
                last.elements = last.elements.clone().times(elements);
                last.room = last.room.clone().times(room);
            }
            Some(_) | None => axes.push(PaddedAxis { elements, room }),
        }
    }
    Some(Padded { before, axes })
}

impl LaunchPlan {
    /// The queue that a step goes to for which this one is meant.
    pub fn queue(&self, meant: Queue) -> Queue {
        match self.queues {
            Queues::One => Queue::Kernels,
            Queues::Apart { .. } => meant,
        }
    }

    /// Whether a kernel or a constant is there once for all calls, which take turns then.
    pub fn takes_turns(&self) -> bool {
        self.kernels.iter().any(|it| it.blocks.wait())
            || self.buffers.iter().any(|it| it.memory == DeviceMemory::Constant)
    }

    /// Behind so many iterations of a loop that data may end, the number of them behind which the host asks next whether it goes on: what
    /// runs for nothing is at most an eighth of what ran for something, and asking takes no time to speak of.
    pub fn asks_next(iterations: u64) -> u64 {
        iterations + 1 + iterations / 8
    }

    pub fn buffer(&self, id: BufferId) -> Option<&DeviceBuffer> {
        self.buffers.iter().find(|it| it.id == id)
    }

    /// The kernels whose blocks all have to run at once, since no other steps do their work. An executor refuses calls for which the
    /// device has too few, before the first step.
    pub fn required(&self) -> Vec<Required> {
        let alone = |step: &Step| match step {
            Step::Together { kernel, apart } if apart.is_empty() => Some(*kernel),
            _ => None,
        };
        let mut all = vec![];
        required(&self.steps, &alone, &Cond::Const(true), &mut all);
        all
    }

    /// The kernels that ask for shared memory at their launch, where no other steps do their work. An executor refuses calls that come to
    /// one for which the device has too little, before the first step.
    pub fn sharing(&self) -> Vec<Required> {
        let shares = |step: &Step| match step {
            Step::Launch(kernel) if self.kernels.get(kernel.0 as usize).is_some_and(|it| it.dynamic > 0) => {
                Some(*kernel)
            }
            _ => None,
        };
        let mut all = vec![];
        required(&self.steps, &shares, &Cond::Const(true), &mut all);
        all.dedup();
        all
    }
}

/// A kernel that nothing stands in for.
#[derive(Debug, Clone, PartialEq)]
pub struct Required {
    pub kernel: KernelId,
    /// What parameters must be for the call to come to it. Its grid, too, depends on them alone.
    pub when: Cond,
}

fn required(steps: &[Step], wanted: &dyn Fn(&Step) -> Option<KernelId>, when: &Cond, into: &mut Vec<Required>) {
    for step in steps {
        into.extend(wanted(step).map(|kernel| Required { kernel, when: when.clone() }));
        let Step::If { condition, then, otherwise } = step else {
            for block in step.blocks() {
                required(block, wanted, when, into);
            }
            continue;
        };
        let and = |more: Cond| Cond::all_of([when.clone(), more]);
        // Variables have no values before the first step.
        let is_open = condition.involves_variables();
        let (so, not) =
            if is_open { (when.clone(), when.clone()) } else { (and(condition.clone()), and(negate(condition))) };
        required(then, wanted, &so, into);
        required(otherwise, wanted, &not, into);
    }
}

/// The buffers in the device's memory.
fn on_device(input: &Input<'_>) -> impl Iterator<Item = BufferId> {
    let all = input.layout.buffers.iter().enumerate();
    let is_there = |space| matches!(space, MemorySpace::Global | MemorySpace::Constant { .. });
    all.filter(move |(_, it)| is_there(it.space)).map(|(at, _)| BufferId(at as u32))
}

fn host_steps(input: &Input<'_>, nodes: &[Node]) -> Vec<Step> {
    let mut steps = vec![];
    for node in nodes {
        match node {
            Node::For(For { variable, lower, upper, step, body, going, .. }) => steps.push(Step::For {
                variable: *variable,
                lower: lower.clone(),
                upper: upper.clone(),
                step: *step,
                going: going.iter().flat_map(|going| flags(input, going)).collect(),
                body: host_steps(input, body),
            }),
            Node::If { condition, then, otherwise } => steps.push(Step::If {
                condition: condition.clone(),
                then: host_steps(input, then),
                otherwise: host_steps(input, otherwise),
            }),
            Node::Let { variable, value } => steps.push(Step::Let { variable: *variable, value: value.clone() }),
            Node::Declare { buffer, body } => {
                steps.push(Step::Allocate(*buffer));
                steps.extend(host_steps(input, body));
                steps.push(Step::Free(*buffer));
            }
            Node::Launch(kernel) => steps.push(Step::Launch(*kernel)),
            Node::Together { kernel, apart } => {
                steps.push(Step::Together { kernel: *kernel, apart: host_steps(input, apart) });
            }
            Node::Copy { buffer, direction, part: Some(part) } => {
                steps.push(Step::CopyPart { buffer: *buffer, direction: *direction, part: joined(part) });
            }
            Node::Copy { buffer, direction: Direction::HostToDevice, part: None } => steps.push(Step::CopyIn(*buffer)),
            Node::Copy { buffer, direction: Direction::DeviceToHost, part: None } => steps.push(Step::CopyOut(*buffer)),
            Node::Barrier => steps.push(Step::Synchronize),
            // Kernel extraction leaves none of these on the host.
            Node::Statement(_)
            | Node::Spread(_)
            | Node::OneThread { .. }
            | Node::Turns(_)
            | Node::GridBarrier
            | Node::Await(_)
            | Node::Tile(_)
            | Node::Streaming(_) => {}
        }
    }
    steps
}

/// The variables that a condition asks for; and that no test has failed, as what such a test leaves behind may go on for ever.
fn flags(input: &Input<'_>, going: &Going) -> Vec<Flag> {
    let computation = input.algorithm.computation(going.computation);
    let asked = conjuncts(&going.condition).into_iter().filter_map(|part| asked(computation, part));
    let asked = asked.map(|(read, holds)| Flag { buffer: input.buffer_of(read.array), holds });
    let failed = input.algorithm.failed.map(|failed| Flag { buffer: input.buffer_of(failed), holds: false });
    asked.chain(failed).collect()
}

/// A box with as few axes as lie apart in memory.
fn joined(part: &Part) -> Part {
    let mut axes: Vec<PartAxis> = vec![];
    for axis in &part.axes {
        match axes.last_mut() {
            Some(last)
                if last.first == IntExpr::Const(0) && last.count == last.elements && last.elements == last.room =>
            {
                let by = last.elements.clone();
                *last = PartAxis {
                    first: by.clone().times(axis.first.clone()),
                    count: by.clone().times(axis.count.clone()),
                    elements: by.clone().times(axis.elements.clone()),
                    room: by.times(axis.room.clone()),
                };
            }
            Some(_) | None => axes.push(axis.clone()),
        }
    }
    Part { before: part.before, axes }
}

/// The buffers of which steps copy something back.
fn copied_out(steps: &[Step]) -> BTreeSet<BufferId> {
    let mut buffers = BTreeSet::new();
    for step in steps {
        step.walk(&mut |step| {
            if let Step::CopyOut(buffer) | Step::CopyPart { buffer, direction: Direction::DeviceToHost, .. } = step {
                buffers.insert(*buffer);
            }
        });
    }
    buffers
}
