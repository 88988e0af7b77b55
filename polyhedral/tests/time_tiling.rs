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
use tessella_polyhedral::transform::apply;

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

/// The array that a read is of, and its two rows: factors of the iterators, and what is added.
type Read<'a> = (usize, [(&'a [i64], i64); 2]);

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

/// A time loop whose nests write rows of arrays of their own, each from rows up to three steps back, or of nests before it in the
/// same step.
#[derive(Debug, Clone)]
struct Random {
    /// By nest: what it reads, as the nest that wrote it, the steps of the time loop back, and the distance in space.
    reads: Vec<Vec<(usize, i64, i64)>>,
    steps: i64,
    points: i64,
}

fn random() -> impl Strategy<Value = Random> {
    let nest = |count: usize| prop::collection::vec((0..count, 0..=3_i64, -4..=4_i64), 1..4);
    (1..=3_usize)
        .prop_flat_map(move |count| (prop::collection::vec(nest(count), count), 3..=9_i64, 1..=17_i64))
        .prop_map(|(mut reads, steps, points)| {
            for (nest, reads) in reads.iter_mut().enumerate() {
                // What is not written yet in this step was in the one before.
                reads.iter_mut().filter(|it| it.0 >= nest).for_each(|it| it.1 = it.1.max(1));
            }
            Random { reads, steps, points }
        })
}

impl Random {
    fn build(&self, ctx: &Ctx) -> Algorithm {
        let names: Vec<String> = (0..self.reads.len()).map(|nest| format!("S{nest}")).collect();
        let domains: Vec<String> = names
            .iter()
            .map(|name| format!("{{ {name}[t, i] : 4 <= t < {} and 5 <= i < {} }}", 4 + self.steps, 5 + self.points))
            .collect();
        let rows: Vec<Vec<Read<'_>>> = self
            .reads
            .iter()
            .map(|reads| {
                let row =
                    |&(of, back, up): &(usize, i64, i64)| (of, [([1, 0].as_slice(), -back), ([0, 1].as_slice(), -up)]);
                reads.iter().map(row).collect()
            })
            .collect();
        let borrowed: Vec<Vec<(usize, Rows)>> =
            rows.iter().map(|reads| reads.iter().map(|(of, rows)| (*of, rows.as_slice())).collect()).collect();
        let statements: Vec<Statement> = (0..names.len())
            .map(|nest| Statement {
                name: &names[nest],
                iterators: &["t", "i"],
                domain: &domains[nest],
                write: (nest, &[(&[1, 0], 0), (&[0, 1], 0)]),
                reads: &borrowed[nest],
            })
            .collect();
        let arrays: Vec<(String, u32)> = (0..names.len()).map(|nest| (format!("A{nest}"), 2)).collect();
        let arrays: Vec<(&str, u32)> = arrays.iter().map(|(name, rank)| (name.as_str(), *rank)).collect();
        let ids: Vec<u32> = (0..names.len() as u32).collect();
        let nests = ids.iter().map(|&id| for_loop("i", 1, &[id], leaf(id))).collect::<Vec<_>>();
        let body = if nests.len() == 1 { nests[0].clone() } else { Node::Sequence(nests) };
        algorithm(ctx, &arrays, &statements, for_loop("t", 0, &ids, body))
    }
}

fn hexagonal(height: u32, width: u32) -> Command {
    let computations = vec!["S0".to_string()];
    Command::Hexagonal { computations, time: "t".into(), loops: vec!["i".into()], height, widths: vec![width] }
}

fn run(ctx: &Ctx, start: &Scheduled, command: &Command) -> Result<Scheduled, Error> {
    let all = dependences(ctx, &start.algorithm).unwrap();
    apply(ctx, start, &all, command)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn hexagons_of_random_stencils_are_exact(stencil in random(), times in 1..3_u32, more in 0..3_u32) {
        let ctx = Ctx::new();
        let start = scheduled(stencil.build(&ctx), Target::Cpu);
        let height = (times * stencil.reads.len() as u32).max(2 * stencil.reads.len() as u32) - 1;
        // A width too small is refused with the least one, which is accepted.
        let mut width = 1;
        let tiled = match run(&ctx, &start, &hexagonal(height, width)) {
            Err(Error::Schedule(ScheduleError::TileWidth { least, .. })) => {
                prop_assert!(least > 1);
                width = u32::try_from(least).unwrap();
                run(&ctx, &start, &hexagonal(height, width)).unwrap()
            }
            other => other.unwrap(),
        };
        check(&start, &tiled)?;
        check(&start, &run(&ctx, &start, &hexagonal(height, width + more)).unwrap())?;
    }

    #[test]
    fn skewed_tiles_of_random_stencils_are_exact(stencil in random(), steps in 1..4_u32, width in 1..9_u32) {
        let ctx = Ctx::new();
        let start = scheduled(stencil.build(&ctx), Target::Cpu);
        let computations = vec!["S0".to_string()];
        let command = Command::TimeSkew { computations, time: "t".into(), loops: vec!["i".into()], steps, widths: vec![width] };
        check(&start, &run(&ctx, &start, &command).unwrap())?;
    }
}

#[test]
fn the_example_of_the_report_has_slopes_of_1_and_2() {
    let ctx = Ctx::new();
    let stencil = Random { reads: vec![vec![(0, 2, 2), (0, 1, -2)]], steps: 9, points: 17 };
    let start = scheduled(stencil.build(&ctx), Target::Cpu);
    // Condition (1) allows a width of 1, which is the least that can be asked for.
    run(&ctx, &start, &hexagonal(2, 1)).unwrap();
    let steep = Random { reads: vec![vec![(0, 2, 3), (0, 1, -3)]], steps: 9, points: 17 };
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
    let field = |reads: &[(usize, i64, i64)]| reads.to_vec();
    let nests = vec![
        field(&[(0, 1, 0), (2, 1, 0), (2, 1, 1)]),
        field(&[(1, 1, 0), (2, 1, 0)]),
        field(&[(2, 1, 0), (0, 0, -1), (1, 0, 0)]),
    ];
    let start = scheduled(Random { reads: nests, steps: 9, points: 17 }.build(&ctx), Target::Cpu);
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
