//! The token that backends demand: a program whose order, storage and transfers have been proved right.

use crate::algorithm::{AccessRef, Algorithm, ComputationId};
use crate::bounds;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::{Ctx, Set};
use crate::layers::{Connected, Layout, Target, Transfer, Version};
use crate::legality;
use crate::schedule::{Node, Schedule};
use crate::transform;

/// Proves a connected program: the order keeps every dependence, GPU loops can be mapped, subscripts are checked.
///
/// # Errors
/// [`crate::error::ScheduleError`] or [`crate::error::LayoutError`], naming what fails.
pub fn verify(ctx: &Ctx, connected: Connected, dependences: &[Dependence]) -> Result<Verified, Error> {
    let scheduled = &connected.placed.scheduled;
    legality::check(ctx, &scheduled.algorithm, &scheduled.schedule, dependences)?;
    transform::check_gpu(&scheduled.algorithm, &scheduled.schedule)?;
    check_complete(&scheduled.algorithm, &scheduled.schedule);
    let checks = bounds::entry_checks(ctx, &scheduled.algorithm)?;
    Ok(Verified { connected, checks })
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

impl Verified {
    pub fn algorithm(&self) -> &Algorithm {
        &self.connected.placed.scheduled.algorithm
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

    pub fn layout(&self) -> &Layout {
        &self.connected.placed.layout
    }

    pub fn transfers(&self) -> &[Transfer] {
        &self.connected.transfers
    }

    pub fn checks(&self) -> &[EntryCheck] {
        &self.checks
    }
}
