//! Diagnostics as users read them: `ui/NAME.jl` and what `tessella check` says of it, `ui/NAME.txt`.

use std::collections::BTreeSet;
use std::fs;
use tessella::{codes, file};
use tessella_tests::{case_options, golden, julia_files, report, root};

#[test]
fn diagnostics_read_as_recorded() {
    let mut failures = vec![];
    for path in julia_files(&root().join("tests/ui")) {
        let text = fs::read_to_string(&path).unwrap();
        let (options, backend) = case_options(&path, &text);
        let checked = file::check(&text, &options, backend);
        let said = if checked.diagnostics.is_empty() { "accepted\n".to_string() } else { checked.diagnostics };
        failures.extend(golden(&path.with_extension("txt"), &said).err());
    }
    report(failures);
}

/// The codes that the sources of these crates use.
fn used_codes() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders: Vec<_> = ["frontend", "lowering", "polyhedral", "codegen", "runtime", "driver", "julia-pkg"]
        .map(|name| root().join(name).join("src"))
        .to_vec();
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
