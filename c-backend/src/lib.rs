//! C with OpenMP and SIMD: one function, one file, made to be read.

mod flags;
mod lanes;
mod pragmas;
mod threads;
mod undo;
mod work;

use pragmas::{Pragmas, Searches};
use std::collections::BTreeSet;
use tessella_codegen::c_family::{
    Dialect, LoopHooks, Printer, TextOptions, Writer, header_comment, helper_texts, scan_text, vector_types,
};
use tessella_codegen::entry::{EntryParameter, STATUS_FAILED_LATER, STATUS_OUT_OF_MEMORY};
use tessella_codegen::{CodegenError, Input, Program, generate};
use tessella_polyhedral::algorithm::ArrayId;
use tessella_polyhedral::layers::{BufferId, Lifetime, MemorySpace};
use tessella_polyhedral::verify::Verified;

/// A C file and how to compile it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CSource {
    pub text: String,
    /// The header that declares the entry function, for C and C++.
    pub header: String,
    /// The name of the entry function.
    pub entry: String,
    /// What the compiler needs so that the program means what Julia means.
    pub flags: Vec<&'static str>,
    /// What the linker needs, after the file.
    pub libraries: Vec<&'static str>,
}

/// Prints a verified program as C.
///
/// # Errors
/// `E06xx`: see [`CodegenError`].
pub fn emit(verified: &Verified, options: &TextOptions) -> Result<CSource, CodegenError> {
    let input = Input::from(verified);
    Ok(print(&input, &generate(&input)?, options))
}

/// Prints a scan as C, a function of its own.
///
/// # Errors
/// `E06xx`: see [`CodegenError`].
pub fn emit_scan(verified: &Verified, options: &TextOptions) -> Result<CSource, CodegenError> {
    let input = Input::from(verified);
    Ok(print_with(&input, &generate(&input)?, options, &mut Searches::new(input.machine.worth_threads)))
}

/// Prints a loop program as C.
pub fn print(input: &Input<'_>, program: &Program, options: &TextOptions) -> CSource {
    let worth = input.machine.worth_threads;
    let (program, decided) = threads::decide(program, worth);
    print_with(input, &program, options, &mut Pragmas::new(worth, decided))
}

/// The same, with what stands before loops.
fn print_with(input: &Input<'_>, program: &Program, options: &TextOptions, hooks: &mut dyn LoopHooks) -> CSource {
    let worth = input.machine.worth_threads;
    let mut printer = Printer::new(*input, program, Dialect::C, options);
    let mut body = Writer::default();
    body.open(printer.signature("restrict "));
    printer.entry_checks(&mut body);
    printer.sizes_answer(&mut body);
    let kept = undo::declare(&mut printer, &mut body);
    let scratch = declare_buffers(&mut printer, &kept, &mut body);
    printer.allocated = scratch.clone();
    printer.allocated_at_entry = scratch.len();
    undo::save(&mut printer, &kept, &mut body);
    body.blank();
    printer.block(&program.body, hooks, &mut body);
    undo::restore(&mut printer, &kept, &scratch, STATUS_FAILED_LATER, &mut body);
    return_results(&printer, &mut body);
    scratch.iter().rev().for_each(|name| body.line(format!("free({name});")));
    body.line("return 0;");
    body.close();

    let mut out = Writer::default();
    header_comment(options, "C", &mut out);
    out.blank();
    out.line("#include <math.h>");
    out.line("#include <stdint.h>");
    if !scratch.is_empty() || printer.allocates_inside {
        out.line("#include <stdlib.h>");
    }
    if !kept.is_empty() {
        out.line("#include <string.h>");
    }
    let macros = printer.subscript_macros();
    let (scan, scan_helpers) = scan_text(input, program, Dialect::C, options, &mut Searches::new(worth));
    let helpers = printer.helpers.union(&scan_helpers).copied().collect();
    for helper in helper_texts(&helpers, Dialect::C) {
        out.blank();
        out.text(&helper);
    }
    if !printer.vectors.is_empty() {
        out.blank();
        out.line("// Vectors, and the elements that lie side by side from one on.");
        vector_types(&printer.vectors).iter().for_each(|text| out.line(text));
    }
    out.blank();
    out.append(&scan);
    if !macros.is_empty() {
        out.blank();
        macros.iter().for_each(|text| out.line(text));
    }
    out.blank();
    out.append(&body);
    CSource {
        text: out.finish(),
        header: header(&printer),
        entry: program.names.function.clone(),
        flags: flags::flags(input, program.fastmath),
        libraries: vec!["-lm"],
    }
}

/// Declares the buffers that live as long as the call, and the memory that each thread has for itself; gives the names of
/// those that must be freed, what is kept among them.
fn declare_buffers(printer: &mut Printer<'_>, kept: &[undo::Kept], out: &mut Writer) -> Vec<String> {
    let mut scratch: Vec<String> = kept.iter().map(|it| it.name().to_owned()).collect();
    let layout = printer.input.layout;
    let used: BTreeSet<BufferId> =
        printer.arrays_below(&printer.program.body).into_iter().map(|array| printer.input.buffer_of(array)).collect();
    for (at, buffer) in layout.buffers.iter().enumerate() {
        let id = BufferId(at as u32);
        if used.contains(&id)
            && let Some(name) = printer.program.names.memories.get(&id)
        {
            let allocation = printer.allocation_for_threads(id);
            out.line(allocation);
            scratch.push(name.clone());
            continue;
        }
        if buffer.lifetime != Lifetime::Call || !used.contains(&id) {
            continue;
        }
        if buffer.space == MemorySpace::Register {
            let declaration = printer.declaration(id);
            out.line(declaration);
            continue;
        }
        let allocation = printer.allocation(id);
        out.line(allocation);
        scratch.push(printer.program.names.buffers[at].clone());
    }
    if !scratch.is_empty() {
        let missing: Vec<String> = scratch.iter().map(|name| format!("!{name}")).collect();
        out.open(format!("if ({})", missing.join(" || ")));
        scratch.iter().for_each(|name| out.line(format!("free({name});")));
        out.line(format!("return {STATUS_OUT_OF_MEMORY};"));
        out.close();
    }
    scratch
}

/// Hands scalar results over that were not computed in the caller's memory.
fn return_results(printer: &Printer<'_>, out: &mut Writer) {
    for (&array, result) in &printer.program.names.results {
        return_result(printer, array, result, out);
    }
}

fn return_result(printer: &Printer<'_>, array: ArrayId, result: &str, out: &mut Writer) {
    let id = printer.input.buffer_of(array);
    let buffer = printer.input.layout.buffer(id);
    let name = &printer.program.names.buffers[id.0 as usize];
    match (&buffer.lifetime, buffer.space) {
        (Lifetime::Argument(_), _) => {}
        (_, MemorySpace::Register) => out.line(format!("*{result} = {name};")),
        (_, MemorySpace::Host | MemorySpace::Global | MemorySpace::Constant { .. } | MemorySpace::Shared) => {
            out.line(format!("*{result} = {name}[0];"))
        }
    }
}

/// What the parameters beyond those of contiguous arrays mean.
fn parameter_notes(printer: &Printer<'_>) -> Vec<&'static str> {
    let parameters = &printer.program.entry.parameters;
    let mut notes = vec![];
    if parameters.iter().any(|it| matches!(it, EntryParameter::Stride { .. })) {
        notes.extend([
            "// A_stride1 is the distance from A[i] to A[i + 1] in elements, negative or zero too; the pointer is to the",
            "// element whose subscripts are the first ones. Two elements of a written array must not share memory (-1).",
        ]);
    }
    if parameters.iter().any(|it| matches!(it, EntryParameter::First { .. })) {
        notes.push("// A_first1 is the first index along axis 1: subscripts are A_first1 to A_first1 + extent - 1.");
    }
    notes
}

fn header(printer: &Printer<'_>) -> String {
    let mut out = Writer::default();
    let guard = format!("{}_H", printer.program.names.function.to_uppercase());
    header_comment(printer.options, "C header", &mut out);
    out.blank();
    out.line(format!("#ifndef {guard}"));
    out.line(format!("#define {guard}"));
    out.blank();
    out.line("#include <stdint.h>");
    out.blank();
    out.line("#ifdef __cplusplus");
    out.line("extern \"C\" {");
    out.line("#endif");
    out.blank();
    out.line(
        "// Returns 0; k > 0 if the k-th condition on subscripts fails; -1 if arrays overlap; -2 if memory runs out;",
    );
    out.line(match printer.allocates_inside {
        false => "// -3 if an argument is out of range. Unless it is 0, nothing has been written.",
        true => "// -3 if an argument is out of range. Unless it is 0 or -2, nothing has been written.",
    });
    if printer.input.algorithm.failed.is_some() {
        out.line("// -6 if a subscript or value failed that could only be tested on the way: what was written has been put back.");
    }
    for line in parameter_notes(printer) {
        out.line(line);
    }
    printer.results_comment(&mut out);
    out.text(&format!("{};", printer.signature("")));
    out.blank();
    out.line("#ifdef __cplusplus");
    out.line("}");
    out.line("#endif");
    out.blank();
    out.line(format!("#endif // {guard}"));
    out.finish()
}
