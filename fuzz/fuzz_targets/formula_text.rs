//! The target [`fuzz::formula_text`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::formula_text::fuzz(bytes));
