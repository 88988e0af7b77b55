//! Schedules of `schedules/NAME.jl`, executed: for the sizes of each `#! run` line the compiled program gives what the
//! interpreter of the source gives, bit for bit; `schedules/NAME.txt` holds the loops that became of it.

use std::fs;
use tessella::file::{self, FileOptions, ScheduleSource};
use tessella::request::{Backend, TextKind};
use tessella::run::{Failed, RunOptions, run};
use tessella_tests::{golden, julia_files, report, root};

#[test]
fn scheduled_programs_compute_what_the_source_says() {
    let mut failures = vec![];
    for path in julia_files(&root().join("tests/schedules")) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        let options =
            FileOptions { name: name.clone(), function: None, types: vec![], schedule: ScheduleSource::InFile };
        match file::transpile(&text, &options, Backend::C, TextKind::Loops) {
            Ok(loops) => failures.extend(golden(&path.with_extension("txt"), &loops).err()),
            Err(said) => failures.push(said),
        }
        let sizes: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("#! run ")).collect();
        assert!(!sizes.is_empty(), "{name} has no line `#! run n=1`");
        for line in sizes {
            failures.extend(one(&text, &options, line).err().map(|said| format!("{name}, {line}: {said}")));
        }
    }
    report(failures);
}

/// Runs a program for the sizes of one line.
fn one(text: &str, options: &FileOptions, line: &str) -> Result<(), String> {
    let sizes = line.split(' ').map(|pair| {
        let (name, value) = pair.split_once('=').expect("a size is NAME=VALUE");
        (name.to_string(), value.parse().expect("a size is a number"))
    });
    let run_options = RunOptions {
        sizes: sizes.collect(),
        values: vec![],
        seed: 7,
        repeat: 1,
        compare: true,
        profile: false,
        chunked: false,
    };
    let outcomes = run(text, options, &run_options, Backend::C).map_err(|failed| match failed {
        Failed::Refused(text) | Failed::ToolChain(text) | Failed::Usage(text) => text,
    })?;
    match outcomes.iter().flat_map(|outcome| outcome.differences.first()).next() {
        None => Ok(()),
        Some(difference) => Err(difference.clone()),
    }
}
