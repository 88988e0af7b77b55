//! Builds what one computation evaluates: predicate, lets, value and reads.

use crate::emit::Storage;
use crate::error::{LowerError, NotAffine, Reason};
use crate::formula::Formula;
use crate::names::Names;
use crate::nest::{Nest, Predicate, Scope, not_affine};
use crate::values::Fate;
use std::collections::BTreeMap;
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{Expr as Typed, ExprKind as TypedKind, LocalId, Role};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Access, Argument, ArrayId, Let};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::IslError;
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType, UnaryOp};

/// A load whose subscripts have more combined cases is refused.
const LOAD_CASE_LIMIT: usize = 16;

/// What a computation writes.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    Expr(&'a Typed),
    /// Whether all of these hold.
    All(Vec<&'a Typed>),
}

/// What a computation evaluates.
pub(crate) struct Parts {
    pub(crate) predicate: Option<Expr>,
    pub(crate) lets: Vec<Let>,
    pub(crate) value: Expr,
    pub(crate) reads: Vec<Access>,
    pub(crate) read_spans: Vec<Span>,
}

impl Parts {
    /// Whether the value updates the element that is written: `s = s + x` and its like.
    pub(crate) fn reduces(&self, write: &Access) -> bool {
        let is_old = |expr: &Expr| match expr.kind {
            ExprKind::Read(at) => {
                let read = &self.reads[at as usize];
                read.array == write.array && read.subscripts == write.subscripts
            }
            _ => false,
        };
        match &self.value.kind {
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max, left, right) => {
                is_old(left) || is_old(right)
            }
            ExprKind::Binary(BinaryOp::Sub, left, _) => is_old(left),
            _ => false,
        }
    }
}

/// Whether values of the source become lets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lets {
    Make,
    /// A predicate is evaluated before all lets: values are spelled out.
    SpellOut,
}

pub(crate) struct Builder<'n, 'a> {
    nest: &'n mut Nest<'a>,
    scope: &'n Scope<'a>,
    /// The computation's name.
    name: &'n str,
    reads: Vec<Access>,
    read_spans: Vec<Span>,
    lets: Vec<Let>,
    let_of: BTreeMap<LocalId, (u32, ScalarType)>,
    let_names: Names,
    mode: Lets,
}

impl<'n, 'a> Builder<'n, 'a> {
    pub(crate) fn new(nest: &'n mut Nest<'a>, scope: &'n Scope<'a>, name: &'n str) -> Self {
        Builder {
            nest,
            scope,
            name,
            reads: vec![],
            read_spans: vec![],
            lets: vec![],
            let_of: BTreeMap::new(),
            let_names: Names::default(),
            mode: Lets::SpellOut,
        }
    }

    pub(crate) fn build(mut self: Builder<'n, 'a>, value: &Value<'_>) -> Result<Parts, LowerError> {
        let scope = self.scope;
        let mut predicate = None;
        for part in &scope.predicates {
            let part = self.predicate(part)?;
            predicate = Some(match predicate {
                None => part,
                Some(before) => both(before, part),
            });
        }
        self.mode = Lets::Make;
        let value = match value {
            Value::Expr(value) => self.expr(value, &scope.may)?,
            Value::All(parts) => self.conjunction(parts, &scope.may)?,
        };
        let Builder { reads, read_spans, lets, .. } = self;
        Ok(Parts { predicate, lets, value, reads, read_spans })
    }

    fn predicate(&mut self, predicate: &Predicate<'a>) -> Result<Expr, LowerError> {
        match predicate {
            Predicate::Saved { guard, expected, span } => {
                let value = self.read_scalar(*guard, ScalarType::Bool, *span, &Formula::True)?;
                Ok(if *expected { value } else { not(value) })
            }
            Predicate::Direct { parts, expected, under } => {
                let value = self.conjunction(parts, under)?;
                Ok(if *expected { value } else { not(value) })
            }
        }
    }

    /// `parts[0] && parts[1] && ...`.
    fn conjunction(&mut self, parts: &[&Typed], under: &Formula) -> Result<Expr, LowerError> {
        let mut under = under.clone();
        let mut all = None;
        for part in parts {
            let value = self.expr(part, &under)?;
            under = under.and(&self.implied(part, &under).0);
            all = Some(match all {
                None => value,
                Some(before) => both(before, value),
            });
        }
        Ok(all.unwrap_or(constant(Constant::bool(true))))
    }

    fn implied(&self, condition: &Typed, under: &Formula) -> (Formula, Formula) {
        self.nest.symbols.implied(condition, &self.scope.site, under)
    }

    /// An expression that is evaluated where `under` holds.
    fn expr(&mut self, expr: &Typed, under: &Formula) -> Result<Expr, LowerError> {
        let ty = expr.ty;
        if ty == ScalarType::I64
            && let Ok(pieces) = self.nest.symbols.integer(expr, &self.scope.site, under)
            && let Some(value) = pieces.as_single()
        {
            return Ok(index(value.clone()));
        }
        let kind = match &expr.kind {
            TypedKind::Constant(value) => ExprKind::Constant(*value),
            TypedKind::Local(local) => return self.local(*local, expr, under),
            TypedKind::Load { array, subscripts, inbounds } => {
                return self.load(*array, subscripts, !inbounds, expr, under);
            }
            TypedKind::Size { .. } | TypedKind::First { .. } => {
                unreachable!("every extent and first index of an array argument is a parameter")
            }
            TypedKind::Unary(op, operand) => ExprKind::Unary(*op, self.boxed(operand, under)?),
            TypedKind::Binary(op @ (BinaryOp::AndAlso | BinaryOp::OrElse), left, right) => {
                let (yes, no) = self.implied(left, under);
                let right_under = under.and(if *op == BinaryOp::AndAlso { &yes } else { &no });
                ExprKind::Binary(*op, self.boxed(left, under)?, self.boxed(right, &right_under)?)
            }
            TypedKind::Binary(op, left, right) => {
                ExprKind::Binary(*op, self.boxed(left, under)?, self.boxed(right, under)?)
            }
            TypedKind::Compare(op, left, right) => {
                ExprKind::Compare(*op, self.boxed(left, under)?, self.boxed(right, under)?)
            }
            TypedKind::Call(function, operands) => {
                let operands = operands.iter().map(|operand| self.expr(operand, under)).collect::<Result<_, _>>()?;
                ExprKind::Call(*function, operands)
            }
            TypedKind::Select { condition, yes, no } => {
                let (if_yes, if_no) = self.implied(condition, under);
                ExprKind::Select {
                    condition: self.boxed(condition, under)?,
                    yes: self.boxed(yes, &under.and(&if_yes))?,
                    no: self.boxed(no, &under.and(&if_no))?,
                }
            }
            TypedKind::IfElse { condition, yes, no } => ExprKind::IfElse {
                condition: self.boxed(condition, under)?,
                yes: self.boxed(yes, under)?,
                no: self.boxed(no, under)?,
            },
            TypedKind::Convert(operand) => ExprKind::Convert(self.boxed(operand, under)?),
            TypedKind::Wrap(operand) => ExprKind::Wrap(self.boxed(operand, under)?),
        };
        Ok(Expr { kind, ty })
    }

    fn boxed(&mut self, expr: &Typed, under: &Formula) -> Result<Box<Expr>, LowerError> {
        self.expr(expr, under).map(Box::new)
    }

    fn local(&mut self, local: LocalId, expr: &Typed, under: &Formula) -> Result<Expr, LowerError> {
        let role = self.nest.symbols.function.locals[local.0 as usize].role;
        match role {
            Role::Argument => match self.nest.symbols.signature.places.get(&local) {
                Some(Argument::Scalar(scalar)) => Ok(Expr { kind: ExprKind::Scalar(*scalar), ty: expr.ty }),
                Some(Argument::Array(_)) | None => unreachable!("the type checker gives arrays no scalar type"),
            },
            Role::Iterator(_) => unreachable!("an iterator is affine inside its loop, where alone it has a name"),
            Role::Variable(_) => self.read_local(local, expr, under),
            Role::Value(_) => {
                let inlined = self.nest.symbols.symbol(local).is_some() || self.nest.values.fate(local) != Fate::Stored;
                match self.nest.values.definition(local) {
                    Some(value) if inlined => self.inline(local, value, expr),
                    Some(_) | None => self.read_local(local, expr, under),
                }
            }
        }
    }

    /// The value of a local that has no storage: the expression that it is set to, as a let.
    fn inline(&mut self, local: LocalId, value: &'a Typed, expr: &Typed) -> Result<Expr, LowerError> {
        if let Some(&(at, ty)) = self.let_of.get(&local) {
            return Ok(Expr { kind: ExprKind::Let(at), ty });
        }
        // The source evaluates it before the statement, whatever the statement then chooses.
        let scope = self.scope;
        let value = self.expr(value, &scope.may)?;
        let trivial = value.operands().is_empty() && !matches!(value.kind, ExprKind::Read(_));
        if self.mode == Lets::SpellOut || trivial {
            return Ok(value);
        }
        let at = self.lets.len() as u32;
        let name = self.let_names.fresh(&self.nest.symbols.function.locals[local.0 as usize].name);
        self.let_of.insert(local, (at, expr.ty));
        self.lets.push(Let { name, value });
        Ok(Expr { kind: ExprKind::Let(at), ty: expr.ty })
    }

    fn read_local(&mut self, local: LocalId, expr: &Typed, under: &Formula) -> Result<Expr, LowerError> {
        let scope = self.scope;
        let storage = self.nest.storage_of(local, &scope.site.iterators);
        self.read_scalar(storage, expr.ty, expr.span, under)
    }

    fn read_scalar(&mut self, at: Storage, ty: ScalarType, span: Span, under: &Formula) -> Result<Expr, LowerError> {
        self.read(at.array, at.subscripts(), false, ty, span, under)
    }

    fn read(
        &mut self,
        array: ArrayId,
        subscripts: Vec<Affine>,
        checked: bool,
        ty: ScalarType,
        span: Span,
        under: &Formula,
    ) -> Result<Expr, LowerError> {
        let access = self
            .nest
            .access(self.name, array, subscripts, checked, under, self.scope)
            .map_err(|error: IslError| LowerError::TooComplicated { span, message: error.to_string() })?;
        self.reads.push(access);
        self.read_spans.push(span);
        Ok(Expr { kind: ExprKind::Read(self.reads.len() as u32 - 1), ty })
    }

    /// A load; one read for each case of its subscripts, chosen by conditions.
    fn load(
        &mut self,
        array: LocalId,
        subscripts: &[Typed],
        checked: bool,
        expr: &Typed,
        under: &Formula,
    ) -> Result<Expr, LowerError> {
        let site = &self.scope.site;
        let name = self.nest.symbols.function.locals[array.0 as usize].name.clone();
        let place = self.nest.array_of(array);
        let outer = self.nest.outer_subscripts(place);
        let mut cases: Vec<(Formula, Vec<Affine>)> = vec![(Formula::True, outer)];
        for (axis, subscript) in subscripts.iter().enumerate() {
            let pieces = self.nest.symbols.integer(subscript, site, under);
            let pieces = pieces.map_err(|why| not_affine(&name, axis, subscript, why))?;
            let mut longer = vec![];
            for (case, before) in &cases {
                for (piece, value) in &pieces.0 {
                    let mut values = before.clone();
                    values.push(value.clone());
                    longer.push((case.and(piece), values));
                }
            }
            if longer.len() > 1 {
                longer.retain(|(case, _)| self.nest.symbols.is_possible(site, &under.and(case)));
            }
            if longer.len() > LOAD_CASE_LIMIT {
                let reason = Reason::TooManyCases { limit: LOAD_CASE_LIMIT };
                return Err(not_affine(&name, axis, subscript, NotAffine { span: subscript.span, reason }));
            }
            cases = longer;
        }
        let array = place;
        let is_one = cases.len() == 1;
        let mut result: Option<Expr> = None;
        for (case, values) in cases.into_iter().rev() {
            let within = if is_one { under.clone() } else { under.and(&case) };
            let value = self.read(array, values, checked, expr.ty, expr.span, &within)?;
            result = Some(match result {
                None => value,
                Some(no) => {
                    let (condition, yes, no) = (Box::new(condition(&case)), Box::new(value), Box::new(no));
                    Expr { kind: ExprKind::Select { condition, yes, no }, ty: expr.ty }
                }
            });
        }
        // Without any case nothing is ever loaded here.
        Ok(result.unwrap_or_else(|| constant(zero(expr.ty))))
    }
}

fn zero(ty: ScalarType) -> Constant {
    Constant { ty, bits: 0 }
}

fn constant(value: Constant) -> Expr {
    Expr { kind: ExprKind::Constant(value), ty: value.ty }
}

fn index(value: Affine) -> Expr {
    match value.as_constant() {
        Some(value) => constant(Constant::i64(value)),
        None => Expr { kind: ExprKind::Index(value), ty: ScalarType::I64 },
    }
}

fn both(left: Expr, right: Expr) -> Expr {
    let kind = ExprKind::Binary(BinaryOp::AndAlso, Box::new(left), Box::new(right));
    Expr { kind, ty: ScalarType::Bool }
}

fn either(left: Expr, right: Expr) -> Expr {
    let kind = ExprKind::Binary(BinaryOp::OrElse, Box::new(left), Box::new(right));
    Expr { kind, ty: ScalarType::Bool }
}

fn not(value: Expr) -> Expr {
    Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(value)), ty: ScalarType::Bool }
}

/// An affine condition as an expression.
fn condition(formula: &Formula) -> Expr {
    let compare = |op, value: &Affine| {
        let kind = ExprKind::Compare(op, Box::new(index(value.clone())), Box::new(constant(Constant::i64(0))));
        Expr { kind, ty: ScalarType::Bool }
    };
    match formula {
        Formula::True => constant(Constant::bool(true)),
        Formula::False => constant(Constant::bool(false)),
        Formula::NonNegative(value) => compare(CompareOp::Ge, value),
        Formula::Zero(value) => compare(CompareOp::Eq, value),
        Formula::All(parts) => parts.iter().map(condition).reduce(both).unwrap_or(constant(Constant::bool(true))),
        Formula::Any(parts) => parts.iter().map(condition).reduce(either).unwrap_or(constant(Constant::bool(false))),
    }
}
