//! All steps of a time loop in one kernel, whose blocks keep their tiles of the domain in shared memory and registers.
//!
//! Rewrite of `grid_sync(S, t, 4)` for `for t { for j, i { S } }`: as many blocks as run at once cut the domain into tiles. Each loads
//! its tile, with the points beside it that four steps reach, and makes four steps on all of it, the nests of a step one after
//! the other; what the points at the rim of the tile need from outside is computed twice. Then each block gives others the points
//! that they need, all blocks wait for each other, and each takes what it needs itself: one barrier of the grid for four steps, and
//! nothing but rims goes through memory until the last step is made.
//!
//! What streams is known to be a sequence of nests over boxes whose instances read points a fixed distance away ([`super`]): so each stage
//! runs on all points of a tile at once, and a block's threads wait for each other where one stage reads what others wrote. A
//! value is right in a step if all that it depends on is in the tile: [`Resident::of`] goes back from the points that a block owns
//! through the stages of all steps and adds up how far they reach.
//!
//! Rims go to the array and to a copy of it in turn, so that no block overwrites what a slow one still has to read.
//!
//! # Source
//! Approach 2 of the persistent kernels of Xiao and Feng, *Inter-block GPU communication via fast barrier synchronization*, IPDPS 2010,
//! with several steps between two barriers.

use super::{LANES, Obstacle, Reach, Source, Stream};
use crate::algorithm::Algorithm;
use crate::machine::Gpu;
use crate::schedule::ResidentSize;
use std::collections::BTreeSet;

/// How the blocks of a kernel hold a domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Resident {
    pub size: ResidentSize,
    /// Points of a tile along each axis beside those that its block owns.
    pub beside: [Reach; 3],
    /// Where each field lies.
    pub held: Vec<Held>,
    /// Of each field, whether blocks need points of it that others compute.
    pub exchanged: Vec<bool>,
    /// At which stages the threads of a block wait for each other.
    pub waits: Vec<Waits>,
}

/// Where a block holds its tile of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// In shared memory, for all threads.
    Shared,
    /// In registers: no point of it is read for another one.
    Registers,
}

/// Where threads of a block wait for each other at a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waits {
    /// Before it: others wrote what it reads, or read what it writes.
    pub before: bool,
    /// Between what it reads and what it writes: the points beside a point need what is there now.
    pub between: bool,
}

/// What threads did since they waited for each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Since {
    /// The fields of which points beside a thread's own were read.
    read: BTreeSet<usize>,
    written: BTreeSet<usize>,
}

/// How far some steps reach from the points that a block owns.
pub(crate) struct Reaches {
    /// Along each axis, whatever is read.
    pub(crate) beside: [Reach; 3],
    /// Of each field, what has to be there before the first of them.
    wanted: Vec<[Reach; 3]>,
}

impl Reaches {
    pub(crate) fn of(stream: &Stream, steps: u32) -> Reaches {
        let mut wanted = vec![[Reach::default(); 3]; stream.fields.len()];
        let mut beside = [Reach::default(); 3];
        for _ in 0..steps {
            for stage in stream.stages.iter().rev() {
                let own = wanted[stage.field];
                for read in &stage.reads {
                    let Source::Field { field, offset, .. } = read else { continue };
                    for (axis, by) in offset.iter().enumerate() {
                        let Reach { below, above } = own[axis];
                        for all in [&mut wanted[*field][axis], &mut beside[axis]] {
                            *all = Reach { below: all.below.max(below - by), above: all.above.max(above + by) };
                        }
                    }
                }
            }
            // They are computed anew in each step, but for points that never change.
            let anew = stream.fields.iter().zip(&mut wanted).filter(|(field, _)| !field.carried);
            anew.for_each(|(_, wanted)| *wanted = [Reach::default(); 3]);
        }
        Reaches { beside, wanted }
    }
}

impl ResidentSize {
    fn check(&self) -> Result<(), Obstacle> {
        let ResidentSize { steps, points, rows, warps, lines } = *self;
        let within = |number: u32, most: u32| (1..=most).contains(&number);
        if within(steps, 64)
            && [points, rows, warps].iter().all(|it| within(*it, super::MOST_WARPS))
            && within(lines, 1024)
        {
            return Ok(());
        }
        Err(Obstacle(format!(
            "a tile makes 1 to 64 steps between two barriers, with 1 to {most} points of a row for each lane, 1 to {most} rows for each warp, \
             1 to {most} warps, and 1 to 1024 lines of a plane",
            most = super::MOST_WARPS
        )))
    }
}

/// Registers of a thread besides the points that it holds.
const OTHER_REGISTERS: i64 = 36;

impl Resident {
    /// How a stream runs so.
    pub(crate) fn of(algorithm: &Algorithm, stream: &Stream, size: ResidentSize) -> Result<Resident, Obstacle> {
        stream.ends()?;
        size.check()?;
        let Reaches { beside, wanted } = Reaches::of(stream, size.steps);
        let is_read_beside =
            |at: usize| {
                stream.stages.iter().flat_map(|stage| &stage.reads).any(
                    |read| matches!(read, Source::Field { field, offset, .. } if *field == at && *offset != [0; 3]),
                )
            };
        let exchanged: Vec<bool> = wanted.iter().map(|it| *it != [Reach::default(); 3]).collect();
        let held = exchanged.iter().enumerate().map(|(at, exchanged)| match *exchanged || is_read_beside(at) {
            true => Held::Shared,
            false => Held::Registers,
        });
        let held = held.collect();
        let mut resident = Resident { size, beside, held, exchanged, waits: vec![] };
        resident.waits = resident.waits(stream);
        resident.check(algorithm, stream)?;
        Ok(resident)
    }

    /// Where threads wait, so that each point is there before it is read by another thread, and read before it is overwritten. A
    /// thread has the same points of all fields.
    fn waits(&self, stream: &Stream) -> Vec<Waits> {
        let mut since = Since::default();
        loop {
            let before = since.clone();
            let mut waits = vec![];
            for stage in &stream.stages {
                let beside: BTreeSet<usize> = stage
                    .reads
                    .iter()
                    .filter_map(|read| match read {
                        Source::Field { field, offset, .. } if *offset != [0; 3] => Some(*field),
                        _ => None,
                    })
                    .collect();
                let is_shared = self.held[stage.field] == Held::Shared;
                // Beside a single row lies nothing that it writes.
                let reads_own = stage.reads.iter().any(|read| match read {
                    Source::Field { field, offset, .. } if *field == stage.field && *offset != [0; 3] => {
                        !offset.iter().enumerate().any(|(axis, by)| *by != 0 && stage.is_single(axis))
                    }
                    _ => false,
                });
                let own = Waits {
                    before: !since.written.is_disjoint(&beside) || is_shared && since.read.contains(&stage.field),
                    between: is_shared && reads_own,
                };
                if own.before {
                    since = Since::default();
                }
                since.read.extend(&beside);
                if own.between {
                    since = Since::default();
                }
                since.written.extend(is_shared.then_some(stage.field));
                waits.push(own);
            }
            // A step follows another one.
            since.read.extend(&before.read);
            since.written.extend(&before.written);
            if since == before {
                return waits;
            }
        }
    }

    /// Whether the warps of a block lie beside each other along columns: where arrays have one axis.
    pub fn is_line(&self, stream: &Stream) -> bool {
        stream.axes[2].is_none()
    }

    /// Columns of a tile.
    pub fn columns(&self, stream: &Stream) -> i64 {
        let of_warp = i64::from(LANES * self.size.points);
        if self.is_line(stream) { of_warp * i64::from(self.size.warps) } else { of_warp }
    }

    /// Lines of each plane of a tile.
    pub fn lines(&self, stream: &Stream) -> i64 {
        if stream.axes[1].is_some() { self.size.lines.into() } else { 1 }
    }

    /// The most rows, or lines of all planes, that a warp has.
    pub fn rows(&self, stream: &Stream) -> i64 {
        if self.is_line(stream) { 1 } else { self.size.rows.into() }
    }

    /// Numbers of rows of a warp for which there is code: smaller tiles take no longer than they have to.
    pub fn versions(&self, stream: &Stream) -> Vec<i64> {
        let mut all = vec![self.rows(stream)];
        while let Some(&last) = all.last().filter(|last| **last > 1) {
            all.push(((last * 7 + 9) / 10).min(last - 1));
        }
        all.reverse();
        all
    }

    /// Rows of a block, or lines of all planes, if each warp has so many.
    pub fn rows_of_block(&self, stream: &Stream, of_warp: i64) -> i64 {
        if self.is_line(stream) { 1 } else { of_warp * i64::from(self.size.warps) }
    }

    /// Columns that a block owns.
    pub fn strip(&self, stream: &Stream) -> i64 {
        self.columns(stream) - self.beside[0].below - self.beside[0].above
    }

    /// Lines of each plane that a block owns.
    pub fn band(&self, stream: &Stream) -> i64 {
        self.lines(stream) - self.beside[1].below - self.beside[1].above
    }

    /// Rows, or planes, of a tile beside those that its block owns.
    pub fn rows_beside(&self) -> i64 {
        self.beside[2].below + self.beside[2].above
    }

    /// From a point of a tile to the one at an offset.
    pub fn distance(&self, stream: &Stream, [column, line, row]: [i64; 3]) -> i64 {
        column + self.columns(stream) * (line + self.lines(stream) * row)
    }

    /// Elements before and behind a tile in shared memory, so that points at its rim may read beside it.
    pub fn pad(&self, stream: &Stream) -> i64 {
        let offsets = stream.stages.iter().flat_map(|stage| &stage.reads).filter_map(|read| match read {
            Source::Field { offset, .. } => Some(self.distance(stream, *offset).abs()),
            Source::Memory | Source::Unused => None,
        });
        (offsets.max().unwrap_or(0) + 31) / 32 * 32
    }

    /// Bytes of shared memory before a field's tile and its pad, and of all tiles.
    pub fn place(&self, algorithm: &Algorithm, stream: &Stream, field: usize) -> i64 {
        let cells = self.columns(stream) * self.rows_of_block(stream, self.rows(stream)) + 2 * self.pad(stream);
        let shared = (0..field).filter(|at| self.held[*at] == Held::Shared);
        let bytes = |at: usize| i64::from(algorithm.array(stream.fields[at].array).element.bytes());
        shared.map(|at| cells * bytes(at)).sum()
    }

    /// Bytes of shared memory of a block.
    pub fn shared_bytes(&self, algorithm: &Algorithm, stream: &Stream) -> i64 {
        self.place(algorithm, stream, stream.fields.len())
    }

    /// Registers of four bytes that a thread needs for what it holds.
    pub fn registers(&self, algorithm: &Algorithm, stream: &Stream) -> i64 {
        let words = |at: usize| i64::from(algorithm.array(stream.fields[at].array).element.bytes().div_ceil(4));
        let kept = (0..stream.fields.len()).filter(|at| self.held[*at] == Held::Registers).map(words).sum::<i64>();
        let waiting = stream.stages.iter().zip(&self.waits).filter(|(_, waits)| waits.between);
        let waiting = waiting.map(|(stage, _)| words(stage.field)).max().unwrap_or(0);
        (kept + waiting) * i64::from(self.size.points) * self.rows(stream)
    }

    fn check(&self, algorithm: &Algorithm, stream: &Stream) -> Result<(), Obstacle> {
        let ResidentSize { steps, warps, .. } = self.size;
        let no = |why: String| Err(Obstacle(why));
        let [columns, lines, rows] = self.beside;
        if self.strip(stream) < 1 {
            return no(format!(
                "{steps} steps reach {} and {} points to the sides, of the {} that a tile has: take fewer steps, or more points a lane",
                columns.below,
                columns.above,
                self.columns(stream)
            ));
        }
        if self.band(stream) < 1 {
            return no(format!(
                "{steps} steps reach {} and {} lines to the sides, of the {} that a tile has: take fewer steps, or more lines",
                lines.below,
                lines.above,
                self.lines(stream)
            ));
        }
        let most_rows = self.rows_of_block(stream, self.rows(stream)) / self.lines(stream);
        if most_rows <= self.rows_beside() {
            return no(format!(
                "{steps} steps reach {} and {} rows to the sides, of the {most_rows} that a tile has: take fewer steps, or more rows",
                rows.below, rows.above,
            ));
        }
        let gpu = Gpu::HOPPER;
        let bytes = self.shared_bytes(algorithm, stream);
        let most = i64::from(gpu.most_shared_bytes_of_block);
        if bytes > most {
            return no(format!(
                "a tile takes {bytes} bytes of shared memory, and {most} is the most: take fewer points, rows or warps"
            ));
        }
        let registers = self.registers(algorithm, stream) + OTHER_REGISTERS;
        let most = i64::from(gpu.registers / (LANES * warps)).min(255);
        if registers > most {
            return no(format!(
                "a tile takes {registers} registers of a thread, and {most} is the most: take fewer points or rows, or fewer warps"
            ));
        }
        Ok(())
    }
}
