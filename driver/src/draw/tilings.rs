//! The tiles of each tiling of time below one another: `tessella draw --tiling`.

use super::svg::{Anchor, At, Font, Svg, number};
use super::{Drawing, FEWER, SEVERAL, legend, refusal};
use crate::diagnose::{Place, diagnose};
use crate::pipeline::{self, Refusal};
use crate::request::DrawOptions;
use crate::sizes;
use crate::unit::{Built, Unit};
use std::collections::BTreeSet;
use tessella_diagnostics::{Code, Diagnostic};
use tessella_polyhedral::dependence::dependences;
use tessella_polyhedral::draw::DrawError;
use tessella_polyhedral::draw::tilings::{Shape, ShapeTile, Tilings, tilings};
use tessella_polyhedral::effort;
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::machine::Machine;

/// An SVG of the tiles of each shape that can be drawn, time upwards. It names the others, with the reason.
pub(super) fn draw(
    unit: &Unit<'_>,
    built: &Built,
    options: &DrawOptions,
    at_function: &dyn Fn(Diagnostic) -> Refusal,
) -> Result<Drawing, Refusal> {
    let wrong = |text: String, help: String| at_function(Diagnostic::error(Code("E0476"), text).with_help(help));
    if options.dims.len() > 1
        || options.scheduled
        || options.order.is_some_and(|it| it != crate::request::DrawOrder::Auto)
        || !options.fix.is_empty()
    {
        let text = "tiles of time are drawn along time and one dimension of space".to_string();
        return Err(wrong(text, "name that dimension alone: `--tiling --dims i`".to_string()));
    }
    let given: Vec<(String, i64)> = options.sizes.iter().map(|(name, value)| (name.clone(), *value)).collect();
    let ctx = pipeline::context();
    let lowered = pipeline::lower(&ctx, &unit.function)?;
    let start = Scheduled {
        algorithm: lowered.algorithm.clone(),
        schedule: lowered.algorithm.source_order.clone(),
        target: Target::Cpu,
        machine: Machine::GENERIC,
        versions: vec![],
        scratch: Default::default(),
    };
    let weight = effort::weight(&start.algorithm, &start.schedule);
    let dim = options.dims.first().map(String::as_str);
    let of_sizes = |params: &[i64]| {
        ctx.weighed(weight, || {
            let all = dependences(&ctx, &start.algorithm)?;
            tilings(&ctx, &start, &all, dim, params)
        })
    };
    let sizes_for = |defaults| {
        let params = sizes::choose_usual(built, &given, defaults).map_err(|error| wrong(error.text, error.help))?;
        Ok::<_, Refusal>((of_sizes(&params), params))
    };
    // Where several sweeps make too many points of the usual sizes, smaller ones fit.
    let (mut drawn, mut params) = sizes_for(SEVERAL)?;
    for fewer in FEWER {
        if matches!(drawn, Err(DrawError::TooManyPoints)) {
            (drawn, params) = sizes_for(fewer)?;
        }
    }
    let mut drawn = drawn.map_err(|error: DrawError| refusal(unit, built, error, wrong, at_function))?;
    if drawn.shapes.iter().all(|shape| shape.tiles.is_err()) {
        let first = drawn.shapes.drain(..).find_map(|shape| shape.tiles.err());
        return Err(refusal(unit, built, first.unwrap_or(DrawError::NoTime), wrong, at_function));
    }
    let reason = |shape: &Shape| match shape.tiles.as_ref().err()? {
        DrawError::Core(error) => {
            let (algorithm, spans) = (&start.algorithm, &lowered.spans);
            let place = Place { sources: unit.sources, algorithm, spans, command: None, legal_above: None };
            Some(diagnose(&place, error.clone()).message)
        }
        other => Some(other.to_string()),
    };
    let missing = drawn.shapes.iter().filter_map(|it| Some(format!("`{}` is not drawn: {}", it.command, reason(it)?)));
    let missing = missing.collect();
    let sizes: Vec<String> =
        start.algorithm.params.iter().zip(&params).map(|(param, value)| format!("{} = {value}", param.name)).collect();
    Ok(Drawing { svg: page(&start.algorithm.name, &sizes.join(", "), &drawn, &reason), missing })
}

const INK: &str = "#1f2937";
const FAINT: &str = "#6b7280";
/// Fills of tiles; those of one round differ from the next round's.
const FILLS: [&str; 6] = ["#f6b26b", "#76b5e0", "#93c47d", "#c5a5e0", "#f1d54f", "#ea9aa8"];
/// The widest panel, in pixels, and the sides of a point's cell.
const WIDEST: f64 = 900.0;
const CELL: std::ops::RangeInclusive<f64> = 5.0..=16.0;
const LEFT: f64 = 46.0;
const HEAD: f64 = 44.0;
const GAP: f64 = 40.0;

fn page(name: &str, sizes: &str, drawn: &Tilings, reason: &dyn Fn(&Shape) -> Option<String>) -> String {
    let mut svg = Svg::default();
    let title = format!("{name}: tiles of time");
    let heading = Font { size: 15.0, color: INK, anchor: Anchor::Start, style: r#"font-weight="bold""# };
    svg.text(At { x: 16.0, y: 24.0 }, heading, &title);
    let plain = Font { size: 12.0, color: FAINT, style: "", ..heading };
    let steps = match drawn.sweeps {
        1 => format!("upwards: {}", drawn.time),
        sweeps => format!("upwards: sweeps over space, {sweeps} in each iteration of {}", drawn.time),
    };
    let detail = format!("with {sizes}; {steps}; tiles with one number may run at the same time");
    svg.text(At { x: 16.0, y: 43.0 }, plain, &detail);
    let mut top = 66.0;
    let mut right: f64 = legend::width(&detail, 12.0) + 32.0;
    for shape in &drawn.shapes {
        svg.text(At { x: 16.0, y: top + 12.0 }, Font { size: 13.0, color: INK, ..heading }, &shape.command.to_string());
        match &shape.tiles {
            Ok(tiles) => {
                let repeated = said(tiles);
                svg.text(At { x: 16.0, y: top + 28.0 }, plain, &repeated);
                let (width, height) = panel(&mut svg, shape, tiles, At { x: LEFT, y: top + HEAD });
                right = right.max(LEFT + width + 40.0);
                top += HEAD + height + GAP;
            }
            Err(_) => {
                let text = format!("not here: {}", reason(shape).unwrap_or_default());
                svg.text(At { x: 16.0, y: top + 28.0 }, plain, &text);
                right = right.max(legend::width(&text, 12.0) + 32.0);
                top += HEAD + 8.0;
            }
        }
    }
    svg.document(right, top, &format!("{title}, {sizes}"))
}

/// How many tiles there are, and how much of their work is done more than once.
fn said(tiles: &[ShapeTile]) -> String {
    let statements: BTreeSet<_> = tiles.iter().flat_map(|it| &it.statements).collect();
    let computed: usize = tiles.iter().map(|it| it.statements.len()).sum();
    let rounds = tiles.iter().map(|it| it.round).max().unwrap_or(0);
    let again = match computed - statements.len() {
        0 => String::new(),
        more => format!(", {more} of {computed} points computed again"),
    };
    let counted = |count: usize, one: &str| if count == 1 { format!("one {one}") } else { format!("{count} {one}s") };
    format!("{} in {}{again}", counted(tiles.len(), "tile"), counted(rounds, "round"))
}

/// One shape's tiles; gives the width and the height.
fn panel(svg: &mut Svg, shape: &Shape, tiles: &[ShapeTile], at: At) -> (f64, f64) {
    let all = || tiles.iter().flat_map(|it| &it.points);
    let ends = |axis: usize| {
        let low = all().map(|it| it[axis]).min().unwrap_or(0);
        (low, all().map(|it| it[axis]).max().unwrap_or(low))
    };
    let ((left, right), (low, high)) = (ends(0), ends(1));
    let cell = (WIDEST / (right - left + 1) as f64).clamp(*CELL.start(), *CELL.end());
    let (width, height) = ((right - left + 1) as f64 * cell, (high - low + 1) as f64 * cell);
    let corner =
        |[place, step]: [i64; 2]| At { x: at.x + (place - left) as f64 * cell, y: at.y + (high - step) as f64 * cell };
    let mut in_round: Vec<usize> = vec![];
    let mut borders = vec![];
    for tile in tiles {
        // Neighbours in a round lie beside one another, and rounds above one another.
        let number_of =
            tiles.iter().filter(|it| it.round == tile.round).position(|it| std::ptr::eq(it, tile)).unwrap_or(0);
        in_round.push(number_of);
        let fill = FILLS[(2 * (tile.round % 3) + number_of % 2) % FILLS.len()];
        // A row of a tile is a run of points, or several.
        svg.group(&format!(r#"fill="{fill}" fill-opacity="0.55""#), |svg| {
            for (start, length) in runs(&tile.points) {
                svg.rect(corner(start), length as f64 * cell, cell, "");
            }
        });
        borders.push(outline(&tile.points, &corner, cell));
    }
    for border in &borders {
        svg.path(border, &format!(r#"fill="none" stroke="{INK}" stroke-width="1.2""#));
    }
    let font = Font { size: 10.0, color: INK, anchor: Anchor::Middle, style: "" };
    for tile in tiles.iter().filter(|it| !it.points.is_empty()) {
        let count = tile.points.len() as f64;
        let middle = tile
            .points
            .iter()
            .map(|&it| corner(it))
            .fold(At { x: 0.0, y: 0.0 }, |sum, it| At { x: sum.x + it.x, y: sum.y + it.y });
        let place = At { x: middle.x / count + cell / 2.0, y: middle.y / count + cell / 2.0 + 3.5 };
        svg.text(place, font, &tile.round.to_string());
    }
    let label = Font { size: 11.0, color: FAINT, anchor: Anchor::Middle, style: "" };
    for place in [left, right] {
        svg.text(At { x: corner([place, low]).x + cell / 2.0, y: at.y + height + 14.0 }, label, &place.to_string());
    }
    for step in [low, high] {
        let y = corner([left, step]).y + cell / 2.0 + 4.0;
        svg.text(At { x: at.x - 8.0, y }, Font { anchor: Anchor::End, ..label }, &step.to_string());
    }
    let name = Font { size: 13.0, color: INK, anchor: Anchor::Start, style: r#"font-style="italic""# };
    svg.text(At { x: at.x + width + 8.0, y: at.y + height }, name, &shape.dim);
    (width, height)
}

/// Points that lie beside one another: the first and how many.
fn runs(points: &BTreeSet<[i64; 2]>) -> Vec<([i64; 2], i64)> {
    let mut by_row: Vec<[i64; 2]> = points.iter().map(|[place, step]| [*step, *place]).collect();
    by_row.sort_unstable();
    let mut found: Vec<([i64; 2], i64)> = vec![];
    for [step, place] in by_row {
        match found.last_mut() {
            Some((start, length)) if start[1] == step && start[0] + *length == place => *length += 1,
            _ => found.push(([place, step], 1)),
        }
    }
    found
}

/// The sides of points that have no neighbour in the tile.
fn outline(points: &BTreeSet<[i64; 2]>, corner: &dyn Fn([i64; 2]) -> At, cell: f64) -> String {
    let mut path = String::new();
    let long = number(cell);
    for &[place, step] in points {
        let At { x, y } = corner([place, step]);
        let mut side = |missing: [i64; 2], from: (f64, f64), to: char| {
            if !points.contains(&missing) {
                path.push_str(&format!("M{} {}{to}{long}", number(from.0), number(from.1)));
            }
        };
        side([place - 1, step], (x, y), 'v');
        side([place + 1, step], (x + cell, y), 'v');
        side([place, step + 1], (x, y), 'h');
        side([place, step - 1], (x, y + cell), 'h');
    }
    path
}
