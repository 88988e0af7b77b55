//! Quasi-affine expressions as plain data.
//!
//! An [`Affine`] is read in the space of one computation: its iterators are numbered outermost first, its parameters
//! are those of the [`Algorithm`](crate::algorithm::Algorithm). [`Affine::to_isl`] gives the isl expression.

use crate::isl::{Aff, DimType, IslError, Space};
use std::collections::BTreeSet;

/// Names a parameter of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParamId(pub u32);

/// What an affine term multiplies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// The computation's iterator of this number, outermost 0.
    Iterator(u32),
    Param(ParamId),
    /// `floor(e / d)`, `d > 0`.
    FloorDiv(Box<Affine>, i64),
}

/// `constant + sum of coefficient * atom`; terms are sorted by atom and have non-zero coefficients.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Affine {
    constant: i64,
    terms: Vec<(Atom, i64)>,
}

/// A coefficient passed 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a coefficient of an affine expression does not fit in 64 bits")]
pub struct AffineOverflow;

impl Affine {
    pub fn constant(value: i64) -> Self {
        Self { constant: value, terms: vec![] }
    }

    pub fn iterator(position: u32) -> Self {
        Self::atom(Atom::Iterator(position))
    }

    pub fn param(param: ParamId) -> Self {
        Self::atom(Atom::Param(param))
    }

    pub fn atom(atom: Atom) -> Self {
        Self { constant: 0, terms: vec![(atom, 1)] }
    }

    pub fn constant_term(&self) -> i64 {
        self.constant
    }

    pub fn terms(&self) -> &[(Atom, i64)] {
        &self.terms
    }

    /// The value, if no atom occurs.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The iterator's number, if the expression is just that iterator.
    pub fn as_iterator(&self) -> Option<u32> {
        match (self.constant, self.terms.as_slice()) {
            (0, [(Atom::Iterator(position), 1)]) => Some(*position),
            _ => None,
        }
    }

    /// The coefficient of an iterator outside of divisions.
    pub fn coefficient(&self, iterator: u32) -> i64 {
        self.terms.iter().find(|(atom, _)| *atom == Atom::Iterator(iterator)).map_or(0, |&(_, factor)| factor)
    }

    /// Whether an iterator occurs anywhere, divisions included.
    pub fn involves_iterator(&self, iterator: u32) -> bool {
        self.any_atom(&mut |atom| *atom == Atom::Iterator(iterator))
    }

    /// One more than the highest number of an iterator that occurs anywhere; 0 without any.
    pub fn iterator_count(&self) -> u32 {
        let mut count = 0;
        self.any_atom(&mut |atom| {
            if let Atom::Iterator(position) = atom {
                count = count.max(position + 1);
            }
            false
        });
        count
    }

    pub fn involves_any_param(&self) -> bool {
        self.any_atom(&mut |atom| matches!(atom, Atom::Param(_)))
    }

    pub fn involves_any_iterator(&self) -> bool {
        self.any_atom(&mut |atom| matches!(atom, Atom::Iterator(_)))
    }

    /// Adds the parameters that occur anywhere.
    pub(crate) fn params(&self, into: &mut BTreeSet<ParamId>) {
        self.any_atom(&mut |atom| {
            if let Atom::Param(param) = atom {
                into.insert(*param);
            }
            false
        });
    }

    fn any_atom(&self, test: &mut dyn FnMut(&Atom) -> bool) -> bool {
        self.terms.iter().any(|(atom, _)| match atom {
            Atom::FloorDiv(inner, _) => inner.any_atom(test),
            Atom::Iterator(_) | Atom::Param(_) => test(atom),
        })
    }

    pub fn add(&self, other: &Affine) -> Result<Affine, AffineOverflow> {
        let mut terms = self.terms.clone();
        for (atom, factor) in &other.terms {
            match terms.binary_search_by(|(mine, _)| mine.cmp(atom)) {
                Ok(at) => terms[at].1 = terms[at].1.checked_add(*factor).ok_or(AffineOverflow)?,
                Err(at) => terms.insert(at, (atom.clone(), *factor)),
            }
        }
        terms.retain(|&(_, factor)| factor != 0);
        Ok(Affine { constant: self.constant.checked_add(other.constant).ok_or(AffineOverflow)?, terms })
    }

    pub fn sub(&self, other: &Affine) -> Result<Affine, AffineOverflow> {
        self.add(&other.scale(-1)?)
    }

    pub fn scale(&self, factor: i64) -> Result<Affine, AffineOverflow> {
        if factor == 0 {
            return Ok(Affine::default());
        }
        let product = |value: i64| value.checked_mul(factor).ok_or(AffineOverflow);
        let terms = self.terms.iter().map(|(atom, value)| Ok((atom.clone(), product(*value)?)));
        Ok(Affine { constant: product(self.constant)?, terms: terms.collect::<Result<_, _>>()? })
    }

    pub fn add_constant(&self, value: i64) -> Result<Affine, AffineOverflow> {
        Ok(Affine { constant: self.constant.checked_add(value).ok_or(AffineOverflow)?, terms: self.terms.clone() })
    }

    /// `floor(self / divisor)`, `divisor > 0`, in lowest terms: isl finds integer points of `floor(t / 5)` far sooner than those of
    /// `floor(744 t / 3720)`.
    pub fn floor_div(&self, divisor: i64) -> Affine {
        assert!(divisor > 0, "divisors of affine expressions are positive");
        // The terms are multiples of `common`, so of the constant only its whole multiples count.
        let common = self.terms.iter().fold(divisor, |common, (_, factor)| gcd(common, *factor));
        let terms = self.terms.iter().map(|(atom, factor)| (atom.clone(), factor / common)).collect();
        let reduced = Affine { constant: self.constant.div_euclid(common), terms };
        match divisor / common {
            1 => reduced,
            divisor => Affine::atom(Atom::FloorDiv(Box::new(reduced), divisor)),
        }
    }

    /// `self - divisor * floor(self / divisor)`, `divisor > 0`.
    pub fn modulo(&self, divisor: i64) -> Result<Affine, AffineOverflow> {
        self.sub(&self.floor_div(divisor).scale(divisor)?)
    }

    /// Replaces every iterator `k` by `by[k]`.
    pub fn substitute(&self, by: &[Affine]) -> Result<Affine, AffineOverflow> {
        let mut result = Affine::constant(self.constant);
        for (atom, factor) in &self.terms {
            let value = match atom {
                Atom::Iterator(position) => by[*position as usize].clone(),
                Atom::Param(_) => Affine::atom(atom.clone()),
                Atom::FloorDiv(inner, divisor) => inner.substitute(by)?.floor_div(*divisor),
            };
            result = result.add(&value.scale(*factor)?)?;
        }
        Ok(result)
    }

    /// The value at a point, `None` if it passes 64 bits.
    pub fn evaluate(&self, iterators: &[i64], params: &[i64]) -> Option<i64> {
        self.terms.iter().try_fold(self.constant, |sum, (atom, factor)| {
            let value = match atom {
                Atom::Iterator(position) => iterators[*position as usize],
                Atom::Param(param) => params[param.0 as usize],
                Atom::FloorDiv(inner, divisor) => inner.evaluate(iterators, params)?.div_euclid(*divisor),
            };
            sum.checked_add(value.checked_mul(*factor)?)
        })
    }

    /// The expression as text, iterators and parameters by the given names.
    pub fn display(&self, iterators: &[String], params: &[String]) -> String {
        let mut text = String::new();
        for (atom, factor) in &self.terms {
            let name = match atom {
                Atom::Iterator(position) => iterators[*position as usize].clone(),
                Atom::Param(param) => params[param.0 as usize].clone(),
                Atom::FloorDiv(inner, divisor) => format!("floor(({})/{divisor})", inner.display(iterators, params)),
            };
            let sign = match (text.is_empty(), *factor < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let size = if factor.unsigned_abs() == 1 { String::new() } else { format!("{}*", factor.unsigned_abs()) };
            text.push_str(&format!("{sign}{size}{name}"));
        }
        match (text.is_empty(), self.constant) {
            (true, value) => format!("{value}"),
            (false, 0) => text,
            (false, value) if value < 0 => format!("{text} - {}", value.unsigned_abs()),
            (false, value) => format!("{text} + {value}"),
        }
    }

    /// The expression as an isl affine function on the set space `domain`, whose parameters are named `params`.
    ///
    /// `domain` must have all of the expression's parameters and at least as many set dimensions as its iterators.
    pub fn to_isl(&self, domain: &Space, params: &[String]) -> Result<Aff, IslError> {
        let mut sum = Aff::constant_on(domain, self.constant)?;
        for (atom, factor) in &self.terms {
            let value = match atom {
                Atom::Iterator(position) => Aff::set_dim_on(domain, *position)?,
                Atom::Param(param) => {
                    let name = &params[param.0 as usize];
                    let at = domain.find_dim_by_name(DimType::Param, name)?;
                    Aff::var_on(domain, DimType::Param, at.expect("the space has all parameters of the expression"))?
                }
                Atom::FloorDiv(inner, divisor) => inner.to_isl(domain, params)?.scale_down(*divisor)?.floor()?,
            };
            sum = sum.add(&value.scale(*factor)?)?;
        }
        Ok(sum)
    }

    /// An isl affine function of set dimensions, which become iterators, and of parameters of these names; `None` if it has
    /// divisions, or numbers beyond 64 bits.
    pub fn from_isl(aff: &Aff, params: &[String]) -> Result<Option<Affine>, IslError> {
        if aff.dim(DimType::Div)? > 0 {
            return Ok(None);
        }
        Affine::without_divisions(aff, params)
    }

    /// The same, as if the function had no divisions.
    fn without_divisions(aff: &Aff, params: &[String]) -> Result<Option<Affine>, IslError> {
        if aff.denominator()?.to_i64() != Some(1) {
            return Ok(None);
        }
        let Some(constant) = aff.constant()?.to_i64() else { return Ok(None) };
        let mut terms = vec![];
        for position in 0..aff.dim(DimType::In)? {
            let Some(factor) = aff.coefficient(DimType::In, position.cast_signed())?.to_i64() else { return Ok(None) };
            terms.push((Atom::Iterator(position), factor));
        }
        let space = aff.domain_space()?;
        for (at, name) in params.iter().enumerate() {
            let Some(position) = space.find_dim_by_name(DimType::Param, name)? else { continue };
            let factor = aff.coefficient(DimType::Param, position.cast_signed())?.to_i64();
            let Some(factor) = factor else { return Ok(None) };
            terms.push((Atom::Param(ParamId(at as u32)), factor));
        }
        terms.retain(|(_, factor)| *factor != 0);
        Ok(Some(Affine { constant, terms }))
    }

    /// The same with divisions, each rounded down; `None` if numbers pass 64 bits.
    pub fn from_isl_with_divisions(aff: &Aff, params: &[String]) -> Result<Option<Affine>, IslError> {
        let Some(mut all) = Affine::without_divisions(aff, params)? else { return Ok(None) };
        for position in 0..aff.dim(DimType::Div)?.cast_signed() {
            let factor = match aff.coefficient(DimType::Div, position)?.to_i64() {
                Some(0) => continue,
                Some(factor) => factor,
                None => return Ok(None),
            };
            let part = aff.get_div(position)?;
            let under = part.denominator()?;
            let Some(divisor @ 1..) = under.to_i64() else { return Ok(None) };
            let Some(over) = Affine::from_isl_with_divisions(&part.scale_val(&under)?, params)? else {
                return Ok(None);
            };
            let Ok(sum) = over.floor_div(divisor).scale(factor).and_then(|part| all.add(&part)) else {
                return Ok(None);
            };
            all = sum;
        }
        Ok(Some(all))
    }
}

/// The greatest common divisor; `gcd(a, 0)` is `a` without its sign, which must be a number of 64 bits.
pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).expect("a divisor of a number of 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_of_isl_come_back() {
        let ctx = crate::isl::Ctx::new();
        let names = ["n".to_string()];
        let set = crate::isl::Set::from_text(&ctx, "[n] -> { [i] : 0 <= i and 8i <= n - 8 and n >= 8 }").unwrap();
        let most = set.dim_max(0).unwrap().pieces().unwrap().remove(0).1;
        assert_eq!(Affine::from_isl(&most, &names).unwrap(), None);
        let n = Affine::param(ParamId(0));
        let expected = n.floor_div(8).add_constant(-1).unwrap();
        assert_eq!(Affine::from_isl_with_divisions(&most, &names).unwrap(), Some(expected));
    }

    #[test]
    fn divisions_are_in_lowest_terms() {
        let (i, j) = (Affine::iterator(0), Affine::iterator(1));
        let of = |over_i: i64, over_j: i64, constant: i64| {
            i.scale(over_i).unwrap().add(&j.scale(over_j).unwrap()).unwrap().add_constant(constant).unwrap()
        };
        assert_eq!(of(240, 120, 0).floor_div(3720), of(2, 1, 0).floor_div(31));
        assert_eq!(of(-4, 0, -5).floor_div(2), of(-2, 0, -3));
        assert_eq!(of(0, 0, -7).floor_div(3), Affine::constant(-3));
        for (over_i, over_j, constant, divisor) in [(4, 6, 3, 8), (-6, 9, -1, 12), (5, 0, 2, 10), (i64::MIN, 0, 1, 6)] {
            let divided = of(over_i, over_j, constant).floor_div(divisor);
            for (at_i, at_j) in [(0, 0), (1, -3), (1, 1), (0, 7)] {
                let plain = of(over_i, over_j, constant).evaluate(&[at_i, at_j], &[]);
                assert_eq!(
                    divided.evaluate(&[at_i, at_j], &[]),
                    plain.map(|it| it.div_euclid(divisor)),
                    "{over_i} {at_i}"
                );
            }
        }
    }
}
