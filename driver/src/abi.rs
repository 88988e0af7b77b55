//! The C interface, as `include/tessella.h` documents it: pointers in, pointers out, and no decisions.
//!
//! Compilation runs on a thread of its own: the caller's stack (a Julia task has 4 MiB) is no limit to it, nothing that
//! isl leaves on a thread outlives it, and a panic ends that thread alone.

pub mod memory;
pub mod tuning;
pub mod values;

use crate::request::{Backend, CompileRequest, CompileResult, Program, Status, TextKind};
use crate::session;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Mutex;

/// `TESSELLA_ABI_VERSION` of the header.
pub const VERSION: u32 = 5;

/// What a launch returns when there is nothing to launch, or when it panicked.
const FAILED: i32 = -4;

const STACK_BYTES: usize = 256 << 20;

/// What `tessella_program` points to.
pub struct Handle {
    result: CompileResult,
    texts: BTreeMap<TextKind, CString>,
    /// Every failure that was asked for. A `CString` keeps its address when the set grows.
    failures: Mutex<BTreeSet<CString>>,
    /// Kept for profiles, which count what the program has to do.
    request: Option<CompileRequest>,
    /// The last one.
    profile: Mutex<Option<CString>>,
}

#[unsafe(no_mangle)]
pub extern "C" fn tessella_abi_version() -> u32 {
    VERSION
}

/// # Safety
/// `request` is null or points to a text that ends with a nul.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_compile(request: *const c_char) -> *mut Handle {
    // SAFETY: promised by the caller.
    let request = unsafe { borrowed(request) }.map(CStr::to_owned);
    let mut kept = None;
    let result =
        match catch_unwind(|| parse(request.as_deref()).map(|request| (request.clone(), compile_apart(request)))) {
            Ok(Ok((request, result))) => {
                kept = (result.program.is_some() && request.target == Backend::Cuda).then_some(request);
                result
            }
            Ok(Err(reason)) => internal(&reason),
            Err(panic) => internal(&panic_text(&*panic)),
        };
    let texts = result.texts.iter().map(|(&kind, text)| (kind, c_string(text))).collect();
    let handle = Handle { result, texts, failures: Mutex::default(), request: kept, profile: Mutex::default() };
    Box::into_raw(Box::new(handle))
}

/// # Safety
/// `program` is null or came from `tessella_compile` and was not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_status(program: *const Handle) -> i32 {
    // SAFETY: promised by the caller.
    unsafe { program.as_ref() }.map_or(Status::Internal as i32, |program| program.result.status as i32)
}

/// # Safety
/// As for [`tessella_status`]; `name` is null or points to a text that ends with a nul.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_text(program: *const Handle, name: *const c_char) -> *const c_char {
    // SAFETY: promised by the caller.
    let (program, name) = unsafe { (program.as_ref(), borrowed(name)) };
    let kind = name.and_then(|name| name.to_str().ok()).and_then(TextKind::from_name);
    match (program, kind) {
        (Some(program), Some(kind)) => program.texts.get(&kind).map_or(ptr::null(), |text| text.as_ptr()),
        _ => ptr::null(),
    }
}

/// # Safety
/// As for [`tessella_status`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_entry(program: *const Handle) -> *mut c_void {
    // SAFETY: promised by the caller.
    let program = unsafe { program.as_ref() }.and_then(|program| program.result.program.as_ref());
    program.and_then(|program| program.entry()).map_or(ptr::null_mut(), |entry| entry.cast_mut())
}

/// # Safety
/// As for [`tessella_status`]; `arguments` points to one pointer for each parameter of the entry, each of them to a
/// value of the parameter's type. See [`Program::launch`](crate::request::Program::launch).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_launch(program: *const Handle, arguments: *const *mut c_void) -> i32 {
    // SAFETY: promised by the caller.
    unsafe { tessella_launch_mixed(program, arguments, ptr::null()) }
}

/// # Safety
/// As for [`tessella_launch`]; `on_device` is null or points to one byte for each parameter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_launch_mixed(
    program: *const Handle,
    arguments: *const *mut c_void,
    on_device: *const u8,
) -> i32 {
    // SAFETY: promised by the caller.
    let Some(program) = unsafe { program.as_ref() }.and_then(|program| program.result.program.as_ref()) else {
        return FAILED;
    };
    // SAFETY: promised by the caller.
    let Some((arguments, on_device)) = (unsafe { packed(&**program, arguments, on_device) }) else { return FAILED };
    // SAFETY: promised by the caller.
    let launch = AssertUnwindSafe(|| unsafe { program.launch_mixed(arguments, &on_device) });
    catch_unwind(launch).unwrap_or(FAILED)
}

/// The arguments of a launch; `None` if there are none and should be.
///
/// # Safety
/// As for [`tessella_launch_mixed`].
unsafe fn packed<'a>(
    program: &dyn Program,
    arguments: *const *mut c_void,
    on_device: *const u8,
) -> Option<(&'a [*mut c_void], Vec<bool>)> {
    let count = program.parameter_count();
    if count == 0 {
        return Some((&[], vec![]));
    }
    if arguments.is_null() {
        return None;
    }
    // SAFETY: promised by the caller.
    let arguments = unsafe { std::slice::from_raw_parts(arguments, count) };
    let flags = if on_device.is_null() {
        vec![]
    } else {
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts(on_device, count) }.iter().map(|&flag| flag != 0).collect()
    };
    Some((arguments, flags))
}

/// # Safety
/// As for [`tessella_launch_mixed`]; `code` is null or a place for the status; nobody uses what the last profile of this
/// program returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_profile(
    program: *const Handle,
    arguments: *const *mut c_void,
    on_device: *const u8,
    repeat: i32,
    code: *mut i32,
) -> *const c_char {
    // SAFETY: promised by the caller.
    let handle = unsafe { program.as_ref() };
    // SAFETY: promised by the caller.
    let measured = AssertUnwindSafe(|| unsafe { profile(handle, arguments, on_device, repeat) });
    let measured = catch_unwind(measured).unwrap_or(Err(FAILED));
    if !code.is_null() {
        // SAFETY: promised by the caller.
        unsafe { code.write(measured.as_ref().err().copied().unwrap_or(0)) };
    }
    let (Some(handle), Ok(text)) = (handle, measured) else { return ptr::null() };
    let mut kept = handle.profile.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    kept.insert(c_string(&text)).as_ptr()
}

/// # Safety
/// As for [`tessella_launch_mixed`].
unsafe fn profile(
    handle: Option<&Handle>,
    arguments: *const *mut c_void,
    on_device: *const u8,
    repeat: i32,
) -> Result<String, i32> {
    let handle = handle.ok_or(FAILED)?;
    let program = handle.result.program.as_ref().ok_or(FAILED)?;
    let request = handle.request.clone().ok_or(FAILED)?;
    // SAFETY: promised by the caller.
    let (arguments, on_device) = unsafe { packed(&**program, arguments, on_device) }.ok_or(FAILED)?;
    // SAFETY: promised by the caller.
    let measured = unsafe { program.profile(arguments, &on_device, u32::try_from(repeat).unwrap_or(1)) }?;
    let report = apart(move || session::report(&request, measured)).and_then(|report| report);
    match report {
        Ok(report) => Ok(format!("{}text={}", report.lines(), report.table())),
        Err(words) => Ok(format!("text={words}")),
    }
}

/// # Safety
/// As for [`tessella_status`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_failure(program: *const Handle, code: i32) -> *const c_char {
    // SAFETY: promised by the caller.
    let Some(handle) = (unsafe { program.as_ref() }) else { return ptr::null() };
    let Some(program) = handle.result.program.as_ref() else { return ptr::null() };
    let Ok(Some(failure)) = catch_unwind(AssertUnwindSafe(|| program.failure(code))) else { return ptr::null() };
    let text = c_string(&failure.to_string());
    let mut failures = handle.failures.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(known) = failures.get(&text) {
        return known.as_ptr();
    }
    let address = text.as_ptr();
    failures.insert(text);
    address
}

/// # Safety
/// As for [`tessella_status`]; nobody uses the program, its texts or its code any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_release(program: *mut Handle) {
    if program.is_null() {
        return;
    }
    // SAFETY: promised by the caller; it was made by `Box::into_raw`.
    let program = unsafe { Box::from_raw(program) };
    // A panic while unloading has nobody to go to.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(program)));
}

/// # Safety
/// `text` is null or points to a text that ends with a nul and lives for `'a`.
unsafe fn borrowed<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: promised by the caller.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

fn parse(request: Option<&CStr>) -> Result<CompileRequest, String> {
    let text = request.ok_or("the request is a null pointer")?;
    let text = text.to_str().map_err(|error| format!("the request is not UTF-8: {error}"))?;
    serde_json::from_str(text).map_err(|error| format!("the request is malformed: {error}"))
}

fn compile_apart(request: CompileRequest) -> CompileResult {
    apart(move || session::compile(request)).unwrap_or_else(|reason| internal(&reason))
}

/// Runs `work` on a thread of its own; the error says why it did not come to its end.
fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    let thread = std::thread::Builder::new().name("tessella".into()).stack_size(STACK_BYTES);
    match thread.spawn(work) {
        Ok(running) => running.join().map_err(|panic| panic_text(&*panic)),
        Err(error) => Err(format!("no thread to work on: {error}")),
    }
}

fn internal(reason: &str) -> CompileResult {
    let text = format!("error: internal error of Tessella: {reason}\n");
    CompileResult { status: Status::Internal, texts: BTreeMap::from([(TextKind::Diagnostics, text)]), program: None }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without words").to_owned()
}

/// The text with nuls, which C cannot have inside, replaced.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).expect("all nuls were replaced")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(program: *const Handle, name: &CStr) -> Option<String> {
        let text = unsafe { borrowed(tessella_text(program, name.as_ptr())) };
        text.map(|text| text.to_str().unwrap().to_owned())
    }

    fn refusal(request: *const c_char) -> String {
        let program = unsafe { tessella_compile(request) };
        assert_eq!(unsafe { tessella_status(program) }, Status::Internal as i32);
        assert!(unsafe { tessella_entry(program) }.is_null());
        assert_eq!(unsafe { tessella_launch(program, ptr::null()) }, FAILED);
        assert!(unsafe { tessella_failure(program, FAILED) }.is_null());
        let mut code = 0;
        assert!(unsafe { tessella_profile(program, ptr::null(), ptr::null(), 1, &mut code) }.is_null());
        assert_eq!(code, FAILED);
        let text = text(program, c"diagnostics").unwrap();
        unsafe { tessella_release(program) };
        text
    }

    #[test]
    fn a_request_that_is_none_is_an_internal_error() {
        assert_eq!(refusal(ptr::null()), "error: internal error of Tessella: the request is a null pointer\n");
        assert!(refusal(c"\xff".as_ptr()).contains("not UTF-8"));
        assert!(refusal(c"{}".as_ptr()).contains("missing field `source`"));
    }

    #[test]
    fn null_programs_are_harmless() {
        unsafe {
            assert_eq!(tessella_status(ptr::null()), Status::Internal as i32);
            assert!(tessella_text(ptr::null(), c"c".as_ptr()).is_null());
            assert!(tessella_entry(ptr::null()).is_null());
            tessella_release(ptr::null_mut());
        }
    }

    #[test]
    fn texts_have_no_nul_inside() {
        assert_eq!(c_string("a\0b").to_str().unwrap(), "a\u{fffd}b");
    }

    #[test]
    fn the_header_states_this_version() {
        assert!(include_str!("../include/tessella.h").contains(&format!("#define TESSELLA_ABI_VERSION {VERSION}u")));
    }
}
