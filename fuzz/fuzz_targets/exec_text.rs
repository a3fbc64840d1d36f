//! Any valid PTX: its kernels run within their budget, without a panic. Small corpus files are good seeds.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| fuzz::run_all(text));
