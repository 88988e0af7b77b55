//! What is wrong with a command as it is written.

use super::FORMS;
use tessella_diagnostics::{Code, Diagnostic, IntoDiagnostic, Span, Spanned};
use thiserror::Error;

/// What an argument should have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Computation,
    /// Where a tuple of names is given.
    OneComputation,
    Loop,
    Loops,
    Size,
    Sizes,
    Integer,
    Array,
    Buffer,
    Flag,
    /// `(t, i) -> (t % 2, i)`.
    Map,
    /// An affine expression of the map's own names.
    Place,
    /// Like sizes, but zero is one.
    Padding,
    /// A number of iterations, at least one.
    Ahead,
    /// Each axis of an array once, such as `(2, 1)`.
    Axes,
    Footprint,
    IntegerOrAuto,
    /// A row of integers for each edge of a tile.
    Edges,
    Auto,
    Condition,
}

/// What is wrong with loops written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeProblem {
    Element,
    Tag,
    SeveralLoops,
    LoopName,
    Empty,
    Formula,
    Divisor,
    Size,
    Axis,
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
    #[error("{}", .problem.text())]
    Tree { problem: TreeProblem, span: Span },
}

impl TreeProblem {
    fn text(self) -> &'static str {
        match self {
            TreeProblem::Element => "loops of a schedule hold something that is neither a loop nor a computation",
            TreeProblem::Tag => "this macro says nothing about a loop of a schedule",
            TreeProblem::SeveralLoops => "a `for` of a schedule names several loops",
            TreeProblem::LoopName => "a loop of a schedule has no name",
            TreeProblem::Empty => "a loop of a schedule holds nothing",
            TreeProblem::Formula => "a loop of a schedule runs through something that is not affine",
            TreeProblem::Divisor => "the divisor is not a positive integer literal",
            TreeProblem::Size => "the size is not a positive integer literal",
            TreeProblem::Axis => "a GPU has no such axis",
        }
    }

    fn help(self) -> &'static str {
        match self {
            TreeProblem::Element => "write `for` loops, and inside them the names of computations, one a line",
            TreeProblem::Tag => {
                "write `@parallel for`, `@vectorize 8 for`, `@unroll 4 for`, `@block x for` or `@thread x for`"
            }
            TreeProblem::SeveralLoops => "write one `for` inside the other, each with its own `end`",
            TreeProblem::LoopName => "write `for i0 = fld(i - 1, 32)`: a name, and what it runs through",
            TreeProblem::Empty => "put the names of computations inside, or drop the loop",
            TreeProblem::Formula => {
                "write sums of iterators and sizes with integer factors, `fld(i, 32)`, `mod(i, 32)`, or one of these \
                 for each computation: `(S = i, R = i + 1)`"
            }
            TreeProblem::Divisor | TreeProblem::Size => "write a positive integer",
            TreeProblem::Axis => "write `x`, `y` or `z`",
        }
    }
}

impl Expected {
    fn name(self) -> &'static str {
        match self {
            Expected::Computation => "the name of a computation",
            Expected::OneComputation => "the name of just one computation",
            Expected::Loop => "the name of a loop",
            Expected::Loops => "the names of loops",
            Expected::Size => "a size as an integer literal",
            Expected::Sizes => "sizes as integer literals",
            Expected::Integer => "an integer literal",
            Expected::Array => "the name of an array",
            Expected::Buffer => "the name of a buffer",
            Expected::Flag => "`true` or `false`",
            Expected::Map => "a map from subscripts to places",
            Expected::Place => {
                "a sum of the map's subscripts, their multiples, and divisions and remainders by constants"
            }
            Expected::Padding => "numbers of elements as integer literals",
            Expected::Ahead => "a number of iterations, at least 1",
            Expected::Axes => "each axis of the array once, such as `axes=(2, 1)`",
            Expected::Footprint => "`:footprint`",
            Expected::IntegerOrAuto => "an integer literal or `:auto`",
            Expected::Edges => "a tuple of integers for each edge of a tile, such as `((8, -8), (4, 4))`",
            Expected::Auto => "`:auto`",
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
            CommandError::Tree { .. } => "E0475",
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
            CommandError::Tree { problem, span } => diagnostic.primary(span, "here").with_help(problem.help()),
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
