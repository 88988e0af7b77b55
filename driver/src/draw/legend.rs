//! The words around a picture: title, sizes, and what shapes, colours and numbers mean.

use super::svg::{Anchor, At, Font, Svg, number};
use super::view::{Shown, look, mark, mark_fill, space_name};
use tessella_polyhedral::dependence::DependenceKind;
use tessella_polyhedral::draw::{Arrows, Picture};
use tessella_polyhedral::print;
use tessella_polyhedral::verify::Verified;

/// Text longer than this is cut.
const LONGEST: usize = 92;
const LINE: f64 = 20.0;

/// A line of the legend: a sample and what it means.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub sample: Sample,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sample {
    /// The mark of the computation of this number.
    Mark(usize),
    Arrow(DependenceKind),
    Tiles,
    Number,
    Path,
    None,
}

/// `jacobi1d!: (i, t)`.
pub fn title(verified: &Verified, picture: &Picture) -> String {
    let dims = picture.view.dims.join(", ");
    format!("{}: ({dims}), {}", verified.algorithm().name, space_name(picture.view.space))
}

/// Sizes and what is fixed.
pub fn detail(verified: &Verified, picture: &Picture) -> String {
    let params = verified.algorithm().params.iter().zip(&picture.view.params);
    let sizes: Vec<String> = params.map(|(param, value)| format!("{} = {value}", param.name)).collect();
    let fixed: Vec<String> = picture.view.fixed.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    match (sizes.is_empty(), fixed.is_empty()) {
        (true, true) => String::new(),
        (false, true) => format!("with {}", sizes.join(", ")),
        (true, false) => format!("where {}", fixed.join(", ")),
        (false, false) => format!("with {}; where {}", sizes.join(", "), fixed.join(", ")),
    }
}

pub fn lines(verified: &Verified, picture: &Picture, shown: Shown) -> Vec<Line> {
    let algorithm = verified.algorithm();
    let mut lines = vec![];
    for (at, &id) in picture.view.computations.iter().enumerate() {
        let computation = algorithm.computation(id);
        let text = format!("{}: {}", computation.name, print::statement(algorithm, computation));
        lines.push(Line { sample: Sample::Mark(at), text: cut(&text) });
    }
    match &picture.arrows {
        Arrows::TooMany => {
            let text = "more dependences than can be drawn: take smaller sizes to see them".to_string();
            lines.push(Line { sample: Sample::None, text });
        }
        Arrows::All(arrows) => {
            for kind in [DependenceKind::Flow, DependenceKind::Anti, DependenceKind::Output] {
                let text = match kind {
                    DependenceKind::Flow => "flow: what one writes, the other reads",
                    DependenceKind::Anti => "anti: what one reads, the other overwrites",
                    DependenceKind::Output => "output: what one writes, the other overwrites",
                };
                if arrows.iter().any(|arrow| arrow.kind == kind) {
                    lines.push(Line { sample: Sample::Arrow(kind), text: text.to_string() });
                }
            }
        }
    }
    if let Some(first) = picture.tiles.first() {
        let names: Vec<&str> = first.at.iter().map(|(name, _)| name.as_str()).collect();
        let count = picture.tiles.len();
        let plural = if count == 1 { "one tile" } else { &format!("{count} tiles") };
        lines.push(Line { sample: Sample::Tiles, text: format!("{plural}, counted by {}", names.join(", ")) });
    }
    let (sample, order) = match shown {
        Shown::Numbers => (Sample::Number, "the order of execution"),
        Shown::Line => (Sample::Path, "from each point to the one that runs next"),
        Shown::Nothing => return lines,
    };
    let open = match (picture.open.as_slice(), shown) {
        ([], _) => String::new(),
        (names, Shown::Numbers) => format!("; {} in parallel: points of one number may run together", run(names)),
        (names, Shown::Line | Shown::Nothing) => format!("; {} in parallel: lines may run together", run(names)),
    };
    lines.push(Line { sample, text: format!("{order}{open}") });
    lines
}

fn run(names: &[String]) -> String {
    match names {
        [one] => format!("{one} runs"),
        _ => format!("{} run", names.join(", ")),
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_string();
    }
    let kept: String = text.chars().take(LONGEST - 3).collect();
    format!("{kept}...")
}

/// About how wide a text is.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.55
}

pub fn height(lines: &[Line]) -> f64 {
    lines.len() as f64 * LINE + 8.0
}

/// Paints the lines from `at` downwards; gives the widest one's width.
pub fn paint(svg: &mut Svg, lines: &[Line], at: At) -> f64 {
    let font = Font { size: 12.0, color: "#1f2937", anchor: Anchor::Start, style: "" };
    let mut widest = 0.0_f64;
    for (row, line) in lines.iter().enumerate() {
        let y = at.y + row as f64 * LINE;
        sample(svg, line.sample, At { x: at.x, y });
        svg.text(At { x: at.x + 40.0, y: y + 4.0 }, font, &line.text);
        widest = widest.max(40.0 + width(&line.text, font.size));
    }
    widest
}

fn sample(svg: &mut Svg, sample: Sample, at: At) {
    let At { x, y } = at;
    let middle = At { x: x + 15.0, y };
    match sample {
        Sample::Mark(number_of) => {
            svg.group(&format!(r#"fill="{}""#, mark_fill(number_of)), |svg| mark(svg, number_of, middle, 6.0));
        }
        Sample::Arrow(kind) => {
            let (color, dashes) = look(kind);
            let dashes = dashes.map_or(String::new(), |dashes| format!(r#" stroke-dasharray="{dashes}""#));
            let (left, neck, row) = (number(x), number(x + 23.0), number(y));
            let stroke = format!(r#"fill="none" stroke="{color}" stroke-width="1.6"{dashes}"#);
            svg.path(&format!("M{left} {row}H{neck}"), &stroke);
            svg.path(&format!("M{} {row}l-7 -3v6Z", number(x + 30.0)), &format!(r#"fill="{color}""#));
        }
        Sample::Tiles => {
            let stroke = r##"stroke="#8a8f98" stroke-width="1.2""##;
            svg.rect(At { x: x + 1.0, y: y - 7.0 }, 14.0, 14.0, &format!(r##"fill="#fde4c8" {stroke}"##));
            svg.rect(At { x: x + 15.0, y: y - 7.0 }, 14.0, 14.0, &format!(r##"fill="#d3e9f8" {stroke}"##));
        }
        Sample::Number => {
            svg.circle(middle, 8.0, r##"fill="#1f2937""##);
            let font = Font { size: 10.0, color: "white", anchor: Anchor::Middle, style: "" };
            svg.text(At { x: middle.x, y: y + 3.6 }, font, "1");
        }
        Sample::Path => {
            let stroke = r##"fill="none" stroke="#9ca3af" stroke-width="2" stroke-linecap="round""##;
            svg.path(&format!("M{} {}h28", number(x + 1.0), number(y)), stroke);
        }
        Sample::None => {}
    }
}
