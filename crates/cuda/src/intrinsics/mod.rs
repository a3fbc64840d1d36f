//! Functions declared by CUDA's headers: names, signatures and classes (CUDA C++ Programming Guide; CUDA Math API).
//!
//! A signature is a row of types, the result first, in the letters of the Itanium C++ ABI: `v` void, `b` bool, `c`
//! char, `a` signed char, `h` unsigned char, `s` short, `t` unsigned short, `i` int, `j` unsigned, `l` long, `m`
//! unsigned long, `x` long long, `y` unsigned long long, `f` float, `d` double, `P` pointer to, `K` const, `V`
//! volatile, `z` an ellipsis; besides these `H` half, `B` `__nv_bfloat16`, `{float4}` a class, and `T`, which stands
//! for each of [`Intrinsic::over`] in turn.
//!
//! A function that is missing here is refused where it is called.

mod atomics;
mod entry;
mod half;
mod integer;
mod math;
mod memory;
mod vector;
mod warp;

pub use entry::{Class, Intrinsic};

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

/// Returns the functions of a name.
pub fn named(name: &str) -> impl Iterator<Item = &'static Intrinsic> {
    all().filter(move |one| one.name == name)
}
