//! Assignments to many elements at once: `A .= B`, `A[:, j] = x`, `fill!(A, x)`, `copyto!(A, B)`.

use super::element::{part_subscripts, place_in};
use super::shape::{Stretched, differ, dimensions, is_one, same};
use super::{ArrayError, Elements, Numbers, Part, Recipe};
use crate::ast;
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::scope::State;
use crate::typed::statement::{Place, Tail};
use crate::typed::tree::{Block, Expr, ExprKind, LocalId, Role, SizeError, Statement, StatementKind, Type};
use crate::typed::unsupported::Construct;
use crate::typed::value::Value;
use std::collections::BTreeMap;
use tessella_diagnostics::{Span, Spanned};
use tessella_scalar::{CompareOp, ScalarType};

/// Whether axes of one element are stretched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stretch {
    Yes,
    No,
}

impl Checker<'_> {
    /// `target .= value`, `target .op= value`.
    pub(in crate::typed) fn broadcast_assignment(
        &mut self,
        operator: Option<&Spanned<ast::Operator>>,
        target: &ast::Expr,
        value: &ast::Expr,
        span: Span,
        place: Place,
    ) -> Checked<Tail> {
        if let Some(scattered) = self.scattered_assignment(ast::Broadcast::Yes, operator, target, value, span) {
            return match (scattered, place) {
                // The value of the assignment would be a view of these places.
                (Ok(()), Place::Last) => {
                    let container = crate::typed::result::Container::View;
                    Err(self.array_error(ArrayError::OtherContainer { container, span }))
                }
                (Ok(()), Place::Middle) => Ok(Tail::Nothing),
                (Err(reported), _) => Err(reported),
            };
        }
        let found = match &target.kind {
            ast::ExprKind::Name(_) | ast::ExprKind::MacroCall { .. } | ast::ExprKind::Call { .. } => self.value(target),
            ast::ExprKind::Index { .. } => self.with_views(|checker| checker.value(target)),
            _ => return self.not_yet(Construct::Broadcast, target.span),
        };
        let given = match operator {
            None => self.value(value),
            Some(operator) => {
                let symbol = operator.value.symbol.trim_end_matches('=');
                let symbol = if symbol.is_empty() { operator.value.symbol.clone() } else { symbol.to_string() };
                let operator = Spanned { value: ast::Operator { symbol, dotted: true }, span: operator.span };
                let (left, right) = (Box::new(target.clone()), Box::new(value.clone()));
                self.value(&ast::Expr { kind: ast::ExprKind::Infix { operator, left, right }, span })
            }
        };
        let (found, given) = (found?, given?);
        if let (Value::Scalar(element), Some(_)) = (&found, found_load(&found)) {
            // `A[i] .= x` of one element.
            let (array, subscripts) = element.as_load().expect("the guard has seen a load");
            let value = self.as_scalar(given, value.span)?;
            self.store_element(array, subscripts, value, span)?;
            return Ok(Tail::Nothing);
        }
        let Some(whole) = self.as_elements(&found, target.span) else {
            let found = self.kind(&found);
            let error = ArrayError::NotElements { function: ".=".into(), found, span: target.span };
            return Err(self.array_error(error));
        };
        let given = match operator {
            None => self.filling(&whole, given, value)?,
            Some(_) => given,
        };
        self.assign(&whole, given, value.span, Stretch::Yes, span)?;
        match (place, found) {
            (Place::Last, Value::Array(array)) => Ok(Tail::Argument(array, span)),
            (Place::Last, array @ Value::ComplexArray(_)) => Ok(Tail::Other(array, span)),
            (Place::Last, other) => {
                let found = self.kind(&other);
                Err(self.fail(crate::typed::TypeError::ResultKind { found, span }))
            }
            (Place::Middle, _) => Ok(Tail::Nothing),
        }
    }

    /// `target[...] = value` where the target has several elements.
    pub(in crate::typed) fn assign_part(&mut self, target: &Elements, value: Value, span: Span) -> Checked<Value> {
        if self.as_elements(&value, span).is_none() {
            return Err(self.array_error(ArrayError::SingleValue { span, target: target.span }));
        }
        self.assign(target, value.clone(), span, Stretch::No, span)?;
        Ok(value)
    }

    /// `fill!(A, x)`, `copyto!(A, B)`.
    pub(super) fn filler(&mut self, name: &str, arguments: &[&ast::Expr], span: Span) -> Checked<Value> {
        let [target, source] = arguments else {
            return Err(self.arity(name, "2 arguments", arguments.len(), span));
        };
        let found = self.value(target);
        let given = self.value(source);
        let (found, given) = (found?, given?);
        let Some(mut whole) = self.as_elements(&found, target.span) else {
            let found = self.kind(&found);
            let error = ArrayError::NotElements { function: name.into(), found, span: target.span };
            return Err(self.array_error(error));
        };
        match (name, self.as_elements(&given, source.span)) {
            ("fill!", None) => {
                let given = self.converted_once(&whole, given, source.span)?;
                self.assign(&whole, given, source.span, Stretch::Yes, span)?;
            }
            ("copyto!", Some(from)) => {
                if let ([own], [length]) = (whole.extents.as_slice(), from.extents.as_slice())
                    && !same(own, length)
                {
                    // The first elements only, as many as there are.
                    let enough = compare(CompareOp::Le, length.clone().placed(span), own.clone().placed(span), span);
                    self.require(enough, SizeError::Bounds, "more elements are copied than the target has", span)?;
                    whole.extents = from.extents.clone();
                }
                self.assign(&whole, given, source.span, Stretch::No, span)?;
            }
            (_, from) => {
                let rank = from.map_or(0, |from| from.rank()) as u32;
                let found = match rank {
                    0 => self.kind(&given),
                    _ => crate::typed::Kind::Array { element: whole.element, rank },
                };
                let error = ArrayError::NotElements { function: name.into(), found, span: source.span };
                return Err(self.array_error(error));
            }
        }
        Ok(found)
    }

    /// What `target .= value` stores. A number that is no broadcast itself is stored as `fill!` does.
    pub(super) fn filling(&mut self, target: &Elements, value: Value, source: &ast::Expr) -> Checked<Value> {
        match is_broadcast(source) {
            true => Ok(value),
            false => self.converted_once(target, value, source.span),
        }
    }

    /// A number as an element, converted once: also where there is no element that it would be stored in.
    fn converted_once(&mut self, target: &Elements, value: Value, at: Span) -> Checked<Value> {
        let is_number = matches!(value, Value::Scalar(_) | Value::Irrational(..));
        let Recipe::Part(part) = &target.recipe else { return Ok(value) };
        if !is_number || target.numbers == Numbers::Complex {
            return Ok(value);
        }
        self.writes_statements(at)?;
        let declared = self.local(part.array).span;
        let value = self.as_scalar(value, at)?;
        let value = self.settled("value", value);
        Ok(Value::Scalar(self.coerce(value, target.element, Some(declared))?))
    }

    fn assign(&mut self, target: &Elements, value: Value, at: Span, stretch: Stretch, span: Span) -> Checked<()> {
        self.writes_statements(span)?;
        let from = match self.as_elements(&value, at) {
            Some(elements) => elements,
            None => {
                let value = self.settled_number("value", value, at)?;
                self.elements(vec![], Recipe::Fill(Box::new(value)), at)?
            }
        };
        self.check_shapes(target, &from, stretch, span)?;
        if stretch == Stretch::Yes {
            self.same_axes(&[target, &from], span)?;
        }
        self.store_all(target, from, at, span)
    }

    /// Stores elements into the places of as many.
    pub(in crate::typed) fn store_all(
        &mut self,
        target: &Elements,
        mut from: Elements,
        at: Span,
        span: Span,
    ) -> Checked<()> {
        let Recipe::Part(part) = &target.recipe else { return self.not_yet(Construct::Slice, target.span) };
        let label = self.label.take();
        if self.reads_elsewhere(target, part, &from) {
            from = self.fresh(&from)?;
        }
        let Type::Array { element, .. } = self.local(part.array).ty else { unreachable!("parts are of arrays") };
        let declared = self.local(part.array).span;
        let mode = self.mode;
        self.nest(&target.extents, span, |checker, subscripts| {
            let own = place_in(&from, subscripts);
            let value = checker.element(&from, &own)?;
            if target.numbers == Numbers::Complex {
                checker.label = label.clone();
                return checker.store_complex((part.array, part_subscripts(part, subscripts)), value, span).map(|_| ());
            }
            let value = checker.as_scalar(value, at)?;
            let value = checker.coerce(value, element, Some(declared))?;
            let subscripts = part_subscripts(part, subscripts);
            checker.emit(StatementKind::Store { array: part.array, subscripts, value, label, mode }, span);
            Ok(())
        })
    }

    fn check_shapes(&mut self, target: &Elements, from: &Elements, stretch: Stretch, span: Span) -> Checked<()> {
        let flat = |elements: &Elements| matches!(&elements.recipe, Recipe::Part(part) if part.flat);
        let fits = match stretch {
            Stretch::Yes => from.rank() == 0 || from.rank() <= target.rank() && flat(from) == flat(target),
            Stretch::No => from.rank() == target.rank(),
        };
        if !fits {
            let (left, right) = (dimensions(target.rank()), dimensions(from.rank()));
            return Err(self.array_error(ArrayError::Mismatch { left, right, span }));
        }
        let pairs: Vec<(Expr, Expr)> = target.extents.iter().cloned().zip(from.extents.iter().cloned()).collect();
        for (own, other) in &pairs {
            match stretch {
                Stretch::Yes if is_one(other) => continue,
                Stretch::Yes => self.require_unstretched(own, other, Stretched::Second, span)?,
                Stretch::No => {}
            }
            self.same_extent(own, other, span)?;
        }
        Ok(())
    }

    /// Whether elements of the target are read at another place than the one being written.
    fn reads_elsewhere(&mut self, target: &Elements, part: &Part, from: &Elements) -> bool {
        let span = target.span;
        let held = self.just_held();
        let (_, found) = self.trial(|checker| {
            let at: Vec<Expr> = (0..target.rank())
                .map(|_| {
                    let ty = Type::Scalar(ScalarType::I64);
                    let local = checker.new_local("place", ty, Role::Value(None), span);
                    checker.read(local, span)
                })
                .collect();
            let own = part_subscripts(part, &at);
            let place = place_in(from, &at);
            let (block, value) = checker.in_block(|checker| checker.element(from, &place));
            let mut reads = vec![];
            match &value {
                Ok(Value::Scalar(value)) => reads_of(part.array, value, &mut reads),
                Ok(Value::Complex(value)) => {
                    [&value.re, &value.im].into_iter().for_each(|half| reads_of(part.array, half, &mut reads));
                }
                _ => {}
            }
            reads_in(part.array, &block, &mut reads);
            // Both halves of an element are one place.
            let halves = usize::from(target.numbers == Numbers::Complex);
            let own = own.get(halves..).unwrap_or_default();
            reads.iter().map(|subscripts| subscripts.get(halves..).unwrap_or_default()).any(|subscripts| {
                let equal = subscripts.iter().zip(own).all(|(a, b)| same(a, b));
                // Along an axis that is written along, what is read at one place may be written at another.
                let stays = |own: &Expr| !at.iter().any(|at| own.any(&|part| part.kind == at.kind));
                let apart = subscripts.iter().zip(own).any(|(a, b)| stays(b) && differ(a, b, &held));
                !equal && !apart
            })
        });
        found
    }

    /// What the last statements of the open block have set locals to that are never set again: nothing was assigned or stored since.
    fn just_held(&self) -> BTreeMap<LocalId, Expr> {
        let mut held = BTreeMap::new();
        for Statement { kind, .. } in self.blocks.last().into_iter().flatten().rev() {
            match kind {
                StatementKind::Set { target, value, .. } if matches!(self.local(*target).role, Role::Value(_)) => {
                    held.insert(*target, value.clone());
                }
                StatementKind::Require { .. } => {}
                _ => break,
            }
        }
        held
    }

    /// Whether elements are made of an array's.
    pub(super) fn reads_array(&mut self, array: LocalId, from: &Elements) -> bool {
        let (block, read) = self.trial(|checker| {
            let at = vec![Expr::int64(1, from.span); from.rank()];
            match checker.element(from, &at) {
                Ok(Value::Scalar(value)) => Some(vec![value]),
                Ok(Value::Complex(value)) => Some(vec![value.re, value.im]),
                _ => None,
            }
        });
        let mut found = vec![];
        read.iter().flatten().for_each(|value| reads_of(array, value, &mut found));
        reads_in(array, &block, &mut found);
        read.is_none() || !found.is_empty()
    }

    fn store_element(&mut self, array: LocalId, subscripts: Vec<Expr>, value: Expr, span: Span) -> Checked<()> {
        let Type::Array { element, .. } = self.local(array).ty else { unreachable!("only arrays are subscripted") };
        let declared = self.local(array).span;
        let value = self.coerce(value, element, Some(declared))?;
        let (label, mode) = (self.label.take(), self.mode);
        self.emit(StatementKind::Store { array, subscripts, value, label, mode }, span);
        Ok(())
    }

    /// Whether a name means an array, or a part of one.
    pub(in crate::typed) fn is_array_name(&self, name: &str) -> bool {
        match self.lookup(name) {
            Some(variable) => matches!(
                self.variables[variable.0].state,
                State::Array(_) | State::Alias(Value::Elements(_) | Value::ComplexArray(_))
            ),
            None => self.is_constant_array(name),
        }
    }
}

/// Whether an expression is computed for each element, `a .+ b` or `f.(a)`; without it, `.=` stores one number.
fn is_broadcast(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Infix { operator, .. } | ast::ExprKind::Prefix { operator, .. } => operator.value.dotted,
        ast::ExprKind::Comparison { operators, .. } => operators.iter().any(|operator| operator.value.dotted),
        ast::ExprKind::Call { callee, broadcast, .. } => {
            *broadcast == ast::Broadcast::Yes
                && !matches!(&callee.kind, ast::ExprKind::Name(name) if name == "identity")
        }
        _ => false,
    }
}

fn found_load(value: &Value) -> Option<&Expr> {
    match value {
        Value::Scalar(expr) if matches!(expr.kind, ExprKind::Load { .. }) => Some(expr),
        _ => None,
    }
}

fn reads_of(array: LocalId, expr: &Expr, found: &mut Vec<Vec<Expr>>) {
    if let ExprKind::Load { array: read, subscripts, .. } = &expr.kind
        && *read == array
    {
        found.push(subscripts.clone());
    }
    expr.operands().into_iter().for_each(|operand| reads_of(array, operand, found));
}

fn reads_in(array: LocalId, block: &Block, found: &mut Vec<Vec<Expr>>) {
    for Statement { kind, .. } in block {
        let (exprs, blocks): (Vec<&Expr>, Vec<&Block>) = match kind {
            StatementKind::For { range, body, .. } => (vec![&range.start, &range.stop], vec![body]),
            StatementKind::If { condition, then, otherwise } => (vec![condition], vec![then, otherwise]),
            StatementKind::Set { value, .. } => (vec![value], vec![]),
            StatementKind::Store { subscripts, value, .. } => (subscripts.iter().chain([value]).collect(), vec![]),
            StatementKind::Allocate { extents, .. } => (extents.iter().collect(), vec![]),
            StatementKind::Require { condition, .. } => (vec![condition], vec![]),
        };
        exprs.into_iter().for_each(|expr| reads_of(array, expr, found));
        blocks.into_iter().for_each(|block| reads_in(array, block, found));
    }
}
