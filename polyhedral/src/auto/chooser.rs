//! What every step of choosing an order asks: what is legal, which loops are parallel, where accesses lie.

use super::asked::Asking;
use super::few_blocks::Tiled;
use super::wide_sums::WideSums;
use crate::affine::Affine;
use crate::algorithm::{AccessRef, Algorithm, ComputationId};
use crate::default_order::Means;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::{Aff, Ctx, Set};
use crate::layers::{Scheduled, Target};
use crate::legality;
use crate::machine::Machine;
use crate::place;
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
pub(crate) use crate::transform::has_loop;
use crate::transform::loop_mut;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// A program for which an order is being chosen.
pub(crate) struct Chooser<'a> {
    pub ctx: &'a Ctx,
    pub machine: &'a Machine,
    pub algorithm: &'a Algorithm,
    pub target: Target,
    pub dependences: &'a [Dependence],
    pub means: Means,
    /// Those whose loops are what they are to be.
    pub settled: BTreeSet<ComputationId>,
    /// Those with a loop around that commands have tagged: how it runs is settled, and the order of its nest.
    pub tagged: BTreeSet<ComputationId>,
    /// What isl's scheduler was asked for.
    pub asking: Asking,
    /// Those of sums that get small tiles.
    pub small: BTreeSet<ComputationId>,
    /// Sums whose tiles may be too large.
    pub tiled: RefCell<Vec<Tiled>>,
    /// Sums that may be too many to have an array.
    pub wide_sums: RefCell<Vec<WideSums>>,
    /// Nests whose elements may get owners.
    pub owned: RefCell<Vec<Node>>,
}

/// The computations with a tagged loop around.
pub(crate) fn tagged(schedule: &Schedule) -> BTreeSet<ComputationId> {
    let all = schedule.root.computations().into_iter();
    all.filter(|&id| schedule.loops_around(id).iter().any(|(_, it)| it.tag != Tag::Sequential)).collect()
}

impl<'a> Chooser<'a> {
    /// Of a program none of whose loops is settled.
    pub(crate) fn of(
        ctx: &'a Ctx,
        scheduled: &'a Scheduled,
        dependences: &'a [Dependence],
        means: Means,
    ) -> Chooser<'a> {
        Chooser {
            ctx,
            machine: &scheduled.machine,
            algorithm: &scheduled.algorithm,
            target: scheduled.target,
            dependences,
            means,
            settled: BTreeSet::new(),
            tagged: BTreeSet::new(),
            asking: Asking::default(),
            small: BTreeSet::new(),
            tiled: RefCell::default(),
            wide_sums: RefCell::default(),
            owned: RefCell::default(),
        }
    }
}

impl Chooser<'_> {
    /// Whether a loop is what it is to be.
    pub(crate) fn is_settled(&self, it: &Loop) -> bool {
        it.at.keys().any(|id| self.settled.contains(id))
    }

    /// Whether commands have tagged a loop around, here or below.
    pub(crate) fn is_tagged(&self, it: &Loop) -> bool {
        it.at.keys().any(|id| self.tagged.contains(id))
    }

    /// Whether the order is legal, if only what is below `path` was changed, and skips what the source does.
    pub(crate) fn is_legal(&self, schedule: &Schedule, path: &Path) -> Result<bool, Error> {
        let below: BTreeSet<ComputationId> =
            schedule.node(path).map(Node::computations).unwrap_or_default().into_iter().collect();
        if !self.keeps_skips(schedule, &below) {
            return Ok(false);
        }
        let inside = |end: AccessRef| below.contains(&end.computation);
        let all = self.dependences.iter().filter(|it| inside(it.source) && inside(it.sink)).cloned();
        legality::is_legal(self.ctx, self.algorithm, schedule, &all.collect::<Vec<_>>())
    }

    /// The levels of the `depth` loops at `path` that may run in any order, each taken alone.
    pub(crate) fn parallel_loops(&self, schedule: &Schedule, path: &Path, depth: usize) -> Result<Vec<usize>, Error> {
        let mut found = vec![];
        for level in 0..depth {
            let mut trial = schedule.clone();
            loop_mut(&mut trial, &path.down(level)).tag = Tag::Parallel;
            if self.is_legal(&trial, path)? {
                found.push(level);
            }
        }
        Ok(found)
    }

    /// The program in this order.
    pub(crate) fn scheduled(&self, schedule: &Schedule) -> Scheduled {
        Scheduled {
            algorithm: self.algorithm.clone(),
            schedule: schedule.clone(),
            target: self.target,
            machine: *self.machine,
            versions: vec![],
            scratch: BTreeSet::new(),
        }
    }

    /// Whether every array finds a buffer under this order.
    pub(crate) fn has_place(&self, schedule: &Schedule) -> Result<bool, Error> {
        match place::place(self.ctx, self.scheduled(schedule)) {
            Ok(_) => Ok(true),
            Err(Error::Layout(_)) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// The iterations of each loop of the nest at `path`, where that is a number.
    pub(crate) fn extents(&self, schedule: &Schedule, path: &Path, depth: usize) -> Result<Vec<Option<i64>>, Error> {
        let extent = |level: usize| match loop_at(schedule, &path.down(level)).and_then(|it| it.at.iter().next()) {
            Some((&id, at)) => self.extent_of(id, at),
            None => Ok(None),
        };
        (0..depth).map(extent).collect()
    }

    /// Whether a loop of the nest at `path` may have so many iterations and more, for sizes that the source asserts.
    pub(crate) fn may_reach(&self, schedule: &Schedule, path: &Path, level: usize, least: i64) -> Result<bool, Error> {
        let Some((&id, at)) = loop_at(schedule, &path.down(level)).and_then(|it| it.at.iter().next()) else {
            return Ok(true);
        };
        let mut domain = relation::domain(self.algorithm, id)?;
        if let Some(assumed) = self.algorithm.assumed()? {
            domain = domain.intersect_params(&assumed)?;
        }
        let values = relation::function(self.ctx, self.algorithm, id, at)?.intersect_domain(&domain)?.range()?;
        let values = values.project_out_all_params()?;
        if !values.is_bounded()? {
            return Ok(true);
        }
        let bound = |pieces: Vec<(Set, Aff)>| pieces.first().and_then(|(_, aff)| aff.constant().ok()?.to_i64());
        let (low, high) = (bound(values.dim_min(0)?.pieces()?), bound(values.dim_max(0)?.pieces()?));
        Ok(low.zip(high).is_none_or(|(low, high)| high - low + 1 >= least))
    }

    /// How many values an expression of a computation's iterators passes through, where that is a number.
    pub(crate) fn extent_of(&self, id: ComputationId, at: &Affine) -> Result<Option<i64>, Error> {
        let values = relation::function(self.ctx, self.algorithm, id, at)?
            .intersect_domain(&relation::domain(self.algorithm, id)?)?
            .range()?;
        let (low, high) = (values.dim_min(0)?.pieces()?, values.dim_max(0)?.pieces()?);
        let number = |pieces: &[(Set, Aff)]| match pieces {
            [(_, aff)] if aff.is_constant().unwrap_or(false) => aff.constant().ok()?.to_i64(),
            _ => None,
        };
        Ok(number(&low).zip(number(&high)).map(|(low, high)| high - low + 1))
    }
}

/// How many loops stand directly inside one another at `path`.
pub(crate) fn chain_length(schedule: &Schedule, path: &Path) -> usize {
    let mut depth = 0;
    while let Some(Node::Loop(_)) = schedule.node(&path.down(depth)) {
        depth += 1;
    }
    depth
}

pub(crate) fn loop_at<'a>(schedule: &'a Schedule, path: &Path) -> Option<&'a Loop> {
    match schedule.node(path) {
        Some(Node::Loop(it)) => Some(it),
        Some(Node::Sequence(_) | Node::Computation(_)) | None => None,
    }
}

/// Whether some loop here or below is of a kind.
pub(crate) fn any_loop(node: &Node, wanted: &dyn Fn(&Loop) -> bool) -> bool {
    match node {
        Node::Computation(_) => false,
        Node::Loop(it) => wanted(it) || any_loop(&it.body, wanted),
        Node::Sequence(children) => children.iter().any(|child| any_loop(child, wanted)),
    }
}
