//! The target [`fuzz::solver_answers`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::solver_answers::fuzz(bytes));
