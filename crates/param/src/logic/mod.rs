//! Integer conditions over symbols and their decision procedures. Nothing here knows of GPUs.

pub(crate) mod formula;
mod models;
mod multiples;
mod pipe;
pub(crate) mod poly;
pub(crate) mod products;
pub(crate) mod prover;
mod question;
pub(crate) mod radix;
mod range;
mod reduce;
pub(crate) mod second_solver;
pub(crate) mod smt;
#[cfg(all(test, unix))]
mod smt_tests;
mod staged;
pub(crate) mod symbols;
#[cfg(test)]
mod tests;
pub(crate) mod vertex;
