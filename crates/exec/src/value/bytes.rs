//! Operations on bits, as far as they move whole bytes.
//!
//! Exact where it answers; `None` for a result byte that is neither a byte of an operand nor a known number.

use super::unit::Byte;

/// Up to eight bytes of an operand.
pub(crate) type Bytes = [Byte; 8];

/// Zeros.
pub(crate) const ZERO: Bytes = [Byte::Known(0); 8];

/// The bytes of a number.
pub(crate) fn number(bits: u64) -> Bytes {
    bits.to_le_bytes().map(Byte::Known)
}

/// Applies a boolean function, bit by bit. Its values for all ones and zeros determine its effect on unknown
/// bytes.
pub(crate) fn bitwise(operands: &[Byte], function: &dyn Fn(&[u8]) -> u8) -> Option<Byte> {
    let mut atoms: Vec<Byte> = Vec::new();
    for &operand in operands {
        match (operand, atoms.contains(&operand)) {
            (Byte::Known(_), _) | (Byte::Of { .. } | Byte::Nibbles(_), true) => {}
            // Equally opaque bytes need not be equal.
            (Byte::Opaque(_) | Byte::Undefined, true) => return None,
            _ => atoms.push(operand),
        }
    }
    let at = |assignment: usize| {
        let bits: Vec<u8> = operands
            .iter()
            .map(|operand| match operand {
                Byte::Known(bits) => *bits,
                atom => {
                    let number = atoms.iter().position(|known| known == atom).unwrap_or(0);
                    if assignment >> number & 1 == 1 { 0xff } else { 0 }
                }
            })
            .collect();
        function(&bits)
    };
    let outcomes: Vec<u8> = (0..1 << atoms.len()).map(at).collect();
    if outcomes.iter().all(|&outcome| outcome == outcomes[0]) {
        return Some(Byte::Known(outcomes[0]));
    }
    let is_atom = |number: &usize| {
        let wanted = |assignment: usize| if assignment >> number & 1 == 1 { 0xff } else { 0 };
        (0..outcomes.len()).all(|assignment| outcomes[assignment] == wanted(assignment))
    };
    (0..atoms.len()).find(is_atom).map(|number| atoms[number])
}

/// Adds without carries: in every byte at most one operand is nonzero.
pub(crate) fn disjoint_sum(a: &Bytes, b: &Bytes, size: usize) -> Option<Bytes> {
    let mut out = ZERO;
    for at in 0..size {
        out[at] = match (a[at], b[at]) {
            (Byte::Known(0), other) | (other, Byte::Known(0)) => other,
            _ => return None,
        };
    }
    Some(out)
}

/// Shifts left by `bits`, a multiple of 8, keeping `size` bytes.
pub(crate) fn shift_left(a: &Bytes, bits: u64, size: usize) -> Option<Bytes> {
    let by = byte_count(bits)?;
    let mut out = ZERO;
    (by..size).for_each(|at| out[at] = a[at - by]);
    Some(out)
}

/// Shifts right by `bits`, a multiple of 8.
pub(crate) fn shift_right(a: &Bytes, bits: u64, size: usize, signed: bool) -> Option<Bytes> {
    let by = byte_count(bits)?.min(size);
    let fill = if signed { sign(a[size - 1])? } else { Byte::Known(0) };
    let mut out = ZERO;
    (0..size).for_each(|at| out[at] = if at + by < size { a[at + by] } else { fill });
    Some(out)
}

/// The byte for sign extension, if the sign is known.
pub(crate) fn sign(top: Byte) -> Option<Byte> {
    match top {
        Byte::Known(bits) => Some(Byte::Known((bits as i8 >> 7) as u8)),
        _ => None,
    }
}

/// Executes `prmt` in its default mode.
pub(crate) fn permute(a: &Bytes, b: &Bytes, selectors: u64) -> Option<Bytes> {
    let mut out = ZERO;
    for (at, out) in out.iter_mut().enumerate().take(4) {
        let selector = (selectors >> (4 * at)) as usize & 15;
        let chosen = if selector & 4 == 0 { a[selector & 3] } else { b[selector & 3] };
        *out = if selector & 8 == 0 { chosen } else { sign(chosen)? };
    }
    Some(out)
}

/// Converts a number of bits to a number of bytes.
pub(crate) fn byte_count(bits: u64) -> Option<usize> {
    bits.is_multiple_of(8).then(|| bits.min(1 << 10) as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::super::unit::Sort;
    use super::*;

    #[test]
    fn masks_keep_or_clear_bytes() {
        let x = Byte::Of { value: 1, sort: Sort::F32, index: 0 };
        let y = Byte::Of { value: 2, sort: Sort::F32, index: 0 };
        let and = |bits: &[u8]| bits[0] & bits[1];
        let xor = |bits: &[u8]| bits[0] ^ bits[1];
        assert_eq!(bitwise(&[x, Byte::Known(0xff)], &and), Some(x));
        assert_eq!(bitwise(&[x, Byte::Known(0)], &and), Some(Byte::Known(0)));
        assert_eq!(bitwise(&[x, Byte::Known(0x7f)], &and), None);
        assert_eq!(bitwise(&[x, y], &and), None);
        assert_eq!(bitwise(&[x, x], &and), Some(x));
        assert_eq!(bitwise(&[x, x], &xor), Some(Byte::Known(0)));
        assert_eq!(bitwise(&[Byte::Opaque(5), Byte::Opaque(5)], &xor), None);
        let choose = |bits: &[u8]| bits[0] & bits[1] | !bits[0] & bits[2];
        assert_eq!(bitwise(&[Byte::Known(0), x, y], &choose), Some(y));
    }
}
