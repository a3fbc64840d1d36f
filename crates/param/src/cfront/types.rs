//! Names of scalar types, as wide as on CUDA's 64-bit platforms.

use super::ast::Scalar;

/// Words that integer types are put together from.
pub(super) fn is_type_word(word: &str) -> bool {
    matches!(word, "unsigned" | "signed" | "char" | "short" | "int" | "long" | "auto" | "const")
}

/// Types that are one word.
pub(super) fn named_type(word: &str) -> Option<Scalar> {
    let int = |bits, signed| Some(Scalar::Int { bits, signed });
    match word {
        "void" => Some(Scalar::Void),
        "bool" => Some(Scalar::Bool),
        "float" => Some(Scalar::Float { bits: 32 }),
        "double" => Some(Scalar::Float { bits: 64 }),
        "half" | "__half" | "__nv_bfloat16" => Some(Scalar::Float { bits: 16 }),
        "int8_t" => int(8, true),
        "uint8_t" | "uchar" => int(8, false),
        "int16_t" => int(16, true),
        "uint16_t" | "ushort" => int(16, false),
        "int32_t" => int(32, true),
        "uint32_t" | "uint" => int(32, false),
        "int64_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" => int(64, true),
        "uint64_t" | "size_t" | "ulong" | "uintptr_t" => int(64, false),
        _ => None,
    }
}

/// `unsigned long long` and its like; every word must fit.
pub(super) fn integer_type(words: &[String]) -> Option<Scalar> {
    let count = |wanted: &str| words.iter().filter(|word| *word == wanted).count();
    let (unsigned, signed) = (count("unsigned"), count("signed"));
    let (chars, shorts, ints, longs) = (count("char"), count("short"), count("int"), count("long"));
    let taken = unsigned + signed + chars + shorts + ints + longs;
    if words.is_empty() || taken != words.len() || unsigned + signed > 1 || ints > 1 {
        return None;
    }
    let bits = match (chars, shorts, longs) {
        (1, 0, 0) if ints == 0 => 8,
        (0, 1, 0) => 16,
        (0, 0, 0) => 32,
        (0, 0, 1 | 2) => 64,
        _ => return None,
    };
    Some(Scalar::Int { bits, signed: unsigned == 0 })
}
