//! Operations on pointers.
//!
//! Base addresses are multiples of the alignment their allocation declares, and nothing else is known about
//! them. So a pointer plus a number is a pointer, if it stays near its allocation. The bits below the
//! alignment are numbers, and so are differences and comparisons within one allocation. Everything else is
//! unknown.

use crate::address::{Area, Pointer, keeps_region, window};
use crate::context::Context;
use crate::finding::Gap;
use crate::lanes::{Lanes, Mask};
use crate::tags::{Source, Tags};
use ir::{IntBinary, Operand, Reg, Relation, Space, Width};

/// Returns the tags of `op` on operands with pointers in some lanes; may correct `result`.
pub(super) fn binary(
    context: &Context<'_, '_>,
    op: IntBinary,
    width: Width,
    (a, a_tags): (&Lanes, Tags),
    (b, b_tags): (&Lanes, Tags),
    result: &mut Lanes,
) -> Tags {
    let mut tags = a_tags.combine(b_tags);
    if !matches!(width, Width::B32 | Width::B64) {
        return tags;
    }
    let either = a_tags.pointer.or(b_tags.pointer);
    let clean = either.without(a_tags.unknown.or(b_tags.unknown).or(tags.poison));
    // Addresses of tiles and barriers are the same in all lanes.
    let same_kind = |tags: Tags| [Mask::ALL, Mask::NONE].contains(&tags.pointer);
    let uniform = clean == Mask::ALL
        && same_kind(a_tags)
        && same_kind(b_tags)
        && [a, b, &*result].into_iter().all(is_uniform);
    for lane in if uniform { Mask::one(0) } else { clean }.iter() {
        let lanes = if uniform { Mask::ALL } else { Mask::one(lane) };
        let (a_is, b_is) = (a_tags.pointer.has(lane), b_tags.pointer.has(lane));
        let outcome = match (op, a_is, b_is) {
            (IntBinary::Add | IntBinary::Sub, true, false) => moved(a[lane], result[lane], width),
            (IntBinary::Add, false, true) => moved(b[lane], result[lane], width),
            (IntBinary::Sub, true, true) => difference(a[lane], b[lane], width),
            (IntBinary::And | IntBinary::Or | IntBinary::Xor, true, false) => {
                bitwise(context, op, a[lane], b[lane], width)
            }
            (IntBinary::And | IntBinary::Or | IntBinary::Xor, false, true) => {
                bitwise(context, op, b[lane], a[lane], width)
            }
            _ => Outcome::Unknown,
        };
        match outcome {
            Outcome::Unknown => continue,
            Outcome::Pointer => tags.pointer = tags.pointer.or(lanes),
            Outcome::Number(value) if uniform => result.fill(value & width.mask()),
            Outcome::Number(value) => result[lane] = value & width.mask(),
        }
        tags.unknown = tags.unknown.without(lanes);
    }
    if tags.unknown.is_empty() && tags.poison.is_empty() {
        tags.origin = None;
    }
    tags
}

/// Returns `true` if all lanes have the same value.
fn is_uniform(values: &Lanes) -> bool {
    // Without early exit, this can use vector instructions.
    values.iter().fold(0, |different, value| different | (value ^ values[0])) == 0
}

enum Outcome {
    Pointer,
    Number(u64),
    Unknown,
}

/// Decodes an address of unknown space: 32 bits are an address in some window.
fn decode(address: u64, width: Width) -> Option<Pointer> {
    match width == Width::B32 || address >> 32 == 0 {
        true => Pointer::decode_in_window(address),
        false => Pointer::decode(address, Space::Generic),
    }
}

/// The result of moving a pointer: a pointer if it stays in its region, and if the operand is one rather than
/// half of a longer address.
fn moved(before: u64, after: u64, width: Width) -> Outcome {
    let after = after & width.mask();
    match decode(before, width).is_some() && keeps_region(before, after) {
        true => Outcome::Pointer,
        false => Outcome::Unknown,
    }
}

fn difference(a: u64, b: u64, width: Width) -> Outcome {
    match (decode(a, width), decode(b, width)) {
        (Some(a), Some(b)) if a.area == b.area => {
            Outcome::Number(a.offset.wrapping_sub(b.offset).cast_unsigned())
        }
        _ => Outcome::Unknown,
    }
}

/// Computes a bitwise operation: bits below the alignment can be read, set and cleared.
fn bitwise(
    context: &Context<'_, '_>,
    op: IntBinary,
    address: u64,
    number: u64,
    width: Width,
) -> Outcome {
    let align = decode(address, width).map_or(1, |pointer| alignment(context, pointer));
    let low = align.wrapping_sub(1) & width.mask();
    match op {
        // `p & 15`.
        IntBinary::And if number & !low == 0 => Outcome::Number(address & number),
        // `p & ~15`.
        IntBinary::And if !number & width.mask() & !low == 0 => Outcome::Pointer,
        // `p | 4` and `p ^ 4`.
        IntBinary::Or | IntBinary::Xor if number & !low == 0 => Outcome::Pointer,
        _ => Outcome::Unknown,
    }
}

/// The known alignment of the allocation.
pub(super) fn alignment(context: &Context<'_, '_>, pointer: Pointer) -> u64 {
    match pointer.area {
        Area::Global(number) => context.global.get(number).map_or(1, |memory| memory.align),
        Area::Shared(number) => context.shared.get(number).map_or(1, |memory| memory.align),
        Area::Local(number) => {
            let local = context.machine.local.get(number);
            local.map_or(1, |&id| context.machine.program.variables[id].align)
        }
        Area::Param(number) => context.machine.params.get(number).map_or(1, |memory| memory.align),
    }
}

/// Returns the tags of a comparison with pointers in some lanes, and corrects `truth` in these lanes.
pub(super) fn compare(
    (relation, signed): (Relation, bool),
    width: Width,
    (a, a_tags): (&Lanes, Tags),
    (b, b_tags): (&Lanes, Tags),
    truth: &mut Mask,
) -> Tags {
    let mut tags = a_tags.combine(b_tags);
    let either = a_tags.pointer.or(b_tags.pointer);
    let clean = either.without(a_tags.unknown.or(b_tags.unknown).or(tags.poison));
    // Subtracting from an address may wrap around, and only the order of unsigned numbers notices.
    let is_defined = signed || matches!(relation, Relation::Eq | Relation::Ne);
    for lane in clean.iter() {
        let (a_is, b_is) = (a_tags.pointer.has(lane), b_tags.pointer.has(lane));
        let holds = if a_is && b_is {
            let (a, b) = (decode(a[lane], width), decode(b[lane], width));
            a.zip(b)
                .filter(|(a, b)| a.area == b.area)
                .filter(|(a, b)| is_defined || !(may_wrap(a) || may_wrap(b)))
                .map(|(a, b)| relates(relation, a.offset.cmp(&b.offset)))
        } else {
            let (pointer, number) = if a_is { (a[lane], b[lane]) } else { (b[lane], a[lane]) };
            let is_null_test = number == 0 && is_generic(pointer, width);
            match relation {
                Relation::Eq if is_null_test => Some(false),
                Relation::Ne if is_null_test => Some(true),
                _ => None,
            }
        };
        if let Some(holds) = holds {
            let bit = Mask(1 << lane);
            *truth = if holds { truth.or(bit) } else { truth.without(bit) };
            tags.unknown = tags.unknown.without(bit);
        }
    }
    tags
}

/// Returns `true` for a whole generic address, which is never zero. An address in a window may be: the first
/// variable may begin where the window does.
fn is_generic(address: u64, width: Width) -> bool {
    width == Width::B64 && address >> 32 != 0 && decode(address, width).is_some()
}

/// Returns `true` if the address may wrap around to a large number: a window of memory, and the first array in it,
/// may begin at zero. Global memory does not.
fn may_wrap(pointer: &Pointer) -> bool {
    pointer.offset < 0 && !matches!(pointer.area, Area::Global(_))
}

fn relates(relation: Relation, order: std::cmp::Ordering) -> bool {
    match relation {
        Relation::Eq => order.is_eq(),
        Relation::Ne => order.is_ne(),
        Relation::Lt => order.is_lt(),
        Relation::Le => order.is_le(),
        Relation::Gt => order.is_gt(),
        Relation::Ge => order.is_ge(),
    }
}

/// Returns the tags of the low `to` bits of a value: a window address survives in 32 bits.
pub(super) fn resized(values: &Lanes, tags: Tags, from: Width, to: Width) -> Tags {
    if tags.is_number() {
        return tags;
    }
    let mut result = tags.spread();
    let keeps = from >= Width::B32 && to >= Width::B32;
    for lane in tags.pointer.iter().filter(|_| keeps) {
        let fits = to == Width::B64 && from == Width::B64 || values[lane] >> 32 == 0;
        if fits {
            result.pointer = result.pointer.or(Mask(1 << lane));
            result.unknown = result.unknown.without(Mask(1 << lane));
        }
    }
    result
}

/// Executes `cvta`.
pub(super) fn convert(
    context: &mut Context<'_, '_>,
    dst: Reg,
    src: Operand,
    space: Space,
    to_generic: bool,
) -> Result<(), Gap> {
    let (values, tags) = context.read(src, Width::B64);
    let base = window(space);
    let converted = values.map(|address| {
        if to_generic { address.wrapping_add(base) } else { address.wrapping_sub(base) }
    });
    // A number is not one of our addresses, but null stays null, because code tests for it.
    let result: Lanes =
        std::array::from_fn(
            |lane| if tags.pointer.has(lane) { converted[lane] } else { values[lane] },
        );
    context.write(dst, &result, tags);
    Ok(())
}

/// Executes `isspacep`.
pub(super) fn is_space(context: &mut Context<'_, '_>, dst: Reg, address: Operand, space: Space) {
    let (values, tags) = context.read(address, Width::B64);
    let inside = |address: u64| match Pointer::decode(address, Space::Generic) {
        Some(Pointer { area: area @ Area::Shared(_), .. }) if space == Space::Shared => {
            context.other_block(area).is_none()
        }
        Some(pointer) => matches!(
            (pointer.area, space),
            (Area::Global(_), Space::Global | Space::Const)
                | (Area::Shared(_), Space::SharedCluster)
                | (Area::Local(_), Space::Local)
                | (Area::Param(_), Space::ParamEntry)
        ),
        None => false,
    };
    // Constant memory is in the global regions without being global memory.
    let constant = |address: u64| match Pointer::decode(address, Space::Generic).map(|p| p.area) {
        Some(Area::Global(number)) => {
            context.global.get(number).is_some_and(|memory| memory.space == Space::Const)
        }
        _ => false,
    };
    let holds = |address: u64| match space {
        Space::Const => constant(address),
        Space::Global => inside(address) && !constant(address),
        _ => inside(address),
    };
    let truth = values.iter().rev().fold(0, |mask, &a| mask << 1 | u32::from(holds(a)));
    let truth = Mask(truth);
    let mut result = tags;
    // The result for a pointer is a number; the result for a plain number is unknown.
    let numbers = Mask(!(tags.pointer.0 | tags.poison.0 | tags.unknown.0));
    result.unknown = tags.unknown.or(numbers);
    result.schedule_dependent = tags.schedule_dependent.or(numbers);
    result.pointer = Mask::NONE;
    if tags.unknown.is_empty() {
        result.origin = Some(Source::Address);
    }
    context.write_predicate(dst, truth, result);
}
