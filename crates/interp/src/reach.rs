//! Intervals from the control-flow graph: the accesses that can be reached from the beginning, and from each barrier,
//! without another barrier in between.
//!
//! The engine of `allsizes` finds the same by recursion over the tree of statements. The two share only the kernel, so
//! a mistake in one of them shows.

use crate::code::{Code, Insn};
use crate::outcome::AccessKind;
use base::Span;
use kir::{ArrayId, Kernel};
use std::collections::BTreeSet;

/// An access in the source: array, place, kind.
pub type Place = (ArrayId, Span, u8);

/// The comparable form of an access.
pub fn place(array: ArrayId, span: Span, kind: AccessKind) -> Place {
    (array, span, kind as u8)
}

/// The accesses from a barrier, or from the beginning, to the next barriers.
pub struct Interval {
    /// The barrier.
    pub start: Option<Span>,
    /// Accesses that a thread can reach.
    pub places: BTreeSet<Place>,
}

/// The intervals of a kernel: the first one, then one for each barrier in source order.
pub fn intervals(kernel: &Kernel) -> Vec<Interval> {
    let code = Code::new(kernel);
    let mut intervals = vec![Interval { start: None, places: reached(&code, 0) }];
    for (position, insn) in code.insns.iter().enumerate() {
        if let Insn::Barrier(span) = insn {
            intervals.push(Interval { start: Some(*span), places: reached(&code, position + 1) });
        }
    }
    intervals
}

/// Returns the accesses that are reachable from an instruction without a barrier in between.
fn reached(code: &Code<'_>, first: usize) -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut unexplored = vec![first];
    while let Some(at) = unexplored.pop() {
        let Some(insn) = code.insns.get(at).filter(|_| seen.insert(at)) else { continue };
        match insn {
            Insn::Barrier(_) | Insn::Return => {}
            Insn::Jump(target) => unexplored.push(*target),
            Insn::Unless(_, target) => unexplored.extend([at + 1, *target]),
            Insn::Load(_, element) => {
                places.insert(place(element.array, element.span, AccessKind::Read));
                unexplored.push(at + 1);
            }
            Insn::Store(element, _) => {
                places.insert(place(element.array, element.span, AccessKind::Write));
                unexplored.push(at + 1);
            }
            Insn::Atomic(_, _, element, _) => {
                places.insert(place(element.array, element.span, AccessKind::Atomic));
                unexplored.push(at + 1);
            }
            _ => unexplored.push(at + 1),
        }
    }
    places
}
