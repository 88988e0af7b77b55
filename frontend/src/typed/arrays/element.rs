//! One element of an array-valued expression, and loops over all of them.

use super::origin::place_with;
use super::shape::{is_one, step_to};
use super::{ArrayError, Axis, Elements, Numbers, Operation, Part, Position, Recipe};
use crate::ast;
use crate::typed::check::{Checked, Checker};
use crate::typed::complex::Complex;
use crate::typed::convert::widen;
use crate::typed::inline::Given;
use crate::typed::scope::{Scope, State};
use crate::typed::tree::{
    Block, Expr, ExprKind, LocalId, LoopId, LoopMode, Range, Role, Statement, StatementKind, Type,
};
use crate::typed::unsupported::Construct;
use crate::typed::value::Value;
use tessella_diagnostics::Span;
use tessella_scalar::ScalarType;

/// Names for the loops over an array's axes, the first axis first.
const ITERATORS: [&str; 6] = ["i", "j", "k", "l", "p", "q"];

impl Checker<'_> {
    /// The element at subscripts that count from 1 along each axis.
    pub(in crate::typed) fn element(&mut self, of: &Elements, at: &[Expr]) -> Checked<Value> {
        match &of.recipe {
            Recipe::Part(part) => {
                let subscripts = part_subscripts(part, at);
                Ok(loaded(of, (part.array, part.inbounds), subscripts, of.span))
            }
            Recipe::Range(range) => Ok(Value::Scalar(step_to(&range.start, range.step, &at[0]))),
            Recipe::Fill(value) => Ok((**value).clone()),
            Recipe::Undefined => Err(self.array_error(ArrayError::Undefined { span: of.span })),
            Recipe::Scalar(value) => Ok((**value).clone()),
            Recipe::Transposed(inner) => match inner.rank() {
                1 => self.element(inner, &at[1..]),
                _ => self.element(inner, &[at[1].clone(), at[0].clone()]),
            },
            Recipe::Apply { operation, operands } => {
                let mut values = vec![];
                for operand in operands {
                    let own = place_in(operand, at);
                    values.push(self.element(operand, &own)?);
                }
                let spans: Vec<Span> = operands.iter().map(|operand| operand.span).collect();
                self.operate(operation, values, &spans, of.span)
            }
            Recipe::Rows(columns) => {
                let row = columns.iter().map(|column| self.element(column, at));
                row.collect::<Checked<Vec<Value>>>().map(Value::Tuple)
            }
            Recipe::Slices { of, axis } => self.slice_at(of, *axis, at[0].clone(), of.span),
            Recipe::Row(inner) => {
                let places = self.places_of_number(at[0].clone(), &inner.extents, of.span);
                self.element(inner, &places)
            }
            Recipe::Numbering(_) => {
                let firsts = self.firsts(of);
                let mut subscripts: Vec<Expr> =
                    at.iter().zip(&firsts).map(|(at, first)| place_with(at.clone(), first)).collect();
                if subscripts.len() == 1 {
                    return Ok(Value::Scalar(subscripts.remove(0)));
                }
                Ok(Value::Position(Position { subscripts, linear_in: Some(Box::new(of.clone())), is_number: true }))
            }
            Recipe::Comprehension { body, sources, home } => {
                let mut given = vec![];
                let mut rest = at;
                for (target, source) in sources {
                    let (own, others) = rest.split_at(source.rank());
                    rest = others;
                    given.push((target.clone(), self.element(source, own)?));
                }
                self.at_home(home, |checker| checker.with_names(given, |checker| checker.value(body)))
            }
        }
    }

    /// What an operation makes of values at one place.
    pub(super) fn operate(
        &mut self,
        operation: &Operation,
        values: Vec<Value>,
        spans: &[Span],
        span: Span,
    ) -> Checked<Value> {
        let mut operands = values.into_iter();
        let (first, second, third) = (operands.next(), operands.next(), operands.next());
        let at = |position: usize| spans.get(position).copied().unwrap_or(span);
        match (operation, first, second, third) {
            (Operation::Identity, Some(value), ..) => Ok(value),
            (Operation::Conjugate, Some(value), ..) => self.named("conj", vec![value], spans, span),
            (Operation::Prefix(symbol), Some(Value::Complex(value)), ..) => {
                self.complex_unary(symbol, *value, span).map(Complex::value)
            }
            (Operation::Prefix(symbol), Some(value), ..) => {
                let value = self.as_scalar(value, at(0))?;
                self.unary_operator(symbol, value, span).map(Value::Scalar)
            }
            (Operation::Convert(ty), Some(value), ..) => {
                let value = self.as_scalar(value, at(0))?;
                self.coerce(value, *ty, None).map(Value::Scalar)
            }
            (Operation::Binary(symbol), Some(left), Some(right), None) => {
                self.binary_values(symbol, left, right, (at(0), at(1)), span)
            }
            (Operation::Compare(symbol), Some(left), Some(right), None) => {
                self.compare_values(symbol, left, right, (at(0), at(1)), span).map(Value::Scalar)
            }
            (Operation::Power { literal }, Some(base @ Value::Complex(_)), Some(exponent), None) => {
                self.complex_power(base, &exponent, *literal, span).map(Complex::value)
            }
            (Operation::Power { literal }, Some(base), Some(exponent), None) => {
                let (base, exponent) = self.scalar_pair(base, exponent, (at(0), at(1)))?;
                self.power_of(base, exponent, *literal, span).map(Value::Scalar)
            }
            (Operation::Named(name), first, second, third) => {
                let values: Vec<Value> = [first, second, third].into_iter().flatten().chain(operands).collect();
                if values.iter().any(Self::is_whole) {
                    let arguments = values.into_iter().enumerate().map(|(position, value)| {
                        super::collection::named(&self.hidden("argument", value, at(position)), at(position))
                    });
                    let arguments: Vec<ast::Expr> = arguments.collect();
                    return self.value(&super::rearrange::call(name, &arguments, span));
                }
                self.named(name, values, spans, span)
            }
            (Operation::User(callee), first, second, third) => {
                let values = [first, second, third].into_iter().flatten().chain(operands);
                let positional = values.enumerate().map(|(position, value)| (value, at(position))).collect();
                let given = Given { positional, keywords: vec![] };
                self.inline(callee, given, false, span)
            }
            (
                Operation::Identity
                | Operation::Conjugate
                | Operation::Prefix(_)
                | Operation::Convert(_)
                | Operation::Binary(_)
                | Operation::Compare(_)
                | Operation::Power { .. },
                ..,
            ) => self.not_yet(Construct::Other, span),
        }
    }

    /// A function of numbers, by its name.
    fn named(&mut self, name: &str, values: Vec<Value>, spans: &[Span], span: Span) -> Checked<Value> {
        let at = |position: usize| spans.get(position).copied().unwrap_or(span);
        match (name, values.as_slice()) {
            ("convert" | "unsafe_trunc" | "round" | "trunc" | "floor" | "ceil", [Value::Type(ty), value]) => {
                let value = self.as_scalar(value.clone(), at(1));
                return self.convert_function(name, Ok(*ty), value, span);
            }
            ("rem" | "mod", [value, Value::Type(ty)]) => {
                let value = self.as_scalar(value.clone(), at(0))?;
                return self.low_bits(value, *ty, span).map(Value::Scalar);
            }
            ("zero" | "one" | "oneunit", [Value::Scalar(value)]) => return self.type_constant(name, value.ty, span),
            ("float", [Value::Scalar(value)]) => {
                let ty = crate::typed::convert::float_of(value.ty);
                return Ok(Value::Scalar(widen(value.clone(), ty)));
            }
            _ => {}
        }
        self.apply_to_scalars(name, values, spans, span)
    }

    /// Evaluates something with names for values in a scope of its own.
    fn with_names<T>(
        &mut self,
        given: Vec<(ast::Expr, Value)>,
        evaluate: impl FnOnce(&mut Self) -> Checked<T>,
    ) -> Checked<T> {
        let mut named = vec![];
        let mut given: std::collections::VecDeque<(ast::Expr, Value)> = given.into();
        while let Some((target, value)) = given.pop_front() {
            let name = match (&target.kind, &value) {
                (ast::ExprKind::Name(name), _) => name.clone(),
                (ast::ExprKind::Tuple(targets), Value::Tuple(values)) if targets.len() <= values.len() => {
                    let pairs = targets.iter().map(|target| target.value.clone()).zip(values.iter().cloned());
                    pairs.rev().for_each(|pair| given.push_front(pair));
                    continue;
                }
                (_, _) => return self.not_yet(Construct::Iterator, target.span),
            };
            let state = match value {
                Value::Scalar(value) => match value.kind {
                    ExprKind::Local(id) if !matches!(self.local(id).role, Role::Variable(_)) => State::Scalar(id),
                    _ => match self.hold_named(&name, value).kind {
                        ExprKind::Local(id) => State::Scalar(id),
                        _ => unreachable!("`hold` reads a local"),
                    },
                },
                other @ Value::Complex(_) => State::Alias(self.frozen(other)),
                other => State::Alias(other),
            };
            named.push((name, target.span, state));
        }
        self.scopes.push(Scope::new());
        for (name, span, state) in named {
            let variable = self.declare(&name, span, state);
            self.assigned.insert(variable);
        }
        let result = evaluate(self);
        self.scopes.pop();
        result
    }

    /// Evaluates something only to learn about it: what it writes and declares is forgotten, its errors are not.
    pub(in crate::typed) fn trial<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        let (locals, variables, loops) = (self.locals.len(), self.variables.len(), self.loop_count);
        let (conditions, assigned) = (std::mem::replace(&mut self.conditions, 0), self.assigned.clone());
        // All that is remembered of variables by their numbers, which are given out again.
        let (sets, known, once) = (self.flow.sets.clone(), self.flow.known.clone(), self.flow.once.clone());
        let (made, containers) = (self.made.clone(), self.other_containers.clone());
        let (kept, unread) = (self.flow.kept.clone(), self.flow.unread.clone());
        let rebinding = self.flow.rebinding.before_trial();
        let arrays = self.constant_arrays.len();
        let tried = self.in_block(evaluate);
        self.locals.truncate(locals);
        self.constant_arrays.truncate(arrays);
        self.variables.truncate(variables);
        self.loop_count = loops;
        self.conditions = conditions;
        self.assigned = assigned;
        (self.flow.sets, self.flow.known, self.flow.once) = (sets, known, once);
        (self.made, self.other_containers) = (made, containers);
        (self.flow.kept, self.flow.unread) = (kept, unread);
        self.flow.rebinding.after_trial(rebinding);
        tried
    }

    /// Elements with this recipe and shape; their type is found by computing one.
    pub(super) fn elements(&mut self, extents: Vec<Expr>, recipe: Recipe, span: Span) -> Checked<Elements> {
        let mut elements = Elements { element: ScalarType::F64, numbers: Numbers::Real, extents, recipe, span };
        let at = vec![Expr::int64(1, span); elements.rank()];
        let (_, found) = self.trial(|checker| match checker.element(&elements, &at)? {
            Value::Complex(value) => Ok((value.half(), Numbers::Complex)),
            value => Ok((checker.as_scalar(value, span)?.ty, Numbers::Real)),
        });
        (elements.element, elements.numbers) = found?;
        Ok(elements)
    }

    /// One loop for each axis, the first axis innermost, as Julia goes through an array.
    pub(in crate::typed) fn nest(
        &mut self,
        extents: &[Expr],
        span: Span,
        body: impl FnOnce(&mut Self, &[Expr]) -> Checked<()>,
    ) -> Checked<()> {
        let names = self.iterator_names(extents.len());
        self.nest_of(extents, &names, span, body)
    }

    /// The same with names for the loops, the innermost one's first.
    pub(super) fn nest_of(
        &mut self,
        extents: &[Expr],
        names: &[String],
        span: Span,
        body: impl FnOnce(&mut Self, &[Expr]) -> Checked<()>,
    ) -> Checked<()> {
        let mut around: Vec<(LoopId, LocalId)> = vec![];
        for name in names.iter().rev() {
            let id = LoopId(self.loop_count);
            self.loop_count += 1;
            let iterator = self.new_local(name, Type::Scalar(ScalarType::I64), Role::Iterator(id), span);
            self.loops.push(id);
            around.push((id, iterator));
        }
        let at: Vec<Expr> = around.iter().rev().map(|(_, iterator)| self.read(*iterator, span)).collect();
        let (mut block, done) = self.in_block(|checker| body(checker, &at));
        self.loops.truncate(self.loops.len() - around.len());
        done?;
        for ((id, iterator), extent) in around.into_iter().rev().zip(extents) {
            let range = Range { start: Expr::int64(1, span), step: 1, stop: extent.clone() };
            let kind = StatementKind::For { id, iterator, range, mode: LoopMode::default(), body: block };
            block = vec![Statement { kind, span }];
        }
        self.blocks.last_mut().expect("a block is open while a function is checked").extend(block);
        Ok(())
    }

    /// Names that no variable of the source has.
    pub(super) fn iterator_names(&self, count: usize) -> Vec<String> {
        let around: Vec<&str> = self
            .locals
            .iter()
            .filter(|local| matches!(local.role, Role::Iterator(id) if self.loops.contains(&id)))
            .map(|local| local.name.as_str())
            .collect();
        let taken = |name: &str| {
            around.contains(&name)
                || self.variables.iter().any(|variable| variable.name == name)
                || self.locals.iter().any(|local| local.name == name && !matches!(local.role, Role::Iterator(_)))
        };
        let plain = ITERATORS.iter().map(|name| (*name).to_string());
        let numbered = (1..).map(|number| format!("i{number}"));
        plain.chain(numbered).filter(|name| !taken(name)).take(count).collect()
    }
}

/// One element of memory that holds such elements; of a complex one, the subscripts begin with the number of the half.
pub(super) fn loaded(of: &Elements, (array, inbounds): (LocalId, bool), subscripts: Vec<Expr>, span: Span) -> Value {
    let load = |subscripts| Expr { kind: ExprKind::Load { array, subscripts, inbounds }, ty: of.element, span };
    match of.numbers {
        Numbers::Real => Value::Scalar(load(subscripts)),
        Numbers::Complex => {
            let half = |number| {
                let rest = subscripts.iter().skip(1).cloned();
                load(std::iter::once(Expr::int64(number, span)).chain(rest).collect())
            };
            Complex { re: half(1), im: half(2) }.value()
        }
    }
}

/// The subscripts of a part's element in its array.
pub(super) fn part_subscripts(part: &Part, at: &[Expr]) -> Vec<Expr> {
    let mut at = at.iter();
    let subscript = |axis: &Axis| match axis {
        Axis::At(subscript) => subscript.clone(),
        Axis::Along { start, step, .. } => match at.next() {
            Some(at) => step_to(start, *step, at),
            None => start.clone(),
        },
    };
    part.axes.iter().map(subscript).collect()
}

/// Where an operand's element lies for one place of the whole: axes of a single element are stretched.
pub(super) fn place_in(operand: &Elements, at: &[Expr]) -> Vec<Expr> {
    let place = |(extent, at): (&Expr, &Expr)| if is_one(extent) { Expr::int64(1, at.span) } else { at.clone() };
    operand.extents.iter().zip(at).map(place).collect()
}
