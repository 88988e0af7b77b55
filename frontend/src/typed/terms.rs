//! Sums of a few terms for each point of a step: loops that become their terms.
//!
//! A stencil of many points is often written as a loop over its offsets, `for r in 1:4; s += c[r] * (A[i-r, j] + A[i+r, j]); end`. As its
//! terms, one after the other and in the same order, it is one value of the point, as if it had been written out: statements of one point take
//! part in tilings of time, where a variable that is updated in a loop of its own does not.

use super::check::{Checked, Checker};
use super::error::TypeError;
use super::jumps::{infix, not};
use super::scope::State;
use super::tree::{Expr, Role};
use super::value::Value;
use super::walk::{mentions, parts};
use crate::ast::{self, Broadcast, ExprKind, GeneratorClause};
use tessella_diagnostics::Span;
use tessella_scalar::ScalarType;

/// Points have this many terms at most: a box of 9 x 9 points has 81.
const MOST_TERMS: i64 = 81;

/// The statements that all terms of a point have together at most.
const MOST_STATEMENTS: i64 = 162;

/// What statements are that are terms.
#[derive(Debug, Clone, Copy, Default)]
struct Terms {
    /// Those of all turns of loops among them.
    statements: i64,
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
        if !self.are_terms(turns, iteration, rest, body) {
            return None;
        }
        let (first, step, last) = constant_range(&iteration.range)?;
        let values = std::iter::successors(Some(first), |value| value.checked_add(step));
        let values = values.take_while(|&value| if step > 0 { value <= last } else { value >= last });
        Some(values.map(|value| Value::Scalar(Expr::int64(value, iteration.range.span))).collect())
    }

    /// Whether the body of loops with so many turns in all is terms of a point.
    fn are_terms(&self, turns: i64, iteration: &ast::Iteration, rest: &[ast::Iteration], body: &[ast::Expr]) -> bool {
        let targets: Vec<&str> = [iteration].into_iter().chain(rest).flat_map(target_of).collect();
        let is_few = |terms: Terms| {
            let all = |each: i64| turns.checked_mul(each);
            all(terms.turns).is_some_and(|turns| (1..=MOST_TERMS).contains(&turns))
                && all(terms.statements).is_some_and(|statements| statements <= MOST_STATEMENTS)
        };
        let divides = body.iter().any(|statement| divides_by(statement, &targets));
        self.terms(body).is_some_and(|terms| is_few(terms) && terms.sets_known) && self.repeats(body) && !divides
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
        if !turns.is_some_and(|turns| self.are_terms(turns, iteration, rest, body)) {
            return self.for_each(values, iteration, rest, body, span);
        }
        let terms = self.chosen_terms(body);
        let errors = self.errors.len();
        let among_terms = std::mem::replace(&mut self.flow.among_terms, true);
        let mut done = self.for_each(values.clone(), iteration, rest, &terms, span);
        // Of a variable whose type a branch changes, the statement as it is written tells more.
        let is_choice = |error: &TypeError| matches!(error, TypeError::BranchTypes { .. });
        if self.errors[errors..].iter().any(is_choice) {
            self.errors.truncate(errors);
            done = self.for_each(values, iteration, rest, body, span);
        }
        self.flow.among_terms = among_terms;
        done
    }

    /// Whether the loops of a generator are over terms of a point.
    pub(super) fn generates_terms(&self, body: &ast::Expr, clauses: &[GeneratorClause]) -> bool {
        let (mut turns, mut terms, mut targets) = (Some(1i64), vec![body.clone()], vec![]);
        for clause in clauses {
            match clause {
                GeneratorClause::For(iterations) => {
                    turns = turns.and_then(|turns| turns.checked_mul(lengths(iterations)?));
                    targets.extend(iterations.iter().flat_map(target_of));
                }
                GeneratorClause::If(condition) => terms.push(condition.clone()),
            }
        }
        let is_few = turns.is_some_and(|turns| (1..=MOST_TERMS).contains(&turns));
        is_few && self.repeats(&terms) && !terms.iter().any(|term| assigns(term) || divides_by(term, &targets))
    }

    /// What a condition among terms is, if that is known: iterators over terms are constants. All that would be evaluated is looked at in its
    /// order, so that nothing which may fail is left out.
    pub(super) fn decided(&self, condition: &ast::Expr) -> Option<bool> {
        match &condition.kind {
            _ if !self.flow.among_terms => None,
            ExprKind::Bool(value) => Some(*value),
            ExprKind::Block(body) => match body.as_slice() {
                [only] => self.decided(only),
                _ => None,
            },
            ExprKind::And(left, right) => match self.decided(left)? {
                true => self.decided(right),
                false => Some(false),
            },
            ExprKind::Or(left, right) => match self.decided(left)? {
                true => Some(true),
                false => self.decided(right),
            },
            ExprKind::Prefix { operator, operand } if operator.value.symbol == "!" && !operator.value.dotted => {
                self.decided(operand).map(|value| !value)
            }
            ExprKind::Comparison { operands, operators } => {
                let values: Vec<Vec<i64>> = operands.iter().map(|it| self.constants(it)).collect::<Option<_>>()?;
                let pairs = operators.iter().zip(values.iter().zip(&values[1..]));
                let mut holds = true;
                for (operator, (left, right)) in pairs {
                    holds &= compared(&operator.value, left, right)?;
                }
                Some(holds)
            }
            _ => None,
        }
    }

    /// The integer that an expression of constants is, or those of a tuple.
    fn constants(&self, expr: &ast::Expr) -> Option<Vec<i64>> {
        match &expr.kind {
            ExprKind::Tuple(parts) => parts.iter().map(|part| self.number(&part.value)).collect(),
            _ => Some(vec![self.number(expr)?]),
        }
    }

    fn number(&self, expr: &ast::Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Integer(text) => text.parse().ok(),
            ExprKind::Name(name) => {
                let constant = match &self.variables[self.lookup(name)?.0].state {
                    State::Alias(Value::Scalar(value)) => value.as_constant(),
                    State::Scalar(local) => self.flow.known.get(local).copied(),
                    _ => None,
                }?;
                (constant.ty == ScalarType::I64).then(|| constant.as_integer())??.try_into().ok()
            }
            ExprKind::Block(body) => match body.as_slice() {
                [only] => self.number(only),
                _ => None,
            },
            ExprKind::Prefix { operator, operand } if operator.value.symbol == "-" && !operator.value.dotted => {
                self.number(operand)?.checked_neg()
            }
            ExprKind::Infix { operator, left, right } if !operator.value.dotted => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                match operator.value.symbol.as_str() {
                    "+" => left.checked_add(right),
                    "-" => left.checked_sub(right),
                    "*" => left.checked_mul(right),
                    _ => None,
                }
            }
            ExprKind::Call { callee, arguments, broadcast: Broadcast::No } => match arguments.as_slice() {
                [ast::Argument { keyword: None, value, .. }] if self.library_name(callee) == Some("abs") => {
                    self.number(value)?.checked_abs()
                }
                _ => None,
            },
            _ => None,
        }
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
            all.statements = all.statements.checked_add(one.statements)?;
            all.turns = all.turns.max(one.turns);
            all.sets_known |= one.sets_known;
        }
        Some(all)
    }

    fn one_term(&self, statement: &ast::Expr) -> Option<Terms> {
        match &statement.kind {
            ExprKind::Assign { broadcast: Broadcast::No, target, value, .. } if !assigns(value) => {
                let sets_known = target_names(target)?.into_iter().any(|name| self.lookup(name).is_some());
                Some(Terms { statements: 1, turns: 1, sets_known })
            }
            ExprKind::If { branches, otherwise } if !branches.iter().any(|(condition, _)| assigns(condition)) => {
                let bodies: Vec<ast::Expr> =
                    branches.iter().map(|(_, body)| body).chain(otherwise).flatten().cloned().collect();
                self.terms(&bodies)
            }
            ExprKind::And(condition, then) | ExprKind::Or(condition, then) if !assigns(condition) => {
                self.one_term(then)
            }
            ExprKind::Continue => Some(Terms { turns: 1, ..Terms::default() }),
            ExprKind::For { iterations, body } => {
                let (length, inner) = (lengths(iterations)?, self.terms(body)?);
                let (turns, statements) = (length.checked_mul(inner.turns)?, length.checked_mul(inner.statements)?);
                Some(Terms { turns, statements, ..inner })
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
            ExprKind::And(condition, then) | ExprKind::Or(condition, then) => {
                let condition = match statement.kind {
                    ExprKind::Or(..) => not((**condition).clone()),
                    _ => (**condition).clone(),
                };
                let branch = (condition, vec![(**then).clone()]);
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
        if !self.assigned.contains(&self.lookup(name)?) {
            return None;
        }
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

/// Whether the comparison of two integers, or of two tuples of them, holds.
fn compared(operator: &ast::Operator, left: &[i64], right: &[i64]) -> Option<bool> {
    match (operator.symbol.as_str(), left, right) {
        _ if operator.dotted => None,
        ("==" | "===", ..) if left.len() == right.len() => Some(left == right),
        ("!=" | "≠" | "!==", ..) if left.len() == right.len() => Some(left != right),
        ("<", [left], [right]) => Some(left < right),
        ("<=" | "≤", [left], [right]) => Some(left <= right),
        (">", [left], [right]) => Some(left > right),
        (">=" | "≥", [left], [right]) => Some(left >= right),
        _ => None,
    }
}

/// Whether an assignment stands in an expression.
fn assigns(expr: &ast::Expr) -> bool {
    matches!(expr.kind, ExprKind::Assign { .. }) || parts(expr).into_iter().any(assigns)
}

/// Whether something is divided by what these names are part of: constants in their place are refused where they are 0 or -1, even under
/// conditions that rule them out.
fn divides_by(expr: &ast::Expr, names: &[&str]) -> bool {
    let divisor = match &expr.kind {
        ExprKind::Infix { operator, right, .. } => {
            matches!(operator.value.symbol.as_str(), "÷" | "%" | "//" | "\\").then_some(&**right)
        }
        ExprKind::Assign { operator: Some(operator), value, .. } => {
            matches!(operator.value.symbol.trim_end_matches('='), "÷" | "%").then_some(&**value)
        }
        ExprKind::Call { callee, arguments, .. } => match (&callee.kind, arguments.as_slice()) {
            (ExprKind::Name(name), [.., last]) if DIVISIONS.contains(&name.as_str()) => Some(&last.value),
            _ => None,
        },
        _ => None,
    };
    divisor.is_some_and(|it| mentions(it, names)) || parts(expr).into_iter().any(|part| divides_by(part, names))
}

const DIVISIONS: [&str; 9] = ["div", "rem", "mod", "fld", "cld", "mod1", "fld1", "divrem", "fldmod"];

/// The names that an iteration gives a value.
fn target_of(iteration: &ast::Iteration) -> Vec<&str> {
    target_names(&iteration.target).unwrap_or_default()
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
    let distance = last.checked_sub(first)?;
    match distance.signum() * step.signum() {
        -1 => Some(0),
        _ => distance.checked_div(step)?.checked_add(1),
    }
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
