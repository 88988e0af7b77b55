//! What can be wrong with the form of a source text.

use tessella_diagnostics::{Code, Diagnostic, IntoDiagnostic, Span};

/// A violation of Julia's syntax, or syntax that is not supported inside a function to transpile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    #[error("unexpected {found}")]
    UnexpectedToken {
        /// In words: "`)`", "the end of the line".
        found: String,
        /// In words, what could stand there; may be empty.
        expected: Vec<String>,
        span: Span,
        help: Option<String>,
    },
    #[error("unterminated {what}")]
    Unterminated { what: Delimited, opener: Span },
    #[error("`{bracket}` is never closed")]
    UnclosedBracket {
        bracket: char,
        opener: Span,
        /// What ended the search for the closing bracket.
        stopped_at: Option<Span>,
    },
    #[error("`{keyword}` has no matching `end`")]
    UnclosedBlock {
        keyword: String,
        opener: Span,
        /// An `end` that closes this block but is indented like an outer one.
        suspicious_end: Option<Span>,
        /// An `else if` on one line below it, which opens a block of its own.
        else_if: Option<Span>,
    },
    #[error("`{closer}` closes nothing")]
    StrayCloser { closer: String, span: Span },
    #[error("invalid {what} `{text}`")]
    InvalidLiteral { what: &'static str, text: String, reason: String, span: Span },
    #[error("{what} is not supported here")]
    Unsupported { what: String, span: Span, help: Option<String> },
    #[error("this expression is nested more than {limit} levels deep")]
    TooDeep { limit: usize, span: Span },
    #[error("{problem}")]
    MalformedDefinition { problem: String, span: Span, help: String },
    #[error("{problem}")]
    MalformedAnnotation { problem: String, span: Span, help: String },
}

/// A literal or comment with an opening and a closing delimiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimited {
    String,
    TripleString,
    Command,
    Character,
    Comment,
}

impl std::fmt::Display for Delimited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Delimited::String | Delimited::TripleString => "string",
            Delimited::Command => "command literal",
            Delimited::Character => "character literal",
            Delimited::Comment => "comment",
        })
    }
}

impl Delimited {
    fn closer(self) -> &'static str {
        match self {
            Delimited::String => "\"",
            Delimited::TripleString => "\"\"\"",
            Delimited::Command => "`",
            Delimited::Character => "'",
            Delimited::Comment => "=#",
        }
    }
}

impl SyntaxError {
    /// Where the error is shown.
    pub fn span(&self) -> Span {
        match self {
            SyntaxError::UnexpectedToken { span, .. }
            | SyntaxError::StrayCloser { span, .. }
            | SyntaxError::InvalidLiteral { span, .. }
            | SyntaxError::Unsupported { span, .. }
            | SyntaxError::TooDeep { span, .. }
            | SyntaxError::MalformedDefinition { span, .. }
            | SyntaxError::MalformedAnnotation { span, .. } => *span,
            SyntaxError::Unterminated { opener, .. }
            | SyntaxError::UnclosedBracket { opener, .. }
            | SyntaxError::UnclosedBlock { opener, .. } => *opener,
        }
    }

    /// Whether brackets, blocks or delimiters do not match: nothing after such an error can be trusted.
    pub fn is_structural(&self) -> bool {
        match self {
            SyntaxError::Unterminated { .. }
            | SyntaxError::UnclosedBracket { .. }
            | SyntaxError::UnclosedBlock { .. }
            | SyntaxError::StrayCloser { .. } => true,
            SyntaxError::UnexpectedToken { .. }
            | SyntaxError::InvalidLiteral { .. }
            | SyntaxError::Unsupported { .. }
            | SyntaxError::TooDeep { .. }
            | SyntaxError::MalformedDefinition { .. }
            | SyntaxError::MalformedAnnotation { .. } => false,
        }
    }
}

impl IntoDiagnostic for SyntaxError {
    fn into_diagnostic(self) -> Diagnostic {
        let message = self.to_string();
        match self {
            SyntaxError::UnexpectedToken { expected, span, help, .. } => {
                let label = match expected.split_last() {
                    None => "not expected here".to_owned(),
                    Some((last, [])) => format!("expected {last}"),
                    Some((last, init)) => format!("expected {} or {last}", init.join(", ")),
                };
                let diagnostic = Diagnostic::error(Code("E0101"), message).primary(span, label);
                match help {
                    Some(help) => diagnostic.with_help(help),
                    None => diagnostic,
                }
            }
            SyntaxError::Unterminated { what, opener } => Diagnostic::error(Code("E0102"), message)
                .primary(opener, "begins here")
                .with_help(format!("close it with `{}`", what.closer())),
            SyntaxError::UnclosedBracket { opener, stopped_at, bracket } => {
                let diagnostic = Diagnostic::error(Code("E0103"), message).primary(opener, "opened here");
                let diagnostic = match stopped_at {
                    Some(span) => diagnostic.secondary(span, "reached while looking for the closing bracket"),
                    None => diagnostic,
                };
                let closer = match bracket {
                    '(' => ')',
                    '[' => ']',
                    _ => '}',
                };
                diagnostic.with_help(format!("close it with `{closer}`"))
            }
            SyntaxError::UnclosedBlock { opener, else_if: Some(else_if), .. } => {
                Diagnostic::error(Code("E0104"), message)
                    .primary(opener, "opened here")
                    .secondary(else_if, "this `if` is a block inside of the `else`, with an `end` of its own")
                    .with_help("write `elseif`, as one word")
            }
            SyntaxError::UnclosedBlock { keyword, opener, suspicious_end, else_if: None } => {
                let diagnostic = Diagnostic::error(Code("E0104"), message).primary(opener, "opened here");
                match suspicious_end {
                    Some(end) => diagnostic.secondary(end, "closed by this `end`, which is indented like an outer one"),
                    None => diagnostic,
                }
                .with_help(format!("add an `end` for this `{keyword}`"))
            }
            SyntaxError::StrayCloser { closer, span } => Diagnostic::error(Code("E0105"), message)
                .primary(span, "no open block or bracket to close")
                .with_help(format!("remove this `{closer}`, or add what it should close")),
            SyntaxError::InvalidLiteral { reason, span, .. } => {
                Diagnostic::error(Code("E0106"), message).primary(span, reason)
            }
            SyntaxError::Unsupported { span, help, .. } => {
                let diagnostic = Diagnostic::error(Code("E0107"), message).primary(span, "not supported");
                match help {
                    Some(help) => diagnostic.with_help(help),
                    None => diagnostic,
                }
            }
            SyntaxError::TooDeep { span, .. } => Diagnostic::error(Code("E0108"), message)
                .primary(span, "too deep from here on")
                .with_help("name parts of it with local variables"),
            SyntaxError::MalformedDefinition { span, help, .. } => {
                Diagnostic::error(Code("E0109"), message).primary(span, "not a complete definition").with_help(help)
            }
            SyntaxError::MalformedAnnotation { span, help, .. } => {
                Diagnostic::error(Code("E0110"), message).primary(span, "in this annotation").with_help(help)
            }
        }
    }
}
