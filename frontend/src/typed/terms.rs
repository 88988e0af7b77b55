//! Sums of a few terms for each point of a step: loops that become their terms.
//!
//! A stencil of many points is often written as a loop over its offsets, `for r in 1:4; s += c[r] * (A[i-r, j] + A[i+r, j]); end`. As its
//! terms, one after the other and in the same order, it is one value of the point, as if it had been written out: statements of one point take
//! part in tilings of time, where a variable that is updated in a loop of its own does not.

use super::check::{Checked, Checker};
use super::constant::folded;
use super::convert::constant_integer;
use super::jumps::{infix, not};
use super::tree::{Expr, ExprKind as Typed, Role};
use super::value::Value;
use super::walk::mentions;
use crate::ast::{self, Broadcast, ExprKind, GeneratorClause};
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, ScalarType, UnaryOp};

/// Points have this many terms at most: a box of 3 x 3 x 3 points has 27.
const MOST_TERMS: i64 = 32;

/// The statements that a term has at most.
const MOST_STATEMENTS: usize = 8;

/// What statements are that are terms.
#[derive(Debug, Clone, Copy, Default)]
struct Terms {
    statements: usize,
    /// How often the innermost of them runs.
    turns: i64,
    /// Whether one of them sets a variable that was there before.
    sets_known: bool,
}

impl Checker<'_> {
    /// The values of an iterator over terms of a point, if they are few and constants. The loops are those of a step where a loop
    /// around them says nothing about the terms, only repeats them: elsewhere, sums stay loops, which orders may share out among threads.
    pub(super) fn offsets_of_terms(
        &self,
        iteration: &ast::Iteration,
        rest: &[ast::Iteration],
        body: &[ast::Expr],
    ) -> Option<Vec<Value>> {
        let turns = lengths(rest)?.checked_mul(length(iteration)?)?;
        if !self.are_terms(turns, body) {
            return None;
        }
        let (first, step, last) = constant_range(&iteration.range)?;
        let values = std::iter::successors(Some(first), |value| value.checked_add(step));
        let values = values.take_while(|&value| if step > 0 { value <= last } else { value >= last });
        Some(values.map(|value| Value::Scalar(Expr::int64(value, iteration.range.span))).collect())
    }

    /// Whether the body of loops with so many turns in all is terms of a point.
    fn are_terms(&self, turns: i64, body: &[ast::Expr]) -> bool {
        self.terms(body).is_some_and(|terms| {
            let is_few = turns.checked_mul(terms.turns).is_some_and(|turns| (1..=MOST_TERMS).contains(&turns));
            is_few && terms.statements <= MOST_STATEMENTS && terms.sets_known && self.repeats(body)
        })
    }

    /// `for iteration, rest... body end` with constants for the values of the iterator, which are given: as terms of a point, if the body is.
    pub(super) fn for_terms(
        &mut self,
        values: Vec<Value>,
        iteration: &ast::Iteration,
        rest: &[ast::Iteration],
        body: &[ast::Expr],
        span: Span,
    ) -> Checked<()> {
        let turns = lengths(rest).and_then(|turns| turns.checked_mul(values.len() as i64));
        if !turns.is_some_and(|turns| self.are_terms(turns, body)) {
            return self.for_each(values, iteration, rest, body, span);
        }
        let terms = self.chosen_terms(body);
        let among_terms = std::mem::replace(&mut self.flow.among_terms, true);
        let done = self.for_each(values, iteration, rest, &terms, span);
        self.flow.among_terms = among_terms;
        done
    }

    /// Whether the loops of a generator are over terms of a point.
    pub(super) fn generates_terms(&self, body: &ast::Expr, clauses: &[GeneratorClause]) -> bool {
        let (mut turns, mut terms) = (Some(1i64), vec![body.clone()]);
        for clause in clauses {
            match clause {
                GeneratorClause::For(iterations) => {
                    turns = turns.and_then(|turns| turns.checked_mul(lengths(iterations)?));
                }
                GeneratorClause::If(condition) => terms.push(condition.clone()),
            }
        }
        turns.is_some_and(|turns| (1..=MOST_TERMS).contains(&turns)) && self.repeats(&terms)
    }

    /// What a condition among terms is, if that is known: iterators over terms are constants.
    pub(super) fn decided(&mut self, condition: &ast::Expr) -> Option<bool> {
        if !self.flow.among_terms {
            return None;
        }
        let errors = self.errors.len();
        let (_, value) = self.trial(|checker| checker.condition(condition));
        self.errors.truncate(errors);
        truth(&value.ok()?)
    }

    /// Whether of the loops around terms one tells them apart, and one only repeats them.
    fn repeats(&self, terms: &[ast::Expr]) -> bool {
        let says = |name: &str| terms.iter().any(|statement| mentions(statement, &[name]));
        let around = self.locals.iter().filter(|it| matches!(it.role, Role::Iterator(id) if self.loops.contains(&id)));
        let (telling, repeating): (Vec<&str>, Vec<&str>) =
            around.map(|it| it.name.as_str()).partition(|name| says(name));
        !telling.is_empty() && !repeating.is_empty()
    }

    /// What the statements are, if they only set variables, under conditions or not, and in loops over few constants.
    fn terms(&self, body: &[ast::Expr]) -> Option<Terms> {
        let mut all = Terms { turns: 1, ..Terms::default() };
        for statement in body {
            let one = self.one_term(statement)?;
            all.statements += one.statements;
            all.turns = all.turns.max(one.turns);
            all.sets_known |= one.sets_known;
        }
        Some(all)
    }

    fn one_term(&self, statement: &ast::Expr) -> Option<Terms> {
        let single = |sets_known| Some(Terms { statements: 1, turns: 1, sets_known });
        match &statement.kind {
            ExprKind::Assign { broadcast: Broadcast::No, target, .. } => {
                let names = target_names(target)?;
                single(names.into_iter().any(|name| self.lookup(name).is_some()))
            }
            ExprKind::If { branches, otherwise } => {
                let bodies: Vec<ast::Expr> =
                    branches.iter().map(|(_, body)| body).chain(otherwise).flatten().cloned().collect();
                self.terms(&bodies)
            }
            ExprKind::And(_, then) | ExprKind::Or(_, then) => self.one_term(then),
            ExprKind::Continue => Some(Terms { turns: 1, ..Terms::default() }),
            ExprKind::For { iterations, body } => {
                let inner = self.terms(body)?;
                Some(Terms { turns: lengths(iterations)?.checked_mul(inner.turns)?, ..inner })
            }
            ExprKind::MacroCall { name, arguments } if name.value == "inbounds" => self.terms(arguments),
            _ => None,
        }
    }

    /// Terms that conditions choose as values that they choose: `if c; s += x; end` as `s = c ? s + x : s`, which is one value of the point
    /// together with the others.
    pub(super) fn chosen_terms(&self, body: &[ast::Expr]) -> ast::Block {
        body.iter().map(|statement| self.chosen_term(statement)).collect()
    }

    fn chosen_term(&self, statement: &ast::Expr) -> ast::Expr {
        let kind = match &statement.kind {
            ExprKind::If { branches, otherwise } => {
                let branches: Vec<(ast::Expr, ast::Block)> =
                    branches.iter().map(|(condition, body)| (condition.clone(), self.chosen_terms(body))).collect();
                let otherwise = otherwise.as_deref().map(|body| self.chosen_terms(body));
                match self.one_choice(&branches, otherwise.as_deref()) {
                    Some(choice) => return choice,
                    None => ExprKind::If { branches, otherwise },
                }
            }
            ExprKind::And(condition, then) => {
                let branch = ((**condition).clone(), vec![(**then).clone()]);
                return self.one_choice(&[branch], None).unwrap_or_else(|| statement.clone());
            }
            ExprKind::Or(condition, then) => {
                let branch = (not((**condition).clone()), vec![(**then).clone()]);
                return self.one_choice(&[branch], None).unwrap_or_else(|| statement.clone());
            }
            ExprKind::For { iterations, body } => {
                ExprKind::For { iterations: iterations.clone(), body: self.chosen_terms(body) }
            }
            ExprKind::MacroCall { name, arguments } => {
                ExprKind::MacroCall { name: name.clone(), arguments: self.chosen_terms(arguments) }
            }
            _ => return statement.clone(),
        };
        ast::Expr { kind, span: statement.span }
    }

    /// The one assignment that branches are which all set the same variable, known before, or leave it alone.
    fn one_choice(&self, branches: &[(ast::Expr, ast::Block)], otherwise: Option<&[ast::Expr]>) -> Option<ast::Expr> {
        let (_, first) = branches.first()?;
        let [ast::Expr { kind: ExprKind::Assign { target, .. }, span }] = first.as_slice() else { return None };
        let ExprKind::Name(name) = &target.kind else { return None };
        self.lookup(name)?;
        let mut value = match otherwise {
            None | Some([]) => (**target).clone(),
            Some(body) => set_to(name, body)?,
        };
        for (condition, body) in branches.iter().rev() {
            let [condition, yes, no] = [condition.clone(), set_to(name, body)?, value].map(Box::new);
            value = ast::Expr { kind: ExprKind::Ternary { condition, yes, no }, span: *span };
        }
        Some(super::jumps::assign(name, value, *span))
    }
}

/// The value of a condition that depends on nothing but constants.
fn truth(condition: &Expr) -> Option<bool> {
    match &condition.kind {
        Typed::Constant(constant) if condition.ty == ScalarType::Bool => constant.as_integer().map(|it| it != 0),
        Typed::Unary(UnaryOp::Not, operand) => truth(operand).map(|it| !it),
        Typed::Binary(BinaryOp::AndAlso, left, right) => match truth(left) {
            Some(true) => truth(right),
            other => other.filter(|it| !it).or_else(|| truth(right).filter(|it| !it)),
        },
        Typed::Binary(BinaryOp::OrElse, left, right) => match truth(left) {
            Some(false) => truth(right),
            other => other.filter(|it| *it).or_else(|| truth(right).filter(|it| *it)),
        },
        Typed::Compare(op, left, right) => {
            let [left, right] = [left, right].map(|side| constant_integer(&folded((**side).clone())));
            let (left, right) = (left?, right?);
            Some(match op {
                CompareOp::Eq => left == right,
                CompareOp::Ne => left != right,
                CompareOp::Lt => left < right,
                CompareOp::Le => left <= right,
                CompareOp::Gt => left > right,
                CompareOp::Ge => left >= right,
            })
        }
        _ => None,
    }
}

/// What a statement that stands alone sets the variable to.
fn set_to(name: &str, body: &[ast::Expr]) -> Option<ast::Expr> {
    let [ast::Expr { kind: ExprKind::Assign { operator, broadcast: Broadcast::No, target, value }, span }] = body
    else {
        return None;
    };
    let is_it = matches!(&target.kind, ExprKind::Name(it) if it == name);
    is_it.then(|| match operator {
        None => (**value).clone(),
        Some(operator) => infix(&operator.value.symbol, (**target).clone(), (**value).clone(), *span),
    })
}

/// The names that an assignment sets, if it sets nothing else.
fn target_names(target: &ast::Expr) -> Option<Vec<&str>> {
    match &target.kind {
        ExprKind::Name(name) => Some(vec![name]),
        ExprKind::Tuple(parts) => {
            fn name(part: &ast::Argument) -> Option<&str> {
                match &part.value.kind {
                    ExprKind::Name(name) if part.keyword.is_none() => Some(name.as_str()),
                    _ => None,
                }
            }
            parts.iter().map(name).collect()
        }
        _ => None,
    }
}

/// How many values an iterator has, if that is written.
fn length(iteration: &ast::Iteration) -> Option<i64> {
    if let ExprKind::Tuple(parts) = &iteration.range.kind {
        return Some(parts.len() as i64);
    }
    let (first, step, last) = constant_range(&iteration.range)?;
    Some((last.checked_sub(first)?.checked_div(step)?.checked_add(1)?).max(0))
}

fn lengths(iterations: &[ast::Iteration]) -> Option<i64> {
    iterations.iter().try_fold(1i64, |count, it| count.checked_mul(length(it)?))
}

/// First value, step and last value of a range of written integers.
fn constant_range(range: &ast::Expr) -> Option<(i64, i64, i64)> {
    let ast::ExprKind::Range { start, step, stop } = &range.kind else { return None };
    let step = step.as_deref().map_or(Some(1), constant)?;
    Some((constant(start)?, step, constant(stop)?)).filter(|_| step != 0)
}

/// An integer as it is written.
fn constant(expr: &ast::Expr) -> Option<i64> {
    match &expr.kind {
        ast::ExprKind::Integer(text) => text.parse().ok(),
        ast::ExprKind::Prefix { operator, operand } if operator.value.symbol == "-" => constant(operand)?.checked_neg(),
        _ => None,
    }
}
