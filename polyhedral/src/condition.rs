//! Conditions on sizes, as users write them in commands.

use crate::affine::{Affine, Atom, ParamId, gcd};
use crate::algorithm::{Algorithm, Array, ArrayKind, ParamOrigin};
use crate::error::{Error, ScheduleError};
use crate::isl::{Ctx, Set};
use crate::magnitude;
use crate::relation;
use std::fmt::{self, Display, Formatter};
use tessella_scalar::CompareOp;

/// Comparisons that all hold: `n % 8 == 0 && m >= n`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub comparisons: Vec<Comparison>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    pub left: SizeExpr,
    pub op: CompareOp,
    pub right: SizeExpr,
}

/// An integer expression of sizes and integer arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SizeExpr {
    Number(i64),
    Name(String),
    /// `size(array, axis)`, axis from 1.
    Extent {
        array: String,
        axis: u32,
    },
    Sum(Box<SizeExpr>, Box<SizeExpr>),
    Difference(Box<SizeExpr>, Box<SizeExpr>),
    Product(Box<SizeExpr>, Box<SizeExpr>),
    /// `mod(value, divisor)`, never negative; `%` for sizes.
    Remainder(Box<SizeExpr>, u32),
}

/// The parameters for which a condition holds: `[params] -> { : ... }`.
///
/// # Errors
/// [`ScheduleError::UnknownSize`], [`ScheduleError::NotAffine`], and [`ScheduleError::NeverHolds`] where the context rules
/// the condition out.
pub fn resolve(ctx: &Ctx, algorithm: &Algorithm, condition: &Condition) -> Result<Set, Error> {
    let space = relation::param_space(ctx, algorithm)?.add_unnamed_tuple(0)?;
    let names = algorithm.param_names();
    let mut holds = Set::universe(&space)?.params()?;
    for Comparison { left, op, right } in &condition.comparisons {
        let (left, right) = (affine(algorithm, left)?, affine(algorithm, right)?);
        magnitude::check_sizes(&left.sub(&right)?)?;
        let (left, right) = (left.to_isl(&space, &names)?, right.to_isl(&space, &names)?);
        let here = match op {
            CompareOp::Eq => left.eq_set(&right)?,
            CompareOp::Ne => left.ne_set(&right)?,
            CompareOp::Lt => left.lt_set(&right)?,
            CompareOp::Le => left.le_set(&right)?,
            CompareOp::Gt => left.gt_set(&right)?,
            CompareOp::Ge => left.ge_set(&right)?,
        };
        holds = holds.intersect(&here.params()?)?;
    }
    if holds.intersect(&known(algorithm)?)?.is_empty()? {
        return Err(ScheduleError::NeverHolds { text: condition.to_string() }.into());
    }
    Ok(holds)
}

/// Sizes among which are all that the program is for.
///
/// # Errors
/// Those of isl.
pub fn known(algorithm: &Algorithm) -> Result<Set, Error> {
    Ok(match algorithm.assumed()? {
        None => algorithm.context.clone(),
        Some(assumed) => algorithm.context.intersect(&assumed)?,
    })
}

/// `all > most`, with the sizes by the names that a user has for them.
pub(crate) fn greater(algorithm: &Algorithm, all: &Affine, most: i64) -> Condition {
    let shared = all.terms().iter().fold(0, |shared, (_, factor)| gcd(shared, *factor)).max(1);
    let right = SizeExpr::Number(most.saturating_sub(all.constant_term()).div_euclid(shared));
    let left = all.terms().iter().map(|(atom, factor)| (atom, factor / shared));
    let left = sum(algorithm, left).unwrap_or(SizeExpr::Number(0));
    Condition { comparisons: vec![Comparison { left, op: CompareOp::Gt, right }] }
}

/// `less <= more`, the same way.
pub(crate) fn at_most(algorithm: &Algorithm, less: &Affine, more: &Affine) -> Result<Comparison, Error> {
    let all = less.sub(more)?;
    let on_side = |sign: i64| {
        let terms = all.terms().iter().filter(move |(_, factor)| factor.signum() == sign);
        sum(algorithm, terms.map(move |(atom, factor)| (atom, sign * factor)))
    };
    let constant = -all.constant_term();
    let (left, right) = match (on_side(1), on_side(-1)) {
        (Some(left), right) => (left, right),
        (None, Some(left)) => {
            return Ok(Comparison { left, op: CompareOp::Ge, right: SizeExpr::Number(-constant) });
        }
        (None, None) => (SizeExpr::Number(0), None),
    };
    let right = match right {
        None => SizeExpr::Number(constant),
        Some(right) => match constant {
            0 => right,
            1.. => SizeExpr::Sum(Box::new(right), Box::new(SizeExpr::Number(constant))),
            _ => SizeExpr::Difference(Box::new(right), Box::new(SizeExpr::Number(-constant))),
        },
    };
    Ok(Comparison { left, op: CompareOp::Le, right })
}

/// The sum of sizes times factors, those that are taken off last; `None` without any.
fn sum<'a>(algorithm: &Algorithm, terms: impl Iterator<Item = (&'a Atom, i64)>) -> Option<SizeExpr> {
    let named = |id: ParamId| {
        let param = algorithm.param(id);
        match param.origin {
            ParamOrigin::Extent { array, axis }
                if param.name == format!("{}_{}", algorithm.array(array).name, axis + 1) =>
            {
                SizeExpr::Extent { array: algorithm.array(array).name.clone(), axis: axis + 1 }
            }
            ParamOrigin::Extent { .. }
            | ParamOrigin::First { .. }
            | ParamOrigin::Argument(_)
            | ParamOrigin::Derived(_) => SizeExpr::Name(param.name.clone()),
        }
    };
    let term = |id: ParamId, factor: i64| match factor {
        1 => named(id),
        factor => SizeExpr::Product(Box::new(SizeExpr::Number(factor)), Box::new(named(id))),
    };
    let mut all = None;
    let mut sorted: Vec<_> = terms.collect();
    sorted.sort_by_key(|(_, factor)| *factor < 0);
    for (atom, factor) in sorted {
        let Atom::Param(id) = atom else { continue };
        all = Some(match all.take() {
            None => term(*id, factor),
            Some(sum) if factor < 0 => SizeExpr::Difference(Box::new(sum), Box::new(term(*id, -factor))),
            Some(sum) => SizeExpr::Sum(Box::new(sum), Box::new(term(*id, factor))),
        });
    }
    all
}

fn affine(algorithm: &Algorithm, expr: &SizeExpr) -> Result<Affine, Error> {
    let not_affine = || Error::from(ScheduleError::NotAffine { text: expr.to_string() });
    Ok(match expr {
        SizeExpr::Number(value) => Affine::constant(*value),
        SizeExpr::Name(name) => {
            let position = algorithm.params.iter().position(|param| param.name == *name);
            let position = position
                .ok_or_else(|| ScheduleError::UnknownSize { name: name.clone(), known: algorithm.param_names() })?;
            Affine::param(ParamId(position as u32))
        }
        SizeExpr::Extent { array, axis } => {
            let named = |it: &&Array| it.name == *array && it.kind == ArrayKind::Argument;
            let found = algorithm.arrays.iter().find(named);
            let extent = found.and_then(|it| it.extents.get(axis.checked_sub(1)? as usize));
            extent
                .cloned()
                .ok_or_else(|| ScheduleError::UnknownSize { name: expr.to_string(), known: algorithm.param_names() })?
        }
        SizeExpr::Sum(left, right) => affine(algorithm, left)?.add(&affine(algorithm, right)?)?,
        SizeExpr::Difference(left, right) => affine(algorithm, left)?.sub(&affine(algorithm, right)?)?,
        SizeExpr::Product(left, right) => {
            let (left, right) = (affine(algorithm, left)?, affine(algorithm, right)?);
            match (left.as_constant(), right.as_constant()) {
                (Some(factor), _) => right.scale(factor)?,
                (_, Some(factor)) => left.scale(factor)?,
                (None, None) => return Err(not_affine()),
            }
        }
        SizeExpr::Remainder(value, divisor) if *divisor > 0 => affine(algorithm, value)?.modulo(i64::from(*divisor))?,
        SizeExpr::Remainder(..) => return Err(not_affine()),
    })
}

impl Display for Condition {
    /// As a user writes it.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, Comparison { left, op, right }) in self.comparisons.iter().enumerate() {
            let and = if at == 0 { "" } else { " && " };
            let op = match op {
                CompareOp::Eq => "==",
                CompareOp::Ne => "!=",
                CompareOp::Lt => "<",
                CompareOp::Le => "<=",
                CompareOp::Gt => ">",
                CompareOp::Ge => ">=",
            };
            write!(f, "{and}{left} {op} {right}")?;
        }
        Ok(())
    }
}

impl Display for SizeExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let inner = |expr: &SizeExpr| match expr {
            SizeExpr::Sum(..) | SizeExpr::Difference(..) | SizeExpr::Product(..) => format!("({expr})"),
            SizeExpr::Number(_) | SizeExpr::Name(_) | SizeExpr::Extent { .. } | SizeExpr::Remainder(..) => {
                expr.to_string()
            }
        };
        match self {
            SizeExpr::Number(value) => write!(f, "{value}"),
            SizeExpr::Name(name) => f.write_str(name),
            SizeExpr::Extent { array, axis } => write!(f, "size({array}, {axis})"),
            SizeExpr::Sum(left, right) => write!(f, "{left} + {}", inner(right)),
            SizeExpr::Difference(left, right) => write!(f, "{left} - {}", inner(right)),
            SizeExpr::Product(left, right) => write!(f, "{} * {}", inner(left), inner(right)),
            SizeExpr::Remainder(value, divisor) => write!(f, "mod({value}, {divisor})"),
        }
    }
}
