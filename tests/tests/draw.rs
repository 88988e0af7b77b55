//! Drawings: `draw/NAME.jl` and the picture it becomes, `draw/NAME.svg`.
//!
//! A case says what to draw in comments: `#! size n=8 steps=3`, `#! dims i,j`, `#! fix k=2`, `#! space schedule`,
//! `#! order line`, `#! computation S`, `#! tiling`.

use std::fs;
use tessella::file::{self, FileOptions, ScheduleSource};
use tessella::request::{Backend, DrawOptions};
use tessella_tests::{draw_options, golden, julia_files, report, root};

fn options(name: &str) -> FileOptions {
    FileOptions { name: name.to_string(), function: None, types: vec![], schedule: ScheduleSource::InFile }
}

#[test]
fn drawings_look_as_recorded() {
    let mut failures = vec![];
    for path in julia_files(&root().join("tests/draw")) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let draw = draw_options(&text).unwrap_or_default();
        let drawn = file::draw(&text, &options(name), &draw, Backend::C);
        match drawn {
            Ok(svg) => failures.extend(golden(&path.with_extension("svg"), &svg).err()),
            Err(diagnostics) => failures.push(format!("{name} was refused:\n{diagnostics}")),
        }
    }
    report(failures);
}

#[test]
fn every_kernel_can_be_drawn() {
    let mut failures = vec![];
    for path in julia_files(&root().join("tests/polybench")) {
        let text = fs::read_to_string(&path).unwrap();
        if !text.lines().any(|line| line.starts_with("@tessella")) {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        // The loops of the schedule for every other one.
        let draw = DrawOptions { scheduled: name.len() % 2 == 0, ..DrawOptions::default() };
        match file::draw(&text, &options(name), &draw, Backend::C) {
            Ok(svg) => assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{name}: {svg}"),
            Err(diagnostics) => failures.push(format!("{name} was refused:\n{diagnostics}")),
        }
    }
    report(failures);
}
