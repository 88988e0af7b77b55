//! How rows come and go: from and to memory, and from warp to warp.

use super::super::{Printer, Writer, c_type};
use super::names::Locals;
use super::{all_lines, bits, each_line, has_lines, of_line, on_line};
use crate::int_text::{Precedence, within};
use crate::stream::Streaming;
use tessella_polyhedral::stream::{LANES, Reach, Shared};

/// Whether neighbouring points move together.
#[derive(Clone, Copy)]
pub(super) enum Packs {
    IfAligned,
    /// Some of a pack may move, and some not.
    Never,
}

impl Printer<'_> {
    /// The points of all lines of a lane that lie within these columns and lines, or whose axis goes round; the ends are texts.
    pub(super) fn points(&self, it: &Streaming, names: &Locals, [columns, lines]: &[(String, String); 2]) -> String {
        let columns = match &it.rounds[0] {
            Some(_) => ((1u32 << it.stream.size.points) - 1).to_string(),
            None => self.columns(it, names, columns),
        };
        let lines = match &it.rounds[1] {
            Some(_) => ["0".to_string(), "0".to_string(), it.stream.size.lines.to_string()],
            None => [names.top.clone(), lines.0.clone(), lines.1.clone()],
        };
        if has_lines(it) { self.masked(it, &columns, [&lines[0], &lines[1], &lines[2]]) } else { columns }
    }

    /// The same, whether an axis goes round or not.
    pub(super) fn points_there(
        &self,
        it: &Streaming,
        names: &Locals,
        [columns, lines]: &[(String, String); 2],
    ) -> String {
        let columns = self.columns(it, names, columns);
        if has_lines(it) { self.masked(it, &columns, [&names.top, &lines.0, &lines.1]) } else { columns }
    }

    fn columns(&self, it: &Streaming, names: &Locals, (low, high): &(String, String)) -> String {
        format!("tessella_within<{}>({}, {low}, {high})", it.stream.size.points, names.column)
    }

    /// Declares how far away the columns and lines of a warp at the rims lie where their axes go round.
    pub(super) fn ways_round(&mut self, it: &Streaming, names: &Locals, out: &mut Writer) {
        let size = it.stream.size;
        let of_axis = [(0, &names.column, &names.point, size.points), (1, &names.top, &names.line, size.lines)];
        for (axis, first, at, count) in of_axis {
            let Some(period) = &it.rounds[axis] else { continue };
            let (way, period) = (&names.around[axis], self.int(period));
            out.line(format!("[[maybe_unused]] int64_t {way}[{count}];"));
            out.line("#pragma unroll");
            out.line(format!(
                "for (int {at} = 0; {at} < {count}; {at}++) {way}[{at}] = inner ? 0 : tessella_gone_round({first} + {at}, {period});"
            ));
        }
    }

    /// How far away a row lies, counted from the first one that is computed, where rows go round; `safe` says where it is not beyond their ends.
    pub(super) fn row_around(&mut self, it: &Streaming, names: &Locals, [row, safe]: [&str; 2]) -> Option<String> {
        let period = self.int(it.rounds[2].as_ref()?);
        let around = format!("tessella_gone_round({} + ({row}), {period})", names.base);
        Some(if safe == "false" { around } else { format!("({safe} ? 0 : {around})") })
    }

    pub(super) fn masked(&self, it: &Streaming, which: &str, [line, low, high]: [&str; 3]) -> String {
        let size = it.stream.size;
        format!("tessella_on_lines<{}, {}, {}>({which}, {line}, {low}, {high})", bits(it), size.lines, size.points)
    }

    /// The fields of which warps share lines.
    pub(super) fn shared(&self, it: &Streaming) -> Vec<(usize, Shared)> {
        let fields = 0..it.stream.fields.len();
        fields.filter_map(|field| Some((field, it.stream.shared_lines(field)?))).collect()
    }

    /// That the rows of a field can be read and written in packs.
    pub(super) fn packed(&mut self, it: &Streaming, field: usize) -> String {
        let (from, to) = self.field_buffers(it, field);
        let (element, points) = (self.element_of(it, field), it.stream.size.points);
        let columns = self.int(&it.extents[field][0]);
        let before = self.before(it, field);
        // Packs end where the array does, and where what goes round does.
        let of_period = match &it.rounds[0] {
            Some(period) if *period != it.extents[field][0] => {
                format!(" && {} % {points} == 0", within(self.int_bound(period), Precedence::Unary))
            }
            _ => String::new(),
        };
        let packed =
            |buffer: &str| format!("tessella_packed<{element}, {points}>({buffer}{before}, {columns}){of_period}");
        match from == to {
            true => packed(&from),
            false => format!("{} && {}", packed(&from), packed(&to)),
        }
    }

    pub(super) fn element_of(&self, it: &Streaming, field: usize) -> &'static str {
        c_type(self.input.algorithm.array(it.stream.fields[field].array).element)
    }

    /// Where the lines are that a warp gives of a version, a number of planes ago; `version` and `warp` are texts.
    pub(super) fn edges(
        &self,
        it: &Streaming,
        names: &Locals,
        field: usize,
        [version, warp]: [&str; 2],
        age: i64,
    ) -> String {
        let shared = it.stream.shared_lines(field).expect("only shared lines have places");
        let own = &names.fields[field];
        let slot = match age - shared.given {
            0 => own.slot.clone(),
            ago => format!("({} + {}) % {}", own.slot, shared.planes - ago, shared.planes),
        };
        let (first, last) = shared.versions;
        let version = if first == 0 { version.to_string() } else { format!("({version} - {first})") };
        let packs = (shared.reach.below + shared.reach.above) * i64::from(LANES);
        let place = format!("(({slot}) * {} + {version}) * {} + {warp}", last - first + 1, it.stream.warps());
        format!("{} + ({place}) * {packs}", own.edges)
    }

    /// Gives lines of a plane of a version, the one that will be read next, to the warps beside this one, if they need them; `version` is a number,
    /// or one more than the step.
    pub(super) fn give(&self, it: &Streaming, names: &Locals, field: usize, more: i64, out: &mut Writer) {
        let Some(shared) = it.stream.shared_lines(field) else { return };
        let (first, last) = shared.versions;
        let version = match more {
            0 if first > 0 => return,
            0 => "0".to_string(),
            _ => format!("({} + 1)", names.step),
        };
        if more > 0 && last < i64::from(it.stream.size.steps) {
            out.line(format!("if ({} < {last})", names.step));
        }
        let place = self.edges(it, names, field, [&version, &names.warp], shared.given);
        let Reach { below, above } = shared.reach;
        let slot = match shared.given {
            0 => names.turn.clone(),
            ago => format!("({} + {}) % {}", names.turn, it.stream.depth - ago, it.stream.depth),
        };
        out.line(format!("tessella_give<{above}, {below}>({}[{version}][{slot}], {place});", names.fields[field].rows));
    }

    /// The buffers that a field is loaded from and stored to.
    pub(super) fn field_buffers(&self, it: &Streaming, field: usize) -> (String, String) {
        let name =
            |buffer: tessella_polyhedral::layers::BufferId| self.program.names.buffers[buffer.0 as usize].clone();
        let (from, to) = it.buffers[field];
        (name(from), name(to))
    }

    /// Where a lane's points of the first line of a row lie in a buffer.
    pub(super) fn corner(&mut self, it: &Streaming, names: &Locals, field: usize, buffer: &str, row: &str) -> String {
        let columns = within(self.int_bound(&it.extents[field][0]), Precedence::Unary);
        let line = match has_lines(it) {
            false => format!("{} + {row} - 1", names.base),
            true => {
                let lines = within(self.int_bound(&it.extents[field][1]), Precedence::Unary);
                format!("{} - 1 + ({} + {row} - 1) * {lines}", names.top, names.base)
            }
        };
        let before = self.before(it, field);
        format!("{buffer}{before} + ({} - 1) + ({line}) * {columns}", names.column)
    }

    /// What has to be added to the place of an array to get to the level that a field is.
    pub(super) fn before(&mut self, it: &Streaming, field: usize) -> String {
        let before = it.before(field).map(|before| within(self.int_bound(&before), Precedence::Sum));
        before.map(|before| format!(" + {before}")).unwrap_or_default()
    }

    /// Where a lane's points of a line lie, given where those of the first one do.
    pub(super) fn of_corner(&mut self, it: &Streaming, names: &Locals, field: usize, corner: &str) -> String {
        if !has_lines(it) {
            return corner.to_string();
        }
        let columns = within(self.int_bound(&it.extents[field][0]), Precedence::Unary);
        let (stride, line) = (&names.fields[field].stride, &names.line);
        format!("{corner} + (inner ? {line} * {stride} : {line} * {columns})")
    }

    /// Loads a row from before the launch. Of fields that are not carried, only warps at the rims need it, and only
    /// what no stage computes: other points may be stored at the same time.
    pub(super) fn load(
        &mut self,
        it: &Streaming,
        names: &Locals,
        field: usize,
        (row, safe): (&str, &str),
        out: &mut Writer,
    ) {
        let own = &names.fields[field];
        let corner = match self.row_around(it, names, [row, safe]) {
            None => own.from.clone(),
            Some(around) => format!("{} + {around} * {}", own.from, own.plane),
        };
        let mut place = self.of_corner(it, names, field, &corner);
        if it.rounds[1].is_some() {
            let columns = within(self.int_bound(&it.extents[field][0]), Precedence::Product);
            place.push_str(&format!(" + (inner ? 0 : {}[{}] * {columns})", names.around[1], names.line));
        }
        let ahead = format!("{}{}", own.ahead, of_line(it, names));
        let where_there = |known: &str, which: String| match &it.rounds[2] {
            None => format!(
                "{known}{row} >= {} && {row} <= {}{} ? {which} : 0",
                own.first,
                own.last,
                if known.is_empty() { "" } else { ")" }
            ),
            Some(_) => which,
        };
        let (packs, condition, text) = if it.is_carried(field) {
            let which = where_there(&format!("{safe} || ("), on_line(it, names, &own.has));
            (Packs::IfAligned, String::new(), format!("({place}, {which}, {ahead});"))
        } else {
            let computed = it.stream.writers(field).map(|stage| {
                let stage = &names.stages[stage];
                match &it.rounds[2] {
                    None => format!("({row} >= {} && {row} <= {} ? {} : 0)", stage.first, stage.last, stage.within),
                    Some(_) => stage.within.clone(),
                }
            });
            let computed: Vec<String> = computed.collect();
            let which = on_line(it, names, &format!("({} & ~({}))", own.has, computed.join(" | ")));
            // Elsewhere a stage computes all of it, but for fields of which only edges are computed.
            let only_edges = it.stream.writers(field).all(|writer| it.stream.stages[writer].thin != [false; 3]);
            let where_needed = if only_edges { String::new() } else { format!("if (!{safe} || !inner) ") };
            (Packs::Never, where_needed, format!("({place}, {}, {ahead});", where_there("", which)))
        };
        if it.rounds[0].is_some() {
            out.open("if (inner)");
        }
        self.move_lines(it, names, packs, [&format!("{condition}tessella_load"), &text], out);
        if it.rounds[0].is_some() {
            out.reopen("else");
            let text = text.replacen('(', &format!("({}, ", names.around[0]), 1);
            each_line(it, names, all_lines(it), out, &mut |out| {
                out.line(format!("{condition}tessella_load_around{text}"));
            });
            out.close();
        }
    }

    /// Loads or stores all lines of a row: a function, and its arguments.
    pub(super) fn move_lines(
        &self,
        it: &Streaming,
        names: &Locals,
        packs: Packs,
        [function, arguments]: [&str; 2],
        out: &mut Writer,
    ) {
        let lines = |packed: bool, out: &mut Writer| {
            each_line(it, names, all_lines(it), out, &mut |out| out.line(format!("{function}<{packed}>{arguments}")));
        };
        match packs {
            Packs::Never => lines(false, out),
            Packs::IfAligned => {
                out.open(format!("if ({})", names.packed));
                lines(true, out);
                out.close();
                out.open("else");
                lines(false, out);
                out.close();
            }
        }
    }

    /// Stores the points of `which` on all lines of a row; both are texts.
    pub(super) fn store(
        &mut self,
        it: &Streaming,
        names: &Locals,
        (field, packs): (usize, Packs),
        row: &str,
        [which, value]: [&str; 2],
        out: &mut Writer,
    ) {
        let corner = match it.rest.is_none() && it.is_carried(field) {
            true => names.fields[field].to.clone(),
            false => {
                let (_, to) = self.field_buffers(it, field);
                self.corner(it, names, field, &to, row)
            }
        };
        let place = self.of_corner(it, names, field, &corner);
        self.move_lines(it, names, packs, ["tessella_store", &format!("({place}, {which}, {value});")], out);
    }
}
