//! Elements of reducing copies (manual §9.7.9.25.4.2): each is an atomic update, relaxed at GPU scope, with a
//! weakly read element.

use super::access::read_element;
use super::atomic::{change_element, group};
use super::bulk::{async_access, check_word_for_global};
use super::tracked::track;
use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::lanes::WARP;
use crate::tracker::AccessAttributes;
use ir::{Atomic, AtomicOp};
use sync::{AgentId, MemoryEffect, SameValue};

/// A reducing copy started by a lane.
pub(super) struct Reduction<'a> {
    pub(super) update: &'a Atomic,
    pub(super) lane: usize,
    pub(super) id: AgentId,
}

impl Reduction<'_> {
    /// Updates one element. `to` is its first byte, or `None` in a buffer without bounds.
    pub(super) fn element(
        &self,
        context: &mut Context<'_, '_>,
        (area, from): (Area, usize),
        (pointer, to): (Pointer, Option<usize>),
    ) {
        let Self { update, lane, id } = *self;
        let size = update.scalar.width().bytes();
        let attributes = AccessAttributes {
            element: size,
            group: group(context, update),
            ..async_access(context, MemoryEffect::Update, id)
        };
        track(context, pointer, lane, size, attributes, SameValue::Different);
        let (mut value, mut old, mut unused) = ([0; WARP], [0; WARP], [0; WARP]);
        let bytes = size as usize;
        let at = Some(Some(from));
        let word = read_element(context, area, lane, at, bytes, [&mut value, &mut unused]);
        let word = match pointer.area {
            Area::Global(_) => check_word_for_global(context, pointer.area, (word, lane)),
            _ => word,
        };
        let Some(to) = to else { return };
        let at = Some(Some(to));
        let before = read_element(context, pointer.area, lane, at, bytes, [&mut old, &mut unused]);
        let operands = [(old[lane], before), (value[lane], word)];
        change_element(context, update, (pointer, lane, to), operands, None);
    }
}

/// Returns `true` if a linear copy may reduce elements of this type by this operation (manual §9.7.9.25.4.2).
pub(super) fn is_reducible(op: AtomicOp, scalar: ir::Scalar) -> bool {
    let bits = scalar.width().bits();
    match (op, scalar) {
        (AtomicOp::Add | AtomicOp::Min | AtomicOp::Max, ir::Scalar::Float(format)) => {
            op == AtomicOp::Add || matches!(format, ir::Format::F16 | ir::Format::Bf16)
        }
        (_, ir::Scalar::Float(_)) => false,
        (AtomicOp::Inc | AtomicOp::Dec, ir::Scalar::Integer { signed, .. }) => {
            bits == 32 && !signed
        }
        _ => bits >= 32,
    }
}
