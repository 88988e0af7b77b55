//! Kernels whose blocks run hexagons over time and rows, or planes, thread by thread.
//!
//! A point that no thread has is unknown rather than zero: an unknown value may be computed with, but never stored. Rows are kept by
//! their number and version, so that a row that is not the one wanted is found out.

use super::error::ScheduledError;
use super::expression::{Operand, bind, evaluate};
use super::host::Host;
use super::integer;
use super::places::Places;
use super::streaming::block;
use std::collections::BTreeMap;
use tessella_codegen::int_expr::IntExpr;
use tessella_codegen::program::Kernel;
use tessella_codegen::stream::{Halves, Streaming};
use tessella_polyhedral::stream::hexagon::Half;
use tessella_polyhedral::stream::{Hexagon, LANES, Source};
use tessella_scalar::Constant;

type Points = Vec<Option<Constant>>;

/// A version of a row: its points, one for each thread's after the other, line after line.
#[derive(Clone)]
struct Row {
    version: i64,
    points: Points,
}

/// What the last thread of a tile handed on: by field, whether it is of the same step, step and row.
type HandedOn = BTreeMap<(usize, bool, i64, i64), Points>;

/// Runs all blocks of a launch.
pub(super) fn launch(
    host: &mut Host<'_>,
    kernel: &Kernel,
    (it, hexagon, halves): (&Streaming, &Hexagon, &Halves),
    blocks: i64,
) -> Result<(), ScheduledError> {
    let mut all: Vec<i64> = (0..blocks).collect();
    host.shuffle.order(&mut all);
    let execution = host.execution();
    let outer = host.position.clone();
    for number in all {
        host.position = outer.inside(execution, number as u64);
        Block::new(host, it, hexagon, halves)?.run(host, kernel, number)?;
    }
    host.position = outer;
    Ok(())
}

struct Block<'a> {
    it: &'a Streaming,
    hexagon: &'a Hexagon,
    halves: &'a Halves,
    places: Places<'a>,
    first: i64,
    steps: i64,
    half: Half,
    strips: i64,
    bands: i64,
}

/// Where a tile lies.
struct Tile {
    /// The row of the array that is the first of the hexagon's first step.
    origin: i64,
    /// The column of the first thread's first point before the first step, but for the frame.
    west: i64,
    /// The first line of all.
    top: i64,
    /// The columns and lines that it stores.
    stored: [std::ops::Range<i64>; 2],
    /// The time step of the first one.
    begin: i64,
}

impl<'a> Block<'a> {
    fn new(
        host: &Host<'_>,
        it: &'a Streaming,
        hexagon: &'a Hexagon,
        halves: &'a Halves,
    ) -> Result<Self, ScheduledError> {
        let value = |expr: &IntExpr| integer::value(expr, host.params, &host.variables);
        let variable = |id| value(&IntExpr::Variable(id));
        let half = variable(halves.half)?;
        let half = Half { round: half / 2, phase: (half % 2) as u32, last: variable(halves.last)? };
        let [strips, bands, _] = it.hexagon_grid(hexagon);
        let (strips, bands) = (value(&strips)?, value(&bands)?);
        let (first, steps) = (variable(it.first)?, variable(halves.steps)?);
        Ok(Block { it, hexagon, halves, places: Places::of(host, it)?, first, steps, half, strips, bands })
    }

    fn run(&self, host: &mut Host<'_>, kernel: &Kernel, number: i64) -> Result<(), ScheduledError> {
        let hexagon = self.hexagon;
        let origin = number / self.strips / self.bands * hexagon.period() + hexagon.first_row(self.half.phase);
        let first = 1 + number % self.strips * hexagon.strip(&self.it.stream);
        let (line, lines, below) = match &hexagon.planes {
            Some(planes) => {
                let band = planes.band(hexagon);
                (1 + number / self.strips % self.bands * band, band, planes.beside[1].below)
            }
            None => (1, 1, 0),
        };
        let stored = [first..first + hexagon.strip(&self.it.stream), line..line + lines];
        let begin = hexagon.first_step(self.half);
        let mut before = HandedOn::new();
        for tile in 0..hexagon.tiles() {
            let west = first - hexagon.idle(&self.it.stream) + tile * hexagon.tile(&self.it.stream);
            let place = Tile { origin, west, top: line - below, stored: stored.clone(), begin };
            before = self.tile(host, kernel, &place, &before)?;
        }
        Ok(())
    }

    fn tile(
        &self,
        host: &mut Host<'_>,
        kernel: &Kernel,
        place: &Tile,
        before: &HandedOn,
    ) -> Result<HandedOn, ScheduledError> {
        let (stream, hexagon) = (&self.it.stream, self.hexagon);
        let width = hexagon.tile(stream);
        let lines = hexagon.planes.as_ref().map_or(1, |planes| planes.held(hexagon));
        let carried: Vec<usize> = (0..stream.fields.len()).filter(|&field| self.it.is_carried(field)).collect();
        let mut handed_on = HandedOn::new();
        let mut rows: BTreeMap<(usize, i64), Row> = BTreeMap::new();
        for &field in &carried {
            self.load(host, place, field, 0, &mut rows)?;
        }
        for step in 0..hexagon.steps() {
            let version = place.begin + step;
            let (low, high) = hexagon.rows(step);
            let mut entering = BTreeMap::new();
            for &field in &carried {
                self.load(host, place, field, step + 1, &mut entering)?;
            }
            let hand_on = |rows: &BTreeMap<(usize, i64), Row>, field: usize, fresh: bool, into: &mut HandedOn| {
                let points = hexagon.exchanged(field, fresh);
                for ((_, row), it) in rows.range((field, i64::MIN)..=(field, i64::MAX)) {
                    let last = it.points[(width - points) as usize..].to_vec();
                    into.insert((field, fresh, step, *row), last);
                }
            };
            carried.iter().for_each(|&field| hand_on(&rows, field, false, &mut handed_on));
            let mut new: BTreeMap<(usize, i64), Row> = BTreeMap::new();
            for (at, stage) in stream.stages.iter().enumerate() {
                let around = hexagon.around[at];
                let frame = hexagon.skew * step + hexagon.lags[at];
                for row in low - around.below..=high + around.above {
                    let mut points = vec![];
                    for (line, x) in (0..lines).flat_map(|line| (0..width).map(move |x| (line, x))) {
                        let point = [place.west + x - frame, place.top + line, place.origin + row];
                        let runs = (0..self.steps).contains(&version) && self.places.in_box(at, point);
                        let find = |field: usize, fresh: bool, [back, by, row]: [i64; 3]| {
                            let (from, wanted) = if fresh { (&new, version + 1) } else { (&rows, version) };
                            let place = x - back;
                            let own = from.get(&(field, row)).filter(|it| it.version == wanted);
                            if let Some(planes) = &hexagon.planes {
                                let given = planes.given.get(&(field, fresh)).map(|it| it.lines).unwrap_or_default();
                                if !self.reaches([x, line], [-back, by], [given.below, given.above]) {
                                    return None;
                                }
                                return own?.points[((line + by) * width + place) as usize];
                            }
                            // A thread has what it holds itself, and the last points of the one below.
                            let held =
                                x.rem_euclid(stream.size.points.into()) + hexagon.exchanged(field, fresh) >= back;
                            match place {
                                _ if !held || back < 0 => None,
                                0.. => own?.points[place as usize],
                                _ => {
                                    let points = before.get(&(field, fresh, step, row))?;
                                    points[(points.len() as i64 + place) as usize]
                                }
                            }
                        };
                        points.push(match runs {
                            true => self.point(host, at, step, place, point, row, &find)?,
                            false if self.it.is_carried(stage.field) => {
                                find(stage.field, false, [hexagon.skew, 0, row])
                            }
                            false => self.places.element(stage.field, point).and_then(|element| {
                                let (own, _) = self.it.buffers[stage.field];
                                let position = host.position.clone();
                                block(host, own).ok()?.read(&element, &position, "a hexagon").ok()
                            }),
                        });
                    }
                    new.insert((stage.field, row), Row { version: version + 1, points });
                }
                hand_on(&new, stage.field, true, &mut handed_on);
            }
            for &field in &carried {
                for row in low..=high {
                    rows.insert((field, row), new[&(field, row)].clone());
                }
                for row in hexagon.exits(field, step) {
                    self.store(host, kernel, place, (field, row, step), &rows[&(field, row)].points)?;
                }
            }
            rows.extend(entering);
        }
        Ok(handed_on)
    }

    /// Whether a thread of a tile of planes has the point so far from one of its own: its warp's lanes beside it have those of the same line,
    /// the warps beside this one so many lines.
    fn reaches(&self, [x, line]: [i64; 2], [by_x, by_line]: [i64; 2], [below, above]: [i64; 2]) -> bool {
        let (points, lines) = (i64::from(self.it.stream.size.points), self.hexagon.lines());
        let (lane, other) = (x.div_euclid(points), (x + by_x).div_euclid(points));
        let warps = i64::from(self.hexagon.size.threads / LANES);
        let of_warp = line.rem_euclid(lines) + by_line;
        (0..i64::from(LANES)).contains(&other)
            && (lane - other).abs() <= 1
            && (0..warps * lines).contains(&(line + by_line))
            && of_warp >= -below
            && of_warp < lines + above
    }

    /// The rows that enter before a step.
    fn load(
        &self,
        host: &mut Host<'_>,
        place: &Tile,
        field: usize,
        step: i64,
        into: &mut BTreeMap<(usize, i64), Row>,
    ) -> Result<(), ScheduledError> {
        let (stream, hexagon) = (&self.it.stream, self.hexagon);
        let frame = hexagon.frame(stream, field, step);
        for (row, entry) in hexagon.entries(field, step) {
            let buffer = self.it.kept_in(self.halves, field, hexagon.from(self.half, step, entry));
            let position = host.position.clone();
            let mut points = vec![];
            let (width, lines) =
                (hexagon.tile(stream), hexagon.planes.as_ref().map_or(1, |planes| planes.held(hexagon)));
            for (line, x) in (0..lines).flat_map(|line| (0..width).map(move |x| (line, x))) {
                let element =
                    self.places.element(field, [place.west + x - frame, place.top + line, place.origin + row]);
                points.push(match element.map(|element| block(host, buffer)?.read(&element, &position, "a hexagon")) {
                    None | Some(Err(ScheduledError::Undefined { .. })) => None,
                    Some(value) => Some(value?),
                });
            }
            into.insert((field, row), Row { version: place.begin + step, points });
        }
        Ok(())
    }

    fn store(
        &self,
        host: &mut Host<'_>,
        kernel: &Kernel,
        place: &Tile,
        (field, row, step): (usize, i64, i64),
        points: &Points,
    ) -> Result<(), ScheduledError> {
        let frame = self.hexagon.frame(&self.it.stream, field, step + 1);
        let to = self.it.kept_in(self.halves, field, self.hexagon.to(self.half, step));
        let own = self.it.buffers[field].0;
        let position = host.position.clone();
        let width = self.hexagon.tile(&self.it.stream);
        for (at, value) in points.iter().enumerate() {
            let at = at as i64;
            let (column, line) = (place.west + at % width - frame, place.top + at / width);
            let element = self.places.element(field, [column, line, place.origin + row]);
            let [columns, lines] = &place.stored;
            let is_stored = columns.contains(&column) && lines.contains(&line);
            let Some(element) = element.filter(|_| is_stored) else { continue };
            match value {
                Some(value) => block(host, to)?.write(&element, *value, &position, &kernel.name)?,
                // What nothing ever stored stays so.
                None if block(host, own)?.is_undefined(&element) => {}
                None => {
                    let buffer = host.input.layout.buffer(to).name.clone();
                    return Err(ScheduledError::Undefined { computation: kernel.name.clone(), buffer });
                }
            }
        }
        Ok(())
    }

    /// What a stage computes at one point; unknown where it depends on what no thread has.
    #[allow(clippy::too_many_arguments)]
    fn point(
        &self,
        host: &mut Host<'_>,
        at: usize,
        step: i64,
        place: &Tile,
        [column, line, plane]: [i64; 3],
        row: i64,
        find: &dyn Fn(usize, bool, [i64; 3]) -> Option<Constant>,
    ) -> Result<Option<Constant>, ScheduledError> {
        let stage = &self.it.stream.stages[at];
        let operands = stage.reads.iter().map(|read| match read {
            Source::Memory => Operand::Memory,
            Source::Unused => Operand::Unknown,
            Source::Field { field, fresh, offset, .. } => {
                let back = self.hexagon.back(&self.it.stream, at, read).expect("a field is read");
                find(*field, *fresh, [back, offset[1], row + offset[2]]).map_or(Operand::Unknown, Operand::Value)
            }
        });
        let operands = operands.collect();
        let mut variables = host.variables.clone();
        bind(
            &mut variables,
            self.it.iterators[at][stage.time as usize].0,
            self.it.stream.way.iterator(self.first + self.it.stream.period * (place.begin + step) + stage.turn),
        );
        for (iterator, value, shift) in
            stage.iterators.iter().zip([column, line, plane]).zip(stage.shift).map(|((it, at), by)| (*it, at, by))
        {
            if let Some(iterator) = iterator {
                bind(&mut variables, self.it.iterators[at][iterator as usize].0, value - shift);
            }
        }
        let iterators = self.it.iterators[at].iter().map(|id| variables[id.0 as usize]).collect();
        evaluate(&mut host.surroundings().0, stage.computation, iterators, operands)
    }
}
