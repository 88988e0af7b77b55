//! Operands that all points of a stage share, such as weights: loaded once, before the points that use them.
//!
//! A point that is beside the statement's must not read what only the statement's may. Elements whose subscripts mention no iterator of
//! space are read by all of these alike, so that one question, whether there are any, goes for all points; and with nothing left to ask
//! at a point, its value can be computed without a branch.

use super::super::expr::Instance;
use super::super::{Printer, Writer, c_type};
use crate::int_expr::IntExpr;
use crate::int_text::{Precedence, within};
use crate::names::Namer;
use crate::stream::Streaming;
use tessella_polyhedral::algorithm::Access;
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::stream::{Source, Stage};
use tessella_scalar::BinaryOp;

/// What a stage has of such operands.
pub(super) struct FixedNames {
    /// Whether the stage has points at all.
    runs: String,
    all: Vec<Fixed>,
}

struct Fixed {
    name: String,
    /// The reads that it is the value of.
    reads: Vec<u32>,
    /// Whether it is another one at each time step.
    by_time: bool,
}

impl FixedNames {
    fn are_there(&self, by_time: bool) -> bool {
        self.all.iter().any(|it| it.by_time == by_time)
    }
}

impl Printer<'_> {
    pub(super) fn fixed_names(&self, stage: &Stage, namer: &mut Namer) -> FixedNames {
        let computation = self.input.algorithm.computation(stage.computation);
        let mut all: Vec<Fixed> = vec![];
        for read in self.fixed_reads(stage) {
            let access = &computation.reads[read as usize];
            let is_same = |it: &&mut Fixed| {
                let other = &computation.reads[it.reads[0] as usize];
                (other.array, &other.subscripts) == (access.array, &access.subscripts)
            };
            if let Some(known) = all.iter_mut().find(is_same) {
                known.reads.push(read);
                continue;
            }
            let array = &self.program.names.arrays[access.array.0 as usize];
            let numbers = access.subscripts.iter().map(|it| it.as_affine()?.as_constant().filter(|it| *it >= 0));
            let place: String =
                numbers.map(|it| it.map(|it| format!("_{it}"))).collect::<Option<_>>().unwrap_or_default();
            let name = namer.fresh(&format!("{array}{place}_value"));
            all.push(Fixed { name, reads: vec![read], by_time: involves(access, stage.time) });
        }
        let runs = match all.is_empty() {
            true => String::new(),
            false => namer.fresh(&format!("{}_runs", self.program.names.computations[stage.computation.0 as usize])),
        };
        FixedNames { runs, all }
    }

    /// The reads of memory that each instance of a time step performs, of one element.
    fn fixed_reads(&self, stage: &Stage) -> Vec<u32> {
        let computation = self.input.algorithm.computation(stage.computation);
        let mut found = vec![];
        let mut visit = |read: u32| {
            let access = &computation.reads[read as usize];
            let others = (0..computation.iterators.len() as u32).filter(|iterator| *iterator != stage.time);
            // What records adds to elements that it has written.
            let is_fixed = stage.reads[read as usize] == Source::Memory
                && access.array != computation.write.array
                && access.within.is_none()
                && access.is_affine()
                && others.into_iter().all(|iterator| !involves(access, iterator));
            if is_fixed && !found.contains(&read) {
                found.push(read);
            }
        };
        for expr in computation.lets.iter().map(|it| &it.value).chain([&computation.value]) {
            performed(expr, &mut visit);
        }
        found
    }

    /// Whether a stage reads elements of memory that only points of its own may read.
    pub(super) fn reads_memory(&self, stage: &Stage) -> bool {
        let fixed = self.fixed_reads(stage);
        let mut reads = (0..).zip(&stage.reads);
        reads.any(|(read, source)| *source == Source::Memory && !fixed.contains(&read))
    }

    /// Whether what is left of the text of a stage, without these operands, has its iterator of time.
    pub(super) fn mentions_time(&self, stage: &Stage) -> bool {
        let fixed = self.fixed_reads(stage);
        self.mentions_but(stage, stage.time, &fixed)
    }

    /// Loads those operands of a stage that are the same at all time steps, where the stage has points and `also` holds.
    pub(super) fn load_fixed(
        &mut self,
        it: &Streaming,
        (names, at): (&FixedNames, usize),
        also: Option<String>,
        out: &mut Writer,
    ) {
        if names.all.is_empty() {
            return;
        }
        let limits = it.limits[at].iter().filter(|(low, high)| match (low.as_const(), high.as_const()) {
            (Some(low), Some(high)) => low > high,
            _ => true,
        });
        let limits: Vec<(IntExpr, IntExpr)> = limits.cloned().collect();
        let mut conditions = vec![];
        for (low, high) in &limits {
            let [low, high] = [low, high].map(|end| within(self.int_bound(end), Precedence::Shift));
            conditions.push(format!("{low} <= {high}"));
        }
        conditions.extend(also);
        let runs = if conditions.is_empty() { "true".to_string() } else { conditions.join(" && ") };
        out.line(format!("const bool {} = {runs};", names.runs));
        self.declare_fixed(it, (names, at), false, Some(&names.runs), out);
    }

    /// Loads those that each time step of a launch has for itself; `makes` says which steps of a launch a stage has, if not all.
    pub(super) fn load_fixed_of_steps(
        &mut self,
        it: &Streaming,
        (names, at): (&FixedNames, usize),
        (step, makes): (&str, Option<String>),
        out: &mut Writer,
    ) {
        if !names.are_there(true) {
            return;
        }
        let steps = it.stream.size.steps;
        for fixed in names.all.iter().filter(|it| it.by_time) {
            let element = self.element_of_fixed(it, at, fixed);
            out.line(format!("{element} {}[{steps}];", fixed.name));
        }
        out.line("#pragma unroll");
        out.open(format!("for (int {step} = 0; {step} < {steps}; {step}++)"));
        let condition = [names.runs.clone()].into_iter().chain(makes).collect::<Vec<_>>().join(" && ");
        self.assign_fixed(it, (names, at), (step, &format!("[{step}]")), &condition, out);
        out.close();
    }

    /// Loads those of one time step.
    pub(super) fn load_fixed_of_step(
        &mut self,
        it: &Streaming,
        (names, at): (&FixedNames, usize),
        (step, active): (&str, &str),
        out: &mut Writer,
    ) {
        if !names.are_there(true) {
            return;
        }
        for fixed in names.all.iter().filter(|it| it.by_time) {
            let element = self.element_of_fixed(it, at, fixed);
            out.line(format!("{element} {};", fixed.name));
        }
        out.open("");
        self.assign_fixed(it, (names, at), (step, ""), &format!("{} && {active}", names.runs), out);
        out.close();
    }

    /// Loads all of them where the stage has a point, in a time step whose iterator is there.
    pub(super) fn load_all_fixed(&mut self, it: &Streaming, (names, at): (&FixedNames, usize), out: &mut Writer) {
        for by_time in [false, true] {
            self.declare_fixed(it, (names, at), by_time, None, out);
        }
    }

    /// Notes what a stage calls them; `slot` is where those of a time step are.
    pub(super) fn call_fixed(&mut self, names: &FixedNames, slot: &str) {
        for fixed in &names.all {
            let text = format!("{}{}", fixed.name, if fixed.by_time { slot } else { "" });
            self.streamed.extend(fixed.reads.iter().map(|read| (*read, text.clone())));
        }
    }

    fn declare_fixed(
        &mut self,
        it: &Streaming,
        (names, at): (&FixedNames, usize),
        by_time: bool,
        condition: Option<&str>,
        out: &mut Writer,
    ) {
        for fixed in names.all.iter().filter(|it| it.by_time == by_time) {
            let element = self.element_of_fixed(it, at, fixed);
            let value = self.fixed_value(it, at, fixed);
            let name = &fixed.name;
            match condition {
                Some(condition) => out.line(format!("const {element} {name} = {condition} ? {value} : ({element})0;")),
                None => out.line(format!("const {element} {name} = {value};")),
            }
        }
    }

    fn assign_fixed(
        &mut self,
        it: &Streaming,
        (names, at): (&FixedNames, usize),
        (step, slot): (&str, &str),
        condition: &str,
        out: &mut Writer,
    ) {
        let stage = it.stream.nest(at);
        let time = self.variable(it.iterators[at][stage.time as usize]).to_string();
        out.line(format!("const int64_t {time} = {};", self.time_of(it, stage, step)));
        for fixed in names.all.iter().filter(|it| it.by_time) {
            let element = self.element_of_fixed(it, at, fixed);
            let value = self.fixed_value(it, at, fixed);
            out.line(format!("{}{slot} = {condition} ? {value} : ({element})0;", fixed.name));
        }
    }

    fn element_of_fixed(&self, it: &Streaming, at: usize, fixed: &Fixed) -> &'static str {
        let computation = self.input.algorithm.computation(it.stream.nest(at).computation);
        c_type(self.input.algorithm.array(computation.reads[fixed.reads[0] as usize].array).element)
    }

    fn fixed_value(&mut self, it: &Streaming, at: usize, fixed: &Fixed) -> String {
        let id = it.stream.nest(at).computation;
        let iterators: Vec<IntExpr> = it.iterators[at].iter().copied().map(IntExpr::Variable).collect();
        let instance = Instance { computation: id, iterators: &iterators };
        let algorithm = self.input.algorithm;
        self.element(&algorithm.computation(id).reads[fixed.reads[0] as usize], &instance).0
    }
}

/// The reads that an expression performs whatever its values are.
fn performed(expr: &Expr, visit: &mut dyn FnMut(u32)) {
    match &expr.kind {
        ExprKind::Read(read) => visit(*read),
        ExprKind::Select { condition, .. } => performed(condition, visit),
        ExprKind::Binary(BinaryOp::AndAlso | BinaryOp::OrElse, left, _) => performed(left, visit),
        ExprKind::Constant(_)
        | ExprKind::Index(_)
        | ExprKind::Scalar(_)
        | ExprKind::Let(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Compare(..)
        | ExprKind::Call(..)
        | ExprKind::IfElse { .. }
        | ExprKind::Convert(_)
        | ExprKind::Wrap(_) => expr.operands().into_iter().for_each(|operand| performed(operand, visit)),
    }
}

fn involves(access: &Access, iterator: u32) -> bool {
    access.subscripts.iter().any(|it| it.as_affine().is_some_and(|affine| affine.involves_iterator(iterator)))
}

/// Whether reads of memory, other than these, have an iterator in their subscripts.
pub(super) fn in_subscripts(reads: &[Access], stage: &Stage, iterator: u32, but: &[u32]) -> bool {
    let mut reads = (0..).zip(reads.iter().zip(&stage.reads));
    reads.any(|(at, (read, source))| *source == Source::Memory && !but.contains(&at) && involves(read, iterator))
}
