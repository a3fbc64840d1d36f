//! The target [`fuzz::project`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::project::fuzz(bytes));
