//! The attributes that the accesses of an instruction share.

use crate::lanes::Mask;
use sync::{Access, AgentId, MemoryEffect, SameValue, Site, UpdateGroup};

/// The attributes of an instruction's access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessAttributes {
    pub(crate) kind: MemoryEffect,
    pub(crate) site: Site,
    /// Bytes of one value.
    pub(crate) element: u32,
    pub(crate) copy: Option<AgentId>,
    /// Set if the access goes through the async proxy.
    pub(crate) is_async: bool,
    pub(crate) non_coherent: bool,
    pub(crate) group: UpdateGroup,
    /// Set if the address of a write determines its value ([`crate::determined_stores`]).
    pub(crate) is_determined: bool,
}

impl AccessAttributes {
    /// An ordinary access to values of `element` bytes.
    pub(crate) fn plain(kind: MemoryEffect, site: Site, element: u32) -> Self {
        Self {
            kind,
            site,
            element,
            copy: None,
            is_async: false,
            non_coherent: false,
            group: None,
            is_determined: false,
        }
    }

    /// A store of values of `element` bytes.
    pub(crate) fn store(site: Site, element: u32, is_determined: bool) -> Self {
        Self { is_determined, ..Self::plain(MemoryEffect::Write, site, element) }
    }

    /// Returns the access of some lanes of a warp.
    pub(super) fn by(self, (warp, lanes): (usize, Mask), same_value: SameValue) -> Access {
        let Self { kind, site, element, copy, is_async, non_coherent, group, is_determined } = self;
        Access {
            warp,
            lanes,
            kind,
            site,
            element,
            copy,
            is_async,
            non_coherent,
            group,
            same_value,
            is_determined,
        }
    }
}
