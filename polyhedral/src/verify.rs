//! The token that backends demand: a program whose order, storage and transfers have been proved right.

use crate::algorithm::{
    AccessRef, Algorithm, ArrayId, ArrayKind, ComputationId, Inside, Requirement, Scan, ScanCheck, SizeError,
};
use crate::bounds;
use crate::connect;
use crate::dependence::{Dependence, dependences};
use crate::error::{Error, LayoutError};
use crate::isl::{Ctx, Set};
use crate::layers::{Buffer, Connected, Layout, MemorySpace, Placed, Prefetch, Scheduled, Target, Transfer, Version};
use crate::legality;
use crate::machine::Machine;
use crate::place;
use crate::print;
use crate::schedule::{Node, Path, Schedule};
use crate::transform;
use crate::unused::Unused;
use std::collections::BTreeSet;

/// Proves a connected program: the order keeps every dependence, GPU loops can be mapped, subscripts are checked.
///
/// # Errors
/// [`crate::error::ScheduleError`] or [`crate::error::LayoutError`], naming what fails.
pub fn verify(ctx: &Ctx, connected: Connected, dependences: &[Dependence]) -> Result<Verified, Error> {
    let scheduled = &connected.placed.scheduled;
    legality::check(ctx, &scheduled.algorithm, &scheduled.schedule, dependences)?;
    check_complete(&scheduled.algorithm, &scheduled.schedule);
    // What copies to promoted buffers and back stays inside the part of the array that the source touches.
    if connected.placed.source.is_none() {
        transform::check_gpu(scheduled, &scheduled.schedule)?;
    }
    let source = connected.placed.source.as_ref().unwrap_or(&scheduled.algorithm);
    let checks = match &source.whole {
        None => bounds::entry_checks(ctx, source)?,
        // Pieces of a statement touch together what the whole one does. What commands assume since stands in the pieces'.
        Some(whole) => {
            let (requirements, context) = (source.requirements.clone(), source.context.clone());
            bounds::entry_checks(ctx, &Algorithm { requirements, context, ..whole.algorithm.clone() })?
        }
    };
    check_scan(&scheduled.algorithm, scheduled.target)?;
    let scan = scheduled.algorithm.scan.as_ref().map(|scan| verify_scan(ctx, scan)).transpose()?.map(Box::new);
    let unused = Unused::of(&scheduled.algorithm, &scheduled.schedule);
    Ok(Verified { connected, checks, scan, unused })
}

/// A scan may run on the CPU for a program that runs on a GPU. So what it evaluates must have the same bits everywhere, or it would not be what a kernel
/// then uses as a subscript.
fn check_scan(algorithm: &Algorithm, target: Target) -> Result<(), Error> {
    let (Target::Gpu, Some(scan)) = (target, &algorithm.scan) else { return Ok(()) };
    // The first computation of a scan looks at nothing.
    for (computation, check) in scan.algorithm.computations.iter().skip(1).zip(&scan.checks) {
        match *check {
            ScanCheck::Inside { access, axis } if !computation.is_exact() => {
                return Err(LayoutError::InexactScan { access, axis }.into());
            }
            // No memory depends on it: a kernel whose value differs in the last place computes what it computes.
            ScanCheck::Inside { .. } | ScanCheck::Holds { .. } => {}
        }
    }
    Ok(())
}

/// The scan as it stands, for the CPU: the arguments are in the caller's memory when it runs.
fn verify_scan(ctx: &Ctx, scan: &Scan) -> Result<Verified, Error> {
    let algorithm = scan.algorithm.clone();
    let all = dependences(ctx, &algorithm)?;
    let schedule = algorithm.source_order.clone();
    let (target, machine) = (Target::Cpu, Machine::GENERIC);
    let mut placed = place::place(
        ctx,
        Scheduled { algorithm, schedule, target, machine, versions: vec![], scratch: Default::default() },
    )?;
    keep_in_register(&mut placed);
    verify(ctx, connect::connect(ctx, placed, &all)?, &all)
}

/// What a scan has found stays in a register until its end: loops then need not store it after each instance.
fn keep_in_register(placed: &mut Placed) {
    let is_result = |it: &Buffer| {
        let array = placed.scheduled.algorithm.arrays.iter().find(|array| array.name == it.name);
        array.is_some_and(|array| array.kind == ArrayKind::Result)
    };
    for buffer in placed.layout.buffers.iter_mut().filter(|it| is_result(it)) {
        buffer.space = MemorySpace::Register;
    }
}

/// Every computation has one leaf, and every loop a function for just the computations below it.
fn check_complete(algorithm: &Algorithm, schedule: &Schedule) {
    let mut leaves = schedule.root.computations();
    leaves.sort();
    let expected: Vec<ComputationId> = algorithm.ids().collect();
    assert_eq!(leaves, expected, "a primitive lost or repeated a computation");
    check_functions(&schedule.root);
}

fn check_functions(node: &Node) {
    match node {
        Node::Computation(_) => {}
        Node::Sequence(children) => children.iter().for_each(check_functions),
        Node::Loop(it) => {
            let mut below = it.body.computations();
            below.sort();
            assert!(it.at.keys().eq(&below), "a loop has functions for other computations than those below it");
            check_functions(&it.body);
        }
    }
}

/// A program that passed every check.
#[derive(Debug, Clone)]
pub struct Verified {
    connected: Connected,
    checks: Vec<EntryCheck>,
    scan: Option<Box<Verified>>,
    unused: Unused,
}

/// What must hold at entry so that one subscript of one access stays inside its array.
#[derive(Debug, Clone)]
pub struct EntryCheck {
    pub access: AccessRef,
    /// The axis of the subscript, from 0.
    pub axis: u32,
    /// `[params] -> { : ... }`: the parameters for which it stays inside. Never universal.
    pub holds: Set,
    /// The same, simplified for parameters for which the access happens at all: what to tell people.
    pub needs: Set,
}

impl EntryCheck {
    /// The same as a condition on sizes, for a computation that a command changes so that its accesses tell it no more.
    pub(crate) fn kept(self, algorithm: &Algorithm) -> Requirement {
        let EntryCheck { access: at, axis, holds, needs } = self;
        let access = algorithm.access(at);
        // The source may not fail where data decide whether the access happens.
        let error = if access.conditional { SizeError::Thrown } else { SizeError::Bounds };
        let text = format!("`{}` is outside", print::access(algorithm, algorithm.computation(at.computation), access));
        Requirement { holds, error, text, inside: Some(Inside { access: at, axis, needs }) }
    }
}

impl Verified {
    pub fn algorithm(&self) -> &Algorithm {
        &self.connected.placed.scheduled.algorithm
    }

    /// The algorithm as the source has it: without the statements that storage commands added, and with those whole that
    /// were split into pieces.
    pub fn source(&self) -> &Algorithm {
        let source = self.connected.placed.source.as_ref().unwrap_or(self.algorithm());
        source.whole.as_ref().map_or(source, |whole| &whole.algorithm)
    }

    pub fn schedule(&self) -> &Schedule {
        &self.connected.placed.scheduled.schedule
    }

    pub fn versions(&self) -> &[Version] {
        &self.connected.placed.scheduled.versions
    }

    pub fn target(&self) -> Target {
        self.connected.placed.scheduled.target
    }

    pub fn machine(&self) -> &Machine {
        &self.connected.placed.scheduled.machine
    }

    pub fn layout(&self) -> &Layout {
        &self.connected.placed.layout
    }

    /// The arguments that the schedule puts into constant memory; without effect on the CPU.
    pub fn constants(&self) -> &BTreeSet<ArrayId> {
        &self.connected.placed.constants
    }

    /// The same program with copies of whole arrays, for who moves parts by a plan of his own.
    pub fn copying_whole_arrays(mut self) -> Verified {
        connect::copying_whole_arrays(&mut self.connected);
        self
    }

    pub fn transfers(&self) -> &[Transfer] {
        &self.connected.transfers
    }

    /// The nodes after which all wait.
    pub fn barriers(&self) -> &[Path] {
        &self.connected.barriers
    }

    pub fn prefetches(&self) -> &[Prefetch] {
        &self.connected.prefetches
    }

    pub fn checks(&self) -> &[EntryCheck] {
        &self.checks
    }

    /// The parameters that no loop and no subscript depends on.
    pub fn unused(&self) -> &Unused {
        &self.unused
    }

    /// What runs at entry, before anything is written, to find computed subscripts that are outside; a program for the
    /// CPU. See [`Scan`].
    pub fn scan(&self) -> Option<&Verified> {
        self.scan.as_deref()
    }
}
