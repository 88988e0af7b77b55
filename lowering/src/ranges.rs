//! Loops whose bounds are read from arrays, or are no sums of sizes, as loops over a range that sizes give, with a condition on data.
//!
//! ```text
//!                                        first, last = p[i], p[i+1] - 1
//! for k in p[i]:p[i+1]-1                 check first > last || 1 <= first && last <= size(a, 1)
//!     y[i] += a[k]                  ->   for k in 1:size(a, 1)
//! end                                        if k >= first && k <= last
//!                                                y[i] += a[k]
//! ```
//!
//! The outer range is that of an array which the iterator is a subscript of; analyses see no more of the loop. Generated
//! loops have the source's bounds: code generation turns the conditions back into them, but for bounds [of sizes](RangeCheck::of_sizes).

use crate::error::LowerError;
use crate::stepped::reads;
use crate::typed::{binary, both, compare, either, integer};
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, Firsts, Function, Local, LocalId, LoopId, Mode, NamedBy, Range, Requirement, Role,
    SizeError, Statement, StatementKind, Type,
};
use tessella_scalar::{BinaryOp, CompareOp, Intrinsic, ScalarType};

/// Iterators that are no subscript run through these values at most: no other expression of sizes is larger.
const LIMIT: i64 = 1 << 40;

/// Values are followed through so many names.
const DEPTH: u32 = 8;

/// A function without bounds that are read.
pub(crate) struct Rewritten {
    pub(crate) function: Function,
    /// The loops that had some. The body of each is an `if`.
    pub(crate) ranged: BTreeMap<LoopId, RangeCheck>,
    pub(crate) errors: Vec<LowerError>,
}

/// What has to hold before a loop runs over its outer range in place of its own.
pub(crate) struct RangeCheck {
    pub(crate) condition: Expr,
    pub(crate) failure: Requirement,
    pub(crate) span: Span,
    /// Whether sizes tell the bounds, which are the same whenever the loop runs, and an array the outer range: iterations of that are as good as the loop's
    /// own, but for a condition.
    pub(crate) of_sizes: bool,
}

/// Rewrites all loops whose bounds depend on elements of arrays.
pub(crate) fn rewrite(function: &Function) -> Rewritten {
    let mut known = Known { locals: function.locals.clone(), written: BTreeSet::new(), values: BTreeMap::new() };
    known.learn(&function.body);
    let (ranged, errors) = (BTreeMap::new(), vec![]);
    let mut rewriting = Rewriting { known, ranged, errors, around: vec![], iterators: vec![] };
    let body = rewriting.block(&function.body);
    let Rewriting { known, ranged, errors, .. } = rewriting;
    let function = Function { body, locals: known.locals, ..function.clone() };
    Rewritten { function, ranged, errors }
}

/// What the function does with its locals.
struct Known {
    locals: Vec<Local>,
    /// Arrays that some statement stores into or makes.
    written: BTreeSet<LocalId>,
    /// What locals that are assigned once are set to.
    values: BTreeMap<LocalId, Expr>,
}

struct Rewriting {
    known: Known,
    ranged: BTreeMap<LoopId, RangeCheck>,
    errors: Vec<LowerError>,
    /// The loops around the present place, outermost first, and their iterators.
    around: Vec<LoopId>,
    iterators: Vec<LocalId>,
}

/// What a bound depends on.
enum Source {
    /// Sizes, arguments, iterators and variables that change: analyses tell whether it is affine.
    Sizes,
    /// Elements of arrays that are only read, or what is affine in nothing: a product of sizes.
    Data,
    /// An array that the function writes, and where it is read.
    Written { array: LocalId, span: Span },
}

impl Known {
    fn learn(&mut self, block: &Block) {
        for statement in block {
            match &statement.kind {
                StatementKind::For { body, .. } => self.learn(body),
                StatementKind::If { then, otherwise, .. } => {
                    self.learn(then);
                    self.learn(otherwise);
                }
                StatementKind::Set { target, value, .. } => {
                    if matches!(self.locals[target.0 as usize].role, Role::Value(_)) {
                        self.values.insert(*target, value.clone());
                    }
                }
                StatementKind::Store { array, .. } | StatementKind::Allocate { array, .. } => {
                    self.written.insert(*array);
                }
                StatementKind::Require { .. } => {}
            }
        }
    }

    fn source(&self, bound: &Expr) -> Source {
        let (mut found, mut open, mut seen) = (Source::Sizes, vec![bound], BTreeSet::new());
        while let Some(expr) = open.pop() {
            match &expr.kind {
                ExprKind::Load { array, .. } if self.written.contains(array) => {
                    return Source::Written { array: *array, span: expr.span };
                }
                ExprKind::Load { .. } => found = Source::Data,
                ExprKind::Binary(operator, left, right) if self.is_nonlinear(*operator, left, right) => {
                    found = Source::Data;
                }
                ExprKind::Call(Intrinsic::Sqrt, operands) if !self.is_constant(&operands[0], DEPTH) => {
                    found = Source::Data;
                }
                ExprKind::Local(local) => match self.locals[local.0 as usize].role {
                    Role::Variable(_) => return Source::Sizes,
                    Role::Value(_) if seen.insert(*local) => open.extend(self.values.get(local)),
                    Role::Value(_) | Role::Argument | Role::Iterator(_) => {}
                },
                ExprKind::Constant(_)
                | ExprKind::Size { .. }
                | ExprKind::First { .. }
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Compare(..)
                | ExprKind::Call(..)
                | ExprKind::Select { .. }
                | ExprKind::IfElse { .. }
                | ExprKind::Convert(_)
                | ExprKind::Wrap(_) => {}
            }
            open.extend(expr.operands());
        }
        found
    }

    /// Whether an operation of integers is certainly affine in nothing.
    fn is_nonlinear(&self, operator: BinaryOp, left: &Expr, right: &Expr) -> bool {
        let varies = |expr: &Expr| !self.is_constant(expr, DEPTH);
        if !left.ty.is_integer() || left.ty == ScalarType::Bool {
            return false;
        }
        match operator {
            BinaryOp::Add | BinaryOp::Sub => left.ty != ScalarType::I64,
            BinaryOp::Mul => left.ty != ScalarType::I64 || (varies(left) && varies(right)),
            BinaryOp::DivTrunc | BinaryOp::DivFloor | BinaryOp::DivCeil | BinaryOp::Rem | BinaryOp::Mod => {
                left.ty != ScalarType::I64 || varies(right)
            }
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => varies(right),
            BinaryOp::Div
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftRightLogical
            | BinaryOp::AndAlso
            | BinaryOp::OrElse => false,
        }
    }

    fn is_constant(&self, expr: &Expr, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match &expr.kind {
            ExprKind::Constant(_) => true,
            ExprKind::Local(local) => self.values.get(local).is_some_and(|value| self.is_constant(value, depth)),
            ExprKind::Load { .. } | ExprKind::Size { .. } | ExprKind::First { .. } => false,
            ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::Call(..)
            | ExprKind::Select { .. }
            | ExprKind::IfElse { .. }
            | ExprKind::Convert(_)
            | ExprKind::Wrap(_) => expr.operands().into_iter().all(|operand| self.is_constant(operand, depth)),
        }
    }

    /// Whether an expression is made of sizes, arguments and constants alone.
    fn is_of_sizes(&self, expr: &Expr, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match &expr.kind {
            ExprKind::Constant(_) | ExprKind::Size { .. } | ExprKind::First { .. } => true,
            ExprKind::Load { .. } => false,
            ExprKind::Local(local) => match self.locals[local.0 as usize].role {
                Role::Argument => true,
                Role::Value(_) => self.values.get(local).is_some_and(|value| self.is_of_sizes(value, depth)),
                Role::Iterator(_) | Role::Variable(_) => false,
            },
            ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::Call(..)
            | ExprKind::Select { .. }
            | ExprKind::IfElse { .. }
            | ExprKind::Convert(_)
            | ExprKind::Wrap(_) => expr.operands().into_iter().all(|operand| self.is_of_sizes(operand, depth)),
        }
    }

    /// Whether what a block evaluates may change with these iterators.
    fn depends_on(&self, block: &Block, iterators: &[LocalId]) -> bool {
        let (mut used, mut seen) = (BTreeSet::new(), BTreeSet::new());
        reads(block, &mut used);
        let mut open: Vec<LocalId> = used.into_iter().collect();
        while let Some(local) = open.pop() {
            if iterators.contains(&local) {
                return true;
            }
            if !seen.insert(local) {
                continue;
            }
            let mut exprs: Vec<&Expr> = self.values.get(&local).into_iter().collect();
            while let Some(expr) = exprs.pop() {
                if let ExprKind::Local(other) = expr.kind {
                    open.push(other);
                }
                exprs.extend(expr.operands());
            }
        }
        false
    }

    /// The constant `c` of an expression that is `local + c`.
    fn offset(&self, expr: &Expr, local: LocalId, depth: u32) -> Option<i64> {
        let depth = depth.checked_sub(1)?;
        let of = |expr: &Expr| self.offset(expr, local, depth);
        let small = |value: i64| Some(value).filter(|value| value.abs() <= LIMIT);
        match &expr.kind {
            ExprKind::Local(found) if *found == local => Some(0),
            ExprKind::Local(other) => of(self.values.get(other)?),
            ExprKind::Binary(BinaryOp::Add, left, right) => match (constant(left), constant(right)) {
                (_, Some(added)) => small(of(left)?.checked_add(added)?),
                (Some(added), None) => small(of(right)?.checked_add(added)?),
                (None, None) => None,
            },
            ExprKind::Binary(BinaryOp::Sub, left, right) => small(of(left)?.checked_sub(constant(right)?)?),
            ExprKind::Convert(inner) | ExprKind::Wrap(inner) if inner.ty.is_integer() => of(inner),
            _ => None,
        }
    }
}

fn constant(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Constant(constant) => constant.as_integer().and_then(|value| i64::try_from(value).ok()),
        ExprKind::Convert(inner) => constant(inner),
        _ => None,
    }
}

/// The places where an iterator is a subscript of an argument.
struct Uses<'k> {
    known: &'k Known,
    iterator: LocalId,
    /// Array, axis, and the constant that is added to the iterator; those that every iteration gets to come first.
    certain: Vec<(LocalId, u32, i64)>,
    possible: Vec<(LocalId, u32, i64)>,
}

impl Uses<'_> {
    fn block(&mut self, block: &Block, certain: bool) {
        for statement in block {
            match &statement.kind {
                StatementKind::For { range, body, .. } => {
                    self.expr(&range.start, certain);
                    self.expr(&range.stop, certain);
                    self.block(body, false);
                }
                StatementKind::If { condition, then, otherwise } => {
                    self.expr(condition, certain);
                    self.block(then, false);
                    self.block(otherwise, false);
                }
                StatementKind::Set { value, .. } => self.expr(value, certain),
                StatementKind::Store { array, subscripts, value, .. } => {
                    self.access(*array, subscripts, certain);
                    subscripts.iter().for_each(|subscript| self.expr(subscript, certain));
                    self.expr(value, certain);
                }
                StatementKind::Allocate { .. } | StatementKind::Require { .. } => {}
            }
        }
    }

    fn expr(&mut self, expr: &Expr, certain: bool) {
        if let ExprKind::Load { array, subscripts, .. } = &expr.kind {
            self.access(*array, subscripts, certain);
        }
        let always =
            !matches!(expr.kind, ExprKind::Select { .. } | ExprKind::Binary(BinaryOp::AndAlso | BinaryOp::OrElse, ..));
        for (at, operand) in expr.operands().into_iter().enumerate() {
            self.expr(operand, certain && (always || at == 0));
        }
    }

    fn access(&mut self, array: LocalId, subscripts: &[Expr], certain: bool) {
        let local = &self.known.locals[array.0 as usize];
        let Type::Array { rank, .. } = local.ty else { return };
        if local.role != Role::Argument || rank as usize != subscripts.len() {
            return;
        }
        for (axis, subscript) in (0..).zip(subscripts) {
            if let Some(offset) = self.known.offset(subscript, self.iterator, DEPTH) {
                let found = if certain { &mut self.certain } else { &mut self.possible };
                found.push((array, axis, offset));
            }
        }
    }
}

impl Rewriting {
    fn block(&mut self, block: &Block) -> Block {
        block.iter().flat_map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &Statement) -> Block {
        let span = statement.span;
        let kind = match &statement.kind {
            StatementKind::If { condition, then, otherwise } => {
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                StatementKind::If { condition: condition.clone(), then, otherwise }
            }
            StatementKind::For { id, iterator, range, mode, body } => {
                let bounds = self.bounds(*iterator, range);
                self.around.push(*id);
                self.iterators.push(*iterator);
                let inner = self.block(body);
                self.iterators.pop();
                self.around.pop();
                let plain = |range: &Range, body: Block| Statement {
                    kind: StatementKind::For { id: *id, iterator: *iterator, range: range.clone(), mode: *mode, body },
                    span,
                };
                let Some(data) = bounds else { return vec![plain(range, inner)] };
                let hull = self.hull(*iterator, body, span);
                let (check, block) = self.guarded(*iterator, range, &data, &hull, inner, &plain);
                self.ranged.insert(*id, check);
                return block;
            }
            StatementKind::Set { .. }
            | StatementKind::Store { .. }
            | StatementKind::Allocate { .. }
            | StatementKind::Require { .. } => statement.kind.clone(),
        };
        vec![Statement { kind, span }]
    }

    /// Whether start and stop are data; `None` if neither is, or after recording that they change.
    fn bounds(&mut self, iterator: LocalId, range: &Range) -> Option<[bool; 2]> {
        let mut data = [false; 2];
        for (at, bound) in [&range.start, &range.stop].into_iter().enumerate() {
            match self.known.source(bound) {
                Source::Sizes => {}
                Source::Data => data[at] = true,
                Source::Written { array, span } => {
                    let name = |local: LocalId| self.known.locals[local.0 as usize].name.clone();
                    let (iterator, array) = (name(iterator), name(array));
                    self.errors.push(LowerError::BoundWritten { iterator, array, range: span_of(range), span });
                    return None;
                }
            }
        }
        Some(data).filter(|data| data.contains(&true))
    }

    /// The first and the last value with which the iterator is inside of what it is a subscript of.
    fn hull(&self, iterator: LocalId, body: &Block, span: Span) -> [Expr; 2] {
        let mut uses = Uses { known: &self.known, iterator, certain: vec![], possible: vec![] };
        uses.block(body, true);
        let all = if uses.certain.is_empty() { uses.possible } else { uses.certain };
        let Some(&(array, axis, _)) = all.first() else { return [-LIMIT, LIMIT].map(|limit| integer(limit, span)) };
        let offsets = || all.iter().filter(|it| (it.0, it.1) == (array, axis)).map(|it| it.2);
        let (least, most) = (offsets().min().unwrap_or(0), offsets().max().unwrap_or(0));
        let of_array = |kind: ExprKind| Expr { kind, ty: ScalarType::I64, span };
        let size = of_array(ExprKind::Size { array, axis });
        let free = match self.known.locals[array.0 as usize].ty {
            Type::Array { form, .. } => form.firsts == Firsts::Free,
            Type::Scalar(_) => false,
        };
        match free {
            true => {
                let first = of_array(ExprKind::First { array, axis });
                let end = binary(BinaryOp::Add, first.clone(), size);
                [plus(first, -least), plus(end, -1 - most)]
            }
            false => [integer(1 - least, span), plus(size, -most)],
        }
    }

    /// The loop over the hull, in what keeps it to the range.
    fn guarded(
        &mut self,
        iterator: LocalId,
        range: &Range,
        data: &[bool; 2],
        hull: &[Expr; 2],
        body: Block,
        plain: &dyn Fn(&Range, Block) -> Statement,
    ) -> (RangeCheck, Block) {
        let is_far = |end: &Expr| constant(end).is_some_and(|end| end.abs() == LIMIT);
        // Where the array is longer than the loop, the other iterations take time, too: no more than that of one run of the loop for each of a time
        // step, say, but not of each row of a matrix.
        let of_sizes = range.step.unsigned_abs() == 1
            && !self.known.depends_on(&body, &self.iterators)
            && !hull.iter().any(is_far)
            && [&range.start, &range.stop].into_iter().all(|bound| self.known.is_of_sizes(bound, DEPTH));
        let mut block = vec![];
        let start = self.named(iterator, "start", &range.start, data[0], &mut block);
        let stop = self.named(iterator, "stop", &range.stop, data[1], &mut block);
        let up = range.step > 0;
        let span = span_of(range);
        // Of low and high: whether it is data, its value, the hull's.
        let ends = if up { [(data[0], &start), (data[1], &stop)] } else { [(data[1], &stop), (data[0], &start)] };
        let [(low_is_data, low), (high_is_data, high)] = ends;
        let at = Expr { kind: ExprKind::Local(iterator), ty: ScalarType::I64, span };
        let (mut inside, mut conditions) = (vec![], vec![]);
        if low_is_data {
            inside.push(compare(CompareOp::Ge, low.clone(), hull[0].clone()));
            conditions.push(compare(CompareOp::Ge, at.clone(), low.clone()));
        }
        if high_is_data {
            inside.push(compare(CompareOp::Le, high.clone(), hull[1].clone()));
            conditions.push(compare(CompareOp::Le, at.clone(), high.clone()));
        }
        let stride = i64::try_from(range.step.unsigned_abs()).unwrap_or(i64::MAX);
        if stride > 1 {
            let distance = binary(BinaryOp::Sub, at, start.clone());
            let rest = binary(BinaryOp::Rem, distance, integer(stride, span));
            conditions.push(compare(CompareOp::Eq, rest, integer(0, span)));
        }
        let all = |parts: Vec<Expr>| parts.into_iter().reduce(both);
        let inside = all(inside).expect("one of the bounds is data");
        let empty = compare(CompareOp::Gt, low.clone(), high.clone());
        let name = &self.known.locals[iterator.0 as usize].name;
        let text = format!("the range of the loop over `{name}` leaves the arrays that `{name}` is a subscript of");
        let check = RangeCheck {
            condition: either(empty, inside),
            failure: Requirement { error: SizeError::Thrown, text },
            span,
            of_sizes,
        };
        let condition = all(conditions).expect("one of the bounds is data");
        let body = vec![Statement { kind: StatementKind::If { condition, then: body, otherwise: vec![] }, span }];
        let low = if low_is_data { hull[0].clone() } else { low.clone() };
        let high = if high_is_data { hull[1].clone() } else { high.clone() };
        let step = if up { 1 } else { -1 };
        let range = if up { Range { start: low, step, stop: high } } else { Range { start: high, step, stop: low } };
        block.push(plain(&range, body));
        (check, block)
    }

    /// A bound as something that can be repeated: data are read once, where the source reads them.
    fn named(&mut self, iterator: LocalId, end: &str, bound: &Expr, is_data: bool, block: &mut Block) -> Expr {
        let is_name = match bound.kind {
            ExprKind::Local(local) => matches!(self.known.locals[local.0 as usize].role, Role::Value(_)),
            _ => false,
        };
        if !is_data || is_name {
            return bound.clone();
        }
        let span = bound.span;
        let target = LocalId(self.known.locals.len() as u32);
        let name = format!("{}_{end}", self.known.locals[iterator.0 as usize].name);
        let (ty, role) = (Type::Scalar(ScalarType::I64), Role::Value(self.around.last().copied()));
        self.known.locals.push(Local { name, named: NamedBy::Tessella, ty, role, span });
        self.known.values.insert(target, bound.clone());
        let kind = StatementKind::Set { target, value: bound.clone(), label: None, mode: Mode::default() };
        block.push(Statement { kind, span });
        Expr { kind: ExprKind::Local(target), ty: ScalarType::I64, span }
    }
}

/// From the start to the end of a range.
pub(crate) fn span_of(range: &Range) -> Span {
    let (start, stop) = (range.start.span, range.stop.span);
    if stop.end >= start.start && stop.file == start.file { Span { end: stop.end, ..start } } else { stop }
}

fn plus(value: Expr, added: i64) -> Expr {
    match added {
        0 => value,
        added => {
            let added = integer(added, value.span);
            binary(BinaryOp::Add, value, added)
        }
    }
}
