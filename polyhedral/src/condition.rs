//! Conditions on sizes, as users write them in commands.

use crate::affine::{Affine, ParamId};
use crate::algorithm::{Algorithm, Array, ArrayKind};
use crate::error::{Error, ScheduleError};
use crate::isl::{Ctx, Set};
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
        let left = affine(algorithm, left)?.to_isl(&space, &names)?;
        let right = affine(algorithm, right)?.to_isl(&space, &names)?;
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

/// The sizes that the program is for.
///
/// # Errors
/// Those of isl.
pub fn known(algorithm: &Algorithm) -> Result<Set, Error> {
    Ok(match algorithm.assumed()? {
        None => algorithm.context.clone(),
        Some(assumed) => algorithm.context.intersect(&assumed)?,
    })
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
