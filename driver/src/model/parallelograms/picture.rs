//! Shapes side by side, as SVG.

use super::Row;
use std::fmt::Write;

const SIDE: f64 = 120.0;
const GAP: f64 = 30.0;
const HEAD: f64 = 24.0;

/// A row for each choice, a column for each level; each shape fills its square, the first axis to the right.
pub(super) fn draw(rows: &[Row]) -> String {
    let levels = rows.iter().map(|(_, shapes, _)| shapes.len()).max().unwrap_or(0);
    let (width, height) = ((SIDE + GAP) * levels as f64 + GAP, (SIDE + GAP + HEAD) * rows.len() as f64 + GAP);
    let width = width.max(420.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (at, (name, shapes, prediction)) in rows.iter().enumerate() {
        let top = GAP + (SIDE + GAP + HEAD) * at as f64;
        let _ = writeln!(svg, "<text x=\"{GAP}\" y=\"{top}\">{name}: {}</text>", super::time(prediction.time));
        for (level, shape) in shapes.iter().enumerate() {
            let (a, b) = (&shape.rows[0], &shape.rows[1]);
            let corners = [[0, 0], [a[0], a[1]], [a[0] + b[0], a[1] + b[1]], [b[0], b[1]]];
            let range = |axis: usize| {
                let values = corners.map(|it| it[axis]);
                let (low, high) = (values.into_iter().min().unwrap_or(0), values.into_iter().max().unwrap_or(0));
                (low as f64, (high - low).max(1) as f64)
            };
            let ((left, wide), (low, tall)) = (range(0), range(1));
            let scale = SIDE / wide.max(tall);
            let start = GAP + (SIDE + GAP) * level as f64;
            let place = |corner: [i64; 2]| {
                let x = start + (corner[0] as f64 - left) * scale;
                let y = top + HEAD + SIDE - (corner[1] as f64 - low) * scale;
                format!("{x:.1},{y:.1}")
            };
            let points = corners.map(place).join(" ");
            let _ = writeln!(svg, "<polygon points=\"{points}\" fill=\"#cfe3f5\" stroke=\"#1f5a94\"/>");
            let _ = writeln!(
                svg,
                "<text x=\"{start}\" y=\"{:.1}\" fill=\"#555\" font-size=\"11\">{}</text>",
                top + HEAD - 8.0,
                super::matrix(shape)
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}
