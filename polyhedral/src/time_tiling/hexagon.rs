//! The hexagons that tile time and one dimension of space, as formulas.
//!
//! Time steps are counted by `u`, one for each nest of the time loop's body, and positions by `s`. Within each time tile
//! `T` phase 0 runs before phase 1; the tiles of one phase, numbered by `S`, depend on none of each other. A point belongs
//! to the phase in whose box its local coordinates `(a, b)` lie inside the hexagon.
//!
//! # Source
//! Grosser, Verdoolaege, Cohen, Sadayappan, *The Promises of Hybrid Hexagonal/Classical Tiling for GPU*, INRIA RR-8339,
//! 2013, section 3.3. Numbers of equations are those of the report. Its (3) shifts phase 0 by `floor(delta1 h) + w0 + 1`;
//! that lines up with the cones that (9) and (12) subtract where both slopes round to one number, and what lines up always
//! is `floor(delta0 h) + w0 + 1`, the offset that the report gives for the left one.

use super::slope::Slope;
use crate::affine::{Affine, AffineOverflow};

/// The shape of all tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hexagon {
    /// `h`: a tile is `2h + 2` steps high.
    pub height: i64,
    /// `w0`: a tile is at least `w0 + 1` points wide.
    pub width: i64,
    /// Dependences go up by no more than this in each step.
    pub delta0: Slope,
    /// Dependences go down by no more than this in each step.
    pub delta1: Slope,
}

/// Which of the two interleaved rows of hexagons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    First,
    Second,
}

/// A point's tile, and where it lies in the tile's box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// `T`.
    pub time_tile: Affine,
    /// `S0`.
    pub space_tile: Affine,
    pub a: Affine,
    pub b: Affine,
}

/// The right sides of (6), (8), (10) and (12), each times its denominator.
struct Limits {
    most_falling: i64,
    most_rising: i64,
    least_rising: i64,
    least_falling: i64,
}

impl Hexagon {
    /// The least `w0` for which what is left of the cone is convex: condition (1).
    pub fn least_width(height: i64, delta0: Slope, delta1: Slope) -> i64 {
        let needed = |delta: Slope| {
            // delta + {delta h} - 1, rounded up.
            let fraction = (delta.over * height).rem_euclid(delta.under);
            -(-delta.over - fraction).div_euclid(delta.under) - 1
        };
        needed(delta0).max(needed(delta1)).max(0)
    }

    /// The height of a box.
    pub fn steps(&self) -> i64 {
        2 * self.height + 2
    }

    /// The width of a box, half of which are points of its tile.
    pub fn span(&self) -> i64 {
        2 * self.width + 2 + self.reach0() + self.reach1()
    }

    /// `floor(delta0 h)`.
    fn reach0(&self) -> i64 {
        self.delta0.floor_times(self.height)
    }

    /// `floor(delta1 h)`.
    fn reach1(&self) -> i64 {
        self.delta1.floor_times(self.height)
    }

    /// The first and the last position of a hexagon's points, from those of its box, in one of its steps.
    pub fn row(&self, step: i64) -> Option<(i64, i64)> {
        if !(0..2 * self.height + 2).contains(&step) {
            return None;
        }
        let Hexagon { delta0, delta1, .. } = *self;
        let limits = self.limits();
        let ([over0, under0], [over1, under1]) = ([delta0.over, delta0.under], [delta1.over, delta1.under]);
        // Quotients rounded up.
        let least = |over: i64, under: i64| -(-over).div_euclid(under);
        let first = least(over0 * step - limits.most_falling, under0)
            .max(least(limits.least_rising - over1 * step, under1))
            .max(0);
        let last = (limits.most_rising - over1 * step)
            .div_euclid(under1)
            .min((over0 * step - limits.least_falling).div_euclid(under0))
            .min(self.span() - 1);
        (first <= last).then_some((first, last))
    }

    /// The first and the last position of its points in its box.
    pub fn ends(&self) -> (i64, i64) {
        // Those of its two middle rows: (10) and (12) hold there for all of these, and (6) and (8) bound the others.
        (0, self.reach0() + self.width + self.reach1())
    }

    /// The step as tiles of a phase count it: (2) and (4) divide it.
    pub fn step(&self, phase: Phase, u: &Affine) -> Result<Affine, AffineOverflow> {
        match phase {
            Phase::First => u.add_constant(self.height + 1),
            Phase::Second => Ok(u.clone()),
        }
    }

    /// The place of the point `(u, s)` in the boxes of a phase: (2) to (5).
    pub fn place(&self, phase: Phase, u: &Affine, s: &Affine) -> Result<Place, AffineOverflow> {
        let step = self.step(phase, u)?;
        let time_tile = step.floor_div(self.steps());
        let drift = time_tile.scale(self.reach1() - self.reach0())?;
        let along = match phase {
            Phase::First => s.add_constant(self.reach0() + self.width + 1)?,
            Phase::Second => s.clone(),
        };
        let along = along.add(&drift)?;
        Ok(Place {
            a: step.modulo(self.steps())?,
            b: along.modulo(self.span())?,
            space_tile: along.floor_div(self.span()),
            time_tile,
        })
    }

    fn limits(&self) -> Limits {
        let Hexagon { height: h, width: w0, delta0, delta1 } = *self;
        let (reach0, reach1) = (self.reach0(), self.reach1());
        Limits {
            most_falling: (2 * h + 1) * delta0.over - delta0.under * reach0,
            most_rising: (2 * h + 1) * delta1.over + delta1.under * (reach0 + w0),
            least_rising: h * delta1.over - (delta1.under - 1),
            least_falling: h * delta0.over - delta0.under * (reach0 + w0 + reach1) - (delta0.under - 1),
        }
    }

    /// What is not negative just for the points of the hexagon: (6), (8), (10) and (12); (7) and (13) hold in all of the box.
    pub fn inside(&self, place: &Place) -> Result<Vec<Affine>, AffineOverflow> {
        let Hexagon { delta0, delta1, .. } = *self;
        let Limits { most_falling, most_rising, least_rising, least_falling } = self.limits();
        // delta0 a - b and delta1 a + b, each times its denominator.
        let falling = place.a.scale(delta0.over)?.sub(&place.b.scale(delta0.under)?)?;
        let rising = place.a.scale(delta1.over)?.add(&place.b.scale(delta1.under)?)?;
        Ok(vec![
            falling.scale(-1)?.add_constant(most_falling)?,
            rising.scale(-1)?.add_constant(most_rising)?,
            rising.add_constant(-least_rising)?,
            falling.add_constant(-least_falling)?,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    const PHASES: [Phase; 2] = [Phase::First, Phase::Second];

    fn value(of: &Affine, at: (i64, i64)) -> i64 {
        of.evaluate(&[at.0, at.1], &[]).unwrap()
    }

    /// The tiles `(T, phase, S0)` whose hexagon holds the point.
    fn tiles(hexagon: &Hexagon, at: (i64, i64)) -> Vec<(i64, Phase, i64)> {
        let (u, s) = (Affine::iterator(0), Affine::iterator(1));
        let mut found = vec![];
        for phase in PHASES {
            let place = hexagon.place(phase, &u, &s).unwrap();
            if hexagon.inside(&place).unwrap().iter().all(|it| value(it, at) >= 0) {
                found.push((value(&place.time_tile, at), phase, value(&place.space_tile, at)));
            }
        }
        found
    }

    /// The points of all tiles that lie whole within the window, by tile, each relative to its least one.
    fn whole_tiles(hexagon: &Hexagon) -> BTreeMap<(i64, Phase, i64), BTreeSet<(i64, i64)>> {
        let (high, wide) = (3 * hexagon.steps(), 4 * hexagon.span());
        let mut all: BTreeMap<_, BTreeSet<(i64, i64)>> = BTreeMap::new();
        for u in -high..high {
            for s in -wide..wide {
                for tile in tiles(hexagon, (u, s)) {
                    all.entry(tile).or_default().insert((u, s));
                }
            }
        }
        let inner = |&(u, s): &(i64, i64)| {
            (-high + hexagon.steps()..high - hexagon.steps()).contains(&u)
                && (-wide + hexagon.span()..wide - hexagon.span()).contains(&s)
        };
        all.retain(|_, points| points.iter().all(inner));
        all
    }

    #[test]
    fn the_tile_of_figure_5_has_a_height_of_6_and_widths_of_4_and_more() {
        // delta0 = 1 and delta1 = 2 are those of `A[t][i] = f(A[t-2][i-2], A[t-1][i+2])`; h = 2 and w0 = 3.
        let hexagon = Hexagon { height: 2, width: 3, delta0: Slope::new(1, 1), delta1: Slope::new(2, 1) };
        let shape = |points: &BTreeSet<(i64, i64)>| {
            let first = points.iter().map(|it| it.0).min().unwrap();
            (0..6).map(|a| points.iter().filter(|it| it.0 == first + a).count()).collect::<Vec<_>>()
        };
        for points in whole_tiles(&hexagon).values() {
            assert_eq!(shape(points), [4, 7, 10, 10, 7, 4]);
        }
        assert_eq!(hexagon.span(), 14);
    }

    #[test]
    fn rows_of_a_hexagon_are_those_of_its_points() {
        let hexagon = Hexagon { height: 2, width: 3, delta0: Slope::new(1, 1), delta1: Slope::new(2, 1) };
        let lengths = (0..6).map(|step| hexagon.row(step).map(|(first, last)| last - first + 1).unwrap());
        assert_eq!(lengths.collect::<Vec<_>>(), [4, 7, 10, 10, 7, 4]);
        assert_eq!((hexagon.row(6), hexagon.row(-1)), (None, None));
    }

    #[test]
    fn the_least_width_of_the_example_is_1() {
        assert_eq!(Hexagon::least_width(2, Slope::new(1, 1), Slope::new(2, 1)), 1);
        assert_eq!(Hexagon::least_width(7, Slope::new(1, 1), Slope::new(1, 1)), 0);
        // 3/2 + {3/2 * 1} - 1 = 1.
        assert_eq!(Hexagon::least_width(1, Slope::new(3, 2), Slope::ZERO), 1);
        assert_eq!(Hexagon::least_width(2, Slope::new(3, 2), Slope::ZERO), 1);
        assert_eq!(Hexagon::least_width(1, Slope::new(7, 3), Slope::new(1, 2)), 2);
    }

    #[test]
    fn distances_of_one_give_the_schedule_of_figure_7() {
        let (h, w0) = (2, 3);
        let hexagon = Hexagon { height: h, width: w0, delta0: Slope::new(1, 1), delta1: Slope::new(1, 1) };
        for u in -20..20_i64 {
            for s in -30..30_i64 {
                let (a, b) = ((u + h + 1).rem_euclid(2 * h + 2), (s + h + 1 + w0).rem_euclid(2 * h + 2 + 2 * w0));
                let first = a - b <= h + 1 && a + b <= 3 * h + 1 + w0 && a + b >= h && a - b >= -w0 - h;
                let (t, at) = ((u + h + 1).div_euclid(2 * h + 2), (s + h + 1 + w0).div_euclid(2 * h + 2 + 2 * w0));
                let tile = tiles(&hexagon, (u, s))[0];
                assert_eq!(first, tile.1 == Phase::First, "at {u}, {s}");
                if first {
                    assert_eq!(tile, (t, Phase::First, at));
                }
            }
        }
    }

    fn slopes() -> impl Strategy<Value = Slope> {
        (0..5_i64, 1..4_i64).prop_map(|(over, under)| Slope::new(over, under))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn every_point_is_in_one_tile_and_all_tiles_are_alike(
            (height, more, delta0, delta1) in (0..5_i64, 0..4_i64, slopes(), slopes())
        ) {
            let width = Hexagon::least_width(height, delta0, delta1) + more;
            let hexagon = Hexagon { height, width, delta0, delta1 };
            for u in -2 * hexagon.steps()..2 * hexagon.steps() {
                for s in -2 * hexagon.span()..2 * hexagon.span() {
                    prop_assert_eq!(tiles(&hexagon, (u, s)).len(), 1, "{:?} at {}, {}", hexagon, u, s);
                }
            }
            let all = whole_tiles(&hexagon);
            prop_assert!(all.len() > 4);
            let relative = |points: &BTreeSet<(i64, i64)>| {
                let least = *points.first().unwrap();
                points.iter().map(|it| (it.0 - least.0, it.1 - least.1)).collect::<BTreeSet<_>>()
            };
            let shape = relative(all.values().next().unwrap());
            for (tile, points) in &all {
                prop_assert_eq!(&relative(points), &shape, "{:?} at {:?}", hexagon, tile);
            }
        }

        #[test]
        fn rows_have_the_points_that_are_inside(
            (height, more, delta0, delta1) in (0..6_i64, 0..4_i64, slopes(), slopes())
        ) {
            let width = Hexagon::least_width(height, delta0, delta1) + more;
            let hexagon = Hexagon { height, width, delta0, delta1 };
            let nothing = Affine::constant(0);
            let place = Place {
                time_tile: nothing.clone(), space_tile: nothing, a: Affine::iterator(0), b: Affine::iterator(1),
            };
            let inside = hexagon.inside(&place).unwrap();
            for step in 0..hexagon.steps() {
                let all = (0..hexagon.span()).filter(|&b| inside.iter().all(|it| value(it, (step, b)) >= 0));
                let all: Vec<i64> = all.collect();
                let ends = all.first().map(|&first| (first, all[all.len() - 1]));
                prop_assert_eq!(hexagon.row(step), ends, "{:?} at {}", hexagon, step);
            }
            let rows: Vec<(i64, i64)> = (0..hexagon.steps()).filter_map(|step| hexagon.row(step)).collect();
            let ends = (rows.iter().map(|it| it.0).min().unwrap(), rows.iter().map(|it| it.1).max().unwrap());
            prop_assert_eq!(hexagon.ends(), ends, "{:?}", hexagon);
        }

        #[test]
        fn tiles_of_one_phase_depend_on_none_of_each_other(
            (height, more, delta0, delta1) in (0..5_i64, 0..4_i64, slopes(), slopes())
        ) {
            let width = Hexagon::least_width(height, delta0, delta1) + more;
            let hexagon = Hexagon { height, width, delta0, delta1 };
            for u in 0..hexagon.steps() {
                for s in 0..hexagon.span() {
                    let sink = tiles(&hexagon, (u, s))[0];
                    for back in 1..=4 {
                        // All distances (back, up) with -delta1 back <= up <= delta0 back.
                        for up in -delta1.floor_times(back)..=delta0.floor_times(back) {
                            let source = tiles(&hexagon, (u - back, s - up))[0];
                            let earlier = (source.0, source.1) < (sink.0, sink.1);
                            prop_assert!(earlier || source == sink, "{:?}: {:?} -> {:?}", hexagon, source, sink);
                        }
                    }
                }
            }
        }
    }
}
