//! Compiled code in memory.
//!
//! Opening libraries and calling into them is why `unsafe` is allowed in this module.

use crate::call::{ArgumentValue, ParamType, packed_name, with_pointers};
use crate::error::RuntimeError;
use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{c_int, c_void};
use std::path::Path;

type PackedEntry = unsafe extern "C" fn(*const *mut c_void) -> i32;

/// A C entry, and the library that it lives in.
#[derive(Debug)]
pub struct LoadedFunction {
    entry: *const c_void,
    packed: PackedEntry,
    parameters: Vec<ParamType>,
    /// Keeps the code in memory.
    _library: Library,
}

// SAFETY: the addresses are of code, which nobody writes; the entry may be called by several threads at once.
unsafe impl Send for LoadedFunction {}
// SAFETY: as above.
unsafe impl Sync for LoadedFunction {}

impl LoadedFunction {
    /// Loads a library that was compiled from text of [`with_packed_entry`](crate::call::with_packed_entry) with the
    /// same entry and parameters.
    ///
    /// # Safety
    /// The library is such a one.
    pub unsafe fn open(path: &Path, entry: &str, parameters: &[ParamType]) -> Result<LoadedFunction, RuntimeError> {
        let failed = |error: libloading::Error| RuntimeError::Load { path: path.to_owned(), reason: reason(&error) };
        // SAFETY: generated code runs nothing when it is loaded.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(failed)?;
        keep_openmp();
        // SAFETY: the address is only handed out; the caller of it knows its type.
        let entry_address = unsafe { library.get::<*const c_void>(entry.as_bytes()) }.map_err(failed)?.into_raw();
        // SAFETY: `with_packed_entry` gave the function this type.
        let packed = unsafe { library.get::<PackedEntry>(packed_name(entry).as_bytes()) }.map_err(failed)?;
        Ok(LoadedFunction {
            entry: entry_address.cast_const(),
            packed: *packed,
            parameters: parameters.to_vec(),
            _library: library,
        })
    }

    /// The address of the entry; valid for as long as this lives.
    pub fn address(&self) -> *const c_void {
        self.entry
    }

    pub fn parameters(&self) -> &[ParamType] {
        &self.parameters
    }

    /// Calls the entry; `arguments[k]` points to the value of parameter `k`.
    ///
    /// # Safety
    /// There is one argument for each parameter; each points to a value of its parameter's type; what is passed is
    /// what the entry's own text asks for (arrays as large as their extents say, written by nobody else meanwhile).
    pub unsafe fn call_packed(&self, arguments: &[*mut c_void]) -> i32 {
        debug_assert_eq!(arguments.len(), self.parameters.len());
        // SAFETY: promised by the caller.
        unsafe { (self.packed)(arguments.as_ptr()) }
    }

    /// Calls the entry with values, whose number and types are checked.
    ///
    /// # Safety
    /// Pointers are to what the entry's own text asks for.
    pub unsafe fn call(&self, arguments: &[ArgumentValue]) -> Result<i32, RuntimeError> {
        if arguments.len() != self.parameters.len() {
            return Err(RuntimeError::ArgumentCount { expected: self.parameters.len(), found: arguments.len() });
        }
        for (position, (argument, &expected)) in arguments.iter().zip(&self.parameters).enumerate() {
            if !argument.fits(expected) {
                return Err(RuntimeError::ArgumentType { position, expected, found: argument.kind() });
            }
        }
        // SAFETY: number and types were checked; the rest is promised by the caller.
        Ok(with_pointers(arguments, |pointers| unsafe { self.call_packed(pointers) }))
    }
}

/// Keeps the OpenMP library in memory for good: its threads go on waiting for work when the code that brought it is
/// gone, and must not find their own code unloaded.
fn keep_openmp() {
    // The values of Linux, for every processor and C library that Rust supports there except MIPS.
    const RTLD_NOLOAD: c_int = 0x4;
    const RTLD_NODELETE: c_int = 0x1000;
    if !cfg!(target_os = "linux") {
        return;
    }
    for name in ["libgomp.so.1", "libomp.so", "libomp.so.5", "libiomp5.so"] {
        // SAFETY: with these flags nothing is loaded that is not there already.
        if let Ok(library) = unsafe { Library::open(Some(name), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) } {
            std::mem::forget(library);
        }
    }
}

/// The loader's own words.
fn reason(error: &libloading::Error) -> String {
    let words = error.to_string();
    match std::error::Error::source(error) {
        Some(cause) => format!("{words}: {cause}"),
        None => words,
    }
}
