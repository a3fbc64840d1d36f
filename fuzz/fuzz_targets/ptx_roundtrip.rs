//! The target [`fuzz::ptx_roundtrip`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::ptx_roundtrip::fuzz(bytes));
