//! What keeps a function from becoming an algorithm, and how it is told.

use tessella_diagnostics::{Code, Diagnostic, IntoDiagnostic, Span};
use tessella_frontend::typed::tree::{Requirement, SizeError};
use tessella_scalar::ScalarType;
use thiserror::Error;

/// A subexpression that is not a quasi-affine function of iterators and parameters, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAffine {
    /// The innermost subexpression at fault.
    pub span: Span,
    pub reason: Reason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A product of two expressions neither of which is constant.
    Product,
    /// A value loaded from an array.
    ReadFromArray {
        array: String,
    },
    /// Division or remainder by something that is not a constant.
    DivisorNotConstant,
    DivisionByZero,
    /// A variable that is assigned more than once; without a name, a value that several paths set.
    Reassigned {
        variable: Option<String>,
        bound: Span,
    },
    /// A variable whose only value is not affine.
    DataDependent {
        variable: Option<String>,
        cause: Box<NotAffine>,
    },
    /// Not an `Int64`.
    NotInt64 {
        ty: ScalarType,
    },
    /// An operation that has no affine meaning.
    Operation,
    /// The value might pass 64 bits for parameters up to 2^40.
    MayWrap,
    /// More cases (`min`, `max`, `?:`, truncated division) than are followed.
    TooManyCases {
        limit: usize,
    },
}

/// What changes during a call, so that it is not known at entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// An array that the function stores into, or makes.
    Array { array: String },
    /// A variable that is assigned more than once; without a name, a value that several paths set.
    Variable { variable: Option<String>, bound: Span },
}

/// What may be tested while the function runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Testable {
    /// That a subscript is inside, wherever this expression is one.
    Subscript(Span),
    /// A requirement: its statement.
    Requirement(Span),
}

/// Which end of a loop's range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeEnd {
    Start,
    Stop,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LowerError {
    #[error("a subscript can only be checked after the function has begun to write")]
    SubscriptUnknownAtEntry { subscript: Span, changes: Changes, span: Span },
    #[error("whether a subscript needs to be inside is known only after the function has begun to write")]
    ConditionUnknownAtEntry { subscript: Span, changes: Changes, span: Span },
    #[error("whether this operation succeeds is known only after the function has begun to write")]
    ValueUnknownAtEntry { needed: Span, failure: Requirement, changes: Changes, span: Span },
    #[error("{} is not affine", bound_of(iterator.as_deref(), *end))]
    BoundNotAffine { iterator: Option<String>, end: RangeEnd, bound: Span, why: NotAffine },
    #[error("the bounds of the loop over `{iterator}` change during the call")]
    BoundWritten { iterator: String, array: String, range: Span, span: Span },
    #[error("the subscript of a store to `{array}` takes several affine forms")]
    StoreInCases { array: String, subscript: Span },
    #[error("two statements are called `{name}`")]
    DuplicateLabel { name: String, first: Span, second: Span },
    #[error("`{function}` computes nothing")]
    NoComputations { function: String, signature: Span },
    #[error("`{name}` is an argument and cannot be assigned to here")]
    AssignedArgument { name: String, span: Span },
    #[error("extent {} of `{array}` is not affine", .axis + 1)]
    ExtentNotAffine { array: String, axis: u32, extent: Span, why: NotAffine },
    #[error("whether these sizes fit depends on values")]
    RequirementNotAffine { span: Span, text: String, why: NotAffine },
    #[error("the function always throws here")]
    AlwaysThrows { span: Span, text: String },
    #[error("these sizes never fit")]
    NeverFits { span: Span, text: String },
    #[error("the conditions around this statement are too complicated")]
    TooComplicated { span: Span, message: String },
}

impl RangeEnd {
    fn name(self) -> &'static str {
        match self {
            RangeEnd::Start => "start",
            RangeEnd::Stop => "end",
        }
    }
}

impl NotAffine {
    /// The innermost expression that is at fault, behind the variables that it was given to.
    fn origin(&self) -> Span {
        match &self.reason {
            Reason::DataDependent { cause, .. } => cause.origin(),
            _ => self.span,
        }
    }

    /// The reason behind the variables that it was given to.
    fn innermost(&self) -> &Reason {
        match &self.reason {
            Reason::DataDependent { cause, .. } => cause.innermost(),
            reason => reason,
        }
    }

    /// What is wrong with the subexpression, in a few words.
    fn label(&self) -> String {
        match &self.reason {
            Reason::Product => "a product of two variables".into(),
            Reason::ReadFromArray { array } => format!("a value read from `{array}`"),
            Reason::DivisorNotConstant => "divides by something that is not a constant".into(),
            Reason::DivisionByZero => "divides by zero".into(),
            Reason::Reassigned { variable, .. } => reassigned(variable.as_deref()),
            Reason::DataDependent { variable, .. } => match variable {
                Some(variable) => format!("`{variable}` is not an affine value"),
                None => "not an affine value".into(),
            },
            Reason::NotInt64 { ty } if ty.is_float() => format!("computed from a `{ty}`"),
            Reason::NotInt64 { ty } => format!("a `{ty}`, not an `Int64`"),
            Reason::Operation => "no affine operation".into(),
            Reason::MayWrap => "may pass 64 bits".into(),
            Reason::TooManyCases { limit: 1 } => "one of several values, and which one depends on sizes".into(),
            Reason::TooManyCases { limit } => format!("more than {limit} cases"),
        }
    }

    fn help(&self) -> Option<&'static str> {
        Some(match &self.reason {
            Reason::Product => {
                "make one factor a constant, or pass the matrix with one more axis instead of computing its offsets"
            }
            Reason::ReadFromArray { .. } => "pass what is read as an `Int` argument of the function",
            Reason::DivisorNotConstant => "write the divisor as an integer literal",
            Reason::DivisionByZero => "divide by another constant",
            Reason::Reassigned { .. } => {
                "express the value by iterators, arguments and sizes instead of updating a variable"
            }
            Reason::DataDependent { cause, .. } => return cause.help(),
            Reason::NotInt64 { ty } if ty.is_float() => {
                "compute the integer where the function is called, and pass it as an `Int` argument (`steps = round(Int, T / dt)`)"
            }
            Reason::NotInt64 { .. } => "declare it as `Int`",
            Reason::Operation => {
                "use sums, products with constants, `div`, `fld`, `cld`, `rem`, `mod`, `min` and `max`"
            }
            Reason::MayWrap => "use smaller constants: sizes and integer arguments may be as large as 2^40",
            Reason::TooManyCases { limit: 1 } => {
                "compute the value in the caller and pass it as an argument, or make the array large enough for all cases: `zeros(max(m, n))`"
            }
            Reason::TooManyCases { .. } => "split the expression with `if`",
        })
    }

    /// Labels the subexpression, and where a variable got its value; notes what would do.
    fn explain(&self, diagnostic: Diagnostic, wanted: &str) -> Diagnostic {
        let mut at = self;
        // Of several reasons at one place, the last says most.
        while let Reason::DataDependent { cause, .. } = &at.reason
            && cause.span == at.span
        {
            at = cause;
        }
        let mut diagnostic = diagnostic.primary(at.span, at.label());
        while let Reason::DataDependent { cause, .. } = &at.reason {
            at = cause;
            diagnostic = diagnostic.secondary(at.span, at.label());
        }
        if let Reason::Reassigned { variable, bound } = &at.reason
            && *bound != self.span
        {
            diagnostic = diagnostic.secondary(*bound, first_set(variable.as_deref()));
        }
        let diagnostic = diagnostic.with_note(wanted);
        match self.help() {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        }
    }
}

/// What a step that a `while` loop doubles can be made of.
const STEP_BY_ITERATOR: &str =
    "let a `for` loop count, and make the step of its iterator: `for s in 1:k` with `len = 1 << s`";

/// A loop whose step varies goes over the number of its steps, which the source does not name.
fn bound_of(iterator: Option<&str>, end: RangeEnd) -> String {
    match iterator {
        Some(iterator) => format!("the {} of the loop over `{iterator}`", end.name()),
        None => "the number of steps of this loop".into(),
    }
}

fn reassigned(variable: Option<&str>) -> String {
    match variable {
        Some(variable) => format!("`{variable}` is assigned more than once"),
        None => "this value is set on more than one path".into(),
    }
}

fn first_set(variable: Option<&str>) -> String {
    match variable {
        Some(variable) => format!("`{variable}` is first set here"),
        None => "it is first set here".into(),
    }
}

impl Changes {
    /// Labels the place that reads what changes, and says what can be done.
    fn label(&self, diagnostic: Diagnostic, span: Span) -> Diagnostic {
        let (diagnostic, help) = match self {
            Changes::Array { array } => (
                diagnostic.primary(span, format!("reads `{array}`, which the function writes")),
                format!(
                    "compute `{array}` in a function of its own and pass it on, or write `@inbounds` before the statement if the subscript is sure to be inside"
                ),
            ),
            Changes::Variable { variable, bound } => {
                let instead = variable.as_ref().map_or(String::new(), |variable| format!(", in place of `{variable}`"));
                let diagnostic = diagnostic.primary(span, reassigned(variable.as_deref()));
                let labelled = match *bound == span {
                    true => diagnostic,
                    false => diagnostic.secondary(*bound, first_set(variable.as_deref())),
                };
                (
                    labelled,
                    format!(
                        "compute the subscript from iterators, arguments and arrays that are only read{instead}, or write `@inbounds` before the statement if it is sure to be inside"
                    ),
                )
            }
        };
        diagnostic
            .with_note("subscripts are checked at entry, before anything is written: what they depend on has to be known there")
            .with_help(help)
    }
}

impl LowerError {
    /// Whether `other`, which has been found before, says all of it: the same expression is at fault.
    pub(crate) fn follows_from(&self, other: &LowerError) -> bool {
        // That all places of an array are inside is asked once more where one of them is read or stored to.
        if let (
            LowerError::ValueUnknownAtEntry { failure: Requirement { error: SizeError::Bounds, .. }, changes, .. },
            LowerError::SubscriptUnknownAtEntry { changes: known, .. },
        ) = (self, other)
        {
            return changes == known;
        }
        match (self.not_affine(), other.not_affine()) {
            (Some((cause, rank)), Some((known, known_rank))) => cause.origin() == known.origin() && known_rank < rank,
            (_, _) => false,
        }
    }

    /// Whether it says again what has been said: of one expression, that it may fail in several ways, is said once.
    pub(crate) fn repeats(&self, known: &LowerError) -> bool {
        match (self, known) {
            (LowerError::ValueUnknownAtEntry { needed, .. }, LowerError::ValueUnknownAtEntry { needed: other, .. }) => {
                needed == other
            }
            (_, _) => self == known,
        }
    }

    /// Why something is not affine that must be, and a number that grows from what users name to what follows of it.
    fn not_affine(&self) -> Option<(&NotAffine, u32)> {
        match self {
            LowerError::ExtentNotAffine { why, .. } => Some((why, 0)),
            LowerError::BoundNotAffine { why, .. } => Some((why, 2)),
            LowerError::RequirementNotAffine { why, .. } => Some((why, 1)),
            LowerError::SubscriptUnknownAtEntry { .. }
            | LowerError::ConditionUnknownAtEntry { .. }
            | LowerError::ValueUnknownAtEntry { .. }
            | LowerError::BoundWritten { .. }
            | LowerError::StoreInCases { .. }
            | LowerError::DuplicateLabel { .. }
            | LowerError::NoComputations { .. }
            | LowerError::AssignedArgument { .. }
            | LowerError::AlwaysThrows { .. }
            | LowerError::NeverFits { .. }
            | LowerError::TooComplicated { .. } => None,
        }
    }

    /// What the function can test while it runs, where entry is too early.
    pub(crate) fn testable(&self) -> Option<Testable> {
        match self {
            LowerError::SubscriptUnknownAtEntry { subscript, .. }
            | LowerError::ConditionUnknownAtEntry { subscript, .. } => Some(Testable::Subscript(*subscript)),
            LowerError::ValueUnknownAtEntry { needed, .. } => Some(Testable::Requirement(*needed)),
            LowerError::BoundNotAffine { .. }
            | LowerError::BoundWritten { .. }
            | LowerError::StoreInCases { .. }
            | LowerError::DuplicateLabel { .. }
            | LowerError::NoComputations { .. }
            | LowerError::AssignedArgument { .. }
            | LowerError::AlwaysThrows { .. }
            | LowerError::ExtentNotAffine { .. }
            | LowerError::RequirementNotAffine { .. }
            | LowerError::NeverFits { .. }
            | LowerError::TooComplicated { .. } => None,
        }
    }

    pub fn code(&self) -> Code {
        Code(match self {
            LowerError::SubscriptUnknownAtEntry { .. } => "E0310",
            LowerError::ConditionUnknownAtEntry { .. } => "E0311",
            LowerError::ValueUnknownAtEntry { .. } => "E0313",
            LowerError::BoundNotAffine { .. } => "E0302",
            LowerError::BoundWritten { .. } => "E0314",
            LowerError::StoreInCases { .. } => "E0303",
            LowerError::DuplicateLabel { .. } => "E0304",
            LowerError::NoComputations { .. } => "E0305",
            LowerError::AssignedArgument { .. } => "E0306",
            LowerError::TooComplicated { .. } => "E0307",
            LowerError::ExtentNotAffine { .. } => "E0350",
            LowerError::RequirementNotAffine { .. } => "E0351",
            LowerError::NeverFits { .. } => "E0352",
            LowerError::AlwaysThrows { .. } => "E0330",
        })
    }
}

impl IntoDiagnostic for LowerError {
    fn into_diagnostic(self) -> Diagnostic {
        let diagnostic = Diagnostic::error(self.code(), self.to_string());
        match self {
            LowerError::SubscriptUnknownAtEntry { subscript, changes, span } => {
                let diagnostic = changes.label(diagnostic, span);
                if subscript == span { diagnostic } else { diagnostic.secondary(subscript, "in this subscript") }
            }
            LowerError::ConditionUnknownAtEntry { subscript, changes, span } => {
                changes.label(diagnostic, span).secondary(subscript, "this subscript has to be checked")
            }
            LowerError::ValueUnknownAtEntry { needed, failure, changes, span } => {
                let labelled = match &changes {
                    Changes::Array { array } => {
                        diagnostic.primary(span, format!("reads `{array}`, which the function writes"))
                    }
                    Changes::Variable { variable, bound } => {
                        let labelled = diagnostic.primary(span, reassigned(variable.as_deref()));
                        match *bound == span {
                            true => labelled,
                            false => labelled.secondary(*bound, first_set(variable.as_deref())),
                        }
                    }
                };
                let labelled = if needed == span {
                    labelled
                } else {
                    labelled.secondary(
                        needed,
                        if failure.error == SizeError::Thrown { "this may throw" } else { "this may raise" },
                    )
                };
                let pass_on = "compute what it depends on in a function of its own and pass it on";
                let help = match failure.error {
                    SizeError::Inexact => format!(
                        "{pass_on}, or use what never raises: `unsafe_trunc(T, x)` of a float, `x % T` of an integer, `n += one(n)` of a counter"
                    ),
                    SizeError::Thrown => {
                        "check what is computed in a function of its own, in Julia, and test arguments only here"
                            .to_owned()
                    }
                    SizeError::Divide | SizeError::Mismatch | SizeError::Argument | SizeError::Bounds => {
                        pass_on.to_owned()
                    }
                };
                labelled
                    .with_note(match failure.error {
                        SizeError::Thrown => {
                            format!("{}: that is tested at entry, before anything is written", failure.text)
                        }
                        _ => {
                            format!("fails where {}: that is tested at entry, before anything is written", failure.text)
                        }
                    })
                    .with_help(help)
            }
            LowerError::BoundNotAffine { iterator, bound, why, .. } => {
                let diagnostic = why.explain(
                    diagnostic,
                    "loop bounds are computed from iterators, arguments, array sizes and integer arrays",
                );
                let is_step = iterator.is_none() && matches!(why.innermost(), Reason::Reassigned { .. });
                let diagnostic = if is_step { diagnostic.with_help(STEP_BY_ITERATOR) } else { diagnostic };
                if bound == why.span { diagnostic } else { diagnostic.secondary(bound, "in this bound") }
            }
            LowerError::BoundWritten { iterator, array, range, span } => {
                let labelled = diagnostic.primary(span, format!("reads `{array}`, which the function writes"));
                let labelled = if range == span { labelled } else { labelled.secondary(range, "in this range") };
                labelled
                    .with_note(format!(
                        "where `{iterator}` leaves its arrays is found out at entry, before anything is written"
                    ))
                    .with_help(format!("compute `{array}` in a function of its own and pass it on"))
            }
            LowerError::StoreInCases { subscript, .. } => diagnostic
                .primary(subscript, "differs from iteration to iteration in more than the iterators")
                .with_note("a store with a name needs one affine subscript")
                .with_help("drop `@comp`, or write one store for each case, inside `if`"),
            LowerError::DuplicateLabel { name, first, second } => diagnostic
                .primary(second, format!("`{name}` again"))
                .secondary(first, format!("`{name}` is taken here"))
                .with_help("give each `@comp` a name of its own"),
            LowerError::NoComputations { signature, .. } => diagnostic
                .primary(signature, "stores into no array and returns no scalar that it computes")
                .with_help("store the result into one of the arguments, or return it"),
            LowerError::AssignedArgument { name, span } => diagnostic
                .primary(span, "assigned here")
                .with_help(format!("assign to a new variable instead of `{name}`")),
            LowerError::ExtentNotAffine { extent, why, .. } => {
                let diagnostic = why
                    .explain(diagnostic, "extents are sums of arguments and array sizes with constant factors, and of floats of arguments rounded to `Int`");
                if extent == why.span { diagnostic } else { diagnostic.secondary(extent, "in this extent") }
            }
            LowerError::RequirementNotAffine { span, text, why } => {
                let diagnostic = why.explain(
                    diagnostic,
                    "what is tested at entry compares sums of integer arguments and array sizes with constant factors",
                );
                let diagnostic = if span == why.span { diagnostic } else { diagnostic.secondary(span, "needed here") };
                diagnostic.with_note(format!("where it does not hold: {text}"))
            }
            LowerError::AlwaysThrows { span, text } => diagnostic
                .primary(span, "reached for all arguments of these types")
                .with_note(text)
                .with_help("leave the function to Julia, or correct the condition around it"),
            LowerError::NeverFits { span, text } => {
                diagnostic.primary(span, "needed here").with_note(text).with_help("give both sides the same sizes")
            }
            LowerError::TooComplicated { span, message } => diagnostic
                .primary(span, "for this statement")
                .with_note(message)
                .with_help("simplify the conditions or bounds with divisions, remainders, `min` or `max`"),
        }
    }
}
