//! The target [`fuzz::exec_text`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::exec_text::fuzz(bytes));
