//! The target [`fuzz::exec_generated`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::exec_generated::fuzz(bytes));
