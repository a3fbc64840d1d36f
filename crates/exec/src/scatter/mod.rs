//! Writes at addresses that are data: `out[idx[i]] = v`, `atomicAdd(&bins[x[i]], 1)`.
//!
//! Which element such a write hits depends on inputs, so it does not change memory but is kept ([`Scatter`]) until the launch is over.
//! Then an element of the tensor is a choice: what was written if the place is that element, what was there before elsewhere
//! ([`Scatter::element`]). That is what the kernel leaves if
//! - the launch accesses the tensor in no other way ([`close`]): no read can miss a write that waits here, and no other write can come
//!   between;
//! - the writes are all stores, or all updates of one kind that commute;
//! - stores of two threads that may hit the same bytes are ordered or leave the same. The domain says which places may be the same
//!   ([`Domain::difference`](crate::domain::Domain::difference)); if inputs are known for which they are, that is a race.
//!
//! The order of threads of a block is not followed here: two accesses are unordered for sure if nothing happened between them
//! that orders anything ([`sync::Order::events`]), and open otherwise.

mod close;
mod contents;

pub(crate) use close::{Launched, close};
