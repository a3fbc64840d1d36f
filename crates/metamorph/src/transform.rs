//! Meaning-preserving transformations, in groups: launch, loops, memory, reduction, surface.
//!
//! Each is a function on a draft or a kernel. It tests whether it applies, adds its conditions to the contract, and
//! notes its name. A chain begins with the launch; loops and surface follow.

pub mod carried;
pub mod chunks;
pub mod launch;
pub mod loops;
pub mod matmul;
pub mod staging;
pub mod surface;
pub mod transpose;
pub mod tree;
