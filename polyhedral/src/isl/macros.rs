//! How Rust values cross to isl and back, and the macros that write the wrappers.
//!
//! A wrapper is one line, `fn intersect(take self, other: take Set) -> Set = isl_set_intersect;`, in the words of
//! isl's manual: `take` passes a copy whose reference isl consumes, `keep` lends, `list` passes a list made of a
//! slice, `val` a plain value, `text` a string. `self` and all objects are borrowed on the Rust side. The words must
//! agree with isl's header: that is the one thing a reader has to check, and what makes the calls below sound.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};

use super::ctx::Ctx;
use super::error::IslError;
use super::raw;
use super::value::Id;

// isl's `long` is an `i64` on every host that Tessella supports.
const _: () = assert!(size_of::<c_long>() == size_of::<i64>());

/// An isl object: a counted reference, freed on drop.
pub trait Object: Sized {
    fn ctx(&self) -> &Ctx;
    fn ptr(&self) -> usize;
    /// A reference for isl to consume.
    fn copy_ptr(&self) -> usize;
    /// # Safety
    /// `ptr` is a non-null reference to an object of this type and context, given to the caller.
    unsafe fn adopt(ctx: &Ctx, ptr: usize) -> Self;
}

/// A result of an isl function.
pub trait Returned: Sized {
    type C;
    /// # Safety
    /// `value` is what an isl function with this result, given to the caller, just returned in `ctx`.
    unsafe fn from_c(ctx: &Ctx, value: Self::C) -> Result<Self, IslError>;
}

/// A plain argument of an isl function.
pub trait Plain {
    type C;
    fn into_c(self) -> Self::C;
}

/// Objects that isl keeps lists of.
pub trait Listed: Object {
    /// # Safety
    /// As `isl_*_list_alloc`.
    unsafe fn list_alloc(ctx: usize, n: c_int) -> usize;
    /// # Safety
    /// Takes both the list and the element, as `isl_*_list_add`.
    unsafe fn list_add(list: usize, element: usize) -> usize;
    /// # Safety
    /// Keeps the list, as `isl_*_list_size`.
    unsafe fn list_size(list: usize) -> c_int;
    /// # Safety
    /// Keeps the list, as `isl_*_list_get_at`.
    unsafe fn list_get(list: usize, index: c_int) -> usize;
    /// # Safety
    /// Takes the list, as `isl_*_list_free`.
    unsafe fn list_free(list: usize) -> usize;
}

/// An isl list of copies of `elements`, given to the caller; null on error.
pub fn list_of<T: Listed>(ctx: &Ctx, elements: &[T]) -> usize {
    let n = c_int::try_from(elements.len()).expect("a list of objects in memory is shorter than `c_int::MAX`");
    // SAFETY: `alloc` gives a list or null; `add` takes it and a copied element, and gives the longer list or null.
    unsafe {
        let empty = T::list_alloc(ctx.ptr(), n);
        elements.iter().fold(empty, |list, element| T::list_add(list, element.copy_ptr()))
    }
}

/// isl's text of an object, made without counting operations; a placeholder when isl has none.
pub fn text_of(ctx: &Ctx, to_str: unsafe extern "C" fn(usize) -> *mut c_char, ptr: usize) -> String {
    // SAFETY: `ptr` is alive and lent; `to_str` gives a fresh string or null.
    let text = ctx.unlimited(|| unsafe { String::from_c(ctx, to_str(ptr)) });
    text.unwrap_or_else(|error| format!("<{error}>"))
}

/// `text` as a C string.
pub fn c_text(text: &str) -> Result<CString, IslError> {
    CString::new(text).map_err(|_| IslError::invalid("a name contains a null character"))
}

impl<T: Listed> Returned for Vec<T> {
    type C = usize;
    unsafe fn from_c(ctx: &Ctx, list: usize) -> Result<Self, IslError> {
        if list == 0 {
            return Err(ctx.take_error());
        }
        // SAFETY: `list` is a list of `T` given to us: lent to `size` and `get`, which gives a reference or null,
        // and freed once at the end.
        unsafe {
            let elements = (0..T::list_size(list))
                .map(|index| match T::list_get(list, index) {
                    0 => Err(ctx.take_error()),
                    element => Ok(T::adopt(ctx, element)),
                })
                .collect();
            T::list_free(list);
            elements
        }
    }
}

impl Returned for bool {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, value: c_int) -> Result<Self, IslError> {
        if value < 0 { Err(ctx.take_error()) } else { Ok(value != 0) }
    }
}

/// An `isl_size`.
impl Returned for u32 {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, value: c_int) -> Result<Self, IslError> {
        u32::try_from(value).map_err(|_| ctx.take_error())
    }
}

/// A position; a negative one means none, errors only the context knows.
impl Returned for Option<u32> {
    type C = c_int;
    unsafe fn from_c(_: &Ctx, value: c_int) -> Result<Self, IslError> {
        Ok(u32::try_from(value).ok())
    }
}

/// An id that may be absent; errors only the context knows.
impl Returned for Option<Id> {
    type C = usize;
    unsafe fn from_c(ctx: &Ctx, value: usize) -> Result<Self, IslError> {
        // SAFETY: a non-null reference given to the caller, who passes it on.
        Ok((value != 0).then(|| unsafe { Id::adopt(ctx, value) }))
    }
}

/// A plain `int`, whose errors only the context knows.
impl Returned for i32 {
    type C = c_int;
    unsafe fn from_c(_: &Ctx, value: c_int) -> Result<Self, IslError> {
        Ok(value)
    }
}

/// A plain `long`, whose errors only the context knows.
impl Returned for i64 {
    type C = i64;
    unsafe fn from_c(_: &Ctx, value: i64) -> Result<Self, IslError> {
        Ok(value)
    }
}

/// An `isl_stat`.
impl Returned for () {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, value: c_int) -> Result<Self, IslError> {
        if value < 0 { Err(ctx.take_error()) } else { Ok(()) }
    }
}

/// A string given to the caller.
impl Returned for String {
    type C = *mut c_char;
    unsafe fn from_c(ctx: &Ctx, value: *mut c_char) -> Result<Self, IslError> {
        if value.is_null() {
            return Err(ctx.take_error());
        }
        // SAFETY: a null-terminated string from `malloc`, given to us: copied, then freed once.
        unsafe {
            let text = CStr::from_ptr(value).to_string_lossy().into_owned();
            raw::free(value.cast::<c_void>());
            Ok(text)
        }
    }
}

/// A string that isl keeps; null means none.
impl Returned for Option<String> {
    type C = *const c_char;
    unsafe fn from_c(_: &Ctx, value: *const c_char) -> Result<Self, IslError> {
        // SAFETY: null or a null-terminated string that lives as long as the object just asked; copied at once.
        Ok((!value.is_null()).then(|| unsafe { CStr::from_ptr(value) }.to_string_lossy().into_owned()))
    }
}

macro_rules! plain {
    ($($Ty:ty),*) => { $(impl Plain for $Ty { type C = $Ty; fn into_c(self) -> $Ty { self } })* };
}
plain!(i32, u32, i64);

impl Plain for bool {
    type C = c_int;
    fn into_c(self) -> c_int {
        c_int::from(self)
    }
}

/// Declares an object: its handle, its copy function, and optionally its text and parser.
macro_rules! object {
    ($(#[$doc:meta])* $Ty:ident: $Handle:path, $copy:ident $(, text $to_str:ident)? $(, parse $read:ident)?;) => {
        $(#[$doc])*
        pub struct $Ty {
            // Declared, and therefore dropped, before the context.
            raw: $Handle,
            ctx: $crate::isl::Ctx,
        }

        impl $Ty {
            /// The context it lives in.
            pub fn ctx(&self) -> &$crate::isl::Ctx {
                &self.ctx
            }

            $(
                /// Parses isl's text; for tests, programs build from typed parts.
                pub fn from_text(ctx: &$crate::isl::Ctx, text: &str) -> Result<Self, $crate::isl::IslError> {
                    unsafe extern "C" {
                        fn $read(ctx: usize, text: *const std::ffi::c_char) -> usize;
                    }
                    let text = $crate::isl::macros::c_text(text)?;
                    // SAFETY: the context is alive, the string outlives the call, the result is given to us.
                    unsafe { <Self as $crate::isl::macros::Returned>::from_c(ctx, $read(ctx.ptr(), text.as_ptr())) }
                }
            )?
        }

        impl $crate::isl::macros::Object for $Ty {
            fn ctx(&self) -> &$crate::isl::Ctx {
                &self.ctx
            }
            fn ptr(&self) -> usize {
                self.raw.ptr
            }
            fn copy_ptr(&self) -> usize {
                unsafe extern "C" {
                    fn $copy(object: usize) -> usize;
                }
                // SAFETY: the object is alive; copying adds one to its reference count.
                unsafe { $copy(self.raw.ptr) }
            }
            unsafe fn adopt(ctx: &$crate::isl::Ctx, ptr: usize) -> Self {
                type Handle = $Handle;
                Self { raw: Handle { ptr, should_free_on_drop: true }, ctx: ctx.clone() }
            }
        }

        impl $crate::isl::macros::Returned for $Ty {
            type C = usize;
            unsafe fn from_c(ctx: &$crate::isl::Ctx, value: usize) -> Result<Self, $crate::isl::IslError> {
                if value == 0 {
                    return Err(ctx.take_error());
                }
                // SAFETY: a non-null reference that isl gave to the caller, who passes it on.
                Ok(unsafe { <Self as $crate::isl::macros::Object>::adopt(ctx, value) })
            }
        }

        impl Clone for $Ty {
            fn clone(&self) -> Self {
                // SAFETY: a copied reference to a live object is never null.
                unsafe {
                    <Self as $crate::isl::macros::Object>::adopt(
                        &self.ctx,
                        $crate::isl::macros::Object::copy_ptr(self),
                    )
                }
            }
        }

        $(
            impl std::fmt::Display for $Ty {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    unsafe extern "C" {
                        fn $to_str(object: usize) -> *mut std::ffi::c_char;
                    }
                    f.write_str(&$crate::isl::macros::text_of(&self.ctx, $to_str, self.raw.ptr))
                }
            }

            impl std::fmt::Debug for $Ty {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    std::fmt::Display::fmt(self, f)
                }
            }
        )?
    };
}

/// Declares what isl's lists of an object need.
macro_rules! listed {
    ($($Ty:ident: $alloc:ident, $add:ident, $size:ident, $get:ident, $free:ident;)*) => {
        unsafe extern "C" {
            $(
                fn $alloc(ctx: usize, n: std::ffi::c_int) -> usize;
                fn $add(list: usize, element: usize) -> usize;
                fn $size(list: usize) -> std::ffi::c_int;
                fn $get(list: usize, index: std::ffi::c_int) -> usize;
                fn $free(list: usize) -> usize;
            )*
        }
        $(
            // SAFETY: each function passes its arguments on under the same contract.
            impl $crate::isl::macros::Listed for $Ty {
                unsafe fn list_alloc(ctx: usize, n: std::ffi::c_int) -> usize { unsafe { $alloc(ctx, n) } }
                unsafe fn list_add(list: usize, element: usize) -> usize { unsafe { $add(list, element) } }
                unsafe fn list_size(list: usize) -> std::ffi::c_int { unsafe { $size(list) } }
                unsafe fn list_get(list: usize, index: std::ffi::c_int) -> usize { unsafe { $get(list, index) } }
                unsafe fn list_free(list: usize) -> usize { unsafe { $free(list) } }
            }
        )*
    };
}

/// Writes wrappers with a receiver.
macro_rules! methods {
    ($Ty:ident {
        $(
            $(#[$doc:meta])*
            fn $name:ident($mode:ident $this:ident $(, $arg:ident: $amode:ident $aty:ty)*) -> $ret:ty = $c:ident;
        )*
    }) => {
        impl $Ty {
            $(
                $(#[$doc])*
                pub fn $name(
                    &$this
                    $(, $arg: $crate::isl::macros::arg_type!($amode $aty))*
                ) -> Result<$ret, $crate::isl::IslError> {
                    unsafe extern "C" {
                        fn $c(
                            this: usize
                            $(, $arg: $crate::isl::macros::arg_c_type!($amode $aty))*
                        ) -> <$ret as $crate::isl::macros::Returned>::C;
                    }
                    let ctx = $this.ctx();
                    $(let $arg = $crate::isl::macros::arg_check!($amode ctx, $arg);)*
                    // SAFETY: all objects are alive and of one context; what isl takes is a copy, what it keeps is
                    // borrowed for the call, what it gives is owned by the result.
                    let result = unsafe {
                        <$ret as $crate::isl::macros::Returned>::from_c(
                            ctx,
                            $c(
                                $crate::isl::macros::arg_pass!($mode ctx, $this)
                                $(, $crate::isl::macros::arg_pass!($amode ctx, $arg))*
                            ),
                        )
                    };
                    ctx.settle(result)
                }
            )*
        }
    };
}

/// Writes `coalesce`: fewer disjuncts or pieces with the same elements, or the object as it is where isl fails on it.
///
/// isl 0.27 does not finish some of them: it tightens constraints by a compression of the variables, which may take away an
/// integer division that the compression counts on ("total dimensionality changed unexpectedly"), or leave equations
/// that are not independent ("Assertion "i >= 0" failed").
macro_rules! coalescing {
    ($($Ty:ident: $c:ident;)*) => {
        $(impl $Ty {
            /// Fewer disjuncts or pieces with the same elements, where isl finds any.
            pub fn coalesce(&self) -> Result<$Ty, $crate::isl::IslError> {
                unsafe extern "C" {
                    fn $c(this: usize) -> usize;
                }
                let ctx = self.ctx();
                // SAFETY: isl takes a copy of a live object; what it gives is owned by the result.
                let result = unsafe {
                    <$Ty as $crate::isl::macros::Returned>::from_c(ctx, $c($crate::isl::macros::Object::copy_ptr(self)))
                };
                match ctx.settle(result) {
                    Err(error) if error.is_broken() => Ok(self.clone()),
                    settled => settled,
                }
            }
        })*
    };
}

/// Writes `simple_hull`: a conjunction around the disjuncts, made of their constraints; all of the space where isl fails on it.
///
/// isl 0.27 takes the equations of a disjunct to be independent there, and they are not always ("Assertion "i >= 0" failed").
macro_rules! simple_hulls {
    ($($Ty:ident: $Basic:ident, $c:ident;)*) => {
        $(impl $Ty {
            /// A conjunction around it, made of constraints of its disjuncts.
            pub fn simple_hull(&self) -> Result<$Basic, $crate::isl::IslError> {
                unsafe extern "C" {
                    fn $c(this: usize) -> usize;
                }
                let ctx = self.ctx();
                // SAFETY: isl takes a copy of a live object; what it gives is owned by the result.
                let result = unsafe {
                    <$Basic as $crate::isl::macros::Returned>::from_c(ctx, $c($crate::isl::macros::Object::copy_ptr(self)))
                };
                match ctx.settle(result) {
                    Err(error) if error.is_broken() => $Basic::universe(&self.space()?),
                    settled => settled,
                }
            }
        })*
    };
}

/// Writes wrappers without a receiver; the first argument tells the context.
macro_rules! constructors {
    ($Ty:ident {
        $(
            $(#[$doc:meta])*
            fn $name:ident(
                $first:ident: $fmode:ident $fty:ty
                $(, $arg:ident: $amode:ident $aty:ty)*
            ) -> $ret:ty = $c:ident;
        )*
    }) => {
        impl $Ty {
            $(
                $(#[$doc])*
                pub fn $name(
                    $first: $crate::isl::macros::arg_type!($fmode $fty)
                    $(, $arg: $crate::isl::macros::arg_type!($amode $aty))*
                ) -> Result<$ret, $crate::isl::IslError> {
                    unsafe extern "C" {
                        fn $c(
                            $first: $crate::isl::macros::arg_c_type!($fmode $fty)
                            $(, $arg: $crate::isl::macros::arg_c_type!($amode $aty))*
                        ) -> <$ret as $crate::isl::macros::Returned>::C;
                    }
                    let ctx = $crate::isl::macros::arg_ctx!($fmode $first);
                    let $first = $crate::isl::macros::arg_check!($fmode ctx, $first);
                    $(let $arg = $crate::isl::macros::arg_check!($amode ctx, $arg);)*
                    // SAFETY: as in `methods!`; the first argument is a live context or object.
                    let result = unsafe {
                        <$ret as $crate::isl::macros::Returned>::from_c(
                            ctx,
                            $c(
                                $crate::isl::macros::arg_pass!($fmode ctx, $first)
                                $(, $crate::isl::macros::arg_pass!($amode ctx, $arg))*
                            ),
                        )
                    };
                    ctx.settle(result)
                }
            )*
        }
    };
}

/// The Rust type of an argument.
macro_rules! arg_type {
    (val $Ty:ty) => {
        $Ty
    };
    (list $Ty:ty) => {
        &[$Ty]
    };
    ($mode:ident $Ty:ty) => {
        &$Ty
    };
}

/// The context of a first argument.
macro_rules! arg_ctx {
    (list $arg:ident) => {
        match $arg.first() {
            Some(element) => element.ctx(),
            None => return Err($crate::isl::IslError::invalid("an empty list")),
        }
    };
    ($mode:ident $arg:ident) => {
        $arg.ctx()
    };
}

/// The C type of an argument.
macro_rules! arg_c_type {
    (val $Ty:ty) => { <$Ty as $crate::isl::macros::Plain>::C };
    (text $Ty:ty) => { *const std::ffi::c_char };
    ($mode:ident $Ty:ty) => { usize };
}

/// An argument checked, before any reference is copied.
macro_rules! arg_check {
    (val $ctx:ident, $arg:ident) => {
        $arg
    };
    (text $ctx:ident, $arg:ident) => {
        $crate::isl::macros::c_text($arg)?
    };
    (list $ctx:ident, $arg:ident) => {{
        for element in $arg {
            $ctx.check_same(element.ctx())?;
        }
        $arg
    }};
    ($mode:ident $ctx:ident, $arg:ident) => {{
        $ctx.check_same($arg.ctx())?;
        $arg
    }};
}

/// An argument as isl receives it.
macro_rules! arg_pass {
    (val $ctx:ident, $arg:ident) => {
        $crate::isl::macros::Plain::into_c($arg)
    };
    (text $ctx:ident, $arg:ident) => {
        $arg.as_ptr()
    };
    (list $ctx:ident, $arg:ident) => {
        $crate::isl::macros::list_of($ctx, $arg)
    };
    (take $ctx:ident, $arg:ident) => {
        $crate::isl::macros::Object::copy_ptr($arg)
    };
    (keep $ctx:ident, $arg:ident) => {
        $crate::isl::macros::Object::ptr($arg)
    };
    (within $ctx:ident, $arg:ident) => {
        $arg.ptr()
    };
}

pub(super) use {
    arg_c_type, arg_check, arg_ctx, arg_pass, arg_type, coalescing, constructors, listed, methods, object, simple_hulls,
};
