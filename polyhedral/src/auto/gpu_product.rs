//! Products on a GPU: a tile of results in the registers of each thread, tiles of both operands in shared memory.
//!
//! # Source
//! Volkov and Demmel, *Benchmarking GPUs to tune dense linear algebra*, SC 2008.

use super::chooser::{Chooser, chain_length};
use super::profile::{Profiled, Step};
use crate::error::Error;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::put_chain;

/// Threads of a block along the contiguous axis of the results.
const THREADS_V: u32 = 16;
/// Terms of a product's sums that pass through shared memory together.
const TILE_K: u32 = 16;

/// Levels of a nest that is a product: results move along `u` and, contiguously, along `v`; `k` sums.
pub(super) struct Product {
    u: usize,
    v: usize,
    k: usize,
    shape: Shape,
}

/// What a block computes: each of its 16 times `threads_u` threads has `points` results along both axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    points: u32,
    threads_u: u32,
    /// Terms that are added without a test between.
    unrolled: u32,
}

impl Shape {
    /// Of one product: a thread's results are a square, which takes the fewest loads from shared memory for its products; they and
    /// what is in flight take half of the registers that a thread can have in four bytes, so that two blocks of 256 threads run
    /// beside one another, or in eight bytes two of 128. Of many products, which may be small, a quarter of that, and more blocks.
    /// Values along k make one vector load.
    fn new(bytes: u32, products: usize) -> Shape {
        match (products, bytes) {
            (1, 4) => Shape { points: 8, threads_u: 16, unrolled: 4 },
            (1, _) => Shape { points: 8, threads_u: 8, unrolled: 2 },
            (_, _) => Shape { points: 4, threads_u: 8, unrolled: 4 },
        }
    }

    /// Of one product with too few results for tiles as large as those: 64 x 64, again by 256 threads.
    const SMALL: Shape = Shape { points: 4, threads_u: 16, unrolled: 4 };

    /// Results of a block along `u` and along `v`.
    pub(super) fn tile(self) -> [u32; 2] {
        [self.points * self.threads_u, self.points * THREADS_V]
    }
}

impl Chooser<'_> {
    /// Whether no array that is read is written, and each read is one operand of a product, or the only one of its array.
    fn read_once(accesses: &[Profiled<'_>], is_operand: &dyn Fn(&Profiled<'_>) -> bool) -> bool {
        let fits = |it: &Profiled<'_>| {
            let others = accesses.iter().filter(|other| other.access.array == it.access.array);
            it.access.is_affine()
                && others.clone().all(|other| !other.is_write && (is_operand(other) || others.clone().count() == 1))
        };
        accesses.iter().filter(|it| !it.is_write).all(fits)
    }

    pub(super) fn product(
        &self,
        schedule: &Schedule,
        path: &Path,
        parallel: &[usize],
    ) -> Result<Option<Product>, Error> {
        let Some(mut accesses) = self.accesses(schedule, path) else { return Ok(None) };
        let depth = chain_length(schedule, path);
        accesses.extend(self.stored_sums(schedule, path, depth));
        let serial: Vec<usize> = (0..depth).filter(|level| !parallel.contains(level)).collect();
        let writes: Vec<&Profiled<'_>> = accesses.iter().filter(|it| it.is_write).collect();
        let (&[k], 2 | 3, [write]) = (serial.as_slice(), parallel.len(), writes.as_slice()) else { return Ok(None) };
        let bytes = self.algorithm.array(write.access.array).element.bytes();
        let body = schedule.node(&path.down(depth)).map(Node::computations).unwrap_or_default();
        let mut found = None;
        for &v in parallel {
            for &u in parallel.iter().filter(|&&u| u != v) {
                let operand = |it: &Profiled<'_>, along: usize, across: usize| {
                    !it.is_write
                        && it.steps[along] != Step::Stays
                        && it.steps[across] == Step::Stays
                        && it.steps[k] != Step::Stays
                };
                let count =
                    |along: usize, across: usize| accesses.iter().filter(|it| operand(it, along, across)).count();
                let is_operand = |it: &Profiled<'_>| operand(it, u, v) || operand(it, v, u);
                let fits =
                    write.steps[k] == Step::Stays && write.steps[v] == Step::Next && write.steps[u] != Step::Stays;
                let pairs = count(u, v);
                if fits && (1..=2).contains(&pairs) && count(v, u) == pairs && Self::read_once(&accesses, &is_operand) {
                    // A sum of two products has four operands: large tiles of these do not fit.
                    let is_small = pairs > 1 || self.small.contains(&body[0]);
                    let shape = if is_small { Shape::SMALL } else { Shape::new(bytes, parallel.len() - 1) };
                    found = Some(Product { u, v, k, shape });
                }
            }
        }
        let Some(found) = found else { return Ok(None) };
        let extents = self.extents(schedule, path, depth)?;
        let large = |level: usize, least: i64| extents[level].is_none_or(|extent| extent >= least);
        let fits = matches!(bytes, 4 | 8) && large(found.v, 128) && large(found.u, 64) && large(found.k, 16);
        Ok(Some(found).filter(|_| fits))
    }

    /// Tiles a product for blocks and threads.
    ///
    /// Rewrite: `for u, v, k { S } -> @block for u0, v0 { for k0 { @thread for u10, v10 { for k1 { for u11, v11 { S } } } } }`
    pub(super) fn tile_product(&self, schedule: &mut Schedule, path: &Path, parallel: &[usize]) -> Result<bool, Error> {
        let Some(product) = self.product(schedule, path, parallel)? else { return Ok(false) };
        let Product { u, v, k, shape } = product;
        let Shape { points, threads_u: _, unrolled } = shape;
        let [tile_u, tile_v] = shape.tile();
        let depth = chain_length(schedule, path);
        let mut sizes: Vec<Vec<u32>> = vec![vec![]; depth];
        sizes[u] = vec![tile_u, points];
        sizes[v] = vec![tile_v, THREADS_V];
        sizes[k] = vec![TILE_K];
        let mut parts = self.split_levels(schedule, path, &sizes)?;
        let mut take = |level: usize| std::mem::take(&mut parts.1[level]).into_iter();
        let (mut us, vs, mut ks) = (take(u), take(v), take(k));
        let mut vs: Vec<Loop> = vs.collect();
        // Neighbouring threads have neighbouring results, which stand in different banks; those of one thread lie apart.
        vs.swap(1, 2);
        let mut vs = vs.into_iter();
        let mut chain: Vec<Loop> =
            (0..depth).flat_map(&mut take).map(|it| Loop { tag: Tag::GpuBlock(ProcessorAxis::Z), ..it }).collect();
        let tags = [
            (us.next(), Tag::GpuBlock(ProcessorAxis::Y)),
            (vs.next(), Tag::GpuBlock(ProcessorAxis::X)),
            (ks.next(), Tag::Sequential),
            (us.next(), Tag::GpuThread(ProcessorAxis::Y)),
            (vs.next(), Tag::GpuThread(ProcessorAxis::X)),
            (ks.next(), Tag::Unroll(unrolled)),
            (us.next(), Tag::Unroll(points)),
            (vs.next(), Tag::Unroll(points)),
        ];
        chain.extend(tags.into_iter().filter_map(|(it, tag)| it.map(|it| Loop { tag, ..it })));
        let mut trial = parts.0;
        put_chain(&mut trial, path, chain);
        let legal = self.is_legal(&trial, path)?;
        if legal {
            if depth == 3 && shape != Shape::SMALL {
                self.weigh_blocks(schedule, path, (u, v), shape)?;
            }
            *schedule = trial;
        }
        Ok(legal)
    }
}
