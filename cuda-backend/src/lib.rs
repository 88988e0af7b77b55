//! CUDA: kernels, and a host wrapper with the C interface of all targets, as one `.cu` file.
//!
//! Nothing here needs CUDA. The kernels alone are also given as text for NVRTC, with the launch plan that a launcher
//! executes instead of the wrapper.

mod kernel;
mod wrapper;

use std::collections::BTreeSet;
use tessella_codegen::c_family::{
    AHEAD_HELPERS, Dialect, FileParts, GRID_HELPERS, HEXAGON_HELPERS, HEXAGON_PLANES, Helper, NoHooks, Printer,
    RESIDENT_HELPERS, ROW_HELPERS, STREAM_HELPERS, STREAM_LINES, STREAM_ROUNDS, TURNS_HELPERS, TextOptions,
    VECTOR_HELPERS, Writer, header_comment, helper_texts, scan_text,
};
use tessella_codegen::program::{Blocks, Kernel, Node};
use tessella_codegen::{CodegenError, Input, LaunchPlan, Program, generate, launch_plan};
use tessella_polyhedral::verify::Verified;

/// A CUDA program in two forms.
#[derive(Debug, Clone, PartialEq)]
pub struct CudaSource {
    /// One `.cu` file that nvcc compiles as it is: kernels and an `extern "C"` host wrapper.
    pub text: String,
    /// What the text is made of, but for how it is compiled.
    pub parts: FileParts,
    /// The kernels alone, for NVRTC: no includes.
    pub kernels: String,
    /// What the host does, for a launcher.
    pub plan: LaunchPlan,
    /// In the order of `plan.kernels`; `extern "C"`, not mangled.
    pub kernel_names: Vec<String>,
    /// The name of the wrapper.
    pub entry: String,
    /// What nvcc and NVRTC need so that the program means what Julia means.
    pub flags: Vec<&'static str>,
}

/// No contraction; division and square root round correctly and keep subnormal numbers, which is the default.
const STRICT: [&str; 1] = ["-fmad=false"];
/// What `@fastmath` on every statement allows.
const FAST: [&str; 1] = ["-fmad=true"];

/// NVRTC has no headers: the names of `stdint.h` on its platforms.
const FIXED_WIDTH_TYPES: [&str; 8] = [
    "typedef signed char int8_t;",
    "typedef short int16_t;",
    "typedef int int32_t;",
    "typedef long long int64_t;",
    "typedef unsigned char uint8_t;",
    "typedef unsigned short uint16_t;",
    "typedef unsigned int uint32_t;",
    "typedef unsigned long long uint64_t;",
];

/// Prints a verified program as CUDA.
///
/// # Errors
/// `E06xx`: see [`CodegenError`].
pub fn emit(verified: &Verified, options: &TextOptions) -> Result<CudaSource, CodegenError> {
    let input = Input::from(verified);
    print(&input, &generate(&input)?, options)
}

/// Prints a loop program, whose kernels have been extracted, as CUDA.
///
/// # Errors
/// E0547: see [`launch_plan`].
pub fn print(input: &Input<'_>, program: &Program, options: &TextOptions) -> Result<CudaSource, CodegenError> {
    let plan = launch_plan(input, program)?;
    let mut printer = Printer::new(*input, program, Dialect::Cuda, options);
    let constants = kernel::constants(&printer);
    let mut kernels = Writer::default();
    if program.kernels.iter().any(has_copies_ahead) {
        kernels.blank();
        kernels.text(AHEAD_HELPERS);
    }
    if program.kernels.iter().any(|it| it.blocks.wait()) {
        kernels.blank();
        kernels.text(GRID_HELPERS);
    }
    if program.kernels.iter().any(|it| it.blocks == Blocks::Together) {
        kernels.blank();
        kernels.text(TURNS_HELPERS);
    }
    if program.kernels.iter().any(has_vectors) {
        kernels.blank();
        kernels.text(VECTOR_HELPERS);
    }
    let before = std::mem::take(&mut kernels);
    let mut some_stream = false;
    for it in program.kernels.iter().filter(|it| it.same_as.is_none()) {
        kernels.blank();
        if matches!(it.body.as_slice(), [Node::Streaming(_)]) && !std::mem::replace(&mut some_stream, true) {
            kernels.text(STREAM_HELPERS);
            kernels.blank();
            if program.kernels.iter().any(has_hexagons) {
                kernels.text(HEXAGON_HELPERS);
                kernels.blank();
            }
            if program.kernels.iter().any(|it| it.blocks == Blocks::Resident) {
                kernels.text(RESIDENT_HELPERS);
                kernels.blank();
            }
            if program.kernels.iter().any(has_rounds) {
                kernels.text(STREAM_ROUNDS);
                kernels.blank();
            }
            if program.kernels.iter().any(has_planes) {
                kernels.text(STREAM_LINES);
                kernels.blank();
            }
            if program.kernels.iter().any(has_hexagons_of_planes) {
                kernels.text(HEXAGON_PLANES);
                kernels.blank();
            }
        }
        kernel::print(&mut printer, it, &mut kernels);
    }
    let bodies = std::mem::replace(&mut kernels, before);
    if program.kernels.iter().any(copies_rows) {
        kernels.blank();
        kernels.text(ROW_HELPERS);
    }
    kernels.blank();
    kernels.append(&bodies);
    let macros = printer.subscript_macros();
    let device_helpers = printer.helpers.clone();
    let mut host = Writer::default();
    wrapper::print(&mut printer, &plan, &mut host);
    let (scan, scan_helpers) = match &program.scan {
        Some(scan) => scan_text(input, &scan.program, Dialect::Cuda, options, &mut NoHooks),
        None => Default::default(),
    };
    let all_helpers = printer.helpers.union(&scan_helpers).copied().collect();

    let mut alone = Writer::default();
    header_comment(options, "CUDA kernels", &mut alone);
    alone.blank();
    FIXED_WIDTH_TYPES.iter().for_each(|line| alone.line(line));
    definitions(&device_helpers, &macros, &mut alone);
    alone.blank();
    if !constants.is_empty() {
        // The launcher finds them by these names.
        alone.open("extern \"C\"");
        constants.iter().for_each(|line| alone.line(line));
        alone.close();
        alone.blank();
    }
    alone.append(&kernels);

    let mut comment = Writer::default();
    header_comment(options, "CUDA", &mut comment);
    let mut includes = vec!["<cuda_runtime.h>", "<math.h>"];
    if plan.takes_turns() {
        includes.push("<mutex>");
    }
    includes.push("<stdint.h>");
    let mut own = Writer::default();
    definitions(&all_helpers, &macros, &mut own);
    own.blank();
    if !constants.is_empty() {
        // Other functions of the same binary may have constants of the same names.
        constants.iter().for_each(|line| own.line(format!("static {line}")));
        own.blank();
    }
    own.append(&kernels);
    if !macros.is_empty() {
        own.blank();
        printer.macros.iter().for_each(|array| {
            own.line(format!("#undef {}", program.names.arrays[array.0 as usize]));
        });
        printer.shifts().iter().for_each(|name| own.line(format!("#undef {name}")));
    }
    own.blank();
    own.append(&scan);
    own.blank();
    own.append(&host);
    let parts = FileParts { comment: comment.finish(), includes, helpers: vec![], own: own.finish() };
    let compiled =
        FileParts { comment: format!("{}//\n{}", parts.comment, compiling(program.fastmath)), ..parts.clone() };
    Ok(CudaSource {
        text: compiled.text(),
        parts,
        kernels: alone.finish(),
        kernel_names: plan.kernels.iter().map(|it| it.name.clone()).collect(),
        plan,
        entry: program.names.function.clone(),
        flags: flags(program.fastmath).to_vec(),
    })
}

/// One file of several functions, whose entries have different names. Products and sums are rounded as one where all functions allow that.
pub fn together(all: &[CudaSource]) -> String {
    let names: Vec<&str> = all.iter().map(|it| it.entry.as_str()).collect();
    let is_fast = all.iter().all(|it| it.flags == FAST);
    let comment = format!("// {}: CUDA, generated by Tessella\n//\n{}", names.join(", "), compiling(is_fast));
    FileParts::together(&comment, all.iter().map(|it| (it.entry.as_str(), &it.parts)), Dialect::Cuda)
}

fn flags(is_fast: bool) -> &'static [&'static str] {
    if is_fast { &FAST } else { &STRICT }
}

/// How a file is compiled, and why.
fn compiling(is_fast: bool) -> String {
    let rounding = match is_fast {
        true => "a product and a sum may be rounded as one",
        false => "every product and every sum is rounded, as in Julia",
    };
    format!("// nvcc {}: {rounding}.", flags(is_fast).join(" "))
}

/// Whether a kernel copies while it computes.
fn has_copies_ahead(kernel: &Kernel) -> bool {
    has(kernel, |node| matches!(node, Node::Await(_)))
}

/// Whether the threads of a kernel copy whole rows ahead.
fn copies_rows(kernel: &Kernel) -> bool {
    has(kernel, |node| matches!(node, Node::Spread(it) if it.rows.is_some()))
}

/// Whether a kernel copies several elements at once.
fn has_vectors(kernel: &Kernel) -> bool {
    has(kernel, |node| matches!(node, Node::For(it) if it.wide.is_some()))
}

fn has(kernel: &Kernel, what: fn(&Node) -> bool) -> bool {
    let mut found = false;
    kernel.body.iter().for_each(|node| node.walk(&mut |node| found |= what(node)));
    found
}

fn has_hexagons(kernel: &Kernel) -> bool {
    matches!(kernel.body.as_slice(), [Node::Streaming(it)] if it.halves.is_some())
}

fn has_hexagons_of_planes(kernel: &Kernel) -> bool {
    matches!(kernel.body.as_slice(), [Node::Streaming(it)] if it.hexagons().is_some_and(|(it, _)| it.planes.is_some()))
}

/// Whether some axis of a stream goes round.
fn has_rounds(kernel: &Kernel) -> bool {
    matches!(kernel.body.as_slice(), [Node::Streaming(it)] if it.rounds.iter().any(Option::is_some))
}

/// Whether it is a stream over planes, whose lines pass from warp to warp, or would if there were others.
fn has_planes(kernel: &Kernel) -> bool {
    matches!(kernel.body.as_slice(), [Node::Streaming(it)] if it.stream.axes[1].is_some())
}

fn definitions(helpers: &BTreeSet<Helper>, macros: &[String], out: &mut Writer) {
    for helper in helper_texts(helpers, Dialect::Cuda) {
        out.blank();
        out.text(&helper);
    }
    if !macros.is_empty() {
        out.blank();
        macros.iter().for_each(|text| out.line(text));
    }
}
