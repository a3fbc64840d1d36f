//! Encoded addresses: numbers computed from the bits of a shared address, such as matrix descriptors (PTX manual
//! §9.7.15.5.1.2.2).
//!
//! Kernels shift and mask shared addresses, but the address B at which a shared variable starts is unknown. Two facts
//! are known: B is a multiple of the variable's alignment, and the whole variable lies below 2^18, where the manual's
//! descriptors end (no GPU has more shared memory in a block). So an encoded address is kept as a function of B:
//!
//! ```text
//! value(B) = rest + (((B + offset) >> shift) << position) + above,     0 ≤ offset ≤ size of the variable
//! ```
//!
//! where `rest` has zeros in the 18 − `shift` bits from `position` on, the *field*. Because B + offset is below 2^18,
//! no bit of it is lost above the field. An operation has a result here only if it holds for every B:
//! - an added number moves `offset` by whole units of 2^shift, since ⌊x/u⌋ + k = ⌊(x + k·u)/u⌋, and the result must
//!   stay in the variable: then nothing is carried out of the field;
//! - bits outside the field are numbers; bits of the field below the alignment of B are those of `offset`, and may be
//!   changed individually; the others are all kept, all dropped, or dropped below some bit;
//! - shifts must not lose bits above the field.
//!
//! *Above* are the bits of an address from 24 on, wherever shifts have moved them. They are zeros in the address
//! of a lone block. In a cluster an address may belong to the cluster window, with the rank of its block in bits 24 to
//! 31: the address of another block (`mapa`), and on an H200 that of the block's own variables, too. A generic address
//! has the start of the shared window there, which is assumed to be a multiple of 2^24 (an H200 has it at
//! 0x7f2600000000; reports list the assumption if a result needs it). A sum that stays in the variable carries nothing
//! into these bits. They must all be masked off before a value is used. If only some are masked off or changed, the
//! rest might be the rank of another block or the start of another window. They are then *lost*: an unknown number.
//!
//! If a variable is known to begin r bytes after a multiple of 1024, B is that multiple and offsets count from there
//! (`first` is r).
//!
//! Any other operation has no result (`None`), and the lane stays unknown. So this errs towards unknown only.

/// Bits of a shared address.
const ADDRESS_BITS: u32 = 18;

/// The lowest bit above an address: start of the block rank and of the bits that distinguish the shared
/// window.
const ABOVE_BIT: u32 = 24;

/// Known facts about the variable that an address is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariablePlacement {
    /// The alignment of the origin of offsets, as a power of two.
    pub(crate) align_bits: u32,
    /// The offset of its first byte.
    pub(crate) first: u64,
    /// The offset of its end.
    pub(crate) size: u64,
}

/// The contents of an address's bits from 24 on (*above* in the header).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Above {
    /// Zeros.
    Zero,
    /// The rank of a block, of 8 bits.
    Rank,
    /// The start of the shared window: it is a generic address.
    Window,
    /// Anything: a part or a sum of the others.
    Lost,
}

/// A number computed from the bits of a shared address: `value(B)` in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Encoded {
    /// The number of the shared variable.
    pub(crate) variable: usize,
    /// The address, relative to the origin of the variable.
    offset: u64,
    /// The number of low bits dropped from the address; [`ADDRESS_BITS`] if nothing is left of it.
    shift: u32,
    /// The position of the field's lowest bit in the value.
    position: u32,
    /// The bits outside the field.
    rest: u64,
    /// The bits of the address from 24 on; unless they are zeros, `rest` has zeros there.
    above: Above,
}

/// A mask of the lowest `bits` bits.
fn low_bits(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl Encoded {
    /// The address itself; `None` if it is outside its variable.
    pub(crate) fn address(
        variable: usize,
        offset: i64,
        placement: VariablePlacement,
        above: Above,
    ) -> Option<Self> {
        let inside = |&offset: &u64| (placement.first..=placement.size).contains(&offset);
        let offset = u64::try_from(offset).ok().filter(inside)?;
        (placement.size <= low_bits(ADDRESS_BITS)).then_some(Self {
            variable,
            offset,
            shift: 0,
            position: 0,
            rest: 0,
            above,
        })
    }

    /// The width of the field.
    fn bits(&self) -> u32 {
        ADDRESS_BITS - self.shift
    }

    /// A mask of the field.
    fn field(&self) -> u64 {
        low_bits(self.bits()) << self.position
    }

    /// The position of the bits from 24 on.
    fn above_bit(&self) -> u32 {
        self.position + ABOVE_BIT - self.shift
    }

    /// A mask of the unknown bits. If all address bits below 24 were dropped, the position of the others is not
    /// tracked, so the mask has all bits.
    fn unknown(&self) -> u64 {
        match self.above {
            Above::Zero => 0,
            _ if self.bits() == 0 => u64::MAX,
            Above::Rank => low_bits(self.above_bit() + 8) & !low_bits(self.above_bit()),
            Above::Window | Above::Lost => !low_bits(self.above_bit()),
        }
    }

    /// Replaces the bits above. If `rest` has bits there, both are summed, and the sum is [`Above::Lost`].
    fn with_above(self, above: Above) -> Self {
        let mut result = Self { above, ..self };
        if result.rest & result.unknown() != 0 {
            result.above = Above::Lost;
            result.rest &= !result.unknown();
        }
        result
    }

    /// Truncates to `width` bits. The bits above are lost if they no longer fit.
    fn truncated(self, width: u32) -> Self {
        let fits = match self.above {
            Above::Zero | Above::Lost => true,
            Above::Rank => self.above_bit() + 8 <= width,
            Above::Window => self.above_bit() + 40 <= width,
        };
        if fits { self } else { self.with_above(Above::Lost) }
    }

    /// A hash; equal values have equal ones.
    pub(crate) fn digest(&self) -> u64 {
        let fields = self.offset << 16 | u64::from(self.shift) << 8 | u64::from(self.position);
        fields ^ self.rest.rotate_left(20)
    }

    /// The bits above the field.
    pub(crate) fn above(&self) -> Above {
        self.above
    }

    /// The value as a number, if no bit of the address is left.
    pub(crate) fn constant(&self) -> Option<u64> {
        (self.bits() == 0 && self.above == Above::Zero).then_some(self.rest)
    }

    /// A value without a field: nothing is left of the address below bit 24.
    fn without_field(&self, rest: u64) -> Self {
        Self { shift: ADDRESS_BITS, position: 0, offset: 0, rest, ..*self }
    }

    /// Returns the offset moved by `units` of 2^shift; `None` if it leaves the variable.
    fn offset_moved_by(&self, units: i64, placement: VariablePlacement) -> Option<u64> {
        let distance = units.checked_mul(1 << self.shift)?;
        let inside = |&offset: &u64| (placement.first..=placement.size).contains(&offset);
        self.offset.checked_add_signed(distance).filter(inside)
    }

    /// Computes `value + number`, in `width` bits.
    pub(crate) fn add(
        &self,
        number: u64,
        width: u32,
        placement: VariablePlacement,
    ) -> Option<Self> {
        let number = number & low_bits(width);
        if self.bits() == 0 {
            return Some(self.without_field(self.rest.wrapping_add(number) & low_bits(width)));
        }
        let below = (self.rest & low_bits(self.position)) + (number & low_bits(self.position));
        let carried = below >> self.position;
        let units = (number >> self.position).wrapping_add(carried);
        // The field moves up by the low bits of `units`, or wraps around: it moves down and carries 1 into the bits
        // above. At most one of the two stays in the variable.
        let end = self.position + self.bits();
        let higher = if end < 64 { self.rest >> end } else { 0 };
        let up = (units & low_bits(self.bits())).cast_signed();
        let down = up - (1 << self.bits());
        let (offset, carry) =
            match (self.offset_moved_by(up, placement), self.offset_moved_by(down, placement)) {
                (Some(offset), _) => (offset, 0),
                (None, Some(offset)) => (offset, 1),
                (None, None) => return None,
            };
        let higher = higher.wrapping_add(units >> self.bits()).wrapping_add(carry);
        let higher = if end < 64 { higher << end } else { 0 };
        let rest = (higher | below & low_bits(self.position)) & low_bits(width);
        let sum = Self { offset, rest, ..*self };
        (rest & self.field() == 0).then(|| sum.with_above(self.above).truncated(width))
    }

    /// Computes `(value & keep) ^ flip`, in `width` bits.
    pub(crate) fn bitwise(
        &self,
        keep: u64,
        flip: u64,
        width: u32,
        placement: VariablePlacement,
    ) -> Option<Self> {
        let (keep, flip) = (keep & low_bits(width), flip & low_bits(width));
        let field = self.field();
        // A partial or changed rank denotes another block: in a cluster the address of a block's own variable
        // includes its rank.
        let unknown = self.unknown() & low_bits(width);
        let above = match keep & unknown {
            0 => Above::Zero,
            all if all == unknown && flip & unknown == 0 => self.truncated(width).above,
            _ => Above::Lost,
        };
        // Field bits below the alignment of B are known: those of `offset`.
        let known = low_bits(self.bits().min(placement.align_bits.saturating_sub(self.shift)));
        let (known, unaligned) = (known << self.position, field & !(known << self.position));
        let rest = ((self.rest & keep) ^ flip) & !field;
        let before = (self.offset >> self.shift << self.position) & known;
        let after = ((before & keep) ^ flip) & known;
        if keep & unaligned == 0 {
            return Some(self.without_field(rest | after | flip & unaligned).with_above(above));
        }
        if keep & unaligned == unaligned && flip & unaligned == 0 {
            let change =
                (after >> self.position).cast_signed() - (before >> self.position).cast_signed();
            let offset = self.offset_moved_by(change, placement)?;
            return Some(Self { offset, rest, ..*self }.with_above(above));
        }
        // The dropped bits of the field must be its low end.
        let cut = (keep & field).trailing_zeros() - self.position;
        let dropped = low_bits(cut) << self.position;
        if keep & field != field & !dropped || flip & field & !dropped != 0 {
            return None;
        }
        let (shift, position) = (self.shift + cut, self.position + cut);
        let rest = rest | flip & dropped;
        Some(Self { shift, position, rest, ..*self }.with_above(above))
    }

    /// Computes `value << amount`, in `width` bits.
    pub(crate) fn shift_left(&self, amount: u64, width: u32) -> Option<Self> {
        let amount = u32::try_from(amount).ok().filter(|&amount| amount < width)?;
        let rest = self.rest << amount & low_bits(width);
        if self.bits() == 0 {
            return Some(self.without_field(rest));
        }
        let position = self.position + amount;
        let shifted = Self { position, rest, ..*self };
        (position + self.bits() <= width).then(|| shifted.with_above(self.above).truncated(width))
    }

    /// Computes `value >> amount`, of `width` bits.
    pub(crate) fn shift_right(&self, amount: u64, signed: bool, width: u32) -> Option<Self> {
        let amount = u32::try_from(amount).ok().filter(|&amount| amount < width)?;
        if self.above != Above::Zero && self.unknown() & low_bits(width) == 0 {
            let without_above = self.with_above(Above::Zero);
            return without_above.shift_right(amount.into(), signed, width);
        }
        // The sign bit is one of the unknown bits or above them.
        if signed && self.above != Above::Zero {
            return self.with_above(Above::Lost).shift_right(amount.into(), false, width);
        }
        let wide = if signed { self.resize(width, true, 64)? } else { *self };
        let rest = wide.rest;
        let rest = match signed {
            true => (rest.cast_signed() >> amount).cast_unsigned() & low_bits(width),
            false => rest >> amount,
        };
        if self.bits() == 0 {
            return Some(self.without_field(rest));
        }
        match amount.checked_sub(self.position) {
            None | Some(0) => Some(Self { position: self.position - amount, rest, ..*self }),
            Some(lost) if lost < self.bits() => {
                Some(Self { shift: self.shift + lost, position: 0, rest, ..*self })
            }
            Some(_) => Some(self.without_field(rest)),
        }
    }

    /// Extends the low `from` bits to `to` bits.
    pub(crate) fn resize(&self, from: u32, signed: bool, to: u32) -> Option<Self> {
        // No alignment is needed: the field is kept or dropped as a whole.
        let placement = VariablePlacement { align_bits: 0, first: 0, size: u64::MAX };
        if to <= from {
            return self.bitwise(low_bits(to), 0, to, placement);
        }
        let kept = self.bitwise(low_bits(from), 0, from, placement)?;
        let sign = 1 << (from - 1);
        if !signed || self.bits() > 0 && self.field() & sign != 0 {
            return (!signed).then_some(kept);
        }
        // A rank has 8 bits, but fewer than 128 blocks are in a cluster: the sign of a 32-bit address is zero.
        if matches!(kept.above, Above::Window | Above::Lost) {
            return Some(kept.with_above(Above::Lost));
        }
        let filled = if kept.rest & sign != 0 { low_bits(to) & !low_bits(from) } else { 0 };
        Some(Self { rest: kept.rest | filled, ..kept })
    }

    /// Decodes a plain address: its offset, and the alignment of the variable required for that, if it is
    /// more than declared.
    pub(crate) fn as_address(&self, placement: VariablePlacement) -> Option<(u64, Option<u32>)> {
        let is_plain =
            self.bits() > 0 && self.shift == self.position && self.rest >> self.shift == 0;
        if !is_plain || self.above == Above::Lost {
            return None;
        }
        let offset = (self.offset & !low_bits(self.shift)) | self.rest;
        (placement.first..=placement.size)
            .contains(&offset)
            .then_some((offset, (self.shift > placement.align_bits).then_some(self.shift)))
    }

    /// Decodes a matrix descriptor: the start of the matrix as an offset in its variable, the other fields, and
    /// the alignment of the variable required for that, if it is more than declared. `None` if the address is
    /// not in its position.
    pub(crate) fn as_descriptor(
        &self,
        placement: VariablePlacement,
    ) -> Option<(u64, u64, Option<u32>)> {
        let in_place = self.bits() > 0 && self.shift == self.position + 4;
        if !in_place || self.above != Above::Zero {
            return None;
        }
        // Bits below the field were masked off or replaced, which nvcc does with an address that the kernel has
        // rounded itself.
        let below = low_bits(self.position);
        let start = self.offset & !low_bits(self.shift) | (self.rest & below) << 4;
        let needed = (self.shift > placement.align_bits).then_some(self.shift);
        (placement.first..=placement.size).contains(&start).then_some((
            start,
            self.rest & !below,
            needed,
        ))
    }

    /// Executes `cvta` between a shared and a generic address. `alone` is set if shared addresses contain no rank.
    pub(crate) fn cvta(&self, to_generic: bool, alone: bool) -> Option<Self> {
        let shared = if alone { Above::Zero } else { Above::Rank };
        let (from, to) = if to_generic { (shared, Above::Window) } else { (Above::Window, shared) };
        let in_place = self.bits() > 0 && self.shift == self.position && self.above == from;
        in_place.then(|| self.with_above(to))
    }
}

#[cfg(test)]
#[path = "encoded_tests.rs"]
mod tests;
