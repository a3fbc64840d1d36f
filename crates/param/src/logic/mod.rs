//! Integer conditions over symbols and their decision procedures. Nothing here knows of GPUs.

#[cfg(all(test, unix))]
mod asking;
pub(crate) mod formula;
mod models;
mod multiples;
mod pipe;
pub(crate) mod poly;
pub(crate) mod products;
mod question;
pub(crate) mod radix;
mod range;
mod reduce;
pub(crate) mod second;
pub(crate) mod side;
pub(crate) mod smt;
mod staged;
pub(crate) mod symbols;
#[cfg(test)]
mod tests;
pub(crate) mod vertex;
