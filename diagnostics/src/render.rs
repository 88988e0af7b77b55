//! Rendering through codespan-reporting; the only file that names it.

use crate::{Diagnostic, FileId, Role, Severity, SourceMap};
use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::{self, termcolor};
use std::ops::Range;

/// Whether rendered text carries terminal colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Coloured,
}

/// Renders diagnostics in the given order, a blank line after each.
pub fn render(sources: &SourceMap, diagnostics: &[Diagnostic], style: Style) -> String {
    let mut buffer = match style {
        Style::Plain => termcolor::Buffer::no_color(),
        Style::Coloured => termcolor::Buffer::ansi(),
    };
    let config = term::Config { tab_width: 4, ..term::Config::default() };
    for diagnostic in diagnostics {
        let written = term::emit(&mut buffer, &config, &View(sources), &to_codespan(diagnostic));
        written.expect("spans lie inside their files, and writing to memory cannot fail");
    }
    String::from_utf8_lossy(buffer.as_slice()).into_owned()
}

fn to_codespan(diagnostic: &Diagnostic) -> codespan::Diagnostic<FileId> {
    let severity = match diagnostic.severity {
        Severity::Note => codespan::Severity::Note,
        Severity::Warning => codespan::Severity::Warning,
        Severity::Error => codespan::Severity::Error,
    };
    let labels = diagnostic.labels.iter().map(|label| {
        let style = match label.role {
            Role::Primary => codespan::LabelStyle::Primary,
            Role::Secondary => codespan::LabelStyle::Secondary,
        };
        codespan::Label::new(style, label.span.file, label.span.range()).with_message(&label.message)
    });
    let help = diagnostic.help.iter().map(|help| format!("help: {help}"));
    codespan::Diagnostic::new(severity)
        .with_code(diagnostic.code.0)
        .with_message(&diagnostic.message)
        .with_labels(labels.collect())
        .with_notes(diagnostic.notes.iter().cloned().chain(help).collect())
}

/// [`SourceMap`] as codespan sees it; shifts line numbers by a file's first line.
struct View<'a>(&'a SourceMap);

impl<'a> Files<'a> for View<'a> {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.0.file(id).name)
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.0.file(id).text)
    }

    fn line_index(&'a self, id: FileId, byte_index: usize) -> Result<usize, Error> {
        Ok(self.0.file(id).line_index(byte_index))
    }

    fn line_number(&'a self, id: FileId, line_index: usize) -> Result<usize, Error> {
        Ok(line_index + self.0.file(id).first_line as usize)
    }

    fn line_range(&'a self, id: FileId, line_index: usize) -> Result<Range<usize>, Error> {
        let given = line_index;
        self.0.file(id).line_range(line_index).ok_or(Error::LineTooLarge { given, max: given })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, Span};

    #[test]
    fn line_numbers_count_from_the_first_line_of_a_piece() {
        let mut sources = SourceMap::default();
        let file = sources.add("kernel.jl", "for i in 1:n\n    A[i] = x\nend\n", 40);
        let diagnostic = Diagnostic::error(Code("E0201"), "`x` is not defined")
            .primary(Span::new(file, 24..25), "not defined here")
            .with_help("pass `x` as an argument");
        let text = render(&sources, &[diagnostic], Style::Plain);
        assert!(text.contains("kernel.jl:41:12"), "{text}");
        assert!(text.contains("help: pass `x` as an argument"), "{text}");
    }
}
