//! Kernels whose blocks keep their tiles of the domain for all time steps.
//!
//! A kernel finds out which tile each of its blocks has; a function template makes the steps, in versions for tiles with few rows and with
//! many. Whatever a block computes lies at fixed distances from a thread's own points, so that addresses are constants.

mod helpers;

pub use helpers::RESIDENT_HELPERS;

use super::super::expr::Instance;
use super::super::{Printer, Writer, c_type};
use super::fixed::FixedNames;
use super::stage::by;
use crate::int_expr::IntExpr;
use crate::int_text::{Precedence, within};
use crate::stream::{Residing, Streaming};
use tessella_polyhedral::stream::resident::Held;
use tessella_polyhedral::stream::{LANES, Resident, Source, Stage};

/// A loop over a thread's points, unrolled: one column after the other, so that rows above each other share what they read.
fn each_point(names: &Locals, resident: &Resident, out: &mut Writer, body: &mut dyn FnMut(&mut Writer)) {
    let Locals { point, row, rows, .. } = names;
    out.line("#pragma unroll");
    out.open(format!("for (int {point} = 0; {point} < {}; {point}++)", resident.size.points));
    out.line("#pragma unroll");
    out.open(format!("for (int {row} = 0; {row} < {rows}; {row}++)"));
    body(out);
    out.close();
    out.close();
}

/// Along columns and rows, whether a thread has at most one point of a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Single {
    column: bool,
    row: bool,
}

impl Single {
    const NONE: Single = Single { column: false, row: false };

    /// Edges of a domain. What lies in registers needs subscripts that are known.
    fn of(it: &Streaming, resident: &Resident, at: usize) -> Single {
        let stage = &it.stream.stages[at];
        if resident.waits[at].between {
            return Single::NONE;
        }
        let read = stage.reads.iter().filter_map(|read| match read {
            Source::Field { field, .. } => Some(*field),
            Source::Memory | Source::Unused => None,
        });
        if read.chain([stage.field]).any(|field| resident.held[field] == Held::Registers) {
            return Single::NONE;
        }
        let is_plain = !resident.is_line(&it.stream) && resident.lines(&it.stream) == 1;
        Single { column: stage.is_single(0), row: is_plain && stage.is_single(2) }
    }

    /// Which of the points that are gone through are a stage's, if not all.
    fn mask(self, own: &StageNames, names: &Locals) -> Option<String> {
        let Locals { point, row, .. } = names;
        match (self.row, self.column) {
            (false, false) => Some(format!("{} >> {row} & {} >> {point} & 1", own.rows, own.columns)),
            (true, false) => Some(format!("{} >> {point} & 1", own.columns)),
            (false, true) => Some(format!("{} >> {row} & 1", own.rows)),
            (true, true) => None,
        }
    }

    /// A loop over a thread's points of a stage, where it has any.
    fn each_point(
        self,
        own: &StageNames,
        (names, resident): (&Locals, &Resident),
        out: &mut Writer,
        body: &mut dyn FnMut(&mut Writer),
    ) {
        let Locals { point, row, rows, .. } = names;
        let points = resident.size.points;
        let mut along = |is_single: bool, of: &str, (index, count): (&str, &str)| {
            if is_single {
                out.line(format!("const int {index} = __ffs({of}) - 1;"));
            } else {
                out.line("#pragma unroll");
                out.open(format!("for (int {index} = 0; {index} < {count}; {index}++)"));
            }
        };
        along(self.column, &own.columns, (point, &points.to_string()));
        along(self.row, &own.rows, (row, rows));
        body(out);
        [self.column, self.row].iter().filter(|is_single| !**is_single).for_each(|_| out.close());
    }
}

/// Opens a version of a loop over a thread's points: the only one, the first of two, or the second.
fn version(condition: &str, out: &mut Writer) {
    match condition {
        "" => {}
        "else" => out.reopen(condition),
        condition => out.open(condition),
    }
}

/// Names of the text's own variables.
struct Locals {
    /// Subscripts of the first point of a tile.
    origin: [String; 3],
    /// The first column of a lane and the first row of a warp, counted from there, and rows of a warp.
    begin: String,
    first: String,
    rows: String,
    tile: String,
    /// The bits of all rows of a warp.
    every: String,
    owned: String,
    done: String,
    now: String,
    step: String,
    other: String,
    point: String,
    row: String,
    waiting: String,
    value: String,
    fields: Vec<FieldNames>,
    stages: Vec<StageNames>,
}

struct FieldNames {
    /// A tile in shared memory, a thread's first point there, or what it holds in registers.
    tile: String,
    own: String,
    held: String,
    exists: String,
    stored: String,
    of_line: String,
    of_plane: String,
    from: String,
}

struct StageNames {
    rows: String,
    columns: String,
    fixed: FixedNames,
}

/// The first and the last subscript along each axis.
type Limits = [(IntExpr, IntExpr); 3];

impl Printer<'_> {
    fn resident_locals(&self, it: &Streaming) -> Locals {
        let mut namer = self.program.names.namer();
        let fields = it.stream.fields.iter().map(|field| {
            let array = &self.program.names.arrays[field.array.0 as usize];
            let [tile, own, held, exists, stored, of_line, of_plane, from] =
                ["tile", "own", "held", "exists", "stored", "line", "plane", "from"]
                    .map(|what| namer.fresh(&format!("{array}_{what}")));
            FieldNames { tile, own, held, exists, stored, of_line, of_plane, from }
        });
        let fields = fields.collect();
        let stages = it.stream.nests().map(|stage| {
            let computation = &self.program.names.computations[stage.computation.0 as usize];
            let [rows, columns] = ["rows", "columns"].map(|what| namer.fresh(&format!("{computation}_{what}")));
            StageNames { rows, columns, fixed: self.fixed_names(stage, &mut namer) }
        });
        let stages = stages.collect();
        let mut name = |what: &str| namer.fresh(what);
        Locals {
            origin: [name("column"), name("line"), name("plane")],
            begin: name("begin"),
            first: name("first"),
            rows: name("rows"),
            tile: name("tile"),
            every: name("every"),
            owned: name("owned"),
            done: name("done"),
            now: name("now"),
            step: name("step"),
            other: name("is_other"),
            point: name("k"),
            row: name("r"),
            waiting: name("waiting"),
            value: name("value"),
            fields,
            stages,
        }
    }

    /// The function that makes all steps of a tile; `params` are those of the kernel.
    pub(super) fn resident_tile(
        &mut self,
        kernel: &str,
        params: &[String],
        (it, resident, residing): (&Streaming, &Resident, &Residing),
        out: &mut Writer,
    ) {
        let names = self.resident_locals(it);
        let stream = &it.stream;
        let (columns, lines, points) = (resident.columns(stream), resident.lines(stream), resident.size.points);
        let [column, line, plane] = &names.origin;
        let rows = &names.rows;
        out.line(match (resident.is_line(stream), lines) {
            (true, _) => format!("// {columns} points a block."),
            (false, 1) => format!("// {columns} columns a block, and so many rows a warp."),
            (false, lines) => format!(
                "// {columns} columns and {lines} lines of each plane a block, and so many lines of all planes a warp."
            ),
        });
        out.line(format!("template <int {rows}>"));
        out.line(format!("static __device__ __forceinline__ void {kernel}_tile("));
        params.iter().for_each(|param| out.line(format!("    {param},")));
        for field in self.in_shared(resident) {
            out.line(format!("    {} *const {},", self.element_of(it, field), names.fields[field].tile));
        }
        out.open(format!("    const int64_t {column}, const int64_t {line}, const int64_t {plane})"));
        let owned = &names.owned;
        out.line(format!("const int {owned} = (int){};", self.variable(residing.rows)));
        out.line(format!("[[maybe_unused]] const unsigned {} = ~0u >> ({LANES} - {rows});", names.every));
        let (begin, first) = (&names.begin, &names.first);
        if resident.is_line(stream) {
            out.line(format!(
                "const int {begin} = threadIdx.x / {LANES} * {} + threadIdx.x % {LANES};",
                LANES * points
            ));
            out.line(format!("const int {first} = 0;"));
        } else {
            out.line(format!("const int {begin} = threadIdx.x % {LANES}, {first} = threadIdx.x / {LANES} * {rows};"));
        }
        let [c, l, p] = resident.beside;
        out.line(format!(
            "typedef tessella_tile<{columns}, {lines}, {}, {}, {}, {}, {}, {}> {};",
            c.below, c.above, l.below, l.above, p.below, p.above, names.tile
        ));
        for field in 0..stream.fields.len() {
            self.resident_field(it, resident, &names, field, out);
        }
        for at in 0..names.stages.len() {
            self.resident_limits(it, resident, &names, at, out);
        }
        let moved: Vec<usize> = (0..stream.fields.len()).filter(|at| resident.exchanged[*at]).collect();
        let (done, now, step, other) = (&names.done, &names.now, &names.step, &names.other);
        let count = self.variable(residing.count).to_string();
        out.line("__syncthreads();");
        out.line(format!("int64_t {done} = 0;"));
        if !moved.is_empty() {
            out.line(format!("bool {other} = true;  // where rims go: to the copy first"));
        }
        out.open("for (;;)");
        let steps = resident.size.steps;
        out.line(format!("const int {now} = {count} - {done} < {steps} ? (int)({count} - {done}) : {steps};"));
        out.line("#pragma unroll 1");
        out.open(format!("for (int {step} = 0; {step} < {now}; {step}++)"));
        for at in 0..=stream.stages.len() {
            for (record, number) in stream.records.iter().zip(stream.stages.len()..) {
                if stream.stages_before(record) == at {
                    self.resident_record(it, (resident, residing), &names, number, out);
                }
            }
            if at < stream.stages.len() {
                self.resident_stage(it, (resident, residing), &names, at, out);
            }
        }
        out.close();
        out.line(format!("{done} += {now};"));
        out.line(format!("if ({done} == {count}) break;"));
        out.line("__syncthreads();");
        if !moved.is_empty() {
            let rims = |what: &str, out: &mut Writer| {
                for &field in &moved {
                    let (own, copy) = self.field_buffers(it, field);
                    let array = format!("({other} ? {copy} : {own})");
                    self.move_points(&names, field, [what, &array, &names.fields[field].exists], out);
                }
            };
            rims("give", out);
            out.line("tessella_grid_barrier();");
            rims("take", out);
            out.line("__syncthreads();");
            out.line(format!("{other} = !{other};"));
        }
        out.close();
        if !moved.is_empty() {
            // Others may still read rims where this block stores.
            out.line(format!("if ({count} > {steps}) tessella_grid_barrier();"));
        }
        out.line("__syncthreads();");
        for field in 0..stream.fields.len() {
            self.resident_store(it, resident, &names, field, out);
        }
        out.close();
    }

    fn in_shared(&self, resident: &Resident) -> Vec<usize> {
        (0..resident.held.len()).filter(|at| resident.held[*at] == Held::Shared).collect()
    }

    /// The first and the last point of a box along each axis, counted from the first one of the tile.
    fn bounds_in_tile(&mut self, names: &Locals, limits: &Limits) -> Vec<String> {
        let ends = limits.iter().zip(&names.origin).flat_map(|((low, high), origin)| [(low, origin), (high, origin)]);
        ends.map(|(end, origin)| {
            let end = within(self.int_bound(end), Precedence::Sum);
            format!("tessella_near({end} - {origin})")
        })
        .collect()
    }

    /// A box, as points of a tile.
    fn tile_box(&mut self, names: &Locals, limits: &Limits) -> String {
        format!("{{{}}}", self.bounds_in_tile(names, limits).join(", "))
    }

    /// Where a field's points are in memory, and those of a thread; loads them, where they are of interest.
    fn resident_field(&mut self, it: &Streaming, resident: &Resident, names: &Locals, field: usize, out: &mut Writer) {
        let own = &names.fields[field];
        let stream = &it.stream;
        let element = self.element_of(it, field);
        let extents = it.extents[field].clone();
        let exists = extents.clone().map(|extent| (IntExpr::Const(1), extent));
        let exists = self.tile_box(names, &exists);
        out.line(format!("[[maybe_unused]] const tessella_box {} = {exists};", own.exists));
        let [columns, lines, _] = &extents;
        let of_plane = columns.clone().times(lines.clone());
        let (columns, of_plane) = (self.int(columns), self.int(&of_plane));
        out.line(format!("const int64_t {} = {columns}, {} = {of_plane};", own.of_line, own.of_plane));
        let [column, line, plane] = &names.origin;
        out.line(format!(
            "const int64_t {} = {column} - 1 + ({line} - 1) * {} + ({plane} - 1) * {}{};",
            own.from,
            own.of_line,
            own.of_plane,
            self.before(it, field)
        ));
        let (buffer, _) = self.field_buffers(it, field);
        match resident.held[field] {
            Held::Shared => {
                let of_row = resident.columns(stream);
                out.line(format!(
                    "{element} *const {} = {} + {} * {of_row} + {};",
                    own.own, own.tile, names.first, names.begin
                ));
                if stream.fields[field].rim {
                    self.move_points(names, field, ["fill", &buffer, &own.exists], out);
                }
            }
            Held::Registers => {
                out.line(format!("{element} {}[{}][{}];", own.held, names.rows, resident.size.points));
                let rim = stream.fields[field].rim;
                let (point, address) = self.held_point(resident, names, (it, field), &own.exists);
                each_point(names, resident, out, &mut |out| {
                    let held = format!("{}[{}][{}]", own.held, names.row, names.point);
                    match rim {
                        true => out.line(format!("{held} = {point} ? {buffer}[{address}] : ({element})0;")),
                        false => out.line(format!("{held} = 0;")),
                    }
                });
            }
        }
    }

    /// Whether a box has a thread's point, and where the point lies in memory.
    fn held_point(
        &self,
        resident: &Resident,
        names: &Locals,
        (it, field): (&Streaming, usize),
        of_box: &str,
    ) -> (String, String) {
        let [column, line, plane] = self.place_in_tile(resident, names, it);
        let own = &names.fields[field];
        let has = format!("{of_box}.has({column}, {line}, {plane})");
        let at = format!("{} + {column} + ({line}) * {} + ({plane}) * {}", own.from, own.of_line, own.of_plane);
        (has, at)
    }

    /// A thread's point, counted from the first one of the tile.
    fn place_in_tile(&self, resident: &Resident, names: &Locals, it: &Streaming) -> [String; 3] {
        let column = format!("{} + {LANES} * {}", names.begin, names.point);
        let row = format!("{} + {}", names.first, names.row);
        match (resident.is_line(&it.stream), resident.lines(&it.stream)) {
            (true, _) => [column, "0".to_string(), "0".to_string()],
            (false, 1) => [column, "0".to_string(), row],
            (false, lines) => [column, format!("({row}) % {lines}"), format!("({row}) / {lines}")],
        }
    }

    /// Declares which rows and columns of a thread a stage writes. Those at the rim of a tile, whose operands the tile does not have, may
    /// get any values: nobody needs them until the next rims come.
    fn resident_limits(&mut self, it: &Streaming, resident: &Resident, names: &Locals, at: usize, out: &mut Writer) {
        let bounds = self.bounds_in_tile(names, &it.limits[at]);
        let (of_columns, of_rows) = bounds.split_at(2);
        let own = &names.stages[at];
        let points = resident.size.points;
        let of_columns = of_columns.join(", ");
        out.line(format!(
            "const unsigned {} = tessella_columns<{points}>({}, {of_columns});",
            own.columns, names.begin
        ));
        let lines = resident.lines(&it.stream);
        out.line(format!(
            "const unsigned {} = tessella_rows<{}, {lines}>({}, {});",
            own.rows,
            names.rows,
            names.first,
            of_rows.join(", ")
        ));
    }

    /// What a stage does in one step.
    fn resident_stage(
        &mut self,
        it: &Streaming,
        (resident, residing): (&Resident, &Residing),
        names: &Locals,
        at: usize,
        out: &mut Writer,
    ) {
        let stage = &it.stream.stages[at];
        let (waits, field, own) = (resident.waits[at], &names.fields[stage.field], &names.stages[at]);
        let element = c_type(self.input.algorithm.array(it.stream.fields[stage.field].array).element);
        let Locals { point, row, rows, done, step, value, waiting, .. } = names;
        let of_row = resident.columns(&it.stream);
        let points = resident.size.points;
        if waits.before {
            out.line("__syncthreads();");
        }
        out.open("");
        self.origin(stage.computation, out);
        let now = format!("({done} + {step})");
        let runs = self.runs_in_tile(it, residing, names, at);
        if self.mentions(stage, stage.time) {
            let name = self.variable(it.iterators[at][stage.time as usize]).to_string();
            out.line(format!("const int64_t {name} = {};", self.time_of(it, stage, &now)));
        }
        if waits.between {
            out.line(format!("{element} {waiting}[{rows}][{points}];"));
        }
        let (place, waiting) =
            (format!("{}[{row} * {of_row} + {LANES} * {point}]", field.own), format!("{waiting}[{row}][{point}]"));
        out.open(&runs);
        self.load_all_fixed(it, (&own.fixed, at), out);
        // What takes no memory can be computed for all points, whatever comes of it where it is not wanted.
        let everywhere = stage.thin == [false; 3] && !self.reads_memory(stage);
        let single = Single::of(it, resident, at);
        let of_column = Some(format!("{} >> {point} & 1", own.columns));
        let of_point = single.mask(own, names);
        // Of such fields what the one stage writes is stored, and nothing else.
        let is_kept = it.stream.fields[stage.field].rim;
        let any_value = waits.between || resident.held[stage.field] == Held::Registers && !is_kept;
        let of_rows = [(format!("if ({} == {})", own.rows, names.every), &of_column), ("else".to_string(), &of_point)];
        let of_any = [(String::new(), &of_point)];
        let computed = if everywhere && !any_value { &of_rows[..] } else { &of_any[..] };
        for (condition, mask) in computed {
            version(condition, out);
            self.operands_in_tile(it, resident, names, at);
            single.each_point(own, (names, resident), out, &mut |out| {
                if let (false, Some(mask)) = (everywhere, mask) {
                    out.line(format!("if (!({mask})) continue;"));
                }
                self.iterators_in_tile(it, resident, names, (stage, at), out);
                let iterators: Vec<IntExpr> = it.iterators[at].iter().copied().map(IntExpr::Variable).collect();
                let instance = Instance { computation: stage.computation, iterators: &iterators };
                let source = self.input.algorithm.computation(stage.computation);
                self.lets(&instance, out);
                let text = self.value(&source.value, &instance).0;
                self.streamed.clear();
                let held = format!("{}[{row}][{point}]", field.held);
                match (resident.held[stage.field], waits.between, mask.as_ref().filter(|_| everywhere)) {
                    (Held::Shared, true, _) => out.line(format!("{waiting} = {text};")),
                    (Held::Shared, false, None) => out.line(format!("{place} = {text};")),
                    (Held::Shared, false, Some(mask)) => {
                        out.line(format!("const {element} {value} = {text};"));
                        out.line(format!("if ({mask}) {place} = {value};"));
                    }
                    (Held::Registers, _, Some(mask)) if is_kept => {
                        out.line(format!("const {element} {value} = {text};"));
                        out.line(format!("{held} = {mask} ? {value} : {held};"));
                    }
                    (Held::Registers, ..) => out.line(format!("{held} = {text};")),
                }
            });
        }
        if computed.len() > 1 {
            out.close();
        }
        out.close();
        if waits.between {
            out.line("__syncthreads();");
            out.open(&runs);
            for (condition, mask) in &of_rows {
                version(condition, out);
                each_point(names, resident, out, &mut |out| match mask {
                    Some(mask) => out.line(format!("if ({mask}) {place} = {waiting};")),
                    None => out.line(format!("{place} = {waiting};")),
                });
            }
            out.close();
            out.close();
        }
        out.close();
    }

    /// Writes down what a step has computed so far, or is about to change, at the points that the block owns.
    fn resident_record(
        &mut self,
        it: &Streaming,
        (resident, residing): (&Resident, &Residing),
        names: &Locals,
        at: usize,
        out: &mut Writer,
    ) {
        let stage = it.stream.nest(at);
        let own = &names.stages[at];
        let Locals { point, row, done, step, .. } = names;
        out.open("");
        self.origin(stage.computation, out);
        let time = self.variable(it.iterators[at][stage.time as usize]).to_string();
        let now = self.time_of(it, stage, &format!("({done} + {step})"));
        out.line(format!("[[maybe_unused]] const int64_t {time} = {now};"));
        out.open(self.runs_in_tile(it, residing, names, at));
        self.load_all_fixed(it, (&own.fixed, at), out);
        self.operands_in_tile(it, resident, names, at);
        let [column, line, plane] = self.place_in_tile(resident, names, it);
        let owns = format!("{}::owns({}, {column}, {line}, {plane})", names.tile, names.owned);
        each_point(names, resident, out, &mut |out| {
            let is_one = format!("{} >> {row} & {} >> {point} & 1", own.rows, own.columns);
            out.line(format!("if (!({is_one}) || !{owns}) continue;"));
            self.iterators_in_tile(it, resident, names, (stage, at), out);
            self.write_down(it, at, out);
        });
        self.streamed.clear();
        out.close();
        out.close();
    }

    /// Whether a thread has points of a stage, or of what records, that a step makes.
    fn runs_in_tile(&self, it: &Streaming, residing: &Residing, names: &Locals, at: usize) -> String {
        let own = &names.stages[at];
        let makes = residing.turns.map(|turns| {
            let turn =
                by(&format!("{} * ({} + {})", it.stream.period, names.done, names.step), it.stream.nest(at).turn);
            format!(" && {turn} < {}", self.variable(turns))
        });
        format!("if ({} && {}{})", own.rows, own.columns, makes.unwrap_or_default())
    }

    /// Binds the iterators of space at a thread's point, where the text has them.
    fn iterators_in_tile(
        &self,
        it: &Streaming,
        resident: &Resident,
        names: &Locals,
        (stage, at): (&Stage, usize),
        out: &mut Writer,
    ) {
        let records = at >= it.stream.stages.len();
        for (axis, place) in self.place_in_tile(resident, names, it).iter().enumerate() {
            let wanted = |iterator: &u32| records || self.mentions(stage, *iterator);
            if let Some(iterator) = stage.iterators[axis].filter(wanted) {
                let name = self.variable(it.iterators[at][iterator as usize]).to_string();
                let text = by(&format!("{} + {place}", names.origin[axis]), -stage.shift[axis]);
                let unused = if records { "[[maybe_unused]] " } else { "" };
                out.line(format!("{unused}const int64_t {name} = {text};"));
            }
        }
    }

    /// Notes what a stage calls each read of a field.
    fn operands_in_tile(&mut self, it: &Streaming, resident: &Resident, names: &Locals, at: usize) {
        let Locals { row, point, .. } = names;
        let of_row = resident.columns(&it.stream);
        self.streamed.clear();
        for (position, read) in it.stream.nest(at).reads.iter().enumerate() {
            if let Source::Field { field, offset, .. } = read {
                let own = &names.fields[*field];
                let text = match resident.held[*field] {
                    Held::Registers => format!("{}[{row}][{point}]", own.held),
                    Held::Shared => {
                        let distance = resident.distance(&it.stream, *offset);
                        format!("{}[{}]", own.own, by(&format!("{row} * {of_row} + {LANES} * {point}"), distance))
                    }
                };
                self.streamed.insert(position as u32, text);
            }
        }
        self.call_fixed(&names.stages[at].fixed, "");
    }

    /// Points of a field's tile in shared memory, to or from memory: a function of the tile, and the array.
    fn move_points(&self, names: &Locals, field: usize, [what, array, of_box]: [&str; 3], out: &mut Writer) {
        let own = &names.fields[field];
        out.line(format!(
            "{}::{what}({}, {array} + {}, {}, {}, {of_box}, {});",
            names.tile, own.tile, own.from, own.of_line, own.of_plane, names.owned
        ));
    }

    /// Stores what a block owns of a field after all steps: all of it, or what the one stage that writes it has written.
    fn resident_store(&mut self, it: &Streaming, resident: &Resident, names: &Locals, field: usize, out: &mut Writer) {
        let stream = &it.stream;
        let own = &names.fields[field];
        let (buffer, _) = self.field_buffers(it, field);
        let of_box = match stream.fields[field].rim {
            true => own.exists.clone(),
            false => {
                let written = it.limits[stream.fields[field].writer].clone();
                let written = self.tile_box(names, &written);
                out.line(format!("const tessella_box {} = {written};", own.stored));
                own.stored.clone()
            }
        };
        match resident.held[field] {
            Held::Shared => self.move_points(names, field, ["drain", &buffer, &of_box], out),
            Held::Registers => {
                let (has, address) = self.held_point(resident, names, (it, field), &of_box);
                let [column, line, plane] = self.place_in_tile(resident, names, it);
                let owns = format!("{}::owns({}, {column}, {line}, {plane})", names.tile, names.owned);
                each_point(names, resident, out, &mut |out| {
                    let held = format!("{}[{}][{}]", own.held, names.row, names.point);
                    out.line(format!("if ({has} && {owns}) {buffer}[{address}] = {held};"));
                });
            }
        }
    }

    /// The body of a kernel whose blocks keep their tiles.
    pub(super) fn residents(
        &mut self,
        kernel: &str,
        arguments: &[String],
        (it, resident, residing): (&Streaming, &Resident, &Residing),
        out: &mut Writer,
    ) {
        let names = self.resident_locals(it);
        let stream = &it.stream;
        let fresh = |name: &str| self.program.names.namer().fresh(name);
        let [shared, strips, bands, all_rows] = ["shared", "strips", "bands", "all_rows"].map(fresh);
        let rows = IntExpr::variable(residing.rows);
        let [along_columns, along_lines, _] = it.resident_grid(resident, rows);
        let [column, line, plane] = &names.origin;
        out.line(format!("extern __shared__ __align__(16) unsigned char {shared}[];"));
        out.line(format!("const int64_t {strips} = {};", self.int(&along_columns)));
        let has_lines = stream.axes[1].is_some();
        let upwards = if has_lines {
            out.line(format!("const int64_t {bands} = {};", self.int(&along_lines)));
            format!("blockIdx.x / {strips} / {bands}")
        } else {
            format!("blockIdx.x / {strips}")
        };
        let [c, l, p] = resident.beside;
        out.line(format!(
            "const int64_t {column} = {};",
            by(&format!("blockIdx.x % {strips} * {}", resident.strip(stream)), 1 - c.below)
        ));
        let first_line = match has_lines {
            true => by(&format!("blockIdx.x / {strips} % {bands} * {}", resident.band(stream)), 1 - l.below),
            false => "1".to_string(),
        };
        out.line(format!("const int64_t {line} = {first_line};"));
        let rows = self.variable(residing.rows).to_string();
        let first_plane = match resident.is_line(stream) {
            false => by(&format!("{upwards} * {rows}"), 1 - p.below),
            true => "1".to_string(),
        };
        out.line(format!("const int64_t {plane} = {first_plane};"));
        let mut all = arguments.to_vec();
        for field in self.in_shared(resident) {
            let element = self.element_of(it, field);
            let at = resident.place(self.input.algorithm, stream, field);
            let tile = &names.fields[field].tile;
            out.line(format!(
                "{element} *const {tile} = ({element} *)({}) + {};",
                by(&shared, at),
                resident.pad(stream)
            ));
            all.push(tile.clone());
        }
        all.extend(names.origin.iter().cloned());
        let all = all.join(", ");
        let versions = resident.versions(stream);
        if let [only] = versions[..] {
            out.line(format!("{kernel}_tile<{only}>({all});"));
            return;
        }
        let lines = resident.lines(stream);
        let needed = by(&rows, resident.rows_beside());
        let needed = if lines == 1 { needed } else { format!("({needed}) * {lines}") };
        out.line(format!("const int64_t {all_rows} = {needed};"));
        for (at, &version) in versions.iter().enumerate() {
            let call = format!("{kernel}_tile<{version}>({all});");
            let most = resident.rows_of_block(stream, version);
            match at {
                0 => out.line(format!("if ({all_rows} <= {most}) {call}")),
                at if at + 1 == versions.len() => out.line(format!("else {call}")),
                _ => out.line(format!("else if ({all_rows} <= {most}) {call}")),
            }
        }
    }
}
