//! What can be wrong with a function's names and types.

use super::unsupported::Construct;
use super::value::{Kind, with_article};
use tessella_diagnostics::{Code, Diagnostic, IntoDiagnostic, Span};
use tessella_scalar::ScalarType;

/// An error of [`super::check`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypeError {
    #[error("`{name}` is not defined")]
    UndefinedName { name: String, span: Span, suggestion: Option<String> },
    #[error("`{name}` may be used before it is assigned")]
    UsedBeforeAssigned { name: String, span: Span, assigned: Option<Span> },
    #[error("`{name}` changes its type from `{first}` to `{then}`")]
    TypeChanges {
        name: String,
        initial: Span,
        first: ScalarType,
        assignment: Span,
        then: ScalarType,
        like: Option<String>,
    },
    #[error("`{name}` is an alias for {was} and cannot be assigned again")]
    AliasAssigned { name: String, initial: Span, was: Kind, assignment: Span },
    #[error("`{array}` has {}, but {} given", counted(*rank as usize, "dimension"), are(*given, "subscript"))]
    SubscriptCount { array: String, rank: u32, given: usize, span: Span, declared: Span },
    #[error("{found} cannot be subscripted")]
    NotAnArray { found: Kind, span: Span, declared: Option<Span>, element: bool },
    #[error("a subscript must be an integer that fits `Int64`, not {found}")]
    SubscriptType { found: Kind, span: Span },
    #[error("unknown function `{name}`")]
    UnknownFunction { name: String, span: Span, suggestion: Option<String> },
    #[error("`{name}` cannot be called in a transpiled function")]
    UnsupportedFunction { name: String, way_out: &'static str, span: Span },
    #[error("`{name}` is an array, not a function")]
    CalledArray { name: String, subscripts: String, span: Span },
    #[error("`{name}` takes {expected}, but {} given", are(*given, "argument"))]
    CallArity { name: String, expected: &'static str, given: usize, span: Span },
    #[error("`{name}` takes an array and nothing else")]
    TakesArray { name: String, instead: String, span: Span },
    #[error("argument `{name}` is declared as {declared}, but {found} is passed")]
    ArgumentMismatch { name: String, declared: String, found: Kind, span: Span, misfit: Misfit },
    #[error("an argument cannot have the type `{name}`")]
    OtherArgument { name: String, span: Span },
    #[error("function `{function}` has {}, but the types of {given} are given", counted(*expected, "parameter"))]
    ArgumentCount { function: String, expected: usize, given: usize, span: Span },
    #[error("converting `{from}` to `{to}` may not be exact")]
    Inexact { from: ScalarType, to: ScalarType, span: Span, target: Option<Span> },
    #[error("the constant `{value}` is not {}", with_article(*to))]
    InexactConstant { value: String, to: ScalarType, span: Span },
    #[error("the integer division `{operator}` may divide by zero")]
    MayDivideByZero { operator: String, divisor: Span, span: Span, zero: bool },
    #[error("`{operator}` by -1 may overflow")]
    DivisionByMinusOne { operator: String, divisor: Span },
    #[error("`{operator}` of `{left}` and `{right}` mixes signed and unsigned integers")]
    MixedSigns { operator: String, left: ScalarType, right: ScalarType, span: Span },
    #[error("`{operator}` is not defined for {operands}")]
    NoMethod { operator: String, operands: String, span: Span, help: Option<&'static str> },
    #[error("a condition must be a `Bool`, not {found}")]
    NotACondition { found: Kind, span: Span },
    #[error("a condition must be a `Bool`, not an assignment")]
    AssignedCondition { span: Span },
    #[error("the branches have types `{yes}` and `{no}`")]
    BranchTypes { yes: ScalarType, yes_span: Span, no: ScalarType, no_span: Span },
    #[error("the step of a range must be a non-zero integer constant")]
    Step { span: Span, zero: bool },
    #[error("the bounds of a range must be `Int64`s or narrower integers, not {found}")]
    RangeType { found: Kind, span: Span },
    #[error("cannot iterate over {found}")]
    NotIterable { found: Kind, span: Span },
    #[error("{} is not supported yet in a transpiled function", construct.name())]
    NotYet { construct: Construct, span: Span },
    #[error("unknown macro `@{name}`")]
    UnknownMacro { name: String, span: Span, suggestion: Option<String> },
    #[error("malformed `@{name}`")]
    MalformedMacro { name: String, span: Span, expected: &'static str },
    #[error("`@comp {label}` must name one assignment")]
    LabelMisplaced { label: String, label_span: Span, span: Span },
    #[error("two statements are named `{label}`")]
    DuplicateLabel { label: String, span: Span, first: Span },
    #[error("unknown type `{name}`")]
    UnknownType { name: String, span: Span, suggestion: Option<String> },
    #[error("a number is needed here, not {found}")]
    NotANumber { found: Kind, span: Span },
    #[error("a type is needed here, not {found}")]
    NotAType { found: Kind, span: Span },
    #[error("the type parameter `{name}` has no value here")]
    UnboundParameter { name: String, span: Span },
    #[error("`{text}` is not a number that this program can use")]
    Literal { text: String, span: Span, why: &'static str },
    #[error("{what} must be an integer constant")]
    NotConstant { what: &'static str, span: Span },
    #[error("position {position} is outside: {}", elements(*.length))]
    OutsideTuple { position: i128, length: usize, span: Span },
    #[error("what this is depends on the branch taken")]
    BranchResult { span: Span },
    #[error("the function cannot return {found}")]
    ResultKind { found: Kind, span: Span },
    #[error("{} assigned from {}", are(*targets, "variable"), counted(*values, "value"))]
    Destructuring { targets: usize, values: usize, span: Span },
    #[error("this named tuple has no field `{name}`")]
    NoField { name: String, fields: Vec<String>, span: Span },
    #[error("a named tuple has the field `{name}` twice")]
    DuplicateField { name: String, span: Span },
    #[error("`{name}` cannot be assigned to")]
    NotAssignable { name: String, span: Span, why: &'static str },
    #[error("two parameters are called `{name}`")]
    DuplicateParameter { name: String, first: Span, second: Span },
    #[error("{error}")]
    InCall { error: Box<TypeError>, function: String, call: Span },
    #[error("no method of `{function}` accepts {given}")]
    NoMatchingMethod { function: String, given: String, span: Span, definition: Span, count: Option<(usize, usize)> },
    #[error("several methods of `{function}` accept these arguments, and none is the most specific")]
    AmbiguousCall { function: String, span: Span, first: Span, second: Span },
    #[error("`{function}` calls itself")]
    Recursion { function: String, span: Span, definition: Span },
    #[error("the keyword argument `{keyword}` of `{function}` is missing")]
    MissingKeyword { function: String, keyword: String, span: Span, declared: Span },
    #[error("`{function}` changes what lives outside of it, inside an expression")]
    EffectInExpression { function: String, span: Span, at: Span },
    #[error("this `while` never ends")]
    NeverEnds { span: Span },
    #[error(transparent)]
    Array(super::arrays::ArrayError),
    #[error(transparent)]
    Complex(super::complex::ComplexError),
    #[error("the constant `{name}` is defined in terms of itself")]
    ConstantCycle { name: String, span: Span },
}

/// Why an argument does not fit its declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// `Array{Real}` given an `Array{Float64}`.
    Invariant,
    /// Another number of dimensions.
    Rank {
        expected: u32,
        given: u32,
    },
    Other,
}

impl TypeError {
    /// The mistake itself, whatever calls lead to it.
    pub(super) fn inside(&self) -> &TypeError {
        match self {
            TypeError::InCall { error, .. } => error.inside(),
            other => other,
        }
    }

    /// Whether the message has a name that the source does not have.
    pub(super) fn names_ours(&self) -> bool {
        format!("{self:?}").contains(&format!("\"{}", super::jumps::PRIVATE))
    }

    pub fn code(&self) -> Code {
        Code(match self {
            TypeError::UndefinedName { .. } => "E0201",
            TypeError::UsedBeforeAssigned { .. } => "E0202",
            TypeError::TypeChanges { .. } => "E0203",
            TypeError::SubscriptCount { .. } => "E0204",
            TypeError::NotAnArray { .. } => "E0205",
            TypeError::SubscriptType { .. } => "E0206",
            TypeError::UnknownFunction { .. } | TypeError::CalledArray { .. } => "E0207",
            TypeError::UnsupportedFunction { .. } => "E0275",
            TypeError::ArgumentMismatch { .. } => "E0208",
            TypeError::OtherArgument { .. } => "E0277",
            TypeError::ArgumentCount { .. } => "E0209",
            TypeError::Inexact { .. } | TypeError::InexactConstant { .. } => "E0210",
            TypeError::MayDivideByZero { .. } | TypeError::DivisionByMinusOne { .. } => "E0211",
            TypeError::NoMethod { .. } => "E0212",
            TypeError::NotACondition { .. } | TypeError::AssignedCondition { .. } => "E0213",
            TypeError::BranchTypes { .. } => "E0214",
            TypeError::Step { .. } => "E0215",
            TypeError::RangeType { .. } => "E0216",
            TypeError::NotIterable { .. } => "E0217",
            TypeError::NotYet { .. } => "E0218",
            TypeError::UnknownMacro { .. } => "E0219",
            TypeError::MalformedMacro { .. } => "E0220",
            TypeError::LabelMisplaced { .. } => "E0221",
            TypeError::DuplicateLabel { .. } => "E0222",
            TypeError::MixedSigns { .. } => "E0224",
            TypeError::UnknownType { .. } => "E0225",
            TypeError::NotANumber { .. } => "E0226",
            TypeError::NotAType { .. } => "E0227",
            TypeError::Literal { .. } => "E0228",
            TypeError::NotConstant { .. } => "E0229",
            TypeError::OutsideTuple { .. } => "E0331",
            TypeError::BranchResult { .. } => "E0230",
            TypeError::ResultKind { .. } => "E0231",
            TypeError::Destructuring { .. } => "E0232",
            TypeError::NoField { .. } => "E0263",
            TypeError::DuplicateField { .. } => "E0264",
            TypeError::NotAssignable { .. } => "E0233",
            TypeError::AliasAssigned { .. } => "E0234",
            TypeError::ConstantCycle { .. } => "E0235",
            TypeError::CallArity { .. } | TypeError::TakesArray { .. } => "E0236",
            TypeError::UnboundParameter { .. } => "E0237",
            TypeError::NeverEnds { .. } => "E0240",
            TypeError::DuplicateParameter { .. } => "E0114",
            TypeError::InCall { error, .. } => return error.code(),
            TypeError::Array(error) => return error.code(),
            TypeError::Complex(error) => return error.code(),
            TypeError::NoMatchingMethod { .. } => "E0241",
            TypeError::AmbiguousCall { .. } => "E0242",
            TypeError::Recursion { .. } => "E0243",
            TypeError::MissingKeyword { .. } => "E0244",
            TypeError::EffectInExpression { .. } => "E0245",
        })
    }
}

impl IntoDiagnostic for TypeError {
    fn into_diagnostic(self) -> Diagnostic {
        let base = Diagnostic::error(self.code(), self.to_string());
        match self {
            TypeError::Array(error) => error.into_diagnostic(),
            TypeError::Complex(error) => error.into_diagnostic(),
            TypeError::UndefinedName { name, span, suggestion } => {
                let base = base.primary(span, "not found in this scope");
                match suggestion {
                    Some(_) => meant(base, suggestion),
                    None => base.with_help(format!(
                        "give `{name}` a value first, or pass it as an argument; a global must be declared `const`"
                    )),
                }
            }
            TypeError::UsedBeforeAssigned { name, span, assigned } => {
                let base = base.primary(span, "used here");
                let base = match assigned {
                    Some(assigned) => base.secondary(assigned, "assigned here, which may not have run"),
                    None => base,
                };
                base.with_help(format!("give `{name}` a value first, outside any branch or loop that may not run"))
            }
            TypeError::TypeChanges { name, initial, first, assignment, then, like } => {
                let base = base
                    .primary(initial, format!("starts as {}", with_article(first)))
                    .secondary(assignment, format!("becomes {} here", with_article(then)))
                    .with_note(
                        "a variable whose type changes is slow in Julia, and has no type in the transpiled function",
                    );
                match (like, then.is_float()) {
                    (Some(array), _) => {
                        base.with_help(format!("start with `zero(eltype({array}))` or `{}`", zero(then)))
                    }
                    (None, true) => {
                        base.with_help(format!("start with {}, such as `{}`", with_article(then), zero(then)))
                    }
                    (None, false) => {
                        base.with_help(format!("start `{name}` as {}, or use another name", with_article(then)))
                    }
                }
            }
            TypeError::AliasAssigned { initial, assignment, was, .. } => base
                .primary(assignment, "assigned again here")
                .secondary(initial, format!("names {was} since here"))
                .with_help("use another name"),
            TypeError::SubscriptCount { rank, given, span, declared, .. } => {
                let base = base
                    .primary(span, format!("{given} given"))
                    .secondary(declared, counted(rank as usize, "dimension"));
                let help = match given < rank as usize {
                    true => {
                        "give one subscript for each dimension, or one `k` of a loop over `1:length(A)` or `eachindex(A)`"
                    }
                    false => "give one subscript for each dimension",
                };
                base.with_help(help)
            }
            TypeError::NotAnArray { found, span, element: true, .. } => base
                .primary(span, format!("one element, {found}"))
                .with_help("write all subscripts in one pair of brackets: `A[i, j]`"),
            TypeError::NotAnArray { found, span, declared, element: false } => {
                let base = base.primary(span, format!("this is {found}"));
                let base = match declared {
                    Some(declared) => base.secondary(declared, "declared here"),
                    None => base,
                };
                base.with_help("remove the subscript, or declare it as an array, such as `Vector{Float64}`")
            }
            TypeError::SubscriptType { found, span } => {
                let base = base.primary(span, format!("this is {found}"));
                match found {
                    Kind::Scalar(ty) if ty.is_float() => {
                        base.with_help("compute the subscript with integers, for example with `÷` in place of `/`")
                    }
                    _ => base.with_help("subscript with an `Int`"),
                }
            }
            TypeError::UnknownFunction { name, span, suggestion } => {
                let base = base.primary(span, "neither arithmetic nor a supported function of Base");
                match suggestion {
                    Some(_) => meant(base, suggestion),
                    None if name.starts_with(char::is_uppercase) => base.with_help(
                        "a structure cannot be made here: use a named tuple, `(x = 1.0, y = 2.0)`, or a variable for each field",
                    ),
                    None => base.with_help(format!(
                        "correct the name, or define `{name}` by loops and arithmetic in the same file: it becomes part of its caller"
                    )),
                }
            }
            TypeError::UnsupportedFunction { way_out, span, .. } => {
                base.primary(span, "Julia has it, Tessella has not").with_help(way_out)
            }
            TypeError::CalledArray { name, subscripts, span } => {
                base.primary(span, "called here").with_help(format!("write square brackets: `{name}[{subscripts}]`"))
            }
            TypeError::CallArity { expected, given, span, .. } => {
                base.primary(span, format!("{given} given")).with_help(format!("pass {expected}"))
            }
            TypeError::TakesArray { instead, span, .. } => {
                base.primary(span, "given a dimension, too").with_help(format!("did you mean `{instead}`?"))
            }
            TypeError::ArgumentMismatch { found, span, misfit: Misfit::Rank { expected, given }, .. } => {
                let (wanted, passed) = (counted(expected as usize, "dimension"), counted(given as usize, "dimension"));
                let base = base.primary(span, format!("{wanted} declared, but the argument has {given}"));
                let whole = found.to_string();
                let whole = whole.split_once(' ').map_or(whole.as_str(), |(_, ty)| ty).to_string();
                base.with_help(match expected < given {
                    true => format!("pass a part with {wanted}, such as a slice or view, or declare it as {whole}"),
                    false => format!("pass an array of {wanted}, or declare it as {whole}, which has {passed}"),
                })
            }
            TypeError::ArgumentMismatch { declared, found, span, misfit, .. } => {
                let base = base.primary(span, format!("does not accept {found}"));
                match misfit == Misfit::Invariant {
                    true => base
                        .with_note(format!(
                            "element types are invariant in Julia: {declared} accepts that one type only"
                        ))
                        .with_help("write `<:` in front of the element type, as in `Matrix{<:Real}`"),
                    false => base.with_help("change the annotation, or pass an argument of this type"),
                }
            }
            TypeError::OtherArgument { name, span } => base
                .primary(span, "neither a number nor an array of numbers that are compiled")
                .with_help(super::library::instead_of_type(&name)),
            TypeError::ArgumentCount { expected, span, .. } => base
                .primary(span, counted(expected, "parameter"))
                .with_help("give one type for each parameter, keyword parameters included"),
            TypeError::Inexact { from, to, span, target } => {
                let base = base.primary(span, with_article(from));
                let base = match target {
                    Some(target) => base.secondary(target, format!("holds `{to}`")),
                    None => base,
                };
                let base = base.with_note("Julia would raise an InexactError for some values");
                match (from.is_float(), to) {
                    (_, ScalarType::Bool) => base.with_help("write a comparison, such as `x != 0`"),
                    (true, ScalarType::I64) => base.with_help(
                        "say how to convert: `round(Int, x)`, `floor(Int, x)`, or `Int(x)` if it is whole; divide integers with `÷`",
                    ),
                    (true, _) => base.with_help(format!(
                        "say how to convert: `round({to}, x)`, `floor({to}, x)`, or `{to}(x)` if it is whole"
                    )),
                    (false, _) => base.with_help(format!("keep the low bits with `x % {to}`")),
                }
            }
            TypeError::InexactConstant { to, span, .. } => base
                .primary(span, format!("has no exact value as {}", with_article(to)))
                .with_note("Julia would raise an InexactError")
                .with_help(format!("write a value that {} can hold, or use a wider type", with_article(to))),
            TypeError::MayDivideByZero { divisor, zero, span, .. } => {
                let remark = if zero { "this is zero" } else { "not a constant" };
                base.primary(divisor, remark)
                    .secondary(span, "Julia would raise a DivideError where the divisor is zero")
                    .with_help("divide by a non-zero integer constant, or use `/` with floating point")
            }
            TypeError::DivisionByMinusOne { divisor, .. } => base
                .primary(divisor, "this is -1")
                .with_note("Julia raises a DivideError for the smallest integer")
                .with_help("negate with `-x`"),
            TypeError::MixedSigns { left, right, span, .. } => base
                .primary(span, format!("{} and {}", with_article(left), with_article(right)))
                .with_help("convert one of them first, for example with `x % Int`"),
            TypeError::NoMethod { operator, operands, span, help } => {
                let base = base.primary(span, format!("given {operands}"));
                match help {
                    Some(help) => base.with_help(help),
                    None => base.with_help(format!("convert to types that `{operator}` is defined for")),
                }
            }
            TypeError::NotACondition { found, span } => {
                base.primary(span, format!("this is {found}")).with_help("write a comparison, such as `x != 0`")
            }
            TypeError::AssignedCondition { span } => {
                base.primary(span, "`=` assigns").with_help("write `==` to compare")
            }
            TypeError::BranchTypes { yes, yes_span, no, no_span } => base
                .primary(no_span, with_article(no))
                .secondary(yes_span, with_article(yes))
                .with_note("the type of the result would depend on the condition")
                .with_help(format!(
                    "make both {}, or convert both to one other type",
                    with_article(super::convert::promote(yes, no))
                )),
            TypeError::Step { span, zero } => {
                base.primary(span, if zero { "this is zero" } else { "not a constant" }).with_help(match zero {
                    true => "use an integer literal, such as `1:2:n` or `n:-1:1`",
                    false => {
                        "use an integer literal, such as `1:2:n`, or loop over a plain range and test: \
                         `(i - 1) % step == 0 || continue`"
                    }
                })
            }
            TypeError::RangeType { found, span } => {
                let base = base.primary(span, format!("this is {found}"));
                match found {
                    Kind::Scalar(ty) if ty.is_float() => base.with_help(
                        "use `÷` in place of `/`, or iterate over integers and compute the float in the body: `x = 0.1 * i`",
                    ),
                    Kind::Scalar(_) => base.with_help("convert it first: `Int(n)` or `n % Int`"),
                    Kind::Array { .. }
                    | Kind::Complex(_)
                    | Kind::ComplexArray { .. }
                    | Kind::Tuple
                    | Kind::NamedTuple
                    | Kind::Range
                    | Kind::Type
                    | Kind::Position
                    | Kind::Places
                    | Kind::Function
                    | Kind::Irrational
                    | Kind::Nothing => base.with_help("use an `Int`, such as `length(A)` or `size(A, 1)`"),
                }
            }
            TypeError::NotIterable { found, span } => base
                .primary(span, format!("this is {found}"))
                .with_help("iterate over a range, such as `1:n` or `axes(A, 1)`"),
            TypeError::NotYet { construct, span } => {
                base.primary(span, "not supported yet").with_help(construct.way_out())
            }
            TypeError::UnknownMacro { name, span, suggestion } => {
                let base = base.primary(span, "not known here");
                match suggestion {
                    Some(name) => base.with_help(format!("did you mean `@{name}`?")),
                    None => base.with_help(super::library::instead_of_macro(&name)),
                }
            }
            TypeError::MalformedMacro { name, span, expected } => {
                base.primary(span, format!("expected {expected}")).with_help(format!("give `@{name}` {expected}"))
            }
            TypeError::LabelMisplaced { label, label_span, span } => base
                .primary(label_span, "this name needs one assignment")
                .secondary(span, "this is something else")
                .with_help(format!("write `@comp {label} A[i] = ...`, in front of each assignment to name")),
            TypeError::DuplicateLabel { span, first, .. } => base
                .primary(span, "named again here")
                .secondary(first, "first named here")
                .with_help("choose another name"),
            TypeError::UnknownType { name, span, suggestion } => {
                let base = base.primary(span, "not a number type, an array type or a type parameter");
                match suggestion {
                    Some(_) => meant(base, suggestion),
                    None => base.with_help(super::library::instead_of_type(&name)),
                }
            }
            TypeError::NotANumber { found, span } => {
                let help = match found {
                    Kind::Type => "make a number of the type, such as `zero(T)` or `T(2)`",
                    Kind::Complex(_) => "take `real(z)`, `imag(z)` or `abs2(z)` of it",
                    Kind::Array { .. } | Kind::ComplexArray { .. } | Kind::Tuple => "take one element, such as `x[1]`",
                    Kind::NamedTuple => "take one field, such as `p.a`",
                    Kind::Position => "take one component, such as `I[1]`, or subscript an array with it",
                    Kind::Places => "loop over it: `for I in R`",
                    Kind::Function => "call the function",
                    Kind::Scalar(_) | Kind::Range | Kind::Irrational | Kind::Nothing => {
                        "write an expression that is a number"
                    }
                };
                base.primary(span, format!("this is {found}")).with_help(help)
            }
            TypeError::NotAType { found, span } => base
                .primary(span, format!("this is {found}"))
                .with_help("write a type, such as `Float64`, `eltype(A)` or `typeof(x)`"),
            TypeError::UnboundParameter { span, name } => base
                .primary(span, "used here")
                .with_help(format!("use `{name}` in the type of a parameter, as in `A::Array{{{name}}}`")),
            TypeError::Literal { span, why, .. } => {
                base.primary(span, why).with_help("write a number that `Int64` or `Float64` can hold")
            }
            TypeError::OutsideTuple { length, span, .. } => {
                let help = match length {
                    0 => "leave the subscript out".to_string(),
                    _ => format!("use a position from 1 to {length}"),
                };
                base.primary(span, "no such element").with_note("Julia would raise a BoundsError").with_help(help)
            }
            TypeError::NotConstant { what, span } => {
                let label = if what.contains("from 1") { "below 1" } else { "not a constant" };
                base.primary(span, label).with_help("use an integer literal or a `const`")
            }
            TypeError::BranchResult { span } => base
                .primary(span, "its branches end with values of different kinds, or one of them without")
                .with_help("end all branches with values of one kind"),
            TypeError::ResultKind { found, span } => base
                .primary(span, format!("this is {found}"))
                .with_help("end the function with `return nothing`, or return an array, a number, or a tuple of these"),
            TypeError::Destructuring { span, targets, values } => base
                .primary(span, format!("{targets} names, {values} values"))
                .with_help("write as many names as there are values"),
            TypeError::NoField { name, fields, span } => {
                let base = base.primary(span, "not one of its fields");
                match tessella_diagnostics::nearest(&name, fields.iter().map(String::as_str)) {
                    Some(near) => base.with_help(format!("did you mean `{near}`?")),
                    None => {
                        let all: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
                        base.with_help(format!("its fields are {}", all.join(", ")))
                    }
                }
            }
            TypeError::DuplicateField { span, .. } => {
                base.primary(span, "given again here").with_help("give each field a name of its own")
            }
            TypeError::DuplicateParameter { first, second, .. } => base
                .primary(second, "the same name again")
                .secondary(first, "first here")
                .with_help("give each parameter a name of its own"),
            TypeError::InCall { error, function, call } => {
                error.into_diagnostic().secondary(call, format!("`{function}` is called here"))
            }
            TypeError::NoMatchingMethod { span, definition, count: Some((wanted, passed)), .. } => base
                .primary(span, format!("{} passed", counted(passed, "argument")))
                .secondary(definition, format!("takes {}", counted(wanted, "argument")))
                .with_help(format!("pass {}, keyword arguments aside", counted(wanted, "argument"))),
            TypeError::NoMatchingMethod { span, definition, given, count: None, .. } => base
                .primary(span, format!("called with {given}"))
                .secondary(definition, "defined here")
                .with_help("change the annotations of the definition, or what is passed"),
            TypeError::AmbiguousCall { span, first, second, .. } => base
                .primary(span, "called here")
                .secondary(first, "accepts them")
                .secondary(second, "accepts them, too")
                .with_help("define a method for exactly these types"),
            TypeError::Recursion { span, definition, .. } => base
                .primary(span, "called again here, while it runs")
                .secondary(definition, "defined here")
                .with_help("write the repetition as a loop: a called function becomes part of its caller"),
            TypeError::MissingKeyword { span, declared, keyword, .. } => base
                .primary(span, "called here")
                .secondary(declared, "has no default value")
                .with_help(format!("pass `{keyword} = ...`")),
            TypeError::EffectInExpression { span, at, .. } => base
                .primary(span, "called inside an expression")
                .secondary(at, "assigned here")
                .with_help("make the call a statement of its own, or assign its result to a variable first"),
            TypeError::NeverEnds { span } => base
                .primary(span, "always true, and nothing in the loop leaves it")
                .with_help("write a condition, or leave the loop with `break` or `return`"),
            TypeError::NotAssignable { span, why, .. } => base.primary(span, why).with_help(
                "assign to a variable or to an element of an array, and declare its type where it is first assigned",
            ),
            TypeError::ConstantCycle { name, span } => base
                .primary(span, "used in its own definition")
                .with_help(format!("define `{name}` by numbers and by constants that do not use it")),
        }
    }
}

fn meant(diagnostic: Diagnostic, suggestion: Option<String>) -> Diagnostic {
    match suggestion {
        Some(name) => diagnostic.with_help(format!("did you mean `{name}`?")),
        None => diagnostic,
    }
}

/// How Julia writes the zero of a type.
fn zero(ty: ScalarType) -> String {
    match ty {
        ScalarType::F64 => "0.0".into(),
        ScalarType::F32 => "0.0f0".into(),
        ScalarType::I64 => "0".into(),
        ScalarType::Bool => "false".into(),
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64 => format!("zero({ty})"),
    }
}

/// `1 value`, `2 values`.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `1 value is`, `2 values are`.
fn are(count: usize, what: &str) -> String {
    format!("{} {}", counted(count, what), if count == 1 { "is" } else { "are" })
}

fn elements(count: usize) -> String {
    match count {
        0 => "there are no elements".into(),
        1 => "there is one element".into(),
        _ => format!("there are {count} elements"),
    }
}
