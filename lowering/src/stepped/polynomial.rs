//! Polynomials with integer coefficients, of what keeps its value while a loop runs: the values of counters.
//!
//! `Int64`s wrap around, and sums and products of them do so alike whatever the order: what is equal here has equal bits.

use crate::typed::{binary, integer};
use std::collections::BTreeMap;
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{Expr, ExprKind, LocalId, LoopId};
use tessella_polyhedral::derived::Rounding;
use tessella_scalar::{BinaryOp, ScalarType};

/// A polynomial with more terms is given up.
const TERMS: usize = 24;

/// So is one of a higher degree.
const DEGREE: usize = 6;

/// An integer that a polynomial is made of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Atom {
    /// An argument, an iterator, or a value that is set once.
    Local(LocalId),
    /// `size(array, axis)`.
    Size(LocalId, u32),
    /// `firstindex(array, axis)`.
    First(LocalId, u32),
    /// What a variable holds when an iteration of a loop begins.
    Entry(LocalId, LoopId),
    /// `max(0, value)`.
    Clamped(Box<Polynomial>),
    /// `fld(value, divisor)`, the divisor being positive.
    Quotient(Box<Polynomial>, i64),
    /// Any other quotient of integers.
    Divided(Rounding, Box<Polynomial>, Box<Polynomial>),
}

/// A sum of products of atoms.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Polynomial {
    /// No coefficient is zero; the atoms of a product are in order.
    terms: BTreeMap<Vec<Atom>, i64>,
}

impl Polynomial {
    pub(crate) fn constant(value: i64) -> Self {
        let terms = if value == 0 { BTreeMap::new() } else { BTreeMap::from([(vec![], value)]) };
        Polynomial { terms }
    }

    pub(crate) fn atom(atom: Atom) -> Self {
        Polynomial { terms: BTreeMap::from([(vec![atom], 1)]) }
    }

    pub(crate) fn as_constant(&self) -> Option<i64> {
        match self.terms.iter().next() {
            None => Some(0),
            Some((product, value)) => (self.terms.len() == 1 && product.is_empty()).then_some(*value),
        }
    }

    /// The products with their coefficients.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&[Atom], i64)> {
        self.terms.iter().map(|(product, &factor)| (product.as_slice(), factor))
    }

    pub(crate) fn add(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut sum = self.clone();
        for (product, &factor) in &other.terms {
            sum.include(product.clone(), factor)?;
        }
        (sum.terms.len() <= TERMS).then_some(sum)
    }

    pub(crate) fn sub(&self, other: &Polynomial) -> Option<Polynomial> {
        self.add(&other.scale(-1)?)
    }

    pub(crate) fn scale(&self, by: i64) -> Option<Polynomial> {
        self.mul(&Polynomial::constant(by))
    }

    pub(crate) fn mul(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut result = Polynomial::constant(0);
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut product: Vec<Atom> = left.iter().chain(right).cloned().collect();
                product.sort();
                result.include(product, a.checked_mul(*b)?)?;
            }
        }
        let is_small = result.terms.len() <= TERMS && result.terms.keys().all(|product| product.len() <= DEGREE);
        is_small.then_some(result)
    }

    /// `max(0, self)`.
    pub(crate) fn clamped(self) -> Polynomial {
        match self.as_constant() {
            Some(value) => Polynomial::constant(value.max(0)),
            None => Polynomial::atom(Atom::Clamped(Box::new(self))),
        }
    }

    /// `fld(self, divisor)`.
    pub(crate) fn quotient(self, divisor: i64) -> Polynomial {
        match self.as_constant() {
            Some(value) => Polynomial::constant(value.div_euclid(divisor)),
            None => Polynomial::atom(Atom::Quotient(Box::new(self), divisor)),
        }
    }

    /// Whether an atom occurs anywhere.
    pub(crate) fn any(&self, found: &dyn Fn(&Atom) -> bool) -> bool {
        self.terms.keys().flatten().any(|atom| {
            found(atom)
                || match atom {
                    Atom::Clamped(inner) | Atom::Quotient(inner, _) => inner.any(found),
                    Atom::Divided(_, dividend, divisor) => dividend.any(found) || divisor.any(found),
                    Atom::Local(_) | Atom::Size(..) | Atom::First(..) | Atom::Entry(..) => false,
                }
        })
    }

    pub(crate) fn mentions(&self, atom: &Atom) -> bool {
        self.any(&|it| it == atom)
    }

    /// The polynomial with others in the place of atoms; `None` where one has none, or the result is too long.
    pub(crate) fn replaced(&self, by: &dyn Fn(&Atom) -> Option<Polynomial>) -> Option<Polynomial> {
        let mut result = Polynomial::constant(0);
        for (product, &factor) in &self.terms {
            let mut value = Polynomial::constant(factor);
            for atom in product {
                let atom = match atom {
                    Atom::Clamped(inner) => inner.replaced(by)?.clamped(),
                    Atom::Quotient(inner, divisor) => inner.replaced(by)?.quotient(*divisor),
                    Atom::Divided(rounding, dividend, divisor) => Polynomial::atom(Atom::Divided(
                        *rounding,
                        Box::new(dividend.replaced(by)?),
                        Box::new(divisor.replaced(by)?),
                    )),
                    Atom::Local(_) | Atom::Size(..) | Atom::First(..) | Atom::Entry(..) => by(atom)?,
                };
                value = value.mul(&atom)?;
            }
            result = result.add(&value)?;
        }
        Some(result)
    }

    /// The polynomial with one atom replaced.
    pub(crate) fn with(&self, atom: &Atom, value: &Polynomial) -> Option<Polynomial> {
        self.replaced(&|it| Some(if it == atom { value.clone() } else { Polynomial::atom(it.clone()) }))
    }

    /// `a` and `b` of `a + b * atom`; `None` if the atom occurs otherwise.
    pub(crate) fn linear_in(&self, atom: &Atom) -> Option<(Polynomial, Polynomial)> {
        let (mut rest, mut factor) = (Polynomial::constant(0), Polynomial::constant(0));
        for (product, &value) in &self.terms {
            match product.iter().position(|it| it == atom) {
                None => rest.include(product.clone(), value)?,
                Some(at) => {
                    let mut others = product.clone();
                    others.remove(at);
                    factor.include(others, value)?;
                }
            }
        }
        (!rest.mentions(atom) && !factor.mentions(atom)).then_some((rest, factor))
    }

    /// The value as an expression.
    pub(crate) fn to_expr(&self, span: Span) -> Expr {
        let mut sum: Option<Expr> = None;
        // Products first, and what is subtracted after what is added.
        let mut terms: Vec<(&[Atom], i64)> = self.terms().collect();
        terms.sort_by_key(|(product, factor)| (product.is_empty(), *factor < 0));
        for (product, factor) in terms {
            let atoms = product.iter().map(|atom| atom.to_expr(span));
            let size = factor.checked_abs().filter(|size| *size != 1 || product.is_empty());
            let scale = match (factor, size) {
                (i64::MIN, _) => Some(integer(factor, span)),
                (_, size) => size.map(|size| integer(size, span)),
            };
            let value = scale.into_iter().chain(atoms).reduce(|left, right| binary(BinaryOp::Mul, left, right));
            let value = value.expect("a product without atoms has a factor");
            sum = Some(match sum {
                None if factor < 0 && factor != i64::MIN => binary(BinaryOp::Sub, integer(0, span), value),
                None => value,
                Some(before) if factor < 0 && factor != i64::MIN => binary(BinaryOp::Sub, before, value),
                Some(before) => binary(BinaryOp::Add, before, value),
            });
        }
        sum.unwrap_or_else(|| integer(0, span))
    }

    fn include(&mut self, product: Vec<Atom>, factor: i64) -> Option<()> {
        let sum = self.terms.get(&product).copied().unwrap_or(0).checked_add(factor)?;
        match sum {
            0 => self.terms.remove(&product),
            _ => self.terms.insert(product, sum),
        };
        Some(())
    }
}

impl Atom {
    fn to_expr(&self, span: Span) -> Expr {
        let kind = match self {
            Atom::Local(local) => ExprKind::Local(*local),
            Atom::Size(array, axis) => ExprKind::Size { array: *array, axis: *axis },
            Atom::First(array, axis) => ExprKind::First { array: *array, axis: *axis },
            Atom::Entry(..) => unreachable!("what an iteration begins with is known before it is used"),
            Atom::Clamped(inner) => {
                return binary(BinaryOp::Max, inner.to_expr(span), integer(0, span));
            }
            Atom::Quotient(inner, divisor) => {
                return binary(BinaryOp::DivFloor, inner.to_expr(span), integer(*divisor, span));
            }
            Atom::Divided(rounding, dividend, divisor) => {
                let operator = match rounding {
                    Rounding::Zero => BinaryOp::DivTrunc,
                    Rounding::Down => BinaryOp::DivFloor,
                    Rounding::Up => BinaryOp::DivCeil,
                };
                return binary(operator, dividend.to_expr(span), divisor.to_expr(span));
            }
        };
        Expr { kind, ty: ScalarType::I64, span }
    }
}
