//! The integer program, and its solution.

use super::{Layout, Padding, Weights, each, measure, rows_between};
use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem, SolveOptions, Variable};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    #[error("a read or a thread has {has} coordinates where the array has {needs} axes")]
    Axes { has: usize, needs: usize },
    #[error("vectors, banks and periods have at least one element, and at most {most}")]
    Range { most: u32 },
    #[error("the solver gave up: {reason}")]
    Solver { reason: String },
}

/// Longer vectors, more banks and longer periods make programs that no solver ends with.
const MOST: u32 = 64;

/// Factors of strides, by axis and row of the period.
type Factors = Vec<((usize, usize), i64)>;

/// How many cases the solver may look at.
const NODES: u64 = 20_000;

/// The best padding of the layout's period: none gives less of what the weights count.
///
/// Where paddings are few, all are tried. Otherwise a solver computes with floating point. What it finds is rounded to integers
/// and measured again, so what a padding is said to give is exact; that there is no better one then rests on the solver.
pub fn solve(layout: &Layout, weights: Weights) -> Result<Padding, LayoutError> {
    let needs = layout.axes() + 1;
    if let Some(wrong) = layout.reads.iter().chain(&layout.threads).find(|it| it.len() != needs) {
        return Err(LayoutError::Axes { has: wrong.len(), needs });
    }
    if [layout.vector, layout.banks, layout.period].iter().any(|&it| it == 0 || it > MOST) {
        return Err(LayoutError::Range { most: MOST });
    }
    match each::best(layout, weights) {
        Some(padding) => Ok(padding),
        None => by_solver(layout, weights),
    }
}

/// The best padding as the solver finds it, however few there are.
pub fn by_solver(layout: &Layout, weights: Weights) -> Result<Padding, LayoutError> {
    let mut program = Program::new(layout, weights);
    program.align(layout, weights);
    program.spread(layout, weights);
    let failed = |reason: String| LayoutError::Solver { reason };
    let mut options = SolveOptions::default();
    options.node_limit = Some(NODES);
    let outcome = program.problem.solve_with(options).map_err(|error| failed(error.to_string()))?;
    let optimal = outcome.is_optimal();
    let Some(solution) = outcome.solution().filter(|_| optimal) else {
        return Err(failed(format!("{NODES} cases did not suffice")));
    };
    let value = |variable: &Variable| solution.var_value(*variable).round().max(0.0) as u64;
    let padding = Padding { pads: program.pads.iter().map(|pads| pads.iter().map(value).collect()).collect() };
    // Free elements that change nothing can come of rounding alone; none at all is then as good.
    let none = Padding::none(layout);
    Ok(if none.cost(layout, weights) <= padding.cost(layout, weights) { none } else { padding })
}

/// Variables for pads and for strides modulo the unit; the constraints that tie them together are (2) and (8).
struct Program {
    problem: Problem,
    /// For each axis but the last, for each position within the period.
    pads: Vec<Vec<Variable>>,
    /// For each axis but the first, for each position: between 0 and the modulus.
    strides: Vec<Vec<Variable>>,
    modulus: i64,
}

impl Program {
    fn new(layout: &Layout, weights: Weights) -> Program {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let modulus = layout.modulus() as i64;
        let top = modulus as i32 - 1;
        let mut pads: Vec<Vec<Variable>> = vec![];
        let mut strides: Vec<Vec<Variable>> = vec![];
        for &extent in &layout.extents {
            // The block before the pad: how often each stride comes up, and a constant.
            let mut block: BTreeMap<usize, i64> = BTreeMap::new();
            let mut constant = 0;
            match strides.last() {
                None => constant = (extent % modulus as u64) as i64,
                Some(rows) => {
                    let period = rows.len() as u64;
                    for row in 0..period {
                        let often = (extent / period + u64::from(row < extent % period)) % modulus as u64;
                        block.insert(row as usize, often as i64);
                    }
                }
            }
            let (mut here, mut next) = (vec![], vec![]);
            for _ in 0..layout.period {
                let pad = problem.add_integer_var(f64::from(weights.pad), (0, top));
                let stride = problem.add_integer_var(0.0, (0, top));
                let most = block.values().sum::<i64>() * i64::from(top) + constant + i64::from(top);
                let rounds = problem.add_integer_var(0.0, (0, (most / modulus) as i32));
                // stride + modulus * rounds = block + pad
                let mut sum = LinearExpr::empty();
                sum.add(stride, 1.0);
                sum.add(rounds, modulus as f64);
                sum.add(pad, -1.0);
                for (&row, &often) in &block {
                    sum.add(strides.last().expect("a block of rows has strides")[row], -(often as f64));
                }
                problem.add_constraint(sum, ComparisonOp::Eq, constant as f64);
                here.push(pad);
                next.push(stride);
            }
            pads.push(here);
            strides.push(next);
        }
        Program { problem, pads, strides, modulus }
    }

    /// How often each stride lies between an element at the phase and another, and the distance within the row.
    fn terms(&self, phase: &[u32], to: &[i64]) -> (BTreeMap<(usize, usize), i64>, i64) {
        let mut terms = BTreeMap::new();
        for (axis, rows) in self.strides.iter().enumerate() {
            for (row, sign) in rows_between(phase[axis], to[axis + 1], rows.len()) {
                *terms.entry((axis, row)).or_insert(0) += sign;
            }
        }
        (terms, to[0])
    }

    /// `sum of strides - unit * z - rest = constant`, with a new integer `z`.
    fn congruence(
        &mut self,
        terms: &BTreeMap<(usize, usize), i64>,
        unit: i64,
        rest: &[(Variable, f64)],
        constant: i64,
    ) {
        let top = self.modulus - 1;
        let most: i64 = terms.values().map(|factor| factor.abs() * top).sum::<i64>() + constant.abs() + 2 * unit;
        let bound = (most / unit + 1) as i32;
        let z = self.problem.add_integer_var(0.0, (-bound, bound));
        let mut sum = LinearExpr::empty();
        for (&(axis, row), &factor) in terms {
            sum.add(self.strides[axis][row], factor as f64);
        }
        sum.add(z, -(unit as f64));
        for &(variable, factor) in rest {
            sum.add(variable, factor);
        }
        self.problem.add_constraint(sum, ComparisonOp::Eq, constant as f64);
    }

    /// Constraints (1) with (3) and (4), or (7): in each phase all reads are at one place but those that a slack moves.
    fn align(&mut self, layout: &Layout, weights: Weights) {
        let unit = i64::from(layout.vector);
        if unit <= 1 {
            return;
        }
        let top = unit as i32 - 1;
        for number in 0..layout.phases() {
            let phase = layout.phase(number);
            let place = self.problem.add_integer_var(0.0, (0, top));
            // Reads that are the same distance apart for all paddings are in or out of place together.
            let mut groups: BTreeMap<(Factors, i64), usize> = BTreeMap::new();
            for read in &layout.reads {
                let (terms, within) = self.terms(&phase, read);
                let terms = terms.into_iter().filter(|(_, factor)| factor.rem_euclid(unit) != 0).collect();
                *groups.entry((terms, within.rem_euclid(unit))).or_insert(0) += 1;
            }
            for ((terms, within), count) in groups {
                let slack = self.problem.add_integer_var(0.0, (0, top));
                let moved = self.problem.add_binary_var(f64::from(weights.unaligned) * count as f64);
                self.problem.add_constraint([(slack, 1.0), (moved, -f64::from(top))], ComparisonOp::Le, 0.0);
                let terms = terms.into_iter().collect();
                self.congruence(&terms, unit, &[(place, -1.0), (slack, -1.0)], -within);
            }
        }
    }

    /// Section IV-E: two threads are in different banks unless a slack allows it.
    fn spread(&mut self, layout: &Layout, weights: Weights) {
        let unit = i64::from(layout.banks);
        if unit <= 1 {
            return;
        }
        let start = vec![0; layout.axes()];
        let mut groups: BTreeMap<(Factors, i64), usize> = BTreeMap::new();
        for (first, a) in layout.threads.iter().enumerate() {
            for b in layout.threads[first + 1..].iter().filter(|&b| b != a) {
                let ((mut terms, from), (others, to)) = (self.terms(&start, a), self.terms(&start, b));
                for (key, factor) in others {
                    *terms.entry(key).or_insert(0) -= factor;
                }
                let terms = terms.into_iter().filter(|(_, factor)| *factor != 0).collect();
                *groups.entry((terms, from - to)).or_insert(0) += 1;
            }
        }
        for ((terms, within), count) in groups {
            let rest = self.problem.add_integer_var(0.0, (0, unit as i32 - 1));
            let meet = self.problem.add_binary_var(f64::from(weights.conflict) * count as f64);
            self.problem.add_constraint([(rest, 1.0), (meet, 1.0)], ComparisonOp::Ge, 1.0);
            self.congruence(&terms.into_iter().collect(), unit, &[(rest, -1.0)], -within);
        }
    }
}

/// The smallest period up to `most` whose best padding is as good as that of any other, and that padding.
pub fn best_period(layout: &Layout, most: u32, weights: Weights) -> Result<(Layout, Padding), LayoutError> {
    let mut best: Option<(Layout, Padding, f64)> = None;
    for period in 1..=most {
        let layout = Layout { period, ..layout.clone() };
        let padding = solve(&layout, weights)?;
        let found = measure(&layout, &padding);
        let phases = layout.phases() as f64;
        let score = found.unaligned.iter().sum::<usize>() as f64 / phases + found.conflicts as f64;
        if best.as_ref().is_none_or(|(_, _, least)| score < *least) {
            best = Some((layout, padding, score));
        }
    }
    let (layout, padding, _) = best.ok_or(LayoutError::Range { most: MOST })?;
    Ok((layout, padding))
}
