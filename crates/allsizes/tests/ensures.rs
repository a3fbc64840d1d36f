//! Kernels with postconditions in `corpus/param/ensures`: each is proved for every size, and no mutant is. Checks
//! that need a solver run only if there is one.

mod support;

use allsizes::engine::Property;
use support::mutants::{check, names};

/// One test per kernel, so that they run side by side.
macro_rules! kernels {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check("ensures", stringify!($name), Property::Postcondition); })*
    };
}

kernels! { compact diffusion diffusion_2d matmul matmul_rows relu reverse stencil transpose vector_add }

#[test]
fn every_kernel_is_tested() {
    assert_eq!(names("ensures"), NAMES);
}
