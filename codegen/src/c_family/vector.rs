//! Expressions on vectors, in GNU C's vector types: one operation for all lanes, each rounded as alone.

use super::expr::Instance;
use super::{Printer, Writer, c_type};
use crate::int_expr::IntExpr;
use crate::int_text::{Bound, Precedence, within};
use crate::tile::{Spelled, is_side_by_side, varies};
use std::collections::BTreeSet;
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_scalar::{BinaryOp, ScalarType, UnaryOp};

/// The declarations of each vector type that a text uses.
pub fn vector_types(used: &BTreeSet<(ScalarType, u32)>) -> Vec<String> {
    let declare = |&(element, lanes): &(ScalarType, u32)| {
        let (name, ty) = (name(element, lanes), c_type(element));
        let bytes = element.bytes() * lanes;
        let aligned = element.bytes();
        format!(
            "// {lanes} numbers of {} bits, and those that lie side by side from one on.\n\
             typedef {ty} {name} __attribute__((vector_size({bytes})));\n\
             typedef {ty} {name}_u __attribute__((vector_size({bytes}), aligned({aligned}), may_alias));\n\
             #define {}(first) (*({name}_u *)&(first))",
            element.bytes() * 8,
            name.to_uppercase()
        )
    };
    used.iter().map(declare).collect()
}

/// `f64x4`
fn name(element: ScalarType, lanes: u32) -> String {
    format!("f{}x{lanes}", element.bytes() * 8)
}

impl Printer<'_> {
    pub(super) fn vector_type(&mut self, element: ScalarType, lanes: u32) -> String {
        self.vectors.insert((element, lanes));
        name(element, lanes)
    }

    /// Elements that lie side by side, from the first one's text.
    pub(super) fn side_by_side(&mut self, element: ScalarType, lanes: u32, first: &str) -> String {
        format!("{}({first})", self.vector_type(element, lanes).to_uppercase())
    }

    /// The assignment of all lanes of an instance.
    pub(super) fn vector_update(&mut self, it: &Spelled, lanes: u32, out: &mut Writer) {
        let source = self.input.algorithm.computation(it.computation);
        let at_first = Instance { computation: it.computation, iterators: &it.iterators };
        for (position, binding) in source.lets.iter().enumerate() {
            let varying = varies(&self.input, it.computation, &it.strides, &binding.value);
            let value = self.lanes(&binding.value, it, lanes).0;
            let ty = match varying {
                true => self.vector_type(binding.value.ty, lanes),
                false => c_type(binding.value.ty).to_string(),
            };
            let name = &self.program.names.lets[it.computation.0 as usize][position];
            out.line(format!("const {ty} {name} = {value};"));
        }
        let (value, _) = self.lanes(&source.value, it, lanes);
        let value = match varies(&self.input, it.computation, &it.strides, &source.value) {
            true => value,
            false => self.broadcast(&value, source.value.ty, lanes),
        };
        let first = self.element(&source.write, &at_first).0;
        let target = match it.target {
            Some(_) => first,
            None => self.side_by_side(source.value.ty, lanes, &first),
        };
        out.line(format!("{target} = {value};"));
    }

    /// One value in all lanes.
    fn broadcast(&mut self, value: &str, ty: ScalarType, lanes: u32) -> String {
        let all = vec![value; lanes as usize];
        format!("({}){{{}}}", self.vector_type(ty, lanes), all.join(", "))
    }

    /// The value of all lanes; a scalar where they agree.
    fn lanes(&mut self, expr: &Expr, it: &Spelled, lanes: u32) -> Bound {
        use Precedence::{Primary, Product, Sum, Unary};
        let at = Instance { computation: it.computation, iterators: &it.iterators };
        if !varies(&self.input, it.computation, &it.strides, expr) {
            return self.value(expr, &at);
        }
        let mut side = |expr: &Expr, least: Precedence| within(self.lanes(expr, it, lanes), least);
        match &expr.kind {
            ExprKind::Binary(BinaryOp::Add, a, b) => (format!("{} + {}", side(a, Sum), side(b, Product)), Sum),
            ExprKind::Binary(BinaryOp::Sub, a, b) => (format!("{} - {}", side(a, Sum), side(b, Product)), Sum),
            ExprKind::Binary(BinaryOp::Mul, a, b) => (format!("{} * {}", side(a, Product), side(b, Unary)), Product),
            ExprKind::Binary(BinaryOp::Div, a, b) => (format!("{} / {}", side(a, Product), side(b, Unary)), Product),
            ExprKind::Unary(UnaryOp::Neg, a) => (format!("-{}", side(a, Primary)), Unary),
            ExprKind::Convert(inner) if inner.ty == expr.ty => self.lanes(inner, it, lanes),
            ExprKind::Convert(inner) => {
                let value = self.lanes(inner, it, lanes).0;
                (format!("__builtin_convertvector({value}, {})", self.vector_type(expr.ty, lanes)), Primary)
            }
            ExprKind::Read(position) => {
                let read = &self.input.algorithm.computation(it.computation).reads[*position as usize];
                let first = self.element(read, &at).0;
                if self.kept.iter().any(|kept| kept.name == first) {
                    return (first, Primary);
                }
                if is_side_by_side(&self.input, read, &it.strides) {
                    return (self.side_by_side(expr.ty, lanes, &first), Primary);
                }
                let each: Vec<String> = (0..i64::from(lanes))
                    .map(|lane| {
                        let iterators = it.iterators.iter().zip(&it.strides);
                        let iterators: Vec<IntExpr> =
                            iterators.map(|(at, stride)| at.clone().plus(IntExpr::Const(lane * stride))).collect();
                        self.element(read, &Instance { computation: it.computation, iterators: &iterators }).0
                    })
                    .collect();
                (format!("({}){{{}}}", self.vector_type(expr.ty, lanes), each.join(", ")), Primary)
            }
            // A `let` of vectors; all else has no vector form.
            _ => self.value(expr, &at),
        }
    }
}
