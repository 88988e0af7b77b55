//! Kernels whose rows stream through registers, warp by warp; where the warps of a block share planes, block by block.
//!
//! What a warp keeps is labelled with its row and version, so that a value that is not the one wanted is found out, and
//! points that no lane has are unknown rather than zero: an unknown value may be computed with, but never stored.

use super::error::ScheduledError;
use super::expression::{Operand, bind, evaluate, write_down};
use super::host::Host;
use super::integer;
use super::places::Places;
use std::collections::BTreeMap;
use tessella_codegen::program::Kernel;
use tessella_codegen::stream::Streaming;
use tessella_polyhedral::layers::BufferId;
use tessella_polyhedral::stream::{LANES, Source, Stage};
use tessella_scalar::Constant;

/// A row of one version, as the lanes of a warp hold it: line by line.
#[derive(Clone)]
struct Row {
    number: i64,
    points: Vec<Option<Constant>>,
}

/// By field, version, and the slot that the row shares with others of its version.
type Rows = BTreeMap<(usize, i64, i64), Row>;

/// Runs all warps of a launch.
pub(super) fn launch(host: &mut Host<'_>, kernel: &Kernel, it: &Streaming, blocks: i64) -> Result<(), ScheduledError> {
    if let Some((hexagon, halves)) = it.hexagons() {
        return super::hexagons::launch(host, kernel, (it, hexagon, halves), blocks);
    }
    if let Some((resident, residing)) = it.resident() {
        return super::resident::launch(host, kernel, (it, resident, residing), blocks);
    }
    let mut warps: Vec<i64> = (0..blocks).collect();
    host.shuffle.order(&mut warps);
    let execution = host.execution();
    let outer = host.position.clone();
    for warp in warps {
        host.position = outer.inside(execution, warp as u64);
        Warp::new(host, it)?.run(host, kernel, warp)?;
    }
    host.position = outer;
    Ok(())
}

/// What a warp knows from the start.
struct Warp<'a> {
    it: &'a Streaming,
    places: Places<'a>,
    first: i64,
    /// How many subscripts there are along axes that go round.
    rounds: [Option<i64>; 3],
    /// The parts of the rows, where the launch chose them.
    parts: Option<i64>,
    /// Time steps of this launch, iterations of the time loop, and whether it is the last one; `None` if it makes all.
    rest: Option<(i64, i64, bool)>,
}

impl<'a> Warp<'a> {
    fn new(host: &Host<'_>, it: &'a Streaming) -> Result<Warp<'a>, ScheduledError> {
        let variable =
            |id| integer::value(&tessella_codegen::int_expr::IntExpr::Variable(id), host.params, &host.variables);
        let rest = match it.rest {
            Some(rest) => {
                let steps = variable(rest.steps)?;
                let turns = rest.turns.map(variable).transpose()?;
                Some((steps, turns.unwrap_or(steps * it.stream.period), variable(rest.last)? != 0))
            }
            None => None,
        };
        let parts = it.parts.map(variable).transpose()?;
        let mut rounds = [None; 3];
        for (round, period) in rounds.iter_mut().zip(&it.rounds) {
            *round = period.as_ref().map(|it| integer::value(it, host.params, &host.variables)).transpose()?;
        }
        Ok(Warp { it, places: Places::of(host, it)?, first: variable(it.first)?, rounds, parts, rest })
    }

    /// The point of the array that one beyond the ends of an axis that goes round is.
    fn gone_round(&self, point: [i64; 3]) -> [i64; 3] {
        [0, 1, 2].map(|axis| self.rounds[axis].map_or(point[axis], |period| (point[axis] - 1).rem_euclid(period) + 1))
    }

    fn run(&self, host: &mut Host<'_>, kernel: &Kernel, warp: i64) -> Result<(), ScheduledError> {
        let stream = &self.it.stream;
        let size = stream.size;
        let (points, steps) = (i64::from(size.points), i64::from(size.steps));
        let strips = integer::value(&self.it.strips(), host.params, &host.variables)?;
        let all_rows = integer::value(&self.it.rows(), host.params, &host.variables)?;
        let bands = integer::value(&self.it.bands(), host.params, &host.variables)?;
        let part = match (self.parts, self.it.rows_of_part()) {
            (Some(parts), _) => (all_rows + parts - 1) / parts,
            (None, rows) => rows.expect("launches choose, or the schedule says it"),
        };
        let (band, strip, row) = (warp % bands, warp / bands % strips, 1 + warp / bands / strips * part);
        if row > all_rows {
            return Ok(());
        }
        let (idle_low, idle_high) = stream.idle_lanes();
        let width = points * i64::from(LANES);
        let corner =
            [1 + strip * stream.width() - idle_low * points, 1 + band * stream.band() - stream.beside[1].below];
        let stored_columns = corner[0] + idle_low * points..corner[0] + width - idle_high * points;
        let stored_lines = 1 + band * stream.band()..1 + (band + 1) * stream.band();
        let stored = |[column, line]: [i64; 2]| stored_columns.contains(&column) && stored_lines.contains(&line);
        let stored_rows = row..row + part;
        let base = row - stream.back;
        let lags = stream.nests().map(|stage| stage.lag).max().unwrap_or(0);
        let mut rows = Rows::new();
        for now in base..stored_rows.end + (steps - 1) * stream.lag + lags {
            let slot = (now - base) % stream.depth;
            for (field, it) in stream.fields.iter().enumerate().filter(|(_, it)| it.rim) {
                let number = now + it.lead;
                let writers: Vec<usize> = stream.writers(field).collect();
                let computed = |at: [i64; 2]| {
                    let point = self.gone_round([at[0], at[1], number]);
                    writers.iter().any(|it| self.places.in_box(*it, point))
                };
                let points = self.row_of_memory(host, field, corner, number, &|at| it.carried || !computed(at))?;
                if let Some((0, ..)) = self.rest
                    && it.carried
                    && stored_rows.contains(&number)
                {
                    self.store(host, kernel, field, number, corner, &points, &stored)?;
                }
                rows.insert((field, 0, slot), Row { number, points });
            }
            for step in 0..steps {
                for (at, stage) in stream.stages.iter().enumerate() {
                    let here = now - (step * stream.lag + stage.lag);
                    let (low, high) = self.places.limits[at][2];
                    let makes = |(_, turns, _)| stream.period * step + stage.turn < turns;
                    let runs = (low..=high).contains(&self.gone_round([1, 1, here])[2]) && self.rest.is_none_or(makes);
                    // What is not computed is of the version before, or of this one as far as it is.
                    let own = (now - base - stream.revises_after(at)).rem_euclid(stream.depth);
                    let before = (now - base - stream.lag).rem_euclid(stream.depth);
                    let kept = match stream.revises(at) {
                        true => rows.get(&(stage.field, step + 1, own)),
                        false => rows.get(&(stage.field, step, before)),
                    };
                    let kept = kept.filter(|row| row.number == here);
                    let mut values = match kept {
                        Some(row) => row.points.clone(),
                        None => vec![None; (width * stream.all_lines()) as usize],
                    };
                    if runs {
                        for (place, value) in values.iter_mut().enumerate() {
                            let [column, line] = self.place(corner, place);
                            // A lane computes no line some of whose operands no line is.
                            let computed = stream.lines(at).contains(&(line - corner[1]));
                            let point = self.gone_round([column, line, here]);
                            *value = match (self.places.in_box(at, point), computed) {
                                (true, true) => {
                                    let place = [column, line, here];
                                    let (iterators, operands) =
                                        self.instance(host, &rows, (at, stage), step, now - base, corner, place);
                                    evaluate(&mut host.surroundings().0, stage.computation, iterators, operands)?
                                }
                                (true, false) => None,
                                (false, true) => *value,
                                (false, false) => None,
                            };
                        }
                    }
                    let carried = self.it.is_carried(stage.field);
                    let (done, box_only) = match self.rest {
                        None => (carried && step == steps - 1, false),
                        Some((steps, _, last)) => (step + 1 == steps && (carried || (last && runs)), !carried),
                    };
                    let done = done && (!carried || stream.fields[stage.field].finisher == at);
                    if done && stored_rows.contains(&here) {
                        let wanted = |[column, line]: [i64; 2]| {
                            stored([column, line]) && (!box_only || self.places.in_box(at, [column, line, here]))
                        };
                        self.store(host, kernel, stage.field, here, corner, &values, &wanted)?;
                    }
                    rows.insert((stage.field, step + 1, own), Row { number: here, points: values });
                }
                for (record, at) in stream.records.iter().zip(stream.stages.len()..) {
                    let here = now - (step * stream.lag + record.lag);
                    let makes = |(_, turns, _)| stream.period * step + record.turn < turns;
                    if !stored_rows.contains(&here) || !self.rest.is_none_or(makes) {
                        continue;
                    }
                    for place in 0..(width * stream.all_lines()) as usize {
                        let [column, line] = self.place(corner, place);
                        let point = [column, line, here];
                        if stored([column, line]) && self.places.in_box(at, point) {
                            let (iterators, operands) =
                                self.instance(host, &rows, (at, record), step, now - base, corner, point);
                            write_down(&mut host.surroundings().0, record.computation, iterators, operands)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The column and line of a value of a row that begins at a corner.
    fn place(&self, [west, top]: [i64; 2], at: usize) -> [i64; 2] {
        let width = i64::from(LANES * self.it.stream.size.points);
        [west + at as i64 % width, top + at as i64 / width]
    }

    /// Some points of a row as it was before the launch; unknown outside of the array.
    fn row_of_memory(
        &self,
        host: &mut Host<'_>,
        field: usize,
        corner: [i64; 2],
        row: i64,
        wanted: &dyn Fn([i64; 2]) -> bool,
    ) -> Result<Vec<Option<Constant>>, ScheduledError> {
        let size = self.it.stream.size;
        let buffer = self.it.buffers[field].0;
        let position = host.position.clone();
        let mut values = vec![];
        for at in 0..i64::from(LANES * size.points) as usize * self.it.stream.all_lines() as usize {
            let [column, line] = self.place(corner, at);
            let point = self.gone_round([column, line, row]);
            let element = self.places.element(field, point).filter(|_| wanted([column, line]));
            values.push(match element {
                None => None,
                Some(element) => match block(host, buffer)?.read(&element, &position, "a stream") {
                    Ok(value) => Some(value),
                    Err(ScheduledError::Undefined { .. }) => None,
                    Err(error) => return Err(error),
                },
            });
        }
        Ok(values)
    }

    #[allow(clippy::too_many_arguments)]
    fn store(
        &self,
        host: &mut Host<'_>,
        kernel: &Kernel,
        field: usize,
        row: i64,
        corner: [i64; 2],
        values: &[Option<Constant>],
        wanted: &dyn Fn([i64; 2]) -> bool,
    ) -> Result<(), ScheduledError> {
        let (from, to) = self.it.buffers[field];
        let position = host.position.clone();
        for (at, value) in values.iter().enumerate() {
            let [column, line] = self.place(corner, at);
            let point = [column, line, row];
            let is_there = self.gone_round(point) == point;
            let element = self.places.element(field, point).filter(|_| is_there && wanted([column, line]));
            let Some(element) = element else { continue };
            let name = host.input.layout.buffer(to).name.clone();
            match value {
                Some(value) => block(host, to)?.write(&element, *value, &position, &kernel.name)?,
                // What nothing ever stored stays so.
                None if from != to && block(host, from)?.is_undefined(&element) => {}
                None => return Err(ScheduledError::Undefined { computation: kernel.name.clone(), buffer: name }),
            }
        }
        Ok(())
    }

    /// The instance of a stage, or of what records, at one point: its iterators and operands.
    #[allow(clippy::too_many_arguments)]
    fn instance(
        &self,
        host: &Host<'_>,
        rows: &Rows,
        (at, stage): (usize, &Stage),
        step: i64,
        iteration: i64,
        corner: [i64; 2],
        [column, line, here]: [i64; 3],
    ) -> (Vec<Option<i64>>, Vec<Operand>) {
        let stream = &self.it.stream;
        let mut operands = vec![];
        for read in &stage.reads {
            operands.push(match read {
                Source::Memory => Operand::Memory,
                Source::Unused => Operand::Unknown,
                Source::Field { field, fresh, offset, age } => {
                    let version = step + i64::from(*fresh);
                    let slot = (iteration - age).rem_euclid(stream.depth);
                    let row = rows.get(&(*field, version, slot)).filter(|row| row.number == here + offset[2]);
                    let size = stream.size;
                    let width = i64::from(LANES * size.points);
                    let (lane, below) = (column + offset[0] - corner[0], line + offset[1] - corner[1]);
                    let lines = i64::from(size.lines);
                    let held = (0..width).contains(&lane) && (0..stream.all_lines()).contains(&below);
                    // What another warp holds is there after a barrier, one plane later.
                    let other = below.div_euclid(lines) != (line - corner[1]).div_euclid(lines);
                    let held = held && (*age > 0 || !other);
                    match row.filter(|_| held).and_then(|row| row.points[(below * width + lane) as usize]) {
                        Some(value) => Operand::Value(value),
                        None => Operand::Unknown,
                    }
                }
            });
        }
        let mut variables = host.variables.clone();
        bind(
            &mut variables,
            self.it.iterators[at][stage.time as usize].0,
            stream.way.iterator(self.first + stream.period * step + stage.turn),
        );
        let point = self.gone_round([column, line, here]);
        for (iterator, (value, shift)) in stage.iterators.iter().zip(point.into_iter().zip(stage.shift)) {
            if let Some(iterator) = iterator {
                bind(&mut variables, self.it.iterators[at][*iterator as usize].0, value - shift);
            }
        }
        (self.it.iterators[at].iter().map(|id| variables[id.0 as usize]).collect(), operands)
    }
}

pub(super) fn block<'a>(
    host: &'a mut Host<'_>,
    buffer: BufferId,
) -> Result<&'a mut super::memory::Block, ScheduledError> {
    let name = host.input.layout.buffer(buffer).name.clone();
    host.memory.block_mut(buffer).ok_or(ScheduledError::NoBuffer { buffer: name })
}
