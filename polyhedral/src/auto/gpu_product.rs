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

/// What a block computes: each of its 16 times `threads_u` threads has `points` results along `u` and along `v`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    points: [u32; 2],
    threads_u: u32,
    /// Where the results of a thread lie in groups of neighbours along both axes: how many are one.
    group: Option<u32>,
    /// Terms that pass through shared memory together.
    tile_k: u32,
    /// Terms that are added without a test between.
    unrolled: u32,
}

impl Shape {
    /// Of one product: a thread's results are a square, which takes the fewest loads from shared memory for its products; they and
    /// what is in flight take half of the registers that a thread can have in four bytes, so that two blocks of 256 threads run
    /// beside one another, or in eight bytes two of 128. Of many products, which may be small, a quarter of that, and more blocks.
    /// Values along k make one vector load.
    fn new(bytes: u32, products: usize) -> Shape {
        let square = Shape { points: [8, 8], threads_u: 16, group: None, tile_k: TILE_K, unrolled: 4 };
        match (products, bytes) {
            (1, 4) => square,
            (1, _) => Shape { threads_u: 8, unrolled: 2, ..square },
            (_, _) => Shape { points: [4, 4], threads_u: 8, ..square },
        }
    }

    /// Of one product whose terms are added by the instruction that multiplies, of which there are half as many: loads from shared
    /// memory count. They are of 16 bytes, so as many neighbours are one thread's, and in four bytes a thread has twice the results.
    fn contracted(bytes: u32) -> Shape {
        let points = [64 / bytes, 8];
        Shape { points, threads_u: 8, group: Some(16 / bytes), tile_k: 8, unrolled: 8 }
    }

    /// Of one product with too few results for tiles as large as those: 64 x 64, again by 256 threads.
    const SMALL: Shape = Shape { points: [4, 4], threads_u: 16, group: None, tile_k: TILE_K, unrolled: 4 };

    /// Results of a block along `u` and along `v`.
    pub(super) fn tile(self) -> [u32; 2] {
        [self.points[0] * self.threads_u, self.points[1] * THREADS_V]
    }

    /// The sizes by which the levels of `u` and of `v` are split.
    fn splits(self) -> [Vec<u32>; 2] {
        let [tile_u, tile_v] = self.tile();
        match self.group {
            Some(group) => [vec![tile_u, self.threads_u * group, group], vec![tile_v, THREADS_V * group, group]],
            // Neighbouring threads have neighbouring results along `v`, which stand in different banks; those of one thread lie apart.
            None => [vec![tile_u, self.points[0]], vec![tile_v, THREADS_V]],
        }
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
        let element = self.algorithm.array(write.access.array).element;
        let bytes = element.bytes();
        let body = schedule.node(&path.down(depth)).map(Node::computations).unwrap_or_default();
        let contracts = element.is_float() && body.iter().all(|&id| self.algorithm.computation(id).fastmath);
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
                    let shape = match (is_small, parallel.len() - 1) {
                        (true, _) => Shape::SMALL,
                        (false, 1) if contracts => Shape::contracted(bytes),
                        (false, products) => Shape::new(bytes, products),
                    };
                    found = Some(Product { u, v, k, shape });
                }
            }
        }
        let Some(found) = found else { return Ok(None) };
        let extents = self.extents(schedule, path, depth)?;
        let large = |level: usize, least: i64| extents[level].is_none_or(|extent| extent >= least);
        let fits = matches!(bytes, 4 | 8) && large(found.v, 128) && large(found.u, 64) && large(found.k, 16);
        // With one tile of terms, nothing is gained.
        let fits = fits && self.may_reach(schedule, path, found.k, 17)?;
        Ok(Some(found).filter(|_| fits))
    }

    /// Tiles a product for blocks and threads.
    ///
    /// Rewrite: `for u, v, k { S } -> @block for u0, v0 { for k0 { @thread for u10, v10 { for k1 { for u11, v11 { S } } } } }`, with two
    /// loops each in place of `u11` and `v11` where results lie in groups.
    pub(super) fn tile_product(&self, schedule: &mut Schedule, path: &Path, parallel: &[usize]) -> Result<bool, Error> {
        let Some(product) = self.product(schedule, path, parallel)? else { return Ok(false) };
        let Product { u, v, k, shape } = product;
        let depth = chain_length(schedule, path);
        let mut sizes: Vec<Vec<u32>> = vec![vec![]; depth];
        [sizes[u], sizes[v]] = shape.splits();
        sizes[k] = vec![shape.tile_k];
        let mut parts = self.split_levels(schedule, path, &sizes)?;
        let mut take = |level: usize| std::mem::take(&mut parts.1[level]);
        let (mut us, mut vs, mut ks) = (take(u), take(v), take(k).into_iter());
        // Blocks, threads, points.
        let [mut points_u, mut points_v] = [&mut us, &mut vs].map(|levels| levels.split_off(2));
        match shape.group {
            // Groups, and points in them, on both sides of the threads.
            Some(_) => {
                std::mem::swap(&mut us[1], &mut points_u[0]);
                std::mem::swap(&mut vs[1], &mut points_v[0]);
            }
            None => std::mem::swap(&mut vs[1], &mut points_v[0]),
        }
        let (mut us, mut vs) = (us.into_iter(), vs.into_iter());
        let mut chain: Vec<Loop> =
            (0..depth).flat_map(&mut take).map(|it| Loop { tag: Tag::GpuBlock(ProcessorAxis::Z), ..it }).collect();
        let tags = [
            (us.next(), Tag::GpuBlock(ProcessorAxis::Y)),
            (vs.next(), Tag::GpuBlock(ProcessorAxis::X)),
            (ks.next(), Tag::Sequential),
            (us.next(), Tag::GpuThread(ProcessorAxis::Y)),
            (vs.next(), Tag::GpuThread(ProcessorAxis::X)),
            (ks.next(), Tag::Unroll(shape.unrolled)),
        ];
        chain.extend(tags.into_iter().filter_map(|(it, tag)| it.map(|it| Loop { tag, ..it })));
        for (levels, points) in [points_u, points_v].into_iter().zip(shape.points) {
            let within = shape.group.unwrap_or(points);
            let times = if levels.len() > 1 { [points / within, within] } else { [points, 1] };
            let unrolled = levels.into_iter().zip(times).map(|(it, times)| Loop { tag: Tag::Unroll(times), ..it });
            chain.extend(unrolled);
        }
        let mut trial = parts.0;
        put_chain(&mut trial, path, chain);
        let legal = self.is_legal(&trial, path)?;
        if legal {
            let sums = schedule.node(path).map(Node::computations).unwrap_or_default();
            if let (3, Some(&sum)) = (depth, sums.first().filter(|_| shape != Shape::SMALL)) {
                let [tile_u, tile_v] = shape.tile();
                self.weigh_blocks(schedule, path, sum, &[(u, tile_u), (v, tile_v)])?;
            }
            *schedule = trial;
        }
        Ok(legal)
    }
}
