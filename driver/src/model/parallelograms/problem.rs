//! The text of a problem.
//!
//! ```text
//! # comments
//! space 16777216 0; 0 16777216
//! dependence 1 0
//! dependence 0 1
//! iteration 1.3e-6
//! level 18e-6 64              # what a start costs; the most points of a tile, if there is a limit
//! level 63e-3 67108864
//! scheme Square Skewing-1     # to compare with; if there is none, all
//! ```

use tessella_diagnostics::{Code, Diagnostic, FileId, Span};
use tessella_polyhedral::models::parallelograms::matrix::Matrix;
use tessella_polyhedral::models::parallelograms::schemes::Scheme;
use tessella_polyhedral::models::parallelograms::{Invalid, Problem};

pub(super) struct Stated {
    pub(super) problem: Problem,
    pub(super) schemes: Vec<Vec<Scheme>>,
}

/// The axes and levels that a problem may have.
const MOST_AXES: usize = 4;
const MOST_LEVELS: usize = 4;
/// An entry of a matrix or dependence.
const LARGEST: u64 = 1 << 32;

/// Times in seconds beyond this are none; sums and products of shorter ones stay finite.
pub const LONGEST_TIME: f64 = 1e30;
/// The words that numbers follow.
const KEYWORDS: [&str; 4] = ["space", "dependence", "iteration", "level"];

pub(super) fn parse(text: &str, file: FileId) -> Result<Stated, Vec<Diagnostic>> {
    let mut problem = Problem {
        space: Matrix { rows: vec![] },
        dependences: vec![],
        iteration: 1.0,
        overhead: vec![],
        largest: vec![],
    };
    let mut schemes: Vec<(Vec<Scheme>, Span)> = vec![];
    let (mut space, mut iteration, mut dependences): (Option<Span>, Option<Span>, Vec<Span>) = (None, None, vec![]);
    let (mut errors, mut strange) = (vec![], 0);
    let mut start = 0;
    let whole = first_line(file, text);
    for line in text.split_inclusive('\n') {
        let said = line.split('#').next().unwrap_or("").trim_end();
        let span = Span { file, start: start as u32, end: (start + said.len()) as u32 };
        start += line.len();
        let said = said.trim();
        if said.is_empty() {
            continue;
        }
        let (word, rest) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
        let rest = rest.trim();
        let understood = match word {
            "space" => rest.split(';').map(numbers).collect::<Option<Vec<_>>>().map(|rows| {
                errors.extend(again(space.replace(span), span, "a problem has one space"));
                problem.space = Matrix { rows };
            }),
            "dependence" => numbers(rest).map(|it| {
                dependences.push(span);
                problem.dependences.push(it);
            }),
            "iteration" => positive(rest).filter(|&it| it > 0.0).map(|it| {
                errors.extend(again(iteration.replace(span), span, "an iteration takes one time"));
                problem.iteration = it;
            }),
            "level" => level(rest).map(|(overhead, largest)| {
                if problem.overhead.len() == MOST_LEVELS {
                    let text = format!("a problem has at most {MOST_LEVELS} levels of tiles");
                    errors.push(wrong(span, &text, "remove this line, and those of all further levels"));
                }
                problem.overhead.push(overhead);
                problem.largest.push(largest);
            }),
            "scheme" => rest
                .split_whitespace()
                .map(Scheme::from_name)
                .collect::<Option<Vec<_>>>()
                .map(|it| schemes.push((it, span))),
            _ => None,
        };
        if understood.is_none() && KEYWORDS.contains(&word) && is_beyond(rest) {
            let help = "write whole numbers of at most 4294967296 (2^32) for edges and dependences, and times of at most 1e30 seconds";
            errors.push(wrong(span, "a number of this line is too large", help));
        } else if understood.is_none() {
            strange += usize::from(!KEYWORDS.contains(&word) && word != "scheme");
            let text = "this line of a problem is not understood";
            errors.push(wrong(span, text, "write `space 16 0; 0 16`, `dependence 1 0`, `iteration 1.3e-6`, `level 18e-6 64` or `scheme Square Skewing-1`"));
        }
    }
    if strange > 1 && space.is_none() && dependences.is_empty() {
        let help = "give a Julia file a name that ends in `.jl`; a problem has lines such as `space 16 0; 0 16`, `dependence 1 0` and \
                    `level 18e-6 64`";
        return Err(vec![wrong(whole, "no line of this file speaks of a space or of dependences", help)]);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let axes = problem.space.size();
    if axes > MOST_AXES {
        let text = format!("the space has {axes} axes, and shapes are selected for {MOST_AXES} at most");
        return Err(vec![wrong(space.unwrap_or(whole), &text, "leave out axes along which nothing is tiled")]);
    }
    if axes > 0 && problem.space.determinant().is_none() {
        return Err(vec![beyond(space.unwrap_or(whole))]);
    }
    if axes == 0 || problem.space.inverse().is_none() {
        let help = format!("write one row for each axis, as in `space 16 0; 0 16`, at most {MOST_AXES}");
        let text = "the problem has no space with independent edges";
        return Err(vec![wrong(space.unwrap_or(whole), text, &help)]);
    }
    if problem.dependences.is_empty() {
        let help = "write lines such as `dependence 1 0`, with one number for each axis";
        errors.push(wrong(whole, "the problem has no dependences", help));
    }
    for (dependence, &span) in problem.dependences.iter().zip(&dependences) {
        if dependence.len() != axes {
            let text = format!("a dependence has one number for each axis of the space, {axes} here");
            errors.push(wrong(span, &text, "write as many numbers as the space has rows"));
        } else if dependence.iter().all(|&it| it == 0) {
            let text = "an iteration would have to run before itself";
            errors.push(wrong(
                span,
                text,
                "say how much further the iteration lies that runs later: not 0 along all axes",
            ));
        }
    }
    if problem.overhead.is_empty() {
        let help = format!("write one to {MOST_LEVELS} lines such as `level 18e-6 64`");
        errors.push(wrong(whole, "the problem has no levels of tiles", &help));
    }
    for (scheme, span) in &schemes {
        if errors.is_empty() && scheme.len() != problem.overhead.len() {
            errors.push(wrong(
                *span,
                "a scheme names one shape for each level",
                "write as many names as there are lines `level`",
            ));
        }
    }
    let schemes = schemes.into_iter().map(|(scheme, _)| scheme).collect();
    if errors.is_empty() { Ok(Stated { problem, schemes }) } else { Err(errors) }
}

/// What is said a second time.
fn again(before: Option<Span>, span: Span, text: &str) -> Option<Diagnostic> {
    let before = before?;
    Some(wrong(span, text, "remove one of the two lines").secondary(before, "said here already"))
}

/// The space is too large to calculate with.
pub(super) fn beyond(at: Span) -> Diagnostic {
    wrong(
        at,
        "numbers pass 128 bits for a space of this size",
        "write a smaller space: which shapes are best hardly depends on how large it is",
    )
}

/// Where a problem as a whole is shown.
pub(super) fn first_line(file: FileId, text: &str) -> Span {
    Span { file, start: 0, end: text.find('\n').unwrap_or(text.len()) as u32 }
}

/// The shapes that are to be compared with are no tiling.
pub(super) fn no_tiling(file: FileId, text: &str, error: &Invalid) -> Diagnostic {
    let whole = first_line(file, text);
    let help = "give a matrix for each level, whose rows are the edges of a tile, as in `--shape '8,0;0,8'`";
    wrong(whole, &format!("the given shapes are no tiling: {error}"), help)
}

/// None of the shapes keeps the dependences; `is_possible`: others would.
pub(super) fn without_tiling(file: FileId, text: &str, is_possible: bool) -> Diagnostic {
    let whole = first_line(file, text);
    match is_possible {
        true => wrong(
            whole,
            "no tiling was found for these dependences, neither among the schemes nor of least skew",
            "allow larger tiles, name schemes that fit the dependences, such as Diamond or Skewing-1 at level 0, or give edges with \
             `--shape`",
        ),
        false => wrong(
            whole,
            "no tiling keeps these dependences: along some of them, one after the other, an iteration waits for itself",
            "leave out or turn round dependences, until no sum of them is 0 along all axes",
        ),
    }
}

fn wrong(span: Span, text: &str, help: &str) -> Diagnostic {
    Diagnostic::error(Code("E0581"), text).primary(span, "in this problem").with_help(help)
}

fn numbers(text: &str) -> Option<Vec<i64>> {
    let numbers: Vec<i64> = text.split_whitespace().map(|it| it.parse().ok()).collect::<Option<_>>()?;
    let fits = |it: &i64| it.unsigned_abs() <= LARGEST;
    (!numbers.is_empty() && numbers.iter().all(fits)).then_some(numbers)
}

/// Whether all words are numbers, and one of them is larger than a line takes.
fn is_beyond(text: &str) -> bool {
    let numbers = text.split([' ', '\t', ';']).filter(|it| !it.is_empty()).map(str::parse::<f64>);
    numbers.collect::<Result<Vec<_>, _>>().is_ok_and(|it| it.iter().any(|it| it.abs() > LARGEST as f64))
}

/// A time, not negative.
fn positive(text: &str) -> Option<f64> {
    text.parse().ok().filter(|it: &f64| (0.0..=LONGEST_TIME).contains(it))
}

fn level(text: &str) -> Option<(f64, u64)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [overhead] => Some((positive(overhead)?, u64::MAX)),
        [overhead, largest] => Some((positive(overhead)?, largest.parse().ok().filter(|&it| it > 0)?)),
        _ => None,
    }
}
