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

#[cfg(test)]
mod tests {
    use super::demangle;

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
