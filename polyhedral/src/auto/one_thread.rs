//! Sums on a GPU that one thread adds up in the source's order, as nothing else may run beside it.
//!
//! Such a thread waits for each load unless others are under way meanwhile: the loop is unrolled so far that half of the thread's
//! registers can be loads under way. The additions keep their order.

use super::chooser::{Chooser, has_loop};
use super::profile::{Step, iterator_of, step};
use crate::algorithm::{Access, ArrayKind, ComputationId};
use crate::schedule::{Loop, Node, Schedule, Tag};
use tessella_scalar::ScalarType;

/// Bytes of an array that are on their way together: half of a thread's registers.
const IN_FLIGHT: u32 = 512;
/// The most statements of a loop that is unrolled so far.
const STATEMENTS: usize = 4;

impl Chooser<'_> {
    /// Unrolls loops that neither lie in loops of threads nor hold any, and do nothing but sum.
    pub(crate) fn load_ahead_alone(&self, schedule: &mut Schedule) {
        self.alone(&mut schedule.root);
    }

    fn alone(&self, node: &mut Node) {
        match node {
            Node::Computation(_) => {}
            Node::Sequence(children) => children.iter_mut().for_each(|child| self.alone(child)),
            Node::Loop(it) if it.tag != Tag::Sequential || self.is_settled(it) || self.is_tagged(it) => {}
            Node::Loop(it) => match self.sums_bytes(it) {
                Some(bytes) => it.tag = Tag::Unroll(IN_FLIGHT / bytes.max(1)),
                None => self.alone(&mut it.body),
            },
        }
    }

    /// The bytes of the widest element that an innermost loop reads on its way; `None` if it does anything but sum.
    fn sums_bytes(&self, it: &Loop) -> Option<u32> {
        if has_loop(&it.body) {
            return None;
        }
        let below = it.body.computations();
        let bytes = below.iter().map(|&id| self.bytes_of_sum(it, id)).collect::<Option<Vec<_>>>()?;
        bytes.into_iter().max().filter(|_| below.len() <= STATEMENTS)
    }

    /// The same of one statement. What it writes stays where it is, and what it reads is written by none of the program's threads
    /// meanwhile: else no load could begin before the store in front of it.
    fn bytes_of_sum(&self, it: &Loop, id: ComputationId) -> Option<u32> {
        let computation = self.algorithm.computation(id);
        let (along, _) = it.at.get(&id).and_then(iterator_of)?;
        if computation.predicate.is_some() || !computation.ranged.is_empty() {
            return None;
        }
        let written = &computation.write;
        let is_written = |read: &Access| read.array == written.array && read.subscripts == written.subscripts;
        // Conditions may end a loop.
        let of_numbers = self.algorithm.array(written.array).element != ScalarType::Bool;
        let adds = of_numbers && computation.reads.iter().any(is_written);
        if !adds || step(self.algorithm, id, written, along) != Step::Stays {
            return None;
        }
        let mut widest = None;
        for read in computation.reads.iter().filter(|read| !is_written(read)) {
            let array = self.algorithm.array(read.array);
            if array.kind == ArrayKind::Private {
                continue;
            }
            if !read.is_affine()
                || it.at.keys().any(|&other| self.algorithm.computation(other).write.array == read.array)
            {
                return None;
            }
            if step(self.algorithm, id, read, along) != Step::Stays {
                widest = widest.max(Some(array.element.bytes()));
            }
        }
        widest
    }
}
