//! Kernels whose blocks run hexagons: each thread holds its points of all rows.
//!
//! A kernel finds out which strip and hexagon each of its blocks has, and where versions are kept; a function template goes through
//! the steps of a tile, in one version for tiles that lie inside of everything, and one for those at the rims.

use super::super::expr::Instance;
use super::super::{Printer, Writer, c_type};
use super::stage::by;
use crate::int_expr::IntExpr;
use crate::stream::{Halves, Streaming};
use std::collections::BTreeMap;
use tessella_polyhedral::stream::hexagon::{Entry, Half, Place};
use tessella_polyhedral::stream::{Hexagon, Source};

/// What all kernels of hexagons use.
pub const HEXAGON_HELPERS: &str = "\
// Which of a thread's points lie within first..last, as bits; all are counted from one place.
template <int points>
static __device__ __forceinline__ unsigned tessella_among(int place, int first, int last)
{
    unsigned which = 0;
#pragma unroll
    for (int k = 0; k < points; k++) which |= (unsigned)(place + k >= first && place + k <= last) << k;
    return which;
}

// A point of a thread's row; those before its first one are the thread's below.
template <int left, typename T, int points>
static __device__ __forceinline__ T tessella_point(const T (&row)[points], const T (&before)[left], int at)
{
    return at < 0 ? before[left + at] : row[at < 0 ? 0 : at];
}

// The last points of a row, for the thread above.
template <int left, typename T, int points>
static __device__ __forceinline__ void tessella_hand_on(tessella_pack<T, left> *to, const T (&row)[points])
{
    tessella_pack<T, left> pack;
#pragma unroll
    for (int k = 0; k < left; k++) pack.point[k] = row[points - left + k];
    *to = pack;
}

template <int left, typename T>
static __device__ __forceinline__ void tessella_get(const tessella_pack<T, left> *from, T (&before)[left])
{
    const tessella_pack<T, left> pack = *from;
#pragma unroll
    for (int k = 0; k < left; k++) before[k] = pack.point[k];
}

// The points of `which`; zero for the others.
template <bool inner, typename T, int points>
static __device__ __forceinline__ void tessella_enter(const T *from, unsigned which, T (&row)[points])
{
#pragma unroll
    for (int k = 0; k < points; k++) row[k] = inner || (which >> k & 1) ? from[k] : (T)0;
}

template <typename T, int points>
static __device__ __forceinline__ void tessella_leave(T *to, unsigned which, const T (&row)[points])
{
#pragma unroll
    for (int k = 0; k < points; k++) {
        if (which >> k & 1) to[k] = row[k];
    }
}
";

/// Names of the text's own variables.
struct Locals {
    /// The row of the array that is the first of the hexagon's first step.
    origin: String,
    column: String,
    /// First and last column that the strip stores.
    stored: [String; 2],
    turn: String,
    begin: String,
    /// Where among the places of a row a thread finds points and hands them on, and how far these move with a step.
    below: String,
    own: String,
    below_by: String,
    own_by: String,
    step: String,
    low: String,
    high: String,
    row: String,
    entry: String,
    point: String,
    inside: String,
    /// Whether all rows, or columns, lie inside.
    within: [String; 2],
    value: String,
    /// Whether the loop has the step.
    active: String,
    /// Where rows of a version are loaded from, or stored to, and how many are.
    from: String,
    to: String,
    most: String,
    fields: Vec<FieldNames>,
    stages: Vec<StageNames>,
}

struct FieldNames {
    rows: String,
    entering: String,
    /// Of the version before, and of that of the same step.
    west: [String; 2],
    shared: [String; 2],
    new: String,
    corner: String,
    stride: String,
    first_row: String,
    last_row: String,
    first_column: String,
    last_column: String,
    first_stored: String,
    last_stored: String,
    /// Pointers: sides in for even and odd steps, rows of the first step, beside the longest one, sides out, and rows of the last step.
    from: [String; 2],
    first: String,
    beside: String,
    to: [String; 2],
    end: String,
}

struct StageNames {
    within: String,
    first: String,
    last: String,
    first_column: String,
    last_column: String,
}

impl FieldNames {
    /// The pointers in the order in which tiles get them.
    fn pointers(&self) -> [(&String, bool); 7] {
        let [from_even, from_odd] = &self.from;
        let [to_even, to_odd] = &self.to;
        [
            (from_even, false),
            (from_odd, false),
            (&self.first, false),
            (&self.beside, false),
            (to_even, true),
            (to_odd, true),
            (&self.end, true),
        ]
    }
}

impl Printer<'_> {
    fn hexagon_locals(&self, it: &Streaming) -> Locals {
        let mut namer = self.program.names.namer();
        let mut fields = vec![];
        for field in &it.stream.fields {
            let array = &self.program.names.arrays[field.array.0 as usize];
            let mut name = |what: &str| namer.fresh(&format!("{array}_{what}"));
            fields.push(FieldNames {
                rows: name("rows"),
                entering: name("entering"),
                west: [name("west"), name("new_west")],
                shared: [name("handed_on"), name("new_handed_on")],
                new: name("new"),
                corner: name("corner"),
                stride: name("stride"),
                first_row: name("first_row"),
                last_row: name("last_row"),
                first_column: name("first_column"),
                last_column: name("last_column"),
                first_stored: name("first_stored"),
                last_stored: name("last_stored"),
                from: [name("from_even"), name("from_odd")],
                first: name("first"),
                beside: name("beside"),
                to: [name("to_even"), name("to_odd")],
                end: name("end"),
            });
        }
        let mut stages = vec![];
        for stage in &it.stream.stages {
            let computation = &self.program.names.computations[stage.computation.0 as usize];
            let mut name = |what: &str| namer.fresh(&format!("{computation}_{what}"));
            let [within, first, last, first_column, last_column] =
                ["within", "first", "last", "first_column", "last_column"].map(&mut name);
            stages.push(StageNames { within, first, last, first_column, last_column });
        }
        let mut name = |what: &str| namer.fresh(what);
        Locals {
            origin: name("origin"),
            column: name("column"),
            stored: [name("first_stored"), name("last_stored")],
            turn: name("turn"),
            begin: name("begin"),
            below: name("below"),
            own: name("own"),
            below_by: name("below_by"),
            own_by: name("own_by"),
            step: name("step"),
            low: name("low"),
            high: name("high"),
            row: name("r"),
            entry: name("e"),
            point: name("k"),
            inside: name("inside"),
            within: [name("rows"), name("columns")],
            value: name("value"),
            active: name("active"),
            from: name("from"),
            to: name("to"),
            most: name("most"),
            fields,
            stages,
        }
    }

    /// The function that goes through the steps of a tile; `params` are those of the kernel.
    pub(super) fn hexagon_tile(
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
        let Locals { origin, column, turn, begin, step, low, high, row, entry, point, .. } = &names;
        let [first_stored, last_stored] = &names.stored;
        let [rows_in, columns_in] = &names.within;

        out.line(format!(
            "// {steps} steps of a hexagon, {ends} to {} rows high. `rows`, `columns`: those that it touches lie inside of all arrays and boxes, and",
            ends + 2 * hexagon.bulge()
        ));
        out.line("// with the rows the steps inside of the loop.");
        out.line(format!("template <bool {rows_in}, bool {columns_in}>"));
        out.line(format!("static __device__ __forceinline__ void {kernel}_tile("));
        params.iter().for_each(|param| out.line(format!("    {param},")));
        for field in self.carried(it) {
            let element = self.element_of(it, field);
            for (name, is_written) in names.fields[field].pointers() {
                let constant = if is_written { "" } else { "const " };
                out.line(format!("    {constant}{element} *const __restrict__ {name},"));
            }
        }
        for (field, fresh) in self.handed_on(it, hexagon) {
            let element = self.element_of(it, field);
            let exchanged = hexagon.exchanged(field, fresh);
            let name = &names.fields[field].shared[usize::from(fresh)];
            out.line(format!("    tessella_pack<{element}, {exchanged}> *const __restrict__ {name},"));
        }
        out.line(format!("    const int64_t {origin}, const int64_t {begin}, const int64_t {column},"));
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
            let from = format!("({row} >= 0 && {row} < {ends} ? {} : {})", own.first, own.from[0]);
            let place = format!("{from} + {} + ({row}{from_base}) * {}", by(&own.corner, -frame), own.stride);
            let which = format!(
                "{rows_in} || ({row} >= {} && {row} <= {}) ? {} : 0",
                own.first_row, own.last_row, names.inside
            );
            out.line(format!(
                "tessella_enter<{rows_in} && {columns_in}>({place}, {which}, {}[{row}{from_base}]);",
                own.rows
            ));
            out.close();
            out.close();
        }
        out.line("#pragma unroll");
        out.open(format!("for (int {step} = 0; {step} < {steps}; {step}++)"));
        out.line(format!(
            "const int {low} = -{slope} * ({step} <= {height} ? {step} : {} - {step}), {high} = {} - {low};",
            steps - 1,
            ends - 1
        ));
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
        let time = self.variable(halves.steps).to_string();
        out.line(format!(
            "[[maybe_unused]] const bool {} = {rows_in} || ({begin} + {step} >= 0 && {begin} + {step} < {time});",
            names.active
        ));
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
            let to = format!("{step} == {} ? {} : {step} % 2 ? {} : {}", steps - 1, own.end, own.to[0], own.to[1]);
            out.line(format!("{element} *const {} = ({to}) + {} - {frame};", names.to, own.corner));
            each_row(hexagon, row, [low, high], out);
            let next = format!("({step} == {height} ? 0 : {slope})");
            let wanted = format!(
                "{step} == {} || {row} < {low} + {next} + {reach} || {row} > {high} - {next} - {reach}",
                steps - 1
            );
            out.open(format!("if ({wanted})"));
            let which = format!(
                "{rows_in} || ({row} >= {} && {row} <= {}) ? {} : 0",
                own.first_row, own.last_row, names.inside
            );
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
        let Locals { step, low, high, entry, inside, within: [rows_in, columns_in], .. } = names;
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
        let from = format!("{step} == {height} ? {} : {step} % 2 ? {} : {}", own.beside, own.from[0], own.from[1]);
        out.line(format!("const {element} *const {} = ({from}) + {} - {frame};", names.from, own.corner));
        // Beside the longest step no row was there before.
        let most = &names.most;
        out.line(format!("const int {most} = {step} == {height} ? {reach} : {entering};"));
        out.line("#pragma unroll");
        out.open(format!("for (int {entry} = 0; {entry} < {entering}; {entry}++)"));
        out.line(format!("if ({entry} >= {most}) continue;"));
        for (place, row) in [
            (entry.clone(), format!("{low} - {most} + {entry}")),
            (format!("{entering} + {entry}"), format!("{high} + {most} - {entry}")),
        ] {
            let which =
                format!("{rows_in} || ({row} >= {} && {row} <= {}) ? {inside} : 0", own.first_row, own.last_row);
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
        if self.mentions(stage, stage.time) {
            let name = self.variable(it.iterators[at][stage.time as usize]).to_string();
            out.line(format!("const int64_t {name} = {} + {begin} + {step};", self.variable(it.first)));
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
        for (position, binding) in source.lets.iter().enumerate() {
            let text = self.value(&binding.value, &instance).0;
            let name = &self.program.names.lets[stage.computation.0 as usize][position];
            out.line(format!("const {} {name} = {text};", c_type(binding.value.ty)));
        }
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

    /// The fields whose values go from step to step.
    fn carried(&self, it: &Streaming) -> Vec<usize> {
        (0..it.stream.fields.len()).filter(|&field| it.is_carried(field)).collect()
    }

    /// The fields whose points threads hand on, of the version before and of that of the same step.
    fn handed_on(&self, it: &Streaming, hexagon: &Hexagon) -> Vec<(usize, bool)> {
        let all = (0..it.stream.fields.len()).flat_map(|field| [(field, false), (field, true)]);
        all.filter(|&(field, fresh)| hexagon.exchanged(field, fresh) > 0).collect()
    }

    /// The body of a kernel whose blocks run hexagons.
    pub(super) fn hexagons(
        &mut self,
        kernel: &str,
        arguments: &[String],
        (it, hexagon, halves): (&Streaming, &Hexagon, &Halves),
        out: &mut Writer,
    ) {
        let names = self.hexagon_locals(it);
        let fresh = |name: &str| self.program.names.namer().fresh(name);
        let [strips, strip, second, round, tile, west, is_first, is_last, before_last, shared, rows_inside, inside] = [
            "strips",
            "strip",
            "is_second",
            "round",
            "tile",
            "west",
            "is_first",
            "is_last",
            "before_last",
            "shared",
            "rows_inside",
            "columns_inside",
        ]
        .map(fresh);
        let Locals { origin, column, begin, turn, .. } = &names;
        let [first_stored, last_stored] = &names.stored;
        let [half, last] = [halves.half, halves.last].map(|it| self.variable(it).to_string());
        let (steps, points) = (hexagon.steps(), i64::from(it.stream.size.points));
        out.line(format!("extern __shared__ __align__(16) unsigned char {shared}[];"));
        let [along_columns, _] = it.hexagon_grid(hexagon);
        let along_columns = self.int(&along_columns);
        out.line(format!("const int64_t {strips} = {along_columns}, {strip} = blockIdx.x % {strips};"));
        out.line(format!("const bool {second} = {half} % 2;"));
        out.line(format!("[[maybe_unused]] const int64_t {round} = {half} / 2;"));
        let [first_row, second_row] = [0, 1].map(|phase| hexagon.first_row(phase));
        out.line(format!(
            "const int64_t {origin} = blockIdx.x / {strips} * {} + ({second} ? {second_row} : {first_row});",
            hexagon.period()
        ));
        let rows = self.int(&it.rows());
        out.line(format!("if ({origin} - {} > {rows}) return;", hexagon.bulge()));
        out.line(format!("const int64_t {begin} = {round} * {steps} - ({second} ? 0 : {});", hexagon.size.height + 1));
        let (strip_width, tile_width) = (hexagon.strip(&it.stream), hexagon.tile(&it.stream));
        out.line(format!(
            "const int64_t {first_stored} = 1 + {strip} * {strip_width}, {last_stored} = {first_stored} + {};",
            strip_width - 1
        ));
        out.line(format!(
            "[[maybe_unused]] const bool {is_first} = {half} == 0, {is_last} = {half} == 2 * {last}, {before_last} = {half} == 2 * {last} - 1;"
        ));
        for field in self.carried(it) {
            self.places_of(
                &names,
                (it, hexagon, halves),
                field,
                [&second, &round, &is_first, &is_last, &before_last],
                out,
            );
        }
        let mut used = 0;
        for (field, fresh) in self.handed_on(it, hexagon) {
            let element = self.input.algorithm.array(it.stream.fields[field].array).element;
            let exchanged = hexagon.exchanged(field, fresh);
            let pack = format!("tessella_pack<{}, {exchanged}>", c_type(element));
            let name = &names.fields[field].shared[usize::from(fresh)];
            out.line(format!("{pack} *const {name} = ({pack} *)({});", by(&shared, used)));
            used += 2 * hexagon.held().1 * hexagon.places() * exchanged * i64::from(element.bytes());
        }
        let mut bounds = |axis: usize| {
            let lows = it.limits.iter().map(|limits| limits[axis].0.clone()).chain([IntExpr::Const(1)]);
            let highs = it.limits.iter().map(|limits| limits[axis].1.clone());
            let highs = highs.chain(it.extents.iter().map(|extents| extents[axis].clone()));
            (self.int(&IntExpr::max_of(lows)), self.int(&IntExpr::min_of(highs)))
        };
        let ((low_row, high_row), (low_column, high_column)) = (bounds(2), bounds(0));
        let out_of = hexagon.bulge() + hexagon.slope;
        let time = self.variable(halves.steps).to_string();
        out.line(format!(
            "const bool {rows_inside} = {origin} - {out_of} >= {low_row} && {origin} + {} <= {high_row} && {begin} >= 0 && {begin} + {steps} <= {time};",
            hexagon.ends() - 1 + out_of
        ));
        let frames = (0..it.stream.fields.len()).map(|field| hexagon.frame(&it.stream, field, 0));
        let least = frames.min().unwrap_or(0).min(0);
        let most = (steps - 1) * hexagon.skew + hexagon.lags.iter().max().copied().unwrap_or(0);
        out.open(format!("for (int {tile} = 0; {tile} < {}; {tile}++)", hexagon.size.tiles));
        out.line(format!(
            "const int64_t {west} = {first_stored} - {} + {tile} * {tile_width}, {column} = {west} + threadIdx.x * {points};",
            hexagon.idle()
        ));
        let widest = self.int(&it.widest_columns());
        out.line(format!("if ({west} - {most} > {widest}) break;"));
        out.line(format!("const int {turn} = {tile} % 2;"));
        let mut all: Vec<String> = arguments.to_vec();
        for field in self.carried(it) {
            all.extend(names.fields[field].pointers().map(|(name, _)| name.clone()));
        }
        for (field, fresh) in self.handed_on(it, hexagon) {
            all.push(names.fields[field].shared[usize::from(fresh)].clone());
        }
        all.extend([origin, begin, column, first_stored, last_stored, turn].map(String::clone));
        let all = all.join(", ");
        out.line(format!(
            "const bool {inside} = {west} - {most} >= {low_column} && {west} + {} <= {high_column};",
            tile_width - 1 - least
        ));
        out.line(format!("if ({rows_inside} && {inside}) {kernel}_tile<true, true>({all});"));
        out.line(format!("else if ({rows_inside}) {kernel}_tile<true, false>({all});"));
        out.line(format!("else {kernel}_tile<false, false>({all});"));
        out.close();
    }

    /// Declares the pointers to where a launch finds and stores versions of a field.
    fn places_of(
        &self,
        names: &Locals,
        (it, hexagon, halves): (&Streaming, &Hexagon, &Halves),
        field: usize,
        [second, round, is_first, is_last, before_last]: [&str; 5],
        out: &mut Writer,
    ) {
        let own = &names.fields[field];
        let element = self.element_of(it, field);
        let place = |place: Place| {
            let buffer = it.kept_in(halves, field, place);
            self.program.names.buffers[buffer.0 as usize].clone()
        };
        // Rounds in the middle: none of the exceptions.
        let of = |phase: u32, odd: i64| Half { round: 4 + odd, phase, last: 100 };
        let own_buffer = place(Place::Own);
        // What both phases and both kinds of rounds have, in as few words as that takes.
        let choose = |at: &dyn Fn(Half) -> Place| {
            let by_round = |phase: u32| {
                let (even, odd) = (place(at(of(phase, 0))), place(at(of(phase, 1))));
                if even == odd { even } else { format!("({round} % 2 ? {odd} : {even})") }
            };
            let (first, then) = (by_round(0), by_round(1));
            if first == then { first } else { format!("{second} ? {then} : {first}") }
        };
        let height = i64::from(hexagon.size.height);
        let but = |conditions: &str, text: String| format!("{conditions} ? {own_buffer} : {text}");
        let from = |step: i64, entry: Entry| choose(&|half| hexagon.from(half, step, entry));
        let to = |step: i64| choose(&|half| hexagon.to(half, step));
        // A step whose number is even ends with an odd one.
        let (even_end, odd_end) = (1, 0);
        let mut line = |constant: &str, name: &str, text: String| {
            out.line(format!("{constant}{element} *const {name} = {text};"));
        };
        line("const ", &own.from[0], but(is_first, from(0, Entry::Side)));
        line("const ", &own.from[1], but(is_first, from(1, Entry::Side)));
        line("const ", &own.first, but(&format!("{round} == 0"), from(0, Entry::First)));
        line("const ", &own.beside, but(&format!("{is_first} || {is_last}"), from(height + 1, Entry::Last)));
        line("", &own.to[0], but(is_last, to(even_end)));
        line("", &own.to[1], but(is_last, to(odd_end)));
        line("", &own.end, but(&format!("{is_last} || {before_last}"), to(hexagon.steps() - 1)));
    }
}

/// A loop over some of the rows that a thread holds. It goes over all of them, so that compilers see how often before they unroll the
/// steps around it; else rows would lie in memory.
fn each_row(hexagon: &Hexagon, row: &str, [first, last]: [&str; 2], out: &mut Writer) {
    let (base, held) = hexagon.held();
    out.line("#pragma unroll");
    out.open(format!("for (int {row} = {base}; {row} < {}; {row}++)", base + held));
    out.line(format!("if ({row} < {first} || {row} > {last}) continue;"));
}

/// What the points of the thread below are called in a stage.
fn west_of(name: &str, stage: usize) -> String {
    if stage == 0 { name.to_string() } else { format!("{name}_{stage}") }
}
