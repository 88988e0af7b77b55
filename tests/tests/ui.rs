//! Diagnostics as users read them: `ui/NAME.jl` and what `tessella check` says of it, `ui/NAME.txt`.

use std::collections::BTreeSet;
use std::fs;
use tessella::model::{self, LayoutOptions, Memory, ProgramOptions, SearchOptions};
use tessella::request::{Backend, TextKind};
use tessella::{codes, file, slices};
use tessella_tests::{case_options, draw_options, golden, julia_files, model_options, report, root};

#[test]
fn diagnostics_read_as_recorded() {
    let mut failures = vec![];
    for path in julia_files(&root().join("tests/ui")) {
        let text = fs::read_to_string(&path).unwrap();
        let (options, backend) = case_options(&path, &text);
        let diagnostics = match (draw_options(&text), model_options(&text)) {
            (Some(draw), _) => file::draw(&text, &options, &draw, backend).err().unwrap_or_default(),
            (None, Some(("tiles", memory))) => {
                model::tiles(&text, &options, Memory::Elements(memory.parse().expect("a number"))).refused
            }
            (None, Some(("parallelograms", said))) if said.starts_with("of a program") => {
                let search = SearchOptions { seed: 1, evaluations: 100, given: vec![] };
                let sizes = said.split(' ').filter_map(|it| it.split_once('='));
                let sizes = sizes.map(|(name, value)| (name.to_string(), value.parse().expect("a number"))).collect();
                let asked = ProgramOptions { sizes, ..ProgramOptions::default() };
                model::parallelograms_of(&text, &options, &asked, search, &mut |_, _| {}).refused
            }
            (None, Some(("parallelograms", _))) => {
                let options = SearchOptions { seed: 1, evaluations: 100, given: vec![] };
                let name = path.file_name().expect("a file has a name").to_string_lossy();
                model::parallelograms(&text, &name, options, &mut |_, _| {}).err().unwrap_or_default()
            }
            (None, Some(("layout", extents))) => {
                let extents = extents.split(',').map(|it| it.parse().expect("a number")).collect();
                let asked = LayoutOptions { vector: 4, extents, period: 2 };
                model::layout(&text, &options, &asked).refused
            }
            (None, Some((other, _))) => panic!("{}: there is no model `{other}`", path.display()),
            (None, None) if text.lines().any(|line| line == "#! transpile") => {
                let kind = if backend == Backend::Cuda { TextKind::Cuda } else { TextKind::C };
                file::transpile_with_warnings(&text, &options, backend, kind)
                    .map_or_else(|refused| refused, |(_, told)| told)
            }
            (None, None) if text.lines().any(|line| line == "#! chunked") => slices::check(&text, &options),
            (None, None) => file::check(&text, &options, backend).diagnostics,
        };
        let said = if diagnostics.is_empty() { "accepted\n".to_string() } else { diagnostics };
        failures.extend(golden(&path.with_extension("txt"), &said).err());
    }
    report(failures);
}

const CRATES: [&str; 11] = [
    "frontend",
    "lowering",
    "polyhedral",
    "codegen",
    "c-backend",
    "cuda-backend",
    "interpreter",
    "runtime",
    "driver",
    "cli",
    "julia-pkg",
];

/// The codes that the sources of [`CRATES`] use.
fn used_codes() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders: Vec<_> = CRATES.map(|name| root().join(name).join("src")).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs" || it == "jl" || it == "lalrpop") {
                let text = fs::read_to_string(&path).unwrap();
                for word in text.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| codes::looks_like_code(it)) {
                    found.insert(word.to_string());
                }
            }
        }
    }
    found
}

#[test]
fn every_code_has_a_page() {
    let pages: BTreeSet<String> = codes::all().into_iter().map(str::to_string).collect();
    let used = used_codes();
    let missing: Vec<_> = used.difference(&pages).collect();
    let stale: Vec<_> = pages.difference(&used).collect();
    assert!(missing.is_empty(), "codes without a page in docs/codes.md: {missing:?}");
    assert!(stale.is_empty(), "pages of docs/codes.md for codes that nothing uses: {stale:?}");
}

#[test]
fn pages_are_ordered_and_single() {
    let pages = codes::all();
    assert!(pages.windows(2).all(|pair| pair[0] < pair[1]), "{pages:?}");
    assert!(codes::page("E0401").unwrap().contains("reverses"));
    assert_eq!(codes::page("E9999"), None);
}

#[test]
fn every_code_has_a_golden_text() {
    let mut shown = BTreeSet::new();
    for folder in ["tests/ui", "tests/ui/values", "tests/ui/tour"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|it| it == "txt") {
                let text = fs::read_to_string(&path).unwrap();
                let codes = text
                    .split("error[")
                    .skip(1)
                    .chain(text.split("warning[").skip(1))
                    .filter_map(|rest| rest.split(']').next());
                shown.extend(codes.map(str::to_string));
            }
        }
    }
    let missing: Vec<_> = codes::all().into_iter().filter(|code| !shown.contains(*code)).collect();
    assert!(missing.is_empty(), "codes without a golden text in tests/ui: {missing:?}");
}

#[test]
fn messages_are_lower_case_without_a_full_stop() {
    for folder in ["tests/ui", "tests/ui/values", "tests/ui/tour"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|it| it != "txt") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for line in text.lines() {
                let words = line.split_once("]: ").filter(|_| line.starts_with("error[")).map(|(_, words)| words);
                let Some(words) = words.or_else(|| line.trim_start().strip_prefix("= help: ")) else { continue };
                let first = words.split(' ').next().unwrap_or_default();
                let is_word = first.chars().skip(1).all(char::is_lowercase);
                let lower = !first.starts_with(char::is_uppercase) || !is_word;
                assert!(lower && !words.ends_with('.'), "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn cases_show_the_code_that_they_are_named_after() {
    for path in julia_files(&root().join("tests/ui")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let code = name[..5].to_uppercase();
        let text = fs::read_to_string(path.with_extension("txt")).unwrap();
        assert!(text.contains(&format!("[{code}]")), "{name} does not show {code}:\n{text}");
    }
}
