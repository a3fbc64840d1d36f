//! The target [`fuzz::ptx_lower`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::ptx_lower::fuzz(bytes));
