//! Conversions of values. Between floats they are the identity, or with `.satfinite` a clamp to the numbers
//! of a small format. Conversions to integers need a decision of the domain.
//!
//! Known numbers stay bits if the conversion loses nothing; otherwise the domain gets the exact number.

use super::operand::{Patch, bytes, is_number, raw};
use super::reals::{Query, Shape, query_domain, reals, write};
use super::{integer, legal};
use crate::concrete;
use crate::concrete::Conversion;
use crate::context::Context;
use crate::domain::Numbers;
use crate::handle::Handle;
use crate::lanes::{Mask, WARP};
use crate::legal::{Enclosure, enclosure};
use crate::memory::Word;
use crate::value::bytes::Bytes;
use crate::value::reason;
use crate::value::unit::Sort;
use ir::{FloatMode, Format, Operand, Reg, Scalar, Width};

/// Executes a conversion. Returns `true` if the domain is involved.
pub(super) fn execute(
    context: &mut Context<'_, '_>,
    conversion: Conversion,
    dst: Reg,
    src: Operand,
) -> bool {
    let Conversion { from, to, rounding, saturate, relu, .. } = conversion;
    let mode = FloatMode { rounding, saturate, relu, ..FloatMode::NEAREST };
    match (from, to) {
        (Scalar::Float(from), Scalar::Float(to)) => {
            let general = context.machine.general;
            if to == Format::F32 && !general && widen_halves(context, conversion, from, dst, src) {
                return true;
            }
            if is_number(context, src) && is_exact(context, from, to, mode, src) {
                return false;
            }
            let source = raw(context, src);
            let lanes = context.lanes.without(source.1.poison);
            let values = [reals(context, &source, from, 0, lanes)];
            let Some(valued) = &mut context.valued else { return false };
            let mut results = [[0; WARP]; 8];
            let query: Query<'_, 1> =
                &mut |valued, [a], lanes, out| valued.domain.convert(&conversion, a, lanes, out);
            results[0] = query_domain(valued, mode, &values, lanes, query);
            legal::drop_aliases(valued, &mut results[0]);
            let tags = source.1;
            let operands = (&[source], &values);
            let machine = |[a]: [&Enclosure; 1]| enclosure::convert(conversion, a);
            legal::attach_enclosures(valued, (from, 0), operands, lanes, &machine, &mut results[0]);
            let shape = Shape { format: to, count: 1, mode };
            write(context, shape, dst, &results, tags);
            legal::write_fixed(context, shape, dst, &results);
            true
        }
        (Scalar::Integer { width, signed }, Scalar::Float(to)) => {
            if is_number(context, src) && is_exact_from_integer(context, from, to, mode, src) {
                return false;
            }
            let (values, tags) = raw(context, src);
            let size = width.bytes() as usize;
            let found: [Bytes; WARP] =
                std::array::from_fn(|lane| bytes(context, &(values, tags), lane));
            let Some(valued) = &mut context.valued else { return false };
            let opaque = valued.lost(tags.origin, context.place);
            let integers = std::array::from_fn(|lane| {
                if !tags.is_number_in(Mask(1 << lane)) {
                    let number = integer::number(valued, &found[lane][..size], signed);
                    return number.filter(|_| tags.unknown.has(lane)).unwrap_or(opaque);
                }
                let bits = values[lane] & width.mask();
                let number = concrete::resize(width, signed, Width::B64, bits);
                let number = match signed {
                    true => i128::from(number.cast_signed()),
                    false => i128::from(number),
                };
                valued.domain.integer(number)
            });
            let query: Query<'_, 1> =
                &mut |valued, [a], lanes, out| valued.domain.convert(&conversion, a, lanes, out);
            let mut results = [[0; WARP]; 8];
            results[0] = query_domain(valued, mode, &[integers], context.lanes, query);
            let known = context.lanes.without(tags.unknown).without(tags.pointer);
            legal::attach_exact(valued, to, known.without(tags.poison), &mut results[0], |lane| {
                concrete::convert(conversion, values[lane] & width.mask())
            });
            write(context, Shape { format: to, count: 1, mode }, dst, &results, tags);
            true
        }
        (Scalar::Float(from), Scalar::Integer { width, signed }) => {
            if is_number(context, src) {
                return false;
            }
            to_integer(context, from, (width, signed), conversion, (dst, src));
            true
        }
        _ => false,
    }
}

/// Fast path: converts halves to singles, if the operand is a half-precision value in every lane. Returns `false` if it
/// declines.
///
/// The result is the same value, as a real number. Its bits may not be those of the half with zeros below: subnormal
/// numbers may be flushed, and NaNs lose their payload.
fn widen_halves(
    context: &mut Context<'_, '_>,
    conversion: Conversion,
    from: Format,
    dst: Reg,
    src: Operand,
) -> bool {
    let Context { registers, layout, lanes, valued: Some(valued), .. } = context else {
        return false;
    };
    let sort = Sort::float(from);
    let changes = conversion.saturate || conversion.relu || conversion.flush;
    let keeps_bits = valued.domain.numbers() == Numbers::Legal;
    if changes || keeps_bits || sort.bytes() != 2 || layout.width(dst) != Width::B32 {
        return false;
    }
    let Some(words) = registers.unknown_narrow(layout, src, Width::B16, *lanes) else {
        return false;
    };
    let units = &valued.store.units;
    let mut out = [0; WARP];
    if *lanes != Mask::ALL || !units.find_values_alone(words, sort, &mut out) {
        for lane in lanes.iter() {
            let Some(value) = units.half(words[lane], 0, sort) else { return false };
            out[lane] = value;
        }
    }
    registers.write_data(layout, dst, &out, *lanes);
    true
}

/// Returns `true` if a conversion of numbers loses nothing, so that its bits are the exact result.
fn is_exact(
    context: &mut Context<'_, '_>,
    from: Format,
    to: Format,
    mode: FloatMode,
    src: Operand,
) -> bool {
    let (values, _) = context.read(src, from.width());
    let clamps = mode.saturate || mode.relu;
    !clamps
        && context.lanes.iter().all(|lane| {
            let there = Conversion::nearest(Scalar::Float(from), Scalar::Float(to));
            let back = Conversion::nearest(Scalar::Float(to), Scalar::Float(from));
            let bits = values[lane];
            concrete::convert(back, concrete::convert(there, bits)) == bits
        })
}

/// Like [`is_exact`], for conversions from integers.
fn is_exact_from_integer(
    context: &mut Context<'_, '_>,
    from: Scalar,
    to: Format,
    mode: FloatMode,
    src: Operand,
) -> bool {
    let (values, _) = context.read(src, from.width());
    let there = Conversion::nearest(from, Scalar::Float(to));
    let back = Conversion::nearest(Scalar::Float(to), from);
    let kept = |bits: u64| concrete::convert(back, concrete::convert(there, bits)) == bits;
    // A float that is too large is clamped to the largest integer.
    let bound = from.width().mask();
    let clamped = |bits: u64| bits == bound || bits == bound >> 1;
    !mode.saturate && context.lanes.iter().all(|lane| kept(values[lane]) && !clamped(values[lane]))
}

/// Converts to integers where the domain decides the result.
fn to_integer(
    context: &mut Context<'_, '_>,
    from: Format,
    (width, signed): (Width, bool),
    conversion: Conversion,
    (dst, src): (Reg, Operand),
) {
    let source = raw(context, src);
    let lanes = context.lanes.without(source.1.poison);
    let values = reals(context, &source, from, 0, lanes);
    let place = context.place;
    let (lowest, highest) = match signed {
        true => (-(1i128 << (width.bits() - 1)), (1i128 << (width.bits() - 1)) - 1),
        false => (0, i128::from(width.mask())),
    };
    let mut patch = Patch::new();
    context.write(dst, &source.0, source.1.spread());
    for lane in lanes.iter() {
        let Some(valued) = &mut context.valued else { return };
        let word = values[lane];
        let followed = Handle(word).is_value();
        let legal = legal::integer(valued, conversion, from, word).filter(|_| followed);
        let exact = |number: i128| number.clamp(lowest, highest) as u64 & width.mask();
        let number = match valued.domain.numbers() {
            Numbers::Legal => legal,
            _ if !followed => None,
            Numbers::Real => valued.domain.round(word, conversion.rounding).map(exact),
            Numbers::Confirmed => {
                let real = valued.domain.round(word, conversion.rounding).map(exact);
                real.filter(|_| real == legal)
            }
        };
        match number {
            Some(bits) => patch.set(lane, (bits, Word::Number)),
            None => {
                let reason = match legal::is_enclosed(valued, word) {
                    true => reason::NOT_FIXED,
                    false => reason::INTEGER,
                };
                let opaque = match valued.store.units.lost(word).filter(|_| word != 0) {
                    Some(_) => word,
                    None => valued.store.units.opaque(Some(place), reason),
                };
                patch.set(lane, (u64::from(opaque) | u64::from(opaque) << 32, Word::Unknown));
            }
        }
    }
    patch.apply(context, dst);
}
