//! Variables that any of many iterations may set, all of them to one constant: `found = true`, and what notes that a test in the run
//! has failed, [`Algorithm::failed`].
//!
//! What a failed test leaves behind is put back: loops that make tests need not go on, and what data should end might never do.
//!
//! [`Algorithm::failed`]: tessella_polyhedral::algorithm::Algorithm::failed

use super::{Dialect, Printer, UNDO, Writer};
use crate::program::{For, Node};
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::schedule::Tag;

impl Printer<'_> {
    /// Whether several threads may store one constant into one variable at a time, in this computation.
    pub(super) fn is_stored_by_threads(&self, id: ComputationId) -> bool {
        let computation = self.input.algorithm.computation(id);
        let buffer = self.input.buffer_of(computation.write.array);
        self.threads_around > 0
            && computation.stored_constant().is_some()
            && self.input.layout.buffer(buffer).extents.is_empty()
            && !self.own.contains(&buffer)
            && !self.input.is_of_threads(buffer)
    }

    /// Whether a computation says that a test failed.
    fn notes_failure(&self, id: ComputationId) -> bool {
        let algorithm = self.input.algorithm;
        algorithm.failed == Some(algorithm.computation(id).write.array)
    }

    /// What must hold besides for a loop to go on, in a function whose tests may fail: `!failed[0]`. On a GPU, that the other iterations
    /// of a loop do nothing costs less than to ask, if they come to an end.
    pub(super) fn unless_failed(&self, it: &For) -> Option<String> {
        let failed = self.failed().filter(|_| it.tag == Tag::Sequential)?;
        match self.dialect {
            Dialect::Cuda => it.going.is_some().then(|| format!("!*(volatile const uint8_t *)&{failed}")),
            Dialect::C if !self.tests_in(it) && it.going.is_none() => None,
            Dialect::C if self.threads_around > 0 => Some(format!("!__atomic_load_n(&{failed}, __ATOMIC_RELAXED)")),
            Dialect::C => Some(format!("!{failed}")),
        }
    }

    /// Behind an outermost loop that makes tests, goes to where a function that has failed puts back what it has written.
    pub(super) fn leave_behind(&mut self, it: &For, out: &mut Writer) {
        let is_outermost = self.loops_around == 0 && self.dialect == Dialect::C;
        let Some(failed) = self.failed().filter(|_| is_outermost && self.tests_in(it)) else { return };
        self.leaves = true;
        let inside: Vec<String> = self.allocated[self.allocated_at_entry..].to_vec();
        match inside.is_empty() {
            true => out.line(format!("if ({failed}) goto {UNDO};")),
            false => {
                out.open(format!("if ({failed})"));
                inside.iter().rev().for_each(|name| out.line(format!("free({name});")));
                out.line(format!("goto {UNDO};"));
                out.close();
            }
        }
    }

    /// The variable that notes failed tests.
    fn failed(&self) -> Option<String> {
        let failed = self.input.algorithm.failed?;
        Some(format!("{}[0]", self.program.names.arrays[failed.0 as usize]))
    }

    /// Whether the loop makes tests that may fail.
    fn tests_in(&self, it: &For) -> bool {
        let mut tests = false;
        let mut visit = |node: &Node| {
            if let Node::Statement(statement) = node {
                tests |= self.notes_failure(statement.computation);
            }
        };
        it.body.iter().for_each(|node| node.walk(&mut visit));
        tests
    }
}
