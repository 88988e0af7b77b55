//! The schedules that the documentation shows, on the programs of `schedule_pages`: all are accepted.

use std::fs;
use tessella::file::{FileOptions, ScheduleSource, check};
use tessella::request::Backend;
use tessella_tests::{report, root};

/// Which lines of an example are a schedule.
#[derive(Debug, Clone, Copy)]
enum Part {
    All,
    /// The others belong to the program, or are schedules of their own.
    Line(usize),
}

/// An example of a page, by its number there; a program that it is for, and the target.
const EXAMPLES: &[(&str, usize, Part, &str, Backend)] = &[
    ("schedule.md", 0, Part::All, "heat", Backend::C),
    ("schedule.md", 1, Part::All, "gemm", Backend::C),
    ("schedule.md", 2, Part::All, "seidel", Backend::C),
    ("schedule.md", 3, Part::All, "seidel", Backend::C),
    ("schedule.md", 4, Part::All, "doubled", Backend::C),
    ("schedule.md", 5, Part::Line(3), "shortest_paths", Backend::C),
    ("schedule.md", 6, Part::All, "blur_of_a_row", Backend::C),
    ("schedule.md", 7, Part::All, "blur", Backend::C),
    ("schedule.md", 8, Part::Line(0), "blur_of_tiles", Backend::C),
    ("schedule.md", 8, Part::Line(1), "blur_of_tiles", Backend::Cuda),
    ("schedule.md", 9, Part::All, "histogram", Backend::Cuda),
    ("schedule.md", 10, Part::All, "doitgen", Backend::C),
    ("schedule.md", 11, Part::All, "heat", Backend::C),
    ("schedule.md", 12, Part::Line(0), "heat", Backend::Cuda),
    ("schedule.md", 12, Part::Line(1), "heat", Backend::Cuda),
    ("schedule.md", 12, Part::Line(2), "heat_in_space", Backend::Cuda),
    ("schedule.md", 12, Part::Line(3), "heat_in_space", Backend::Cuda),
    ("schedule.md", 13, Part::All, "sum_over_k", Backend::C),
    ("schedule.md", 14, Part::All, "doubled", Backend::C),
    ("schedule.md", 15, Part::All, "moved", Backend::C),
    ("schedule.md", 16, Part::Line(0), "sum_over_i", Backend::C),
    ("schedule.md", 16, Part::Line(1), "sum_over_i", Backend::C),
    ("schedule.md", 16, Part::Line(2), "sum_over_i", Backend::C),
    ("schedule.md", 17, Part::All, "added_at", Backend::Cuda),
    ("schedule.md", 18, Part::All, "columns", Backend::Cuda),
    ("schedule.md", 19, Part::All, "sum", Backend::Cuda),
    ("schedule.md", 20, Part::All, "two_sums", Backend::Cuda),
    ("schedule.md", 21, Part::All, "heat", Backend::Cuda),
    ("schedule-storage.md", 0, Part::All, "weighted_blur", Backend::Cuda),
    ("schedule-storage.md", 1, Part::All, "gemm", Backend::Cuda),
    ("schedule-communication.md", 0, Part::All, "heat", Backend::Cuda),
    ("schedule-communication.md", 1, Part::All, "pipeline", Backend::Cuda),
    ("time-tiling.md", 0, Part::All, "heat", Backend::Cuda),
    ("time-tiling.md", 1, Part::Line(0), "heat", Backend::Cuda),
    ("time-tiling.md", 1, Part::Line(1), "heat", Backend::Cuda),
    ("time-tiling.md", 1, Part::Line(2), "heat_in_space", Backend::Cuda),
    ("time-tiling.md", 2, Part::All, "heat", Backend::C),
    ("time-tiling.md", 3, Part::All, "heat", Backend::Cuda),
];

/// The Julia code of a page.
fn examples(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("docs").join(page)).unwrap();
    let mut found = vec![];
    let mut lines = text.lines();
    while lines.any(|line| line == "```julia") {
        found.push(lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect());
    }
    found
}

/// The commands of an example, without a `@schedule` block around them.
fn commands(example: &str, part: Part) -> String {
    let inside = match example.split_once("@schedule ") {
        Some((_, block)) => block.split_once('\n').expect("a block has lines").1.trim_end().trim_end_matches("end"),
        None => example,
    };
    match part {
        Part::All => inside.to_string(),
        Part::Line(number) => inside.lines().nth(number).expect("the example has so many lines").to_string(),
    }
}

#[test]
fn schedules_of_the_pages_are_accepted() {
    let mut failures = vec![];
    for &(page, number, part, program, backend) in EXAMPLES {
        let text = fs::read_to_string(root().join(format!("tests/schedule_pages/{program}.jl"))).unwrap();
        let schedule = ScheduleSource::Text { text: commands(&examples(page)[number], part), name: page.to_string() };
        let options = FileOptions { name: format!("{program}.jl"), function: None, types: vec![], schedule };
        let said = check(&text, &options, backend).diagnostics;
        if !said.is_empty() {
            failures.push(format!("example {number} of {page}, {part:?}:\n{said}"));
        }
    }
    report(failures);
}

#[test]
fn every_example_of_a_page_has_a_program() {
    for page in ["schedule.md", "schedule-storage.md", "schedule-communication.md", "time-tiling.md"] {
        for number in 0..examples(page).len() {
            let is_listed = EXAMPLES.iter().any(|&(other, at, ..)| (other, at) == (page, number));
            assert!(is_listed, "example {number} of {page}, counted from 0, is not in the list above");
        }
    }
}
