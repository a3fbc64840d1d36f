//! The target [`fuzz::editor`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::editor::fuzz(bytes));
