//! Copies of several elements at once, in CUDA.

use super::block::LoopHooks;
use super::expr::Instance;
use super::{Printer, Writer, c_type};
use crate::int_expr::{Cond, IntExpr};
use crate::program::{For, Node};
use crate::wide::{Direction, Wide};
use tessella_polyhedral::schedule::Tag;

/// What kernels with such copies use.
pub const VECTOR_HELPERS: &str = "\
// Neighbouring elements that are loaded or stored at once, from a multiple of their size on.
template <typename T, int count> struct __align__(sizeof(T) * count) tessella_vector {
    T at[count];
};
";

/// Whether copies are printed with vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vectors {
    /// The text asks whether it may.
    Ask,
    Use,
    Avoid,
}

impl Printer<'_> {
    /// A nest of unrolled loops around a copy in vectors: once with them, where the array's columns lie so, and once without.
    pub(super) fn wide_nest(&mut self, it: &For, wide: &Wide, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let name = &self.program.names.buffers[wide.buffer.0 as usize];
        let aligned = format!("(uint64_t){name} % {} == 0", wide.bytes);
        let aligned = match &wide.columns {
            Cond::Const(true) => aligned,
            columns => format!("{aligned} && {}", self.cond(columns)),
        };
        out.open(format!("if ({aligned})"));
        for vectors in [Vectors::Use, Vectors::Avoid] {
            self.wide = vectors;
            self.for_loop(it, hooks, out);
            match vectors {
                Vectors::Use => out.reopen("else"),
                Vectors::Ask | Vectors::Avoid => out.close(),
            }
        }
        self.wide = Vectors::Ask;
    }

    /// The copies of one loop, part by part.
    pub(super) fn wide_loop(&mut self, it: &For, wide: &Wide, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let all = match &wide.all {
            Cond::Const(true) => None,
            all => Some(self.cond(all)),
        };
        if let Some(all) = &all {
            out.open(format!("if ({all})"));
        }
        self.origin(wide.computation, out);
        for &(first, count) in &wide.parts {
            self.part(it, wide, (first, count), hooks, out);
        }
        if all.is_some() {
            out.reopen("else");
            self.for_loop(&For { wide: None, ..it.clone() }, hooks, out);
            out.close();
        }
    }

    fn part(&mut self, it: &For, wide: &Wide, (first, count): (i64, i64), hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let source = self.input.algorithm.computation(wide.computation);
        let at = |value: IntExpr| -> Vec<IntExpr> {
            wide.iterators
                .iter()
                .map(|of| of.substitute(&|variable| (variable == it.variable).then(|| value.clone())))
                .collect()
        };
        let here = at(IntExpr::Const(first));
        let at_first = Instance { computation: wide.computation, iterators: &here };
        let first_value = self.value(&source.value, &at_first).0;
        let first_target = self.element(&source.write, &at_first).0;
        if count == 1 {
            out.line(format!("{first_target} = {first_value};"));
            return;
        }
        let variable = self.program.names.variables[it.variable.0 as usize].clone();
        let each = at(IntExpr::Variable(it.variable));
        let at_each = Instance { computation: wide.computation, iterators: &each };
        let lane = match first {
            0 => variable.clone(),
            first if first < 0 => format!("{variable} + {}", -first),
            first => format!("{variable} - {first}"),
        };
        let ty = format!("tessella_vector<{}, {count}>", c_type(source.value.ty));
        let vector = self.vector_name();
        let whole = For {
            lower: IntExpr::Const(first),
            upper: IntExpr::Const(first + count - 1),
            tag: Tag::Unroll(u32::try_from(count).unwrap_or(1)),
            body: vec![],
            wide: None,
            ..it.clone()
        };
        let head = self.for_head(&variable, &whole.lower, &whole.upper, 1, None);
        out.open("");
        match wide.direction {
            Direction::Load => {
                let target = self.element(&source.write, &at_each).0;
                out.line(format!("const {ty} {vector} = *(const {ty} *)&{first_value};"));
                hooks.enter(&whole, self, out);
                out.line(format!("{head} {target} = {vector}.at[{lane}];"));
            }
            Direction::Store => {
                let value = self.value(&source.value, &at_each).0;
                out.line(format!("{ty} {vector};"));
                hooks.enter(&whole, self, out);
                out.line(format!("{head} {vector}.at[{lane}] = {value};"));
                out.line(format!("*({ty} *)&{first_target} = {vector};"));
            }
        }
        hooks.leave(&whole);
        out.close();
    }

    /// A name for a vector that nothing else has.
    fn vector_name(&self) -> String {
        self.program.names.namer().pick("vector")
    }
}

/// The vectors of the copy that a nest consists of.
pub(super) fn of_nest(it: &For) -> Option<&Wide> {
    match (&it.wide, it.body.as_slice()) {
        (Some(wide), _) => Some(wide),
        (None, [Node::For(inner)]) => of_nest(inner),
        (None, [Node::If { then, otherwise, .. }]) if otherwise.is_empty() => match then.as_slice() {
            [Node::For(inner)] => of_nest(inner),
            _ => None,
        },
        (None, _) => None,
    }
}
