//! Where this code was loaded from, to find what was installed with it.

use std::env;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The folders in which a library that belongs to us may lie: beside the library or program that this code is in,
/// beside the program that runs, and above either (cargo puts tests into a folder below).
pub fn folders_of_this_code() -> Vec<PathBuf> {
    let files = [this_library(), env::current_exe().ok()];
    let mut folders = Vec::new();
    for file in files.into_iter().flatten().filter_map(|file| file.canonicalize().ok()) {
        for folder in file.ancestors().skip(1).take(2) {
            if !folders.iter().any(|known| known == folder) {
                folders.push(folder.to_path_buf());
            }
        }
    }
    folders
}

/// The file that this very code was loaded from.
fn this_library() -> Option<PathBuf> {
    let mut found =
        Place { file: std::ptr::null(), _base: std::ptr::null(), _symbol: std::ptr::null(), _at: std::ptr::null() };
    // SAFETY: the address is that of a function of this library, and `found` has the layout of C's `Dl_info`.
    let status = unsafe { dladdr(this_library as *const c_void, &mut found) };
    if status == 0 || found.file.is_null() {
        return None;
    }
    // SAFETY: on success `file` is a text that ends with a nul and lasts as long as the library is loaded.
    let file = unsafe { CStr::from_ptr(found.file) };
    Some(PathBuf::from(OsStr::from_bytes(file.to_bytes())))
}

/// C's `Dl_info`.
#[repr(C)]
struct Place {
    file: *const c_char,
    _base: *const c_void,
    _symbol: *const c_char,
    _at: *const c_void,
}

unsafe extern "C" {
    fn dladdr(address: *const c_void, place: *mut Place) -> c_int;
}
