//! What can go wrong while a function runs.

use tessella_diagnostics::{Code, Diagnostic, IntoDiagnostic, Span};
use tessella_frontend::typed::tree::SizeError;
use tessella_scalar::ScalarType;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    #[error("`{function}` takes {expected} arguments, but {given} are given")]
    ArgumentCount { function: String, expected: usize, given: usize, span: Span },
    #[error("argument `{name}` is {found}, but the function was checked for {expected}")]
    ArgumentType { name: String, expected: String, found: String, span: Span },
    /// Julia's `BoundsError`. `axis` counts from 1, as in the source.
    #[error("subscript {axis} of `{array}` is {subscript}, outside 1 to {extent}")]
    Bounds { array: String, axis: u32, subscript: i64, extent: u64, span: Span },
    /// What Julia raises where sizes or values do not fit.
    #[error("{text}")]
    Size { error: SizeError, text: String, span: Span },
    /// An element of a local array that nothing has been stored into; Julia would give whatever lies in memory.
    #[error("an element of `{array}` is read before it has a value")]
    Undefined { array: String, span: Span },
    /// A local array that does not fit into memory.
    #[error("`{array}` is too large")]
    TooLarge { array: String, span: Span },
    /// Julia's `DivideError`.
    #[error("integer division of {dividend} by {divisor} has no result")]
    Divide { dividend: i128, divisor: i128, span: Span },
    /// `unsafe_trunc` of a float that does not fit, whose result Julia leaves open.
    #[error("{value} does not fit `{to}`, and its truncation is not defined")]
    Unspecified { value: String, to: ScalarType, span: Span },
    /// A variable without a value: the typed tree is wrong.
    #[error("`{name}` is read before it has a value")]
    Unassigned { name: String, span: Span },
    /// An operator that the operands' type does not have: the typed tree is wrong.
    #[error("`{operator}` is not defined for `{ty}`")]
    IllTyped { operator: String, ty: ScalarType, span: Span },
    #[error("stopped after {steps} steps")]
    OutOfSteps { steps: u64, span: Span },
}

impl RunError {
    pub fn code(&self) -> Code {
        Code(match self {
            RunError::ArgumentCount { .. } => "E0751",
            RunError::ArgumentType { .. } => "E0752",
            RunError::Bounds { .. } => "E0753",
            RunError::Divide { .. } => "E0754",
            RunError::Unspecified { .. } => "E0755",
            RunError::Unassigned { .. } | RunError::IllTyped { .. } => "E0756",
            RunError::OutOfSteps { .. } => "E0757",
            RunError::Size { .. } => "E0758",
            RunError::Undefined { .. } => "E0759",
            RunError::TooLarge { .. } => "E0760",
        })
    }
}

impl IntoDiagnostic for RunError {
    fn into_diagnostic(self) -> Diagnostic {
        let base = Diagnostic::error(self.code(), self.to_string());
        match self {
            RunError::ArgumentCount { span, expected, .. } => {
                base.primary(span, format!("{expected} parameters")).with_help("pass one value for each parameter")
            }
            RunError::ArgumentType { span, expected, .. } => {
                base.primary(span, "this parameter").with_help(format!("pass {expected}"))
            }
            RunError::Bounds { span, array, axis, .. } => base
                .primary(span, "outside the array")
                .with_help(format!("keep the loops within `axes({array}, {axis})`")),
            RunError::Divide { span, .. } => {
                base.primary(span, "divided here").with_help("keep the divisor away from zero")
            }
            RunError::Unspecified { span, .. } => {
                base.primary(span, "truncated here").with_help("`clamp` the value to the type's range first")
            }
            RunError::Unassigned { span, .. } | RunError::IllTyped { span, .. } => {
                base.primary(span, "here").with_help("report this function: it is a mistake of Tessella's")
            }
            RunError::Size { span, error, .. } => base.primary(
                span,
                match error {
                    SizeError::Mismatch => "these sizes differ",
                    SizeError::Argument => "not with these sizes",
                    SizeError::Bounds => "outside the array",
                    SizeError::Inexact => "converted here",
                    SizeError::Divide => "divided here",
                    SizeError::Thrown => "thrown here",
                },
            ),
            RunError::Undefined { span, array } => base
                .primary(span, "read here")
                .with_help(format!("fill `{array}` first, for example with `zeros` in place of `undef`")),
            RunError::TooLarge { span, .. } => base.primary(span, "made here").with_help("use smaller sizes"),
            RunError::OutOfSteps { span, .. } => {
                base.primary(span, "still running here").with_help("use smaller sizes")
            }
        }
    }
}
