//! Executes instructions whose operands are values of a domain ([`crate::domain`], [`crate::value`]).
//!
//! Cases not handled here are executed as in a run without a domain, and give opaque words where the result is
//! unknown. So an omission here loses a value but never makes a wrong one.

mod address;
mod atomic;
mod bits;
mod classify;
pub(crate) mod conditional;
mod conditional_access;
mod convert;
pub(super) mod expanded;
mod float;
mod integer;
mod legal;
mod matrix;
pub(crate) mod merge;
mod operand;
mod packed;
pub(crate) mod private;
mod ranged;
mod reals;
mod same;
mod select;
mod special;
mod truth;

use crate::concrete;
use crate::context::Context;
use crate::finding::{Gap, StopReason};
use crate::lanes::Lanes;
use crate::memory::Word;
use crate::tags::Tags;
use crate::value::reason;
pub(super) use atomic::update;
pub(super) use bits::moved;
pub(crate) use float::execute as float;
use ir::{Op, Operand, Reg, Width};
pub(super) use matrix::{enclosed_sums, integer_product, product as matrix_product};
pub(super) use merge::{can_add_choice, if_on_path, write_under};
pub(super) use operand::content;
use operand::raw;
pub(super) use same::{keeps, keeps_part};

/// Executes an operation on values. Returns `false` if it must be executed as in a run without a domain.
#[inline(never)]
pub(super) fn execute(context: &mut Context<'_, '_>, op: &Op) -> Result<bool, Gap> {
    if let Some(valued) = &mut context.valued {
        // Operations on floats announce their instruction. Its modifiers do not apply to the operations after it:
        // `x ^ 0x80000000` is not the `neg.ftz` before it.
        valued.domain.no_instruction();
    }
    match op {
        Op::Copy { dst, src } => Ok(copy(context, *dst, *src)),
        Op::Select { dst, condition, if_true, if_false } => {
            Ok(select::execute(context, *dst, *condition, [*if_true, *if_false]))
        }
        Op::IntUnary { width: Width::B1, dst, a, .. } => Ok(truth::not(context, *dst, *a)),
        Op::IntBinary { width: Width::B1, op, dst, a, b } => {
            Ok(truth::binary(context, *op, *dst, [*a, *b]))
        }
        Op::IntCompare { dst, .. } => truth::int_compare(context, op, *dst),
        Op::Concat { .. }
        | Op::Split { .. }
        | Op::Resize { .. }
        | Op::IntUnary { .. }
        | Op::IntBinary { .. }
        | Op::IntTernary { .. }
        | Op::InsertBits { .. } => bits::execute(context, op),
        Op::FloatUnary { .. }
        | Op::FloatBinary { .. }
        | Op::Fma { .. }
        | Op::Real { .. }
        | Op::FloatCompare { .. }
        | Op::FloatTest { .. }
        | Op::Convert { .. } => Ok(float(context, op)),
        _ => Ok(false),
    }
}

/// Copies a register with its words. Returns `false` for constants and for other widths.
fn copy(context: &mut Context<'_, '_>, dst: Reg, src: Operand) -> bool {
    if context.layout.width(dst) == Width::B1 {
        let words = context.registers.predicate_words(src);
        let (truth, tags) = (context.registers.predicate(src), context.registers.operand_tags(src));
        context.registers.write_truths(dst, &words, context.lanes);
        context.registers.write_predicate(dst, truth, tags, context.lanes);
        return true;
    }
    let (width, from) = match src {
        Operand::Register(src) => (context.layout.width(dst), context.layout.width(src)),
        Operand::Constant(_) => return false,
    };
    if width != from || width == Width::B128 {
        // Wider or narrower copies are rare; 128-bit words are moved below.
        return width == from && copy_upper(context, dst, src);
    }
    let (values, tags) = raw(context, src);
    context.write_words(dst, &values, tags);
    true
}

fn copy_upper(context: &mut Context<'_, '_>, dst: Reg, src: Operand) -> bool {
    let Operand::Register(from) = src else { return false };
    let (values, tags) = raw(context, src);
    let (layout, lanes) = (context.layout, context.lanes);
    let upper = *context.registers.upper(layout, from);
    context.write_words(dst, &values, tags);
    context.registers.write_upper(layout, dst, &upper, lanes);
    true
}

/// Extends a loaded value to its register: bits of numbers, words of unknown values.
pub(super) fn extend(
    context: &mut Context<'_, '_>,
    (from, signed): (Width, bool),
    dst: Reg,
    (values, tags): (&Lanes, Tags),
) {
    let to = context.layout.width(dst);
    let mut out = values.map(|bits| concrete::resize(from, signed, to, bits));
    let size = from.bytes() as usize;
    for lane in tags.unknown.and(context.lanes).iter() {
        let Some(valued) = &mut context.valued else { continue };
        let mut found = valued.store.bytes(values[lane], Word::Unknown);
        let integer = integer::number(valued, &found[..size], signed).filter(|_| signed);
        if let Some(bytes) =
            integer.and_then(|value| integer::all_bytes(value, to.bytes() as usize))
        {
            out[lane] = valued.store.word(&bytes).0;
            continue;
        }
        let opaque = crate::value::unit::Byte::Opaque(valued.lost(None, context.place));
        let zero = crate::value::unit::Byte::Known(0);
        let top = if signed { opaque } else { zero };
        found[size..].fill(top);
        found[(to.bytes() as usize).min(8)..].fill(zero);
        out[lane] = valued.store.word(&found).0;
    }
    context.write_words(dst, &out, tags);
}

/// A gap caused by a predicate, explained by the domain.
#[cold]
pub(crate) fn explained(context: &mut Context<'_, '_>, register: Reg, mut gap: Gap) -> Gap {
    let words = context.registers.predicate_words(register.into());
    let lane = context.registers.tags(register).unknown.and(context.lanes).lowest();
    if let (Some(valued), Some(lane)) = (&context.valued, lane) {
        gap.reason = format!("control flow depends on {}", valued.explain(words[lane]));
        if valued.store.units.lost(words[lane]).is_some_and(|lost| lost.reason == reason::NOT_FIXED)
        {
            gap.stop = StopReason::NotFixed;
        }
    }
    gap
}
