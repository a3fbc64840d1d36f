//! Functions that CUDA's headers declare: names, signatures and what kind of function each is (CUDA C++ Programming Guide;
//! CUDA Math API).
//!
//! A signature is a row of types, the result first, in the letters of the Itanium C++ ABI: `v` void, `b` bool, `c` char, `a`
//! signed char, `h` unsigned char, `s` short, `t` unsigned short, `i` int, `j` unsigned, `l` long, `m` unsigned long, `x` long
//! long, `y` unsigned long long, `f` float, `d` double, `P` pointer to, `K` const, `V` volatile, `z` an ellipsis; besides these `H` half, `B`
//! `__nv_bfloat16`, `{float4}` a class, and `T`, which stands for each of [`Intrinsic::over`] in turn.
//!
//! A function that is missing here is refused where it is called.

mod atomics;
mod half;
mod integer;
mod math;
mod memory;
mod vector;
mod warp;

/// What kind of function it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Of real numbers.
    Math,
    /// Of integers and their bits.
    Integer,
    /// Between types.
    Conversion,
    /// A barrier of the block.
    Barrier,
    /// Threads of a warp together.
    Warp,
    /// A read and a write at once.
    Atomic,
    /// Orders accesses.
    Fence,
    /// Reads or writes memory.
    Memory,
    /// `make_float4` and its like: the class made of its fields.
    Construct,
    /// `assert`, `printf`, `__trap` and their like.
    Control,
    /// Textures and surfaces.
    Texture,
    /// What only the prelude calls.
    Prelude,
}

/// A function of CUDA, or several of one name.
#[derive(Clone, Copy, Debug)]
pub struct Intrinsic {
    /// As it is called.
    pub name: &'static str,
    /// The name that the tree uses.
    pub canonical: &'static str,
    /// What kind it is.
    pub class: Class,
    /// Signatures, one for each overload.
    pub signatures: &'static [&'static str],
    /// Types for `T`, separated by blanks.
    pub over: &'static str,
}

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Intrinsic> {
    math::TABLE
        .iter()
        .chain(integer::TABLE)
        .chain(warp::TABLE)
        .chain(atomics::TABLE)
        .chain(memory::TABLE)
        .chain(half::TABLE)
        .chain(vector::TABLE)
}

/// Those of a name.
pub fn named(name: &str) -> impl Iterator<Item = &'static Intrinsic> {
    all().filter(move |one| one.name == name)
}

/// An entry whose canonical name is its own.
const fn own(
    name: &'static str,
    class: Class,
    signatures: &'static [&'static str],
    over: &'static str,
) -> Intrinsic {
    Intrinsic { name, canonical: name, class, signatures, over }
}

/// An entry with another canonical name.
const fn called(
    name: &'static str,
    canonical: &'static str,
    class: Class,
    signatures: &'static [&'static str],
    over: &'static str,
) -> Intrinsic {
    Intrinsic { name, canonical, class, signatures, over }
}
