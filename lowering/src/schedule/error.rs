//! What is wrong with a command as it is written.

use super::FORMS;
use tessella_diagnostics::{Code, Diagnostic, IntoDiagnostic, Span, Spanned};
use thiserror::Error;

/// What an argument should have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Computation,
    Loop,
    Loops,
    Size,
    Sizes,
    Integer,
    IntegerOrAuto,
    Auto,
    Array,
    Condition,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CommandError {
    #[error("unknown scheduling command `{}`", .name.value)]
    Unknown { name: Spanned<String>, suggestion: Option<String> },
    #[error("`@schedule` holds something that is not a scheduling command")]
    NotACommand { span: Span },
    #[error("`{command}` does not take {found} argument{}", if *.found == 1 { "" } else { "s" })]
    ArgumentCount { command: &'static str, usage: &'static str, found: usize, span: Span },
    #[error("expected {}", .expected.name())]
    ArgumentKind { usage: &'static str, expected: Expected, span: Span },
    #[error("this command takes no keyword argument `{}`", .keyword.value)]
    Keyword { usage: &'static str, keyword: Spanned<String> },
    #[error("a size must be between 1 and {}", u32::MAX)]
    SizeRange { usage: &'static str, span: Span },
    #[error("`tile` has {loops} loop{} and {sizes} size{}", plural(*.loops), plural(*.sizes))]
    TileSizes { loops: usize, loops_span: Span, sizes: usize, sizes_span: Span },
    #[error("`gpu` has {blocks} block loop{} and {threads} thread loop{}", plural(*.blocks), plural(*.threads))]
    GpuAxes { blocks: usize, blocks_span: Span, threads: usize, threads_span: Span },
}

impl Expected {
    fn name(self) -> &'static str {
        match self {
            Expected::Computation => "the name of a computation",
            Expected::Loop => "the name of a loop",
            Expected::Loops => "the names of loops",
            Expected::Size => "a size as an integer literal",
            Expected::Sizes => "sizes as integer literals",
            Expected::Integer => "an integer literal",
            Expected::IntegerOrAuto => "an integer literal or `:auto`",
            Expected::Auto => "`:auto`",
            Expected::Array => "the name of an array",
            Expected::Condition => "a comparison of sizes",
        }
    }
}

impl CommandError {
    pub fn code(&self) -> Code {
        Code(match self {
            CommandError::Unknown { .. } => "E0480",
            CommandError::NotACommand { .. } => "E0481",
            CommandError::ArgumentCount { .. } => "E0482",
            CommandError::ArgumentKind { .. } | CommandError::Keyword { .. } => "E0483",
            CommandError::SizeRange { .. } => "E0484",
            CommandError::TileSizes { .. } | CommandError::GpuAxes { .. } => "E0485",
        })
    }
}

impl IntoDiagnostic for CommandError {
    fn into_diagnostic(self) -> Diagnostic {
        let diagnostic = Diagnostic::error(self.code(), self.to_string());
        match self {
            CommandError::Unknown { name, suggestion } => match suggestion {
                Some(suggestion) => diagnostic
                    .primary(name.span, "no such command")
                    .with_help(format!("write `{suggestion}`, which has a similar name")),
                None => diagnostic
                    .primary(name.span, "no such command")
                    .with_help(format!("use one of {}", FORMS.map(|form| form.name).join(", "))),
            },
            CommandError::NotACommand { span } => diagnostic
                .primary(span, "not a call of a command")
                .with_help("write one command a line, such as `tile(S, (i, j), (32, 32))`"),
            CommandError::ArgumentCount { usage, span, .. } => {
                diagnostic.primary(span, "wrong number of arguments").with_help(format!("write `{usage}`"))
            }
            CommandError::ArgumentKind { usage, expected, span } => {
                diagnostic.primary(span, format!("not {}", expected.name())).with_help(format!("write `{usage}`"))
            }
            CommandError::Keyword { usage, keyword } => {
                diagnostic.primary(keyword.span, "no keyword here").with_help(format!("write `{usage}`"))
            }
            CommandError::SizeRange { usage, span } => {
                diagnostic.primary(span, "out of range").with_help(format!("write a positive size, as in `{usage}`"))
            }
            CommandError::TileSizes { loops_span, sizes_span, .. } => diagnostic
                .primary(sizes_span, "the sizes")
                .secondary(loops_span, "the loops")
                .with_help("give one size for each loop"),
            CommandError::GpuAxes { blocks_span, threads_span, .. } => diagnostic
                .primary(threads_span, "the thread loops")
                .secondary(blocks_span, "the block loops")
                .with_help("give one, two or three loops of each kind, equally many"),
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
