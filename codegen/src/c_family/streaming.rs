//! Kernels whose rows stream through registers, in CUDA.
//!
//! A kernel finds out which strip and part each of its warps has; a function template walks along the rows, in one
//! version for strips that lie inside of everything, and one for those at the rims.

mod stage;

use super::{Printer, Writer, c_type};
use crate::int_expr::IntExpr;
use crate::int_text::{Precedence, within};
use crate::stream::Streaming;
use tessella_polyhedral::stream::{LANES, Reach, WARPS};

/// What all kernels that stream use.
pub const STREAM_HELPERS: &str = "\
// Neighbouring points that move together.
template <typename T, int points> struct alignas(sizeof(T) * points) tessella_pack { T point[points]; };

// Which of a lane's points lie within first..last, as bits.
template <int points>
static __device__ __forceinline__ unsigned tessella_within(int64_t column, int64_t first, int64_t last)
{
    unsigned which = 0;
#pragma unroll
    for (int k = 0; k < points; k++) which |= (unsigned)(column + k >= first && column + k <= last) << k;
    return which;
}

// A distance in rows; all that are far away are alike.
static __device__ __forceinline__ int tessella_near(int64_t rows)
{
    return (int)(rows < -1000000000 ? -1000000000 : rows > 1000000000 ? 1000000000 : rows);
}

// Whether every row of an array can be read in packs.
template <typename T, int points>
static __device__ __forceinline__ bool tessella_packed(const T *array, int64_t columns)
{
    const int many = points * sizeof(T) <= 16 ? points : 16 / sizeof(T);
    return (uint64_t)array % (many * sizeof(T)) == 0 && columns % many == 0;
}

// The points of `which`; zero for the others.
template <typename T, int points>
static __device__ __forceinline__ void tessella_load(const T *from, unsigned which, bool packed, T (&row)[points])
{
    const int many = points * sizeof(T) <= 16 ? points : 16 / sizeof(T);
    if (packed && which == (1u << points) - 1) {
#pragma unroll
        for (int k = 0; k < points; k += many) {
            const tessella_pack<T, many> pack = *(const tessella_pack<T, many> *)(from + k);
#pragma unroll
            for (int m = 0; m < many; m++) row[k + m] = pack.point[m];
        }
    } else {
#pragma unroll
        for (int k = 0; k < points; k++) row[k] = which >> k & 1 ? from[k] : (T)0;
    }
}

template <typename T, int points>
static __device__ __forceinline__ void tessella_store(T *to, unsigned which, bool packed, const T (&row)[points])
{
    const int many = points * sizeof(T) <= 16 ? points : 16 / sizeof(T);
    if (packed && which == (1u << points) - 1) {
#pragma unroll
        for (int k = 0; k < points; k += many) {
            tessella_pack<T, many> pack;
#pragma unroll
            for (int m = 0; m < many; m++) pack.point[m] = row[k + m];
            *(tessella_pack<T, many> *)(to + k) = pack;
        }
    } else {
#pragma unroll
        for (int k = 0; k < points; k++) {
            if (which >> k & 1) to[k] = row[k];
        }
    }
}

// A lane's points with those beside them, which the neighbouring lanes hold.
template <int below, int above, typename T, int points>
static __device__ __forceinline__ void tessella_beside(const T (&row)[points], T (&wider)[below + points + above])
{
#pragma unroll
    for (int k = 0; k < points; k++) wider[below + k] = row[k];
#pragma unroll
    for (int k = 0; k < below; k++) wider[k] = __shfl_up_sync(0xffffffffu, row[points - below + k], 1);
#pragma unroll
    for (int k = 0; k < above; k++) wider[below + points + k] = __shfl_down_sync(0xffffffffu, row[k], 1);
}
";

/// Names of the text's own variables.
struct Locals {
    lane: String,
    stores: String,
    base: String,
    column: String,
    /// The number of the first line that a warp holds.
    top: String,
    /// A line, counted from there.
    line: String,
    row: String,
    now: String,
    turn: String,
    step: String,
    point: String,
    here: String,
    inside: String,
    value: String,
    fields: Vec<FieldNames>,
    stages: Vec<StageNames>,
}

struct FieldNames {
    rows: String,
    ahead: String,
    has: String,
    first: String,
    last: String,
    first_line: String,
    last_line: String,
    packed: String,
}

struct StageNames {
    within: String,
    first: String,
    last: String,
    first_line: String,
    last_line: String,
}

/// Whether rows are planes of several lines.
fn has_lines(it: &Streaming) -> bool {
    it.stream.axes[1].is_some()
}

/// Whether there is more than one row.
fn has_rows(it: &Streaming) -> bool {
    it.stream.axes[2].is_some()
}

/// What a value that each line has is called in a loop over lines.
fn of_line(it: &Streaming, names: &Locals) -> String {
    if has_lines(it) { format!("[{}]", names.line) } else { String::new() }
}

/// The extents of what a lane holds of a row.
fn held(it: &Streaming) -> String {
    let size = it.stream.size;
    if has_lines(it) { format!("[{}][{}]", size.lines, size.points) } else { format!("[{}]", size.points) }
}

/// A loop over some lines, unrolled; without lines just its body.
fn each_line(
    it: &Streaming,
    names: &Locals,
    lines: std::ops::Range<i64>,
    out: &mut Writer,
    body: &mut dyn FnMut(&mut Writer),
) {
    if !has_lines(it) {
        return body(out);
    }
    let line = &names.line;
    out.line("#pragma unroll");
    out.open(format!("for (int {line} = {}; {line} < {}; {line}++)", lines.start, lines.end));
    body(out);
    out.close();
}

/// The lines that a warp stores, of those that it holds.
fn stored_lines(it: &Streaming) -> std::ops::Range<i64> {
    let below = it.stream.beside[1].below;
    below..below + it.stream.band()
}

impl Printer<'_> {
    /// The function that walks along the rows of a strip; `params` are those of the kernel.
    pub fn strip(&mut self, kernel: &str, params: &[String], it: &Streaming, out: &mut Writer) {
        let names = self.locals(it);
        let size = it.stream.size;
        let (points, steps, depth) = (size.points, size.steps, it.stream.depth);
        let back = it.stream.back;
        let rows = i64::from(size.rows);
        let until = it.stream.iterations() - 1;
        let (idle_low, idle_high) = it.stream.idle_lanes();

        let (width, band) = (it.stream.width(), it.stream.band());
        let size_text =
            if has_lines(it) { format!("{width} columns and {band} lines") } else { format!("{width} columns") };
        out.line(format!("// Rows {}..{} + {}, {size_text} a warp.", names.row, names.row, rows - 1));
        out.line("// `inner`: all that the warp touches lies inside of all arrays and boxes.");
        out.line("template <bool inner>");
        out.line(format!("static __device__ __forceinline__ void {kernel}_strip("));
        params.iter().for_each(|param| out.line(format!("    {param},")));
        let top = if has_lines(it) { format!(" const int64_t {},", names.top) } else { String::new() };
        out.open(format!("    const int64_t {},{top} const int64_t {})", names.column, names.row));
        out.line(format!("const int {} = threadIdx.x % {LANES};", names.lane));
        let stores = format!("{0} >= {idle_low} && {0} < {1}", names.lane, i64::from(LANES) - idle_high);
        out.line(format!("const bool {} = {stores};", names.stores));
        out.line(format!("const int64_t {} = {} - {back};  // rows are counted from here", names.base, names.row));
        for (field, own) in names.fields.iter().enumerate() {
            let element = c_type(self.input.algorithm.array(it.stream.fields[field].array).element);
            let columns = self.int(&it.extents[field][0]);
            let last = within(self.int_bound(&it.extents[field][2]), Precedence::Sum);
            let (from, to) = self.field_buffers(it, field);
            let which = format!("tessella_within<{points}>({}, 1, {columns})", names.column);
            out.line(format!("const unsigned {} = inner ? {} : {which};", own.has, (1u32 << points) - 1));
            out.line(format!(
                "const int {} = tessella_near(1 - {}), {} = tessella_near({last} - {});",
                own.first, names.base, own.last, names.base
            ));
            if has_lines(it) {
                let last = within(self.int_bound(&it.extents[field][1]), Precedence::Sum);
                out.line(format!(
                    "const int {} = tessella_near(1 - {}), {} = tessella_near({last} - {});",
                    own.first_line, names.top, own.last_line, names.top
                ));
            }
            let packed = |buffer: &str| format!("tessella_packed<{element}, {points}>({buffer}, {columns})");
            let both = match from == to {
                true => packed(&from),
                false => format!("{} && {}", packed(&from), packed(&to)),
            };
            out.line(format!("const bool {} = {both};", own.packed));
            out.line(format!("{element} {}[{}][{depth}]{} = {{}};", own.rows, steps + 1, held(it)));
        }
        for (stage, own) in names.stages.iter().enumerate() {
            let [(low_x, high_x), lines, (low_y, high_y)] = &it.limits[stage];
            let (low_x, high_x) = (self.int(low_x), self.int(high_x));
            let low_y = within(self.int_bound(low_y), Precedence::Sum);
            let high_y = within(self.int_bound(high_y), Precedence::Sum);
            let which = format!("tessella_within<{points}>({}, {low_x}, {high_x})", names.column);
            out.line(format!("const unsigned {} = inner ? {} : {which};", own.within, (1u32 << points) - 1));
            out.line(format!(
                "const int {} = tessella_near({low_y} - {}), {} = tessella_near({high_y} - {});",
                own.first, names.base, own.last, names.base
            ));
            if has_lines(it) {
                let low = within(self.int_bound(&lines.0), Precedence::Sum);
                let high = within(self.int_bound(&lines.1), Precedence::Sum);
                out.line(format!(
                    "const int {} = tessella_near({low} - {}), {} = tessella_near({high} - {});",
                    own.first_line, names.top, own.last_line, names.top
                ));
            }
        }
        for (field, own) in names.fields.iter().enumerate().filter(|(field, _)| it.stream.fields[*field].rim) {
            let element = c_type(self.input.algorithm.array(it.stream.fields[field].array).element);
            out.line(format!("{element} {}{};", own.ahead, held(it)));
            let first = it.stream.fields[field].lead.to_string();
            self.load(it, &names, field, &first, out);
        }
        out.open(format!("for (int {0}_0 = 0; {0}_0 <= {until}; {0}_0 += {depth})", names.now));
        out.line("#pragma unroll");
        out.open(format!("for (int {0} = 0; {0} < {depth}; {0}++)", names.turn));
        out.line(format!("const int {0} = {0}_0 + {1};", names.now, names.turn));
        for (field, own) in names.fields.iter().enumerate().filter(|(field, _)| it.stream.fields[*field].rim) {
            let lead = it.stream.fields[field].lead;
            let (k, turn, of_line) = (&names.point, &names.turn, of_line(it, &names));
            let all = 0..i64::from(size.lines);
            each_line(it, &names, all, out, &mut |out| {
                out.line("#pragma unroll");
                out.line(format!(
                    "for (int {k} = 0; {k} < {points}; {k}++) {}[0][{turn}]{of_line}[{k}] = {}{of_line}[{k}];",
                    own.rows, own.ahead
                ));
            });
            if let Some(rest) = it.rest.filter(|_| it.is_carried(field)) {
                let steps = self.variable(rest.steps).to_string();
                let place = format!("{} + {lead}", names.now);
                let some =
                    format!("{steps} == 0 && {0} && {place} >= {back} && {place} < {1}", names.stores, back + rows);
                out.open(format!("if ({some})"));
                let which =
                    format!("inner || {place} <= {}{} ? {} : 0", own.last, before_end(it, &names, own), own.has);
                let ahead = format!("{}{of_line}", own.ahead);
                each_line(it, &names, stored_lines(it), out, &mut |out| {
                    self.store(it, &names, field, &place, [&which, &ahead], out);
                });
                out.close();
            }
            if has_rows(it) {
                let next = format!("{} + {}", names.now, lead + 1);
                self.load(it, &names, field, &next, out);
            }
        }
        out.line("#pragma unroll");
        out.open(format!("for (int {0} = 0; {0} < {steps}; {0}++)", names.step));
        for stage in 0..it.stream.stages.len() {
            self.stage(it, &names, stage, back, out);
        }
        out.close();
        out.close();
        out.close();
        out.close();
        out.blank();
    }

    /// The body of a kernel that streams.
    pub fn streaming(&mut self, kernel: &str, arguments: &[String], it: &Streaming, out: &mut Writer) {
        let mut namer = self.program.names.namer();
        let [warp, strips, strip, row, west, column, bands, band, top] =
            ["warp", "strips", "strip", "row", "west", "column", "bands", "band", "top"].map(|name| namer.fresh(name));
        let size = it.stream.size;
        let points = i64::from(size.points);
        let text = self.int(&it.strips());
        out.line(format!("const int64_t {warp} = (int64_t)blockIdx.x * {WARPS} + threadIdx.x / {LANES};"));
        out.line(format!("const int64_t {strips} = {text};"));
        let upwards = match has_lines(it) {
            false => warp.clone(),
            true => {
                let text = self.int(&it.bands());
                out.line(format!("const int64_t {bands} = {text}, {band} = {warp} % {bands};"));
                let Reach { below, .. } = it.stream.beside[1];
                out.line(format!("const int64_t {top} = 1 + {band} * {} - {below};", it.stream.band()));
                format!("{warp} / {bands}")
            }
        };
        out.line(format!(
            "const int64_t {strip} = {upwards} % {strips}, {row} = 1 + {upwards} / {strips} * {};",
            size.rows
        ));
        let rows = within(self.int_bound(&it.rows()), Precedence::Shift);
        out.line(format!("if ({row} > {rows}) return;"));
        let (width, idle) = (it.stream.width(), it.stream.idle_lanes().0 * points);
        out.line(format!("const int64_t {west} = 1 + {strip} * {width} - {idle};"));
        out.line(format!("const int64_t {column} = {west} + threadIdx.x % {LANES} * {points};"));
        let mut inside = |axis: usize| {
            let lows = it.limits.iter().map(|limits| limits[axis].0.clone()).chain([IntExpr::Const(1)]);
            let highs = it.limits.iter().map(|limits| limits[axis].1.clone());
            let highs = highs.chain(it.extents.iter().map(|extents| extents[axis].clone()));
            let least = within(self.int_bound(&IntExpr::max_of(lows)), Precedence::Shift);
            let most = within(self.int_bound(&IntExpr::min_of(highs)), Precedence::Shift);
            (least, most)
        };
        let (least, most) = inside(0);
        let mut inner = format!("{west} >= {least} && {west} + {} <= {most}", points * i64::from(LANES) - 1);
        if has_lines(it) {
            let (least, most) = inside(1);
            inner.push_str(&format!(" && {top} >= {least} && {top} + {} <= {most}", size.lines - 1));
        }
        if has_rows(it) {
            // Rows are computed, if not needed, up to all lags before the first one.
            let before = it.stream.back + it.stream.last_lag();
            // The last turn is whole, and loads one row more than it needs.
            let after = it.stream.iterations() + it.stream.depth + it.stream.lag - it.stream.back;
            let (first, last) = inside(2);
            inner.push_str(&format!(" && {row} - {before} >= {first} && {row} + {after} <= {last}"));
        }
        let arguments = arguments.join(", ");
        let place = if has_lines(it) { format!("{column}, {top}") } else { column };
        out.line(format!("if ({inner}) {kernel}_strip<true>({arguments}, {place}, {row});"));
        out.line(format!("else {kernel}_strip<false>({arguments}, {place}, {row});"));
    }

    fn locals(&self, it: &Streaming) -> Locals {
        let mut namer = self.program.names.namer();
        let arrays: Vec<&String> =
            it.stream.fields.iter().map(|field| &self.program.names.arrays[field.array.0 as usize]).collect();
        let fields = arrays.iter().map(|array| {
            let mut name = |what: &str| namer.fresh(&format!("{array}_{what}"));
            FieldNames {
                rows: name("rows"),
                ahead: name("ahead"),
                has: name("has"),
                first: name("first"),
                last: name("last"),
                first_line: name("first_line"),
                last_line: name("last_line"),
                packed: name("packed"),
            }
        });
        let fields = fields.collect();
        let stages = it.stream.stages.iter().map(|stage| {
            let computation = &self.program.names.computations[stage.computation.0 as usize];
            let mut name = |what: &str| namer.fresh(&format!("{computation}_{what}"));
            let [within, first, last, first_line, last_line] =
                ["within", "first", "last", "first_line", "last_line"].map(&mut name);
            StageNames { within, first, last, first_line, last_line }
        });
        let stages = stages.collect();
        let mut name = |what: &str| namer.fresh(what);
        Locals {
            lane: name("lane"),
            stores: name("stores"),
            base: name("base"),
            column: name("column"),
            top: name("top"),
            line: name("line"),
            row: name("row"),
            now: name("now"),
            turn: name("turn"),
            step: name("step"),
            point: name("k"),
            here: name("here"),
            inside: name("inside"),
            value: name("value"),
            fields,
            stages,
        }
    }

    /// The buffers that a field is loaded from and stored to.
    fn field_buffers(&self, it: &Streaming, field: usize) -> (String, String) {
        let name =
            |buffer: tessella_polyhedral::layers::BufferId| self.program.names.buffers[buffer.0 as usize].clone();
        let (from, to) = it.buffers[field];
        (name(from), name(to))
    }

    /// Where a lane's points of a row lie in a buffer.
    fn place(&mut self, it: &Streaming, names: &Locals, field: usize, buffer: &str, row: &str) -> String {
        let columns = within(self.int_bound(&it.extents[field][0]), Precedence::Unary);
        if !has_lines(it) {
            return format!("{buffer} + ({} - 1) + ({} + {row} - 1) * {columns}", names.column, names.base);
        }
        let lines = within(self.int_bound(&it.extents[field][1]), Precedence::Unary);
        let line = format!("{} + {} - 1 + ({} + {row} - 1) * {lines}", names.top, names.line, names.base);
        format!("{buffer} + ({} - 1) + ({line}) * {columns}", names.column)
    }

    /// Loads a row from before the launch. Of fields that are not carried, only warps at the rims need it, and only
    /// what no stage computes: other points may be stored at the same time.
    fn load(&mut self, it: &Streaming, names: &Locals, field: usize, row: &str, out: &mut Writer) {
        let own = &names.fields[field];
        let (from, _) = self.field_buffers(it, field);
        let place = self.place(it, names, field, &from, row);
        let ahead = format!("{}{}", own.ahead, of_line(it, names));
        let on_line = |first: &str, last: &str| match has_lines(it) {
            true => format!(" && {0} >= {first} && {0} <= {last}", names.line),
            false => String::new(),
        };
        let known = on_line(&own.first_line, &own.last_line);
        let text = if it.is_carried(field) {
            let rows = format!("inner || ({row} >= {} && {row} <= {}{known})", own.first, own.last);
            format!("tessella_load({place}, {rows} ? {} : 0, {}, {ahead});", own.has, own.packed)
        } else {
            let stage = &names.stages[it.stream.fields[field].writer];
            let stage_lines = on_line(&stage.first_line, &stage.last_line);
            let computed = format!("{row} >= {} && {row} <= {}{stage_lines}", stage.first, stage.last);
            let which = format!("{computed} ? {0} & ~{1} : {0}", own.has, stage.within);
            let rows = format!("{row} >= {} && {row} <= {}{known}", own.first, own.last);
            format!("if (!inner) tessella_load({place}, {rows} ? ({which}) : 0, {}, {ahead});", own.packed)
        };
        each_line(it, names, 0..it.stream.size.lines.into(), out, &mut |out| out.line(&text));
    }

    /// Stores the points of `which` of a row; both are texts.
    fn store(
        &mut self,
        it: &Streaming,
        names: &Locals,
        field: usize,
        row: &str,
        [which, value]: [&str; 2],
        out: &mut Writer,
    ) {
        let (_, to) = self.field_buffers(it, field);
        let place = self.place(it, names, field, &to, row);
        out.line(format!("tessella_store({place}, {which}, {}, {value});", names.fields[field].packed));
    }
}

/// That a line lies within a field, where rows have lines: a condition to add to others.
fn before_end(it: &Streaming, names: &Locals, field: &FieldNames) -> String {
    match has_lines(it) {
        true => format!(" && {} <= {}", names.line, field.last_line),
        false => String::new(),
    }
}
