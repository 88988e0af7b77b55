//! `continue`, `break` and early `return`, rewritten into conditions around what they skip.
//!
//! Works on syntax alone. What follows a jump under a condition moves into the other branch, which keeps affine
//! conditions affine; where both branches may go on, a flag remembers which of them jumped.
//!
//! ```text
//! for i in 1:n                        for i in 1:n
//!     A[i] > 0 || continue      ->        if !(A[i] > 0)
//!     B[i] = sqrt(A[i])                   else B[i] = sqrt(A[i]) end
//! end                                 end
//! ```

use super::walk::{mentions, parts};
use crate::ast::{Block, Broadcast, Expr, ExprKind, GeneratorClause, Iteration, Operator};
use tessella_diagnostics::{Span, Spanned};

/// Made-up names begin with this; no name of the source does.
pub(super) const PRIVATE: char = '#';

/// What a flag is called that only `break`s set.
const BROKE: &str = "broke";

/// What a flag is called that jumps of several kinds set.
const JUMPED: &str = "jumped";

/// What the flag is called that a `return` in a loop sets.
const RETURNED: &str = "returned";

/// Whether the condition is that no `break` has set its flag.
pub(super) fn is_unbroken(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Prefix { operator, operand } if operator.value.symbol == "!" => {
            matches!(&operand.kind, ExprKind::Name(name) if name.starts_with(PRIVATE) && shown(name) == BROKE)
        }
        _ => false,
    }
}

/// Whether `target = value` sets a flag that everything behind it asks for.
pub(super) fn is_jump(target: &Expr, value: &Expr) -> bool {
    let ExprKind::Name(name) = &target.kind else { return false };
    is_private(name) && [BROKE, JUMPED, RETURNED].contains(&shown(name)) && value.kind == ExprKind::Bool(true)
}

/// Makes names that the source cannot have.
#[derive(Debug, Default)]
pub(super) struct Fresh(u32);

impl Fresh {
    pub(super) fn name(&mut self, stem: &str) -> String {
        self.0 += 1;
        format!("{PRIVATE}{stem}{PRIVATE}{}", self.0)
    }
}

pub(super) fn is_private(name: &str) -> bool {
    name.starts_with(PRIVATE)
}

/// What a made-up name is called in the typed tree.
pub(super) fn shown(name: &str) -> &str {
    match name.strip_prefix(PRIVATE) {
        Some(rest) => rest.split(PRIVATE).next().unwrap_or(rest),
        None => name,
    }
}

/// Whether the name is that of a result which a `return` in a loop sets.
pub(super) fn is_result(name: &str) -> bool {
    name.starts_with(PRIVATE) && shown(name) == "result"
}

/// Whether the body of a loop has a `break` of this loop.
pub(super) fn has_break(body: &[Expr]) -> bool {
    body.iter().any(|statement| holds(statement, &Jump::Break))
}

/// Whether the body of a loop has a `continue` of this loop.
pub(super) fn has_continue(body: &[Expr]) -> bool {
    body.iter().any(|statement| holds(statement, &Jump::Continue))
}

/// The body of a loop without `break` and `continue`: a `break` sets `going` to false.
pub(super) fn loop_without_jumps(body: &[Expr], going: &str, fresh: &mut Fresh) -> Block {
    let mut rewrite = Rewrite { fresh, target: Target::Loop { going: going.to_string() } };
    rewrite.block(body, &[])
}

/// The body of a function in which every `return` stands at the end of its branch.
pub(super) fn function_without_returns(body: &[Expr], fresh: &mut Fresh) -> Block {
    let mut ahead = body.iter().rev();
    let last_is_plain = ahead.next().is_none_or(|last| matches!(last.kind, ExprKind::Return(_)) || !returns(last));
    if last_is_plain && !ahead.any(returns) {
        return body.to_vec();
    }
    let mut values = vec![];
    body.iter().for_each(|statement| returned(statement, &mut values));
    let place = body.first().map_or(Span::new(tessella_diagnostics::FileId(0), 0..0), |first| first.span);
    let result = match values.as_slice() {
        all if all.iter().all(Option::is_none) => Returned::Nothing,
        // `return A` everywhere needs no variable.
        [Some(first), rest @ ..]
            if matches!(&first.kind, ExprKind::Name(name) if is_of_function(name, body))
                && rest.iter().all(|other| other.as_ref().is_some_and(|other| other.kind == first.kind)) =>
        {
            Returned::Always(first.clone())
        }
        _ => Returned::Variable(fresh.name("result")),
    };
    let returned = fresh.name(RETURNED);
    let in_loops = body.iter().any(returns_in_loop);
    let mut block = vec![];
    if in_loops {
        block.push(assign(&returned, boolean(false, place), place));
    }
    if let Returned::Variable(result) = &result {
        block.push(Expr { kind: ExprKind::Local(vec![name(result, place)]), span: place });
    }
    let mut rewrite = Rewrite { fresh, target: Target::Function { returned, result } };
    block.extend(rewrite.block(body, &[]));
    block
}

/// Whether the name means the same wherever the body mentions it: no scope inside has a variable of its own of this name.
fn is_of_function(name: &str, body: &[Expr]) -> bool {
    let own = super::scope::assigned_in_scope(body).iter().any(|assigned| assigned == name);
    (own || !super::scope::is_assigned(name, body)) && !body.iter().any(|statement| binds(statement, name))
}

/// Whether a scope inside has a variable of its own of this name: a loop's, a generator's, a `let`'s, a `local` one.
fn binds(expr: &Expr, name: &str) -> bool {
    let of = |iterations: &[Iteration]| iterations.iter().any(|it| mentions(&it.target, &[name]));
    let own = match &expr.kind {
        ExprKind::For { iterations, .. } => of(iterations),
        ExprKind::Generator { clauses, .. } => clauses.iter().any(|clause| match clause {
            GeneratorClause::For(iterations) => of(iterations),
            GeneratorClause::If(_) => false,
        }),
        ExprKind::Let { bindings, .. } | ExprKind::Local(bindings) => bindings.iter().any(|it| match &it.kind {
            ExprKind::Assign { target, .. } => mentions(target, &[name]),
            _ => mentions(it, &[name]),
        }),
        _ => false,
    };
    own || parts(expr).into_iter().any(|part| binds(part, name))
}

/// What leaves a block before its end.
pub(super) enum Jump {
    Break,
    Continue,
    Return,
}

enum Target {
    Loop { going: String },
    Function { returned: String, result: Returned },
}

/// How the value of a `return` in a loop reaches the end of the function.
enum Returned {
    Nothing,
    Always(Expr),
    /// What the checker keeps under this name.
    Variable(String),
}

struct Rewrite<'f> {
    fresh: &'f mut Fresh,
    target: Target,
}

impl Rewrite<'_> {
    /// `flags` are set to true by every jump.
    fn block(&mut self, statements: &[Expr], flags: &[String]) -> Block {
        let mut block = vec![];
        for (position, statement) in statements.iter().enumerate() {
            if !self.jumps(statement) {
                block.push(statement.clone());
                continue;
            }
            self.jumping(statement, &statements[position + 1..], flags, &mut block);
            return block;
        }
        block
    }

    /// A statement with a jump in it, and what follows it.
    fn jumping(&mut self, statement: &Expr, rest: &[Expr], flags: &[String], block: &mut Block) {
        let span = statement.span;
        match &statement.kind {
            ExprKind::Break | ExprKind::Continue | ExprKind::Return(_) => self.jump(statement, flags, block),
            ExprKind::Block(body) => {
                let joined: Block = body.iter().chain(rest).cloned().collect();
                block.extend(self.block(&joined, flags));
            }
            ExprKind::MacroCall { name, arguments } if arguments.len() == 1 => {
                let inside = push_inside(name, &arguments[0]);
                self.jumping(&inside, rest, flags, block);
            }
            ExprKind::And(condition, then) => {
                // `a && b && continue` asks for both at once.
                let (mut condition, mut then) = ((**condition).clone(), &**then);
                while let ExprKind::And(second, last) = &then.kind {
                    let span = condition.span.to(second.span);
                    condition = Expr { kind: ExprKind::And(Box::new(condition), second.clone()), span };
                    then = last;
                }
                let then = std::slice::from_ref(then);
                // As the last statement its value is the condition's.
                let value = self.last_value(false, rest, span);
                self.branches(condition, then, &value, rest, flags, span, block);
            }
            ExprKind::Or(condition, otherwise) => {
                let (mut condition, mut otherwise) = ((**condition).clone(), &**otherwise);
                while let ExprKind::Or(second, last) = &otherwise.kind {
                    let span = condition.span.to(second.span);
                    condition = Expr { kind: ExprKind::Or(Box::new(condition), second.clone()), span };
                    otherwise = last;
                }
                let otherwise = std::slice::from_ref(otherwise);
                let value = self.last_value(true, rest, span);
                self.branches(condition, &value, otherwise, rest, flags, span, block);
            }
            ExprKind::Ternary { condition, yes, no } => {
                let (yes, no) = (std::slice::from_ref(&**yes), std::slice::from_ref(&**no));
                self.branches((**condition).clone(), yes, no, rest, flags, span, block);
            }
            ExprKind::If { branches, otherwise } => match branches.split_first() {
                None => {
                    let joined: Block = otherwise.iter().flatten().chain(rest).cloned().collect();
                    block.extend(self.block(&joined, flags));
                }
                Some(((condition, then), others)) => {
                    let no: Block = match others.is_empty() {
                        true => otherwise.clone().unwrap_or_default(),
                        false => {
                            let kind = ExprKind::If { branches: others.to_vec(), otherwise: otherwise.clone() };
                            vec![Expr { kind, span }]
                        }
                    };
                    self.branches(condition.clone(), then, &no, rest, flags, span, block);
                }
            },
            ExprKind::Let { bindings, body } => {
                let (bindings, body) = (bindings.clone(), body.clone());
                let flag = self.flag(&body, &[]);
                self.flagged(flag, rest, flags, span, block, |rewrite, flags| {
                    let body = rewrite.block(&body, flags);
                    vec![Expr { kind: ExprKind::Let { bindings, body }, span }]
                });
            }
            ExprKind::For { iterations, body } => {
                let kind = ExprKind::For { iterations: iterations.clone(), body: self.in_loop(body) };
                self.after_loop(Expr { kind, span }, rest, flags, block);
            }
            ExprKind::While { condition, body } => {
                let kind = ExprKind::While { condition: condition.clone(), body: self.in_loop(body) };
                self.after_loop(Expr { kind, span }, rest, flags, block);
            }
            // A jump inside an expression: the checker reports it.
            _ => {
                block.push(statement.clone());
                block.extend(self.block(rest, flags));
            }
        }
    }

    fn last_value(&self, value: bool, rest: &[Expr], span: Span) -> Block {
        match self.target {
            Target::Function { .. } if rest.is_empty() => vec![boolean(value, span)],
            Target::Function { .. } | Target::Loop { .. } => vec![],
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one `if` and what follows it")]
    fn branches(
        &mut self,
        condition: Expr,
        then: &[Expr],
        otherwise: &[Expr],
        rest: &[Expr],
        flags: &[String],
        span: Span,
        block: &mut Block,
    ) {
        let with_rest = |branch: &[Expr]| -> Block { branch.iter().chain(rest).cloned().collect() };
        let (then_ends, other_ends) = (self.ends(then), self.ends(otherwise));
        let (then, otherwise) = if then_ends || rest.is_empty() {
            (self.block(then, flags), self.block(&with_rest(otherwise), flags))
        } else if other_ends {
            (self.block(&with_rest(then), flags), self.block(otherwise, flags))
        } else {
            let (then, otherwise) = (then.to_vec(), otherwise.to_vec());
            let flag = self.flag(&then, &otherwise);
            self.flagged(flag, rest, flags, span, block, |rewrite, flags| {
                let (then, otherwise) = (rewrite.block(&then, flags), rewrite.block(&otherwise, flags));
                vec![if_else(condition, then, otherwise, span)]
            });
            return;
        };
        block.push(if_else(condition, then, otherwise, span));
    }

    /// The name of a flag that says which of these jumped.
    fn flag(&mut self, then: &[Expr], otherwise: &[Expr]) -> String {
        let goes_on = has_continue(then) || has_continue(otherwise);
        match self.target {
            Target::Loop { .. } if !goes_on => self.fresh.name(BROKE),
            Target::Loop { .. } | Target::Function { .. } => self.fresh.name(JUMPED),
        }
    }

    /// A statement that jumps or goes on, and what follows it, under a flag.
    fn flagged(
        &mut self,
        flag: String,
        rest: &[Expr],
        flags: &[String],
        span: Span,
        block: &mut Block,
        statement: impl FnOnce(&mut Self, &[String]) -> Block,
    ) {
        let mut all = flags.to_vec();
        all.push(flag.clone());
        block.push(assign(&flag, boolean(false, span), span));
        block.extend(statement(self, &all));
        let jumped = self.give_back(flags, span);
        let rest = self.block(rest, flags);
        block.push(if_else(name(&flag, span), jumped, rest, span));
    }

    /// What the end of a function does after a jump that a flag remembers.
    fn give_back(&self, flags: &[String], span: Span) -> Block {
        match &self.target {
            Target::Function { result, .. } if flags.is_empty() => {
                let value = match result {
                    Returned::Nothing => None,
                    Returned::Always(value) => Some(Box::new(value.clone())),
                    Returned::Variable(result) => Some(Box::new(name(result, span))),
                };
                vec![Expr { kind: ExprKind::Return(value), span }]
            }
            Target::Function { .. } | Target::Loop { .. } => vec![],
        }
    }

    fn jump(&mut self, jump: &Expr, flags: &[String], block: &mut Block) {
        let span = jump.span;
        match (&self.target, &jump.kind) {
            (Target::Loop { going }, ExprKind::Break) => block.push(assign(going, boolean(false, span), span)),
            (Target::Function { .. }, ExprKind::Return(_)) if flags.is_empty() => {
                block.push(jump.clone());
                return;
            }
            (Target::Function { result, .. }, ExprKind::Return(value)) => {
                keep_result(result, value.as_deref(), span, block)
            }
            _ => {}
        }
        for flag in flags {
            block.push(assign(flag, boolean(true, span), span));
        }
    }

    /// The body of a loop inside a function, with `return` as a `break` that is remembered.
    fn in_loop(&mut self, body: &[Expr]) -> Block {
        body.iter().map(|statement| self.in_loop_statement(statement)).collect()
    }

    fn in_loop_statement(&mut self, statement: &Expr) -> Expr {
        if !returns(statement) {
            return statement.clone();
        }
        let span = statement.span;
        let mut one = |expr: &Expr| Box::new(self.in_loop_statement(expr));
        let kind = match &statement.kind {
            ExprKind::Return(value) => {
                let Target::Function { returned, result } = &self.target else { return statement.clone() };
                let mut block = vec![];
                keep_result(result, value.as_deref(), span, &mut block);
                block.push(assign(returned, boolean(true, span), span));
                block.push(Expr { kind: ExprKind::Break, span });
                ExprKind::Block(block)
            }
            ExprKind::Block(body) => ExprKind::Block(self.in_loop(body)),
            ExprKind::MacroCall { name, arguments } => {
                ExprKind::MacroCall { name: name.clone(), arguments: self.in_loop(arguments) }
            }
            ExprKind::And(left, right) => ExprKind::And(left.clone(), one(right)),
            ExprKind::Or(left, right) => ExprKind::Or(left.clone(), one(right)),
            ExprKind::Ternary { condition, yes, no } => {
                ExprKind::Ternary { condition: condition.clone(), yes: one(yes), no: one(no) }
            }
            ExprKind::If { branches, otherwise } => ExprKind::If {
                branches: branches.iter().map(|(condition, body)| (condition.clone(), self.in_loop(body))).collect(),
                otherwise: otherwise.as_ref().map(|body| self.in_loop(body)),
            },
            ExprKind::Let { bindings, body } => ExprKind::Let { bindings: bindings.clone(), body: self.in_loop(body) },
            ExprKind::For { .. } | ExprKind::While { .. } => {
                let inner = match &statement.kind {
                    ExprKind::For { iterations, body } => {
                        ExprKind::For { iterations: iterations.clone(), body: self.in_loop(body) }
                    }
                    ExprKind::While { condition, body } => {
                        ExprKind::While { condition: condition.clone(), body: self.in_loop(body) }
                    }
                    other => other.clone(),
                };
                let Target::Function { returned, .. } = &self.target else { return statement.clone() };
                // The loop around ends, too.
                let leave = vec![Expr { kind: ExprKind::Break, span }];
                ExprKind::Block(vec![Expr { kind: inner, span }, if_else(name(returned, span), leave, vec![], span)])
            }
            other => other.clone(),
        };
        Expr { kind, span }
    }

    fn after_loop(&mut self, repeated: Expr, rest: &[Expr], flags: &[String], block: &mut Block) {
        let span = repeated.span;
        block.push(repeated);
        let Target::Function { returned, .. } = &self.target else {
            block.extend(self.block(rest, flags));
            return;
        };
        let returned = name(returned, span);
        let mut leave: Block = flags.iter().map(|flag| assign(flag, boolean(true, span), span)).collect();
        leave.extend(self.give_back(flags, span));
        let rest = self.block(rest, flags);
        block.push(if_else(returned, leave, rest, span));
    }

    fn jumps(&self, statement: &Expr) -> bool {
        match &self.target {
            Target::Loop { .. } => holds(statement, &Jump::Break) || holds(statement, &Jump::Continue),
            Target::Function { .. } => returns(statement),
        }
    }

    /// Whether the statements never go on to what follows them.
    fn ends(&self, statements: &[Expr]) -> bool {
        statements.iter().any(|statement| match &statement.kind {
            ExprKind::Break | ExprKind::Continue => matches!(self.target, Target::Loop { .. }),
            ExprKind::Return(_) => matches!(self.target, Target::Function { .. }),
            ExprKind::Block(body) => self.ends(body),
            ExprKind::If { branches, otherwise: Some(otherwise) } => {
                branches.iter().all(|(_, body)| self.ends(body)) && self.ends(otherwise)
            }
            ExprKind::MacroCall { arguments, .. } => arguments.len() == 1 && self.ends(arguments),
            _ => false,
        })
    }
}

/// The value of a `return` that is not the end of the function is kept for it.
fn keep_result(result: &Returned, value: Option<&Expr>, span: Span, block: &mut Block) {
    match result {
        Returned::Nothing | Returned::Always(_) => {}
        Returned::Variable(result) => {
            let value = value.cloned().unwrap_or_else(|| name("nothing", span));
            block.push(kept(result, &value, span));
        }
    }
}

/// `result = value`, in each branch of a value that has branches: they may be of several kinds.
fn kept(result: &str, value: &Expr, span: Span) -> Expr {
    let block = |body: &[Expr]| -> Block {
        match body.split_last() {
            Some((last, rest)) => rest.iter().cloned().chain([kept(result, last, last.span)]).collect(),
            None => vec![kept(result, &name("nothing", span), span)],
        }
    };
    let kind = match &value.kind {
        ExprKind::Ternary { condition, yes, no } => ExprKind::If {
            branches: vec![((**condition).clone(), vec![kept(result, yes, yes.span)])],
            otherwise: Some(vec![kept(result, no, no.span)]),
        },
        ExprKind::If { branches, otherwise } => ExprKind::If {
            branches: branches.iter().map(|(condition, body)| (condition.clone(), block(body))).collect(),
            otherwise: Some(block(otherwise.as_deref().unwrap_or_default())),
        },
        ExprKind::Block(body) if !body.is_empty() => ExprKind::Block(block(body)),
        _ => return assign(result, value.clone(), span),
    };
    Expr { kind, span }
}

/// Whether the statement holds a jump of this kind that belongs to the loop or function around it.
pub(super) fn holds(expr: &Expr, jump: &Jump) -> bool {
    let any = |body: &[Expr]| body.iter().any(|statement| holds(statement, jump));
    match &expr.kind {
        ExprKind::Break => matches!(jump, Jump::Break),
        ExprKind::Continue => matches!(jump, Jump::Continue),
        ExprKind::Return(_) => matches!(jump, Jump::Return),
        ExprKind::For { body, .. } | ExprKind::While { body, .. } => matches!(jump, Jump::Return) && any(body),
        ExprKind::Block(body) | ExprKind::Let { body, .. } => any(body),
        ExprKind::MacroCall { arguments, .. } => any(arguments),
        ExprKind::If { branches, otherwise } => {
            branches.iter().any(|(_, body)| any(body)) || otherwise.as_deref().is_some_and(any)
        }
        ExprKind::And(_, right) | ExprKind::Or(_, right) => holds(right, jump),
        ExprKind::Ternary { yes, no, .. } => holds(yes, jump) || holds(no, jump),
        // A jump deeper in an expression is reported where the expression is checked.
        _ => false,
    }
}

fn returns(expr: &Expr) -> bool {
    holds(expr, &Jump::Return)
}

fn returns_in_loop(expr: &Expr) -> bool {
    let any = |body: &[Expr]| body.iter().any(returns_in_loop);
    match &expr.kind {
        ExprKind::For { .. } | ExprKind::While { .. } => returns(expr),
        ExprKind::Block(body) | ExprKind::Let { body, .. } => any(body),
        ExprKind::MacroCall { arguments, .. } => any(arguments),
        ExprKind::If { branches, otherwise } => {
            branches.iter().any(|(_, body)| any(body)) || otherwise.as_deref().is_some_and(any)
        }
        ExprKind::And(_, right) | ExprKind::Or(_, right) => returns_in_loop(right),
        ExprKind::Ternary { yes, no, .. } => returns_in_loop(yes) || returns_in_loop(no),
        // No loop is a part of any other expression.
        _ => false,
    }
}

/// What the `return`s of a statement give back.
fn returned(expr: &Expr, into: &mut Vec<Option<Expr>>) {
    match &expr.kind {
        ExprKind::Return(value) => into.push(
            value.as_deref().filter(|value| !matches!(&value.kind, ExprKind::Name(name) if name == "nothing")).cloned(),
        ),
        ExprKind::For { body, .. }
        | ExprKind::While { body, .. }
        | ExprKind::Block(body)
        | ExprKind::Let { body, .. }
        | ExprKind::MacroCall { arguments: body, .. } => body.iter().for_each(|statement| returned(statement, into)),
        ExprKind::If { branches, otherwise } => {
            let bodies = branches.iter().map(|(_, body)| body).chain(otherwise);
            bodies.flatten().for_each(|statement| returned(statement, into));
        }
        ExprKind::And(_, right) | ExprKind::Or(_, right) => returned(right, into),
        ExprKind::Ternary { yes, no, .. } => {
            returned(yes, into);
            returned(no, into);
        }
        // As in `holds`.
        _ => {}
    }
}

/// `@inbounds begin a; b end` as `@inbounds a; @inbounds b`.
fn push_inside(name: &crate::ast::Name, inner: &Expr) -> Expr {
    let span = inner.span;
    let wrap = |expr: &Expr| match &expr.kind {
        ExprKind::Break | ExprKind::Continue => expr.clone(),
        _ => {
            let kind = ExprKind::MacroCall { name: name.clone(), arguments: vec![expr.clone()] };
            Expr { kind, span: expr.span }
        }
    };
    let all = |body: &[Expr]| body.iter().map(wrap).collect::<Block>();
    let one = |expr: &Expr| Box::new(wrap(expr));
    let kind = match &inner.kind {
        ExprKind::Block(body) => ExprKind::Block(all(body)),
        ExprKind::If { branches, otherwise } => ExprKind::If {
            branches: branches.iter().map(|(condition, body)| (wrap(condition), all(body))).collect(),
            otherwise: otherwise.as_deref().map(all),
        },
        ExprKind::And(left, right) => ExprKind::And(one(left), one(right)),
        ExprKind::Or(left, right) => ExprKind::Or(one(left), one(right)),
        ExprKind::Ternary { condition, yes, no } => {
            ExprKind::Ternary { condition: one(condition), yes: one(yes), no: one(no) }
        }
        ExprKind::Let { bindings, body } => ExprKind::Let { bindings: bindings.clone(), body: all(body) },
        ExprKind::For { iterations, body } => ExprKind::For { iterations: iterations.clone(), body: all(body) },
        ExprKind::While { condition, body } => ExprKind::While { condition: one(condition), body: all(body) },
        ExprKind::Return(Some(value)) => ExprKind::Return(Some(one(value))),
        other => other.clone(),
    };
    Expr { kind, span }
}

pub(super) fn name(name: &str, span: Span) -> Expr {
    Expr { kind: ExprKind::Name(name.to_string()), span }
}

pub(super) fn boolean(value: bool, span: Span) -> Expr {
    Expr { kind: ExprKind::Bool(value), span }
}

pub(super) fn assign(target: &str, value: Expr, span: Span) -> Expr {
    let kind = ExprKind::Assign {
        operator: None,
        broadcast: Broadcast::No,
        target: Box::new(name(target, span)),
        value: Box::new(value),
    };
    Expr { kind, span }
}

pub(super) fn if_else(condition: Expr, then: Block, otherwise: Block, span: Span) -> Expr {
    // An empty `then` reads better the other way round.
    let (condition, then, otherwise) = match then.is_empty() && !otherwise.is_empty() {
        true => (not(condition), otherwise, vec![]),
        false => (condition, then, otherwise),
    };
    let otherwise = (!otherwise.is_empty()).then_some(otherwise);
    Expr { kind: ExprKind::If { branches: vec![(condition, then)], otherwise }, span }
}

pub(super) fn not(operand: Expr) -> Expr {
    let span = operand.span;
    let operator = Spanned { value: Operator { symbol: "!".into(), dotted: false }, span };
    Expr { kind: ExprKind::Prefix { operator, operand: Box::new(operand) }, span }
}

pub(super) fn infix(symbol: &str, left: Expr, right: Expr, span: Span) -> Expr {
    let operator = Spanned { value: Operator { symbol: symbol.into(), dotted: false }, span };
    Expr { kind: ExprKind::Infix { operator, left: Box::new(left), right: Box::new(right) }, span }
}

pub(super) fn comparison(symbol: &str, left: Expr, right: Expr, span: Span) -> Expr {
    let operator = Spanned { value: Operator { symbol: symbol.into(), dotted: false }, span };
    Expr { kind: ExprKind::Comparison { operands: vec![left, right], operators: vec![operator] }, span }
}
