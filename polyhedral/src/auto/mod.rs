//! Tessella's own choice of an order, in parts: what is asked of every trial, regrouping of statements, the order of
//! loops, tags for CPUs, and the shapes that are weighed against one another. [`crate::default_order`] composes them.

pub(crate) mod apart;
pub mod asked;
mod cache_blocks;
pub(crate) mod chooser;
pub(crate) mod cost;
pub(crate) mod cpu;
mod crossing;
pub mod cuts;
pub(crate) mod delayed;
pub mod device_pads;
pub(crate) mod gpu;
pub(crate) mod gpu_join;
pub(crate) mod gpu_parallelograms;
pub(crate) mod gpu_product;
pub(crate) mod gpu_storage;
mod gpu_sums;
pub(crate) mod gpu_waves;
pub(crate) mod hexagon_cost;
pub(crate) mod one_thread;
pub(crate) mod own;
pub mod padded;
pub mod padding;
pub mod partial_sums;
pub(crate) mod permute;
pub mod profile;
mod push;
pub(crate) mod ranged;
pub mod register_tile;
pub mod regroup;
pub mod solver;
pub mod stream;
pub mod time_tiles;
pub(crate) mod together;
pub mod traffic;
mod vectors;
pub(crate) mod wavefront;
