//! What the compiler is told beside the text.

use std::collections::{BTreeMap, BTreeSet};
use tessella_codegen::Input;
use tessella_polyhedral::affine::Atom;
use tessella_polyhedral::algorithm::{Computation, ComputationId, Subscript};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::relation;
use tessella_polyhedral::schedule::{Loop, Path};
use tessella_scalar::BinaryOp;

/// Flags of every program. Signed integers wrap around; errno and traps are not observed, which changes no value.
const FLAGS: [&str; 6] = ["-O3", "-std=gnu11", "-fwrapv", "-fopenmp", "-fno-math-errno", "-fno-trapping-math"];
/// No contraction: every operation rounds, as in Julia. With vectorized straight-line code, GCC 12.2 has been seen to
/// fuse neighbouring stores of `a * b - c` and `d * e + f` in spite of the first flag.
const STRICT: [&str; 2] = ["-ffp-contract=off", "-fno-tree-slp-vectorize"];
/// The same has been seen of the vectorizer of loops where one loop stores neighbouring elements by two such statements. The
/// second flag alone leaves loops under `#pragma omp simd` to it; the first one stops it there, too.
const NEIGHBOURS: [&str; 2] = ["-fno-tree-loop-vectorize", "-fno-tree-vectorize"];
/// A loop with fewer iterations may be written out.
const FEW_ITERATIONS: u64 = 64;
/// What `@fastmath` on every statement allows; NaN and infinity keep their meaning.
const FAST: [&str; 4] = ["-ffp-contract=fast", "-fassociative-math", "-freciprocal-math", "-fno-signed-zeros"];

/// What the compiler needs so that the program means what Julia means.
pub fn flags(input: &Input<'_>, fastmath: bool) -> Vec<&'static str> {
    let mut flags = FLAGS.to_vec();
    if fastmath {
        flags.extend(FAST);
        return flags;
    }
    flags.extend(STRICT);
    if stores_neighbours(input) {
        flags.extend(NEIGHBOURS);
    }
    flags
}

/// Whether two statements write sums with products into one array, at places that differ by 1 along the axis that lies side by side in memory.
fn stores_neighbours(input: &Input<'_>) -> bool {
    let sums: Vec<&Computation> =
        sums_of_products(input).into_iter().map(|id| input.algorithm.computation(id)).collect();
    sums.iter().enumerate().any(|(at, one)| sums[..at].iter().any(|two| are_neighbours(input, one, two)))
}

/// The statements that write sums with products, also those that pass on what such a statement of the same loop wrote: compilers see
/// through that. A copy to the edge of an array, after the loop that fills it, is none.
fn sums_of_products(input: &Input<'_>) -> BTreeSet<ComputationId> {
    let algorithm = input.algorithm;
    let mut found: BTreeSet<ComputationId> =
        algorithm.ids().filter(|&id| adds_products(algorithm.computation(id))).collect();
    let loops: BTreeMap<ComputationId, Option<Path>> =
        algorithm.ids().map(|id| (id, long_loop_around(input, id))).collect();
    loop {
        let passes_on = |id: &ComputationId| {
            let reads = &algorithm.computation(*id).reads;
            let from = |writer: &ComputationId| {
                let written = algorithm.computation(*writer).write.array;
                loops[id] == loops[writer] && reads.iter().any(|read| read.array == written)
            };
            !found.contains(id) && found.iter().any(from)
        };
        let more: Vec<ComputationId> = algorithm.ids().filter(passes_on).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// The innermost loop around a statement that compilers do not write out: one with more iterations than a few.
fn long_loop_around(input: &Input<'_>, id: ComputationId) -> Option<Path> {
    let domain = &input.algorithm.computation(id).domain;
    let is_long = |it: &Loop| -> Result<bool, Error> {
        let Some(at) = it.at.get(&id) else { return Ok(false) };
        let values = domain.apply(&relation::function(domain.ctx(), input.algorithm, id, at)?)?;
        let (low, high) = (values.dim_min_val(0)?.to_i64(), values.dim_max_val(0)?.to_i64());
        Ok(low.zip(high).is_none_or(|(low, high)| high.abs_diff(low) >= FEW_ITERATIONS))
    };
    // What isl does not tell counts as few.
    let is_long = |it: &&(Path, &Loop)| is_long(it.1).unwrap_or(false);
    input.schedule.loops_around(id).iter().rev().find(is_long).map(|(path, _)| path.clone())
}

/// Whether a statement multiplies floats, and adds or subtracts some.
fn adds_products(computation: &Computation) -> bool {
    let (mut multiplies, mut adds) = (false, false);
    let mut visit = |expr: &Expr| match expr.kind {
        ExprKind::Binary(BinaryOp::Mul, ..) => multiplies |= expr.ty.is_float(),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => adds |= expr.ty.is_float(),
        // Powers are products, and calls may be written out as sums with products.
        ExprKind::Binary(..) | ExprKind::Call(..) if expr.ty.is_float() => (multiplies, adds) = (true, true),
        _ => {}
    };
    computation.lets.iter().map(|it| &it.value).chain([&computation.value]).for_each(|expr| expr.walk(&mut visit));
    multiplies && adds
}

fn are_neighbours(input: &Input<'_>, one: &Computation, two: &Computation) -> bool {
    if one.write.array != two.write.array {
        return false;
    }
    // Where storage commands moved the array, another axis may come first; where they folded it, any may.
    let first = input.layout.placement(one.write.array).map.first();
    let along = first.and_then(|place| match place.terms() {
        [(Atom::Iterator(axis), 1)] => Some(*axis as usize),
        _ => None,
    });
    let mut steps = 0;
    for (axis, pair) in one.write.subscripts.iter().zip(&two.write.subscripts).enumerate() {
        match distance(pair.0, pair.1) {
            Some(0) => {}
            Some(1) if along.is_none_or(|along| along == axis) => steps += 1,
            Some(_) | None => return false,
        }
    }
    steps == 1
}

/// How far two subscripts lie apart, where that is the same for all iterators.
fn distance(one: &Subscript, two: &Subscript) -> Option<u64> {
    match (one, two) {
        (Subscript::Affine(one), Subscript::Affine(two)) => {
            (one.terms() == two.terms()).then(|| one.constant_term().abs_diff(two.constant_term()))
        }
        (Subscript::Computed(one), Subscript::Computed(two)) => (one == two).then_some(0),
        (Subscript::Affine(_), Subscript::Computed(_)) | (Subscript::Computed(_), Subscript::Affine(_)) => None,
    }
}
