//! Time loops of stencils on a GPU in parallelograms: where each step would be a kernel of its own, diagonals of tiles are fewer.
//!
//! ```text
//! for t { @gpu for i { S } } -> for wave = t0 + i0 { @block for t0 { for t { @thread for i { S } } } }
//! ```
//!
//! The shape has the shortest longest path, by the model of [`crate::models::parallelograms`]: a kernel for each diagonal, and the rows
//! of a tile one after the other. Sizes are not known here, and hardly count: twice the space has twice the diagonals, whatever the shape.
//!
//! # Source
//! Zhou, Garzarán, Padua, *Optimal parallelogram selection for hierarchical tiling*, TACO 11(4), 2014, equation (19).

use super::chooser::{Chooser, has_loop, loop_at};
use super::regroup::loops_above;
use crate::affine::Affine;
use crate::algorithm::ComputationId;
use crate::default_order::{Memory, Tilings};
use crate::error::Error;
use crate::fresh::fresh_among;
use crate::machine::Gpu;
use crate::models::parallelograms::gpu::{MOST_THREADS, on_gpu, row};
use crate::models::parallelograms::matrix::Matrix;
use crate::models::parallelograms::program::few;
use crate::models::parallelograms::schemes::usual;
use crate::models::parallelograms::{Problem, search};
use crate::schedule::{Loop, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::{loop_names, put_chain, take_chain, tile_loops};

/// The most points of a tile.
const LARGEST: u64 = 1 << 14;
/// Shapes that the search looks at.
const EVALUATIONS: u64 = 1500;
/// Tiles pay where a kernel for each step would take so many times as long: code for them is longer, and their estimate is a rough one.
const GAIN: f64 = 3.0;

impl Chooser<'_> {
    /// Runs the nest at `path`, whose first loop carries dependences and whose second one carries none, along diagonals of
    /// parallelograms, where that promises to pay.
    pub(super) fn parallelograms(&self, schedule: &mut Schedule, path: &Path, depth: usize) -> Result<bool, Error> {
        let is_plain = schedule.node(&path.down(depth)).is_some_and(|body| !has_loop(body));
        let excluded = self.means.tilings != Tilings::Wanted || self.means.memory == Memory::Plain;
        if depth != 2 || !is_plain || excluded || loops_above(schedule, path) > 0 {
            return Ok(false);
        }
        let Some(shape) = self.best_shape(schedule, path)? else { return Ok(false) };
        let mut trial = schedule.clone();
        let mut names = vec![];
        loop_names(&trial.root, &mut names);
        let points = take_chain(&mut trial, path, depth);
        let tiles = tile_loops(&points, &shape, &mut names)?;
        let ([t0, i0], [t, i]) = (tiles.as_slice(), points.as_slice()) else { return Ok(false) };
        let sum = |(id, at): (&ComputationId, &Affine)| Ok((*id, at.add(&i0.at[id])?));
        let at = t0.at.iter().map(sum).collect::<Result<_, Error>>()?;
        let wave = Loop { name: fresh_among("wave", &names), tag: Tag::Sequential, at, body: t0.body.clone() };
        let x = ProcessorAxis::X;
        let chain = vec![
            wave,
            Loop { tag: Tag::GpuBlock(x), ..t0.clone() },
            t.clone(),
            Loop { tag: Tag::GpuThread(x), ..i.clone() },
        ];
        put_chain(&mut trial, path, chain);
        let fits = self.is_legal(&trial, path)? && self.has_place(&trial)?;
        if fits {
            *schedule = trial;
        }
        Ok(fits)
    }

    /// The tile with the shortest longest path for the nest at `path`; `None` where kernels for each step do nearly as well, or there is none.
    fn best_shape(&self, schedule: &Schedule, path: &Path) -> Result<Option<Matrix>, Error> {
        let Some(distances) = self.distances(schedule, path, 2)? else { return Ok(None) };
        let Some(dependences) = few(&distances)? else { return Ok(None) };
        let mut extents = vec![];
        for level in 0..2 {
            let about = loop_at(schedule, &path.down(level)).and_then(|it| it.at.iter().next());
            let Some((&id, at)) = about else { return Ok(None) };
            extents.push(self.iterations(id, at)? as i64);
        }
        let mut space = Matrix::diagonal(2, 0);
        extents.iter().enumerate().for_each(|(at, &extent)| space.rows[at][at] = extent);
        let gpu = &Gpu::HOPPER;
        let asked = Problem { space, dependences, iteration: 0.0, overhead: vec![], largest: vec![] };
        let problem = on_gpu(&asked, gpu, LARGEST);
        if problem.dependences.is_empty() || problem.has_free_direction() {
            return Ok(None);
        }
        let found = search(&problem, &usual(&problem), 1, EVALUATIONS, &mut |_, _| {});
        let steps = extents[0] as f64 * gpu.launch_nanoseconds * 1e-9;
        Ok(found.filter(|it| it.prediction.time * GAIN < steps).and_then(|it| {
            let shape = it.shapes.into_iter().next()?;
            (row(&shape) <= MOST_THREADS).then_some(shape)
        }))
    }
}
