use super::super::{Field, Source, Stage, Stream, Way};
use super::{Reach, fill};
use crate::affine::Affine;
use crate::algorithm::{ArrayId, ComputationId};
use crate::schedule::StreamSize;

/// A time step whose stages write fields 0, 1, ... and read `(field, offset)`.
pub(in crate::stream) fn stream(steps: u32, reads: &[&[(usize, [i64; 2])]]) -> Stream {
    let zero = || (Affine::constant(1), Affine::constant(9));
    let stages = reads.iter().enumerate().map(|(at, reads)| Stage {
        computation: ComputationId(at as u32),
        field: at,
        lag: 0,
        time: 0,
        turn: 0,
        iterators: [Some(2), None, Some(1)],
        shift: [0; 3],
        limits: [zero(), zero(), zero()],
        reads: (reads.iter())
            .map(|&(field, offset)| Source::Field {
                field,
                fresh: field < at,
                offset: [offset[0], 0, offset[1]],
                age: 0,
            })
            .collect(),
        sums: None,
        thin: [false; 3],
    });
    let field = |at: usize| Field {
        array: ArrayId(at as u32),
        level: None,
        turns: false,
        writer: at,
        finisher: at,
        carried: true,
        rim: true,
        lead: 0,
    };
    Stream {
        size: StreamSize { steps, rows: Some(16), lines: 1, warps: 1, ..StreamSize::USUAL },
        axes: [Some(0), None, Some(1)],
        time: zero(),
        way: Way::Up,
        period: 1,
        fields: (0..reads.len()).map(field).collect(),
        stages: stages.collect(),
        records: vec![],
        lag: 0,
        depth: 0,
        beside: [Reach::default(); 2],
        back: 0,
        needs: vec![],
        hexagon: None,
        fewer: None,
        resident: None,
        rounds: [None, None, None],
    }
}

const CROSS: [(usize, [i64; 2]); 5] = [(0, [0, 0]), (0, [-1, 0]), (0, [1, 0]), (0, [0, -1]), (0, [0, 1])];

#[test]
fn a_five_point_star_keeps_three_rows() {
    let mut it = stream(8, &[&CROSS]);
    fill(&mut it).unwrap();
    assert_eq!((it.lag, it.depth, it.fields[0].lead), (1, 3, 1));
    assert_eq!((it.beside[0], it.back), (Reach { below: 8, above: 8 }, 9));
    let ages: Vec<i64> = ages(&it);
    assert_eq!(ages, [1, 1, 1, 2, 0]);
}

#[test]
fn a_copy_runs_in_the_same_iteration() {
    // B = star(A); A = B
    let star: Vec<_> = CROSS.iter().map(|&(_, offset)| (1, offset)).collect();
    let mut it = stream(4, &[&star, &[(0, [0, 0])]]);
    fill(&mut it).unwrap();
    assert_eq!((it.lag, it.stages[0].lag, it.stages[1].lag), (1, 0, 0));
    assert_eq!((it.beside[0], it.back), (Reach { below: 4, above: 4 }, 5));
}

#[test]
fn two_sweeps_a_step_reach_twice_as_far() {
    // B = star(A); A = star(B)
    let first: Vec<_> = CROSS.iter().map(|&(_, offset)| (1, offset)).collect();
    let mut it = stream(3, &[&first, &CROSS]);
    fill(&mut it).unwrap();
    assert_eq!((it.lag, it.stages[1].lag), (2, 1));
    assert_eq!(it.beside[0], Reach { below: 6, above: 6 });
}

#[test]
fn only_what_is_read_is_reached() {
    // The wind blows from one side: no row ahead is needed, and none above.
    let mut it = stream(5, &[&[(0, [0, 0]), (0, [-2, 0]), (0, [0, -1])]]);
    fill(&mut it).unwrap();
    assert_eq!((it.lag, it.depth), (1, 3));
    assert_eq!((it.beside[0], it.back), (Reach { below: 10, above: 0 }, 6));
}

#[test]
fn a_sweep_that_looks_back_at_one_that_looked_ahead_starts_early_enough() {
    // B = A[i + 1, j + 1]; A = B[i - 1, j - 1]: A is reached nowhere else, B is.
    let mut it = stream(1, &[&[(1, [1, 1])], &[(0, [-1, -1])]]);
    fill(&mut it).unwrap();
    assert_eq!(it.beside[0], Reach { below: 1, above: 1 });
    // Row -1 of B is computed in iteration -1, and loaded, for points outside of the box, in the one before.
    assert_eq!((it.lag, it.stages[0].lag, it.stages[1].lag, it.back), (1, 0, 0, 2));
}

#[test]
fn no_age_is_negative_and_all_fit() {
    for ahead in -3..=3 {
        for behind in -3..=3 {
            let mut it = stream(2, &[&[(1, [0, ahead]), (0, [0, behind.min(0)])], &[(0, [1, behind]), (1, [0, 0])]]);
            fill(&mut it).unwrap();
            assert!(ages(&it).iter().all(|&age| age >= 0 && age < it.depth), "{ahead} {behind}: {it:?}");
            assert!(it.fields.iter().all(|field| field.lead >= 0));
        }
    }
}

fn ages(stream: &Stream) -> Vec<i64> {
    let reads = stream.stages.iter().flat_map(|stage| &stage.reads);
    reads.filter_map(|read| if let Source::Field { age, .. } = read { Some(*age) } else { None }).collect()
}
