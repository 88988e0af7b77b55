//! The tokens that the grammar reads.

use tessella_diagnostics::Span;

/// A token with its place; tokens that stand for whitespace have an empty span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    pub token: Token,
    pub span: Span,
    /// Index of the bracket or keyword at the other end; its own index if it has none.
    pub partner: usize,
}

/// A token whose meaning no longer depends on whitespace or context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    Integer,
    Float,
    Char,
    Str,
    StrMacro {
        prefix: u32,
        suffix: u32,
    },
    Command,
    /// `:x`, `:+`, `:(a + b)`.
    Symbol,
    /// An identifier, or an operator that stands for its function.
    Name,
    True,
    False,
    IndexEnd,
    IndexBegin,
    /// A lone `:`.
    Colon,
    Break,
    Continue,
    /// `return` without a value.
    ReturnNothing,
    /// Stands for source that an error was already reported for.
    Error,
    /// The same for the iterations of a `for`.
    ErrorHeader,
    /// `@name`, `@Base.simd`, `Base.@simd`.
    MacroName,
    /// `(` that groups or makes a tuple.
    GroupOpen,
    /// `(` directly after what it calls.
    CallOpen,
    /// `.(` directly after what it calls for each element.
    DotCallOpen,
    /// `(` directly after a macro's name.
    MacroOpen,
    RoundClose,
    /// `[` of an array.
    SquareOpen,
    /// `[` directly after what it indexes.
    IndexOpen,
    SquareClose,
    /// `{` that does not follow a type.
    BraceOpen,
    /// `{` directly after a type.
    CurlyOpen,
    BraceClose,
    /// Between elements of brackets.
    Comma,
    /// Between elements of a tuple without parentheses.
    TupleComma,
    /// The comma of `a, = b`.
    TrailingComma,
    /// Between iterations of a `for`.
    IterationComma,
    /// `;` in brackets, or a new line between the rows of a matrix.
    Semicolon,
    /// A new line or `;` between statements.
    Separator,
    /// Whitespace between the elements of a matrix row.
    ElementGap,
    /// Whitespace between a macro's name and its first argument.
    MacroBegin,
    /// Whitespace before a later argument of a macro.
    ArgumentGap,
    /// Where the arguments of a macro that are separated by whitespace end.
    MacroEnd,
    Prefix,
    /// `$` before what it interpolates.
    Interpolate,
    Infix,
    Adjoint,
    Splat,
    Dot,
    /// Between the factors of `2x`.
    Juxtapose,
    /// `in`, `=` or `∈` of a `for`.
    IterationIn,
    Question,
    TernaryColon,
    Begin,
    If,
    ElseIf,
    Else,
    For,
    While,
    Let,
    Function,
    Do,
    End,
    Return,
    Local,
    Global,
    Const,
    GeneratorFor,
    GeneratorIf,
    /// A keyword of a form that the grammar does not have.
    Unsupported,
    /// The same, of a form that runs to its own `end`.
    UnsupportedBlock,
    /// `catch`, `finally`.
    UnsupportedMiddle,
}

/// What a token does to the nesting of brackets and blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    OpensBracket,
    ClosesBracket,
    OpensBlock,
    /// `else` and its kin close one block and open the next.
    Middle,
    ClosesBlock,
    Flat,
}

impl Token {
    /// Whether an infix operator, a call or an index may follow.
    pub fn ends_operand(self) -> bool {
        use Token::*;
        match self {
            Integer
            | Float
            | Char
            | Str
            | StrMacro { .. }
            | Command
            | Symbol
            | Name
            | True
            | False
            | IndexEnd
            | IndexBegin
            | Colon
            | Break
            | Continue
            | ReturnNothing
            | Error
            | ErrorHeader
            | MacroName
            | RoundClose
            | SquareClose
            | BraceClose
            | MacroEnd
            | Adjoint
            | Splat
            | End => true,
            GroupOpen | CallOpen | DotCallOpen | MacroOpen | SquareOpen | IndexOpen | BraceOpen | CurlyOpen | Comma
            | TupleComma | TrailingComma | IterationComma | Semicolon | Separator | ElementGap | MacroBegin
            | ArgumentGap | Prefix | Interpolate | Infix | Dot | Juxtapose | IterationIn | Question | TernaryColon
            | Begin | If | ElseIf | Else | For | While | Let | Function | Do | Return | Local | Global | Const
            | GeneratorFor | GeneratorIf | Unsupported | UnsupportedBlock | UnsupportedMiddle => false,
        }
    }

    pub fn nesting(self) -> Nesting {
        use Token::*;
        match self {
            GroupOpen | CallOpen | DotCallOpen | MacroOpen | SquareOpen | IndexOpen | BraceOpen | CurlyOpen => {
                Nesting::OpensBracket
            }
            RoundClose | SquareClose | BraceClose => Nesting::ClosesBracket,
            Begin | If | For | While | Let | Function | Do | UnsupportedBlock => Nesting::OpensBlock,
            ElseIf | Else | UnsupportedMiddle => Nesting::Middle,
            End => Nesting::ClosesBlock,
            Integer
            | Float
            | Char
            | Str
            | StrMacro { .. }
            | Command
            | Symbol
            | Name
            | True
            | False
            | IndexEnd
            | IndexBegin
            | Colon
            | Break
            | Continue
            | ReturnNothing
            | Error
            | ErrorHeader
            | MacroName
            | Comma
            | TupleComma
            | TrailingComma
            | IterationComma
            | Semicolon
            | Separator
            | ElementGap
            | MacroBegin
            | ArgumentGap
            | MacroEnd
            | Prefix
            | Interpolate
            | Infix
            | Adjoint
            | Splat
            | Dot
            | Juxtapose
            | IterationIn
            | Question
            | TernaryColon
            | Return
            | Local
            | Global
            | Const
            | GeneratorFor
            | GeneratorIf
            | Unsupported => Nesting::Flat,
        }
    }
}
