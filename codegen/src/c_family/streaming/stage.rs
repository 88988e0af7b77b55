//! What one stage of a stream does in one iteration: its operands, its points, and their store.

use super::super::expr::Instance;
use super::super::{Printer, Writer, c_type};
use super::fixed::in_subscripts;
use super::{Locals, Packs, all_lines, each_line, has_lines, held, of_line, on_line, stores_row};
use crate::int_expr::IntExpr;
use crate::int_text::Precedence;
use crate::stream::Streaming;
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::expr::ExprKind;
use tessella_polyhedral::stream::{Source, Stage, Sums, Way, rounds};

/// A row of a field, by its version and age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    field: usize,
    fresh: bool,
    age: i64,
}

/// What a stage needs of a row besides a lane's own points.
#[derive(Debug, Default)]
struct Wider {
    below: i64,
    above: i64,
    /// The lines, relative to the one computed, on which it needs points to the sides.
    on_lines: BTreeSet<i64>,
    /// The first and the last line that it needs at all.
    lowest: i64,
    highest: i64,
}

impl Wider {
    /// Whether it needs lines that other warps may have.
    fn is_shared(&self) -> bool {
        self.lowest < 0 || self.highest > 0
    }

    /// How many lines it needs for `lines` of a lane.
    fn lines(&self, lines: u32) -> i64 {
        i64::from(lines) + self.highest - self.lowest
    }
}

/// The rows that a stage reads.
fn wider(stage: &Stage) -> BTreeMap<Row, Wider> {
    let mut rows: BTreeMap<Row, Wider> = BTreeMap::new();
    for read in stage.fetched() {
        if let Source::Field { field, fresh, offset, age } = read {
            let needs = rows.entry(Row { field, fresh, age }).or_default();
            needs.below = needs.below.max(-offset[0]);
            needs.above = needs.above.max(offset[0]);
            needs.on_lines.extend((offset[0] != 0).then_some(offset[1]));
            needs.lowest = needs.lowest.min(offset[1]);
            needs.highest = needs.highest.max(offset[1]);
        }
    }
    rows
}

fn wider_of(stage: &Stage, row: Row) -> Wider {
    wider(stage).remove(&row).unwrap_or_default()
}

impl Printer<'_> {
    /// What a stage does with the row whose turn it is, on all lines.
    pub(super) fn stage(&mut self, it: &Streaming, names: &Locals, at: usize, out: &mut Writer) {
        let stage = &it.stream.stages[at];
        let field = &names.fields[stage.field];
        let own = &names.stages[at];
        let size = it.stream.size;
        let Locals { now, turn, step, point, here, inside, value, base, safe, .. } = names;
        let element = c_type(self.input.algorithm.array(it.stream.fields[stage.field].array).element);
        // Where the row lies that it computes or revises.
        let row = match it.stream.revises_after(at) {
            0 => format!("{}[{step} + 1][{turn}]", field.rows),
            ago => format!("{}[{step} + 1][({turn} + {}) % {}]", field.rows, it.stream.depth - ago, it.stream.depth),
        };
        let steps = it.rest.map(|rest| self.variable(rest.steps).to_string());
        let makes = self.makes(it, stage, step);
        out.open("");
        self.origin(stage.computation, out);
        let lag = match (it.stream.lag, stage.lag) {
            (lag, 0) => format!("{lag} * {step}"),
            (lag, more) => format!("({lag} * {step} + {more})"),
        };
        out.line(format!("[[maybe_unused]] const int {here} = {now} - {lag};"));
        let lines = all_lines(it);
        self.planes(it, names, at, out);
        if has_lines(it) {
            out.line("#pragma unroll");
            out.open(format!("for (int {0} = {1}; {0} < {2}; {0}++)", names.line, lines.start, lines.end));
        }
        let rows = match &it.rounds[2] {
            None => format!("{here} >= {} && {here} <= {}", own.first, own.last),
            Some(_) => "true".to_string(),
        };
        // Where nothing has to be looked at, no edge is.
        let rows = if stage.thin[2] { format!("!{safe} && {rows}") } else { format!("{safe} || ({rows})") };
        let inside_text = format!("{rows} ? {} : 0", on_line(it, names, &own.within));
        let rim = it.stream.fields[stage.field].rim;
        // Points outside of what is written are of interest only where they keep what they were.
        let everywhere = it.goes_round() || !rim && self.may_be_computed_outside(stage);
        if !everywhere {
            out.line(format!("const unsigned {inside} = {inside_text};"));
        }
        // Most warps never have a point of an edge.
        let is_rare = stage.thin != [false; 3] && it.stream.revises(at);
        let elsewhere = if stage.thin[0] || stage.thin[1] { "!inner".to_string() } else { format!("!{safe}") };
        let rare = is_rare.then(|| format!("{elsewhere} && __any_sync(0xffffffffu, {inside})"));
        // The last launches make few of the steps that they have room for, and all of their threads the same.
        let only: Vec<String> = makes.into_iter().chain(rare).collect();
        if !only.is_empty() {
            out.open(format!("if ({})", only.join(" && ")));
        }
        let loads_rim = it.rest.is_none() && it.stream.loads_rim(self.input.algorithm, at);
        if loads_rim {
            self.load_kept(it, names, at, out);
        }
        self.operands(it, names, stage, out);
        self.call_fixed(&own.fixed, &format!("[{step}]"));
        self.iterators(it, names, at, base, out);
        out.line(format!("{element} {value}[{}];", size.points));
        out.line("#pragma unroll");
        out.open(format!("for (int {point} = 0; {point} < {}; {point}++)", size.points));
        if let Some(along_x) = stage.iterators[0].filter(|along_x| self.mentions(stage, *along_x)) {
            let x = it.iterators[at][along_x as usize];
            let shifted = match &it.rounds[0] {
                Some(_) => format!("{} + {point} + {}[{point}]", names.column, names.around[0]),
                None => format!("{} + {point}", names.column),
            };
            let shifted = by(&shifted, -stage.shift[0]);
            out.line(format!("const int64_t {} = {shifted};", self.variable(x)));
        }
        let iterators: Vec<IntExpr> = it.iterators[at].iter().copied().map(IntExpr::Variable).collect();
        let instance = Instance { computation: stage.computation, iterators: &iterators };
        let source = self.input.algorithm.computation(stage.computation);
        let known = it.settled[at].iter().map(|(expr, settled)| {
            let flag = if settled.axis == 2 { safe.as_str() } else { "inner" };
            (expr.clone(), flag.to_string(), settled.holds)
        });
        self.settled = known.collect();
        match everywhere {
            true => self.lets(&instance, out),
            false => self.lets_inside(&instance, format!("{inside} >> {point} & 1"), out),
        }
        let text = match &stage.sums {
            None => self.value(&source.value, &instance).0,
            Some(sums) => self.add_up(it, names, (at, sums), &instance, out),
        };
        self.streamed.clear();
        self.settled.clear();
        let kept = match rim {
            true if it.stream.revises(at) => format!("{}{}[{point}]", row, of_line(it, names)),
            true => {
                let slot = format!("({turn} + {}) % {}", it.stream.depth - it.stream.lag, it.stream.depth);
                let handed_on = format!("{}[{step}][{slot}]{}[{point}]", field.rows, of_line(it, names));
                if loads_rim { format!("(inner ? {}[{point}] : {handed_on})", names.kept) } else { handed_on }
            }
            false => format!("({element})0"),
        };
        // A branch for each point would cost more than the arithmetic.
        match everywhere || self.may_be_computed_outside(stage) {
            true if everywhere => out.line(format!("{value}[{point}] = {text};")),
            true => out.line(format!(
                "{value}[{point}] = tessella_choose<{element}>({inside} >> {point} & 1, {text}, {kept});"
            )),
            false => out.line(format!("{value}[{point}] = {inside} >> {point} & 1 ? {text} : {kept};")),
        }
        out.close();
        let assigned = |value: &str| {
            let line = of_line(it, names);
            format!("for (int {point} = 0; {point} < {}; {point}++) {row}{line}[{point}] = {value};", size.points)
        };
        out.line("#pragma unroll");
        out.line(assigned(&format!("{value}[{point}]")));
        if it.rest.is_some() && !it.stream.revises(at) {
            out.reopen("else");
            out.line("#pragma unroll");
            out.line(assigned(&kept));
        }
        if !only.is_empty() {
            out.close();
        }
        let stored = stores_row(it, names, here);
        let moment = match &steps {
            Some(steps) => format!("{step} + 1 == {steps}"),
            None => format!("{step} == {}", size.steps - 1),
        };
        let which = on_line(it, names, &field.stored);
        let is_done = it.stream.fields[stage.field].finisher == at;
        let done = match (it.is_carried(stage.field), &it.rest) {
            (true, _) if !is_done => None,
            (true, _) => Some((
                format!("{moment} && {stored}"),
                Packs::IfAligned,
                format!("{safe} || {here} <= {} ? {which} : 0", field.last),
            )),
            // The last stage that writes such a field belongs to the first iteration of a time step, which the last step always makes.
            (false, Some(rest)) => {
                let last = self.variable(rest.last);
                let written = format!("{last} && {moment} && {stored}");
                let which = match &it.rounds[2] {
                    Some(_) => format!("({here} <= {} ? {which} : 0)", field.last),
                    None => which,
                };
                Some((written, Packs::Never, format!("({inside_text}) & {which}")))
            }
            (false, None) => None,
        };
        if has_lines(it) {
            out.close();
        }
        if let Some((condition, packs, which)) = done {
            let row = format!("{row}{}", of_line(it, names));
            out.open(format!("if ({condition})"));
            self.store(it, names, (stage.field, packs), here, [&which, &row], out);
            out.close();
        }
        if is_done {
            self.give(it, names, stage.field, 1, out);
        }
        out.close();
    }

    /// Loads the points of a row outside of what a stage computes, where no column is.
    fn load_kept(&mut self, it: &Streaming, names: &Locals, at: usize, out: &mut Writer) {
        let (stage, own) = (&it.stream.stages[at], &names.stages[at]);
        let field = &names.fields[stage.field];
        let Locals { here, kept, safe, .. } = names;
        let element = self.element_of(it, stage.field);
        let lead = it.stream.fields[stage.field].lead + 1;
        let of_row = format!("{} - ({} + {lead} - {here}) * {}", field.from, names.now, field.plane);
        let place = self.of_corner(it, names, stage.field, &of_row);
        let outside = format!("({here} < {} || {here} > {})", own.first, own.last);
        let exists = format!("{here} >= {} && {here} <= {}", field.first, field.last);
        out.line(format!("{element} {kept}[{}] = {{}};", it.stream.size.points));
        out.line(format!(
            "if (inner && !{safe} && {outside}) tessella_load<false>({place}, {exists} ? {} : 0, {kept});",
            on_line(it, names, &field.has)
        ));
    }

    /// Adds what the latest row gives to the values that it belongs to; the one that is done by that is the result.
    fn add_up(
        &mut self,
        it: &Streaming,
        names: &Locals,
        (at, sums): (usize, &Sums),
        instance: &Instance<'_>,
        out: &mut Writer,
    ) -> String {
        let element = self.element_of(it, it.stream.stages[at].field);
        let Locals { step, point, done, .. } = names;
        let place = |later: i64| format!("{}[{step}][{later}]{}[{point}]", names.stages[at].sums, of_line(it, names));
        for later in 0..=sums.longest {
            let mut text = if later < sums.longest { place(later) } else { String::new() };
            for term in sums.terms.iter().filter(|term| term.later == later) {
                let mut factors: Vec<String> =
                    term.factors.iter().map(|factor| self.at(factor, instance, Precedence::Unary)).collect();
                factors.extend(term.read.map(|read| self.streamed[&read].clone()));
                let sign = match (text.is_empty(), term.negative) {
                    (true, false) => "",
                    (true, true) => "-",
                    (false, false) => " + ",
                    (false, true) => " - ",
                };
                text.push_str(sign);
                text.push_str(&factors.join(" * "));
            }
            match later {
                0 => out.line(format!("const {element} {done} = {text};")),
                later => out.line(format!("{} = {text};", place(later - 1))),
            }
        }
        done.clone()
    }

    /// Gets the lines of rows that the warps beside this one hold, and declares, for all lines, the rows of which a stage needs
    /// points to the sides on several lines, with those that it needs before its first line but one; each further line follows
    /// where the stage first needs it.
    fn planes(&mut self, it: &Streaming, names: &Locals, at: usize, out: &mut Writer) {
        let (stage, size) = (&it.stream.stages[at], it.stream.size);
        for (row, needs) in wider(stage) {
            let element = self.element_of(it, row.field);
            let name = self.row_name(it, row);
            if needs.is_shared() {
                let lines = needs.lines(size.lines);
                out.line(format!("{element} {name}_lines[{lines}][{}];", size.points));
                let shared = it.stream.shared_lines(row.field).expect("some line is read");
                let version = if row.fresh { format!("({} + 1)", names.step) } else { names.step.clone() };
                let warps = it.stream.warps();
                let before = format!("({0} > 0 ? {0} - 1 : 0)", names.warp);
                let after = format!("({0} < {1} ? {0} + 1 : {1})", names.warp, warps - 1);
                let (low, high) = (-needs.lowest, needs.highest);
                let skipped = 32 * (shared.reach.above + shared.reach.below - low);
                let before = self.edges(it, names, row.field, [&version, &before], row.age);
                let after = self.edges(it, names, row.field, [&version, &after], row.age);
                let held = self.held_row(it, names, row);
                out.line(format!("tessella_take<{low}, {high}>({held}, {before} + {skipped}, {after}, {name}_lines);"));
            }
            if needs.on_lines.len() > 1 {
                let Wider { below, above, .. } = needs;
                let lines = needs.lines(size.lines);
                out.line(format!("{element} {name}[{lines}][{}];", below + i64::from(size.points) + above));
                let line = &names.line;
                each_line(it, names, 0..needs.highest - needs.lowest, out, &mut |out| {
                    out.line(format!("tessella_beside<{below}, {above}>({name}_lines[{line}], {name}[{line}]);"));
                });
            }
        }
    }

    /// Where a lane finds a line of a row, so far from the one computed.
    fn line_of(&self, it: &Streaming, names: &Locals, row: Row, needs: &Wider, offset: i64) -> String {
        match needs.is_shared() {
            true => format!("{}_lines[{}]", self.row_name(it, row), by(&names.line, offset - needs.lowest)),
            false => format!("{}[{}]", self.held_row(it, names, row), by(&names.line, offset)),
        }
    }

    /// What a stage calls a row that it reads.
    fn row_name(&self, it: &Streaming, row: Row) -> String {
        let field = &it.stream.fields[row.field];
        let array = &self.program.names.arrays[field.array.0 as usize];
        let level = field.level.map(|level| format!("_level{level}")).unwrap_or_default();
        let fresh = if row.fresh { "_new" } else { "" };
        self.program.names.namer().fresh(&format!("{array}{level}_{}{fresh}", row.age))
    }

    /// Where a lane holds a row, given its field, whether the step has computed it, and its age.
    pub(super) fn held(&self, it: &Streaming, names: &Locals, (field, fresh, age): (usize, bool, i64)) -> String {
        self.held_row(it, names, Row { field, fresh, age })
    }

    fn held_row(&self, it: &Streaming, names: &Locals, row: Row) -> String {
        let version = if row.fresh { format!("{} + 1", names.step) } else { names.step.clone() };
        let slot = match row.age {
            0 => names.turn.clone(),
            age => format!("({} + {}) % {}", names.turn, it.stream.depth - age, it.stream.depth),
        };
        format!("{}[{version}][{slot}]", names.fields[row.field].rows)
    }

    /// Declares the rows that a stage reads, and notes what each read is called.
    fn operands(&mut self, it: &Streaming, names: &Locals, stage: &Stage, out: &mut Writer) {
        let points = it.stream.size.points;
        let mut called: BTreeMap<Row, (String, i64, bool)> = BTreeMap::new();
        for (row, needs) in wider(stage) {
            let element = c_type(self.input.algorithm.array(it.stream.fields[row.field].array).element);
            let name = self.row_name(it, row);
            let held_row = self.held_row(it, names, row);
            match needs.on_lines.iter().next() {
                // Planes are read where they are held.
                None if has_lines(it) => {}
                None => out.line(format!("const {element} (&{name}){} = {held_row};", held(it))),
                // Lines before this one are there.
                Some(_) if needs.on_lines.len() > 1 => {
                    let Wider { below, above, .. } = needs;
                    let (from, line) = (
                        self.line_of(it, names, row, &needs, needs.highest),
                        by(&names.line, needs.highest - needs.lowest),
                    );
                    out.line(format!("tessella_beside<{below}, {above}>({from}, {name}[{line}]);"));
                }
                Some(offset) => {
                    let Wider { below, above, .. } = needs;
                    let from = match has_lines(it) {
                        true => self.line_of(it, names, row, &needs, *offset),
                        false => held_row,
                    };
                    out.line(format!("{element} {name}[{}];", below + i64::from(points) + above));
                    out.line(format!("tessella_beside<{below}, {above}>({from}, {name});"));
                }
            }
            called.insert(row, (name, needs.below, needs.on_lines.len() != 1));
        }
        self.streamed.clear();
        for (position, read) in stage.fetched().enumerate() {
            if let Source::Field { field, fresh, offset, age } = read {
                let row = Row { field, fresh, age };
                let (name, below, all_lines) = &called[&row];
                let needs = wider_of(stage, row);
                let point = by(&names.point, below + offset[0]);
                let text = match (has_lines(it), *all_lines) {
                    (false, _) => format!("{name}[{point}]"),
                    (true, true) if needs.on_lines.is_empty() => {
                        format!("{}[{point}]", self.line_of(it, names, row, &needs, offset[1]))
                    }
                    (true, true) => format!("{name}[{}][{point}]", by(&names.line, offset[1] - needs.lowest)),
                    (true, false) if needs.on_lines.contains(&offset[1]) => format!("{name}[{point}]"),
                    // Another line of the row, straight above or below.
                    (true, false) => {
                        format!("{}[{}]", self.line_of(it, names, row, &needs, offset[1]), names.point)
                    }
                };
                self.streamed.insert(position as u32, text);
            }
        }
    }

    /// Whether a point's value can be computed where it is not wanted: it takes no memory, and most points want it.
    pub(super) fn may_be_computed_outside(&self, stage: &Stage) -> bool {
        let written = self.input.algorithm.computation(stage.computation).value.ty;
        let is_harmless = written.is_float() && !self.reads_memory(stage);
        is_harmless && stage.thin == [false; 3]
    }

    /// Whether the loop has a time step of a launch, where a launch may make more than it has.
    pub(super) fn makes(&self, it: &Streaming, stage: &Stage, step: &str) -> Option<String> {
        it.rest.map(|rest| match rest.turns {
            None => format!("{step} < {}", self.variable(rest.steps)),
            Some(turns) => {
                let turn = by(&format!("{} * {step}", it.stream.period), stage.turn);
                format!("{turn} < {}", self.variable(turns))
            }
        })
    }

    /// Binds the iterators of time, lines and rows, where the statement mentions them.
    fn iterators(&mut self, it: &Streaming, names: &Locals, at: usize, base: &str, out: &mut Writer) {
        let stage = &it.stream.stages[at];
        let [_, line, row] = stage.iterators;
        if self.mentions_time(stage) {
            let name = self.variable(it.iterators[at][stage.time as usize]).to_string();
            out.line(format!("const int64_t {name} = {};", self.time_of(it, stage, &names.step)));
        }
        let line_there = format!("{} + {}", names.top, names.line);
        let line_there = match &it.rounds[1] {
            Some(_) => format!("{line_there} + {}[{}]", names.around[1], names.line),
            None => line_there,
        };
        let row_there = format!("{base} + {}", names.here);
        let row_there = match self.row_around(it, names, [&names.here, &names.safe]) {
            Some(around) => format!("{row_there} + {around}"),
            None => row_there,
        };
        let places = [(line, line_there, stage.shift[1]), (row, row_there, stage.shift[2])];
        for (iterator, place, shift) in places {
            if let Some(iterator) = iterator.filter(|it| self.mentions(stage, *it)) {
                let name = self.variable(it.iterators[at][iterator as usize]).to_string();
                out.line(format!("const int64_t {name} = {};", by(&place, -shift)));
            }
        }
    }

    /// What the iterator of the time loop is where a stage runs, in a time step of a launch.
    pub(super) fn time_of(&self, it: &Streaming, stage: &Stage, step: &str) -> String {
        let first = self.variable(it.first);
        let number = match it.stream.period {
            1 => format!("{first} + {step}"),
            period => by(&format!("{first} + {period} * ({step})"), stage.turn),
        };
        match it.stream.way {
            Way::Up => number,
            Way::Down => format!("-({number})"),
        }
    }

    /// Whether the text of a stage has an iterator: as a value, or in the subscripts of memory.
    pub(super) fn mentions(&self, stage: &Stage, iterator: u32) -> bool {
        self.mentions_but(stage, iterator, &[])
    }

    /// The same without some of its reads.
    pub(super) fn mentions_but(&self, stage: &Stage, iterator: u32, reads: &[u32]) -> bool {
        let computation = self.input.algorithm.computation(stage.computation);
        let mut found = false;
        for expr in self.input.expressions(stage.computation) {
            rounds::walk(stage, expr, &mut |expr| {
                found |= matches!(&expr.kind, ExprKind::Index(affine) if affine.involves_iterator(iterator));
            });
        }
        found || in_subscripts(&computation.reads, stage, iterator, reads)
    }
}

/// `text + number`, as one writes it.
pub(super) fn by(text: &str, number: i64) -> String {
    match number {
        0 => text.to_string(),
        number if number < 0 => format!("{text} - {}", -number),
        number => format!("{text} + {number}"),
    }
}
