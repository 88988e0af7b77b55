//! What no generated program may do.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduledError {
    #[error("`{computation}` reaches {index} on axis {axis} of the buffer `{buffer}`, outside 0 to {extent} - 1")]
    OutsideBuffer { computation: String, buffer: String, axis: usize, index: i64, extent: i64 },
    #[error("`{computation}` reads an element of the buffer `{buffer}` that nothing stored")]
    Undefined { computation: String, buffer: String },
    #[error("an element of the buffer `{buffer}` that nothing stored reaches the caller")]
    UndefinedResult { buffer: String },
    #[error("two iterations in no order reach one element of the buffer `{buffer}`; `{computation}` is the second")]
    Race { computation: String, buffer: String },
    #[error("the buffer `{buffer}` does not exist here")]
    NoBuffer { buffer: String },
    #[error("`{computation}` needs an iterator that the program does not give it")]
    NoIterator { computation: String },
    #[error("an integer expression has no value: {reason}")]
    NoValue { reason: &'static str },
    #[error("`{computation}` evaluates an operator that has no result")]
    NoResult { computation: String },
    #[error("`{computation}` stores a value of another type than its array's")]
    StoredType { computation: String },
    #[error("the kernel `{kernel}` has fewer blocks or threads along an axis than the loop `{name}` has iterations")]
    Uncovered { kernel: String, name: String },
    #[error("a thread of the kernel `{kernel}` passes the end of the loop `{name}`, which has no guard")]
    Unguarded { kernel: String, name: String },
    #[error("some threads of a block of the kernel `{kernel}` wait at a barrier that others never reach")]
    Divergent { kernel: String },
    #[error("the program has {what} where it cannot be")]
    Misplaced { what: &'static str },
    #[error("the arguments are not those of the function")]
    Arguments,
    /// A test in the run failed: how the program ends, not a mistake of its.
    #[error("a subscript or a value failed that could only be tested on the way")]
    FailedLater,
    /// Of an expression; not reported unless its value is stored.
    #[error("an operand is not known")]
    UnknownOperand,
}
