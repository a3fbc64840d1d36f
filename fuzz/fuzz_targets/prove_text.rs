//! The target [`fuzz::prove_text`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::prove_text::fuzz(bytes));
