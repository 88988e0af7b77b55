//! Opens `libtessella_cuda.so`, once for the whole process.

use super::abi::{self, Api};
use super::error::CudaError;
use super::location::folders_of_this_code;
use libloading::Library;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const FILE_NAME: &str = "libtessella_cuda.so";

/// The launcher's functions. The first call opens the library; a failure is tried again at the next call.
pub fn api() -> Result<&'static Api, CudaError> {
    static OPENED: OnceLock<&'static Api> = OnceLock::new();
    if let Some(api) = OPENED.get() {
        return Ok(api);
    }
    let api = open(&candidates())?;
    Ok(OPENED.get_or_init(|| api))
}

/// Turns a status into a result, with the launcher's words for a failure.
pub fn check(api: &Api, status: i32) -> Result<(), CudaError> {
    if status == abi::OK {
        return Ok(());
    }
    Err(CudaError::Driver {
        call: last_error(api, abi::ERROR_CALL),
        code: status,
        name: last_error(api, abi::ERROR_NAME),
        detail: last_error(api, abi::ERROR_DETAIL),
    })
}

/// Reads a text of the launcher, whatever its length: `write` is asked for the length, then for the bytes.
pub fn read_text(
    write: impl Fn(*mut std::ffi::c_char, usize) -> Result<usize, CudaError>,
) -> Result<String, CudaError> {
    let mut bytes = vec![0u8; write(std::ptr::null_mut(), 0)?];
    let length = write(bytes.as_mut_ptr().cast(), bytes.len())?;
    bytes.truncate(length);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn last_error(api: &Api, part: u32) -> String {
    // SAFETY: `read_text` gives as many writable bytes as it says.
    read_text(|text, capacity| Ok(unsafe { (api.last_error)(part, text, capacity) })).unwrap_or_default()
}

fn candidates() -> Vec<PathBuf> {
    match env::var_os("TESSELLA_CUDA_LIBRARY") {
        Some(path) => vec![PathBuf::from(path)],
        None => folders_of_this_code().into_iter().map(|folder| folder.join(FILE_NAME)).collect(),
    }
}

fn open(candidates: &[PathBuf]) -> Result<&'static Api, CudaError> {
    let Some(path) = candidates.iter().find(|path| path.exists()) else {
        return Err(CudaError::NoLauncher { looked: candidates.to_vec(), reason: "no such file".to_owned() });
    };
    // SAFETY: the library is the one that is built with this crate; nothing runs when it is loaded.
    let library = unsafe { Library::new(path) }.map_err(|error| failed_open(path, &error.to_string()))?;
    let not_ours = |error: libloading::Error| CudaError::NoLauncher {
        looked: vec![path.clone()],
        reason: format!("it is not the launcher: {error}"),
    };
    // SAFETY: the symbol has this type in every version of the launcher.
    let found = unsafe { library.get::<abi::VersionFn>(abi::VERSION_SYMBOL).map_err(not_ours)?() };
    if found != abi::VERSION {
        return Err(CudaError::WrongLauncher { path: path.clone(), found, expected: abi::VERSION });
    }
    // SAFETY: the symbol has this type in every version of the launcher; in this version the table has this layout,
    // and it is a constant of the library, which is never closed.
    let api = unsafe { &*library.get::<abi::ApiFn>(abi::API_SYMBOL).map_err(not_ours)?() };
    std::mem::forget(library);
    Ok(api)
}

/// The launcher exists and cannot be loaded: the usual reason is that the driver it links is not there.
fn failed_open(path: &Path, reason: &str) -> CudaError {
    if reason.contains("libcuda.so") {
        CudaError::NoDriver { reason: reason.to_owned() }
    } else {
        CudaError::NoLauncher { looked: vec![path.to_path_buf()], reason: reason.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_launcher_is_reported_with_the_places_that_were_tried() {
        let nowhere = PathBuf::from("/nowhere/libtessella_cuda.so");
        let error = open(std::slice::from_ref(&nowhere)).err().unwrap();
        let CudaError::NoLauncher { looked, .. } = &error else { panic!("{error}") };
        assert_eq!(*looked, [nowhere]);
        assert!(error.to_string().contains("/nowhere/libtessella_cuda.so"), "{error}");
    }

    #[test]
    fn a_file_that_is_no_library_is_reported_as_such() {
        let manifest = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        let error = open(&[manifest]).err().unwrap();
        assert!(matches!(error, CudaError::NoLauncher { .. }), "{error}");
    }

    #[test]
    fn without_a_driver_the_launcher_fails_to_open_and_says_so() {
        let Some(path) = candidates().into_iter().find(|path| path.exists()) else {
            println!("skipped: no {FILE_NAME} (./x build makes it)");
            return;
        };
        // SAFETY: the driver's library, if any; nothing of it is called.
        if unsafe { Library::new("libcuda.so.1") }.is_ok() {
            println!("skipped: this machine has a driver");
            return;
        }
        let error = open(&[path]).err().unwrap();
        assert!(matches!(error, CudaError::NoDriver { .. }), "{error}");
    }
}
