//! The launches of a time loop that streams: pairs of full ones, pairs of fewer steps, and two that are told how many they make.

use super::Rest;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::program::{For, KernelId, Node};
use tessella_polyhedral::schedule::Tag;
use tessella_polyhedral::stream::Stream;
use tessella_scalar::CompareOp;

/// Launches of a number of steps, there and back.
pub(super) struct Pass<'a> {
    pub(super) stream: &'a Stream,
    /// Into how many parts each cuts the rows, where the schedule leaves that to it.
    pub(super) cuts: Option<VariableId>,
    /// How many pairs there are, which of them it is, and the steps that they leave.
    pub(super) pairs: VariableId,
    pub(super) pair: VariableId,
    pub(super) left: VariableId,
    /// The first step of each.
    pub(super) firsts: [VariableId; 2],
}

/// What the launches of a loop have in common.
pub(super) struct Passes<'a> {
    pub(super) name: &'a str,
    /// Iterations of the time loop that are a step.
    pub(super) period: i64,
    /// Whether nothing is left to do where pairs make all steps: they store all that the loop stores.
    pub(super) may_end: bool,
}

/// Steps that are left, and the iteration in which they begin.
pub(super) struct Left {
    pub(super) steps: VariableId,
    pub(super) from: IntExpr,
}

/// One of the two launches at the end.
#[derive(Clone, Copy)]
pub(super) struct Told {
    pub(super) rest: Rest,
    pub(super) first: VariableId,
    pub(super) kernel: KernelId,
}

fn set(variable: VariableId, value: IntExpr) -> Node {
    Node::Let { variable, value }
}

/// Nodes where a number of steps is not 0.
pub(super) fn if_any(steps: VariableId, then: Vec<Node>) -> Node {
    let condition = Cond::compare(CompareOp::Gt, IntExpr::variable(steps), IntExpr::Const(0));
    Node::If { condition, then, otherwise: vec![] }
}

impl Pass<'_> {
    fn steps(&self) -> i64 {
        self.stream.size.steps.into()
    }
}

impl Passes<'_> {
    /// As many pairs of launches as there are steps for, but one step that is left to the end if there has to be one; and what they leave.
    pub(super) fn pairs(&self, of: &Pass<'_>, before: &Left, (there, back): (KernelId, KernelId)) -> (Vec<Node>, Left) {
        let get = IntExpr::variable;
        let both = 2 * of.steps();
        let count = get(before.steps);
        let count = if self.may_end { count } else { count.minus(IntExpr::Const(1)) };
        let after = |pairs: VariableId| before.from.clone().plus(IntExpr::Const(both * self.period).times(get(pairs)));
        let body = vec![
            set(of.firsts[0], after(of.pair)),
            Node::Launch(there),
            set(of.firsts[1], get(of.firsts[0]).plus(IntExpr::Const(of.steps() * self.period))),
            Node::Launch(back),
        ];
        let nodes = vec![
            set(of.pairs, count.floor_div(both)),
            Node::For(For {
                variable: of.pair,
                name: self.name.to_string(),
                tag: Tag::Sequential,
                lower: IntExpr::Const(0),
                upper: get(of.pairs).minus(IntExpr::Const(1)),
                step: 1,
                clip: None,
                going: None,
                asked: None,
                wide: None,
                stores_last: false,
                body,
            }),
            set(of.left, get(before.steps).minus(IntExpr::Const(both).times(get(of.pairs)))),
        ];
        (nodes, Left { steps: of.left, from: after(of.pairs) })
    }

    /// The last two launches, of at most as many steps as such a pair has: `there` is its first kernel. The last step is `short` of so many iterations.
    pub(super) fn end(
        &self,
        left: Left,
        (of, there): (&Pass<'_>, KernelId),
        [one, last]: [Told; 2],
        short: IntExpr,
    ) -> Vec<Node> {
        let get = IntExpr::variable;
        let set_turns = |rest: Rest, left_out: IntExpr| {
            let made = get(rest.steps).times(IntExpr::Const(self.period)).minus(left_out);
            rest.turns.map(|turns| set(turns, made))
        };
        let steps = IntExpr::Const(of.steps());
        let enough = Cond::compare(CompareOp::Gt, get(left.steps), steps.clone());
        let half = Box::new(get(left.steps).floor_div(2));
        let mut otherwise = Vec::from_iter(set_turns(one.rest, IntExpr::Const(0)));
        otherwise.extend([set(one.rest.last, IntExpr::Const(0)), Node::Launch(one.kernel)]);
        let then = vec![set(of.firsts[0], get(one.first)), Node::Launch(there)];
        let mut nodes = vec![
            set(one.first, left.from),
            set(one.rest.steps, IntExpr::Select(Box::new(enough.clone()), Box::new(steps), half)),
            // As many steps as the others make, where so many are left.
            Node::If { condition: enough, then, otherwise },
            set(last.first, get(one.first).plus(get(one.rest.steps).times(IntExpr::Const(self.period)))),
            set(last.rest.steps, get(left.steps).minus(get(one.rest.steps))),
        ];
        nodes.extend(set_turns(last.rest, short));
        nodes.extend([set(last.rest.last, IntExpr::Const(1)), Node::Launch(last.kernel)]);
        if self.may_end { vec![if_any(left.steps, nodes)] } else { nodes }
    }
}
