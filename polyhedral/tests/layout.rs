//! Paddings: the published examples, and brute force over small cases.

use tessella_polyhedral::models::layout::rows;
use tessella_polyhedral::models::layout::{
    Layout, LayoutError, Measure, Padding, Weights, best_period, by_solver, measure, solve,
};

fn star(axes: usize) -> Vec<Vec<i64>> {
    let side = |axis: usize, step: i64| (0..axes).map(|at| if at == axis { step } else { 0 }).collect();
    (0..axes).flat_map(|axis| [side(axis, -1), side(axis, 1)]).collect()
}

/// The points of a box around the origin that `wanted` takes.
fn around(axes: usize, reach: i64, wanted: &dyn Fn(&[i64]) -> bool) -> Vec<Vec<i64>> {
    let mut all: Vec<Vec<i64>> = vec![vec![]];
    for _ in 0..axes {
        all = all.into_iter().flat_map(|it| (-reach..=reach).map(move |at| [it.as_slice(), &[at]].concat())).collect();
    }
    all.retain(|it| wanted(it));
    all
}

fn steps(point: &[i64]) -> i64 {
    point.iter().map(|it| it.abs()).sum()
}

/// The best padding, and what it leaves out of place; the integer program's is as good.
fn solved(layout: &Layout) -> (Vec<Vec<u64>>, Vec<usize>) {
    let weights = Weights::gains_first(layout);
    let padding = solve(layout, weights).unwrap();
    let of_program = by_solver(layout, weights).unwrap();
    assert_eq!(of_program.cost(layout, weights), padding.cost(layout, weights), "{layout:?}: {of_program:?}");
    let found = measure(layout, &padding);
    (padding.pads, found.unaligned)
}

#[test]
fn alternating_pads_leave_one_read_of_the_2d_jacobi_stencil_out_of_place() {
    let layout = |period| Layout::aligned(&[64], 4, &star(2), period);
    for pad in 0..4 {
        let padding = Padding::simple(&layout(1), &[pad]);
        assert_eq!(measure(&layout(1), &padding).unaligned, [2], "simple padding of {pad}");
    }
    assert_eq!(solved(&layout(1)), (vec![vec![0]], vec![2]));
    let (pads, unaligned) = solved(&layout(2));
    assert!(pads == [[1, 3]] || pads == [[3, 1]], "{pads:?}");
    assert_eq!(unaligned, [1, 1]);
    // The neighbours within the row are two apart, so one of them is always out of place.
    let (best, _) = best_period(&layout(1), 3, Weights::gains_first(&layout(1))).unwrap();
    assert_eq!(best.period, 2);
}

#[test]
fn pads_of_one_align_all_reads_of_the_3d_jacobi_stencil() {
    let layout = Layout::aligned(&[256, 256], 2, &star(3), 1);
    assert_eq!(solved(&layout), (vec![vec![1], vec![1]], vec![0]));
    assert_eq!(measure(&layout, &Padding::none(&layout)).unaligned, [2]);
    assert_eq!(measure(&layout, &Padding::simple(&layout, &[1, 0])).unaligned, [2]);
}

#[test]
fn the_hull_of_the_3d_von_neumann_neighbourhood_has_six_out_of_place_for_ten() {
    let hull = around(3, 2, &|it| steps(it) == 2);
    assert_eq!(hull.len(), 18);
    let layout = Layout::aligned(&[256, 256], 4, &hull, 1);
    assert_eq!(measure(&layout, &Padding::none(&layout)).unaligned, [10]);
    assert_eq!(solved(&layout), (vec![vec![1], vec![1]], vec![6]));
    // Padding rows alone does not help: one element leaves just 6 aligned.
    assert_eq!(measure(&layout, &Padding::simple(&layout, &[1, 0])).unaligned, [12]);
}

#[test]
fn no_padding_is_best_for_nine_points_in_2d_and_25_in_3d() {
    let nine = around(2, 1, &|_| true);
    assert_eq!(solved(&Layout::aligned(&[64], 4, &nine, 1)), (vec![vec![0]], vec![6]));
    assert_eq!(solved(&Layout::aligned(&[64], 4, &nine, 2)), (vec![vec![0, 0]], vec![6, 6]));
    let ball = around(3, 2, &|it| steps(it) <= 2);
    assert_eq!(ball.len(), 25);
    assert_eq!(solved(&Layout::aligned(&[64, 64], 4, &ball, 1)), (vec![vec![0], vec![0]], vec![12]));
}

#[test]
fn simple_padding_is_best_for_the_2d_diamond() {
    let diamond = around(2, 2, &|it| steps(it) <= 2);
    let layout = Layout::aligned(&[64], 4, &diamond, 1);
    let (pads, unaligned) = solved(&layout);
    assert_eq!((pads, unaligned), (vec![vec![1]], vec![7]));
    assert_eq!(measure(&layout, &Padding::none(&layout)).unaligned, [8]);
}

#[test]
fn one_element_keeps_the_threads_of_a_column_in_different_banks() {
    let column: Vec<Vec<i64>> = (0..32).map(|thread| vec![0, thread]).collect();
    let layout = Layout::banked(&[32], 32, &column);
    assert_eq!(measure(&layout, &Padding::none(&layout)).conflicts, 32 * 31 / 2);
    for solve in [solve, by_solver] {
        let padding = solve(&layout, Weights::gains_first(&layout)).unwrap();
        assert_eq!((padding.pads.clone(), measure(&layout, &padding).conflicts), (vec![vec![1]], 0));
    }
}

#[test]
fn published_weights_ask_whether_a_pad_pays() {
    let layout = Layout::aligned(&[64], 4, &star(2), 2);
    // Four elements of padding for two reads.
    assert_eq!(solve(&layout, Weights::PUBLISHED).unwrap(), Padding::none(&layout));
}

#[test]
fn strides_are_blocks_and_pads() {
    let layout = Layout::aligned(&[5, 3], 4, &[], 2);
    let padding = Padding { pads: vec![vec![1, 3], vec![0, 2]] };
    assert_eq!(padding.strides(&layout), [[6, 8], [6 + 8 + 6, 6 + 8 + 6 + 2]]);
}

#[test]
fn a_number_of_cases_ends_the_search_whatever_the_clock_says() {
    let layout = Layout::aligned(&[64], 64, &around(2, 1, &|_| true), 3);
    let given_up = solve(&layout, Weights::gains_first(&layout));
    assert_eq!(given_up, Err(LayoutError::Solver { reason: "20000 cases did not suffice".into() }));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let layout = Layout::aligned(&[64], 4, &[vec![0, 1, 2]], 1);
    assert_eq!(solve(&layout, Weights::PUBLISHED), Err(LayoutError::Axes { has: 3, needs: 2 }));
    let layout = Layout::aligned(&[64], 0, &star(2), 1);
    assert_eq!(solve(&layout, Weights::PUBLISHED), Err(LayoutError::Range { most: 64 }));
}

/// All paddings below the modulus.
fn all_paddings(layout: &Layout, modulus: u64) -> Vec<Padding> {
    let (axes, period) = (layout.extents.len(), layout.period as usize);
    let count = modulus.pow((axes * period) as u32);
    let digits =
        |number: u64| -> Vec<u64> { (0..axes * period).map(|at| number / modulus.pow(at as u32) % modulus).collect() };
    (0..count).map(|number| Padding { pads: digits(number).chunks(period).map(<[u64]>::to_vec).collect() }).collect()
}

#[test]
fn the_best_padding_is_that_of_brute_force() {
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    for case in 0..120 {
        let axes = 1 + random(2) as usize;
        let vector = [1, 2, 3, 4][random(4) as usize];
        let banks = if vector == 1 { 4 } else { 1 };
        let period = if axes == 1 { 1 + random(2) as u32 } else { 1 };
        let mut points = |count: u64| -> Vec<Vec<i64>> {
            (0..count).map(|_| (0..=axes).map(|_| random(5) as i64 - 2).collect()).collect()
        };
        let (reads, threads) = if vector == 1 { (vec![], points(4)) } else { (points(5), vec![]) };
        let extents = (0..axes).map(|_| 1 + random(9)).collect();
        let layout = Layout { extents, vector, reads, banks, threads, period };
        for weights in [Weights::PUBLISHED, Weights::gains_first(&layout)] {
            let found = solve(&layout, weights).unwrap();
            let of_program = by_solver(&layout, weights).unwrap();
            let least =
                all_paddings(&layout, u64::from(vector.max(banks))).iter().map(|it| it.cost(&layout, weights)).min();
            let Measure { unaligned, conflicts, .. } = measure(&layout, &found);
            assert_eq!(
                Some(found.cost(&layout, weights)),
                least,
                "case {case}: {layout:?} {found:?} {unaligned:?} {conflicts}"
            );
            assert_eq!(Some(of_program.cost(&layout, weights)), least, "case {case}: {layout:?} {of_program:?}");
        }
    }
}

#[test]
fn whole_rows_left_free_are_pads_of_rows_and_planes() {
    let layout = Layout::aligned(&[256, 256], 2, &star(3), 1);
    let none = rows::of(std::slice::from_ref(&layout), vec![0, 0]);
    assert_eq!((none.found[0].unaligned.as_slice(), none.growth), ([2].as_slice(), 0.0));
    // A row more in each plane, and an element more in each row: planes are 257 * 257 elements apart, an odd number.
    let both = rows::of(std::slice::from_ref(&layout), vec![1, 1]);
    assert_eq!(both.found[0].unaligned, [0]);
    assert!((both.growth - (257.0 * 257.0 / (256.0 * 256.0) - 1.0)).abs() < 1e-12);
    // A row more alone changes no place.
    assert_eq!(rows::of(std::slice::from_ref(&layout), vec![0, 1]).found[0].unaligned, [2]);
    let all = rows::all(std::slice::from_ref(&layout));
    assert_eq!(all.iter().map(|it| it.by.clone()).collect::<Vec<_>>(), [[0, 0], [1, 0], [0, 1], [1, 1]]);
}

/// A product's threads read four values of eight bytes each from a row of shared memory in every step. `ncu` counted 8388880
/// conflicts where these were neighbours, in 1024 steps of 1024 warps that read 16 bytes a thread twice, eight threads at
/// a time: another pass for each of these reads.
#[test]
fn threads_of_a_product_meet_in_banks_as_counted_on_a_gpu_unless_their_values_lie_apart() {
    // Of the threads that are served together, where each begins to read, in units of what it reads.
    let passes = |units: u32, places: Vec<i64>| {
        let threads: Vec<Vec<i64>> = places.into_iter().map(|at| vec![at, 0]).collect();
        let layout = Layout::banked(&[256], units, &threads);
        let conflicts = measure(&layout, &Padding::none(&layout)).conflicts;
        // Each thread meets as many others: pairs of groups of one size.
        1 + 2 * conflicts / threads.len()
    };
    // 32 banks of 4 bytes serve eight threads that read 16 bytes each, or sixteen that read 8.
    let neighbours = passes(8, (0..8).map(|thread| 4 * thread / 2).collect());
    assert_eq!(neighbours, 2);
    let extra = (neighbours - 1) * 4 * 2;
    assert_eq!(1024 * 1024 * extra, 8_388_608);
    assert_eq!(passes(16, (0..16).collect()), 1);
}
