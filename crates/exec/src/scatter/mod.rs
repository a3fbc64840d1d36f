//! Writes at data-dependent addresses: `out[idx[i]] = v`, `atomicAdd(&bins[x[i]], 1)`.
//!
//! The element hit by such a write depends on inputs. So it does not change memory but is kept ([`Scatter`])
//! until the end of the launch. Then an element of the tensor is a choice: the written value if the place is
//! that element, and the old value otherwise ([`Scatter::element`]). That is the kernel's result if
//! - the launch accesses the tensor in no other way ([`judge`]): no read can miss a pending write, and no
//!   other write can come between;
//! - the writes are all stores, or all updates of one kind that commute;
//! - stores of two threads that may hit the same bytes are ordered or write the same. The domain bounds the
//!   difference of places ([`Domain::difference`](crate::domain::Domain::difference)); known inputs for which
//!   two coincide make a race.
//!
//! The order of threads of a block is not tracked here: two accesses are certainly unordered if no ordering
//! event happened between them ([`sync::Order::events`]), and open otherwise.

mod contents;
mod judge;

pub(crate) use judge::{LaunchContext, judge};
