//! Fetches from textures: opaque functions of their arguments.
//!
//! The first arguments are numbers for the fetched type with its component, and for the type of the texture
//! reference. Then follow the texture (an integer that identifies it) and the coordinates. Filtering, addressing and
//! contents are the host's, so two fetches are known to be equal only if all arguments are; other equalities (by
//! clamped coordinates, say) are unknown. It is assumed that the launch does not write a texture's memory. A run has
//! no textures: fetches in it have no value, so nothing is refuted by them.

/// The fetch that takes an index, which must not overflow. The others take floats.
pub const FETCH_OF_INDEX: &str = "tex1Dfetch";

/// Number of leading arguments of a fetch that are types.
pub const FETCH_TYPES: usize = 2;

/// Is a function a fetch from a texture, by CUDA's name?
#[must_use]
pub fn is_fetch(name: &str) -> bool {
    name.starts_with("tex")
}
