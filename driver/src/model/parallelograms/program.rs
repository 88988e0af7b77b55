//! `tessella model parallelograms` of a program.

use super::{Chosen, Row, SearchOptions, Told, chosen, compared, free, is_beyond, levels};
use crate::file::FileOptions;
use crate::model::{Answers, core, each, nothing};
use crate::pipeline::Refusal;
use crate::request::Backend;
use crate::sizes::{self, Defaults};
use crate::unit::Unit;
use std::cell::RefCell;
use std::fmt::Write;
use tessella_diagnostics::{Code, Diagnostic};
use tessella_lowering::Lowered;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::models::parallelograms::program::{Asked, AskedNest, problems};
use tessella_polyhedral::models::parallelograms::{Invalid, Problem, Progress, schemes};
use tessella_polyhedral::report;

/// What a program leaves open.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProgramOptions {
    /// Sizes and integer arguments.
    pub sizes: Vec<(String, i64)>,
    /// `t_c` in seconds; else from the operations of an iteration.
    pub iteration: Option<f64>,
    /// `t_s` in seconds and the most points of a tile, from the innermost level on; without any, one level for the CPU.
    pub levels: Vec<(f64, u64)>,
}

/// Sizes and counts that nothing determines.
const DEFAULTS: Defaults = Defaults { side: 1024, count: 128 };

/// Chooses the shapes of tiles for the nests of all chosen functions of a file whose dependences have a few distances.
/// `E0580` refuses a function without one, `E0790` sizes that do not fit.
pub fn parallelograms_of(
    text: &str,
    options: &FileOptions,
    asked: &ProgramOptions,
    search: SearchOptions,
    progress: Progress<'_>,
) -> Told {
    let progress = RefCell::new(progress);
    let drawn: RefCell<Vec<Chosen>> = RefCell::new(vec![]);
    let Answers { text, refused } = each(text, options, &|ctx, lowered, unit| {
        let nests = nests(ctx, lowered, unit, asked)?;
        let asked = |nest: &'_ AskedNest| -> Option<(String, Asked)> {
            Some((statements(lowered, nest), nest.asked.clone().ok()?))
        };
        let found: Vec<(String, Asked)> = nests.iter().filter_map(asked).collect();
        if found.is_empty() {
            return Err(without_nests(lowered, &nests));
        }
        let (mut told, mut shapes) = (vec![], vec![]);
        for (statements, nest) in &found {
            let rows = chosen(&nest.problem, &[], &search, &mut |used, best| (progress.borrow_mut())(used, best))
                .map_err(|error| given_is_no_tiling(lowered, nest, &error))?;
            told.push(of_nest(&lowered.algorithm.name, statements, nest, &rows));
            shapes.push(Chosen { axes: nest.loops.clone(), rows });
        }
        drawn.borrow_mut().append(&mut shapes);
        Ok(told.join("\n"))
    });
    Told { text, refused, chosen: drawn.into_inner() }
}

/// The shapes that are to be compared with cannot be those of a nest.
fn given_is_no_tiling(lowered: &Lowered, nest: &Asked, error: &Invalid) -> Refusal {
    let what = format!("no such tiles over {}: {error}", nest.loops.join(", "));
    nothing(
        lowered,
        &what,
        "give a matrix for each level, whose rows are the edges of a tile, as in `--shape '8,0;0,8'`",
    )
}

fn nests(ctx: &Ctx, lowered: &Lowered, unit: &Unit<'_>, asked: &ProgramOptions) -> Result<Vec<AskedNest>, Refusal> {
    let algorithm = &lowered.algorithm;
    // The order of the source is asked about, whatever schedule stands beside it.
    let commands = Some(vec![]);
    let plain = Unit {
        sources: unit.sources,
        function: unit.function.clone(),
        commands,
        assumed: vec![],
        machine: unit.machine,
    };
    let built = plain.build(Backend::C)?;
    let params = sizes::choose(&built, &asked.sizes, DEFAULTS).map_err(|error| {
        let diagnostic = Diagnostic::error(Code("E0790"), error.text).with_help(error.help);
        vec![match lowered.spans.function {
            Some(span) => diagnostic.primary(span, "in this function"),
            None => diagnostic,
        }]
    })?;
    let start = Scheduled {
        algorithm: algorithm.clone(),
        schedule: algorithm.source_order.clone(),
        target: Target::Cpu,
        machine: unit.machine,
        versions: vec![],
        scratch: Default::default(),
    };
    let found = report::report_dependences(ctx, algorithm).and_then(|direct| {
        let direct: Vec<_> = direct.into_iter().map(|it| it.dependence).collect();
        problems(ctx, &start, &direct, &unit.machine, &params)
    });
    let mut found = found.map_err(|error| core(unit, lowered, error))?;
    for nest in found.iter_mut().filter_map(|nest| nest.asked.as_mut().ok()) {
        if let Some(iteration) = asked.iteration {
            nest.problem.iteration = iteration;
        }
        if !asked.levels.is_empty() {
            (nest.problem.overhead, nest.problem.largest) = asked.levels.iter().copied().unzip();
        }
    }
    Ok(found)
}

/// `S, R`.
fn statements(lowered: &Lowered, nest: &AskedNest) -> String {
    let names = nest.computations.iter().map(|&id| lowered.algorithm.computation(id).name.clone());
    names.collect::<Vec<_>>().join(", ")
}

fn without_nests(lowered: &Lowered, nests: &[AskedNest]) -> Refusal {
    let notes = nests.iter().filter_map(|nest| {
        let obstacle = nest.asked.as_ref().err()?;
        Some(format!("the nest of {}: {obstacle}", statements(lowered, nest)))
    });
    let help = "parallelograms tile stencils: nests of loops whose dependences all have a few distances";
    let mut refusal = nothing(lowered, "no nest for parallelograms", help);
    for note in notes {
        refusal = refusal.into_iter().map(|it| it.with_note(note.clone())).collect();
    }
    refusal
}

fn of_nest(function: &str, statements: &str, nest: &Asked, rows: &[Row]) -> String {
    let problem = &nest.problem;
    let extents: Vec<String> = nest.extents.iter().map(u64::to_string).collect();
    let mut text = format!(
        "{function}: {} for {statements} over {}, a space of {}\n",
        levels(problem),
        nest.loops.join(", "),
        extents.join(" x ")
    );
    if nest.sweeps > 1 {
        let _ = writeln!(
            text,
            "each iteration of {} counts as {} steps, one for each sweep over space",
            nest.loops[0], nest.sweeps
        );
    }
    let distances: Vec<String> = problem.dependences.iter().map(|it| format!("({})", join(it))).collect();
    let _ = writeln!(text, "dependences {}", distances.join(" "));
    text.push_str(free(problem));
    let starts = problem.overhead.iter().zip(&problem.largest).map(|(start, most)| match most {
        &u64::MAX => format!("{start:.1e} s"),
        most => format!("{start:.1e} s and at most {most} points"),
    });
    let starts: Vec<String> = starts.collect();
    let _ =
        writeln!(text, "an iteration takes {:.1e} s; a tile starts in {}\n", problem.iteration, starts.join(", then "));
    if rows.is_empty() {
        text.push_str(&without_shapes(problem));
        return text;
    }
    text.push_str(&compared(problem, rows));
    match (nest.sweeps, &rows[0].1[0]) {
        // The times mean nothing where nothing waits.
        _ if problem.has_free_direction() => {}
        (1, shape) => {
            let edges = shape.rows.clone();
            let command =
                Command::Parallelogram { computation: nest.computation.clone(), loops: nest.loops.clone(), edges };
            let _ = writeln!(text, "\nas a command: {command}");
        }
        (_, _) => {
            text.push_str("\nno command has these tiles: `parallelogram` takes loops that are perfectly nested\n")
        }
    }
    text
}

/// Neither the usual shapes nor one of least skew are tilings.
fn without_shapes(problem: &Problem) -> String {
    let unit = schemes::least_skew(&problem.dependences, problem.space.size());
    let least = unit.and_then(|unit| schemes::least_sides(&unit, &problem.dependences));
    if is_beyond(problem) {
        return "  no times can be told: numbers pass 128 bits for a space of this size; smaller sizes have shapes much like it\n".to_string();
    }
    let why = match least {
        Some(sides) => {
            let points = sides.iter().fold(1_i64, |product, &it| product.saturating_mul(it));
            format!("the tile of least skew has at least {points} points, so that no dependence passes the next tile")
        }
        None => format!("axes would lean by more than {}", schemes::STEEPEST),
    };
    format!(
        "  no tiling was found: none of the usual shapes keeps the dependences, and {why}; `--shape` gives one to start from\n"
    )
}

fn join(values: &[i64]) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}
