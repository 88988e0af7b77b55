//! Tessella beside a Julia in the same process, by way of [jlrs](https://docs.rs/jlrs): Julia's own arrays as arguments, which
//! jlrs tracks, instead of pointers.
//!
//! Two features, for two directions; neither is on by default, because each needs a Julia 1.10 or newer to link with:
//!
//! * `embed`, for programs in Rust that start Julia: [`arrays`] turns tracked arrays into [`Argument`]s of a [`Function`];
//! * `module`, for Julia: [`module`] exports `Kernel` and `DeviceArray`, which `julia/TessellaEmbed.jl` wraps.
//!
//! The feature `docs` compiles both without a Julia. With none of them, what is left is what both are made of, and needs
//! neither Julia nor jlrs: functions that are called on slices.
//!
//! ```
//! use tessella_julia_embed::{Argument, Backend, Function};
//!
//! let scale = Function::new("function scale!(A, f)\n for i in eachindex(A)\n A[i] *= f\n end\nend", "scale!", Backend::C);
//! let mut values = [1.0, 2.0, 4.0];
//! scale.call(&mut [Argument::write(&mut values, &[3])?, Argument::scalar(0.5)])?;
//! assert_eq!(values, [0.5, 1.0, 2.0]);
//! # Ok::<(), tessella_julia_embed::CallError>(())
//! ```

#[cfg(any(feature = "embed", feature = "module"))]
pub mod arrays;
#[cfg(feature = "module")]
pub mod module;

pub use tessella::abi::device_array::DeviceArray;
pub use tessella::abi::slices::{Argument, CallError, Element, Function, elements};
pub use tessella::request::{Backend, Failure};
pub use tessella_interpreter::{Array, Value};
pub use tessella_scalar::{Constant, ScalarType};
