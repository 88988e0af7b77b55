//! Builds what one computation evaluates: predicate, lets, value and reads.

mod reads;
mod search;

use crate::emit::{Target, TargetSubscript};
use crate::error::LowerError;
use crate::expr::{both, constant, index, not, truncated};
use crate::formula::Formula;
use crate::names::Names;
use crate::nest::{Nest, Predicate, Scope};
use crate::values::Fate;
use std::collections::BTreeMap;
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{Expr as Typed, ExprKind as TypedKind, LocalId, Requirement, Role};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Access, Argument, Computation, Let, Subscript, Which};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_scalar::{BinaryOp, Constant, ScalarType};

/// Of a load with more combined cases it is not even asked which of them are possible.
const LOAD_CASES_LOOKED_AT: usize = 32;

/// A load whose subscripts have more combined cases is refused.
const LOAD_CASE_LIMIT: usize = 16;

/// The conditions around an access are evaluated at entry if they have no more operators, those of values included.
const PREDICATE_LIMIT: usize = 256;

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
    /// Affine conditions that hold wherever the element is written.
    pub(crate) written: Formula,
    /// What must be scanned at entry: the access and its axis, and the computation that finds what is outside.
    pub(crate) scans: Vec<(Which, u32, Computation)>,
    /// Whether a search, of this statement or of one before, computes with floats what decides on its accesses.
    pub(crate) floats_decide: bool,
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
    purpose: Purpose,
    /// Affine conditions that hold wherever the predicate, or else the statement, is evaluated.
    present: Formula,
    /// Whether affine subscripts under conditions on data may be scanned.
    scans_affine: bool,
    /// In a search: whether the access happens under conditions on data.
    conditional: bool,
    /// How many of the scope's predicates have been evaluated.
    decided: usize,
    /// Conditions within the statement under which the present expression is evaluated, or not.
    path: Vec<(Typed, bool)>,
    scans: Vec<(Which, u32, Computation)>,
    /// Whether a search computes with floats what decides on an access of the statement.
    floats_decide: bool,
}

/// What is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A statement of the source.
    Statement,
    /// A search at entry: it reads arguments that are never written and nothing else, and values are spelled out.
    Scan(Wanted),
}

/// What of a scan is being built, for the words of its refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The subscript's value.
    Subscript(Span),
    /// Whether the access happens.
    Condition(Span),
    /// Whether an operation has a result.
    Value(Span),
}

/// A condition on values without which the source fails.
pub(crate) struct Needed<'e> {
    pub(crate) condition: &'e Typed,
    pub(crate) failure: &'e Requirement,
    pub(crate) span: Span,
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
            purpose: Purpose::Statement,
            present: scope.may.clone(),
            scans_affine: false,
            conditional: false,
            decided: 0,
            path: vec![],
            scans: vec![],
            floats_decide: false,
        }
    }

    pub(crate) fn build(
        mut self: Builder<'n, 'a>,
        value: &Value<'_>,
        target: &Target<'_>,
        fastmath: bool,
    ) -> Result<(Parts, Vec<Subscript>), LowerError> {
        let scope = self.scope;
        // Searches would keep the statement from being computed with fast mathematics.
        self.scans_affine = !fastmath && scope.simd.is_none();
        let mut predicate = None;
        for part in &scope.predicates {
            let part = self.predicate(part)?;
            self.decided += 1;
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
        let (subscripts, written) = self.target(target)?;
        let Builder { reads, read_spans, lets, scans, floats_decide, .. } = self;
        Ok((Parts { predicate, lets, value, reads, read_spans, written, scans, floats_decide }, subscripts))
    }

    /// The subscripts of what is written, and affine conditions that hold wherever it is.
    fn target(&mut self, target: &Target<'_>) -> Result<(Vec<Subscript>, Formula), LowerError> {
        let scope = self.scope;
        let outer = self.nest.outer_subscripts(target.array).len();
        let mut subscripts = vec![];
        let affine = (0..).zip(target.subscripts.iter().skip(outer)).filter_map(|(axis, subscript)| match subscript {
            TargetSubscript::Affine(_, source) => Some((axis, *source)),
            TargetSubscript::Given(_) | TargetSubscript::Computed(_) => None,
        });
        let affine: Vec<(u32, &Typed)> = affine.collect();
        let written = match target.checked {
            true => self.scan_affine(Which::Write, target.array, &affine, &scope.may),
            false => scope.may.clone(),
        };
        for (at, subscript) in target.subscripts.iter().enumerate() {
            subscripts.push(match subscript {
                TargetSubscript::Given(affine) | TargetSubscript::Affine(affine, _) => {
                    Subscript::Affine(affine.clone())
                }
                TargetSubscript::Computed(value) => {
                    let built = self.expr(value, &scope.may)?;
                    if target.checked {
                        self.look_at(Which::Write, target.array, (at - outer) as u32, value, &scope.may)?;
                    }
                    Subscript::Computed(built)
                }
            });
        }
        Ok((subscripts, written))
    }

    fn predicate(&mut self, predicate: &Predicate<'a>) -> Result<Expr, LowerError> {
        match predicate {
            Predicate::Saved { parts, expected, .. } if self.purpose != Purpose::Statement => {
                let scope = self.scope;
                let value = self.conjunction(parts, &scope.may)?;
                Ok(if *expected { value } else { not(value) })
            }
            Predicate::Saved { guard, expected, span, .. } => {
                let value = self.read_scalar(*guard, ScalarType::Bool, *span, &Formula::True)?;
                Ok(if *expected { value } else { not(value) })
            }
            Predicate::Direct { parts, expected, under } => {
                let statement = std::mem::replace(&mut self.present, under.clone());
                let value = self.conjunction(parts, under);
                self.present = statement;
                let value = value?;
                Ok(if *expected { value } else { not(value) })
            }
        }
    }

    /// `parts[0] && parts[1] && ...`.
    fn conjunction(&mut self, parts: &[&Typed], under: &Formula) -> Result<Expr, LowerError> {
        let mut under = under.clone();
        let mut all = None;
        let before = self.path.len();
        for part in parts {
            let value = self.expr(part, &under)?;
            self.path.push(((*part).clone(), true));
            under = under.and(&self.implied(part, &under).0);
            all = Some(match all {
                None => value,
                Some(before) => both(before, value),
            });
        }
        self.path.truncate(before);
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
                let expected = *op == BinaryOp::AndAlso;
                ExprKind::Binary(*op, self.boxed(left, under)?, self.after(left, expected, right, &right_under)?)
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
                    yes: self.after(condition, true, yes, &under.and(&if_yes))?,
                    no: self.after(condition, false, no, &under.and(&if_no))?,
                }
            }
            TypedKind::IfElse { condition, yes, no } => ExprKind::IfElse {
                condition: self.boxed(condition, under)?,
                yes: self.boxed(yes, under)?,
                no: self.boxed(no, under)?,
            },
            TypedKind::Convert(operand) => ExprKind::Convert(self.boxed(operand, under)?),
            TypedKind::Wrap(operand) if operand.ty.is_float() && self.purpose != Purpose::Statement => {
                return Ok(truncated(self.expr(operand, under)?, ty));
            }
            TypedKind::Wrap(operand) => ExprKind::Wrap(self.boxed(operand, under)?),
        };
        Ok(Expr { kind, ty })
    }

    fn boxed(&mut self, expr: &Typed, under: &Formula) -> Result<Box<Expr>, LowerError> {
        self.expr(expr, under).map(Box::new)
    }

    /// An expression that is evaluated only where a condition is as expected.
    fn after(
        &mut self,
        condition: &Typed,
        expected: bool,
        expr: &Typed,
        under: &Formula,
    ) -> Result<Box<Expr>, LowerError> {
        self.path.push((condition.clone(), expected));
        let built = self.boxed(expr, under);
        self.path.pop();
        built
    }

    fn local(&mut self, local: LocalId, expr: &Typed, under: &Formula) -> Result<Expr, LowerError> {
        let role = self.nest.symbols.function.locals[local.0 as usize].role;
        match role {
            Role::Argument => match self.nest.symbols.signature.places.get(&local) {
                Some(Argument::Scalar(scalar)) => Ok(Expr { kind: ExprKind::Scalar(*scalar), ty: expr.ty }),
                Some(Argument::Array(_)) => unreachable!("the type checker gives arrays no scalar type"),
                None => match self.nest.symbols.signature.integer(local) {
                    Some(param) => Ok(Expr { kind: ExprKind::Index(Affine::param(param)), ty: expr.ty }),
                    None => unreachable!("an argument that no caller gives is a parameter"),
                },
            },
            Role::Iterator(_) => unreachable!("an iterator is affine inside its loop, where alone it has a name"),
            Role::Variable(_) => self.read_local(local, expr, under),
            Role::Value(_) => {
                if self.purpose != Purpose::Statement {
                    self.nest.searched.insert(local);
                }
                let inlined = self.purpose != Purpose::Statement
                    || self.nest.symbols.symbol(local).is_some()
                    || self.nest.values.fate(local) != Fate::Stored;
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
        let present = self.present.clone();
        let path = std::mem::take(&mut self.path);
        let value = self.expr(value, &present);
        self.path = path;
        let value = value?;
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
}
