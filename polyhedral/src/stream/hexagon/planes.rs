//! Hexagons over time and planes.
//!
//! A block has a tile of neighbouring columns and lines. Each of its warps holds some lines of all planes of a hexagon, each lane a few
//! neighbouring points of each of these lines; neighbours along a line come by shuffles, and lines of other warps through shared
//! memory. Along columns and lines tiles overlap by what the steps of a hexagon reach, as tiles do in the fifth of
//! Barigou's approaches, redundant computation, so that all tiles of a launch run at once: classical tiles, (14) to (16) of the report, would wait for each
//! other. A step computes all points of a tile, of which those that it has no neighbours for are wrong; they come closer to the middle
//! with each step, by what it reaches, and never get to the points that the tile stores.

use super::{Hexagon, Obstacle, Reach, Source, Stream, surroundings};
use crate::algorithm::Algorithm;
use crate::stream::LANES;
use std::collections::BTreeMap;

/// What a block needs beside the points that it stores, and hands from warp to warp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planes {
    /// Points that all steps of a hexagon reach together, along columns and lines.
    pub beside: [Reach; 2],
    /// By field and whether it is of the same step: what warps give of it.
    pub given: BTreeMap<(usize, bool), Given>,
}

/// Lines of a version of a field that warps give to those beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given {
    /// Lines beside its own that a warp needs.
    pub lines: Reach,
    /// Rows around those of the step of which they are needed.
    pub rows: Reach,
}

impl Given {
    /// The first row of which lines are given, and how many rows that are in the longest step.
    pub fn kept(&self, hexagon: &Hexagon) -> (i64, i64) {
        let first = -hexagon.bulge() - self.rows.below;
        (first, hexagon.ends() + hexagon.bulge() + self.rows.above - first)
    }
}

impl Planes {
    /// What so many steps need, of which each stage computes rows `around` those that the step stores.
    pub(super) fn of(stream: &Stream, steps: i64, around: &[Reach]) -> Planes {
        let beside = [0, 1].map(|axis| {
            let (_, fields) = surroundings(stream, axis);
            let carried = fields.iter().zip(&stream.fields).filter(|(_, field)| field.carried);
            let one = carried.fold(Reach::default(), |all, (by, _)| all.or(-by.below).or(by.above));
            Reach { below: steps * one.below, above: steps * one.above }
        });
        let mut given: BTreeMap<(usize, bool), Given> = BTreeMap::new();
        for (stage, around) in stream.stages.iter().zip(around) {
            for read in &stage.reads {
                if let Source::Field { field, fresh, offset, .. } = read
                    && offset[1] != 0
                {
                    let none = Given { lines: Reach::default(), rows: Reach::default() };
                    let it = given.entry((*field, *fresh)).or_insert(none);
                    it.lines = it.lines.or(offset[1]);
                    it.rows = it.rows.or(offset[2] - around.below).or(offset[2] + around.above);
                }
            }
        }
        Planes { beside, given }
    }

    /// Lanes at the lower and at the upper end of a warp that store nothing.
    pub fn idle_lanes(&self, stream: &Stream) -> [i64; 2] {
        let points = i64::from(stream.size.points);
        [self.beside[0].below, self.beside[0].above].map(|beside| (beside + points - 1) / points)
    }

    /// Lines that the warps of a block hold.
    pub fn held(&self, hexagon: &Hexagon) -> i64 {
        i64::from(hexagon.size.threads / LANES) * hexagon.lines()
    }

    /// Lines that a block stores.
    pub fn band(&self, hexagon: &Hexagon) -> i64 {
        self.held(hexagon) - self.beside[1].below - self.beside[1].above
    }

    /// Packs of a lane's neighbouring points that all warps give of a version of a field: each row twice, in turns.
    pub fn packs(&self, hexagon: &Hexagon, given: Given) -> i64 {
        2 * given.kept(hexagon).1 * i64::from(hexagon.size.threads) * (given.lines.below + given.lines.above)
    }

    pub(super) fn shared_bytes(&self, hexagon: &Hexagon, algorithm: &Algorithm, stream: &Stream) -> i64 {
        let of = |(&(field, _), &given): (&(usize, bool), &Given)| {
            let bytes = i64::from(algorithm.array(stream.fields[field].array).element.bytes());
            self.packs(hexagon, given) * i64::from(stream.size.points) * bytes
        };
        self.given.iter().map(of).sum()
    }

    pub(super) fn check_size(&self, hexagon: &Hexagon, stream: &Stream) -> Result<(), Obstacle> {
        let no = |why: String| Err(Obstacle(why));
        let (points, lines) = (i64::from(stream.size.points), hexagon.lines());
        let reads = || stream.stages.iter().flat_map(|stage| &stage.reads);
        let far = |axis: usize| {
            let offsets = reads().filter_map(|read| match read {
                Source::Field { offset, .. } => Some(offset[axis].abs()),
                Source::Memory | Source::Unused => None,
            });
            offsets.max().unwrap_or(0)
        };
        if far(0) > points {
            return no(format!(
                "a point needs its neighbour {} points away, a thread holds {points}: give it more points",
                far(0)
            ));
        }
        if far(1) > lines {
            return no(format!(
                "a point needs its neighbour {} lines away, a thread holds {lines}: give it more lines",
                far(1)
            ));
        }
        if points * lines > 32 {
            return no(format!(
                "a thread holds {lines} lines of {points} points of each plane, and 32 points are the most"
            ));
        }
        if self.band(hexagon) < 1.max(self.held(hexagon) / 4) {
            return no(format!(
                "a block stores {} lines of {}: take a lower hexagon, or more threads or lines a thread",
                self.band(hexagon),
                self.held(hexagon)
            ));
        }
        Ok(())
    }
}
