//! Copies ahead of the rows of a tile, 16 bytes at a time.
//!
//! Rewrite: `for y { for x in 0:127 { tile[x, y] = A[c + x, d + y] } } -> for y, in vectors { tile[x:x+3, y] = A[c+x:c+x+3, d + y] }`
//!
//! Such a copy needs both sides at multiples of 16 bytes. Where the columns of a matrix begin inside of 16 bytes, each row of the tile is
//! shifted by as much ([`Lead`]), if its padding has room for that: the copies then take whole vectors, up to one more a row.
//!
//! The threads of a block share the vectors out in another way than the loops would elements. Nobody reads a tile before all
//! threads have waited for what they copied, and for each other.

use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::program::{Node, Over, Spread, Statement};
use crate::tile::{is_dense, subscripts_of};
use crate::wide::values;
use std::collections::BTreeMap;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Access, ComputationId};
use tessella_polyhedral::isl::IslError;
use tessella_polyhedral::relation;

/// A copy of the rows of a tile by all threads of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct RowCopy {
    pub copy: ComputationId,
    /// The values of the statement's iterators, over those of its rows and columns.
    pub iterators: Vec<IntExpr>,
    /// Along the rows: elements side by side.
    pub along: Run,
    pub across: Run,
    /// Elements of a vector.
    pub lanes: i64,
    /// Where the block copies only if all of this holds.
    pub conditions: Vec<Cond>,
}

impl RowCopy {
    /// Calls `visit` on its integer expressions.
    pub fn expressions(&self, visit: &mut dyn FnMut(&IntExpr)) {
        self.iterators.iter().for_each(|it| it.walk(visit));
        self.along.last.iter().chain(&self.across.last).for_each(|last| last.walk(visit));
        self.conditions.iter().for_each(|condition| condition.walk(visit));
    }
}

/// Neighbouring values of an iterator; the variable counts them from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub variable: VariableId,
    pub count: i64,
    /// The last one that there is, if that may be an earlier one.
    pub last: Option<IntExpr>,
}

/// A kernel's body whose loops over threads know the copies of rows that they consist of.
///
/// # Errors
/// isl's.
pub fn find_row_copies(input: &Input<'_>, nodes: Vec<Node>) -> Result<Vec<Node>, IslError> {
    find_below(input, nodes, Threads::All)
}

/// Which threads of a block come to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Threads {
    All,
    Some,
}

fn find_below(input: &Input<'_>, nodes: Vec<Node>, threads: Threads) -> Result<Vec<Node>, IslError> {
    let one = |node: Node| match node {
        Node::Spread(mut it) if it.over == Over::Threads => {
            it.rows = match threads {
                Threads::All => match row_copy(input, &it) {
                    // Its elements are copied one by one.
                    Err(error) if error.is_quota() => None,
                    found => found?.map(Box::new),
                },
                Threads::Some => None,
            };
            it.body = find_below(input, it.body, Threads::Some)?;
            Ok(Node::Spread(it))
        }
        Node::OneThread { axes, body } => Ok(Node::OneThread { axes, body: find_below(input, body, Threads::Some)? }),
        Node::Turns(mut it) => {
            it.body = find_below(input, it.body, threads)?;
            Ok(Node::Turns(it))
        }
        other => other.map_blocks(|nodes| find_below(input, nodes, threads)),
    };
    nodes.into_iter().map(one).collect()
}

/// The copy that loops over threads consist of, if that is all that they do.
fn row_copy(input: &Input<'_>, nest: &Spread) -> Result<Option<RowCopy>, IslError> {
    let Some(path) = Way::to_statement(nest) else { return Ok(None) };
    let id = path.statement.computation;
    let array = input.algorithm.computation(id).write.array;
    let plain = input.layout.is_ahead(id) && path.statement.inside.is_none();
    let Some(lead) = input.layout.lead_of(array).filter(|_| plain) else { return Ok(None) };
    let moves = |value: &IntExpr| value.involves(&|it| path.loops.contains_key(&it));
    let moving: Vec<usize> = (0..path.iterators.len()).filter(|&at| moves(&path.iterators[at])).collect();
    let &[one, other] = moving.as_slice() else { return Ok(None) };
    let sweeps = [one, other].map(|at| path.sweep(&path.iterators[at]));
    let mut iterators = path.iterators.clone();
    let runs = match sweeps {
        // A loop that nothing moves along copies the same again and again.
        [Some(first), Some(second)] if path.is_made_of(&[&first, &second]) => {
            [(one, first), (other, second)].map(|(at, sweep)| {
                iterators[at] = IntExpr::Variable(sweep.variable()).plus(IntExpr::Const(sweep.first));
                Run { variable: sweep.variable(), count: sweep.count, last: None }
            })
        }
        sweeps => match parts(input, id, [one, other], &sweeps, (&path, &mut iterators))? {
            Some(runs) => runs,
            None => return Ok(None),
        },
    };
    let rows = rows_of(input, id, &iterators, runs).filter(|[along, _]| along.count == lead.filled);
    let (lanes, conditions) = (lead.lanes, path.conditions);
    Ok(rows.map(|[along, across]| RowCopy { copy: id, iterators, along, across, lanes, conditions }))
}

/// The values of two iterators for what of a tile is inside of the matrix, whatever way loops and conditions go through it: all that the statement
/// copies for the tile that the block is at. They count from 0.
fn parts(
    input: &Input<'_>,
    copy: ComputationId,
    two: [usize; 2],
    sweeps: &[Option<Sweep>; 2],
    (path, iterators): (&Way<'_>, &mut [IntExpr]),
) -> Result<Option<[Run; 2]>, IslError> {
    let any = |at: usize| path.loops.keys().copied().find(|&variable| iterators[at].involves(&|it| it == variable));
    let variables = two.map(any);
    let [Some(one), Some(other)] = variables else { return Ok(None) };
    if one == other {
        return Ok(None);
    }
    two.into_iter().zip([one, other]).for_each(|(at, variable)| iterators[at] = IntExpr::Variable(variable));
    let Some(ends) = ends(input, copy, two.map(|at| at as u32))? else { return Ok(None) };
    let run = |variable: VariableId, ends: &[Affine], sweep: &Option<Sweep>| -> Option<Run> {
        let count = ends.iter().filter_map(Affine::as_constant).min()?.checked_add(1)?;
        let last = IntExpr::min_of(ends.iter().map(|it| IntExpr::from_affine(it, iterators)));
        let is_whole = sweep.as_ref().is_some_and(|it| it.first == 0 && it.count == count);
        Some(Run { variable, count, last: (!is_whole).then_some(last) })
    };
    let runs = run(one, &ends[0], &sweeps[0]).zip(run(other, &ends[1], &sweeps[1]));
    Ok(runs.map(|(one, other)| [one, other]))
}

/// Which of two runs is along the rows of both the tile and the matrix, first, where the tile's rows begin with the run.
fn rows_of(input: &Input<'_>, copy: ComputationId, iterators: &[IntExpr], runs: [Run; 2]) -> Option<[Run; 2]> {
    let (write, read) = (&input.algorithm.computation(copy).write, input.algorithm.copied_by(copy)?);
    let (to, from) = (places(input, write, iterators)?, places(input, read, iterators)?);
    let moves = |place: &IntExpr, run: &Run| place.involves(&|it| it == run.variable);
    let [one, other] = runs;
    let [along, across] = if moves(&from[0], &one) { [one, other] } else { [other, one] };
    let mut others = to[1..].iter().chain(&from[1..]);
    // Neighbours on both sides.
    let by_one =
        from[0].linear(&|it| it == along.variable).is_some_and(|(factors, _)| factors.get(&along.variable) == Some(&1));
    let is_row = by_one && to[0] == IntExpr::Variable(along.variable) && !others.any(|place| moves(place, &along));
    (is_row && !moves(&from[0], &across) && is_dense(input, read.array)).then_some([along, across])
}

/// The last values of two iterators that begin with 0, for each of which there are all of the other: the least of these functions of the other
/// iterators and of parameters. `None` if that is not all that holds of them.
fn ends(input: &Input<'_>, id: ComputationId, two: [u32; 2]) -> Result<Option<[Vec<Affine>; 2]>, IslError> {
    let Ok(domain) = relation::domain(input.algorithm, id) else { return Ok(None) };
    let domain = domain.coalesce()?;
    if domain.basic_set_count()? != 1 || domain.involves_locals()? {
        return Ok(None);
    }
    let names = input.algorithm.param_names();
    let mut ends = [vec![], vec![]];
    for basic in domain.basic_sets()? {
        for constraint in basic.constraints()? {
            let Some(value) = Affine::from_isl(&constraint.aff()?, &names)? else { return Ok(None) };
            let factors = two.map(|it| value.coefficient(it));
            let (at, factor) = match factors {
                [0, 0] => continue,
                [factor, 0] => (0, factor),
                [0, factor] => (1, factor),
                _ => return Ok(None),
            };
            let itself = Affine::iterator(two[at]);
            match factor {
                1 if value == itself && !constraint.is_equality()? => {}
                -1 if !constraint.is_equality()? => match value.add(&itself) {
                    Ok(end) => ends[at].push(end),
                    Err(_) => return Ok(None),
                },
                _ => return Ok(None),
            }
        }
    }
    Ok(Some(ends))
}

/// A loop of constant length.
#[derive(Debug, Clone, Copy)]
struct Loop {
    lower: i64,
    step: i64,
    count: i64,
}

/// Neighbouring values of an iterator, to each of which its loops come once.
struct Sweep {
    /// Of its loops, that with neighbouring values first.
    variables: Vec<VariableId>,
    first: i64,
    count: i64,
}

impl Sweep {
    /// Of the loop with neighbouring values.
    fn variable(&self) -> VariableId {
        self.variables[0]
    }
}

/// The way from a nest of loops over threads to its only statement.
struct Way<'a> {
    statement: &'a Statement,
    /// Those of constant length are known.
    loops: BTreeMap<VariableId, Option<Loop>>,
    /// What is asked that is the same for all threads.
    conditions: Vec<Cond>,
    /// What threads ask of the variables of the loops.
    tests: Vec<Cond>,
    /// The values of the statement's iterators, over the variables of the loops and of what lies around.
    iterators: Vec<IntExpr>,
}

impl<'a> Way<'a> {
    /// The neighbouring values that loops of constant lengths, about which nothing is asked, give an iterator, each once.
    fn sweep(&self, value: &IntExpr) -> Option<Sweep> {
        let (factors, rest) = value.linear(&|_| true)?;
        let asked = |variable: VariableId| {
            let mut asked = false;
            let mut look = |it: &IntExpr| asked |= *it == IntExpr::Variable(variable);
            self.tests.iter().for_each(|condition| condition.walk(&mut look));
            asked
        };
        let mut first = rest.as_const()?;
        let mut digits = vec![];
        for (variable, factor) in factors {
            let it = (*self.loops.get(&variable)?)?;
            if asked(variable) {
                return None;
            }
            first += factor * it.lower;
            digits.push((factor * it.step, it.count, variable));
        }
        digits.sort();
        let mut count = 1;
        for &(unit, digit, _) in &digits {
            if unit != count {
                return None;
            }
            count *= digit;
        }
        let variables: Vec<VariableId> = digits.into_iter().map(|(_, _, variable)| variable).collect();
        (!variables.is_empty()).then_some(Sweep { variables, first, count })
    }

    /// Whether the loops are those of the sweeps, each of one.
    fn is_made_of(&self, sweeps: &[&Sweep]) -> bool {
        let mut all: Vec<VariableId> = sweeps.iter().flat_map(|it| it.variables.iter().copied()).collect();
        all.sort();
        self.loops.keys().copied().eq(all)
    }

    fn to_statement(nest: &'a Spread) -> Option<Way<'a>> {
        let mut loops: BTreeMap<VariableId, Option<Loop>> = BTreeMap::new();
        let mut add = |variable: VariableId, lower: &IntExpr, upper: &IntExpr, step: i64| {
            let ends = lower.as_const().zip(upper.as_const());
            let count = ends.map(|(lower, upper)| (lower, (upper - lower).div_euclid(step) + 1));
            let known = count.filter(|(_, count)| *count > 0).map(|(lower, count)| Loop { lower, step, count });
            loops.insert(variable, known);
        };
        let (mut asked, mut bound) = (vec![], BTreeMap::new());
        add(nest.variable, &nest.lower, &nest.upper, nest.step);
        let mut body = nest.body.as_slice();
        if !nest.combined.is_empty() {
            return None;
        }
        let statement = loop {
            match body {
                [Node::Let { variable, value }, rest @ ..] => {
                    bound.insert(*variable, value.substitute(&|it| bound.get(&it).cloned()));
                    body = rest;
                }
                [Node::Statement(it)] => break it,
                [Node::For(it)] if it.clip.is_none() && it.going.is_none() => {
                    add(it.variable, &it.lower, &it.upper, it.step);
                    body = &it.body;
                }
                [Node::Spread(it)] if it.over == Over::Threads && it.combined.is_empty() => {
                    add(it.variable, &it.lower, &it.upper, it.step);
                    body = &it.body;
                }
                [Node::If { condition, then, otherwise }] if otherwise.is_empty() => {
                    match condition.substitute(&|it| bound.get(&it).cloned()) {
                        Cond::And(parts) => asked.extend(parts),
                        whole => asked.push(whole),
                    }
                    body = then;
                }
                _ => return None,
            }
        };
        let iterators = values(statement).into_iter().map(|it| it.substitute(&|it| bound.get(&it).cloned())).collect();
        let speaks = |condition: &Cond| {
            let mut speaks = false;
            condition.walk(&mut |it| speaks |= matches!(it, IntExpr::Variable(it) if loops.contains_key(it)));
            speaks
        };
        let (own, conditions): (Vec<Cond>, Vec<Cond>) = asked.into_iter().partition(speaks);
        Some(Way { statement, loops, conditions, tests: own, iterators })
    }
}

/// Where an access lies in its buffer.
fn places(input: &Input<'_>, access: &Access, iterators: &[IntExpr]) -> Option<Vec<IntExpr>> {
    let subscripts = subscripts_of(access, iterators)?;
    let map = &input.layout.placement(access.array).map;
    (!map.is_empty()).then(|| map.iter().map(|place| IntExpr::from_affine(place, &subscripts)).collect())
}
