//! Answers one compile request: source text in, texts and a callable program out.

use crate::abi::values;
use crate::draw;
use crate::explain::{condition, scan_condition};
use crate::pipeline::{self, Refusal};
use crate::profile::{self, Measured};
use crate::request::{
    Backend, CompileRequest, CompileResult, ConstantValue, Failure, Options, Program, Signature, Status, TextKind,
};
use crate::results;
use crate::searches;
use crate::slices;
use crate::tune::{self, Subject};
use crate::tuned::{self, Entry};
use crate::unit::{Built, Unit};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, OnceLock};
use tessella_codegen::entry::EntryParameter;
use tessella_cuda_backend::CudaSource;
use tessella_diagnostics::{Code, Diagnostic, IntoDiagnostic, SourceMap, Spanned, Style, render};
use tessella_frontend::ast;
use tessella_frontend::typed::{ArgumentType, parse_type, tree};
use tessella_interpreter as interpreter;
use tessella_polyhedral::algorithm::{AccessRef, Algorithm, Argument, ArrayId, Inside, Scan, ScanCheck, SizeError};
use tessella_polyhedral::command::Command;
use tessella_polyhedral::print;
use tessella_polyhedral::verify::Verified;
use tessella_runtime::call::{ParamType, entry_parameters};
use tessella_runtime::cuda::{
    CudaError, CudaProgram, Device, Packed, SlicedProgram, compile_cuda, default_device, measured_ceilings,
};
use tessella_runtime::{CSource, Cache, Compiler, LoadedFunction, RuntimeError};

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

/// What the return values of a program mean.
struct Failures {
    /// By number: subscripts first, then requirements on sizes, then computed subscripts.
    checks: Vec<Failure>,
    /// What must not overlap.
    arrays: String,
    /// What scalar arguments give.
    numbers: String,
}

impl Failures {
    fn of(unit: &Unit<'_>, built: &Built) -> Failures {
        let verified = &built.analysed.verified;
        let algorithm = verified.source();
        let spans = &built.analysed.spans;
        let bounds_failure = |at: AccessRef, axis: u32, check: usize, condition: &dyn Fn(&Algorithm) -> String| {
            // Tiles may stand in for the array.
            let access = algorithm.access_of_source(at);
            let computation = algorithm.computation(at.computation);
            let outer = algorithm.array(access.array).kind.outer();
            let subscripts = access.subscripts.iter().skip(outer as usize);
            let span = spans.access(at).or_else(|| spans.computation(at.computation));
            Failure::Bounds {
                check: check as u32,
                argument: built.argument_of(access.array),
                name: algorithm.array(access.array).name.clone(),
                axis: axis - outer,
                subscripts: subscripts.map(|it| print::subscript(algorithm, computation, it)).collect(),
                condition: condition(algorithm),
                certain: !access.conditional && algorithm.failed.is_none(),
                place: span.map_or_else(String::new, |span| unit.place(span)),
            }
        };
        // Where some tests are made on the way, one of them may have failed before what a check at entry is about.
        let error_of = |error: SizeError| match error {
            SizeError::Assumption => error,
            _ if algorithm.failed.is_some() => SizeError::Thrown,
            _ => error,
        };
        let bounds = verified.checks().iter().enumerate().map(|(at, check)| {
            bounds_failure(check.access, check.axis, at + 1, &|_| condition(&check.needs.to_string()))
        });
        let count = verified.checks().len();
        let sizes = algorithm.requirements.iter().enumerate().map(|(at, requirement)| {
            let number = count + at + 1;
            if let Some(Inside { access, axis, needs }) = &requirement.inside {
                return bounds_failure(*access, *axis, number, &|_| condition(&needs.to_string()));
            }
            let place = built.analysed.spans.requirements.get(at).map(|&span| format!(" at {}", unit.place(span)));
            let text = format!("{}{}", requirement.text, place.unwrap_or_default());
            Failure::Size { check: number as u32, error: error_of(requirement.error), text }
        });
        let first = count + algorithm.requirements.len() + 1;
        let scanned = algorithm.scan.iter().flat_map(|scan| &scan.checks).enumerate();
        let computed = scanned.map(|(at, check)| match check {
            ScanCheck::Inside { access, axis } => {
                bounds_failure(*access, *axis, first + at, &|algorithm| scan_condition(algorithm, *access, *axis))
            }
            ScanCheck::Holds { error, text, place } => {
                let place = spans.values.get(*place as usize).map(|&span| format!(" at {}", unit.place(span)));
                let text = format!("{text}{}", place.unwrap_or_default());
                Failure::Size { check: (first + at) as u32, error: error_of(*error), text }
            }
        });
        let checks = bounds.chain(sizes).chain(computed).collect();
        let arrays: Vec<String> = algorithm
            .arguments
            .iter()
            .filter_map(|argument| match argument {
                tessella_polyhedral::algorithm::Argument::Array(id) => Some(format!("`{}`", algorithm.array(*id).name)),
                tessella_polyhedral::algorithm::Argument::Scalar(_) => None,
            })
            .collect();
        let strided = algorithm.arrays.iter().any(|array| !array.strided.is_empty());
        let what = if strided { "arrays, or of the elements of one of them," } else { "arrays" };
        let of_scalars = algorithm.params.iter().filter(|param| param.is_of_scalars());
        let numbers: Vec<String> = of_scalars.filter_map(|param| algorithm.spelling(param)).collect();
        Failures { checks, arrays: format!("{what} {}", arrays.join(", ")), numbers: numbers.join("`, `") }
    }

    fn failure(&self, code: i32) -> Option<Failure> {
        match code {
            1.. => self.checks.get(code as usize - 1).cloned(),
            -1 => {
                Some(Failure::Overlap { text: format!("two of the {} share memory, and one is written", self.arrays) })
            }
            -2 => Some(Failure::OutOfMemory { text: "no memory for intermediate arrays".to_string() }),
            -3 => Some(Failure::Range {
                text: "a size or an integer argument is beyond 2^40, or too large for a product in a subscript"
                    .to_string(),
            }),
            -6 => Some(Failure::Later {
                text: "a subscript or a value failed while the function ran; what it had written was put back"
                    .to_string(),
            }),
            -7 => Some(Failure::NoInteger { text: format!("`{}` has no value", self.numbers) }),
            _ => None,
        }
    }
}

/// Compiles a C text and loads it.
fn load_c(verified: &Verified, source: &tessella_c_backend::CSource) -> Result<LoadedFunction, Failed> {
    let input = tessella_codegen::Input::from(verified);
    let entry = tessella_codegen::entry::entry(&input).map_err(|error| refused(vec![error.into_diagnostic()]))?;
    let parameters: Vec<ParamType> = entry_parameters(&entry, verified.algorithm());
    let schedule = print::schedule(verified.algorithm(), verified.schedule());
    let text = CSource {
        entry: &source.entry,
        text: &source.text,
        parameters: &parameters,
        flags: &source.flags,
        libraries: &source.libraries,
        key: &[("schedule", schedule.as_bytes())],
    };
    let cache = Cache::open().map_err(tool_chain)?;
    Compiler::get().and_then(|compiler| compiler.load(&cache, &text)).map_err(tool_chain)
}

/// Compiled C in memory.
struct CProgram {
    loaded: LoadedFunction,
    failures: Failures,
}

impl CProgram {
    fn load(unit: &Unit<'_>, built: &Built, threads: Option<u32>) -> Result<CProgram, Failed> {
        let source = built.c(unit, threads).map_err(refused)?;
        let loaded = load_c(&built.analysed.verified, &source)?;
        Ok(CProgram { loaded, failures: Failures::of(unit, built) })
    }
}

impl Program for CProgram {
    fn entry(&self) -> Option<*const c_void> {
        Some(self.loaded.address())
    }

    fn parameter_count(&self) -> usize {
        self.loaded.parameters().len()
    }

    unsafe fn launch(&self, arguments: &[*mut c_void]) -> i32 {
        // SAFETY: promised by the caller.
        unsafe { self.loaded.call_packed(arguments) }
    }

    fn failure(&self, code: i32) -> Option<Failure> {
        self.failures.failure(code)
    }
}

/// Compiled C of which nothing more is known.
impl Program for LoadedFunction {
    fn entry(&self) -> Option<*const c_void> {
        Some(self.address())
    }

    fn parameter_count(&self) -> usize {
        self.parameters().len()
    }

    unsafe fn launch(&self, arguments: &[*mut c_void]) -> i32 {
        // SAFETY: promised by the caller.
        unsafe { self.call_packed(arguments) }
    }

    fn failure(&self, _code: i32) -> Option<Failure> {
        None
    }
}

/// Kernels on the first GPU.
struct GpuProgram {
    kernels: Kernels,
    device: Arc<Device>,
    scan: Option<HostScan>,
    device_scan: Option<DeviceScan>,
    failures: Failures,
}

enum Kernels {
    Whole(Box<CudaProgram<Device>>),
    /// In slices where the GPU's memory is too small.
    Sliced(Box<SlicedProgram<Device>>),
}

/// What looks at computed subscripts on the host, where the arguments are when the call begins.
struct HostScan {
    loaded: LoadedFunction,
    /// The status is this and what the scan found.
    base: i32,
    /// The positions of the arrays that it reads.
    reads: Vec<usize>,
}

impl HostScan {
    fn load(unit: &Unit<'_>, built: &Built, threads: Option<u32>) -> Result<Option<HostScan>, Failed> {
        let verified = &built.analysed.verified;
        let Some(scan) = verified.scan() else { return Ok(None) };
        let source = built.c_of_scan(unit, scan, threads).map_err(refused)?;
        let base = verified.checks().len() + verified.algorithm().requirements.len();
        let base = i32::try_from(base).unwrap_or(i32::MAX / 2);
        let entry = tessella_codegen::entry::entry(&tessella_codegen::Input::from(scan));
        let entry = entry.map_err(|error| refused(vec![error.into_diagnostic()]))?;
        let computations = &scan.algorithm().computations;
        let is_read = |array: ArrayId| computations.iter().flat_map(|it| &it.reads).any(|read| read.array == array);
        let reads = entry.parameters.iter().enumerate().filter_map(|(position, parameter)| match parameter {
            EntryParameter::Pointer(array) if is_read(*array) => Some(position),
            _ => None,
        });
        Ok(Some(HostScan { loaded: load_c(scan, &source)?, base, reads: reads.collect() }))
    }

    /// Of the arrays that it reads, those that are on the GPU in a call, by the positions of all parameters.
    fn resident(&self, call: Packed<'_>) -> Vec<bool> {
        let on_device = |position: usize| call.on_device.get(position) == Some(&true);
        (0..call.arguments.len()).map(|position| self.reads.contains(&position) && on_device(position)).collect()
    }

    /// The status: 0 where all is inside.
    ///
    /// # Safety
    /// As for [`Program::launch`] of the program that this belongs to, which takes `arguments`.
    unsafe fn run(&self, arguments: &[*mut c_void]) -> i32 {
        let mut found = 0_i32;
        let mut place: *mut i32 = &mut found;
        // Its last parameter is its result; the program's own result, if it has one, is not passed on.
        let count = self.loaded.parameters().len() - 1;
        let mut passed: Vec<*mut c_void> = arguments.iter().copied().take(count).collect();
        passed.push((&raw mut place).cast());
        // SAFETY: promised by the caller; the scan has the program's parameters, and then a pointer.
        match unsafe { self.loaded.call_packed(&passed) } {
            0 if found == 0 => 0,
            0 => self.base + found,
            refused => refused,
        }
    }
}

/// What looks at computed subscripts on the GPU, if all arrays that it reads are there when the call begins.
struct DeviceScan {
    /// How many searches there are.
    searches: usize,
    source: CudaSource,
    device: Arc<Device>,
    /// Loaded when it is first needed; `None` if that fails.
    loaded: OnceLock<Option<CudaProgram<Device>>>,
    /// The status is this and the position of the search.
    base: i32,
}

impl DeviceScan {
    fn new(unit: &Unit<'_>, built: &Built, device: &Arc<Device>, base: i32) -> Option<DeviceScan> {
        let searches = built.analysed.verified.algorithm().scan.as_deref()?.checks.len();
        let source = searches::build(unit, built)?.cuda(unit).ok()?;
        Some(DeviceScan { searches, source, device: device.clone(), loaded: OnceLock::new(), base })
    }

    fn program(&self) -> Option<&CudaProgram<Device>> {
        let load = || {
            let cache = Cache::open().ok()?;
            load_image(&cache, self.source.clone(), &self.device).ok()
        };
        self.loaded.get_or_init(load).as_ref()
    }

    /// The status: 0 where all is inside; `None` if the GPU cannot tell.
    ///
    /// # Safety
    /// As for [`Program::launch_mixed`] of the program that this belongs to, which takes the arguments of `call`.
    unsafe fn run(&self, call: Packed<'_>) -> Option<i32> {
        let program = self.program()?;
        let (mut mark, mut elements) = (0_i32, 1_i64);
        let mut place: *mut i32 = &mut mark;
        // Its last parameters are the array for the mark, and how long that is; results of the program itself are not passed on.
        let count = program.parameters().len().checked_sub(2)?;
        let mut arguments: Vec<*mut c_void> = call.arguments.iter().copied().take(count).collect();
        arguments.extend([(&raw mut place).cast::<c_void>(), (&raw mut elements).cast()]);
        let on_device: Vec<bool> = call.on_device.iter().copied().take(count).collect();
        // SAFETY: promised by the caller; the searches have the program's parameters, and then an array of one element.
        let status = unsafe { program.run(Packed { arguments: &arguments, on_device: &on_device }) };
        match (status, Scan::found(self.searches, mark)) {
            (Ok(0), 0) => Some(0),
            (Ok(0), found) => Some(self.base + found),
            // The host looks; what a call needs is asked of the program itself.
            (Ok(_) | Err(_), _) => None,
        }
    }
}

impl GpuProgram {
    fn load(unit: &Unit<'_>, built: &Built, chunked: bool, threads: Option<u32>) -> Result<GpuProgram, Failed> {
        let slice = if chunked { Some(slices::build(unit, Backend::Cuda).map_err(refused)?) } else { None };
        let device = default_device().map_err(|error| tool_chain(error.into()))?;
        let whole = load_cuda(unit, built, &device)?;
        let kernels = match slice {
            None => Kernels::Whole(Box::new(whole)),
            Some(slice) => {
                let sliced = SlicedProgram::new(whole, load_cuda(unit, &slice.built, &device)?, slice.parts);
                Kernels::Sliced(Box::new(sliced))
            }
        };
        let scan = HostScan::load(unit, built, threads)?;
        let device_scan = scan.as_ref().and_then(|host| DeviceScan::new(unit, built, &device, host.base));
        Ok(GpuProgram { kernels, device, scan, device_scan, failures: Failures::of(unit, built) })
    }

    /// The program for arrays that fit.
    fn whole(&self) -> &CudaProgram<Device> {
        match &self.kernels {
            Kernels::Whole(program) => program,
            Kernels::Sliced(program) => program.whole(),
        }
    }

    /// # Safety
    /// As for [`Program::launch_mixed`].
    unsafe fn run(&self, call: Packed<'_>) -> Result<i32, RuntimeError> {
        match &self.kernels {
            // SAFETY: promised by the caller; image and plan were made from one source.
            Kernels::Whole(program) => unsafe { program.run(call) },
            // SAFETY: as above; the slice and its parts were made from the whole.
            Kernels::Sliced(program) => unsafe { program.run(call) },
        }
    }
}

/// Compiles the kernels of a program and loads them.
fn load_cuda(unit: &Unit<'_>, built: &Built, device: &Arc<Device>) -> Result<CudaProgram<Device>, Failed> {
    let source = built.cuda(unit).map_err(refused)?;
    let cache = Cache::open().map_err(tool_chain)?;
    load_image(&cache, source, device).map_err(tool_chain)
}

fn load_image(cache: &Cache, source: CudaSource, device: &Arc<Device>) -> Result<CudaProgram<Device>, RuntimeError> {
    let name = format!("{}.cu", source.entry);
    let image = compile_cuda(cache, &source.kernels, &name, device.capability(), &source.flags)?;
    CudaProgram::load(device.clone(), &image, source.plan)
}

/// Arrays with fewer bytes are looked at sooner by the host than by the GPU, whose answer takes some fifty microseconds.
const BRING_FROM: u64 = 1 << 20;

impl GpuProgram {
    /// Makes all checks and runs, if they hold. The GPU looks at arrays of the host, too, that it will read anyway: they are copied before.
    ///
    /// # Safety
    /// As for [`Program::launch_mixed`].
    unsafe fn run_checked(&self, call: Packed<'_>) -> Result<i32, RuntimeError> {
        let Some(scan) = &self.scan else {
            // SAFETY: promised by the caller; the kernels make their own checks.
            return unsafe { self.run(call) };
        };
        // SAFETY: promised by the caller.
        match unsafe { self.whole().check(call) }? {
            0 => {}
            status => return Ok(status),
        }
        if let (Kernels::Whole(program), Some(searches)) = (&self.kernels, &self.device_scan)
            // SAFETY: promised by the caller; the checks of the program hold.
            && let Some(ahead) = unsafe { program.bring(call, &scan.reads, BRING_FROM) }?
        {
            let done = ahead.with(call, |there| {
                // SAFETY: promised by the caller; what was copied is as large as what it is a copy of, and outlives the run.
                match unsafe { searches.run(there) } {
                    Some(0) => unsafe { self.run(there) }.map(Some),
                    other => Ok(other),
                }
            })?;
            ahead.keep();
            if let Some(status) = done {
                return Ok(status);
            }
        }
        // SAFETY: promised by the caller; the checks of the program hold.
        match unsafe { self.look(scan, call) }? {
            // SAFETY: promised by the caller.
            0 => unsafe { self.run(call) },
            status => Ok(status),
        }
    }

    /// The status of all checks at entry.
    ///
    /// # Safety
    /// As for [`Program::launch`].
    unsafe fn check(&self, call: Packed<'_>) -> Result<i32, RuntimeError> {
        // SAFETY: promised by the caller.
        match (unsafe { self.whole().check(call) }?, &self.scan) {
            // SAFETY: promised by the caller; the checks of the program hold.
            (0, Some(scan)) => unsafe { self.look(scan, call) },
            (status, _) => Ok(status),
        }
    }

    /// The status of the searches, of arrays that stay where they are.
    ///
    /// # Safety
    /// As for [`Program::launch`], in a call for which the program's own checks hold.
    unsafe fn look(&self, scan: &HostScan, call: Packed<'_>) -> Result<i32, RuntimeError> {
        let resident = scan.resident(call);
        // Nothing has to be copied to the device, which may have no room for it.
        let all_there = !scan.reads.is_empty() && scan.reads.iter().all(|&position| resident[position]);
        if let Some(searches) = self.device_scan.as_ref().filter(|_| all_there) {
            // SAFETY: promised by the caller.
            if let Some(status) = unsafe { searches.run(call) } {
                return Ok(status);
            }
        }
        // The host looks at copies of what it reads of the device.
        let looked_at = Packed { on_device: &resident, ..call };
        // SAFETY: promised by the caller, of fewer arrays.
        let mut copies = unsafe { self.whole().host_copies(looked_at) }?;
        let mut arguments = call.arguments.to_vec();
        let mut pointers: Vec<*mut u8> = copies.iter_mut().map(|(_, copy)| copy.as_mut_ptr()).collect();
        for ((position, _), pointer) in copies.iter().zip(&mut pointers) {
            arguments[*position] = (&raw mut *pointer).cast();
        }
        // SAFETY: promised by the caller; the program's checks came first, and copies are as large as what they are of.
        Ok(unsafe { scan.run(&arguments) })
    }
}

fn failed_on_gpu(error: RuntimeError) -> i32 {
    let code = error.status();
    remember(render(&SourceMap::default(), &[error.into_diagnostic()], Style::Plain));
    code
}

impl Program for GpuProgram {
    fn entry(&self) -> Option<*const c_void> {
        None
    }

    fn parameter_count(&self) -> usize {
        self.whole().parameters().len()
    }

    unsafe fn launch(&self, arguments: &[*mut c_void]) -> i32 {
        // SAFETY: promised by the caller.
        unsafe { self.launch_mixed(arguments, &[]) }
    }

    unsafe fn launch_mixed(&self, arguments: &[*mut c_void], on_device: &[bool]) -> i32 {
        let call = Packed { arguments, on_device };
        // SAFETY: promised by the caller.
        match unsafe { self.run_checked(call) } {
            Ok(code) => code,
            Err(error) => failed_on_gpu(error),
        }
    }

    unsafe fn profile(&self, arguments: &[*mut c_void], on_device: &[bool], repeat: u32) -> Result<Measured, i32> {
        let call = Packed { arguments, on_device };
        let ceilings = measured_ceilings(&self.device).map_err(|error: CudaError| failed_on_gpu(error.into()))?;
        // SAFETY: promised by the caller.
        match unsafe { self.check(call) } {
            Ok(0) => {}
            Ok(status) => return Err(status),
            Err(error) => return Err(failed_on_gpu(error)),
        }
        // SAFETY: promised by the caller; image and plan were made from one source.
        let profile = unsafe { self.whole().profile(call, repeat) }.map_err(failed_on_gpu)??;
        Ok(Measured { device: self.device.name().to_owned(), ceilings, profile })
    }

    fn failure(&self, code: i32) -> Option<Failure> {
        match code {
            -2 => Some(Failure::OutOfMemory { text: remembered() }),
            -4 | -5 => Some(Failure::Cuda { text: remembered() }),
            _ => self.failures.failure(code),
        }
    }
}

/// The interpreter behind the interface of compiled code.
struct Interpreted {
    function: tree::Function,
    types: Vec<tree::Type>,
}

thread_local! {
    /// What the last failed launch of this thread said.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
    /// What Julia would raise for it, if that is known.
    static FAULT: RefCell<Option<SizeError>> = const { RefCell::new(None) };
}

/// Julia's exception for an error of the interpreter.
fn fault_of(error: &interpreter::RunError) -> Option<SizeError> {
    match error {
        interpreter::RunError::Bounds { .. } => Some(SizeError::Bounds),
        interpreter::RunError::Size { error, .. } => Some(match error {
            tree::SizeError::Mismatch => SizeError::Mismatch,
            tree::SizeError::Argument => SizeError::Argument,
            tree::SizeError::Bounds => SizeError::Bounds,
            tree::SizeError::Inexact => SizeError::Inexact,
            tree::SizeError::Divide => SizeError::Divide,
            tree::SizeError::Thrown => SizeError::Thrown,
        }),
        _ => None,
    }
}

fn remember(text: String) {
    LAST.with(|last| *last.borrow_mut() = text);
}

fn remembered() -> String {
    LAST.with(|last| last.borrow().clone())
}

impl Program for Interpreted {
    fn entry(&self) -> Option<*const c_void> {
        None
    }

    fn parameter_count(&self) -> usize {
        let results = results::types(&self.function);
        let arrays = results.iter().any(|ty| matches!(ty, tree::Type::Array { .. }));
        self.types.iter().map(values::pointers_of).sum::<usize>() + results.len() + usize::from(arrays)
    }

    unsafe fn launch(&self, arguments: &[*mut c_void]) -> i32 {
        // SAFETY: promised by the caller.
        let done = unsafe { values::read(&self.types, arguments) }.and_then(|mut values: Vec<interpreter::Value>| {
            let result = interpreter::run(&self.function, &mut values).map_err(|error| {
                FAULT.with(|fault| *fault.borrow_mut() = fault_of(&error));
                error.to_string()
            })?;
            Ok((values, result))
        });
        match done {
            Ok((values, result)) => {
                let results = results::filled(&self.function, &result);
                // SAFETY: promised by the caller; the values came from `read`, the results are the function's.
                unsafe { values::write(&self.types, &values, &results, arguments) };
                0
            }
            Err(text) => {
                remember(text);
                -4
            }
        }
    }

    fn failure(&self, code: i32) -> Option<Failure> {
        let fault = FAULT.with(|fault| fault.borrow_mut().take());
        (code == -4).then(|| match fault {
            Some(error) => Failure::Size { check: 0, error, text: remembered() },
            None => Failure::Cuda { text: remembered() },
        })
    }
}
