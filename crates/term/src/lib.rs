//! Terms over the reals, built the way an interpreter of numeric programs does.
//!
//! A [`Terms`] store holds nodes ([`Node`]) and append-only sums of products ([`Sum`]); a [`Term`] is a copyable
//! handle to either. Values are mathematical reals: constants are exact ([`Number`]), inputs are finite, infinities
//! arise from constants only and are eliminated as soon as a constructor can. Nothing here decides equality of terms
//! (that is the `decide` crate), and nothing here knows where terms come from.
//!
//! **Meaning.** A term is a partial function of the inputs. Where an operation is undefined
//! (division by zero, logarithm of a non-positive number, …) so is every term that needs its
//! value; [`Node::Select`] needs only the branch it takes. Constructors may fold, but they never
//! change the value or the set of inputs where a term is defined.
//!
//! **Cost.** A fused multiply-add on an accumulator stores eight bytes and makes no node. Nothing
//! is hash-consed, constants excepted.
//!
//! ```
//! use std::sync::Arc;
//! use term::{Inputs, Terms};
//! let mut inputs = Inputs::new();
//! let x = inputs.tensor("x", 2).unwrap();
//! let y = inputs.scalar("y").unwrap();
//! let mut terms = Terms::new(Arc::new(inputs));
//! let (x, y, zero) = (terms.input(x), terms.input(y), terms.integer(0));
//! let once = terms.fused_multiply_add(x, y, zero);
//! let twice = terms.fused_multiply_add(x, y, once);
//! assert_eq!(terms.print(once), "x[0]*y");
//! assert_eq!(terms.print(twice), "x[0]*y + x[0]*y");
//! ```

mod build;
mod floats;
mod inputs;
mod node;
mod number;
mod order;
mod store;
mod sums;
mod table;
#[cfg(test)]
mod tests;
pub mod text;

pub use floats::FloatNumbers;
pub use inputs::{Input, Inputs, Numbers, TooManyInputs, indices};
pub use node::{ConstantId, Factors, Function, ListId, Node, NodeId, Relation, Sum, Term};
pub use number::Number;
pub use order::{Order, Walker, evaluation_order};
pub use store::Terms;
pub use sums::LANES;
pub use table::NodeTable;
