//! All instances of a program for concrete parameters, and what each of them accesses.

use crate::program::MOST_PLACES;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::rc::Rc;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{
    Access, AccessRef, Algorithm, ArrayId, Computation, ComputationId, Subscript, Which,
};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::{Ctx, DimType, Set, Val};
use tessella_polyhedral::reduction::{Operator, Reduction, UpdateOrder, is_of_update, updates};
use tessella_polyhedral::schedule::{Node, Schedule};
use tessella_scalar::{BinaryOp, Constant, UnaryOp};

/// An instance of a computation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instance {
    pub computation: ComputationId,
    pub at: Vec<i64>,
}

/// The instances of an algorithm for some parameters.
pub struct Instances {
    pub params: Vec<i64>,
    pub all: Vec<Instance>,
    /// For each instance, by position: what it may access, with all elements that data may tell.
    pub touched: Vec<Vec<Touch>>,
    /// Those of which only the instances that data can ask for are here.
    pub shortened: BTreeSet<ComputationId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    pub access: AccessRef,
    pub array: ArrayId,
    pub element: Vec<i64>,
    /// Where data tell the element: how they do, for this instance.
    pub told: Option<Rc<str>>,
}

impl Instances {
    /// `None` if there are more than `most`.
    pub fn new(ctx: &Ctx, algorithm: &Algorithm, params: &[i64], most: usize) -> Result<Option<Instances>, Error> {
        let mut found = Instances { params: params.to_vec(), all: vec![], touched: vec![], shortened: BTreeSet::new() };
        for id in algorithm.ids() {
            let computation = algorithm.computation(id);
            let mut domain = fixed(ctx, algorithm, &computation.domain, params)?;
            if !computation.ranged.is_empty()
                && let Some(short) = shortened(ctx, &domain, computation.iterators.len() as u32)?
            {
                domain = short;
                found.shortened.insert(id);
            }
            let Some(points) = points(&domain, most - found.all.len())? else { return Ok(None) };
            let refs = std::iter::once(Which::Write).chain((0..computation.reads.len() as u32).map(Which::Read));
            let mut accesses = vec![];
            for which in refs {
                let at = AccessRef { computation: id, which };
                let access = algorithm.access(at);
                let within = match &access.within {
                    None => None,
                    Some(within) => {
                        let within = fixed(ctx, algorithm, within, params)?.intersect(&domain)?;
                        // A part of the domain, which has few points.
                        self::points(&within, most)?.map(BTreeSet::from_iter)
                    }
                };
                accesses.push((at, access, within));
            }
            for at in points {
                let mut touched = vec![];
                for (access_ref, access, within) in &accesses {
                    if within.as_ref().is_some_and(|within| !within.contains(&at)) {
                        continue;
                    }
                    let teller = Told { computation, at: &at, params };
                    let elements = teller.elements(&access.subscripts);
                    let is_known = access.subscripts.iter().all(|it| teller.known(it).is_some());
                    let told = (!is_known).then(|| teller.subscripts(access).into());
                    let of = |element| Touch { access: *access_ref, array: access.array, element, told: told.clone() };
                    touched.extend(elements.into_iter().map(of));
                }
                found.all.push(Instance { computation: id, at });
                found.touched.push(touched);
            }
        }
        Ok(Some(found))
    }
}

/// The set for concrete parameters.
fn fixed(ctx: &Ctx, algorithm: &Algorithm, set: &Set, params: &[i64]) -> Result<Set, Error> {
    let mut set = set.intersect_params(&algorithm.context)?;
    for (param, &value) in algorithm.params.iter().zip(params) {
        if let Some(at) = set.space()?.find_dim_by_name(DimType::Param, &param.name)? {
            set = set.fix(DimType::Param, at, &Val::from_i64(ctx, value)?)?;
        }
    }
    Ok(set)
}

/// Where iterators that only data bound end: further than sizes of small programs reach, and nearer than what lowering takes
/// for the end of all data.
const FAR: i64 = 1000;

/// What is enumerated of such iterators: [`inputs::BOUND_VALUES`](crate::inputs::BOUND_VALUES) and some more.
const NEAR: [i64; 2] = [-1, 8];

/// The set without values that data never give to its iterators; `None` if it has none of these.
fn shortened(ctx: &Ctx, set: &Set, iterators: u32) -> Result<Option<Set>, Error> {
    let val = |value: i64| Val::from_i64(ctx, value);
    let mut short: Option<Set> = None;
    for at in 0..iterators {
        let is_far = !set.lower_bound(DimType::Set, at, &val(FAR)?)?.is_empty()?
            || !set.upper_bound(DimType::Set, at, &val(-FAR)?)?.is_empty()?;
        if is_far {
            let sofar = short.as_ref().unwrap_or(set);
            let [least, most] = NEAR;
            let near = sofar.lower_bound(DimType::Set, at, &val(least)?)?.upper_bound(DimType::Set, at, &val(most)?)?;
            short = Some(near);
        }
    }
    Ok(short)
}

/// The points of a set; `None` if there are more than `most`.
fn points(set: &Set, most: usize) -> Result<Option<Vec<Vec<i64>>>, Error> {
    let mut found = vec![];
    let flow = set.foreach_point(|point| match found.len() < most {
        true => {
            found.push(point);
            ControlFlow::Continue(())
        }
        false => ControlFlow::Break(()),
    })?;
    if flow.is_break() {
        return Ok(None);
    }
    let mut points = found.iter().map(|point| Ok(point.coordinates()?)).collect::<Result<Vec<_>, Error>>()?;
    points.sort();
    Ok(Some(points))
}

/// An instance whose subscripts are spelt out: with values for iterators and sizes, and elements of arrays by their subscripts.
struct Told<'a> {
    computation: &'a Computation,
    at: &'a [i64],
    params: &'a [i64],
}

impl Told<'_> {
    fn subscripts(&self, access: &Access) -> String {
        let one = |subscript: &Subscript| match subscript {
            Subscript::Affine(affine) => value(affine, self.at, self.params).to_string(),
            Subscript::Computed(expr) => self.expression(expr),
        };
        format!("{:?}{:?}", access.array, access.subscripts.iter().map(one).collect::<Vec<_>>())
    }

    /// The value of a subscript; `None`: data tell it.
    fn known(&self, subscript: &Subscript) -> Option<i64> {
        match subscript {
            Subscript::Affine(affine) => Some(value(affine, self.at, self.params)),
            Subscript::Computed(expr) => self.number(expr),
        }
    }

    /// The value of an expression that is made of iterators and sizes alone.
    fn number(&self, expr: &Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Index(affine) => Some(value(affine, self.at, self.params)),
            ExprKind::Constant(constant) => constant.as_integer().and_then(|it| i64::try_from(it).ok()),
            ExprKind::Let(at) => self.number(&self.computation.lets[*at as usize].value),
            ExprKind::Unary(UnaryOp::Neg, operand) => Some(self.number(operand)?.wrapping_neg()),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                match op {
                    BinaryOp::Add => Some(left.wrapping_add(right)),
                    BinaryOp::Sub => Some(left.wrapping_sub(right)),
                    BinaryOp::Mul => Some(left.wrapping_mul(right)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The elements that the instance may access: where data tell the subscript, each that [`MOST_PLACES`] leaves.
    fn elements(&self, subscripts: &[Subscript]) -> Vec<Vec<i64>> {
        subscripts.iter().fold(vec![vec![]], |sofar, it| {
            let values = match self.known(it) {
                Some(value) => value..=value,
                None => 1..=MOST_PLACES,
            };
            let longer = |element: &Vec<i64>| {
                let element = element.clone();
                values.clone().map(move |value| [element.as_slice(), &[value]].concat())
            };
            sofar.iter().flat_map(longer).collect()
        })
    }

    fn expression(&self, expr: &Expr) -> String {
        let name = match &expr.kind {
            ExprKind::Index(affine) => value(affine, self.at, self.params).to_string(),
            ExprKind::Let(at) => return self.expression(&self.computation.lets[*at as usize].value),
            ExprKind::Read(at) => self.subscripts(&self.computation.reads[*at as usize]),
            ExprKind::Constant(constant) => format!("{constant:?}"),
            ExprKind::Scalar(scalar) => format!("{scalar:?}"),
            ExprKind::Unary(op, _) => format!("{op:?}"),
            ExprKind::Binary(op, ..) => format!("{op:?}"),
            ExprKind::Compare(op, ..) => format!("{op:?}"),
            ExprKind::Call(function, _) => format!("{function:?}"),
            ExprKind::Select { .. } => "Select".to_string(),
            ExprKind::IfElse { .. } => "IfElse".to_string(),
            ExprKind::Convert(_) => "Convert".to_string(),
            ExprKind::Wrap(_) => "Wrap".to_string(),
        };
        let operands: Vec<String> = expr.operands().into_iter().map(|it| self.expression(it)).collect();
        format!("{name}:{:?}({})", expr.ty, operands.join(", "))
    }
}

/// `None`: data tell it.
pub fn subscript(subscript: &Subscript, iterators: &[i64], params: &[i64]) -> Option<i64> {
    subscript.as_affine().map(|it| value(it, iterators, params))
}

pub fn value(affine: &Affine, iterators: &[i64], params: &[i64]) -> i64 {
    affine.evaluate(iterators, params).expect("small programs have small values")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Before,
    After,
    /// They may run at the same time, or are the same.
    Open,
}

/// Which of two instances the schedule runs first.
pub fn order(schedule: &Schedule, params: &[i64], a: &Instance, b: &Instance) -> Order {
    let mut node = &schedule.root;
    loop {
        match node {
            Node::Computation(_) => return Order::Open,
            Node::Sequence(children) => {
                let holder = |id: ComputationId| children.iter().position(|child| holds(child, id));
                let (first, second) = (holder(a.computation), holder(b.computation));
                match first.cmp(&second) {
                    std::cmp::Ordering::Less => return Order::Before,
                    std::cmp::Ordering::Greater => return Order::After,
                    std::cmp::Ordering::Equal => {
                        node = &children[first.expect("every computation is in the tree")];
                    }
                }
            }
            Node::Loop(it) => {
                let first = value(&it.at[&a.computation], &a.at, params);
                let second = value(&it.at[&b.computation], &b.at, params);
                match first.cmp(&second) {
                    std::cmp::Ordering::Equal => node = &it.body,
                    _ if !it.tag.keeps_order() => return Order::Open,
                    std::cmp::Ordering::Less => return Order::Before,
                    std::cmp::Ordering::Greater => return Order::After,
                }
            }
        }
    }
}

fn holds(node: &Node, id: ComputationId) -> bool {
    match node {
        Node::Computation(here) => *here == id,
        Node::Loop(it) => holds(&it.body, id),
        Node::Sequence(children) => children.iter().any(|child| holds(child, id)),
    }
}

/// Two instances that conflict and that the schedule does not run in the source's order.
#[derive(Debug)]
pub struct Conflict {
    pub array: ArrayId,
    pub element: Vec<i64>,
    pub first: Instance,
    pub second: Instance,
}

/// Updates of a reduction whose order is free are compared with this many of those before them.
const UPDATES: usize = 40;

/// Who touched an element, in order, and how; of updates whose order is free, by which operator.
type History = Vec<(usize, Which, Option<Operator>, Option<Constant>)>;

/// The constant that a computation stores.
fn stored(algorithm: &Algorithm, id: ComputationId) -> Option<Constant> {
    match algorithm.computation(id).value.kind {
        ExprKind::Constant(value) => Some(value),
        _ => None,
    }
}

fn has_constants(algorithm: &Algorithm, array: ArrayId) -> bool {
    algorithm.ids().any(|id| algorithm.computation(id).write.array == array && stored(algorithm, id).is_some())
}

/// The first conflict whose order is lost.
///
/// Orders of trees are transitive, so it is enough to compare each access with the last write before it, and each write
/// with the reads since the last write. Where updates of a reduction may run in any order but not at one time, or some statements store
/// a constant, two stores of which have no order, orders that must be kept are not transitive: there, all pairs are compared.
pub fn lost_order(algorithm: &Algorithm, schedule: &Schedule, instances: &Instances) -> Option<Conflict> {
    let params = &instances.params;
    let mut sorted: Vec<usize> = (0..instances.all.len()).collect();
    sorted.sort_by(|&a, &b| match order(&algorithm.source_order, params, &instances.all[a], &instances.all[b]) {
        Order::Before => std::cmp::Ordering::Less,
        Order::After => std::cmp::Ordering::Greater,
        Order::Open => a.cmp(&b),
    });
    let mut last_write: BTreeMap<(ArrayId, &[i64]), usize> = BTreeMap::new();
    let mut reads: BTreeMap<(ArrayId, &[i64]), Vec<usize>> = BTreeMap::new();
    let free: Vec<Reduction> = updates(algorithm).into_iter().filter(|it| it.order == UpdateOrder::Any).collect();
    let mut history: BTreeMap<(ArrayId, &[i64]), History> = BTreeMap::new();
    let kept = |first: usize, second: usize| {
        first == second || order(schedule, params, &instances.all[first], &instances.all[second]) == Order::Before
    };
    for &here in &sorted {
        let conflict = |other: usize, touch: &Touch| Conflict {
            array: touch.array,
            element: touch.element.clone(),
            first: instances.all[other].clone(),
            second: instances.all[here].clone(),
        };
        let has_free =
            |touch: &&Touch| free.iter().any(|it| it.array == touch.array) || has_constants(algorithm, touch.array);
        let stored = |touch: &Touch| match touch.access.which {
            Which::Write => stored(algorithm, touch.access.computation),
            Which::Read(_) => None,
        };
        let written = instances.touched[here].iter().find(|touch| touch.access.which == Which::Write);
        let told = written.and_then(|touch| touch.told.clone());
        let update = |touch: &Touch| {
            let all = free.iter().filter(|it| it.computation == touch.access.computation && it.array == touch.array);
            let is_old = |_: &&Reduction| is_of_update(algorithm, touch.access) && touch.told == told;
            all.into_iter().find(is_old).map(|it| it.operator)
        };
        // The write of an update stands for its read of the old element, too.
        let stands = |touch: &&Touch| touch.access.which == Which::Write || update(touch).is_none();
        for touch in instances.touched[here].iter().filter(has_free).filter(stands) {
            let operator = update(touch);
            let before = history.entry((touch.array, touch.element.as_slice())).or_default();
            let mut seen = 0;
            for &(other, which, known, constant) in before.iter().rev().filter(|(other, ..)| *other != here) {
                if constant.is_some() && constant == stored(touch) {
                    continue;
                }
                let both_update = operator.is_some() && known == operator;
                seen += usize::from(both_update);
                if both_update && seen > UPDATES {
                    continue;
                }
                let found = order(schedule, params, &instances.all[other], &instances.all[here]);
                let fine = found == Order::Before || both_update && found == Order::After;
                if (which == Which::Write || touch.access.which == Which::Write) && !fine {
                    return Some(conflict(other, touch));
                }
            }
            before.push((here, touch.access.which, operator, stored(touch)));
        }
        let ordered = instances.touched[here].iter().filter(|touch| !has_free(touch));
        let (writes, all_reads): (Vec<&Touch>, Vec<&Touch>) =
            ordered.partition(|touch| touch.access.which == Which::Write);
        for touch in all_reads {
            let key = (touch.array, touch.element.as_slice());
            if let Some(&write) = last_write.get(&key)
                && !kept(write, here)
            {
                return Some(conflict(write, touch));
            }
            reads.entry(key).or_default().push(here);
        }
        for touch in writes {
            let key = (touch.array, touch.element.as_slice());
            let earlier = reads.remove(&key).unwrap_or_default().into_iter().chain(last_write.get(&key).copied());
            for other in earlier {
                if !kept(other, here) {
                    return Some(conflict(other, touch));
                }
            }
            last_write.insert(key, here);
        }
    }
    None
}
