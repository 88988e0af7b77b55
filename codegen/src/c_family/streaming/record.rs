//! What a stream writes down of a time step as its rows pass: see `tessella_polyhedral::stream`.

use super::super::expr::Instance;
use super::super::{Printer, Writer};
use super::stage::by;
use super::{Locals, all_lines, has_lines, of_line, on_line, stores_row};
use crate::int_expr::IntExpr;
use crate::stream::Streaming;
use tessella_polyhedral::stream::{Source, Stage};

impl Printer<'_> {
    /// The points of `which` that a lane writes down: others that compute them, too, store something else.
    pub(super) fn recorded(&self, it: &Streaming, names: &Locals, which: &str) -> String {
        let [first, last] = &names.band;
        let stored = match has_lines(it) {
            true => self.masked(it, &names.stores, ["0", first, last]),
            false => names.stores.clone(),
        };
        format!("{stored} & {which}")
    }

    /// Writes down what a step computes, where a row of that is one that the warp stores.
    pub(super) fn record(&mut self, it: &Streaming, names: &Locals, record: usize, out: &mut Writer) {
        let (stage, at) = (&it.stream.records[record], it.stream.stages.len() + record);
        let own = &names.stages[at];
        let size = it.stream.size;
        let Locals { now, step, point, here, inside, base, safe, .. } = names;
        let lag = match (it.stream.lag, stage.lag) {
            (lag, 0) => format!("{lag} * {step}"),
            (lag, more) => format!("({lag} * {step} + {more})"),
        };
        out.open("");
        self.origin(stage.computation, out);
        out.line(format!("[[maybe_unused]] const int {here} = {now} - {lag};"));
        let calm = if stage.thin[2] { format!("!{safe} && ") } else { String::new() };
        let rows = format!("{here} >= {} && {here} <= {} && {}", own.first, own.last, stores_row(it, names, here));
        let makes = self.makes(it, stage, step).map(|makes| format!(" && {makes}")).unwrap_or_default();
        out.open(format!("if ({calm}{}{makes} && {rows})", own.within));
        if has_lines(it) {
            let lines = all_lines(it);
            out.line("#pragma unroll");
            out.open(format!("for (int {0} = {1}; {0} < {2}; {0}++)", names.line, lines.start, lines.end));
        }
        out.line(format!("const unsigned {inside} = {};", on_line(it, names, &own.within)));
        self.iterators_of_record(it, names, (stage, at), base, out);
        out.line("#pragma unroll");
        out.open(format!("for (int {point} = 0; {point} < {}; {point}++)", size.points));
        out.open(format!("if ({inside} >> {point} & 1)"));
        if let Some(along_x) = stage.iterators[0] {
            let x = self.variable(it.iterators[at][along_x as usize]).to_string();
            let place = by(&format!("{} + {point}", names.column), -stage.shift[0]);
            out.line(format!("[[maybe_unused]] const int64_t {x} = {place};"));
        }
        self.streamed.clear();
        self.call_fixed(&own.fixed, &format!("[{step}]"));
        for (position, read) in stage.reads.iter().enumerate() {
            if let Source::Field { field, fresh, age, .. } = *read {
                let row = self.held(it, names, (field, fresh, age));
                self.streamed.insert(position as u32, format!("{row}{}[{point}]", of_line(it, names)));
            }
        }
        self.write_down(it, at, out);
        self.streamed.clear();
        out.close();
        out.close();
        if has_lines(it) {
            out.close();
        }
        out.close();
        out.close();
    }

    /// The statement of what records, once its iterators are bound and what it reads of fields has names.
    pub(super) fn write_down(&mut self, it: &Streaming, at: usize, out: &mut Writer) {
        let computation = it.stream.nest(at).computation;
        let iterators: Vec<IntExpr> = it.iterators[at].iter().copied().map(IntExpr::Variable).collect();
        let instance = Instance { computation, iterators: &iterators };
        let source = self.input.algorithm.computation(computation);
        self.lets(&instance, out);
        let value = self.value(&source.value, &instance).0;
        let target = self.element(&source.write, &instance).0;
        out.line(format!("{target} = {value};"));
    }

    /// Binds its iterators of time, lines and rows.
    fn iterators_of_record(
        &self,
        it: &Streaming,
        names: &Locals,
        (stage, at): (&Stage, usize),
        base: &str,
        out: &mut Writer,
    ) {
        let [_, line, row] = stage.iterators;
        let places = [
            (Some(stage.time), self.time_of(it, stage, &names.step)),
            (line, by(&format!("{} + {}", names.top, names.line), -stage.shift[1])),
            (row, by(&format!("{base} + {}", names.here), -stage.shift[2])),
        ];
        for (iterator, place) in places {
            if let Some(iterator) = iterator {
                let name = self.variable(it.iterators[at][iterator as usize]);
                out.line(format!("[[maybe_unused]] const int64_t {name} = {place};"));
            }
        }
    }
}
