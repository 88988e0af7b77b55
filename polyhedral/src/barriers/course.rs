//! The course of a kernel, and the proof that no barrier is missing in it.
//!
//! The proof lays the course out as a graph of steps: an edge leads from a step to each that a thread may run next without a
//! barrier in between, around loops and whichever way conditions go. Two steps, one of which such edges lead to from the
//! other, may be run at one time by different threads. None of their works may cross.

use super::crossing::{Crossings, WorkId};
use crate::algorithm::ComputationId;
use std::collections::BTreeSet;

/// A part of what all that wait for each other run in step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Course {
    /// What each of them does on its own.
    Step(Vec<WorkId>),
    Barrier,
    /// Any number of times, also none.
    Loop(Vec<Course>),
    Either(Vec<Course>, Vec<Course>),
}

/// Two computations with no barrier between them, though different threads may touch one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    pub first: ComputationId,
    pub second: ComputationId,
}

/// Proves that a barrier stands between any two works that cross.
///
/// # Errors
/// The first [`Gap`].
pub fn prove(crossings: &Crossings<'_>, course: &[Course]) -> Result<(), Gap> {
    let graph = Graph::of(course);
    for at in 0..graph.steps.len() {
        for next in graph.reached(&graph.next[at]) {
            graph.gap(crossings, (at, next), &|a, b| crossings.cross(a, b))?;
        }
    }
    Ok(())
}

/// Proves that what a course leaves in the memory of its block is left alone until a barrier when the block begins anew, in another
/// block's place.
///
/// # Errors
/// The first [`Gap`].
pub fn prove_again(crossings: &Crossings<'_>, course: &[Course]) -> Result<(), Gap> {
    let graph = Graph::of(course);
    let first = graph.reached(&graph.first);
    for at in 0..graph.steps.len() {
        let is_left = graph.last.contains(&at) || !graph.last.is_disjoint(&graph.reached(&graph.next[at]));
        for &next in first.iter().filter(|_| is_left) {
            graph.gap(crossings, (at, next), &|a, b| crossings.meet_in_block(a, b))?;
        }
    }
    Ok(())
}

/// The steps of a course by number, and what comes after what without a barrier.
#[derive(Default)]
struct Graph<'a> {
    steps: Vec<&'a [WorkId]>,
    next: Vec<BTreeSet<usize>>,
    /// The steps that may come first.
    first: BTreeSet<usize>,
    /// The steps that may come last.
    last: BTreeSet<usize>,
}

/// Where a thread comes from without a barrier.
#[derive(Clone, Default)]
struct Before {
    begin: bool,
    steps: BTreeSet<usize>,
}

impl Before {
    fn or(mut self, other: Before) -> Before {
        self.begin |= other.begin;
        self.steps.extend(other.steps);
        self
    }
}

impl<'a> Graph<'a> {
    fn of(course: &'a [Course]) -> Graph<'a> {
        let mut graph = Graph::default();
        let end = graph.lay(course, Before { begin: true, steps: BTreeSet::new() }, &mut 0);
        graph.last = end.steps;
        graph
    }

    /// Adds edges through parts, the first step of which has the number `number`; gives where a thread comes from after them.
    fn lay(&mut self, course: &'a [Course], mut from: Before, number: &mut usize) -> Before {
        for part in course {
            from = match part {
                Course::Barrier => Before::default(),
                Course::Step(works) => {
                    let here = *number;
                    *number += 1;
                    if here == self.steps.len() {
                        self.steps.push(works);
                        self.next.push(BTreeSet::new());
                    }
                    for &before in &from.steps {
                        self.next[before].insert(here);
                    }
                    self.first.extend(from.begin.then_some(here));
                    Before { begin: false, steps: BTreeSet::from([here]) }
                }
                Course::Either(then, otherwise) => {
                    let then = self.lay(then, from.clone(), number);
                    then.or(self.lay(otherwise, from, number))
                }
                Course::Loop(body) => {
                    let first = *number;
                    let once = self.lay(body, from.clone(), number);
                    *number = first;
                    // The second time it begins after itself.
                    let again = self.lay(body, once.clone(), number);
                    from.or(once).or(again)
                }
            };
        }
        from
    }

    /// These steps, and all that edges lead to from them.
    fn reached(&self, from: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut reached = from.clone();
        let mut left: Vec<usize> = from.iter().copied().collect();
        while let Some(at) = left.pop() {
            left.extend(self.next[at].iter().copied().filter(|&next| reached.insert(next)));
        }
        reached
    }

    /// Fails if works of two steps may not meet.
    fn gap(
        &self,
        crossings: &Crossings<'_>,
        (one, other): (usize, usize),
        may_not: &dyn Fn(WorkId, WorkId) -> bool,
    ) -> Result<(), Gap> {
        for &first in self.steps[one] {
            if let Some(&second) = self.steps[other].iter().find(|&&second| may_not(first, second)) {
                let of = |id: WorkId| crossings.work(id).computation;
                return Err(Gap { first: of(first), second: of(second) });
            }
        }
        Ok(())
    }
}
