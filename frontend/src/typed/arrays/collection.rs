//! `for` over anything but a range: elements, `enumerate`, `zip`, `CartesianIndices`, `eachindex` of matrices.
//!
//! Each becomes a loop over ranges, with the iterators of the source as new variables at the start of its body. What the
//! source iterates over is evaluated once, and has a name that no source can have.

use super::{Axis, Elements, Keeps, Numbers, Part, Position, Recipe};
use crate::ast::{self, Argument, Expr, ExprKind, Iteration, Section};
use crate::typed::check::{Checked, Checker};
use crate::typed::operator::binary;
use crate::typed::result::Container;
use crate::typed::scope::{Scope, State};
use crate::typed::tree::{LocalId, Simd, Strides, Type};
use crate::typed::unsupported::Construct;
use crate::typed::value::{RangeValue, Value};
use tessella_diagnostics::Span;
use tessella_scalar::BinaryOp;

/// Calls of these give a collection.
const COLLECTIONS: [&str; 5] = ["enumerate", "zip", "pairs", "CartesianIndices", "eachindex"];

/// Names of loops that the source does not name; no source can mean them.
pub(super) const HIDDEN: [&str; 6] = ["#i", "#j", "#k", "#l", "#p", "#q"];

/// The loop that a collection becomes: iterations, outermost first, and what its body starts with.
struct Desugared {
    iterations: Vec<Iteration>,
    prelude: Vec<Expr>,
}

impl Checker<'_> {
    /// Whether a loop runs over something else than a range, as far as can be seen without evaluating it.
    pub(in crate::typed) fn is_collection(&self, iterated: &Expr) -> bool {
        match &iterated.kind {
            ExprKind::Name(name) => self.is_array_name(name) || self.is_places(iterated),
            ExprKind::Call { callee, arguments, .. } => match self.library_name(callee) {
                Some("eachindex") => {
                    arguments.len() > 1 || arguments.iter().any(|argument| !self.is_vector(&argument.value))
                }
                Some(name) => COLLECTIONS.contains(&name) || matches!(name, "view" | "eachcol" | "eachrow"),
                None => false,
            },
            ExprKind::Index { base, subscripts } => {
                let is_array = matches!(&base.kind, ExprKind::Name(name) if self.is_array_name(name));
                let is_range =
                    |argument: &Argument| matches!(argument.value.kind, ExprKind::Colon | ExprKind::Range { .. });
                is_array && subscripts.iter().any(is_range)
            }
            ExprKind::MacroCall { name, .. } => matches!(name.value.as_str(), "view" | "views"),
            ExprKind::Adjoint(_) => true,
            ExprKind::Range { .. } => self.all_elements_of(iterated).is_some() || self.is_places(iterated),
            _ => false,
        }
    }

    /// The arguments of `length(A)` in `1:length(A)`, where `A` has several dimensions.
    fn all_elements_of<'e>(&self, iterated: &'e Expr) -> Option<&'e [Argument]> {
        let ExprKind::Range { start, step: None, stop } = &iterated.kind else { return None };
        let ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No } = &stop.kind else { return None };
        let is_length = self.library_name(callee) == Some("length");
        let is_one = matches!(&start.kind, ExprKind::Integer(text) if text == "1");
        let is_matrix = matches!(arguments.as_slice(), [only]
            if matches!(only.value.kind, ExprKind::Name(_)) && !self.is_vector(&only.value));
        (is_length && is_one && is_matrix).then_some(arguments.as_slice())
    }

    fn is_vector(&self, expr: &Expr) -> bool {
        let ExprKind::Name(name) = &expr.kind else { return false };
        let Some(variable) = self.lookup(name) else { return true };
        match &self.variables[variable.0].state {
            State::Array(array) => self.rank(*array) == 1,
            State::Alias(Value::Elements(elements)) => elements.rank() == 1,
            State::Alias(Value::ComplexArray(array)) => self.rank(*array) == 2,
            // Whatever is wrong with it is told where it is evaluated.
            _ => true,
        }
    }

    /// `for target in collection, rest... body end`.
    pub(in crate::typed) fn for_collection(
        &mut self,
        iteration: &Iteration,
        rest: &[Iteration],
        body: &[Expr],
        simd: Simd,
        span: Span,
    ) -> Checked<()> {
        self.scopes.push(Scope::new());
        let checked = self.desugared(iteration).and_then(|Desugared { iterations, prelude }| {
            let mut inner = prelude;
            match rest {
                [] => inner.extend(body.iter().cloned()),
                _ => inner.push(Expr { kind: ExprKind::For { iterations: rest.to_vec(), body: body.to_vec() }, span }),
            }
            self.for_loop(&iterations, &inner, simd, span)
        });
        self.scopes.pop();
        checked
    }

    fn desugared(&mut self, iteration: &Iteration) -> Checked<Desugared> {
        let span = iteration.range.span;
        if self.is_places(&iteration.range)
            && let Value::Places(axes) = self.value(&iteration.range)?
        {
            return Ok(self.over_axes(axes, &iteration.target, "#cartesian", span));
        }
        let call = match &iteration.range.kind {
            ExprKind::Call { callee, arguments, .. } => {
                let name = self.library_name(callee).filter(|name| COLLECTIONS.contains(name));
                name.map(|name| (name, arguments.as_slice()))
            }
            _ => None,
        };
        let call = call.or(self.all_elements_of(&iteration.range).map(|arguments| ("1:length", arguments)));
        let Some((name, arguments)) = call else {
            let source = self.source(&iteration.range, "#source")?;
            return Ok(self.over_elements(&source, &iteration.target, span));
        };
        match (name, arguments) {
            ("enumerate", [argument]) if let Some(arguments) = self.zipped_in(&argument.value) => {
                let ExprKind::Tuple(targets) = &iteration.target.kind else {
                    return self.not_yet(Construct::Iterator, iteration.target.span);
                };
                let [count, elements] = targets.as_slice() else {
                    return self.not_yet(Construct::Iterator, iteration.target.span);
                };
                let Desugared { iterations, mut prelude } = self.over_zipped(arguments, &elements.value, span)?;
                prelude.insert(0, local(&count.value, named("#i", span)));
                Ok(Desugared { iterations, prelude })
            }
            ("enumerate" | "pairs", [argument]) => {
                let source = self.source(&argument.value, "#source")?;
                let source = match name {
                    "enumerate" => self.hide_counted(source, "#source", span),
                    _ => source,
                };
                let ExprKind::Tuple(targets) = &iteration.target.kind else {
                    return self.not_yet(Construct::Iterator, iteration.target.span);
                };
                let ([count, element], 1) = (targets.as_slice(), source.rank()) else {
                    return self.not_yet(Construct::LinearIndex, span);
                };
                self.hide("#axis1", Value::Range(self.axis_range(&source, 0)), span);
                let value = subscripted("#source", std::slice::from_ref(&count.value), span);
                Ok(Desugared {
                    iterations: vec![over(count.value.clone(), "#axis1", span)],
                    prelude: vec![local(&element.value, value)],
                })
            }
            ("zip", [_, ..]) => self.over_zipped(arguments, &iteration.target, span),
            ("eachindex" | "1:length", [first, others @ ..]) => {
                let (source, is_counted) = self.indexed_source(&first.value, "#source")?;
                let mut is_number = name == "1:length" || is_counted;
                for other in others {
                    let (other, is_counted) = self.indexed_source(&other.value, "#other")?;
                    is_number &= is_counted;
                    self.equal_extents(&source, &other, span)?;
                    self.same_axes(&[&source, &other], span)?;
                }
                let axes = (0..source.rank()).map(|axis| self.axis_range(&source, axis)).collect();
                match source.rank() {
                    1 => {
                        self.hide("#axis1", Value::Range(self.axis_range(&source, 0)), span);
                        let iterations = vec![over(iteration.target.clone(), "#axis1", span)];
                        Ok(Desugared { iterations, prelude: vec![] })
                    }
                    _ => {
                        let function = if is_number { "#number" } else { "#linear" };
                        Ok(self.over_axes(axes, &iteration.target, function, span))
                    }
                }
            }
            (_, _) => self.not_yet(Construct::Iterator, span),
        }
    }

    /// The arguments of `zip(...)`.
    fn zipped_in<'e>(&self, expr: &'e Expr) -> Option<&'e [Argument]> {
        let ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No } = &expr.kind else { return None };
        let is_zip = self.library_name(callee) == Some("zip");
        (is_zip && !arguments.is_empty()).then_some(arguments.as_slice())
    }

    /// `for (x, y) in zip(a, b)`, and `for pair in zip(a, b)`, by `#i` as far as all have elements.
    fn over_zipped(&mut self, arguments: &[Argument], target: &Expr, span: Span) -> Checked<Desugared> {
        let mut columns = vec![];
        let mut shortest: Option<crate::typed::tree::Expr> = None;
        for (at, argument) in arguments.iter().enumerate() {
            let hidden = format!("#source{}", at + 1);
            let source = self.source(&argument.value, &hidden)?;
            if source.rank() != 1 {
                return self.not_yet(Construct::LinearIndex, argument.value.span);
            }
            let source = self.hide_counted(source, &hidden, span);
            let length = source.extents[0].clone().placed(span);
            shortest = Some(match shortest {
                Some(shortest) if !super::shape::same(&shortest, &length) => {
                    binary(BinaryOp::Min, shortest, length, span)
                }
                _ => length,
            });
            columns.push(subscripted(&hidden, &[named("#i", span)], span));
        }
        let prelude = match &target.kind {
            ExprKind::Tuple(targets) if targets.len() == arguments.len() => {
                targets.iter().zip(columns).map(|(target, column)| local(&target.value, column)).collect()
            }
            ExprKind::Tuple(targets) => {
                let (targets, values) = (targets.len(), arguments.len());
                return Err(self.fail(crate::typed::TypeError::Destructuring { targets, values, span }));
            }
            _ => {
                let kind = ExprKind::Tuple(columns.iter().map(positional).collect());
                vec![local(target, Expr { kind, span })]
            }
        };
        let stop = shortest.expect("the pattern has one argument at least");
        let start = crate::typed::tree::Expr::int64(1, span);
        self.hide("#axis1", Value::Range(RangeValue { start, step: 1, stop }), span);
        Ok(Desugared { iterations: vec![over(named("#i", span), "#axis1", span)], prelude })
    }

    /// Evaluates what is iterated over, once, and gives it a hidden name.
    fn source(&mut self, expr: &Expr, name: &str) -> Checked<Elements> {
        let value = self.value(expr)?;
        let Some(elements) = self.as_elements(&value, expr.span) else {
            return match value {
                Value::Tuple(_) => self.not_yet(Construct::Iterator, expr.span),
                other => {
                    let found = self.kind(&other);
                    Err(self.fail(crate::typed::TypeError::NotIterable { found, span: expr.span }))
                }
            };
        };
        let elements = self.frozen_elements(elements)?;
        self.hide(name, Value::Elements(Box::new(elements.clone())), expr.span);
        Ok(elements)
    }

    /// [`Self::source`] where only the places of the elements matter; also whether `eachindex` counts them.
    fn indexed_source(&mut self, expr: &Expr, name: &str) -> Checked<(Elements, bool)> {
        let is_plain = matches!(expr.kind, ExprKind::Name(_));
        if is_plain && let Value::ComplexArray(array) = self.value(expr)? {
            let elements = self.whole_of(Numbers::Complex, array, Keeps::View, expr.span);
            self.hide(name, Value::Elements(Box::new(elements.clone())), expr.span);
            return Ok((elements, self.is_counted_array(array)));
        }
        let elements = self.source(expr, name)?;
        let is_counted = self.is_counted(&elements);
        Ok((elements, is_counted))
    }

    /// Gives the hidden name to the same elements, counted from 1.
    fn hide_counted(&mut self, source: Elements, name: &str, span: Span) -> Elements {
        let counted = self.counted_from_one(source);
        self.hide(name, Value::Elements(Box::new(counted.clone())), span);
        counted
    }

    fn hide(&mut self, name: &str, value: Value, span: Span) {
        let variable = self.declare(name, span, State::Alias(value));
        self.assigned.insert(variable);
    }

    /// `for x in A`.
    fn over_elements(&mut self, source: &Elements, target: &Expr, span: Span) -> Desugared {
        let mut iterations = vec![];
        let names: Vec<Expr> = HIDDEN[..source.rank().min(HIDDEN.len())].iter().map(|name| named(name, span)).collect();
        for (axis, name) in names.iter().enumerate().rev() {
            let hidden = format!("#axis{}", axis + 1);
            self.hide(&hidden, Value::Range(self.axis_range(source, axis)), span);
            iterations.push(over(name.clone(), &hidden, span));
        }
        Desugared { iterations, prelude: vec![local(target, subscripted("#source", &names, span))] }
    }

    /// Nested loops over axes, with their iterators as one position.
    fn over_axes(&mut self, axes: Vec<RangeValue>, target: &Expr, function: &str, span: Span) -> Desugared {
        let names: Vec<Expr> = HIDDEN[..axes.len().min(HIDDEN.len())].iter().map(|name| named(name, span)).collect();
        let mut iterations = vec![];
        for (axis, (name, range)) in names.iter().zip(axes).enumerate().rev() {
            let hidden = format!("#axis{}", axis + 1);
            self.hide(&hidden, Value::Range(range), span);
            iterations.push(over(name.clone(), &hidden, span));
        }
        let arguments = names.iter().map(positional).collect();
        let callee = Box::new(named(function, span));
        let value = Expr { kind: ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No }, span };
        Desugared { iterations, prelude: vec![local(target, value)] }
    }

    /// The calls that [`Self::over_axes`] writes.
    pub(in crate::typed) fn hidden_call(&mut self, name: &str, arguments: &[Argument]) -> Option<Checked<Value>> {
        if !matches!(name, "#cartesian" | "#linear" | "#number") {
            return None;
        }
        let mut subscripts = vec![];
        for argument in arguments {
            match self.scalar(&argument.value) {
                Ok(subscript) => subscripts.push(subscript),
                Err(reported) => return Some(Err(reported)),
            }
        }
        let linear_in = match (name, self.lookup("#source")) {
            ("#linear" | "#number", Some(variable)) => match &self.variables[variable.0].state {
                State::Alias(Value::Elements(source)) => Some(source.clone()),
                _ => None,
            },
            _ => None,
        };
        Some(Ok(Value::Position(Position { subscripts, linear_in, is_number: name == "#number" })))
    }

    /// Whether Julia's `eachindex` gives numbers for the elements, not `CartesianIndex`es.
    fn is_counted(&self, elements: &Elements) -> bool {
        match &elements.recipe {
            Recipe::Part(Part { keeps: Keeps::View, array, axes, .. }) => {
                let is_whole = axes.iter().all(|axis| matches!(axis, Axis::Along { whole: true, .. }));
                is_whole && self.is_counted_array(*array)
            }
            Recipe::Part(Part { keeps: Keeps::Copy | Keeps::Fresh, .. }) => true,
            Recipe::Transposed(_) => false,
            Recipe::Range(_)
            | Recipe::Fill(_)
            | Recipe::Undefined
            | Recipe::Scalar(_)
            | Recipe::Apply { .. }
            | Recipe::Rows(_)
            | Recipe::Slices { .. }
            | Recipe::Row(_)
            | Recipe::Numbering(_)
            | Recipe::Comprehension { .. } => true,
        }
    }

    fn is_counted_array(&self, array: LocalId) -> bool {
        let is_dense = matches!(self.local(array).ty, Type::Array { form, .. } if form.strides == Strides::Dense);
        is_dense
            && match self.other_containers.get(&array) {
                Some(Container::Adjoint | Container::View) => false,
                Some(Container::BitArray | Container::Range) | None => true,
            }
    }
}

/// The number of a place among an array's elements, from 1, whatever the subscripts count from: `i + m * (j - 1)`.
pub(in crate::typed) fn linear_index(
    subscripts: &[crate::typed::tree::Expr],
    firsts: &[crate::typed::tree::Expr],
    extents: &[crate::typed::tree::Expr],
    span: Span,
) -> crate::typed::tree::Expr {
    let before = |(subscript, first): (&crate::typed::tree::Expr, &crate::typed::tree::Expr)| {
        super::shape::plus(super::origin::place_of(subscript.clone().placed(span), first), -1)
    };
    let places = subscripts.iter().zip(firsts).map(before).zip(extents).rev();
    let distance = places.reduce(|(outer, _), (inner, extent)| {
        let rows = binary(BinaryOp::Mul, outer, extent.clone().placed(span), span);
        (binary(BinaryOp::Add, inner, rows, span), extent)
    });
    let distance = distance.map_or_else(|| crate::typed::tree::Expr::int64(0, span), |(distance, _)| distance);
    super::shape::plus(distance, 1)
}

pub(in crate::typed) fn named(name: &str, span: Span) -> Expr {
    Expr { kind: ExprKind::Name(name.to_string()), span }
}

pub(in crate::typed) fn positional(value: &Expr) -> Argument {
    Argument { keyword: None, value: value.clone(), section: Section::Main }
}

fn over(target: Expr, range: &str, span: Span) -> Iteration {
    Iteration { target, range: named(range, span), span }
}

/// `local target = value`.
pub(in crate::typed) fn local(target: &Expr, value: Expr) -> Expr {
    let span = target.span;
    let kind = ExprKind::Assign {
        operator: None,
        broadcast: ast::Broadcast::No,
        target: Box::new(target.clone()),
        value: Box::new(value),
    };
    Expr { kind: ExprKind::Local(vec![Expr { kind, span }]), span }
}

pub(super) fn subscripted(array: &str, subscripts: &[Expr], span: Span) -> Expr {
    let base = Box::new(named(array, span));
    Expr { kind: ExprKind::Index { base, subscripts: subscripts.iter().map(positional).collect() }, span }
}
