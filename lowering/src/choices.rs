//! Branches of a stencil's point that become values: what they set and store is one value of the point, which conditions on data choose.
//!
//! ```text
//! for t, j, i                                   for t, j, i
//!     k = u[i-1, j] + u[i+1, j]                     k = u[i-1, j] + u[i+1, j]
//!     if u[i, j] == 1 && k > 3                      v[i, j] = u[i, j] == 1 && k > 3 ? 0 : u[i, j]
//!         v[i, j] = 0                      ->
//!     else
//!         v[i, j] = u[i, j]
//!     end
//! ```
//!
//! Of two statements under opposite conditions on data, neither says where it writes: no tile of time takes them, and nothing that is
//! written on a condition is put in place where it is used. As one value they are like any other point. A variable that some branch leaves alone keeps its value, and so does an
//! element, which is then read and written again: `if !solid[i, j]; v[i, j] = x; end` is `v[i, j] = !solid[i, j] ? x : v[i, j]`, where each point has an element of its own.
//!
//! This is done where a loop around only repeats the others, as steps of time do: elsewhere statements gain nothing by it. Conditions on iterators and sizes stay, since
//! they divide the points into parts with one statement each.

use crate::expr::zero;
use crate::late::walk;
use crate::looked::alike;
use crate::typed::{loads, operators, select};
use std::collections::BTreeSet;
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, Function, Label, Local, LocalId, LoopId, Mode, NamedBy, Role, Statement, StatementKind, Type,
};
use tessella_scalar::{BinaryOp, ScalarType, UnaryOp};

/// A condition of more operators is evaluated once for all that it chooses.
const MOST_OPERATORS: usize = 4;

/// Where branches leave more elements alone than this, to read and write all of them would take longer than to ask.
const MOST_LEFT_ALONE: usize = 4;

/// The function with values in place of branches; `None` if it has none that become any.
pub(crate) fn rewrite(function: &Function) -> Option<Function> {
    let mut choices = Choices {
        locals: function.locals.clone(),
        data: of_data(function),
        around: vec![],
        points: vec![],
        known: function.arguments.iter().copied().collect(),
        has_changed: false,
    };
    let body = choices.block(&function.body);
    choices.has_changed.then(|| Function { body, locals: choices.locals, ..function.clone() })
}

struct Choices {
    locals: Vec<Local>,
    /// Variables that depend on data: on elements of arrays, or on floating-point numbers.
    data: BTreeSet<LocalId>,
    /// The loops around, outermost first, with their iterators.
    around: Vec<(LoopId, LocalId)>,
    /// The iterators that tell the points of the innermost one's body apart, if other loops only repeat these; else none.
    points: Vec<LocalId>,
    /// Variables that have a value here, whatever branches were taken.
    known: BTreeSet<LocalId>,
    has_changed: bool,
}

/// A statement of a branch.
struct Part<'a> {
    target: Target<'a>,
    value: &'a Expr,
    label: Option<&'a Label>,
    mode: Mode,
    span: Span,
}

#[derive(Clone, Copy)]
enum Target<'a> {
    Variable(LocalId),
    Element(LocalId, &'a [Expr]),
}

/// The values of a statement of one branch, or of one of each.
enum Chosen<'a> {
    Then(&'a Part<'a>),
    Otherwise(&'a Part<'a>),
    Both(&'a Part<'a>, &'a Part<'a>),
}

impl Choices {
    fn block(&mut self, block: &Block) -> Block {
        let mut all = vec![];
        for statement in block {
            let span = statement.span;
            let kind = match &statement.kind {
                StatementKind::For { id, iterator, range, mode, body } => {
                    let known = self.known.clone();
                    self.known.insert(*iterator);
                    self.around.push((*id, *iterator));
                    let points = std::mem::replace(&mut self.points, points(body, &self.around));
                    let had_changed = std::mem::take(&mut self.has_changed);
                    let mut body = self.block(body);
                    if self.has_changed {
                        self.in_versions(&mut body, *id);
                    }
                    self.has_changed |= had_changed;
                    self.points = points;
                    self.around.pop();
                    self.known = known;
                    StatementKind::For { id: *id, iterator: *iterator, range: range.clone(), mode: *mode, body }
                }
                StatementKind::If { condition, then, otherwise } => {
                    let before = self.known.clone();
                    let then = self.block(then);
                    let after_then = std::mem::replace(&mut self.known, before.clone());
                    let otherwise = self.block(otherwise);
                    let after_otherwise = std::mem::replace(&mut self.known, before);
                    if let Some(chosen) = self.chosen(condition, &then, &otherwise, span) {
                        self.has_changed = true;
                        all.extend(chosen);
                        continue;
                    }
                    self.known = after_then.intersection(&after_otherwise).copied().collect();
                    StatementKind::If { condition: condition.clone(), then, otherwise }
                }
                StatementKind::Set { target, .. } => {
                    self.known.insert(*target);
                    statement.kind.clone()
                }
                other => other.clone(),
            };
            all.push(Statement { kind, span });
        }
        all
    }

    /// What the branches become, if it is values.
    fn chosen(&mut self, condition: &Expr, then: &Block, otherwise: &Block, span: Span) -> Option<Block> {
        let &(innermost, _) = self.around.last()?;
        if self.points.is_empty() || !self.is_of_data(condition) {
            return None;
        }
        let [then, otherwise] = [self.parts(then, innermost)?, self.parts(otherwise, innermost)?];
        let all = together(&then, &otherwise);
        let of_one = all.iter().filter(|it| matches!(it, Chosen::Then(part) | Chosen::Otherwise(part) if matches!(part.target, Target::Element(..))));
        if of_one.count() > MOST_LEFT_ALONE {
            return None;
        }
        let mut chosen = vec![];
        let mut condition = condition.clone();
        let writes_what_it_reads = then.iter().chain(&otherwise).any(|part| match part.target {
            Target::Variable(local) => mentions(&condition, local),
            Target::Element(array, _) => loads_from(&condition, array),
        });
        if all.len() > 1 && (writes_what_it_reads || operators(&condition) > MOST_OPERATORS) {
            let target = self.new_condition(innermost, span);
            chosen.push(Statement {
                kind: StatementKind::Set { target, value: condition.clone(), label: None, mode: Mode::default() },
                span,
            });
            condition = Expr { kind: ExprKind::Local(target), ty: ScalarType::Bool, span };
        }
        for part in all {
            let label = match part {
                Chosen::Both(Part { label: Some(_), .. }, Part { label: Some(_), .. }) => return None,
                Chosen::Both(then, otherwise) => then.label.or(otherwise.label),
                Chosen::Then(one) | Chosen::Otherwise(one) => one.label,
            };
            let (of, yes, no) = match part {
                Chosen::Both(then, otherwise) => (then, then.value.clone(), otherwise.value.clone()),
                Chosen::Then(then) => (then, then.value.clone(), self.left_alone(then)?),
                Chosen::Otherwise(otherwise) => (otherwise, self.left_alone(otherwise)?, otherwise.value.clone()),
            };
            let value = select(condition.clone(), yes, no);
            let kind = match of.target {
                Target::Variable(target) => {
                    self.known.insert(target);
                    StatementKind::Set { target, value, label: None, mode: of.mode }
                }
                Target::Element(array, subscripts) => {
                    let subscripts = subscripts.to_vec();
                    StatementKind::Store { array, subscripts, value, label: label.cloned(), mode: of.mode }
                }
            };
            chosen.push(Statement { kind, span: of.span });
        }
        Some(chosen)
    }

    /// The value of what the other branch does not set: the variable's or element's own, or any where a variable has none, since the frontend
    /// refuses reads of variables that some path leaves without a value (`E0202`). `None` for elements that points share.
    fn left_alone(&self, part: &Part<'_>) -> Option<Expr> {
        let ty = part.value.ty;
        let kind = match part.target {
            Target::Variable(local) if self.known.contains(&local) => ExprKind::Local(local),
            Target::Variable(_) => ExprKind::Constant(zero(ty)),
            Target::Element(array, subscripts) if self.is_of_point(subscripts) => {
                ExprKind::Load { array, subscripts: subscripts.to_vec(), inbounds: part.mode.inbounds }
            }
            Target::Element(..) => return None,
        };
        Some(Expr { kind, ty, span: part.span })
    }

    /// Whether subscripts name each iterator that tells points apart, and read nothing.
    fn is_of_point(&self, subscripts: &[Expr]) -> bool {
        self.points.iter().all(|&iterator| subscripts.iter().any(|it| mentions(it, iterator)))
            && !subscripts.iter().any(loads)
    }

    /// Gives each assignment of a variable that is new in each iteration of the loop a variable of its own, where all of them stand in its body
    /// one after the other: values that are set once are put in place where they are used.
    fn in_versions(&mut self, body: &mut Block, of: LoopId) {
        let at_top = |local: LocalId, body: &Block| {
            let sets = |it: &&Statement| matches!(it.kind, StatementKind::Set { target, .. } if target == local);
            body.iter().filter(sets).count()
        };
        let is_new = |local: &Local| matches!(local.role, Role::Variable(Some(loop_of)) if loop_of == of);
        let new = self.locals.iter().enumerate().filter(|(_, local)| is_new(local));
        let new: Vec<LocalId> = new.map(|(at, _)| LocalId(at as u32)).collect();
        for local in new {
            let count = at_top(local, body);
            if count == 0 || count != sets_of(body, local) {
                continue;
            }
            self.locals[local.0 as usize].role = Role::Value(Some(of));
            let mut version = None;
            for statement in body.iter_mut() {
                if let Some(version) = version {
                    rename_reads(&mut statement.kind, local, version);
                }
                if let StatementKind::Set { target, .. } = &mut statement.kind
                    && *target == local
                {
                    if version.is_some() {
                        let copy = self.locals[local.0 as usize].clone();
                        *target = LocalId(self.locals.len() as u32);
                        self.locals.push(copy);
                    }
                    version = Some(*target);
                }
            }
        }
    }

    /// A variable for a condition, new in each iteration of the loop.
    fn new_condition(&mut self, innermost: LoopId, span: Span) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        self.locals.push(Local {
            name: "chosen".to_string(),
            named: NamedBy::Tessella,
            ty: Type::Scalar(ScalarType::Bool),
            role: Role::Value(Some(innermost)),
            span,
        });
        self.data.insert(id);
        id
    }

    /// The statements of a branch, if they only set variables that are new in each iteration of the loop, and elements of arrays.
    fn parts<'a>(&self, block: &'a Block, innermost: LoopId) -> Option<Vec<Part<'a>>> {
        let part = |statement: &'a Statement| {
            let (target, value, label, mode) = match &statement.kind {
                StatementKind::Set { target, value, label: None, mode } => {
                    let role = self.locals[target.0 as usize].role;
                    let is_new = matches!(role, Role::Variable(Some(of)) | Role::Value(Some(of)) if of == innermost);
                    (is_new.then_some(Target::Variable(*target))?, value, None, *mode)
                }
                StatementKind::Store { array, subscripts, value, label, mode } => {
                    (Target::Element(*array, subscripts), value, label.as_ref(), *mode)
                }
                _ => return None,
            };
            Some(Part { target, value, label, mode, span: statement.span })
        };
        block.iter().map(part).collect()
    }

    /// Whether all that a condition consists of depends on data.
    fn is_of_data(&self, condition: &Expr) -> bool {
        match &condition.kind {
            ExprKind::Binary(BinaryOp::AndAlso | BinaryOp::OrElse, left, right) => {
                self.is_of_data(left) && self.is_of_data(right)
            }
            ExprKind::Unary(UnaryOp::Not, operand) => self.is_of_data(operand),
            _ => depends(condition, &self.data),
        }
    }
}

/// The statements of two branches as one sequence, in which each keeps the order of its own.
fn together<'a>(then: &'a [Part<'a>], otherwise: &'a [Part<'a>]) -> Vec<Chosen<'a>> {
    let (mut all, mut right) = (vec![], otherwise);
    for (at, first) in then.iter().enumerate() {
        let is_alone = |second: &Part<'_>| !then[at..].iter().any(|it| has_target_of(it, second));
        while let [second, behind @ ..] = right
            && is_alone(second)
        {
            all.push(Chosen::Otherwise(second));
            right = behind;
        }
        match right {
            [second, behind @ ..] if has_target_of(first, second) => {
                all.push(Chosen::Both(first, second));
                right = behind;
            }
            _ => all.push(Chosen::Then(first)),
        }
    }
    all.extend(right.iter().map(Chosen::Otherwise));
    all
}

/// The iterators of the loops around a body that tell its points apart, if there are loops that only repeat these; else none.
fn points(body: &Block, around: &[(LoopId, LocalId)]) -> Vec<LocalId> {
    let telling = around.iter().map(|(_, iterator)| *iterator).filter(|&iterator| says(body, iterator));
    let telling: Vec<LocalId> = telling.collect();
    if telling.len() < around.len() { telling } else { vec![] }
}

fn says(body: &Block, iterator: LocalId) -> bool {
    let mentions = |expr: &Expr| mentions(expr, iterator);
    body.iter().any(|statement| match &statement.kind {
        StatementKind::For { range, body, .. } => {
            mentions(&range.start) || mentions(&range.stop) || says(body, iterator)
        }
        StatementKind::If { condition, then, otherwise } => {
            mentions(condition) || says(then, iterator) || says(otherwise, iterator)
        }
        StatementKind::Set { value, .. } => mentions(value),
        StatementKind::Store { subscripts, value, .. } => mentions(value) || subscripts.iter().any(mentions),
        StatementKind::Allocate { extents, .. } => extents.iter().any(mentions),
        StatementKind::Require { condition, .. } => mentions(condition),
    })
}

/// How often a variable is set, loops and branches included.
fn sets_of(body: &Block, local: LocalId) -> usize {
    let mut count = 0;
    walk(body, &mut |kind, _| {
        count += usize::from(matches!(kind, StatementKind::Set { target, .. } if *target == local));
    });
    count
}

/// Has a statement read another variable in place of one.
fn rename_reads(kind: &mut StatementKind, from: LocalId, to: LocalId) {
    let in_block = |block: &mut Block| block.iter_mut().for_each(|it| rename_reads(&mut it.kind, from, to));
    match kind {
        StatementKind::For { range, body, .. } => {
            rename(&mut range.start, from, to);
            rename(&mut range.stop, from, to);
            in_block(body);
        }
        StatementKind::If { condition, then, otherwise } => {
            rename(condition, from, to);
            in_block(then);
            in_block(otherwise);
        }
        StatementKind::Set { value, .. } => rename(value, from, to),
        StatementKind::Store { subscripts, value, .. } => {
            subscripts.iter_mut().for_each(|it| rename(it, from, to));
            rename(value, from, to);
        }
        StatementKind::Allocate { extents, .. } => extents.iter_mut().for_each(|it| rename(it, from, to)),
        StatementKind::Require { condition, .. } => rename(condition, from, to),
    }
}

fn rename(expr: &mut Expr, from: LocalId, to: LocalId) {
    if let ExprKind::Local(local) = &mut expr.kind
        && *local == from
    {
        *local = to;
    }
    expr.operands_mut().into_iter().for_each(|operand| rename(operand, from, to));
}

/// Whether two statements set the same variable, or the same element.
fn has_target_of(first: &Part<'_>, second: &Part<'_>) -> bool {
    first.mode == second.mode
        && match (first.target, second.target) {
            (Target::Variable(one), Target::Variable(other)) => one == other,
            (Target::Element(a, of_a), Target::Element(b, of_b)) => {
                a == b && of_a.len() == of_b.len() && of_a.iter().zip(of_b).all(|(one, other)| alike(one, other))
            }
            (_, _) => false,
        }
}

/// The variables whose values depend on data.
fn of_data(function: &Function) -> BTreeSet<LocalId> {
    let is_float = |local: &Local| matches!(local.ty, Type::Scalar(ty) if ty.is_float());
    let floats = function.locals.iter().enumerate().filter(|(_, local)| is_float(local));
    let mut data: BTreeSet<LocalId> = floats.map(|(at, _)| LocalId(at as u32)).collect();
    loop {
        let before = data.len();
        learn(&function.body, false, &mut data);
        if data.len() == before {
            return data;
        }
    }
}

/// Adds the variables that statements set to what depends on data, or under conditions that do.
fn learn(block: &Block, under_data: bool, data: &mut BTreeSet<LocalId>) {
    for statement in block {
        match &statement.kind {
            StatementKind::For { body, .. } => learn(body, under_data, data),
            StatementKind::If { condition, then, otherwise } => {
                let under_data = under_data || depends(condition, data);
                learn(then, under_data, data);
                learn(otherwise, under_data, data);
            }
            StatementKind::Set { target, value, .. } if under_data || depends(value, data) => {
                data.insert(*target);
            }
            StatementKind::Set { .. }
            | StatementKind::Store { .. }
            | StatementKind::Allocate { .. }
            | StatementKind::Require { .. } => {}
        }
    }
}

fn depends(expr: &Expr, data: &BTreeSet<LocalId>) -> bool {
    expr.any(&|it| match it.kind {
        ExprKind::Load { .. } => true,
        ExprKind::Local(local) => data.contains(&local),
        _ => it.ty.is_float(),
    })
}

fn mentions(expr: &Expr, local: LocalId) -> bool {
    expr.any(&|it| matches!(it.kind, ExprKind::Local(id) if id == local))
}

fn loads_from(expr: &Expr, wanted: LocalId) -> bool {
    expr.any(&|it| matches!(it.kind, ExprKind::Load { array, .. } if array == wanted))
}
