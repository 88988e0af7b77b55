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

/// What a thread offers, and what the first thread of each warp does to the others of the block.
const OFFER: &str = "tessella_offer";
const OFFERS: &str = "tessella_offers";
/// What another thread offers.
const OTHER: &str = "tessella_other";

impl Printer<'_> {
    fn combining(&self, id: ComputationId) -> Update<'_> {
        update(self.input.algorithm, id).expect("a combined statement is an update of that form")
    }

    /// `float tessella_offer = -0.0f;`: what changes nothing, where the thread has no instance.
    pub(super) fn offer(&mut self, id: ComputationId, out: &mut Writer) {
        let neutral = self.combining(id).neutral;
        let value = self.constant(neutral).0;
        out.line(format!("{} {OFFER} = {value};", c_type(neutral.ty)));
    }

    /// `tessella_offer = sum_partial;`
    pub(super) fn offered(&mut self, id: ComputationId, iterators: &[IntExpr], out: &mut Writer) {
        let operand = self.combining(id).operand.clone();
        let value = self.value(&operand, &Instance { computation: id, iterators }).0;
        out.line(format!("{OFFER} = {value};"));
    }

    /// The tree: halves of each warp by shuffles, then one thread of each warp in the first one, then the update.
    pub(super) fn combine(&mut self, spread: &Spread, it: &Statement, out: &mut Writer) {
        let id = it.computation;
        let Update { operator, neutral, .. } = self.combining(id);
        let (ty, threads) = (neutral.ty, self.threads);
        let warps = threads / 32;
        let (t, name) = (c_type(ty), self.input.algorithm.computation(id).name.clone());
        let read = |at| Box::new(Expr { kind: ExprKind::Read(at), ty });
        let both = Expr { kind: ExprKind::Binary(operator, read(0), read(1)), ty };
        let streamed = std::mem::replace(
            &mut self.streamed,
            [(0, OFFER.to_string()), (1, OTHER.to_string())].into_iter().collect(),
        );
        let combined = self.value(&both, &Instance { computation: id, iterators: &[] }).0;
        let halves = |from: u32, out: &mut Writer| {
            out.line("#pragma unroll");
            out.open(format!("for (int tessella_half = {from}; tessella_half > 0; tessella_half /= 2)"));
            out.line(format!("const {t} {OTHER} = __shfl_down_sync(0xffffffffu, {OFFER}, tessella_half);"));
            out.line(format!("{OFFER} = {combined};"));
            out.close();
        };
        out.line(format!("// {name}: combined by the block, along a tree."));
        halves(16, out);
        if warps > 1 {
            out.line(format!("__shared__ {t} {OFFERS}[{warps}];"));
            out.line(format!("if (threadIdx.x % 32 == 0) {OFFERS}[threadIdx.x / 32] = {OFFER};"));
            out.line("__syncthreads();");
            out.open("if (threadIdx.x < 32)");
            out.line(format!("{OFFER} = {OFFERS}[threadIdx.x % {warps}];"));
            halves(warps / 2, out);
            out.close();
        }
        let mut first = "threadIdx.x == 0".to_string();
        if spread.guard == Guard::Needed {
            let variable = self.program.names.variables[spread.variable.0 as usize].clone();
            let upper = within(self.int_bound(&spread.upper), Precedence::Shift);
            first = format!("{first} && {variable} <= {upper}");
        }
        out.open(format!("if ({first})"));
        self.bindings(it, out);
        // The operand stands behind all reads of the statement.
        let source = self.input.algorithm.computation(id);
        let operand = source.reads.len() as u32;
        let ExprKind::Binary(_, old, _) = &source.value.kind else { unreachable!("it is an update") };
        let whole = Expr { kind: ExprKind::Binary(operator, old.clone(), read(operand)), ty };
        self.streamed = [(operand, OFFER.to_string())].into_iter().collect();
        let iterators = iterators_of(it);
        let at = Instance { computation: id, iterators: &iterators };
        let value = self.value(&whole, &at).0;
        let target = self.element(&source.write, &at).0;
        out.line(format!("{target} = {value};"));
        out.close();
        self.streamed = streamed;
        // The next round writes what the first warp still reads.
        if warps > 1 && (self.loops_around > 0 || self.in_turns) {
            out.line("__syncthreads();");
        }
    }
}
