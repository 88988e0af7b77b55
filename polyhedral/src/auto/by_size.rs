//! Programs of which parts run in one way for some sizes and in another way for all others: what the passes that make them share.
//!
//! The statements of such a part are cut by a condition on sizes ([`crate::transform::pieces_by_size`]), and each half gets an order of its own.

use crate::algorithm::ComputationId;
use crate::command::Command;
use crate::condition::Condition;
use crate::dependence::Dependence;
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::transform::{Pieces, pieces_by_size};

/// A program with kernels of their own for some sizes.
#[derive(Clone)]
pub(crate) struct Apart {
    pub scheduled: Scheduled,
    /// What cuts computations.
    pub commands: Vec<Command>,
    pub dependences: Vec<Dependence>,
}

impl Apart {
    /// A program that is still whole.
    fn of(scheduled: &Scheduled, dependences: &[Dependence]) -> Apart {
        Apart { scheduled: scheduled.clone(), commands: vec![], dependences: dependences.to_vec() }
    }

    /// The program after a step for each of these, where it can be made; `None` if none can.
    pub(super) fn each<T>(
        scheduled: &Scheduled,
        dependences: &[Dependence],
        all: impl IntoIterator<Item = T>,
        step: impl Fn(&Apart, T) -> Result<Option<Apart>, Error>,
    ) -> Result<Option<Apart>, Error> {
        let mut now = Apart::of(scheduled, dependences);
        let mut is_new = false;
        for it in all {
            if let Some(next) = step(&now, it)? {
                (now, is_new) = (next, true);
            }
        }
        Ok(is_new.then_some(now))
    }

    /// The program with computations cut by a condition, and their pieces; `None` if all sizes that the program
    /// is for are on one side.
    pub(super) fn cut(
        &self,
        ctx: &Ctx,
        computations: &[ComputationId],
        condition: &Condition,
    ) -> Result<Option<(Apart, Pieces)>, Error> {
        let mut now = Apart { commands: self.commands.clone(), ..Apart::of(&self.scheduled, &self.dependences) };
        let mut pieces = Pieces::new();
        for &id in computations {
            let computation = now.scheduled.algorithm.computation(id).name.clone();
            let piece = ComputationId(now.scheduled.algorithm.computations.len() as u32);
            match pieces_by_size(ctx, &now.scheduled, &now.dependences, &computation, condition) {
                Ok(cut) => (now.scheduled, now.dependences) = cut,
                Err(Error::Schedule(ScheduleError::OneSize { .. } | ScheduleError::NeverHolds { .. })) => {
                    return Ok(None);
                }
                Err(other) => return Err(other),
            }
            now.commands.push(Command::PiecesBySize { computation, condition: condition.clone() });
            pieces.insert(id, piece);
        }
        Ok(Some((now, pieces)))
    }
}
