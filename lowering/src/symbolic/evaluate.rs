//! Integers and conditions of typed expressions, operation by operation.

use super::{CASE_LIMIT, Evaluation, MAGNITUDE_LIMIT, Symbol};
use crate::error::{NotAffine, Reason};
use crate::formula::{Formula, Pieces};
use crate::params::limits;
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{Expr, ExprKind, LocalId, Role};
use tessella_polyhedral::affine::{Affine, AffineOverflow};
use tessella_scalar::{BinaryOp, CompareOp, Intrinsic, ScalarType, UnaryOp};

/// A value whose cases take more comparisons to tell apart, an element of a long tuple, is not followed around an edge: what is
/// asked of the cases there takes seconds, and an access that may be to any element serves.
const WRAPPED_COMPARISONS: usize = 12;

/// How many times a size is taken away from a value, or added to it, to find the remainder: at most, and without asking whether it has to be.
const MOST_TIMES: i64 = 6;
const USUAL_TIMES: i64 = 2;
/// Of dividends up to this, and divisors up to 1024, rounded quotients have the floors of exact ones.
const EXACT_QUOTIENTS: i128 = 1 << 42;

impl Evaluation<'_, '_> {
    pub(crate) fn integer(&self, expr: &Expr) -> Result<Pieces, NotAffine> {
        let fail = |reason| Err(NotAffine { span: expr.span, reason });
        if expr.ty != ScalarType::I64 {
            return match &expr.kind {
                ExprKind::Load { .. } => fail(self.read_from(expr)),
                _ => fail(Reason::NotInt64 { ty: expr.ty }),
            };
        }
        match &expr.kind {
            ExprKind::Constant(constant) => {
                let value = constant.as_integer().and_then(|value| i64::try_from(value).ok());
                match value {
                    Some(value) => self.checked(expr, Pieces::single(Affine::constant(value))),
                    None => fail(Reason::Operation),
                }
            }
            ExprKind::Local(local) => self.local(expr, *local),
            ExprKind::Load { .. } => fail(self.read_from(expr)),
            ExprKind::Size { array, axis } => match self.symbols.signature.extent(*array, *axis) {
                Some(param) => Ok(Pieces::single(Affine::param(param))),
                None => fail(Reason::Operation),
            },
            ExprKind::First { array, axis } => match self.symbols.signature.first(*array, *axis) {
                Some(param) => Ok(Pieces::single(Affine::param(param))),
                None => fail(Reason::Operation),
            },
            ExprKind::Unary(UnaryOp::Neg, operand) => {
                let operand = self.integer(operand)?;
                self.scaled(expr, &operand, -1)
            }
            ExprKind::Unary(UnaryOp::Not | UnaryOp::BitNot, _) => fail(Reason::Operation),
            ExprKind::Binary(op, left, right) => self.binary(expr, *op, left, right),
            ExprKind::Call(Intrinsic::Abs, operands) if operands.len() == 1 => {
                let operand = self.integer(&operands[0])?;
                let negated = self.scaled(expr, &operand, -1)?;
                self.chosen(expr, &operand.holds(|value| Formula::non_negative(value.clone())), &operand, &negated)
            }
            ExprKind::Call(..) => fail(Reason::Operation),
            ExprKind::Select { condition, yes, no } | ExprKind::IfElse { condition, yes, no } => {
                let condition = self.condition(condition)?;
                let (under_yes, under_no) = (self.under.and(&condition), self.under.and(&condition.not()));
                let yes = Evaluation { under: &under_yes, ..*self }.integer(yes)?;
                let no = Evaluation { under: &under_no, ..*self }.integer(no)?;
                self.chosen(expr, &condition, &yes, &no)
            }
            ExprKind::Convert(operand) | ExprKind::Wrap(operand) => match (&operand.kind, operand.ty) {
                (_, ScalarType::I64) => self.integer(operand),
                (_, ScalarType::Bool) => {
                    let condition = self.condition(operand)?;
                    let [one, zero] = [1, 0].map(|value| Pieces::single(Affine::constant(value)));
                    self.chosen(expr, &condition, &one, &zero)
                }
                (ExprKind::Constant(constant), ty) if ty.is_integer() => {
                    match constant.as_integer().and_then(|value| i64::try_from(value).ok()) {
                        Some(value) => self.checked(expr, Pieces::single(Affine::constant(value))),
                        None => fail(Reason::MayWrap),
                    }
                }
                (ExprKind::Load { .. }, _) => self.integer(operand),
                (_, ScalarType::F64) => self.whole(operand),
                (_, _) => self.narrow(operand),
            },
            ExprKind::Compare(..) => fail(Reason::Operation),
        }
    }

    /// A `Float64` that is sure to be whole: `floor(n / 2)` of an affine `n`.
    ///
    /// Dividends are so small that their quotients keep their distance from the integers they do not reach: rounding
    /// one to a `Float64` never makes it the next integer.
    pub(super) fn whole(&self, expr: &Expr) -> Result<Pieces, NotAffine> {
        let fail = || NotAffine { span: expr.span, reason: Reason::NotInt64 { ty: expr.ty } };
        let (function, quotient) = match &expr.kind {
            ExprKind::Local(_) => {
                return match expr.ty {
                    ScalarType::F64 => self.known_whole(expr),
                    _ => Err(fail()),
                };
            }
            ExprKind::Call(function @ (Intrinsic::Floor | Intrinsic::Ceil | Intrinsic::Trunc), operands) => {
                (*function, operands.first().ok_or_else(fail)?)
            }
            _ => return Err(fail()),
        };
        let ExprKind::Binary(BinaryOp::Div, dividend, divisor) = &quotient.kind else { return Err(fail()) };
        let ExprKind::Convert(dividend) = &dividend.kind else { return Err(fail()) };
        let divisor = match divisor.kind {
            ExprKind::Constant(constant) => {
                constant.as_float().filter(|it| it.fract() == 0.0 && (1.0..=1024.0).contains(it))
            }
            _ => None,
        };
        let size = divisor.ok_or_else(fail)? as i64;
        let dividend = match dividend.ty {
            ScalarType::I64 => self.integer(dividend)?,
            _ => self.narrow(dividend)?,
        };
        if expr.ty != ScalarType::F64 || self.symbols.magnitude(&dividend, self.site) > EXACT_QUOTIENTS {
            return Err(fail());
        }
        let floor = |value: &Affine| Ok(value.floor_div(size));
        let ceiling = |value: &Affine| value.scale(-1)?.floor_div(size).scale(-1);
        match function {
            Intrinsic::Floor => self.mapped(expr, &dividend, &floor),
            Intrinsic::Ceil => self.mapped(expr, &dividend, &ceiling),
            _ => self.by_sign(expr, &dividend, &floor, &ceiling),
        }
    }

    fn known_whole(&self, expr: &Expr) -> Result<Pieces, NotAffine> {
        let known = match expr.kind {
            ExprKind::Local(local) => self.symbols.symbol(local),
            _ => None,
        };
        match known {
            Some(Symbol::Integer(pieces)) => self.pruned(expr, pieces.clone()),
            Some(Symbol::Condition(_)) | None => {
                Err(NotAffine { span: expr.span, reason: Reason::NotInt64 { ty: expr.ty } })
            }
        }
    }

    /// A comparison of a whole `Float64` with a whole constant.
    fn whole_comparison(&self, op: CompareOp, left: &Expr, right: &Expr) -> Option<Formula> {
        let bound = match right.kind {
            ExprKind::Constant(constant) => constant.as_float().filter(|it| it.fract() == 0.0)?,
            _ => return None,
        };
        let value = self.whole(left).ok()?;
        // No value is as large as a larger bound.
        let limit = MAGNITUDE_LIMIT as i64;
        let bound = bound.clamp(-(limit as f64), limit as f64) as i64;
        Some(Pieces::compare(op, &value, &Pieces::single(Affine::constant(bound))))
    }

    /// An integer of another width, all of whose values are `Int64`s: an argument, or an iterator over a range of its
    /// type, which wraps around nowhere.
    fn narrow(&self, expr: &Expr) -> Result<Pieces, NotAffine> {
        let refused = || NotAffine { span: expr.span, reason: Reason::NotInt64 { ty: expr.ty } };
        let (least, most) = limits(expr.ty).ok_or_else(refused)?;
        match &expr.kind {
            ExprKind::Local(local) => self
                .symbols
                .signature
                .integer(*local)
                .map(|param| Pieces::single(Affine::param(param)))
                .ok_or_else(refused),
            ExprKind::Wrap(operand) | ExprKind::Convert(operand) if operand.ty == ScalarType::I64 => {
                let pieces = self.integer(operand)?;
                let outside = pieces.holds(|value| {
                    let bound = |limit| Affine::constant(limit);
                    Formula::compare(CompareOp::Lt, value, &bound(least)).or(&Formula::compare(
                        CompareOp::Gt,
                        value,
                        &bound(most),
                    ))
                });
                match self.symbols.is_possible(self.site, &self.under.and(&outside)) {
                    true => Err(NotAffine { span: expr.span, reason: Reason::MayWrap }),
                    false => Ok(pieces),
                }
            }
            _ => Err(refused()),
        }
    }

    fn read_from(&self, expr: &Expr) -> Reason {
        match &expr.kind {
            ExprKind::Load { array, .. } => {
                Reason::ReadFromArray { array: self.symbols.function.locals[array.0 as usize].name.clone() }
            }
            _ => Reason::Operation,
        }
    }

    fn local(&self, expr: &Expr, local: LocalId) -> Result<Pieces, NotAffine> {
        let fail = |reason| Err(NotAffine { span: expr.span, reason });
        let declared = &self.symbols.function.locals[local.0 as usize];
        let variable = declared.in_source();
        match declared.role {
            Role::Argument => match self.symbols.signature.integer(local) {
                Some(param) => Ok(Pieces::single(Affine::param(param))),
                None => fail(Reason::Operation),
            },
            Role::Iterator(_) => match self.site.iterators.iter().position(|it| it.local == local) {
                Some(position) => Ok(Pieces::single(Affine::iterator(position as u32))),
                None => fail(Reason::Operation),
            },
            Role::Variable(_) => fail(Reason::Reassigned { variable, bound: declared.span }),
            Role::Value(_) => match self.symbols.known.get(&local) {
                Some(Ok(Symbol::Integer(pieces))) => self.pruned(expr, pieces.clone()),
                Some(Err(cause)) => fail(Reason::DataDependent { variable, cause: Box::new(cause.clone()) }),
                Some(Ok(Symbol::Condition(_))) | None => fail(Reason::Operation),
            },
        }
    }

    fn binary(&self, expr: &Expr, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Pieces, NotAffine> {
        let fail = |reason| Err(NotAffine { span: expr.span, reason });
        match op {
            BinaryOp::Add => self.combined(expr, &self.integer(left)?, &self.integer(right)?, &Affine::add),
            BinaryOp::Sub => self.combined(expr, &self.integer(left)?, &self.integer(right)?, &Affine::sub),
            BinaryOp::Mul => {
                let (left, right) = (self.integer(left)?, self.integer(right)?);
                match (left.as_constant(), right.as_constant()) {
                    (_, Some(factor)) => self.scaled(expr, &left, factor),
                    (Some(factor), None) => self.scaled(expr, &right, factor),
                    (None, None) => fail(Reason::Product),
                }
            }
            BinaryOp::Min | BinaryOp::Max => {
                let (left, right) = (self.integer(left)?, self.integer(right)?);
                let order = if op == BinaryOp::Min { CompareOp::Le } else { CompareOp::Ge };
                self.chosen(expr, &Pieces::compare(order, &left, &right), &left, &right)
            }
            BinaryOp::DivTrunc | BinaryOp::DivFloor | BinaryOp::DivCeil | BinaryOp::Rem | BinaryOp::Mod => {
                self.division(expr, op, left, right)
            }
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                let value = self.integer(left)?;
                match self.integer(right)?.as_constant() {
                    Some(count @ 0..=59) if op == BinaryOp::ShiftLeft => self.scaled(expr, &value, 1 << count),
                    Some(count @ 0..=59) => self.mapped(expr, &value, &|value| Ok(value.floor_div(1 << count))),
                    Some(_) => fail(Reason::MayWrap),
                    None => fail(Reason::Operation),
                }
            }
            BinaryOp::BitAnd => {
                let (left, right) = (self.integer(left)?, self.integer(right)?);
                let (value, mask) = match (left.as_constant(), right.as_constant()) {
                    (_, Some(mask)) => (left, mask),
                    (Some(mask), None) => (right, mask),
                    (None, None) => return fail(Reason::Operation),
                };
                // `x & (2^k - 1)` is the remainder of the floored division by 2^k.
                match mask.checked_add(1) {
                    Some(modulus) if modulus > 0 && modulus & mask == 0 => {
                        self.mapped(expr, &value, &|value| value.modulo(modulus))
                    }
                    _ => fail(Reason::Operation),
                }
            }
            BinaryOp::Div
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftRightLogical
            | BinaryOp::AndAlso
            | BinaryOp::OrElse => fail(Reason::Operation),
        }
    }

    fn division(&self, expr: &Expr, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Pieces, NotAffine> {
        let given = self.integer(right);
        let divisor = match &given {
            Ok(pieces) => pieces.as_constant(),
            Err(_) => None,
        };
        if let (None, Ok(given), BinaryOp::Mod | BinaryOp::DivFloor) = (divisor, &given, op)
            && let Some(divisor) = given.as_single()
            && crate::apart::is_of_number(right)
        {
            return self.apart(expr, op, left, (divisor, right.span));
        }
        let dividend = self.integer(left)?;
        if let (None, Ok(given), BinaryOp::Mod | BinaryOp::Rem | BinaryOp::DivFloor) = (divisor, &given, op)
            && let Some(divisor) = given.as_single()
        {
            return self.wrapped(expr, op, &dividend, (divisor, right.span));
        }
        let size = match divisor {
            None => return Err(NotAffine { span: right.span, reason: Reason::DivisorNotConstant }),
            Some(0) => return Err(NotAffine { span: right.span, reason: Reason::DivisionByZero }),
            Some(divisor) => divisor.checked_abs(),
        };
        let Some(size) = size else { return Err(NotAffine { span: right.span, reason: Reason::MayWrap }) };
        let negative_divisor = divisor.is_some_and(|divisor| divisor < 0);
        // Below, `size` is the divisor's magnitude; a negative divisor first changes the dividend's sign.
        let flipped = |pieces: &Pieces| -> Result<Pieces, NotAffine> {
            if negative_divisor { self.scaled(expr, pieces, -1) } else { Ok(pieces.clone()) }
        };
        let floor = |value: &Affine| Ok(value.floor_div(size));
        let ceiling = |value: &Affine| value.scale(-1)?.floor_div(size).scale(-1);
        let remainder = |value: &Affine| value.modulo(size);
        let negative_remainder = |value: &Affine| value.scale(-1)?.modulo(size)?.scale(-1);
        match op {
            BinaryOp::DivFloor => self.mapped(expr, &flipped(&dividend)?, &floor),
            BinaryOp::DivCeil => self.mapped(expr, &flipped(&dividend)?, &ceiling),
            BinaryOp::Mod if negative_divisor => self.mapped(expr, &dividend, &negative_remainder),
            BinaryOp::Mod => self.mapped(expr, &dividend, &remainder),
            BinaryOp::DivTrunc => {
                let dividend = flipped(&dividend)?;
                self.by_sign(expr, &dividend, &floor, &ceiling)
            }
            // The sign of the divisor has no influence.
            BinaryOp::Rem => self.by_sign(expr, &dividend, &remainder, &negative_remainder),
            _ => Err(NotAffine { span: expr.span, reason: Reason::Operation }),
        }
    }

    /// The remainder or the floored quotient of a division by a size, of a value that is less than some times the size away from the remainder:
    /// one case for each number of times.
    pub(crate) fn wrapped(
        &self,
        expr: &Expr,
        op: BinaryOp,
        value: &Pieces,
        (divisor, span): (&Affine, Span),
    ) -> Result<Pieces, NotAffine> {
        let refused = || NotAffine { span, reason: Reason::DivisorNotConstant };
        let comparisons = value.0.iter().map(|(case, _)| case.comparisons()).sum::<usize>();
        if comparisons > WRAPPED_COMPARISONS {
            return Err(NotAffine { span: expr.span, reason: Reason::TooManyCases { limit: CASE_LIMIT } });
        }
        let possible = |condition: &Formula| self.symbols.is_possible(self.site, &self.under.and(condition));
        let at_least_one = Formula::compare(CompareOp::Ge, divisor, &Affine::constant(1));
        if possible(&at_least_one.not()) {
            return Err(refused());
        }
        let zero = Affine::constant(0);
        let mut cases = vec![];
        let mut covered = Formula::False;
        for (case, value) in &value.0 {
            // What remains of a negative value is negative.
            if op == BinaryOp::Rem && possible(&case.and(&Formula::compare(CompareOp::Lt, value, &zero))) {
                return Err(refused());
            }
            for times in (0..=MOST_TIMES).flat_map(|times| [times, -times]).skip(1) {
                // Beyond these only sizes smaller than what is added have any: `mod(i + 4, n)` where `n` is 1.
                if times.abs() > USUAL_TIMES && !possible(&case.and(&covered.not())) {
                    break;
                }
                let rest = divisor.scale(-times).and_then(|moved| value.add(&moved)).map_err(|_| refused())?;
                let over = rest.sub(divisor).map_err(|_| refused())?;
                let low = Formula::compare(CompareOp::Ge, &rest, &zero);
                let condition = low.and(&Formula::compare(CompareOp::Lt, &over, &zero));
                let condition = case.and(&condition);
                covered = covered.or(&condition);
                if possible(&condition) {
                    let result = if op == BinaryOp::DivFloor { Affine::constant(times) } else { rest };
                    cases.push((condition, result));
                }
            }
        }
        if possible(&covered.not()) {
            return Err(refused());
        }
        self.pruned(expr, Pieces(cases)).and_then(|pieces| self.checked(expr, pieces))
    }

    /// `value >= 0 ? from_positive(value) : from_negative(value)`, with one case where isl knows the sign.
    fn by_sign(
        &self,
        expr: &Expr,
        value: &Pieces,
        from_positive: &dyn Fn(&Affine) -> Result<Affine, AffineOverflow>,
        from_negative: &dyn Fn(&Affine) -> Result<Affine, AffineOverflow>,
    ) -> Result<Pieces, NotAffine> {
        let positive = self.mapped(expr, value, from_positive)?;
        let negative = self.mapped(expr, value, from_negative)?;
        self.chosen(expr, &value.holds(|value| Formula::non_negative(value.clone())), &positive, &negative)
    }

    pub(super) fn condition(&self, expr: &Expr) -> Result<Formula, NotAffine> {
        let fail = |reason| Err(NotAffine { span: expr.span, reason });
        if expr.ty != ScalarType::Bool {
            return fail(Reason::NotInt64 { ty: expr.ty });
        }
        match &expr.kind {
            ExprKind::Constant(constant) => match constant.as_integer() {
                Some(0) => Ok(Formula::False),
                Some(_) => Ok(Formula::True),
                None => fail(Reason::Operation),
            },
            ExprKind::Local(local) => {
                let declared = &self.symbols.function.locals[local.0 as usize];
                let variable = declared.in_source();
                match (declared.role, self.symbols.known.get(local)) {
                    (Role::Value(_), Some(Ok(Symbol::Condition(formula)))) => Ok(formula.clone()),
                    (Role::Value(_), Some(Err(cause))) => {
                        fail(Reason::DataDependent { variable, cause: Box::new(cause.clone()) })
                    }
                    (Role::Variable(_), _) => fail(Reason::Reassigned { variable, bound: declared.span }),
                    (Role::Argument | Role::Iterator(_) | Role::Value(_), _) => fail(Reason::Operation),
                }
            }
            ExprKind::Compare(op, left, right) if left.ty == ScalarType::I64 => {
                Ok(Pieces::compare(*op, &self.integer(left)?, &self.integer(right)?))
            }
            ExprKind::Compare(op, left, right) => match self.whole_comparison(*op, left, right) {
                Some(condition) => Ok(condition),
                None => fail(Reason::NotInt64 { ty: left.ty }),
            },
            ExprKind::Unary(UnaryOp::Not | UnaryOp::BitNot, operand) => Ok(self.condition(operand)?.not()),
            ExprKind::Binary(BinaryOp::AndAlso, left, right) => {
                let left = self.condition(left)?;
                let under = self.under.and(&left);
                let right = Evaluation { under: &under, ..*self }.condition(right)?;
                Ok(left.and(&right))
            }
            ExprKind::Binary(BinaryOp::OrElse, left, right) => {
                let left = self.condition(left)?;
                let under = self.under.and(&left.not());
                let right = Evaluation { under: &under, ..*self }.condition(right)?;
                Ok(left.or(&right))
            }
            ExprKind::Binary(BinaryOp::BitAnd, left, right) => Ok(self.condition(left)?.and(&self.condition(right)?)),
            ExprKind::Binary(BinaryOp::BitOr, left, right) => Ok(self.condition(left)?.or(&self.condition(right)?)),
            ExprKind::Select { condition, yes, no } | ExprKind::IfElse { condition, yes, no } => {
                let condition = self.condition(condition)?;
                let (under_yes, under_no) = (self.under.and(&condition), self.under.and(&condition.not()));
                let yes = Evaluation { under: &under_yes, ..*self }.condition(yes)?;
                let no = Evaluation { under: &under_no, ..*self }.condition(no)?;
                Ok(condition.and(&yes).or(&condition.not().and(&no)))
            }
            ExprKind::Load { .. } => fail(self.read_from(expr)),
            ExprKind::Size { .. }
            | ExprKind::First { .. }
            | ExprKind::Unary(UnaryOp::Neg, _)
            | ExprKind::Binary(..)
            | ExprKind::Call(..)
            | ExprKind::Convert(_)
            | ExprKind::Wrap(_) => fail(Reason::Operation),
        }
    }
}
