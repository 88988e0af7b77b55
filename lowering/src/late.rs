//! Tests that only the run can make: of subscripts and values that depend on what the function computes.
//!
//! What fails is noted in a variable, which holds `false` before the function runs, and nothing outside of an array is touched. Code generation keeps what the written
//! arguments held; where the variable is set it leaves the loops, and puts that back, so that the original function can run instead.
//!
//! ```text
//! k = 0                        k = 0
//! for i in 1:n                 for i in 1:n
//!     if x[i] > 0                  if x[i] > 0
//!         k += 1           ->          k += 1
//!                                      if !(1 <= k <= m)  failed = true  end
//!         y[k] = x[i]                  if 1 <= k <= m     y[k] = x[i]    end
//!     end                          end
//! end                          end
//! ```

use crate::error::{LowerError, Testable};
use crate::typed::{both, compare, constant, either, loads, not, select};
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, Firsts, Function, Local, LocalId, Mode, NamedBy, Role, SizeError, Statement, StatementKind,
    Type,
};
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType};

/// A condition of more operators and loads is not worth testing again and again.
const LIMIT: usize = 4000;

/// What entry cannot test.
pub(crate) type Places = BTreeSet<Testable>;

/// What these errors are about, if all of them are about tests.
pub(crate) fn places(errors: &[LowerError]) -> Option<Places> {
    errors.iter().map(LowerError::testable).collect()
}

/// A function that makes these tests while it runs.
pub(crate) struct Tested {
    pub(crate) function: Function,
    /// The `Bool` that says at the end whether one failed.
    pub(crate) failed: LocalId,
}

/// When accesses that the source leaves unchecked are tested, in a function that makes tests on the way: they are sure to be inside only as
/// long as nothing has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unchecked {
    /// At entry where no array is read for the subscripts, like accesses that the source checks; all others on the way.
    AtEntry,
    OnTheWay,
}

/// The function with tests at these places; `None` where one of them stands in a bound of a loop or an extent, which
/// have to be known before.
pub(crate) fn rewrite(function: &Function, places: &Places, unchecked: Unchecked) -> Option<Tested> {
    let failed = LocalId(function.locals.len() as u32);
    let (extents, uses) = (extents_of(&function.body), uses_of(&function.body));
    let fails = failures_of(&function.body, places);
    let mut testing = Testing { function, places, unchecked, failed, extents, uses, fails, possible: true };
    let body = testing.block(&function.body);
    if !testing.possible {
        return None;
    }
    let mut locals = function.locals.clone();
    let ty = Type::Scalar(ScalarType::Bool);
    let span = function.span;
    locals.push(Local { name: "failed".into(), named: NamedBy::Tessella, ty, role: Role::Variable(None), span });
    Some(Tested { function: Function { body, locals, ..function.clone() }, failed })
}

struct Testing<'a> {
    function: &'a Function,
    places: &'a Places,
    unchecked: Unchecked,
    failed: LocalId,
    /// Of arrays that the function makes.
    extents: BTreeMap<LocalId, &'a [Expr]>,
    /// How often each variable is read.
    uses: BTreeMap<LocalId, usize>,
    /// How values fail that are tested in the run: what follows must not be executed with such values.
    fails: BTreeSet<Failure>,
    possible: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Failure {
    Conversion,
    Division,
}

/// The mode of a statement that has these tests: they are computed exactly, and where floats decide on them, so is what they are about.
fn tested_alike<'a>(mode: Mode, tests: impl IntoIterator<Item = &'a Expr>) -> Mode {
    let floats = tests.into_iter().any(has_floats);
    Mode { fastmath: mode.fastmath && !floats, ..mode }
}

fn has_floats(expr: &Expr) -> bool {
    expr.ty.is_float() || expr.operands().into_iter().any(has_floats)
}

/// Calls `visit` on the statements of a block and all below them, in order.
pub(crate) fn walk<'a>(block: &'a Block, visit: &mut dyn FnMut(&'a StatementKind, Span)) {
    for statement in block {
        visit(&statement.kind, statement.span);
        match &statement.kind {
            StatementKind::For { body, .. } => walk(body, visit),
            StatementKind::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|it| walk(it, visit)),
            StatementKind::Set { .. }
            | StatementKind::Store { .. }
            | StatementKind::Require { .. }
            | StatementKind::Allocate { .. } => {}
        }
    }
}

fn extents_of(block: &Block) -> BTreeMap<LocalId, &[Expr]> {
    let mut all = BTreeMap::new();
    walk(block, &mut |kind, _| {
        if let StatementKind::Allocate { array, extents } = kind {
            all.insert(*array, extents.as_slice());
        }
    });
    all
}

/// How often each variable is read.
fn uses_of(block: &Block) -> BTreeMap<LocalId, usize> {
    fn of_expr(expr: &Expr, uses: &mut BTreeMap<LocalId, usize>) {
        if let ExprKind::Local(local) = expr.kind {
            *uses.entry(local).or_default() += 1;
        }
        expr.operands().into_iter().for_each(|operand| of_expr(operand, uses));
    }
    let mut uses = BTreeMap::new();
    walk(block, &mut |kind, _| {
        let exprs: Vec<&Expr> = match kind {
            StatementKind::For { range, .. } => vec![&range.start, &range.stop],
            StatementKind::If { condition, .. } | StatementKind::Require { condition, .. } => vec![condition],
            StatementKind::Set { value, .. } => vec![value],
            StatementKind::Store { subscripts, value, .. } => subscripts.iter().chain([value]).collect(),
            StatementKind::Allocate { extents, .. } => extents.iter().collect(),
        };
        exprs.into_iter().for_each(|expr| of_expr(expr, &mut uses));
    });
    uses
}

/// How the values fail that are tested in the run.
fn failures_of(block: &Block, places: &Places) -> BTreeSet<Failure> {
    let mut all = BTreeSet::new();
    walk(block, &mut |kind, span| {
        let StatementKind::Require { failure, .. } = kind else { return };
        if places.contains(&Testable::Requirement(span)) {
            all.extend(match failure.error {
                SizeError::Inexact => Some(Failure::Conversion),
                SizeError::Divide => Some(Failure::Division),
                SizeError::Mismatch | SizeError::Argument | SizeError::Bounds | SizeError::Thrown => None,
            });
        }
    });
    all
}

impl Testing<'_> {
    fn block(&mut self, block: &Block) -> Block {
        let mut all = vec![];
        let mut rest = block.as_slice();
        while let [statement, after @ ..] = rest {
            if let [store, later @ ..] = after
                && let Some(both) = self.update_in_parts(statement, store)
            {
                all.extend(both);
                rest = later;
                continue;
            }
            all.extend(self.statement(statement));
            rest = after;
        }
        all
    }

    /// `sum = counts[c] + 1; counts[c] = sum % Int32`, where nothing else uses the sum: both happen where the element is inside, so that they
    /// stay one update.
    fn update_in_parts(&mut self, first: &Statement, second: &Statement) -> Option<Block> {
        let StatementKind::Set { target, value, label, mode } = &first.kind else { return None };
        let StatementKind::Store { array, subscripts, value: stored, mode: how, .. } = &second.kind else {
            return None;
        };
        let is_sum = |expr: &Expr| matches!(expr.kind, ExprKind::Local(local) if local == *target);
        let uses = self.uses.get(target).copied().unwrap_or(0);
        let narrows = matches!(&stored.kind, ExprKind::Wrap(sum) if is_sum(sum));
        let is_own = self.function.locals[target.0 as usize].named == NamedBy::Tessella;
        if !narrows || !is_own || uses != 1 || !self.is_late(subscripts, how.inbounds) {
            return None;
        }
        let mut both = self.statement(second);
        let tested = self.fails(value);
        let Some(StatementKind::If { condition, then, .. }) = both.last_mut().map(|last| &mut last.kind) else {
            return None;
        };
        let mode = tested_alike(*mode, tested.iter().chain([&*condition]));
        let value_inside = self.guarded_beside(value, Some((*array, subscripts)));
        let kind = StatementKind::Set { target: *target, value: value_inside, label: label.clone(), mode };
        then.insert(0, Statement { kind, span: first.span });
        let tested = tested.map(|tested| self.note(tested, first.span));
        Some(tested.into_iter().chain(both).collect())
    }

    /// The statement, and before it the test of what it evaluates.
    fn statement(&mut self, statement: &Statement) -> Block {
        let span = statement.span;
        let (tested, kind) = match &statement.kind {
            StatementKind::For { id, iterator, range, mode, body } => {
                self.known_before(&range.start);
                self.known_before(&range.stop);
                let (range, body) = (range.clone(), self.block(body));
                (None, StatementKind::For { id: *id, iterator: *iterator, range, mode: *mode, body })
            }
            StatementKind::If { condition, then, otherwise } => {
                let [then, otherwise] = [then, otherwise].map(|block| self.block(block));
                (self.fails(condition), StatementKind::If { condition: self.guarded(condition), then, otherwise })
            }
            StatementKind::Set { target, value, label, mode } => {
                let tested = self.fails(value);
                let (label, value, mode) = (label.clone(), self.guarded(value), tested_alike(*mode, &tested));
                (tested, StatementKind::Set { target: *target, value, label, mode })
            }
            StatementKind::Store { array, subscripts, value, label, mode } => {
                let mut tested = subscripts.iter().filter_map(|it| self.fails(it)).reduce(either);
                tested = [tested, self.fails(value)].into_iter().flatten().reduce(either);
                let late = self.is_late(subscripts, mode.inbounds);
                let old = late.then_some((*array, subscripts.as_slice()));
                let (value, label) = (self.guarded_beside(value, old), label.clone());
                let subscripts: Vec<Expr> = subscripts.iter().map(|it| self.guarded(it)).collect();
                let inside = late.then(|| self.inside(*array, &subscripts, span));
                let mode = tested_alike(Mode { inbounds: late, ..*mode }, tested.iter().chain(&inside));
                let store = StatementKind::Store { array: *array, subscripts, value, label, mode };
                match inside {
                    None => (tested, store),
                    Some(inside) => {
                        tested = [tested, Some(not(inside.clone()))].into_iter().flatten().reduce(either);
                        let then = vec![Statement { kind: store, span }];
                        (tested, StatementKind::If { condition: inside, then, otherwise: vec![] })
                    }
                }
            }
            StatementKind::Require { condition, failure: _ } if self.places.contains(&Testable::Requirement(span)) => {
                let fails = [self.fails(condition), Some(not(self.guarded(condition)))];
                let tested = fails.into_iter().flatten().reduce(either);
                return tested.into_iter().map(|tested| self.note(tested, span)).collect();
            }
            // Made at entry, where what the source leaves unchecked is inside as ever.
            StatementKind::Require { condition, .. } => {
                self.possible &= !self.has_place(condition);
                return vec![statement.clone()];
            }
            StatementKind::Allocate { extents, .. } => {
                extents.iter().for_each(|extent| self.known_before(extent));
                return vec![statement.clone()];
            }
        };
        let test = tested.map(|tested| self.note(tested, span));
        test.into_iter().chain([Statement { kind, span }]).collect()
    }

    /// `if condition; failed = true; end`
    fn note(&mut self, condition: Expr, span: Span) -> Statement {
        if size(&condition) > LIMIT {
            self.possible = false;
        }
        let then = vec![set(self.failed, constant(Constant::bool(true), span), span)];
        Statement { kind: StatementKind::If { condition, then, otherwise: vec![] }, span }
    }

    /// An expression that the loops and arrays depend on cannot be tested on the way.
    fn known_before(&mut self, expr: &Expr) {
        if self.fails(expr).is_some() || loads_unchecked(expr) {
            self.possible = false;
        }
    }

    /// Whether an expression loads by a subscript that entry cannot test. What has to hold for a subscript, such as a divisor that is not
    /// zero, may stand at the same place of the source.
    fn has_place(&self, expr: &Expr) -> bool {
        let is_late = |it: &Expr| self.places.contains(&Testable::Subscript(it.span));
        let loads_late = matches!(&expr.kind, ExprKind::Load { subscripts, .. } if subscripts.iter().any(is_late));
        loads_late || expr.operands().into_iter().any(|it| self.has_place(it))
    }

    /// Whether an access is tested in the run. One that the source leaves unchecked is sure to be inside only as long as
    /// nothing has failed.
    fn is_late(&self, subscripts: &[Expr], inbounds: bool) -> bool {
        let entry_knows = self.unchecked == Unchecked::AtEntry && !subscripts.iter().any(loads);
        (inbounds && !entry_knows) || subscripts.iter().any(|it| self.places.contains(&Testable::Subscript(it.span)))
    }

    /// Whether all subscripts are inside the array's axes.
    fn inside(&self, array: LocalId, subscripts: &[Expr], span: Span) -> Expr {
        let parts = (0..).zip(subscripts).map(|(axis, subscript)| {
            let (first, last) = self.limits(array, axis, span);
            let low = compare(CompareOp::Ge, subscript.clone(), first);
            both(low, compare(CompareOp::Le, subscript.clone(), last))
        });
        parts.reduce(both).unwrap_or(constant(Constant::bool(true), span))
    }

    fn limits(&self, array: LocalId, axis: u32, span: Span) -> (Expr, Expr) {
        let whole = |kind: ExprKind| Expr { kind, ty: ScalarType::I64, span };
        let one = whole(ExprKind::Constant(Constant::i64(1)));
        if let Some(extents) = self.extents.get(&array) {
            return (one, extents[axis as usize].clone());
        }
        let size = whole(ExprKind::Size { array, axis });
        let counts_from_one = match self.function.locals[array.0 as usize].ty {
            Type::Array { form, .. } => form.firsts == Firsts::One,
            Type::Scalar(_) => true,
        };
        if counts_from_one {
            return (one, size);
        }
        let first = whole(ExprKind::First { array, axis });
        let end = whole(ExprKind::Binary(BinaryOp::Add, Box::new(first.clone()), Box::new(size)));
        (first, whole(ExprKind::Binary(BinaryOp::Sub, Box::new(end), Box::new(one))))
    }

    /// The same value where nothing fails, and anything else where something does: no element outside of an array is read,
    /// and no operation stops the program.
    fn guarded(&self, expr: &Expr) -> Expr {
        self.guarded_beside(expr, None)
    }

    /// The same where an element is inside that the expression may load: what an update adds to is what it stores.
    fn guarded_beside(&self, expr: &Expr, inside: Option<(LocalId, &[Expr])>) -> Expr {
        let mut guarded = expr.clone();
        for operand in guarded.operands_mut() {
            *operand = self.guarded_beside(operand, inside);
        }
        let span = expr.span;
        match &mut guarded.kind {
            ExprKind::Load { array, subscripts, inbounds } => {
                let original = match &expr.kind {
                    ExprKind::Load { subscripts, .. } => subscripts.as_slice(),
                    _ => &[],
                };
                *inbounds = self.is_late(original, *inbounds);
                if !*inbounds {
                    return guarded;
                }
                if inside == Some((*array, original)) {
                    return guarded;
                }
                let inside = self.inside(*array, subscripts, span);
                select(inside, guarded, constant(Constant { ty: expr.ty, bits: 0 }, span))
            }
            ExprKind::Wrap(value) if value.ty.is_float() && self.fails.contains(&Failure::Conversion) => {
                let (least, most) = expr.ty.integer_limits();
                let limit = |limit: i128| constant(Constant::integer(value.ty, limit), span);
                let low = compare(CompareOp::Ge, (**value).clone(), limit(least));
                let fits = both(low, compare(CompareOp::Lt, (**value).clone(), limit(most + 1)));
                select(fits, guarded, constant(Constant { ty: expr.ty, bits: 0 }, span))
            }
            ExprKind::Binary(
                BinaryOp::DivTrunc | BinaryOp::DivFloor | BinaryOp::DivCeil | BinaryOp::Rem | BinaryOp::Mod,
                divided,
                divisor,
            ) if expr.ty.is_integer()
                && self.fails.contains(&Failure::Division)
                && !matches!(divisor.kind, ExprKind::Constant(_)) =>
            {
                let ty = divisor.ty;
                let number = |value: i128| constant(Constant::integer(ty, value), span);
                let mut divides = compare(CompareOp::Ne, (**divisor).clone(), number(0));
                let (least, _) = ty.integer_limits();
                if least < 0 {
                    let other = compare(CompareOp::Ne, (**divisor).clone(), number(-1));
                    let fits = compare(CompareOp::Ne, (**divided).clone(), number(least));
                    divides = both(divides, either(other, fits));
                }
                **divisor = select(divides, (**divisor).clone(), number(1));
                guarded
            }
            _ => guarded,
        }
    }

    /// Whether evaluating the expression fails, as far as it is tested in the run; `None` if it never does.
    fn fails(&self, expr: &Expr) -> Option<Expr> {
        let span = expr.span;
        let never = || constant(Constant::bool(false), span);
        match &expr.kind {
            ExprKind::Binary(op @ (BinaryOp::AndAlso | BinaryOp::OrElse), left, right) => {
                let right = self.fails(right).map(|right| {
                    let reached = self.guarded(left);
                    both(if *op == BinaryOp::AndAlso { reached } else { not(reached) }, right)
                });
                [self.fails(left), right].into_iter().flatten().reduce(either)
            }
            ExprKind::Select { condition, yes, no } => {
                let chosen = match (self.fails(yes), self.fails(no)) {
                    (None, None) => None,
                    (yes, no) => {
                        Some(select(self.guarded(condition), yes.unwrap_or_else(never), no.unwrap_or_else(never)))
                    }
                };
                [self.fails(condition), chosen].into_iter().flatten().reduce(either)
            }
            ExprKind::Load { array, subscripts, inbounds } => {
                let before = subscripts.iter().filter_map(|it| self.fails(it)).reduce(either);
                let outside = self.is_late(subscripts, *inbounds).then(|| {
                    let subscripts: Vec<Expr> = subscripts.iter().map(|it| self.guarded(it)).collect();
                    not(self.inside(*array, &subscripts, span))
                });
                [before, outside].into_iter().flatten().reduce(either)
            }
            ExprKind::Constant(_)
            | ExprKind::Local(_)
            | ExprKind::Size { .. }
            | ExprKind::First { .. }
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::Call(..)
            | ExprKind::IfElse { .. }
            | ExprKind::Convert(_)
            | ExprKind::Wrap(_) => expr.operands().into_iter().filter_map(|it| self.fails(it)).reduce(either),
        }
    }
}

/// Whether it does so unchecked.
fn loads_unchecked(expr: &Expr) -> bool {
    expr.any(&|it| matches!(it.kind, ExprKind::Load { inbounds: true, .. }))
}

/// Operators, loads and leaves.
fn size(expr: &Expr) -> usize {
    expr.operands().into_iter().fold(1, |sum: usize, operand| sum.saturating_add(size(operand)))
}

fn set(target: LocalId, value: Expr, span: Span) -> Statement {
    Statement { kind: StatementKind::Set { target, value, label: None, mode: Mode::default() }, span }
}
