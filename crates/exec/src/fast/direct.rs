//! Fast path for common operations on numbers and pointers that are not pre-decoded ([`super::decode`]). The
//! result is computed in place.
//!
//! All others are left to [`crate::interpret`], which gives the same result where both apply.

use crate::address::{self, Pointer, keeps_region};
use crate::concrete::lanes::{self, narrow};
use crate::context::{Context, Scratch};
use crate::lanes::{Mask, WARP};
use crate::layout::Layout;
use crate::registers::Registers;
use crate::tags::Tags;
use ir::{IntBinary, Op, Operand, Reg, Relation, Width};

/// Executes a common operation. Returns `false` if it declines.
#[inline]
pub(super) fn execute(context: &mut Context<'_, '_>, op: &Op) -> bool {
    let Context { registers, layout, scratch, lanes, .. } = context;
    let mut target = Target { registers, layout, scratch, lanes: *lanes };
    match op {
        Op::IntBinary { op, width, dst, a, b } => target.int_binary(*op, *width, *dst, *a, *b),
        Op::IntCompare { relation, signed, width, dst, a, b } => {
            target.int_compare((*relation, *signed), *width, *dst, [*a, *b])
        }
        Op::Copy { dst, src } => target.copy(*dst, *src),
        Op::Select { dst, condition, if_true, if_false } => {
            target.select(*dst, *condition, [*if_true, *if_false])
        }
        _ => false,
    }
}

/// The state that an operation reads and writes.
struct Target<'t> {
    registers: &'t mut Registers,
    layout: &'t Layout,
    scratch: &'t mut Scratch,
    lanes: Mask,
}

impl Target<'_> {
    /// Computes integer operations, and sums of pointers and numbers.
    fn int_binary(
        &mut self,
        op: IntBinary,
        width: Width,
        dst: Reg,
        a: Operand,
        b: Operand,
    ) -> bool {
        let Self { registers, layout, scratch, lanes } = self;
        if width == Width::B1 || matches!(op, IntBinary::Div { .. } | IntBinary::Rem { .. }) {
            return false;
        }
        let tags = match registers.is_number(a) && registers.is_number(b) {
            true => Tags::NUMBER,
            false => match moved_pointers(registers, (layout, *lanes), op, width, [a, b]) {
                Some(pointers) => Tags::pointer(pointers),
                None => return false,
            },
        };
        let into = (dst, &tags, *lanes);
        let shifts = matches!(op, IntBinary::Shl | IntBinary::Shr { .. });
        let operands = ([a, b], [width, if shifts { Width::B32 } else { width }]);
        registers.compute(layout, operands, &mut scratch.wide, into, |out, [a, b]| {
            lanes::int_binary(op, width, out, a, b);
        });
        true
    }

    fn int_compare(
        &mut self,
        (relation, signed): (Relation, bool),
        width: Width,
        dst: Reg,
        [a, b]: [Operand; 2],
    ) -> bool {
        let Self { registers, layout, scratch, lanes } = self;
        if !registers.is_number(a) || !registers.is_number(b) {
            return false;
        }
        let truth = if width == Width::B32 {
            let [first, second, _] = &mut scratch.narrow;
            let a = registers.narrow(layout, a, first);
            let b = registers.narrow(layout, b, second);
            narrow::int_compare(relation, signed, a, b)
        } else {
            let [first, second, _] = &mut scratch.wide;
            let a = registers.word(layout, a, width, first);
            let b = registers.word(layout, b, width, second);
            lanes::int_compare(relation, signed, width, a, b)
        };
        registers.write_predicate(dst, Mask(truth), Tags::NUMBER, *lanes);
        true
    }

    fn copy(&mut self, dst: Reg, src: Operand) -> bool {
        let Self { registers, layout, scratch, lanes } = self;
        let width = layout.width(dst);
        if matches!(width, Width::B1 | Width::B128) || !registers.is_number(src) {
            return false;
        }
        let into = (dst, &Tags::NUMBER, *lanes);
        let operands = ([src], [width]);
        registers.compute(layout, operands, &mut scratch.wide, into, |out, [src]| *out = *src);
        true
    }

    fn select(&mut self, dst: Reg, condition: Operand, operands: [Operand; 2]) -> bool {
        let Self { registers, layout, scratch, lanes } = self;
        let [a, b] = operands;
        let numbers = [condition, a, b].iter().all(|&operand| registers.is_number(operand));
        if !numbers {
            return false;
        }
        let truth = registers.predicate(condition).0;
        let into = (dst, &Tags::NUMBER, *lanes);
        registers.compute_narrow(layout, operands, &mut scratch.narrow, into, |out, [a, b]| {
            narrow::select(truth, out, a, b);
        })
    }
}

/// Returns the lanes with a pointer as the result, if the operation only adds numbers to pointers or
/// subtracts them, and the results stay near their allocation.
pub(super) fn moved_pointers(
    registers: &Registers,
    (layout, lanes): (&Layout, Mask),
    op: IntBinary,
    width: Width,
    operands: [Operand; 2],
) -> Option<Mask> {
    let [of_a, of_b] = operands.map(|operand| registers.pointers(operand));
    let (of_a, of_b) = (of_a?, of_b?);
    let moves = match op {
        IntBinary::Add => of_a.and(of_b).is_empty(),
        IntBinary::Sub => of_b.is_empty(),
        _ => false,
    };
    if !moves || !matches!(width, Width::B32 | Width::B64) {
        return None;
    }
    let (mut first, mut second) = ([0; WARP], [0; WARP]);
    let [a, b] = operands;
    let a = registers.word(layout, a, width, &mut first);
    let b = registers.word(layout, b, width, &mut second);
    let pointers = of_a.or(of_b);
    if pointers == Mask::ALL && (of_a == Mask::ALL || of_b == Mask::ALL) {
        let (pointers, numbers) = if of_a == Mask::ALL { (a, b) } else { (b, a) };
        if address::keep_regions((pointers, numbers), op == IntBinary::Sub, width == Width::B64) {
            return Some(Mask::ALL);
        }
    }
    let mut last = None;
    let stays = |lane: usize| {
        let (pointer, number) =
            if of_a.has(lane) { (a[lane], b[lane]) } else { (b[lane], a[lane]) };
        // Lanes often repeat the same operands.
        if last.replace((pointer, number)) == Some((pointer, number)) {
            return true;
        }
        let sum = match op {
            IntBinary::Sub => pointer.wrapping_sub(number),
            _ => pointer.wrapping_add(number),
        };
        is_pointer(pointer, width) && keeps_region(pointer, sum & width.mask())
    };
    pointers.and(lanes).iter().all(stays).then_some(pointers)
}

/// Returns `true` if a lane tagged as a pointer holds a whole one rather than half of a 64-bit address.
pub(super) fn is_pointer(value: u64, width: Width) -> bool {
    (width == Width::B64 && value >> 32 != 0) || Pointer::decode_in_window(value).is_some()
}
