//! What went wrong, kept for `last_error`; and the guard that turns results and panics into statuses.

use crate::abi;
use cust::error::CudaResult;
use cust::sys::CUresult;
use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

#[derive(Clone, Debug, Default)]
pub struct Failure {
    pub status: i32,
    /// The driver's function, or ours where the driver was not asked.
    pub call: &'static str,
    /// More than the status says, such as a compiler's log; or empty.
    pub log: String,
}

thread_local! {
    static LAST: RefCell<Failure> = RefCell::new(Failure::default());
}

/// Runs the body of an exported function: its failure or panic is remembered and becomes the status.
pub fn guarded(call: &'static str, body: impl FnOnce() -> Result<(), Failure>) -> i32 {
    // A panic leaves at most a handle unmade or unreleased behind, and the caller is told that it happened.
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return abi::OK,
        Ok(Err(failure)) => failure,
        Err(payload) => {
            let words = payload.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Failure { status: abi::PANICKED, call, log: words.to_owned() }
        }
    };
    let status = failure.status;
    LAST.with(|last| *last.borrow_mut() = failure);
    status
}

/// A part of this thread's last failure in words.
pub fn last_failure(part: u32) -> String {
    let failure = LAST.with(|last| last.borrow().clone());
    match part {
        abi::ERROR_CALL => failure.call.to_owned(),
        abi::ERROR_NAME => name(failure.status),
        _ if failure.log.is_empty() => description(failure.status),
        _ => format!("{}: {}", description(failure.status), failure.log),
    }
}

/// Names the driver's function that a result came from.
pub trait Named<T> {
    fn named(self, call: &'static str) -> Result<T, Failure>;
}

impl<T> Named<T> for CudaResult<T> {
    fn named(self, call: &'static str) -> Result<T, Failure> {
        self.map_err(|error| Failure { status: error as i32, call, log: String::new() })
    }
}

impl Named<()> for CUresult {
    fn named(self, call: &'static str) -> Result<(), Failure> {
        match self {
            CUresult::CUDA_SUCCESS => Ok(()),
            error => Err(Failure { status: error as i32, call, log: String::new() }),
        }
    }
}

fn name(status: i32) -> String {
    match status {
        abi::OK => "CUDA_SUCCESS".to_owned(),
        abi::INVALID_ARGUMENT => "INVALID_ARGUMENT".to_owned(),
        abi::PANICKED => "PANICKED".to_owned(),
        // SAFETY: the function only reads a constant table of the driver.
        _ => driver_text(status, |text| unsafe { cuGetErrorName(status, text) }),
    }
}

fn description(status: i32) -> String {
    match status {
        abi::OK => "no error".to_owned(),
        abi::INVALID_ARGUMENT => "a null pointer, or text that is not UTF-8".to_owned(),
        abi::PANICKED => "the launcher panicked".to_owned(),
        // SAFETY: the function only reads a constant table of the driver.
        _ => driver_text(status, |text| unsafe { cuGetErrorString(status, text) }),
    }
}

fn driver_text(status: i32, ask: impl FnOnce(*mut *const c_char) -> i32) -> String {
    let mut text = ptr::null();
    if ask(&mut text) != abi::OK || text.is_null() {
        return format!("status {status}");
    }
    // SAFETY: on success the driver stored a pointer to a text that ends with a nul and is never freed.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

// The driver is newer than cust's list of its errors, so a status stays a number here, never cust's enum.
unsafe extern "C" {
    fn cuGetErrorName(status: i32, text: *mut *const c_char) -> i32;
    fn cuGetErrorString(status: i32, text: *mut *const c_char) -> i32;
}
