//! Prints what the front end makes of Julia files, for `tests/base.jl` to compare with what Julia's own parser does.
//!
//!     cargo run --release -p tessella-frontend --example sexprs -- FILE...
//!
//! A line each, places as byte offsets:
//!
//! ```text
//! file PATH
//! error CODE START END MESSAGE        of the file's structure
//! function START END NAME             found by `scan`
//! tree SEXPR                          its tree, or
//! refused CODE START END MESSAGE      why it has none, once for every error
//! ```

use std::io::{BufWriter, Write};
use tessella_diagnostics::{IntoDiagnostic, SourceMap, Span};
use tessella_frontend::sexpr::definition;
use tessella_frontend::{Forms, SyntaxError, parse_definition, scan};

fn main() -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for path in std::env::args().skip(1) {
        let mut sources = SourceMap::default();
        let text = std::fs::read_to_string(&path)?;
        let file = sources.add(&path, text, 1);
        writeln!(out, "file {path}")?;
        let found = scan(&sources, file);
        for error in found.errors {
            print_error(&mut out, "error", error)?;
        }
        for item in &found.functions {
            let Span { start, end, .. } = item.span;
            writeln!(out, "function {start} {end} {}", item.name.value)?;
            match parse_definition(&sources, item, Forms::All) {
                Ok(function) => writeln!(out, "tree {}", definition(&function))?,
                Err(errors) => {
                    for error in errors {
                        print_error(&mut out, "refused", error)?;
                    }
                }
            }
        }
    }
    out.flush()
}

fn print_error(out: &mut impl Write, kind: &str, error: SyntaxError) -> std::io::Result<()> {
    let Span { start, end, .. } = error.span();
    let diagnostic = error.into_diagnostic();
    writeln!(out, "{kind} {} {start} {end} {}", diagnostic.code.0, diagnostic.message.replace('\n', "\\n"))
}
