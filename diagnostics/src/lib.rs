//! Spans, source files and diagnostics, and the one place that renders them.
//!
//! Passes produce error *values*; the driver turns those into [`Diagnostic`]s, and [`render`] prints them. No other
//! crate words a caret.

mod render;
mod source;
mod suggest;

pub use render::{Style, render};
pub use source::{FileId, SourceFile, SourceMap, Span, Spanned};
pub use suggest::nearest;

/// How severe a [`Diagnostic`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Note,
    Warning,
    Error,
}

/// A stable diagnostic code such as `E0401`. Codes are never reused; `docs/codes.md` has a page for each.
///
/// E01 syntax, E02 types, E03 loop recovery, E04 schedule, E05 data and communication, E06 backend and tool chain,
/// E07 run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

/// Whether a label marks what the user must change or what explains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// What the user must change; one a diagnostic.
    Primary,
    /// Why it must change.
    Secondary,
}

/// A piece of source with a remark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub role: Role,
    pub span: Span,
    pub message: String,
}

/// One message to the user. Text is lower case, has no full stop and uses the names of the user's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub code: Code,
    pub message: String,
    pub labels: Vec<Label>,
    /// Polyhedral or typing facts.
    pub notes: Vec<String>,
    /// What to do, phrased as an action.
    pub help: Vec<String>,
}

impl Diagnostic {
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    pub fn note(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message)
    }

    fn new(severity: Severity, code: Code, message: impl Into<String>) -> Self {
        Self { severity, code, message: message.into(), labels: vec![], notes: vec![], help: vec![] }
    }

    pub fn primary(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { role: Role::Primary, span, message: message.into() });
        self
    }

    pub fn secondary(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { role: Role::Secondary, span, message: message.into() });
        self
    }

    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// Implemented once for each crate's error type.
pub trait IntoDiagnostic {
    fn into_diagnostic(self) -> Diagnostic;
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}
