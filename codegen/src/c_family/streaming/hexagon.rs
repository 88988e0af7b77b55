//! Kernels whose blocks run hexagons: each thread holds its points of all rows.
//!
//! A kernel finds out which strip and hexagon each of its blocks has, and where versions are kept; a function template goes through
//! the steps of a tile ([`rows`], [`planes`]), in one version for tiles that lie inside of everything, and one for those at the rims.

mod planes;
mod rows;

use super::super::{Printer, Writer};
use super::fixed::FixedNames;
use super::stage::by;
use crate::int_expr::IntExpr;
use crate::stream::{Halves, Streaming};
use tessella_polyhedral::stream::hexagon::{Entry, Half, Place};
use tessella_polyhedral::stream::{Hexagon, LANES};

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

/// What kernels of hexagons over planes use besides.
pub const HEXAGON_PLANES: &str = "\
// The lines of a plane that a thread has, with those of the warps beside its own, and points of the lanes beside it on the lines
// from `first` to `last`.
template <int low, int high, int below, int above, int first, int last, typename T, int lines, int points>
static __device__ __forceinline__ void tessella_around(const T (&plane)[lines][points], const tessella_pack<T, points> *before,
    const tessella_pack<T, points> *after, T (&wide)[low + lines + high][below + points + above])
{
    T taken[low + lines + high][points];
    tessella_take<low, high>(plane, before, after, taken);
#pragma unroll
    for (int l = 0; l < low + lines + high; l++) {
        if (l >= first && l <= last) {
            tessella_beside<below, above>(taken[l], wide[l]);
        } else {
#pragma unroll
            for (int k = 0; k < points; k++) wide[l][below + k] = taken[l][k];
        }
    }
}

// The points of `which` on all lines; zero for the others.
template <bool inner, typename T, int lines, int points>
static __device__ __forceinline__ void tessella_enter_plane(const T *from, int stride, unsigned which, T (&plane)[lines][points])
{
#pragma unroll
    for (int l = 0; l < lines; l++) tessella_enter<inner>(from + l * stride, which >> l * points, plane[l]);
}

template <typename T, int lines, int points>
static __device__ __forceinline__ void tessella_leave_plane(T *to, int stride, unsigned which, const T (&plane)[lines][points])
{
#pragma unroll
    for (int l = 0; l < lines; l++) tessella_leave(to + l * stride, which >> l * points, plane[l]);
}
";

/// Names of the text's own variables.
struct Locals {
    /// The row of the array that is the first of the hexagon's first step.
    origin: String,
    column: String,
    /// First and last column that the strip stores.
    stored: [String; 2],
    /// A thread's first line, the first line that the block stores, the warp, and a line among those of a thread.
    top: String,
    band: String,
    warp: String,
    line: String,
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
    /// From plane to plane, and which of a thread's points of a plane exist and are stored.
    plane: String,
    has: String,
    stored: String,
    /// The lines of other warps, and points beside a thread's.
    wide: [String; 2],
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
    fixed: FixedNames,
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

    /// `which`, of a row that exists; a version for tiles all of whose rows do need not look.
    fn is_there(&self, rows_in: &str, row: &str, which: &str) -> String {
        format!("{rows_in} || ({row} >= {} && {row} <= {}) ? {which} : 0", self.first_row, self.last_row)
    }

    /// Where a row lies that the first step begins with.
    fn before_first_step(&self, row: &str, ends: i64) -> String {
        format!("({row} >= 0 && {row} < {ends} ? {} : {})", self.first, self.from[0])
    }

    /// Where the rows lie that enter with the next step.
    fn entering_from(&self, step: &str, height: u32) -> String {
        format!("{step} == {height} ? {} : {step} % 2 ? {} : {}", self.beside, self.from[0], self.from[1])
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
                plane: name("plane"),
                has: name("has"),
                stored: name("stored"),
                wide: [name("wide"), name("new_wide")],
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
            let fixed = self.fixed_names(stage, &mut namer);
            stages.push(StageNames { within, first, last, first_column, last_column, fixed });
        }
        let mut name = |what: &str| namer.fresh(what);
        Locals {
            origin: name("origin"),
            column: name("column"),
            stored: [name("first_stored"), name("last_stored")],
            top: name("top"),
            band: name("first_line"),
            warp: name("warp"),
            line: name("l"),
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

    /// The beginning of the function that goes through the steps of a tile, up to what places the tile; `params` are those of the kernel.
    fn tile_signature(
        &self,
        kernel: &str,
        params: &[String],
        (it, hexagon): (&Streaming, &Hexagon),
        names: &Locals,
        out: &mut Writer,
    ) {
        let [rows_in, inside] = &names.within;
        out.line(format!("template <bool {rows_in}, bool {inside}>"));
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
            let pack = self.pack(it, hexagon, (field, fresh));
            let name = &names.fields[field].shared[usize::from(fresh)];
            out.line(format!("    {pack} *const __restrict__ {name},"));
        }
        let Locals { origin, begin, column, .. } = names;
        out.line(format!("    const int64_t {origin}, const int64_t {begin}, const int64_t {column},"));
    }

    /// What threads hand on of a version of a field at a time.
    fn pack(&self, it: &Streaming, hexagon: &Hexagon, (field, fresh): (usize, bool)) -> String {
        let points = match &hexagon.planes {
            Some(_) => it.stream.size.points.into(),
            None => hexagon.exchanged(field, fresh),
        };
        format!("tessella_pack<{}, {points}>", self.element_of(it, field))
    }

    /// Opens the loop over the steps of a hexagon, and says which rows a step has.
    fn step_begins(&self, names: &Locals, hexagon: &Hexagon, out: &mut Writer) {
        let Locals { step, low, high, .. } = names;
        let last = hexagon.steps() - 1;
        out.line("#pragma unroll");
        out.open(format!("for (int {step} = 0; {step} < {}; {step}++)", last + 1));
        out.line(format!(
            "const int {low} = -{} * ({step} <= {} ? {step} : {last} - {step}), {high} = {} - {low};",
            hexagon.slope,
            hexagon.size.height,
            hexagon.ends() - 1
        ));
    }

    /// Declares whether the loop has a step.
    fn is_active(&self, names: &Locals, halves: &Halves, out: &mut Writer) {
        let Locals { begin, step, active, within: [rows_in, _], .. } = names;
        let time = self.variable(halves.steps);
        out.line(format!(
            "[[maybe_unused]] const bool {active} = {rows_in} || ({begin} + {step} >= 0 && {begin} + {step} < {time});"
        ));
    }

    /// The fields whose values go from step to step.
    fn carried(&self, it: &Streaming) -> Vec<usize> {
        (0..it.stream.fields.len()).filter(|&field| it.is_carried(field)).collect()
    }

    /// The fields whose points threads hand on, of the version before and of that of the same step.
    fn handed_on(&self, it: &Streaming, hexagon: &Hexagon) -> Vec<(usize, bool)> {
        if let Some(planes) = &hexagon.planes {
            return planes.given.keys().copied().collect();
        }
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
        let [
            strips,
            strip,
            bands,
            second,
            round,
            tile,
            west,
            is_first,
            is_last,
            before_last,
            shared,
            rows_inside,
            inside,
        ] = [
            "strips",
            "strip",
            "bands",
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
        let [along_columns, along_lines, _] = it.hexagon_grid(hexagon);
        let along_columns = self.int(&along_columns);
        out.line(format!("const int64_t {strips} = {along_columns}, {strip} = blockIdx.x % {strips};"));
        let upwards = match &hexagon.planes {
            None => format!("blockIdx.x / {strips}"),
            Some(planes) => {
                let along_lines = self.int(&along_lines);
                out.line(format!("const int64_t {bands} = {along_lines};"));
                let band = planes.band(hexagon);
                out.line(format!("const int64_t {} = 1 + blockIdx.x / {strips} % {bands} * {band};", names.band));
                format!("blockIdx.x / {strips} / {bands}")
            }
        };
        out.line(format!("const bool {second} = {half} % 2;"));
        out.line(format!("[[maybe_unused]] const int64_t {round} = {half} / 2;"));
        let [first_row, second_row] = [0, 1].map(|phase| hexagon.first_row(phase));
        out.line(format!(
            "const int64_t {origin} = {upwards} * {} + ({second} ? {second_row} : {first_row});",
            hexagon.period()
        ));
        let rows = self.int(&it.rows());
        out.line(format!("if ({origin} - {} > {rows}) return;", hexagon.bulge()));
        out.line(format!("const int64_t {begin} = {round} * {steps} - ({second} ? 0 : {});", hexagon.size.height + 1));
        let (strip_width, tile_width) = (hexagon.strip(&it.stream), hexagon.tile(&it.stream));
        let last_column = match &hexagon.planes {
            Some(_) => String::new(),
            None => format!(", {last_stored} = {first_stored} + {}", strip_width - 1),
        };
        out.line(format!("const int64_t {first_stored} = 1 + {strip} * {strip_width}{last_column};"));
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
            let handed_on = match &hexagon.planes {
                None => 2 * hexagon.held().1 * hexagon.places() * hexagon.exchanged(field, fresh),
                Some(planes) => points * planes.packs(hexagon, planes.given[&(field, fresh)]),
            };
            let pack = self.pack(it, hexagon, (field, fresh));
            let name = &names.fields[field].shared[usize::from(fresh)];
            out.line(format!("{pack} *const {name} = ({pack} *)({});", by(&shared, used)));
            used += handed_on * i64::from(element.bytes());
        }
        let mut bounds = |axis: usize| {
            let lows = it.limits.iter().map(|limits| limits[axis].0.clone()).chain([IntExpr::Const(1)]);
            let highs = it.limits.iter().map(|limits| limits[axis].1.clone());
            let highs = highs.chain(it.extents.iter().map(|extents| extents[axis].clone()));
            (self.int(&IntExpr::max_of(lows)), self.int(&IntExpr::min_of(highs)))
        };
        let ((low_row, high_row), (low_line, high_line), (low_column, high_column)) = (bounds(2), bounds(1), bounds(0));
        let out_of = hexagon.bulge() + hexagon.slope;
        let time = self.variable(halves.steps).to_string();
        out.line(format!(
            "const bool {rows_inside} = {origin} - {out_of} >= {low_row} && {origin} + {} <= {high_row} && {begin} >= 0 && {begin} + {steps} <= {time};",
            hexagon.ends() - 1 + out_of
        ));
        let call = |all: &[String], out: &mut Writer| {
            let all = all.join(", ");
            out.line(format!("if ({rows_inside} && {inside}) {kernel}_tile<true, true>({all});"));
            out.line(format!("else if ({rows_inside}) {kernel}_tile<true, false>({all});"));
            out.line(format!("else {kernel}_tile<false, false>({all});"));
        };
        let mut all: Vec<String> = arguments.to_vec();
        for field in self.carried(it) {
            all.extend(names.fields[field].pointers().map(|(name, _)| name.clone()));
        }
        for (field, fresh) in self.handed_on(it, hexagon) {
            all.push(names.fields[field].shared[usize::from(fresh)].clone());
        }
        if let Some(planes) = &hexagon.planes {
            let beside = &planes.beside[1];
            out.line(format!("const int64_t {west} = {first_stored} - {};", hexagon.idle(&it.stream)));
            out.line(format!("const int64_t {column} = {west} + threadIdx.x % {LANES} * {points};"));
            out.line(format!(
                "const int64_t {} = {} - {} + threadIdx.x / {LANES} * {};",
                names.top,
                names.band,
                beside.below,
                hexagon.lines()
            ));
            out.line(format!(
                "const bool {inside} = {west} >= {low_column} && {west} + {} <= {high_column} && {band} - {} >= {low_line} && {band} + {} <= {high_line};",
                tile_width - 1,
                beside.below,
                planes.held(hexagon) - beside.below - 1,
                band = names.band,
            ));
            all.extend([origin, begin, column, &names.top, &names.band].map(String::clone));
            call(&all, out);
            return;
        }
        let frames = (0..it.stream.fields.len()).map(|field| hexagon.frame(&it.stream, field, 0));
        let least = frames.min().unwrap_or(0).min(0);
        let most = (steps - 1) * hexagon.skew + hexagon.lags.iter().max().copied().unwrap_or(0);
        out.open(format!("for (int {tile} = 0; {tile} < {}; {tile}++)", hexagon.tiles()));
        out.line(format!(
            "const int64_t {west} = {first_stored} - {} + {tile} * {tile_width}, {column} = {west} + threadIdx.x * {points};",
            hexagon.idle(&it.stream)
        ));
        let widest = self.int(&it.widest_columns());
        out.line(format!("if ({west} - {most} > {widest}) break;"));
        out.line(format!("const int {turn} = {tile} % 2;"));
        all.extend([origin, begin, column, first_stored, last_stored, turn].map(String::clone));
        out.line(format!(
            "const bool {inside} = {west} - {most} >= {low_column} && {west} + {} <= {high_column};",
            tile_width - 1 - least
        ));
        call(&all, out);
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

/// Where a step stores rows of a field, and which of them others read.
fn leaving(names: &Locals, hexagon: &Hexagon, field: usize) -> [String; 2] {
    let Locals { step, low, high, row, .. } = names;
    let (own, reach, last) = (&names.fields[field], hexagon.reach[field], hexagon.steps() - 1);
    let next = format!("({step} == {} ? 0 : {})", hexagon.size.height, hexagon.slope);
    [
        format!("{step} == {last} ? {} : {step} % 2 ? {} : {}", own.end, own.to[0], own.to[1]),
        format!("{step} == {last} || {row} < {low} + {next} + {reach} || {row} > {high} - {next} - {reach}"),
    ]
}

/// Opens the loop over pairs of rows, one at either side, that enter with the next step.
fn begin_entering(names: &Locals, hexagon: &Hexagon, reach: i64, out: &mut Writer) {
    let Locals { step, entry, most, .. } = names;
    let entering = hexagon.slope + reach;
    // Beside the longest step no row was there before.
    out.line(format!("const int {most} = {step} == {} ? {reach} : {entering};", hexagon.size.height));
    out.line("#pragma unroll");
    out.open(format!("for (int {entry} = 0; {entry} < {entering}; {entry}++)"));
    out.line(format!("if ({entry} >= {most}) continue;"));
}

/// Such a pair: where each is held until the next step, and its number.
fn entering_rows(names: &Locals, entering: i64) -> [(String, String); 2] {
    let Locals { low, high, entry, most, .. } = names;
    [
        (entry.clone(), format!("{low} - {most} + {entry}")),
        (format!("{entering} + {entry}"), format!("{high} + {most} - {entry}")),
    ]
}
