//! Derives element types from the C++ types of a kernel's parameters, as written in the source or encoded in the
//! kernel's mangled name.
//!
//! They are used in advice and warnings, never in a verdict. A type without an element type (`void*`, `char*`, a class
//! of the user's) yields none.

use super::select::bare_path;
use super::signature::signature;
use super::{DeclaredParameter, ElementType};
use crate::demangle::demangle;

/// The declared parameters of a kernel. Names come from the source. Types come from the mangled name, which has those
/// of the template instance, or else from the source. Empty if neither has `count` parameters.
pub(crate) fn declared(kernel: &str, count: usize, source: Option<&str>) -> Vec<DeclaredParameter> {
    let demangled = demangle(kernel);
    let path = bare_path(demangled.as_deref().unwrap_or(kernel));
    let name = path.rsplit("::").next().unwrap_or(&path);
    let named = source.and_then(|text| signature(text, name, count));
    let typed = demangled.as_deref().and_then(types_of).filter(|types| types.len() == count);
    match (named, typed) {
        (Some(mut named), Some(typed)) => {
            named.iter_mut().zip(typed).for_each(|(one, typed)| one.ty = typed.ty);
            named
        }
        (one, other) => one.or(other).unwrap_or_default(),
    }
}

/// The types of a kernel's parameters in a demangled name: those of `void k<3>(float const*, int)` are two.
pub(crate) fn types_of(demangled: &str) -> Option<Vec<DeclaredParameter>> {
    let open = parameters_begin(demangled)?;
    let list = demangled[open..].strip_prefix('(')?.strip_suffix(')')?;
    let (mut depth, mut types, mut start) = (0_usize, Vec::new(), 0);
    for (at, letter) in list.char_indices() {
        match letter {
            '(' | '<' | '[' => depth += 1,
            ')' | '>' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                types.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    types.push(list[start..].trim());
    let declared = |ty: &&str| DeclaredParameter {
        name: String::new(),
        ty: (*ty).to_owned(),
        is_certain: false,
    };
    Some(types.iter().filter(|ty| !ty.is_empty()).map(declared).collect())
}

/// The position of the parameter list: the last parenthesis that is open outside of all others.
fn parameters_begin(demangled: &str) -> Option<usize> {
    let (mut depth, mut begin) = (0_usize, None);
    for (at, letter) in demangled.char_indices() {
        match letter {
            '(' if depth == 0 => {
                begin = Some(at);
                depth = 1;
            }
            '(' | '<' => depth += 1,
            ')' | '>' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    begin
}

/// The element type of a pointer in C++; `None` if the type is not a pointer or has no element type.
pub(super) fn pointee(ty: &str) -> Option<ElementType> {
    let words = words(ty);
    (words.iter().filter(|word| **word == "*").count() == 1).then(|| element(&words)).flatten()
}

/// The type of a scalar in C++.
pub(super) fn scalar(ty: &str) -> Option<ElementType> {
    let words = words(ty);
    (!words.contains(&"*")).then(|| element(&words)).flatten()
}

/// Returns `true` if a type is a pointer or a reference: both are passed as addresses.
pub(super) fn is_pointer(ty: &str) -> bool {
    ty.contains(['*', '&'])
}

/// Words and asterisks of a type, without qualifiers.
fn words(ty: &str) -> Vec<&str> {
    let plain = ty.split_inclusive('*').flat_map(|part| match part.strip_suffix('*') {
        Some(before) => vec![before, "*"],
        None => vec![part],
    });
    let words = plain.flat_map(str::split_whitespace);
    let qualifiers = [
        "const",
        "volatile",
        "restrict",
        "__restrict__",
        "__restrict",
        "struct",
        "__grid_constant__",
    ];
    words.filter(|word| !qualifiers.contains(word)).collect()
}

/// Element types by their names in C++ and CUDA; a vector counts as its element.
const NAMES: &[(ElementType, &[&str])] = &[
    (ElementType::F64, &["double", "double2", "double4"]),
    (ElementType::F32, &["float", "float1", "float2", "float3", "float4"]),
    (ElementType::F16, &["half", "__half", "half2", "__half2", "at::Half", "c10::Half"]),
    (
        ElementType::Bf16,
        &[
            "nv_bfloat16",
            "__nv_bfloat16",
            "nv_bfloat162",
            "__nv_bfloat162",
            "at::BFloat16",
            "c10::BFloat16",
        ],
    ),
    (ElementType::E4m3, &["__nv_fp8_e4m3"]),
    (ElementType::E5m2, &["__nv_fp8_e5m2"]),
    (ElementType::S64, &["long long", "long long int", "long", "long int", "int64_t"]),
    (ElementType::S32, &["int", "signed", "signed int", "int32_t"]),
    (ElementType::S16, &["short", "short int", "int16_t"]),
    (ElementType::S8, &["signed char", "int8_t"]),
    (
        ElementType::U64,
        &[
            "unsigned long long",
            "unsigned long long int",
            "unsigned long",
            "unsigned long int",
            "uint64_t",
            "size_t",
        ],
    ),
    (ElementType::U32, &["unsigned", "unsigned int", "uint", "uint32_t"]),
    (ElementType::U16, &["unsigned short", "unsigned short int", "uint16_t", "ushort"]),
    (ElementType::U8, &["unsigned char", "uint8_t", "uchar"]),
    (ElementType::B1, &["bool"]),
];

fn element(words: &[&str]) -> Option<ElementType> {
    let type_words: Vec<&str> = words.iter().copied().filter(|word| *word != "*").collect();
    let name = type_words.join(" ");
    let name = name.strip_prefix("std::").unwrap_or(&name);
    NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(element, _)| *element)
}

/// Returns `true` if the element type of an argument contradicts the declared one. A declared float is contradicted by
/// another float format and by any integer; a declared integer of two bytes or more, by a wider integer and by a float
/// that is not narrower. Narrower elements are no contradiction: a kernel may move several of them as one integer. Nor
/// are two types of one byte, or tf32 for f32.
pub(super) fn contradicts(given: ElementType, declared: ElementType) -> bool {
    let is_byte = given.bytes() == 1 && declared.bytes() == 1;
    let is_tf32 = (given, declared) == (ElementType::Tf32, ElementType::F32);
    match (given.is_float(), declared.is_float()) {
        _ if is_byte || is_tf32 => false,
        (true, true) => given != declared,
        (false, true) => true,
        (true, false) => given.bytes() >= declared.bytes() && declared.bytes() > 1,
        (false, false) => given.bytes() > declared.bytes() && declared.bytes() > 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{contradicts, pointee, scalar, types_of};
    use crate::arguments::ElementType;

    #[test]
    fn types_are_told_by_names() {
        let table = [
            ("float const*", Some("f32")),
            ("const __nv_bfloat16 * __restrict__", Some("bf16")),
            ("unsigned int*", Some("u32")),
            ("unsigned *", Some("u32")),
            ("std::uint8_t*", Some("u8")),
            ("float4 const*", Some("f32")),
            ("long long*", Some("s64")),
            ("float**", None),
            ("void*", None),
            ("char const*", None),
            ("float", None),
        ];
        for (ty, expected) in table {
            assert_eq!(pointee(ty).map(ElementType::name), expected, "{ty}");
        }
        assert_eq!(scalar("float const"), Some(ElementType::F32));
        assert_eq!(scalar("float*"), None);
    }

    #[test]
    fn lists_are_taken_out_of_names() {
        let types = |name: &str| -> Option<Vec<String>> {
            Some(types_of(name)?.into_iter().map(|one| one.ty).collect())
        };
        let expected = ["float const*", "S<int, 4>", "int"].map(str::to_owned).to_vec();
        assert_eq!(types("void ns::k<(int)3>(float const*, S<int, 4>, int)"), Some(expected));
        assert_eq!(types("k()"), Some(Vec::new()));
        assert_eq!(types("plain"), None);
    }

    #[test]
    fn contradictions_are_of_kind_and_size() {
        use ElementType::{Bf16, F16, F32, F64, S32, S64, Tf32, U8, U32};
        for (given, declared) in
            [(F64, F32), (F32, F64), (Bf16, F16), (S32, F32), (F32, U32), (S64, S32)]
        {
            assert!(contradicts(given, declared), "{given} {declared}");
        }
        for (given, declared) in
            [(F32, F32), (Tf32, F32), (U32, S32), (F16, U32), (F32, U8), (U8, S32)]
        {
            assert!(!contradicts(given, declared), "{given} {declared}");
        }
    }
}
