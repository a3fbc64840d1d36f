//! Tests of encoded shared addresses: every operation against the same operation on numbers.

use super::*;
use testing::Random;

/// Returns the value for a base address, without the bits above.
fn value(encoded: &Encoded, base: u64) -> u64 {
    let address = base + encoded.offset;
    encoded.rest + (address >> encoded.shift.min(63) << encoded.position)
}

/// Returns `true` if a number is the value for a base address, with `upper` as the bits above.
fn fits(encoded: &Encoded, base: u64, upper: u64, number: u64) -> bool {
    let expected = match encoded.above {
        Above::Rank | Above::Window if encoded.bits() > 0 => {
            value(encoded, base) + (upper << encoded.above_bit())
        }
        _ => value(encoded, base),
    };
    let unknown = if encoded.above == Above::Lost { encoded.unknown() } else { 0 };
    let nothing_left = encoded.bits() == 0 && encoded.above != Above::Zero;
    nothing_left || (expected ^ number) & !unknown == 0
}

/// Compares random chains of operations with the same on numbers, for many base addresses.
#[test]
fn operations_are_right_for_every_base() {
    let mut random = Random::new(11);
    let (mut followed, mut numbers, mut addresses) = (0, 0, [0; 4]);
    let (mut descriptors, mut masked) = (0, 0);
    for _ in 0..20_000 {
        let align_bits = random.below(11) as u32;
        let first = random.below(2) * random.below(1 << align_bits);
        let placement =
            VariablePlacement { align_bits, first, size: first + 1 + random.below(1 << 17) };
        let offset = (first + random.below(placement.size - first + 1)).cast_signed();
        let (above, upper) = match random.below(3) {
            0 => (Above::Zero, 0),
            1 => (Above::Rank, random.below(16)),
            _ => (Above::Window, random.bits() >> 24),
        };
        let Some(mut encoded) = Encoded::address(0, offset, placement, above) else { continue };
        let room = ((1 << 18) - 1 - placement.size) >> align_bits;
        let bases: Vec<u64> =
            (0..6).map(|_| random.below(room + 1) << align_bits).chain([0]).collect();
        let mut concrete: Vec<u64> =
            bases.iter().map(|base| (upper << 24) + base + offset.cast_unsigned()).collect();
        let mut width = if above == Above::Window { 64 } else { 32 };
        for _ in 0..6 {
            let number = interesting(&mut random);
            let mask = low_bits(width);
            let (next, function): (_, Box<dyn Fn(u64) -> u64>) = match random.below(8) {
                0 => (
                    encoded.add(number, width, placement),
                    Box::new(move |x| x.wrapping_add(number) & mask),
                ),
                1 => (encoded.bitwise(number, 0, width, placement), Box::new(move |x| x & number)),
                2 => (
                    encoded.bitwise(!number, number, width, placement),
                    Box::new(move |x| (x | number) & mask),
                ),
                3 => (
                    encoded.bitwise(u64::MAX, number, width, placement),
                    Box::new(move |x| (x ^ number) & mask),
                ),
                4 => {
                    let amount = random.below(u64::from(width)) as u32 % 20;
                    (
                        encoded.shift_left(amount.into(), width),
                        Box::new(move |x| x << amount & mask),
                    )
                }
                5 => {
                    let amount = random.below(8);
                    let next = encoded.shift_right(amount, false, width);
                    (next, Box::new(move |x| x >> amount))
                }
                6 => {
                    let amount = random.below(8);
                    let next = encoded.shift_right(amount, true, width);
                    let up = 64 - width;
                    let shift = move |x: u64| {
                        ((x << up).cast_signed() >> up >> amount).cast_unsigned() & mask
                    };
                    (next, Box::new(shift))
                }
                _ => {
                    let to = [16, 32, 64][random.below(3) as usize];
                    let signed = random.below(2) == 0;
                    let next = encoded.resize(width, signed, to);
                    let up = 64 - width;
                    let extend = move |x: u64| match signed {
                        true => ((x << up).cast_signed() >> up).cast_unsigned() & low_bits(to),
                        false => x & low_bits(to),
                    };
                    if next.is_some() {
                        width = to;
                    }
                    (next, Box::new(extend))
                }
            };
            let Some(next) = next else { break };
            concrete.iter_mut().for_each(|x| *x = function(*x));
            encoded = next;
            for (base, expected) in bases.iter().zip(&concrete) {
                let right = fits(&encoded, *base, upper, *expected);
                assert!(right, "{encoded:?} {placement:?} {base:#x} {upper:#x} {expected:#x}");
            }
            followed += 1;
            numbers += u32::from(encoded.constant().is_some());
            if let Some((offset, align)) = encoded.as_address(placement)
                && align.is_none()
            {
                addresses[encoded.above as usize] += 1;
                let upper = if encoded.above == Above::Zero { 0 } else { upper };
                for (base, expected) in bases.iter().zip(&concrete) {
                    assert_eq!((upper << 24) + base + offset, *expected);
                }
            }
            if let Some((start, rest, needed)) = encoded.as_descriptor(placement) {
                descriptors += 1;
                let fits = |base: &u64| needed.is_none_or(|bits| base & low_bits(bits) == 0);
                for (base, expected) in bases.iter().zip(&concrete).filter(|one| fits(one.0)) {
                    assert_eq!(rest & 0x3fff, 0, "{encoded:?}");
                    assert_eq!((base + start) >> 4 & 0x3fff | rest, *expected, "{encoded:?}");
                    masked += u32::from(needed.is_some_and(|bits| bits > 4));
                }
            }
        }
    }
    assert!(followed > 20_000 && numbers > 1000, "{followed} {numbers}");
    assert!(descriptors > 500 && masked > 100, "{descriptors} {masked}");
    assert!(addresses[..3].iter().all(|&count| count > 1000), "{addresses:?}");
}

/// Numbers typical of kernels: masks, small steps, descriptor fields.
fn interesting(random: &mut Random) -> u64 {
    match random.below(8) {
        0 => 0x3fff,
        1 => 0x3ffff,
        2 => low_bits(random.below(20) as u32),
        3 => !low_bits(random.below(12) as u32),
        4 => random.below(64),
        5 => 1 << random.below(40),
        6 => 0u64.wrapping_sub(random.below(64)),
        _ => random.bits(),
    }
}

#[test]
fn a_carry_out_of_the_field_has_no_result() {
    let placement = VariablePlacement { align_bits: 4, first: 0, size: 4096 };
    let start = Encoded::address(0, 4080, placement, Above::Zero)
        .and_then(|one| one.shift_right(4, false, 32));
    let Some(start) = start else { panic!("no start") };
    assert!(start.add(1, 32, placement).is_some());
    assert_eq!(start.add(2, 32, placement), None);
    assert_eq!(start.add(u64::MAX << 8, 32, placement), None);
    // A mask that loses bits above.
    assert_eq!(start.bitwise(0xfff, 0, 32, placement), None);
    assert_eq!(start.as_descriptor(placement), Some((4080, 0, None)));
    let less = VariablePlacement { align_bits: 3, ..placement };
    assert_eq!(start.as_descriptor(less), Some((4080, 0, Some(4))));
}

/// A descriptor may be made of a generic address, truncated or not; the bits above must be masked off.
#[test]
fn generic_addresses_have_the_low_bits_of_shared_ones() {
    let placement = VariablePlacement { align_bits: 10, first: 0, size: 4096 };
    let Some(start) = Encoded::address(0, 2048, placement, Above::Window) else {
        panic!("no start")
    };
    let descriptor = |from: Encoded| {
        let low = from.bitwise(0x3ffff, 0, 64, placement)?;
        low.shift_right(4, false, 64)?.as_descriptor(placement)
    };
    assert_eq!(descriptor(start), Some((2048, 0, None)));
    let Some(half) = start.resize(64, false, 32) else { panic!("no half") };
    assert_eq!((half.above(), half.as_address(placement)), (Above::Lost, None));
    assert_eq!(descriptor(half), Some((2048, 0, None)));
    let shared = start.cvta(false, true).and_then(|one| one.as_address(placement));
    assert_eq!(shared, Some((2048, None)));
    // Another window, a part of this one, and a sum that leaves it.
    for other in [start.bitwise(!0, 1 << 40, 64, placement), start.add(1 << 24, 64, placement)] {
        assert_eq!(
            other.map(|one| (one.above(), one.as_address(placement))),
            Some((Above::Lost, None))
        );
    }
    assert_eq!(start.shift_right(4, false, 64).and_then(|one| one.as_descriptor(placement)), None);
}
