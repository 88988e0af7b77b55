//! What a tile is on a GPU: a block, whose threads run the points of a row at once, row by row. Each diagonal of tiles is a kernel.

use super::Problem;
use super::matrix::Matrix;
use crate::machine::Gpu;

/// Threads of a block.
pub const MOST_THREADS: u64 = 1024;
/// Seconds of a point of a block: about half a microsecond for each row of a tile, until its threads have waited for memory and for one
/// another, and a hundred points in it.
const POINT: f64 = 5e-9;

/// The problem of one level with the times of a GPU, for tiles of at most so many points.
pub fn on_gpu(problem: &Problem, gpu: &Gpu, largest: u64) -> Problem {
    let start = gpu.launch_nanoseconds * 1e-9;
    Problem { overhead: vec![start], iteration: POINT, largest: vec![largest], ..problem.clone() }
}

/// The most points of a tile along its last axis, the others fixed, if it has two.
pub fn row(shape: &Matrix) -> u64 {
    match shape.rows.as_slice() {
        [first, second] => {
            let area = (first[0] * second[1] - first[1] * second[0]).unsigned_abs();
            area / first[0].unsigned_abs().max(second[0].unsigned_abs()).max(1)
        }
        _ => 1,
    }
}
