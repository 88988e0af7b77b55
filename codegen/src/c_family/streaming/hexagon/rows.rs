//! Tiles of matrices: each thread has neighbouring columns, and all of a block move down by some of them with each step.

use super::super::super::expr::Instance;
use super::super::super::{Printer, Writer};
use super::super::stage::by;
use super::{Locals, begin_entering, each_row, entering_rows, leaving};
use crate::int_expr::IntExpr;
use crate::stream::{Halves, Streaming};
use std::collections::BTreeMap;
use tessella_polyhedral::stream::{Hexagon, Source};

impl Printer<'_> {
    /// The function that goes through the steps of a tile; `params` are those of the kernel.
    pub(in super::super) fn hexagon_tile(
        &mut self,
        kernel: &str,
        params: &[String],
        (it, hexagon, halves): (&Streaming, &Hexagon, &Halves),
        out: &mut Writer,
    ) {
        let names = self.hexagon_locals(it);
        let (points, height) = (it.stream.size.points, hexagon.size.height);
        let (steps, ends, slope) = (hexagon.steps(), hexagon.ends(), hexagon.slope);
        let (base, held) = hexagon.held();
        let from_base = format!(" + {}", -base);
        let places = hexagon.places();
        let whole = (1u32 << points) - 1;
        let Locals { origin, column, turn, step, low, high, row, entry, point, .. } = &names;
        let [first_stored, last_stored] = &names.stored;
        let [rows_in, columns_in] = &names.within;

        out.line(format!(
            "// {steps} steps of a hexagon, {ends} to {} rows high. `rows`, `columns`: those that it touches lie inside of all arrays and boxes, and",
            ends + 2 * hexagon.bulge()
        ));
        out.line("// with the rows the steps inside of the loop.");
        self.tile_signature(kernel, params, (it, hexagon), &names, out);
        out.open(format!("    const int64_t {first_stored}, const int64_t {last_stored}, const int {turn})"));
        let [below, own, below_by, own_by] = [&names.below, &names.own, &names.below_by, &names.own_by];
        let threads = hexagon.size.threads;
        out.line(format!("const int {below_by} = threadIdx.x == 0, {own_by} = threadIdx.x == {};", threads - 1));
        out.line(format!("const int {below} = {below_by} ? {turn} * {steps} : {} + threadIdx.x;", 2 * steps - 1));
        out.line(format!("const int {own} = {own_by} ? (1 - {turn}) * {steps} : {} + threadIdx.x;", 2 * steps));
        for (field, own) in names.fields.iter().enumerate() {
            let element = self.element_of(it, field);
            let [columns, _, rows] = it.extents[field].clone().map(|extent| self.int(&extent));
            out.line(format!("[[maybe_unused]] const int {} = (int)({columns});", own.stride));
            out.line(format!(
                "[[maybe_unused]] const int64_t {} = ({origin} - {}) * ({columns}) + {column} - 1;",
                own.corner,
                1 - base
            ));
            out.line(format!(
                "[[maybe_unused]] const int {} = tessella_near(1 - {origin}), {} = tessella_near(({rows}) - {origin});",
                own.first_row, own.last_row
            ));
            out.line(format!(
                "[[maybe_unused]] const int {} = tessella_near(1 - {column}), {} = tessella_near(({columns}) - {column});",
                own.first_column, own.last_column
            ));
            if it.is_carried(field) {
                let last = format!("({columns_in} || {last_stored} < {columns} ? {last_stored} : {columns})");
                out.line(format!(
                    "const int {} = (int)({first_stored} - {column}), {} = (int)({last} - {column});",
                    own.first_stored, own.last_stored
                ));
            }
            if it.is_carried(field) {
                out.line(format!("{element} {}[{held}][{points}];", own.rows));
            }
        }
        for (stage, own) in names.stages.iter().enumerate() {
            let (low, high) = (self.int(&it.limits[stage][2].0), self.int(&it.limits[stage][2].1));
            out.line(format!(
                "const int {} = tessella_near(({low}) - {origin}), {} = tessella_near(({high}) - {origin});",
                own.first, own.last
            ));
            let (low, high) = (self.int(&it.limits[stage][0].0), self.int(&it.limits[stage][0].1));
            out.line(format!(
                "[[maybe_unused]] const int {} = tessella_near(({low}) - {column}), {} = tessella_near(({high}) - {column});",
                own.first_column, own.last_column
            ));
            self.load_fixed(it, (&own.fixed, stage), None, out);
        }
        for field in self.carried(it) {
            let own = &names.fields[field];
            let frame = hexagon.frame(&it.stream, field, 0);
            let reach = hexagon.reach[field];
            out.open("");
            out.line(format!(
                "const unsigned {} = {columns_in} ? {whole} : tessella_among<{points}>({}, {}, {});",
                names.inside, -frame, own.first_column, own.last_column
            ));
            out.line("#pragma unroll");
            out.open(format!("for (int {row} = {}; {row} <= {}; {row}++)", -reach, ends - 1 + reach));
            let from = own.before_first_step(row, ends);
            let place = format!("{from} + {} + ({row}{from_base}) * {}", by(&own.corner, -frame), own.stride);
            let which = own.is_there(rows_in, row, &names.inside);
            out.line(format!(
                "tessella_enter<{rows_in} && {columns_in}>({place}, {which}, {}[{row}{from_base}]);",
                own.rows
            ));
            out.close();
            out.close();
        }
        self.step_begins(&names, hexagon, out);
        for field in self.carried(it) {
            self.entering(&names, (it, hexagon), field, out);
        }
        let mut has_old = false;
        for (field, fresh) in self.handed_on(it, hexagon) {
            if !fresh {
                has_old = true;
                let reach = hexagon.reach[field];
                self.hand_on(&names, hexagon, (field, false), [-reach, reach], places, out);
            }
        }
        if has_old {
            out.line("__syncthreads();");
        }
        self.is_active(&names, halves, out);
        for at in 0..it.stream.stages.len() {
            self.hexagon_stage(&names, (it, hexagon), at, out);
        }
        for field in self.carried(it) {
            let own = &names.fields[field];
            let element = self.element_of(it, field);
            let (reach, frame) = (hexagon.reach[field], self.frame_text(&names, (it, hexagon), field, 1));
            each_row(hexagon, row, [low, high], out);
            out.line("#pragma unroll");
            out.line(format!(
                "for (int {point} = 0; {point} < {points}; {point}++) {}[{row}{from_base}][{point}] = {}[{row}{from_base}][{point}];",
                own.rows, own.new
            ));
            out.close();
            out.open(format!("if ({step} >= {height})"));
            out.line(format!(
                "const unsigned {} = tessella_among<{points}>(-{frame}, {}, {});",
                names.inside, own.first_stored, own.last_stored
            ));
            let [to, wanted] = leaving(&names, hexagon, field);
            out.line(format!("{element} *const {} = ({to}) + {} - {frame};", names.to, own.corner));
            each_row(hexagon, row, [low, high], out);
            out.open(format!("if ({wanted})"));
            let which = own.is_there(rows_in, row, &names.inside);
            out.line(format!(
                "tessella_leave({} + ({row}{from_base}) * {}, {which}, {}[{row}{from_base}]);",
                names.to, own.stride, own.rows
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
                out.line("#pragma unroll");
                out.open(format!("for (int {point} = 0; {point} < {points}; {point}++)"));
                let slot = |text: String| format!("{}[{text}{from_base}][{point}]", own.rows);
                out.line(format!(
                    "{} = {}[{entry}][{point}];",
                    slot(format!("{low} + {entry} - {count}")),
                    own.entering
                ));
                out.line(format!(
                    "{} = {}[{entering} + {entry}][{point}];",
                    slot(format!("{high} - {entry} + {count}")),
                    own.entering
                ));
                out.close();
                out.close();
                out.close();
            }
        }
        out.close();
        out.close();
        out.blank();
    }

    /// Loads the rows that enter with the next step.
    fn entering(&mut self, names: &Locals, (it, hexagon): (&Streaming, &Hexagon), field: usize, out: &mut Writer) {
        let own = &names.fields[field];
        let Locals { step, inside, within: [rows_in, columns_in], .. } = names;
        let (points, height) = (it.stream.size.points, hexagon.size.height);
        let (slope, reach) = (hexagon.slope, hexagon.reach[field]);
        let entering = slope + reach;
        let from_base = format!(" + {}", -hexagon.held().0);
        let element = self.element_of(it, field);
        let whole = (1u32 << points) - 1;
        let frame = self.frame_text(names, (it, hexagon), field, 1);
        out.line(format!("[[maybe_unused]] {element} {}[{}][{points}];", own.entering, 2 * entering));
        out.open(format!("if ({step} <= {height})"));
        out.line(format!(
            "const unsigned {inside} = {columns_in} ? {whole} : tessella_among<{points}>(-{frame}, {}, {});",
            own.first_column, own.last_column
        ));
        let from = own.entering_from(step, height);
        out.line(format!("const {element} *const {} = ({from}) + {} - {frame};", names.from, own.corner));
        begin_entering(names, hexagon, reach, out);
        for (place, row) in entering_rows(names, entering) {
            let which = own.is_there(rows_in, &row, inside);
            out.line(format!(
                "tessella_enter<{rows_in} && {columns_in}>({} + ({row}{from_base}) * {}, {which}, {}[{place}]);",
                names.from, own.stride, own.entering
            ));
        }
        out.close();
        out.close();
    }

    /// Hands on the points of rows of a version, from so many rows around those of the step.
    fn hand_on(
        &self,
        names: &Locals,
        hexagon: &Hexagon,
        (field, fresh): (usize, bool),
        [low, high]: [i64; 2],
        places: i64,
        out: &mut Writer,
    ) {
        let own = &names.fields[field];
        let (base, held) = hexagon.held();
        let from_base = format!(" + {}", -base);
        let Locals { step, row, .. } = names;
        let exchanged = hexagon.exchanged(field, fresh);
        let (shared, rows) = (&own.shared[usize::from(fresh)], if fresh { &own.new } else { &own.rows });
        each_row(hexagon, row, [&by(&names.low, low), &by(&names.high, high)], out);
        out.line(format!(
            "tessella_hand_on<{exchanged}>({shared} + ({step} % 2 * {held} + {row}{from_base}) * {places} + {} + {step} * {}, {rows}[{row}{from_base}]);",
            names.own, names.own_by
        ));
        out.close();
    }

    /// How far down a thread's points of a version lie, `later` versions after the one that the step begins with.
    fn frame_text(&self, names: &Locals, (it, hexagon): (&Streaming, &Hexagon), field: usize, later: i64) -> String {
        let constant = hexagon.frame(&it.stream, field, later);
        match (hexagon.skew, constant) {
            (0, constant) => format!("({constant})"),
            (skew, constant) => format!("({})", by(&format!("{skew} * {}", names.step), constant)),
        }
    }

    /// What a stage computes in a step.
    fn hexagon_stage(&mut self, names: &Locals, (it, hexagon): (&Streaming, &Hexagon), at: usize, out: &mut Writer) {
        let stage = &it.stream.stages[at];
        let own = &names.stages[at];
        let field = &names.fields[stage.field];
        let Locals { origin, column, begin, step, row, point, inside, within: [rows_in, columns_in], .. } = names;
        let (points, (base, held)) = (it.stream.size.points, hexagon.held());
        let from_base = format!(" + {}", -base);
        let places = hexagon.places();
        let whole = (1u32 << points) - 1;
        let element = self.element_of(it, stage.field);
        let frame = match (hexagon.skew, hexagon.lags[at]) {
            (0, lag) => format!("({lag})"),
            (skew, lag) => format!("({})", by(&format!("{skew} * {step}"), lag)),
        };
        self.origin(stage.computation, out);
        out.line(format!("{element} {}[{held}][{points}];", field.new));
        // Rows whose points of the thread below are needed, relative to the one computed.
        let mut west: BTreeMap<(usize, bool), (i64, i64)> = BTreeMap::new();
        let mut needs = |field: usize, fresh: bool, by: i64| {
            let reach = west.entry((field, fresh)).or_insert((by, by));
            *reach = (reach.0.min(by), reach.1.max(by));
        };
        if it.is_carried(stage.field) && hexagon.skew > 0 {
            needs(stage.field, false, 0);
        }
        for read in &stage.reads {
            if let Source::Field { field, fresh, offset, .. } = read
                && hexagon.back(&it.stream, at, read) != Some(0)
            {
                needs(*field, *fresh, offset[2]);
            }
        }
        for &(field, fresh) in west.keys() {
            let exchanged = hexagon.exchanged(field, fresh);
            let element = self.element_of(it, field);
            let name = &names.fields[field].west[usize::from(fresh)];
            out.line(format!("{element} {}[{held}][{exchanged}];", west_of(name, at)));
        }
        out.line(format!(
            "const unsigned {} = !{} ? 0 : {columns_in} ? {whole} : tessella_among<{points}>(-{frame}, {}, {});",
            own.within, names.active, own.first_column, own.last_column
        ));
        self.load_fixed_of_step(it, (&own.fixed, at), (&format!("{begin} + {step}"), &names.active), out);
        let around = hexagon.around[at];
        let (first, last) = (by(&names.low, -around.below), by(&names.high, around.above));
        each_row(hexagon, row, [&first, &last], out);
        for (&(field, fresh), &(low, high)) in &west {
            let exchanged = hexagon.exchanged(field, fresh);
            let own = &names.fields[field];
            let (name, shared) = (west_of(&own.west[usize::from(fresh)], at), &own.shared[usize::from(fresh)]);
            let get = |which: &str| {
                format!(
                    "tessella_get<{exchanged}>({shared} + ({step} % 2 * {held} + {which}{from_base}) * {places} + {} + {step} * {}, {name}[{which}{from_base}]);",
                    names.below, names.below_by
                )
            };
            if low < high {
                out.open(format!("if ({row} == {first})"));
                (low..high).for_each(|it| out.line(get(&by(row, it))));
                out.close();
            }
            out.line(get(&by(row, high)));
        }
        out.line(format!(
            "[[maybe_unused]] const unsigned {inside} = {rows_in} || ({row} >= {} && {row} <= {}) ? {} : 0;",
            own.first, own.last, own.within
        ));
        let operand = |field: usize, fresh: bool, rows: i64, back: i64| {
            let own = &names.fields[field];
            let held = if fresh { &own.new } else { &own.rows };
            let slot = format!("[{}{from_base}]", by(row, rows));
            match back {
                0 => format!("{held}{slot}[{point}]"),
                back => {
                    let name = west_of(&own.west[usize::from(fresh)], at);
                    format!(
                        "tessella_point<{}>({held}{slot}, {name}{slot}, {point} - {back})",
                        hexagon.exchanged(field, fresh)
                    )
                }
            }
        };
        self.streamed.clear();
        for (position, read) in stage.reads.iter().enumerate() {
            if let Source::Field { field, fresh, offset, .. } = read {
                let back = hexagon.back(&it.stream, at, read).expect("a field is read");
                self.streamed.insert(position as u32, operand(*field, *fresh, offset[2], back));
            }
        }
        self.call_fixed(&own.fixed, "");
        if self.mentions_time(stage) {
            let name = self.variable(it.iterators[at][stage.time as usize]).to_string();
            let time = self.time_of(it, stage, &format!("{begin} + {step}"));
            out.line(format!("const int64_t {name} = {time};"));
        }
        let along_rows = stage.iterators[2].expect("matrices have rows");
        if self.mentions(stage, along_rows) {
            let name = self.variable(it.iterators[at][along_rows as usize]).to_string();
            out.line(format!("const int64_t {name} = {};", by(&format!("{origin} + {row}"), -stage.shift[2])));
        }
        out.line("#pragma unroll");
        out.open(format!("for (int {point} = 0; {point} < {points}; {point}++)"));
        let along_x = stage.iterators[0].expect("all arrays have columns");
        if self.mentions(stage, along_x) {
            let name = self.variable(it.iterators[at][along_x as usize]).to_string();
            let place = format!("{column} - {frame} + {point}");
            out.line(format!("const int64_t {name} = {};", by(&place, -stage.shift[0])));
        }
        let iterators: Vec<IntExpr> = it.iterators[at].iter().copied().map(IntExpr::Variable).collect();
        let instance = Instance { computation: stage.computation, iterators: &iterators };
        let source = self.input.algorithm.computation(stage.computation);
        self.lets_inside(&instance, format!("{inside} >> {point} & 1"), out);
        let text = self.value(&source.value, &instance).0;
        self.streamed.clear();
        let kept = match (it.is_carried(stage.field), it.stream.fields[stage.field].rim) {
            (true, _) => operand(stage.field, false, 0, hexagon.skew),
            (false, true) => {
                let (buffer, _) = self.field_buffers(it, stage.field);
                let place = format!("{} + ({row}{from_base}) * {} + {point} - {frame}", field.corner, field.stride);
                let there = format!(
                    "{row} >= {} && {row} <= {} && {point} - {frame} >= {} && {point} - {frame} <= {}",
                    field.first_row, field.last_row, field.first_column, field.last_column
                );
                format!("({there} ? {buffer}[{place}] : ({element})0)")
            }
            (false, false) => format!("({element})0"),
        };
        let target = format!("{}[{row}{from_base}][{point}]", field.new);
        // A branch for each point would cost more than the arithmetic.
        match self.may_be_computed_outside(stage) {
            true => {
                out.line(format!("const {element} {} = {text};", names.value));
                out.line(format!(
                    "{target} = {rows_in} && {columns_in} ? {0} : tessella_choose<{element}>({inside} >> {point} & 1, {0}, {kept});",
                    names.value
                ));
            }
            false => out.line(format!(
                "{target} = ({rows_in} && {columns_in}) || ({inside} >> {point} & 1) ? {text} : {kept};"
            )),
        }
        out.close();
        out.close();
        if hexagon.exchanged(stage.field, true) > 0 {
            self.hand_on(names, hexagon, (stage.field, true), [-around.below, around.above], places, out);
            out.line("__syncthreads();");
        }
    }
}

/// What the points of the thread below are called in a stage.
fn west_of(name: &str, stage: usize) -> String {
    if stage == 0 { name.to_string() } else { format!("{name}_{stage}") }
}
