//! Kernels whose rows stream through registers, warp by warp.
//!
//! What a warp keeps is labelled with its row and version, so that a value that is not the one wanted is found out, and
//! points that no lane has are unknown rather than zero: an unknown value may be computed with, but never stored.

use super::error::ScheduledError;
use super::expression::{Operand, Surroundings, bind, evaluate};
use super::host::Host;
use super::integer;
use std::collections::BTreeMap;
use tessella_codegen::program::Kernel;
use tessella_codegen::stream::Streaming;
use tessella_polyhedral::layers::BufferId;
use tessella_polyhedral::stream::{LANES, Source, WARPS};
use tessella_scalar::Constant;

/// A row of one version, as the lanes of a warp hold it.
#[derive(Clone)]
struct Row {
    number: i64,
    points: Vec<Option<Constant>>,
}

/// By field, version, and the slot that the row shares with others of its version.
type Rows = BTreeMap<(usize, i64, i64), Row>;

/// Runs all warps of a launch.
pub(super) fn launch(host: &mut Host<'_>, kernel: &Kernel, it: &Streaming, blocks: i64) -> Result<(), ScheduledError> {
    let mut warps: Vec<i64> = (0..blocks * i64::from(WARPS)).collect();
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
    extents: Vec<[i64; 2]>,
    limits: Vec<[(i64, i64); 2]>,
    first: i64,
    /// Time steps of this launch, and whether it is the last one; `None` if it makes all.
    rest: Option<(i64, bool)>,
}

impl<'a> Warp<'a> {
    fn new(host: &Host<'_>, it: &'a Streaming) -> Result<Warp<'a>, ScheduledError> {
        let value = |expr| integer::value(expr, host.params, &host.variables);
        let variable = |id| integer::value(&tessella_codegen::int_expr::IntExpr::Variable(id), host.params, &host.variables);
        let (mut extents, mut limits) = (vec![], vec![]);
        for [columns, rows] in &it.extents {
            extents.push([value(columns)?, value(rows)?]);
        }
        for [(a, b), (c, d)] in &it.limits {
            limits.push([(value(a)?, value(b)?), (value(c)?, value(d)?)]);
        }
        let rest = match it.rest {
            Some(rest) => Some((variable(rest.steps)?, variable(rest.last)? != 0)),
            None => None,
        };
        Ok(Warp { it, extents, limits, first: variable(it.first)?, rest })
    }

    fn run(&self, host: &mut Host<'_>, kernel: &Kernel, warp: i64) -> Result<(), ScheduledError> {
        let stream = &self.it.stream;
        let size = stream.size;
        let (points, steps) = (i64::from(size.points), i64::from(size.steps));
        let strips = integer::value(&self.it.strips(), host.params, &host.variables)?;
        let all_rows = integer::value(&self.it.rows(), host.params, &host.variables)?;
        let (strip, row) = (warp % strips, 1 + warp / strips * i64::from(size.rows));
        if row > all_rows {
            return Ok(());
        }
        let (idle_low, idle_high) = stream.idle_lanes();
        let width = points * i64::from(LANES);
        let west = 1 + strip * stream.width() - idle_low * points;
        let stored_columns = west + idle_low * points..west + width - idle_high * points;
        let stored_rows = row..row + i64::from(size.rows);
        let base = row - stream.back;
        let lags = stream.stages.iter().map(|stage| stage.lag).max().unwrap_or(0);
        let mut rows = Rows::new();
        for now in base..stored_rows.end + (steps - 1) * stream.lag + lags {
            let slot = (now - base) % stream.depth;
            for (field, it) in stream.fields.iter().enumerate().filter(|(_, it)| it.rim) {
                let number = now + it.lead;
                let [(low_x, high_x), (low_y, high_y)] = self.limits[it.writer];
                let computed = |column| (low_y..=high_y).contains(&number) && (low_x..=high_x).contains(&column);
                let points = self.row_of_memory(host, field, west, number, &|column| it.carried || !computed(column))?;
                if let Some((0, _)) = self.rest
                    && it.carried
                    && stored_rows.contains(&number)
                {
                    self.store(host, kernel, field, number, west, &points, &|column| stored_columns.contains(&column))?;
                }
                rows.insert((field, 0, slot), Row { number, points });
            }
            for step in 0..steps {
                for (at, stage) in stream.stages.iter().enumerate() {
                    let here = now - (step * stream.lag + stage.lag);
                    let ((low_x, high_x), (low_y, high_y)) = (self.limits[at][0], self.limits[at][1]);
                    let in_box = |column| (low_y..=high_y).contains(&here) && (low_x..=high_x).contains(&column);
                    let runs = (low_y..=high_y).contains(&here) && self.rest.is_none_or(|(steps, _)| step < steps);
                    let before = (now - base - stream.lag).rem_euclid(stream.depth);
                    let kept = rows.get(&(stage.field, step, before)).filter(|row| row.number == here);
                    let mut values = match kept {
                        Some(row) => row.points.clone(),
                        None => vec![None; width as usize],
                    };
                    if runs {
                        for (lane, value) in values.iter_mut().enumerate() {
                            if in_box(west + lane as i64) {
                                *value = self.point(host, &rows, at, step, (now - base, here), west, lane as i64)?;
                            }
                        }
                    }
                    let carried = self.it.is_carried(stage.field);
                    let (done, box_only) = match self.rest {
                        None => (carried && step == steps - 1, false),
                        Some((steps, last)) => (step + 1 == steps && (carried || (last && runs)), !carried),
                    };
                    if done && stored_rows.contains(&here) {
                        let wanted = |column: i64| {
                            stored_columns.contains(&column) && (!box_only || (low_x..=high_x).contains(&column))
                        };
                        self.store(host, kernel, stage.field, here, west, &values, &wanted)?;
                    }
                    rows.insert((stage.field, step + 1, slot), Row { number: here, points: values });
                }
            }
        }
        Ok(())
    }

    /// Some columns of a row as it was before the launch; unknown outside of the array.
    fn row_of_memory(
        &self,
        host: &mut Host<'_>,
        field: usize,
        west: i64,
        row: i64,
        wanted: &dyn Fn(i64) -> bool,
    ) -> Result<Vec<Option<Constant>>, ScheduledError> {
        let [columns, rows] = self.extents[field];
        let buffer = self.it.buffers[field].0;
        let position = host.position.clone();
        let mut values = vec![];
        for column in west..west + i64::from(LANES * self.it.stream.size.points) {
            let inside = (1..=columns).contains(&column) && (1..=rows).contains(&row) && wanted(column);
            values.push(match inside {
                false => None,
                true => match block(host, buffer)?.read(&[column - 1, row - 1], &position, "a stream") {
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
        west: i64,
        values: &[Option<Constant>],
        wanted: &dyn Fn(i64) -> bool,
    ) -> Result<(), ScheduledError> {
        let [columns, rows] = self.extents[field];
        let (from, to) = self.it.buffers[field];
        let position = host.position.clone();
        for (lane, value) in values.iter().enumerate() {
            let column = west + lane as i64;
            if !(1..=columns).contains(&column) || !(1..=rows).contains(&row) || !wanted(column) {
                continue;
            }
            let name = host.input.layout.buffer(to).name.clone();
            match value {
                Some(value) => block(host, to)?.write(&[column - 1, row - 1], *value, &position, &kernel.name)?,
                // What nothing ever stored stays so.
                None if from != to && block(host, from)?.is_undefined(&[column - 1, row - 1]) => {}
                None => return Err(ScheduledError::Undefined { computation: kernel.name.clone(), buffer: name }),
            }
        }
        Ok(())
    }

    /// What a stage computes at one point; `None` where it depends on what no lane has.
    #[allow(clippy::too_many_arguments)]
    fn point(
        &self,
        host: &mut Host<'_>,
        rows: &Rows,
        at: usize,
        step: i64,
        (iteration, here): (i64, i64),
        west: i64,
        lane: i64,
    ) -> Result<Option<Constant>, ScheduledError> {
        let stream = &self.it.stream;
        let stage = &stream.stages[at];
        let mut operands = vec![];
        for read in &stage.reads {
            operands.push(match read {
                Source::Memory => Operand::Memory,
                Source::Field { field, fresh, offset, age } => {
                    let version = step + i64::from(*fresh);
                    let slot = (iteration - age).rem_euclid(stream.depth);
                    let row = rows.get(&(*field, version, slot)).filter(|row| row.number == here + offset[1]);
                    let place = usize::try_from(lane + offset[0]).ok();
                    match row.and_then(|row| *row.points.get(place?)?) {
                        Some(value) => Operand::Value(value),
                        None => Operand::Unknown,
                    }
                }
            });
        }
        let values = [self.first + step, west + lane - stage.shift[0], here - stage.shift[1]];
        let mut variables = host.variables.clone();
        for (iterator, value) in stage.iterators.iter().zip(values) {
            bind(&mut variables, self.it.iterators[at][*iterator as usize].0, value);
        }
        let iterators = self.it.iterators[at].iter().map(|id| variables[id.0 as usize]).collect();
        let mut around = Surroundings {
            input: host.input,
            params: host.params,
            scalars: &host.scalars,
            memory: &mut host.memory,
            registers: None,
            position: &host.position,
            ahead: None,
        };
        evaluate(&mut around, stage.computation, iterators, operands)
    }
}

fn block<'a>(host: &'a mut Host<'_>, buffer: BufferId) -> Result<&'a mut super::memory::Block, ScheduledError> {
    let name = host.input.layout.buffer(buffer).name.clone();
    host.memory.block_mut(buffer).ok_or(ScheduledError::NoBuffer { buffer: name })
}
