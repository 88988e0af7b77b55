//! Bounds and extents that are products or quotients of sizes: each becomes a parameter of its own, with which they are affine.
//!
//! ```text
//! u = zeros(nx * ny)             u = zeros(nx_ny)        nx_ny is worked out at entry
//! for k in 2:nx*ny-1        ->   for k in 2:nx_ny-1
//! ```
//!
//! Subscripts keep their products: `u[(j-1)*nx + i]` has rows of length `nx`, which a parameter for `nx * ny` would not tell.

use crate::stepped::polynomial::{Atom, Polynomial};
use crate::typed::binary;
use std::collections::BTreeMap;
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, Function, Local, LocalId, NamedBy, Range, Role, SizeError, Statement, StatementKind, Type,
};
use tessella_polyhedral::algorithm::PARAM_LIMIT;
use tessella_polyhedral::derived::Rounding;
use tessella_scalar::{BinaryOp, CompareOp, ScalarType, UnaryOp};

/// A function gets no more parameters of its own: each makes all sets wider. Loops up to further products are [ranges](crate::ranges).
pub(crate) const MOST: usize = 8;

/// Quotients and maxima of more than that stay what they are.
const MOST_ATOMS: usize = 16;

/// Factors are no larger: a parameter may be 2^40, and no expression passes 2^60.
const MOST_FACTOR: u64 = 1 << 18;

/// A function whose bounds and extents have no products of sizes.
pub(crate) struct Rewritten {
    pub(crate) function: Function,
    /// The arguments that the function has for them, which no caller gives, and what each holds.
    pub(crate) derived: Vec<(LocalId, Meaning)>,
}

/// What such an argument holds.
pub(crate) enum Meaning {
    Product(Atoms),
    /// An expression of arguments and sizes, floats too.
    Scalars(Expr),
}

/// A product of what callers give.
pub(crate) type Atoms = Vec<Atom>;

/// Finds the products and quotients of sizes in all bounds of loops, extents and comparisons of conditions, and the quotients in names that
/// are set once. The function may have some such arguments already.
pub(crate) fn rewrite(function: &Function, before: Vec<(LocalId, Meaning)>) -> Rewritten {
    let mut rewriting = Rewriting {
        function,
        locals: function.locals.clone(),
        values: BTreeMap::new(),
        choices: BTreeMap::new(),
        known: BTreeMap::new(),
        order: before,
    };
    rewriting.learn(&function.body);
    let body = rewriting.block(&function.body);
    let Rewriting { locals, order, .. } = rewriting;
    Rewritten { function: Function { body, locals, ..function.clone() }, derived: order }
}

struct Rewriting<'a> {
    function: &'a Function,
    locals: Vec<Local>,
    /// What locals that are assigned once are set to, where that is a polynomial.
    values: BTreeMap<LocalId, Polynomial>,
    /// What other integers that are assigned once are set to: `min(n, width)`.
    choices: BTreeMap<LocalId, Expr>,
    known: BTreeMap<Atoms, LocalId>,
    order: Vec<(LocalId, Meaning)>,
}

impl Rewriting<'_> {
    fn learn(&mut self, block: &Block) {
        for statement in block {
            match &statement.kind {
                StatementKind::For { body, .. } => self.learn(body),
                StatementKind::If { then, otherwise, .. } => {
                    self.learn(then);
                    self.learn(otherwise);
                }
                StatementKind::Set { target, value, .. } => {
                    if matches!(self.function.locals[target.0 as usize].role, Role::Value(_)) {
                        match self.polynomial(value) {
                            Some(value) => drop(self.values.insert(*target, value)),
                            None => drop(self.choices.insert(*target, value.clone())),
                        }
                    }
                }
                StatementKind::Store { .. } | StatementKind::Allocate { .. } | StatementKind::Require { .. } => {}
            }
        }
    }

    fn block(&mut self, block: &Block) -> Block {
        block.iter().map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &Statement) -> Statement {
        let kind = match &statement.kind {
            StatementKind::For { id, iterator, range, mode, body } => {
                let range =
                    Range { start: self.number(&range.start), stop: self.number(&range.stop), step: range.step };
                StatementKind::For { id: *id, iterator: *iterator, range, mode: *mode, body: self.block(body) }
            }
            StatementKind::If { condition, then, otherwise } => StatementKind::If {
                condition: self.condition(condition),
                then: self.block(then),
                otherwise: self.block(otherwise),
            },
            StatementKind::Allocate { array, extents } => {
                let extents = extents.iter().map(|extent| self.extent(extent)).collect();
                StatementKind::Allocate { array: *array, extents }
            }
            StatementKind::Require { condition, failure } => {
                let condition = match failure.error {
                    SizeError::Divide => self.of_divisor(condition).unwrap_or_else(|| condition.clone()),
                    _ => self.condition(condition),
                };
                StatementKind::Require { condition, failure: failure.clone() }
            }
            StatementKind::Set { target, value, label, mode } if self.values.contains_key(target) => {
                let value = self.without_quotients(&self.values[target].clone(), value.span).unwrap_or(value.clone());
                StatementKind::Set { target: *target, value, label: label.clone(), mode: *mode }
            }
            StatementKind::Set { .. } | StatementKind::Store { .. } => statement.kind.clone(),
        };
        Statement { kind, span: statement.span }
    }

    /// That a divisor is not zero, of `!(d == 0 || d == -1 && n == typemin(n))`, if the dividend is affine in what has limits: it never is that.
    fn of_divisor(&self, condition: &Expr) -> Option<Expr> {
        let ExprKind::Unary(UnaryOp::Not, fails) = &condition.kind else { return None };
        let ExprKind::Binary(BinaryOp::OrElse, is_zero, overflows) = &fails.kind else { return None };
        let ExprKind::Binary(BinaryOp::AndAlso, _, is_least) = &overflows.kind else { return None };
        let ExprKind::Compare(CompareOp::Eq, dividend, least) = &is_least.kind else { return None };
        let is_small = self.polynomial(dividend).is_some_and(|it| is_affine(&it));
        (is_small && integer_of(least) == Some(i64::MIN)).then(|| {
            let kind = ExprKind::Unary(UnaryOp::Not, is_zero.clone());
            Expr { kind, ..condition.clone() }
        })
    }

    /// A condition with parameters in the integers that it compares.
    fn condition(&mut self, condition: &Expr) -> Expr {
        let kind = match &condition.kind {
            // Data need no parameter beside them, which only limits what sizes may be.
            ExprKind::Compare(op, left, right) if self.is_known(left) && self.is_known(right) => {
                ExprKind::Compare(*op, Box::new(self.number(left)), Box::new(self.number(right)))
            }
            ExprKind::Binary(op, left, right) if left.ty == ScalarType::Bool => {
                ExprKind::Binary(*op, Box::new(self.condition(left)), Box::new(self.condition(right)))
            }
            ExprKind::Unary(UnaryOp::Not, operand) => ExprKind::Unary(UnaryOp::Not, Box::new(self.condition(operand))),
            _ => return condition.clone(),
        };
        Expr { kind, ..condition.clone() }
    }

    /// An integer with parameters for the products and quotients of sizes in it.
    fn number(&mut self, expr: &Expr) -> Expr {
        if let ExprKind::Binary(op @ (BinaryOp::Min | BinaryOp::Max), left, right) = &expr.kind {
            let (left, right) = (self.number(left), self.number(right));
            return Expr { span: expr.span, ..binary(*op, left, right) };
        }
        self.replaced(expr).unwrap_or_else(|| expr.clone())
    }

    /// The extent of an array: unlike bounds, which may be the larger or smaller of two numbers, it is one number.
    fn extent(&mut self, expr: &Expr) -> Expr {
        let value = self.without_choices(expr).and_then(|value| self.polynomial(&value));
        let replaced = value.and_then(|value| self.parameters_of(&value, is_linear_product, expr.span));
        replaced.unwrap_or_else(|| self.number(expr))
    }

    /// An integer whose maxima and minima are sums: `max(a, b)` is `a + max(0, b - a)`, whatever wraps around. `None` where one of them is larger
    /// than what [`Derived`](tessella_polyhedral::derived::Derived) computes.
    fn without_choices(&self, expr: &Expr) -> Option<Expr> {
        match &expr.kind {
            ExprKind::Local(local) => match self.choices.get(local) {
                Some(value) => self.without_choices(value),
                None => Some(expr.clone()),
            },
            ExprKind::Binary(op @ (BinaryOp::Min | BinaryOp::Max), left, right) => {
                let (left, right) = (self.without_choices(left)?, self.without_choices(right)?);
                let of = |op, left, right| Expr { span: expr.span, ..binary(op, left, right) };
                let zero = Polynomial::constant(0).to_expr(expr.span);
                // A difference that wraps around would have another sign.
                let sizes = [&left, &right].map(|it| self.polynomial(it).map_or(u128::MAX, |it| magnitude(&it)));
                let are_small = sizes[0].saturating_add(sizes[1]) < 1 << 62;
                if !are_small {
                    return None;
                }
                Some(match op {
                    BinaryOp::Max => {
                        of(BinaryOp::Add, left.clone(), of(BinaryOp::Max, zero, of(BinaryOp::Sub, right, left)))
                    }
                    _ => of(BinaryOp::Sub, left.clone(), of(BinaryOp::Max, zero, of(BinaryOp::Sub, left, right))),
                })
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (Box::new(self.without_choices(left)?), Box::new(self.without_choices(right)?));
                Some(Expr { kind: ExprKind::Binary(*op, left, right), ..expr.clone() })
            }
            _ => Some(expr.clone()),
        }
    }

    /// The same with parameters; `None` where nothing has to be replaced, or something cannot be.
    fn replaced(&mut self, expr: &Expr) -> Option<Expr> {
        let value = self.polynomial(expr)?;
        self.parameters_of(&value, is_affine_product, expr.span)
    }

    /// A polynomial with parameters for the products that are not `plain`; `None` where all are, or something cannot be one.
    fn parameters_of(&mut self, value: &Polynomial, plain: fn(&[Atom]) -> bool, span: Span) -> Option<Expr> {
        let (mut sum, mut is_new) = (Polynomial::constant(0), false);
        let factors = value.terms().filter(|(product, _)| !product.is_empty());
        if factors.map(|(_, factor)| factor.unsigned_abs()).fold(0, u64::saturating_add) > MOST_FACTOR {
            return None;
        }
        for (product, factor) in value.terms() {
            if plain(product) {
                let plain = product.iter().cloned().map(Polynomial::atom);
                let plain = plain.reduce(|one, _| one).unwrap_or_else(|| Polynomial::constant(1));
                sum = sum.add(&plain.scale(factor)?)?;
                continue;
            }
            let is_given = product.iter().all(|atom| self.is_given(atom));
            if !is_given {
                return None;
            }
            is_new = true;
            let local = self.parameter_if_few(product, span)?;
            sum = sum.add(&Polynomial::atom(Atom::Local(local)).scale(factor)?)?;
        }
        is_new.then(|| sum.to_expr(span))
    }

    /// The value of a name with parameters for the quotients in it, so that a subscript that it is a factor of has a size for a stride; `None`
    /// where there are none. Products stay.
    fn without_quotients(&mut self, value: &Polynomial, span: Span) -> Option<Expr> {
        let (mut sum, mut is_new) = (Polynomial::constant(0), false);
        for (product, factor) in value.terms() {
            let mut term = Polynomial::constant(factor);
            for atom in product {
                let is_affine = is_affine_product(std::slice::from_ref(atom));
                let is_replaced = !is_affine && self.is_given(atom);
                if !is_affine && !is_replaced {
                    return None;
                }
                let atom = match is_replaced {
                    true => Atom::Local(self.parameter_if_few(std::slice::from_ref(atom), span)?),
                    false => atom.clone(),
                };
                is_new |= is_replaced;
                term = term.mul(&Polynomial::atom(atom))?;
            }
            sum = sum.add(&term)?;
        }
        is_new.then(|| sum.to_expr(span))
    }

    /// The argument that stands for a product, if the function may have it.
    fn parameter_if_few(&mut self, product: &[Atom], span: Span) -> Option<LocalId> {
        let may_be = self.order.len() < MOST || self.known.contains_key(product);
        may_be.then(|| self.parameter(product, span))
    }

    /// The argument that stands for a product.
    fn parameter(&mut self, product: &[Atom], span: Span) -> LocalId {
        if let Some(&known) = self.known.get(product) {
            return known;
        }
        let id = LocalId(self.locals.len() as u32);
        let name = product.iter().map(|atom| self.name(atom)).collect::<Vec<_>>().join("_");
        let (ty, role) = (Type::Scalar(ScalarType::I64), Role::Argument);
        self.locals.push(Local { name, named: NamedBy::Tessella, ty, role, span });
        self.known.insert(product.to_vec(), id);
        self.order.push((id, Meaning::Product(product.to_vec())));
        id
    }

    fn name(&self, atom: &Atom) -> String {
        let name = |local: LocalId| &self.function.locals[local.0 as usize].name;
        match atom {
            Atom::Local(local) => name(*local).clone(),
            Atom::Size(array, axis) => format!("{}_{}", name(*array), axis + 1),
            Atom::First(array, _) => format!("{}_first", name(*array)),
            Atom::Entry(..) => "entry".to_owned(),
            Atom::Clamped(value) => self.name_of(value),
            Atom::Quotient(value, divisor) => format!("{}_div_{divisor}", self.name_of(value)),
            Atom::Divided(rounding, dividend, divisor) => {
                let by = match rounding {
                    Rounding::Zero => "div",
                    Rounding::Down => "fld",
                    Rounding::Up => "cld",
                };
                format!("{}_{by}_{}", self.name_of(dividend), self.name_of(divisor))
            }
        }
    }

    fn name_of(&self, value: &Polynomial) -> String {
        if let Some(constant) = value.as_constant() {
            return constant.unsigned_abs().to_string();
        }
        let first = value.terms().find(|(product, _)| !product.is_empty());
        let names = first.into_iter().flat_map(|(product, _)| product).map(|atom| self.name(atom));
        names.collect::<Vec<_>>().join("_")
    }

    /// Whether an atom is made of what callers give.
    fn is_given(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Local(local) => self.locals[local.0 as usize].role == Role::Argument,
            Atom::Size(array, _) | Atom::First(array, _) => self.locals[array.0 as usize].role == Role::Argument,
            Atom::Entry(..) => false,
            Atom::Clamped(value) | Atom::Quotient(value, _) => self.is_all_given(value),
            Atom::Divided(_, dividend, divisor) => self.is_all_given(dividend) && self.is_all_given(divisor),
        }
    }

    fn is_all_given(&self, value: &Polynomial) -> bool {
        value.terms().all(|(product, _)| product.iter().all(|atom| self.is_given(atom)))
    }

    /// Whether an integer is affine in sizes, iterators and what may be a parameter.
    fn is_known(&self, expr: &Expr) -> bool {
        let value = self.polynomial(expr);
        value.is_some_and(|value| {
            let mut terms = value.terms();
            terms.all(|(product, _)| is_affine_product(product) || product.iter().all(|atom| self.is_given(atom)))
        })
    }

    /// An `Int64` as a polynomial of sizes, arguments and iterators.
    fn polynomial(&self, expr: &Expr) -> Option<Polynomial> {
        if expr.ty != ScalarType::I64 {
            return None;
        }
        let of = |expr: &Expr| self.polynomial(expr);
        match &expr.kind {
            ExprKind::Constant(constant) => Some(Polynomial::constant(i64::try_from(constant.as_integer()?).ok()?)),
            ExprKind::Local(local) => match self.locals[local.0 as usize].role {
                Role::Argument | Role::Iterator(_) => Some(Polynomial::atom(Atom::Local(*local))),
                Role::Value(_) => self.values.get(local).cloned(),
                Role::Variable(_) => None,
            },
            ExprKind::Size { array, axis } => Some(Polynomial::atom(Atom::Size(*array, *axis))),
            ExprKind::First { array, axis } => Some(Polynomial::atom(Atom::First(*array, *axis))),
            ExprKind::Unary(UnaryOp::Neg, operand) => of(operand)?.scale(-1),
            ExprKind::Binary(BinaryOp::Add, left, right) => of(left)?.add(&of(right)?),
            ExprKind::Binary(BinaryOp::Sub, left, right) => of(left)?.sub(&of(right)?),
            ExprKind::Binary(BinaryOp::Mul, left, right) => of(left)?.mul(&of(right)?),
            ExprKind::Binary(op, left, right) => {
                let rounding = match op {
                    BinaryOp::DivTrunc => Rounding::Zero,
                    BinaryOp::DivFloor => Rounding::Down,
                    BinaryOp::DivCeil => Rounding::Up,
                    BinaryOp::Max if integer_of(left) == Some(0) => return clamped(of(right)?),
                    BinaryOp::Max if integer_of(right) == Some(0) => return clamped(of(left)?),
                    _ => return None,
                };
                let (dividend, divisor) = (of(left)?, of(certain(right))?);
                // Only a parameter may leave out that the source throws: what is worked out in a loop keeps its divisor.
                let is_safe = divisor.as_constant().is_some_and(|it| it > 0)
                    || (self.is_all_given(&dividend) && self.is_all_given(&divisor));
                if !is_safe || weight(&dividend) + weight(&divisor) > MOST_ATOMS {
                    return None;
                }
                Some(Polynomial::atom(Atom::Divided(rounding, Box::new(dividend), Box::new(divisor))))
            }
            ExprKind::Convert(operand) | ExprKind::Wrap(operand) => of(operand),
            ExprKind::Unary(..)
            | ExprKind::Load { .. }
            | ExprKind::Compare(..)
            | ExprKind::Call(..)
            | ExprKind::Select { .. }
            | ExprKind::IfElse { .. } => None,
        }
    }
}

fn clamped(value: Polynomial) -> Option<Polynomial> {
    (weight(&value) <= MOST_ATOMS).then(|| value.clamped())
}

/// No value of a polynomial is further from zero: sizes and arguments are at most 2^40.
fn magnitude(value: &Polynomial) -> u128 {
    let of = |atom: &Atom| match atom {
        Atom::Local(_) | Atom::Size(..) | Atom::First(..) => PARAM_LIMIT.unsigned_abs().into(),
        Atom::Entry(..) => u128::MAX,
        Atom::Clamped(value) | Atom::Quotient(value, _) => magnitude(value),
        Atom::Divided(_, dividend, _) => magnitude(dividend),
    };
    let term = |(product, factor): (&[Atom], i64)| {
        product.iter().map(of).fold(u128::from(factor.unsigned_abs()), u128::saturating_mul)
    };
    value.terms().map(term).fold(0, u128::saturating_add)
}

/// How many atoms a polynomial is made of, all that stand in one another.
fn weight(value: &Polynomial) -> usize {
    let of = |atom: &Atom| match atom {
        Atom::Local(_) | Atom::Size(..) | Atom::First(..) | Atom::Entry(..) => 1,
        Atom::Clamped(value) | Atom::Quotient(value, _) => 1 + weight(value),
        Atom::Divided(_, dividend, divisor) => 1 + weight(dividend) + weight(divisor),
    };
    value.terms().flat_map(|(product, _)| product).map(of).sum()
}

/// A divisor without the case in which the source throws: `ifelse(w == 0, 1, w)`, as the frontend writes all divisors. What it divides
/// must not be evaluated where it is zero.
fn certain(divisor: &Expr) -> &Expr {
    match &divisor.kind {
        ExprKind::IfElse { yes, no, .. } if integer_of(yes) == Some(1) => no,
        _ => divisor,
    }
}

fn integer_of(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Constant(constant) => i64::try_from(constant.as_integer()?).ok(),
        _ => None,
    }
}

/// Whether a product is affine in what it is made of.
fn is_affine_product(product: &[Atom]) -> bool {
    match product {
        [] => true,
        [atom] => match atom {
            Atom::Local(_) | Atom::Size(..) | Atom::First(..) | Atom::Entry(..) => true,
            Atom::Clamped(value) => is_affine(value),
            Atom::Quotient(value, _) => is_affine(value),
            Atom::Divided(_, dividend, divisor) => {
                is_affine(dividend) && divisor.as_constant().is_some_and(|divisor| divisor != 0)
            }
        },
        _ => false,
    }
}

/// Whether a product is one affine function of what it is made of, without maxima.
fn is_linear_product(product: &[Atom]) -> bool {
    let has_maximum = |atom: &Atom| Polynomial::atom(atom.clone()).any(&|it| matches!(it, Atom::Clamped(_)));
    is_affine_product(product) && !product.iter().any(has_maximum)
}

fn is_affine(value: &Polynomial) -> bool {
    value.terms().all(|(product, _)| is_affine_product(product))
}
