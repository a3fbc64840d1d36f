//! Tensor maps: the walk of a box against a plain enumeration of its elements, and the 128 bytes.

use ir::{BoxShape, MapDecodeError, Piece, Start, Swizzle, TensorElement, TensorMap, WalkError};
use std::collections::BTreeMap;
use testing::Random;

/// The source or destination of each byte of shared memory; `None` is filled.
type Bytes = BTreeMap<u64, Option<i128>>;

fn walked(map: &TensorMap, start: &Start<'_>) -> Bytes {
    let mut bytes = Bytes::new();
    let mut add = |piece: Piece| {
        for byte in 0..u64::from(piece.bytes) {
            let tensor = piece.tensor.map(|tensor| tensor + i128::from(byte));
            let known = bytes.insert(piece.shared + byte, tensor);
            assert_eq!(known, None, "byte {} of shared memory twice", piece.shared + byte);
        }
    };
    map.walk(start, &mut add).unwrap();
    bytes
}

/// The byte at `address` of a pattern as the manual draws it: lines of 128 bytes, in which units of 16 bytes change
/// places.
fn drawn(swizzle: Swizzle, address: u64) -> u64 {
    let (line, unit, byte) = (address / 128, address / 16 % 8, address % 16);
    let moved = match swizzle {
        Swizzle::None => unit,
        Swizzle::B32 => unit / 2 * 2 + (unit % 2 + line) % 2,
        Swizzle::B64 => {
            let order = [[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]];
            unit / 4 * 4 + order[(line % 4) as usize][(unit % 4) as usize]
        }
        Swizzle::B128 => (0..8).find(|other| (other ^ unit) == line % 8).unwrap(),
    };
    line * 128 + moved * 16 + byte
}

/// The bytes of a tile load, element by element from the last dimension inwards.
fn enumerated(map: &TensorMap, start: &Start<'_>) -> Bytes {
    let BoxShape::Tile(sizes) = &map.shape else { panic!("not a tile") };
    let size = i128::from(map.element.bytes());
    let counts: Vec<u64> = (0..map.rank())
        .map(|dim| match dim {
            0 => sizes[0].into(),
            _ => (0..sizes[dim]).step_by(map.steps[dim] as usize).count() as u64,
        })
        .collect();
    let pitch = match map.swizzle {
        Swizzle::None => u64::from(sizes[0]) * size as u64,
        Swizzle::B32 => 32,
        Swizzle::B64 => 64,
        Swizzle::B128 => 128,
    };
    let mut bytes = Bytes::new();
    for flat in 0..counts.iter().product::<u64>() {
        let (mut rest, mut place, mut row, mut rows, mut inside) = (flat, 0_i128, 0, 1, true);
        let mut column = 0;
        for (dim, count) in counts.iter().enumerate() {
            let index = rest % count;
            rest /= count;
            let step = if dim == 0 { 1 } else { u64::from(map.steps[dim]) };
            let at = i128::from(start.coordinates[dim]) + i128::from(index * step);
            inside &= at >= 0 && at < i128::from(map.dims[dim]);
            match dim {
                0 => {
                    column = index;
                    place += at * size;
                }
                _ => {
                    row += index * rows;
                    rows *= count;
                    place += at * i128::from(map.strides[dim - 1]);
                }
            }
        }
        for byte in 0..size {
            let linear = start.shared + row * pitch + column * size as u64 + byte as u64;
            bytes.insert(drawn(map.swizzle, linear), inside.then_some(place + byte));
        }
    }
    bytes
}

fn random_map(random: &mut Random) -> TensorMap {
    let mut below = |most: u64| random.bits() % most;
    let (_, element) = TensorElement::NAMES[below(13) as usize];
    let swizzle = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128][below(4) as usize];
    let rank = 1 + below(5) as usize;
    let size = u64::from(element.bytes());
    let span = swizzle.span().map_or(256, u64::from);
    let units = 1 + below((span / 16).min(256 / (16 / size).max(1)));
    let mut sizes = vec![u32::try_from((units * 16 / size).min(256)).unwrap()];
    let (mut dims, mut strides, mut steps) = (vec![1 + below(300)], Vec::new(), vec![1]);
    let mut stride = (dims[0] * size).div_ceil(16) * 16;
    for _ in 1..rank {
        sizes.push(1 + below(5) as u32);
        steps.push(1 + below(3) as u32);
        dims.push(1 + below(6));
        strides.push(stride + 16 * below(2));
        stride = strides.last().unwrap() * dims.last().unwrap();
    }
    let nan_fill = element.is_float() && below(2) == 1;
    let shape = BoxShape::Tile(sizes);
    TensorMap { element, dims, strides, steps, shape, swizzle, interleave: None, nan_fill }
}

#[test]
fn the_walk_of_a_box_visits_the_elements_that_a_plain_enumeration_does() {
    let mut random = Random::new(7);
    for _ in 0..1500 {
        let map = random_map(&mut random);
        map.check().unwrap();
        let unit = (16 / i32::try_from(map.element.bytes()).unwrap()).max(1);
        let mut coordinates: Vec<i32> =
            (0..map.rank()).map(|_| (random.bits() % 9) as i32 - 3).collect();
        coordinates[0] *= unit;
        let shared = 128 * (random.bits() % 16);
        let start = Start { coordinates: &coordinates, offsets: &[], shared, stores: false };
        let bytes = walked(&map, &start);
        assert_eq!(bytes, enumerated(&map, &start), "{map:?} at {coordinates:?}");
        assert_eq!(bytes.len() as u64, map.box_bytes());
    }
}

/// A box inside its tensor has the pieces of the box at the origin, moved. Shared addresses are moved by whole periods
/// of the swizzle.
#[test]
fn a_box_inside_its_tensor_is_the_one_at_the_origin_moved() {
    let mut random = Random::new(9);
    let (mut inside, mut outside) = (0, 0);
    for round in 0..1500 {
        let mut map = random_map(&mut random);
        map.dims[0] *= 4;
        map.strides.iter_mut().for_each(|stride| *stride *= 4);
        let mut coordinates: Vec<i32> =
            (0..map.rank()).map(|_| (random.bits() % 4) as i32 - 1).collect();
        coordinates[0] *= (16 / i32::try_from(map.element.bytes()).unwrap()).max(1);
        let (stores, shared) = (round % 2 == 0, 128 * (random.bits() % 32));
        let start = Start { coordinates: &coordinates, offsets: &[], shared, stores };
        let pieces = |start: &Start<'_>| {
            let mut pieces = Vec::new();
            map.walk(start, &mut |piece| pieces.push(piece)).unwrap();
            pieces
        };
        let Some(distance) = map.inside(&start) else {
            outside += 1;
            continue;
        };
        inside += 1;
        let origin = vec![0; map.rank()];
        let first = Start { coordinates: &origin, shared: shared % 1024, ..start };
        let mut moved = pieces(&first);
        for piece in &mut moved {
            piece.shared += shared / 1024 * 1024;
            piece.tensor = Some(piece.tensor.unwrap() + distance);
        }
        assert_eq!(pieces(&start), moved, "{map:?} at {coordinates:?}");
        assert!(moved.iter().all(|piece| !piece.beyond));
    }
    assert!(inside > 100 && outside > 100, "{inside} {outside}");
}

#[test]
fn a_store_leaves_out_what_lies_outside_and_names_what_it_cuts_too_late() {
    let mut random = Random::new(8);
    for _ in 0..500 {
        let mut map = random_map(&mut random);
        map.steps.fill(1);
        let mut coordinates: Vec<i32> =
            (0..map.rank()).map(|_| (random.bits() % 5) as i32).collect();
        coordinates[0] *= (16 / i32::try_from(map.element.bytes()).unwrap()).max(1);
        let start = Start { coordinates: &coordinates, offsets: &[], shared: 0, stores: true };
        let inside: Bytes =
            enumerated(&map, &start).into_iter().filter(|b| b.1.is_some()).collect();
        let mut pieces = Vec::new();
        map.walk(&start, &mut |piece| pieces.push(piece)).unwrap();
        let mut bytes = Bytes::new();
        for piece in pieces.iter().filter(|piece| !piece.beyond) {
            for byte in 0..u64::from(piece.bytes) {
                bytes.insert(piece.shared + byte, piece.tensor.map(|at| at + i128::from(byte)));
            }
        }
        assert_eq!(bytes, inside);
        let whole = (map.dims[0] * u64::from(map.element.bytes())).is_multiple_of(16);
        assert!(!whole || pieces.iter().all(|piece| !piece.beyond));
    }
}

#[test]
fn columns_of_pixels_wrap_in_their_bounding_box() {
    // Channels, w, h, n; the padding of one pixel, a filter of three by three.
    let map = TensorMap {
        element: TensorElement::F16,
        dims: vec![8, 4, 3, 2],
        strides: vec![16, 64, 192],
        steps: vec![1; 4],
        shape: BoxShape::Im2col {
            lower: vec![-1, -1],
            upper: vec![-1, -1],
            channels: 8,
            pixels: 30,
        },
        swizzle: Swizzle::None,
        interleave: None,
        nan_fill: false,
    };
    map.check().unwrap();
    let (coordinates, offsets) = ([0, 1, -1, 0], [2_u16, 1]);
    let start = Start { coordinates: &coordinates, offsets: &offsets, shared: 256, stores: false };
    let mut expected = Bytes::new();
    let mut row = 0;
    'all: for n in 0.. {
        for h in -1..=1_i64 {
            for w in -1..=2_i64 {
                if n == 0 && h == -1 && w < 1 {
                    continue;
                }
                let (x, y) = (w + 2, h + 1);
                let inside = (0..4).contains(&x) && (0..3).contains(&y) && n < 2;
                let place = i128::from(x * 16 + y * 64 + n * 192);
                for byte in 0..16 {
                    let tensor = inside.then_some(place + i128::from(byte));
                    expected.insert(256 + row * 16 + byte, tensor);
                }
                row += 1;
                if row == 30 {
                    break 'all;
                }
            }
        }
    }
    assert_eq!(walked(&map, &start), expected);
    let outside = Start { coordinates: &[0, 3, 0, 0], ..start };
    assert_eq!(map.walk(&outside, &mut |_| {}), Err(WalkError::OutsideBounds));
}

#[test]
fn a_map_survives_its_bytes() {
    let mut random = Random::new(9);
    for _ in 0..500 {
        let map = random_map(&mut random);
        let bits = TensorMap::decode(&map.encode(0x7f12_3456_7890)).unwrap();
        assert_eq!((bits.address, bits.map), (0x7f12_3456_7890, map));
    }
    for (spatial, corner) in [(1, -300), (2, -100), (3, -16)] {
        let map = TensorMap {
            element: TensorElement::Bf16,
            dims: vec![64; spatial + 2],
            strides: (0..=spatial).map(|at| 128 << (6 * at)).collect(),
            steps: vec![1; spatial + 2],
            shape: BoxShape::Im2col {
                lower: vec![corner; spatial],
                upper: (0..spatial).map(|at| at as i32 - 2).collect(),
                channels: 64,
                pixels: 1024,
            },
            swizzle: Swizzle::B128,
            interleave: None,
            nan_fill: true,
        };
        map.check().unwrap();
        assert_eq!(TensorMap::decode(&map.encode(16)).unwrap().map, map);
    }
}

#[test]
fn unknown_bits_are_refused() {
    let mut random = Random::new(10);
    let map = random_map(&mut random);
    for (word, bit) in [(2, 1), (2, 19), (2, 31), (7, 16), (13, 15), (17, 0), (19, 3), (31, 31)] {
        let mut bytes = map.encode(0);
        bytes[4 * word + bit / 8] |= 1 << (bit % 8);
        let bits = 1 << bit;
        assert_eq!(TensorMap::decode(&bytes), Err(MapDecodeError::UnknownBits { word, bits }));
    }
    for (low, value) in [(4, 7), (7, 15)] {
        let mut bytes = map.encode(0);
        let header = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
        bytes[8..12].copy_from_slice(&(header | value << low).to_le_bytes());
        assert!(matches!(TensorMap::decode(&bytes), Err(MapDecodeError::Field(_))));
    }
}

#[test]
fn limits_of_the_driver_are_named() {
    let good = TensorMap {
        element: TensorElement::F16,
        dims: vec![256, 512],
        strides: vec![512],
        steps: vec![1, 1],
        shape: BoxShape::Tile(vec![64, 128]),
        swizzle: Swizzle::B128,
        interleave: None,
        nan_fill: false,
    };
    assert_eq!(good.check(), Ok(()));
    let tile = |sizes: &[u32]| BoxShape::Tile(sizes.to_vec());
    let bad = [
        (TensorMap { strides: vec![500], ..good.clone() }, "multiple of 16"),
        (TensorMap { strides: vec![1 << 40], ..good.clone() }, "below 2^40"),
        (TensorMap { steps: vec![1, 9], ..good.clone() }, "1 to 8"),
        (TensorMap { dims: vec![0, 512], ..good.clone() }, "1 to 2^32"),
        (TensorMap { shape: tile(&[64, 257]), ..good.clone() }, "1 to 256"),
        (TensorMap { shape: tile(&[60, 128]), ..good.clone() }, "multiple of 16 bytes"),
        (TensorMap { shape: tile(&[128, 128]), ..good.clone() }, "at most 128 bytes"),
        (TensorMap { shape: tile(&[64]), ..good.clone() }, "the box 1"),
        (TensorMap { element: TensorElement::U16, nan_fill: true, ..good.clone() }, "NaN"),
        (TensorMap { dims: Vec::new(), ..good.clone() }, "1 to 5 dimensions"),
    ];
    for (map, part) in bad {
        let message = map.check().unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}
