//! What the compiler is told beside the text.

use tessella_codegen::Input;
use tessella_polyhedral::affine::Atom;
use tessella_polyhedral::algorithm::{Computation, Subscript};

/// Flags of every program. Signed integers wrap around; errno and traps are not observed, which changes no value.
const FLAGS: [&str; 6] = ["-O3", "-std=gnu11", "-fwrapv", "-fopenmp", "-fno-math-errno", "-fno-trapping-math"];
/// No contraction: every operation rounds, as in Julia. With vectorized straight-line code, GCC 12.2 has been seen to
/// fuse neighbouring stores of `a * b - c` and `d * e + f` in spite of the first flag.
const STRICT: [&str; 2] = ["-ffp-contract=off", "-fno-tree-slp-vectorize"];
/// The same has been seen of the vectorizer of loops where one loop stores neighbouring elements by two statements. The
/// second flag alone leaves loops under `#pragma omp simd` to it; the first one stops it there, too.
const NEIGHBOURS: [&str; 2] = ["-fno-tree-loop-vectorize", "-fno-tree-vectorize"];
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

/// Whether two statements write one array at places that differ by 1 along the axis that lies side by side in memory.
fn stores_neighbours(input: &Input<'_>) -> bool {
    let computations = &input.algorithm.computations;
    computations
        .iter()
        .enumerate()
        .any(|(at, one)| computations[..at].iter().any(|two| are_neighbours(input, one, two)))
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
