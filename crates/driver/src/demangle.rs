//! Names as the programmer wrote them.

/// The source name behind a mangled one; `None` if the name is not mangled.
///
/// Names nest templates, and a demangler walks that nesting: names longer than any compiler makes
/// for a kernel are left alone.
pub(crate) fn demangle(name: &str) -> Option<String> {
    const LONGEST: usize = 16 << 10;
    if name.len() > LONGEST {
        return None;
    }
    // What nvcc adds to a part of an array that it has split: `_$_0`.
    if let Some((whole, part)) = name.rsplit_once("_$_")
        && !part.is_empty()
        && part.bytes().all(|byte| byte.is_ascii_digit())
    {
        return demangle(whole).map(|whole| format!("{whole}.part{part}"));
    }
    if name.starts_with("_Z") {
        let symbol = cpp_demangle::Symbol::new(name).ok()?;
        let demangled = symbol.demangle().ok()?;
        return (demangled != name).then_some(demangled);
    }
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    Some(format!("{demangled:#}"))
}
