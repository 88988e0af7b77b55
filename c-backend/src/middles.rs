//! The middles of rows apart from their ends, where conditions on places are known.
//!
//! ```text
//! for i in 1:m { B[i] = i == 1 ? A[m] : A[i - 1] }   ->   for i in 1:1 { B[i] = i == 1 ? A[m] : A[i - 1] }; for i in 2:m { B[i] = A[i - 1] }
//! ```
//!
//! Neighbours that go round an array or stay inside of it are chosen by conditions that differ at a few places at the edge only. Such a condition
//! keeps a compiler from loading a vector, and costs more than what it chooses. Where it does not depend on the innermost loop, a test in
//! front of that loop knows it for the whole row.
//!
//! The order of instances stays as it is, and so does what each of them computes: the ends of a row ask as before.

use std::collections::BTreeMap;
use tessella_codegen::Input;
use tessella_codegen::int_expr::{Cond, IntExpr, VariableId};
use tessella_codegen::program::{For, Node, Statement};
use tessella_codegen::ranges::values;
use tessella_codegen::tile::constant_difference;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::{Aff, Set};
use tessella_polyhedral::relation;
use tessella_polyhedral::schedule::Tag;
use tessella_scalar::{CompareOp, ScalarType};

/// How many places at an edge a condition may tell from all others.
const EDGE: i64 = 8;
/// Loops with more statements are left as they are: their text would be three or four times as long.
const MOST_STATEMENTS: usize = 8;
/// A row is asked no more questions before it starts.
const MOST_QUESTIONS: usize = 16;

/// The nodes with the middles of their innermost loops apart, where conditions are known there.
pub fn middles(input: &Input<'_>, nodes: Vec<Node>) -> Vec<Node> {
    Middles { input, domains: BTreeMap::new() }.block(nodes)
}

struct Middles<'a> {
    input: &'a Input<'a>,
    /// The instances that there are for sizes that pass the checks at entry; `None` where that takes too much to find out.
    domains: BTreeMap<ComputationId, Option<Set>>,
}

/// What is known where a row's middle is.
#[derive(Default)]
struct Known {
    /// The middle begins at the largest of these, and ends at the smallest of those.
    from: Vec<IntExpr>,
    to: Vec<IntExpr>,
    /// It has all rows for which these hold.
    rows: Vec<Cond>,
    /// Comparisons of each statement, and how they come out.
    decided: Vec<Decided>,
}

#[derive(Default)]
struct Decided {
    in_middle: Vec<(Expr, bool)>,
    /// Those of them that do not depend on the place in the row.
    in_row: Vec<(Expr, bool)>,
}

impl Middles<'_> {
    fn block(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        nodes.into_iter().flat_map(|node| self.node(node)).collect()
    }

    fn node(&mut self, node: Node) -> Vec<Node> {
        match node {
            Node::For(it) => match self.known(&it) {
                Some(known) => apart(it, known),
                None => vec![Node::For(For { body: self.block(it.body), ..it })],
            },
            Node::If { condition, then, otherwise } => {
                vec![Node::If { condition, then: self.block(then), otherwise: self.block(otherwise) }]
            }
            Node::Declare { buffer, body } => vec![Node::Declare { buffer, body: self.block(body) }],
            other => vec![other],
        }
    }

    /// What is known in the middle of a loop over statements alone; `None` if that is nothing.
    fn known(&mut self, it: &For) -> Option<Known> {
        let is_plain = it.step == 1 && it.clip.is_none() && it.going.is_none();
        let statements: Vec<&Statement> = it.body.iter().map_while(as_statement).collect();
        let is_innermost = statements.len() == it.body.len() && statements.len() <= MOST_STATEMENTS;
        let is_kept = matches!(it.tag, Tag::Sequential | Tag::Parallel | Tag::Vector(_));
        if !is_plain || !is_innermost || !is_kept {
            return None;
        }
        let mut known = Known::default();
        for statement in statements {
            let decided = self.decide(statement, it.variable, &mut known);
            known.decided.push(decided);
        }
        let is_something = known.decided.iter().any(|decided| !decided.in_middle.is_empty());
        (is_something && known.rows.len() <= MOST_QUESTIONS).then_some(known)
    }

    /// The comparisons of a statement that come out alike in the middle, and what that takes.
    fn decide(&mut self, statement: &Statement, variable: VariableId, known: &mut Known) -> Decided {
        let iterators: Vec<IntExpr> =
            values(statement).into_iter().map(|value| value.unwrap_or(IntExpr::Const(0))).collect();
        let mut decided = Decided::default();
        for comparison in comparisons(self.input, statement.computation) {
            if decided.in_middle.iter().any(|(other, _)| *other == comparison) {
                continue;
            }
            let Ok(Some((least, holds))) = self.usual(statement.computation, &comparison) else { continue };
            let value = IntExpr::from_affine(&least, &iterators);
            let Some((factors, rest)) = value.linear(&|it| it == variable) else { continue };
            match factors.get(&variable) {
                None => {
                    let row = match value {
                        IntExpr::Sub(high, low) => Cond::compare(CompareOp::Ge, *high, *low),
                        other => Cond::compare(CompareOp::Ge, other, IntExpr::Const(0)),
                    };
                    if !known.rows.contains(&row) {
                        known.rows.push(row);
                    }
                    decided.in_row.push((comparison.clone(), holds));
                }
                Some(1) => known.from.push(rest.negated()),
                Some(-1) => known.to.push(rest),
                Some(_) => continue,
            }
            decided.in_middle.push((comparison, holds));
        }
        decided
    }

    /// How a comparison comes out but for a few places at an edge: where the function is not negative it holds, or it does not.
    fn usual(&mut self, id: ComputationId, comparison: &Expr) -> Result<Option<(Affine, bool)>, Error> {
        let ExprKind::Compare(op, left, right) = &comparison.kind else { return Ok(None) };
        let (Some(left), Some(right)) = (as_affine(left), as_affine(right)) else { return Ok(None) };
        let (Ok(difference), Ok(opposite)) = (left.sub(&right), right.sub(&left)) else { return Ok(None) };
        if !difference.involves_any_iterator() {
            return Ok(None);
        }
        let below = |it: &Affine| it.add_constant(-1).ok();
        // Holds where it is not negative.
        let function = match op {
            CompareOp::Ge => Some(difference),
            CompareOp::Gt => below(&difference),
            CompareOp::Le => Some(opposite),
            CompareOp::Lt => below(&opposite),
            CompareOp::Eq | CompareOp::Ne => {
                // At one end of what there is it is zero, and everywhere else on one side.
                let holds = *op == CompareOp::Ne;
                for side in [difference, opposite] {
                    if self.is_at_least(id, &side, 0)? {
                        return Ok(below(&side).map(|it| (it, holds)));
                    }
                }
                return Ok(None);
            }
        };
        let Some(function) = function else { return Ok(None) };
        let Ok(negated) = function.scale(-1) else { return Ok(None) };
        if self.is_at_least(id, &function, -EDGE)? {
            return Ok(Some((function, true)));
        }
        match self.is_at_least(id, &negated, -EDGE)? {
            true => Ok(below(&negated).map(|it| (it, false))),
            false => Ok(None),
        }
    }

    /// Whether a function has such values only.
    fn is_at_least(&mut self, id: ComputationId, function: &Affine, least: i64) -> Result<bool, Error> {
        let input = self.input;
        let domain = self.domains.entry(id).or_insert_with(|| {
            relation::domain(input.algorithm, id).and_then(|it| Ok(it.intersect_params(&input.context()?)?)).ok()
        });
        let Some(domain) = domain else { return Ok(false) };
        let space = domain.space()?;
        let values = function.to_isl(&space, &input.algorithm.param_names())?;
        Ok(domain.is_subset(&values.ge_set(&Aff::constant_on(&space, least)?)?)?)
    }
}

/// The loop in three parts, the second of which knows; rows of which not all is known stay whole.
fn apart(it: For, known: Known) -> Vec<Node> {
    let Known { from, to, rows, decided } = known;
    let (asks_from, asks_to) = (!from.is_empty(), !to.is_empty());
    let from = IntExpr::max_of(tightest(it.lower.clone(), from, |difference| difference > 0));
    let to = IntExpr::min_of(tightest(it.upper.clone(), to, |difference| difference < 0));
    let one = || IntExpr::Const(1);
    let knowing = |facts: &dyn Fn(&Decided) -> Vec<(Expr, bool)>| {
        let body = it.body.iter().zip(&decided).map(|(node, decided)| match node {
            Node::Statement(it) => Node::Statement(Statement { decided: facts(decided), ..it.clone() }),
            other => other.clone(),
        });
        body.collect()
    };
    let end = |lower: IntExpr, upper: IntExpr| {
        let body = knowing(&|decided| decided.in_row.clone());
        For { tag: Tag::Sequential, lower, upper, body, ..it.clone() }
    };
    let mut parts = vec![];
    if asks_from {
        let before = from.clone().minus(one());
        parts.push(end(it.lower.clone(), IntExpr::min_of([before, it.upper.clone()])));
    }
    let body = knowing(&|decided| decided.in_middle.clone());
    parts.push(For { lower: from.clone(), upper: to.clone(), body, ..it.clone() });
    if asks_to {
        // An empty middle leaves what begins where it would.
        parts.push(end(IntExpr::max_of([to.plus(one()), from]), it.upper.clone()));
    }
    let parts = parts.into_iter().map(Node::For).collect();
    match Cond::all_of(rows) {
        Cond::Const(true) => parts,
        condition => vec![Node::If { condition, then: parts, otherwise: vec![Node::For(it)] }],
    }
}

/// A bound, which may be one of several, and others, without those that another one is tighter than by a constant.
fn tightest(bound: IntExpr, others: Vec<IntExpr>, is_tighter: impl Fn(i64) -> bool) -> Vec<IntExpr> {
    let bounds = match bound {
        IntExpr::Max(all) | IntExpr::Min(all) => all,
        other => vec![other],
    };
    others.into_iter().fold(bounds, |mut all, one| {
        let distance = |known: &IntExpr| constant_difference(&one, known);
        match all.iter().position(|known| distance(known).is_some()) {
            None => all.push(one),
            Some(at) if distance(&all[at]).is_some_and(&is_tighter) => all[at] = one,
            Some(_) => {}
        }
        all
    })
}

fn as_statement(node: &Node) -> Option<&Statement> {
    match node {
        Node::Statement(it) => Some(it),
        _ => None,
    }
}

/// The comparisons of integers by which a computation chooses what it evaluates.
fn comparisons(input: &Input<'_>, id: ComputationId) -> Vec<Expr> {
    let computation = input.algorithm.computation(id);
    let mut found = vec![];
    let values = computation.lets.iter().map(|it| &it.value).chain([&computation.value]);
    values.for_each(|value| {
        value.walk(&mut |expr| {
            if let ExprKind::Select { condition, .. } = &expr.kind {
                condition.walk(&mut |part| {
                    if matches!(part.kind, ExprKind::Compare(..)) {
                        found.push(part.clone());
                    }
                });
            }
        });
    });
    found
}

fn as_affine(expr: &Expr) -> Option<Affine> {
    match &expr.kind {
        ExprKind::Index(affine) => Some(affine.clone()),
        ExprKind::Constant(constant) if expr.ty == ScalarType::I64 => {
            constant.as_integer().and_then(|value| i64::try_from(value).ok()).map(Affine::constant)
        }
        _ => None,
    }
}
