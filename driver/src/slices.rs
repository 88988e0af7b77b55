//! The program of a slice: `chunked=true`, for arrays that the memory of a GPU does not hold.

use crate::diagnose::{Place, diagnose};
use crate::file::{FileOptions, Sources};
use crate::pipeline::{self, Order, Refusal};
use crate::request::Backend;
use crate::unit::{Built, Unit, target};
use tessella_codegen::Input;
use tessella_codegen::generate;
use tessella_diagnostics::{Code, Diagnostic, Spanned};
use tessella_lowering::{Lowered, SpanTable};
use tessella_polyhedral::algorithm::{Algorithm, ComputationId};
use tessella_polyhedral::command::Command;
use tessella_polyhedral::dependence::{Dependence, dependences};
use tessella_polyhedral::effort;
use tessella_polyhedral::slices::{Obstacle, Part, Slices, needed_parts, slices};

/// A program that takes the first and the last iteration of a slice as two more arguments.
pub struct Slice {
    pub built: Built,
    /// What it needs of arrays.
    pub parts: Vec<Part>,
}

/// The program of a slice.
///
/// # Errors
/// `E0641` where the function does not run in slices; else as for [`Unit::build`].
pub fn build(unit: &Unit<'_>, backend: Backend) -> Result<Slice, Refusal> {
    match build_by(unit, backend, unit.commands.as_deref())? {
        Some(slice) => Ok(slice),
        // Tessella's own order is too complicated to generate code for.
        None => build_by(unit, backend, Some(&[]))?.ok_or_else(|| {
            vec![refusal(unit, "the program of a slice is too complicated").with_help("split the function")]
        }),
    }
}

/// What stands against slices of a file's functions, rendered; empty if nothing does.
pub fn check(text: &str, options: &FileOptions) -> String {
    let sources = match Sources::read(text, options) {
        Ok(sources) => sources,
        Err(diagnostics) => return diagnostics,
    };
    let mut told = String::new();
    for item in sources.functions() {
        let checked = sources.unit(item, &options.types).and_then(|unit| build(&unit, Backend::Cuda).map(|_| ()));
        if let Err(errors) = checked {
            told.push_str(&sources.show(&errors));
        }
    }
    told
}

/// `None` if code cannot be generated with as much work as a function may take.
fn build_by(
    unit: &Unit<'_>,
    backend: Backend,
    commands: Option<&[Spanned<Command>]>,
) -> Result<Option<Slice>, Refusal> {
    let ctx = pipeline::context();
    let Lowered { algorithm, spans } = pipeline::lower(&ctx, &unit.function)?;
    let word = |error| {
        vec![diagnose(
            &Place { sources: unit.sources, algorithm: &algorithm, spans: &spans, command: None, legal_above: None },
            error,
        )]
    };
    let weight = effort::weight(&algorithm, &algorithm.source_order);
    let found = ctx.weighed(weight, || {
        let dependences = dependences(&ctx, &algorithm)?;
        Ok((slices(&ctx, &algorithm, &dependences)?, dependences))
    });
    let (found, dependences) = found.map_err(word)?;
    let Slices { algorithm: slice, parts } =
        found.map_err(|obstacle| vec![obstacle_in(unit, &algorithm, &spans, &dependences, &obstacle)])?;
    let lowered = Lowered { algorithm: slice, spans: spans.clone() };
    let mut analysed =
        pipeline::verify(&ctx, unit.sources, lowered, Order::of(commands), target(backend), unit.machine)?;
    // The slices say what moves of an array that is cut.
    analysed.verified = analysed.verified.copying_whole_arrays();
    let needed = ctx.weighed(weight, || needed_parts(&ctx, &analysed.verified, &parts)).map_err(word)?;
    let refused = || vec![obstacle_in(unit, &algorithm, &spans, &dependences, &Obstacle::Order)];
    let parts = needed.ok_or_else(refused)?;
    let mut built = Built { ctx, analysed, program: None };
    match generate(&Input::from(&built.analysed.verified)) {
        Ok(program) => built.program = Some(program),
        Err(tessella_codegen::CodegenError::Isl(error)) if error.is_quota() && commands.is_none() => return Ok(None),
        Err(error) => return Err(built.word(unit, error)),
    }
    Ok(Some(Slice { built, parts }))
}

fn refusal(unit: &Unit<'_>, reason: &str) -> Diagnostic {
    Diagnostic::error(Code("E0641"), format!("`{}` cannot run in slices", unit.function.name))
        .with_note(reason.to_owned())
}

/// Says what stands against slices, and where.
fn obstacle_in(
    unit: &Unit<'_>,
    algorithm: &Algorithm,
    spans: &SpanTable,
    dependences: &[Dependence],
    obstacle: &Obstacle,
) -> Diagnostic {
    let statement = |diagnostic: Diagnostic, id: ComputationId, label: &str| match spans.computation(id) {
        Some(span) => diagnostic.primary(span, label),
        None => diagnostic,
    };
    let function = |diagnostic: Diagnostic| match spans.function {
        Some(span) => diagnostic.primary(span, "this function"),
        None => diagnostic,
    };
    let without = "leave `chunked=true` away: then all arrays have to fit";
    match obstacle {
        Obstacle::Computed => function(refusal(unit, "bounds of its loops depend on data")).with_help(without),
        Obstacle::Write(id) => statement(
            refusal(
                unit,
                "slices are cut along the last axis of what is written, which follows a loop iteration by iteration",
            ),
            *id,
            "the last subscript is no iterator plus a constant",
        )
        .with_help("write `A[i, j]` in a loop over `j`, or leave `chunked=true` away"),
        Obstacle::Apart(id) => statement(
            refusal(unit, "a slice has to know which iterations of each statement are its own"),
            *id,
            "this belongs to no column of an array of the caller's",
        )
        .with_help(without),
        Obstacle::Carried(at) => {
            let it = &dependences[*at];
            let reason = format!("iterations depend on one another through `{}`", algorithm.array(it.array).name);
            let (source, sink) = (spans.access(it.source), spans.access(it.sink));
            let mut diagnostic = refusal(unit, &reason);
            if let Some(span) = sink.or_else(|| spans.computation(it.sink.computation)) {
                diagnostic = diagnostic.primary(span, "one iteration needs this after another one");
            }
            if let Some(span) = source.filter(|_| source != sink) {
                diagnostic = diagnostic.secondary(span, "which does this");
            }
            diagnostic.with_help(without)
        }
        Obstacle::Columns(array) => {
            let name = &algorithm.array(*array).name;
            let reason = format!("`{name}` is written in another column than it is accessed in, or is no plain array");
            function(refusal(unit, &reason)).with_help(without)
        }
        Obstacle::Whole => function(refusal(unit, "every slice would need all of every array")).with_help(without),
        Obstacle::Order => function(refusal(unit, "in this order its loops use more of the arrays than a slice has"))
            .with_help("leave the schedule away, or `chunked=true`"),
    }
}

/// Whether the backend's memory may be too small for the caller's arrays.
pub fn is_for(backend: Backend) -> bool {
    match backend {
        Backend::Cuda => true,
        Backend::C | Backend::Interpreter => false,
    }
}
