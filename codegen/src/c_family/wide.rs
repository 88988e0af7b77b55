//! Copies of several elements at once, in CUDA.

use super::block::LoopHooks;
use super::expr::Instance;
use super::{Printer, Writer, c_type};
use crate::int_expr::{Cond, IntExpr};
use crate::program::{For, Node};
use crate::wide::{Direction, Wide};
use std::collections::BTreeSet;
use tessella_polyhedral::machine::WORD_BYTES;
use tessella_polyhedral::schedule::Tag;

/// What kernels with such copies use.
pub const VECTOR_HELPERS: &str = "\
// Neighbouring elements that are loaded or stored at once, from a multiple of their size on.
template <typename T, int count> struct __align__(sizeof(T) * count) tessella_vector {
    T at[count];
};

// Elements of the widest vector of up to 16 bytes and 4 elements that begins `place` elements behind a multiple of one, if so
// many are left.
template <int bytes, int place, int left> struct tessella_width {
    static const int most = bytes < 8 ? 4 : 2;
    static const int here = place % most == 0 ? most : place % 2 == 0 ? 2 : 1;
    static const int value = here <= left ? here : here > 1 && left > 1 ? 2 : 1;
};

// Elements `at` to `count - 1` of a run in memory whose first one is `lead` elements behind a multiple of a vector's size: each
// as part of the widest vector that begins there and ends within the run.
template <int lead, int at, int count> struct tessella_peeled {
    template <typename T> static __device__ __forceinline__ void load(T *to, const T *from) {
        const int width = tessella_width<sizeof(T), lead + at, count - at>::value;
        const tessella_vector<T, width> vector = *(const tessella_vector<T, width> *)(from + at);
        #pragma unroll
        for (int lane = 0; lane < width; lane++) to[at + lane] = vector.at[lane];
        tessella_peeled<lead, at + width, count>::load(to, from);
    }
    template <typename T> static __device__ __forceinline__ void store(T *to, const T *from) {
        const int width = tessella_width<sizeof(T), lead + at, count - at>::value;
        tessella_vector<T, width> vector;
        #pragma unroll
        for (int lane = 0; lane < width; lane++) vector.at[lane] = from[at + lane];
        *(tessella_vector<T, width> *)(to + at) = vector;
        tessella_peeled<lead, at + width, count>::store(to, from);
    }
};
template <int lead, int count> struct tessella_peeled<lead, count, count> {
    template <typename T> static __device__ __forceinline__ void load(T *, const T *) {}
    template <typename T> static __device__ __forceinline__ void store(T *, const T *) {}
};

// The neighbours from `from` on, wherever in a vector they begin.
template <int count, typename T> static __device__ __forceinline__ void tessella_load_run(T *to, const T *from) {
    switch ((uint64_t)from / sizeof(T) % tessella_width<sizeof(T), 0, count>::most) {
        case 0: return tessella_peeled<0, 0, count>::load(to, from);
        case 1: return tessella_peeled<1, 0, count>::load(to, from);
        case 2: return tessella_peeled<2, 0, count>::load(to, from);
        default: return tessella_peeled<3, 0, count>::load(to, from);
    }
}
template <int count, typename T> static __device__ __forceinline__ void tessella_store_run(T *to, const T *from) {
    switch ((uint64_t)to / sizeof(T) % tessella_width<sizeof(T), 0, count>::most) {
        case 0: return tessella_peeled<0, 0, count>::store(to, from);
        case 1: return tessella_peeled<1, 0, count>::store(to, from);
        case 2: return tessella_peeled<2, 0, count>::store(to, from);
        default: return tessella_peeled<3, 0, count>::store(to, from);
    }
}
";

/// Whether copies are printed with vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vectors {
    /// The text asks which of the others it may.
    Ask,
    /// Those that begin at known elements of aligned columns.
    Aligned,
    /// Those that begin where each run's own address lets them, behind a peel of single elements.
    Peeled,
}

impl Printer<'_> {
    /// A nest of unrolled loops around a copy in vectors: once where the array's columns are aligned, and once where they are not.
    pub(super) fn wide_nest(&mut self, it: &For, wide: &Wide, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let aligned = self.are_aligned(&[wide]);
        self.both_ways(&aligned, out, |printer, out| printer.for_loop(it, hooks, out));
    }

    /// Where the vectors of several copies begin at multiples of their sizes.
    fn are_aligned(&mut self, all: &[&Wide]) -> String {
        let mut parts: Vec<String> = vec![];
        for wide in all {
            let name = &self.program.names.buffers[wide.buffer.0 as usize];
            parts.push(format!("(uint64_t){name} % {} == 0", wide.bytes));
            if wide.columns != Cond::Const(true) {
                parts.push(self.cond(&wide.columns));
            }
        }
        let mut seen = BTreeSet::new();
        parts.retain(|part| seen.insert(part.clone()));
        parts.join(" && ")
    }

    /// The same text where vectors are aligned and where they are not.
    fn both_ways(&mut self, aligned: &str, out: &mut Writer, mut print: impl FnMut(&mut Self, &mut Writer)) {
        out.open(format!("if ({aligned})"));
        for vectors in [Vectors::Aligned, Vectors::Peeled] {
            self.wide = vectors;
            print(self, out);
            match vectors {
                Vectors::Aligned => out.reopen("else"),
                Vectors::Ask | Vectors::Peeled => out.close(),
            }
        }
        self.wide = Vectors::Ask;
    }

    /// The nodes of a whole tile. With narrow elements, the kernel asks once for all copies whether vectors are aligned: where a copy asks for
    /// itself, elements come from either way, and the compiler takes the words of both apart before it computes.
    pub(super) fn whole_tile(&mut self, nodes: &[Node], hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let mut all: Vec<&Wide> = vec![];
        for node in nodes {
            node.walk(&mut |node| {
                if let Node::For(it) = node {
                    all.extend(it.wide.as_deref());
                }
            });
        }
        let is_narrow = |wide: &&Wide| {
            let written = self.input.algorithm.computation(wide.computation).write.array;
            self.input.algorithm.array(written).element.bytes() < WORD_BYTES
        };
        if self.wide != Vectors::Ask || !all.iter().any(is_narrow) {
            return self.block(nodes, hooks, out);
        }
        let aligned = self.are_aligned(&all);
        self.both_ways(&aligned, out, |printer, out| printer.block(nodes, hooks, out));
    }

    /// The copies of one loop, where all of its iterations are run: of aligned columns part by part.
    pub(super) fn wide_loop(&mut self, it: &For, wide: &Wide, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let all = match &wide.all {
            Cond::Const(true) => None,
            all => Some(self.cond(all)),
        };
        if let Some(all) = &all {
            out.open(format!("if ({all})"));
        }
        self.origin(wide.computation, out);
        match self.wide {
            Vectors::Aligned => wide.parts.iter().for_each(|&part| self.part(it, wide, part, hooks, out)),
            Vectors::Ask | Vectors::Peeled => self.part(it, wide, wide.run(), hooks, out),
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
        let element = c_type(source.value.ty);
        let whole = For {
            lower: IntExpr::Const(first),
            upper: IntExpr::Const(first + count - 1),
            tag: Tag::Unroll(u32::try_from(count).unwrap_or(1)),
            body: vec![],
            asked: None,
            wide: None,
            stores_last: false,
            ..it.clone()
        };
        let head = self.for_head(&variable, &whole.lower, &whole.upper, 1, None);
        out.open("");
        match (self.wide, wide.direction) {
            (Vectors::Aligned, Direction::Load) => {
                let (target, vector) = (self.element(&source.write, &at_each).0, self.picked("vector"));
                let ty = format!("tessella_vector<{element}, {count}>");
                out.line(format!("const {ty} {vector} = *(const {ty} *)&{first_value};"));
                hooks.enter(&whole, self, out);
                out.line(format!("{head} {target} = {vector}.at[{lane}];"));
            }
            (Vectors::Aligned, Direction::Store) => {
                let (value, vector) = (self.value(&source.value, &at_each).0, self.picked("vector"));
                let ty = format!("tessella_vector<{element}, {count}>");
                out.line(format!("{ty} {vector};"));
                hooks.enter(&whole, self, out);
                out.line(format!("{head} {vector}.at[{lane}] = {value};"));
                out.line(format!("*({ty} *)&{first_target} = {vector};"));
            }
            (Vectors::Ask | Vectors::Peeled, Direction::Load) => {
                let (target, run) = (self.element(&source.write, &at_each).0, self.picked("run"));
                out.line(format!("{element} {run}[{count}];"));
                out.line(format!("tessella_load_run<{count}>({run}, &{first_value});"));
                hooks.enter(&whole, self, out);
                out.line(format!("{head} {target} = {run}[{lane}];"));
            }
            (Vectors::Ask | Vectors::Peeled, Direction::Store) => {
                let (value, run) = (self.value(&source.value, &at_each).0, self.picked("run"));
                out.line(format!("{element} {run}[{count}];"));
                hooks.enter(&whole, self, out);
                out.line(format!("{head} {run}[{lane}] = {value};"));
                out.line(format!("tessella_store_run<{count}>(&{first_target}, {run});"));
            }
        }
        hooks.leave(&whole);
        out.close();
    }

    /// A name that nothing else has.
    fn picked(&self, wanted: &str) -> String {
        self.program.names.namer().pick(wanted)
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
