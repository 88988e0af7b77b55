//! Nests of loops of one thread of a block that combines updates, as one loop where the innermost one is short.
//!
//! ```text
//! for k { for j { unroll for i { .. } } }
//!   -> if some thread of the warp has whole groups of i, or many: the nest, else unroll for all of k, j, i { ..; to the next i, j, k }
//! ```
//!
//! Compilers unroll innermost loops only, and what is left after the last whole group runs one iteration at a time: a nest whose
//! innermost loop has four iterations would wait for memory in each of them. One loop over all of the nest has loads run ahead past the
//! ends of lines. The order of the iterations is that of the nest.

use super::{LoopHooks, Printer, Writer};
use crate::int_expr::{IntExpr, VariableId};
use crate::int_text::{Precedence, within};
use crate::program::{For, Node};
use tessella_polyhedral::schedule::Tag;

/// The innermost loop is a loop of its own from so many unrolled groups on, whatever is left after the last one.
const GROUPS: u32 = 4;

/// Counts the iterations of the whole nest.
const LEFT: &str = "tessella_left";

/// A nest whose loops do not tell the bounds of one another.
pub(super) struct Flat<'n> {
    /// The outermost loop first, two at least.
    loops: Vec<&'n For>,
    /// How far the innermost one is unrolled.
    unrolled: u32,
}

impl<'n> Flat<'n> {
    pub(super) fn of(outermost: &'n For) -> Option<Flat<'n>> {
        let mut loops = vec![outermost];
        while let [Node::For(inner)] = loops[loops.len() - 1].body.as_slice() {
            loops.push(inner);
        }
        let (last, outer) = loops.split_last()?;
        let Tag::Unroll(unrolled) = last.tag else { return None };
        let is_plain = |it: &For| it.step == 1 && it.clip.is_none() && it.going.is_none() && it.wide.is_none();
        let told = |variable: VariableId| loops.iter().any(|it| it.variable == variable);
        let is_apart = |it: &For| !it.lower.involves(&told) && !it.upper.involves(&told);
        let all_start = loops[1..].iter().all(|it| it.lower.as_const().is_some());
        let is_flat = !outer.is_empty()
            && outer.iter().all(|it| it.tag == Tag::Sequential)
            && loops.iter().all(|it| is_plain(it) && is_apart(it));
        (is_flat && all_start).then_some(Flat { loops, unrolled })
    }

    fn innermost(&self) -> &'n For {
        self.loops[self.loops.len() - 1]
    }
}

fn rounds(it: &For) -> IntExpr {
    let count = it.upper.clone().minus(it.lower.clone()).plus(IntExpr::Const(1));
    IntExpr::max_of([IntExpr::Const(0), count])
}

impl Printer<'_> {
    pub(super) fn flat_nest(&mut self, it: &Flat<'_>, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        // The loops inside are part of it.
        let offering = std::mem::take(&mut self.offering);
        let innermost = it.innermost();
        let (name, t) = (self.name(innermost), self.width.c_type());
        let count = self.int(&rounds(innermost));
        out.open("");
        out.line(format!("const {t} tessella_rounds = {count};"));
        let (unrolled, many) = (it.unrolled, GROUPS * it.unrolled);
        // At the end of a line some threads of a warp may have an iteration less: all of them go one way, or the warp would go both.
        let whole = format!("tessella_rounds % {unrolled} == 0 || tessella_rounds >= {many}");
        out.open(format!("if (__any_sync(__activemask(), {whole}))"));
        self.plain_loop(it.loops[0], hooks, out);
        out.reopen("else");
        out.line(format!("// {name} is short: loads run ahead past its end."));
        self.one_loop(it, hooks, out);
        out.close();
        out.close();
        self.offering = offering;
    }

    fn one_loop(&mut self, it: &Flat<'_>, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let t = self.width.c_type();
        for it in &it.loops {
            let (name, lower) = (self.name(it), self.int(&it.lower));
            out.line(format!("{t} {name} = {lower};"));
        }
        for it in &it.loops[1..] {
            let (name, upper) = (self.name(it), self.int(&it.upper));
            out.line(format!("const {t} tessella_last_{name} = {upper};"));
        }
        let (_, outer) = it.loops.split_last().expect("there are two loops at least");
        let factors = outer.iter().map(|it| within(self.int_bound(&rounds(it)), Precedence::Product));
        let all: Vec<String> = factors.collect();
        let count = format!("(int64_t)tessella_rounds * {}", all.join(" * "));
        hooks.enter(it.innermost(), self, out);
        out.open(format!("for (int64_t {LEFT} = {count}; {LEFT} > 0; {LEFT}--)"));
        self.loops_around += 1;
        let body = &it.innermost().body;
        if body.len() == 1 {
            out.open("");
        }
        self.block(body, hooks, out);
        if body.len() == 1 {
            out.close();
        }
        self.loops_around -= 1;
        self.advance(it, out);
        out.close();
        hooks.leave(it.innermost());
    }

    /// To the next iteration: a loop that has come to its end begins again, and the one around it goes on.
    fn advance(&mut self, it: &Flat<'_>, out: &mut Writer) {
        let mut inner: Option<String> = None;
        for it in it.loops[1..].iter().rev() {
            let (name, lower) = (self.name(it), self.int(&it.lower));
            let ends = format!("tessella_ends_{name}");
            let at_last = format!("{name} == tessella_last_{name}");
            let (all_end, by) = match &inner {
                None => (at_last, "1"),
                Some(inner) => (format!("{inner} && {at_last}"), inner.as_str()),
            };
            out.line(format!("const bool {ends} = {all_end};"));
            out.line(format!("{name} = {ends} ? {lower} : {name} + {by};"));
            inner = Some(ends);
        }
        let by = inner.expect("there are two loops at least");
        out.line(format!("{} += {by};", self.name(it.loops[0])));
    }

    fn name(&self, it: &For) -> String {
        self.variable(it.variable).to_string()
    }
}
