//! Hybrid hexagonal/classical tiling.

use super::hexagon::{Hexagon, Phase, Place};
use super::slope::Slope;
use super::stencil::{Stencil, Within, stencil};
use super::tree::{around, inner, lanes, point_tags, shared, sharing, steps, turns, untiled, with_pieces};
use crate::affine::{Affine, AffineOverflow};
use crate::algorithm::{Algorithm, ComputationId};
use crate::dependence::Dependence;
use crate::effort;
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::legality;
use crate::schedule::{Node, ProcessorAxis, Tag};
use crate::transform::{split_dependences, split_domain};
use std::collections::BTreeMap;

/// What pieces of the second phase have at the end of their names, before a number.
const SUFFIX: &str = "_phase";

/// Tiles time and space: hexagons along time and the first dimension, whose tiles of one phase run in parallel, and
/// parallelograms along the others.
///
/// Rewrite: `for t { for j { for i { S } } }
/// -> for t0 { for j0 { for i0 { for t { for j { for i { S } } } } }; for j0 { for i0 { for t { for j { for i { S_phase1 } } } } } }`.
/// Each computation is split into the instances of the two phases. `j0` runs in parallel, on the GPU as blocks, and `j` and `i`
/// as threads there, with barriers between the nests of a step. `widths` may be fewer than the dimensions: the others are
/// not tiled, and threads take turns along them. Gives the dependences of the pieces, too.
///
/// # Source
/// Grosser, Verdoolaege, Cohen, Sadayappan, INRIA RR-8339, 2013, section 3.5: `S0` by (2) to (13), the others by (14) to (16).
///
/// # Errors
/// [`ScheduleError::NotStencil`]; [`ScheduleError::TileHeight`] unless `h + 1` is a multiple of the number of nests,
/// or of those that are left once nests [share steps](Stencil::merged);
/// [`ScheduleError::TileWidth`] against condition (1).
#[allow(clippy::too_many_arguments, reason = "a command has this many parts")]
pub fn hexagonal(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    computations: &[String],
    time: &str,
    dims: &[String],
    height: u32,
    widths: &[u32],
) -> Result<(Scheduled, Vec<Dependence>), Error> {
    if widths.is_empty() || widths.len() > dims.len() {
        return Err(ScheduleError::SizeCount { loops: dims.len(), sizes: widths.len() }.into());
    }
    let height = i64::from(height);
    let apart = stencil(ctx, scheduled, computations, time, dims)?;
    let merged = apart.merged(ctx, scheduled, dependences)?;
    let cones_of = |stencil| cones(ctx, scheduled, dependences, stencil, computations, (height, widths));
    let (stencil, cones) = match cones_of(&merged) {
        Ok(cones) => (merged, cones),
        // The sizes may suit more steps, each of which reaches less far.
        Err(refused @ Error::Schedule(ScheduleError::TileHeight { .. } | ScheduleError::TileWidth { .. }))
            if merged.sweeps < apart.sweeps =>
        {
            match cones_of(&apart) {
                Ok(cones) => (apart, cones),
                Err(error) if error.is_quota() => return Err(error),
                Err(_) => return Err(refused),
            }
        }
        Err(other) => return Err(other),
    };
    let [delta0, delta1] = cones[0];
    let hexagon = Hexagon { height, width: i64::from(widths[0]), delta0, delta1 };
    let widths: Vec<i64> = widths.iter().copied().map(i64::from).collect();
    let shape = Shape { scheduled, stencil: &stencil, hexagon, widths, cones };
    let (tiled, pieces) = shape.tile(ctx)?;
    let weight = effort::weight(&tiled.algorithm, &tiled.schedule);
    let all = ctx.weighed(weight, || {
        let all = split_dependences(ctx, &tiled.algorithm, &pieces, dependences)?;
        legality::check(ctx, &tiled.algorithm, &tiled.schedule, &all)?;
        Ok(all)
    });
    let all = all.map_err(|error| of_whole(&tiled.algorithm, error))?;
    Ok((tiled, all))
}

/// The slopes of each dimension that is tiled.
///
/// # Errors
/// As of [`hexagonal`], where the height or the first width does not suit them.
fn cones(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    stencil: &Stencil,
    computations: &[String],
    (height, widths): (i64, &[u32]),
) -> Result<Vec<[Slope; 2]>, Error> {
    let computation = || computations[0].clone();
    let nests = stencil.sweeps;
    if (height + 1) % nests != 0 {
        let at = stencil.time.name.clone();
        return Err(ScheduleError::TileHeight { computation: computation(), at, height, nests }.into());
    }
    let distances = stencil.distances(ctx, scheduled, dependences, Within::OnePoint)?;
    let cones = (0..widths.len()).map(|dim| stencil.slopes(ctx, scheduled, dependences, &distances, dim));
    let cones = cones.collect::<Result<Vec<_>, _>>()?;
    let [delta0, delta1] = cones[0];
    let (width, least) = (i64::from(widths[0]), Hexagon::least_width(height, delta0, delta1));
    if width < least {
        let (computation, at) = (computation(), stencil.dims[0].clone());
        let slopes = [delta0.to_string(), delta1.to_string()];
        return Err(ScheduleError::TileWidth { computation, at, width, least, height, slopes }.into());
    }
    Ok(cones)
}

/// A tiling of one time loop.
struct Shape<'a> {
    scheduled: &'a Scheduled,
    stencil: &'a Stencil,
    hexagon: Hexagon,
    /// `w0`, and the widths of the parallelograms.
    widths: Vec<i64>,
    /// `delta0` and `delta1` of each dimension that is tiled.
    cones: Vec<[Slope; 2]>,
}

/// The loops of a phase: what each runs through, by computation.
#[derive(Default)]
struct Functions {
    time_tile: BTreeMap<ComputationId, Affine>,
    /// `S0`, `S1`, ...
    tiles: Vec<BTreeMap<ComputationId, Affine>>,
    time: BTreeMap<ComputationId, Affine>,
    points: Vec<BTreeMap<ComputationId, Affine>>,
    /// The turns of threads, where they take any.
    rounds: Vec<BTreeMap<ComputationId, Affine>>,
}

impl Shape<'_> {
    /// The tiled program, and the pieces of each computation that was split.
    fn tile(&self, ctx: &Ctx) -> Result<(Scheduled, BTreeMap<ComputationId, Vec<ComputationId>>), Error> {
        let Scheduled { algorithm, schedule, .. } = self.scheduled;
        let (mut algorithm, mut schedule) = (algorithm.clone(), schedule.clone());
        let ids: Vec<ComputationId> = self.stencil.step.keys().copied().collect();
        let mut all_pieces = BTreeMap::new();
        let mut pieces: [BTreeMap<ComputationId, ComputationId>; 2] = [BTreeMap::new(), BTreeMap::new()];
        for &id in &ids {
            let inside = |phase| self.hexagon.inside(&self.place(phase, id)?);
            let parts = [inside(Phase::First)?, inside(Phase::Second)?];
            let made = split_domain(ctx, &mut algorithm, &mut schedule, id, &parts, SUFFIX)?;
            for (pieces, piece) in pieces.iter_mut().zip(&made) {
                pieces.insert(id, *piece);
            }
            all_pieces.insert(id, made);
        }
        if let Some(whole) = &mut algorithm.whole {
            whole.has_fractions |= self.cones.iter().flatten().any(|slope| slope.under > 1);
        }
        let mut time_tile = BTreeMap::new();
        let mut phases = vec![];
        for (phase, pieces) in [Phase::First, Phase::Second].into_iter().zip(&pieces) {
            let functions = self.functions(phase, pieces)?;
            phases.push(self.phase(&functions, pieces));
            time_tile.extend(functions.time_tile);
        }
        let tiled = around(
            &self.stencil.fresh(&format!("{}0", self.stencil.time.name)),
            Tag::Sequential,
            &time_tile,
            Node::Sequence(phases),
        );
        *schedule.node_mut(&self.stencil.path).expect("splitting keeps the loops above statements") = tiled;
        Ok((Scheduled { algorithm, schedule, ..self.scheduled.clone() }, all_pieces))
    }

    fn place(&self, phase: Phase, id: ComputationId) -> Result<Place, AffineOverflow> {
        self.hexagon.place(phase, &self.stencil.step[&id], &self.stencil.space[&id][0])
    }

    fn functions(
        &self,
        phase: Phase,
        pieces: &BTreeMap<ComputationId, ComputationId>,
    ) -> Result<Functions, AffineOverflow> {
        let dims = self.stencil.dims.len();
        let empty = || vec![BTreeMap::new(); dims];
        let tiles = vec![BTreeMap::new(); self.widths.len()];
        let mut all = Functions { tiles, points: empty(), rounds: empty(), ..Functions::default() };
        let (first, last) = self.hexagon.ends();
        let extents =
            (0..dims).map(|dim| if dim == 0 { Some(last - first + 1) } else { self.widths.get(dim).copied() });
        let threads = sharing(self.scheduled.target, &extents.collect::<Vec<_>>());
        for (&id, &piece) in pieces {
            let positions = &self.stencil.space[&id];
            let place = self.place(phase, id)?;
            // On the GPU a thread's number is a place within the tile; on the CPU subscripts without offsets read best.
            let is_local = self.scheduled.target == Target::Gpu;
            for (dim, position) in positions.iter().enumerate().take(dims) {
                let (tile, local) = match (dim, self.widths.get(dim)) {
                    // Threads count from the first of all points, if they take turns.
                    (0, _) if threads[0].is_some() => (Some(place.space_tile.clone()), place.b.add_constant(-first)?),
                    (0, _) => (Some(place.space_tile.clone()), place.b.clone()),
                    (_, Some(&width)) => {
                        let [_, delta1] = self.cones[dim];
                        // (14), with t' of (15) and (16): floor((s + delta1 t') / w).
                        let back = place.a.scale(delta1.over)?.floor_div(delta1.under);
                        let slanted = position.add(&back)?;
                        (Some(slanted.floor_div(width)), slanted.modulo(width)?)
                    }
                    (_, None) => {
                        let (thread, turn) = untiled(self.scheduled.target, dim + 1 == dims, position)?;
                        all.rounds[dim].extend(turn.map(|turn| (piece, turn)));
                        (None, thread)
                    }
                };
                let (local, turn) = match is_local && tile.is_some() {
                    true => shared(local, threads[dim])?,
                    false => (local, None),
                };
                all.rounds[dim].extend(turn.map(|turn| (piece, turn)));
                if let Some(tile) = tile {
                    all.tiles[dim].insert(piece, tile);
                }
                all.points[dim].insert(piece, if is_local { local } else { position.clone() });
            }
            all.time.insert(piece, self.stencil.time.at[&id].clone());
            all.time_tile.insert(piece, place.time_tile);
        }
        Ok(all)
    }

    /// `for j0 { for i0 { for t { nests } } }`.
    fn phase(&self, functions: &Functions, pieces: &BTreeMap<ComputationId, ComputationId>) -> Node {
        let stencil = self.stencil;
        let nests = stencil.nests.iter().map(|nest| {
            let width = lanes(&self.scheduled.algorithm, self.scheduled.machine, stencil, nest);
            let tags = point_tags(self.scheduled, stencil.dims.len(), width);
            let suffix = if self.scheduled.target == Target::Gpu { "1" } else { "" };
            let loops = stencil.dims.iter().zip(tags).zip(&functions.points);
            let statements = turns(stencil, &functions.rounds, with_pieces(&inner(nest), pieces));
            loops.rev().fold(statements, |body, ((name, tag), at)| {
                around(&stencil.fresh(&format!("{name}{suffix}")), tag, at, body)
            })
        });
        let inside = around(&stencil.time.name, Tag::Sequential, &functions.time, steps(nests.collect()));
        let tiles = functions.tiles.iter().zip(&stencil.dims).enumerate();
        tiles.rev().fold(inside, |body, (dim, (at, name))| {
            let tag = match (dim, self.scheduled.target) {
                (0, Target::Cpu) => Tag::Parallel,
                (0, Target::Gpu) => Tag::GpuBlock(ProcessorAxis::X),
                (_, Target::Cpu | Target::Gpu) => Tag::Sequential,
            };
            around(&stencil.fresh(&format!("{name}0")), tag, at, body)
        })
    }
}

/// A refusal in terms of the computations as they were before they were split.
fn of_whole(algorithm: &Algorithm, error: Error) -> Error {
    match (error, &algorithm.whole) {
        (Error::Schedule(ScheduleError::Illegal(mut violation)), Some(whole)) => {
            for at in [&mut violation.source, &mut violation.sink] {
                at.computation = whole.piece_of[at.computation.0 as usize];
            }
            ScheduleError::Illegal(violation).into()
        }
        (error, _) => error,
    }
}
