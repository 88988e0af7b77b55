//! `tessella model parallelograms`.

mod picture;
mod problem;
mod program;

pub use program::{ProgramOptions, parallelograms_of};

use super::table::table;
use std::fmt::Write;
use tessella_diagnostics::{SourceMap, Style, render};
use tessella_polyhedral::models::parallelograms::matrix::Matrix;
use tessella_polyhedral::models::parallelograms::schemes::{self, Scheme};
use tessella_polyhedral::models::parallelograms::{
    Invalid, Prediction, Problem, Progress, Shapes, count, has_tilings, predict, search,
};

pub use picture::DrawError;
pub use problem::LONGEST_TIME;

/// How the search goes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchOptions {
    pub seed: u64,
    pub evaluations: u64,
    /// Shapes to compare with, one matrix a level, from the innermost on; none if empty.
    pub given: Vec<Vec<Vec<i64>>>,
}

/// What a model says, and what can be drawn of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The answers, one function after the other.
    pub text: String,
    /// Rendered diagnostics of the functions that have no answer, and of a file that cannot be read; empty if there are none.
    pub refused: String,
    chosen: Vec<Chosen>,
}

/// The shapes for one problem, and the names of its axes.
#[derive(Debug, Clone, PartialEq)]
struct Chosen {
    axes: Vec<String>,
    rows: Vec<Row>,
}

impl Told {
    /// The shapes as SVG: for each pair of axes the cut through the middle of a tile along both, or for the one pair that is
    /// named, by loops or by numbers from 1.
    ///
    /// # Errors
    /// Axes that no problem has.
    pub fn picture(&self, dims: Option<(&str, &str)>) -> Result<String, DrawError> {
        picture::draw(&self.chosen, dims)
    }
}

/// Chooses the shapes of tiles for a problem that a file describes, and compares them with the usual ones.
///
/// # Errors
/// Rendered diagnostics.
pub fn parallelograms(text: &str, name: &str, options: SearchOptions, progress: Progress<'_>) -> Result<Told, String> {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text, 1);
    let stated = problem::parse(text, file).map_err(|errors| render(&sources, &errors, Style::Plain))?;
    let problem = &stated.problem;
    let rows = chosen(problem, &stated.schemes, &options, progress)
        .map_err(|error| render(&sources, &[problem::no_tiling(file, text, &error)], Style::Plain))?;
    if rows.is_empty() {
        return Err(render(
            &sources,
            &[match is_beyond(problem) {
                true => problem::beyond(problem::first_line(file, text)),
                false => problem::without_tiling(file, text, has_tilings(&problem.dependences)),
            }],
            Style::Plain,
        ));
    }
    let left_out = left_out(problem, &stated.schemes, &rows);
    let told = format!("shapes for {}\n{}{left_out}\n{}", levels(problem), free(problem), compared(problem, &rows));
    let axes = (1..=problem.space.size()).map(|axis| format!("axis {axis}")).collect();
    Ok(Told { text: told, refused: String::new(), chosen: vec![Chosen { axes, rows }] })
}

/// Shapes with a name and what they take.
type Row = (String, Shapes, Prediction);

/// The selected shapes, and after them the given and the usual ones, these with their best sizes, the fastest first.
///
/// # Errors
/// Given shapes that are no tiling.
fn chosen(
    problem: &Problem,
    stated: &[Vec<Scheme>],
    options: &SearchOptions,
    progress: Progress<'_>,
) -> Result<Vec<Row>, Invalid> {
    let mut rows: Vec<Row> = vec![];
    for schemes in asked(stated, problem) {
        if let Some((shapes, prediction)) = schemes::best(problem, &schemes) {
            rows.push((names(&schemes), shapes, prediction));
        }
    }
    // Dependences of more than one step need shapes that have no name.
    if stated.is_empty()
        && let Some((shapes, prediction)) = schemes::best_skewed(problem)
        && rows.iter().all(|(_, known, _)| *known != shapes)
    {
        rows.push(("least skew".to_string(), shapes, prediction));
    }
    rows.sort_by(|a, b| a.2.time.total_cmp(&b.2.time));
    rows.truncate(if stated.is_empty() { MOST_ROWS } else { rows.len() });
    if !options.given.is_empty() {
        let shapes: Shapes = options.given.iter().map(|rows| Matrix { rows: rows.clone() }).collect();
        let prediction = predict(problem, &shapes)?;
        let place = rows.iter().position(|(_, _, it)| it.time > prediction.time);
        rows.insert(place.unwrap_or(rows.len()), ("given".to_string(), shapes, prediction));
    }
    let mut starts: Vec<Shapes> = rows.iter().map(|(_, shapes, _)| shapes.clone()).collect();
    starts.push(vec![Matrix::diagonal(problem.space.size(), 1); problem.overhead.len()]);
    // Where no scheme of the file is a tiling, others may be.
    starts.extend(schemes::best_skewed(problem).filter(|_| rows.is_empty()).map(|(shapes, _)| shapes));
    if let Some(found) = search(problem, &starts, options.seed, options.evaluations, progress) {
        rows.insert(0, ("selected".to_string(), found.shapes, found.prediction));
    }
    Ok(rows)
}

/// Whether the time of the least tiles cannot be told, since numbers pass 128 bits.
fn is_beyond(problem: &Problem) -> bool {
    let axes = problem.space.size();
    let mut shapes: Shapes = vec![Matrix::diagonal(axes, 1); problem.overhead.len()];
    let unit = schemes::least_skew(&problem.dependences, axes);
    if let Some((unit, sides)) = unit.and_then(|unit| {
        let sides = schemes::least_sides(&unit, &problem.dependences)?;
        Some((unit, sides))
    }) {
        let scaled = |(row, &side): (&Vec<i64>, &i64)| row.iter().map(|it| it.saturating_mul(side)).collect();
        shapes[0].rows = unit.rows.iter().zip(&sides).map(scaled).collect();
    }
    predict(problem, &shapes) == Err(Invalid::Overflow)
}

/// `Square, Skewing-1`.
fn names(schemes: &[Scheme]) -> String {
    schemes.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ")
}

/// A line for each scheme of the file that is no tiling.
fn left_out(problem: &Problem, stated: &[Vec<Scheme>], rows: &[Row]) -> String {
    let axes = problem.space.size();
    let unlimited = Problem { largest: vec![], ..problem.clone() };
    let mut told = String::new();
    for schemes in stated.iter().filter(|it| rows.iter().all(|(name, _, _)| *name != names(it))) {
        let why = if let Some(flat) = schemes.iter().find(|it| it.matrix(axes, 1).is_none()) {
            format!("{} is a shape over two axes", flat.name())
        } else if schemes::best(&unlimited, schemes).is_some() {
            "it has no tiling of so few points for these dependences".to_string()
        } else {
            "it is no tiling for these dependences".to_string()
        };
        let _ = writeln!(told, "left out is the scheme {}: {why}", names(schemes));
    }
    told
}

/// `2 levels of tiles`.
fn levels(problem: &Problem) -> String {
    format!("{} level{} of tiles", problem.overhead.len(), if problem.overhead.len() == 1 { "" } else { "s" })
}

/// A line where dependences do not span the space; else nothing.
fn free(problem: &Problem) -> &'static str {
    match problem.has_free_direction() {
        true => {
            "nothing waits along some directions: other tiles do as well there, and leave simpler loops; paths under limit count steps that no dependence makes\n"
        }
        false => "",
    }
}

/// Times side by side, then the shapes.
fn compared(problem: &Problem, rows: &[Row]) -> String {
    let mut told =
        table(&["shapes", "limit: time", "to the first", "paths", "exact: time", "paths"], &lines(problem, rows));
    for (name, shapes, _) in rows {
        let _ = writeln!(told, "\n{name}");
        for (level, shape) in shapes.iter().enumerate() {
            let _ = writeln!(told, "  level {level}: {}", matrix(shape));
        }
    }
    told
}

/// More than this of all combinations of usual shapes are not shown.
const MOST_ROWS: usize = 4;

/// The combinations of shapes to compare with: those of the file, else all.
fn asked(stated: &[Vec<Scheme>], problem: &Problem) -> Vec<Vec<Scheme>> {
    if !stated.is_empty() {
        return stated.to_vec();
    }
    let mut all: Vec<Vec<Scheme>> = vec![vec![]];
    for _ in 0..problem.overhead.len() {
        all = all.iter().flat_map(|it| Scheme::ALL.map(|scheme| [it.as_slice(), &[scheme]].concat())).collect();
    }
    all
}

/// What the linear programs say, the limit for many tiles, and what counting says, where there are few enough points.
fn lines(problem: &Problem, rows: &[Row]) -> Vec<Vec<String>> {
    let first = rows[0].2.time;
    let line = |(name, shapes, prediction): &Row| {
        let limits = joined(&prediction.paths);
        let (exact, paths) = match count(problem, shapes) {
            Ok(Some(counted)) => (time(counted.time), joined(&counted.paths)),
            Ok(None) | Err(_) => ("-".to_string(), "-".to_string()),
        };
        vec![name.clone(), time(prediction.time), format!("{:.2}", prediction.time / first), limits, exact, paths]
    };
    rows.iter().map(line).collect()
}

fn joined(paths: &[impl ToString]) -> String {
    paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

fn time(value: f64) -> String {
    match value {
        0.01..1.0 => format!("{value:.4}"),
        1.0..1e6 => format!("{value:.2}"),
        _ => format!("{value:.2e}"),
    }
}

/// `(8, 0; 0, 8)`.
fn matrix(matrix: &Matrix) -> String {
    let row = |row: &Vec<i64>| row.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    format!("({})", matrix.rows.iter().map(row).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests;
