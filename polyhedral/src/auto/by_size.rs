//! Programs of which parts run in one way for some sizes and in another way for all others: what the passes that make them share.
//!
//! The statements of such a part are cut by a condition on sizes ([`crate::transform::pieces_by_size`]), and each half gets an order of its own.

use crate::affine::{Affine, Atom, ParamId, gcd};
use crate::algorithm::{Algorithm, ComputationId, ParamOrigin};
use crate::command::Command;
use crate::condition::{Comparison, Condition, SizeExpr};
use crate::dependence::Dependence;
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::schedule::{Loop, Node};
use crate::transform::pieces_by_size;
use std::collections::BTreeMap;
use tessella_scalar::CompareOp;

/// A program with kernels of their own for some sizes.
pub(crate) struct Apart {
    pub scheduled: Scheduled,
    /// What cuts computations.
    pub commands: Vec<Command>,
    pub dependences: Vec<Dependence>,
}

/// By computation, its piece for all other sizes.
pub(super) type Pieces = BTreeMap<ComputationId, ComputationId>;

impl Apart {
    /// A program that is still whole.
    pub(super) fn of(scheduled: &Scheduled, dependences: &[Dependence]) -> Apart {
        Apart { scheduled: scheduled.clone(), commands: vec![], dependences: dependences.to_vec() }
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

/// `all > most`, with the sizes by the names that a user has for them.
pub(super) fn condition(algorithm: &Algorithm, all: &Affine, most: i64) -> Result<Condition, Error> {
    let named = |id: ParamId| {
        let param = algorithm.param(id);
        match param.origin {
            ParamOrigin::Extent { array, axis }
                if param.name == format!("{}_{}", algorithm.array(array).name, axis + 1) =>
            {
                SizeExpr::Extent { array: algorithm.array(array).name.clone(), axis: axis + 1 }
            }
            ParamOrigin::Extent { .. } | ParamOrigin::First { .. } | ParamOrigin::Argument(_) => {
                SizeExpr::Name(param.name.clone())
            }
        }
    };
    let term = |id: ParamId, factor: i64| match factor {
        1 => named(id),
        factor => SizeExpr::Product(Box::new(SizeExpr::Number(factor)), Box::new(named(id))),
    };
    let mut left = None;
    let shared = all.terms().iter().fold(0, |shared, (_, factor)| gcd(shared, *factor)).max(1);
    let mut sorted: Vec<_> = all.terms().iter().map(|(atom, factor)| (atom, factor / shared)).collect();
    sorted.sort_by_key(|(_, factor)| *factor < 0);
    for (atom, factor) in &sorted {
        let Atom::Param(id) = atom else { continue };
        left = Some(match left.take() {
            None => term(*id, *factor),
            Some(sum) if *factor < 0 => SizeExpr::Difference(Box::new(sum), Box::new(term(*id, -factor))),
            Some(sum) => SizeExpr::Sum(Box::new(sum), Box::new(term(*id, *factor))),
        });
    }
    let right = SizeExpr::Number(most.saturating_sub(all.constant_term()).div_euclid(shared));
    let left = left.unwrap_or(SizeExpr::Number(0));
    Ok(Condition { comparisons: vec![Comparison { left, op: CompareOp::Gt, right }] })
}

/// A nest with the pieces in place of what they are pieces of.
pub(super) fn of_pieces(nest: &Node, pieces: &Pieces) -> Node {
    let piece = |id: &ComputationId| pieces.get(id).copied().unwrap_or(*id);
    match nest {
        Node::Computation(id) => Node::Computation(piece(id)),
        Node::Sequence(children) => Node::Sequence(children.iter().map(|child| of_pieces(child, pieces)).collect()),
        Node::Loop(it) => Node::Loop(Loop {
            name: it.name.clone(),
            tag: it.tag,
            at: it.at.iter().map(|(id, at)| (piece(id), at.clone())).collect(),
            body: Box::new(of_pieces(&it.body, pieces)),
        }),
    }
}
