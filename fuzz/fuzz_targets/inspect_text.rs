//! The target [`fuzz::inspect_text`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::inspect_text::fuzz(bytes));
