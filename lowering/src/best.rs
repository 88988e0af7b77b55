//! Loops that look for the largest or smallest value and where it is: as two reductions, whose order makes no difference.
//!
//! ```text
//! for i in 1:n                 for i in 1:n; most = max(most, ifelse(x[i] > best, x[i], best)); end
//!     if x[i] > best           for i in 1:n; place = min(place, x[i] > best && x[i] == most ? i : none); end
//!         best = x[i]     ->   if place != none
//!         at = i                   best, at = most, place
//!     end                      end
//! end
//! ```
//!
//! What such a loop keeps is decided in its own order, so that it would run in one thread. What it has kept at the end is the first of
//! the largest values that are larger than what it began with, whatever the order. Where two zeros of different sign are equal,
//! the place tells which of the two it is (magnitudes and integers that are kept without a place need no second loop); of a NaN, whose bits Julia leaves open, any may be kept. The values are read twice; so loops that others run
//! many times at once stay what they are.

use crate::looked::alike;
use crate::typed::{binary, both, compare, constant, either, integer, loads, not, operators};
use std::collections::BTreeSet;
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, Function, Local, LocalId, LoopId, LoopMode, Mode, NamedBy, Range, Role, Simd, Statement,
    StatementKind, Type,
};
use tessella_scalar::{BinaryOp, CompareOp, Constant, Intrinsic, ScalarType};

/// Values of more operators are not worked out twice.
const MOST_OPERATORS: usize = 24;

/// Rewrites all such loops that nothing around them seems to run at once; `None` where there are none.
pub(crate) fn rewrite(function: &Function) -> Option<Function> {
    let (locals, plain) = (function.locals.clone(), BTreeSet::new());
    let mut rewriting = Rewriting { locals, next_loop: next_loop(&function.body), plain };
    let body = rewriting.block(&function.body, None);
    let is_other = rewriting.locals.len() > function.locals.len();
    is_other.then(|| Function { body, locals: rewriting.locals, ..function.clone() })
}

struct Rewriting {
    locals: Vec<Local>,
    /// No loop of the function has this number, or a greater one.
    next_loop: u32,
    /// Values so far that are made of sizes, arguments and iterators.
    plain: BTreeSet<LocalId>,
}

/// A loop of a nest.
struct Level<'a> {
    id: LoopId,
    iterator: LocalId,
    range: &'a Range,
}

/// The innermost loop around a statement.
#[derive(Clone, Copy)]
struct Around<'a> {
    iterator: LocalId,
    body: &'a Block,
}

impl Around<'_> {
    /// Whether the loop stores what another of its iterations loads, as far as that shows: not where both are of the iteration's own row
    /// or column. Then the searches of its iterations run one after the other, and each by itself.
    fn changes(&self, (array, subscripts): &(LocalId, Vec<Expr>)) -> bool {
        let mut stored = vec![];
        stores_of(self.body, *array, &mut stored);
        // An array that each iteration makes is its own.
        if stored.iter().any(Vec::is_empty) {
            return false;
        }
        let is_own = |subscript: &Expr| matches!(subscript.kind, ExprKind::Local(local) if local == self.iterator);
        let own = |axis: usize| stored.iter().all(|it| it.get(axis).is_some_and(is_own));
        !stored.is_empty() && !subscripts.iter().enumerate().any(|(axis, it)| is_own(it) && own(axis))
    }
}

/// What a loop looks for.
struct Search<'a> {
    levels: Vec<Level<'a>>,
    best: LocalId,
    /// The value that is compared, of iterators, arrays and what the function does not change in the loop.
    value: Expr,
    /// What has to hold besides.
    only: Option<Expr>,
    better: Better,
    /// Whether a larger value is better.
    up: bool,
    /// What else is kept: variables, and their values by the iterators.
    kept: Vec<(LocalId, Expr)>,
    span: Span,
}

/// When a value is better than another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Better {
    /// It is larger, as numbers are: NaN never is.
    Larger,
    /// It is not smaller: the last one of equals is kept.
    NotSmaller,
    /// As in `findmax`: a NaN is better than all others, and 0.0 better than -0.0 (for `findmin` the reverse).
    InOrder,
}

impl Rewriting {
    /// The block of a loop that stores into these arrays, or of the function.
    fn block(&mut self, block: &Block, around: Option<Around<'_>>) -> Block {
        let mut result = vec![];
        for statement in block {
            match self.search(statement, around) {
                Some(search) => self.write(&search, &mut result),
                None => {
                    if let StatementKind::Set { target, value, .. } = &statement.kind
                        && matches!(self.role(*target), Role::Value(_))
                        && self.is_given(value)
                    {
                        self.plain.insert(*target);
                    }
                    result.push(self.statement(statement, around));
                }
            }
        }
        result
    }

    fn statement(&mut self, statement: &Statement, around: Option<Around<'_>>) -> Statement {
        let kind = match &statement.kind {
            StatementKind::For { id, iterator, range, mode, body } => {
                let body = self.block(body, Some(Around { iterator: *iterator, body }));
                StatementKind::For { id: *id, iterator: *iterator, range: range.clone(), mode: *mode, body }
            }
            StatementKind::If { condition, then, otherwise } => StatementKind::If {
                condition: condition.clone(),
                then: self.block(then, around),
                otherwise: self.block(otherwise, around),
            },
            StatementKind::Set { .. }
            | StatementKind::Store { .. }
            | StatementKind::Allocate { .. }
            | StatementKind::Require { .. } => statement.kind.clone(),
        };
        Statement { kind, span: statement.span }
    }

    /// What the statement looks for, if it is such a loop.
    fn search<'a>(&self, statement: &'a Statement, around: Option<Around<'_>>) -> Option<Search<'a>> {
        let (mut levels, mut at) = (vec![], statement);
        let body = loop {
            let StatementKind::For { id, iterator, range, mode, body } = &at.kind else { return None };
            if mode.simd != Simd::No || !self.is_plain(range, &levels) {
                return None;
            }
            levels.push(Level { id: *id, iterator: *iterator, range });
            match body.as_slice() {
                [only] if matches!(only.kind, StatementKind::For { .. }) => at = only,
                _ => break body,
            }
        };
        let (last, named) = body.split_last()?;
        let StatementKind::If { condition, then, otherwise } = &last.kind else { return None };
        if !otherwise.is_empty() {
            return None;
        }
        let mut names = Names(vec![]);
        for statement in named {
            names.add(self, statement)?;
        }
        let condition = names.written_out(condition);
        let mut sets = vec![];
        let mut inner = Names(names.0.clone());
        for statement in then {
            let StatementKind::Set { target, value, label: None, mode } = &statement.kind else { return None };
            match self.role(*target) {
                // What is loaded there need not be outside of its array elsewhere.
                Role::Value(_) if loads(value) => return None,
                Role::Value(_) => inner.add(self, statement)?,
                Role::Variable(_) if !mode.fastmath => sets.push((*target, inner.written_out(value))),
                Role::Variable(_) | Role::Argument | Role::Iterator(_) => return None,
            }
        }
        let targets: BTreeSet<LocalId> = sets.iter().map(|(target, _)| *target).collect();
        let is_inner = |target: &LocalId| matches!(self.role(*target), Role::Variable(Some(id)) if levels.iter().any(|level| level.id == id));
        if targets.len() != sets.len() || targets.iter().any(is_inner) {
            return None;
        }
        let mut parts = vec![];
        conjuncts(&condition, &mut parts);
        let places = parts.iter().enumerate().filter(|(_, part)| mentions(part, &targets));
        let places: Vec<usize> = places.map(|(at, _)| at).collect();
        // `findmax` asks for what is there, and then for what is better than it.
        let search = match places.as_slice() {
            // Where the others do not hold nothing is loaded, as long as no name is.
            [at] if *at == parts.len() - 1 && (*at == 0 || names.0.is_empty()) => {
                let only = parts[..*at].iter().map(|&part| part.clone()).reduce(both);
                compared(levels, parts[*at], only, &sets, statement.span)?
            }
            [_] => return None,
            _ => in_order(levels, &condition, &sets, statement.span)?,
        };
        // What has a name is loaded in all iterations.
        let is_read = |it: &Expr| !loads(it) || certainly(&search.value, &|part| alike(part, it));
        if !names.0.iter().all(|(_, it)| is_read(it)) {
            return None;
        }
        self.checked(search, around)
    }

    /// The search, if it is what the loop does, and is worth it.
    fn checked<'a>(&self, search: Search<'a>, around: Option<Around<'_>>) -> Option<Search<'a>> {
        let Search { levels, best, value, only, kept, .. } = &search;
        let targets: BTreeSet<LocalId> = kept.iter().map(|(target, _)| *target).collect();
        let own = kept.iter().find(|(target, _)| target == best)?;
        let is_number = value.ty.is_float() || (value.ty.is_integer() && value.ty != ScalarType::Bool);
        if !alike(&own.1, value) || own.1.ty != self.scalar(*best)? || !is_number {
            return None;
        }
        if mentions(value, &targets) || only.iter().any(|it| mentions(it, &targets)) {
            return None;
        }
        let others = kept.iter().filter(|(target, _)| target != best);
        if others.clone().any(|(target, it)| mentions(it, &targets) || loads(it) || self.scalar(*target) != Some(it.ty))
        {
            return None;
        }
        if operators(value) + only.as_ref().map_or(0, operators) > MOST_OPERATORS {
            return None;
        }
        // Several loops are counted through in one number, and in a loop only such are shared among threads.
        let is_nested = levels.len() > 1 || around.is_some();
        if is_nested && levels.iter().any(|level| level.range.step != 1) {
            return None;
        }
        let mut read = vec![];
        [Some(value), only.as_ref()].into_iter().flatten().for_each(|it| loads_of(it, &mut read));
        let runs_alone = around.is_none_or(|around| read.iter().any(|load| around.changes(load)));
        (runs_alone && !read.is_empty()).then_some(search)
    }

    /// Whether a loop's bounds are made of sizes, arguments and iterators of other loops than these.
    fn is_plain(&self, range: &Range, levels: &[Level<'_>]) -> bool {
        let own: BTreeSet<LocalId> = levels.iter().map(|level| level.iterator).collect();
        [&range.start, &range.stop].into_iter().all(|bound| self.is_given(bound) && !mentions(bound, &own))
    }

    fn is_given(&self, expr: &Expr) -> bool {
        !expr.any(&|part| match part.kind {
            ExprKind::Load { .. } => true,
            ExprKind::Local(local) => match self.role(local) {
                Role::Variable(_) => true,
                Role::Value(_) => !self.plain.contains(&local),
                Role::Argument | Role::Iterator(_) => false,
            },
            _ => false,
        })
    }

    /// Writes the two reductions.
    fn write(&mut self, search: &Search<'_>, block: &mut Block) {
        let Search { levels, best, value, only, better, up, kept, span } = search;
        let (span, ty) = (*span, value.ty);
        let own = Expr { kind: ExprKind::Local(*best), ty, span };
        let name = self.locals[best.0 as usize].name.clone();
        let is_better = |value: &Expr| match better {
            Better::Larger => compare(if *up { CompareOp::Gt } else { CompareOp::Lt }, value.clone(), own.clone()),
            Better::NotSmaller => compare(if *up { CompareOp::Ge } else { CompareOp::Le }, value.clone(), own.clone()),
            Better::InOrder => is_better_in_order(&own, value, *up),
        };
        let guarded = |body: Block, only: Option<Expr>| match only {
            Some(condition) => {
                let kind = StatementKind::If { condition, then: body, otherwise: vec![] };
                vec![Statement { kind, span }]
            }
            None => body,
        };
        // The best value.
        let most = self.variable(*best, &format!("{name}_most"), ty, span);
        set(block, &most, own.clone(), span);
        let innermost = levels[levels.len() - 1].id;
        let mut body = vec![];
        let one = self.value(innermost, &format!("{name}_value"), value.clone(), &mut body, span);
        let counted = match better {
            Better::InOrder => one,
            Better::Larger | Better::NotSmaller => if_else(is_better(&one), one, own.clone()),
        };
        let op = if *up { BinaryOp::Max } else { BinaryOp::Min };
        set(&mut body, &most, binary(op, most.clone(), counted), span);
        let nest = levels.iter().map(|level| (level.id, level.iterator, level.range.clone()));
        block.push(nested(nest.collect(), guarded(body, only.clone()), span));
        if kept.len() == 1 && (!ty.is_float() || *better == Better::InOrder || is_magnitude(value)) {
            return set(block, &own, most, span);
        }
        // Its place, with the sign of a zero.
        let forward = levels.len() > 1 || levels[0].range.step > 0;
        let first = (*better != Better::NotSmaller) == forward;
        let none = integer(if first { i64::MAX } else { i64::MIN }, span);
        let place = self.variable(*best, &format!("{name}_place"), ScalarType::I64, span);
        set(block, &place, none.clone(), span);
        let again: Vec<(LoopId, LocalId)> = levels.iter().map(|level| self.iterator(level.iterator)).collect();
        let by: Vec<(LocalId, Expr)> =
            levels.iter().zip(&again).map(|(level, (_, new))| (level.iterator, local(*new, span))).collect();
        let innermost = again[again.len() - 1].0;
        let mut body = vec![];
        let one = self.value(innermost, &format!("{name}_value"), with(value, &by), &mut body, span);
        let only = only.as_ref().map(|only| with(only, &by));
        let has_sign = ty.is_float() && *better != Better::InOrder;
        let extents: Vec<Expr> = levels.iter().map(|level| extent(level.range)).collect();
        let mut key = match levels.as_slice() {
            [_] => local(again[0].1, span),
            _ => {
                let mut key = integer(0, span);
                for ((level, (_, iterator)), extent) in levels.iter().zip(&again).zip(&extents) {
                    let at = binary(BinaryOp::Sub, local(*iterator, span), level.range.start.clone());
                    key = binary(BinaryOp::Add, binary(BinaryOp::Mul, key, extent.clone()), at);
                }
                key
            }
        };
        if has_sign {
            let sign = if_else(is_negative(&one), integer(1, span), integer(0, span));
            key = binary(BinaryOp::Add, binary(BinaryOp::Mul, integer(2, span), key), sign);
        }
        let is_most = match better {
            Better::InOrder => is_equal(&one, &most),
            Better::Larger | Better::NotSmaller => compare(CompareOp::Eq, one.clone(), most.clone()),
        };
        let found = both(is_better(&one), is_most);
        let op = if first { BinaryOp::Min } else { BinaryOp::Max };
        set(&mut body, &place, binary(op, place.clone(), if_else(found, key, none.clone())), span);
        let nest = again.iter().zip(levels).map(|((id, iterator), level)| (*id, *iterator, level.range.clone()));
        block.push(nested(nest.collect(), guarded(body, only), span));
        // What the loop leaves.
        let (mut then, scope) = (vec![], self.scope_of(*best));
        let mut rest = place.clone();
        let mut sign = None;
        if has_sign {
            sign = Some(compare(
                CompareOp::Ne,
                binary(BinaryOp::BitAnd, rest.clone(), integer(1, span)),
                integer(0, span),
            ));
            rest = binary(BinaryOp::DivFloor, rest, integer(2, span));
        }
        let mut back = vec![];
        match levels.as_slice() {
            [level] => back.push((level.iterator, rest)),
            _ => {
                for (level, extent) in levels.iter().zip(&extents).rev() {
                    let some = binary(BinaryOp::Max, extent.clone(), integer(1, span));
                    let number = self.named(scope, &format!("{name}_number"), rest, &mut then, span);
                    let at = binary(BinaryOp::Mod, number.clone(), some.clone());
                    back.push((level.iterator, binary(BinaryOp::Add, at, level.range.start.clone())));
                    rest = binary(BinaryOp::DivFloor, number, some);
                }
            }
        }
        for (target, value) in kept.iter().filter(|(target, _)| target != best) {
            let value = with(value, &back);
            set(&mut then, &Expr { kind: ExprKind::Local(*target), ty: value.ty, span }, value, span);
        }
        let result = match sign {
            Some(sign) => {
                let zero = |value: f64| constant(number(ty, value), span);
                let signed = if_else(sign, zero(-0.0), zero(0.0));
                if_else(compare(CompareOp::Eq, most.clone(), zero(0.0)), signed, most)
            }
            None => most,
        };
        set(&mut then, &own, result, span);
        let condition = compare(CompareOp::Ne, place, none);
        block.push(Statement { kind: StatementKind::If { condition, then, otherwise: vec![] }, span });
    }

    fn role(&self, local: LocalId) -> Role {
        self.locals[local.0 as usize].role
    }

    fn scope_of(&self, local: LocalId) -> Option<LoopId> {
        match self.role(local) {
            Role::Variable(scope) | Role::Value(scope) => scope,
            Role::Argument | Role::Iterator(_) => None,
        }
    }

    fn scalar(&self, local: LocalId) -> Option<ScalarType> {
        match self.locals[local.0 as usize].ty {
            Type::Scalar(ty) => Some(ty),
            Type::Array { .. } => None,
        }
    }

    fn add(&mut self, name: &str, ty: ScalarType, role: Role, span: Span) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        self.locals.push(Local { name: name.to_owned(), named: NamedBy::Tessella, ty: Type::Scalar(ty), role, span });
        id
    }

    /// A new variable beside this one.
    fn variable(&mut self, beside: LocalId, name: &str, ty: ScalarType, span: Span) -> Expr {
        let id = self.add(name, ty, Role::Variable(self.scope_of(beside)), span);
        Expr { kind: ExprKind::Local(id), ty, span }
    }

    /// A name for a value in a loop.
    fn value(&mut self, around: LoopId, name: &str, value: Expr, block: &mut Block, span: Span) -> Expr {
        self.named(Some(around), name, value, block, span)
    }

    fn named(&mut self, scope: Option<LoopId>, name: &str, value: Expr, block: &mut Block, span: Span) -> Expr {
        let ty = value.ty;
        let id = self.add(name, ty, Role::Value(scope), span);
        let it = Expr { kind: ExprKind::Local(id), ty, span };
        set(block, &it, value, span);
        it
    }

    /// An iterator like this one, of another loop.
    fn iterator(&mut self, like: LocalId) -> (LoopId, LocalId) {
        let id = LocalId(self.locals.len() as u32);
        let around = LoopId(self.next_loop + id.0);
        let declared = Local { role: Role::Iterator(around), ..self.locals[like.0 as usize].clone() };
        self.locals.push(declared);
        (around, id)
    }
}

/// The search of a loop that compares.
fn compared<'a>(
    levels: Vec<Level<'a>>,
    condition: &Expr,
    only: Option<Expr>,
    sets: &[(LocalId, Expr)],
    span: Span,
) -> Option<Search<'a>> {
    let ExprKind::Compare(op, left, right) = &condition.kind else { return None };
    let is_kept = |expr: &Expr| match expr.kind {
        ExprKind::Local(local) => sets.iter().any(|(target, _)| *target == local).then_some(local),
        _ => None,
    };
    let (op, best, value) = match (is_kept(left), is_kept(right)) {
        (None, Some(best)) => (*op, best, left),
        (Some(best), None) => (op.mirrored(), best, right),
        (_, _) => return None,
    };
    let (better, up) = match op {
        CompareOp::Gt => (Better::Larger, true),
        CompareOp::Ge => (Better::NotSmaller, true),
        CompareOp::Lt => (Better::Larger, false),
        CompareOp::Le => (Better::NotSmaller, false),
        CompareOp::Eq | CompareOp::Ne => return None,
    };
    Some(Search { levels, best, value: (**value).clone(), only, better, up, kept: sets.to_vec(), span })
}

/// The search of `findmax` and `findmin`, in whose condition the kept value stands several times.
fn in_order<'a>(levels: Vec<Level<'a>>, condition: &Expr, sets: &[(LocalId, Expr)], span: Span) -> Option<Search<'a>> {
    let all = sets.iter().flat_map(|set| [(set, true), (set, false)]);
    let ((best, value), up) = all.into_iter().find(|((best, value), up)| {
        let kept = Expr { kind: ExprKind::Local(*best), ty: value.ty, span };
        alike(condition, &is_better_in_order(&kept, value, *up))
    })?;
    let (best, value, kept) = (*best, value.clone(), sets.to_vec());
    Some(Search { levels, best, value, only: None, better: Better::InOrder, up, kept, span })
}

/// Names that are set once, and what for, written out.
struct Names(Vec<(LocalId, Expr)>);

impl Names {
    fn add(&mut self, rewriting: &Rewriting, statement: &Statement) -> Option<()> {
        let StatementKind::Set { target, value, label: None, mode } = &statement.kind else { return None };
        if !matches!(rewriting.role(*target), Role::Value(_)) || mode.fastmath {
            return None;
        }
        let value = self.written_out(value);
        // Names that stand in one another would make it long.
        if operators(&value) > MOST_OPERATORS {
            return None;
        }
        self.0.push((*target, value));
        Some(())
    }

    fn written_out(&self, expr: &Expr) -> Expr {
        with(expr, &self.0)
    }
}

/// Whether a value is better than the kept one, as the definitions of `findmax` and `findmin` ask it.
fn is_better_in_order(kept: &Expr, value: &Expr, up: bool) -> Expr {
    let (a, b) = (kept, value);
    let (less, more) = if up { (a, b) } else { (b, a) };
    let is_itself = compare(CompareOp::Eq, a.clone(), a.clone());
    let is_nan = compare(CompareOp::Ne, b.clone(), b.clone());
    both(is_itself, either(is_nan, is_less(less, more)))
}

/// `isless(a, b)`.
fn is_less(a: &Expr, b: &Expr) -> Expr {
    let less = compare(CompareOp::Lt, a.clone(), b.clone());
    if !a.ty.is_float() {
        return less;
    }
    let nan = |value: &Expr| Expr {
        kind: ExprKind::Call(Intrinsic::IsNan, vec![value.clone()]),
        ty: ScalarType::Bool,
        span: value.span,
    };
    let by_nan = both(not(nan(a)), nan(b));
    let equal = compare(CompareOp::Eq, a.clone(), b.clone());
    let by_sign = both(equal, both(is_negative(a), not(is_negative(b))));
    either(either(less, by_nan), by_sign)
}

/// `isequal(a, b)`.
fn is_equal(a: &Expr, b: &Expr) -> Expr {
    let equal = compare(CompareOp::Eq, a.clone(), b.clone());
    if !a.ty.is_float() {
        return equal;
    }
    let is_nan = |value: &Expr| compare(CompareOp::Ne, value.clone(), value.clone());
    let signs = Expr {
        kind: ExprKind::Compare(CompareOp::Eq, Box::new(is_negative(a)), Box::new(is_negative(b))),
        ty: ScalarType::Bool,
        span: a.span,
    };
    either(both(equal, signs), both(is_nan(a), is_nan(b)))
}

/// Whether a float is no -0.0, so that all zeros are alike: a largest difference.
fn is_magnitude(value: &Expr) -> bool {
    matches!(value.kind, ExprKind::Call(Intrinsic::Abs, _))
}

/// `signbit(value)`.
fn is_negative(value: &Expr) -> Expr {
    let one = constant(number(value.ty, 1.0), value.span);
    let sign =
        Expr { kind: ExprKind::Call(Intrinsic::CopySign, vec![one, value.clone()]), ty: value.ty, span: value.span };
    compare(CompareOp::Lt, sign, constant(number(value.ty, 0.0), value.span))
}

fn number(ty: ScalarType, value: f64) -> Constant {
    if ty == ScalarType::F32 { Constant::f32(value as f32) } else { Constant::f64(value) }
}

fn local(id: LocalId, span: Span) -> Expr {
    Expr { kind: ExprKind::Local(id), ty: ScalarType::I64, span }
}

fn if_else(condition: Expr, yes: Expr, no: Expr) -> Expr {
    let (ty, span) = (yes.ty, yes.span);
    Expr { kind: ExprKind::IfElse { condition: Box::new(condition), yes: Box::new(yes), no: Box::new(no) }, ty, span }
}

fn set(block: &mut Block, target: &Expr, value: Expr, span: Span) {
    let ExprKind::Local(target) = target.kind else { unreachable!("only variables are set") };
    block.push(Statement { kind: StatementKind::Set { target, value, label: None, mode: Mode::default() }, span });
}

/// Loops around a block, the first one outermost.
fn nested(levels: Vec<(LoopId, LocalId, Range)>, body: Block, span: Span) -> Statement {
    let nest = levels.into_iter().rev().fold(body, |body, (id, iterator, range)| {
        let mode = LoopMode::default();
        vec![Statement { kind: StatementKind::For { id, iterator, range, mode, body }, span }]
    });
    nest.into_iter().next().expect("there is a loop at least")
}

/// How often a loop runs whose step is 1.
fn extent(range: &Range) -> Expr {
    let span = range.start.span;
    let apart = binary(BinaryOp::Sub, range.stop.clone(), range.start.clone());
    binary(BinaryOp::Max, binary(BinaryOp::Add, apart, integer(1, span)), integer(0, span))
}

fn next_loop(block: &Block) -> u32 {
    let of = |statement: &Statement| match &statement.kind {
        StatementKind::For { id, body, .. } => next_loop(body).max(id.0 + 1),
        StatementKind::If { then, otherwise, .. } => next_loop(then).max(next_loop(otherwise)),
        StatementKind::Set { .. }
        | StatementKind::Store { .. }
        | StatementKind::Allocate { .. }
        | StatementKind::Require { .. } => 0,
    };
    block.iter().map(of).max().unwrap_or(0)
}

/// The parts of `a && b && c`.
fn conjuncts<'e>(expr: &'e Expr, into: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::AndAlso, left, right) => {
            conjuncts(left, into);
            conjuncts(right, into);
        }
        _ => into.push(expr),
    }
}

/// The expression with others in the place of locals.
fn with(expr: &Expr, by: &[(LocalId, Expr)]) -> Expr {
    if let ExprKind::Local(local) = expr.kind {
        return by.iter().find(|(known, _)| *known == local).map_or_else(|| expr.clone(), |(_, value)| value.clone());
    }
    let boxed = |expr: &Expr| Box::new(with(expr, by));
    let all = |exprs: &[Expr]| exprs.iter().map(|expr| with(expr, by)).collect();
    let kind = match &expr.kind {
        ExprKind::Constant(_) | ExprKind::Local(_) | ExprKind::Size { .. } | ExprKind::First { .. } => {
            expr.kind.clone()
        }
        ExprKind::Load { array, subscripts, inbounds } => {
            ExprKind::Load { array: *array, subscripts: all(subscripts), inbounds: *inbounds }
        }
        ExprKind::Unary(op, operand) => ExprKind::Unary(*op, boxed(operand)),
        ExprKind::Binary(op, left, right) => ExprKind::Binary(*op, boxed(left), boxed(right)),
        ExprKind::Compare(op, left, right) => ExprKind::Compare(*op, boxed(left), boxed(right)),
        ExprKind::Call(intrinsic, operands) => ExprKind::Call(*intrinsic, all(operands)),
        ExprKind::Select { condition, yes, no } => {
            ExprKind::Select { condition: boxed(condition), yes: boxed(yes), no: boxed(no) }
        }
        ExprKind::IfElse { condition, yes, no } => {
            ExprKind::IfElse { condition: boxed(condition), yes: boxed(yes), no: boxed(no) }
        }
        ExprKind::Convert(operand) => ExprKind::Convert(boxed(operand)),
        ExprKind::Wrap(operand) => ExprKind::Wrap(boxed(operand)),
    };
    Expr { kind, ..expr.clone() }
}

/// Whether a part is found that is evaluated wherever the expression is.
fn certainly(expr: &Expr, found: &dyn Fn(&Expr) -> bool) -> bool {
    let operands = match &expr.kind {
        ExprKind::Select { condition, .. } => vec![&**condition],
        ExprKind::Binary(BinaryOp::AndAlso | BinaryOp::OrElse, left, _) => vec![&**left],
        _ => expr.operands(),
    };
    found(expr) || operands.into_iter().any(|operand| certainly(operand, found))
}

fn mentions(expr: &Expr, locals: &BTreeSet<LocalId>) -> bool {
    expr.any(&|it| matches!(it.kind, ExprKind::Local(local) if locals.contains(&local)))
}

/// The elements that an expression reads: arrays and subscripts.
fn loads_of(expr: &Expr, into: &mut Vec<(LocalId, Vec<Expr>)>) {
    if let ExprKind::Load { array, subscripts, .. } = &expr.kind {
        into.push((*array, subscripts.clone()));
    }
    expr.operands().into_iter().for_each(|operand| loads_of(operand, into));
}

/// The subscripts by which a block stores into an array.
fn stores_of(block: &Block, wanted: LocalId, into: &mut Vec<Vec<Expr>>) {
    for statement in block {
        match &statement.kind {
            StatementKind::For { body, .. } => stores_of(body, wanted, into),
            StatementKind::If { then, otherwise, .. } => {
                stores_of(then, wanted, into);
                stores_of(otherwise, wanted, into);
            }
            StatementKind::Store { array, subscripts, .. } if *array == wanted => into.push(subscripts.clone()),
            StatementKind::Allocate { array, .. } if *array == wanted => into.push(vec![]),
            StatementKind::Store { .. }
            | StatementKind::Allocate { .. }
            | StatementKind::Set { .. }
            | StatementKind::Require { .. } => {}
        }
    }
}
