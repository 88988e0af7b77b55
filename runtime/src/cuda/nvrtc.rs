//! NVRTC, the CUDA compiler as a library: CUDA C++ in, PTX or machine code out. It needs no GPU and no driver.

use super::error::CudaError;
use super::location::folders_of_this_code;
use libloading::Library;
use std::env;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;

/// What to compile for. Both are compute capabilities, as 10 * major + minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Machine code for GPUs of this very capability (and of later ones with the same major number).
    Cubin(u32),
    /// Portable code that a driver at least as new as NVRTC compiles for any GPU of this capability or more.
    Ptx(u32),
}

/// A compiled program, as `Gpu::load` takes it.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub image: Vec<u8>,
    /// The compiler's warnings; mostly empty.
    pub log: String,
}

/// An open NVRTC.
pub struct Nvrtc {
    path: PathBuf,
    functions: Functions,
}

impl Nvrtc {
    /// NVRTC, opened once for the whole process; a failure is tried again at the next call.
    ///
    /// It is the library that `TESSELLA_NVRTC` names (itself, or its folder); if that is not set, one found in the CUDA
    /// toolkit (`CUDA_HOME`, `CUDA_PATH`, the usual folders), in an active Python environment, in `.tools/` above this
    /// library, or by the system's loader.
    pub fn get() -> Result<&'static Nvrtc, CudaError> {
        static OPENED: OnceLock<Nvrtc> = OnceLock::new();
        if let Some(nvrtc) = OPENED.get() {
            return Ok(nvrtc);
        }
        let nvrtc = open(&candidates())?;
        Ok(OPENED.get_or_init(|| nvrtc))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Major and minor version.
    pub fn version(&self) -> (i32, i32) {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both places outlive the call.
        unsafe { (self.functions.version)(&mut major, &mut minor) };
        (major, minor)
    }

    /// The compute capabilities that this NVRTC compiles for, in rising order.
    pub fn capabilities(&self) -> Vec<u32> {
        let mut count = 0;
        // SAFETY: the place outlives the call.
        if unsafe { (self.functions.capability_count)(&mut count) } != SUCCESS {
            return Vec::new();
        }
        let mut found: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the array has room for as many numbers as NVRTC said it will write.
        if unsafe { (self.functions.capabilities)(found.as_mut_ptr()) } != SUCCESS {
            return Vec::new();
        }
        let mut found: Vec<u32> = found.into_iter().filter_map(|capability| u32::try_from(capability).ok()).collect();
        found.sort_unstable();
        found
    }

    /// The best target for a GPU: its machine code where this NVRTC knows it, else PTX that its driver can finish.
    pub fn target_for(&self, capability: u32) -> Target {
        let known = self.capabilities();
        match known.iter().rev().find(|&&known| known <= capability) {
            Some(&best) if best < capability => Target::Ptx(best),
            Some(_) | None => Target::Cubin(capability),
        }
    }

    /// Compiles one program. `name` stands for its file in messages. Of `options`, the target is not one.
    pub fn compile(&self, text: &str, name: &str, target: Target, options: &[&str]) -> Result<Compiled, CudaError> {
        let failed = |status: String, log: String| CudaError::Nvrtc { program: name.to_owned(), status, log };
        let c_string = |text: &str| {
            CString::new(text).map_err(|_| failed("invalid input".to_owned(), "a nul inside a text".to_owned()))
        };

        let program = Program::new(&self.functions, &c_string(text)?, &c_string(name)?)
            .map_err(|status| failed(self.describe(status), String::new()))?;
        let architecture = match target {
            Target::Cubin(capability) => format!("--gpu-architecture=sm_{capability}"),
            Target::Ptx(capability) => format!("--gpu-architecture=compute_{capability}"),
        };
        let options = [&[architecture.as_str()], options].concat();
        let options = options.into_iter().map(c_string).collect::<Result<Vec<_>, _>>()?;
        let status = program.compile(&options);
        let log = program.log();
        if status != SUCCESS {
            return Err(failed(self.describe(status), log));
        }
        let (size_of, write) = match target {
            Target::Cubin(_) => (self.functions.cubin_size, self.functions.cubin),
            Target::Ptx(_) => (self.functions.ptx_size, self.functions.ptx),
        };
        let image = program.read(size_of, write).map_err(|status| failed(self.describe(status), log.clone()))?;
        Ok(Compiled { image, log })
    }

    fn describe(&self, status: Status) -> String {
        // SAFETY: any number may be asked about.
        let text = unsafe { (self.functions.error_string)(status) };
        if text.is_null() {
            return format!("status {status}");
        }
        // SAFETY: NVRTC returns a constant text that ends with a nul.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

// --- finding it ------------------------------------------------------------------------------------------------------

const FILE_NAMES: [&str; 3] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];

/// Paths to try in turn; a bare file name is left to the system's loader.
fn candidates() -> Vec<PathBuf> {
    if let Some(named) = env::var_os("TESSELLA_NVRTC").filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        return if named.is_dir() { libraries_in(&named) } else { vec![named] };
    }
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from);
    let toolkits = toolkits.chain(["/usr/local/cuda", "/opt/cuda"].map(PathBuf::from));
    let mut folders: Vec<PathBuf> = toolkits.map(|toolkit| toolkit.join("lib64")).collect();
    for environment in ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(env::var_os) {
        folders.extend(python_folders(Path::new(&environment)));
    }
    for folder in folders_of_this_code() {
        folders.extend(folder.ancestors().map(|above| above.join(".tools/nvrtc/lib")).find(|tools| tools.is_dir()));
    }
    folders.dedup();
    let mut found: Vec<PathBuf> = folders.iter().flat_map(|folder| libraries_in(folder)).collect();
    found.extend(FILE_NAMES.map(PathBuf::from));
    found
}

fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    FILE_NAMES.iter().map(|name| folder.join(name)).collect()
}

/// The folders in which Python packages of NVIDIA keep libraries: `lib/python3.*/site-packages/nvidia/*/lib`.
fn python_folders(environment: &Path) -> Vec<PathBuf> {
    let below = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = below(environment.join("lib"))
        .flat_map(|python| below(python.join("site-packages/nvidia")))
        .map(|package| package.join("lib"))
        .collect();
    folders.sort();
    folders
}

fn open(candidates: &[PathBuf]) -> Result<Nvrtc, CudaError> {
    for path in candidates {
        let left_to_loader = path.components().count() == 1;
        if !left_to_loader && !path.exists() {
            continue;
        }
        load_builtins_beside(path);
        // SAFETY: the file is named as NVRTC's; loading NVRTC has no effect that matters here.
        let Ok(library) = (unsafe { Library::new(path) }) else { continue };
        let Ok(functions) = Functions::of(&library) else { continue };
        // The functions are used for as long as the process lives.
        std::mem::forget(library);
        return Ok(Nvrtc { path: path.clone(), functions });
    }
    Err(CudaError::NoNvrtc { looked: candidates.to_vec() })
}

/// NVRTC opens `libnvrtc-builtins.so.VERSION` by its bare name, which the loader finds in no private folder. Loaded
/// beforehand, by its path, the library answers to that name.
fn load_builtins_beside(nvrtc: &Path) {
    let Some(folder) = nvrtc.canonicalize().ok().and_then(|file| Some(file.parent()?.to_path_buf())) else { return };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("libnvrtc-builtins.so") {
            // SAFETY: the file is named as a part of NVRTC's; loading it has no effect that matters here.
            if let Ok(library) = unsafe { Library::new(entry.path()) } {
                std::mem::forget(library);
            }
        }
    }
}

// --- its C interface -------------------------------------------------------------------------------------------------

type Status = c_int;
const SUCCESS: Status = 0;
type Handle = *mut c_void;
type SizeFn = unsafe extern "C" fn(Handle, *mut usize) -> Status;
type WriteFn = unsafe extern "C" fn(Handle, *mut c_char) -> Status;

struct Functions {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status,
    error_string: unsafe extern "C" fn(Status) -> *const c_char,
    capability_count: unsafe extern "C" fn(*mut c_int) -> Status,
    capabilities: unsafe extern "C" fn(*mut c_int) -> Status,
    create: unsafe extern "C" fn(
        *mut Handle,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Status,
    destroy: unsafe extern "C" fn(*mut Handle) -> Status,
    compile: unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> Status,
    log_size: SizeFn,
    log: WriteFn,
    ptx_size: SizeFn,
    ptx: WriteFn,
    cubin_size: SizeFn,
    cubin: WriteFn,
}

impl Functions {
    fn of(library: &Library) -> Result<Functions, libloading::Error> {
        // SAFETY: the types are those of nvrtc.h, in CUDA 11.2 and later.
        unsafe {
            Ok(Functions {
                version: *library.get(b"nvrtcVersion\0")?,
                error_string: *library.get(b"nvrtcGetErrorString\0")?,
                capability_count: *library.get(b"nvrtcGetNumSupportedArchs\0")?,
                capabilities: *library.get(b"nvrtcGetSupportedArchs\0")?,
                create: *library.get(b"nvrtcCreateProgram\0")?,
                destroy: *library.get(b"nvrtcDestroyProgram\0")?,
                compile: *library.get(b"nvrtcCompileProgram\0")?,
                log_size: *library.get(b"nvrtcGetProgramLogSize\0")?,
                log: *library.get(b"nvrtcGetProgramLog\0")?,
                ptx_size: *library.get(b"nvrtcGetPTXSize\0")?,
                ptx: *library.get(b"nvrtcGetPTX\0")?,
                cubin_size: *library.get(b"nvrtcGetCUBINSize\0")?,
                cubin: *library.get(b"nvrtcGetCUBIN\0")?,
            })
        }
    }
}

/// A program inside NVRTC.
struct Program<'a> {
    functions: &'a Functions,
    handle: Handle,
}

impl<'a> Program<'a> {
    fn new(functions: &'a Functions, text: &CStr, name: &CStr) -> Result<Program<'a>, Status> {
        let mut handle = ptr::null_mut();
        // SAFETY: both texts end with a nul and are copied; there are no headers, so their arrays may be null.
        let status =
            unsafe { (functions.create)(&mut handle, text.as_ptr(), name.as_ptr(), 0, ptr::null(), ptr::null()) };
        if status == SUCCESS { Ok(Program { functions, handle }) } else { Err(status) }
    }

    fn compile(&self, options: &[CString]) -> Status {
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(options.len()).expect("a command line has fewer than 2^31 options");
        // SAFETY: the program is alive, and the array has as many texts as said.
        unsafe { (self.functions.compile)(self.handle, count, options.as_ptr()) }
    }

    fn log(&self) -> String {
        let mut log = self.read(self.functions.log_size, self.functions.log).unwrap_or_default();
        log.truncate(log.iter().position(|&byte| byte == 0).unwrap_or(log.len()));
        String::from_utf8_lossy(&log).trim_end().to_owned()
    }

    fn read(&self, size_of: SizeFn, write: WriteFn) -> Result<Vec<u8>, Status> {
        let mut size = 0;
        // SAFETY: the program is alive, and the place outlives the call.
        match unsafe { size_of(self.handle, &mut size) } {
            SUCCESS => {}
            status => return Err(status),
        }
        let mut bytes = vec![0u8; size];
        // SAFETY: the program is alive, and there is room for as many bytes as it said it will write.
        match unsafe { write(self.handle, bytes.as_mut_ptr().cast()) } {
            SUCCESS => Ok(bytes),
            status => Err(status),
        }
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the program is alive, and this is its last use.
        unsafe { (self.functions.destroy)(&mut self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "extern \"C\" __global__ void axpy(double a, const double *x, double *y, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
";

    fn nvrtc() -> Option<&'static Nvrtc> {
        match Nvrtc::get() {
            Ok(nvrtc) => Some(nvrtc),
            Err(_) => {
                println!("skipped: no NVRTC (TESSELLA_NVRTC)");
                None
            }
        }
    }

    #[test]
    fn compiles_a_kernel_to_ptx_without_contraction() {
        let Some(nvrtc) = nvrtc() else { return };
        let compiled = nvrtc.compile(KERNEL, "axpy.cu", Target::Ptx(90), &["-fmad=false"]).unwrap();
        let ptx = String::from_utf8_lossy(&compiled.image);
        assert!(ptx.contains(".entry axpy"), "{ptx}");
        assert!(ptx.contains("mul.rn.f64") && ptx.contains("add.rn.f64") && !ptx.contains("fma.rn.f64"), "{ptx}");
    }

    #[test]
    fn compiles_a_kernel_to_machine_code_for_every_capability_it_knows() {
        let Some(nvrtc) = nvrtc() else { return };
        let capabilities = nvrtc.capabilities();
        assert!(capabilities.contains(&90), "{capabilities:?}");
        for capability in capabilities {
            let compiled = nvrtc.compile(KERNEL, "axpy.cu", Target::Cubin(capability), &["-fmad=false"]).unwrap();
            assert_eq!(&compiled.image[..4], b"\x7fELF", "capability {capability}");
        }
    }

    #[test]
    fn targets_machine_code_where_it_can() {
        let Some(nvrtc) = nvrtc() else { return };
        assert_eq!(nvrtc.target_for(90), Target::Cubin(90));
        let newest = *nvrtc.capabilities().last().unwrap();
        assert_eq!(nvrtc.target_for(newest + 100), Target::Ptx(newest));
    }

    #[test]
    fn an_error_in_a_kernel_comes_with_its_line() {
        let Some(nvrtc) = nvrtc() else { return };
        let wrong = "__global__ void f() {\n    undeclared = 1;\n}\n";
        let error = nvrtc.compile(wrong, "wrong.cu", Target::Cubin(90), &[]).unwrap_err();
        let CudaError::Nvrtc { program, log, .. } = error else { panic!("{error}") };
        assert_eq!(program, "wrong.cu");
        assert!(log.contains("wrong.cu(2)") && log.contains("undeclared"), "{log}");
    }

    #[test]
    fn a_missing_nvrtc_is_reported_with_the_places_that_were_tried() {
        let nowhere = PathBuf::from("/nowhere/libnvrtc.so.13");
        let error = open(std::slice::from_ref(&nowhere)).err().unwrap();
        let CudaError::NoNvrtc { looked } = &error else { panic!("{error}") };
        assert_eq!(*looked, [nowhere]);
        assert!(error.to_string().contains("TESSELLA_NVRTC"), "{error}");
    }
}
