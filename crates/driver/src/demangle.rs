//! Recovers source names from mangled names.

/// Casts that a demangler puts in front of numbers among template arguments; sources omit them.
const CASTS: [&str; 8] = [
    "(int)",
    "(unsigned int)",
    "(long)",
    "(unsigned long)",
    "(long long)",
    "(unsigned long long)",
    "(short)",
    "(unsigned short)",
];

/// Writes the template arguments of a demangled name as in the source: `k<128, true>` for `k<(int)128, (bool)1>`.
fn as_written(demangled: &str) -> String {
    let mut text = demangled.replace("(bool)1", "true").replace("(bool)0", "false");
    for cast in CASTS {
        // A cast is followed by a number; a list of parameters ends the name or is followed by another word.
        for sign in ["", "-"] {
            for digit in '0'..='9' {
                text = text.replace(&format!("{cast}{sign}{digit}"), &format!("{sign}{digit}"));
            }
        }
    }
    text
}

/// The source name of a mangled one; `None` if the name is not mangled.
///
/// Names nest templates, and a demangler recurses into them. So names longer than any compiler makes for a kernel are
/// left alone.
pub(crate) fn demangle(name: &str) -> Option<String> {
    const MAX_LENGTH: usize = 16 << 10;
    if name.len() > MAX_LENGTH {
        return None;
    }
    // nvcc adds `_$_0` to a part of an array that it has split.
    if let Some((whole, part)) = name.rsplit_once("_$_")
        && !part.is_empty()
        && part.bytes().all(|byte| byte.is_ascii_digit())
    {
        return demangle(whole).map(|whole| format!("{whole}.part{part}"));
    }
    if name.starts_with("_Z") {
        let symbol = cpp_demangle::Symbol::new(name).ok()?;
        let demangled = symbol.demangle().ok()?;
        return (demangled != name).then(|| as_written(&demangled));
    }
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    Some(format!("{demangled:#}"))
}

/// The name of a variable for readers: `layernorm<128>::s` for the `s` of `void layernorm<128>(float const*, float*)`. A
/// report has lines that tell overloads apart.
pub(crate) fn variable_name(mangled: &str) -> String {
    let name = demangle(mangled).unwrap_or_else(|| mangled.to_owned());
    let is_plain = |name: &str| !name.contains(['(', ')', '<', '>', ':', ' ']);
    match name.rsplit_once(")::") {
        Some((function, variable)) if is_plain(variable) => {
            format!("{}::{variable}", without_signature(&format!("{function})")))
        }
        _ => name,
    }
}

/// Turns `void ns::softmax<float, 4>(float const*, int)` into `ns::softmax<float, 4>`.
pub(crate) fn without_signature(name: &str) -> String {
    let name = name.replace("(anonymous namespace)::", "");
    let (mut depth, mut start, mut end) = (0_usize, 0, name.len());
    for (at, letter) in name.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => {
                end = at;
                break;
            }
            // The part so far was the return type.
            ' ' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    name[start..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::{demangle, variable_name};

    #[test]
    fn variables_are_named_without_signatures() {
        let table = [
            ("_ZZ9layernormILi128EEvPKfPfE1s", "layernorm<128>::s"),
            ("_ZZ5shiftPKfPfE4tile", "shift::tile"),
            ("_ZZN2ns1kEPFviEE1s", "ns::k::s"),
            ("_ZN2ns5tableE", "ns::table"),
            ("smem", "smem"),
        ];
        for (mangled, written) in table {
            assert_eq!(variable_name(mangled), written);
        }
    }

    #[test]
    fn templates_are_named_as_they_are_written() {
        let table = [
            ("_Z9layernormILi128EEvPKfPf", "void layernorm<128>(float const*, float*)"),
            ("_Z1kILj4ELb1ELin1EEvi", "void k<4, true, -1>(int)"),
            ("_Z1kI6__halfLi2EEvPT_", "void k<__half, 2>(__half*)"),
            ("_Z1kPFviE", "k(void (*)(int))"),
        ];
        for (mangled, written) in table {
            assert_eq!(demangle(mangled).as_deref(), Some(written));
        }
    }
}
