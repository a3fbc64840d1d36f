//! Fetches from textures: opaque functions of their arguments.
//!
//! The arguments of a fetch:
//! 1. a number that identifies the fetched type and, of a vector, the component;
//! 2. a number that identifies the type of the texture reference, 0 for a texture object;
//! 3. the texture, an integer that identifies it;
//! 4. the coordinates.
//!
//! The host chooses filtering, addressing mode and contents. So two fetches are known to be equal only if all
//! arguments are; other equalities (by clamped coordinates, say) are unknown. It is assumed that the launch does not
//! write a texture's memory. A run at small sizes has no textures: a fetch has no value there and cannot refute
//! anything.

/// The only fetch at an integer index. Like an array index, it must not overflow. The others take float coordinates.
pub const FETCH_OF_INDEX: &str = "tex1Dfetch";

/// Number of leading arguments of a fetch that identify types.
pub const FETCH_TYPE_ARGUMENTS: usize = 2;

/// Returns `true` if this CUDA function is a fetch from a texture.
#[must_use]
pub fn is_fetch(name: &str) -> bool {
    name.starts_with("tex")
}
