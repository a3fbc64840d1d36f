//! Synchronisation within a launch: the waits-for order and the order of memory accesses.
//!
//! Two relations on the events of a block (PTX manual §8.9, §9.7.13):
//!
//! - **waits-for** covers every blocking operation and exit. It decides how operations match, barrier reuse
//!   and deadlock. It is kept between warps (`barriers.rs`), because registrations at barriers carry it from
//!   warp to warp, and they are events of whole warps. Where there are mbarriers it is also kept for lanes
//!   (`mbarrier/`).
//! - **orders-memory** is a part of the first. It leads from `sync`, `red` and `arrive` of a barrier's
//!   generation to its `sync` and `red`, through `bar.warp.sync` and waits for asynchronous copies, and from
//!   releasing arrivals of an mbarrier's phase to acquiring waits for it. It decides races. Shuffles, votes
//!   and similar operations do not order memory. It is kept for every thread ([`Clocks`]), because two lanes
//!   of one warp can race.
//!
//! Both are transitive, so both are kept as vector clocks. The crate knows threads, places and bytes. It does
//! not know instructions or values. An engine reports events to [`Order`], in the order of one execution, and
//! queries it.
//!
//! [`Shadow`] records accesses by byte and compares each with the earlier ones, as FastTrack does (Flanagan
//! and Freund, 2009), but with sets of lanes and one epoch for a barrier of the whole block. [`Grid`]
//! compares blocks with each other.

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
mod order;
mod pages;
mod product_rendezvous;
mod products;
mod proxy;
mod shadow;

pub use barriers::{BarrierMisuse, BarrierReuse, CompletedGeneration, Generation, Registration};
pub use clocks::{Clocks, LaneId, Time};
pub use cluster::{ClusterMisuse, ClusterStatus, Shape};
pub use copies::{AgentId, AsyncAgents};
pub use event::SyncEvent;
pub use grid::{BlockAccesses, Grid};
pub use lanes::{MAX_WARPS, Mask, WARP};
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
    Access, AccessPart, Conflict, ConflictSide, Conflicts, MBARRIER_UPDATES, MemoryEffect,
    RequiredCertainty, SameValue, Shadow, Site, UpdateGroup, each_place,
};
