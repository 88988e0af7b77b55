//! A whole schedule tree as a command: what a user writes, with names instead of numbers, and back.
//!
//! ```text
//! @parallel for i0 = fld(i - 1, 32)
//!     for i1 = (S = mod(i - 1, 32), R = mod(i, 32))
//!         S
//!         R
//!     end
//! end
//! ```
//!
//! Every tree can be written so ([`spell`]), and every text so written is read back to the same tree ([`build`]). What
//! a tree does to the program is judged as for all other commands: by [`crate::legality`].

mod formula;
mod write;

pub use formula::Formula;
pub use write::spell;

use crate::affine::Affine;
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::{Error, OnGpu, ScheduleError};
use crate::isl::{Ctx, DimType, Map};
use crate::layers::{Scheduled, Target};
use crate::legality::smallest_pair;
use crate::relation;
use crate::schedule::{Loop, Node, Schedule, Tag};
use crate::transform::check_gpu;
use std::collections::BTreeMap;

/// What runs, one after the other.
pub type OrderTree = Vec<OrderNode>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderNode {
    /// A computation, by name.
    Computation(String),
    Loop(OrderLoop),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderLoop {
    pub name: String,
    pub tag: Tag,
    pub runs: Runs,
    pub body: OrderTree,
}

/// What a loop runs through, in terms of the iterators of the computations inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runs {
    /// The same expression for all computations inside.
    Together(Formula),
    /// Each computation's own.
    Each(Vec<(String, Formula)>),
}

/// Looks up the names of a tree and checks all but its dependences.
///
/// # Errors
/// [`ScheduleError`] where a name is unknown, a computation is missing or named twice, a loop has no function for a
/// computation inside it, or several instances of a computation would run at one time.
pub fn build(ctx: &Ctx, scheduled: &Scheduled, tree: &[OrderNode]) -> Result<Schedule, Error> {
    let schedule = look_up(scheduled, tree)?;
    for id in scheduled.algorithm.ids() {
        check_single(ctx, &scheduled.algorithm, &schedule, id)?;
    }
    check_gpu(scheduled, &schedule)?;
    Ok(schedule)
}

/// [`build`] without the checks of instances and of loops over a GPU's processors: an order to look at, not to run.
pub(crate) fn look_up(scheduled: &Scheduled, tree: &[OrderNode]) -> Result<Schedule, Error> {
    let algorithm = &scheduled.algorithm;
    let mut builder = Builder { algorithm, target: scheduled.target, around: vec![], seen: vec![] };
    let root = builder.list(tree)?;
    let missing: Vec<String> = algorithm
        .ids()
        .filter(|id| !builder.seen.contains(id))
        .map(|id| algorithm.computation(id).name.clone())
        .collect();
    if !missing.is_empty() {
        return Err(ScheduleError::OrderMisses { missing }.into());
    }
    Ok(Schedule { root })
}

struct Builder<'a> {
    algorithm: &'a Algorithm,
    target: Target,
    /// The names of the loops around the present place.
    around: Vec<String>,
    seen: Vec<ComputationId>,
}

impl Builder<'_> {
    fn list(&mut self, nodes: &[OrderNode]) -> Result<Node, Error> {
        let mut children: Vec<Node> = nodes.iter().map(|node| self.node(node)).collect::<Result<_, _>>()?;
        Ok(if children.len() == 1 { children.remove(0) } else { Node::Sequence(children) })
    }

    fn node(&mut self, node: &OrderNode) -> Result<Node, Error> {
        match node {
            OrderNode::Computation(name) => {
                let id = crate::transform::find_computation(self.algorithm, name)?;
                if self.seen.contains(&id) {
                    return Err(ScheduleError::OrderRepeats { computation: name.clone() }.into());
                }
                self.seen.push(id);
                Ok(Node::Computation(id))
            }
            OrderNode::Loop(it) => self.looped(it),
        }
    }

    fn looped(&mut self, it: &OrderLoop) -> Result<Node, Error> {
        match (it.tag, self.target) {
            (Tag::Parallel, Target::Gpu) => return Err(ScheduleError::NeedsCpu { on_gpu: OnGpu::Grid }.into()),
            (Tag::Separate, Target::Gpu) => return Err(ScheduleError::NeedsCpu { on_gpu: OnGpu::WholeTiles }.into()),
            (
                Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine | Tag::Rows | Tag::Stream(_) | Tag::GridSync,
                Target::Cpu,
            ) => {
                return Err(ScheduleError::NeedsGpu.into());
            }
            (Tag::Sequential | Tag::Vector(_) | Tag::Unroll(_), _)
            | (Tag::Parallel | Tag::Separate, Target::Cpu)
            | (
                Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine | Tag::Rows | Tag::Stream(_) | Tag::GridSync,
                Target::Gpu,
            ) => {}
        }
        if self.around.contains(&it.name) {
            return Err(ScheduleError::OrderLoopTwice { at: it.name.clone() }.into());
        }
        self.around.push(it.name.clone());
        let body = self.list(&it.body)?;
        self.around.pop();
        let mut at = BTreeMap::new();
        for id in body.computations() {
            at.insert(id, self.function(it, id)?);
        }
        if let Runs::Each(functions) = &it.runs {
            let inside = |name: &str| at.keys().any(|&id| self.algorithm.computation(id).name == name);
            if let Some((name, _)) = functions.iter().find(|(name, _)| !inside(name)) {
                let (computation, at) = (name.clone(), it.name.clone());
                return Err(ScheduleError::OrderStranger { computation, at }.into());
            }
        }
        Ok(Node::Loop(Loop { name: it.name.clone(), tag: it.tag, at, body: Box::new(body) }))
    }

    fn function(&self, it: &OrderLoop, id: ComputationId) -> Result<Affine, Error> {
        let name = &self.algorithm.computation(id).name;
        let formula = match &it.runs {
            Runs::Together(formula) => Some(formula),
            Runs::Each(functions) => functions.iter().find(|(of, _)| of == name).map(|(_, formula)| formula),
        };
        match formula {
            Some(formula) => formula.affine(self.algorithm, id),
            None => {
                let (computation, at) = (name.clone(), it.name.clone());
                Err(ScheduleError::OrderStranger { computation, at }.into())
            }
        }
    }
}

/// Checks that no two instances of a computation have the same value in all loops around it.
fn check_single(ctx: &Ctx, algorithm: &Algorithm, schedule: &Schedule, id: ComputationId) -> Result<(), Error> {
    let functions: Vec<Affine> = schedule.loops_around(id).into_iter().map(|(_, it)| it.at[&id].clone()).collect();
    let domain = relation::domain(algorithm, id)?;
    let time = relation::functions(ctx, algorithm, id, &functions)?.intersect_domain(&domain)?;
    if time.is_injective()? {
        return Ok(());
    }
    let together = time.apply_range(&time.reverse()?)?;
    let apart = together.subtract(&Map::identity(&together.space()?)?)?;
    let pair = smallest_pair(&apart, apart.dim(DimType::In)? as usize)?;
    let computation = algorithm.computation(id).name.clone();
    Err(ScheduleError::OrderTogether { computation, first: pair.first, second: pair.second, params: pair.params }
        .into())
}
