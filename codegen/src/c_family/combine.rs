//! Updates that the threads of a block combine.

use super::block::iterators_of;
use super::expr::Instance;
use super::{Printer, Writer, c_type};
use crate::int_expr::IntExpr;
use crate::int_text::{Precedence, within};
use crate::program::{Guard, Spread, Statement};
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::combine::{Update, update};
use tessella_polyhedral::expr::{Expr, ExprKind};

/// What a thread offers, and what the first thread of each warp does to the others of the block; `_1`, `_2` and so on where there are
/// offers to several updates.
const OFFER: &str = "tessella_offer";
const OFFERS: &str = "tessella_offers";
/// What another thread offers.
const OTHER: &str = "tessella_other";

/// An update that a block combines, as text.
struct Combining {
    c_type: &'static str,
    /// What a thread offers, and what the warps do.
    offer: String,
    offers: String,
    /// `tessella_offer + tessella_other`
    both: String,
}

impl Printer<'_> {
    fn combining(&self, id: ComputationId) -> Update<'_> {
        update(self.input.algorithm, id).expect("a combined statement is an update of that form")
    }

    /// `float tessella_offer = -0.0f;`: what changes nothing, where the thread has no instance.
    pub(super) fn offer(&mut self, combined: &[Statement], out: &mut Writer) {
        self.offering = combined.iter().map(|it| it.computation).collect();
        for it in combined {
            let neutral = self.combining(it.computation).neutral;
            let value = self.constant(neutral).0;
            out.line(format!("{} {} = {value};", c_type(neutral.ty), self.named(OFFER, it.computation)));
        }
    }

    /// The name of what is there once for each of the updates that the block combines together.
    fn named(&self, name: &str, id: ComputationId) -> String {
        match self.offering.iter().position(|&it| it == id) {
            Some(at) if self.offering.len() > 1 => format!("{name}_{}", at + 1),
            Some(_) | None => name.to_string(),
        }
    }

    /// `tessella_offer = sum_partial;`
    pub(super) fn offered(&mut self, id: ComputationId, iterators: &[IntExpr], out: &mut Writer) {
        let operand = self.combining(id).operand.clone();
        let value = self.value(&operand, &Instance { computation: id, iterators }).0;
        out.line(format!("{} = {value};", self.named(OFFER, id)));
    }

    /// The tree: halves of each warp by shuffles, then one thread of each warp in the first one, then the updates.
    pub(super) fn combine(&mut self, spread: &Spread, out: &mut Writer) {
        let warps = self.threads_of_block[0] / 32;
        let all: Vec<Combining> = spread.combined.iter().map(|it| self.combining_text(it.computation)).collect();
        let names: Vec<String> = spread.combined.iter().map(|it| self.computation_name(it)).collect();
        out.line(format!("// {}: combined by the block, along a tree.", names.join(", ")));
        halves(16, &all, out);
        if warps > 1 {
            for it in &all {
                out.line(format!("__shared__ {} {}[{warps}];", it.c_type, it.offers));
            }
            share(&all, out);
            out.line("__syncthreads();");
            out.open("if (threadIdx.x < 32)");
            for it in &all {
                out.line(format!("{} = {}[threadIdx.x % {warps}];", it.offer, it.offers));
            }
            halves(warps / 2, &all, out);
            out.close();
        }
        let mut first = "threadIdx.x == 0".to_string();
        if spread.guard == Guard::Needed {
            let variable = self.program.names.variables[spread.variable.0 as usize].clone();
            let upper = within(self.int_bound(&spread.upper), Precedence::Shift);
            first = format!("{first} && {variable} <= {upper}");
        }
        out.open(format!("if ({first})"));
        for it in &spread.combined {
            let braces = spread.combined.len() > 1 && !it.bindings.is_empty();
            if braces {
                out.open("");
            }
            self.updated(it, out);
            if braces {
                out.close();
            }
        }
        out.close();
        self.offering.clear();
        // The next round writes what the first warp still reads.
        if warps > 1 && (self.loops_around > 0 || self.in_turns) {
            out.line("__syncthreads();");
        }
    }

    fn computation_name(&self, it: &Statement) -> String {
        self.input.algorithm.computation(it.computation).name.clone()
    }

    fn combining_text(&mut self, id: ComputationId) -> Combining {
        let Update { operator, neutral, .. } = self.combining(id);
        let ty = neutral.ty;
        let (offer, offers) = (self.named(OFFER, id), self.named(OFFERS, id));
        let read = |at| Box::new(Expr { kind: ExprKind::Read(at), ty });
        let both = Expr { kind: ExprKind::Binary(operator, read(0), read(1)), ty };
        let operands = [(0, offer.clone()), (1, OTHER.to_string())].into_iter().collect();
        let streamed = std::mem::replace(&mut self.streamed, operands);
        let both = self.value(&both, &Instance { computation: id, iterators: &[] }).0;
        self.streamed = streamed;
        Combining { c_type: c_type(ty), offer, offers, both }
    }

    /// The update of the element by what the block offers.
    fn updated(&mut self, it: &Statement, out: &mut Writer) {
        let id = it.computation;
        let Update { operator, neutral, .. } = self.combining(id);
        let ty = neutral.ty;
        self.bindings(it, out);
        // The operand stands behind all reads of the statement.
        let source = self.input.algorithm.computation(id);
        let operand = source.reads.len() as u32;
        let ExprKind::Binary(_, old, _) = &source.value.kind else { unreachable!("it is an update") };
        let offer = Box::new(Expr { kind: ExprKind::Read(operand), ty });
        let whole = Expr { kind: ExprKind::Binary(operator, old.clone(), offer), ty };
        let operands = [(operand, self.named(OFFER, id))].into_iter().collect();
        let streamed = std::mem::replace(&mut self.streamed, operands);
        let iterators = iterators_of(it);
        let at = Instance { computation: id, iterators: &iterators };
        let value = self.value(&whole, &at).0;
        let target = self.element(&source.write, &at).0;
        out.line(format!("{target} = {value};"));
        self.streamed = streamed;
    }
}

/// Has threads take in what those `from` further on, then half as far, ... offer.
fn halves(from: u32, all: &[Combining], out: &mut Writer) {
    out.line("#pragma unroll");
    out.open(format!("for (int tessella_half = {from}; tessella_half > 0; tessella_half /= 2)"));
    for Combining { c_type, offer, both, .. } in all {
        let braces = all.len() > 1;
        if braces {
            out.open("");
        }
        out.line(format!("const {c_type} {OTHER} = __shfl_down_sync(0xffffffffu, {offer}, tessella_half);"));
        out.line(format!("{offer} = {both};"));
        if braces {
            out.close();
        }
    }
    out.close();
}

/// The first thread of each warp shows the others what the warp offers.
fn share(all: &[Combining], out: &mut Writer) {
    match all {
        [Combining { offer, offers, .. }] => {
            out.line(format!("if (threadIdx.x % 32 == 0) {offers}[threadIdx.x / 32] = {offer};"));
        }
        _ => {
            out.open("if (threadIdx.x % 32 == 0)");
            for Combining { offer, offers, .. } in all {
                out.line(format!("{offers}[threadIdx.x / 32] = {offer};"));
            }
            out.close();
        }
    }
}
