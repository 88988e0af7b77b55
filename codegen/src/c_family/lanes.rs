//! Loops whose iterations the lanes of a warp look at, and run in turns: see [`crate::lanes`].

use super::block::{LoopHooks, iterators_of};
use super::expr::Instance;
use super::{Printer, Writer, c_type};
use crate::int_expr::IntExpr;
use crate::int_text::{Precedence, within};
use crate::lanes::{LANES, Shared, reads_of};
use crate::program::{For, Statement};
use std::collections::BTreeMap;
use tessella_polyhedral::algorithm::Access;
use tessella_polyhedral::expr::conjuncts;
use tessella_polyhedral::reduction::is_old;

/// Iterations that a lane looks at before the first of them may run, so that their loads are under way together: of a statement, and of several.
const AHEAD: [u32; 2] = [16, 8];
/// What is looked at so many iterations later is on its way to the L2 cache.
const COMING: i64 = 2048;
/// Statements of a loop of which lanes look at so many iterations; of others they look at one.
const FEW: usize = 4;

/// Whether anything runs in the iterations that a lane goes through.
pub(super) const RUNS: &str = "tessella_runs";

/// What a lane knows of an iteration.
struct Looked {
    /// `tessella_runs_0` or `tessella_runs_0[tessella_part]`, for each statement.
    runs: Vec<String>,
    /// For each statement, what the elements are called that are loaded wherever it runs.
    held: Vec<BTreeMap<String, String>>,
    /// The same of elements that are loaded for all iterations.
    always: BTreeMap<String, String>,
    /// The index of the iteration among those that the lane looks at.
    part: String,
    /// One line for each variable, of so many elements.
    declared: Vec<String>,
    /// How many elements have a variable.
    elements: usize,
    ahead: u32,
}

impl Looked {
    /// Declares a variable for each iteration that the lane looks at.
    fn declare(&mut self, ty: &str, name: &str) -> String {
        let size = if self.ahead == 1 { String::new() } else { format!("[{}]", self.ahead) };
        self.declared.push(format!("{ty} {name}{size};"));
        format!("{name}{}", self.part)
    }

    /// The first lane's iteration.
    fn first(&self) -> &'static str {
        if self.ahead == 1 { "tessella_first" } else { "tessella_first + 32 * tessella_part" }
    }
}

/// An element that statements read, and which of them.
struct Load {
    name: String,
    element: String,
    statements: Vec<usize>,
}

impl Printer<'_> {
    /// `for (; first + 255 <= last; first += 256) { look at eight iterations; take turns } for (; first <= last; first += 32) { at one }`.
    pub(super) fn loop_of_lanes(&mut self, it: &For, shared: &Shared<'_>, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        if let Shared::NestIf(condition) = shared {
            let condition = self.cond(condition);
            out.open(format!("if ({condition})"));
            self.loop_of_lanes(it, &Shared::Nest, hooks, out);
            out.reopen("else");
            let before = std::mem::replace(&mut self.beside_short, true);
            self.plain_loop(it, hooks, out);
            self.beside_short = before;
            return out.close();
        }
        let guard = it.clip.as_ref().and_then(|clip| self.clip_guard(it, clip));
        out.open(guard.map_or(String::new(), |guard| format!("if ({guard})")));
        let (lower, upper) = match &it.clip {
            Some(clip) => self.clipped_bounds(it, clip),
            None => (self.int(&it.lower), self.int(&it.upper)),
        };
        out.line(format!("int64_t tessella_first = {lower};"));
        out.line(format!("const int64_t tessella_last = {upper};"));
        match shared {
            Shared::Statements(statements) if it.clip.is_none() && statements.len() <= FEW => {
                // More would take registers from the short loops that the same kernel is for.
                let ahead = AHEAD[usize::from(statements.len() > 1 || self.beside_short)];
                let all = LANES * ahead;
                let rest = all - 1;
                out.open(format!("for (; tessella_first + {rest} <= tessella_last; tessella_first += {all})"));
                self.look_and_run(it, statements, ahead, out);
                out.close();
            }
            _ => {}
        }
        out.open(format!("for (; tessella_first <= tessella_last; tessella_first += {LANES})"));
        match shared {
            Shared::Statements(statements) => self.look_and_run(it, statements, 1, out),
            Shared::Nest | Shared::NestIf(_) => self.look_through(it, hooks, out),
        }
        out.close();
        out.close();
    }

    /// One round of a loop that holds others: each lane goes through them to see whether any statement would run, and those where one would run it all.
    fn look_through(&mut self, it: &For, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let (variable, t) = (&self.program.names.variables[it.variable.0 as usize], self.width.c_type());
        out.line(format!("const {t} {variable} = ({t})(tessella_first + threadIdx.x);"));
        out.line(format!("bool {RUNS} = false;"));
        self.in_warps = false;
        self.looking = true;
        out.open("if (tessella_first + threadIdx.x <= tessella_last)");
        self.block(&it.body, hooks, out);
        out.close();
        self.looking = false;
        self.open_turns(RUNS, out);
        self.block(&it.body, hooks, out);
        Self::close_turns(out);
        self.in_warps = true;
    }

    /// The lanes for which a condition holds do something, one after the other.
    fn open_turns(&mut self, condition: &str, out: &mut Writer) {
        out.line(format!("unsigned int tessella_turns = __ballot_sync(0xffffffffu, {condition});"));
        out.open("for (; tessella_turns != 0; tessella_turns &= tessella_turns - 1)");
        out.open("if ((int)threadIdx.x == __ffs((int)tessella_turns) - 1)");
    }

    fn close_turns(out: &mut Writer) {
        out.close();
        out.line("__syncwarp();");
        out.close();
    }

    /// One round of the loop: each lane looks at so many iterations, which then run.
    fn look_and_run(&mut self, it: &For, statements: &[&Statement], ahead: u32, out: &mut Writer) {
        let part = if ahead == 1 { String::new() } else { "[tessella_part]".to_string() };
        let mut looked =
            Looked { runs: vec![], held: vec![], always: BTreeMap::new(), part, declared: vec![], elements: 0, ahead };
        let (mut looks, mut loads, mut turns) = (Writer::default(), Writer::default(), Writer::default());
        for statement in statements {
            self.looks(statement, &mut looked, &mut looks);
        }
        if ahead > 1 {
            self.ask_for_later(it, statements, &looked, out);
        }
        self.load_values(statements, &mut looked, &mut loads);
        self.take_turns(statements, &looked, &mut turns);
        self.held.clear();
        looked.declared.iter().for_each(|line| out.line(line.clone()));
        if ahead > 1 {
            out.line("bool tessella_any = false;");
            looks.line(format!("tessella_any = tessella_any || {};", looked.runs.join(" || ")));
        }
        self.for_each_part(it, &looked, looks, out);
        // Most of the time none does.
        let any = if ahead > 1 { "tessella_any".to_string() } else { looked.runs.join(" || ") };
        out.open(format!("if (__any_sync(0xffffffffu, {any}))"));
        self.for_each_part(it, &looked, loads, out);
        self.for_each_part(it, &looked, turns, out);
        out.close();
    }

    /// What is done for each of the iterations that a lane looks at.
    fn for_each_part(&self, it: &For, looked: &Looked, body: Writer, out: &mut Writer) {
        let variable = &self.program.names.variables[it.variable.0 as usize];
        let is_named = body.mentions(variable);
        let body = body.finish();
        if body.is_empty() {
            return;
        }
        match looked.ahead {
            1 => out.open(""),
            _ => {
                out.line("#pragma unroll");
                out.open(format!("for (int tessella_part = 0; tessella_part < {}; tessella_part++)", looked.ahead));
            }
        }
        if is_named {
            let t = self.width.c_type();
            out.line(format!("const {t} {variable} = ({t})({} + threadIdx.x);", looked.first()));
        }
        out.text(&body);
        out.close();
    }

    /// Whether the lane's instance of a statement runs, and what it loads for that.
    fn looks(&mut self, statement: &Statement, looked: &mut Looked, out: &mut Writer) {
        let runs = looked.declare("bool", &format!("tessella_runs_{}", looked.runs.len()));
        match looked.ahead {
            1 => out.line(format!("{runs} = tessella_first + threadIdx.x <= tessella_last;")),
            _ => out.line(format!("{runs} = true;")),
        }
        let it = self.input.algorithm.computation(statement.computation);
        let iterators = iterators_of(statement);
        let here = Instance { computation: statement.computation, iterators: &iterators };
        self.held = looked.always.clone();
        let conditions = it.predicate.as_ref().map(conjuncts).unwrap_or_default();
        let asked = conditions.get(statement.known as usize..).unwrap_or_default();
        for (at, condition) in asked.iter().enumerate() {
            let mut loads = vec![];
            for access in reads_of(it, condition) {
                let element = self.element(access, &here).0;
                if self.held.contains_key(&element) {
                    continue;
                }
                let name = self.hold(access, &element, looked, out);
                loads.push(format!("{name} = {element};"));
                if at == 0 && !self.names_bound(statement, &element) {
                    looked.always.insert(element, name);
                }
            }
            let mut inside = Writer::default();
            self.some_lets(&here, &it.lets_below([*condition]), &mut inside);
            let condition = within(self.value(condition, &here), Precedence::Select);
            inside.line(format!("{runs} = {condition};"));
            out.open(format!("if ({runs})"));
            self.named_bindings(statement, &loads.concat(), &inside, out);
            loads.into_iter().for_each(|load| out.line(load));
            out.text(&inside.finish());
            out.close();
        }
        looked.runs.push(runs);
        looked.held.push(std::mem::take(&mut self.held));
    }

    /// Loads what the statements that run read but the elements that they store into.
    fn load_values(&mut self, statements: &[&Statement], looked: &mut Looked, out: &mut Writer) {
        let mut loads: Vec<Load> = vec![];
        for (at, statement) in statements.iter().enumerate() {
            let it = self.input.algorithm.computation(statement.computation);
            let iterators = iterators_of(statement);
            let here = Instance { computation: statement.computation, iterators: &iterators };
            self.held = std::mem::take(&mut looked.held[at]);
            let values = it.lets.iter().map(|it| &it.value).chain([&it.value]);
            let reads = values.flat_map(|value| reads_of(it, value)).filter(|read| !is_old(it, read));
            for access in reads.collect::<Vec<_>>() {
                let element = self.element(access, &here).0;
                if self.held.contains_key(&element) {
                    continue;
                }
                let is_same = |load: &Load| {
                    let users = [statement, statements[load.statements[0]]];
                    load.element == element && !users.into_iter().any(|user| self.names_bound(user, &element))
                };
                match loads.iter().position(is_same).map(|at| &mut loads[at]) {
                    Some(load) => {
                        load.statements.push(at);
                        self.held.insert(element, load.name.clone());
                    }
                    None => {
                        let name = self.hold(access, &element, looked, out);
                        loads.push(Load { name, element, statements: vec![at] });
                    }
                }
            }
            looked.held[at] = std::mem::take(&mut self.held);
        }
        for load in loads {
            let any: Vec<&str> = load.statements.iter().map(|&at| looked.runs[at].as_str()).collect();
            out.open(format!("if ({})", any.join(" || ")));
            let line = format!("{} = {};", load.name, load.element);
            self.named_bindings(statements[load.statements[0]], &line, &Writer::default(), out);
            out.line(line);
            out.close();
        }
    }

    /// Whether a text names an iterator that the statement binds: others may bind one of that name to another value.
    fn names_bound(&self, statement: &Statement, text: &str) -> bool {
        let mut line = Writer::default();
        line.line(text);
        statement.bindings.iter().any(|(bound, _)| line.mentions(&self.program.names.variables[bound.0 as usize]))
    }

    /// Declares a variable for an element.
    fn hold(&mut self, access: &Access, element: &str, looked: &mut Looked, out: &mut Writer) -> String {
        let ty = c_type(self.input.algorithm.array(access.array).element);
        let name = looked.declare(ty, &format!("tessella_held_{}", looked.elements));
        looked.elements += 1;
        out.line(format!("{name} = 0;"));
        self.held.insert(element.to_string(), name.clone());
        name
    }

    /// The bindings of a statement that a text names.
    pub(super) fn named_bindings(&mut self, statement: &Statement, line: &str, text: &Writer, out: &mut Writer) {
        let mut all = text.clone();
        all.line(line);
        let names = &self.program.names.variables;
        let mut named = statement.clone();
        named.bindings.retain(|(variable, _)| all.mentions(&names[variable.0 as usize]));
        self.bindings(&named, out);
    }

    /// Brings what conditions look at in later iterations closer, a warp for all of its block.
    fn ask_for_later(&mut self, it: &For, statements: &[&Statement], looked: &Looked, out: &mut Writer) {
        let mut elements: Vec<String> = vec![];
        for statement in statements {
            let source = self.input.algorithm.computation(statement.computation);
            let later = IntExpr::Variable(it.variable).plus(IntExpr::Const(COMING));
            let iterators: Vec<IntExpr> = statement
                .iterators
                .iter()
                .map(|at| match at {
                    Some(variable) if *variable == it.variable => later.clone(),
                    Some(variable) => IntExpr::Variable(*variable),
                    None => IntExpr::Const(0),
                })
                .collect();
            let here = Instance { computation: statement.computation, iterators: &iterators };
            let conditions = source.predicate.as_ref().map(conjuncts).unwrap_or_default();
            let first = conditions.get(statement.known as usize);
            let reads = first.map(|condition| reads_of(source, condition)).unwrap_or_default();
            for access in reads.into_iter().filter(|access| access.is_affine()) {
                let element = self.element(access, &here).0;
                let mut text = Writer::default();
                text.line(&element);
                if !self.names_bound(statement, &element)
                    && text.mentions(&self.program.names.variables[it.variable.0 as usize])
                    && !elements.contains(&element)
                {
                    elements.push(element);
                }
            }
        }
        if elements.is_empty() {
            return;
        }
        let mut asks = Writer::default();
        for element in elements {
            asks.line(format!("asm volatile(\"prefetch.global.L2 [%0];\" : : \"l\"(&{element}));"));
        }
        let last = COMING + i64::from(LANES * looked.ahead) - 1;
        out.open(format!("if (threadIdx.y == 0 && tessella_first + {last} <= tessella_last)"));
        self.for_each_part(it, looked, asks, out);
        out.close();
    }

    /// The lanes that have something to do do it, one after the other.
    fn take_turns(&mut self, statements: &[&Statement], looked: &Looked, out: &mut Writer) {
        self.open_turns(&looked.runs.join(" || "), out);
        for (at, statement) in statements.iter().enumerate() {
            self.held = looked.held[at].clone();
            self.origin(statement.computation, out);
            let alone = statements.len() == 1;
            if !alone {
                out.open(format!("if ({})", looked.runs[at]));
            }
            let iterators = iterators_of(statement);
            let mut assignment = Writer::default();
            self.assign(&Instance { computation: statement.computation, iterators: &iterators }, &mut assignment);
            self.named_bindings(statement, "", &assignment, out);
            out.text(&assignment.finish());
            if !alone {
                out.close();
            }
        }
        Self::close_turns(out);
    }
}
