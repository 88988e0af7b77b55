//! The interpreter behind the interface of programs.

use super::failures::{remember, remembered};
use crate::abi::values;
use crate::request::{Failure, Program};
use crate::results;
use std::cell::RefCell;
use std::ffi::c_void;
use tessella_frontend::typed::tree;
use tessella_interpreter as interpreter;
use tessella_polyhedral::algorithm::SizeError;

/// The interpreter behind the interface of compiled code.
pub(super) struct Interpreted {
    pub(super) function: tree::Function,
    pub(super) types: Vec<tree::Type>,
}

thread_local! {
    /// What Julia would raise for it, if that is known.
    static FAULT: RefCell<Option<SizeError>> = const { RefCell::new(None) };
}

/// Julia's exception for an error of the interpreter.
fn fault_of(error: &interpreter::RunError) -> Option<SizeError> {
    match error {
        interpreter::RunError::Bounds { .. } => Some(SizeError::Bounds),
        interpreter::RunError::Size { error, .. } => Some(match error {
            tree::SizeError::Mismatch => SizeError::Mismatch,
            tree::SizeError::Argument => SizeError::Argument,
            tree::SizeError::Bounds => SizeError::Bounds,
            tree::SizeError::Inexact => SizeError::Inexact,
            tree::SizeError::Divide => SizeError::Divide,
            tree::SizeError::Thrown => SizeError::Thrown,
        }),
        _ => None,
    }
}

impl Program for Interpreted {
    fn entry(&self) -> Option<*const c_void> {
        None
    }

    fn parameter_count(&self) -> usize {
        let results = results::types(&self.function);
        let arrays = results.iter().any(|ty| matches!(ty, tree::Type::Array { .. }));
        self.types.iter().map(values::pointers_of).sum::<usize>() + results.len() + usize::from(arrays)
    }

    unsafe fn launch(&self, arguments: &[*mut c_void]) -> i32 {
        // SAFETY: promised by the caller.
        let done = unsafe { values::read(&self.types, arguments) }.and_then(|mut values: Vec<interpreter::Value>| {
            let result = interpreter::run(&self.function, &mut values).map_err(|error| {
                FAULT.with(|fault| *fault.borrow_mut() = fault_of(&error));
                error.to_string()
            })?;
            Ok((values, result))
        });
        match done {
            Ok((values, result)) => {
                let results = results::filled(&self.function, &result);
                // SAFETY: promised by the caller; the values came from `read`, the results are the function's.
                unsafe { values::write(&self.types, &values, &results, arguments) };
                0
            }
            Err(text) => {
                remember(text);
                -4
            }
        }
    }

    fn failure(&self, code: i32) -> Option<Failure> {
        let fault = FAULT.with(|fault| fault.borrow_mut().take());
        (code == -4).then(|| match fault {
            Some(error) => Failure::Size { check: 0, error, text: remembered() },
            None => Failure::Cuda { text: remembered() },
        })
    }
}
