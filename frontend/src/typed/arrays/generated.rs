//! Reductions of generators whose loops are nested or filtered: `sum(A[i, j] for i in 1:n for j in i:n if i != j)`.
//!
//! They become loops whose innermost statement takes the generator's value in. The variable starts with what changes no value,
//! as in [`super::reduce`]. Where there is nothing to reduce, and that has no value in Julia, the function fails: at entry where sizes tell,
//! else behind the loops.

use super::reduce::{Reduction, is_logical, is_truth, of_element, operator, total_type};
use super::{ArrayError, Numbers};
use crate::ast::{self, Argument, Block, ExprKind, GeneratorClause, Section};
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::convert::widen;
use crate::typed::jumps::{self, if_else as if_statement};
use crate::typed::operator::{binary, if_else};
use crate::typed::scope::{Scope, State};
use crate::typed::tree::{Expr, LocalId, Mode, Role, SizeError, StatementKind, Type};
use crate::typed::value::Value;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType};

/// The function that takes a generator's value in; no source can call it.
const COLLECT: &str = "#collect";

/// What Julia says where there is nothing to reduce.
const NOTHING: &str = "reducing over an empty collection is not allowed";

/// When it is known whether there is something to reduce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It does not matter: a reduction of nothing has a value.
    HasValue,
    AtEntry,
    /// Data decide: it is tested behind the loops.
    Afterwards,
}

/// What the innermost statement of the loops does with a value.
#[derive(Debug, Clone)]
pub(in crate::typed) enum Collecting {
    /// Notes its type.
    Type(Option<ScalarType>),
    Reduction {
        total: LocalId,
        operator: BinaryOp,
        /// Whether there was a value at all.
        seen: Option<LocalId>,
    },
    /// Gives what the variable of this name is with the value, for loops whose statements become terms.
    Terms {
        total: String,
        operator: BinaryOp,
        /// Whether there was a value at all.
        seen: Option<String>,
    },
}

impl Checker<'_> {
    /// Whether a generator needs loops of its own: with conditions, or with a loop in a loop.
    pub(super) fn is_nested(clauses: &[GeneratorClause]) -> bool {
        clauses.len() > 1
    }

    pub(super) fn reduce_generated(
        &mut self,
        name: &str,
        (reduction, by_operator): (Reduction, bool),
        (body, clauses): (&ast::Expr, &[GeneratorClause]),
        init: Option<&ast::Expr>,
        span: Span,
    ) -> Checked<Value> {
        self.writes_statements(span)?;
        let element = self.generated_type(body, clauses, span)?;
        // A product of `Bool`s is `all` of them, but for none.
        let is_logical = is_logical(reduction, by_operator);
        let reduction = of_element(reduction, by_operator, element, Numbers::Real);
        if is_truth(reduction) && element != ScalarType::Bool {
            let (function, found) = (name.to_string(), crate::typed::value::Kind::Scalar(element));
            return Err(self.array_error(ArrayError::NotElements { function, found, span: body.span }));
        }
        let total_type = total_type(reduction, element);
        let init = match init {
            Some(init) => Some(self.initial(reduction, element, init)?),
            None => None,
        };
        let is_sum = matches!(reduction, Reduction::Sum | Reduction::NarrowSum);
        let has_value = is_logical
            || init.is_some()
            || !matches!(reduction, Reduction::Maximum | Reduction::Minimum) && self.is_plain(body, clauses);
        let some = if has_value { Known::HasValue } else { self.some_value(clauses, span)? };
        let is_zero_of_nothing = is_sum && total_type.is_float() && init.is_none() && has_value;
        if !ends_early(reduction) && self.generates_terms(body, clauses) && some != Known::Afterwards {
            let value = init.unwrap_or_else(|| neutral(reduction, total_type, span));
            let may_be_none = is_zero_of_nothing && clauses.iter().any(|it| matches!(it, GeneratorClause::If(_)));
            return self.sum_of_terms(name, (value, may_be_none), operator(reduction, element), (body, clauses), span);
        }
        let (owner, mode) = (self.loops.last().copied(), self.mode);
        let seen = (is_zero_of_nothing || some == Known::Afterwards).then(|| {
            let seen = self.new_local("any", Type::Scalar(ScalarType::Bool), Role::Variable(owner), span);
            let value = Expr::constant(Constant::bool(false), span);
            self.emit(StatementKind::Set { target: seen, value, label: None, mode }, span);
            seen
        });
        let value = init.unwrap_or_else(|| neutral(reduction, total_type, span));
        let total = self.new_local(name, Type::Scalar(total_type), Role::Variable(owner), span);
        self.emit(StatementKind::Set { target: total, value, label: None, mode }, span);
        let operator = operator(reduction, element);
        self.collecting.push(Collecting::Reduction { total, operator, seen });
        let done = self.generated_loops(body, clauses, span);
        self.collecting.pop();
        done?;
        let total = self.read(total, span);
        Ok(Value::Scalar(match seen {
            None => total,
            Some(seen) if some == Known::Afterwards => {
                let seen = self.read(seen, span);
                self.require(seen, SizeError::Thrown, NOTHING, span)?;
                total
            }
            Some(seen) => {
                let zero = Expr::constant(Constant::integer(total_type, 0), span);
                if_else(self.read(seen, span), total, zero, span)
            }
        }))
    }

    /// Whether a generator with loops alone is over terms of a point that are real numbers. What ends at the first value that decides, `any`
    /// and `all`, stays a loop: terms behind that one may not be there.
    pub(super) fn is_of_real_terms(
        &mut self,
        reduction: Reduction,
        body: &ast::Expr,
        clauses: &[GeneratorClause],
        span: Span,
    ) -> bool {
        if ends_early(reduction) || !self.generates_terms(body, clauses) {
            return false;
        }
        let errors = self.errors.len();
        let is_real = self.generated_type(body, clauses, span).is_ok();
        self.errors.truncate(errors);
        is_real
    }

    /// The same of a generator whose loops become their terms: one value of the point, each of which is a new one with a term more.
    fn sum_of_terms(
        &mut self,
        name: &str,
        (begin, may_be_none): (Expr, bool),
        operator: BinaryOp,
        (body, clauses): (&ast::Expr, &[GeneratorClause]),
        span: Span,
    ) -> Checked<Value> {
        let ty = begin.ty;
        let total = self.variable_of_terms(name, begin, span)?;
        let seen = match may_be_none {
            true => Some(self.variable_of_terms("any", Expr::constant(Constant::bool(false), span), span)?),
            false => None,
        };
        let mode = self.mode;
        self.mode.inbounds = false;
        self.collecting.push(Collecting::Terms { total: total.clone(), operator, seen: seen.clone() });
        let done = self.generated_loops(body, clauses, span);
        self.collecting.pop();
        self.mode = mode;
        done?;
        let value = self.scalar(&jumps::name(&total, span))?;
        let Some(seen) = seen else { return Ok(Value::Scalar(value)) };
        let zero = Expr::constant(Constant::integer(ty, 0), span);
        Ok(Value::Scalar(if_else(self.scalar(&jumps::name(&seen, span))?, value, zero, span)))
    }

    /// A variable of our own, with this value.
    fn variable_of_terms(&mut self, name: &str, value: Expr, span: Span) -> Checked<String> {
        let fresh = self.flow.fresh.name(name);
        self.declare(&fresh, span, State::Unassigned);
        self.bind(&jumps::name(&fresh, span), Value::Scalar(value), span)?;
        Ok(fresh)
    }

    /// The type of a generator's values.
    fn generated_type(&mut self, body: &ast::Expr, clauses: &[GeneratorClause], span: Span) -> Checked<ScalarType> {
        let depth = self.collecting.len();
        self.collecting.push(Collecting::Type(None));
        // Where no filter is decided, each value has its type.
        let among_terms = std::mem::replace(&mut self.flow.among_terms, false);
        let (_, done) = self.trial(|checker| checker.generated_loops(body, clauses, span));
        self.flow.among_terms = among_terms;
        let noted = self.collecting.get(depth).cloned();
        self.collecting.truncate(depth);
        done?;
        match noted {
            Some(Collecting::Type(Some(ty))) => Ok(ty),
            // A loop over a tuple without elements.
            _ => Err(self.array_error(ArrayError::NothingToReduce { span })),
        }
    }

    /// The loops of a generator, around a call of [`COLLECT`].
    fn generated_loops(&mut self, body: &ast::Expr, clauses: &[GeneratorClause], span: Span) -> Checked<()> {
        let at = body.span;
        let callee = Box::new(ast::Expr { kind: ExprKind::Name(COLLECT.into()), span: at });
        let arguments = vec![Argument { keyword: None, value: body.clone(), section: Section::Main }];
        let call = ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No };
        let call = ast::Expr { kind: call, span: at };
        let mut inner: Block = match self.collecting.last() {
            Some(Collecting::Terms { total, seen, .. }) => {
                let seen = seen.iter().map(|seen| jumps::assign(seen, jumps::boolean(true, at), at));
                std::iter::once(jumps::assign(total, call, at)).chain(seen).collect()
            }
            Some(Collecting::Type(_) | Collecting::Reduction { .. }) | None => vec![call],
        };
        for clause in clauses.iter().rev() {
            let statement = match clause {
                GeneratorClause::If(condition) => if_statement(condition.clone(), inner, vec![], condition.span),
                GeneratorClause::For(iterations) => {
                    // Of `i in a, j in b`, the first runs fastest.
                    let iterations = iterations.iter().rev().cloned().collect();
                    ast::Expr { kind: ExprKind::For { iterations, body: inner }, span }
                }
            };
            inner = vec![statement];
        }
        let errors = self.errors.len();
        let (tail, unused) = (self.flow.tail, self.flow.unused_call);
        self.flow.tail = false;
        self.scopes.push(Scope::new());
        self.body(&inner, crate::typed::statement::Place::Middle);
        self.scopes.pop();
        (self.flow.tail, self.flow.unused_call) = (tail, unused);
        if self.errors.len() == errors { Ok(()) } else { Err(crate::typed::check::Reported) }
    }

    /// The call that the loops of a generator make.
    pub(in crate::typed) fn collecting_call(&mut self, name: &str, arguments: &[Argument]) -> Option<Checked<Value>> {
        let ([only], true) = (arguments, name == COLLECT) else { return None };
        let span = only.value.span;
        let value = match self.scalar(&only.value) {
            Ok(value) => value,
            Err(reported) => return Some(Err(reported)),
        };
        match self.collecting.last().cloned() {
            Some(Collecting::Reduction { total, operator, seen }) => {
                let (before, mode) = (self.read(total, span), Mode { inbounds: false, ..self.mode });
                let value = binary(operator, before.clone(), widen(value, before.ty), span);
                self.emit(StatementKind::Set { target: total, value, label: None, mode }, span);
                if let Some(seen) = seen {
                    let value = Expr::constant(Constant::bool(true), span);
                    self.emit(StatementKind::Set { target: seen, value, label: None, mode }, span);
                }
            }
            Some(Collecting::Terms { total, operator, .. }) => {
                let before = match self.scalar(&jumps::name(&total, span)) {
                    Ok(before) => before,
                    Err(reported) => return Some(Err(reported)),
                };
                let ty = before.ty;
                return Some(Ok(Value::Scalar(binary(operator, before, widen(value, ty), span))));
            }
            Some(Collecting::Type(_)) => {
                let last = self.collecting.len() - 1;
                self.collecting[last] = Collecting::Type(Some(value.ty));
            }
            None => {}
        }
        Some(Ok(Value::Nothing))
    }

    /// Julia raises where there is nothing to reduce: of loops without conditions that is known at entry, of others when they have run.
    fn some_value(&mut self, clauses: &[GeneratorClause], span: Span) -> Checked<Known> {
        let mut iterations = vec![];
        for clause in clauses {
            match clause {
                GeneratorClause::For(more) => iterations.extend(more),
                GeneratorClause::If(_) => return Ok(Known::Afterwards),
            }
        }
        self.require_some(&iterations, span)
    }

    /// That loops without conditions run, where that is known at entry.
    fn require_some(&mut self, iterations: &[&ast::Iteration], span: Span) -> Checked<Known> {
        // An inner range may depend on an outer iterator. There is something if there is with the first values of all
        // iterators, or with the last ones; where there is not, the original function runs.
        let mut some: Option<Expr> = None;
        let mut depends = false;
        for end in [End::First, End::Last] {
            self.scopes.push(Scope::new());
            let found = self.some_at(iterations, end, span);
            self.scopes.pop();
            let Some((here, is_dependent)) = found? else { return Ok(Known::Afterwards) };
            depends = is_dependent;
            some = Some(match some {
                Some(before) if is_dependent => binary(BinaryOp::OrElse, before, here, span),
                Some(before) => before,
                None => here,
            });
        }
        let some = some.expect("both ends were looked at");
        let error = if depends { SizeError::Thrown } else { SizeError::Argument };
        self.require(some, error, NOTHING, span)?;
        Ok(Known::AtEntry)
    }

    /// Whether all ranges have elements, with the iterators around them at one of their ends; and whether that matters. `None` where elements
    /// of arrays decide.
    fn some_at(&mut self, iterations: &[&ast::Iteration], end: End, span: Span) -> Checked<Option<(Expr, bool)>> {
        let mut some = Expr::constant(Constant::bool(true), span);
        let (mut outer, mut depends): (Vec<&str>, bool) = (vec![], false);
        // Elements, of which nothing is known at entry.
        let mut read: Vec<&str> = vec![];
        for iteration in iterations {
            depends |= crate::typed::walk::mentions(&iteration.range, &outer);
            if crate::typed::walk::mentions(&iteration.range, &read) {
                return Ok(None);
            }
            let value = match &iteration.range.kind {
                ExprKind::Call { .. } => Value::Elements(Box::new(self.generator_source(&iteration.range)?)),
                _ => self.value(&iteration.range)?,
            };
            let extents = match (self.as_elements(&value, iteration.range.span), &value) {
                (Some(elements), _) => elements.extents,
                (None, Value::Tuple(values)) => vec![Expr::int64(values.len() as i64, span)],
                (None, _) => return Ok(None),
            };
            for extent in &extents {
                let extent = extent.clone().placed(span);
                let here = compare(CompareOp::Ge, extent, Expr::int64(1, span), span);
                some = binary(BinaryOp::AndAlso, some, here, span);
            }
            let name = match &iteration.target.kind {
                ExprKind::Name(name) => name.as_str(),
                _ => continue,
            };
            let state = match (value, end) {
                (Value::Range(range), End::First) => State::Alias(Value::Scalar(range.start)),
                (Value::Range(range), End::Last) if range.step.abs() == 1 => State::Alias(Value::Scalar(range.stop)),
                (Value::Range(range), End::Last) => State::Alias(Value::Scalar(range.start)),
                (_, _) => {
                    read.push(name);
                    State::Poisoned
                }
            };
            outer.push(name);
            let variable = self.declare(name, iteration.target.span, state);
            self.assigned.insert(variable);
        }
        Ok(Some((some, depends)))
    }
}

#[derive(Debug, Clone, Copy)]
enum End {
    First,
    Last,
}

/// What changes no value that is taken in.
fn neutral(reduction: Reduction, ty: ScalarType, span: Span) -> Expr {
    let float = |value: f64| match ty {
        ScalarType::F32 => Expr::constant(Constant::f32(value as f32), span),
        _ => Expr::constant(Constant::f64(value), span),
    };
    let number = |value: i128| Expr::constant(Constant::integer(ty, value), span);
    match reduction {
        Reduction::Sum if ty.is_float() => float(-0.0),
        Reduction::Sum | Reduction::NarrowSum | Reduction::Count => number(0),
        Reduction::Product | Reduction::NarrowProduct => number(1),
        Reduction::Maximum if ty.is_float() => float(f64::NEG_INFINITY),
        Reduction::Minimum if ty.is_float() => float(f64::INFINITY),
        Reduction::Maximum if ty == ScalarType::Bool => Expr::constant(Constant::bool(false), span),
        Reduction::Minimum if ty == ScalarType::Bool => Expr::constant(Constant::bool(true), span),
        Reduction::Maximum => number(ty.integer_limits().0),
        Reduction::Minimum => number(ty.integer_limits().1),
        Reduction::Any => Expr::constant(Constant::bool(false), span),
        Reduction::All => Expr::constant(Constant::bool(true), span),
    }
}

/// Whether a reduction may end before it has seen all values.
fn ends_early(reduction: Reduction) -> bool {
    matches!(reduction, Reduction::Any | Reduction::All)
}
