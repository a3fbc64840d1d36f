//! The target [`fuzz::triton_json`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::triton_json::fuzz(bytes));
