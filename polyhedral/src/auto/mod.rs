//! Parts of the auto-scheduler that weigh one form of a nest against another.

pub mod profile;
pub mod register_tile;
pub mod regroup;
