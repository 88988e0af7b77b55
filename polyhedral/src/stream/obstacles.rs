//! Why loops do not stream.

use super::recognise::Nests;
use super::{LANES, MOST_WARPS, Reach, Source, Stream};
use crate::algorithm::Algorithm;
use crate::error::Error;
use crate::isl::Ctx;
use crate::machine::Gpu;
use crate::schedule::{Loop, Node, StreamSize};
use crate::transform::nests_apart;

/// Why a loop does not stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle(pub String);

/// Why a time loop does not stream, whatever the sizes, even if each of its statements has a nest of its own; `None` where it does, in some
/// sizes.
///
/// # Errors
/// Where isl fails.
pub fn obstacle(ctx: &Ctx, algorithm: &Algorithm, time: &Loop) -> Result<Option<Obstacle>, Error> {
    let apart = Loop { body: Box::new(Node::Sequence(nests_apart(&time.body))), ..time.clone() };
    let mut first = None;
    for time in [time, &apart] {
        match Nests::of(ctx, algorithm, time)? {
            Err(obstacle) => first = first.or(Some(obstacle)),
            // Many points reach far neighbours, and few take little memory.
            Ok(nests) => {
                for points in [16, 8, 4, 2, 1] {
                    match nests.clone().stream(algorithm, StreamSize { steps: 1, points, ..StreamSize::USUAL }) {
                        Ok(_) => return Ok(None),
                        Err(obstacle) => first = first.or(Some(obstacle)),
                    }
                }
            }
        }
    }
    Ok(first)
}

impl StreamSize {
    /// Whether any launch can have such sizes; those of others take as much work as they have steps.
    pub(super) fn check(&self) -> Result<(), Obstacle> {
        if !self.points.is_power_of_two() || self.points > 16 || self.steps > 64 {
            return Err(Obstacle(
                "a lane holds 1, 2, 4, 8 or 16 points, and a launch makes at most 64 steps".to_string(),
            ));
        }
        Ok(())
    }
}

impl Stream {
    /// Whether a launch can have such sizes.
    pub(super) fn check_size(&self, algorithm: &Algorithm) -> Result<(), Obstacle> {
        let points = i64::from(self.size.points);
        let offsets = self.stages.iter().flat_map(|stage| &stage.reads).filter_map(|read| match read {
            Source::Field { offset, .. } => Some(offset[0].abs()),
            Source::Memory | Source::Unused => None,
        });
        let farthest = offsets.max().unwrap_or(0);
        if farthest > points {
            return Err(Obstacle(format!(
                "a point needs its neighbour {farthest} points away, a lane holds {points}: give it more points"
            )));
        }
        if self.size.warps == 0 || self.size.warps > MOST_WARPS {
            return Err(Obstacle(format!("a block has at most {MOST_WARPS} warps")));
        }
        if self.width() < points * 4 {
            let Reach { below, above } = self.beside[0];
            return Err(Obstacle(format!(
                "{} steps reach {below} and {above} points to the sides, of the {} that a warp holds: take fewer steps, or more points a lane",
                self.size.steps,
                points * i64::from(LANES),
            )));
        }
        if self.band() < 1 {
            let Reach { below, above } = self.beside[1];
            return Err(Obstacle(format!(
                "{} steps reach {below} and {above} lines to the sides, of the {} that the warps of a block hold: take fewer steps, or more lines a lane",
                self.size.steps,
                self.all_lines(),
            )));
        }
        let shared = || (0..self.fields.len()).filter_map(|field| self.shared_lines(field));
        let far = shared().map(|it| it.reach.below.max(it.reach.above)).max().unwrap_or(0);
        if far > i64::from(self.size.lines) {
            return Err(Obstacle(format!(
                "a point needs its neighbour {far} lines away, a lane holds {}: give it more lines",
                self.size.lines
            )));
        }
        let bytes = self.shared_bytes(algorithm);
        let most = i64::from(Gpu::HOPPER.shared_bytes_of_block);
        if bytes > most {
            return Err(Obstacle(format!(
                "the lines that warps share take {bytes} bytes of a block, and {most} is the most: take fewer steps or points"
            )));
        }
        let registers = self.registers(algorithm);
        let most = Gpu::HOPPER.registers_of_thread;
        if registers > i64::from(most) {
            let what = if self.axes[1].is_some() { "steps, points or lines" } else { "steps or points" };
            return Err(Obstacle(format!(
                "the rows take {registers} registers a thread, and {most} is the most: take fewer {what}"
            )));
        }
        Ok(())
    }
}

pub(super) fn no<T>(why: impl Into<String>) -> Result<Result<T, Obstacle>, Error> {
    Ok(Err(Obstacle(why.into())))
}

pub(super) fn far(computation: &str) -> Obstacle {
    Obstacle(format!("`{computation}` reads too far away"))
}
