//! Loops as statements: their jumps, and `while` with a counter.

use super::check::{Checked, Checker};
use super::error::TypeError;
use super::inline::Closure;
use super::jumps::{self, assign, boolean, comparison, if_else, infix, name, not};
use super::scope::{Scope, State, is_assigned};
use super::tree::{MOST_TURNS, Simd};
use super::value::Value;
use super::walk::{is_steady, mentions};
use crate::ast::{Argument, Block, Expr, ExprKind, Function, Iteration, Section};
use tessella_diagnostics::Span;

impl Checker<'_> {
    /// A `for` with whatever jumps it has.
    pub(super) fn loop_statement(
        &mut self,
        iterations: &[Iteration],
        body: &[Expr],
        simd: Simd,
        span: Span,
    ) -> Checked<()> {
        self.announce_renaming(body, span);
        let done = self.loop_with_jumps(iterations, body, simd, span);
        self.flow.renamings.pop();
        self.finish_rebinding();
        done
    }

    fn loop_with_jumps(&mut self, iterations: &[Iteration], body: &[Expr], simd: Simd, span: Span) -> Checked<()> {
        let (has_break, has_continue) = (jumps::has_break(body), jumps::has_continue(body));
        if !has_break && !has_continue {
            return self.plain_loop(iterations, body, simd, span);
        }
        let going = self.flow.fresh.name("going");
        if !has_break {
            let body = jumps::loop_without_jumps(body, &going, &mut self.flow.fresh);
            return self.plain_loop(iterations, &body, simd, span);
        }
        if let [iteration] = iterations
            && !self.renames()
            && !self.closures_assign()
            && let Some((start, iteration, body)) = bounded(iteration, body, &mut self.flow.fresh)
        {
            self.private(&start.0, start.1.clone(), start.1.span)?;
            return self.loop_with_jumps(&[iteration], &body, simd, span);
        }
        self.renaming_ends_with(&going);
        self.private(&going, boolean(true, span), span)?;
        let inner = jumps::loop_without_jumps(body, &going, &mut self.flow.fresh);
        let body = vec![if_else(name(&going, span), inner, vec![], span)];
        self.plain_loop(iterations, &body, simd, span)
    }

    fn plain_loop(&mut self, iterations: &[Iteration], body: &[Expr], simd: Simd, span: Span) -> Checked<()> {
        self.flow.single = iterations.len() == 1;
        self.for_loop(iterations, body, simd, span)
    }

    /// Declares a variable of our own in the current scope.
    fn private(&mut self, name: &str, value: Expr, span: Span) -> Checked<()> {
        self.declare(name, span, State::Unassigned);
        self.assignment(&assign(name, value, span), super::statement::Place::Middle).map(|_| ())
    }

    /// Any other `while`: a loop over more iterations than anything runs, which its condition breaks.
    fn endless_loop(&mut self, condition: &Expr, body: &[Expr], span: Span) -> Checked<()> {
        let at = condition.span;
        let number = |value: i64| Box::new(Expr { kind: ExprKind::Integer(value.to_string()), span: at });
        let range = ExprKind::Range { start: number(1), step: None, stop: number(MOST_TURNS) };
        let target = name(&self.flow.fresh.name("turn"), span);
        let iteration = Iteration { target, range: Expr { kind: range, span: at }, span: at };
        let inner = match condition.kind {
            ExprKind::Bool(true) => body.to_vec(),
            _ => asked_first(condition, body.to_vec()),
        };
        if !jumps::has_break(&inner) {
            return Err(self.fail(TypeError::NeverEnds { span: at }));
        }
        self.loop_statement(&[iteration], &inner, Simd::No, span)
    }

    /// Whether the expression is a number with a fraction, without checking it for good.
    fn would_be_float(&mut self, expr: &Expr) -> bool {
        let errors = self.errors.len();
        let (_, value) = self.trial(|checker| checker.value(expr));
        self.errors.truncate(errors);
        match value {
            Ok(Value::Scalar(number)) => number.ty.is_float(),
            Ok(Value::Irrational(..)) => true,
            Ok(_) | Err(_) => false,
        }
    }

    /// `while i <= n ... i += 1 end` as a loop over a range.
    pub(super) fn while_loop(&mut self, condition: &Expr, body: &[Expr], span: Span) -> Checked<()> {
        // A function inside the function that reads the counter means the variable, which the range would stand in for.
        let stands = |counted: &Counted| !self.is_captured(&counted.counter) && !self.closures_assign();
        let counted = Counted::find(condition, body).filter(stands);
        let Some(counted) = counted else { return self.endless_loop(condition, body, span) };
        // A range counts integers.
        let counter = name(&counted.counter, condition.span);
        if counted.bounds.iter().map(|(bound, _)| bound).chain([&counter]).any(|it| self.would_be_float(it)) {
            return self.endless_loop(condition, body, span);
        }
        let is_left = counted.is_left();
        let Counted { counter, step, bounds, body: mut inner, first, rest } = counted;
        let at = condition.span;
        let step_value = Expr { kind: ExprKind::Integer(step.unsigned_abs().to_string()), span: at };
        let by = |symbol: &str, value: Expr| infix(symbol, value, step_value.clone(), at);
        let (forward, back) = if step > 0 { ("+", "-") } else { ("-", "+") };
        // Further conditions are asked before the step, where the range has the counter behind it.
        let asked = match first {
            true => rest.iter().map(|part| with_counter(part, &counter, &by(back, name(&counter, at)))).collect(),
            false => Some(rest),
        };
        let Some(rest) = asked else { return self.endless_loop(condition, body, span) };
        let one = Expr { kind: ExprKind::Integer("1".into()), span: at };
        // The last value for which the condition holds is at most (or at least) this.
        let least = if step > 0 { "min" } else { "max" };
        let bounds =
            bounds.into_iter().map(|(bound, strict)| if strict { infix(back, bound, one.clone(), at) } else { bound });
        let last = bounds.reduce(|a, b| call(least, vec![a, b], at)).unwrap_or_else(|| one.clone());
        let begin = name(&counter, at);
        let (start, stop) = match first {
            true => (by(forward, begin.clone()), by(forward, last.clone())),
            false => (begin.clone(), last.clone()),
        };
        let signed = match step > 0 {
            true => step_value.clone(),
            false => jumps_negated(step_value.clone()),
        };
        let range = ExprKind::Range { start: Box::new(start), step: Some(Box::new(signed)), stop: Box::new(stop) };
        // `i` after a `break` is what it was there.
        let left = is_left.then(|| (self.flow.fresh.name("left"), self.flow.fresh.name(&counter)));
        if let Some((left, value)) = &left {
            self.private(left, boolean(false, span), span)?;
            self.private(value, begin.clone(), span)?;
            inner = inner.iter().map(|statement| noting_breaks(statement, left, value, &counter)).collect();
            for part in rest.into_iter().rev() {
                let here = name(&counter, part.span);
                let leave = vec![
                    assign(left, boolean(true, part.span), part.span),
                    assign(value, if first { by(back, here) } else { here }, part.span),
                    Expr { kind: ExprKind::Break, span: part.span },
                ];
                inner.insert(0, if_else(not(part.clone()), leave, vec![], part.span));
            }
        }
        let target = Expr { kind: ExprKind::Name(counter.clone()), span: at };
        let iteration = Iteration { target, range: Expr { kind: range, span: at }, span: at };
        self.loop_statement(&[iteration], &inner, Simd::No, span)?;
        let ran = comparison(if step > 0 { "<=" } else { ">=" }, begin.clone(), last.clone(), at);
        let end = match step {
            1 | -1 => by(forward, last),
            _ => {
                let distance = match step > 0 {
                    true => infix("-", last, begin.clone(), at),
                    false => infix("-", begin.clone(), last, at),
                };
                let steps = infix("÷", distance, step_value.clone(), at);
                let steps = infix("+", steps, one, at);
                infix(forward, begin.clone(), infix("*", steps, step_value.clone(), at), at)
            }
        };
        let choose = |condition: Expr, yes: Expr, no: Expr| Expr {
            kind: ExprKind::Ternary { condition: Box::new(condition), yes: Box::new(yes), no: Box::new(no) },
            span: at,
        };
        let mut value = choose(ran, end, begin);
        if let Some((left, noted)) = left {
            value = choose(name(&left, at), name(&noted, at), value);
        }
        let pending = self.flow.pending.take();
        let assigned = self.assignment(&assign(&counter, value, at), super::statement::Place::Middle);
        self.flow.pending = pending;
        assigned.map(|_| ())
    }

    /// Whether a function inside the function reads or assigns the variable that has this name here.
    fn is_captured(&self, name: &str) -> bool {
        let Some(variable) = self.lookup(name) else { return false };
        let means =
            |scopes: &[Scope], name: &str| scopes.iter().rev().find_map(|scope| scope.get(name)) == Some(&variable);
        let has = |method: &Function, name: &str| {
            let defaults = method.parameters.iter().filter_map(|parameter| parameter.default.as_ref());
            method.body.iter().chain(defaults).any(|part| super::walk::mentions(part, &[name]))
        };
        let own = super::full_name::as_own(name);
        let captures = |closure: &Closure| {
            let names = [name, own.as_str()];
            names.iter().any(|name| means(&closure.scopes, name) && closure.methods.iter().any(|it| has(it, name)))
        };
        self.closures.iter().any(captures)
    }

    /// Whether a function inside the function assigns a variable around it: what a loop's statements leave alone may then change
    /// with a call.
    fn closures_assign(&self) -> bool {
        let assigns = |closure: &Closure| {
            let names = closure.methods.iter().flat_map(|method| super::scope::assigned_names(&method.body));
            names.into_iter().any(|name| closure.scopes.iter().any(|scope| scope.contains_key(&name)))
        };
        self.closures.iter().any(assigns)
    }
}

/// The expression with another value for the counter; `None` where that may be hidden by a name of an inner scope.
fn with_counter(expr: &Expr, counter: &str, value: &Expr) -> Option<Expr> {
    let one = |expr: &Expr| with_counter(expr, counter, value);
    let boxed = |expr: &Expr| one(expr).map(Box::new);
    let all = |arguments: &[crate::ast::Argument]| -> Option<Vec<crate::ast::Argument>> {
        let each = arguments.iter().map(|it| Some(crate::ast::Argument { value: one(&it.value)?, ..it.clone() }));
        each.collect()
    };
    let kind = match &expr.kind {
        ExprKind::Name(name) if name == counter => return Some(Expr { span: expr.span, ..value.clone() }),
        ExprKind::Prefix { operator, operand } => {
            ExprKind::Prefix { operator: operator.clone(), operand: boxed(operand)? }
        }
        ExprKind::Infix { operator, left, right } => {
            ExprKind::Infix { operator: operator.clone(), left: boxed(left)?, right: boxed(right)? }
        }
        ExprKind::Juxtapose { coefficient, operand } => {
            ExprKind::Juxtapose { coefficient: boxed(coefficient)?, operand: boxed(operand)? }
        }
        ExprKind::Comparison { operands, operators } => {
            let operands = operands.iter().map(one).collect::<Option<_>>()?;
            ExprKind::Comparison { operands, operators: operators.clone() }
        }
        ExprKind::And(left, right) => ExprKind::And(boxed(left)?, boxed(right)?),
        ExprKind::Or(left, right) => ExprKind::Or(boxed(left)?, boxed(right)?),
        ExprKind::Call { callee, arguments, broadcast } => {
            ExprKind::Call { callee: callee.clone(), arguments: all(arguments)?, broadcast: *broadcast }
        }
        ExprKind::Index { base, subscripts } => ExprKind::Index { base: base.clone(), subscripts: all(subscripts)? },
        _ => return (!mentions(expr, &[counter])).then(|| expr.clone()),
    };
    Some(Expr { kind, span: expr.span })
}

fn jumps_negated(value: Expr) -> Expr {
    let span = value.span;
    let operator = crate::ast::Operator { symbol: "-".into(), dotted: false };
    let operator = tessella_diagnostics::Spanned { value: operator, span };
    Expr { kind: ExprKind::Prefix { operator, operand: Box::new(value) }, span }
}

/// A `while` with a counter, taken apart.
struct Counted {
    counter: String,
    step: i64,
    /// All of them hold; with whether they are `<` or `>`, which the bound itself does not pass.
    bounds: Vec<(Expr, bool)>,
    /// Without the step.
    body: Block,
    /// Whether the step comes first.
    first: bool,
    /// Further conditions, evaluated after the counter's.
    rest: Vec<Expr>,
}

/// The counter of a `while` that is one over a range, and whether data may end it before.
pub(super) fn counter_of(condition: &Expr, body: &[Expr]) -> Option<(String, bool)> {
    let counted = Counted::find(condition, body)?;
    let is_left = counted.is_left();
    Some((counted.counter, is_left))
}

/// `while true; if !condition break end; body end`.
pub(super) fn asked_inside(condition: &Expr, body: Block) -> ExprKind {
    let always = Expr { kind: ExprKind::Bool(true), span: condition.span };
    ExprKind::While { condition: Box::new(always), body: asked_first(condition, body) }
}

/// The body of a loop that its condition breaks.
fn asked_first(condition: &Expr, body: Block) -> Block {
    let at = condition.span;
    let leave = vec![Expr { kind: ExprKind::Break, span: at }];
    std::iter::once(if_else(not(condition.clone()), leave, vec![], at)).chain(body).collect()
}

impl Counted {
    /// Whether data may end the loop before its counter does: by further conditions, or in its body.
    fn is_left(&self) -> bool {
        !self.rest.is_empty() || jumps::has_break(&self.body)
    }

    fn find(condition: &Expr, body: &[Expr]) -> Option<Counted> {
        let mut conjuncts = vec![];
        flatten(condition, &mut conjuncts);
        // What is asked before the counter may as well be asked after it, if it can neither fail nor do anything.
        (0..conjuncts.len())
            .take_while(|&at| conjuncts[..at].iter().all(is_plain))
            .find_map(|at| Self::with_test(&conjuncts[at], &conjuncts[..at], &conjuncts[at + 1..], body))
    }

    fn with_test(test: &Expr, before: &[Expr], rest: &[Expr], body: &[Expr]) -> Option<Counted> {
        let ExprKind::Comparison { operands, operators } = &test.kind else { return None };
        let ([left, right], [operator]) = (operands.as_slice(), operators.as_slice()) else { return None };
        let symbol = operator.value.symbol.as_str();
        let sides = [(left, right, symbol), (right, left, mirrored(symbol))];
        sides.into_iter().find_map(|(counter, bound, symbol)| {
            let ExprKind::Name(name) = &counter.kind else { return None };
            let (up, strict) = match symbol {
                "<" => (true, true),
                "<=" | "≤" => (true, false),
                ">" => (false, true),
                ">=" | "≥" => (false, false),
                _ => return None,
            };
            let (step, first, mut inner) = step_of(name, body)?;
            if step == 0 || (step > 0) != up {
                return None;
            }
            if !first {
                inner = without_repeated_steps(name, step, &inner)?;
            }
            if is_assigned(name, &inner) || !is_steady(bound, body) {
                return None;
            }
            let (counter, mut bounds, mut others) = (name.clone(), vec![(bound.clone(), strict)], rest);
            while let [next, later @ ..] = others
                && let Some((bound, upper, strict)) = bound_of(&counter, next)
                && upper == up
                && is_steady(bound, body)
            {
                bounds.push((bound.clone(), strict));
                others = later;
            }
            let rest = before.iter().chain(others).cloned().collect();
            Some(Counted { counter, step, bounds, body: inner, first, rest })
        })
    }
}

/// Whether an expression is nothing but arithmetic and comparisons of variables and numbers.
fn is_plain(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Integer(_) | ExprKind::Float(_) | ExprKind::Bool(_) => true,
        ExprKind::Prefix { operand, .. } => is_plain(operand),
        ExprKind::Infix { operator, left, right } => {
            matches!(operator.value.symbol.as_str(), "+" | "-" | "*" | "/") && is_plain(left) && is_plain(right)
        }
        ExprKind::Juxtapose { coefficient, operand } => is_plain(coefficient) && is_plain(operand),
        ExprKind::Comparison { operands, .. } => operands.iter().all(is_plain),
        ExprKind::And(left, right) | ExprKind::Or(left, right) => is_plain(left) && is_plain(right),
        ExprKind::Call { callee, arguments, broadcast: crate::ast::Broadcast::No } => {
            matches!(&callee.kind, ExprKind::Name(name) if matches!(name.as_str(), "abs" | "abs2" | "min" | "max"))
                && arguments.iter().all(|argument| is_plain(&argument.value))
        }
        _ => false,
    }
}

/// The bound that a comparison sets for the counter, whether it is an upper one, and whether it is strict.
fn bound_of<'e>(counter: &str, test: &'e Expr) -> Option<(&'e Expr, bool, bool)> {
    let ExprKind::Comparison { operands, operators } = &test.kind else { return None };
    let ([left, right], [operator]) = (operands.as_slice(), operators.as_slice()) else { return None };
    let is_counter = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(name) if name == counter);
    let (bound, symbol) = match (is_counter(left), is_counter(right)) {
        (true, false) => (right, operator.value.symbol.as_str()),
        (false, true) => (left, mirrored(operator.value.symbol.as_str())),
        (_, _) => return None,
    };
    match symbol {
        "<" => Some((bound, true, true)),
        "<=" | "≤" => Some((bound, true, false)),
        ">" => Some((bound, false, true)),
        ">=" | "≥" => Some((bound, false, false)),
        _ => None,
    }
}

fn call(function: &str, values: Vec<Expr>, span: Span) -> Expr {
    let arguments = values.into_iter().map(|value| Argument { keyword: None, value, section: Section::Main });
    let callee = Box::new(super::full_name::library_function(function, span));
    Expr { kind: ExprKind::Call { callee, arguments: arguments.collect(), broadcast: crate::ast::Broadcast::No }, span }
}

fn flatten(condition: &Expr, into: &mut Vec<Expr>) {
    match &condition.kind {
        ExprKind::And(left, right) => {
            flatten(left, into);
            flatten(right, into);
        }
        _ => into.push(condition.clone()),
    }
}

fn mirrored(symbol: &str) -> &str {
    match symbol {
        "<" => ">",
        "<=" | "≤" => ">=",
        ">" => "<",
        ">=" | "≥" => "<=",
        other => other,
    }
}

/// The counter's step, whether it comes first, and the body without it.
fn step_of(counter: &str, body: &[Expr]) -> Option<(i64, bool, Block)> {
    let last = || Some((as_step(counter, body.last()?)?, false, body[..body.len() - 1].to_vec()));
    let first = || Some((as_step(counter, body.first()?)?, true, body[1..].to_vec()));
    last().or_else(first)
}

/// The constant of `i += 2`, `i -= 2`, `i = i + 2`, `i = 2 + i`, `i = i - 2`.
fn as_step(counter: &str, statement: &Expr) -> Option<i64> {
    let is_counter = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(name) if name == counter);
    let number = |expr: &Expr| match &expr.kind {
        ExprKind::Integer(text) => text.replace('_', "").parse::<i64>().ok().filter(|value| *value < 1 << 40),
        _ => None,
    };
    match &statement.kind {
        ExprKind::MacroCall { name, arguments } if name.value == "inbounds" && arguments.len() == 1 => {
            as_step(counter, &arguments[0])
        }
        ExprKind::Assign { operator: Some(operator), target, value, .. } if is_counter(target) => {
            match operator.value.symbol.trim_end_matches('=') {
                "+" => number(value),
                "-" => number(value).map(|step| -step),
                _ => None,
            }
        }
        ExprKind::Assign { operator: None, target, value, .. } if is_counter(target) => match &value.kind {
            ExprKind::Infix { operator, left, right } => match operator.value.symbol.as_str() {
                "+" if is_counter(left) => number(right),
                "+" if is_counter(right) => number(left),
                "-" if is_counter(left) => number(right).map(|step| -step),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// `i += 1; continue` in the body as `continue`, which does the step at its end; `None` if one skips it.
fn without_repeated_steps(counter: &str, step: i64, body: &[Expr]) -> Option<Block> {
    let mut block = vec![];
    for (at, statement) in body.iter().enumerate() {
        let next = body.get(at + 1);
        if as_step(counter, statement) == Some(step) && next.is_some_and(|next| matches!(next.kind, ExprKind::Continue))
        {
            continue;
        }
        let steps_before = at.checked_sub(1).is_some_and(|before| as_step(counter, &body[before]) == Some(step));
        if matches!(statement.kind, ExprKind::Continue) && !steps_before {
            return None;
        }
        let inside = |body: &[Expr]| without_repeated_steps(counter, step, body);
        let one = |expr: &Expr| -> Option<Box<Expr>> {
            let mut block = inside(std::slice::from_ref(expr))?;
            let span = expr.span;
            Some(Box::new(match block.len() {
                1 => block.swap_remove(0),
                _ => Expr { kind: ExprKind::Block(block), span },
            }))
        };
        let kind = match &statement.kind {
            ExprKind::Block(body) => ExprKind::Block(inside(body)?),
            ExprKind::If { branches, otherwise } => ExprKind::If {
                branches: branches
                    .iter()
                    .map(|(condition, body)| Some((condition.clone(), inside(body)?)))
                    .collect::<Option<_>>()?,
                otherwise: match otherwise {
                    Some(body) => Some(inside(body)?),
                    None => None,
                },
            },
            ExprKind::Let { bindings, body } => ExprKind::Let { bindings: bindings.clone(), body: inside(body)? },
            ExprKind::MacroCall { name, arguments } => {
                ExprKind::MacroCall { name: name.clone(), arguments: inside(arguments)? }
            }
            ExprKind::And(left, right) => ExprKind::And(left.clone(), one(right)?),
            ExprKind::Or(left, right) => ExprKind::Or(left.clone(), one(right)?),
            other => other.clone(),
        };
        block.push(Expr { kind, span: statement.span });
    }
    Some(block)
}

/// Every `break` of the loop notes the counter's value.
fn noting_breaks(statement: &Expr, left: &str, value: &str, counter: &str) -> Expr {
    let span = statement.span;
    let all = |body: &[Expr]| -> Block {
        body.iter().map(|statement| noting_breaks(statement, left, value, counter)).collect()
    };
    let one = |expr: &Expr| Box::new(noting_breaks(expr, left, value, counter));
    let kind = match &statement.kind {
        ExprKind::Break => ExprKind::Block(vec![
            assign(left, boolean(true, span), span),
            assign(value, name(counter, span), span),
            statement.clone(),
        ]),
        ExprKind::Block(body) => ExprKind::Block(all(body)),
        ExprKind::If { branches, otherwise } => ExprKind::If {
            branches: branches.iter().map(|(condition, body)| (condition.clone(), all(body))).collect(),
            otherwise: otherwise.as_deref().map(all),
        },
        ExprKind::Let { bindings, body } => ExprKind::Let { bindings: bindings.clone(), body: all(body) },
        ExprKind::MacroCall { name, arguments } => {
            ExprKind::MacroCall { name: name.clone(), arguments: all(arguments) }
        }
        ExprKind::And(left, right) => ExprKind::And(left.clone(), one(right)),
        ExprKind::Or(left, right) => ExprKind::Or(left.clone(), one(right)),
        ExprKind::Ternary { condition, yes, no } => {
            ExprKind::Ternary { condition: condition.clone(), yes: one(yes), no: one(no) }
        }
        other => other.clone(),
    };
    Expr { kind, span }
}

/// A loop whose first `break` depends on its iterator alone: the iterations after it do nothing.
///
/// Gives a name and value for the range's start, and the loop without that `break`.
///
/// ```text
/// for i in 1:n                  start = 1
///     before                    for i in start:n
///     i > m && break     ->         if !(i - 1 >= start && i - 1 > m)
///     after                             before
/// end                                   if !(i > m)  after  end
/// ```
fn bounded(
    iteration: &Iteration,
    body: &[Expr],
    fresh: &mut jumps::Fresh,
) -> Option<((String, Expr), Iteration, Block)> {
    let ExprKind::Name(iterator) = &iteration.target.kind else { return None };
    let ExprKind::Range { start, step, stop } = &iteration.range.kind else { return None };
    let step_size = match step.as_deref().map(|step| &step.kind) {
        None => 1_i64,
        Some(ExprKind::Integer(text)) => text.parse().ok().filter(|size| *size > 0)?,
        Some(ExprKind::Prefix { operator, operand }) if operator.value.symbol == "-" => match &operand.kind {
            ExprKind::Integer(text) => -text.parse::<i64>().ok().filter(|size| *size > 0)?,
            _ => return None,
        },
        Some(_) => return None,
    };
    if is_assigned(iterator, body) {
        return None;
    }
    let position = body.iter().position(|statement| jumps::has_break(std::slice::from_ref(statement)))?;
    if jumps::has_continue(&body[..position]) {
        return None;
    }
    let condition = breaks_if(&body[position])?;
    let ExprKind::Comparison { operands, operators } = &condition.kind else { return None };
    let ([left, right], [operator]) = (operands.as_slice(), operators.as_slice()) else { return None };
    let is_iterator = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(name) if name == iterator);
    let (bound, symbol) = match (is_iterator(left), is_iterator(right)) {
        (true, false) => (right, operator.value.symbol.as_str()),
        (false, true) => (left, mirrored(operator.value.symbol.as_str())),
        (_, _) => return None,
    };
    if !is_steady(bound, body) || super::walk::mentions(bound, &[iterator]) {
        return None;
    }
    let span = condition.span;
    let begin = fresh.name("start");
    let (from, it) = (name(&begin, span), name(iterator, span));
    let size = Expr { kind: ExprKind::Integer(step_size.unsigned_abs().to_string()), span };
    let previous = infix(if step_size > 0 { "-" } else { "+" }, it, size.clone(), span);
    let later = if step_size > 0 { ">=" } else { "<=" };
    let both = |left: Expr, right: Expr| Expr { kind: ExprKind::And(Box::new(left), Box::new(right)), span };
    let reached = comparison(later, previous.clone(), from.clone(), span);
    let broken = match (symbol, step_size > 0) {
        (">" | ">=" | "≥", true) | ("<" | "<=" | "≤", false) => {
            both(reached, comparison(symbol, previous, bound.clone(), span))
        }
        (">" | ">=" | "≥", false) | ("<" | "<=" | "≤", true) => {
            both(reached, comparison(symbol, from, bound.clone(), span))
        }
        ("==", forward) => {
            let inside = both(
                comparison(later, bound.clone(), from.clone(), span),
                comparison(later, previous, bound.clone(), span),
            );
            let distance = match forward {
                true => infix("-", bound.clone(), from, span),
                false => infix("-", from, bound.clone(), span),
            };
            let zero = Expr { kind: ExprKind::Integer("0".into()), span };
            let hits = comparison("==", call("mod", vec![distance, size], span), zero, span);
            if step_size.abs() == 1 { inside } else { both(inside, hits) }
        }
        (_, _) => return None,
    };
    let mut inner = body[..position].to_vec();
    let after = body[position + 1..].to_vec();
    if !after.is_empty() {
        inner.push(if_else(not(condition.clone()), after, vec![], span));
    }
    let body = vec![if_else(not(broken), inner, vec![], span)];
    let range = ExprKind::Range { start: Box::new(name(&begin, start.span)), step: step.clone(), stop: stop.clone() };
    let range = Expr { kind: range, span: iteration.range.span };
    let iteration = Iteration { target: iteration.target.clone(), range, span: iteration.span };
    Some(((begin, (**start).clone()), iteration, body))
}

/// The condition of `if c break end` or `c && break`.
fn breaks_if(statement: &Expr) -> Option<&Expr> {
    let only_break = |body: &[Expr]| matches!(body, [Expr { kind: ExprKind::Break, .. }]);
    match &statement.kind {
        ExprKind::And(condition, then) if matches!(then.kind, ExprKind::Break) => Some(condition),
        ExprKind::If { branches, otherwise: None } => match branches.as_slice() {
            [(condition, body)] if only_break(body) => Some(condition),
            _ => None,
        },
        ExprKind::MacroCall { name, arguments } if name.value == "inbounds" && arguments.len() == 1 => {
            breaks_if(&arguments[0])
        }
        _ => None,
    }
}
