//! A small part of what `./x fuzz` runs, and every input that once failed.

use std::path::Path;
use std::time::Duration;
use tessella_fuzz::{Corpus, Part, Verdict, run};

/// As much stack as a program's main thread has.
const STACK: usize = 8 << 20;

/// Time is measured by `./x fuzz`; here only what hangs is a failure, however slow the machine.
const HANGS: Duration = Duration::from_secs(60);

fn is_failure(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Slow(time) => *time > HANGS,
        other => other.is_failure(),
    }
}

fn on_a_main_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(test).expect("a thread can be made");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn survives(part: Part, inputs: u64) {
    on_a_main_stack(move || {
        let corpus = Corpus::of_repository(part).expect("the sources can be read");
        assert!(corpus.len() > 50, "only {} sources were found", corpus.len());
        let mut failures = String::new();
        for number in 0..inputs {
            let text = corpus.input(0, number);
            let verdict = run(part, &text);
            if is_failure(&verdict) {
                failures.push_str(&format!("input {number}: {verdict}\n{text}\n"));
            }
        }
        // The hook that notes panics is silent.
        eprint!("{failures}");
        assert!(failures.is_empty(), "\n{failures}");
    });
}

#[test]
fn mutated_characters_neither_crash_nor_hang_the_parser() {
    survives(Part::Parser, 10_000);
}

#[test]
fn mutated_tokens_neither_crash_nor_hang_the_passes() {
    survives(Part::Passes, 250);
}

#[test]
fn lowering_survives_mutated_functions() {
    survives(Part::Lowering, 2000);
}

#[test]
fn inputs_that_once_failed_are_survived() {
    on_a_main_stack(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .expect("the folder exists")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.sort();
        let mut failures = String::new();
        for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "jl")) {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let part = match name.split('_').next() {
                Some("parser") => Part::Parser,
                Some("lowering") => Part::Lowering,
                _ => Part::Passes,
            };
            let verdict = run(part, &std::fs::read_to_string(file).expect("a text"));
            if is_failure(&verdict) {
                failures.push_str(&format!("{name}: {verdict}\n"));
            }
        }
        eprint!("{failures}");
        assert!(failures.is_empty(), "\n{failures}");
    });
}
