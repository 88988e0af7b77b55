//! Answers one compile request: source text in, texts and a callable program out.

mod compiled;
mod failures;
mod gpu;
mod interpreted;
mod scans;

use crate::draw;
use crate::one_thread;
use crate::pipeline::{self, Refusal};
use crate::profile::{self, Measured};
use crate::request::{
    Backend, CompileRequest, CompileResult, ConstantValue, Options, Program, Signature, Status, TextKind,
};
use crate::results;
use crate::slices;
use crate::tune::{self, Subject};
use crate::tuned::{self, Entry};
use crate::unit::{Built, Unit};
use compiled::CProgram;
use gpu::GpuProgram;
use interpreted::Interpreted;
use std::collections::BTreeMap;
use tessella_diagnostics::{Code, Diagnostic, IntoDiagnostic, SourceMap, Spanned, Style, render};
use tessella_frontend::ast;
use tessella_frontend::typed::{ArgumentType, parse_type, tree};
use tessella_polyhedral::algorithm::Argument;
use tessella_polyhedral::command::Command;
use tessella_runtime::RuntimeError;

/// Compiles a function as a request asks; never panics on user input, and puts what went wrong into the texts.
pub fn compile(request: CompileRequest) -> CompileResult {
    let mut sources = SourceMap::default();
    let mut texts = BTreeMap::new();
    match compile_into(&mut sources, &request, &mut texts) {
        Ok(Some((program, signature))) => {
            CompileResult { status: Status::Done, texts, program: Some(program), signature: Some(signature) }
        }
        Ok(None) => CompileResult { status: Status::Done, texts, program: None, signature: None },
        Err((status, errors)) => {
            let codes: Vec<&str> = errors.iter().map(|error| error.code.0).collect();
            texts.insert(TextKind::Codes, codes.join(" "));
            texts.insert(TextKind::Diagnostics, render(&sources, &errors, Style::Plain));
            CompileResult { status, texts, program: None, signature: None }
        }
    }
}

type Failed = (Status, Refusal);
type Loaded = (Box<dyn Program>, Signature);

fn refused(errors: Refusal) -> Failed {
    (Status::Refused, errors)
}

fn tool_chain(error: RuntimeError) -> Failed {
    (Status::ToolChain, vec![error.into_diagnostic()])
}

/// What a program that was compiled for this request has to do in the calls that were measured.
///
/// # Errors
/// Rendered diagnostics; the request was compiled before, so there should be none.
pub fn report(request: &CompileRequest, measured: Measured) -> Result<profile::Report, String> {
    let mut sources = SourceMap::default();
    let reported = (|| {
        let (function, commands) = read(&mut sources, request)?;
        let unit = Unit {
            sources: &sources,
            function,
            commands,
            assumed: vec![],
            machine: tessella_runtime::machine::native(),
        };
        let built = unit.build(Backend::Cuda).map_err(refused)?;
        profile::report(&unit, &built, measured).map_err(refused)
    })();
    reported.map_err(|(_, errors)| render(&sources, &errors, Style::Plain))
}

/// The function of a request, for a tuner.
///
/// # Errors
/// As for [`compile`]; also where the request has a schedule.
pub fn subject(request: &CompileRequest) -> Result<Subject, CompileResult> {
    let mut sources = SourceMap::default();
    let read = read(&mut sources, request).and_then(|(function, commands)| match commands {
        None => Ok(function),
        Some(_) => Err(refused(tune::has_schedule(&function))),
    });
    match read {
        Ok(function) => {
            let (machine, threads) = (tessella_runtime::machine::native(), request.options.threads);
            Ok(Subject { sources, function, target: request.target, machine, threads })
        }
        Err((status, errors)) => Err(failed_with(&sources, status, &errors)),
    }
}

/// A result that only tells what went wrong.
pub fn failed_with(sources: &SourceMap, status: Status, errors: &[Diagnostic]) -> CompileResult {
    let codes: Vec<&str> = errors.iter().map(|error| error.code.0).collect();
    let texts = [(TextKind::Codes, codes.join(" ")), (TextKind::Diagnostics, render(sources, errors, Style::Plain))];
    CompileResult { status, texts: texts.into(), program: None, signature: None }
}

/// The commands of a schedule that was given.
type Commands = Vec<Spanned<Command>>;

/// The typed function of a request, and the commands of its schedule.
fn read(sources: &mut SourceMap, request: &CompileRequest) -> Result<(tree::Function, Option<Commands>), Failed> {
    let file = sources.add(&request.file, request.source.as_str(), request.first_line);
    let commands = match &request.schedule {
        None => None,
        Some(schedule) => {
            let file = sources.add(&schedule.file, schedule.source.as_str(), schedule.first_line);
            Some(pipeline::commands_of(sources, file).map_err(refused)?)
        }
    };
    let scan = pipeline::scan(sources, file).map_err(refused)?;
    let item = pipeline::find(&scan, sources, file, &request.function).map_err(refused)?;
    let syntax = pipeline::parse(sources, item).map_err(refused)?;
    let types = argument_types(&syntax, &request.types).map_err(refused)?;
    let mut constants = pipeline::constants(&scan);
    constants.extend(request.constants.iter().filter_map(ConstantValue::definition));
    let mut functions = pipeline::functions(&scan, sources, &item.modules);
    for helper in &request.helpers {
        let file = sources.add(&helper.file, helper.source.as_str(), helper.first_line);
        let scan = pipeline::scan(sources, file).map_err(refused)?;
        for item in &scan.functions {
            functions.push(pipeline::parse(sources, item).map_err(refused)?);
        }
    }
    let function = pipeline::check(&syntax, &types, &constants, &functions).map_err(refused)?;
    Ok((function, commands))
}

fn compile_into(
    sources: &mut SourceMap,
    request: &CompileRequest,
    texts: &mut BTreeMap<TextKind, String>,
) -> Result<Option<Loaded>, Failed> {
    let (function, commands) = read(sources, request)?;
    let unit = Unit { sources, function, commands, assumed: vec![], machine: tessella_runtime::machine::native() };
    if unit.commands.is_none() && request.load {
        let known = tuned::known(&unit.function, request.target, &unit.machine, request.options.threads);
        let known: Vec<Entry> = known.into_iter().filter(|entry| !entry.schedule.is_empty()).collect();
        let found = request.class.as_ref().and_then(|class| known.iter().find(|entry| entry.class == *class));
        if let Some(commands) = found.and_then(|entry| tuned::commands(entry, unit.function.span)) {
            let (function, commands) = (unit.function.clone(), Some(commands));
            let better = Unit { function, commands, assumed: vec![], ..unit };
            // What was found by another version, or damaged, may be refused: then Tessella chooses.
            if let Ok(program) = make(&better, request, texts) {
                return Ok(program);
            }
            texts.clear();
        }
        if !known.is_empty() && request.class.is_none() {
            texts.insert(TextKind::Tuned, tuned::text(&known));
        }
    }
    make(&unit, request, texts)
}

/// The texts and the program that are asked for.
fn make(
    unit: &Unit<'_>,
    request: &CompileRequest,
    texts: &mut BTreeMap<TextKind, String>,
) -> Result<Option<Loaded>, Failed> {
    let mut built = BTreeMap::new();
    let wanted = request.emit.iter().map(|kind| (*kind, natural_target(*kind, request.target)));
    let all = [(TextKind::Result, request.target)].into_iter().chain(wanted);
    for (kind, backend) in all {
        if let std::collections::btree_map::Entry::Vacant(place) = built.entry(backend) {
            place.insert(unit.build(backend).map_err(refused)?);
        }
        let text = match kind {
            TextKind::Draw => draw::draw(unit, &built[&backend], &request.draw).map(|it| it.svg),
            other => built[&backend].text(unit, backend, other),
        };
        let text = text.map_err(refused)?;
        texts.insert(kind, text);
    }
    let warnings = built.get(&request.target).map_or(vec![], |built| one_thread::warnings(unit, built));
    if !warnings.is_empty() {
        texts.insert(TextKind::Diagnostics, render(unit.sources, &warnings, Style::Plain));
    }
    if !request.load {
        if request.options.chunked && slices::is_for(request.target) {
            slices::build(unit, request.target).map_err(refused)?;
        }
        return Ok(None);
    }
    let program = &built[&request.target];
    let loaded = load(unit, program, request.target, &request.options)?;
    Ok(Some((loaded, signature(unit, program, request.target))))
}

fn signature(unit: &Unit<'_>, built: &Built, backend: Backend) -> Signature {
    let algorithm = built.analysed.verified.source();
    let written = algorithm.arguments.iter().map(|argument| match argument {
        // The interpreter copies every array back.
        Argument::Array(id) => backend == Backend::Interpreter || algorithm.is_written(*id),
        Argument::Scalar(_) => false,
    });
    Signature { results: results::types(&unit.function), written: written.collect() }
}

/// Makes a program callable.
///
/// # Errors
/// A missing or failing tool chain or GPU.
pub fn load(
    unit: &Unit<'_>,
    built: &Built,
    backend: Backend,
    options: &Options,
) -> Result<Box<dyn Program>, (Status, Refusal)> {
    Ok(match backend {
        Backend::C => Box::new(CProgram::load(unit, built, options.threads)?),
        Backend::Cuda => Box::new(GpuProgram::load(unit, built, options.chunked, options.threads)?),
        Backend::Interpreter => {
            let function = unit.function.clone();
            let types = function.arguments.iter().map(|id| function.locals[id.0 as usize].ty).collect();
            Box::new(Interpreted { function, types })
        }
    })
}

/// The target that a text is about: C text is about the CPU also when the program runs on the GPU.
fn natural_target(kind: TextKind, asked: Backend) -> Backend {
    match kind {
        TextKind::C => Backend::C,
        TextKind::Cuda => Backend::Cuda,
        TextKind::Diagnostics
        | TextKind::Codes
        | TextKind::Result
        | TextKind::Algorithm
        | TextKind::Dependences
        | TextKind::Schedule
        | TextKind::Loops
        | TextKind::Header
        | TextKind::Explain
        | TextKind::Draw
        | TextKind::Tuned => asked,
    }
}

/// What a type that Julia gave an argument consists of, where it has parameters and is no array.
fn parts_of(text: &str) -> Option<&'static str> {
    let (name, _) = text.split_once('{')?;
    let is_array = ["Array", "Vector", "Matrix"].iter().any(|array| name.ends_with(array));
    match name {
        "Tuple" => Some("elements"),
        "NamedTuple" => Some("values"),
        "Complex" | "Val" => None,
        _ => (!is_array).then_some("fields"),
    }
}

fn argument_types(function: &ast::Function, texts: &[String]) -> Result<Vec<ArgumentType>, Refusal> {
    let mut errors = vec![];
    let mut types = vec![];
    for (position, text) in texts.iter().enumerate() {
        match parse_type(text) {
            Ok(ty) => types.push(ty),
            Err(error) => {
                let span = function.parameters.get(position).map_or(function.signature, |parameter| parameter.span);
                let diagnostic =
                    Diagnostic::error(Code("E0290"), format!("arguments of type `{text}` cannot be compiled"));
                let diagnostic = diagnostic.primary(span, "this argument");
                errors.push(match parts_of(text) {
                    Some(parts) => diagnostic
                        .with_help(format!("pass its {parts} as arguments of their own, or leave this call to Julia")),
                    None => diagnostic.with_note(error.to_string()).with_help(
                        "pass `Bool`, integers, `Float32`, `Float64`, or dense arrays of them, or leave this call to Julia",
                    ),
                });
            }
        }
    }
    if errors.is_empty() { Ok(types) } else { Err(errors) }
}
