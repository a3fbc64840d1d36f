//! The target [`fuzz::cuda_read`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::cuda_read::fuzz(bytes));
