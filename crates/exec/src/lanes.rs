//! The lanes of a warp: the values of 32 threads, and sets of lanes.

pub(crate) use crate::concrete::lanes::Narrow;
pub use crate::concrete::lanes::{LANES as WARP, Lanes};
pub use sync::Mask;
