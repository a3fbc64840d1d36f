//! Tensor maps with elements that are rounded by the copy (`tf32`, flushed `f32`; manual §5.5.1, loads as
//! recorded on an H200).
//!
//! Over the reals that is the identity for floats; for other data behind such a map nothing is known.

use crate::address::Area;
use crate::context::Context;
use crate::domain::Numbers;
use crate::memory::Word;
use ir::TensorElement;

/// Returns `true` if a copy changes the bits of elements.
pub(super) fn rounds(element: TensorElement) -> bool {
    matches!(element, TensorElement::F32Ftz | TensorElement::Tf32 | TensorElement::Tf32Ftz)
}

/// Returns `true` if rounding is the identity over the reals: for loads of a tensor of such floats. The
/// rounding of stores was not recorded.
pub(super) fn keeps_reals(
    context: &Context<'_, '_>,
    (element, area): (TensorElement, Area),
    stores: bool,
) -> bool {
    let Area::Global(number) = area else { return false };
    let buffer = context.machine.launch.buffers.get(number);
    !stores && buffer.is_some_and(|buffer| buffer.element == Some(element.scalar()))
}

/// Returns `true` if a run encloses the bits that hardware may compute.
pub(super) fn is_legal(context: &Context<'_, '_>) -> bool {
    context.valued.as_ref().is_some_and(|one| one.domain.numbers() == Numbers::Legal)
}

/// Returns the number after rounding. Loads of tf32 round to the nearest; unrecorded cases are unknown.
pub(super) fn converted(element: TensorElement, value: u64, loads: bool) -> (u64, Word) {
    if !rounds(element) {
        return (value, Word::Number);
    }
    let bits = value as u32;
    let (exponent, fraction, dropped) = (bits >> 23 & 0xff, bits & 0x7f_ffff, bits & 0x1fff);
    let flushes = element != TensorElement::Tf32 && exponent == 0 && fraction != 0;
    let is_tf32 = element != TensorElement::F32Ftz;
    match () {
        () if flushes => (value, Word::Unknown),
        () if !is_tf32 || dropped == 0 => (value, Word::Number),
        () if !loads || exponent == 0xff || dropped == 0x1000 => (value, Word::Unknown),
        () => (u64::from(bits.wrapping_add(0x1000) & !0x1fff), Word::Number),
    }
}
