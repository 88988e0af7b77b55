//! Facts about dependences for people: distances, the loops that carry them, what runs in parallel and why.

use crate::algorithm::{Algorithm, ComputationId};
use crate::dependence::{Dependence, dependences, direct};
use crate::error::Error;
use crate::isl::{Ctx, DimType, Map, Set, Val};
use crate::legality;
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};

/// A dependence with what a reader asks of it.
#[derive(Debug, Clone)]
pub struct ReportedDependence {
    pub dependence: Dependence,
    /// Sink minus source, along the loops that both share, outermost first.
    pub distances: Vec<Distance>,
    /// The loops, by name, that run source and sink in different iterations while all outer loops are in the same
    /// one; none: both run in one iteration of all shared loops.
    pub carried: Vec<String>,
}

/// How far apart two dependent instances are along one loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    Exactly(i64),
    AtLeast(i64),
    AtMost(i64),
    Between(i64, i64),
    Any,
}

/// Why a loop does or does not run in parallel.
#[derive(Debug, Clone)]
pub struct LoopReport {
    pub path: Path,
    pub name: String,
    pub tag: Tag,
    /// The dependences that the loop carries.
    pub carries: Vec<Carried>,
}

/// A dependence that a loop of a schedule carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carried {
    /// Its position in the list given.
    pub dependence: usize,
    /// Sink minus source along the loop, where they differ.
    pub distance: Distance,
}

/// The direct dependences of an algorithm in its source's order, with distances.
pub fn report_dependences(ctx: &Ctx, algorithm: &Algorithm) -> Result<Vec<ReportedDependence>, Error> {
    let all = dependences(ctx, algorithm)?;
    direct(ctx, algorithm, &all)?
        .into_iter()
        .map(|dependence| report(ctx, algorithm, &algorithm.source_order, dependence))
        .collect()
}

/// All dependences, those that follow from others with them: telling these apart takes isl the most work.
pub fn report_all_dependences(ctx: &Ctx, algorithm: &Algorithm) -> Result<Vec<ReportedDependence>, Error> {
    let all = dependences(ctx, algorithm)?.into_iter();
    all.map(|dependence| report(ctx, algorithm, &algorithm.source_order, dependence)).collect()
}

fn report(
    ctx: &Ctx,
    algorithm: &Algorithm,
    order: &Schedule,
    dependence: Dependence,
) -> Result<ReportedDependence, Error> {
    let (source, sink) = (dependence.source.computation, dependence.sink.computation);
    let mut distances = vec![];
    let mut carriers = vec![];
    let mut together = dependence.relation.clone();
    for it in legality::shared_loops(order, source, sink) {
        let from = relation::function(ctx, algorithm, source, &it.at[&source])?;
        let to = relation::function(ctx, algorithm, sink, &it.at[&sink])?;
        let values = |pairs: &Map| pairs.apply_domain(&from)?.apply_range(&to)?.deltas();
        distances.push(distance(&values(&dependence.relation)?)?);
        let same = from.apply_range(&to.reverse()?)?;
        let inside = together.intersect(&same)?;
        if !together.is_subset(&inside)? {
            carriers.push(it.name.clone());
        }
        together = inside;
    }
    Ok(ReportedDependence { dependence, distances, carried: carriers })
}

fn distance(values: &Set) -> Result<Distance, Error> {
    let values = values.project_out_all_params()?;
    // Beyond this a bound only reflects the context, which bounds every parameter.
    let meaningful = |value: &i64| value.unsigned_abs() < 1 << 32;
    let low = values.dim_min_val(0)?.to_i64().filter(meaningful);
    let high = values.dim_max_val(0)?.to_i64().filter(meaningful);
    Ok(match (low, high) {
        (Some(low), Some(high)) if low == high => Distance::Exactly(low),
        (Some(low), Some(high)) => Distance::Between(low, high),
        (Some(low), None) => Distance::AtLeast(low),
        (None, Some(high)) => Distance::AtMost(high),
        (None, None) => Distance::Any,
    })
}

/// For each loop of a schedule, the dependences that it carries.
pub fn report_loops(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependences: &[Dependence],
) -> Result<Vec<LoopReport>, Error> {
    report_loops_of_pieces(ctx, algorithm, schedule, dependences, |id| vec![id])
}

/// The same, where `pieces` gives the computations of the schedule that run the instances of one of `algorithm`. Which instances
/// each of them runs is not asked: a loop may be said to carry what only others of these pieces depend on.
pub fn report_loops_of_pieces(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    dependences: &[Dependence],
    pieces: impl Fn(ComputationId) -> Vec<ComputationId>,
) -> Result<Vec<LoopReport>, Error> {
    let mut reports = loops(schedule);
    for (at, dependence) in dependences.iter().enumerate() {
        let (source, sink) = (dependence.source.computation, dependence.sink.computation);
        for (earlier, later) in pairs(&pieces(source), &pieces(sink)) {
            let mut together = dependence.relation.clone();
            let shared = legality::shared_loops(schedule, earlier, later).len();
            let around: Vec<(Path, &Loop)> = schedule.loops_around(earlier).into_iter().take(shared).collect();
            for (path, it) in around {
                let from = relation::function(ctx, algorithm, source, &it.at[&earlier])?;
                let to = relation::function(ctx, algorithm, sink, &it.at[&later])?;
                let inside = together.intersect(&from.apply_range(&to.reverse()?)?)?;
                let apart = together.subtract(&inside)?.apply_domain(&from)?.apply_range(&to)?.deltas()?;
                // The order is legal: where the sink would come first, other pieces run the two.
                let forward = apart.lower_bound(DimType::Set, 0, &Val::from_i64(ctx, 1)?)?;
                if !forward.is_empty()?
                    && let Some(report) = reports.iter_mut().find(|report| report.path == path)
                {
                    report.carries.push(Carried { dependence: at, distance: distance(&forward)? });
                }
                together = inside;
            }
        }
    }
    Ok(reports)
}

fn pairs(sources: &[ComputationId], sinks: &[ComputationId]) -> impl Iterator<Item = (ComputationId, ComputationId)> {
    sources.iter().flat_map(|&source| sinks.iter().map(move |&sink| (source, sink)))
}

/// The loops of a schedule, outermost first, with nothing that they carry.
pub fn loops(schedule: &Schedule) -> Vec<LoopReport> {
    let mut reports = vec![];
    collect(&schedule.root, &mut vec![], &mut reports);
    reports
}

fn collect(node: &Node, path: &mut Vec<usize>, reports: &mut Vec<LoopReport>) {
    match node {
        Node::Computation(_) => {}
        Node::Sequence(children) => {
            for (at, child) in children.iter().enumerate() {
                path.push(at);
                collect(child, path, reports);
                path.pop();
            }
        }
        Node::Loop(it) => {
            reports.push(LoopReport { path: Path(path.clone()), name: it.name.clone(), tag: it.tag, carries: vec![] });
            path.push(0);
            collect(&it.body, path, reports);
            path.pop();
        }
    }
}

impl std::fmt::Display for Distance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Distance::Exactly(value) => write!(f, "{value}"),
            Distance::AtLeast(value) => write!(f, "{value}.."),
            Distance::AtMost(value) => write!(f, "..{value}"),
            Distance::Between(low, high) => write!(f, "{low}..{high}"),
            Distance::Any => write!(f, "*"),
        }
    }
}
