//! The grammar of PTX: text to tree ([`parse()`]) and tree to text ([`print()`]).
//!
//! No code here knows an instruction by name.

pub mod ast;
mod number;
mod parse;
mod print;
mod token;

pub use number::Value;
pub use parse::{Parsed, parse};
pub use print::print;
