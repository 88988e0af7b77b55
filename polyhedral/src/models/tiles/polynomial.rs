//! What tiles cost as polynomials of their sizes.

use super::count::Counts;
use super::counter::both;
use super::{Cost, Partly};
use crate::error::Error;

/// How many sizes a polynomial is laid through: along dimensions of space, in which it is quadratic, and in the number of
/// time steps, with whose fourth power the instances grow that a halo around three dimensions makes again.
pub(super) const NODES: usize = 3;
pub(super) const NODES_OF_TIME: usize = 5;

/// The least size from which on a polynomial is laid first: smaller tiles may have edges that meet. Where values come from farther,
/// it is laid from beyond that on, but from no later size than the second.
pub(super) const LEAST: u64 = 4;
pub(super) const MOST_LEAST: u64 = 24;

/// Loads, stores, useful results, footprint and instances, in this order.
const QUANTITIES: usize = 5;
const LOADS: usize = 0;
const STORES: usize = 1;
const USEFUL: usize = 2;
pub(super) const FOOTPRINT: usize = 3;
pub(super) const RUN: usize = 4;

/// Quantities as functions of sizes: differences at equidistant nodes (Newton's form), so that all is in integers.
pub(super) struct Polynomial {
    /// The first node of each variable.
    least: Vec<u64>,
    /// How many nodes each variable has; one where there is no other size.
    nodes: Vec<usize>,
    /// For each quantity one coefficient for each tuple of orders, the first variable's order changing fastest.
    differences: [Vec<i128>; QUANTITIES],
}

pub(super) type Count<'a> = &'a dyn Fn(&[u64]) -> Result<Option<Counts>, Error>;

impl Polynomial {
    pub(super) fn through(nodes: &[usize], least: &[u64], counted: Count<'_>) -> Result<Option<Polynomial>, Error> {
        let places: usize = nodes.iter().product();
        let mut differences = [const { vec![] }; QUANTITIES];
        for place in 0..places {
            let sizes: Vec<u64> = digits(nodes, place).zip(least).map(|(digit, least)| least + digit as u64).collect();
            let Some(counts) = counted(&sizes)? else { return Ok(None) };
            for (values, value) in differences.iter_mut().zip(quantities(&counts)) {
                values.push(i128::from(value));
            }
        }
        for values in &mut differences {
            let mut stride = 1;
            for (variable, &count) in nodes.iter().enumerate() {
                for order in 1..count {
                    for place in (0..places).rev() {
                        if digits(nodes, place).nth(variable).is_some_and(|digit| digit >= order) {
                            values[place] -= values[place - stride];
                        }
                    }
                }
                stride *= count;
            }
        }
        Ok(Some(Polynomial { least: least.to_vec(), nodes: nodes.to_vec(), differences }))
    }

    /// The same, told from other nodes on.
    pub(super) fn from(&self, least: &[u64]) -> Polynomial {
        let told = |sizes: &[u64]| {
            let [loads, stores, useful, footprint, run] = std::array::from_fn(|at| self.value(at, sizes));
            let cost = Cost { memory: loads.max(stores), loads, stores, useful };
            Ok(Some(Counts { cost, footprint, run }))
        };
        let moved = Polynomial::through(&self.nodes, least, &told);
        moved.ok().flatten().expect("all values are told")
    }

    /// Whether it is right at sizes that it was not laid through; instances grow by a high power of the time steps, and need be right only
    /// where it has as many nodes.
    pub(super) fn hits(&self, counted: Count<'_>) -> Result<bool, Error> {
        let open: Vec<usize> = (0..self.nodes.len()).filter(|&variable| self.nodes[variable] > 1).collect();
        let beyond = |variable: usize| self.least[variable] + self.nodes[variable] as u64;
        let mut all = self.least.clone();
        open.iter().for_each(|&variable| all[variable] = beyond(variable));
        let mut others = vec![all];
        others.extend(open.iter().map(|&variable| {
            let mut one = self.least.clone();
            one[variable] = beyond(variable) + 1;
            one
        }));
        for sizes in others.into_iter().filter(|_| !open.is_empty()) {
            let has_instances = self.nodes.contains(&NODES_OF_TIME);
            let Some(counts) = counted(&sizes)? else { return Ok(false) };
            if !self.agrees(&sizes, &counts, if has_instances { QUANTITIES } else { RUN }) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether counts at these sizes are its values, instances left out.
    pub(super) fn is_right_at(&self, sizes: &[u64], counted: Count<'_>) -> Result<bool, Error> {
        let Some(counts) = counted(sizes)? else { return Ok(false) };
        Ok(self.agrees(sizes, &counts, RUN))
    }

    /// Whether the first quantities are its values.
    fn agrees(&self, sizes: &[u64], counts: &Counts, first: usize) -> bool {
        let found = quantities(counts);
        (0..first).all(|at| self.value(at, sizes) == found[at])
    }

    pub(super) fn value(&self, quantity: usize, sizes: &[u64]) -> u64 {
        let mut sum = 0_i128;
        for (place, &difference) in self.differences[quantity].iter().enumerate() {
            let factors =
                digits(&self.nodes, place).zip(sizes.iter().zip(&self.least)).map(|(order, (size, least))| {
                    let from = i128::from(*size) - i128::from(*least);
                    binomials(from).get(order).copied().unwrap_or(0)
                });
            let term = factors.into_iter().try_fold(difference, |product, factor| product.checked_mul(factor));
            sum = term.and_then(|term| sum.checked_add(term)).unwrap_or(i128::MAX);
        }
        bounded(sum)
    }

    pub(super) fn cost(&self, sizes: &[u64]) -> Cost {
        let (loads, stores) = (self.value(LOADS, sizes), self.value(STORES, sizes));
        Cost { memory: loads.max(stores), loads, stores, useful: self.value(USEFUL, sizes) }
    }
}

/// `1`, `n`, `n (n - 1) / 2`, and so on, as many as any variable has nodes.
fn binomials(n: i128) -> [i128; NODES_OF_TIME] {
    let pairs = n.saturating_mul(n - 1) / 2;
    let triples = pairs.saturating_mul(n - 2) / 3;
    [1, n, pairs, triples, triples.saturating_mul(n - 3) / 4]
}

/// The polynomials of all parts, of which the first sizes are fixed.
pub(super) struct Sums {
    /// Of the sizes that are open.
    nodes: Vec<usize>,
    least: Vec<u64>,
    /// Loads, stores and useful results.
    parts: Vec<[Vec<i128>; FOOTPRINT]>,
}

impl Sums {
    pub(super) fn of(parts: &[Polynomial]) -> Sums {
        let (nodes, least) = parts.first().map(|it| (it.nodes.clone(), it.least.clone())).unwrap_or_default();
        let three = |it: &Polynomial| std::array::from_fn(|at| it.differences[at].clone());
        Sums { nodes, least, parts: parts.iter().map(three).collect() }
    }
}

impl Partly for Sums {
    fn with(&self, size: u64) -> Self {
        let (nodes, rest) = self.nodes.split_first().expect("a size is open");
        let (&least, after) = self.least.split_first().expect("each size has a first node");
        let fixed = self.parts.iter().map(|quantities| {
            std::array::from_fn(|at| {
                quantities[at].chunks(*nodes).map(|orders| at_size(orders, size - least)).collect()
            })
        });
        Sums { nodes: rest.to_vec(), least: after.to_vec(), parts: fixed.collect() }
    }

    fn cost(&self) -> Cost {
        let first = |orders: &Vec<i128>| orders.first().copied().unwrap_or(0);
        sum_of(self.parts.iter().map(|quantities| [0, 1, 2].map(|at| first(&quantities[at]))))
    }

    /// By differences: each size's values are sums of the ones before.
    fn row(&self, least: u64) -> impl Iterator<Item = Cost> {
        assert_eq!(self.least, [least], "polynomials begin at their first node");
        let orders = |all: &Vec<i128>| std::array::from_fn(|order| all.get(order).copied().unwrap_or(0));
        let mut now: Vec<[[i128; NODES_OF_TIME]; FOOTPRINT]> =
            self.parts.iter().map(|quantities| std::array::from_fn(|at| orders(&quantities[at]))).collect();
        std::iter::repeat_with(move || {
            let cost = sum_of(now.iter().map(|quantities| quantities.map(|it| it[0])));
            for differences in now.iter_mut().flatten() {
                for order in 1..NODES_OF_TIME {
                    differences[order - 1] = differences[order - 1].saturating_add(differences[order]);
                }
            }
            cost
        })
    }
}

/// The cost of parts, of which loads, stores and useful results are told.
fn sum_of(parts: impl Iterator<Item = [i128; FOOTPRINT]>) -> Cost {
    let each = parts.map(|quantities| {
        let [loads, stores, useful] = quantities.map(bounded);
        Cost { memory: loads.max(stores), loads, stores, useful }
    });
    each.reduce(|a, b| both(&a, &b)).unwrap_or_default()
}

/// A polynomial in one size, from its coefficients, so far beyond the first node.
fn at_size(orders: &[i128], beyond: u64) -> i128 {
    let terms = orders.iter().zip(binomials(i128::from(beyond)));
    terms.fold(0, |sum: i128, (order, binomial)| sum.saturating_add(order.saturating_mul(binomial)))
}

fn bounded(value: i128) -> u64 {
    u64::try_from(value.max(0)).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
}

/// The digits of a number in mixed bases, the first one changing fastest.
fn digits(bases: &[usize], mut number: usize) -> impl Iterator<Item = usize> {
    bases.iter().map(move |base| {
        let digit = number % base;
        number /= base;
        digit
    })
}

fn quantities(counts: &Counts) -> [u64; QUANTITIES] {
    [counts.cost.loads, counts.cost.stores, counts.cost.useful, counts.footprint, counts.run]
}
