//! Tiles of arrays with three axes: each warp has some lines of all planes of a hexagon, each lane neighbouring points of these.

use super::super::super::expr::Instance;
use super::super::super::{Printer, Writer};
use super::super::stage::by;
use super::{Locals, begin_entering, each_row, entering_rows, leaving};
use crate::int_expr::IntExpr;
use crate::stream::{Halves, Streaming};
use std::collections::BTreeMap;
use tessella_polyhedral::stream::hexagon::{Given, Planes};
use tessella_polyhedral::stream::{Hexagon, LANES, Reach, Source};

/// What a stage needs of a version of a field on other lines, or to the sides.
#[derive(Default)]
struct Around {
    lines: Reach,
    columns: Reach,
    /// The rows, relative to the one computed, and the lines of which it needs points to the sides.
    rows: Option<(i64, i64)>,
    sides: Option<(i64, i64)>,
}

impl Around {
    /// The lines that a thread has with those around them: the first and the last one with points to the sides.
    fn wide_lines(&self, lines: i64) -> (i64, i64) {
        match self.sides {
            Some((low, high)) => (self.lines.below + low, self.lines.below + lines - 1 + high),
            None => (0, -1),
        }
    }
}

fn widened(range: Option<(i64, i64)>, by: i64) -> Option<(i64, i64)> {
    let (low, high) = range.unwrap_or((by, by));
    Some((low.min(by), high.max(by)))
}

/// By field, and whether it is of the same step.
fn around(it: &Streaming, stage: usize) -> BTreeMap<(usize, bool), Around> {
    let mut all: BTreeMap<(usize, bool), Around> = BTreeMap::new();
    for read in &it.stream.stages[stage].reads {
        let Source::Field { field, fresh, offset, .. } = read else { continue };
        if offset[0] == 0 && offset[1] == 0 {
            continue;
        }
        let needs = all.entry((*field, *fresh)).or_default();
        needs.columns = needs.columns.or(offset[0]);
        needs.lines = needs.lines.or(offset[1]);
        needs.rows = widened(needs.rows, offset[2]);
        if offset[0] != 0 {
            needs.sides = widened(needs.sides, offset[1]);
        }
    }
    all
}

impl Printer<'_> {
    /// The function that goes through the steps of a tile; `params` are those of the kernel.
    pub(in super::super) fn plane_tile(
        &mut self,
        kernel: &str,
        params: &[String],
        (it, hexagon, halves): (&Streaming, &Hexagon, &Halves),
        planes: &Planes,
        out: &mut Writer,
    ) {
        let names = self.hexagon_locals(it);
        let (points, lines, height) = (it.stream.size.points, hexagon.lines(), hexagon.size.height);
        let (steps, ends, slope) = (hexagon.steps(), hexagon.ends(), hexagon.slope);
        let (base, held) = hexagon.held();
        let from_base = format!(" + {}", -base);
        let whole = u32::MAX >> (32 - i64::from(points) * lines);
        let Locals { origin, column, top, band, warp, step, low, high, row, entry, .. } = &names;
        let [rows_in, inside] = &names.within;
        let inner = format!("{rows_in} && {inside}");

        out.line(format!("// {steps} steps of a hexagon, {ends} to {} planes high.", ends + 2 * hexagon.bulge()));
        out.line(format!(
            "// `{rows_in}`, `{inside}`: planes, or lines and columns, that it touches lie inside of all arrays and boxes, and with the planes the"
        ));
        out.line("// steps inside of the loop.");
        self.tile_signature(kernel, params, (it, hexagon), &names, out);
        out.open(format!("    const int64_t {top}, const int64_t {band})"));
        out.line(format!("const int {warp} = threadIdx.x / {LANES};"));
        let [idle_low, idle_high] = planes.idle_lanes(&it.stream);
        let stores = format!(
            "threadIdx.x % {LANES} >= {idle_low} && threadIdx.x % {LANES} < {} ? {} : 0",
            i64::from(LANES) - idle_high,
            (1u32 << points) - 1
        );
        for (field, own) in names.fields.iter().enumerate() {
            let element = self.element_of(it, field);
            let [columns, along_lines, rows] = it.extents[field].clone().map(|extent| self.int(&extent));
            out.line(format!(
                "[[maybe_unused]] const int {} = (int)({columns}), {} = (int)(({columns}) * ({along_lines}));",
                own.stride, own.plane
            ));
            out.line(format!(
                "[[maybe_unused]] const int64_t {} = (({origin} - {}) * ({along_lines}) + {top} - 1) * ({columns}) + {column} - 1;",
                own.corner,
                1 - base
            ));
            out.line(format!(
                "[[maybe_unused]] const int {} = tessella_near(1 - {origin}), {} = tessella_near(({rows}) - {origin});",
                own.first_row, own.last_row
            ));
            let within = format!("tessella_within<{points}>({column}, 1, {columns})");
            let on_lines = |which: &str, first: &str, last: &str| {
                format!("tessella_on_lines<unsigned, {lines}, {points}>({which}, {top}, {first}, {last})")
            };
            out.line(format!(
                "[[maybe_unused]] const unsigned {} = {inside} ? {whole} : {};",
                own.has,
                on_lines(&within, "1", &along_lines)
            ));
            if it.is_carried(field) {
                let last = format!("{band} + {}", planes.band(hexagon) - 1);
                out.line(format!("const unsigned {} = {} & {};", own.stored, on_lines(&stores, band, &last), own.has));
                out.line(format!("{element} {}[{held}][{lines}][{points}];", own.rows));
            }
        }
        for (stage, own) in names.stages.iter().enumerate() {
            let [(low_x, high_x), (low_y, high_y), (low_z, high_z)] =
                it.limits[stage].clone().map(|(low, high)| (self.int(&low), self.int(&high)));
            out.line(format!(
                "const int {} = tessella_near(({low_z}) - {origin}), {} = tessella_near(({high_z}) - {origin});",
                own.first, own.last
            ));
            let within = format!("tessella_within<{points}>({column}, {low_x}, {high_x})");
            out.line(format!(
                "const unsigned {} = {inside} ? {whole} : tessella_on_lines<unsigned, {lines}, {points}>({within}, {top}, {low_y}, {high_y});",
                own.within
            ));
            self.load_fixed(it, (&own.fixed, stage), None, out);
        }
        for field in self.carried(it) {
            let own = &names.fields[field];
            let reach = hexagon.reach[field];
            out.line("#pragma unroll");
            out.open(format!("for (int {row} = {}; {row} <= {}; {row}++)", -reach, ends - 1 + reach));
            let from = own.before_first_step(row, ends);
            let which = own.is_there(rows_in, row, &own.has);
            out.line(format!(
                "tessella_enter_plane<{inner}>({from} + {} + ({row}{from_base}) * {}, {}, {which}, {}[{row}{from_base}]);",
                own.corner, own.plane, own.stride, own.rows
            ));
            out.close();
        }
        self.step_begins(&names, hexagon, out);
        for field in self.carried(it) {
            self.entering_planes(&names, (it, hexagon), field, out);
        }
        let mut has_old = false;
        for (&(field, fresh), &given) in &planes.given {
            if !fresh {
                has_old = true;
                self.give_planes(&names, hexagon, (field, false), given, out);
            }
        }
        if has_old {
            out.line("__syncthreads();");
        }
        self.is_active(&names, halves, out);
        for at in 0..it.stream.stages.len() {
            self.plane_stage(&names, (it, hexagon, planes), at, out);
        }
        for field in self.carried(it) {
            let own = &names.fields[field];
            let element = self.element_of(it, field);
            let reach = hexagon.reach[field];
            let copy = |to: String, from: String, out: &mut Writer| {
                let (line, point) = (&names.line, &names.point);
                out.line("#pragma unroll");
                out.open(format!("for (int {line} = 0; {line} < {lines}; {line}++)"));
                out.line("#pragma unroll");
                out.line(format!(
                    "for (int {point} = 0; {point} < {points}; {point}++) {to}[{line}][{point}] = {from}[{line}][{point}];"
                ));
                out.close();
            };
            each_row(hexagon, row, [low, high], out);
            copy(format!("{}[{row}{from_base}]", own.rows), format!("{}[{row}{from_base}]", own.new), out);
            out.close();
            out.open(format!("if ({step} >= {height})"));
            let [to, wanted] = leaving(&names, hexagon, field);
            out.line(format!("{element} *const {} = ({to}) + {};", names.to, own.corner));
            each_row(hexagon, row, [low, high], out);
            out.open(format!("if ({wanted})"));
            let which = own.is_there(rows_in, row, &own.stored);
            out.line(format!(
                "tessella_leave_plane({} + ({row}{from_base}) * {}, {}, {which}, {}[{row}{from_base}]);",
                names.to, own.plane, own.stride, own.rows
            ));
            out.close();
            out.close();
            out.close();
            // What was loaded takes its place beside the rows of the next step.
            let entering = slope + reach;
            for (condition, count) in [(format!("{step} < {height}"), entering), (format!("{step} == {height}"), reach)]
            {
                out.open(format!("if ({condition})"));
                out.line("#pragma unroll");
                out.open(format!("for (int {entry} = 0; {entry} < {count}; {entry}++)"));
                let slot = |text: String| format!("{}[{text}{from_base}]", own.rows);
                copy(slot(format!("{low} + {entry} - {count}")), format!("{}[{entry}]", own.entering), out);
                copy(
                    slot(format!("{high} - {entry} + {count}")),
                    format!("{}[{entering} + {entry}]", own.entering),
                    out,
                );
                out.close();
                out.close();
            }
        }
        out.close();
        out.close();
        out.blank();
    }

    /// Loads the planes that enter with the next step.
    fn entering_planes(
        &mut self,
        names: &Locals,
        (it, hexagon): (&Streaming, &Hexagon),
        field: usize,
        out: &mut Writer,
    ) {
        let own = &names.fields[field];
        let Locals { step, within: [rows_in, inside], .. } = names;
        let (points, lines, height) = (it.stream.size.points, hexagon.lines(), hexagon.size.height);
        let (slope, reach) = (hexagon.slope, hexagon.reach[field]);
        let entering = slope + reach;
        let from_base = format!(" + {}", -hexagon.held().0);
        let element = self.element_of(it, field);
        out.line(format!("[[maybe_unused]] {element} {}[{}][{lines}][{points}];", own.entering, 2 * entering));
        out.open(format!("if ({step} <= {height})"));
        let from = own.entering_from(step, height);
        out.line(format!("const {element} *const {} = ({from}) + {};", names.from, own.corner));
        begin_entering(names, hexagon, reach, out);
        for (place, row) in entering_rows(names, entering) {
            let which = own.is_there(rows_in, &row, &own.has);
            out.line(format!(
                "tessella_enter_plane<{rows_in} && {inside}>({} + ({row}{from_base}) * {}, {}, {which}, {}[{place}]);",
                names.from, own.plane, own.stride, own.entering
            ));
        }
        out.close();
        out.close();
    }

    /// Gives a warp's first and last lines of a version to the warps beside it.
    fn give_planes(
        &self,
        names: &Locals,
        hexagon: &Hexagon,
        (field, fresh): (usize, bool),
        given: Given,
        out: &mut Writer,
    ) {
        let own = &names.fields[field];
        let row = &names.row;
        let rows = if fresh { &own.new } else { &own.rows };
        each_row(hexagon, row, [&by(&names.low, -given.rows.below), &by(&names.high, given.rows.above)], out);
        let place = edges(names, hexagon, (field, fresh), given, [row, &names.warp]);
        let Reach { below, above } = given.lines;
        out.line(format!("tessella_give<{above}, {below}>({rows}[{row} + {}], {place});", -hexagon.held().0));
        out.close();
    }

    /// What a stage computes in a step.
    fn plane_stage(
        &mut self,
        names: &Locals,
        (it, hexagon, planes): (&Streaming, &Hexagon, &Planes),
        at: usize,
        out: &mut Writer,
    ) {
        let stage = &it.stream.stages[at];
        let (own, field) = (&names.stages[at], &names.fields[stage.field]);
        let Locals { origin, column, top, begin, step, row, line, point, inside, within: [rows_in, planes_in], .. } =
            names;
        let (points, lines, (base, held)) = (i64::from(it.stream.size.points), hexagon.lines(), hexagon.held());
        let from_base = format!(" + {}", -base);
        let element = self.element_of(it, stage.field);
        self.origin(stage.computation, out);
        out.line(format!("{element} {}[{held}][{lines}][{points}];", field.new));
        let wide = around(it, at);
        for (&(field, fresh), needs) in &wide {
            let element = self.element_of(it, field);
            let name = wide_of(names, (field, fresh), at);
            let Around { lines: beside, columns, .. } = needs;
            let (all_lines, all_points) = (beside.below + lines + beside.above, columns.below + points + columns.above);
            out.line(format!("{element} {name}[{held}][{all_lines}][{all_points}];"));
        }
        self.load_fixed_of_step(it, (&own.fixed, at), (&format!("{begin} + {step}"), &names.active), out);
        let rows = hexagon.around[at];
        let (first, last) = (by(&names.low, -rows.below), by(&names.high, rows.above));
        each_row(hexagon, row, [&first, &last], out);
        for (&(field, fresh), needs) in &wide {
            let (low, high) = needs.rows.expect("some row is read");
            let get = |which: &str| self.take_plane(names, (it, hexagon, planes), (field, fresh), (at, needs), which);
            if low < high {
                out.open(format!("if ({row} == {first})"));
                (low..high).for_each(|it| out.line(get(&by(row, it))));
                out.close();
            }
            out.line(get(&by(row, high)));
        }
        out.line(format!(
            "[[maybe_unused]] const unsigned {inside} = {} && ({rows_in} || ({row} >= {} && {row} <= {})) ? {} : 0;",
            names.active, own.first, own.last, own.within
        ));
        self.streamed.clear();
        for (position, read) in stage.reads.iter().enumerate() {
            let Source::Field { field, fresh, offset, .. } = read else { continue };
            let slot = format!("[{}{from_base}]", by(row, offset[2]));
            let text = match wide.get(&(*field, *fresh)).filter(|_| offset[0] != 0 || offset[1] != 0) {
                None => {
                    let own = &names.fields[*field];
                    format!("{}{slot}[{line}][{point}]", if *fresh { &own.new } else { &own.rows })
                }
                Some(needs) => format!(
                    "{}{slot}[{}][{}]",
                    wide_of(names, (*field, *fresh), at),
                    by(line, offset[1] + needs.lines.below),
                    by(point, offset[0] + needs.columns.below)
                ),
            };
            self.streamed.insert(position as u32, text);
        }
        self.call_fixed(&own.fixed, "");
        let iterator = |printer: &mut Self, axis: usize, place: String, out: &mut Writer| {
            let along = stage.iterators[axis].expect("arrays have three axes");
            if printer.mentions(stage, along) {
                let name = printer.variable(it.iterators[at][along as usize]).to_string();
                out.line(format!("const int64_t {name} = {};", by(&place, -stage.shift[axis])));
            }
        };
        if self.mentions_time(stage) {
            let name = self.variable(it.iterators[at][stage.time as usize]).to_string();
            let time = self.time_of(it, stage, &format!("{begin} + {step}"));
            out.line(format!("const int64_t {name} = {time};"));
        }
        iterator(self, 2, format!("{origin} + {row}"), out);
        out.line("#pragma unroll");
        out.open(format!("for (int {line} = 0; {line} < {lines}; {line}++)"));
        iterator(self, 1, format!("{top} + {line}"), out);
        out.line("#pragma unroll");
        out.open(format!("for (int {point} = 0; {point} < {points}; {point}++)"));
        iterator(self, 0, format!("{column} + {point}"), out);
        let iterators: Vec<IntExpr> = it.iterators[at].iter().copied().map(IntExpr::Variable).collect();
        let instance = Instance { computation: stage.computation, iterators: &iterators };
        let source = self.input.algorithm.computation(stage.computation);
        let bit = format!("{line} * {points} + {point}");
        self.lets_inside(&instance, format!("{inside} >> ({bit}) & 1"), out);
        let text = self.value(&source.value, &instance).0;
        self.streamed.clear();
        let kept = match (it.is_carried(stage.field), it.stream.fields[stage.field].rim) {
            (true, _) => format!("{}[{row}{from_base}][{line}][{point}]", field.rows),
            (false, true) => {
                let (buffer, _) = self.field_buffers(it, stage.field);
                let place = format!(
                    "{} + ({row}{from_base}) * {} + {line} * {} + {point}",
                    field.corner, field.plane, field.stride
                );
                let there = format!(
                    "{row} >= {} && {row} <= {} && ({} >> ({bit}) & 1)",
                    field.first_row, field.last_row, field.has
                );
                format!("({there} ? {buffer}[{place}] : ({element})0)")
            }
            (false, false) => format!("({element})0"),
        };
        let target = format!("{}[{row}{from_base}][{line}][{point}]", field.new);
        // A branch for each point would cost more than the arithmetic.
        match self.may_be_computed_outside(stage) {
            true => {
                out.line(format!("const {element} {} = {text};", names.value));
                out.line(format!(
                    "{target} = {rows_in} && {planes_in} ? {0} : tessella_choose<{element}>({inside} >> ({bit}) & 1, {0}, {kept});",
                    names.value
                ));
            }
            false => out
                .line(format!("{target} = ({rows_in} && {planes_in}) || ({inside} >> ({bit}) & 1) ? {text} : {kept};")),
        }
        out.close();
        out.close();
        out.close();
        if let Some(&given) = planes.given.get(&(stage.field, true)) {
            self.give_planes(names, hexagon, (stage.field, true), given, out);
            out.line("__syncthreads();");
        }
    }

    /// Gets what a stage needs beside a thread's own points of a plane.
    fn take_plane(
        &self,
        names: &Locals,
        (it, hexagon, planes): (&Streaming, &Hexagon, &Planes),
        (field, fresh): (usize, bool),
        (stage, needs): (usize, &Around),
        row: &str,
    ) -> String {
        let own = &names.fields[field];
        let held = if fresh { &own.new } else { &own.rows };
        let Around { lines, columns, .. } = needs;
        let (first, last) = needs.wide_lines(hexagon.lines());
        let [before, after] = match planes.given.get(&(field, fresh)) {
            Some(&given) => {
                let warps = hexagon.size.threads / LANES;
                let warp = &names.warp;
                let [before, after] =
                    [format!("({warp} > 0 ? {warp} - 1 : 0)"), format!("({warp} < {0} ? {warp} + 1 : {0})", warps - 1)]
                        .map(|warp| edges(names, hexagon, (field, fresh), given, [row, &warp]));
                // A warp gives its first lines first; the nearest of its last ones come last.
                let skipped = i64::from(LANES) * (given.lines.above + given.lines.below - lines.below);
                [by(&before, skipped), after]
            }
            None => {
                let none = format!(
                    "(const tessella_pack<{}, {}> *)nullptr",
                    self.element_of(it, field),
                    it.stream.size.points
                );
                [none.clone(), none]
            }
        };
        let slot = format!("[{row} + {}]", -hexagon.held().0);
        let sizes =
            [lines.below, lines.above, columns.below, columns.above, first, last].map(|it| it.to_string()).join(", ");
        let wide = wide_of(names, (field, fresh), stage);
        format!("tessella_around<{sizes}>({held}{slot}, {before}, {after}, {wide}{slot});")
    }
}

/// Where the lines of a row are that a warp gives; `row` and `warp` are texts.
fn edges(
    names: &Locals,
    hexagon: &Hexagon,
    (field, fresh): (usize, bool),
    given: Given,
    [row, warp]: [&str; 2],
) -> String {
    let (base, held) = given.kept(hexagon);
    let warps = hexagon.size.threads / LANES;
    let packs = i64::from(LANES) * (given.lines.below + given.lines.above);
    let shared = &names.fields[field].shared[usize::from(fresh)];
    format!("{shared} + (({} % 2 * {held} + {row} + {}) * {warps} + {warp}) * {packs}", names.step, -base)
}

/// What a stage calls the points around a thread's own.
fn wide_of(names: &Locals, (field, fresh): (usize, bool), stage: usize) -> String {
    let name = &names.fields[field].wide[usize::from(fresh)];
    if stage == 0 { name.clone() } else { format!("{name}_{stage}") }
}
