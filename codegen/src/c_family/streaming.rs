//! Kernels whose rows stream through registers, in CUDA.
//!
//! A kernel finds out which strip and part each of its warps has; a function template walks along the rows, in one
//! version for strips that lie inside of everything, and one for those at the rims.

mod fixed;
mod helpers;
mod hexagon;
mod moves;
mod names;
mod record;
mod resident;
mod stage;

pub use helpers::{STREAM_HELPERS, STREAM_LINES, STREAM_ROUNDS};
pub use hexagon::{HEXAGON_HELPERS, HEXAGON_PLANES};
pub use resident::RESIDENT_HELPERS;

use super::{Printer, Writer, c_type};
use crate::int_expr::IntExpr;
use crate::int_text::{Precedence, within};
use crate::stream::Streaming;
use moves::Packs;
use names::{Locals, StageNames};
use std::collections::BTreeSet;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::stream::{Away, LANES, Reach, Stage};

/// Whether a stage writes some columns or lines alone, which most strips do not have.
fn is_edge(stage: &Stage) -> bool {
    stage.thin[0] || stage.thin[1]
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

/// All lines that a lane holds.
fn all_lines(it: &Streaming) -> std::ops::Range<i64> {
    0..it.stream.size.lines.into()
}

/// The type of masks that have a bit for each point of a lane.
fn bits(it: &Streaming) -> &'static str {
    if it.stream.size.lines * it.stream.size.points > 32 { "uint64_t" } else { "unsigned" }
}

/// A mask of all points of a lane.
fn all_points(it: &Streaming) -> String {
    match it.stream.size.lines * it.stream.size.points {
        many if many > 32 => format!("UINT64_C({})", u64::MAX >> (64 - many.min(64))),
        many => format!("{}", u32::MAX >> (32 - many)),
    }
}

/// The bits of a line in a mask of all lines.
fn on_line(it: &Streaming, names: &Locals, mask: &str) -> String {
    let size = it.stream.size;
    let whole = (1u32 << size.points) - 1;
    if has_lines(it) { format!("({mask} >> {} * {} & {whole})", names.line, size.points) } else { mask.to_string() }
}

/// Whether a row, counted from the first one that is computed, is one that the warp stores.
fn stores_row(it: &Streaming, names: &Locals, row: &str) -> String {
    let back = it.stream.back;
    match it.rows_of_part() {
        Some(rows) => format!("{row} >= {back} && {row} < {}", back + rows),
        None => format!("{row} >= {back} && {row} < {}", stage::by(&names.rows, back)),
    }
}

impl Printer<'_> {
    /// The function that walks along the rows of a strip; `params` are those of the kernel.
    pub fn strip(&mut self, kernel: &str, params: &[String], it: &Streaming, out: &mut Writer) {
        if let Some((hexagon, halves)) = it.hexagons() {
            let hexagons = (it, hexagon, halves);
            return match &hexagon.planes {
                Some(planes) => self.plane_tile(kernel, params, hexagons, planes, out),
                None => self.hexagon_tile(kernel, params, hexagons, out),
            };
        }
        if let Some((resident, residing)) = it.resident() {
            return self.resident_tile(kernel, params, (it, resident, residing), out);
        }
        let names = self.locals(it);
        let size = it.stream.size;
        let (points, steps, depth) = (size.points, size.steps, it.stream.depth);
        let back = it.stream.back;
        let around = it.stream.around();
        let (idle_low, idle_high) = it.stream.idle_lanes();

        let (width, band) = (it.stream.width(), it.stream.band());
        let size_text = if has_lines(it) {
            format!("{width} columns and {band} lines a block")
        } else {
            format!("{width} columns a warp")
        };
        let last = match it.rows_of_part() {
            Some(rows) => format!("{} + {}", names.row, rows - 1),
            None => format!("{} + {} - 1", names.row, names.rows),
        };
        out.line(format!("// Rows {}..{last}, {size_text}.", names.row));
        out.line("// `inner`: its columns, and lines, lie inside of all arrays and boxes, and no statement asks there for an edge.");
        out.line("// `packed`: rows of all arrays can be read in packs.");
        out.line("template <bool inner>");
        out.line(format!("static __device__ __forceinline__ void {kernel}_strip("));
        params.iter().for_each(|param| out.line(format!("    {param},")));
        for (field, _) in self.shared(it) {
            let element = self.element_of(it, field);
            let edges = &names.fields[field].edges;
            out.line(format!("    tessella_pack<{element}, {points}> *const __restrict__ {edges},"));
        }
        let top = if has_lines(it) { format!(" const int64_t {},", names.top) } else { String::new() };
        let rows = if it.parts.is_some() { format!(", const int {}", names.rows) } else { String::new() };
        out.open(format!(
            "    const bool {}, const int64_t {},{top} const int64_t {}{rows})",
            names.packed, names.column, names.row
        ));
        out.line(format!("const int {} = threadIdx.x % {LANES};", names.lane));
        let stores = format!("{0} >= {idle_low} && {0} < {1}", names.lane, i64::from(LANES) - idle_high);
        let whole = (1u32 << points) - 1;
        out.line(format!("const unsigned {} = {stores} ? {whole} : 0;", names.stores));
        out.line(format!("const int64_t {} = {} - {back};  // rows are counted from here", names.base, names.row));
        if has_lines(it) {
            let (below, lines) = (it.stream.beside[1].below, size.lines);
            let ([first, last], warp) = (&names.band, &names.warp);
            out.line(format!("const int {warp} = threadIdx.x / {LANES};"));
            out.line(format!(
                "const int {first} = {below} - {warp} * {lines}, {last} = {} - {warp} * {lines};",
                below + band - 1
            ));
        }
        // Where all axes go round nobody asks for some of these masks.
        let unused = if it.goes_round() { "[[maybe_unused]] " } else { "" };
        for (field, own) in names.fields.iter().enumerate() {
            let element = c_type(self.input.algorithm.array(it.stream.fields[field].array).element);
            let last = within(self.int_bound(it.last(field, 2)), Precedence::Sum);
            let ends = [0, 1].map(|axis| ("1".to_string(), self.int(it.last(field, axis))));
            let which = self.points(it, &names, &ends);
            let which = self.of_rims(it, which);
            out.line(format!("{unused}const {} {} = {which};", bits(it), own.has));
            out.line(format!(
                "const int {} = tessella_near(1 - {}), {} = tessella_near({last} - {});",
                own.first, names.base, own.last, names.base
            ));
            if it.is_carried(field) || it.rest.is_some() {
                // Of those that go round, one is where it belongs.
                let has = match it.rounds[0].is_some() || it.rounds[1].is_some() {
                    true => format!("(inner ? {} : {})", all_points(it), self.points_there(it, &names, &ends)),
                    false => own.has.clone(),
                };
                let which = match has_lines(it) {
                    true => {
                        let [first, last] = &names.band;
                        let lines = [first, last].map(|it| it.as_str());
                        format!("{} & {has}", self.masked(it, &names.stores, ["0", lines[0], lines[1]]))
                    }
                    false => format!("{} & {has}", names.stores),
                };
                out.line(format!("const {} {} = {which};", bits(it), own.stored));
            }
            out.line(format!("{element} {}[{}][{depth}]{} = {{}};", own.rows, steps + 1, held(it)));
            let rim = it.stream.fields[field].rim;
            let lines = self.int(&it.extents[field][1]);
            let columns = within(self.int_bound(&it.extents[field][0]), Precedence::Product);
            let plane = if has_lines(it) { format!("{columns} * ({lines})") } else { columns.clone() };
            if rim {
                out.line(format!("[[maybe_unused]] const int64_t {} = {plane};", own.plane));
            }
            if has_lines(it) && (rim || it.rest.is_some()) {
                out.line(format!("int {} = inner ? (int)({columns}) : 0;", own.stride));
            }
        }
        for ((at, own), stage) in names.stages.iter().enumerate().zip(it.stream.nests()) {
            let [columns, lines, (low_y, high_y)] = &it.limits[at];
            let low_y = within(self.int_bound(low_y), Precedence::Sum);
            let high_y = within(self.int_bound(high_y), Precedence::Sum);
            let ends = [columns, lines].map(|(low, high)| (self.int(low), self.int(high)));
            let which = self.points(it, &names, &ends);
            let records = at >= it.stream.stages.len();
            let which = if records { self.recorded(it, &names, &which) } else { which };
            let which = match (is_edge(stage), records) {
                (true, _) => format!("inner ? 0 : {which}"),
                (false, true) => which,
                (false, false) => self.of_rims(it, which),
            };
            out.line(format!("{unused}const {} {} = {which};", bits(it), own.within));
            if let Some(sums) = &stage.sums {
                let element = self.element_of(it, stage.field);
                out.line(format!("{element} {}[{steps}][{}]{} = {{}};", own.sums, sums.longest, held(it)));
            }
            out.line(format!(
                "const int {} = tessella_near({low_y} - {}), {} = tessella_near({high_y} - {});",
                own.first, names.base, own.last, names.base
            ));
            let has_first = self.makes(it, stage, "0");
            self.load_fixed(it, (&own.fixed, at), has_first, out);
            let makes = self.makes(it, stage, &names.step);
            self.load_fixed_of_steps(it, (&own.fixed, at), (&names.step, makes), out);
        }
        self.ways_round(it, &names, out);
        for (field, own) in names.fields.iter().enumerate().filter(|(field, _)| it.stream.fields[*field].rim) {
            let element = c_type(self.input.algorithm.array(it.stream.fields[field].array).element);
            out.line(format!("{element} {}{} = {{}};", own.ahead, held(it)));
            let lead = it.stream.fields[field].lead.to_string();
            let (from, to) = self.field_buffers(it, field);
            let place = self.corner(it, &names, field, &from, &lead);
            out.line(format!("const {element} *{} = {place};", own.from));
            if it.is_carried(field) && it.rest.is_none() {
                let finisher = &it.stream.stages[it.stream.fields[field].finisher];
                let lag = (i64::from(steps) - 1) * it.stream.lag + finisher.lag;
                let place = self.corner(it, &names, field, &to, &format!("(-{lag})"));
                out.line(format!("{element} *{} = {place};  // steps through memory with the rows", own.to));
            }
            self.load(it, &names, field, (&lead, "false"), out);
        }
        let (now, calm, safe) = (&names.now, &names.calm, &names.safe);
        // The last launches make few steps: less text to compile.
        let knows_calm = it.rest.is_none();
        let amidst = if knows_calm { self.calm(it, &names, out) } else { vec![] };
        let until = match it.rows_of_part() {
            Some(rows) => format!("<= {}", rows + around - 1),
            None => format!("< {} + {around}", names.rows),
        };
        out.open(format!("for (int {now}_0 = 0; {now}_0 {until}; {now}_0 += {depth})"));
        if knows_calm {
            let away =
                amidst.iter().map(|[before, behind]| format!(" && ({now}_0 <= {before} || {now}_0 >= {behind})"));
            let away: String = away.collect();
            out.open(format!("if ({now}_0 >= {} && {now}_0 <= {}{away})", calm[0], calm[1]));
            out.line(format!("constexpr bool {safe} = true;"));
            self.iterations(it, &names, out);
            out.line("continue;");
            out.close();
        }
        out.line(format!("constexpr bool {safe} = false;"));
        self.iterations(it, &names, out);
        out.close();
        out.close();
        out.blank();
    }

    /// All points inside, and at the rims these.
    fn of_rims(&self, it: &Streaming, which: String) -> String {
        let all = all_points(it);
        if it.goes_round() || which == all { all } else { format!("inner ? {all} : {which}") }
    }

    /// The iterations at whose rows nothing has to be looked at: all that they touch lie inside of all arrays and boxes, and no
    /// statement asks there for an edge. Among them are those between the given pairs, which meet rows of few statements.
    fn calm(&mut self, it: &Streaming, names: &Locals, out: &mut Writer) -> Vec<[String; 2]> {
        let ([first, last], depth) = (&names.calm, it.stream.depth);
        if !has_rows(it) {
            out.line(format!("const int {first} = 0, {last} = 0;"));
            return vec![];
        }
        let whole = || names.stages.iter().zip(&it.stream.stages).filter(|(_, stage)| !stage.thin[2]);
        let mut firsts: Vec<String> =
            whole().map(|(own, _)| format!("{} + {}", own.first, it.stream.last_lag())).collect();
        let mut latest: Vec<String> =
            whole().map(|(own, stage)| format!("{} - {}", own.last, depth - 1 - stage.lag)).collect();
        for (stage, settled) in it.all_settled().filter(|(_, settled)| settled.axis == 2) {
            let (Away::From(end) | Away::UpTo(end)) = &settled.away;
            let end = within(self.int_bound(&IntExpr::from_affine(end, &[])), Precedence::Product);
            let end = format!("tessella_near({end} - {})", names.base);
            match &settled.away {
                Away::From(_) => firsts.push(format!("{end} + {}", it.stream.last_lag())),
                Away::UpTo(_) => latest.push(format!("{end} - {}", depth - 1 - stage.lag)),
            }
        }
        let (mut firsts, lasts) = (firsts.into_iter(), latest.into_iter());
        let loads = names.fields.iter().zip(&it.stream.fields).enumerate().filter(|(_, (_, field))| field.rim);
        // Of a field that is not carried, rows that no stage computes have to be loaded.
        let loads = loads.flat_map(|(at, (own, field))| {
            let computed = || it.stream.writers(at).filter(|writer| !it.stream.stages[*writer].thin[2]);
            let lasts: Vec<&String> = match field.carried {
                true => vec![&own.last],
                false => computed().map(|writer| &names.stages[writer].last).collect(),
            };
            lasts.into_iter().map(|last| format!("{last} - {}", field.lead + depth)).collect::<Vec<_>>()
        });
        let mut lasts = lasts.chain(loads);
        out.line(format!("int {first} = {};", firsts.next().expect("there is a stage")));
        firsts.for_each(|other| out.line(format!("if ({other} > {first}) {first} = {other};")));
        out.line(format!("int {last} = {};", lasts.next().expect("there is a stage")));
        lasts.for_each(|other| out.line(format!("if ({other} < {last}) {last} = {other};")));
        let thin = names.stages.iter().zip(it.stream.nests()).filter(|(_, stage)| stage.thin[2]);
        let around = |own: &StageNames, lag: i64| {
            [format!("{} - {}", own.first, depth - lag), format!("{} + {}", own.last, it.stream.last_lag() + 1)]
        };
        let (amidst, at_ends): (Vec<_>, Vec<_>) =
            thin.partition(|(_, stage)| it.stream.is_amidst(self.input.algorithm, stage));
        // Before or behind rows of an edge, wherever there is more.
        for (own, stage) in at_ends {
            let [before, behind] = around(own, stage.lag);
            out.line(format!(
                "if ({last} - ({behind}) >= {before} - {first}) {{ if ({first} < {behind}) {first} = {behind}; }}"
            ));
            out.line(format!("else if ({last} > {before}) {last} = {before};"));
        }
        // The same rows are met by the nests of each iteration of a period.
        let mut met: Vec<(&StageNames, &Stage, i64)> = vec![];
        for (own, stage) in amidst {
            match met.iter_mut().find(|(_, other, _)| other.limits[2] == stage.limits[2]) {
                Some((.., lag)) => *lag = stage.lag.min(*lag),
                None => met.push((own, stage, stage.lag)),
            }
        }
        for (own, _, lag) in &met {
            let [before, behind] = around(own, *lag);
            out.line(format!("const int {} = {before}, {} = {behind};", own.before, own.behind));
        }
        met.into_iter().map(|(own, ..)| [own.before.clone(), own.behind.clone()]).collect()
    }

    /// Some iterations, after which rows lie where they lay before.
    fn iterations(&mut self, it: &Streaming, names: &Locals, out: &mut Writer) {
        let size = it.stream.size;
        let (points, steps, depth) = (size.points, size.steps, it.stream.depth);
        let safe = &names.safe;
        out.line("#pragma unroll");
        out.open(format!("for (int {0} = 0; {0} < {depth}; {0}++)", names.turn));
        out.line(format!("const int {0} = {0}_0 + {1};", names.now, names.turn));
        for (field, shared) in self.shared(it) {
            out.line(format!("const int {} = {} % {};", names.fields[field].slot, names.now, shared.planes));
        }
        if has_lines(it) {
            // Else compilers keep an address for each line.
            for (own, _) in names.fields.iter().zip(&it.stream.fields).filter(|(_, it)| it.rim) {
                out.line(format!("asm volatile(\"\" : \"+r\"({}));", own.stride));
            }
        }
        for (field, own) in names.fields.iter().enumerate().filter(|(field, _)| it.stream.fields[*field].rim) {
            let lead = it.stream.fields[field].lead;
            let (k, turn, of_line) = (&names.point, &names.turn, of_line(it, names));
            each_line(it, names, all_lines(it), out, &mut |out| {
                out.line("#pragma unroll");
                out.line(format!(
                    "for (int {k} = 0; {k} < {points}; {k}++) {}[0][{turn}]{of_line}[{k}] = {}{of_line}[{k}];",
                    own.rows, own.ahead
                ));
            });
            if let Some(rest) = it.rest.filter(|_| it.is_carried(field)) {
                let steps = self.variable(rest.steps).to_string();
                let place = format!("{} + {lead}", names.now);
                let some = format!("{steps} == 0 && {}", stores_row(it, names, &place));
                out.open(format!("if ({some})"));
                let which = format!("{safe} || {place} <= {} ? {} : 0", own.last, on_line(it, names, &own.stored));
                let ahead = format!("{}{of_line}", own.ahead);
                self.store(it, names, (field, Packs::IfAligned), &place, [&which, &ahead], out);
                out.close();
            }
            self.give(it, names, field, 0, out);
            if has_rows(it) {
                let next = format!("{} + {}", names.now, lead + 1);
                out.line(format!("{} += {};", own.from, own.plane));
                self.load(it, names, field, (&next, safe), out);
            }
        }
        out.line("#pragma unroll");
        out.open(format!("for (int {0} = 0; {0} < {steps}; {0}++)", names.step));
        for stage in 0..it.stream.stages.len() {
            self.stage(it, names, stage, out);
        }
        for record in 0..it.stream.records.len() {
            self.record(it, names, record, out);
        }
        out.close();
        if !self.shared(it).is_empty() {
            out.line("__syncthreads();");
        }
        if it.rest.is_none() {
            for own in names.fields.iter().enumerate().filter(|(at, _)| it.is_carried(*at)).map(|(_, own)| own) {
                out.line(format!("{} += {};", own.to, own.plane));
            }
        }
        out.close();
    }

    /// The body of a kernel that streams.
    pub fn streaming(&mut self, kernel: &str, arguments: &[String], it: &Streaming, out: &mut Writer) {
        if let Some((hexagon, halves)) = it.hexagons() {
            return self.hexagons(kernel, arguments, (it, hexagon, halves), out);
        }
        if let Some((resident, residing)) = it.resident() {
            return self.residents(kernel, arguments, (it, resident, residing), out);
        }
        let mut namer = self.program.names.namer();
        let [strips, strip, row, west, column, bands, band, top] =
            ["strips", "strip", "row", "west", "column", "bands", "band", "top"].map(|name| namer.fresh(name));
        let size = it.stream.size;
        let points = i64::from(size.points);
        let mut edges = vec![];
        for (field, shared) in self.shared(it) {
            let name = self.locals(it).fields.swap_remove(field).edges;
            let lines = (shared.reach.below + shared.reach.above) * (shared.versions.1 - shared.versions.0 + 1);
            let packs = lines * shared.planes * it.stream.warps() * i64::from(LANES);
            let element = self.element_of(it, field);
            out.line(format!("__shared__ tessella_pack<{element}, {points}> {name}[{packs}];"));
            edges.push(name);
        }
        let text = self.int(&it.strips());
        let upwards = match has_lines(it) {
            false => {
                out.line(format!("const int64_t {strips} = {text};"));
                "blockIdx.x".to_string()
            }
            true => {
                out.line(format!("const int64_t {strips} = {text};"));
                let text = self.int(&it.bands());
                out.line(format!("const int64_t {bands} = {text}, {band} = blockIdx.x % {bands};"));
                let Reach { below, .. } = it.stream.beside[1];
                out.line(format!("const int64_t {top} = 1 + {band} * {} - {below};", it.stream.band()));
                format!("blockIdx.x / {bands}")
            }
        };
        let all_rows = self.int_bound(&it.rows());
        let (rows, rows_argument) = match (it.parts, it.rows_of_part()) {
            (Some(parts), _) => {
                let (rows, parts) = (namer.fresh("rows"), self.variable(parts).to_string());
                let all = within(all_rows.clone(), Precedence::Sum);
                out.line(format!("const int {rows} = (int)(({all} + {parts} - 1) / {parts});"));
                (rows.clone(), format!(", {rows}"))
            }
            (None, rows) => (rows.expect("launches choose, or the schedule says it").to_string(), String::new()),
        };
        out.line(format!("const int64_t {strip} = {upwards} % {strips}, {row} = 1 + {upwards} / {strips} * {rows};"));
        let all_rows = within(all_rows, Precedence::Shift);
        out.line(format!("if ({row} > {all_rows}) return;"));
        let (width, idle) = (it.stream.width(), it.stream.idle_lanes().0 * points);
        out.line(format!("const int64_t {west} = 1 + {strip} * {width} - {idle};"));
        out.line(format!("const int64_t {column} = {west} + threadIdx.x % {LANES} * {points};"));
        let longest = i64::from(i32::MAX) / i64::from(size.lines);
        let short = it.extents.iter().map(|extents| {
            let columns = within(self.int_bound(&extents[0]), Precedence::Shift);
            format!(" && {columns} <= {longest}")
        });
        let short: BTreeSet<String> = short.collect();
        let mut inside = |axis: usize| {
            let limits = || it.limits.iter().zip(&it.stream.stages).filter(|(_, stage)| !is_edge(stage));
            let settled = || it.all_settled().map(|(_, it)| it).filter(|it| it.axis == axis).map(|it| &it.away);
            let end = |end: &Affine| IntExpr::from_affine(end, &[]);
            let from = settled().filter_map(|it| if let Away::From(it) = it { Some(end(it)) } else { None });
            let up_to = settled().filter_map(|it| if let Away::UpTo(it) = it { Some(end(it)) } else { None });
            let lows = limits().map(|(limits, _)| limits[axis].0.clone()).chain([IntExpr::Const(1)]).chain(from);
            let highs = limits().map(|(limits, _)| limits[axis].1.clone());
            let highs = highs.chain(it.extents.iter().map(|extents| extents[axis].clone())).chain(up_to);
            let least = within(self.int_bound(&IntExpr::max_of(lows)), Precedence::Shift);
            let most = within(self.int_bound(&IntExpr::min_of(highs)), Precedence::Shift);
            (least, most)
        };
        let (least, most) = inside(0);
        let mut inner = format!("{west} >= {least} && {west} + {} <= {most}", points * i64::from(LANES) - 1);
        if has_lines(it) {
            let (least, most) = inside(1);
            inner.push_str(&format!(" && {top} >= {least} && {top} + {} <= {most}", it.stream.all_lines() - 1));
            short.iter().for_each(|it| inner.push_str(it));
        }
        // Rows that never change inside, and are loaded there, count on this: see `Stream::loads_rim`.
        for (limits, stage) in it.limits.iter().zip(it.stream.nests()).filter(|(_, stage)| is_edge(stage)) {
            let ends = [(&west, points * i64::from(LANES) - 1), (&top, it.stream.all_lines() - 1)];
            let apart = (0..2).filter(|axis| stage.thin[*axis]).flat_map(|axis| {
                let (low, high) = &limits[axis];
                let (at, length) = ends[axis];
                let low = within(self.int_bound(low), Precedence::Shift);
                let high = within(self.int_bound(high), Precedence::Shift);
                [format!("{at} + {length} < {low}"), format!("{at} > {high}")]
            });
            let apart: Vec<String> = apart.collect();
            inner.push_str(&format!(" && ({})", apart.join(" || ")));
        }
        let arguments = [arguments, &edges].concat().join(", ");
        let place = match has_lines(it) {
            true => format!("{column}, {top} + threadIdx.x / {LANES} * {}", size.lines),
            false => column,
        };
        let carried = (0..it.stream.fields.len()).filter(|field| it.is_carried(*field));
        let packed = carried.map(|field| self.packed(it, field)).collect::<Vec<_>>().join(" && ");
        let names = self.locals(it);
        let strip = |of: &str, packed: &str| {
            format!("{kernel}_strip<{of}>({arguments}, {packed}, {place}, {row}{rows_argument});")
        };
        out.line(format!("const bool {} = {packed};", names.packed));
        let is_inner = namer.fresh("is_inner");
        out.line(format!("const bool {is_inner} = {inner};"));
        // A version of its own where no load has to look. Few steps are left for the last launches: they have one less.
        if it.rest.is_none() {
            out.line(format!("if ({is_inner} && {}) {}", names.packed, strip("true", "true")));
            out.line(format!("else if ({is_inner}) {}", strip("true", "false")));
        } else {
            out.line(format!("if ({is_inner}) {}", strip("true", &names.packed)));
        }
        out.line(format!("else {}", strip("false", &names.packed)));
    }
}
