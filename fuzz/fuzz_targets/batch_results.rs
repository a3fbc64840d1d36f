//! The target [`fuzz::batch_results`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::batch_results::fuzz(bytes));
