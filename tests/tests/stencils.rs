//! Stencils of `stencils/NAME.jl` under each shape of a `#! with` line: for the sizes of each `#! run` line the compiled
//! program gives what the interpreter of the source gives, bit for bit.

use std::fs;
use tessella::file::{FileOptions, ScheduleSource};
use tessella::request::Backend;
use tessella::run::{Failed, RunOptions, run};
use tessella_tests::{julia_files, report, root};

fn lines<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| line.strip_prefix(prefix))
}

#[test]
fn tilings_of_time_compute_what_the_source_says() {
    let mut failures = vec![];
    for path in julia_files(&root().join("tests/stencils")) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        assert!(lines(&text, "#! with ").count() > 0, "{name} has no line `#! with hexagonal(...)`");
        assert!(lines(&text, "#! run ").count() > 0, "{name} has no line `#! run n=1`");
        for command in lines(&text, "#! with ") {
            for sizes in lines(&text, "#! run ") {
                let failed = one(&text, &name, command, sizes).err();
                failures.extend(failed.map(|said| format!("{name}, {command}, {sizes}: {said}")));
            }
        }
    }
    report(failures);
}

/// Runs a program under a command for the sizes of one line.
fn one(text: &str, name: &str, command: &str, sizes: &str) -> Result<(), String> {
    let schedule = ScheduleSource::Text { text: command.to_string(), name: "command.jl".to_string() };
    let options = FileOptions { name: name.to_string(), function: None, types: vec![], schedule };
    let sizes = sizes.split(' ').map(|pair| {
        let (name, value) = pair.split_once('=').expect("a size is NAME=VALUE");
        (name.to_string(), value.parse().expect("a size is a number"))
    });
    let run_options =
        RunOptions { sizes: sizes.collect(), values: vec![], seed: 7, repeat: 1, compare: true, profile: false };
    let outcomes = run(text, &options, &run_options, Backend::C).map_err(|failed| match failed {
        Failed::Refused(text) | Failed::ToolChain(text) | Failed::Usage(text) => text,
    })?;
    match outcomes.iter().flat_map(|outcome| outcome.differences.first()).next() {
        None => Ok(()),
        Some(difference) => Err(difference.clone()),
    }
}
