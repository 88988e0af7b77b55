//! Which works of a kernel cross, against enumeration, and the proof that no barrier is missing.

mod common;

use common::{Statement, affine, algorithm, leaf};
use std::collections::BTreeMap;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Algorithm, ArrayId, ComputationId};
use tessella_polyhedral::barriers::course::{Course, Gap, prove, prove_again};
use tessella_polyhedral::barriers::crossing::{Crossings, Reach, Runs, Stores, Thread, Work, WorkId};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Buffer, BufferId, Layout, Lifetime, MemorySpace, Placement};
use tessella_polyhedral::schedule::{Node, Path, ProcessorAxis};
use tessella_scalar::ScalarType;

/// The extent of both iterators of all statements.
const SIDE: i64 = 6;

type Row = (&'static [i64], i64);

/// A statement that writes one element and reads another, by their subscripts.
struct Case {
    write: (usize, &'static [Row]),
    read: (usize, &'static [Row]),
}

const I: Row = (&[1, 0], 0);
const J: Row = (&[0, 1], 0);

fn program(ctx: &Ctx, cases: &[Case]) -> Algorithm {
    let names = ["S0", "S1", "S2", "S3"];
    let domains: Vec<String> =
        (names.iter()).map(|name| format!("{{ {name}[i, j] : 0 <= i < {SIDE} and 0 <= j < {SIDE} }}")).collect();
    let reads: Vec<[(usize, &[Row]); 1]> = cases.iter().map(|it| [it.read]).collect();
    let statements: Vec<Statement> = (cases.iter().zip(&reads).enumerate())
        .map(|(at, (case, reads))| Statement {
            name: names[at],
            iterators: &["i", "j"],
            domain: &domains[at],
            write: case.write,
            reads,
        })
        .collect();
    let order = Node::Sequence((0..cases.len()).map(|at| leaf(at as u32)).collect());
    algorithm(ctx, &[("A", 2), ("B", 2), ("C", 2)], &statements, order)
}

/// Each array in a buffer of its own, where it is not said otherwise.
fn layout(space: MemorySpace, other: &[(usize, Placement)]) -> Layout {
    let buffers = (0..3).map(|at| Buffer {
        name: format!("b{at}"),
        element: ScalarType::F64,
        extents: vec![Affine::constant(4 * SIDE); 2],
        space,
        lifetime: Lifetime::Call,
    });
    let own = |at: u32| Placement { buffer: BufferId(at), map: vec![Affine::iterator(0), Affine::iterator(1)] };
    let mut placements: BTreeMap<ArrayId, Placement> = (0..3).map(|at| (ArrayId(at), own(at))).collect();
    placements.extend(other.iter().map(|(at, placement)| (ArrayId(*at as u32), placement.clone())));
    Layout { buffers: buffers.collect(), placements, streams: vec![], ahead: vec![] }
}

/// The work of the thread with these indices, within one value of each of `within`.
fn on_threads(computation: u32, along: &[Affine], within: &[Affine]) -> Work {
    let axes = [ProcessorAxis::X, ProcessorAxis::Y, ProcessorAxis::Z];
    let thread = Thread {
        along: axes.into_iter().zip(along.iter().cloned()).collect(),
        within: within.iter().enumerate().map(|(at, value)| (Path(vec![at]), value.clone())).collect(),
    };
    Work { computation: ComputationId(computation), reads: vec![0], stores: Stores::Yes, runs: Runs::Thread(thread) }
}

/// Whether works cross, by enumeration.
fn enumerated(algorithm: &Algorithm, layout: &Layout, first: &Work, second: &Work) -> bool {
    let (Runs::Thread(one), Runs::Thread(other)) = (&first.runs, &second.runs) else { return true };
    let points = || (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| [i, j]));
    let values = |all: &mut dyn Iterator<Item = &Affine>, at: &[i64]| -> Vec<i64> {
        all.map(|it| it.evaluate(at, &[SIDE]).unwrap()).collect()
    };
    let touched = |work: &Work, at: &[i64; 2]| -> Vec<(BufferId, Vec<i64>, bool)> {
        let it = algorithm.computation(work.computation);
        let accesses = [(&it.write, true)].into_iter().chain(it.reads.iter().map(|read| (read, false)));
        let place = accesses.map(|(access, writes)| {
            let subscripts = values(&mut access.subscripts.iter().map(|it| it.as_affine().unwrap()), at);
            let placement = layout.placement(access.array);
            (placement.buffer, values(&mut placement.map.iter(), &subscripts), writes)
        });
        place.collect()
    };
    points().any(|x| {
        points().any(|y| {
            let one_block = values(&mut one.within.values(), &x) == values(&mut other.within.values(), &y);
            let apart = values(&mut one.along.values(), &x) != values(&mut other.along.values(), &y);
            let meets = touched(first, &x).iter().any(|(buffer, element, writes)| {
                let same = |(b, e, w): &(BufferId, Vec<i64>, bool)| b == buffer && e == element && (*w || *writes);
                touched(second, &y).iter().any(same)
            });
            one_block && apart && meets
        })
    })
}

fn crosses(algorithm: &Algorithm, layout: &Layout, first: &Work, second: &Work) -> bool {
    let mut crossings = Crossings::new(algorithm, layout, None, Reach::Block);
    let (a, b) = (crossings.add(first.clone()), crossings.add(second.clone()));
    assert_eq!(crossings.cross(a, b), crossings.cross(b, a));
    crossings.cross(a, b)
}

/// `B[i, j]` from `A[i, j]`, then `C[i, j]` from an element of `B`.
fn producer_and_consumer(ctx: &Ctx, read: &'static [Row]) -> Algorithm {
    program(ctx, &[Case { write: (1, &[I, J]), read: (0, &[I, J]) }, Case { write: (2, &[I, J]), read: (1, read) }])
}

fn i() -> Affine {
    affine(&[1, 0], 0)
}

fn j() -> Affine {
    affine(&[0, 1], 0)
}

#[test]
fn what_a_thread_wrote_itself_does_not_cross() {
    let ctx = Ctx::new();
    let algorithm = producer_and_consumer(&ctx, &[I, J]);
    let layout = layout(MemorySpace::Shared, &[]);
    assert!(!crosses(&algorithm, &layout, &on_threads(0, &[i(), j()], &[]), &on_threads(1, &[i(), j()], &[])));
    assert!(!crosses(&algorithm, &layout, &on_threads(0, &[i()], &[]), &on_threads(1, &[i()], &[])));
    // One thread does all.
    let first = Affine::constant(0);
    let alone = |at: u32| on_threads(at, std::slice::from_ref(&first), &[]);
    assert!(!crosses(&algorithm, &layout, &alone(0), &alone(1)));
}

#[test]
fn what_other_threads_wrote_crosses() {
    let ctx = Ctx::new();
    let layout = layout(MemorySpace::Shared, &[]);
    let rows: [&'static [Row]; 3] = [&[(&[1, 0], 1), J], &[J, I], &[(&[0, 0], 2), J]];
    for read in rows {
        let algorithm = producer_and_consumer(&ctx, read);
        assert!(crosses(&algorithm, &layout, &on_threads(0, &[i(), j()], &[]), &on_threads(1, &[i(), j()], &[])));
    }
    // Another thread runs the second loop's iterations.
    let algorithm = producer_and_consumer(&ctx, &[I, J]);
    let first = on_threads(0, &[i(), j()], &[]);
    let others = [[j(), i()], [affine(&[1, 0], 1), j()], [affine(&[-1, 0], SIDE - 1), j()], [i().floor_div(2), j()]];
    for along in others {
        assert!(crosses(&algorithm, &layout, &first, &on_threads(1, &along, &[])), "{along:?}");
    }
    let alone = on_threads(1, &[Affine::constant(0), Affine::constant(0)], &[]);
    assert!(crosses(&algorithm, &layout, &first, &alone));
    // Other axes, or nobody knows which.
    assert!(crosses(&algorithm, &layout, &first, &on_threads(1, &[i()], &[])));
    assert!(crosses(&algorithm, &layout, &first, &Work { runs: Runs::Anyone, ..alone }));
}

#[test]
fn registers_and_other_blocks_do_not_cross() {
    let ctx = Ctx::new();
    let algorithm = producer_and_consumer(&ctx, &[(&[1, 0], 2), J]);
    let (first, second) = (on_threads(0, &[i()], &[]), on_threads(1, &[i()], &[]));
    assert!(!crosses(&algorithm, &layout(MemorySpace::Register, &[]), &first, &second));
    // Blocks of two rows: what is two rows further is another block's.
    let tile = |at: u32| on_threads(at, &[i().modulo(2).unwrap(), j()], &[i().floor_div(2)]);
    assert!(!crosses(&algorithm, &layout(MemorySpace::Global, &[]), &tile(0), &tile(1)));
    let without = |at: u32| on_threads(at, &[i().modulo(2).unwrap(), j()], &[]);
    // The same thread of another block.
    assert!(!crosses(&algorithm, &layout(MemorySpace::Global, &[]), &without(0), &without(1)));
    let skewed = |at: u32| on_threads(at, &[i().floor_div(2), j()], &[]);
    assert!(crosses(&algorithm, &layout(MemorySpace::Global, &[]), &skewed(0), &skewed(1)));
}

#[test]
fn arrays_that_share_a_buffer_cross_where_their_elements_do() {
    let ctx = Ctx::new();
    // `B` from `A`, `C` from `A`: only their buffer joins them.
    let algorithm = program(
        &ctx,
        &[Case { write: (1, &[I, J]), read: (0, &[I, J]) }, Case { write: (2, &[I, J]), read: (0, &[I, J]) }],
    );
    let moved = |by: i64| Placement {
        buffer: BufferId(1),
        map: vec![Affine::iterator(0).add_constant(by).unwrap(), Affine::iterator(1)],
    };
    let works = |at: u32| on_threads(at, &[i(), j()], &[]);
    for (by, expected) in [(0, false), (1, true), (SIDE - 1, true), (SIDE, false)] {
        let layout = layout(MemorySpace::Shared, &[(2, moved(by))]);
        assert_eq!(crosses(&algorithm, &layout, &works(0), &works(1)), expected, "{by}");
    }
    // Two rows, used in turn: rows of one place belong to several threads.
    let turns =
        Placement { buffer: BufferId(1), map: vec![Affine::iterator(0).modulo(2).unwrap(), Affine::iterator(1)] };
    let layout = layout(MemorySpace::Shared, &[(1, turns)]);
    assert!(crosses(&algorithm, &layout, &works(0), &works(0)));
    assert!(!crosses(&algorithm, &layout, &on_threads(0, &[j()], &[]), &on_threads(0, &[j()], &[])));
}

#[test]
fn crossings_are_those_of_an_enumeration() {
    let ctx = Ctx::new();
    let rows: [&'static [Row]; 5] =
        [&[I, J], &[J, I], &[(&[1, 0], -1), J], &[(&[1, 1], 0), J], &[(&[0, 0], 3), (&[0, 1], 1)]];
    let along =
        [vec![i(), j()], vec![i().modulo(3).unwrap(), j()], vec![affine(&[1, 1], 0)], vec![j().floor_div(2), i()]];
    let within = [vec![], vec![i().floor_div(3)]];
    let (mut yes, mut no) = (0, 0);
    for write in rows {
        for read in rows {
            let algorithm = program(
                &ctx,
                &[Case { write: (1, write), read: (0, &[I, J]) }, Case { write: (2, &[I, J]), read: (1, read) }],
            );
            let turns = Placement {
                buffer: BufferId(1),
                map: vec![Affine::iterator(0).modulo(4).unwrap(), Affine::iterator(1)],
            };
            for layout in [layout(MemorySpace::Shared, &[]), layout(MemorySpace::Shared, &[(1, turns)])] {
                for (one, other) in along.iter().flat_map(|one| along.iter().map(move |other| (one, other))) {
                    for within in &within {
                        let (a, b) = (on_threads(0, one, within), on_threads(1, other, within));
                        for (a, b) in [(&a, &b), (&a, &a)] {
                            let found = crosses(&algorithm, &layout, a, b);
                            if one.len() == other.len() || a == b {
                                let expected = enumerated(&algorithm, &layout, a, b);
                                assert_eq!(found, expected, "{write:?} {read:?} {a:?} {b:?}");
                            }
                            *(if found { &mut yes } else { &mut no }) += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(yes > 100 && no > 100, "{yes} {no}");
}

/// A kernel whose threads write `B`, read their neighbours' elements of it, and copy their own of `C`: what each step does, and all
/// of it.
fn three_steps(check: impl Fn(&Crossings<'_>, [WorkId; 3])) {
    let ctx = Ctx::new();
    let algorithm = program(
        &ctx,
        &[
            Case { write: (1, &[I, J]), read: (0, &[I, J]) },
            Case { write: (2, &[I, J]), read: (1, &[(&[1, 0], 1), J]) },
            Case { write: (0, &[I, J]), read: (2, &[I, J]) },
        ],
    );
    let layout = layout(MemorySpace::Shared, &[]);
    let mut crossings = Crossings::new(&algorithm, &layout, None, Reach::Block);
    let works = [0, 1, 2].map(|at| crossings.add(on_threads(at, &[i(), j()], &[])));
    check(&crossings, works);
}

fn gap(first: u32, second: u32) -> Result<(), Gap> {
    Err(Gap { first: ComputationId(first), second: ComputationId(second) })
}

#[test]
fn a_course_without_a_barrier_that_is_needed_is_refused() {
    three_steps(|crossings, [write, read, own]| {
        let step = |work: WorkId| Course::Step(vec![work]);
        let whole = [step(write), Course::Barrier, step(read), step(own)];
        assert_eq!(prove(crossings, &whole), Ok(()));
        assert_eq!(prove(crossings, &[step(write), step(read), step(own)]), gap(0, 1));
        // What does not cross stands between.
        assert_eq!(prove(crossings, &[step(write), step(own), step(read)]), gap(0, 1));
        // All in one step: its threads are each on their own.
        assert_eq!(prove(crossings, &[Course::Step(vec![write, read, own])]), Ok(()));
        // Loops bring the last step before the first.
        assert_eq!(prove(crossings, &[Course::Loop(whole.to_vec())]), gap(1, 0));
        let closed = [whole.as_slice(), &[Course::Barrier]].concat();
        assert_eq!(prove(crossings, &[Course::Loop(closed.clone())]), Ok(()));
        let open = [&[Course::Barrier], whole.as_slice()].concat();
        assert_eq!(prove(crossings, &[Course::Loop(open)]), Ok(()));
        assert_eq!(prove(crossings, &[Course::Loop(vec![Course::Loop(closed)])]), Ok(()));
        // A loop may have no iteration.
        let around = |inner: Course| vec![step(write), inner, step(read)];
        assert_eq!(prove(crossings, &around(Course::Loop(vec![Course::Barrier]))), gap(0, 1));
    });
}

#[test]
fn a_barrier_on_one_of_two_ways_is_none() {
    three_steps(|crossings, [write, read, own]| {
        let step = |work: WorkId| Course::Step(vec![work]);
        let around =
            |then: Vec<Course>, otherwise: Vec<Course>| vec![step(write), Course::Either(then, otherwise), step(read)];
        assert_eq!(prove(crossings, &around(vec![Course::Barrier], vec![])), gap(0, 1));
        let both = around(vec![step(own), Course::Barrier], vec![Course::Barrier, step(own)]);
        assert_eq!(prove(crossings, &both), Ok(()));
        // The two ways do not meet, but in another iteration they do.
        let ways = vec![Course::Either(vec![step(write)], vec![step(read)])];
        assert_eq!(prove(crossings, &ways), Ok(()));
        assert!(prove(crossings, &[Course::Loop(ways)]).is_err());
    });
}

#[test]
fn what_a_block_leaves_behind_is_left_alone_by_the_next() {
    three_steps(|crossings, [write, read, own]| {
        let step = |work: WorkId| Course::Step(vec![work]);
        let whole = [step(write), Course::Barrier, step(read), step(own)];
        assert_eq!(prove_again(crossings, &whole), gap(1, 0));
        let closed = [whole.as_slice(), &[Course::Barrier]].concat();
        assert_eq!(prove_again(crossings, &closed), Ok(()));
        // Elements of another block may be anybody's.
        assert_eq!(prove(crossings, &[Course::Loop(vec![step(own)])]), Ok(()));
        assert_eq!(prove_again(crossings, &[step(own)]), gap(2, 2));
    });
}
