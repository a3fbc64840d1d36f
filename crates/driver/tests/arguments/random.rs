//! Random text and random specs.

use driver::arguments::{
    AliasSpec, ArgumentSpec, ArgumentValue, BlockPosition, ByteCount, Dimensions, Direction,
    ElementType, Field, FieldValue, IndexRange, Initial, MapKeys, MapShape, Mask, Number,
    RecordedSpec, RecordedTensor, TensorMapSpec, TensorSpec, TensorStructure,
};
use driver::npy;
use proptest::prelude::*;
use proptest::{collection, option, sample};

/// Text made of pieces of arguments, so that much of it parses.
fn argument_like() -> impl Strategy<Value = String> {
    let pieces = vec![
        "x",
        "=",
        "f32",
        "s8",
        "half",
        "[",
        "]",
        "?",
        ",",
        "4",
        "512",
        "@[",
        "@",
        ":out",
        ":inout",
        "=0",
        "iota",
        "-1",
        "0.5",
        "0x",
        "1e",
        "{",
        "}",
        "0:",
        "scale*log2e",
        "(",
        " ",
        "é",
        "nan",
        "18446744073709551616",
        "=[1,2]",
        ".",
        "-",
        "bool",
        "true",
    ];
    collection::vec(sample::select(pieces), 0..12).prop_map(|pieces| pieces.concat())
}

fn element() -> impl Strategy<Value = ElementType> {
    let names = ["f64", "f32", "tf32", "f16", "bf16", "f8e4m3", "f8e5m2", "s64", "s32", "s16"];
    let more = ["s8", "u64", "u32", "u16", "u8", "b1"];
    let all: Vec<&str> = names.into_iter().chain(more).collect();
    sample::select(all).prop_map(|name| ElementType::from_name(name).unwrap())
}

/// A number that fits every type.
fn small_number() -> impl Strategy<Value = Number> {
    (0_i128..2).prop_map(Number::Integer)
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        (i128::from(i64::MIN)..=i128::from(u64::MAX)).prop_map(Number::Integer),
        (any::<f32>(), 0_usize..9).prop_map(|(value, digits)| {
            let text = format!("{value:.digits$e}");
            if value.is_finite() { Number::Float(text) } else { Number::Float("inf".to_owned()) }
        }),
    ]
}

/// Names that cannot be mistaken for types.
fn name() -> impl Strategy<Value = String> {
    "[a-z_$][a-zA-Z0-9_.$]{0,6}_"
}

fn tensor() -> impl Strategy<Value = TensorSpec> {
    let shape = collection::vec(0_u64..40, 0..4);
    let strides = collection::vec(1_u64..1000, 3);
    let direction =
        sample::select(vec![Direction::In, Direction::Out, Direction::InOut, Direction::Scratch]);
    let file = "[a-z/=: ]{1,9}\\.npy";
    let initial = (0..5, small_number(), file);
    let flags = (any::<bool>(), any::<bool>());
    let said = (option::of(structure()), direction);
    (element(), option::of(shape), flags, strides, said, initial).prop_map(
        |(element, shape, (strided, distinct), strides, (structure, direction), initial)| {
            let (kind, number, file) = initial;
            let strides = shape
                .as_ref()
                .filter(|shape| strided && shape.len() <= 3)
                .map(|shape| strides[..shape.len()].to_vec());
            let elements = shape.as_ref().map_or(3, |shape| shape.iter().product::<u64>());
            let initial = match kind {
                0 => Some(Initial::File(file)),
                1 => Some(Initial::List(vec![number; elements as usize])),
                2 if shape.is_some() => Some(Initial::Fill(number)),
                3 if shape.is_some() => Some(Initial::Iota),
                _ => None,
            };
            let ranged = !element.is_float() && direction == Direction::In && !strided;
            let high = if element == ElementType::B1 { 2 } else { 100 };
            let range = ranged.then_some(IndexRange { low: 0, high, others: [None; 4] });
            let plain = matches!(initial, None | Some(Initial::File(_)));
            let few =
                shape.as_ref().is_none_or(|shape| shape.iter().product::<u64>() <= high as u64);
            let is_distinct = ranged && plain && few && distinct;
            let structure = structure.filter(|structure| {
                let square = |shape: &Vec<u64>| {
                    shape.len() >= 2 && shape[shape.len() - 1] == shape[shape.len() - 2]
                };
                let fits = |shape: &Vec<u64>| match structure {
                    TensorStructure::Mask(_) => true,
                    TensorStructure::Symmetric => square(shape),
                    TensorStructure::Lower | TensorStructure::Upper => shape.len() >= 2,
                };
                let read = matches!(direction, Direction::In | Direction::InOut);
                read && !strided && !is_distinct && shape.as_ref().is_some_and(fits)
            });
            let structure = structure.map(|structure| match structure {
                TensorStructure::Mask(Mask::List(bits)) => {
                    let bits = bits.into_iter().cycle().take(elements as usize).collect();
                    TensorStructure::Mask(Mask::List(bits))
                }
                other => other,
            });
            TensorSpec {
                element,
                shape,
                strides,
                direction,
                range,
                is_distinct,
                structure,
                initial,
            }
        },
    )
}

fn structure() -> impl Strategy<Value = TensorStructure> {
    prop_oneof![
        Just(TensorStructure::Lower),
        Just(TensorStructure::Upper),
        Just(TensorStructure::Symmetric),
        collection::vec(any::<bool>(), 1..9)
            .prop_map(|bits| TensorStructure::Mask(Mask::List(bits))),
        "[a-z/=: ]{1,9}\\.npy".prop_map(|path| TensorStructure::Mask(Mask::File(path))),
    ]
}

fn field() -> impl Strategy<Value = Field> {
    let value = prop_oneof![
        number().prop_map(FieldValue::Number),
        name().prop_map(FieldValue::Name),
        (element(), small_number())
            .prop_map(|(element, value)| FieldValue::Scalar { element, value: Some(value) }),
    ];
    (any::<u64>(), value).prop_map(|(offset, value)| Field { offset, value })
}

fn tensor_map() -> impl Strategy<Value = TensorMapSpec> {
    let sizes = || collection::vec(any::<u64>(), 1..5);
    let swizzles = ir::Swizzle::NAMES.map(|(_, swizzle)| swizzle).to_vec();
    let elements = ir::TensorElement::NAMES.map(|(_, element)| element).to_vec();
    let shape = prop_oneof![
        sizes().prop_map(MapShape::Box),
        (collection::vec(any::<i64>(), 1..4), any::<u64>(), any::<u64>()).prop_map(
            |(lower, channels, pixels)| {
                let upper = lower.clone();
                MapShape::Im2col { lower, upper, channels, pixels }
            }
        ),
    ];
    let views = (option::of(sizes()), option::of(sizes()), option::of(sizes()));
    let modes =
        (option::of(sample::select(swizzles)), option::of(sample::select(elements)), any::<bool>());
    (name(), option::of(tensor()), shape, views, modes, any::<u64>()).prop_map(
        |(tensor, inline, shape, (dims, strides, steps), (swizzle, element, nan_fill), offset)| {
            // A list of contents has commas, and a file name may have any character. These are for maps in files of
            // their own.
            let plain = |tensor_structure: &TensorStructure| {
                !matches!(tensor_structure, TensorStructure::Mask(_))
            };
            let inline = inline.map(|tensor| {
                let structure = tensor.structure.clone().filter(plain);
                TensorSpec { initial: None, structure, ..tensor }
            });
            let shape = Some(shape);
            let keys = MapKeys { shape, swizzle, element, dims, strides, offset, steps, nan_fill };
            TensorMapSpec { file: None, tensor, inline, keys }
        },
    )
}

fn recorded() -> impl Strategy<Value = RecordedSpec> {
    let tensor =
        (name(), any::<u64>()).prop_map(|(name, address)| RecordedTensor { name, address });
    let (tensors, fields) = (collection::vec(tensor, 0..3), collection::vec(field(), 0..3));
    (name(), tensors, fields).prop_map(|(file, tensors, fields)| {
        let file = format!("{file}.bin");
        RecordedSpec { file, tensors, fields }
    })
}

fn value() -> impl Strategy<Value = ArgumentValue> {
    prop_oneof![
        Just(ArgumentValue::Missing),
        number().prop_map(ArgumentValue::Number),
        (element(), small_number())
            .prop_map(|(element, value)| ArgumentValue::Scalar { element, value: Some(value) }),
        tensor().prop_map(ArgumentValue::Tensor),
        collection::vec(field(), 1..5).prop_map(ArgumentValue::Structure),
        collection::vec(option::of(name()), 0..4).prop_map(ArgumentValue::Pointers),
        tensor_map().prop_map(|map| ArgumentValue::TensorMap(Box::new(map))),
        collection::vec(tensor_map(), 1..4).prop_map(ArgumentValue::TensorMaps),
        recorded().prop_map(|recorded| ArgumentValue::Recorded(Box::new(recorded))),
        (name(), name()).prop_map(|(a, b)| {
            // Expressions allow fewer names, and some are constants there.
            let [a, b] = [a, b].map(|name| name.replace(['$', '.'], "_"));
            ArgumentValue::Related(format!("v{a}*(w{b} + 2)"))
        }),
    ]
}

fn array() -> impl Strategy<Value = npy::Array> {
    let dtypes = vec![
        npy::Dtype::F8,
        npy::Dtype::F4,
        npy::Dtype::F2,
        npy::Dtype::I8,
        npy::Dtype::I1,
        npy::Dtype::U2,
        npy::Dtype::Bool,
        npy::Dtype::Raw(2),
    ];
    let shape = collection::vec(0_u64..5, 0..4);
    (sample::select(dtypes), shape, any::<u8>()).prop_map(|(dtype, shape, seed)| {
        let count = shape.iter().product::<u64>() as usize * dtype.bytes();
        let data = (0..count).map(|at| (at as u8).wrapping_mul(31).wrapping_add(seed)).collect();
        npy::Array { dtype, shape, data }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parsed_text_prints_and_parses_again(text in prop_oneof![argument_like(), ".*"]) {
        if let Ok(spec) = text.parse::<ArgumentSpec>() {
            prop_assert_eq!(spec.to_string().parse(), Ok(spec));
        }
        let value = format!("x={text}");
        if let Ok(spec) = value.parse::<ArgumentSpec>() {
            prop_assert_eq!(spec.to_string().parse(), Ok(spec));
        }
        if let Ok(alias) = text.parse::<AliasSpec>() {
            prop_assert_eq!(alias.to_string().parse(), Ok(alias));
        }
        let _ = text.parse::<Dimensions>();
        let _ = text.parse::<ByteCount>();
        let _ = text.parse::<BlockPosition>();
    }

    #[test]
    fn printed_text_parses(name in name(), value in value()) {
        let spec = ArgumentSpec { name, value };
        prop_assert_eq!(spec.to_string().parse(), Ok(spec));
    }

    #[test]
    fn launch_flags_print_and_parse(sizes: [u32; 3], bytes: u64) {
        prop_assert_eq!(Dimensions(sizes).to_string().parse(), Ok(Dimensions(sizes)));
        prop_assert_eq!(BlockPosition(sizes).to_string().parse(), Ok(BlockPosition(sizes)));
        prop_assert_eq!(ByteCount(bytes).to_string().parse(), Ok(ByteCount(bytes)));
    }

    #[test]
    fn arrays_survive_a_file(array in array()) {
        prop_assert_eq!(npy::from_bytes(npy::to_bytes(&array)), Ok(array));
    }

    /// A changed, truncated or extended file is read or refused, without a panic.
    #[test]
    fn damaged_files_do_not_panic(
        array in array(),
        changes in collection::vec((any::<sample::Index>(), any::<u8>()), 0..8),
        length in any::<sample::Index>(),
        cut: bool,
    ) {
        let mut bytes = npy::to_bytes(&array);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if cut {
            let length = length.index(bytes.len() + 4);
            bytes.resize(length, 0);
        }
        let _ = npy::from_bytes(bytes);
    }
}
