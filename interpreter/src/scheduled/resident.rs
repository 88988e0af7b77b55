//! Kernels whose blocks keep their tiles for all time steps: block by block, from barrier to barrier of the grid.
//!
//! Points of a tile that are not what the source has there are unknown: nothing of them may be stored, or given to another block.

use super::error::ScheduledError;
use super::expression::{Operand, bind, evaluate, write_down};
use super::host::Host;
use super::integer;
use super::places::{Bounds, Places, is_in};
use super::streaming::block;
use tessella_codegen::int_expr::IntExpr;
use tessella_codegen::program::Kernel;
use tessella_codegen::stream::{Residing, Streaming};
use tessella_polyhedral::layers::BufferId;
use tessella_polyhedral::stream::{Resident, Source};
use tessella_scalar::Constant;

/// What all blocks know.
struct Launch<'a> {
    kernel: &'a Kernel,
    it: &'a Streaming,
    resident: &'a Resident,
    places: Places<'a>,
    turns: i64,
    first: i64,
}

/// A block's tile: its place, and what it holds of each field.
struct Tile {
    number: u64,
    /// Subscripts of its first and last point, and of those that the block owns.
    all: Bounds,
    owned: Bounds,
    held: Vec<Vec<Option<Constant>>>,
}

/// Runs all blocks of a launch.
pub(super) fn launch(
    host: &mut Host<'_>,
    kernel: &Kernel,
    (it, resident, residing): (&Streaming, &Resident, &Residing),
    blocks: i64,
) -> Result<(), ScheduledError> {
    let value = |host: &Host<'_>, expr: &IntExpr| integer::value(expr, host.params, &host.variables);
    let variable = |host: &Host<'_>, id| value(host, &IntExpr::Variable(id));
    let count = variable(host, residing.count)?;
    let turns = residing.turns.map(|turns| variable(host, turns)).transpose()?;
    let rows = variable(host, residing.rows)?;
    let [strips, bands, _] = it.resident_grid(resident, IntExpr::variable(residing.rows));
    let (strips, bands) = (value(host, &strips)?, value(host, &bands)?);
    let launch = Launch {
        kernel,
        it,
        resident,
        places: Places::of(host, it)?,
        turns: turns.unwrap_or(count * it.stream.period),
        first: variable(host, it.first)?,
    };
    let stream = &it.stream;
    let has_lines = stream.axes[1].is_some();
    let mut tiles = vec![];
    for number in 0..blocks {
        let (strip, above) = (number % strips, number / strips);
        let (band, part) = if has_lines { (above % bands, above / bands) } else { (0, above) };
        let sizes = [resident.strip(stream), resident.band(stream), rows];
        let mut owned = [(0, 0); 3];
        for ((owned, at), size) in owned.iter_mut().zip([strip, band, part]).zip(sizes) {
            *owned = (1 + at * size, (at + 1) * size);
        }
        let mut all = owned;
        for ((low, high), reach) in all.iter_mut().zip(resident.beside) {
            (*low, *high) = (*low - reach.below, *high + reach.above);
        }
        let points: i64 = all.iter().map(|(low, high)| high - low + 1).product();
        let held = vec![vec![None; usize::try_from(points).unwrap_or(0)]; stream.fields.len()];
        tiles.push(Tile { number: number as u64, all, owned, held });
    }
    let outer = host.position.clone();
    host.shuffle.order(&mut tiles);
    let execution = host.execution();
    for tile in &mut tiles {
        host.position = outer.inside(execution, tile.number);
        for at in (0..stream.fields.len()).filter(|at| stream.fields[*at].rim) {
            launch.load(host, tile, at, it.buffers[at].0, &|_| true)?;
        }
    }
    let (mut done, mut other, steps) = (0, true, i64::from(resident.size.steps));
    while done < count {
        let now = steps.min(count - done);
        for tile in &mut tiles {
            for step in 0..now {
                launch.step(host, tile, done + step)?;
            }
        }
        done += now;
        if done == count {
            break;
        }
        for give in [true, false] {
            let execution = host.execution();
            host.shuffle.order(&mut tiles);
            for tile in &mut tiles {
                host.position = outer.inside(execution, tile.number);
                for at in (0..stream.fields.len()).filter(|at| resident.exchanged[*at]) {
                    let (own, copy) = it.buffers[at];
                    let buffer = if other { copy } else { own };
                    match give {
                        true => launch.give(host, tile, at, buffer)?,
                        false => {
                            let owned = tile.owned;
                            launch.load(host, tile, at, buffer, &|point| !is_in(&owned, point))?;
                        }
                    }
                }
            }
        }
        other = !other;
    }
    let execution = host.execution();
    for tile in &tiles {
        host.position = outer.inside(execution, tile.number);
        for (at, field) in stream.fields.iter().enumerate() {
            let written = (!field.rim).then(|| launch.places.limits[field.writer]);
            launch.store(host, tile, at, it.buffers[at].0, &|point| written.is_none_or(|it| is_in(&it, point)))?;
        }
    }
    host.position = outer;
    Ok(())
}

/// The points of a box, columns first.
fn points(bounds: Bounds) -> impl Iterator<Item = [i64; 3]> {
    let [columns, lines, rows] = bounds;
    (rows.0..=rows.1).flat_map(move |row| {
        (lines.0..=lines.1).flat_map(move |line| (columns.0..=columns.1).map(move |column| [column, line, row]))
    })
}

impl Tile {
    fn at(&self, point: [i64; 3]) -> Option<usize> {
        if !is_in(&self.all, point) {
            return None;
        }
        let [columns, lines, rows] = self.all;
        let (width, height) = (columns.1 - columns.0 + 1, lines.1 - lines.0 + 1);
        let place = point[0] - columns.0 + width * (point[1] - lines.0 + height * (point[2] - rows.0));
        usize::try_from(place).ok()
    }

    fn value(&self, field: usize, point: [i64; 3]) -> Option<Constant> {
        self.at(point).and_then(|at| self.held[field][at])
    }
}

impl Launch<'_> {
    /// Loads the points of a tile that are wanted.
    fn load(
        &self,
        host: &mut Host<'_>,
        tile: &mut Tile,
        field: usize,
        buffer: BufferId,
        wanted: &dyn Fn([i64; 3]) -> bool,
    ) -> Result<(), ScheduledError> {
        let position = host.position.clone();
        for point in points(tile.all).filter(|point| wanted(*point)) {
            let (Some(at), Some(element)) = (tile.at(point), self.places.element(field, point)) else { continue };
            tile.held[field][at] = match block(host, buffer)?.read(&element, &position, "a tile") {
                Ok(value) => Some(value),
                Err(ScheduledError::Undefined { .. }) => None,
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }

    /// Stores the points that others have beside theirs.
    fn give(&self, host: &mut Host<'_>, tile: &Tile, field: usize, buffer: BufferId) -> Result<(), ScheduledError> {
        let is_rim = |point: [i64; 3]| {
            let mut axes = tile.owned.iter().zip(point).zip(self.resident.beside);
            axes.any(|(((low, high), at), reach)| at < low + reach.above || at > high - reach.below)
        };
        self.store(host, tile, field, buffer, &is_rim)
    }

    /// Stores those of a block's own points that are wanted.
    fn store(
        &self,
        host: &mut Host<'_>,
        tile: &Tile,
        field: usize,
        buffer: BufferId,
        wanted: &dyn Fn([i64; 3]) -> bool,
    ) -> Result<(), ScheduledError> {
        let position = host.position.clone();
        let own = self.it.buffers[field].0;
        let name = &self.kernel.name;
        for point in points(tile.owned).filter(|point| wanted(*point)) {
            let Some(element) = self.places.element(field, point) else { continue };
            match tile.value(field, point) {
                Some(value) => block(host, buffer)?.write(&element, value, &position, name)?,
                // What nothing ever stored stays so.
                None if block(host, own)?.is_undefined(&element) => {}
                None => {
                    let buffer = host.input.layout.buffer(buffer).name.clone();
                    return Err(ScheduledError::Undefined { computation: name.clone(), buffer });
                }
            }
        }
        Ok(())
    }

    /// All stages of a time step on a tile.
    fn step(&self, host: &mut Host<'_>, tile: &mut Tile, step: i64) -> Result<(), ScheduledError> {
        let stream = &self.it.stream;
        self.record(host, tile, 0, step)?;
        for (at, stage) in stream.stages.iter().enumerate() {
            let turn = stream.period * step + stage.turn;
            if turn >= self.turns {
                self.record(host, tile, at + 1, step)?;
                continue;
            }
            let mut values = vec![];
            for point in points(tile.all).filter(|point| self.places.in_box(at, *point)) {
                let mut operands = vec![];
                let mut is_inside = true;
                for read in &stage.reads {
                    operands.push(match read {
                        Source::Memory => Operand::Memory,
                        Source::Unused => Operand::Unknown,
                        Source::Field { field, offset, .. } => {
                            let place = [0, 1, 2].map(|axis| point[axis] + offset[axis]);
                            is_inside &= tile.at(place).is_some();
                            tile.value(*field, place).map_or(Operand::Unknown, Operand::Value)
                        }
                    });
                }
                // Where operands are not in the tile, the point keeps what is not its value any more.
                let value = if is_inside {
                    let iterators = self.iterators(host, at, turn, point);
                    evaluate(&mut host.surroundings().0, stage.computation, iterators, operands)?
                } else {
                    None
                };
                values.extend(tile.at(point).map(|at| (at, value)));
            }
            for (place, value) in values {
                tile.held[stage.field][place] = value;
            }
            self.record(host, tile, at + 1, step)?;
        }
        Ok(())
    }

    /// What is written down of the points that a block owns, between two stages of a step.
    fn record(&self, host: &mut Host<'_>, tile: &Tile, before: usize, step: i64) -> Result<(), ScheduledError> {
        let stream = &self.it.stream;
        for (record, at) in stream.records.iter().zip(stream.stages.len()..) {
            let turn = stream.period * step + record.turn;
            if turn >= self.turns || stream.stages_before(record) != before {
                continue;
            }
            for point in points(tile.owned).filter(|point| self.places.in_box(at, *point)) {
                let operands = record.reads.iter().map(|read| match read {
                    Source::Memory => Operand::Memory,
                    Source::Unused => Operand::Unknown,
                    Source::Field { field, .. } => tile.value(*field, point).map_or(Operand::Unknown, Operand::Value),
                });
                let (operands, iterators) = (operands.collect(), self.iterators(host, at, turn, point));
                write_down(&mut host.surroundings().0, record.computation, iterators, operands)?;
            }
        }
        Ok(())
    }

    /// The iterators of a stage, or of what records, at one point.
    fn iterators(&self, host: &Host<'_>, at: usize, turn: i64, point: [i64; 3]) -> Vec<Option<i64>> {
        let stage = self.it.stream.nest(at);
        let iterators = &self.it.iterators[at];
        let mut variables = host.variables.clone();
        bind(&mut variables, iterators[stage.time as usize].0, self.it.stream.way.iterator(self.first + turn));
        for ((iterator, value), shift) in stage.iterators.iter().zip(point).zip(stage.shift) {
            if let Some(iterator) = iterator {
                bind(&mut variables, iterators[*iterator as usize].0, value - shift);
            }
        }
        iterators.iter().map(|id| variables[id.0 as usize]).collect()
    }
}
