//! Subscripts that count through rows: `u[(j - 1) * nx + i]`, as programs have them that keep matrices in vectors.
//!
//! Such a subscript is no affine expression, since a size multiplies an iterator. It is a polynomial, though, and divided by the stride `s` of a
//! row it is `s * q + r`: where two subscripts are equal, their rows `q` and their places `r` in a row are equal, or the places lie at least
//! a row apart. The latter is an affine condition, which bounds of loops mostly rule out, so dependences are those of a matrix.
//!
//! Nothing is assumed of the stride: of one that is not positive, all places lie at least so far apart. Products that pass 64 bits could make two
//! such subscripts equal that are not. So parameters that such products grow with are [limited](limits) further than others, at entry.
//!
//! # Source
//! Grosser, Ramanujam, Pouchet, Sadayappan, Pop, *Optimistic delinearization of parametrically sized arrays*, ICS 2015. There sizes are
//! taken from all accesses to an array, and tested when the program runs; here two accesses are compared at a time, and nothing is left to test.

use crate::affine::{Affine, Atom, ParamId};
use crate::algorithm::{AccessRef, Algorithm, ArrayId, Computation, ComputationId, PARAM_LIMIT, Subscript};
use crate::error::Error;
use crate::expr::{Expr, ExprKind, conjuncts};
use crate::isl::{Aff, Ctx, DimType, Map, MultiAff, Set, Val};
use crate::relation;
use std::collections::{BTreeMap, BTreeSet};
use tessella_scalar::{BinaryOp, CompareOp, ScalarType, UnaryOp};

/// `{ S[x] -> R[y] : the accesses may name one element }`, as far as axes tell whose subscripts are polynomials; `None` where none does.
pub fn same_element(
    ctx: &Ctx,
    algorithm: &Algorithm,
    source: AccessRef,
    sink: AccessRef,
) -> Result<Option<Map>, Error> {
    let axes = algorithm.access(source).subscripts.iter().zip(&algorithm.access(sink).subscripts);
    let mut same: Option<Map> = None;
    for (one, other) in axes.filter(|(one, other)| one.as_computed().is_some() || other.as_computed().is_some()) {
        let of = |at: AccessRef, subscript: &Subscript| -> Result<Option<Polynomial>, Error> {
            let computation = algorithm.computation(at.computation);
            let Some(polynomial) = Polynomial::of_subscript(computation, subscript) else { return Ok(None) };
            let within = Within { context: &algorithm.context, limits: &algorithm.limits, computation };
            let is_small = subscript.as_affine().is_some() || within.is_small(&polynomial)?;
            Ok(is_small.then_some(polynomial))
        };
        let (Some(one), Some(other)) = (of(source, one)?, of(sink, other)?) else { continue };
        let ends = Ends { ctx, algorithm, source: source.computation, sink: sink.computation };
        let Some(own) = ends.equal(&one, &other)? else { continue };
        same = Some(match same {
            None => own,
            Some(others) => others.intersect(&own)?,
        });
    }
    Ok(same)
}

/// How far a subscript moves with an iterator, where that is a number.
pub fn coefficient(computation: &Computation, subscript: &Subscript, iterator: u32) -> Option<i64> {
    let Subscript::Computed(value) = subscript else { return Some(subscript.as_affine()?.coefficient(iterator)) };
    let polynomial = Polynomial::of_expression(computation, value)?;
    let mut moving = polynomial.0.iter().filter(|(product, _)| product.contains(&Atom::Iterator(iterator)));
    match (moving.next(), moving.next()) {
        (None, _) => Some(0),
        (Some((product, factor)), None) => (product.len() == 1).then_some(*factor),
        (Some(_), Some(_)) => None,
    }
}

/// Parameters that products in subscripts grow with, and the most that each may be in magnitude for the subscripts to have 62 bits: [`Algorithm::limits`].
pub fn limits(algorithm: &Algorithm) -> Result<BTreeMap<ParamId, i64>, Error> {
    let mut limits: BTreeMap<ParamId, i64> = BTreeMap::new();
    let written: BTreeSet<ArrayId> = algorithm.computations.iter().map(|it| it.write.array).collect();
    for at in algorithm.accesses() {
        let computation = algorithm.computation(at.computation);
        for subscript in algorithm.access(at).subscripts.iter().filter(|it| it.as_computed().is_some()) {
            let Some(polynomial) = Polynomial::of_subscript(computation, subscript) else { continue };
            // Nothing depends on the order of reads, and of three factors and more an axis may well be longer.
            if polynomial.degree() > 2 && !written.contains(&algorithm.access(at).array) {
                continue;
            }
            let own = own_limits(&algorithm.context, computation, &polynomial)?;
            let within = Within { context: &algorithm.context, limits: &own, computation };
            if !within.is_small(&polynomial)? {
                continue;
            }
            for (param, most) in own {
                let limit = limits.entry(param).or_insert(most);
                *limit = most.min(*limit);
            }
        }
    }
    Ok(limits)
}

/// Bits that products of parameters have together.
const BITS: u32 = 60;

/// The parameters of a polynomial's products, and those that bound their iterators, with what each may be so that products have [`BITS`].
fn own_limits(
    context: &Set,
    computation: &Computation,
    polynomial: &Polynomial,
) -> Result<BTreeMap<ParamId, i64>, Error> {
    let domain = computation.domain.intersect_params(context)?;
    let limit = 1 << (BITS / polynomial.degree().max(1));
    let mut limits = BTreeMap::new();
    for atom in polynomial.0.keys().filter(|product| product.len() > 1).flatten() {
        match atom {
            Atom::Param(param) => {
                limits.insert(*param, limit);
            }
            Atom::Iterator(at) => {
                let bounds = values(&domain, *at)?.drop_constraints_not_involving_dims(DimType::Set, 0, 1)?;
                let involved = (0..).zip(relation::involved(&bounds)?).filter(|(_, is_involved)| *is_involved);
                limits.extend(involved.map(|(param, _)| (ParamId(param), limit)));
            }
            Atom::FloorDiv(..) => {}
        }
    }
    Ok(limits)
}

/// The instances of a computation for parameters within limits.
struct Within<'a> {
    context: &'a Set,
    limits: &'a BTreeMap<ParamId, i64>,
    computation: &'a Computation,
}

impl Within<'_> {
    /// Whether a polynomial has 62 bits in all instances.
    fn is_small(&self, polynomial: &Polynomial) -> Result<bool, Error> {
        let domain = self.computation.domain.intersect_params(self.context)?;
        let mut sum = 0i128;
        for (product, factor) in &polynomial.0 {
            let mut largest = i128::from(*factor).abs();
            for atom in product {
                let most = match atom {
                    Atom::Param(param) => Some(self.most(*param)),
                    Atom::Iterator(at) => self.largest(&values(&domain, *at)?)?,
                    Atom::FloorDiv(..) => None,
                };
                let Some(most) = most else { return Ok(false) };
                largest = largest.saturating_mul(i128::from(most));
            }
            sum = sum.saturating_add(largest);
        }
        Ok(sum < 1 << 62)
    }

    fn most(&self, param: ParamId) -> i64 {
        self.limits.get(&param).copied().unwrap_or(PARAM_LIMIT)
    }

    /// The largest magnitude of values of an iterator; `None` if it has no end.
    fn largest(&self, values: &Set) -> Result<Option<i64>, Error> {
        let mut within = values.clone();
        for at in 0..values.dim(DimType::Param)? {
            let most = self.most(ParamId(at));
            let (least, most) = (Val::from_i64(values.ctx(), -most)?, Val::from_i64(values.ctx(), most)?);
            within = within.lower_bound(DimType::Param, at, &least)?.upper_bound(DimType::Param, at, &most)?;
        }
        let within = within.project_out_all_params()?;
        if within.is_empty()? {
            return Ok(Some(0));
        }
        let ends = (within.dim_min_val(0)?.to_i64(), within.dim_max_val(0)?.to_i64());
        Ok(ends.0.zip(ends.1).and_then(|(low, high)| Some(low.checked_abs()?.max(high.checked_abs()?))))
    }
}

/// `{ [value] }`: those of an iterator.
fn values(domain: &Set, iterator: u32) -> Result<Set, Error> {
    let count = domain.dim(DimType::Set)?;
    let own = domain.project_out(DimType::Set, iterator + 1, count - iterator - 1)?;
    Ok(own.project_out(DimType::Set, 0, iterator)?)
}

/// The instances of a search for subscripts that are outside among which is one that is, if any is: those at the ends of loops, where the
/// subscript is a polynomial of 62 bits that each iterator divides at most once, so that it is greatest and least there. `None` of other searches.
pub fn extremes(of: &Algorithm, search: &Computation) -> Result<Option<Set>, Error> {
    let ExprKind::Unary(UnaryOp::Not, inside) = &search.value.kind else { return Ok(None) };
    if search.predicate.is_some() || !search.reads.is_empty() || !search.ranged.is_empty() {
        return Ok(None);
    }
    for part in conjuncts(inside) {
        let ExprKind::Compare(CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge, one, other) = &part.kind
        else {
            return Ok(None);
        };
        let polynomial = |expr: &Expr| Polynomial::of_expression(search, expr);
        let (Some(one), Some(other)) = (polynomial(one), polynomial(other)) else { return Ok(None) };
        let Some(difference) = one.plus(&other, -1) else { return Ok(None) };
        // What passes 64 bits on either side neither grows nor shrinks.
        let within = Within { context: &of.context, limits: &of.limits, computation: search };
        if !within.is_small(&one)? || !within.is_small(&other)? {
            return Ok(None);
        }
        let once = |product: &Vec<Atom>| {
            let mut iterators = product.iter().filter(|atom| !matches!(atom, Atom::Param(_)));
            let mut seen = BTreeSet::new();
            iterators.all(|atom| matches!(atom, Atom::Iterator(_)) && seen.insert(atom))
        };
        if !difference.0.keys().all(once) {
            return Ok(None);
        }
    }
    let mut ends = search.domain.clone();
    for iterator in (0..search.iterators.len() as u32).rev() {
        // With the other iterators as they are, the subscript only grows or only shrinks with this one.
        let next = ends.subtract(&moved(&ends, iterator, 1)?)?.union(&ends.subtract(&moved(&ends, iterator, -1)?)?)?;
        let next = next.coalesce()?;
        if next.basic_set_count()? > MOST_ENDS {
            break;
        }
        ends = next;
    }
    Ok(Some(ends))
}

/// Ends of loops in more pieces than this are not looked for.
const MOST_ENDS: u32 = 4;

/// The same points, so far along an iterator.
fn moved(points: &Set, iterator: u32, far: i64) -> Result<Set, Error> {
    let space = points.space()?;
    let places = (0..points.dim(DimType::Set)?).map(|at| {
        let place = Aff::set_dim_on(&space, at)?;
        match at == iterator {
            true => place.add_constant(&Val::from_i64(points.ctx(), -far)?),
            false => Ok(place),
        }
    });
    let places = places.collect::<Result<Vec<_>, _>>()?;
    Ok(points.preimage_multi_aff(&MultiAff::from_affs(&space.map_from_set()?, &places)?)?)
}

/// Two computations that are compared.
struct Ends<'a> {
    ctx: &'a Ctx,
    algorithm: &'a Algorithm,
    source: ComputationId,
    sink: ComputationId,
}

impl Ends<'_> {
    /// `{ S[x] -> R[y] : one(x) = other(y) }`, or more; `None` where nothing is found.
    fn equal(&self, one: &Polynomial, other: &Polynomial) -> Result<Option<Map>, Error> {
        let of = |id: ComputationId, value: &Affine| relation::function(self.ctx, self.algorithm, id, value);
        if let (Some(one), Some(other)) = (one.as_affine(), other.as_affine()) {
            return Ok(Some(of(self.source, &one)?.apply_range(&of(self.sink, &other)?.reverse()?)?));
        }
        for stride in one.strides().into_iter().chain(other.strides()) {
            let (Some([row, place]), Some([other_row, other_place])) = (one.divided(&stride), other.divided(&stride))
            else {
                continue;
            };
            let (Some(place), Some(other_place), Some(stride)) =
                (place.as_affine(), other_place.as_affine(), stride.as_affine())
            else {
                continue;
            };
            let (Ok(below), Ok(above)) = (place.add(&stride), place.sub(&stride)) else { continue };
            let (Ok(below), Ok(above)) = (below.add_constant(-1), above.add_constant(1)) else { continue };
            let theirs = of(self.sink, &other_place)?;
            let mut same = of(self.source, &place)?.apply_range(&theirs.reverse()?)?;
            if let Some(rows) = self.equal(&row, &other_row)? {
                same = same.intersect(&rows)?;
            }
            let above = of(self.source, &above)?.lex_gt_at(&theirs)?;
            let below = of(self.source, &below)?.lex_lt_at(&theirs)?;
            return Ok(Some(same.union(&above)?.union(&below)?));
        }
        Ok(None)
    }
}

/// A sum of products of iterators, parameters and divisions, by the factors of each, which are sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Polynomial(BTreeMap<Vec<Atom>, i64>);

/// Products of more factors are not looked at.
const MOST_FACTORS: usize = 6;

/// Nor are factors beyond this,
const LARGEST: u64 = 1 << 20;

/// more products than this,
const MOST_PRODUCTS: usize = 32;

/// and expressions of more parts, once their values are spelled out.
const MOST_PARTS: u32 = 256;

impl Polynomial {
    fn of_subscript(computation: &Computation, subscript: &Subscript) -> Option<Polynomial> {
        match subscript {
            Subscript::Affine(affine) => Polynomial::of_affine(affine),
            Subscript::Computed(value) => Polynomial::of_expression(computation, value),
        }
    }

    fn of_affine(affine: &Affine) -> Option<Polynomial> {
        let terms = affine.terms().iter().map(|(atom, factor)| (vec![atom.clone()], *factor));
        Polynomial(terms.chain([(vec![], affine.constant_term())]).collect()).checked()
    }

    /// The polynomial of an expression that is a sum of products, in 64 bits.
    fn of_expression(computation: &Computation, expr: &Expr) -> Option<Polynomial> {
        Polynomial::of_part(computation, expr, &mut { MOST_PARTS })
    }

    /// The same of a part of it, of so many that are left.
    fn of_part(computation: &Computation, expr: &Expr, left: &mut u32) -> Option<Polynomial> {
        *left = left.checked_sub(1)?;
        if expr.ty != ScalarType::I64 {
            return None;
        }
        let mut of = |expr: &Expr| Polynomial::of_part(computation, expr, left);
        match &expr.kind {
            ExprKind::Index(affine) => Polynomial::of_affine(affine),
            ExprKind::Constant(value) => Polynomial::of_affine(&Affine::constant(value.as_integer()?.try_into().ok()?)),
            ExprKind::Let(at) => of(&computation.lets[*at as usize].value),
            ExprKind::Unary(UnaryOp::Neg, operand) => Polynomial::default().plus(&of(operand)?, -1),
            ExprKind::Binary(BinaryOp::Add, left, right) => of(left)?.plus(&of(right)?, 1),
            ExprKind::Binary(BinaryOp::Sub, left, right) => of(left)?.plus(&of(right)?, -1),
            ExprKind::Binary(BinaryOp::Mul, left, right) => of(left)?.times(&of(right)?),
            _ => None,
        }
    }

    /// Without products that are zero; `None` if a number is too large.
    fn checked(mut self) -> Option<Polynomial> {
        self.0.retain(|_, factor| *factor != 0);
        let fits =
            |(product, factor): (&Vec<Atom>, &i64)| product.len() <= MOST_FACTORS && factor.unsigned_abs() <= LARGEST;
        (self.0.len() <= MOST_PRODUCTS && self.0.iter().all(fits)).then_some(self)
    }

    fn plus(&self, other: &Polynomial, times: i64) -> Option<Polynomial> {
        let mut sum = self.0.clone();
        for (product, factor) in &other.0 {
            let so_far = sum.entry(product.clone()).or_default();
            *so_far = so_far.checked_add(factor.checked_mul(times)?)?;
        }
        Polynomial(sum).checked()
    }

    fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut all = Polynomial::default();
        for (left, one) in &self.0 {
            for (right, two) in &other.0 {
                let mut product = [left.as_slice(), right.as_slice()].concat();
                product.sort();
                all = all.plus(&Polynomial(BTreeMap::from([(product, one.checked_mul(*two)?)])), 1)?;
            }
        }
        Some(all)
    }

    /// The most factors of a product.
    fn degree(&self) -> u32 {
        self.0.keys().map(Vec::len).max().unwrap_or(0) as u32
    }

    fn as_affine(&self) -> Option<Affine> {
        let mut sum = Affine::constant(0);
        for (product, &factor) in &self.0 {
            let term = match product.as_slice() {
                [] => Affine::constant(factor),
                [atom] => Affine::atom(atom.clone()).scale(factor).ok()?,
                _ => return None,
            };
            sum = sum.add(&term).ok()?;
        }
        Some(sum)
    }

    /// What multiplies iterators, where that is a sum of parameters.
    fn strides(&self) -> Vec<Polynomial> {
        let is_param = |atom: &Atom| matches!(atom, Atom::Param(_));
        let mut of: BTreeMap<&Atom, Polynomial> = BTreeMap::new();
        let mut others = BTreeSet::new();
        for (product, &factor) in &self.0 {
            let (params, rest): (Vec<&Atom>, Vec<&Atom>) = product.iter().partition(|atom| is_param(atom));
            match (rest.as_slice(), params.as_slice()) {
                ([], _) => {}
                ([atom], []) => *of.entry(atom).or_default().0.entry(vec![]).or_default() += factor,
                ([atom], [param]) => {
                    of.entry(atom).or_default().0.insert(vec![(*param).clone()], factor);
                }
                (rest, _) => others.extend(rest.iter().copied()),
            }
        }
        let mut found: Vec<Polynomial> = vec![];
        for (atom, stride) in of {
            if !others.contains(atom) && stride.main().is_some() && !found.contains(&stride) {
                found.push(stride);
            }
        }
        found
    }

    /// A parameter of a stride that it has once or less once.
    fn main(&self) -> Option<(&Atom, i64)> {
        self.0.iter().find_map(|(product, &factor)| match product.as_slice() {
            [atom @ Atom::Param(_)] if factor.abs() == 1 => Some((atom, factor)),
            _ => None,
        })
    }

    /// `[q, r]` with `self = stride * q + r`, no product of `r` having the stride's main parameter.
    fn divided(&self, stride: &Polynomial) -> Option<[Polynomial; 2]> {
        let (main, sign) = stride.main()?;
        let (mut quotient, mut rest) = (Polynomial::default(), self.clone());
        loop {
            let next = rest.0.iter().find_map(|(product, &factor)| {
                let at = product.iter().position(|atom| atom == main)?;
                let mut others = product.clone();
                others.remove(at);
                Some(Polynomial(BTreeMap::from([(others, factor * sign)])))
            });
            let Some(next) = next else { return Some([quotient, rest]) };
            rest = rest.plus(&stride.times(&next)?, -1)?;
            quotient = quotient.plus(&next, 1)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn param(at: u32) -> Polynomial {
        Polynomial::of_affine(&Affine::param(ParamId(at))).unwrap()
    }

    fn iterator(at: u32) -> Polynomial {
        Polynomial::of_affine(&Affine::iterator(at)).unwrap()
    }

    fn constant(value: i64) -> Polynomial {
        Polynomial::of_affine(&Affine::constant(value)).unwrap()
    }

    #[test]
    fn rows_with_ghost_cells_have_a_stride() {
        // (j - 1) * (n + 2) + i
        let stride = param(0).plus(&constant(2), 1).unwrap();
        let row = iterator(0).plus(&constant(1), -1).unwrap();
        let subscript = row.times(&stride).unwrap().plus(&iterator(1), 1).unwrap();
        assert_eq!(subscript.strides(), std::slice::from_ref(&stride));
        assert_eq!(subscript.divided(&stride), Some([row, iterator(1)]));
    }

    #[test]
    fn planes_are_rows_of_rows() {
        // (k * m + j) * n + i
        let (n, m) = (param(0), param(1));
        let row = iterator(0).times(&m).unwrap().plus(&iterator(1), 1).unwrap();
        let subscript = row.times(&n).unwrap().plus(&iterator(2), 1).unwrap();
        assert_eq!(subscript.strides(), std::slice::from_ref(&n));
        assert_eq!(subscript.divided(&n), Some([row.clone(), iterator(2)]));
        assert_eq!(row.strides(), std::slice::from_ref(&m));
        assert_eq!(row.divided(&m), Some([iterator(0), iterator(1)]));
    }

    #[test]
    fn numbers_that_are_too_large_are_left_alone() {
        assert_eq!(Polynomial::of_affine(&Affine::constant(i64::MIN + 1)), None);
        let many = (0..7).try_fold(constant(1), |all, at| all.times(&iterator(at)));
        assert_eq!(many, None);
    }

    fn value(of: &Polynomial, iterators: &[i64], params: &[i64]) -> i64 {
        let atom = |it: &Atom| match it {
            Atom::Iterator(at) => iterators[*at as usize],
            Atom::Param(at) => params[at.0 as usize],
            Atom::FloorDiv(..) => unreachable!("none is made"),
        };
        of.0.iter().map(|(product, factor)| factor * product.iter().map(atom).product::<i64>()).sum()
    }

    fn any_affine() -> impl Strategy<Value = Polynomial> {
        let term = prop_oneof![(0..2u32).prop_map(iterator), (0..2u32).prop_map(param), Just(constant(1))];
        prop::collection::vec((term, -3..=3i64), 1..4).prop_map(|terms| {
            terms.iter().fold(Polynomial::default(), |sum, (term, times)| sum.plus(term, *times).unwrap())
        })
    }

    proptest! {
        #[test]
        fn division_leaves_what_it_says(
            parts in prop::collection::vec((any_affine(), any_affine()), 1..3),
            iterators in prop::array::uniform2(-5..=5i64),
            params in prop::array::uniform2(-5..=5i64),
        ) {
            let sum = parts.iter().fold(Polynomial::default(), |sum, (one, other)| sum.plus(&one.times(other).unwrap(), 1).unwrap());
            for stride in sum.strides() {
                let Some([row, place]) = sum.divided(&stride) else { continue };
                let of = |it: &Polynomial| value(it, &iterators, &params);
                prop_assert_eq!(of(&sum), of(&stride) * of(&row) + of(&place));
            }
        }
    }
}
