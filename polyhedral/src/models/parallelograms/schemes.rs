//! Shapes that people choose by hand.

use super::matrix::Matrix;
use super::{Prediction, Problem, Shapes, predict};

/// A common shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    Square,
    /// Of two axes only.
    Diamond,
    /// The first axis runs against all others.
    Skewing1,
    /// The second axis runs against the first; of two axes only.
    Skewing2,
}

impl Scheme {
    pub const ALL: [Scheme; 4] = [Scheme::Square, Scheme::Diamond, Scheme::Skewing1, Scheme::Skewing2];

    pub fn name(self) -> &'static str {
        match self {
            Scheme::Square => "Square",
            Scheme::Diamond => "Diamond",
            Scheme::Skewing1 => "Skewing-1",
            Scheme::Skewing2 => "Skewing-2",
        }
    }

    pub fn from_name(name: &str) -> Option<Scheme> {
        Scheme::ALL.into_iter().find(|scheme| scheme.name().eq_ignore_ascii_case(name))
    }

    /// The tile of this shape with sides of `side`, along so many axes.
    pub fn matrix(self, axes: usize, side: i64) -> Option<Matrix> {
        let mut matrix = Matrix::diagonal(axes, side);
        match self {
            Scheme::Square => {}
            Scheme::Diamond if axes == 2 => matrix.rows = vec![vec![side, -side], vec![side, side]],
            Scheme::Skewing1 => (1..axes).for_each(|at| matrix.rows[0][at] = -side),
            Scheme::Skewing2 if axes == 2 => matrix.rows[1][0] = -side,
            Scheme::Diamond | Scheme::Skewing2 => return None,
        }
        Some(matrix)
    }
}

/// The best sizes of one scheme for each level, and what they take; `None` where the dependences allow none of them.
pub fn best(problem: &Problem, schemes: &[Scheme]) -> Option<(Shapes, Prediction)> {
    let axes = problem.space.size();
    let mut best: Option<(Shapes, Prediction)> = None;
    let largest = problem.space.rows.iter().flatten().map(|it| it.abs()).max().unwrap_or(1);
    let mut sides = vec![1_i64; schemes.len()];
    // From sides of 1, 2, 3, 4, 6, 8, 12, ... at all levels on, step by step to the best near by.
    let coarse: Vec<i64> = (0..62).flat_map(|at| [1_i64 << at, 3_i64 << at]).filter(|&it| it <= largest).collect();
    let mut at = vec![0; schemes.len()];
    let mut shapes_of = |sides: &[i64]| -> Option<f64> {
        let shapes: Option<Shapes> =
            schemes.iter().zip(sides).map(|(scheme, &side)| scheme.matrix(axes, side)).collect();
        let shapes = shapes?;
        let prediction = predict(problem, &shapes).ok()?;
        let time = prediction.time;
        if best.as_ref().is_none_or(|(_, best)| time < best.time) {
            best = Some((shapes, prediction));
        }
        Some(time)
    };
    let mut least: Option<f64> = None;
    loop {
        let here: Vec<i64> = at.iter().map(|&place: &usize| coarse[place]).collect();
        if let Some(time) = shapes_of(&here) {
            if least.is_none_or(|least| time < least) {
                (least, sides) = (Some(time), here);
            }
        }
        let Some(level) = (0..at.len()).find(|&level| at[level] + 1 < coarse.len()) else { break };
        at[level] += 1;
        at[..level].fill(0);
    }
    let mut least = least?;
    let mut step = largest;
    while step > 0 {
        let mut improved = false;
        for level in 0..sides.len() {
            for change in [step, -step] {
                let mut tried = sides.clone();
                tried[level] += change;
                if tried[level] >= 1 && tried[level] <= largest {
                    if let Some(time) = shapes_of(&tried).filter(|&time| time < least) {
                        (least, sides, improved) = (time, tried, true);
                    }
                }
            }
        }
        if !improved {
            step /= 2;
        }
    }
    best
}
