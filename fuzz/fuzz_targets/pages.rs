//! The target [`fuzz::pages`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::pages::fuzz(bytes));
