//! What happens at a node of the tree, among the instances of computations: when it does, and in which order.
//!
//! A copy stands before or after a node; it happens once for each iteration of the loops around that node, all of which
//! are in order. Its instances are the values of these loops, `{ [k] }`.

use crate::affine::{Affine, Atom, ParamId};
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::{Ctx, DimType, Map, Set, Space};
use crate::layers::Moment;
use crate::legality::{Pair, smallest_pair};
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule};

/// One of the things whose order is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event<'a> {
    Instance(ComputationId),
    /// The number tells which of two comes first at one place.
    Operation {
        at: &'a Path,
        moment: Moment,
        number: usize,
    },
}

/// What orders are asked of.
#[derive(Clone, Copy)]
pub(super) struct Order<'a> {
    pub(super) ctx: &'a Ctx,
    pub(super) algorithm: &'a Algorithm,
    pub(super) schedule: &'a Schedule,
}

/// The loops around a node, outermost first.
pub(super) fn loops_around<'a>(schedule: &'a Schedule, at: &Path) -> Vec<&'a Loop> {
    let prefixes = (0..at.0.len()).map(|length| Path(at.0[..length].to_vec()));
    prefixes
        .filter_map(|path| match schedule.node(&path) {
            Some(Node::Loop(it)) => Some(it),
            Some(Node::Sequence(_) | Node::Computation(_)) | None => None,
        })
        .collect()
}

/// The smallest of some pairs, by sizes and arguments that are not negative where there is one.
pub(super) fn smallest(ctx: &Ctx, algorithm: &Algorithm, pairs: &Map, split: usize) -> Result<Pair, Error> {
    let (space, names) = (relation::param_space(ctx, algorithm)?, algorithm.param_names());
    let zero = Affine::constant(0).to_isl(&space, &names)?;
    let mut natural = pairs.clone();
    for at in 0..algorithm.params.len() as u32 {
        let value = Affine::atom(Atom::Param(ParamId(at))).to_isl(&space, &names)?;
        natural = natural.intersect_params(&value.ge_set(&zero)?)?;
    }
    smallest_pair(if natural.is_empty()? { pairs } else { &natural }, split)
}

impl Order<'_> {
    /// The iterations of the loops around a node in which some instance below it runs.
    pub(super) fn surely(&self, at: &Path) -> Result<Set, Error> {
        let below = self.schedule.node(at).map(Node::computations).unwrap_or_default();
        self.iterations(&loops_around(self.schedule, at), &below)
    }

    /// All iterations in which generated code may come to the node, perhaps with nothing to do below it.
    pub(super) fn perhaps(&self, at: &Path) -> Result<Set, Error> {
        let around = loops_around(self.schedule, at);
        let Some(innermost) = around.last() else { return self.nothing(0)?.complement().map_err(Error::from) };
        let all = self.iterations(&around, &innermost.body.computations())?;
        Ok(Set::from_basic_set(&all.coalesce()?.simple_hull()?)?)
    }

    fn iterations(&self, around: &[&Loop], computations: &[ComputationId]) -> Result<Set, Error> {
        let mut all = self.nothing(around.len())?;
        for &id in computations {
            let values: Vec<Affine> = around.iter().map(|it| it.at[&id].clone()).collect();
            let values = relation::functions(self.ctx, self.algorithm, id, &values)?;
            all = all.union(&relation::domain(self.algorithm, id)?.apply(&values)?)?;
        }
        Ok(all)
    }

    fn space(&self, dims: usize) -> Result<Space, Error> {
        Ok(relation::param_space(self.ctx, self.algorithm)?.add_unnamed_tuple(dims as u32)?)
    }

    fn nothing(&self, dims: usize) -> Result<Set, Error> {
        Ok(Set::empty(&self.space(dims)?)?)
    }

    /// The pairs of instances, `{ first -> second }`, that the tree runs in this order.
    pub(super) fn before(&self, first: Event<'_>, second: Event<'_>) -> Result<Map, Error> {
        let (a, b) = (self.path(first), self.path(second));
        let shared = (0..a.0.len().min(b.0.len())).take_while(|&length| a.0[..length] == b.0[..length]);
        let shared: Vec<&Loop> = shared
            .filter_map(|length| match self.schedule.node(&Path(a.0[..length].to_vec())) {
                Some(Node::Loop(it)) => Some(it),
                Some(Node::Sequence(_) | Node::Computation(_)) | None => None,
            })
            .collect();
        let from = self.values(first, &shared)?;
        let to = self.values(second, &shared)?.reverse()?;
        let space = self.space(shared.len())?;
        let mut how = Map::lex_lt(&space)?;
        if self.comes_first(first, second) {
            how = how.union(&Map::identity(&space.map_from_set()?)?)?;
        }
        Ok(from.apply_range(&how)?.apply_range(&to)?)
    }

    /// Whether the first happens before the second within one iteration of all loops that they share.
    fn comes_first(&self, first: Event<'_>, second: Event<'_>) -> bool {
        let (a, b) = (self.path(first), self.path(second));
        match (first, second) {
            (Event::Operation { moment, number, .. }, Event::Operation { moment: other, number: later, .. })
                if a == b =>
            {
                (moment, number) < (other, later)
            }
            (Event::Operation { moment, .. }, Event::Operation { .. } | Event::Instance(_)) if a.contains(&b) => {
                moment == Moment::Before
            }
            (Event::Operation { .. } | Event::Instance(_), Event::Operation { moment, .. }) if b.contains(&a) => {
                moment == Moment::After
            }
            (Event::Operation { .. } | Event::Instance(_), Event::Operation { .. } | Event::Instance(_)) => {
                a.0.iter().zip(&b.0).find(|(a, b)| a != b).is_some_and(|(a, b)| a < b)
            }
        }
    }

    fn path(&self, event: Event<'_>) -> Path {
        match event {
            Event::Instance(id) => {
                self.schedule.path_of(id).expect("every computation has a leaf in the schedule tree")
            }
            Event::Operation { at, .. } => at.clone(),
        }
    }

    /// `{ event -> [values of the loops] }`, for the outermost of the loops around it.
    fn values(&self, event: Event<'_>, loops: &[&Loop]) -> Result<Map, Error> {
        match event {
            Event::Instance(id) => {
                let each: Vec<Affine> = loops.iter().map(|it| it.at[&id].clone()).collect();
                relation::functions(self.ctx, self.algorithm, id, &each)
            }
            Event::Operation { at, .. } => {
                let all = self.space(loops_around(self.schedule, at).len())?;
                Ok(Set::universe(&all)?.project_onto_map(DimType::Set, 0, loops.len() as u32)?)
            }
        }
    }
}
