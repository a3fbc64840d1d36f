//! The front end of `prove` reads CUDA C as NVRTC does: random kernels compute the same in both.
//!
//! `examples/reading.rs` compares more of them and shows where they differ. Needs NVRTC, which `.ci/run` installs; with
//! `WARPPROOF_REQUIRE_NVRTC` set it fails without.

#[path = "reading/mod.rs"]
mod reading;

use driver::Input;
use driver::cuda::CompileOptions;
use driver::cuda::locate::Environment;
use driver::prove::{Compiling, readings};

/// Programs of a test.
const PROGRAMS: usize = 500;

#[test]
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

/// Kernels in users' style compute the same as compiled by NVRTC, on small launches.
#[test]
fn files_of_users_are_read_as_the_compiler_reads_them() {
    if !reading::has_compiler() {
        assert!(std::env::var_os("WARPPROOF_REQUIRE_NVRTC").is_none(), "NVRTC is not found");
        return;
    }
    let environment = Environment::of_process().without_cache(true);
    let options = CompileOptions { environment, ..CompileOptions::default() };
    let compiling = Compiling { options, defines: Vec::new() };
    let (mut same, mut different) = (0, Vec::new());
    for path in testing::corpus::files_in("corpus/users", "cu") {
        let Ok(input) = Input::read_cuda(&path) else { continue };
        for found in readings(&input, &compiling) {
            same += usize::from(found.result == "same");
            if found.result == "different" {
                different.push(format!("{}::{}: {}", path.display(), found.kernel, found.detail));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(same >= 80, "{same} kernels were compared");
}

#[test]
fn a_number_is_one_program() {
    let texts = reading::texts(40, 1);
    assert_eq!(texts, reading::texts(40, 1));
    assert!(texts.iter().all(|text| text.contains("__global__ void kernel_")));
    assert!(texts.windows(2).all(|pair| pair[0] != pair[1]));
}
