//! What a loop runs through, as a user writes it.

use crate::affine::{Affine, Atom};
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::{Error, ScheduleError};

/// A quasi-affine expression over names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula {
    Integer(i64),
    /// An iterator of the computation, or a size.
    Name(String),
    Add(Box<Formula>, Box<Formula>),
    Sub(Box<Formula>, Box<Formula>),
    /// `factor * e`.
    Scale(i64, Box<Formula>),
    /// `fld(e, d)`, `d > 0`.
    FloorDiv(Box<Formula>, i64),
    /// `mod(e, d)`, `d > 0`.
    Modulo(Box<Formula>, i64),
}

/// The names of a computation's iterators: those of the source's loops around it, which differ from one another also
/// where one loop of the source hides another's variable.
pub(super) fn iterator_names(algorithm: &Algorithm, id: ComputationId) -> Vec<String> {
    let mut names = algorithm.computation(id).iterators.clone();
    for (_, it) in algorithm.source_order.loops_around(id) {
        if let Some(position) = it.at[&id].as_iterator() {
            names[position as usize].clone_from(&it.name);
        }
    }
    names
}

impl Formula {
    /// The expression for one computation.
    pub(super) fn affine(&self, algorithm: &Algorithm, id: ComputationId) -> Result<Affine, Error> {
        Ok(match self {
            Formula::Integer(value) => Affine::constant(*value),
            Formula::Name(name) => self::name(algorithm, id, name)?,
            Formula::Add(left, right) => left.affine(algorithm, id)?.add(&right.affine(algorithm, id)?)?,
            Formula::Sub(left, right) => left.affine(algorithm, id)?.sub(&right.affine(algorithm, id)?)?,
            Formula::Scale(factor, inner) => inner.affine(algorithm, id)?.scale(*factor)?,
            Formula::FloorDiv(inner, divisor) => inner.affine(algorithm, id)?.floor_div(*divisor),
            Formula::Modulo(inner, divisor) => inner.affine(algorithm, id)?.modulo(*divisor)?,
        })
    }

    /// An expression that is read back as the same function of the computation's iterators.
    pub(super) fn of(algorithm: &Algorithm, id: ComputationId, affine: &Affine) -> Formula {
        sum(&Names { iterators: iterator_names(algorithm, id), params: algorithm.param_names() }, affine)
    }
}

fn name(algorithm: &Algorithm, id: ComputationId, name: &str) -> Result<Affine, ScheduleError> {
    let iterators = iterator_names(algorithm, id);
    if let Some(position) = iterators.iter().position(|it| it == name) {
        return Ok(Affine::iterator(position as u32));
    }
    if let Some(position) = algorithm.params.iter().position(|param| param.name == name) {
        return Ok(Affine::param(crate::affine::ParamId(position as u32)));
    }
    Err(ScheduleError::OrderName {
        name: name.to_string(),
        computation: algorithm.computation(id).name.clone(),
        known: iterators.into_iter().chain(algorithm.param_names()).collect(),
    })
}

struct Names {
    iterators: Vec<String>,
    params: Vec<String>,
}

/// Terms added up; `e - d*floor(e/d)` is written as a remainder.
fn sum(names: &Names, affine: &Affine) -> Formula {
    let mut rest = affine.clone();
    let mut parts: Vec<(i64, Formula)> = vec![];
    while let Some((inner, divisor, times)) = remainder(&rest) {
        let without = inner.modulo(divisor).and_then(|it| it.scale(times)).and_then(|it| rest.sub(&it));
        let Ok(without) = without else { break };
        parts.push((times, Formula::Modulo(Box::new(sum(names, &inner)), divisor)));
        rest = without;
    }
    for (atom, factor) in rest.terms() {
        parts.push((
            *factor,
            match atom {
                Atom::Iterator(position) => Formula::Name(names.iterators[*position as usize].clone()),
                Atom::Param(param) => Formula::Name(names.params[param.0 as usize].clone()),
                Atom::FloorDiv(inner, divisor) => Formula::FloorDiv(Box::new(sum(names, inner)), *divisor),
            },
        ));
    }
    // What is added comes before what is taken off.
    parts.sort_by_key(|(factor, _)| *factor < 0);
    let mut parts = parts.into_iter();
    let scaled = |factor: i64, part: Formula| match factor {
        1 => part,
        _ => Formula::Scale(factor, Box::new(part)),
    };
    let Some((factor, first)) = parts.next() else { return Formula::Integer(rest.constant_term()) };
    let mut all = scaled(factor, first);
    for (factor, part) in parts {
        all = match factor.checked_neg() {
            Some(opposite) if factor < 0 => Formula::Sub(Box::new(all), Box::new(scaled(opposite, part))),
            Some(_) | None => Formula::Add(Box::new(all), Box::new(scaled(factor, part))),
        };
    }
    let constant = rest.constant_term();
    match constant.checked_neg() {
        _ if constant == 0 => all,
        Some(opposite) if constant < 0 => Formula::Sub(Box::new(all), Box::new(Formula::Integer(opposite))),
        Some(_) | None => Formula::Add(Box::new(all), Box::new(Formula::Integer(constant))),
    }
}

/// `(e, d, k)` where `k*(e mod d)` is a part of the expression that makes the rest shorter.
fn remainder(affine: &Affine) -> Option<(Affine, i64, i64)> {
    affine.terms().iter().find_map(|(atom, factor)| {
        let Atom::FloorDiv(inner, divisor) = atom else { return None };
        if factor % divisor != 0 {
            return None;
        }
        let times = (factor / divisor).checked_neg()?;
        let without = affine.sub(&inner.modulo(*divisor).ok()?.scale(times).ok()?).ok()?;
        (without.terms().len() + inner.terms().len() < affine.terms().len())
            .then(|| ((**inner).clone(), *divisor, times))
    })
}

impl std::fmt::Display for Formula {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Formula::Integer(value) => write!(f, "{value}"),
            Formula::Name(name) => f.write_str(name),
            Formula::Add(left, right) => write!(f, "{left} + {right}"),
            Formula::Sub(left, right) => match &**right {
                Formula::Add(..) | Formula::Sub(..) => write!(f, "{left} - ({right})"),
                Formula::Integer(_)
                | Formula::Name(_)
                | Formula::Scale(..)
                | Formula::FloorDiv(..)
                | Formula::Modulo(..) => write!(f, "{left} - {right}"),
            },
            Formula::Scale(factor, inner) => {
                match factor {
                    -1 => f.write_str("-")?,
                    _ => write!(f, "{factor}*")?,
                }
                match &**inner {
                    Formula::Add(..) | Formula::Sub(..) | Formula::Scale(..) => write!(f, "({inner})"),
                    Formula::Integer(_) | Formula::Name(_) | Formula::FloorDiv(..) | Formula::Modulo(..) => {
                        write!(f, "{inner}")
                    }
                }
            }
            Formula::FloorDiv(inner, divisor) => write!(f, "fld({inner}, {divisor})"),
            Formula::Modulo(inner, divisor) => write!(f, "mod({inner}, {divisor})"),
        }
    }
}
