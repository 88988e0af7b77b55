//! The typed tree: a function whose every value has a type, every conversion is explicit, every name is resolved.
//!
//! Julia's promotion rules have been applied: the operands of an operator have one type, and what is stored in an
//! array has its element type. Scopes are gone: a variable that Julia makes anew in each iteration is one [`Local`]
//! that remembers the loop it belongs to.

use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, Intrinsic, ScalarType, UnaryOp};

/// The type of a variable or argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    Scalar(ScalarType),
    /// `Array{element, rank}`, or an array of another form.
    Array {
        element: ScalarType,
        rank: u32,
        form: Form,
    },
}

/// The type of an argument as Julia passes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArgumentType {
    Real(Type),
    /// A complex number or array whose halves have this type. An array becomes one of halves with a leading axis of
    /// two, a number two arguments.
    Complex(Type),
}

impl From<Type> for ArgumentType {
    fn from(ty: Type) -> Self {
        ArgumentType::Real(ty)
    }
}

/// How the elements of an argument lie in memory, and what its subscripts count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Form {
    pub strides: Strides,
    pub firsts: Firsts,
}

/// The distances in memory between neighbours along each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Strides {
    /// Column-major and contiguous, like an `Array`.
    #[default]
    Dense,
    /// Neighbours along the first axis lie side by side; the other strides are given at run time.
    UnitFirst,
    /// All strides are given at run time.
    Free,
}

/// The first index along each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Firsts {
    #[default]
    One,
    /// Given at run time.
    Free,
}

/// `Array{element, rank}`.
pub const fn dense(element: ScalarType, rank: u32) -> Type {
    Type::Array { element, rank, form: Form::DENSE }
}

impl Form {
    /// That of an `Array`.
    pub const DENSE: Form = Form { strides: Strides::Dense, firsts: Firsts::One };

    /// The axes, from 0, whose strides are given at run time.
    pub fn stride_axes(self, rank: u32) -> std::ops::Range<u32> {
        match self.strides {
            Strides::Dense => 0..0,
            Strides::UnitFirst => 1..rank,
            Strides::Free => 0..rank,
        }
    }

    /// The axes, from 0, whose first indices are given at run time.
    pub fn first_axes(self, rank: u32) -> std::ops::Range<u32> {
        match self.firsts {
            Firsts::One => 0..0,
            Firsts::Free => 0..rank,
        }
    }
}

/// Names a [`Local`] of a [`Function`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// Names a loop of a [`Function`]: loops are numbered in source order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(pub u32);

#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    pub name: String,
    pub locals: Vec<Local>,
    /// In the order of the Julia signature, keyword arguments last; each is a local with [`Role::Argument`].
    pub arguments: Vec<LocalId>,
    pub body: Block,
    pub result: Result,
    /// The calls that were replaced by the bodies of what they call, outermost first.
    pub calls: Vec<InlinedCall>,
    /// The signature.
    pub span: Span,
}

/// A `while` without a counter is a loop of so many iterations, which it leaves earlier; 2^53.
pub(super) const MOST_TURNS: i64 = 1 << 53;

impl Function {
    /// Whether values decide when a loop ends, as in `while error > tolerance`: with some it never does.
    pub fn may_not_end(&self) -> bool {
        fn has_endless_loop(block: &Block) -> bool {
            block.iter().any(|it| match &it.kind {
                StatementKind::For { range, body, .. } => {
                    matches!(range.stop.kind, ExprKind::Constant(it) if it.as_integer() == Some(MOST_TURNS.into()))
                        || has_endless_loop(body)
                }
                StatementKind::If { then, otherwise, .. } => has_endless_loop(then) || has_endless_loop(otherwise),
                StatementKind::Set { .. }
                | StatementKind::Store { .. }
                | StatementKind::Allocate { .. }
                | StatementKind::Require { .. } => false,
            })
        }
        has_endless_loop(&self.body)
    }
}

/// A call whose function's body stands in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlinedCall {
    pub function: String,
    /// The whole definition.
    pub definition: Span,
    pub call: Span,
}

/// What the function returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Result {
    Nothing,
    /// One of the arguments (`return C`).
    Argument(LocalId),
    /// An array that the function makes, once a call.
    Array(LocalId),
    /// An array of complex numbers that the function makes, once a call: both halves of each, along its first axis.
    ComplexArray(LocalId),
    Tuple(Vec<Result>),
    /// A `NamedTuple`: as many names as parts.
    Named {
        names: Vec<String>,
        parts: Vec<Result>,
    },
    /// A scalar variable, as it is when the function ends.
    Scalar(LocalId),
    /// A complex number, whose halves are scalar variables.
    Complex {
        re: LocalId,
        im: LocalId,
    },
    /// The one of these arguments whose position, from 0, an `Int64` variable holds when the function ends.
    Choice {
        position: LocalId,
        arguments: Vec<LocalId>,
    },
    /// The one of these that an `Int64` variable numbers, from 0, when the function ends. Variables of the others hold
    /// zeros then, and their arrays need not have been made.
    OneOf {
        position: LocalId,
        options: Vec<Result>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Local {
    /// As the user wrote it; two locals may share a name.
    pub name: String,
    pub named: NamedBy,
    pub ty: Type,
    pub role: Role,
    /// Where it is first bound.
    pub span: Span,
}

/// Where a local's name comes from: no message shows a name that the source does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBy {
    Source,
    /// A value that the source does not name.
    Tessella,
}

impl Local {
    /// The name, if it is the source's.
    pub fn in_source(&self) -> Option<String> {
        match self.named {
            NamedBy::Source => Some(self.name.clone()),
            NamedBy::Tessella => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Argument,
    /// The iteration variable of a loop; never assigned to otherwise.
    Iterator(LoopId),
    /// A variable that Julia makes anew in each iteration of the loop (`None`: once a call).
    Variable(Option<LoopId>),
    /// A variable that is assigned exactly once, by a `Statement::Set` that dominates every use.
    Value(Option<LoopId>),
}

pub type Block = Vec<Statement>;

#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// `for iterator in start:step:stop`: the range is evaluated once; all three are `Int64`.
    For {
        id: LoopId,
        iterator: LocalId,
        range: Range,
        mode: LoopMode,
        body: Block,
    },
    If {
        condition: Expr,
        then: Block,
        otherwise: Block,
    },
    /// `local = value`.
    Set {
        target: LocalId,
        value: Expr,
        label: Option<Label>,
        mode: Mode,
    },
    /// `array[subscripts...] = value`; subscripts are `Int64`, the value has the array's element type.
    Store {
        array: LocalId,
        subscripts: Vec<Expr>,
        value: Expr,
        label: Option<Label>,
        mode: Mode,
    },
    /// Makes a local array of these extents (`Int64`; a negative one counts as zero), anew each time it is executed.
    /// Its elements are undefined until they are stored.
    Allocate {
        array: LocalId,
        extents: Vec<Expr>,
    },
    /// The function fails unless the condition holds. It depends on nothing that the function writes, so that all its
    /// executions can be tested before anything is written; unless the failure is one of values
    /// ([`SizeError::is_of_values`]), on sizes, integer arguments and iterators only.
    Require {
        condition: Expr,
        failure: Requirement,
    },
}

/// How a function fails whose sizes or values do not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    pub error: SizeError,
    /// What Julia's exception would say.
    pub text: String,
}

/// The exception that Julia raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeError {
    /// `DimensionMismatch`.
    Mismatch,
    /// `ArgumentError`.
    Argument,
    /// `BoundsError`.
    Bounds,
    /// `InexactError`.
    Inexact,
    /// `DivideError`.
    Divide,
    /// What the source itself throws.
    Thrown,
}

impl SizeError {
    /// Whether elements of arrays may decide about the failure: then it happens only where the source gets to it.
    pub fn is_of_values(self) -> bool {
        match self {
            SizeError::Mismatch | SizeError::Argument | SizeError::Bounds => false,
            SizeError::Inexact | SizeError::Divide | SizeError::Thrown => true,
        }
    }
}

/// The name that `@comp S ...` gives a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub name: String,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    pub start: Expr,
    /// A non-zero constant.
    pub step: i64,
    pub stop: Expr,
}

/// What the source allows beyond Julia's strict meaning, for one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Mode {
    /// `@inbounds`: subscripts are not checked.
    pub inbounds: bool,
    /// `@fastmath`: contraction and reassociation are allowed.
    pub fastmath: bool,
}

/// What the source says of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct LoopMode {
    pub simd: Simd,
}

/// Whether `@simd` stands before a loop: its iterations may be reordered and floating-point reductions reassociated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Simd {
    #[default]
    No,
    /// It does; of the loops that one over a matrix becomes, the outermost one.
    Before,
    /// It stands before the loop of the source that this one and the one around it became together.
    Around,
}

impl Simd {
    /// What it is for the next inner one of the loops that one loop of the source becomes.
    pub fn inside(self) -> Simd {
        match self {
            Simd::No => Simd::No,
            Simd::Before | Simd::Around => Simd::Around,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: ScalarType,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    Constant(Constant),
    Local(LocalId),
    /// `array[subscripts...]`; subscripts are `Int64`.
    Load {
        array: LocalId,
        subscripts: Vec<Expr>,
        inbounds: bool,
    },
    /// `size(array, axis)`, axis from 0; `Int64`.
    Size {
        array: LocalId,
        axis: u32,
    },
    /// `firstindex(array, axis)`, axis from 0, of an argument with [`Firsts::Free`]; `Int64`.
    First {
        array: LocalId,
        axis: u32,
    },
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    Call(Intrinsic, Vec<Expr>),
    /// `condition ? yes : no`; only the chosen one is evaluated.
    Select {
        condition: Box<Expr>,
        yes: Box<Expr>,
        no: Box<Expr>,
    },
    /// `ifelse(condition, yes, no)`; both are evaluated.
    IfElse {
        condition: Box<Expr>,
        yes: Box<Expr>,
        no: Box<Expr>,
    },
    /// A conversion that cannot fail: widening, integer to float, float to float.
    Convert(Box<Expr>),
    /// `x % T`: the low bits of an integer. Of a float, `unsafe_trunc(T, x)`: towards zero, unspecified if it does not fit.
    Wrap(Box<Expr>),
}
