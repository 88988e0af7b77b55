//! Makes a failing case shorter while it fails in the same way.

use crate::examine::{Case, Fault, examine};
use crate::program::{Condition, Expr, Linear, Program, Statement, Subscript, Target};
use crate::subject::Setting;
use std::time::{Duration, Instant};
use tessella_polyhedral::command::Command;

/// A program with its schedule; `None`: Tessella's own.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub program: Program,
    pub commands: Option<Vec<Command>>,
    pub setting: Setting,
}

impl Pair {
    pub fn source(&self) -> String {
        let mut text = self.program.to_string();
        if let Some(commands) = &self.commands {
            text += "\n@schedule f! begin\n";
            for command in commands {
                text += &format!("    {command}\n");
            }
            text += "end\n";
        }
        text
    }
}

const LONGEST: Duration = Duration::from_secs(15);

/// The shortest pair found that has a fault of the same kind.
pub fn shrink(pair: Pair, fault: Fault, seed: u64, compile: bool) -> (Pair, Fault) {
    let start = Instant::now();
    let kind = fault.kind;
    // The cause is all that such a fault says.
    let cause = (kind == "refused for no documented cause").then(|| fault.text.clone());
    let (mut best, mut known) = (pair, fault);
    let fails = |pair: &Pair| -> Option<Fault> {
        // Sizes and values are random: a few seeds, so that the fault is not lost by chance.
        (0..4).find_map(|offset| {
            let case = Case { source: pair.source(), setting: pair.setting, seed: seed.wrapping_add(offset), compile };
            examine(&case)
                .err()
                .filter(|found| found.kind == kind && cause.as_ref().is_none_or(|cause| *cause == found.text))
        })
    };
    'again: loop {
        for candidate in candidates(&best) {
            if start.elapsed() > LONGEST {
                return (best, known);
            }
            if let Some(found) = fails(&candidate) {
                best = candidate;
                known = found;
                continue 'again;
            }
        }
        return (best, known);
    }
}

fn candidates(pair: &Pair) -> Vec<Pair> {
    let mut all = vec![];
    if let Some(commands) = &pair.commands {
        for at in 0..commands.len() {
            let mut fewer = commands.clone();
            fewer.remove(at);
            all.push(Pair { commands: Some(fewer), ..pair.clone() });
        }
    }
    for body in blocks(&pair.program.body) {
        all.push(Pair { program: Program { body, ..pair.program.clone() }, ..pair.clone() });
    }
    if pair.program.returns.is_some() {
        all.push(Pair { program: Program { returns: None, ..pair.program.clone() }, ..pair.clone() });
    }
    for (at, size) in pair.program.sizes.iter().enumerate() {
        if size.extent_of.is_some() {
            let mut program = pair.program.clone();
            program.sizes[at].extent_of = None;
            all.push(Pair { program, ..pair.clone() });
        }
    }
    let text = pair.program.to_string();
    for (at, array) in pair.program.arrays.iter().enumerate() {
        if text.matches(&format!("{}[", array.name)).count() == 0 {
            let mut program = pair.program.clone();
            program.arrays.remove(at);
            all.push(Pair { program, ..pair.clone() });
        }
    }
    all
}

/// Blocks that are shorter by one step.
fn blocks(block: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = vec![];
    let with = |at: usize, by: Vec<Statement>| {
        let mut changed = block.to_vec();
        changed.splice(at..=at, by);
        changed
    };
    for (at, statement) in block.iter().enumerate() {
        if block.len() > 1 {
            all.push(with(at, vec![]));
        }
        match statement {
            Statement::For { before, iterator, lower, upper, step, body } => {
                let jumps = body.iter().any(|it| matches!(it, Statement::Jump { .. }));
                if !jumps {
                    all.push(with(at, body.iter().map(|it| substitute(it, iterator)).collect()));
                }
                let (before, step) = (*before, *step);
                for body in blocks(body) {
                    let (iterator, lower, upper) = (iterator.clone(), lower.clone(), upper.clone());
                    all.push(with(at, vec![Statement::For { before, iterator, lower, upper, step, body }]));
                }
                let same = |before: &'static str, lower: Linear, upper: Linear, step: i64| {
                    let (iterator, body) = (iterator.clone(), body.clone());
                    vec![Statement::For { before, iterator, lower, upper, step, body }]
                };
                if !before.is_empty() {
                    all.push(with(at, same("", lower.clone(), upper.clone(), step)));
                }
                let changed = |lower: Linear, upper: Linear, step: i64| same(before, lower, upper, step);
                if step != 1 {
                    all.push(with(at, changed(lower.clone(), upper.clone(), 1)));
                }
                all.extend(linears(lower).into_iter().map(|lower| with(at, changed(lower, upper.clone(), step))));
                all.extend(linears(upper).into_iter().map(|upper| with(at, changed(lower.clone(), upper, step))));
            }
            Statement::Ranged { iterator, at: bound, body } => {
                all.push(with(at, body.iter().map(|it| substitute(it, iterator)).collect()));
                for body in blocks(body) {
                    let (iterator, bound) = (iterator.clone(), bound.clone());
                    all.push(with(at, vec![Statement::Ranged { iterator, at: bound, body }]));
                }
            }
            Statement::Zeros { name, element, extents } => {
                for extents in lists(extents, linears) {
                    all.push(with(at, vec![Statement::Zeros { name: name.clone(), element: *element, extents }]));
                }
            }
            Statement::Jump { condition, word } => {
                for condition in conditions(condition) {
                    all.push(with(at, vec![Statement::Jump { condition, word }]));
                }
            }
            Statement::If { condition, then, otherwise } => {
                all.push(with(at, then.clone()));
                if !otherwise.is_empty() {
                    all.push(with(at, otherwise.clone()));
                    let (condition, then) = (condition.clone(), then.clone());
                    all.push(with(at, vec![Statement::If { condition, then, otherwise: vec![] }]));
                }
                for then in blocks(then) {
                    let (condition, otherwise) = (condition.clone(), otherwise.clone());
                    all.push(with(at, vec![Statement::If { condition, then, otherwise }]));
                }
                for otherwise in blocks(otherwise) {
                    let (condition, then) = (condition.clone(), then.clone());
                    all.push(with(at, vec![Statement::If { condition, then, otherwise }]));
                }
                for condition in conditions(condition) {
                    let (then, otherwise) = (then.clone(), otherwise.clone());
                    all.push(with(at, vec![Statement::If { condition, then, otherwise }]));
                }
            }
            Statement::Assign { label, target, op, value } => {
                let changed = |target: Target, op: &'static str, value: Expr| {
                    vec![Statement::Assign { label: label.clone(), target, op, value }]
                };
                for value in expressions(value) {
                    all.push(with(at, changed(target.clone(), op, value)));
                }
                if *op != "=" {
                    all.push(with(at, changed(target.clone(), "=", value.clone())));
                }
                if let Target::Element(array, subscripts) = target {
                    for subscripts in lists(subscripts, subscripts_of) {
                        all.push(with(at, changed(Target::Element(array.clone(), subscripts), op, value.clone())));
                    }
                }
            }
        }
    }
    all
}

fn lists<T: Clone>(all: &[T], shorter: fn(&T) -> Vec<T>) -> Vec<Vec<T>> {
    let mut found = vec![];
    for (at, one) in all.iter().enumerate() {
        for next in shorter(one) {
            let mut changed = all.to_vec();
            changed[at] = next;
            found.push(changed);
        }
    }
    found
}

fn linears(linear: &Linear) -> Vec<Linear> {
    let mut all = vec![];
    for at in 0..linear.terms.len() {
        if linear.terms.len() > 1 {
            let mut fewer = linear.clone();
            fewer.terms.remove(at);
            all.push(fewer);
        }
        if linear.terms[at].1 != 1 {
            let mut simple = linear.clone();
            simple.terms[at].1 = 1;
            all.push(simple);
        }
    }
    if linear.constant != 0 && !linear.terms.is_empty() {
        all.push(Linear { constant: 0, ..linear.clone() });
    }
    if linear.constant > 1 && linear.terms.is_empty() {
        all.push(Linear { constant: linear.constant - 1, ..linear.clone() });
    }
    all
}

fn subscripts_of(subscript: &Subscript) -> Vec<Subscript> {
    match subscript {
        Subscript::Linear(linear) => linears(linear).into_iter().map(Subscript::Linear).collect(),
        Subscript::Floor { of, .. } | Subscript::Mod { of, .. } | Subscript::Trunc { of, .. } => {
            vec![Subscript::Linear(of.clone())]
        }
        Subscript::Rows { row, place, .. } => vec![Subscript::Linear(row.clone()), Subscript::Linear(place.clone())],
        Subscript::Data { of, plus } if *plus == Linear::default() => vec![Subscript::Linear(of.clone())],
        Subscript::Data { of, .. } => vec![Subscript::Data { of: of.clone(), plus: Linear::default() }],
    }
}

fn conditions(condition: &Condition) -> Vec<Condition> {
    match condition {
        Condition::And(a, b) | Condition::Or(a, b) => vec![(**a).clone(), (**b).clone()],
        Condition::Data(a, op, b) => {
            let left = expressions(a).into_iter().map(|a| Condition::Data(a, op, b.clone()));
            left.chain(expressions(b).into_iter().map(|b| Condition::Data(a.clone(), op, b))).collect()
        }
        Condition::Affine(a, op, b) => {
            let left = linears(a).into_iter().map(|a| Condition::Affine(a, op, b.clone()));
            left.chain(linears(b).into_iter().map(|b| Condition::Affine(a.clone(), op, b))).collect()
        }
        Condition::Residue(..) => vec![],
    }
}

fn expressions(expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::Number(..) | Expr::Scalar(_) | Expr::Index(..) => vec![],
        Expr::Read(array, subscripts) => {
            lists(subscripts, subscripts_of).into_iter().map(|it| Expr::Read(array.clone(), it)).collect()
        }
        Expr::Binary(op, a, b) => {
            let mut all = vec![(**a).clone(), (**b).clone()];
            all.extend(expressions(a).into_iter().map(|a| Expr::Binary(op, Box::new(a), b.clone())));
            all.extend(expressions(b).into_iter().map(|b| Expr::Binary(op, a.clone(), Box::new(b))));
            all
        }
        Expr::Call(function, operands) => {
            let mut all = operands.clone();
            all.extend(lists(operands, expressions).into_iter().map(|operands| Expr::Call(function, operands)));
            all
        }
        Expr::Ternary(condition, yes, no) => {
            let mut all = vec![(**yes).clone(), (**no).clone()];
            for condition in conditions(condition) {
                all.push(Expr::Ternary(Box::new(condition), yes.clone(), no.clone()));
            }
            all
        }
    }
}

/// The statement with 1 for the iterator.
fn substitute(statement: &Statement, iterator: &str) -> Statement {
    let linear = |it: &Linear| it.with(iterator, 1);
    match statement {
        Statement::For { before, iterator: inner, lower, upper, step, body } => Statement::For {
            before,
            iterator: inner.clone(),
            lower: linear(lower),
            upper: linear(upper),
            step: *step,
            body: match inner == iterator {
                true => body.clone(),
                false => body.iter().map(|it| substitute(it, iterator)).collect(),
            },
        },
        Statement::Ranged { iterator: inner, at, body } => Statement::Ranged {
            iterator: inner.clone(),
            at: linear(at),
            body: match inner == iterator {
                true => body.clone(),
                false => body.iter().map(|it| substitute(it, iterator)).collect(),
            },
        },
        Statement::Zeros { name, element, extents } => {
            Statement::Zeros { name: name.clone(), element: *element, extents: extents.iter().map(linear).collect() }
        }
        Statement::Jump { condition, word } => Statement::Jump { condition: in_condition(condition, iterator), word },
        Statement::If { condition, then, otherwise } => Statement::If {
            condition: in_condition(condition, iterator),
            then: then.iter().map(|it| substitute(it, iterator)).collect(),
            otherwise: otherwise.iter().map(|it| substitute(it, iterator)).collect(),
        },
        Statement::Assign { label, target, op, value } => Statement::Assign {
            label: label.clone(),
            target: match target {
                Target::Element(array, subscripts) => {
                    Target::Element(array.clone(), subscripts.iter().map(|it| in_subscript(it, iterator)).collect())
                }
                Target::Scalar(name) => Target::Scalar(name.clone()),
            },
            op,
            value: in_expr(value, iterator),
        },
    }
}

fn in_subscript(subscript: &Subscript, iterator: &str) -> Subscript {
    let mut changed = subscript.clone();
    match &mut changed {
        Subscript::Linear(of)
        | Subscript::Floor { of, .. }
        | Subscript::Mod { of, .. }
        | Subscript::Trunc { of, .. } => *of = of.with(iterator, 1),
        Subscript::Data { of, plus } => (*of, *plus) = (of.with(iterator, 1), plus.with(iterator, 1)),
        Subscript::Rows { row, place, .. } => (*row, *place) = (row.with(iterator, 1), place.with(iterator, 1)),
    }
    changed
}

fn in_condition(condition: &Condition, iterator: &str) -> Condition {
    let boxed = |it: &Condition| Box::new(in_condition(it, iterator));
    match condition {
        Condition::Affine(a, op, b) => Condition::Affine(a.with(iterator, 1), op, b.with(iterator, 1)),
        Condition::Data(a, op, b) => Condition::Data(in_expr(a, iterator), op, in_expr(b, iterator)),
        Condition::Residue(of, divisor, rest) => Condition::Residue(of.with(iterator, 1), *divisor, *rest),
        Condition::And(a, b) => Condition::And(boxed(a), boxed(b)),
        Condition::Or(a, b) => Condition::Or(boxed(a), boxed(b)),
    }
}

fn in_expr(expr: &Expr, iterator: &str) -> Expr {
    let boxed = |it: &Expr| Box::new(in_expr(it, iterator));
    match expr {
        Expr::Number(..) | Expr::Scalar(_) => expr.clone(),
        Expr::Index(element, linear) => Expr::Index(*element, linear.with(iterator, 1)),
        Expr::Read(array, subscripts) => {
            Expr::Read(array.clone(), subscripts.iter().map(|it| in_subscript(it, iterator)).collect())
        }
        Expr::Binary(op, a, b) => Expr::Binary(op, boxed(a), boxed(b)),
        Expr::Call(function, operands) => {
            Expr::Call(function, operands.iter().map(|it| in_expr(it, iterator)).collect())
        }
        Expr::Ternary(condition, yes, no) => {
            Expr::Ternary(Box::new(in_condition(condition, iterator)), boxed(yes), boxed(no))
        }
    }
}
