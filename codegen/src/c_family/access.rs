//! Array accesses: `A(i - 1, j)`, with a macro that knows where the array lies.

use super::Printer;
use super::expr::Instance;
use crate::int_expr::{IntExpr, VariableId};
use crate::int_text::{Bound, Precedence, Spelling, int_text, within};
use crate::names::Names;
use crate::program::Node;
use crate::tile::subscripts_of;
use std::collections::BTreeSet;
use tessella_polyhedral::algorithm::{Access, ArrayId, Subscript};
use tessella_polyhedral::layers::{Lifetime, MemorySpace};

impl Printer<'_> {
    /// The element that an access names, for an instance whose iterators have these values.
    pub fn element(&mut self, access: &Access, at: &Instance<'_>) -> Bound {
        if self.kept.iter().any(|it| it.array == access.array)
            && let Some(subscripts) = subscripts_of(access, at.iterators)
            && let Some(it) = self.kept.iter().find(|it| it.array == access.array && it.subscripts == subscripts)
        {
            return (it.name.clone(), Precedence::Primary);
        }
        let layout = self.input.layout;
        let buffer_id = layout.placement(access.array).buffer;
        let buffer = layout.buffer(buffer_id);
        let name = &self.program.names.buffers[buffer_id.0 as usize];
        if buffer.extents.is_empty() {
            let variable = buffer.space == MemorySpace::Register
                || (buffer.space == MemorySpace::Host
                    && matches!(buffer.lifetime, Lifetime::Node(_) | Lifetime::Children { .. }));
            let one = if variable { name.clone() } else { format!("{name}[0]") };
            return (one, Precedence::Primary);
        }
        self.macros.insert(access.array);
        let told = self.told(access.array);
        let mut subscripts = vec![];
        for (subscript, _) in access.subscripts.iter().zip(told).filter(|(_, told)| *told) {
            subscripts.push(match subscript {
                Subscript::Affine(affine) => self.int(&IntExpr::from_affine(affine, at.iterators)),
                Subscript::Computed(value) => self.value(value, at).0,
            });
        }
        let name = &self.program.names.arrays[access.array.0 as usize];
        (format!("{name}({})", subscripts.join(", ")), Precedence::Primary)
    }

    /// The element of an array in memory at these subscripts.
    pub fn element_at(&mut self, array: ArrayId, subscripts: &[IntExpr]) -> String {
        self.macros.insert(array);
        let told = self.told(array);
        let told = subscripts.iter().zip(told).filter(|(_, told)| *told);
        let subscripts: Vec<String> = told.map(|(subscript, _)| self.int(subscript)).collect();
        format!("{}({})", self.program.names.arrays[array.0 as usize], subscripts.join(", "))
    }

    /// Which subscripts are written: of those that tell a local array's copies apart, the ones that its place depends on.
    fn told(&self, array: ArrayId) -> Vec<bool> {
        let outer = self.input.algorithm.array(array).kind.outer();
        let map = &self.input.layout.placement(array).map;
        let rank = self.input.algorithm.array(array).rank;
        (0..rank).map(|axis| axis >= outer || map.iter().any(|place| place.involves_iterator(axis))).collect()
    }

    /// A comment, and the `#define`s of all subscripts that were used; nothing if there are none.
    pub fn subscript_macros(&mut self) -> Vec<String> {
        let used = &self.macros;
        if used.is_empty() {
            return vec![];
        }
        let array = |id: &ArrayId| self.input.algorithm.array(*id);
        let from = if used.iter().all(|id| array(id).firsts.is_empty()) { "from 1" } else { "from the first indices" };
        let order =
            if used.iter().all(|id| array(id).strided.is_empty()) { "first axis contiguous" } else { "by strides" };
        let comment = format!("// Subscripts as in the source: {from}, {order}.");
        std::iter::once(comment).chain(self.bare_macros()).collect()
    }

    /// The same without the comment.
    pub(super) fn bare_macros(&mut self) -> Vec<String> {
        let used = self.macros.clone();
        used.into_iter().flat_map(|array| self.subscript_macro(array)).collect()
    }

    fn subscript_macro(&mut self, array: ArrayId) -> Vec<String> {
        let names = &self.program.names;
        let placement = self.input.layout.placement(array);
        let buffer = self.input.layout.buffer(placement.buffer);
        // Macro parameters must not be names that the macro's body means.
        let own = names.extents[array.0 as usize].iter().chain(names.strides[array.0 as usize].values());
        let taken: BTreeSet<&String> = names.params.iter().chain(&names.buffers).chain(own).collect();
        let letters = ["i", "j", "k", "l"].map(String::from).into_iter();
        let mut free = letters.chain((1..).map(|number| format!("x{number}"))).filter(|name| !taken.contains(name));
        let told = self.told(array);
        let formal: Vec<String> = told.iter().filter(|told| **told).filter_map(|_| free.next()).collect();
        let mut next = 0..;
        let subscripts: Vec<IntExpr> = (told.iter())
            .map(|told| {
                if *told {
                    next.next().map_or(IntExpr::Const(0), |at| IntExpr::Variable(VariableId(at)))
                } else {
                    IntExpr::Const(0)
                }
            })
            .collect();
        let strides = &names.strides[array.0 as usize];
        if !strides.is_empty() {
            return vec![self.strided_macro(array, &formal)];
        }
        // Column-major: i + m * (j + n * k).
        let mut index: Option<IntExpr> = None;
        let in_constant = matches!(buffer.space, MemorySpace::Constant { .. });
        for (place, extent) in placement.map.iter().zip(&buffer.extents).rev() {
            let place = IntExpr::from_affine(place, &subscripts);
            // An instruction may name a place in constant memory that is a number.
            let fixed = if in_constant { self.input.only_value(array, extent) } else { None };
            let extent = fixed.map_or_else(|| self.input.extent(extent), IntExpr::Const);
            index = Some(match index {
                Some(inner) => place.plus(extent.times(inner)),
                None => place,
            });
        }
        let index = index.unwrap_or(IntExpr::Const(0));
        let shift = formal.first().and_then(|formal| self.row_shift(array, formal));
        let names = &self.program.names;
        let inside = Names { variables: formal.iter().map(|name| format!("({name})")).collect(), ..names.clone() };
        self.note_helpers(&index);
        let index = int_text(&index, &inside, Spelling::C).0;
        let buffer = &names.buffers[placement.buffer.0 as usize];
        let head = format!("#define {}({})", names.arrays[array.0 as usize], formal.join(", "));
        match shift {
            None => vec![format!("{head} {buffer}[{index}]")],
            Some((shift, definition)) => {
                let row = IntExpr::from_affine(&placement.map[1], &subscripts);
                let row = int_text(&row, &inside, Spelling::C).0;
                vec![definition, format!("{head} {buffer}[{index} + {shift}({row})]")]
            }
        }
    }
}

impl Printer<'_> {
    /// The `#define` for an array whose strides are given at run time: `i + stride2 * j`.
    fn strided_macro(&mut self, array: ArrayId, formal: &[String]) -> String {
        let names = self.program.names.clone();
        let placement = self.input.layout.placement(array).clone();
        let subscripts: Vec<IntExpr> = (0..formal.len() as u32).map(|at| IntExpr::Variable(VariableId(at))).collect();
        let inside = Names { variables: formal.iter().map(|name| format!("({name})")).collect(), ..names.clone() };
        let mut terms = vec![];
        for (axis, place) in placement.map.iter().enumerate() {
            let place = IntExpr::from_affine(place, &subscripts);
            self.note_helpers(&place);
            let place = int_text(&place, &inside, Spelling::C);
            terms.push(match names.strides[array.0 as usize].get(&(axis as u32)) {
                Some(stride) => format!("{stride} * {}", within(place, Precedence::Product)),
                None => within(place, Precedence::Sum),
            });
        }
        let buffer = &names.buffers[placement.buffer.0 as usize];
        format!("#define {}({}) {buffer}[{}]", names.arrays[array.0 as usize], formal.join(", "), terms.join(" + "))
    }
}

/// The arrays that statements below these nodes access.
pub fn accessed(printer: &Printer<'_>, nodes: &[Node]) -> BTreeSet<ArrayId> {
    let mut arrays = BTreeSet::new();
    for node in nodes {
        node.walk(&mut |node| {
            if let Node::Statement(it) = node {
                arrays.extend(printer.input.used_accesses(it.computation).iter().map(|access| access.array));
            }
        });
    }
    arrays
}
