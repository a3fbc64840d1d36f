//! Integer conditions over symbols, and procedures that decide them without a solver.
//!
//! [`poly`] and [`formula`] are the conditions, [`symbols`] what is known of each unknown. A condition is proved by
//! identity of polynomials, by digits ([`radix`]), at the vertices of the symbols' ranges ([`vertex`]), or by a
//! certificate of products of assumptions ([`products`]), which a checker accepts. Each procedure may fail to show a
//! true condition; none shows a false one. Nothing here knows of GPUs, kernels or solvers.

pub mod formula;
pub mod models;
pub mod multiples;
pub mod poly;
pub mod products;
pub mod radix;
mod range;
pub mod reduce;
pub mod symbols;
#[cfg(test)]
mod tests;
pub mod vertex;
