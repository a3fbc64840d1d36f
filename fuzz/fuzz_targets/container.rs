//! The target [`fuzz::container`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::container::fuzz(bytes));
