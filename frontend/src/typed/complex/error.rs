//! What can be wrong with complex numbers.

use tessella_diagnostics::{Code, Diagnostic, IntoDiagnostic, Span};

/// An error in the use of complex numbers and arrays.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComplexError {
    #[error("`{operation}` of complex numbers is not supported in a transpiled function")]
    Unsupported { operation: String, span: Span },
    #[error("a complex number stands where a real one is needed")]
    NotReal { span: Span },
    #[error("a complex array cannot be used as a whole here")]
    WholeArray { span: Span },
    #[error("`{name}` changes its type from {first} to {then}")]
    TypeChanges { name: String, initial: Span, first: String, assignment: Span, then: String },
    #[error("the type `{ty}` cannot be used here")]
    TypeHere { ty: String, span: Span },
}

impl ComplexError {
    pub fn code(&self) -> Code {
        Code(match self {
            ComplexError::Unsupported { .. } => "E0270",
            ComplexError::NotReal { .. } => "E0271",
            ComplexError::WholeArray { .. } => "E0272",
            ComplexError::TypeChanges { .. } => "E0273",
            ComplexError::TypeHere { .. } => "E0274",
        })
    }
}

impl IntoDiagnostic for ComplexError {
    fn into_diagnostic(self) -> Diagnostic {
        let base = Diagnostic::error(self.code(), self.to_string());
        match self {
            ComplexError::Unsupported { operation, span } => {
                let help = match operation.as_str() {
                    "^" => "write the product out: `z * z`; `z^2` and `z^3` with a literal exponent are supported",
                    "adjoint" => "write `transpose(A)`, and conjugate where its elements are used: `conj.(transpose(A))`",
                    "<" | "<=" | ">" | ">=" | "min" | "max" => "compare `abs2(z)`: complex numbers have no order",
                    _ => "compute it from `real(z)` and `imag(z)`",
                };
                base.primary(span, "applied to complex numbers here").with_help(help)
            }
            ComplexError::NotReal { span } => base
                .primary(span, "this is complex")
                .with_help("take `real(z)`, `imag(z)`, `abs2(z)` or `abs(z)` of it"),
            ComplexError::WholeArray { span } => base
                .primary(span, "this needs real numbers, or a single one")
                .with_help("say what is meant of each element, as in `maximum(abs2, C)`, or write the loop: `for i in eachindex(C)`"),
            ComplexError::TypeChanges { name, initial, first, assignment, then } => base
                .primary(assignment, format!("assigned {then} here"))
                .secondary(initial, format!("{first} since here"))
                .with_help(format!("start with a complex number: `{name} = zero(ComplexF64)`, or take `real(z)`")),
            ComplexError::TypeHere { ty, span } => base.primary(span, "a complex type").with_help(format!(
                "make complex numbers with `{ty}(x)`, `complex(a, b)` or `zero({ty})`, arrays of them with `zeros({ty}, n)`"
            )),
        }
    }
}
