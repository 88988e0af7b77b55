//! Loops, conditions and statements.

use super::access::accessed;
use super::expr::Instance;
use super::flat::Flat;
use super::helpers::Helper;
use super::lanes::RUNS;
use super::signature::one_line;
use super::wide::{Vectors, of_nest};
use super::{Dialect, Printer, Writer, c_type};
use crate::display::axis_text;
use crate::entry::STATUS_OUT_OF_MEMORY;
use crate::input::Input;
use crate::int_expr::{Cond, IntExpr};
use crate::int_text::{Precedence, within};
use crate::lanes::shared_by_lanes;
use crate::program::{Asked, Clip, For, Going, Guard, Node, Over, Spread, Statement, Update, Width};
use crate::ranges::known_iterators;
use std::collections::BTreeSet;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{ArrayId, ComputationId, Subscript};
use tessella_polyhedral::expr::{Expr, conjuncts};
use tessella_polyhedral::layers::{BufferId, MemorySpace};
use tessella_polyhedral::schedule::Tag;
use tessella_polyhedral::transform::atomic;
use tessella_scalar::{BinaryOp, CompareOp, ScalarType};

/// What a backend says before a loop.
pub trait LoopHooks {
    /// Called before the `for` is printed; may write lines.
    fn enter(&mut self, it: &For, printer: &mut Printer<'_>, out: &mut Writer);
    /// Called before the body is printed; may write lines.
    fn begin(&mut self, _: &For, _: &mut Printer<'_>, _: &mut Writer) {}
    /// Called after the body is printed; may write lines.
    fn end(&mut self, _: &For, _: &mut Printer<'_>, _: &mut Writer) {}
    /// Called after the loop is printed.
    fn leave(&mut self, it: &For);
}

/// The values of a statement's iterators.
pub(super) fn iterators_of(it: &Statement) -> Vec<IntExpr> {
    it.iterators.iter().map(|at| at.map_or(IntExpr::Const(0), IntExpr::Variable)).collect()
}

/// Says nothing.
pub struct NoHooks;

impl LoopHooks for NoHooks {
    fn enter(&mut self, _: &For, _: &mut Printer<'_>, _: &mut Writer) {}
    fn leave(&mut self, _: &For) {}
}

impl Printer<'_> {
    /// A block of nodes, without its braces.
    pub fn block(&mut self, nodes: &[Node], hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let alone = nodes.len() == 1;
        for node in nodes {
            let lanes = self.lanes_around(node);
            match node {
                Node::For(it) if it.stores_last => self.stores_last(it, alone, hooks, out),
                Node::For(it) => self.for_loop(it, hooks, out),
                Node::If { condition, then, otherwise } => {
                    let condition = self.cond(condition);
                    out.open(format!("if ({condition})"));
                    if otherwise.is_empty() {
                        self.block(then, hooks, out);
                    } else {
                        self.whole_tile(then, hooks, out);
                        out.reopen("else");
                        self.block(otherwise, hooks, out);
                    }
                    out.close();
                }
                Node::Let { variable, value } => {
                    let value = self.int(value);
                    let name = &self.program.names.variables[variable.0 as usize];
                    out.line(format!("const {} {name} = {value};", self.width.c_type()));
                }
                Node::Statement(it) => self.statement(it, alone, out),
                Node::Declare { buffer, body } => {
                    if !alone {
                        out.open("");
                    }
                    let of_threads = self.input.is_of_threads(*buffer);
                    let on_heap = self.input.is_on_heap(*buffer) && !of_threads;
                    if of_threads {
                        let part = self.part_of_thread(*buffer);
                        out.line(part);
                    } else if on_heap {
                        self.allocate_inside(*buffer, out);
                    } else {
                        let declaration = self.declaration(*buffer);
                        out.line(declaration);
                    }
                    self.own.push(*buffer);
                    self.block(body, hooks, out);
                    self.own.pop();
                    if on_heap && let Some(name) = self.allocated.pop() {
                        out.line(format!("free({name});"));
                    }
                    if !alone {
                        out.close();
                    }
                }
                Node::Spread(it) => match &it.rows {
                    Some(rows) => self.copy_rows(rows, alone, out),
                    None => self.spread(it, alone, hooks, out),
                },
                Node::OneThread { axes, body } => {
                    let all: Vec<_> = axes.iter().map(|axis| format!("threadIdx.{} == 0", axis_text(*axis))).collect();
                    out.open(format!("if ({})", all.join(" && ")));
                    self.block(body, hooks, out);
                    out.close();
                }
                Node::Barrier => out.line("__syncthreads();"),
                Node::GridBarrier => out.line("tessella_grid_barrier();"),
                Node::Turns(it) => self.turns(it, hooks, out),
                Node::Await(later) => out.line(format!("tessella_await<{later}>();")),
                Node::Tile(it) => self.tile(it, alone, hooks, out),
                // The host's business, printed from the launch plan.
                Node::Launch(_) | Node::Together { .. } | Node::Copy { .. } => {}
                // A kernel of its own kind: the backend prints it whole.
                Node::Streaming(_) => {}
            }
            self.lanes_again(lanes);
        }
    }

    /// `for (int64_t i = lower; i <= upper; i++)`.
    /// `going` is asked before each iteration, too.
    pub fn for_head(
        &mut self,
        variable: &str,
        lower: &IntExpr,
        upper: &IntExpr,
        step: i64,
        going: Option<&str>,
    ) -> String {
        let lower = self.int(lower);
        let until = match upper {
            IntExpr::Sub(bound, one) if one.as_const() == Some(1) => {
                format!("{variable} < {}", within(self.int_bound(bound), Precedence::Shift))
            }
            bound => format!("{variable} <= {}", within(self.int_bound(bound), Precedence::Shift)),
        };
        let until = going.map_or(until.clone(), |going| format!("{until} && {going}"));
        let next = if step == 1 { format!("{variable}++") } else { format!("{variable} += {step}") };
        format!("for ({} {variable} = {lower}; {until}; {next})", self.width.c_type())
    }

    pub(super) fn for_loop(&mut self, it: &For, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        if self.in_warps
            && let Some(shared) = shared_by_lanes(&self.input, it)
        {
            return self.loop_of_lanes(it, &shared, hooks, out);
        }
        if it.tag == Tag::Rows && self.loop_of_rows(it, hooks, out) {
            return;
        }
        match (self.wide, of_nest(it), &it.wide) {
            (Vectors::Ask, Some(wide), _) => return self.wide_nest(it, wide, hooks, out),
            (Vectors::Aligned | Vectors::Peeled, _, Some(wide)) => return self.wide_loop(it, wide, hooks, out),
            (Vectors::Ask | Vectors::Aligned | Vectors::Peeled, _, _) => {}
        }
        match Flat::of(it).filter(|_| !self.offering.is_empty()) {
            Some(flat) => self.flat_nest(&flat, hooks, out),
            None => self.plain_loop(it, hooks, out),
        }
    }

    /// A loop as it stands.
    pub(super) fn plain_loop(&mut self, it: &For, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let variable = self.program.names.variables[it.variable.0 as usize].clone();
        let asked = it.asked.as_ref().map(|asked| self.asked(asked));
        let guard = it.clip.as_ref().and_then(|clip| self.clip_guard(it, clip)).or(asked);
        if let Some(guard) = &guard {
            out.open(format!("if ({guard})"));
        }
        hooks.enter(it, self, out);
        let going = it.going.as_ref().map(|going| self.going(going));
        let goes_on = self.unless_failed(it);
        let going = [going, goes_on].into_iter().flatten().reduce(|going, other| format!("{going} && {other}"));
        let head = match &it.clip {
            Some(clip) => self.clipped_head(it, clip),
            None => self.for_head(&variable, &it.lower, &it.upper, it.step, going.as_deref()),
        };
        out.open(head);
        let threads = u32::from(it.tag == Tag::Parallel);
        (self.loops_around, self.threads_around) = (self.loops_around + 1, self.threads_around + threads);
        let around = if threads > 0 { std::mem::take(&mut self.own) } else { vec![] };
        hooks.begin(it, self, out);
        self.block(&it.body, hooks, out);
        hooks.end(it, self, out);
        if threads > 0 {
            self.own = around;
        }
        (self.loops_around, self.threads_around) = (self.loops_around - 1, self.threads_around - threads);
        out.close();
        hooks.leave(it);
        if guard.is_some() {
            out.close();
        }
        self.leave_behind(it, out);
    }

    fn asked(&mut self, asked: &Asked) -> String {
        let iterators: Vec<IntExpr> =
            asked.iterators.iter().map(|it| it.clone().unwrap_or(IntExpr::Const(0))).collect();
        let at = Instance { computation: asked.computation, iterators: &iterators };
        let runs = Cond::all_of(asked.runs.clone());
        let mut parts = vec![];
        if runs != Cond::Const(true) {
            parts.push(self.cond(&runs));
        }
        let alone = parts.is_empty() && asked.parts.len() == 1;
        let limit = if alone { Precedence::Select } else { Precedence::BitOr };
        parts.extend(asked.parts.iter().map(|part| within(self.value(part, &at), limit)));
        parts.join(" && ")
    }

    fn going(&mut self, going: &Going) -> String {
        let iterators: Vec<IntExpr> =
            going.iterators.iter().map(|it| it.clone().unwrap_or(IntExpr::Const(0))).collect();
        let at = Instance { computation: going.computation, iterators: &iterators };
        within(self.value(&going.condition, &at), Precedence::BitOr)
    }

    /// Where bounds that are data are evaluated; `None` if always.
    pub(super) fn clip_guard(&mut self, it: &For, clip: &Clip) -> Option<String> {
        let mut parts = vec![];
        let always = it.lower.as_const().zip(it.upper.as_const()).is_some_and(|(lower, upper)| lower <= upper);
        if !always {
            let some = Cond::compare(CompareOp::Le, it.lower.clone(), it.upper.clone());
            parts.push(self.cond(&some));
        }
        let iterators = known_iterators(clip);
        let at = Instance { computation: clip.computation, iterators: &iterators };
        parts.extend(clip.conditions.iter().map(|part| within(self.value(part, &at), Precedence::BitOr)));
        (!parts.is_empty()).then(|| parts.join(" && "))
    }

    /// `for (int64_t k = imax(lower, first), k_last = imin(upper, last); k <= k_last; k++)`. A longer step is taken where data tell the
    /// last value alone.
    fn clipped_head(&mut self, it: &For, clip: &Clip) -> String {
        let (first, until) = self.clipped_bounds(it, clip);
        let variable = &self.program.names.variables[it.variable.0 as usize];
        let last = &self.program.names.variables[clip.last.0 as usize];
        let next = if it.step == 1 { format!("{variable}++") } else { format!("{variable} += {}", it.step) };
        format!("for (int64_t {variable} = {first}, {last} = {until}; {variable} <= {last}; {next})")
    }

    /// The first and the last value of the variable of a loop whose bounds are data.
    pub(super) fn clipped_bounds(&mut self, it: &For, clip: &Clip) -> (String, String) {
        let iterators = known_iterators(clip);
        let at = Instance { computation: clip.computation, iterators: &iterators };
        let (least, most) = ((Helper::IndexMax(Width::Wide), "imax"), (Helper::IndexMin(Width::Wide), "imin"));
        let mut end = |bound: &Option<Expr>, outer: &IntExpr, helper: Helper, name: &str| {
            let Some(bound) = bound else { return self.int(outer) };
            self.helpers.insert(helper);
            let bound = self.value(bound, &at).0;
            if !clip.down {
                return format!("{name}({}, {bound})", self.int(outer));
            }
            // Only what is inside of the outer range has an opposite for certain; of what is below, all but the least number.
            let within = format!("{name}({}, {bound})", self.int(&outer.clone().negated()));
            if helper == most.0 {
                self.helpers.insert(least.0);
                return format!("-imax({}, {within})", -i64::MAX);
            }
            format!("-{within}")
        };
        match clip.down {
            true => (end(&clip.high, &it.lower, most.0, most.1), end(&clip.low, &it.upper, least.0, least.1)),
            false => (end(&clip.low, &it.lower, least.0, least.1), end(&clip.high, &it.upper, most.0, most.1)),
        }
    }

    fn spread(&mut self, it: &Spread, alone: bool, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let name = self.program.names.variables[it.variable.0 as usize].clone();
        let index = match it.over {
            Over::Blocks if self.in_turns => format!("tessella_block_{}", axis_text(it.axis)),
            Over::Blocks => format!("blockIdx.{}", axis_text(it.axis)),
            Over::Threads => format!("threadIdx.{}", axis_text(it.axis)),
        };
        // The index is an unsigned int: arithmetic needs the wider type first.
        let t = self.width.c_type();
        let before = match (&it.lower, it.step) {
            (IntExpr::Const(0), 1) => String::new(),
            (IntExpr::Const(0), step) => format!("{step} * ({t})"),
            (lower, 1) => format!("{} + ({t})", within(self.int_bound(lower), Precedence::Sum)),
            (lower, step) => format!("{} + {step} * ({t})", within(self.int_bound(lower), Precedence::Sum)),
        };
        let value = format!("{before}{index}");
        if it.guard == Guard::Turns {
            let upper = within(self.int_bound(&it.upper), Precedence::Shift);
            let all = match it.over {
                Over::Blocks => format!("gridDim.{}", axis_text(it.axis)),
                Over::Threads => format!("blockDim.{}", axis_text(it.axis)),
            };
            let further = if it.step == 1 { format!("({t}){all}") } else { format!("{} * ({t}){all}", it.step) };
            out.open(format!("for ({t} {name} = {value}; {name} <= {upper}; {name} += {further})"));
            self.block(&it.body, hooks, out);
            out.close();
            return;
        }
        if !alone {
            out.open("");
        }
        if !it.combined.is_empty() {
            self.offer(&it.combined, out);
        }
        if uses_index(it) {
            out.line(format!("const {} {name} = {value};", self.width.c_type()));
        }
        self.threads_of_rows(it, before, out);
        match it.guard {
            Guard::Needed => {
                let upper = within(self.int_bound(&it.upper), Precedence::Shift);
                out.open(format!("if ({name} <= {upper})"));
                self.block(&it.body, hooks, out);
                out.close();
            }
            Guard::Unneeded | Guard::Turns if !it.combined.is_empty() => {
                out.open("");
                self.block(&it.body, hooks, out);
                out.close();
            }
            Guard::Unneeded | Guard::Turns => self.block(&it.body, hooks, out),
        }
        if !it.combined.is_empty() {
            self.combine(it, out);
        }
        if !alone {
            out.close();
        }
    }

    pub(super) fn statement(&mut self, it: &Statement, alone: bool, out: &mut Writer) {
        let algorithm = self.input.algorithm;
        let source = algorithm.computation(it.computation);
        let iterators = iterators_of(it);
        let asks = source.predicate.as_ref().is_some_and(|predicate| conjuncts(predicate).len() > it.known as usize);
        let braces = !alone && (!it.bindings.is_empty() || (!asks && !source.lets.is_empty()));
        self.origin(it.computation, out);
        if it.inside.is_some() {
            out.line("// Past the edge, too, where nobody reads what it writes.");
        }
        if braces {
            out.open("");
        }
        self.bindings(it, out);
        self.decided.clone_from(&it.decided);
        match it.update {
            Update::Stored => self.update_knowing(it.computation, &iterators, it.known, out),
            Update::Offered => self.offered(it.computation, &iterators, out),
        }
        self.decided.clear();
        if braces {
            out.close();
        }
    }

    /// The iterators that no variable of the program holds.
    pub(super) fn bindings(&mut self, it: &Statement, out: &mut Writer) {
        for (variable, value) in &it.bindings {
            let value = self.int(value);
            let name = &self.program.names.variables[variable.0 as usize];
            out.line(format!("const {} {name} = {value};", self.width.c_type()));
        }
    }

    /// `// S: kernel.jl:3`
    pub fn origin(&self, computation: ComputationId, out: &mut Writer) {
        let name = &self.input.algorithm.computation(computation).name;
        match self.options.positions.get(&computation) {
            Some(position) => out.line(format!("// {name}: {}", one_line(position))),
            None => out.line(format!("// {name}")),
        }
    }

    /// What is asked for before an instance runs, each element where it is inside of its array.
    fn prefetches(&mut self, computation: ComputationId, iterators: &[IntExpr], out: &mut Writer) {
        for it in self.input.prefetches.iter().filter(|it| it.access.computation == computation) {
            let access = self.input.algorithm.access(it.access);
            let array = self.input.algorithm.array(access.array);
            let mut later = iterators.to_vec();
            let ahead = &mut later[it.iterator as usize];
            *ahead = ahead.clone().plus(IntExpr::Const(it.by));
            let (mut subscripts, mut inside) = (vec![], vec![]);
            for (axis, subscript) in access.subscripts.iter().enumerate() {
                let affine = subscript.as_affine().expect("computed subscripts are not prefetched");
                let value = IntExpr::from_affine(affine, &later);
                if affine.involves_iterator(it.iterator) {
                    let (first, last) = array.limits(axis as u32);
                    let of = |affine: &Affine| IntExpr::from_affine(affine, iterators);
                    inside.push(Cond::compare(CompareOp::Ge, value.clone(), of(&first)));
                    inside.push(Cond::compare(CompareOp::Le, value.clone(), of(&last)));
                }
                subscripts.push(value);
            }
            let element = self.element_at(access.array, &subscripts);
            let request = format!("__builtin_prefetch(&{element});");
            match Cond::all_of(inside) {
                Cond::Const(true) => out.line(request),
                condition => {
                    let condition = self.cond(&condition);
                    out.line(format!("if ({condition}) {request}"));
                }
            }
        }
    }

    /// The predicate, the lets and the assignment of an instance.
    pub fn update(&mut self, computation: ComputationId, iterators: &[IntExpr], out: &mut Writer) {
        self.update_knowing(computation, iterators, 0, out);
    }

    /// The same where so many leading parts of the predicate hold.
    fn update_knowing(&mut self, computation: ComputationId, iterators: &[IntExpr], known: u32, out: &mut Writer) {
        let source = self.input.algorithm.computation(computation);
        self.prefetches(computation, iterators, out);
        let at = Instance { computation, iterators };
        let parts = source.predicate.as_ref().map(conjuncts).unwrap_or_default();
        let asked = match parts.get(known as usize..).unwrap_or_default() {
            [] => None,
            _ if known == 0 => source.predicate.as_ref().map(|predicate| self.value(predicate, &at).0),
            [part] => Some(self.value(part, &at).0),
            parts => {
                let each: Vec<String> =
                    parts.iter().map(|part| within(self.value(part, &at), Precedence::BitOr)).collect();
                Some(each.join(" && "))
            }
        };
        if self.looking {
            let found = format!("{RUNS} = true;");
            return out.line(asked.map_or(found.clone(), |predicate| format!("if ({predicate}) {found}")));
        }
        if let Some(predicate) = &asked {
            out.open(format!("if ({predicate})"));
        }
        self.assign(&at, out);
        if asked.is_some() {
            out.close();
        }
    }

    /// The lets and the assignment of an instance that runs.
    pub(super) fn assign(&mut self, at: &Instance<'_>, out: &mut Writer) {
        let computation = at.computation;
        let source = self.input.algorithm.computation(computation);
        let target = self.element(&source.write, at).0;
        if let Some(update) = atomic_update(&self.input, computation) {
            // What only the read of the old value was computed from is left out.
            let subscripts = source.write.subscripts.iter().filter_map(Subscript::as_computed);
            self.some_lets(at, &source.lets_below(subscripts.chain([update.operand])), out);
            let by = self.value(update.operand, at).0;
            let space = self.input.layout.buffer(self.input.buffer_of(source.write.array)).space;
            if space == MemorySpace::Shared && adds_in_halves(update.operator, source.value.ty) {
                self.helpers.insert(Helper::AddInHalves);
                let sign = if update.operator == BinaryOp::Sub { "0 - " } else { "" };
                let name = Helper::AddInHalves.name();
                out.line(format!("{name}(&{target}, {sign}(unsigned long long)({by}));"));
            } else {
                out.line(atomically(update.operator, source.value.ty, &target, &by));
            }
        } else {
            match self.lets_left(computation) {
                Some(left) => self.some_lets(at, &left, out),
                None => self.lets(at, out),
            }
            let value = self.value(&source.value, at).0;
            if self.input.layout.is_ahead(computation) {
                out.line(format!("tessella_copy_ahead(&{target}, &{value});"));
            } else if self.is_stored_by_threads(computation) {
                out.line(match source.value.ty.is_float() {
                    false => format!("__atomic_store_n(&{target}, {value}, __ATOMIC_RELAXED);"),
                    true => {
                        let ty = c_type(source.value.ty);
                        format!("__atomic_store(&{target}, &({ty}){{{value}}}, __ATOMIC_RELAXED);")
                    }
                });
            } else {
                out.line(format!("{target} = {value};"));
            }
        }
    }

    /// `double *restrict b = malloc(...);`, and what happens where there is no memory left.
    fn allocate_inside(&mut self, buffer: BufferId, out: &mut Writer) {
        let allocation = self.allocation(buffer);
        out.line(allocation);
        let name = self.program.names.buffers[buffer.0 as usize].clone();
        out.open(format!("if (!{name})"));
        self.allocated.iter().rev().for_each(|name| out.line(format!("free({name});")));
        out.line(format!("return {STATUS_OUT_OF_MEMORY};"));
        out.close();
        self.allocated.push(name);
        self.allocates_inside = true;
    }

    /// `double *restrict b = malloc(...);`
    pub fn allocation(&mut self, buffer: BufferId) -> String {
        let bytes = self.buffer_bytes(buffer);
        let element = c_type(self.input.layout.buffer(buffer).element);
        let name = &self.program.names.buffers[buffer.0 as usize];
        // One byte more: nothing may be allocated for nothing.
        format!("{element} *restrict {name} = malloc((size_t){bytes} + 1);")
    }

    /// `char *b_memory = malloc(...);`: parts for all threads that may run.
    pub fn allocation_for_threads(&mut self, buffer: BufferId) -> String {
        let bytes = self.bytes_of_thread(buffer);
        self.helpers.insert(Helper::Bytes);
        // The threads that the loops ask for, where the text says how many.
        let threads = self.options.threads.map_or("tessella_threads()".to_string(), |count| count.to_string());
        let name = &self.program.names.memories[&buffer];
        format!("char *{name} = malloc((size_t)tessella_bytes({bytes}, {threads}));")
    }

    /// `double *restrict b = ...;`: the part of the thread that runs.
    fn part_of_thread(&mut self, buffer: BufferId) -> String {
        let bytes = self.bytes_of_thread(buffer);
        let element = c_type(self.input.layout.buffer(buffer).element);
        let (name, memory) = (&self.program.names.buffers[buffer.0 as usize], &self.program.names.memories[&buffer]);
        format!("{element} *restrict {name} = ({element} *)({memory} + {bytes} * tessella_thread());")
    }

    fn bytes_of_thread(&mut self, buffer: BufferId) -> String {
        self.helpers.insert(Helper::Threads);
        format!("tessella_thread_bytes({})", self.buffer_bytes(buffer))
    }

    /// `double sum;` or `double window[25];`
    pub fn declaration(&mut self, buffer: BufferId) -> String {
        let it = self.input.layout.buffer(buffer);
        let name = &self.program.names.buffers[buffer.0 as usize];
        let size = it.extents.iter().try_fold(1i64, |size, extent| size.checked_mul(extent.as_constant()?.max(1)));
        match (it.extents.is_empty(), size) {
            // Left to itself, GCC 12.2 has been seen to take such an array for better aligned than where it puts it: its aligned
            // stores of 32 bytes trap then.
            (false, Some(size))
                if self.dialect == Dialect::C && size.saturating_mul(it.element.bytes() as i64) >= 32 =>
            {
                format!("_Alignas(64) {} {name}[{size}];", c_type(it.element))
            }
            (false, Some(size)) => format!("{} {name}[{size}];", c_type(it.element)),
            (_, _) => format!("{} {name};", c_type(it.element)),
        }
    }

    /// The arrays that statements below these nodes access.
    pub fn arrays_below(&self, nodes: &[Node]) -> BTreeSet<ArrayId> {
        accessed(self, nodes)
    }
}

/// Whether code asks for the index that a loop is spread by: compilers warn of constants that nothing uses.
pub(super) fn uses_index(it: &Spread) -> bool {
    it.guard != Guard::Unneeded || it.body.iter().any(|node| node.mentions(it.variable))
}

/// The update that a computation makes in one piece; `None` where its element is one that the thread has for itself.
fn atomic_update<'a>(input: &Input<'a>, id: ComputationId) -> Option<atomic::Update<'a>> {
    let it = input.algorithm.computation(id);
    let buffer = input.layout.buffer(input.buffer_of(it.write.array));
    let is_shared = matches!(buffer.space, MemorySpace::Global | MemorySpace::Shared);
    if it.atomic && is_shared { atomic::update(input.algorithm, id).ok() } else { None }
}

/// Whether a GPU adds such integers faster in two halves, where they lie in shared memory.
fn adds_in_halves(operator: BinaryOp, ty: ScalarType) -> bool {
    matches!(operator, BinaryOp::Add | BinaryOp::Sub) && matches!(ty, ScalarType::I64 | ScalarType::U64)
}

/// `atomicAdd((unsigned int *)&h(k), (unsigned int)(e));`: integers wrap around, signed ones like unsigned ones.
fn atomically(operator: BinaryOp, ty: ScalarType, target: &str, by: &str) -> String {
    if ty.is_float() {
        let sign = if operator == BinaryOp::Sub { "-" } else { "" };
        return format!("atomicAdd(&{target}, {sign}({by}));");
    }
    let wide = matches!(ty, ScalarType::I64 | ScalarType::U64);
    let unsigned = if wide { "unsigned long long" } else { "unsigned int" };
    let own = match ty {
        ScalarType::I64 => "long long",
        ScalarType::I32 => "int",
        _ => unsigned,
    };
    match operator {
        BinaryOp::Min => format!("atomicMin(({own} *)&{target}, ({own})({by}));"),
        BinaryOp::Max => format!("atomicMax(({own} *)&{target}, ({own})({by}));"),
        BinaryOp::Sub => format!("atomicAdd(({unsigned} *)&{target}, 0 - ({unsigned})({by}));"),
        _ => format!("atomicAdd(({unsigned} *)&{target}, ({unsigned})({by}));"),
    }
}
