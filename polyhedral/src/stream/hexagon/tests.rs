use super::super::pipeline::{fill, tests::stream};
use super::*;

const CROSS: [(usize, [i64; 2]); 5] = [(0, [0, 0]), (0, [-1, 0]), (0, [1, 0]), (0, [0, -1]), (0, [0, 1])];

fn size(height: u32, width: u32) -> HexagonSize {
    HexagonSize { height, width, threads: 32, tiles: 1 }
}

fn shape(stream: &mut Stream, size: HexagonSize) -> Result<Hexagon, Obstacle> {
    fill(stream)?;
    Hexagon::shape(stream, size)
}

#[test]
fn a_five_point_star_leans_by_a_row_and_moves_by_a_column() {
    let mut it = stream(2, &[&CROSS]);
    let hexagon = shape(&mut it, size(2, 3)).unwrap();
    assert_eq!((hexagon.slope, hexagon.skew, hexagon.below), (1, 1, 1));
    // A point needs those one and two below it: they are where its neighbours were before the step.
    assert_eq!(hexagon.left[0], [2, 0]);
    // The picture of the report: 4, 6, 8, 8, 6, 4 rows; the other phase has as many.
    let rows: Vec<(i64, i64)> = (0..hexagon.steps()).map(|step| hexagon.rows(step)).collect();
    assert_eq!(rows, [(0, 3), (-1, 4), (-2, 5), (-2, 5), (-1, 4), (0, 3)]);
    assert_eq!(hexagon.period(), 12);
    assert_eq!(hexagon.check(&it), Ok(()));
}

#[test]
fn a_hexagon_loads_and_stores_two_rows_a_step_on_each_side() {
    let mut it = stream(2, &[&CROSS]);
    let hexagon = shape(&mut it, size(2, 3)).unwrap();
    let rows = |step| hexagon.entries(0, step).into_iter().map(|(row, _)| row).collect::<Vec<_>>();
    assert_eq!(rows(0), [-1, 0, 1, 2, 3, 4]);
    assert_eq!(rows(1), [-2, -1, 4, 5]);
    assert_eq!(rows(2), [-3, -2, 5, 6]);
    assert_eq!(rows(3), [-3, 6]);
    assert_eq!(rows(4), []);
    assert_eq!(hexagon.exits(0, 1), []);
    assert_eq!(hexagon.exits(0, 2), [-2, 5]);
    assert_eq!(hexagon.exits(0, 3), [-2, -1, 4, 5]);
    assert_eq!(hexagon.exits(0, 5), [0, 1, 2, 3]);
}

#[test]
fn a_copy_back_costs_no_rows() {
    let star: Vec<_> = CROSS.iter().map(|&(_, offset)| (1, offset)).collect();
    let mut it = stream(2, &[&star, &[(0, [0, 0])]]);
    let hexagon = shape(&mut it, size(3, 0)).unwrap();
    assert_eq!((hexagon.slope, hexagon.skew), (1, 1));
    assert_eq!(hexagon.around, [Reach::default(); 2]);
}

#[test]
fn a_second_sweep_wants_rows_around_those_of_the_step() {
    let first: Vec<_> = CROSS.iter().map(|&(_, offset)| (1, offset)).collect();
    let mut it = stream(2, &[&first, &CROSS]);
    it.fields[0].carried = false;
    let hexagon = shape(&mut it, size(1, 2)).unwrap();
    assert_eq!((hexagon.slope, hexagon.skew), (2, 2));
    assert_eq!(hexagon.around, [Reach { below: 1, above: 1 }, Reach::default()]);
    assert_eq!(hexagon.check(&it), Ok(()));
}

#[test]
fn the_width_is_at_least_what_a_step_reaches() {
    let far: Vec<_> = [-3, 0, 2].iter().map(|&by| (0, [0, by])).collect();
    let mut it = stream(2, &[&far]);
    let refused = shape(&mut it, size(2, 1)).unwrap_err();
    assert!(refused.0.contains("reaches 3 rows wants at least 2"), "{refused:?}");
    let hexagon = shape(&mut it, size(2, 2)).unwrap();
    assert_eq!(hexagon.check(&it), Ok(()));
}

/// Hexagons narrower than condition (1) allows, or whose sides lean too little, are found out by going through their rows.
#[test]
fn hexagons_that_do_not_fit_together_are_found_out() {
    let far: Vec<_> = [-3, 0, 2].iter().map(|&by| (0, [0, by])).collect();
    let mut it = stream(2, &[&far]);
    let good = shape(&mut it, size(2, 4)).unwrap();
    assert_eq!(good.check(&it), Ok(()));
    let narrow = Hexagon { size: size(2, 1), ..good.clone() };
    assert!(narrow.check(&it).is_err());
    let steep = Hexagon { slope: 2, ..good };
    assert!(steep.check(&it).is_err());
}

#[test]
fn random_steps_fit_together() {
    let mut state = 5u64;
    let mut random = move |below: i64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) as i64).rem_euclid(below)
    };
    let mut fit = 0;
    for _ in 0..60 {
        let reach = 1 + random(3);
        let mut reads = |field: usize| -> Vec<(usize, [i64; 2])> {
            let by = |random: &mut dyn FnMut(i64) -> i64| random(2 * reach + 1) - reach;
            (0..1 + random(5)).map(|_| (field, [by(&mut random), by(&mut random)])).collect()
        };
        let (first, second) = (reads(1), reads(0));
        let mut it = stream(2, &[&first, &second]);
        it.fields[0].carried = false;
        let (height, width) = (1 + random(6) as u32, random(8) as u32);
        let Ok(hexagon) = shape(&mut it, size(height, width)) else { continue };
        fit += 1;
        assert_eq!(hexagon.check(&it), Ok(()), "{first:?} {second:?} {height} {width}");
    }
    assert!(fit > 20, "{fit}");
}
