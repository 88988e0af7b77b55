//! Programs that repeat instances: accepted where they compute the source's values, refused with a witness where not.

mod common;

use common::{Statement, algorithm, apply, cases, for_loop, jacobi, leaf, scheduled};
use std::collections::{BTreeMap, HashMap};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Access, Algorithm, Array, ArrayId, ArrayKind, ComputationId};
use tessella_polyhedral::command::Command;
use tessella_polyhedral::error::{AtObstacle, Error, OverlapObstacle, ScheduleError};
use tessella_polyhedral::isl::{Ctx, Set};
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::recompute::{Mistake, Recomputation, Role, prove};
use tessella_polyhedral::schedule::{Node, Path};
use tessella_polyhedral::{dependence, transform};

/// `for i: T[i] = A[i]; for i: B[i] = T[i - 1] + T[i + 1]`, `T` an array of the function's own.
fn two_stages(ctx: &Ctx) -> Algorithm {
    let r = Statement {
        name: "R",
        iterators: &["i"],
        domain: "{ R[i] : 1 <= i <= n }",
        write: (1, &[(&[1], 0)]),
        reads: &[(0, &[(&[1], 0)])],
    };
    let s = Statement {
        name: "S",
        iterators: &["i"],
        domain: "{ S[i] : 2 <= i < n }",
        write: (2, &[(&[1], 0)]),
        reads: &[(1, &[(&[1], -1)]), (1, &[(&[1], 1)])],
    };
    let order = Node::Sequence(vec![for_loop("i", 0, &[0], leaf(0)), for_loop("i", 0, &[1], leaf(1))]);
    let mut all = algorithm(ctx, &[("A", 1), ("T", 1), ("B", 1)], &[r, s], order);
    all.arrays[1].kind = ArrayKind::Local { outer: 0 };
    all
}

fn go(ctx: &Ctx, start: &Scheduled, command: &Command) -> Result<Scheduled, Error> {
    let all = dependence::dependences(ctx, &start.algorithm)?;
    apply(ctx, start, &all, command)
}

fn split_then_compute(ctx: &Ctx, of: Algorithm) -> Result<Scheduled, Error> {
    let split =
        go(ctx, &scheduled(of, Target::Cpu), &Command::Split { computation: "S".into(), at: "i".into(), size: 4 })?;
    go(ctx, &split, &Command::ComputeAt { computation: "R".into(), reader: "S".into(), at: "i0".into() })
}

#[test]
fn values_are_computed_where_they_are_read() {
    let ctx = Ctx::new();
    let original = two_stages(&ctx);
    let made = split_then_compute(&ctx, original.clone()).unwrap();
    // R stands in the tile, and the tiles overlap by two.
    assert_eq!(made.algorithm.computations.len(), 2);
    let six = made.algorithm.arrays[3].extents[0].as_constant();
    assert_eq!(six, Some(6));
    let names: Vec<&str> =
        made.schedule.loops_around(ComputationId(0)).iter().map(|(_, it)| it.name.as_str()).collect();
    assert_eq!(names, ["i0", "i"]);
}

#[test]
fn a_value_that_is_left_out_is_found() {
    let ctx = Ctx::new();
    let original = two_stages(&ctx);
    let made = split_then_compute(&ctx, original.clone()).unwrap();
    let roles: Vec<Role> = original.ids().map(Role::Repeats).collect();
    let judge = |new: &Algorithm| {
        prove(&ctx, &Recomputation { original: &original, new, roles: &roles }).unwrap().map_err(|found| found.mistake)
    };
    assert_eq!(judge(&made.algorithm), Ok(()));
    // The last element of each tile's halo is not computed.
    let mut less = made.algorithm.clone();
    let domain = &less.computations[0].domain;
    let short = Set::from_text(&ctx, "[n] -> { R[i, i0] : i <= 4 * i0 + 5 }").unwrap();
    less.computations[0].domain = domain.intersect(&short).unwrap();
    assert_eq!(judge(&less), Err(Mistake::Value { computation: "S".into(), array: "T".into() }));
    // An instance that the source does not have.
    let mut more = made.algorithm.clone();
    let strangers = Set::from_text(&ctx, "[n] -> { R[i, i0] : i = 0 and i0 = 0 and n >= 4 }").unwrap();
    more.computations[0].domain = more.computations[0].domain.union(&strangers).unwrap();
    assert_eq!(judge(&more), Err(Mistake::Instance { computation: "R".into() }));
    // Another expression.
    let mut other = made.algorithm.clone();
    other.computations[0].value = other.computations[1].value.clone();
    assert_eq!(judge(&other), Err(Mistake::Expression { computation: "R".into() }));
    // An element of the result that is not computed.
    let mut open = made.algorithm.clone();
    let short = Set::from_text(&ctx, "[n] -> { S[i, o] : i <= n - 2 }").unwrap();
    open.computations[1].domain = open.computations[1].domain.intersect(&short).unwrap();
    assert_eq!(judge(&open), Err(Mistake::End { array: "B".into() }));
}

#[test]
fn what_nobody_wrote_is_not_computed() {
    let ctx = Ctx::new();
    let mut original = two_stages(&ctx);
    original.computations[0].domain = Set::from_text(&ctx, "[n] -> { R[i] : 2 <= i <= n }").unwrap();
    let refused = split_then_compute(&ctx, original).unwrap_err();
    let obstacle = AtObstacle::NotWritten { reader: ComputationId(1) };
    let expected = ScheduleError::CannotComputeAt { computation: "R".into(), at: "i0".into(), obstacle };
    assert_eq!(refused, Error::Schedule(expected));
}

#[test]
fn what_changes_in_between_is_seen() {
    let ctx = Ctx::new();
    // S overwrites A, which the next tile's R reads.
    let mut original = two_stages(&ctx);
    original.computations[1].write.array = original.computations[0].reads[0].array;
    match split_then_compute(&ctx, original).unwrap_err() {
        Error::Schedule(ScheduleError::OtherValues(found)) => {
            assert_eq!(found.mistake, Mistake::Value { computation: "R".into(), array: "A".into() });
            // The smallest: the second tile reads at 5 what the first overwrote.
            assert_eq!(found.at, [5, 1]);
        }
        other => panic!("{other:?}"),
    }
}

/// What stands for a value: an element that nobody wrote, or an instance of the source and what it read.
type Value = u64;

fn hash(parts: impl std::hash::Hash) -> Value {
    use std::hash::Hasher;
    let mut state = std::collections::hash_map::DefaultHasher::new();
    parts.hash(&mut state);
    state.finish()
}

/// Runs all instances in the algorithm's own order for a size, and gives what the arguments hold at the end. Values are
/// told apart by how they came about; `lengths` are the numbers of iterators that the source's computations have, and the
/// computations after them copy.
fn executed(of: &Algorithm, lengths: &[usize], n: i64) -> BTreeMap<(String, Vec<i64>), Value> {
    let mut instances: Vec<(Vec<i64>, ComputationId, Vec<i64>)> = vec![];
    let depth = of.ids().map(|id| of.source_order.path_of(id).unwrap().0.len()).max().unwrap();
    for id in of.ids() {
        let path = of.source_order.path_of(id).unwrap();
        let name = of.param_names().remove(0);
        let here = of.computation(id).domain.intersect_params(&of.context).unwrap();
        let fixed = Set::from_text(of.context.ctx(), &format!("[{name}] -> {{ : {name} = {n} }}")).unwrap();
        for point in here.intersect_params(&fixed).unwrap().project_out_all_params().unwrap().points().unwrap() {
            let values = point.coordinates().unwrap();
            let mut time: Vec<i64> = (0..path.0.len())
                .map(|level| match of.source_order.node(&Path(path.0[..level].to_vec())) {
                    Some(Node::Loop(it)) => it.at[&id].evaluate(&values, &[n]).unwrap(),
                    _ => path.0[level] as i64,
                })
                .collect();
            time.resize(depth, 0);
            instances.push((time, id, values));
        }
    }
    instances.sort();
    let mut memory: HashMap<(ArrayId, Vec<i64>), Value> = HashMap::new();
    for (_, id, values) in instances {
        let it = of.computation(id);
        let element = |access: &Access| -> (ArrayId, Vec<i64>) {
            let subscript = |affine: &tessella_polyhedral::algorithm::Subscript| {
                affine.as_affine().unwrap().evaluate(&values, &[n]).unwrap()
            };
            (access.array, access.subscripts.iter().map(subscript).collect())
        };
        let read: Vec<Value> = it
            .reads
            .iter()
            .map(&element)
            .map(|at| memory.get(&at).copied().unwrap_or_else(|| hash(("old", at.0.0, at.1))))
            .collect();
        let value = match lengths.get(id.0 as usize) {
            Some(&length) => hash((id.0, &values[..length], &read)),
            None => read[0],
        };
        memory.insert(element(&it.write), value);
    }
    let seen = memory.into_iter().filter(|((array, _), _)| of.array(*array).kind == ArrayKind::Argument);
    // An element that holds what it held before may have been copied back or left alone.
    let changed = seen.filter(|((array, at), value)| *value != hash(("old", array.0, at)));
    changed.map(|((array, at), value)| ((of.array(array).name.clone(), at), value)).collect()
}

fn lengths(of: &Algorithm) -> Vec<usize> {
    of.computations.iter().map(|it| it.iterators.len()).collect()
}

fn overlapped(steps: u32, size: u32) -> Command {
    Command::Overlapped { computation: "S".into(), time: "t".into(), loops: vec!["i".into()], steps, sizes: vec![size] }
}

/// The tiles of `jacobi` before they are proved, and what proves them.
fn tiles(ctx: &Ctx) -> (Algorithm, Algorithm, Vec<Role>) {
    let original = jacobi(ctx);
    let start = scheduled(original.clone(), Target::Cpu);
    let (made, roles) = transform::overlapped_unproved(ctx, &start, "S", "t", &["i".into()], 3, &[4]).unwrap();
    let original = Algorithm { context: made.algorithm.context.clone(), ..original };
    (original, made.algorithm, roles)
}

#[test]
fn overlapping_tiles_compute_what_the_source_does() {
    let ctx = Ctx::new();
    let original = jacobi(&ctx);
    let made = go(&ctx, &scheduled(original.clone(), Target::Cpu), &overlapped(3, 4)).unwrap();
    for n in 0..=13 {
        assert_eq!(
            executed(&made.algorithm, &lengths(&original), n),
            executed(&original, &lengths(&original), n),
            "n = {n}"
        );
    }
}

#[test]
fn steps_that_count_down_overlap() {
    let ctx = Ctx::new();
    let mut original = jacobi(&ctx);
    // S says which step it is.
    let step = original.computations[0].reads[0].clone();
    original.computations[0].reads[0].subscripts = vec![Affine::iterator(0).into()];
    original.computations[0].reads[0].array = ArrayId(2);
    original.arrays.push(Array { name: "C".into(), ..original.array(step.array).clone() });
    let Node::Loop(time) = &mut original.source_order.root else { panic!("the loop over time is the outermost") };
    time.at.values_mut().for_each(|at| *at = at.scale(-1).unwrap());
    let made = go(&ctx, &scheduled(original.clone(), Target::Cpu), &overlapped(3, 4)).unwrap();
    for n in 0..=13 {
        assert_eq!(
            executed(&made.algorithm, &lengths(&original), n),
            executed(&original, &lengths(&original), n),
            "n = {n}"
        );
    }
}

#[test]
fn the_proof_of_tiles_looks_for_no_last_writes() {
    let ctx = Ctx::new();
    let (original, new, roles) = tiles(&ctx);
    let before = ctx.spent();
    prove(&ctx, &Recomputation { original: &original, new: &new, roles: &roles }).unwrap().unwrap();
    let taken = ctx.spent() - before;
    // To look for the last writes takes 260,000.
    assert!(taken < 200_000, "{taken} operations");
}

/// `jacobi`, and a source in the point 6 after each step: `P: A[6] = A[6]`.
fn with_a_source(ctx: &Ctx) -> Algorithm {
    let inner = |name, write, reads| Statement {
        name,
        iterators: &["t", "i"],
        domain: if name == "S" {
            "{ S[t, i] : 1 <= t <= 10 and 2 <= i < n }"
        } else {
            "{ R[t, i] : 1 <= t <= 10 and 2 <= i < n }"
        },
        write: (write, &[(&[0, 1], 0)]),
        reads,
    };
    let s = inner("S", 1, &[(0, &[(&[0, 1], -1)]), (0, &[(&[0, 1], 0)]), (0, &[(&[0, 1], 1)])]);
    let r = inner("R", 0, &[(1, &[(&[0, 1], 0)])]);
    let p = Statement {
        name: "P",
        iterators: &["t"],
        domain: "{ P[t] : 1 <= t <= 10 and n >= 7 }",
        write: (0, &[(&[0], 6)]),
        reads: &[(0, &[(&[0], 6)])],
    };
    let steps = Node::Sequence(vec![for_loop("i", 1, &[0], leaf(0)), for_loop("i", 1, &[1], leaf(1)), leaf(2)]);
    algorithm(ctx, &[("A", 1), ("B", 1)], &[s, r, p], for_loop("t", 0, &[0, 1, 2], steps))
}

#[test]
fn the_proof_finds_tiles_that_leave_out_what_another_statement_writes_over() {
    let ctx = Ctx::new();
    let original = with_a_source(&ctx);
    let start = scheduled(original.clone(), Target::Cpu);
    let (made, roles) = transform::overlapped_unproved(&ctx, &start, "S", "t", &["i".into()], 3, &[4]).unwrap();
    let original = Algorithm { context: made.algorithm.context.clone(), ..original };
    let judge = |new: &Algorithm| {
        prove(&ctx, &Recomputation { original: &original, new, roles: &roles }).unwrap().map_err(|found| found.mistake)
    };
    assert_eq!(judge(&made.algorithm), Ok(()));
    let without = |points: &str| {
        let mut new = made.algorithm.clone();
        let it = &mut new.computations[2];
        it.domain = it.domain.subtract(&Set::from_text(&ctx, points).unwrap()).unwrap();
        judge(&new)
    };
    // The tile 2..5 has the source in its halo, in all steps but the last of a block.
    assert!(matches!(without("[n] -> { P[t, t0, 0] }"), Err(Mistake::Value { .. })));
    assert!(matches!(without("[n] -> { P[5, 1, 0] }"), Err(Mistake::Value { .. })));
    // What no step reads any more.
    assert_eq!(without("[n] -> { P[t, t0, 0] : t = 3t0 + 3 }"), Ok(()));
    assert!(without("[n] -> { P[t, t0, 1] : t = 3t0 + 3 }").is_err());
}

#[test]
fn the_proof_finds_what_is_wrong_with_tiles() {
    let ctx = Ctx::new();
    let (original, new, roles) = tiles(&ctx);
    let judge = |new: &Algorithm| {
        prove(&ctx, &Recomputation { original: &original, new, roles: &roles }).unwrap().map_err(|found| found.mistake)
    };
    assert_eq!(judge(&new), Ok(()));
    let find = |name: &str| new.find(name).unwrap().0 as usize;

    // A halo that is one too small on one side: S runs one element less below the tile in each step but the last.
    let mut small = new.clone();
    let domain = &small.computations[find("S")].domain;
    let cut =
        Set::from_text(&ctx, "[n] -> { S[t, i, t0, i0] : i >= 4i0 + 2 - (3t0 + 3 - t) + 1 or t = 3t0 + 3 }").unwrap();
    small.computations[find("S")].domain = domain.intersect(&cut).unwrap();
    assert!(matches!(judge(&small), Err(Mistake::Value { .. })), "{:?}", judge(&small));

    // The final copy back is missing.
    let mut open = new.clone();
    let it = &mut open.computations[find("finish_A")];
    it.domain = it.domain.subtract(&it.domain).unwrap();
    // Ten steps are four blocks, an even number: nothing is to be copied back, and nothing was.
    assert_eq!(judge(&open), Ok(()));
    let mut lost = new.clone();
    let it = &mut lost.computations[find("store_B")];
    it.domain = it.domain.subtract(&it.domain).unwrap();
    assert_eq!(judge(&lost), Err(Mistake::End { array: "B".into() }));

    // Blocks read the array that they should write.
    let mut parity = new.clone();
    let (one, other) = (find("load_A"), find("load_A_"));
    let (read, swapped) = (parity.computations[one].reads.clone(), parity.computations[other].reads.clone());
    parity.computations[one].reads = swapped;
    parity.computations[other].reads = read;
    assert!(matches!(judge(&parity), Err(Mistake::Value { .. })), "{:?}", judge(&parity));

    // Each block loads what the odd ones should on top of the rest.
    let mut twice = new.clone();
    let both = twice.computations[one].domain.set_tuple_id(&twice.computations[other].domain.tuple_id().unwrap());
    let it = &mut twice.computations[other];
    it.domain = it.domain.union(&both.unwrap()).unwrap();
    assert!(matches!(judge(&twice), Err(Mistake::Value { .. })), "{:?}", judge(&twice));

    // The last step of each block is not copied back.
    let mut again = new.clone();
    let it = &mut again.computations[find("R")];
    let late = Set::from_text(&ctx, "[n] -> { R[t, i, t0, i0] : t <= 3t0 + 2 }").unwrap();
    it.domain = it.domain.intersect(&late).unwrap();
    assert!(judge(&again).is_err());

    // A copy that claims another moment.
    let mut late = roles.clone();
    if let Role::Copies(snapshot) = &mut late[one] {
        snapshot.moment = snapshot.moment.iter().map(|step| step.add_constant(1).unwrap()).collect();
    }
    let judged = prove(&ctx, &Recomputation { original: &original, new: &new, roles: &late }).unwrap();
    assert!(matches!(judged.unwrap_err().mistake, Mistake::Value { .. }));
}

#[test]
fn steps_whose_values_build_on_one_another_are_refused() {
    let ctx = Ctx::new();
    let s = Statement {
        name: "S",
        iterators: &["t", "i"],
        domain: "{ S[t, i] : 1 <= t <= 10 and 2 <= i < n }",
        write: (0, &[(&[0, 1], 0)]),
        reads: &[(0, &[(&[0, 1], -1)]), (0, &[(&[0, 1], 1)])],
    };
    let order = for_loop("t", 0, &[0], for_loop("i", 1, &[0], leaf(0)));
    let seidel = algorithm(&ctx, &[("A", 1)], &[s], order);
    let refused = go(&ctx, &scheduled(seidel, Target::Cpu), &overlapped(3, 8)).unwrap_err();
    let obstacle = OverlapObstacle::WithinStep;
    assert_eq!(
        refused,
        Error::Schedule(ScheduleError::CannotOverlap { computation: "S".into(), at: "t".into(), obstacle })
    );
}

/// Random stencils in one dimension: offsets on both sides, one or two arrays that are read, old and new values.
#[test]
fn random_stencils_keep_their_values_in_overlapping_tiles() {
    let mut state = 20_251_121_u64;
    let mut random = |below: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as i64).rem_euclid(below)
    };
    for _ in 0..12 {
        let ctx = Ctx::new();
        let along: [i64; 2] = [0, 1];
        let rows = |offset: i64| vec![(&along[..], offset)];
        let mut first: Vec<_> = (0..=random(3)).map(|_| (0, rows(random(7) - 3))).collect();
        if random(2) == 0 {
            first.push((1, rows(0)));
        }
        // The second statement reads what it overwrites only where it writes.
        let second: Vec<_> =
            (0..=random(2)).map(|_| if random(2) == 0 { (0, rows(0)) } else { (1, rows(random(5) - 2)) }).collect();
        let (total, steps, size) = (1 + random(8), 1 + random(4) as u32, 1 + random(8) as u32);
        let domains = ["S", "R"].map(|name| format!("{{ {name}[t, i] : 1 <= t <= {total} and 4 <= i <= n - 3 }}"));
        let first: Vec<_> = first.iter().map(|(array, rows)| (*array, &rows[..])).collect();
        let second: Vec<_> = second.iter().map(|(array, rows)| (*array, &rows[..])).collect();
        let iterators = &["t", "i"];
        let s = Statement { name: "S", iterators, domain: &domains[0], write: (1, &[(&[0, 1], 0)]), reads: &first };
        let r = Statement { name: "R", iterators, domain: &domains[1], write: (0, &[(&[0, 1], 0)]), reads: &second };
        let sweeps = Node::Sequence(vec![for_loop("i", 1, &[0], leaf(0)), for_loop("i", 1, &[1], leaf(1))]);
        let original = algorithm(&ctx, &[("A", 1), ("B", 1)], &[s, r], for_loop("t", 0, &[0, 1], sweeps));
        let made = go(&ctx, &scheduled(original.clone(), Target::Cpu), &overlapped(steps, size));
        let made = made.unwrap_or_else(|error| panic!("{first:?} {second:?} {steps} {size}: {error:?}"));
        for n in [6, 7, 8, 11, 17] {
            let (new, old) =
                (executed(&made.algorithm, &lengths(&original), n), executed(&original, &lengths(&original), n));
            assert_eq!(new, old, "{first:?} {second:?}, {total} steps in blocks of {steps}, tiles of {size}, n = {n}");
        }
    }
}

/// The same in two dimensions, of radius 1 to 4.
#[test]
fn random_stencils_of_planes_keep_their_values_in_overlapping_tiles() {
    let mut state = 20_251_125_u64;
    let mut random = |below: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as i64).rem_euclid(below)
    };
    for case in 0..i64::from(cases(4)) {
        let ctx = Ctx::new();
        let reach = 1 + case % 4;
        let rows = |i: i64, j: i64| -> [(&[i64], i64); 2] { [(&[0, 1, 0], i), (&[0, 0, 1], j)] };
        let mut beside = |reach: i64| rows(random(2 * reach + 1) - reach, random(2 * reach + 1) - reach);
        let mut first = vec![(0, beside(reach)), (0, beside(reach)), (0, beside(reach))];
        // The second statement reads what it overwrites only where it writes.
        let mut second = vec![(1, beside(1))];
        match case % 3 {
            0 => first.push((1, beside(0))),
            1 => second.push((0, beside(0))),
            _ => {}
        }
        let (total, steps, sizes) =
            (1 + random(4), 1 + random(2) as u32, vec![1 + random(5) as u32, 1 + random(5) as u32]);
        let told = format!("{first:?} {second:?}, {total} steps in blocks of {steps}, tiles of {sizes:?}");
        let domains = ["S", "R"]
            .map(|name| format!("{{ {name}[t, i, j] : 1 <= t <= {total} and 5 <= i <= n - 4 and 5 <= j <= n - 4 }}"));
        let first: Vec<_> = first.iter().map(|(array, rows)| (*array, &rows[..])).collect();
        let second: Vec<_> = second.iter().map(|(array, rows)| (*array, &rows[..])).collect();
        let (iterators, own) = (&["t", "i", "j"], rows(0, 0));
        let s = Statement { name: "S", iterators, domain: &domains[0], write: (1, &own), reads: &first };
        let r = Statement { name: "R", iterators, domain: &domains[1], write: (0, &own), reads: &second };
        let sweep = |id: u32| for_loop("i", 1, &[id], for_loop("j", 2, &[id], leaf(id)));
        let sweeps = Node::Sequence(vec![sweep(0), sweep(1)]);
        let original = algorithm(&ctx, &[("A", 2), ("B", 2)], &[s, r], for_loop("t", 0, &[0, 1], sweeps));
        let (computation, time, loops) = ("S".into(), "t".into(), vec!["i".into(), "j".into()]);
        let command = Command::Overlapped { computation, time, loops, steps, sizes };
        let made = go(&ctx, &scheduled(original.clone(), Target::Cpu), &command);
        let made = made.unwrap_or_else(|error| panic!("{told}: {error:?}"));
        for n in [8, 9, 10, 14, 17] {
            let (new, old) =
                (executed(&made.algorithm, &lengths(&original), n), executed(&original, &lengths(&original), n));
            assert_eq!(new, old, "{told}, n = {n}");
        }
    }
}
