//! From points and arrows to a page: scale, shapes, colours.

use super::legend;
use super::svg::{Anchor, At, Font, Svg, number};
use crate::request::DrawOrder;
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::dependence::DependenceKind;
use tessella_polyhedral::draw::{Arrow, Arrows, DrawnSpace, Picture, Point};
use tessella_polyhedral::verify::Verified;

/// Points whose numbers can still be read.
const MOST_NUMBERS: usize = 150;

/// The longest side of the area of points, in pixels.
const AREA: f64 = 660.0;
const UNIT: std::ops::RangeInclusive<f64> = 14.0..=46.0;

const INK: &str = "#1f2937";
const FAINT: &str = "#6b7280";

/// Fills of tiles; neighbours get different ones.
const FILLS: [&str; 6] = ["#fde4c8", "#d3e9f8", "#dcefd6", "#eadff5", "#faf1bd", "#f8d9de"];

/// What the execution order looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Numbers,
    Line,
    Nothing,
}

/// The page as SVG.
pub fn render(verified: &Verified, picture: &Picture, order: DrawOrder) -> String {
    let shown = match order {
        DrawOrder::Auto if picture.points.len() <= MOST_NUMBERS => Shown::Numbers,
        DrawOrder::Auto | DrawOrder::Line => Shown::Line,
        DrawOrder::Numbers => Shown::Numbers,
        DrawOrder::None => Shown::Nothing,
    };
    let page = Page::new(picture, shown);
    let mut svg = Svg::default();
    let title = legend::title(verified, picture);
    let heading = Font { size: 15.0, color: INK, anchor: Anchor::Start, style: r#"font-weight="bold""# };
    svg.text(At { x: 16.0, y: 24.0 }, heading, &title);
    let detail = legend::detail(verified, picture);
    svg.text(At { x: 16.0, y: 43.0 }, Font { size: 12.0, color: FAINT, style: "", ..heading }, &detail);
    page.tiles(&mut svg);
    page.axes(&mut svg);
    if shown == Shown::Line {
        page.line(&mut svg);
    }
    page.arrows(&mut svg);
    page.points(&mut svg);
    let lines = legend::lines(verified, picture, shown);
    let bottom = page.bottom() + 56.0;
    let widest = legend::paint(&mut svg, &lines, At { x: 16.0, y: bottom });
    let texts = [legend::width(&title, 15.0), legend::width(&detail, 12.0), widest];
    let width = texts.into_iter().fold(page.right() + 28.0, |width, text| width.max(text + 32.0));
    svg.document(width, bottom + legend::height(&lines), &format!("{title}, {detail}"))
}

/// Where lattice points lie.
struct Page<'a> {
    picture: &'a Picture,
    shown: Shown,
    low: [i64; 2],
    high: [i64; 2],
    unit: [f64; 2],
    /// The place of each computation's points within their cells, from the bottom.
    rows: BTreeMap<ComputationId, usize>,
    left: f64,
}

const TOP: f64 = 62.0;

impl<'a> Page<'a> {
    fn new(picture: &'a Picture, shown: Shown) -> Page<'a> {
        let values = |axis: usize| picture.points.iter().map(move |point| point.at[axis]);
        let bound = |axis| (values(axis).min().unwrap_or(0), values(axis).max().unwrap_or(0));
        let ((low_x, high_x), (low_y, high_y)) = (bound(0), bound(1));
        // Computations share a cell only where their points meet.
        let mut cells: BTreeMap<[i64; 2], BTreeSet<ComputationId>> = BTreeMap::new();
        for point in &picture.points {
            cells.entry(point.at).or_default().insert(point.computation);
        }
        let crowded = cells.values().any(|here| here.len() > 1);
        let drawn = picture.view.computations.iter().enumerate();
        let rows: BTreeMap<_, _> = drawn.map(|(at, id)| (*id, if crowded { at } else { 0 })).collect();
        let count = if crowded { rows.len() as f64 } else { 1.0 };
        let stretch = 1.0 + 0.62 * (count - 1.0);
        let span = |low: i64, high: i64| (high - low + 1) as f64;
        let fit = (AREA / span(low_x, high_x)).min(AREA / (span(low_y, high_y) * stretch));
        let unit = fit.clamp(*UNIT.start(), *UNIT.end());
        let label = [low_y, high_y].map(|value| value.to_string().len()).into_iter().max().unwrap_or(1) as f64;
        let name = picture.view.dims.get(1).map_or(0.0, |name| legend::width(name, 14.0));
        let left = 30.0 + (7.0 * label).max(name);
        Page { picture, shown, low: [low_x, low_y], high: [high_x, high_y], unit: [unit, unit * stretch], rows, left }
    }

    fn right(&self) -> f64 {
        self.left + (self.high[0] - self.low[0] + 1) as f64 * self.unit[0]
    }

    fn bottom(&self) -> f64 {
        TOP + (self.high[1] - self.low[1] + 1) as f64 * self.unit[1]
    }

    fn row_count(&self) -> f64 {
        self.rows.values().max().map_or(1.0, |row| *row as f64 + 1.0)
    }

    /// The middle of a cell.
    fn cell(&self, at: [i64; 2]) -> At {
        At {
            x: self.left + ((at[0] - self.low[0]) as f64 + 0.5) * self.unit[0],
            y: self.bottom() - ((at[1] - self.low[1]) as f64 + 0.5) * self.unit[1],
        }
    }

    fn at(&self, point: &Point) -> At {
        let At { x, y } = self.cell(point.at);
        let row = self.rows[&point.computation] as f64 - (self.row_count() - 1.0) / 2.0;
        At { x, y: y - row * self.unit[1] / self.row_count() }
    }

    fn radius(&self) -> f64 {
        match self.shown {
            Shown::Numbers => (self.unit[0] * 0.25).min(self.unit[1] / self.row_count() * 0.34),
            Shown::Line | Shown::Nothing => (self.unit[0] * 0.16).min(7.0),
        }
    }

    /// Cells in the colour of their tile, and lines between tiles.
    fn tiles(&self, svg: &mut Svg) {
        let Picture { points, tiles, .. } = self.picture;
        if tiles.is_empty() {
            return;
        }
        let rows = self.row_count() as i64;
        // Cells of computations that share a cell lie above one another.
        let place = |point: &Point| [point.at[0], point.at[1] * rows + self.rows[&point.computation] as i64];
        let owner: BTreeMap<[i64; 2], usize> =
            points.iter().filter_map(|point| Some((place(point), point.tile?))).collect();
        let near = |[x, y]: [i64; 2]| [[x + 1, y], [x - 1, y], [x, y + 1], [x, y - 1]];
        let mut touching: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (cell, tile) in &owner {
            for other in near(*cell).iter().filter_map(|cell| owner.get(cell)).filter(|other| *other != tile) {
                touching.entry(*tile).or_default().insert(*other);
            }
        }
        let mut fills: Vec<usize> = vec![];
        for tile in 0..tiles.len() {
            let others = touching.get(&tile).into_iter().flatten();
            let taken: Vec<usize> = others.filter_map(|other| fills.get(*other).copied()).collect();
            let wanted = (0..FILLS.len()).map(|turn| (tile + turn) % FILLS.len());
            fills.push(wanted.into_iter().find(|fill| !taken.contains(fill)).unwrap_or(tile % FILLS.len()));
        }
        let (width, height) = (self.unit[0], self.unit[1] / rows as f64);
        let corner = |[x, y]: [i64; 2]| At {
            x: self.left + (x - self.low[0]) as f64 * width,
            y: self.bottom() - (y - self.low[1] * rows + 1) as f64 * height,
        };
        svg.group(r#"shape-rendering="crispEdges""#, |svg| {
            for (cell, tile) in &owner {
                svg.rect(corner(*cell), width, height, &format!(r#"fill="{}""#, FILLS[fills[*tile]]));
            }
        });
        let mut borders = String::new();
        for (cell, tile) in &owner {
            let At { x, y } = corner(*cell);
            let sides = near(*cell).map(|other| owner.get(&other) != Some(tile));
            let [right, left, up, down] = sides;
            let mut side = |drawn: bool, from: (f64, f64), to: &str| {
                if drawn {
                    borders.push_str(&format!("M{} {}{to}", number(from.0), number(from.1)));
                }
            };
            let (across, along) = (format!("h{}", number(width)), format!("v{}", number(height)));
            let inner = |other: [i64; 2]| owner.contains_key(&other);
            let [_, west, _, south] = near(*cell);
            side(right, (x + width, y), &along);
            side(left && !inner(west), (x, y), &along);
            side(up, (x, y), &across);
            side(down && !inner(south), (x, y + height), &across);
        }
        svg.path(&borders, r##"fill="none" stroke="#8a8f98" stroke-width="1.4" stroke-linecap="square""##);
    }

    fn axes(&self, svg: &mut Svg) {
        let label = Font { size: 11.0, color: FAINT, anchor: Anchor::Middle, style: "" };
        let name = Font { size: 14.0, color: INK, anchor: Anchor::Middle, style: r#"font-style="italic""# };
        let (bottom, right) = (self.bottom(), self.right());
        let mut lattice = String::new();
        let has: BTreeSet<[i64; 2]> = self.picture.points.iter().map(|point| point.at).collect();
        for x in self.low[0]..=self.high[0] {
            for y in self.low[1]..=self.high[1] {
                if !has.contains(&[x, y]) {
                    let At { x, y } = self.cell([x, y]);
                    lattice.push_str(&format!("M{} {}h0", number(x), number(y)));
                }
            }
        }
        if !lattice.is_empty() {
            svg.path(&lattice, r##"stroke="#d1d5db" stroke-width="3" stroke-linecap="round""##);
        }
        let stroke = r##"fill="none" stroke="#9ca3af" stroke-width="1""##;
        let left = number(self.left - 4.0);
        svg.path(&format!("M{left} {}H{}", number(bottom + 4.0), number(right)), stroke);
        for x in ticks(self.low[0], self.high[0], self.unit[0], 9.0) {
            let at = self.cell([x, self.low[1]]);
            svg.text(At { x: at.x, y: bottom + 18.0 }, label, &x.to_string());
        }
        let dims = &self.picture.view.dims;
        svg.text(At { x: right + 14.0, y: bottom + 8.0 }, name, &dims[0]);
        let Some(vertical) = dims.get(1) else { return };
        svg.path(&format!("M{left} {}V{}", number(bottom + 4.0), number(TOP)), stroke);
        for y in ticks(self.low[1], self.high[1], self.unit[1], 16.0) {
            let at = self.cell([self.low[0], y]);
            svg.text(At { x: self.left - 10.0, y: at.y + 4.0 }, Font { anchor: Anchor::End, ..label }, &y.to_string());
        }
        svg.text(At { x: self.left - 10.0, y: TOP + 2.0 }, Font { anchor: Anchor::End, ..name }, vertical);
    }

    /// From each point to the one that runs next.
    fn line(&self, svg: &mut Svg) {
        let mut path = String::new();
        for point in &self.picture.points {
            if let Some(before) = point.before {
                let (from, to) = (self.at(&self.picture.points[before]), self.at(point));
                let [a, b, c, d] = [from.x, from.y, to.x, to.y].map(number);
                path.push_str(&format!("M{a} {b}L{c} {d}"));
            }
        }
        if !path.is_empty() {
            svg.path(&path, r##"fill="none" stroke="#9ca3af" stroke-width="2" stroke-linecap="round" opacity="0.7""##);
        }
    }

    fn arrows(&self, svg: &mut Svg) {
        let Arrows::All(arrows) = &self.picture.arrows else { return };
        let thin = arrows.len() > 250;
        for kind in [DependenceKind::Output, DependenceKind::Anti, DependenceKind::Flow] {
            let (color, dashes) = look(kind);
            let dashes = dashes.map_or(String::new(), |dashes| format!(r#" stroke-dasharray="{dashes}""#));
            let (width, opacity) = if thin { ("0.9", "0.55") } else { ("1.4", "0.85") };
            let own: Vec<&Arrow> = arrows.iter().filter(|arrow| arrow.kind == kind).collect();
            let (mut shafts, mut heads) = (String::new(), String::new());
            for arrow in own {
                // Arrows of several kinds between two points lie beside one another.
                let rivals = arrows.iter().filter(|other| (other.from, other.to) == (arrow.from, arrow.to)).count();
                let side = match (rivals, kind) {
                    (..=1, _) => 0.0,
                    (_, DependenceKind::Flow) => -2.6,
                    (_, DependenceKind::Anti) => 2.6,
                    (_, DependenceKind::Output) => 0.0,
                };
                self.arrow(arrow, side, &mut shafts, &mut heads);
            }
            if shafts.is_empty() {
                continue;
            }
            svg.group(&format!(r#"opacity="{opacity}""#), |svg| {
                let stroke = format!(r#"fill="none" stroke="{color}" stroke-width="{width}"{dashes}"#);
                svg.path(&shafts, &stroke);
                svg.path(&heads, &format!(r#"fill="{color}""#));
            });
        }
    }

    fn arrow(&self, arrow: &Arrow, side: f64, shafts: &mut String, heads: &mut String) {
        let points = &self.picture.points;
        let (from, to) = (self.at(&points[arrow.from]), self.at(&points[arrow.to]));
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let length = dx.hypot(dy);
        if length < 1.0 {
            return;
        }
        let (ux, uy) = (dx / length, dy / length);
        let gap = self.radius() + 1.5;
        let head = (self.unit[0] * 0.14).clamp(3.5, 7.0).min((length - 2.0 * gap).max(3.0) * 0.6);
        // What would pass through another point bends around it.
        let bend = if self.passes_points(arrow) { (length * 0.14).min(self.unit[0] * 0.45) } else { 0.0 };
        let shift = At { x: -uy * side, y: ux * side };
        let middle = At {
            x: f64::midpoint(from.x, to.x) + uy * bend * 2.0 + shift.x,
            y: f64::midpoint(from.y, to.y) - ux * bend * 2.0 + shift.y,
        };
        let toward = |a: At, b: At, by: f64| {
            let (x, y) = (b.x - a.x, b.y - a.y);
            let length = x.hypot(y).max(0.001);
            At { x: a.x + x / length * by, y: a.y + y / length * by }
        };
        let moved = |at: At| At { x: at.x + shift.x, y: at.y + shift.y };
        let (from, to) = (moved(from), moved(to));
        let (start, tip) = (toward(from, middle, gap), toward(to, middle, gap));
        let neck = toward(tip, middle, head);
        let (wx, wy) = (-(tip.y - neck.y) * 0.42, (tip.x - neck.x) * 0.42);
        let n = number;
        shafts.push_str(&match bend > 0.0 {
            false => format!("M{} {}L{} {}", n(start.x), n(start.y), n(neck.x), n(neck.y)),
            true => {
                format!("M{} {}Q{} {} {} {}", n(start.x), n(start.y), n(middle.x), n(middle.y), n(neck.x), n(neck.y))
            }
        });
        heads.push_str(&format!(
            "M{} {}L{} {}L{} {}Z",
            n(tip.x),
            n(tip.y),
            n(neck.x + wx),
            n(neck.y + wy),
            n(neck.x - wx),
            n(neck.y - wy)
        ));
    }

    fn passes_points(&self, arrow: &Arrow) -> bool {
        let (from, to) = (&self.picture.points[arrow.from], &self.picture.points[arrow.to]);
        let (dx, dy) = (to.at[0] - from.at[0], to.at[1] - from.at[1]);
        if self.row_count() > 1.0 && from.computation != to.computation {
            return dx == 0 && dy.abs() > 1;
        }
        if self.row_count() > 1.0 && dx == 0 {
            return true;
        }
        let (mut a, mut b) = (dx.unsigned_abs(), dy.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a > 1
    }

    fn points(&self, svg: &mut Svg) {
        let radius = self.radius();
        for (number_of, &id) in self.picture.view.computations.iter().enumerate() {
            let mut marks = Svg::default();
            for point in self.picture.points.iter().filter(|point| point.computation == id) {
                mark(&mut marks, number_of, self.at(point), radius);
            }
            let fill = mark_fill(number_of);
            svg.group(&format!(r#"fill="{fill}""#), |svg| std::mem::swap(svg, &mut marks));
        }
        if self.shown != Shown::Numbers {
            return;
        }
        let font = Font { size: 10.0, color: "white", anchor: Anchor::Middle, style: "" };
        for point in &self.picture.points {
            let text = point.step.to_string();
            let size = (radius * 1.25).min(2.6 * radius / text.len() as f64).clamp(4.0, 13.0);
            let At { x, y } = self.at(point);
            svg.text(At { x, y: y + size * 0.36 }, Font { size, ..font }, &text);
        }
    }
}

/// The shape of the points of the computation of this number.
pub fn mark(svg: &mut Svg, number_of: usize, at: At, radius: f64) {
    let At { x, y } = at;
    match number_of % 3 {
        0 => svg.circle(at, radius, ""),
        1 => {
            let r = radius * 0.92;
            svg.rect(At { x: x - r, y: y - r }, 2.0 * r, 2.0 * r, &format!(r#"rx="{}""#, number(r * 0.3)));
        }
        _ => {
            let r = radius * 1.22;
            let [left, right, top, bottom] = [x - r, x + r, y - r, y + r].map(number);
            let (x, y) = (number(x), number(y));
            svg.path(&format!("M{x} {top}L{right} {y}L{x} {bottom}L{left} {y}Z"), "");
        }
    }
}

pub fn mark_fill(number_of: usize) -> &'static str {
    ["#1f2937", "#4b5563", "#334155", "#57534e"][number_of % 4]
}

/// Colour and dashes of a kind of dependence.
pub fn look(kind: DependenceKind) -> (&'static str, Option<&'static str>) {
    match kind {
        DependenceKind::Flow => ("#1d6fb8", None),
        DependenceKind::Anti => ("#d2500f", Some("5 3")),
        DependenceKind::Output => ("#8e2bb8", Some("1.5 3")),
    }
}

/// Values to label, so that labels of `room` pixels a digit do not touch.
fn ticks(low: i64, high: i64, unit: f64, room: f64) -> Vec<i64> {
    let digits = low.to_string().len().max(high.to_string().len()) as f64;
    let steps = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000];
    let step = steps.into_iter().find(|step| *step as f64 * unit >= room.max(digits * 7.5 + 4.0)).unwrap_or(1000);
    (low..=high).filter(|value| step == 1 || value.rem_euclid(step) == 0).collect()
}

/// The name of the space that is drawn.
pub fn space_name(space: DrawnSpace) -> &'static str {
    match space {
        DrawnSpace::Iterations => "iterations",
        DrawnSpace::Schedule => "loops of the schedule",
    }
}
