//! The tour of wrong programs: `ui/tour/NN_NAME.jl`, what is said of each, and the page made of both.

use std::fmt::Write;
use std::fs;
use tessella::file;
use tessella_tests::{case_options, golden, julia_files, report, root};

const OPENING: &str = "\
# A tour of errors

Twenty programs that are wrong in ways that happen, and what `tessella check` says of each. The page is made from
`tests/ui/tour/` by the tests, which fail when a message changes.
";

#[test]
fn the_tour_shows_what_is_said() {
    let mut page = OPENING.to_string();
    let mut failures = vec![];
    let files = julia_files(&root().join("tests/ui/tour"));
    for (at, path) in files.iter().enumerate() {
        let text = fs::read_to_string(path).unwrap();
        let (options, backend) = case_options(path, &text);
        let said = file::check(&text, &options, backend).diagnostics;
        if said.is_empty() {
            failures.push(format!("{} is accepted", path.display()));
        }
        failures.extend(golden(&path.with_extension("txt"), &said).err());
        let remark = |name: &str| {
            let lines = text.lines().filter_map(|line| line.strip_prefix("#: "));
            let found = lines.filter_map(|line| line.split_once(' ')).find(|(key, _)| *key == name);
            found.map(|(_, words)| words).unwrap_or_else(|| panic!("{} has no `#: {name}`", path.display()))
        };
        let program: Vec<&str> =
            text.lines().take_while(|line| !line.starts_with("#! ") && !line.starts_with("#: ")).collect();
        let program = program.join("\n");
        let (title, why, fix) = (remark("title"), remark("why"), remark("fix"));
        let number = at + 1;
        write!(
            page,
            "\n## {number}. {title}\n\n```julia\n{}\n```\n\n```text\n{}\n```\n\n{why} {fix}\n",
            program.trim_end(),
            said.trim_end()
        )
        .expect("a string takes all text");
    }
    assert_eq!(files.len(), 20);
    failures.extend(golden(&root().join("docs/errors-tour.md"), &page).err());
    report(failures);
}
