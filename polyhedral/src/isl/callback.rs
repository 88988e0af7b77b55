//! Rust closures as isl callbacks; a panic never crosses isl's frames.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::ctx::Ctx;
use super::error::IslError;
use super::macros::Object;

/// A callback that is given one object.
pub type ObjectFn = unsafe extern "C" fn(object: usize, user: *mut c_void) -> c_int;
/// A callback that is given a domain and an expression.
pub type PieceFn = unsafe extern "C" fn(set: usize, value: usize, user: *mut c_void) -> c_int;

/// Why a callback asked isl to stop.
pub enum Stop<B> {
    /// The closure has its answer.
    Break(B),
    /// The closure panicked.
    Panic(Box<dyn Any + Send>),
}

/// Calls a closure where a panic would meet isl's frames.
pub fn guarded<T, B>(call: impl FnOnce() -> ControlFlow<B, T>) -> Result<T, Stop<B>> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(ControlFlow::Continue(value)) => Ok(value),
        Ok(ControlFlow::Break(answer)) => Err(Stop::Break(answer)),
        Err(panic) => Err(Stop::Panic(panic)),
    }
}

struct Visit<'a, F, B> {
    ctx: &'a Ctx,
    visit: F,
    stop: Option<Stop<B>>,
}

/// Visits what `foreach` enumerates; resumes a panic of `visit` after isl has returned.
///
/// # Safety
/// `foreach` keeps `of` and gives each element, a `T` of the same context, to the callback.
pub unsafe fn foreach_object<T: Object, B, F: FnMut(T) -> ControlFlow<B>>(
    of: &impl Object,
    foreach: unsafe extern "C" fn(usize, ObjectFn, *mut c_void) -> c_int,
    visit: F,
) -> Result<ControlFlow<B>, IslError> {
    unsafe extern "C" fn step<T: Object, B, F: FnMut(T) -> ControlFlow<B>>(object: usize, user: *mut c_void) -> c_int {
        // SAFETY: `user` is the `Visit` below, borrowed by nobody else during the call; `object` is given to us.
        let (state, object) = unsafe {
            let state = &mut *user.cast::<Visit<'_, F, B>>();
            let object = T::adopt(state.ctx, object);
            (state, object)
        };
        match guarded(|| (state.visit)(object)) {
            Ok(()) => 0,
            Err(stop) => {
                state.stop = Some(stop);
                -1
            }
        }
    }
    let ctx = of.ctx();
    let mut state = Visit { ctx, visit, stop: None };
    // SAFETY: the caller vouches for `foreach`; the state outlives the call.
    let status = unsafe { foreach(of.ptr(), step::<T, B, F>, (&raw mut state).cast()) };
    match state.stop {
        Some(Stop::Panic(panic)) => resume_unwind(panic),
        Some(Stop::Break(answer)) => Ok(ControlFlow::Break(answer)),
        None if status < 0 => Err(ctx.take_error()),
        None => ctx.settle(Ok(ControlFlow::Continue(()))),
    }
}

struct Pieces<'a, S, V> {
    ctx: &'a Ctx,
    pieces: Vec<(S, V)>,
}

/// The pieces that `foreach` enumerates.
///
/// # Safety
/// `foreach` keeps `of` and gives each piece, an `S` and a `V` of the same context, to the callback.
pub unsafe fn collect_pieces<S: Object, V: Object>(
    of: &impl Object,
    foreach: unsafe extern "C" fn(usize, PieceFn, *mut c_void) -> c_int,
) -> Result<Vec<(S, V)>, IslError> {
    unsafe extern "C" fn step<S: Object, V: Object>(set: usize, value: usize, user: *mut c_void) -> c_int {
        // SAFETY: `user` is the `Pieces` below, borrowed by nobody else; both objects are given to us.
        unsafe {
            let state = &mut *user.cast::<Pieces<'_, S, V>>();
            state.pieces.push((S::adopt(state.ctx, set), V::adopt(state.ctx, value)));
        }
        0
    }
    let ctx = of.ctx();
    let mut state = Pieces { ctx, pieces: Vec::new() };
    // SAFETY: the caller vouches for `foreach`; the state outlives the call.
    let status = unsafe { foreach(of.ptr(), step::<S, V>, (&raw mut state).cast()) };
    if status < 0 { Err(ctx.take_error()) } else { ctx.settle(Ok(state.pieces)) }
}
