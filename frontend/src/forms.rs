//! How much of Julia a text may use.

/// The forms that the parser gives trees to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forms {
    /// What a function to compile may consist of; anything else is refused with a way out.
    Compilable,
    /// Also methods of objects (`(f::T)(x) = ...`), constructors with type parameters, parameters that are patterns
    /// (`f((a, b))`, `f(@nospecialize(x))`), `T[a b; c d]` and `for outer i`.
    All,
}
