//! A quick look at whether readers see the values that are wanted.
//!
//! The write that a reader sees is the last one before it, and to find that one is the most laborious question that there is about
//! an order. Here it is known what the write should be. So it is enough that each reader has a write of its element before it that
//! stands for the wanted value, and that no write of another value comes between the two: conjunctions that are empty, of which isl sees
//! thousands while it finds one last write among several. Where this does not settle the matter, the last write is looked for.

use super::flow::{Flows, Sink};
use crate::algorithm::{ArrayId, ComputationId};
use crate::error::Error;
use crate::isl::{Ctx, Map, Set, UnionMap};
use crate::relation;
use crate::schedule::{Node, Path};

/// Whether each reader certainly sees the value that is wanted, `{ the reader[x] -> value }`; `means` is what writes stand for.
pub(super) fn sees(
    new: &Flows<'_>,
    array: ArrayId,
    sink: &Sink,
    means: &UnionMap,
    wanted: &UnionMap,
) -> Result<bool, Error> {
    let Some(earlier) = earlier(new, array, sink)? else { return Ok(false) };
    for wanted in wanted.maps()? {
        if !sees_one(new, sink, &earlier, means, &wanted)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A writer of an array, and which of its instances write a reader's element before the reader looks at it:
/// `{ the reader[x] -> W[y] }`, as conjunctions.
struct Earlier {
    writer: ComputationId,
    pairs: Vec<Map>,
}

/// The same for values of one computation, or those that nobody wrote.
fn sees_one(new: &Flows<'_>, sink: &Sink, earlier: &[Earlier], means: &UnionMap, wanted: &Map) -> Result<bool, Error> {
    let values = Set::universe(&wanted.range()?.space()?)?;
    let mut rest = wanted.domain()?;
    // { the reader[x] -> W[y] }: earlier writes of what is wanted.
    let mut right: Vec<Option<Map>> = vec![];
    for it in earlier {
        let writes = Set::universe(&relation::domain_space(new.ctx, new.algorithm, it.writer)?)?;
        let meaning = means.extract_map(&Map::from_domain_and_range(&writes, &values)?.space()?)?;
        let mut own: Option<Map> = None;
        if !meaning.is_plainly_empty()? {
            let all = wanted.apply_range(&meaning.reverse()?)?;
            for pairs in &it.pairs {
                own = Some(match own {
                    None => all.intersect(pairs)?,
                    Some(others) => others.union(&all.intersect(pairs)?)?,
                });
            }
        }
        if let Some(own) = &own {
            rest = rest.subtract(&own.domain()?)?;
        }
        right.push(own);
    }
    if !rest.is_empty()? {
        // What nobody wrote before is what it was.
        let same = wanted.to_union_map()?.intersect(&sink.access.to_union_map()?)?.extract_map(&wanted.space()?)?;
        if !rest.is_subset(&same.domain()?)? {
            return Ok(false);
        }
        for pairs in earlier.iter().flat_map(|it| &it.pairs) {
            if !pairs.intersect_domain(&rest)?.is_empty()? {
                return Ok(false);
            }
        }
    }
    for (it, own) in earlier.iter().zip(&right) {
        let Some(own) = own else { continue };
        if own.is_empty()? {
            continue;
        }
        // Where nothing comes after one of more pairs, nothing does after those that count.
        let around = Map::from_basic_map(&own.simple_hull()?)?;
        for (other, same) in earlier.iter().zip(&right) {
            for order in new.rewrites(it.writer, other.writer)?.iter() {
                let is_last = all_harmless(&around.apply_range(order)?, &other.pairs, None)?
                    || all_harmless(&own.apply_range(order)?, &other.pairs, same.as_ref())?;
                if !is_last {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// Whether a map has none of these pairs, but perhaps some that do no harm.
fn all_harmless(map: &Map, pairs: &[Map], harmless: Option<&Map>) -> Result<bool, Error> {
    for it in pairs {
        let both = map.intersect(it)?;
        if both.is_empty()? {
            continue;
        }
        let Some(harmless) = harmless else { return Ok(false) };
        if !both.subtract(harmless)?.is_empty()? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All writers of an array; `None` where the sink does not say when it looks.
fn earlier(new: &Flows<'_>, array: ArrayId, sink: &Sink) -> Result<Option<Vec<Earlier>>, Error> {
    let mut all = vec![];
    for (writer, stored) in new.writers(array) {
        let same = sink.access.apply_range(&stored.reverse()?)?;
        let pairs = match sink.when {
            When::End => vec![same],
            When::Instance(reader) => {
                let mut pairs = vec![];
                for order in before(new.ctx, new, *writer, reader)? {
                    pairs.push(same.intersect(&super::flow::reader(new.ctx, order.reverse()?)?)?);
                }
                pairs
            }
            When::Else => return Ok(None),
        };
        all.push(Earlier { writer: *writer, pairs: without_empty(pairs)? });
    }
    Ok(Some(all))
}

/// When a sink looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// When an instance of this computation reads.
    Instance(ComputationId),
    /// After all.
    End,
    /// At another moment.
    Else,
}

/// `{ one[y] -> other[x] }`: the first runs before the second, as conjunctions.
pub(super) fn before(
    ctx: &Ctx,
    flows: &Flows<'_>,
    one: ComputationId,
    other: ComputationId,
) -> Result<Vec<Map>, Error> {
    let algorithm = flows.algorithm;
    let order = &algorithm.source_order;
    let path = |id| order.path_of(id).expect("every computation has a leaf in the schedule tree");
    let (path_of_one, path_of_other) = (path(one), path(other));
    let instances = |id| -> Result<Set, Error> { Ok(Set::universe(&relation::domain_space(ctx, algorithm, id)?)?) };
    let mut together = Map::from_domain_and_range(&instances(one)?, &instances(other)?)?;
    let mut found = vec![];
    for (level, (step, step_of_other)) in path_of_one.0.iter().zip(&path_of_other.0).enumerate() {
        match order.node(&Path(path_of_one.0[..level].to_vec())) {
            Some(Node::Loop(it)) => {
                let at = |id| relation::function(ctx, algorithm, id, &it.at[&id]);
                let (at_one, at_other) = (at(one)?, at(other)?);
                found.push(together.intersect(&at_one.lex_lt_at(&at_other)?)?);
                together = together.intersect(&at_one.apply_range(&at_other.reverse()?)?)?;
            }
            Some(Node::Sequence(_) | Node::Computation(_)) | None if step != step_of_other => {
                if step < step_of_other {
                    found.push(together);
                }
                return Ok(found);
            }
            Some(Node::Sequence(_) | Node::Computation(_)) | None => {}
        }
    }
    Ok(found)
}

/// Those that are not empty.
pub(super) fn without_empty(maps: Vec<Map>) -> Result<Vec<Map>, Error> {
    let mut some = vec![];
    for map in maps {
        if !map.is_empty()? {
            some.push(map);
        }
    }
    Ok(some)
}
