//! Who waits for whom, and whose memory accesses are ordered, in a block of threads.
//!
//! Two relations on the events of a block (PTX manual §8.9, §9.7.13):
//!
//! - **waits-for**: everything that blocks, and exit. It decides which operations match, whether a
//!   barrier may be used again, and deadlock. Here it is kept between warps (`barriers.rs`), because
//!   what crosses warps is a registration at a barrier, which is an event of a whole warp; where there are
//!   mbarriers also for lanes (`mbarrier/`).
//! - **orders-memory**, a part of the first: from `sync`, `red` and `arrive` of a barrier's
//!   generation to its `sync` and `red`, `bar.warp.sync`, waits for asynchronous copies, and from releasing arrivals of
//!   an mbarrier's phase to acquiring waits for it. It
//!   decides races. Shuffles, votes and their like are not in it. Here it is kept for every thread
//!   ([`Clocks`]), because two lanes of one warp can race.
//!
//! Both are transitive: they are kept as vector clocks. The crate knows threads, places and
//! bytes; it knows nothing of instructions and values. An engine tells [`Order`] what happens, in
//! the order of one execution, and asks.
//!
//! [`Shadow`] remembers who accessed which byte and compares each access with those before it, as
//! FastTrack does (Flanagan and Freund, 2009), but by sets of lanes and with one epoch for a
//! barrier of the whole block. [`Grid`] compares blocks with each other.

mod barriers;
mod cell;
mod clocks;
mod cluster;
mod copies;
mod entry;
mod event;
mod grid;
mod lanes;
mod lifetimes;
mod map_fences;
mod mbarrier;
mod meetings;
mod order;
mod pages;
mod products;
mod proxy;
mod shadow;

pub use barriers::{Generation, Misuse, Registration, Released, Reuse};
pub use clocks::{Clocks, LaneId, Time};
pub use cluster::{ClusterMisuse, ClusterStatus, Shape};
pub use copies::{Copies, CopyId};
pub use event::SyncEvent;
pub use grid::{Grid, Touched};
pub use lanes::{MOST_WARPS, Mask, WARP};
pub use lifetimes::RemoteAccess;
pub use map_fences::MapPlace;
pub use mbarrier::{
    ArrivalTerms, Lanes, MbarrierAnswer, MbarrierEvent, MbarrierFinding, MbarrierId,
    MbarrierMisuse, MbarrierPlace, MbarrierReuse, MbarrierScope, MbarrierState, MbarrierStatus,
    MbarrierStop, NamedPhase, Outcome as MbarrierOutcome, Overtaken, WaitTerms, Waiting,
};
pub use order::Order;
pub use products::ReadUnits;
pub use proxy::{ProxySpace, Visibility};
pub use shadow::{
    Access, Conflict, Conflicts, Kind, MBARRIER_UPDATES, Part, Question, SameValue, Shadow, Side,
    Site, UpdateGroup,
};
