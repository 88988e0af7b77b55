//! Tilings of time, checked by enumeration: each instance runs once, and everything that touches one element keeps its order.

mod common;

use common::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use tessella_polyhedral::algorithm::{Algorithm, ComputationId};
use tessella_polyhedral::command::Command;
use tessella_polyhedral::dependence::dependences;
use tessella_polyhedral::error::{Error, ScheduleError, StencilObstacle};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::schedule::{Loop, Node, Tag};
use tessella_polyhedral::time_tiling::{Hexagon, Slope};

/// One step of the way down the tree to an instance.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    value: i64,
    is_ordered: bool,
}

/// An instance of the source: its computation before any split, its iterators, and the elements that it touches.
struct Instance {
    whole: ComputationId,
    at: Vec<i64>,
    time: Vec<Step>,
    reads: Vec<(u32, Vec<i64>)>,
    write: (u32, Vec<i64>),
}

fn way(node: &Node, id: ComputationId, at: &[i64], steps: &mut Vec<Step>) {
    match node {
        Node::Computation(_) => {}
        Node::Sequence(children) => {
            let child = children.iter().position(|child| child.computations().contains(&id)).unwrap();
            steps.push(Step { value: child as i64, is_ordered: true });
            way(&children[child], id, at, steps);
        }
        Node::Loop(Loop { tag, at: functions, body, .. }) => {
            let is_ordered = matches!(tag, Tag::Sequential | Tag::Unroll(_) | Tag::Separate);
            steps.push(Step { value: functions[&id].evaluate(at, &[0]).unwrap(), is_ordered });
            way(body, id, at, steps);
        }
    }
}

fn instances(scheduled: &Scheduled) -> Vec<Instance> {
    let algorithm = &scheduled.algorithm;
    let mut all = vec![];
    for id in algorithm.ids() {
        let computation = algorithm.computation(id);
        let set = computation.domain.project_out_all_params().unwrap();
        if set.is_empty().unwrap() {
            continue;
        }
        let mut points = vec![];
        let _ = set.foreach_point(|point| {
            points.push(point.coordinates().unwrap());
            ControlFlow::<()>::Continue(())
        });
        for at in points {
            let element = |access: &tessella_polyhedral::algorithm::Access| {
                let values = access.subscripts.iter().map(|it| it.as_affine().unwrap().evaluate(&at, &[0]).unwrap());
                (access.array.0, values.collect::<Vec<_>>())
            };
            let mut time = vec![];
            way(&scheduled.schedule.root, id, &at, &mut time);
            let whole = algorithm.whole.as_ref().map_or(id, |whole| whole.piece_of[id.0 as usize]);
            let reads = computation.reads.iter().map(element).collect();
            all.push(Instance { whole, time, reads, write: element(&computation.write), at: at.clone() });
        }
    }
    all
}

/// An array, and subscripts.
type Element = (u32, Vec<i64>);

/// The array that a read is of, and its rows: factors of the iterators, and what is added.
type Read<'a> = (usize, Vec<(&'a [i64], i64)>);

/// Whether the tree runs `first` before `second` however its parallel loops go.
fn runs_before(first: &Instance, second: &Instance) -> bool {
    for (a, b) in first.time.iter().zip(&second.time) {
        if a.value != b.value {
            return a.is_ordered && a.value < b.value;
        }
    }
    false
}

/// Fails unless the new order runs every instance of the old one once, and keeps the order of all that touch one element.
fn check(before: &Scheduled, after: &Scheduled) -> Result<(), TestCaseError> {
    let (old, new) = (instances(before), instances(after));
    let places: BTreeMap<(ComputationId, Vec<i64>), usize> =
        new.iter().enumerate().map(|(place, it)| ((it.whole, it.at.clone()), place)).collect();
    prop_assert_eq!(places.len(), new.len(), "an instance runs twice");
    prop_assert_eq!(old.len(), new.len(), "an instance is lost");
    let mut touching: BTreeMap<&Element, Vec<(usize, bool)>> = BTreeMap::new();
    for (number, it) in old.iter().enumerate() {
        prop_assert!(places.contains_key(&(it.whole, it.at.clone())));
        touching.entry(&it.write).or_default().push((number, true));
        it.reads.iter().for_each(|read| touching.entry(read).or_default().push((number, false)));
    }
    for users in touching.values() {
        for &(a, writes_a) in users {
            for &(b, writes_b) in users {
                if a == b || !(writes_a || writes_b) || !runs_before(&old[a], &old[b]) {
                    continue;
                }
                let place = |number: usize| &new[places[&(old[number].whole, old[number].at.clone())]];
                prop_assert!(runs_before(place(a), place(b)), "{:?} -> {:?}", old[a].at, old[b].at);
            }
        }
    }
    Ok(())
}

/// Computations before any split, and their iterators.
type Points = BTreeSet<(ComputationId, Vec<i64>)>;

/// What the loops over tiles are: those of hexagons stand in a sequence of two phases below that over tiles of time.
#[derive(Clone, Copy, PartialEq)]
enum Tiles {
    Hexagons,
    Skewed,
}

/// What the tiles of one phase look like that the domain does not cut: computations, and points from the least of each coordinate on. Tiles
/// are what has the first so many steps of its way in common; a step of the time loop reaches no farther than `reach`.
fn full_tiles(stencil: &Random, tiled: &Scheduled, kind: Tiles) -> BTreeMap<i64, Vec<Points>> {
    let phases = kind == Tiles::Hexagons;
    let prefix = 1 + usize::from(phases) + stencil.points.len();
    let mut tiles: BTreeMap<Vec<Step>, Points> = BTreeMap::new();
    for it in instances(tiled) {
        tiles.entry(it.time[..prefix].to_vec()).or_default().insert((it.whole, it.at));
    }
    let mut found: BTreeMap<i64, Vec<Points>> = BTreeMap::new();
    for (tile, points) in tiles {
        let ends = |axis: usize| {
            let along = || points.iter().map(|(_, at)| at[axis]);
            (along().min().expect("a tile has points"), along().max().expect("a tile has points"))
        };
        let ends: Vec<(i64, i64)> = (0..=stencil.points.len()).map(ends).collect();
        // Neighbouring rows of a tile begin and end no farther apart than a step reaches: a tile that was cut has points near the cut.
        let is_full = ends.iter().zip(stencil.ends()).enumerate().all(|(axis, ((low, high), (first, last)))| {
            let rim = if axis == 0 { 1 } else { stencil.reach().max(1) };
            *low >= first + rim && *high <= last - rim
        });
        if is_full {
            let from_least = |at: &Vec<i64>| at.iter().zip(&ends).map(|(at, (low, _))| at - low).collect::<Vec<_>>();
            let points = points.iter().map(|(id, at)| (*id, from_least(at))).collect();
            found.entry(if phases { tile[1].value } else { 0 }).or_default().push(points);
        }
    }
    found
}

/// Fails unless the full tiles of each phase are one set of points, moved; says how many there are.
fn check_full_tiles(stencil: &Random, tiled: &Scheduled, kind: Tiles) -> Result<usize, TestCaseError> {
    let found = full_tiles(stencil, tiled, kind);
    for tiles in found.values() {
        for tile in &tiles[1..] {
            prop_assert_eq!(tile, &tiles[0], "full tiles differ");
        }
    }
    Ok(found.values().map(Vec::len).sum())
}

/// A nest's read: the nest that wrote it, the steps of the time loop back, and the distance in space.
type Reach = (usize, i64, Vec<i64>);

/// A time loop whose nests write rows of arrays of their own, each from rows up to three steps back, or of nests before it in the
/// same step.
#[derive(Debug, Clone)]
struct Random {
    /// By nest: what it reads.
    reads: Vec<Vec<Reach>>,
    steps: i64,
    /// Along each dimension of space.
    points: Vec<i64>,
}

/// The first step, and the first point along each dimension.
const FIRST: (i64, i64) = (4, 5);

/// Stencils whose steps reach up to so many points to either side, over a space of so many dimensions.
fn random(dims: usize, reach: i64, steps: i64, points: i64) -> impl Strategy<Value = Random> {
    let nest = move |count: usize| {
        prop::collection::vec((0..count, 0..=3_i64, prop::collection::vec(-reach..=reach, dims)), 1..4)
    };
    (1..=3_usize)
        .prop_flat_map(move |count| {
            (prop::collection::vec(nest(count), count), 3..=steps, prop::collection::vec(1..=points, dims))
        })
        .prop_map(|(mut reads, steps, points)| {
            for (nest, reads) in reads.iter_mut().enumerate() {
                // What is not written yet in this step was in the one before.
                reads.iter_mut().filter(|it| it.0 >= nest).for_each(|it| it.1 = it.1.max(1));
            }
            Random { reads, steps, points }
        })
}

/// The same of two dimensions, of radius 1 to 4.
fn random_planes() -> impl Strategy<Value = Random> {
    (1..=4_i64).prop_flat_map(|reach| random(2, reach, 5, 9))
}

impl Random {
    /// Over one dimension: the nest, the steps back and the distance of each read.
    fn line(nests: &[&[(usize, i64, i64)]]) -> Random {
        let reads = nests.iter().map(|nest| nest.iter().map(|&(of, back, up)| (of, back, vec![up])).collect());
        Random { reads: reads.collect(), steps: 9, points: vec![17] }
    }

    /// The first and the last value of the time loop, and of each dimension.
    fn ends(&self) -> Vec<(i64, i64)> {
        let space = self.points.iter().map(|points| (FIRST.1, FIRST.1 + points - 1));
        [(FIRST.0, FIRST.0 + self.steps - 1)].into_iter().chain(space).collect()
    }

    /// How far a step reaches at most.
    fn reach(&self) -> i64 {
        self.reads.iter().flatten().flat_map(|(_, _, up)| up).map(|up| up.abs()).max().unwrap_or(0)
    }

    fn build(&self, ctx: &Ctx) -> Algorithm {
        let iterators = &["t", "i", "j"][..=self.points.len()];
        let bounds =
            iterators.iter().zip(self.ends()).map(|(name, (first, last))| format!("{first} <= {name} <= {last}"));
        let bounds = bounds.collect::<Vec<_>>().join(" and ");
        let names: Vec<String> = (0..self.reads.len()).map(|nest| format!("S{nest}")).collect();
        let domains: Vec<String> =
            names.iter().map(|name| format!("{{ {name}[{}] : {bounds} }}", iterators.join(", "))).collect();
        let along: Vec<Vec<i64>> = (0..iterators.len())
            .map(|axis| (0..iterators.len()).map(|other| i64::from(axis == other)).collect())
            .collect();
        let at = |moved: &[i64]| along.iter().map(Vec::as_slice).zip(moved.iter().copied()).collect::<Vec<_>>();
        let read = |(of, back, up): &Reach| -> Read<'_> {
            (*of, at(&[-back].into_iter().chain(up.iter().map(|up| -up)).collect::<Vec<_>>()))
        };
        let rows: Vec<Vec<Read<'_>>> = self.reads.iter().map(|reads| reads.iter().map(read).collect()).collect();
        let borrowed: Vec<Vec<(usize, Rows)>> =
            rows.iter().map(|reads| reads.iter().map(|(of, rows)| (*of, rows.as_slice())).collect()).collect();
        let own = at(&vec![0; iterators.len()]);
        let statements: Vec<Statement> = (0..names.len())
            .map(|nest| Statement {
                name: &names[nest],
                iterators,
                domain: &domains[nest],
                write: (nest, &own),
                reads: &borrowed[nest],
            })
            .collect();
        let rank = iterators.len() as u32;
        let arrays: Vec<(String, u32)> = (0..names.len()).map(|nest| (format!("A{nest}"), rank)).collect();
        let arrays: Vec<(&str, u32)> = arrays.iter().map(|(name, rank)| (name.as_str(), *rank)).collect();
        let ids: Vec<u32> = (0..names.len() as u32).collect();
        let nest = |&id: &u32| {
            let dims = iterators.iter().enumerate().skip(1).rev();
            dims.fold(leaf(id), |body, (at, name)| for_loop(name, at as u32, &[id], body))
        };
        let nests = ids.iter().map(nest).collect::<Vec<_>>();
        let body = if nests.len() == 1 { nests[0].clone() } else { Node::Sequence(nests) };
        algorithm(ctx, &arrays, &statements, for_loop("t", 0, &ids, body))
    }
}

/// The names of so many dimensions.
fn dims(count: usize) -> Vec<String> {
    ["i", "j"][..count].iter().map(|name| name.to_string()).collect()
}

fn hexagons(height: u32, widths: &[u32]) -> Command {
    let (computations, loops) = (vec!["S0".to_string()], dims(widths.len()));
    Command::Hexagonal { computations, time: "t".into(), loops, height, widths: widths.to_vec() }
}

fn time_skew(steps: u32, widths: &[u32]) -> Command {
    let (computations, loops) = (vec!["S0".to_string()], dims(widths.len()));
    Command::TimeSkew { computations, time: "t".into(), loops, steps, widths: widths.to_vec() }
}

fn hexagonal(height: u32, width: u32) -> Command {
    hexagons(height, &[width])
}

fn run(ctx: &Ctx, start: &Scheduled, command: &Command) -> Result<Scheduled, Error> {
    let all = dependences(ctx, &start.algorithm).unwrap();
    apply(ctx, start, &all, command)
}

/// Hexagons of the least first width that is not refused, and so many points more.
fn least_hexagons(
    ctx: &Ctx,
    start: &Scheduled,
    height: u32,
    across: &[u32],
    more: u32,
) -> Result<Scheduled, TestCaseError> {
    let tiled = |first: u32| run(ctx, start, &hexagons(height, &[&[first], across].concat()));
    let mut width = 1;
    loop {
        let least = match tiled(width) {
            Err(Error::Schedule(ScheduleError::TileWidth { least, .. })) => u32::try_from(least).unwrap(),
            // Steps that nests share do not fit the height, and each nest's own step asks for more width.
            Err(Error::Schedule(ScheduleError::TileHeight { .. })) => width + 1,
            other => {
                other.unwrap();
                return Ok(tiled(width + more).unwrap());
            }
        };
        prop_assert!(least > width && least < 16);
        width = least;
    }
}

/// Fails unless the full hexagons of each phase are one set of points, moved, over a domain with room for several.
fn check_full_hexagons(
    ctx: &Ctx,
    stencil: &Random,
    height: u32,
    across: &[u32],
    more: u32,
) -> Result<(), TestCaseError> {
    let (rows, reach) = (2 * i64::from(height) + 2, stencil.reach());
    // No stencil needs a first width above its reach.
    let span = 2 * (reach + i64::from(more) + 2) + 2 * reach * i64::from(height);
    let across_tile = |&width: &u32| 2 * i64::from(width) + reach * rows;
    let points = [2 * span].into_iter().chain(across.iter().map(across_tile)).map(|extent| extent + 2 * reach);
    // Where nests share a step, as many rows are more steps of the time loop.
    let large = Random { steps: 2 * rows + 2, points: points.collect(), ..stencil.clone() };
    let start = scheduled(large.build(ctx), Target::Cpu);
    let tiled = least_hexagons(ctx, &start, height, across, more)?;
    prop_assert!(check_full_tiles(&large, &tiled, Tiles::Hexagons)? > 1, "no two tiles are full");
    Ok(())
}

/// Fails unless the full tiles of `time_skew` are one set of points, moved.
fn check_full_skewed(ctx: &Ctx, stencil: &Random, steps: u32, widths: &[u32]) -> Result<(), TestCaseError> {
    let lean = stencil.reach() * stencil.reads.len() as i64 * i64::from(steps);
    let points = widths.iter().map(|&width| 2 * (i64::from(width) + lean + stencil.reach() + 1));
    let large = Random { steps: 3 * i64::from(steps) + 2, points: points.collect(), ..stencil.clone() };
    let start = scheduled(large.build(ctx), Target::Cpu);
    let tiled = run(ctx, &start, &time_skew(steps, widths)).unwrap();
    prop_assert!(check_full_tiles(&large, &tiled, Tiles::Skewed)? > 1);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(12), ..ProptestConfig::default() })]

    #[test]
    fn hexagons_of_random_stencils_are_exact(stencil in random(1, 4, 9, 17), times in 1..3_u32, more in 0..3_u32) {
        let ctx = Ctx::new();
        let start = scheduled(stencil.build(&ctx), Target::Cpu);
        let height = (times * stencil.reads.len() as u32).max(2 * stencil.reads.len() as u32) - 1;
        check(&start, &least_hexagons(&ctx, &start, height, &[], 0)?)?;
        check(&start, &least_hexagons(&ctx, &start, height, &[], more)?)?;
        check_full_hexagons(&ctx, &stencil, height, &[], more)?;
    }

    #[test]
    fn skewed_tiles_of_random_stencils_are_exact(stencil in random(1, 4, 9, 17), steps in 1..4_u32, width in 1..9_u32) {
        let ctx = Ctx::new();
        let start = scheduled(stencil.build(&ctx), Target::Cpu);
        check(&start, &run(&ctx, &start, &time_skew(steps, &[width])).unwrap())?;
        check_full_skewed(&ctx, &stencil, steps, &[width])?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(6), ..ProptestConfig::default() })]

    #[test]
    fn hexagons_and_parallelograms_of_random_planes_are_exact(
        stencil in random_planes(), times in 1..3_u32, more in 0..3_u32, across in 1..6_u32,
    ) {
        let ctx = Ctx::new();
        let start = scheduled(stencil.build(&ctx), Target::Cpu);
        let nests = stencil.reads.len() as u32;
        let height = (if nests > 1 { nests } else { 2 * times }) - 1;
        check(&start, &least_hexagons(&ctx, &start, height, &[across], more)?)?;
        check_full_hexagons(&ctx, &stencil, height, &[across], more)?;
    }

    #[test]
    fn skewed_tiles_of_random_planes_are_exact(
        stencil in random_planes(), steps in 1..4_u32, first in 1..9_u32, second in 1..9_u32,
    ) {
        let ctx = Ctx::new();
        let start = scheduled(stencil.build(&ctx), Target::Cpu);
        check(&start, &run(&ctx, &start, &time_skew(steps, &[first, second])).unwrap())?;
        check_full_skewed(&ctx, &stencil, steps, &[first, second])?;
    }
}

#[test]
fn the_example_of_the_report_has_slopes_of_1_and_2() {
    let ctx = Ctx::new();
    let stencil = Random::line(&[&[(0, 2, 2), (0, 1, -2)]]);
    let start = scheduled(stencil.build(&ctx), Target::Cpu);
    // Condition (1) allows a width of 1, which is the least that can be asked for.
    run(&ctx, &start, &hexagonal(2, 1)).unwrap();
    let steep = Random::line(&[&[(0, 2, 3), (0, 1, -3)]]);
    let start = scheduled(steep.build(&ctx), Target::Cpu);
    let least = Hexagon::least_width(2, Slope::new(3, 2), Slope::new(3, 1));
    assert_eq!(least, 2);
    let said = match run(&ctx, &start, &hexagonal(2, 1)) {
        Err(Error::Schedule(ScheduleError::TileWidth { least, slopes, .. })) => (least, slopes),
        other => panic!("expected a refusal, got {other:?}"),
    };
    assert_eq!(said, (2, ["3/2".to_string(), "3".to_string()]));
}

#[test]
fn tiles_start_with_the_same_nest_or_are_refused() {
    let ctx = Ctx::new();
    let start = scheduled(jacobi(&ctx), Target::Cpu);
    let command = |height| Command::Hexagonal {
        computations: vec!["S".into(), "R".into()],
        time: "t".into(),
        loops: vec!["i".into()],
        height,
        widths: vec![2],
    };
    match run(&ctx, &start, &command(2)) {
        Err(Error::Schedule(ScheduleError::TileHeight { height: 2, nests: 2, .. })) => {}
        other => panic!("expected a refusal, got {other:?}"),
    }
    let tiled = run(&ctx, &start, &command(3)).unwrap();
    let names: BTreeSet<&str> = tiled.algorithm.computations.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["S", "R", "S_phase1", "R_phase1"]));
}

#[test]
fn nests_that_meet_at_one_point_only_share_a_step() {
    let ctx = Ctx::new();
    // The first two read the third's field of the step before; it reads both of theirs.
    let nests: [&[(usize, i64, i64)]; 3] =
        [&[(0, 1, 0), (2, 1, 0), (2, 1, 1)], &[(1, 1, 0), (2, 1, 0)], &[(2, 1, 0), (0, 0, -1), (1, 0, 0)]];
    let start = scheduled(Random::line(&nests).build(&ctx), Target::Cpu);
    // Two steps for each of the time loop: a height of 1 holds one of these.
    for height in [1, 3, 5] {
        check(&start, &run(&ctx, &start, &hexagonal(height, 2)).unwrap()).unwrap();
    }
    match run(&ctx, &start, &hexagonal(0, 2)) {
        Err(Error::Schedule(ScheduleError::TileHeight { height: 0, nests: 2, .. })) => {}
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn a_sweep_that_sees_its_own_writes_is_no_stencil_for_hexagons() {
    let ctx = Ctx::new();
    let statement = Statement {
        name: "S",
        iterators: &["t", "i"],
        domain: "{ S[t, i] : 1 <= t <= 6 and 2 <= i <= 12 }",
        write: (0, &[(&[0, 1], 0)]),
        reads: &[(0, &[(&[0, 1], -1)]), (0, &[(&[0, 1], 1)])],
    };
    let order = for_loop("t", 0, &[0], for_loop("i", 1, &[0], leaf(0)));
    let start = scheduled(algorithm(&ctx, &[("A", 1)], &[statement], order), Target::Cpu);
    let tile = |skewed| match skewed {
        false => Command::Hexagonal {
            computations: vec!["S".into()],
            time: "t".into(),
            loops: vec!["i".into()],
            height: 2,
            widths: vec![2],
        },
        true => Command::TimeSkew {
            computations: vec!["S".into()],
            time: "t".into(),
            loops: vec!["i".into()],
            steps: 2,
            widths: vec![3],
        },
    };
    match run(&ctx, &start, &tile(false)) {
        Err(Error::Schedule(ScheduleError::NotStencil { obstacle: StencilObstacle::Carried(violation), .. })) => {
            assert_eq!((violation.witness.source.clone(), violation.witness.sink.clone()), (vec![1, 2], vec![1, 3]));
        }
        other => panic!("expected a refusal, got {other:?}"),
    }
    check(&start, &run(&ctx, &start, &tile(true)).unwrap()).unwrap();
}
