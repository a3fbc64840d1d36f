//! The target [`fuzz::map_bits`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::map_bits::fuzz(bytes));
