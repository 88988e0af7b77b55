//! The context that owns all memory of isl, its operation limit and its options.

use std::cell::Cell;
use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use super::error::{IslError, IslErrorKind};
use super::memo::Memo;
use super::raw;

/// An isl context; a clone is another reference to the same one.
///
/// Every object holds a reference, so the context ends after the last of its objects.
/// Neither a context nor its objects can leave their thread:
///
/// ```compile_fail
/// let ctx = tessella_polyhedral::isl::Ctx::new();
/// std::thread::spawn(move || drop(ctx));
/// ```
#[derive(Clone)]
pub struct Ctx {
    owner: Rc<Owner>,
}

thread_local! {
    static ENDED: Cell<u64> = const { Cell::new(0) };
}

/// The operations of all contexts that were made on this thread and have ended: what the work in between has taken.
pub fn operations_of_ended_contexts() -> u64 {
    ENDED.get()
}

struct Owner {
    // Dropped before the context that its objects belong to.
    memo: Memo,
    context: isl_rs::Context,
    /// The limit that was asked for, 0 for none.
    limit: Cell<u64>,
    /// How many units of the limit around an operation counts: [`Ctx::weighed`].
    weight: Cell<u64>,
    /// Operations before the last reset.
    before: Cell<u64>,
    /// The most of all operations, resets or not.
    ceiling: Cell<u64>,
    _one_thread: PhantomData<*mut ()>,
}

impl Owner {
    /// Has isl stop at the limit or at the ceiling, whichever comes first.
    fn apply_limits(&self) {
        // One operation at least: no limit is 0.
        let above = self.ceiling.get().saturating_sub(self.before.get()).max(1);
        let limit = match self.limit.get() {
            0 if self.ceiling.get() == u64::MAX => 0,
            0 => above,
            limit => limit.min(above),
        };
        self.context.set_max_operations(limit);
    }

    /// The operations counted since the last reset. Asking costs a few dozen more, which are counted.
    fn operations(&self) -> u64 {
        let limit = self.context.get_max_operations();
        if self.is_aborted() {
            return limit;
        }
        // isl tells only whether a limit is reached: the count is the largest limit that is.
        let reached = |limit: u64| {
            self.context.set_max_operations(limit);
            self.is_exhausted()
        };
        let (mut least, mut above) = (0, 1);
        while reached(above) {
            (least, above) = (above, above.saturating_mul(2));
        }
        while above - least > 1 {
            let middle = least + (above - least) / 2;
            match reached(middle) {
                true => least = middle,
                false => above = middle,
            }
        }
        self.context.set_max_operations(limit);
        least
    }

    fn is_exhausted(&self) -> bool {
        if self.context.get_max_operations() == 0 && !self.is_aborted() {
            return false;
        }
        // SAFETY: the context is alive; the function counts one operation, or records an error, forgotten below.
        let exhausted = unsafe { raw::isl_ctx_next_operation(self.context.ptr) } < 0;
        self.context.reset_error();
        exhausted
    }

    fn is_aborted(&self) -> bool {
        // SAFETY: the context is alive; the function reads the flag alone.
        unsafe { raw::isl_ctx_aborted(self.context.ptr) != 0 }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        ENDED.set(ENDED.get() + self.before.get() + self.operations());
    }
}

/// A switch of isl; a boolean one takes 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IslOption {
    /// One expression (`min` of bounds) as upper bound in `i <= e` instead of a conjunction; on by default.
    AstBuildAtomicUpperBound,
    /// Prefers `pdiv_q`/`pdiv_r` over `fdiv_q` where the dividend is non-negative; on by default.
    AstBuildPreferPdiv,
    /// Recognises minima and maxima in conditional expressions; off by default.
    AstBuildDetectMinMax,
    /// Simplifies conditions by the bounds of outer loops; on by default.
    AstBuildExploitNestedBounds,
    /// Keeps instances with equal schedule values together; off by default.
    AstBuildGroupCoscheduled,
    /// Explicit (0) or implicit (1) bounds while separating.
    AstBuildSeparationBounds,
    /// Divides strided iterators by their stride; on by default.
    AstBuildScaleStrides,
    /// Allows `else`; on by default.
    AstBuildAllowElse,
    /// Allows `||` in conditions; on by default.
    AstBuildAllowOr,
    /// Upper limit of schedule coefficients, -1 for none.
    ScheduleMaxCoefficient,
    /// Upper limit of constant terms in schedules, -1 for none.
    ScheduleMaxConstantTerm,
    /// Widest possible bands.
    ScheduleMaximizeBandDepth,
    /// As many coincident members as possible.
    ScheduleMaximizeCoincidence,
    /// The outermost member of each band is coincident where possible.
    ScheduleOuterCoincidence,
    /// Splits off non-trivial scaled parts.
    ScheduleSplitScaled,
    /// Avoids schedules that coalesce loops.
    ScheduleTreatCoalescing,
    /// Schedules independent components apart.
    ScheduleSeparateComponents,
    /// Minimal fusion: strongly connected components one after the other.
    ScheduleSerializeSccs,
    /// Schedules a whole component at once instead of clustering.
    ScheduleWholeComponent,
    /// Splits when a carrying row depends on other statements.
    ScheduleCarrySelfFirst,
    /// 0: isl's own (Pluto like) algorithm, 1: Feautrier's.
    ScheduleAlgorithm,
    /// Tiling multiplies tile iterators by the tile size; on by default.
    TileScaleTileLoops,
    /// Tiling shifts point loops to start at zero; on by default.
    TileShiftPointLoops,
}

impl Ctx {
    /// A fresh context without a limit, which never prints nor aborts.
    #[allow(clippy::new_without_default, reason = "a context is a resource, made on purpose")]
    pub fn new() -> Self {
        let context = isl_rs::Context::alloc();
        assert!(context.ptr != 0, "isl cannot allocate a context");
        // SAFETY: the context was just allocated; `ISL_ON_ERROR_CONTINUE` is a valid value of the option.
        unsafe { raw::isl_options_set_on_error(context.ptr, raw::ON_ERROR_CONTINUE) };
        Self {
            owner: Rc::new(Owner {
                memo: Memo::default(),
                context,
                limit: Cell::new(0),
                weight: Cell::new(1),
                before: Cell::new(0),
                ceiling: Cell::new(u64::MAX),
                _one_thread: PhantomData,
            }),
        }
    }

    /// Limits the operations counted since the last reset; 0 takes the limit away.
    pub fn set_max_operations(&self, limit: u64) {
        self.owner.limit.set(limit);
        self.owner.apply_limits();
    }

    /// The current limit, 0 for none.
    pub fn max_operations(&self) -> u64 {
        self.owner.limit.get()
    }

    /// Starts counting again from zero: needed after the limit was reached.
    pub fn reset_operations(&self) {
        self.owner.before.set(self.spent());
        self.owner.context.reset_operations();
        self.owner.apply_limits();
    }

    /// The operations counted since the last reset. Asking costs a few dozen more, which are counted.
    pub fn operations(&self) -> u64 {
        self.owner.operations()
    }

    /// All operations of the context so far, resets or not.
    pub fn spent(&self) -> u64 {
        self.owner.before.get() + self.operations()
    }

    /// Runs `work` within so many operations in all, however it shares them out in budgets and weighs them: after that isl answers
    /// everything below with an error that [`is_quota`](super::IslError::is_quota). Also says whether it came to that.
    pub fn with_ceiling<T>(&self, operations: u64, work: impl FnOnce() -> T) -> (T, bool) {
        struct Restore<'a>(&'a Ctx, u64);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.owner.ceiling.set(self.1);
                self.0.owner.apply_limits();
            }
        }
        let former = self.owner.ceiling.get();
        let ceiling = former.min(self.spent().saturating_add(operations));
        let restore = Restore(self, former);
        self.owner.ceiling.set(ceiling);
        self.owner.apply_limits();
        let result = work();
        let is_over = self.spent() >= ceiling;
        drop(restore);
        (result, is_over)
    }

    /// Runs `work` without counting towards a limit.
    pub(super) fn unlimited<T>(&self, work: impl FnOnce() -> T) -> T {
        self.owner.context.set_max_operations(0);
        let result = work();
        self.owner.apply_limits();
        result
    }

    /// Runs `work` under a limit of its own (0: none), then goes on with what is left of the former one.
    ///
    /// What `work` takes is its own: it does not count towards the former limit.
    pub fn with_budget<T>(&self, operations: u64, work: impl FnOnce() -> T) -> T {
        struct Restore<'a> {
            ctx: &'a Ctx,
            left: u64,
            weight: u64,
        }
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.ctx.owner.weight.set(self.weight);
                self.ctx.set_max_operations(self.left);
                self.ctx.reset_operations();
            }
        }
        // One operation at least: no limit is 0.
        let left = self.operations_left().map_or(0, |left| left.max(1));
        let _restore = Restore { ctx: self, left, weight: self.owner.weight.replace(1) };
        self.set_max_operations(operations);
        self.reset_operations();
        work()
    }

    /// What is left of the limit; `None` without one.
    pub fn operations_left(&self) -> Option<u64> {
        match self.owner.limit.get() {
            0 => None,
            limit => Some(limit.saturating_sub(self.operations())),
        }
    }

    /// Runs `work` within what is left of the limit, each operation of its counting `weight` times. A weight inside another one stands for it.
    pub fn weighed<T>(&self, weight: u64, work: impl FnOnce() -> T) -> T {
        struct Restore<'a> {
            ctx: &'a Ctx,
            left: u64,
            around: u64,
            weight: u64,
        }
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                let used = self.ctx.operations().saturating_mul(self.weight).div_ceil(self.around);
                self.ctx.owner.weight.set(self.around);
                self.ctx.set_max_operations(self.left.saturating_sub(used).max(1));
                self.ctx.reset_operations();
            }
        }
        let Some(left) = self.operations_left() else { return work() };
        let weight = weight.max(1);
        let around = self.owner.weight.replace(weight);
        let _restore = Restore { ctx: self, left, around, weight };
        // One operation at least: no limit is 0.
        self.set_max_operations((left.saturating_mul(around) / weight).max(1));
        self.reset_operations();
        work()
    }

    /// Runs `work` for so long at most: after that isl answers everything below with an error that
    /// [`is_quota`](super::IslError::is_quota). Also says whether it came to that; then isl answers as before.
    ///
    /// Where numbers outgrow machine words, an operation takes up to a hundred times as long as others, which no count of them tells.
    pub fn with_deadline<T>(&self, longest: Duration, work: impl FnOnce() -> T) -> (T, bool) {
        let context = self.ptr();
        let (done, over) = mpsc::channel::<()>();
        let result = std::thread::scope(|scope| {
            scope.spawn(move || {
                if over.recv_timeout(longest) == Err(RecvTimeoutError::Timeout) {
                    // SAFETY: the context outlives the scope, and isl means this call to come in between others: it sets
                    // a flag, one machine word, that isl looks at before each operation, and touches nothing else.
                    unsafe { raw::isl_ctx_abort(context) };
                }
            });
            // Dropped also when `work` panics, so that the thread ends.
            let _done = done;
            work()
        });
        let aborted = self.is_aborted();
        if aborted {
            // SAFETY: the context is alive; the function sets the flag alone.
            unsafe { raw::isl_ctx_resume(context) };
            self.owner.context.reset_error();
        }
        (result, aborted)
    }

    /// Sets a switch of isl.
    pub fn set_option(&self, option: IslOption, value: i32) -> Result<(), IslError> {
        let (set, _) = option.functions();
        // SAFETY: the context is alive; both functions of an option take it and a plain integer.
        match unsafe { set(self.ptr(), value) } {
            0 => Ok(()),
            _ => Err(self.take_error()),
        }
    }

    /// The value of a switch of isl.
    pub fn option(&self, option: IslOption) -> i32 {
        let (_, get) = option.functions();
        // SAFETY: the context is alive; the getter reads one integer of its options.
        unsafe { get(self.ptr()) }
    }

    /// Whether both are references to one context.
    pub fn is_same(&self, other: &Ctx) -> bool {
        Rc::ptr_eq(&self.owner, &other.owner)
    }

    pub(super) fn memo(&self) -> &Memo {
        &self.owner.memo
    }

    pub(super) fn ptr(&self) -> usize {
        self.owner.context.ptr
    }

    /// Itself, so that constructors may take a context where others take an object.
    pub(super) fn ctx(&self) -> &Ctx {
        self
    }

    pub(super) fn check_same(&self, other: &Ctx) -> Result<(), IslError> {
        if self.is_same(other) { Ok(()) } else { Err(IslError::invalid("objects of two contexts meet")) }
    }

    /// The recorded error, which is forgotten by this call.
    pub(super) fn take_error(&self) -> IslError {
        let context = &self.owner.context;
        let kind = match context.last_error() {
            isl_rs::Error::Quota => IslErrorKind::Quota,
            isl_rs::Error::Invalid => IslErrorKind::Invalid,
            isl_rs::Error::Unsupported => IslErrorKind::Unsupported,
            isl_rs::Error::Internal => IslErrorKind::Internal,
            isl_rs::Error::Alloc => IslErrorKind::Memory,
            isl_rs::Error::Abort => IslErrorKind::Aborted,
            isl_rs::Error::Unknown | isl_rs::Error::None_ => IslErrorKind::Unknown,
        };
        // SAFETY: the context is alive; the message is null or a string literal of isl's.
        let message = unsafe {
            let text = raw::isl_ctx_last_error_msg(self.ptr());
            if text.is_null() { "no result, no reason".into() } else { CStr::from_ptr(text).to_string_lossy() }
        };
        context.reset_error();
        // isl goes on for a while once it is over the limit, and may record a consequence over the cause.
        let kind = if kind != IslErrorKind::Aborted && self.is_exhausted() { IslErrorKind::Quota } else { kind };
        IslError { kind, message: message.into_owned() }
    }

    fn is_aborted(&self) -> bool {
        self.owner.is_aborted()
    }

    fn is_exhausted(&self) -> bool {
        self.owner.is_exhausted()
    }

    /// Turns an error that isl recorded during a call into that call's result.
    pub(super) fn settle<T>(&self, result: Result<T, IslError>) -> Result<T, IslError> {
        match result {
            Ok(_) if self.owner.context.last_error() != isl_rs::Error::None_ => Err(self.take_error()),
            Ok(_) | Err(_) => result,
        }
    }
}

type OptionSetter = unsafe extern "C" fn(usize, c_int) -> c_int;
type OptionGetter = unsafe extern "C" fn(usize) -> c_int;

macro_rules! option_functions {
    ($($variant:ident: $set:ident, $get:ident;)*) => {
        unsafe extern "C" {
            $(fn $set(ctx: usize, value: c_int) -> c_int; fn $get(ctx: usize) -> c_int;)*
        }
        impl IslOption {
            fn functions(self) -> (OptionSetter, OptionGetter) {
                match self { $(IslOption::$variant => ($set, $get),)* }
            }
        }
    };
}

option_functions! {
    AstBuildAtomicUpperBound: isl_options_set_ast_build_atomic_upper_bound, isl_options_get_ast_build_atomic_upper_bound;
    AstBuildPreferPdiv: isl_options_set_ast_build_prefer_pdiv, isl_options_get_ast_build_prefer_pdiv;
    AstBuildDetectMinMax: isl_options_set_ast_build_detect_min_max, isl_options_get_ast_build_detect_min_max;
    AstBuildExploitNestedBounds: isl_options_set_ast_build_exploit_nested_bounds, isl_options_get_ast_build_exploit_nested_bounds;
    AstBuildGroupCoscheduled: isl_options_set_ast_build_group_coscheduled, isl_options_get_ast_build_group_coscheduled;
    AstBuildSeparationBounds: isl_options_set_ast_build_separation_bounds, isl_options_get_ast_build_separation_bounds;
    AstBuildScaleStrides: isl_options_set_ast_build_scale_strides, isl_options_get_ast_build_scale_strides;
    AstBuildAllowElse: isl_options_set_ast_build_allow_else, isl_options_get_ast_build_allow_else;
    AstBuildAllowOr: isl_options_set_ast_build_allow_or, isl_options_get_ast_build_allow_or;
    ScheduleMaxCoefficient: isl_options_set_schedule_max_coefficient, isl_options_get_schedule_max_coefficient;
    ScheduleMaxConstantTerm: isl_options_set_schedule_max_constant_term, isl_options_get_schedule_max_constant_term;
    ScheduleMaximizeBandDepth: isl_options_set_schedule_maximize_band_depth, isl_options_get_schedule_maximize_band_depth;
    ScheduleMaximizeCoincidence: isl_options_set_schedule_maximize_coincidence, isl_options_get_schedule_maximize_coincidence;
    ScheduleOuterCoincidence: isl_options_set_schedule_outer_coincidence, isl_options_get_schedule_outer_coincidence;
    ScheduleSplitScaled: isl_options_set_schedule_split_scaled, isl_options_get_schedule_split_scaled;
    ScheduleTreatCoalescing: isl_options_set_schedule_treat_coalescing, isl_options_get_schedule_treat_coalescing;
    ScheduleSeparateComponents: isl_options_set_schedule_separate_components, isl_options_get_schedule_separate_components;
    ScheduleSerializeSccs: isl_options_set_schedule_serialize_sccs, isl_options_get_schedule_serialize_sccs;
    ScheduleWholeComponent: isl_options_set_schedule_whole_component, isl_options_get_schedule_whole_component;
    ScheduleCarrySelfFirst: isl_options_set_schedule_carry_self_first, isl_options_get_schedule_carry_self_first;
    ScheduleAlgorithm: isl_options_set_schedule_algorithm, isl_options_get_schedule_algorithm;
    TileScaleTileLoops: isl_options_set_tile_scale_tile_loops, isl_options_get_tile_scale_tile_loops;
    TileShiftPointLoops: isl_options_set_tile_shift_point_loops, isl_options_get_tile_shift_point_loops;
}
