//! Shapes of tiles: the published examples.

use tessella_polyhedral::models::parallelograms::matrix::{Matrix, Rational};
use tessella_polyhedral::models::parallelograms::schemes::{self, Scheme};
use tessella_polyhedral::models::parallelograms::{Invalid, Problem, count, extents, predict, reach, search};

/// A square space of 4 x 4 x 4 x 4 tiles of `side` x `side` iterations that take a unit of time.
fn example(side: i64) -> Problem {
    Problem {
        space: Matrix::diagonal(2, 16 * side),
        dependences: vec![vec![1, 0], vec![0, 1]],
        iteration: 1.0 / (side * side) as f64,
        overhead: vec![0.0, 0.0],
        largest: vec![],
    }
}

#[test]
fn the_longest_paths_of_the_first_example_are_the_published_ones() {
    for side in [1, 2, 3] {
        let problem = example(side);
        let square = Scheme::Square.matrix(2, side).unwrap();
        let skewed = Scheme::Skewing1.matrix(2, side).unwrap();
        let (large, slanted) = (Scheme::Square.matrix(2, 4).unwrap(), Scheme::Skewing1.matrix(2, 4).unwrap());
        let time = |shapes: &[Matrix]| {
            let counted = count(&problem, shapes).unwrap().unwrap();
            (counted.paths, (counted.time * 1e6).round() / 1e6)
        };
        assert_eq!(time(&[square.clone(), large.clone()]), (vec![7, 7], 49.0));
        assert_eq!(time(&[square, slanted]), (vec![4, 11], 44.0));
        assert_eq!(time(&[skewed, large]), (vec![7, 11], 77.0));
    }
}

#[test]
fn linear_programs_give_the_limit_for_large_tiles() {
    let problem = example(1);
    let unit = Matrix::diagonal(2, 1);
    let squares = predict(&problem, &[unit.clone(), Matrix::diagonal(2, 4)]).unwrap();
    assert_eq!(squares.paths, [Rational::new(8, 1).unwrap(), Rational::new(8, 1).unwrap()]);
    let slanted = predict(&problem, &[unit, Scheme::Skewing1.matrix(2, 4).unwrap()]).unwrap();
    assert_eq!(slanted.paths, [Rational::new(4, 1).unwrap(), Rational::new(12, 1).unwrap()]);
    // 8 where 4 x 4 points have 7: with n x n points the quotient tends to 1.
    for side in [10_i64, 30] {
        let problem = Problem { space: Matrix::diagonal(2, side), overhead: vec![0.0], ..example(1) };
        let unit = [Matrix::diagonal(2, 1)];
        assert_eq!(count(&problem, &unit).unwrap().unwrap().paths, [2 * side as u64 - 1]);
        assert_eq!(predict(&problem, &unit).unwrap().paths, [Rational::new(2 * i128::from(side), 1).unwrap()]);
    }
}

#[test]
fn shapes_fit_the_dependences_that_they_are_good_for() {
    let jacobi = vec![vec![1, -1], vec![1, 0], vec![1, 1]];
    let gauss = vec![vec![1, 0], vec![0, 1]];
    let fits = |dependences: &[Vec<i64>], scheme: Scheme| {
        let problem = Problem { dependences: dependences.to_vec(), overhead: vec![0.0], ..example(1) };
        predict(&problem, &[scheme.matrix(2, 8).unwrap()]).is_ok()
    };
    assert_eq!(Scheme::ALL.map(|it| fits(&gauss, it)), [true, false, true, true]);
    assert_eq!(Scheme::ALL.map(|it| fits(&jacobi, it)), [false, true, true, false]);
}

#[test]
fn what_is_no_tiling_is_refused() {
    let problem = example(1);
    let fine = Matrix::diagonal(2, 2);
    let refused = |shapes: &[Matrix]| predict(&problem, shapes).unwrap_err();
    assert_eq!(refused(std::slice::from_ref(&fine)), Invalid::Levels { has: 1, needs: 2 });
    assert_eq!(refused(&[fine.clone(), Matrix::new(&[&[1, 2], &[2, 4]])]), Invalid::Flat { level: 1 });
    assert_eq!(refused(&[fine.clone(), Matrix::new(&[&[1]])]), Invalid::Size { level: 1, needs: 2 });
    // Diamonds do not go above level 0: tiles depend on one another along each axis.
    let diamond = Scheme::Diamond.matrix(2, 4).unwrap();
    assert_eq!(refused(&[fine.clone(), diamond]), Invalid::Dependence { level: 1, dependence: vec![0, 1] });
    let limited = Problem { largest: vec![3], ..example(1) };
    assert_eq!(predict(&limited, &[fine.clone(), fine]), Err(Invalid::Large { level: 0, most: 3 }));
}

#[test]
fn the_search_finds_known_optima() {
    // One level, any size of at most 16 points: whatever is as large as it may be and goes along the first axis alone.
    let problem = Problem {
        space: Matrix::diagonal(2, 256),
        dependences: vec![vec![1, 0], vec![0, 1]],
        iteration: 1.0,
        overhead: vec![1000.0],
        largest: vec![16],
    };
    let mut least = f64::INFINITY;
    for a in 1..=16_i64 {
        for d in 1..=16 / a {
            for b in 0..=40_i64 {
                for c in 0..=40_i64 {
                    let shape = Matrix::new(&[&[a + 40, -b], &[-c, d]]);
                    let plain = Matrix::new(&[&[a, -b], &[-c, d]]);
                    for shape in [shape, plain] {
                        if let Ok(found) = predict(&problem, &[shape]) {
                            least = least.min(found.time);
                        }
                    }
                }
            }
        }
    }
    let starts = vec![vec![Matrix::diagonal(2, 1)], vec![Matrix::diagonal(2, 4)]];
    let found = search(&problem, &starts, 1, 20_000, &mut |_, _| {}).unwrap();
    assert!(found.prediction.time <= least * 1.0001, "{} for {least}: {:?}", found.prediction.time, found.shapes);
    let again = search(&problem, &starts, 1, 20_000, &mut |_, _| {}).unwrap();
    assert_eq!(found, again);
}

#[test]
fn the_search_finds_the_best_of_all_sizes_on_two_levels() {
    // Boxes alone: all pairs of them are few, and the search may find something better.
    let problem = Problem {
        space: Matrix::diagonal(2, 96),
        dependences: vec![vec![1, 0], vec![0, 1]],
        iteration: 1.0,
        overhead: vec![3.0, 200.0],
        largest: vec![64, 1024],
    };
    let boxes = |inner: [i64; 2], outer: [i64; 2]| {
        let of = |[a, b]: [i64; 2]| Matrix::new(&[&[a, 0], &[0, b]]);
        predict(&problem, &[of(inner), of(outer)]).map_or(f64::INFINITY, |it| it.time)
    };
    let sides: Vec<[i64; 2]> = (1..=32).flat_map(|a| (1..=32).map(move |b| [a, b])).collect();
    let least = sides.iter().flat_map(|&inner| sides.iter().map(move |&outer| (inner, outer)));
    let least = least.map(|(inner, outer)| boxes(inner, outer)).fold(f64::INFINITY, f64::min);
    let start = vec![Matrix::diagonal(2, 1), Matrix::diagonal(2, 1)];
    let found = search(&problem, &[start], 1, 20_000, &mut |_, _| {}).unwrap();
    assert!(found.prediction.time <= least * 1.0001, "{} for {least}: {:?}", found.prediction.time, found.shapes);
}

#[test]
fn the_search_finds_the_best_of_all_boxes_over_three_axes() {
    let problem = Problem {
        space: Matrix::diagonal(3, 64),
        dependences: vec![vec![1, 0, 0], vec![0, 1, 0], vec![0, 0, 1]],
        iteration: 1.0,
        overhead: vec![50.0],
        largest: vec![512],
    };
    let mut least = f64::INFINITY;
    for a in 1..=64_i64 {
        for b in 1..=(512 / a).min(64) {
            for c in 1..=(512 / a / b).min(64) {
                let shape = Matrix::new(&[&[a, 0, 0], &[0, b, 0], &[0, 0, c]]);
                least = least.min(predict(&problem, &[shape]).unwrap().time);
            }
        }
    }
    let found = search(&problem, &[vec![Matrix::diagonal(3, 1)]], 1, 20_000, &mut |_, _| {}).unwrap();
    assert!(found.prediction.time <= least * 1.0001, "{} for {least}: {:?}", found.prediction.time, found.shapes);
}

#[test]
fn without_a_start_that_is_a_tiling_nothing_is_found() {
    let starts = vec![vec![Matrix::diagonal(2, 0), Matrix::diagonal(2, 1)]];
    assert_eq!(search(&example(1), &starts, 1, 100, &mut |_, _| {}), None);
    let jacobi = Problem { dependences: vec![vec![1, -1], vec![1, 1]], ..example(1) };
    assert_eq!(schemes::best(&jacobi, &[Scheme::Square, Scheme::Square]), None);
}

#[test]
fn the_least_skew_leans_as_far_as_dependences_go_back() {
    let skew = |dependences: &[&[i64]]| {
        let all: Vec<Vec<i64>> = dependences.iter().map(|it| it.to_vec()).collect();
        schemes::least_skew(&all, all[0].len())
    };
    assert_eq!(skew(&[&[1, 0], &[0, 1]]), Some(Matrix::diagonal(2, 1)));
    assert_eq!(skew(&[&[1, -1], &[1, 0], &[1, 1]]), Scheme::Skewing1.matrix(2, 1));
    assert_eq!(skew(&[&[1, -2], &[2, 2]]), Some(Matrix::new(&[&[1, -2], &[0, 1]])));
    // Gauss-Seidel over nine points: a row of space leans against the one before it, too.
    let seidel: [&[i64]; 9] = [
        &[0, 0, 1],
        &[0, 1, -1],
        &[0, 1, 0],
        &[0, 1, 1],
        &[1, -1, -1],
        &[1, -1, 0],
        &[1, -1, 1],
        &[1, 0, -1],
        &[1, 0, 0],
    ];
    assert_eq!(skew(&seidel), Some(Matrix::new(&[&[1, -1, -1], &[0, 1, -1], &[0, 0, 1]])));
    // What goes backwards along the first axis, or too far, is no tiling of any size.
    assert_eq!(skew(&[&[-1, 0], &[0, 1]]), None);
    assert_eq!(skew(&[&[1, -9], &[0, 1]]), None);
}

#[test]
fn the_least_skew_is_a_tiling_where_no_usual_shape_is() {
    let dependences = vec![vec![1, -2], vec![2, 2]];
    let problem = Problem { dependences, overhead: vec![1.0], largest: vec![400], ..example(4) };
    assert!(Scheme::ALL.iter().all(|&it| schemes::best(&problem, &[it]).is_none()));
    let (shapes, prediction) = schemes::best_skewed(&problem).unwrap();
    assert_eq!(predict(&problem, &shapes).unwrap(), prediction);
    let found = search(&problem, &[shapes], 1, 2000, &mut |_, _| {}).unwrap();
    assert!(found.prediction.time <= prediction.time);
}

#[test]
fn tiles_of_least_skew_have_a_side_for_each_axis() {
    let dependences = vec![vec![1, -2], vec![2, 2]];
    // With equal sides, (2, 2) asks for 6 along both axes, 36 points.
    let unit = schemes::least_skew(&dependences, 2).unwrap();
    assert_eq!(schemes::least_sides(&unit, &dependences), Some(vec![2, 6]));
    let problem = |most| Problem {
        space: Matrix::diagonal(2, 38),
        dependences: dependences.clone(),
        overhead: vec![1.0],
        largest: vec![most],
        iteration: 1e-4,
    };
    assert_eq!(schemes::best_skewed(&problem(11)), None);
    let (shapes, _) = schemes::best_skewed(&problem(16)).unwrap();
    assert_eq!(shapes, [Matrix::new(&[&[2, -4], &[0, 8]])]);
}

#[test]
fn no_edge_is_longer_than_the_space() {
    // Nothing waits along two of three axes: thin tiles as long as they can be would have the shortest paths.
    let sums = Problem {
        space: Matrix::diagonal(3, 1024),
        dependences: vec![vec![0, 0, 1]],
        iteration: 1.0,
        overhead: vec![1e4],
        largest: vec![1 << 16],
    };
    let narrow = Problem {
        space: Matrix::new(&[&[1024, 0], &[0, 12]]),
        dependences: vec![vec![1, -1], vec![1, 0], vec![1, 1]],
        iteration: 1.0,
        overhead: vec![1e4, 1e5],
        largest: vec![u64::MAX, u64::MAX],
    };
    for problem in [sums, narrow] {
        let levels = problem.overhead.len();
        let mut starts = vec![];
        for first in Scheme::ALL {
            let schemes = [&[first][..], &[Scheme::Square].repeat(levels - 1)].concat();
            starts.extend(schemes::best(&problem, &schemes).map(|it| it.0));
        }
        starts.extend(schemes::best_skewed(&problem).map(|it| it.0));
        let found = search(&problem, &starts, 1, 4000, &mut |_, _| {}).unwrap();
        let limits = extents(&problem.space);
        for shapes in starts.iter().chain([&found.shapes]) {
            let most = reach(shapes).unwrap();
            assert!(most.iter().zip(&limits).all(|(it, limit)| it <= limit), "{shapes:?}: {most:?}");
        }
    }
}

#[test]
fn edges_of_a_level_are_counted_in_points() {
    let shapes = [Matrix::new(&[&[8, -8], &[0, 4]]), Matrix::new(&[&[3, 1], &[-2, 5]])];
    // (3, 1) is (24, -24) + (0, 4), and (-2, 5) is (-16, 16) + (0, 20).
    assert_eq!(reach(&shapes), Some(vec![24, 36]));
    assert_eq!(reach(&[Matrix::diagonal(2, i64::MAX), Matrix::diagonal(2, i64::MAX), Matrix::diagonal(2, 4)]), None);
}

#[test]
fn a_lean_that_a_narrow_space_cannot_hold_is_still_a_tiling() {
    let problem = Problem {
        space: Matrix::new(&[&[64, 0], &[0, 1]]),
        dependences: vec![vec![1, -2], vec![2, 2]],
        iteration: 1.0,
        overhead: vec![1.0],
        largest: vec![400],
    };
    let (shapes, _) = schemes::best_skewed(&problem).unwrap();
    assert!(reach(&shapes).unwrap()[1] > 1);
    assert!(search(&problem, &[shapes], 1, 100, &mut |_, _| {}).is_some());
}
