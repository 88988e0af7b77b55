//! The syntax tree: Julia's surface forms, with spans. Everything is an expression, as in Julia.
//!
//! The tree keeps what was written (`a < b < c` is one [`ExprKind::Comparison`], `2x` a [`ExprKind::Juxtapose`]); what
//! it means is decided in [`crate::typed`].

use tessella_diagnostics::{Span, Spanned};

/// A name with its place.
pub type Name = Spanned<String>;

/// A sequence of expressions, one a line or separated by `;`.
pub type Block = Vec<Expr>;

#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// An integer literal as written: `1_000`, `0xff`.
    Integer(String),
    /// A float literal as written: `1.0`, `.5`, `1e-3`, `0.25f0`.
    Float(String),
    Bool(bool),
    /// A character literal as written, quotes included.
    Char(String),
    /// A string literal as written, quotes included; interpolations are not taken apart.
    Str(String),
    /// `:name`, or a quoted expression or operator, as written without the colon.
    Symbol(String),
    /// An identifier. Operators as values (`map(+, a)`) are names, too.
    Name(String),
    /// `end` inside an index.
    IndexEnd,
    /// `begin` inside an index.
    IndexBegin,
    /// A lone `:` inside an index or call.
    Colon,
    /// `f(a, b; k = v)`, `f.(a, b)`.
    Call {
        callee: Box<Expr>,
        arguments: Vec<Argument>,
        broadcast: Broadcast,
    },
    /// A prefix operator: `-x`, `!x`, `~x`, `+x`, `√x`, and `&x`, `::T` without a left side is [`ExprKind::Typed`].
    Prefix {
        operator: Spanned<Operator>,
        operand: Box<Expr>,
    },
    /// An infix operator other than comparison, assignment, `&&`, `||`, `:` and `?:`.
    Infix {
        operator: Spanned<Operator>,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `2x`, `2(x + 1)`, `(x)y`: a numeric coefficient; binds tighter than `*`, looser than `^`.
    Juxtapose {
        coefficient: Box<Expr>,
        operand: Box<Expr>,
    },
    /// `a < b <= c`: `operands.len() == operators.len() + 1`. Includes `in`, `isa`, `===`, `<:` and their kin.
    Comparison {
        operands: Vec<Expr>,
        operators: Vec<Spanned<Operator>>,
    },
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    /// `condition ? yes : no`.
    Ternary {
        condition: Box<Expr>,
        yes: Box<Expr>,
        no: Box<Expr>,
    },
    /// `start:stop` or `start:step:stop`.
    Range {
        start: Box<Expr>,
        step: Option<Box<Expr>>,
        stop: Box<Expr>,
    },
    /// `A[i, j]`.
    Index {
        base: Box<Expr>,
        subscripts: Vec<Argument>,
    },
    /// `a.b`.
    Field {
        base: Box<Expr>,
        field: Name,
    },
    /// `A'`.
    Adjoint(Box<Expr>),
    /// `x...`.
    Splat(Box<Expr>),
    /// `(a, b)`, `()`, `a, b` without parentheses, and named tuples.
    Tuple(Vec<Argument>),
    /// `[a, b]`.
    Vector(Vec<Expr>),
    /// `[a b; c d]`: rows of elements.
    Matrix(Vec<Vec<Expr>>),
    /// `body for i in r, ... if c`: alone a generator, in brackets a comprehension.
    Generator {
        body: Box<Expr>,
        clauses: Vec<GeneratorClause>,
        brackets: Brackets,
    },
    /// `x::T`; a missing left side is an anonymous argument `::T`.
    Typed {
        value: Option<Box<Expr>>,
        ty: Box<Expr>,
    },
    /// `A{T, N}`.
    Curly {
        base: Box<Expr>,
        parameters: Vec<Expr>,
    },
    /// `f(x) where {T <: Real}`.
    Where {
        base: Box<Expr>,
        parameters: Vec<Expr>,
    },
    /// `a = b` (operator `None`), `a += b`, `a .= b`, `a .+= b`.
    Assign {
        operator: Option<Spanned<Operator>>,
        broadcast: Broadcast,
        target: Box<Expr>,
        value: Box<Expr>,
    },
    /// `begin ... end`, or `(a; b)`.
    Block(Block),
    If {
        branches: Vec<(Expr, Block)>,
        otherwise: Option<Block>,
    },
    /// `for i in a, j in b ... end`: the iterations in order, outermost first.
    For {
        iterations: Vec<Iteration>,
        body: Block,
    },
    While {
        condition: Box<Expr>,
        body: Block,
    },
    Let {
        bindings: Vec<Expr>,
        body: Block,
    },
    Return(Option<Box<Expr>>),
    Break,
    Continue,
    Local(Vec<Expr>),
    Global(Vec<Expr>),
    Const(Box<Expr>),
    /// `function f(...) ... end` or `f(...) = ...`.
    Function(Box<Function>),
    /// `x -> body`, `(x, y) -> body`.
    Lambda {
        arguments: Vec<Expr>,
        body: Box<Expr>,
    },
    /// `f(a) do x ... end`.
    Do {
        call: Box<Expr>,
        arguments: Vec<Expr>,
        body: Block,
    },
    /// `@name a b` or `@name(a, b)`; `name` without the `@`, dotted for `@Base.simd`.
    MacroCall {
        name: Name,
        arguments: Vec<Expr>,
    },
}

/// An argument of a call, a tuple or an index.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// `k` of `f(; k = v)` and `f(k = v)`.
    pub keyword: Option<Name>,
    pub value: Expr,
    pub section: Section,
}

/// Whether an argument stands before or after the `;` of an argument list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// `a` of `f(a; b)`.
    Main,
    /// `b` of `f(a; b)`: a keyword argument, also when only its name is written.
    Keywords,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broadcast {
    /// `f(x)`, `a = b`.
    No,
    /// `f.(x)`, `a .= b`.
    Yes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brackets {
    /// `(... for ...)` or a bare generator argument.
    Round,
    /// `[... for ...]`.
    Square,
    /// `T[... for ...]` is an [`ExprKind::Index`] whose one subscript is this.
    Typed,
}

/// `i in range`, `i = range`, `(a, b) in pairs`.
#[derive(Debug, Clone, PartialEq)]
pub struct Iteration {
    pub target: Expr,
    pub range: Expr,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum GeneratorClause {
    For(Vec<Iteration>),
    If(Expr),
}

/// An operator as written, with its dot (`.+`) taken off into `broadcast`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operator {
    /// `+`, `÷`, `==`, `in`, ...
    pub symbol: String,
    pub dotted: bool,
}

/// A function definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// The macros before a definition at the level of a module, outermost first, without `@` and without `@tessella`.
    pub macros: Vec<Name>,
    /// `None` for an anonymous `function (x) ... end`; dotted names (`Base.sum`) are joined.
    pub name: Option<Name>,
    /// What is called where that is no name, as in `(f::T)(x) = ...` and `T{S}(x) = ...`; only with [`Forms::All`].
    ///
    /// [`Forms::All`]: crate::Forms::All
    pub object: Option<Expr>,
    pub parameters: Vec<Parameter>,
    /// Index of the first keyword parameter (after `;`); `parameters.len()` if there is none.
    pub first_keyword: usize,
    /// `where` clauses, outermost last: `T`, `T <: Real`.
    pub type_parameters: Vec<Expr>,
    pub return_type: Option<Expr>,
    pub body: Block,
    /// The signature, `f!(A, B, steps) where T`.
    pub signature: Span,
    pub span: Span,
}

/// `x`, `x::T`, `x = 1`, `x::T = 1`, `::Type{T}`, `xs...`.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// `None` for `::T`.
    pub name: Option<Name>,
    pub ty: Option<Expr>,
    pub default: Option<Expr>,
    pub splat: bool,
    /// What stands in the place of the name, as in `f((a, b))` and `f(@nospecialize(x))`; only with [`Forms::All`].
    ///
    /// [`Forms::All`]: crate::Forms::All
    pub pattern: Option<Expr>,
    pub span: Span,
}
