//! C in memory behind the interface of programs.

use super::failures::Failures;
use super::{Failed, refused, tool_chain};
use crate::request::{Failure, Program};
use crate::unit::{Built, Unit};
use std::ffi::c_void;
use tessella_diagnostics::IntoDiagnostic;
use tessella_polyhedral::print;
use tessella_polyhedral::verify::Verified;
use tessella_runtime::call::{ParamType, entry_parameters};
use tessella_runtime::{CSource, Cache, Compiler, LoadedFunction};

/// Compiles a C text and loads it.
pub(super) fn load_c(verified: &Verified, source: &tessella_c_backend::CSource) -> Result<LoadedFunction, Failed> {
    let input = tessella_codegen::Input::from(verified);
    let entry = tessella_codegen::entry::entry(&input).map_err(|error| refused(vec![error.into_diagnostic()]))?;
    let parameters: Vec<ParamType> = entry_parameters(&entry, verified.algorithm());
    let schedule = print::schedule(verified.algorithm(), verified.schedule());
    let text = CSource {
        entry: &source.entry,
        text: &source.text,
        parameters: &parameters,
        flags: &source.flags,
        libraries: &source.libraries,
        key: &[("schedule", schedule.as_bytes())],
    };
    let cache = Cache::open().map_err(tool_chain)?;
    Compiler::get().and_then(|compiler| compiler.load(&cache, &text)).map_err(tool_chain)
}

/// Compiled C in memory.
pub(super) struct CProgram {
    loaded: LoadedFunction,
    failures: Failures,
}

impl CProgram {
    pub(super) fn load(unit: &Unit<'_>, built: &Built, threads: Option<u32>) -> Result<CProgram, Failed> {
        let source = built.c(unit, threads).map_err(refused)?;
        let loaded = load_c(&built.analysed.verified, &source)?;
        Ok(CProgram { loaded, failures: Failures::of(unit, built) })
    }
}

impl Program for CProgram {
    fn entry(&self) -> Option<*const c_void> {
        Some(self.loaded.address())
    }

    fn parameter_count(&self) -> usize {
        self.loaded.parameters().len()
    }

    unsafe fn launch(&self, arguments: &[*mut c_void]) -> i32 {
        // SAFETY: promised by the caller.
        unsafe { self.loaded.call_packed(arguments) }
    }

    fn failure(&self, code: i32) -> Option<Failure> {
        self.failures.failure(code)
    }
}

/// Compiled C of which nothing more is known.
impl Program for LoadedFunction {
    fn entry(&self) -> Option<*const c_void> {
        Some(self.address())
    }

    fn parameter_count(&self) -> usize {
        self.parameters().len()
    }

    unsafe fn launch(&self, arguments: &[*mut c_void]) -> i32 {
        // SAFETY: promised by the caller.
        unsafe { self.call_packed(arguments) }
    }

    fn failure(&self, _code: i32) -> Option<Failure> {
        None
    }
}
