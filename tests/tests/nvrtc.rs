//! NVRTC compiles every kernel that is generated, without a warning, on a machine with or without a GPU.

use std::fs;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::Backend;
use tessella_runtime::cuda::{Nvrtc, Target};
use tessella_tests::{examples, julia_files, report, root};

/// Compute capability 9.0: Hopper.
const TARGET: Target = Target::Cubin(90);

#[test]
fn nvrtc_compiles_all_generated_kernels() {
    let nvrtc = match Nvrtc::get() {
        Ok(nvrtc) => nvrtc,
        Err(error) => {
            println!("skipped: {error}");
            return;
        }
    };
    let mut failures = vec![];
    let gathers = root().join("tests/language/arrays_gathers.jl");
    let folders = ["tests/polybench", "examples/images", "examples/rodinia", "examples/vectors"];
    let more = folders.iter().flat_map(|folder| julia_files(&root().join(folder)));
    for path in examples().into_iter().chain(more).chain([gathers]) {
        let text = fs::read_to_string(&path).unwrap();
        if !text.lines().any(|line| line.starts_with("@tessella")) {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        match kernels(name, &text) {
            Err(diagnostics) => failures.push(format!("{name} was refused:\n{diagnostics}")),
            Ok(all) => {
                for (function, kernels) in all {
                    match nvrtc.compile(&kernels, &format!("{function}.cu"), TARGET, &["-fmad=false"]) {
                        Err(error) => failures.push(format!("{name}, {function}: {error}")),
                        Ok(compiled) if compiled.log.trim().is_empty() => {}
                        Ok(compiled) => failures.push(format!("{name}, {function}: {}", compiled.log)),
                    }
                }
            }
        }
    }
    report(failures);
}

/// The functions of a file and their kernels' text.
fn kernels(name: &str, text: &str) -> Result<Vec<(String, String)>, String> {
    let options =
        FileOptions { name: name.to_string(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = Sources::read(text, &options)?;
    let one = |item| {
        let unit = sources.unit(item, &[])?;
        let source = unit.build(Backend::Cuda)?.cuda(&unit)?;
        Ok((source.entry, source.kernels))
    };
    sources.functions().iter().map(|item| one(item).map_err(|errors: Vec<_>| sources.show(&errors))).collect()
}
