//! The target [`fuzz::npy`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::npy::fuzz(bytes));
