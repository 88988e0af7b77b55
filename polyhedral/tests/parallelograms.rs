//! Shapes of tiles: the published examples.

use std::collections::{BTreeMap, BTreeSet};
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
    // Of one point a skewed tile has no two points to wait for different tiles.
    for side in [2, 3, 4] {
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

/// The coordinates of a point in tiles of a shape, over two axes.
fn tile_of(shape: &Matrix, point: [i64; 2]) -> [i64; 2] {
    let [a, b, c, d] = [shape.rows[0][0], shape.rows[0][1], shape.rows[1][0], shape.rows[1][1]];
    let (determinant, [x, y]) = (a * d - b * c, point);
    let sign = determinant.signum();
    [x * d - y * c, y * a - x * b].map(|it| (sign * it).div_euclid(determinant.abs()))
}

/// The longest path of tiles of the first so many levels, of those that hold some of the points.
fn longest(points: &BTreeSet<[i64; 2]>, dependences: &[Vec<i64>], shapes: &[Matrix]) -> u64 {
    let tile = |&point: &[i64; 2]| shapes.iter().fold(point, |it, shape| tile_of(shape, it));
    let mut waits: BTreeMap<[i64; 2], BTreeSet<[i64; 2]>> =
        points.iter().map(|it| (tile(it), BTreeSet::new())).collect();
    for point in points {
        for later in dependences.iter().map(|it| [point[0] + it[0], point[1] + it[1]]) {
            if points.contains(&later) && tile(&later) != tile(point) {
                waits.get_mut(&tile(&later)).unwrap().insert(tile(point));
            }
        }
    }
    // All tiles that wait for none that is left, again and again.
    let mut rounds = 0;
    while !waits.is_empty() {
        let left: BTreeSet<[i64; 2]> = waits.keys().copied().collect();
        waits.retain(|_, before| before.iter().any(|it| left.contains(it)));
        rounds += 1;
        assert!(waits.len() < left.len(), "tiles wait for one another");
    }
    rounds
}

#[test]
fn paths_are_counted_over_the_points() {
    let dependences = vec![vec![1, 0], vec![0, 1]];
    let problem = |space| Problem { space, dependences: dependences.clone(), overhead: vec![1e5], ..example(1) };
    let paths = |space: [i64; 2], shape: Matrix| {
        let space = Matrix::new(&[&[space[0], 0], &[0, space[1]]]);
        count(&problem(space), &[shape]).unwrap().unwrap().paths
    };
    // (1, 0) is an eighth of both edges, and of the eight points in a row the last one alone passes them, both at once.
    assert_eq!(paths([128, 16], Matrix::new(&[&[8, -1], &[0, 1]])), [31]);
    assert_eq!(paths([21, 19], Matrix::new(&[&[5, -1], &[0, 1]])), [23]);
    assert_eq!(paths([16, 16], Scheme::Skewing1.matrix(2, 1).unwrap()), [31]);
}

#[test]
fn paths_of_random_shapes_are_those_of_brute_force() {
    let mut state = 3_u64;
    let mut below = |count: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % count
    };
    let choices = [
        vec![vec![1, 0], vec![0, 1]],
        vec![vec![1, -1], vec![1, 0], vec![1, 1]],
        vec![vec![1, -2], vec![2, 2]],
        vec![vec![1, 1]],
        vec![vec![0, 1], vec![1, -1]],
    ];
    let mut counted = [0; 2];
    for _ in 0..60_000 {
        let dependences = choices[below(choices.len() as i64) as usize].clone();
        let mut entry = |most: i64| below(2 * most + 1) - most;
        let mut shape = |most| Matrix::new(&[&[entry(most), entry(most)], &[entry(most), entry(most)]]);
        let shapes: Vec<Matrix> = match counted[1] <= counted[0] {
            true => vec![shape(5), shape(3)],
            false => vec![shape(6)],
        };
        let space = Matrix::new(&[&[1 + below(20), 0], &[0, 1 + below(20)]]);
        let overhead = vec![1.0; shapes.len()];
        let problem = Problem { space, dependences, overhead, ..example(1) };
        let Ok(found) = count(&problem, &shapes) else { continue };
        counted[shapes.len() - 1] += 1;
        let all = |reach: i64| (-reach..=reach).flat_map(move |x| (-reach..=reach).map(move |y| [x, y]));
        let mut expected = vec![];
        for level in 1..shapes.len() {
            let whole =
                |point: &[i64; 2]| shapes[..=level].iter().fold(*point, |it, shape| tile_of(shape, it)) == [0, 0];
            let points = all(70).filter(whole).collect();
            expected.push(longest(&points, &problem.dependences, &shapes[..level]));
        }
        let inside = |point: &[i64; 2]| tile_of(&problem.space, *point) == [0, 0];
        expected.push(longest(&all(20).filter(inside).collect(), &problem.dependences, &shapes));
        assert_eq!(found.unwrap().paths, expected, "{problem:?} {shapes:?}");
    }
    assert!(counted[0] > 100 && counted[1] > 100, "{counted:?}");
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
