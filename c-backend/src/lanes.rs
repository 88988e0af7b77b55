//! Which loops on lanes compilers may be told about.
//!
//! `omp simd` says that no iteration needs another one. GCC takes it to say more: where it cannot compare two subscripts, it
//! takes them for different ones within an iteration, too. It moves all stores of neighbours to the last of them and all loads
//! of neighbours to the first, past what meets them.
//!
//! ```text
//! omp simd for i { A[j, i] = f(A[3, i]); A[j + 1, i] = f(A[3, i]) }   the second A[3, i] is read before A[j, i] is stored
//! ```
//!
//! Neighbours are what lies a constant distance apart in memory, also along several axes of constant extents, and at places that
//! are computed before the loop. Such a loop gets no pragma: the compiler proves what it needs. Nor does one whose iterations may set one element
//! to one constant, `found = true`, of which `omp simd` would let the compiler keep what the last lane has.

use std::collections::{BTreeMap, BTreeSet};
use tessella_codegen::Input;
use tessella_codegen::int_expr::{IntExpr, VariableId};
use tessella_codegen::program::{For, Node};
use tessella_codegen::tile::{constant_difference, subscripts_of};
use tessella_polyhedral::layers::BufferId;

/// Whether `omp simd` keeps the order of what one iteration of the loop does.
pub fn keep_order(input: &Input<'_>, nest: &For) -> bool {
    let mut body = Body {
        input,
        lets: BTreeMap::new(),
        inner: vec![],
        accesses: BTreeMap::new(),
        statements: 0,
        declared: BTreeSet::new(),
        lanes: nest.variable,
        sets_one: false,
    };
    body.block(&nest.body);
    !body.sets_one
        && body.accesses.values().all(|accesses| {
            let pairs = || (0..accesses.len()).flat_map(|b| (0..=b).map(move |a| (&accesses[a], &accesses[b])));
            let moved = pairs().any(|(a, b)| a.is_write == b.is_write && body.may_be_neighbours(a, b, nest.variable));
            !moved || !pairs().any(|(a, b)| (a.is_write || b.is_write) && body.may_hide(a, b))
        })
}

/// One access of a statement.
struct Access {
    statement: usize,
    is_write: bool,
    /// Of the buffer, first axis contiguous, from variables around the nest and inside it; `None` if one is computed.
    place: Option<Vec<IntExpr>>,
}

/// What an iteration of the loop does.
struct Body<'a> {
    input: &'a Input<'a>,
    lets: BTreeMap<VariableId, IntExpr>,
    /// Iterators of loops inside.
    inner: Vec<VariableId>,
    accesses: BTreeMap<BufferId, Vec<Access>>,
    statements: usize,
    declared: BTreeSet<BufferId>,
    /// The iterator that lanes run along.
    lanes: VariableId,
    /// Whether several lanes may set one element.
    sets_one: bool,
}

impl Body<'_> {
    fn block(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Let { variable, value } => {
                    let value = self.spelled(value);
                    self.lets.insert(*variable, value);
                }
                Node::Statement(it) => {
                    let computation = self.input.algorithm.computation(it.computation);
                    let is_constant = computation.stored_constant().is_some();
                    for (variable, value) in &it.bindings {
                        let value = self.spelled(value);
                        self.lets.insert(*variable, value);
                    }
                    let iterators: Vec<IntExpr> = it
                        .iterators
                        .iter()
                        .map(|bound| bound.map_or(IntExpr::Const(0), |it| self.spelled(&IntExpr::Variable(it))))
                        .collect();
                    for (position, access) in self.input.used_accesses(it.computation).into_iter().enumerate() {
                        let buffer = self.input.buffer_of(access.array);
                        let sets = position == 0 && is_constant && !self.declared.contains(&buffer);
                        if self.input.layout.buffer(buffer).extents.is_empty() {
                            self.sets_one |= sets;
                            continue;
                        }
                        let placement = &self.input.layout.placement(access.array).map;
                        let place: Option<Vec<IntExpr>> = subscripts_of(access, &iterators)
                            .map(|all| placement.iter().map(|axis| IntExpr::from_affine(axis, &all)).collect());
                        let is_lane = |variable: VariableId| variable == self.lanes;
                        let moves = place.as_ref().is_some_and(|all| all.iter().any(|axis| axis.involves(&is_lane)));
                        self.sets_one |= sets && !moves;
                        self.accesses.entry(buffer).or_default().push(Access {
                            statement: self.statements,
                            is_write: position == 0,
                            place,
                        });
                    }
                    self.statements += 1;
                }
                Node::Declare { buffer, body } => {
                    self.declared.insert(*buffer);
                    self.block(body);
                }
                other => {
                    self.inner.extend(other.bound());
                    other.blocks().into_iter().for_each(|block| self.block(block));
                }
            }
        }
    }

    fn spelled(&self, value: &IntExpr) -> IntExpr {
        value.substitute(&|variable| self.lets.get(&variable).cloned())
    }

    /// Whether two accesses, in one or two copies of the loops inside, may be neighbours that compilers move together: different
    /// elements in one iteration of the loop, such that others of its iterations may not lie in between.
    fn may_be_neighbours(&self, a: &Access, b: &Access, lanes: VariableId) -> bool {
        let same = |all: Vec<Distance>| all.iter().all(|it| matches!(it, Distance::Constant(Some(0))));
        !self.distances(a, b).is_some_and(same) && [a, b].into_iter().all(|it| self.strides(it, lanes))
    }

    /// Whether an access goes on from iteration to iteration, and not to the next element.
    fn strides(&self, access: &Access, lanes: VariableId) -> bool {
        let Some(place) = &access.place else { return true };
        let step = |axis: &IntExpr| match axis.involves(&|variable| variable == lanes) {
            false => Some(0),
            true => axis.linear(&|variable| variable == lanes).and_then(|(factors, _)| factors.get(&lanes).copied()),
        };
        let steps: Vec<Option<i64>> = place.iter().map(step).collect();
        let (first, rest) = (steps[0], &steps[1..]);
        let stays = |all: &[Option<i64>]| all.iter().all(|step| *step == Some(0));
        !(stays(rest) && matches!(first, Some(-1..=1)))
    }

    /// Whether two accesses in an iteration may meet where a compiler cannot tell.
    fn may_hide(&self, a: &Access, b: &Access) -> bool {
        if a.statement == b.statement && self.inner.is_empty() {
            // A statement reads before it writes, whatever else moves.
            return false;
        }
        match self.distances(a, b) {
            Some(all) => {
                let apart = all.iter().any(|it| matches!(it, Distance::Constant(Some(distance)) if *distance != 0));
                !apart && all.iter().any(|it| matches!(it, Distance::Unknown))
            }
            None => true,
        }
    }

    /// How far two accesses lie from each other along each axis; `None` if a subscript is computed.
    fn distances(&self, a: &Access, b: &Access) -> Option<Vec<Distance>> {
        let (a, b) = (a.place.as_ref()?, b.place.as_ref()?);
        Some(a.iter().zip(b).map(|(a, b)| self.distance(a, b)).collect())
    }

    fn distance(&self, a: &IntExpr, b: &IntExpr) -> Distance {
        let is_inner = |variable: VariableId| self.inner.contains(&variable);
        if a == b && !a.involves(&is_inner) {
            return Distance::Constant(Some(0));
        }
        let (Some((moves, a)), Some((others, b))) = (a.linear(&is_inner), b.linear(&is_inner)) else {
            return Distance::Unknown;
        };
        // Of a loop inside, two accesses may be of two iterations.
        match constant_difference(&b, &a) {
            Some(distance) if moves == others => Distance::Constant(moves.is_empty().then_some(distance)),
            _ => Distance::Unknown,
        }
    }
}

/// How far two accesses lie from each other along an axis.
enum Distance {
    /// A constant once the loops inside are spelled out; known if none of them moves the access.
    Constant(Option<i64>),
    Unknown,
}
