//! One input through a part of the front end.

use crate::{Part, TIME_LIMIT, WHOLE_LIMIT};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::pipeline::{self, Order};
use tessella::request::{Backend, TextKind};
use tessella::unit::{Built, Unit, target};
use tessella_diagnostics::{Diagnostic, IntoDiagnostic, SourceMap, Style, render};
use tessella_frontend::sexpr::{definition, sexpr};
use tessella_frontend::{Forms, parse_block, parse_definition, parse_function, scan};
use tessella_polyhedral::isl::Ctx;

/// What became of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Something of it went through to the end.
    Accepted,
    /// All of it was refused with errors; the code of the first.
    Refused(String),
    Panicked {
        /// `file.rs:line`.
        place: String,
        message: String,
    },
    /// Longer than [`TIME_LIMIT`] or [`WHOLE_LIMIT`].
    Slow(Duration),
}

impl Verdict {
    pub fn is_failure(&self) -> bool {
        match self {
            Verdict::Accepted | Verdict::Refused(_) => false,
            Verdict::Panicked { .. } | Verdict::Slow(_) => true,
        }
    }

    /// What failures of one cause have in common.
    pub fn cause(&self) -> String {
        match self {
            Verdict::Accepted | Verdict::Refused(_) => String::new(),
            Verdict::Panicked { place, .. } => place.clone(),
            Verdict::Slow(_) => "slow".to_owned(),
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Verdict::Accepted => f.write_str("accepted"),
            Verdict::Refused(code) => write!(f, "refused with {code}"),
            Verdict::Panicked { place, message } => write!(f, "panic at {place}: {message}"),
            Verdict::Slow(time) => write!(f, "took {:.1} s", time.as_secs_f64()),
        }
    }
}

/// How much work isl may do for one function: less than in use, so that a refusal comes within the time limit.
const ISL_OPERATIONS: u64 = 5_000_000;

/// Runs an input.
pub fn run(part: Part, text: &str) -> Verdict {
    let start = processor_time();
    LOWERED.set(None);
    let verdict = once(part, text);
    let whole = processor_time().saturating_sub(start);
    let lowered = LOWERED.get().map_or(whole, |lowered| lowered.saturating_sub(start));
    if verdict.is_failure() || (lowered <= TIME_LIMIT && whole <= WHOLE_LIMIT) {
        return verdict;
    }
    Verdict::Slow(if lowered > TIME_LIMIT { lowered } else { whole })
}

/// What this thread has used of a processor, so that a busy machine makes nothing slow; the time of day where the system
/// does not say.
fn processor_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let used = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = used.as_deref().and_then(|text| text.split(' ').next()).and_then(|text| text.parse().ok());
    nanoseconds.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

thread_local! {
    /// When the input's last algorithm was complete.
    static LOWERED: Cell<Option<Duration>> = const { Cell::new(None) };
    static LAST_PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Panics of inputs are noted, not printed.
fn note_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let place = info.location().map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()));
            let payload = info.payload();
            let message = payload.downcast_ref::<String>().cloned();
            let message = message.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            LAST_PANIC.with(|last| *last.borrow_mut() = Some((place, message.unwrap_or_default())));
        }));
    });
}

fn once(part: Part, text: &str) -> Verdict {
    note_panics();
    let work = || match part {
        Part::Parser => parser(text),
        Part::Lowering => compiled(text, lowered),
        Part::Passes => compiled(text, emitted),
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => Verdict::Accepted,
        Ok(Err(errors)) => {
            let code = errors.split_once("error[").map_or("", |(_, rest)| rest.get(..5).unwrap_or(""));
            Verdict::Refused(code.to_owned())
        }
        Err(_) => {
            let noted = LAST_PANIC.with(|last| last.borrow_mut().take());
            let (place, message) = noted.unwrap_or_default();
            Verdict::Panicked { place, message }
        }
    }
}

/// Scan, parse, print, and word the errors, which are given back if nothing parsed.
fn parser(text: &str) -> Result<(), String> {
    let mut sources = SourceMap::default();
    let file = sources.add("fuzz.jl", text, 1);
    let found = scan(&sources, file);
    let mut errors = found.errors;
    let mut accepted = false;
    for item in &found.functions {
        match parse_function(&sources, item) {
            Ok(function) => accepted |= !definition(&function).is_empty(),
            Err(more) => {
                assert!(!more.is_empty(), "a refusal without an error");
                errors.extend(more);
            }
        }
        if let Ok(function) = parse_definition(&sources, item, Forms::All) {
            assert!(!definition(&function).is_empty(), "a tree without a form");
        }
    }
    match parse_block(&sources, file) {
        Ok(block) => accepted |= block.iter().map(sexpr).all(|tree| !tree.is_empty()),
        Err(more) => {
            assert!(!more.is_empty(), "a refusal without an error");
            errors.extend(more);
        }
    }
    let diagnostics: Vec<_> = errors.into_iter().map(IntoDiagnostic::into_diagnostic).collect();
    let errors = render(&sources, &diagnostics, Style::Plain);
    if accepted { Ok(()) } else { Err(errors) }
}

/// What a part does with each function of an input.
type Step = fn(&str, &Sources, &Unit<'_>) -> Result<(), Vec<Diagnostic>>;

/// Each function through a step; the errors if none went through.
fn compiled(text: &str, step: Step) -> Result<(), String> {
    let options =
        FileOptions { name: "fuzz.jl".to_owned(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = match Sources::read(text, &options) {
        Ok(sources) => sources,
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty(), "a refusal without an error");
            return Err(diagnostics);
        }
    };
    let mut accepted = false;
    let mut refusals = String::new();
    for item in sources.functions().iter().take(2) {
        let unit = match sources.unit(item, &[]) {
            Ok(unit) => unit,
            Err(errors) => {
                refusals.push_str(&word(&sources, &errors));
                continue;
            }
        };
        match step(text, &sources, &unit) {
            Ok(()) => accepted = true,
            Err(errors) => refusals.push_str(&word(&sources, &errors)),
        }
    }
    if accepted { Ok(()) } else { Err(refusals) }
}

fn lowered(_text: &str, _sources: &Sources, unit: &Unit<'_>) -> Result<(), Vec<Diagnostic>> {
    let ctx = Ctx::new();
    ctx.set_max_operations(ISL_OPERATIONS);
    // The pass for GPUs does more.
    pipeline::lower_with_tests(&ctx, &unit.function, target(Backend::Cuda)).map(|_| ())
}

/// All passes. The targets share most of them: one in four inputs goes to the GPU.
fn emitted(text: &str, sources: &Sources, unit: &Unit<'_>) -> Result<(), Vec<Diagnostic>> {
    let (backend, kind) =
        if text.len().is_multiple_of(4) { (Backend::Cuda, TextKind::Cuda) } else { (Backend::C, TextKind::C) };
    let ctx = Ctx::new();
    ctx.set_max_operations(ISL_OPERATIONS);
    let lowered = pipeline::lower_with_tests(&ctx, &unit.function, target(backend))?;
    LOWERED.set(Some(processor_time()));
    let analysed = pipeline::verify(
        &ctx,
        &sources.map,
        lowered,
        Order::of(unit.commands.as_deref()),
        target(backend),
        unit.machine,
    )?;
    let text = Built { ctx, analysed, program: None }.text(unit, backend, kind)?;
    assert!(!text.is_empty(), "a program without a text");
    Ok(())
}

/// A refusal has errors, and each points into the source.
fn word(sources: &Sources, errors: &[Diagnostic]) -> String {
    assert!(!errors.is_empty(), "a refusal without an error");
    for error in errors {
        assert!(!error.labels.is_empty(), "{} has no place: {}", error.code, error.message);
    }
    sources.show(errors)
}
