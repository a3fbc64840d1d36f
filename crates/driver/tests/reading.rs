//! The front end of `prove` reads CUDA C as NVRTC does: random kernels compute the same in both.
//!
//! `examples/reading.rs` compares more of them and shows where they differ. Needs NVRTC, which `.ci/run` installs; with
//! `WARPPROOF_REQUIRE_NVRTC` set it fails without.

#[path = "reading/mod.rs"]
mod reading;

/// Programs of a test.
const PROGRAMS: usize = 500;

#[test]
#[ignore = "until the new front end lands"]
fn random_kernels_are_read_as_the_compiler_reads_them() {
    if !reading::has_compiler() {
        assert!(std::env::var_os("WARPPROOF_REQUIRE_NVRTC").is_none(), "NVRTC is not found");
        return;
    }
    let report = reading::run(PROGRAMS, 1, 2);
    assert!(report.different.is_empty(), "{}{}", report.table(), report.shown);
    let refused: usize = report.refused.values().sum();
    assert!(report.same > 0 && report.overflow + refused < PROGRAMS, "{}", report.table());
}

#[test]
fn a_number_is_one_program() {
    let texts = reading::texts(40, 1);
    assert_eq!(texts, reading::texts(40, 1));
    assert!(texts.iter().all(|text| text.contains("__global__ void kernel_")));
    assert!(texts.windows(2).all(|pair| pair[0] != pair[1]));
}
