//! Functions of isl that `isl-rs` lacks or wraps unsoundly and that more than one file needs.
//!
//! A handle is its address as `usize`, as `isl-rs` does it; 0 is isl's null, the error value.

use std::ffi::{c_char, c_int, c_void};

/// `ISL_ON_ERROR_CONTINUE`: record the error, print nothing, go on.
pub const ON_ERROR_CONTINUE: c_int = 1;

unsafe extern "C" {
    pub fn isl_options_set_on_error(ctx: usize, value: c_int) -> c_int;
    pub fn isl_ctx_last_error_msg(ctx: usize) -> *const c_char;
    /// Counts one operation; -1 where the limit is reached or the context was aborted.
    pub fn isl_ctx_next_operation(ctx: usize) -> c_int;
    pub fn isl_ctx_abort(ctx: usize);
    pub fn isl_ctx_aborted(ctx: usize) -> c_int;
    pub fn isl_ctx_resume(ctx: usize);
    pub fn free(memory: *mut c_void);
    fn isl_ast_build_free(build: usize) -> usize;
}

/// Owns an `isl_ast_build`, for which `isl-rs` has no handle.
pub struct AstBuildHandle {
    pub ptr: usize,
    pub should_free_on_drop: bool,
}

impl Drop for AstBuildHandle {
    fn drop(&mut self) {
        if self.should_free_on_drop {
            // SAFETY: `ptr` is an `isl_ast_build` reference that this handle owns, or null, which isl ignores.
            unsafe { isl_ast_build_free(self.ptr) };
        }
    }
}
