//! Our trees against those of Julia's own parser, which `meta_parse.jl` wrote down.

use tessella_diagnostics::{IntoDiagnostic, SourceMap, Style, render};
use tessella_frontend::{parse_expression, sexpr::sexpr};

#[test]
fn trees_equal_those_of_julias_parser() {
    let cases = include_str!("meta_parse.txt");
    let mut lines = cases.lines();
    let mut wrong = String::new();
    let mut count = 0;
    while let (Some(written), Some(expected)) = (lines.next(), lines.next()) {
        count += 1;
        let text = written.replace('⏎', "\n");
        let mut sources = SourceMap::default();
        let file = sources.add("case.jl", text, 1);
        let found = match parse_expression(&sources, file) {
            Ok(expr) => sexpr(&expr),
            Err(errors) => {
                let diagnostics: Vec<_> = errors.into_iter().map(IntoDiagnostic::into_diagnostic).collect();
                render(&sources, &diagnostics, Style::Plain)
            }
        };
        if found != expected.trim_start() {
            wrong.push_str(&format!("{written}\n  julia: {}\n  ours:  {found}\n", expected.trim_start()));
        }
    }
    assert!(count > 400, "only {count} cases were read");
    assert!(wrong.is_empty(), "\n{wrong}");
}
