//! Tilings of time: several steps of a stencil on a part of space before the next part.
//!
//! [`stencil`](stencil::stencil) brings the loops into canonical form; each shape is a rewrite of its own. None of them is
//! believed: the new order is judged like any other, by all dependences.

mod find;
mod hexagon;
mod merge;
mod slope;
mod stencil;
mod tree;

mod grid_sync;
mod hexagonal;
mod space;
mod time_skew;

pub use find::{Found, find};
pub use grid_sync::grid_sync;
pub use hexagon::{Hexagon, Phase, Place};
pub use hexagonal::hexagonal;
pub use slope::{STEEPEST, Slope, steepest};
pub use space::space;
pub use stencil::{Distances, Nest, Stencil, Within, stencil};
pub use time_skew::time_skew;
