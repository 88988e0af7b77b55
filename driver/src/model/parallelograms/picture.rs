//! Shapes side by side, as SVG.

use super::{Chosen, Row};
use std::fmt::Write;
use tessella_polyhedral::models::parallelograms::matrix::Matrix;

const SIDE: f64 = 120.0;
const GAP: f64 = 30.0;
const HEAD: f64 = 40.0;

/// What cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DrawError {
    #[error("nothing has the axes `{first}` and `{second}`: there are {known}")]
    Axes { first: String, second: String, known: String },
    #[error("the shapes have one axis, and a picture needs two")]
    Line,
}

/// A row for each choice, a column for each level and pair of axes; each shape fills its square, the first axis to the right.
pub(super) fn draw(chosen: &[Chosen], dims: Option<(&str, &str)>) -> Result<String, DrawError> {
    let all: Vec<(&Chosen, Vec<[usize; 2]>)> =
        chosen.iter().map(|it| (it, pairs(&it.axes, dims))).filter(|(_, pairs)| !pairs.is_empty()).collect();
    if all.is_empty() {
        let Some((first, second)) = dims else { return Err(DrawError::Line) };
        let known = chosen.iter().map(|it| it.axes.join(", ")).collect::<Vec<_>>().join("; ");
        return Err(DrawError::Axes { first: first.to_string(), second: second.to_string(), known });
    }
    let levels = |rows: &[Row]| rows.iter().map(|(_, shapes, _)| shapes.len()).max().unwrap_or(0);
    let columns = all.iter().map(|(it, pairs)| levels(&it.rows) * pairs.len()).max().unwrap_or(0);
    let rows: usize = all.iter().map(|(it, _)| it.rows.len()).sum();
    let width = ((SIDE + GAP) * columns as f64 + GAP).max(420.0);
    let height = (SIDE + GAP + HEAD) * rows as f64 + GAP;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let each = all.iter().flat_map(|(it, pairs)| it.rows.iter().map(move |row| (&it.axes, pairs, row)));
    for (at, (axes, pairs, (name, shapes, prediction))) in each.enumerate() {
        let top = GAP + (SIDE + GAP + HEAD) * at as f64;
        let _ = writeln!(svg, "<text x=\"{GAP}\" y=\"{top}\">{name}: {}</text>", super::time(prediction.time));
        for (level, shape) in shapes.iter().enumerate() {
            for (place, &[first, second]) in pairs.iter().enumerate() {
                let start = GAP + (SIDE + GAP) * (level * pairs.len() + place) as f64;
                let mut line = |below: f64, text: &str| {
                    let y = top + HEAD - below;
                    let _ =
                        writeln!(svg, "<text x=\"{start}\" y=\"{y:.1}\" fill=\"#555\" font-size=\"11\">{text}</text>");
                };
                if place == 0 {
                    line(23.0, &super::matrix(shape));
                }
                line(8.0, &format!("{} right, {} up", axes[first], axes[second]));
                let points = placed(&cut(shape, first, second), start, top + HEAD);
                let _ = writeln!(svg, "<polygon points=\"{points}\" fill=\"#cfe3f5\" stroke=\"#1f5a94\"/>");
            }
        }
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// The pairs of axes to draw: all, or the one that is named.
fn pairs(axes: &[String], dims: Option<(&str, &str)>) -> Vec<[usize; 2]> {
    let Some((first, second)) = dims else {
        return (0..axes.len()).flat_map(|first| (first + 1..axes.len()).map(move |second| [first, second])).collect();
    };
    let of = |name: &str| {
        let number = name.parse::<usize>().ok().and_then(|it| it.checked_sub(1)).filter(|&it| it < axes.len());
        axes.iter().position(|it| it == name).or(number)
    };
    of(first).zip(of(second)).filter(|(first, second)| first != second).map(|(a, b)| [a, b]).into_iter().collect()
}

/// The corners of what a plane along two axes, through the middle of a tile, has of it.
fn cut(shape: &Matrix, first: usize, second: usize) -> Vec<[f64; 2]> {
    let edges: Vec<&Vec<i64>> = shape.rows.iter().collect();
    let reach = |axis: usize| edges.iter().map(|edge| edge[axis].abs() as f64).sum::<f64>();
    let (wide, tall) = (reach(first), reach(second));
    let mut corners = vec![[-wide, -tall], [wide, -tall], [wide, tall], [-wide, tall]];
    let Some(inverse) = shape.inverse() else { return corners };
    // How much of each edge a step along an axis is: the tile has from minus a half to a half of each.
    let part = |axis: usize, edge: usize| {
        let step: Vec<i64> = (0..edges.len()).map(|at| i64::from(at == axis)).collect();
        inverse.coordinates(&step).map_or(0.0, |all| all[edge] as f64 / inverse.denominator as f64)
    };
    for edge in 0..edges.len() {
        let (along, up) = (part(first, edge), part(second, edge));
        for side in [1.0, -1.0] {
            corners = clipped(&corners, &|[x, y]| 0.5 - side * (along * x + up * y));
        }
    }
    corners
}

/// The part of a polygon where something linear is not negative.
fn clipped(corners: &[[f64; 2]], inside: &dyn Fn([f64; 2]) -> f64) -> Vec<[f64; 2]> {
    let mut kept = vec![];
    for (at, &here) in corners.iter().enumerate() {
        let next = corners[(at + 1) % corners.len()];
        let (a, b) = (inside(here), inside(next));
        if a >= 0.0 {
            kept.push(here);
        }
        if (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0) {
            let share = a / (a - b);
            kept.push([here[0] + share * (next[0] - here[0]), here[1] + share * (next[1] - here[1])]);
        }
    }
    kept
}

/// The corners within a square, as an attribute.
fn placed(corners: &[[f64; 2]], left: f64, top: f64) -> String {
    let range = |axis: usize| {
        let values = corners.iter().map(|it| it[axis]);
        let (low, high) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max));
        (low, high - low)
    };
    let ((low_x, wide), (low_y, tall)) = (range(0), range(1));
    let scale = SIDE / wide.max(tall).max(1e-9);
    let point =
        |it: &[f64; 2]| format!("{:.1},{:.1}", left + (it[0] - low_x) * scale, top + SIDE - (it[1] - low_y) * scale);
    corners.iter().map(point).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(corners: &[[f64; 2]]) -> f64 {
        let next = |at: usize| corners[(at + 1) % corners.len()];
        let sum: f64 = corners.iter().enumerate().map(|(at, it)| it[0] * next(at)[1] - it[1] * next(at)[0]).sum();
        sum.abs() / 2.0
    }

    #[test]
    fn a_tile_of_two_axes_is_its_own_cut() {
        let shape = Matrix::new(&[&[5, -3], &[2, 4]]);
        assert!((area(&cut(&shape, 0, 1)) - 26.0).abs() < 1e-9);
        assert_eq!(cut(&shape, 0, 1).len(), 4);
    }

    #[test]
    fn a_tile_that_leans_on_the_third_axis_has_a_hexagon_for_a_cut() {
        let shape = Matrix::new(&[&[1, 0, -1], &[0, 1, -1], &[1, 1, 1]]);
        let hexagon = cut(&shape, 0, 1);
        assert_eq!(hexagon.len(), 6);
        // (x, y, 0) are (2x - y) / 3, (2y - x) / 3 and (x + y) / 3 of the edges, each from -1/2 to 1/2.
        assert!((area(&hexagon) - 2.25).abs() < 1e-9, "{}", area(&hexagon));
        assert_eq!(area(&cut(&Matrix::diagonal(3, 4), 0, 2)), 16.0);
    }
}
