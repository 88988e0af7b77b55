//! What can go wrong inside isl, as a value.

use thiserror::Error;

/// Why isl gave no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IslErrorKind {
    /// The context's operation limit was reached; see [`super::Ctx::set_max_operations`].
    Quota,
    /// An argument broke a precondition: spaces that differ, a position out of range, two contexts mixed.
    Invalid,
    /// isl knows the question and does not answer it.
    Unsupported,
    /// A broken promise inside isl.
    Internal,
    /// Memory ran out.
    Memory,
    /// The time of [`super::Ctx::with_deadline`] is over.
    Aborted,
    /// isl named no reason.
    Unknown,
}

/// An isl function failed; the context is already usable again (after `reset_operations`, where the quota was reached).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("isl: {message}")]
pub struct IslError {
    /// The reason's kind.
    pub kind: IslErrorKind,
    /// isl's own words.
    pub message: String,
}

impl IslError {
    /// Whether the operation limit was the reason, or the time.
    pub fn is_quota(&self) -> bool {
        matches!(self.kind, IslErrorKind::Quota | IslErrorKind::Aborted)
    }

    /// Whether isl broke a promise of its own: neither the argument nor a limit is the reason.
    pub(crate) fn is_broken(&self) -> bool {
        match self.kind {
            IslErrorKind::Internal | IslErrorKind::Unknown => true,
            IslErrorKind::Quota
            | IslErrorKind::Invalid
            | IslErrorKind::Unsupported
            | IslErrorKind::Memory
            | IslErrorKind::Aborted => false,
        }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self { kind: IslErrorKind::Invalid, message: message.into() }
    }
}
