//! Fetches from textures: functions of which nothing is known but what they are functions of.
//!
//! Arguments are numbers for the type that is fetched with its component and for the type of a texture reference, the texture (an
//! integer that stands for it), and the coordinates. Filtering, addressing and contents are the host's, so two fetches are equal only if all arguments are: what hardware makes
//! equal beyond that (clamped coordinates, say) is not known here. That the launch does not write what a texture has is assumed. A run
//! has no textures: what is fetched in it has no value, so nothing is refuted by it.

/// The fetch that takes an index, which must not overflow. The others take floats.
pub const FETCH_OF_INDEX: &str = "tex1Dfetch";

/// So many first arguments of a fetch are types.
pub const FETCH_TYPES: usize = 2;

/// Whether a function of an expression is a fetch from a texture, by CUDA's name.
#[must_use]
pub fn is_fetch(name: &str) -> bool {
    name.starts_with("tex")
}
