//! Where statements of a kernel stand, as sets: of the elements of a register buffer that threads touch.

use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::program::{Guard, Node, Spread};
use crate::whole_tiles::{Values, affine, parts};
use std::collections::BTreeSet;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::isl::{DimType, IslError, Set, Space};
use tessella_scalar::CompareOp;

/// The threads of a block lie along three axes.
const THREAD_AXES: u32 = 3;

/// What the sets of one buffer have in common: `[params] -> { [outer, thread, cell, inner] }`, with the variables from outside
/// of the buffer's life, which is within one value of each; the thread's index; the place in the buffer; all other variables.
pub(super) struct Frame<'a> {
    context: &'a Set,
    param_names: Vec<String>,
    outer: Vec<VariableId>,
    axes: u32,
}

impl<'a> Frame<'a> {
    /// Of a buffer with so many axes that lives while `body` runs.
    pub(super) fn new(input: &Input<'_>, context: &'a Set, body: &[Node], axes: u32) -> Frame<'a> {
        let (mut used, mut bound) = (BTreeSet::new(), BTreeSet::new());
        for node in body {
            node.walk(&mut |node| {
                bound.extend(node.bound());
                node.expressions(&mut |expr| {
                    if let IntExpr::Variable(variable) = expr {
                        used.insert(*variable);
                    }
                });
                if let Node::Statement(it) = node {
                    used.extend(it.iterators.iter().flatten());
                }
            });
        }
        let outer = used.difference(&bound).copied().collect();
        Frame { context, param_names: input.algorithm.param_names(), outer, axes }
    }

    fn thread(&self) -> u32 {
        self.outer.len() as u32
    }

    fn cell(&self) -> u32 {
        self.thread() + THREAD_AXES
    }

    fn inner(&self) -> u32 {
        self.cell() + self.axes
    }

    fn space(&self, place: &Place) -> Result<Space, IslError> {
        self.context.space()?.add_unnamed_tuple(place.next)
    }

    /// All values of the variables at a place.
    fn values(&self, place: &Place, space: &Space) -> Result<Set, IslError> {
        let mut all = Set::universe(space)?;
        for value in &place.holds {
            all = all.intersect(&self.where_negative(value, space)?.complement()?)?;
        }
        Ok(all)
    }

    fn where_negative(&self, value: &Affine, space: &Space) -> Result<Set, IslError> {
        value.to_isl(space, &self.param_names)?.lt_set(&Affine::constant(0).to_isl(space, &self.param_names)?)
    }

    /// Whether none of the functions is ever negative at a place.
    pub(super) fn never_negative(&self, place: &Place, all: &[Affine]) -> Result<bool, IslError> {
        let space = self.space(place)?;
        let values = self.values(place, &space)?;
        for it in all {
            if !values.is_disjoint(&self.where_negative(it, &space)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// `[params] -> { [outer, thread, cell] }`: the elements at `cell` that are touched at a place, or more.
    pub(super) fn cells(&self, place: &Place, cell: &[Option<Affine>]) -> Result<Set, IslError> {
        let space = self.space(place)?;
        let mut touched = self.values(place, &space)?;
        let threads = place.threads.iter().enumerate().map(|(axis, value)| (self.thread() + axis as u32, value));
        let cells = cell.iter().enumerate().map(|(axis, value)| (self.cell() + axis as u32, value));
        for (position, value) in threads.chain(cells) {
            let Some(value) = value else { continue };
            let itself = Affine::iterator(position).to_isl(&space, &self.param_names)?;
            touched = touched.intersect(&itself.eq_set(&value.to_isl(&space, &self.param_names)?)?)?;
        }
        touched.project_out(DimType::Set, self.inner(), place.next - self.inner())
    }
}

/// What is known where a statement stands. Functions are over the dimensions of a [`Frame`].
#[derive(Clone)]
pub(super) struct Place {
    values: Values,
    /// Is not negative here, each of them.
    pub(super) holds: Vec<Affine>,
    /// The thread's index along each axis that is spread.
    threads: [Option<Affine>; THREAD_AXES as usize],
    /// The dimensions so far.
    next: u32,
}

impl Place {
    /// Where the buffer begins to live.
    pub(super) fn new(frame: &Frame<'_>) -> Place {
        let outer = frame.outer.iter().enumerate().map(|(at, variable)| (*variable, Affine::iterator(at as u32)));
        Place { values: outer.collect(), holds: vec![], threads: [None, None, None], next: frame.inner() }
    }

    pub(super) fn affine(&self, expr: &IntExpr) -> Option<Affine> {
        affine(expr, &self.values)
    }

    fn add(&mut self, variable: VariableId) -> Affine {
        let itself = Affine::iterator(self.next);
        self.next += 1;
        self.values.insert(variable, itself.clone());
        itself
    }

    /// Inside of a loop.
    pub(super) fn through(&self, variable: VariableId, lower: &IntExpr, upper: &IntExpr) -> Place {
        let mut inner = self.clone();
        let itself = inner.add(variable);
        let low = parts(lower, true).into_iter().filter_map(|it| itself.sub(&self.affine(&it)?).ok());
        let high = parts(upper, false).into_iter().filter_map(|it| self.affine(&it)?.sub(&itself).ok());
        inner.holds.extend(low.chain(high));
        inner
    }

    /// Inside of a loop that threads share.
    pub(super) fn on_thread(&mut self, it: &Spread) {
        let itself = self.affine(&IntExpr::Variable(it.variable));
        let index = itself.zip(self.affine(&it.lower)).and_then(|(itself, lower)| itself.sub(&lower).ok());
        // Where threads take turns, or skip values, the value does not tell the thread so simply.
        self.threads[it.axis as usize] = index.filter(|_| it.step == 1 && it.guard != Guard::Turns);
    }

    /// Inside of the rest of a block that binds a variable.
    pub(super) fn bind(&mut self, variable: VariableId, value: &IntExpr) {
        match self.affine(value) {
            Some(value) => drop(self.values.insert(variable, value)),
            None => drop(self.add(variable)),
        }
    }

    /// The functions that a condition demands not to be negative; `None` if it is no conjunction of such.
    pub(super) fn demands(&self, condition: &Cond) -> Option<Vec<Affine>> {
        match condition {
            Cond::And(all) => all.iter().map(|it| self.demands(it)).collect::<Option<Vec<_>>>().map(|it| it.concat()),
            Cond::Compare(op, a, b) => {
                let low = |a: &IntExpr, b: &IntExpr, more: i64| -> Option<Vec<Affine>> {
                    // Of a smallest bound each part is one, and of a largest.
                    let all = parts(b, true)
                        .into_iter()
                        .flat_map(|b| parts(a, false).into_iter().map(move |a| (a, b.clone())));
                    all.map(|(a, b)| self.affine(&a)?.sub(&self.affine(&b)?).ok()?.add_constant(-more).ok()).collect()
                };
                match op {
                    CompareOp::Ge => low(a, b, 0),
                    CompareOp::Gt => low(a, b, 1),
                    CompareOp::Le => low(b, a, 0),
                    CompareOp::Lt => low(b, a, 1),
                    CompareOp::Eq | CompareOp::Ne => None,
                }
            }
            Cond::Const(_) | Cond::Or(_) => None,
        }
    }
}
