//! Blocks of a product that the second-level cache holds: the usual ones, or, where these are too large for what the nest reads and
//! writes, the best of smaller ones by counting.

use super::register_tile::{Blocks, Nest, Shape, apply};
use crate::affine::Affine;
use crate::error::Error;
use crate::models::tiles::inside::{Inside, Moves, TYPICAL};
use crate::schedule::{Loop, Node, Schedule};

/// Blocks become no smaller than so many parts of the usual ones.
const SMALLEST: u32 = 8;

/// The blocks of a shape; `None` where it keeps no operand.
pub(super) fn blocks(nest: &Nest<'_>, schedule: &Schedule, shape: &Shape) -> Result<Option<Blocks>, Error> {
    let Some(usual) = Blocks::usual(nest, shape) else { return Ok(None) };
    let Shape::Matrix { v: Some(v), u: Some(u), k, vectors, lanes, unrolled } = *shape else { return Ok(None) };
    if most_bytes(nest, schedule, [(u, Some(usual.u)), (v, Some(usual.v)), (k, usual.k)]) <= nest.machine.l2_bytes {
        return Ok(Some(usual));
    }
    let tiled = apply(nest, schedule, shape, Some(usual))?;
    let Some(main) = tiled.node(nest.path).and_then(|node| node.computations().first().copied()) else {
        return Ok(Some(usual));
    };
    let Some(iterators) =
        [u, v, k].into_iter().map(|level| iterator(nest, schedule, level)).collect::<Option<Vec<_>>>()
    else {
        return Ok(Some(usual));
    };
    // The first loops inside of which all three have a size, or none where all of `k` is taken.
    let around = tiled.loops_around(main).len();
    let mut found = None;
    for depth in 1..around {
        let Some(inside) = Inside::of(nest.algorithm, &tiled, main, depth)? else { continue };
        let sides: Vec<Option<u64>> = iterators.iter().map(|&at| inside.sides[at as usize]).collect();
        if sides[..2] == [Some(usual.u.into()), Some(usual.v.into())] && sides[2] == usual.k.map(u64::from) {
            found = Some(inside);
            break;
        }
    }
    let Some(inside) = found else { return Ok(Some(usual)) };
    let weighed = |blocks: &Blocks| {
        let mut sides = inside.sides.clone();
        for (&at, side) in iterators.iter().zip([Some(blocks.u), Some(blocks.v), blocks.k]) {
            sides[at as usize] = side.map(u64::from);
        }
        inside.moves(&sides)
    };
    let fits = |it: &Moves| it.held() <= nest.machine.l2_bytes;
    let all =
        smaller(usual, unrolled, vectors * lanes).into_iter().filter_map(|blocks| Some((blocks, weighed(&blocks)?)));
    // Among equals the first, the largest.
    let mut best: Option<(Blocks, f64)> = None;
    for (blocks, moves) in all.filter(|(_, moves)| fits(moves)) {
        if best.is_none_or(|(_, bytes)| moves.bytes() < bytes) {
            best = Some((blocks, moves.bytes()));
        }
    }
    Ok(Some(best.map_or(usual, |(blocks, _)| blocks)))
}

/// The usual blocks, and those with some sides halved, which stay multiples of a register tile's.
fn smaller(usual: Blocks, u: u32, v: u32) -> Vec<Blocks> {
    let parts = || (0..).map(|by| 1 << by).take_while(|&by: &u32| by <= SMALLEST);
    let halves = |side: u32, of: u32| parts().map(move |by| side / by / of * of).filter(|&it| it > 0);
    let mut all = vec![];
    for k in usual.k.map_or(vec![None], |k| halves(k, 1).map(Some).collect()) {
        for v in halves(usual.v, v) {
            all.extend(halves(usual.u, u).map(|u| Blocks { u, v, k }));
        }
    }
    all
}

/// Bytes that all accesses of a block touch at most, each by itself.
fn most_bytes(nest: &Nest<'_>, schedule: &Schedule, sides: [(usize, Option<u32>); 3]) -> u64 {
    let below = schedule.node(nest.path).map(Node::computations).unwrap_or_default();
    let mut sum = 0_u64;
    for id in below {
        let computation = nest.algorithm.computation(id);
        let around = loops(nest, schedule);
        for access in std::iter::once(&computation.write).chain(&computation.reads) {
            let moves = |level: usize| {
                let at: Option<&Affine> = around.get(level).and_then(|it| it.at.get(&id));
                let along = |iterator: u32| {
                    at.is_some_and(|at| at.involves_iterator(iterator))
                        && access.subscripts.iter().any(|it| computation.involves_iterator(it, iterator))
                };
                (0..computation.iterators.len() as u32).any(along)
            };
            let elements = sides
                .iter()
                .filter(|(level, _)| moves(*level))
                .fold(1_u64, |elements, (_, side)| elements.saturating_mul(side.map_or(TYPICAL, u64::from)));
            let bytes = u64::from(nest.algorithm.array(access.array).element.bytes());
            sum = sum.saturating_add(elements.saturating_mul(bytes));
        }
    }
    sum
}

/// The loops of the nest.
fn loops<'a>(nest: &Nest<'_>, schedule: &'a Schedule) -> Vec<&'a Loop> {
    let at = (0..nest.depth).map(|level| match schedule.node(&nest.path.down(level)) {
        Some(Node::Loop(it)) => Some(it),
        Some(Node::Sequence(_) | Node::Computation(_)) | None => None,
    });
    at.flatten().collect()
}

/// The iterator of the first computation that a loop of the nest runs through.
fn iterator(nest: &Nest<'_>, schedule: &Schedule, level: usize) -> Option<u32> {
    let it = loops(nest, schedule).get(level).copied()?;
    let id = schedule.node(nest.path)?.computations().first().copied()?;
    let at = it.at.get(&id)?;
    let mut all = (0..at.iterator_count()).filter(|&iterator| at.involves_iterator(iterator));
    let first = all.next()?;
    all.next().is_none().then_some(first)
}
