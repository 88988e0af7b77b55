//! Diagnostics that no source text leads to, from the error values themselves: `ui/values/E0620.txt` and its neighbours.
//!
//! They come from the machine (no compiler, no GPU), from a call (arguments, sizes), from callers of the library that
//! need no source, and from passes that an earlier pass shields.

use std::collections::BTreeMap;
use std::path::PathBuf;
use tessella::diagnose::{Place, diagnose};
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::pipeline;
use tessella::request::{CompileRequest, TextKind};
use tessella_codegen::CodegenError;
use tessella_codegen::error::{Level, ThreadExtent};
use tessella_diagnostics::{Diagnostic, FileId, IntoDiagnostic, SourceMap, Span, Style, render};
use tessella_frontend::error::SyntaxError;
use tessella_frontend::typed::tree::SizeError;
use tessella_interpreter::RunError;
use tessella_lowering::LowerError;
use tessella_polyhedral::algorithm::ArrayId;
use tessella_polyhedral::error::{Error, LayoutError, ScheduleError};
use tessella_polyhedral::isl::{Ctx, IslError, IslErrorKind};
use tessella_polyhedral::schedule::ProcessorAxis;
use tessella_polyhedral::storage::SharedBuffer;
use tessella_runtime::call::ArgumentKind;
use tessella_runtime::cuda::CudaError;
use tessella_runtime::error::{Attempt, Refused};
use tessella_runtime::{ParamType, RuntimeError};
use tessella_scalar::ScalarType;
use tessella_tests::{golden, report, root};

const SOURCE: &str = "\
function smooth!(u, v, steps)
    n = length(u)
    for t in 1:steps
        for i in 2:n-1
            @comp S v[i] = (u[i-1] + u[i+1]) / 2
        end
        for i in 2:n-1
            @comp R u[i] = v[i]
        end
    end
end
";

/// A source and places in it by their text.
struct Kernel {
    sources: SourceMap,
    file: FileId,
}

impl Kernel {
    fn new() -> Kernel {
        let mut sources = SourceMap::default();
        let file = sources.add("kernel.jl", SOURCE, 1);
        Kernel { sources, file }
    }

    fn at(&self, text: &str) -> Span {
        let start = SOURCE.find(text).unwrap_or_else(|| panic!("`{text}` is not in the source"));
        Span::new(self.file, start..start + text.len())
    }

    fn last(&self, text: &str) -> Span {
        let start = SOURCE.rfind(text).unwrap_or_else(|| panic!("`{text}` is not in the source"));
        Span::new(self.file, start..start + text.len())
    }

    /// Compares the diagnostics, sorted into one file a code.
    fn compare(&self, diagnostics: Vec<Diagnostic>) {
        let mut by_code: BTreeMap<&str, Vec<Diagnostic>> = BTreeMap::new();
        for diagnostic in diagnostics {
            by_code.entry(diagnostic.code.0).or_default().push(diagnostic);
        }
        let compared = by_code.into_iter().map(|(code, diagnostics)| {
            let text = render(&self.sources, &diagnostics, Style::Plain);
            golden(&root().join(format!("tests/ui/values/{code}.txt")), &text)
        });
        report(compared.filter_map(Result::err).collect());
    }
}

fn words<E: IntoDiagnostic>(errors: Vec<E>) -> Vec<Diagnostic> {
    errors.into_iter().map(IntoDiagnostic::into_diagnostic).collect()
}

fn isl(kind: IslErrorKind, message: &str) -> IslError {
    IslError { kind, message: message.to_string() }
}

#[test]
fn what_earlier_passes_refuse_first() {
    let kernel = Kernel::new();
    let mut all = words(vec![SyntaxError::MalformedDefinition {
        problem: "the definition of `smooth!` has a form that is not understood".into(),
        span: kernel.at("smooth!(u, v, steps)"),
        help: "write `function name(arguments) ... end`".into(),
    }]);
    all.extend(words(vec![
        LowerError::DuplicateLabel { name: "S".into(), first: kernel.at("S"), second: kernel.at("R") },
        LowerError::AssignedArgument { name: "steps".into(), span: kernel.last("steps") },
        LowerError::TooComplicated {
            span: kernel.at("v[i] = (u[i-1] + u[i+1]) / 2"),
            message: "the integer set library stopped: number of operations exceeded the limit".into(),
        },
    ]));
    kernel.compare(all);
}

#[test]
fn a_list_of_types_that_does_not_fit() {
    let request = |types: &[&str]| -> CompileRequest {
        let request = serde_json::json!({
            "source": SOURCE, "file": "kernel.jl", "function": "smooth!", "types": types, "target": "c", "load": false,
        });
        serde_json::from_value(request).unwrap()
    };
    let said = |types: &[&str]| tessella::session::compile(request(types)).texts[&TextKind::Diagnostics].clone();
    report(
        [("E0209", said(&["Vector{Float64}", "Vector{Float64}"])), ("E0290", said(&["Vector{BigFloat}"; 3]))]
            .into_iter()
            .filter_map(|(code, text)| golden(&root().join(format!("tests/ui/values/{code}.txt")), &text).err())
            .collect(),
    );
}

#[test]
fn schedules_that_a_program_builds_and_limits_of_the_core() {
    let kernel = Kernel::new();
    let ctx = Ctx::new();
    let options =
        FileOptions { name: "kernel.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = Sources::read(SOURCE, &options).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap();
    let lowered = pipeline::lower(&ctx, &unit.function).unwrap();
    let place = Place {
        sources: &sources.map,
        algorithm: &lowered.algorithm,
        spans: &lowered.spans,
        command: None,
        legal_above: None,
    };
    let errors: Vec<Error> = vec![
        ScheduleError::SizeCount { loops: 2, sizes: 1 }.into(),
        ScheduleError::GpuAxisCount { count: 4 }.into(),
        LayoutError::NoBox { array: ArrayId(0), axis: 0 }.into(),
        isl(IslErrorKind::Quota, "number of operations exceeded the limit").into(),
        isl(IslErrorKind::Internal, "spaces do not match").into(),
    ];
    kernel.compare(errors.into_iter().map(|error| diagnose(&place, error)).collect());
}

#[test]
fn what_code_generation_refuses() {
    let extent = |name: &str, iterations| ThreadExtent { name: name.into(), iterations };
    let shared =
        |name: &str, extents: &[i64]| SharedBuffer { name: name.into(), element_bytes: 8, extents: extents.to_vec() };
    let errors = vec![
        CodegenError::Isl(isl(IslErrorKind::Quota, "number of operations exceeded the limit")),
        CodegenError::Isl(isl(IslErrorKind::Unsupported, "unbounded loop")),
        CodegenError::BlockTooLarge {
            kernel: "smooth_S".into(),
            loops: vec![extent("i1", Some(64)), extent("j1", Some(64))],
        },
        CodegenError::BlockTooLarge { kernel: "smooth_S".into(), loops: vec![extent("i", None)] },
        CodegenError::SharedTooLarge {
            kernel: "smooth_S".into(),
            buffers: vec![shared("A_shared", &[32, 480]), shared("B_shared", &[428, 32])],
            combined: vec![shared("s", &[32])],
            bytes: 232_704,
            most: 232_448,
        },
        CodegenError::AxisTwice { outer: "j".into(), inner: "i".into(), axis: ProcessorAxis::X, level: Level::Block },
        CodegenError::LoopsApart { outer: "j1".into(), inner: "i1".into(), between: vec!["S".into()] },
        CodegenError::SharedRegister { buffer: "sum".into() },
        CodegenError::CopyInKernel { buffer: "u".into() },
        CodegenError::SizeOfRegister { buffer: "row".into() },
        CodegenError::BlockTooDeep { kernel: "smooth_S".into(), threads: 128 },
        CodegenError::AllocationInside { buffer: "row".into() },
        CodegenError::GridSync { at: "t".into(), reason: "the number of blocks differs from step to step".into() },
        CodegenError::Combine { at: "i1".into(), reason: "its kernel has other threads than those along x" },
    ];
    Kernel::new().compare(words(errors));
}

#[test]
fn what_the_tool_chain_and_the_cache_refuse() {
    let attempt = |command: &str, reason: &str| Attempt { command: command.into(), reason: reason.into() };
    let refused = |output: &str| {
        RuntimeError::Refused(Box::new(Refused {
            name: "smooth".into(),
            command: "clang -O3 -fopenmp -shared smooth.c".into(),
            version: "clang version 14.0.6".into(),
            status: "exit status 1".into(),
            output: output.into(),
            text: PathBuf::from("cache/failed/smooth.c"),
        }))
    };
    let errors = vec![
        RuntimeError::NoCompiler { tried: vec![attempt("gcc", "not on the PATH"), attempt("cc", "not on the PATH")] },
        RuntimeError::NamedCompiler { variable: "TESSELLA_CC", attempt: attempt("gcc-99", "not on the PATH") },
        refused("smooth.c:1:10: fatal error: 'math.h' file not found"),
        refused("ld: error: unable to find library -lomp"),
        RuntimeError::File {
            action: "write",
            path: "cache/smooth.so".into(),
            reason: "no space left on device".into(),
        },
        RuntimeError::Load { path: "cache/smooth.so".into(), reason: "file too short".into() },
        RuntimeError::Cuda(CudaError::NoNvrtc { looked: vec!["lib/libnvrtc.so.12".into()] }),
        RuntimeError::Cuda(CudaError::Nvrtc {
            program: "smooth.cu".into(),
            status: "NVRTC_ERROR_COMPILATION".into(),
            log: "smooth.cu(4): error: identifier \"n\" is undefined".into(),
        }),
    ];
    Kernel::new().compare(words(errors));
}

#[test]
fn what_fails_at_a_call_and_on_a_gpu() {
    let errors = vec![
        RuntimeError::ArgumentCount { expected: 3, found: 2 },
        RuntimeError::ArgumentType {
            position: 1,
            expected: ParamType::Scalar(ScalarType::I64),
            found: ArgumentKind::Scalar(ScalarType::F64),
        },
        RuntimeError::Cuda(CudaError::NoLauncher {
            looked: vec!["target/release/libtessella_cuda.so".into()],
            reason: "cannot open shared object file".into(),
        }),
        RuntimeError::Cuda(CudaError::WrongLauncher { path: "libtessella_cuda.so".into(), found: 1, expected: 2 }),
        RuntimeError::Cuda(CudaError::NoDriver { reason: "libcuda.so.1: cannot open shared object file".into() }),
        RuntimeError::Cuda(CudaError::NoDevice { index: 1, count: 1 }),
        RuntimeError::Cuda(CudaError::OutOfMemory { requested: 8 << 30, free: 2 << 30, total: 4 << 30 }),
        RuntimeError::DeviceMemory { needed: 8 << 30, free: 2 << 30, total: 4 << 30 },
        RuntimeError::Cuda(CudaError::Driver {
            call: "cuLaunchKernel".into(),
            code: 700,
            name: "CUDA_ERROR_ILLEGAL_ADDRESS".into(),
            detail: "an illegal memory access was encountered".into(),
        }),
        RuntimeError::Cuda(CudaError::OutsideBuffer { offset: 64, length: 16, bytes: 72 }),
        RuntimeError::GridTooLarge {
            kernel: "smooth_S".into(),
            axis: 'x',
            blocks: 2_147_483_648,
            limit: 2_147_483_647,
        },
        RuntimeError::TooManyTogether {
            kernel: "smooth_S_resident".into(),
            blocks: 297,
            shared_bytes: 132_096,
            held: 132,
        },
        RuntimeError::TooManyTogether {
            kernel: "smooth_S_resident".into(),
            blocks: 100,
            shared_bytes: 132_096,
            held: 132,
        },
        RuntimeError::BlockTooLarge { kernel: "smooth_S".into(), block: [32, 32, 2], limit: 1024 },
        RuntimeError::SharedTooLarge { kernel: "smooth_S".into(), bytes: 132_096, limit: 101_376 },
        RuntimeError::MalformedPlan("kernel `smooth_S` has no parameter 4".into()),
    ];
    Kernel::new().compare(words(errors));
}

#[test]
fn what_the_interpreter_finds_while_it_runs() {
    let kernel = Kernel::new();
    let errors = vec![
        RunError::ArgumentCount {
            function: "smooth!".into(),
            expected: 3,
            given: 2,
            span: kernel.at("smooth!(u, v, steps)"),
        },
        RunError::ArgumentType {
            name: "v".into(),
            expected: "a `Vector{Float64}`".into(),
            found: "a `Float64`".into(),
            span: kernel.at("v"),
        },
        RunError::Bounds { array: "u".into(), axis: 1, subscript: 101, extent: 100, span: kernel.at("u[i+1]") },
        RunError::Divide { dividend: 7, divisor: 0, span: kernel.at("(u[i-1] + u[i+1]) / 2") },
        RunError::Unspecified { value: "1e300".into(), to: ScalarType::I64, span: kernel.at("u[i-1]") },
        RunError::Unassigned { name: "n".into(), span: kernel.at("n-1") },
        RunError::IllTyped { operator: "+".into(), ty: ScalarType::Bool, span: kernel.at("u[i-1] + u[i+1]") },
        RunError::Size {
            error: SizeError::Mismatch,
            text: "arrays of 99 and 100 elements".into(),
            span: kernel.at("v[i] = (u[i-1] + u[i+1]) / 2"),
        },
        RunError::Undefined { array: "v".into(), span: kernel.last("v[i]") },
        RunError::TooLarge { array: "v".into(), span: kernel.at("v") },
        RunError::OutOfSteps { steps: 20_000_000_000, span: kernel.at("u[i] = v[i]") },
    ];
    kernel.compare(words(errors));
}
