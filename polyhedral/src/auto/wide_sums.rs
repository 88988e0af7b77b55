//! Sums of pairs on a GPU, of which the nest keeps only what one side's loop makes of them, as of the distances from points to centers:
//!
//! ```text
//! for i { R; for j { s = 0; for l { S: s += f(x[l, i], c[l, j]) }; T: best[i] = min(best[i], s) } }
//!   -> if 8 L - J > 112 { @gpu { S, for all pairs }; @gpu { T } } else { @gpu for i { the same for the pieces } }
//! ```
//!
//! By themselves, the sums pass tiles of both operands through shared memory, and there are as many threads as pairs. Then `s` is an array of
//! all pairs. For few terms it costs more than the sums, for many columns it is larger than all that the source has. So it is made for
//! sizes with enough terms for both, and for all others each thread has the pairs of one side's point.

use super::by_size::Apart;
use super::chooser::{Chooser, tagged};
use super::regroup::{self, Grain};
use crate::affine::Affine;
use crate::algorithm::{ArrayId, ArrayKind, ComputationId};
use crate::condition::{Condition, greater};
use crate::default_order::Means;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::legality;
use crate::schedule::{Node, Path, Schedule};
use crate::transform::owners::place_of;
use crate::transform::{of_pieces, simplify};
use std::collections::BTreeSet;

/// With so many sums at most for each term, the array takes no more than this many times the memory of what the terms are read from. On an
/// H100, 8 terms of each of 16 sums a point were 3.4 times as fast without the array, 16 of 16 as fast, 32 of 32 and 64 of 64 2.3 and 4.3 times
/// as fast with it.
const COLUMNS_FOR_A_TERM: i64 = 8;
/// Terms of a sum that are worth it.
const TERMS: i64 = 14;

/// A nest with such sums.
#[derive(Debug, Clone)]
pub(crate) struct WideSums {
    nest: Node,
    grain: Grain,
    /// Where sums by themselves are better.
    many: Condition,
}

impl Chooser<'_> {
    /// Whether the parts of a nest that was taken apart share a variable of more axes than any result of the nest has: as an array, it could
    /// take more memory than all that the source has. Notes for which sizes that is worth it.
    pub(super) fn outgrows_results(
        &self,
        apart: &Schedule,
        path: &Path,
        (nest, grain): (&Node, Grain),
    ) -> Result<bool, Error> {
        let Some(Node::Sequence(parts)) = apart.node(path) else { return Ok(false) };
        let array = |id: ComputationId| self.algorithm.array(self.algorithm.computation(id).write.array);
        let written = parts.iter().flat_map(Node::computations).map(array);
        let results = written.filter(|it| it.kind != ArrayKind::Private).map(|it| it.rank).max().unwrap_or(0).max(1);
        let wide: Vec<ArrayId> =
            self.shared_private(parts).into_iter().filter(|&it| self.algorithm.array(it).rank > results).collect();
        if let [variable] = wide[..]
            && let Some(many) = self.many_terms(nest, variable, results)?
        {
            self.wide_sums.borrow_mut().push(WideSums { nest: nest.clone(), grain, many });
        }
        Ok(!wide.is_empty())
    }

    /// For which sizes a variable is added up from enough terms to be an array; `None` if it is no sum along one loop, in one loop that
    /// results have no axis for.
    fn many_terms(&self, nest: &Node, variable: ArrayId, results: u32) -> Result<Option<Condition>, Error> {
        let rank = self.algorithm.array(variable).rank;
        let adds = |id: &ComputationId| {
            let it = self.algorithm.computation(*id);
            let reads_itself = it.reads.iter().any(|read| read.array == variable);
            it.write.array == variable && reads_itself && it.iterators.len() as u32 == rank + 1
        };
        let mut sums = nest.computations().into_iter().filter(adds);
        let (Some(sum), None, true) = (sums.next(), sums.next(), rank == results + 1) else { return Ok(None) };
        let length = |iterator: u32| self.length(sum, &Affine::iterator(iterator));
        let (Some(columns), Some(terms)) = (length(results)?, length(rank)?) else { return Ok(None) };
        let margin = terms.scale(COLUMNS_FOR_A_TERM)?.sub(&columns)?;
        Ok(Some(greater(self.algorithm, &margin, COLUMNS_FOR_A_TERM * TERMS)))
    }
}

/// The program with an array for sums of pairs where there are enough terms; `None` if there are no such nests.
pub(crate) fn apart(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    means: Means,
    all: &[WideSums],
) -> Result<Option<Apart>, Error> {
    let mut seen = BTreeSet::new();
    let last = all.iter().rev().filter(|wide| seen.insert(wide.nest.computations()));
    Apart::each(scheduled, dependences, last, |now, wide| one_apart(ctx, now, means, wide))
}

fn one_apart(ctx: &Ctx, before: &Apart, means: Means, wide: &WideSums) -> Result<Option<Apart>, Error> {
    let inside = wide.nest.computations();
    let ids: BTreeSet<ComputationId> = inside.iter().copied().collect();
    let Some(kernel) = place_of(&before.scheduled.schedule, &ids) else { return Ok(None) };
    let Some((now, pieces)) = before.cut(ctx, &inside, &wide.many)? else { return Ok(None) };
    let Apart { scheduled, commands, dependences } = now;
    let mut schedule = scheduled.schedule.clone();
    let Some(node) = schedule.node_mut(&kernel) else { return Ok(None) };
    let Some(few) = node.restricted(&ids).map(|few| of_pieces(&few, &pieces)) else { return Ok(None) };
    *node = Node::Sequence(vec![wide.nest.clone(), few]);
    let merged = legality::merged(&dependences)?;
    let path = kernel.child(0);
    let algorithm = &scheduled.algorithm;
    let Some(mut schedule) = regroup::take_apart(ctx, algorithm, &schedule, &merged, &path, wide.grain)? else {
        return Ok(None);
    };
    let tagged = tagged(&schedule);
    let chooser = Chooser { tagged, ..Chooser::of(ctx, &scheduled, &merged, means) };
    if !chooser.is_legal(&schedule, &path)? {
        return Ok(None);
    }
    chooser.node(&mut schedule, &path)?;
    simplify(&mut schedule.root);
    legality::check(ctx, algorithm, &schedule, &dependences)?;
    Ok(Some(Apart { scheduled: Scheduled { schedule, ..scheduled }, commands, dependences }))
}
