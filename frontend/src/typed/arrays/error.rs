//! What can be wrong with whole arrays.

use crate::typed::rebinding::Hindrance;
use crate::typed::result::Container;
use crate::typed::value::{Kind, with_article};
use tessella_diagnostics::{Code, Diagnostic, IntoDiagnostic, Span};
use tessella_scalar::ScalarType;

/// An error in an expression or statement on whole arrays.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArrayError {
    #[error("{}", rebound(name, *why))]
    Rebound { name: String, first: Span, why: Hindrance, span: Span },
    #[error("arrays of different shapes: {left} and {right}")]
    Mismatch { left: String, right: String, span: Span },
    #[error("{}", refused_product(operator))]
    Product { operator: String, ranks: (usize, usize), span: Span },
    #[error("`{operator}` of {left} and {right} needs a dot")]
    NeedsDot { operator: String, left: Kind, right: Kind, span: Span },
    #[error("`{function}` of {found} needs a dot")]
    CallNeedsDot { function: String, found: Kind, span: Span },
    #[error("one number cannot be assigned to several elements")]
    SingleValue { span: Span, target: Span },
    #[error("whole arrays cannot be computed in a constant of the file")]
    Constant { span: Span },
    #[error("`{name}` is a constant array of the module, which the function would change or give back")]
    ConstantChanged { name: String, span: Span },
    #[error("which array this is depends on the path taken, and the function makes one of them itself")]
    Returned { span: Span },
    #[error("an array that is made inside of a loop cannot be returned from there")]
    MadeInLoop { span: Span },
    #[error("the result is {} in Julia, not an `Array`", container.name())]
    OtherContainer { container: Container, span: Span },
    #[error("the broadcast is a range in Julia, and rounds otherwise than its elements one by one")]
    FloatRange { span: Span },
    #[error("the result, {found}, would be converted to {declared}")]
    ResultConverted { found: Kind, declared: String, span: Span },
    #[error("these elements have no value yet")]
    Undefined { span: Span },
    #[error("`{function}` of complex numbers along some dimensions only is not supported")]
    AlongDimensions { function: String, span: Span },
    #[error("the first value of a reduction is {}, but the result {}", with_article(*found), with_article(*expected))]
    InitialType { found: ScalarType, expected: ScalarType, span: Span },
    #[error("there is nothing to reduce")]
    NothingToReduce { span: Span },
    #[error("`{function}` cannot be applied to {found}")]
    NotElements { function: String, found: Kind, span: Span },
    #[error("an array with first indices of its own cannot be made inside the function")]
    OffsetMade { span: Span },
    #[error("what this index means depends on the type of an array whose subscripts do not count from 1")]
    OffsetIndex { span: Span },
}

impl ArrayError {
    pub fn code(&self) -> Code {
        Code(match self {
            ArrayError::Rebound { .. } => "E0250",
            ArrayError::Mismatch { .. } => "E0251",
            ArrayError::Product { .. } => "E0252",
            ArrayError::NeedsDot { .. } | ArrayError::CallNeedsDot { .. } => "E0253",
            ArrayError::SingleValue { .. } => "E0254",
            ArrayError::Constant { .. } => "E0255",
            ArrayError::ConstantChanged { .. } => "E0266",
            ArrayError::Returned { .. } | ArrayError::MadeInLoop { .. } => "E0256",
            ArrayError::OtherContainer { .. } | ArrayError::FloatRange { .. } => "E0260",
            ArrayError::ResultConverted { .. } => "E0261",
            ArrayError::Undefined { .. } => "E0257",
            ArrayError::AlongDimensions { .. } => "E0258",
            ArrayError::InitialType { .. } => "E0265",
            ArrayError::NothingToReduce { .. } => "E0268",
            ArrayError::NotElements { .. } => "E0259",
            ArrayError::OffsetMade { .. } => "E0504",
            ArrayError::OffsetIndex { .. } => "E0505",
        })
    }
}

impl IntoDiagnostic for ArrayError {
    fn into_diagnostic(self) -> Diagnostic {
        let base = Diagnostic::error(self.code(), self.to_string());
        match self {
            ArrayError::Rebound { name, first, why, span } => {
                let (here, help) = match why {
                    Hindrance::Type => {
                        ("another type here", format!("give `{name}` elements of this type from the start"))
                    }
                    Hindrance::NoArray => {
                        ("an array here", format!("give it one first, such as `{name} = zeros(...)` or `{name} = copy(...)`, or use another name"))
                    }
                    Hindrance::Dimensions => {
                        ("other dimensions here", "use another name".to_string())
                    }
                    Hindrance::Container => (
                        "another kind of array here",
                        format!("write `{name} .= ...` to change its elements, or use another name"),
                    ),
                    Hindrance::Shared => (
                        "another array here",
                        format!(
                            "give it an array of its own before the loop or condition, `{name} = copy({name})`; \
                             or write `{name} .= ...` to change its elements"
                        ),
                    ),
                    Hindrance::Standing => (
                        "this may still be the array that it was before the loop",
                        format!("give it an array of its own before the loop, `{name} = copy({name})`"),
                    ),
                    Hindrance::Parts => (
                        "an array whose parts have names here",
                        format!("write `{name} .= ...` to change its elements, or use another name"),
                    ),
                };
                let since = match why {
                    Hindrance::NoArray => "bound here",
                    _ => "an array since here",
                };
                base.primary(span, here).secondary(first, since).with_help(help)
            }
            ArrayError::Mismatch { span, .. } => {
                base.primary(span, "combined here")
                    .with_note("Julia would raise a DimensionMismatch")
                    .with_help("combine arrays of one shape, or write a dot to broadcast")
            }
            ArrayError::Product { operator, ranks, span } => {
                let base = match operator.as_str() {
                    "*" => base
                        .primary(span, "not defined in Julia")
                        .with_note("a product is one of matrices, of a matrix and a vector, or of a vector and a transposed one"),
                    _ => base
                        .primary(span, "an operation of linear algebra")
                        .with_note("Julia hands it to a library, with an order of operations of its own"),
                };
                base.with_help(match (operator.as_str(), ranks) {
                    ("\\" | "/" | "inv", _) => "solve the system with loops of your own, or in the caller",
                    ("^", _) => "write `A * A` for the power of a matrix, or `.^` for the power of each element",
                    (_, (1, 1)) => "write `x .* y` for each element, `x' * y` for the inner product, or `x * y'` for all products of two elements",
                    (_, _) => "multiply matrices and vectors that are parts of the arrays, as `view(A, :, :, k)`, or write the loops",
                })
            }
            ArrayError::NeedsDot { operator, span, .. } => match operator.as_str() {
                "==" | "!=" | "≠" | "===" | "!==" | "≡" | "≢" | "≈" | "isequal" => base
                    .primary(span, "one `Bool` for the whole arrays in Julia")
                    .with_help(format!(
                        "write `size(x) == size(y) && all(x .== y)` for the whole, or `.{operator}` to compare each element"
                    )),
                "in" | "∈" => {
                    base.primary(span, "looks through the array in Julia").with_help("write `any(x .== value)`")
                }
                _ => base
                    .primary(span, "not defined in Julia")
                    .with_help(format!("write `.{operator}` to combine each element")),
            },
            ArrayError::CallNeedsDot { function, span, .. } => base
                .primary(span, "a whole array")
                .with_help(format!("write `{function}.(...)` to apply it to each element, or loops")),
            ArrayError::SingleValue { span, target } => base
                .primary(span, "a number")
                .secondary(target, "several elements")
                .with_help("write `.=` to store it into each of them"),
            ArrayError::Constant { span } => base
                .primary(span, "used as a constant")
                .with_help("make the array inside the function, or pass it as an argument"),
            ArrayError::ConstantChanged { name, span } => base
                .primary(span, "changed or given back")
                .with_note("compiled code has a copy of the array; others who use the constant would not see the change")
                .with_help(format!("write `copy({name})`, or pass the array as an argument")),
            ArrayError::Returned { span } => base
                .primary(span, "one of these arrays is made inside the function")
                .with_help("give the array a name, `chosen = c ? a : b`, or make one before the branches and copy into it"),
            ArrayError::MadeInLoop { span } => base
                .primary(span, "returns an array that this iteration makes")
                .with_help("make the array before the loop and fill it here, or return the numbers that it is made of"),
            ArrayError::OtherContainer { container, span } => {
                base.primary(span, "returned here").with_help(match container {
                    Container::BitArray => "write a comprehension, `[a > 0 for a in A]`, or `collect(A .> 0)`",
                    Container::Adjoint => "write `permutedims(A)`, which copies",
                    Container::Range => "write `collect` around it",
                    Container::View => "write `copy` around it, or return the array",
                })
            }
            ArrayError::FloatRange { span } => base
                .primary(span, "a range of floats")
                .with_note("a range and a number, combined with `+`, `-`, `*` or `/`, make a range, which Julia computes in twice the precision")
                .with_help("make floats of the range first, `dx .* Float64.(0:n-1)`, or write a loop: `[dx * i for i in 0:n-1]`"),
            ArrayError::ResultConverted { span, declared, .. } => base
                .primary(span, "returned here")
                .with_help(format!("make an array of the declared type {declared}, or drop the declaration")),
            ArrayError::Undefined { span } => {
                base.primary(span, "only memory").with_help("make it with `zeros`, or store into it first")
            }
            ArrayError::AlongDimensions { span, .. } => {
                base.primary(span, "asked for here").with_help("write the loops over the other dimensions, or sum `real.(z)` and `imag.(z)`")
            }
            ArrayError::InitialType { span, expected, .. } => base
                .primary(span, "of another type")
                .with_note("of no elements it would be the result, so that the result's type would depend on sizes")
                .with_help(format!("write it as a `{expected}`, such as `zero({expected})`, or convert it: `{expected}(x)`")),
            ArrayError::NothingToReduce { span } => base
                .primary(span, "goes through a tuple without elements")
                .with_note("Julia raises an ArgumentError")
                .with_help("leave the reduction out, or give the tuple an element"),
            ArrayError::NotElements { span, .. } => base.primary(span, "this argument").with_help("pass an array"),
            ArrayError::OffsetMade { span } => base
                .primary(span, "has the axes of an offset array")
                .with_help("pass it as an argument, or give the sizes: `zeros(size(A))` counts from 1"),
            ArrayError::OffsetIndex { span } => base
                .primary(span, "used here")
                .with_note("Julia counts a linear index from 1, and a `CartesianIndex` from the first indices")
                .with_help("write loops over `axes(A, 1)`, `axes(A, 2)`, ..., or a range `i:j`"),
        }
    }
}

fn refused_product(operator: &str) -> String {
    match operator {
        "*" => "`*` is not defined for these arrays".to_string(),
        _ => format!("`{operator}` of matrices and vectors is not supported in a transpiled function"),
    }
}

fn rebound(name: &str, why: Hindrance) -> String {
    match why {
        Hindrance::Type => format!("`{name}` holds an array with elements of another type"),
        Hindrance::Dimensions => format!("`{name}` holds an array of another number of dimensions"),
        Hindrance::NoArray => format!("`{name}` holds no array of its own before"),
        Hindrance::Container => format!("`{name}` holds another kind of array"),
        Hindrance::Shared | Hindrance::Parts => format!("`{name}` holds an array already"),
        Hindrance::Standing => format!("`{name}` may be another array here"),
    }
}
