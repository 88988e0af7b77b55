//! How much isl does for each program of the tests: its operations are the same on every machine, and bound the time that
//! transpiling takes (`./x bench transpile` measures it).

use std::fs;
use std::path::Path;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::{Backend, TextKind};
use tessella_polyhedral::isl::operations_of_ended_contexts;
use tessella_tests::{julia_files, root};

/// What no program may take: about a million and a half are a second on an AMD EPYC. All but one stay below 7 million, which is 5 s;
/// `lbm_step!` on a GPU takes 15.5 million, about six seconds, since two orders are given up before its nests keep their loops.
const MOST: u64 = 16_000_000;

/// What half of the programs of a folder may take.
const USUAL: u64 = 1_100_000;

/// The operations for each function of a file that goes through.
fn operations(path: &Path, backend: Backend) -> Vec<(u64, String)> {
    let text = fs::read_to_string(path).unwrap();
    if !text.lines().any(|line| line.starts_with("@tessella")) {
        return vec![];
    }
    let name = path.file_name().expect("it is a file").to_string_lossy().into_owned();
    let options = FileOptions { name: name.clone(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = Sources::read(&text, &options).unwrap_or_else(|told| panic!("{told}"));
    let kind = match backend {
        Backend::Cuda => TextKind::Cuda,
        Backend::C | Backend::Interpreter => TextKind::C,
    };
    let mut found = vec![];
    for item in sources.functions() {
        // What a target refuses is part of other tests, but counts here, too.
        let Ok(unit) = sources.unit(item, &[]) else { continue };
        let before = operations_of_ended_contexts();
        let _ = unit.text(backend, kind);
        found.push((operations_of_ended_contexts() - before, format!("{name}: {}", item.name.value)));
    }
    found
}

/// Transpiles all programs of some folders, and says what the worst of them take if one takes too much.
fn check(folders: &[&str], backend: Backend) {
    let files = folders.iter().flat_map(|folder| julia_files(&root().join(folder)));
    let mut all: Vec<(u64, String)> = files.flat_map(|path| operations(&path, backend)).collect();
    all.sort_by(|a, b| b.cmp(a));
    assert!(all.len() > 4, "{folders:?} have programs");
    let median = all[all.len() / 2].0;
    let worst: Vec<String> = all.iter().take(5).map(|(count, name)| format!("{count:>9} {name}")).collect();
    let told = format!("{folders:?}, {backend:?}: median {median}, most:\n{}", worst.join("\n"));
    println!("{told}");
    assert!(all[0].0 <= MOST && median <= USUAL, "{told}");
}

macro_rules! programs {
    ($($test:ident: $backend:ident, $($folder:literal),+;)*) => {
        $(#[test] fn $test() { check(&[$($folder),+], Backend::$backend); })*
    };
}

programs! {
    polybench_on_a_cpu: C, "tests/polybench";
    polybench_on_a_gpu: Cuda, "tests/polybench";
    stencils_on_a_cpu: C, "tests/stencils";
    stencils_on_a_gpu: Cuda, "tests/stencils";
    programs_on_a_cpu: C, "tests/programs";
    programs_on_a_gpu: Cuda, "tests/programs";
    orders_of_a_gpu: Cuda, "tests/gpu_orders";
    examples_on_a_cpu: C, "examples", "examples/images", "examples/rodinia", "examples/vectors";
    examples_on_a_gpu: Cuda, "examples", "examples/images", "examples/rodinia", "examples/vectors";
}
