//! What becomes of the PolyBench kernels: `polybench/summary.txt` says which loops run in parallel on each target.

use std::fmt::Write;
use std::fs;
use tessella::file::{self, FileOptions, ScheduleSource};
use tessella::request::Backend;
use tessella_tests::{golden, julia_files, report, root};

#[test]
fn kernels_run_in_parallel_as_recorded() {
    let folder = root().join("tests/polybench");
    let (mut summary, mut failures) = (String::new(), vec![]);
    for path in julia_files(&folder) {
        let text = fs::read_to_string(&path).unwrap();
        if !text.lines().any(|line| line.starts_with("@tessella")) {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let options =
            FileOptions { name: name.to_string(), function: None, types: vec![], schedule: ScheduleSource::InFile };
        for (backend, target) in [(Backend::C, "c"), (Backend::Cuda, "cuda")] {
            let checked = file::check(&text, &options, backend);
            if !checked.diagnostics.is_empty() {
                failures.push(format!("{name} was refused:\n{}", checked.diagnostics));
            }
            for line in checked.passed {
                writeln!(summary, "{target:<5} {line}").unwrap();
            }
        }
    }
    failures.extend(golden(&folder.join("summary.txt"), &summary).err());
    report(failures);
}
