//! The target [`fuzz::recorded`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::recorded::fuzz(bytes));
