//! The program's version and build, for `--version` and reports of bugs.

/// The newest PTX version that the catalogue of instructions covers.
macro_rules! ptx_isa {
    () => {
        "9.0"
    };
}

/// Version, revision, compiler and target.
pub(crate) const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nrevision ",
    env!("WARPPROOF_REVISION"),
    "\nbuilt for ",
    env!("WARPPROOF_TARGET"),
    " (",
    env!("WARPPROOF_PROFILE"),
    ") by ",
    env!("WARPPROOF_RUSTC"),
    "\nPTX ISA ",
    ptx_isa!(),
);
