//! The target named in `WARPPROOF_FUZZ`.

#![no_main]

use fuzz::Target;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("WARPPROOF_FUZZ").unwrap_or_default();
    let known: Vec<&str> = fuzz::TARGETS.iter().map(|(name, _)| *name).collect();
    fuzz::target(&name).unwrap_or_else(|| panic!("WARPPROOF_FUZZ is `{name}`, none of {known:?}"))
});

fuzz_target!(|bytes: &[u8]| TARGET(bytes));
