//! Loops whose lanes compute values for one another: see [`crate::rows`].

use super::block::{LoopHooks, iterators_of};
use super::expr::Instance;
use super::helpers::Helper;
use super::{Printer, Writer, c_type};
use crate::input::Input;
use crate::int_text::{Precedence, within};
use crate::lanes::LANES;
use crate::program::{For, Guard, Kernel, Node, Over, Spread, Width};
use crate::rows::{Rows, changed, most_of_warp, rows};
use std::collections::BTreeSet;
use tessella_polyhedral::algorithm::{ComputationId, Subscript};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::layers::BufferId;
use tessella_polyhedral::schedule::{ProcessorAxis, Tag};
use tessella_scalar::ScalarType;

/// The array of all that the warps of a block compute for one another.
const ROWS: &str = "tessella_rows";
/// Iterations whose loads a lane has under way together.
const TOGETHER: u32 = 4;
/// Rows of a warp with no more iterations than this in all are short: lines of memory have several of them. More, if they are all alike.
const SHORT: i64 = 320;
const SHORT_AND_EVEN: i64 = 512;
/// A row counts for so many iterations at most where it is asked how long they are.
const LONG: i64 = 1 << 20;
/// Where fewer warps run, more loads would be under way if each lane went through its row by itself.
const FEW_WARPS: u32 = 1024;

/// What the kernel that is printed has for loops whose lanes compute values for one another.
#[derive(Default)]
pub struct OfKernel {
    /// The buffers that the kernel stores into.
    changed: BTreeSet<BufferId>,
    /// The most bytes of shared memory that a warp may have for them.
    most_of_warp: u32,
    /// The threads of a block.
    block: [u32; 3],
    /// The bytes that a warp needs for what has been printed.
    bytes_of_warp: u32,
    /// The lanes around the current place, where all of them pass it together.
    lanes: Option<Lanes>,
}

impl OfKernel {
    /// Before the kernel is printed.
    pub fn new(input: &Input<'_>, kernel: &Kernel) -> OfKernel {
        let (changed, most_of_warp) = (changed(input, kernel), most_of_warp(kernel));
        OfKernel { changed, most_of_warp, block: kernel.block, bytes_of_warp: 0, lanes: None }
    }

    /// The warps of a block.
    fn warps(&self) -> u32 {
        self.block.iter().product::<u32>() / LANES
    }
}

/// The lanes of a warp.
#[derive(Clone)]
pub(super) struct Lanes {
    /// The variable of the threads along x.
    variable: String,
    /// What stands before a thread's index in its value: `128 * i0 + (int64_t)`.
    before: String,
}

/// A value that lanes have computed for one another.
pub(super) struct Given {
    computation: ComputationId,
    value: Expr,
    text: String,
}

impl Printer<'_> {
    /// The array that the warps of a kernel share, if what has been printed of it needs one.
    pub fn rows_declaration(&self) -> Option<String> {
        let (warps, of_warp) = (self.rows.warps(), self.rows.bytes_of_warp);
        (of_warp > 0).then(|| format!("__shared__ __align__(16) unsigned char {ROWS}[{warps}][{of_warp}];"))
    }

    /// What stands for a value that lanes have computed for one another.
    pub(super) fn given(&self, value: &Expr, computation: ComputationId) -> Option<String> {
        let found = self.given.iter().find(|it| it.computation == computation && it.value == *value);
        found.map(|it| it.text.clone())
    }

    /// The names that an assignment still needs, some of whose values lanes have computed for one another; `None` if they have of none.
    pub(super) fn lets_left(&self, computation: ComputationId) -> Option<BTreeSet<u32>> {
        self.given.iter().any(|it| it.computation == computation).then(|| {
            let source = self.input.algorithm.computation(computation);
            let (mut found, mut left) = (BTreeSet::new(), vec![&source.value]);
            left.extend(source.write.subscripts.iter().filter_map(Subscript::as_computed));
            while let Some(expr) = left.pop() {
                if self.given(expr, computation).is_some() {
                    continue;
                }
                match &expr.kind {
                    ExprKind::Let(at) if found.insert(*at) => left.push(&source.lets[*at as usize].value),
                    ExprKind::Read(at) => {
                        left.extend(source.reads[*at as usize].subscripts.iter().filter_map(Subscript::as_computed));
                    }
                    _ => left.extend(expr.operands()),
                }
            }
            found
        })
    }

    /// What loops inside of these threads will know: which lane has which row, and whether all lanes are there.
    pub(super) fn threads_of_rows(&mut self, it: &Spread, before: String, out: &mut Writer) {
        let is_around = |node: &Node| matches!(node, Node::For(it) if self.rows_of(it).is_some());
        let along_x = it.over == Over::Threads && it.axis == ProcessorAxis::X && it.guard != Guard::Turns;
        if !along_x || !directly(&it.body, &is_around) {
            return;
        }
        let name = self.program.names.variables[it.variable.0 as usize].clone();
        let all = match it.guard {
            Guard::Needed => {
                let upper = within(self.int_bound(&it.upper), Precedence::Shift);
                format!("__all_sync(0xffffffffu, {name} <= {upper})")
            }
            Guard::Unneeded | Guard::Turns => "true".to_string(),
        };
        let few = FEW_WARPS.div_ceil(self.rows.warps());
        out.line(format!("const bool tessella_share = {all} && gridDim.x * gridDim.y * gridDim.z >= {few};"));
        self.rows.lanes = Some(Lanes { variable: name, before });
    }

    /// What is known of the lanes around a node. Inside of loops and conditions they may part, and it is forgotten until
    /// [`Printer::lanes_again`].
    pub(super) fn lanes_around(&mut self, node: &Node) -> Option<Lanes> {
        let around = self.rows.lanes.clone();
        let part = match node {
            Node::Declare { .. } | Node::Statement(_) | Node::Spread(_) => false,
            Node::For(it) => it.tag != Tag::Rows,
            _ => true,
        };
        if part {
            self.rows.lanes = None;
        }
        around
    }

    /// Behind the node.
    pub(super) fn lanes_again(&mut self, around: Option<Lanes>) {
        self.rows.lanes = around;
    }

    /// Prints a loop whose lanes compute values for one another; `false` if it is none, here.
    pub(super) fn loop_of_rows(&mut self, it: &For, hooks: &mut dyn LoopHooks, out: &mut Writer) -> bool {
        let (Some(lanes), Some(rows)) = (self.rows.lanes.clone(), self.rows_of(it)) else { return false };
        self.rows.bytes_of_warp = self.rows.bytes_of_warp.max(rows.bytes());
        self.shared_rows(it, &rows, &lanes, hooks, out);
        true
    }

    /// What the lanes of a warp share of a loop.
    fn rows_of<'b>(&self, it: &'b For) -> Option<Rows<'b>>
    where
        Self: 'b,
    {
        rows(&self.input, &self.rows.changed, it, self.rows.most_of_warp)
    }

    fn shared_rows(&mut self, it: &For, rows: &Rows<'_>, lanes: &Lanes, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let variable = self.program.names.variables[it.variable.0 as usize].clone();
        let t = match it.clip {
            Some(_) => Width::Wide.c_type(),
            None => self.width.c_type(),
        };
        let guard = it.clip.as_ref().and_then(|clip| self.clip_guard(it, clip));
        let (lower, upper) = match &it.clip {
            Some(clip) => self.clipped_bounds(it, clip),
            None => (self.int(&it.lower), self.int(&it.upper)),
        };
        out.open("");
        match guard {
            None => {
                out.line(format!("int64_t tessella_begin = {lower};"));
                out.line(format!("const int64_t tessella_end = {upper};"));
            }
            Some(guard) => {
                out.line("int64_t tessella_begin = 1;");
                out.line("int64_t tessella_end = 0;");
                out.open(format!("if ({guard})"));
                out.line(format!("tessella_begin = {lower};"));
                out.line(format!("tessella_end = {upper};"));
                out.close();
            }
        }
        self.helpers.insert(Helper::IndexMax(Width::Wide));
        self.helpers.insert(Helper::IndexMin(Width::Wide));
        // Rows without elements may begin and end anywhere.
        let length = "tessella_begin <= tessella_end ? tessella_end - tessella_begin + 1 : 0";
        out.line(format!("const int64_t tessella_length = {length};"));
        out.line("if (tessella_length == 0) tessella_begin = 1;");
        // How many there are in all, of long rows so many.
        out.line(format!("int tessella_all = (int)imin(tessella_length, {LONG});"));
        out.open("if (tessella_share)");
        out.open("for (int tessella_lanes = 16; tessella_lanes > 0; tessella_lanes /= 2)");
        out.line("tessella_all += __shfl_xor_sync(0xffffffffu, tessella_all, tessella_lanes);");
        out.close();
        out.close();
        let short = if rows.is_even { SHORT_AND_EVEN } else { SHORT };
        out.open(format!("if (tessella_share && tessella_all > {short})"));
        self.rounds(it, rows, lanes, t, out);
        out.reopen("else");
        out.open("for (int64_t tessella_next = 0; tessella_next < tessella_length; tessella_next++)");
        let mut body = Writer::default();
        self.block(&it.body, hooks, &mut body);
        self.with_variable(&variable, t, "tessella_begin + tessella_next", &body, out);
        out.close();
        out.close();
        out.close();
    }

    /// The text of an iteration, and its number where the text names it.
    fn with_variable(&self, variable: &str, t: &str, value: &str, body: &Writer, out: &mut Writer) {
        if body.mentions(variable) {
            let value = if t == Width::Wide.c_type() { value.to_string() } else { format!("({t})({value})") };
            out.line(format!("const {t} {variable} = {value};"));
        }
        out.text(&body.clone().finish());
    }

    /// Some iterations of all rows at a time: first their values, then the rows.
    fn rounds(&mut self, it: &For, rows: &Rows<'_>, lanes: &Lanes, t: &str, out: &mut Writer) {
        let variable = self.program.names.variables[it.variable.0 as usize].clone();
        let [x, y, z] = self.rows.block;
        out.line("int64_t tessella_most = tessella_length;");
        out.open("for (int tessella_lanes = 16; tessella_lanes > 0; tessella_lanes /= 2)");
        out.line("tessella_most = imax(tessella_most, __shfl_xor_sync(0xffffffffu, tessella_most, tessella_lanes));");
        out.close();
        out.line("const int tessella_lane = threadIdx.x & 31;");
        let warp = match (y, z) {
            (1, 1) => "threadIdx.x / 32".to_string(),
            (_, 1) => format!("threadIdx.x / 32 + {} * threadIdx.y", x / LANES),
            _ => format!("threadIdx.x / 32 + {} * (threadIdx.y + {y} * threadIdx.z)", x / LANES),
        };
        out.line(format!("unsigned char *const tessella_own = {ROWS}[{warp}];"));
        let values = self.places(rows, out);
        out.line("int tessella_bits = 3;");
        let most = rows.columns.ilog2();
        if most > 3 {
            out.line(format!(
                "while (tessella_bits < {most} && (32 << tessella_bits) < tessella_all) tessella_bits++;"
            ));
        }
        out.line("const int tessella_columns = 1 << tessella_bits;");
        out.line("const int tessella_column = tessella_lane & (tessella_columns - 1);");
        out.open("for (int64_t tessella_done = 0; tessella_done < tessella_most; tessella_done += tessella_columns)");
        out.line("const int64_t tessella_from = tessella_begin + tessella_done;");
        out.line("const int tessella_left = (int)imax(0, imin(tessella_columns, tessella_length - tessella_done));");
        out.open(format!("for (int tessella_turn = 0; tessella_turn < tessella_columns; tessella_turn += {TOGETHER})"));
        out.line(format!("bool tessella_there[{TOGETHER}];"));
        for (at, (ty, _)) in values.iter().enumerate() {
            out.line(format!("{ty} tessella_value_{at}[{TOGETHER}];"));
        }
        out.line("#pragma unroll");
        out.open(format!("for (int tessella_part = 0; tessella_part < {TOGETHER}; tessella_part++)"));
        let row = "const int tessella_row = ((tessella_turn + tessella_part) << (5 - tessella_bits)) + (tessella_lane >> tessella_bits);";
        out.line(row);
        out.line(
            "const int64_t tessella_at = __shfl_sync(0xffffffffu, tessella_from, tessella_row) + tessella_column;",
        );
        out.line(
            "tessella_there[tessella_part] = tessella_column < __shfl_sync(0xffffffffu, tessella_left, tessella_row);",
        );
        for at in 0..values.len() {
            out.line(format!("tessella_value_{at}[tessella_part] = 0;"));
        }
        out.open("if (tessella_there[tessella_part])");
        let mut body = Writer::default();
        self.values(rows, &mut body);
        let mut around = Writer::default();
        self.with_variable(&variable, t, "tessella_at", &body, &mut around);
        // Who computes it is another lane than the one whose row it is.
        let Lanes { variable: name, before } = lanes;
        if around.mentions(name) {
            let index = "(threadIdx.x & ~31u) + tessella_row";
            out.line(format!("const {} {name} = {before}({index});", self.width.c_type()));
        }
        out.text(&around.finish());
        out.close();
        out.close();
        out.line("#pragma unroll");
        out.open(format!("for (int tessella_part = 0; tessella_part < {TOGETHER}; tessella_part++)"));
        out.line(row);
        out.open("if (tessella_there[tessella_part])");
        out.line(format!("const int tessella_place = tessella_row * {} + tessella_column;", rows.columns + 1));
        for at in 0..values.len() {
            out.line(format!("tessella_given_{at}[tessella_place] = tessella_value_{at}[tessella_part];"));
        }
        out.close();
        out.close();
        out.close();
        out.line("__syncwarp();");
        self.own_row(rows, &values, &variable, t, out);
        out.line("__syncwarp();");
        out.close();
    }

    /// Declares where each value lies, and gives its type and its place: the largest elements first, so that all are aligned.
    fn places(&mut self, rows: &Rows<'_>, out: &mut Writer) -> Vec<(&'static str, u32)> {
        let mut types: Vec<ScalarType> = vec![];
        for shared in rows.statements.iter().filter_map(|(_, it)| it.as_ref()) {
            if !shared.asked.is_empty() {
                types.push(ScalarType::Bool);
            }
            types.extend(shared.values.iter().map(|it| it.ty));
        }
        let mut order: Vec<usize> = (0..types.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(types[at].bytes()));
        let (mut first, mut places) = (0, vec![0; types.len()]);
        for at in order {
            places[at] = first;
            first += types[at].bytes() * rows.elements();
        }
        let all: Vec<(&'static str, u32)> = types.iter().zip(places).map(|(ty, place)| (c_type(*ty), place)).collect();
        for (at, (ty, place)) in all.iter().enumerate() {
            let from = if *place == 0 { "tessella_own".to_string() } else { format!("(tessella_own + {place})") };
            out.line(format!("{ty} *const tessella_given_{at} = ({ty} *){from};"));
        }
        all
    }

    /// What a lane computes for the lane whose row it is.
    fn values(&mut self, rows: &Rows<'_>, out: &mut Writer) {
        let mut at = 0;
        for (statement, shared) in &rows.statements {
            let Some(shared) = shared else { continue };
            let computation = self.input.algorithm.computation(statement.computation);
            let iterators = iterators_of(statement);
            let here = Instance { computation: statement.computation, iterators: &iterators };
            let mut inside = Writer::default();
            let mut known = BTreeSet::new();
            let asks = !shared.asked.is_empty();
            if asks {
                let lets = computation.lets_below(shared.asked.iter().copied());
                self.some_lets(&here, &lets, &mut inside);
                known = lets;
                let parts: Vec<String> =
                    shared.asked.iter().map(|part| within(self.value(part, &here), Precedence::BitOr)).collect();
                let flag = format!("tessella_value_{at}[tessella_part]");
                inside.line(format!("{flag} = {};", parts.join(" && ")));
                inside.open(format!("if ({flag})"));
                at += 1;
            }
            let lets = computation.lets_below(shared.values.iter().copied());
            self.some_lets(&here, &lets.difference(&known).copied().collect(), &mut inside);
            for value in &shared.values {
                let text = self.value(value, &here).0;
                inside.line(format!("tessella_value_{at}[tessella_part] = {text};"));
                at += 1;
            }
            if asks {
                inside.close();
            }
            out.open("");
            self.named_bindings(statement, "", &inside, out);
            out.text(&inside.finish());
            out.close();
        }
    }

    /// The iterations of the lane's own row.
    fn own_row(&mut self, rows: &Rows<'_>, values: &[(&'static str, u32)], variable: &str, t: &str, out: &mut Writer) {
        for (at, (ty, _)) in values.iter().enumerate() {
            let first = format!("tessella_given_{at} + tessella_lane * {}", rows.columns + 1);
            out.line(format!("const {ty} *const tessella_mine_{at} = {first};"));
        }
        out.open("for (int tessella_next = 0; tessella_next < tessella_left; tessella_next++)");
        let mut body = Writer::default();
        let (mut at, alone) = (0, rows.statements.len() == 1);
        for (statement, shared) in &rows.statements {
            let Some(shared) = shared else {
                self.statement(statement, alone, &mut body);
                continue;
            };
            let next = |at: &mut usize| {
                let text = format!("tessella_mine_{at}[tessella_next]");
                *at += 1;
                text
            };
            let flag = (!shared.asked.is_empty()).then(|| next(&mut at));
            for value in &shared.values {
                let (computation, text) = (statement.computation, next(&mut at));
                self.given.push(Given { computation, value: (*value).clone(), text });
            }
            self.origin(statement.computation, &mut body);
            body.open(flag.map_or(String::new(), |flag| format!("if ({flag})")));
            let iterators = iterators_of(statement);
            let mut assignment = Writer::default();
            self.assign(&Instance { computation: statement.computation, iterators: &iterators }, &mut assignment);
            self.named_bindings(statement, "", &assignment, &mut body);
            body.text(&assignment.finish());
            body.close();
            self.given.clear();
        }
        self.with_variable(variable, t, "tessella_from + tessella_next", &body, out);
        out.close();
    }
}

/// Whether nodes hold such a loop, with nothing but declarations around it.
fn directly(nodes: &[Node], is_one: &dyn Fn(&Node) -> bool) -> bool {
    // What a name stands for, it may stand for in one lane alone.
    if nodes.iter().any(|node| matches!(node, Node::Let { .. })) {
        return false;
    }
    nodes.iter().any(|node| match node {
        Node::Declare { body, .. } => directly(body, is_one),
        other => is_one(other),
    })
}
