//! What one stage of a stream does in one iteration: its operands, its points, and their store.

use super::super::expr::Instance;
use super::super::{Printer, Writer, c_type};
use super::{Locals, before_end, each_line, has_lines, held, of_line, stored_lines};
use crate::int_expr::IntExpr;
use crate::stream::Streaming;
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::algorithm::Subscript;
use tessella_polyhedral::expr::ExprKind;
use tessella_polyhedral::stream::{Source, Stage};

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

/// The rows that a stage reads.
fn wider(stage: &Stage) -> BTreeMap<Row, Wider> {
    let mut rows: BTreeMap<Row, Wider> = BTreeMap::new();
    for read in &stage.reads {
        if let Source::Field { field, fresh, offset, age } = read {
            let needs = rows.entry(Row { field: *field, fresh: *fresh, age: *age }).or_default();
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
    pub(super) fn stage(&mut self, it: &Streaming, names: &Locals, at: usize, back: i64, out: &mut Writer) {
        let stage = &it.stream.stages[at];
        let field = &names.fields[stage.field];
        let own = &names.stages[at];
        let size = it.stream.size;
        let Locals { now, turn, step, point, here, inside, value, base, stores, .. } = names;
        let element = c_type(self.input.algorithm.array(it.stream.fields[stage.field].array).element);
        let steps = it.rest.map(|rest| self.variable(rest.steps).to_string());
        out.open("");
        self.origin(stage.computation, out);
        let lag = match (it.stream.lag, stage.lag) {
            (lag, 0) => format!("{lag} * {step}"),
            (lag, more) => format!("({lag} * {step} + {more})"),
        };
        out.line(format!("const int {here} = {now} - {lag};"));
        let lines = it.stream.lines(at);
        self.planes(it, names, at, out);
        if has_lines(it) {
            out.line("#pragma unroll");
            out.open(format!("for (int {0} = {1}; {0} < {2}; {0}++)", names.line, lines.start, lines.end));
        }
        let mut rows = format!("{here} >= {} && {here} <= {}", own.first, own.last);
        if has_lines(it) {
            rows.push_str(&format!(" && {0} >= {1} && {0} <= {2}", names.line, own.first_line, own.last_line));
        }
        let condition = match &steps {
            Some(steps) => format!("(inner || ({rows})) && {step} < {steps}"),
            None => format!("inner || ({rows})"),
        };
        out.line(format!("const unsigned {inside} = {condition} ? {} : 0;", own.within));
        self.operands(it, names, stage, out);
        self.iterators(it, names, at, base, out);
        out.line(format!("{element} {value}[{}];", size.points));
        out.line("#pragma unroll");
        out.open(format!("for (int {point} = 0; {point} < {}; {point}++)", size.points));
        let along_x = stage.iterators[0].expect("all arrays have columns");
        let x = it.iterators[at][along_x as usize];
        if self.mentions(stage, along_x) {
            let shifted = by(&format!("{} + {point}", names.column), -stage.shift[0]);
            out.line(format!("const int64_t {} = {shifted};", self.variable(x)));
        }
        let iterators: Vec<IntExpr> = it.iterators[at].iter().copied().map(IntExpr::Variable).collect();
        let instance = Instance { computation: stage.computation, iterators: &iterators };
        let source = self.input.algorithm.computation(stage.computation);
        for (position, binding) in source.lets.iter().enumerate() {
            let text = self.value(&binding.value, &instance).0;
            let name = &self.program.names.lets[stage.computation.0 as usize][position];
            out.line(format!("const {} {name} = {text};", c_type(binding.value.ty)));
        }
        let text = self.value(&source.value, &instance).0;
        self.streamed.clear();
        let kept = match it.stream.fields[stage.field].rim {
            true => {
                let slot = format!("({turn} + {}) % {}", it.stream.depth - it.stream.lag, it.stream.depth);
                format!("{}[{step}][{slot}]{}[{point}]", field.rows, of_line(it, names))
            }
            false => format!("({element})0"),
        };
        out.line(format!("{value}[{point}] = {inside} >> {point} & 1 ? {text} : {kept};"));
        out.close();
        out.line("#pragma unroll");
        out.line(format!(
            "for (int {point} = 0; {point} < {}; {point}++) {}[{step} + 1][{turn}]{}[{point}] = {value}[{point}];",
            size.points,
            field.rows,
            of_line(it, names)
        ));
        let mut stored = format!("{stores} && {here} >= {back} && {here} < {}", back + i64::from(size.rows));
        let band = stored_lines(it);
        if has_lines(it) && band != lines {
            stored.push_str(&format!(" && {0} >= {1} && {0} < {2}", names.line, band.start, band.end));
        }
        let moment = match &steps {
            Some(steps) => format!("{step} + 1 == {steps}"),
            None => format!("{step} == {}", size.steps - 1),
        };
        let done = match (it.is_carried(stage.field), &it.rest) {
            (true, _) => Some((
                format!("{moment} && {stored}"),
                format!("inner || {here} <= {}{} ? {} : 0", field.last, before_end(it, names, field), field.has),
            )),
            (false, Some(rest)) => {
                let last = self.variable(rest.last);
                Some((format!("{last} && {moment} && {inside} && {stored}"), own.within.clone()))
            }
            (false, None) => None,
        };
        if let Some((condition, which)) = done {
            out.open(format!("if ({condition})"));
            self.store(it, names, stage.field, here, [&which, value], out);
            out.close();
        }
        if has_lines(it) {
            out.close();
        }
        out.close();
    }

    /// Declares, for all lines, the rows of which a stage needs points to the sides on several lines, and gets those that
    /// it needs before its first line but one; each further line follows where the stage first needs it.
    fn planes(&mut self, it: &Streaming, names: &Locals, at: usize, out: &mut Writer) {
        let (stage, size) = (&it.stream.stages[at], it.stream.size);
        let first = it.stream.lines(at).start;
        for (row, needs) in wider(stage).into_iter().filter(|(_, needs)| needs.on_lines.len() > 1) {
            let Wider { below, above, .. } = needs;
            let element = c_type(self.input.algorithm.array(it.stream.fields[row.field].array).element);
            let name = self.row_name(it, row);
            out.line(format!("{element} {name}[{}][{}];", size.lines, below + i64::from(size.points) + above));
            let held = self.held_row(it, names, row);
            let line = &names.line;
            each_line(it, names, first + needs.lowest..first + needs.highest, out, &mut |out| {
                out.line(format!("tessella_beside<{below}, {above}>({held}[{line}], {name}[{line}]);"));
            });
        }
    }

    /// What a stage calls a row that it reads.
    fn row_name(&self, it: &Streaming, row: Row) -> String {
        let array = &self.program.names.arrays[it.stream.fields[row.field].array.0 as usize];
        let fresh = if row.fresh { "_new" } else { "" };
        self.program.names.namer().fresh(&format!("{array}_{}{fresh}", row.age))
    }

    /// Where a lane holds a row.
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
                None => out.line(format!("const {element} (&{name}){} = {held_row};", held(it))),
                // Lines before this one are there.
                Some(_) if needs.on_lines.len() > 1 => {
                    let (Wider { below, above, .. }, line) = (&needs, by(&names.line, needs.highest));
                    out.line(format!("tessella_beside<{below}, {above}>({held_row}[{line}], {name}[{line}]);"));
                }
                Some(offset) => {
                    let Wider { below, above, .. } = needs;
                    let from = match has_lines(it) {
                        true => format!("{held_row}[{}]", by(&names.line, *offset)),
                        false => held_row,
                    };
                    out.line(format!("{element} {name}[{}];", below + i64::from(points) + above));
                    out.line(format!("tessella_beside<{below}, {above}>({from}, {name});"));
                }
            }
            called.insert(row, (name, needs.below, needs.on_lines.len() != 1));
        }
        self.streamed.clear();
        for (position, read) in stage.reads.iter().enumerate() {
            if let Source::Field { field, fresh, offset, age } = read {
                let row = Row { field: *field, fresh: *fresh, age: *age };
                let (name, below, all_lines) = &called[&row];
                let needs = wider_of(stage, row);
                let point = by(&names.point, below + offset[0]);
                let text = match (has_lines(it), *all_lines) {
                    (false, _) => format!("{name}[{point}]"),
                    (true, true) => format!("{name}[{}][{point}]", by(&names.line, offset[1])),
                    (true, false) if needs.on_lines.contains(&offset[1]) => format!("{name}[{point}]"),
                    // Another line of the row, straight above or below.
                    (true, false) => {
                        let held = self.held_row(it, names, row);
                        format!("{held}[{}][{}]", by(&names.line, offset[1]), names.point)
                    }
                };
                self.streamed.insert(position as u32, text);
            }
        }
    }

    /// Binds the iterators of time, lines and rows, where the statement mentions them.
    fn iterators(&mut self, it: &Streaming, names: &Locals, at: usize, base: &str, out: &mut Writer) {
        let stage = &it.stream.stages[at];
        let [_, line, row] = stage.iterators;
        if self.mentions(stage, stage.time) {
            let name = self.variable(it.iterators[at][stage.time as usize]).to_string();
            out.line(format!("const int64_t {name} = {} + {};", self.variable(it.first), names.step));
        }
        let places = [
            (line, format!("{} + {}", names.top, names.line), stage.shift[1]),
            (row, format!("{base} + {}", names.here), stage.shift[2]),
        ];
        for (iterator, place, shift) in places {
            if let Some(iterator) = iterator.filter(|it| self.mentions(stage, *it)) {
                let name = self.variable(it.iterators[at][iterator as usize]).to_string();
                out.line(format!("const int64_t {name} = {};", by(&place, -shift)));
            }
        }
    }

    /// Whether the text of a stage has an iterator: as a value, or in the subscripts of memory.
    fn mentions(&self, stage: &Stage, iterator: u32) -> bool {
        let computation = self.input.algorithm.computation(stage.computation);
        let mut found = false;
        for expr in self.input.expressions(stage.computation) {
            expr.walk(&mut |expr| {
                found |= matches!(&expr.kind, ExprKind::Index(affine) if affine.involves_iterator(iterator));
            });
        }
        found
            || computation.reads.iter().zip(&stage.reads).any(|(read, source)| {
                let uses = |it: &Subscript| it.as_affine().is_some_and(|affine| affine.involves_iterator(iterator));
                *source == Source::Memory && read.subscripts.iter().any(uses)
            })
    }
}

/// `text + number`, as one writes it.
fn by(text: &str, number: i64) -> String {
    match number {
        0 => text.to_string(),
        number if number < 0 => format!("{text} - {}", -number),
        number => format!("{text} + {number}"),
    }
}
