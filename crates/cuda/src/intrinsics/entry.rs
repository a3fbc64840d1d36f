//! An entry of the tables: a function, or several with one name.

/// Class of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A function of real numbers.
    Math,
    /// A function of integers and their bits.
    Integer,
    /// A conversion between types.
    Conversion,
    /// A barrier of the block.
    Barrier,
    /// A function that threads of a warp execute together.
    Warp,
    /// An atomic read-modify-write operation.
    Atomic,
    /// A fence, which orders accesses.
    Fence,
    /// A function that reads or writes memory, or classifies an address.
    Memory,
    /// `make_float4` and similar: the class made of its fields.
    Construct,
    /// `assert`, `printf`, `__trap` and similar.
    Control,
    /// A function of textures or surfaces.
    Texture,
    /// Functions for the prelude alone.
    Prelude,
}

/// A function of CUDA, or several with one name.
#[derive(Clone, Copy, Debug)]
pub struct Intrinsic {
    /// Its name in calls.
    pub name: &'static str,
    /// Its name in the tree.
    pub canonical: &'static str,
    /// The class of the function.
    pub class: Class,
    /// Signatures, one for each overload.
    pub signatures: &'static [&'static str],
    /// Types for `T`, separated by blanks.
    pub over: &'static str,
}

/// An entry whose canonical name is its own.
pub(super) const fn own(
    name: &'static str,
    class: Class,
    signatures: &'static [&'static str],
    over: &'static str,
) -> Intrinsic {
    Intrinsic { name, canonical: name, class, signatures, over }
}

/// An entry with another canonical name.
pub(super) const fn called(
    name: &'static str,
    canonical: &'static str,
    class: Class,
    signatures: &'static [&'static str],
    over: &'static str,
) -> Intrinsic {
    Intrinsic { name, canonical, class, signatures, over }
}
