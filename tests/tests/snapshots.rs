//! What each example becomes, stage by stage: `snapshots/EXAMPLE.STAGE`.

use std::fs;
use tessella::file::{self, FileOptions, ScheduleSource};
use tessella::request::{Backend, TextKind};
use tessella_tests::{examples, golden, report, root};

const STAGES: [(TextKind, Backend, &str); 5] = [
    (TextKind::Algorithm, Backend::C, "algorithm.txt"),
    (TextKind::Schedule, Backend::C, "schedule.txt"),
    (TextKind::C, Backend::C, "c"),
    (TextKind::Schedule, Backend::Cuda, "gpu-schedule.txt"),
    (TextKind::Cuda, Backend::Cuda, "cu"),
];

#[test]
fn examples_become_what_is_recorded() {
    let mut failures = vec![];
    for path in examples() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        for (kind, backend, extension) in STAGES {
            let options =
                FileOptions { name: name.to_string(), function: None, types: vec![], schedule: ScheduleSource::InFile };
            let printed = match file::transpile(&text, &options, backend, kind) {
                Ok(printed) => printed,
                Err(diagnostics) => {
                    failures.push(format!("{name} was refused:\n{diagnostics}"));
                    continue;
                }
            };
            let stem = name.trim_end_matches(".jl");
            failures.extend(golden(&root().join(format!("tests/snapshots/{stem}.{extension}")), &printed).err());
            let again = file::transpile(&text, &options, backend, kind);
            if again.as_deref() != Ok(printed.as_str()) {
                failures.push(format!("{name}: two runs print different {extension}"));
            }
        }
    }
    report(failures);
}
