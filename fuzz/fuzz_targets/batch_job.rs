//! The target [`fuzz::batch_job`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::batch_job::fuzz(bytes));
