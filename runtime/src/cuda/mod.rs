//! The GPU side of the runtime: compiles CUDA C++ with NVRTC, and runs it through the launcher library.
//!
//! Neither NVRTC nor the launcher, which needs the driver, is linked: both are opened when first asked for, so that
//! everything else works on a machine that has no trace of CUDA. A plan is executed against the trait [`Gpu`], which
//! [`Device`] implements with a real GPU and tests implement without one.
//!
//! Opening libraries and calling into them is why `unsafe` is allowed in this module.

#[path = "../../../cuda-backend/launcher/src/abi.rs"]
#[allow(dead_code, reason = "shared with the launcher, which uses the rest")]
mod abi;
mod arguments;
mod ceilings;
mod compile;
mod device;
mod error;
mod execute;
mod gpu;
mod launcher;
mod location;
mod nvrtc;
mod padded;
mod pool;
mod profile;
mod slices;
mod staging;
mod watch;

pub use abi::{DeviceProperties, FunctionProperties};
pub use arguments::Packed;
pub use ceilings::{Ceilings, measured as measured_ceilings};
pub use compile::{compile_cuda, default_device};
pub use device::{Device, DeviceBuffer, Event, Function, Module, Stream};
pub use error::CudaError;
pub use execute::{CudaProgram, OVERLAP_VARIABLE};
pub use gpu::{Apart, Argument, BoxShape, Gpu, LaunchShape};
pub use nvrtc::{Compiled, Nvrtc, Target};
pub use pool::Pools;
pub use profile::{KernelProfile, Profile};
pub use slices::{MEMORY_VARIABLE, SlicedProgram};
pub use watch::Copies;
